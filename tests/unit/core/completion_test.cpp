// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Receives in the completion, and moderation of events. */
#include <gtest/gtest.h>

#include "rig.hpp"

using namespace rig;

namespace
{

std::unique_ptr<pair> make(const ubsim::jfc_options &recv)
{
	auto p = std::make_unique<pair>(false, ubsim::host::small_config(), ubsim::jetty_options{},
					1u << 18, recv);

	EXPECT_TRUE(p->connect());
	return p;
}

/* A Send of @len bytes of which the first is @seed; its receive completion */
uboe_cqe send(pair &p, std::uint8_t op, std::uint32_t len, std::uint8_t seed)
{
	bytes data(len);

	for (std::uint32_t i = 0; i < len; i++)
		data[i] = std::uint8_t(seed + i);
	p.a.m.write(0, data.data(), len);
	p.b.r.post(std::array{ p.b.local(0x100, 4096) });
	p.a.q->post({ .op = op, .sges = { p.a.local(0, len) }, .imm = 0x1122334455667788 });
	p.run();
	auto sent = p.a.tx.poll(), got = p.b.rx.poll();

	EXPECT_TRUE(sent && got);
	if (sent)
		p.a.q->retire((sent->w1 & 0xffff) + 1);
	if (got)
		p.b.r.done(got->w1 & UBOE_CQE_ENTRY);
	return got.value_or(uboe_cqe{});
}

const std::uint8_t *inline_at(const uboe_cqe &c, bool imm)
{
	return imm ? reinterpret_cast<const std::uint8_t *>(c.inline_data) :
		     reinterpret_cast<const std::uint8_t *>(&c.imm_lo);
}

TEST(Inline, UpToTwentyBytesTwelveWithAnImmediate)
{
	auto p = make({ .flags = UBOE_JFC_INLINE });

	for (std::uint8_t op : { UBOE_SQE_SEND, UBOE_SQE_SEND_IMM, UBOE_SQE_SEND_INV }) {
		const bool imm = op != UBOE_SQE_SEND;
		const std::uint32_t most = imm ? 12 : 20;

		for (std::uint32_t len : { 1u, most - 1, most, most + 1, 1024u, 1025u, 0u }) {
			const bool inl = len && len <= most;
			const bytes before(4096, 0xc5);

			p->b.m.write(0x100, before.data(), before.size());
			uboe_cqe c = send(*p, op, len, 7);

			EXPECT_EQ(c.byte_cnt, len);
			EXPECT_EQ(UBP_GET(UBOE_CQE_OPCODE, c.w0), op);
			ASSERT_EQ(bool(c.w0 & UBOE_CQE_INLINE), inl) << int(op) << ", " << len;
			if (imm)
				EXPECT_EQ(c.imm_lo | std::uint64_t(c.imm_hi) << 32,
					  0x1122334455667788u);
			for (std::uint32_t i = 0; inl && i < len; i++)
				ASSERT_EQ(inline_at(c, imm)[i], 7 + i);
			bytes want = before;
			for (std::uint32_t i = 0; !inl && i < len; i++)
				want[i] = std::uint8_t(7 + i);
			ASSERT_EQ(p->b.m.compare(0x100, want.data(), want.size()), want.size())
				<< "the buffer of " << len;
		}
	}
}

TEST(Inline, OnlyWhereTheQueueAsksForIt)
{
	auto p = make({});
	uboe_cqe c = send(*p, UBOE_SQE_SEND, 8, 3);

	EXPECT_FALSE(c.w0 & UBOE_CQE_INLINE);
	EXPECT_EQ(p->b.m.load(0x100, 1), 3u);
}

TEST(Inline, AMessageThatIsTooLongForItsReceiveStillFails)
{
	auto p = make({ .flags = UBOE_JFC_INLINE });

	p->b.r.post(std::array{ p->b.local(0x100, 7) });
	p->a.q->post({ .op = UBOE_SQE_SEND, .sges = { p->a.local(0, 8) } });
	p->run();
	auto got = p->b.rx.poll();

	ASSERT_TRUE(got);
	EXPECT_EQ(UBP_GET(UBOE_CQE_STATUS, got->w0), unsigned(UBOE_CQE_LOCAL));
	EXPECT_FALSE(got->w0 & UBOE_CQE_INLINE);
}

class Moderate : public testing::Test
{
      protected:
	std::unique_ptr<pair> p;

	void start(std::uint16_t count, std::uint16_t period)
	{
		p = make({ .moderate_count = count, .moderate_period = period });
		p->b.h.jfc_events().clear();
	}

	/* @n receive completions; time stands still meanwhile */
	void complete(unsigned n, bool solicited = false)
	{
		for (unsigned i = 0; i < n; i++) {
			p->b.r.post(std::array{ p->b.local(0x100, 64) });
			auto end = p->a.q->post({ .op = UBOE_SQE_SEND,
						  .solicited = solicited,
						  .sges = { p->a.local(0, 8) } });
			for (unsigned k = 0; k < 4; k++) {
				pair::carry(p->a, p->b);
				pair::carry(p->b, p->a);
			}
			p->a.q->retire(end);
			auto c = p->b.rx.poll();
			ASSERT_TRUE(c);
			p->b.r.done(c->w1 & UBOE_CQE_ENTRY);
		}
	}

	unsigned events()
	{
		unsigned n = 0;

		for (std::uint32_t id : p->b.h.jfc_events())
			n += id == p->b.rx.id();
		p->b.h.jfc_events().clear();
		return n;
	}

	void pass(std::uint64_t us)
	{
		p->b.h.time += us * 1000;
		p->b.h.run_timers();
	}

	int modify(std::uint16_t count, std::uint16_t period, std::uint32_t mask)
	{
		uboe_jfc_ctx ctx{};

		ctx.moderate_count = count;
		ctx.moderate_period = period;
		return p->b.h.modify(UBOE_MBOX_JFC, p->b.rx.id(), ctx, mask);
	}
};

TEST_F(Moderate, ByNumberIsExact)
{
	for (unsigned n : { 2u, 3u, 40u }) {
		start(std::uint16_t(n), 0);
		complete(5);
		EXPECT_EQ(events(), 0u) << "not armed";
		for (unsigned round = 0; round < 2; round++) {
			p->b.rx.arm(UBOE_ARM_NEXT);
			complete(n - 1);
			pass(1000000);
			EXPECT_EQ(events(), 0u);
			complete(1);
			EXPECT_EQ(events(), 1u);
			complete(n + 1);
			EXPECT_EQ(events(), 0u) << "one event for each arming";
		}
	}
}

TEST_F(Moderate, OneAndNoneAreEach)
{
	for (std::uint16_t n : { 0, 1 }) {
		start(n, 64);
		p->b.rx.arm(UBOE_ARM_NEXT);
		complete(1);
		EXPECT_EQ(events(), 1u);
	}
}

TEST_F(Moderate, ByTimeFromTheFirstOnThatWaits)
{
	start(1000, 64);
	p->b.rx.arm(UBOE_ARM_NEXT);
	pass(1000);
	complete(1);
	pass(60);
	complete(3);
	EXPECT_EQ(events(), 0u);
	pass(3);
	EXPECT_EQ(events(), 0u) << "63 us after the first";
	pass(1);
	EXPECT_EQ(events(), 1u) << "64 us";
	pass(1000);
	EXPECT_EQ(events(), 0u);
	/* the timer of an event that came by number does not fire the next one early */
	ASSERT_EQ(modify(3, 0, UBOE_CM_COUNT), 0);
	p->b.rx.arm(UBOE_ARM_NEXT);
	complete(3);
	EXPECT_EQ(events(), 1u);
	pass(40);
	p->b.rx.arm(UBOE_ARM_NEXT);
	complete(1);
	pass(30);
	EXPECT_EQ(events(), 0u) << "30 us after the first";
	pass(34);
	EXPECT_EQ(events(), 1u);
}

TEST_F(Moderate, ANewArmingCountsAnew)
{
	start(3, 0);
	p->b.rx.arm(UBOE_ARM_NEXT);
	complete(2);
	p->b.rx.arm(UBOE_ARM_NEXT);
	complete(2);
	EXPECT_EQ(events(), 0u);
	complete(1);
	EXPECT_EQ(events(), 1u);
}

TEST_F(Moderate, OnlySolicitedOnesCountWhenThoseWereAskedFor)
{
	start(2, 0);
	p->b.rx.arm(UBOE_ARM_SOLICITED);
	complete(10);
	complete(1, true);
	complete(10);
	EXPECT_EQ(events(), 0u);
	complete(1, true);
	EXPECT_EQ(events(), 1u);
}

TEST_F(Moderate, WhatWaitsIsLookedAtWhenTheLimitsChange)
{
	start(100, 0);
	p->b.rx.arm(UBOE_ARM_NEXT);
	complete(5);
	ASSERT_EQ(modify(6, 0, UBOE_CM_COUNT), 0);
	EXPECT_EQ(events(), 0u);
	ASSERT_EQ(modify(5, 0, UBOE_CM_COUNT), 0);
	EXPECT_EQ(events(), 1u);
	ASSERT_EQ(modify(100, 0, UBOE_CM_COUNT), 0);
	p->b.rx.arm(UBOE_ARM_NEXT);
	complete(1);
	ASSERT_EQ(modify(0, 16, UBOE_CM_PERIOD), 0);
	pass(15);
	EXPECT_EQ(events(), 0u);
	pass(1);
	EXPECT_EQ(events(), 1u);
	uboe_jfc_ctx ctx{};
	ASSERT_EQ(p->b.h.query(UBOE_MBOX_JFC, p->b.rx.id(), ctx), 0);
	EXPECT_EQ(ctx.moderate_count, 100u);
	EXPECT_EQ(ctx.moderate_period, 16u);
}

TEST_F(Moderate, LimitsAreChecked)
{
	start(0, 0);
	EXPECT_EQ(modify(1023, 0, UBOE_CM_COUNT), 0);
	EXPECT_EQ(modify(1024, 0, UBOE_CM_COUNT), -EINVAL);
	for (std::uint16_t us : { 0, 4, 16, 64, 256, 1024, 4096, 16384 })
		EXPECT_EQ(modify(0, us, UBOE_CM_PERIOD), 0) << us;
	for (std::uint16_t us : { 1, 2, 3, 5, 8, 32, 100, 8192, 32768, 65535 })
		EXPECT_EQ(modify(0, us, UBOE_CM_PERIOD), -EINVAL) << us;
	EXPECT_EQ(modify(0, 0, 4), -EOPNOTSUPP);
}

TEST_F(Moderate, ATimerMayOutliveItsQueue)
{
	ubsim::host h;
	{
		ubsim::jfc q(h, 9, 6, { .moderate_count = 5, .moderate_period = 4 });
	}
	ubp_jfc_timer(h.dev(), 9);
	ubp_jfc_timer(h.dev(), 4095);
	ubp_jfc_timer(h.dev(), ~0u);
	ubsim::jfc q(h, 9, 6);
	ubp_jfc_timer(h.dev(), 9);
	EXPECT_TRUE(h.jfc_events().empty());
}

} /* namespace */
