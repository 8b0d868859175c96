// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Completion channels and asynchronous events: nothing is lost, nothing comes twice.
#include <atomic>
#include <thread>

#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "rig.hpp"

using namespace urma_test;

namespace
{

Shape with_events()
{
	Shape s;

	s.events = true;
	return s;
}

int wait(End &e, int ms)
{
	urma_jfc_t *jfc = nullptr;
	std::uint32_t one = 1;
	const int n = urma_wait_jfc(e.jfce, 1, ms, &jfc);

	if (n == 1) {
		EXPECT_EQ(jfc, e.jfc);
		urma_ack_jfc(&jfc, &one, 1);
	}
	return n;
}

void write_one(Pair &p, std::uint64_t user_ctx)
{
	ASSERT_EQ(Wr(URMA_OPC_WRITE, user_ctx)
			  .local({ p.a.memory->at(0, 8) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
}

TEST(Events, OneForEachRequest)
{
	Pair p(with_events());

	EXPECT_EQ(wait(p.a, 0), 0);
	ASSERT_EQ(urma_rearm_jfc(p.a.jfc, false), URMA_SUCCESS);
	write_one(p, 1);
	EXPECT_EQ(wait(p.a, 5000), 1);
	write_one(p, 2); // not armed
	p.a.expect(1);
	p.a.expect(2);
	EXPECT_EQ(wait(p.a, 20), 0);
}

TEST(Events, TheDescriptorCanBePolled)
{
	Pair p(with_events());
	pollfd fd{ p.a.jfce->fd, POLLIN, 0 };

	ASSERT_EQ(urma_rearm_jfc(p.a.jfc, false), URMA_SUCCESS);
	EXPECT_EQ(poll(&fd, 1, 0), 0);
	write_one(p, 1);
	EXPECT_EQ(poll(&fd, 1, 5000), 1);
	EXPECT_EQ(wait(p.a, 0), 1);
	EXPECT_EQ(poll(&fd, 1, 0), 0);
	p.a.expect(1);
}

TEST(Events, SolicitedOnly)
{
	Pair p(with_events());

	p.b.receive(1, p.b.memory->at(0, 8));
	p.b.receive(2, p.b.memory->at(0, 8));
	ASSERT_EQ(urma_rearm_jfc(p.b.jfc, true), URMA_SUCCESS);
	Wr(URMA_OPC_SEND, 1).local({ p.a.memory->at(0, 8) }).post(p.a.jetty);
	p.a.expect(1);
	EXPECT_EQ(wait(p.b, 20), 0);
	Wr(URMA_OPC_SEND, 2).local({ p.a.memory->at(0, 8) }).solicited().post(p.a.jetty);
	EXPECT_EQ(wait(p.b, 5000), 1);
	p.b.expect(1);
	p.b.expect(2);
}

// The usual loop: wait, drain, arm, drain again. No completion may be missed.
TEST(Events, NoWakeUpIsLost)
{
	constexpr unsigned total = 3000;
	Pair p(with_events());
	std::atomic<bool> failed{ false };
	unsigned got = 0;

	ASSERT_EQ(urma_rearm_jfc(p.b.jfc, false), URMA_SUCCESS);
	for (unsigned i = 0; i < 64; ++i)
		p.b.receive(i, p.b.memory->at(0, 8));
	std::thread sender([&] {
		for (unsigned i = 0; i < total && !failed; ++i) {
			if (Wr(URMA_OPC_SEND, i).local({ p.a.memory->at(0, 8) }).post(p.a.jetty)) {
				failed = true;
				return;
			}
			p.a.expect(i);
		}
	});
	const auto drain = [&] {
		urma_cr_t cr[16];
		int n;

		while ((n = urma_poll_jfc(p.b.jfc, 16, cr)) > 0) {
			for (int i = 0; i < n; ++i)
				p.b.receive(cr[i].user_ctx, p.b.memory->at(0, 8));
			got += static_cast<unsigned>(n);
		}
	};

	while (got < total) {
		if (wait(p.b, 10000) != 1) {
			ADD_FAILURE() << "a wake-up was lost after " << got;
			failed = true;
			break;
		}
		drain();
		ASSERT_EQ(urma_rearm_jfc(p.b.jfc, false), URMA_SUCCESS);
		drain();
	}
	sender.join();
	EXPECT_EQ(got, total);
}

TEST(Events, ASignalEndsTheWait)
{
	Pair p(with_events());
	urma_jfc_t *jfc = nullptr;
	struct sigaction act = {}, before = {};

	act.sa_handler = [](int) {};
	ASSERT_EQ(sigaction(SIGALRM, &act, &before), 0);
	ualarm(50000, 0);
	errno = 0;
	EXPECT_EQ(urma_wait_jfc(p.a.jfce, 1, 10000, &jfc), 0);
	EXPECT_EQ(errno, 512);
	sigaction(SIGALRM, &before, nullptr);
}

TEST(Events, AThresholdIsReportedOnce)
{
	Pair p;
	urma_jfr_attr_t attr{ JFR_RX_THRESHOLD, 2, URMA_JFR_STATE_READY };
	urma_async_event_t e{};

	for (unsigned i = 0; i < 4; ++i)
		p.b.receive(i, p.b.memory->at(0, 8));
	ASSERT_EQ(urma_modify_jfr(p.b.jfr, &attr), URMA_SUCCESS);
	for (unsigned i = 0; i < 4; ++i) {
		Wr(URMA_OPC_SEND, i).local({ p.a.memory->at(0, 8) }).post(p.a.jetty);
		p.a.expect(i);
		p.b.expect(i);
	}
	ASSERT_EQ(urma_get_async_event(p.b.ctx, &e), URMA_SUCCESS);
	EXPECT_EQ(e.event_type, URMA_EVENT_JFR_LIMIT);
	EXPECT_EQ(e.element.jfr, p.b.jfr);
	urma_ack_async_event(&e);
	fcntl(p.b.ctx->async_fd, F_SETFL, O_NONBLOCK);
	EXPECT_EQ(urma_get_async_event(p.b.ctx, &e), URMA_EAGAIN);
}

TEST(Events, AnOverflowIsNeverSilent)
{
	Shape shape;

	shape.depth = 512;
	End a(0, shape), b(1, shape);
	urma_jfc_cfg_t cfg{};
	urma_async_event_t e{};

	// a's sends complete into a JFC that nobody polls
	cfg.depth = 64;
	urma_jfc_t *small = urma_create_jfc(a.ctx, &cfg);
	urma_jetty_cfg_t jc = a.jetty->jetty_cfg;

	ASSERT_NE(small, nullptr);
	jc.id = 0;
	jc.jfs_cfg.jfc = small;
	jc.shared.jfc = a.jfc;
	jc.jfs_cfg.depth = 128;
	urma_jetty_t *jetty = urma_create_jetty(a.ctx, &jc);

	ASSERT_NE(jetty, nullptr) << std::strerror(errno);
	a.import(b, shape);
	ASSERT_EQ(urma_bind_jetty(jetty, a.target), URMA_SUCCESS);
	urma_token_t token{ jetty_token };
	urma_rjetty_t r = b.describe();

	r.jetty_id = jetty->jetty_id;
	r.flag.bs.token_policy = URMA_TOKEN_PLAIN_TEXT;
	b.target = urma_import_jetty(b.ctx, &r, &token);
	b.bind();
	for (unsigned i = 0; i < 65; ++i)
		ASSERT_EQ(Wr(URMA_OPC_NOP, i).post(jetty), URMA_SUCCESS) << i;
	ASSERT_EQ(urma_get_async_event(a.ctx, &e), URMA_SUCCESS);
	EXPECT_EQ(e.event_type, URMA_EVENT_JFC_ERR);
	EXPECT_EQ(e.element.jfc, small);
	urma_ack_async_event(&e);
	EXPECT_EQ(urma_unbind_jetty(jetty), URMA_SUCCESS);
	EXPECT_EQ(urma_delete_jetty(jetty), URMA_SUCCESS);
	EXPECT_EQ(urma_delete_jfc(small), URMA_SUCCESS);
}

} // namespace
