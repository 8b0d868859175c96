// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The device as a whole: partitions, and reset of the function.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <poll.h>

#include "rig.hpp"

using namespace urma_test;

namespace
{

constexpr int patience_ms = 10000;

struct Context {
	explicit Context(unsigned end) : ctx(open_end(end)) { EXPECT_NE(ctx, nullptr); }
	~Context() { EXPECT_EQ(urma_delete_context(ctx), URMA_SUCCESS); }
	Context(const Context &) = delete;
	Context &operator=(const Context &) = delete;

	std::uint32_t partition()
	{
		std::uint32_t p = 0;

		EXPECT_EQ(uboe_get_partition(ctx, &p), URMA_SUCCESS);
		return p;
	}

	urma_context_t *ctx;
};

void write_and_look(Pair &p, std::uint8_t seed)
{
	p.a.memory->fill(seed);
	ASSERT_EQ(Wr(URMA_OPC_WRITE, seed)
			  .local({ p.a.memory->at(0, 10000) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(seed);
	EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), 10000), 0);
}

TEST(Partition, IsSetWhileThereAreNoJetties)
{
	Context c(0);

	EXPECT_EQ(uboe_set_partition(nullptr, 5), URMA_EINVAL);
	EXPECT_EQ(uboe_get_partition(nullptr, nullptr), URMA_EINVAL);
	EXPECT_EQ(uboe_get_partition(c.ctx, nullptr), URMA_EINVAL);
	if (!is_inproc()) {
		EXPECT_EQ(uboe_set_partition(c.ctx, 5), EOPNOTSUPP);
		return;
	}
	EXPECT_EQ(c.partition(), 1u);
	EXPECT_EQ(uboe_set_partition(c.ctx, 0), URMA_EINVAL);
	EXPECT_EQ(uboe_set_partition(c.ctx, UBOE_PARTITION_LOW), URMA_EINVAL);
	EXPECT_EQ(uboe_set_partition(c.ctx, 0x2000001), URMA_EINVAL);
	EXPECT_EQ(uboe_set_partition(c.ctx, 0xffffff | UBOE_PARTITION_LOW), URMA_SUCCESS);
	EXPECT_EQ(c.partition(), 0xffffff | UBOE_PARTITION_LOW);
	EXPECT_EQ(uboe_set_partition(c.ctx, 1), URMA_SUCCESS);
	Pair p;
	EXPECT_EQ(uboe_set_partition(c.ctx, 5), EBUSY) << "jetties of another context, too";
	EXPECT_EQ(c.partition(), 1u);
	write_and_look(p, 1);
}

TEST(Partition, MembersTalk)
{
	if (!is_inproc())
		return; // IsSetWhileThereAreNoJetties says what it answers
	Context a(0), b(1);

	for (auto [of_a, of_b] :
	     { std::pair{ 0xffffffu, 0xffffffu }, std::pair{ 5u, 5u | UBOE_PARTITION_LOW },
	       std::pair{ 1u | UBOE_PARTITION_LOW, 1u } }) {
		ASSERT_EQ(uboe_set_partition(a.ctx, of_a), URMA_SUCCESS);
		ASSERT_EQ(uboe_set_partition(b.ctx, of_b), URMA_SUCCESS);
		Pair p;

		write_and_look(p, static_cast<std::uint8_t>(of_a));
	}
}

void are_deaf(std::uint32_t of_a, std::uint32_t of_b)
{
	if (!is_inproc())
		return;
	Context a(0), b(1);

	ASSERT_EQ(uboe_set_partition(a.ctx, of_a), URMA_SUCCESS);
	ASSERT_EQ(uboe_set_partition(b.ctx, of_b), URMA_SUCCESS);
	Shape shape;

	shape.err_timeout = 1;
	Pair p(shape);
	p.b.memory->fill(3);
	p.a.memory->fill(4);
	const std::vector<std::uint8_t> before(p.b.memory->data(), p.b.memory->data() + 100);

	ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
			  .local({ p.a.memory->at(0, 100) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	const auto cr = p.a.next();
	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_ACK_TIMEOUT_ERR);
	EXPECT_EQ(std::memcmp(p.b.memory->data(), before.data(), before.size()), 0);
}

TEST(Partition, OthersAreNotHeard)
{
	are_deaf(5, 6);
}

TEST(Partition, LowDoesNotTalkToLow)
{
	are_deaf(5 | UBOE_PARTITION_LOW, 5 | UBOE_PARTITION_LOW);
}

// ---- reset ----

/// The types of the events that are there, until @p last.
std::vector<int> events_until(urma_context_t *ctx, int last)
{
	std::vector<int> all;

	while (all.empty() || all.back() != last) {
		pollfd fd{ ctx->async_fd, POLLIN, 0 };
		urma_async_event_t e{};

		if (poll(&fd, 1, patience_ms) != 1 || urma_get_async_event(ctx, &e) != URMA_SUCCESS)
			break;
		urma_ack_async_event(&e);
		all.push_back(e.event_type);
	}
	return all;
}

urma_jetty_state_t state_of(urma_jetty_t *jetty)
{
	urma_jetty_cfg_t cfg;
	urma_jetty_attr_t attr{};

	EXPECT_EQ(urma_query_jetty(jetty, &cfg, &attr), URMA_SUCCESS);
	return attr.state;
}

/// On a device of the kernel its administrator's command, which URMA_TEST_RESET is.
urma_status_t reset(urma_context_t *ctx)
{
	const char *command = std::getenv("URMA_TEST_RESET");

	if (is_inproc() || !command)
		return uboe_reset_device(ctx);
	return std::system(command) ? URMA_FAIL : URMA_SUCCESS;
}

/// There is nothing to reset: the device is its administrator's
bool is_refused(urma_context_t *ctx)
{
	return !is_inproc() && !std::getenv("URMA_TEST_RESET") && reset(ctx) == EOPNOTSUPP;
}

TEST(FunctionReset, EverythingEndsAndTheDeviceWorks)
{
	Context watcher(0);
	auto p = std::make_unique<Pair>();

	EXPECT_EQ(uboe_reset_device(nullptr), URMA_EINVAL);
	if (is_refused(p->a.ctx))
		return;
	p->b.receive(1, p->b.memory->at(0, 8));
	Wr(URMA_OPC_SEND, 1).local({ p->a.memory->at(0, 8) }).post(p->a.jetty);
	p->a.expect(1);
	p->b.expect(1);
	// work that waits for ever: a Send without a receive
	ASSERT_EQ(Wr(URMA_OPC_SEND, 2).local({ p->a.memory->at(0, 8) }).post(p->a.jetty),
		  URMA_SUCCESS);

	ASSERT_EQ(reset(p->a.ctx), URMA_SUCCESS);
	std::optional<urma_cr_t> cr = p->a.next();
	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->user_ctx, 2u);
	EXPECT_EQ(cr->status, URMA_CR_WR_FLUSH_ERR);
	EXPECT_EQ(state_of(p->a.jetty), URMA_JETTY_STATE_ERROR);
	if (is_inproc()) {
		const std::vector<int> told{ URMA_EVENT_ELR_ERR, URMA_EVENT_JETTY_ERR,
					     URMA_EVENT_ELR_DONE };

		EXPECT_EQ(events_until(p->a.ctx, URMA_EVENT_ELR_DONE), told);
		EXPECT_EQ(events_until(watcher.ctx, URMA_EVENT_ELR_DONE),
			  (std::vector<int>{ URMA_EVENT_ELR_ERR, URMA_EVENT_ELR_DONE }))
			<< "who has no jetty";
	} else {
		const auto all = events_until(p->a.ctx, URMA_EVENT_ELR_DONE);

		EXPECT_NE(std::find(all.begin(), all.end(), URMA_EVENT_ELR_DONE), all.end());
	}
	// what is posted from now on is flushed, too
	if (Wr(URMA_OPC_NOP, 3).post(p->a.jetty) == URMA_SUCCESS) {
		do
			cr = p->a.next();
		while (cr && cr->user_ctx != 3);
		ASSERT_TRUE(cr);
		EXPECT_EQ(cr->status, URMA_CR_WR_FLUSH_ERR);
	}
	p.reset(); // each of its deletions is expected to succeed
	Pair again;
	write_and_look(again, 7);
}

/// The other end fails what it has asked for, soon and not after the limit of retransmission
TEST(FunctionReset, ThePeerIsTold)
{
	auto p = std::make_unique<Pair>();

	if (is_refused(p->b.ctx))
		return;
	ASSERT_EQ(Wr(URMA_OPC_SEND, 2).local({ p->a.memory->at(0, 8) }).post(p->a.jetty),
		  URMA_SUCCESS);
	EXPECT_TRUE(p->a.nothing_comes(50));
	const auto start = std::chrono::steady_clock::now();
	ASSERT_EQ(reset(p->b.ctx), URMA_SUCCESS);
	const auto cr = p->a.next();
	ASSERT_TRUE(cr);
	if (is_inproc()) {
		EXPECT_EQ(cr->status, URMA_CR_ACK_TIMEOUT_ERR);
		EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
	} else {
		EXPECT_NE(cr->status, URMA_CR_SUCCESS); // both ends may be one device
	}
	p.reset();
	Pair again;
	write_and_look(again, 8);
}

} // namespace
