// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues, receive queues and segments at their edges. */
#include <gtest/gtest.h>

#include "rig.hpp"

using namespace rig;

namespace
{
class Jfc : public testing::Test
{
      protected:
	static constexpr unsigned shift = 6;

	ubsim::host h;
	ubsim::jfc q{ h, 9, shift };
	ubp_jetty jetty{};

	void SetUp() override
	{
		jetty.dev = h.dev();
		jetty.id = 0xabcde;
		jetty.user = 0x1122334455667788;
	}

	ubp_jfc *core() { return static_cast<ubp_jfc *>(ubp_table_get(&h.dev()->jfc, 9)); }
	bool post(u16 entry, u8 status = 0, bool solicited = false, bool recv = false)
	{
		ubp_comp c{};

		c.entry = entry;
		c.status = status;
		c.sub = status ? 3 : 0;
		c.solicited = solicited;
		c.recv = recv;
		c.bytes = entry * 3u;
		c.imm = 0xa0000000b0000000u + entry;
		c.opcode = recv ? UBOE_CQE_RX_SEND_INV : 0;
		return ubp_jfc_post(core(), &jetty, &c);
	}
};

TEST_F(Jfc, FieldsOfACompletion)
{
	ASSERT_TRUE(post(7, UBOE_CQE_REMOTE, false, true));
	auto c = q.poll();
	ASSERT_TRUE(c);
	EXPECT_EQ(c->w0 & ~UBOE_CQE_OWNER,
		  UBOE_CQE_RECV | UBOE_CQE_JETTY | 2u << 4 | 3u << 16 | u32(UBOE_CQE_REMOTE) << 24);
	EXPECT_EQ(c->w1 & UBOE_CQE_ENTRY, 7u);
	EXPECT_EQ(c->w1 >> 16 | (c->w2 & UBOE_CQE_ID_HI) << 16, 0xabcdeu);
	EXPECT_EQ(c->byte_cnt, 21u);
	EXPECT_EQ(c->user_lo, 0x55667788u);
	EXPECT_EQ(c->user_hi, 0x11223344u);
	EXPECT_EQ(c->imm_lo, 0xb0000007u);
	EXPECT_EQ(c->imm_hi, 0xa0000000u);
	EXPECT_FALSE(q.poll());
}

TEST_F(Jfc, OwnerBitTurnsWithEveryLap)
{
	for (unsigned i = 0; i < 5 * (1u << shift); i++) {
		ASSERT_TRUE(post(static_cast<u16>(i)));
		auto c = q.poll();
		ASSERT_TRUE(c) << i;
		EXPECT_EQ(bool(c->w0 & UBOE_CQE_OWNER), !(i >> shift & 1));
		EXPECT_EQ(c->w1 & UBOE_CQE_ENTRY, i);
		ASSERT_FALSE(q.poll());
	}
}

TEST_F(Jfc, OverflowIsReportedOnceAndForEver)
{
	uboe_jfc_ctx ctx{};

	for (unsigned i = 0; i < 1u << shift; i++)
		ASSERT_TRUE(post(static_cast<u16>(i)));
	EXPECT_TRUE(h.events().empty());
	EXPECT_FALSE(post(99));
	EXPECT_FALSE(post(99));
	ASSERT_EQ(h.events().size(), 1u);
	EXPECT_EQ(h.events()[0].type, UBOE_EV_JETTY);
	EXPECT_EQ(h.events()[0].sub, UBOE_EV_SUB_JFC);
	EXPECT_EQ(h.events()[0].num, 9u);
	EXPECT_EQ(h.stat(UBP_S_CQ_OVERFLOWS), 1u);
	/* what was there stays; room that comes back changes nothing */
	for (unsigned i = 0; i < 1u << shift; i++)
		ASSERT_TRUE(q.poll());
	EXPECT_FALSE(q.poll());
	EXPECT_FALSE(post(99));
	ASSERT_EQ(h.query(UBOE_MBOX_JFC, 9, ctx), 0);
	EXPECT_EQ(ctx.state, 1);
	EXPECT_EQ(ctx.pi, 1u << shift);
}

TEST_F(Jfc, ConsumerIndexOutOfRangeCountsAsFull)
{
	core()->rec->ci = 5; /* more consumed than produced */
	EXPECT_FALSE(post(1));
	EXPECT_EQ(h.stat(UBP_S_CQ_OVERFLOWS), 1u);
}

TEST_F(Jfc, IndexWrapsAtThirtyTwoBits)
{
	core()->pi = 0xffffffc0; /* a lap of an even number: owner set */
	core()->rec->ci = 0xffffffc0;
	for (unsigned i = 0; i < 64; i++)
		ASSERT_TRUE(post(static_cast<u16>(i)));
	EXPECT_EQ(core()->pi, 0u);
	EXPECT_FALSE(post(1));
}

TEST_F(Jfc, OneEventForEachArming)
{
	EXPECT_TRUE(post(1));
	EXPECT_TRUE(h.jfc_events().empty());
	q.arm(UBOE_ARM_NEXT);
	EXPECT_TRUE(post(2));
	EXPECT_TRUE(post(3));
	EXPECT_EQ(h.jfc_events().size(), 1u);
	EXPECT_EQ(h.jfc_events()[0], 9u);
	q.arm(UBOE_ARM_NEXT);
	q.arm(UBOE_ARM_NEXT);
	EXPECT_EQ(h.jfc_events().size(), 1u);
	EXPECT_TRUE(post(4));
	EXPECT_EQ(h.jfc_events().size(), 2u);
	q.arm(UBOE_ARM_NONE);
	EXPECT_TRUE(post(5));
	EXPECT_EQ(h.jfc_events().size(), 2u);
}

TEST_F(Jfc, SolicitedArmingWaitsForOneOrForAnError)
{
	q.arm(UBOE_ARM_SOLICITED);
	EXPECT_TRUE(post(1, 0, false, true));
	EXPECT_TRUE(h.jfc_events().empty());
	EXPECT_TRUE(post(2, 0, true, true));
	EXPECT_EQ(h.jfc_events().size(), 1u);
	EXPECT_TRUE(post(3, 0, true, true));
	EXPECT_EQ(h.jfc_events().size(), 1u);
	q.arm(UBOE_ARM_SOLICITED);
	EXPECT_TRUE(post(4, UBOE_CQE_FLUSH));
	EXPECT_EQ(h.jfc_events().size(), 2u);
	/* armed for solicited ones, then for any */
	q.arm(UBOE_ARM_SOLICITED);
	EXPECT_TRUE(post(5));
	q.arm(UBOE_ARM_NEXT);
	EXPECT_TRUE(post(6));
	EXPECT_EQ(h.jfc_events().size(), 3u);
}

class Jfr : public testing::Test
{
      protected:
	static constexpr unsigned shift = 6;

	ubsim::host h;
	ubsim::dma ring = h.alloc_dma(16ull << 2 << shift);
	ubsim::dma idx = h.alloc_dma(4ull << shift);
	ubsim::dma rec = h.alloc_dma(sizeof(uboe_jfr_rec));

	void SetUp() override
	{
		uboe_jfr_ctx ctx{};

		ctx.shift = shift;
		ctx.sge_shift = 2;
		ctx.pd = 3;
		ctx.base = ring.bus;
		ctx.idx = idx.bus;
		ctx.rec = rec.bus;
		ASSERT_EQ(h.create(UBOE_MBOX_JFR, 4, ctx), 0);
	}

	void TearDown() override { h.destroy(UBOE_MBOX_JFR, 4); }

	ubp_jfr *core() { return static_cast<ubp_jfr *>(ubp_table_get(&h.dev()->jfr, 4)); }
	uboe_sge *slot(u32 n) { return reinterpret_cast<uboe_sge *>(ring.p) + n * 4; }
	void index(u32 at, u32 n) { reinterpret_cast<__le32 *>(idx.p)[at & 63] = n; }
	void pi(u32 v) { reinterpret_cast<uboe_jfr_rec *>(rec.p)->pi = v; }
	ubp_take take() { return ubp_jfr_take(core(), &rqe); }

	ubp_rqe rqe;
};

TEST_F(Jfr, SlotsComeInTheOrderOfTheIndexRing)
{
	for (u32 i = 0; i < 64; i++) {
		index(i, 63 - i);
		slot(63 - i)[0] = { 10 + i, i, 0x1000 };
	}
	EXPECT_EQ(take(), UBP_TAKE_NONE);
	pi(64);
	for (u32 i = 0; i < 64; i++) {
		ASSERT_EQ(take(), UBP_TAKE_OK);
		EXPECT_EQ(rqe.slot[0], 63 - i);
		EXPECT_EQ(rqe.total, 10 + i);
		EXPECT_EQ(rqe.nsge, 1u);
	}
	EXPECT_EQ(take(), UBP_TAKE_NONE);
}

TEST_F(Jfr, EmptySgesAreLeftOut)
{
	index(0, 2);
	slot(2)[0] = { 0, 1, 0x1000 };
	slot(2)[1] = { 5, 2, 0x2000 };
	slot(2)[2] = { 0xffffffff, 3, 0x3000 };
	slot(2)[3] = { 0xffffffff, 4, 0x4000 };
	pi(1);
	ASSERT_EQ(take(), UBP_TAKE_OK);
	EXPECT_EQ(rqe.nsge, 3u);
	EXPECT_EQ(rqe.total, 5ull + 2 * 0xffffffffull); /* not modulo 2^32 */
	EXPECT_EQ(rqe.sge[0].token, 2u);
	EXPECT_EQ(rqe.sge[2].va, 0x4000u);
	index(1, 3);
	pi(2);
	ASSERT_EQ(take(), UBP_TAKE_OK);
	EXPECT_EQ(rqe.nsge, 0u);
	EXPECT_EQ(rqe.total, 0u);
}

TEST_F(Jfr, IndexBeyondTheSlots)
{
	u32 ci = 0;

	for (u32 bad : { 64u, 65u, 0x80000000u, 0xffffffffu }) {
		index(ci, bad);
		pi(++ci);
		EXPECT_EQ(take(), UBP_TAKE_BAD);
		EXPECT_EQ(rqe.slot[0], 0u);
		EXPECT_EQ(rqe.nsge, 0u);
		EXPECT_EQ(take(), UBP_TAKE_NONE);
	}
	index(ci, 63);
	pi(++ci);
	EXPECT_EQ(take(), UBP_TAKE_OK);
}

TEST_F(Jfr, ProducerIndexNonsense)
{
	for (u32 bad : { 65u, 66u, 0x8000u, 0xffffu, 0xffffffffu }) {
		pi(bad);
		EXPECT_EQ(take(), UBP_TAKE_NONE) << bad;
	}
	/* only its low half counts */
	pi(0xdead0001);
	EXPECT_EQ(take(), UBP_TAKE_OK);
	EXPECT_EQ(take(), UBP_TAKE_NONE);
}

TEST_F(Jfr, ProducerIndexWraps)
{
	for (u32 i = 1; i < 70000; i++) {
		pi(i & 0xffff);
		ASSERT_EQ(take(), UBP_TAKE_OK) << i;
	}
	EXPECT_EQ(take(), UBP_TAKE_NONE);
}

TEST_F(Jfr, LimitEventComesOnce)
{
	uboe_jfr_ctx ctx{};

	ctx.limit = 64;
	EXPECT_EQ(h.modify(UBOE_MBOX_JFR, 4, ctx, UBOE_RM_LIMIT), -EINVAL);
	ctx.limit = 3;
	ASSERT_EQ(h.modify(UBOE_MBOX_JFR, 4, ctx, UBOE_RM_LIMIT), 0);
	pi(6);
	for (unsigned i = 0; i < 3; i++)
		EXPECT_EQ(take(), UBP_TAKE_OK);
	EXPECT_TRUE(h.events().empty());
	for (unsigned i = 0; i < 3; i++)
		EXPECT_EQ(take(), UBP_TAKE_OK);
	ASSERT_EQ(h.events().size(), 1u);
	EXPECT_EQ(h.events()[0].type, UBOE_EV_JFR_LIMIT);
	EXPECT_EQ(h.events()[0].num, 4u);
	ASSERT_EQ(h.query(UBOE_MBOX_JFR, 4, ctx), 0);
	EXPECT_EQ(ctx.limit, 0u);
	EXPECT_EQ(ctx.ci, 6u);
}

class Seg : public testing::Test
{
      protected:
	ubsim::host h;

	/* May [va, va + len) be used? */
	bool may(u32 id, u64 va, u64 len, u32 need = 0, u32 token = 7, u32 dom = pd)
	{
		ubp_seg *s = ubp_seg_get(h.dev(), id, &token, dom, need, va, len);

		if (s)
			ubp_seg_put(s);
		return s;
	}
};

TEST_F(Seg, RangeKeyDomainAndRights)
{
	ubsim::memory m(0x12345, 10000, 12);

	ASSERT_EQ(h.register_memory(3, 7, pd, UBOE_ACC_REMOTE_READ | UBOE_ACC_LOCAL_WRITE, m), 0);
	EXPECT_TRUE(may(3, 0x12345, 10000));
	EXPECT_TRUE(may(3, 0x12345, 0));
	EXPECT_TRUE(may(3, 0x12345 + 10000, 0));
	EXPECT_TRUE(may(3, 0x12345 + 9999, 1));
	EXPECT_FALSE(may(3, 0x12345 + 9999, 2));
	EXPECT_FALSE(may(3, 0x12344, 1));
	EXPECT_FALSE(may(3, 0x12344, 0));
	EXPECT_FALSE(may(3, 0x12345 + 10001, 0));
	EXPECT_FALSE(may(3, 0x12345, 10001));
	/* sums that do not fit in 64 bits */
	EXPECT_FALSE(may(3, 0x12345 + 1, ~0ull));
	EXPECT_FALSE(may(3, ~0ull, 1));
	EXPECT_FALSE(may(3, ~0ull, ~0ull));
	EXPECT_FALSE(may(3, 0, ~0ull));
	EXPECT_FALSE(may(3, 0x12345 - (1ull << 63), 1ull << 63));
	/* whose and what for */
	EXPECT_FALSE(may(4, 0x12345, 1));
	EXPECT_FALSE(may(0xffffffff, 0x12345, 1));
	EXPECT_FALSE(may(3, 0x12345, 1, 0, 8));
	EXPECT_FALSE(may(3, 0x12345, 1, 0, 7, pd + 1));
	EXPECT_TRUE(may(3, 0x12345, 1, UBOE_ACC_REMOTE_READ));
	EXPECT_TRUE(may(3, 0x12345, 1, UBOE_ACC_REMOTE_READ | UBOE_ACC_LOCAL_WRITE));
	EXPECT_FALSE(may(3, 0x12345, 1, UBOE_ACC_REMOTE_WRITE));
	EXPECT_FALSE(may(3, 0x12345, 1, UBOE_ACC_REMOTE_READ | UBOE_ACC_REMOTE_ATOMIC));
	EXPECT_EQ(h.destroy(UBOE_MBOX_SEG, 3), 0);
	EXPECT_FALSE(may(3, 0x12345, 1));
	EXPECT_EQ(h.live_segments(), 0u);
}

TEST_F(Seg, BackupToken)
{
	uboe_seg_ctx ctx{};
	ubsim::memory m(0x1000, 64, 12);

	/* the flag says whether token2 counts */
	ASSERT_EQ(h.register_memory(1, 7, pd, 0, m), 0);
	EXPECT_FALSE(may(1, 0x1000, 1, 0, 0));
	ctx.va = 0;
	ctx.len = ~0ull;
	ctx.pd = pd;
	ctx.token = 7;
	ctx.token2 = 9;
	ctx.flags = UBOE_SEG_IDENTITY | UBOE_SEG_TOKEN2;
	ASSERT_EQ(h.create(UBOE_MBOX_SEG, 2, ctx), 0);
	EXPECT_TRUE(may(2, 0x1000, 1, 0, 7));
	EXPECT_TRUE(may(2, 0x1000, 1, 0, 9));
	EXPECT_FALSE(may(2, 0x1000, 1, 0, 8));
	h.destroy(UBOE_MBOX_SEG, 1);
	h.destroy(UBOE_MBOX_SEG, 2);
}

TEST_F(Seg, TokensRotate)
{
	ubsim::memory m(0x1000, 64, 12);
	uboe_seg_ctx ctx{};
	ubp_sge sge = { 0x1000, 1, ubsim::make_key(1, 7) };
	u8 byte;

	ASSERT_EQ(h.register_memory(1, 7, pd, UBOE_ACC_REMOTE_READ, m), 0);
	ctx.token = 0x80000007;
	ctx.token2 = 7;
	ctx.flags = UBOE_SEG_TOKEN2;
	EXPECT_EQ(h.modify(UBOE_MBOX_SEG, 2, ctx, UBOE_SM_TOKENS), -ENOENT);
	EXPECT_EQ(h.modify(UBOE_MBOX_SEG, 1, ctx, 0), -EINVAL);
	EXPECT_EQ(h.modify(UBOE_MBOX_SEG, 1, ctx, 3), -EINVAL);
	ctx.flags |= UBOE_SEG_NATIVE;
	EXPECT_EQ(h.modify(UBOE_MBOX_SEG, 1, ctx, UBOE_SM_TOKENS), -EINVAL);
	EXPECT_FALSE(may(1, 0x1000, 1, 0, 0x80000007)) << "a refused command changed it";
	ctx.flags = UBOE_SEG_TOKEN2;
	ASSERT_EQ(h.modify(UBOE_MBOX_SEG, 1, ctx, UBOE_SM_TOKENS), 0);
	EXPECT_TRUE(may(1, 0x1000, 1, 0, 7));
	EXPECT_TRUE(may(1, 0x1000, 1, 0, 0x80000007));
	ctx.flags = 0; /* the backup goes */
	ctx.token = 8;
	ASSERT_EQ(h.modify(UBOE_MBOX_SEG, 1, ctx, UBOE_SM_TOKENS), 0);
	EXPECT_FALSE(may(1, 0x1000, 1, 0, 7));
	EXPECT_FALSE(may(1, 0x1000, 1, 0, 0x80000007));
	EXPECT_TRUE(may(1, 0x1000, 1, 0, 8));
	/* the owner's key is the first token's */
	EXPECT_TRUE(ubp_sgl_read(h.dev(), pd, &sge, 1, 0, &byte, 1));
	sge.token = ubsim::make_key(1, 8);
	EXPECT_FALSE(ubp_sgl_read(h.dev(), pd, &sge, 1, 0, &byte, 1));
	h.destroy(UBOE_MBOX_SEG, 1);
}

TEST_F(Seg, CopiesAcrossChunksAndSges)
{
	ubsim::memory m(0x12ff0, 40000, 12);
	bytes in(12000), out(12000);
	ubp_sge sge[3] = { { 0x12ff0, 5, ubsim::make_key(3, 7) },
			   { 0x12ff0 + 100, 0, ubsim::make_key(3, 7) },
			   { 0x12ff0 + 4000, 11995, ubsim::make_key(3, 7) } };

	ASSERT_EQ(h.register_memory(3, 7, pd, UBOE_ACC_LOCAL_WRITE, m), 0);
	for (std::size_t i = 0; i < in.size(); i++)
		in[i] = static_cast<u8>(i * 7 + (i >> 8));
	ASSERT_TRUE(ubp_sgl_write(h.dev(), pd, sge, 3, 0, in.data(), 12000));
	EXPECT_EQ(m.compare(0, in.data(), 5), 5u);
	EXPECT_EQ(m.compare(4000, in.data() + 5, 11995), 11995u);
	ASSERT_TRUE(ubp_sgl_read(h.dev(), pd, sge, 3, 3, out.data(), 11997));
	EXPECT_EQ(std::memcmp(out.data(), in.data() + 3, 11997), 0);
	EXPECT_TRUE(m.canaries_ok());
	/* the list is too short, or begins behind its end */
	EXPECT_FALSE(ubp_sgl_read(h.dev(), pd, sge, 3, 1, out.data(), 12000));
	EXPECT_FALSE(ubp_sgl_read(h.dev(), pd, sge, 3, 12000, out.data(), 1));
	EXPECT_FALSE(ubp_sgl_read(h.dev(), pd, sge, 3, ~0ull, out.data(), 1));
	EXPECT_FALSE(ubp_sgl_read(h.dev(), pd, sge, 0, 0, out.data(), 1));
	EXPECT_TRUE(ubp_sgl_read(h.dev(), pd, sge, 0, 0, out.data(), 0));
	sge[2].len = 40000;
	EXPECT_FALSE(ubp_sgl_write(h.dev(), pd, sge, 3, 20000, in.data(), 12000 + 8000 + 1));
	sge[2].token++;
	EXPECT_FALSE(ubp_sgl_read(h.dev(), pd, sge, 3, 0, out.data(), 100));
	EXPECT_FALSE(ubp_sgl_read(h.dev(), pd + 1, sge, 3, 0, out.data(), 5));
	EXPECT_TRUE(m.canaries_ok());
	h.destroy(UBOE_MBOX_SEG, 3);
	/* the list names a segment that is gone */
	EXPECT_FALSE(ubp_sgl_read(h.dev(), pd, sge, 3, 0, out.data(), 5));
}

TEST_F(Seg, ReadOnlyMemoryIsNotWrittenLocally)
{
	ubsim::memory m(0x1000, 64, 12);
	ubp_sge sge = { 0x1000, 64, ubsim::make_key(3, 7) };
	u8 b[64] = {};

	ASSERT_EQ(h.register_memory(3, 7, pd, UBOE_ACC_REMOTE_READ, m), 0);
	EXPECT_TRUE(ubp_sgl_read(h.dev(), pd, &sge, 1, 0, b, 64));
	EXPECT_FALSE(ubp_sgl_write(h.dev(), pd, &sge, 1, 0, b, 64));
	h.destroy(UBOE_MBOX_SEG, 3);
}
} /* namespace */
