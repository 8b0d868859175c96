// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RC tables: those of jetties, and the settings of each VL (docs/decisions/0028). */
#include "ubp_ta.h"
#include "ubp_tm.h"

#define UBP_RCT_SHIFT_MIN 6u
#define UBP_RCT_SHIFT_MAX 15u

static struct ubp_rct_set *ubp_rct_vl(struct ubp_dev *dev, u32 tag)
{
	u32 vl = tag - UBOE_RCT_TAG_VL(0);

	return vl < UBP_VLS ? &dev->rct[vl] : NULL;
}

static bool ubp_rct_ok(u32 shift, u32 watermark)
{
	return shift >= UBP_RCT_SHIFT_MIN && shift <= UBP_RCT_SHIFT_MAX && watermark <= 1u << shift;
}

struct ubp_rct_set ubp_rct_of_vl(const struct ubp_dev *dev, u32 vl, u8 shift)
{
	struct ubp_rct_set set = dev->rct[vl];

	if (!set.shift)
		set.shift = shift;
	if (!set.watermark)
		set.watermark = 1u << set.shift;
	return set;
}

static u32 ubp_rct_jetty_vl(const struct ubp_jetty *j)
{
	return j->tm && j->tm->queue ? j->tm->queue->vl : j->sl;
}

int ubp_rct_create(struct ubp_dev *dev, u32 id, const struct uboe_rct_ctx *ctx)
{
	struct ubp_jetty *j = ubp_jetty_find(dev, id);
	struct ubp_rct_set set = { ctx->shift, le32_to_cpu(ctx->watermark) };
	struct ubp_rce *rct;

	if (!j)
		return -ENOENT;
	if (le32_to_cpu(ctx->jetty) != id || (!set.shift && set.watermark))
		return -EINVAL;
	if (!set.shift)
		set = ubp_rct_of_vl(dev, ubp_rct_jetty_vl(j), UBP_RCT_SHIFT_MIN);
	if (!ubp_rct_ok(set.shift, set.watermark))
		return -EINVAL;
	if (j->rct)
		return -EEXIST;
	rct = (struct ubp_rce *)dev->ops->zalloc(dev, sizeof(*rct) << set.shift);
	if (!rct)
		return -ENOMEM;
	ubp_lock(&j->lock);
	j->rct_mask = (1u << set.shift) - 1;
	j->rct_mark = set.watermark ? set.watermark : 1u << set.shift;
	j->rct = rct;
	ubp_unlock(&j->lock);
	return 0;
}

/* All is checked before anything is set: a watermark must fit the depth as it will be */
static int ubp_rct_set(struct ubp_rct_set *set, const struct uboe_rct_ctx *ctx, u32 mask)
{
	struct ubp_rct_set to = *set;

	if (mask & UBOE_RCTM_SHIFT)
		to.shift = ctx->shift;
	if (mask & UBOE_RCTM_WATERMARK)
		to.watermark = le32_to_cpu(ctx->watermark);
	if (to.shift ? !ubp_rct_ok(to.shift, to.watermark) : to.watermark)
		return -EINVAL;
	*set = to;
	return 0;
}

int ubp_rct_modify(struct ubp_dev *dev, u32 id, const struct uboe_rct_ctx *ctx, u32 mask)
{
	struct ubp_rct_set *set = ubp_rct_vl(dev, id);
	struct ubp_jetty *j = ubp_jetty_find(dev, id);
	u32 mark = le32_to_cpu(ctx->watermark);
	int err = 0;

	if (mask & ~(UBOE_RCTM_SHIFT | UBOE_RCTM_WATERMARK))
		return -EOPNOTSUPP;
	if (set)
		return ubp_rct_set(set, ctx, mask);
	if (!j)
		return -ENOENT;
	if (mask & UBOE_RCTM_SHIFT)
		return -EOPNOTSUPP;
	ubp_lock(&j->lock);
	if (!j->rct)
		err = -ENOENT;
	else if (mark > j->rct_mask + 1)
		err = -EINVAL;
	else if (mask)
		j->rct_mark = mark ? mark : j->rct_mask + 1;
	ubp_unlock(&j->lock);
	return err;
}

int ubp_rct_query(struct ubp_dev *dev, u32 id, struct uboe_rct_ctx *ctx)
{
	const struct ubp_rct_set *set = ubp_rct_vl(dev, id);
	struct ubp_jetty *j = ubp_jetty_find(dev, id);

	memset(ctx, 0, sizeof(*ctx));
	if (set) {
		ctx->shift = set->shift;
		ctx->watermark = cpu_to_le32(set->watermark);
		return 0;
	}
	if (!j || !j->rct)
		return -ENOENT;
	ctx->jetty = cpu_to_le32(id);
	while ((1u << ctx->shift) <= j->rct_mask)
		ctx->shift++;
	ubp_lock(&j->lock);
	ctx->watermark = cpu_to_le32(j->rct_mark);
	if (j->tp)
		ctx->used = cpu_to_le32(j->tp->rsp.rce_tail - j->tp->rsp.rce_head);
	ubp_unlock(&j->lock);
	return 0;
}

int ubp_rct_destroy(struct ubp_dev *dev, u32 id)
{
	struct ubp_jetty *j = ubp_jetty_find(dev, id);
	struct ubp_rce *rct;
	int err = 0;

	/* a jetty that is gone took its table along */
	if (!j || !j->rct)
		return -ENOENT;
	ubp_lock(&j->lock);
	rct = j->rct;
	if (j->tp && j->tp->state != UBP_TP_DEAD)
		err = -EBUSY;
	else
		j->rct = NULL;
	ubp_unlock(&j->lock);
	if (!err)
		dev->ops->free_later(dev, rct);
	return err;
}
