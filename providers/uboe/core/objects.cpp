// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Control path of the core: making and unmaking queues.

#include "objects.hpp"

using namespace uboe;

namespace {

Context &ctx_of(uboe_core_ctx *ctx)
{
	return *reinterpret_cast<Context *>(ctx);
}

template <class T> T *set_errno(int err)
{
	errno = err;
	return nullptr;
}

// Operations that a caller of create_qp_ex asked for, as bits of enum Op
u32 op_mask(uint64_t send_ops)
{
	constexpr struct {
		uint64_t verbs;
		Op op;
	} rows[] = {
		{IBV_QP_EX_WITH_SEND, Op::send},
		{IBV_QP_EX_WITH_SEND_WITH_IMM, Op::send_imm},
		{IBV_QP_EX_WITH_SEND_WITH_INV, Op::send_inv},
		{IBV_QP_EX_WITH_RDMA_WRITE, Op::write},
		{IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, Op::write_imm},
		{IBV_QP_EX_WITH_RDMA_READ, Op::read},
		{IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, Op::cas},
		{IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, Op::faa},
	};
	u32 mask = 0;

	for (const auto &row : rows)
		if (!send_ops || (send_ops & row.verbs))
			mask |= 1u << static_cast<u32>(row.op);
	return mask;
}

} // namespace

uboe_core_ctx *uboe_core_ctx_create(const uboe_core_sys *sys, const uboe_alloc_ucontext_resp *caps)
{
	const u32 stride = caps->jpage_stride;

	// The kernel is trusted but may be of another version.
	if (!std::has_single_bit(stride) || stride < UBOE_JPAGE_SOFT_STRIDE ||
	    caps->arena_max_size < 65536 || caps->arena_max_size > 1u << 31 || !caps->max_arenas ||
	    caps->max_arenas > UBOE_MAX_ARENAS)
		return set_errno<uboe_core_ctx>(EPROTO);
	void *mem = nullptr;
	if (posix_memalign(&mem, alignof(Context) < 64 ? 64 : alignof(Context), sizeof(Context)))
		return set_errno<uboe_core_ctx>(ENOMEM);
	return reinterpret_cast<uboe_core_ctx *>(new (mem) Context(*sys, *caps));
}

void uboe_core_ctx_destroy(uboe_core_ctx *ctx)
{
	Context &c = ctx_of(ctx);

	c.~Context();
	std::free(&c);
}

uint64_t uboe_core_ctx_skipped(uboe_core_ctx *ctx)
{
	return ctx_of(ctx).skipped.load(std::memory_order_relaxed);
}

ibv_cq *uboe_core_cq_alloc(uboe_core_ctx *ctx, uint32_t cqe, int single_threaded,
			   uboe_create_cq_req *req)
{
	Context &c = ctx_of(ctx);
	u32 depth;

	if (int err = comp_depth(cqe, depth))
		return set_errno<ibv_cq>(err);
	ArenaBlock ring = c.arenas.take(std::size_t{depth} * sizeof(uboe_cqe));
	ArenaBlock rec = ring ? c.arenas.take(sizeof(uboe_jfc_rec)) : ArenaBlock();
	if (!rec)
		return nullptr;
	Cq *cq = make<Cq>(c, std::move(ring), std::move(rec), depth, !single_threaded);
	if (!cq)
		return nullptr;
	*req = {};
	req->ring = static_cast<u64>(cq->ring.bus());
	req->rec = static_cast<u64>(cq->rec.bus());
	req->shift = log2_pow2(depth);
	return static_cast<ibv_cq *>(verbs_of(*cq));
}

void uboe_core_cq_free(ibv_cq *cq)
{
	unmake(cq_of(cq));
}

int uboe_core_cq_resize_begin(ibv_cq *ibcq, uint32_t cqe, uboe_resize_cq_req *req)
{
	Cq &cq = cq_of(ibcq);
	u32 depth;

	if (int err = comp_depth(cqe, depth))
		return -err;
	cq.queue.lock().lock();
	if (depth == cq.queue.depth()) {
		cq.queue.lock().unlock();
		return 0;
	}
	cq.new_ring = cq.ctx.arenas.take(std::size_t{depth} * sizeof(uboe_cqe));
	if (!cq.new_ring) {
		const int err = errno;
		cq.queue.lock().unlock();
		return -err;
	}
	cq.new_depth = depth;
	*req = {};
	req->ring = static_cast<u64>(cq.new_ring.bus());
	req->shift = log2_pow2(depth);
	return 1;
}

void uboe_core_cq_resize_end(ibv_cq *ibcq, int ok)
{
	Cq &cq = cq_of(ibcq);

	if (ok) {
		cq.queue.switch_ring(cq.new_ring.data(), cq.new_depth);
		std::swap(cq.ring, cq.new_ring);
	}
	cq.new_ring.reset();
	cq.queue.lock().unlock();
}

uint32_t uboe_core_cq_depth(ibv_cq *cq)
{
	return cq_of(cq).queue.depth();
}

ibv_qp *uboe_core_qp_alloc(uboe_core_ctx *ctx, uboe_core_qp_attr *attr, uboe_create_qp_req *req)
{
	Context &c = ctx_of(ctx);
	SendGeometry sg;
	RecvGeometry rg;

	if (!attr->send_cq || !attr->recv_cq)
		return set_errno<ibv_qp>(EINVAL);
	if (int err = send_geometry(attr->cap.max_send_wr, attr->cap.max_send_sge,
				    attr->cap.max_inline_data, op_mask(attr->send_ops),
				    c.caps.max_inline, sg))
		return set_errno<ibv_qp>(err);
	if (!attr->srq)
		if (int err = recv_geometry(attr->cap.max_recv_wr, attr->cap.max_recv_sge, rg))
			return set_errno<ibv_qp>(err);

	ArenaBlock ring = c.arenas.take(std::size_t{sg.depth} * UBOE_BB);
	ArenaBlock page = ring ? c.arenas.take(c.caps.jpage_stride) : ArenaBlock();
	if (!page)
		return nullptr;
	Qp *qp = make<Qp>(c, std::move(ring), std::move(page), sg, attr->sq_sig_all != 0);
	if (!qp)
		return nullptr;
	if (!qp->sq.valid()) {
		unmake(*qp);
		return set_errno<ibv_qp>(ENOMEM);
	}
	*req = {};
	qp->send_cq = &cq_of(attr->send_cq);
	qp->recv_cq = &cq_of(attr->recv_cq);
	if (attr->srq) {
		qp->srq = &srq_of(attr->srq);
	} else {
		if (!qp->rq_mem.take(c.arenas, rg)) {
			const int err = errno;
			unmake(*qp);
			return set_errno<ibv_qp>(err);
		}
		qp->own_rq = new (qp->rq_storage)
			RecvQueue(rg, qp->rq_mem.slots.data(), qp->rq_mem.index.data(),
				  qp->rq_mem.rec.data(), false);
		if (!qp->own_rq->valid()) {
			unmake(*qp);
			return set_errno<ibv_qp>(ENOMEM);
		}
		qp->rq_mem.describe(rg, req->rq);
	}
	req->sq = static_cast<u64>(qp->sq_mem.bus());
	req->jpage = static_cast<u64>(qp->page.bus());
	req->sq_shift = static_cast<u8>(log2_pow2(sg.depth));
	qp->cap.max_send_wr = sg.wr;
	qp->cap.max_send_sge = sg.sge;
	qp->cap.max_inline_data = sg.inline_bytes;
	qp->cap.max_recv_wr = attr->srq ? 0 : rg.depth;
	qp->cap.max_recv_sge = attr->srq ? 0 : rg.sges();
	attr->cap = qp->cap;
	return static_cast<ibv_qp *>(verbs_of(*qp));
}

// A number may come back from the kernel while the thread that destroyed its
// last owner is still on the way to uboe_core_qp_free(). The newcomer, which has
// no completions yet, then clears up for it.
int uboe_core_qp_created(ibv_qp *ibqp, uint32_t qpn, uint32_t handle)
{
	Qp &qp = qp_of(ibqp);
	Context &c = qp.ctx;
	Hold hold(c.qp_lock);

	if (Qp *old = c.qps.find(JettyId{qpn})) {
		purge_completions(*old);
		c.qps.set(JettyId{qpn}, nullptr);
	}
	qp.qpn = qpn;
	qp.handle = handle;
	return c.qps.set(JettyId{qpn}, &qp) ? 0 : ENOMEM;
}

void uboe_core_qp_free(ibv_qp *ibqp)
{
	Qp &qp = qp_of(ibqp);
	Context &c = qp.ctx;

	{
		Hold hold(c.qp_lock);

		if (qp.qpn && c.qps.find(JettyId{qp.qpn}) == &qp) {
			purge_completions(qp);
			c.qps.set(JettyId{qp.qpn}, nullptr);
		}
	}
	// Who found it in the table before held one of its CQs.
	for (Cq *cq : {qp.send_cq, qp.recv_cq}) {
		cq->queue.lock().lock();
		cq->queue.lock().unlock();
	}
	unmake(qp);
}

void uboe_core_qp_modified(ibv_qp *ibqp, const ibv_qp_attr *attr, int mask)
{
	Qp &qp = qp_of(ibqp);

	if (mask & IBV_QP_DEST_QPN) {
		Hold hold(qp.sq.lock());
		qp.sq.set_remote(attr->dest_qp_num);
	}
	if (!(mask & IBV_QP_STATE))
		return;
	if (attr->qp_state == IBV_QPS_RESET) {
		purge_completions(qp);
		Hold sq_hold(qp.sq.lock());
		qp.sq.reset();
		if (qp.own_rq) {
			Hold rq_hold(qp.own_rq->lock());
			qp.own_rq->reset();
		}
	}
	qp.state.store(attr->qp_state, std::memory_order_release);
}

void uboe_core_qp_error(ibv_qp *ibqp)
{
	qp_of(ibqp).state.store(IBV_QPS_ERR, std::memory_order_release);
}

void uboe_core_qp_cap(ibv_qp *ibqp, ibv_qp_cap *cap)
{
	*cap = qp_of(ibqp).cap;
}

ibv_srq *uboe_core_srq_alloc(uboe_core_ctx *ctx, ibv_srq_attr *attr, uboe_create_srq_req *req)
{
	Context &c = ctx_of(ctx);
	RecvGeometry g;
	RecvMemory memory;

	if (int err = recv_geometry(attr->max_wr, attr->max_sge, g))
		return set_errno<ibv_srq>(err);
	if (!memory.take(c.arenas, g))
		return nullptr;
	Srq *srq = make<Srq>(c, std::move(memory), g);
	if (!srq)
		return nullptr;
	if (!srq->queue.valid()) {
		unmake(*srq);
		return set_errno<ibv_srq>(ENOMEM);
	}
	*req = {};
	srq->memory.describe(g, req->rq);
	ibv_srq *ibsrq = static_cast<ibv_srq *>(verbs_of(*srq));
	uboe_core_srq_cap(ibsrq, attr);
	return ibsrq;
}

void uboe_core_srq_free(ibv_srq *srq)
{
	unmake(srq_of(srq));
}

void uboe_core_srq_cap(ibv_srq *srq, ibv_srq_attr *attr)
{
	const RecvGeometry &g = srq_of(srq).queue.geometry();

	attr->max_wr = g.depth;
	attr->max_sge = g.sges();
}
