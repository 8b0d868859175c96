// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What happens to the netdev below a device */
#include <linux/hashtable.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>
#include "soft.h"

/* netdev -> device: written under uboe_soft_mutex, read under RCU */
static DEFINE_HASHTABLE(uboe_soft_hash, 6);

struct uboe_soft *uboe_soft_find(const struct net_device *ndev)
{
	struct uboe_soft *sf;

	hash_for_each_possible_rcu(uboe_soft_hash, sf, hash, (unsigned long)ndev)
		if (sf->ndev == ndev)
			return sf;
	return NULL;
}

void uboe_soft_hash_add(struct uboe_soft *sf)
{
	hash_add_rcu(uboe_soft_hash, &sf->hash, (unsigned long)sf->ndev);
}

u32 uboe_soft_mtu(const struct uboe_dev *ud)
{
	u32 mtu = READ_ONCE(ud->ndev->mtu);

	return ubp_mtu_for_link(READ_ONCE(ud->soft->native) ? mtu - UB_NATIVE_LEN : mtu);
}

bool uboe_soft_port_up(const struct uboe_dev *ud)
{
	return netif_running(ud->ndev) && netif_carrier_ok(ud->ndev);
}

/* Read without a lock on the data path: a stale value only costs a copy */
void uboe_soft_geometry(struct uboe_soft *sf)
{
	/* aligned as without LPH and NTH, for which there is room */
	WRITE_ONCE(sf->headroom, LL_RESERVED_SPACE(sf->ndev) + ALIGN(UB_NATIVE_LEN, 16));
	WRITE_ONCE(sf->tailroom, sf->ndev->needed_tailroom);
}

static void uboe_port_check(struct uboe_soft *sf)
{
	bool up = uboe_soft_port_up(sf->ud);

	if (up == sf->port_up)
		return;
	sf->port_up = up;
	uboe_dev_event(sf->ud, up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

/* Under RTNL, and with a registration reference on the device */
static void uboe_netdev_event(struct uboe_soft *sf, unsigned long event)
{
	switch (event) {
	case NETDEV_UNREGISTER: /* also when it moves to another namespace */
		ib_unregister_device_queued(&sf->ud->ib);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
	case NETDEV_FEAT_CHANGE:
	case NETDEV_CHANGEUPPER:
		uboe_soft_geometry(sf);
		uboe_port_check(sf);
		break;
	default:
		break;
	}
}

static int uboe_notify(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct uboe_dev *ud = NULL;
	struct uboe_soft *sf;

	rcu_read_lock();
	sf = uboe_soft_find(ndev);
	if (sf) {
		if (event == NETDEV_UNREGISTER)
			sf->gone = true; /* for uboe_soft_ready() */
		if (sf->ready && ib_device_try_get(&sf->ud->ib))
			ud = sf->ud;
	}
	rcu_read_unlock();
	if (!ud)
		return NOTIFY_DONE;
	/* the reference keeps it registered, so it is not stopped */
	uboe_netdev_event(sf, event);
	ib_device_put(&ud->ib);
	return NOTIFY_DONE;
}

static struct notifier_block uboe_notifier = {
	.notifier_call = uboe_notify,
};

int uboe_notify_init(void)
{
	return register_netdevice_notifier(&uboe_notifier);
}

void uboe_notify_exit(void)
{
	unregister_netdevice_notifier(&uboe_notifier);
}
