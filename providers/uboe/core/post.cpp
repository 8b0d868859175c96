// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Posting by lists of work requests.

#include "objects.hpp"

using namespace uboe;

namespace {

// Verbs opcode -> operation; the row says which fields of the request count.
struct WrRow {
	bool known;
	Op op;
};

constexpr WrRow wr_rows[] = {
	/* IBV_WR_RDMA_WRITE */ {true, Op::write},
	/* IBV_WR_RDMA_WRITE_WITH_IMM */ {true, Op::write_imm},
	/* IBV_WR_SEND */ {true, Op::send},
	/* IBV_WR_SEND_WITH_IMM */ {true, Op::send_imm},
	/* IBV_WR_RDMA_READ */ {true, Op::read},
	/* IBV_WR_ATOMIC_CMP_AND_SWP */ {true, Op::cas},
	/* IBV_WR_ATOMIC_FETCH_AND_ADD */ {true, Op::faa},
	/* IBV_WR_LOCAL_INV */ {},
	/* IBV_WR_BIND_MW */ {},
	/* IBV_WR_SEND_WITH_INV */ {true, Op::send_inv},
};
static_assert(IBV_WR_RDMA_WRITE == 0 && IBV_WR_SEND == 2 && IBV_WR_SEND_WITH_INV == 9);

constexpr unsigned known_flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED |
				 IBV_SEND_INLINE;

int translate(const ibv_send_wr &from, WorkRequest &to)
{
	u32 opcode; // as a number: the caller may give any

	static_assert(sizeof(opcode) == sizeof(from.opcode));
	std::memcpy(&opcode, &from.opcode, sizeof(opcode));
	if (opcode >= std::size(wr_rows) || !wr_rows[opcode].known)
		return EOPNOTSUPP;
	if (from.send_flags & ~known_flags || from.num_sge < 0)
		return EINVAL;
	to.op = wr_rows[opcode].op;
	to.flags = static_cast<u8>((from.send_flags & IBV_SEND_SIGNALED ? wr_signaled : 0) |
				   (from.send_flags & IBV_SEND_FENCE ? wr_fence : 0) |
				   (from.send_flags & IBV_SEND_SOLICITED ? wr_solicited : 0));
	to.wr_id = from.wr_id;
	switch (to.op) {
	case Op::send:
		break;
	case Op::send_imm:
		to.imm = be32(from.imm_data);
		break;
	case Op::send_inv:
		to.key = RemoteKey::of_rkey(from.invalidate_rkey);
		break;
	case Op::write_imm:
		to.imm = be32(from.imm_data);
		[[fallthrough]];
	case Op::write:
	case Op::read:
		to.remote_addr = from.wr.rdma.remote_addr;
		to.key = RemoteKey::of_rkey(from.wr.rdma.rkey);
		break;
	case Op::cas:
		to.remote_addr = from.wr.atomic.remote_addr;
		to.key = RemoteKey::of_rkey(from.wr.atomic.rkey);
		to.operand[0] = from.wr.atomic.swap;
		to.operand[1] = from.wr.atomic.compare_add;
		break;
	case Op::faa:
		to.remote_addr = from.wr.atomic.remote_addr;
		to.key = RemoteKey::of_rkey(from.wr.atomic.rkey);
		to.operand[0] = from.wr.atomic.compare_add;
		break;
	default:
		return EOPNOTSUPP;
	}
	return 0;
}

int append(SendQueue &sq, const ibv_send_wr &wr)
{
	const std::span<const ibv_sge> sges(wr.sg_list, static_cast<std::size_t>(wr.num_sge));
	WorkRequest request;

	if (int err = translate(wr, request))
		return err;
	if (!(wr.send_flags & IBV_SEND_INLINE))
		return sq.append(request, sges);
	return sq.append_inline(
		request, sges,
		[](const ibv_sge &s) { return reinterpret_cast<const void *>(s.addr); },
		[](const ibv_sge &s) { return s.length; });
}

int post_recvs(RecvQueue &rq, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
	int err = 0;

	Hold hold(rq.lock());
	for (; wr; wr = wr->next) {
		err = wr->num_sge < 0 ?
			      EINVAL :
			      rq.append(wr->wr_id, std::span<const ibv_sge>(
							   wr->sg_list,
							   static_cast<std::size_t>(wr->num_sge)));
		if (err) {
			*bad = wr;
			break;
		}
	}
	rq.publish();
	return err;
}

} // namespace

int uboe_post_send(ibv_qp *ibqp, ibv_send_wr *wr, ibv_send_wr **bad)
{
	Qp &qp = qp_of(ibqp);
	int err = 0;
	bool kick;

	{
		Hold hold(qp.sq.lock());
		const ibv_qp_state state = qp.state.load(std::memory_order_relaxed);

		if (state < IBV_QPS_RTS) {
			*bad = wr;
			return EINVAL;
		}
		qp.sq.begin();
		for (; wr; wr = wr->next) {
			err = append(qp.sq, *wr);
			if (err) {
				*bad = wr;
				break;
			}
		}
		kick = qp.sq.publish();
	}
	if (kick)
		qp.kick();
	return err;
}

int uboe_post_recv(ibv_qp *ibqp, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
	Qp &qp = qp_of(ibqp);

	if (qp.srq || qp.state.load(std::memory_order_relaxed) == IBV_QPS_RESET) {
		*bad = wr;
		return EINVAL;
	}
	const int err = post_recvs(*qp.own_rq, wr, bad);

	// A queue in error takes receives only to flush them, and sleeps otherwise.
	full_fence();
	if (qp.sq.need_kick(UBOE_JPAGE_RQ_KICK))
		qp.kick();
	return err;
}

int uboe_post_srq_recv(ibv_srq *ibsrq, ibv_recv_wr *wr, ibv_recv_wr **bad)
{
	return post_recvs(srq_of(ibsrq).queue, wr, bad);
}
