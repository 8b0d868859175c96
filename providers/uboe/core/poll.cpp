// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Polling: ibv_poll_cq and the extended CQ's start, next and end; arming.

#include "objects.hpp"

using namespace uboe;

namespace {

void to_wc(const Completion &c, ibv_wc &wc)
{
	wc.wr_id = c.wr_id;
	wc.status = c.status;
	wc.opcode = c.opcode;
	wc.vendor_err = c.vendor_err;
	wc.byte_len = c.byte_len;
	wc.imm_data = c.imm; // or invalidated_rkey: a union
	wc.qp_num = c.qp_num;
	wc.src_qp = c.src_qp;
	wc.wc_flags = c.wc_flags;
	wc.pkey_index = 0;
	wc.slid = 0;
	wc.sl = 0;
	wc.dlid_path_bits = 0;
}

// The next completion worth reporting; what is not is dropped on the way.
bool fetch(Cq &cq, Completion &out)
{
	while (const auto cqe = cq.queue.peek()) {
		const bool report = decode(cq, *cqe, out);

		cq.queue.next();
		if (report)
			return true;
	}
	return false;
}

int fetch_current(ibv_cq_ex *ex)
{
	Cq &cq = cq_of(ex);

	if (!fetch(cq, cq.current))
		return ENOENT;
	ex->wr_id = cq.current.wr_id;
	ex->status = cq.current.status;
	return 0;
}

int start_poll(ibv_cq_ex *ex, ibv_poll_cq_attr *attr)
{
	CompQueue &queue = cq_of(ex).queue;

	if (attr && attr->comp_mask)
		return EINVAL;
	queue.lock().lock();
	const int err = fetch_current(ex);
	if (err) { // no end_poll() follows
		queue.commit();
		queue.lock().unlock();
	}
	return err;
}

int next_poll(ibv_cq_ex *ex)
{
	return fetch_current(ex);
}

void end_poll(ibv_cq_ex *ex)
{
	CompQueue &queue = cq_of(ex).queue;

	queue.commit();
	queue.lock().unlock();
}

ibv_wc_opcode read_opcode(ibv_cq_ex *ex)
{
	return cq_of(ex).current.opcode;
}

uint32_t read_vendor_err(ibv_cq_ex *ex)
{
	return cq_of(ex).current.vendor_err;
}

uint32_t read_byte_len(ibv_cq_ex *ex)
{
	return cq_of(ex).current.byte_len;
}

__be32 read_imm_data(ibv_cq_ex *ex)
{
	return cq_of(ex).current.imm;
}

uint32_t read_qp_num(ibv_cq_ex *ex)
{
	return cq_of(ex).current.qp_num;
}

uint32_t read_src_qp(ibv_cq_ex *ex)
{
	return cq_of(ex).current.src_qp;
}

unsigned int read_wc_flags(ibv_cq_ex *ex)
{
	return cq_of(ex).current.wc_flags;
}

uint32_t read_slid(ibv_cq_ex *)
{
	return 0;
}

uint8_t read_sl(ibv_cq_ex *)
{
	return 0;
}

uint8_t read_dlid_path_bits(ibv_cq_ex *)
{
	return 0;
}

} // namespace

int uboe_poll_cq(ibv_cq *ibcq, int n, ibv_wc *wc)
{
	Cq &cq = cq_of(ibcq);
	Completion c;
	int done = 0;

	Hold hold(cq.queue.lock());
	while (done < n && fetch(cq, c))
		to_wc(c, wc[done++]);
	cq.queue.commit();
	return done;
}

int uboe_req_notify_cq(ibv_cq *ibcq, int solicited_only)
{
	cq_of(ibcq).queue.arm(solicited_only ? UBOE_ARM_SOLICITED : UBOE_ARM_NEXT);
	return 0;
}

void uboe_core_cq_event(ibv_cq *ibcq)
{
	cq_of(ibcq).queue.fired();
}

void uboe_core_cq_set_ex(ibv_cq_ex *ex)
{
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_byte_len = read_byte_len;
	ex->read_imm_data = read_imm_data;
	ex->read_qp_num = read_qp_num;
	ex->read_src_qp = read_src_qp;
	ex->read_wc_flags = read_wc_flags;
	ex->read_slid = read_slid;
	ex->read_sl = read_sl;
	ex->read_dlid_path_bits = read_dlid_path_bits;
}
