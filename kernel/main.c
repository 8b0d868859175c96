// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* UnifiedBus over Ethernet: module entry and `rdma link add NAME type uboe netdev IF`. */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>
#include "uboe.h"
#include "verbs/verbs.h"

static int uboe_newlink(const char *name, struct net_device *ndev)
{
	return uboe_dev_add(ndev, name, NULL);
}

static struct rdma_link_ops uboe_link_ops = {
	.type = "uboe",
	.newlink = uboe_newlink,
};

static int __init uboe_init(void)
{
	int ret;

	ret = uboe_lockbufs_init();
	if (ret)
		return ret;
	ret = uboe_mmap_init();
	if (ret)
		return ret;
	ret = uboe_counters_init();
	if (ret)
		goto err_mmap;
	ret = uboe_soft_init();
	if (ret)
		goto err_counters;
	ret = uboe_tm_init();
	if (ret)
		goto err_soft;
	rdma_link_register(&uboe_link_ops);
	return 0;

err_soft:
	uboe_soft_exit();
err_counters:
	uboe_counters_exit();
err_mmap:
	uboe_mmap_exit();
	return ret;
}

static void __exit uboe_exit(void)
{
	rdma_link_unregister(&uboe_link_ops);
	uboe_tm_exit();
	ib_unregister_driver((enum rdma_driver_id)UBOE_DRIVER_ID);
	uboe_soft_exit();
	uboe_counters_exit();
	uboe_mmap_exit();
	rcu_barrier();
}

module_init(uboe_init);
module_exit(uboe_exit);

MODULE_DESCRIPTION("UnifiedBus over Ethernet");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_LINK("uboe");
