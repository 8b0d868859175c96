// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Floating point of reduce by integer arithmetic: the same result in every home,
 * and a kernel needs no floating point unit. Formats of up to 32 bits.
 */
#include "ubp_reduce.h"

#define UBP_FP_GUARD 3 /* bits below the fraction: guard, round, sticky */

static u64 ubp_fp_sign(const struct ubp_fp *f)
{
	return 1ull << (f->exp + f->frac);
}

static u64 ubp_fp_inf(const struct ubp_fp *f)
{
	return ((1ull << f->exp) - 1) << f->frac;
}

static u64 ubp_fp_nan(const struct ubp_fp *f)
{
	return ubp_fp_inf(f) | 1ull << (f->frac - 1);
}

/* Shift right; what falls out leaves a trace in the lowest bit */
static u64 ubp_fp_sticky(u64 v, u32 n)
{
	if (n > 63)
		return v != 0;
	return v >> n | ((v & ((1ull << n) - 1)) != 0);
}

/* A finite magnitude as significand << GUARD, times 2^(*exp) */
static u64 ubp_fp_unpack(const struct ubp_fp *f, u64 mag, u32 *exp)
{
	u64 frac = mag & ((1ull << f->frac) - 1);

	*exp = (u32)(mag >> f->frac);
	if (*exp)
		frac |= 1ull << f->frac;
	else
		*exp = 1; /* subnormal */
	return frac << UBP_FP_GUARD;
}

/* Normalises, rounds and packs @sig, which is not 0 */
static u64 ubp_fp_pack(const struct ubp_fp *f, u64 sig, u32 exp)
{
	u64 top = 1ull << (f->frac + UBP_FP_GUARD);
	u32 rest;

	if (sig >= top << 1) {
		sig = ubp_fp_sticky(sig, 1);
		exp++;
	}
	while (sig < top && exp > 1) {
		sig <<= 1;
		exp--;
	}
	rest = sig & ((1u << UBP_FP_GUARD) - 1);
	sig >>= UBP_FP_GUARD;
	if (rest > 4 || (rest == 4 && sig & 1))
		sig++;
	/* the leading bit adds one to the exponent; without it the number is subnormal */
	sig += (u64)(exp - 1) << f->frac;
	return sig < ubp_fp_inf(f) ? sig : ubp_fp_inf(f);
}

u64 ubp_fp_add(const struct ubp_fp *f, u64 a, u64 b)
{
	u64 sign = ubp_fp_sign(f), inf = ubp_fp_inf(f), ma, mb, t;
	u32 ea, eb;

	ma = a & (sign - 1);
	mb = b & (sign - 1);
	if (ma < mb) {
		t = a;
		a = b;
		b = t;
		t = ma;
		ma = mb;
		mb = t;
	}
	if (ma > inf || (ma == inf && mb == inf && (a ^ b) & sign))
		return ubp_fp_nan(f);
	if (ma == inf)
		return (a & sign) | inf;
	ma = ubp_fp_unpack(f, ma, &ea);
	mb = ubp_fp_unpack(f, mb, &eb);
	mb = ubp_fp_sticky(mb, ea - eb);
	t = (a ^ b) & sign ? ma - mb : ma + mb;
	if (!t)
		return a & b & sign; /* -0 only from two of them */
	return (a & sign) | ubp_fp_pack(f, t, ea);
}

u64 ubp_fp_extreme(const struct ubp_fp *f, u64 a, u64 b, bool max)
{
	u64 sign = ubp_fp_sign(f), inf = ubp_fp_inf(f), ka, kb;

	a &= sign | (sign - 1);
	b &= sign | (sign - 1);
	if ((a & (sign - 1)) > inf || (b & (sign - 1)) > inf)
		return ubp_fp_nan(f);
	/* keys in the order of the numbers */
	ka = a & sign ? sign - a + sign - 1 : a + sign;
	kb = b & sign ? sign - b + sign - 1 : b + sign;
	return (ka > kb) == max ? a : b;
}
