// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The transport channel and the RC table of a queue pair. uboe_qp.lock is held. */
#include <linux/log2.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include "verbs.h"

/* How long a channel may go without progress: all the tries that verbs would make, with backoff */
static u64 uboe_timeout_ns(u8 timeout, u8 retry_cnt)
{
	if (!timeout)
		return 0;
	return (retry_cnt + 1ull) * (4096ull << timeout) * 4;
}

/* 2^7 to 2^13 bytes: the smaller one of what the path and the netdev carry */
static u16 uboe_channel_mtu(struct uboe_dev *ud, enum ib_mtu path_mtu)
{
	u32 mtu = min_t(u32, ib_mtu_enum_to_int(path_mtu), uboe_soft_mtu(ud));

	return max_t(u32, mtu, UB_MTU_MIN);
}

static int uboe_tp_ctx_fill(struct uboe_dev *ud, struct uboe_qp *qp, const struct ib_qp_attr *attr,
			    struct uboe_tp_ctx *ctx)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);
	const union ib_gid *sgid = &grh->sgid_attr->gid;
	const struct in6_addr *dst = (const void *)grh->dgid.raw;

	if (ipv6_addr_v4mapped((const void *)sgid->raw) != ipv6_addr_v4mapped(dst) ||
	    ipv6_addr_any(dst) || rdma_is_multicast_addr((struct in6_addr *)dst))
		return -EINVAL;
	if (!uboe_soft_mtu(ud))
		return -ENETDOWN;
	memcpy(ctx->laddr, sgid->raw, sizeof(ctx->laddr));
	memcpy(ctx->raddr, grh->dgid.raw, sizeof(ctx->raddr));
	ctx->jetty = cpu_to_le32(qp->ib.qp_num);
	ctx->rmt_jetty = cpu_to_le32(attr->dest_qp_num);
	ctx->traffic_class = grh->traffic_class & ~3; /* ECN is the core's */
	ctx->hop_limit = grh->hop_limit;
	ctx->flow_label = cpu_to_le32(grh->flow_label & 0xfffff);
	ctx->retrans = 0xff;
	ctx->cc = ubp_cc_wanted(&ud->core);
	ctx->mtu = cpu_to_le16(uboe_channel_mtu(ud, attr->path_mtu));
	return 0;
}

static int uboe_tp_make(struct uboe_dev *ud, struct uboe_qp *qp, const struct ib_qp_attr *attr)
{
	u32 tpn = UB_TPN_RC(qp->ib.qp_num);
	struct uboe_tp_ctx ctx = {};
	int ret;

	ret = uboe_tp_ctx_fill(ud, qp, attr, &ctx);
	if (!ret)
		ret = uboe_cmd_create(ud, UBOE_MBOX_TP, tpn, &ctx, sizeof(ctx));
	if (!ret)
		qp->tp_made = true;
	return ret;
}

static int uboe_rct_make(struct uboe_dev *ud, struct uboe_qp *qp, u8 max_dest_rd)
{
	struct uboe_rct_ctx ctx = {
		.shift = max(6, order_base_2(2 * max_dest_rd + 1)),
		.jetty = cpu_to_le32(qp->ib.qp_num),
	};
	int ret;

	ctx.watermark = cpu_to_le32(1u << ctx.shift);
	ret = uboe_cmd_create(ud, UBOE_MBOX_RCT, qp->ib.qp_num, &ctx, sizeof(ctx));
	if (!ret)
		qp->rct_made = true;
	return ret;
}

/**
 * uboe_channel_make - what the jetty needs before it goes to RTR
 * @ud: device
 * @qp: queue pair in INIT
 * @attr: a complete INIT to RTR request, its GID resolved
 *
 * On failure nothing of it is left.
 */
int uboe_channel_make(struct uboe_dev *ud, struct uboe_qp *qp, const struct ib_qp_attr *attr)
{
	int ret;

	ret = uboe_tp_make(ud, qp, attr);
	if (!ret)
		ret = uboe_rct_make(ud, qp, attr->max_dest_rd_atomic);
	if (ret)
		uboe_channel_unmake(ud, qp);
	return ret;
}

/* At any stage of uboe_channel_make(); the jetty is not using it any more */
void uboe_channel_unmake(struct uboe_dev *ud, struct uboe_qp *qp)
{
	if (qp->tp_made && !uboe_cmd_destroy(ud, UBOE_MBOX_TP, UB_TPN_RC(qp->ib.qp_num)))
		qp->tp_made = false;
	if (qp->rct_made && !uboe_cmd_destroy(ud, UBOE_MBOX_RCT, qp->ib.qp_num))
		qp->rct_made = false;
}

int uboe_channel_timeout(struct uboe_dev *ud, struct uboe_qp *qp, u8 timeout, u8 retry_cnt)
{
	struct uboe_tp_ctx ctx = { .timeout_ns = cpu_to_le64(uboe_timeout_ns(timeout, retry_cnt)) };

	return uboe_cmd_modify(ud, UBOE_MBOX_TP, UB_TPN_RC(qp->ib.qp_num), &ctx, sizeof(ctx),
			       UBOE_TM_TIMEOUT);
}
