// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the channel asks of the transaction layer: packets to send, answers, waits. */
#include "ubp_rm.h"

static bool ubp_ta_next_request(struct ubp_tp *tp, struct ubp_txd *d)
{
	return tp->sh ? ubp_rm_next(tp, d) : ubp_ini_next(tp, d);
}

bool ubp_ta_next(struct ubp_tp *tp, struct ubp_txd *d)
{
	if (tp->open_kind == UBP_TX_REQUEST) {
		if (ubp_ta_next_request(tp, d))
			return true;
		if (tp->open_kind == UBP_TX_REQUEST)
			return false; /* else it was broken off in the middle */
	}
	if (ubp_rsp_next(tp, d))
		return true;
	return tp->open_kind == 0 && tp->state == UBP_TP_OPEN && ubp_ta_next_request(tp, d);
}

bool ubp_ta_commit(struct ubp_tp *tp, const struct ubp_txd *d, u32 psn)
{
	if (tp->sh && d->kind != UBP_TX_RESPONSE)
		ubp_rm_commit(tp, d, psn);
	else if (d->kind == UBP_TX_REQUEST)
		ubp_ini_commit(tp, d, psn);
	else
		ubp_rsp_commit(tp, d);
	return true;
}

bool ubp_ta_more(struct ubp_tp *tp, const struct ubp_txd *d)
{
	return d->kind == UBP_TX_REQUEST && !tp->sh && ubp_ini_more(tp, d);
}

u32 ubp_ta_cost(struct ubp_tp *tp, const struct ubp_txd *d)
{
	if (d->kind != UBP_TX_REQUEST)
		return 1;
	return tp->sh ? ubp_rm_cost(tp, d) : ubp_ini_cost(tp, d);
}

bool ubp_ta_headers(struct ubp_tp *tp, struct ubp_txd *d, struct ubp_ta *h)
{
	if (unlikely(d->kind == UBP_TX_VOID))
		return false;
	if (tp->sh && d->kind == UBP_TX_REQUEST)
		return ubp_rm_headers(tp, d, h);
	if (d->kind == UBP_TX_REQUEST)
		ubp_ini_headers(tp, d, h);
	else
		ubp_rsp_headers(tp, d, h);
	return true;
}

bool ubp_ta_payload(struct ubp_tp *tp, const struct ubp_txd *d, u8 *dst, u32 len)
{
	if (d->kind == UBP_TX_REQUEST)
		return tp->sh ? ubp_rm_payload(tp, d, dst, len) : ubp_ini_payload(tp, d, dst, len);
	return ubp_rsp_payload(tp, d, dst, len);
}

void ubp_ta_acked(struct ubp_tp *tp, const struct ubp_txd *d)
{
	struct ubp_rsp *r = &tp->rsp;

	/*
	 * Answers are sent and acknowledged in the order of the table. One that
	 * became an error while it was sent again has two last packets.
	 */
	if (d->kind == UBP_TX_RESPONSE && d->flags & UBP_TXF_LAST && r->rce_head != r->rce_next &&
	    d->idx == (r->rce_head & ubp_rsp_mask(tp)))
		r->rce_head++;
}

static void ubp_ta_deliver_shared(struct ubp_tp *tp, const struct ubp_tph *t,
				  const struct ubp_ta *ta, enum ubp_ta_err err)
{
	if (!ubp_ta_is_response(ta->op) || err == UBP_TA_OPCODE)
		ubp_rm_request(tp, t, ta, err);
	else if (err)
		ubp_stat(tp->dev, UBP_D_TA_HEADER);
	else
		ubp_rm_response(tp, t, ta);
}

void ubp_ta_deliver(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta,
		    enum ubp_ta_err err)
{
	struct ubp_jetty *j = tp->jetty;

	if (tp->sh) {
		ubp_ta_deliver_shared(tp, t, ta, err);
		return;
	}
	if (tp->rsp.blocked == UB_RSPST_ERROR ||
	    (j->state != UBOE_JS_RTR && j->state != UBOE_JS_READY))
		return;
	if (!ubp_ta_is_response(ta->op) || err == UBP_TA_OPCODE) {
		ubp_rsp_request(tp, t, ta, err);
		return;
	}
	if (err)
		ubp_stat(tp->dev, UBP_D_TA_HEADER);
	else
		ubp_ini_response(tp, t, ta);
	/* answers take TPMSNs too; a refused request before them must stay refused */
	if (t->last && !tp->rsp.blocked && !tp->rsp.in_msg)
		tp->rsp.exec_msn = ubp_psn_add(t->msn, 1);
}

void ubp_ta_opened(struct ubp_tp *tp)
{
	struct ubp_dev *dev = tp->dev;

	if (tp->sh) {
		ubp_tp_output(tp);
		return;
	}
	dev->ops->event(dev, UBOE_EV_JETTY, UBOE_EV_SUB_ESTABLISHED, tp->jetty->id);
	if (tp->jetty->state == UBOE_JS_READY)
		ubp_tp_output(tp);
}

void ubp_ta_lost(struct ubp_tp *tp)
{
	struct ubp_jetty *j = tp->jetty;

	if (tp->sh) {
		ubp_rm_lost(tp, UBOE_CQE_ACK_TIMEOUT);
		ubp_share_reset(tp);
		return;
	}
	/* without work there is nobody to tell yet: the next kick finds out */
	ubp_jetty_need_kick(j, true);
	smp_mb(); /* as in ubp_ini_sleep() */
	if (j->state == UBOE_JS_READY && j->ini && ubp_ini_has_work(j))
		ubp_ini_fail_head(j, UBOE_CQE_ACK_TIMEOUT, 0);
}

void ubp_ta_gone(struct ubp_tp *tp)
{
	struct ubp_jetty *j = tp->jetty;

	if (!j->dead)
		ubp_rsp_flush(j); /* the rest of a half-received Send will not come */
}

u64 ubp_ta_answer_limit(const struct ubp_tp *tp, u64 since)
{
	if (!tp->lost_after || tp->snd_una != tp->snd_nxt)
		return UBP_NEVER;
	return max_t(u64, since, tp->rto_base) + tp->lost_after;
}

static u64 ubp_ta_answer_deadline(const struct ubp_tp *tp)
{
	const struct ubp_ini *ini = tp->jetty->ini;

	if (ini->rd_head == ini->rd_tail)
		return UBP_NEVER;
	return ubp_ta_answer_limit(tp, ini->answer_at);
}

u64 ubp_ta_deadline(const struct ubp_tp *tp)
{
	const struct ubp_ini *ini = tp->sh ? NULL : tp->jetty->ini;

	if (tp->sh)
		return ubp_rm_deadline(tp);
	return ini ? min_t(u64, ini->rnr_at, ubp_ta_answer_deadline(tp)) : UBP_NEVER;
}

void ubp_ta_timer(struct ubp_tp *tp)
{
	if (tp->sh) {
		ubp_rm_timer(tp);
		return;
	}
	if (ubp_ta_answer_deadline(tp) <= tp->now) {
		ubp_tp_lost(tp);
		return;
	}
	tp->jetty->ini->rnr_at = UBP_NEVER;
	ubp_tp_output(tp);
}

bool ubp_ta_idle(struct ubp_tp *tp)
{
	struct ubp_jetty *j = tp->jetty;

	if (tp->sh)
		return false; /* its jetties bring what they have */
	/* whoever holds the queue back (answer, window, RNR) also wakes the engine */
	if (j->state != UBOE_JS_READY || !j->ini || j->ini->head + UBP_MSG_WIN == j->ini->tail ||
	    j->ini->next != j->ini->tail)
		return false;
	if (j->kick_armed)
		return false;
	return ubp_ini_sleep(j);
}

void ubp_ta_later(struct ubp_tp *tp)
{
	if (tp->sh)
		tp->sh->later = true; /* the timer, which its caller arms, goes on */
	else
		tp->dev->ops->engine_later(tp->jetty);
}
