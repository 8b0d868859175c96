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

/*
 * A packet between two addresses of this machine comes in by the loopback
 * device, one in a VRF by its master: then the destination address tells.
 */
static struct uboe_soft *uboe_rcv_by_addr(const struct sk_buff *skb)
{
	struct net *net = dev_net(skb->dev);
	struct net_device *ndev;

	if (skb->protocol == htons(ETH_P_IP)) {
		ndev = __ip_dev_find(net, ip_hdr(skb)->daddr, false);
	} else {
#if IS_ENABLED(CONFIG_IPV6)
		ndev = ipv6_dev_find(net, &ipv6_hdr(skb)->daddr, skb->dev);
#else
		ndev = NULL;
#endif
	}
	return ndev ? uboe_soft_find(ndev) : NULL;
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
		sf = uboe_rcv_by_addr(skb);
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
	pkt.cookie = skb;
	trace_uboe_rx(sf->ndev, pkt.data, pkt.len);
	if (!ubp_rx(&sf->ud->core, &pkt))
		uboe_rcv_free(skb);
	return 0;
drop:
	kfree_skb(skb);
	return 0;
}
