// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ubp_rm.h"

/* It may be a target itself */
#define UBP_JFR_DIRECT (UBOE_JFR_UM | UBOE_JFR_RM)

static bool ubp_jfr_map(struct ubp_dev *dev, struct ubp_jfr *jfr, const struct uboe_jfr_ctx *ctx)
{
	u64 depth = 1ull << ctx->shift;

	jfr->ring = (const struct uboe_sge *)dev->ops->bus_map(
		dev, le64_to_cpu(ctx->base), (depth * UBOE_SGE_SIZE) << ctx->sge_shift);
	jfr->idx = (const __le32 *)dev->ops->bus_map(dev, le64_to_cpu(ctx->idx),
						     depth * sizeof(*jfr->idx));
	jfr->rec = (struct uboe_jfr_rec *)dev->ops->bus_map(dev, le64_to_cpu(ctx->rec),
							    sizeof(*jfr->rec));
	return jfr->ring && jfr->idx && jfr->rec;
}

int ubp_jfr_create(struct ubp_dev *dev, u32 id, const struct uboe_jfr_ctx *ctx)
{
	struct ubp_jfr *jfr;
	int err;

	if (ctx->shift < 6 || ctx->shift > 15 || ctx->sge_shift > 2 ||
	    ctx->flags & ~(UBP_JFR_DIRECT | UBOE_JFR_TOKEN) ||
	    le32_to_cpu(ctx->limit) >= 1u << ctx->shift)
		return -EINVAL;
	jfr = (struct ubp_jfr *)dev->ops->zalloc(dev, sizeof(*jfr));
	if (!jfr)
		return -ENOMEM;
	jfr->dev = dev;
	jfr->id = id;
	jfr->shift = ctx->shift;
	jfr->mask = (1u << ctx->shift) - 1;
	jfr->sge_shift = ctx->sge_shift;
	jfr->pd = le32_to_cpu(ctx->pd);
	jfr->limit = le32_to_cpu(ctx->limit);
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
	ctx->ci = cpu_to_le32(jfr->ci);
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
		jfr->dead = true;
		ubp_unlock(&jfr->target_lock);
		ubp_share_forget(dev, NULL, jfr);
		jfr->jfc->users--;
	}
	dev->ops->free_later(dev, jfr);
	return 0;
}

/* Copy a slot once; what user space writes afterwards no longer counts. */
static void ubp_rqe_copy(const struct ubp_jfr *jfr, u32 slot, struct ubp_rqe *rqe)
{
	const struct uboe_sge *s = jfr->ring + ((size_t)slot << jfr->sge_shift);
	u32 i, n = 1u << jfr->sge_shift;

	rqe->slot = slot;
	rqe->nsge = 0;
	rqe->total = 0;
	for (i = 0; i < n; i++) {
		struct ubp_sge *d = &rqe->sge[rqe->nsge];

		d->len = le32_to_cpu(READ_ONCE(s[i].len));
		d->token = le32_to_cpu(READ_ONCE(s[i].token));
		d->va = le64_to_cpu(READ_ONCE(s[i].va));
		if (!d->len)
			continue;
		rqe->total += d->len;
		rqe->nsge++;
	}
}

enum ubp_take ubp_jfr_take(struct ubp_jfr *jfr, struct ubp_rqe *rqe)
{
	return ubp_jfr_take_for(jfr, 0, rqe);
}

enum ubp_take ubp_jfr_take_for(struct ubp_jfr *jfr, u32 bytes, struct ubp_rqe *rqe)
{
	enum ubp_take ret = UBP_TAKE_OK;
	bool limit = false;
	u16 avail;
	u32 slot;

	ubp_lock_inner(&jfr->lock);
	avail = (u16)(le32_to_cpu(smp_load_acquire(&jfr->rec->pi)) - jfr->ci);
	if (!avail || avail > jfr->mask + 1) {
		ubp_unlock_inner(&jfr->lock);
		return UBP_TAKE_NONE;
	}
	slot = le32_to_cpu(READ_ONCE(jfr->idx[jfr->ci & jfr->mask]));
	if (slot <= jfr->mask) {
		ubp_rqe_copy(jfr, slot, rqe);
		if (bytes > rqe->total) {
			ubp_unlock_inner(&jfr->lock);
			return UBP_TAKE_SHORT;
		}
	} else {
		memset(rqe, 0, sizeof(*rqe));
		ret = UBP_TAKE_BAD;
	}
	jfr->ci++;
	if (jfr->limit && avail - 1u < jfr->limit) {
		jfr->limit = 0; /* one event for each arming */
		limit = true;
	}
	ubp_unlock_inner(&jfr->lock);
	if (limit)
		jfr->dev->ops->event(jfr->dev, UBOE_EV_JFR_LIMIT, 0, jfr->id);
	return ret;
}
