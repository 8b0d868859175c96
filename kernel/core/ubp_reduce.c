// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Types and operators of reduce (docs/wire.md section 5): one table, and what it says. */
#include "ubp_reduce.h"

#define UBP_OPS_BITS                                                                               \
	(BIT(UBOE_UDF_ADD) | BIT(UBOE_UDF_XOR) | BIT(UBOE_UDF_CLEAR) | BIT(UBOE_UDF_SET))
#define UBP_OPS_SIGNED (UBP_OPS_BITS | BIT(UBOE_UDF_SMAX) | BIT(UBOE_UDF_SMIN))
#define UBP_OPS_UNSIGNED (UBP_OPS_BITS | BIT(UBOE_UDF_UMAX) | BIT(UBOE_UDF_UMIN))
#define UBP_OPS_FLOAT (BIT(UBOE_UDF_ADD) | BIT(UBOE_UDF_SMAX) | BIT(UBOE_UDF_SMIN))

/* @fp: all 0 for integers */
struct ubp_reduce_row {
	u8 size;
	u8 ops;
	struct ubp_fp fp;
};

static const struct ubp_reduce_row ubp_reduce_rows[16] = {
	[UBOE_UDF_S8] = { 1, UBP_OPS_SIGNED, { 0, 0 } },
	[UBOE_UDF_S16] = { 2, UBP_OPS_SIGNED, { 0, 0 } },
	[UBOE_UDF_S32] = { 4, UBP_OPS_SIGNED, { 0, 0 } },
	[UBOE_UDF_S64] = { 8, UBP_OPS_SIGNED, { 0, 0 } },
	[UBOE_UDF_FP16] = { 2, UBP_OPS_FLOAT, { 5, 10 } },
	[UBOE_UDF_BF16] = { 2, UBP_OPS_FLOAT, { 8, 7 } },
	[UBOE_UDF_FP32] = { 4, UBP_OPS_FLOAT, { 8, 23 } },
	[UBOE_UDF_U8] = { 1, UBP_OPS_UNSIGNED, { 0, 0 } },
	[UBOE_UDF_U16] = { 2, UBP_OPS_UNSIGNED, { 0, 0 } },
	[UBOE_UDF_U32] = { 4, UBP_OPS_UNSIGNED, { 0, 0 } },
	[UBOE_UDF_U64] = { 8, UBP_OPS_UNSIGNED, { 0, 0 } },
};

u32 ubp_reduce_size(u32 type, u32 op)
{
	const struct ubp_reduce_row *r = &ubp_reduce_rows[type & 15];

	return type < ARRAY_SIZE(ubp_reduce_rows) && op < 8 && r->ops >> op & 1 ? r->size : 0;
}

u64 ubp_reduce_int(u32 size, u32 op, u64 mem, u64 arg)
{
	u32 up = 64 - 8 * size; /* with their signs in the top bit numbers compare as they should */
	u64 m = mem << up, a = arg << up;

	switch (op) {
	case UBOE_UDF_ADD:
		return mem + arg;
	case UBOE_UDF_XOR:
		return mem ^ arg;
	case UBOE_UDF_CLEAR:
		return mem & ~arg;
	case UBOE_UDF_SET:
		return mem | arg;
	case UBOE_UDF_SMAX:
		return (s64)a > (s64)m ? arg : mem;
	case UBOE_UDF_SMIN:
		return (s64)a < (s64)m ? arg : mem;
	case UBOE_UDF_UMAX:
		return a > m ? arg : mem;
	default:
		return a < m ? arg : mem;
	}
}

u64 ubp_reduce_one(u32 type, u32 op, u64 mem, u64 arg)
{
	const struct ubp_reduce_row *r = &ubp_reduce_rows[type & 15];

	if (!r->fp.exp)
		return ubp_reduce_int(r->size, op, mem, arg);
	if (op == UBOE_UDF_ADD)
		return ubp_fp_add(&r->fp, mem, arg);
	return ubp_fp_extreme(&r->fp, mem, arg, op == UBOE_UDF_SMAX);
}

static u64 ubp_reduce_load(const u8 *p, u32 size)
{
	u64 v = 0;

	while (size--)
		v = v << 8 | p[size];
	return v;
}

void ubp_reduce_private(u32 type, u32 op, void *mem, const void *arg, u32 len)
{
	u32 size = ubp_reduce_rows[type & 15].size, i, k;
	const u8 *a = (const u8 *)arg;
	u8 *m = (u8 *)mem;

	for (i = 0; i < len; i += size) {
		u64 v = ubp_reduce_one(type, op, ubp_reduce_load(m + i, size),
				       ubp_reduce_load(a + i, size));

		for (k = 0; k < size; k++)
			m[i + k] = (u8)(v >> 8 * k);
	}
}

static u64 ubp_reduce_cas16(void *p, u64 old, u64 val)
{
	u16 o = (__force u16)cpu_to_le16((u16)old), v = (__force u16)cpu_to_le16((u16)val);

	return le16_to_cpu((__force __le16)ubp_os_cas16(p, o, v));
}

static u64 ubp_reduce_cas32(void *p, u64 old, u64 val)
{
	u32 o = (__force u32)cpu_to_le32((u32)old), v = (__force u32)cpu_to_le32((u32)val);

	return le32_to_cpu((__force __le32)ubp_os_cas32(p, o, v));
}

static u64 ubp_reduce_cas64(void *p, u64 old, u64 val)
{
	u64 o = (__force u64)cpu_to_le64(old), v = (__force u64)cpu_to_le64(val);

	return le64_to_cpu((__force __le64)ubp_os_cas64(p, o, v));
}

/* Compare and swap of an aligned little-endian number; the one that was there */
static u64 ubp_reduce_cas(void *p, u32 size, u64 old, u64 val)
{
	switch (size) {
	case 1:
		return ubp_os_cas8(p, (u8)old, (u8)val);
	case 2:
		return ubp_reduce_cas16(p, old, val);
	case 4:
		return ubp_reduce_cas32(p, old, val);
	default:
		return ubp_reduce_cas64(p, old, val);
	}
}

void ubp_reduce_shared(u32 type, u32 op, void *mem, const void *arg, u32 len)
{
	u32 size = ubp_reduce_rows[type & 15].size, i;
	const u8 *a = (const u8 *)arg;
	u8 *m = (u8 *)mem;

	for (i = 0; i < len; i += size) {
		u64 v = ubp_reduce_load(a + i, size), old, seen = 0;

		/* the first guess may be torn: then the swap fails and says what is there */
		do {
			old = seen;
			seen = ubp_reduce_cas(m + i, size, old, ubp_reduce_one(type, op, old, v));
		} while (seen != old);
	}
}
