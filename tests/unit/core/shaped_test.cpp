// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Channels under traffic management, in the simulator: late timers, engine turns, losses. */
#include <gtest/gtest.h>

#include "net.hpp"
#include "verbs.hpp"

extern "C" {
#include "ubp_tm.h"
}

using namespace ubsim;

namespace
{

constexpr std::uint32_t pd = 1, piece = 16384, access_all = 15;

profile network()
{
	profile p{};

	p.nodes = 2;
	p.latency = 5 * us;
	p.per_byte = 400; /* 20 Gb/s */
	p.fifo = true;
	return p;
}

uboe_tm_ctx limit(std::uint32_t kbps, std::uint32_t parent = UBOE_TM_NO_PARENT)
{
	uboe_tm_ctx c{};

	c.parent = parent;
	c.peak_kbps = kbps;
	return c;
}

int tm(host &h, std::uint32_t level, std::uint32_t number, const uboe_tm_ctx &c)
{
	return h.create(UBOE_MBOX_TM, UBOE_TM_TAG(level, number), c);
}

/* Node 0 writes to or reads from node 1, over as many connections as a test likes */
class Shaped : public testing::Test
{
      protected:
	struct line {
		std::unique_ptr<jfc> tx[2], rx[2];
		std::unique_ptr<jfr> r[2];
		std::unique_ptr<rc> q[2];
		std::uint8_t op = UBOE_SQE_WRITE;
		std::uint64_t pieces = ~0ull; /* left to do */
		std::uint64_t done = 0; /* bytes */
		unsigned flushed = 0;
	};

	explicit Shaped(const profile &p = network()) : w(3, p, false)
	{
		for (unsigned i = 0; i < 2; i++) {
			w.nodes.push_back(std::make_unique<node>(w, i, host::small_config()));
			m[i] = std::make_unique<memory>(0x10000, 1 << 18, 12);
			w.nodes[i]->register_memory(5, 0x123, pd, access_all, *m[i]);
		}
	}

	~Shaped() override
	{
		lines.clear();
		for (auto &n : w.nodes) {
			n->destroy(UBOE_MBOX_SEG, 5);
			n->reap();
		}
	}

	host &a() { return *w.nodes[0]; }

	line &add(std::uint8_t sl = 0)
	{
		line &l = *lines.emplace_back(std::make_unique<line>());
		auto id = std::uint32_t(lines.size()) + 100;

		for (unsigned i = 0; i < 2; i++) {
			host &h = *w.nodes[i];
			jetty_options o;

			o.sl = sl;
			l.tx[i] = std::make_unique<jfc>(h, 2 * id, 8);
			l.rx[i] = std::make_unique<jfc>(h, 2 * id + 1, 8);
			l.r[i] = std::make_unique<jfr>(h, id, 6, 1, pd);
			l.q[i] = std::make_unique<rc>(h, id, *l.tx[i], *l.rx[i], *l.r[i], o);
		}
		for (unsigned i = 0; i < 2; i++)
			EXPECT_EQ(l.q[i]->connect({ .local = w.nodes[i]->addr(false),
						    .remote = w.nodes[!i]->addr(false),
						    .rmt_jetty = id,
						    .mtu = 1024 }),
				  0);
		return l;
	}

	/* Keep @l busy: eight requests in its queue */
	void feed(line &l)
	{
		bool any = false;

		while (auto c = l.tx[0]->poll()) {
			l.q[0]->retire(l.q[0]->consumed() + 1);
			if (UBP_GET(UBOE_CQE_STATUS, c->w0))
				l.flushed++;
			else
				l.done += piece;
		}
		while (l.pieces && !l.flushed && 64 - l.q[0]->room() < 8) {
			l.q[0]->put({ .op = l.op,
				      .sges = { { m[0]->va(), piece, make_key(5, 0x123) } },
				      .remote = m[1]->va(),
				      .rkey = make_key(5, 0x123) });
			l.pieces--;
			any = true;
		}
		if (any && l.q[0]->ring())
			a().kick(l.q[0]->id());
	}

	void run(std::uint64_t length)
	{
		std::uint64_t end = w.clock + length;

		do {
			for (auto &l : lines)
				feed(*l);
		} while (w.clock < end && w.step());
	}

	std::uint64_t sent(const line &l)
	{
		uboe_tm_ctx c{};

		EXPECT_EQ(a().query(UBOE_MBOX_TM, UBOE_TM_TAG(UBOE_TML_JETTY, l.q[0]->id()), c), 0);
		return c.sent;
	}

	/* Port, group, function, and queue sets for VL 0 and 1; SL 5 is VL 1 */
	void plant(std::uint32_t port_kbps, std::uint8_t prio, std::uint16_t weight)
	{
		uboe_tm_ctx c{};

		c.peak_kbps = port_kbps;
		ASSERT_EQ(tm(a(), UBOE_TML_PORT, 0, c), 0);
		c = {};
		c.weight = 1;
		ASSERT_EQ(tm(a(), UBOE_TML_GROUP, 0, c), 0);
		c.sl_vl[5] = 1;
		ASSERT_EQ(tm(a(), UBOE_TML_FUNCTION, 0, c), 0);
		c.sl_vl[5] = 0;
		ASSERT_EQ(tm(a(), UBOE_TML_QSET, 0, c), 0);
		c.vl = 1;
		c.prio = prio;
		c.weight = weight;
		ASSERT_EQ(tm(a(), UBOE_TML_QSET, 1, c), 0);
	}

	int bind(const line &l, std::uint32_t kbps = 0)
	{
		return tm(a(), UBOE_TML_JETTY, l.q[0]->id(), limit(kbps, 0));
	}

	world w;
	std::unique_ptr<memory> m[2];
	std::vector<std::unique_ptr<line>> lines;
};

/* A jetty with a limit keeps it, and its neighbour does not notice */
TEST_F(Shaped, HoldsItsRateAndDisturbsNobody)
{
	line &alone = add();
	run(5 * ms);
	std::uint64_t before = alone.done;
	run(20 * ms);
	auto full = double(alone.done - before);
	EXPECT_GT(full, 1.8e9 * 0.02) << "the link is the limit";
	for (std::uint32_t kbps : { 10000u, 100000u, 1000000u }) {
		line &l = add();
		ASSERT_EQ(tm(a(), UBOE_TML_JETTY, l.q[0]->id(), limit(kbps)), 0);
		run(10 * ms);
		std::uint64_t wire = sent(l);
		before = alone.done;
		run(60 * ms);
		double want = 0.06 * kbps * 125;
		EXPECT_NEAR(double(sent(l) - wire), want, want / 100 + 1500) << kbps;
		/* it has all of the link but what the other takes */
		EXPECT_NEAR(double(alone.done - before), full * 3 - want, full * 3 / 100) << kbps;
		l.pieces = 0;
		run(30 * ms);
	}
}

/* Answers to Reads leave by the limit of the jetty that answers */
TEST_F(Shaped, AnswersAreShapedToo)
{
	line &l = add();

	l.op = UBOE_SQE_READ;
	ASSERT_EQ(tm(*w.nodes[1], UBOE_TML_JETTY, l.q[1]->id(), limit(500000)), 0);
	run(10 * ms);
	std::uint64_t before = l.done;
	run(100 * ms);
	EXPECT_NEAR(double(l.done - before), 6.25e6, 0.06 * 6.25e6) << "headers are 5 %";
}

TEST_F(Shaped, QueuesShareByWeight)
{
	plant(2000000, 0, 3);
	line &one = add(), &three = add(5);
	ASSERT_EQ(bind(one), 0);
	ASSERT_EQ(bind(three), 0);
	run(10 * ms);
	std::uint64_t was[] = { sent(one), sent(three) };
	run(100 * ms);
	double got[] = { double(sent(one) - was[0]), double(sent(three) - was[1]) };
	EXPECT_NEAR(got[0] + got[1], 25e6, 25e4);
	EXPECT_NEAR(got[1] / (got[0] + got[1]), 0.75, 0.015);
}

TEST_F(Shaped, ServiceLevelsPreempt)
{
	plant(2000000, 7, 1);
	line &low = add(), &high = add(5), &outside = add();
	ASSERT_EQ(bind(low), 0);
	ASSERT_EQ(bind(high, 500000), 0);
	run(10 * ms);
	std::uint64_t was[] = { sent(low), sent(high) };
	run(100 * ms);
	EXPECT_NEAR(double(sent(high) - was[1]), 6.25e6, 6.25e4) << "all that its own limit lets";
	EXPECT_NEAR(double(sent(low) - was[0]), 18.75e6, 18.75e4) << "the rest";
	EXPECT_GT(outside.done, 100000000u) << "has no part in it";
}

/* Limits come, change and go while packets wait for them */
TEST_F(Shaped, LimitsChangeWhileItWaits)
{
	plant(10000, 0, 1);
	line &l = add();
	ASSERT_EQ(bind(l), 0);
	run(20 * ms);
	std::uint64_t before = sent(l);
	uboe_tm_ctx c = limit(1000000);
	ASSERT_EQ(a().modify(UBOE_MBOX_TM, UBOE_TM_TAG(UBOE_TML_PORT, 0), c, UBOE_TMM_PEAK), 0);
	run(20 * ms);
	EXPECT_NEAR(double(sent(l) - before), 2.5e6, 13e4);
	ASSERT_EQ(a().modify(UBOE_MBOX_TM, UBOE_TM_TAG(UBOE_TML_JETTY, l.q[0]->id()), limit(1000),
			     UBOE_TMM_PEAK),
		  0);
	run(10 * ms);
	before = l.done;
	ASSERT_EQ(a().destroy(UBOE_MBOX_TM, UBOE_TM_TAG(UBOE_TML_JETTY, l.q[0]->id())), 0);
	run(10 * ms);
	EXPECT_GT(l.done - before, 15000000u) << "at once, and without a limit";
}

/* A jetty that ends or fails while it waits leaves the others its place */
TEST_F(Shaped, WaitersGoAway)
{
	plant(100000, 0, 1);
	line &dies = add(), &fails = add(5), &stays = add(), &left = add(5);
	for (line *l : { &dies, &fails, &stays, &left })
		ASSERT_EQ(bind(*l), 0);
	run(20 * ms);
	EXPECT_EQ(fails.q[0]->to_state(UBOE_JS_ERROR), 0);
	run(1 * ms);
	EXPECT_EQ(fails.flushed, 8u);
	dies.q[0]->destroy_channel();
	dies.q[0]->destroy_jetty();
	dies.pieces = 0;
	/* the peer of another one goes away while that waits */
	left.q[1]->destroy_channel();
	left.q[1]->destroy_jetty();
	run(5 * ms);
	std::uint64_t before = sent(stays);
	run(50 * ms);
	EXPECT_NEAR(double(sent(stays) - before), 625e3, 12e3);
	EXPECT_EQ(a().destroy(UBOE_MBOX_TM, UBOE_TM_TAG(UBOE_TML_QSET, 0)), -EBUSY);
	stays.q[0]->destroy_channel();
	stays.q[0]->destroy_jetty();
	stays.pieces = 0;
	EXPECT_EQ(a().destroy(UBOE_MBOX_TM, UBOE_TM_TAG(UBOE_TML_QSET, 0)), 0);
}

profile lossy()
{
	profile p = network();

	p.loss = 0.02;
	p.no_room = 0.05;
	return p;
}

class ShapedLossy : public Shaped
{
      protected:
	ShapedLossy() : Shaped(lossy()) {}
};

/* What is sent again counts, and all of it gets there, however narrow the limit is */
TEST_F(ShapedLossy, RetransmissionsCount)
{
	plant(100000, 0, 1);
	line &l = add(), &narrow = add(5);
	l.pieces = 60;
	narrow.pieces = 3;
	ASSERT_EQ(bind(l), 0);
	ASSERT_EQ(bind(narrow, 1000), 0);
	run(50 * ms);
	std::uint64_t before = sent(l) + sent(narrow);
	EXPECT_LE(before, 625000u + 12500 + 2 * 1500);
	run(3 * sec);
	EXPECT_EQ(l.done, 60u * piece);
	EXPECT_EQ(narrow.done, 3u * piece);
	EXPECT_GT(a().stat(UBP_S_RETRANSMITS), 0u);
	EXPECT_EQ(a().stat(UBP_S_CHANNELS_LOST), 0u);
	/* what left the host is what was paid for */
	EXPECT_NEAR(double(sent(l) + sent(narrow)), double(a().stat(UBP_S_TX_BYTES)), 4000);
}

} /* namespace */
