/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What unit tests and fuzzers of the core share: an endpoint with one of each
 * object, two of them on a wire that the test carries packets over, and the
 * counters that moved.
 */
#ifndef UBOE_TESTS_UNIT_CORE_RIG_HPP
#define UBOE_TESTS_UNIT_CORE_RIG_HPP

#include <functional>
#include <map>
#include <string>

#include "verbs.hpp"

extern "C" {
#include "ubp_ta.h"
}

namespace rig
{

using ubsim::address;
using ubsim::bytes;

constexpr std::uint32_t pd = 1;
constexpr std::uint32_t seg_id = 5;
constexpr std::uint32_t seg_token = 0x123;
constexpr std::uint32_t key = ubsim::make_key(seg_id, seg_token);
constexpr std::uint8_t access_all = UBOE_ACC_LOCAL_WRITE | UBOE_ACC_REMOTE_WRITE |
				    UBOE_ACC_REMOTE_READ | UBOE_ACC_REMOTE_ATOMIC;

inline address addr(bool v6, std::uint8_t n)
{
	return v6 ? address::v6(0, n) : address::v4(192, 0, 2, n);
}

/* Store the ICRC that is right for the bytes before it */
inline void seal(bytes &p)
{
	std::uint32_t n = static_cast<std::uint32_t>(p.size()) - UB_ICRC_LEN;

	ubp_icrc_store(p.data() + n, ubp_icrc(p.data(), n), false);
}

/* Start of the TPH */
inline std::size_t tph_at(const bytes &p)
{
	return (p[0] >> 4 == 4 ? UB_IPV4_LEN : UB_IPV6_LEN) + UB_UDP_LEN;
}

/* enum uboe_cqe_status and uboe_cqe_substatus of a completion */
inline unsigned status(const uboe_cqe &c)
{
	return UBP_GET(UBOE_CQE_STATUS, c.w0);
}

inline unsigned sub(const uboe_cqe &c)
{
	return UBP_GET(UBOE_CQE_SUBSTATUS, c.w0);
}

/* A host whose next random numbers a test may choose */
class host final : public ubsim::host
{
      public:
	using ubsim::host::host;

	std::uint32_t random() override
	{
		if (forced.empty())
			return ubsim::host::random();
		std::uint32_t v = forced.front();

		forced.erase(forced.begin());
		return v;
	}

	/* A program that runs at the same time, each time its armed JFC fires */
	void jfc_fired(ubp_jfc *jfc) override
	{
		if (meanwhile)
			meanwhile();
		else
			ubsim::host::jfc_fired(jfc);
	}

	std::vector<std::uint32_t> forced; /* of a channel: xid, first PSN */
	std::function<void()> meanwhile;
};

/* One host with a completion queue for each direction, a receive queue, memory and a jetty */
struct end {
	host h;
	address self;
	ubsim::jfc tx{ h, 1, 8 };
	ubsim::jfc rx;
	ubsim::jfr r;
	ubsim::memory m;
	std::unique_ptr<ubsim::rc> q;
	std::uint32_t id;

	end(address a, std::uint32_t jetty, const ubp_config &cfg = ubsim::host::small_config(),
	    const ubsim::jetty_options &opt = {}, std::uint32_t room = 1 << 18,
	    const ubsim::jfc_options &recv = {}, std::uint8_t buf_shift = 0)
		: h(cfg), self(a), rx(h, 2, 8, recv), r(h, 1, 6, 1, pd, 0, 0, 0, buf_shift),
		  m(0x10000, room, 12), id(jetty)
	{
		h.register_memory(seg_id, seg_token, pd, access_all, m);
		q = std::make_unique<ubsim::rc>(h, jetty, tx, rx, r, opt);
	}

	~end()
	{
		q.reset();
		h.destroy(UBOE_MBOX_SEG, seg_id);
	}

	int connect(address peer, std::uint32_t jetty, std::uint16_t mtu = 1024)
	{
		return q->connect({ .local = self,
				    .remote = peer,
				    .rmt_jetty = jetty,
				    .mtu = mtu,
				    .window = 0,
				    .timeout_ns = 0,
				    .cc = static_cast<std::uint8_t>(h.dev()->cfg.cc.alg) });
	}

	ubp_tp *tp() { return ubp_tp_find(h.dev(), UB_TPN_RC(id)); }
	std::uint8_t state()
	{
		uboe_jetty_ctx c{};

		return h.query(UBOE_MBOX_JETTY, id, c) ? 0xff : c.state;
	}
	ubsim::sge local(std::uint64_t off, std::uint32_t len)
	{
		return { m.va() + off, len, key };
	}
};

struct pair {
	end a;
	end b;

	explicit pair(bool v6 = false, const ubp_config &cfg = ubsim::host::small_config(),
		      const ubsim::jetty_options &opt = {}, std::uint32_t room = 1 << 18,
		      const ubsim::jfc_options &recv = {}, std::uint8_t buf_shift = 0)
		: a(addr(v6, 1), 0x101, cfg, opt, room, recv, buf_shift),
		  b(addr(v6, 2), 0x202, cfg, opt, room, recv, buf_shift)
	{
	}

	bool connect(std::uint16_t mtu = 1024)
	{
		if (a.connect(b.self, b.id, mtu) || b.connect(a.self, a.id, mtu))
			return false;
		run();
		return a.tp()->state == UBP_TP_OPEN && b.tp()->state == UBP_TP_OPEN;
	}

	static void carry(end &from, end &to)
	{
		std::vector<ubsim::host::packet> out;

		out.swap(from.h.out());
		for (auto &p : out)
			to.h.receive(std::move(p.data));
	}

	/* Until nothing moves, then @ticks times 100 us later again */
	void run(unsigned ticks = 30)
	{
		for (unsigned i = 0; i < ticks; i++) {
			for (unsigned n = 0; n < 200; n++) {
				if (a.h.out().empty() && b.h.out().empty() && a.h.turns().empty() &&
				    b.h.turns().empty())
					break;
				carry(a, b);
				carry(b, a);
				a.h.run_turns();
				b.h.run_turns();
			}
			for (end *e : { &a, &b }) {
				e->h.time += 100000;
				e->h.run_timers();
				e->h.reap();
			}
		}
	}
};

/* Counters of a host that have moved since this object was made, by name */
class moved
{
      public:
	explicit moved(ubsim::host &h) : h_(h)
	{
		for (unsigned i = 0; i < UBP_S_MAX; i++)
			was_.push_back(h.stat(i));
	}

	std::uint64_t by(unsigned stat) const { return h_.stat(stat) - was_[stat]; }

	/* "drop_icrc" or "drop_a=1 drop_b=2"; only reasons of drops unless @all */
	std::string drops() const
	{
		std::string out;

		for (unsigned i = UBP_S_DROP_FIRST; i < UBP_S_MAX; i++) {
			if (!by(i))
				continue;
			out += (out.empty() ? "" : " ") + std::string(ubp_stat_name(i));
			if (by(i) != 1)
				out += "=" + std::to_string(by(i));
		}
		return out;
	}

      private:
	ubsim::host &h_;
	std::vector<std::uint64_t> was_;
};

} /* namespace rig */

#endif
