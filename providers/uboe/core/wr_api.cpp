// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Posting by ibv_wr_*: start locks the send queue, each operation notes a
// request, the data call that follows composes it, complete publishes. An error
// drops everything since start.

#include "objects.hpp"

using namespace uboe;

namespace {

void fail(Qp &qp, int err)
{
	if (!qp.batch_error)
		qp.batch_error = err;
}

// Composes the request whose data was given.
template <class Append> void finish(Qp &qp, Append append)
{
	if (!qp.has_pending) {
		fail(qp, EINVAL);
		return;
	}
	qp.has_pending = false;
	if (qp.batch_error)
		return;
	if (int err = append(qp.pending))
		fail(qp, err);
}

// An operation without a data call carries no data.
void flush_pending(Qp &qp)
{
	if (qp.has_pending)
		finish(qp, [&](const WorkRequest &wr) {
			return qp.sq.append(wr, std::span<const ibv_sge>());
		});
}

WorkRequest &begin_op(ibv_qp_ex *ex, Op op)
{
	constexpr unsigned known = IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED |
				   IBV_SEND_INLINE;
	Qp &qp = qp_of(ex);

	flush_pending(qp);
	if (ex->wr_flags & ~known)
		fail(qp, EINVAL);
	qp.pending = WorkRequest{};
	qp.pending.op = op;
	qp.pending.wr_id = ex->wr_id;
	qp.pending.flags = static_cast<u8>((ex->wr_flags & IBV_SEND_SIGNALED ? wr_signaled : 0) |
					   (ex->wr_flags & IBV_SEND_FENCE ? wr_fence : 0) |
					   (ex->wr_flags & IBV_SEND_SOLICITED ? wr_solicited : 0));
	qp.has_pending = true;
	return qp.pending;
}

WorkRequest &begin_remote(ibv_qp_ex *ex, Op op, uint32_t rkey, uint64_t addr)
{
	WorkRequest &wr = begin_op(ex, op);

	wr.key = RemoteKey::of_rkey(rkey);
	wr.remote_addr = addr;
	return wr;
}

void wr_send(ibv_qp_ex *ex)
{
	begin_op(ex, Op::send);
}

void wr_send_imm(ibv_qp_ex *ex, __be32 imm)
{
	begin_op(ex, Op::send_imm).imm = be32(imm);
}

void wr_send_inv(ibv_qp_ex *ex, uint32_t rkey)
{
	begin_op(ex, Op::send_inv).key = RemoteKey::of_rkey(rkey);
}

void wr_rdma_write(ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	begin_remote(ex, Op::write, rkey, addr);
}

void wr_rdma_write_imm(ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, __be32 imm)
{
	begin_remote(ex, Op::write_imm, rkey, addr).imm = be32(imm);
}

void wr_rdma_read(ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	begin_remote(ex, Op::read, rkey, addr);
}

void wr_atomic_cmp_swp(ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap)
{
	WorkRequest &wr = begin_remote(ex, Op::cas, rkey, addr);

	wr.operand[0] = swap;
	wr.operand[1] = compare;
}

void wr_atomic_fetch_add(ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t add)
{
	begin_remote(ex, Op::faa, rkey, addr).operand[0] = add;
}

void wr_set_sge_list(ibv_qp_ex *ex, size_t n, const ibv_sge *list)
{
	Qp &qp = qp_of(ex);

	finish(qp, [&](const WorkRequest &wr) {
		return qp.sq.append(wr, std::span<const ibv_sge>(list, n));
	});
}

void wr_set_sge(ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const ibv_sge sge = {addr, length, lkey};

	wr_set_sge_list(ex, 1, &sge);
}

void wr_set_inline_data_list(ibv_qp_ex *ex, size_t n, const ibv_data_buf *list)
{
	Qp &qp = qp_of(ex);

	finish(qp, [&](const WorkRequest &wr) {
		return qp.sq.append_inline(
			wr, std::span<const ibv_data_buf>(list, n),
			[](const ibv_data_buf &b) -> const void * { return b.addr; },
			[](const ibv_data_buf &b) { return b.length; });
	});
}

void wr_set_inline_data(ibv_qp_ex *ex, void *addr, size_t length)
{
	const ibv_data_buf buf = {addr, length};

	wr_set_inline_data_list(ex, 1, &buf);
}

void wr_start(ibv_qp_ex *ex)
{
	Qp &qp = qp_of(ex);

	qp.sq.lock().lock();
	qp.sq.begin();
	qp.has_pending = false;
	qp.batch_error = qp.state.load(std::memory_order_relaxed) < IBV_QPS_RTS ? EINVAL : 0;
}

int wr_complete(ibv_qp_ex *ex)
{
	Qp &qp = qp_of(ex);
	bool kick = false;

	flush_pending(qp);
	const int err = qp.batch_error;
	if (err)
		qp.sq.rollback();
	else
		kick = qp.sq.publish();
	qp.sq.lock().unlock();
	if (kick)
		qp.kick();
	return err;
}

void wr_abort(ibv_qp_ex *ex)
{
	Qp &qp = qp_of(ex);

	qp.has_pending = false;
	qp.sq.rollback();
	qp.sq.lock().unlock();
}

} // namespace

void uboe_core_qp_set_ex(ibv_qp_ex *ex, uint64_t ops)
{
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	if (ops & IBV_QP_EX_WITH_SEND)
		ex->wr_send = wr_send;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = wr_send_imm;
	if (ops & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = wr_send_inv;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = wr_rdma_write;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = wr_rdma_write_imm;
	if (ops & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = wr_rdma_read;
	if (ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
}
