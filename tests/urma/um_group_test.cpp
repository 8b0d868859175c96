// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Jetty groups: who of them receives.
#include "um_rig.hpp"

#include <atomic>
#include <map>
#include <thread>

namespace urma_test
{
namespace
{

constexpr std::size_t far = 65536;

/// A receiving end whose jetties are in one group.
struct Grouped {
	explicit Grouped(urma_jetty_grp_policy_t policy, unsigned members)
		: end(1, UmShape{ .receives = 1024, .with_jetty = false })
	{
		urma_jetty_grp_cfg_t cfg = group_cfg(policy);

		group = urma_create_jetty_grp(end.ctx, &cfg);
		EXPECT_NE(group, nullptr) << std::strerror(errno);
		while (members--)
			EXPECT_NE(join(), nullptr) << std::strerror(errno);
		for (unsigned i = 0; i < 512; ++i)
			end.receive(i, far, 64);
	}
	~Grouped()
	{
		for (urma_jetty_t *j : jetties)
			EXPECT_EQ(urma_delete_jetty(j), URMA_SUCCESS);
		EXPECT_EQ(urma_delete_jetty_grp(group), URMA_SUCCESS);
	}

	static urma_jetty_grp_cfg_t group_cfg(urma_jetty_grp_policy_t policy)
	{
		urma_jetty_grp_cfg_t cfg{};

		std::strcpy(cfg.name, "test");
		cfg.policy = policy;
		cfg.flag.bs.token_policy = URMA_TOKEN_PLAIN_TEXT;
		cfg.token_value.token = jetty_token;
		return cfg;
	}

	urma_jetty_t *join()
	{
		urma_jetty_cfg_t cfg = end.jetty_cfg();

		cfg.jetty_grp = group;
		urma_jetty_t *j = urma_create_jetty(end.ctx, &cfg);

		if (j)
			jetties.push_back(j);
		return j;
	}
	void leave(std::size_t i)
	{
		EXPECT_EQ(urma_delete_jetty(jetties[i]), URMA_SUCCESS);
		jetties.erase(jetties.begin() + static_cast<std::ptrdiff_t>(i));
	}
	/// Id of who received the next message, whose receive is posted again.
	std::uint32_t who()
	{
		const auto cr = end.next();

		if (!cr)
			return 0;
		EXPECT_EQ(cr->status, URMA_CR_SUCCESS);
		end.receive(cr->user_ctx, far, 64);
		return cr->local_id;
	}
	std::uint32_t id(std::size_t i) const { return jetties[i]->jetty_id.id; }

	UmEnd end;
	urma_jetty_grp_t *group = nullptr;
	std::vector<urma_jetty_t *> jetties;
};

TEST(Group, TheHintChooses)
{
	Grouped g(URMA_JETTY_GRP_POLICY_HASH_HINT, 32);
	UmEnd a(0);
	urma_target_jetty_t *to = a.aim_group(g.end, g.group);

	EXPECT_EQ(g.group->jetty_cnt, 32u);
	EXPECT_EQ(g.group->jetty_list[31], g.jetties[31]);
	for (unsigned hint : { 0u, 1u, 31u, 32u, 77u, 255u, 77u }) {
		a.send(to, 8, static_cast<std::uint8_t>(hint));
		EXPECT_EQ(g.who(), g.id(hint % 32)) << hint;
	}
}

TEST(Group, InTurn)
{
	Grouped g(URMA_JETTY_GRP_POLICY_RR, 32);
	UmEnd a(0);
	urma_target_jetty_t *to = a.aim_group(g.end, g.group);
	std::map<std::uint32_t, unsigned> count;

	for (unsigned i = 0; i < 96; ++i) {
		a.send(to, 8);
		++count[g.who()];
	}
	EXPECT_EQ(count.size(), 32u);
	for (const urma_jetty_t *j : g.jetties)
		EXPECT_EQ(count[j->jetty_id.id], 3u);
}

TEST(Group, ThirtyTwoAtMost)
{
	Grouped g(URMA_JETTY_GRP_POLICY_RR, 32);

	EXPECT_EQ(g.join(), nullptr);
	EXPECT_EQ(errno, ENOSPC);
	EXPECT_EQ(urma_delete_jetty_grp(g.group), URMA_EAGAIN);
	g.leave(7);
	EXPECT_EQ(g.group->jetty_cnt, 31u);
	EXPECT_NE(g.join(), nullptr);
}

TEST(Group, WhoeverIsThereReceives)
{
	Grouped g(URMA_JETTY_GRP_POLICY_HASH_HINT, 4);
	UmEnd a(0);
	urma_target_jetty_t *to = a.aim_group(g.end, g.group);
	urma_jetty_attr_t attr{ JETTY_STATE, 0, URMA_JETTY_STATE_ERROR };

	// one that is in error is passed over, and keeps its place
	ASSERT_EQ(urma_modify_jetty(g.jetties[1], &attr), URMA_SUCCESS);
	EXPECT_EQ(g.end.next()->status, URMA_CR_WR_FLUSH_ERR_DONE);
	a.send(to, 8, 1);
	EXPECT_EQ(g.who(), g.id(2));
	a.send(to, 8, 2);
	EXPECT_EQ(g.who(), g.id(2));
	// after RESET it is the last one
	attr.state = URMA_JETTY_STATE_RESET;
	ASSERT_EQ(urma_modify_jetty(g.jetties[1], &attr), URMA_SUCCESS);
	attr.state = URMA_JETTY_STATE_READY;
	ASSERT_EQ(urma_modify_jetty(g.jetties[1], &attr), URMA_SUCCESS);
	a.send(to, 8, 3);
	EXPECT_EQ(g.who(), g.id(1));
	while (!g.jetties.empty())
		g.leave(0);
	a.send(to, 8); // to nobody
	EXPECT_TRUE(g.end.nothing_comes(20));
	ASSERT_NE(g.join(), nullptr);
	a.send(to, 8, 9);
	EXPECT_EQ(g.who(), g.id(0));
}

TEST(Group, ItsTokenCounts)
{
	Grouped g(URMA_JETTY_GRP_POLICY_HASH_HINT, 1);
	UmEnd a(0);
	urma_target_jetty_t *good = a.aim_group(g.end, g.group);
	urma_target_jetty_t *bad = a.aim_group(g.end, g.group, jetty_token - 1);

	a.send(bad, 16);
	a.send(good, 8);
	const auto cr = g.end.next();

	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->completion_len, 8u);
	EXPECT_TRUE(g.end.nothing_comes(5));
}

TEST(Group, MembersLeaveDuringTraffic)
{
	for (auto policy : { URMA_JETTY_GRP_POLICY_RR, URMA_JETTY_GRP_POLICY_HASH_HINT }) {
		Grouped g(policy, 32);
		UmEnd a(0);
		urma_target_jetty_t *to = a.aim_group(g.end, g.group);
		std::atomic<bool> done{ false };
		unsigned got = 0, sent = 0;

		std::thread leaver([&] {
			while (g.jetties.size() > 1) {
				g.leave(g.jetties.size() / 2);
				std::this_thread::yield();
			}
			done = true;
		});
		const auto take = [&] {
			urma_cr_t cr;

			while (urma_poll_jfc(g.end.jfc, 1, &cr) == 1) {
				EXPECT_EQ(cr.status, URMA_CR_SUCCESS);
				EXPECT_EQ(cr.completion_len, 8u);
				g.end.receive(cr.user_ctx, far, 64);
				++got;
			}
		};
		while (!done || sent < 64) {
			a.send(to, 8, static_cast<std::uint8_t>(sent++));
			take();
		}
		leaver.join();
		take();
		EXPECT_LE(got, sent);
		// what was on its way has arrived before this one does
		Message last(a, to, 9, 3);
		urma_jfs_wr_t *bad;

		ASSERT_EQ(urma_post_jetty_send_wr(a.jetty, &last.wr, &bad), URMA_SUCCESS);
		a.expect(3);
		for (;;) {
			const auto cr = g.end.next();

			ASSERT_TRUE(cr);
			EXPECT_EQ(cr->status, URMA_CR_SUCCESS);
			if (cr->completion_len != 9)
				continue;
			EXPECT_EQ(cr->local_id, g.id(0)) << "the one that is left";
			break;
		}
	}
}

TEST(Group, WhatDoesNotFitIsRefused)
{
	Grouped g(URMA_JETTY_GRP_POLICY_RR, 0);
	UmEnd other(0, UmShape{ .token = false });
	urma_jetty_cfg_t cfg = other.jetty_cfg();
	urma_jetty_grp_cfg_t gc = Grouped::group_cfg(URMA_JETTY_GRP_POLICY_RR);

	cfg.jetty_grp = g.group;
	EXPECT_EQ(urma_create_jetty(other.ctx, &cfg), nullptr) << "of another context";
	EXPECT_EQ(errno, EINVAL);
	urma_jetty_grp_t *tokened = urma_create_jetty_grp(other.ctx, &gc);
	ASSERT_NE(tokened, nullptr);
	cfg.jetty_grp = tokened;
	EXPECT_EQ(urma_create_jetty(other.ctx, &cfg), nullptr) << "its JFR has no token";
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(urma_delete_jetty_grp(tokened), URMA_SUCCESS);
	EXPECT_EQ(urma_delete_jetty_grp(tokened), URMA_EINVAL);

	const std::pair<void (*)(urma_jetty_grp_cfg_t &), int> bad[] = {
		{ [](auto &c) { std::memset(c.name, 'x', sizeof(c.name)); }, EINVAL },
		{ [](auto &c) { c.policy = static_cast<urma_jetty_grp_policy_t>(2); }, EINVAL },
		{ [](auto &c) { c.flag.bs.token_policy = 2; }, EOPNOTSUPP },
		{ [](auto &c) { c.id = 65537; }, EEXIST },
	};

	for (const auto &[change, err] : bad) {
		urma_jetty_grp_cfg_t c = gc;

		change(c);
		errno = 0;
		EXPECT_EQ(urma_create_jetty_grp(g.end.ctx, &c), nullptr);
		EXPECT_EQ(errno, err);
	}
	gc.id = 65536;
	urma_jetty_grp_t *highest = urma_create_jetty_grp(g.end.ctx, &gc);
	ASSERT_NE(highest, nullptr);
	EXPECT_EQ(highest->jetty_grp_id.id, 65536u);
	EXPECT_EQ(urma_create_jetty_grp(g.end.ctx, &gc), nullptr) << "taken";
	EXPECT_EQ(errno, EEXIST);
	EXPECT_EQ(urma_delete_jetty_grp(highest), URMA_SUCCESS);
}

} // namespace
} // namespace urma_test
