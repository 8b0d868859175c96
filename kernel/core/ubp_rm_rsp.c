// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Responder on a shared channel: executes requests in the order in which they
 * come and answers each of them, after its last packet.
 */
#include "ubp_rm.h"
#include "ubp_rsp.h"

static u32 *ubp_rm_held(struct ubp_share *sh, u32 rcid)
{
	u32 i;

	if (rcid == UBP_RM_NOBODY)
		return NULL;
	for (i = 0; sh->nheld && i < UBP_RM_REFUSED; i++)
		if (sh->rx_held[i] == rcid)
			return &sh->rx_held[i];
	return NULL;
}

/* What this initiator sends next has to wait. Who keeps to the rules finds a place */
static void ubp_rm_hold(struct ubp_share *sh, u32 rcid)
{
	u32 *free = ubp_rm_held(sh, rcid);
	u32 i;

	for (i = 0; !free && i < UBP_RM_REFUSED; i++) {
		if (sh->rx_held[i] != UBP_RM_NOBODY)
			continue;
		free = &sh->rx_held[i];
		sh->nheld++;
	}
	if (free)
		*free = rcid;
}

static void ubp_rm_release(struct ubp_share *sh, u32 rcid)
{
	u32 *held = ubp_rm_held(sh, rcid);

	if (!held)
		return;
	*held = UBP_RM_NOBODY;
	sh->nheld--;
}

bool ubp_rm_refuse(struct ubp_tp *tp, u8 rspst, u8 info)
{
	struct ubp_share *sh = tp->sh;

	sh->rx_rspst = rspst;
	sh->rx_info = info;
	tp->rsp.discard = true;
	return false;
}

/* The receives that a Send had taken; its target is locked */
static void ubp_rm_give_back(struct ubp_tp *tp, const struct ubp_target *t)
{
	struct ubp_comp c = {
		.status = UBOE_CQE_FLUSH,
		.recv = true,
		.entry = (u16)tp->rsp.rqe.slot[0],
		.rqe = &tp->rsp.rqe,
	};

	tp->rsp.have_rqe = false;
	ubp_target_done(t, &c);
}

void ubp_rm_abandon(struct ubp_tp *tp)
{
	struct ubp_target t = tp->sh->rx_target;

	if (!t.jfr)
		return;
	memset(&tp->sh->rx_target, 0, sizeof(t));
	if (tp->rsp.have_rqe) {
		ubp_target_hold(&t);
		ubp_rm_give_back(tp, &t);
		ubp_target_leave(&t);
	}
	if (t.jetty)
		ubp_jetty_put(t.jetty);
}

/* One more of the same kind behind an answer that has not left yet */
static bool ubp_rm_aggregate(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	struct ubp_rsp *r = &tp->rsp;
	struct ubp_rce *e;

	/* the one being sent now has been looked at */
	if (r->rce_tail - r->rce_next < 1)
		return false;
	e = ubp_rsp_entry(tp, r->rce_tail - 1);
	if (e->op != UB_TA_TAACK || e->sv || e->rspst != UB_RSPST_OK || e->rcid != ta->rcid ||
	    e->rspinfo >= UB_TAACK_MORE_MAX || (u16)(e->ssn + e->rspinfo + 1) != ta->ssn)
		return false;
	e->rspinfo++;
	e->psn = t->psn;
	return true;
}

static void ubp_rm_taack(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta,
			 u8 rspst, u8 info, u16 scid)
{
	struct ubp_rsp *r = &tp->rsp;
	struct ubp_rce *e;

	if (rspst == UB_RSPST_OK && !scid && ubp_rm_aggregate(tp, t, ta))
		return;
	e = ubp_rsp_entry(tp, r->rce_tail++);
	memset(e, 0, sizeof(*e));
	e->op = UB_TA_TAACK;
	e->rspst = rspst;
	e->rspinfo = info;
	e->rcid = ta->rcid;
	e->sv = scid;
	e->ssn = scid ? scid : ta->ssn;
	e->psn = t->psn;
}

/* First packet of a message: is it the turn of its sender? */
static void ubp_rm_begin(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	struct ubp_share *sh = tp->sh;
	struct ubp_rsp *r = &tp->rsp;

	ubp_rm_abandon(tp); /* the one before it never ended: its sender gave it up */
	r->msn = t->msn;
	r->op = ta->op;
	r->in_msg = true;
	r->discard = false;
	r->off = 0;
	sh->rx_ssn = ta->ssn;
	sh->rx_rcid = ta->rcid;
	sh->rx_from = ubp_rot_from(tp, ta->rcid);
	sh->rx_retry = ta->retry;
	sh->rx_alloc = ta->alloc;
	if (unlikely(sh->rx_from == UBP_RM_NOBODY))
		ubp_rm_refuse(tp, UB_RSPST_ERROR, UB_RSPINFO_UNSUPPORTED);
	else if (ubp_rm_held(sh, sh->rx_from) && !ta->retry)
		ubp_rm_refuse(tp, UB_RSPST_RNR, 0);
	else if (ubp_rot_must_wait(tp, ta))
		ubp_rm_refuse(tp, UB_RSPST_RNR, UBP_RCT_RNR_TIMER);
}

static bool ubp_rm_names_jetty(u8 op)
{
	return op == UB_TA_SEND || op == UB_TA_SEND_IMM || op == UB_TA_SEND_INV ||
	       op == UB_TA_WRITE_IMM;
}

/* Who receives, entered; the first packet of a Send decides for all. Else the drop reason */
static u32 ubp_rm_target(struct ubp_tp *tp, const struct ubp_ta *ta, struct ubp_target *t)
{
	u32 token = ta->op == UB_TA_WRITE_IMM ? ta->imm_token : ta->token;
	u32 drop = 0;

	if (tp->rsp.have_rqe)
		*t = tp->sh->rx_target;
	else
		drop = ubp_target_find(tp->dev, UBOE_JETTY_RM, ta->mt, t);
	return drop ? drop : ubp_target_enter(t, ta->tv_en, token);
}

static bool ubp_rm_run(struct ubp_tp *tp, const struct ubp_tph *h, const struct ubp_ta *ta,
		       enum ubp_ta_err err)
{
	struct ubp_share *sh = tp->sh;
	struct ubp_rsp *r = &tp->rsp;
	ubp_rsp_fn run = ubp_rsp_find(ta);
	struct ubp_target t;
	u32 drop;
	bool ok;

	if (err || !run || ta->poison)
		return ubp_rm_refuse(tp, UB_RSPST_ERROR, UB_RSPINFO_UNSUPPORTED);
	if (!ubp_rm_names_jetty(ta->op))
		return run(tp, h, ta);
	drop = ubp_rm_target(tp, ta, &t);
	if (drop)
		return ubp_rm_refuse(tp, UB_RSPST_ERROR,
				     drop == UBP_D_TARGET_TOKEN ? UB_RSPINFO_ABORT :
								  UB_RSPINFO_UNSUPPORTED);
	r->j = t.jetty;
	r->jfr = t.jfr;
	ok = run(tp, h, ta);
	r->j = NULL;
	r->jfr = NULL;
	if (r->have_rqe && !ok)
		ubp_rm_give_back(tp, &t);
	if (r->have_rqe && !sh->rx_target.jfr && (!t.jetty || ubp_ref_tryget(&t.jetty->refs)))
		sh->rx_target = t;
	ubp_target_leave(&t);
	return ok;
}

static void ubp_rm_end(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	struct ubp_share *sh = tp->sh;
	struct ubp_rsp *r = &tp->rsp;
	bool refused = r->discard;
	u16 scid;

	ubp_rm_abandon(tp);
	r->in_msg = false;
	r->discard = false;
	r->exec_msn = ubp_psn_add(t->msn, 1);
	if (refused && sh->rx_rspst == UB_RSPST_RNR) {
		ubp_rm_hold(sh, sh->rx_from);
		ubp_stat(tp->dev, UBP_S_RNR_SENT);
	} else if (sh->rx_retry) {
		ubp_rm_release(sh, sh->rx_from);
	}
	if (refused) {
		if (sh->rx_rspst == UB_RSPST_ERROR)
			ubp_stat(tp->dev, UBP_S_REMOTE_ERRORS);
		ubp_rm_taack(tp, t, ta, sh->rx_rspst, sh->rx_info, 0);
	} else if (ta->op != UB_TA_READ && !ubp_ta_is_atomic(ta->op)) {
		scid = sh->rx_alloc ? ubp_rot_grant(tp, ta->rcid) : 0;
		ubp_rm_taack(tp, t, ta, UB_RSPST_OK, 0, scid);
	}
}

void ubp_rm_request(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta,
		    enum ubp_ta_err err)
{
	struct ubp_share *sh = tp->sh;
	struct ubp_rsp *r = &tp->rsp;

	if (unlikely(err == UBP_TA_NONE)) {
		ubp_stat(tp->dev, UBP_D_TA_HEADER); /* no name to refuse it by */
		return;
	}
	/* no room for an answer: more requests than were announced */
	if (r->rce_tail - r->rce_head > sh->rct_mask) {
		ubp_stat(tp->dev, UBP_D_RC_TABLE);
		return;
	}
	if (!r->in_msg || t->msn != r->msn)
		ubp_rm_begin(tp, t, ta);
	else if (ta->ssn != sh->rx_ssn || ta->rcid != sh->rx_rcid || !ubp_rsp_continues(r, ta->op))
		ubp_rm_refuse(tp, UB_RSPST_ERROR, UB_RSPINFO_UNSUPPORTED);
	if (!r->discard)
		ubp_rm_run(tp, t, ta, err);
	if (t->last)
		ubp_rm_end(tp, t, ta);
}
