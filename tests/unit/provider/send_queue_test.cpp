// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Accounting of the send queue: sizes, laps, wrap of indices, overflow.

#include "fake_device.hpp"

using namespace uboe;
using namespace uboe::test;

namespace {

struct TestSge {
	u64 addr;
	u32 length;
	u32 lkey;
};

/// A send queue by itself, with indices that start where the test likes.
class Bare {
public:
	explicit Bare(u32 start = 0, u32 depth = 8, Window window = Window::none)
		: mem(depth),
		  sq({depth, depth, UBOE_MAX_SGE, UBOE_MAX_INLINE}, mem.data(), page, window, false)
	{
		sq.reset(start);
		std::memset(page, 0, UBOE_JPAGE_DB);
	}

	int post(u32 sges, u64 id = 0, u8 flags = wr_signaled)
	{
		std::vector<TestSge> list(sges, TestSge{0x1000, 64, 1});
		WorkRequest wr;

		wr.wr_id = id;
		wr.flags = flags;
		sq.begin();
		const int err = sq.append(wr, std::span<const TestSge>(list));
		kicked = sq.publish();
		return err;
	}
	u32 word(u32 offset) { return *reinterpret_cast<u32 *>(page + offset); }
	void set(u32 offset, u32 v) { *reinterpret_cast<u32 *>(page + offset) = v; }
	u32 w0(u32 index)
	{
		u32 v;
		std::memcpy(&v, mem[index & (mem.size() - 1)].bytes, 4);
		return v;
	}

	alignas(64) std::byte page[UBOE_JPAGE_SOFT_STRIDE] = {};
	std::vector<Bb> mem;
	SendQueue sq;
	bool kicked = false;
};

/// A lock buffer: one request in the window at a time, no doorbell
TEST(SendQueue, TheWindowIsTheOnlyWay)
{
	Bare q(0, 8, Window::only);

	q.set(UBOE_JPAGE_DB, 0x55);
	EXPECT_TRUE(q.sq.one_by_one());
	EXPECT_EQ(q.post(5, 1), 0) << "two blocks";
	EXPECT_TRUE(q.kicked) << "a KICK after each";
	EXPECT_EQ(q.word(UBOE_JPAGE_DWQE) & UBOE_SQE_IDX, 2u);
	EXPECT_EQ(q.word(UBOE_JPAGE_DB), 0x55u);
	EXPECT_EQ(q.post(1, 2), ENOMEM) << "the device has not taken it yet";
	EXPECT_FALSE(q.kicked);
	EXPECT_EQ(q.word(UBOE_JPAGE_DWQE) & UBOE_SQE_IDX, 2u);
	q.set(UBOE_JPAGE_DWQE_TAKEN, 2);
	EXPECT_EQ(q.post(6, 3), EINVAL) << "three blocks";
	EXPECT_EQ(q.post(1, 4), 0);
	EXPECT_EQ(q.word(UBOE_JPAGE_DWQE) & UBOE_SQE_IDX, 3u);
	for (u32 at = 3; at < 8; ++at) {
		q.set(UBOE_JPAGE_DWQE_TAKEN, at);
		EXPECT_EQ(q.post(1, at), 0);
	}
	q.set(UBOE_JPAGE_DWQE_TAKEN, 8);
	EXPECT_EQ(q.post(1, 9), ENOMEM) << "no room in the buffer";
	EXPECT_TRUE(q.sq.complete(1));
	EXPECT_EQ(q.post(1, 10), 0);
}

TEST(SendGeometry, RoundsUpAndReturnsWhatFits)
{
	SendGeometry g;

	// Any operation: atomics and Write with immediate take two blocks.
	ASSERT_EQ(send_geometry(1, 1, 0, ~0u, 208, g), 0);
	EXPECT_EQ(g.depth, 4u);
	EXPECT_EQ(g.wr, 2u);
	EXPECT_GE(g.sge, 1u);

	ASSERT_EQ(send_geometry(100, 1, 0, ~0u, 208, g), 0);
	EXPECT_EQ(g.depth, 256u);
	EXPECT_EQ(g.wr, 128u);

	// Sends only
	ASSERT_EQ(send_geometry(100, 1, 0, 1u << u32(Op::send), 208, g), 0);
	EXPECT_EQ(g.depth, 128u);
	EXPECT_EQ(g.wr, 128u);

	ASSERT_EQ(send_geometry(10, 13, 208, ~0u, 208, g), 0);
	EXPECT_EQ(g.depth, 64u);
	EXPECT_EQ(g.wr, 16u);
	EXPECT_EQ(g.sge, 13u);
	EXPECT_EQ(g.inline_bytes, 208u);

	ASSERT_EQ(send_geometry(0, 0, 0, ~0u, 208, g), 0);
	EXPECT_EQ(g.depth, 4u);
}

TEST(SendGeometry, RefusesWhatIsTooLarge)
{
	SendGeometry g;

	EXPECT_EQ(send_geometry(1, 14, 0, ~0u, 208, g), EINVAL);
	EXPECT_EQ(send_geometry(1, 1, 209, ~0u, 208, g), EINVAL);
	EXPECT_EQ(send_geometry(1, 1, 100, ~0u, 64, g), EINVAL);
	EXPECT_EQ(send_geometry(32769, 1, 0, ~0u, 208, g), EINVAL);
	EXPECT_EQ(send_geometry(16385, 1, 0, ~0u, 208, g), EINVAL); // 2 blocks each
	EXPECT_EQ(send_geometry(16384, 1, 0, ~0u, 208, g), 0);
	EXPECT_EQ(g.depth, 32768u);
	EXPECT_EQ(send_geometry(8193, 13, 0, ~0u, 208, g), EINVAL);
	EXPECT_EQ(send_geometry(0xffffffff, 13, 0, ~0u, 208, g), EINVAL);
}

TEST(SendGeometry, EveryPermittedRequestFits)
{
	for (u32 sge = 1; sge <= 13; ++sge)
		for (u32 inl : {0u, 1u, 16u, 17u, 64u, 100u, 192u, 208u})
			for (u32 wr : {1u, 3u, 5u, 33u, 1000u}) {
				SendGeometry g;
				ASSERT_EQ(send_geometry(wr, sge, inl, ~0u, 208, g), 0);
				ASSERT_GE(g.wr, wr);
				ASSERT_GE(g.sge, sge);
				ASSERT_GE(g.inline_bytes, inl);
				for (u32 op = 0; op < op_count; ++op)
					ASSERT_LE(max_blocks(Op(op), g.sge, g.inline_bytes) * wr,
						  g.depth);
			}
}

TEST(SendGeometry, RawQueues)
{
	SendGeometry g;

	ASSERT_EQ(send_geometry(1, 18, 0, raw_ops, 0, g), 0);
	EXPECT_EQ(g.depth, UBOE_MIN_RAW_DEPTH); // five blocks, and depths 1, 2 and 4 are not for it
	EXPECT_EQ(g.sge, 18u);
	EXPECT_EQ(g.inline_bytes, 0u);
	ASSERT_EQ(send_geometry(1, 1, 0, raw_ops, 0, g), 0);
	EXPECT_EQ(g.depth, UBOE_MIN_RAW_DEPTH);
	EXPECT_EQ(g.sge, 2u); // what one block has room for
	EXPECT_EQ(send_geometry(1, 19, 0, raw_ops, 0, g), EINVAL);
	EXPECT_EQ(send_geometry(1, 18, 1, raw_ops, 0, g), EINVAL);
	EXPECT_EQ(send_geometry(6553, 18, 0, raw_ops, 0, g), 0);
	EXPECT_EQ(send_geometry(6554, 18, 0, raw_ops, 0, g), EINVAL);
}

/// What a raw queue writes is what the device reads; also over the end of the ring.
TEST(SendQueue, RawElement)
{
	alignas(64) std::byte page[UBOE_JPAGE_SOFT_STRIDE] = {};
	std::vector<Bb> mem(8);
	SendQueue q({8, 8, UBOE_MAX_SGE_RAW, 0}, mem.data(), page, Window::none, false);
	std::vector<TestSge> list;
	SqeParams to;
	WorkRequest wr;

	for (u32 i = 0; i < 18; ++i)
		list.push_back({0x100000000ull + i, i < 10 ? 228u : 227u, 0x5000 + i});
	to.remote_jetty = 4793;
	for (u32 i = 0; i < 16; ++i)
		to.remote_eid[i] = static_cast<u8>(0x20 + i);
	wr.op = Op::raw;
	wr.flags = wr_signaled;
	wr.target = &to;
	for (u32 at : {0u, 5u, 10u}) {
		u32 w[6 * 16];

		q.begin();
		ASSERT_EQ(q.append(wr, std::span<const TestSge>(list)), 0);
		q.publish();
		for (u32 b = 0; b < 5; ++b)
			std::memcpy(&w[b * 16], mem[(at + b) & 7].bytes, 64);
		EXPECT_EQ(w[0], at | 0x00200000u | (at & 8 ? 0 : 0x80000000u)) << at;
		EXPECT_EQ(w[1], 0x1f00u);
		EXPECT_EQ(w[2], 18u << 24);
		EXPECT_EQ(w[3], 4793u);
		EXPECT_EQ(std::memcmp(&w[4], to.remote_eid, 16), 0);
		for (u32 i = 0; i < 18; ++i) {
			EXPECT_EQ(w[8 + i * 4], list[i].length);
			EXPECT_EQ(w[9 + i * 4], 0x5000 + i);
			EXPECT_EQ(w[10 + i * 4], i);
			EXPECT_EQ(w[11 + i * 4], 1u);
		}
		const auto done = q.complete((at + 4) & 7);

		ASSERT_TRUE(done);
		EXPECT_EQ(done->bytes, 4096u);
		EXPECT_EQ(done->blocks, 5);
	}
	q.begin();
	list[17].length++;
	EXPECT_EQ(q.append(wr, std::span<const TestSge>(list)), EINVAL); // 4097
	list[17].length--;
	list.push_back({0, 0, 0});
	EXPECT_EQ(q.append(wr, std::span<const TestSge>(list)), EINVAL); // 19, though it is empty
}

TEST(SendQueue, FillsUpAndSaysNoMemory)
{
	Bare b;

	for (int i = 0; i < 8; ++i)
		ASSERT_EQ(b.post(1), 0);
	EXPECT_EQ(b.post(1), ENOMEM);
	EXPECT_EQ(b.word(UBOE_JPAGE_DB), 8u);
	ASSERT_TRUE(b.sq.complete(0));
	EXPECT_EQ(b.post(1), 0);
	EXPECT_EQ(b.post(1), ENOMEM);
}

TEST(SendQueue, LargeElementNeedsAllItsBlocks)
{
	Bare b;

	ASSERT_EQ(b.post(13), 0);
	ASSERT_EQ(b.post(5), 0); // 128 bytes
	EXPECT_EQ(b.post(13), ENOMEM); // 2 left
	EXPECT_EQ(b.post(5), 0);
}

TEST(SendQueue, OwnerBitChangesWithTheLap)
{
	Bare b;

	for (u32 i = 0; i < 40; ++i) {
		ASSERT_EQ(b.post(1), 0);
		EXPECT_EQ(bool(b.w0(i) & UBOE_SQE_OWNER), !(i & 8)) << i;
		EXPECT_EQ(b.w0(i) & UBOE_SQE_IDX, i);
		ASSERT_TRUE(b.sq.complete(i & 7));
	}
}

TEST(SendQueue, ElementOverTheEndOfTheRing)
{
	Bare b;

	for (u32 i = 0; i < 7; ++i) {
		ASSERT_EQ(b.post(1), 0);
		ASSERT_TRUE(b.sq.complete(i));
	}
	ASSERT_EQ(b.post(13, 99), 0); // blocks 7, 0, 1, 2
	EXPECT_TRUE(b.w0(7) & UBOE_SQE_OWNER); // first lap
	u32 length;
	std::memcpy(&length, b.mem[0].bytes, 4); // second SGE starts the next block
	EXPECT_EQ(length, 64u);
	std::memcpy(&length, b.mem[2].bytes + 48, 4); // 13th SGE
	EXPECT_EQ(length, 64u);
	EXPECT_FALSE(b.sq.complete(7)); // not its last block
	const auto done = b.sq.complete(2);
	ASSERT_TRUE(done);
	EXPECT_EQ(done->wr_id, 99u);
	EXPECT_EQ(done->blocks, 4);
	EXPECT_EQ(done->bytes, 13u * 64);
	EXPECT_EQ(b.sq.used(), 0u);
}

TEST(SendQueue, IndicesWrapAt2To32)
{
	Bare b(0xfffffff5u);
	u32 at = 0xfffffff5u;

	for (u32 i = 0; i < 100; ++i) {
		const u32 sges = 1 + i % 13;
		const u32 blocks = (48 + 16 * sges + 63) / 64;
		ASSERT_EQ(b.post(sges, i), 0) << i;
		EXPECT_EQ(b.w0(at) & UBOE_SQE_IDX, at & 0xffff);
		EXPECT_EQ(bool(b.w0(at) & UBOE_SQE_OWNER), !(at & 8));
		at += blocks;
		ASSERT_EQ(b.word(UBOE_JPAGE_DB), at);
		const auto done = b.sq.complete((at - 1) & 7);
		ASSERT_TRUE(done);
		EXPECT_EQ(done->wr_id, i);
	}
	// Full across the wrap
	Bare full(0xfffffffcu);
	for (int i = 0; i < 8; ++i)
		ASSERT_EQ(full.post(1), 0);
	EXPECT_EQ(full.post(1), ENOMEM);
	EXPECT_EQ(full.word(UBOE_JPAGE_DB), 4u);
}

TEST(SendQueue, OneCompletionRetiresAllBefore)
{
	Bare b;

	for (u64 i = 0; i < 7; ++i)
		ASSERT_EQ(b.post(1, i, 0), 0);
	ASSERT_EQ(b.post(1, 7), 0);
	EXPECT_EQ(b.post(1), ENOMEM);
	EXPECT_EQ(b.sq.complete(7)->wr_id, 7u);
	EXPECT_EQ(b.sq.used(), 0u);
	for (int i = 0; i < 8; ++i)
		ASSERT_EQ(b.post(1), 0);
}

TEST(SendQueue, UnknownCompletionsAreRefused)
{
	Bare b;

	EXPECT_FALSE(b.sq.complete(0));
	ASSERT_EQ(b.post(1), 0);
	EXPECT_FALSE(b.sq.complete(1));
	EXPECT_FALSE(b.sq.complete(7));
	EXPECT_TRUE(b.sq.complete(0));
	EXPECT_FALSE(b.sq.complete(0)); // twice
}

TEST(SendQueue, KickOnlyWhenTheDeviceSleeps)
{
	Bare b;

	ASSERT_EQ(b.post(1), 0);
	EXPECT_FALSE(b.kicked);
	b.set(UBOE_JPAGE_NEED_KICK, 1);
	ASSERT_EQ(b.post(1), 0);
	EXPECT_TRUE(b.kicked);
	b.sq.begin();
	EXPECT_FALSE(b.sq.publish()); // nothing new
}

TEST(SendQueue, DirectWqeForALoneSmallElement)
{
	Bare b(0, 8, Window::beside);

	// word 0 names the index behind the element, as the device wants it
	const auto same = [&](u32 at, u32 end, u32 blocks) {
		const u32 w0 = (b.w0(at) & ~UBOE_SQE_IDX) | end;

		return b.word(0) == w0 && !std::memcmp(b.page + 4, b.mem[at].bytes + 4, 60) &&
		       (blocks == 1 || !std::memcmp(b.page + 64, b.mem[(at + 1) % 8].bytes, 64));
	};

	ASSERT_EQ(b.post(1), 0);
	EXPECT_TRUE(same(0, 1, 1));
	EXPECT_EQ(b.word(UBOE_JPAGE_DB), 1u); // the doorbell rings all the same

	ASSERT_EQ(b.post(5), 0); // queue is not empty
	EXPECT_TRUE(same(0, 1, 1));
	ASSERT_TRUE(b.sq.complete(2));

	for (u32 i = 3; i < 7; ++i) {
		ASSERT_EQ(b.post(1), 0);
		ASSERT_TRUE(b.sq.complete(i));
	}
	ASSERT_EQ(b.post(5), 0); // blocks 7 and 0
	EXPECT_TRUE(same(7, 9, 2));
	ASSERT_TRUE(b.sq.complete(0));

	const u32 before = b.word(0);
	ASSERT_EQ(b.post(13), 0); // too large
	EXPECT_EQ(b.word(0), before);
}

TEST(SendQueue, NoDirectWqeUnlessOffered)
{
	Bare b;
	const std::byte zero[128] = {};

	ASSERT_EQ(b.post(1), 0);
	EXPECT_EQ(std::memcmp(b.page, zero, 128), 0);
}

TEST(SendQueue, RollbackLeavesNothing)
{
	Bare b;
	const TestSge s = {1, 2, 3};
	WorkRequest wr;

	b.sq.begin();
	for (int i = 0; i < 8; ++i)
		ASSERT_EQ(b.sq.append(wr, std::span<const TestSge>(&s, 1)), 0);
	b.sq.rollback();
	EXPECT_FALSE(b.sq.publish());
	EXPECT_EQ(b.word(UBOE_JPAGE_DB), 0u);
	EXPECT_FALSE(b.sq.complete(0));
	for (int i = 0; i < 8; ++i)
		ASSERT_EQ(b.post(1), 0);
}

} // namespace
