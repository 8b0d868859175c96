// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Reliable messages by the C++ binding.
#include <gtest/gtest.h>

#include <uboe/urma.hpp>

using namespace uboe::urma;
using namespace std::chrono_literals;

namespace
{

struct RmEnd {
	explicit RmEnd(const char *eid)
		: context(Eid::of(eid)), completions(context),
		  receives(context, completions, { .min_rnr_timer = 1, .mode = Mode::rm }),
		  jetty(context, completions, receives),
		  memory(LocalSegment::allocate(context, 8192, { .access = Access::atomic }))
	{
	}

	Completion next()
	{
		const auto c = completions.wait_for(10s);

		EXPECT_TRUE(c) << "no completion came";
		return c.value_or(Completion());
	}

	Context context;
	CompletionQueue completions;
	ReceiveQueue receives;
	RmJetty jetty;
	LocalSegment memory;
};

TEST(RmBinding, OrderOfTheTarget)
{
	RmEnd a("127.0.0.1"), b("127.0.0.2");
	RmJetty ordered(a.context, a.completions, a.receives, { .target_order = true });
	const RmTarget target(a.context, b.jetty.remote());
	const RemoteSegment there = b.memory.remote();

	for (std::uint64_t i = 0; i < 8; i++)
		ASSERT_FALSE(ordered.to(target).write(a.memory.slice(0, 512), there.at(0),
						      { .order = Order::strong, .user = i }));
	for (std::uint64_t i = 0; i < 8; i++)
		EXPECT_EQ(a.next().user(), i);
	const ReceiveQueue for_rc(a.context, a.completions);

	EXPECT_THROW(RcJetty(a.context, a.completions, for_rc, { .target_order = true }), Error);
}

TEST(RmBinding, OneJettyAndTwoPeers)
{
	RmEnd a("127.0.0.1"), b("127.0.0.2"), c("127.0.0.3");

	for (RmEnd *peer : { &b, &c }) {
		const RmTarget target(a.context, peer->jetty.remote());
		const RemoteSegment there = peer->memory.remote();
		RmPath path = a.jetty.to(target);

		ASSERT_FALSE(peer->jetty.receive(peer->memory.slice(0, 64), 1));
		ASSERT_FALSE(path.send_imm(a.memory.slice(0, 5), 42, { .user = 2 }));
		EXPECT_EQ(a.next().user(), 2u);
		const Completion got = peer->next();

		ASSERT_TRUE(got.recv());
		EXPECT_EQ(got.recv()->imm, 42u);
		EXPECT_EQ(got.recv()->sender_jetty, a.jetty.id());
		ASSERT_FALSE(path.write(a.memory.slice(0, 4096), there.at(4096)));
		EXPECT_TRUE(a.next());
		ASSERT_FALSE(path.fetch_add(a.memory.slice(0, 8), there.at(8), 1));
		EXPECT_TRUE(a.next());
	}
	EXPECT_FALSE(a.jetty.drain());
}

TEST(RmBinding, ModesDoNotMix)
{
	RmEnd a("127.0.0.1");
	ReceiveQueue connected(a.context, a.completions);

	EXPECT_THROW(RmJetty(a.context, a.completions, connected), Error);
	EXPECT_THROW(UmJetty(a.context, a.completions, a.receives), Error);
	EXPECT_THROW(RmTarget(a.context, { Eid::of("224.0.0.1"), JettyId{ 7 }, {} }), Error);
}

} // namespace
