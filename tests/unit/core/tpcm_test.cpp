// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Races of the channel set-up: the cases of docs/decisions/0001. */
#include <functional>

#include <gtest/gtest.h>

#include "rig.hpp"

using namespace rig;

namespace
{
/* Type of a set-up message, 0 for any other packet */
unsigned cm_type(const bytes &p)
{
	std::size_t t = tph_at(p), body = t + UB_TPH_LEN + 16;

	if (p.size() != body + UB_TPCM_LEN + UB_ICRC_LEN || p[t] & UB_TPH_OPCODE)
		return 0;
	return get_unaligned_be32(&p[body]) == UB_TPCM_MAGIC ? p[body + UB_TPCM_O_TYPE] : 0;
}

/* Carry packets that @keep lets through; all of them go to @log */
class wire
{
      public:
	explicit wire(pair &w) : w_(w) {}

	std::function<unsigned(const bytes &, bool from_a)> copies = [](const bytes &, bool) {
		return 1u;
	};
	std::vector<std::pair<bytes, bool>> log;

	void step()
	{
		for (bool from_a : { true, false }) {
			end &from = from_a ? w_.a : w_.b, &to = from_a ? w_.b : w_.a;
			std::vector<ubsim::host::packet> out;

			out.swap(from.h.out());
			for (auto &p : out) {
				log.emplace_back(p.data, from_a);
				for (unsigned n = copies(p.data, from_a); n; n--)
					to.h.receive(p.data);
			}
		}
	}
	void run(unsigned ms)
	{
		for (unsigned i = 0; i < ms * 10; i++) {
			for (unsigned n = 0;
			     n < 50 && !(w_.a.h.out().empty() && w_.b.h.out().empty()); n++)
				step();
			for (end *e : { &w_.a, &w_.b }) {
				e->h.time += 100000;
				e->h.run_timers();
				e->h.run_turns();
				e->h.reap();
			}
		}
	}
	void replay()
	{
		auto old = log;

		for (auto &[p, from_a] : old)
			(from_a ? w_.b : w_.a).h.receive(p);
	}

      private:
	pair &w_;
};

bool open(end &e)
{
	return e.tp() && e.tp()->state == UBP_TP_OPEN;
}

/* One Write and one Send each way */
void expect_works(pair &w, const std::function<void()> &carry)
{
	for (end *e : { &w.a, &w.b }) {
		end &o = e == &w.a ? w.b : w.a;
		u64 v = 0x1234567890abcdef ^ (e == &w.a);

		e->m.write(0, &v, 8);
		e->q->post({ .op = UBOE_SQE_WRITE,
			     .sges = { e->local(0, 8) },
			     .remote = o.m.va() + 64,
			     .rkey = key });
		o.r.post(std::array{ o.local(128, 64) });
		e->q->post({ .op = UBOE_SQE_SEND, .sges = { e->local(0, 8) } });
		carry();
		for (int i = 0; i < 2; i++) {
			auto c = e->tx.poll();
			ASSERT_TRUE(c);
			EXPECT_EQ(c->w0 & UBOE_CQE_STATUS, 0u);
		}
		auto c = o.rx.poll();
		ASSERT_TRUE(c);
		EXPECT_EQ(c->w0 & UBOE_CQE_STATUS, 0u);
		EXPECT_EQ(o.m.load(64, 8), v);
		EXPECT_EQ(o.m.load(128, 8), v);
	}
}

class Tpcm : public testing::TestWithParam<bool>
{
      protected:
	pair w{ GetParam() };
	wire net{ w };

	bool connect_a() { return !w.a.connect(w.b.self, w.b.id); }
	bool connect_b() { return !w.b.connect(w.a.self, w.a.id); }
	static void renew(end &e)
	{
		e.q.reset();
		e.h.reap();
		e.q = std::make_unique<ubsim::rc>(e.h, e.id, e.tx, e.rx, e.r,
						  ubsim::jetty_options{});
	}
	void works()
	{
		expect_works(w, [this] { net.run(10); });
	}
};

TEST_P(Tpcm, PeerIsNotInRtrYet)
{
	moved m(w.b.h);

	ASSERT_TRUE(connect_a());
	net.run(500);
	EXPECT_GT(m.by(UBP_D_TPCM_NO_JETTY), 3u);
	EXPECT_LT(m.by(UBP_D_TPCM_NO_JETTY), 20u); /* the waits double */
	EXPECT_EQ(w.a.tp()->state, UBP_TP_OPENING);
	/* a channel without RTR does not answer either */
	uboe_tp_ctx c{};
	std::memcpy(c.laddr, w.b.self.b.data(), 16);
	std::memcpy(c.raddr, w.a.self.b.data(), 16);
	c.jetty = w.b.id;
	c.rmt_jetty = w.a.id;
	c.mtu = 1024;
	c.retrans = 0xff;
	ASSERT_EQ(w.b.h.create(UBOE_MBOX_TP, UB_TPN_RC(w.b.id), c), 0);
	std::uint64_t n = m.by(UBP_D_TPCM_NO_JETTY);
	net.run(500);
	EXPECT_GT(m.by(UBP_D_TPCM_NO_JETTY), n);
	EXPECT_EQ(w.b.tp()->state, UBP_TP_IDLE);
	ASSERT_EQ(w.b.h.destroy(UBOE_MBOX_TP, UB_TPN_RC(w.b.id)), 0);
	ASSERT_TRUE(connect_b());
	net.run(2);
	EXPECT_TRUE(open(w.a));
	EXPECT_TRUE(open(w.b));
	works();
}

TEST_P(Tpcm, EachMessageMayGetLost)
{
	/* each of the first lots of messages of a type, from one side or both */
	for (unsigned type : { UB_TPCM_REQ, UB_TPCM_REP, UB_TPCM_READY }) {
		for (unsigned side : { 1u, 2u, 3u }) {
			for (unsigned times : { 1u, 2u, 5u }) {
				pair p(GetParam());
				wire n(p);
				unsigned lost[2] = { 0, 0 };

				n.copies = [&](const bytes &b, bool from_a) {
					bool hit = cm_type(b) == type &&
						   side & (from_a ? 1u : 2u) &&
						   lost[from_a] < times;

					lost[from_a] += hit;
					return hit ? 0u : 1u;
				};
				ASSERT_FALSE(p.a.connect(p.b.self, p.b.id));
				n.run(3);
				ASSERT_FALSE(p.b.connect(p.a.self, p.a.id));
				n.run(700);
				EXPECT_TRUE(open(p.a)) << type << side << times;
				EXPECT_TRUE(open(p.b)) << type << side << times;
				EXPECT_EQ(p.a.tp()->peer_xid, p.b.tp()->xid);
				EXPECT_EQ(p.b.tp()->peer_xid, p.a.tp()->xid);
				expect_works(p, [&] { n.run(10); });
			}
		}
	}
}

TEST_P(Tpcm, SimultaneousOpen)
{
	ASSERT_TRUE(connect_a());
	ASSERT_TRUE(connect_b());
	for (int i = 0; i < 3; i++)
		net.step();
	EXPECT_TRUE(open(w.a));
	EXPECT_TRUE(open(w.b));
	EXPECT_LE(net.log.size(), 6u);
	works();
}

TEST_P(Tpcm, DuplicatesChangeNothing)
{
	net.copies = [](const bytes &, bool) { return 3u; };
	ASSERT_TRUE(connect_a());
	ASSERT_TRUE(connect_b());
	net.run(5);
	ASSERT_TRUE(open(w.a));
	ASSERT_TRUE(open(w.b));
	net.copies = [](const bytes &, bool) { return 1u; };
	works();
	u32 nxt = w.b.tp()->rcv_nxt, una = w.b.tp()->snd_una;
	for (int i = 0; i < 3; i++) {
		net.replay();
		net.run(5);
	}
	EXPECT_TRUE(open(w.a));
	EXPECT_TRUE(open(w.b));
	EXPECT_EQ(w.b.tp()->rcv_nxt, nxt);
	EXPECT_EQ(w.b.tp()->snd_una, una);
	works();
}

TEST_P(Tpcm, StalePeerAfterReuseOfANumber)
{
	ASSERT_TRUE(connect_a());
	ASSERT_TRUE(connect_b());
	net.run(5);
	works();
	/* both ends are made anew under the same numbers; the old messages arrive late */
	renew(w.a);
	renew(w.b);
	net.run(5);
	ASSERT_TRUE(connect_a());
	ASSERT_TRUE(connect_b());
	u32 xa = w.a.tp()->xid, xb = w.b.tp()->xid;
	std::vector<ubsim::host::packet> fresh_a, fresh_b;
	fresh_a.swap(w.a.h.out());
	fresh_b.swap(w.b.h.out());
	/* an old REQ may be believed for a while, by an end that is not open yet */
	net.replay();
	w.a.h.out().clear();
	w.b.h.out().clear();
	EXPECT_FALSE(open(w.a));
	EXPECT_FALSE(open(w.b));
	for (auto &p : fresh_a)
		w.b.h.receive(p.data);
	for (auto &p : fresh_b)
		w.a.h.receive(p.data);
	net.run(300);
	ASSERT_TRUE(open(w.a));
	ASSERT_TRUE(open(w.b));
	EXPECT_EQ(w.a.tp()->peer_xid, xb);
	EXPECT_EQ(w.b.tp()->peer_xid, xa);
	moved ma(w.a.h), mb(w.b.h);
	std::size_t fresh = net.log.size();
	net.replay();
	EXPECT_GT(ma.by(UBP_D_TPCM_STALE), 0u);
	EXPECT_GT(mb.by(UBP_D_TPCM_STALE), 0u);
	net.run(5);
	EXPECT_GE(net.log.size(), fresh);
	EXPECT_EQ(w.a.tp()->peer_xid, xb);
	EXPECT_TRUE(open(w.a));
	EXPECT_TRUE(open(w.b));
	works();
}

TEST_P(Tpcm, RebootOfOneSide)
{
	ASSERT_TRUE(connect_a());
	ASSERT_TRUE(connect_b());
	net.run(5);
	works();
	u32 xb = w.b.tp()->xid;
	net.copies = [](const bytes &, bool) { return 0u; }; /* a power cut says no CLOSE */
	renew(w.b);
	net.run(1);
	net.copies = [](const bytes &, bool) { return 1u; };
	moved m(w.a.h);
	ASSERT_TRUE(connect_b());
	net.run(50);
	/* the newcomer does not touch the old channel, and does not open */
	EXPECT_TRUE(open(w.a));
	EXPECT_EQ(w.a.tp()->peer_xid, xb);
	EXPECT_GT(m.by(UBP_D_TPCM_STALE), 0u);
	EXPECT_FALSE(open(w.b));
	/* data of the old channel does not reach the new one */
	moved mb(w.b.h);
	w.a.q->post({ .op = UBOE_SQE_WRITE,
		      .sges = { w.a.local(0, 8) },
		      .remote = w.b.m.va() + 512,
		      .rkey = key });
	net.run(50);
	EXPECT_FALSE(w.a.tx.poll());
	EXPECT_EQ(w.b.m.load(512, 8), 0u);
	EXPECT_GT(mb.by(UBP_D_WRONG_STATE), 0u);
	/* when the survivor starts again too, they meet */
	renew(w.a);
	while (w.a.tx.poll())
		;
	ASSERT_TRUE(connect_a());
	net.run(700);
	ASSERT_TRUE(open(w.a));
	ASSERT_TRUE(open(w.b));
	works();
}

TEST_P(Tpcm, CloseReachesThePeer)
{
	ASSERT_TRUE(connect_a());
	ASSERT_TRUE(connect_b());
	net.run(5);
	/* one Write is executed and its answer lost, one never arrives */
	unsigned data = 0;
	net.copies = [&](const bytes &p, bool from_a) {
		if (cm_type(p))
			return 1u;
		return from_a && !data++ ? 1u : 0u;
	};
	for (unsigned i = 0; i < 2; i++)
		w.a.q->post({ .op = UBOE_SQE_WRITE,
			      .sges = { w.a.local(0, 8) },
			      .remote = w.b.m.va() + 64,
			      .rkey = key });
	net.run(1);
	EXPECT_FALSE(w.a.tx.poll());
	w.b.q.reset();
	net.run(1);
	auto c = w.a.tx.poll();
	ASSERT_TRUE(c);
	EXPECT_EQ(c->w0 & UBOE_CQE_STATUS, 0u); /* CLOSE says that it was executed */
	/* what was not fails later than answers of other queues may take */
	net.run(200);
	EXPECT_FALSE(w.a.tx.poll());
	net.run(100);
	c = w.a.tx.poll();
	ASSERT_TRUE(c);
	EXPECT_EQ(c->w0 >> 24, unsigned(UBOE_CQE_ACK_TIMEOUT));
	EXPECT_FALSE(w.a.tx.poll());
	EXPECT_EQ(w.a.state(), UBOE_JS_ERROR);
	EXPECT_EQ(w.a.h.stat(UBP_S_CHANNELS_LOST), 1u);
}

TEST_P(Tpcm, MessagesFromElsewhereAreRefused)
{
	ASSERT_TRUE(connect_a());
	ASSERT_TRUE(connect_b());
	net.run(5);
	bytes req;
	for (auto &[p, from_a] : net.log)
		if (from_a && cm_type(p) == UB_TPCM_REQ)
			req = p;
	ASSERT_FALSE(req.empty());
	std::size_t body = tph_at(req) + UB_TPH_LEN + 16;
	auto sent = [&](std::size_t off, u32 v) {
		bytes p = req;
		moved m(w.b.h);

		put_unaligned_be32(v, &p[body + off]);
		seal(p);
		w.b.h.receive(p);
		return m.drops();
	};

	EXPECT_EQ(sent(UB_TPCM_O_LJETTY, 0x999), "drop_wrong_peer");
	EXPECT_EQ(sent(UB_TPCM_O_RJETTY, 0x999), "drop_tpcm_no_jetty");
	EXPECT_EQ(sent(UB_TPCM_O_RJETTY, 0x100000 | 0x202), "drop_tpcm_no_jetty");
	EXPECT_EQ(sent(UB_TPCM_O_XID, 0x999), "drop_tpcm_stale");
	EXPECT_EQ(sent(UB_TPCM_O_XID, 0), "drop_tpcm");
	EXPECT_EQ(sent(UB_TPCM_O_PSN, 0x1000000), "drop_tpcm");
	EXPECT_EQ(sent(UB_TPCM_O_LTPN, 0x1000000), "drop_tpcm");
	EXPECT_EQ(sent(UB_TPCM_O_MTU, 0x03001900), "drop_tpcm");
	EXPECT_EQ(sent(UB_TPCM_O_XID, w.a.tp()->xid), "");
	bytes p = req;
	p[GetParam() ? 23 : 15] ^= 0x40; /* another source address */
	seal(p);
	moved m(w.b.h);
	w.b.h.receive(p);
	EXPECT_EQ(m.drops(), "drop_wrong_peer");
	works();
}

/* What both announce is the same on both ends */
TEST_P(Tpcm, Negotiation)
{
	ASSERT_FALSE(w.a.q->connect({ .local = w.a.self,
				      .remote = w.b.self,
				      .rmt_jetty = w.b.id,
				      .mtu = 4096,
				      .window = 128,
				      .timeout_ns = 0,
				      .retrans = UB_TPCM_RETRANS_FAST }));
	ASSERT_FALSE(w.b.q->connect({ .local = w.b.self,
				      .remote = w.a.self,
				      .rmt_jetty = w.a.id,
				      .mtu = 2048,
				      .window = 1024,
				      .timeout_ns = 0 }));
	net.run(5);
	for (end *e : { &w.a, &w.b }) {
		ASSERT_TRUE(open(*e));
		EXPECT_EQ(e->tp()->mtu, 2048u);
		EXPECT_EQ(e->tp()->window, 128u);
		EXPECT_FALSE(ubp_tp_selective(e->tp()));
	}
	works();
}

TEST_P(Tpcm, APeerWithoutOutOfOrderWindow)
{
	net.copies = [](const bytes &p, bool) { return cm_type(p) ? 0u : 1u; };
	ASSERT_TRUE(connect_a());
	ASSERT_TRUE(connect_b());
	bytes req = w.a.h.out().at(0).data;
	std::size_t body = tph_at(req) + UB_TPH_LEN + 16;

	req[body + UB_TPCM_O_OOO] = 0;
	seal(req);
	w.b.h.receive(req);
	EXPECT_FALSE(ubp_tp_selective(w.b.tp()));
	EXPECT_EQ(w.b.tp()->window, w.b.h.dev()->cfg.window);
}

INSTANTIATE_TEST_SUITE_P(Ip, Tpcm, testing::Bool(),
			 [](const auto &i) { return std::string(i.param ? "v6" : "v4"); });

/* A host whose packets come back to it */
class Loopback : public testing::Test
{
      protected:
	static constexpr address self{ { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1 } };

	end e{ self, 0x101 };

	void run()
	{
		for (unsigned i = 0; i < 50; i++) {
			for (unsigned n = 0; n < 50 && !e.h.out().empty(); n++)
				pair::carry(e, e);
			e.h.run_turns();
			e.h.time += 100000;
			e.h.run_timers();
			e.h.reap();
		}
	}
};

TEST_F(Loopback, TwoJettysOfOneDevice)
{
	ubsim::jfc tx(e.h, 11, 6), rx(e.h, 12, 6);
	ubsim::jfr r(e.h, 11, 6, 0, pd);
	ubsim::rc q(e.h, 0x102, tx, rx, r, {});

	ASSERT_EQ(e.connect(self, 0x102), 0);
	ASSERT_EQ(q.connect({ .local = self,
			      .remote = self,
			      .rmt_jetty = 0x101,
			      .mtu = 1024,
			      .window = 0,
			      .timeout_ns = 0 }),
		  0);
	run();
	ASSERT_TRUE(open(e));
	r.post(std::array{ e.local(4096, 8192) });
	u64 v = 0x1122334455667788;
	e.m.write(0, &v, 8);
	e.q->post({ .op = UBOE_SQE_SEND, .sges = { e.local(0, 4000) } });
	e.q->post({ .op = UBOE_SQE_READ,
		    .sges = { e.local(20000, 8) },
		    .remote = e.m.va(),
		    .rkey = key });
	run();
	EXPECT_TRUE(e.tx.poll());
	EXPECT_TRUE(e.tx.poll());
	ASSERT_TRUE(rx.poll());
	EXPECT_EQ(e.m.load(4096, 8), v);
	EXPECT_EQ(e.m.load(20000, 8), v);
}

TEST_F(Loopback, AJettyThatTalksToItself)
{
	ASSERT_EQ(e.connect(self, 0x101), 0);
	run();
	ASSERT_TRUE(open(e));
	EXPECT_EQ(e.tp()->peer_xid, e.tp()->xid);
	u64 v = 0x1122334455667788, one = 41;
	e.m.write(0, &v, 8);
	e.m.write(512, &one, 8);
	e.r.post(std::array{ e.local(4096, 8192) });
	e.q->post({ .op = UBOE_SQE_SEND, .sges = { e.local(0, 5000) } });
	e.q->post({ .op = UBOE_SQE_WRITE,
		    .sges = { e.local(0, 3000) },
		    .remote = e.m.va() + 30000,
		    .rkey = key });
	e.q->post({ .op = UBOE_SQE_READ,
		    .sges = { e.local(20000, 8) },
		    .remote = e.m.va(),
		    .rkey = key });
	e.q->post({ .op = UBOE_SQE_FAA,
		    .sges = { e.local(20008, 8) },
		    .remote = e.m.va() + 512,
		    .rkey = key,
		    .swap = 1 });
	run();
	for (int i = 0; i < 4; i++) {
		auto c = e.tx.poll();
		ASSERT_TRUE(c) << i;
		EXPECT_EQ(c->w0 & UBOE_CQE_STATUS, 0u);
	}
	ASSERT_TRUE(e.rx.poll());
	EXPECT_EQ(e.m.load(4096, 8), v);
	EXPECT_EQ(e.m.load(30000, 8), v);
	EXPECT_EQ(e.m.load(20000, 8), v);
	EXPECT_EQ(e.m.load(20008, 8), 41u);
	EXPECT_EQ(e.m.load(512, 8), 42u);
}
} /* namespace */
