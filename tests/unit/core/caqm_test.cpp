// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* CAQM: a switch's credit, a sender's window, what a receiver tells (docs/decisions/0040). */
#include <gtest/gtest.h>

#include "rig.hpp"

extern "C" {
#include "ubp_caqm.h"
#include "ubp_native.h"
}

using namespace rig;

namespace
{
constexpr u64 us = 1000;
constexpr u16 asked = UB_CCI_CAQM_EN | UB_CCI_CAQM_I;
constexpr u32 never = ~0u; /* random bits that mark nothing */

/* ------------------------------ the switch ------------------------------ */

/* 10 Gb/s: 625 bytes in a period */
struct port {
	ubp_caqm_knobs k{ 1250000000, UBP_CAQM_PERIOD_NS, UBP_CAQM_TARGET, UBP_CAQM_MARK,
			  UBP_CAQM_CUT };
	ubp_caqm s{};
	u64 now = 1 * us;
	ubp_caqm_fate fate = UBP_CAQM_NOTHING;

	/* What becomes of @cci; @queue bytes wait */
	u16 pass(u16 cci, u64 queue = 0, u32 random = never)
	{
		ubp_caqm_pass(&s, &k, now, queue, 4096);
		fate = ubp_caqm_judge(&s, &k, random, &cci);
		return cci;
	}
};

TEST(CaqmSwitch, WhoTakesPart)
{
	for (u32 cci = 0; cci <= 0xffff; cci++)
		EXPECT_EQ(ubp_caqm_is(u16(cci)), cci >> 13 == 0 && cci & 0x0400);
	EXPECT_EQ(ubp_caqm_ask(0), 0x0400);
	EXPECT_EQ(ubp_caqm_ask(1), 0x0501);
	EXPECT_EQ(ubp_caqm_ask(255), 0x05ff);
}

TEST(CaqmSwitch, GrantsWhatTheCreditHolds)
{
	port p;

	/* half of the target; 4096 bytes are 128 units */
	for (unsigned i = 0; i < 5; i++) {
		EXPECT_EQ(p.pass(asked | 128), asked | 128);
		EXPECT_EQ(p.fate, UBP_CAQM_GRANTED);
	}
	EXPECT_EQ(p.s.credit, 0);
	EXPECT_EQ(p.s.granted, 20480);
	/* no more in this period: the hint stays to be seen, the grant does not */
	EXPECT_EQ(p.pass(asked | 1), UB_CCI_CAQM_EN | 1);
	EXPECT_EQ(p.fate, UBP_CAQM_REFUSED);
	/* who asks for nothing gets it */
	EXPECT_EQ(p.pass(UB_CCI_CAQM_EN), UB_CCI_CAQM_EN);
	EXPECT_EQ(p.fate, UBP_CAQM_NOTHING);
	EXPECT_EQ(p.pass(UB_CCI_CAQM_EN | 77), UB_CCI_CAQM_EN | 77);
	EXPECT_EQ(p.fate, UBP_CAQM_NOTHING);
	/* with the probability of a mark one sender gives up what another one gets */
	EXPECT_EQ(p.pass(asked | 1, 0, UBP_CAQM_MARK - 1), UB_CCI_CAQM_EN | UB_CCI_CAQM_C | 1);
	EXPECT_EQ(p.fate, UBP_CAQM_MARKED);
	EXPECT_EQ(p.s.freed, 2048);
	EXPECT_EQ(p.pass(asked | 64, 0, UBP_CAQM_MARK), asked | 64);
	EXPECT_EQ(p.fate, UBP_CAQM_GRANTED);
	EXPECT_EQ(p.pass(asked | 1), UB_CCI_CAQM_EN | 1);
	EXPECT_EQ(p.s.credit, 0);
}

TEST(CaqmSwitch, CreditOfAPeriod)
{
	port p;

	p.pass(asked | 128);
	/* not before the period is over */
	p.now += 499;
	p.pass(UB_CCI_CAQM_EN, 7000);
	EXPECT_EQ(p.s.credit, 20480 - 4096);
	/* 8192 came, 1250 could leave in 1 us, 1000 did; the other 250 went unused */
	p.now += 501;
	p.pass(UB_CCI_CAQM_EN, 7192);
	EXPECT_EQ(p.s.credit, (250 + 40960 - 7192 - 4096) / 2);
	EXPECT_EQ(p.s.granted, 0);
	/* a period is all that can have been unused */
	p.now += 1000 * us;
	p.pass(UB_CCI_CAQM_EN);
	EXPECT_EQ(p.s.credit, (625 + 40960) / 2);
	/* a queue beyond the target has to shrink: marks until there is credit again */
	p.now += 1 * us;
	EXPECT_EQ(p.pass(asked | 9, 45061), UB_CCI_CAQM_EN | UB_CCI_CAQM_C | 9);
	EXPECT_EQ(p.s.credit, -2051 + 2048); /* (40960 - 45061) / 2, down */
	EXPECT_EQ(p.pass(UB_CCI_CAQM_EN, 45061), UB_CCI_CAQM_EN | UB_CCI_CAQM_C);
	EXPECT_EQ(p.s.credit, 2045);
	EXPECT_EQ(p.pass(UB_CCI_CAQM_EN, 45061), UB_CCI_CAQM_EN);
}

/* Another processor's clock was read earlier: no time has passed */
TEST(CaqmSwitch, ALateTimeIsNoPeriod)
{
	port p;

	p.pass(asked | 128);
	p.now -= 1;
	p.pass(asked | 128);
	EXPECT_EQ(p.s.credit, 20480 - 2 * 4096);
	EXPECT_EQ(p.s.when, 1 * us);
}

/* What a switch before has marked gives up here, too */
TEST(CaqmSwitch, MarksOfOthersAreCredit)
{
	port p;

	EXPECT_EQ(p.pass(asked | UB_CCI_CAQM_C | 128), asked | UB_CCI_CAQM_C | 128);
	EXPECT_EQ(p.fate, UBP_CAQM_NOTHING);
	EXPECT_EQ(p.s.credit, 20480 + 2048);
	EXPECT_EQ(p.s.granted, -2048);
}

/* ------------------------------ the ends ------------------------------ */

struct machine {
	ubp_cc_conf conf;
	ubp_cc cc{};
	u64 now = 1000 * us;

	explicit machine(const char *text)
	{
		EXPECT_EQ(ubp_cc_parse(&conf, text), 0) << text;
		cc.ops = ubp_cc_ops(conf.alg);
		cc.par = &conf.par;
		cc.mtu = 1024;
		cc.below = 28;
		cc.rtt_us = 10;
		cc.ops->start(&cc, now);
	}
	u16 send(u32 size) { return cc.ops->cci(&cc, size, now); }
	ubp_cc_news told(bool grant, u8 marks, u16 hint, u32 acked = 512)
	{
		const u8 p[] = { u8(grant), marks, u8(hint >> 8), u8(hint) };

		return cc.ops->told(&cc, acked, p, now);
	}
	std::array<u8, 4> tell()
	{
		std::array<u8, 4> p;

		cc.ops->tell(&cc, p.data());
		return p;
	}
};

TEST(CaqmSender, StepByStep)
{
	machine m("caqm,cwd0=4096");
	u32 &cw = m.cc.caqm.cw;

	/* who does not wait for the window asks for nothing */
	m.cc.inflight = 2047;
	EXPECT_EQ(m.send(1080), UB_CCI_CAQM_EN);
	/* slow start: for its size, an MTU at most */
	m.cc.inflight = 2048;
	EXPECT_EQ(m.send(1080), asked | 32);
	EXPECT_EQ(m.send(65), asked | 2);
	EXPECT_EQ(m.send(63), asked | 2); /* with the one byte from before */
	EXPECT_EQ(m.told(true, 0, 36), UBP_CC_SAME);
	EXPECT_EQ(cw, 4096u + 36 * 32);
	EXPECT_TRUE(m.cc.caqm.slow);
	EXPECT_EQ(m.told(true, 2, 1), UBP_CC_SLOWER);
	EXPECT_EQ(cw, 4096u + 37 * 32 - 2 * 512);
	/* avoidance: half an MTU a window. 1024 / 2 * 1024 / 4256 = 123.19 bytes */
	m.cc.inflight = cw;
	EXPECT_EQ(m.send(1024), asked | 3);
	EXPECT_EQ(m.send(1024), asked | 4); /* 27.19 more */
	EXPECT_EQ(m.send(8), UB_CCI_CAQM_EN); /* 0.96 more: too little to ask for */
	/* neither grant nor mark: hold, and slow start stays away */
	m.now += 99 * us;
	EXPECT_EQ(m.told(false, 0, 0), UBP_CC_SAME);
	EXPECT_EQ(cw, 4256u);
	m.now += 99 * us;
	m.send(8);
	EXPECT_FALSE(m.cc.caqm.slow);
	/* theta round trips of 10 us later it is back */
	m.now += 1 * us;
	m.send(8);
	EXPECT_TRUE(m.cc.caqm.slow);
}

TEST(CaqmSender, BelowAnMtu)
{
	machine m("caqm,cwd0=2048,caqm_gamma=2,cwd_max=4000");
	u32 &cw = m.cc.caqm.cw;

	m.told(false, 3, 0);
	EXPECT_EQ(cw, 512u); /* 2048 - 3 * 512 */
	m.told(false, 200, 0);
	EXPECT_EQ(cw, 256u); /* half, and gamma */
	m.told(false, 1, 0);
	EXPECT_EQ(cw, 256u);
	/* asks for full packets until it has one, avoidance or not */
	m.cc.inflight = 256;
	EXPECT_EQ(m.send(1024), asked | 32);
	m.told(true, 0, 0xffff);
	EXPECT_EQ(cw, 4000u);
	m.told(true, 255, 0);
	EXPECT_EQ(cw, 256u);
}

TEST(CaqmSender, TheWindowHolds)
{
	machine m("caqm,cwd0=4096");

	m.cc.inflight = 3072;
	EXPECT_EQ(m.cc.ops->wait(&m.cc, 1024 + 28, m.now), 0u);
	EXPECT_EQ(m.cc.ops->wait(&m.cc, 1025 + 28, m.now), UBP_CC_NEVER);
	EXPECT_TRUE(m.cc.ops->ask(&m.cc, 0));
	m.cc.inflight = 0;
	EXPECT_EQ(m.cc.ops->wait(&m.cc, 9000, m.now), 0u);
}

/* What tells of nothing new has been told before */
TEST(CaqmSender, NothingNew)
{
	machine m("caqm,cwd0=4096");

	EXPECT_EQ(m.told(true, 0, 10, 0), UBP_CC_SAME);
	EXPECT_EQ(m.told(false, 10, 0, 0), UBP_CC_SAME);
	EXPECT_EQ(m.cc.caqm.cw, 4096u);
}

/* A hint has 8 bits: what an MTU of 8192 asks for beyond it is asked for with the next */
TEST(CaqmSender, HintsAreLimited)
{
	machine m("caqm,cwd0=1024");

	m.cc.mtu = 8192;
	m.cc.inflight = 8192;
	EXPECT_EQ(m.send(9000), asked | 255);
	EXPECT_EQ(m.send(9000), asked | 255);
	EXPECT_LE(m.cc.caqm.owed, 255u << 13);
}

TEST(CaqmSender, TimeoutsBeforeAnyAnswer)
{
	machine m("caqm,cwd0=8192"), n("caqm,cwd0=8192");

	EXPECT_TRUE(m.cc.ops->timeout(&m.cc, m.now));
	EXPECT_EQ(m.cc.caqm.cw, 4096u);
	EXPECT_FALSE(m.cc.plain);
	EXPECT_TRUE(m.cc.ops->timeout(&m.cc, m.now));
	EXPECT_TRUE(m.cc.plain);
	/* it goes on as if it had no control */
	m.cc.inflight = 1 << 20;
	EXPECT_EQ(m.send(1024), 0u);
	EXPECT_EQ(m.cc.ops->wait(&m.cc, 9000, m.now), 0u);
	EXPECT_FALSE(m.cc.ops->ask(&m.cc, 1000));
	/* who has been answered knows that the way carries it */
	n.told(false, 0, 0);
	for (unsigned i = 0; i < 5; i++)
		n.cc.ops->timeout(&n.cc, n.now);
	EXPECT_FALSE(n.cc.plain);
	EXPECT_EQ(n.cc.caqm.cw, 512u);
}

TEST(CaqmReceiver, SumsUp)
{
	machine m("caqm");
	using four = std::array<u8, 4>;

	EXPECT_EQ(m.tell(), (four{ 0, 0, 0, 0 }));
	for (int cci : std::initializer_list<int>{
		     asked | 200, asked | 100, UB_CCI_CAQM_EN | 50, int(asked | UB_CCI_CAQM_C | 7),
		     UB_CCI_CAQM_EN | UB_CCI_CAQM_C, UB_CCI_CAQM_I | 255, 0x8003 })
		m.cc.ops->heed(&m.cc, u16(cci));
	EXPECT_EQ(m.tell(), (four{ 1, 2, 300 >> 8, 300 & 0xff }));
	EXPECT_EQ(m.tell(), (four{ 0, 0, 0, 0 }));
	for (unsigned i = 0; i < 300; i++) {
		m.cc.ops->heed(&m.cc, u16(asked | 255));
		m.cc.ops->heed(&m.cc, u16(UB_CCI_CAQM_EN | UB_CCI_CAQM_C));
	}
	EXPECT_EQ(m.tell(), (four{ 1, 255, 0xff, 0xff }));
}

/* ------------------------------ channels ------------------------------ */

ubp_config config()
{
	ubp_config c = ubsim::host::small_config();

	EXPECT_EQ(ubp_cc_parse(&c.cc, "caqm,cwd0=4096"), 0);
	return c;
}

u8 alg(end &e)
{
	uboe_tp_ctx c{};

	EXPECT_EQ(e.h.query(UBOE_MBOX_TP, UB_TPN_RC(e.id), c), 0);
	return c.cc;
}

void write(pair &w, u32 len)
{
	w.a.q->post({ .op = UBOE_SQE_WRITE,
		      .sges = { w.a.local(0, len) },
		      .remote = w.b.m.va(),
		      .rkey = key });
}

struct CaqmChannel : testing::TestWithParam<bool> {
	pair w{ GetParam(), config() };

	void native()
	{
		w.a.h.set_native(false);
		w.b.h.set_native(false);
	}
};

TEST_P(CaqmChannel, GrantsGoRound)
{
	native();
	ASSERT_TRUE(w.connect());
	EXPECT_EQ(alg(w.a), UB_CC_CAQM);
	EXPECT_EQ(alg(w.b), UB_CC_CAQM);
	write(w, 65536);
	w.run();
	EXPECT_TRUE(w.a.tx.poll());
	EXPECT_GT(w.a.tp()->cc->caqm.cw, 4096u);
	EXPECT_TRUE(w.a.tp()->cc->caqm.heard);
	EXPECT_EQ(w.a.h.stat(UBP_S_CC_NOT_MAPPABLE), 0u);
	EXPECT_EQ(w.a.h.stat(UBP_S_RETRANSMITS), 0u);
}

/* In the order of the wire: CCI, and the CETPH that answers it */
TEST_P(CaqmChannel, OnTheWire)
{
	native();
	ASSERT_TRUE(w.connect());
	w.a.tp()->cc->caqm.cw = 1;
	write(w, 1000);
	ASSERT_EQ(w.a.h.out().size(), 1u);
	bytes p = w.a.h.out()[0].data;
	w.a.h.out().clear();
	/* 1000 bytes and 48 of headers are 32.75 units */
	EXPECT_EQ(get_unaligned_be16(&p[p.size() - 2]), asked | 32);
	EXPECT_EQ(GetParam() ? p[1] >> 4 & 3 : p[1] & 3, UB_ECN_NOT_ECT);
	w.b.h.receive(p);
	w.b.h.time += 20000 * us;
	w.b.h.run_timers();
	ASSERT_EQ(w.b.h.out().size(), 1u);
	p = w.b.h.out()[0].data;
	const u8 *tph = &p[GetParam() ? 48 : 28];
	EXPECT_EQ(tph[0] & UB_TPH_OPCODE, UB_TP_ACK_CC);
	EXPECT_EQ(get_unaligned_be32(tph + 16), (1000u + 48) / 2);
	EXPECT_EQ(get_unaligned_be32(tph + 20), 0x01000020u);
	pair::carry(w.b, w.a);
	EXPECT_EQ(w.a.tp()->cc->caqm.cw, 1u + 32 * 32);
}

TEST_P(CaqmChannel, MarksAreCounted)
{
	native();
	ASSERT_TRUE(w.connect());
	write(w, 1000);
	for (auto &p : w.a.h.out()) {
		put_unaligned_be16(UB_CCI_CAQM_EN | UB_CCI_CAQM_C, &p.data[p.data.size() - 2]);
		w.b.h.receive(p.data);
	}
	w.a.h.out().clear();
	w.run();
	EXPECT_EQ(w.b.h.stat(UBP_S_CE_RECEIVED), 1u);
	EXPECT_EQ(w.a.h.stat(UBP_S_CC_REDUCTIONS), 1u);
	EXPECT_EQ(w.a.tp()->cc->caqm.cw, 4096u - 512);
}

TEST_P(CaqmChannel, IsForUbDomainsAlone)
{
	/* a program's wish is an error, an administrator's holds where it can */
	EXPECT_EQ(w.a.connect(w.b.self, w.b.id), -EINVAL);
	EXPECT_EQ(ubp_cc_wanted(w.a.h.dev()), UB_CC_NONE);
	native();
	EXPECT_EQ(ubp_cc_wanted(w.a.h.dev()), UB_CC_CAQM);
}

/* Between two domains there is Ethernet: such packets end at its border */
TEST_P(CaqmChannel, ThroughEthernetItRests)
{
	native();
	w.a.h.border = true;
	ASSERT_TRUE(w.connect());
	EXPECT_EQ(alg(w.a), UB_CC_CAQM);
	write(w, 30000);
	w.run(3000);
	EXPECT_TRUE(w.a.tx.poll());
	EXPECT_TRUE(w.a.tp()->cc->plain);
	EXPECT_EQ(w.a.h.stat(UBP_S_CC_NOT_MAPPABLE), 1u);
	EXPECT_FALSE(w.b.tp()->cc->plain); /* it has sent nothing */
}

INSTANTIATE_TEST_SUITE_P(V4V6, CaqmChannel, testing::Bool());
} /* namespace */
