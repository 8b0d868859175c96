// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// ibv_post_send and ibv_post_recv: limits, errors, states, kicks.

#include "fake_device.hpp"

using namespace uboe;
using namespace uboe::test;

namespace {

class Post : public testing::Test {
protected:
	FakeDevice dev;
	TestCq cq{dev};
	TestQp qp{dev, cq, cq, {.wr = 16, .sge = 13, .inline_bytes = 208}};
	std::vector<ibv_sge> list = std::vector<ibv_sge>(14, ibv_sge{0x1000, 8, 1});

	int post_n(ibv_wr_opcode opcode, int n, unsigned flags = 0)
	{
		auto wr = make_wr(opcode, list.data(), 1, flags);
		wr.num_sge = n;
		return qp.post(wr);
	}
};

TEST_F(Post, SgeLimitsGoByOperation)
{
	EXPECT_EQ(post_n(IBV_WR_SEND, 13), 0);
	EXPECT_EQ(post_n(IBV_WR_SEND, 14), EINVAL);
	EXPECT_EQ(post_n(IBV_WR_RDMA_WRITE, 13), 0);
	EXPECT_EQ(post_n(IBV_WR_RDMA_WRITE_WITH_IMM, 12), 0);
	EXPECT_EQ(post_n(IBV_WR_RDMA_WRITE_WITH_IMM, 13), EINVAL);
	EXPECT_EQ(post_n(IBV_WR_RDMA_READ, 6), 0);
	EXPECT_EQ(post_n(IBV_WR_RDMA_READ, 7), EINVAL);
	EXPECT_EQ(post_n(IBV_WR_SEND, -1), EINVAL);
	EXPECT_EQ(post_n(IBV_WR_SEND, 0), 0);
}

TEST_F(Post, QueuesOwnSgeLimitHolds)
{
	TestQp small(dev, cq, cq, {.sge = 1, .qpn = 9});
	auto wr = make_wr(IBV_WR_SEND, list.data());
	wr.num_sge = static_cast<int>(small.attr.cap.max_send_sge) + 1;
	EXPECT_EQ(small.post(wr), EINVAL);
	wr.num_sge = static_cast<int>(small.attr.cap.max_send_sge);
	EXPECT_EQ(small.post(wr), 0);
}

TEST_F(Post, InlineLimitsGoByOperation)
{
	char data[209] = {};
	ibv_sge sge = {reinterpret_cast<u64>(data), 208, 0};
	auto send = [&](ibv_wr_opcode opcode, u32 n) {
		sge.length = n;
		auto wr = make_wr(opcode, &sge, 1, IBV_SEND_INLINE);
		return qp.post(wr);
	};
	EXPECT_EQ(send(IBV_WR_SEND, 208), 0);
	EXPECT_EQ(send(IBV_WR_SEND, 209), EINVAL);
	EXPECT_EQ(send(IBV_WR_RDMA_WRITE_WITH_IMM, 192), 0);
	EXPECT_EQ(send(IBV_WR_RDMA_WRITE_WITH_IMM, 193), EINVAL);
	EXPECT_EQ(send(IBV_WR_RDMA_READ, 8), EINVAL);
	EXPECT_EQ(send(IBV_WR_ATOMIC_FETCH_AND_ADD, 8), EINVAL);
	EXPECT_EQ(send(IBV_WR_SEND, 0), 0);
}

TEST_F(Post, SummedInlineLengthsDoNotOverflow)
{
	char data[16] = {};
	// 0xfffffff8 + 16 = 8 in 32 bits
	ibv_sge parts[] = {{reinterpret_cast<u64>(data), 0xfffffff8, 0},
			   {reinterpret_cast<u64>(data), 16, 0}};
	auto wr = make_wr(IBV_WR_SEND, parts, 1, IBV_SEND_INLINE);
	wr.num_sge = 2;
	EXPECT_EQ(qp.post(wr), EINVAL);
	parts[0].length = 0x80000000;
	parts[1].length = 0x80000000;
	EXPECT_EQ(qp.post(wr), EINVAL);
	EXPECT_EQ(qp.pi(), 0u);
}

TEST_F(Post, SummedLengthsAreLimited)
{
	ibv_sge parts[] = {{0, 0xffffffff, 0}, {0, 2, 0}};
	auto wr = make_wr(IBV_WR_RDMA_WRITE, parts);
	wr.num_sge = 2;
	EXPECT_EQ(qp.post(wr), EINVAL);
	parts[0].length = 256u << 20;
	EXPECT_EQ(qp.post(wr), EINVAL);
	wr.num_sge = 1;
	EXPECT_EQ(qp.post(wr), 0);
}

TEST_F(Post, Atomics)
{
	auto wr = make_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, list.data());
	wr.wr.atomic.remote_addr = 0x1000;
	EXPECT_EQ(qp.post(wr), 0);
	wr.wr.atomic.remote_addr = 0x1004;
	EXPECT_EQ(qp.post(wr), EINVAL);
	wr.wr.atomic.remote_addr = 0x1000;
	wr.num_sge = 2;
	EXPECT_EQ(qp.post(wr), EINVAL);
	wr.num_sge = 0;
	EXPECT_EQ(qp.post(wr), EINVAL);
	wr.num_sge = 1;
	list[0].length = 4;
	EXPECT_EQ(qp.post(wr), EINVAL);
}

TEST_F(Post, UnknownThingsAreRefused)
{
	auto wr = make_wr(IBV_WR_LOCAL_INV, list.data());
	EXPECT_EQ(qp.post(wr), EOPNOTSUPP);
	const u32 none = 99;
	std::memcpy(&wr.opcode, &none, sizeof(none));
	EXPECT_EQ(qp.post(wr), EOPNOTSUPP);
	wr = make_wr(IBV_WR_SEND, list.data(), 1, IBV_SEND_IP_CSUM);
	EXPECT_EQ(qp.post(wr), EINVAL);
}

TEST_F(Post, RequestsBeforeABadOneStayPosted)
{
	ibv_send_wr wr[4];
	ibv_send_wr *bad = nullptr;

	for (int i = 0; i < 4; ++i) {
		wr[i] = make_wr(IBV_WR_SEND, list.data(), static_cast<u64>(i));
		wr[i].next = i < 3 ? &wr[i + 1] : nullptr;
	}
	wr[2].num_sge = 14;
	qp.word(UBOE_JPAGE_NEED_KICK) = 1;
	EXPECT_EQ(uboe_post_send(qp.ibqp, wr, &bad), EINVAL);
	EXPECT_EQ(bad, &wr[2]);
	EXPECT_EQ(qp.pi(), 2u);
	EXPECT_EQ(dev.kicks, std::vector<u32>{7000 + qp.qpn});
}

TEST_F(Post, FullQueue)
{
	ibv_send_wr *bad = nullptr;
	std::vector<ibv_send_wr> wrs(qp.depth() + 3, make_wr(IBV_WR_SEND, list.data()));

	for (size_t i = 0; i + 1 < wrs.size(); ++i)
		wrs[i].next = &wrs[i + 1];
	EXPECT_EQ(uboe_post_send(qp.ibqp, wrs.data(), &bad), ENOMEM);
	EXPECT_EQ(bad, &wrs[qp.depth()]);
	EXPECT_EQ(qp.pi(), qp.depth());
}

TEST_F(Post, MaxSendWrOfTheLargestKindFit)
{
	for (u32 i = 0; i < qp.attr.cap.max_send_wr; ++i)
		ASSERT_EQ(post_n(IBV_WR_SEND, 13), 0);
	EXPECT_EQ(post_n(IBV_WR_SEND, 13), ENOMEM);
}

TEST_F(Post, NoSendsBeforeRts)
{
	for (ibv_qp_state state : {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR}) {
		TestQp q(dev, cq, cq, {.qpn = 9, .state = state});
		auto wr = make_wr(IBV_WR_SEND, list.data());
		EXPECT_EQ(q.post(wr), EINVAL);
		uboe_core_qp_error(q.ibqp); // in ERR they are taken, and flushed
		EXPECT_EQ(q.post(wr), 0);
	}
}

TEST_F(Post, Receives)
{
	EXPECT_EQ(qp.post_recv(1, {{0x1000, 64, 2}}), 0);
	EXPECT_EQ(qp.post_recv(1, {{}, {}}), EINVAL);
	EXPECT_TRUE(dev.kicks.empty());
	qp.word(UBOE_JPAGE_RQ_KICK) = 1;
	EXPECT_EQ(qp.post_recv(1, {}), 0);
	EXPECT_EQ(dev.kicks.size(), 1u);

	TestQp reset(dev, cq, cq, {.qpn = 9, .state = IBV_QPS_RESET});
	EXPECT_EQ(reset.post_recv(1, {}), EINVAL);
	TestQp init(dev, cq, cq, {.qpn = 10, .state = IBV_QPS_INIT});
	EXPECT_EQ(init.post_recv(1, {}), 0);
}

TEST_F(Post, ReceiveQueueFull)
{
	ibv_recv_wr wr[65] = {};
	ibv_recv_wr *bad = nullptr;

	for (int i = 0; i < 64; ++i)
		wr[i].next = &wr[i + 1];
	EXPECT_EQ(uboe_post_recv(qp.ibqp, wr, &bad), ENOMEM);
	EXPECT_EQ(bad, &wr[64]);
	EXPECT_EQ(dev.at<uboe_jfr_rec>(qp.req.rq.rec)->pi, 64u);
}

TEST_F(Post, CapsComeBackRoundedUp)
{
	TestQp q(
		dev, cq, cq,
		{.wr = 100, .sge = 3, .inline_bytes = 33, .recv_wr = 500, .recv_sge = 3, .qpn = 9});
	EXPECT_GE(q.attr.cap.max_send_wr, 100u);
	EXPECT_GE(q.attr.cap.max_send_sge, 3u);
	EXPECT_GE(q.attr.cap.max_inline_data, 33u);
	EXPECT_EQ(q.attr.cap.max_recv_wr, 512u);
	EXPECT_EQ(q.attr.cap.max_recv_sge, 4u);
	ibv_qp_cap cap;
	uboe_core_qp_cap(q.ibqp, &cap);
	EXPECT_EQ(cap.max_send_wr, q.attr.cap.max_send_wr);
}

TEST_F(Post, CreationRefusals)
{
	uboe_create_qp_req req;
	auto create = [&](ibv_qp_cap cap) {
		uboe_core_qp_attr attr = {cq.ibcq, cq.ibcq, nullptr, cap, 0, 0};
		errno = 0;
		ibv_qp *q = uboe_core_qp_alloc(dev.ctx(), &attr, &req);
		EXPECT_EQ(q, nullptr);
		return errno;
	};
	EXPECT_EQ(create({40000, 1, 1, 1, 0}), EINVAL);
	EXPECT_EQ(create({1, 40000, 1, 1, 0}), EINVAL);
	EXPECT_EQ(create({1, 1, 14, 1, 0}), EINVAL);
	EXPECT_EQ(create({1, 1, 1, 5, 0}), EINVAL);
	EXPECT_EQ(create({1, 1, 1, 1, 209}), EINVAL);
	uboe_core_qp_attr attr = {cq.ibcq, nullptr, nullptr, {1, 1, 1, 1, 0}, 0, 0};
	EXPECT_EQ(uboe_core_qp_alloc(dev.ctx(), &attr, &req), nullptr);
	EXPECT_EQ(errno, EINVAL);
	dev.fail_maps = 1000;
	EXPECT_EQ(create({16384, 32768, 1, 4, 0}), ENOMEM);
	dev.fail_maps = 0;
}

TEST_F(Post, SignalAll)
{
	TestQp q(dev, cq, cq, {.sig_all = true, .qpn = 9});
	auto wr = make_wr(IBV_WR_SEND, list.data(), 1, 0);
	ASSERT_EQ(q.post(wr), 0);
	EXPECT_TRUE(q.sqe_word(0, 0) & UBOE_SQE_CQE);
	ASSERT_EQ(qp.post(wr), 0);
	EXPECT_FALSE(qp.sqe_word(0, 0) & UBOE_SQE_CQE);
}

} // namespace
