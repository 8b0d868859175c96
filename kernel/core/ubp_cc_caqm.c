// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CAQM (Base Spec 6.6.1.3, docs/decisions/0040): a congestion window that the switches of a
 * UB domain let grow. Each packet asks in CCI for so many units of 32 bytes; what comes
 * through all switches is granted, and the receiver sums it up, and counts marks, in the
 * CETPH of its acknowledgements.
 *
 *	slow start:	a packet asks for its own size, an MTU at most
 *	avoidance:	for alpha * MTU * size / cw, so that a window asks for alpha MTUs
 *	granted:	cw += hint
 *	marks:		cw -= beta * MTU for each; below an MTU cw = cw / 2, gamma * MTU at least
 *
 * A mark or a refusal ends slow start until theta round trips have passed without one.
 *
 * What does not wait for its window asks for nothing: credit that nobody uses is missing to
 * others. Where the way leads through an Ethernet network after all, such packets end at its
 * border: who has never been answered and runs out of time again goes on without.
 */
#include "ubp_caqm.h"
#include "ubp_cc.h"

#define UBP_CAQM_SILENT 2u /* timeouts before any answer, until it goes on without */
#define UBP_CAQM_FRAC 8u /* bits of what is owed, below a byte */
#define UBP_CAQM_OWED_UNIT (UB_CAQM_UNIT << UBP_CAQM_FRAC)

static void ubp_caqm_set(struct ubp_cc *cc, u32 cw)
{
	cw = max_t(u32, cw, cc->mtu >> cc->par->caqm_gamma);
	cc->caqm.cw = min_t(u32, cw, cc->par->cwd_max);
}

static void ubp_caqm_start(struct ubp_cc *cc, u64 now)
{
	(void)now;
	cc->caqm.slow = true;
	ubp_caqm_set(cc, cc->par->cwd0);
}

static u64 ubp_caqm_wait(struct ubp_cc *cc, u32 len, u64 now)
{
	(void)now;
	return cc->plain ? 0 : ubp_cc_window_wait(cc, len, cc->caqm.cw);
}

static bool ubp_caqm_asks_ack(const struct ubp_cc *cc, u32 packets)
{
	return !cc->plain && ubp_cc_window_ask(cc, packets, cc->caqm.cw);
}

/* Bytes, 2^-8, by which a packet of @size may let the window grow */
static u32 ubp_caqm_wish(const struct ubp_cc *cc, u32 size)
{
	const struct ubp_caqm_end *c = &cc->caqm;
	u32 whole = min_t(u32, size, cc->mtu) << UBP_CAQM_FRAC;
	u64 part;

	if (c->slow || c->cw < cc->mtu)
		return whole;
	/* alpha counts sixteenths: 2^8 / 2^4 remain */
	part = ubp_div64(((u64)cc->par->caqm_alpha * cc->mtu * size) << 4, c->cw);
	return (u32)min_t(u64, part, whole);
}

static u16 ubp_caqm_cci(struct ubp_cc *cc, u32 size, u64 now)
{
	struct ubp_caqm_end *c = &cc->caqm;
	u32 hint = 0;

	if (cc->plain)
		return 0;
	if (!c->slow && now >= c->calm_at)
		c->slow = true;
	c->asks = cc->inflight >= c->cw / 2;
	if (c->asks) {
		c->owed = min_t(u32, c->owed + ubp_caqm_wish(cc, size),
				UB_CCI_CAQM_HINT * UBP_CAQM_OWED_UNIT);
		hint = c->owed / UBP_CAQM_OWED_UNIT;
		c->owed -= hint * UBP_CAQM_OWED_UNIT;
	}
	return ubp_caqm_ask((u8)hint);
}

/* A packet came for the first time */
static void ubp_caqm_heed(struct ubp_cc *cc, u16 cci)
{
	struct ubp_caqm_end *c = &cc->caqm;

	if (!ubp_caqm_is(cci))
		return;
	if (cci & UB_CCI_CAQM_C) {
		c->rx_marks = (u8)min_t(u32, c->rx_marks + 1u, 0xff);
	} else if (cci & UB_CCI_CAQM_I) {
		c->rx_grant = true;
		c->rx_hint = (u16)min_t(u32, c->rx_hint + (u32)(cci & UB_CCI_CAQM_HINT), 0xffff);
	}
}

static void ubp_caqm_tell(struct ubp_cc *cc, u8 *p)
{
	struct ubp_caqm_end *c = &cc->caqm;

	p[0] = c->rx_grant ? UB_CETPH_CAQM_I : 0;
	p[1] = c->rx_marks;
	put_unaligned_be16(c->rx_hint, p + 2);
	c->rx_grant = false;
	c->rx_marks = 0;
	c->rx_hint = 0;
}

static u32 ubp_caqm_cut(const struct ubp_cc *cc, u32 cw, u32 marks)
{
	u32 down = marks * (cc->mtu >> cc->par->caqm_beta);

	if (cw <= cc->mtu)
		return cw / 2;
	return cw - min_t(u32, cw, down);
}

static enum ubp_cc_news ubp_caqm_told(struct ubp_cc *cc, u32 acked, const u8 *p, u64 now)
{
	struct ubp_caqm_end *c = &cc->caqm;
	bool grant = p[0] & UB_CETPH_CAQM_I;
	u32 cw = c->cw, marks = p[1];

	if (!acked)
		return UBP_CC_SAME; /* what it tells has been told */
	c->heard = true;
	if (marks || (!grant && c->asks)) {
		c->slow = false;
		c->calm_at = now + 1000ull * cc->par->caqm_theta * cc->rtt_us;
	}
	if (grant)
		cw += (u32)get_unaligned_be16(p + 2) * UB_CAQM_UNIT;
	if (marks)
		cw = ubp_caqm_cut(cc, cw, marks);
	ubp_caqm_set(cc, cw);
	return marks ? UBP_CC_SLOWER : UBP_CC_SAME;
}

static bool ubp_caqm_timeout(struct ubp_cc *cc, u64 now)
{
	struct ubp_caqm_end *c = &cc->caqm;

	(void)now;
	ubp_caqm_set(cc, c->cw / 2);
	if (!c->heard && ++c->silent == UBP_CAQM_SILENT)
		cc->plain = true;
	return true;
}

const struct ubp_cc_ops ubp_cc_caqm = {
	.alg = UB_CC_CAQM,
	.start = ubp_caqm_start,
	.wait = ubp_caqm_wait,
	.cci = ubp_caqm_cci,
	.ask = ubp_caqm_asks_ack,
	.heed = ubp_caqm_heed,
	.tell = ubp_caqm_tell,
	.told = ubp_caqm_told,
	.timeout = ubp_caqm_timeout,
};
