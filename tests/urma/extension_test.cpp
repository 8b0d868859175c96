// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// 16-byte operands, what uboe/urma_ext.h adds, receives in the completion, moderation.
#include <algorithm>

#include "rig.hpp"

using namespace urma_test;

namespace
{

std::uint64_t word(End &e, std::size_t at)
{
	std::uint64_t v;

	std::memcpy(&v, e.memory->data() + at, 8);
	return v;
}

TEST(Extension, CasOfSixteenBytes)
{
	Pair p;
	urma_device_attr_t attr{};
	std::uint64_t now[2] = { 0x1111, 0x2222 }, want[2] = { 0x3333, 0x4444 };
	std::uint64_t other[2] = { 0x1111, 0 };

	ASSERT_EQ(urma_query_device(device(), &attr), URMA_SUCCESS);
	EXPECT_TRUE(attr.dev_cap.atomic_feat.bs.cas);
	// the segment may lie 8 bytes off
	const std::size_t at = (16 - p.b.memory->va() % 16) % 16 + 16;

	std::memset(p.b.memory->data(), 0x5a, 64);
	std::memcpy(p.b.memory->data() + at, now, 16);
	auto cas = [&](std::uint64_t *cmp) {
		return Wr(URMA_OPC_CAS, 1)
			.local({ p.a.memory->at(0, 16) })
			.remote(p.b.memory->va() + at, p.a.remote, 16)
			.operands(reinterpret_cast<std::uint64_t>(cmp),
				  reinterpret_cast<std::uint64_t>(want))
			.post(p.a.jetty);
	};
	ASSERT_EQ(cas(other), URMA_SUCCESS);
	if (attr.dev_cap.max_cas_size < 16) {
		const auto cr = p.a.next();

		ASSERT_TRUE(cr);
		EXPECT_EQ(cr->status, URMA_CR_REM_UNSUPPORTED_REQ_ERR);
		return;
	}
	p.a.expect(1);
	EXPECT_EQ(std::memcmp(p.a.memory->data(), now, 16), 0);
	EXPECT_EQ(std::memcmp(p.b.memory->data() + at, now, 16), 0) << "compared unequal";
	ASSERT_EQ(cas(now), URMA_SUCCESS);
	p.a.expect(1);
	EXPECT_EQ(std::memcmp(p.a.memory->data(), now, 16), 0);
	EXPECT_EQ(std::memcmp(p.b.memory->data() + at, want, 16), 0);
	EXPECT_EQ(p.b.memory->data()[at - 1], 0x5a);
	EXPECT_EQ(p.b.memory->data()[at + 16], 0x5a);
}

TEST(Extension, SixteenBytesAreForCasAndAligned)
{
	Pair p;
	std::uint64_t v[2] = {};
	const auto at = reinterpret_cast<std::uint64_t>(v);

	EXPECT_EQ(Wr(URMA_OPC_FADD, 1)
			  .local({ p.a.memory->at(0, 16) })
			  .remote(p.b.memory->va(), p.a.remote, 16)
			  .operands(at)
			  .post(p.a.jetty),
		  URMA_EINVAL);
	EXPECT_EQ(Wr(URMA_OPC_CAS, 1)
			  .local({ p.a.memory->at(0, 16) })
			  .remote(((p.b.memory->va() + 15) & ~15ull) + 8, p.a.remote, 16)
			  .operands(at, at)
			  .post(p.a.jetty),
		  URMA_EINVAL);
	EXPECT_EQ(Wr(URMA_OPC_CAS, 1)
			  .local({ p.a.memory->at(0, 16) })
			  .remote((p.b.memory->va() + 15) & ~15ull, p.a.remote, 16)
			  .operands(at, 0)
			  .post(p.a.jetty),
		  URMA_EINVAL)
		<< "no operand";
}

TEST(Extension, WriteWithReduce)
{
	Pair p;
	std::int32_t v[100], r[100];

	for (int i = 0; i < 100; ++i) {
		v[i] = i * 1000 - 50000;
		r[i] = 7 * i;
	}
	std::memcpy(p.a.memory->data(), v, sizeof(v));
	std::memcpy(p.b.memory->data(), r, sizeof(r));
	for (unsigned op : { UBOE_WR_ADD, UBOE_WR_SMAX }) {
		ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
				  .local({ p.a.memory->at(0, sizeof(v)) })
				  .remote(p.b.memory->va(), p.a.remote)
				  .extended(UBOE_WR_REDUCE, op, UBOE_WR_S32)
				  .post(p.a.jetty),
			  URMA_SUCCESS);
		p.a.expect(1);
		std::int32_t got[101];
		std::memcpy(got, p.b.memory->data(), sizeof(got));
		for (int i = 0; i < 100; ++i) {
			r[i] = op == UBOE_WR_ADD ? r[i] + v[i] : std::max(r[i], v[i]);
			ASSERT_EQ(got[i], r[i]) << i;
		}
		EXPECT_EQ(got[100], 0);
	}
}

TEST(Extension, ReadWithReduceOfFloats)
{
	Pair p;
	const float mine[3] = { 1, 2.5f, -1e10f }, theirs[3] = { 0.5f, -2.5f, 3e10f };
	float got[4];

	std::memcpy(p.a.memory->data(), mine, sizeof(mine));
	std::memcpy(p.b.memory->data(), theirs, sizeof(theirs));
	ASSERT_EQ(Wr(URMA_OPC_READ, 1)
			  .local({ p.a.memory->at(0, 12) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .extended(UBOE_WR_REDUCE, UBOE_WR_ADD, UBOE_WR_FP32)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(1);
	std::memcpy(got, p.a.memory->data(), sizeof(got));
	for (int i = 0; i < 3; ++i)
		EXPECT_EQ(got[i], mine[i] + theirs[i]);
	EXPECT_EQ(got[3], 0.0f);
	EXPECT_EQ(std::memcmp(p.b.memory->data(), theirs, sizeof(theirs)), 0);
}

TEST(Extension, StoreAddBehindTheData)
{
	// two segments, or a long token: the long form
	for (std::size_t n : { 0, 100, 65536 }) {
		Pair p;

		p.a.memory->fill(9);
		const std::size_t at = 500000 + (8 - (p.b.memory->va() + 500000) % 8) % 8;
		const std::uint64_t before = ~0ull;

		std::memcpy(p.b.memory->data() + at, &before, 8);
		ASSERT_EQ(Wr(URMA_OPC_WRITE_NOTIFY, 2)
				  .local({ p.a.memory->at(0, n) })
				  .remote(p.b.memory->va(), p.a.remote)
				  .notify(p.b.memory->va() + at, p.a.remote, 3)
				  .extended(UBOE_WR_STORE_ADD)
				  .post(p.a.jetty),
			  URMA_SUCCESS);
		p.a.expect(2);
		EXPECT_EQ(word(p.b, at), 2u);
		EXPECT_EQ(word(p.b, at + 8), 0u);
		EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), n), 0);
		EXPECT_TRUE(p.b.nothing_comes(5)) << "it takes no receive";
		EXPECT_EQ(Wr(URMA_OPC_WRITE_NOTIFY, 2)
				  .local({ p.a.memory->at(0, 65537) })
				  .remote(p.b.memory->va(), p.a.remote)
				  .notify(p.b.memory->va() + at, p.a.remote, 3)
				  .extended(UBOE_WR_STORE_ADD)
				  .post(p.a.jetty),
			  URMA_EINVAL)
			<< "it is one message";
	}
}

TEST(Extension, AtomicStoreAndLoad)
{
	Pair p;

	for (unsigned bytes : { 4u, 8u }) {
		std::uint64_t v = 0xffffffff00000005;

		std::memcpy(p.b.memory->data() + 8, &v, 8);
		ASSERT_EQ(Wr(URMA_OPC_FADD, 3)
				  .remote(p.b.memory->va() + 8, p.a.remote, bytes)
				  .operands(0x00ff00000000000c)
				  .extended(UBOE_WR_ATOMIC_STORE, UBOE_WR_CLEAR)
				  .post(p.a.jetty),
			  URMA_SUCCESS);
		p.a.expect(3);
		v = bytes == 8 ? 0xff00ffff00000001 : 0xffffffff00000001;
		EXPECT_EQ(word(p.b, 8), v);
		ASSERT_EQ(Wr(URMA_OPC_FADD, 4)
				  .local({ p.a.memory->at(0, bytes) })
				  .remote(p.b.memory->va() + 8, p.a.remote, bytes)
				  .operands(7)
				  .extended(UBOE_WR_ATOMIC_LOAD, UBOE_WR_SMAX)
				  .post(p.a.jetty),
			  URMA_SUCCESS);
		p.a.expect(4);
		EXPECT_EQ(word(p.a, 0), bytes == 8 ? v : 1);
		EXPECT_EQ(word(p.b, 8), bytes == 8 ? 7 : 0xffffffff00000007) << "signed";
		std::memset(p.a.memory->data(), 0, 8);
	}
}

TEST(Extension, NonsenseIsRefusedWhenItIsPosted)
{
	using F = void (*)(Wr &);
	Pair p;
	const F spoil[] = {
		[](Wr &w) { w.extension().size = 0; },
		[](Wr &w) { w.extension().size += 8; },
		[](Wr &w) { w.extension().kind = 0; },
		[](Wr &w) { w.extension().kind = 99; },
		[](Wr &w) { w.extension().reserved = 1; },
		[](Wr &w) { w.extension().op = 8; },
		[](Wr &w) { w.extension().type = 7; },
		[](Wr &w) { w.extension().type = 12; },
		[](Wr &w) { w.extension().kind = UBOE_WR_STORE_ADD; },
		[](Wr &w) { w.extension().kind = UBOE_WR_ATOMIC_LOAD; },
	};

	for (F f : spoil) {
		Wr w(URMA_OPC_WRITE, 1);

		w.local({ p.a.memory->at(0, 8) })
			.remote(p.b.memory->va(), p.a.remote)
			.extended(UBOE_WR_REDUCE, UBOE_WR_ADD, UBOE_WR_S32);
		f(w);
		EXPECT_EQ(w.post(p.a.jetty), URMA_EINVAL);
	}
	for (auto [off, n] : { std::pair{ 0u, 7u }, { 2u, 8u }, { 0u, 8196u } })
		EXPECT_EQ(Wr(URMA_OPC_WRITE, 1)
				  .local({ p.a.memory->at(0, n) })
				  .remote(p.b.memory->va() + off, p.a.remote)
				  .extended(UBOE_WR_REDUCE, UBOE_WR_ADD, UBOE_WR_S32)
				  .post(p.a.jetty),
			  URMA_EINVAL);
	EXPECT_TRUE(p.a.nothing_comes(5));
}

TEST(Extension, AnOperatorThatTheTypeHasNot)
{
	Pair p;

	std::memset(p.b.memory->data(), 0x5a, 64);
	ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
			  .local({ p.a.memory->at(0, 8) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .extended(UBOE_WR_REDUCE, UBOE_WR_XOR, UBOE_WR_FP32)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	const auto cr = p.a.next();

	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_UNSUPPORTED_OPCODE_ERR);
	EXPECT_EQ(word(p.b, 0), 0x5a5a5a5a5a5a5a5au);
}

// As a program sees it, a receive in the completion is like any other.
TEST(Extension, ReceivesInTheCompletion)
{
	Shape shape;

	shape.jfc_inline = true;
	Pair p(shape);

	for (std::size_t n : { 1, 12, 13, 20, 21, 200 })
		for (urma_opcode_t op :
		     { URMA_OPC_SEND, URMA_OPC_SEND_IMM, URMA_OPC_SEND_INVALIDATE }) {
			p.a.memory->fill(static_cast<std::uint8_t>(n));
			std::memset(p.b.memory->data(), 0, 256);
			urma_sge_t pieces[] = { p.b.memory->at(0, 5), p.b.memory->at(8, 0),
						p.b.memory->at(16, 240) };
			urma_jfr_wr_t wr{ { pieces, 3 }, n, nullptr }, *bad;

			ASSERT_EQ(urma_post_jetty_recv_wr(p.b.jetty, &wr, &bad), URMA_SUCCESS);
			Wr send(op, 5);
			send.local({ p.a.memory->at(0, n) });
			if (op == URMA_OPC_SEND_IMM)
				send.imm(0x123456789abcdef0);
			else if (op == URMA_OPC_SEND_INVALIDATE)
				send.invalidate(p.a.remote);
			ASSERT_EQ(send.post(p.a.jetty), URMA_SUCCESS);
			p.a.expect(5);
			const urma_cr_t got = p.b.expect(n);

			EXPECT_EQ(got.completion_len, n);
			if (op == URMA_OPC_SEND_IMM) {
				EXPECT_EQ(got.imm_data, 0x123456789abcdef0u);
			}
			const std::size_t first = std::min<std::size_t>(n, 5);
			EXPECT_EQ(std::memcmp(p.b.memory->data(), p.a.memory->data(), first), 0);
			EXPECT_EQ(std::memcmp(p.b.memory->data() + 16, p.a.memory->data() + first,
					      n - first),
				  0)
				<< n;
			EXPECT_EQ(p.b.memory->data()[5], 0);
			EXPECT_EQ(p.b.memory->data()[16 + n - first], 0);
		}
}

int wait(End &e, int ms)
{
	urma_jfc_t *jfc = nullptr;
	std::uint32_t one = 1;
	const int n = urma_wait_jfc(e.jfce, 1, ms, &jfc);

	if (n == 1)
		urma_ack_jfc(&jfc, &one, 1);
	return n;
}

TEST(Extension, EventsByNumberAndByTime)
{
	Shape shape;

	shape.events = true;
	Pair p(shape);
	urma_jfc_attr_t attr{ JFC_MODERATE_COUNT | JFC_MODERATE_PERIOD, 3, 0 };
	auto write = [&] {
		ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
				  .local({ p.a.memory->at(0, 8) })
				  .remote(p.b.memory->va(), p.a.remote)
				  .post(p.a.jetty),
			  URMA_SUCCESS);
		p.a.expect(1);
	};

	ASSERT_EQ(urma_modify_jfc(p.a.jfc, &attr), URMA_SUCCESS);
	ASSERT_EQ(urma_rearm_jfc(p.a.jfc, false), URMA_SUCCESS);
	write();
	write();
	EXPECT_EQ(wait(p.a, 30), 0);
	write();
	EXPECT_EQ(wait(p.a, 5000), 1);
	attr.moderate_count = 1000;
	attr.moderate_period = 16384;
	ASSERT_EQ(urma_modify_jfc(p.a.jfc, &attr), URMA_SUCCESS);
	ASSERT_EQ(urma_rearm_jfc(p.a.jfc, false), URMA_SUCCESS);
	write();
	EXPECT_EQ(wait(p.a, 5000), 1) << "16 ms later";
	for (auto [count, period] : { std::pair{ 1024, 0 }, { 0, 5 }, { 0, 8 }, { 0, 65535 } }) {
		attr.moderate_count = static_cast<std::uint16_t>(count);
		attr.moderate_period = static_cast<std::uint16_t>(period);
		EXPECT_EQ(urma_modify_jfc(p.a.jfc, &attr), URMA_EINVAL);
	}
	attr = { 4, 0, 0 };
	EXPECT_EQ(urma_modify_jfc(p.a.jfc, &attr), URMA_EINVAL);
}

} // namespace
