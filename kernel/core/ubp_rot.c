// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sequence contexts of a shared channel, at either end.
 *
 * The channel delivers in order and its requests are executed as they arrive, so
 * the order inside a context needs no work at the target but for Reads, whose
 * answers are made later than they are asked for.
 */
#include "ubp_rm.h"

/* Number of a context: never 0, and another one each time the entry is given away */
static u16 ubp_rot_scid(const struct ubp_rot_tgt *c, u32 index)
{
	return (u16)((u32)c->turn * UBP_ROT_MAX + index);
}

static struct ubp_rot_ini *ubp_rot_find(struct ubp_rot *rot, u32 jetty)
{
	u32 i;

	for (i = 0; i < UBP_ROT_MAX; i++) {
		struct ubp_rot_ini *c = &rot->ini[(jetty + i) & (UBP_ROT_MAX - 1)];

		if (c->jetty == jetty)
			return c;
	}
	return NULL;
}

/* Has it rested so long that the peer may have given it away? */
static bool ubp_rot_stale(const struct ubp_rot_ini *c, u64 now)
{
	switch (c->state) {
	case UBP_ROT_HELD:
		return now - c->at > UBP_ROT_IDLE;
	case UBP_ROT_DENIED:
		return now > c->at;
	default:
		return false;
	}
}

/* The jetty's entry; with @make one that is free or of no use to another */
static struct ubp_rot_ini *ubp_rot_entry(struct ubp_tp *tp, u32 jetty)
{
	struct ubp_rot *rot = &tp->sh->rot;
	struct ubp_rot_ini *c = ubp_rot_find(rot, jetty);
	u32 i;

	for (i = 0; !c && i < UBP_ROT_MAX; i++) {
		struct ubp_rot_ini *at = &rot->ini[(jetty + i) & (UBP_ROT_MAX - 1)];

		/* free ones are in this state, too */
		if (at->state != UBP_ROT_NONE && !ubp_rot_stale(at, tp->now))
			continue;
		memset(at, 0, sizeof(*at));
		at->jetty = jetty;
		c = at;
	}
	if (c && ubp_rot_stale(c, tp->now))
		c->state = UBP_ROT_NONE;
	return c;
}

void ubp_rot_tell(struct ubp_tp *tp, struct ubp_jetty *j)
{
	const struct ubp_rot_ini *c = ubp_rot_find(&tp->sh->rot, j->id);
	bool held = c && c->state == UBP_ROT_HELD && !ubp_rot_stale(c, tp->now);

	ubp_lock_inner(&j->lock);
	ubp_rm_led(j, held ? tp->tpn : 0);
	ubp_unlock_inner(&j->lock);
}

void ubp_rot_start(struct ubp_tp *tp, struct ubp_rreq *rq, struct ubp_jetty *j)
{
	struct ubp_rot_ini *c;

	if (!(tp->svc & UB_SVC_ROT))
		return;
	c = ubp_rot_entry(tp, j->id);
	if (!c)
		return;
	if (c->state == UBP_ROT_HELD) {
		rq->rcid = UBP_PUT(UB_BTAH_RC_TYPE, (u32)UB_RC_TYPE_SC) | c->scid;
		rq->ssn = c->ssn;
	} else if (c->state == UBP_ROT_NONE && rq->op == UB_TA_TAACK) {
		rq->alloc = true;
	}
}

void ubp_rot_sent(struct ubp_tp *tp, const struct ubp_rreq *rq)
{
	struct ubp_rot_ini *c = ubp_rot_find(&tp->sh->rot, rq->jetty);

	if (!c)
		return;
	if (ubp_rot_is_context(rq->rcid)) {
		c->ssn++;
		c->at = tp->now;
	} else if (rq->alloc) {
		c->state = UBP_ROT_ASKED;
		c->at = tp->now;
	}
}

void ubp_rot_answer(struct ubp_tp *tp, struct ubp_rreq *rq, const struct ubp_ta *ta)
{
	struct ubp_rot_ini *c = ubp_rot_find(&tp->sh->rot, rq->jetty);

	rq->alloc = false;
	if (!c || c->state != UBP_ROT_ASKED)
		return;
	if (ta->rspst == UB_RSPST_RNR || ta->rspst == UB_RSPST_FAULT) {
		c->state = UBP_ROT_NONE; /* it comes again and asks again */
		return;
	}
	if (!ta->sv) {
		c->state = UBP_ROT_DENIED;
		c->at = tp->now + UBP_ROT_AGAIN;
		ubp_stat(tp->dev, UBP_S_ROT_DENIED);
		return;
	}
	/* @at stays when the request was sent: the peer's count begins later */
	c->state = UBP_ROT_HELD;
	c->scid = ta->ssn;
	c->ssn = 0;
	ubp_stat(tp->dev, UBP_S_ROT_GRANTED);
	ubp_rot_tell(tp, rq->m->j);
}

void ubp_rot_forget(struct ubp_share *sh, const struct ubp_rreq *rq)
{
	struct ubp_rot_ini *c = rq->alloc ? ubp_rot_find(&sh->rot, rq->jetty) : NULL;

	if (c && c->state == UBP_ROT_ASKED)
		c->state = UBP_ROT_NONE;
}

u32 ubp_rot_from(struct ubp_tp *tp, u32 rcid)
{
	u32 id = rcid & UB_BTAH_RC_ID, index = id & (UBP_ROT_MAX - 1);
	struct ubp_rot_tgt *c = &tp->sh->rot.tgt[index];

	if (!ubp_rot_is_context(rcid))
		return id;
	if (c->jetty == UBP_RM_NOBODY || ubp_rot_scid(c, index) != id)
		return UBP_RM_NOBODY;
	c->at = tp->now;
	return c->jetty;
}

u16 ubp_rot_grant(struct ubp_tp *tp, u32 rcid)
{
	struct ubp_rot_tgt *tgt = tp->sh->rot.tgt, *c = NULL;
	u32 jetty = rcid & UB_BTAH_RC_ID, i;

	if (ubp_rot_is_context(rcid))
		return 0; /* who is in one needs none */
	for (i = 0; i < UBP_ROT_MAX; i++) {
		struct ubp_rot_tgt *at = &tgt[(jetty + i) & (UBP_ROT_MAX - 1)];

		if (at->jetty == jetty) {
			c = at;
			break;
		}
		if (!c && (at->jetty == UBP_RM_NOBODY || tp->now - at->at > UBP_ROT_KEEP))
			c = at;
	}
	if (!c)
		return 0;
	/* the number fits the 16 bits of its field and is never 0 */
	c->turn = (u16)(c->turn % (0x10000 / UBP_ROT_MAX - 1) + 1);
	c->jetty = jetty;
	c->at = tp->now;
	return ubp_rot_scid(c, (u32)(c - tgt));
}

bool ubp_rot_must_wait(const struct ubp_tp *tp, const struct ubp_ta *ta)
{
	const struct ubp_rsp *r = &tp->rsp;
	u32 i;

	if (!ubp_rot_is_context(ta->rcid) || (ta->odr & UB_ODR_TEO) != UB_ORDER_STRONG)
		return false;
	for (i = r->rce_head; i != r->rce_tail; i++) {
		const struct ubp_rce *e = ubp_rsp_entry(tp, i);

		if (e->op == UB_TA_READ_RSP && e->rcid == ta->rcid)
			return true;
	}
	return false;
}

void ubp_rot_reset(struct ubp_share *sh)
{
	u32 i;

	memset(&sh->rot, 0, sizeof(sh->rot));
	for (i = 0; i < UBP_ROT_MAX; i++) {
		sh->rot.ini[i].jetty = UBP_RM_NOBODY;
		sh->rot.tgt[i].jetty = UBP_RM_NOBODY;
	}
}
