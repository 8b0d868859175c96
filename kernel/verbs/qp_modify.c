// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * State machine of queue pairs: RESET, INIT, RTR, RTS, ERR. Draining (SQD) is
 * not offered. Attributes are recorded only when the device has taken them.
 */
#include "verbs.h"

#define UBOE_QP_MAX_RETRY 7
#define UBOE_QP_MAX_TIMEOUT 31

static int uboe_check_paths(struct uboe_dev *ud, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PATH_MIG_STATE && attr->path_mig_state != IB_MIG_MIGRATED)
		return -EOPNOTSUPP;
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 || attr->path_mtu > uboe_mtu_to_ib(uboe_soft_mtu(ud))))
		return -EINVAL;
	if (mask & IB_QP_DEST_QPN && (!attr->dest_qp_num || attr->dest_qp_num >= 1u << 20))
		return -EINVAL;
	return 0;
}

static int uboe_check_values(struct uboe_dev *ud, const struct ib_qp_attr *attr, int mask)
{
	const struct ib_device_attr *lim = &ud->ib.attrs;
	u8 access;

	if (mask & IB_QP_TIMEOUT && attr->timeout > UBOE_QP_MAX_TIMEOUT)
		return -EINVAL;
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > UBOE_QP_MAX_RETRY)
		return -EINVAL;
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > UBOE_QP_MAX_RETRY)
		return -EINVAL;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return -EINVAL;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > lim->max_qp_init_rd_atom)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > lim->max_qp_rd_atom)
		return -EINVAL;
	if (mask & IB_QP_ACCESS_FLAGS)
		return uboe_ib_access(attr->qp_access_flags, &access);
	return 0;
}

/* Everything that can be refused before the device is touched */
static int uboe_modify_check(struct uboe_dev *ud, struct uboe_qp *qp, const struct ib_qp_attr *attr,
			     int mask, enum ib_qp_state next)
{
	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != qp->state)
		return -EINVAL;
	if (uboe_qp_is_native(&qp->ib))
		return uboe_native_modify_ok(qp->state, next, mask) ?:
			       uboe_check_values(ud, attr, mask);
	if (!ib_modify_qp_is_ok(qp->state, next, qp->ib.qp_type, mask))
		return -EINVAL;
	if (next == IB_QPS_SQD || next == IB_QPS_SQE)
		return -EOPNOTSUPP;
	return uboe_check_paths(ud, attr, mask) ?: uboe_check_values(ud, attr, mask);
}

/* Fields of a jetty modify that follow from the attributes; returns its mask */
static u32 uboe_modify_fields(struct uboe_jetty_ctx *ctx, const struct ib_qp_attr *attr, int mask)
{
	u32 jm = 0;

	if (mask & IB_QP_ACCESS_FLAGS) {
		uboe_ib_access(attr->qp_access_flags, &ctx->access);
		ctx->access &= ~UBOE_ACC_LOCAL_WRITE;
		jm |= UBOE_JM_ACCESS;
	}
	if (mask & IB_QP_MIN_RNR_TIMER) {
		ctx->rnr_timer = ubp_rnr_code(attr->min_rnr_timer);
		jm |= UBOE_JM_RNR_TIMER;
	}
	if (mask & IB_QP_RNR_RETRY) {
		ctx->rnr_retry = attr->rnr_retry;
		jm |= UBOE_JM_RNR_RETRY;
	}
	if (mask & IB_QP_MAX_QP_RD_ATOMIC) {
		ctx->max_rd = cpu_to_le16(attr->max_rd_atomic);
		jm |= UBOE_JM_MAX_RD;
	}
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC) {
		ctx->max_dest_rd = cpu_to_le16(attr->max_dest_rd_atomic);
		jm |= UBOE_JM_MAX_DEST_RD;
	}
	return jm;
}

static int uboe_to_rtr(struct uboe_dev *ud, struct uboe_qp *qp, const struct ib_qp_attr *attr,
		       struct uboe_jetty_ctx *ctx, u32 jm)
{
	int ret;

	ret = uboe_channel_make(ud, qp, attr);
	if (ret)
		return ret;
	ctx->state = UBOE_JS_RTR;
	ctx->tpn = cpu_to_le32(UB_TPN_RC(qp->ib.qp_num));
	ctx->rmt_jetty = cpu_to_le32(attr->dest_qp_num);
	ret = uboe_cmd_modify(ud, UBOE_MBOX_JETTY, qp->ib.qp_num, ctx, sizeof(*ctx),
			      jm | UBOE_JM_STATE | UBOE_JM_TPN);
	if (ret)
		uboe_channel_unmake(ud, qp);
	return ret;
}

/* Forget everything but the memory: a new jetty, the receives posted are gone */
static int uboe_to_reset(struct uboe_dev *ud, struct uboe_qp *qp)
{
	int ret;

	uboe_qp_unmake(ud, qp);
	if (WARN_ON_ONCE(qp->made || qp->tp_made || qp->rct_made || qp->rq.made))
		return -EBUSY;
	qp->state = IB_QPS_ERR; /* from which the next try may start */
	ret = uboe_qp_make(ud, qp);
	if (!ret)
		memset(&qp->attr, 0, sizeof(qp->attr));
	return ret;
}

static int uboe_modify_device(struct uboe_dev *ud, struct uboe_qp *qp,
			      const struct ib_qp_attr *attr, int mask, enum ib_qp_state next)
{
	struct uboe_jetty_ctx ctx = {};
	u32 jm = uboe_modify_fields(&ctx, attr, mask);
	int ret;

	switch (next) {
	case IB_QPS_RESET:
		return uboe_to_reset(ud, qp);
	case IB_QPS_INIT:
		ctx.state = UBOE_JS_INIT;
		break;
	case IB_QPS_RTR:
		return uboe_to_rtr(ud, qp, attr, &ctx, jm);
	case IB_QPS_RTS:
		if (mask & IB_QP_TIMEOUT) {
			ret = uboe_channel_timeout(ud, qp, attr->timeout, attr->retry_cnt);
			if (ret)
				return ret;
		}
		ctx.state = UBOE_JS_READY;
		break;
	case IB_QPS_ERR:
		ctx.state = UBOE_JS_ERROR;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (next != qp->state)
		jm |= UBOE_JM_STATE;
	if (!jm)
		return 0;
	return uboe_cmd_modify(ud, UBOE_MBOX_JETTY, qp->ib.qp_num, &ctx, sizeof(ctx), jm);
}

static void uboe_record_path(struct ib_qp_attr *to, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PORT)
		to->port_num = attr->port_num;
	if (mask & IB_QP_PKEY_INDEX)
		to->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = attr->path_mtu;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_AV) {
		to->ah_attr = attr->ah_attr;
		to->ah_attr.grh.sgid_attr = NULL; /* ib_core holds it, in ib_qp */
	}
}

static void uboe_record(struct ib_qp_attr *to, const struct ib_qp_attr *attr, int mask)
{
	uboe_record_path(to, attr, mask);
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = attr->rq_psn;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = attr->sq_psn;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = attr->max_dest_rd_atomic;
}

int uboe_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct uboe_dev *ud = to_uboe(ibqp->device);
	struct uboe_qp *qp = to_uqp(ibqp);
	enum ib_qp_state next;
	int ret;

	ret = uboe_udata_none(udata);
	if (ret)
		return ret;
	mutex_lock(&qp->lock);
	ret = uboe_qp_sync(ud, qp);
	if (ret)
		goto out;
	next = mask & IB_QP_STATE ? attr->qp_state : qp->state;
	ret = uboe_modify_check(ud, qp, attr, mask, next) ?:
		      uboe_modify_device(ud, qp, attr, mask, next);
	if (ret)
		goto out;
	uboe_record(&qp->attr, attr, mask);
	qp->state = next;
out:
	mutex_unlock(&qp->lock);
	return ret;
}
