// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RQEs that are buffers of one size: a message takes up to four of them, or none. */
#include <gtest/gtest.h>

#include "rig.hpp"

using namespace rig;

namespace
{

class Buffers : public testing::TestWithParam<u8>
{
      protected:
	const u32 size = 1u << GetParam();
};

INSTANTIATE_TEST_SUITE_P(Size, Buffers, testing::Values(UBOE_JFR_BUF_2K, UBOE_JFR_BUF_4K),
			 [](const auto &i) { return i.param == UBOE_JFR_BUF_2K ? "2K" : "4K"; });

/* A JFR by itself: no jetty, the tests take from it */
struct queue {
	ubsim::host h;
	ubsim::jfr r;
	ubp_rqe rqe;

	explicit queue(u8 buf_shift) : r(h, 4, 6, 2, pd, 0, 0, 0, buf_shift) {}
	ubp_jfr *core() { return static_cast<ubp_jfr *>(ubp_table_get(&h.dev()->jfr, 4)); }
	u32 post(u32 len, unsigned pieces = 1)
	{
		std::vector<ubsim::sge> s(pieces, { 0x1000, len / pieces, key });

		return r.post(s);
	}
	ubp_take take(u32 len) { return ubp_jfr_take_for(core(), len, &rqe); }
};

TEST(BufferSizes, OtherSizesAreRefused)
{
	ubsim::host h;
	ubsim::dma d = h.alloc_dma(1 << 16);

	for (unsigned shift = 0; shift < 256; shift++) {
		uboe_jfr_ctx ctx{};

		ctx.shift = 6;
		ctx.base = ctx.idx = ctx.rec = d.bus;
		ctx.buf_shift = u8(shift);
		const bool ok = !shift || shift == UBOE_JFR_BUF_2K || shift == UBOE_JFR_BUF_4K;

		ASSERT_EQ(h.create(UBOE_MBOX_JFR, 4, ctx), ok ? 0 : -EINVAL) << shift;
		if (!ok)
			continue;
		ASSERT_EQ(h.query(UBOE_MBOX_JFR, 4, ctx), 0);
		EXPECT_EQ(ctx.buf_shift, shift);
		EXPECT_EQ(h.destroy(UBOE_MBOX_JFR, 4), 0);
	}
}

TEST_P(Buffers, AMessageTakesAsManyAsItFills)
{
	queue q(GetParam());
	const struct {
		u32 len, n;
	} cases[] = { { 0, 1 },
		      { 1, 1 },
		      { size, 1 },
		      { size + 1, 2 },
		      { 2 * size, 2 },
		      { 2 * size + 1, 3 },
		      { 3 * size + 1, 4 },
		      { 4 * size, 4 } };

	for (auto [len, n] : cases) {
		u32 slots[4];

		for (u32 i = 0; i < n; i++)
			slots[i] = q.post(size, 1u << i % 3);
		ASSERT_EQ(q.take(len), UBP_TAKE_OK) << len;
		ASSERT_EQ(q.rqe.n, n) << len;
		EXPECT_EQ(q.rqe.total, u64(n) * size);
		for (u32 i = 0; i < n; i++)
			EXPECT_EQ(q.rqe.slot[i], slots[i]);
		EXPECT_EQ(q.take(1), UBP_TAKE_NONE);
		for (u32 i = 0; i < n; i++)
			EXPECT_TRUE(q.r.done(slots[i]));
	}
}

TEST_P(Buffers, TooFewOrTooLongTakesNothing)
{
	queue q(GetParam());

	for (u32 n = 1; n <= 4; n++) {
		EXPECT_EQ(q.take((n - 1) * size + 1), UBP_TAKE_NONE);
		q.post(size);
		EXPECT_EQ(q.take(4 * size + 1), UBP_TAKE_SHORT);
		EXPECT_EQ(q.r.waiting(), n);
	}
	EXPECT_EQ(q.take(4 * size), UBP_TAKE_OK);
	EXPECT_EQ(q.r.waiting(), 0u);
}

TEST_P(Buffers, WhatIsGivenBackComesNextInTheSameOrder)
{
	queue q(GetParam());
	std::vector<u32> slots;

	for (u32 i = 0; i < 64; i++)
		slots.push_back(q.post(size));
	for (unsigned round = 0; round < 3; round++) {
		ASSERT_EQ(q.take(3 * size), UBP_TAKE_OK);
		ubp_jfr_give_back(q.core(), &q.rqe);
		EXPECT_EQ(q.r.waiting(), 64u);
	}
	for (u32 at = 0; at < 64; at += 4) {
		ASSERT_EQ(q.take(size), UBP_TAKE_OK);
		ASSERT_EQ(ubp_jfr_take_more(q.core(), 4 * u64(size), &q.rqe), UBP_TAKE_OK);
		for (u32 i = 0; i < 4; i++)
			EXPECT_EQ(q.rqe.slot[i], slots[at + i]);
	}
	EXPECT_EQ(q.take(0), UBP_TAKE_NONE);
}

TEST_P(Buffers, ARingThatNamesASlotTwice)
{
	queue q(GetParam());
	ubp_rqe other;

	for (u32 i = 0; i < 64; i++)
		q.post(size);
	for (u32 i = 0; i < 70; i++) { /* its program says that all are posted again and again */
		ASSERT_EQ(q.take(4 * size), UBP_TAKE_OK);
		other = q.rqe;
		ubp_jfr_give_back(q.core(), &q.rqe);
		ubp_jfr_give_back(q.core(), &other);
	}
	u32 n = 0;

	while (q.take(size) == UBP_TAKE_OK && n < 200)
		n++;
	EXPECT_LE(n, 128u);
}

TEST_P(Buffers, ABufferOfAnotherSizeIsNoBuffer)
{
	queue q(GetParam());

	for (u32 wrong : { 0u, size - 1, size + 1 }) {
		const u32 first = q.post(size), second = q.post(wrong);

		ASSERT_EQ(q.take(2 * size), UBP_TAKE_BAD) << wrong;
		ASSERT_EQ(q.rqe.n, 2u) << "both complete, with an error";
		EXPECT_EQ(q.rqe.slot[0], first);
		EXPECT_EQ(q.rqe.slot[1], second);
		EXPECT_EQ(q.take(0), UBP_TAKE_NONE);
	}
}

/* Two connected ends, the receiver with buffers */
struct link : pair {
	const u32 size;

	explicit link(u8 buf_shift, const ubsim::jetty_options &opt = {})
		: pair(false, ubsim::host::small_config(), opt, 1 << 18, {}, buf_shift),
		  size(1u << buf_shift)
	{
		EXPECT_TRUE(connect());
		for (u32 i = 0; i < 4 * size; i++)
			a.m.write(i, &(const u8 &)u8(i * 7 + i / size), 1);
	}
	/* Buffer n of the receiver: far from its neighbours, and the second piece first */
	u64 at(u32 n, u32 half) { return n * 3 * 4096 + (half ? 0 : size); }
	u32 post(u32 n)
	{
		return b.r.post(
			std::array{ b.local(at(n, 0), size / 2), b.local(at(n, 1), size / 2) });
	}
	u32 send(u32 len)
	{
		return a.q->post({ .op = UBOE_SQE_SEND, .sges = { a.local(0, len) } });
	}
	/* Byte @i of the message, wherever it is */
	u8 got(u32 i)
	{
		u32 in = i % size;
		u8 v;

		b.m.read(at(i / size, in >= size / 2) + in % (size / 2), &v, 1);
		return v;
	}
};

TEST_P(Buffers, ASendOfManyPacketsSpreads)
{
	for (u32 len : { 1u, size, size + 1, 4 * size - 1, 4 * size }) {
		link l(GetParam());
		const u32 n = (len + size - 1) / size;
		u32 slots[4], left = len;

		for (u32 i = 0; i < 4; i++)
			slots[i] = l.post(i);
		l.send(len);
		l.run();
		for (u32 i = 0; i < n; i++) {
			auto c = l.b.rx.poll();

			ASSERT_TRUE(c) << len;
			EXPECT_EQ(status(*c), UBOE_CQE_OK);
			EXPECT_EQ(c->w1 & UBOE_CQE_ENTRY, slots[i]);
			EXPECT_EQ(c->byte_cnt, std::min(left, size));
			EXPECT_EQ(!!(c->w0 & UBOE_CQE_MORE), i + 1 < n);
			left -= c->byte_cnt;
		}
		EXPECT_FALSE(l.b.rx.poll());
		EXPECT_EQ(l.b.r.waiting(), 4 - n);
		for (u32 i = 0; i < len; i++)
			ASSERT_EQ(l.got(i), u8(i * 7 + i / size)) << i;
		auto c = l.a.tx.poll();

		ASSERT_TRUE(c);
		EXPECT_EQ(status(*c), UBOE_CQE_OK);
	}
}

TEST_P(Buffers, TooFewWaitAndAreNotHeld)
{
	link l(GetParam());

	for (u32 i = 0; i < 3; i++)
		l.post(i);
	l.send(4 * size);
	l.run();
	EXPECT_EQ(l.b.r.waiting(), 3u) << "none is taken";
	EXPECT_FALSE(l.b.rx.poll());
	EXPECT_GT(l.b.h.stat(UBP_S_RNR_SENT), 0u);
	l.post(3);
	l.run();
	for (u32 i = 0; i < 4; i++) {
		auto c = l.b.rx.poll();

		ASSERT_TRUE(c);
		EXPECT_EQ(status(*c), UBOE_CQE_OK);
	}
	for (u32 i = 0; i < 4 * size; i++)
		ASSERT_EQ(l.got(i), u8(i * 7 + i / size)) << i;
	EXPECT_TRUE(l.a.tx.poll());
}

TEST_P(Buffers, OneByteTooMuchLosesNoReceive)
{
	link l(GetParam());

	for (u32 i = 0; i < 6; i++)
		l.post(i);
	l.send(4 * size + 1);
	l.run();
	for (u32 i = 0; i < 6; i++) { /* four with the error, the others flushed */
		auto c = l.b.rx.poll();

		ASSERT_TRUE(c) << i;
		EXPECT_EQ(status(*c), unsigned(i < 4 ? UBOE_CQE_LOCAL : UBOE_CQE_FLUSH));
		EXPECT_EQ(sub(*c), unsigned(i < 4 ? UBOE_CQE_LOCAL_LEN : 0));
		EXPECT_EQ(c->byte_cnt, 0u);
		EXPECT_TRUE(l.b.r.done(c->w1 & UBOE_CQE_ENTRY));
	}
	EXPECT_FALSE(l.b.rx.poll());
	auto c = l.a.tx.poll();

	ASSERT_TRUE(c);
	EXPECT_EQ(status(*c), UBOE_CQE_REMOTE);
	EXPECT_EQ(sub(*c), UBOE_CQE_REMOTE_UNSUPPORTED);
}

TEST_P(Buffers, AWrongOneInTheMiddleLosesNoReceive)
{
	for (bool key_wrong : { false, true }) {
		link l(GetParam());

		l.post(0);
		l.b.r.post(std::array{ l.b.local(1 << 16, key_wrong ? size : size - 1) });
		if (key_wrong) {
			l.b.r.post(std::array{ ubsim::sge{ l.b.m.va(), size, key ^ 1 } });
		} else {
			l.post(2);
		}
		l.post(3);
		l.send(3 * size);
		l.run();
		u32 n = 0;

		for (auto c = l.b.rx.poll(); c; c = l.b.rx.poll(), n++) {
			EXPECT_EQ(status(*c),
				  n < (key_wrong ? 3u : 2u) ? UBOE_CQE_LOCAL : UBOE_CQE_FLUSH);
			EXPECT_TRUE(l.b.r.done(c->w1 & UBOE_CQE_ENTRY));
		}
		EXPECT_EQ(n, 4u);
	}
}

TEST_P(Buffers, AnErrorInTheMiddleOfAMessageFlushesAll)
{
	link l(GetParam());

	for (u32 i = 0; i < 5; i++)
		l.post(i);
	l.send(4 * size);
	/* all but the last packet */
	l.a.h.out().pop_back();
	pair::carry(l.a, l.b);
	EXPECT_LT(l.b.r.waiting(), 5u);
	l.b.q->to_state(UBOE_JS_ERROR);
	for (u32 i = 0; i < 5; i++) {
		auto c = l.b.rx.poll();

		ASSERT_TRUE(c) << i;
		EXPECT_EQ(status(*c), UBOE_CQE_FLUSH);
		EXPECT_TRUE(l.b.r.done(c->w1 & UBOE_CQE_ENTRY));
	}
	EXPECT_FALSE(l.b.rx.poll());
}

TEST_P(Buffers, ACompletionQueueHasRoomForAllOrNone)
{
	ubsim::host h;
	ubsim::jfc q(h, 9, 6);
	ubp_jetty j{};
	ubp_rqe rqe{};
	ubp_comp c{};

	j.dev = h.dev();
	rqe.n = 4;
	rqe.buf_shift = GetParam();
	c.recv = true;
	auto *core = static_cast<ubp_jfc *>(ubp_table_get(&h.dev()->jfc, 9));

	for (u32 i = 0; i < 61; i++)
		ASSERT_TRUE(ubp_jfc_post(core, &j, &c));
	c.rqe = &rqe;
	ASSERT_FALSE(ubp_jfc_post(core, &j, &c));
	EXPECT_EQ(h.events().size(), 1u);
	u32 n = 0;

	while (q.poll())
		n++;
	EXPECT_EQ(n, 61u);
}

TEST_P(Buffers, ModerationCountsEach)
{
	ubsim::host h;
	ubsim::jfc q(h, 9, 6);
	ubp_jetty j{};
	ubp_rqe rqe{};
	ubp_comp c{};
	uboe_jfc_ctx ctx{};

	ctx.moderate_count = 5;
	ASSERT_EQ(h.modify(UBOE_MBOX_JFC, 9, ctx, UBOE_CM_COUNT), 0);
	j.dev = h.dev();
	rqe.n = 4;
	rqe.buf_shift = GetParam();
	c.recv = true;
	auto *core = static_cast<ubp_jfc *>(ubp_table_get(&h.dev()->jfc, 9));

	c.rqe = &rqe;
	q.arm(UBOE_ARM_NEXT);
	ASSERT_TRUE(ubp_jfc_post(core, &j, &c));
	EXPECT_TRUE(h.jfc_events().empty());
	ASSERT_TRUE(ubp_jfc_post(core, &j, &c));
	EXPECT_EQ(h.jfc_events().size(), 1u);
}

/* One packet of 8192 bytes by UM: 2 KB buffers take it, four of them */
struct um_link {
	struct side {
		ubsim::host h;
		address self;
		ubsim::jfc tx{ h, 1, 6 };
		ubsim::jfc rx{ h, 2, 6 };
		ubsim::jfr r;
		ubsim::memory m{ 0x10000, 1 << 16, 12 };
		std::unique_ptr<ubsim::rc> q;

		side(u8 n, u8 buf_shift)
			: self(addr(false, n)), r(h, 1, 6, 1, pd, UBOE_JFR_UM, 2, 0, buf_shift)
		{
			ubsim::jetty_options o;

			h.register_memory(seg_id, seg_token, pd, access_all, m);
			o.type = UBOE_JETTY_UM;
			o.eid = self;
			o.mtu = 8192;
			q = std::make_unique<ubsim::rc>(h, 0x100 + n, tx, rx, r, o);
			q->to_state(UBOE_JS_INIT);
			q->to_state(UBOE_JS_READY);
		}
		~side()
		{
			q.reset();
			h.destroy(UBOE_MBOX_SEG, seg_id);
		}
		u32 post(u32 n, u32 len, u32 k = key)
		{
			return r.post(std::array{ ubsim::sge{ m.va() + 8192 + n * 4096, len, k } });
		}
	};
	side a{ 1, 0 }, b;

	explicit um_link(u8 buf_shift) : b(2, buf_shift) {}
	std::string send(u32 len)
	{
		ubsim::send_wr w;
		moved m(b.h);

		w.op = UBOE_SQE_SEND;
		w.sges = { { a.m.va(), len, key } };
		w.rmt = b.self;
		w.rmt_type = UBOE_RMT_JFR;
		w.rmt_id = b.r.id();
		a.q->retire(a.q->post(w));
		for (auto &p : a.h.out())
			b.h.receive(p.data);
		a.h.out().clear();
		return m.drops();
	}
};

TEST(UmBuffers, APacketInUpToFour)
{
	um_link l(UBOE_JFR_BUF_2K);

	for (u32 i = 0; i < 8192; i += 4)
		l.a.m.write(i, &i, 4);
	for (u32 i = 0; i < 3; i++)
		l.b.post(i, 2048);
	EXPECT_EQ(l.send(6145), "drop_target_no_receive");
	EXPECT_EQ(l.b.r.waiting(), 3u);
	l.b.post(3, 2048);
	EXPECT_EQ(l.send(8192), "");
	for (u32 i = 0; i < 4; i++) {
		auto c = l.b.rx.poll();

		ASSERT_TRUE(c);
		EXPECT_EQ(c->byte_cnt, 2048u);
		EXPECT_EQ(!!(c->w0 & UBOE_CQE_MORE), i < 3);
		EXPECT_EQ(UBP_GET(UBOE_CQE_RMT_ID, c->w2), 0x101u);
		for (u32 at = 0; at < 2048; at += 4)
			ASSERT_EQ(l.b.m.load(8192 + i * 4096 + at, 4), i * 2048 + at);
		EXPECT_TRUE(l.b.r.done(c->w1 & UBOE_CQE_ENTRY));
	}
	EXPECT_FALSE(l.b.rx.poll());
}

TEST(UmBuffers, AWrongBufferCompletesWithTheOthers)
{
	um_link l(UBOE_JFR_BUF_2K);

	l.b.post(0, 2048);
	l.b.post(1, 2047);
	EXPECT_EQ(l.send(4096), "drop_target_access");
	l.b.post(0, 2048);
	l.b.post(1, 2048, key ^ 1);
	EXPECT_EQ(l.send(4096), "drop_target_access");
	for (u32 i = 0; i < 4; i++) {
		auto c = l.b.rx.poll();

		ASSERT_TRUE(c) << i;
		EXPECT_EQ(status(*c), UBOE_CQE_LOCAL);
		EXPECT_EQ(sub(*c), UBOE_CQE_LOCAL_ACCESS);
		EXPECT_EQ(!!(c->w0 & UBOE_CQE_MORE), !(i & 1));
		EXPECT_TRUE(l.b.r.done(c->w1 & UBOE_CQE_ENTRY));
	}
	EXPECT_EQ(l.b.r.waiting(), 0u);
}

} /* namespace */
