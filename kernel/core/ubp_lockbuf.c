// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Lock buffers: which jetties have a place in them, and where. */
#include "ubp_lockbuf.h"

/* The soft device has one function */
#define UBP_FE 0u

static const char *const ubp_lockbuf_names[UBP_LB_MAX] = {
	[UBP_LB_OK] = "ok",
	[UBP_LB_RANGE] = "jetty_range",
	[UBP_LB_SHIFT] = "bb_shift",
	[UBP_LB_NO_FE] = "no_function_enabled",
	[UBP_LB_FE] = "start_of_disabled_function",
	[UBP_LB_CAPACITY] = "capacity",
	[UBP_LB_OVERLAP] = "functions_overlap",
	[UBP_LB_OTHER] = "jetties_of_other_buffer",
	[UBP_LB_RESERVED] = "reserved",
};

static const int ubp_lockbuf_errno[UBP_LB_MAX] = {
	[UBP_LB_RANGE] = -EINVAL, [UBP_LB_SHIFT] = -EINVAL,    [UBP_LB_NO_FE] = -EINVAL,
	[UBP_LB_FE] = -EINVAL,	  [UBP_LB_CAPACITY] = -ENOSPC, [UBP_LB_OVERLAP] = -EEXIST,
	[UBP_LB_OTHER] = -EEXIST, [UBP_LB_RESERVED] = -EINVAL,
};

const char *ubp_lockbuf_err_name(u32 err)
{
	return err < UBP_LB_MAX ? ubp_lockbuf_names[err] : NULL;
}

/* All functions have the same range, each its own blocks */
static enum ubp_lockbuf_err ubp_lockbuf_check_fes(const struct ubp_lockbuf *b)
{
	u64 size = ((u64)b->end_jetty - b->start_jetty + 1) << b->bb_shift;
	u32 i, k;

	for (i = 0; i < UBP_LOCKBUF_FES; i++) {
		if (!(b->fe_enable >> i & 1)) {
			if (b->fe_start[i])
				return UBP_LB_FE;
			continue;
		}
		if (b->fe_start[i] + size > b->bbs)
			return UBP_LB_CAPACITY;
		for (k = 0; k < i; k++)
			if (b->fe_enable >> k & 1 && b->fe_start[i] < b->fe_start[k] + size &&
			    b->fe_start[k] < b->fe_start[i] + size)
				return UBP_LB_OVERLAP;
	}
	return UBP_LB_OK;
}

enum ubp_lockbuf_err ubp_lockbuf_check(const struct ubp_lockbuf *b, const struct ubp_lockbuf *other)
{
	if (b->end_jetty < b->start_jetty || b->end_jetty >= 1u << 20)
		return UBP_LB_RANGE;
	if (b->bb_shift > UBP_LOCKBUF_MAX_SHIFT)
		return UBP_LB_SHIFT;
	if (!b->fe_enable)
		return UBP_LB_NO_FE;
	if (other && b->start_jetty <= other->end_jetty && other->start_jetty <= b->end_jetty)
		return UBP_LB_OTHER;
	return ubp_lockbuf_check_fes(b);
}

bool ubp_lockbuf_has(const struct ubp_lockbuf *b, u32 fe, u32 jetty)
{
	return jetty >= b->start_jetty && jetty <= b->end_jetty && fe < UBP_LOCKBUF_FES &&
	       b->fe_enable >> fe & 1;
}

static enum ubp_lockbuf_err ubp_lockbuf_read(struct ubp_lockbuf *b, u32 tag,
					     const struct uboe_lockbuf_ctx *ctx)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ctx->rsvd); i++)
		if (ctx->rsvd[i])
			return UBP_LB_RESERVED;
	if (ctx->rsvd0[0] || ctx->rsvd0[1] || ctx->rsvd0[2] || ctx->jetties)
		return UBP_LB_RESERVED;
	b->bbs = tag == UBOE_LOCKBUF_WQE ? UBP_LOCKBUF_WQE_BBS : UBP_LOCKBUF_STARS_BBS;
	b->start_jetty = le32_to_cpu(ctx->start_jetty);
	b->end_jetty = le32_to_cpu(ctx->end_jetty);
	b->bb_shift = ctx->bb_shift;
	b->fe_enable = le64_to_cpu(ctx->fe_enable);
	for (i = 0; i < UBP_LOCKBUF_FES; i++)
		b->fe_start[i] = le16_to_cpu(ctx->fe_start[i]);
	return UBP_LB_OK;
}

const char *ubp_lockbufs_wrong(const struct uboe_lockbuf_ctx *ctx)
{
	struct ubp_lockbuf b[UBOE_LOCKBUF_STARS + 1] = {};
	const struct ubp_lockbuf *other = NULL;
	u32 tag, err;

	for (tag = 0; tag <= UBOE_LOCKBUF_STARS; tag++) {
		if (!ctx[tag].end_jetty)
			continue;
		err = ubp_lockbuf_read(&b[tag], tag, &ctx[tag]);
		if (!err)
			err = ubp_lockbuf_check(&b[tag], other);
		if (err)
			return ubp_lockbuf_names[err];
		other = &b[tag];
	}
	return NULL;
}

int ubp_lockbuf_create(struct ubp_dev *dev, u32 tag, const struct uboe_lockbuf_ctx *ctx)
{
	struct ubp_lockbuf *b;
	int err;

	if (tag > UBOE_LOCKBUF_STARS)
		return -EINVAL;
	if (dev->lockbuf[tag])
		return -EEXIST;
	b = (struct ubp_lockbuf *)dev->ops->zalloc(dev, sizeof(*b));
	if (!b)
		return -ENOMEM;
	err = ubp_lockbuf_errno[ubp_lockbuf_read(b, tag, ctx)];
	if (!err)
		err = ubp_lockbuf_errno[ubp_lockbuf_check(b, dev->lockbuf[!tag])];
	if (!err) {
		b->mem = (u8 *)dev->ops->zalloc(dev, (size_t)b->bbs * UBOE_BB);
		err = b->mem ? 0 : -ENOMEM;
	}
	if (err)
		dev->ops->free_later(dev, b);
	else
		dev->lockbuf[tag] = b;
	return err;
}

int ubp_lockbuf_query(struct ubp_dev *dev, u32 tag, struct uboe_lockbuf_ctx *ctx)
{
	const struct ubp_lockbuf *b = tag <= UBOE_LOCKBUF_STARS ? dev->lockbuf[tag] : NULL;
	u32 i;

	if (!b)
		return -ENOENT;
	memset(ctx, 0, sizeof(*ctx));
	ctx->start_jetty = cpu_to_le32(b->start_jetty);
	ctx->end_jetty = cpu_to_le32(b->end_jetty);
	ctx->bb_shift = (u8)b->bb_shift;
	ctx->fe_enable = cpu_to_le64(b->fe_enable);
	for (i = 0; i < UBP_LOCKBUF_FES; i++)
		ctx->fe_start[i] = cpu_to_le16(b->fe_start[i]);
	ctx->jetties = cpu_to_le32(b->users);
	return 0;
}

static void ubp_lockbuf_free(struct ubp_dev *dev, u32 tag)
{
	dev->ops->free_later(dev, dev->lockbuf[tag]->mem);
	dev->ops->free_later(dev, dev->lockbuf[tag]);
	dev->lockbuf[tag] = NULL;
}

int ubp_lockbuf_destroy(struct ubp_dev *dev, u32 tag)
{
	if (tag > UBOE_LOCKBUF_STARS || !dev->lockbuf[tag])
		return -ENOENT;
	if (dev->lockbuf[tag]->users)
		return -EBUSY;
	ubp_lockbuf_free(dev, tag);
	return 0;
}

void ubp_lockbuf_exit(struct ubp_dev *dev)
{
	u32 tag;

	for (tag = 0; tag <= UBOE_LOCKBUF_STARS; tag++)
		if (dev->lockbuf[tag])
			ubp_lockbuf_free(dev, tag);
}

int ubp_lockbuf_join(struct ubp_jetty *j, const struct uboe_jetty_ctx *ctx)
{
	bool wants = j->flags & UBOE_JETTY_LOCKBUF;
	struct ubp_lockbuf *b;
	u32 tag, index;

	for (tag = 0; tag <= UBOE_LOCKBUF_STARS; tag++) {
		b = j->dev->lockbuf[tag];
		if (!b || !ubp_lockbuf_has(b, UBP_FE, j->id))
			continue;
		index = ubp_lockbuf_index(b, UBP_FE, j->id, 0);
		if (!wants || ctx->sq_shift != b->bb_shift || le64_to_cpu(ctx->sq_base) != index)
			return -EINVAL;
		b->users++;
		j->lockbuf = b;
		j->sq = b->mem + (size_t)index * UBOE_BB;
		return 0;
	}
	return wants ? -EINVAL : 0;
}

void ubp_lockbuf_part(struct ubp_jetty *j)
{
	if (j->lockbuf)
		j->lockbuf->users--;
}
