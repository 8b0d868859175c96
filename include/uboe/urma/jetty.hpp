// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Receive queues and connected jetties of uboe/urma.hpp.
 */
#pragma once

#include "request.hpp"
#include "segment.hpp"

namespace uboe::urma
{
inline namespace v0
{

class AsyncJetty;
class AsyncReceives;
class RcJetty;

/// How the jetties of a receive queue talk to their peers.
enum class Mode : std::uint32_t {
	rc = URMA_TM_RC, ///< RcJetty: connected
	rm = URMA_TM_RM, ///< RmJetty: reliable, each request names its target
	um = URMA_TM_UM, ///< UmJetty: single messages, which may be lost
};

struct ReceiveQueueOptions {
	std::uint32_t depth = 64; ///< buffers; rounded up to a power of two from 64 on
	std::uint8_t max_slices = 1; ///< pieces of a buffer, up to 4
	/// What peers have to name in Sends to the jetties; std::nullopt: nothing.
	std::optional<Token> token = random_token();
	/// How long a sender waits before it tries again, when there is no buffer: code of
	/// the InfiniBand specification, 0 to 31; 1 is 10 us, 12 is 640 us, 0 is 655 ms.
	std::uint8_t min_rnr_timer = 12;
	Mode mode = Mode::rc; ///< of all its jetties
};

struct RcJettyOptions {
	std::uint32_t depth = 64; ///< requests; rounded up to a power of two
	std::uint8_t max_slices = 4; ///< local pieces of a request, up to 13
	std::uint32_t inline_bytes = 64; ///< up to 208
	JettyId id{}; ///< 0: any; numbers below 1024 are well known ones
	std::uint8_t priority = 0; ///< up to 15
	/// How often a peer may have no receive buffer, up to 6; 7: for ever.
	std::uint8_t rnr_retry = 7;
	/// A peer that does not answer is an error after some multiple of 4.096 us << this,
	/// up to 31: 15 means some seconds. 0: wait for ever.
	std::uint8_t err_timeout = 15;
	/// RmJetty: requests of strong order do not wait for answers, the peer keeps their
	/// order (service mode ROT), if it grants that. RcJetty has no choice: it throws.
	bool target_order = false;
};

namespace detail
{

struct ReceiveState {
	ReceiveState(const Context &c, std::shared_ptr<QueueState> q,
		     const ReceiveQueueOptions &options)
		: context(c.handle()), queue(std::move(q)), token(options.token),
		  mode(static_cast<urma_transport_mode_t>(options.mode))
	{
		urma_jfr_cfg_t cfg{};

		cfg.depth = std::bit_ceil(std::max(options.depth, 64u));
		cfg.trans_mode = mode;
		cfg.max_sge = options.max_slices;
		cfg.min_rnr_timer = options.min_rnr_timer;
		cfg.jfc = queue->raw;
		cfg.flag.bs.token_policy = token ? URMA_TOKEN_PLAIN_TEXT : URMA_TOKEN_NONE;
		cfg.token_value.token = static_cast<std::uint32_t>(token.value_or(Token{}));
		queue->reserve(cfg.depth, "receive queue");
		depth = cfg.depth;
		raw = urma_create_jfr(context->raw, &cfg);
		if (!raw) {
			const int err = errno;

			queue->unreserve(depth);
			errno = err;
			throw_errno("receive queue of depth " + std::to_string(depth));
		}
	}
	~ReceiveState()
	{
		urma_delete_jfr(raw);
		queue->cancel(this, JettyId{}, true);
		queue->unreserve(depth);
	}
	ReceiveState(const ReceiveState &) = delete;
	ReceiveState &operator=(const ReceiveState &) = delete;

	std::error_code post(const Slices &to, std::uint64_t user)
	{
		urma_sge_t sge[Request::max_slices];
		urma_jfr_wr_t wr{ { sge, 0 }, user, nullptr }, *bad = nullptr;

		for (const LocalSlice &s : to.pieces()) {
			if (wr.src.num_sge == Request::max_slices)
				return errc::invalid;
			sge[wr.src.num_sge++] = s.native();
		}
		return from_status(urma_post_jfr_wr(raw, &wr, &bad));
	}

	const std::shared_ptr<ContextHandle> context;
	const std::shared_ptr<QueueState> queue;
	const std::optional<Token> token;
	const urma_transport_mode_t mode;
	std::uint32_t depth = 0;
	urma_jfr_t *raw = nullptr;
};

/// The peer as the C API knows it; null and errno when it cannot be reached.
inline urma_target_jetty_t *import_jetty(const ContextHandle &context, const RemoteJetty &peer,
					 urma_transport_mode_t mode, urma_tp_type_t tp)
{
	urma_token_t token{ static_cast<std::uint32_t>(peer.token.value_or(Token{})) };
	urma_rjetty_t r{};

	r.jetty_id.eid = peer.eid.native();
	r.jetty_id.id = static_cast<std::uint32_t>(peer.id);
	r.trans_mode = mode;
	r.type = URMA_JETTY;
	r.tp_type = tp;
	r.flag.bs.token_policy = peer.token ? URMA_TOKEN_PLAIN_TEXT : URMA_TOKEN_NONE;
	return urma_import_jetty(context.raw, &r, &token);
}

struct JettyState {
	static constexpr std::uint32_t records_per_request = 4;

	/// Throws errc::invalid when @p r is for another mode.
	JettyState(const Context &c, std::shared_ptr<QueueState> q, std::shared_ptr<ReceiveState> r,
		   const RcJettyOptions &options, urma_transport_mode_t mode = URMA_TM_RC)
		: context(c.handle()), queue(std::move(q)), receives(std::move(r))
	{
		urma_jetty_cfg_t cfg{};
		urma_jfs_cfg_t &jfs = cfg.jfs_cfg;

		cfg.id = static_cast<std::uint32_t>(options.id);
		cfg.flag.bs.share_jfr = URMA_SHARE_JFR;
		cfg.shared.jfr = receives->raw;
		jfs.depth = std::bit_ceil(std::max(options.depth, 1u));
		jfs.trans_mode = mode;
		jfs.priority = options.priority;
		jfs.max_sge = options.max_slices;
		jfs.max_inline_data = options.inline_bytes;
		jfs.rnr_retry = options.rnr_retry;
		jfs.err_timeout = options.err_timeout;
		if (options.target_order)
			jfs.flag.bs.order_type = URMA_OT;
		jfs.jfc = queue->raw;
		records = records_per_request * jfs.depth + 2;
		queue->reserve(records, "jetty");
		raw = urma_create_jetty(context->raw, &cfg);
		if (!raw) {
			const int err = errno;

			queue->unreserve(records);
			errno = err;
			throw_errno("jetty of depth " + std::to_string(jfs.depth));
		}
		queue->add_jetty(id());
	}

	/// Stop, drain, destroy; nobody is told of failures.
	~JettyState()
	{
		close();
	}
	JettyState(const JettyState &) = delete;
	JettyState &operator=(const JettyState &) = delete;

	std::uint32_t id() const
	{
		return raw->jetty_id.id;
	}

	std::error_code close() noexcept
	{
		using namespace std::chrono_literals;

		if (!raw)
			return {};
		std::error_code result = drain(2s);

		if (auto e = unbind(); !result)
			result = e;
		const std::uint32_t number = id();

		if (auto e = from_status(urma_delete_jetty(raw)))
			return e; // it exists, and so does everything it needs
		raw = nullptr;
		forget(number);
		queue->unreserve(records);
		return result;
	}

	/// What completed and was not polled; who waits is told.
	void forget(std::uint32_t number)
	{
		queue->remove_jetty(number, this);
		if (receives->queue != queue)
			receives->queue->remove_jetty(number, nullptr);
	}

	std::error_code set_state(urma_jetty_state_t to) noexcept
	{
		urma_jetty_attr_t attr{ JETTY_STATE, 0, to };

		return from_status(urma_modify_jetty(raw, &attr));
	}

	std::error_code stop() noexcept
	{
		return set_state(URMA_JETTY_STATE_ERROR);
	}

	/// Until everything has completed, and was taken out of the C API's queues.
	std::error_code drain(std::chrono::milliseconds timeout) noexcept
	try {
		const auto deadline = deadline_after(timeout);

		if (auto e = stop())
			return e;
		while (!queue->is_flushed(id())) {
			if (Clock::now() >= deadline)
				return errc::timed_out;
			std::this_thread::yield();
		}
		queue->take_all();
		receives->queue->take_all();
		return {};
	} catch (const Error &e) {
		return e.code();
	} catch (...) {
		return errc::no_memory;
	}

	std::error_code bind(const RemoteJetty &peer)
	{
		const std::lock_guard hold(control);

		if (target)
			return errc::exists;
		target = import_jetty(*context, peer, URMA_TM_RC, URMA_RTP);
		if (!target)
			return { errno, category() };
		const urma_status_t status = urma_bind_jetty(raw, target);

		if (status) {
			urma_unimport_jetty(target);
			target = nullptr;
		}
		return from_status(status);
	}

	std::error_code unbind() noexcept
	{
		const std::lock_guard hold(control);

		if (!target)
			return {};
		if (auto e = from_status(urma_unbind_jetty(raw)))
			return e;
		urma_unimport_jetty(target);
		target = nullptr;
		return {};
	}

	std::error_code post(Request &request) noexcept
	{
		urma_jfs_wr_t *bad = nullptr;

		if (request.error())
			return request.error();
		return from_status(urma_post_jetty_send_wr(raw, request.build(context->raw), &bad));
	}

	const std::shared_ptr<ContextHandle> context;
	const std::shared_ptr<QueueState> queue;
	const std::shared_ptr<ReceiveState> receives;
	std::uint32_t records = 0;
	urma_jetty_t *raw = nullptr;
	std::mutex control; // guards the next
	urma_target_jetty_t *target = nullptr;
};

/// What jetties of every mode can do.
class Jetty
{
      public:
	/// What a peer needs to reach it, the token included.
	RemoteJetty remote() const
	{
		return { Eid::from(state_->raw->jetty_id.eid), id(), state_->receives->token };
	}

	JettyId id() const
	{
		return JettyId{ state_->id() };
	}

	/// A buffer for messages: ReceiveQueue::receive() of its receive queue.
	std::error_code receive(Slices to, std::uint64_t user = 0)
	{
		return state_->receives->post(to, user);
	}

	/// Puts it into error.
	std::error_code stop()
	{
		return state_->stop();
	}

	/**
	 * stop(), and polls until everything that was posted has completed: until
	 * WR_FLUSH_ERR_DONE (URMA API, urma_api_jetty.h). No completion is lost, neither
	 * of this jetty nor of another: they can be polled afterwards. Receive buffers
	 * stay in the receive queue. errc::timed_out.
	 */
	std::error_code drain(std::chrono::milliseconds timeout = std::chrono::seconds(10))
	{
		return state_->drain(timeout);
	}

	/// What the destructor does, with the result; whatever it is, only destroying may
	/// follow.
	std::error_code close()
	{
		return state_->close();
	}

	urma_jetty_t *native() const
	{
		return state_->raw;
	}

      protected:
	Jetty(const Context &context, const CompletionQueue &completions,
	      const std::shared_ptr<ReceiveState> &receives, const RcJettyOptions &options,
	      urma_transport_mode_t mode)
		: state_(std::make_unique<JettyState>(context, completions.state(), receives,
						      options, mode))
	{
	}

	std::unique_ptr<JettyState> state_;
};

} // namespace detail

/// Buffers for messages, shared by the jetties that are made with it (URMA API: JFR).
/// Buffers that are left in it when it is destroyed get no completion.
class ReceiveQueue
{
      public:
	/// Its completions go to @p completions. Throws Error.
	ReceiveQueue(const Context &context, const CompletionQueue &completions,
		     const ReceiveQueueOptions &options = {})
		: state_(std::make_shared<detail::ReceiveState>(context, completions.state(),
								options))
	{
	}

	/// A buffer, which any of the jetties may use. errc::queue_full; errc::invalid.
	std::error_code receive(Slices to, std::uint64_t user = 0)
	{
		return state_->post(to, user);
	}

	/// The same from a coroutine; in coroutine.hpp.
	AsyncReceives async();

	/// Buffers it holds.
	std::uint32_t depth() const
	{
		return state_->depth;
	}
	urma_jfr_t *native() const
	{
		return state_->raw;
	}
	const std::shared_ptr<detail::ReceiveState> &state() const
	{
		return state_;
	}

	ReceiveQueue(ReceiveQueue &&) noexcept = default;
	ReceiveQueue &operator=(ReceiveQueue &&) noexcept = default;

      private:
	std::shared_ptr<detail::ReceiveState> state_;
};

/// What became of a batch.
struct BatchResult {
	std::size_t accepted = 0; ///< requests that were posted, the first ones
	std::error_code error; ///< why the next one was not

	explicit operator bool() const
	{
		return !error;
	}
};

/// Requests that are posted together, with one doorbell. Not thread-safe. It must not
/// outlive its jetty, and buffers have to exist until ring() even if they go inline.
class Batch : public Operations<Batch>
{
      public:
	/// Posts the requests up to the first that is refused. That one and the rest stay
	/// here: ring() again, or clear().
	BatchResult ring()
	{
		BatchResult result;
		urma_jfs_wr_t *first = nullptr, *last = nullptr, *bad = nullptr;

		for (detail::Request &r : requests_) {
			if ((result.error = r.error()))
				break;
			urma_jfs_wr_t *const wr = r.build(jetty_->context->raw);

			(last ? last->next : first) = wr;
			last = wr;
			++result.accepted;
		}
		if (!first)
			return result;
		if (auto e = detail::from_status(
			    urma_post_jetty_send_wr(jetty_->raw, first, &bad))) {
			result = { 0, e };
			for (const auto *wr = first; wr != bad; wr = wr->next)
				++result.accepted;
		}
		requests_.erase(requests_.begin(),
				requests_.begin() + static_cast<std::ptrdiff_t>(result.accepted));
		return result;
	}

	std::size_t size() const
	{
		return requests_.size();
	}
	void clear()
	{
		requests_.clear();
	}

      private:
	friend class Operations<Batch>;
	friend class RcJetty;

	explicit Batch(detail::JettyState &jetty) : jetty_(&jetty)
	{
	}

	Batch &submit(const detail::Request &request)
	{
		requests_.push_back(request);
		return *this;
	}

	detail::JettyState *jetty_;
	std::vector<detail::Request> requests_;
};

/**
 * One end of a reliable connection. The operations of Operations post one request
 * each and return errc::queue_full when there is no room. After an error of any
 * request the jetty is in error, and completes the others as Flushed. That the peer
 * has gone is such an error: who asks nothing of it does not notice.
 *
 * Destroying it stops it, drains it and deletes it. Completions that nobody polled
 * by then are gone with it; to see them, drain() first. Coroutines that wait are
 * resumed with an error by their Poller.
 */
class RcJetty : public detail::Jetty, public Operations<RcJetty>
{
      public:
	/// Records that a request may take in a completion queue: a jetty of depth n
	/// accepts up to that many times n small requests.
	static constexpr std::uint32_t records_per_request =
		detail::JettyState::records_per_request;

	/// Requests complete in @p completions, messages arrive in @p receives. It takes
	/// receives, but is bound to nobody. Throws Error: errc::exists: the id is taken.
	RcJetty(const Context &context, const CompletionQueue &completions,
		const ReceiveQueue &receives, const RcJettyOptions &options = {})
		: Jetty(context, completions, receives.state(), options, URMA_TM_RC)
	{
	}

	/// Connects to a jetty, which has to do the same with this one. It does not wait
	/// for that; requests do. errc::exists: is bound; errc::invalid: is in error.
	std::error_code bind(const RemoteJetty &peer)
	{
		return state_->bind(peer);
	}

	/// Collects requests.
	Batch batch()
	{
		return Batch(*state_);
	}

	/// The operations as awaitables; in coroutine.hpp.
	AsyncJetty async();

	/// In error: it does nothing any more, and all its requests complete as Flushed.
	bool is_failed() const
	{
		urma_jetty_cfg_t cfg;
		urma_jetty_attr_t attr{};

		return urma_query_jetty(state_->raw, &cfg, &attr) ||
		       attr.state == URMA_JETTY_STATE_ERROR;
	}

	/// drain(), and makes it as new: not bound, not in error. Completions that were not
	/// polled before are dropped.
	std::error_code reset()
	{
		if (auto e = drain())
			return e;
		if (auto e = state_->unbind())
			return e;
		if (auto e = state_->set_state(URMA_JETTY_STATE_RESET))
			return e;
		state_->forget(state_->id());
		state_->queue->add_jetty(state_->id());
		return state_->set_state(URMA_JETTY_STATE_READY);
	}

      private:
	friend class Operations<RcJetty>;

	std::error_code submit(detail::Request &request)
	{
		return state_->post(request);
	}
};

} // namespace v0
} // namespace uboe::urma
