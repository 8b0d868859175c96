// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Life of a device: rdma link add ... rdma link delete, or the end of its netdev. */
#include <linux/if_arp.h>
#include <linux/module.h>
#include <net/addrconf.h>
#include <rdma/ib_user_verbs.h>
#include "verbs.h"

static unsigned char uboe_dscp;
module_param_named(dscp, uboe_dscp, byte, 0644);
MODULE_PARM_DESC(dscp, "DSCP of new devices' packets without a traffic class of their own (0)");

static unsigned short uboe_window;
module_param_named(window, uboe_window, ushort, 0644);
MODULE_PARM_DESC(window, "packets in flight per channel of new devices, power of two 128..2048");

static struct ubp_cc_conf uboe_cc;

static int uboe_cc_set(const char *val, const struct kernel_param *kp)
{
	char text[256];
	int ret;

	if (strscpy(text, val, sizeof(text)) < 0)
		return -EINVAL;
	ret = ubp_cc_parse(&uboe_cc, strim(text));
	if (ret)
		pr_err("uboe: cc=%s: none, dcqcn, ldcp or caqm, :SET, and ,NAME=VALUE in range\n",
		       text);
	return ret ? -EINVAL : 0;
}

static int uboe_cc_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", ubp_cc_name(uboe_cc.alg));
}

static const struct kernel_param_ops uboe_cc_ops = { .set = uboe_cc_set, .get = uboe_cc_get };
module_param_cb(cc, &uboe_cc_ops, NULL, 0444);
MODULE_PARM_DESC(cc,
		 "congestion control of new devices: none, dcqcn, ldcp, caqm[:SET][,N=VALUE]...");

/* One netdev has one device: serialises the look-up and the creation */
static DEFINE_MUTEX(uboe_add_lock);

/* Called by ib_dealloc_device(): all objects are gone, or never were */
static void uboe_dealloc_driver(struct ib_device *ib)
{
	struct uboe_dev *ud = to_uboe(ib);

	uboe_shares_close(ud);
	uboe_soft_stop(ud);
	uboe_shares_exit(ud); /* no peer can ask any more */
	WARN_ON_ONCE(!xa_empty(&ud->groups));
	WARN_ON_ONCE(!xa_empty(&ud->qps) || !xa_empty(&ud->cqs) || !xa_empty(&ud->srqs) ||
		     !xa_empty(&ud->mrs) || !xa_empty(&ud->arenas));
	xa_destroy(&ud->qps);
	xa_destroy(&ud->cqs);
	xa_destroy(&ud->srqs);
	xa_destroy(&ud->mrs);
	xa_destroy(&ud->groups);
	xa_destroy(&ud->arenas);
	ida_destroy(&ud->pds);
	mutex_destroy(&ud->ctl_lock);
}

/*
 * The last step of ib_register_device(). Not after it: by then somebody may have
 * deleted the device again.
 */
static int uboe_enable_driver(struct ib_device *ib)
{
	struct uboe_dev *ud = to_uboe(ib);
	int ret = uboe_soft_ready(ud);

	if (!ret)
		uboe_shares_open(ud);
	return ret;
}

UBOE_CREATE_CQ_SHIM(uboe_create_cq)

static const struct ib_device_ops uboe_ops = {
	.owner = THIS_MODULE,
	.driver_id = (enum rdma_driver_id)UBOE_DRIVER_ID,
	.uverbs_abi_ver = UBOE_ABI_VERSION,

	.alloc_hw_port_stats = uboe_alloc_port_stats,
	.alloc_pd = uboe_alloc_pd,
	.alloc_ucontext = uboe_alloc_ucontext,
	.create_ah = uboe_create_ah,
	.create_cq = UBOE_CREATE_CQ_OP(uboe_create_cq),
	.create_qp = uboe_create_qp,
	.create_srq = uboe_create_srq,
	.create_user_ah = uboe_create_ah,
	.dealloc_driver = uboe_dealloc_driver,
	.dealloc_pd = uboe_dealloc_pd,
	.dealloc_ucontext = uboe_dealloc_ucontext,
	.dereg_mr = uboe_dereg_mr,
	.destroy_ah = uboe_destroy_ah,
	.destroy_cq = uboe_destroy_cq,
	.destroy_qp = uboe_destroy_qp,
	.destroy_srq = uboe_destroy_srq,
	.device_group = &uboe_entity_group,
	.disassociate_ucontext = uboe_disassociate_ucontext,
	.enable_driver = uboe_enable_driver,
	.fill_res_qp_entry = uboe_fill_res_qp,
	.get_dev_fw_str = uboe_fw_str,
	.get_hw_stats = uboe_get_hw_stats,
	.get_link_layer = uboe_link_layer,
	.get_port_immutable = uboe_port_immutable,
	.mmap = uboe_mmap,
	.modify_cq = uboe_modify_cq,
	.modify_qp = uboe_modify_qp,
	.modify_srq = uboe_modify_srq,
	.post_send = uboe_post_send,
	.query_ah = uboe_query_ah,
	.query_device = uboe_query_device,
	.query_pkey = uboe_query_pkey,
	.query_port = uboe_query_port,
	.query_qp = uboe_query_qp,
	.query_srq = uboe_query_srq,
	.reg_user_mr = uboe_reg_user_mr,

	INIT_RDMA_OBJ_SIZE(ib_ah, uboe_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, uboe_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, uboe_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, uboe_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, uboe_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, uboe_ucontext, ib),
};

static int uboe_refuse(struct net_device *ndev, struct netlink_ext_ack *extack, int err,
		       const char *why)
{
	/* The link command of these kernels hands no extack on */
	if (!extack)
		netdev_err(ndev, "no uboe device: %s\n", why);
	return err;
}

#define UBOE_REFUSE(ndev, extack, err, why)                                                        \
	({                                                                                         \
		NL_SET_ERR_MSG(extack, why);                                                       \
		uboe_refuse(ndev, extack, err, why);                                               \
	})

static int uboe_dev_check(struct net_device *ndev, struct netlink_ext_ack *extack)
{
	struct ib_device *other;

	if (ndev->type != ARPHRD_ETHER && !(ndev->flags & IFF_LOOPBACK))
		return UBOE_REFUSE(ndev, extack, -EOPNOTSUPP,
				   "only Ethernet and loopback interfaces carry UBoE");
	other = ib_device_get_by_netdev(ndev, (enum rdma_driver_id)UBOE_DRIVER_ID);
	if (other) {
		ib_device_put(other);
		return UBOE_REFUSE(ndev, extack, -EEXIST, "the interface has a uboe device");
	}
	return 0;
}

static struct uboe_dev *uboe_dev_alloc(struct net_device *ndev)
{
	struct uboe_dev *ud = ib_alloc_device(uboe_dev, ib);

	if (!ud)
		return NULL;
	mutex_init(&ud->ctl_lock);
	xa_init_flags(&ud->qps, XA_FLAGS_ALLOC);
	xa_init_flags(&ud->cqs, XA_FLAGS_ALLOC);
	xa_init_flags(&ud->srqs, XA_FLAGS_ALLOC);
	xa_init_flags(&ud->mrs, XA_FLAGS_ALLOC);
	xa_init_flags(&ud->groups, XA_FLAGS_ALLOC1);
	xa_init_flags(&ud->arenas, XA_FLAGS_ALLOC1);
	ida_init(&ud->pds);
	uboe_shares_init(ud);
	ubp_config_defaults(&ud->core.cfg);
	ud->core.cfg.dscp = uboe_dscp & 0x3f;
	if (uboe_window)
		ud->core.cfg.window = uboe_window;
	if (uboe_cc.alg)
		ud->core.cfg.cc = uboe_cc;

	ib_set_device_ops(&ud->ib, &uboe_ops);
	ud->ib.driver_def = uboe_uapi_defs;
	ud->ib.uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND);
	ud->ib.node_type = RDMA_NODE_IB_CA;
	ud->ib.phys_port_cnt = 1;
	ud->ib.num_comp_vectors = num_possible_cpus();
	addrconf_addr_eui48((u8 *)&ud->ib.node_guid, ndev->dev_addr);
	strscpy(ud->ib.node_desc, "UnifiedBus over Ethernet", sizeof(ud->ib.node_desc));
	/* In exclusive mode a device belongs to one namespace: that of its netdev */
	write_pnet(&ud->ib.coredev.rdma_net, dev_net(ndev));
	return ud;
}

static int uboe_dev_register(struct uboe_dev *ud, struct net_device *ndev, const char *name,
			     struct netlink_ext_ack *extack)
{
	int ret;

	ret = uboe_soft_start(ud, ndev, extack);
	if (ret)
		return ret;
	if (!uboe_soft_mtu(ud))
		return UBOE_REFUSE(ndev, extack, -EINVAL,
				   "the interface's MTU is too small for packets of 1024 bytes");
	ret = uboe_lockbufs_make(ud);
	if (ret)
		return ret;
	ret = ib_device_set_netdev(&ud->ib, ndev, 1);
	if (ret)
		return ret;
	ret = ib_register_device(&ud->ib, name, NULL);
	if (ret == -ENFILE)
		return UBOE_REFUSE(ndev, extack, -EEXIST, "the device name is in use");
	return ret;
}

static int uboe_dev_add_locked(struct net_device *ndev, const char *name,
			       struct netlink_ext_ack *extack)
{
	struct uboe_dev *ud;
	int ret;

	ret = uboe_dev_check(ndev, extack);
	if (ret)
		return ret;
	ud = uboe_dev_alloc(ndev);
	if (!ud)
		return -ENOMEM;
	ret = uboe_dev_register(ud, ndev, name, extack);
	if (ret)
		ib_dealloc_device(&ud->ib);
	return ret;
}

/**
 * uboe_dev_add - make a device on a netdev
 * @ndev: held by the caller for the time of the call
 * @name: name of the RDMA device
 * @extack: gets the reason of a refusal, or NULL: it goes to the log
 */
int uboe_dev_add(struct net_device *ndev, const char *name, struct netlink_ext_ack *extack)
{
	int ret;

	mutex_lock(&uboe_add_lock);
	ret = uboe_dev_add_locked(ndev, name, extack);
	mutex_unlock(&uboe_add_lock);
	return ret;
}
