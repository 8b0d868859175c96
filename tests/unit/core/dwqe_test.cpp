// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* DirectWQE and lock buffers: addresses, set-up, torn writes, doorbells that are none. */
#include <gtest/gtest.h>

#include "rig.hpp"

extern "C" {
#include "ubp_lockbuf.h"
}

using namespace rig;

namespace
{

ubp_lockbuf buffer(u32 start, u32 end, u32 shift, std::vector<std::pair<u32, u32>> fes,
		   u32 bbs = UBP_LOCKBUF_WQE_BBS)
{
	ubp_lockbuf b{};

	b.start_jetty = start;
	b.end_jetty = end;
	b.bb_shift = shift;
	b.bbs = bbs;
	for (auto [fe, at] : fes) {
		b.fe_enable |= 1ull << fe;
		b.fe_start[fe] = u16(at);
	}
	return b;
}

std::string verdict(const ubp_lockbuf &b, const ubp_lockbuf *other = nullptr)
{
	return ubp_lockbuf_err_name(ubp_lockbuf_check(&b, other));
}

/* Seed 003, 7.2 */
TEST(LockBuffer, Addresses)
{
	ubp_lockbuf b = buffer(100, 103, 3, { { 0, 0 }, { 5, 1000 } });

	EXPECT_EQ(ubp_lockbuf_index(&b, 0, 100, 0), 0u);
	EXPECT_EQ(ubp_lockbuf_index(&b, 0, 100, 7), 7u);
	EXPECT_EQ(ubp_lockbuf_index(&b, 0, 100, 8), 0u) << "indices run freely";
	EXPECT_EQ(ubp_lockbuf_index(&b, 0, 103, 65535), 3 * 8 + 7u);
	EXPECT_EQ(ubp_lockbuf_index(&b, 5, 101, 13), 1000 + 8 + 5u);
	ubp_lockbuf one = buffer(7, 7, 12, { { 63, 0 } });
	EXPECT_EQ(ubp_lockbuf_index(&one, 63, 7, 4095 + 4096), 4095u);
	/* a 64-byte element: index - 1; one of 128: index - 2 and index - 1 */
	EXPECT_EQ(ubp_dwqe_sqebb(5, 1, 0), 4u);
	EXPECT_EQ(ubp_dwqe_sqebb(5, 2, 0), 3u);
	EXPECT_EQ(ubp_dwqe_sqebb(5, 2, 1), 4u);
	EXPECT_EQ(ubp_lockbuf_index(&b, 0, 101, ubp_dwqe_sqebb(0, 2, 1)), 15u) << "before 0";
}

/* No two blocks of all functions and jetties are the same, and none is outside */
TEST(LockBuffer, AddressesAreDistinct)
{
	ubp_lockbuf b = buffer(16, 31, 4, { { 0, 0 }, { 1, 256 }, { 9, 3840 } });
	std::vector<bool> used(UBP_LOCKBUF_WQE_BBS);

	ASSERT_EQ(verdict(b), "ok");
	for (u32 fe : { 0u, 1u, 9u })
		for (u32 j = 16; j < 32; j++)
			for (u32 i = 0; i < 16; i++) {
				u32 at = ubp_lockbuf_index(&b, fe, j, i);

				ASSERT_LT(at, UBP_LOCKBUF_WQE_BBS);
				EXPECT_FALSE(used[at]);
				used[at] = true;
			}
}

TEST(LockBuffer, SetUps)
{
	EXPECT_EQ(verdict(buffer(0, 0, 12, { { 0, 0 } })), "ok");
	EXPECT_EQ(verdict(buffer(0, 1, 12, { { 0, 0 } })), "capacity");
	EXPECT_EQ(verdict(buffer(0, 0, 12, { { 0, 1 } })), "capacity");
	EXPECT_EQ(verdict(buffer(0, 0, 13, { { 0, 0 } })), "bb_shift");
	EXPECT_EQ(verdict(buffer(5, 4, 1, { { 0, 0 } })), "jetty_range");
	EXPECT_EQ(verdict(buffer(0, 1 << 20, 0, { { 0, 0 } })), "jetty_range");
	EXPECT_EQ(verdict(buffer(0, 0, 0, {})), "no_function_enabled");
	ubp_lockbuf b = buffer(0, 63, 5, { { 0, 0 }, { 1, 2048 } });
	EXPECT_EQ(verdict(b), "ok") << "full to the last block";
	b.fe_start[1] = 2047;
	EXPECT_EQ(verdict(b), "functions_overlap");
	b.fe_start[1] = 0;
	EXPECT_EQ(verdict(b), "functions_overlap");
	b.fe_enable = 1;
	b.fe_start[1] = 7;
	EXPECT_EQ(verdict(b), "start_of_disabled_function");
	/* Stars: 128 blocks, other jetties */
	ubp_lockbuf wqe = buffer(100, 163, 5, { { 0, 0 } });
	EXPECT_EQ(verdict(buffer(164, 179, 3, { { 0, 0 } }, UBP_LOCKBUF_STARS_BBS), &wqe), "ok");
	EXPECT_EQ(verdict(buffer(164, 180, 3, { { 0, 0 } }, UBP_LOCKBUF_STARS_BBS), &wqe),
		  "capacity");
	for (auto [from, to] :
	     { std::pair{ 163u, 164u }, { 99u, 100u }, { 120u, 121u }, { 0u, 200u } })
		EXPECT_EQ(verdict(buffer(from, to, 0, { { 0, 0 } }, UBP_LOCKBUF_STARS_BBS), &wqe),
			  "jetties_of_other_buffer");
	for (u32 e = 0; e < UBP_LB_MAX; e++)
		EXPECT_NE(ubp_lockbuf_err_name(e), nullptr);
	EXPECT_EQ(ubp_lockbuf_err_name(UBP_LB_MAX), nullptr);
}

/* A pair whose sender has something special */
class Direct : public testing::Test
{
      protected:
	void start(std::uint8_t flags, unsigned shift = 3)
	{
		ubsim::jetty_options o;

		o.flags = flags;
		o.sq_shift = shift;
		p = std::make_unique<pair>(false, ubsim::host::small_config(), o);
		ASSERT_TRUE(p->connect());
	}

	/* One BB, or two: inline data */
	ubsim::send_wr write(std::uint8_t v, unsigned bbs = 1)
	{
		return { .op = UBOE_SQE_WRITE,
			 .inl = true,
			 .data = bytes(bbs == 1 ? 16 : 80, v),
			 .remote = p->b.m.va(),
			 .rkey = key };
	}

	std::uint8_t there() { return std::uint8_t(p->b.m.load(0, 1)); }
	ubsim::rc &q() { return *p->a.q; }
	int kick() { return p->a.h.kick(p->a.id); }
	unsigned completions()
	{
		unsigned n = 0;

		p->run(2);
		while (auto c = p->a.tx.poll()) {
			EXPECT_EQ(UBP_GET(UBOE_CQE_STATUS, c->w0), 0u);
			q().retire(q().consumed() +
				   std::uint16_t((c->w1 & UBOE_CQE_ENTRY) + 1 - q().consumed()));
			n++;
		}
		return n;
	}

	std::unique_ptr<pair> p;
};

/* Taken from the window: the ring says nothing yet */
TEST_F(Direct, BothSizes)
{
	start(UBOE_JETTY_DWQE);
	for (unsigned bbs : { 1u, 2u }) {
		q().show(q().window(write(std::uint8_t(0x10 + bbs), bbs)));
		kick();
		EXPECT_EQ(completions(), 1u);
		EXPECT_EQ(there(), 0x10 + bbs);
		/* the ring and the doorbell follow, and bring nothing new */
		q().put(write(0xee, bbs));
		q().ring();
		kick();
		EXPECT_EQ(completions(), 0u);
		EXPECT_EQ(there(), 0x10 + bbs);
	}
	EXPECT_EQ(p->a.h.stat(UBP_S_DWQES), 2u);
}

/* Every prefix of a write, in any order that has word 0 last: nothing is executed */
TEST_F(Direct, TornIsNotExecuted)
{
	start(UBOE_JETTY_DWQE);
	for (unsigned round = 0; round < 40; round++) {
		ubsim::send_wr wr = write(std::uint8_t(round), 1 + round % 2);
		bytes w = q().window(wr);

		for (std::size_t n = 4; n < w.size(); n += 4) {
			std::memcpy(q().page() + n, w.data() + n, 4);
			kick();
			ASSERT_TRUE(p->a.h.out().empty()) << "after " << n << " bytes";
		}
		q().show(w);
		kick();
		q().put(wr);
		q().ring();
		kick();
		EXPECT_EQ(completions(), 1u);
		EXPECT_EQ(there(), round);
	}
	EXPECT_EQ(p->a.h.stat(UBP_S_DWQES), 40u);
}

/* Wrong indices, the wrong lap, sizes that are none: the ring goes on as if nothing were there */
TEST_F(Direct, NonsenseIsIgnored)
{
	start(UBOE_JETTY_DWQE);
	for (unsigned round = 0; round < 300; round++) {
		ubsim::send_wr good = write(std::uint8_t(round));
		bytes w = q().window(write(0xee));
		std::uint32_t w0;

		std::memcpy(&w0, w.data(), 4);
		switch (round % 5) {
		case 0: w0 ^= UBOE_SQE_OWNER; break;
		case 1: w0 = (w0 & ~UBOE_SQE_IDX) | ((w0 + 3) & UBOE_SQE_IDX); break;
		case 2: w0 = (w0 & ~UBOE_SQE_IDX) | ((w0 - 1) & UBOE_SQE_IDX); break;
		case 3: w0 = (w0 & ~UBOE_SQE_IDX) | ((w0 + 1) & UBOE_SQE_IDX); break; /* 2 BBs */
		default: w[5] = 0xff; /* no such opcode */
		}
		std::memcpy(w.data(), &w0, 4);
		w.resize(128);
		q().show(w);
		kick();
		q().put(good);
		q().ring();
		kick();
		EXPECT_EQ(completions(), 1u) << round;
		ASSERT_EQ(there(), std::uint8_t(round)) << round;
	}
	EXPECT_EQ(p->a.h.stat(UBP_S_DWQES), 0u);
}

/* An element that went by the ring is not executed when its index comes around again */
TEST_F(Direct, OldOnesStayOld)
{
	start(UBOE_JETTY_DWQE, 6);
	bytes old = q().window(write(0xee));
	q().put(write(1));
	q().ring();
	kick(); /* by the ring; the window is written too late */
	EXPECT_EQ(completions(), 1u);
	q().show(old);
	for (unsigned n = 1; n < 65536 + 8; n++) {
		q().put(write(2));
		q().ring();
		kick();
		if (n % 32 == 0 || n > 65530) {
			ASSERT_GE(completions(), 1u) << n;
			ASSERT_EQ(there(), 2) << n;
		}
	}
	EXPECT_EQ(p->a.h.stat(UBP_S_DWQES), 0u);
}

class Locked : public Direct
{
      protected:
	static constexpr u32 first = 0x100, last = 0x107, shift = 2;

	static uboe_lockbuf_ctx context(u32 from, u32 to, u8 bb_shift)
	{
		uboe_lockbuf_ctx c{};

		c.start_jetty = from;
		c.end_jetty = to;
		c.bb_shift = bb_shift;
		c.fe_enable = 1;
		return c;
	}

	/* Jetty 0x101 in the lock buffer of host a, connected with an ordinary one */
	void start()
	{
		p = std::make_unique<pair>();
		uboe_lockbuf_ctx c = context(first, last, shift);

		p->a.q.reset();
		ASSERT_EQ(p->a.h.create(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_WQE, c), 0);
		o.flags = UBOE_JETTY_LOCKBUF;
		o.sq_shift = shift;
		o.lockbuf = 4;
		p->a.q = std::make_unique<ubsim::rc>(p->a.h, p->a.id, p->a.tx, p->a.rx, p->a.r, o);
		ASSERT_TRUE(p->connect());
	}

	int make(u32 id, u8 flags, u8 sq_shift, u64 base)
	{
		ubsim::dma ring = p->a.h.alloc_dma(64ull << sq_shift), page = p->a.h.alloc_dma(256);
		uboe_jetty_ctx c{};

		c.type = UBOE_JETTY_RC;
		c.flags = flags;
		c.sq_shift = sq_shift;
		c.sq_base = flags & UBOE_JETTY_LOCKBUF ? base : ring.bus;
		c.page = page.bus;
		c.tx_jfcn = 1;
		c.rx_jfcn = 2;
		c.jfrn = 1;
		int err = p->a.h.create(UBOE_MBOX_JETTY, id, c);
		if (!err)
			p->a.h.destroy(UBOE_MBOX_JETTY, id);
		p->a.h.reap();
		return err;
	}

	ubsim::jetty_options o;
};

/* More elements than the buffer has room for, of both sizes, around its end */
TEST_F(Locked, ExecutesFromItsBuffer)
{
	start();
	for (unsigned i = 0; i < 200; i++) {
		std::uint32_t end = q().direct(write(std::uint8_t(i), 1 + i % 2));

		EXPECT_EQ(q().taken(), end);
		EXPECT_EQ(completions(), 1u);
		EXPECT_EQ(there(), std::uint8_t(i));
	}
	EXPECT_EQ(p->a.h.stat(UBP_S_DWQES), 200u);
	EXPECT_EQ(p->a.h.stat(UBP_S_DOORBELLS_REFUSED), 0u);
	/* where the formula says */
	bytes last = q().window(write(0x77));
	std::uint32_t end = q().direct(write(0x77));
	const ubp_lockbuf *b = p->a.h.dev()->lockbuf[UBOE_LOCKBUF_WQE];
	u32 at = ubp_lockbuf_index(b, 0, p->a.id, ubp_dwqe_sqebb(end, 1, 0));
	EXPECT_EQ(std::memcmp(b->mem + at * 64, last.data(), 64), 0);
	EXPECT_EQ(completions(), 1u);
}

/* Doorbells are counted and change nothing; a KICK is none */
TEST_F(Locked, RefusesDoorbells)
{
	start();
	ubsim::send_wr wr = write(0xee);
	q().put(wr);
	q().ring();
	kick();
	kick();
	EXPECT_EQ(completions(), 0u);
	EXPECT_EQ(there(), 0u);
	EXPECT_EQ(p->a.h.stat(UBP_S_DOORBELLS_REFUSED), 1u);
}

/* A source that does not look for room waits; torn writes and errors as elsewhere */
TEST_F(Locked, OverflowAndFlush)
{
	start();
	p->a.tp()->state = UBP_TP_OPENING; /* nothing is fetched now */
	for (unsigned i = 0; i < 4; i++) {
		std::uint32_t end = q().direct(write(std::uint8_t(i)));

		EXPECT_EQ(q().taken(), end);
	}
	std::uint32_t full = q().taken();
	q().direct(write(9));
	EXPECT_EQ(q().taken(), full) << "no room";
	EXPECT_EQ(q().to_state(UBOE_JS_ERROR), 0);
	kick();
	unsigned flushed = 0;
	p->run(1);
	while (auto c = p->a.tx.poll()) {
		EXPECT_EQ(UBP_GET(UBOE_CQE_STATUS, c->w0), u32(UBOE_CQE_FLUSH));
		flushed++;
	}
	EXPECT_EQ(flushed, 5u);
	EXPECT_EQ(there(), 0u);
}

/* What was in the window when a jetty leaves RESET is not its first element */
TEST_F(Locked, BeginsWhenItLeavesReset)
{
	start();
	ubsim::dma page = p->a.h.alloc_dma(UBOE_JPAGE_SOFT_STRIDE);
	u8 *at = page.p;
	uboe_jetty_ctx c{};

	at[UBOE_JPAGE_DWQE] = 2;
	c.type = UBOE_JETTY_RC;
	c.flags = UBOE_JETTY_LOCKBUF;
	c.sq_shift = shift;
	c.page = page.bus;
	c.tx_jfcn = 1;
	c.rx_jfcn = 2;
	c.jfrn = 1;
	ASSERT_EQ(p->a.h.create(UBOE_MBOX_JETTY, first, c), 0);
	const ubp_jetty *j = ubp_jetty_find(p->a.h.dev(), first);
	EXPECT_EQ(j->dwqe_seen, 2u);
	at[UBOE_JPAGE_DWQE] = 1;
	c.state = UBOE_JS_INIT;
	for (unsigned i = 0; i < 2; i++) {
		ASSERT_EQ(p->a.h.modify(UBOE_MBOX_JETTY, first, c, UBOE_JM_STATE), 0);
		EXPECT_EQ(j->dwqe_seen, 1u) << "and not when it is in INIT already";
		at[UBOE_JPAGE_DWQE] = 3;
	}
	EXPECT_EQ(p->a.h.destroy(UBOE_MBOX_JETTY, first), 0);
}

/* What a driver checks before there is a device */
TEST_F(Locked, BothAtOnce)
{
	uboe_lockbuf_ctx c[2] = {};

	EXPECT_EQ(ubp_lockbufs_wrong(c), nullptr) << "none";
	c[UBOE_LOCKBUF_STARS] = context(100, 107, 4);
	EXPECT_EQ(ubp_lockbufs_wrong(c), nullptr);
	c[UBOE_LOCKBUF_STARS] = context(100, 108, 4);
	EXPECT_STREQ(ubp_lockbufs_wrong(c), "capacity");
	c[UBOE_LOCKBUF_WQE] = context(2, 99, 4);
	c[UBOE_LOCKBUF_STARS] = context(100, 107, 4);
	EXPECT_EQ(ubp_lockbufs_wrong(c), nullptr);
	c[UBOE_LOCKBUF_WQE] = context(2, 100, 4);
	EXPECT_STREQ(ubp_lockbufs_wrong(c), "jetties_of_other_buffer");
	c[UBOE_LOCKBUF_WQE] = context(200, 457, 4);
	EXPECT_STREQ(ubp_lockbufs_wrong(c), "capacity");
	c[UBOE_LOCKBUF_WQE].rsvd[0] = 1;
	EXPECT_STREQ(ubp_lockbufs_wrong(c), "reserved");
}

TEST_F(Locked, WhoMayHaveAPlace)
{
	start();
	u8 lb = UBOE_JETTY_LOCKBUF;

	EXPECT_EQ(make(first, lb, shift, 0), 0);
	EXPECT_EQ(make(last, lb, shift, 28), 0);
	EXPECT_EQ(make(last, lb, shift, 24), -EINVAL) << "another one's place";
	EXPECT_EQ(make(last, lb, shift + 1, 28), -EINVAL) << "all have one depth";
	EXPECT_EQ(make(last + 1, lb, shift, 32), -EINVAL);
	EXPECT_EQ(make(last, 0, shift, 0), -EINVAL) << "a ring, in the range";
	EXPECT_EQ(make(last + 1, 0, shift, 0), 0);
	EXPECT_EQ(make(last, lb | UBOE_JETTY_DWQE, shift, 28), -EINVAL);
	EXPECT_EQ(make(last + 1, UBOE_JETTY_DWQE, shift, 0), 0);
}

TEST_F(Locked, Commands)
{
	start();
	host &h = p->a.h;
	uboe_lockbuf_ctx c = context(0x200, 0x20f, 3), got;

	EXPECT_EQ(h.create(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_WQE, c), -EEXIST);
	EXPECT_EQ(h.create(UBOE_MBOX_LOCKBUF, 2, c), -EINVAL);
	EXPECT_EQ(h.create(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_STARS, context(last, 0x200, 0)),
		  -EEXIST);
	EXPECT_EQ(h.create(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_STARS, context(0x200, 0x210, 3)),
		  -ENOSPC);
	EXPECT_EQ(h.create(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_STARS, context(0x200, 0x1ff, 3)),
		  -EINVAL);
	c.rsvd[25] = 1;
	EXPECT_EQ(h.create(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_STARS, c), -EINVAL);
	c.rsvd[25] = 0;
	EXPECT_EQ(h.create(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_STARS, c), 0);
	ASSERT_EQ(h.query(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_STARS, got), 0);
	EXPECT_EQ(std::memcmp(&c, &got, sizeof(c)), 0);
	EXPECT_EQ(make(0x20f, UBOE_JETTY_LOCKBUF, 3, 120), 0);
	ASSERT_EQ(h.query(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_WQE, got), 0);
	EXPECT_EQ(got.jetties, 1u);
	EXPECT_EQ(h.destroy(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_WQE), -EBUSY);
	EXPECT_EQ(h.destroy(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_STARS), 0);
	EXPECT_EQ(h.destroy(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_STARS), -ENOENT);
	EXPECT_EQ(h.query(UBOE_MBOX_LOCKBUF, 2, got), -ENOENT);
	p->a.q.reset();
	EXPECT_EQ(h.destroy(UBOE_MBOX_LOCKBUF, UBOE_LOCKBUF_WQE), 0);
}

} /* namespace */
