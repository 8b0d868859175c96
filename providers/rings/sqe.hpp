// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Composition of send queue elements. What an operation looks like is a row of
// a table; the code below fills any of them. Layout: ub/uboe_io.h.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rings/base.hpp"

namespace uboe {

/// Operations; the first eight are those of verbs.
enum class Op : u8 {
	send,
	send_imm,
	send_inv,
	write,
	write_imm,
	read,
	cas,
	faa,
	write_notify,
	swap,
	fsub,
	fand,
	f_or,
	fxor,
	nop,
	store,
	load,
	store_add1,
	store_add2,
	raw // in raw queues, and nothing else there
};
inline constexpr u32 op_count = 20;
inline constexpr u32 verbs_op_count = 8;
inline constexpr u32 raw_ops = 1u << static_cast<u32>(Op::raw); // of a raw queue, as bits

/// One row: how an operation is encoded and what it may carry.
struct OpTraits {
	u8 opcode; // enum uboe_sqe_opcode
	u8 ctrl; // bytes before SGEs or inline data
	u8 max_sge;
	u8 max_inline; // bytes, 0: inline data is not possible
	bool one_sided; // names remote memory
	u8 operands; // atomics: operands that follow the only SGE
};

inline constexpr OpTraits op_traits[op_count] = {
	{UBOE_SQE_SEND, UBOE_SQE_CTRL, UBOE_MAX_SGE, UBOE_MAX_INLINE, false, 0},
	{UBOE_SQE_SEND_IMM, UBOE_SQE_CTRL, UBOE_MAX_SGE, UBOE_MAX_INLINE, false, 0},
	{UBOE_SQE_SEND_INV, UBOE_SQE_CTRL, UBOE_MAX_SGE, UBOE_MAX_INLINE, false, 0},
	{UBOE_SQE_WRITE, UBOE_SQE_CTRL, UBOE_MAX_SGE, UBOE_MAX_INLINE, true, 0},
	{UBOE_SQE_WRITE_IMM, UBOE_SQE_CTRL_IMM, UBOE_MAX_SGE_WRITE_IMM, UBOE_MAX_INLINE_WRITE_IMM,
	 true, 0},
	{UBOE_SQE_READ, UBOE_SQE_CTRL, UBOE_MAX_SGE_READ, 0, true, 0},
	{UBOE_SQE_CAS, UBOE_SQE_CTRL, 1, 0, true, 2},
	{UBOE_SQE_FAA, UBOE_SQE_CTRL, 1, 0, true, 1},
	{UBOE_SQE_WRITE_NOTIFY, UBOE_SQE_CTRL_NOTIFY, UBOE_MAX_SGE_NOTIFY, UBOE_MAX_INLINE_NOTIFY,
	 true, 0},
	{UBOE_SQE_SWAP, UBOE_SQE_CTRL, 1, 0, true, 1},
	{UBOE_SQE_FSUB, UBOE_SQE_CTRL, 1, 0, true, 1},
	{UBOE_SQE_FAND, UBOE_SQE_CTRL, 1, 0, true, 1},
	{UBOE_SQE_FOR, UBOE_SQE_CTRL, 1, 0, true, 1},
	{UBOE_SQE_FXOR, UBOE_SQE_CTRL, 1, 0, true, 1},
	{UBOE_SQE_NOP, UBOE_SQE_CTRL, 0, 0, false, 0},
	{UBOE_SQE_STORE, UBOE_SQE_CTRL, 1, 0, true, 1},
	{UBOE_SQE_LOAD, UBOE_SQE_CTRL, 1, 0, true, 1},
	{UBOE_SQE_WRITE_STOREADD1, UBOE_SQE_CTRL, UBOE_MAX_SGE_STOREADD, UBOE_MAX_INLINE_STOREADD1,
	 true, 0},
	{UBOE_SQE_WRITE_STOREADD2, UBOE_SQE_CTRL_NOTIFY, UBOE_MAX_SGE_STOREADD,
	 UBOE_MAX_INLINE_STOREADD2, true, 0},
	{UBOE_SQE_RAW, UBOE_SQE_CTRL_RAW, UBOE_MAX_SGE_RAW, 0, false, 0},
};

constexpr const OpTraits &traits(Op op)
{
	return op_traits[static_cast<u32>(op)];
}

/// Base blocks of an element of @p bytes.
constexpr u32 blocks_of(u32 bytes)
{
	return (bytes + UBOE_BB - 1) / UBOE_BB;
}

/// Base blocks that one element of @p op needs at most with @p sge SGEs or
/// @p inline_bytes of data, whichever is larger; limits of the operation apply.
constexpr u32 max_blocks(Op op, u32 sge, u32 inline_bytes)
{
	const OpTraits &t = traits(op);

	if (t.operands)
		return blocks_of(UBOE_SQE_ATOMIC_DATA + 16u * t.operands);
	return blocks_of(t.ctrl + std::max(std::min<u32>(sge, t.max_sge) * UBOE_SGE_SIZE,
					   std::min<u32>(inline_bytes, t.max_inline)));
}

inline constexpr u8 wr_signaled = 1;
inline constexpr u8 wr_fence = 2;
inline constexpr u8 wr_solicited = 4;
inline constexpr u8 wr_ordered = 8; // completes in order at the target

/// What gives access to remote memory.
struct RemoteKey {
	u32 id = 0; // TokenID, 20 bits
	u32 value = 0; // TokenValue
	bool has_value = true;

	/// Of a verbs rkey: TokenID << 12 | TokenValue
	static constexpr RemoteKey of_rkey(u32 rkey) { return {rkey >> 12, rkey & 0xfff}; }
};

/// Where requests go: the same for all of a connection, or named by each.
struct SqeParams {
	u32 remote_jetty = 0; // raw: UDP port
	u32 remote_token = 0; // of the jetty; Sends carry it when has_token
	bool has_token = false;
	u8 remote_type = UBOE_RMT_JETTY; // enum uboe_rmt_type
	u32 channel = 0; // 24 bits
	u8 remote_eid[16] = {}; // IPv6 or v4-mapped; connections have none
};

/// A work request without its data.
struct WorkRequest {
	Op op = Op::send;
	u8 flags = 0; // wr_*
	u8 order = 1; // place order: 0 none, 1 relaxed, 2 strong
	u8 hint = 0; // which member of a jetty group
	u64 wr_id = 0;
	u64 imm = 0; // SEND_IMM, WRITE_IMM: as it goes over the wire; WRITE_NOTIFY: stored
	RemoteKey key; // SEND_INV: what to invalidate
	RemoteKey notify_key; // WRITE_NOTIFY; store add: of the counter, to which imm is added
	u64 notify_addr = 0;
	u64 remote_addr = 0;
	u32 operand_bytes = 8; // atomics: 4, 8 or, CAS, 16
	u64 operand[2] = {}; // CAS: swap, compare; others: one
	const SqeParams *target = nullptr; // null: the queue's peer
	u64 operand_high[2] = {}; // of 16 bytes, the upper half
	bool has_udf = false; // reduce, atomic store and load
	u32 udf = 0;
};

/// Shape of a request that passed its checks.
struct SqeShape {
	u32 bytes = 0; // of the element
	u32 sges = 0; // that are not empty
	u64 payload = 0; // bytes; at most UBOE_MAX_MSG
};

/// Checks SGEs against an operation. SGEs of length 0 carry nothing and are
/// left out. S has members addr, length and lkey.
/// Returns 0 or EINVAL; @p shape is valid on success.
template <class S>
int shape_sges(const WorkRequest &wr, std::span<const S> sges, u32 queue_max_sge, SqeShape &shape)
{
	const OpTraits &t = traits(wr.op);

	if (sges.size() > queue_max_sge || sges.size() > t.max_sge)
		return EINVAL;
	for (const S &s : sges) {
		shape.payload += s.length;
		shape.sges += s.length != 0;
	}
	if (shape.payload > (wr.op == Op::raw ? UBOE_MAX_RAW : UBOE_MAX_MSG))
		return EINVAL;
	if (t.operands) {
		if (shape.sges != 1 || shape.payload != wr.operand_bytes ||
		    wr.remote_addr % wr.operand_bytes)
			return EINVAL;
		shape.bytes = UBOE_SQE_ATOMIC_DATA + wr.operand_bytes * t.operands;
	} else {
		shape.bytes = t.ctrl + shape.sges * UBOE_SGE_SIZE;
	}
	return 0;
}

/// The same for inline data of @p total bytes.
inline int shape_inline(const WorkRequest &wr, u64 total, u32 queue_max_inline, SqeShape &shape)
{
	const OpTraits &t = traits(wr.op);

	if (!t.max_inline || total > t.max_inline || total > queue_max_inline)
		return EINVAL;
	shape.payload = total;
	shape.bytes = t.ctrl + static_cast<u32>(total);
	return 0;
}

namespace detail {

inline void put32(std::byte *p, u32 v)
{
	v = le(v);
	std::memcpy(p, &v, sizeof(v));
}

inline void put64(std::byte *p, u64 v)
{
	v = le(v);
	std::memcpy(p, &v, sizeof(v));
}

/// What follows the common control part in some operations.
inline void put_extra(std::byte *to, const WorkRequest &wr, const SqeParams &params)
{
	if (wr.op == Op::write_imm) {
		put64(to, wr.imm);
		put32(to + 8, params.remote_jetty);
		put32(to + 12, params.remote_token);
	} else if (wr.op == Op::write_notify || wr.op == Op::store_add2) {
		put32(to, wr.notify_key.id);
		put32(to + 4, wr.notify_key.value);
		put64(to + 8, wr.notify_addr);
		put64(to + 16, wr.imm);
		put64(to + 24, 0);
	}
}

/// The short Write with store add has a control part of its own behind word 3.
inline void put_store_add1(std::byte *to, const WorkRequest &wr)
{
	put32(to + offsetof(uboe_sqe_storeadd1, eid), 0);
	put32(to + offsetof(uboe_sqe_storeadd1, token), wr.key.value);
	put64(to + offsetof(uboe_sqe_storeadd1, addr), wr.remote_addr);
	put64(to + offsetof(uboe_sqe_storeadd1, counter), wr.notify_addr);
	put64(to + offsetof(uboe_sqe_storeadd1, data), wr.imm);
}

/// A Raw SQE has the words of others, without most of their fields.
inline void put_raw(std::byte *to, const WorkRequest &wr, const SqeParams &params, u32 w0, u32 sges)
{
	put32(to, w0 | (wr.flags & wr_signaled ? UBOE_SQE_CQE : 0));
	put32(to + 4, u32{UBOE_SQE_RAW} << 8);
	put32(to + 8, sges << 24);
	put32(to + 12, params.remote_jetty & UBOE_SQE_RAW_PORT);
	std::memcpy(to + offsetof(uboe_sqe_raw, rmt_eid), params.remote_eid,
		    sizeof(params.remote_eid));
}

/// The 64-bit word whose meaning depends on the operation.
inline u64 address_word(const WorkRequest &wr)
{
	switch (wr.op) {
	case Op::send_imm:
		return wr.imm;
	case Op::send_inv:
		return u64{wr.key.value} << 32 | wr.key.id;
	default:
		return traits(wr.op).one_sided ? wr.remote_addr : 0;
	}
}

} // namespace detail

/// Writes the control part of an element to @p to (32 to 80 bytes).
/// @p pi: index of its first block; @p owner_bit: depth of the ring.
inline void put_control(std::byte *to, const WorkRequest &wr, const SqeParams &params, u32 pi,
			u32 depth, u32 sges, u32 inline_len, bool is_inline)
{
	using namespace detail;
	const OpTraits &t = traits(wr.op);
	u32 w0 = pi & UBOE_SQE_IDX;

	if (!(pi & depth))
		w0 |= UBOE_SQE_OWNER;
	if (wr.op == Op::raw) {
		put_raw(to, wr, params, w0, sges);
		return;
	}
	w0 |= u32{wr.order} << 16 | u32{params.remote_type} << 29;
	if (wr.flags & wr_signaled)
		w0 |= UBOE_SQE_CQE;
	if (wr.flags & wr_fence)
		w0 |= UBOE_SQE_FENCE;
	if (wr.flags & wr_solicited)
		w0 |= UBOE_SQE_SOLICITED;
	if (is_inline)
		w0 |= UBOE_SQE_INLINE;
	if (wr.flags & wr_ordered)
		w0 |= UBOE_SQE_COMP_ORDER;
	if (t.one_sided ? wr.key.has_value : params.has_token)
		w0 |= UBOE_SQE_TOKEN_EN;
	if (wr.has_udf)
		w0 |= UBOE_SQE_UDF;
	put32(to, w0);
	put32(to + 4, u32{wr.hint} | u32{t.opcode} << 8 | inline_len << 22);
	put32(to + 8, sges << 24 | params.channel);
	put32(to + 12, t.one_sided ? wr.key.id : params.remote_jetty);
	if (wr.op == Op::store_add1) {
		put_store_add1(to, wr);
		return;
	}
	std::memcpy(to + 16, params.remote_eid, sizeof(params.remote_eid));
	put32(to + 32, t.one_sided ? wr.key.value : params.remote_token);
	put32(to + 36, wr.udf);
	put64(to + 40, address_word(wr));
	put_extra(to + UBOE_SQE_CTRL, wr, params);
}

/// Writes the SGEs (and operands) behind the control part at @p to.
template <class S> void put_sges(std::byte *to, const WorkRequest &wr, std::span<const S> sges)
{
	using namespace detail;
	const OpTraits &t = traits(wr.op);
	std::byte *p = to + t.ctrl;

	for (const S &s : sges) {
		if (!s.length)
			continue;
		put32(p, s.length);
		put32(p + 4, s.lkey);
		put64(p + 8, s.addr);
		p += UBOE_SGE_SIZE;
	}
	for (u32 i = 0; i < t.operands; ++i) {
		const u64 v[2] = {le(wr.operand[i]), le(wr.operand_high[i])};

		std::memcpy(to + UBOE_SQE_ATOMIC_DATA + wr.operand_bytes * i, v, wr.operand_bytes);
	}
}

} // namespace uboe
