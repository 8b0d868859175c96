// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Life of a device's transport host.
 *
 * Stopping ends everything that could call into the core, then frees it. What
 * remains are packets still queued somewhere in the stack, whose destructor
 * refers to struct uboe_soft and to this module's text: the structure goes to a
 * list of draining ones and is freed when its last packet is back, and the
 * module waits for that list before it goes.
 */
#include <linux/delay.h>
#include <linux/debugfs.h>
#include <linux/hashtable.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include "soft.h"

#define UBOE_DRAIN_MS 10

/* Guards the table of netdevs against writers, and uboe_soft_draining */
DEFINE_MUTEX(uboe_soft_mutex);
static LIST_HEAD(uboe_soft_draining);
static void uboe_drain(struct work_struct *work);
static DECLARE_DELAYED_WORK(uboe_drain_work, uboe_drain);

static void uboe_soft_free(struct uboe_soft *sf)
{
	uboe_impair_free(sf);
	uboe_engine_free(sf);
	free_percpu(sf->cpu);
	kfree(sf);
}

/* Free what has no packet out any more. Return: is anything left? */
static bool uboe_drain_once(void)
{
	struct uboe_soft *sf, *next;
	LIST_HEAD(idle);
	bool left;

	mutex_lock(&uboe_soft_mutex);
	list_for_each_entry_safe(sf, next, &uboe_soft_draining, drain)
		if (!uboe_tx_outstanding(sf))
			list_move(&sf->drain, &idle);
	left = !list_empty(&uboe_soft_draining);
	mutex_unlock(&uboe_soft_mutex);
	if (!list_empty(&idle))
		synchronize_rcu(); /* the last destructor is in an RCU section */
	list_for_each_entry_safe(sf, next, &idle, drain)
		uboe_soft_free(sf);
	return left;
}

static void uboe_drain(struct work_struct *work)
{
	if (uboe_drain_once())
		schedule_delayed_work(&uboe_drain_work, msecs_to_jiffies(UBOE_DRAIN_MS));
}

static struct uboe_soft *uboe_soft_alloc(struct uboe_dev *ud, struct net_device *ndev)
{
	struct uboe_soft *sf = kzalloc(sizeof(*sf), GFP_KERNEL);

	if (!sf)
		return NULL;
	sf->ud = ud;
	sf->ndev = ndev;
	INIT_LIST_HEAD(&sf->drain);
	sf->cpu = alloc_percpu(struct uboe_soft_cpu);
	if (!sf->cpu || uboe_engine_init(sf, ud->core.cfg.max_jetty) || uboe_xmit_init(sf)) {
		uboe_soft_free(sf);
		return NULL;
	}
	uboe_soft_geometry(sf);
	return sf;
}

static int uboe_core_start(struct uboe_dev *ud, struct uboe_soft *sf)
{
	struct ubp_dev *core = &ud->core;
	int err;

	core->ops = &uboe_soft_ops;
	core->home = sf;
	core->cfg.udp_port = uboe_udp_port;
	core->stats = __alloc_percpu(UBP_S_MAX * sizeof(u64), SMP_CACHE_BYTES);
	if (!core->stats)
		return -ENOMEM;
	err = ubp_dev_init(core);
	if (err) {
		free_percpu(core->stats);
		core->stats = NULL;
	}
	return err;
}

static void uboe_core_stop(struct uboe_dev *ud)
{
	ubp_dev_exit(&ud->core);
	free_percpu(ud->core.stats);
	ud->core.stats = NULL;
	ud->core.home = NULL;
}

/* Only one device per netdev: packets are told apart by it */
static int uboe_soft_publish(struct uboe_soft *sf, struct netlink_ext_ack *extack)
{
	bool taken;

	mutex_lock(&uboe_soft_mutex);
	rcu_read_lock();
	taken = uboe_soft_find(sf->ndev);
	rcu_read_unlock();
	if (!taken)
		uboe_soft_hash_add(sf);
	mutex_unlock(&uboe_soft_mutex);
	if (!taken)
		return 0;
	NL_SET_ERR_MSG(extack, "the netdev has a UBoE device already");
	return -EEXIST;
}

int uboe_soft_start(struct uboe_dev *ud, struct net_device *ndev, struct netlink_ext_ack *extack)
{
	struct uboe_soft *sf;
	int err;

	if (ndev->type == ARPHRD_INFINIBAND) {
		NL_SET_ERR_MSG(extack, "IPoIB netdevs cannot carry UBoE");
		return -EINVAL;
	}
	sf = uboe_soft_alloc(ud, ndev);
	if (!sf)
		return -ENOMEM;
	err = uboe_impair_init(sf);
	if (err)
		goto err_free;
	err = uboe_core_start(ud, sf);
	if (err)
		goto err_impair;
	ud->soft = sf;
	ud->ndev = ndev;
	netdev_hold(ndev, &ud->ndev_tracker, GFP_KERNEL);
	sf->net = dev_net(ndev);
	sf->socks = uboe_sock_get(sf->net, extack);
	if (IS_ERR(sf->socks)) {
		err = PTR_ERR(sf->socks);
		goto err_ndev;
	}
	err = uboe_soft_publish(sf, extack);
	if (err)
		goto err_sock;
	return 0;
err_sock:
	uboe_sock_put(sf->socks);
err_ndev:
	netdev_put(ndev, &ud->ndev_tracker);
	ud->ndev = NULL;
	ud->soft = NULL;
	uboe_core_stop(ud);
err_impair:
	uboe_impair_stop(sf);
err_free:
	uboe_soft_free(sf);
	return err;
}

/* The netdev may have gone or changed before ib_core knew the device */
static bool uboe_ndev_lost(const struct uboe_dev *ud)
{
	const struct net *net = dev_net(ud->ndev);

	return ud->soft->gone || ud->ndev->reg_state != NETREG_REGISTERED ||
	       !net_eq(net, ud->soft->net) || !net_eq(net, read_pnet(&ud->ib.coredev.rdma_net));
}

int uboe_soft_ready(struct uboe_dev *ud)
{
	struct uboe_soft *sf = ud->soft;
	int err = 0;

	uboe_debugfs_add(sf, dev_name(&ud->ib.dev));
	rtnl_lock();
	if (uboe_ndev_lost(ud)) {
		err = -ENODEV;
	} else {
		sf->ready = true;
		uboe_soft_geometry(sf);
		sf->port_up = uboe_soft_port_up(ud);
		if (sf->port_up)
			uboe_dev_event(ud, IB_EVENT_PORT_ACTIVE);
	}
	rtnl_unlock();
	return err;
}

void uboe_soft_stop(struct uboe_dev *ud)
{
	struct uboe_soft *sf = ud->soft;

	if (!sf)
		return;
	debugfs_remove_recursive(sf->dir);
	uboe_soft_set_native(ud, false);
	mutex_lock(&uboe_soft_mutex);
	hash_del_rcu(&sf->hash);
	mutex_unlock(&uboe_soft_mutex);
	synchronize_net(); /* no ubp_rx() runs any more */
	uboe_engine_stop(sf);
	uboe_impair_stop(sf);
	uboe_xmit_stop(sf);
	uboe_core_stop(ud);
	uboe_sock_put(sf->socks);
	netdev_put(ud->ndev, &ud->ndev_tracker);
	ud->ndev = NULL;
	ud->soft = NULL;

	mutex_lock(&uboe_soft_mutex);
	list_add(&sf->drain, &uboe_soft_draining);
	mutex_unlock(&uboe_soft_mutex);
	mod_delayed_work(system_wq, &uboe_drain_work, 0);
}

int uboe_soft_init(void)
{
	int err;

	err = uboe_sock_init();
	if (err)
		return err;
	err = uboe_notify_init();
	if (err) {
		uboe_sock_exit();
		return err;
	}
	uboe_crc_init();
	uboe_debugfs_init();
	return 0;
}

/* A packet held by someone for ever keeps the module, not the kernel, waiting: say so */
static void uboe_soft_wait(void)
{
	unsigned long said = jiffies;

	cancel_delayed_work_sync(&uboe_drain_work);
	while (uboe_drain_once()) {
		if (time_after(jiffies, said + 10 * HZ)) {
			pr_warn("uboe: waiting for packets that are still queued\n");
			said = jiffies;
		}
		msleep(UBOE_DRAIN_MS);
	}
}

void uboe_soft_exit(void)
{
	uboe_debugfs_exit();
	uboe_notify_exit();
	uboe_sock_exit();
	uboe_soft_wait();
	uboe_crc_exit();
	synchronize_rcu(); /* uboe_encap_rcv() */
	rcu_barrier(); /* ops->free_later and kfree_rcu() of ours */
}
