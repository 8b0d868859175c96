// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Completions of uboe/urma.hpp.
 */
#pragma once

#include <variant>

#include "types.hpp"

namespace uboe::urma
{
inline namespace v0
{

/// The end of a request to a send queue.
struct SendDone {
	std::uint64_t user = 0; ///< SendOptions::user
	JettyId jetty{}; ///< ours
	std::uint32_t length = 0; ///< bytes of payload
	std::error_code status; ///< none: success
};

/// What filled a receive buffer.
enum class RecvKind {
	send = URMA_CR_OPC_SEND,
	send_imm = URMA_CR_OPC_SEND_WITH_IMM,
	send_invalidate = URMA_CR_OPC_SEND_WITH_INV,
	write_imm = URMA_CR_OPC_WRITE_WITH_IMM,
};

/// A receive buffer was used. After an error only user, jetty and status are valid.
struct RecvDone {
	std::uint64_t user = 0; ///< as given with the buffer
	JettyId jetty{}; ///< ours; several may share a receive queue
	std::uint32_t length = 0; ///< bytes received; of a write_imm, bytes written
	std::error_code status; ///< none: success
	RecvKind kind = RecvKind::send;
	Eid sender; ///< device it comes from
	JettyId sender_jetty{};
	/// send_imm and write_imm: all 64 bits, host byte order. A peer that uses verbs
	/// sends 32: `ntohl()` of its imm_data.
	std::uint64_t imm = 0;
	TokenId invalidated{}; ///< send_invalidate: our segment the peer is done with
	Token invalidated_token{};
};

/// A request or a receive buffer that was not executed, as the jetty is in error or
/// its queue was destroyed.
struct Flushed {
	std::uint64_t user = 0;
	JettyId jetty{};
	bool receive = false; ///< it was a receive buffer
	std::error_code status; ///< errc::flushed, unhandled or canceled
};

/// One of the three above.
class Completion
{
      public:
	using Variant = std::variant<SendDone, RecvDone, Flushed>;

	Completion() = default;
	Completion(Variant v) : value_(std::move(v))
	{
	}

	/// Null unless it is of that kind.
	const SendDone *send() const
	{
		return std::get_if<SendDone>(&value_);
	}
	const RecvDone *recv() const
	{
		return std::get_if<RecvDone>(&value_);
	}
	const Flushed *flushed() const
	{
		return std::get_if<Flushed>(&value_);
	}
	/// For std::visit().
	const Variant &variant() const
	{
		return value_;
	}

	std::uint64_t user() const
	{
		return std::visit([](const auto &c) { return c.user; }, value_);
	}
	JettyId jetty() const
	{
		return std::visit([](const auto &c) { return c.jetty; }, value_);
	}
	/// None: success.
	std::error_code error() const
	{
		return std::visit([](const auto &c) { return c.status; }, value_);
	}
	/// Success?
	explicit operator bool() const
	{
		return !error();
	}

	/// From a record of the C API that stands for a request.
	static Completion from(const urma_cr_t &cr)
	{
		const std::error_code status = detail::from_completion(cr.status);
		const JettyId jetty{ cr.local_id };
		const bool receive = cr.flag.bs.s_r;

		if (cr.status == URMA_CR_WR_FLUSH_ERR || cr.status == URMA_CR_WR_UNHANDLED)
			return Variant(Flushed{ cr.user_ctx, jetty, receive, status });
		if (!receive)
			return Variant(SendDone{ cr.user_ctx, jetty, cr.completion_len, status });
		return Variant(received(cr, status));
	}

      private:
	static RecvDone received(const urma_cr_t &cr, std::error_code status)
	{
		RecvDone r;

		r.user = cr.user_ctx;
		r.jetty = JettyId{ cr.local_id };
		r.length = cr.completion_len;
		r.status = status;
		r.kind = static_cast<RecvKind>(cr.opcode);
		r.sender = Eid::from(cr.remote_id.eid);
		r.sender_jetty = JettyId{ cr.remote_id.id };
		if (r.kind == RecvKind::send_invalidate) {
			r.invalidated =
				TokenId{ cr.invalid_token.token_id >> detail::token_id_shift };
			r.invalidated_token = Token{ cr.invalid_token.token_value.token };
		} else if (r.kind != RecvKind::send) {
			r.imm = cr.imm_data;
		}
		return r;
	}

	Variant value_;
};

} // namespace v0
} // namespace uboe::urma
