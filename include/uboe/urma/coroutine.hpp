// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Coroutines for uboe/urma.hpp: requests that are awaited, and who resumes them.
 *
 * @code
 * Task<> copy(RcJetty &jetty, LocalSlice from, RemoteSlice to)
 * {
 *	const Completion done = co_await jetty.async().write(from, to);
 *	check(done.error(), "write");
 * }
 *
 * Poller poller(completions);
 * poller.run(copy(jetty, from, to));
 * @endcode
 *
 * A coroutine runs in the thread of its Poller. What it uses must live until it has
 * ended; a Task that is destroyed while it waits ends there, and the buffers of its
 * request have to exist until the jetty has been drained.
 */
#pragma once

#include <exception>
#include <functional>

#include "events.hpp"
#include "jetty.hpp"

namespace uboe::urma
{
inline namespace v0
{

template <class T = void> class Task;

namespace detail
{

struct PromiseBase {
	struct Final {
		bool await_ready() const noexcept
		{
			return false;
		}
		template <class P>
		std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) noexcept
		{
			if (h.promise().continuation)
				return h.promise().continuation;
			return std::noop_coroutine();
		}
		void await_resume() const noexcept
		{
		}
	};

	std::suspend_always initial_suspend() const noexcept
	{
		return {};
	}
	Final final_suspend() const noexcept
	{
		return {};
	}
	void unhandled_exception() noexcept
	{
		error = std::current_exception();
	}

	std::coroutine_handle<> continuation;
	std::exception_ptr error;
};

template <class T> struct Promise : PromiseBase {
	Task<T> get_return_object();
	template <class U> void return_value(U &&u)
	{
		value.emplace(std::forward<U>(u));
	}
	T result()
	{
		if (error)
			std::rethrow_exception(error);
		return std::move(*value);
	}

	std::optional<T> value;
};

template <> struct Promise<void> : PromiseBase {
	Task<void> get_return_object();
	void return_void()
	{
	}
	void result()
	{
		if (error)
			std::rethrow_exception(error);
	}
};

} // namespace detail

/// A coroutine that starts when it is awaited, or by a Poller. An exception goes to
/// who awaits it.
template <class T> class [[nodiscard]] Task
{
      public:
	using promise_type = detail::Promise<T>;

	Task(Task &&other) noexcept : handle_(std::exchange(other.handle_, nullptr))
	{
	}
	Task &operator=(Task &&other) noexcept
	{
		std::swap(handle_, other.handle_);
		return *this;
	}
	~Task()
	{
		if (handle_)
			handle_.destroy();
	}

	auto operator co_await() const noexcept
	{
		struct Awaiter {
			std::coroutine_handle<promise_type> handle;

			bool await_ready() const noexcept
			{
				return handle.done();
			}
			std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) noexcept
			{
				handle.promise().continuation = h;
				return handle;
			}
			T await_resume()
			{
				return handle.promise().result();
			}
		};

		return Awaiter{ handle_ };
	}

      private:
	friend struct detail::Promise<T>;
	friend class Poller;

	explicit Task(std::coroutine_handle<promise_type> h) : handle_(h)
	{
	}

	std::coroutine_handle<promise_type> handle_;
};

namespace detail
{

template <class T> Task<T> Promise<T>::get_return_object()
{
	return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}

inline Task<void> Promise<void>::get_return_object()
{
	return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

/// What the awaitables below have in common: a place in a completion queue.
class Waiting
{
      public:
	Waiting(const Waiting &) = delete;
	Waiting &operator=(const Waiting &) = delete;
	~Waiting()
	{
		if (suspended_)
			queue_->abandon(waiter_);
	}

	bool await_ready() const noexcept
	{
		return false;
	}
	Completion await_resume()
	{
		suspended_ = false;
		return std::move(*waiter_.result);
	}

      protected:
	Waiting(std::shared_ptr<QueueState> q, const void *owner, std::uint64_t user)
		: queue_(std::move(q))
	{
		waiter_.owner = owner;
		waiter_.user = user;
	}

	/// Posts by @p post, which gets a number for the completion. True: the coroutine
	/// sleeps; it may have been resumed already, by another thread, and this object
	/// may be gone. False: @p refused makes the result of an error.
	template <class Post, class Refused>
	bool suspend(std::coroutine_handle<> h, Post post, Refused refused)
	{
		waiter_.coroutine = h;
		const std::uint64_t ticket = queue_->expect(waiter_);

		suspended_ = true;
		const std::error_code error = post(ticket);

		if (!error)
			return true;
		queue_->unexpect(ticket);
		waiter_.result = refused(error);
		return false;
	}

	const std::shared_ptr<QueueState> queue_;
	Waiter waiter_;
	bool suspended_ = false;
};

} // namespace detail

/// A request that is posted when it is awaited. Gives its Completion; of a request
/// that was not posted, a SendDone with the reason.
class [[nodiscard]] Operation : public detail::Waiting
{
      public:
	bool await_suspend(std::coroutine_handle<> h)
	{
		return suspend(
			h,
			[this](std::uint64_t ticket) {
				request_.await(ticket);
				return jetty_->post(request_);
			},
			[this](std::error_code e) -> Completion::Variant {
				return SendDone{ waiter_.user, JettyId{ jetty_->id() }, 0, e };
			});
	}

      private:
	friend class AsyncJetty;

	Operation(detail::JettyState &jetty, const detail::Request &request)
		: Waiting(jetty.queue, &jetty, request.user()), jetty_(&jetty), request_(request)
	{
	}

	detail::JettyState *jetty_;
	detail::Request request_;
};

/// A receive buffer that is posted when it is awaited. Gives its Completion.
class [[nodiscard]] ReceiveOperation : public detail::Waiting
{
      public:
	bool await_suspend(std::coroutine_handle<> h)
	{
		return suspend(
			h,
			[this](std::uint64_t ticket) {
				return receives_->post(std::span<const LocalSlice>(to_), ticket);
			},
			[this](std::error_code e) -> Completion::Variant {
				RecvDone r;

				r.user = waiter_.user;
				r.status = e;
				return r;
			});
	}

      private:
	friend class AsyncReceives;

	ReceiveOperation(detail::ReceiveState &receives, const Slices &to, std::uint64_t user)
		: Waiting(receives.queue, &receives, user), receives_(&receives),
		  to_(to.pieces().begin(), to.pieces().end())
	{
	}

	detail::ReceiveState *receives_;
	std::vector<LocalSlice> to_;
};

/// The end of a jetty's work. Gives a Completion without error.
class [[nodiscard]] DrainOperation : public detail::Waiting
{
      public:
	bool await_suspend(std::coroutine_handle<> h)
	{
		const std::uint32_t id = jetty_->id();

		if (const std::error_code e = jetty_->stop()) {
			waiter_.result = Completion::Variant(SendDone{ 0, JettyId{ id }, 0, e });
			return false;
		}
		waiter_.coroutine = h;
		suspended_ = true;
		if (queue_->expect_flush(id, waiter_))
			return true;
		waiter_.result = Completion::Variant(SendDone{ 0, JettyId{ id }, 0, {} });
		return false;
	}

      private:
	friend class AsyncJetty;

	explicit DrainOperation(detail::JettyState &jetty)
		: Waiting(jetty.queue, &jetty, 0), jetty_(&jetty)
	{
	}

	detail::JettyState *jetty_;
};

/// The operations of a jetty, to be awaited: `co_await jetty.async().write(...)`.
/// SendOptions::signal is not looked at, all of them have a completion.
class AsyncJetty : public Operations<AsyncJetty>
{
      public:
	/// RcJetty::drain(): later than the completions of all that was posted.
	DrainOperation drain()
	{
		return DrainOperation(*jetty_);
	}

      private:
	friend class Operations<AsyncJetty>;
	friend class RcJetty;

	explicit AsyncJetty(detail::JettyState &jetty) : jetty_(&jetty)
	{
	}

	Operation submit(const detail::Request &request)
	{
		return Operation(*jetty_, request);
	}

	detail::JettyState *jetty_;
};

/// `co_await receives.async().receive(...)`. A buffer that no message comes for keeps
/// its coroutine waiting until the ReceiveQueue is destroyed, also when all jetties
/// are in error.
class AsyncReceives
{
      public:
	ReceiveOperation receive(Slices to, std::uint64_t user = 0)
	{
		return ReceiveOperation(*receives_, to, user);
	}

      private:
	friend class ReceiveQueue;

	explicit AsyncReceives(detail::ReceiveState &receives) : receives_(&receives)
	{
	}

	detail::ReceiveState *receives_;
};

inline AsyncJetty RcJetty::async()
{
	return AsyncJetty(*state_);
}

inline AsyncReceives ReceiveQueue::async()
{
	return AsyncReceives(*state_);
}

/**
 * Resumes the coroutines that wait for completions of its queues. Not thread-safe.
 *
 * With an EventChannel it sleeps when there is nothing to do, without it polls and
 * yields the CPU.
 */
class Poller
{
      public:
	explicit Poller(const CompletionQueue &queue)
	{
		watch(queue);
	}
	/// Sleeps in @p channel, which is that of @p queue.
	Poller(const CompletionQueue &queue, EventChannel &channel) : channel_(&channel)
	{
		watch(queue);
	}

	/// Serves this queue too.
	void watch(const CompletionQueue &queue)
	{
		queues_.push_back(queue.state());
	}

	/// Who gets completions that no coroutine awaits. Without, they can be polled as
	/// usual, and have to be.
	void on_completion(std::function<void(const Completion &)> other)
	{
		other_ = std::move(other);
	}

	/// Will be run by run().
	void spawn(Task<> task)
	{
		tasks_.push_back(std::move(task));
	}

	/// Resumes what can go on, without waiting. False: there was nothing.
	bool step()
	{
		bool any = start_new();

		for (const auto &q : queues_) {
			for (unsigned n = 0; n < at_once; ++n) {
				detail::Waiter *w = q->take_ready();

				if (!w)
					break;
				w->coroutine.resume();
				any = true;
			}
			Completion c;

			while (other_ && q->poll({ &c, 1 })) {
				other_(c);
				any = true;
			}
		}
		return any;
	}

	/// Until all tasks that were spawned have ended. Throws what one of them has thrown,
	/// afterwards.
	void run()
	{
		wait([this] {
			return std::all_of(tasks_.begin(), tasks_.end(),
					   [](const Task<> &t) { return t.handle_.done(); });
		});
		std::deque<Task<>> ended;

		ended.swap(tasks_);
		started_ = 0;
		for (Task<> &t : ended)
			t.handle_.promise().result();
	}

	/// Until @p task has ended; its result. Tasks that were spawned run meanwhile.
	template <class T> T run(Task<T> task)
	{
		task.handle_.resume();
		wait([&task] { return task.handle_.done(); });
		return task.handle_.promise().result();
	}

      private:
	static constexpr unsigned at_once = 256; // then others have their turn
	static constexpr unsigned idle_polls = 100; // then it sleeps

	template <class Done> void wait(Done done)
	{
		using namespace std::chrono_literals;

		for (unsigned idle = 0; start_new(), !done();) {
			if (step()) {
				idle = 0;
			} else if (!channel_ || ++idle < idle_polls) {
				std::this_thread::yield();
			} else {
				channel_->next(100ms);
				idle = 0;
			}
		}
	}

	bool start_new()
	{
		bool any = false;

		for (; started_ < tasks_.size(); any = true)
			tasks_[started_++].handle_.resume();
		return any;
	}

	std::vector<std::shared_ptr<detail::QueueState>> queues_;
	EventChannel *channel_ = nullptr;
	std::function<void(const Completion &)> other_;
	std::deque<Task<>> tasks_; // stay where they are while others are spawned
	std::size_t started_ = 0;
};

} // namespace v0
} // namespace uboe::urma
