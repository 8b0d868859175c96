// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Who sends when: the slices of a program's KICK, acknowledgements that answers spare. */
#include <gtest/gtest.h>

#include "rig.hpp"

using namespace rig;

namespace
{

class Drive : public testing::Test
{
      protected:
	static ubp_config cfg()
	{
		ubp_config c = ubsim::host::small_config();

		c.slice = 4;
		c.ack_every = 2;
		c.ack_delay_us = 1000;
		return c;
	}

	void SetUp() override { ASSERT_TRUE(p.connect()); }

	void post(std::uint8_t op, std::uint32_t len)
	{
		p.a.q->put({ .op = op,
			     .sges = { p.a.local(0, len) },
			     .remote = p.b.m.va(),
			     .rkey = key });
		p.a.q->ring();
	}

	int drive() { return ubp_drive_id(p.a.h.dev(), p.a.id); }

	pair p{ false, cfg() };
};

TEST_F(Drive, ASliceAtATime)
{
	post(UBOE_SQE_WRITE, 10 * 1024);
	EXPECT_EQ(drive(), 1);
	EXPECT_EQ(p.a.h.out().size(), 4u);
	EXPECT_EQ(drive(), 1);
	EXPECT_EQ(p.a.h.out().size(), 8u);
	EXPECT_EQ(drive(), 0);
	EXPECT_EQ(p.a.h.out().size(), 10u);
	p.run(1);
	EXPECT_TRUE(p.a.tx.poll());
}

TEST_F(Drive, AcknowledgementsStartNothingMeanwhile)
{
	post(UBOE_SQE_WRITE, 10 * 1024);
	EXPECT_EQ(drive(), 1);
	pair::carry(p.a, p.b);
	pair::carry(p.b, p.a);
	EXPECT_TRUE(p.a.h.out().empty());
	EXPECT_TRUE(p.a.h.turns().empty());
	EXPECT_EQ(p.a.tp()->snd_una, p.a.tp()->snd_nxt) << "they were counted, though";
	EXPECT_EQ(drive(), 1);
	EXPECT_EQ(p.a.h.out().size(), 4u);
}

TEST_F(Drive, WhoLeavesHandsOver)
{
	post(UBOE_SQE_WRITE, 10 * 1024);
	EXPECT_EQ(drive(), 1);
	ubp_leave_id(p.a.h.dev(), p.a.id);
	EXPECT_EQ(p.a.h.turns().size(), 1u);
	ubp_leave_id(p.a.h.dev(), p.a.id);
	EXPECT_EQ(p.a.h.turns().size(), 1u) << "once";
	p.run(1);
	EXPECT_TRUE(p.a.tx.poll());
}

TEST_F(Drive, AReadCountsWithItsAnswer)
{
	post(UBOE_SQE_READ, 3 * 1024);
	post(UBOE_SQE_READ, 3 * 1024);
	EXPECT_EQ(drive(), 1);
	EXPECT_EQ(p.a.h.out().size(), 1u);
	pair::carry(p.a, p.b);
	EXPECT_EQ(p.b.h.out().size(), 3u);
	p.run(1);
	EXPECT_TRUE(p.a.tx.poll());
	EXPECT_FALSE(p.a.tx.poll());
}

TEST_F(Drive, ABrokenQueueIsDoneAtOnce)
{
	post(UBOE_SQE_WRITE, 10 * 1024);
	EXPECT_EQ(drive(), 1);
	uboe_jetty_ctx c{};
	c.state = UBOE_JS_ERROR;
	ASSERT_EQ(p.a.h.modify(UBOE_MBOX_JETTY, p.a.id, c, UBOE_JM_STATE), 0);
	EXPECT_EQ(drive(), 0);
	ubp_leave_id(p.a.h.dev(), p.a.id);
	EXPECT_EQ(ubp_drive_id(p.a.h.dev(), p.a.id + 1), -ENOENT);
}

/* The answer of a Read stands for the acknowledgement of its request */
TEST_F(Drive, AnAnswerSparesAnAcknowledgement)
{
	moved b(p.b.h);

	post(UBOE_SQE_READ, 8);
	EXPECT_EQ(drive(), 0);
	pair::carry(p.a, p.b);
	EXPECT_EQ(p.b.h.out().size(), 1u);
	EXPECT_EQ(p.b.tp()->ack_at, UBP_NEVER);
	p.run();
	EXPECT_EQ(b.by(UBP_S_ACKS_SENT), 0u);
	EXPECT_TRUE(p.a.tx.poll());
}

/* Go-back-N: a gap that could not be named in time has closed meanwhile */
TEST_F(Drive, ANakIsForgottenWithItsGap)
{
	p.b.tp()->nak_now = true;
	post(UBOE_SQE_WRITE, 8);
	EXPECT_EQ(drive(), 0);
	p.run(1);
	EXPECT_TRUE(p.a.tx.poll());
	EXPECT_FALSE(p.b.tp()->nak_now);
}

} /* namespace */
