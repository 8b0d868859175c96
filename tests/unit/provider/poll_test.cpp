// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Completions: what a CQE becomes, purging, numbers used again, extended polling.

#include "fake_device.hpp"

using namespace uboe;
using namespace uboe::test;

namespace {

class Poll : public testing::Test {
protected:
	FakeDevice dev;
	TestCq cq{dev};
	TestQp qp{dev, cq, cq, {.wr = 16}};
	ibv_sge sge = {0x1000, 8, 1};

	void post(ibv_wr_opcode opcode, u64 id, unsigned flags = IBV_SEND_SIGNALED)
	{
		auto wr = make_wr(opcode, &sge, id, flags);
		wr.wr.atomic.remote_addr = 8; // the same place as wr.rdma's
		ASSERT_EQ(qp.post(wr), 0);
	}
	u32 last() { return (qp.pi() - 1) & (qp.depth() - 1); }
};

TEST_F(Poll, SendsTellOpcodeAndLength)
{
	const struct {
		ibv_wr_opcode wr;
		ibv_wc_opcode wc;
	} rows[] = {
		{IBV_WR_SEND, IBV_WC_SEND},
		{IBV_WR_SEND_WITH_IMM, IBV_WC_SEND},
		{IBV_WR_SEND_WITH_INV, IBV_WC_SEND},
		{IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE},
		{IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE},
		{IBV_WR_RDMA_READ, IBV_WC_RDMA_READ},
		{IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD},
	};
	u64 id = 100;

	for (const auto &row : rows) {
		post(row.wr, ++id);
		cq.sent(last(), qp.qpn);
		const auto wc = cq.poll();
		ASSERT_EQ(wc.size(), 1u);
		EXPECT_EQ(wc[0].wr_id, id);
		EXPECT_EQ(wc[0].status, IBV_WC_SUCCESS);
		EXPECT_EQ(wc[0].opcode, row.wc);
		EXPECT_EQ(wc[0].byte_len, 8u);
		EXPECT_EQ(wc[0].qp_num, qp.qpn);
		EXPECT_EQ(wc[0].wc_flags, 0u);
		EXPECT_EQ(wc[0].vendor_err, 0u);
	}
	EXPECT_EQ(cq.rec->ci, 8u);
	EXPECT_EQ(dev.skipped(), 0u);
}

TEST_F(Poll, ReceivesOfAllKinds)
{
	for (u64 i = 0; i < 5; ++i)
		ASSERT_EQ(qp.post_recv(i, {{0x1000, 64, 2}}), 0);
	cq.received(0, qp.qpn, 11, UBOE_CQE_RX_SEND);
	cq.received(3, qp.qpn, 12, UBOE_CQE_RX_SEND_IMM, 0xffffffff01020304);
	cq.received(1, qp.qpn, 13, UBOE_CQE_RX_SEND_INV, 0xfffff123'fffabcdeull);
	cq.received(2, qp.qpn, 14, UBOE_CQE_RX_WRITE_IMM, 7);
	cq.received(4, qp.qpn, 0, UBOE_CQE_RX_SEND_IMM, 7, UBOE_CQE_FLUSH);
	const auto wc = cq.poll();
	ASSERT_EQ(wc.size(), 5u);
	EXPECT_EQ(wc[0].opcode, IBV_WC_RECV);
	EXPECT_EQ(wc[0].wr_id, 0u);
	EXPECT_EQ(wc[0].byte_len, 11u);
	EXPECT_EQ(wc[0].wc_flags, 0u);
	EXPECT_EQ(wc[0].src_qp, 0x77u);
	EXPECT_EQ(wc[1].wr_id, 3u);
	EXPECT_EQ(wc[1].wc_flags, unsigned{IBV_WC_WITH_IMM});
	EXPECT_EQ(wc[1].imm_data, htobe32(0x01020304));
	EXPECT_EQ(wc[2].wr_id, 1u);
	EXPECT_EQ(wc[2].wc_flags, unsigned{IBV_WC_WITH_INV});
	EXPECT_EQ(wc[2].invalidated_rkey, 0xabcde123u);
	EXPECT_EQ(wc[3].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	EXPECT_EQ(wc[3].byte_len, 14u);
	EXPECT_EQ(wc[3].imm_data, htobe32(7));
	EXPECT_EQ(wc[4].status, IBV_WC_WR_FLUSH_ERR);
	EXPECT_EQ(wc[4].wc_flags, 0u);
}

TEST_F(Poll, Statuses)
{
	const struct {
		u32 status, sub;
		ibv_wc_status wc;
	} rows[] = {
		{1, 0, IBV_WC_LOC_QP_OP_ERR},  {2, 1, IBV_WC_LOC_LEN_ERR},
		{2, 2, IBV_WC_LOC_PROT_ERR},   {2, 3, IBV_WC_BAD_RESP_ERR},
		{2, 4, IBV_WC_GENERAL_ERR},    {2, 0, IBV_WC_LOC_QP_OP_ERR},
		{2, 9, IBV_WC_LOC_QP_OP_ERR},  {3, 1, IBV_WC_REM_INV_REQ_ERR},
		{3, 2, IBV_WC_REM_ACCESS_ERR}, {3, 4, IBV_WC_REM_OP_ERR},
		{3, 0, IBV_WC_REM_OP_ERR},     {4, 0, IBV_WC_RNR_RETRY_EXC_ERR},
		{5, 0, IBV_WC_RETRY_EXC_ERR},  {6, 0, IBV_WC_WR_FLUSH_ERR},
		{7, 0, IBV_WC_GENERAL_ERR},    {255, 255, IBV_WC_GENERAL_ERR},
	};

	for (const auto &row : rows) {
		post(IBV_WR_SEND, 5, 0); // unsignalled: an error completes it all the same
		cq.sent(last(), qp.qpn, row.status, row.sub);
		const auto wc = cq.poll();
		ASSERT_EQ(wc.size(), 1u) << row.status;
		EXPECT_EQ(wc[0].status, row.wc) << row.status << '/' << row.sub;
		EXPECT_EQ(wc[0].vendor_err, row.status << 8 | row.sub);
		EXPECT_EQ(wc[0].wr_id, 5u);
	}
}

TEST_F(Poll, UnsignalledOnesAreRetiredSilently)
{
	for (u64 i = 0; i < qp.depth() - 1; ++i)
		post(IBV_WR_SEND, i, 0);
	post(IBV_WR_SEND, 999);
	auto wr = make_wr(IBV_WR_SEND, &sge);
	EXPECT_EQ(qp.post(wr), ENOMEM);
	cq.sent(last(), qp.qpn);
	const auto wc = cq.poll();
	ASSERT_EQ(wc.size(), 1u);
	EXPECT_EQ(wc[0].wr_id, 999u);
	EXPECT_EQ(qp.post(wr), 0);
}

TEST_F(Poll, NonsenseIsSkippedAndCounted)
{
	post(IBV_WR_SEND, 1);
	cq.sent(0, 0x999); // no such QP
	cq.sent(5, qp.qpn); // no such request
	cq.received(17, qp.qpn, 1); // slot not posted
	cq.received(0xffff, qp.qpn, 1); // no such slot
	cq.push(UBOE_CQE_FLUSH_DONE, 0, qp.qpn); // marker: neither reported nor an error
	cq.sent(0, qp.qpn);
	const auto wc = cq.poll();
	ASSERT_EQ(wc.size(), 1u);
	EXPECT_EQ(wc[0].wr_id, 1u);
	EXPECT_EQ(dev.skipped(), 4u);
	EXPECT_EQ(cq.rec->ci, 6u);
}

TEST_F(Poll, CompletionOnAForeignCqIsSkipped)
{
	TestCq other(dev);

	post(IBV_WR_SEND, 1);
	other.sent(0, qp.qpn);
	EXPECT_TRUE(other.poll().empty());
	EXPECT_EQ(dev.skipped(), 1u);
	cq.sent(0, qp.qpn);
	EXPECT_EQ(cq.poll().size(), 1u);
}

TEST_F(Poll, FewAtATime)
{
	for (u64 i = 0; i < 10; ++i) {
		post(IBV_WR_SEND, i);
		cq.sent(last(), qp.qpn);
	}
	u64 id = 0;
	for (;;) {
		const auto wc = cq.poll(3);
		if (wc.empty())
			break;
		EXPECT_LE(wc.size(), 3u);
		for (const auto &w : wc)
			EXPECT_EQ(w.wr_id, id++);
		EXPECT_EQ(cq.rec->ci, id);
	}
	EXPECT_EQ(id, 10u);
}

TEST_F(Poll, DestructionRemovesItsCompletions)
{
	auto gone = std::make_unique<TestQp>(dev, cq, cq, QpOptions{.qpn = 50});
	auto wr = make_wr(IBV_WR_SEND, &sge, 5);
	for (u64 i = 0; i < 6; ++i) {
		post(IBV_WR_SEND, i);
		ASSERT_EQ(gone->post(wr), 0);
		cq.sent(static_cast<u32>(i), 50);
		cq.sent(last(), qp.qpn);
	}
	gone.reset();
	const auto wc = cq.poll();
	ASSERT_EQ(wc.size(), 6u);
	for (u64 i = 0; i < 6; ++i)
		EXPECT_EQ(wc[i].wr_id, i);
	EXPECT_EQ(dev.skipped(), 0u);
	EXPECT_EQ(cq.rec->ci, 12u);
}

TEST_F(Poll, NumberUsedAgainBeforeItsLastOwnerIsGone)
{
	TestQp old(dev, cq, cq, {.qpn = 50});
	auto wr = make_wr(IBV_WR_SEND, &sge, 111);
	ASSERT_EQ(old.post(wr), 0);
	cq.sent(0, 50);
	// The kernel has destroyed it and gives the number to another thread.
	TestQp fresh(dev, cq, cq, {.qpn = 50});
	EXPECT_TRUE(cq.poll().empty());
	wr.wr_id = 222;
	ASSERT_EQ(fresh.post(wr), 0);
	uboe_core_qp_free(old.ibqp);
	old.ibqp = nullptr;
	cq.sent(0, 50);
	const auto wc = cq.poll();
	ASSERT_EQ(wc.size(), 1u);
	EXPECT_EQ(wc[0].wr_id, 222u);
	EXPECT_EQ(dev.skipped(), 0u);
}

TEST_F(Poll, ResetStartsFromZero)
{
	ibv_qp_attr attr = {};

	ASSERT_EQ(qp.post_recv(1, {}), 0);
	for (u64 i = 0; i < 3; ++i)
		post(IBV_WR_SEND, i);
	cq.sent(0, qp.qpn);
	cq.received(0, qp.qpn, 5);
	attr.qp_state = IBV_QPS_RESET;
	uboe_core_qp_modified(qp.ibqp, &attr, IBV_QP_STATE);
	EXPECT_TRUE(cq.poll().empty());
	EXPECT_EQ(qp.pi(), 0u);
	EXPECT_EQ(dev.at<uboe_jfr_rec>(qp.req.rq.rec)->pi, 0u);
	auto wr = make_wr(IBV_WR_SEND, &sge);
	EXPECT_EQ(qp.post(wr), EINVAL);
	attr.qp_state = IBV_QPS_RTS;
	uboe_core_qp_modified(qp.ibqp, &attr, IBV_QP_STATE);
	EXPECT_EQ(qp.post(wr), 0);
	EXPECT_TRUE(qp.sqe_word(0, 0) & UBOE_SQE_OWNER);
	for (u64 i = 0; i < 64; ++i)
		ASSERT_EQ(qp.post_recv(i, {}), 0);
}

TEST_F(Poll, SharedReceiveQueue)
{
	TestCq cq2(dev);
	ibv_srq_attr attr = {10, 2, 0};
	uboe_create_srq_req req;
	ibv_srq *srq = uboe_core_srq_alloc(dev.ctx(), &attr, &req);
	ASSERT_NE(srq, nullptr);
	EXPECT_EQ(attr.max_wr, 64u);
	{
		TestQp a(dev, cq, cq, {.srq = srq, .qpn = 60});
		TestQp b(dev, cq, cq2, {.srq = srq, .qpn = 61});
		const uboe_rq_req zero = {};
		EXPECT_EQ(std::memcmp(&a.req.rq, &zero, sizeof(zero)), 0);
		EXPECT_EQ(a.attr.cap.max_recv_wr, 0u);
		EXPECT_EQ(a.post_recv(1, {}), EINVAL);

		ibv_recv_wr wr = {}, *bad;
		for (u64 i = 0; i < 64; ++i) {
			wr.wr_id = i;
			ASSERT_EQ(uboe_post_srq_recv(srq, &wr, &bad), 0);
		}
		EXPECT_EQ(uboe_post_srq_recv(srq, &wr, &bad), ENOMEM);
		EXPECT_EQ(bad, &wr);
		EXPECT_EQ(dev.at<uboe_jfr_rec>(req.rq.rec)->pi, 64u);
		cq.received(40, 60, 1);
		cq2.received(41, 61, 1);
		cq2.received(42, 61, 1);
		EXPECT_EQ(cq.poll()[0].wr_id, 40u);
		EXPECT_EQ(uboe_post_srq_recv(srq, &wr, &bad), 0);
		EXPECT_EQ(uboe_post_srq_recv(srq, &wr, &bad), ENOMEM);
		// Slots of completions that nobody polled come back when the QP goes.
		uboe_core_qp_free(b.ibqp);
		b.ibqp = nullptr;
		EXPECT_EQ(uboe_post_srq_recv(srq, &wr, &bad), 0);
		EXPECT_EQ(uboe_post_srq_recv(srq, &wr, &bad), 0);
		EXPECT_EQ(uboe_post_srq_recv(srq, &wr, &bad), ENOMEM);
	}
	uboe_core_srq_free(srq);
}

TEST_F(Poll, Extended)
{
	auto *ex = reinterpret_cast<ibv_cq_ex *>(cq.ibcq);
	ibv_poll_cq_attr attr = {};

	uboe_core_cq_set_ex(ex);
	EXPECT_EQ(ibv_start_poll(ex, &attr), ENOENT);
	attr.comp_mask = 1;
	EXPECT_EQ(ibv_start_poll(ex, &attr), EINVAL);
	attr.comp_mask = 0;
	post(IBV_WR_RDMA_READ, 10);
	ASSERT_EQ(qp.post_recv(20, {}), 0);
	cq.sent(0, 0x999); // skipped on the way
	cq.sent(last(), qp.qpn);
	cq.received(0, qp.qpn, 33, UBOE_CQE_RX_SEND_IMM, 5);
	ASSERT_EQ(ibv_start_poll(ex, &attr), 0);
	EXPECT_EQ(ex->wr_id, 10u);
	EXPECT_EQ(ex->status, IBV_WC_SUCCESS);
	EXPECT_EQ(ibv_wc_read_opcode(ex), IBV_WC_RDMA_READ);
	EXPECT_EQ(ibv_wc_read_byte_len(ex), 8u);
	ASSERT_EQ(ibv_next_poll(ex), 0);
	EXPECT_EQ(ex->wr_id, 20u);
	EXPECT_EQ(ibv_wc_read_opcode(ex), IBV_WC_RECV);
	EXPECT_EQ(ibv_wc_read_byte_len(ex), 33u);
	EXPECT_EQ(ibv_wc_read_imm_data(ex), htobe32(5));
	EXPECT_EQ(ibv_wc_read_wc_flags(ex), unsigned{IBV_WC_WITH_IMM});
	EXPECT_EQ(ibv_wc_read_qp_num(ex), qp.qpn);
	EXPECT_EQ(ibv_wc_read_src_qp(ex), 0x77u);
	EXPECT_EQ(ibv_next_poll(ex), ENOENT);
	EXPECT_EQ(ibv_next_poll(ex), ENOENT); // does not run on
	ibv_end_poll(ex);
	EXPECT_EQ(cq.rec->ci, 3u);
	// The lock is free again, once.
	EXPECT_EQ(ibv_start_poll(ex, &attr), ENOENT);
	EXPECT_TRUE(cq.poll().empty());
}

TEST(PollWrap, ConsumerIndexWrapsAt2To32)
{
	FakeDevice dev;
	TestCq cq(dev, 64, 0xffffffe0u);
	TestQp qp(dev, cq, cq, {.wr = 2});
	ibv_sge sge = {0x1000, 8, 1};

	for (u64 i = 0; i < 200; ++i) {
		auto wr = make_wr(IBV_WR_SEND, &sge, i);
		ASSERT_EQ(qp.post(wr), 0);
		cq.sent(static_cast<u32>(i & (qp.depth() - 1)), qp.qpn);
		const auto wc = cq.poll();
		ASSERT_EQ(wc.size(), 1u);
		ASSERT_EQ(wc[0].wr_id, i);
		ASSERT_EQ(cq.rec->ci, 0xffffffe0u + static_cast<u32>(i) + 1);
	}
}

TEST(Resize, GrowsWithCompletionsInside)
{
	FakeDevice dev;
	TestCq cq(dev);
	TestQp qp(dev, cq, cq, {.wr = 64});
	ibv_sge sge = {0x1000, 8, 1};
	uboe_resize_cq_req req;
	u64 id = 0;

	EXPECT_EQ(uboe_core_cq_resize_begin(cq.ibcq, 0, &req), -EINVAL);
	EXPECT_EQ(uboe_core_cq_resize_begin(cq.ibcq, 2000000, &req), -EINVAL);
	EXPECT_EQ(uboe_core_cq_resize_begin(cq.ibcq, 10, &req), 0); // still 64
	for (u64 i = 0; i < 70; ++i) {
		auto wr = make_wr(IBV_WR_SEND, &sge, i);
		ASSERT_EQ(qp.post(wr), 0);
		cq.sent(static_cast<u32>(i & (qp.depth() - 1)), qp.qpn);
		if (i < 30) {
			EXPECT_EQ(cq.poll()[0].wr_id, id++);
		}
	}
	// Refused by the kernel: all as before
	ASSERT_EQ(uboe_core_cq_resize_begin(cq.ibcq, 100, &req), 1);
	uboe_core_cq_resize_end(cq.ibcq, 0);
	EXPECT_EQ(uboe_core_cq_depth(cq.ibcq), 64u);
	// Done by the kernel, as the ABI says
	ASSERT_EQ(uboe_core_cq_resize_begin(cq.ibcq, 100, &req), 1);
	EXPECT_EQ(req.shift, 7u);
	auto *ring = dev.at<uboe_cqe>(req.ring);
	for (u32 i = cq.rec->ci; i != cq.pi; ++i) {
		ring[i & 127] = cq.ring[i & 63];
		ring[i & 127].w0 &= ~UBOE_CQE_OWNER;
		ring[i & 127].w0 |= i & 128 ? 0 : UBOE_CQE_OWNER;
	}
	uboe_core_cq_resize_end(cq.ibcq, 1);
	cq.ring = ring;
	cq.req.shift = 7;
	EXPECT_EQ(uboe_core_cq_depth(cq.ibcq), 128u);
	for (const auto &wc : cq.poll())
		EXPECT_EQ(wc.wr_id, id++);
	EXPECT_EQ(id, 70u);
	EXPECT_TRUE(cq.poll().empty());
}

} // namespace
