// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Who receives a message that names its target: a jetty, a group or a JFR by itself. */
#include "ubp_target.h"

static u32 ubp_target_jfr(struct ubp_dev *dev, u8 mode, u32 id, struct ubp_target *t)
{
	struct ubp_jfr *jfr = (struct ubp_jfr *)ubp_table_get(&dev->jfr, id);

	if (!jfr || READ_ONCE(jfr->dead) ||
	    !(jfr->flags & (mode == UBOE_JETTY_UM ? UBOE_JFR_UM : UBOE_JFR_RM)))
		return UBP_D_NO_TARGET;
	t->jfr = jfr;
	t->has_token = jfr->flags & UBOE_JFR_TOKEN;
	t->token = jfr->token;
	return 0;
}

static u32 ubp_target_jetty(struct ubp_dev *dev, u8 mode, u32 id, struct ubp_target *t)
{
	struct ubp_jetty *j = ubp_jetty_find(dev, id);

	if (!j || j->type != mode || !j->jfr)
		return UBP_D_NO_TARGET;
	t->jetty = j;
	t->jfr = j->jfr;
	t->has_token = j->flags & UBOE_JETTY_TOKEN;
	t->token = j->token;
	return 0;
}

u32 ubp_target_find(struct ubp_dev *dev, u8 mode, u32 mt, struct ubp_target *t)
{
	u32 id = mt & UB_MT_ID;

	memset(t, 0, sizeof(*t));
	switch (UBP_GET(UB_MT_TYPE, mt)) {
	case UBOE_RMT_JFR:
		return ubp_target_jfr(dev, mode, id, t);
	case UBOE_RMT_JETTY:
		return ubp_target_jetty(dev, mode, id, t);
	case UBOE_RMT_GROUP:
		t->jetty = ubp_jgrp_choose(dev, mode, id, (u8)(mt >> 24), t);
		if (!t->jetty)
			return UBP_D_NO_TARGET;
		t->jfr = t->jetty->jfr;
		return 0;
	default:
		return UBP_D_NO_TARGET;
	}
}

static ubp_lock_t *ubp_target_lock(const struct ubp_target *t)
{
	return t->jetty ? &t->jetty->lock : &t->jfr->target_lock;
}

static bool ubp_target_receives(const struct ubp_target *t)
{
	if (READ_ONCE(t->jfr->dead))
		return false;
	if (!t->jetty)
		return !t->jfr->gone;
	return !t->jetty->dead && t->jetty->state == UBOE_JS_READY;
}

u32 ubp_target_enter(const struct ubp_target *t, bool tv_en, u32 token)
{
	/* who does not know the token learns nothing of the state */
	if (t->has_token && (!tv_en || token != t->token))
		return UBP_D_TARGET_TOKEN;
	ubp_target_hold(t);
	if (ubp_target_receives(t))
		return 0;
	ubp_target_leave(t);
	return UBP_D_TARGET_STATE;
}

void ubp_target_hold(const struct ubp_target *t)
{
	ubp_lock_some(ubp_target_lock(t));
}

void ubp_target_leave(const struct ubp_target *t)
{
	ubp_unlock_some(ubp_target_lock(t));
}

bool ubp_target_done(const struct ubp_target *t, struct ubp_comp *c)
{
	if (t->jetty)
		return ubp_jetty_recv_done(t->jetty, c);
	c->jfr = t->jfr;
	return ubp_jfc_post(t->jfr->jfc, NULL, c);
}

bool ubp_addr_is_unicast(const u8 *a)
{
	static const u8 none[16];

	if (ubp_addr_is_v4(a))
		return a[12] && a[12] < 224;
	return a[0] != 0xff && memcmp(a, none, sizeof(none));
}
