// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Unreliable messages by the C++ binding.
#include <gtest/gtest.h>

#include <uboe/urma.hpp>

using namespace uboe::urma;
using namespace std::chrono_literals;

namespace
{

struct UmEnd {
	explicit UmEnd(const char *eid)
		: context(Eid::of(eid)), completions(context),
		  receives(context, completions, { .mode = Mode::um }),
		  jetty(context, completions, receives),
		  memory(LocalSegment::allocate(context, 8192, {}))
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
	UmJetty jetty;
	LocalSegment memory;
};

TEST(UmBinding, AQuestionAndItsAnswer)
{
	UmEnd a("127.0.0.1"), b("127.0.0.2");
	const UmTarget to_b(a.context, b.jetty.remote());

	ASSERT_FALSE(b.jetty.receive(b.memory.slice(0, 64), 1));
	ASSERT_FALSE(a.jetty.receive(a.memory.slice(0, 64), 2));
	ASSERT_FALSE(a.jetty.send_imm(to_b, a.memory.slice(64, 5), 42, { .user = 3 }));
	EXPECT_EQ(a.next().user(), 3u);
	const Completion asked = b.next();

	ASSERT_TRUE(asked.recv());
	EXPECT_TRUE(asked);
	EXPECT_EQ(asked.recv()->imm, 42u);
	EXPECT_EQ(asked.recv()->length, 5u);
	EXPECT_EQ(asked.recv()->sender, a.jetty.remote().eid);
	EXPECT_EQ(asked.recv()->sender_jetty, a.jetty.id());
	/* who sent it is whom the answer is for; the token is told otherwise */
	const UmTarget to_a(b.context, { asked.recv()->sender, asked.recv()->sender_jetty,
					 a.jetty.remote().token });

	ASSERT_FALSE(b.jetty.send(to_a, LocalSlice("yes"), { .inline_data = true, .user = 4 }));
	EXPECT_EQ(b.next().user(), 4u);
	EXPECT_EQ(a.next().user(), 2u);
	EXPECT_FALSE(a.jetty.drain());
}

TEST(UmBinding, ModesDoNotMix)
{
	UmEnd a("127.0.0.1");
	ReceiveQueue connected(a.context, a.completions);

	EXPECT_THROW(UmJetty(a.context, a.completions, connected), Error);
	EXPECT_THROW(RcJetty(a.context, a.completions, a.receives), Error);
	EXPECT_THROW(UmTarget(a.context, { Eid::of("224.0.0.1"), JettyId{ 7 }, {} }), Error);
}

} // namespace
