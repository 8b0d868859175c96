// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What a CQE means to verbs.

#include "objects.hpp"

namespace uboe {

namespace {

constexpr ibv_wc_opcode sent_opcode[verbs_op_count] = {
	IBV_WC_SEND,	   IBV_WC_SEND,	     IBV_WC_SEND,      IBV_WC_RDMA_WRITE,
	IBV_WC_RDMA_WRITE, IBV_WC_RDMA_READ, IBV_WC_COMP_SWAP, IBV_WC_FETCH_ADD,
};

struct StatusRow {
	u8 status;
	u8 substatus; // any when 0xff
	ibv_wc_status wc;
};

constexpr StatusRow status_rows[] = {
	{UBOE_CQE_OK, 0xff, IBV_WC_SUCCESS},
	{UBOE_CQE_UNSUPPORTED, 0xff, IBV_WC_LOC_QP_OP_ERR},
	{UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN, IBV_WC_LOC_LEN_ERR},
	{UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_ACCESS, IBV_WC_LOC_PROT_ERR},
	{UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_RSP_LEN, IBV_WC_BAD_RESP_ERR},
	{UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_POISON, IBV_WC_GENERAL_ERR},
	{UBOE_CQE_LOCAL, 0xff, IBV_WC_LOC_QP_OP_ERR},
	{UBOE_CQE_REMOTE, UBOE_CQE_REMOTE_UNSUPPORTED, IBV_WC_REM_INV_REQ_ERR},
	{UBOE_CQE_REMOTE, UBOE_CQE_REMOTE_ABORT, IBV_WC_REM_ACCESS_ERR},
	{UBOE_CQE_REMOTE, 0xff, IBV_WC_REM_OP_ERR},
	{UBOE_CQE_RNR_EXC, 0xff, IBV_WC_RNR_RETRY_EXC_ERR},
	{UBOE_CQE_ACK_TIMEOUT, 0xff, IBV_WC_RETRY_EXC_ERR},
	{UBOE_CQE_FLUSH, 0xff, IBV_WC_WR_FLUSH_ERR},
};

ibv_wc_status wc_status(const Cqe &cqe)
{
	if (cqe.status() == UBOE_CQE_OK)
		return IBV_WC_SUCCESS;
	for (const StatusRow &row : status_rows)
		if (row.status == cqe.status() &&
		    (row.substatus == 0xff || row.substatus == cqe.substatus()))
			return row.wc;
	return IBV_WC_GENERAL_ERR;
}

bool decode_recv(Qp &qp, const Cqe &cqe, Completion &out)
{
	const auto wr_id = qp.rq().complete(Slot{cqe.entry()});

	if (!wr_id)
		return false;
	out.wr_id = *wr_id;
	out.opcode = IBV_WC_RECV;
	out.byte_len = cqe.bytes();
	switch (cqe.opcode()) {
	case UBOE_CQE_RX_WRITE_IMM:
		out.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
		[[fallthrough]];
	case UBOE_CQE_RX_SEND_IMM:
		// 64 bits on the wire, 32 in verbs: the upper half is dropped.
		out.imm = be32(cqe.imm_lo());
		out.wc_flags = IBV_WC_WITH_IMM;
		break;
	case UBOE_CQE_RX_SEND_INV:
		out.imm = (cqe.imm_lo() & 0xfffffu) << 12 | (cqe.imm_hi() & 0xfffu);
		out.wc_flags = IBV_WC_WITH_INV;
		break;
	default:
		break;
	}
	if (out.status != IBV_WC_SUCCESS)
		out.wc_flags = 0;
	return true;
}

bool decode_send(Qp &qp, const Cqe &cqe, Completion &out, bool &known)
{
	const auto sent = qp.sq.complete(cqe.entry());

	known = sent.has_value();
	if (!known)
		return false;
	out.wr_id = sent->wr_id;
	out.opcode = sent_opcode[static_cast<u32>(sent->op)];
	out.byte_len = sent->bytes;
	return out.status != IBV_WC_SUCCESS || (sent->flags & wr_signaled);
}

} // namespace

bool decode(Cq &cq, const Cqe &cqe, Completion &out)
{
	if (cqe.is_marker())
		return false;
	Qp *qp = cq.ctx.qps.find(cqe.local());
	bool known = false, report = false;

	if (qp && &cq == (cqe.is_recv() ? qp->recv_cq : qp->send_cq)) {
		out.status = wc_status(cqe);
		out.vendor_err = cqe.status() << 8 | cqe.substatus();
		out.qp_num = qp->qpn;
		out.src_qp = cqe.remote();
		out.imm = 0;
		out.wc_flags = 0;
		if (cqe.is_recv())
			report = known = decode_recv(*qp, cqe, out);
		else
			report = decode_send(*qp, cqe, out, known);
	}
	if (!known) {
		++cq.queue.skipped;
		cq.ctx.skipped.fetch_add(1, std::memory_order_relaxed);
	}
	return report;
}

namespace {

void purge_one(Cq &cq, Qp &qp)
{
	Hold hold(cq.queue.lock());

	cq.queue.purge([&](const Cqe &cqe) { return static_cast<u32>(cqe.local()) == qp.qpn; },
		       [&](const Cqe &cqe) {
			       if (cqe.is_recv() && !cqe.is_marker())
				       qp.rq().complete(Slot{cqe.entry()});
		       });
}

} // namespace

void purge_completions(Qp &qp)
{
	purge_one(*qp.send_cq, qp);
	if (qp.recv_cq != qp.send_cq)
		purge_one(*qp.recv_cq, qp);
}

} // namespace uboe
