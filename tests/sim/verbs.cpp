// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "verbs.hpp"

#include <cassert>

extern "C" {
#include "ubp_os.h"
}

namespace ubsim
{

jfc::jfc(host &h, std::uint32_t id, unsigned shift, const jfc_options &opt)
	: h_(h), id_(id), shift_(shift), flags_(opt.flags),
	  ring_(h.alloc_dma(sizeof(uboe_cqe) << shift)), rec_(h.alloc_dma(sizeof(uboe_jfc_rec)))
{
	uboe_jfc_ctx ctx{};

	ctx.shift = static_cast<std::uint8_t>(shift);
	ctx.flags = opt.flags;
	ctx.moderate_count = opt.moderate_count;
	ctx.moderate_period = opt.moderate_period;
	ctx.base = ring_.bus;
	ctx.rec = rec_.bus;
	[[maybe_unused]] int err = h_.create(UBOE_MBOX_JFC, id_, ctx);
	assert(!err);
}

jfc::~jfc()
{
	[[maybe_unused]] int err = h_.destroy(UBOE_MBOX_JFC, id_);

	assert(!err);
	h_.reap();
	h_.free_dma(ring_);
	h_.free_dma(rec_);
}

std::optional<uboe_cqe> jfc::poll()
{
	auto *e = reinterpret_cast<uboe_cqe *>(ring_.p) + (ci_ & ((1u << shift_) - 1));
	std::uint32_t w0 = smp_load_acquire(&e->w0);
	bool owner = w0 & UBOE_CQE_OWNER;

	if (owner == bool(ci_ >> shift_ & 1))
		return std::nullopt;
	uboe_cqe c = *e;

	ci_++;
	smp_store_release(&reinterpret_cast<uboe_jfc_rec *>(rec_.p)->ci, ci_);
	return c;
}

void jfc::arm(uboe_arm mode)
{
	arm_ = ((arm_ >> 2) + 1) << 2 | mode;
	smp_store_release(&reinterpret_cast<uboe_jfc_rec *>(rec_.p)->arm, arm_);
}

jfr::jfr(host &h, std::uint32_t id, unsigned shift, unsigned sge_shift, std::uint32_t pd,
	 std::uint8_t flags, std::uint32_t jfcn, std::uint32_t token, std::uint8_t buf_shift)
	: h_(h), id_(id), shift_(shift), sge_shift_(sge_shift),
	  ring_(h.alloc_dma((std::uint64_t(UBOE_SGE_SIZE) << sge_shift) << shift)),
	  idx_(h.alloc_dma(4ull << shift)), rec_(h.alloc_dma(sizeof(uboe_jfr_rec))),
	  posted_(std::size_t(1) << shift)
{
	uboe_jfr_ctx ctx{};

	ctx.shift = static_cast<std::uint8_t>(shift);
	ctx.sge_shift = static_cast<std::uint8_t>(sge_shift);
	ctx.flags = flags;
	ctx.jfcn = jfcn;
	ctx.token = token;
	ctx.buf_shift = buf_shift;
	ctx.pd = pd;
	ctx.base = ring_.bus;
	ctx.idx = idx_.bus;
	ctx.rec = rec_.bus;
	[[maybe_unused]] int err = h_.create(UBOE_MBOX_JFR, id_, ctx);
	assert(!err);
	for (std::uint32_t i = 0; i < depth(); i++)
		free_.push_back(depth() - 1 - i);
}

jfr::~jfr()
{
	[[maybe_unused]] int err = h_.destroy(UBOE_MBOX_JFR, id_);

	assert(!err);
	h_.reap();
	h_.free_dma(ring_);
	h_.free_dma(idx_);
	h_.free_dma(rec_);
}

std::uint32_t jfr::post(std::span<const sge> sges)
{
	std::uint32_t slot = free_.back();
	auto *s = reinterpret_cast<uboe_sge *>(ring_.p) + (std::size_t(slot) << sge_shift_);

	assert(sges.size() <= 1u << sge_shift_);
	free_.pop_back();
	posted_[slot] = true;
	std::memset(s, 0, UBOE_SGE_SIZE << sge_shift_);
	for (const sge &g : sges) {
		s->len = g.len;
		s->token = g.key;
		s->va = g.va;
		s++;
	}
	reinterpret_cast<__le32 *>(idx_.p)[pi_ & (depth() - 1)] = slot;
	pi_++;
	smp_store_release(&reinterpret_cast<uboe_jfr_rec *>(rec_.p)->pi, pi_);
	return slot;
}

unsigned jfr::waiting()
{
	uboe_jfr_ctx ctx{};

	h_.query(UBOE_MBOX_JFR, id_, ctx);
	return std::uint16_t(pi_ - ctx.ci);
}

bool jfr::done(std::uint32_t slot)
{
	if (slot >= depth() || !posted_[slot])
		return false;
	posted_[slot] = false;
	free_.push_back(slot);
	return true;
}

rc::rc(host &h, std::uint32_t id, jfc &tx, jfc &rx, jfr &r, const jetty_options &opt)
	: h_(h), id_(id), opt_(opt), sq_(h.alloc_dma(std::uint64_t(UBOE_BB) << opt.sq_shift)),
	  page_(h.alloc_dma(UBOE_JPAGE_SOFT_STRIDE))
{
	uboe_jetty_ctx ctx{};
	uboe_rct_ctx rct{};
	[[maybe_unused]] int err;

	ctx.type = opt.type;
	std::memcpy(ctx.eid, opt.eid.b.data(), 16);
	ctx.mtu = opt.mtu;
	ctx.sq_shift = static_cast<std::uint8_t>(opt.sq_shift);
	ctx.flags = opt.flags;
	ctx.sl = opt.sl;
	ctx.slice = opt.slice;
	ctx.order = opt.order;
	ctx.pd = opt.pd;
	ctx.sq_base = opt.flags & UBOE_JETTY_LOCKBUF ? opt.lockbuf : sq_.bus;
	ctx.page = page_.bus;
	ctx.tx_jfcn = tx.id();
	if (!(opt.flags & UBOE_JETTY_SEND_ONLY)) {
		ctx.rx_jfcn = rx.id();
		ctx.jfrn = r.id();
	}
	ctx.user_data = opt.user;
	ctx.token = opt.token;
	err = h_.create(UBOE_MBOX_JETTY, id_, ctx);
	assert(!err);
	has_jetty_ = true;
	if (opt.type != UBOE_JETTY_RC)
		return;
	rct.shift = static_cast<std::uint8_t>(opt.rct_shift);
	rct.jetty = id_;
	rct.watermark = opt.rct_mark;
	err = h_.create(UBOE_MBOX_RCT, id_, rct);
	assert(!err);
}

rc::~rc()
{
	destroy_channel();
	destroy_jetty();
	h_.reap();
	h_.free_dma(sq_);
	h_.free_dma(page_);
}

int rc::to_state(std::uint8_t state)
{
	uboe_jetty_ctx ctx{};

	ctx.state = state;
	return h_.modify(UBOE_MBOX_JETTY, id_, ctx, UBOE_JM_STATE);
}

int rc::connect(const channel_options &opt)
{
	uboe_jetty_ctx ctx{};
	uboe_tp_ctx tp{};
	int err;

	std::memcpy(tp.laddr, opt.local.b.data(), 16);
	std::memcpy(tp.raddr, opt.remote.b.data(), 16);
	tp.jetty = id_;
	tp.rmt_jetty = opt.rmt_jetty;
	tp.mtu = opt.mtu;
	tp.window = opt.window;
	tp.timeout_ns = opt.timeout_ns;
	tp.retrans = opt.retrans;
	tp.cc = opt.cc;
	err = to_state(UBOE_JS_INIT);
	if (!err)
		err = h_.create(UBOE_MBOX_TP, UB_TPN_RC(id_), tp);
	if (err)
		return err;
	has_channel_ = true;
	ctx.state = UBOE_JS_RTR;
	ctx.tpn = UB_TPN_RC(id_);
	ctx.rnr_timer = opt_.rnr_timer;
	ctx.rnr_retry = opt_.rnr_retry;
	ctx.access = opt_.access;
	ctx.max_rd = opt_.max_rd;
	err = h_.modify(UBOE_MBOX_JETTY, id_, ctx,
			UBOE_JM_STATE | UBOE_JM_TPN | UBOE_JM_RNR_TIMER | UBOE_JM_RNR_RETRY |
				UBOE_JM_ACCESS | UBOE_JM_MAX_RD);
	return err ? err : to_state(UBOE_JS_READY);
}

int rc::destroy_channel()
{
	if (!has_channel_)
		return 0;
	has_channel_ = false;
	return h_.destroy(UBOE_MBOX_TP, UB_TPN_RC(id_));
}

int rc::destroy_jetty()
{
	if (!has_jetty_)
		return 0;
	has_jetty_ = false;
	return h_.destroy(UBOE_MBOX_JETTY, id_);
}

namespace
{
struct shape {
	unsigned ctrl;
	bool atomic;
};

shape shape_of(std::uint8_t op)
{
	if (op >= UBOE_SQE_CAS && op <= UBOE_SQE_FXOR)
		return { UBOE_SQE_CTRL, true };
	return { op == UBOE_SQE_WRITE_NOTIFY || op == UBOE_SQE_WRITE_STOREADD2 ?
			 UBOE_SQE_CTRL_NOTIFY :
		 op == UBOE_SQE_WRITE_IMM ? UBOE_SQE_CTRL_IMM :
					    UBOE_SQE_CTRL,
		 false };
}

/* The part of a Write with store add that its one-block form has otherwise */
void put_store_add(std::uint8_t *raw, const send_wr &wr)
{
	auto *q = reinterpret_cast<uboe_sqe_storeadd1 *>(raw);

	q->eid = 0;
	q->token = wr.rkey & 0xfff;
	q->addr = wr.remote;
	q->counter = wr.notify;
	q->data = wr.imm;
}
} /* namespace */

unsigned rc::blocks(const send_wr &wr)
{
	shape s = shape_of(wr.op);
	std::size_t n = s.ctrl + (wr.inl ? wr.data.size() : wr.sges.size() * UBOE_SGE_SIZE);

	return s.atomic ? 2 : unsigned((n + UBOE_BB - 1) / UBOE_BB);
}

void rc::compose(const send_wr &wr, std::uint8_t *raw) const
{
	auto *q = reinterpret_cast<uboe_sqe *>(raw);
	shape s = shape_of(wr.op);

	q->w0 = (pi_ & UBOE_SQE_IDX) | UBP_PUT(UBOE_SQE_ORDER, std::uint32_t(wr.order)) |
		(wr.fence ? UBOE_SQE_FENCE : 0) | (wr.solicited ? UBOE_SQE_SOLICITED : 0) |
		(wr.signaled ? UBOE_SQE_CQE : 0) | (wr.inl ? UBOE_SQE_INLINE : 0) |
		(wr.token_en ? UBOE_SQE_TOKEN_EN : 0) | (wr.udf ? UBOE_SQE_UDF : 0);
	q->w0 |= UBP_PUT(UBOE_SQE_RMT_TYPE, std::uint32_t(wr.rmt_type));
	q->w1 = UBP_PUT(UBOE_SQE_OPCODE, std::uint32_t(wr.op)) | wr.hint |
		(wr.inl ? UBP_PUT(UBOE_SQE_INLINE_LEN, std::uint32_t(wr.data.size())) : 0);
	q->w2 = UBP_PUT(UBOE_SQE_SGE_NUM, std::uint32_t(wr.inl ? 0 : wr.sges.size()));
	q->w2 |= wr.tpn;
	q->w3 = wr.rmt_id ? wr.rmt_id : wr.rkey >> 12;
	std::memcpy(q->rmt_eid, wr.rmt.b.data(), 16);
	q->rmt_token = wr.op <= UBOE_SQE_SEND_INV ? wr.token : wr.rkey & 0xfff;
	q->addr = wr.op == UBOE_SQE_SEND_IMM || wr.op == UBOE_SQE_SEND_INV ? wr.imm : wr.remote;
	q->udf = wr.ud;
	if (wr.op == UBOE_SQE_WRITE_STOREADD1) {
		put_store_add(raw, wr);
	} else if (wr.op == UBOE_SQE_WRITE_IMM) {
		const uboe_sqe_imm im{ wr.imm, wr.imm_jetty, wr.token };

		std::memcpy(raw + UBOE_SQE_CTRL, &im, sizeof(im));
	} else if (wr.op == UBOE_SQE_WRITE_NOTIFY || wr.op == UBOE_SQE_WRITE_STOREADD2) {
		const uboe_sqe_notify n{ wr.notify_key >> 12, wr.notify_key & 0xfff, wr.notify,
					 wr.imm, 0 };

		std::memcpy(raw + UBOE_SQE_CTRL, &n, sizeof(n));
	}
	if (wr.inl) {
		if (!wr.data.empty())
			std::memcpy(raw + s.ctrl, wr.data.data(), wr.data.size());
	} else {
		auto *g = reinterpret_cast<uboe_sge *>(raw + s.ctrl);

		for (const sge &e : wr.sges) {
			g->len = e.len;
			g->token = e.key;
			g->va = e.va;
			g++;
		}
	}
	if (s.atomic) {
		std::uint32_t size = wr.sges.at(0).len;

		std::memcpy(raw + UBOE_SQE_ATOMIC_DATA, &wr.swap, size);
		std::memcpy(raw + UBOE_SQE_ATOMIC_DATA + size, &wr.compare, size);
	}
}

bytes rc::window(const send_wr &wr) const
{
	alignas(8) std::uint8_t raw[UBOE_SQE_MAX_BB * UBOE_BB] = {};
	std::uint32_t n = blocks(wr), w0;

	compose(wr, raw);
	std::memcpy(&w0, raw, sizeof(w0));
	w0 = (w0 & ~UBOE_SQE_IDX) | ((pi_ + n) & UBOE_SQE_IDX) |
	     (pi_ >> opt_.sq_shift & 1 ? 0 : UBOE_SQE_OWNER);
	std::memcpy(raw, &w0, sizeof(w0));
	return bytes(raw, raw + n * UBOE_BB);
}

void rc::show(const bytes &sqe)
{
	__le32 w0;

	std::memcpy(page_.p + UBOE_JPAGE_DWQE + 4, sqe.data() + 4, sqe.size() - 4);
	std::memcpy(&w0, sqe.data(), sizeof(w0));
	smp_store_release(reinterpret_cast<__le32 *>(page_.p + UBOE_JPAGE_DWQE), w0);
}

std::uint32_t rc::direct(const send_wr &wr)
{
	show(window(wr));
	pi_ += blocks(wr);
	h_.kick(id_);
	return pi_;
}

std::uint32_t rc::taken() const
{
	return *reinterpret_cast<__le32 *>(page_.p + UBOE_JPAGE_DWQE_TAKEN);
}

std::uint32_t rc::put(const send_wr &wr)
{
	alignas(8) std::uint8_t raw[UBOE_SQE_MAX_BB * UBOE_BB] = {};
	std::uint32_t mask = (1u << opt_.sq_shift) - 1, n = blocks(wr);

	assert(n <= room());
	compose(wr, raw);
	for (std::uint32_t i = 0; i < n; i++)
		std::memcpy(sq_.p + std::size_t((pi_ + i) & mask) * UBOE_BB, raw + i * UBOE_BB,
			    UBOE_BB);
	pi_ += n;
	return pi_;
}

bool rc::ring()
{
	smp_store_release(reinterpret_cast<__le32 *>(page_.p + UBOE_JPAGE_DB), pi_);
	smp_mb();
	return READ_ONCE(*reinterpret_cast<__le32 *>(page_.p + UBOE_JPAGE_NEED_KICK)) != 0;
}

std::uint32_t rc::post(const send_wr &wr)
{
	std::uint32_t end = put(wr);

	if (ring())
		h_.kick(id_);
	return end;
}

std::uint32_t rc::copied() const
{
	return smp_load_acquire(reinterpret_cast<__le32 *>(page_.p + UBOE_JPAGE_CI));
}

bool rc::wants_rq_kick() const
{
	return READ_ONCE(*reinterpret_cast<__le32 *>(page_.p + UBOE_JPAGE_RQ_KICK)) != 0;
}

} /* namespace ubsim */
