/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Endpoints with RM jetties on a network that may lose, double, delay and damage
 * packets, in virtual time.
 */
#ifndef UBOE_TESTS_UNIT_CORE_RMNET_HPP
#define UBOE_TESTS_UNIT_CORE_RMNET_HPP

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <random>

#include "rig.hpp"

extern "C" {
#include "ubp_rm.h"
}

namespace rig
{

constexpr std::uint64_t us = 1000;
constexpr std::uint64_t ms = 1000 * us;

struct link {
	double loss = 0;
	double dup = 0;
	double delay = 0; /* probability of being overtaken */
	double damage = 0;
};

/* One endpoint: queues, memory, jetties by number, channels made when asked for */
class node
{
      public:
	node(address a, std::uint8_t flags = UBOE_SEG_NATIVE) : self(a), m(0x10000, 1 << 20, 12)
	{
		h.register_memory(seg_id, seg_token, pd, access_all, m, flags);
	}

	~node()
	{
		jetties.clear();
		for (std::uint32_t tpn = 1; tpn < next_tpn; tpn++)
			h.destroy(UBOE_MBOX_TP, tpn);
		h.destroy(UBOE_MBOX_SEG, seg_id);
	}

	ubsim::rc &add(std::uint32_t id, ubsim::jetty_options o = {})
	{
		o.type = UBOE_JETTY_RM;
		o.flags |= UBOE_JETTY_NATIVE | UBOE_JETTY_SHARED_JFR;
		o.user = id;
		auto &q = *(jetties[id] = std::make_unique<ubsim::rc>(h, id, tx, rx, r, o));

		q.to_state(UBOE_JS_INIT);
		q.to_state(UBOE_JS_READY);
		return q;
	}

	std::uint16_t mtu = 1024; /* of its channels to come */

	/* The channel to @peer, made when there is none yet */
	std::uint32_t channel(address peer)
	{
		std::uint32_t tpn = ubp_share_find(h.dev(), self.b.data(), peer.b.data());
		uboe_tp_ctx tp{};

		if (tpn)
			return tpn;
		std::memcpy(tp.laddr, self.b.data(), 16);
		std::memcpy(tp.raddr, peer.b.data(), 16);
		tp.mtu = mtu;
		tp.retrans = 0xff;
		tp.timeout_ns = 1;
		tp.vl = vl;
		return h.create(UBOE_MBOX_TP, next_tpn, tp) ? 0 : next_tpn++;
	}

	/* Channels that peers ask for: made, and the peers answered */
	void serve_wanted()
	{
		for (auto &w : std::exchange(h.wanted(), {}))
			ubp_share_open(h.dev(), channel(w.second));
	}

	ubp_share *share(address peer) { return ubp_tp_find(h.dev(), channel(peer))->sh; }
	ubsim::sge local(std::uint64_t off, std::uint32_t len)
	{
		return { m.va() + off, len, key };
	}
	void receive(std::uint64_t off, std::uint32_t len)
	{
		r.post(std::array{ local(off, len) });
	}

	host h;
	address self;
	ubsim::jfc tx{ h, 1, 12 };
	ubsim::jfc rx{ h, 2, 12 };
	ubsim::jfr r{ h, 1, 10, 1, pd };
	ubsim::memory m;
	std::map<std::uint32_t, std::unique_ptr<ubsim::rc>> jetties;
	std::uint32_t next_tpn = 1;
	std::uint8_t vl = 0; /* of channels to come */
};

class network
{
      public:
	explicit network(unsigned nodes, unsigned seed = 1) : rng(seed)
	{
		for (unsigned i = 0; i < nodes; i++)
			add(i);
	}

	void add(unsigned i)
	{
		if (nodes.size() <= i)
			nodes.resize(i + 1);
		nodes[i] = std::make_unique<node>(rig::addr(v6, std::uint8_t(i + 1)));
		nodes[i]->h.time = clock;
		for (unsigned n = 0; n < 3 * lives; n++)
			nodes[i]->h.random(); /* nobody has the numbers of another life */
		lives++;
	}

	/* A power cut: nothing is said, what was on its way is lost */
	void crash(unsigned i)
	{
		node *n = nodes[i].get();

		n->jetties.clear();
		for (std::uint32_t tpn = 1; tpn < n->next_tpn; tpn++)
			n->h.destroy(UBOE_MBOX_TP, tpn);
		n->next_tpn = 1;
		n->h.out().clear();
		nodes[i].reset();
	}

	node &operator[](unsigned i) { return *nodes[i]; }

	bool chance(double p) { return p > 0 && std::uniform_real_distribution<>(0, 1)(rng) < p; }

	void launch(unsigned from)
	{
		std::vector<ubsim::host::packet> out;

		out.swap(nodes[from]->h.out());
		for (auto &p : out) {
			for (int n = chance(wire.dup) ? 2 : 1; n--;) {
				if (chance(wire.loss))
					continue;
				flight f{ clock + 5 * us, destination(p.data), p.data };

				if (chance(wire.delay))
					f.at += rng() % 200 * us;
				if (chance(wire.damage))
					f.data[rng() % f.data.size()] ^=
						std::uint8_t(1 << rng() % 8);
				air.push_back(std::move(f));
			}
		}
	}

	unsigned destination(const bytes &p) const { return (p[0] >> 4 == 4 ? p[19] : p[39]) - 1u; }

	/* One step of @dt */
	void step(std::uint64_t dt = 5 * us)
	{
		clock += dt;
		for (unsigned i = 0; i < nodes.size(); i++) {
			if (!nodes[i])
				continue;
			host &h = nodes[i]->h;

			h.time = clock;
			nodes[i]->serve_wanted();
			h.run_timers();
			h.run_turns();
		}
		for (auto f = air.begin(); f != air.end();) {
			if (f->at > clock) {
				++f;
				continue;
			}
			if (f->to < nodes.size() && nodes[f->to] && !deaf.contains(f->to))
				nodes[f->to]->h.receive(std::move(f->data));
			f = air.erase(f);
		}
		for (unsigned i = 0; i < nodes.size(); i++) {
			if (!nodes[i])
				continue;
			launch(i);
			nodes[i]->h.reap();
		}
	}

	/* Node @a reaches the memory of node @b */
	ubsim::send_wr access(std::uint8_t op, unsigned a, unsigned b, std::uint64_t loff,
			      std::uint64_t roff, std::uint32_t len,
			      std::uint8_t order = UB_ORDER_NO)
	{
		return { .op = op,
			 .order = order,
			 .sges = { nodes[a]->local(loff, len) },
			 .remote = nodes[b]->m.va() + roff,
			 .rkey = key,
			 .tpn = nodes[a]->channel(nodes[b]->self) };
	}

	/* Of the next request of node @n that ends */
	std::optional<uboe_cqe> completion(unsigned n)
	{
		std::optional<uboe_cqe> c;

		until([&] {
			if (!c)
				c = nodes[n]->tx.poll();
			return c.has_value();
		});
		EXPECT_TRUE(c) << "no completion";
		return c;
	}

	/* Until @done or for @limit; quick when nothing is on its way */
	template <class F> bool until(F &&done, std::uint64_t limit = 60000 * ms)
	{
		const std::uint64_t end = clock + limit;

		while (clock < end) {
			if (done())
				return true;
			bool busy = !air.empty();

			for (auto &n : nodes)
				busy |= n && !(n->h.turns().empty() && n->h.out().empty() &&
					       n->h.wanted().empty());
			step(busy ? 5 * us : 500 * us);
		}
		return done();
	}

	void run(std::uint64_t t)
	{
		until([] { return false; }, t);
	}

	struct flight {
		std::uint64_t at;
		unsigned to;
		bytes data;
	};

	bool v6 = false;
	link wire;
	std::map<unsigned, bool> deaf; /* hear nothing */
	std::uint64_t clock = 1000 * ms;
	unsigned lives = 0;
	std::mt19937 rng;
	std::list<flight> air;
	std::vector<std::unique_ptr<node>> nodes;
};

/* Bytes to be recognised */
inline bytes pattern(std::size_t n, unsigned seed)
{
	bytes b(n);
	std::mt19937 r(seed);

	for (auto &x : b)
		x = std::uint8_t(r());
	return b;
}

} /* namespace rig */

#endif
