// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * LDCP (Base Spec 6.6): a congestion window, steered by the share of marked bytes that
 * cumulative counters in acknowledgements tell. The counters are the specification's;
 * how the window follows them is not public: ours is a hypothesis with parameters
 * (docs/decisions/0037):
 *
 *	cw += alpha * MTU * (acknowledged - marked) / cw;
 *	cw -= beta * marked;
 *
 * within gamma * MTU and cwd_max, from cwd0 on.
 */
#include "ubp_cc.h"

static u32 ubp_ldcp_floor(const struct ubp_cc *cc)
{
	return cc->mtu << 8 >> cc->par->gamma;
}

static u32 ubp_ldcp_cw(const struct ubp_cc *cc)
{
	return cc->ldcp.cw >> 8;
}

static void ubp_ldcp_set(struct ubp_cc *cc, u64 cw)
{
	cw = min_t(u64, cw, (u64)cc->par->cwd_max << 8);
	cc->ldcp.cw = max_t(u32, (u32)cw, ubp_ldcp_floor(cc));
}

static void ubp_ldcp_start(struct ubp_cc *cc, u64 now)
{
	(void)now;
	ubp_ldcp_set(cc, (u64)cc->par->cwd0 << 8);
}

static u64 ubp_ldcp_wait(struct ubp_cc *cc, u32 len, u64 now)
{
	(void)now;
	return ubp_cc_window_wait(cc, len, ubp_ldcp_cw(cc));
}

static bool ubp_ldcp_ask(const struct ubp_cc *cc, u32 packets)
{
	return ubp_cc_window_ask(cc, packets, ubp_ldcp_cw(cc));
}

/* The peer got @bytes more, @marked of them with a congestion mark */
static void ubp_ldcp_acked(struct ubp_cc *cc, u32 bytes, u32 marked)
{
	u64 cw = cc->ldcp.cw, down = ((u64)marked << 8) >> cc->par->beta;
	u64 clear = min_t(u32, bytes - marked, cc->par->cwd_max);

	/* alpha counts sixteenths, cw is 2^-8 bytes: 2^16 / 2^4 remain */
	cw += ubp_div64(((u64)cc->par->alpha * cc->mtu * clear) << 12, cc->ldcp.cw);
	ubp_ldcp_set(cc, cw - min_t(u64, cw, down));
}

/* Ce_Seq */
static void ubp_ldcp_tell(struct ubp_cc *cc, u8 *p)
{
	put_unaligned_be32(cc->rx_ce, p);
}

static enum ubp_cc_news ubp_ldcp_told(struct ubp_cc *cc, u32 acked, const u8 *p, u64 now)
{
	u32 marked = get_unaligned_be32(p) - cc->seen_ce;

	(void)now;
	if (marked > acked)
		return UBP_CC_NONSENSE;
	cc->seen_ce += marked;
	if (acked)
		ubp_ldcp_acked(cc, 2 * acked, 2 * marked);
	return marked ? UBP_CC_SLOWER : UBP_CC_SAME;
}

static bool ubp_ldcp_timeout(struct ubp_cc *cc, u64 now)
{
	(void)now;
	ubp_ldcp_set(cc, cc->ldcp.cw / 2);
	return true;
}

const struct ubp_cc_ops ubp_cc_ldcp = {
	.alg = UB_CC_LDCP,
	.start = ubp_ldcp_start,
	.wait = ubp_ldcp_wait,
	.ask = ubp_ldcp_ask,
	.tell = ubp_ldcp_tell,
	.told = ubp_ldcp_told,
	.timeout = ubp_ldcp_timeout,
};
