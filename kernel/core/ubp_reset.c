// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Reset of the function: all that programs have made ends, the device goes on. */
#include "ubp_part.h"
#include "ubp_rm.h"

/* The first object from number *@id on, which it sets; NULL: there is none */
static void *ubp_table_from(const struct ubp_table *t, u32 *id)
{
	while (*id < t->max) {
		void *o = ubp_table_get(t, *id);

		if (o)
			return o;
		/* a leaf that was never needed is empty */
		if (!smp_load_acquire(&t->top[*id / UBP_TABLE_LEAF]))
			*id |= UBP_TABLE_LEAF - 1;
		++*id;
	}
	return NULL;
}

/* A table may be full */
static void ubp_pause(u32 id)
{
	if (!(id % 256))
		ubp_yield();
}

static void ubp_reset_jetty(struct ubp_jetty *j)
{
	bool was_good;

	ubp_lock(&j->lock);
	was_good = !j->dead && j->state != UBOE_JS_ERROR;
	if (was_good && j->tp) {
		j->tp->now = j->dev->ops->now(j->dev);
		if (j->tp->state == UBP_TP_OPENING)
			ubp_tpcm_close(j->tp); /* the peer may be further than this end */
	}
	ubp_jetty_error(j);
	ubp_unlock(&j->lock);
	if (was_good)
		j->dev->ops->event(j->dev, UBOE_EV_JETTY, UBOE_EV_SUB_JFS, j->id);
}

static void ubp_reset_jetties(struct ubp_dev *dev)
{
	struct ubp_jetty *j;
	u32 id;

	for (id = 0;; id++) {
		ubp_read_begin();
		j = (struct ubp_jetty *)ubp_table_from(&dev->jetty, &id);
		if (j)
			ubp_reset_jetty(j);
		ubp_read_end();
		if (!j)
			return;
		ubp_yield(); /* it may have had much to flush */
	}
}

/* What peers could still reach without a jetty */
static void ubp_reset_targets(struct ubp_dev *dev)
{
	struct ubp_jfr *jfr;
	struct ubp_seg *seg;
	u32 id;

	for (id = 0; (seg = (struct ubp_seg *)ubp_table_from(&dev->seg, &id)); id++) {
		WRITE_ONCE(seg->dead, true);
		ubp_pause(id);
	}
	for (id = 0; (jfr = (struct ubp_jfr *)ubp_table_from(&dev->jfr, &id)); id++) {
		ubp_lock(&jfr->target_lock); /* whoever is inside is through then */
		WRITE_ONCE(jfr->dead, true);
		ubp_unlock(&jfr->target_lock);
		ubp_pause(id);
	}
}

int ubp_entity_reset(struct ubp_dev *dev)
{
	dev->resets++;
	dev->ops->event(dev, UBOE_EV_ENTITY, UBOE_EV_SUB_RESET, 0);
	/* peers hear of it while this end is still the one that they know */
	ubp_reset_jetties(dev);
	ubp_share_close_all(dev);
	ubp_reset_targets(dev);
	dev->ops->event(dev, UBOE_EV_ENTITY, UBOE_EV_SUB_RESET_DONE, 0);
	return 0;
}
