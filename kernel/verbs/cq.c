// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues: JFCs. */
#include <linux/log2.h>
#include <linux/slab.h>
#include "verbs.h"

/* The core calls it inside a read section; the reference outlives the queue's destruction */
void uboe_jfc_event(struct ubp_jfc *jfc)
{
	struct uboe_ref *ref = ubp_jfc_home(jfc);
	struct uboe_cq *cq;

	if (!ref || !refcount_inc_not_zero(&ref->users))
		return;
	cq = ref->obj;
	if (cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	uboe_ref_put(ref);
}

/* ops->jfc_timer: softirq context, perhaps under the core's locks */
void uboe_jfc_timer(struct ubp_dev *dev, u32 id, u64 when)
{
	struct uboe_dev *ud = container_of(dev, struct uboe_dev, core);
	struct uboe_ref *ref = uboe_ref_get(&ud->cqs, id);
	struct uboe_cq *cq;

	if (!ref)
		return;
	cq = ref->obj;
	hrtimer_start(&cq->moderate, ns_to_ktime(when), HRTIMER_MODE_ABS_SOFT);
	uboe_ref_put(ref);
}

static enum hrtimer_restart uboe_moderate_fire(struct hrtimer *t)
{
	struct uboe_cq *cq = container_of(t, struct uboe_cq, moderate);

	ubp_jfc_timer(&to_uboe(cq->ib.device)->core, cq->id);
	return HRTIMER_NORESTART;
}

static int uboe_cq_check(struct ib_device *ib, const struct ib_cq_init_attr *attr,
			 const struct uboe_create_cq_req *req)
{
	if (attr->flags || req->flags & ~UBOE_CQ_INLINE)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > ib->attrs.max_cqe)
		return -EINVAL;
	if (req->shift < ilog2(UBOE_MIN_JFC_DEPTH) || req->shift > ilog2(UBOE_MAX_JFC_DEPTH))
		return -EINVAL;
	if (attr->cqe > 1u << req->shift)
		return -EINVAL;
	return 0;
}

static int uboe_cq_make(struct uboe_dev *ud, struct uboe_cq *cq,
			const struct uboe_create_cq_req *req)
{
	struct uboe_jfc_ctx ctx = {
		.shift = req->shift,
		.flags = req->flags & UBOE_CQ_INLINE ? UBOE_JFC_INLINE : 0,
		.base = cpu_to_le64(cq->ring.bus),
		.rec = cpu_to_le64(cq->rec.bus),
	};
	int ret;

	ret = uboe_cmd_create(ud, UBOE_MBOX_JFC, cq->id, &ctx, sizeof(ctx));
	if (ret)
		return ret;
	cq->made = true;
	return ubp_set_home(&ud->core, UBOE_MBOX_JFC, cq->id, cq->ref);
}

/* Works on a queue at any stage of creation */
static int uboe_cq_teardown(struct uboe_dev *ud, struct uboe_cq *cq)
{
	int ret;

	if (cq->made) {
		ret = uboe_cmd_destroy(ud, UBOE_MBOX_JFC, cq->id);
		if (ret)
			return ret;
		cq->made = false;
	}
	if (cq->ref)
		uboe_ref_withdraw(&ud->cqs, cq->id, cq->ref);
	cq->ref = NULL;
	hrtimer_cancel(&cq->moderate); /* nobody starts it any more */
	uboe_ring_put(&cq->ring);
	uboe_ring_put(&cq->rec);
	if (cq->id)
		uboe_id_free(&ud->cqs, cq->id);
	cq->id = 0;
	return 0;
}

static int uboe_cq_setup(struct uboe_dev *ud, struct uboe_ucontext *uctx, struct uboe_cq *cq,
			 const struct uboe_create_cq_req *req)
{
	u64 len = (u64)sizeof(struct uboe_cqe) << req->shift;
	int ret;

	ret = uboe_ring_get(uctx, &cq->ring, req->ring, len, UBOE_BB);
	if (ret)
		return ret;
	ret = uboe_ring_get(uctx, &cq->rec, req->rec, sizeof(struct uboe_jfc_rec), UBOE_BB);
	if (ret)
		return ret;
	ret = uboe_id_alloc(&ud->cqs, &cq->id, 1, ud->core.cfg.max_jfc - 1, &ud->next_cq);
	if (ret)
		return ret;
	cq->uctx = uctx;
	cq->ref = uboe_ref_new(cq);
	if (!cq->ref)
		return -ENOMEM;
	return uboe_cq_make(ud, cq, req);
}

int uboe_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct uboe_dev *ud = to_uboe(ibcq->device);
	struct uboe_create_cq_resp resp = {};
	struct uboe_cq *cq = to_ucq(ibcq);
	struct uboe_create_cq_req req;
	int ret;

	ret = uboe_udata_in(udata, &req, sizeof(req), sizeof(req));
	if (ret)
		return ret;
	ret = uboe_cq_check(ibcq->device, attr, &req);
	if (ret)
		return ret;
	hrtimer_init(&cq->moderate, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	cq->moderate.function = uboe_moderate_fire;
	ret = uboe_cq_setup(ud, rdma_udata_to_drv_context(udata, struct uboe_ucontext, ib), cq,
			    &req);
	if (ret)
		goto err;

	resp.cqn = cq->id;
	resp.depth = 1u << req.shift;
	ibcq->cqe = resp.depth;
	ret = uboe_udata_out(udata, &resp, sizeof(resp));
	if (ret)
		goto err;
	uboe_ref_publish(&ud->cqs, cq->id, cq->ref);
	return 0;
err:
	uboe_cq_teardown(ud, cq);
	return ret;
}

int uboe_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	return uboe_cq_teardown(to_uboe(ibcq->device), to_ucq(ibcq));
}

/* Periods are those of struct uboe_jfc_ctx: others are refused */
int uboe_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct uboe_jfc_ctx ctx = {
		.moderate_count = cpu_to_le16(count),
		.moderate_period = cpu_to_le16(period),
	};

	return uboe_cmd_modify(to_uboe(ibcq->device), UBOE_MBOX_JFC, to_ucq(ibcq)->id, &ctx,
			       sizeof(ctx), UBOE_CM_COUNT | UBOE_CM_PERIOD);
}
