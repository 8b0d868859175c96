// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Counters of the device as hardware counters of its port, and what `rdma res` shows. */
#include <linux/slab.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>
#include "verbs.h"

/* Names for all devices; filled at module load, read only afterwards */
static struct rdma_stat_desc *uboe_stat_descs;

int uboe_counters_init(void)
{
	u32 i;

	uboe_stat_descs = kcalloc(UBP_S_MAX, sizeof(*uboe_stat_descs), GFP_KERNEL);
	if (!uboe_stat_descs)
		return -ENOMEM;
	for (i = 0; i < UBP_S_MAX; i++)
		uboe_stat_descs[i].name = ubp_stat_name(i);
	return 0;
}

void uboe_counters_exit(void)
{
	kfree(uboe_stat_descs);
}

struct rdma_hw_stats *uboe_alloc_port_stats(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(uboe_stat_descs, UBP_S_MAX,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int uboe_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port, int index)
{
	u32 i;

	if (!port || !stats)
		return -EINVAL;
	for (i = 0; i < UBP_S_MAX; i++)
		stats->value[i] = uboe_soft_stat(to_uboe(ib), i);
	return UBP_S_MAX;
}

int uboe_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct uboe_qp *qp = to_uqp(ibqp);
	struct nlattr *attr;

	attr = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!attr)
		return -EMSGSIZE;
	if (rdma_nl_put_driver_u32_hex(msg, "tpn",
				       READ_ONCE(qp->tp_made) ? UB_TPN_RC(ibqp->qp_num) : 0) ||
	    rdma_nl_put_driver_u32(msg, "jfr", qp->rq.id) ||
	    (uboe_qp_is_native(ibqp) && rdma_nl_put_driver_u32(msg, "kind", qp->jctx.type))) {
		nla_nest_cancel(msg, attr);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, attr);
	return 0;
}
