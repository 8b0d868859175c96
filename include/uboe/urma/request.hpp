// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Requests of uboe/urma.hpp: what can be asked of a jetty, one at a time, in batches
 * or from coroutines.
 */
#pragma once

#include <initializer_list>

#include "completion_queue.hpp"

namespace uboe::urma
{
inline namespace v0
{

/// Order of execution at the target (URMA API, enum urma_place_order). In RC the
/// transport keeps everything in order anyway.
enum class Order : std::uint32_t {
	none = URMA_NO_ORDER,
	relaxed = URMA_RELAX_ORDER,
	strong = URMA_STRONG_ORDER,
};

/// How a request is to be treated; `{ .signal = false, .user = 7 }`.
struct SendOptions {
	/// It has a completion of its own. Without, only errors are reported, and its place
	/// in the send queue is free when a later request has completed: ask for
	/// a completion at least once for each depth of the queue.
	bool signal = true;
	bool fence = false; ///< wait until earlier Reads and atomics are done
	bool solicited = false; ///< wake up a receiver that wants solicited messages only
	/// Data are taken while posting: the buffer may change at once, and need not be
	/// registered. At most RcJettyOptions::inline_bytes; not for Reads and atomics.
	bool inline_data = false;
	Order order = Order::none;
	std::uint64_t user = 0; ///< for the completion
};

/// Local pieces of a request, in their order; one, or several in braces.
class Slices
{
      public:
	Slices(const LocalSlice &one) : pieces_(&one, 1)
	{
	}
	Slices(std::span<const LocalSlice> several) : pieces_(several)
	{
	}
	Slices(std::initializer_list<LocalSlice> several) : pieces_(several.begin(), several.size())
	{
	}

	std::span<const LocalSlice> pieces() const
	{
		return pieces_;
	}

      private:
	std::span<const LocalSlice> pieces_; // lives as long as the call
};

namespace detail
{

/// A request as the C API wants it. May be copied until build().
class Request
{
      public:
	static constexpr std::size_t max_slices = 13; // of any request (URMA API)

	Request(urma_opcode_t opcode, const SendOptions &options) : wr_{}
	{
		wr_.opcode = opcode;
		wr_.user_ctx = options.user;
		wr_.flag.bs.complete_enable = options.signal;
		wr_.flag.bs.fence = options.fence;
		wr_.flag.bs.solicited_enable = options.solicited;
		wr_.flag.bs.inline_flag = options.inline_data;
		wr_.flag.bs.place_order = static_cast<std::uint32_t>(options.order) & 3;
	}

	Request &local(const Slices &slices)
	{
		for (const LocalSlice &s : slices.pieces()) {
			if (local_count_ == max_slices) {
				error_ = errc::invalid;
				break;
			}
			local_[local_count_++] = s.native();
			local_bytes_ += s.length();
		}
		return *this;
	}

	/// The place of all the data; after local().
	Request &remote(const RemoteSlice &r)
	{
		return far(r, local_bytes_);
	}
	/// The place of 8 bytes more.
	Request &notify(const RemoteSlice &r, std::uint64_t value)
	{
		operand_[0] = value;
		return far(r, sizeof(value));
	}
	Request &operands(std::uint64_t first, std::uint64_t second = 0)
	{
		operand_[0] = first;
		operand_[1] = second;
		return *this;
	}
	Request &invalidate(const RemoteSegment &s)
	{
		invalidated_ = s;
		return *this;
	}

	/// Where it goes, without a connection.
	Request &target(urma_target_jetty_t *t)
	{
		wr_.tjetty = t;
		return *this;
	}

	/// Why it cannot be posted.
	std::error_code error() const
	{
		return error_;
	}
	std::uint64_t user() const
	{
		return wr_.user_ctx;
	}
	/// The completion is for the ticket's owner.
	void await(std::uint64_t ticket)
	{
		wr_.user_ctx = ticket;
		wr_.flag.bs.complete_enable = URMA_COMPLETE_ENABLE;
	}

	/// The structure to be posted; it points into this object.
	urma_jfs_wr_t *build(urma_context_t *context)
	{
		urma_sg_t local{ local_.data(), local_count_ };
		urma_sg_t far{ far_.data(), far_count_ };

		for (std::uint32_t i = 0; i < far_count_; ++i)
			far_[i].user_tseg = &key_[i];
		switch (wr_.opcode) {
		case URMA_OPC_SEND_INVALIDATE:
			import(context);
			wr_.send = { local, 0, 0, imported_.get() };
			break;
		case URMA_OPC_SEND:
		case URMA_OPC_SEND_IMM:
			wr_.send = { local, 0, operand_[0], nullptr };
			break;
		case URMA_OPC_READ:
			wr_.rw = { far, local, 0, 0 };
			break;
		case URMA_OPC_CAS:
			wr_.cas = { far_.data(), local_.data(), { operand_[0] }, { operand_[1] } };
			break;
		case URMA_OPC_WRITE:
		case URMA_OPC_WRITE_IMM:
		case URMA_OPC_WRITE_NOTIFY:
			wr_.rw = { local, far, 0, operand_[0] };
			break;
		default: // the other atomics; a NOP does not look
			wr_.faa = { far_.data(), local_.data(), { operand_[0] } };
		}
		wr_.next = nullptr;
		return &wr_;
	}

      private:
	struct Unimport {
		void operator()(urma_target_seg_t *s) const
		{
			urma_unimport_seg(s);
		}
	};

	Request &far(const RemoteSlice &r, std::uint64_t length)
	{
		urma_user_tseg_t &key = key_[far_count_];

		if (length > r.length)
			error_ = errc::out_of_range;
		key.attr.value = 0;
		key.attr.bs.token_policy = r.token ? URMA_TOKEN_PLAIN_TEXT : URMA_TOKEN_NONE;
		key.token_id = static_cast<std::uint32_t>(r.id) << token_id_shift;
		key.token_value.token = static_cast<std::uint32_t>(r.token.value_or(Token{}));
		far_[far_count_++] = { r.address, static_cast<std::uint32_t>(length), nullptr,
				       nullptr };
		return *this;
	}

	/// A Send with invalidate wants a handle, but only while it is posted.
	void import(urma_context_t *context)
	{
		urma_seg_t seg{};
		urma_token_t token{ static_cast<std::uint32_t>(
			invalidated_.token.value_or(Token{})) };

		seg.ubva.eid = invalidated_.eid.native();
		seg.ubva.va = invalidated_.va;
		seg.len = invalidated_.length;
		seg.token_id = static_cast<std::uint32_t>(invalidated_.id) << token_id_shift;
		seg.attr.bs.token_policy = invalidated_.token ? URMA_TOKEN_PLAIN_TEXT :
								URMA_TOKEN_NONE;
		imported_.reset(urma_import_seg(context, &seg, &token, 0, {}),
				Unimport()); // null: posting refuses it
	}

	urma_jfs_wr_t wr_;
	std::uint32_t local_count_ = 0;
	std::uint32_t far_count_ = 0;
	std::array<urma_sge_t, max_slices> local_;
	std::array<urma_sge_t, 2> far_;
	std::array<urma_user_tseg_t, 2> key_;
	std::uint64_t local_bytes_ = 0;
	std::uint64_t operand_[2] = {};
	RemoteSegment invalidated_;
	std::shared_ptr<urma_target_seg_t> imported_;
	std::error_code error_;
};

} // namespace detail

/**
 * All operations, for RcJetty, Batch and AsyncJetty; what they return is up to them.
 * `read(local, remote)` and `write(local, remote)`: the local side is first, always.
 *
 * A request that would leave its remote segment is errc::out_of_range, and not posted.
 * Lengths: Sends up to 64 KiB, Reads and Writes up to 256 MiB (Device::attributes()).
 */
template <class Derived> class Operations
{
      public:
	/// A message to a receive buffer of the peer.
	decltype(auto) send(Slices from, const SendOptions &options = {})
	{
		return submit(make(URMA_OPC_SEND, options).local(from));
	}
	/// With 64 bits that arrive in RecvDone::imm. A peer that uses verbs sees the low 32.
	decltype(auto) send_imm(Slices from, std::uint64_t imm, const SendOptions &options = {})
	{
		return submit(make(URMA_OPC_SEND_IMM, options).local(from).operands(imm));
	}
	/// And tells the peer that we are done with @p segment of its.
	decltype(auto) send_invalidate(Slices from, const RemoteSegment &segment,
				       const SendOptions &options = {})
	{
		return submit(
			make(URMA_OPC_SEND_INVALIDATE, options).local(from).invalidate(segment));
	}
	/// Local data to remote memory.
	decltype(auto) write(Slices from, const RemoteSlice &to, const SendOptions &options = {})
	{
		return submit(make(URMA_OPC_WRITE, options).local(from).remote(to));
	}
	/// And 64 bits in RecvDone::imm of a receive buffer, which gets no data.
	decltype(auto) write_imm(Slices from, const RemoteSlice &to, std::uint64_t imm,
				 const SendOptions &options = {})
	{
		return submit(
			make(URMA_OPC_WRITE_IMM, options).local(from).remote(to).operands(imm));
	}
	/// And then @p value, 8 bytes in host byte order, to @p where. Either both segments
	/// have tokens, or none.
	decltype(auto) write_notify(Slices from, const RemoteSlice &to, const RemoteSlice &where,
				    std::uint64_t value, const SendOptions &options = {})
	{
		return submit(make(URMA_OPC_WRITE_NOTIFY, options)
				      .local(from)
				      .remote(to)
				      .notify(where, value));
	}
	/// Remote memory to local memory.
	decltype(auto) read(Slices to, const RemoteSlice &from, const SendOptions &options = {})
	{
		return submit(make(URMA_OPC_READ, options).local(to).remote(from));
	}

	// Atomics. `old` receives what was there; its length, 4 or 8, is that of the
	// numbers, and the remote address is a multiple of it.

	/// If it equals @p expected, it becomes @p desired.
	decltype(auto) cas(const LocalSlice &old, const RemoteSlice &at, std::uint64_t expected,
			   std::uint64_t desired, const SendOptions &options = {})
	{
		return submit(make(URMA_OPC_CAS, options)
				      .local(old)
				      .remote(at)
				      .operands(expected, desired));
	}
	decltype(auto) swap(const LocalSlice &old, const RemoteSlice &at, std::uint64_t desired,
			    const SendOptions &options = {})
	{
		return fetch(URMA_OPC_SWAP, old, at, desired, options);
	}
	decltype(auto) fetch_add(const LocalSlice &old, const RemoteSlice &at,
				 std::uint64_t operand, const SendOptions &options = {})
	{
		return fetch(URMA_OPC_FADD, old, at, operand, options);
	}
	decltype(auto) fetch_sub(const LocalSlice &old, const RemoteSlice &at,
				 std::uint64_t operand, const SendOptions &options = {})
	{
		return fetch(URMA_OPC_FSUB, old, at, operand, options);
	}
	decltype(auto) fetch_and(const LocalSlice &old, const RemoteSlice &at,
				 std::uint64_t operand, const SendOptions &options = {})
	{
		return fetch(URMA_OPC_FAND, old, at, operand, options);
	}
	decltype(auto) fetch_or(const LocalSlice &old, const RemoteSlice &at, std::uint64_t operand,
				const SendOptions &options = {})
	{
		return fetch(URMA_OPC_FOR, old, at, operand, options);
	}
	decltype(auto) fetch_xor(const LocalSlice &old, const RemoteSlice &at,
				 std::uint64_t operand, const SendOptions &options = {})
	{
		return fetch(URMA_OPC_FXOR, old, at, operand, options);
	}

	/// Nothing, but a completion.
	decltype(auto) nop(const SendOptions &options = {})
	{
		return submit(make(URMA_OPC_NOP, options).operands(0));
	}

      private:
	static detail::Request make(urma_opcode_t opcode, const SendOptions &options)
	{
		return { opcode, options };
	}

	decltype(auto) fetch(urma_opcode_t opcode, const LocalSlice &old, const RemoteSlice &at,
			     std::uint64_t operand, const SendOptions &options)
	{
		return submit(make(opcode, options).local(old).remote(at).operands(operand));
	}

	decltype(auto) submit(detail::Request &request)
	{
		return static_cast<Derived *>(this)->submit(request);
	}
};

} // namespace v0
} // namespace uboe::urma
