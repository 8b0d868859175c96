/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arithmetic of reduce, atomic store and load: elements of 1 to 8 bytes, integer
 * or floating point, without a floating point unit. Values travel in the low bits
 * of a u64, the rest of which is ignored on input.
 */
#ifndef UBP_REDUCE_H
#define UBP_REDUCE_H

#include <ub/uboe_io.h>

#include "ubp_os.h"

/* Bytes of an element, a power of two up to 8; 0: no such type, or not with this operator */
u32 ubp_reduce_size(u32 type, u32 op);

/* (@mem op @arg), both of them possible by ubp_reduce_size() */
u64 ubp_reduce_one(u32 type, u32 op, u64 mem, u64 arg);

/* The same for an integer of @size bytes, any enum uboe_udf_op */
u64 ubp_reduce_int(u32 size, u32 op, u64 mem, u64 arg);

/* @len bytes of whole elements, of memory that nobody else sees; any alignment */
void ubp_reduce_private(u32 type, u32 op, void *mem, const void *arg, u32 len);

/*
 * The same in memory that others use: aligned, each element in one atomic step.
 * @arg may have any alignment.
 */
void ubp_reduce_shared(u32 type, u32 op, void *mem, const void *arg, u32 len);

/* Format of binary floating point: bits of exponent and fraction */
struct ubp_fp {
	u8 exp;
	u8 frac;
};

/* IEEE 754: rounded to nearest, ties to even; every NaN becomes the quiet one */
u64 ubp_fp_add(const struct ubp_fp *f, u64 a, u64 b);
/* maximum and minimum of IEEE 754-2019: a NaN wins, -0 is less than +0 */
u64 ubp_fp_extreme(const struct ubp_fp *f, u64 a, u64 b, bool max);

#endif /* UBP_REDUCE_H */
