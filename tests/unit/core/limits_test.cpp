// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An entity that is full: 65,536 jetties, JFRs and jetty groups, numbered as homes
 * number them. One more is refused, and the last ones move data.
 */
#include <gtest/gtest.h>

#include "rig.hpp"

using namespace rig;

namespace
{

constexpr u32 many = 65536;
constexpr u32 first_jetty = 1024; /* below it: the well-known ones */
constexpr u32 last_jetty = first_jetty + many - 1;
constexpr u32 token = 0x5eed;
constexpr std::uint64_t inbox = 32768;

ubp_config full_config()
{
	ubp_config c;

	ubp_config_defaults(&c);
	c.max_jetty = last_jetty + 1;
	c.max_jfr = many + 1; /* number 0 is nobody's */
	c.max_jgrp = many + 1;
	return c;
}

ubsim::jetty_options um(address self)
{
	ubsim::jetty_options o;

	o.type = UBOE_JETTY_UM;
	o.eid = self;
	o.mtu = 1024;
	o.flags = UBOE_JETTY_TOKEN;
	o.token = token;
	return o;
}

/*
 * All but the last of each kind share their rings, which nobody uses: the device looks
 * at none before a message or a kick, and memory is not what is tested.
 */
class crowd
{
      public:
	crowd()
		: ring(h.alloc_dma(64 * 2 * UBOE_SGE_SIZE)), index(h.alloc_dma(64 * 4)),
		  record(h.alloc_dma(sizeof(uboe_jfr_rec))), sq(h.alloc_dma(UBOE_BB)),
		  page(h.alloc_dma(UBOE_JPAGE_SOFT_STRIDE))
	{
		h.register_memory(seg_id, seg_token, pd, access_all, m);
	}
	~crowd()
	{
		for (const ubsim::dma &d : { ring, index, record, sq, page })
			h.free_dma(d);
		h.destroy(UBOE_MBOX_SEG, seg_id);
	}

	int create_jfr(u32 id)
	{
		uboe_jfr_ctx c{};

		c.shift = 6;
		c.sge_shift = 1;
		c.flags = UBOE_JFR_UM;
		c.jfcn = rx.id();
		c.pd = pd;
		c.base = ring.bus;
		c.idx = index.bus;
		c.rec = record.bus;
		return h.create(UBOE_MBOX_JFR, id, c);
	}
	int create_jetty(u32 id, u32 jfr)
	{
		uboe_jetty_ctx c{};

		c.type = UBOE_JETTY_UM;
		std::memcpy(c.eid, self.b.data(), 16);
		c.mtu = 1024;
		c.pd = pd;
		c.sq_base = sq.bus;
		c.page = page.bus;
		c.tx_jfcn = tx.id();
		c.rx_jfcn = rx.id();
		c.jfrn = jfr;
		return h.create(UBOE_MBOX_JETTY, id, c);
	}
	int create_group(u32 id)
	{
		uboe_jgrp_ctx c{};

		c.type = UBOE_JETTY_UM;
		c.pd = pd;
		return h.create(UBOE_MBOX_JGRP, id, c);
	}
	int change(u32 group, u32 jetty, u32 mask)
	{
		uboe_jgrp_ctx c{};

		c.member = jetty;
		return h.modify(UBOE_MBOX_JGRP, group, c, mask);
	}

	host h{ full_config() };
	address self = addr(false, 2);
	ubsim::jfc tx{ h, 1, 6 };
	ubsim::jfc rx{ h, 2, 6 };
	ubsim::memory m{ 0x10000, 1 << 16, 12 };
	ubsim::dma ring, index, record, sq, page;
};

/* Everything but the last of each kind; those are the caller's */
void fill(crowd &c)
{
	unsigned bad = 0;

	for (u32 n = 1; n < many; n++) {
		const u32 jetty = first_jetty + n - 1;

		bad += c.create_jfr(n) != 0;
		bad += c.create_jetty(jetty, n) != 0;
		bad += c.create_group(n) != 0;
		bad += c.change(n, jetty, UBOE_GM_JOIN) != 0;
	}
	ASSERT_EQ(bad, 0u);
}

void empty(crowd &c)
{
	unsigned bad = 0;

	for (u32 n = 1; n < many; n++) {
		const u32 jetty = first_jetty + n - 1;

		bad += c.change(n, jetty, UBOE_GM_LEAVE) != 0;
		bad += c.h.destroy(UBOE_MBOX_JGRP, n) != 0;
		bad += c.h.destroy(UBOE_MBOX_JETTY, jetty) != 0;
		bad += c.h.destroy(UBOE_MBOX_JFR, n) != 0;
	}
	ASSERT_EQ(bad, 0u);
	c.h.reap();
}

/* Somebody who sends to a number of another entity */
struct sender {
	host h;
	ubsim::jfc tx{ h, 1, 6 };
	ubsim::jfr r{ h, 1, 6, 1, pd };
	ubsim::memory m{ 0x10000, 1 << 16, 12 };
	ubsim::rc q{ h, 0x101, tx, tx, r, um(addr(false, 1)) };

	sender()
	{
		h.register_memory(seg_id, seg_token, pd, access_all, m);
		q.to_state(UBOE_JS_INIT);
		q.to_state(UBOE_JS_READY);
	}
	~sender() { h.destroy(UBOE_MBOX_SEG, seg_id); }

	/* The packet of @text */
	bytes packet(const std::string &text, address to, u8 type, u32 id)
	{
		ubsim::send_wr w;

		m.write(0, text.data(), text.size());
		w.op = UBOE_SQE_SEND;
		w.sges = { { m.va(), static_cast<u32>(text.size()), key } };
		w.token = token;
		w.rmt = to;
		w.rmt_type = type;
		w.rmt_id = id;
		q.retire(q.post(w));
		while (tx.poll())
			;
		EXPECT_EQ(h.out().size(), 1u);
		bytes p = h.out().empty() ? bytes() : h.out()[0].data;

		h.out().clear();
		return p;
	}
};

/* A message to @id arrives in the last JFR, and its completion names @by */
void arrives(crowd &c, ubsim::jfr &last, sender &from, const std::string &text, u8 type, u32 id,
	     u32 by)
{
	const ubsim::sge buffer{ c.m.va() + inbox, 2048, key };
	moved counters(c.h);

	last.post(std::span(&buffer, 1));
	c.h.receive(from.packet(text, c.self, type, id));
	EXPECT_EQ(counters.drops(), "");
	const auto e = c.rx.poll();

	ASSERT_TRUE(e) << text;
	EXPECT_EQ(status(*e), unsigned(UBOE_CQE_OK));
	EXPECT_EQ(e->w1 >> 16 | (e->w2 & UBOE_CQE_ID_HI) << 16, by) << text;
	EXPECT_EQ(e->byte_cnt, text.size());
	EXPECT_EQ(c.m.compare(inbox, text.data(), text.size()), text.size());
	EXPECT_TRUE(last.done(e->w1 & UBOE_CQE_ENTRY));
}

TEST(Limits, AFullEntity)
{
	crowd c;
	const std::size_t before = c.h.live_allocations();
	sender from;

	fill(c);
	if (HasFatalFailure())
		return;
	{
		ubsim::jfr r(c.h, many, 6, 1, pd, UBOE_JFR_UM | UBOE_JFR_TOKEN, c.rx.id(), token);
		ubsim::rc q(c.h, last_jetty, c.tx, c.rx, r, um(c.self));

		ASSERT_EQ(c.create_group(many), 0);
		ASSERT_EQ(c.change(many, last_jetty, UBOE_GM_JOIN), 0);
		ASSERT_EQ(q.to_state(UBOE_JS_INIT), 0);
		ASSERT_EQ(q.to_state(UBOE_JS_READY), 0);

		const std::size_t full = c.h.live_allocations();

		EXPECT_EQ(c.create_jfr(many + 1), -EINVAL);
		EXPECT_EQ(c.create_jetty(last_jetty + 1, many), -EINVAL);
		EXPECT_EQ(c.create_group(many + 1), -EINVAL);
		EXPECT_EQ(c.create_jfr(many), -EEXIST);
		EXPECT_EQ(c.create_jetty(last_jetty, many), -EEXIST);
		EXPECT_EQ(c.create_group(many), -EEXIST);
		c.h.reap();
		EXPECT_EQ(c.h.live_allocations(), full) << "a refused one leaves nothing";

		arrives(c, r, from, "to the last jetty", UBOE_RMT_JETTY, last_jetty, last_jetty);
		arrives(c, r, from, "to the last JFR", UBOE_RMT_JFR, many, many);
		arrives(c, r, from, "to the last group", UBOE_RMT_GROUP, many, last_jetty);
		EXPECT_EQ(c.change(many, last_jetty, UBOE_GM_LEAVE), 0);
		EXPECT_EQ(c.h.destroy(UBOE_MBOX_JGRP, many), 0);
	}
	empty(c);
	EXPECT_LT(c.h.live_allocations(), before + 1000) << "but for leaves of the tables";
}

} // namespace
