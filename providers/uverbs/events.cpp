// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "events.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace uboe::uverbs {

EventReader::~EventReader()
{
	const u64 one = 1;

	if (!thread_.joinable())
		return;
	while (write(stop_.get(), &one, sizeof(one)) < 0 && errno == EINTR)
		;
	thread_.join();
}

int EventReader::start(Fd async, Fd completions)
{
	sigset_t all, before;

	async_ = std::move(async);
	completions_ = std::move(completions);
	stop_ = Fd(eventfd(0, EFD_CLOEXEC));
	if (stop_.get() < 0 || fcntl(async_.get(), F_SETFL, O_NONBLOCK) < 0 ||
	    fcntl(completions_.get(), F_SETFL, O_NONBLOCK) < 0)
		return errno;
	// signals are the program's threads' affair
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	try {
		thread_ = std::thread(&EventReader::run, this);
	} catch (...) {
		pthread_sigmask(SIG_SETMASK, &before, nullptr);
		throw;
	}
	pthread_sigmask(SIG_SETMASK, &before, nullptr);
	return 0;
}

u64 EventReader::new_key()
{
	const std::lock_guard hold(lock_);

	return ++last_key_;
}

void EventReader::know(u64 key, u32 number)
{
	const std::lock_guard hold(lock_);

	numbers_[key] = number;
}

void EventReader::forget(u64 key)
{
	const std::lock_guard hold(lock_);

	numbers_.erase(key);
}

bool EventReader::number_of(u64 key, u32 &number)
{
	const std::lock_guard hold(lock_);
	const auto it = numbers_.find(key);

	if (it == numbers_.end())
		return false;
	number = it->second;
	return true;
}

/// Both: an event at a time, until there is none. False: none will come any more.
bool EventReader::read_async()
{
	ib_uverbs_async_event_desc e;
	u32 number;

	while (read(async_.get(), &e, sizeof(e)) == sizeof(e)) {
		const Event event{e.event_type};

		switch (event) {
		case Event::device_fatal:
		case Event::port_active:
		case Event::port_error:
		case Event::client_reregister:
		case Event::gid_change:
			sink_.happened(event, 0);
			break;
		default:
			if (number_of(e.element, number))
				sink_.happened(event, number);
		}
	}
	return errno == EAGAIN || errno == EINTR;
}

bool EventReader::read_completion()
{
	ib_uverbs_comp_event_desc e;
	u32 number;

	while (read(completions_.get(), &e, sizeof(e)) == sizeof(e))
		if (number_of(e.cq_handle, number))
			sink_.completed(number);
	return errno == EAGAIN || errno == EINTR;
}

void EventReader::run()
{
	pollfd fds[] = {{stop_.get(), POLLIN, 0},
			{completions_.get(), POLLIN, 0},
			{async_.get(), POLLIN, 0}};

	for (;;) {
		if (poll(fds, std::size(fds), -1) < 0)
			continue;
		if (fds[0].revents)
			return;
		// a negative descriptor is left out: its device is gone
		if (fds[1].revents && !read_completion())
			fds[1].fd = -1;
		if (fds[2].revents && !read_async())
			fds[2].fd = -1;
	}
}

} // namespace uboe::uverbs
