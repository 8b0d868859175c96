// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * DCQCN-like congestion control (Base Spec 6.6, docs/decisions/0037): the receiver
 * answers marks by CNPs, the sender has a rate.
 *
 * On a CNP: Rt = Rc, Rc -= Rc * alpha / 2 (light: alpha / 4), alpha += g * (1 - alpha),
 * and timer, byte counter and both stages start anew. After each K without one alpha
 * sinks by its g-th part. After each T, and after each B bytes, a stage goes up and
 *
 *	max(stages) < F		fast recovery:	Rt stays
 *	min(stages) > F		hyper increase:	Rt += Rhai, with hai_grow times min - F
 *	else			additive:	Rt += Rai
 *
 * and then Rc = (Rc + Rt) / 2, rounded up. So max = F is additive, min = F is additive,
 * and the first step of hyper increase is the one with which both are F + 1.
 *
 * Before the first cut there is no Rt to come back to: from start_part of the line rate on
 * Rc doubles after each T, if an answer has come since. The paper's start_part is all of it.
 *
 * Timers are not armed: who sends or gets a CNP makes up for the time that has passed,
 * but for no more than UBP_CC_CATCH_UP stages, so that a channel that rested a long time
 * does not come back at full rate. A channel at full rate has nothing to raise.
 */
#include "ubp_cc.h"

#define UBP_CC_CATCH_UP 64u
#define UBP_CC_ALPHA_STEPS 1024u
#define UBP_CC_COST_FRAC 20

static u64 ubp_dcqcn_rise_time(const struct ubp_cc *cc)
{
	return ubp_cc_time(cc, cc->par->rise_us, cc->par->rise_rtt);
}

static u64 ubp_dcqcn_alpha_time(const struct ubp_cc *cc)
{
	return ubp_cc_time(cc, cc->par->alpha_us, cc->par->alpha_rtt);
}

/* B; where times follow the round trip it is at least what a round trip holds */
static u64 ubp_dcqcn_rise_bytes(const struct ubp_cc *cc)
{
	u64 bdp;

	if (!cc->par->rise_rtt)
		return cc->par->rise_bytes;
	bdp = ubp_div64((u64)cc->par->max_kbps * cc->rtt_us, 8000);
	return max_t(u64, cc->par->rise_bytes, bdp);
}

/* A wait that has begun goes on at the new rate */
static void ubp_dcqcn_set_rate(struct ubp_cc *cc, u32 kbps, u64 now)
{
	struct ubp_dcqcn *d = &cc->dcqcn;
	u32 was = d->rate;

	d->rate = min_t(u32, max_t(u32, kbps, cc->par->min_kbps), cc->par->max_kbps);
	if (d->rate == was)
		return;
	/* a byte of 8 bits at 1 kb/s takes 8 ms */
	d->cost = ubp_div64(8000000ull << UBP_CC_COST_FRAC, d->rate);
	if (d->send_at > now)
		d->send_at = now + ubp_div64((d->send_at - now) * was, d->rate);
}

static u32 ubp_dcqcn_part(u32 kbps, u32 part)
{
	return (u32)ubp_div64((u64)kbps * part, 1000);
}

static u32 ubp_dcqcn_step(u32 kbps, u32 part, u32 max)
{
	return max_t(u32, kbps, ubp_dcqcn_part(max, part));
}

static void ubp_dcqcn_start(struct ubp_cc *cc, u64 now)
{
	struct ubp_dcqcn *d = &cc->dcqcn;

	ubp_dcqcn_set_rate(cc, ubp_dcqcn_part(cc->par->max_kbps, cc->par->start_part), now);
	d->target = d->rate;
	d->starting = true;
	d->rise_at = now + ubp_dcqcn_rise_time(cc);
	d->alpha = cc->par->alpha0 << 10;
	d->alpha_at = now + ubp_dcqcn_alpha_time(cc);
}

/* A stage has gone up */
static void ubp_dcqcn_rise(struct ubp_cc *cc, u64 now)
{
	const struct ubp_cc_par *p = cc->par;
	struct ubp_dcqcn *d = &cc->dcqcn;
	u32 lo = min_t(u32, d->t_stage, d->b_stage), hi = max_t(u32, d->t_stage, d->b_stage);
	u64 target = d->target;

	if (lo > p->stages)
		target += (u64)ubp_dcqcn_step(p->hai_kbps, p->hai_part, p->max_kbps) *
			  (p->hai_grow ? lo - p->stages : 1);
	else if (hi >= p->stages)
		target += ubp_dcqcn_step(p->ai_kbps, p->ai_part, p->max_kbps);
	d->target = (u32)min_t(u64, target, p->max_kbps);
	ubp_dcqcn_set_rate(cc, (u32)(((u64)d->rate + d->target + 1) / 2), now);
}

static bool ubp_dcqcn_is_full(const struct ubp_cc *cc)
{
	return cc->dcqcn.rate == cc->par->max_kbps;
}

/* One step, however long it has been */
static void ubp_dcqcn_double(struct ubp_cc *cc, u64 now)
{
	struct ubp_dcqcn *d = &cc->dcqcn;

	if (!cc->answered || d->rise_at > now || ubp_dcqcn_is_full(cc))
		return;
	cc->answered = false;
	ubp_dcqcn_set_rate(cc, (u32)min_t(u64, 2ull * d->rate, cc->par->max_kbps), now);
	d->target = d->rate;
	d->rise_at = now + ubp_dcqcn_rise_time(cc);
}

/* What the timers would have done since */
static void ubp_dcqcn_catch_up(struct ubp_cc *cc, u64 now)
{
	struct ubp_dcqcn *d = &cc->dcqcn;
	u32 n;

	for (n = 0; d->alpha_at <= now; n++) {
		if (n == UBP_CC_ALPHA_STEPS) {
			d->alpha_at = now + ubp_dcqcn_alpha_time(cc);
			break;
		}
		d->alpha -= (u32)(((u64)d->alpha * cc->par->g) >> 10);
		d->alpha_at += ubp_dcqcn_alpha_time(cc);
	}
	if (d->starting) {
		ubp_dcqcn_double(cc, now);
		return;
	}
	for (n = 0; !ubp_dcqcn_is_full(cc) && d->rise_at <= now; n++) {
		if (n == UBP_CC_CATCH_UP) {
			d->rise_at = now + ubp_dcqcn_rise_time(cc);
			break;
		}
		d->t_stage++;
		d->rise_at += ubp_dcqcn_rise_time(cc);
		ubp_dcqcn_rise(cc, now);
	}
}

static u64 ubp_dcqcn_wait(struct ubp_cc *cc, u32 len, u64 now)
{
	struct ubp_dcqcn *d = &cc->dcqcn;
	u64 at;

	(void)len;
	ubp_dcqcn_catch_up(cc, now);
	if (d->send_at <= now)
		return 0;
	/* what falls due until then goes at once: half a burst for one call of the timer */
	at = d->send_at + cc->par->burst_us * 500ull;
	/* a rise that is due waits for an answer, which brings the sender back itself */
	return ubp_dcqcn_is_full(cc) || d->rise_at <= now ? at : min_t(u64, at, d->rise_at);
}

/* Once a round trip: times follow it, so that it has to be known */
static bool ubp_dcqcn_ask(const struct ubp_cc *cc, u32 packets)
{
	u64 bytes = (u64)(packets + 1) * cc->mtu;

	return (bytes * cc->dcqcn.cost) >> UBP_CC_COST_FRAC >= cc->rtt_us * 1000ull;
}

static void ubp_dcqcn_sent(struct ubp_cc *cc, u32 len, u64 now)
{
	struct ubp_dcqcn *d = &cc->dcqcn;
	u64 saved = now - min_t(u64, now, cc->par->burst_us * 1000ull);

	d->send_at = max_t(u64, d->send_at, saved) + ((len * d->cost) >> UBP_CC_COST_FRAC);
	if (d->starting || ubp_dcqcn_is_full(cc))
		return;
	d->bytes += len;
	if (d->bytes < ubp_dcqcn_rise_bytes(cc))
		return;
	d->bytes = 0;
	d->b_stage++;
	ubp_dcqcn_rise(cc, now);
}

/* Keep the worst level until the CNP may be sent */
static void ubp_dcqcn_seen(struct ubp_cc *cc, u8 level, u64 now)
{
	if (!level)
		return;
	if (cc->cnp_due == UBP_CC_NEVER) {
		cc->cnp_due = max_t(u64, now, cc->cnp_next);
		cc->cnp_level = level;
	}
	cc->cnp_level = max_t(u8, cc->cnp_level, level);
}

static bool ubp_dcqcn_cut(struct ubp_cc *cc, u8 level, u64 now)
{
	const struct ubp_cc_par *p = cc->par;
	struct ubp_dcqcn *d = &cc->dcqcn;
	u32 shift = level == UBP_CC_LIGHT ? p->light_shift : p->cut_shift;

	ubp_dcqcn_catch_up(cc, now);
	if (now < d->cut_at)
		return false;
	d->cut_at = now + ubp_cc_time(cc, p->cut_us, p->cut_rtt);
	d->starting = false;
	d->target = d->rate;
	ubp_dcqcn_set_rate(cc, d->rate - (u32)(((u64)d->rate * d->alpha) >> (20 + shift)), now);
	d->alpha += (u32)(((u64)(UBP_CC_ALPHA_ONE - d->alpha) * p->g) >> 10);
	d->t_stage = 0;
	d->b_stage = 0;
	d->bytes = 0;
	d->alpha_at = now + ubp_dcqcn_alpha_time(cc);
	d->rise_at = now + ubp_dcqcn_rise_time(cc);
	return true;
}

/* Marks may be lost with the packets that had them: silence is as bad as a mark */
static bool ubp_dcqcn_timeout(struct ubp_cc *cc, u64 now)
{
	return ubp_dcqcn_cut(cc, UBP_CC_SEVERE, now);
}

const struct ubp_cc_ops ubp_cc_dcqcn = {
	.alg = UB_CC_DCQCN,
	.start = ubp_dcqcn_start,
	.wait = ubp_dcqcn_wait,
	.sent = ubp_dcqcn_sent,
	.ask = ubp_dcqcn_ask,
	.seen = ubp_dcqcn_seen,
	.cnp = ubp_dcqcn_cut,
	.timeout = ubp_dcqcn_timeout,
};
