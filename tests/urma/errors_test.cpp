// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What goes wrong gives the documented status, touches nothing, and loses no
// completion.
#include <functional>

#include <uboe/urma_ext.h>

#include "rig.hpp"

using namespace urma_test;

namespace
{

/// A second segment at b, known to a under rights and token that the test chooses.
struct Foreign {
	Foreign(Pair &p, std::uint32_t access, std::uint32_t token = segment_token)
		: pair(p), memory(p.b.ctx, 4096, access)
	{
		urma_token_t t{ token };
		urma_seg_t seg = memory.seg()->seg;

		remote = urma_import_seg(p.a.ctx, &seg, &t, 0, {});
		EXPECT_NE(remote, nullptr);
	}
	~Foreign() { EXPECT_EQ(urma_unimport_seg(remote), URMA_SUCCESS); }

	bool untouched()
	{
		for (std::size_t i = 0; i < memory.size(); ++i)
			if (memory.data()[i])
				return false;
		return true;
	}

	Pair &pair;
	Memory memory;
	urma_target_seg_t *remote;
};

urma_cr_status_t write_to(Foreign &f, std::uint64_t offset, std::size_t length)
{
	f.pair.a.memory->fill(1);
	EXPECT_EQ(Wr(URMA_OPC_WRITE, 1)
			  .local({ f.pair.a.memory->at(0, length) })
			  .remote(f.memory.va() + offset, f.remote)
			  .post(f.pair.a.jetty),
		  URMA_SUCCESS);
	const auto cr = f.pair.a.next();

	return cr ? cr->status : URMA_CR_SUCCESS;
}

TEST(Errors, WrongTokenIsRefusedAndMemoryUntouched)
{
	Pair p;
	Foreign f(p, URMA_ACCESS_READ | URMA_ACCESS_WRITE, segment_token ^ 0x10000);

	EXPECT_EQ(write_to(f, 0, 64), URMA_CR_REM_ACCESS_ABORT_ERR);
	EXPECT_TRUE(f.untouched());
}

TEST(Errors, RotatedTokens)
{
	const std::uint32_t rights = URMA_ACCESS_READ | URMA_ACCESS_WRITE;
	Pair p;
	Foreign was(p, rights);
	urma_token_t next{ segment_token ^ 0x80000000 }, last{ 5 };
	urma_seg_t seg = was.memory.seg()->seg;
	urma_target_seg_t *now = urma_import_seg(p.a.ctx, &seg, &next, 0, {});

	ASSERT_NE(now, nullptr);
	ASSERT_EQ(uboe_rotate_token(was.memory.seg(), next, true), URMA_SUCCESS);
	for (auto *remote : { was.remote, now }) { // both hold
		ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
				  .local({ p.a.memory->at(0, 64) })
				  .remote(was.memory.va(), remote)
				  .post(p.a.jetty),
			  URMA_SUCCESS);
		p.a.expect(1);
	}
	ASSERT_EQ(uboe_rotate_token(was.memory.seg(), last, true), URMA_SUCCESS);
	std::memset(was.memory.data(), 0, was.memory.size());
	EXPECT_EQ(write_to(was, 0, 64), URMA_CR_REM_ACCESS_ABORT_ERR)
		<< "it was a backup of two ago";
	EXPECT_TRUE(was.untouched());
	EXPECT_EQ(urma_unimport_seg(now), URMA_SUCCESS);
}

TEST(Errors, TokensOfOthersDoNotRotate)
{
	Pair p;
	Foreign f(p, URMA_ACCESS_READ);
	Memory open(p.b.ctx, 64, URMA_ACCESS_READ, false);

	EXPECT_EQ(uboe_rotate_token(nullptr, { 1 }, false), URMA_EINVAL);
	EXPECT_EQ(uboe_rotate_token(f.remote, { 1 }, false), URMA_EINVAL) << "imported";
	EXPECT_EQ(uboe_rotate_token(open.seg(), { 1 }, false), URMA_EINVAL) << "has none";
}

TEST(Errors, ReadOnlyMemoryIsNotWritten)
{
	Pair p;
	Foreign f(p, URMA_ACCESS_READ);

	EXPECT_EQ(write_to(f, 0, 64), URMA_CR_REM_ACCESS_ABORT_ERR);
	EXPECT_TRUE(f.untouched());
}

TEST(Errors, LocalMemoryIsNotRead)
{
	Pair p;
	Foreign f(p, URMA_ACCESS_LOCAL_ONLY);

	ASSERT_EQ(Wr(URMA_OPC_READ, 1)
			  .local({ p.a.memory->at(0, 64) })
			  .remote(f.memory.va(), f.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	const auto cr = p.a.next();

	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_REM_ACCESS_ABORT_ERR);
}

TEST(Errors, AtomicsNeedTheirRight)
{
	Pair p;
	Foreign f(p, URMA_ACCESS_READ | URMA_ACCESS_WRITE);

	ASSERT_EQ(Wr(URMA_OPC_FADD, 1)
			  .local({ p.a.memory->at(0, 8) })
			  .remote(f.memory.va(), f.remote, 8)
			  .operands(1)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	const auto cr = p.a.next();

	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_REM_ACCESS_ABORT_ERR);
	EXPECT_TRUE(f.untouched());
}

TEST(Errors, TheRangeIsExact)
{
	{
		Pair p;
		Foreign f(p, URMA_ACCESS_READ | URMA_ACCESS_WRITE);

		EXPECT_EQ(write_to(f, 4096 - 64, 64), URMA_CR_SUCCESS);
	}
	Pair p;
	Foreign f(p, URMA_ACCESS_READ | URMA_ACCESS_WRITE);

	EXPECT_EQ(write_to(f, 4096 - 63, 64), URMA_CR_REM_ACCESS_ABORT_ERR);
	EXPECT_TRUE(f.untouched());
}

TEST(Errors, ARevokedSegmentIsGone)
{
	Pair p;
	Foreign f(p, URMA_ACCESS_READ | URMA_ACCESS_WRITE);

	ASSERT_EQ(f.memory.unregister(), URMA_SUCCESS);
	EXPECT_EQ(write_to(f, 0, 64), URMA_CR_REM_ACCESS_ABORT_ERR);
	EXPECT_TRUE(f.untouched());
}

TEST(Errors, WithoutTokenPolicyNoTokenIsNeeded)
{
	Pair p;
	Memory open(p.b.ctx, 4096, URMA_ACCESS_READ | URMA_ACCESS_WRITE, false);
	urma_seg_t seg = open.seg()->seg;
	urma_target_seg_t *remote = urma_import_seg(p.a.ctx, &seg, nullptr, 0, {});

	ASSERT_NE(remote, nullptr);
	ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
			  .local({ p.a.memory->at(0, 64) })
			  .remote(open.va(), remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(1);
	EXPECT_EQ(urma_unimport_seg(remote), URMA_SUCCESS);
}

TEST(Errors, ASendWithAnotherJettyTokenTakesNoReceive)
{
	Shape shape;
	End a(0, shape), b(1, shape);
	urma_token_t wrong{ jetty_token + 1 };
	urma_rjetty_t r = b.describe();

	b.import(a, shape);
	b.bind();
	r.flag.bs.token_policy = URMA_TOKEN_PLAIN_TEXT;
	a.target = urma_import_jetty(a.ctx, &r, &wrong);
	ASSERT_NE(a.target, nullptr);
	a.bind();
	b.receive(1, b.memory->at(0, 64));
	ASSERT_EQ(Wr(URMA_OPC_SEND, 2).local({ a.memory->at(0, 8) }).post(a.jetty), URMA_SUCCESS);
	const auto cr = a.next();

	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_REM_ACCESS_ABORT_ERR);
}

TEST(Errors, AMessageLongerThanItsReceive)
{
	Pair p;

	p.b.receive(1, p.b.memory->at(0, 16));
	ASSERT_EQ(Wr(URMA_OPC_SEND, 2).local({ p.a.memory->at(0, 17) }).post(p.a.jetty),
		  URMA_SUCCESS);
	const auto got = p.b.next();
	const auto cr = p.a.next();

	ASSERT_TRUE(got && cr);
	EXPECT_EQ(got->status, URMA_CR_LOC_LEN_ERR);
	EXPECT_EQ(got->user_ctx, 1u);
	EXPECT_EQ(cr->status, URMA_CR_REM_UNSUPPORTED_REQ_ERR);
}

TEST(Errors, RnrRetriesEnd)
{
	Shape shape;

	shape.rnr_retry = 2;
	Pair p(shape);

	ASSERT_EQ(Wr(URMA_OPC_SEND, 2).local({ p.a.memory->at(0, 8) }).post(p.a.jetty),
		  URMA_SUCCESS);
	const auto cr = p.a.next();

	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_RNR_RETRY_CNT_EXC_ERR);
}

TEST(Errors, RnrSevenWaitsForAReceive)
{
	Pair p;

	ASSERT_EQ(Wr(URMA_OPC_SEND, 2).local({ p.a.memory->at(0, 8) }).post(p.a.jetty),
		  URMA_SUCCESS);
	EXPECT_TRUE(p.a.nothing_comes(50));
	p.b.receive(1, p.b.memory->at(0, 64));
	p.a.expect(2);
	p.b.expect(1);
}

TEST(Errors, APeerThatIsNotThereTimesOut)
{
	Shape shape;

	shape.err_timeout = 8; // the device gives a peer five seconds at least
	Pair p(shape);
	const auto gone = urma_unbind_jetty(p.b.jetty);

	ASSERT_EQ(gone, URMA_SUCCESS);
	ASSERT_EQ(Wr(URMA_OPC_WRITE, 2)
			  .local({ p.a.memory->at(0, 8) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	const auto cr = p.a.next();

	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_ACK_TIMEOUT_ERR);
}

TEST(Errors, AfterAnErrorTheRestIsFlushedInOrderAndMarked)
{
	Pair p;

	ASSERT_EQ(Wr(URMA_OPC_WRITE, 10)
			  .local({ p.a.memory->at(0, 8) })
			  .remote(p.b.memory->va() + p.b.memory->size(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	for (unsigned i = 11; i < 15; ++i)
		Wr(URMA_OPC_NOP, i).post(p.a.jetty);
	auto cr = p.a.next();

	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_REM_ACCESS_ABORT_ERR);
	unsigned expected = 11;
	bool marked = false;

	while (expected < 15 || !marked) {
		cr = p.a.next();
		ASSERT_TRUE(cr);
		if (cr->flag.bs.flush_err_done) {
			EXPECT_EQ(cr->status, URMA_CR_WR_FLUSH_ERR_DONE);
			EXPECT_FALSE(marked) << "one marker";
			marked = true;
			continue;
		}
		EXPECT_EQ(cr->status, URMA_CR_WR_FLUSH_ERR);
		EXPECT_EQ(cr->user_ctx, expected++);
	}
	urma_jetty_cfg_t cfg;
	urma_jetty_attr_t attr;

	ASSERT_EQ(urma_query_jetty(p.a.jetty, &cfg, &attr), URMA_SUCCESS);
	EXPECT_EQ(attr.state, URMA_JETTY_STATE_ERROR);
}

TEST(Errors, TheReceiverHearsOfABrokenRule)
{
	Pair p;
	urma_async_event_t e{};

	ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
			  .local({ p.a.memory->at(0, 8) })
			  .remote(p.b.memory->va() + p.b.memory->size(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.next();
	ASSERT_EQ(urma_get_async_event(p.b.ctx, &e), URMA_SUCCESS);
	EXPECT_EQ(e.event_type, URMA_EVENT_JETTY_ERR);
	EXPECT_EQ(e.element.jetty, p.b.jetty);
	EXPECT_EQ(e.urma_ctx, p.b.ctx);
	urma_ack_async_event(&e);
}

} // namespace
