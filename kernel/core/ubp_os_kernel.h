/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The core's platform inside Linux. Included by ubp_os.h only. */
#ifndef UBP_OS_KERNEL_H
#define UBP_OS_KERNEL_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/prefetch.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint-defs.h>
#include <linux/types.h>
#include <linux/unaligned.h>

typedef spinlock_t ubp_lock_t;

/*
 * Core locks are taken in process and in softirq context, never in hard
 * interrupts. The outer lock (channel) disables softirqs; inner locks (JFC,
 * JFR) rely on that and say so by the _inner suffix.
 */
#define ubp_lock_init(l) spin_lock_init(l)
#define ubp_lock(l) spin_lock_bh(l)
#define ubp_trylock(l) spin_trylock_bh(l)
#define ubp_unlock(l) spin_unlock_bh(l)
/* For functions that take or release one on some of their ways only: not counted by sparse */
#define ubp_lock_some(l)                                                                         \
	do {                                                                                     \
		spin_lock_bh(l);                                                                 \
		__release(l);                                                                    \
	} while (0)
#define ubp_unlock_some(l)                                                                       \
	do {                                                                                     \
		__acquire(l);                                                                    \
		spin_unlock_bh(l);                                                               \
	} while (0)
#define ubp_lock_inner(l) spin_lock(l)
#define ubp_unlock_inner(l) spin_unlock(l)
#define ubp_assert_held(l) lockdep_assert_held(l)

typedef refcount_t ubp_ref_t;
#define ubp_ref_init(r) refcount_set(r, 1)
#define ubp_ref_tryget(r) refcount_inc_not_zero(r)
#define ubp_ref_put(r) refcount_dec_and_test(r)
#define ubp_ref_read(r) refcount_read(r)
#define ubp_relax() cpu_relax()
#define ubp_yield() cond_resched() /* process context, no lock held */

/* Index of the lowest bit that is set; @v is not 0 */
#define ubp_ctz32(v) ((u32)__ffs(v))
#define ubp_div64(n, d) div_u64(n, d)

/* Atomics on memory that a process may change at the same time; return the old value */
static inline u64 ubp_os_cas64(void *p, u64 old, u64 val)
{
	return cmpxchg64((u64 *)p, old, val);
}

static inline u32 ubp_os_cas32(void *p, u32 old, u32 val)
{
	return cmpxchg((u32 *)p, old, val);
}

static inline u16 ubp_os_cas16(void *p, u16 old, u16 val)
{
	return cmpxchg((u16 *)p, old, val);
}

static inline u8 ubp_os_cas8(void *p, u8 old, u8 val)
{
	return cmpxchg((u8 *)p, old, val);
}

/* An array of counters, one copy per CPU */
typedef u64 __percpu *ubp_stats_t;
#define ubp_stat_add(s, i, n) this_cpu_add((s)[i], n)

/* Tracepoint of dropped packets, soft/trace.h */
struct ubp_dev;
DECLARE_TRACEPOINT(uboe_drop);
void uboe_trace_drop(struct ubp_dev *dev, u32 stat);
#define ubp_os_trace_drop(dev, stat)		\
	do {					\
		if (tracepoint_enabled(uboe_drop))	\
			uboe_trace_drop(dev, stat);	\
	} while (0)

#define ubp_read_begin() rcu_read_lock()
#define ubp_read_end() rcu_read_unlock()

/* soft/crc.c: vector code where there is any; not worth it for short pieces */
u32 uboe_crc32(u32 crc, const void *p, size_t len);
#define UBP_CRC_SHORT 256u

static inline u32 ubp_os_crc32(u32 crc, const void *p, size_t len)
{
	return len < UBP_CRC_SHORT ? crc32_le(crc, p, len) : uboe_crc32(crc, p, len);
}

#endif /* UBP_OS_KERNEL_H */
