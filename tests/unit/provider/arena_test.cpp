// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include <cstdio>
#include <map>
#include <random>
#include <set>

#include "fake_device.hpp"

using namespace uboe;
using namespace uboe::test;

namespace {

unsigned mappings()
{
	std::FILE *f = std::fopen("/proc/self/maps", "r");
	unsigned lines = 0;

	for (int c; (c = std::fgetc(f)) != EOF;)
		lines += c == '\n';
	std::fclose(f);
	return lines;
}

TEST(Buddy, RandomUseAgainstAModel)
{
	constexpr u32 size = 1u << 16;
	std::mt19937 random(7);
	Buddy b;
	std::map<u32, u32> taken; // offset -> order
	std::vector<bool> used(size / 64);

	ASSERT_TRUE(b.init(size));
	for (int step = 0; step < 50000; ++step) {
		if (taken.empty() || random() % 100 < 55) {
			const u32 order = random() % 8;
			const auto at = b.take(order);
			if (!at)
				continue;
			ASSERT_EQ(*at % (64u << order), 0u);
			ASSERT_LE(*at + (64u << order), size);
			for (u32 i = 0; i < 1u << order; ++i) {
				ASSERT_FALSE(used[*at / 64 + i]);
				used[*at / 64 + i] = true;
			}
			taken[*at] = order;
		} else {
			auto it = std::next(taken.begin(), random() % taken.size());
			for (u32 i = 0; i < 1u << it->second; ++i)
				used[it->first / 64 + i] = false;
			b.give(it->first, it->second);
			taken.erase(it);
		}
	}
	for (auto [offset, order] : taken)
		b.give(offset, order);
	EXPECT_TRUE(b.all_free());
	EXPECT_EQ(b.take(10), 0u); // one block again
	EXPECT_FALSE(b.take(0));
}

TEST(Buddy, LowestFirstSoThatNeighboursShareAPage)
{
	Buddy b;

	ASSERT_TRUE(b.init(65536));
	for (u32 i = 0; i < 16; ++i)
		EXPECT_EQ(b.take(2), i * 256);
	b.give(5 * 256, 2);
	EXPECT_EQ(b.take(2), 5u * 256);
}

TEST(Arena, SmallProgramsStaySmall)
{
	FakeDevice dev;
	auto &arenas = reinterpret_cast<Context *>(dev.ctx())->arenas;

	EXPECT_EQ(arenas.arenas(), 0u);
	ArenaBlock a = arenas.take(64), b = arenas.take(65), c = arenas.take(4096);
	EXPECT_EQ(arenas.arenas(), 1u);
	EXPECT_EQ(a.size(), 64u);
	EXPECT_EQ(b.size(), 128u);
	EXPECT_EQ(static_cast<u64>(c.bus()) % 4096, 0u);
	EXPECT_EQ(dev.at<void>(static_cast<u64>(c.bus())), c.data());
}

TEST(Arena, ReusedMemoryIsZero)
{
	FakeDevice dev;
	auto &arenas = reinterpret_cast<Context *>(dev.ctx())->arenas;
	void *where;
	{
		ArenaBlock a = arenas.take(8192);
		where = a.data();
		std::memset(where, 0xee, 8192);
	}
	ArenaBlock b = arenas.take(16384);
	EXPECT_EQ(b.data(), where);
	for (u32 i = 0; i < 16384; ++i)
		ASSERT_EQ(static_cast<u8 *>(b.data())[i], 0) << i;
}

TEST(Arena, LimitsAndFailures)
{
	FakeDevice dev(UBOE_CTX_SOFT, 1u << 20);
	auto &arenas = reinterpret_cast<Context *>(dev.ctx())->arenas;

	errno = 0;
	EXPECT_FALSE(arenas.take((1u << 20) + 1));
	EXPECT_EQ(errno, ENOMEM);
	EXPECT_FALSE(arenas.take(0));
	EXPECT_FALSE(arenas.take(std::size_t{1} << 40));
	ArenaBlock whole = arenas.take(1u << 20);
	EXPECT_TRUE(whole);
	dev.fail_maps = 1; // a large arena is not to be had, a small one is
	ArenaBlock small = arenas.take(64);
	EXPECT_TRUE(small);
	EXPECT_EQ(arenas.arenas(), 2u);
	ArenaBlock rest = arenas.take(1u << 20);
	dev.fail_maps = 2;
	EXPECT_FALSE(arenas.take(1u << 17));
	EXPECT_EQ(errno, ENOMEM);
}

TEST(Arena, SixtyFourThousandQueuePairs)
{
	constexpr u32 count = 65536;
	const unsigned before = mappings();
	FakeDevice dev;
	TestCq cq(dev);
	std::vector<ibv_qp *> qps;
	std::set<u64> pages;

	qps.reserve(count);
	for (u32 i = 0; i < count; ++i) {
		uboe_core_qp_attr attr = {cq.ibcq, cq.ibcq, nullptr, {16, 64, 1, 1, 0}, 0, 0};
		uboe_create_qp_req req;

		qps.push_back(uboe_core_qp_alloc(dev.ctx(), &attr, &req));
		ASSERT_NE(qps.back(), nullptr) << i;
		ASSERT_EQ(uboe_core_qp_created(qps.back(), i + 2, i), 0);
		ASSERT_EQ(req.jpage % UBOE_JPAGE_SOFT_STRIDE, 0u);
		ASSERT_TRUE(pages.insert(req.jpage).second);
	}
	// 65530 is the usual limit of a process; we want tens.
	EXPECT_LT(mappings() - before, 64u);
	RecordProperty("arenas", static_cast<int>(dev.arenas()));
	const u32 arenas = dev.arenas();
	EXPECT_LT(arenas, 24u);
	// All gone and back: no new memory.
	for (ibv_qp *qp : qps)
		uboe_core_qp_free(qp);
	for (u32 i = 0; i < count; ++i) {
		uboe_core_qp_attr attr = {cq.ibcq, cq.ibcq, nullptr, {16, 64, 1, 1, 0}, 0, 0};
		uboe_create_qp_req req;
		qps[i] = uboe_core_qp_alloc(dev.ctx(), &attr, &req);
		ASSERT_NE(qps[i], nullptr);
	}
	EXPECT_EQ(dev.arenas(), arenas);
	for (ibv_qp *qp : qps)
		uboe_core_qp_free(qp);
}

TEST(IdTable, TwentyBits)
{
	auto table = std::make_unique<IdTable<int>>();
	int a, b;

	EXPECT_EQ(table->find(JettyId{5}), nullptr);
	EXPECT_TRUE(table->set(JettyId{5}, &a));
	EXPECT_TRUE(table->set(JettyId{0xfffff}, &b));
	EXPECT_EQ(table->find(JettyId{5}), &a);
	EXPECT_EQ(table->find(JettyId{0xfffff}), &b);
	EXPECT_EQ(table->find(JettyId{6}), nullptr);
	EXPECT_FALSE(table->set(JettyId{0x100000}, &a));
	EXPECT_EQ(table->find(JettyId{0x100005}), nullptr);
	EXPECT_TRUE(table->set(JettyId{5}, nullptr));
	EXPECT_EQ(table->find(JettyId{5}), nullptr);
}

} // namespace
