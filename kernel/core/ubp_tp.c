// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ubp_part.h"
#include "ubp_rm.h"
#include "ubp_tm.h"

struct ubp_tp *ubp_tp_find(struct ubp_dev *dev, u32 tpn)
{
	if (!UB_TPN_IS_RC(tpn))
		return (struct ubp_tp *)ubp_table_get(&dev->share, tpn);
	return (struct ubp_tp *)ubp_table_get(&dev->tp, UB_TPN_RC_JETTY(tpn));
}

bool ubp_tp_ctx_ok(const struct ubp_dev *dev, const struct uboe_tp_ctx *ctx)
{
	u32 mtu = le16_to_cpu(ctx->mtu);
	u32 win = le16_to_cpu(ctx->window);

	if (mtu < UB_MTU_MIN || mtu > UB_MTU_MAX || (mtu & (mtu - 1)))
		return false;
	if (win && (win < 64 || win > 2048 || (win & (win - 1))))
		return false;
	/* both addresses of one family */
	return ubp_cc_can(dev, ctx->cc) && ubp_addr_is_v4(ctx->laddr) == ubp_addr_is_v4(ctx->raddr);
}

static void ubp_tp_path(struct ubp_tp *tp, const struct uboe_tp_ctx *ctx)
{
	const struct ubp_config *cfg = &tp->dev->cfg;
	struct ubp_path *p = &tp->path;
	u32 mix = tp->tpn * 2654435761u ^ tp->rmt_jetty * 2246822519u;

	p->tp = tp;
	memcpy(p->laddr, ctx->laddr, 16);
	memcpy(p->raddr, ctx->raddr, 16);
	p->v4 = ubp_addr_is_v4(ctx->laddr);
	/* one source port per channel: per-flow balancing keeps its order */
	p->sport = le16_to_cpu(ctx->sport);
	if (!p->sport)
		p->sport = (u16)(49152 + (mix >> 18));
	p->dport = le16_to_cpu(ctx->dport) ? le16_to_cpu(ctx->dport) : cfg->udp_port;
	p->tc = ctx->traffic_class ? ctx->traffic_class : (u8)(cfg->dscp << 2);
	p->hop = ctx->hop_limit ? ctx->hop_limit : cfg->hop_limit;
	p->flow = le32_to_cpu(ctx->flow_label) & 0xfffff;
	if (!p->flow)
		p->flow = mix >> 12;
}

void ubp_tp_start(struct ubp_tp *tp)
{
	struct ubp_dev *dev = tp->dev;

	do {
		tp->xid = dev->ops->random(dev);
	} while (!tp->xid);
	tp->snd_isn = dev->ops->random(dev) & UB_PSN_MASK;
	tp->snd_una = tp->snd_isn;
	tp->snd_nxt = tp->snd_isn;
	tp->snd_msn = 0;
	tp->acked_msn = 0;
	tp->closed = false;
	tp->lost = 0;
	tp->since_ask = 0;
	tp->open_kind = 0;
	tp->probing = false;
	tp->srtt_us = 0;
	tp->rttvar_us = 0;
	tp->backoff = 0;
	tp->unacked = 0;
	tp->ack_now = false;
	tp->nak_now = false;
	tp->nak_sent = false;
	tp->stall_since = UBP_NEVER;
	tp->ack_at = UBP_NEVER;
	tp->cm_at = UBP_NEVER;
	tp->cc = NULL;
}

static void ubp_tp_init(struct ubp_tp *tp, const struct uboe_tp_ctx *ctx, u32 win)
{
	struct ubp_dev *dev = tp->dev;

	if (!win)
		win = le16_to_cpu(ctx->window) ? le16_to_cpu(ctx->window) : dev->cfg.window;
	tp->rmt_jetty = le32_to_cpu(ctx->rmt_jetty) & UBOE_SQE_RMT_ID;
	tp->offer_mtu = le16_to_cpu(ctx->mtu);
	tp->mtu = tp->offer_mtu;
	tp->window = win;
	tp->rx_window = win;
	tp->txd_mask = win - 1;
	tp->ooo_mask = win - 1;
	tp->offer_retrans = ctx->retrans == 0xff ? dev->cfg.retrans : ctx->retrans;
	tp->retrans = tp->offer_retrans;
	tp->offer_cc = ctx->cc;
	tp->caps = dev->cfg.caps;
	ubp_tp_start(tp);
	tp->lost_after = le64_to_cpu(ctx->timeout_ns);
	if (tp->lost_after)
		tp->lost_after = max_t(u64, tp->lost_after, dev->cfg.lost_min_ms * 1000000ull);
	tp->timer_at = UBP_NEVER;
	ubp_tp_path(tp, ctx);
}

void ubp_tp_free(struct ubp_tp *tp)
{
	struct ubp_dev *dev = tp->dev;

	if (tp->cc_mem)
		dev->ops->free_later(dev, tp->cc_mem);
	if (tp->ooo)
		dev->ops->free_later(dev, tp->ooo);
	if (tp->txd)
		dev->ops->free_later(dev, tp->txd);
	dev->ops->free_later(dev, tp);
}

struct ubp_tp *ubp_tp_new(struct ubp_dev *dev, u32 tpn, const struct uboe_tp_ctx *ctx, u32 window)
{
	struct ubp_tp *tp = (struct ubp_tp *)dev->ops->zalloc(dev, sizeof(*tp));

	if (!tp)
		return NULL;
	tp->dev = dev;
	tp->tpn = tpn;
	ubp_tp_init(tp, ctx, window);
	tp->txd = (struct ubp_txd *)dev->ops->zalloc(dev, (tp->txd_mask + 1) * sizeof(*tp->txd));
	tp->ooo = (struct ubp_rxpkt *)dev->ops->zalloc(dev, (tp->ooo_mask + 1) * sizeof(*tp->ooo));
	if (tp->offer_cc)
		tp->cc_mem = (struct ubp_cc *)dev->ops->zalloc(dev, sizeof(*tp->cc_mem));
	if (tp->txd && tp->ooo && (tp->cc_mem || !tp->offer_cc))
		return tp;
	ubp_tp_free(tp);
	return NULL;
}

static int ubp_tp_bind(struct ubp_tp *tp, struct ubp_jetty *j)
{
	int err = 0;

	ubp_lock(&j->lock);
	if (j->dead)
		err = -ENOENT;
	else if (j->tp)
		err = -EEXIST;
	else if (!ubp_ref_tryget(&j->refs))
		err = -ENOENT;
	else
		j->tp = tp;
	ubp_unlock(&j->lock);
	return err;
}

int ubp_tp_create(struct ubp_dev *dev, u32 tpn, const struct uboe_tp_ctx *ctx)
{
	u32 id = le32_to_cpu(ctx->jetty);
	struct ubp_jetty *j;
	struct ubp_tp *tp;
	int err;

	if (!id && !UB_TPN_IS_RC(tpn))
		return ubp_share_create(dev, tpn, ctx);
	j = ubp_jetty_find(dev, id);
	if (!j)
		return -ENOENT;
	if (tpn != UB_TPN_RC(id) || j->type != UBOE_JETTY_RC || !ubp_tp_ctx_ok(dev, ctx))
		return -EINVAL;
	tp = ubp_tp_new(dev, tpn, ctx, 0);
	if (!tp)
		return -ENOMEM;
	tp->jetty = j;
	tp->rsp.j = j;
	tp->rsp.jfr = j->jfr;
	tp->lock = &j->lock;
	err = dev->ops->path_init(dev, &tp->path);
	if (err)
		goto free;
	err = ubp_tp_bind(tp, j);
	if (err)
		goto path;
	err = ubp_table_add(dev, &dev->tp, id, tp);
	if (!err)
		return 0;
	ubp_lock(&j->lock);
	j->tp = NULL;
	ubp_unlock(&j->lock);
	ubp_jetty_put(j);
path:
	dev->ops->path_exit(dev, &tp->path);
free:
	ubp_tp_free(tp);
	return err;
}

int ubp_tp_modify(struct ubp_dev *dev, u32 tpn, const struct uboe_tp_ctx *ctx, u32 mask)
{
	struct ubp_tp *tp = ubp_tp_find(dev, tpn);

	if (!tp)
		return -ENOENT;
	if (mask & ~UBOE_TM_TIMEOUT)
		return -EOPNOTSUPP;
	ubp_lock(tp->lock);
	tp->lost_after = le64_to_cpu(ctx->timeout_ns);
	if (tp->lost_after)
		tp->lost_after = max_t(u64, tp->lost_after, dev->cfg.lost_min_ms * 1000000ull);
	ubp_unlock(tp->lock);
	return 0;
}

/* In use, or wanted as long as nobody has answered */
static u8 ubp_tp_cc_alg(const struct ubp_tp *tp)
{
	if (!tp->peer_known)
		return tp->offer_cc;
	return tp->cc ? tp->cc->ops->alg : UB_CC_NONE;
}

int ubp_tp_query(struct ubp_dev *dev, u32 tpn, struct uboe_tp_ctx *ctx)
{
	struct ubp_tp *tp = ubp_tp_find(dev, tpn);

	if (!tp)
		return -ENOENT;
	memset(ctx, 0, sizeof(*ctx));
	ubp_lock(tp->lock);
	memcpy(ctx->laddr, tp->path.laddr, 16);
	memcpy(ctx->raddr, tp->path.raddr, 16);
	ctx->jetty = cpu_to_le32(tp->sh ? 0 : UB_TPN_RC_JETTY(tp->tpn));
	ctx->rmt_jetty = cpu_to_le32(tp->rmt_jetty);
	ctx->sport = cpu_to_le16(tp->path.sport);
	ctx->dport = cpu_to_le16(tp->path.dport);
	ctx->traffic_class = tp->path.tc;
	ctx->hop_limit = tp->path.hop;
	ctx->retrans = tp->retrans;
	ctx->cc = ubp_tp_cc_alg(tp);
	ctx->mtu = cpu_to_le16((u16)tp->mtu);
	ctx->window = cpu_to_le16((u16)tp->window);
	ctx->timeout_ns = cpu_to_le64(tp->lost_after);
	ctx->state = tp->state;
	ctx->srtt_us = cpu_to_le32(tp->srtt_us);
	ubp_unlock(tp->lock);
	return 0;
}

/* What it was allowed to send is for others now */
static void ubp_tp_quiet(struct ubp_tp *tp)
{
	struct ubp_tm_flow *f = ubp_tp_tm(tp);

	if (f)
		ubp_tm_leave(f);
}

int ubp_tp_destroy(struct ubp_dev *dev, u32 tpn)
{
	struct ubp_tp *tp = ubp_tp_find(dev, tpn);

	if (!tp)
		return -ENOENT;
	if (tp->sh)
		return ubp_share_destroy(tp);
	ubp_table_del(&dev->tp, UB_TPN_RC_JETTY(tpn));
	ubp_lock(tp->lock);
	tp->now = dev->ops->now(dev);
	if (tp->state != UBP_TP_DEAD)
		ubp_tpcm_close(tp);
	tp->state = UBP_TP_DEAD;
	if (tp->jetty->tp == tp) {
		ubp_tp_quiet(tp);
		ubp_ta_gone(tp);
		tp->jetty->tp = NULL;
	}
	ubp_tp_drop_held(tp);
	ubp_unlock(tp->lock);
	dev->ops->timer_cancel(tp);
	dev->ops->path_exit(dev, &tp->path);
	ubp_jetty_put(tp->jetty);
	ubp_tp_free(tp);
	return 0;
}

void ubp_tp_skip_gone(struct ubp_tp *tp)
{
	while (tp->snd_una != tp->snd_nxt && !ubp_tp_txd(tp, tp->snd_una)->kind)
		tp->snd_una = ubp_psn_add(tp->snd_una, 1);
}

void ubp_tp_fail(struct ubp_tp *tp)
{
	u32 psn;

	ubp_tp_quiet(tp);
	if (tp->state >= UBP_TP_FAILED)
		return;
	tp->state = UBP_TP_FAILED;
	tp->cm_at = UBP_NEVER;
	if (tp->open_kind == UBP_TX_REQUEST)
		tp->open_kind = 0;
	/* requests are gone with their messages; answers may still be wanted */
	for (psn = tp->snd_una; psn != tp->snd_nxt; psn = ubp_psn_add(psn, 1)) {
		struct ubp_txd *d = ubp_tp_txd(tp, psn);

		if (d->kind != UBP_TX_REQUEST)
			continue;
		if (d->flags & UBP_TXF_LOST)
			tp->lost--;
		d->flags = UBP_TXF_SACKED;
		d->kind = 0;
	}
	ubp_tp_skip_gone(tp);
}

void ubp_tp_forget(struct ubp_tp *tp)
{
	tp->snd_una = tp->snd_nxt;
	tp->lost = 0;
	if (tp->cc)
		tp->cc->inflight = 0;
	tp->open_kind = 0;
	tp->rsp.rce_head = tp->rsp.rce_tail;
	tp->rsp.rce_next = tp->rsp.rce_tail;
}

void ubp_tp_lost(struct ubp_tp *tp)
{
	if (tp->state == UBP_TP_DEAD)
		return;
	ubp_stat(tp->dev, UBP_S_CHANNELS_LOST);
	if (tp->sh)
		ubp_tpcm_close(tp); /* it may be alive after all: it fails its own, too */
	ubp_tp_quiet(tp);
	tp->state = UBP_TP_FAILED;
	tp->cm_at = UBP_NEVER;
	tp->ack_at = UBP_NEVER;
	tp->stall_since = UBP_NEVER;
	ubp_tp_forget(tp);
	ubp_tp_drop_held(tp);
	ubp_ta_lost(tp);
}

void ubp_tp_opened(struct ubp_tp *tp)
{
	if (tp->state != UBP_TP_OPENING)
		return;
	tp->state = UBP_TP_OPEN;
	tp->cm_at = UBP_NEVER;
	tp->stall_since = UBP_NEVER;
	ubp_ta_opened(tp);
}

static u64 ubp_tp_deadline(const struct ubp_tp *tp)
{
	u64 at = ubp_ta_deadline(tp);

	if (tp->ack_at < at)
		at = tp->ack_at;
	if (tp->cm_at < at)
		at = tp->cm_at;
	at = min_t(u64, at, ubp_tp_shaped_until(tp));
	if (unlikely(tp->cc))
		at = min_t(u64, at, ubp_cc_deadline(tp));
	if (tp->snd_una != tp->snd_nxt) {
		u64 rto = tp->rto_base + ubp_tp_rto_us(tp) * 1000ull;

		if (rto < at)
			at = rto;
	}
	return at;
}

/*
 * The timer is only ever moved forward: a deadline that receded costs one early
 * call of ubp_timer(), which is cheaper than moving it with each packet.
 */
void ubp_tp_arm(struct ubp_tp *tp)
{
	u64 at;

	if (tp->state == UBP_TP_DEAD)
		return;
	at = ubp_tp_deadline(tp);
	if (at < tp->timer_at) {
		tp->timer_at = at;
		tp->dev->ops->timer(tp, at);
	}
}

void ubp_timer(struct ubp_tp *tp)
{
	ubp_lock(tp->lock);
	if (tp->state == UBP_TP_DEAD)
		goto out;
	tp->now = tp->dev->ops->now(tp->dev);
	tp->timer_at = UBP_NEVER;
	if (tp->ack_at <= tp->now)
		ubp_tp_send_ack(tp);
	if (tp->cm_at <= tp->now)
		ubp_tpcm_timer(tp);
	if (ubp_ta_deadline(tp) <= tp->now)
		ubp_ta_timer(tp);
	if (unlikely(tp->cc) && ubp_cc_timer(tp))
		ubp_tp_output(tp);
	if (ubp_tp_shaped_until(tp) <= tp->now)
		ubp_tp_output(tp);
	if (tp->snd_una != tp->snd_nxt && tp->rto_base + ubp_tp_rto_us(tp) * 1000ull <= tp->now)
		ubp_tp_timeout(tp);
	ubp_tp_arm(tp);
out:
	ubp_unlock(tp->lock);
}

void ubp_resume(struct ubp_tp *tp)
{
	ubp_lock(tp->lock);
	if (tp->state != UBP_TP_DEAD) {
		tp->now = tp->dev->ops->now(tp->dev);
		ubp_tp_output(tp);
		ubp_tp_arm(tp);
	}
	ubp_unlock(tp->lock);
}

static bool ubp_rx_tp(struct ubp_dev *dev, const struct ubp_rxpkt *pkt, const struct ubp_encap *e,
		      const struct ubp_tph *t)
{
	struct ubp_tp *tp = ubp_tp_find(dev, t->dst);
	bool kept = false;

	if (!tp) {
		ubp_stat(dev, UBP_D_NO_CHANNEL);
		return false;
	}
	ubp_lock(tp->lock);
	if (tp->state == UBP_TP_DEAD || tp->state == UBP_TP_IDLE || !tp->peer_known) {
		ubp_stat(dev, UBP_D_WRONG_STATE);
	} else if (t->src != tp->peer_tpn || !ubp_encap_match(e, &tp->path)) {
		ubp_stat(dev, UBP_D_WRONG_PEER);
	} else {
		tp->now = dev->ops->now(dev);
		if (t->op == UB_TP_RTP_DATA)
			kept = ubp_tp_rx_data(tp, pkt, e, t);
		else
			ubp_tp_rx_ack(tp, pkt->data + e->hlen + UB_TPH_LEN, t);
		ubp_tp_output(tp);
		if (tp->ack_now)
			ubp_tp_send_ack(tp);
		ubp_tp_arm(tp);
	}
	ubp_unlock(tp->lock);
	return kept;
}

bool ubp_rx(struct ubp_dev *dev, const struct ubp_rxpkt *pkt)
{
	struct ubp_encap e;
	struct ubp_tph t;
	const u8 *p;
	bool kept = false;
	u32 err;

	err = ubp_encap_check(&dev->cfg, pkt->data, pkt->len, &e);
	if (err)
		goto drop;
	err = UBP_D_UDP_CSUM;
	if (dev->cfg.verify_csum && !pkt->csum_ok && !ubp_encap_csum_ok(pkt->data, &e))
		goto drop;
	err = UBP_D_ICRC;
	if (ubp_icrc_load(pkt->data + e.total - UB_ICRC_LEN, dev->cfg.icrc_be) !=
	    ubp_icrc(pkt->data, e.total - UB_ICRC_LEN))
		goto drop;
	p = pkt->data + e.hlen;
	ubp_tph_parse(p, &t);
	err = ubp_tph_check(&t, p, e.total - e.hlen - UB_ICRC_LEN);
	if (!err && ubp_tph_is_data(&t))
		err = ubp_part_check(dev, &e, &t, p + UB_TPH_LEN);
	if (err)
		goto drop;
	ubp_stat(dev, UBP_S_RX_PACKETS);
	ubp_stat_add(dev->stats, UBP_S_RX_BYTES, e.total);
	if (unlikely(e.ecn == UB_ECN_CE))
		ubp_stat(dev, UBP_S_CE_MARKS);
	ubp_read_begin();
	if (t.op == UB_TP_UTP_DATA)
		ubp_utp_rx(dev, &e, p + t.hlen, e.total - e.hlen - UB_ICRC_LEN - t.pad - t.hlen);
	else
		kept = ubp_rx_tp(dev, pkt, &e, &t);
	ubp_read_end();
	return kept;
drop:
	ubp_stat(dev, UBP_S_RX_INVALID);
	ubp_stat(dev, err);
	return false;
}

void *ubp_tp_home(const struct ubp_tp *tp)
{
	return tp->home;
}

void ubp_tp_set_home(struct ubp_tp *tp, void *home)
{
	tp->home = home;
}

struct ubp_dev *ubp_tp_dev(const struct ubp_tp *tp)
{
	return tp->dev;
}

u32 ubp_tp_number(const struct ubp_tp *tp)
{
	return tp->tpn;
}
