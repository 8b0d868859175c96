// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Jetty groups: one id for several jetties. A message that names the group, by
 * TGT_TC_Type 2 (Base Spec 7.2), goes to one of them.
 */
#include "ubp_target.h"

/*
 * struct ubp_jgrp - group of jetties
 * @lock: guards @type, @count, @turn and @member; nothing is taken inside
 * @any: @type is that of the first member
 * @turn: UBOE_JGRP_RR: index from which the next member is looked for
 * @member: in the order of joining
 */
struct ubp_jgrp {
	u32 id;
	u32 pd;
	u32 token;
	u8 policy;
	u8 flags;
	u8 type;
	bool any;
	ubp_lock_t lock;
	u32 count;
	u32 turn;
	struct ubp_jetty *member[UBOE_MAX_JGRP_MEMBERS];
};

static struct ubp_jgrp *ubp_jgrp_find(struct ubp_dev *dev, u32 id)
{
	return (struct ubp_jgrp *)ubp_table_get(&dev->jgrp, id);
}

int ubp_jgrp_create(struct ubp_dev *dev, u32 id, const struct uboe_jgrp_ctx *ctx)
{
	struct ubp_jgrp *g;
	int err;

	if (ctx->policy > UBOE_JGRP_HINT || ctx->flags & ~UBOE_JGRP_TOKEN || ctx->count ||
	    ctx->member || (ctx->type && ctx->type != UBOE_JETTY_UM && ctx->type != UBOE_JETTY_RM))
		return -EINVAL;
	g = (struct ubp_jgrp *)dev->ops->zalloc(dev, sizeof(*g));
	if (!g)
		return -ENOMEM;
	g->id = id;
	g->pd = le32_to_cpu(ctx->pd);
	g->token = le32_to_cpu(ctx->token);
	g->policy = ctx->policy;
	g->flags = ctx->flags;
	g->type = ctx->type;
	g->any = !ctx->type;
	ubp_lock_init(&g->lock);
	err = ubp_table_add(dev, &dev->jgrp, id, g);
	if (err)
		dev->ops->free_later(dev, g);
	return err;
}

static int ubp_jgrp_join(struct ubp_jgrp *g, struct ubp_jetty *j)
{
	int err = 0;

	if (j->type == UBOE_JETTY_RC || j->pd != g->pd || !j->jfr)
		return -EINVAL;
	if (j->grp)
		return -EEXIST;
	ubp_lock(&g->lock);
	if (g->any && !g->count)
		g->type = j->type;
	if (j->type != g->type)
		err = -EINVAL;
	else if (g->count == UBOE_MAX_JGRP_MEMBERS)
		err = -ENOSPC;
	else
		g->member[g->count++] = j;
	ubp_unlock(&g->lock);
	if (!err)
		j->grp = g;
	return err;
}

void ubp_jgrp_leave(struct ubp_jetty *j)
{
	struct ubp_jgrp *g = j->grp;
	u32 i = 0;

	if (!g)
		return;
	ubp_lock(&g->lock);
	while (g->member[i] != j)
		i++;
	g->count--;
	for (; i < g->count; i++)
		g->member[i] = g->member[i + 1];
	ubp_unlock(&g->lock);
	j->grp = NULL;
}

int ubp_jgrp_modify(struct ubp_dev *dev, u32 id, const struct uboe_jgrp_ctx *ctx, u32 mask)
{
	struct ubp_jgrp *g = ubp_jgrp_find(dev, id);
	struct ubp_jetty *j;

	if (!g)
		return -ENOENT;
	if (mask & ~(UBOE_GM_JOIN | UBOE_GM_LEAVE))
		return -EOPNOTSUPP;
	if (mask != UBOE_GM_JOIN && mask != UBOE_GM_LEAVE)
		return -EINVAL;
	j = ubp_jetty_find(dev, le32_to_cpu(ctx->member));
	if (!j)
		return -ENOENT;
	if (mask == UBOE_GM_JOIN)
		return ubp_jgrp_join(g, j);
	if (j->grp != g)
		return -ENOENT;
	ubp_jgrp_leave(j);
	return 0;
}

int ubp_jgrp_query(struct ubp_dev *dev, u32 id, struct uboe_jgrp_ctx *ctx)
{
	struct ubp_jgrp *g = ubp_jgrp_find(dev, id);

	if (!g)
		return -ENOENT;
	memset(ctx, 0, sizeof(*ctx));
	ctx->policy = g->policy;
	ctx->flags = g->flags;
	ctx->type = g->type;
	ctx->count = (u8)g->count;
	ctx->pd = cpu_to_le32(g->pd);
	return 0;
}

int ubp_jgrp_destroy(struct ubp_dev *dev, u32 id)
{
	struct ubp_jgrp *g = ubp_jgrp_find(dev, id);

	if (!g)
		return -ENOENT;
	if (g->count)
		return -EBUSY;
	ubp_table_del(&dev->jgrp, id);
	dev->ops->free_later(dev, g);
	return 0;
}

/*
 * From @at on, the first member that is READY; without one whoever is there, so
 * that the reason of the drop is its state. A glance without the jetty's lock: the
 * state counts when it is entered.
 */
static u32 ubp_jgrp_ready(const struct ubp_jgrp *g, u32 at)
{
	u32 i;

	for (i = 0; i < g->count; i++) {
		u32 n = (at + i) % g->count;

		if (READ_ONCE(g->member[n]->state) == UBOE_JS_READY)
			return n;
	}
	return at;
}

struct ubp_jetty *ubp_jgrp_choose(struct ubp_dev *dev, u8 mode, u32 id, u8 hint,
				  struct ubp_target *t)
{
	struct ubp_jgrp *g = ubp_jgrp_find(dev, id);
	struct ubp_jetty *j = NULL;
	u32 n;

	if (!g)
		return NULL;
	t->has_token = g->flags & UBOE_JGRP_TOKEN;
	t->token = g->token;
	ubp_lock(&g->lock);
	if (g->count && g->type == mode) {
		n = (g->policy == UBOE_JGRP_HINT ? hint : g->turn) % g->count;
		n = ubp_jgrp_ready(g, n);
		if (g->policy == UBOE_JGRP_RR)
			g->turn = n + 1;
		j = g->member[n];
	}
	ubp_unlock(&g->lock);
	return j;
}
