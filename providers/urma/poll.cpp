// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Polling: completion queue elements become completion records.
#include <cstring>

#include <uboe/urma_ext.h>

#include "objects.hpp"

namespace uboe::urma {

namespace {

/// Status and sub-status of a CQE (docs/abi.md) as the API has them.
urma_cr_status_t status_of(const Cqe &c)
{
	switch (c.status()) {
	case UBOE_CQE_OK:
		return URMA_CR_SUCCESS;
	case UBOE_CQE_UNSUPPORTED:
		return URMA_CR_UNSUPPORTED_OPCODE_ERR;
	case UBOE_CQE_LOCAL:
		switch (c.substatus()) {
		case UBOE_CQE_LOCAL_LEN:
			return URMA_CR_LOC_LEN_ERR;
		case UBOE_CQE_LOCAL_ACCESS:
			return URMA_CR_LOC_ACCESS_ERR;
		case UBOE_CQE_LOCAL_RSP_LEN:
			return URMA_CR_REM_RESP_LEN_ERR;
		case UBOE_CQE_LOCAL_POISON:
			return URMA_CR_LOC_DATA_POISON;
		default:
			return URMA_CR_LOC_OPERATION_ERR;
		}
	case UBOE_CQE_REMOTE:
		switch (c.substatus()) {
		case UBOE_CQE_REMOTE_UNSUPPORTED:
			return URMA_CR_REM_UNSUPPORTED_REQ_ERR;
		case UBOE_CQE_REMOTE_ABORT:
			return URMA_CR_REM_ACCESS_ABORT_ERR;
		case UBOE_CQE_REMOTE_POISON:
			return URMA_CR_REM_DATA_POISON;
		default:
			return URMA_CR_REM_OPERATION_ERR;
		}
	case UBOE_CQE_RNR_EXC:
		return URMA_CR_RNR_RETRY_CNT_EXC_ERR;
	case UBOE_CQE_ACK_TIMEOUT:
		return URMA_CR_ACK_TIMEOUT_ERR;
	default:
		return URMA_CR_WR_FLUSH_ERR;
	}
}

urma_cr_opcode_t opcode_of(const Cqe &c)
{
	switch (c.opcode()) {
	case UBOE_CQE_RX_SEND_IMM:
		return URMA_CR_OPC_SEND_WITH_IMM;
	case UBOE_CQE_RX_SEND_INV:
		return URMA_CR_OPC_SEND_WITH_INV;
	case UBOE_CQE_RX_WRITE_IMM:
		return URMA_CR_OPC_WRITE_WITH_IMM;
	default:
		return URMA_CR_OPC_SEND;
	}
}

/// Puts data that came in the completion where the receive wants them. False: a
/// segment has gone since.
bool scatter(const Context &context, std::span<const uboe_sge> to, std::span<const std::byte> data)
{
	for (const uboe_sge &e : to) {
		const std::size_t n = std::min<std::size_t>(data.size(), le(e.len));

		if (!n)
			continue;
		const Segment *s = context.segments.find(JettyId{le(e.token) >> 12});
		const u64 off = s ? le(e.va) - s->va : 0;

		if (!s || off > s->length || n > s->length - off)
			return false;
		std::memcpy(s->memory + off, data.data(), n);
		data = data.subspan(n);
	}
	return data.empty();
}

bool decode_receive(Jfr &jfr, const Cqe &c, urma_cr_t &cr)
{
	const auto data = c.inline_data();

	if (!data.empty() && !scatter(jfr.context, jfr.queue.elements(Slot{c.entry()}), data))
		cr.status = URMA_CR_LOC_ACCESS_ERR;
	const auto user_ctx = jfr.queue.complete(Slot{c.entry()});

	if (!user_ctx)
		return false;
	cr.user_ctx = *user_ctx;
	cr.flag.bs.s_r = 1;
	if (c.more())
		cr.flag.value |= UBOE_CR_MORE;
	cr.completion_len = c.bytes();
	cr.opcode = opcode_of(c);
	cr.remote_id.id = c.remote();
	std::memcpy(cr.remote_id.eid.raw, c.raw->rmt_eid, sizeof(cr.remote_id.eid.raw));
	cr.tpn = le(c.raw->tpn);
	if (cr.opcode == URMA_CR_OPC_SEND_WITH_INV)
		cr.invalid_token = {c.imm_lo() << token_id_shift, {c.imm_hi()}};
	else if (cr.opcode != URMA_CR_OPC_SEND)
		cr.imm_data = u64{c.imm_hi()} << 32 | c.imm_lo();
	return true;
}

bool decode_send(Sender &s, const Cqe &c, urma_cr_t &cr)
{
	if (c.is_marker()) {
		cr.status = URMA_CR_WR_FLUSH_ERR_DONE;
		cr.flag.bs.flush_err_done = 1;
		return true;
	}
	const auto sent = s.queue.complete(c.entry());

	if (!sent)
		return false;
	/* RM: the device completes all, the program wants to hear of some */
	if (cr.status == URMA_CR_SUCCESS && !(sent->flags & wr_signaled))
		return false;
	cr.user_ctx = sent->wr_id;
	cr.completion_len = sent->bytes;
	return true;
}

/// False: it belongs to nothing that is known; it is left out and counted.
bool decode(const Context &context, const Cqe &c, urma_cr_t &cr)
{
	cr = {};
	cr.status = status_of(c);
	cr.local_id = static_cast<u32>(c.local());
	if (c.is_recv() && !c.is_jetty()) {
		Jfr *jfr = context.targets.find(c.local());

		cr.user_data = reinterpret_cast<uintptr_t>(static_cast<urma_jfr_t *>(jfr));
		return jfr && decode_receive(*jfr, c, cr);
	}
	Sender *s = context.senders.find(c.local());

	if (!s || c.is_jetty() != (s->jfr != nullptr))
		return false;
	cr.flag.bs.jetty = c.is_jetty();
	cr.user_data = reinterpret_cast<uintptr_t>(s->handle);
	return c.is_recv() ? decode_receive(*s->jfr, c, cr) : decode_send(*s, c, cr);
}

int take(Jfc &q, int max, urma_cr_t *cr)
{
	Hold hold(q.queue.lock());
	int n = 0;

	while (n < max) {
		const auto cqe = q.queue.peek();

		if (!cqe)
			break;
		if (decode(q.context, *cqe, cr[n]))
			++n;
		else
			++q.queue.skipped;
		q.queue.next();
	}
	q.queue.commit();
	return n;
}

} // namespace

} // namespace uboe::urma

using namespace uboe::urma;

int urma_poll_jfc(urma_jfc_t *jfc, int cr_cnt, urma_cr_t *cr)
{
	Jfc *q = Handles<Jfc>::check(jfc);

	if (!q || cr_cnt <= 0 || !cr) {
		URMA_FAILED(EINVAL, "%s", q ? "cr_cnt or cr" : "jfc: not a JFC");
		return -1;
	}
	const int n = take(*q, cr_cnt, cr);

	if (n)
		return n;
	q->context.backend->progress();
	if (q->context.lost) {
		errno = ENODEV; // said once, by an event; programs poll again and again
		return -1;
	}
	return take(*q, cr_cnt, cr);
}
