/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Platform seam of the protocol core. Only this family of headers knows where
 * the core is being compiled; every other file in this folder includes this
 * one and nothing else from the outside.
 *
 * A home supplies: fixed-size types, unaligned big-endian access, acquire and
 * release accesses, a lock, a reference count, 64-bit division, memcpy/memset/memcmp
 * and a CRC-32 (IEEE 802.3 polynomial, raw register in and out, no final inversion).
 */
#ifndef UBP_OS_H
#define UBP_OS_H

#ifdef __KERNEL__
#include "ubp_os_kernel.h"
#elif defined(__bpf__)
#include "ubp_os_bpf.h"
#else
#include "ubp_os_user.h"
#endif

static inline u32 ubp_get_be24(const void *p)
{
	const u8 *b = (const u8 *)p;

	return (u32)b[0] << 16 | (u32)b[1] << 8 | b[2];
}

static inline void ubp_put_be24(u32 v, void *p)
{
	u8 *b = (u8 *)p;

	b[0] = (u8)(v >> 16);
	b[1] = (u8)(v >> 8);
	b[2] = (u8)v;
}

/*
 * 16 bytes, aligned: *@old becomes what was there, which equalled it when the swap
 * was made. Only where ubp_os_has_cas128() says so.
 */
#ifdef __x86_64__
static inline bool ubp_os_has_cas128(void)
{
	u32 eax = 1, ebx, ecx = 0, edx;

	/* User-Mode Linux has no list of features that a module could ask */
	__asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	return ecx >> 13 & 1;
}

static inline void ubp_os_cas128(void *p, u64 old[2], const u64 val[2])
{
	__asm__ volatile("lock cmpxchg16b %0"
			 : "+m"(*(u64(*)[2])p), "+a"(old[0]), "+d"(old[1])
			 : "b"(val[0]), "c"(val[1])
			 : "memory", "cc");
}
#else
static inline bool ubp_os_has_cas128(void)
{
	return false;
}

static inline void ubp_os_cas128(void *p, u64 old[2], const u64 val[2])
{
	(void)p;
	(void)old;
	(void)val;
}
#endif

/* Value of a field given by a contiguous mask. */
#define UBP_GET(mask, word) (((word) & (mask)) / ((mask) & -(mask)))
#define UBP_PUT(mask, val) (((val) * ((mask) & -(mask))) & (mask))

#endif /* UBP_OS_H */
