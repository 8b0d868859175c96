// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Traffic management: the commands, what they refuse, and what they answer. */
#include <gtest/gtest.h>

#include "rig.hpp"

extern "C" {
#include "ubp_tm.h"
}

using namespace rig;

namespace
{

constexpr std::uint32_t jetty = 0x101;

class TmCommands : public testing::Test
{
      protected:
	static uboe_tm_ctx ctx(std::uint32_t parent = 0)
	{
		uboe_tm_ctx c{};

		c.weight = 1;
		c.parent = parent;
		return c;
	}

	static uboe_tm_ctx plain(std::uint32_t parent = 0)
	{
		uboe_tm_ctx c{};

		c.parent = parent;
		return c;
	}

	int make(std::uint32_t level, std::uint32_t number, const uboe_tm_ctx &c)
	{
		return e.h.create(UBOE_MBOX_TM, UBOE_TM_TAG(level, number), c);
	}
	int change(std::uint32_t level, std::uint32_t number, const uboe_tm_ctx &c,
		   std::uint32_t mask)
	{
		return e.h.modify(UBOE_MBOX_TM, UBOE_TM_TAG(level, number), c, mask);
	}
	int look(std::uint32_t level, std::uint32_t number, uboe_tm_ctx &c)
	{
		return e.h.query(UBOE_MBOX_TM, UBOE_TM_TAG(level, number), c);
	}
	int drop(std::uint32_t level, std::uint32_t number)
	{
		return e.h.destroy(UBOE_MBOX_TM, UBOE_TM_TAG(level, number));
	}
	void port() { ASSERT_EQ(make(UBOE_TML_PORT, 0, plain()), 0); }

	end e{ addr(false, 1), jetty };
};

TEST_F(TmCommands, TopDownAndBack)
{
	EXPECT_EQ(make(UBOE_TML_GROUP, 0, ctx()), -ENOENT) << "no port yet";
	port();
	EXPECT_EQ(make(UBOE_TML_PORT, 0, plain()), -EEXIST);
	EXPECT_EQ(make(UBOE_TML_FUNCTION, 0, ctx()), -ENOENT);
	EXPECT_EQ(make(UBOE_TML_GROUP, 31, ctx()), 0);
	EXPECT_EQ(make(UBOE_TML_GROUP, 31, ctx()), -EEXIST);
	EXPECT_EQ(make(UBOE_TML_GROUP, 32, ctx()), -EINVAL);
	EXPECT_EQ(make(UBOE_TML_FUNCTION, 63, ctx(31)), 0);
	EXPECT_EQ(make(UBOE_TML_FUNCTION, 64, ctx(31)), -EINVAL);
	EXPECT_EQ(make(UBOE_TML_QSET, 127, ctx(63)), 0);
	EXPECT_EQ(make(UBOE_TML_QSET, 126, ctx(63)), -EEXIST) << "its VL is served";
	EXPECT_EQ(make(UBOE_TML_QSET, 128, ctx(63)), -EINVAL);
	EXPECT_EQ(make(UBOE_TML_QUEUE, 1, ctx(127)), -EOPNOTSUPP);
	EXPECT_EQ(make(0, 0, ctx()), -EINVAL);
	EXPECT_EQ(make(7, 0, ctx()), -EINVAL);
	EXPECT_EQ(make(UBOE_TML_JETTY, jetty, plain(63)), 0);
	EXPECT_EQ(make(UBOE_TML_JETTY, jetty, plain(63)), -EEXIST);
	EXPECT_EQ(drop(UBOE_TML_PORT, 0), -EBUSY);
	EXPECT_EQ(drop(UBOE_TML_GROUP, 31), -EBUSY);
	EXPECT_EQ(drop(UBOE_TML_FUNCTION, 63), -EBUSY);
	EXPECT_EQ(drop(UBOE_TML_QSET, 127), -EBUSY);
	EXPECT_EQ(drop(UBOE_TML_JETTY, jetty), 0);
	EXPECT_EQ(drop(UBOE_TML_JETTY, jetty), -ENOENT);
	EXPECT_EQ(drop(UBOE_TML_QSET, 127), 0);
	EXPECT_EQ(drop(UBOE_TML_QSET, 127), -ENOENT);
	EXPECT_EQ(drop(UBOE_TML_FUNCTION, 63), 0);
	EXPECT_EQ(drop(UBOE_TML_GROUP, 31), 0);
	EXPECT_EQ(drop(UBOE_TML_PORT, 0), 0);
	EXPECT_EQ(drop(UBOE_TML_PORT, 0), -ENOENT);
}

/* 32 groups, 8 functions a group, 16 queue sets a function (seed 003, section 9) */
TEST_F(TmCommands, Fans)
{
	port();
	for (std::uint32_t i = 0; i < 32; i++)
		EXPECT_EQ(make(UBOE_TML_GROUP, i, ctx()), 0);
	for (std::uint32_t i = 0; i < 8; i++)
		EXPECT_EQ(make(UBOE_TML_FUNCTION, i, ctx(4)), 0);
	EXPECT_EQ(make(UBOE_TML_FUNCTION, 8, ctx(4)), -ENOSPC);
	EXPECT_EQ(make(UBOE_TML_FUNCTION, 8, ctx(5)), 0);
	for (std::uint32_t i = 0; i < 16; i++) {
		uboe_tm_ctx c = ctx(8);

		c.vl = std::uint8_t(i);
		EXPECT_EQ(make(UBOE_TML_QSET, i, c), 0);
	}
	uboe_tm_ctx c = ctx(8);
	c.vl = 16;
	EXPECT_EQ(make(UBOE_TML_QSET, 16, c), -EINVAL);
	EXPECT_EQ(drop(UBOE_TML_QSET, 5), 0);
	c.vl = 5;
	EXPECT_EQ(make(UBOE_TML_QSET, 77, c), 0) << "the slot is free again";
}

TEST_F(TmCommands, Ranges)
{
	struct {
		const char *what;
		int (*set)(uboe_tm_ctx &c);
	} bad[] = {
		{ "rate below 1 Mb/s", [](uboe_tm_ctx &c) { return int(c.peak_kbps = 999); } },
		{ "rate above 200 Gb/s",
		  [](uboe_tm_ctx &c) { return int(c.peak_kbps = 200000001); } },
		{ "promise below 1 Mb/s",
		  [](uboe_tm_ctx &c) { return int(c.committed_kbps = 1); } },
		{ "burst", [](uboe_tm_ctx &c) { return int(c.peak_burst = (64 << 20) + 1); } },
		{ "priority", [](uboe_tm_ctx &c) { return int(c.prio = 8); } },
		{ "weight 0",
		  [](uboe_tm_ctx &c) {
			  c.weight = 0;
			  return 1;
		  } },
		{ "weight 256", [](uboe_tm_ctx &c) { return int(c.weight = 256); } },
		{ "VL of an SL", [](uboe_tm_ctx &c) { return int(c.sl_vl[15] = 16); } },
		{ "VL", [](uboe_tm_ctx &c) { return int(c.vl = 1); } },
		{ "reserved", [](uboe_tm_ctx &c) { return int(c.rsvd[18] = 1); } },
		{ "answer", [](uboe_tm_ctx &c) { return int(c.sent = 1); } },
		{ "promise above the limit",
		  [](uboe_tm_ctx &c) {
			  c.peak_kbps = 2000;
			  return int(c.committed_kbps = 2001);
		  } },
	};
	port();
	ASSERT_EQ(make(UBOE_TML_GROUP, 0, ctx()), 0);
	for (auto &b : bad) {
		uboe_tm_ctx c = ctx();

		ASSERT_NE(b.set(c), 0);
		EXPECT_EQ(make(UBOE_TML_FUNCTION, 0, c), -EINVAL) << b.what;
	}
	uboe_tm_ctx c = ctx();
	c.peak_kbps = c.committed_kbps = 200000000;
	c.prio = 7;
	c.weight = 255;
	EXPECT_EQ(make(UBOE_TML_FUNCTION, 0, c), 0);
	/* fields that a level does not have */
	c = ctx();
	c.committed_kbps = 1000;
	EXPECT_EQ(make(UBOE_TML_QSET, 0, c), -EINVAL);
	c = ctx();
	c.sl_vl[3] = 1;
	EXPECT_EQ(make(UBOE_TML_GROUP, 1, c), -EINVAL);
	c = ctx(UBOE_TM_NO_PARENT);
	c.peak_kbps = 1000;
	EXPECT_EQ(make(UBOE_TML_JETTY, jetty, c), -EINVAL) << "a jetty has no weight";
}

TEST_F(TmCommands, ModifyAndQuery)
{
	port();
	ASSERT_EQ(make(UBOE_TML_GROUP, 2, ctx()), 0);
	uboe_tm_ctx c = ctx(2), got;
	c.peak_kbps = 5000;
	c.committed_kbps = 2000;
	c.committed_burst = 3000;
	c.sl_vl[4] = 9;
	ASSERT_EQ(make(UBOE_TML_FUNCTION, 6, c), 0);
	ASSERT_EQ(look(UBOE_TML_FUNCTION, 6, got), 0);
	EXPECT_EQ(std::memcmp(&c, &got, sizeof(c)), 0) << "as it was made";
	c.peak_kbps = 1999;
	EXPECT_EQ(change(UBOE_TML_FUNCTION, 6, c, UBOE_TMM_PEAK), -EINVAL) << "the promise stays";
	EXPECT_EQ(change(UBOE_TML_FUNCTION, 6, c, 0x20), -EOPNOTSUPP);
	EXPECT_EQ(change(UBOE_TML_GROUP, 2, c, UBOE_TMM_SL_VL), -EOPNOTSUPP);
	EXPECT_EQ(change(UBOE_TML_GROUP, 3, c, UBOE_TMM_PRIO), -ENOENT);
	EXPECT_EQ(change(UBOE_TML_JETTY, jetty, c, UBOE_TMM_PEAK), -ENOENT);
	c.committed_kbps = 1500;
	c.prio = 3;
	EXPECT_EQ(change(UBOE_TML_FUNCTION, 6, c,
			 UBOE_TMM_PEAK | UBOE_TMM_COMMITTED | UBOE_TMM_PRIO),
		  0);
	ASSERT_EQ(look(UBOE_TML_FUNCTION, 6, got), 0);
	EXPECT_EQ(std::memcmp(&c, &got, sizeof(c)), 0);
	c = ctx(6);
	c.vl = 9;
	ASSERT_EQ(make(UBOE_TML_QSET, 40, c), 0);
	EXPECT_EQ(look(UBOE_TML_QUEUE, 40, got), 0);
	EXPECT_EQ(got.parent, 40u);
	EXPECT_EQ(look(UBOE_TML_QUEUE, 41, got), -ENOENT);
	/* the jetty's SL is 0, for which this function has no queue set */
	EXPECT_EQ(make(UBOE_TML_JETTY, jetty, plain(6)), -ENOENT);
	EXPECT_EQ(make(UBOE_TML_JETTY, jetty + 1, plain(6)), -ENOENT);
	c.sl_vl[0] = 9;
	ASSERT_EQ(change(UBOE_TML_FUNCTION, 6, c, UBOE_TMM_SL_VL), 0);
	c = plain(6);
	c.peak_kbps = 7000;
	EXPECT_EQ(make(UBOE_TML_JETTY, jetty, c), 0);
	ASSERT_EQ(look(UBOE_TML_JETTY, jetty, got), 0);
	EXPECT_EQ(got.parent, 6u);
	EXPECT_EQ(got.vl, 9u);
	EXPECT_EQ(got.peak_kbps, 7000u);
}

TEST_F(TmCommands, ServiceLevelsOfJetties)
{
	ubsim::jfr r{ e.h, 9, 6, 1, pd };
	ubsim::jetty_options o;
	uboe_jetty_ctx c{};

	o.sl = 15;
	ubsim::rc q(e.h, 7, e.tx, e.rx, r, o);
	ASSERT_EQ(e.h.query(UBOE_MBOX_JETTY, 7, c), 0);
	EXPECT_EQ(c.sl, 15u);
	c.sl = 16;
	EXPECT_EQ(e.h.create(UBOE_MBOX_JETTY, 8, c), -EINVAL);
}

/* No memory: nothing is left behind */
TEST_F(TmCommands, NoMemory)
{
	e.h.no_memory = true;
	EXPECT_EQ(make(UBOE_TML_PORT, 0, plain()), -ENOMEM);
	EXPECT_EQ(make(UBOE_TML_JETTY, jetty, plain(UBOE_TM_NO_PARENT)), -ENOMEM);
	e.h.no_memory = false;
	port();
	EXPECT_EQ(make(UBOE_TML_JETTY, jetty, plain(UBOE_TM_NO_PARENT)), 0)
		<< "a jetty without a limit is counted";
}

} /* namespace */
