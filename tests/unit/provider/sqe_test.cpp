// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Bytes of every operation, written down by hand from ub/uboe_io.h.

#include <initializer_list>

#include "fake_device.hpp"

using namespace uboe;
using namespace uboe::test;

namespace {

class SqeBytes : public testing::Test {
protected:
	FakeDevice dev;
	TestCq cq{dev};
	TestQp qp{dev, cq, cq, {.wr = 16, .sge = 4, .inline_bytes = 64}};
	ibv_sge sges[2] = {{0x1122334455667788, 0x1000, 0xaabbccdd}, {0x1000, 0x20, 0x99}};

	/// Little-endian words of the element at the ring's start.
	void expect_words(std::initializer_list<u32> want)
	{
		u32 i = 0;

		for (u32 w : want) {
			EXPECT_EQ(qp.sqe_word(i / 16, i % 16), w)
				<< "word " << i << std::hex << " want " << w << " got "
				<< qp.sqe_word(i / 16, i % 16);
			++i;
		}
	}
};

// owner | jetty | cqe | relaxed
constexpr u32 send_w0 = 0x80000000 | 0x20000000 | 0x00200000 | 0x00010000;
constexpr u32 rdma_w0 = send_w0 | 0x10000000; // token valid

TEST_F(SqeBytes, Send)
{
	auto wr = make_wr(IBV_WR_SEND, sges, 5, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
	wr.num_sge = 2;
	ASSERT_EQ(qp.post(wr), 0);
	EXPECT_EQ(qp.pi(), 2u); // 48 + 32 bytes
	expect_words({send_w0 | 0x00100000,
		      0x00000000,
		      0x02000000,
		      0x54321,
		      0,
		      0,
		      0,
		      0,
		      0,
		      0,
		      0,
		      0,
		      0x1000,
		      0xaabbccdd,
		      0x55667788,
		      0x11223344,
		      0x20,
		      0x99,
		      0x1000,
		      0});
}

TEST_F(SqeBytes, SendImm)
{
	auto wr = make_wr(IBV_WR_SEND_WITH_IMM, sges);
	wr.imm_data = htobe32(0x01020304);
	ASSERT_EQ(qp.post(wr), 0);
	EXPECT_EQ(qp.pi(), 1u);
	expect_words({send_w0, 0x00000100, 0x01000000, 0x54321, 0, 0, 0, 0, 0, 0, 0x01020304, 0,
		      0x1000, 0xaabbccdd, 0x55667788, 0x11223344});
}

TEST_F(SqeBytes, SendInvalidate)
{
	auto wr = make_wr(IBV_WR_SEND_WITH_INV, nullptr);
	wr.invalidate_rkey = 0xabcde123;
	ASSERT_EQ(qp.post(wr), 0);
	expect_words({send_w0, 0x00000200, 0, 0x54321, 0, 0, 0, 0, 0, 0, 0xabcde, 0x123});
}

TEST_F(SqeBytes, Write)
{
	auto wr = make_wr(IBV_WR_RDMA_WRITE, sges, 1, IBV_SEND_FENCE);
	wr.wr.rdma.remote_addr = 0x0102030405060708;
	wr.wr.rdma.rkey = 0xabcde123;
	ASSERT_EQ(qp.post(wr), 0);
	expect_words({(rdma_w0 | 0x00080000) & ~0x00200000u, 0x00000300, 0x01000000, 0xabcde, 0, 0,
		      0, 0, 0x123, 0, 0x05060708, 0x01020304, 0x1000, 0xaabbccdd, 0x55667788,
		      0x11223344});
}

TEST_F(SqeBytes, WriteImm)
{
	auto wr = make_wr(IBV_WR_RDMA_WRITE_WITH_IMM, sges);
	wr.wr.rdma.remote_addr = 0x0102030405060708;
	wr.wr.rdma.rkey = 0xabcde123;
	wr.imm_data = htobe32(0xcafe0001);
	ASSERT_EQ(qp.post(wr), 0);
	EXPECT_EQ(qp.pi(), 2u);
	expect_words(
		{rdma_w0, 0x00000400, 0x01000000, 0xabcde,    0, 0,	  0, 0, 0x123,
		 0,	  0x05060708, 0x01020304, 0xcafe0001, 0, 0x54321, 0, // immediate, jetty, its token
		 0x1000,  0xaabbccdd, 0x55667788, 0x11223344});
}

TEST_F(SqeBytes, Read)
{
	auto wr = make_wr(IBV_WR_RDMA_READ, sges);
	wr.wr.rdma.remote_addr = 0x10;
	wr.wr.rdma.rkey = 0x00001fff;
	ASSERT_EQ(qp.post(wr), 0);
	expect_words({rdma_w0, 0x00000600, 0x01000000, 1, 0, 0, 0, 0, 0xfff, 0, 0x10, 0, 0x1000,
		      0xaabbccdd, 0x55667788, 0x11223344});
}

TEST_F(SqeBytes, CompareAndSwap)
{
	ibv_sge sge = {0x2000, 8, 0x77};
	auto wr = make_wr(IBV_WR_ATOMIC_CMP_AND_SWP, &sge);
	wr.wr.atomic.remote_addr = 0x3008;
	wr.wr.atomic.rkey = 0x5001;
	wr.wr.atomic.compare_add = 0x1111111122222222;
	wr.wr.atomic.swap = 0x3333333344444444;
	ASSERT_EQ(qp.post(wr), 0);
	EXPECT_EQ(qp.pi(), 2u);
	expect_words({rdma_w0, 0x00000700, 0x01000000, 5,	   0,	       0,	  0,
		      0,       1,	   0,	       0x3008,	   0,	       8,	  0x77,
		      0x2000,  0,	   0x44444444, 0x33333333, 0x22222222, 0x11111111});
}

TEST_F(SqeBytes, FetchAndAdd)
{
	ibv_sge sge = {0x2000, 8, 0x77};
	auto wr = make_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge);
	wr.wr.atomic.remote_addr = 0x3008;
	wr.wr.atomic.rkey = 0x5001;
	wr.wr.atomic.compare_add = 0x1111111122222222;
	ASSERT_EQ(qp.post(wr), 0);
	EXPECT_EQ(qp.pi(), 2u);
	expect_words({rdma_w0, 0x00000b00, 0x01000000, 5, 0, 0, 0, 0, 1, 0, 0x3008, 0, 8, 0x77,
		      0x2000, 0, 0x22222222, 0x11111111});
}

TEST_F(SqeBytes, InlineGathersItsParts)
{
	char a[] = "hello ", b[] = "world";
	ibv_sge parts[] = {
		{reinterpret_cast<u64>(a), 6, 0}, {0, 0, 0}, {reinterpret_cast<u64>(b), 5, 0}};
	auto wr = make_wr(IBV_WR_RDMA_WRITE, parts, 1, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
	wr.num_sge = 3;
	wr.wr.rdma.rkey = 0x1001;
	ASSERT_EQ(qp.post(wr), 0);
	EXPECT_EQ(qp.pi(), 1u);
	EXPECT_EQ(qp.sqe_word(0, 0), rdma_w0 | 0x00400000);
	EXPECT_EQ(qp.sqe_word(0, 1), 11u << 22 | 0x300);
	EXPECT_EQ(qp.sqe_word(0, 2), 0u); // no SGE
	EXPECT_EQ(std::memcmp(qp.bb(0) + 48, "hello world", 11), 0);
}

TEST_F(SqeBytes, EmptySgesAreLeftOut)
{
	ibv_sge list[] = {{1, 0, 5}, {0x2000, 16, 6}, {1, 0, 7}};
	auto wr = make_wr(IBV_WR_SEND, list);
	wr.num_sge = 3;
	ASSERT_EQ(qp.post(wr), 0);
	EXPECT_EQ(qp.pi(), 1u);
	EXPECT_EQ(qp.sqe_word(0, 2), 0x01000000u);
	EXPECT_EQ(qp.sqe_word(0, 12), 16u);
	EXPECT_EQ(qp.sqe_word(0, 13), 6u);
}

TEST_F(SqeBytes, IndexIsThatOfTheFirstBlock)
{
	auto two = make_wr(IBV_WR_RDMA_WRITE_WITH_IMM, sges);
	auto one = make_wr(IBV_WR_SEND, sges);
	ASSERT_EQ(qp.post(two), 0);
	ASSERT_EQ(qp.post(one), 0);
	EXPECT_EQ(qp.sqe_word(2, 0) & 0xffff, 2u);
}

TEST(SqeSize, BlocksByOperation)
{
	EXPECT_EQ(max_blocks(Op::send, 1, 0), 1u);
	EXPECT_EQ(max_blocks(Op::send, 13, 0), 4u);
	EXPECT_EQ(max_blocks(Op::send, 1, 16), 1u);
	EXPECT_EQ(max_blocks(Op::send, 1, 17), 2u);
	EXPECT_EQ(max_blocks(Op::send, 1, 208), 4u);
	EXPECT_EQ(max_blocks(Op::write_imm, 13, 208), 4u); // 12 SGEs, 192 bytes
	EXPECT_EQ(max_blocks(Op::write_imm, 1, 0), 2u);
	EXPECT_EQ(max_blocks(Op::read, 13, 208), 3u); // 6 SGEs
	EXPECT_EQ(max_blocks(Op::cas, 13, 208), 2u);
	EXPECT_EQ(max_blocks(Op::faa, 1, 0), 2u);
	EXPECT_EQ(max_blocks(Op::raw, 2, 0), 1u);
	EXPECT_EQ(max_blocks(Op::raw, 18, 0), 5u);
	EXPECT_EQ(max_blocks(Op::raw, 19, 208), 5u); // 18 SGEs
}

} // namespace
