// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a device says of itself. */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_mad.h>
#include "verbs.h"

#define UBOE_VENDOR_ID 0x5542
#define UBOE_PART_ID 1
#define UBOE_FW_VER (1ull << 16) /* 0.1.0, 16 bits each */
#define UBOE_GID_TABLE_LEN 256
#define UBOE_MAX_PD 65536
#define UBOE_MAX_AH (1u << 20)

static void uboe_limits_queue(struct ib_device_attr *attr, const struct ubp_config *cfg)
{
	attr->max_qp = UBOE_MAX_JETTY;
	attr->max_qp_wr = UBOE_MAX_JFS_BB;
	attr->max_send_sge = UBOE_MAX_SGE;
	attr->max_recv_sge = UBOE_MAX_RQ_SGE;
	attr->max_sge_rd = UBOE_MAX_SGE_READ;
	attr->max_cq = min(65536u, cfg->max_jfc - 1);
	attr->max_cqe = UBOE_MAX_JFC_DEPTH;
	attr->cq_caps.max_cq_moderation_count = UBOE_MAX_MODERATE;
	attr->cq_caps.max_cq_moderation_period = UBOE_MAX_MODERATE_US;
	attr->max_srq = 65536;
	attr->max_srq_wr = UBOE_MAX_JFR_DEPTH;
	attr->max_srq_sge = UBOE_MAX_RQ_SGE;
	attr->max_qp_rd_atom = UBOE_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = UBOE_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = UBOE_MAX_RD_ATOMIC * UBOE_MAX_JETTY;
}

int uboe_query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	struct uboe_dev *ud = to_uboe(ib);

	if (udata && udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EINVAL;

	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = UBOE_FW_VER;
	attr->sys_image_guid = ib->node_guid;
	attr->vendor_id = UBOE_VENDOR_ID;
	attr->vendor_part_id = UBOE_PART_ID;
	attr->hw_ver = 1;
	attr->device_cap_flags = IB_DEVICE_CURR_QP_STATE_MOD | IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_RC_RNR_NAK_GEN;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	attr->page_size_cap = PAGE_MASK & GENMASK(30, 0);
	attr->max_mr_size = S64_MAX;
	attr->max_mr = ud->core.cfg.max_seg - 1;
	attr->max_pd = UBOE_MAX_PD;
	attr->max_ah = UBOE_MAX_AH;
	attr->max_pkeys = 1;
	attr->local_ca_ack_delay = 15;
	attr->atomic_cap = IB_ATOMIC_HCA;
	attr->masked_atomic_cap = IB_ATOMIC_NONE;
	uboe_limits_queue(attr, &ud->core.cfg);
	return 0;
}

enum ib_mtu uboe_mtu_to_ib(u32 mtu)
{
	return ib_mtu_int_to_enum(mtu);
}

/* The rates that verbs can name, as the widest link not faster than the netdev's speed */
static const struct {
	u32 mbps;
	u8 width;
	u16 speed;
} uboe_rates[] = {
	{ SPEED_400000, IB_WIDTH_4X, IB_SPEED_NDR },
	{ SPEED_200000, IB_WIDTH_4X, IB_SPEED_HDR },
	{ SPEED_100000, IB_WIDTH_4X, IB_SPEED_EDR },
	{ SPEED_50000, IB_WIDTH_2X, IB_SPEED_EDR },
	{ SPEED_40000, IB_WIDTH_4X, IB_SPEED_FDR10 },
	{ SPEED_25000, IB_WIDTH_1X, IB_SPEED_EDR },
	{ SPEED_20000, IB_WIDTH_4X, IB_SPEED_DDR },
	{ SPEED_10000, IB_WIDTH_1X, IB_SPEED_FDR10 },
	{ 0, IB_WIDTH_1X, IB_SPEED_SDR },
};

/* ib_get_eth_speed() logs a line each time that a virtual netdev is asked */
static void uboe_port_speed(struct net_device *ndev, struct ib_port_attr *attr)
{
	struct ethtool_link_ksettings ks = {};
	u32 mbps = SPEED_10000;
	int i = 0;

	rtnl_lock();
	if (netif_device_present(ndev) && !__ethtool_get_link_ksettings(ndev, &ks) &&
	    ks.base.speed != (u32)SPEED_UNKNOWN)
		mbps = ks.base.speed;
	rtnl_unlock();

	while (uboe_rates[i].mbps > mbps)
		i++;
	attr->active_width = uboe_rates[i].width;
	attr->active_speed = uboe_rates[i].speed;
}

int uboe_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct uboe_dev *ud = to_uboe(ib);
	u32 mtu = uboe_soft_mtu(ud);

	/* ib_core has zeroed the rest */
	if (uboe_soft_port_up(ud) && mtu) {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	} else {
		attr->state = IB_PORT_DOWN;
		attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	}
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = uboe_mtu_to_ib(max_t(u32, mtu, UB_MTU_MIN));
	attr->gid_tbl_len = UBOE_GID_TABLE_LEN;
	attr->ip_gids = true;
	attr->max_msg_sz = UBOE_MAX_MSG;
	attr->pkey_tbl_len = 1;
	attr->max_vl_num = 1;
	uboe_port_speed(ud->ndev, attr);
	return 0;
}

int uboe_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

/*
 * The GID table of RoCE, filled by ib_core from the netdev's IP addresses, and
 * its address resolution; no MADs and no connection manager yet.
 */
int uboe_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *imm)
{
	imm->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP | RDMA_CORE_CAP_ETH_AH;
	imm->gid_tbl_len = UBOE_GID_TABLE_LEN;
	imm->pkey_tbl_len = 1;
	return 0;
}

enum rdma_link_layer uboe_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

void uboe_fw_str(struct ib_device *ib, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "%llu.%llu.%llu", UBOE_FW_VER >> 32,
		 UBOE_FW_VER >> 16 & 0xffff, UBOE_FW_VER & 0xffff);
}
