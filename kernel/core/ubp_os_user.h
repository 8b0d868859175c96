/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The core's platform in a user-space process. Included by ubp_os.h only. */
#ifndef UBP_OS_USER_H
#define UBP_OS_USER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#include <errno.h>

#ifdef __cplusplus
#define UBP_STATIC_ASSERT(e, m) static_assert(e, m)
#else
#define UBP_STATIC_ASSERT(e, m) _Static_assert(e, m)
#endif
#ifndef __cplusplus
#ifndef static_assert
#define static_assert(e, ...) _Static_assert(e, #e)
#endif
#endif

#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif
#ifndef min_t
#define min_t(t, a, b) ((t)(a) < (t)(b) ? (t)(a) : (t)(b))
#define max_t(t, a, b) ((t)(a) > (t)(b) ? (t)(a) : (t)(b))
#endif
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif
#ifndef BIT
#define BIT(n) (1UL << (n))
#endif
#ifndef fallthrough
#define fallthrough __attribute__((__fallthrough__))
#endif
#ifndef prefetchw
#define prefetchw(p) __builtin_prefetch(p, 1)
#endif
#ifndef container_of
#define container_of(p, t, m) ((t *)((char *)(p) - offsetof(t, m)))
#endif

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#ifdef __SANITIZE_THREAD__
/* The thread sanitizer knows no fences; a read-modify-write does as well. */
static inline void smp_mb(void)
{
	static unsigned int dummy;

	__atomic_fetch_add(&dummy, 0, __ATOMIC_SEQ_CST);
}
#define smp_wmb() smp_mb()
#define smp_rmb() smp_mb()
#else
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif

static inline u16 get_unaligned_be16(const void *p)
{
	u16 v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap16(v);
}

static inline u32 get_unaligned_be32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}

static inline u64 get_unaligned_be64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap64(v);
}

static inline u32 get_unaligned_le32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline void put_unaligned_be16(u16 v, void *p)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_unaligned_be32(u32 v, void *p)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_unaligned_be64(u64 v, void *p)
{
	v = __builtin_bswap64(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_unaligned_le32(u32 v, void *p)
{
	memcpy(p, &v, sizeof(v));
}

/* Little-endian hosts only, like every machine the user-space homes run on. */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the user-space homes need a little-endian host"
#endif
#ifndef le16_to_cpu
#define le16_to_cpu(x) ((u16)(x))
#define le32_to_cpu(x) ((u32)(x))
#define le64_to_cpu(x) ((u64)(x))
#define cpu_to_le16(x) ((__le16)(u16)(x))
#define cpu_to_le32(x) ((__le32)(u32)(x))
#define cpu_to_le64(x) ((__le64)(u64)(x))
#endif
#ifndef __force
#define __force
#endif

/* A small spin lock: the hosts that run one thread never contend on it. */
typedef struct {
	unsigned char held;
} ubp_lock_t;

static inline void ubp_lock_init(ubp_lock_t *l)
{
	l->held = 0;
}

static inline bool ubp_trylock(ubp_lock_t *l)
{
	return !__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE);
}

static inline void ubp_lock(ubp_lock_t *l)
{
	while (!ubp_trylock(l))
		;
}

static inline void ubp_unlock(ubp_lock_t *l)
{
	__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

#define ubp_lock_some(l) ubp_lock(l)
#define ubp_unlock_some(l) ubp_unlock(l)
#define ubp_lock_inner(l) ubp_lock(l)
#define ubp_unlock_inner(l) ubp_unlock(l)
#define ubp_assert_held(l) ((void)(l))

typedef struct {
	unsigned int v;
} ubp_ref_t;

static inline void ubp_ref_init(ubp_ref_t *r)
{
	__atomic_store_n(&r->v, 1, __ATOMIC_RELAXED);
}

static inline bool ubp_ref_tryget(ubp_ref_t *r)
{
	unsigned int o = __atomic_load_n(&r->v, __ATOMIC_RELAXED);

	do {
		if (!o)
			return false;
	} while (!__atomic_compare_exchange_n(&r->v, &o, o + 1, true, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	return true;
}

static inline bool ubp_ref_put(ubp_ref_t *r)
{
	return __atomic_sub_fetch(&r->v, 1, __ATOMIC_ACQ_REL) == 0;
}

static inline unsigned int ubp_ref_read(const ubp_ref_t *r)
{
	return __atomic_load_n(&r->v, __ATOMIC_ACQUIRE);
}

#define ubp_relax() ((void)0)
#define ubp_yield() ((void)0)

/* Index of the lowest bit that is set; @v is not 0 */
#define ubp_ctz32(v) ((u32)__builtin_ctz(v))

static inline u64 ubp_div64(u64 n, u32 d)
{
	return n / d;
}

/* Atomics on memory that another thread may change; return the old value */
static inline u64 ubp_os_cas64(void *p, u64 old, u64 val)
{
	__atomic_compare_exchange_n((u64 *)p, &old, val, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return old;
}

static inline u32 ubp_os_cas32(void *p, u32 old, u32 val)
{
	__atomic_compare_exchange_n((u32 *)p, &old, val, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return old;
}

static inline u16 ubp_os_cas16(void *p, u16 old, u16 val)
{
	__atomic_compare_exchange_n((u16 *)p, &old, val, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return old;
}

static inline u8 ubp_os_cas8(void *p, u8 old, u8 val)
{
	__atomic_compare_exchange_n((u8 *)p, &old, val, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}

/* An array of counters */
typedef u64 *ubp_stats_t;
#define ubp_stat_add(s, i, n) ((void)__atomic_fetch_add(&(s)[i], (n), __ATOMIC_RELAXED))
#define ubp_os_trace_drop(dev, stat) ((void)0)

/* Deferred freeing is the home's business; a single-threaded home needs none. */
#define ubp_read_begin() ((void)0)
#define ubp_read_end() ((void)0)

#ifdef __cplusplus
extern "C" {
#endif
/* Supplied by the home, from a vectorised library. Raw register, no inversion. */
u32 ubp_os_crc32(u32 crc, const void *p, size_t len);
#ifdef __cplusplus
}
#endif

#endif /* UBP_OS_USER_H */
