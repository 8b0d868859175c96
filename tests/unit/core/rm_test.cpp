// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Reliable messages: jetties that share a channel for each peer. */
#include <gtest/gtest.h>

#include "rmnet.hpp"

using namespace rig;

namespace
{

std::uint32_t from(const uboe_cqe &c)
{
	return UBP_GET(UBOE_CQE_RMT_ID, c.w2);
}

class Rm : public testing::Test
{
      protected:
	ubsim::send_wr send(unsigned a, unsigned b, std::uint32_t to, std::uint64_t off,
			    std::uint32_t len)
	{
		return { .op = UBOE_SQE_SEND,
			 .sges = { net[a].local(off, len) },
			 .token_en = false,
			 .rmt_type = UBOE_RMT_JETTY,
			 .rmt_id = to,
			 .tpn = net[a].channel(net[b].self) };
	}

	ubsim::send_wr access(std::uint8_t op, unsigned a, unsigned b, std::uint64_t loff,
			      std::uint64_t roff, std::uint32_t len)
	{
		return net.access(op, a, b, loff, roff, len);
	}

	uboe_cqe done(unsigned n) { return net.completion(n).value_or(uboe_cqe{ ~0u }); }

	uboe_cqe received(unsigned n)
	{
		auto c = net[n].rx.poll();

		EXPECT_TRUE(c) << "nothing was received";
		return c.value_or(uboe_cqe{ ~0u });
	}

	network net{ 3 };
};

TEST_F(Rm, OneJettySendsToSeveralPeers)
{
	net[0].add(100);
	net[1].add(200);
	net[2].add(300);
	for (unsigned to : { 1u, 2u }) {
		bytes data = pattern(5000, to);

		net[0].m.write(0, data.data(), data.size());
		net[to].receive(0, 8000);
		net[0].jetties[100]->post(send(0, to, to * 100 + 100, 0, 5000));
		EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
		uboe_cqe c = received(to);
		EXPECT_EQ(status(c), UBOE_CQE_OK);
		EXPECT_EQ(c.byte_cnt, 5000u);
		EXPECT_EQ(from(c), 100u) << "the sender is named";
		EXPECT_EQ(std::memcmp(c.rmt_eid, net[0].self.b.data(), 16), 0);
		EXPECT_EQ(net[to].m.compare(0, data.data(), data.size()), data.size());
	}
}

/* It is not made to ask a second time, a millisecond later */
TEST_F(Rm, TheFirstMessageToAPeerWaitsForNoTimer)
{
	const std::uint64_t began = net.clock;

	net[0].add(100);
	net[0].jetties[100]->post(access(UBOE_SQE_WRITE, 0, 1, 0, 0, 8));
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
	EXPECT_LE(net.clock - began, 100 * us) << "of 5 us a way";
}

TEST_F(Rm, JettiesOfOnePairShareAChannel)
{
	for (std::uint32_t id : { 100u, 101u, 102u })
		net[0].add(id);
	for (std::uint32_t id : { 200u, 201u, 202u })
		net[1].add(id);
	for (std::uint32_t i = 0; i < 3; i++) {
		net[1].receive(i * 64, 64);
		net[0].jetties[100 + i]->post(send(0, 1, 200 + i, 0, 8));
		EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
	}
	EXPECT_EQ(net[0].next_tpn, 2u) << "one channel";
	EXPECT_EQ(net[1].next_tpn, 2u) << "made because it was asked for";
	/* and back over the same one */
	net[0].receive(0, 64);
	net[1].jetties[201]->post(send(1, 0, 102, 0, 8));
	EXPECT_EQ(status(done(1)), UBOE_CQE_OK);
	EXPECT_EQ(net[1].next_tpn, 2u);
}

TEST_F(Rm, AnAddressTalksToItself)
{
	net[0].add(100);
	net[0].add(101);
	bytes data = pattern(5000, 1);

	net[0].m.write(0, data.data(), data.size());
	net[0].receive(0x20000, 8000);
	net[0].jetties[100]->post(send(0, 0, 101, 0, 5000));
	net[0].jetties[101]->post(access(UBOE_SQE_READ, 0, 0, 0x40000, 0, 5000));
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
	EXPECT_EQ(net[0].m.compare(0x20000, data.data(), data.size()), data.size());
	EXPECT_EQ(net[0].m.compare(0x40000, data.data(), data.size()), data.size());
}

TEST_F(Rm, WritesReadsAndAtomicsNeedNoJettyAtTheTarget)
{
	net[0].add(100);
	for (std::uint32_t len : { 0u, 1u, 1023u, 1024u, 1025u, 65536u, 200000u }) {
		bytes data = pattern(len, len);

		net[0].m.write(0, data.data(), len);
		net[0].jetties[100]->post(access(UBOE_SQE_WRITE, 0, 1, 0, 4096, len));
		EXPECT_EQ(status(done(0)), UBOE_CQE_OK) << len;
		EXPECT_EQ(net[1].m.compare(4096, data.data(), len), len);
		net[0].jetties[100]->post(access(UBOE_SQE_READ, 0, 1, 300000, 4096, len));
		uboe_cqe c = done(0);
		EXPECT_EQ(status(c), UBOE_CQE_OK) << len;
		EXPECT_EQ(c.byte_cnt, len);
		EXPECT_EQ(net[0].m.compare(300000, data.data(), len), len);
	}
	ubsim::send_wr faa = access(UBOE_SQE_FAA, 0, 1, 8, 0, 8);

	faa.swap = 5;
	for (unsigned i = 0; i < 3; i++) {
		net[0].jetties[100]->post(faa);
		EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
		EXPECT_EQ(net[0].m.load(8, 8), i * 5);
	}
	EXPECT_EQ(net[1].m.load(0, 8), 15u);
	EXPECT_TRUE(net[1].m.canaries_ok());
}

TEST_F(Rm, AWriteWithImmediateNamesItsJetty)
{
	net[0].add(100);
	net[1].add(200);
	net[1].receive(0, 0);
	ubsim::send_wr wr = access(UBOE_SQE_WRITE_IMM, 0, 1, 0, 4096, 3000);

	wr.imm = 0x1122334455667788;
	wr.rmt_type = UBOE_RMT_JETTY;
	wr.imm_jetty = 200;
	net[0].jetties[100]->post(wr);
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
	uboe_cqe c = received(1);
	EXPECT_EQ(UBP_GET(UBOE_CQE_OPCODE, c.w0), UBOE_CQE_RX_WRITE_IMM);
	EXPECT_EQ(c.imm_lo | std::uint64_t(c.imm_hi) << 32, wr.imm);
	EXPECT_EQ(c.byte_cnt, 3000u);
	EXPECT_EQ(from(c), 100u);
}

TEST_F(Rm, AnErrorIsThatOfOneMessage)
{
	net[0].add(100);
	net[1].add(200);
	ubsim::send_wr bad = access(UBOE_SQE_WRITE, 0, 1, 0, 4096, 64);

	bad.rkey ^= 1; /* the token */
	net[0].jetties[100]->post(bad);
	uboe_cqe c = done(0);
	EXPECT_EQ(status(c), UBOE_CQE_REMOTE);
	EXPECT_EQ(sub(c), UBOE_CQE_REMOTE_ABORT);
	net[0].jetties[100]->post(send(0, 1, 999, 0, 8)); /* no such jetty */
	c = done(0);
	EXPECT_EQ(status(c), UBOE_CQE_REMOTE);
	EXPECT_EQ(sub(c), UBOE_CQE_REMOTE_UNSUPPORTED);
	ubsim::send_wr local = access(UBOE_SQE_WRITE, 0, 1, 0, 4096, 64);

	local.sges[0].key ^= 1;
	net[0].jetties[100]->post(local);
	c = done(0);
	EXPECT_EQ(status(c), UBOE_CQE_LOCAL);
	EXPECT_EQ(sub(c), UBOE_CQE_LOCAL_ACCESS);
	net[0].jetties[100]->post(access(UBOE_SQE_WRITE, 0, 1, 0, 4096, 64));
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK) << "the jetty goes on";
	EXPECT_EQ(net[1].h.stat(UBP_S_REMOTE_ERRORS), 2u);
}

TEST_F(Rm, VerbsMemoryIsOutOfReach)
{
	net.nodes[1] = std::make_unique<node>(net[1].self, 0);
	net[1].h.time = net.clock;
	net[0].add(100);
	net[0].jetties[100]->post(access(UBOE_SQE_WRITE, 0, 1, 0, 4096, 64));
	EXPECT_EQ(sub(done(0)), UBOE_CQE_REMOTE_ABORT);
}

TEST_F(Rm, OrderIsKeptWhileReceivesAreMissing)
{
	for (std::uint32_t id : { 100u, 101u })
		net[0].add(id);
	net[1].add(200);
	for (std::uint64_t i = 0; i < 20; i++) {
		net[0].m.write(i * 8, &i, 8);
		net[0].jetties[i % 2 ? 101 : 100]->post(send(0, 1, 200, i * 8, 8));
	}
	std::map<std::uint32_t, std::uint64_t> next{ { 100, 0 }, { 101, 1 } };
	unsigned got = 0;
	std::uint32_t slot_of[1024];

	net.run(3 * ms);
	EXPECT_GT(net[1].h.stat(UBP_S_RNR_SENT), 0u);
	for (unsigned n : { 1u, 3u, 16u }) {
		for (unsigned i = 0; i < n; i++) {
			slot_of[net[1].r.next_slot()] = got + i;
			net[1].receive((got + i) * 8, 8);
		}
		EXPECT_TRUE(net.until([&] {
			while (auto c = net[1].rx.poll()) {
				EXPECT_EQ(status(*c), UBOE_CQE_OK);
				std::uint64_t &want = next[from(*c)];

				EXPECT_EQ(net[1].m.load(slot_of[c->w1 & 0xffff] * 8, 8), want);
				want += 2;
				got++;
				net[1].r.done(c->w1 & 0xffff);
				n--;
			}
			return !n;
		}));
	}
	for (unsigned i = 0; i < 20; i++)
		EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
}

/* More jetties than the ends remember wait for receives */
TEST_F(Rm, ManyWaitForReceives)
{
	net[1].add(200);
	for (std::uint32_t id = 0; id < 300; id++) {
		net[0].add(1000 + id);
		net[0].jetties[1000 + id]->post(send(0, 1, 200, 0, 8));
	}
	net.run(5 * ms);
	for (unsigned i = 0; i < 300; i++)
		net[1].receive(0, 8);
	for (unsigned i = 0; i < 300; i++)
		EXPECT_EQ(status(done(0)), UBOE_CQE_OK) << i;
	std::map<std::uint32_t, unsigned> got;

	while (auto c = net[1].rx.poll())
		got[from(*c)]++;
	EXPECT_EQ(got.size(), 300u);
	for (auto &[id, n] : got)
		EXPECT_EQ(n, 1u) << id;
}

TEST_F(Rm, RetriesAreCounted)
{
	ubsim::jetty_options o;

	o.rnr_retry = 3;
	net[0].add(100, o);
	uboe_jetty_ctx ctx{};
	ctx.rnr_retry = 3;
	net[0].h.modify(UBOE_MBOX_JETTY, 100, ctx, UBOE_JM_RNR_RETRY);
	net[1].add(200);
	net[0].jetties[100]->post(send(0, 1, 200, 0, 8));
	EXPECT_EQ(status(done(0)), UBOE_CQE_RNR_EXC);
	EXPECT_EQ(net[1].h.stat(UBP_S_RNR_SENT), 4u);
	net[1].receive(0, 8);
	net[0].jetties[100]->post(send(0, 1, 200, 0, 8));
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK) << "the next one is none of its retries";
}

TEST_F(Rm, ASilentPeerHoldsBackNoOther)
{
	ubsim::jetty_options o;

	o.sq_shift = 6;
	net[0].add(100, o);
	net[0].jetties[100]->post(access(UBOE_SQE_WRITE, 0, 2, 0, 0, 8));
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
	net.deaf[2] = true;
	const std::uint64_t began = net.clock;
	auto &q = *net[0].jetties[100];
	unsigned lost = 0, good = 0, posted = 0;

	for (unsigned i = 0; i < 20; i++)
		q.post(access(UBOE_SQE_WRITE, 0, 2, 0, 0, 8));
	/* many laps of the ring */
	EXPECT_TRUE(net.until([&] {
		q.retire(q.copied());
		while (posted < 2000 && posted - good < 30 && q.room() >= 4) {
			q.post(access(UBOE_SQE_WRITE, 0, 1, 0, 0, 2000));
			posted++;
		}
		while (auto c = net[0].tx.poll()) {
			good += status(*c) == UBOE_CQE_OK;
			lost += status(*c) == UBOE_CQE_ACK_TIMEOUT;
		}
		return good == 2000;
	}));
	EXPECT_EQ(lost, 0u) << "the living do not wait for the dead";
	EXPECT_LT(net.clock - began, 1000 * ms);
	EXPECT_TRUE(net.until([&] {
		while (auto c = net[0].tx.poll())
			lost += status(*c) == UBOE_CQE_ACK_TIMEOUT;
		return lost == 20;
	}));
	/* it comes back */
	net.deaf.clear();
	q.retire(q.copied());
	q.post(access(UBOE_SQE_WRITE, 0, 2, 0, 0, 8));
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
}

TEST_F(Rm, APeerThatStartedAnewIsServed)
{
	net[0].add(100);
	net[1].add(200);
	net[0].jetties[100]->post(access(UBOE_SQE_WRITE, 0, 1, 0, 0, 8));
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
	for (unsigned i = 0; i < 3; i++) {
		net.crash(1);
		net.add(1);
		net[1].add(200);
		/* the new one speaks first, and node 0 still has its open channel */
		net[1].jetties[200]->post(access(UBOE_SQE_READ, 1, 0, 0, 0, 8));
		EXPECT_EQ(status(done(1)), UBOE_CQE_OK);
		net[0].jetties[100]->post(access(UBOE_SQE_WRITE, 0, 1, 0, 0, 8));
		EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
	}
}

TEST_F(Rm, AStrangersRequestDoesNotDisturb)
{
	net[0].add(100);
	net[1].add(200);
	net[0].jetties[100]->post(access(UBOE_SQE_WRITE, 0, 1, 0, 0, 8));
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
	/* what node 0 would say if it had started anew, but it did not */
	node stranger(net[0].self);

	stranger.h.forced = { 0x1234567, 5 };
	stranger.add(100);
	stranger.jetties[100]->post({ .op = UBOE_SQE_WRITE,
				      .sges = { stranger.local(0, 8) },
				      .remote = net[1].m.va(),
				      .rkey = key,
				      .tpn = stranger.channel(net[1].self) });
	ASSERT_FALSE(stranger.h.out().empty());
	for (auto &p : stranger.h.out())
		net[1].h.receive(p.data);
	stranger.h.out().clear();
	for (unsigned i = 0; i < 20; i++) {
		net[0].jetties[100]->post(access(UBOE_SQE_WRITE, 0, 1, 0, 0, 8));
		EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
		net[1].jetties[200]->post(access(UBOE_SQE_WRITE, 1, 0, 0, 0, 8));
		EXPECT_EQ(status(done(1)), UBOE_CQE_OK);
	}
	EXPECT_EQ(net[1].h.stat(UBP_S_CHANNELS_LOST), 0u);
	stranger.h.destroy(UBOE_MBOX_TP, 1);
	stranger.h.out().clear();
}

TEST_F(Rm, FenceWaitsForAnswersOfAllTargets)
{
	net[0].add(100);
	net[0].channel(net[1].self);
	std::uint64_t v = 42, seen = 0;
	net[2].m.write(0, &v, 8);
	net.deaf[2] = true; /* for a while */
	net[0].jetties[100]->post(access(UBOE_SQE_READ, 0, 2, 64, 0, 8));
	ubsim::send_wr wr = access(UBOE_SQE_WRITE, 0, 1, 64, 128, 8);

	wr.fence = true;
	net[0].jetties[100]->post(wr);
	net.run(10 * ms);
	EXPECT_FALSE(net[0].tx.poll());
	net.deaf.clear();
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
	seen = net[1].m.load(128, 8);
	EXPECT_EQ(seen, 42u) << "the Write carries what the Read brought";
}

TEST_F(Rm, AnErrorFlushesAllThatWasPosted)
{
	net[0].add(100);
	net[0].add(101);
	net[1].add(200);
	net.wire.loss = 0.1;
	auto &q = *net[0].jetties[100];
	unsigned flushed = 0, ok = 0, marker = 0;

	for (unsigned i = 0; i < 12; i++)
		q.post(access(UBOE_SQE_WRITE, 0, 1, 0, 4096, 40000));
	net.run(300 * us);
	EXPECT_EQ(q.to_state(UBOE_JS_ERROR), 0);
	net[1].receive(0, 64);
	net[0].jetties[101]->post(send(0, 1, 200, 0, 8));
	EXPECT_TRUE(net.until([&] {
		while (auto c = net[0].tx.poll()) {
			if (c->w0 & UBOE_CQE_FLUSH_DONE)
				marker++;
			else if (status(*c) == UBOE_CQE_FLUSH)
				flushed++;
			else
				ok++;
		}
		return ok && flushed + ok == 13;
	})) << ok
	    << " " << flushed;
	EXPECT_EQ(marker, 1u);
	EXPECT_GT(flushed, 0u);
	net.run(100 * ms);
	EXPECT_TRUE(net[1].rx.poll()) << "others share the channel and go on";
	net[0].jetties.erase(100);
	net[0].jetties[101]->post(access(UBOE_SQE_WRITE, 0, 1, 0, 4096, 40000));
	EXPECT_EQ(status(done(0)), UBOE_CQE_OK);
}

TEST_F(Rm, AJettyMayGoWhileItsMessagesAreOnTheirWay)
{
	for (unsigned round = 0; round < 30; round++) {
		net.wire.loss = 0.05;
		net[0].add(100);
		net[0].add(101);
		net[1].add(200);
		for (unsigned i = 0; i < 4; i++)
			net[1].receive(i * 20000, 20000);
		for (unsigned i = 0; i < 4; i++) {
			net[0].jetties[100]->post(send(0, 1, 200, 0, 20000));
			net[0].jetties[101]->post(access(UBOE_SQE_READ, 0, 1, 0, 0, 3000));
		}
		net.run(round * 40 * us);
		net[0].jetties.erase(100);
		if (round % 3 == 0)
			net[1].jetties.erase(200);
		unsigned ok = 0;
		EXPECT_TRUE(net.until([&] {
			while (auto c = net[0].tx.poll())
				ok += ((c->w1 >> 16) & 0xffff) == 101 && status(*c) == UBOE_CQE_OK;
			return ok == 4;
		})) << "round "
		    << round << " " << ok;
		net.run(5 * ms);
		net[0].jetties.clear();
		net[1].jetties.clear();
		while (auto c = net[1].rx.poll())
			net[1].r.done(c->w1 & 0xffff);
		while (net[0].tx.poll())
			;
	}
}

/* All kinds of messages between all of them, against what memory must hold in the end */
class RmModel : public testing::TestWithParam<unsigned>
{
};

TEST_P(RmModel, BadNetwork)
{
	const unsigned seed = GetParam();
	network net(3, seed);
	std::mt19937 &rng = net.rng;

	net.wire = { rng() % 3 * 0.02, rng() % 3 * 0.01, rng() % 3 * 0.05, rng() % 3 * 0.002 };
	struct flow {
		std::uint64_t posted = 0;
		std::uint64_t next = 0;
	};
	std::map<std::array<std::uint32_t, 2>, flow> flows; /* of Sends, by both jetties */
	struct op {
		unsigned node;
		std::uint32_t end;
	};
	std::map<std::pair<unsigned, std::uint32_t>, unsigned> in_progress; /* node, jetty */
	std::uint64_t added[3] = {}, expected = 0, completed = 0, sends = 0, got = 0;
	std::map<std::pair<unsigned, std::uint32_t>, std::uint64_t> slot_off;

	for (unsigned n = 0; n < 3; n++)
		for (std::uint32_t j = 0; j < 2; j++)
			net[n].add(n * 100 + j + 2, { .order = std::uint8_t(j) });
	auto post_receive = [&](unsigned n) {
		if (!net[n].r.free_slots())
			return;
		std::uint32_t slot = net[n].r.next_slot();

		slot_off[{ n, slot }] = 0x80000 + slot * 256ull;
		net[n].receive(0x80000 + slot * 256ull, 256);
	};
	auto post = [&](unsigned n) {
		std::uint32_t id = n * 100 + rng() % 2 + 2;
		unsigned b = (n + 1 + rng() % 2) % 3;
		std::uint32_t to = b * 100 + rng() % 2 + 2;
		auto &q = *net[n].jetties[id];
		ubsim::send_wr wr{ .tpn = net[n].channel(net[b].self) };

		q.retire(q.copied());
		if (q.room() < 4 || in_progress[{ n, id }] >= 48)
			return;
		switch (rng() % 4) {
		case 0: {
			std::uint64_t what[2] = { std::uint64_t(id) << 32 | to,
						  flows[{ id, to }].posted++ };
			wr.op = UBOE_SQE_SEND;
			wr.inl = true;
			wr.data.resize(16);
			std::memcpy(wr.data.data(), what, 16);
			wr.token_en = false;
			wr.rmt_type = UBOE_RMT_JETTY;
			wr.rmt_id = to;
			sends++;
			break;
		}
		case 1:
			wr.op = UBOE_SQE_FAA;
			wr.sges = { net[n].local(0x70000 + id * 8, 8) };
			wr.remote = net[b].m.va();
			wr.rkey = key;
			wr.swap = 1 + rng() % 100;
			added[b] += wr.swap;
			break;
		case 2:
			wr.op = UBOE_SQE_WRITE;
			wr.sges = { net[n].local(0x40000, 1 + rng() % 9000) };
			wr.remote = net[b].m.va() + 0x1000 + id % 100 * 0x4000;
			wr.rkey = key;
			break;
		default:
			wr.op = UBOE_SQE_READ;
			wr.sges = { net[n].local(0xc0000 + id % 100 * 0x4000, 1 + rng() % 9000) };
			wr.remote = net[b].m.va() + 0x40000;
			wr.rkey = key;
		}
		wr.fence = rng() % 16 == 0;
		wr.order = rng() % 16 ? UB_ORDER_NO : UB_ORDER_STRONG;
		in_progress[{ n, id }]++;
		q.post(wr);
		expected++;
	};
	auto reap = [&] {
		for (unsigned n = 0; n < 3; n++) {
			while (auto c = net[n].tx.poll()) {
				ASSERT_EQ(status(*c), UBOE_CQE_OK);
				in_progress[{ n, c->user_lo }]--;
				completed++;
			}
			while (auto c = net[n].rx.poll()) {
				const std::uint32_t slot = c->w1 & 0xffff;
				const std::uint64_t off = slot_off[{ n, slot }];
				const std::uint32_t id = from(*c);

				ASSERT_EQ(status(*c), UBOE_CQE_OK);
				ASSERT_EQ(net[n].m.load(off, 8),
					  std::uint64_t(id) << 32 | c->user_lo);
				ASSERT_EQ(net[n].m.load(off + 8, 8),
					  (flows[{ id, c->user_lo }].next++));
				got++;
				net[n].r.done(slot);
			}
		}
	};
	for (unsigned step = 0; step < 3000; step++) {
		for (unsigned n = 0; n < 3; n++) {
			if (rng() % 3 == 0)
				post(n);
			if (rng() % 10 == 0)
				post_receive(n);
		}
		net.step();
		reap();
		if (HasFatalFailure())
			return;
	}
	EXPECT_TRUE(net.until([&] {
		for (unsigned n = 0; n < 3; n++)
			post_receive(n);
		reap();
		return HasFatalFailure() || (completed == expected && got == sends);
	})) << completed
	    << " of " << expected << ", received " << got << " of " << sends;
	for (unsigned n = 0; n < 3; n++) {
		EXPECT_EQ(net[n].m.load(0, 8), added[n]) << "each atomic once";
		EXPECT_TRUE(net[n].m.canaries_ok());
	}
	EXPECT_GT(expected, 500u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RmModel, testing::Range(1u, 25u));

} /* namespace */
