// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A device that goes while a program uses it. URMA_TEST_LOSE is the command that
// removes both devices; without it there is nothing to test.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <poll.h>

#include "rig.hpp"

using namespace urma_test;

namespace
{

constexpr int patience_ms = 10000;

const char *removal()
{
	return std::getenv("URMA_TEST_LOSE");
}

/// The next asynchronous event's type; -1 when none comes.
int next_event(urma_context_t *ctx)
{
	pollfd fd{ ctx->async_fd, POLLIN, 0 };
	urma_async_event_t e{};

	if (poll(&fd, 1, patience_ms) != 1 || urma_get_async_event(ctx, &e) != URMA_SUCCESS)
		return -1;
	urma_ack_async_event(&e);
	return e.event_type;
}

bool is_told(urma_context_t *ctx)
{
	for (;;) {
		const int type = next_event(ctx);

		if (type == URMA_EVENT_DEV_FATAL || type < 0)
			return type >= 0;
	}
}

TEST(Lost, EverythingEndsInErrorsAndCanBeDeleted)
{
	if (!removal())
		GTEST_SKIP() << "URMA_TEST_LOSE is not set";
	Shape shape;
	urma_jfc_t *fired = nullptr;
	std::uint32_t one = 1;
	urma_cr_t cr;

	shape.events = true;
	auto p = std::make_unique<Pair>(shape);

	// work that waits for ever: a Send without a receive
	p->b.receive(1, p->b.memory->at(0, 8));
	Wr(URMA_OPC_SEND, 1).local({ p->a.memory->at(0, 8) }).post(p->a.jetty);
	p->a.expect(1);
	p->b.expect(1);
	ASSERT_EQ(urma_rearm_jfc(p->a.jfc, false), URMA_SUCCESS);
	ASSERT_EQ(Wr(URMA_OPC_SEND, 2).local({ p->a.memory->at(0, 8) }).post(p->a.jetty),
		  URMA_SUCCESS);
	int waited = -2;
	std::thread waiter([&] { waited = urma_wait_jfc(p->a.jfce, 1, -1, &fired); });

	ASSERT_EQ(std::system(removal()), 0);
	waiter.join();
	EXPECT_EQ(waited, 1) << "who waits is woken";
	urma_ack_jfc(&fired, &one, 1);
	EXPECT_TRUE(is_told(p->a.ctx));
	EXPECT_TRUE(is_told(p->b.ctx));
	while (urma_poll_jfc(p->a.jfc, 1, &cr) > 0)
		; // what completed before
	EXPECT_EQ(urma_poll_jfc(p->a.jfc, 1, &cr), -1);
	EXPECT_EQ(errno, ENODEV);

	EXPECT_NE(Wr(URMA_OPC_NOP, 3).post(p->a.jetty), URMA_SUCCESS);
	urma_jetty_cfg_t cfg;
	urma_jetty_attr_t attr;

	ASSERT_EQ(urma_query_jetty(p->a.jetty, &cfg, &attr), URMA_SUCCESS);
	EXPECT_EQ(attr.state, URMA_JETTY_STATE_ERROR);
	urma_jfc_cfg_t jc{};

	jc.depth = 64;
	EXPECT_EQ(urma_create_jfc(p->a.ctx, &jc), nullptr);
	EXPECT_EQ(urma_alloc_token_id(p->a.ctx), nullptr);
	p.reset(); // each of its deletions is expected to succeed
}

} // namespace
