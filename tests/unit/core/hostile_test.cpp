// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Peers that lie in well-formed packets, and programs that change their rings
 * while the engine works.
 */
#include <gtest/gtest.h>

#include "rig.hpp"

using namespace rig;

namespace
{

/* A packet that @from's channel could have sent */
bytes forge(end &from, end &to, ubp_tph t, const ubp_ta *h, const bytes &payload)
{
	const ubp_path &path = from.tp()->path;
	std::uint32_t at = ubp_encap_len(&path), ta = h ? ubp_ta_len(h) : 0;
	bytes p(at + UB_TPH_LEN + ta + payload.size() + UB_ICRC_LEN);

	t.src = from.tp()->tpn;
	t.dst = to.tp()->tpn;
	ubp_encap_fill(&path, 0, p.data(), static_cast<u32>(p.size()));
	ubp_tph_build(p.data() + at, &t);
	if (h)
		ubp_ta_build(p.data() + at + UB_TPH_LEN, h);
	std::copy(payload.begin(), payload.end(), p.begin() + at + UB_TPH_LEN + ta);
	seal(p);
	return p;
}

class Hostile : public testing::Test
{
      protected:
	void SetUp() override
	{
		ASSERT_TRUE(p.connect());
		silence();
		rsp_psn = p.a.tp()->rcv_nxt;
	}

	void silence()
	{
		p.a.h.out().clear();
		p.b.h.out().clear();
	}

	void post(const ubsim::send_wr &wr)
	{
		p.a.q->retire(p.a.q->post(wr));
		p.a.h.run_turns();
	}

	void acknowledge(u32 psn, u32 msn, u8 rspst = 0)
	{
		ubp_tph t{};

		t.op = UB_TP_ACK;
		t.psn = psn & UB_PSN_MASK;
		t.msn = msn;
		t.rspst = rspst;
		p.a.h.receive(forge(p.b, p.a, t, nullptr, {}));
	}

	void answer(u16 ssn, u32 kib, bool last, u32 msn, u8 fill)
	{
		ubp_tph t{};
		ubp_ta h{};

		t.op = UB_TP_RTP_DATA;
		t.last = last;
		t.psn = rsp_psn;
		t.msn = msn;
		rsp_psn = ubp_psn_add(rsp_psn, 1);
		h.op = UB_TA_READ_RSP;
		h.ssn = ssn;
		h.taid = ssn;
		h.ofst = kib;
		p.a.h.receive(forge(p.b, p.a, t, &h, bytes(1024, fill)));
	}

	pair p;
	u32 rsp_psn = 0;
};

TEST_F(Hostile, AMessageInFlightWasNotExecuted)
{
	ubp_tp *tp = p.a.tp();
	const u32 isn = tp->snd_una;
	moved m(p.a.h);

	post({ .op = UBOE_SQE_WRITE,
	       .sges = { p.a.local(0, 65536) },
	       .remote = p.b.m.va(),
	       .rkey = key });
	ASSERT_GE(ubp_tp_in_flight(tp), 64u);
	acknowledge(isn + 59, tp->snd_msn);
	EXPECT_FALSE(p.a.tx.poll()) << "four packets of it are not acknowledged";
	EXPECT_EQ(m.by(UBP_D_ACK_INVALID), 1u);
	/* the truth counts all the same */
	acknowledge(tp->snd_nxt - 1, tp->snd_msn);
	EXPECT_TRUE(p.a.tx.poll());
}

TEST_F(Hostile, ASlotIsNotReusedUnderAPacketInFlight)
{
	ubp_tp *tp = p.a.tp();
	const u32 isn = tp->snd_una;

	post({ .op = UBOE_SQE_WRITE,
	       .sges = { p.a.local(0, 65536) },
	       .remote = p.b.m.va(),
	       .rkey = key });
	acknowledge(isn + 59, tp->snd_msn);
	for (unsigned i = 0; i < UBP_MSG_WIN; i++) {
		post({ .op = UBOE_SQE_SEND, .inl = true, .data = bytes(8, 0x41) });
		acknowledge(isn + 59, tp->snd_msn);
		p.a.tx.poll();
	}
	silence();
	p.a.h.time += 2000000000;
	p.a.h.run_timers();
	for (auto &o : p.a.h.out())
		EXPECT_EQ(o.data[tph_at(o.data) + UB_TPH_LEN] & 0x1f, UB_TA_WRITE)
			<< "still the Write";
}

TEST_F(Hostile, AnAnswerThatWasTakenBackDoesNotCount)
{
	ubp_tp *tp = p.a.tp();
	ubp_ini *ini = tp->jetty->ini;

	post({ .op = UBOE_SQE_READ,
	       .sges = { p.a.local(0, 131072) },
	       .remote = p.b.m.va(),
	       .rkey = key });
	ASSERT_EQ(ini->rd_tail - ini->rd_head, 2u);
	const u16 ssn = ini->rd[0].ssn;

	for (unsigned i = 0; i < 64; i++)
		answer(ssn, i, false, 0, 0xaa); /* all of the first half, but never "last" */
	acknowledge(tp->snd_una - 1, ini->rd[0].msn, UB_RSPST_RNR);
	p.a.h.time += 100000;
	p.a.h.run_timers();
	p.a.h.run_turns();
	ASSERT_EQ(ini->rd_tail - ini->rd_head, 1u) << "less at a time, because it was refused";
	for (unsigned i = 0; i < 64; i++)
		answer(ssn, i, i == 63, 0, 0xbb);
	EXPECT_FALSE(p.a.tx.poll()) << "the second half has not come";
	ASSERT_EQ(ini->rd_tail - ini->rd_head, 1u) << "but has been asked for";
	for (unsigned i = 0; i < 64; i++)
		answer(u16(ssn + 1), 64 + i, i == 63, 1, 0xcc);
	auto c = p.a.tx.poll();

	ASSERT_TRUE(c);
	EXPECT_EQ(UBP_GET(UBOE_CQE_STATUS, c->w0), UBOE_CQE_OK);
	EXPECT_EQ(p.a.m.load(65535, 1), 0xbbu);
	EXPECT_EQ(p.a.m.load(65536, 1), 0xccu);
}

/* Much more than one call may do; a fault ends here instead of never */
constexpr u32 enough = 1u << 20;

TEST_F(Hostile, APostingProgramDoesNotKeepTheEngine)
{
	ubp_jetty *j = ubp_jetty_find(p.a.h.dev(), p.a.id);
	auto *db = reinterpret_cast<__le32 *>(j->page + UBOE_JPAGE_DB);
	u32 arm = 4;

	for (u32 i = 0; i <= j->sq_mask; i++) {
		auto *sqe = reinterpret_cast<uboe_sqe *>(const_cast<u8 *>(j->sq) + i * UBOE_BB);

		sqe->w0 = UBOE_SQE_CQE;
		sqe->w1 = UBOE_SQE_NOP << 8;
	}
	/* with each completion: take it, arm again, post another ring of NOPs */
	p.a.h.meanwhile = [&] {
		j->tx_jfc->rec->ci = j->tx_jfc->pi;
		j->tx_jfc->rec->arm = (arm += 4) | UBOE_ARM_NEXT;
		if (j->fetched < enough)
			*db = j->fetched + j->sq_mask;
	};
	p.a.h.meanwhile();
	p.a.h.kick(p.a.id);
	EXPECT_LE(j->fetched, UBP_MSG_WIN * (p.a.h.dev()->cfg.budget + 1u));
	EXPECT_FALSE(p.a.h.turns().empty()) << "it goes on in its next turn";
	p.a.h.meanwhile = nullptr;
}

TEST_F(Hostile, AReceivingProgramDoesNotKeepTheEngine)
{
	ubp_jetty *j = ubp_jetty_find(p.a.h.dev(), p.a.id);
	u32 arm = 4;

	ASSERT_EQ(p.a.q->to_state(UBOE_JS_ERROR), 0);
	p.a.h.turns().clear();
	p.a.h.meanwhile = [&] {
		j->rx_jfc->rec->ci = j->rx_jfc->pi;
		j->rx_jfc->rec->arm = (arm += 4) | UBOE_ARM_NEXT;
		if (j->jfr->ci < enough)
			j->jfr->rec->pi = j->jfr->ci + j->jfr->mask;
	};
	p.a.h.meanwhile();
	p.a.h.kick(p.a.id);
	EXPECT_LE(j->jfr->ci, j->jfr->mask + 1);
	EXPECT_FALSE(p.a.h.turns().empty()) << "it goes on in its next turn";
	p.a.h.meanwhile = nullptr;
}

TEST_F(Hostile, ACloseLeavesNoWorkBehind)
{
	ubp_jetty *j = ubp_jetty_find(p.a.h.dev(), p.a.id);

	/* posted without a kick, because the engine seemed to be awake */
	WRITE_ONCE(*reinterpret_cast<__le32 *>(j->page + UBOE_JPAGE_NEED_KICK), 0);
	p.a.q->put({ .op = UBOE_SQE_NOP });
	p.a.q->ring();
	ubp_lock(&j->lock);
	ubp_tp_lost(j->tp);
	ubp_unlock(&j->lock);
	auto c = p.a.tx.poll();

	ASSERT_TRUE(c);
	EXPECT_EQ(UBP_GET(UBOE_CQE_STATUS, c->w0), UBOE_CQE_ACK_TIMEOUT);
}

} /* namespace */
