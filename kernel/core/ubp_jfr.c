// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ubp_rm.h"

/* It may be a target itself */
#define UBP_JFR_DIRECT (UBOE_JFR_UM | UBOE_JFR_RM)

static bool ubp_jfr_map(struct ubp_dev *dev, struct ubp_jfr *jfr, const struct uboe_jfr_ctx *ctx)
{
	u64 depth = 1ull << ctx->shift;

	jfr->ring = (const struct uboe_sge *)ubp_ring_map(
		dev, le64_to_cpu(ctx->base), (depth * UBOE_SGE_SIZE) << ctx->sge_shift);
	jfr->idx =
		(const __le32 *)ubp_ring_map(dev, le64_to_cpu(ctx->idx), depth * sizeof(*jfr->idx));
	jfr->rec =
		(struct uboe_jfr_rec *)ubp_ring_map(dev, le64_to_cpu(ctx->rec), sizeof(*jfr->rec));
	return jfr->ring && jfr->idx && jfr->rec;
}

int ubp_jfr_create(struct ubp_dev *dev, u32 id, const struct uboe_jfr_ctx *ctx)
{
	size_t size = sizeof(struct ubp_jfr);
	struct ubp_jfr *jfr;
	int err;

	if (ctx->shift < 6 || ctx->shift > 15 || ctx->sge_shift > 2 ||
	    (ctx->buf_shift && ctx->buf_shift != UBOE_JFR_BUF_2K &&
	     ctx->buf_shift != UBOE_JFR_BUF_4K) ||
	    ctx->flags & ~(UBP_JFR_DIRECT | UBOE_JFR_TOKEN) ||
	    le32_to_cpu(ctx->limit) >= 1u << ctx->shift)
		return -EINVAL;
	if (ctx->buf_shift)
		size += sizeof(jfr->back[0]) << ctx->shift;
	jfr = (struct ubp_jfr *)dev->ops->zalloc(dev, size);
	if (!jfr)
		return -ENOMEM;
	jfr->dev = dev;
	jfr->id = id;
	jfr->shift = ctx->shift;
	jfr->mask = (1u << ctx->shift) - 1;
	jfr->sge_shift = ctx->sge_shift;
	jfr->pd = le32_to_cpu(ctx->pd);
	jfr->limit = le32_to_cpu(ctx->limit);
	jfr->buf_shift = ctx->buf_shift;
	jfr->flags = ctx->flags;
	jfr->token = le32_to_cpu(ctx->token);
	jfr->user = le64_to_cpu(ctx->user_data);
	ubp_lock_init(&jfr->lock);
	ubp_lock_init(&jfr->target_lock);
	if (jfr->flags & UBP_JFR_DIRECT)
		jfr->jfc = (struct ubp_jfc *)ubp_table_get(&dev->jfc, le32_to_cpu(ctx->jfcn));
	err = -EINVAL;
	if (ubp_jfr_map(dev, jfr, ctx) && (jfr->jfc || !(jfr->flags & UBP_JFR_DIRECT)))
		err = ubp_table_add(dev, &dev->jfr, id, jfr);
	if (err)
		dev->ops->free_later(dev, jfr);
	else if (jfr->jfc)
		jfr->jfc->users++;
	return err;
}

int ubp_jfr_modify(struct ubp_dev *dev, u32 id, const struct uboe_jfr_ctx *ctx, u32 mask)
{
	struct ubp_jfr *jfr = (struct ubp_jfr *)ubp_table_get(&dev->jfr, id);

	if (!jfr)
		return -ENOENT;
	if (mask & ~UBOE_RM_LIMIT)
		return -EOPNOTSUPP;
	if (le32_to_cpu(ctx->limit) > jfr->mask)
		return -EINVAL;
	ubp_lock(&jfr->lock);
	jfr->limit = le32_to_cpu(ctx->limit);
	ubp_unlock(&jfr->lock);
	return 0;
}

int ubp_jfr_query(struct ubp_dev *dev, u32 id, struct uboe_jfr_ctx *ctx)
{
	struct ubp_jfr *jfr = (struct ubp_jfr *)ubp_table_get(&dev->jfr, id);

	if (!jfr)
		return -ENOENT;
	memset(ctx, 0, sizeof(*ctx));
	ctx->shift = (u8)jfr->shift;
	ctx->sge_shift = (u8)jfr->sge_shift;
	ctx->flags = jfr->flags;
	ctx->jfcn = cpu_to_le32(jfr->jfc ? jfr->jfc->id : 0);
	ctx->pd = cpu_to_le32(jfr->pd);
	ctx->limit = cpu_to_le32(jfr->limit);
	ctx->ci = cpu_to_le32(jfr->ci - jfr->nback);
	ctx->buf_shift = (u8)jfr->buf_shift;
	return 0;
}

int ubp_jfr_destroy(struct ubp_dev *dev, u32 id)
{
	struct ubp_jfr *jfr = (struct ubp_jfr *)ubp_table_get(&dev->jfr, id);

	if (!jfr)
		return -ENOENT;
	if (jfr->users)
		return -EBUSY;
	ubp_table_del(&dev->jfr, id);
	if (jfr->jfc) {
		ubp_lock(&jfr->target_lock); /* whoever found it before is through then */
		jfr->gone = true;
		ubp_unlock(&jfr->target_lock);
		ubp_share_forget(dev, jfr);
		jfr->jfc->users--;
	}
	dev->ops->free_later(dev, jfr);
	return 0;
}

/* Copy a slot once; what user space writes afterwards no longer counts. Its bytes */
static u64 ubp_rqe_add(const struct ubp_jfr *jfr, u32 slot, struct ubp_rqe *rqe)
{
	const struct uboe_sge *s = jfr->ring + ((size_t)slot << jfr->sge_shift);
	u32 i, n = 1u << jfr->sge_shift;
	u64 total = 0;

	for (i = 0; i < n; i++) {
		struct ubp_sge *d = &rqe->sge[rqe->nsge];

		d->len = le32_to_cpu(READ_ONCE(s[i].len));
		d->token = le32_to_cpu(READ_ONCE(s[i].token));
		d->va = le64_to_cpu(READ_ONCE(s[i].va));
		if (!d->len)
			continue;
		total += d->len;
		rqe->nsge++;
	}
	rqe->slot[rqe->n++] = slot;
	rqe->total += total;
	return total;
}

static void ubp_rqe_init(struct ubp_rqe *rqe)
{
	rqe->n = 0;
	rqe->slot[0] = 0;
	rqe->nsge = 0;
	rqe->total = 0;
}

/* Receives that are there; a producer index that is nonsense counts for none */
static u32 ubp_jfr_posted(const struct ubp_jfr *jfr)
{
	u16 n = (u16)(le32_to_cpu(smp_load_acquire(&jfr->rec->pi)) - jfr->ci);

	return jfr->nback + (n > jfr->mask + 1 ? 0 : n);
}

static enum ubp_take ubp_jfr_take_one(struct ubp_jfr *jfr, u64 bytes, struct ubp_rqe *rqe)
{
	u32 slot = le32_to_cpu(READ_ONCE(jfr->idx[jfr->ci & jfr->mask]));
	enum ubp_take ret = UBP_TAKE_BAD;

	if (slot <= jfr->mask) {
		if (bytes > ubp_rqe_add(jfr, slot, rqe))
			return UBP_TAKE_SHORT;
		ret = UBP_TAKE_OK;
	}
	jfr->ci++;
	return ret;
}

/* All that are needed, or none of them */
static enum ubp_take ubp_jfr_take_bufs(struct ubp_jfr *jfr, u64 bytes, u32 posted,
				       struct ubp_rqe *rqe)
{
	u64 size = 1ull << jfr->buf_shift;
	u32 need, slot;

	if (bytes > size * UBOE_MAX_RQES)
		return UBP_TAKE_SHORT;
	need = bytes ? (u32)((bytes + size - 1) >> jfr->buf_shift) : 1;
	if (need > rqe->n + posted)
		return UBP_TAKE_NONE;
	rqe->buf_shift = jfr->buf_shift;
	while (rqe->n < need) {
		if (jfr->nback)
			slot = jfr->back[--jfr->nback];
		else
			slot = le32_to_cpu(READ_ONCE(jfr->idx[jfr->ci++ & jfr->mask]));
		if (slot > jfr->mask || ubp_rqe_add(jfr, slot, rqe) != size)
			return UBP_TAKE_BAD;
	}
	return UBP_TAKE_OK;
}

enum ubp_take ubp_jfr_take_more(struct ubp_jfr *jfr, u64 bytes, struct ubp_rqe *rqe)
{
	enum ubp_take ret = UBP_TAKE_NONE;
	bool limit = false;
	u32 posted, ci, nback;

	ubp_lock_inner(&jfr->lock);
	ci = jfr->ci;
	nback = jfr->nback;
	posted = ubp_jfr_posted(jfr);
	if (jfr->buf_shift)
		ret = ubp_jfr_take_bufs(jfr, bytes, posted, rqe);
	else if (posted)
		ret = ubp_jfr_take_one(jfr, bytes, rqe);
	posted -= jfr->ci - ci + nback - jfr->nback;
	if (jfr->limit && (ret == UBP_TAKE_OK || ret == UBP_TAKE_BAD) && posted < jfr->limit) {
		jfr->limit = 0; /* one event for each arming */
		limit = true;
	}
	ubp_unlock_inner(&jfr->lock);
	if (limit)
		jfr->dev->ops->event(jfr->dev, UBOE_EV_JFR_LIMIT, 0, jfr->id);
	return ret;
}

enum ubp_take ubp_jfr_take_for(struct ubp_jfr *jfr, u32 bytes, struct ubp_rqe *rqe)
{
	ubp_rqe_init(rqe);
	return ubp_jfr_take_more(jfr, bytes, rqe);
}

enum ubp_take ubp_jfr_take(struct ubp_jfr *jfr, struct ubp_rqe *rqe)
{
	return ubp_jfr_take_for(jfr, 0, rqe);
}

void ubp_jfr_give_back(struct ubp_jfr *jfr, struct ubp_rqe *rqe)
{
	ubp_lock_inner(&jfr->lock);
	/* a ring that names a slot twice may bring more than there are */
	for (; rqe->n && jfr->nback <= jfr->mask; jfr->nback++)
		jfr->back[jfr->nback] = (u16)rqe->slot[--rqe->n];
	ubp_unlock_inner(&jfr->lock);
	ubp_rqe_init(rqe);
}
