// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Arithmetic of reduce against the compiler's own. */
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "rig.hpp"
#include "rng.hpp"

extern "C" {
#include "ubp_reduce.h"
}

namespace
{

constexpr ubp_fp fp16{ 5, 10 }, bf16{ 8, 7 }, fp32{ 8, 23 };
constexpr std::uint16_t nan16 = 0x7e00, nanb16 = 0x7fc0;
constexpr std::uint32_t nan32 = 0x7fc00000;

template <class T> T native(std::uint32_t op, T m, T a)
{
	switch (op) {
	case UBOE_UDF_ADD: return T(std::make_unsigned_t<T>(m) + std::make_unsigned_t<T>(a));
	case UBOE_UDF_XOR: return T(m ^ a);
	case UBOE_UDF_CLEAR: return T(m & ~a);
	case UBOE_UDF_SET: return T(m | a);
	case UBOE_UDF_SMAX:
	case UBOE_UDF_UMAX: return std::max(m, a);
	default: return std::min(m, a);
	}
}

template <class T> std::vector<T> samples(ubsim::rng &r)
{
	using lim = std::numeric_limits<T>;
	std::vector<T> v{
		0, 1, T(-1), lim::max(), lim::min(), T(lim::max() - 1), T(lim::min() + 1)
	};

	while (v.size() < 600)
		v.push_back(T(r.next() >> r.below(8)));
	return v;
}

/* All operators of a type on shared and on private memory, and that no other is known */
template <class T> void integers(std::uint32_t type)
{
	const bool is_signed = std::is_signed_v<T>;
	ubsim::rng r(type);
	const std::vector<T> mem = samples<T>(r);
	std::vector<T> arg = mem;

	std::rotate(arg.begin(), arg.begin() + 3, arg.end());
	for (std::uint32_t op = 0; op < 8; op++) {
		const bool other = op == (is_signed ? UBOE_UDF_UMAX : UBOE_UDF_SMAX) ||
				   op == (is_signed ? UBOE_UDF_UMIN : UBOE_UDF_SMIN);

		ASSERT_EQ(ubp_reduce_size(type, op), other ? 0u : sizeof(T)) << op;
		if (other)
			continue;
		std::vector<T> a = mem, b = mem;
		const u32 len = u32(mem.size() * sizeof(T));
		std::vector<std::uint8_t> odd(len + 1); /* an operand in a packet lies anywhere */

		std::memcpy(odd.data() + 1, arg.data(), len);
		ubp_reduce_shared(type, op, a.data(), odd.data() + 1, len);
		ubp_reduce_private(type, op, b.data(), odd.data() + 1, len);
		for (std::size_t i = 0; i < mem.size(); i++) {
			const T want = native(op, mem[i], arg[i]);

			ASSERT_EQ(a[i], want) << "op " << op << ", " << +mem[i] << ", " << +arg[i];
			ASSERT_EQ(b[i], want);
		}
	}
}

TEST(Reduce, IntegersOfAllSizes)
{
	integers<std::int8_t>(UBOE_UDF_S8);
	integers<std::int16_t>(UBOE_UDF_S16);
	integers<std::int32_t>(UBOE_UDF_S32);
	integers<std::int64_t>(UBOE_UDF_S64);
	integers<std::uint8_t>(UBOE_UDF_U8);
	integers<std::uint16_t>(UBOE_UDF_U16);
	integers<std::uint32_t>(UBOE_UDF_U32);
	integers<std::uint64_t>(UBOE_UDF_U64);
}

TEST(Reduce, AtomicsIgnoreBitsAboveTheirSize)
{
	const std::uint64_t up = 0xabcdef01ull << 32;

	EXPECT_EQ(u32(ubp_reduce_int(4, UBOE_UDF_SMAX, up | 0xffffffff, 1)), 1u);
	EXPECT_EQ(u32(ubp_reduce_int(4, UBOE_UDF_UMAX, up | 0xffffffff, up | 1)), 0xffffffffu);
	EXPECT_EQ(u32(ubp_reduce_int(4, UBOE_UDF_SMIN, up | 5, up | 0x80000000)), 0x80000000u);
}

TEST(Reduce, UnknownTypesAndOperators)
{
	for (std::uint32_t type = 0; type < 20; type++)
		for (std::uint32_t op = 0; op < 20; op++) {
			const bool known = type <= UBOE_UDF_U64 && type != 7 && op < 8;

			if (!known)
				EXPECT_EQ(ubp_reduce_size(type, op), 0u) << type << ", " << op;
		}
	for (std::uint32_t type : { UBOE_UDF_FP16, UBOE_UDF_BF16, UBOE_UDF_FP32 })
		for (std::uint32_t op = 0; op < 8; op++)
			EXPECT_EQ(ubp_reduce_size(type, op) != 0,
				  op == UBOE_UDF_ADD || op == UBOE_UDF_SMAX || op == UBOE_UDF_SMIN);
}

float as_float(std::uint32_t v)
{
	float f;

	std::memcpy(&f, &v, 4);
	return f;
}

std::uint32_t as_bits(float f)
{
	std::uint32_t v;

	std::memcpy(&v, &f, 4);
	return std::isnan(f) ? nan32 : v;
}

double half(std::uint16_t v)
{
	const int e = v >> 10 & 31;
	const double m = v & 1023;
	const double mag = e == 31 ? (v & 1023 ? NAN : INFINITY) :
			   e	   ? std::ldexp(m + 1024, e - 25) :
				     std::ldexp(m, -24);

	return v & 0x8000 ? -mag : mag;
}

/* The nearest one by search; an exact sum, so this rounds once */
std::uint16_t to_half(double d)
{
	if (std::isnan(d))
		return nan16;
	const std::uint16_t sign = std::signbit(d) ? 0x8000 : 0;
	const double mag = std::fabs(d);
	std::uint16_t lo = 0, hi = 0x7c00; /* half(lo) <= mag; hi: infinity */

	if (mag >= 65520) /* half a unit beyond the largest */
		return sign | 0x7c00;
	while (hi - lo > 1) {
		const std::uint16_t mid = std::uint16_t((lo + hi) / 2);

		(half(mid) <= mag ? lo : hi) = mid;
	}
	const double below = mag - half(lo), above = (hi == 0x7c00 ? 65536 : half(hi)) - mag;

	return sign | (below < above || (below == above && !(lo & 1)) ? lo : hi);
}

std::uint16_t to_bf16(float f)
{
	const std::uint32_t v = as_bits(f);

	/* a sum of two bf16 that float has rounded rounds to the same bf16 */
	return v == nan32 ? nanb16 : std::uint16_t((v + 0x7fff + (v >> 16 & 1)) >> 16);
}

const std::uint16_t interesting[] = {
	0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401, 0x007f,
	0x0080, 0x0081, 0x3c00, 0xbc00, 0x3c01, 0x3f80, 0xbf80, 0x3f81, 0x4400, 0x6bff, 0x7bff,
	0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0x5555,
};

TEST(Reduce, HalfPrecisionAdds)
{
	for (std::uint16_t a : interesting)
		for (std::uint32_t b = 0; b < 65536; b++)
			ASSERT_EQ(ubp_fp_add(&fp16, a, b), to_half(half(a) + half(std::uint16_t(b))))
				<< std::hex << a << " + " << b;
	ubsim::rng r(16);
	for (int i = 0; i < 1000000; i++) {
		const auto a = std::uint16_t(r.next()), b = std::uint16_t(r.next());

		ASSERT_EQ(ubp_fp_add(&fp16, a, b), to_half(half(a) + half(b)))
			<< std::hex << a << " + " << b;
	}
}

TEST(Reduce, Bfloat16Adds)
{
	for (std::uint16_t a : interesting)
		for (std::uint32_t b = 0; b < 65536; b++)
			ASSERT_EQ(ubp_fp_add(&bf16, a, b),
				  to_bf16(as_float(std::uint32_t(a) << 16) + as_float(b << 16)))
				<< std::hex << a << " + " << b;
}

TEST(Reduce, SinglePrecisionAdds)
{
	ubsim::rng r(32);

	for (int i = 0; i < 3000000; i++) {
		auto a = std::uint32_t(r.next()), b = std::uint32_t(r.next());

		if (i & 1) /* exponents that are close to one another, where rounding happens */
			b = (b & 0x807fffff) | std::uint32_t(((a >> 23) + r.below(52) - 26) & 255)
						       << 23;
		if (i % 5 == 0)
			b &= ~0u << r.below(24);
		ASSERT_EQ(ubp_fp_add(&fp32, a, b), as_bits(as_float(a) + as_float(b)))
			<< std::hex << a << " + " << b;
	}
	for (std::uint32_t a : { 0u, 1u, 0x7fffffu, 0x800000u, 0x3f800000u, 0x7f7fffffu,
				 0x7f800000u, 0x7f800001u, 0x7fc00000u })
		for (std::uint32_t b : { 0u, 1u, 0x7fffffu, 0x800000u, 0x33800000u, 0x73000000u,
					 0x7f7fffffu, 0x7f800000u, 0x7fc00000u })
			for (std::uint32_t s = 0; s < 4; s++) {
				const std::uint32_t x = a | (s & 1) << 31, y = b | (s & 2) << 30;

				ASSERT_EQ(ubp_fp_add(&fp32, x, y),
					  as_bits(as_float(x) + as_float(y)))
					<< std::hex << x << " + " << y;
			}
}

TEST(Reduce, ExtremesOrderEverything)
{
	/* ascending, and a NaN beats all of them */
	const std::uint16_t line[] = { 0xfc00, 0xfbff, 0xbc00, 0x8400, 0x8001, 0x8000,
				       0x0000, 0x0001, 0x0400, 0x3c00, 0x7bff, 0x7c00 };

	for (unsigned i = 0; i < std::size(line); i++)
		for (unsigned k = 0; k < std::size(line); k++) {
			EXPECT_EQ(ubp_fp_extreme(&fp16, line[i], line[k], true),
				  line[std::max(i, k)]);
			EXPECT_EQ(ubp_fp_extreme(&fp16, line[i], line[k], false),
				  line[std::min(i, k)]);
		}
	for (std::uint16_t v : line)
		for (std::uint16_t n : { 0x7c01, 0xfe00, 0x7fff }) {
			EXPECT_EQ(ubp_fp_extreme(&fp16, v, n, true), nan16);
			EXPECT_EQ(ubp_fp_extreme(&fp16, n, v, false), nan16);
		}
	EXPECT_EQ(ubp_fp_extreme(&bf16, 0x3f80, 0xbf80, true), 0x3f80u);
	EXPECT_EQ(ubp_fp_extreme(&fp32, 0x3f800000, 0xff800000, false), 0xff800000u);
	EXPECT_EQ(ubp_fp_extreme(&fp32, 0x7f800001, 0, false), nan32);
}

TEST(Reduce, FloatsInMemory)
{
	float mem[3] = { 1.5f, -2, 1e30f }, arg[3] = { 0.25f, 5, 1e30f };

	ubp_reduce_shared(UBOE_UDF_FP32, UBOE_UDF_ADD, mem, arg, sizeof(mem));
	EXPECT_EQ(mem[0], 1.75f);
	EXPECT_EQ(mem[1], 3.0f);
	EXPECT_EQ(mem[2], 2e30f);
	ubp_reduce_private(UBOE_UDF_FP32, UBOE_UDF_SMIN, mem, arg, sizeof(mem));
	EXPECT_EQ(mem[0], 0.25f);
	std::uint16_t h[2] = { 0x3c00, 0xbc00 }, g[2] = { 0x3c00, 0x4000 };

	ubp_reduce_shared(UBOE_UDF_FP16, UBOE_UDF_ADD, h, g, sizeof(h));
	EXPECT_EQ(h[0], 0x4000);
	EXPECT_EQ(h[1], 0x3c00);
	ubp_reduce_shared(UBOE_UDF_BF16, UBOE_UDF_SMAX, h, g, sizeof(h));
	EXPECT_EQ(h[0], 0x4000);
}

} /* namespace */
