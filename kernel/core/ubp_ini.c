// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Initiator: turns SQEs into request packets and answers into completions. */
#include "ubp_lockbuf.h"
#include "ubp_ta.h"

void ubp_ini_init(struct ubp_ini *ini, u16 ssn)
{
	ini->next_ssn = ssn;
	ini->rnr_at = UBP_NEVER;
	ini->rd_limit = UBP_MAX_RD;
}

/* Writes and Reads are cut into transport messages of at most a slice; a Send is not. */
u32 ubp_msg_segs(const struct ubp_msg *m)
{
	if (m->s.kind != UBP_K_WRITE && m->s.kind != UBP_K_READ)
		return 1;
	return m->s.len ? ((m->s.len - 1) >> m->slice) + 1 : 1;
}

/* Bytes of its slice before @off */
static u32 ubp_msg_in_slice(const struct ubp_msg *m, u32 off)
{
	return off & ((1u << m->slice) - 1);
}

static u32 ubp_msg_seg(const struct ubp_msg *m, u32 off)
{
	return m->s.kind == UBP_K_WRITE || m->s.kind == UBP_K_READ ? off >> m->slice : 0;
}

/* Bytes of the segment that starts at or holds @off */
u32 ubp_msg_seg_len(const struct ubp_msg *m, u32 off)
{
	if (m->s.kind != UBP_K_WRITE && m->s.kind != UBP_K_READ)
		return m->s.len;
	return min_t(u32, m->s.len - (off - ubp_msg_in_slice(m, off)), 1u << m->slice);
}

void ubp_msg_init(struct ubp_msg *m, u32 end, u8 slice)
{
	m->end = end;
	m->slice = likely(!m->s.ud) ? slice : UBP_SLICE_MAX; /* reduce: a packet, not cut */
	/* it is one transport message whatever its size */
	if (unlikely(m->s.store_add) && !m->s.status && m->s.len > 1u << slice) {
		m->s.status = UBOE_CQE_LOCAL;
		m->s.sub = UBOE_CQE_LOCAL_LEN;
	}
	m->sent = 0;
	m->done = 0;
	m->rnr_tries = 0;
	m->started = false;
	m->remap = true;
	m->retry = false;
	m->issued = false;
	m->answered = false;
	m->in_two = false;
}

/* BBs between the engine and the producer; 0 when the index is nonsense */
u32 ubp_ini_posted(struct ubp_jetty *j)
{
	u32 n;

	if (unlikely(j->lockbuf))
		return ubp_dwqe_posted(j);
	n = ubp_jetty_pi(j) - j->fetched;
	return n <= j->sq_mask + 1 ? n : 0;
}

u32 ubp_ini_sleep(struct ubp_jetty *j)
{
	u32 avail;

	ubp_jetty_need_kick(j, true);
	smp_mb(); /* need_kick before the last look at PI, see ub/uboe_io.h */
	avail = ubp_ini_posted(j);
	if (avail)
		ubp_jetty_need_kick(j, false);
	return avail;
}

/* The SQE of the next free message has been fetched */
static void ubp_ini_add(struct ubp_jetty *j)
{
	struct ubp_msg *m = ubp_ini_msg(j->ini, j->ini->tail++);

	ubp_msg_init(m, j->fetched, j->slice);
	if (unlikely(m->s.needs))
		ubp_ini_adapt(j, m);
}

void ubp_ini_fetch(struct ubp_jetty *j)
{
	struct ubp_ini *ini = j->ini;
	u32 avail;

	if (unlikely(j->flags & UBOE_JETTY_DWQE) && ini->tail - ini->head < UBP_MSG_WIN &&
	    ubp_dwqe_next(j, &ubp_ini_msg(ini, ini->tail)->s))
		ubp_ini_add(j);
	avail = ubp_ini_posted(j);
	while (avail && ini->tail - ini->head < UBP_MSG_WIN) {
		struct ubp_sqe *s = &ubp_ini_msg(ini, ini->tail)->s;

		ubp_sqe_fetch(j->sq, j->sq_mask, j->fetched, avail, s);
		j->fetched += s->nbb;
		avail -= s->nbb;
		ubp_ini_add(j);
	}
}

bool ubp_ini_has_work(struct ubp_jetty *j)
{
	return j->ini->head != j->ini->tail || ubp_ini_posted(j);
}

/* May the first packet of this message leave? */
static bool ubp_msg_may_start(const struct ubp_jetty *j, const struct ubp_msg *m)
{
	u32 rd = j->ini->rd_tail - j->ini->rd_head;

	/* Fence and Strong Order wait for the answers of earlier Reads and atomics */
	if (rd && !m->sent && (m->s.fence || m->s.order == UB_ORDER_STRONG))
		return false;
	if (m->s.kind == UBP_K_READ || m->s.kind == UBP_K_ATOMIC)
		return rd < min_t(u32, j->max_rd, j->ini->rd_limit);
	return true;
}

u32 ubp_msg_plen(const struct ubp_msg *m, u32 off, u32 mtu)
{
	u32 left;

	if (m->s.kind == UBP_K_READ)
		return 0;
	if (m->s.kind == UBP_K_ATOMIC)
		return 2 * m->s.len;
	left = m->s.kind == UBP_K_WRITE ? ubp_msg_seg_len(m, off) - ubp_msg_in_slice(m, off) :
					  m->s.len - off;
	return min_t(u32, left, mtu);
}

bool ubp_msg_is_last(const struct ubp_msg *m, u32 off, u32 mtu)
{
	u32 end = off + ubp_msg_plen(m, off, mtu);

	if (m->s.kind == UBP_K_READ || m->s.kind == UBP_K_ATOMIC)
		return true;
	return end == m->s.len || (m->s.kind == UBP_K_WRITE && !ubp_msg_in_slice(m, end));
}

bool ubp_ini_next(struct ubp_tp *tp, struct ubp_txd *d)
{
	struct ubp_jetty *j = tp->jetty;
	struct ubp_ini *ini = j->ini;
	struct ubp_msg *m;

	if (!ini || ini->rnr_at != UBP_NEVER || j->state != UBOE_JS_READY)
		return false;
	ubp_ini_fetch(j);
	for (;;) {
		if (ini->next == ini->tail)
			return false;
		m = ubp_ini_msg(ini, ini->next);
		if (unlikely(m->s.status)) {
			ini->stopped = true;
			ubp_ini_retire(j);
			return false;
		}
		if (unlikely(m->issued))
			return false; /* its second half waits for the first, see ubp_ini_adapt() */
		if (likely(m->s.kind != UBP_K_NOP))
			break;
		m->issued = true;
		ini->next++;
		ubp_ini_retire(j);
	}
	if (!ubp_msg_may_start(j, m))
		return false;
	d->kind = UBP_TX_REQUEST;
	d->idx = (u16)(ini->next & (UBP_MSG_WIN - 1));
	d->off = m->sent;
	d->msn = tp->snd_msn;
	d->ssn = (u16)((m->started ? m->ssn : ini->next_ssn) + ubp_msg_seg(m, m->sent));
	d->flags = 0;
	if (ubp_msg_is_last(m, m->sent, tp->mtu))
		d->flags = UBP_TXF_LAST;
	/* the answer of a Read or atomic acknowledges its request */
	if (d->flags && m->s.kind != UBP_K_READ && m->s.kind != UBP_K_ATOMIC)
		d->flags |= UBP_TXF_ASKED;
	return true;
}

bool ubp_ini_more(struct ubp_tp *tp, const struct ubp_txd *d)
{
	struct ubp_ini *ini = tp->jetty->ini;
	struct ubp_msg *m = &ini->msg[d->idx];
	u32 end = d->off + ubp_msg_plen(m, d->off, tp->mtu);

	if (!(d->flags & UBP_TXF_LAST) || (m->s.kind == UBP_K_WRITE && end < m->s.len))
		return true;
	if (ini->next + 1 == ini->tail || m->in_two)
		return false;
	/* a fenced successor waits, so this one's answer is wanted now */
	m = ubp_ini_msg(ini, ini->next + 1);
	return !m->s.fence && !m->s.status;
}

/* Packets that a packet of ours makes, itself included */
u32 ubp_ini_cost(struct ubp_tp *tp, const struct ubp_txd *d)
{
	struct ubp_msg *m = &tp->jetty->ini->msg[d->idx];

	if (m->s.kind != UBP_K_READ)
		return 1;
	return 1 + ubp_msg_seg_len(m, d->off) / tp->mtu;
}

static void ubp_ini_expect(struct ubp_ini *ini, const struct ubp_msg *m, const struct ubp_txd *d,
			   u32 len, u32 psn)
{
	struct ubp_rd *rd = &ini->rd[ini->rd_tail++ & (UBP_MAX_RD - 1)];

	rd->msg = ini->next;
	rd->off = d->off;
	rd->len = len;
	rd->got = 0;
	rd->psn = psn;
	rd->msn = d->msn;
	rd->ssn = d->ssn;
	rd->op = m->s.kind == UBP_K_READ ? UB_TA_READ_RSP : UB_TA_ATOMIC_RSP;
}

void ubp_ini_commit(struct ubp_tp *tp, const struct ubp_txd *d, u32 psn)
{
	struct ubp_ini *ini = tp->jetty->ini;
	struct ubp_msg *m = &ini->msg[d->idx];
	u32 n;

	if (!m->started) {
		m->started = true;
		m->ssn = ini->next_ssn;
		ini->next_ssn += (u16)ubp_msg_segs(m);
	}
	if (m->remap) {
		m->remap = false;
		m->first_msn = d->msn;
	}
	m->last_msn = d->msn;
	n = ubp_msg_plen(m, d->off, tp->mtu);
	if (m->s.kind == UBP_K_READ || m->s.kind == UBP_K_ATOMIC) {
		n = ubp_msg_seg_len(m, d->off);
		if (ini->rd_head == ini->rd_tail)
			ini->answer_at = tp->now;
		ubp_ini_expect(ini, m, d, m->s.op == UBOE_SQE_STORE ? 0 : n, psn);
	}
	m->sent += n;
	tp->open_kind = d->flags & UBP_TXF_LAST ? 0 : UBP_TX_REQUEST;
	if (d->flags & UBP_TXF_LAST) {
		tp->snd_msn = ubp_psn_add(tp->snd_msn, 1);
		m->retry = false;
	}
	if (m->sent == m->s.len) {
		m->issued = true;
		if (likely(!m->in_two))
			ini->next++;
	}
}

static u8 ubp_msg_wire_op(const struct ubp_msg *m, bool last)
{
	/* the immediate travels in the last packet; those before it are plain */
	if (m->s.kind == UBP_K_SEND)
		return last ? m->s.op : UB_TA_SEND;
	if (m->s.kind == UBP_K_WRITE)
		return last ? m->s.op : UB_TA_WRITE;
	return m->s.op;
}

void ubp_msg_headers(const struct ubp_tp *tp, const struct ubp_msg *m, const struct ubp_txd *d,
		     u32 to, struct ubp_ta *h)
{
	u32 plen = ubp_msg_plen(m, d->off, tp->mtu);
	bool end = d->flags & UBP_TXF_LAST &&
		   (m->s.kind != UBP_K_WRITE || d->off + plen == m->s.len);

	memset(h, 0, sizeof(*h));
	h->op = ubp_msg_wire_op(m, end);
	h->odr = (u8)(m->s.order | (m->s.comp_order ? UB_BTAH_ODR_TCO >> UB_BTAH_ODR_SHIFT : 0));
	h->tv_en = m->s.token_en;
	h->token = m->s.token;
	h->fce = end && m->s.solicited;
	h->ssn = d->ssn;
	h->taid = d->ssn;
	h->pld_len = plen;
	h->ofst = d->off / 1024;
	if (unlikely(m->s.ud)) {
		h->ud_en = true;
		h->ud = ubp_ini_user_data(tp, m);
	}
	if (m->s.kind == UBP_K_SEND) {
		h->mt = (u32)m->s.hint << 24 | to;
		h->imm = m->s.imm;
		if (m->s.op == UBOE_SQE_SEND_INV) /* TokenID first on the wire */
			h->imm = m->s.imm << 32 | m->s.imm >> 32;
		return;
	}
	h->addr = m->s.addr + d->off;
	h->token_id = m->s.rmt_id;
	h->length = ubp_msg_seg_len(m, d->off);
	if (h->op == UB_TA_WRITE_IMM) {
		h->mt = (u32)m->s.hint << 24 | to;
		h->imm = m->s.imm;
		h->imm_token = m->s.imm_token;
		h->imm_len = m->s.len;
	} else if (h->op == UB_TA_WRITE_NOTIFY || h->op == UB_TA_WRITE_STOREADD) {
		h->ntf_addr = m->s.ntf_addr;
		h->ntf_token_id = m->s.ntf_token_id;
		h->ntf_token = m->s.ntf_token;
		h->ntf_data = m->s.imm;
	}
}

void ubp_ini_headers(struct ubp_tp *tp, const struct ubp_txd *d, struct ubp_ta *h)
{
	const struct ubp_msg *m = &tp->jetty->ini->msg[d->idx];

	ubp_msg_headers(tp, m, d, tp->rmt_jetty, h);
	h->retry = m->retry;
	h->rcid = tp->jetty->id & UB_BTAH_RC_ID;
}

/*
 * A message fails. Those before it are still sent, if they have to be sent
 * again, and complete; nothing is sent from it on.
 */
static void ubp_ini_stop(struct ubp_jetty *j, struct ubp_msg *m, u8 status, u8 sub)
{
	struct ubp_ini *ini = j->ini;
	u32 i = ini->head + (((u32)(m - ini->msg) - ini->head) & (UBP_MSG_WIN - 1));

	m->s.status = status;
	m->s.sub = sub;
	ini->stopped = true;
	if ((s32)(i - ini->next) < 0)
		ini->next = i;
	ubp_ini_retire(j);
}

u8 ubp_msg_payload(struct ubp_dev *dev, u32 pd, const struct ubp_msg *m, u32 off, u8 *dst, u32 len)
{
	if (m->s.kind == UBP_K_ATOMIC) {
		memset(dst, 0, len);
		memcpy(dst, m->s.operand, m->s.op == UBOE_SQE_CAS ? len : len / 2);
		return 0;
	}
	/* a packet of another message: none outlives its own, see ubp_ta_answer() */
	if (unlikely(off > m->s.len || len > m->s.len - off))
		return UBOE_CQE_LOCAL_LEN;
	if (m->s.inl) {
		memcpy(dst, m->s.data.bytes + off, len);
		return 0;
	}
	if (likely(ubp_sgl_read(dev, pd, m->s.data.sge, m->s.nsge, off, dst, len)))
		return 0;
	return UBOE_CQE_LOCAL_ACCESS;
}

bool ubp_ini_payload(struct ubp_tp *tp, const struct ubp_txd *d, u8 *dst, u32 len)
{
	struct ubp_jetty *j = tp->jetty;
	struct ubp_msg *m = &j->ini->msg[d->idx];
	u8 sub = ubp_msg_payload(j->dev, j->pd, m, d->off, dst, len);

	if (unlikely(sub))
		ubp_ini_stop(j, m, UBOE_CQE_LOCAL, sub);
	return !sub;
}

static bool ubp_msg_complete(const struct ubp_tp *tp, const struct ubp_msg *m)
{
	if (!m->issued)
		return false;
	switch (m->s.kind) {
	case UBP_K_SEND:
	case UBP_K_WRITE:
		return ubp_psn_diff(tp->acked_msn, m->last_msn) > 0;
	case UBP_K_NOP:
		return true;
	default:
		return m->answered;
	}
}

static void ubp_ini_complete(struct ubp_jetty *j, const struct ubp_msg *m, u8 status, u8 sub)
{
	struct ubp_comp c = {
		.status = status,
		.sub = sub,
		.entry = (u16)(m->end - 1),
		.bytes = m->s.len,
	};

	if (status || m->s.cqe || j->flags & UBOE_JETTY_SIG_ALL)
		ubp_jetty_send_done(j, &c);
}

void ubp_ini_retire(struct ubp_jetty *j)
{
	struct ubp_ini *ini = j->ini;

	while (ini->head != ini->tail) {
		struct ubp_msg *m = ubp_ini_msg(ini, ini->head);

		if (m->s.status && (m->s.kind == UBP_K_BAD || ini->stopped)) {
			ini->head++;
			ubp_ini_complete(j, m, m->s.status, m->s.sub);
			ubp_jetty_error(j);
			return;
		}
		if (!ubp_msg_complete(j->tp, m))
			return;
		if (unlikely(m->in_two)) {
			ubp_ini_second_half(m);
			return;
		}
		ini->head++;
		ubp_ini_complete(j, m, UBOE_CQE_OK, 0);
		if (unlikely(j->state != UBOE_JS_READY))
			return; /* its JFC overflowed */
	}
}

/* Segment of @m that has TPMSN @msn. A Read has a record of each, of a Write only the last can wait */
static u32 ubp_ini_seg(const struct ubp_ini *ini, const struct ubp_msg *m, u32 msn)
{
	u32 i;

	for (i = ini->rd_head; m->s.kind == UBP_K_READ && i != ini->rd_tail; i++) {
		const struct ubp_rd *rd = &ini->rd[i & (UBP_MAX_RD - 1)];

		if (rd->msn == msn)
			return ubp_msg_seg(m, rd->off);
	}
	return ubp_msg_segs(m) - 1;
}

/* The message one of whose segments has TPMSN @msn and is unanswered; NULL: none */
static struct ubp_msg *ubp_ini_find(struct ubp_ini *ini, u32 msn, u32 *index)
{
	u32 i;

	for (i = ini->head; i != ini->tail; i++) {
		struct ubp_msg *m = ubp_ini_msg(ini, i);

		if (m->s.status)
			return NULL;
		if (m->remap || ubp_psn_diff(msn, m->first_msn) < 0 ||
		    ubp_psn_diff(msn, m->last_msn) > 0)
			continue;
		*index = i;
		return m;
	}
	return NULL;
}

static void ubp_ini_rewind(struct ubp_tp *tp, u32 index, u32 seg, u32 msn)
{
	struct ubp_ini *ini = tp->jetty->ini;
	u32 i;

	for (i = index; i != ini->tail; i++) {
		struct ubp_msg *m = ubp_ini_msg(ini, i);

		m->sent = i == index ? seg << m->slice : 0;
		m->issued = false;
		m->remap = true;
		m->retry = i == index;
	}
	ini->next = index;
	while (ini->rd_tail != ini->rd_head &&
	       ubp_psn_diff(ini->rd[(ini->rd_tail - 1) & (UBP_MAX_RD - 1)].msn, msn) >= 0) {
		const struct ubp_rd *rd = &ini->rd[--ini->rd_tail & (UBP_MAX_RD - 1)];

		/* what came of an answer comes again with the whole */
		ubp_ini_msg(ini, rd->msg)->done -= rd->got;
	}
	if (tp->open_kind == UBP_TX_REQUEST) {
		/* the broken-off copy keeps its number, the next message gets another */
		tp->open_kind = 0;
		tp->snd_msn = ubp_psn_add(tp->snd_msn, 1);
	}
}

/*
 * The peer's RC table is as full as it may be: ask for less at a time. What it waits for
 * are our acknowledgements of its answers. It gets on, so this is not one of the retries
 * that are counted.
 */
static void ubp_ini_slow_down(struct ubp_tp *tp, u32 asked)
{
	struct ubp_ini *ini = tp->jetty->ini;

	ini->rd_limit = max_t(u32, asked / 2, 1);
	ini->rd_grow = 0;
	tp->ack_now = true;
}

/* An answer. The peer's table is short of entries: let it have this one at once */
static void ubp_ini_speed_up(struct ubp_tp *tp)
{
	struct ubp_ini *ini = tp->jetty->ini;

	if (likely(ini->rd_limit == UBP_MAX_RD))
		return;
	tp->ack_now = true;
	if (++ini->rd_grow < ini->rd_limit)
		return;
	ini->rd_limit++;
	ini->rd_grow = 0;
}

/* The responder cannot now. An RNR of a Read is of its RC table, which has room again when
 * this end asks for less (decision 0028); all others count as tries. */
static void ubp_ini_rnr(struct ubp_tp *tp, u32 msn, u8 rspst, u8 timer)
{
	struct ubp_jetty *j = tp->jetty;
	struct ubp_ini *ini = j->ini;
	u32 index, asked = ini->rd_tail - ini->rd_head;
	struct ubp_msg *m = ubp_ini_find(ini, msn, &index);

	if (!m)
		return; /* an old refusal; that message has been sent anew since */
	ubp_stat(tp->dev, UBP_S_RNR_RECEIVED);
	ubp_ini_rewind(tp, index, ubp_ini_seg(ini, m, msn), msn);
	if (rspst == UB_RSPST_RNR && ubp_msg_is_rd(m)) {
		ubp_ini_slow_down(tp, asked);
	} else if (j->rnr_retry != 7 && m->rnr_tries++ >= j->rnr_retry) {
		ubp_ini_stop(j, m, UBOE_CQE_RNR_EXC, 0);
		return;
	}
	ini->rnr_at = tp->now + (2000ull << min_t(u32, timer, UB_RNR_TIMER_MAX));
}

static void ubp_ini_refused(struct ubp_tp *tp, u32 msn, u8 info)
{
	struct ubp_jetty *j = tp->jetty;
	u32 index;
	struct ubp_msg *m = ubp_ini_find(j->ini, msn, &index);

	if (m)
		ubp_ini_stop(j, m, UBOE_CQE_REMOTE,
			     info == UB_RSPINFO_UNSUPPORTED ? UBOE_CQE_REMOTE_UNSUPPORTED :
							      UBOE_CQE_REMOTE_ABORT);
}

void ubp_ta_answer(struct ubp_tp *tp, u32 exec_msn, u8 rspst, u8 info)
{
	struct ubp_jetty *j = tp->jetty;

	if (tp->sh)
		return; /* its requests have answers of their own */
	/* never before what was reported, never beyond what was sent */
	if (ubp_psn_diff(exec_msn, tp->acked_msn) < 0 || ubp_psn_diff(tp->snd_msn, exec_msn) < 0)
		return;
	/*
	 * Nor a message of which a packet is still in flight: that packet would be
	 * sent again from a slot that has another message by then.
	 */
	if (tp->snd_una != tp->snd_nxt &&
	    ubp_psn_diff(exec_msn, ubp_tp_txd(tp, tp->snd_una)->msn) > 0) {
		ubp_stat(tp->dev, UBP_D_ACK_INVALID);
		return;
	}
	tp->acked_msn = exec_msn;
	if (!j->ini || j->state != UBOE_JS_READY)
		return;
	ubp_ini_retire(j);
	if (j->state != UBOE_JS_READY)
		return;
	if (rspst == UB_RSPST_RNR || rspst == UB_RSPST_FAULT)
		ubp_ini_rnr(tp, exec_msn, rspst, info);
	else if (rspst == UB_RSPST_ERROR)
		ubp_ini_refused(tp, exec_msn, info);
}

/* Place the data of an answer; false: the message has failed */
static bool ubp_ini_place(struct ubp_tp *tp, struct ubp_rd *rd, const struct ubp_tph *t,
			  const struct ubp_ta *ta)
{
	struct ubp_jetty *j = tp->jetty;
	struct ubp_msg *m = ubp_ini_msg(j->ini, rd->msg);
	u32 want = rd->len - rd->got;

	if (ta->rspst != UB_RSPST_OK && ta->rspst != UB_RSPST_TA) {
		ubp_ini_stop(j, m, UBOE_CQE_REMOTE,
			     ta->rspinfo == UB_RSPINFO_UNSUPPORTED ? UBOE_CQE_REMOTE_UNSUPPORTED :
								     UBOE_CQE_REMOTE_ABORT);
		return false;
	}
	if (ta->poison) {
		ubp_ini_stop(j, m, UBOE_CQE_REMOTE, UBOE_CQE_REMOTE_POISON);
		return false;
	}
	if (ta->pld_len > want || (t->last && ta->pld_len != want) ||
	    (rd->op == UB_TA_READ_RSP && ta->ofst != ((rd->off + rd->got) / 1024 & 0xffffff))) {
		ubp_ini_stop(j, m, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_RSP_LEN);
		return false;
	}
	if (!ubp_ini_store(j, m, rd->off + rd->got, ta->pld, ta->pld_len)) {
		ubp_ini_stop(j, m, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_ACCESS);
		return false;
	}
	rd->got += ta->pld_len;
	m->done += ta->pld_len;
	return true;
}

void ubp_ini_response(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	struct ubp_jetty *j = tp->jetty;
	struct ubp_ini *ini = j->ini;
	struct ubp_rd *rd;
	struct ubp_msg *m;
	u32 psn, msn;

	if (!ini || j->state != UBOE_JS_READY || ini->rd_head == ini->rd_tail) {
		ubp_stat(tp->dev, UBP_D_TA_RESPONSE);
		return;
	}
	/* one channel, executed in order: answers come in the order of requests */
	rd = &ini->rd[ini->rd_head & (UBP_MAX_RD - 1)];
	if (ta->op != rd->op || ta->ssn != rd->ssn || ta->taid != rd->ssn) {
		ubp_stat(tp->dev, UBP_D_TA_RESPONSE);
		return;
	}
	ini->answer_at = tp->now;
	if (!ubp_ini_place(tp, rd, t, ta) || !t->last)
		return;
	m = ubp_ini_msg(ini, rd->msg);
	m->rnr_tries = 0; /* it gets on: each segment may have to wait */
	ubp_ini_speed_up(tp);
	psn = rd->psn;
	msn = ubp_psn_add(rd->msn, 1);
	ini->rd_head++;
	if ((m->done == m->s.len || m->s.op == UBOE_SQE_STORE) && m->issued)
		m->answered = true;
	ubp_tp_implied_ack(tp, psn, msn);
	/* a TPACK may have said it all before: then that changed nothing */
	if (m->answered && j->state == UBOE_JS_READY)
		ubp_ini_retire(j);
}

static void ubp_ini_flush_ring(struct ubp_jetty *j)
{
	u32 avail = ubp_ini_posted(j);

	while (avail) {
		struct ubp_msg m;

		if (unlikely(j->type == UBOE_JETTY_RAW))
			m.s.nbb = ubp_raw_blocks(j, avail);
		else
			ubp_sqe_fetch(j->sq, j->sq_mask, j->fetched, avail, &m.s);
		j->fetched += m.s.nbb;
		avail -= m.s.nbb;
		m.end = j->fetched;
		m.s.len = 0;
		ubp_ini_complete(j, &m, UBOE_CQE_FLUSH, 0);
	}
}

void ubp_ini_flush(struct ubp_jetty *j)
{
	struct ubp_ini *ini = j->ini;

	while (ini && ini->head != ini->tail)
		ubp_ini_complete(j, ubp_ini_msg(ini, ini->head++), UBOE_CQE_FLUSH, 0);
	if (ini) {
		ini->next = ini->tail;
		ini->rd_head = ini->rd_tail;
		ini->rnr_at = UBP_NEVER;
	}
	ubp_ini_flush_ring(j);
}

void ubp_ini_fail_head(struct ubp_jetty *j, u8 status, u8 sub)
{
	struct ubp_ini *ini = j->ini;

	ubp_ini_fetch(j);
	if (ini->head != ini->tail) {
		ubp_ini_complete(j, ubp_ini_msg(ini, ini->head++), status, sub);
	}
	ubp_jetty_error(j);
}
