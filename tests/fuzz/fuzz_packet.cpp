// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Hostile packets to a device with an open channel that has work in progress.
 *
 * Input: one byte of options (among them: a partition of their own, identity headers
 * that are right where there are some), then packets: a byte of what to put right (so that
 * the checks of deeper layers are reached), a length, and that many bytes.
 */
#include "fuzz.hpp"

using namespace fuzz;

namespace
{
enum fix : std::uint8_t {
	OUTER = 0x01, /* the bytes begin with the TPH: put IP, UDP and ICRC around them */
	TPN = 0x02, /* with OUTER: of the channel */
	PSN = 0x04, /* relative to what is expected */
	TA = 0x08, /* TASSN and TPMSN of the next request */
	TO_A = 0x10, /* to the end that has sent requests */
	SEAL = 0x20, /* without OUTER: make the ICRC right */
	TICK = 0x40, /* let time pass afterwards */
	CARRY = 0x80, /* and the answers through */
};

rig::bytes enclose(rig::bytes body, rig::end &to, rig::end &from, std::uint8_t what, bool ident)
{
	ubp_tp *tp = to.tp();

	body.resize(std::max<std::size_t>((body.size() + 3) & ~3ull, UB_TPH_LEN));
	if (what & TPN) {
		ubp_put_be24(from.tp()->tpn, &body[2]);
		ubp_put_be24(tp->tpn, &body[5]);
	}
	if (what & PSN) {
		std::uint8_t op = body[0] & UB_TPH_OPCODE;
		std::uint32_t base = op == UB_TP_RTP_DATA ? tp->rcv_nxt : tp->snd_una - 1;

		ubp_put_be24(base + (body[11] & 0x83), &body[9]);
	}
	if (what & TA && body.size() >= UB_TPH_LEN + UB_BTAH_LEN) {
		ubp_put_be24(tp->rsp.exec_msn + (body[15] & 1), &body[13]);
		put_unaligned_be16(static_cast<u16>(tp->rsp.exp_ssn + (body[19] & 1)), &body[18]);
	}
	ubp_path path = from.tp()->path;
	if ((body[1] & UB_TPH_NLP) == UB_NLP_IDENT && ident &&
	    body.size() >= UB_TPH_LEN + UB_UPIH_LEN + UB_EIDH_LEN) {
		put_unaligned_be32(to.h.dev()->npi, &body[UB_TPH_LEN]);
		std::memcpy(&body[UB_TPH_LEN + UB_UPIH_LEN], path.laddr, 16);
		std::memcpy(&body[UB_TPH_LEN + UB_UPIH_LEN + 16], path.raddr, 16);
	}
	std::size_t h = ubp_encap_len(&path);
	rig::bytes p(h + body.size() + UB_ICRC_LEN);

	ubp_encap_fill(&path, body[0] & 3, p.data(), static_cast<u32>(p.size()));
	std::copy(body.begin(), body.end(), p.begin() + static_cast<std::ptrdiff_t>(h));
	rig::seal(p);
	return p;
}

void start_work(rig::pair &w)
{
	for (rig::end *e : { &w.a, &w.b }) {
		rig::end &o = e == &w.a ? w.b : w.a;

		for (unsigned i = 0; i < 4; i++)
			e->r.post(std::array{ e->local(8192 + i * 512, 256), e->local(0, 256) });
		e->q->post({ .op = UBOE_SQE_WRITE,
			     .sges = { e->local(0, 3000) },
			     .remote = o.m.va() + 100,
			     .rkey = rig::key });
		e->q->post({ .op = UBOE_SQE_READ,
			     .sges = { e->local(4096, 3000) },
			     .remote = o.m.va(),
			     .rkey = rig::key });
		e->q->post({ .op = UBOE_SQE_CAS,
			     .sges = { e->local(0, 8) },
			     .remote = o.m.va(),
			     .rkey = rig::key });
		e->q->post({ .op = UBOE_SQE_SEND_IMM, .sges = { e->local(0, 300) } });
	}
}

void drain(rig::end &e)
{
	while (e.tx.poll())
		;
	while (auto c = e.rx.poll())
		e.r.done(c->w1 & UBOE_CQE_ENTRY);
}
} /* namespace */

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	input in(data, size);
	std::uint8_t options = in.u8();
	ubp_config cfg = config();

	if (options & 0x10)
		cfg.npi = 0xabcdef; /* identity headers in all that the ends send */
	rig::pair w(options & 1, cfg, {}, 16384);

	if (options & 2)
		w.b.h.forced = { 7, 0xfffffe };
	if (!w.connect())
		wrong("two ends do not connect");
	if (options & 4)
		start_work(w);
	if (options & 8)
		w.run(2);
	for (unsigned n = 0; in.more() && n < 32; n++) {
		std::uint8_t what = in.u8();
		rig::bytes p = in.bytes(in.u8() | (in.u8() & 7) << 8);
		rig::end &to = what & TO_A ? w.a : w.b, &from = what & TO_A ? w.b : w.a;

		if (what & OUTER)
			p = enclose(std::move(p), to, from, what, options & 0x20);
		else if (what & SEAL && p.size() > 52)
			rig::seal(p);
		to.h.receive(std::move(p));
		check(w.a);
		check(w.b);
		if (what & CARRY)
			w.run(1);
		else
			to.h.out().clear();
		if (what & TICK) {
			to.h.time += 30000000;
			to.h.run_timers();
		}
		drain(to);
	}
	check_gone(w.a);
	check_gone(w.b);
	return 0;
}
