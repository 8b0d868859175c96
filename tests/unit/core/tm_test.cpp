// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Traffic management: rates, priorities, shares, bursts, hierarchy. In virtual time. */
#include <gtest/gtest.h>

#include "tm_rig.hpp"

using namespace shaping;

namespace
{

constexpr std::uint32_t decades[] = { 1000, 10000, 100000, 1000000, 10000000, 100000000, 200000000 };

constexpr const char *levels[] = { "", "port", "group", "function", "queue_set", "", "jetty" };

/* One of each level, with a limit at @level only */
void line(tree &t, unsigned level, std::uint32_t kbps)
{
	auto rate = [&](unsigned n) { return n == level ? kbps : 0; };

	ASSERT_EQ(t.node(UBOE_TML_GROUP, 3, 0, { .peak = rate(UBOE_TML_GROUP) }), 0);
	ASSERT_EQ(t.node(UBOE_TML_FUNCTION, 9, 3, { .peak = rate(UBOE_TML_FUNCTION) }), 0);
	ASSERT_EQ(t.node(UBOE_TML_QSET, 7, 9, { .peak = rate(UBOE_TML_QSET) }), 0);
}

class Rate : public testing::TestWithParam<std::tuple<unsigned, std::uint32_t, std::uint32_t>>
{
};

/* Within 1 % from 1 Mb/s to 200 Gb/s, also where timers are late; and never above */
TEST_P(Rate, IsExact)
{
	auto [level, kbps, size] = GetParam();

	for (std::uint64_t lateness : { std::uint64_t(0), 100 * us }) {
		tree t(level == UBOE_TML_PORT ? kbps : 0);

		line(t, level, kbps);
		t.lateness = lateness;
		sender &s = t.add(7, level == UBOE_TML_JETTY ? kbps : 0);
		s.size = size;
		/* some packets, and several times what the timers are late */
		auto length = std::uint64_t(ns_of(400.0 * size, kbps)) + 20 * ms * (lateness != 0);
		t.run(length / 4);
		std::uint64_t before = s.sent;
		t.run(length);
		double want = double(length - length / 4) * kbps / 8e6;
		double slack = 1.5 * size; /* a packet at either end */
		EXPECT_NEAR(double(s.sent - before), want,
			    want / 100 + (lateness ? 100e3 * kbps / 8e6 : slack))
			<< "late by up to " << lateness << " ns";
		EXPECT_LE(double(s.sent), double(length + 1 * ms) * kbps / 8e6 + size);
	}
}

INSTANTIATE_TEST_SUITE_P(Levels, Rate,
			 testing::Combine(testing::Values(UBOE_TML_PORT, UBOE_TML_GROUP,
							  UBOE_TML_FUNCTION, UBOE_TML_QSET,
							  UBOE_TML_JETTY),
					  testing::ValuesIn(decades),
					  testing::Values(1100u, 8300u)),
			 [](const auto &i) {
				 return std::string(levels[std::get<0>(i.param)]) + "_" +
					std::to_string(std::get<1>(i.param) / 1000) + "M_" +
					std::to_string(std::get<2>(i.param));
			 });

/* Children of a node at a level, and a sender in a queue of each */
struct family {
	family(tree &t, unsigned level, std::vector<node_options> of)
	{
		unsigned n = 0;

		if (level != UBOE_TML_GROUP)
			EXPECT_EQ(t.node(UBOE_TML_GROUP, 0, 0), 0);
		if (level == UBOE_TML_QSET)
			EXPECT_EQ(t.node(UBOE_TML_FUNCTION, 0, 0), 0);
		for (node_options &o : of) {
			o.vl = std::uint8_t(level == UBOE_TML_QSET ? n : 0);
			EXPECT_EQ(t.node(level, n, 0, o), 0);
			if (level == UBOE_TML_GROUP)
				EXPECT_EQ(t.node(UBOE_TML_FUNCTION, n, n), 0);
			if (level != UBOE_TML_QSET)
				EXPECT_EQ(t.node(UBOE_TML_QSET, n, n), 0);
			s.push_back(&t.add(int(n)));
			n++;
		}
	}

	std::vector<sender *> s;
};

class Siblings : public testing::TestWithParam<unsigned>
{
};

/* A higher priority leaves the others nothing, as long as it has something */
TEST_P(Siblings, PriorityPreempts)
{
	tree t(1000000);
	family f(t, GetParam(), { { .prio = 1 }, { .prio = 5 }, { .prio = 0 } });

	f.s[1]->from = 10 * ms;
	f.s[1]->until = 30 * ms;
	t.run(10 * ms);
	EXPECT_NEAR(double(f.s[0]->sent), 1.25e6 + 125e3, 13e3);
	std::uint64_t low = f.s[0]->sent;
	t.run(30 * ms - 1);
	EXPECT_LE(f.s[0]->sent - low, 2 * 1500u) << "one may have been on its way";
	EXPECT_NEAR(double(f.s[1]->sent), 2.5e6, 25e3);
	EXPECT_LE(f.s[2]->sent, 1500u);
	t.run(40 * ms);
	EXPECT_NEAR(double(f.s[0]->sent - low), 1.25e6, 13e3);
	EXPECT_LE(f.s[2]->sent, 1500u);
}

/* Shares by weight within 2 %, whatever the packets' sizes */
TEST_P(Siblings, WeightsShare)
{
	for (std::uint32_t kbps : { 10000u, 1000000u, 100000000u }) {
		tree t(kbps);
		family f(t, GetParam(),
			 { { .weight = 1 }, { .weight = 3 }, { .weight = 9 }, { .weight = 3 } });
		const std::uint32_t sizes[] = { 1500, 300, 4200, 8300 };
		std::uint64_t length = std::uint64_t(ns_of(16e6, kbps)), total = 0;
		std::vector<std::uint64_t> before;

		for (unsigned i = 0; i < 4; i++)
			f.s[i]->size = sizes[i];
		t.run(length / 8);
		for (sender *s : f.s)
			before.push_back(s->sent);
		t.run(length);
		for (unsigned i = 0; i < 4; i++)
			total += f.s[i]->sent - before[i];
		for (unsigned i = 0; i < 4; i++) {
			double share = double(f.s[i]->sent - before[i]) / double(total);
			double want = std::array{ 1, 3, 9, 3 }[i] / 16.0;

			EXPECT_NEAR(share, want, 0.02 * want) << kbps << " kb/s, child " << i;
		}
		EXPECT_NEAR(double(total), 14e6, 14e4);
	}
}

/* The lightest of many gets its part, and the queue's flows take turns */
TEST_P(Siblings, NobodyStarves)
{
	tree t(1000000);
	family f(t, GetParam(), { { .weight = 255 }, { .weight = 255 }, { .weight = 1 } });
	std::vector<sender *> more{ f.s[0] };

	for (unsigned i = 0; i < 9; i++)
		more.push_back(&t.add(0));
	/* who comes first has the burst of the beginning for itself */
	t.run(20 * ms);
	for (sender &s : t.senders)
		s.sent = 0;
	t.run(820 * ms);
	EXPECT_NEAR(double(f.s[2]->sent), 1e8 / 511, 1e8 / 511 / 20);
	for (sender *s : more)
		EXPECT_NEAR(double(s->sent), 1e8 / 511 * 25.5, 5e4);
}

/* One that leaves gives its share to the rest, and saves nothing up for later */
TEST_P(Siblings, AbsenceSavesNothing)
{
	tree t(1000000);
	family f(t, GetParam(), { { .weight = 1 }, { .weight = 1 } });

	f.s[1]->from = 50 * ms;
	t.run(50 * ms);
	std::uint64_t alone = f.s[0]->sent;
	EXPECT_NEAR(double(alone), 6.25e6 + 125e3, 63e3);
	t.run(60 * ms);
	EXPECT_NEAR(double(f.s[0]->sent - alone), 0.625e6, 13e3);
	EXPECT_NEAR(double(f.s[1]->sent), 0.625e6, 13e3);
}

INSTANTIATE_TEST_SUITE_P(Levels, Siblings,
			 testing::Values(UBOE_TML_GROUP, UBOE_TML_FUNCTION, UBOE_TML_QSET),
			 [](const auto &i) { return std::string(levels[i.param]); });

/* A full bucket lets its burst and at most a packet more pass at once */
TEST(Buckets, BurstThenRate)
{
	tree t;

	EXPECT_EQ(t.node(UBOE_TML_GROUP, 0, 0), 0);
	EXPECT_EQ(t.node(UBOE_TML_FUNCTION, 0, 0,
			 { .peak = 1000000,
			   .committed = 100000,
			   .peak_burst = 64000,
			   .committed_burst = 16000 }),
		  0);
	EXPECT_EQ(t.node(UBOE_TML_QSET, 0, 0), 0);
	sender &s = t.add(0);

	s.size = 1000;
	t.run(0);
	EXPECT_EQ(s.sent, 65000u);
	t.run(8 * us - 1);
	EXPECT_EQ(s.sent, 65000u);
	t.run(8 * us);
	EXPECT_EQ(s.sent, 66000u) << "1000 bytes at 1 Gb/s later";
	/* a second of silence fills it again, and no more than that */
	s.left = 0;
	t.run(1 * sec);
	s.left = never;
	s.next = t.now;
	std::uint64_t before = s.sent;
	t.run(1 * sec);
	EXPECT_EQ(s.sent - before, 65000u);
}

class Promise : public testing::TestWithParam<unsigned>
{
};

/* What was promised comes before a higher priority; what exceeds it does not */
TEST_P(Promise, ComesBeforePriority)
{
	tree t(1000000);
	family f(t, GetParam(),
		 { { .prio = 0, .committed = 200000, .committed_burst = 50000 }, { .prio = 7 } });

	f.s[0]->from = 20 * ms;
	t.run(20 * ms);
	/* its burst first: 50,000 bytes take 400 us of the port's time, and more comes meanwhile */
	t.run(20 * ms + 450 * us);
	EXPECT_NEAR(double(f.s[0]->sent), 56e3, 4e3);
	std::uint64_t low = f.s[0]->sent, high = f.s[1]->sent;
	t.run(24 * ms);
	low = f.s[0]->sent, high = f.s[1]->sent;
	t.run(124 * ms);
	EXPECT_NEAR(double(f.s[0]->sent - low), 2.5e6, 25e3) << "200 Mb/s";
	EXPECT_NEAR(double(f.s[1]->sent - high), 10e6, 1e5) << "the other 800";
	/* alone it is not held to its promise */
	f.s[1]->left = 0;
	low = f.s[0]->sent;
	t.run(224 * ms);
	EXPECT_NEAR(double(f.s[0]->sent - low), 12.5e6, 125e3);
}

/* Two promises and the rest by weight */
TEST_P(Promise, RestIsShared)
{
	tree t(1000000);
	family f(t, GetParam(),
		 { { .weight = 1, .committed = 400000 }, { .weight = 3 }, { .weight = 1 } });

	t.run(10 * ms);
	std::uint64_t was[] = { f.s[0]->sent, f.s[1]->sent, f.s[2]->sent };
	t.run(210 * ms);
	/* 25 MB: 10 MB promised, 15 MB in shares of 1, 3, 1 */
	EXPECT_NEAR(double(f.s[0]->sent - was[0]), 13e6, 0.26e6);
	EXPECT_NEAR(double(f.s[1]->sent - was[1]), 9e6, 0.18e6);
	EXPECT_NEAR(double(f.s[2]->sent - was[2]), 3e6, 0.06e6);
}

INSTANTIATE_TEST_SUITE_P(Levels, Promise, testing::Values(UBOE_TML_GROUP, UBOE_TML_FUNCTION),
			 [](const auto &i) { return std::string(levels[i.param]); });

/* The narrowest of all levels decides */
TEST(Hierarchy, NarrowestDecides)
{
	ubsim::rng r(7);

	for (unsigned n = 0; n < 40; n++) {
		std::uint32_t rate[5], least = ~0u;

		for (std::uint32_t &v : rate) {
			v = std::uint32_t(r.scaled(1000, 200000000));
			least = std::min(least, v);
		}
		tree t(rate[0]);
		EXPECT_EQ(t.node(UBOE_TML_GROUP, 0, 0, { .peak = rate[1] }), 0);
		EXPECT_EQ(t.node(UBOE_TML_FUNCTION, 0, 0, { .peak = rate[2] }), 0);
		EXPECT_EQ(t.node(UBOE_TML_QSET, 0, 0, { .peak = rate[3] }), 0);
		sender &s = t.add(0, rate[4]);
		/* the wider ones' bursts must be over, too */
		auto length = std::uint64_t(ns_of(600e3, least)) + 300 * ms;
		length = std::min(length, std::uint64_t(ns_of(30e6, least)));
		t.run(length / 2);
		std::uint64_t before = s.sent;
		t.run(length);
		double want = double(length - length / 2) * least / 8e6;
		EXPECT_NEAR(double(s.sent - before), want, want / 100 + 3000) << least << " kb/s";
	}
}

/* A jetty's own limit holds up nobody else in its queue */
TEST(Hierarchy, OwnLimitIsItsOwn)
{
	tree t(1000000);

	line(t, UBOE_TML_PORT, 0);
	sender &slow = t.add(7, 1000), &fast = t.add(7), &apart = t.add(-1, 50000);
	t.run(500 * ms);
	EXPECT_NEAR(double(slow.sent), 62.5e3, 2000);
	EXPECT_NEAR(double(fast.sent), 62.5e6 - 62.5e3, 62.5e4);
	EXPECT_NEAR(double(apart.sent), 3.125e6 + 6250, 3.1e4) << "has no part in the port";
}

/* What was granted and not sent goes back to the buckets */
TEST(Waiting, GrantsComeBack)
{
	tree t(1000);

	line(t, UBOE_TML_PORT, 0);
	sender &a = t.add(7), &b = t.add(7);
	ubp_tm_begin(&a.f);
	ASSERT_TRUE(ubp_tm_ask(&a.f, 1500, 0));
	ubp_tm_back(&a.f, 1500);
	ubp_tm_end(&a.f, false);
	EXPECT_EQ(t.port()->sent, 0u);
	EXPECT_FALSE(a.f.present);
	ubp_tm_begin(&b.f);
	EXPECT_TRUE(ubp_tm_ask(&b.f, 1500, 0)) << "as if a had not been there";
	EXPECT_FALSE(ubp_tm_ask(&b.f, 1500, 0));
	EXPECT_EQ(b.f.when, 11 * ms) << "1500 bytes, less the burst of a millisecond";
	ubp_tm_leave(&b.f);
	EXPECT_EQ(t.port()->at, never);
}

/* One of the sleepers looks at the time; when it goes, another is asked to */
TEST(Waiting, TheClockIsPassedOn)
{
	tree t(1000);

	line(t, UBOE_TML_PORT, 0);
	sender &a = t.add(7), &b = t.add(7), &c = t.add(7);
	a.left = 1;
	t.run(0);
	ASSERT_TRUE(b.waits && c.waits);
	EXPECT_EQ(b.f.when, 11 * ms);
	EXPECT_EQ(c.f.when, 1 * sec) << "somebody else looks";
	ubp_tm_leave(&b.f);
	b.left = 0;
	EXPECT_EQ(c.next, 0u) << "woken";
	t.run(0);
	EXPECT_EQ(c.f.when, 11 * ms);
}

/* The first of several that wait is let go by whoever looks; the rate can change meanwhile */
TEST(Waiting, RatesChange)
{
	tree t(1000);

	line(t, UBOE_TML_PORT, 0);
	sender &a = t.add(7);
	t.run(100 * ms);
	EXPECT_NEAR(double(a.sent), 12.5e3 + 125, 1500);
	uboe_tm_ctx c{};
	c.peak_kbps = 1000000;
	ASSERT_EQ(t.h.modify(UBOE_MBOX_TM, UBOE_TM_TAG(UBOE_TML_PORT, 0), c, UBOE_TMM_PEAK), 0);
	std::uint64_t before = a.sent;
	t.run(200 * ms);
	EXPECT_NEAR(double(a.sent - before), 12.5e6 + 125e3, 125e3);
}

/* So many wait that nobody lets all of them go at once; each gets there all the same */
TEST(Waiting, Crowds)
{
	tree t(1000);

	line(t, UBOE_TML_PORT, 0);
	for (unsigned i = 0; i < 2000; i++)
		t.add(7).left = 2;
	t.run(0);
	uboe_tm_ctx c{};
	c.peak_kbps = 200000000;
	ASSERT_EQ(t.h.modify(UBOE_MBOX_TM, UBOE_TM_TAG(UBOE_TML_PORT, 0), c, UBOE_TMM_PEAK), 0);
	t.run(100 * ms);
	for (sender &s : t.senders)
		EXPECT_EQ(s.left, 0u);
	EXPECT_EQ(t.stalls, 0u);
}

/* A probe goes out whatever the buckets hold, and is paid for */
TEST(Waiting, ForcedIsPaidFor)
{
	tree t(1000);

	line(t, UBOE_TML_PORT, 0);
	sender &a = t.add(7, 2000);
	t.run(0);
	ASSERT_TRUE(a.waits);
	a.f.force = true;
	ubp_tm_begin(&a.f);
	EXPECT_TRUE(ubp_tm_ask(&a.f, 1500, 0));
	EXPECT_FALSE(ubp_tm_ask(&a.f, 1500, 0));
	ubp_tm_end(&a.f, false);
	a.next = a.f.when;
	a.sent += 1500;
	t.run(1 * sec);
	EXPECT_NEAR(double(a.sent), 125e3 + 125, 3000);
}

/* Random trees, senders that come and go, late timers */
class Random : public testing::TestWithParam<unsigned>
{
      protected:
	node_options draw(double limited)
	{
		node_options o;

		o.prio = std::uint8_t(r.chance(0.3) ? r.below(8) : 0);
		o.weight = std::uint16_t(r.scaled(1, 255));
		if (r.chance(limited))
			o.peak = std::uint32_t(r.scaled(100000, 100000000));
		if (o.peak && r.chance(0.5))
			o.peak_burst = std::uint32_t(r.scaled(1, 1 << 20));
		return o;
	}

	void build(tree &t)
	{
		unsigned functions = 0, qsets = 0;

		for (unsigned g = 0; g < r.range(1, 6); g++) {
			node_options o = draw(0.5);
			if (r.chance(0.5))
				o.committed =
					std::uint32_t(r.scaled(1000, o.peak ? o.peak : 10000000));
			ASSERT_EQ(t.node(UBOE_TML_GROUP, g, 0, o), 0);
			for (std::uint64_t n = r.range(1, 3); n; n--, functions++) {
				ASSERT_EQ(t.node(UBOE_TML_FUNCTION, functions, g, draw(0.5)), 0);
				for (std::uint64_t m = r.range(1, 4); m; m--, qsets++) {
					o = draw(0.3);
					o.vl = std::uint8_t(m);
					ASSERT_EQ(t.node(UBOE_TML_QSET, qsets, functions, o), 0);
				}
			}
		}
		for (std::uint64_t n = r.range(2, 40); n; n--) {
			sender &s =
				t.add(int(r.below(qsets)),
				      r.chance(0.3) ? std::uint32_t(r.scaled(10000, 10000000)) : 0);
			s.size = std::uint32_t(r.range(64, 8300));
			s.from = r.below(5 * ms);
			s.left = r.scaled(1, 300);
		}
	}

	/* What passed a node is what passed below it, and no more than its bucket gave */
	static void audit(tree &t)
	{
		for (ubp_tm_node &n : t.h.dev()->tm->node) {
			std::uint64_t below = 0;

			if (!n.level)
				continue;
			for (unsigned i = 0; i < UBP_TM_FAN; i++)
				if (n.kids >> i & 1)
					below += n.kid[i]->sent;
			for (sender &s : t.senders)
				if (s.f.queue == &n)
					below += s.sent + s.f.purse + s.f.credit;
			EXPECT_EQ(n.sent, below) << "level " << unsigned(n.level);
			if (n.peak_kbps)
				EXPECT_LE(double(n.sent), (double(t.now) + double(n.peak.burst)) *
									  n.peak_kbps / 8e6 +
								  8301)
					<< "level " << unsigned(n.level);
		}
	}

	ubsim::rng r{ GetParam() };
};

TEST_P(Random, EverybodyGetsThere)
{
	tree t(std::uint32_t(r.scaled(1000000, 100000000)));

	build(t);
	if (r.chance(0.5))
		t.lateness = r.scaled(1 * us, 200 * us);
	for (unsigned i = 1; i <= 40; i++) {
		t.run(i * ms);
		audit(t);
	}
	t.run(60 * sec);
	audit(t);
	for (sender &s : t.senders) {
		EXPECT_EQ(s.left, 0u);
		EXPECT_FALSE(s.f.present);
	}
	EXPECT_EQ(t.port()->at, never);
	EXPECT_EQ(t.stalls, 0u) << "somebody waited, and nobody looked at the time";
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, testing::Range(1u, 201u));

} /* namespace */
