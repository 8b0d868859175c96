// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Routes of channels: looked up once, then checked per packet. */
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/inet_ecn.h>
#include <net/ip6_route.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>
#include "soft.h"

/**
 * struct uboe_route - route cache of one path
 * @dst: current route; replaced under @lock, read under RCU
 * @cookie: for dst_check(); a stale one only costs a look-up
 * @hash: flow hash of the path, so that the stack need not dissect
 * @lock: serialises replacement of @dst
 * @rcu: defers the end of the structure
 */
struct uboe_route {
	struct dst_entry __rcu *dst;
	u32 cookie;
	u32 hash;
	spinlock_t lock; /* guards replacement of @dst and @cookie */
	struct rcu_head rcu;
};

static u32 uboe_path_hash(const struct ubp_path *path)
{
	u32 hash = jhash(path->raddr, sizeof(path->raddr), (u32)path->sport << 16 | path->dport);

	return hash ?: 1;
}

static __be32 uboe_v4(const u8 addr[16])
{
	__be32 v;

	memcpy(&v, addr + 12, sizeof(v));
	return v;
}

/* The netdev that the local address is on: ours, or one above it (a VLAN, a bridge) */
static const struct net_device *uboe_route_dev(const struct uboe_soft *sf,
					       const struct ubp_path *path)
{
	struct net *net = dev_net(sf->ndev);
	struct net_device *dev = NULL;
	struct in6_addr addr;

	memcpy(&addr, path->laddr, sizeof(addr));
	if (path->v4)
		dev = __ip_dev_find(net, uboe_v4(path->laddr), false);
#if IS_ENABLED(CONFIG_IPV6)
	else if (!(ipv6_addr_type(&addr) & IPV6_ADDR_LINKLOCAL))
		dev = ipv6_dev_find(net, &addr, NULL);
#endif
	if (dev && netdev_has_upper_dev_all_rcu(sf->ndev, dev))
		return dev;
	return sf->ndev;
}

/*
 * A peer on another netdev of this machine: the wire can bring a packet back in
 * only where the netdev accepts packets from its own host's addresses. Without
 * that the route must not be tied to our netdev, and leads through loopback.
 */
static bool uboe_route4_tied(const struct net_device *dev, struct net *net, __be32 daddr)
{
	struct in_device *in;

	if (inet_addr_type(net, daddr) != RTN_LOCAL)
		return true;
	in = __in_dev_get_rcu(dev);
	return in && IN_DEV_ACCEPT_LOCAL(in);
}

static struct dst_entry *uboe_route4(const struct uboe_soft *sf, const struct ubp_path *path)
{
	const struct net_device *dev = uboe_route_dev(sf, path);
	struct net *net = dev_net(dev);
	struct flowi4 fl = {
		.flowi4_proto = IPPROTO_UDP,
		.flowi4_tos = RT_TOS(path->tc),
		.saddr = uboe_v4(path->laddr),
		.daddr = uboe_v4(path->raddr),
		.fl4_sport = htons(path->sport),
		.fl4_dport = htons(path->dport),
	};
	struct rtable *rt;

	if (uboe_route4_tied(dev, net, fl.daddr))
		fl.flowi4_oif = dev->ifindex;
	rt = ip_route_output_flow(net, &fl, NULL);
	if (IS_ERR(rt))
		return NULL;
	if (rt->rt_type != RTN_UNICAST && rt->rt_type != RTN_LOCAL) {
		ip_rt_put(rt);
		return NULL;
	}
	return &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *uboe_route6(const struct uboe_soft *sf, const struct ubp_path *path)
{
	const struct net_device *dev = uboe_route_dev(sf, path);
	struct net *net = dev_net(dev);
	struct flowi6 fl = {
		.flowi6_oif = dev->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.flowlabel =
			ip6_make_flowinfo(path->tc & ~INET_ECN_MASK, htonl(path->flow & 0xfffff)),
		.fl6_sport = htons(path->sport),
		.fl6_dport = htons(path->dport),
	};
	struct dst_entry *dst;

	memcpy(&fl.saddr, path->laddr, sizeof(fl.saddr));
	memcpy(&fl.daddr, path->raddr, sizeof(fl.daddr));
	/* unlike IPv4's, this look-up takes any source address */
	if (ipv6_addr_is_multicast(&fl.daddr) || !ipv6_chk_addr(net, &fl.saddr, dev, 0))
		return NULL;
	dst = ipv6_stub->ipv6_dst_lookup_flow(net, NULL, &fl, NULL);
	return IS_ERR(dst) ? NULL : dst;
}

static u32 uboe_cookie6(const struct dst_entry *dst)
{
	return rt6_get_cookie(container_of(dst, struct rt6_info, dst));
}
#else
static struct dst_entry *uboe_route6(const struct uboe_soft *sf, const struct ubp_path *path)
{
	return NULL;
}

static u32 uboe_cookie6(const struct dst_entry *dst)
{
	return 0;
}
#endif

static struct dst_entry *uboe_route_lookup(struct uboe_soft *sf, const struct ubp_path *path)
{
	struct dst_entry *dst;

	rcu_read_lock();
	dst = path->v4 ? uboe_route4(sf, path) : uboe_route6(sf, path);
	rcu_read_unlock();
	return dst;
}

/* Replace a missing or stale route. Return: the new one, good while BHs are off */
static struct dst_entry *uboe_route_renew(struct uboe_soft *sf, const struct ubp_path *path,
					  struct uboe_route *rt)
{
	struct dst_entry *dst, *old;

	dst = uboe_route_lookup(sf, path);
	spin_lock(&rt->lock);
	if (dst)
		WRITE_ONCE(rt->cookie, path->v4 ? 0 : uboe_cookie6(dst));
	old = rcu_replace_pointer(rt->dst, dst, lockdep_is_held(&rt->lock));
	spin_unlock(&rt->lock);
	dst_release(old);
	return dst;
}

/* Give the packet its route. BHs are off, which is all the RCU that it needs; false: none. */
bool uboe_route_set(struct uboe_soft *sf, const struct ubp_path *path, struct sk_buff *skb)
{
	struct uboe_route *rt = path->home;
	struct dst_entry *dst;

	if (unlikely(!rt)) {
		dst = uboe_route_lookup(sf, path);
		if (!dst)
			return false;
		skb_dst_set(skb, dst);
		return true;
	}
	dst = rcu_dereference_bh(rt->dst);
	if (unlikely(!dst || !dst_check(dst, READ_ONCE(rt->cookie)))) {
		dst = uboe_route_renew(sf, path, rt);
		if (!dst)
			return false;
	}
	skb_dst_set_noref(skb, dst);
	__skb_set_sw_hash(skb, rt->hash, true);
	return true;
}

/* Bytes of a packet that the route to the peer carries now */
u32 uboe_path_link(struct ubp_dev *dev, struct ubp_path *path)
{
	struct uboe_soft *sf = uboe_soft_of(dev);
	struct dst_entry *dst;
	u32 mtu;

	if (READ_ONCE(sf->native)) /* of the way behind the link nothing is known */
		return uboe_native_link(sf);
	dst = uboe_route_lookup(sf, path);
	if (!dst)
		return 0;
	mtu = dst_mtu(dst);
	dst_release(dst);
	return mtu;
}

/* What the way to the peer carries now: the netdev's limit, and that of the route */
u32 uboe_path_mtu(struct ubp_dev *dev, struct ubp_path *path)
{
	return min(uboe_soft_mtu(uboe_soft_of(dev)->ud),
		   ubp_mtu_for_link(uboe_path_link(dev, path)));
}

u32 uboe_soft_mtu_to(struct uboe_dev *ud, const u8 *laddr, const u8 *raddr)
{
	struct ubp_path path = {
		.v4 = ipv6_addr_v4mapped((const struct in6_addr *)laddr),
		.dport = ud->core.cfg.udp_port,
	};

	memcpy(path.laddr, laddr, sizeof(path.laddr));
	memcpy(path.raddr, raddr, sizeof(path.raddr));
	return uboe_path_mtu(&ud->core, &path);
}

/*
 * The route itself waits for the first packet: it may not exist yet. A channel gets
 * its home part here, before packets can find it. Without one: softirqs may be off.
 */
int uboe_path_init(struct ubp_dev *dev, struct ubp_path *path)
{
	struct uboe_route *rt = kzalloc(sizeof(*rt), path->tp ? GFP_KERNEL : GFP_ATOMIC);
	int err;

	if (!rt)
		return -ENOMEM;
	err = path->tp ? uboe_chan_attach(uboe_soft_of(dev), path->tp) : 0;
	if (err) {
		kfree(rt);
		return err;
	}
	spin_lock_init(&rt->lock);
	rt->hash = uboe_path_hash(path);
	path->home = rt;
	return 0;
}

void uboe_path_exit(struct ubp_dev *dev, struct ubp_path *path)
{
	struct uboe_route *rt = path->home;

	if (!rt)
		return;
	path->home = NULL;
	if (path->tp)
		uboe_chan_detach(path->tp);
	dst_release(rcu_dereference_protected(rt->dst, true));
	kfree_rcu(rt, rcu);
}
