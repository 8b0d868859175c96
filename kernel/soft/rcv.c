// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* From the UDP socket to the core. Runs in the network receive softirq. */
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/addrconf.h>
#include <net/udp.h>
#include "soft.h"
#include "trace.h"

/* Packets to our port on netdevs and addresses without a device */
static atomic64_t uboe_strays = ATOMIC64_INIT(0);

u64 uboe_rx_strays(void)
{
	return atomic64_read(&uboe_strays);
}

/* Our netdev with the packet's destination address, whoever brought it in */
static struct net_device *uboe_rcv_owner(const struct sk_buff *skb)
{
	struct net *net = dev_net(skb->dev);

	if (skb->protocol == htons(ETH_P_IP))
		return __ip_dev_find(net, ip_hdr(skb)->daddr, false);
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_dev_find(net, &ipv6_hdr(skb)->daddr, NULL);
#else
	return NULL;
#endif
}

static int uboe_rcv_lower(struct net_device *lower, struct netdev_nested_priv *priv)
{
	struct uboe_soft **sf = (struct uboe_soft **)priv->data;

	*sf = uboe_soft_find(lower);
	return !!*sf;
}

/* The device on @ndev, or on one below it: addresses of a VLAN or a bridge are GIDs of those */
static struct uboe_soft *uboe_rcv_device(struct net_device *ndev)
{
	struct uboe_soft *sf = uboe_soft_find(ndev);
	struct netdev_nested_priv priv = { .data = &sf };

	if (!sf)
		netdev_walk_all_lower_dev_rcu(ndev, uboe_rcv_lower, &priv);
	return sf;
}

/*
 * Not on a netdev of ours: one above, or the loopback device, which brings packets
 * between addresses of this machine.
 */
static struct uboe_soft *uboe_rcv_elsewhere(const struct sk_buff *skb)
{
	struct uboe_soft *sf = uboe_rcv_device(skb->dev);
	struct net_device *owner;

	if (sf)
		return sf;
	owner = uboe_rcv_owner(skb);
	return owner ? uboe_rcv_device(owner) : NULL;
}

static void uboe_rcv_free(struct sk_buff *skb)
{
	/* the per-CPU cache of the stack, which tx_alloc takes from, wants BHs off */
	napi_consume_skb(skb, softirq_count());
}

void uboe_rx_free(struct ubp_dev *dev, void *cookie)
{
	uboe_rcv_free(cookie);
}

/* Called under RCU with skb->data at the UDP header. Return: 0, always consumed. */
int uboe_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct uboe_soft *sf;
	struct ubp_rxpkt pkt;

	sf = uboe_soft_find(skb->dev);
	if (unlikely(!sf)) {
		sf = uboe_rcv_elsewhere(skb);
		if (!sf) {
			atomic64_inc(&uboe_strays);
			goto drop;
		}
	}
	if (unlikely(skb_is_gso(skb))) {
		uboe_soft_count(sf, UBOE_SD_GSO);
		goto drop;
	}
	/* what the core may keep for long must not pin others' things */
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	if (unlikely(skb_linearize(skb))) {
		uboe_soft_count(sf, UBOE_SD_NO_MEMORY);
		goto drop;
	}
	pkt.data = skb_network_header(skb);
	pkt.len = skb_tail_pointer(skb) - pkt.data;
	/* on a virtual link the sender leaves the sum to a device that never comes */
	pkt.csum_ok = skb_csum_unnecessary(skb) || skb->ip_summed == CHECKSUM_PARTIAL;
	pkt.mark = UBP_MARK_AS_IP;
	pkt.cci = 0;
	pkt.cookie = skb;
	trace_uboe_rx(sf->ndev, pkt.data, pkt.len);
	if (!ubp_rx(&sf->ud->core, &pkt))
		uboe_rcv_free(skb);
	return 0;
drop:
	kfree_skb(skb);
	return 0;
}
