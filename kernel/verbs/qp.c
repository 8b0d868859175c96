// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Queue pairs: creation, query, destruction. qp_modify.c has the state machine. */
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "verbs.h"

#define UBOE_SLICES_RESCHED 64
/* A KICK ends, though another thread fills the queue all the time: unloading waits for it */
#define UBOE_SLICES_MAX 1024

static const enum ib_qp_state uboe_ib_states[] = {
	[UBOE_JS_RESET] = IB_QPS_RESET, [UBOE_JS_INIT] = IB_QPS_INIT,
	[UBOE_JS_RTR] = IB_QPS_RTR,	[UBOE_JS_READY] = IB_QPS_RTS,
	[UBOE_JS_SUSPEND] = IB_QPS_SQD, [UBOE_JS_ERROR] = IB_QPS_ERR,
};

/*
 * What the device is asked to do when a program rings by POST_SEND without work
 * requests. The packets leave in this context, in slices. Between them BHs are on:
 * what has come back meanwhile is served here as well, and on a link within the
 * machine the packets that were just written are read by the other end while they
 * are in the cache, and not by ksoftirqd, which would share the CPU with a program
 * that polls.
 */
int uboe_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct ubp_dev *core = &to_uboe(ibqp->device)->core;
	unsigned int slices = 0;
	int more;

	if (wr) {
		*bad = wr;
		return -EOPNOTSUPP;
	}
	while ((more = ubp_drive_id(core, ibqp->qp_num)) > 0) {
		if (signal_pending(current) || ++slices == UBOE_SLICES_MAX) {
			ubp_leave_id(core, ibqp->qp_num);
			return 0;
		}
		/* rarely: who takes the completions does it best when there are many */
		if (!(slices % UBOE_SLICES_RESCHED))
			cond_resched();
	}
	return more ? -EINVAL : 0;
}

static int uboe_qp_check(struct ib_device *ib, const struct ib_qp_init_attr *init)
{
	const struct ib_device_attr *lim = &ib->attrs;
	const struct ib_qp_cap *cap = &init->cap;

	if ((init->qp_type != IB_QPT_RC && init->qp_type != IB_QPT_DRIVER) || init->create_flags ||
	    init->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > lim->max_qp_wr || cap->max_send_sge > lim->max_send_sge ||
	    cap->max_inline_data > UBOE_MAX_INLINE)
		return -EINVAL;
	if (!init->srq &&
	    (cap->max_recv_wr > lim->max_qp_wr || cap->max_recv_sge > lim->max_recv_sge))
		return -EINVAL;
	return 0;
}

static int uboe_qp_check_req(const struct uboe_create_qp_req *req,
			     const struct ib_qp_init_attr *init)
{
	if (req->flags & ~(UBOE_QP_NATIVE | UBOE_QP_TOKEN | UBOE_QP_SEND_ONLY |
			   UBOE_QP_TARGET_ORDER | UBOE_QP_LOCKBUF))
		return -EOPNOTSUPP;
	if (memchr_inv(req->rsvd, 0, sizeof(req->rsvd)) || req->rq.buf_shift)
		return -EINVAL;
	if (!(req->flags & UBOE_QP_NATIVE) && (req->flags || req->id || req->token))
		return -EINVAL;
	if (req->sq_shift > ilog2(UBOE_MAX_JFS_BB) || init->cap.max_send_wr > 1u << req->sq_shift)
		return -EINVAL;
	if ((init->srq || req->flags & UBOE_QP_SEND_ONLY) &&
	    memchr_inv(&req->rq, 0, sizeof(req->rq)))
		return -EINVAL;
	return uboe_native_check(req, init);
}

static int uboe_qp_rings(struct uboe_ucontext *uctx, struct uboe_qp *qp,
			 const struct uboe_create_qp_req *req)
{
	int ret;

	if (!(req->flags & UBOE_QP_LOCKBUF)) {
		ret = uboe_ring_get(uctx, &qp->sq, req->sq, (u64)UBOE_BB << req->sq_shift, UBOE_BB);
		if (ret)
			return ret;
	}
	return uboe_ring_get(uctx, &qp->page, req->jpage, UBOE_JPAGE_SOFT_STRIDE,
			     UBOE_JPAGE_SOFT_STRIDE);
}

static void uboe_qp_fill_ctx(struct uboe_qp *qp, const struct ib_qp_init_attr *init,
			     const struct uboe_create_qp_req *req)
{
	struct uboe_jetty_ctx *ctx = &qp->jctx;

	ctx->state = UBOE_JS_RESET;
	ctx->type = UBOE_JETTY_RC;
	ctx->sq_shift = req->sq_shift;
	ctx->flags = init->sq_sig_type == IB_SIGNAL_ALL_WR ? UBOE_JETTY_SIG_ALL : 0;
	if (req->flags & UBOE_QP_NATIVE)
		ctx->flags |= UBOE_JETTY_NATIVE;
	if (req->flags & UBOE_QP_TOKEN) {
		ctx->flags |= UBOE_JETTY_TOKEN;
		ctx->token = cpu_to_le32(req->token);
	}
	ctx->pd = cpu_to_le32(to_upd(qp->ib.pd)->id);
	ctx->sq_base = cpu_to_le64(qp->sq.bus);
	if (req->flags & UBOE_QP_LOCKBUF)
		uboe_lockbuf_fill_ctx(ctx, req);
	else if (uboe_dwqe && init->qp_type == IB_QPT_RC)
		ctx->flags |= UBOE_JETTY_DWQE;
	ctx->page = cpu_to_le64(qp->page.bus);
	ctx->tx_jfcn = cpu_to_le32(to_ucq(init->send_cq)->id);
	ctx->user_data = cpu_to_le64(qp->ib.qp_num);
	if (req->flags & UBOE_QP_SEND_ONLY) {
		ctx->flags |= UBOE_JETTY_SEND_ONLY;
		return;
	}
	ctx->rx_jfcn = cpu_to_le32(to_ucq(init->recv_cq)->id);
	if (init->srq) {
		ctx->flags |= UBOE_JETTY_SHARED_JFR;
		ctx->jfrn = cpu_to_le32(to_usrq(init->srq)->rq.id);
	} else {
		ctx->jfrn = cpu_to_le32(qp->rq.id);
	}
}

/* ops->jetty_timer: softirq context, under the jetty's lock */
void uboe_jetty_timer(struct ubp_jetty *jetty, u64 when)
{
	struct uboe_dev *ud = container_of(ubp_jetty_dev(jetty), struct uboe_dev, core);
	struct uboe_ref *ref = uboe_ref_get(&ud->qps, ubp_jetty_id(jetty));
	struct uboe_qp *qp;

	if (!ref)
		return;
	qp = ref->obj;
	hrtimer_start(&qp->shaper, ns_to_ktime(when), HRTIMER_MODE_ABS_SOFT);
	uboe_ref_put(ref);
}

static enum hrtimer_restart uboe_shaper_fire(struct hrtimer *t)
{
	struct uboe_qp *qp = container_of(t, struct uboe_qp, shaper);

	rcu_read_lock();
	ubp_kick_id(&to_uboe(qp->ib.device)->core, qp->ib.qp_num);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* Own receive queue and jetty, in RESET and in its group */
int uboe_qp_make(struct uboe_dev *ud, struct uboe_qp *qp)
{
	int ret;

	if (qp->rq.id && !qp->rq.made) {
		ret = uboe_rq_make(ud, &qp->rq);
		if (ret)
			return ret;
	}
	ret = uboe_cmd_create(ud, UBOE_MBOX_JETTY, qp->ib.qp_num, &qp->jctx, sizeof(qp->jctx));
	if (ret)
		return ret;
	qp->made = true;
	if (!qp->group)
		return 0;
	ret = uboe_group_join(ud, qp->uctx, qp->group, qp->ib.qp_num);
	if (ret)
		uboe_qp_unmake(ud, qp);
	return ret;
}

/* All that the device knows of the queue pair, at any stage; uboe_qp.lock held */
void uboe_qp_unmake(struct uboe_dev *ud, struct uboe_qp *qp)
{
	if (qp->made && !uboe_cmd_destroy(ud, UBOE_MBOX_JETTY, qp->ib.qp_num))
		qp->made = false;
	if (qp->made)
		return;
	qp->rct_made = false; /* the jetty took its RC table along */
	uboe_channel_unmake(ud, qp);
	uboe_rq_unmake(ud, &qp->rq);
}

static int uboe_qp_setup(struct uboe_dev *ud, struct uboe_qp *qp, struct ib_qp_init_attr *init,
			 const struct uboe_create_qp_req *req, struct uboe_ucontext *uctx)
{
	int ret;

	ret = uboe_qp_rings(uctx, qp, req);
	if (ret)
		return ret;
	if (!init->srq && !(req->flags & UBOE_QP_SEND_ONLY)) {
		ret = uboe_rq_init(ud, uctx, &qp->rq, &req->rq, 0, init->cap.max_recv_wr,
				   init->cap.max_recv_sge, to_upd(qp->ib.pd)->id);
		if (ret)
			return ret;
	}
	ret = req->id ? uboe_id_take(&ud->qps, &qp->ib.qp_num, req->id, UBOE_FIRST_KNOWN_QPN,
				     UBOE_LAST_QPN) :
			uboe_id_alloc(&ud->qps, &qp->ib.qp_num, UBOE_FIRST_QPN, UBOE_LAST_QPN,
				      &ud->next_qp);
	if (ret)
		return ret;
	qp->ref = uboe_ref_new(qp);
	if (!qp->ref)
		return -ENOMEM;
	uboe_qp_fill_ctx(qp, init, req);
	if (init->qp_type == IB_QPT_DRIVER) {
		ret = uboe_native_fill_ctx(ud, &qp->jctx, req);
		if (ret)
			return ret;
	}
	qp->uctx = uctx;
	qp->group = req->group;
	return uboe_qp_make(ud, qp);
}

/* Works on a queue pair at any stage of its life */
static int uboe_qp_teardown(struct uboe_dev *ud, struct uboe_qp *qp)
{
	mutex_lock(&qp->lock);
	uboe_qp_unmake(ud, qp);
	mutex_unlock(&qp->lock);
	if (WARN_ON_ONCE(qp->made || qp->tp_made || qp->rct_made || qp->rq.made))
		return -EBUSY; /* the device may still use the memory */
	if (qp->ref)
		uboe_ref_withdraw(&ud->qps, qp->ib.qp_num, qp->ref);
	qp->ref = NULL;
	hrtimer_cancel(&qp->shaper); /* nobody starts it any more */
	uboe_rq_exit(ud, &qp->rq);
	uboe_ring_put(&qp->sq);
	uboe_ring_put(&qp->page);
	if (qp->ib.qp_num)
		uboe_id_free(&ud->qps, qp->ib.qp_num);
	qp->ib.qp_num = 0;
	return 0; /* the lock stays usable: restrack forgets the queue pair after this */
}

int uboe_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct uboe_dev *ud = to_uboe(ibqp->device);
	struct uboe_create_qp_resp resp = {};
	struct uboe_qp *qp = to_uqp(ibqp);
	struct uboe_create_qp_req req;
	int ret;

	ret = uboe_qp_check(ibqp->device, init);
	if (!ret)
		ret = uboe_udata_in(udata, &req, offsetof(struct uboe_create_qp_req, id),
				    sizeof(req));
	if (!ret)
		ret = uboe_qp_check_req(&req, init);
	if (ret)
		return ret;

	hrtimer_init(&qp->shaper, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	qp->shaper.function = uboe_shaper_fire;
	mutex_init(&qp->lock);
	qp->state = IB_QPS_RESET;
	qp->attr.path_mtu = uboe_mtu_to_ib(UB_MTU_MIN);
	qp->attr.port_num = 1;
	qp->sig_type = init->sq_sig_type;
	ret = uboe_qp_setup(ud, qp, init, &req,
			    rdma_udata_to_drv_context(udata, struct uboe_ucontext, ib));
	if (ret)
		goto err;
	if (qp->rq.id) {
		init->cap.max_recv_wr = 1u << req.rq.shift;
		init->cap.max_recv_sge = 1u << req.rq.sge_shift;
	}
	qp->cap = init->cap;
	resp.qpn = ibqp->qp_num;
	ret = uboe_udata_out(udata, &resp, sizeof(resp));
	if (ret)
		goto err;
	uboe_ref_publish(&ud->qps, ibqp->qp_num, qp->ref);
	return 0;
err:
	uboe_qp_teardown(ud, qp);
	return ret;
}

int uboe_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	return uboe_qp_teardown(to_uboe(ibqp->device), to_uqp(ibqp));
}

/* Learn that the device went to ERROR by itself; uboe_qp.lock held */
int uboe_qp_sync(struct uboe_dev *ud, struct uboe_qp *qp)
{
	struct uboe_jetty_ctx ctx;
	int ret;

	if (!qp->made) /* a failed way back to RESET */
		return 0;
	ret = uboe_cmd_query(ud, UBOE_MBOX_JETTY, qp->ib.qp_num, &ctx, sizeof(ctx));
	if (ret)
		return ret;
	if (WARN_ON_ONCE(ctx.state >= ARRAY_SIZE(uboe_ib_states)))
		return -EIO;
	qp->state = uboe_ib_states[ctx.state];
	return 0;
}

int uboe_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init)
{
	struct uboe_qp *qp = to_uqp(ibqp);
	int ret;

	mutex_lock(&qp->lock);
	ret = uboe_qp_sync(to_uboe(ibqp->device), qp);
	*attr = qp->attr;
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->cap = qp->cap;
	mutex_unlock(&qp->lock);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = qp->cap;
	init->sq_sig_type = qp->sig_type;
	init->qp_type = ibqp->qp_type;
	return ret;
}
