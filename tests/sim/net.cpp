// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "net.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <optional>

extern "C" {
#include "ubp_tp.h" /* numbers of the objects that callbacks name */
}

namespace ubsim
{

void fail(const char *format, ...)
{
	char text[8000];
	va_list ap;

	va_start(ap, format);
	std::vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	throw failure(text);
}

profile profile::draw(rng &r, unsigned ops)
{
	profile p{};
	unsigned kind = unsigned(r.below(8));

	p.nodes = r.chance(0.2) ? 4 : 3;
	p.pairs = p.nodes == 4 ? 2 : unsigned(r.range(2, 3));
	p.ops = ops;
	p.latency = r.scaled(1 * us, 200 * us);
	p.per_byte = r.chance(0.7) ? r.scaled(10, 8000) : 0;
	p.fifo = kind == 0 || r.chance(0.3);
	if (!p.fifo)
		p.jitter = r.scaled(1 * us, 100 * us);
	/* one trouble at a time, or all of them together */
	if (kind >= 2) {
		double worst = r.chance(0.1) ? 0.3 : 0.05;

		if (kind == 2 || kind >= 5)
			p.loss = worst * double(r.range(1, 100)) / 100;
		if (kind == 3 || kind >= 5)
			p.dup = 0.1 * double(r.range(0, 100)) / 100;
		if (kind == 4 || kind >= 5)
			p.reorder = 0.1 * double(r.range(0, 100)) / 100;
		if (kind >= 5)
			p.corrupt = 0.03 * double(r.range(0, 100)) / 100;
		p.extra = r.scaled(10 * us, 20 * ms);
		p.blackouts = r.chance(0.1);
	}
	p.mark = r.chance(0.3) ? 0.1 : 0;
	if (kind >= 1 && r.chance(0.3))
		p.no_room = 0.1 * double(r.range(1, 100)) / 100;
	if (kind != 0 && r.chance(0.5))
		p.chaos = unsigned(r.range(1, 6));
	p.wrap_psn = r.chance(0.4);
	p.big = r.chance(0.02);
	p.late_receives = r.chance(0.4);
	p.events = r.chance(0.3);
	return p;
}

node::node(world &w, unsigned index, const ubp_config &cfg) : host(cfg), w_(w), index_(index) {}

address node::addr(bool v6) const
{
	return v6 ? address::v6(1, std::uint16_t(index_ + 1)) :
		    address::v4(192, 0, 2, std::uint8_t(index_ + 1));
}

std::uint64_t node::now()
{
	return w_.clock;
}

std::uint32_t node::random()
{
	std::uint32_t v = std::uint32_t(w_.random.next()), top;

	if (!w_.prof.wrap_psn)
		return v;
	/*
	 * The low half is the first TASSN, too. Only first lives end at 2^24: those
	 * that follow start far away from packets of theirs that are still around.
	 */
	top = w_.first_lives && w_.random.chance(0.5) ? 0xff : randoms_++ % 0xff;
	return v << 24 | top << 16 | (0xffff - std::uint32_t(w_.random.below(200)));
}

bool node::tx_room(ubp_path &path)
{
	if (!path.tp)
		return true; /* a UM message is tried again without being told to */
	std::uint32_t id = path.tp->tpn;

	if (blocked_[id])
		return false;
	if (w_.is_calm() || !w_.random.chance(w_.prof.no_room))
		return true;
	blocked_[id] = true;
	w_.at(w_.random.scaled(1 * us, 500 * us), act::resume, index_, id);
	return false;
}

void node::sent(ubp_path &path, bytes &&data)
{
	w_.transmit(index_, path.raddr[15] - 1u, std::move(data));
}

void node::set_timer(ubp_tp *tp, std::uint64_t when)
{
	std::uint32_t id = tp->tpn;
	std::uint64_t late = w_.random.below(4) ? 0 : w_.random.below(50 * us);

	w_.at((when > w_.clock ? when - w_.clock : 0) + late, act::timer, index_, id,
	      ++timer_gen_[id]);
}

void node::set_jfc_timer(std::uint32_t id, std::uint64_t when)
{
	w_.at(when > w_.clock ? when - w_.clock : 0, act::moderation, index_, id);
}

void node::set_jetty_timer(ubp_jetty *j, std::uint64_t when)
{
	w_.at(when > w_.clock ? when - w_.clock : 0, act::turn, index_, ubp_jetty_id(j));
}

void node::cancel_timer(ubp_tp *tp)
{
	timer_gen_[tp->tpn]++;
}

void node::later(ubp_jetty *jetty)
{
	w_.at(w_.random.range(100, 3 * us), act::turn, index_, ubp_jetty_id(jetty));
}

int node::kick(std::uint32_t jetty)
{
	int more = ubp_drive_id(dev(), jetty);

	if (more > 0)
		w_.at(w_.random.range(100, w_.random.range(0, 31) ? 5 * us : 2000 * us), act::drive,
		      index_, jetty);
	return std::min(more, 0);
}

/* Now and then the program gets a signal instead */
void node::drive(std::uint32_t jetty)
{
	if (w_.random.range(0, 15))
		kick(jetty);
	else
		ubp_leave_id(dev(), jetty);
}

void node::jfc_fired(ubp_jfc *jfc)
{
	if (on_jfc)
		on_jfc(ubp_jfc_id(jfc));
}

world::world(std::uint64_t seed, const profile &p, bool trace)
	: random(seed), prof(p), trace_(trace), links_(p.nodes * p.nodes)
{
}

namespace
{
/* The heap keeps the earliest on top; equal times go in the order of their making. */
bool later_than(const action &a, const action &b)
{
	return a.at != b.at ? a.at > b.at : a.seq > b.seq;
}
} /* namespace */

void world::at(std::uint64_t delay, act kind, unsigned node, std::uint32_t a, std::uint64_t b,
	       std::uint8_t what)
{
	heap_.push_back({ clock + delay, seq_++, b, a, std::uint16_t(node), kind, what });
	std::push_heap(heap_.begin(), heap_.end(), later_than);
}

bool world::step()
{
	if (heap_.empty())
		return false;
	std::pop_heap(heap_.begin(), heap_.end(), later_than);
	action e = heap_.back();

	heap_.pop_back();
	clock = e.at;
	events++;
	node &n = *nodes[e.node];
	ubp_tp *tp;

	switch (e.kind) {
	case act::packet: {
		bytes data = std::move(slots_[e.a]);

		free_slots_.push_back(e.a);
		audit_arrival(e.node, data);
		n.receive(std::move(data));
		break;
	}
	case act::timer:
		tp = ubp_tp_find(n.dev(), e.a);
		if (tp && n.timer_gen_[e.a] == e.b)
			ubp_timer(tp);
		break;
	case act::resume:
		n.blocked_[e.a] = false;
		tp = ubp_tp_find(n.dev(), e.a);
		if (tp)
			ubp_resume(tp);
		break;
	case act::turn: n.host::kick(e.a); break;
	case act::drive: n.drive(e.a); break;
	case act::moderation: ubp_jfc_timer(n.dev(), e.a); break;
	case act::user: on_user(e); break;
	}
	n.reap();
	return true;
}

void world::note(const char *format, ...)
{
	va_list ap;

	if (!trace_)
		return;
	std::printf("%12.3f ", double(clock) / 1000);
	va_start(ap, format);
	std::vprintf(format, ap);
	va_end(ap);
	std::putchar('\n');
}

/* Break a packet: bits anywhere, its end cut off, or bytes behind it */
void world::spoil(bytes &data)
{
	switch (random.below(10)) {
	case 0: data.resize(random.below(data.size())); break;
	case 1:
		/* the link may pad; the IP length says where the packet ends */
		data.resize(data.size() + random.range(1, 40));
		break;
	default:
		/* CRC-32 finds all errors of up to three bits at these lengths */
		for (std::uint64_t n = random.range(1, 3); n; n--)
			data[random.below(data.size())] ^= std::uint8_t(1u << random.below(8));
	}
}

bool world::dark(link &l)
{
	if (!prof.blackouts || calm_)
		return false;
	if (clock >= l.dark_until) {
		l.dark_from = clock + random.scaled(1 * ms, 200 * ms);
		l.dark_until = l.dark_from + random.scaled(1 * ms, 100 * ms);
	}
	return clock >= l.dark_from;
}

void world::deliver(unsigned from, unsigned to, bytes data, std::uint64_t delay, const char *fate)
{
	std::uint32_t slot;

	if (trace_)
		note("%u -> %u %s (%s, in %.3f us)", from, to, decode(data).c_str(), fate,
		     double(delay) / 1000);
	if (free_slots_.empty()) {
		slot = std::uint32_t(slots_.size());
		slots_.emplace_back();
	} else {
		slot = free_slots_.back();
		free_slots_.pop_back();
	}
	slots_[slot] = std::move(data);
	at(delay, act::packet, to, slot);
}

void world::transmit(unsigned from, unsigned to, bytes &&data)
{
	link &l = links_.at(from * prof.nodes + to);
	std::uint64_t out, delay;
	const char *fate = "ok";

	packets++;
	audit_sent(from, to, data);
	l.busy = std::max(l.busy, clock) + data.size() * prof.per_byte / 1000;
	out = l.busy - clock;
	delay = out + prof.latency;
	if (calm_) {
		deliver(from, to, std::move(data), delay, fate);
		return;
	}
	if (prof.jitter)
		delay += random.below(prof.jitter + 1);
	if (dark(l) || random.chance(prof.loss)) {
		if (trace_)
			note("%u -> %u %s (lost)", from, to, decode(data).c_str());
		return;
	}
	if (random.chance(prof.dup))
		deliver(from, to, data, delay + random.below(prof.latency + prof.extra), "copy");
	if (random.chance(prof.reorder)) {
		delay += random.below(prof.extra + 1);
		fate = "late";
	}
	if (random.chance(prof.mark)) {
		data[1] |= data[0] >> 4 == 4 ? 3 : 0x30;
		fate = "marked";
	}
	if (random.chance(prof.corrupt)) {
		spoil(data);
		fate = "corrupt";
	}
	if (data.empty())
		return;
	if (prof.fifo && fate[0] != 'l') {
		l.last = std::max(l.last, clock + delay);
		delay = l.last - clock;
	}
	deliver(from, to, std::move(data), delay, fate);
}

void world::watch(unsigned node, std::uint32_t tpn, unsigned far, std::uint32_t far_tpn)
{
	audit &a = audits_[std::uint64_t(node) << 32 | tpn];

	a.far = far;
	a.far_tpn = far_tpn;
}

void world::unwatch(unsigned node, std::uint32_t tpn)
{
	audits_.erase(std::uint64_t(node) << 32 | tpn);
}

audit *world::audit_of(unsigned node, std::uint32_t tpn)
{
	auto it = audits_.find(std::uint64_t(node) << 32 | tpn);

	return it == audits_.end() ? nullptr : &it->second;
}

namespace
{
/* A packet as it was heard on the wire */
struct heard {
	ubp_tph t;
	const std::uint8_t *rest; /* behind the transport header */
	std::uint32_t len;

	/* Numbers that a TPSACK acknowledges. Bit 0 says nothing new, and may stand for the
	 * number before the first. */
	template <class F> void sacked(F each) const
	{
		for (std::uint32_t i = 1; i < (len - UB_SAETPH_LEN) * 8; i++)
			if (rest[UB_SAETPH_LEN + i / 8] >> i % 8 & 1)
				each(ubp_psn_add(t.psn, i));
	}
};

/* Nothing: not from us, or damaged */
std::optional<heard> hear(const bytes &data)
{
	static const ubp_config cfg = host::small_config();
	ubp_encap e;
	heard h;

	if (ubp_encap_check(&cfg, data.data(), std::uint32_t(data.size()), &e) ||
	    !ubp_encap_csum_ok(data.data(), &e))
		return {};
	/* damage to fields that the ICRC does not cover is no damage */
	if (ubp_icrc_load(data.data() + e.total - UB_ICRC_LEN, false) !=
	    ubp_icrc(data.data(), e.total - UB_ICRC_LEN))
		return {};
	ubp_tph_parse(data.data() + e.hlen, &h.t);
	h.rest = data.data() + e.hlen + UB_TPH_LEN;
	h.len = e.total - e.hlen - UB_TPH_LEN - UB_ICRC_LEN;
	return h;
}
} /* namespace */

void world::audit_sent(unsigned from, unsigned to, const bytes &data)
{
	auto h = audits_.empty() ? std::nullopt : hear(data);

	if (!h)
		return;
	if (h->t.op == UB_TP_RTP_DATA) {
		audit *a = audit_of(to, h->t.dst);
		const ubp_tp *tp = ubp_tp_find(nodes[from]->dev(), h->t.src);

		if (a && tp && h->t.psn != tp->snd_una && audit::has(a->known, h->t.psn))
			fail("channel %06x sends PSN %06x again, which it knows to have arrived",
			     h->t.src, h->t.psn);
	} else if (h->t.op == UB_TP_SACK) {
		audit *a = audit_of(from, h->t.src);

		if (!a)
			return;
		h->sacked([&](std::uint32_t psn) {
			if (!audit::has(a->reached, psn))
				fail("channel %06x acknowledges PSN %06x, which never arrived",
				     h->t.src, psn);
		});
	}
}

void world::audit_arrival(unsigned at, const bytes &data)
{
	auto h = audits_.empty() ? std::nullopt : hear(data);

	if (!h)
		return;
	if (h->t.op == UB_TP_RTP_DATA) {
		if (audit *a = audit_of(at, h->t.dst))
			audit::set(a->reached, h->t.psn);
	} else if (h->t.op == UB_TP_SACK) {
		for (auto &[key, heard_by] : audits_) {
			audit &a = heard_by;

			if (a.far != at || a.far_tpn != h->t.dst || std::uint32_t(key) != h->t.src)
				continue;
			const ubp_tp *tp = ubp_tp_find(nodes[at]->dev(), h->t.dst);

			/* one that was overtaken is not looked at */
			if (!tp || ubp_psn_diff(ubp_psn_add(h->t.psn, 1), tp->snd_una) < 0)
				continue;
			h->sacked([&](std::uint32_t psn) { audit::set(a.known, psn); });
		}
	}
}

} /* namespace ubsim */
