// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The doorbell protocol with real threads: a device that goes to sleep whenever
// it has nothing to do, a poster, a poller. Nothing may be lost and no kick
// forgotten, which would hang the test.

#include <atomic>
#include <chrono>
#include <thread>

#include "fake_device.hpp"

using namespace uboe;
using namespace uboe::test;

namespace {

class Engine {
public:
	Engine(TestQp &qp, TestCq &cq) : qp_(qp), cq_(cq), thread_([this] { run(); }) {}
	~Engine()
	{
		stop_ = true;
		kick();
		thread_.join();
	}
	void kick() { awake_.store(true, std::memory_order_seq_cst); }
	u64 sleeps = 0;

private:
	u32 pi() { return __atomic_load_n(&qp_.word(UBOE_JPAGE_DB), __ATOMIC_ACQUIRE); }
	void need_kick(u32 v)
	{
		__atomic_store_n(&qp_.word(UBOE_JPAGE_NEED_KICK), v, __ATOMIC_RELAXED);
	}

	void run()
	{
		while (!stop_) {
			if (pi() != ci_) {
				work();
				continue;
			}
			need_kick(1);
			full_fence();
			if (pi() != ci_) {
				need_kick(0);
				continue;
			}
			++sleeps;
			while (!awake_.exchange(false, std::memory_order_seq_cst))
				std::this_thread::yield();
			need_kick(0);
		}
	}
	void work()
	{
		while (cq_.pi - __atomic_load_n(&cq_.rec->ci, __ATOMIC_ACQUIRE) == cq_.depth())
			std::this_thread::yield();
		EXPECT_EQ(qp_.sqe_word(ci_, 0) & 0xffff, ci_ & 0xffff);
		uboe_cqe &e = cq_.ring[cq_.pi & (cq_.depth() - 1)];
		e.w1 = (ci_ & (qp_.depth() - 1)) | qp_.qpn << 16;
		e.w2 = qp_.qpn >> 16;
		__atomic_store_n(&e.w0, cq_.pi & cq_.depth() ? 0 : UBOE_CQE_OWNER,
				 __ATOMIC_RELEASE);
		++cq_.pi;
		++ci_;
	}

	TestQp &qp_;
	TestCq &cq_;
	u32 ci_ = 0;
	std::atomic<bool> stop_{false};
	std::atomic<bool> awake_{false};
	std::thread thread_;
};

TEST(Doorbell, NothingIsLost)
{
	constexpr u64 total = 20000;
	FakeDevice dev;
	TestCq cq(dev);
	TestQp qp(dev, cq, cq, {.wr = 16, .send_ops = IBV_QP_EX_WITH_SEND});
	auto engine = std::make_unique<Engine>(qp, cq);
	ibv_sge sge = {0x1000, 8, 1};
	u64 kicks = 0;

	std::thread poller([&] {
		u64 id = 0;
		ibv_wc wc[8];
		while (id < total) {
			const int n = uboe_poll_cq(cq.ibcq, 8, wc);
			for (int i = 0; i < n; ++i)
				ASSERT_EQ(wc[i].wr_id, id++);
			if (!n)
				std::this_thread::yield();
		}
	});
	for (u64 id = 0; id < total;) {
		auto wr = make_wr(IBV_WR_SEND, &sge, id);
		ibv_send_wr *bad;
		const int err = uboe_post_send(qp.ibqp, &wr, &bad);
		if (!err)
			++id;
		for (; kicks < dev.kicks.size(); ++kicks)
			engine->kick();
		if (err)
			std::this_thread::yield();
	}
	poller.join();
	EXPECT_GT(kicks, 0u);
	engine.reset();
	EXPECT_EQ(dev.skipped(), 0u);
}

} // namespace
