// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Each operation moves what it should, where it should.
#include "rig.hpp"

using namespace urma_test;

namespace
{

class Sizes : public testing::TestWithParam<std::size_t>
{
};

std::string size_name(const testing::TestParamInfo<std::size_t> &info)
{
	return std::to_string(info.param);
}

TEST_P(Sizes, Write)
{
	Pair p;
	const std::size_t n = GetParam();

	p.a.memory->fill(3);
	ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
			  .local({ p.a.memory->at(0, n) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	EXPECT_EQ(p.a.expect(1).flag.bs.s_r, 0);
	EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), n), 0);
	for (std::size_t i = n; i < std::min(n + 64, p.b.memory->size()); ++i)
		ASSERT_EQ(p.b.memory->data()[i], 0) << "a byte beyond the message";
}

TEST_P(Sizes, Read)
{
	Pair p;
	const std::size_t n = GetParam();

	p.b.memory->fill(5);
	ASSERT_EQ(Wr(URMA_OPC_READ, 2)
			  .local({ p.a.memory->at(0, n) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(2);
	EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), n), 0);
}

TEST_P(Sizes, Send)
{
	Pair p;
	const std::size_t n = GetParam();

	if (n > 65536) {
		// a native Send is one transport message
		EXPECT_EQ(Wr(URMA_OPC_SEND, 3).local({ p.a.memory->at(0, n) }).post(p.a.jetty),
			  URMA_EINVAL);
		return;
	}
	p.a.memory->fill(9);
	p.b.receive(70, p.b.memory->at(0, n));
	ASSERT_EQ(Wr(URMA_OPC_SEND, 3).local({ p.a.memory->at(0, n) }).post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(3);
	const urma_cr_t got = p.b.expect(70);

	EXPECT_EQ(got.flag.bs.s_r, 1);
	EXPECT_EQ(got.flag.bs.jetty, 1);
	EXPECT_EQ(got.opcode, URMA_CR_OPC_SEND);
	EXPECT_EQ(got.completion_len, n);
	EXPECT_EQ(got.remote_id.id, p.a.jetty->jetty_id.id);
	EXPECT_EQ(std::memcmp(&got.remote_id.eid, &p.a.ctx->eid, sizeof(urma_eid_t)), 0);
	EXPECT_EQ(got.user_data, reinterpret_cast<uintptr_t>(p.b.jetty));
	EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), n), 0);
}

INSTANTIATE_TEST_SUITE_P(Operations, Sizes,
			 testing::Values(0, 1, 7, 64, 1000, 4096, 4097, 65535, 65536, 65537,
					 1 << 20),
			 size_name);

TEST(Operations, SendWithImmediateCarries64Bits)
{
	Pair p;

	p.b.receive(1, p.b.memory->at(0, 64));
	ASSERT_EQ(Wr(URMA_OPC_SEND_IMM, 2)
			  .local({ p.a.memory->at(0, 8) })
			  .imm(0x0123456789abcdef)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(2);
	const urma_cr_t got = p.b.expect(1);

	EXPECT_EQ(got.opcode, URMA_CR_OPC_SEND_WITH_IMM);
	EXPECT_EQ(got.imm_data, 0x0123456789abcdefu);
}

TEST(Operations, SendWithInvalidateNamesTheSegment)
{
	Pair p;

	p.b.receive(1, p.b.memory->at(0, 64));
	ASSERT_EQ(Wr(URMA_OPC_SEND_INVALIDATE, 2)
			  .local({ p.a.memory->at(0, 8) })
			  .invalidate(p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(2);
	const urma_cr_t got = p.b.expect(1);

	EXPECT_EQ(got.opcode, URMA_CR_OPC_SEND_WITH_INV);
	EXPECT_EQ(got.invalid_token.token_id, p.b.memory->seg()->seg.token_id);
	EXPECT_EQ(got.invalid_token.token_value.token, segment_token);
}

TEST(Operations, WriteWithImmediateTakesAReceive)
{
	Pair p;

	p.a.memory->fill(1);
	p.b.receive(5, p.b.memory->at(4096, 64));
	ASSERT_EQ(Wr(URMA_OPC_WRITE_IMM, 6)
			  .local({ p.a.memory->at(0, 1000) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .imm(~0ull)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(6);
	const urma_cr_t got = p.b.expect(5);

	EXPECT_EQ(got.opcode, URMA_CR_OPC_WRITE_WITH_IMM);
	EXPECT_EQ(got.imm_data, ~0ull);
	EXPECT_EQ(got.completion_len, 1000u);
	EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), 1000), 0);
}

TEST(Operations, WriteWithNotifyStoresEightBytesAfterTheData)
{
	for (std::size_t n : { std::size_t{ 0 }, std::size_t{ 100 }, std::size_t{ 300000 } }) {
		Pair p;
		std::uint64_t word = 0;

		p.a.memory->fill(7);
		ASSERT_EQ(Wr(URMA_OPC_WRITE_NOTIFY, 6)
				  .local({ p.a.memory->at(0, n) })
				  .remote(p.b.memory->va(), p.a.remote)
				  .notify(p.b.memory->va() + 500000, p.a.remote, 0x1122334455667788)
				  .post(p.a.jetty),
			  URMA_SUCCESS);
		p.a.expect(6);
		std::memcpy(&word, p.b.memory->data() + 500000, 8);
		EXPECT_EQ(word, 0x1122334455667788u);
		EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), n), 0);
		EXPECT_TRUE(p.b.nothing_comes(5)) << "a notify takes no receive";
	}
}

TEST(Operations, InlineDataMayChangeAtOnce)
{
	Pair p;
	std::uint8_t text[208];

	std::memset(text, 0x42, sizeof(text));
	ASSERT_EQ(
		Wr(URMA_OPC_WRITE, 1)
			.local({ { reinterpret_cast<std::uint64_t>(text), 208, nullptr, nullptr } })
			.remote(p.b.memory->va(), p.a.remote)
			.inlined()
			.post(p.a.jetty),
		URMA_SUCCESS);
	std::memset(text, 0, sizeof(text));
	p.a.expect(1);
	EXPECT_EQ(p.b.memory->data()[0], 0x42);
	EXPECT_EQ(p.b.memory->data()[207], 0x42);
	EXPECT_EQ(p.b.memory->data()[208], 0);
}

TEST(Operations, ThirteenElementsAreGathered)
{
	Shape shape;

	shape.sges = 13;
	Pair p(shape);
	std::vector<urma_sge_t> sges;

	p.a.memory->fill(11);
	for (unsigned i = 0; i < 13; ++i)
		sges.push_back(p.a.memory->at(i * 1000, i + 1));
	ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
			  .local(sges)
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(1);
	const std::uint8_t *at = p.b.memory->data();

	for (unsigned i = 0; i < 13; ++i, at += i)
		EXPECT_EQ(std::memcmp(at, p.a.memory->data() + i * 1000, i + 1), 0) << i;
	sges.push_back(p.a.memory->at(0, 1));
	EXPECT_EQ(Wr(URMA_OPC_WRITE, 1)
			  .local(sges)
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_EINVAL);
}

struct AtomicCase {
	const char *name;
	urma_opcode_t opcode;
	unsigned bytes;
	std::uint64_t old, first, second, result;
};

class Atomics : public testing::TestWithParam<AtomicCase>
{
};

TEST_P(Atomics, OldValueComesBackNewOneStays)
{
	const AtomicCase &c = GetParam();
	Pair p;
	std::uint64_t old = 0, now = 0;

	std::memcpy(p.b.memory->data() + 8, &c.old, 8);
	ASSERT_EQ(Wr(c.opcode, 4)
			  .local({ p.a.memory->at(0, c.bytes) })
			  .remote(p.b.memory->va() + 8, p.a.remote, c.bytes)
			  .operands(c.first, c.second)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(4);
	std::memcpy(&old, p.a.memory->data(), c.bytes);
	std::memcpy(&now, p.b.memory->data() + 8, 8);
	EXPECT_EQ(old, c.bytes == 8 ? c.old : c.old & 0xffffffff);
	EXPECT_EQ(now, c.result);
}

constexpr std::uint64_t high = 0xaaaaaaaa00000000;

INSTANTIATE_TEST_SUITE_P(
	Operations, Atomics,
	testing::Values(AtomicCase{ "CasEqual8", URMA_OPC_CAS, 8, 5, 5, 9, 9 },
			AtomicCase{ "CasOther8", URMA_OPC_CAS, 8, 5, 6, 9, 5 },
			AtomicCase{ "CasEqual4", URMA_OPC_CAS, 4, high | 5, 5, 9, high | 9 },
			AtomicCase{ "CasOther4", URMA_OPC_CAS, 4, high | 5, 6, 9, high | 5 },
			AtomicCase{ "Swap8", URMA_OPC_SWAP, 8, 1, 2, 0, 2 },
			AtomicCase{ "Swap4", URMA_OPC_SWAP, 4, high | 1, 2, 0, high | 2 },
			AtomicCase{ "Add8", URMA_OPC_FADD, 8, ~0ull, 2, 0, 1 },
			AtomicCase{ "Add4", URMA_OPC_FADD, 4, high | 0xffffffff, 2, 0, high | 1 },
			AtomicCase{ "Sub8", URMA_OPC_FSUB, 8, 1, 2, 0, ~0ull },
			AtomicCase{ "And8", URMA_OPC_FAND, 8, 0xff0f, 0x0ff0, 0, 0x0f00 },
			AtomicCase{ "Or8", URMA_OPC_FOR, 8, 0xff0f, 0x00f0, 0, 0xffff },
			AtomicCase{ "Xor8", URMA_OPC_FXOR, 8, 0xff, 0x0f, 0, 0xf0 },
			AtomicCase{ "Xor4", URMA_OPC_FXOR, 4, high | 0xff, 0x0f, 0, high | 0xf0 }),
	[](const auto &info) { return std::string(info.param.name); });

TEST(Operations, NopCompletes)
{
	Pair p;

	ASSERT_EQ(Wr(URMA_OPC_NOP, 8).post(p.a.jetty), URMA_SUCCESS);
	p.a.expect(8);
}

TEST(Operations, AListIsPostedUpToTheFirstBadOne)
{
	Pair p;
	Wr good(URMA_OPC_NOP, 1), bad(static_cast<urma_opcode_t>(0x7f), 2), never(URMA_OPC_NOP, 3);
	urma_jfs_wr_t *where = nullptr;

	good.get()->next = bad.get();
	bad.get()->next = never.get();
	EXPECT_NE(urma_post_jetty_send_wr(p.a.jetty, good.get(), &where), URMA_SUCCESS);
	EXPECT_EQ(where, bad.get());
	p.a.expect(1);
	EXPECT_TRUE(p.a.nothing_comes(5));
}

TEST(Operations, QuietRequestsCompleteOnlyWhenTheyFail)
{
	Pair p;

	for (unsigned i = 0; i < 10; ++i)
		ASSERT_EQ(Wr(URMA_OPC_WRITE, i)
				  .local({ p.a.memory->at(0, 100) })
				  .remote(p.b.memory->va(), p.a.remote)
				  .quiet()
				  .post(p.a.jetty),
			  URMA_SUCCESS);
	ASSERT_EQ(Wr(URMA_OPC_NOP, 99).post(p.a.jetty), URMA_SUCCESS);
	p.a.expect(99);
	ASSERT_EQ(Wr(URMA_OPC_WRITE, 7)
			  .local({ p.a.memory->at(0, 100) })
			  .remote(p.b.memory->va() + p.b.memory->size(), p.a.remote)
			  .quiet()
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	const auto cr = p.a.next();

	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_REM_ACCESS_ABORT_ERR);
	EXPECT_EQ(cr->user_ctx, 7u);
}

} // namespace
