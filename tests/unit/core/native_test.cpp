// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What URMA asks of a connection beyond verbs: notify, tokens, the flush marker. */
#include <gtest/gtest.h>

#include "rig.hpp"

using namespace rig;

namespace
{

constexpr std::uint32_t jetty_token = 0xfeedf00d;

class Native : public testing::Test
{
      protected:
	static ubsim::jetty_options options()
	{
		ubsim::jetty_options o;

		o.flags = UBOE_JETTY_NATIVE | UBOE_JETTY_TOKEN | UBOE_JETTY_SHARED_JFR;
		o.token = jetty_token;
		return o;
	}

	void SetUp() override { ASSERT_TRUE(p.connect()); }

	ubsim::send_wr notify(std::uint32_t len)
	{
		return { .op = UBOE_SQE_WRITE_NOTIFY,
			 .sges = { p.a.local(0, len) },
			 .remote = p.b.m.va(),
			 .rkey = key,
			 .imm = 0x1122334455667788,
			 .notify = p.b.m.va() + 0x20000,
			 .notify_key = key };
	}

	uboe_cqe done(const ubsim::send_wr &wr)
	{
		p.a.q->post(wr);
		p.run();
		auto c = p.a.tx.poll();

		EXPECT_TRUE(c);
		return c.value_or(uboe_cqe{});
	}

	pair p{ false, ubsim::host::small_config(), options() };
};

TEST_F(Native, NotifyIsStoredBehindAllOfTheData)
{
	for (std::uint32_t len : { 0u, 8u, 1024u, 1025u, 70000u }) {
		bytes data(len, 0x5a);

		p.a.m.write(0, data.data(), len);
		std::uint64_t zero = 0;
		p.b.m.write(0x20000, &zero, 8);
		EXPECT_EQ(status(done(notify(len))), UBOE_CQE_OK) << len;
		EXPECT_EQ(p.b.m.compare(0, data.data(), len), len);
		EXPECT_EQ(p.b.m.load(0x20000, 8), 0x1122334455667788u) << len;
		EXPECT_FALSE(p.b.rx.poll()) << "a notify takes no receive";
	}
}

TEST_F(Native, NotifyWithAWrongKeyTouchesNothing)
{
	ubsim::send_wr wr = notify(64);
	std::uint64_t data = ~0ull;

	p.a.m.write(0, &data, 8);
	wr.notify_key ^= 1;
	uboe_cqe c = done(wr);

	EXPECT_EQ(status(c), UBOE_CQE_REMOTE);
	EXPECT_EQ(sub(c), UBOE_CQE_REMOTE_ABORT);
	EXPECT_EQ(p.b.m.load(0, 8), 0u) << "the data of the last packet either";
	EXPECT_EQ(p.b.m.load(0x20000, 8), 0u);
}

TEST_F(Native, NotifyBeyondItsSegmentIsRefused)
{
	ubsim::send_wr wr = notify(64);

	wr.notify = p.b.m.va() + p.b.m.len() - 7;
	EXPECT_EQ(sub(done(wr)), UBOE_CQE_REMOTE_ABORT);
	EXPECT_TRUE(p.b.m.canaries_ok());
}

TEST_F(Native, SendsNeedTheToken)
{
	p.b.r.post(std::array{ p.b.local(0, 64) });
	uboe_cqe c =
		done({ .op = UBOE_SQE_SEND, .sges = { p.a.local(0, 8) }, .token = jetty_token });

	EXPECT_EQ(status(c), UBOE_CQE_OK);
	EXPECT_TRUE(p.b.rx.poll());
	p.b.r.post(std::array{ p.b.local(0, 64) });
	c = done({ .op = UBOE_SQE_SEND, .sges = { p.a.local(0, 8) }, .token = jetty_token ^ 1 });
	EXPECT_EQ(status(c), UBOE_CQE_REMOTE);
	EXPECT_EQ(sub(c), UBOE_CQE_REMOTE_ABORT);
	EXPECT_EQ(p.b.r.waiting(), 1u) << "no receive was taken";
}

TEST_F(Native, ASendWithoutTokenIsRefused)
{
	p.b.r.post(std::array{ p.b.local(0, 64) });
	uboe_cqe c = done({ .op = UBOE_SQE_SEND,
			    .sges = { p.a.local(0, 8) },
			    .token_en = false,
			    .token = jetty_token });

	EXPECT_EQ(sub(c), UBOE_CQE_REMOTE_ABORT);
}

TEST_F(Native, WriteWithImmediateNeedsBothTokens)
{
	ubsim::send_wr wr{ .op = UBOE_SQE_WRITE_IMM,
			   .sges = { p.a.local(0, 8) },
			   .remote = p.b.m.va(),
			   .rkey = key,
			   .imm = 1,
			   .token = jetty_token };

	p.b.r.post(std::array{ p.b.local(64, 64) });
	EXPECT_EQ(status(done(wr)), UBOE_CQE_OK);
	p.b.r.post(std::array{ p.b.local(64, 64) });
	wr.token++;
	EXPECT_EQ(sub(done(wr)), UBOE_CQE_REMOTE_ABORT);
}

TEST_F(Native, AReceiveNamesThePeer)
{
	p.b.r.post(std::array{ p.b.local(0, 64) });
	done({ .op = UBOE_SQE_SEND, .sges = { p.a.local(0, 8) }, .token = jetty_token });
	auto c = p.b.rx.poll();

	ASSERT_TRUE(c);
	EXPECT_EQ(UBP_GET(UBOE_CQE_RMT_ID, c->w2), p.a.id);
	EXPECT_EQ(std::memcmp(c->rmt_eid, p.a.self.b.data(), 16), 0);
	EXPECT_EQ(c->tpn, UB_TPN_RC(p.b.id));
}

TEST_F(Native, AMarkerEndsTheFlush)
{
	for (unsigned i = 0; i < 3; i++)
		p.a.q->put({ .op = UBOE_SQE_WRITE,
			     .sges = { p.a.local(0, 8) },
			     .remote = p.b.m.va(),
			     .rkey = key });
	p.a.q->ring();
	ASSERT_EQ(p.a.q->to_state(UBOE_JS_ERROR), 0);
	for (unsigned i = 0; i < 3; i++) {
		auto c = p.a.tx.poll();

		ASSERT_TRUE(c);
		EXPECT_EQ(status(*c), UBOE_CQE_FLUSH);
		EXPECT_FALSE(c->w0 & UBOE_CQE_FLUSH_DONE);
	}
	auto c = p.a.tx.poll();

	ASSERT_TRUE(c);
	EXPECT_TRUE(c->w0 & UBOE_CQE_FLUSH_DONE);
	EXPECT_FALSE(p.a.tx.poll()) << "one marker";
	ASSERT_EQ(p.a.q->to_state(UBOE_JS_ERROR), 0);
	EXPECT_FALSE(p.a.tx.poll()) << "none for a second request";
}

/* Policies of segments, whatever the jetty */
class Tokens : public testing::Test
{
      protected:
	unsigned write(std::uint8_t flags, std::uint32_t token, std::uint32_t sent, bool sends)
	{
		pair p;
		ubsim::memory m(0x900000, 4096, 12);

		EXPECT_TRUE(p.connect());
		EXPECT_EQ(p.b.h.register_memory(9, token, pd, access_all, m, flags), 0);
		p.a.q->post({ .op = UBOE_SQE_WRITE,
			      .sges = { p.a.local(0, 8) },
			      .remote = m.va(),
			      .rkey = ubsim::make_key(9, sent),
			      .token_en = sends });
		p.run();
		auto c = p.a.tx.poll();

		EXPECT_TRUE(c);
		p.b.h.destroy(UBOE_MBOX_SEG, 9);
		return c ? status(*c) : 0xff;
	}
};

TEST_F(Tokens, ByPolicy)
{
	EXPECT_EQ(write(0, 0x123, 0x123, true), UBOE_CQE_OK);
	EXPECT_EQ(write(0, 0x123, 0x124, true), UBOE_CQE_REMOTE);
	EXPECT_EQ(write(0, 0x123, 0x123, false), UBOE_CQE_REMOTE);
	/* 32 bits count, not the twelve of a verbs key */
	EXPECT_EQ(write(0, 0x10000123, 0x123, true), UBOE_CQE_REMOTE);
	EXPECT_EQ(write(UBOE_SEG_NO_TOKEN, 0x123, 0x555, true), UBOE_CQE_OK);
	EXPECT_EQ(write(UBOE_SEG_NO_TOKEN, 0x123, 0, false), UBOE_CQE_OK);
}

/* A queue that is used once more begins at the index that its producer then has */
TEST(Reset, TheProducerIndexCountsFromTheEndOfReset)
{
	end e(addr(false, 1), 0x101);
	const ubsim::dma sq = e.h.alloc_dma(UBOE_BB), page = e.h.alloc_dma(UBOE_JPAGE_SOFT_STRIDE);
	auto *pi = reinterpret_cast<__le32 *>(page.p + UBOE_JPAGE_DB);
	uboe_jetty_ctx ctx{};
	const auto fetched = [&] {
		uboe_jetty_ctx c{};

		EXPECT_EQ(e.h.query(UBOE_MBOX_JETTY, 0x300, c), 0);
		return c.sq_pi;
	};

	ctx.type = UBOE_JETTY_RC;
	ctx.pd = pd;
	ctx.sq_base = sq.bus;
	ctx.page = page.bus;
	ctx.tx_jfcn = e.tx.id();
	ctx.rx_jfcn = e.rx.id();
	ctx.jfrn = e.r.id();
	*pi = 7; /* of its former life */
	ASSERT_EQ(e.h.create(UBOE_MBOX_JETTY, 0x300, ctx), 0);
	EXPECT_EQ(fetched(), 7u);
	*pi = 0;
	ctx = {};
	ctx.state = UBOE_JS_INIT;
	ASSERT_EQ(e.h.modify(UBOE_MBOX_JETTY, 0x300, ctx, UBOE_JM_STATE), 0);
	EXPECT_EQ(fetched(), 0u);
	*pi = 1; /* once more INIT: something may be posted already */
	ASSERT_EQ(e.h.modify(UBOE_MBOX_JETTY, 0x300, ctx, UBOE_JM_STATE), 0);
	EXPECT_EQ(fetched(), 0u);
	e.h.destroy(UBOE_MBOX_JETTY, 0x300);
	e.h.reap();
	e.h.free_dma(sq);
	e.h.free_dma(page);
}

} /* namespace */
