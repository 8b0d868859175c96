// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Sleeping until a completion comes, for uboe/urma.hpp.
 */
#pragma once

#include "completion_queue.hpp"

namespace uboe::urma
{
inline namespace v0
{

/// A completion queue that has something. Destroying it acknowledges the event, which
/// the queue's end waits for: keep it no longer than it takes to poll.
class Event
{
      public:
	~Event()
	{
		std::uint32_t one = 1;

		if (state_ && fired_)
			urma_ack_jfc(&state_->raw, &one, 1);
	}
	Event(Event &&other) noexcept
		: state_(std::move(other.state_)), fired_(std::exchange(other.fired_, false))
	{
	}
	Event &operator=(Event &&) = delete;

	/// Is it about @p queue?
	bool is(const CompletionQueue &queue) const
	{
		return queue.state() == state_;
	}
	/// Polls the queue it is about.
	std::size_t poll(std::span<Completion> room) const
	{
		return state_->poll(room);
	}
	std::optional<Completion> poll() const
	{
		Completion c;

		return poll({ &c, 1 }) ? std::optional(c) : std::nullopt;
	}

      private:
	friend class EventChannel;
	Event(std::shared_ptr<detail::QueueState> s, bool fired)
		: state_(std::move(s)), fired_(fired)
	{
	}

	std::shared_ptr<detail::QueueState> state_;
	bool fired_;
};

/**
 * One file descriptor for the events of any number of completion queues (URMA API:
 * JFCE). Sleep in next(), or in epoll:
 *
 * @code
 * while (auto event = channel.next(0ms))  // until there is nothing left
 *	while (auto done = event->poll())
 *		...
 * epoll_wait(...);                        // fd() becomes readable
 * @endcode
 *
 * An event is for completions that come after arming only (URMA API,
 * urma_rearm_jfc()). next() therefore arms, looks once more, and sleeps then.
 */
class EventChannel
{
      public:
	/// Throws Error.
	explicit EventChannel(const Context &context)
		: state_(std::make_shared<detail::ChannelState>(context.handle()))
	{
	}

	/// For poll() and its like only. Readable when next() has something, provided
	/// that next() returned nothing before.
	int fd() const
	{
		return state_->raw->fd;
	}

	/**
	 * The next queue that has a completion. With solicited_only, what is there
	 * counts, whatever it is; only sleep is not ended by it.
	 *
	 * @param timeout 0ms: do not sleep; forever
	 * @return nothing when the time is over, or a signal came. All queues are then
	 *	armed and had no completion.
	 */
	std::optional<Event> next(std::chrono::milliseconds timeout)
	{
		const auto deadline = detail::deadline_after(timeout);

		if (auto e = look())
			return e;
		for (;;) {
			for (const auto &q : state_->queues())
				q->arm();
			if (auto e = look())
				return e;
			urma_jfc_t *fired = nullptr;
			const int n = urma_wait_jfc(state_->raw, 1, left(deadline), &fired);

			if (n < 0)
				detail::throw_errno("urma_wait_jfc");
			if (!n)
				return std::nullopt;
			if (auto e = accept(fired))
				return e;
		}
	}

	urma_jfce_t *native() const
	{
		return state_->raw;
	}
	const std::shared_ptr<detail::ChannelState> &state() const
	{
		return state_;
	}

	EventChannel(EventChannel &&) noexcept = default;
	EventChannel &operator=(EventChannel &&) noexcept = default;

      private:
	static int left(detail::Clock::time_point deadline)
	{
		using namespace std::chrono;

		if (deadline == detail::Clock::time_point::max())
			return -1;
		const auto ms = ceil<milliseconds>(deadline - detail::Clock::now()).count();

		return static_cast<int>(std::clamp<decltype(ms)>(ms, 0, INT32_MAX));
	}

	/// A queue that has something.
	std::optional<Event> look()
	{
		for (const auto &q : state_->queues())
			if (q->has_news())
				return Event(q, false);
		return std::nullopt;
	}

	/// The event of @p fired. Nothing when somebody else has polled already.
	std::optional<Event> accept(urma_jfc_t *fired)
	{
		for (const auto &q : state_->queues()) {
			if (q->raw != fired)
				continue;
			Event e(q, true);

			if (q->has_news())
				return e;
			return std::nullopt; // and acknowledged
		}
		// its queue is being destroyed, which waits for this
		std::uint32_t one = 1;

		urma_ack_jfc(&fired, &one, 1);
		return std::nullopt;
	}

	std::shared_ptr<detail::ChannelState> state_;
};

inline CompletionQueue::CompletionQueue(EventChannel &channel,
					const CompletionQueueOptions &options)
	: state_(std::make_shared<detail::QueueState>(channel.state()->context, channel.state(),
						      options.depth, options.solicited_only))
{
	const std::lock_guard hold(channel.state()->lock);

	channel.state()->members.push_back(state_);
}

} // namespace v0
} // namespace uboe::urma
