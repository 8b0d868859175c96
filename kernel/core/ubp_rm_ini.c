// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Initiator on a shared channel. The peer executes and answers requests in the
 * order in which they were sent, so the oldest request without an answer is the
 * one that the next answer is for.
 *
 * A request that finds no receive is refused, and so is all that the same jetty
 * sent behind it, until the refused one comes again: the order of each jetty's
 * messages is kept while others go on.
 */
#include "ubp_rm.h"

static_assert(UBP_RM_WINDOW <= UBP_RM_REQ, "a place is used again when its packets are gone");

/* The channel has no use for it any more, unless it is named elsewhere */
static void ubp_rm_drop(struct ubp_rmsg *m)
{
	struct ubp_jetty *j = m->j;

	if (m->listed || m->reqs || !READ_ONCE(m->dead))
		return;
	ubp_lock_inner(&j->lock);
	ubp_rm_free(m);
	ubp_unlock_inner(&j->lock);
	ubp_jetty_put(j);
}

static void ubp_rm_complete(struct ubp_rmsg *m, u8 status, u8 sub)
{
	ubp_lock_inner(&m->j->lock);
	ubp_rm_done(m, status, sub);
	ubp_unlock_inner(&m->j->lock);
}

static struct ubp_refused *ubp_rm_refused(struct ubp_share *sh, u32 jetty)
{
	u32 i;

	for (i = 0; sh->nrefused && i < UBP_RM_REFUSED; i++)
		if (sh->refused[i].used && sh->refused[i].jetty == jetty)
			return &sh->refused[i];
	return NULL;
}

static struct ubp_refused *ubp_rm_refused_new(struct ubp_share *sh, u32 jetty)
{
	u32 i;

	for (i = 0; i < UBP_RM_REFUSED; i++) {
		struct ubp_refused *b = &sh->refused[i];

		if (b->used)
			continue;
		memset(b, 0, sizeof(*b));
		b->used = true;
		b->jetty = jetty;
		sh->nrefused++;
		return b;
	}
	return NULL;
}

/* Into its place by the order of posting; from the end, where it mostly belongs */
static void ubp_rm_insert(struct ubp_rm_list *l, struct ubp_rmsg *m)
{
	struct ubp_rmsg *at, *after = NULL;

	m->listed = true;
	if (!l->last || (s32)(m->seq - l->last->seq) > 0) {
		ubp_rm_append(l, m);
		return;
	}
	for (at = l->first; at && (s32)(m->seq - at->seq) > 0; at = at->next)
		after = at;
	m->next = at;
	if (after)
		after->next = m;
	else
		l->first = m;
}

static void ubp_rm_remove(struct ubp_rm_list *l, struct ubp_rmsg *m)
{
	struct ubp_rmsg *at, *before = NULL;

	for (at = l->first; at && at != m; at = at->next)
		before = at;
	if (!at)
		return;
	if (before)
		before->next = m->next;
	else
		l->first = m->next;
	if (l->last == m)
		l->last = before;
	m->listed = false;
}

static void ubp_rm_forget(struct ubp_share *sh)
{
	struct ubp_rreq *rq = ubp_rm_req(sh, sh->req_head++);
	struct ubp_rmsg *m = rq->m;

	if (!m)
		return;
	ubp_rot_forget(sh, rq);
	rq->m = NULL;
	m->reqs--;
	ubp_rm_drop(m);
}

/*
 * The oldest that were broken off, for which no answer comes. Packets of theirs may have to
 * be sent again, empty: they are gone before so many requests follow that the place is
 * used again, because no window holds more packets
 */
static void ubp_rm_forget_broken(struct ubp_share *sh)
{
	while (sh->req_head != sh->req_tail && ubp_rm_req(sh, sh->req_head)->broken)
		ubp_rm_forget(sh);
}

/*
 * The segment being sent ends here: its number is used up, the rest never comes. Its
 * message, if it is still wanted, goes on with the beginning of that segment
 */
static void ubp_rm_break(struct ubp_tp *tp)
{
	struct ubp_share *sh = tp->sh;
	struct ubp_rreq *rq = ubp_rm_req(sh, sh->req_tail - 1);

	if (tp->open_kind != UBP_TX_REQUEST)
		return;
	tp->open_kind = 0;
	tp->snd_msn = ubp_psn_add(tp->snd_msn, 1);
	rq->broken = true;
	if (rq->m)
		rq->m->w.sent = min_t(u32, rq->m->w.sent, rq->off);
	ubp_rm_forget_broken(sh);
}

/*
 * What the jetty had in the queue, behind @open, joins what is put back: it was posted
 * before some of that. The queue may not have been looked at since, for want of room or
 * because congestion control let nothing go.
 */
static void ubp_rm_gather(struct ubp_share *sh, struct ubp_refused *b, struct ubp_rmsg *open)
{
	struct ubp_rmsg *m = open ? open->next : sh->queue.first;
	struct ubp_rmsg *before = open, *next;

	for (; m; m = next) {
		next = m->next;
		if (m->j->id != b->jetty) {
			before = m;
			continue;
		}
		if (before)
			before->next = next;
		else
			sh->queue.first = next;
		if (sh->queue.last == m)
			sh->queue.last = before;
		ubp_rm_insert(&b->list, m);
	}
}

/* Requests of those whose time has come go before all that was not sent yet */
static void ubp_rm_retry(struct ubp_tp *tp)
{
	struct ubp_share *sh = tp->sh;
	u32 i;

	for (i = 0; i < UBP_RM_REFUSED; i++) {
		struct ubp_refused *b = &sh->refused[i];
		struct ubp_rmsg *first;

		/* those behind the refused one are on their way back, too */
		if (!b->used || !b->waiting || b->again_at > tp->now ||
		    (s32)(sh->req_head - b->upto) < 0)
			continue;
		b->waiting = false;
		b->must_retry = true;
		if (!b->list.first)
			continue;
		first = tp->open_kind == UBP_TX_REQUEST ? sh->queue.first : NULL;
		ubp_rm_gather(sh, b, first);
		if (first) {
			b->list.last->next = first->next;
			first->next = b->list.first;
			if (sh->queue.last == first)
				sh->queue.last = b->list.last;
		} else {
			b->list.last->next = sh->queue.first;
			sh->queue.first = b->list.first;
			if (!sh->queue.last)
				sh->queue.last = b->list.last;
		}
		b->list.first = NULL;
		b->list.last = NULL;
	}
}

/* What this peer cannot do, or not in one piece */
static bool ubp_rm_unfit(struct ubp_tp *tp, struct ubp_rmsg *m)
{
	u32 lacks = m->w.s.needs & ~tp->caps;

	if (likely(!m->w.s.needs))
		return false;
	if (lacks && m->w.s.needs & ~tp->dev->cfg.caps)
		ubp_rm_complete(m, UBOE_CQE_UNSUPPORTED, UBOE_CQE_SUB_NONE);
	else if (lacks)
		ubp_rm_complete(m, UBOE_CQE_REMOTE, UBOE_CQE_REMOTE_UNSUPPORTED);
	else if (m->w.s.needs & UB_CAP_REDUCE && m->w.s.len > tp->mtu)
		ubp_rm_complete(m, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
	return READ_ONCE(m->dead);
}

/* The message to send from next; NULL: none that may be sent now */
static struct ubp_rmsg *ubp_rm_head(struct ubp_tp *tp)
{
	struct ubp_share *sh = tp->sh;
	struct ubp_rmsg *m;

	if (unlikely(sh->nrefused))
		ubp_rm_retry(tp);
	while ((m = sh->queue.first)) {
		struct ubp_refused *b = ubp_rm_refused(sh, m->j->id);

		if (likely(!READ_ONCE(m->dead) && !(b && b->waiting) && !ubp_rm_unfit(tp, m)))
			return m;
		ubp_rm_break(tp);
		ubp_rm_pop(&sh->queue);
		m->listed = false;
		if (READ_ONCE(m->dead))
			ubp_rm_drop(m);
		else
			ubp_rm_insert(&b->list, m);
	}
	return NULL;
}

static void ubp_rm_start(struct ubp_tp *tp, struct ubp_rreq *rq, struct ubp_rmsg *m)
{
	struct ubp_refused *b = ubp_rm_refused(tp->sh, m->j->id);

	memset(rq, 0, sizeof(*rq));
	rq->m = m;
	rq->jetty = m->j->id;
	rq->off = m->w.sent;
	rq->len = m->w.s.op == UBOE_SQE_STORE ? 0 : ubp_msg_seg_len(&m->w, m->w.sent);
	rq->rcid = rq->jetty & UB_BTAH_RC_ID;
	rq->ssn = tp->sh->next_ssn;
	rq->retry = b && b->must_retry;
	rq->op = m->w.s.kind == UBP_K_READ   ? UB_TA_READ_RSP :
		 m->w.s.kind == UBP_K_ATOMIC ? UB_TA_ATOMIC_RSP :
					       UB_TA_TAACK;
	if (unlikely(m->j->target_order))
		ubp_rot_start(tp, rq, m->j);
}

/* May another request begin? Each may be refused, and then needs an entry */
static bool ubp_rm_room(struct ubp_share *sh, const struct ubp_rmsg *m)
{
	u32 busy = sh->req_tail - sh->req_head;

	if (busy >= sh->max_req)
		return false;
	return busy + sh->nrefused < UBP_RM_REFUSED || ubp_rm_refused(sh, m->j->id);
}

bool ubp_rm_next(struct ubp_tp *tp, struct ubp_txd *d)
{
	struct ubp_share *sh = tp->sh;
	struct ubp_rmsg *m = ubp_rm_head(tp);
	u32 index = sh->req_tail;

	if (!m)
		return false;
	if (tp->open_kind == UBP_TX_REQUEST) {
		index--;
	} else {
		if (!ubp_rm_room(sh, m))
			return false;
		ubp_rm_start(tp, ubp_rm_req(sh, index), m);
	}
	d->kind = UBP_TX_REQUEST;
	d->idx = (u16)(index & (UBP_RM_REQ - 1));
	d->off = m->w.sent;
	d->msn = tp->snd_msn;
	d->ssn = ubp_rm_req(sh, index)->ssn;
	d->flags = ubp_msg_is_last(&m->w, m->w.sent, tp->mtu) ? UBP_TXF_LAST : 0;
	return true;
}

u32 ubp_rm_cost(struct ubp_tp *tp, const struct ubp_txd *d)
{
	const struct ubp_rreq *rq = &tp->sh->req[d->idx];

	return rq->op == UB_TA_READ_RSP ? 1 + rq->len / tp->mtu : 1;
}

void ubp_rm_commit(struct ubp_tp *tp, const struct ubp_txd *d, u32 psn)
{
	struct ubp_share *sh = tp->sh;
	struct ubp_rreq *rq = &sh->req[d->idx];
	struct ubp_rmsg *m = rq->m;
	struct ubp_refused *b;

	if (unlikely(d->kind != UBP_TX_REQUEST)) {
		ubp_rm_break(tp); /* it completed meanwhile: an empty packet was sent */
		return;
	}
	if (tp->open_kind != UBP_TX_REQUEST) {
		if (sh->req_head == sh->req_tail)
			sh->answer_at = tp->now;
		sh->req_tail++;
		if (!ubp_rot_is_context(rq->rcid)) /* those have numbers of their own */
			sh->next_ssn++;
		if (unlikely(m->j->target_order))
			ubp_rot_sent(tp, rq);
		m->reqs++;
		b = rq->retry ? ubp_rm_refused(sh, rq->jetty) : NULL;
		if (b)
			b->must_retry = false;
	}
	rq->psn = psn;
	m->w.sent += ubp_msg_is_rd(&m->w) ? ubp_msg_seg_len(&m->w, d->off) :
					    ubp_msg_plen(&m->w, d->off, tp->mtu);
	if (!(d->flags & UBP_TXF_LAST)) {
		tp->open_kind = UBP_TX_REQUEST;
		return;
	}
	tp->open_kind = 0;
	tp->snd_msn = ubp_psn_add(tp->snd_msn, 1);
	rq->sent = true;
	if (m->w.sent == m->w.s.len) {
		ubp_rm_pop(&sh->queue);
		m->listed = false;
		ubp_rm_drop(m);
	}
}

bool ubp_rm_headers(struct ubp_tp *tp, struct ubp_txd *d, struct ubp_ta *h)
{
	const struct ubp_rreq *rq = &tp->sh->req[d->idx];
	const struct ubp_rmsg *m = rq->m;
	u32 to;

	if (unlikely(!m || READ_ONCE(m->dead))) {
		d->kind = UBP_TX_VOID;
		return false;
	}
	to = m->w.s.kind == UBP_K_SEND ? m->w.s.rmt_id : m->w.s.imm_jetty;
	to |= UBP_PUT(UB_MT_TYPE, (u32)m->w.s.rmt_type);
	ubp_msg_headers(tp, &m->w, d, to, h);
	h->retry = rq->retry;
	h->rcid = rq->rcid;
	h->alloc = rq->alloc && d->off == rq->off;
	return true;
}

bool ubp_rm_payload(struct ubp_tp *tp, const struct ubp_txd *d, u8 *dst, u32 len)
{
	struct ubp_rmsg *m = tp->sh->req[d->idx].m;
	u8 sub = ubp_msg_payload(tp->dev, m->j->pd, &m->w, d->off, dst, len);

	if (unlikely(sub))
		ubp_rm_complete(m, UBOE_CQE_LOCAL, sub);
	return !sub;
}

/* The request that an answer is for, now the oldest; NULL: nobody waits for this one */
static struct ubp_rreq *ubp_rm_match(struct ubp_share *sh, const struct ubp_ta *ta, u16 ssn)
{
	u32 i;

	for (i = sh->req_head; i != sh->req_tail; i++) {
		struct ubp_rreq *rq = ubp_rm_req(sh, i);

		/* one that grants a sequence context says its number instead */
		if (rq->sent && rq->rcid == ta->rcid && (ta->sv ? rq->alloc : rq->ssn == ssn))
			break;
		/* the peer never saw the end of those whose message was given up */
		if (!rq->broken && !READ_ONCE(rq->m->dead))
			return NULL;
	}
	if (i == sh->req_tail)
		return NULL;
	while (sh->req_head != i)
		ubp_rm_forget(sh);
	return ubp_rm_req(sh, i);
}

/* The refused one got a final answer; what waits behind it went back when it did */
static void ubp_rm_settle(struct ubp_share *sh, const struct ubp_rreq *rq)
{
	struct ubp_refused *b = rq->retry ? ubp_rm_refused(sh, rq->jetty) : NULL;

	if (!b)
		return;
	b->used = false;
	sh->nrefused--;
}

static void ubp_rm_ok(struct ubp_share *sh, struct ubp_rreq *rq)
{
	struct ubp_rmsg *m = rq->m;

	ubp_rm_settle(sh, rq);
	m->w.rnr_tries = 0; /* it gets on: each segment may have to wait */
	if (!--m->segs)
		ubp_rm_complete(m, UBOE_CQE_OK, 0);
}

static void ubp_rm_error(struct ubp_share *sh, struct ubp_rreq *rq, u8 status, u8 sub)
{
	ubp_rm_settle(sh, rq);
	ubp_rm_complete(rq->m, status, sub);
}

/* Back into the list of its jetty, from this segment on */
static void ubp_rm_put_back(struct ubp_tp *tp, struct ubp_refused *b, const struct ubp_rreq *rq)
{
	struct ubp_share *sh = tp->sh;
	struct ubp_rmsg *m = rq->m;

	m->w.sent = min_t(u32, m->w.sent, rq->off);
	if (sh->queue.first == m)
		ubp_rm_break(tp);
	if (m->listed)
		ubp_rm_remove(&sh->queue, m);
	if (!m->listed)
		ubp_rm_insert(&b->list, m);
}

static void ubp_rm_not_ready(struct ubp_tp *tp, struct ubp_rreq *rq, u8 timer)
{
	struct ubp_share *sh = tp->sh;
	struct ubp_rmsg *m = rq->m;
	struct ubp_refused *b = ubp_rm_refused(sh, rq->jetty);
	bool first = !b || rq->retry;

	ubp_stat(tp->dev, UBP_S_RNR_RECEIVED);
	if (!b)
		b = ubp_rm_refused_new(sh, rq->jetty);
	if (!b) { /* it refuses what it never was asked */
		ubp_rm_complete(m, UBOE_CQE_RNR_EXC, 0);
		return;
	}
	if (first) {
		b->waiting = true;
		b->upto = sh->req_tail;
		b->again_at = tp->now + (2000ull << min_t(u32, timer, UB_RNR_TIMER_MAX));
	}
	if (READ_ONCE(m->dead))
		return;
	if (first && m->j->rnr_retry != 7 && m->w.rnr_tries++ >= m->j->rnr_retry) {
		ubp_rm_complete(m, UBOE_CQE_RNR_EXC, 0);
		if (sh->queue.first == m)
			ubp_rm_break(tp);
		return;
	}
	/* refused for the sake of order while the retry of another is on its way */
	if (!b->waiting) {
		b->waiting = true;
		b->upto = sh->req_tail;
		b->again_at = tp->now;
	}
	ubp_rm_put_back(tp, b, rq);
}

/* Place the data of an answer; false: the message has failed */
static bool ubp_rm_place(struct ubp_rreq *rq, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	struct ubp_rmsg *m = rq->m;
	u32 want = rq->len - rq->got;
	bool ok = true;

	if (ta->pld_len > want || (t->last && ta->pld_len != want) ||
	    (rq->op == UB_TA_READ_RSP && ta->ofst != ((rq->off + rq->got) / 1024 & 0xffffff))) {
		ubp_rm_complete(m, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_RSP_LEN);
		return false;
	}
	/* with the jetty's lock: who saw it completed may use the memory for other things */
	ubp_lock_inner(&m->j->lock);
	if (!m->dead)
		ok = ubp_ini_store(m->j, &m->w, rq->off + rq->got, ta->pld, ta->pld_len);
	if (!ok)
		ubp_rm_done(m, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_ACCESS);
	ubp_unlock_inner(&m->j->lock);
	rq->got += ta->pld_len;
	return ok;
}

/* An answer of one request, which is the oldest; true: it is done with */
static bool ubp_rm_answer(struct ubp_tp *tp, struct ubp_rreq *rq, const struct ubp_tph *t,
			  const struct ubp_ta *ta)
{
	if (ta->rspst == UB_RSPST_RNR || ta->rspst == UB_RSPST_FAULT) {
		ubp_rm_not_ready(tp, rq, ta->rspinfo);
		return true;
	}
	if (ta->rspst == UB_RSPST_ERROR) {
		ubp_rm_error(tp->sh, rq, UBOE_CQE_REMOTE,
			     ta->rspinfo == UB_RSPINFO_UNSUPPORTED ? UBOE_CQE_REMOTE_UNSUPPORTED :
								     UBOE_CQE_REMOTE_ABORT);
		return true;
	}
	if (ta->poison)
		ubp_rm_error(tp->sh, rq, UBOE_CQE_REMOTE, UBOE_CQE_REMOTE_POISON);
	else if (rq->op != UB_TA_TAACK && !ubp_rm_place(rq, t, ta))
		return t->last;
	if (!t->last)
		return false;
	ubp_rm_ok(tp->sh, rq);
	return true;
}

void ubp_rm_response(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	bool good = ta->rspst == UB_RSPST_OK || ta->rspst == UB_RSPST_TA;
	u32 more = good && ta->op == UB_TA_TAACK ? ta->rspinfo : 0, i;
	struct ubp_share *sh = tp->sh;

	for (i = 0; i <= more; i++) {
		struct ubp_rreq *rq = ubp_rm_match(sh, ta, (u16)(ta->ssn + i));
		bool done;

		/* an error takes the place of any answer */
		if (!rq || (ta->op != rq->op && (good || ta->op != UB_TA_TAACK)) ||
		    (ta->op != UB_TA_TAACK && ta->taid != rq->ssn)) {
			ubp_stat(tp->dev, UBP_D_TA_RESPONSE);
			return;
		}
		sh->answer_at = tp->now;
		/* executed, so all of it has arrived: no packet names it any more */
		ubp_tp_implied_ack(tp, rq->psn, 0);
		if (unlikely(rq->alloc))
			ubp_rot_answer(tp, rq, ta);
		done = ubp_rm_answer(tp, rq, t, ta);
		if (!done)
			return;
		ubp_rm_forget(sh);
		ubp_rm_forget_broken(sh);
	}
}

/* There is no such channel */
static void ubp_rm_reject(struct ubp_rmsg *m)
{
	struct ubp_jetty *j = m->j;

	ubp_lock(&j->lock);
	ubp_rm_done(m, UBOE_CQE_UNSUPPORTED, 0);
	ubp_rm_free(m);
	ubp_unlock(&j->lock);
	ubp_jetty_put(j);
}

void ubp_rm_submit(struct ubp_dev *dev, u32 tpn, struct ubp_rm_list *list)
{
	struct ubp_rmsg *m;
	struct ubp_tp *tp;

	ubp_read_begin();
	tp = ubp_tp_find(dev, tpn);
	if (!tp || !tp->sh) {
		while ((m = ubp_rm_pop(list)))
			ubp_rm_reject(m);
		goto out;
	}
	ubp_lock(tp->lock);
	tp->now = dev->ops->now(dev);
	if (unlikely(list->first->j->target_order))
		ubp_rot_tell(tp, list->first->j);
	while ((m = ubp_rm_pop(list))) {
		struct ubp_refused *b = ubp_rm_refused(tp->sh, m->j->id);

		if (tp->state == UBP_TP_DEAD) {
			ubp_rm_complete(m, UBOE_CQE_ACK_TIMEOUT, 0);
			ubp_rm_drop(m);
		} else if (b && b->waiting) {
			ubp_rm_insert(&b->list, m);
		} else {
			m->listed = true;
			ubp_rm_append(&tp->sh->queue, m);
		}
	}
	if (tp->state == UBP_TP_IDLE)
		ubp_tpcm_open(tp);
	else if (tp->state == UBP_TP_OPEN)
		ubp_tp_output(tp);
	ubp_tp_arm(tp);
	ubp_unlock(tp->lock);
out:
	ubp_read_end();
}

static void ubp_rm_fail_list(struct ubp_rm_list *list, u8 status)
{
	struct ubp_rmsg *m;

	while ((m = ubp_rm_pop(list))) {
		m->listed = false;
		ubp_rm_complete(m, status, 0);
		ubp_rm_drop(m);
	}
}

void ubp_rm_lost(struct ubp_tp *tp, u8 status)
{
	struct ubp_share *sh = tp->sh;
	u32 i;

	/* of each jetty the refused come before what was sent behind them */
	for (i = sh->req_head; i != sh->req_tail; i++) {
		struct ubp_rmsg *m = ubp_rm_req(sh, i)->m;
		struct ubp_refused *b = ubp_rm_refused(sh, m->j->id);

		if (b && !m->listed)
			ubp_rm_insert(&b->list, m);
	}
	for (i = 0; i < UBP_RM_REFUSED; i++) {
		ubp_rm_fail_list(&sh->refused[i].list, status);
		sh->refused[i].used = false;
	}
	sh->nrefused = 0;
	for (; sh->req_head != sh->req_tail;) {
		ubp_rm_complete(ubp_rm_req(sh, sh->req_head)->m, status, 0);
		ubp_rm_forget(sh);
	}
	ubp_rm_fail_list(&sh->queue, status);
}

static u64 ubp_rm_answer_deadline(const struct ubp_tp *tp)
{
	const struct ubp_share *sh = tp->sh;

	if (sh->req_head == sh->req_tail)
		return UBP_NEVER;
	return ubp_ta_answer_limit(tp, sh->answer_at);
}

u64 ubp_rm_deadline(const struct ubp_tp *tp)
{
	const struct ubp_share *sh = tp->sh;
	u64 at = sh->later ? tp->now : UBP_NEVER;
	u32 i;

	for (i = 0; sh->nrefused && i < UBP_RM_REFUSED; i++) {
		const struct ubp_refused *b = &sh->refused[i];

		if (b->used && b->waiting && (s32)(sh->req_head - b->upto) >= 0)
			at = min_t(u64, at, b->again_at);
	}
	return min_t(u64, at, ubp_rm_answer_deadline(tp));
}

void ubp_rm_timer(struct ubp_tp *tp)
{
	tp->sh->later = false;
	ubp_rm_retry(tp);
	if (ubp_rm_answer_deadline(tp) <= tp->now) {
		ubp_tp_lost(tp);
		return;
	}
	ubp_tp_output(tp);
}
