// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Traffic management by the C++ binding.
#include <gtest/gtest.h>

#include <uboe/urma.hpp>

using namespace uboe::urma;

namespace
{

TEST(TmBinding, ATreeAndAJettyInIt)
{
	const Context context(Eid::of("127.0.0.1"));
	CompletionQueue completions(context);
	ReceiveQueue receives(context, completions, { .mode = Mode::rm });
	RmJetty jetty(context, completions, receives);
	TrafficManagement tree(context);
	const TrafficId port, group{ TrafficLevel::group, 1 },
		function{ TrafficLevel::function, 2 }, queue_set{ TrafficLevel::queue_set, 3 },
		queue{ TrafficLevel::queue, 3 }, place = TrafficId::of(jetty);
	ServiceLevels map{};

	map[0] = 9;
	ASSERT_FALSE(tree.add(port, { .peak = { 1000000, 5000 } }));
	ASSERT_FALSE(tree.add(group, { .committed = { 2000, 6000 }, .priority = 7 }));
	ASSERT_FALSE(tree.add(function, { .parent = 1, .weight = 8, .sl_vl = map }));
	ASSERT_FALSE(tree.add(queue_set, { .parent = 2, .vl = 9 }));
	EXPECT_EQ(tree.add(queue, { .parent = 3 }), errc::not_supported);
	EXPECT_EQ(tree.add(port), errc::exists);
	ASSERT_FALSE(tree.add(place, { .parent = 2, .peak = { 1000 } }));

	EXPECT_FALSE(tree.query(port).parent);
	EXPECT_EQ(tree.query(port).peak.burst, 5000u);
	EXPECT_EQ(tree.query(group).parent, 0u);
	EXPECT_EQ(tree.query(group).committed.kbps, 2000u);
	EXPECT_EQ(tree.query(group).priority, 7);
	EXPECT_EQ(tree.query(function).parent, 1u);
	EXPECT_EQ(tree.query(function).weight, 8);
	EXPECT_EQ(tree.query(function).sl_vl, map);
	EXPECT_EQ(tree.query(queue_set).vl, 9);
	EXPECT_EQ(tree.query(queue).parent, 3u);
	EXPECT_EQ(tree.query(place).parent, 2u);
	EXPECT_EQ(tree.query(place).vl, 9);
	EXPECT_EQ(tree.query(place).peak.kbps, 1000u);

	EXPECT_FALSE(limit(jetty, { 3000, 4000 }));
	EXPECT_EQ(tree.query(place).peak.burst, 4000u);
	EXPECT_EQ(limit(jetty, { 1, 0 }), errc::invalid);
	ASSERT_FALSE(tree.remove(place));
	EXPECT_THROW(tree.query(place), Error);
	EXPECT_FALSE(limit(jetty, { 3000, 4000 }));
	EXPECT_FALSE(tree.query(place).parent);
	EXPECT_FALSE(limit(jetty, {}));
	EXPECT_THROW(tree.query(place), Error);

	map[15] = 15;
	EXPECT_FALSE(tree.change(function, { .peak = TrafficRate{ 5000, 0 },
					     .committed = TrafficRate{ 5000, 1 },
					     .priority = 1,
					     .weight = 2,
					     .sl_vl = map }));
	EXPECT_EQ(tree.query(function).peak.kbps, 5000u);
	EXPECT_EQ(tree.query(function).committed.burst, 1u);
	EXPECT_EQ(tree.query(function).priority, 1);
	EXPECT_EQ(tree.query(function).weight, 2);
	EXPECT_EQ(tree.query(function).sl_vl, map);
	EXPECT_FALSE(tree.change(function, { .priority = 3 }));
	EXPECT_EQ(tree.query(function).priority, 3);
	EXPECT_EQ(tree.query(function).weight, 2);
	EXPECT_EQ(tree.change(port, { .priority = 1 }), errc::not_supported);
	EXPECT_EQ(tree.change(port, {}), errc::invalid);
	EXPECT_EQ(tree.remove(function), std::errc::device_or_resource_busy);
	for (const TrafficId &id : { queue_set, function, group, port })
		EXPECT_FALSE(tree.remove(id));
}

} // namespace
