// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "fake_device.hpp"

using namespace uboe;
using namespace uboe::test;

namespace {

/// The device's side of a ring of 8 elements (smaller than any real one).
struct Ring8 {
	explicit Ring8(u32 start = 0) : cq(ring, 8, &rec), pi(start)
	{
		cq.start_at(start);
		for (u32 i = start; i != start + 8; ++i) // as the lap before left them
			ring[i & 7].w0 = i & 8 ? UBOE_CQE_OWNER : 0;
	}
	void push(u32 id)
	{
		ring[pi & 7].w1 = id << 16;
		ring[pi & 7].w0 = pi & 8 ? 0 : UBOE_CQE_OWNER;
		++pi;
	}
	u32 pop()
	{
		const auto cqe = cq.peek();
		if (!cqe)
			return ~0u;
		cq.next();
		return static_cast<u32>(cqe->local());
	}

	alignas(64) uboe_cqe ring[8] = {};
	uboe_jfc_rec rec = {};
	CompQueue cq;
	u32 pi;
};

TEST(CompDepth, Limits)
{
	u32 depth;

	ASSERT_EQ(comp_depth(1, depth), 0);
	EXPECT_EQ(depth, 64u);
	ASSERT_EQ(comp_depth(65, depth), 0);
	EXPECT_EQ(depth, 128u);
	ASSERT_EQ(comp_depth(1048576, depth), 0);
	EXPECT_EQ(depth, 1048576u);
	EXPECT_EQ(comp_depth(1048577, depth), EINVAL);
	EXPECT_EQ(comp_depth(0, depth), EINVAL);
}

class CompQueueAt : public testing::TestWithParam<u32> {};

TEST_P(CompQueueAt, ManyLaps)
{
	Ring8 r(GetParam());

	for (u32 lap = 0; lap < 20; ++lap) {
		EXPECT_EQ(r.pop(), ~0u);
		const u32 n = 1 + lap % 8;
		for (u32 i = 0; i < n; ++i)
			r.push(i);
		for (u32 i = 0; i < n; ++i)
			ASSERT_EQ(r.pop(), i) << lap;
		EXPECT_EQ(r.pop(), ~0u);
		r.cq.commit();
		EXPECT_EQ(r.rec.ci, r.pi);
	}
}

TEST_P(CompQueueAt, PurgeKeepsTheRestInOrder)
{
	for (u32 n = 0; n <= 8; ++n)
		for (u32 pattern = 0; pattern < 1u << n; ++pattern) {
			Ring8 r(GetParam() + n);
			std::vector<u32> kept, gone;

			for (u32 i = 0; i < n; ++i) {
				r.push(pattern >> i & 1 ? 100 + i : i);
				(pattern >> i & 1 ? gone : kept).push_back(i);
			}
			std::vector<u32> seen;
			const u32 removed = r.cq.purge(
				[](const Cqe &c) { return static_cast<u32>(c.local()) >= 100; },
				[&](const Cqe &c) {
					seen.push_back(static_cast<u32>(c.local()) - 100);
				});
			ASSERT_EQ(removed, gone.size());
			ASSERT_EQ(seen, gone);
			ASSERT_EQ(r.rec.ci, r.pi - static_cast<u32>(kept.size()));
			for (u32 id : kept)
				ASSERT_EQ(r.pop(), id);
			ASSERT_EQ(r.pop(), ~0u);
			// The ring goes on as if nothing had been.
			r.cq.commit();
			for (u32 i = 0; i < 8; ++i)
				r.push(i);
			for (u32 i = 0; i < 8; ++i)
				ASSERT_EQ(r.pop(), i);
			ASSERT_EQ(r.pop(), ~0u);
		}
}

INSTANTIATE_TEST_SUITE_P(Starts, CompQueueAt,
			 testing::Values(0u, 3u, 8u, 13u, 0xfffffff0u, 0xfffffffdu));

TEST(CompQueue, ArmChangesTheWordEachTime)
{
	Ring8 r;

	r.cq.arm(UBOE_ARM_SOLICITED);
	EXPECT_EQ(r.rec.arm, 1u << 2 | UBOE_ARM_SOLICITED);
	r.cq.arm(UBOE_ARM_NEXT);
	EXPECT_EQ(r.rec.arm, 2u << 2 | UBOE_ARM_NEXT);
	// A request for solicited ones does not weaken it ...
	r.cq.arm(UBOE_ARM_SOLICITED);
	EXPECT_EQ(r.rec.arm, 3u << 2 | UBOE_ARM_NEXT);
	// ... until the event has come.
	r.cq.fired();
	r.cq.arm(UBOE_ARM_SOLICITED);
	EXPECT_EQ(r.rec.arm, 4u << 2 | UBOE_ARM_SOLICITED);
}

TEST(CompQueue, CommitOnlyWhenSomethingWasRead)
{
	Ring8 r;

	r.rec.ci = 0x55; // would be overwritten
	r.cq.commit();
	EXPECT_EQ(r.rec.ci, 0x55u);
	r.push(1);
	r.pop();
	r.cq.commit();
	EXPECT_EQ(r.rec.ci, 1u);
}

} // namespace
