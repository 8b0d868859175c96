// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From the core to the stack.
 *
 * A device's packets inside the local stack are limited: on a veth and on
 * loopback they wait in the receiving CPU's backlog, which drops what exceeds
 * net.core.netdev_max_backlog (1000), and the sender would take that for loss
 * on the network. Packets count from tx_alloc to their destructor, which the
 * receiving side runs early. Two devices that send to one another with all
 * their might stay below the limit together.
 *
 * The count is kept per CPU and moved to uboe_soft.out in batches, so that the
 * path writes no shared memory for most packets. All CPUs together keep back at
 * most a quarter of the limit, therefore:
 * - while a waiter exists, the last packets to come back bring @out below half
 *   of the limit with their last batch, and that wakes it;
 * - out <= limit + limit / 4.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include "soft.h"
#include "trace.h"

static unsigned int uboe_tx_budget = 448;
module_param_named(tx_budget, uboe_tx_budget, uint, 0444);
MODULE_PARM_DESC(tx_budget, "packets of one device inside the local stack (16..65536)");

/* How long after a failed allocation the next attempt is made */
#define UBOE_RETRY_NS (1 * NSEC_PER_MSEC)

static void uboe_out_fold(struct uboe_soft *sf, int n)
{
	/* this order: the sum over all never reads as 0 too early, see uboe_tx_outstanding() */
	if (n > 0) {
		atomic_add(n, &sf->out);
		this_cpu_sub(sf->cpu->out, n);
		return;
	}
	this_cpu_sub(sf->cpu->out, n);
	/* full barrier: pairs with the one in uboe_tx_wait() */
	if (atomic_add_return(n, &sf->out) >= sf->out_low)
		return;
	if (!list_empty_careful(&sf->waiters))
		tasklet_schedule(&sf->resume);
}

static void uboe_out_get(struct uboe_soft *sf)
{
	int n = this_cpu_inc_return(sf->cpu->out);

	if (unlikely(n >= sf->out_batch))
		uboe_out_fold(sf, n);
}

static void uboe_out_put(struct uboe_soft *sf)
{
	int n = this_cpu_dec_return(sf->cpu->out);

	if (unlikely(n <= -sf->out_batch))
		uboe_out_fold(sf, n);
}

static void uboe_skb_done(struct sk_buff *skb)
{
	preempt_disable(); /* an RCU section: uboe_drain_once() waits for us */
	uboe_out_put(skb_shinfo(skb)->destructor_arg);
	preempt_enable();
}

/* Packets that are out: never less than the truth once nobody allocates any more */
int uboe_tx_outstanding(const struct uboe_soft *sf)
{
	int sum = atomic_read(&sf->out);
	int cpu;

	smp_rmb(); /* a put raises the CPU's part before it lowers @out */
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(sf->cpu, cpu)->out);
	return sum;
}

static bool uboe_out_full(const struct uboe_soft *sf)
{
	return atomic_read(&sf->out) >= sf->out_limit;
}

/* The channel of @path waits for room, or for memory while there is none */
static void uboe_tx_wait(struct uboe_soft *sf, const struct ubp_path *path)
{
	struct uboe_chan *chan;

	if (!path->tp) { /* a message without a channel: the core asks for the engine */
		__this_cpu_write(sf->cpu->put_off, true);
		return;
	}
	chan = ubp_tp_home(path->tp);
	if (WARN_ON_ONCE(!chan))
		return;
	spin_lock_bh(&sf->wait_lock);
	if (list_empty(&chan->wait) && !READ_ONCE(chan->dead))
		list_add_tail(&chan->wait, &sf->waiters);
	spin_unlock_bh(&sf->wait_lock);
	smp_mb(); /* pairs with the one in uboe_out_fold() */
	if (!READ_ONCE(sf->starved) && atomic_read(&sf->out) < sf->out_low)
		tasklet_schedule(&sf->resume);
}

/* No ubp_resume() starts for the channel after this */
void uboe_tx_unwait(struct uboe_chan *chan)
{
	spin_lock_bh(&chan->sf->wait_lock);
	list_del_init(&chan->wait);
	spin_unlock_bh(&chan->sf->wait_lock);
}

static struct uboe_chan *uboe_waiter_pop(struct uboe_soft *sf)
{
	struct uboe_chan *chan;

	spin_lock(&sf->wait_lock);
	chan = list_first_entry_or_null(&sf->waiters, struct uboe_chan, wait);
	if (chan)
		list_del_init(&chan->wait);
	spin_unlock(&sf->wait_lock);
	return chan;
}

/*
 * A popped channel may be destroyed at once by another CPU: its memory and the
 * core's stay until the end of the RCU section.
 */
static void uboe_resume(struct tasklet_struct *t)
{
	struct uboe_soft *sf = from_tasklet(sf, t, resume);
	struct uboe_chan *chan;

	rcu_read_lock();
	/* a channel that finds no memory waits again: it must not be tried at once */
	while (!uboe_out_full(sf) && !READ_ONCE(sf->starved)) {
		chan = uboe_waiter_pop(sf);
		if (!chan)
			break;
		ubp_resume(chan->tp);
	}
	rcu_read_unlock();
}

static enum hrtimer_restart uboe_retry(struct hrtimer *t)
{
	struct uboe_soft *sf = container_of(t, struct uboe_soft, retry);

	WRITE_ONCE(sf->starved, false);
	tasklet_schedule(&sf->resume);
	return HRTIMER_NORESTART;
}

static bool uboe_tx_no_memory(struct uboe_soft *sf, const struct ubp_path *path)
{
	uboe_soft_count(sf, UBOE_SD_NO_MEMORY);
	WRITE_ONCE(sf->starved, true); /* until the timer, which is started after it */
	uboe_tx_wait(sf, path);
	hrtimer_start(&sf->retry, ns_to_ktime(UBOE_RETRY_NS), HRTIMER_MODE_REL_SOFT);
	return false;
}

/*
 * BHs are off: head and data come from the stack's per-CPU caches. Page fragments
 * for the data, because slab memory would be cleared first on many kernels.
 */
static struct sk_buff *uboe_skb_alloc(const struct uboe_soft *sf, u32 len)
{
	u32 size = SKB_DATA_ALIGN(sf->headroom + len + sf->tailroom) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	void *data;

	data = napi_alloc_frag(size);
	if (unlikely(!data))
		return alloc_skb(sf->headroom + len + sf->tailroom, GFP_ATOMIC | __GFP_NOWARN);
	skb = napi_build_skb(data, size);
	if (unlikely(!skb))
		skb_free_frag(data);
	return skb;
}

bool uboe_tx_alloc(struct ubp_dev *dev, struct ubp_path *path, u32 len, struct ubp_txbuf *buf)
{
	struct uboe_soft *sf = uboe_soft_of(dev);
	struct sk_buff *skb;

	lockdep_assert_in_softirq();
	if (unlikely(uboe_out_full(sf))) {
		uboe_tx_wait(sf, path);
		return false;
	}
	skb = uboe_skb_alloc(sf, len);
	if (unlikely(!skb))
		return uboe_tx_no_memory(sf, path);
	skb_reserve(skb, sf->headroom);
	buf->data = __skb_put(skb, len);
	buf->len = len;
	buf->cookie = skb;
	skb_shinfo(skb)->destructor_arg = sf;
	skb->destructor = uboe_skb_done;
	uboe_out_get(sf);
	return true;
}

void uboe_tx_free(struct ubp_dev *dev, struct ubp_txbuf *buf)
{
	kfree_skb(buf->cookie);
}

/* A complete packet leaves: with its route, or as a native one. BHs are off. */
void uboe_tx_out(struct uboe_soft *sf, struct sk_buff *skb)
{
	struct net *net = dev_net(sf->ndev);

	rcu_read_lock(); /* what skb_dst_force() wants to see where the packet is queued */
	if (unlikely(skb->protocol == htons(UB_LAB_ETHERTYPE)))
		uboe_native_out(sf, skb);
	else if (skb->protocol == htons(ETH_P_IP))
		ip_local_out(net, NULL, skb);
	else
		ip6_local_out(net, NULL, skb);
	rcu_read_unlock();
}

/* Of a datagram for somebody else's port: UBoE packets have none, and an ICRC */
static void uboe_udp_csum(struct sk_buff *skb, bool v4)
{
	u32 len = skb->len - skb_transport_offset(skb);
	struct udphdr *uh = udp_hdr(skb);
	__wsum sum = csum_partial(uh, len, 0); /* its field is 0 */

	if (v4)
		uh->check = csum_tcpudp_magic(ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, len,
					      IPPROTO_UDP, sum);
	else
		uh->check = csum_ipv6_magic(&ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr, len,
					    IPPROTO_UDP, sum);
	if (!uh->check)
		uh->check = CSUM_MANGLED_0;
}

/*
 * The stack fills in length and header checksum once more, to the same values.
 * The identification stays 0 and the packet is never fragmented: DF is set and
 * ignore_df is not, so what exceeds the route's MTU is dropped here.
 */
static bool uboe_tx_way(struct uboe_soft *sf, struct ubp_path *path, struct sk_buff *skb, u16 cci)
{
	if (unlikely(READ_ONCE(sf->native)))
		return uboe_native_wrap(sf, skb, cci);
	return uboe_route_set(sf, path, skb);
}

void uboe_tx_send(struct ubp_dev *dev, struct ubp_path *path, struct ubp_txbuf *buf)
{
	struct uboe_soft *sf = uboe_soft_of(dev);
	struct sk_buff *skb = buf->cookie;

	if (unlikely(skb->len != buf->len))
		skb_trim(skb, buf->len);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, path->v4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	skb->protocol = path->v4 ? htons(ETH_P_IP) : htons(ETH_P_IPV6);
	skb->priority = rt_tos2priority(path->tc);
	skb->dev = sf->ndev;
	if (unlikely(path->dport != dev->cfg.udp_port))
		uboe_udp_csum(skb, path->v4);
	trace_uboe_tx(sf->ndev, skb->data, skb->len);

	if (unlikely(!uboe_tx_way(sf, path, skb, buf->cci))) {
		uboe_soft_count(sf, UBOE_SD_NO_ROUTE);
		kfree_skb(skb);
	} else if (!static_branch_unlikely(&uboe_impair_key) || !uboe_impair(sf, skb)) {
		uboe_tx_out(sf, skb);
	}
}

int uboe_xmit_init(struct uboe_soft *sf)
{
	sf->out_limit = clamp(uboe_tx_budget, 16u, 65536u);
	sf->out_low = sf->out_limit / 2;
	sf->out_batch = clamp(sf->out_limit / 4 / (int)num_possible_cpus(), 1, 16);
	spin_lock_init(&sf->wait_lock);
	INIT_LIST_HEAD(&sf->waiters);
	tasklet_setup(&sf->resume, uboe_resume);
	hrtimer_init(&sf->retry, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	sf->retry.function = uboe_retry;
	return 0;
}

/* All channels are gone; packets may still be out and call tasklet_schedule() no more */
void uboe_xmit_stop(struct uboe_soft *sf)
{
	WARN_ON_ONCE(!list_empty(&sf->waiters));
	hrtimer_cancel(&sf->retry);
	synchronize_rcu();
	tasklet_kill(&sf->resume);
}
