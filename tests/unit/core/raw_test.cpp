// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Raw queues: limits of an element, what leaves, and what needs a right. */
#include <gtest/gtest.h>

#include "rig.hpp"

extern "C" {
#include "ubp_sqe.h"
}

using namespace rig;

namespace
{

class raw_host final : public ubsim::host
{
      public:
	using ubsim::host::host;

	bool tx_room(ubp_path &) override { return room; }
	std::uint32_t way_link(const ubp_path &) override { return link; }

	bool room = true;
	std::uint32_t link = 9000;
};

constexpr u32 blocks = 16;

struct raw_end {
	raw_host h;
	address self;
	ubsim::jfc tx{ h, 1, 6 };
	ubsim::memory m{ 0x10000, 1 << 16, 12 };
	ubsim::dma sq = h.alloc_dma(blocks * UBOE_BB);
	ubsim::dma page = h.alloc_dma(UBOE_JPAGE_SOFT_STRIDE);
	u32 pi = 0;
	static constexpr u32 id = 0x101;

	explicit raw_end(bool v6 = false, u8 right = 0) : self(addr(v6, 1))
	{
		uboe_jetty_ctx c = context();

		h.register_memory(seg_id, seg_token, pd, access_all, m);
		for (u32 i = 0; i < m.len(); i++)
			m.write(i, &(const u8 &)u8(i * 31 + i / 256), 1);
		c.raw = right;
		EXPECT_EQ(h.create(UBOE_MBOX_JETTY, id, c), 0);
		c.state = UBOE_JS_READY;
		EXPECT_EQ(h.modify(UBOE_MBOX_JETTY, id, c, UBOE_JM_STATE), 0);
	}
	~raw_end()
	{
		h.destroy(UBOE_MBOX_JETTY, id);
		h.destroy(UBOE_MBOX_SEG, seg_id);
		EXPECT_TRUE(m.canaries_ok());
		EXPECT_EQ(h.live_paths(), 0u);
		EXPECT_EQ(h.live_buffers(), 0u);
	}
	uboe_jetty_ctx context()
	{
		uboe_jetty_ctx c{};

		c.type = UBOE_JETTY_RAW;
		c.state = UBOE_JS_INIT;
		c.sq_shift = 4;
		c.flags = UBOE_JETTY_SEND_ONLY | UBOE_JETTY_NATIVE;
		c.pd = pd;
		c.sq_base = sq.bus;
		c.page = page.bus;
		c.tx_jfcn = 1;
		c.mtu = 1024;
		std::memcpy(c.eid, self.b.data(), 16);
		return c;
	}
	std::uint8_t state()
	{
		uboe_jetty_ctx c{};

		return h.query(UBOE_MBOX_JETTY, id, c) ? 0xff : c.state;
	}
	/* An element of @n pieces that have @len bytes together; its blocks */
	u32 put(u32 n, u32 len, u16 port, const address &to)
	{
		alignas(8) u8 raw[6 * UBOE_BB] = {};
		auto *q = reinterpret_cast<uboe_sqe_raw *>(raw);
		auto *g = reinterpret_cast<uboe_sge *>(raw + UBOE_SQE_CTRL_RAW);
		u32 at = 0;

		q->w0 = (pi & UBOE_SQE_IDX) | UBOE_SQE_CQE | (pi & blocks ? 0 : UBOE_SQE_OWNER);
		q->w1 = UBOE_SQE_RAW << 8;
		q->w2 = n << 24;
		q->w3 = port;
		std::memcpy(q->rmt_eid, to.b.data(), 16);
		for (u32 i = 0; i < n; i++) {
			const u32 part = i + 1 < n ? len / n : len - at;

			g[i] = { part, key, m.va() + at * 2 };
			at += part;
		}
		const u32 nbb = (UBOE_SQE_CTRL_RAW + n * UBOE_SGE_SIZE + UBOE_BB - 1) / UBOE_BB;

		for (u32 i = 0; i < nbb; i++)
			std::memcpy(sq.p + ((pi + i) % blocks) * UBOE_BB, raw + i * UBOE_BB,
				    UBOE_BB);
		return nbb;
	}
	u8 *word(u32 n) { return sq.p + (pi % blocks) * UBOE_BB + n * 4; }
	void ring(u32 n)
	{
		pi += n;
		std::memcpy(page.p + UBOE_JPAGE_DB, &pi, 4);
		h.kick(id);
	}
	void post(u32 n, u32 len, u16 port, const address &to) { ring(put(n, len, port, to)); }
	/* The bytes that put() names */
	bytes body(u32 n, u32 len)
	{
		bytes b;
		u32 at = 0;

		for (u32 i = 0; i < n; i++) {
			const u32 part = i + 1 < n ? len / n : len - at;

			for (u32 k = 0; k < part; k++)
				b.push_back(u8(m.load(at * 2 + k, 1)));
			at += part;
		}
		return b;
	}
	void expect(unsigned want, unsigned want_sub)
	{
		auto c = tx.poll();

		ASSERT_TRUE(c);
		EXPECT_EQ(status(*c), want);
		EXPECT_EQ(sub(*c), want_sub);
		EXPECT_TRUE(h.out().empty());
		EXPECT_EQ(state(), UBOE_JS_ERROR);
		c = tx.poll();
		ASSERT_TRUE(c);
		EXPECT_TRUE(c->w0 & UBOE_CQE_FLUSH_DONE);
		EXPECT_FALSE(tx.poll());
	}
};

class Raw : public testing::TestWithParam<bool>
{
      protected:
	const address to = addr(GetParam(), 9);
	const u32 ip = GetParam() ? UB_IPV6_LEN : UB_IPV4_LEN;
};

INSTANTIATE_TEST_SUITE_P(Family, Raw, testing::Bool(),
			 [](const auto &i) { return i.param ? "v6" : "v4"; });

TEST_P(Raw, FourKilobytesOfEighteenPieces)
{
	raw_end e(GetParam());

	for (u32 n = 1; n <= UBOE_MAX_SGE_RAW; n++) {
		e.post(n, 4096, 7777, to);
		ASSERT_EQ(e.h.out().size(), 1u) << n;
		const bytes p = e.h.out()[0].data;

		ASSERT_EQ(p.size(), ip + UB_UDP_LEN + 4096u);
		EXPECT_EQ(get_unaligned_be16(&p[ip]), 49152 + (e.id * 2654435761u >> 18));
		EXPECT_EQ(get_unaligned_be16(&p[ip + 2]), 7777);
		EXPECT_EQ(get_unaligned_be16(&p[ip + 4]), UB_UDP_LEN + 4096);
		EXPECT_EQ(bytes(p.begin() + ip + UB_UDP_LEN, p.end()), e.body(n, 4096));
		e.h.out().clear();
		auto c = e.tx.poll();

		ASSERT_TRUE(c);
		EXPECT_EQ(status(*c), UBOE_CQE_OK);
		EXPECT_EQ(c->byte_cnt, 4096u);
		EXPECT_EQ(c->w1 & UBOE_CQE_ENTRY, (e.pi - 1) & 0xffff);
	}
	EXPECT_EQ(e.h.stat(UBP_S_RAW_SENT), UBOE_MAX_SGE_RAW);
}

TEST_P(Raw, OneByteOnePieceAndOneBlockTooMany)
{
	raw_end a(GetParam()), b(GetParam());

	a.post(18, 4097, 7777, to);
	a.expect(UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
	EXPECT_EQ(b.put(19, 100, 7777, to), 6u);
	b.ring(1); /* the rest of it would be more elements */
	b.expect(UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
}

TEST_P(Raw, NothingIsADatagram)
{
	raw_end e(GetParam());

	e.post(0, 0, 7777, to);
	e.post(1, 0, 7777, to);
	ASSERT_EQ(e.h.out().size(), 2u);
	EXPECT_EQ(e.h.out()[0].data.size(), ip + UB_UDP_LEN);
	EXPECT_EQ(e.h.out()[1].data.size(), ip + UB_UDP_LEN);
}

TEST_P(Raw, TheWayLimitsIt)
{
	for (u32 more : { 0u, 1u }) {
		raw_end e(GetParam());

		e.h.link = ip + UB_UDP_LEN + 1472;
		e.post(3, 1472 + more, 7777, to);
		if (more) {
			e.expect(UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
			continue;
		}
		EXPECT_EQ(e.h.out().size(), 1u);
	}
	raw_end e(GetParam());

	e.h.link = ip + UB_UDP_LEN;
	e.post(0, 0, 7777, to);
	e.expect(UBOE_CQE_LOCAL, 0);
}

TEST_P(Raw, OurPortTakesTheRight)
{
	raw_end e(GetParam());
	moved m(e.h);

	e.post(1, 64, UB_UDP_PORT, to);
	e.expect(UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_ACCESS);
	EXPECT_EQ(m.by(UBP_S_RAW_REFUSED), 1u);
	EXPECT_EQ(m.by(UBP_S_TX_PACKETS), 0u);
}

TEST_P(Raw, APacketGetsItsIcrc)
{
	raw_end e(GetParam(), UBOE_RAW_UB);

	for (u32 len : { 16u, 64u, 4096u }) {
		e.post(2, len, UB_UDP_PORT, to);
		ASSERT_EQ(e.h.out().size(), 1u);
		bytes p = e.h.out()[0].data;

		ASSERT_EQ(p.size(), ip + UB_UDP_LEN + len + UB_ICRC_LEN);
		EXPECT_EQ(bytes(p.begin() + ip + UB_UDP_LEN, p.end() - UB_ICRC_LEN),
			  e.body(2, len));
		const bytes as_sent = p;

		seal(p);
		EXPECT_EQ(p, as_sent);
		e.h.out().clear();
		e.tx.poll();
	}
	EXPECT_EQ(e.h.stat(UBP_S_RAW_REFUSED), 0u);
}

TEST_P(Raw, APacketHasATphAndWholeWords)
{
	for (u32 len : { 0u, 12u, 15u, 17u, 63u, 4094u }) {
		raw_end e(GetParam(), UBOE_RAW_UB);

		e.post(1, len, UB_UDP_PORT, to);
		e.expect(UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
	}
	/* the ICRC has to fit, too */
	raw_end e(GetParam(), UBOE_RAW_UB);

	e.h.link = ip + UB_UDP_LEN + 64;
	e.post(1, 64, UB_UDP_PORT, to);
	e.expect(UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
}

TEST_P(Raw, WhatIsNotARawElement)
{
	for (u32 bit = 0; bit < 128; bit++) {
		/* all that means nothing has to be 0, and there is one opcode */
		static const u32 free[4] = { UBOE_SQE_IDX | UBOE_SQE_CQE | UBOE_SQE_OWNER, 0,
					     UBOE_SQE_SGE_NUM, UBOE_SQE_RAW_PORT };
		raw_end e(GetParam());

		if (free[bit / 32] >> bit % 32 & 1)
			continue;
		e.put(1, 64, 7777, to);
		e.word(bit / 32)[bit % 32 / 8] ^= 1 << bit % 8;
		e.ring(1);
		e.expect(UBOE_CQE_UNSUPPORTED, 0);
	}
	raw_end a(GetParam()), b(GetParam());

	a.post(1, 64, 0, to);
	a.expect(UBOE_CQE_UNSUPPORTED, 0);
	b.put(3, 64, 7777, to); /* two blocks, and one is there */
	b.ring(1);
	b.expect(UBOE_CQE_UNSUPPORTED, 0);
}

TEST_P(Raw, TargetsAndMemory)
{
	address group = address::v6(0, 1);

	group.b[0] = 0xff;
	const address nobody[] = { {}, addr(!GetParam(), 9), address::v4(224, 0, 0, 1), group };

	for (const address &x : nobody) {
		raw_end e(GetParam());

		e.post(1, 64, 7777, x);
		e.expect(UBOE_CQE_LOCAL, 0);
	}
	raw_end e(GetParam());

	e.put(2, 64, 7777, to);
	e.word(13)[0] ^= 1; /* key of the second piece */
	e.ring(1);
	e.expect(UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_ACCESS);
}

TEST_P(Raw, NoRoomKeepsIt)
{
	raw_end e(GetParam());

	e.h.room = false;
	e.post(18, 4096, 7777, to);
	EXPECT_TRUE(e.h.out().empty());
	EXPECT_FALSE(e.tx.poll());
	e.h.room = true;
	e.h.run_turns();
	EXPECT_EQ(e.h.out().size(), 1u);
	EXPECT_TRUE(e.tx.poll());
}

TEST_P(Raw, AnErrorFlushesWholeElements)
{
	raw_end e(GetParam());
	u32 ends[3];

	e.h.room = false;
	for (u32 i = 0; i < 3; i++) { /* 5, 5 and 2 blocks */
		e.post(i < 2 ? 18 : 4, 100, 7777, to);
		ends[i] = e.pi;
	}
	uboe_jetty_ctx c{};

	c.state = UBOE_JS_ERROR;
	ASSERT_EQ(e.h.modify(UBOE_MBOX_JETTY, e.id, c, UBOE_JM_STATE), 0);
	for (u32 end : ends) {
		auto q = e.tx.poll();

		ASSERT_TRUE(q);
		EXPECT_EQ(status(*q), UBOE_CQE_FLUSH);
		EXPECT_EQ(q->w1 & UBOE_CQE_ENTRY, end - 1);
	}
	auto q = e.tx.poll();

	ASSERT_TRUE(q);
	EXPECT_TRUE(q->w0 & UBOE_CQE_FLUSH_DONE);
	EXPECT_FALSE(e.tx.poll());
}

TEST(RawQueue, WhatACreatorMayAskFor)
{
	raw_end e;
	const auto made = [&](auto change) {
		uboe_jetty_ctx c = e.context();

		change(c);
		const int err = e.h.create(UBOE_MBOX_JETTY, 0x202, c);

		e.h.destroy(UBOE_MBOX_JETTY, 0x202);
		return err;
	};
	using ctx = uboe_jetty_ctx;

	EXPECT_EQ(made([](ctx &) {}), 0);
	EXPECT_EQ(made([](ctx &c) { c.sq_shift = 3; }), 0);
	EXPECT_EQ(made([](ctx &c) { c.sq_shift = 2; }), -EINVAL);
	EXPECT_EQ(made([](ctx &c) { c.raw = UBOE_RAW_UB; }), 0);
	EXPECT_EQ(made([](ctx &c) { c.raw = UBOE_RAW_UB << 1; }), -EINVAL);
	EXPECT_EQ(made([](ctx &c) { c.raw = UBOE_RAW_UB, c.type = UBOE_JETTY_UM; }), -EINVAL);
	EXPECT_EQ(made([](ctx &c) { c.flags = UBOE_JETTY_NATIVE; }), -EINVAL);
	EXPECT_EQ(made([](ctx &c) { c.flags |= UBOE_JETTY_DWQE; }), -EINVAL);
	EXPECT_EQ(made([](ctx &c) { c.eid[0] = 0xff; }), -EINVAL);
}

TEST(RawQueue, AHomeMayHaveNone)
{
	raw_end e;
	ubp_ops ops = *e.h.dev()->ops;
	const ubp_ops *was = e.h.dev()->ops;
	const uboe_jetty_ctx c = e.context();

	ops.path_link = nullptr;
	e.h.dev()->ops = &ops;
	EXPECT_EQ(e.h.create(UBOE_MBOX_JETTY, 0x202, c), -EOPNOTSUPP);
	e.h.dev()->ops = was;
}

TEST(RawQueue, OtherQueuesTakeNoRawElements)
{
	pair w;

	ASSERT_TRUE(w.connect());
	w.a.q->post({ .op = UBOE_SQE_RAW, .sges = { w.a.local(0, 64) } });
	w.run();
	auto c = w.a.tx.poll();

	ASSERT_TRUE(c);
	EXPECT_EQ(status(*c), UBOE_CQE_UNSUPPORTED);
}

/* With the right a program speaks UBoE by itself: a message for a UM jetty */
TEST(RawQueue, AMessageOfItsOwnMaking)
{
	raw_end a(false, UBOE_RAW_UB);
	pair w;
	ubsim::jfr r(w.b.h, 7, 6, 1, pd, UBOE_JFR_UM, 2);
	u8 p[UB_TPH_LEN + 64] = {};
	ubp_tph t{};
	ubp_ta h{};

	t.op = UB_TP_UTP_DATA;
	t.last = true;
	h.op = UB_TA_SEND;
	h.mt = UBP_PUT(UB_MT_TYPE, u32(UBOE_RMT_JFR)) | 7;
	h.rcid = 0x33;
	h.pld_len = 8;
	ubp_tph_build(p, &t);
	const u32 n = UB_TPH_LEN + ubp_ta_build(p + UB_TPH_LEN, &h);

	std::memcpy(p + n, "by hand.", 8);
	a.m.write(0, p, n + 8);
	r.post(std::array{ w.b.local(4096, 64) });
	a.post(1, n + 8, UB_UDP_PORT, w.b.self);
	ASSERT_EQ(a.h.out().size(), 1u);
	w.b.h.receive(a.h.out()[0].data);
	auto c = w.b.rx.poll();

	ASSERT_TRUE(c);
	EXPECT_EQ(status(*c), UBOE_CQE_OK);
	EXPECT_EQ(c->byte_cnt, 8u);
	EXPECT_EQ(UBP_GET(UBOE_CQE_RMT_ID, c->w2), 0x33u);
	EXPECT_EQ(w.b.m.compare(4096, "by hand.", 8), 8u);
}

} /* namespace */
