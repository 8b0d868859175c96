/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sequence arithmetic: PSN and MSN are 24 bits, TASSN 16 bits wide. */
#ifndef UBP_PSN_H
#define UBP_PSN_H

#include "ubp_os.h"
#include "ub_wire.h"

static inline u32 ubp_psn_add(u32 a, u32 n)
{
	return (a + n) & UB_PSN_MASK;
}

/* a - b in -2^23 .. 2^23 - 1 */
static inline s32 ubp_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

static inline bool ubp_psn_before(u32 a, u32 b)
{
	return ubp_psn_diff(a, b) < 0;
}

static inline s32 ubp_ssn_diff(u16 a, u16 b)
{
	return (s16)(u16)(a - b);
}

#endif /* UBP_PSN_H */
