// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Congestion control without packets: rate machine, window, settings (docs/decisions/0037). */
#include <gtest/gtest.h>

#include "rig.hpp"

namespace
{
constexpr u64 us = 1000;

/* ------------------------------ the rate ------------------------------ */

struct machine {
	ubp_cc_conf conf;
	ubp_cc cc{};
	u64 now = 1000 * us;

	explicit machine(const char *text, u32 rtt_us = 0)
	{
		EXPECT_EQ(ubp_cc_parse(&conf, text), 0) << text;
		cc.ops = ubp_cc_ops(conf.alg);
		cc.par = &conf.par;
		cc.mtu = 1024;
		cc.below = 28;
		cc.rtt_us = rtt_us;
		cc.when = UBP_CC_NEVER;
		cc.cnp_due = UBP_CC_NEVER;
		cc.ops->start(&cc, now);
	}
	bool cnp(u8 level = UBP_CC_SEVERE) { return cc.ops->cnp(&cc, level, now); }
	/* Time passes, and somebody looks */
	u64 after(u64 ns)
	{
		now += ns;
		return cc.ops->wait(&cc, 1024, now);
	}
	void send(u32 len) { cc.ops->sent(&cc, len, now); }
	/* Bytes newly acknowledged, of these marked; both even. True: slower */
	bool acked(u32 bytes, u32 marked)
	{
		u8 p[4];

		put_unaligned_be32(cc.seen_ce + marked / 2, p);
		return cc.ops->told(&cc, bytes / 2, p, now) == UBP_CC_SLOWER;
	}
	u32 rate() const { return cc.dcqcn.rate; }
	u32 target() const { return cc.dcqcn.target; }
};

TEST(CcDcqcn, StepByStep)
{
	machine m("dcqcn:paper40g");

	EXPECT_EQ(m.rate(), 40000000u);
	EXPECT_TRUE(m.cnp());
	EXPECT_EQ(m.rate(), 20000000u);
	EXPECT_EQ(m.target(), 40000000u);
	EXPECT_EQ(m.cc.dcqcn.alpha, UBP_CC_ALPHA_ONE);
	EXPECT_TRUE(m.cnp());
	EXPECT_EQ(m.rate(), 10000000u);
	EXPECT_EQ(m.target(), 20000000u);
	/* fast recovery, four times */
	m.after(54 * us);
	EXPECT_EQ(m.rate(), 10000000u);
	m.after(1 * us);
	EXPECT_EQ(m.rate(), 15000000u);
	EXPECT_EQ(m.cc.dcqcn.alpha, 1048576u - 4096); /* g = 1/256 */
	m.after(55 * us);
	EXPECT_EQ(m.rate(), 17500000u);
	m.after(110 * us); /* two at once */
	EXPECT_EQ(m.rate(), 19375000u);
	EXPECT_EQ(m.target(), 20000000u);
	/* the fifth: max(stages) = F is additive */
	m.after(55 * us);
	EXPECT_EQ(m.target(), 20040000u);
	EXPECT_EQ(m.rate(), 19707500u);
	/* 255/256 five times, and a cut by half of it */
	EXPECT_EQ(m.cc.dcqcn.alpha, 1028256u);
	EXPECT_TRUE(m.cnp());
	EXPECT_EQ(m.target(), 19707500u);
	EXPECT_EQ(m.rate(), 19707500u - 9662797);
	EXPECT_EQ(m.cc.dcqcn.alpha, 1028256u + 79);
	EXPECT_EQ(m.cc.dcqcn.t_stage, 0u);
}

TEST(CcDcqcn, BytesAreStagesToo)
{
	machine m("dcqcn:paper40g,rise_bytes=10000");

	EXPECT_TRUE(m.cnp());
	EXPECT_TRUE(m.cnp());
	m.send(9999);
	EXPECT_EQ(m.rate(), 10000000u);
	m.send(1);
	EXPECT_EQ(m.rate(), 15000000u);
	for (unsigned i = 2; i <= 4; i++)
		m.send(10000);
	EXPECT_EQ(m.target(), 20000000u);
	for (unsigned i = 5; i <= 7; i++)
		m.send(10000);
	EXPECT_EQ(m.cc.dcqcn.b_stage, 7u);
	EXPECT_EQ(m.target(), 20120000u); /* 5, 6, 7: additive, for the timer lags behind */
	for (unsigned t = 1; t <= 5; t++)
		m.after(55 * us);
	/* min(stages) = F is additive, too */
	EXPECT_EQ(m.target(), 20120000u + 5 * 40000);
	m.after(55 * us);
	EXPECT_EQ(m.target(), 20320000u + 40000); /* hyper: 1 * 40 Mb/s */
	m.after(55 * us);
	EXPECT_EQ(m.target(), 20360000u + 80000); /* min is 7: 2 * 40 */
	m.after(55 * us);
	EXPECT_EQ(m.target(), 20440000u + 80000); /* bytes lag behind: still 7 */
	/* without growth each step is the same */
	machine n("dcqcn:ns3,rise_bytes=10000,max_kbps=40000000");
	EXPECT_TRUE(n.cnp());
	EXPECT_TRUE(n.cnp());
	for (unsigned i = 1; i <= 9; i++)
		n.send(10000);
	n.after(5 * 55 * us);
	const u32 before = n.target();
	n.after(3 * 55 * us);
	EXPECT_EQ(n.target(), before + 3 * 100000);
}

TEST(CcDcqcn, LightCutsHalfAsMuch)
{
	machine m("dcqcn:paper40g");

	EXPECT_TRUE(m.cnp(UBP_CC_LIGHT));
	EXPECT_EQ(m.rate(), 30000000u);
	EXPECT_TRUE(m.cc.ops->timeout(&m.cc, m.now)); /* as severe */
	EXPECT_EQ(m.rate(), 15000000u);
}

TEST(CcDcqcn, BoundsHold)
{
	machine m("dcqcn:paper40g,min_kbps=1000000");

	for (unsigned i = 0; i < 10; i++)
		EXPECT_TRUE(m.cnp());
	EXPECT_EQ(m.rate(), 1000000u);
	for (unsigned i = 0; i < 10000; i++)
		m.after(55 * us);
	EXPECT_EQ(m.rate(), 40000000u);
	EXPECT_EQ(m.target(), 40000000u);
	EXPECT_LT(m.cc.dcqcn.alpha, 1024u);
	/* a long rest makes up for some steps only */
	for (unsigned i = 0; i < 2000; i++)
		m.cnp();
	const u32 low = m.rate();
	m.after(10'000'000 * us);
	EXPECT_EQ(m.cc.dcqcn.t_stage, 64u);
	EXPECT_LE(m.rate(), low + 64 * 40000);
}

TEST(CcDcqcn, TimesOfTheScaledSetFollowTheRoundTrip)
{
	machine m("dcqcn:scaled,start_part=1000", 1000);

	EXPECT_EQ(m.rate(), 10000000u);
	EXPECT_TRUE(m.cnp());
	EXPECT_EQ(m.rate(), 5000000u);
	m.now += 999 * us;
	EXPECT_FALSE(m.cnp()); /* one cut a round trip */
	EXPECT_EQ(m.rate(), 5000000u);
	m.after(1 * us);
	EXPECT_EQ(m.rate(), 7500000u); /* one step, too */
	EXPECT_EQ(m.cc.dcqcn.alpha, UBP_CC_ALPHA_ONE - UBP_CC_ALPHA_ONE / 64);
	EXPECT_TRUE(m.cnp());
	m.after(5000 * us);
	EXPECT_EQ(m.cc.dcqcn.t_stage, 5u);
	EXPECT_EQ(m.target(), 7500000u + 50000); /* 5/1000 of the link */
	/* a short round trip: the times in microseconds are longer */
	machine s("dcqcn:scaled", 10);
	EXPECT_TRUE(s.cnp());
	s.after(54 * us);
	EXPECT_EQ(s.cc.dcqcn.t_stage, 0u);
	s.after(1 * us);
	EXPECT_EQ(s.cc.dcqcn.t_stage, 1u);
}

TEST(CcDcqcn, BeginsSlowlyAndDoubles)
{
	machine m("dcqcn:scaled", 100);

	EXPECT_EQ(m.rate(), 500000u); /* 50/1000 */
	m.after(1000 * us);
	EXPECT_EQ(m.rate(), 500000u); /* nobody has answered */
	for (u32 want : { 1000000u, 2000000u, 4000000u, 8000000u, 10000000u, 10000000u }) {
		m.cc.answered = true;
		m.after(100 * us);
		EXPECT_EQ(m.rate(), want);
	}
	machine n("dcqcn:scaled", 100);
	n.cc.answered = true;
	n.after(100 * us);
	EXPECT_TRUE(n.cnp());
	EXPECT_EQ(n.rate(), 1000000u - 492187); /* alpha is 63/64 by now */
	n.cc.answered = true;
	n.after(100 * us);
	EXPECT_EQ(n.rate(), (507813u + 1000000 + 1) / 2); /* from now on the stages count */
}

TEST(CcDcqcn, SpacesPackets)
{
	/* 1 us a byte */
	machine m("dcqcn:paper40g,max_kbps=8000,burst_us=0,alpha_us=1000000");
	u64 at;

	EXPECT_EQ(m.after(0), 0u);
	m.send(1000);
	EXPECT_EQ(m.after(0), m.now + 1000 * us);
	at = m.after(999 * us);
	EXPECT_EQ(at, m.now + 1 * us);
	EXPECT_EQ(m.after(1 * us), 0u);
	/* a cut makes the rest of the wait longer */
	m.send(1000);
	EXPECT_TRUE(m.cnp());
	EXPECT_EQ(m.rate(), 4000u);
	EXPECT_EQ(m.cc.dcqcn.send_at, m.now + 2000 * us);
	/* and the next step up is looked at before it is over */
	EXPECT_EQ(m.after(0), m.now + 55 * us);

	/* a late timer is made up for, up to a burst */
	machine b("dcqcn:paper40g,max_kbps=8000,burst_us=100");
	for (unsigned i = 0; i < 10; i++) {
		EXPECT_EQ(b.after(0), 0u) << i;
		b.send(10);
	}
	EXPECT_EQ(b.after(0), 0u);
	b.send(10);
	EXPECT_EQ(b.after(0), b.now + 10 * us + 50 * us); /* half a burst at once */
}

/* ------------------------------ the window ------------------------------ */

TEST(CcLdcp, StepByStep)
{
	machine m("ldcp");
	u32 &cw = m.cc.ldcp.cw;

	EXPECT_EQ(cw, 65536u << 8);
	/* 1 MTU * 2048 / 65536 */
	EXPECT_FALSE(m.acked(2048, 0));
	EXPECT_EQ(cw, (65536u + 32) << 8);
	/* half of 1000 marked bytes, and 1 MTU * 24 / 65568 = 0.375 for the others */
	EXPECT_TRUE(m.acked(1024, 1000));
	EXPECT_EQ(cw, ((65568u - 500) << 8) + 95);
	cw = 2048 << 8;
	EXPECT_TRUE(m.acked(4096, 4096));
	EXPECT_EQ(cw, 1024u << 8); /* gamma */
	EXPECT_TRUE(m.cc.ops->timeout(&m.cc, m.now));
	EXPECT_EQ(cw, 1024u << 8);
	cw = 10000 << 8;
	EXPECT_TRUE(m.cc.ops->timeout(&m.cc, m.now));
	EXPECT_EQ(cw, 5000u << 8);
	/* alpha 2, beta 1/4, gamma 1/2, at most 9000 */
	machine n("ldcp,alpha=32,beta=2,gamma=1,cwd0=8192,cwd_max=9000");
	EXPECT_FALSE(n.acked(1024, 0));
	EXPECT_EQ(n.cc.ldcp.cw, (8192u + 256) << 8);
	EXPECT_FALSE(n.acked(1u << 30, 0));
	EXPECT_EQ(n.cc.ldcp.cw, 9000u << 8);
	EXPECT_TRUE(n.acked(4000, 4000));
	EXPECT_EQ(n.cc.ldcp.cw, 8000u << 8);
	n.acked(1u << 20, 1u << 20);
	EXPECT_EQ(n.cc.ldcp.cw, 512u << 8);
}

TEST(CcLdcp, TheWindowHolds)
{
	machine m("ldcp,cwd0=4096");

	EXPECT_EQ(m.after(0), 0u);
	m.cc.inflight = 3072;
	EXPECT_EQ(m.cc.ops->wait(&m.cc, 1024 + 28, m.now), 0u);
	EXPECT_EQ(m.cc.ops->wait(&m.cc, 1025 + 28, m.now), UBP_CC_NEVER);
	/* one packet may always be under way */
	m.cc.inflight = 0;
	EXPECT_EQ(m.cc.ops->wait(&m.cc, 9000, m.now), 0u);
	/* before the window closes somebody has to answer */
	EXPECT_TRUE(m.cc.ops->ask(&m.cc, 0));
	m.cc.ldcp.cw = 65536 << 8;
	EXPECT_FALSE(m.cc.ops->ask(&m.cc, 0));
	EXPECT_TRUE(m.cc.ops->ask(&m.cc, 15)); /* a quarter of it */
	m.cc.inflight = 64000;
	EXPECT_TRUE(m.cc.ops->ask(&m.cc, 0));
}

/* ------------------------------ settings ------------------------------ */

TEST(CcSettings, EveryParameterHasItsRange)
{
	for (const ubp_cc_param &p : ubp_cc_params) {
		ubp_cc_conf c;
		const u32 len = u32(std::strlen(p.name));

		ubp_cc_defaults(&c);
		EXPECT_EQ(ubp_cc_param_set(&c.par, p.name, len, p.least), 0) << p.name;
		EXPECT_EQ(ubp_cc_param_set(&c.par, p.name, len, p.most), 0) << p.name;
		const ubp_cc_par was = c.par;
		EXPECT_EQ(ubp_cc_param_set(&c.par, p.name, len, p.most + 1), -ERANGE) << p.name;
		if (p.least) {
			EXPECT_EQ(ubp_cc_param_set(&c.par, p.name, len, p.least - 1), -ERANGE)
				<< p.name;
		}
		EXPECT_EQ(std::memcmp(&was, &c.par, sizeof(was)), 0);
		/* nor does a device accept it */
		ubp_cc_defaults(&c);
		EXPECT_TRUE(ubp_cc_par_ok(&c.par));
		reinterpret_cast<u32 *>(&c.par)[p.off / 4] = p.most + 1;
		EXPECT_FALSE(ubp_cc_par_ok(&c.par)) << p.name;
	}
	EXPECT_EQ(sizeof(ubp_cc_par), 4 * UBP_CC_PARAMS); /* none is without one */
}

TEST(CcSettings, SetsAreWhatTheySay)
{
	ubp_cc_conf c;

	for (const char *set : { "paper40g", "ns3", "mlx5", "scaled" }) {
		ubp_cc_defaults(&c);
		EXPECT_EQ(ubp_cc_set(&c.par, set, u32(std::strlen(set))), 0);
		EXPECT_TRUE(ubp_cc_par_ok(&c.par)) << set;
	}
	EXPECT_EQ(ubp_cc_set(&c.par, "paper", 5), -ENOENT);
	EXPECT_EQ(ubp_cc_set(&c.par, "paper40gg", 9), -ENOENT);
	ASSERT_EQ(ubp_cc_parse(&c, "dcqcn:paper40g"), 0);
	EXPECT_EQ(c.par.cnp_us, 50u);
	EXPECT_EQ(c.par.g, 4u);
	EXPECT_EQ(c.par.rise_us, 55u);
	EXPECT_EQ(c.par.rise_bytes, 10000000u);
	EXPECT_EQ(c.par.stages, 5u);
	ASSERT_EQ(ubp_cc_parse(&c, "dcqcn:mlx5"), 0);
	EXPECT_EQ(c.par.rise_us, 300u);
	EXPECT_EQ(c.par.rise_bytes, 32767u);
	EXPECT_EQ(c.par.ai_kbps, 5000u);
	EXPECT_EQ(c.par.hai_kbps, 50000u);
}

TEST(CcSettings, Text)
{
	ubp_cc_conf c;

	ASSERT_EQ(ubp_cc_parse(&c, "none"), 0);
	EXPECT_EQ(c.alg, UB_CC_NONE);
	ASSERT_EQ(ubp_cc_parse(&c, "ldcp,cwd0=4096,beta=2"), 0);
	EXPECT_EQ(c.alg, UB_CC_LDCP);
	EXPECT_EQ(c.par.cwd0, 4096u);
	EXPECT_EQ(c.par.beta, 2u);
	ASSERT_EQ(ubp_cc_parse(&c, "dcqcn:ns3,ai_kbps=1,hai_kbps=2"), 0);
	EXPECT_EQ(c.par.ai_kbps, 1u);
	const ubp_cc_conf was = c;
	static const std::pair<const char *, int> bad[] = {
		{ "", -EINVAL },
		{ ",g=1", -EINVAL },
		{ "caqmm", -ENOENT },
		{ "dcqc", -ENOENT },
		{ "dcqcnn", -ENOENT },
		{ "dcqcn:", -ENOENT },
		{ "dcqcn:none", -ENOENT },
		{ "dcqcn=1", -EINVAL },
		{ "dcqcn:ns3:ns3", -EINVAL },
		{ "dcqcn,", -EINVAL },
		{ "dcqcn,g", -EINVAL },
		{ "dcqcn,g=", -EINVAL },
		{ "dcqcn,g=-1", -EINVAL },
		{ "dcqcn,g=1x", -EINVAL },
		{ "dcqcn,g=1 ", -EINVAL },
		{ "dcqcn,g=00000000001", -EINVAL },
		{ "dcqcn,g=0", -ERANGE },
		{ "dcqcn,g=1025", -ERANGE },
		{ "dcqcn,g=4294967297", -ERANGE },
		{ "dcqcn,gg=1", -ENOENT },
		{ "dcqcn,=1", -ENOENT },
		{ "dcqcn,g=1,", -EINVAL },
		{ "dcqcn,g=1=2", -EINVAL },
		{ "dcqcn,max_kbps=1000,min_kbps=1001", -ERANGE },
		{ "ldcp,cwd0=2000,cwd_max=1999", -ERANGE },
	};
	for (auto &[text, err] : bad)
		EXPECT_EQ(ubp_cc_parse(&c, text), err) << text;
	EXPECT_EQ(std::memcmp(&was, &c, sizeof(c)), 0);
	EXPECT_STREQ(ubp_cc_name(UB_CC_DCQCN), "dcqcn");
	EXPECT_STREQ(ubp_cc_name(UB_CC_CAQM), "caqm");
	EXPECT_EQ(ubp_cc_name(4), nullptr);
	EXPECT_EQ(ubp_cc_name(255), nullptr);
}

TEST(CcSettings, ADeviceLooksAtThem)
{
	ubp_dev d{};
	ubp_ops ops{};

	d.ops = &ops;
	ubp_config_defaults(&d.cfg);
	d.cfg.cc.alg = 4;
	EXPECT_EQ(ubp_dev_init(&d), -EINVAL);
	d.cfg.cc.alg = UB_CC_LDCP;
	d.cfg.cc.par.stages = 0;
	EXPECT_EQ(ubp_dev_init(&d), -EINVAL);
}
} /* namespace */
