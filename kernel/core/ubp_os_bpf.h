/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the headers that a BPF program shares with the core need: types and big-endian
 * access. No BPF program runs the core itself. Included by ubp_os.h only.
 */
#ifndef UBP_OS_BPF_H
#define UBP_OS_BPF_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#define UBP_STATIC_ASSERT(e, m) _Static_assert(e, m)
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Byte by byte: packet headers after an Ethernet header are not aligned */
static inline u16 get_unaligned_be16(const void *p)
{
	const u8 *b = (const u8 *)p;

	return (u16)(b[0] << 8 | b[1]);
}

static inline u32 get_unaligned_be32(const void *p)
{
	const u8 *b = (const u8 *)p;

	return (u32)b[0] << 24 | (u32)b[1] << 16 | (u32)b[2] << 8 | b[3];
}

static inline void put_unaligned_be16(u16 v, void *p)
{
	u8 *b = (u8 *)p;

	b[0] = (u8)(v >> 8);
	b[1] = (u8)v;
}

static inline void put_unaligned_be32(u32 v, void *p)
{
	put_unaligned_be16((u16)(v >> 16), p);
	put_unaligned_be16((u16)v, (u8 *)p + 2);
}

#endif /* UBP_OS_BPF_H */
