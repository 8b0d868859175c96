// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Service mode ROT: sequence contexts, granted, refused, worn out, and what they order. */
#include <gtest/gtest.h>

#include "rmnet.hpp"

using namespace rig;

namespace
{

constexpr std::uint64_t second = 1000 * ms;

/* What one packet says about contexts */
struct seen {
	bool answer;
	bool alloc;
	bool sv;
	bool context;
	std::uint16_t ssn;
	std::uint32_t id;
	std::uint8_t rspst;
};

class Rot : public testing::Test
{
      protected:
	ubsim::rc &add(unsigned n, std::uint32_t id)
	{
		return net[n].add(id, { .order = UBOE_ORDER_TARGET });
	}

	ubsim::send_wr access(std::uint8_t op, unsigned a, unsigned b, std::uint64_t loff,
			      std::uint64_t roff, std::uint32_t len,
			      std::uint8_t order = UB_ORDER_STRONG)
	{
		return net.access(op, a, b, loff, roff, len, order);
	}

	ubsim::send_wr write(std::uint64_t roff = 0, std::uint8_t order = UB_ORDER_STRONG)
	{
		return access(UBOE_SQE_WRITE, 0, 1, 0, roff, 8, order);
	}

	unsigned done(unsigned n)
	{
		const auto c = net.completion(n);

		return c ? status(*c) : ~0u;
	}

	/* The transaction headers that are in the air */
	std::vector<seen> air()
	{
		std::vector<seen> v;

		for (const auto &f : net.air) {
			const std::size_t at = tph_at(f.data);
			ubp_tph h;
			ubp_ta t{};

			ubp_tph_parse(f.data.data() + at, &h);
			if (h.op != UB_TP_RTP_DATA ||
			    ubp_ta_parse(
				    f.data.data() + at + UB_TPH_LEN,
				    std::uint32_t(f.data.size() - at - UB_TPH_LEN - UB_ICRC_LEN),
				    &t) != UBP_TA_OK)
				continue;
			v.push_back({ ubp_ta_is_response(t.op), t.alloc, t.sv,
				      UBP_GET(UB_BTAH_RC_TYPE, t.rcid) == UB_RC_TYPE_SC, t.ssn,
				      t.rcid & UB_BTAH_RC_ID, t.rspst });
		}
		return v;
	}

	/* Steps until a packet of that kind is in the air */
	std::vector<seen> until_seen(bool answer)
	{
		std::vector<seen> v;

		net.until([&] {
			v.clear();
			for (const seen &s : air())
				if (s.answer == answer)
					v.push_back(s);
			return !v.empty();
		});
		EXPECT_FALSE(v.empty());
		return v;
	}

	std::uint64_t stat(unsigned n, std::uint32_t s) { return net[n].h.stat(s); }

	network net{ 2 };
};

TEST_F(Rot, TheFirstRequestAsksAndTheNextAreInTheContext)
{
	add(0, 100).post(write());
	const seen ask = until_seen(false)[0];
	EXPECT_TRUE(ask.alloc);
	EXPECT_FALSE(ask.context);
	EXPECT_EQ(ask.id, 100u);
	const seen grant = until_seen(true)[0];
	EXPECT_TRUE(grant.sv);
	EXPECT_FALSE(grant.context) << "the answer names the queue that asked";
	EXPECT_EQ(grant.id, 100u);
	EXPECT_NE(grant.ssn, 0u);
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	EXPECT_EQ(stat(0, UBP_S_ROT_GRANTED), 1u);
	for (std::uint16_t i = 0; i < 3; i++) {
		net[0].jetties[100]->post(write());
		const seen in = until_seen(false)[0];
		EXPECT_FALSE(in.alloc);
		EXPECT_TRUE(in.context);
		EXPECT_EQ(in.id, grant.ssn);
		EXPECT_EQ(in.ssn, i) << "numbers are those of the context";
		const seen answer = until_seen(true)[0];
		EXPECT_TRUE(answer.context);
		EXPECT_FALSE(answer.sv);
		EXPECT_EQ(answer.id, grant.ssn);
		EXPECT_EQ(answer.ssn, i);
		EXPECT_EQ(done(0), UBOE_CQE_OK);
	}
	EXPECT_EQ(stat(0, UBP_S_ROT_GRANTED), 1u) << "one is enough";
}

/* What it is for: requests of strong order do not wait for each other's answers */
TEST_F(Rot, StrongOrderNeedsNoRoundTrip)
{
	auto in_the_air = [&](std::uint32_t id) {
		for (int i = 0; i < 8; i++)
			net[0].jetties[id]->post(write());
		const std::size_t n = until_seen(false).size();

		for (int i = 0; i < 8; i++)
			EXPECT_EQ(done(0), UBOE_CQE_OK);
		return n;
	};

	net[0].add(99);
	add(0, 100).post(write());
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	EXPECT_EQ(in_the_air(99), 1u) << "ROI";
	EXPECT_EQ(in_the_air(100), 8u) << "ROT";
	EXPECT_EQ(in_the_air(99), 1u);
}

TEST_F(Rot, ARequestBehindAReadWaits)
{
	add(0, 100).post(write());
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	net[0].jetties[100]->post(access(UBOE_SQE_READ, 0, 1, 64, 0, 8, UB_ORDER_RELAXED));
	net[0].jetties[100]->post(write());
	EXPECT_EQ(until_seen(false).size(), 1u) << "the Read alone";
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	EXPECT_EQ(done(0), UBOE_CQE_OK);
}

TEST_F(Rot, OrderAcrossTargetsIsTheInitiators)
{
	net.add(2);
	add(0, 100).post(write());
	net[0].jetties[100]->post(access(UBOE_SQE_WRITE, 0, 2, 0, 0, 8));
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(done(0), UBOE_CQE_OK);
	EXPECT_EQ(stat(0, UBP_S_ROT_GRANTED), 2u) << "one at each target";
	net.deaf[2] = true; /* for a while */
	net[0].jetties[100]->post(access(UBOE_SQE_WRITE, 0, 2, 0, 0, 8, UB_ORDER_RELAXED));
	net[0].jetties[100]->post(write(0, UB_ORDER_RELAXED));
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	net[0].jetties[100]->post(write(0, UB_ORDER_RELAXED));
	net[0].jetties[100]->post(write());
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	net.run(10 * ms);
	EXPECT_FALSE(net[0].tx.poll()) << "what is strong waits for the other target";
	net.deaf.clear();
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(done(0), UBOE_CQE_OK);
}

TEST_F(Rot, ReadsAndAtomicsAreInTheContextToo)
{
	std::uint64_t v = 5;

	net[1].m.write(0, &v, 8);
	add(0, 100).post(write(512));
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	for (int i = 0; i < 4; i++) {
		ubsim::send_wr faa = access(UBOE_SQE_FAA, 0, 1, 64, 0, 8);

		faa.swap = 1;
		net[0].jetties[100]->post(faa);
		EXPECT_TRUE(until_seen(false)[0].context);
		EXPECT_EQ(done(0), UBOE_CQE_OK);
		net[0].jetties[100]->post(access(UBOE_SQE_READ, 0, 1, 128, 0, 8));
		EXPECT_TRUE(until_seen(false)[0].context);
		EXPECT_EQ(done(0), UBOE_CQE_OK);
		EXPECT_EQ(net[0].m.load(128, 8), 6u + i);
	}
}

TEST_F(Rot, TheReceiverLearnsTheJettyNotTheContext)
{
	add(0, 100);
	net[1].add(200);
	for (int i = 0; i < 3; i++) {
		net[1].receive(0, 64);
		net[0].jetties[100]->post({ .op = UBOE_SQE_SEND,
					    .sges = { net[0].local(0, 8) },
					    .token_en = false,
					    .rmt_type = UBOE_RMT_JETTY,
					    .rmt_id = 200,
					    .tpn = net[0].channel(net[1].self) });
		EXPECT_EQ(done(0), UBOE_CQE_OK);
		auto c = net[1].rx.poll();
		ASSERT_TRUE(c);
		EXPECT_EQ(UBP_GET(UBOE_CQE_RMT_ID, c->w2), 100u);
	}
	EXPECT_EQ(stat(0, UBP_S_ROT_GRANTED), 1u);
}

/* A request that is refused keeps its place, in a context and while one is asked for */
TEST_F(Rot, OrderIsKeptWhileReceivesAreMissing)
{
	add(0, 100);
	net[1].add(200);
	for (std::uint64_t i = 0; i < 20; i++) {
		net[0].m.write(i * 8, &i, 8);
		net[0].jetties[100]->post({ .op = UBOE_SQE_SEND,
					    .order = std::uint8_t(i % 3),
					    .sges = { net[0].local(i * 8, 8) },
					    .token_en = false,
					    .rmt_type = UBOE_RMT_JETTY,
					    .rmt_id = 200,
					    .tpn = net[0].channel(net[1].self) });
	}
	net.run(3 * ms);
	EXPECT_GT(stat(1, UBP_S_RNR_SENT), 0u);
	for (std::uint64_t i = 0; i < 20; i++) {
		net[1].receive(i * 8, 8);
		EXPECT_EQ(done(0), UBOE_CQE_OK);
		auto c = net[1].rx.poll();
		ASSERT_TRUE(c);
		EXPECT_EQ(net[1].m.load(i * 8, 8), i);
		net[1].r.done(c->w1 & 0xffff);
	}
	EXPECT_EQ(stat(0, UBP_S_ROT_GRANTED), 1u);
}

TEST_F(Rot, WithoutAContextTheInitiatorKeepsTheOrder)
{
	for (std::uint32_t id = 0; id <= UBP_ROT_MAX; id++) {
		/* not at once: each of our entries is free again for the next */
		add(0, 100 + id).post(write());
		EXPECT_EQ(done(0), UBOE_CQE_OK);
		EXPECT_EQ(stat(0, UBP_S_ROT_GRANTED), std::min(id + 1, UBP_ROT_MAX));
		if (id == UBP_ROT_MAX - 1)
			net.run(11 * second);
	}
	EXPECT_EQ(stat(0, UBP_S_ROT_DENIED), 1u) << "the peer's table is full";
	ubsim::rc &q = *net[0].jetties[100 + UBP_ROT_MAX];

	for (int i = 0; i < 4; i++)
		q.post(write());
	const auto v = until_seen(false);
	EXPECT_EQ(v.size(), 1u);
	EXPECT_FALSE(v[0].alloc) << "not again and again";
	EXPECT_FALSE(v[0].context);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(done(0), UBOE_CQE_OK);
	/* by and by it asks again, and by then the others' may be given away */
	net.run(60 * second);
	q.post(write());
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	EXPECT_EQ(stat(0, UBP_S_ROT_GRANTED), UBP_ROT_MAX + 1);
}

TEST_F(Rot, OurOwnTableFull)
{
	for (std::uint32_t id = 0; id <= UBP_ROT_MAX; id++) {
		add(0, 100 + id).post(write());
		EXPECT_EQ(done(0), UBOE_CQE_OK);
	}
	EXPECT_EQ(stat(0, UBP_S_ROT_GRANTED), UBP_ROT_MAX);
	EXPECT_EQ(stat(0, UBP_S_ROT_DENIED), 0u) << "it was not asked";
	net[0].jetties[100 + UBP_ROT_MAX]->post(write());
	EXPECT_FALSE(until_seen(false)[0].alloc);
	EXPECT_EQ(done(0), UBOE_CQE_OK);
}

TEST_F(Rot, AContextThatRestedIsAskedForAnew)
{
	std::uint16_t first;

	add(0, 100).post(write());
	first = until_seen(true)[0].ssn;
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	net.run(9 * second);
	net[0].jetties[100]->post(write());
	EXPECT_TRUE(until_seen(false)[0].context);
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	net.run(11 * second);
	net[0].jetties[100]->post(write());
	EXPECT_TRUE(until_seen(false)[0].alloc);
	EXPECT_NE(until_seen(true)[0].ssn, first) << "another number";
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	EXPECT_EQ(stat(0, UBP_S_ROT_GRANTED), 2u);
}

TEST_F(Rot, AnotherLifeOfThePeerKnowsNoContext)
{
	add(0, 100).post(write());
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	for (int i = 0; i < 3; i++) {
		net.crash(1);
		net.add(1);
		add(1, 200);
		/* it speaks first: our channel begins anew */
		net[1].jetties[200]->post(access(UBOE_SQE_WRITE, 1, 0, 0, 0, 8));
		EXPECT_EQ(done(1), UBOE_CQE_OK);
		for (int n = 0; n < 3; n++) {
			net[0].jetties[100]->post(write());
			EXPECT_EQ(done(0), UBOE_CQE_OK);
		}
		EXPECT_EQ(stat(0, UBP_S_ROT_GRANTED), 2u + i);
		EXPECT_EQ(stat(1, UBP_S_ROT_GRANTED), 1u);
	}
}

/* Requests of no context, or of one given to another, are refused by name */
TEST_F(Rot, AnUnknownContextIsRefused)
{
	add(0, 100).post(write());
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	std::uint64_t mark = 0x1122334455667788;
	net[0].m.write(0, &mark, 8);
	for (std::uint16_t wrong : { 1, 63, 64, 128, 0xffff }) {
		ubp_share *sh = net[0].share(net[1].self);
		ubp_rot_ini *mine = nullptr;

		for (ubp_rot_ini &c : sh->rot.ini)
			if (c.jetty != UBP_RM_NOBODY)
				mine = &c;
		ASSERT_TRUE(mine);
		const std::uint16_t right = mine->scid;
		mine->scid ^= wrong;
		net[0].jetties[100]->post(write());
		EXPECT_EQ(done(0), UBOE_CQE_REMOTE);
		EXPECT_NE(net[1].m.load(0, 8), mark);
		mine->scid = right;
	}
	net[0].jetties[100]->post(write());
	EXPECT_EQ(done(0), UBOE_CQE_OK) << "the channel and the context are well";
	EXPECT_EQ(net[1].m.load(0, 8), mark);
}

/* A target that is strict: a peer that does not wait for its Reads is made to */
TEST_F(Rot, TheTargetRefusesWhatIsStrongBehindARead)
{
	std::uint64_t before = 1, after = 2;

	add(0, 100).post(write(512));
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	net[1].m.write(0, &before, 8);
	net[0].m.write(0, &after, 8);
	net[0].jetties[100]->post(access(UBOE_SQE_READ, 0, 1, 64, 0, 8, UB_ORDER_NO));
	/* without order it may go; in the air it becomes strong */
	net[0].jetties[100]->post(write(0, UB_ORDER_NO));
	until_seen(false);
	for (auto &f : net.air) {
		const std::size_t at = tph_at(f.data) + UB_TPH_LEN;

		if (f.data[at] == UB_TA_WRITE) {
			f.data[at + 4] |= UB_ORDER_STRONG << UB_BTAH_ODR_SHIFT;
			seal(f.data);
		}
	}
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	EXPECT_EQ(done(0), UBOE_CQE_OK);
	EXPECT_EQ(stat(1, UBP_S_RNR_SENT), 1u);
	EXPECT_EQ(net[0].m.load(64, 8), 1u);
	EXPECT_EQ(net[1].m.load(0, 8), 2u);
}

TEST_F(Rot, OnlyReliableMessagesHaveIt)
{
	for (std::uint8_t type : { UBOE_JETTY_RC, UBOE_JETTY_UM, UBOE_JETTY_RM })
		for (std::uint8_t order : { 0, 1, 2, 255 }) {
			const ubsim::dma ring = net[0].h.alloc_dma(4096),
					 page = net[0].h.alloc_dma(UBOE_JPAGE_SOFT_STRIDE);
			uboe_jetty_ctx ctx{};

			ctx.type = type;
			ctx.order = order;
			ctx.flags = UBOE_JETTY_NATIVE | UBOE_JETTY_SHARED_JFR;
			ctx.sq_base = ring.bus;
			ctx.page = page.bus;
			ctx.pd = pd;
			ctx.tx_jfcn = 1;
			ctx.rx_jfcn = 2;
			ctx.jfrn = 1;
			ctx.mtu = 1024;
			std::memcpy(ctx.eid, net[0].self.b.data(), 16);
			const bool good = !order || (order == 1 && type == UBOE_JETTY_RM);
			EXPECT_EQ(net[0].h.create(UBOE_MBOX_JETTY, 900, ctx), good ? 0 : -EINVAL)
				<< int(type) << " " << int(order);
			if (good)
				net[0].h.destroy(UBOE_MBOX_JETTY, 900);
			net[0].h.free_dma(ring);
			net[0].h.free_dma(page);
		}
}

} /* namespace */
