// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Locks of the data path (spin) and of the control path (mutex).
#pragma once

#include <pthread.h>

namespace uboe {

/// Spinning lock of one queue. A queue declared single-threaded skips it.
class SpinLock {
public:
	explicit SpinLock(bool needed = true) : needed_(needed)
	{
		if (needed_)
			pthread_spin_init(&lock_, PTHREAD_PROCESS_PRIVATE);
	}
	~SpinLock()
	{
		if (needed_)
			pthread_spin_destroy(&lock_);
	}
	SpinLock(const SpinLock &) = delete;
	SpinLock &operator=(const SpinLock &) = delete;

	void lock()
	{
		if (needed_)
			pthread_spin_lock(&lock_);
	}
	void unlock()
	{
		if (needed_)
			pthread_spin_unlock(&lock_);
	}

private:
	pthread_spinlock_t lock_{};
	const bool needed_;
};

class Mutex {
public:
	Mutex() = default;
	~Mutex() { pthread_mutex_destroy(&lock_); }
	Mutex(const Mutex &) = delete;
	Mutex &operator=(const Mutex &) = delete;

	void lock() { pthread_mutex_lock(&lock_); }
	void unlock() { pthread_mutex_unlock(&lock_); }

private:
	pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
};

/// Holds a lock for a scope.
template <class L> class [[nodiscard]] Hold {
public:
	explicit Hold(L &lock) : lock_(lock) { lock_.lock(); }
	~Hold() { lock_.unlock(); }
	Hold(const Hold &) = delete;
	Hold &operator=(const Hold &) = delete;

private:
	L &lock_;
};

} // namespace uboe
