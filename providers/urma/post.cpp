// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Posting: work requests become send queue elements.
#include <cstring>

#include "extension.hpp"
#include "objects.hpp"
#include "post_list.hpp"

namespace uboe::urma {

namespace {

using Translate = int (*)(const urma_jfs_wr_t &, const Context &, Request &);

int local_data(const urma_sg_t &list, const urma_jfs_wr_t &from, const Context &c, Request &r)
{
	if (!from.flag.bs.inline_flag)
		return r.local.gather(list, c);
	if (list.num_sge && !list.sge)
		return EINVAL;
	r.inline_data = &list;
	return 0;
}

int remote_side(const urma_sge_t &e, Request &r)
{
	r.wr.remote_addr = e.addr;
	return remote_key(e, r.wr.key);
}

int send(const urma_jfs_wr_t &from, const Context &c, Request &r)
{
	r.wr.imm = from.send.imm_data;
	r.wr.hint = from.send.target_hint;
	return local_data(from.send.src, from, c, r);
}

int send_invalidate(const urma_jfs_wr_t &from, const Context &c, Request &r)
{
	const Segment *s = Handles<Segment>::check(from.send.tseg);

	if (!s)
		return EINVAL;
	r.wr.key = s->remote;
	r.wr.hint = from.send.target_hint;
	return local_data(from.send.src, from, c, r);
}

int write(const urma_jfs_wr_t &from, const Context &c, Request &r)
{
	const urma_sg_t &to = from.rw.dst;

	if (!to.sge || to.num_sge != 1)
		return EINVAL;
	r.wr.imm = from.rw.notify_data;
	r.wr.hint = from.rw.target_hint;
	if (int err = remote_side(to.sge[0], r))
		return err;
	return local_data(from.rw.src, from, c, r);
}

int write_notify(const urma_jfs_wr_t &from, const Context &c, Request &r)
{
	const urma_sg_t &to = from.rw.dst;

	if (!to.sge || to.num_sge != 2)
		return EINVAL;
	r.wr.imm = from.rw.notify_data;
	r.wr.notify_addr = to.sge[1].addr;
	if (int err = remote_side(to.sge[0], r))
		return err;
	if (int err = remote_key(to.sge[1], r.wr.notify_key))
		return err;
	// one flag says whether tokens travel: both segments have one, or neither
	if (r.wr.key.has_value != r.wr.notify_key.has_value)
		return EINVAL;
	return local_data(from.rw.src, from, c, r);
}

int read(const urma_jfs_wr_t &from, const Context &c, Request &r)
{
	const urma_sg_t &source = from.rw.src;

	if (!source.sge || source.num_sge != 1 || from.flag.bs.inline_flag)
		return EINVAL;
	if (int err = remote_side(source.sge[0], r))
		return err;
	return r.local.gather(from.rw.dst, c);
}

int atomic(const urma_sge_t *remote, const urma_sge_t *local, u32 most, const Context &c,
	   Request &r)
{
	if (!remote || !local || (local->len != 4 && local->len != 8 && local->len != 16) ||
	    local->len > most)
		return EINVAL;
	r.wr.operand_bytes = local->len;
	if (int err = remote_side(*remote, r))
		return err;
	return r.local.add(*local, c);
}

/// An operand of 16 bytes is where @p addr says.
int long_operand(u64 addr, u32 i, Request &r)
{
	if (!addr)
		return EINVAL;
	std::memcpy(&r.wr.operand[i], reinterpret_cast<const void *>(addr), 8);
	std::memcpy(&r.wr.operand_high[i], reinterpret_cast<const std::byte *>(addr) + 8, 8);
	return 0;
}

int cas(const urma_jfs_wr_t &from, const Context &c, Request &r)
{
	if (int err = atomic(from.cas.dst, from.cas.src, 16, c, r))
		return err;
	if (r.wr.operand_bytes == 16) {
		const int err = long_operand(from.cas.swap_addr, 0, r);
		return err ? err : long_operand(from.cas.cmp_addr, 1, r);
	}
	r.wr.operand[0] = from.cas.swap_data;
	r.wr.operand[1] = from.cas.cmp_data;
	return 0;
}

int store(const urma_sge_t *remote, Request &r)
{
	if (!remote || (remote->len != 4 && remote->len != 8))
		return EINVAL;
	r.wr.operand_bytes = remote->len;
	r.local.add_length(remote->len);
	return remote_side(*remote, r);
}

int fetch(const urma_jfs_wr_t &from, const Context &c, Request &r)
{
	r.wr.operand[0] = from.faa.operand;
	if (is_store(from))
		return store(from.faa.dst, r);
	return atomic(from.faa.dst, from.faa.src, 8, c, r);
}

int nop(const urma_jfs_wr_t &, const Context &, Request &)
{
	return 0;
}

struct Row {
	urma_opcode_t opcode;
	Op op;
	Translate translate;
};

constexpr Row rows[] = {
	{URMA_OPC_WRITE, Op::write, write},
	{URMA_OPC_WRITE_IMM, Op::write_imm, write},
	{URMA_OPC_WRITE_NOTIFY, Op::write_notify, write_notify},
	{URMA_OPC_READ, Op::read, read},
	{URMA_OPC_CAS, Op::cas, cas},
	{URMA_OPC_SWAP, Op::swap, fetch},
	{URMA_OPC_FADD, Op::faa, fetch},
	{URMA_OPC_FSUB, Op::fsub, fetch},
	{URMA_OPC_FAND, Op::fand, fetch},
	{URMA_OPC_FOR, Op::f_or, fetch},
	{URMA_OPC_FXOR, Op::fxor, fetch},
	{URMA_OPC_SEND, Op::send, send},
	{URMA_OPC_SEND_IMM, Op::send_imm, send},
	{URMA_OPC_SEND_INVALIDATE, Op::send_inv, send_invalidate},
	{URMA_OPC_NOP, Op::nop, nop},
};

const Row *find_row(urma_opcode_t opcode)
{
	for (const Row &r : rows)
		if (r.opcode == opcode)
			return &r;
	return nullptr;
}

u8 flags_of(const urma_jfs_wr_flag_t &f)
{
	return static_cast<u8>(
		(f.bs.complete_enable ? wr_signaled : 0) | (f.bs.fence ? wr_fence : 0) |
		(f.bs.solicited_enable ? wr_solicited : 0) | (f.bs.comp_order ? wr_ordered : 0));
}

bool is_one_slice(Op op)
{
	return op == Op::send || op == Op::send_imm || op == Op::send_inv || op == Op::store_add1 ||
	       op == Op::store_add2;
}

/// A native Send is one transport message, and so is a Write with store add.
bool too_long(Op op, const LocalSges &sges)
{
	u64 total = 0;

	if (!is_one_slice(op))
		return false;
	for (const LocalSge &s : sges.span())
		total += s.length;
	return total > UBOE_MAX_SLICE;
}

/// UTP carries messages, and nothing that has to be answered.
bool carried(TransMode mode, Op op)
{
	return mode != UBOE_JETTY_UM || op == Op::send || op == Op::send_imm;
}

/// Without a connection each request names its target; others do not look.
bool aim(const Sender &s, const urma_jfs_wr_t &from, Request &r)
{
	if (s.spec.mode == UBOE_JETTY_RC)
		return true;
	const Target *t = Handles<Target>::check(from.tjetty);

	if (!t || &t->context != &s.context || t->mode != s.spec.mode)
		return false;
	r.wr.target = &t->params;
	return true;
}

/// 0 or an error with its reason in @p why.
int append(Sender &j, const urma_jfs_wr_t &from, const char *&why)
{
	const Row *row = find_row(from.opcode);
	Request r;

	why = "opcode: not supported";
	if (!row)
		return EOPNOTSUPP;
	why = "a raw queue takes what uboe_post_raw() posts";
	if (j.spec.mode == UBOE_JETTY_RAW)
		return EOPNOTSUPP;
	why = "opcode: UM carries Send and Send_imm";
	if (!carried(j.spec.mode, row->op))
		return EOPNOTSUPP;
	why = "tjetty: not a target of this mode that this context imported";
	if (!aim(j, from, r))
		return EINVAL;
	why = "an element, a size or a flag is wrong";
	if (from.flag.bs.place_order > URMA_STRONG_ORDER || from.flag.bs.udf)
		return EINVAL;
	r.wr.op = row->op;
	r.wr.order = static_cast<u8>(from.flag.bs.place_order);
	r.wr.flags = flags_of(from.flag);
	r.wr.wr_id = from.user_ctx;
	if (int err = row->translate(from, j.context, r))
		return err;
	if (from.flag.bs.has_drv_ext)
		if (int err = extend(from, r))
			return err;
	if (!r.inline_data)
		return too_long(r.wr.op, r.local) ? EINVAL : j.queue.append(r.wr, r.local.span());
	return j.queue.append_inline(
		r.wr, std::span<const urma_sge_t>(r.inline_data->sge, r.inline_data->num_sge),
		[](const urma_sge_t &s) { return reinterpret_cast<const void *>(s.addr); },
		[](const urma_sge_t &s) { return s.len; });
}

urma_status_t post(Sender &j, urma_jfs_wr_t *wr, urma_jfs_wr_t **bad)
{
	return post_list(j, "jetty", wr, bad, [&j](const urma_jfs_wr_t &w) -> urma_status_t {
		const char *why = "";
		const int err = append(j, w, why);

		return err ? fail(err, "post", "opcode 0x%x: %s", w.opcode, reason(err, why)) : 0;
	});
}

/// A Write or a Read of one piece.
urma_status_t transfer(urma_opcode_t opcode, urma_jfs_t *jfs, urma_target_jetty_t *target,
		       urma_sge_t from, urma_sge_t to, urma_jfs_wr_flag_t flag, u64 user_ctx)
{
	urma_jfs_wr_t wr{}, *bad;

	wr.opcode = opcode;
	wr.flag = flag;
	wr.tjetty = target;
	wr.user_ctx = user_ctx;
	wr.rw.src = {&from, 1};
	wr.rw.dst = {&to, 1};
	return urma_post_jfs_wr(jfs, &wr, &bad);
}

} // namespace

} // namespace uboe::urma

using namespace uboe::urma;

urma_status_t urma_post_jetty_send_wr(urma_jetty_t *jetty, urma_jfs_wr_t *wr,
				      urma_jfs_wr_t **bad_wr)
{
	Jetty *j = Handles<Jetty>::check(jetty);

	if (!j || !wr || !bad_wr)
		return URMA_FAILED(URMA_EINVAL, "%s",
				   j ? "wr or bad_wr: null" : "jetty: not a jetty");
	return post(*j, wr, bad_wr);
}

urma_status_t urma_post_jetty_recv_wr(urma_jetty_t *jetty, urma_jfr_wr_t *wr,
				      urma_jfr_wr_t **bad_wr)
{
	Jetty *j = Handles<Jetty>::check(jetty);

	if (!j || !wr || !bad_wr)
		return URMA_FAILED(URMA_EINVAL, "%s",
				   j ? "wr or bad_wr: null" : "jetty: not a jetty");
	return post_receives(*j->jfr, wr, bad_wr);
}

urma_status_t urma_post_jfs_wr(urma_jfs_t *jfs, urma_jfs_wr_t *wr, urma_jfs_wr_t **bad_wr)
{
	Jfs *s = Handles<Jfs>::check(jfs);

	if (!s || !wr || !bad_wr)
		return URMA_FAILED(URMA_EINVAL, "%s", s ? "wr or bad_wr: null" : "jfs: not a JFS");
	return post(*s, wr, bad_wr);
}

// One request of one piece

urma_status_t urma_write(urma_jfs_t *jfs, urma_target_jetty_t *target_jfr,
			 urma_target_seg_t *dst_tseg, urma_target_seg_t *src_tseg, uint64_t dst,
			 uint64_t src, uint32_t len, urma_jfs_wr_flag_t flag, uint64_t user_ctx)
{
	const urma_sge_t from{src, len, src_tseg, nullptr}, to{dst, len, dst_tseg, nullptr};

	return transfer(URMA_OPC_WRITE, jfs, target_jfr, from, to, flag, user_ctx);
}

urma_status_t urma_read(urma_jfs_t *jfs, urma_target_jetty_t *target_jfr,
			urma_target_seg_t *dst_tseg, urma_target_seg_t *src_tseg, uint64_t dst,
			uint64_t src, uint32_t len, urma_jfs_wr_flag_t flag, uint64_t user_ctx)
{
	const urma_sge_t from{src, len, src_tseg, nullptr}, to{dst, len, dst_tseg, nullptr};

	return transfer(URMA_OPC_READ, jfs, target_jfr, from, to, flag, user_ctx);
}

urma_status_t urma_send(urma_jfs_t *jfs, urma_target_jetty_t *target_jfr,
			urma_target_seg_t *src_tseg, uint64_t src, uint32_t len,
			urma_jfs_wr_flag_t flag, uint64_t user_ctx)
{
	urma_sge_t from{src, len, src_tseg, nullptr};
	urma_jfs_wr_t wr{}, *bad;

	wr.opcode = URMA_OPC_SEND;
	wr.flag = flag;
	wr.tjetty = target_jfr;
	wr.user_ctx = user_ctx;
	wr.send.src = {&from, 1};
	return urma_post_jfs_wr(jfs, &wr, &bad);
}
