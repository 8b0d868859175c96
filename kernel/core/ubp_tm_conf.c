// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Traffic management, control path: nodes and jetties come and go. */
#include "ubp_tm.h"

/* One row per level: first node, how many, children at most, what may be set */
struct ubp_tm_rule {
	u16 base;
	u16 count;
	u8 fan;
	u8 mask;
};

#define UBP_TM_SET_PLAIN (UBOE_TMM_PRIO | UBOE_TMM_WEIGHT | UBOE_TMM_PEAK)

static const struct ubp_tm_rule ubp_tm_rules[] = {
	[UBOE_TML_PORT] = { 0, UBP_TM_PORTS, 32, UBOE_TMM_PEAK },
	[UBOE_TML_GROUP] = { UBP_TM_PORTS, UBOE_TM_GROUPS, 8,
			     UBP_TM_SET_PLAIN | UBOE_TMM_COMMITTED },
	[UBOE_TML_FUNCTION] = { UBP_TM_PORTS + UBOE_TM_GROUPS, UBOE_TM_FUNCTIONS, 16,
				UBP_TM_SET_PLAIN | UBOE_TMM_COMMITTED | UBOE_TMM_SL_VL },
	[UBOE_TML_QSET] = { UBP_TM_PORTS + UBOE_TM_GROUPS + UBOE_TM_FUNCTIONS, UBOE_TM_QSETS, 0,
			    UBP_TM_SET_PLAIN },
};

static struct ubp_tm_node *ubp_tm_node(struct ubp_dev *dev, u32 level, u32 number)
{
	const struct ubp_tm_rule *rule;

	if (!dev->tm || level < UBOE_TML_PORT || level > UBOE_TML_QSET)
		return NULL;
	rule = &ubp_tm_rules[level];
	return number < rule->count ? &dev->tm->node[rule->base + number] : NULL;
}

/* The node that exists, or NULL */
static struct ubp_tm_node *ubp_tm_find(struct ubp_dev *dev, u32 level, u32 number)
{
	struct ubp_tm_node *n = ubp_tm_node(dev, level, number);

	return n && n->level ? n : NULL;
}

static bool ubp_tm_rate_ok(__le32 kbps, __le32 burst)
{
	u32 rate = le32_to_cpu(kbps);

	if (le32_to_cpu(burst) > UBOE_TM_MAX_BURST)
		return false;
	return !rate || (rate >= UBOE_TM_MIN_KBPS && rate <= UBOE_TM_MAX_KBPS);
}

static bool ubp_tm_map_ok(const u8 *sl_vl)
{
	u32 i;

	for (i = 0; i < UBP_TM_VLS; i++)
		if (sl_vl[i] >= UBP_TM_VLS)
			return false;
	return true;
}

/* Are the fields that @mask names in their ranges? */
static bool ubp_tm_ctx_ok(const struct uboe_tm_ctx *ctx, u32 mask)
{
	u32 weight = le16_to_cpu(ctx->weight);

	if (mask & UBOE_TMM_PRIO && ctx->prio > UBOE_TM_MAX_PRIO)
		return false;
	if (mask & UBOE_TMM_WEIGHT && (!weight || weight > UBOE_TM_MAX_WEIGHT))
		return false;
	if (mask & UBOE_TMM_PEAK && !ubp_tm_rate_ok(ctx->peak_kbps, ctx->peak_burst))
		return false;
	if (mask & UBOE_TMM_COMMITTED && !ubp_tm_rate_ok(ctx->committed_kbps, ctx->committed_burst))
		return false;
	return !(mask & UBOE_TMM_SL_VL) || ubp_tm_map_ok(ctx->sl_vl);
}

/* What a level does not have, and what is reserved, must be 0 */
static bool ubp_tm_rest_ok(const struct uboe_tm_ctx *ctx, u32 mask)
{
	u32 i;

	if (!(mask & UBOE_TMM_PRIO) && (ctx->prio || ctx->weight))
		return false;
	if (!(mask & UBOE_TMM_COMMITTED) && (ctx->committed_kbps || ctx->committed_burst))
		return false;
	for (i = 0; !(mask & UBOE_TMM_SL_VL) && i < UBP_TM_VLS; i++)
		if (ctx->sl_vl[i])
			return false;
	for (i = 0; i < ARRAY_SIZE(ctx->rsvd); i++)
		if (ctx->rsvd[i])
			return false;
	return !ctx->sent && !ctx->waiting;
}

/* A promise must not exceed the limit of the same node, as it will be */
static bool ubp_tm_promise_ok(const struct ubp_tm_node *n, const struct uboe_tm_ctx *ctx, u32 mask)
{
	u32 peak = mask & UBOE_TMM_PEAK ? le32_to_cpu(ctx->peak_kbps) : n->peak_kbps;
	u32 committed = mask & UBOE_TMM_COMMITTED ? le32_to_cpu(ctx->committed_kbps) :
						    n->committed_kbps;

	return !peak || committed <= peak;
}

static void ubp_tm_set(struct ubp_tm_node *n, const struct uboe_tm_ctx *ctx, u32 mask)
{
	if (mask & UBOE_TMM_PRIO)
		n->prio = ctx->prio;
	if (mask & UBOE_TMM_WEIGHT)
		n->weight = le16_to_cpu(ctx->weight);
	if (mask & UBOE_TMM_PEAK) {
		n->peak_kbps = le32_to_cpu(ctx->peak_kbps);
		n->peak_burst = le32_to_cpu(ctx->peak_burst);
		ubp_tm_bucket_set(&n->peak, n->peak_kbps, n->peak_burst);
	}
	if (mask & UBOE_TMM_COMMITTED) {
		n->committed_kbps = le32_to_cpu(ctx->committed_kbps);
		n->committed_burst = le32_to_cpu(ctx->committed_burst);
		ubp_tm_bucket_set(&n->committed, n->committed_kbps, n->committed_burst);
	}
	if (mask & UBOE_TMM_SL_VL)
		memcpy(n->sl_vl, ctx->sl_vl, sizeof(n->sl_vl));
}

static void ubp_tm_wake_jetty(struct ubp_tm_flow *f)
{
	struct ubp_jetty *j = (struct ubp_jetty *)f->home;

	j->dev->ops->engine_later(j);
}

/* The first node brings the tree */
static int ubp_tm_port_create(struct ubp_dev *dev, const struct uboe_tm_ctx *ctx)
{
	struct ubp_tm *tm;

	if (dev->tm)
		return -EEXIST;
	if (ctx->parent || ctx->vl)
		return -EINVAL;
	tm = (struct ubp_tm *)dev->ops->zalloc(dev, sizeof(*tm));
	if (!tm)
		return -ENOMEM;
	tm->dev = dev;
	tm->wake = ubp_tm_wake_jetty;
	ubp_lock_init(&tm->lock);
	ubp_tm_set(ubp_tm_port(tm), ctx, UBOE_TMM_PEAK);
	ubp_tm_port(tm)->level = UBOE_TML_PORT;
	ubp_tm_port(tm)->at = UBP_TM_NEVER;
	dev->tm = tm;
	return 0;
}

/* The queue set of a function for a VL, or NULL */
static struct ubp_tm_node *ubp_tm_qset_of(const struct ubp_tm_node *fn, u32 vl)
{
	u32 left;

	for (left = fn->kids; left; left &= left - 1)
		if (fn->kid[ubp_ctz32(left)]->vl == vl)
			return fn->kid[ubp_ctz32(left)];
	return NULL;
}

static int ubp_tm_node_create(struct ubp_dev *dev, u32 level, u32 number,
			      const struct uboe_tm_ctx *ctx)
{
	struct ubp_tm_node *n = ubp_tm_node(dev, level, number);
	struct ubp_tm_node *up = ubp_tm_find(dev, level - 1, le32_to_cpu(ctx->parent));
	u32 spare;

	if (!up)
		return -ENOENT;
	if (!n || ctx->vl >= (level == UBOE_TML_QSET ? UBP_TM_VLS : 1u) ||
	    !ubp_tm_promise_ok(n, ctx, ubp_tm_rules[level].mask))
		return -EINVAL;
	if (n->level || (level == UBOE_TML_QSET && ubp_tm_qset_of(up, ctx->vl)))
		return -EEXIST;
	/* ~0 << 32 is not defined */
	spare = ~up->kids & (~0u >> (32 - ubp_tm_rules[level - 1].fan));
	if (!spare)
		return -ENOSPC;
	memset(n, 0, sizeof(*n));
	ubp_tm_set(n, ctx, ubp_tm_rules[level].mask);
	n->level = (u8)level;
	n->vl = ctx->vl;
	n->parent = up;
	n->slot = (u8)ubp_ctz32(spare);
	n->at = UBP_TM_NEVER;
	ubp_lock(&dev->tm->lock);
	up->kid[n->slot] = n;
	up->kids |= 1u << n->slot;
	ubp_unlock(&dev->tm->lock);
	return 0;
}

static int ubp_tm_bind(struct ubp_dev *dev, struct ubp_tm_flow *f, u32 jetty,
		       const struct uboe_tm_ctx *ctx)
{
	struct ubp_jetty *j = ubp_jetty_find(dev, jetty);
	struct ubp_tm_node *fn;
	int err = 0;

	if (!j)
		return -ENOENT;
	if (j->type == UBOE_JETTY_RAW || (j->type != UBOE_JETTY_RC && !dev->ops->jetty_timer))
		return -EOPNOTSUPP;
	f->home = j;
	if (le32_to_cpu(ctx->parent) != UBOE_TM_NO_PARENT) {
		fn = ubp_tm_find(dev, UBOE_TML_FUNCTION, le32_to_cpu(ctx->parent));
		f->queue = fn ? ubp_tm_qset_of(fn, fn->sl_vl[j->sl]) : NULL;
		if (!f->queue)
			return -ENOENT;
		f->tm = dev->tm;
	}
	ubp_lock(&j->lock);
	if (j->dead)
		err = -ENOENT;
	else if (j->tm)
		err = -EEXIST;
	else
		j->tm = f;
	ubp_unlock(&j->lock);
	if (!err && f->queue)
		f->queue->users++;
	return err;
}

static int ubp_tm_jetty_create(struct ubp_dev *dev, u32 jetty, const struct uboe_tm_ctx *ctx)
{
	struct ubp_tm_flow *f;
	int err;

	if (ctx->vl)
		return -EINVAL;
	f = (struct ubp_tm_flow *)dev->ops->zalloc(dev, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->own_kbps = le32_to_cpu(ctx->peak_kbps);
	f->own_burst = le32_to_cpu(ctx->peak_burst);
	ubp_tm_bucket_set(&f->own, f->own_kbps, f->own_burst);
	f->when = UBP_TM_NEVER;
	err = ubp_tm_bind(dev, f, jetty, ctx);
	if (err)
		dev->ops->free_later(dev, f);
	return err;
}

int ubp_tm_create(struct ubp_dev *dev, u32 tag, const struct uboe_tm_ctx *ctx)
{
	u32 level = UBOE_TM_TAG_LEVEL(tag), number = UBOE_TM_TAG_NUMBER(tag);
	u32 mask = UBOE_TMM_PEAK;

	if (level < UBOE_TML_PORT || level > UBOE_TML_JETTY)
		return -EINVAL;
	if (level == UBOE_TML_QUEUE)
		return -EOPNOTSUPP; /* it comes with its set */
	if (level != UBOE_TML_JETTY)
		mask = ubp_tm_rules[level].mask;
	if (!ubp_tm_ctx_ok(ctx, mask) || !ubp_tm_rest_ok(ctx, mask))
		return -EINVAL;
	if (level == UBOE_TML_JETTY)
		return ubp_tm_jetty_create(dev, number, ctx);
	if (level == UBOE_TML_PORT)
		return number ? -EINVAL : ubp_tm_port_create(dev, ctx);
	return ubp_tm_node_create(dev, level, number, ctx);
}

static int ubp_tm_jetty_modify(struct ubp_dev *dev, u32 jetty, const struct uboe_tm_ctx *ctx,
			       u32 mask)
{
	struct ubp_jetty *j = ubp_jetty_find(dev, jetty);
	int err = 0;

	if (mask & ~UBOE_TMM_PEAK)
		return -EOPNOTSUPP;
	if (!ubp_tm_ctx_ok(ctx, mask))
		return -EINVAL;
	if (!j)
		return -ENOENT;
	ubp_lock(&j->lock);
	if (!j->tm) {
		err = -ENOENT;
	} else if (mask) {
		j->tm->own_kbps = le32_to_cpu(ctx->peak_kbps);
		j->tm->own_burst = le32_to_cpu(ctx->peak_burst);
		ubp_tm_bucket_set(&j->tm->own, j->tm->own_kbps, j->tm->own_burst);
		dev->ops->engine_later(j);
	}
	ubp_unlock(&j->lock);
	return err;
}

int ubp_tm_modify(struct ubp_dev *dev, u32 tag, const struct uboe_tm_ctx *ctx, u32 mask)
{
	u32 level = UBOE_TM_TAG_LEVEL(tag), number = UBOE_TM_TAG_NUMBER(tag);
	struct ubp_tm_node *n;

	if (level == UBOE_TML_JETTY)
		return ubp_tm_jetty_modify(dev, number, ctx, mask);
	n = ubp_tm_find(dev, level, number);
	if (!n)
		return -ENOENT;
	if (mask & ~(u32)ubp_tm_rules[level].mask)
		return -EOPNOTSUPP;
	if (!ubp_tm_ctx_ok(ctx, mask) || !ubp_tm_promise_ok(n, ctx, mask))
		return -EINVAL;
	ubp_lock(&dev->tm->lock);
	ubp_tm_set(n, ctx, mask);
	ubp_tm_update(n);
	ubp_tm_pass(dev->tm);
	ubp_unlock(&dev->tm->lock);
	return 0;
}

static int ubp_tm_jetty_query(struct ubp_dev *dev, u32 jetty, struct uboe_tm_ctx *ctx)
{
	struct ubp_jetty *j = ubp_jetty_find(dev, jetty);
	int err = 0;

	if (!j)
		return -ENOENT;
	ubp_lock(&j->lock);
	if (j->tm) {
		ctx->parent = cpu_to_le32(UBOE_TM_NO_PARENT);
		if (j->tm->queue)
			ctx->parent = cpu_to_le32((u32)(j->tm->queue->parent -
							ubp_tm_node(dev, UBOE_TML_FUNCTION, 0)));
		ctx->vl = j->tm->queue ? j->tm->queue->vl : 0;
		ctx->peak_kbps = cpu_to_le32(j->tm->own_kbps);
		ctx->peak_burst = cpu_to_le32(j->tm->own_burst);
		ctx->sent = cpu_to_le64(j->tm->sent);
		ctx->waiting = cpu_to_le32(j->tm->when != UBP_TM_NEVER);
	} else {
		err = -ENOENT;
	}
	ubp_unlock(&j->lock);
	return err;
}

static u32 ubp_tm_count_waiting(const struct ubp_tm_node *n)
{
	const struct ubp_tm_flow *f = n->head;
	u32 left, count = 0;

	for (left = n->waiting; left; left &= left - 1)
		count++;
	if (f) {
		do {
			count++;
			f = f->next;
		} while (f != n->head);
	}
	return count;
}

int ubp_tm_query(struct ubp_dev *dev, u32 tag, struct uboe_tm_ctx *ctx)
{
	u32 level = UBOE_TM_TAG_LEVEL(tag), number = UBOE_TM_TAG_NUMBER(tag);
	struct ubp_tm_node *n, *first;

	memset(ctx, 0, sizeof(*ctx));
	if (level == UBOE_TML_JETTY)
		return ubp_tm_jetty_query(dev, number, ctx);
	n = ubp_tm_find(dev, level == UBOE_TML_QUEUE ? UBOE_TML_QSET : level, number);
	if (!n)
		return -ENOENT;
	ubp_lock(&dev->tm->lock);
	ctx->sent = cpu_to_le64(n->sent);
	ctx->waiting = cpu_to_le32(ubp_tm_count_waiting(n));
	ubp_unlock(&dev->tm->lock);
	if (level == UBOE_TML_QUEUE) {
		ctx->parent = cpu_to_le32(number);
		return 0;
	}
	ctx->prio = n->prio;
	ctx->vl = n->vl;
	ctx->weight = cpu_to_le16(n->weight);
	first = ubp_tm_node(dev, level - 1, 0);
	if (first)
		ctx->parent = cpu_to_le32((u32)(n->parent - first));
	ctx->peak_kbps = cpu_to_le32(n->peak_kbps);
	ctx->peak_burst = cpu_to_le32(n->peak_burst);
	ctx->committed_kbps = cpu_to_le32(n->committed_kbps);
	ctx->committed_burst = cpu_to_le32(n->committed_burst);
	memcpy(ctx->sl_vl, n->sl_vl, sizeof(ctx->sl_vl));
	return 0;
}

/* Lock of the jetty held */
void ubp_tm_unbind(struct ubp_jetty *j)
{
	struct ubp_tm_flow *f = j->tm;

	if (!f)
		return;
	ubp_tm_leave(f);
	if (f->queue)
		f->queue->users--;
	j->tm = NULL;
	j->dev->ops->free_later(j->dev, f);
}

static int ubp_tm_jetty_destroy(struct ubp_dev *dev, u32 jetty)
{
	struct ubp_jetty *j = ubp_jetty_find(dev, jetty);
	int err = -ENOENT;

	if (!j)
		return -ENOENT;
	ubp_lock(&j->lock);
	if (j->tm) {
		ubp_tm_unbind(j);
		dev->ops->engine_later(j); /* it may have waited */
		err = 0;
	}
	ubp_unlock(&j->lock);
	return err;
}

int ubp_tm_destroy(struct ubp_dev *dev, u32 tag)
{
	u32 level = UBOE_TM_TAG_LEVEL(tag), number = UBOE_TM_TAG_NUMBER(tag);
	struct ubp_tm_node *n;

	if (level == UBOE_TML_JETTY)
		return ubp_tm_jetty_destroy(dev, number);
	n = ubp_tm_find(dev, level, number);
	if (!n)
		return -ENOENT;
	if (n->kids || n->users)
		return -EBUSY;
	if (level == UBOE_TML_PORT) {
		ubp_tm_exit(dev);
		return 0;
	}
	ubp_lock(&dev->tm->lock);
	n->parent->kids &= ~(1u << n->slot);
	n->level = 0;
	ubp_unlock(&dev->tm->lock);
	return 0;
}

void ubp_tm_exit(struct ubp_dev *dev)
{
	if (dev->tm)
		dev->ops->free_later(dev, dev->tm);
	dev->tm = NULL;
}
