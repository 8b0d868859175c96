// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Messages without a connection of their own under traffic management, in virtual time. */
#include <gtest/gtest.h>

#include "rmnet.hpp"

extern "C" {
#include "ubp_tm.h"
}

using namespace rig;

namespace
{

/* Jetties of node 0 that write to node 1 (RM) or send to it (UM), as fast as they may */
class ShapedMessages : public testing::Test
{
      protected:
	struct source {
		ubsim::rc *q;
		ubsim::send_wr wr;
		std::uint64_t left = ~0ull;
		std::uint64_t done = 0;
		unsigned bad = 0;
	};

	ubsim::host &a() { return net[0].h; }

	source &rm(std::uint32_t id, std::uint32_t len, std::uint8_t sl = 0, std::uint8_t slice = 0)
	{
		ubsim::jetty_options o;

		o.sl = sl;
		o.slice = slice;
		return sources[id] = { .q = &net[0].add(id, o),
				       .wr = { .op = UBOE_SQE_WRITE,
					       .sges = { net[0].local(0, len) },
					       .remote = net[1].m.va(),
					       .rkey = key,
					       .tpn = net[0].channel(net[1].self) } };
	}

	/* Nobody receives: what arrives is dropped, which is not the sender's business */
	source &um(std::uint32_t id, std::uint32_t len, std::uint8_t sl = 0)
	{
		node &n = net[0];
		ubsim::jetty_options o;

		o.type = UBOE_JETTY_UM;
		o.eid = n.self;
		o.mtu = 1024;
		o.sl = sl;
		auto &q =
			*(n.jetties[id] = std::make_unique<ubsim::rc>(n.h, id, n.tx, n.rx, n.r, o));
		EXPECT_EQ(q.to_state(UBOE_JS_INIT), 0);
		EXPECT_EQ(q.to_state(UBOE_JS_READY), 0);
		return sources[id] = { .q = &q,
				       .wr = { .op = UBOE_SQE_SEND,
					       .sges = { n.local(0, len) },
					       .rmt = net[1].self,
					       .rmt_type = UBOE_RMT_JETTY,
					       .rmt_id = 999 } };
	}

	void feed()
	{
		while (auto c = net[0].tx.poll()) {
			source &s = sources[u32(UBP_GET(UBOE_CQE_ID_LO, c->w1))];

			s.q->retire(s.q->consumed() + 1);
			s.done++;
			s.bad += status(*c) != UBOE_CQE_OK;
		}
		for (auto &[id, s] : sources)
			while (s.left && 64 - s.q->room() < 8) {
				s.q->post(s.wr);
				s.left--;
			}
	}

	void run(std::uint64_t length)
	{
		const std::uint64_t end = net.clock + length;

		net.until([&] {
			feed();
			return net.clock >= end;
		});
	}

	int tm(std::uint32_t level, std::uint32_t number, const uboe_tm_ctx &c)
	{
		return a().create(UBOE_MBOX_TM, UBOE_TM_TAG(level, number), c);
	}
	int limit(std::uint32_t id, std::uint32_t kbps, std::uint32_t parent = UBOE_TM_NO_PARENT,
		  std::uint32_t burst = 0)
	{
		uboe_tm_ctx c{};

		c.parent = parent;
		c.peak_kbps = kbps;
		c.peak_burst = burst;
		return tm(UBOE_TML_JETTY, id, c);
	}

	std::uint64_t sent(std::uint32_t id)
	{
		uboe_tm_ctx c{};

		EXPECT_EQ(a().query(UBOE_MBOX_TM, UBOE_TM_TAG(UBOE_TML_JETTY, id), c), 0);
		return c.sent;
	}

	/* Port, group, function, and queue sets for VL 0 and 1; SL 5 is VL 1 */
	void plant(std::uint32_t port_kbps, std::uint8_t prio, std::uint16_t weight)
	{
		uboe_tm_ctx c{};

		c.peak_kbps = port_kbps;
		ASSERT_EQ(tm(UBOE_TML_PORT, 0, c), 0);
		c = {};
		c.weight = 1;
		ASSERT_EQ(tm(UBOE_TML_GROUP, 0, c), 0);
		c.sl_vl[5] = 1;
		ASSERT_EQ(tm(UBOE_TML_FUNCTION, 0, c), 0);
		c.sl_vl[5] = 0;
		ASSERT_EQ(tm(UBOE_TML_QSET, 0, c), 0);
		c.vl = 1;
		c.prio = prio;
		c.weight = weight;
		ASSERT_EQ(tm(UBOE_TML_QSET, 1, c), 0);
	}

	network net{ 2 };
	std::map<std::uint32_t, source> sources;
};

/* What a jetty is charged is what its packets are on the wire, and at its rate */
TEST_F(ShapedMessages, OwnLimitOfReliableMessages)
{
	for (std::uint32_t kbps : { 1000u, 10000u, 100000u }) {
		std::uint32_t id = 100 + kbps / 1000;
		rm(id, 3000);
		ASSERT_EQ(limit(id, kbps), 0);
		run(200 * ms);
		std::uint64_t was = sent(id), wire = a().stat(UBP_S_TX_BYTES);
		run(2000 * ms);
		double want = 2.0 * kbps * 125, got = double(sent(id) - was);
		EXPECT_NEAR(got, want, want / 100 + 3300) << kbps;
		/* acknowledgements are not shaped */
		EXPECT_NEAR(double(a().stat(UBP_S_TX_BYTES) - wire), got, got / 50 + 7000) << kbps;
		EXPECT_EQ(sources[id].bad, 0u);
		sources[id].left = 0;
		run(500 * ms);
		ASSERT_EQ(a().destroy(UBOE_MBOX_TM, UBOE_TM_TAG(UBOE_TML_JETTY, id)), 0);
	}
}

/* What 20 messages of a jetty cost the wire beyond what it pays for: acknowledgements */
class Unpaid : public ShapedMessages
{
      public:
	std::int64_t of(bool partition, bool sliced)
	{
		for (unsigned n = 0; n < 2; n++) {
			net[n].mtu = 4096;
			if (partition)
				EXPECT_EQ(net[n].h.modify(UBOE_MBOX_ENTITY, 0, second, UBOE_EM_NPI),
					  0);
		}
		auto &s = rm(100, 8000, 0, sliced ? 10 : 0);
		EXPECT_EQ(limit(100, 10000), 0);
		s.left = 1; /* the channel opens */
		run(100 * ms);
		EXPECT_EQ(s.done, 1u);
		const std::uint64_t was = sent(100), wire = a().stat(UBP_S_TX_BYTES);
		s.left = 20;
		run(1000 * ms);
		EXPECT_EQ(s.done, 21u);
		EXPECT_EQ(s.bad, 0u);
		return std::int64_t(a().stat(UBP_S_TX_BYTES) - wire) -
		       std::int64_t(sent(100) - was);
	}

      private:
	static constexpr uboe_entity_ctx second{ .npi = 2 };

	void TestBody() override {}
};

/* Headers of packets that end with their slice, and those of a partition, are paid for */
TEST(ShapedMessage, SlicesAndPartitions)
{
	const std::int64_t acks = Unpaid().of(false, false);

	EXPECT_NEAR(Unpaid().of(true, false), acks, 500);
	EXPECT_NEAR(Unpaid().of(false, true), acks, 500);
	EXPECT_NEAR(Unpaid().of(true, true), acks, 500);
}

/* A narrow jetty does not hold up others of the same channel */
TEST_F(ShapedMessages, SharedChannelIsNotHeldUp)
{
	rm(100, 60000);
	ASSERT_EQ(limit(100, 1000), 0);
	run(20 * ms);
	rm(101, 16384).left = 100;
	run(100 * ms);
	EXPECT_EQ(sources[101].done, 100u);
	EXPECT_LE(sources[100].done, 1u);
	run(1000 * ms);
	EXPECT_GE(sources[100].done, 1u);
	EXPECT_LE(sources[100].done, 3u);
}

TEST_F(ShapedMessages, OwnLimitOfUnreliableMessages)
{
	for (std::uint32_t kbps : { 1000u, 10000u, 100000u }) {
		std::uint32_t id = 100 + kbps / 1000;
		um(id, 1000);
		ASSERT_EQ(limit(id, kbps), 0);
		run(100 * ms);
		std::uint64_t was = sent(id), wire = a().stat(UBP_S_TX_BYTES);
		run(2000 * ms);
		double want = 2.0 * kbps * 125;
		EXPECT_NEAR(double(sent(id) - was), want, want / 100 + 1200) << kbps;
		EXPECT_EQ(sent(id) - was, a().stat(UBP_S_TX_BYTES) - wire) << "all that left";
		EXPECT_EQ(sources[id].bad, 0u);
		sources[id].left = 0;
		run(500 * ms);
		ASSERT_EQ(a().destroy(UBOE_MBOX_TM, UBOE_TM_TAG(UBOE_TML_JETTY, id)), 0);
	}
}

TEST_F(ShapedMessages, KindsShareByWeight)
{
	plant(50000, 0, 3);
	rm(100, 8000);
	um(101, 1000, 5);
	ASSERT_EQ(limit(100, 0, 0), 0);
	ASSERT_EQ(limit(101, 0, 0), 0);
	run(200 * ms);
	std::uint64_t was[] = { sent(100), sent(101) };
	run(2000 * ms);
	double got[] = { double(sent(100) - was[0]), double(sent(101) - was[1]) };
	EXPECT_NEAR(got[0] + got[1], 12.5e6, 12.5e4);
	EXPECT_NEAR(got[1] / (got[0] + got[1]), 0.75, 0.015);
}

TEST_F(ShapedMessages, ServiceLevelsPreempt)
{
	plant(50000, 7, 1);
	rm(100, 8000);
	um(101, 1000, 5);
	ASSERT_EQ(limit(100, 0, 0), 0);
	/* its own timer is late, and then that of the port */
	ASSERT_EQ(limit(101, 20000, 0, 20000), 0);
	run(200 * ms);
	std::uint64_t was[] = { sent(100), sent(101) };
	run(2000 * ms);
	EXPECT_NEAR(double(sent(101) - was[1]), 5e6, 5e4) << "all that its own limit lets";
	EXPECT_NEAR(double(sent(100) - was[0]), 7.5e6, 7.5e4) << "the rest";
}

/* Those that go or fail while they wait leave their places to others; limits may go, too */
TEST_F(ShapedMessages, WaitersGoAway)
{
	plant(1000, 0, 1);
	rm(100, 8000);
	um(101, 1000, 5);
	rm(102, 8000, 5);
	um(103, 1000);
	for (std::uint32_t id : { 100u, 101u, 102u, 103u })
		ASSERT_EQ(limit(id, 0, 0), 0);
	run(50 * ms);
	EXPECT_EQ(sources[102].q->to_state(UBOE_JS_ERROR), 0);
	EXPECT_EQ(sources[103].q->to_state(UBOE_JS_ERROR), 0);
	sources[102].left = sources[103].left = 0;
	run(10 * ms);
	EXPECT_GT(sources[102].bad, 0u);
	EXPECT_GT(sources[103].bad, 0u);
	sources.erase(101);
	net[0].jetties.erase(101);
	run(200 * ms);
	std::uint64_t was = sent(100);
	run(2000 * ms);
	EXPECT_NEAR(double(sent(100) - was), 250e3, 2500 + 8300) << "has it alone";
	was = sources[100].done;
	ASSERT_EQ(a().destroy(UBOE_MBOX_TM, UBOE_TM_TAG(UBOE_TML_JETTY, 100)), 0);
	run(50 * ms);
	EXPECT_GT(sources[100].done - was, 100u) << "without a limit";
}

} /* namespace */
