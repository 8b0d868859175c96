// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Sender of a reliable channel: new packets, retransmission, acknowledgements. */
#include "ubp_part.h"
#include "ubp_tm.h"
#include "ubp_tp.h"

#define UBP_MAX_BACKOFF 10

enum ubp_sent { UBP_SENT, UBP_NO_ROOM, UBP_NO_DATA };

static u32 ubp_tp_now_us(const struct ubp_tp *tp)
{
	return (u32)(tp->now / 1000);
}

u32 ubp_tp_rto_us(const struct ubp_tp *tp)
{
	const struct ubp_config *cfg = &tp->dev->cfg;
	u64 rto = tp->srtt_us + 4ull * tp->rttvar_us;

	if (rto < cfg->rto_min_us)
		rto = cfg->rto_min_us;
	rto <<= min_t(u32, tp->backoff, UBP_MAX_BACKOFF);
	/* the ceiling must not cut below what the path needs */
	if (rto > cfg->rto_max_us)
		rto = max_t(u64, cfg->rto_max_us, tp->srtt_us + 4ull * tp->rttvar_us);
	return (u32)rto;
}

/* Marks are asked for where somebody heeds them, and of data alone (decision 0011) */
static u8 ubp_tp_ecn(const struct ubp_tp *tp, const struct ubp_tph *t)
{
	/* CAQM's are asked for in CCI, and no border may take it for the other kind */
	return unlikely(tp->cc) && t->op == UB_TP_RTP_DATA && !tp->cc->ops->cci ? UB_ECN_ECT0 :
										  UB_ECN_NOT_ECT;
}

/* Write the headers from IP to TPH; returns where the next one goes */
static u8 *ubp_tp_head(struct ubp_tp *tp, struct ubp_txbuf *buf, const struct ubp_tph *t)
{
	u8 *p = buf->data;

	ubp_encap_fill(&tp->path, ubp_tp_ecn(tp, t), p, buf->len);
	p += ubp_encap_len(&tp->path);
	ubp_tph_build(p, t);
	return p + UB_TPH_LEN;
}

static void ubp_tp_xmit(struct ubp_tp *tp, struct ubp_txbuf *buf)
{
	struct ubp_dev *dev = tp->dev;
	u32 crc = ubp_icrc(buf->data, buf->len - UB_ICRC_LEN);

	ubp_icrc_store(buf->data + buf->len - UB_ICRC_LEN, crc, dev->cfg.icrc_be);
	ubp_stat(dev, UBP_S_TX_PACKETS);
	ubp_stat_add(dev->stats, UBP_S_TX_BYTES, buf->len);
	dev->ops->tx_send(dev, &tp->path, buf);
}

/* A channel that failed has only short answers left, which wait for nobody */
static struct ubp_tm_flow *ubp_tp_flow(const struct ubp_tp *tp)
{
	return tp->state == UBP_TP_OPEN ? ubp_tp_tm(tp) : NULL;
}

u64 ubp_tp_shaped_until(const struct ubp_tp *tp)
{
	const struct ubp_tm_flow *f = ubp_tp_tm(tp);

	return unlikely(f) ? f->when : UBP_NEVER;
}

void ubp_tp_unshaped(struct ubp_tp *tp)
{
	tp->now = tp->dev->ops->now(tp->dev);
	ubp_tp_output(tp);
	ubp_tp_arm(tp);
}

/* Room for a packet, if its queue may send one now */
static bool ubp_tp_room(struct ubp_tp *tp, struct ubp_txbuf *buf)
{
	struct ubp_tm_flow *f = ubp_tp_flow(tp);

	if (unlikely(tp->cc) && !ubp_cc_may(tp, buf->len))
		return false;
	if (unlikely(f) && !ubp_tm_ask(f, buf->len, tp->now))
		return false;
	if (ubp_tx_alloc(tp->dev, &tp->path, buf->len, buf))
		return true;
	if (f)
		ubp_tm_back(f, buf->len);
	return false;
}

static void ubp_tp_unroom(struct ubp_tp *tp, struct ubp_txbuf *buf)
{
	struct ubp_tm_flow *f = ubp_tp_flow(tp);

	if (f)
		ubp_tm_back(f, buf->len);
	tp->dev->ops->tx_free(tp->dev, buf);
}

static enum ubp_sent ubp_tp_emit(struct ubp_tp *tp, struct ubp_txd *d, u32 psn, bool ask)
{
	struct ubp_txbuf buf;
	struct ubp_tph t;
	struct ubp_ta h;
	u32 npi = READ_ONCE(tp->dev->npi);
	u32 pad, len = ubp_part_len(npi);
	bool data;
	u8 *p;

	h.pld_len = 0;
	data = ubp_ta_headers(tp, d, &h);
	pad = -h.pld_len & 3;
	if (likely(data))
		len += ubp_ta_len(&h) + h.pld_len + pad;
	buf.len = ubp_encap_len(&tp->path) + UB_TPH_LEN + len + UB_ICRC_LEN;
	if (!ubp_tp_room(tp, &buf))
		return UBP_NO_ROOM;
	t = (struct ubp_tph){
		.op = UB_TP_RTP_DATA,
		.last = data && d->flags & UBP_TXF_LAST,
		.pad = (u8)pad,
		.nlp = ubp_part_nlp(npi),
		.ack = ask,
		.fake = !data,
		.src = tp->tpn,
		.dst = tp->peer_tpn,
		.psn = psn,
		.msn = d->msn,
	};
	p = ubp_part_build(ubp_tp_head(tp, &buf, &t), npi, &tp->path);
	if (likely(data))
		p += ubp_ta_build(p, &h);
	if (h.pld_len && !ubp_ta_payload(tp, d, p, h.pld_len)) {
		ubp_tp_unroom(tp, &buf);
		return UBP_NO_DATA;
	}
	memset(p + h.pld_len, 0, pad);
	if (unlikely(tp->cc))
		buf.cci = ubp_cc_sent(tp, d, buf.len);
	d->size = (u16)(buf.len - ubp_encap_len(&tp->path));
	ubp_tp_xmit(tp, &buf);
	return UBP_SENT;
}

/* An answer whose memory went away is sent as an error in the same place, a request empty */
static enum ubp_sent ubp_tp_emit_any(struct ubp_tp *tp, struct ubp_txd *d, u32 psn, bool ask)
{
	enum ubp_sent r = ubp_tp_emit(tp, d, psn, ask);

	if (r == UBP_NO_DATA && (d->kind == UBP_TX_RESPONSE || tp->sh))
		r = ubp_tp_emit(tp, d, psn, ask);
	return r;
}

static void ubp_tp_asked(struct ubp_tp *tp, struct ubp_txd *d, bool ask)
{
	if (ask) {
		d->flags |= UBP_TXF_ASKED;
		tp->since_ask = 0;
	} else {
		d->flags &= ~UBP_TXF_ASKED;
		tp->since_ask++;
	}
}

/* Send the first lost packet again; false when that is not possible now */
static bool ubp_tp_resend(struct ubp_tp *tp)
{
	struct ubp_txd *d;
	u32 psn = tp->rtx_at;

	if (ubp_psn_before(psn, tp->snd_una))
		psn = tp->snd_una;
	while (psn != tp->snd_nxt && !(ubp_tp_txd(tp, psn)->flags & UBP_TXF_LOST))
		psn = ubp_psn_add(psn, 1);
	tp->rtx_at = psn;
	if (psn == tp->snd_nxt) {
		tp->lost = 0;
		return true;
	}
	d = ubp_tp_txd(tp, psn);
	switch (ubp_tp_emit_any(tp, d, psn, true)) {
	case UBP_NO_ROOM:
		return false;
	case UBP_NO_DATA:
		/* the message has failed and took its packets along */
		return tp->state == UBP_TP_OPEN && !(d->flags & UBP_TXF_LOST);
	case UBP_SENT:
		break;
	}
	ubp_stat(tp->dev, UBP_S_RETRANSMITS);
	d->flags &= ~UBP_TXF_LOST;
	d->flags |= UBP_TXF_AGAIN;
	d->mark = tp->snd_nxt;
	d->sent_us = ubp_tp_now_us(tp);
	ubp_tp_asked(tp, d, true);
	tp->lost--;
	return true;
}

/*
 * Send one new packet, and take what it costs from @budget.
 * No room: in the window or in memory; no data: no work
 */
static enum ubp_sent ubp_tp_send_new(struct ubp_tp *tp, u32 *budget)
{
	u32 psn = tp->snd_nxt, flight = ubp_tp_in_flight(tp), cost;
	struct ubp_txd d;
	bool more, ask;

	if (tp->probing || flight >= tp->window)
		return UBP_NO_ROOM;
	if (!flight)
		tp->since_ask = 0; /* nothing is left to ask about */
	if (!ubp_ta_next(tp, &d))
		return UBP_NO_DATA;
	if (tp->driven && d.kind == UBP_TX_REQUEST)
		return UBP_NO_ROOM;
	cost = ubp_ta_cost(tp, &d);
	more = *budget > cost && flight + 1 < tp->window && ubp_ta_more(tp, &d);
	ask = (d.flags & UBP_TXF_ASKED && !more) || tp->since_ask + 1 >= tp->dev->cfg.ack_every ||
	      flight + 1 == tp->window || (unlikely(tp->cc) && ubp_cc_ask(tp));
	switch (ubp_tp_emit_any(tp, &d, psn, ask)) {
	case UBP_NO_ROOM:
		return UBP_NO_ROOM;
	case UBP_NO_DATA:
		return UBP_SENT; /* the message has failed: the next look finds another state */
	case UBP_SENT:
		break;
	}
	ubp_tp_asked(tp, &d, ask);
	d.sent_us = ubp_tp_now_us(tp);
	d.mark = ubp_psn_add(psn, 1);
	*ubp_tp_txd(tp, psn) = d;
	if (!flight) {
		tp->rto_base = tp->now;
		tp->stall_since = tp->now;
	}
	tp->snd_nxt = ubp_psn_add(psn, 1);
	ubp_ta_commit(tp, &d, psn);
	*budget -= min_t(u32, *budget, cost);
	return UBP_SENT;
}

/* True when the budget was too small */
static bool ubp_tp_turn(struct ubp_tp *tp, u32 budget)
{
	enum ubp_sent r;

	while (budget) {
		if (tp->lost) {
			if (tp->probing || !ubp_tp_resend(tp))
				return false;
			budget--;
		} else {
			r = ubp_tp_send_new(tp, &budget);
			/* room comes back by itself; work may have come meanwhile */
			if (r == UBP_NO_ROOM || (r == UBP_NO_DATA && !ubp_ta_idle(tp)))
				return false;
			/* SQEs that make no packet are work too: a NOP, say */
			if (r == UBP_NO_DATA)
				budget--;
		}
	}
	return true;
}

/* The same, seen by the traffic management */
static bool ubp_tp_run(struct ubp_tp *tp, u32 budget)
{
	struct ubp_tm_flow *f = ubp_tp_tm(tp);
	bool more;

	if (unlikely(tp->cc))
		tp->cc->when = UBP_CC_NEVER;
	if ((tp->state != UBP_TP_OPEN && tp->state != UBP_TP_FAILED) || tp->closed) {
		if (f)
			ubp_tm_leave(f);
		return false;
	}
	if (likely(!f))
		return ubp_tp_turn(tp, budget);
	ubp_tm_begin(f);
	more = ubp_tp_turn(tp, budget);
	ubp_tm_end(f, more);
	return more;
}

void ubp_tp_output(struct ubp_tp *tp)
{
	if (ubp_tp_run(tp, tp->dev->cfg.budget))
		ubp_ta_later(tp);
}

bool ubp_tp_drive(struct ubp_tp *tp)
{
	tp->driven = false;
	tp->driven = ubp_tp_run(tp, tp->dev->cfg.slice);
	return tp->driven;
}

void ubp_tp_timeout(struct ubp_tp *tp)
{
	u32 psn;

	if (tp->lost_after && tp->now - tp->stall_since > tp->lost_after) {
		ubp_tp_lost(tp);
		return;
	}
	if (tp->closed) {
		tp->rto_base = tp->now; /* nobody is there to send it to */
		tp->backoff++;
		return;
	}
	ubp_stat(tp->dev, UBP_S_TIMEOUTS);
	for (psn = tp->snd_una; psn != tp->snd_nxt; psn = ubp_psn_add(psn, 1)) {
		struct ubp_txd *d = ubp_tp_txd(tp, psn);

		/* the first one may lack nothing but its acknowledgement, so ask with it */
		if (psn == tp->snd_una && d->kind)
			d->flags &= ~UBP_TXF_SACKED;
		/* what answers it from now on measures the silence, not the path */
		d->flags &= ~UBP_TXF_ASKED;
		if (d->flags & (UBP_TXF_SACKED | UBP_TXF_LOST))
			continue;
		d->flags |= UBP_TXF_LOST;
		tp->lost++;
	}
	tp->rtx_at = tp->snd_una;
	tp->rto_base = tp->now;
	tp->backoff++;
	/* one packet asks how things stand; the answer says what else is missing */
	tp->probe_psn = tp->snd_una;
	if (unlikely(tp->cc))
		ubp_cc_timeout(tp);
	if (tp->lost) {
		if (ubp_tp_flow(tp))
			ubp_tp_flow(tp)->force = true; /* the answer would time out, too */
		ubp_tp_resend(tp);
	}
	tp->probing = true;
}

/* BitMapSize code that covers @bits */
static u32 ubp_sack_code(u32 bits)
{
	u32 code = 0;

	while (code < UB_SACK_SIZE_MAX && (64u << code) < bits)
		code++;
	return code;
}

static void ubp_sack_fill(struct ubp_tp *tp, u8 *p, u32 code)
{
	u32 base = ubp_psn_add(tp->rcv_nxt, UB_PSN_MASK); /* highest in order */
	u32 i, bits = 64u << code;

	p[0] = (u8)code;
	ubp_put_be24(tp->rcv_max, p + 1);
	p += UB_SAETPH_LEN;
	memset(p, 0, bits / 8);
	p[0] = 1;
	for (i = 1; i < bits; i++) {
		u32 psn = ubp_psn_add(base, i);

		if (ubp_psn_before(tp->rcv_max, psn))
			break;
		if (tp->ooo[psn & tp->ooo_mask].data)
			p[i / 8] |= (u8)(1u << (i % 8));
	}
}

static void ubp_ack_status(const struct ubp_tp *tp, struct ubp_tph *t)
{
	const struct ubp_rsp *r = &tp->rsp;

	if (r->blocked) {
		t->rspst = r->blocked;
		t->rspinfo = r->info;
	} else if (r->ta_done) {
		t->rspst = UB_RSPST_TA;
		t->rspinfo = UB_RSPINFO_TAACK;
	}
}

/* No TPACK is due any more, except one that was asked for */
void ubp_tp_ack_settled(struct ubp_tp *tp)
{
	tp->unacked = 0;
	tp->ack_at = UBP_NEVER;
}

static u8 ubp_ack_op(bool sack, bool cc)
{
	if (sack)
		return cc ? UB_TP_SACK_CC : UB_TP_SACK;
	return cc ? UB_TP_ACK_CC : UB_TP_ACK;
}

bool ubp_tp_send_cnp(struct ubp_tp *tp, u8 ecn)
{
	struct ubp_txbuf buf;
	struct ubp_tph t = {
		.op = UB_TP_CNP,
		.src = tp->tpn,
		.dst = tp->peer_tpn,
	};
	u8 *p;

	buf.len = ubp_encap_len(&tp->path) + UB_TPH_LEN + UB_CNP_CETPH_LEN + UB_ICRC_LEN;
	if (!ubp_tx_alloc(tp->dev, &tp->path, buf.len, &buf))
		return false;
	p = ubp_tp_head(tp, &buf, &t);
	memset(p, 0, UB_CNP_CETPH_LEN);
	p[0] = (u8)(ecn << 6);
	ubp_tp_xmit(tp, &buf);
	return true;
}

void ubp_tp_send_ack(struct ubp_tp *tp)
{
	struct ubp_dev *dev = tp->dev;
	bool sack = tp->held && ubp_tp_selective(tp);
	bool cc = unlikely(tp->cc) && tp->cc->ops->tell;
	struct ubp_txbuf buf;
	struct ubp_tph t = {
		.op = ubp_ack_op(sack, cc),
		.src = tp->tpn,
		.dst = tp->peer_tpn,
		.psn = ubp_psn_add(tp->rcv_nxt, UB_PSN_MASK),
		.msn = tp->rsp.exec_msn,
	};
	u32 code = 0;
	u8 *p;

	buf.len = ubp_encap_len(&tp->path) + UB_TPH_LEN + UB_ICRC_LEN;
	if (sack) {
		code = ubp_sack_code((u32)ubp_psn_diff(tp->rcv_max, t.psn) + 1);
		buf.len += UB_SAETPH_LEN + (8u << code);
	} else {
		ubp_ack_status(tp, &t);
	}
	if (tp->nak_now) {
		/* go-back-N: TPNAK names the PSN that is missing */
		t.psn = tp->rcv_nxt;
		t.rspst = UB_RSPST_ERROR;
		t.rspinfo = UB_RSPINFO_PSN;
	}
	if (cc)
		buf.len += UB_CETPH_LEN;
	if (!ubp_tx_alloc(dev, &tp->path, buf.len, &buf)) {
		tp->ack_now = false;
		tp->ack_at = tp->now + dev->cfg.ack_delay_us * 1000ull;
		return;
	}
	p = ubp_tp_head(tp, &buf, &t);
	if (cc) {
		ubp_cc_put_counters(tp, p);
		p += UB_CETPH_LEN;
	}
	if (sack)
		ubp_sack_fill(tp, p, code);
	ubp_tp_xmit(tp, &buf);
	ubp_stat(dev, sack ? UBP_S_SACKS_SENT : tp->nak_now ? UBP_S_NAKS_SENT : UBP_S_ACKS_SENT);
	tp->nak_now = false;
	tp->ack_now = false;
	ubp_tp_ack_settled(tp);
	tp->rsp.ta_done = false;
}
