// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Shared channels: one for each pair of addresses, whatever jetties use it. */
#include "ubp_rm.h"

static u32 ubp_share_hash(const u8 *laddr, const u8 *raddr)
{
	u32 h = get_unaligned_be32(raddr + 12) ^ get_unaligned_be32(raddr + 4) ^
		get_unaligned_be32(laddr + 12) * 31;

	return h * 2654435761u >> (32 - UBP_SHARE_HASH_BITS);
}

static bool ubp_share_is(const struct ubp_tp *tp, const u8 *laddr, const u8 *raddr)
{
	return !memcmp(tp->path.laddr, laddr, 16) && !memcmp(tp->path.raddr, raddr, 16);
}

/* The result stays as long as the reader's section lasts */
struct ubp_tp *ubp_share_by_addr(struct ubp_dev *dev, const u8 *laddr, const u8 *raddr)
{
	struct ubp_share *sh;

	ubp_lock(&dev->share_lock);
	for (sh = dev->share_hash[ubp_share_hash(laddr, raddr)]; sh; sh = sh->chain)
		if (ubp_share_is(sh->tp, laddr, raddr))
			break;
	ubp_unlock(&dev->share_lock);
	return sh ? sh->tp : NULL;
}

u32 ubp_share_find(struct ubp_dev *dev, const u8 *laddr, const u8 *raddr)
{
	struct ubp_tp *tp;
	u32 tpn;

	ubp_read_begin();
	tp = ubp_share_by_addr(dev, laddr, raddr);
	tpn = tp ? tp->tpn : 0;
	ubp_read_end();
	return tpn;
}

static void ubp_share_hash_add(struct ubp_dev *dev, struct ubp_tp *tp)
{
	struct ubp_share **head = &dev->share_hash[ubp_share_hash(tp->path.laddr, tp->path.raddr)];

	ubp_lock(&dev->share_lock);
	tp->sh->chain = *head;
	*head = tp->sh;
	ubp_unlock(&dev->share_lock);
}

static void ubp_share_hash_del(struct ubp_dev *dev, struct ubp_tp *tp)
{
	struct ubp_share **at = &dev->share_hash[ubp_share_hash(tp->path.laddr, tp->path.raddr)];

	ubp_lock(&dev->share_lock);
	while (*at && *at != tp->sh)
		at = &(*at)->chain;
	if (*at)
		*at = tp->sh->chain;
	ubp_unlock(&dev->share_lock);
}

static void ubp_share_hold_none(struct ubp_share *sh)
{
	u32 i;

	for (i = 0; i < UBP_RM_REFUSED; i++)
		sh->rx_held[i] = UBP_RM_NOBODY;
	sh->nheld = 0;
}

/* Its RC table: the watermark is shared out among requests and answers */
static bool ubp_share_rct(struct ubp_dev *dev, struct ubp_share *sh, u32 vl)
{
	struct ubp_rct_set set = ubp_rct_of_vl(dev, vl, UBP_RM_RCT_SHIFT);

	sh->take_req = min_t(u32, max_t(u32, set.watermark / 2, 1), UBP_RM_REFUSED);
	sh->max_answers = max_t(u32, set.watermark - sh->take_req, 1);
	sh->rct_mask = (1u << set.shift) - 1;
	sh->rct = (struct ubp_rce *)dev->ops->zalloc(dev, sizeof(*sh->rct) << set.shift);
	return sh->rct;
}

int ubp_share_create(struct ubp_dev *dev, u32 tpn, const struct uboe_tp_ctx *ctx)
{
	struct ubp_share *sh;
	struct ubp_tp *tp;
	int err = -ENOMEM;

	if (!tpn || !ubp_tp_ctx_ok(dev, ctx) || le16_to_cpu(ctx->window) > UBP_RM_WINDOW ||
	    ctx->vl >= UBP_VLS)
		return -EINVAL;
	if (ubp_share_by_addr(dev, ctx->laddr, ctx->raddr))
		return -EEXIST;
	sh = (struct ubp_share *)dev->ops->zalloc(dev, sizeof(*sh));
	if (!sh)
		return -ENOMEM;
	ubp_lock_init(&sh->lock);
	sh->max_req = UBP_RM_REQ;
	ubp_share_hold_none(sh);
	ubp_rot_reset(sh);
	if (!ubp_share_rct(dev, sh, ctx->vl))
		goto free;
	tp = ubp_tp_new(dev, tpn, ctx, le16_to_cpu(ctx->window) ? 0 : UBP_RM_WINDOW);
	if (!tp)
		goto free;
	sh->tp = tp;
	tp->sh = sh;
	tp->lock = &sh->lock;
	err = dev->ops->path_init(dev, &tp->path);
	if (err)
		goto free_tp;
	err = ubp_table_add(dev, &dev->share, tpn, tp);
	if (err)
		goto path;
	ubp_share_hash_add(dev, tp);
	return 0;
path:
	dev->ops->path_exit(dev, &tp->path);
free_tp:
	ubp_tp_free(tp);
free:
	if (sh->rct)
		dev->ops->free_later(dev, sh->rct);
	dev->ops->free_later(dev, sh);
	return err;
}

int ubp_share_destroy(struct ubp_tp *tp)
{
	struct ubp_dev *dev = tp->dev;

	ubp_share_hash_del(dev, tp);
	ubp_table_del(&dev->share, tp->tpn);
	ubp_lock(tp->lock);
	tp->now = dev->ops->now(dev);
	ubp_tpcm_close(tp);
	tp->state = UBP_TP_DEAD;
	tp->snd_una = tp->snd_nxt;
	ubp_rm_lost(tp, UBOE_CQE_ACK_TIMEOUT);
	ubp_rm_abandon(tp);
	ubp_tp_drop_held(tp);
	ubp_unlock(tp->lock);
	dev->ops->timer_cancel(tp);
	dev->ops->path_exit(dev, &tp->path);
	dev->ops->free_later(dev, tp->sh->rct);
	dev->ops->free_later(dev, tp->sh);
	ubp_tp_free(tp);
	return 0;
}

bool ubp_share_want(struct ubp_dev *dev, const struct ubp_encap *e)
{
	u8 saddr[16], daddr[16];

	if (!dev->ops->share_wanted)
		return false;
	ubp_encap_addr(e, saddr, daddr);
	dev->ops->share_wanted(dev, daddr, saddr);
	return true;
}

void ubp_share_open(struct ubp_dev *dev, u32 tpn)
{
	struct ubp_tp *tp;

	ubp_read_begin();
	tp = ubp_tp_find(dev, tpn);
	if (tp && tp->sh) {
		ubp_lock(tp->lock);
		tp->now = dev->ops->now(dev);
		if (tp->state == UBP_TP_IDLE)
			ubp_tpcm_open(tp);
		ubp_unlock(tp->lock);
	}
	ubp_read_end();
}

void ubp_share_reset(struct ubp_tp *tp)
{
	struct ubp_share *sh = tp->sh;

	ubp_rm_abandon(tp);
	ubp_share_hold_none(sh);
	ubp_rot_reset(sh);
	sh->cand_xid = 0;
	sh->next_xid = 0;
	sh->cand_left = 0;
	memset(&tp->rsp, 0, sizeof(tp->rsp));
	ubp_tp_start(tp);
	tp->peer_known = false;
	tp->state = UBP_TP_IDLE;
}

static void ubp_share_close(struct ubp_share *sh, const void *arg)
{
	struct ubp_tp *tp = sh->tp;

	(void)arg;
	if (tp->state == UBP_TP_IDLE)
		return;
	tp->now = tp->dev->ops->now(tp->dev);
	ubp_tp_lost(tp);
}

static void ubp_share_drop_target(struct ubp_share *sh, const void *target)
{
	if (sh->rx_target.jetty == target || sh->rx_target.jfr == target)
		ubp_rm_abandon(sh->tp);
}

/* @fn: called with the channel's lock held */
static void ubp_share_each(struct ubp_dev *dev, void (*fn)(struct ubp_share *, const void *),
			   const void *arg)
{
	u32 i;

	for (i = 0; i < UBP_SHARE_HASH; i++) {
		struct ubp_share *sh;

		ubp_read_begin();
		ubp_lock(&dev->share_lock);
		sh = dev->share_hash[i];
		ubp_unlock(&dev->share_lock);
		for (; sh; sh = sh->chain) {
			ubp_lock(&sh->lock);
			fn(sh, arg);
			ubp_unlock(&sh->lock);
		}
		ubp_read_end();
	}
}

void ubp_share_close_all(struct ubp_dev *dev)
{
	ubp_share_each(dev, ubp_share_close, NULL);
}

void ubp_share_forget(struct ubp_dev *dev, const void *target)
{
	ubp_share_each(dev, ubp_share_drop_target, target);
}
