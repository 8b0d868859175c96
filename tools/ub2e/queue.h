/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The virtual queue of a port, by which packets are marked: it fills with what leaves and
 * drains at the configured rate. The real queue cannot be seen from XDP, nor from a socket.
 */
#ifndef UB2E_QUEUE_H
#define UB2E_QUEUE_H

#include "layout.h"

static inline u32 ub2e_caqm_fate(enum ubp_caqm_fate f)
{
	return f ? (u32)UB2E_CAQM_GRANTED + (u32)f - (u32)UBP_CAQM_GRANTED : 0;
}

/**
 * ub2e_level_mark - put a packet into a virtual queue
 * @random: 32 random bits
 * @cci: of a packet between UB ports, whose CAQM fields may change; 0: of another
 *
 * Return: 0, UB2E_MARKED_*, UB2E_CAQM_* or UB2E_DROP_QUEUE.
 */
static inline u32 ub2e_level_mark(struct ub2e_level *l, const struct ub2e_queue *q, u64 now,
				  u32 len, u32 random, u16 *cci)
{
	/* another processor may have been here with a later time */
	u64 gone = now > l->when ? now - l->when : 0;
	u64 drained;

	/* a second empties any queue that marks, and keeps the product in its type */
	drained = gone >= 1000000000 ? ~0ULL : ubp_caqm_bytes(q->rate, gone);
	if (drained) {
		l->bytes = drained >= l->bytes ? 0 : l->bytes - drained;
		l->when = now;
	}
	if (q->limit && l->bytes + len > q->limit)
		return UB2E_DROP_QUEUE;
	if (q->caqm.period_ns)
		ubp_caqm_pass(&l->caqm, &q->caqm, now, l->bytes, len);
	l->bytes += len;
	if (q->caqm.period_ns && ubp_caqm_is(*cci))
		return ub2e_caqm_fate(ubp_caqm_judge(&l->caqm, &q->caqm, random, cci));
	if (l->bytes <= q->kmin)
		return 0;
	if (l->bytes >= q->kmax)
		return UB2E_MARKED_SEVERE;
	return random < q->pmax * (l->bytes - q->kmin) / (q->kmax - q->kmin) ? UB2E_MARKED_LIGHT :
									       0;
}

#endif /* UB2E_QUEUE_H */
