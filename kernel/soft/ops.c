// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the core asks of its home, and its counters */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "soft.h"

/*
 * Memory of the core: freed after a grace period and from any context, hence
 * with an RCU head in front. The head takes a cache line, so that objects
 * start on one.
 */
struct uboe_mem {
	struct rcu_head rcu;
	u8 data[] __aligned(64);
};

static void *uboe_zalloc(struct ubp_dev *dev, size_t len)
{
	struct uboe_mem *mem;

	if (len > INT_MAX - sizeof(*mem))
		return NULL;
	mem = kvzalloc(sizeof(*mem) + len, GFP_KERNEL_ACCOUNT);
	return mem ? mem->data : NULL;
}

static void uboe_mem_free(struct rcu_head *rcu)
{
	kvfree(container_of(rcu, struct uboe_mem, rcu));
}

static void uboe_free_later(struct ubp_dev *dev, void *p)
{
	if (p)
		call_rcu(&container_of(p, struct uboe_mem, data[0])->rcu, uboe_mem_free);
}

static u64 uboe_now(struct ubp_dev *dev)
{
	return ktime_get_ns();
}

static u32 uboe_random(struct ubp_dev *dev)
{
	return get_random_u32();
}

const struct ubp_ops uboe_soft_ops = {
	.now = uboe_now,
	.random = uboe_random,
	.zalloc = uboe_zalloc,
	.free_later = uboe_free_later,
	.bus_map = uboe_bus_map,
	.seg_map = uboe_seg_map,
	.seg_unmap = uboe_seg_unmap,
	.path_init = uboe_path_init,
	.path_exit = uboe_path_exit,
	.path_mtu = uboe_path_mtu,
	.path_link = uboe_path_link,
	.tx_alloc = uboe_tx_alloc,
	.tx_send = uboe_tx_send,
	.tx_free = uboe_tx_free,
	.rx_free = uboe_rx_free,
	.timer = uboe_timer,
	.timer_cancel = uboe_timer_cancel,
	.engine_later = uboe_engine_later,
	.jfc_event = uboe_jfc_event,
	.jfc_timer = uboe_jfc_timer,
	.event = uboe_event,
	.share_wanted = uboe_share_wanted,
	.jetty_timer = uboe_jetty_timer,
};

u64 uboe_soft_stat(struct uboe_dev *ud, u32 stat)
{
	u64 sum = 0;
	int cpu;

	if (stat >= UBP_S_MAX || !ud->core.stats)
		return 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(ud->core.stats, cpu)[stat]);
	return sum;
}
