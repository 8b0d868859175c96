// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Everything that a program can write is hostile: send and receive rings, index
 * rings, records, doorbells. A peer answers properly.
 */
#include "fuzz.hpp"

using namespace fuzz;

namespace
{
struct shared {
	std::uint8_t *sq;
	std::uint8_t *page;
	std::uint8_t *slots;
	std::uint8_t *index;
	std::uint8_t *jfr_rec;
	std::uint8_t *jfc_rec;
	std::uint32_t pi = 0;
};

shared map(rig::end &e)
{
	ubp_jetty *j = ubp_jetty_find(e.h.dev(), e.id);

	return { const_cast<std::uint8_t *>(j->sq),
		 j->page,
		 reinterpret_cast<std::uint8_t *>(const_cast<uboe_sge *>(j->jfr->ring)),
		 reinterpret_cast<std::uint8_t *>(const_cast<__le32 *>(j->jfr->idx)),
		 reinterpret_cast<std::uint8_t *>(j->jfr->rec),
		 reinterpret_cast<std::uint8_t *>(j->tx_jfc->rec) };
}

void put32(std::uint8_t *p, std::uint32_t v)
{
	std::memcpy(p, &v, 4);
}

/* An SQE that is nearly right: the input says where it is not */
void element(shared &s, rig::end &e, rig::end &peer, input &in)
{
	alignas(8) std::uint8_t raw[4 * UBOE_BB] = {};
	auto *q = reinterpret_cast<uboe_sqe *>(raw);
	std::uint8_t op = in.u8(), shape = in.u8();
	unsigned n = shape & 15, ctrl = op == UBOE_SQE_WRITE_IMM ? 64 : 48;

	q->w0 = std::uint32_t(in.u8()) << 16 | UBOE_SQE_TOKEN_EN | UBOE_SQE_CQE;
	q->w1 = op << 8 | std::uint32_t(in.u8() | (shape & 0x30) << 4) << 22;
	q->w2 = n << 24;
	q->w3 = rig::seg_id;
	q->rmt_token = rig::seg_token;
	q->addr = peer.m.va() + in.u16();
	for (unsigned i = 0; i < n && ctrl + i * 16 + 16 <= sizeof(raw); i++) {
		std::uint32_t len = in.u8() & 7 ? in.u16() & 0xfff : 8;
		uboe_sge g{ len, rig::key, e.m.va() + in.u16() };

		std::memcpy(raw + ctrl + i * 16, &g, sizeof(g));
	}
	if (shape & 0x40) /* anything may be wrong */
		raw[in.u8()] ^= in.u8();
	for (unsigned i = 0; i < 4; i++)
		std::memcpy(s.sq + ((s.pi + i) & 63) * UBOE_BB, raw + i * UBOE_BB, UBOE_BB);
	s.pi += 1 + (shape >> 6);
	put32(s.page + UBOE_JPAGE_DB, s.pi);
}

/* A raw queue of the same program */
struct raw_queue {
	static constexpr std::uint32_t id = 0x303;

	rig::end &e;
	ubsim::dma sq = e.h.alloc_dma(16 * UBOE_BB);
	ubsim::dma page = e.h.alloc_dma(UBOE_JPAGE_SOFT_STRIDE);
	std::uint32_t pi = 0;

	raw_queue(rig::end &end, std::uint8_t right) : e(end)
	{
		uboe_jetty_ctx c{};

		c.type = UBOE_JETTY_RAW;
		c.state = UBOE_JS_INIT;
		c.sq_shift = 4;
		c.flags = UBOE_JETTY_SEND_ONLY | UBOE_JETTY_NATIVE;
		c.pd = rig::pd;
		c.sq_base = sq.bus;
		c.page = page.bus;
		c.tx_jfcn = 1;
		c.mtu = 1024;
		c.raw = right;
		std::memcpy(c.eid, e.self.b.data(), 16);
		must(!e.h.create(UBOE_MBOX_JETTY, id, c), "a raw queue cannot be made");
		c.state = UBOE_JS_READY;
		must(!e.h.modify(UBOE_MBOX_JETTY, id, c, UBOE_JM_STATE), "nor started");
	}
	~raw_queue()
	{
		e.h.kick(id);
		e.h.destroy(UBOE_MBOX_JETTY, id);
		e.h.reap();
		e.h.free_dma(sq);
		e.h.free_dma(page);
	}

	/* Nearly right, as above; up to six blocks. The peer gets what it makes of it */
	void element(rig::end &peer, input &in)
	{
		std::uint8_t raw[6 * UBOE_BB] = {};
		auto *q = reinterpret_cast<uboe_sqe_raw *>(raw);
		std::uint8_t shape = in.u8(), how = in.u8();
		unsigned n = shape & 31;

		q->w0 = UBOE_SQE_CQE;
		q->w1 = UBOE_SQE_RAW << 8;
		q->w2 = n << 24;
		q->w3 = how & 1 ? UB_UDP_PORT : in.u16();
		std::memcpy(q->rmt_eid, peer.self.b.data(), 16);
		for (unsigned i = 0; i < n && 32 + i * 16 + 16 <= sizeof(raw); i++) {
			uboe_sge g{ how & 2 ? in.u8() * 4u : in.u16() & 0x1fffu, rig::key,
				    e.m.va() + in.u8() * 16u };

			std::memcpy(raw + 32 + i * 16, &g, sizeof(g));
		}
		if (how & 4)
			raw[in.u16() % sizeof(raw)] ^= in.u8();
		for (unsigned i = 0; i < 6; i++)
			std::memcpy(sq.p + ((pi + i) & 15) * UBOE_BB, raw + i * UBOE_BB, UBOE_BB);
		pi += how & 8 ? shape >> 5 : (32 + n * 16 + 63) / 64;
		put32(page.p + UBOE_JPAGE_DB, pi);
		e.h.kick(id);
	}
};

void step(shared &s, rig::end &e, rig::end &peer, rig::pair &w, raw_queue *raw, bool buffers,
	  input &in)
{
	switch (in.u8() & 15) {
	case 0:
		if (raw)
			raw->element(peer, in);
		else
			element(s, e, peer, in);
		break;
	case 1:
	case 2: element(s, e, peer, in); break;
	case 3: { /* raw bytes into the send ring */
		unsigned at = in.u16() & 4095;
		rig::bytes b = in.bytes(in.u8());

		for (std::uint8_t v : b)
			s.sq[at++ & 4095] = v;
		break;
	}
	case 4: /* a producer index from anywhere */
		s.pi = in.u8() & 1 ? in.u32() : s.pi + in.u8();
		put32(s.page + UBOE_JPAGE_DB, s.pi);
		break;
	case 5: { /* receive slots */
		unsigned at = in.u16() & 2047;
		rig::bytes b = in.bytes(in.u8() & 63);

		for (std::uint8_t v : b)
			s.slots[at++ & 2047] = v;
		break;
	}
	case 6: /* slot numbers */
		put32(s.index + (in.u8() & 63) * 4, in.u8() & 3 ? in.u8() & 127 : in.u32());
		break;
	case 7: put32(s.jfr_rec, in.u8() & 3 ? in.u8() : in.u32()); break;
	case 8: /* consumer index and arm word */
		put32(s.jfc_rec + (in.u8() & 4), in.u8() & 3 ? in.u8() : in.u32());
		break;
	case 9: { /* a receive that works, for the peer's Sends */
		uboe_sge g{ buffers ? 1024u : 512u, rig::key, e.m.va() + (in.u16() & 0x1fff) };
		unsigned slot = in.u8() & 63;
		std::uint32_t pi;

		std::memcpy(s.slots + slot * 32, &g, sizeof(g));
		if (buffers)
			std::memcpy(s.slots + slot * 32 + 16, &g, sizeof(g));
		std::memcpy(&pi, s.jfr_rec, 4);
		put32(s.index + (pi & 63) * 4, slot);
		put32(s.jfr_rec, pi + 1);
		break;
	}
	case 10: /* the peer sends something that needs a receive */
		if (peer.q->room() > 8)
			peer.q->post({ .op = UBOE_SQE_SEND,
				       .sges = { peer.local(0, in.u8() * (buffers ? 33u : 4u)) } });
		break;
	case 11:
		if (peer.q->room() > 8)
			peer.q->post({ .op = UBOE_SQE_WRITE_IMM,
				       .sges = { peer.local(0, 64) },
				       .remote = e.m.va() + in.u8(),
				       .rkey = rig::key });
		break;
	case 12: /* a slice; somebody else may go on */
		ubp_drive_id(e.h.dev(), e.id);
		if (in.u8() & 1)
			ubp_leave_id(e.h.dev(), e.id);
		break;
	case 13: e.h.kick(e.id); break;
	case 14: w.run(1); break;
	default: { /* an error: everything is flushed */
		if (in.u8() & 7)
			break;
		e.q->to_state(UBOE_JS_ERROR);
		break;
	}
	}
}
} /* namespace */

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	input in(data, size);
	ubsim::jetty_options opt;
	std::uint8_t options = in.u8();

	opt.flags = options & 1 ? UBOE_JETTY_SIG_ALL : 0;
	opt.rnr_retry = options & 2 ? 0 : 7;
	const bool buffers = options & 32;
	rig::pair w(options & 4, config(), opt, 16384, {},
		    buffers ? std::uint8_t(UBOE_JFR_BUF_2K) : std::uint8_t(0));
	if (!w.connect())
		wrong("two ends do not connect");
	shared s = map(w.a);
	std::unique_ptr<raw_queue> raw;
	if (options & 8)
		raw = std::make_unique<raw_queue>(w.a, options & 16 ? UBOE_RAW_UB : 0);
	for (unsigned i = 0; i < 4; i++)
		w.b.r.post(std::array{ w.b.local(i * 1024, buffers ? 2048 : 1024) });
	for (unsigned n = 0; in.more() && n < 64; n++) {
		step(s, w.a, w.b, w, raw.get(), buffers, in);
		check(w.a);
		check(w.b);
	}
	ubp_leave_id(w.a.h.dev(), w.a.id);
	w.a.h.kick(w.a.id);
	w.run(5);
	raw.reset();
	check_gone(w.a);
	check_gone(w.b);
	return 0;
}
