// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Unreliable messages: what arrives, what is dropped under which name, and what
 * peers and programs that lie can do with them.
 */
#include <gtest/gtest.h>

#include "rig.hpp"

using namespace rig;

namespace
{

constexpr u32 mtu = 1024;
constexpr u32 um_token = 0x5eed;

/* A host that has no room for packets while it is told so, and knows some ways */
class um_host final : public ubsim::host
{
      public:
	using ubsim::host::host;

	bool tx_room(ubp_path &) override { return room; }
	std::uint32_t way_mtu(const ubp_path &) override
	{
		asked++;
		return way;
	}

	bool room = true;
	std::uint32_t way = UB_MTU_MAX;
	unsigned asked = 0;
};

ubsim::jetty_options um_options(address self, std::uint8_t flags)
{
	ubsim::jetty_options o;

	o.type = UBOE_JETTY_UM;
	o.eid = self;
	o.mtu = mtu;
	o.flags = flags;
	o.token = um_token;
	o.user = 0x1122334455667788;
	return o;
}

struct um_end {
	um_host h;
	address self;
	ubsim::jfc tx{ h, 1, 6 };
	ubsim::jfc rx{ h, 2, 6 };
	ubsim::jfr r{ h, 1, 6, 1, pd, UBOE_JFR_UM | UBOE_JFR_TOKEN, 2, um_token };
	ubsim::memory m{ 0x10000, 1 << 16, 12 };
	std::unique_ptr<ubsim::rc> q;
	std::uint32_t id;

	um_end(address a, std::uint32_t jetty, std::uint8_t flags = UBOE_JETTY_TOKEN)
		: self(a), id(jetty)
	{
		h.register_memory(seg_id, seg_token, pd, access_all, m);
		q = std::make_unique<ubsim::rc>(h, jetty, tx, rx, r, um_options(a, flags));
		EXPECT_EQ(q->to_state(UBOE_JS_INIT), 0);
		EXPECT_EQ(q->to_state(UBOE_JS_READY), 0);
	}
	~um_end()
	{
		q.reset();
		h.destroy(UBOE_MBOX_SEG, seg_id);
		EXPECT_TRUE(m.canaries_ok());
		EXPECT_EQ(h.live_paths(), 0u);
		EXPECT_EQ(h.live_buffers(), 0u);
	}
	std::uint8_t state()
	{
		uboe_jetty_ctx c{};

		return h.query(UBOE_MBOX_JETTY, id, c) ? 0xff : c.state;
	}
	ubsim::sge local(std::uint64_t off, std::uint32_t len)
	{
		return { m.va() + off, len, key };
	}
	void receive(std::uint32_t len = 2048)
	{
		const ubsim::sge s = local(32768, len);

		r.post(std::span(&s, 1));
	}
};

class Um : public testing::TestWithParam<bool>
{
      protected:
	um_end a{ addr(GetParam(), 1), 0x101 };
	um_end b{ addr(GetParam(), 2), 0x202 };

	ubsim::send_wr to_b(std::uint32_t len)
	{
		ubsim::send_wr w;

		w.op = UBOE_SQE_SEND;
		w.sges = { a.local(0, len) };
		w.token = um_token;
		w.rmt = b.self;
		w.rmt_type = UBOE_RMT_JETTY;
		w.rmt_id = b.id;
		return w;
	}
	/* The packet that it makes */
	bytes packet(const ubsim::send_wr &w)
	{
		a.q->retire(a.q->post(w));
		while (a.tx.poll())
			;
		EXPECT_EQ(a.h.out().size(), 1u);
		bytes p = a.h.out().empty() ? bytes() : a.h.out()[0].data;

		a.h.out().clear();
		return p;
	}
	/* Why it is not taken, or "" */
	std::string refused(const bytes &p)
	{
		moved m(b.h);

		b.h.receive(p);
		EXPECT_EQ(m.by(UBP_S_RX_PACKETS), 1u);
		EXPECT_TRUE(b.h.out().empty()) << "nothing answers";
		EXPECT_EQ(b.state(), UBOE_JS_READY);
		return m.drops();
	}
	/* Change the BTAH and what follows, with an ICRC that is right */
	bytes changed(bytes p, std::size_t at, std::uint8_t bits)
	{
		p[tph_at(p) + UB_TPH_LEN + at] ^= bits;
		seal(p);
		return p;
	}
};

INSTANTIATE_TEST_SUITE_P(Family, Um, testing::Bool(),
			 [](const auto &i) { return i.param ? "v6" : "v4"; });

TEST_P(Um, ACompletionNamesTheSender)
{
	for (u8 type : { UBOE_RMT_JETTY, UBOE_RMT_JFR }) {
		ubsim::send_wr w = to_b(100);

		w.op = UBOE_SQE_SEND_IMM;
		w.imm = 0x0123456789abcdef;
		w.solicited = true;
		w.rmt_type = type;
		w.rmt_id = type == UBOE_RMT_JFR ? b.r.id() : b.id;
		a.m.write(0, "a message", 10);
		b.receive();
		EXPECT_EQ(refused(packet(w)), "");
		auto c = b.rx.poll();

		ASSERT_TRUE(c);
		EXPECT_EQ(UBP_GET(UBOE_CQE_STATUS, c->w0), UBOE_CQE_OK);
		EXPECT_EQ(UBP_GET(UBOE_CQE_OPCODE, c->w0), UBOE_CQE_RX_SEND_IMM);
		EXPECT_EQ(!!(c->w0 & UBOE_CQE_JETTY), type == UBOE_RMT_JETTY);
		EXPECT_TRUE(c->w0 & UBOE_CQE_RECV);
		EXPECT_EQ(c->w1 >> 16, w.rmt_id);
		EXPECT_EQ(UBP_GET(UBOE_CQE_RMT_ID, c->w2), a.id);
		EXPECT_EQ(c->tpn, 0u);
		EXPECT_EQ(std::memcmp(c->rmt_eid, a.self.b.data(), 16), 0);
		EXPECT_EQ(c->byte_cnt, 100u);
		EXPECT_EQ(c->imm_lo, 0x89abcdefu);
		EXPECT_EQ(c->imm_hi, 0x01234567u);
		EXPECT_EQ(b.m.compare(32768, "a message", 10), 10u);
		EXPECT_TRUE(b.r.done(c->w1 & UBOE_CQE_ENTRY));
	}
}

TEST_P(Um, ReasonsOfDrops)
{
	ubsim::send_wr w = to_b(64);
	const bytes good = packet(w);
	const auto with = [&](auto change) {
		ubsim::send_wr x = w;

		change(x);
		return refused(packet(x));
	};
	using wr = ubsim::send_wr;

	EXPECT_EQ(refused(good), "drop_target_no_receive");
	b.receive(63);
	EXPECT_EQ(refused(good), "drop_target_too_long");
	EXPECT_EQ(b.r.waiting(), 1u) << "the receive stays";
	EXPECT_EQ(with([](wr &x) { x.token ^= 1; }), "drop_target_token");
	EXPECT_EQ(with([](wr &x) { x.token_en = false; }), "drop_target_token");
	EXPECT_EQ(with([](wr &x) { x.rmt_id ^= 1; }), "drop_no_target");
	EXPECT_EQ(with([](wr &x) { x.rmt_id = 0xfffff; }), "drop_no_target");
	EXPECT_EQ(with([](wr &x) { x.rmt_type = UBOE_RMT_JFR; }), "drop_no_target");
	EXPECT_EQ(with([](wr &x) { x.rmt_type = UBOE_RMT_GROUP; }), "drop_no_target");
	/* poison, an offset; opcodes that UTP does not carry */
	EXPECT_EQ(refused(changed(good, 1, UB_BTAH_POISON)), "drop_target_request");
	EXPECT_EQ(refused(changed(good, UB_BTAH_LEN + UB_MTETAH_LEN + 3, 1)),
		  "drop_target_request");
	EXPECT_EQ(refused(changed(good, 0, UB_TA_SEND_INV)), "drop_ta_opcode");
	EXPECT_EQ(refused(changed(good, UB_BTAH_LEN + 1, 0x30 ^ 0x10)), "drop_ta_header")
		<< "target type 3";
	EXPECT_EQ(b.r.waiting(), 1u);
	/* it goes on; and in ERROR it does not */
	b.receive();
	EXPECT_EQ(with([](wr &x) { x.sges[0].len = 63; }), "");
	EXPECT_TRUE(b.rx.poll());
	EXPECT_EQ(b.q->to_state(UBOE_JS_ERROR), 0);
	moved m(b.h);
	b.h.receive(good);
	EXPECT_EQ(m.drops(), "drop_target_state");
}

TEST_P(Um, ReceivesThatTheProgramSpoiled)
{
	const bytes good = packet(to_b(64));
	ubsim::sge bad{ b.m.va(), 2048, key ^ 1 };

	b.r.post(std::span(&bad, 1));
	EXPECT_EQ(refused(good), "drop_target_access");
	auto c = b.rx.poll();
	ASSERT_TRUE(c) << "its slot comes back";
	EXPECT_EQ(UBP_GET(UBOE_CQE_STATUS, c->w0), UBOE_CQE_LOCAL);
	EXPECT_EQ(UBP_GET(UBOE_CQE_SUBSTATUS, c->w0), UBOE_CQE_LOCAL_ACCESS);
	EXPECT_EQ(c->byte_cnt, 0u);
}

TEST_P(Um, AFullCompletionQueueIsTheProgramsError)
{
	const bytes good = packet(to_b(8));
	moved m(b.h);

	for (unsigned i = 0; i < 64; i++)
		b.receive();
	for (unsigned i = 0; i < 64; i++)
		b.h.receive(good);
	EXPECT_EQ(m.drops(), "");
	EXPECT_EQ(b.state(), UBOE_JS_READY);
	b.r.done(0); /* without a look at the 64 completions */
	b.receive();
	b.h.receive(good);
	EXPECT_EQ(m.drops(), "drop_target_overflow");
	EXPECT_EQ(m.by(UBP_S_CQ_OVERFLOWS), 1u);
	EXPECT_EQ(b.state(), UBOE_JS_ERROR);
}

TEST_P(Um, WhatASendQueueMayAskFor)
{
	using wr = ubsim::send_wr;
	struct {
		std::function<void(wr &)> change;
		u32 status, sub;
	} const bad[] = {
		{ [](wr &w) { w.op = UBOE_SQE_WRITE; }, UBOE_CQE_UNSUPPORTED, 0 },
		{ [](wr &w) { w.op = UBOE_SQE_READ; }, UBOE_CQE_UNSUPPORTED, 0 },
		{ [](wr &w) { w.op = UBOE_SQE_NOP, w.sges.clear(); }, UBOE_CQE_UNSUPPORTED, 0 },
		{ [](wr &w) { w.op = UBOE_SQE_SEND_INV; }, UBOE_CQE_UNSUPPORTED, 0 },
		{ [](wr &w) { w.rmt_type = 3; }, UBOE_CQE_UNSUPPORTED, 0 },
		{ [](wr &w) { w.sges[0].len = mtu + 1; }, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN },
		{ [](wr &w) { w.sges[0].key ^= 1; }, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_ACCESS },
		{ [](wr &w) { w.rmt = {}; }, UBOE_CQE_LOCAL, 0 },
		{ [](wr &w) { w.rmt = address::v4(224, 0, 0, 1); }, UBOE_CQE_LOCAL, 0 },
		{ [](wr &w) { w.rmt.b[0] = 0xff; }, UBOE_CQE_LOCAL, 0 },
		{ [](wr &w) { w.rmt = addr(w.rmt.b[0] == 0, 9); }, UBOE_CQE_LOCAL, 0 },
	};

	for (const auto &t : bad) {
		um_end e(addr(GetParam(), 1), 0x101);
		wr w = to_b(64);

		w.sges[0].key = key;
		t.change(w);
		e.q->post(w);
		auto c = e.tx.poll();

		ASSERT_TRUE(c) << (&t - bad);
		EXPECT_EQ(UBP_GET(UBOE_CQE_STATUS, c->w0), t.status) << (&t - bad);
		EXPECT_EQ(UBP_GET(UBOE_CQE_SUBSTATUS, c->w0), t.sub) << (&t - bad);
		EXPECT_EQ(e.state(), UBOE_JS_ERROR);
		EXPECT_TRUE(e.h.out().empty());
	}
}

TEST_P(Um, ExactlyOnePacketFits)
{
	bytes p = packet(to_b(mtu));

	b.receive();
	EXPECT_EQ(refused(p), "");
	EXPECT_EQ(b.rx.poll()->byte_cnt, mtu);
	/* a narrow way allows less */
	a.h.way = 512;
	um_end c(addr(GetParam(), 3), 0x303);
	c.h.way = 512;
	ubsim::send_wr w = to_b(513);

	c.q->post(w);
	EXPECT_EQ(UBP_GET(UBOE_CQE_SUBSTATUS, c.tx.poll()->w0), UBOE_CQE_LOCAL_LEN);
}

TEST_P(Um, NoWayIsNotKept)
{
	a.h.way = 0;
	a.q->post(to_b(8));
	auto c = a.tx.poll();

	ASSERT_TRUE(c);
	EXPECT_EQ(UBP_GET(UBOE_CQE_STATUS, c->w0), UBOE_CQE_LOCAL);
	EXPECT_EQ(a.h.live_paths(), 0u);
}

TEST_P(Um, WaysAreFewAndFoundAgain)
{
	ubsim::send_wr w = to_b(8);

	for (unsigned round = 0; round < 3; round++) {
		for (u8 n = 10; n < 26; n++) {
			w.rmt = addr(GetParam(), n);
			packet(w);
		}
		EXPECT_EQ(a.h.asked, 16u) << "each was asked for once";
	}
	EXPECT_EQ(a.h.live_paths(), 16u);
	for (u8 n = 30; n < 200; n++) {
		w.rmt = addr(GetParam(), n);
		const bytes p = packet(w);

		ASSERT_EQ(p[GetParam() ? 39 : 19], n) << "to whom it says";
	}
	EXPECT_EQ(a.h.live_paths(), 16u);
}

TEST_P(Um, WithoutRoomItStaysInTheRing)
{
	a.h.room = false;
	a.q->post(to_b(8));
	EXPECT_FALSE(a.tx.poll());
	EXPECT_TRUE(a.h.out().empty());
	a.h.run_turns();
	EXPECT_FALSE(a.tx.poll());
	a.h.room = true;
	a.h.run_turns();
	EXPECT_TRUE(a.tx.poll());
	EXPECT_EQ(a.h.out().size(), 1u);
	a.h.run_turns();
	EXPECT_EQ(a.h.out().size(), 1u);
}

TEST_P(Um, ADriverGoesOnWhereItsSliceEnds)
{
	ubsim::send_wr w = to_b(0);
	const unsigned slice = a.h.dev()->cfg.slice;

	w.sges.clear();
	for (unsigned i = 0; i < slice + 3; i++)
		a.q->put(w);
	a.q->ring();
	EXPECT_EQ(ubp_drive_id(a.h.dev(), a.id), 1);
	EXPECT_EQ(a.h.out().size(), slice);
	ubp_leave_id(a.h.dev(), a.id);
	EXPECT_EQ(a.h.turns().size(), 1u);
	a.h.run_turns();
	EXPECT_EQ(a.h.out().size(), slice + 3);
	EXPECT_EQ(ubp_drive_id(a.h.dev(), a.id), 0);
}

TEST_P(Um, AJfsSendsAndReceivesNothing)
{
	um_end s(addr(GetParam(), 1), 0x101, UBOE_JETTY_SEND_ONLY);
	ubsim::send_wr w = to_b(16);

	s.q->post(w);
	auto c = s.tx.poll();

	ASSERT_TRUE(c);
	EXPECT_FALSE(c->w0 & UBOE_CQE_JETTY);
	b.receive();
	EXPECT_EQ(refused(s.h.out().at(0).data), "");
	EXPECT_EQ(UBP_GET(UBOE_CQE_RMT_ID, b.rx.poll()->w2), 0x101u);
	/* the other way */
	w = to_b(16);
	w.rmt = s.self;
	w.rmt_id = s.id;
	w.sges = { b.local(0, 16) };
	b.q->post(w);
	moved m(s.h);
	s.h.receive(b.h.out().at(0).data);
	EXPECT_EQ(m.drops(), "drop_no_target");
	b.h.out().clear();
	EXPECT_EQ(s.q->to_state(UBOE_JS_ERROR), 0);
	EXPECT_EQ(s.state(), UBOE_JS_ERROR);
}

TEST_P(Um, AConnectionIsNoTarget)
{
	ubsim::rc rc(b.h, 0x303, b.tx, b.rx, b.r, {});
	ubsim::send_wr w = to_b(8);

	w.rmt_id = 0x303;
	w.token_en = false;
	b.receive();
	EXPECT_EQ(refused(packet(w)), "drop_no_target");
}

/* Loss, duplicates, changed bytes: what arrives is right, and everything is counted */
TEST_P(Um, NothingCorruptArrives)
{
	std::uint64_t seed = 42;
	const auto random = [&seed](std::uint64_t n) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		return (seed >> 33) % n;
	};
	unsigned lost = 0, sent = 0, doubled = 0, broken = 0, got = 0;
	moved m(b.h);

	for (unsigned i = 0; i < 3000; i++) {
		const u32 len = static_cast<u32>(8 + random(mtu - 7));
		bytes data(len, static_cast<u8>(i * 31));

		std::memcpy(data.data(), &i, 4);
		std::memcpy(data.data() + 4, &len, 4);
		a.m.write(0, data.data(), len);
		bytes p = packet(to_b(len));

		sent++;
		if (!random(8)) {
			lost++;
			continue;
		}
		bool twice = !random(8), bad = !random(3);

		if (bad) {
			/* not in what routers may change, nor in the UDP checksum */
			std::size_t at = tph_at(p) + random(p.size() - tph_at(p));

			p[at] ^= static_cast<u8>(1 + random(255));
			broken++;
		}
		for (int n = 0; n <= int(twice); n++) {
			b.receive();
			b.h.receive(p);
			doubled += n && !bad;
			broken += n && bad;
			while (auto c = b.rx.poll()) {
				u32 who, said;

				EXPECT_EQ(UBP_GET(UBOE_CQE_STATUS, c->w0), UBOE_CQE_OK);
				b.m.read(32768, &who, 4);
				b.m.read(32772, &said, 4);
				EXPECT_EQ(who, i);
				EXPECT_EQ(said, c->byte_cnt);
				EXPECT_EQ(b.m.compare(32768, data.data(), len), len);
				EXPECT_TRUE(b.r.done(c->w1 & UBOE_CQE_ENTRY));
				got++;
			}
			while (b.r.waiting()) { /* not used: takes the next good one */
				bytes one = packet(to_b(8));

				b.h.receive(one);
				b.r.done(b.rx.poll()->w1 & UBOE_CQE_ENTRY);
				sent++;
				got++;
			}
		}
	}
	EXPECT_GT(lost, 0u);
	EXPECT_GT(doubled, 0u);
	EXPECT_GT(broken, 0u);
	EXPECT_EQ(m.by(UBP_S_RX_INVALID), broken);
	EXPECT_EQ(m.by(UBP_S_RX_PACKETS), got);
	EXPECT_EQ(m.by(UBP_D_ICRC), broken);
}

struct grouped : um_end {
	grouped(address a) : um_end(a, 0x202)
	{
		uboe_jgrp_ctx g{};

		g.type = UBOE_JETTY_UM;
		g.policy = UBOE_JGRP_HINT;
		g.pd = pd;
		EXPECT_EQ(h.create(UBOE_MBOX_JGRP, 7, g), 0);
	}
	~grouped()
	{
		q.reset();
		EXPECT_EQ(h.destroy(UBOE_MBOX_JGRP, 7), 0);
	}
	int change(u32 jetty, u32 mask)
	{
		uboe_jgrp_ctx g{};

		g.member = jetty;
		return h.modify(UBOE_MBOX_JGRP, 7, g, mask);
	}
};

TEST_P(Um, GroupCommands)
{
	grouped e(addr(GetParam(), 9));
	uboe_jgrp_ctx g{};
	std::vector<std::unique_ptr<ubsim::rc>> more;
	const auto make = [&](u32 id, const ubsim::jetty_options &o) {
		more.push_back(std::make_unique<ubsim::rc>(e.h, id, e.tx, e.rx, e.r, o));
	};
	ubsim::jetty_options alien = um_options(e.self, 0);

	EXPECT_EQ(e.h.create(UBOE_MBOX_JGRP, 7, g), -EEXIST);
	g.policy = 2;
	EXPECT_EQ(e.h.create(UBOE_MBOX_JGRP, 8, g), -EINVAL);
	g.policy = 0, g.type = UBOE_JETTY_RC;
	EXPECT_EQ(e.h.create(UBOE_MBOX_JGRP, 8, g), -EINVAL);
	g.type = 0, g.flags = 2;
	EXPECT_EQ(e.h.create(UBOE_MBOX_JGRP, 8, g), -EINVAL);
	g.flags = 0;
	EXPECT_EQ(e.h.create(UBOE_MBOX_JGRP, 4096, g), -EINVAL);
	EXPECT_EQ(e.change(0x202, 0), -EINVAL);
	EXPECT_EQ(e.change(0x202, UBOE_GM_JOIN | UBOE_GM_LEAVE), -EINVAL);
	EXPECT_EQ(e.change(0x202, 4), -EOPNOTSUPP);
	EXPECT_EQ(e.change(0x203, UBOE_GM_JOIN), -ENOENT);
	EXPECT_EQ(e.change(0x202, UBOE_GM_LEAVE), -ENOENT);
	EXPECT_EQ(e.change(0x202, UBOE_GM_JOIN), 0);
	EXPECT_EQ(e.change(0x202, UBOE_GM_JOIN), -EEXIST);
	EXPECT_EQ(e.h.destroy(UBOE_MBOX_JGRP, 7), -EBUSY);
	alien.pd = 2;
	make(0x300, alien);
	make(0x301, {}); /* RC */
	make(0x302, um_options(e.self, UBOE_JETTY_SEND_ONLY));
	for (u32 id = 0x300; id < 0x303; id++)
		EXPECT_EQ(e.change(id, UBOE_GM_JOIN), -EINVAL) << id;
	for (u32 id = 0x310; id < 0x310 + 31; id++) {
		make(id, um_options(e.self, 0));
		EXPECT_EQ(e.change(id, UBOE_GM_JOIN), 0);
	}
	make(0x400, um_options(e.self, 0));
	EXPECT_EQ(e.change(0x400, UBOE_GM_JOIN), -ENOSPC);
	EXPECT_EQ(e.h.query(UBOE_MBOX_JGRP, 7, g), 0);
	EXPECT_EQ(g.count, 32u);
	more.erase(more.begin() + 3); /* destroyed: it has left */
	EXPECT_EQ(e.h.query(UBOE_MBOX_JGRP, 7, g), 0);
	EXPECT_EQ(g.count, 31u);
	EXPECT_EQ(e.change(0x400, UBOE_GM_JOIN), 0);
	EXPECT_EQ(e.change(0x202, UBOE_GM_LEAVE), 0);
}

TEST_P(Um, AGroupOfNobodyReady)
{
	grouped e(addr(GetParam(), 9));
	ubsim::send_wr w = to_b(8);
	moved m(e.h);

	w.rmt = e.self;
	w.rmt_type = UBOE_RMT_GROUP;
	w.rmt_id = 7;
	const bytes p = packet(w);

	e.h.receive(p);
	EXPECT_EQ(m.drops(), "drop_no_target");
	EXPECT_EQ(e.change(0x202, UBOE_GM_JOIN), 0);
	e.receive();
	e.h.receive(p);
	EXPECT_TRUE(e.rx.poll()) << "the group asks for no token, and it counts";
	EXPECT_EQ(e.q->to_state(UBOE_JS_ERROR), 0);
	e.h.receive(p);
	EXPECT_EQ(m.drops(), "drop_no_target drop_target_state");
}

TEST_P(Um, CreationThatIsRefused)
{
	uboe_jetty_ctx good{}, c;
	const ubsim::dma ring = a.h.alloc_dma(4096), page = a.h.alloc_dma(4096);
	const std::size_t live = a.h.live_allocations();
	const auto create = [&](auto change) {
		c = good;
		change(c);
		int err = a.h.create(UBOE_MBOX_JETTY, 0x133, c);

		if (!err)
			EXPECT_EQ(a.h.destroy(UBOE_MBOX_JETTY, 0x133), 0);
		a.h.reap();
		EXPECT_EQ(a.h.live_allocations(), live);
		return err;
	};
	using ctx = uboe_jetty_ctx;

	good.type = UBOE_JETTY_UM;
	good.sq_base = ring.bus;
	good.page = page.bus;
	good.tx_jfcn = 1;
	good.rx_jfcn = 2;
	good.jfrn = 1;
	good.mtu = mtu;
	std::memcpy(good.eid, a.self.b.data(), 16);
	EXPECT_EQ(create([](ctx &) {}), 0);
	EXPECT_EQ(create([](ctx &x) { x.mtu = 0; }), -EINVAL);
	EXPECT_EQ(create([](ctx &x) { x.mtu = 1025; }), -EINVAL);
	EXPECT_EQ(create([](ctx &x) { x.mtu = 16384; }), -EINVAL);
	EXPECT_EQ(create([](ctx &x) { std::memset(x.eid, 0, 16); }), -EINVAL);
	EXPECT_EQ(create([](ctx &x) { x.state = UBOE_JS_READY; }), -EINVAL);
	EXPECT_EQ(create([](ctx &x) { x.jfrn = 0; }), -EINVAL);
	EXPECT_EQ(create([](ctx &x) { x.flags = UBOE_JETTY_SEND_ONLY; }), -EINVAL);
	EXPECT_EQ(create([](ctx &x) {
			  x.flags = UBOE_JETTY_SEND_ONLY;
			  x.rx_jfcn = 0;
			  x.jfrn = 0;
		  }),
		  0);
	uboe_tp_ctx tp{};
	tp.jetty = a.id;
	tp.mtu = mtu;
	EXPECT_EQ(a.h.create(UBOE_MBOX_TP, UB_TPN_RC(a.id), tp), -EINVAL) << "no channel";
	EXPECT_EQ(a.q->to_state(UBOE_JS_RTR), -EINVAL);
	a.h.free_dma(ring);
	a.h.free_dma(page);
}

TEST_P(Um, WhatAJfrHolds)
{
	uboe_jfr_ctx c{};

	EXPECT_EQ(a.h.destroy(UBOE_MBOX_JFR, 1), -EBUSY);
	a.q.reset();
	EXPECT_EQ(a.h.destroy(UBOE_MBOX_JFC, 2), -EBUSY) << "the JFR completes there";
	ASSERT_EQ(a.h.query(UBOE_MBOX_JFR, 1, c), 0);
	EXPECT_EQ(c.flags, UBOE_JFR_UM | UBOE_JFR_TOKEN);
	EXPECT_EQ(c.jfcn, 2u);
}

} /* namespace */
