// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A jetty ends at every point of a transfer: destroyed, failed, gone with its process
 * or with its machine. No completion is lost or comes twice, no receive stays away,
 * memory is left alone from then on, nothing leaks, and others go on.
 *
 * A point is one packet that arrives, one turn of an engine, or one tick of the clock
 * when nothing else is to do. The transfer is run once to count them, then once for
 * each.
 */
#include <gtest/gtest.h>

#include "rmnet.hpp"

using namespace rig;

namespace
{

enum class mode { rc, rm, rot };
enum class end_by { destroy, error, process, machine };

struct variant {
	mode m;
	end_by how;
	unsigned victim; /* node 0 or 1 */
	unsigned loss; /* every so many-th packet is lost, 0: none */
};

constexpr std::uint32_t parties[] = { 100, 200 }; /* the jetties that one of which ends */
constexpr std::uint32_t others[] = { 101, 201, 301 }; /* the rest of the world */

/* Parts of each node's memory */
constexpr std::uint64_t source = 0;
constexpr std::uint64_t written = 0x20000; /* by the party's peer */
constexpr std::uint64_t brought = 0x40000; /* by the party's Reads and atomics */
constexpr std::uint64_t others_written = 0x60000;
constexpr std::uint64_t buffers = 0x80000;
constexpr std::uint32_t part = 0x20000; /* size of each but the last */

struct asked {
	unsigned node;
	std::uint32_t jetty;
	unsigned seen = 0;
	unsigned status = 0;
};

class world
{
      public:
	/* @phase: which ones are lost */
	explicit world(const variant &v, unsigned phase = 0) : v_(v), carried_(phase)
	{
		static const bytes data = pattern(part, 1);

		for (unsigned n = 0; n < 3; n++) {
			net_[n].m.write(source, data.data(), data.size());
			net_[n].add(others[n]);
			for (unsigned i = 0; i < 40; i++)
				receive(n);
		}
		for (unsigned n = 0; n < 2; n++)
			add_party(n);
		for (unsigned n = 0; n < 2; n++)
			if (v.m == mode::rc)
				EXPECT_EQ(connect(n), 0);
		for (unsigned n = 0; n < 2; n++)
			ask(n, 1 - n);
		for (unsigned n = 0; n < 2; n++) {
			ask_other(n, 2);
			ask_other(2, n);
		}
	}

	/* One event; false: nothing was to do but wait */
	bool micro()
	{
		for (unsigned n = 0; n < 3; n++) {
			if (!alive(n) || net_[n].h.turns().empty())
				continue;
			net_[n].h.run_turns();
			settle();
			idle_ = 0;
			return true;
		}
		if (!net_.air.empty()) {
			network::flight f = std::move(net_.air.front());

			idle_ = 0;
			net_.air.pop_front();
			if (alive(f.to) && !(v_.loss && ++carried_ % v_.loss == 0))
				net_[f.to].h.receive(std::move(f.data));
			settle();
			return true;
		}
		net_.clock += 100 * us << std::min(idle_++ / 20, 9u); /* seconds, at last */
		for (unsigned n = 0; n < 3; n++) {
			if (!alive(n))
				continue;
			net_[n].h.time = net_.clock;
			net_[n].h.run_timers();
		}
		settle();
		return false;
	}

	bool all_done() const
	{
		for (const auto &[at, a] : asked_)
			if (!a.seen && !forgotten(a))
				return false;
		return true;
	}

	void finish()
	{
		const std::uint64_t end = net_.clock + 60000 * ms;
		unsigned quiet = 0;

		while (net_.clock < end && !(quiet > 50 && all_done()))
			quiet = micro() ? 0 : quiet + 1;
	}

	void end()
	{
		poll();
		seen_before_ = seen_of_victim();
		switch (v_.how) {
		case end_by::destroy:
			party(v_.victim).reset();
			gone_ = true;
			break;
		case end_by::error: EXPECT_EQ(party(v_.victim)->to_state(UBOE_JS_ERROR), 0); break;
		case end_by::process:
			net_[v_.victim].jetties.clear();
			net_[v_.victim].h.destroy(UBOE_MBOX_SEG, seg_id);
			gone_ = true;
			break;
		case end_by::machine:
			dead_ = v_.victim;
			net_.crash(v_.victim);
			gone_ = true;
			break;
		}
		if (alive(v_.victim)) {
			snap_written_ = copy(written);
			snap_brought_ = copy(brought);
		}
		ended_ = true;
		settle();
	}

	void check(const char *what)
	{
		SCOPED_TRACE(what);
		for (const auto &[at, a] : asked_) {
			const bool theirs = a.jetty == parties[v_.victim];
			const bool bystander = a.jetty % 100 == 1;

			if (forgotten(a))
				continue;
			EXPECT_EQ(a.seen, 1u) << "jetty " << a.jetty << " entry " << std::get<2>(at)
					      << (theirs ? ", the victim" : "");
			if (bystander && ended_ &&
			    (v_.how == end_by::destroy || v_.how == end_by::error))
				EXPECT_EQ(a.status, UBOE_CQE_OK) << "others are not concerned";
			if (!ended_)
				EXPECT_EQ(a.status, UBOE_CQE_OK)
					<< "jetty " << a.jetty << " entry " << std::get<2>(at);
		}
		if (gone_ && alive(v_.victim))
			EXPECT_EQ(seen_of_victim(), seen_before_) << "a completion after the end";
		if (ended_ && v_.how == end_by::error)
			EXPECT_EQ(flush_done_[parties[v_.victim]], 1u);
		for (unsigned n = 0; n < 3; n++) {
			if (!alive(n))
				continue;
			EXPECT_TRUE(net_[n].m.canaries_ok());
			EXPECT_EQ(net_[n].r.posted(), net_[n].r.waiting())
				<< "a receive of node " << n << " was taken and never completed";
		}
		if (ended_ && alive(v_.victim)) {
			EXPECT_EQ(copy(brought), snap_brought_) << "an answer was placed";
			if (v_.m == mode::rc || v_.how == end_by::process)
				EXPECT_EQ(copy(written), snap_written_) << "a Write was executed";
		}
	}

	/* What each node holds when nothing is left to do */
	std::vector<std::size_t> tear_down()
	{
		std::vector<std::size_t> left;

		for (unsigned n = 0; n < 3; n++) {
			if (!alive(n))
				continue;
			host &h = net_[n].h;

			net_[n].jetties.clear();
			for (std::uint32_t tpn = 1; tpn < net_[n].next_tpn; tpn++)
				h.destroy(UBOE_MBOX_TP, tpn);
			h.destroy(UBOE_MBOX_SEG, seg_id);
			h.out().clear();
			h.reap();
			EXPECT_EQ(h.live_packets(), 0u) << "node " << n;
			EXPECT_EQ(h.live_buffers(), 0u) << "node " << n;
			EXPECT_EQ(h.live_segments(), 0u) << "node " << n;
			EXPECT_EQ(h.live_paths(), 0u) << "node " << n;
			left.push_back(h.live_allocations());
		}
		return left;
	}

      private:
	std::unique_ptr<ubsim::rc> &party(unsigned n) { return net_[n].jetties[parties[n]]; }
	bool alive(unsigned n) const { return n != dead_; }

	/* Once the victim is gone nobody waits for its completion any more */
	bool of_victim(const asked &a) const
	{
		return v_.how == end_by::destroy ? a.jetty == parties[v_.victim] :
						   a.node == v_.victim;
	}
	bool forgotten(const asked &a) const { return gone_ && of_victim(a); }

	std::uint64_t seen_of_victim() const
	{
		std::uint64_t seen = 0;

		for (const auto &[at, a] : asked_)
			seen += of_victim(a) && a.seen;
		return seen;
	}

	void add_party(unsigned n)
	{
		ubsim::jetty_options o;

		if (v_.m != mode::rc) {
			o.order = v_.m == mode::rot ? UBOE_ORDER_TARGET : UBOE_ORDER_INITIATOR;
			net_[n].add(parties[n], o);
			return;
		}
		o.flags = UBOE_JETTY_NATIVE | UBOE_JETTY_SHARED_JFR;
		o.user = parties[n];
		party(n) = std::make_unique<ubsim::rc>(net_[n].h, parties[n], net_[n].tx,
						       net_[n].rx, net_[n].r, o);
	}

	int connect(unsigned n)
	{
		return party(n)->connect({ .local = net_[n].self,
					   .remote = net_[1 - n].self,
					   .rmt_jetty = parties[1 - n],
					   .mtu = 1024,
					   .window = 0,
					   .timeout_ns = 2 * ms });
	}

	void receive(unsigned n) { net_[n].receive(buffers, part); }

	void post(unsigned n, std::uint32_t jetty, const ubsim::send_wr &wr)
	{
		const std::uint32_t end = net_[n].jetties[jetty]->post(wr);

		asked_[{ n, jetty, std::uint16_t(end - 1) }] = { n, jetty };
	}

	ubsim::send_wr request(unsigned n, unsigned to, std::uint32_t jetty, std::uint8_t op,
			       std::uint64_t loff, std::uint64_t roff, std::uint32_t len)
	{
		const bool send = op == UBOE_SQE_SEND;
		ubsim::send_wr wr{ .op = op,
				   .sges = { net_[n].local(loff, len) },
				   .remote = send ? 0 : net_[to].m.va() + roff,
				   .rkey = send ? 0 : key,
				   .imm = 7,
				   .token_en = !send,
				   .rmt_type = UBOE_RMT_JETTY,
				   .rmt_id = send ? jetty : 0 };

		wr.imm_jetty = jetty;
		return wr;
	}

	/* One of everything that is cut into packets, waits for answers, or takes a receive */
	void ask(unsigned n, unsigned to)
	{
		const std::uint32_t id = parties[to];
		std::vector<ubsim::send_wr> wrs{
			request(n, to, id, UBOE_SQE_WRITE, source, written, 5000),
			request(n, to, id, UBOE_SQE_SEND, source, 0, 15000),
			request(n, to, id, UBOE_SQE_READ, brought, source, 5000),
			request(n, to, id, UBOE_SQE_FAA, brought + 0x8000, written + 0x10000, 8),
			request(n, to, id, UBOE_SQE_WRITE_IMM, source, written + 0x8000, 2000),
			request(n, to, id, UBOE_SQE_SEND, source, 0, 0),
			request(n, to, id, UBOE_SQE_READ, brought + 0x10000, source, 1),
			request(n, to, id, UBOE_SQE_SEND, source, 0, 64),
		};

		wrs[3].swap = 1;
		wrs[6].fence = true;
		wrs[7].order = UB_ORDER_STRONG;
		for (ubsim::send_wr &wr : wrs) {
			if (v_.m != mode::rc)
				wr.tpn = net_[n].channel(net_[to].self);
			else
				wr.rmt_type = 0, wr.rmt_id = 0, wr.imm_jetty = 0;
			post(n, parties[n], wr);
		}
	}

	void ask_other(unsigned n, unsigned to)
	{
		for (std::uint8_t op : { UBOE_SQE_SEND, UBOE_SQE_WRITE }) {
			ubsim::send_wr wr = request(n, to, others[to], op, source,
						    others_written + n * 0x4000, 2000);

			wr.tpn = net_[n].channel(net_[to].self);
			post(n, others[n], wr);
		}
	}

	bytes copy(std::uint64_t off)
	{
		bytes b(part);

		net_[v_.victim].m.read(off, b.data(), b.size());
		return b;
	}

	void settle()
	{
		for (unsigned n = 0; n < 3; n++) {
			if (!alive(n))
				continue;
			net_[n].serve_wanted();
			net_.launch(n);
			net_[n].h.reap();
		}
		poll();
	}

	void poll()
	{
		for (unsigned n = 0; n < 3; n++) {
			if (!alive(n))
				continue;
			while (auto c = net_[n].tx.poll()) {
				if (c->w0 & UBOE_CQE_FLUSH_DONE) {
					flush_done_[c->user_lo]++;
					continue;
				}
				auto a = asked_.find({ n, c->user_lo, std::uint16_t(c->w1) });

				if (a == asked_.end()) {
					ADD_FAILURE() << "nobody asked for this one";
					continue;
				}
				EXPECT_EQ(++a->second.seen, 1u) << "twice";
				a->second.status = status(*c);
			}
			while (auto c = net_[n].rx.poll())
				if (!(c->w0 & UBOE_CQE_FLUSH_DONE))
					EXPECT_TRUE(net_[n].r.done(c->w1 & 0xffff));
		}
	}

	const variant v_;
	network net_{ 3 };
	std::map<std::tuple<unsigned, std::uint32_t, std::uint16_t>, asked> asked_;
	std::map<std::uint32_t, unsigned> flush_done_;
	unsigned carried_;
	unsigned idle_ = 0;
	unsigned dead_ = ~0u;
	bool ended_ = false;
	bool gone_ = false;
	std::uint64_t seen_before_ = 0;
	bytes snap_written_, snap_brought_;
};

/* Every point; with sanitizers, which take ten times as long, every nineteenth */
#ifdef __SANITIZE_ADDRESS__
constexpr unsigned stride = 19;
#else
constexpr unsigned stride = 1;
#endif

class Death : public testing::TestWithParam<std::tuple<mode, end_by, unsigned, unsigned>>
{
};

TEST_P(Death, AtEveryPoint)
{
	const auto [m, how, victim, loss] = GetParam();
	const variant v{ m, how, victim, loss };
	unsigned points = 0;
	std::vector<std::size_t> left;

	{
		world w(v);

		while (!w.all_done() && points < 20000) {
			w.micro();
			points++;
		}
		w.finish();
		w.check("to its end");
		left = w.tear_down();
	}
	ASSERT_GT(points, 60u);
	for (unsigned k = 0; k <= points && !HasFailure(); k += stride) {
		world w(v, k);

		for (unsigned i = 0; i < k; i++)
			w.micro();
		w.end();
		w.finish();
		w.check(("ended at point " + std::to_string(k)).c_str());
		std::vector<std::size_t> now = w.tear_down();

		if (now.size() == left.size())
			EXPECT_EQ(now, left) << "point " << k << ": memory that nobody gave back";
	}
}

std::string name_of(const testing::TestParamInfo<Death::ParamType> &i)
{
	const auto [m, how, victim, loss] = i.param;
	const char *const modes[] = { "Rc", "Rm", "Rot" };
	const char *const ends[] = { "Destroyed", "Failed", "Process", "Machine" };

	return std::string(modes[int(m)]) + ends[int(how)] + std::to_string(victim) +
	       (loss ? "Lossy" : "");
}

INSTANTIATE_TEST_SUITE_P(All, Death,
			 testing::Combine(testing::Values(mode::rc, mode::rm, mode::rot),
					  testing::Values(end_by::destroy, end_by::error,
							  end_by::process, end_by::machine),
					  testing::Values(0u, 1u), testing::Values(0u, 7u)),
			 name_of);

} /* namespace */
