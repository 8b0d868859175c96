// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Encapsulation sockets: one IPv4 and one IPv6 UDP socket per network namespace
 * that has a device, bound to the wildcard address.
 *
 * Sockets made by the kernel hold no reference on their namespace. A device
 * whose netdev is moved elsewhere may outlive the namespace for a moment: the
 * namespace's end closes the sockets then, and the device drops the rest.
 */
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>
#include "soft.h"

u16 uboe_udp_port = UB_UDP_PORT;
module_param_named(udp_port, uboe_udp_port, ushort, 0444);
MODULE_PARM_DESC(udp_port, "UDP port of UBoE (4792)");

static unsigned int uboe_net_id __read_mostly;

/* Guards struct uboe_net and struct uboe_socks */
static DEFINE_MUTEX(uboe_sock_mutex);

/* A namespace's part: its sockets while it has devices */
struct uboe_net {
	struct uboe_socks *socks;
};

/**
 * struct uboe_socks - the sockets of one namespace
 * @users: devices that came up in it
 * @un: the namespace's part, NULL when the namespace is gone
 * @sk4: IPv4
 * @sk6: IPv6, NULL in a kernel without it
 */
struct uboe_socks {
	unsigned int users;
	struct uboe_net *un;
	struct socket *sk4;
	struct socket *sk6;
};

static int uboe_sock_open(struct net *net, u8 family, struct socket **out)
{
	struct udp_tunnel_sock_cfg encap = {
		.encap_type = 1,
		.encap_rcv = uboe_encap_rcv,
	};
	struct udp_port_cfg cfg = {
		.family = family,
		.local_udp_port = htons(uboe_udp_port),
		.ipv6_v6only = 1,
		/* "SHOULD be transmitted as zero", "MUST be accepted": also for IPv6 */
		.use_udp6_tx_checksums = 0,
		.use_udp6_rx_checksums = 0,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(net, &cfg, &sock);
	if (err)
		return err;
	setup_udp_tunnel_sock(net, sock, &encap);
	*out = sock;
	return 0;
}

static void uboe_sock_close(struct socket **sock)
{
	if (*sock)
		udp_tunnel_sock_release(*sock);
	*sock = NULL;
}

static int uboe_socks_open(struct net *net, struct uboe_socks *socks,
			   struct netlink_ext_ack *extack)
{
	int err;

	err = uboe_sock_open(net, AF_INET, &socks->sk4);
	if (err)
		goto fail;
	err = uboe_sock_open(net, AF_INET6, &socks->sk6);
	if (err == -EAFNOSUPPORT || err == -EPFNOSUPPORT)
		return 0; /* a kernel without IPv6 */
	if (err) {
		uboe_sock_close(&socks->sk4);
		goto fail;
	}
	return 0;
fail:
	if (err == -EADDRINUSE) {
		NL_SET_ERR_MSG(extack, "UDP port of UBoE is in use in the netdev's namespace");
		pr_err("uboe: UDP port %u is in use in the netdev's network namespace\n",
		       uboe_udp_port);
	} else {
		NL_SET_ERR_MSG(extack, "cannot open the UDP sockets of UBoE");
		pr_err("uboe: cannot open UDP port %u: error %d\n", uboe_udp_port, err);
	}
	return err;
}

static struct uboe_socks *uboe_socks_new(struct net *net, struct uboe_net *un,
					 struct netlink_ext_ack *extack)
{
	struct uboe_socks *socks = kzalloc(sizeof(*socks), GFP_KERNEL);
	int err;

	if (!socks)
		return ERR_PTR(-ENOMEM);
	err = uboe_socks_open(net, socks, extack);
	if (err) {
		kfree(socks);
		return ERR_PTR(err);
	}
	socks->un = un;
	un->socks = socks;
	return socks;
}

static void uboe_socks_close(struct uboe_socks *socks)
{
	uboe_sock_close(&socks->sk6);
	uboe_sock_close(&socks->sk4);
	if (socks->un)
		socks->un->socks = NULL;
	socks->un = NULL;
}

/* Make sure that @net has its sockets; paired with uboe_sock_put() */
struct uboe_socks *uboe_sock_get(struct net *net, struct netlink_ext_ack *extack)
{
	struct uboe_net *un = net_generic(net, uboe_net_id);
	struct uboe_socks *socks;

	mutex_lock(&uboe_sock_mutex);
	socks = un->socks;
	if (!socks)
		socks = uboe_socks_new(net, un, extack);
	if (!IS_ERR(socks))
		socks->users++;
	mutex_unlock(&uboe_sock_mutex);
	return socks;
}

void uboe_sock_put(struct uboe_socks *socks)
{
	mutex_lock(&uboe_sock_mutex);
	if (!--socks->users) {
		uboe_socks_close(socks);
		kfree(socks);
	}
	mutex_unlock(&uboe_sock_mutex);
}

static void __net_exit uboe_net_exit(struct net *net)
{
	struct uboe_net *un = net_generic(net, uboe_net_id);

	mutex_lock(&uboe_sock_mutex);
	if (un->socks)
		uboe_socks_close(un->socks);
	mutex_unlock(&uboe_sock_mutex);
}

static struct pernet_operations uboe_net_ops = {
	.exit = uboe_net_exit,
	.id = &uboe_net_id,
	.size = sizeof(struct uboe_net),
};

int uboe_sock_init(void)
{
	if (!uboe_udp_port) {
		pr_err("uboe: udp_port must not be 0\n");
		return -EINVAL;
	}
	return register_pernet_subsys(&uboe_net_ops);
}

void uboe_sock_exit(void)
{
	unregister_pernet_subsys(&uboe_net_ops);
}
