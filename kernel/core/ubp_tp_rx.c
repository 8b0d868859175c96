// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Receiver of a reliable channel, and what its acknowledgements tell the sender. */
#include "ubp_tp.h"

static void ubp_tp_deliver(struct ubp_tp *tp, const struct ubp_rxpkt *pkt,
			   const struct ubp_encap *e, const struct ubp_tph *t)
{
	const u8 *p = pkt->data + e->hlen + t->hlen;
	u32 len = e->total - e->hlen - t->hlen - UB_ICRC_LEN - t->pad;
	enum ubp_ta_err err;
	struct ubp_ta ta;

	tp->rcv_nxt = ubp_psn_add(tp->rcv_nxt, 1);
	if (t->fake)
		return; /* keep-alive: only its PSN counts (docs/wire.md) */
	err = ubp_ta_parse(p, len, &ta);
	if (!err && ta.pld_len > tp->mtu)
		err = UBP_TA_SHORT;
	ubp_ta_deliver(tp, t, &ta, err);
}

/* Packets that waited for the gap to close */
static void ubp_tp_drain(struct ubp_tp *tp)
{
	while (tp->held) {
		struct ubp_rxpkt *slot = &tp->ooo[tp->rcv_nxt & tp->ooo_mask];
		struct ubp_rxpkt pkt = *slot;
		struct ubp_encap e;
		struct ubp_tph t;

		if (!pkt.data)
			return;
		slot->data = NULL;
		tp->held--;
		/* was checked when it came; this only finds the headers again */
		if (!ubp_encap_check(&tp->dev->cfg, pkt.data, pkt.len, &e)) {
			ubp_tph_parse(pkt.data + e.hlen, &t);
			ubp_tp_deliver(tp, &pkt, &e, &t);
			if (t.ack)
				tp->ack_now = true;
		}
		tp->dev->ops->rx_free(tp->dev, pkt.cookie);
	}
}

void ubp_tp_drop_held(struct ubp_tp *tp)
{
	u32 i;

	for (i = 0; tp->held && i <= tp->ooo_mask; i++) {
		if (!tp->ooo[i].data)
			continue;
		tp->dev->ops->rx_free(tp->dev, tp->ooo[i].cookie);
		tp->ooo[i].data = NULL;
		tp->held--;
	}
}

static bool ubp_tp_out_of_order(struct ubp_tp *tp, const struct ubp_rxpkt *pkt, u32 psn)
{
	struct ubp_rxpkt *slot = &tp->ooo[psn & tp->ooo_mask];

	ubp_stat(tp->dev, UBP_S_OUT_OF_ORDER);
	if (ubp_psn_before(tp->rcv_max, psn))
		tp->rcv_max = psn;
	if (!ubp_tp_selective(tp)) {
		tp->nak_now = !tp->nak_sent;
		tp->nak_sent = true;
		tp->ack_now |= tp->nak_now;
		return false;
	}
	tp->ack_now = true;
	if (slot->data) {
		ubp_stat(tp->dev, UBP_D_DUPLICATE);
		return false;
	}
	*slot = *pkt;
	tp->held++;
	return true;
}

static void ubp_tp_note_unacked(struct ubp_tp *tp)
{
	const struct ubp_config *cfg = &tp->dev->cfg;

	tp->unacked++;
	if (tp->unacked >= 2u * cfg->ack_every)
		tp->ack_now = true;
	else if (tp->ack_at == UBP_NEVER)
		tp->ack_at = tp->now + cfg->ack_delay_us * 1000ull;
}

/* What a data packet says of the way; @taken: it was not there before */
static void ubp_tp_seen(struct ubp_tp *tp, const struct ubp_rxpkt *pkt, const struct ubp_encap *e,
			bool taken)
{
	if (unlikely(tp->cc))
		ubp_cc_seen(tp, ubp_rx_level(pkt, e), pkt->cci, e->total - e->hlen, taken);
}

bool ubp_tp_rx_data(struct ubp_tp *tp, const struct ubp_rxpkt *pkt, const struct ubp_encap *e,
		    const struct ubp_tph *t)
{
	s32 d = ubp_psn_diff(t->psn, tp->rcv_nxt);

	if (unlikely(tp->sh))
		ubp_tpcm_challenge(tp);
	if (unlikely(tp->state == UBP_TP_OPENING)) {
		/* could be of an earlier channel under these numbers: only TPCM tells */
		ubp_stat(tp->dev, UBP_D_WRONG_STATE);
		ubp_tpcm_hurry(tp);
		return false;
	}
	if (tp->state == UBP_TP_FAILED && tp->rsp.blocked != UB_RSPST_ERROR) {
		ubp_stat(tp->dev, UBP_D_WRONG_STATE);
		ubp_tpcm_close(tp); /* the first one may have been lost */
		return false;
	}
	if (d < 0) {
		ubp_stat(tp->dev, UBP_S_DUPLICATES);
		tp->ack_now = true;
		ubp_tp_seen(tp, pkt, e, false);
		return false;
	}
	if ((u32)d >= tp->rx_window) {
		ubp_stat(tp->dev, UBP_D_PSN_WINDOW);
		return false;
	}
	if (d > 0) {
		bool kept = ubp_tp_out_of_order(tp, pkt, t->psn);

		ubp_tp_seen(tp, pkt, e, kept);
		return kept;
	}
	if (ubp_psn_before(tp->rcv_max, t->psn))
		tp->rcv_max = t->psn;
	tp->nak_sent = false;
	tp->nak_now = false; /* a TPNAK that found no room has no gap to name any more */
	ubp_tp_seen(tp, pkt, e, true);
	ubp_tp_deliver(tp, pkt, e, t);
	if (t->ack)
		tp->ack_now = true;
	else
		ubp_tp_note_unacked(tp);
	if (unlikely(tp->held)) {
		ubp_tp_drain(tp);
		if (tp->held)
			tp->ack_now = true;
	}
	return false;
}

/* Round-trip time, RFC 6298 arithmetic in microseconds */
static void ubp_tp_rtt(struct ubp_tp *tp, const struct ubp_txd *d)
{
	u32 rtt, delta;

	/* Karn: a resent packet measures nothing, nor does one that waited behind a gap */
	if ((d->flags & (UBP_TXF_ASKED | UBP_TXF_AGAIN | UBP_TXF_SACKED)) != UBP_TXF_ASKED)
		return;
	rtt = (u32)(tp->now / 1000) - d->sent_us;
	if (unlikely(tp->cc))
		ubp_cc_rtt(tp, rtt);
	if (!tp->srtt_us) {
		tp->srtt_us = rtt ? rtt : 1;
		tp->rttvar_us = rtt / 2;
		return;
	}
	delta = rtt > tp->srtt_us ? rtt - tp->srtt_us : tp->srtt_us - rtt;
	tp->rttvar_us += ((s32)delta - (s32)tp->rttvar_us) / 4;
	tp->srtt_us += ((s32)rtt - (s32)tp->srtt_us) / 8;
	if (!tp->srtt_us)
		tp->srtt_us = 1;
}

static void ubp_tp_progress(struct ubp_tp *tp)
{
	tp->backoff = 0;
	tp->rto_base = tp->now;
	tp->stall_since = tp->snd_una == tp->snd_nxt ? UBP_NEVER : tp->now;
}

/* Acknowledge everything before @end */
static void ubp_tp_cumulative(struct ubp_tp *tp, u32 end)
{
	bool moved = tp->snd_una != end;

	while (tp->snd_una != end) {
		struct ubp_txd *d = ubp_tp_txd(tp, tp->snd_una);

		if (d->flags & UBP_TXF_LOST)
			tp->lost--;
		else if (unlikely(tp->cc) && !(d->flags & UBP_TXF_SACKED))
			ubp_cc_out(tp, d);
		tp->snd_una = ubp_psn_add(tp->snd_una, 1);
		if (tp->snd_una == end)
			ubp_tp_rtt(tp, d);
		ubp_ta_acked(tp, d);
	}
	if (unlikely(tp->state == UBP_TP_FAILED))
		ubp_tp_skip_gone(tp);
	if (moved)
		ubp_tp_progress(tp);
}

/*
 * The first answer after a timeout. Only the probe was sent again, so when more
 * than it has arrived the others were late, not lost: what is still missing shows
 * up in a TPSACK or at the next timeout. Otherwise all of it is sent again.
 */
static void ubp_tp_answered(struct ubp_tp *tp, u32 end, bool sack)
{
	u32 psn;

	if (likely(!tp->probing))
		return;
	tp->probing = false;
	/* without fast retransmission a TPSACK marks nothing: the timeout's marks stay */
	if (sack ? !(tp->retrans & UB_TPCM_RETRANS_FAST) : ubp_psn_diff(end, tp->probe_psn) <= 1)
		return;
	for (psn = tp->snd_una; tp->lost && psn != tp->snd_nxt; psn = ubp_psn_add(psn, 1)) {
		struct ubp_txd *d = ubp_tp_txd(tp, psn);

		if (!(d->flags & UBP_TXF_LOST))
			continue;
		d->flags &= ~UBP_TXF_LOST;
		tp->lost--;
		if (unlikely(tp->cc))
			ubp_cc_back(tp, d);
	}
}

void ubp_tp_implied_ack(struct ubp_tp *tp, u32 psn, u32 msn)
{
	u32 end = ubp_psn_add(psn, 1);

	if (ubp_psn_diff(end, tp->snd_una) > 0 && ubp_psn_diff(tp->snd_nxt, end) >= 0) {
		ubp_tp_answered(tp, end, false);
		ubp_tp_cumulative(tp, end);
	}
	ubp_ta_answer(tp, msn, UB_RSPST_OK, 0);
}

static void ubp_tp_mark_lost(struct ubp_tp *tp, struct ubp_txd *d, u32 psn)
{
	if (d->flags & (UBP_TXF_SACKED | UBP_TXF_LOST))
		return;
	d->flags |= UBP_TXF_LOST;
	if (unlikely(tp->cc))
		ubp_cc_out(tp, d);
	/* behind others, rtx_at stays a bound for them even when it is before snd_una */
	if (!tp->lost++ || ubp_psn_before(psn, tp->rtx_at))
		tp->rtx_at = psn;
}

/* Gaps below the newest arrival are lost once something sent after them came through. */
static void ubp_tp_find_lost(struct ubp_tp *tp, u32 newest)
{
	u32 psn;

	if (!(tp->retrans & UB_TPCM_RETRANS_FAST))
		return;
	for (psn = tp->snd_una; ubp_psn_before(psn, newest); psn = ubp_psn_add(psn, 1)) {
		struct ubp_txd *d = ubp_tp_txd(tp, psn);

		if (!ubp_psn_before(newest, d->mark))
			ubp_tp_mark_lost(tp, d, psn);
	}
}

static void ubp_tp_sacked(struct ubp_tp *tp, u32 base, const u8 *map, u32 bits)
{
	u32 i, newest = base;

	for (i = 1; i < bits; i++) {
		u32 psn = ubp_psn_add(base, i);
		struct ubp_txd *d;

		if (!(map[i / 8] >> (i % 8) & 1))
			continue;
		if (ubp_psn_before(psn, tp->snd_una) || !ubp_psn_before(psn, tp->snd_nxt))
			continue;
		newest = psn;
		d = ubp_tp_txd(tp, psn);
		if (d->flags & UBP_TXF_SACKED)
			continue;
		if (d->flags & UBP_TXF_LOST)
			tp->lost--;
		else if (unlikely(tp->cc))
			ubp_cc_out(tp, d);
		d->flags = (u8)((d->flags | UBP_TXF_SACKED) & ~UBP_TXF_LOST);
		ubp_tp_progress(tp);
	}
	ubp_tp_find_lost(tp, newest);
}

/* Can it acknowledge up to (not including) @end? */
static bool ubp_tp_ack_valid(const struct ubp_tp *tp, u32 end)
{
	return ubp_psn_diff(tp->snd_nxt, end) >= 0;
}

/* @p: the SAETPH, whose size has been checked */
static void ubp_tp_rx_sack(struct ubp_tp *tp, const u8 *p, const struct ubp_tph *t)
{
	u32 max = ubp_get_be24(p + 1), end = ubp_psn_add(t->psn, 1);

	if (!ubp_psn_before(max, tp->snd_nxt) || !ubp_tp_ack_valid(tp, end)) {
		ubp_stat(tp->dev, UBP_D_SACK_INVALID);
		return;
	}
	if (ubp_psn_diff(end, tp->snd_una) < 0)
		return; /* overtaken by a newer one */
	ubp_tp_answered(tp, end, true);
	ubp_tp_cumulative(tp, end);
	ubp_tp_sacked(tp, t->psn, p + UB_SAETPH_LEN, 64u << (p[0] & 7));
	ubp_ta_answer(tp, t->msn, UB_RSPST_OK, 0);
}

/* TPNAK: all before it arrived, all from it on must be sent again */
static void ubp_tp_rx_nak(struct ubp_tp *tp, const struct ubp_tph *t)
{
	u32 psn;

	if (ubp_psn_diff(t->psn, tp->snd_una) < 0)
		return;
	tp->probing = false;
	ubp_tp_cumulative(tp, t->psn);
	for (psn = tp->snd_una; psn != tp->snd_nxt; psn = ubp_psn_add(psn, 1))
		ubp_tp_mark_lost(tp, ubp_tp_txd(tp, psn), psn);
	ubp_ta_answer(tp, t->msn, UB_RSPST_OK, 0);
}

static void ubp_tp_rx_plain(struct ubp_tp *tp, const struct ubp_tph *t)
{
	bool nak = t->rspst == UB_RSPST_ERROR && t->rspinfo == UB_RSPINFO_PSN;
	u32 end = nak ? t->psn : ubp_psn_add(t->psn, 1);

	if (!ubp_tp_ack_valid(tp, end)) {
		ubp_stat(tp->dev, UBP_D_ACK_INVALID);
		return;
	}
	if (nak) {
		ubp_tp_rx_nak(tp, t);
		return;
	}
	if (ubp_psn_diff(end, tp->snd_una) < 0)
		return;
	ubp_tp_answered(tp, end, false);
	ubp_tp_cumulative(tp, end);
	ubp_ta_answer(tp, t->msn, t->rspst, t->rspinfo);
}

void ubp_tp_rx_ack(struct ubp_tp *tp, const u8 *p, const struct ubp_tph *t)
{
	if (tp->state == UBP_TP_FAILED && !ubp_tp_in_flight(tp))
		return;
	/* without a congestion controller CETPHs feed nobody */
	if (unlikely(tp->cc) && (t->op == UB_TP_ACK_CC || t->op == UB_TP_SACK_CC) &&
	    !ubp_cc_rx_counters(tp, p)) {
		ubp_stat(tp->dev, UBP_D_CC_COUNTERS);
		return;
	}
	switch (t->op) {
	case UB_TP_SACK:
		ubp_tp_rx_sack(tp, p, t);
		break;
	case UB_TP_SACK_CC:
		ubp_tp_rx_sack(tp, p + UB_CETPH_LEN, t);
		break;
	case UB_TP_ACK:
	case UB_TP_ACK_CC:
		ubp_tp_rx_plain(tp, t);
		break;
	default:
		ubp_cc_rx_cnp(tp, p);
		break;
	}
}
