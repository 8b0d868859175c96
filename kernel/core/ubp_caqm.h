/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CAQM (Base Spec 6.6.1.3), what a switch of a UB domain does to CCI: pure functions for
 * every home and for BPF. The sender's and the receiver's part is ubp_cc_caqm.c.
 *
 * A sender asks in each packet to let its window grow by the hint. The switch has a credit
 * for each port, anew after each period: half of
 *
 *	what the link did not use of the period + target - queue - what was granted in it
 *
 * and grants what the credit holds, refuses what it does not, and marks when there is less
 * than none. A mark makes its sender give up @cut bytes, which are then to be had again.
 */
#ifndef UBP_CAQM_H
#define UBP_CAQM_H

#include "ubp_os.h"
#include "ub_wire.h"

/**
 * struct ubp_caqm_knobs - of a port
 * @rate: bytes a second
 * @period_ns: least time between two reckonings of the credit; between packets that come
 *	more seldom there is one for each
 * @target: length that the queue should have, bytes
 * @mark: probability of a mark where the credit does not hold the hint, of 2^32
 * @cut: what a mark frees, bytes
 */
struct ubp_caqm_knobs {
	u64 rate;
	u32 period_ns;
	u32 target;
	u32 mark;
	u32 cut;
};

/* The specification's values: 500 ns, 10 MTU of 4096 bytes, 10 %, half an MTU */
#define UBP_CAQM_PERIOD_NS 500u
#define UBP_CAQM_TARGET 40960u
#define UBP_CAQM_MARK 429496730u
#define UBP_CAQM_CUT 2048u

/**
 * struct ubp_caqm - state of a port, zero in the beginning
 * @when: of the last reckoning, ns; 0: none yet
 * @queue: its length then
 * @in: bytes that came since
 * @credit: what may be granted, below zero: what has to be given up
 * @granted: since the last reckoning
 * @freed: given up by marks since, beyond what the credit knows
 */
struct ubp_caqm {
	u64 when;
	u64 queue;
	u64 in;
	s64 credit;
	s64 granted;
	s64 freed;
};

enum ubp_caqm_fate {
	UBP_CAQM_NOTHING, /* nothing was asked, or somebody before has refused or marked */
	UBP_CAQM_GRANTED,
	UBP_CAQM_REFUSED,
	UBP_CAQM_MARKED,
};

/* Does the packet take part? */
static inline bool ubp_caqm_is(u16 cci)
{
	return (cci & (UB_CCI_MODE | UB_CCI_CAQM_EN)) == UB_CCI_CAQM_EN;
}

/* CCI of a sender that asks for @hint units, 0: for nothing */
static inline u16 ubp_caqm_ask(u8 hint)
{
	return (u16)(UB_CCI_CAQM_EN | (hint ? UB_CCI_CAQM_I : 0) | hint);
}

/* Bytes that pass in @ns; a second is enough for all that counts here */
static inline u64 ubp_caqm_bytes(u64 rate, u64 ns)
{
	return (ns < 1000000000 ? ns : 1000000000) * (rate / 1000) / 1000000;
}

static inline void ubp_caqm_reckon(struct ubp_caqm *s, const struct ubp_caqm_knobs *k, u64 now,
				   u64 queue)
{
	u64 period = ubp_caqm_bytes(k->rate, k->period_ns);
	u64 unused = 0, capacity, left;

	if (s->when) {
		capacity = ubp_caqm_bytes(k->rate, now - s->when);
		left = s->queue + s->in - queue; /* has left by the link */
		unused = capacity > left ? capacity - left : 0;
	}
	if (unused > period)
		unused = period;
	/* lambda is a half; the shift keeps the sign, as in every compiler that builds this */
	s->credit = ((s64)unused + (s64)k->target - (s64)queue - s->granted) >> 1;
	s->when = now;
	s->queue = queue;
	s->in = 0;
	s->granted = 0;
	s->freed = 0;
}

/**
 * ubp_caqm_pass - any packet of @len bytes goes into the queue of the port
 * @now: nanoseconds, not 0; before the last reckoning, if another processor made that
 * @queue: bytes that wait before it
 */
static inline void ubp_caqm_pass(struct ubp_caqm *s, const struct ubp_caqm_knobs *k, u64 now,
				 u64 queue, u32 len)
{
	if (!s->when || (now > s->when && now - s->when >= k->period_ns))
		ubp_caqm_reckon(s, k, now, queue);
	s->in += len;
}

/**
 * ubp_caqm_judge - and it is one of CAQM: after ubp_caqm_pass()
 * @random: 32 random bits
 * @cci: may be changed
 */
static inline enum ubp_caqm_fate ubp_caqm_judge(struct ubp_caqm *s, const struct ubp_caqm_knobs *k,
						u32 random, u16 *cci)
{
	bool asks = *cci & UB_CCI_CAQM_I;
	s64 hint = asks ? (s64)(*cci & UB_CCI_CAQM_HINT) * UB_CAQM_UNIT : 0;

	if (*cci & UB_CCI_CAQM_C) {
		s->credit += k->cut;
		s->granted -= k->cut;
		return UBP_CAQM_NOTHING;
	}
	if (s->credit >= hint) {
		s->credit -= hint;
		s->granted += hint;
		return asks ? UBP_CAQM_GRANTED : UBP_CAQM_NOTHING;
	}
	if (s->credit >= 0 && random >= k->mark) {
		if (s->freed >= hint) {
			s->freed -= hint;
			return UBP_CAQM_GRANTED;
		}
		*cci = (u16)(*cci & ~UB_CCI_CAQM_I);
		return UBP_CAQM_REFUSED;
	}
	if (s->credit >= 0)
		s->freed += k->cut;
	else
		s->credit += k->cut;
	*cci = (u16)((*cci & ~UB_CCI_CAQM_I) | UB_CCI_CAQM_C);
	return UBP_CAQM_MARKED;
}

#endif /* UBP_CAQM_H */
