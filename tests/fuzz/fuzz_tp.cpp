// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Two ends, and a network that the input commands: which packet is delivered,
 * lost, doubled or overtaken, when time passes, when work is posted. A model
 * knows what must come of it: each request completes once, in order, with
 * success, and not a byte is wrong. In the end the network is good, and all work
 * has to be done.
 */
#include <deque>

#include "fuzz.hpp"

using namespace fuzz;

namespace
{
constexpr unsigned max_ops = 12; /* of each end */
constexpr std::uint32_t slot = 4096; /* bytes of memory of each request */
constexpr std::uint32_t counter = slot * max_ops * 4; /* place of the atomics */
constexpr std::uint32_t room = counter + 4096;

/* Regions of an end's memory: sources, results of Reads, targets of Writes, receives */
std::uint32_t at(unsigned region, unsigned n)
{
	return (region * max_ops + n) * slot;
}

struct op {
	std::uint8_t kind;
	std::uint32_t len;
	std::uint32_t end; /* ring index behind it */
	rig::bytes data;
	std::uint64_t order; /* of an atomic among those of this end */
};

struct side {
	rig::end &e;
	std::vector<op> ops;
	std::vector<unsigned> sends; /* ops that the peer has to receive, in order */
	unsigned completed = 0;
	unsigned received = 0;
	unsigned posted = 0; /* receives */
	unsigned atomics = 0;
	std::deque<rig::bytes> net; /* what it has sent and nobody has got yet */
};

rig::bytes pattern(unsigned seed, std::uint32_t len)
{
	rig::bytes b(len);

	for (std::uint32_t i = 0; i < len; i++)
		b[i] = static_cast<std::uint8_t>(i * 31 + (i >> 8) * 7 + seed * 101 + 1);
	return b;
}

class model
{
      public:
	model(rig::pair &w, bool big) : a_{ w.a, {}, {} }, b_{ w.b, {}, {} }, w_(w), big_(big) {}

	void post(bool from_a, input &in)
	{
		side &s = from_a ? a_ : b_, &o = from_a ? b_ : a_;
		unsigned n = static_cast<unsigned>(s.ops.size());
		std::uint8_t what = in.u8();
		std::uint32_t len = in.u16() % (big_ ? slot + 1 : 1100);
		ubsim::send_wr wr;

		if (n == max_ops || s.e.q->room() < 4)
			return;
		op p{ static_cast<std::uint8_t>(what & 3), len, 0, {}, 0 };
		wr.fence = what & 4;
		wr.order = what & 8 ? UB_ORDER_STRONG : UB_ORDER_NO;
		wr.rkey = rig::key;
		switch (p.kind) {
		case 0:
			wr.op = UBOE_SQE_WRITE;
			wr.remote = o.e.m.va() + at(2, n);
			break;
		case 1:
			wr.op = UBOE_SQE_SEND_IMM;
			wr.imm = 0x5500 + n;
			s.sends.push_back(n);
			break;
		case 2:
			wr.op = UBOE_SQE_READ;
			wr.remote = o.e.m.va() + at(0, n);
			break;
		default:
			wr.op = UBOE_SQE_FAA;
			wr.remote = o.e.m.va() + counter;
			wr.swap = 1;
			p.len = len = 8;
			p.order = s.atomics++;
		}
		p.data = pattern(n + (from_a ? 0 : 50) + p.kind * 7, len);
		if (p.kind ==
		    2) /* what is read lies at the other end, under this request's number */
			o.e.m.write(at(0, n), p.data.data(), len);
		if (p.kind < 2) {
			wr.inl = len <= 64 && what & 16;
			if (wr.inl)
				wr.data = p.data;
			else
				source(s, n, p.data, wr);
		} else {
			wr.sges = { s.e.local(at(1, n), len) };
		}
		p.end = s.e.q->post(wr);
		s.ops.push_back(std::move(p));
	}

	void receive(bool at_a)
	{
		side &s = at_a ? a_ : b_;

		if (s.posted == max_ops)
			return;
		s.e.r.post(std::array{ s.e.local(at(3, s.posted), slot) });
		s.posted++;
	}

	/* What to do with the @n-th packet under way from an end */
	void packet(bool from_a, unsigned n, unsigned fate)
	{
		side &s = from_a ? a_ : b_, &o = from_a ? b_ : a_;

		collect();
		if (s.net.empty())
			return;
		auto i = s.net.begin() + static_cast<std::ptrdiff_t>(n % s.net.size());
		if (fate != 1)
			o.e.h.receive(*i);
		if (fate != 2)
			s.net.erase(i);
		if (s.net.size() > 200)
			s.net.pop_front();
		look();
	}

	void time(std::uint64_t ns)
	{
		for (side *s : { &a_, &b_ }) {
			s->e.h.time += ns;
			s->e.h.run_timers();
			s->e.h.run_turns();
			s->e.h.reap();
		}
		look();
	}

	void look()
	{
		for (side *s : { &a_, &b_ }) {
			while (auto c = s->e.tx.poll())
				sent(*s, s == &a_ ? b_ : a_, *c);
			while (auto c = s->e.rx.poll())
				got(*s, s == &a_ ? b_ : a_, *c);
			check(s->e);
		}
	}

	/* The network turns good: everything has to end */
	void finish()
	{
		while (a_.posted < max_ops)
			receive(true);
		while (b_.posted < max_ops)
			receive(false);
		for (unsigned i = 0; i < 4000 && !done(); i++) {
			for (unsigned n = 0; n < 400 && moving(); n++) {
				packet(true, 0, 0);
				packet(false, 0, 0);
			}
			time(5000000);
		}
		must(done(), "work is not done after a good network for 20 s");
		must(a_.e.m.load(counter, 8) == b_.atomics && b_.e.m.load(counter, 8) == a_.atomics,
		     "an atomic was executed twice or not at all");
		for (side *s : { &a_, &b_ })
			must(!s->e.tx.poll() && !s->e.rx.poll(), "a completion too many");
	}

      private:
	void source(side &s, unsigned n, const rig::bytes &data, ubsim::send_wr &wr)
	{
		/* results of Reads have their own slots, so those of Writes and Sends are free */
		s.e.m.write(at(1, n), data.data(), data.size());
		std::uint32_t half = static_cast<std::uint32_t>(data.size() / 3);

		wr.sges = { s.e.local(at(1, n), half),
			    s.e.local(at(1, n) + half,
				      static_cast<std::uint32_t>(data.size()) - half) };
	}

	void sent(side &s, side &o, const uboe_cqe &c)
	{
		must(s.completed < s.ops.size(), "a completion of nothing");
		unsigned n = s.completed++;
		op &p = s.ops[n];
		bool good = !(c.w0 & (UBOE_CQE_STATUS | UBOE_CQE_RECV));

		must(good, "a request failed");
		must((c.w1 & UBOE_CQE_ENTRY) == ((p.end - 1) & 0xffff), "completions out of order");
		s.e.q->retire(p.end);
		if (p.kind == 0)
			must(o.e.m.compare(at(2, n), p.data.data(), p.len) == p.len,
			     "Write: wrong byte");
		if (p.kind == 2)
			must(s.e.m.compare(at(1, n), p.data.data(), p.len) == p.len,
			     "Read: wrong byte");
		if (p.kind == 3)
			must(s.e.m.load(at(1, n), 8) == p.order, "atomic: wrong old value");
	}

	void got(side &s, side &o, const uboe_cqe &c)
	{
		must(s.received < o.sends.size(), "received what was not sent");
		unsigned n = s.received++;
		op &p = o.ops[o.sends[n]];

		must((c.w0 & UBOE_CQE_RECV) && !(c.w0 & UBOE_CQE_STATUS), "a receive failed");
		must(c.byte_cnt == p.len, "received another length than was sent");
		must(c.imm_lo == 0x5500 + o.sends[n], "received another immediate");
		must(s.e.r.done(c.w1 & UBOE_CQE_ENTRY), "a receive that was not posted");
		must(s.e.m.compare(at(3, n), p.data.data(), p.len) == p.len, "Send: wrong byte");
	}

	void collect()
	{
		for (side *s : { &a_, &b_ }) {
			for (auto &p : s->e.h.out())
				s->net.push_back(std::move(p.data));
			s->e.h.out().clear();
			s->e.h.run_turns();
		}
	}

	bool moving()
	{
		collect();
		return !a_.net.empty() || !b_.net.empty();
	}

	bool done()
	{
		return a_.completed == a_.ops.size() && b_.completed == b_.ops.size() &&
		       a_.received == b_.sends.size() && b_.received == a_.sends.size();
	}

	side a_;
	side b_;
	rig::pair &w_;
	bool big_;
};

/* Fast enough to come to an end */
constexpr const char *controllers[] = { nullptr, "dcqcn,min_kbps=1000000",
					"ldcp,cwd0=2000,cwd_max=9000", nullptr };
} /* namespace */

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	input in(data, size);
	std::uint8_t options = in.u8();
	ubp_config cfg = config();

	if (options & 1)
		cfg.retrans = 0; /* go back N */
	if (const char *cc = controllers[options >> 4 & 3])
		must(!ubp_cc_parse(&cfg.cc, cc), "settings of congestion control are refused");
	rig::pair w(options & 2, cfg, {}, room);
	if (options & 4) {
		w.a.h.forced = { 3, 0xfffffc };
		w.b.h.forced = { 4, 0xfffffffe };
	}
	if (!w.connect())
		wrong("two ends do not connect");
	if (options & 0x40)
		w.a.h.mark = w.b.h.mark = UBP_MARK_SEVERE;
	model m(w, options & 8);
	for (unsigned n = 0; in.more() && n < 400; n++) {
		std::uint8_t x = in.u8();
		bool from_a = x & 1;
		unsigned arg = x >> 4;

		switch (x >> 1 & 7) {
		case 0: m.post(from_a, in); break;
		case 1: m.receive(from_a); break;
		case 2: /* in order */
		case 3:
			for (unsigned i = 0; i <= arg; i++)
				m.packet(from_a, 0, 0);
			break;
		case 4: /* overtaking */ m.packet(from_a, arg, 0); break;
		case 5: m.packet(from_a, arg, 1); break;
		case 6: m.packet(from_a, arg, 2); break;
		default: m.time(arg < 8 ? 100000ull << arg : 1000000ull << (arg - 8));
		}
	}
	m.finish();
	check_gone(w.a);
	check_gone(w.b);
	return 0;
}
