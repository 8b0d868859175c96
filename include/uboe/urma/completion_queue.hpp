// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Completion queues of uboe/urma.hpp. They know which records are no requests
 * (URMA API: WR_SUSPEND_DONE, WR_FLUSH_ERR_DONE) and whose are awaited by coroutines.
 */
#pragma once

#include <bit>
#include <chrono>
#include <coroutine>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "completion.hpp"
#include "device.hpp"

namespace uboe::urma
{
inline namespace v0
{

class CompletionQueue;
class EventChannel;

/// Longer than any program runs.
constexpr std::chrono::milliseconds forever{ -1 };

namespace detail
{

using Clock = std::chrono::steady_clock;

inline Clock::time_point deadline_after(std::chrono::milliseconds timeout)
{
	return timeout < timeout.zero() ? Clock::time_point::max() : Clock::now() + timeout;
}

class QueueState;

/// The C API's channel, and who uses it. Locks: its own before those of the queues.
struct ChannelState {
	explicit ChannelState(std::shared_ptr<ContextHandle> c)
		: context(std::move(c)), raw(urma_create_jfce(context->raw))
	{
		if (!raw)
			throw_errno("event channel");
	}
	~ChannelState()
	{
		urma_delete_jfce(raw);
	}
	ChannelState(const ChannelState &) = delete;
	ChannelState &operator=(const ChannelState &) = delete;

	/// Queues that still exist, another one first each time: a busy one does not hide
	/// the others.
	std::vector<std::shared_ptr<QueueState>> queues()
	{
		const std::lock_guard hold(lock);
		std::vector<std::shared_ptr<QueueState>> all;

		std::erase_if(members, [&all](const auto &weak) {
			auto q = weak.lock();
			const bool gone = !q;

			if (!gone)
				all.push_back(std::move(q));
			return gone;
		});
		if (!all.empty())
			std::rotate(all.begin(), all.begin() + turn++ % all.size(), all.end());
		return all;
	}

	const std::shared_ptr<ContextHandle> context;
	urma_jfce_t *const raw;
	std::mutex lock; // guards the next
	std::vector<std::weak_ptr<QueueState>> members;
	unsigned turn = 0;
};

/// Somebody, usually a coroutine, who waits for one completion.
struct Waiter {
	const void *owner = nullptr; // queue or jetty it was posted to
	std::uint64_t user = 0; // the program's
	std::coroutine_handle<> coroutine;
	std::optional<Completion> result;
};

class QueueState
{
      public:
	QueueState(std::shared_ptr<ContextHandle> c, std::shared_ptr<ChannelState> events,
		   std::uint32_t depth, bool solicited)
		: context(std::move(c)), channel(std::move(events)), solicited_only(solicited)
	{
		urma_jfc_cfg_t cfg{};

		cfg.depth = std::bit_ceil(std::max(depth, 64u));
		cfg.jfce = channel ? channel->raw : nullptr;
		raw = urma_create_jfc(context->raw, &cfg);
		if (!raw)
			throw_errno("completion queue of depth " + std::to_string(cfg.depth));
	}
	~QueueState()
	{
		urma_delete_jfc(raw);
	}
	QueueState(const QueueState &) = delete;
	QueueState &operator=(const QueueState &) = delete;

	std::uint32_t depth() const
	{
		return raw->jfc_cfg.depth;
	}

	/// Records that overflow are lost (URMA API, urma_create_jfc()): whoever
	/// completes here reserves room for the worst case. Throws Error.
	void reserve(std::uint32_t records, const char *who)
	{
		const std::lock_guard hold(lock_);

		if (records > depth() - reserved_)
			throw Error(
				errc::invalid,
				std::string(who) + ": its " + std::to_string(records) +
					" records do not fit into a completion queue of depth " +
					std::to_string(depth()) + ", where " +
					std::to_string(reserved_) + " are promised to others");
		reserved_ += records;
	}
	void unreserve(std::uint32_t records)
	{
		const std::lock_guard hold(lock_);

		reserved_ -= records;
	}

	/// Takes completions that nobody awaits; how many.
	std::size_t poll(std::span<Completion> room)
	{
		const std::lock_guard hold(lock_);
		std::size_t n = 0;

		while (n < room.size()) {
			for (; n < room.size() && !backlog_.empty(); ++n) {
				room[n] = Completion::from(backlog_.front());
				backlog_.pop_front();
			}
			if (n == room.size() || !fetch())
				break;
		}
		return n;
	}

	/// From the C API's queue, so that deleting a jetty does not take it away.
	void take_all()
	{
		const std::lock_guard hold(lock_);

		while (fetch())
			;
	}

	/// Is there something to poll, or a coroutine to go on?
	bool has_news()
	{
		const std::lock_guard hold(lock_);

		if (backlog_.empty() && ready_.empty())
			fetch();
		return !backlog_.empty() || !ready_.empty();
	}

	/// A waiter whose result is there; it is no longer known here.
	Waiter *take_ready()
	{
		const std::lock_guard hold(lock_);

		if (ready_.empty())
			fetch();
		if (ready_.empty())
			return nullptr;
		Waiter *w = ready_.front();

		ready_.pop_front();
		return w;
	}

	/// A number for the request that @p w is going to post.
	std::uint64_t expect(Waiter &w)
	{
		const std::lock_guard hold(lock_);

		waiting_.emplace(next_ticket_, &w);
		return next_ticket_++;
	}
	/// The request with that number was not posted.
	void unexpect(std::uint64_t ticket)
	{
		const std::lock_guard hold(lock_);

		waiting_.erase(ticket);
	}
	/// @p w is being destroyed; what still comes for it is dropped.
	void abandon(Waiter &w)
	{
		const std::lock_guard hold(lock_);

		std::erase(ready_, &w);
		for (auto &[ticket, waiter] : waiting_)
			if (waiter == &w)
				waiter = nullptr;
		for (auto &[id, jetty] : jetties_)
			std::erase(jetty.drained, &w);
	}

	void add_jetty(std::uint32_t id)
	{
		const std::lock_guard hold(lock_);

		jetties_[id] = {};
	}
	/// The jetty is deleted: so are its records, and who waits is told.
	void remove_jetty(std::uint32_t id, const void *owner)
	{
		const std::lock_guard hold(lock_);
		const auto it = jetties_.find(id);

		std::erase_if(backlog_, [id](const urma_cr_t &cr) { return cr.local_id == id; });
		cancel_locked(owner, JettyId{ id }, false);
		if (it == jetties_.end())
			return;
		for (Waiter *w : it->second.drained)
			finish(*w, Flushed{ 0, JettyId{ id }, false, errc::canceled });
		jetties_.erase(it);
	}
	/// The queue @p owner is deleted, and completes nothing any more.
	void cancel(const void *owner, JettyId jetty, bool receive)
	{
		const std::lock_guard hold(lock_);

		cancel_locked(owner, jetty, receive);
	}

	/// Has the marker that ends flushing come?
	bool is_flushed(std::uint32_t id)
	{
		const std::lock_guard hold(lock_);

		if (!jetties_[id].flushed)
			fetch();
		return jetties_[id].flushed;
	}
	/// @p w waits for the marker. False: it came before.
	bool expect_flush(std::uint32_t id, Waiter &w)
	{
		const std::lock_guard hold(lock_);

		if (jetties_[id].flushed)
			return false;
		jetties_[id].drained.push_back(&w);
		return true;
	}

	/// Asks for an event.
	void arm()
	{
		check(from_status(urma_rearm_jfc(raw, solicited_only)), "urma_rearm_jfc");
	}

	const std::shared_ptr<ContextHandle> context;
	const std::shared_ptr<ChannelState> channel;
	const bool solicited_only;
	urma_jfc_t *raw = nullptr;

      private:
	static constexpr int records_at_once = 32;
	/// Tickets are numbers that programs hardly ever choose for themselves.
	static constexpr std::uint64_t first_ticket = 0xb0ec'a111'0000'0000;

	struct JettyRecord {
		bool flushed = false;
		std::vector<Waiter *> drained; // who wait for that
	};

	/// From the C API's queue to the places where they belong. lock_ is held: who
	/// arms and then looks must not miss what another thread has in its hands.
	bool fetch()
	{
		urma_cr_t cr[records_at_once];
		const int n = urma_poll_jfc(raw, records_at_once, cr);

		if (n < 0)
			throw_errno("urma_poll_jfc");
		for (int i = 0; i < n; ++i)
			sort(cr[i]);
		return n > 0;
	}

	void sort(const urma_cr_t &cr)
	{
		if (cr.flag.bs.flush_err_done || cr.status == URMA_CR_WR_FLUSH_ERR_DONE) {
			marker(cr.local_id);
			return;
		}
		if (cr.flag.bs.suspend_done || cr.status == URMA_CR_WR_SUSPEND_DONE)
			return;
		const auto it = waiting_.empty() ? waiting_.end() : waiting_.find(cr.user_ctx);

		if (it == waiting_.end()) {
			backlog_.push_back(cr);
			return;
		}
		if (Waiter *w = it->second) {
			urma_cr_t mine = cr;

			mine.user_ctx = w->user;
			finish(*w, Completion::from(mine).variant());
		}
		waiting_.erase(it);
	}

	void marker(std::uint32_t id)
	{
		const auto it = jetties_.find(id);

		if (it == jetties_.end())
			return;
		it->second.flushed = true;
		for (Waiter *w : it->second.drained)
			finish(*w, SendDone{ 0, JettyId{ id }, 0, {} });
		it->second.drained.clear();
	}

	void finish(Waiter &w, Completion::Variant c)
	{
		w.result.emplace(std::move(c));
		ready_.push_back(&w);
	}

	void cancel_locked(const void *owner, JettyId jetty, bool receive)
	{
		std::erase_if(waiting_, [&](const auto &entry) {
			Waiter *w = entry.second;

			if (!w || w->owner != owner)
				return false;
			finish(*w, Flushed{ w->user, jetty, receive, errc::canceled });
			return true;
		});
	}

	std::mutex lock_; // guards all below
	std::deque<urma_cr_t> backlog_; // taken from the queue, not yet polled
	std::deque<Waiter *> ready_;
	std::unordered_map<std::uint64_t, Waiter *> waiting_; // null: abandoned
	std::unordered_map<std::uint32_t, JettyRecord> jetties_;
	std::uint64_t next_ticket_ = first_ticket;
	std::uint32_t reserved_ = 0;
};

} // namespace detail

struct CompletionQueueOptions {
	/// Records it holds; rounded up to a power of two from 64 on. Each jetty takes
	/// RcJetty::records_per_request times its depth, and two; each receive queue its
	/// depth.
	std::uint32_t depth = 2048;
	/// With an EventChannel: wake up only for messages that were sent with
	/// SendOptions::solicited, and for errors.
	bool solicited_only = false;
};

/**
 * Where requests complete (URMA API: JFC). Any mix of jetties and receive queues may
 * share it. Records that are no requests never show.
 */
class CompletionQueue
{
      public:
	/// A queue that is polled. Throws Error.
	explicit CompletionQueue(const Context &context, const CompletionQueueOptions &options = {})
		: state_(std::make_shared<detail::QueueState>(context.handle(), nullptr,
							      options.depth, false))
	{
	}
	/// A queue with events, in events.hpp. Throws Error.
	CompletionQueue(EventChannel &channel, const CompletionQueueOptions &options = {});

	/// Takes completions, oldest first, without waiting; how many. Those that a
	/// coroutine awaits are not among them.
	std::size_t poll(std::span<Completion> room)
	{
		return state_->poll(room);
	}
	/// Takes one, without waiting.
	std::optional<Completion> poll()
	{
		Completion c;

		return poll({ &c, 1 }) ? std::optional(c) : std::nullopt;
	}
	/// Takes one, polling until it comes. Nothing: the time is over.
	std::optional<Completion> wait_for(std::chrono::milliseconds timeout)
	{
		const auto deadline = detail::deadline_after(timeout);

		for (;;) {
			if (auto c = poll())
				return c;
			if (detail::Clock::now() >= deadline)
				return std::nullopt;
			std::this_thread::yield();
		}
	}
	/// Takes one, polling until it comes.
	Completion wait()
	{
		return *wait_for(forever);
	}

	/// As the device made it.
	std::uint32_t depth() const
	{
		return state_->depth();
	}
	urma_jfc_t *native() const
	{
		return state_->raw;
	}
	const std::shared_ptr<detail::QueueState> &state() const
	{
		return state_;
	}

	CompletionQueue(CompletionQueue &&) noexcept = default;
	CompletionQueue &operator=(CompletionQueue &&) noexcept = default;

      private:
	std::shared_ptr<detail::QueueState> state_;
};

} // namespace v0
} // namespace uboe::urma
