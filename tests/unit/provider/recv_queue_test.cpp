// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include <random>

#include "fake_device.hpp"

using namespace uboe;
using namespace uboe::test;

namespace {

TEST(RecvGeometry, Limits)
{
	RecvGeometry g;

	ASSERT_EQ(recv_geometry(1, 1, g), 0);
	EXPECT_EQ(g.depth, 64u);
	EXPECT_EQ(g.sges(), 1u);
	ASSERT_EQ(recv_geometry(500, 3, g), 0);
	EXPECT_EQ(g.depth, 512u);
	EXPECT_EQ(g.sges(), 4u);
	ASSERT_EQ(recv_geometry(32768, 4, g), 0);
	EXPECT_EQ(g.depth, 32768u);
	EXPECT_EQ(recv_geometry(32769, 1, g), EINVAL);
	EXPECT_EQ(recv_geometry(1, 5, g), EINVAL);
	ASSERT_EQ(recv_geometry(0, 0, g), 0);
	EXPECT_EQ(g.depth, 64u);
}

struct Memory {
	explicit Memory(u32 depth, u32 shift, bool shared = false)
		: slots(depth << shift), index(depth),
		  rq({depth, shift}, slots.data(), index.data(), &rec, shared)
	{
	}
	int post(u64 id, std::vector<ibv_sge> sges)
	{
		const int err = rq.append(id, std::span<const ibv_sge>(sges));
		rq.publish();
		return err;
	}

	std::vector<uboe_sge> slots;
	std::vector<u32> index;
	uboe_jfr_rec rec = {};
	RecvQueue rq;
};

TEST(RecvQueue, SlotHoldsTheListAndZeroes)
{
	Memory m(64, 2);

	ASSERT_EQ(m.post(1, {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}}), 0);
	EXPECT_EQ(m.rec.pi, 1u);
	ASSERT_TRUE(m.rq.complete(Slot{m.index[0]}));
	// The same slot again, after a full turn of the free ring
	for (u64 i = 0; i < 63; ++i)
		ASSERT_EQ(m.post(i, {}), 0);
	ASSERT_EQ(m.post(77, {{0x10, 0, 9}, {0x1122334455667788, 0x20, 0xabc}}), 0);
	const u32 slot = m.index[0];
	EXPECT_EQ(slot, 0u);
	EXPECT_EQ(m.slots[0].len, 0x20u);
	EXPECT_EQ(m.slots[0].token, 0xabcu);
	EXPECT_EQ(m.slots[0].va, 0x1122334455667788u);
	for (int i = 1; i < 4; ++i) {
		EXPECT_EQ(m.slots[i].len, 0u);
		EXPECT_EQ(m.slots[i].token, 0u);
	}
	EXPECT_EQ(m.rec.pi, 65u);
}

TEST(RecvQueue, FullAndTooLong)
{
	Memory m(64, 1);

	EXPECT_EQ(m.post(0, {{}, {}, {}}), EINVAL);
	EXPECT_EQ(m.post(0, {{0, 0xffffffff, 0}, {0, 0xffffffff, 0}}), EINVAL); // sum in 64 bits
	for (u64 i = 0; i < 64; ++i)
		ASSERT_EQ(m.post(i, {{i, 8, 0}}), 0);
	EXPECT_EQ(m.post(64, {}), ENOMEM);
	EXPECT_EQ(m.rq.used(), 64u);
	EXPECT_EQ(m.rec.pi, 64u);
	ASSERT_TRUE(m.rq.complete(Slot{5}));
	EXPECT_EQ(m.post(64, {}), 0);
	EXPECT_EQ(m.index[0], 5u);
	EXPECT_EQ(m.post(65, {}), ENOMEM);
}

TEST(RecvQueue, BadSlotsAreRefused)
{
	Memory m(64, 0);

	EXPECT_FALSE(m.rq.complete(Slot{0}));
	EXPECT_FALSE(m.rq.complete(Slot{64}));
	EXPECT_FALSE(m.rq.complete(Slot{0xffff}));
	ASSERT_EQ(m.post(9, {}), 0);
	EXPECT_EQ(m.rq.complete(Slot{0}), 9u);
	EXPECT_FALSE(m.rq.complete(Slot{0}));
}

TEST(RecvQueue, AnyOrderAcrossTheWrapOfIndices)
{
	Memory m(64, 0, true);
	std::mt19937 random(1);
	std::vector<u32> posted;
	u64 next = 0;
	u32 ci = 0xffffff00u;

	m.rq.reset(ci);
	EXPECT_EQ(m.rec.pi, ci);
	for (int step = 0; step < 20000; ++step) {
		if (posted.size() < 64 && (posted.empty() || random() % 2)) {
			ASSERT_EQ(m.post(next, {{next, 1, 0}}), 0);
			const u32 slot = m.index[ci++ & 63];
			ASSERT_EQ(m.slots[slot].va, next);
			posted.push_back(slot);
			++next;
		} else {
			std::swap(posted[random() % posted.size()], posted.back());
			ASSERT_EQ(m.rq.complete(Slot{posted.back()}), m.slots[posted.back()].va);
			posted.pop_back();
		}
		ASSERT_EQ(m.rec.pi, ci);
		ASSERT_EQ(m.rq.used(), posted.size());
	}
}

} // namespace
