// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Responder: executes the peer's requests in order and answers them.
 *
 * A request that finds no receive or no room in the RC table is refused with
 * RNR. From then on everything is refused until a retry of that very TASSN
 * succeeds, so the order of execution is kept although the channel has already
 * acknowledged the packets (docs/decisions/0002).
 */
#include "ubp_rm.h"
#include "ubp_rsp.h"

struct ubp_rsp_op {
	ubp_rsp_fn packet;
	ubp_rsp_fn ud; /* with a UDETAH, which makes another operation of it */
};

/* The message fails for good: say why for ever after */
static bool ubp_rsp_fail(struct ubp_tp *tp, u8 info, u32 event_sub)
{
	struct ubp_jetty *j = tp->rsp.j;
	struct ubp_rsp *r = &tp->rsp;

	if (tp->sh)
		return ubp_rm_refuse(tp, UB_RSPST_ERROR, info);
	r->blocked = UB_RSPST_ERROR;
	r->info = info;
	r->exec_msn = r->msn;
	r->discard = true;
	tp->ack_now = true;
	ubp_stat(tp->dev, UBP_S_REMOTE_ERRORS);
	ubp_jetty_error(j);
	tp->dev->ops->event(tp->dev, UBOE_EV_JETTY, event_sub, j->id);
	return false;
}

bool ubp_rsp_unsupported(struct ubp_tp *tp)
{
	return ubp_rsp_fail(tp, UB_RSPINFO_UNSUPPORTED, UBOE_EV_SUB_REQUEST);
}

bool ubp_rsp_abort(struct ubp_tp *tp)
{
	return ubp_rsp_fail(tp, UB_RSPINFO_ABORT, UBOE_EV_SUB_ACCESS);
}

/* @timer: how long the peer is to wait */
static bool ubp_rsp_not_ready(struct ubp_tp *tp, u8 timer)
{
	struct ubp_rsp *r = &tp->rsp;

	if (tp->sh)
		return ubp_rm_refuse(tp, UB_RSPST_RNR, timer);
	r->blocked = UB_RSPST_RNR;
	r->info = timer;
	r->exec_msn = r->msn;
	r->discard = true;
	tp->ack_now = true;
	ubp_stat(tp->dev, UBP_S_RNR_SENT);
	return false;
}

/* False: the JFC is full */
static bool ubp_rsp_recv_done(struct ubp_tp *tp, struct ubp_comp *c)
{
	const struct ubp_target t = { .jetty = tp->rsp.j, .jfr = tp->rsp.jfr };

	return ubp_target_done(&t, c);
}

/* A receive failed on our side: tell the owner, then the peer */
static bool ubp_rsp_recv_bad(struct ubp_tp *tp, u8 sub)
{
	struct ubp_rsp *r = &tp->rsp;
	struct ubp_comp c = {
		.status = UBOE_CQE_LOCAL,
		.sub = sub,
		.recv = true,
		.entry = (u16)r->rqe.slot[0],
		.rqe = &r->rqe,
	};

	r->have_rqe = false;
	ubp_rsp_recv_done(tp, &c);
	return sub == UBOE_CQE_LOCAL_LEN ? ubp_rsp_unsupported(tp) : ubp_rsp_abort(tp);
}

static bool ubp_rsp_no_receive(struct ubp_tp *tp)
{
	const struct ubp_jetty *j = tp->rsp.j;

	return ubp_rsp_not_ready(tp, j ? j->rnr_timer : UBP_JFR_RNR_TIMER);
}

static bool ubp_rsp_take(struct ubp_tp *tp)
{
	struct ubp_rsp *r = &tp->rsp;
	enum ubp_take got = UBP_TAKE_NONE;

	if (r->jfr && likely(!READ_ONCE(r->jfr->dead)))
		got = ubp_jfr_take(r->jfr, &r->rqe);
	if (got == UBP_TAKE_NONE)
		return ubp_rsp_no_receive(tp);
	r->have_rqe = true;
	r->off = 0;
	return got == UBP_TAKE_OK || ubp_rsp_recv_bad(tp, UBOE_CQE_LOCAL_ACCESS);
}

/* The Send goes on beyond what it has: more buffers, or it is too long */
static bool ubp_rsp_take_more(struct ubp_tp *tp, u64 bytes)
{
	struct ubp_rsp *r = &tp->rsp;

	if (!r->jfr->buf_shift)
		return ubp_rsp_recv_bad(tp, UBOE_CQE_LOCAL_LEN);
	switch (ubp_jfr_take_more(r->jfr, bytes, &r->rqe)) {
	case UBP_TAKE_OK:
		return true;
	case UBP_TAKE_NONE:
		ubp_jfr_give_back(r->jfr, &r->rqe); /* others may do with fewer */
		r->have_rqe = false;
		return ubp_rsp_no_receive(tp);
	case UBP_TAKE_SHORT:
		return ubp_rsp_recv_bad(tp, UBOE_CQE_LOCAL_LEN);
	default:
		return ubp_rsp_recv_bad(tp, UBOE_CQE_LOCAL_ACCESS);
	}
}

static bool ubp_rsp_recv(struct ubp_tp *tp, const struct ubp_ta *ta, u8 op, u32 bytes, bool inl)
{
	struct ubp_rsp *r = &tp->rsp;
	struct ubp_comp c = {
		.rmt_eid = tp->sh ? tp->path.raddr : NULL,
		.rmt_id = tp->sh ? tp->sh->rx_from : ta->rcid,
		.tpn = tp->tpn,
		.recv = true,
		.opcode = op,
		.solicited = ta->fce,
		.entry = (u16)r->rqe.slot[0],
		.rqe = &r->rqe,
		.bytes = bytes,
		.inl = inl ? ta->pld : NULL,
		.imm = ta->imm,
	};

	if (op == UBOE_CQE_RX_SEND_INV) /* TokenID first on the wire, low half in the CQE */
		c.imm = ta->imm << 32 | ta->imm >> 32;
	r->have_rqe = false;
	if (ubp_rsp_recv_done(tp, &c))
		return true;
	return ubp_rsp_abort(tp);
}

/* A jetty that has a token takes messages from those who know it (URMA import) */
static bool ubp_rsp_token_ok(const struct ubp_tp *tp, const struct ubp_ta *ta, u32 token)
{
	const struct ubp_jetty *j = tp->jetty;

	/* on a shared channel ubp_target_enter() has looked at it */
	return tp->sh || !(j->flags & UBOE_JETTY_TOKEN) || (ta->tv_en && token == j->token);
}

/* Does this Send, all of which is here, go into its completion? */
static bool ubp_rsp_inline(const struct ubp_tp *tp, const struct ubp_tph *t,
			   const struct ubp_ta *ta)
{
	u32 room = ta->op == UB_TA_SEND ? UBOE_MAX_CQE_INLINE : UBOE_MAX_CQE_INLINE_IMM;

	const struct ubp_jfc *jfc = tp->rsp.j ? tp->rsp.j->rx_jfc : tp->rsp.jfr->jfc;

	return jfc->flags & UBOE_JFC_INLINE && t->last && !tp->rsp.off && ta->pld_len &&
	       ta->pld_len <= room;
}

static bool ubp_rsp_send(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	struct ubp_rsp *r = &tp->rsp;
	bool inl;

	if (!ubp_rsp_token_ok(tp, ta, ta->token))
		return ubp_rsp_abort(tp);
	if (!r->have_rqe && !ubp_rsp_take(tp))
		return false;
	/* packets come in order, so the offset only repeats what we count */
	if (ta->ofst != (r->off / 1024 & 0xffffff) || (!t->last && ta->pld_len != tp->mtu))
		return ubp_rsp_unsupported(tp);
	if (r->off + ta->pld_len > r->rqe.total && !ubp_rsp_take_more(tp, r->off + ta->pld_len))
		return false;
	inl = ubp_rsp_inline(tp, t, ta);
	if (ta->pld_len && !inl &&
	    !ubp_sgl_write(tp->dev, r->jfr->pd, r->rqe.sge, r->rqe.nsge, r->off, ta->pld,
			   ta->pld_len))
		return ubp_rsp_recv_bad(tp, UBOE_CQE_LOCAL_ACCESS);
	r->off += ta->pld_len;
	if (!t->last)
		return ta->op == UB_TA_SEND || ubp_rsp_unsupported(tp);
	r->ta_done = true;
	return ubp_rsp_recv(tp, ta,
			    ta->op == UB_TA_SEND_IMM ? UBOE_CQE_RX_SEND_IMM :
			    ta->op == UB_TA_SEND_INV ? UBOE_CQE_RX_SEND_INV :
						       UBOE_CQE_RX_SEND,
			    (u32)r->off, inl);
}

bool ubp_rsp_may(const struct ubp_tp *tp, u32 need)
{
	return tp->sh || tp->jetty->access & need;
}

u32 ubp_rsp_pd(const struct ubp_tp *tp)
{
	return tp->sh ? UBP_PD_ENTITY : tp->jetty->pd;
}

struct ubp_seg *ubp_rsp_seg(struct ubp_tp *tp, const struct ubp_ta *ta, u32 need, u32 len)
{
	return ubp_seg_get(tp->dev, ta->token_id, ta->tv_en ? &ta->token : NULL, ubp_rsp_pd(tp),
			   need, ta->addr, len);
}

bool ubp_rsp_place(struct ubp_tp *tp, const struct ubp_ta *ta)
{
	struct ubp_seg *seg;

	if (!ubp_rsp_may(tp, UBOE_ACC_REMOTE_WRITE))
		return ubp_rsp_abort(tp);
	if (!ta->pld_len)
		return true; /* nothing is touched, so no key is needed (Base Spec 7.2) */
	seg = ubp_rsp_seg(tp, ta, UBOE_ACC_REMOTE_WRITE, ta->pld_len);
	if (!seg)
		return ubp_rsp_abort(tp);
	ubp_seg_write(seg, ta->addr, ta->pld, ta->pld_len);
	ubp_seg_put(seg);
	return true;
}

static bool ubp_rsp_write(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	if (!ubp_rsp_place(tp, ta))
		return false;
	tp->rsp.ta_done |= t->last;
	return true;
}

static bool ubp_rsp_write_imm(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	if (!t->last)
		return ubp_rsp_unsupported(tp);
	if (!ubp_rsp_token_ok(tp, ta, ta->imm_token))
		return ubp_rsp_abort(tp);
	/* the receive first: a refused message must not have half happened */
	if (!ubp_rsp_take(tp) || !ubp_rsp_place(tp, ta))
		return false;
	tp->rsp.ta_done = true;
	return ubp_rsp_recv(tp, ta, UBOE_CQE_RX_WRITE_IMM, ta->imm_len, false);
}

/* Stores Notify_Data, little-endian, once all of the payload is in memory */
static bool ubp_rsp_notify(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	__le64 data = cpu_to_le64(ta->ntf_data), *p;
	struct ubp_seg *seg;

	if (!t->last)
		return ubp_rsp_unsupported(tp);
	if (!ubp_rsp_may(tp, UBOE_ACC_REMOTE_WRITE))
		return ubp_rsp_abort(tp);
	seg = ubp_seg_get(tp->dev, ta->ntf_token_id, ta->tv_en ? &ta->ntf_token : NULL,
			  ubp_rsp_pd(tp), UBOE_ACC_REMOTE_WRITE, ta->ntf_addr, sizeof(data));
	if (!seg)
		return ubp_rsp_abort(tp);
	if (!ubp_rsp_place(tp, ta)) {
		ubp_seg_put(seg);
		return false;
	}
	smp_wmb(); /* who sees the notification sees the data */
	p = (__le64 *)ubp_seg_ptr(seg, ta->ntf_addr);
	if (!((uintptr_t)p & (sizeof(data) - 1)))
		WRITE_ONCE(*p, data);
	else
		ubp_seg_write(seg, ta->ntf_addr, &data, sizeof(data));
	ubp_seg_put(seg);
	tp->rsp.ta_done = true;
	return true;
}

u32 ubp_rsp_mask(const struct ubp_tp *tp)
{
	return tp->sh ? tp->sh->rct_mask : tp->jetty->rct_mask;
}

struct ubp_rce *ubp_rsp_entry(const struct ubp_tp *tp, u32 i)
{
	return tp->sh ? &tp->sh->rct[i & tp->sh->rct_mask] :
			&tp->jetty->rct[i & tp->jetty->rct_mask];
}

struct ubp_rce *ubp_rsp_rce(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta,
			    u8 op)
{
	struct ubp_rsp *r = &tp->rsp;
	struct ubp_rce *e;

	/* on a shared channel the room was looked at before */
	if (!tp->sh && !tp->jetty->rct) {
		ubp_rsp_unsupported(tp);
		return NULL;
	}
	if (!tp->sh && r->rce_tail - r->rce_head >= tp->jetty->rct_mark) {
		ubp_rsp_not_ready(tp, (u8)max_t(u32, r->j->rnr_timer, UBP_RCT_RNR_TIMER));
		return NULL;
	}
	e = ubp_rsp_entry(tp, r->rce_tail);
	memset(e, 0, sizeof(*e));
	e->op = op;
	e->va = ta->addr;
	e->len = ta->length;
	e->token_id = ta->token_id;
	e->token = ta->token;
	e->tv_en = ta->tv_en;
	e->ofst = ta->ofst;
	e->rcid = ta->rcid;
	e->psn = t->psn;
	e->ssn = ta->ssn;
	e->taid = ta->taid;
	return e;
}

bool ubp_rsp_read(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	struct ubp_seg *seg;

	if (!t->last || ta->length > UBOE_MAX_SLICE)
		return ubp_rsp_unsupported(tp);
	if (!ubp_rsp_may(tp, UBOE_ACC_REMOTE_READ))
		return ubp_rsp_abort(tp);
	if (ta->length) {
		seg = ubp_rsp_seg(tp, ta, UBOE_ACC_REMOTE_READ, ta->length);
		if (!seg)
			return ubp_rsp_abort(tp);
		ubp_seg_put(seg); /* looked up again for each packet of the answer */
	}
	if (!ubp_rsp_rce(tp, t, ta, UB_TA_READ_RSP))
		return false;
	tp->rsp.rce_tail++;
	return true;
}

static const struct ubp_rsp_op ubp_rsp_ops[UB_TA_OPCODE_MAX + 1] = {
	[UB_TA_SEND] = { ubp_rsp_send, NULL },
	[UB_TA_SEND_IMM] = { ubp_rsp_send, NULL },
	[UB_TA_SEND_INV] = { ubp_rsp_send, NULL },
	[UB_TA_WRITE] = { ubp_rsp_write, ubp_rsp_write_reduce },
	[UB_TA_WRITE_IMM] = { ubp_rsp_write_imm, NULL },
	[UB_TA_WRITE_NOTIFY] = { ubp_rsp_notify, NULL },
	[UB_TA_WRITE_STOREADD] = { ubp_rsp_store_add, NULL },
	[UB_TA_READ] = { ubp_rsp_read, ubp_rsp_read_reduce },
	[UB_TA_CAS] = { ubp_rsp_atomic, NULL },
	[UB_TA_SWAP] = { ubp_rsp_atomic, NULL },
	[UB_TA_STORE] = { NULL, ubp_rsp_atomic },
	[UB_TA_LOAD] = { NULL, ubp_rsp_atomic },
	[UB_TA_FETCH_ADD] = { ubp_rsp_atomic, NULL },
	[UB_TA_FETCH_SUB] = { ubp_rsp_atomic, NULL },
	[UB_TA_FETCH_AND] = { ubp_rsp_atomic, NULL },
	[UB_TA_FETCH_OR] = { ubp_rsp_atomic, NULL },
	[UB_TA_FETCH_XOR] = { ubp_rsp_atomic, NULL },
};

/* May @op continue the message in progress? */
bool ubp_rsp_continues(const struct ubp_rsp *r, u8 op)
{
	if (r->op == op)
		return true;
	return (r->op == UB_TA_SEND && (op == UB_TA_SEND_IMM || op == UB_TA_SEND_INV)) ||
	       (r->op == UB_TA_WRITE &&
		(op == UB_TA_WRITE_IMM || op == UB_TA_WRITE_NOTIFY || op == UB_TA_WRITE_STOREADD));
}

ubp_rsp_fn ubp_rsp_find(const struct ubp_ta *ta)
{
	if (ta->op > UB_TA_OPCODE_MAX)
		return NULL;
	return ta->ud_en ? ubp_rsp_ops[ta->op].ud : ubp_rsp_ops[ta->op].packet;
}

/* First packet of a message: decide whether its turn has come */
static bool ubp_rsp_begin(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	struct ubp_rsp *r = &tp->rsp;
	s32 d = ubp_ssn_diff(ta->ssn, r->exp_ssn);
	bool broken = r->in_msg && !r->discard;

	r->msn = t->msn;
	r->op = ta->op;
	r->in_msg = true;
	r->discard = false;
	if (broken)
		return ubp_rsp_unsupported(tp); /* the one before it never ended */
	if (!d)
		return true;
	r->discard = true;
	tp->ack_now = true;
	/* a later TASSN is legal only behind a refused one */
	if (d > 0 && !r->blocked) {
		r->discard = false;
		return ubp_rsp_unsupported(tp);
	}
	return true;
}

void ubp_rsp_request(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta,
		     enum ubp_ta_err err)
{
	struct ubp_rsp *r = &tp->rsp;

	if (unlikely(err == UBP_TA_NONE)) {
		if (r->blocked)
			return; /* what was refused before it decides */
		r->msn = t->msn;
		ubp_rsp_unsupported(tp);
		return;
	}
	if (!r->in_msg || t->msn != r->msn) {
		if (!ubp_rsp_begin(tp, t, ta))
			return;
	} else if (!r->discard &&
		   (!ubp_rsp_continues(r, ta->op) || ta->ud_en || ta->ssn != r->exp_ssn)) {
		ubp_rsp_unsupported(tp);
		return;
	}
	if (r->discard) {
		r->in_msg = !t->last;
		return;
	}
	if (err || !ubp_rsp_find(ta) || ta->poison) {
		ubp_rsp_unsupported(tp);
		return;
	}
	if (!ubp_rsp_find(ta)(tp, t, ta)) {
		r->in_msg = !t->last;
		return;
	}
	if (!t->last)
		return;
	r->in_msg = false;
	r->blocked = 0;
	r->exp_ssn++;
	r->exec_msn = ubp_psn_add(t->msn, 1);
}

bool ubp_rsp_next(struct ubp_tp *tp, struct ubp_txd *d)
{
	struct ubp_rsp *r = &tp->rsp;
	u32 unacked = r->rce_next - r->rce_head;
	struct ubp_rce *e;

	if (r->rce_next == r->rce_tail || (tp->sh && unacked >= tp->sh->max_answers))
		return false;
	e = ubp_rsp_entry(tp, r->rce_next);
	d->kind = UBP_TX_RESPONSE;
	d->idx = (u16)(r->rce_next & ubp_rsp_mask(tp));
	d->off = e->sent;
	d->msn = tp->snd_msn;
	d->ssn = e->ssn;
	d->flags = 0;
	if (e->error || e->op != UB_TA_READ_RSP || e->len - e->sent <= tp->mtu)
		d->flags = UBP_TXF_LAST;
	/* its acknowledgement is what the next ones wait for */
	if (d->flags && tp->sh && unacked + 1 == tp->sh->max_answers)
		d->flags |= UBP_TXF_ASKED;
	return true;
}

void ubp_rsp_commit(struct ubp_tp *tp, const struct ubp_txd *d)
{
	struct ubp_rce *e = ubp_rsp_entry(tp, d->idx);

	if (d->flags & UBP_TXF_LAST) {
		e->sent = e->len;
		tp->rsp.rce_next++;
		tp->snd_msn = ubp_psn_add(tp->snd_msn, 1);
		tp->open_kind = 0;
		/* it acknowledges its request and all before it: nothing is left to say */
		if (ubp_psn_add(e->psn, 1) == tp->rcv_nxt && !tp->held && !tp->rsp.blocked)
			ubp_tp_ack_settled(tp);
	} else {
		e->sent += tp->mtu;
		tp->open_kind = UBP_TX_RESPONSE;
	}
}

void ubp_rsp_headers(struct ubp_tp *tp, struct ubp_txd *d, struct ubp_ta *h)
{
	struct ubp_rce *e = ubp_rsp_entry(tp, d->idx);

	memset(h, 0, sizeof(*h));
	h->op = e->op;
	h->ssn = e->ssn;
	h->sv = e->sv;
	h->taid = e->taid;
	h->rcid = e->rcid;
	h->ofst = e->ofst + d->off / 1024;
	if (e->error) {
		d->flags |= UBP_TXF_LAST;
		h->rspst = UB_RSPST_ERROR;
		h->rspinfo = UB_RSPINFO_ABORT;
	} else if (e->op == UB_TA_TAACK) {
		h->rspst = e->rspst;
		h->rspinfo = e->rspinfo;
	} else if (e->op == UB_TA_ATOMIC_RSP) {
		h->pld_len = e->size;
	} else {
		h->pld_len = min_t(u32, e->len - d->off, tp->mtu);
	}
}

bool ubp_rsp_payload(struct ubp_tp *tp, const struct ubp_txd *d, u8 *dst, u32 len)
{
	struct ubp_rce *e = ubp_rsp_entry(tp, d->idx);
	struct ubp_seg *seg;

	if (e->op == UB_TA_ATOMIC_RSP) {
		memcpy(dst, e->result, len);
		return true;
	}
	ubp_read_begin();
	seg = ubp_seg_get(tp->dev, e->token_id, e->tv_en ? &e->token : NULL, ubp_rsp_pd(tp),
			  UBOE_ACC_REMOTE_READ, e->va + d->off, len);
	if (seg) {
		ubp_seg_read(seg, e->va + d->off, dst, len);
		ubp_seg_put(seg);
	} else {
		e->error = true; /* deregistered since: the rest of the answer is an error */
	}
	ubp_read_end();
	return seg;
}

void ubp_rsp_flush(struct ubp_jetty *j)
{
	struct ubp_rsp *r = j->tp ? &j->tp->rsp : NULL;
	struct ubp_comp c = { .status = UBOE_CQE_FLUSH, .recv = true };

	if (!r || !r->have_rqe)
		return;
	r->have_rqe = false;
	c.entry = (u16)r->rqe.slot[0];
	c.rqe = &r->rqe;
	ubp_jetty_recv_done(j, &c);
}
