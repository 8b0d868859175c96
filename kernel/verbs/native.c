// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Jetties that verbs has no name for: reliable and unreliable messages (RM, UM), with
 * or without a receive side, and raw queues. Queue pairs of type DRIVER; each request
 * names its target, so there is no RTR.
 */
#include <linux/capability.h>
#include "verbs.h"

#define UBOE_NATIVE_MASK (IB_QP_STATE | IB_QP_CUR_STATE | IB_QP_RNR_RETRY | IB_QP_MIN_RNR_TIMER)

bool uboe_qp_is_native(const struct ib_qp *ibqp)
{
	return ibqp->qp_type == IB_QPT_DRIVER;
}

/* A JFS */
static int uboe_native_check_jfs(const struct uboe_create_qp_req *req,
				 const struct ib_qp_init_attr *init)
{
	if (init->srq || init->recv_cq != init->send_cq || init->cap.max_recv_wr ||
	    init->cap.max_recv_sge || req->flags & UBOE_QP_TOKEN || req->token || req->group)
		return -EINVAL;
	return 0;
}

/* The part of a request that depends on the type */
int uboe_native_check(const struct uboe_create_qp_req *req, const struct ib_qp_init_attr *init)
{
	if (init->qp_type == IB_QPT_RC) {
		if (req->type || req->group ||
		    req->flags & (UBOE_QP_SEND_ONLY | UBOE_QP_TARGET_ORDER) ||
		    memchr_inv(req->eid, 0, sizeof(req->eid)))
			return -EINVAL;
		if (req->flags & UBOE_QP_NATIVE && !init->srq)
			return -EINVAL;
		return req->flags & UBOE_QP_LOCKBUF ? uboe_lockbuf_check(req) : 0;
	}
	if (req->type != UBOE_JETTY_UM && req->type != UBOE_JETTY_RM && req->type != UBOE_JETTY_RAW)
		return -EOPNOTSUPP;
	if (req->type == UBOE_JETTY_RAW && !(req->flags & UBOE_QP_SEND_ONLY))
		return -EINVAL;
	if (!(req->flags & UBOE_QP_NATIVE) || req->flags & UBOE_QP_LOCKBUF ||
	    (req->flags & UBOE_QP_TARGET_ORDER && req->type != UBOE_JETTY_RM))
		return -EINVAL;
	if (req->flags & UBOE_QP_SEND_ONLY)
		return uboe_native_check_jfs(req, init);
	return init->srq ? 0 : -EINVAL;
}

int uboe_native_fill_ctx(struct uboe_dev *ud, struct uboe_jetty_ctx *ctx,
			 const struct uboe_create_qp_req *req)
{
	if (!uboe_gid_is_ours(ud, req->eid))
		return -EADDRNOTAVAIL;
	ctx->type = req->type;
	if (req->flags & UBOE_QP_TARGET_ORDER)
		ctx->order = UBOE_ORDER_TARGET;
	memcpy(ctx->eid, req->eid, sizeof(ctx->eid));
	ctx->mtu = cpu_to_le16(UB_MTU_MAX); /* the way to each target lowers it */
	if (req->type != UBOE_JETTY_RAW)
		return 0;
	ctx->sport = cpu_to_le16(ud->core.cfg.udp_port);
	/* who may, may send packets in anybody's name without us */
	if (ns_capable(dev_net(ud->ndev)->user_ns, CAP_NET_RAW))
		ctx->raw = UBOE_RAW_UB;
	return 0;
}

static bool uboe_native_moves(enum ib_qp_state from, enum ib_qp_state to)
{
	switch (to) {
	case IB_QPS_RESET:
	case IB_QPS_ERR:
		return true;
	case IB_QPS_INIT:
		return from == IB_QPS_RESET || from == IB_QPS_INIT;
	case IB_QPS_RTS:
		return from == IB_QPS_INIT || from == IB_QPS_RTS;
	default:
		return false;
	}
}

int uboe_native_modify_ok(enum ib_qp_state from, enum ib_qp_state to, int mask)
{
	return mask & ~UBOE_NATIVE_MASK || !uboe_native_moves(from, to) ? -EINVAL : 0;
}
