// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Reset of the function: what ends, who is told, and that the device works after it. */
#include <gtest/gtest.h>

#include "rmnet.hpp"

using namespace rig;

namespace
{

int reset(ubsim::host &h, std::uint32_t npi = 0)
{
	uboe_entity_ctx c{};

	c.npi = npi;
	return h.modify(UBOE_MBOX_ENTITY, 0, c, UBOE_EM_RESET);
}

std::uint32_t resets(ubsim::host &h)
{
	uboe_entity_ctx c{};

	EXPECT_EQ(h.query(UBOE_MBOX_ENTITY, 0, c), 0);
	return c.resets;
}

/* The events of a reset, in order: "begin", numbers of jetties, "done" */
std::string events_of(ubsim::host &h)
{
	std::string s;

	for (const auto &e : std::exchange(h.events(), {})) {
		if (e.type == UBOE_EV_ENTITY)
			s += e.sub == UBOE_EV_SUB_RESET ? "begin " : "done";
		else if (e.type == UBOE_EV_JETTY && e.sub == UBOE_EV_SUB_JFS)
			s += std::to_string(e.num) + " ";
	}
	return s;
}

ubsim::send_wr write_to(end &a, end &b, std::uint32_t len)
{
	return {
		.op = UBOE_SQE_WRITE, .sges = { a.local(0, len) }, .remote = b.m.va(), .rkey = key
	};
}

TEST(FunctionReset, AnEmptyDevice)
{
	ubsim::host h;

	EXPECT_EQ(reset(h, 1), -EINVAL) << "one thing at a time";
	EXPECT_EQ(resets(h), 0u);
	EXPECT_EQ(reset(h), 0);
	EXPECT_EQ(events_of(h), "begin done");
	EXPECT_EQ(reset(h), 0);
	EXPECT_EQ(resets(h), 2u);
}

TEST(FunctionReset, JettiesFailAndFlushWhatTheyHad)
{
	pair p;

	ASSERT_TRUE(p.connect());
	p.a.r.post(std::array{ p.a.local(0, 64) });
	/* one that is on its way, and one behind it in the ring that waits for it */
	p.a.q->post(write_to(p.a, p.b, 3000));
	const std::uint32_t last = p.a.q->post({ .op = UBOE_SQE_NOP, .fence = true });
	p.a.h.events().clear();
	ASSERT_EQ(reset(p.a.h), 0);
	EXPECT_EQ(p.a.state(), UBOE_JS_ERROR);
	EXPECT_EQ(events_of(p.a.h), "begin 257 done");
	for (unsigned i = 0; i < 2; i++) {
		auto c = p.a.tx.poll();
		ASSERT_TRUE(c) << i;
		EXPECT_EQ(status(*c), unsigned(UBOE_CQE_FLUSH));
	}
	p.a.q->retire(last);
	auto c = p.a.rx.poll();
	ASSERT_TRUE(c) << "its own JFR is flushed";
	EXPECT_EQ(status(*c), unsigned(UBOE_CQE_FLUSH));
	/* what is posted now is flushed, too */
	const std::uint32_t late = p.a.q->post({ .op = UBOE_SQE_NOP });
	c = p.a.tx.poll();
	ASSERT_TRUE(c);
	EXPECT_EQ(status(*c), unsigned(UBOE_CQE_FLUSH));
	p.a.q->retire(late);
	p.a.r.post(std::array{ p.a.local(0, 64) });
	p.a.h.kick(p.a.id);
	c = p.a.rx.poll();
	ASSERT_TRUE(c) << "receives as well";
	EXPECT_EQ(status(*c), unsigned(UBOE_CQE_FLUSH));
	EXPECT_EQ(reset(p.a.h), 0);
	EXPECT_EQ(events_of(p.a.h), "begin done") << "it had failed before";
}

TEST(FunctionReset, ThePeerIsTold)
{
	pair p;

	ASSERT_TRUE(p.connect());
	/* no receive at a: it waits for one, as long as a is there */
	const std::uint32_t at = p.b.q->post({ .op = UBOE_SQE_SEND, .sges = { p.b.local(0, 8) } });
	p.run(3);
	EXPECT_FALSE(p.b.tx.poll());
	ASSERT_EQ(reset(p.a.h), 0);
	p.run(10);
	std::optional<uboe_cqe> c;
	for (unsigned i = 0; i < 50 && !c; i++) {
		p.b.h.time += 10 * ms;
		p.b.h.run_timers();
		p.b.h.run_turns();
		c = p.b.tx.poll();
	}
	ASSERT_TRUE(c) << "half a second, not the limit of retransmission";
	EXPECT_EQ(status(*c), unsigned(UBOE_CQE_ACK_TIMEOUT));
	p.b.q->retire(at);
}

TEST(FunctionReset, EverythingCanGoAndComeAgain)
{
	pair p;

	ASSERT_TRUE(p.connect());
	p.a.q->post(write_to(p.a, p.b, 3000));
	ASSERT_EQ(reset(p.a.h), 0);
	ASSERT_EQ(reset(p.b.h), 0);
	for (end *e : { &p.a, &p.b }) {
		while (e->tx.poll())
			;
		e->q.reset();
		e->h.out().clear();
		/* the JFR and the segment are of before */
		uboe_seg_ctx seg{};
		EXPECT_EQ(e->h.query(UBOE_MBOX_SEG, seg_id, seg), 0);
		EXPECT_EQ(e->h.destroy(UBOE_MBOX_SEG, seg_id), 0);
		EXPECT_EQ(e->h.register_memory(seg_id, seg_token, pd, access_all, e->m), 0);
	}
	{
		ubsim::jfr ra(p.a.h, 2, 6, 1, pd), rb(p.b.h, 2, 6, 1, pd);

		p.a.q = std::make_unique<ubsim::rc>(p.a.h, p.a.id, p.a.tx, p.a.rx, ra,
						    ubsim::jetty_options{});
		p.b.q = std::make_unique<ubsim::rc>(p.b.h, p.b.id, p.b.tx, p.b.rx, rb,
						    ubsim::jetty_options{});
		ASSERT_TRUE(p.connect());
		const std::uint32_t at = p.a.q->post(write_to(p.a, p.b, 3000));
		p.run(3);
		auto c = p.a.tx.poll();
		ASSERT_TRUE(c);
		EXPECT_EQ(status(*c), 0u);
		p.a.q->retire(at);
		p.a.q.reset();
		p.b.q.reset();
	}
}

/* Objects of before the reset give nothing away */
TEST(FunctionReset, JfrsServeNoNewJetty)
{
	end e(addr(false, 1), 0x101);
	uboe_jetty_ctx c{};
	ubsim::dma ring = e.h.alloc_dma(4096), page = e.h.alloc_dma(4096);

	c.state = UBOE_JS_INIT;
	c.type = UBOE_JETTY_RC;
	c.sq_shift = 4;
	c.pd = pd;
	c.sq_base = ring.bus;
	c.page = page.bus;
	c.tx_jfcn = 1;
	c.rx_jfcn = 2;
	c.jfrn = 1;
	EXPECT_EQ(e.h.create(UBOE_MBOX_JETTY, 0x333, c), 0);
	EXPECT_EQ(e.h.destroy(UBOE_MBOX_JETTY, 0x333), 0);
	ASSERT_EQ(reset(e.h), 0);
	EXPECT_EQ(e.h.create(UBOE_MBOX_JETTY, 0x333, c), -EINVAL);
	e.h.free_dma(ring);
	e.h.free_dma(page);
}

struct Shared : testing::Test {
	network net{ 2 };

	Shared()
	{
		net[0].add(1);
		net[1].add(2);
	}
	ubsim::send_wr to_1(std::uint8_t op, std::uint32_t len = 100)
	{
		ubsim::send_wr s{ .op = op, .sges = { net[0].local(0, len) } };

		s.rmt = net[1].self;
		s.rmt_type = UBOE_RMT_JETTY;
		if (op == UBOE_SQE_SEND)
			s.rmt_id = 2; /* memory is named by its key */
		s.tpn = net[0].channel(net[1].self);
		s.remote = net[1].m.va();
		s.rkey = key;
		return s;
	}
	unsigned result(const ubsim::send_wr &w, std::uint32_t id = 1)
	{
		std::optional<uboe_cqe> c;
		const std::uint32_t at = net[0].jetties[id]->post(w);

		EXPECT_TRUE(net.until([&] { return bool(c = net[0].tx.poll()); }));
		net[0].jetties[id]->retire(at);
		return c ? status(*c) : 0xff;
	}
};

TEST_F(Shared, ResetOfTheTargetFailsWhatItHasNotAnswered)
{
	net[1].receive(4096, 100);
	EXPECT_EQ(result(to_1(UBOE_SQE_SEND)), 0u);
	/* the next one finds no receive, and waits */
	const std::uint32_t at = net[0].jetties[1]->post(to_1(UBOE_SQE_SEND));
	net.run(20 * ms);
	EXPECT_FALSE(net[0].tx.poll());
	ASSERT_EQ(reset(net[1].h), 0);
	std::optional<uboe_cqe> c;
	EXPECT_TRUE(net.until([&] { return bool(c = net[0].tx.poll()); }, 1000 * ms));
	ASSERT_TRUE(c);
	EXPECT_EQ(status(*c), unsigned(UBOE_CQE_ACK_TIMEOUT));
	net[0].jetties[1]->retire(at);
	EXPECT_EQ(net[0].share(net[1].self)->tp->state, UBP_TP_IDLE);
}

TEST_F(Shared, MemoryOfBeforeIsNotReached)
{
	EXPECT_EQ(result(to_1(UBOE_SQE_WRITE)), 0u);
	ASSERT_EQ(reset(net[1].h), 0);
	net.run(1 * ms); /* the peer is told; what it sends sooner fails for that */
	EXPECT_EQ(result(to_1(UBOE_SQE_WRITE)), unsigned(UBOE_CQE_REMOTE));
	EXPECT_EQ(net[1].h.destroy(UBOE_MBOX_SEG, seg_id), 0);
	EXPECT_EQ(net[1].h.register_memory(seg_id, seg_token, pd, access_all, net[1].m,
					   UBOE_SEG_NATIVE),
		  0);
	EXPECT_EQ(result(to_1(UBOE_SQE_WRITE)), 0u) << "the device works";
}

TEST_F(Shared, NeitherByTheInitiatorItself)
{
	ASSERT_EQ(reset(net[0].h), 0);
	while (net[0].tx.poll())
		;
	net[0].jetties.erase(1);
	/* a new jetty needs a JFR of after the reset */
	ubsim::jfr fresh(net[0].h, 9, 6, 1, pd);
	ubsim::jetty_options o;

	o.type = UBOE_JETTY_RM;
	o.flags = UBOE_JETTY_NATIVE | UBOE_JETTY_SHARED_JFR;
	net[0].jetties[3] =
		std::make_unique<ubsim::rc>(net[0].h, 3, net[0].tx, net[0].rx, fresh, o);
	ASSERT_EQ(net[0].jetties[3]->to_state(UBOE_JS_INIT), 0);
	ASSERT_EQ(net[0].jetties[3]->to_state(UBOE_JS_READY), 0);
	EXPECT_EQ(result(to_1(UBOE_SQE_WRITE), 3), unsigned(UBOE_CQE_LOCAL)) << "its own memory";
	EXPECT_EQ(net[0].h.destroy(UBOE_MBOX_SEG, seg_id), 0);
	EXPECT_EQ(net[0].h.register_memory(seg_id, seg_token, pd, access_all, net[0].m,
					   UBOE_SEG_NATIVE),
		  0);
	EXPECT_EQ(result(to_1(UBOE_SQE_WRITE), 3), 0u);
	net[1].receive(4096, 100);
	EXPECT_EQ(result(to_1(UBOE_SQE_SEND), 3), 0u);
	net[0].jetties.clear();
}

/* All of it, again and again, while a peer sends */
TEST_F(Shared, AgainAndAgain)
{
	for (unsigned i = 0; i < 20; i++) {
		ubsim::rc &q = *net[0].jetties[1];
		std::uint32_t at = 0;

		for (unsigned n = 0; n < 5; n++)
			at = q.post(to_1(n & 1 ? UBOE_SQE_WRITE : UBOE_SQE_READ, 3000));
		net.run(i * 3 * us);
		ASSERT_EQ(reset(net[1].h), 0);
		unsigned done = 0;
		EXPECT_TRUE(net.until([&] { return (done += bool(net[0].tx.poll())) == 5; }));
		q.retire(at);
		net[1].jetties.clear();
		EXPECT_EQ(net[1].h.destroy(UBOE_MBOX_SEG, seg_id), 0);
		EXPECT_EQ(net[1].h.register_memory(seg_id, seg_token, pd, access_all, net[1].m,
						   UBOE_SEG_NATIVE),
			  0);
	}
	EXPECT_EQ(result(to_1(UBOE_SQE_WRITE)), 0u);
}

} /* namespace */
