// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Objects: limits, wrong handles, orders of destruction, states.
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "rig.hpp"

using namespace urma_test;

namespace
{

class Objects : public testing::Test
{
      protected:
	void SetUp() override
	{
		ctx = urma_create_context(device(), 0);
		ASSERT_NE(ctx, nullptr) << std::strerror(errno);
		urma_jfc_cfg_t cfg{};
		cfg.depth = 64;
		jfc = urma_create_jfc(ctx, &cfg);
		ASSERT_NE(jfc, nullptr);
	}
	void TearDown() override
	{
		EXPECT_EQ(urma_delete_jfc(jfc), URMA_SUCCESS);
		EXPECT_EQ(urma_delete_context(ctx), URMA_SUCCESS);
	}

	urma_jfr_cfg_t jfr_cfg() const
	{
		urma_jfr_cfg_t c{};

		c.depth = 64;
		c.trans_mode = URMA_TM_RC;
		c.max_sge = 1;
		c.jfc = jfc;
		return c;
	}
	urma_jetty_cfg_t jetty_cfg(urma_jfr_t *jfr) const
	{
		urma_jetty_cfg_t c{};

		c.flag.bs.share_jfr = URMA_SHARE_JFR;
		c.jfs_cfg.depth = 64;
		c.jfs_cfg.trans_mode = URMA_TM_RC;
		c.jfs_cfg.max_sge = 1;
		c.jfs_cfg.jfc = jfc;
		c.shared.jfr = jfr;
		return c;
	}

	urma_context_t *ctx = nullptr;
	urma_jfc_t *jfc = nullptr;
};

TEST_F(Objects, DepthsOfAJfc)
{
	for (std::uint32_t depth : { 0u, 1u, 63u, 65u, 100u, 1u << 21, ~0u }) {
		urma_jfc_cfg_t cfg{};

		cfg.depth = depth;
		EXPECT_EQ(urma_create_jfc(ctx, &cfg), nullptr) << depth;
		EXPECT_EQ(errno, EINVAL);
	}
	for (std::uint32_t depth : { 64u, 128u, 1u << 20 }) {
		urma_jfc_cfg_t cfg{};

		cfg.depth = depth;
		urma_jfc_t *q = urma_create_jfc(ctx, &cfg);

		ASSERT_NE(q, nullptr) << depth;
		EXPECT_EQ(q->jfc_cfg.depth, depth);
		EXPECT_EQ(urma_delete_jfc(q), URMA_SUCCESS);
	}
}

TEST_F(Objects, DepthsAndElementsOfAJfr)
{
	const auto create = [this](std::uint32_t depth, std::uint8_t sges) {
		urma_jfr_cfg_t c = jfr_cfg();

		c.depth = depth;
		c.max_sge = sges;
		return urma_create_jfr(ctx, &c);
	};

	for (std::uint32_t depth : { 0u, 1u, 32u, 63u, 96u, 65536u })
		EXPECT_EQ(create(depth, 1), nullptr) << depth;
	EXPECT_EQ(create(64, 5), nullptr);
	for (std::uint32_t depth : { 64u, 32768u }) {
		urma_jfr_t *q = create(depth, 4);

		ASSERT_NE(q, nullptr) << depth;
		EXPECT_EQ(urma_delete_jfr(q), URMA_SUCCESS);
	}
}

TEST_F(Objects, DepthsOfAJetty)
{
	urma_jfr_cfg_t rc = jfr_cfg();
	urma_jfr_t *jfr = urma_create_jfr(ctx, &rc);

	ASSERT_NE(jfr, nullptr);
	for (std::uint32_t depth : { 0u, 3u, 65536u }) {
		urma_jetty_cfg_t c = jetty_cfg(jfr);

		c.jfs_cfg.depth = depth;
		EXPECT_EQ(urma_create_jetty(ctx, &c), nullptr) << depth;
	}
	for (std::uint32_t depth : { 1u, 2u, 4u, 4096u }) {
		urma_jetty_cfg_t c = jetty_cfg(jfr);

		c.jfs_cfg.depth = depth;
		urma_jetty_t *j = urma_create_jetty(ctx, &c);

		ASSERT_NE(j, nullptr) << depth;
		EXPECT_EQ(urma_delete_jetty(j), URMA_SUCCESS);
	}
	EXPECT_EQ(urma_delete_jfr(jfr), URMA_SUCCESS);
}

TEST_F(Objects, FieldsOfAJettyOutOfRange)
{
	urma_jfr_cfg_t rc = jfr_cfg();
	urma_jfr_t *jfr = urma_create_jfr(ctx, &rc);
	const std::function<void(urma_jetty_cfg_t &)> bad[] = {
		[](auto &c) { c.jfs_cfg.max_sge = 14; },
		[](auto &c) { c.jfs_cfg.max_inline_data = 209; },
		[](auto &c) { c.jfs_cfg.max_rsge = 2; },
		[](auto &c) { c.jfs_cfg.rnr_retry = 8; },
		[](auto &c) { c.jfs_cfg.err_timeout = 32; },
		[](auto &c) { c.jfs_cfg.priority = 16; },
		[](auto &c) { c.jfs_cfg.jfc = nullptr; },
		[](auto &c) { c.shared.jfr = nullptr; },
		[](auto &c) { c.flag.bs.share_jfr = 0; },
		[](auto &c) { c.jfs_cfg.trans_mode = static_cast<urma_transport_mode_t>(3); },
		[](auto &c) { c.jfs_cfg.flag.bs.order_type = URMA_NO; },
		[](auto &c) { c.id = 1; },
		[](auto &c) { c.id = 1u << 20; },
	};

	for (const auto &change : bad) {
		urma_jetty_cfg_t c = jetty_cfg(jfr);

		change(c);
		errno = 0;
		EXPECT_EQ(urma_create_jetty(ctx, &c), nullptr) << (&change - bad);
		EXPECT_NE(errno, 0);
	}
	EXPECT_EQ(urma_delete_jfr(jfr), URMA_SUCCESS);
}

TEST_F(Objects, AWellKnownIdIsTakenOnce)
{
	urma_jfr_cfg_t rc = jfr_cfg();
	urma_jfr_t *jfr = urma_create_jfr(ctx, &rc);
	urma_jetty_cfg_t c = jetty_cfg(jfr);

	c.id = 77;
	urma_jetty_t *j = urma_create_jetty(ctx, &c);

	ASSERT_NE(j, nullptr);
	EXPECT_EQ(j->jetty_id.id, 77u);
	EXPECT_EQ(urma_create_jetty(ctx, &c), nullptr);
	EXPECT_EQ(errno, EEXIST);
	EXPECT_EQ(urma_delete_jetty(j), URMA_SUCCESS);
	j = urma_create_jetty(ctx, &c);
	ASSERT_NE(j, nullptr) << "free again";
	EXPECT_EQ(urma_delete_jetty(j), URMA_SUCCESS);
	EXPECT_EQ(urma_delete_jfr(jfr), URMA_SUCCESS);
}

TEST_F(Objects, WhatIsInUseStays)
{
	urma_jfr_cfg_t rc = jfr_cfg();
	urma_jfr_t *jfr = urma_create_jfr(ctx, &rc);
	urma_jetty_cfg_t c = jetty_cfg(jfr);
	urma_jetty_t *j = urma_create_jetty(ctx, &c);

	ASSERT_NE(j, nullptr);
	EXPECT_EQ(urma_delete_context(ctx), URMA_EAGAIN);
	EXPECT_EQ(urma_delete_jfc(jfc), URMA_EAGAIN);
	EXPECT_EQ(urma_delete_jfr(jfr), URMA_EAGAIN);
	EXPECT_EQ(urma_delete_jetty(j), URMA_SUCCESS);
	EXPECT_EQ(urma_delete_jfr(jfr), URMA_SUCCESS);
}

TEST_F(Objects, HandlesThatAreNone)
{
	urma_jfr_cfg_t rc = jfr_cfg();
	urma_jfr_t *jfr = urma_create_jfr(ctx, &rc);
	urma_jetty_cfg_t c = jetty_cfg(jfr), out;
	urma_jetty_attr_t attr;
	urma_jetty_t *j = urma_create_jetty(ctx, &c);
	urma_cr_t cr;

	EXPECT_EQ(urma_delete_jetty(j), URMA_SUCCESS);
	// destroyed, null, and of another type
	for (urma_jetty_t *bad : { j, static_cast<urma_jetty_t *>(nullptr) }) {
		urma_jfs_wr_t wr{}, *where;

		EXPECT_EQ(urma_delete_jetty(bad), URMA_EINVAL);
		EXPECT_EQ(urma_query_jetty(bad, &out, &attr), URMA_EINVAL);
		EXPECT_EQ(urma_modify_jetty(bad, &attr), URMA_EINVAL);
		EXPECT_EQ(urma_unbind_jetty(bad), URMA_EINVAL);
		EXPECT_EQ(urma_post_jetty_send_wr(bad, &wr, &where), URMA_EINVAL);
		EXPECT_EQ(urma_flush_jetty(bad, 1, &cr), -1);
	}
	EXPECT_EQ(urma_poll_jfc(nullptr, 1, &cr), -1);
	EXPECT_EQ(urma_poll_jfc(jfc, 0, &cr), -1);
	EXPECT_EQ(urma_poll_jfc(jfc, 1, nullptr), -1);
	EXPECT_EQ(urma_rearm_jfc(jfc, false), URMA_EINVAL) << "it has no JFCE";
	EXPECT_EQ(urma_delete_jfc(nullptr), URMA_EINVAL);
	EXPECT_EQ(urma_delete_jfce(nullptr), URMA_EINVAL);
	EXPECT_EQ(urma_delete_context(nullptr), URMA_EINVAL);
	EXPECT_EQ(urma_unregister_seg(nullptr), URMA_EINVAL);
	EXPECT_EQ(urma_unimport_seg(nullptr), URMA_EINVAL);
	EXPECT_EQ(urma_create_jfr(nullptr, &rc), nullptr);
	EXPECT_EQ(urma_create_jfr(ctx, nullptr), nullptr);
	EXPECT_EQ(urma_delete_jfr(jfr), URMA_SUCCESS);
	EXPECT_EQ(urma_delete_jfr(jfr), URMA_EINVAL);
}

TEST_F(Objects, SegmentsAndTheirRights)
{
	std::vector<std::uint8_t> bytes(4096);
	const auto create = [&](std::uint32_t access, std::uint64_t len) {
		urma_seg_cfg_t c{};

		c.va = reinterpret_cast<std::uint64_t>(bytes.data());
		c.len = len;
		c.flag.bs.access = access;
		return urma_register_seg(ctx, &c);
	};

	EXPECT_EQ(create(URMA_ACCESS_WRITE, 4096), nullptr) << "WRITE requires READ";
	EXPECT_EQ(create(URMA_ACCESS_READ | URMA_ACCESS_ATOMIC, 4096), nullptr);
	EXPECT_EQ(create(URMA_ACCESS_LOCAL_ONLY | URMA_ACCESS_READ, 4096), nullptr);
	EXPECT_EQ(create(0x20, 4096), nullptr);
	EXPECT_EQ(create(URMA_ACCESS_READ, 0), nullptr);
	EXPECT_EQ(create(URMA_ACCESS_READ, 1ull << 46), nullptr) << "not all of it is mapped";
	urma_target_seg_t *s = create(URMA_ACCESS_READ, 4096);

	ASSERT_NE(s, nullptr);
	EXPECT_EQ(s->seg.len, 4096u);
	EXPECT_EQ(urma_unimport_seg(s), URMA_EINVAL) << "it was registered";
	EXPECT_EQ(urma_unregister_seg(s), URMA_SUCCESS);
	EXPECT_EQ(urma_unregister_seg(s), URMA_EINVAL);
}

TEST_F(Objects, ATokenIdOfTheCallers)
{
	std::vector<std::uint8_t> bytes(4096);
	urma_token_id_t *t = urma_alloc_token_id(ctx);
	urma_seg_cfg_t c{};

	ASSERT_NE(t, nullptr);
	c.va = reinterpret_cast<std::uint64_t>(bytes.data());
	c.len = bytes.size();
	c.flag.bs.access = URMA_ACCESS_READ;
	c.flag.bs.token_id_valid = 1;
	c.token_id = t;
	urma_target_seg_t *s = urma_register_seg(ctx, &c);

	ASSERT_NE(s, nullptr);
	EXPECT_EQ(s->seg.token_id, t->token_id);
	EXPECT_EQ(urma_register_seg(ctx, &c), nullptr) << "one segment a token id";
	EXPECT_EQ(errno, EEXIST);
	EXPECT_EQ(urma_free_token_id(t), URMA_EAGAIN);
	EXPECT_EQ(urma_unregister_seg(s), URMA_SUCCESS);
	EXPECT_EQ(urma_free_token_id(t), URMA_SUCCESS);
}

TEST(Device, SaysWhatItCanDo)
{
	urma_device_attr_t attr;
	std::uint32_t n = 0;
	int count = 0;

	ASSERT_EQ(urma_query_device(device(), &attr), URMA_SUCCESS);
	EXPECT_EQ(attr.dev_cap.congestion_ctrl_alg, URMA_CC_NONE | URMA_CC_DCQCN | URMA_CC_LDCP);
	EXPECT_EQ(attr.dev_cap.feature.bs.uboe, 1u);
	EXPECT_EQ(attr.dev_cap.max_jetty, 65536u);
	EXPECT_EQ(attr.dev_cap.max_jfc_depth, 1u << 20);
	EXPECT_EQ(attr.dev_cap.max_write_size, 256u << 20);
	EXPECT_EQ(attr.port_attr[0].state, URMA_PORT_ACTIVE);
	urma_eid_info_t *eids = urma_get_eid_list(device(), &n);

	ASSERT_NE(eids, nullptr);
	EXPECT_GE(n, is_inproc() ? 2u : 1u);
	EXPECT_EQ(urma_get_device_by_eid(eids[0].eid, device()->type), device());
	urma_free_eid_list(eids);
	urma_device_t **list = urma_get_device_list(&count);

	ASSERT_NE(list, nullptr);
	EXPECT_GE(count, 1);
	urma_free_device_list(list);
	char none[] = "nothing";

	EXPECT_EQ(urma_get_device_by_name(none), nullptr);
	EXPECT_EQ(urma_create_context(device(), 1000), nullptr);
	EXPECT_EQ(errno, EINVAL);
}

TEST(Device, InitIsCountedOnce)
{
	ASSERT_EQ(urma_init(nullptr), URMA_SUCCESS);
	EXPECT_EQ(urma_init(nullptr), URMA_EEXIST);
	EXPECT_EQ(urma_uninit(), URMA_SUCCESS);
	EXPECT_EQ(urma_uninit(), URMA_FAIL);
}

TEST(States, FromErrorToResetToReadyAndOn)
{
	Pair p;
	urma_jetty_attr_t attr{ JETTY_STATE, 0, URMA_JETTY_STATE_SUSPENDED };

	EXPECT_EQ(urma_modify_jetty(p.a.jetty, &attr), URMA_EINVAL);
	attr.state = URMA_JETTY_STATE_ERROR;
	ASSERT_EQ(urma_modify_jetty(p.a.jetty, &attr), URMA_SUCCESS);
	const auto marker = p.a.next();

	ASSERT_TRUE(marker);
	EXPECT_EQ(marker->flag.bs.flush_err_done, 1);
	ASSERT_EQ(Wr(URMA_OPC_NOP, 5).post(p.a.jetty), URMA_SUCCESS);
	const auto flushed = p.a.next();

	ASSERT_TRUE(flushed);
	EXPECT_EQ(flushed->status, URMA_CR_WR_FLUSH_ERR);
	EXPECT_EQ(urma_flush_jetty(p.a.jetty, 1, nullptr), -1);
	for (End *e : { &p.a, &p.b }) {
		attr.state = URMA_JETTY_STATE_RESET;
		EXPECT_EQ(urma_unbind_jetty(e->jetty), URMA_SUCCESS);
		ASSERT_EQ(urma_modify_jetty(e->jetty, &attr), URMA_SUCCESS);
		attr.state = URMA_JETTY_STATE_READY;
		ASSERT_EQ(urma_modify_jetty(e->jetty, &attr), URMA_SUCCESS);
	}
	// the same jetties once more, whatever was left of before is gone
	p.a.bind();
	p.b.bind();
	ASSERT_EQ(Wr(URMA_OPC_WRITE, 8)
			  .local({ p.a.memory->at(0, 8) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(8);
}

TEST(States, BindTwiceAndUnbindTwice)
{
	Pair p;

	EXPECT_EQ(urma_bind_jetty(p.a.jetty, p.a.target), URMA_EEXIST);
	EXPECT_EQ(urma_unimport_jetty(p.a.target), URMA_EAGAIN);
	EXPECT_EQ(urma_delete_jetty(p.a.jetty), URMA_EAGAIN);
	EXPECT_EQ(urma_unbind_jetty(p.a.jetty), URMA_SUCCESS);
	EXPECT_EQ(urma_unbind_jetty(p.a.jetty), URMA_EINVAL);
}

TEST(States, ADeletedJettyLeavesNoRecords)
{
	Shape shape;
	Pair p;
	urma_cr_t cr;

	p.b.receive(1, p.b.memory->at(0, 8));
	Wr(URMA_OPC_SEND, 1).local({ p.a.memory->at(0, 8) }).post(p.a.jetty);
	p.a.expect(1);
	std::this_thread::sleep_for(std::chrono::milliseconds(20)); // it is in b's JFC now
	ASSERT_EQ(urma_unbind_jetty(p.b.jetty), URMA_SUCCESS);
	ASSERT_EQ(urma_delete_jetty(p.b.jetty), URMA_SUCCESS);
	p.b.jetty = nullptr;
	EXPECT_EQ(urma_poll_jfc(p.b.jfc, 1, &cr), 0);
}

TEST(Process, AnAddressInUseSaysByWhom)
{
	if (!is_inproc())
		GTEST_SKIP() << "only the in-process device's addresses have one owner";
	urma_context_t *mine = urma_create_context(device(), 0);

	ASSERT_NE(mine, nullptr);
	const pid_t child = fork();

	if (!child) {
		// another process: only exec'ed programs may use the library after fork()
		const char *self = "/proc/self/exe";

		setenv("GTEST_FILTER", "Process.DISABLED_OpensTheFirstEid", 1);
		setenv("GTEST_ALSO_RUN_DISABLED_TESTS", "1", 1);
		execl(self, self, nullptr);
		_exit(99);
	}
	int status = 0;

	ASSERT_EQ(waitpid(child, &status, 0), child);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(WEXITSTATUS(status), 0);
	EXPECT_EQ(urma_delete_context(mine), URMA_SUCCESS);
}

std::string said;

TEST(Process, DISABLED_OpensTheFirstEid)
{
	urma_log_set_level(URMA_VLOG_LEVEL_ERR);
	urma_register_log_func([](int, char *text) { said = text; });
	EXPECT_EQ(urma_create_context(device(), 0), nullptr);
	EXPECT_EQ(errno, EADDRINUSE);
	EXPECT_NE(said.find("by process " + std::to_string(getppid())), std::string::npos) << said;
	urma_unregister_log_func();
}

} // namespace
