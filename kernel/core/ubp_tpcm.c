// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Channel set-up, TPCM v1 (docs/decisions/0001, docs/wire.md). Both ends send
 * REQ from RTR on; a REQ is answered with REP, a REP with READY. An end may
 * send data once a message proves that the peer has its numbers, and takes none
 * before: packets do not say which incarnation they are from.
 */
#include "ubp_part.h"
#include "ubp_rm.h"

#define UBP_CM_FIRST_US 1000u
#define UBP_CM_MAX_US 200000u
#define UBP_CM_CHALLENGES 8u /* answers to one incarnation that proved nothing yet */
/*
 * Work that the peer left undone fails this long after it went away. Programs with
 * several queues to one peer rely on good completions of the others coming first, as
 * they do where only missing answers tell: long enough for one retransmission.
 */
#define UBP_CM_GRACE_US 250000u

/* A set-up message in host order; only what this end looks at */
struct ubp_cm {
	u8 type;
	u32 xid;
	u32 peer_xid;
	u32 ltpn;
	u32 rtpn;
	u32 psn;
	u32 ljetty;
	u32 rjetty;
	u32 npi;
	u32 mtu;
	u32 window;
	u8 retrans;
	u8 cc;
	u32 caps;
	u32 svc;
	u32 max_rd;
	u32 exec_msn; /* CLOSE only */
};

static u8 ubp_mtu_code(u32 mtu)
{
	u8 code = 1;

	while ((128u << code) < mtu)
		code++;
	return code;
}

static u8 ubp_log2(u32 v)
{
	u8 n = 0;

	while ((1u << n) < v)
		n++;
	return n;
}

/* A REQ says what this end wants, the others what is used, if that is settled */
static u8 ubp_cm_cc(const struct ubp_tp *tp, u8 type)
{
	bool settled = tp->peer_known && !(tp->sh && tp->sh->cand_left);

	if (type == UB_TPCM_REQ || !settled)
		return tp->offer_cc;
	return tp->cc ? tp->cc->ops->alg : UB_CC_NONE;
}

static void ubp_cm_send(struct ubp_tp *tp, u8 type)
{
	u32 jetty = tp->sh ? 0 : UB_TPN_RC_JETTY(tp->tpn);
	u8 b[UB_TPCM_LEN] = { 0 };

	put_unaligned_be32(UB_TPCM_MAGIC, b + UB_TPCM_O_MAGIC);
	b[UB_TPCM_O_VER] = UB_TPCM_VERSION;
	b[UB_TPCM_O_TYPE] = type;
	put_unaligned_be32(tp->xid, b + UB_TPCM_O_XID);
	put_unaligned_be32(tp->peer_xid, b + UB_TPCM_O_PEER_XID);
	put_unaligned_be32(tp->tpn, b + UB_TPCM_O_LTPN);
	put_unaligned_be32(tp->peer_tpn, b + UB_TPCM_O_RTPN);
	put_unaligned_be32(tp->snd_isn, b + UB_TPCM_O_PSN);
	put_unaligned_be32(jetty, b + UB_TPCM_O_LJETTY);
	put_unaligned_be32(tp->rmt_jetty, b + UB_TPCM_O_RJETTY);
	put_unaligned_be32(READ_ONCE(tp->dev->npi), b + UB_TPCM_O_UPI);
	memcpy(b + UB_TPCM_O_SEID, tp->path.laddr, 16);
	memcpy(b + UB_TPCM_O_DEID, tp->path.raddr, 16);
	b[UB_TPCM_O_MTU] = ubp_mtu_code(tp->offer_mtu);
	b[UB_TPCM_O_RETRANS] = tp->offer_retrans;
	b[UB_TPCM_O_OOO] = ubp_log2(tp->rx_window);
	b[UB_TPCM_O_BITMAP] = (u8)(ubp_log2(tp->rx_window > 64 ? tp->rx_window : 64) - 6);
	if (b[UB_TPCM_O_BITMAP] > UB_SACK_SIZE_MAX)
		b[UB_TPCM_O_BITMAP] = UB_SACK_SIZE_MAX;
	b[UB_TPCM_O_CC] = ubp_cm_cc(tp, type);
	b[UB_TPCM_O_RTO_MODE] = 1; /* measured */
	put_unaligned_be32(tp->dev->cfg.rto_min_us, b + UB_TPCM_O_RTO_BASE);
	put_unaligned_be32(tp->dev->cfg.caps, b + UB_TPCM_O_CAPS);
	put_unaligned_be32(tp->sh ? UB_SVC_ROI | UB_SVC_ROT : UB_SVC_ROL, b + UB_TPCM_O_SVC);
	if (tp->sh)
		put_unaligned_be16((u16)tp->sh->take_req, b + UB_TPCM_O_MAX_RD);
	if (tp->sh && tp->sh->cand_left && tp->state == UBP_TP_OPEN && type == UB_TPCM_REP) {
		/* what this end will be should the other one prove to be new */
		put_unaligned_be32(tp->sh->next_xid, b + UB_TPCM_O_XID);
		put_unaligned_be32(tp->sh->cand_xid, b + UB_TPCM_O_PEER_XID);
		put_unaligned_be32(tp->sh->cand_tpn, b + UB_TPCM_O_RTPN);
		put_unaligned_be32(tp->sh->next_isn, b + UB_TPCM_O_PSN);
	}
	if (type == UB_TPCM_CLOSE) {
		/* the last word on what arrived and was executed */
		put_unaligned_be32(ubp_psn_add(tp->rcv_nxt, UB_PSN_MASK), b + UB_TPCM_O_PSN);
		put_unaligned_be32(tp->rsp.exec_msn, b + UB_TPCM_O_RTO_BASE);
	}
	ubp_utp_send(tp->dev, &tp->path, b, sizeof(b));
}

void ubp_tpcm_open(struct ubp_tp *tp)
{
	tp->state = UBP_TP_OPENING;
	if (tp->sh)
		tp->stall_since = tp->now; /* somebody wants it: not for ever in vain */
	tp->cm_wait_us = UBP_CM_FIRST_US;
	tp->cm_at = tp->now + tp->cm_wait_us * 1000ull;
	ubp_cm_send(tp, UB_TPCM_REQ);
	ubp_tp_arm(tp);
}

void ubp_tpcm_hurry(struct ubp_tp *tp)
{
	u64 soon = tp->now + UBP_CM_FIRST_US * 1000ull;

	if (tp->cm_at <= soon)
		return;
	tp->cm_at = soon;
	tp->cm_wait_us = UBP_CM_FIRST_US;
}

void ubp_tpcm_close(struct ubp_tp *tp)
{
	if (tp->peer_known)
		ubp_cm_send(tp, UB_TPCM_CLOSE);
}

void ubp_tpcm_timer(struct ubp_tp *tp)
{
	if (tp->closed) {
		ubp_tp_lost(tp);
		return;
	}
	/* a peer that is not there matters only when work waits for it */
	if (tp->stall_since != UBP_NEVER && tp->lost_after &&
	    tp->now - tp->stall_since > tp->lost_after) {
		ubp_tp_lost(tp);
		return;
	}
	tp->cm_wait_us = min_t(u32, tp->cm_wait_us * 2, UBP_CM_MAX_US);
	tp->cm_at = tp->now + tp->cm_wait_us * 1000ull;
	ubp_cm_send(tp, UB_TPCM_REQ);
}

static bool ubp_cm_parse(const u8 *b, u32 len, struct ubp_cm *m)
{
	u8 mtu, win;

	if (len != UB_TPCM_LEN || get_unaligned_be32(b + UB_TPCM_O_MAGIC) != UB_TPCM_MAGIC ||
	    b[UB_TPCM_O_VER] != UB_TPCM_VERSION)
		return false;
	m->type = b[UB_TPCM_O_TYPE];
	m->xid = get_unaligned_be32(b + UB_TPCM_O_XID);
	m->peer_xid = get_unaligned_be32(b + UB_TPCM_O_PEER_XID);
	m->ltpn = get_unaligned_be32(b + UB_TPCM_O_LTPN);
	m->rtpn = get_unaligned_be32(b + UB_TPCM_O_RTPN);
	m->psn = get_unaligned_be32(b + UB_TPCM_O_PSN);
	m->ljetty = get_unaligned_be32(b + UB_TPCM_O_LJETTY);
	m->rjetty = get_unaligned_be32(b + UB_TPCM_O_RJETTY);
	m->npi = get_unaligned_be32(b + UB_TPCM_O_UPI);
	m->max_rd = get_unaligned_be16(b + UB_TPCM_O_MAX_RD);
	m->exec_msn = get_unaligned_be32(b + UB_TPCM_O_RTO_BASE) & UB_PSN_MASK;
	mtu = b[UB_TPCM_O_MTU];
	win = b[UB_TPCM_O_OOO];
	m->retrans = b[UB_TPCM_O_RETRANS];
	m->cc = b[UB_TPCM_O_CC];
	m->caps = get_unaligned_be32(b + UB_TPCM_O_CAPS);
	m->svc = get_unaligned_be32(b + UB_TPCM_O_SVC);
	/* who rejects may have no incarnation; our offsets need an MTU of 1024 */
	if (m->type < UB_TPCM_REQ || m->type > UB_TPCM_REJ || (!m->xid && m->type != UB_TPCM_REJ) ||
	    m->psn > UB_PSN_MASK || m->ltpn > UB_PSN_MASK || mtu < 3 || mtu > 6 || win > 24)
		return false;
	m->mtu = 128u << mtu;
	m->window = 1u << win;
	if (!win) { /* holds nothing out of order: no limit, and no selective retransmission */
		m->window = UB_PSN_MASK;
		m->retrans &= ~UB_TPCM_RETRANS_SR;
	}
	return true;
}

/* Adopt what the peer said of itself; fixed for the life of the channel from OPEN on */
static void ubp_cm_learn(struct ubp_tp *tp, const struct ubp_cm *m)
{
	tp->peer_known = true;
	tp->peer_xid = m->xid;
	tp->peer_tpn = m->ltpn;
	tp->rcv_nxt = m->psn;
	tp->rcv_max = ubp_psn_add(m->psn, UB_PSN_MASK);
	tp->rsp.exec_msn = 0;
	tp->rsp.exp_ssn = (u16)m->psn; /* TASSNs start at the low half of the first PSN */
	tp->mtu = min_t(u32, tp->offer_mtu, m->mtu);
	tp->window = min_t(u32, tp->txd_mask + 1, m->window);
	tp->caps = tp->dev->cfg.caps & m->caps;
	tp->svc = m->svc;
	tp->retrans = tp->offer_retrans & m->retrans;
	ubp_cc_agree(tp, m->cc);
	if (tp->sh)
		tp->sh->max_req = min_t(u32, UBP_RM_REQ, m->max_rd ? m->max_rd : 1);
}

/*
 * Another incarnation asks for a shared channel that is open. Who can repeat a number
 * that was sent to that address is there; only then the old one is given up.
 */
static void ubp_cm_candidate(struct ubp_tp *tp, const struct ubp_cm *m)
{
	struct ubp_share *sh = tp->sh;

	if (sh->cand_xid != m->xid) {
		sh->cand_xid = m->xid;
		sh->cand_left = UBP_CM_CHALLENGES;
	}
	sh->cand_tpn = m->ltpn;
	while (!sh->next_xid || sh->next_xid == tp->xid) {
		sh->next_xid = tp->dev->ops->random(tp->dev);
		sh->next_isn = tp->dev->ops->random(tp->dev) & UB_PSN_MASK;
	}
	ubp_tpcm_challenge(tp);
}

void ubp_tpcm_challenge(struct ubp_tp *tp)
{
	if (!tp->sh->cand_left)
		return;
	ubp_cm_send(tp, UB_TPCM_REP);
	tp->sh->cand_left--;
}

/* The answer to a challenge: start anew with it */
static void ubp_cm_proved(struct ubp_tp *tp, const struct ubp_cm *m)
{
	struct ubp_share *sh = tp->sh;
	u32 xid, isn;

	if (!sh || !sh->cand_xid || m->type != UB_TPCM_READY || m->xid != sh->cand_xid ||
	    m->peer_xid != sh->next_xid)
		return;
	xid = sh->next_xid;
	isn = sh->next_isn;
	ubp_tp_lost(tp);
	tp->xid = xid;
	tp->snd_isn = isn;
	tp->snd_una = isn;
	tp->snd_nxt = isn;
	tp->state = UBP_TP_OPENING;
}

/* Is it from the incarnation that we talk with, or may we start with it? */
static bool ubp_cm_accept(struct ubp_tp *tp, const struct ubp_cm *m)
{
	if (tp->peer_known && m->xid == tp->peer_xid)
		return true;
	if (m->type != UB_TPCM_REQ && m->peer_xid != tp->xid)
		return false; /* answers somebody who used our numbers before */
	if (tp->state != UBP_TP_OPENING)
		return false; /* the peer restarted under an open channel */
	ubp_cm_learn(tp, m);
	return true;
}

static void ubp_cm_closed(struct ubp_tp *tp, const struct ubp_cm *m)
{
	if (tp->state != UBP_TP_OPEN || m->xid != tp->peer_xid || m->peer_xid != tp->xid) {
		ubp_stat(tp->dev, UBP_D_TPCM_STALE);
		return;
	}
	ubp_tp_implied_ack(tp, m->psn, m->exec_msn);
	if (tp->state != UBP_TP_OPEN || tp->closed)
		return;
	if (tp->sh) {
		ubp_tp_lost(tp); /* and is opened anew for the next request */
		return;
	}
	tp->closed = true;
	tp->cm_at = tp->now + UBP_CM_GRACE_US * 1000ull;
}

static void ubp_cm_handle(struct ubp_tp *tp, const struct ubp_cm *m)
{
	if (m->type == UB_TPCM_CLOSE || m->type == UB_TPCM_REJ) {
		ubp_cm_closed(tp, m);
		return;
	}
	if (tp->sh && tp->state == UBP_TP_OPEN && m->type == UB_TPCM_REQ &&
	    m->xid != tp->peer_xid) {
		ubp_cm_candidate(tp, m);
		return;
	}
	ubp_cm_proved(tp, m);
	if (!ubp_cm_accept(tp, m)) {
		ubp_stat(tp->dev, UBP_D_TPCM_STALE);
		return;
	}
	if (m->type == UB_TPCM_REQ)
		ubp_cm_send(tp, UB_TPCM_REP);
	else if (m->type == UB_TPCM_REP && (tp->state == UBP_TP_OPENING || tp->sh))
		ubp_cm_send(tp, UB_TPCM_READY);
	if (m->peer_xid == tp->xid)
		ubp_tp_opened(tp);
}

/* A channel that belongs to no jetty is found by the addresses of its ends */
static bool ubp_cm_is_shared(const struct ubp_cm *m)
{
	return !m->ljetty && !m->rjetty;
}

/* What the message says must agree with what its packet says; 0: nothing */
static u32 ubp_cm_partition(const struct ubp_dev *dev, const struct ubp_cm *m)
{
	if (!m->npi)
		return 0;
	return ubp_npi_ok(m->npi) ? ubp_part_may(READ_ONCE(dev->npi), m->npi) : UBP_D_PARTITION;
}

static struct ubp_tp *ubp_cm_find(struct ubp_dev *dev, const struct ubp_encap *e,
				  const struct ubp_cm *m)
{
	u8 saddr[16], daddr[16];

	if (ubp_cm_is_shared(m)) {
		ubp_encap_addr(e, saddr, daddr);
		return ubp_share_by_addr(dev, daddr, saddr);
	}
	return m->rjetty <= UBOE_SQE_RMT_ID ? ubp_tp_find(dev, UB_TPN_RC(m->rjetty)) : NULL;
}

void ubp_tpcm_rx(struct ubp_dev *dev, const struct ubp_encap *e, const u8 *body, u32 len)
{
	struct ubp_tp *tp;
	struct ubp_cm m;
	u32 drop;

	if (!ubp_cm_parse(body, len, &m)) {
		ubp_stat(dev, UBP_D_TPCM);
		return;
	}
	drop = ubp_cm_partition(dev, &m);
	if (drop) {
		ubp_stat(dev, drop);
		return;
	}
	tp = ubp_cm_find(dev, e, &m);
	if (!tp) {
		if (ubp_cm_is_shared(&m) && m.type == UB_TPCM_REQ && ubp_share_want(dev, e))
			return;
		ubp_stat(dev, UBP_D_TPCM_NO_JETTY); /* not in RTR yet: the peer repeats */
		return;
	}
	ubp_lock(tp->lock);
	tp->now = dev->ops->now(dev);
	if (tp->sh && tp->state == UBP_TP_IDLE && m.type == UB_TPCM_REQ)
		ubp_tpcm_open(tp);
	if (tp->state == UBP_TP_DEAD || tp->state == UBP_TP_IDLE) {
		ubp_stat(dev, UBP_D_TPCM_NO_JETTY);
	} else if ((!tp->sh && m.ljetty != tp->rmt_jetty) || !ubp_encap_match(e, &tp->path)) {
		ubp_stat(dev, UBP_D_WRONG_PEER);
	} else {
		ubp_cm_handle(tp, &m);
		ubp_tp_output(tp);
		ubp_tp_arm(tp);
	}
	ubp_unlock(tp->lock);
}
