// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Two hosts on a wire: each operation once, then with every third packet lost. */
#include <cstdio>
#include <functional>

#include "verbs.hpp"

using namespace ubsim;

namespace
{
int tests;
int failures;

void result(bool good, const char *name)
{
	std::printf("%s %d %s\n", good ? "ok" : "not ok", ++tests, name);
	failures += !good;
}

struct side {
	host h;
	jfc tx{ h, 1, 8 };
	jfc rx{ h, 2, 8 };
	jfr r{ h, 1, 6, 0, 1 };
	memory m{ 0x10000, 1 << 20, 12 };
	address addr;
	std::unique_ptr<rc> q;

	explicit side(address a) : addr(a)
	{
		h.register_memory(5, 0x123, 1, 0xf, m);
		q = std::make_unique<rc>(h, 77, tx, rx, r, jetty_options{});
	}

	~side()
	{
		q.reset();
		h.destroy(UBOE_MBOX_SEG, 5);
	}

	int connect(const side &peer, std::uint16_t mtu)
	{
		return q->connect({ .local = addr,
				    .remote = peer.addr,
				    .rmt_jetty = 77,
				    .mtu = mtu,
				    .timeout_ns = 0 });
	}

	sge local(std::uint32_t off, std::uint32_t len)
	{
		return { m.va() + off, len, make_key(5, 0x123) };
	}
};

struct wire {
	side a;
	side b;
	unsigned loss = 0; /* every n-th packet */
	unsigned count = 0;

	wire(bool v6, std::uint16_t mtu)
		: a(v6 ? address::v6(1, 1) : address::v4(192, 0, 2, 1)),
		  b(v6 ? address::v6(1, 2) : address::v4(192, 0, 2, 2))
	{
		if (a.connect(b, mtu) || b.connect(a, mtu))
			std::printf("# connect failed\n");
	}

	void carry(side &from, side &to)
	{
		std::vector<host::packet> out;

		out.swap(from.h.out());
		for (auto &p : out)
			if (!loss || ++count % loss)
				to.h.receive(std::move(p.data));
	}

	/* Run for @ms of virtual time */
	void run(unsigned ms)
	{
		for (unsigned i = 0; i < ms * 10; i++) {
			for (unsigned n = 0;
			     n < 100 && (!a.h.out().empty() || !b.h.out().empty() ||
					 !a.h.turns().empty() || !b.h.turns().empty());
			     n++) {
				carry(a, b);
				carry(b, a);
				a.h.run_turns();
				b.h.run_turns();
			}
			a.h.time += 100000;
			b.h.time += 100000;
			a.h.run_timers();
			b.h.run_timers();
			a.h.reap();
			b.h.reap();
		}
	}

	bool sent_ok(side &s, unsigned n = 1)
	{
		for (; n; n--) {
			auto c = s.tx.poll();

			if (!c || c->w0 & (UBOE_CQE_STATUS | UBOE_CQE_RECV)) {
				std::printf("# completion %s\n", c ? "failed" : "missing");
				return false;
			}
		}
		return !s.tx.poll();
	}
};

void fill(memory &m, std::uint32_t off, std::uint32_t len, unsigned seed)
{
	bytes b(len);

	for (std::uint32_t i = 0; i < len; i++)
		b[i] = static_cast<std::uint8_t>(i * 7 + (i >> 8) + seed);
	m.write(off, b.data(), len);
}

bool same(const memory &x, std::uint32_t xo, const memory &y, std::uint32_t yo, std::uint32_t len)
{
	bytes b(len);

	y.read(yo, b.data(), len);
	return x.compare(xo, b.data(), len) == len;
}

void all(bool v6, std::uint16_t mtu, unsigned loss, std::uint32_t len)
{
	wire w(v6, mtu);
	unsigned ms = loss ? 20000 : 20;
	char name[100];
	auto say = [&](bool good, const char *what) {
		std::snprintf(name, sizeof(name), "%s: %u bytes, MTU %u, IPv%d, %s", what, len, mtu,
			      v6 ? 6 : 4, loss ? "loss" : "no loss");
		result(good, name);
	};

	w.loss = loss;
	w.run(ms);
	fill(w.a.m, 0, len, 1);
	w.a.q->post({ .op = UBOE_SQE_WRITE,
		      .sges = { w.a.local(0, len) },
		      .remote = w.b.m.va() + 4,
		      .rkey = make_key(5, 0x123) });
	w.run(ms);
	say(w.sent_ok(w.a) && same(w.b.m, 4, w.a.m, 0, len), "Write");

	fill(w.a.m, 0, len, 2);
	w.b.r.post(std::array{ w.b.local(200000, 100000) });
	w.a.q->post({ .op = UBOE_SQE_SEND_IMM,
		      .sges = { w.a.local(0, len) },
		      .imm = 0x1122334455667788 });
	w.run(ms);
	auto c = w.b.rx.poll();
	say(w.sent_ok(w.a) && c && c->byte_cnt == len && c->imm_lo == 0x55667788 &&
		    c->imm_hi == 0x11223344 && same(w.b.m, 200000, w.a.m, 0, len),
	    "Send");

	fill(w.a.m, 300000, len, 3);
	w.b.q->post({ .op = UBOE_SQE_READ,
		      .sges = { w.b.local(400000, len) },
		      .remote = w.a.m.va() + 300000,
		      .rkey = make_key(5, 0x123) });
	w.run(ms);
	say(w.sent_ok(w.b) && same(w.b.m, 400000, w.a.m, 300000, len), "Read");

	std::uint64_t v = 41;
	w.b.m.write(0, &v, 8);
	w.a.q->post({ .op = UBOE_SQE_FAA,
		      .sges = { w.a.local(0, 8) },
		      .remote = w.b.m.va(),
		      .rkey = make_key(5, 0x123),
		      .swap = 1 });
	w.a.q->post({ .op = UBOE_SQE_CAS,
		      .sges = { w.a.local(8, 8) },
		      .remote = w.b.m.va(),
		      .rkey = make_key(5, 0x123),
		      .swap = 99,
		      .compare = 42 });
	w.run(ms);
	say(w.sent_ok(w.a, 2) && w.a.m.load(0, 8) == 41 && w.a.m.load(8, 8) == 42 &&
		    w.b.m.load(0, 8) == 99,
	    "atomics");

	w.a.q->post({ .op = UBOE_SQE_SEND, .sges = { w.a.local(0, 10) } });
	w.run(ms);
	bool early = w.a.tx.poll().has_value();
	w.b.r.post(std::array{ w.b.local(200000, 10) });
	w.run(ms);
	say(!early && w.sent_ok(w.a) && w.b.rx.poll(), "Send before its receive");
}
} /* namespace */

int main()
{
	std::printf("TAP version 13\n");
	for (unsigned loss : { 0u, 3u }) {
		all(false, 1024, loss, 1000);
		all(true, 1024, loss, 70001);
		all(false, 4096, loss, 0);
		all(true, 4096, loss, 90000);
	}
	std::printf("1..%d\n", tests);
	return failures != 0;
}
