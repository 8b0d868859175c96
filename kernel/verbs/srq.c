// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Receive queues: JFRs, shared (SRQ) or of one QP. */
#include <linux/log2.h>
#include <linux/slab.h>
#include "verbs.h"

static int uboe_rq_check(const struct uboe_rq_req *req, u32 depth, u32 sges)
{
	if (memchr_inv(req->rsvd, 0, sizeof(req->rsvd)))
		return -EINVAL;
	if (req->shift < ilog2(UBOE_MIN_JFR_DEPTH) || req->shift > ilog2(UBOE_MAX_JFR_DEPTH))
		return -EINVAL;
	if (req->sge_shift > ilog2(UBOE_MAX_RQ_SGE))
		return -EINVAL;
	if (depth > 1u << req->shift || sges > 1u << req->sge_shift)
		return -EINVAL;
	return 0;
}

static int uboe_rq_rings(struct uboe_ucontext *uctx, struct uboe_rq *rq,
			 const struct uboe_rq_req *req)
{
	u64 slots = (u64)(UBOE_SGE_SIZE << req->sge_shift) << req->shift;
	int ret;

	ret = uboe_ring_get(uctx, &rq->ring, req->ring, slots, UBOE_BB);
	if (ret)
		return ret;
	ret = uboe_ring_get(uctx, &rq->idx, req->idx, (u64)sizeof(__le32) << req->shift, UBOE_BB);
	if (ret)
		return ret;
	return uboe_ring_get(uctx, &rq->rec, req->rec, sizeof(struct uboe_jfr_rec), UBOE_BB);
}

/*
 * Number (@id, or any when it is 0) and memory of a receive queue, for @depth
 * receives of @sges elements at least. @rq is zeroed; uboe_rq_exit() works on it
 * whatever this returns.
 */
int uboe_rq_init(struct uboe_dev *ud, struct uboe_ucontext *uctx, struct uboe_rq *rq,
		 const struct uboe_rq_req *req, u32 id, u32 depth, u32 sges, u32 pd)
{
	u32 max = ud->core.cfg.max_jfr - 1;
	int ret;

	ret = uboe_rq_check(req, depth, sges);
	if (ret)
		return ret;
	ret = uboe_rq_rings(uctx, rq, req);
	if (ret)
		return ret;
	ret = id ? uboe_id_take(&ud->srqs, &rq->id, id, 1, max) :
		   uboe_id_alloc(&ud->srqs, &rq->id, 1, max, &ud->next_srq);
	if (ret)
		return ret;

	rq->ctx.shift = req->shift;
	rq->ctx.sge_shift = req->sge_shift;
	rq->ctx.buf_shift = req->buf_shift;
	rq->ctx.pd = cpu_to_le32(pd);
	rq->ctx.base = cpu_to_le64(rq->ring.bus);
	rq->ctx.idx = cpu_to_le64(rq->idx.bus);
	rq->ctx.rec = cpu_to_le64(rq->rec.bus);
	rq->ctx.user_data = cpu_to_le64(rq->id);
	return 0;
}

int uboe_rq_make(struct uboe_dev *ud, struct uboe_rq *rq)
{
	int ret = uboe_cmd_create(ud, UBOE_MBOX_JFR, rq->id, &rq->ctx, sizeof(rq->ctx));

	if (!ret)
		rq->made = true;
	return ret;
}

void uboe_rq_unmake(struct uboe_dev *ud, struct uboe_rq *rq)
{
	if (rq->made && !uboe_cmd_destroy(ud, UBOE_MBOX_JFR, rq->id))
		rq->made = false;
}

void uboe_rq_exit(struct uboe_dev *ud, struct uboe_rq *rq)
{
	uboe_rq_unmake(ud, rq);
	if (WARN_ON_ONCE(rq->made))
		return; /* the device still uses the memory */
	uboe_ring_put(&rq->ring);
	uboe_ring_put(&rq->idx);
	uboe_ring_put(&rq->rec);
	if (rq->id)
		uboe_id_free(&ud->srqs, rq->id);
	rq->id = 0;
}

static void uboe_srq_teardown(struct uboe_dev *ud, struct uboe_srq *srq)
{
	if (srq->ref)
		uboe_ref_withdraw(&ud->srqs, srq->rq.id, srq->ref);
	srq->ref = NULL;
	uboe_rq_exit(ud, &srq->rq);
	if (srq->cq)
		atomic_dec(&srq->cq->ib.usecnt);
	srq->cq = NULL;
}

/*
 * A CQ of the same context, by its number, with a reference: its destruction waits for
 * that. It is to be held until the device knows a JFR that completes there, for then
 * the device does not let the CQ go; a use count that ib_core has read before does.
 */
static struct uboe_ref *uboe_srq_find_cq(struct uboe_dev *ud, struct uboe_ucontext *uctx, u32 cqn)
{
	struct uboe_ref *ref = uboe_ref_get(&ud->cqs, cqn);
	struct uboe_cq *cq = ref ? ref->obj : NULL;

	if (!ref || cq->uctx == uctx)
		return ref;
	uboe_ref_put(ref);
	return NULL;
}

/* The JFR is a target by itself */
static void uboe_srq_target(struct uboe_srq *srq, const struct uboe_create_srq_req *req)
{
	struct uboe_jfr_ctx *ctx = &srq->rq.ctx;

	ctx->jfcn = cpu_to_le32(req->cqn);
	ctx->token = cpu_to_le32(req->token);
	if (req->flags & UBOE_SRQ_UM)
		ctx->flags |= UBOE_JFR_UM;
	if (req->flags & UBOE_SRQ_RM)
		ctx->flags |= UBOE_JFR_RM;
	if (req->flags & UBOE_SRQ_TOKEN)
		ctx->flags |= UBOE_JFR_TOKEN;
}

static int uboe_srq_make(struct uboe_dev *ud, struct uboe_srq *srq, struct uboe_ucontext *uctx,
			 const struct uboe_create_srq_req *req)
{
	struct uboe_ref *ref;
	int ret;

	if (!req->flags)
		return uboe_rq_make(ud, &srq->rq);
	ref = uboe_srq_find_cq(ud, uctx, req->cqn);
	if (!ref)
		return -EINVAL;
	uboe_srq_target(srq, req);
	ret = uboe_rq_make(ud, &srq->rq);
	if (!ret) {
		srq->cq = ref->obj;
		atomic_inc(&srq->cq->ib.usecnt);
	}
	uboe_ref_put(ref);
	return ret;
}

static int uboe_srq_check_req(const struct uboe_create_srq_req *req)
{
	bool target = req->flags & (UBOE_SRQ_UM | UBOE_SRQ_RM);

	if (req->flags & ~(u64)(UBOE_SRQ_UM | UBOE_SRQ_RM | UBOE_SRQ_TOKEN))
		return -EOPNOTSUPP;
	if (req->rsvd || (req->token && !(req->flags & UBOE_SRQ_TOKEN)) ||
	    (!target && (req->flags || req->cqn)))
		return -EINVAL;
	return 0;
}

static int uboe_srq_setup(struct uboe_dev *ud, struct uboe_srq *srq,
			  const struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct uboe_ucontext *uctx = rdma_udata_to_drv_context(udata, struct uboe_ucontext, ib);
	struct uboe_create_srq_resp resp = {};
	struct uboe_create_srq_req req;
	int ret;

	ret = uboe_udata_in(udata, &req, offsetof(struct uboe_create_srq_req, id), sizeof(req));
	if (ret)
		return ret;
	ret = uboe_srq_check_req(&req);
	if (ret)
		return ret;
	ret = uboe_rq_init(ud, uctx, &srq->rq, &req.rq, req.id, attr->attr.max_wr,
			   attr->attr.max_sge, to_upd(srq->ib.pd)->id);
	if (ret)
		return ret;
	srq->rq.ctx.limit = cpu_to_le32(attr->attr.srq_limit);
	srq->ref = uboe_ref_new(srq);
	if (!srq->ref)
		return -ENOMEM;
	ret = uboe_srq_make(ud, srq, uctx, &req);
	if (ret)
		return ret;
	resp.srqn = srq->rq.id;
	return uboe_udata_out(udata, &resp, sizeof(resp));
}

int uboe_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct uboe_dev *ud = to_uboe(ibsrq->device);
	struct uboe_srq *srq = to_usrq(ibsrq);
	int ret;

	if (attr->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->attr.max_wr || attr->attr.max_wr > ibsrq->device->attrs.max_srq_wr ||
	    attr->attr.max_sge > ibsrq->device->attrs.max_srq_sge ||
	    attr->attr.srq_limit > attr->attr.max_wr)
		return -EINVAL;

	ret = uboe_srq_setup(ud, srq, attr, udata);
	if (ret) {
		uboe_srq_teardown(ud, srq);
		return ret;
	}
	attr->attr.max_wr = 1u << srq->rq.ctx.shift;
	attr->attr.max_sge = 1u << srq->rq.ctx.sge_shift;
	ibsrq->ext.xrc.srq_num = srq->rq.id;
	uboe_ref_publish(&ud->srqs, srq->rq.id, srq->ref);
	return 0;
}

int uboe_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata)
{
	struct uboe_srq *srq = to_usrq(ibsrq);
	struct uboe_jfr_ctx ctx = {};

	if (uboe_udata_none(udata) || (mask & ~IB_SRQ_LIMIT))
		return -EOPNOTSUPP;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > 1u << srq->rq.ctx.shift)
		return -EINVAL;
	ctx.limit = cpu_to_le32(attr->srq_limit);
	return uboe_cmd_modify(to_uboe(ibsrq->device), UBOE_MBOX_JFR, srq->rq.id, &ctx, sizeof(ctx),
			       UBOE_RM_LIMIT);
}

int uboe_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct uboe_srq *srq = to_usrq(ibsrq);
	struct uboe_jfr_ctx ctx;
	int ret;

	ret = uboe_cmd_query(to_uboe(ibsrq->device), UBOE_MBOX_JFR, srq->rq.id, &ctx, sizeof(ctx));
	if (ret)
		return ret;
	attr->max_wr = 1u << srq->rq.ctx.shift;
	attr->max_sge = 1u << srq->rq.ctx.sge_shift;
	attr->srq_limit = le32_to_cpu(ctx.limit);
	return 0;
}

int uboe_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	uboe_srq_teardown(to_uboe(ibsrq->device), to_usrq(ibsrq));
	return 0;
}
