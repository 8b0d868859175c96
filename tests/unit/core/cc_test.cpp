// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Congestion control of channels (docs/decisions/0037). */
#include <set>

#include <gtest/gtest.h>

#include "golden.hpp"
#include "rig.hpp"

extern "C" {
#include "ubp_native.h"
}

using namespace rig;

namespace
{
constexpr u64 us = 1000;

ubp_config with(const char *text, u8 retrans = 0xff)
{
	ubp_config c = ubsim::host::small_config();

	EXPECT_EQ(ubp_cc_parse(&c.cc, text), 0) << text;
	if (retrans != 0xff)
		c.retrans = retrans;
	return c;
}

/* Two ends whose channel the test opens, packet by packet */
struct wire : pair {
	explicit wire(const ubp_config &cfg, bool v6 = false) : pair(v6, cfg) {}

	bool open(u8 cc_a, u8 cc_b)
	{
		for (end *e : { &a, &b })
			if (e->q->connect({ .local = e->self,
					    .remote = e == &a ? b.self : a.self,
					    .rmt_jetty = e == &a ? b.id : a.id,
					    .cc = e == &a ? cc_a : cc_b }))
				return false;
		run();
		return a.tp()->state == UBP_TP_OPEN && b.tp()->state == UBP_TP_OPEN;
	}
	bool open(u8 cc) { return open(cc, cc); }
	u8 alg(end &e)
	{
		uboe_tp_ctx c{};

		EXPECT_EQ(e.h.query(UBOE_MBOX_TP, UB_TPN_RC(e.id), c), 0);
		return c.cc;
	}
	void write(u32 len)
	{
		a.q->post({ .op = UBOE_SQE_WRITE,
			    .sges = { a.local(0, len) },
			    .remote = b.m.va(),
			    .rkey = key });
	}
	void pass(u64 ns)
	{
		a.h.time += ns;
		b.h.time += ns;
		a.h.run_timers();
		b.h.run_timers();
	}
};

u8 op_of(const bytes &p)
{
	return p[tph_at(p)] & UB_TPH_OPCODE;
}

u8 ecn_of(const bytes &p)
{
	return p[0] >> 4 == 4 ? p[1] & 3 : p[1] >> 4 & 3;
}

std::vector<bytes> take(end &e)
{
	std::vector<bytes> all;

	for (auto &p : e.h.out())
		all.push_back(std::move(p.data));
	e.h.out().clear();
	return all;
}

/* Levels of the CNPs that it has sent; the other packets are gone */
std::vector<unsigned> cnps(end &e)
{
	std::vector<unsigned> levels;

	for (const bytes &p : take(e))
		if (op_of(p) == UB_TP_CNP)
			levels.push_back(p[tph_at(p) + UB_TPH_LEN] >> 6);
	return levels;
}

using levels = std::vector<unsigned>;

/* A packet from @from, without payload behind its TPH but @rest */
bytes answer(const end &from, const end &to, u8 op, std::vector<u8> rest, u32 psn = 0)
{
	ubp_tp *tp = const_cast<end &>(from).tp();
	bytes p(ubp_encap_len(&tp->path) + UB_TPH_LEN + rest.size() + UB_ICRC_LEN);
	ubp_tph t{};

	t.op = op;
	t.src = UB_TPN_RC(from.id);
	t.dst = UB_TPN_RC(to.id);
	t.psn = psn;
	ubp_encap_fill(&tp->path, 0, p.data(), u32(p.size()));
	ubp_tph_build(&p[tph_at(p)], &t);
	std::copy(rest.begin(), rest.end(), p.begin() + std::ptrdiff_t(tph_at(p) + UB_TPH_LEN));
	seal(p);
	return p;
}

bytes cnp(const end &from, const end &to, u8 level)
{
	std::vector<u8> rest(UB_CNP_CETPH_LEN);

	rest[0] = u8(level << 6);
	return answer(from, to, UB_TP_CNP, rest);
}

/* ------------------------------ the wire ------------------------------ */

class CcVector : public testing::TestWithParam<bool>
{
      protected:
	/* The numbers of the golden vectors' answers */
	wire w{ with("ldcp"), GetParam() };

	void SetUp() override
	{
		ASSERT_TRUE(w.open(UB_CC_LDCP));
		ubp_tp *tp = w.b.tp();

		tp->tpn = 0x202;
		tp->peer_tpn = 0x101;
		tp->path.sport = 49152;
		tp->path.flow = 0x12345;
		std::memcpy(tp->path.laddr, golden_addr(2).b.data(), 16);
		std::memcpy(tp->path.raddr, golden_addr(1).b.data(), 16);
		w.b.h.out().clear();
	}
	void TearDown() override { w.b.tp()->tpn = UB_TPN_RC(w.b.id); }
	static address golden_addr(u8 n)
	{
		address x = address::v4(192, 0, 2, n);

		if (GetParam()) {
			x.b = { 0x20, 0x01, 0x0d, 0xb8 };
			x.b[15] = n;
		}
		return x;
	}
	/* But for ECN: the vectors say ECT(0), answers of ours are not ECN-capable */
	void expect(const std::string &name)
	{
		auto all = golden::load(UBOE_VECTORS "/golden.txt", nullptr);
		std::vector<bytes> out = take(w.b);
		bool found = false;

		ASSERT_TRUE(all);
		ASSERT_EQ(out.size(), 1u);
		for (golden::vector &v : *all) {
			if (v.name != name + (GetParam() ? ".6" : ".4"))
				continue;
			found = true;
			if (GetParam()) {
				v.packet[1] &= 0xcf;
			} else {
				v.packet[1] &= 0xfc;
				std::copy_n(&out[0][10], 2, &v.packet[10]); /* its sum */
			}
			EXPECT_EQ(out[0], v.packet);
		}
		EXPECT_TRUE(found);
	}
};

TEST_P(CcVector, Cnp)
{
	ASSERT_TRUE(ubp_tp_send_cnp(w.b.tp(), UB_CNP_ECN_SEVERE));
	expect("C");
}

TEST_P(CcVector, AcknowledgementWithCounters)
{
	ubp_tp *tp = w.b.tp();

	tp->rcv_nxt = 11;
	tp->rsp.exec_msn = 1;
	tp->cc->rx_ack = 28;
	ubp_tp_send_ack(tp);
	expect("L");
}

INSTANTIATE_TEST_SUITE_P(V4V6, CcVector, testing::Bool());

TEST(CcWire, CountersAreThoseOfTheSpecification)
{
	wire w(with("ldcp"));

	ASSERT_TRUE(w.open(UB_CC_LDCP));
	/* the packet of golden vector W: 56 bytes from the TPH to the ICRC */
	w.write(5);
	w.run(1);
	EXPECT_EQ(w.b.tp()->cc->rx_ack, 28u);
	EXPECT_EQ(w.b.tp()->cc->rx_ce, 0u);
	EXPECT_EQ(w.a.tp()->cc->seen_ack, 28u);
	w.b.h.mark = UBP_MARK_SEVERE;
	w.write(1024);
	w.run(1);
	/* 16 + 8 + 16 + 4 + 1024 + 4 */
	EXPECT_EQ(w.b.tp()->cc->rx_ack, 28u + 536);
	EXPECT_EQ(w.a.tp()->cc->seen_ce, 536u);
	EXPECT_EQ(w.a.h.stat(UBP_S_CC_REDUCTIONS), 1u);
}

class CcEcn : public testing::TestWithParam<std::tuple<u8, bool>>
{
};

/* ECT(0) is asked for where somebody reacts, of data alone */
TEST_P(CcEcn, OnlyDataOfControlledChannels)
{
	const auto [cc, v6] = GetParam();
	wire w(with("none"), v6);

	ASSERT_TRUE(w.open(cc));
	w.b.h.mark = UBP_MARK_SEVERE;
	w.write(2000);
	for (unsigned n = 0; n < 10; n++) {
		for (const bytes &p : take(w.a)) {
			EXPECT_EQ(op_of(p), UB_TP_RTP_DATA);
			EXPECT_EQ(ecn_of(p), cc ? UB_ECN_ECT0 : UB_ECN_NOT_ECT);
			w.b.h.receive(p);
		}
		for (const bytes &p : take(w.b)) {
			EXPECT_NE(op_of(p), UB_TP_RTP_DATA);
			EXPECT_EQ(ecn_of(p), UB_ECN_NOT_ECT);
			w.a.h.receive(p);
		}
		w.pass(100 * us);
	}
	EXPECT_TRUE(w.a.tx.poll());
	EXPECT_EQ(w.b.h.stat(UBP_S_CE_RECEIVED), cc ? 2u : 0u);
	EXPECT_EQ(w.b.h.stat(UBP_S_CNP_SENT) > 0, cc == UB_CC_DCQCN);
}

INSTANTIATE_TEST_SUITE_P(All, CcEcn,
			 testing::Combine(testing::Values(UB_CC_NONE, UB_CC_DCQCN, UB_CC_LDCP),
					  testing::Bool()));

/* ------------------------------ negotiation ------------------------------ */

TEST(CcNegotiation, WhatBothWantOrNothing)
{
	for (u8 x : { UB_CC_NONE, UB_CC_DCQCN, UB_CC_LDCP })
		for (u8 y : { UB_CC_NONE, UB_CC_DCQCN, UB_CC_LDCP }) {
			wire w(with("none"));

			ASSERT_TRUE(w.open(x, y)) << int(x) << int(y);
			EXPECT_EQ(w.alg(w.a), x == y ? x : 0) << int(x) << int(y);
			EXPECT_EQ(w.alg(w.b), x == y ? x : 0) << int(x) << int(y);
			EXPECT_EQ(w.a.h.stat(UBP_S_CC_NOT_MAPPABLE), 0u);
			w.write(100);
			w.run(2);
			EXPECT_TRUE(w.a.tx.poll());
		}
}

/* Says what it wants in a REQ, what is used in a REP and a READY */
TEST(CcNegotiation, MessagesSayWhatIsUsed)
{
	wire w(with("none"));
	std::map<unsigned, std::set<unsigned>> said;

	ASSERT_EQ(w.a.q->connect({ .local = w.a.self,
				   .remote = w.b.self,
				   .rmt_jetty = w.b.id,
				   .cc = UB_CC_DCQCN }),
		  0);
	EXPECT_EQ(w.alg(w.a), UB_CC_DCQCN); /* wanted; nobody has answered */
	ASSERT_EQ(w.b.q->connect({ .local = w.b.self,
				   .remote = w.a.self,
				   .rmt_jetty = w.a.id,
				   .cc = UB_CC_LDCP }),
		  0);
	for (unsigned n = 0; n < 4; n++)
		for (end *e : { &w.a, &w.b })
			for (const bytes &p : take(*e)) {
				const u8 *body = &p[p.size() - UB_ICRC_LEN - UB_TPCM_LEN];

				said[body[UB_TPCM_O_TYPE]].insert(body[UB_TPCM_O_CC]);
				(e == &w.a ? w.b : w.a).h.receive(p);
			}
	EXPECT_EQ(said[UB_TPCM_REQ], (std::set<unsigned>{ UB_CC_DCQCN, UB_CC_LDCP }));
	EXPECT_EQ(said[UB_TPCM_REP], (std::set<unsigned>{ UB_CC_NONE }));
	EXPECT_EQ(said[UB_TPCM_READY], (std::set<unsigned>{ UB_CC_NONE }));
}

/* CAQM, FECN_RTT and what else has no fields on Ethernet: none, and it is counted */
TEST(CcNegotiation, WhatEthernetCannotCarryIsNone)
{
	for (u8 alg : { 2, 4, 5, 6, 7, 8, 255 }) {
		wire w(with("none"));

		for (end *e : { &w.a, &w.b })
			ASSERT_EQ(e->q->connect({ .local = e->self,
						  .remote = e == &w.a ? w.b.self : w.a.self,
						  .rmt_jetty = e == &w.a ? w.b.id : w.a.id,
						  .cc = UB_CC_DCQCN }),
				  0);
		for (unsigned n = 0; n < 4; n++) {
			for (bytes &p : take(w.a)) {
				p[p.size() - UB_ICRC_LEN - UB_TPCM_LEN + UB_TPCM_O_CC] = alg;
				seal(p);
				w.b.h.receive(p);
			}
			pair::carry(w.b, w.a);
		}
		EXPECT_EQ(w.alg(w.b), UB_CC_NONE);
		EXPECT_GE(w.b.h.stat(UBP_S_CC_NOT_MAPPABLE), 1u);
	}
}

TEST(CcNegotiation, NoMemoryIsNoChannel)
{
	wire w(with("none"));

	w.a.h.no_memory = true;
	EXPECT_NE(w.a.q->connect({ .local = w.a.self,
				   .remote = w.b.self,
				   .rmt_jetty = w.b.id,
				   .cc = UB_CC_LDCP }),
		  0);
}

/* ------------------------------ CNPs of a receiver ------------------------------ */

class CcCnp : public testing::Test
{
      protected:
	std::unique_ptr<wire> w;

	void open(u32 caps_b = UB_CAP_CNP2)
	{
		ubp_config c = with("dcqcn:paper40g");

		c.caps = (c.caps & ~u32(UB_CAP_CNP2)) | caps_b;
		w = std::make_unique<wire>(c);
		ASSERT_TRUE(w->open(UB_CC_DCQCN));
		w->pass(1000 * us);
		take(w->a);
		take(w->b);
	}
	/* One data packet with this mark */
	void data(u8 mark)
	{
		w->write(8);
		w->b.h.mark = mark;
		for (bytes &p : take(w->a))
			w->b.h.receive(std::move(p));
	}
};

TEST_F(CcCnp, AtOnceThenOncePerInterval)
{
	open();
	data(UBP_MARK_AS_IP);
	EXPECT_EQ(cnps(w->b), levels{});
	data(UBP_MARK_SEVERE);
	EXPECT_EQ(cnps(w->b), levels{ 3 });
	w->pass(10 * us);
	data(UBP_MARK_SEVERE);
	data(UBP_MARK_SEVERE);
	EXPECT_EQ(cnps(w->b), levels{}); /* put off */
	w->pass(39 * us);
	EXPECT_EQ(cnps(w->b), levels{});
	w->pass(1 * us); /* 50 us after the first */
	EXPECT_EQ(cnps(w->b), levels{ 3 });
	w->pass(50 * us);
	EXPECT_EQ(cnps(w->b), levels{}); /* nothing is owed any more */
	data(UBP_MARK_SEVERE);
	EXPECT_EQ(cnps(w->b), levels{ 3 });
	EXPECT_EQ(w->b.h.stat(UBP_S_CNP_SENT), 3u);
	EXPECT_EQ(w->b.h.stat(UBP_S_CE_RECEIVED), 4u);
}

TEST_F(CcCnp, TheWorstLevelCounts)
{
	open();
	data(UBP_MARK_LIGHT);
	EXPECT_EQ(cnps(w->b), levels{ 1 });
	data(UBP_MARK_LIGHT);
	data(UBP_MARK_SEVERE);
	data(UBP_MARK_LIGHT);
	data(UBP_MARK_NONE);
	w->pass(50 * us);
	EXPECT_EQ(cnps(w->b), levels{ 3 });
	w->pass(50 * us);
	data(UBP_MARK_LIGHT); /* what was severe has been told */
	EXPECT_EQ(cnps(w->b), levels{ 1 });
}

TEST_F(CcCnp, OneLevelIsSevere)
{
	open(0);
	data(UBP_MARK_LIGHT);
	EXPECT_EQ(cnps(w->b), levels{ 3 });
}

TEST_F(CcCnp, MarksOfTheIpHeaderAreSevere)
{
	open();
	w->b.h.mark = UBP_MARK_AS_IP;
	w->write(8);
	for (bytes &p : take(w->a)) {
		p[1] |= UB_ECN_CE;
		std::fill_n(&p[10], 2, 0); /* nobody looks at the sum */
		w->b.h.receive(std::move(p));
	}
	EXPECT_EQ(cnps(w->b), levels{ 3 });
	/* who knows that the way was clear is believed */
	w->pass(100 * us);
	w->write(8);
	w->b.h.mark = UBP_MARK_NONE;
	for (bytes &p : take(w->a)) {
		p[1] |= UB_ECN_CE;
		w->b.h.receive(std::move(p));
	}
	EXPECT_EQ(cnps(w->b), levels{});
}

/* At a port of a UB domain FECN says it, whatever the IP header does */
TEST_F(CcCnp, FecnOfANativeNetwork)
{
	struct {
		unsigned mode;
		unsigned fecn;
		levels want;
	} static const cases[] = {
		{ UB_CCI_MODE_FECN, UB_FECN_UNMARKABLE, {} },
		{ UB_CCI_MODE_FECN, UB_FECN_LIGHT, { 1 } },
		{ UB_CCI_MODE_FECN, UB_FECN_MARKABLE, {} },
		{ UB_CCI_MODE_FECN, UB_FECN_SEVERE, { 3 } },
		{ UB_CCI_MODE_CAQM, 0, { 3 } }, /* nothing of ours: the IP header counts */
	};

	open();
	for (auto &c : cases) {
		w->pass(100 * us);
		w->write(8);
		for (const bytes &p : take(w->a)) {
			bytes frame(UB_NATIVE_LEN + p.size());
			ubp_native n{};
			ubp_rxpkt pkt{};

			std::copy(p.begin(), p.end(), frame.begin() + UB_NATIVE_LEN);
			frame[UB_NATIVE_LEN + 1] |= UB_ECN_CE;
			n.len = u32(frame.size());
			n.npi = UB_NPI_DEFAULT;
			n.cci = u16(c.mode << 13 | c.fecn);
			n.cfg = UB_CFG_IPV4;
			n.rt = UB_RT_DEFAULT;
			ubp_native_build(frame.data(), &n);
			pkt.data = frame.data();
			pkt.len = u32(frame.size());
			EXPECT_FALSE(ubp_rx_native(w->b.h.dev(), &pkt));
		}
		EXPECT_EQ(cnps(w->b), c.want) << c.mode << ' ' << c.fecn;
	}
}

/* A duplicate crossed the congested way, too */
TEST_F(CcCnp, DuplicatesTell)
{
	open();
	w->write(8);
	std::vector<bytes> out = take(w->a);
	ASSERT_EQ(out.size(), 1u);
	w->b.h.receive(out[0]);
	take(w->b);
	w->b.h.mark = UBP_MARK_SEVERE;
	w->b.h.receive(out[0]);
	EXPECT_EQ(cnps(w->b), levels{ 3 });
	EXPECT_EQ(w->b.tp()->cc->rx_ack, 28u); /* but counts once: 56 bytes */
}

/* ------------------------------ CNPs at a sender ------------------------------ */

TEST(CcSender, CnpWithoutControlIsCountedAndIgnored)
{
	wire w(with("none"));
	moved m(w.a.h);

	ASSERT_TRUE(w.open(UB_CC_NONE));
	w.a.h.receive(cnp(w.b, w.a, 3));
	EXPECT_EQ(w.a.h.stat(UBP_S_CNP_RECEIVED), 1u);
	EXPECT_EQ(w.a.h.stat(UBP_S_CC_REDUCTIONS), 0u);
	EXPECT_EQ(m.drops(), "");
	/* nor does a window know what to do with it */
	wire l(with("none"));
	ASSERT_TRUE(l.open(UB_CC_LDCP));
	l.a.h.receive(cnp(l.b, l.a, 3));
	EXPECT_EQ(l.a.h.stat(UBP_S_CNP_RECEIVED), 1u);
	EXPECT_EQ(l.a.h.stat(UBP_S_CC_REDUCTIONS), 0u);
}

TEST(CcSender, LevelsOfACnp)
{
	struct {
		u8 level;
		u32 caps;
		u32 rate;
	} static const cases[] = {
		{ 0, UB_CAP_CNP2, 40000000 }, /* none */
		{ 1, UB_CAP_CNP2, 30000000 }, /* alpha / 4 */
		{ 3, UB_CAP_CNP2, 20000000 }, /* alpha / 2 */
		{ 1, 0, 20000000 }, /* who did not announce levels has none */
	};

	for (auto &c : cases) {
		ubp_config cfg = with("dcqcn:paper40g,alpha_us=1000000");

		cfg.caps = (cfg.caps & ~u32(UB_CAP_CNP2)) | c.caps;
		wire w(cfg);
		ASSERT_TRUE(w.open(UB_CC_DCQCN));
		EXPECT_EQ(w.a.tp()->cc->dcqcn.rate, 40000000u);
		w.a.h.receive(cnp(w.b, w.a, c.level));
		EXPECT_EQ(w.a.tp()->cc->dcqcn.rate, c.rate) << int(c.level) << ' ' << c.caps;
		EXPECT_EQ(w.a.h.stat(UBP_S_CC_REDUCTIONS), c.rate != 40000000);
		EXPECT_EQ(w.a.h.stat(UBP_S_CNP_RECEIVED), 1u);
	}
}

TEST(CcSender, MalformedIsDroppedByName)
{
	wire w(with("none"));

	ASSERT_TRUE(w.open(UB_CC_DCQCN));
	auto drop = [&](bytes p) {
		moved m(w.a.h);

		w.a.h.receive(std::move(p));
		EXPECT_EQ(m.by(UBP_S_CNP_RECEIVED), 0u);
		return m.drops();
	};
	EXPECT_EQ(drop(cnp(w.b, w.a, 2)), "drop_cnp");
	EXPECT_EQ(drop(answer(w.b, w.a, UB_TP_CNP, std::vector<u8>(8))), "drop_length");
	EXPECT_EQ(drop(answer(w.b, w.a, UB_TP_CNP, std::vector<u8>(20))), "drop_length");
	EXPECT_EQ(w.a.tp()->cc->dcqcn.rate, w.a.tp()->cc->par->max_kbps / 20);
}

/* Ack_Seq and Ce_Seq that no honest end sends */
TEST(CcSender, NonsenseCountersAreDropped)
{
	wire w(with("none"));

	ASSERT_TRUE(w.open(UB_CC_LDCP));
	w.write(1024);
	take(w.a);
	const u32 psn = w.a.tp()->snd_una, cw = w.a.tp()->cc->ldcp.cw;
	auto ack = [&](u32 acked, u32 marked) {
		std::vector<u8> rest(8);
		moved m(w.a.h);

		put_unaligned_be32(acked, &rest[0]);
		put_unaligned_be32(marked, &rest[4]);
		w.a.h.receive(answer(w.b, w.a, UB_TP_ACK_CC, rest, psn));
		return m.drops();
	};
	EXPECT_EQ(ack(537, 0), "drop_cc_counters"); /* 536 were sent */
	EXPECT_EQ(ack(536, 537), "drop_cc_counters");
	EXPECT_EQ(ack(0, 1), "drop_cc_counters");
	EXPECT_EQ(ack(~0u, 5), ""); /* of an older answer */
	EXPECT_EQ(w.a.tp()->cc->ldcp.cw, cw);
	EXPECT_EQ(ack(536, 0), "");
	EXPECT_EQ(w.a.tp()->snd_una, w.a.tp()->snd_nxt);
	EXPECT_GT(w.a.tp()->cc->ldcp.cw, cw);
}

/* ------------------------------ what is under way ------------------------------ */

class CcBooks : public testing::Test
{
      protected:
	static constexpr u32 size = 16 + 8 + 16 + 4 + 1024 + 4;
	std::unique_ptr<wire> w;

	void open(u8 retrans)
	{
		w = std::make_unique<wire>(with("ldcp", retrans));
		ASSERT_TRUE(w->open(UB_CC_LDCP));
		take(w->a);
	}
	u32 inflight() { return w->a.tp()->cc->inflight; }
	void finish()
	{
		w->run(1000);
		EXPECT_TRUE(w->a.tx.poll());
		EXPECT_EQ(inflight(), 0u);
		EXPECT_EQ(w->a.tp()->cc->total, w->b.tp()->cc->rx_ack);
		EXPECT_EQ(w->a.tp()->cc->seen_ack, w->b.tp()->cc->rx_ack);
	}
	/* Four packets, of which the second is lost */
	void lose()
	{
		w->write(4096);
		std::vector<bytes> out = take(w->a);

		ASSERT_EQ(out.size(), 4u);
		EXPECT_EQ(inflight(), 4 * size);
		for (unsigned i : { 0u, 2u, 3u })
			w->b.h.receive(out[i]);
		pair::carry(w->b, w->a);
	}
};

TEST_F(CcBooks, Selective)
{
	open(UB_TPCM_RETRANS_SR | UB_TPCM_RETRANS_FAST | UB_TPCM_RETRANS_MARK);
	lose();
	/* the others have arrived; it is under way again */
	EXPECT_EQ(w->a.h.stat(UBP_S_RETRANSMITS), 1u);
	EXPECT_EQ(inflight(), size);
	EXPECT_EQ(w->a.tp()->cc->seen_ack, 3 * size / 2);
	finish();
}

TEST_F(CcBooks, GoBackN)
{
	open(UB_TPCM_RETRANS_FAST);
	lose();
	/* three are sent again, and all that was under way before is not */
	EXPECT_EQ(w->a.h.stat(UBP_S_RETRANSMITS), 3u);
	EXPECT_EQ(inflight(), 3 * size);
	EXPECT_EQ(w->a.tp()->cc->seen_ack, size / 2); /* what was dropped is not counted */
	finish();
}

TEST_F(CcBooks, Timeout)
{
	open(UB_TPCM_RETRANS_SR | UB_TPCM_RETRANS_FAST | UB_TPCM_RETRANS_MARK);
	const u32 cw = w->a.tp()->cc->ldcp.cw;

	w->write(4096);
	take(w->a);
	w->pass(30000 * us);
	EXPECT_EQ(w->a.h.stat(UBP_S_TIMEOUTS), 1u);
	EXPECT_EQ(inflight(), size); /* the probe alone */
	EXPECT_EQ(w->a.tp()->cc->ldcp.cw, cw / 2);
	EXPECT_EQ(w->a.h.stat(UBP_S_CC_REDUCTIONS), 1u);
	finish();
}

/* They were late, not lost: they are under way again without being sent */
TEST_F(CcBooks, TimeoutInVain)
{
	open(UB_TPCM_RETRANS_SR | UB_TPCM_RETRANS_FAST | UB_TPCM_RETRANS_MARK);
	w->write(4096);
	std::vector<bytes> out = take(w->a);
	w->pass(30000 * us);
	take(w->a);
	for (unsigned i : { 0u, 1u })
		w->b.h.receive(out[i]);
	w->b.h.time += 20000 * us;
	w->b.h.run_timers(); /* its acknowledgement is due */
	pair::carry(w->b, w->a);
	EXPECT_EQ(inflight(), 2 * size);
	EXPECT_EQ(w->a.tp()->lost, 0u);
	finish();
}

/* A probe waits for no rate */
TEST(CcPacing, ProbesGoAtOnce)
{
	wire w(with("dcqcn:paper40g,max_kbps=1000,min_kbps=1000,burst_us=0"));

	ASSERT_TRUE(w.open(UB_CC_DCQCN));
	w.write(2048);
	EXPECT_EQ(take(w.a).size(), 1u); /* the next one 9 ms later */
	ASSERT_EQ(w.a.h.timers().count(UB_TPN_RC(w.a.id)), 1u);
	EXPECT_LE(w.a.h.timers().at(UB_TPN_RC(w.a.id)), w.a.h.time + 9000 * us);
	w.pass(9000 * us);
	EXPECT_EQ(take(w.a).size(), 1u);
	w.pass(30000 * us);
	EXPECT_EQ(w.a.h.stat(UBP_S_TIMEOUTS), 1u);
	EXPECT_EQ(take(w.a).size(), 1u);
	w.run(1000);
	EXPECT_TRUE(w.a.tx.poll());
}
} /* namespace */
