// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ubsim-congestion - senders of Writes that share one port of a switch, in virtual time
 *
 *	ubsim-congestion			KTAP: every case that has to hold
 *	ubsim-congestion SETTINGS [NAME=N]...	one run, with what became of each sender
 *
 * SETTINGS is as of ubp_cc_parse(); NAME one of the fields of struct scene.
 *
 * Each sender has a link of its own to the switch, whose speed is the port's. The port has
 * a queue of so many bytes at most and marks what leaves it by the length of what stays:
 * never up to kmin, with a probability that rises to pmax at kmax, always beyond. With CAQM
 * it is a port of a UB domain, and does what CAQM wants instead. What comes back is not held up. All packets carry payload and pass the core of both ends, ICRC included.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <queue>
#include <string>

#include "rng.hpp"
#include "ubport.hpp"
#include "verbs.hpp"

extern "C" {
#include "ubp_caqm.h"
#include "ubp_tp.h"
}

using namespace ubsim;

namespace
{
constexpr std::uint64_t us = 1000;
constexpr std::uint32_t key = make_key(5, 0x123);
constexpr std::uint32_t message = 256 << 10;
constexpr unsigned outstanding = 6;

struct scene {
	std::uint64_t senders = 2;
	std::uint64_t mbps = 10000;
	std::uint64_t latency = 5 * us; /* of each of the two links of a way */
	std::uint64_t mtu = 4096;
	std::uint64_t buffer = 4 << 20;
	std::uint64_t kmin = 40 << 10;
	std::uint64_t kmax = 200 << 10;
	std::uint64_t pmax = 100; /* percent */
	std::uint64_t period = UBP_CAQM_PERIOD_NS; /* of CAQM */
	std::uint64_t target = UBP_CAQM_TARGET;
	std::uint64_t late = 20 * us; /* timers, at most */
	std::uint64_t settle = 100; /* ms until the measuring begins */
	std::uint64_t measure = 400; /* ms */
};

struct field {
	const char *name;
	std::uint64_t scene::*at;
};

constexpr field fields[] = {
	{ "senders", &scene::senders }, { "mbps", &scene::mbps },
	{ "latency", &scene::latency }, { "mtu", &scene::mtu },
	{ "buffer", &scene::buffer },	{ "kmin", &scene::kmin },
	{ "kmax", &scene::kmax },	{ "pmax", &scene::pmax },
	{ "period", &scene::period },	{ "target", &scene::target },
	{ "late", &scene::late },	{ "settle", &scene::settle },
	{ "measure", &scene::measure },
};

class world;

class station final : public host
{
      public:
	station(world &w, unsigned index, const ubp_config &cfg) : host(cfg), w_(w), index_(index)
	{
	}

	std::uint64_t now() override;
	void sent(ubp_path &path, bytes &&data) override;
	void set_timer(ubp_tp *tp, std::uint64_t when) override;
	void cancel_timer(ubp_tp *tp) override { gen_[tp->tpn]++; }
	void later(ubp_jetty *jetty) override;

      private:
	world &w_;
	unsigned index_;
	std::map<std::uint32_t, std::uint64_t> gen_;
};

/* Someone who writes for ever */
struct sender {
	station h;
	jfc tx;
	jfc rx;
	jfr r;
	memory m{ 0x10000, message, 16 };
	std::unique_ptr<rc> q;
	unsigned posted = 0;
	std::uint64_t busy = 0; /* its link */
	std::uint64_t passed = 0; /* bytes through the port while it was measured */

	sender(world &w, unsigned index, const ubp_config &cfg)
		: h(w, index, cfg), tx(h, 1, 8), rx(h, 2, 8), r(h, 1, 6, 0, 1)
	{
		h.register_memory(5, 0x123, 1, 0xf, m);
		q = std::make_unique<rc>(h, 100, tx, rx, r, jetty_options{});
	}

	ubp_tp *tp() { return ubp_tp_find(h.dev(), UB_TPN_RC(100)); }

	~sender()
	{
		q.reset();
		h.destroy(UBOE_MBOX_SEG, 5);
	}
};

struct result {
	double busy; /* share of the port's time */
	double worst; /* largest distance from the mean, share of the mean */
	double jain;
	std::uint64_t longest; /* queue, bytes */
	std::uint64_t drops;
	std::uint64_t marks;
	std::uint64_t cnps;
	std::uint64_t reductions;
	std::uint64_t timeouts;
};

class world
{
      public:
	world(const scene &s, const ubp_config &cfg);
	~world()
	{
		to_.clear();
		far_.destroy(UBOE_MBOX_SEG, 5);
	}

	result run();
	void at(std::uint64_t when, std::function<void()> what)
	{
		events_.push({ std::max(when, clock), seq_++, std::move(what) });
	}
	/* From the station @from, 0: the receiver */
	void transmit(unsigned from, unsigned to, bytes &&data);
	std::uint64_t late() { return random_.below(sc_.late + 1); }

	std::uint64_t clock = 0;
	const std::vector<std::unique_ptr<sender>> &senders() const { return senders_; }
	double gbps(const sender &s) const
	{
		return double(s.passed) * 8 / double(sc_.measure) / 1e6;
	}

      private:
	struct event {
		std::uint64_t at;
		std::uint64_t seq;
		std::function<void()> what;

		bool operator<(const event &o) const
		{
			return at != o.at ? at > o.at : seq > o.seq;
		}
	};

	std::uint64_t wire_time(std::size_t bytes) const
	{
		return (bytes + ethernet) * 8000 / sc_.mbps;
	}
	double red() const;
	void judge(bytes &data);
	void enqueue(unsigned from, bytes &&data);
	void dequeue(unsigned from, std::uint64_t len, const std::shared_ptr<bytes> &data);
	void work(sender &s);
	bool measuring() const
	{
		return clock >= sc_.settle * 1000 * us &&
		       clock < (sc_.settle + sc_.measure) * 1000 * us;
	}

	static constexpr std::size_t ethernet = 38; /* header, FCS, preamble, gap */

	scene sc_;
	rng random_{ 20 };
	std::priority_queue<event> events_;
	std::uint64_t seq_ = 0;
	station far_;
	jfc far_tx_;
	jfc far_rx_;
	jfr far_r_;
	memory far_m_{ 0x10000, message, 16 };
	std::vector<std::unique_ptr<rc>> to_;
	std::vector<std::unique_ptr<sender>> senders_;

	std::uint64_t port_busy_ = 0;
	std::uint64_t queued_ = 0;
	std::uint64_t total_ = 0; /* wire bytes while it was measured */
	std::uint64_t longest_ = 0;
	std::uint64_t drops_ = 0;
	std::uint64_t marks_ = 0;
	ubp_caqm_knobs knobs_;
	ubp_caqm caqm_{};
};

std::uint64_t station::now()
{
	return w_.clock;
}

void station::sent(ubp_path &path, bytes &&data)
{
	w_.transmit(index_, path.raddr[15] - 1u, std::move(data));
}

void station::set_timer(ubp_tp *tp, std::uint64_t when)
{
	const std::uint32_t tpn = tp->tpn;
	const std::uint64_t gen = ++gen_[tpn];

	w_.at(when + w_.late(), [this, tpn, gen] {
		ubp_tp *it = ubp_tp_find(dev(), tpn);

		if (it && gen_[tpn] == gen)
			ubp_timer(it);
	});
}

void station::later(ubp_jetty *jetty)
{
	const std::uint32_t id = ubp_jetty_id(jetty);

	w_.at(w_.clock + 500, [this, id] { kick(id); });
}

world::world(const scene &s, const ubp_config &cfg)
	: sc_(s), far_(*this, 0, cfg), far_tx_(far_, 1, 8), far_rx_(far_, 2, 8),
	  far_r_(far_, 1, 6, 0, 1), knobs_{ s.mbps * 125000, u32(s.period), u32(s.target),
					    UBP_CAQM_MARK, UBP_CAQM_CUT }
{
	const bool native = cfg.cc.alg == UB_CC_CAQM;

	if (native)
		far_.set_native(false);
	far_.register_memory(5, 0x123, 1, 0xf, far_m_);
	for (unsigned i = 1; i <= s.senders; i++) {
		senders_.push_back(std::make_unique<sender>(*this, i, cfg));
		if (native)
			senders_.back()->h.set_native(false);
		to_.push_back(std::make_unique<rc>(far_, 100 + i, far_tx_, far_rx_, far_r_,
						   jetty_options{}));
		channel_options mine{ .local = address::v4(10, 0, 0, std::uint8_t(i + 1)),
				      .remote = address::v4(10, 0, 0, 1),
				      .rmt_jetty = 100 + i,
				      .mtu = std::uint16_t(s.mtu),
				      .cc = std::uint8_t(cfg.cc.alg) };
		channel_options its = mine;

		std::swap(its.local, its.remote);
		its.rmt_jetty = 100;
		int err = senders_.back()->q->connect(mine);

		if (!err)
			err = to_.back()->connect(its);
		if (err) {
			std::printf("# a connection cannot be made: %d\n", err);
			std::exit(3);
		}
		/* they do not begin at the same time */
		at(random_.below(1000 * us), [this, i] { work(*senders_[i - 1]); });
	}
}

/* Keep its queue filled */
void world::work(sender &s)
{
	while (auto c = s.tx.poll()) {
		if (c->w0 & UBOE_CQE_STATUS) {
			std::printf("# a Write failed\n");
			std::exit(3);
		}
		s.q->retire(s.q->taken());
		s.posted--;
	}
	for (; s.posted < outstanding; s.posted++)
		s.q->post({ .op = UBOE_SQE_WRITE,
			    .sges = { { s.m.va(), message, key } },
			    .remote = far_m_.va(),
			    .rkey = key });
	at(clock + 20 * us, [this, &s] { work(s); });
}

void world::transmit(unsigned from, unsigned to, bytes &&data)
{
	auto hold = std::make_shared<bytes>(std::move(data));
	std::uint64_t out = clock;

	if (from) {
		sender &s = *senders_[from - 1];

		s.busy = std::max(s.busy, clock) + wire_time(hold->size());
		out = s.busy + sc_.latency;
		at(out, [this, from, hold] { enqueue(from, std::move(*hold)); });
		return;
	}
	out += wire_time(hold->size()) + 2 * sc_.latency;
	at(out, [this, to, hold] {
		senders_[to - 1]->h.receive(std::move(*hold));
		senders_[to - 1]->h.reap();
	});
}

/* How likely a packet is marked that leaves so much behind it */
double world::red() const
{
	if (queued_ <= sc_.kmin)
		return 0;
	if (queued_ >= sc_.kmax)
		return 1;
	return double(sc_.pmax) / 100 * double(queued_ - sc_.kmin) / double(sc_.kmax - sc_.kmin);
}

void world::judge(bytes &data)
{
	std::uint8_t *at = cci_behind(data);

	if (!far_.native())
		return;
	ubp_caqm_pass(&caqm_, &knobs_, clock, queued_, u32(data.size() + ethernet));
	if (!at)
		return; /* setting up */
	u16 cci = get_unaligned_be16(at);
	marks_ += ubp_caqm_judge(&caqm_, &knobs_, u32(random_.next()), &cci) == UBP_CAQM_MARKED;
	put_unaligned_be16(cci, at);
}

void world::enqueue(unsigned from, bytes &&data)
{
	const std::uint64_t len = data.size() + ethernet;

	if (queued_ + len > sc_.buffer) {
		drops_++;
		return;
	}
	judge(data);
	auto hold = std::make_shared<bytes>(std::move(data));

	queued_ += len;
	if (measuring())
		longest_ = std::max(longest_, queued_);
	port_busy_ = std::max(port_busy_, clock) + len * 8000 / sc_.mbps;
	at(port_busy_, [this, from, len, hold] { dequeue(from, len, hold); });
}

void world::dequeue(unsigned from, std::uint64_t len, const std::shared_ptr<bytes> &data)
{
	queued_ -= len;
	if (((*data)[1] & 3) == 2 && random_.chance(red())) {
		(*data)[1] |= 3;
		marks_++;
	}
	if (measuring()) {
		senders_[from - 1]->passed += len;
		total_ += len;
	}
	at(clock + sc_.latency, [this, data] {
		far_.receive(std::move(*data));
		far_.reap();
	});
}

result world::run()
{
	const std::uint64_t end = (sc_.settle + sc_.measure) * 1000 * us;
	result r{};
	double sum = 0, squares = 0, mean;

	while (!events_.empty() && events_.top().at < end) {
		event e = std::move(const_cast<event &>(events_.top()));

		events_.pop();
		clock = e.at;
		e.what();
	}
	for (auto &s : senders_) {
		sum += double(s->passed);
		squares += double(s->passed) * double(s->passed);
		r.reductions += s->h.stat(UBP_S_CC_REDUCTIONS);
		r.timeouts += s->h.stat(UBP_S_TIMEOUTS);
	}
	mean = sum / double(senders_.size());
	for (auto &s : senders_)
		r.worst = std::max(r.worst, std::abs(double(s->passed) - mean) / mean);
	r.jain = sum * sum / squares / double(senders_.size());
	r.busy = double(total_) * 8 / double(sc_.measure) / 1e3 / double(sc_.mbps);
	r.longest = longest_;
	r.drops = drops_;
	r.marks = marks_;
	r.cnps = far_.stat(UBP_S_CNP_SENT);
	return r;
}

void print(const char *text, const scene &s, const result &r)
{
	std::printf("# %-12s %2llu senders: busy %.2f %%, shares within %.2f %%, Jain %.5f, queue "
		    "at most %llu KiB, %llu drops, %llu marks, %llu CNPs, %llu reductions, %llu "
		    "timeouts\n",
		    text, (unsigned long long)s.senders, r.busy * 100, r.worst * 100, r.jain,
		    (unsigned long long)r.longest >> 10, (unsigned long long)r.drops,
		    (unsigned long long)r.marks, (unsigned long long)r.cnps,
		    (unsigned long long)r.reductions, (unsigned long long)r.timeouts);
}

std::string rate_of(const ubp_tp &tp)
{
	char t[100];

	if (!tp.cc)
		return "";
	if (tp.cc->ops == &ubp_cc_caqm)
		std::snprintf(t, sizeof(t), ", window %u%s%s", tp.cc->caqm.cw,
			      tp.cc->caqm.slow ? ", slow start" : "",
			      tp.cc->plain ? ", plain" : "");
	else if (tp.cc->ops == &ubp_cc_ldcp)
		std::snprintf(t, sizeof(t), ", window %u", tp.cc->ldcp.cw >> 8);
	else
		std::snprintf(t, sizeof(t), ", rate %u of %u kb/s, alpha %u/1024",
			      tp.cc->dcqcn.rate, tp.cc->dcqcn.target, tp.cc->dcqcn.alpha >> 10);
	return t;
}

result one(const char *text, const scene &s, bool each)
{
	ubp_config cfg = host::small_config();

	if (int err = ubp_cc_parse(&cfg.cc, text)) {
		std::fprintf(stderr, "%s: %d\n", text, err);
		std::exit(2);
	}
	world w(s, cfg);
	result r = w.run();

	print(text, s, r);
	for (const auto &x : w.senders())
		if (each)
			std::printf("#   %.3f Gb/s, round trip %u us, %llu packets sent again%s\n",
				    w.gbps(*x), x->tp()->srtt_us,
				    (unsigned long long)x->h.stat(UBP_S_RETRANSMITS),
				    rate_of(*x->tp()).c_str());
	return r;
}

int all()
{
	static const char *const texts[] = { "dcqcn:scaled", "ldcp", "caqm" };
	unsigned tests = 0, failures = 0;

	std::printf("TAP version 13\n");
	for (const char *text : texts)
		for (std::uint64_t n : { 2, 4, 8, 16 }) {
			scene s;
			result r;

			s.senders = n;
			r = one(text, s, false);
			bool good = r.busy > 0.95 && r.worst < 0.10 && !r.drops && !r.timeouts;

			failures += !good;
			std::printf("%s %u %s: %llu senders share the port within 10 %%, busy over "
				    "95 %%, no drop\n",
				    good ? "ok" : "not ok", ++tests, text, (unsigned long long)n);
		}
	std::printf("1..%u\n", tests);
	return failures ? 1 : 0;
}
} /* namespace */

int main(int argc, char **argv)
{
	scene s;

	if (argc < 2)
		return all();
	for (int i = 2; i < argc; i++) {
		const std::string a = argv[i];
		const std::size_t eq = a.find('=');
		bool known = false;

		for (const field &f : fields)
			if (eq != a.npos && a.compare(0, eq, f.name) == 0 &&
			    std::string(f.name).size() == eq) {
				s.*f.at = std::strtoull(a.c_str() + eq + 1, nullptr, 0);
				known = true;
			}
		if (!known) {
			std::fprintf(stderr, "usage: ubsim-congestion [SETTINGS [NAME=N]...]\n");
			return 2;
		}
	}
	one(argv[1], s, true);
	return 0;
}
