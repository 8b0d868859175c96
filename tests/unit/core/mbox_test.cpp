// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Mailbox commands: every refusal, and the limits of objects. */
#include <functional>

#include <gtest/gtest.h>

#include "rig.hpp"

using namespace rig;

namespace
{
ubp_config tiny()
{
	ubp_config c;

	ubp_config_defaults(&c);
	c.max_jetty = 4;
	c.max_jfr = 4;
	c.max_jfc = 4;
	c.max_seg = 4;
	return c;
}

class Mbox : public testing::Test
{
      protected:
	ubsim::host h{ tiny() };
	ubsim::dma ring = h.alloc_dma(1 << 16);
	ubsim::dma rec = h.alloc_dma(4096);
	ubsim::memory m{ 0x1000, 4096, 12 };

	uboe_jfc_ctx jfc()
	{
		uboe_jfc_ctx c{};

		c.shift = 6;
		c.base = ring.bus;
		c.rec = rec.bus;
		return c;
	}
	uboe_jfr_ctx jfr()
	{
		uboe_jfr_ctx c{};

		c.shift = 6;
		c.base = ring.bus;
		c.idx = ring.bus + 8192;
		c.rec = rec.bus + 64;
		return c;
	}
	uboe_jetty_ctx jetty()
	{
		uboe_jetty_ctx c{};

		c.type = UBOE_JETTY_RC;
		c.sq_shift = 4;
		c.pd = pd;
		c.sq_base = ring.bus + 16384;
		c.page = rec.bus + 1024;
		c.tx_jfcn = 1;
		c.rx_jfcn = 2;
		c.jfrn = 1;
		return c;
	}
	uboe_rct_ctx rct(u32 j)
	{
		uboe_rct_ctx c{};

		c.shift = 6;
		c.jetty = j;
		return c;
	}
	uboe_tp_ctx tp(u32 j)
	{
		uboe_tp_ctx c{};

		std::memcpy(c.laddr, addr(false, 1).b.data(), 16);
		std::memcpy(c.raddr, addr(false, 2).b.data(), 16);
		c.jetty = j;
		c.rmt_jetty = 9;
		c.mtu = 1024;
		c.retrans = 0xff;
		return c;
	}
	/* Everything that a jetty needs, and jetty 2 */
	void objects()
	{
		ASSERT_EQ(h.create(UBOE_MBOX_JFC, 1, jfc()), 0);
		ASSERT_EQ(h.create(UBOE_MBOX_JFC, 2, jfc()), 0);
		ASSERT_EQ(h.create(UBOE_MBOX_JFR, 1, jfr()), 0);
		ASSERT_EQ(h.create(UBOE_MBOX_JETTY, 2, jetty()), 0);
	}
	void gone()
	{
		h.destroy(UBOE_MBOX_TP, UB_TPN_RC(2));
		h.destroy(UBOE_MBOX_JETTY, 2);
		h.destroy(UBOE_MBOX_JFR, 1);
		h.destroy(UBOE_MBOX_JFC, 1);
		h.destroy(UBOE_MBOX_JFC, 2);
	}
	int state(u8 s, u32 mask = UBOE_JM_STATE)
	{
		uboe_jetty_ctx c{};

		c.state = s;
		c.tpn = UB_TPN_RC(2);
		return h.modify(UBOE_MBOX_JETTY, 2, c, mask);
	}
	int raw(u32 cmd, u32 tag, u32 in_len, u32 out_len)
	{
		u8 in[512] = {}, out[512] = {};

		return ubp_mbox_exec(h.dev(), cmd, tag, in, in_len, out, out_len);
	}
	template <class T>
	void refuses(u32 obj, u32 tag, T good, int err, std::function<void(T &)> spoil)
	{
		std::size_t live = h.live_allocations();

		spoil(good);
		EXPECT_EQ(h.create(obj, tag, good), err);
		h.reap();
		EXPECT_EQ(h.live_allocations(), live);
	}
};

TEST_F(Mbox, CommandsThatDoNotExist)
{
	for (u32 cmd = 0; cmd < 0x400; cmd++) {
		u32 verb = cmd & 15, obj = cmd & 0xf0;
		bool known = obj == UBOE_MBOX_JETTY || obj == UBOE_MBOX_RCT ||
			     obj == UBOE_MBOX_JFC || obj == UBOE_MBOX_JFR || obj == UBOE_MBOX_TP ||
			     obj == UBOE_MBOX_SEG || obj == UBOE_MBOX_JGRP || obj == UBOE_MBOX_TM ||
			     obj == UBOE_MBOX_LOCKBUF || obj == UBOE_MBOX_ENTITY;
		int want = -EINVAL;

		if (cmd <= 0xff && verb >= 4 && verb <= 7) {
			if (!known)
				want = -EOPNOTSUPP;
			else if (verb == 5 && obj == UBOE_MBOX_LOCKBUF)
				want = -EOPNOTSUPP;
			else if (obj == UBOE_MBOX_ENTITY && (verb == 4 || verb == 7))
				want = -EOPNOTSUPP; /* it is there as long as the device is */
			else if (verb == 7)
				want = -ENOENT;
		}
		EXPECT_EQ(raw(cmd, 1, 0, 0), want) << std::hex << cmd;
	}
	EXPECT_EQ(raw(0xffffffff, 1, 0, 0), -EINVAL);
}

TEST_F(Mbox, LengthsAreExact)
{
	struct {
		u32 obj;
		u32 size;
		bool modify;
	} rows[] = {
		{ UBOE_MBOX_JETTY, 256, true }, { UBOE_MBOX_RCT, 64, true },
		{ UBOE_MBOX_JFC, 128, true },	{ UBOE_MBOX_JFR, 128, true },
		{ UBOE_MBOX_TP, 128, true },	{ UBOE_MBOX_SEG, 128, false },
	};

	for (const auto &r : rows) {
		for (u32 n : { 0u, 4u, r.size - 1, r.size + 1, r.size + 4, 500u })
			EXPECT_EQ(raw(r.obj | UBOE_MBOX_CREATE, 1, n, 0), -EINVAL) << r.obj << n;
		if (r.modify)
			for (u32 n : { 0u, r.size, r.size + 3, r.size + 5, 500u })
				EXPECT_EQ(raw(r.obj | UBOE_MBOX_MODIFY, 1, n, 0), -EINVAL);
		if (r.modify)
			EXPECT_EQ(raw(r.obj | UBOE_MBOX_MODIFY, 1, r.size + 4, 0), -ENOENT);
		for (u32 n : { 0u, r.size - 1 })
			EXPECT_EQ(raw(r.obj | UBOE_MBOX_QUERY, 1, 0, n), -EINVAL);
		EXPECT_EQ(raw(r.obj | UBOE_MBOX_QUERY, 1, 0, r.size), -ENOENT);
		for (u32 tag : { 0u, 3u, 4u, 0x800000u, 0x8fffffu, 0xffffffffu })
			EXPECT_EQ(raw(r.obj | UBOE_MBOX_DESTROY, tag, 0, 0), -ENOENT);
	}
}

TEST_F(Mbox, JfcRefusals)
{
	using ctx = uboe_jfc_ctx;
	const u32 o = UBOE_MBOX_JFC;

	for (u8 s : { 0, 5, 21, 32, 64, 255 })
		refuses<ctx>(o, 1, jfc(), -EINVAL, [s](ctx &c) { c.shift = s; });
	refuses<ctx>(o, 1, jfc(), -EOPNOTSUPP, [](ctx &c) { c.flags = 2; });
	refuses<ctx>(o, 1, jfc(), -EINVAL, [](ctx &c) { c.moderate_count = 1024; });
	refuses<ctx>(o, 1, jfc(), -EINVAL, [](ctx &c) { c.moderate_period = 1; });
	refuses<ctx>(o, 1, jfc(), -EINVAL, [](ctx &c) { c.base = 0; });
	refuses<ctx>(o, 1, jfc(), -EINVAL, [](ctx &c) { c.base += 32; });
	refuses<ctx>(o, 1, jfc(), -EINVAL, [](ctx &c) { c.rec -= 4; });
	refuses<ctx>(o, 1, jfc(), -EINVAL, [this](ctx &c) { c.base = ring.bus + ring.len - 64; });
	refuses<ctx>(o, 1, jfc(), -EINVAL, [](ctx &c) { c.base = ~0ull; });
	refuses<ctx>(o, 1, jfc(), -EINVAL, [this](ctx &c) { c.rec = rec.bus + rec.len; });
	refuses<ctx>(o, 4, jfc(), -EINVAL, [](ctx &) {});
	refuses<ctx>(o, 0xffffffff, jfc(), -EINVAL, [](ctx &) {});
	ASSERT_EQ(h.create(o, 1, jfc()), 0);
	refuses<ctx>(o, 1, jfc(), -EEXIST, [](ctx &) {});
	EXPECT_EQ(h.destroy(o, 1), 0);
	EXPECT_EQ(h.destroy(o, 1), -ENOENT);
}

TEST_F(Mbox, JfrRefusals)
{
	using ctx = uboe_jfr_ctx;
	const u32 o = UBOE_MBOX_JFR;

	for (u8 s : { 0, 5, 16, 64, 255 })
		refuses<ctx>(o, 1, jfr(), -EINVAL, [s](ctx &c) { c.shift = s; });
	refuses<ctx>(o, 1, jfr(), -EINVAL, [](ctx &c) { c.sge_shift = 3; });
	refuses<ctx>(o, 1, jfr(), -EINVAL, [](ctx &c) { c.flags = 1; });
	refuses<ctx>(o, 1, jfr(), -EINVAL, [](ctx &c) { c.limit = 64; });
	refuses<ctx>(o, 1, jfr(), -EINVAL, [](ctx &c) { c.base = 1; });
	refuses<ctx>(o, 1, jfr(), -EINVAL, [](ctx &c) { c.idx = 1; });
	refuses<ctx>(o, 1, jfr(), -EINVAL, [](ctx &c) { c.rec = 1; });
	refuses<ctx>(o, 1, jfr(), -EINVAL, [](ctx &c) { c.base += 16; });
	refuses<ctx>(o, 1, jfr(), -EINVAL, [](ctx &c) { c.idx -= 32; });
	refuses<ctx>(o, 1, jfr(), -EINVAL, [](ctx &c) { c.rec += 3; });
	refuses<ctx>(o, 4, jfr(), -EINVAL, [](ctx &) {});
	ASSERT_EQ(h.create(o, 1, jfr()), 0);
	refuses<ctx>(o, 1, jfr(), -EEXIST, [](ctx &) {});
	EXPECT_EQ(h.modify(o, 1, jfr(), 2), -EOPNOTSUPP);
	EXPECT_EQ(h.modify(o, 2, jfr(), 1), -ENOENT);
	EXPECT_EQ(h.destroy(o, 1), 0);
}

TEST_F(Mbox, SegmentRefusals)
{
	using ctx = uboe_seg_ctx;
	const u32 o = UBOE_MBOX_SEG;
	ctx good{};

	good.len = 4096;
	good.chunk_shift = 12;
	good.flags = UBOE_SEG_IDENTITY;
	refuses<ctx>(o, 1, good, -EINVAL, [](ctx &c) { c.access = 0x10; });
	refuses<ctx>(o, 1, good, -EINVAL, [](ctx &c) { c.flags = 4; });
	refuses<ctx>(o, 1, good, -EINVAL, [](ctx &c) { c.chunk_shift = 64; });
	refuses<ctx>(o, 1, good, -EINVAL, [](ctx &c) { c.va = ~0ull, c.len = 1; });
	refuses<ctx>(o, 1, good, -EINVAL, [](ctx &c) { c.va = 1, c.len = ~0ull; });
	refuses<ctx>(o, 1, good, -EINVAL, [](ctx &c) { c.flags = 0, c.pbl = 99; });
	refuses<ctx>(o, 4, good, -EINVAL, [](ctx &) {});
	ASSERT_EQ(h.register_memory(1, 7, pd, 0, m), 0);
	EXPECT_EQ(h.register_memory(1, 7, pd, 0, m), -EEXIST);
	EXPECT_EQ(h.register_memory(4, 7, pd, 0, m), -EINVAL);
	EXPECT_EQ(h.live_segments(), 1u);
	EXPECT_EQ(h.destroy(o, 1), 0);
	EXPECT_EQ(h.live_segments(), 0u);
}

TEST_F(Mbox, JettyRefusals)
{
	using ctx = uboe_jetty_ctx;
	const u32 o = UBOE_MBOX_JETTY;

	objects();
	for (u8 t : { 4, 255 })
		refuses<ctx>(o, 1, jetty(), -EOPNOTSUPP, [t](ctx &c) { c.type = t; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.type = UBOE_JETTY_RAW; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.raw = UBOE_RAW_UB; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.sq_shift = 16; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.state = UBOE_JS_RTR; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.flags = 0xc0; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.flags = UBOE_JETTY_SEND_ONLY; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.flags = UBOE_JETTY_LOCKBUF; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.sl = 16; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.sq_base = 0; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.sq_base -= 32; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.page = 0; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.page += 1; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.tx_jfcn = 3; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.rx_jfcn = 0xffffffff; });
	refuses<ctx>(o, 1, jetty(), -EINVAL, [](ctx &c) { c.jfrn = 2; });
	refuses<ctx>(o, 4, jetty(), -EINVAL, [](ctx &) {});
	refuses<ctx>(o, 2, jetty(), -EEXIST, [](ctx &) {});
	/* what it uses stays while it lives */
	EXPECT_EQ(h.destroy(UBOE_MBOX_JFC, 1), -EBUSY);
	EXPECT_EQ(h.destroy(UBOE_MBOX_JFC, 2), -EBUSY);
	EXPECT_EQ(h.destroy(UBOE_MBOX_JFR, 1), -EBUSY);
	EXPECT_EQ(h.destroy(o, 2), 0);
	EXPECT_EQ(h.destroy(UBOE_MBOX_JFC, 1), 0);
	EXPECT_EQ(h.destroy(UBOE_MBOX_JFC, 2), 0);
	EXPECT_EQ(h.destroy(UBOE_MBOX_JFR, 1), 0);
	h.reap();
}

TEST_F(Mbox, JettyModifyRefusals)
{
	uboe_jetty_ctx c{};
	const u32 o = UBOE_MBOX_JETTY;

	objects();
	EXPECT_EQ(h.modify(o, 3, c, 0), -ENOENT);
	EXPECT_EQ(h.modify(o, 2, c, 0), 0);
	EXPECT_EQ(h.modify(o, 2, c, 0x80), -EOPNOTSUPP);
	c.rnr_timer = 20;
	EXPECT_EQ(h.modify(o, 2, c, UBOE_JM_RNR_TIMER), -EINVAL);
	c.rnr_retry = 8;
	EXPECT_EQ(h.modify(o, 2, c, UBOE_JM_RNR_RETRY), -EINVAL);
	c.max_rd = 129;
	EXPECT_EQ(h.modify(o, 2, c, UBOE_JM_MAX_RD), -EINVAL);
	EXPECT_EQ(h.modify(o, 2, c, UBOE_JM_TPN), -EINVAL); /* no channel yet */
	c.rnr_timer = 19;
	c.rnr_retry = 7;
	c.max_rd = 128;
	EXPECT_EQ(h.modify(o, 2, c, UBOE_JM_RNR_TIMER | UBOE_JM_RNR_RETRY | UBOE_JM_MAX_RD), 0);
	ASSERT_EQ(h.query(o, 2, c), 0);
	EXPECT_EQ(c.rnr_timer, 19);
	EXPECT_EQ(c.max_rd, 128);
	/* states */
	EXPECT_EQ(state(UBOE_JS_READY), -EINVAL);
	EXPECT_EQ(state(UBOE_JS_RTR), -EINVAL);
	EXPECT_EQ(state(UBOE_JS_INIT), 0);
	EXPECT_EQ(state(UBOE_JS_INIT), 0);
	EXPECT_EQ(state(UBOE_JS_RTR), -EINVAL); /* still no channel */
	EXPECT_EQ(state(UBOE_JS_SUSPEND), -EOPNOTSUPP);
	EXPECT_EQ(state(UBOE_JS_RESET), -EOPNOTSUPP);
	EXPECT_EQ(state(77), -EOPNOTSUPP);
	ASSERT_EQ(h.create(UBOE_MBOX_TP, UB_TPN_RC(2), tp(2)), 0);
	c.tpn = UB_TPN_RC(3);
	EXPECT_EQ(h.modify(o, 2, c, UBOE_JM_TPN), -EINVAL);
	h.no_memory = true;
	EXPECT_EQ(state(UBOE_JS_RTR), -ENOMEM);
	h.no_memory = false;
	EXPECT_EQ(state(UBOE_JS_RTR, UBOE_JM_STATE | UBOE_JM_TPN), 0);
	EXPECT_EQ(state(UBOE_JS_RTR), -EINVAL);
	EXPECT_EQ(state(UBOE_JS_INIT), -EINVAL);
	EXPECT_EQ(state(UBOE_JS_READY), 0);
	EXPECT_EQ(state(UBOE_JS_READY), 0);
	EXPECT_EQ(state(UBOE_JS_ERROR), 0);
	EXPECT_EQ(state(UBOE_JS_READY), -EINVAL);
	EXPECT_EQ(state(UBOE_JS_ERROR), 0);
	gone();
}

TEST_F(Mbox, RctRefusals)
{
	using ctx = uboe_rct_ctx;
	const u32 o = UBOE_MBOX_RCT;
	ctx q{};

	objects();
	refuses<ctx>(o, 3, rct(3), -ENOENT, [](ctx &) {});
	refuses<ctx>(o, 2, rct(2), -EINVAL, [](ctx &c) { c.shift = 5; });
	refuses<ctx>(o, 2, rct(2), -EINVAL, [](ctx &c) { c.shift = 16; });
	refuses<ctx>(o, 2, rct(3), -EINVAL, [](ctx &) {});
	refuses<ctx>(o, 2, rct(2), -EINVAL, [](ctx &c) { c.watermark = 65; });
	refuses<ctx>(o, 2, rct(2), -EINVAL, [](ctx &c) { c.shift = 0, c.watermark = 1; });
	EXPECT_EQ(h.query(o, 2, q), -ENOENT);
	EXPECT_EQ(h.destroy(o, 2), -ENOENT);
	ASSERT_EQ(h.create(o, 2, rct(2)), 0);
	refuses<ctx>(o, 2, rct(2), -EEXIST, [](ctx &) {});
	ASSERT_EQ(h.query(o, 2, q), 0);
	EXPECT_EQ(q.shift, 6);
	EXPECT_EQ(q.watermark, 64u);
	EXPECT_EQ(q.used, 0u);
	ASSERT_EQ(h.create(UBOE_MBOX_TP, UB_TPN_RC(2), tp(2)), 0);
	EXPECT_EQ(h.destroy(o, 2), -EBUSY);
	EXPECT_EQ(h.destroy(UBOE_MBOX_TP, UB_TPN_RC(2)), 0);
	EXPECT_EQ(h.destroy(o, 2), 0);
	gone();
}

TEST_F(Mbox, TpRefusals)
{
	using ctx = uboe_tp_ctx;
	const u32 o = UBOE_MBOX_TP, t = UB_TPN_RC(2);
	ctx q{};

	objects();
	refuses<ctx>(o, UB_TPN_RC(3), tp(3), -ENOENT, [](ctx &) {});
	refuses<ctx>(o, UB_TPN_RC(3), tp(2), -EINVAL, [](ctx &) {});
	refuses<ctx>(o, 2, tp(2), -EINVAL, [](ctx &) {});
	for (u16 mtu : { 0, 512, 1023, 1025, 1536, 16384 })
		refuses<ctx>(o, t, tp(2), -EINVAL, [mtu](ctx &c) { c.mtu = mtu; });
	for (u16 win : { 1, 32, 96, 4096 })
		refuses<ctx>(o, t, tp(2), -EINVAL, [win](ctx &c) { c.window = win; });
	/* what Ethernet has no fields for, and what nobody knows */
	for (u8 cc : { 2, 4, 5, 6, 7, 8, 255 })
		refuses<ctx>(o, t, tp(2), -EINVAL, [cc](ctx &c) { c.cc = cc; });
	refuses<ctx>(o, t, tp(2), -EINVAL,
		     [](ctx &c) { std::memcpy(c.raddr, addr(true, 2).b.data(), 16); });
	h.no_memory = true;
	refuses<ctx>(o, t, tp(2), -ENOMEM, [](ctx &) {});
	h.no_memory = false;
	EXPECT_EQ(h.live_paths(), 0u);
	ASSERT_EQ(h.create(o, t, tp(2)), 0);
	refuses<ctx>(o, t, tp(2), -EEXIST, [](ctx &) {});
	EXPECT_EQ(h.live_paths(), 1u);
	EXPECT_EQ(h.modify(o, t, q, 2), -EOPNOTSUPP);
	EXPECT_EQ(h.modify(o, UB_TPN_RC(3), q, 1), -ENOENT);
	q.timeout_ns = 1;
	EXPECT_EQ(h.modify(o, t, q, UBOE_TM_TIMEOUT), 0);
	ASSERT_EQ(h.query(o, t, q), 0);
	EXPECT_EQ(q.timeout_ns, h.dev()->cfg.lost_min_ms * 1000000ull);
	EXPECT_EQ(q.jetty, 2u);
	EXPECT_EQ(q.rmt_jetty, 9u);
	EXPECT_EQ(q.mtu, 1024);
	EXPECT_EQ(h.query(o, 2, q), -ENOENT);
	EXPECT_EQ(h.destroy(o, t), 0);
	EXPECT_EQ(h.destroy(o, t), -ENOENT);
	EXPECT_EQ(h.live_paths(), 0u);
	/* the jetty goes first: its channel is what is left */
	ASSERT_EQ(h.create(o, t, tp(2)), 0);
	EXPECT_EQ(h.destroy(UBOE_MBOX_JETTY, 2), 0);
	EXPECT_EQ(h.destroy(o, t), 0);
	gone();
}

TEST_F(Mbox, NothingWithoutMemory)
{
	h.no_memory = true;
	EXPECT_EQ(h.create(UBOE_MBOX_JFC, 1, jfc()), -ENOMEM);
	EXPECT_EQ(h.create(UBOE_MBOX_JFR, 1, jfr()), -ENOMEM);
	EXPECT_EQ(h.register_memory(1, 7, pd, 0, m), -ENOMEM);
	h.no_memory = false;
	objects();
	h.no_memory = true;
	EXPECT_EQ(h.create(UBOE_MBOX_JETTY, 3, jetty()), -ENOMEM);
	EXPECT_EQ(h.create(UBOE_MBOX_RCT, 2, rct(2)), -ENOMEM);
	h.no_memory = false;
	gone();
}

TEST_F(Mbox, AsManyAsTheLimitAndNoMore)
{
	for (u32 i = 0; i < 4; i++) {
		EXPECT_EQ(h.create(UBOE_MBOX_JFC, i, jfc()), 0);
		EXPECT_EQ(h.create(UBOE_MBOX_JFR, i, jfr()), 0);
		EXPECT_EQ(h.register_memory(i, 7, pd, 0, m), 0);
	}
	for (u32 i = 0; i < 4; i++)
		EXPECT_EQ(h.create(UBOE_MBOX_JETTY, i, jetty()), 0);
	for (u32 id : { 4u, 5u, 512u, 1u << 20, 0xffffffffu }) {
		EXPECT_EQ(h.create(UBOE_MBOX_JFC, id, jfc()), -EINVAL);
		EXPECT_EQ(h.create(UBOE_MBOX_JFR, id, jfr()), -EINVAL);
		EXPECT_EQ(h.register_memory(id, 7, pd, 0, m), -EINVAL);
		EXPECT_EQ(h.create(UBOE_MBOX_JETTY, id, jetty()), -EINVAL);
	}
	for (u32 i = 0; i < 4; i++)
		EXPECT_EQ(h.destroy(UBOE_MBOX_JETTY, i), 0) << i;
	for (u32 i = 0; i < 4; i++) {
		EXPECT_EQ(h.destroy(UBOE_MBOX_JFC, i), 0);
		EXPECT_EQ(h.destroy(UBOE_MBOX_JFR, i), 0);
		EXPECT_EQ(h.destroy(UBOE_MBOX_SEG, i), 0);
	}
}

TEST_F(Mbox, HomePointers)
{
	int x;

	objects();
	ASSERT_EQ(h.create(UBOE_MBOX_TP, UB_TPN_RC(2), tp(2)), 0);
	EXPECT_EQ(ubp_set_home(h.dev(), UBOE_MBOX_JETTY, 2, &x), 0);
	EXPECT_EQ(ubp_jetty_home(ubp_jetty_find(h.dev(), 2)), &x);
	EXPECT_EQ(ubp_set_home(h.dev(), UBOE_MBOX_TP, UB_TPN_RC(2), &x), 0);
	EXPECT_EQ(ubp_tp_home(ubp_tp_find(h.dev(), UB_TPN_RC(2))), &x);
	EXPECT_EQ(ubp_set_home(h.dev(), UBOE_MBOX_JFC, 1, &x), 0);
	EXPECT_EQ(ubp_set_home(h.dev(), UBOE_MBOX_JFR, 1, &x), 0);
	EXPECT_EQ(ubp_set_home(h.dev(), UBOE_MBOX_JETTY, 3, &x), -ENOENT);
	EXPECT_EQ(ubp_set_home(h.dev(), UBOE_MBOX_JFC, 3, &x), -ENOENT);
	EXPECT_EQ(ubp_set_home(h.dev(), UBOE_MBOX_JFR, 3, &x), -ENOENT);
	EXPECT_EQ(ubp_set_home(h.dev(), UBOE_MBOX_TP, 2, &x), -ENOENT);
	EXPECT_EQ(ubp_set_home(h.dev(), UBOE_MBOX_SEG, 1, &x), -EINVAL);
	EXPECT_EQ(ubp_kick_id(h.dev(), 3), -ENOENT);
	EXPECT_EQ(ubp_kick_id(h.dev(), 2), 0);
	gone();
}

TEST(Device, SettingsOutOfRange)
{
	ubp_ops ops{};
	auto bad = [&](std::function<void(ubp_config &)> spoil) {
		ubp_dev d{};

		d.ops = &ops;
		ubp_config_defaults(&d.cfg);
		spoil(d.cfg);
		return ubp_dev_init(&d);
	};

	for (u16 w : { 0, 32, 65, 4096 })
		EXPECT_EQ(bad([w](ubp_config &c) { c.window = w; }), -EINVAL);
	EXPECT_EQ(bad([](ubp_config &c) { c.budget = 0; }), -EINVAL);
	EXPECT_EQ(bad([](ubp_config &c) { c.slice = 0; }), -EINVAL);
	EXPECT_EQ(bad([](ubp_config &c) { c.ack_every = 0; }), -EINVAL);
	EXPECT_EQ(bad([](ubp_config &c) { c.ack_every = 65; }), -EINVAL);
	EXPECT_EQ(bad([](ubp_config &c) { c.rto_min_us = 0; }), -EINVAL);
	EXPECT_EQ(bad([](ubp_config &c) { c.rto_max_us = c.rto_min_us - 1; }), -EINVAL);
	EXPECT_EQ(bad([](ubp_config &c) { c.hop_limit = 0; }), -EINVAL);
	EXPECT_EQ(bad([](ubp_config &c) { c.udp_port = 0; }), -EINVAL);
	EXPECT_EQ(bad([](ubp_config &c) { c.max_jetty = 0; }), -EINVAL);
	EXPECT_EQ(bad([](ubp_config &c) { c.max_jetty = (1u << 20) + 1; }), -EINVAL);
}

TEST(Device, EveryCounterHasItsOwnName)
{
	std::map<std::string, unsigned> seen;

	for (u32 i = 0; i < UBP_S_MAX; i++) {
		const char *n = ubp_stat_name(i);

		ASSERT_NE(n, nullptr) << i;
		EXPECT_EQ(seen.count(n), 0u) << n;
		seen[n] = i;
		EXPECT_EQ(std::string(n).starts_with("drop_"), i >= UBP_S_DROP_FIRST) << n;
	}
	EXPECT_EQ(ubp_stat_name(UBP_S_MAX), nullptr);
}
} /* namespace */
