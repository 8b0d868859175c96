// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Between the transport and the algorithms of congestion control. */
#include "ubp_caqm.h"
#include "ubp_tp.h"

#define UBP_CC_RTT_SHIFT 3

const struct ubp_cc_ops *ubp_cc_ops(u32 alg)
{
	switch (alg) {
	case UB_CC_DCQCN:
		return &ubp_cc_dcqcn;
	case UB_CC_LDCP:
		return &ubp_cc_ldcp;
	case UB_CC_CAQM:
		return &ubp_cc_caqm;
	default:
		return NULL;
	}
}

static void ubp_cc_slower(struct ubp_tp *tp, bool slower)
{
	if (slower)
		ubp_stat(tp->dev, UBP_S_CC_REDUCTIONS);
}

/*
 * Both ends come to the same result whatever message they learn it from, for it is a
 * function of what the two want: what both do, or nothing. Ethernet has no fields for CAQM
 * and FECN_RTT (draft, "Impact on Transport Congestion Control Loop"): CAQM is for two
 * ports of UB domains, the other is not there.
 */
void ubp_cc_agree(struct ubp_tp *tp, u8 peer_alg)
{
	struct ubp_cc *cc = tp->cc_mem;

	tp->cc = NULL;
	if (unlikely(!ubp_cc_can(tp->dev, peer_alg)))
		ubp_stat(tp->dev, UBP_S_CC_NOT_MAPPABLE);
	if (tp->offer_cc == UB_CC_NONE || peer_alg != tp->offer_cc)
		return;
	memset(cc, 0, sizeof(*cc));
	cc->ops = ubp_cc_ops(tp->offer_cc);
	cc->par = &tp->dev->cfg.cc.par;
	cc->mtu = tp->mtu;
	cc->below = ubp_encap_len(&tp->path);
	cc->when = UBP_CC_NEVER;
	cc->cnp_due = UBP_CC_NEVER;
	tp->cc = cc;
	cc->ops->start(tp->cc, tp->now);
}

bool ubp_cc_may(struct ubp_tp *tp, u32 len)
{
	struct ubp_cc *cc = tp->cc;
	u64 at;

	/* short answers of a channel that failed wait for nobody */
	if (cc->force || tp->state != UBP_TP_OPEN)
		return true;
	at = cc->ops->wait(cc, len, tp->now);
	cc->when = at ? at : UBP_CC_NEVER;
	return !at;
}

u16 ubp_cc_sent(struct ubp_tp *tp, const struct ubp_txd *d, u32 len)
{
	struct ubp_cc *cc = tp->cc;
	u32 size = len - cc->below;

	cc->force = false;
	if (!(d->flags & UBP_TXF_LOST))
		cc->total += size / 2;
	else if (size > d->size) /* it has become an error since: rarely longer */
		cc->total += (size - d->size) / 2;
	cc->inflight += size;
	if (cc->ops->sent)
		cc->ops->sent(cc, len, tp->now);
	return cc->ops->cci ? cc->ops->cci(cc, size, tp->now) : 0;
}

/*
 * What is under way follows from the numbers of packets, not from Ack_Seq (Base Spec
 * 6.6.1): the same as long as both ends count alike, and 0 in the end in any case. A
 * packet that has to be sent again is not under way until it is: so a TPNAK, after which
 * all are, empties it (go-back-N), and a TPSACK takes out those that it shows missing.
 */
void ubp_cc_out(struct ubp_tp *tp, const struct ubp_txd *d)
{
	tp->cc->inflight -= min_t(u32, tp->cc->inflight, d->size);
}

void ubp_cc_back(struct ubp_tp *tp, const struct ubp_txd *d)
{
	tp->cc->inflight += d->size;
}

bool ubp_cc_ask(struct ubp_tp *tp)
{
	const struct ubp_cc *cc = tp->cc;

	return cc->ops->ask && cc->ops->ask(cc, tp->since_ask);
}

/*
 * Times of algorithms follow the round trip. A shorter one counts at once, longer ones by
 * and by: who began while a queue was long, or has become slow and measures seldom, must
 * not go on with times of that queue.
 */
void ubp_cc_rtt(struct ubp_tp *tp, u32 rtt_us)
{
	struct ubp_cc *cc = tp->cc;

	cc->answered = true;
	if (!cc->rtt_us || rtt_us < cc->rtt_us)
		cc->rtt_us = max_t(u32, rtt_us, 1);
	else
		cc->rtt_us += (rtt_us - cc->rtt_us) >> UBP_CC_RTT_SHIFT;
}

void ubp_cc_timeout(struct ubp_tp *tp)
{
	struct ubp_cc *cc = tp->cc;
	bool plain = cc->plain;

	cc->inflight = 0;
	cc->force = true;
	ubp_cc_slower(tp, cc->ops->timeout(cc, tp->now));
	if (cc->plain && !plain)
		ubp_stat(tp->dev, UBP_S_CC_NOT_MAPPABLE);
}

static void ubp_cc_send_cnp(struct ubp_tp *tp)
{
	struct ubp_cc *cc = tp->cc;
	bool light = cc->cnp_level == UBP_CC_LIGHT && tp->caps & UB_CAP_CNP2;

	u64 wait = ubp_cc_time(cc, cc->par->cnp_us, cc->par->cnp_rtt);

	if (!ubp_tp_send_cnp(tp, light ? UB_CNP_ECN_LIGHT : UB_CNP_ECN_SEVERE)) {
		cc->cnp_due = tp->now + max_t(u64, wait, 1000);
		return;
	}
	ubp_stat(tp->dev, UBP_S_CNP_SENT);
	cc->cnp_due = UBP_CC_NEVER;
	cc->cnp_next = tp->now + wait;
}

void ubp_cc_seen(struct ubp_tp *tp, u8 level, u16 cci, u32 size, bool taken)
{
	struct ubp_cc *cc = tp->cc;

	if (level || (ubp_caqm_is(cci) && cci & UB_CCI_CAQM_C))
		ubp_stat(tp->dev, UBP_S_CE_RECEIVED);
	if (taken) {
		cc->rx_ack += (size + 1) / 2;
		if (level)
			cc->rx_ce += (size + 1) / 2;
		if (cc->ops->heed)
			cc->ops->heed(cc, cci);
	}
	if (!cc->ops->seen)
		return;
	cc->ops->seen(cc, level, tp->now);
	if (cc->cnp_due <= tp->now)
		ubp_cc_send_cnp(tp);
}

void ubp_cc_rx_cnp(struct ubp_tp *tp, const u8 *p)
{
	u8 level = (p[0] & UB_CNP_ECN) >> 6;

	ubp_stat(tp->dev, UBP_S_CNP_RECEIVED);
	if (!tp->cc || !tp->cc->ops->cnp || !level)
		return;
	/* who did not announce two levels has one */
	if (level == UB_CNP_ECN_LIGHT && tp->caps & UB_CAP_CNP2)
		level = UBP_CC_LIGHT;
	else
		level = UBP_CC_SEVERE;
	ubp_cc_slower(tp, tp->cc->ops->cnp(tp->cc, level, tp->now));
}

bool ubp_cc_rx_counters(struct ubp_tp *tp, const u8 *p)
{
	struct ubp_cc *cc = tp->cc;
	enum ubp_cc_news news;
	u32 acked;

	if (!cc->ops->told)
		return true; /* nobody here asked for them */
	acked = get_unaligned_be32(p) - cc->seen_ack;
	if (acked >> 31)
		return true; /* overtaken by a newer one */
	if (acked > cc->total - cc->seen_ack)
		return false;
	news = cc->ops->told(cc, acked, p + 4, tp->now);
	if (news == UBP_CC_NONSENSE)
		return false;
	cc->seen_ack += acked;
	ubp_cc_slower(tp, news == UBP_CC_SLOWER);
	return true;
}

void ubp_cc_put_counters(struct ubp_tp *tp, u8 *p)
{
	put_unaligned_be32(tp->cc->rx_ack, p);
	tp->cc->ops->tell(tp->cc, p + 4);
}

u64 ubp_cc_deadline(const struct ubp_tp *tp)
{
	return min_t(u64, tp->cc->when, tp->cc->cnp_due);
}

bool ubp_cc_timer(struct ubp_tp *tp)
{
	if (tp->cc->cnp_due <= tp->now)
		ubp_cc_send_cnp(tp);
	return tp->cc->when <= tp->now;
}
