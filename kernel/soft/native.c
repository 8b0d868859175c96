// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The port of a UB domain: instead of UDP, native packets on the lab link of the netdev
 * (docs/wire.md, 11). The netdev's IP addresses are the device's as before.
 */
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include "soft.h"
#include "trace.h"

/* A link has other stations when it is no cable; IP header and addresses are there */
static bool uboe_native_is_ours(const struct uboe_soft *sf, const u8 *ip)
{
	struct net *net = dev_net(sf->ndev);

	if (ip[0] >> 4 == 4) {
		__be32 daddr;

		memcpy(&daddr, ip + 16, sizeof(daddr));
		return __ip_dev_find(net, daddr, false) == sf->ndev;
	}
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_chk_addr(net, (const struct in6_addr *)(ip + 24), sf->ndev, 0);
#else
	return false;
#endif
}

/* In softirq, under RCU. What is too short for its addresses is for the core to count. */
static int uboe_native_rcv(struct sk_buff *skb, struct net_device *ndev, struct packet_type *pt,
			   struct net_device *orig)
{
	struct uboe_soft *sf = container_of(pt, struct uboe_soft, native_type);
	struct ubp_rxpkt pkt = {};

	if (skb->pkt_type == PACKET_LOOPBACK)
		goto drop;
	/* to another station's MAC address, or of a VLAN, which the stack marks alike */
	if (skb->pkt_type == PACKET_OTHERHOST) {
		uboe_soft_count(sf, UBOE_SD_FOREIGN);
		goto drop;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	/* what the core may keep for long must not pin others' things */
	skb_orphan(skb);
	if (unlikely(skb_linearize(skb))) {
		uboe_soft_count(sf, UBOE_SD_NO_MEMORY);
		goto drop;
	}
	if (skb->len >= UB_NATIVE_LEN + sizeof(struct ipv6hdr) &&
	    !uboe_native_is_ours(sf, skb->data + UB_NATIVE_LEN)) {
		uboe_soft_count(sf, UBOE_SD_FOREIGN);
		goto drop;
	}
	pkt.data = skb->data;
	pkt.len = skb->len;
	pkt.cookie = skb;
	trace_uboe_rx(sf->ndev, pkt.data, pkt.len);
	if (!ubp_rx_native(&sf->ud->core, &pkt))
		uboe_rx_free(&sf->ud->core, skb);
	return NET_RX_SUCCESS;
drop:
	kfree_skb(skb);
	return NET_RX_DROP;
}

/* LPH and NTH before a packet of the core. Return: false, it does not fit the link */
bool uboe_native_wrap(struct uboe_soft *sf, struct sk_buff *skb, u16 cci)
{
	if (skb->len + UB_NATIVE_LEN > READ_ONCE(sf->ndev->mtu) ||
	    skb_cow_head(skb, UB_NATIVE_LEN + LL_RESERVED_SPACE(sf->ndev)))
		return false;
	ubp_tx_native(&sf->ud->core, skb->data, skb->len, cci);
	skb_push(skb, UB_NATIVE_LEN);
	skb_reset_network_header(skb);
	skb->protocol = htons(UB_LAB_ETHERTYPE);
	return true;
}

/* To the one other end of the link */
void uboe_native_out(struct uboe_soft *sf, struct sk_buff *skb)
{
	struct net_device *ndev = sf->ndev;

	if (dev_hard_header(skb, ndev, UB_LAB_ETHERTYPE, ndev->broadcast, NULL, skb->len) < 0)
		kfree_skb(skb);
	else
		dev_queue_xmit(skb);
}

u32 uboe_native_link(const struct uboe_soft *sf)
{
	return READ_ONCE(sf->ndev->mtu) - UB_NATIVE_LEN;
}

bool uboe_soft_native(const struct uboe_dev *ud)
{
	return READ_ONCE(ud->soft->native);
}

/*
 * Who has queues has peers at the other kind of network. Called with the device's commands
 * held off, so that none comes meanwhile.
 */
int uboe_soft_set_native(struct uboe_dev *ud, bool on)
{
	struct uboe_soft *sf = ud->soft;

	if (on && sf->ndev->type != ARPHRD_ETHER)
		return -EOPNOTSUPP;
	mutex_lock(&uboe_soft_mutex);
	if (on && !sf->native) {
		sf->native_type.type = htons(UB_LAB_ETHERTYPE);
		sf->native_type.dev = sf->ndev;
		sf->native_type.func = uboe_native_rcv;
		dev_add_pack(&sf->native_type);
		WRITE_ONCE(sf->native, true);
		WRITE_ONCE(ud->core.native, true);
	} else if (!on && sf->native) {
		WRITE_ONCE(sf->native, false);
		WRITE_ONCE(ud->core.native, false);
		dev_remove_pack(&sf->native_type); /* no uboe_native_rcv() runs any more */
	}
	mutex_unlock(&uboe_soft_mutex);
	return 0;
}
