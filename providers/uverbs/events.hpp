// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Reads the events of a context: completions by its completion channel, all others
// by its asynchronous event file.
#pragma once

#include <mutex>
#include <thread>
#include <unordered_map>

#include "channel.hpp"

namespace uboe::uverbs {

/// enum ib_event_type of the kernel, which no public header has
enum class Event : u32 {
	cq_error = 0,
	qp_fatal = 1,
	qp_request = 2,
	qp_access = 3,
	device_fatal = 8,
	port_active = 9,
	port_error = 10,
	srq_limit = 15,
	client_reregister = 17, // the device has been reset
	gid_change = 18,
};

/// In the reader's thread; must not wait for it.
class EventSink {
public:
	virtual void completed(u32 number) = 0;
	/// @p number: of the object, 0 when it is about the device.
	virtual void happened(Event event, u32 number) = 0;

protected:
	~EventSink() = default;
};

/// A thread that reads. Objects are known to the kernel by keys, each used once: the
/// event of an object that was destroyed meanwhile reaches nobody.
class EventReader {
public:
	explicit EventReader(EventSink &sink) : sink_(sink) {}
	~EventReader();
	EventReader(const EventReader &) = delete;
	EventReader &operator=(const EventReader &) = delete;

	/// Throws std::system_error without a thread.
	int start(Fd async, Fd completions);
	int completion_fd() const { return completions_.get(); }

	/// The key of a new object, for its creation ...
	u64 new_key();
	/// ... and what it stands for. Throws std::bad_alloc.
	void know(u64 key, u32 number);
	void forget(u64 key);

private:
	void run();
	bool read_async();
	bool read_completion();
	bool number_of(u64 key, u32 &number);

	EventSink &sink_;
	Fd async_;
	Fd completions_;
	Fd stop_;
	std::thread thread_;
	std::mutex lock_; // guards the next two
	u64 last_key_ = 0;
	std::unordered_map<u64, u32> numbers_;
};

} // namespace uboe::uverbs
