// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Jetties: life, states, kicks, and the joint of channel and transaction layer. */
#include "ubp_lockbuf.h"
#include "ubp_rm.h"
#include "ubp_target.h"
#include "ubp_tm.h"

/* Codes 1..31 of the RNR NAK timer field, 0 is the longest; units of 10 us (IBTA 1.3 9.7.5.2.8) */
static const u16 ubp_rnr_10us[32] = {
	0,    1,    2,	  3,	4,    6,     8,	    12,	   16,	  24,	 32,
	48,   64,   96,	  128,	192,  256,   384,   512,   768,	  1024,	 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

#define UBP_RNR_LONGEST 65536u

u8 ubp_rnr_code(u8 timer)
{
	u32 us = 10 * (timer ? ubp_rnr_10us[timer & 31] : UBP_RNR_LONGEST);
	u8 code = 0;

	while (code < UB_RNR_TIMER_MAX && 2u << code < us)
		code++;
	return code;
}

struct ubp_jetty *ubp_jetty_find(struct ubp_dev *dev, u32 id)
{
	return (struct ubp_jetty *)ubp_table_get(&dev->jetty, id);
}

void ubp_jetty_put(struct ubp_jetty *j)
{
	struct ubp_dev *dev = j->dev;

	if (!ubp_ref_put(&j->refs))
		return;
	if (j->ini)
		dev->ops->free_later(dev, j->ini);
	if (j->rct)
		dev->ops->free_later(dev, j->rct);
	if (j->rm)
		dev->ops->free_later(dev, j->rm);
	dev->ops->free_later(dev, j);
}

void ubp_jetty_peer(const struct ubp_jetty *j, struct uboe_cqe *e)
{
	const struct ubp_tp *tp = j->tp;

	if (!tp)
		return;
	e->w2 |= cpu_to_le32(UBP_PUT(UBOE_CQE_RMT_ID, tp->rmt_jetty));
	e->tpn = cpu_to_le32(tp->tpn);
	memcpy(e->rmt_eid, tp->path.raddr, sizeof(e->rmt_eid));
}

static bool ubp_jetty_map(struct ubp_jetty *j, const struct uboe_jetty_ctx *ctx)
{
	struct ubp_dev *dev = j->dev;
	bool ring;

	if (!(j->flags & UBOE_JETTY_LOCKBUF))
		j->sq = (const u8 *)ubp_ring_map(dev, le64_to_cpu(ctx->sq_base),
						 (u64)UBOE_BB << ctx->sq_shift);
	j->page = (u8 *)ubp_ring_map(dev, le64_to_cpu(ctx->page), UBOE_JPAGE_SOFT_STRIDE);
	j->tx_jfc = (struct ubp_jfc *)ubp_table_get(&dev->jfc, le32_to_cpu(ctx->tx_jfcn));
	j->rx_jfc = (struct ubp_jfc *)ubp_table_get(&dev->jfc, le32_to_cpu(ctx->rx_jfcn));
	j->jfr = (struct ubp_jfr *)ubp_table_get(&dev->jfr, le32_to_cpu(ctx->jfrn));
	ring = j->sq || j->flags & UBOE_JETTY_LOCKBUF;
	if (j->flags & UBOE_JETTY_SEND_ONLY) {
		if (ctx->rx_jfcn || ctx->jfrn)
			return false;
		j->rx_jfc = NULL;
		j->jfr = NULL;
		return ring && j->page && j->tx_jfc;
	}
	return ring && j->page && j->tx_jfc && j->rx_jfc && j->jfr && !j->jfr->dead;
}

/* Its queues know that it uses them, or no longer does */
static void ubp_jetty_use(struct ubp_jetty *j, int n)
{
	j->tx_jfc->users += n;
	if (!j->jfr)
		return;
	j->rx_jfc->users += n;
	j->jfr->users += n;
}

static bool ubp_slice_ok(const struct uboe_jetty_ctx *ctx)
{
	if (!ctx->slice)
		return true;
	return (ctx->type == UBOE_JETTY_RC || ctx->type == UBOE_JETTY_RM) &&
	       ctx->slice >= UBP_SLICE_MIN && ctx->slice <= UBP_SLICE_MAX;
}

static bool ubp_order_ok(const struct uboe_jetty_ctx *ctx)
{
	return ctx->order == UBOE_ORDER_INITIATOR ||
	       (ctx->order == UBOE_ORDER_TARGET && ctx->type == UBOE_JETTY_RM);
}

/* Nothing was fetched so far: the first SQE is the one that its page says now */
static void ubp_jetty_begin(struct ubp_jetty *j)
{
	j->fetched = ubp_jetty_pi(j);
	if (j->flags & (UBOE_JETTY_DWQE | UBOE_JETTY_LOCKBUF))
		ubp_dwqe_init(j);
}

int ubp_jetty_create(struct ubp_dev *dev, u32 id, const struct uboe_jetty_ctx *ctx)
{
	struct ubp_jetty *j;
	int err;

	if (ctx->type > UBOE_JETTY_RM || (ctx->type == UBOE_JETTY_RAW && !dev->ops->path_link))
		return -EOPNOTSUPP;
	if (ctx->sq_shift > 15 || ctx->state > UBOE_JS_INIT || ctx->sl >= UBP_TM_VLS ||
	    !ubp_slice_ok(ctx) || !ubp_order_ok(ctx) ||
	    ctx->flags & ~(UBOE_JETTY_SIG_ALL | UBOE_JETTY_KERNEL | UBOE_JETTY_SHARED_JFR |
			   UBOE_JETTY_NATIVE | UBOE_JETTY_TOKEN | UBOE_JETTY_SEND_ONLY |
			   UBOE_JETTY_DWQE | UBOE_JETTY_LOCKBUF) ||
	    (ctx->type == UBOE_JETTY_RC && ctx->flags & UBOE_JETTY_SEND_ONLY) ||
	    (ctx->type != UBOE_JETTY_RC && ctx->flags & (UBOE_JETTY_DWQE | UBOE_JETTY_LOCKBUF)) ||
	    (ctx->flags & UBOE_JETTY_DWQE && ctx->flags & UBOE_JETTY_LOCKBUF) || !ubp_raw_ok(ctx))
		return -EINVAL;
	j = (struct ubp_jetty *)dev->ops->zalloc(dev, sizeof(*j));
	if (!j)
		return -ENOMEM;
	j->dev = dev;
	j->id = id;
	j->pd = le32_to_cpu(ctx->pd);
	j->type = ctx->type;
	j->flags = ctx->flags;
	j->sl = ctx->sl;
	j->raw = ctx->raw;
	j->slice = ctx->slice ? ctx->slice : UBP_SLICE_MAX;
	j->target_order = ctx->order == UBOE_ORDER_TARGET;
	j->state = ctx->state;
	j->sq_mask = (1u << ctx->sq_shift) - 1;
	j->token = le32_to_cpu(ctx->token);
	j->user = le64_to_cpu(ctx->user_data);
	j->rnr_retry = 7;
	j->max_rd = 1;
	ubp_ref_init(&j->refs);
	ubp_lock_init(&j->lock);
	err = ubp_jetty_map(j, ctx) ? ubp_lockbuf_join(j, ctx) : -EINVAL;
	if (!err && j->type == UBOE_JETTY_RM)
		err = ubp_rm_create(j);
	if (!err && (j->type == UBOE_JETTY_UM || j->type == UBOE_JETTY_RAW))
		err = ubp_um_create(j, ctx);
	if (!err)
		err = ubp_table_add(dev, &dev->jetty, id, j);
	if (err) {
		ubp_um_destroy(j);
		ubp_lockbuf_part(j);
		ubp_jetty_put(j);
		return err;
	}
	ubp_jetty_use(j, 1);
	ubp_jetty_begin(j);
	ubp_jetty_need_kick(j, true);
	ubp_jetty_rq_kick(j, false);
	return 0;
}

int ubp_jetty_query(struct ubp_dev *dev, u32 id, struct uboe_jetty_ctx *ctx)
{
	struct ubp_jetty *j = ubp_jetty_find(dev, id);

	if (!j)
		return -ENOENT;
	memset(ctx, 0, sizeof(*ctx));
	ubp_lock(&j->lock);
	ctx->state = j->state;
	ctx->type = j->type;
	ctx->flags = j->flags;
	ctx->pd = cpu_to_le32(j->pd);
	ctx->tx_jfcn = cpu_to_le32(j->tx_jfc->id);
	if (j->jfr) {
		ctx->rx_jfcn = cpu_to_le32(j->rx_jfc->id);
		ctx->jfrn = cpu_to_le32(j->jfr->id);
	}
	if (j->um)
		ubp_um_query(j, ctx);
	ctx->rnr_timer = j->rnr_timer;
	ctx->rnr_retry = j->rnr_retry;
	ctx->access = j->access;
	ctx->sl = j->sl;
	ctx->raw = j->raw;
	ctx->order = j->target_order ? UBOE_ORDER_TARGET : UBOE_ORDER_INITIATOR;
	ctx->slice = j->type == UBOE_JETTY_RC || j->type == UBOE_JETTY_RM ? j->slice : 0;
	ctx->max_rd = cpu_to_le16(j->max_rd);
	ctx->sq_pi = cpu_to_le32(j->fetched);
	ubp_unlock(&j->lock);
	return 0;
}

int ubp_jetty_destroy(struct ubp_dev *dev, u32 id)
{
	struct ubp_jetty *j = ubp_jetty_find(dev, id);

	if (!j)
		return -ENOENT;
	ubp_jgrp_leave(j);
	ubp_table_del(&dev->jetty, id);
	ubp_lock(&j->lock);
	if (j->flags & UBOE_JETTY_SHARED_JFR)
		ubp_rsp_flush(j); /* the slot of a half-received Send goes back to the others */
	j->dead = true;
	j->state = UBOE_JS_RESET;
	if (j->tp) {
		j->tp->now = dev->ops->now(dev);
		if (j->tp->ack_at != UBP_NEVER || j->tp->ack_now)
			ubp_tp_send_ack(j->tp);
		ubp_tpcm_close(j->tp);
		ubp_tp_drop_held(j->tp);
		j->tp->state = UBP_TP_DEAD;
	}
	if (j->rm)
		ubp_rm_discard(j);
	ubp_tm_unbind(j);
	ubp_unlock(&j->lock);
	if (j->rm)
		ubp_share_forget(dev, j);
	ubp_um_destroy(j);
	ubp_jetty_use(j, -1);
	ubp_lockbuf_part(j);
	ubp_jetty_put(j);
	return 0;
}

/* Entering RTR: the initiator's state and the set-up of the channel */
static int ubp_jetty_to_rtr(struct ubp_jetty *j)
{
	struct ubp_ini *ini;

	if (j->state != UBOE_JS_INIT || !j->tp || j->tp->state != UBP_TP_IDLE)
		return -EINVAL;
	ini = j->ini;
	if (!ini)
		ini = (struct ubp_ini *)j->dev->ops->zalloc(j->dev, sizeof(*ini));
	if (!ini)
		return -ENOMEM;
	ubp_ini_init(ini, (u16)j->tp->snd_isn);
	ubp_lock(&j->lock);
	j->ini = ini;
	j->state = UBOE_JS_RTR;
	j->tp->now = j->dev->ops->now(j->dev);
	ubp_tpcm_open(j->tp);
	ubp_unlock(&j->lock);
	return 0;
}

static int ubp_jetty_to_state(struct ubp_jetty *j, u8 to)
{
	int err = 0;

	if (to == UBOE_JS_RTR)
		return ubp_jetty_to_rtr(j);
	ubp_lock(&j->lock);
	switch (to) {
	case UBOE_JS_INIT:
		if (j->state != UBOE_JS_RESET && j->state != UBOE_JS_INIT)
			err = -EINVAL;
		/* nothing was fetched so far: the producer may have started anew */
		else if (j->state == UBOE_JS_RESET)
			ubp_jetty_begin(j);
		if (!err)
			j->state = UBOE_JS_INIT;
		break;
	case UBOE_JS_READY:
		/* what needs no connection needs no RTR */
		if (j->state != UBOE_JS_RTR && j->state != UBOE_JS_READY &&
		    !(j->type != UBOE_JETTY_RC && j->state == UBOE_JS_INIT))
			err = -EINVAL;
		else
			j->state = UBOE_JS_READY;
		break;
	case UBOE_JS_ERROR:
		if (j->tp)
			j->tp->now = j->dev->ops->now(j->dev);
		ubp_jetty_error(j);
		break;
	default:
		err = -EOPNOTSUPP; /* RESET: destroy and create; SUSPEND: not for verbs */
	}
	ubp_unlock(&j->lock);
	return err;
}

int ubp_jetty_modify(struct ubp_dev *dev, u32 id, const struct uboe_jetty_ctx *ctx, u32 mask)
{
	struct ubp_jetty *j = ubp_jetty_find(dev, id);

	if (!j)
		return -ENOENT;
	if (mask & ~(UBOE_JM_STATE | UBOE_JM_TPN | UBOE_JM_RNR_TIMER | UBOE_JM_RNR_RETRY |
		     UBOE_JM_ACCESS | UBOE_JM_MAX_RD | UBOE_JM_MAX_DEST_RD))
		return -EOPNOTSUPP;
	if ((mask & UBOE_JM_RNR_TIMER && ctx->rnr_timer > UB_RNR_TIMER_MAX) ||
	    (mask & UBOE_JM_RNR_RETRY && ctx->rnr_retry > 7) ||
	    (mask & UBOE_JM_MAX_RD && le16_to_cpu(ctx->max_rd) > UBP_MAX_RD))
		return -EINVAL;
	if (mask & UBOE_JM_TPN && (!j->tp || j->tp->tpn != le32_to_cpu(ctx->tpn)))
		return -EINVAL;
	ubp_lock(&j->lock);
	if (mask & UBOE_JM_RNR_TIMER)
		j->rnr_timer = ctx->rnr_timer;
	if (mask & UBOE_JM_RNR_RETRY)
		j->rnr_retry = ctx->rnr_retry;
	if (mask & UBOE_JM_ACCESS)
		j->access = ctx->access;
	if (mask & UBOE_JM_MAX_RD)
		j->max_rd = le16_to_cpu(ctx->max_rd);
	ubp_unlock(&j->lock);
	if (!(mask & UBOE_JM_STATE))
		return 0;
	return ubp_jetty_to_state(j, ctx->state);
}

bool ubp_jetty_recv_done(struct ubp_jetty *j, const struct ubp_comp *c)
{
	if (likely(ubp_jfc_post(j->rx_jfc, j, c)))
		return true;
	ubp_jetty_error(j);
	return false;
}

void ubp_jetty_send_done(struct ubp_jetty *j, const struct ubp_comp *c)
{
	if (unlikely(!ubp_jfc_post(j->tx_jfc, j, c)))
		ubp_jetty_error(j);
}

static void ubp_jetty_flush_recv(struct ubp_jetty *j)
{
	struct ubp_comp c = { .status = UBOE_CQE_FLUSH, .recv = true };
	struct ubp_rqe rqe;
	enum ubp_take got;
	u32 left;

	if (!j->jfr || j->flags & UBOE_JETTY_SHARED_JFR)
		return;
	left = j->jfr->mask + 1;
	/* once around: its owner may post as fast as they are flushed */
	for (; left; left--) {
		got = ubp_jfr_take(j->jfr, &rqe);
		if (got == UBP_TAKE_NONE)
			return;
		c.entry = (u16)rqe.slot[0];
		if (got == UBP_TAKE_OK || rqe.n)
			ubp_jetty_recv_done(j, &c);
	}
	j->dev->ops->engine_later(j);
}

static void ubp_jetty_flush(struct ubp_jetty *j)
{
	ubp_jetty_need_kick(j, true);
	ubp_jetty_rq_kick(j, true);
	smp_mb(); /* the flags before the last look at the rings, see ub/uboe_io.h */
	if (j->rm)
		ubp_rm_flush(j);
	else
		ubp_ini_flush(j);
	ubp_rsp_flush(j);
	ubp_jetty_flush_recv(j);
}

/* URMA's marker: all that was posted before the error has completed */
static void ubp_jetty_flush_done(struct ubp_jetty *j)
{
	struct ubp_comp c = {
		.status = UBOE_CQE_FLUSH,
		.flush_done = true,
		.entry = (u16)(j->fetched - 1),
	};

	if (j->flags & UBOE_JETTY_NATIVE)
		ubp_jetty_send_done(j, &c);
}

void ubp_jetty_error(struct ubp_jetty *j)
{
	if (j->state == UBOE_JS_ERROR || j->dead)
		return;
	j->state = UBOE_JS_ERROR;
	if (j->tp) {
		/* the peer learns it at once, unless it gets a reason with each answer */
		bool close = j->tp->rsp.blocked != UB_RSPST_ERROR && j->tp->state == UBP_TP_OPEN;

		if (close) {
			ubp_tp_send_ack(j->tp);
			ubp_tpcm_close(j->tp);
		}
		ubp_tp_fail(j->tp);
		/* who was told so acknowledges nothing any more */
		if (close)
			ubp_tp_forget(j->tp);
	} else if (j->tm) {
		ubp_tm_leave(j->tm);
	}
	ubp_jetty_flush(j);
	ubp_jetty_flush_done(j);
	if (j->flags & UBOE_JETTY_SHARED_JFR)
		j->dev->ops->event(j->dev, UBOE_EV_JETTY, UBOE_EV_SUB_LAST_WQE, j->id);
}

static bool ubp_kick_ready(struct ubp_jetty *j, bool drive)
{
	struct ubp_tp *tp = j->tp;
	bool more = false;

	tp->now = j->dev->ops->now(j->dev);
	switch (tp->state) {
	case UBP_TP_OPENING:
		/* from now on somebody waits for the peer; a lock buffer takes what it gets */
		if (ubp_ini_has_work(j) && tp->stall_since == UBP_NEVER)
			tp->stall_since = tp->now;
		break;
	case UBP_TP_OPEN:
		ubp_jetty_need_kick(j, false);
		if (drive)
			more = ubp_tp_drive(tp);
		else
			ubp_tp_output(tp);
		break;
	case UBP_TP_FAILED:
		if (ubp_ini_has_work(j))
			ubp_ini_fail_head(j, UBOE_CQE_ACK_TIMEOUT, 0);
		break;
	default:
		break;
	}
	ubp_tp_arm(tp);
	return more;
}

/* True when a driver is to call again; an ordinary kick leaves the rest to the engine */
static bool ubp_kick_or_drive(struct ubp_jetty *j, bool drive)
{
	bool more = false;

	ubp_lock(&j->lock);
	if (!drive || !j->tp || !j->tp->driven)
		ubp_stat(j->dev, UBP_S_KICKS);
	/* into its buffer, also while the engine waits for the peer: the window is for the next */
	if (unlikely(j->lockbuf) && !j->dead && j->state == UBOE_JS_READY)
		ubp_dwqe_posted(j);
	if (j->dead)
		;
	else if (j->state == UBOE_JS_ERROR)
		ubp_jetty_flush(j);
	else if (j->state == UBOE_JS_READY && j->rm)
		ubp_rm_pump(j);
	else if (j->state == UBOE_JS_READY && j->um)
		more = ubp_um_kick(j, drive);
	else if (j->state == UBOE_JS_READY && j->tp)
		more = ubp_kick_ready(j, drive);
	else if (j->tp && j->tm)
		ubp_tp_unshaped(j->tp); /* answers may have waited for their turn */
	ubp_unlock(&j->lock);
	return more;
}

void ubp_kick(struct ubp_jetty *j)
{
	ubp_kick_or_drive(j, false);
}

static int ubp_kick_or_drive_id(struct ubp_dev *dev, u32 id, bool drive)
{
	struct ubp_jetty *j;
	int more = -ENOENT;

	ubp_read_begin();
	j = ubp_jetty_find(dev, id);
	if (j)
		more = ubp_kick_or_drive(j, drive);
	ubp_read_end();
	return more;
}

int ubp_kick_id(struct ubp_dev *dev, u32 id)
{
	return ubp_kick_or_drive_id(dev, id, false);
}

int ubp_drive_id(struct ubp_dev *dev, u32 id)
{
	return ubp_kick_or_drive_id(dev, id, true);
}

void ubp_leave_id(struct ubp_dev *dev, u32 id)
{
	struct ubp_jetty *j;

	ubp_read_begin();
	j = ubp_jetty_find(dev, id);
	if (j) {
		ubp_lock(&j->lock);
		if (j->tp && j->tp->driven) {
			j->tp->driven = false;
			dev->ops->engine_later(j);
		} else if (!j->dead && j->um) {
			dev->ops->engine_later(j);
		}
		ubp_unlock(&j->lock);
	}
	ubp_read_end();
}

void *ubp_jetty_home(const struct ubp_jetty *j)
{
	return j->home;
}

u32 ubp_jetty_id(const struct ubp_jetty *j)
{
	return j->id;
}

struct ubp_dev *ubp_jetty_dev(const struct ubp_jetty *j)
{
	return j->dev;
}
