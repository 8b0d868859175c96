// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ubp_obj.h"

static u32 ubp_log2_ok(u32 shift, u32 min, u32 max)
{
	return (1u << shift) >= min && (1u << shift) <= max;
}

int ubp_jfc_create(struct ubp_dev *dev, u32 id, const struct uboe_jfc_ctx *ctx)
{
	struct ubp_jfc *jfc;
	int err;

	if (ctx->shift > 20 || !ubp_log2_ok(ctx->shift, UBOE_MIN_JFC_DEPTH, UBOE_MAX_JFC_DEPTH))
		return -EINVAL;
	if (ctx->flags || ctx->moderate_count || ctx->moderate_period)
		return -EOPNOTSUPP;
	jfc = (struct ubp_jfc *)dev->ops->zalloc(dev, sizeof(*jfc));
	if (!jfc)
		return -ENOMEM;
	jfc->dev = dev;
	jfc->id = id;
	jfc->shift = ctx->shift;
	jfc->mask = (1u << ctx->shift) - 1;
	ubp_lock_init(&jfc->lock);
	jfc->ring = (struct uboe_cqe *)dev->ops->bus_map(
		dev, le64_to_cpu(ctx->base), (u64)sizeof(struct uboe_cqe) << ctx->shift);
	jfc->rec = (struct uboe_jfc_rec *)dev->ops->bus_map(dev, le64_to_cpu(ctx->rec),
							    sizeof(*jfc->rec));
	err = jfc->ring && jfc->rec ? ubp_table_add(dev, &dev->jfc, id, jfc) : -EINVAL;
	if (err)
		dev->ops->free_later(dev, jfc);
	return err;
}

int ubp_jfc_query(struct ubp_dev *dev, u32 id, struct uboe_jfc_ctx *ctx)
{
	struct ubp_jfc *jfc = (struct ubp_jfc *)ubp_table_get(&dev->jfc, id);

	if (!jfc)
		return -ENOENT;
	memset(ctx, 0, sizeof(*ctx));
	ctx->shift = (u8)jfc->shift;
	ctx->state = jfc->overflow;
	ctx->pi = cpu_to_le32(jfc->pi);
	return 0;
}

int ubp_jfc_destroy(struct ubp_dev *dev, u32 id)
{
	struct ubp_jfc *jfc = (struct ubp_jfc *)ubp_table_get(&dev->jfc, id);

	if (!jfc)
		return -ENOENT;
	if (jfc->users)
		return -EBUSY;
	ubp_table_del(&dev->jfc, id);
	dev->ops->free_later(dev, jfc);
	return 0;
}

static void ubp_cqe_fill(struct uboe_cqe *e, const struct ubp_jetty *j, const struct ubp_comp *c)
{
	u32 id = j ? j->id : c->jfr->id;
	u64 user = j ? j->user : c->jfr->user;

	e->w1 = cpu_to_le32(c->entry | id << 16);
	e->w2 = cpu_to_le32((id >> 16) & UBOE_CQE_ID_HI);
	e->tpn = 0;
	if (c->rmt_eid) {
		e->w2 |= cpu_to_le32(UBP_PUT(UBOE_CQE_RMT_ID, c->rmt_id));
		e->tpn = cpu_to_le32(c->tpn);
		memcpy(e->rmt_eid, c->rmt_eid, sizeof(e->rmt_eid));
	} else if (c->recv && j && j->flags & UBOE_JETTY_NATIVE) {
		ubp_jetty_peer(j, e);
	}
	e->byte_cnt = cpu_to_le32(c->bytes);
	e->user_lo = cpu_to_le32((u32)user);
	e->user_hi = cpu_to_le32((u32)(user >> 32));
	e->imm_lo = cpu_to_le32((u32)c->imm);
	e->imm_hi = cpu_to_le32((u32)(c->imm >> 32));
}

/* One event for each new arm word; see struct uboe_jfc_rec. */
static bool ubp_jfc_fires(struct ubp_jfc *jfc, const struct ubp_comp *c)
{
	u32 arm = le32_to_cpu(READ_ONCE(jfc->rec->arm));

	if (likely(arm == jfc->arm_seen) || (arm & 3) == UBOE_ARM_NONE)
		return false;
	if ((arm & 3) == UBOE_ARM_SOLICITED && !c->solicited && !c->status)
		return false;
	jfc->arm_seen = arm;
	return true;
}

bool ubp_jfc_post(struct ubp_jfc *jfc, const struct ubp_jetty *jetty, const struct ubp_comp *c)
{
	struct uboe_cqe *e;
	bool fire, full;
	u32 w0;

	ubp_lock_inner(&jfc->lock);
	/* the consumer index is the user's: a wrong one only hurts that user */
	full = jfc->pi - le32_to_cpu(READ_ONCE(jfc->rec->ci)) > jfc->mask;
	if (unlikely(full || jfc->overflow)) {
		full = !jfc->overflow;
		jfc->overflow = true;
		ubp_unlock_inner(&jfc->lock);
		if (full) {
			ubp_stat(jfc->dev, UBP_S_CQ_OVERFLOWS);
			jfc->dev->ops->event(jfc->dev, UBOE_EV_JETTY, UBOE_EV_SUB_JFC, jfc->id);
		}
		return false;
	}
	e = &jfc->ring[jfc->pi & jfc->mask];
	ubp_cqe_fill(e, jetty, c);
	w0 = (c->recv ? UBOE_CQE_RECV : 0) | (c->flush_done ? UBOE_CQE_FLUSH_DONE : 0) |
	     (jetty && !(jetty->flags & UBOE_JETTY_SEND_ONLY) ? UBOE_CQE_JETTY : 0) |
	     UBP_PUT(UBOE_CQE_OPCODE, (u32)c->opcode) | UBP_PUT(UBOE_CQE_SUBSTATUS, (u32)c->sub) |
	     UBP_PUT(UBOE_CQE_STATUS, (u32)c->status);
	if (!(jfc->pi >> jfc->shift & 1))
		w0 |= UBOE_CQE_OWNER;
	smp_store_release(&e->w0, cpu_to_le32(w0));
	jfc->pi++;
	smp_mb(); /* the CQE before the arm word, pairs with the consumer's arming */
	fire = ubp_jfc_fires(jfc, c);
	ubp_unlock_inner(&jfc->lock);
	if (fire)
		jfc->dev->ops->jfc_event(jfc);
	return true;
}

void *ubp_jfc_home(const struct ubp_jfc *jfc)
{
	return jfc->home;
}

u32 ubp_jfc_id(const struct ubp_jfc *jfc)
{
	return jfc->id;
}
