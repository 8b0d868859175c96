// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// ibv_wr_*: the same bytes as ibv_post_send, and errors that drop the batch.

#include <functional>

#include "fake_device.hpp"

using namespace uboe;
using namespace uboe::test;

namespace {

class WrApi : public testing::Test {
protected:
	WrApi()
	{
		uboe_core_qp_set_ex(a.ex(), UBOE_SEND_OPS);
		a.ex()->wr_id = 1;
		a.ex()->wr_flags = IBV_SEND_SIGNALED;
	}

	// The batch on one QP, the request list on its twin
	void same(const std::function<void(ibv_qp_ex *)> &batch, ibv_send_wr wr)
	{
		const u32 at = a.pi();

		ibv_wr_start(a.ex());
		batch(a.ex());
		ASSERT_EQ(ibv_wr_complete(a.ex()), 0);
		ASSERT_EQ(b.post(wr), 0);
		ASSERT_EQ(a.pi(), b.pi());
		for (u32 i = at; i != a.pi(); ++i)
			EXPECT_EQ(std::memcmp(a.bb(i), b.bb(i), UBOE_BB), 0) << "block " << i;
	}

	FakeDevice dev;
	TestCq cq{dev};
	TestQp a{dev, cq, cq, {.wr = 32, .sge = 4, .inline_bytes = 100, .qpn = 5}};
	TestQp b{dev, cq, cq, {.wr = 32, .sge = 4, .inline_bytes = 100, .qpn = 6}};
	ibv_sge sges[2] = {{0x1000, 8, 1}, {0x3000, 16, 2}};
};

TEST_F(WrApi, SameElementsAsTheListApi)
{
	const auto one = [&](ibv_qp_ex *q) { ibv_wr_set_sge(q, 1, 0x1000, 8); };

	same([&](ibv_qp_ex *q) { ibv_wr_send(q), one(q); }, make_wr(IBV_WR_SEND, sges));
	auto wr = make_wr(IBV_WR_SEND_WITH_IMM, sges);
	wr.imm_data = 77;
	same([&](ibv_qp_ex *q) { ibv_wr_send_imm(q, 77), one(q); }, wr);
	wr = make_wr(IBV_WR_SEND_WITH_INV, sges);
	wr.invalidate_rkey = 0x12345;
	same([&](ibv_qp_ex *q) { ibv_wr_send_inv(q, 0x12345), one(q); }, wr);
	wr = make_wr(IBV_WR_RDMA_WRITE, sges);
	wr.num_sge = 2;
	wr.wr.rdma = {0x9000, 0x5005};
	same(
		[&](ibv_qp_ex *q) {
			ibv_wr_rdma_write(q, 0x5005, 0x9000);
			ibv_wr_set_sge_list(q, 2, sges);
		},
		wr);
	wr.opcode = IBV_WR_RDMA_READ;
	same(
		[&](ibv_qp_ex *q) {
			ibv_wr_rdma_read(q, 0x5005, 0x9000);
			ibv_wr_set_sge_list(q, 2, sges);
		},
		wr);
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr.imm_data = 5;
	same(
		[&](ibv_qp_ex *q) {
			ibv_wr_rdma_write_imm(q, 0x5005, 0x9000, 5);
			ibv_wr_set_sge_list(q, 2, sges);
		},
		wr);
	wr = make_wr(IBV_WR_ATOMIC_CMP_AND_SWP, sges);
	wr.wr.atomic = {0x9000, 11, 22, 0x5005};
	same([&](ibv_qp_ex *q) { ibv_wr_atomic_cmp_swp(q, 0x5005, 0x9000, 11, 22), one(q); }, wr);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	same([&](ibv_qp_ex *q) { ibv_wr_atomic_fetch_add(q, 0x5005, 0x9000, 11), one(q); }, wr);
}

TEST_F(WrApi, Inline)
{
	char x[] = "abc", y[] = "defgh";
	ibv_sge parts[] = {{reinterpret_cast<u64>(x), 3, 0}, {reinterpret_cast<u64>(y), 5, 0}};
	ibv_data_buf bufs[] = {{x, 3}, {y, 5}};
	auto wr = make_wr(IBV_WR_SEND, parts, 1, IBV_SEND_SIGNALED | IBV_SEND_INLINE);

	same(
		[&](ibv_qp_ex *q) {
			ibv_wr_send(q);
			ibv_wr_set_inline_data(q, x, 3);
		},
		wr);
	wr.num_sge = 2;
	same(
		[&](ibv_qp_ex *q) {
			ibv_wr_send(q);
			ibv_wr_set_inline_data_list(q, 2, bufs);
		},
		wr);

	// The sum counts, in 64 bits and more.
	ibv_data_buf huge[] = {{x, ~std::size_t{0} - 1}, {y, 5}};
	ibv_wr_start(a.ex());
	ibv_wr_send(a.ex());
	ibv_wr_set_inline_data_list(a.ex(), 2, huge);
	EXPECT_EQ(ibv_wr_complete(a.ex()), EINVAL);
	std::vector<ibv_data_buf> many(30, ibv_data_buf{y, 5});
	ibv_wr_start(a.ex());
	ibv_wr_send(a.ex());
	ibv_wr_set_inline_data_list(a.ex(), many.size(), many.data());
	EXPECT_EQ(ibv_wr_complete(a.ex()), EINVAL);
}

TEST_F(WrApi, BatchIsVisibleAtOnceAndFlagsGoByRequest)
{
	a.word(UBOE_JPAGE_NEED_KICK) = 1;
	ibv_wr_start(a.ex());
	for (u64 i = 0; i < 3; ++i) {
		a.ex()->wr_id = 100 + i;
		a.ex()->wr_flags = i == 2 ? IBV_SEND_SIGNALED : 0;
		ibv_wr_send(a.ex());
		if (i != 1) // the one in the middle carries nothing
			ibv_wr_set_sge(a.ex(), 1, 2, 3);
		EXPECT_EQ(a.pi(), 0u);
	}
	ASSERT_EQ(ibv_wr_complete(a.ex()), 0);
	EXPECT_EQ(a.pi(), 3u);
	EXPECT_EQ(dev.kicks.size(), 1u);
	EXPECT_EQ(a.sqe_word(1, 2) >> 24, 0u);
	cq.sent(2, a.qpn);
	const auto wc = cq.poll();
	ASSERT_EQ(wc.size(), 1u);
	EXPECT_EQ(wc[0].wr_id, 102u);
}

TEST_F(WrApi, ErrorDropsTheBatch)
{
	ibv_wr_start(a.ex());
	ibv_wr_send(a.ex());
	ibv_wr_set_sge(a.ex(), 1, 2, 3);
	ibv_wr_send(a.ex());
	ibv_wr_set_sge(a.ex(), 1, 2, 0xffffffff); // too long
	ibv_wr_send(a.ex());
	ibv_wr_set_sge(a.ex(), 1, 2, 3);
	EXPECT_EQ(ibv_wr_complete(a.ex()), EINVAL);
	EXPECT_EQ(a.pi(), 0u);
	// The next batch is not tainted.
	ibv_wr_start(a.ex());
	ibv_wr_send(a.ex());
	ibv_wr_set_sge(a.ex(), 1, 2, 3);
	EXPECT_EQ(ibv_wr_complete(a.ex()), 0);
	EXPECT_EQ(a.pi(), 1u);
}

TEST_F(WrApi, OverflowAbortAndMisuse)
{
	ibv_wr_start(a.ex());
	for (u32 i = 0; i <= a.depth(); ++i)
		ibv_wr_send(a.ex());
	EXPECT_EQ(ibv_wr_complete(a.ex()), ENOMEM);

	ibv_wr_start(a.ex());
	ibv_wr_send(a.ex());
	ibv_wr_set_sge(a.ex(), 1, 2, 3);
	ibv_wr_send(a.ex());
	ibv_wr_abort(a.ex());
	EXPECT_EQ(a.pi(), 0u);

	ibv_wr_start(a.ex()); // data without an operation
	ibv_wr_set_sge(a.ex(), 1, 2, 3);
	EXPECT_EQ(ibv_wr_complete(a.ex()), EINVAL);

	ibv_wr_start(a.ex());
	EXPECT_EQ(ibv_wr_complete(a.ex()), 0);
	EXPECT_EQ(a.pi(), 0u);
}

TEST_F(WrApi, StateAndOfferedOperations)
{
	TestQp q(dev, cq, cq, {.send_ops = IBV_QP_EX_WITH_SEND, .qpn = 9, .state = IBV_QPS_INIT});
	uboe_core_qp_set_ex(q.ex(), IBV_QP_EX_WITH_SEND);
	EXPECT_NE(q.ex()->wr_send, nullptr);
	EXPECT_EQ(q.ex()->wr_rdma_read, nullptr);
	ibv_wr_start(q.ex());
	ibv_wr_send(q.ex());
	EXPECT_EQ(ibv_wr_complete(q.ex()), EINVAL);
}

} // namespace
