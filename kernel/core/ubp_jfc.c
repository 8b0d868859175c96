// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ubp_obj.h"

static u32 ubp_log2_ok(u32 shift, u32 min, u32 max)
{
	return (1u << shift) >= min && (1u << shift) <= max;
}

/* Periods that the contract has: 0, and powers of 4 from 4 to 16384 */
static bool ubp_period_ok(u32 us)
{
	return !us || (us >= 4 && us <= 16384 && !(us & (us - 1)) && us & 0x5554);
}

static int ubp_moderate_check(const struct ubp_dev *dev, const struct uboe_jfc_ctx *ctx, u32 mask)
{
	u32 period = mask & UBOE_CM_PERIOD ? le16_to_cpu(ctx->moderate_period) : 0;

	if (mask & UBOE_CM_COUNT && le16_to_cpu(ctx->moderate_count) > UBOE_MAX_MODERATE)
		return -EINVAL;
	if (!ubp_period_ok(period))
		return -EINVAL;
	return period && !dev->ops->jfc_timer ? -EOPNOTSUPP : 0;
}

static void ubp_moderate_set(struct ubp_jfc *jfc, const struct uboe_jfc_ctx *ctx, u32 mask)
{
	if (mask & UBOE_CM_COUNT)
		jfc->moderate_count = le16_to_cpu(ctx->moderate_count);
	if (mask & UBOE_CM_PERIOD)
		jfc->moderate_period = le16_to_cpu(ctx->moderate_period);
}

int ubp_jfc_create(struct ubp_dev *dev, u32 id, const struct uboe_jfc_ctx *ctx)
{
	struct ubp_jfc *jfc;
	int err;

	if (ctx->shift > 20 || !ubp_log2_ok(ctx->shift, UBOE_MIN_JFC_DEPTH, UBOE_MAX_JFC_DEPTH))
		return -EINVAL;
	if (ctx->flags & ~UBOE_JFC_INLINE)
		return -EOPNOTSUPP;
	err = ubp_moderate_check(dev, ctx, UBOE_CM_COUNT | UBOE_CM_PERIOD);
	if (err)
		return err;
	jfc = (struct ubp_jfc *)dev->ops->zalloc(dev, sizeof(*jfc));
	if (!jfc)
		return -ENOMEM;
	jfc->dev = dev;
	jfc->id = id;
	jfc->shift = ctx->shift;
	jfc->mask = (1u << ctx->shift) - 1;
	jfc->flags = ctx->flags;
	jfc->due = UBP_JFC_NEVER;
	ubp_moderate_set(jfc, ctx, UBOE_CM_COUNT | UBOE_CM_PERIOD);
	ubp_lock_init(&jfc->lock);
	jfc->ring = (struct uboe_cqe *)ubp_ring_map(dev, le64_to_cpu(ctx->base),
						    (u64)sizeof(struct uboe_cqe) << ctx->shift);
	jfc->rec =
		(struct uboe_jfc_rec *)ubp_ring_map(dev, le64_to_cpu(ctx->rec), sizeof(*jfc->rec));
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
	ctx->flags = jfc->flags;
	ctx->state = jfc->overflow;
	ctx->moderate_count = cpu_to_le16(jfc->moderate_count);
	ctx->moderate_period = cpu_to_le16(jfc->moderate_period);
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
	if (c->inl)
		memcpy(c->opcode == UBOE_CQE_RX_SEND ? (void *)&e->imm_lo : (void *)e->inline_data,
		       c->inl, c->bytes);
}

/* The event of this arm word is due: none will follow until there is another */
static bool ubp_jfc_fire(struct ubp_jfc *jfc, u32 arm)
{
	jfc->arm_seen = arm;
	jfc->held = 0;
	jfc->due = UBP_JFC_NEVER;
	return true;
}

/* Moderation keeps the event back until enough completions, or enough time, came together */
static bool ubp_jfc_hold(struct ubp_jfc *jfc, u32 arm, u32 n)
{
	bool fresh;

	if (arm != jfc->held_arm) {
		jfc->held_arm = arm;
		jfc->held = 0;
		jfc->due = UBP_JFC_NEVER;
	}
	fresh = !jfc->held;
	jfc->held += n;
	if (jfc->held >= jfc->moderate_count)
		return ubp_jfc_fire(jfc, arm);
	if (fresh && jfc->moderate_period) {
		jfc->due = jfc->dev->ops->now(jfc->dev) + jfc->moderate_period * 1000ull;
		jfc->want_timer = !jfc->timer_on;
	}
	return false;
}

/* One event for each new arm word; see struct uboe_jfc_rec. */
static bool ubp_jfc_fires(struct ubp_jfc *jfc, const struct ubp_comp *c, u32 n)
{
	u32 arm = le32_to_cpu(READ_ONCE(jfc->rec->arm));

	if (likely(arm == jfc->arm_seen) || (arm & 3) == UBOE_ARM_NONE)
		return false;
	if ((arm & 3) == UBOE_ARM_SOLICITED && !c->solicited && !c->status)
		return false;
	return jfc->moderate_count > 1 ? ubp_jfc_hold(jfc, arm, n) : ubp_jfc_fire(jfc, arm);
}

/*
 * Call with the lock just given up: tells the home what ubp_jfc_hold() has noted. At
 * most one timer is on; it looks at @due and goes on when that has moved.
 */
static void ubp_jfc_notify(struct ubp_jfc *jfc, bool fire, u64 timer_at)
{
	if (fire)
		jfc->dev->ops->jfc_event(jfc);
	if (timer_at != UBP_JFC_NEVER)
		jfc->dev->ops->jfc_timer(jfc->dev, jfc->id, timer_at);
}

static u64 ubp_jfc_take_timer(struct ubp_jfc *jfc)
{
	if (likely(!jfc->want_timer))
		return UBP_JFC_NEVER;
	jfc->want_timer = false;
	jfc->timer_on = true;
	return jfc->due;
}

/* Events that were held back may be due now; @expired: the timer is no longer on */
static void ubp_jfc_look(struct ubp_jfc *jfc, bool expired)
{
	bool fire = false;
	u64 timer_at;

	ubp_lock(&jfc->lock);
	if (expired)
		jfc->timer_on = false;
	if (jfc->held && (jfc->held >= jfc->moderate_count ||
			  (jfc->due != UBP_JFC_NEVER && jfc->dev->ops->now(jfc->dev) >= jfc->due)))
		fire = ubp_jfc_fire(jfc, jfc->held_arm);
	else if (jfc->due != UBP_JFC_NEVER)
		jfc->want_timer = !jfc->timer_on;
	timer_at = ubp_jfc_take_timer(jfc);
	ubp_unlock(&jfc->lock);
	ubp_jfc_notify(jfc, fire, timer_at);
}

int ubp_jfc_modify(struct ubp_dev *dev, u32 id, const struct uboe_jfc_ctx *ctx, u32 mask)
{
	struct ubp_jfc *jfc = (struct ubp_jfc *)ubp_table_get(&dev->jfc, id);
	int err;

	if (!jfc)
		return -ENOENT;
	if (mask & ~(UBOE_CM_COUNT | UBOE_CM_PERIOD))
		return -EOPNOTSUPP;
	err = ubp_moderate_check(dev, ctx, mask);
	if (err)
		return err;
	ubp_read_begin();
	ubp_lock(&jfc->lock);
	ubp_moderate_set(jfc, ctx, mask);
	if (!jfc->held || !jfc->moderate_period)
		jfc->due = UBP_JFC_NEVER;
	else if (mask & UBOE_CM_PERIOD) /* for those that wait, the period begins now */
		jfc->due = dev->ops->now(dev) + jfc->moderate_period * 1000ull;
	ubp_unlock(&jfc->lock);
	ubp_jfc_look(jfc, false);
	ubp_read_end();
	return 0;
}

void ubp_jfc_timer(struct ubp_dev *dev, u32 id)
{
	struct ubp_jfc *jfc;

	ubp_read_begin();
	jfc = (struct ubp_jfc *)ubp_table_get(&dev->jfc, id);
	if (jfc)
		ubp_jfc_look(jfc, true);
	ubp_read_end();
}

static void ubp_jfc_put(struct ubp_jfc *jfc, const struct ubp_jetty *jetty,
			const struct ubp_comp *c, u32 more)
{
	struct uboe_cqe *e = &jfc->ring[jfc->pi & jfc->mask];
	u32 w0;

	ubp_cqe_fill(e, jetty, c);
	w0 = more | (c->recv ? UBOE_CQE_RECV : 0) | (c->flush_done ? UBOE_CQE_FLUSH_DONE : 0) |
	     (c->inl ? UBOE_CQE_INLINE : 0) |
	     (jetty && !(jetty->flags & UBOE_JETTY_SEND_ONLY) ? UBOE_CQE_JETTY : 0) |
	     UBP_PUT(UBOE_CQE_OPCODE, (u32)c->opcode) | UBP_PUT(UBOE_CQE_SUBSTATUS, (u32)c->sub) |
	     UBP_PUT(UBOE_CQE_STATUS, (u32)c->status);
	if (!(jfc->pi >> jfc->shift & 1))
		w0 |= UBOE_CQE_OWNER;
	smp_store_release(&e->w0, cpu_to_le32(w0));
	jfc->pi++;
}

/* Of a message that took several RQEs: each with the bytes that are in it */
static void ubp_jfc_put_parts(struct ubp_jfc *jfc, const struct ubp_jetty *jetty,
			      const struct ubp_comp *c)
{
	struct ubp_comp part = *c;
	u32 i, left = c->bytes;

	for (i = 0; i < c->rqe->n; i++) {
		part.entry = (u16)c->rqe->slot[i];
		part.bytes = min_t(u32, left, 1u << c->rqe->buf_shift);
		left -= part.bytes;
		ubp_jfc_put(jfc, jetty, &part, i + 1 < c->rqe->n ? UBOE_CQE_MORE : 0);
	}
}

bool ubp_jfc_post(struct ubp_jfc *jfc, const struct ubp_jetty *jetty, const struct ubp_comp *c)
{
	u32 n = c->rqe && c->rqe->n > 1 ? c->rqe->n : 1;
	bool fire, full;
	u64 timer_at;

	ubp_lock_inner(&jfc->lock);
	/* the consumer index is the user's: a wrong one only hurts that user */
	full = jfc->pi - le32_to_cpu(READ_ONCE(jfc->rec->ci)) > jfc->mask + 1 - n;
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
	if (likely(n == 1))
		ubp_jfc_put(jfc, jetty, c, 0);
	else
		ubp_jfc_put_parts(jfc, jetty, c);
	smp_mb(); /* the CQE before the arm word, pairs with the consumer's arming */
	fire = ubp_jfc_fires(jfc, c, n);
	timer_at = ubp_jfc_take_timer(jfc);
	ubp_unlock_inner(&jfc->lock);
	if (unlikely(fire || timer_at != UBP_JFC_NEVER))
		ubp_jfc_notify(jfc, fire, timer_at);
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
