// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What an initiator makes of answers that are not what it wants. */
#include <gtest/gtest.h>

#include "rig.hpp"

using namespace rig;

namespace
{

class Answer : public testing::Test
{
      protected:
	void SetUp() override { ASSERT_TRUE(p.connect()); }

	/* The answer to a Read of 64 bytes, changed at @at bytes behind the TPH */
	std::optional<uboe_cqe> changed(std::size_t at, std::uint8_t bits)
	{
		p.a.q->post({ .op = UBOE_SQE_READ,
			      .sges = { p.a.local(0, 64) },
			      .remote = p.b.m.va(),
			      .rkey = key });
		pair::carry(p.a, p.b);
		EXPECT_EQ(p.b.h.out().size(), 1u);
		bytes &answer = p.b.h.out()[0].data;

		answer[tph_at(answer) + UB_TPH_LEN + at] ^= bits;
		seal(answer);
		pair::carry(p.b, p.a);
		return p.a.tx.poll();
	}

	pair p;
};

TEST_F(Answer, AsItIsWanted)
{
	auto c = changed(0, 0);

	ASSERT_TRUE(c);
	EXPECT_EQ(status(*c), UBOE_CQE_OK);
}

TEST_F(Answer, PoisonedPayloadIsNotPlaced)
{
	std::uint64_t canary = 0x1122334455667788;

	p.a.m.write(0, &canary, 8);
	auto c = changed(1, UB_ATAH_POISON);

	ASSERT_TRUE(c);
	EXPECT_EQ(status(*c), UBOE_CQE_REMOTE);
	EXPECT_EQ(sub(*c), UBOE_CQE_REMOTE_POISON);
	EXPECT_EQ(p.a.m.load(0, 8), canary);
	EXPECT_EQ(p.a.state(), UBOE_JS_ERROR);
}

} /* namespace */
