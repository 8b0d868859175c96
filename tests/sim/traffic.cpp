// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Set-up, run and final examination of a seed. */
#include "messages.hpp"

#include <algorithm>

extern "C" {
#include "ubp_ta.h"
}

namespace ubsim
{

namespace
{
constexpr std::uint8_t all_access = UBOE_ACC_LOCAL_WRITE | UBOE_ACC_REMOTE_WRITE |
				    UBOE_ACC_REMOTE_READ | UBOE_ACC_REMOTE_ATOMIC;
} /* namespace */

traffic::traffic(world &w, std::uint64_t seed)
	: w_(w), r_(seed ^ 0x5851f42d4c957f2d), shaping_(seed ^ 0x6a09e667f3bcc908),
	  shaped_(shaping_.chance(0.15)), sizes_(seed ^ 0xbb67ae8584caa73b),
	  congestion_(seed ^ 0x3c6ef372fe94f82b), domains_(seed ^ 0x510e527fade682d1),
	  caqm_(seed ^ 0x1f83d9abfb41bd6b), ub_only_(w.prof.congestion && caqm_.chance(0.2)),
	  border_(caqm_.chance(0.2) && !w.prof.perfect())
{
	unsigned sides;

	for (unsigned i = 0; i < w_.prof.nodes; i++)
		make_node(i);
	for (unsigned a = 0; a < w_.prof.nodes; a++)
		for (unsigned b = a + 1; b < w_.prof.nodes; b++)
			for (unsigned k = 0; k < w_.prof.pairs; k++) {
				pool *p[2] = {};
				unsigned n[2] = { a, b };

				for (unsigned i = 0; i < 2; i++)
					if (r_.chance(0.5))
						p[i] = places_[n[i]].pools[0].get();
				make_connection(a, b, p[0], p[1]);
			}
	sides = unsigned(conns_.size()) * 2;
	for (auto &c : conns_)
		for (side &s : c->s)
			s.left = (w_.prof.ops / sides + 1) * (s.reader && !w_.prof.tables ? 4 : 1);
	chaos_left_ = w_.prof.chaos;
	for (unsigned i = 0; i < chaos_left_; i++)
		chaos_at_.push_back(r_.below(w_.prof.ops));
	std::sort(chaos_at_.rbegin(), chaos_at_.rend());
	w_.on_user = [this](const action &a) { on_user(a); };
	for (unsigned i = 0; i < w_.prof.nodes; i++)
		for (unsigned k = 0; k < places_[i].pools.size(); k++)
			want_feed(i, *places_[i].pools[k]);
	for (auto &c : conns_)
		for (side &s : c->s)
			w_.at(r_.scaled(1, 3 * ms), act::user, s.n->index(), c->index, s.which,
			      revive);
	if (w_.prof.messages)
		messages_ = std::make_unique<messages>(w_, seed);
}

traffic::~traffic()
{
	for (auto &c : conns_)
		for (side &s : c->s)
			s.q.reset();
}

/* Of a JFC. Moderation by number alone would wait for ever at the end of a run */
jfc_options traffic::queue_options()
{
	jfc_options o;

	if (r_.chance(0.4))
		o.flags = UBOE_JFC_INLINE;
	if (w_.prof.events && r_.chance(0.5)) {
		o.moderate_count = std::uint16_t(r_.range(0, 20));
		o.moderate_period = std::uint16_t(4u << 2 * r_.below(7));
	}
	return o;
}

/* Any set for each end; rates that get everything through while somebody waits */
void traffic::draw_congestion(ubp_config &cfg)
{
	static const char *const texts[] = {
		"dcqcn:paper40g,min_kbps=200000",
		"dcqcn:ns3,min_kbps=200000,burst_us=0",
		"dcqcn:mlx5,min_kbps=200000,burst_us=5",
		"dcqcn:scaled,min_kbps=200000",
		"ldcp",
		"ldcp,cwd0=1024,cwd_max=20000,gamma=7",
		"ldcp,cwd0=1000000,alpha=255,beta=0",
	};

	if (!w_.prof.congestion)
		return;
	if (int err = ubp_cc_parse(&cfg.cc, texts[congestion_.below(std::size(texts))]))
		fail("settings of congestion control are refused: %d", err);
	if (congestion_.chance(0.3))
		cfg.caps &= ~UB_CAP_CNP2;
}

/* Of nodes in UB domains: what only they can have */
void traffic::draw_caqm(ubp_config &cfg)
{
	static const char *const texts[] = {
		"caqm",
		"caqm,cwd0=1024,cwd_max=20000,caqm_gamma=7",
		"caqm,cwd0=1000000,caqm_alpha=255,caqm_beta=0,caqm_theta=1",
	};

	if (!w_.prof.congestion || !caqm_.chance(0.5))
		return;
	if (int err = ubp_cc_parse(&cfg.cc, texts[caqm_.below(std::size(texts))]))
		fail("settings of CAQM are refused: %d", err);
}

/* Mostly what the node has; now and then the ends want different things */
std::uint8_t traffic::draw_controller(const ubp_config &cfg)
{
	static constexpr std::uint8_t all[] = { UB_CC_NONE, UB_CC_DCQCN, UB_CC_LDCP };

	if (!w_.prof.congestion)
		return UB_CC_NONE;
	return congestion_.chance(0.5) ? std::uint8_t(cfg.cc.alg) : all[congestion_.below(3)];
}

void traffic::make_node(unsigned i)
{
	static constexpr std::uint8_t modes[] = {
		0,
		UB_TPCM_RETRANS_FAST,
		UB_TPCM_RETRANS_SR,
		UB_TPCM_RETRANS_SR | UB_TPCM_RETRANS_FAST | UB_TPCM_RETRANS_MARK,
	};
	ubp_config cfg = host::small_config();

	cfg.window = std::uint16_t(64u << r_.below(6));
	cfg.ack_every = std::uint16_t(r_.scaled(1, 64));
	cfg.ack_delay_us = std::uint32_t(r_.scaled(10, 2000));
	cfg.rto_min_us = std::uint32_t(r_.scaled(5000, 20000));
	cfg.rto_max_us = 200000;
	cfg.lost_min_ms = 10000;
	cfg.budget = std::uint16_t(r_.scaled(1, 128));
	cfg.slice = std::uint16_t(r_.scaled(1, 64));
	cfg.retrans = r_.chance(0.6) ? modes[3] : modes[r_.below(4)];
	/* not every end knows everything */
	if (r_.chance(0.3))
		cfg.caps &= ~UB_CAP_WASA;
	if (r_.chance(0.1))
		cfg.caps &= ~UB_CAP_REDUCE;
	if (r_.chance(0.5))
		cfg.caps |= UB_CAP_CLR_EOR_ARM;
	draw_congestion(cfg);
	const bool native = domains_.chance(0.2) || ub_only_;
	if (native)
		draw_caqm(cfg);
	w_.nodes.push_back(std::make_unique<node>(w_, i, cfg));
	node &n = *w_.nodes.back();
	if (native)
		n.set_native();
	n.border = border_;
	place &p = places_.emplace_back();

	plant(n);
	for (std::uint64_t k = r_.range(1, 2); k; k--)
		p.jfcs.push_back(std::make_unique<jfc>(n, std::uint32_t(p.jfcs.size() + 3), 10,
						       queue_options()));
	p.waiting.resize(p.jfcs.size());
	p.pace.resize(p.jfcs.size(), us);
	for (unsigned k = 0; k < p.jfcs.size(); k++)
		w_.at(us, act::user, i, k, 0, poll);
	n.on_jfc = [this, i, &p](std::uint32_t id) {
		unsigned k = id - 3;

		if (p.waiting.at(k)) {
			p.waiting[k] = false;
			w_.at(r_.range(100, 2 * us), act::user, i, k, 0, poll);
		}
	};
	p.counters_mem = std::make_unique<region>(n, p.next_token++, all_access, 8192, r_);
	for (unsigned k = 0; k < 4; k++) {
		counter &c = p.counters.emplace_back();

		c.off = 8 * k;
		c.size = k & 1 ? 4 : 8;
		c.start = r_.below(1u << 30);
		p.counters_mem->store(c.off, &c.start, c.size);
	}
	p.words_used = 64;
	make_pool(i, true);
}

void traffic::make_pool(unsigned i, bool shared)
{
	static constexpr std::uint32_t sizes[] = { 64, 1000, 2500, 4096, 9000 };
	place &p = places_[i];
	auto q = std::make_unique<pool>();
	unsigned shift = unsigned(r_.below(3));

	q->nsge = 1u << shift;
	if (q->nsge > 1 && r_.chance(0.5))
		q->nsge--;
	q->slot_bytes = sizes[r_.below(5)];
	q->shared = shared;
	q->queue = std::make_unique<jfr>(*w_.nodes[i], std::uint32_t(p.pools.size() + 2), 6, shift,
					 pd);
	q->memory = std::make_unique<region>(*w_.nodes[i], p.next_token++, UBOE_ACC_LOCAL_WRITE,
					     64ull * (q->slot_bytes + 64), r_);
	p.pools.push_back(std::move(q));
}

void traffic::make_connection(unsigned a, unsigned b, pool *pa, pool *pb)
{
	auto c = std::make_unique<connection>();

	c->index = unsigned(conns_.size());
	c->v6 = r_.chance(0.5);
	c->poke = w_.prof.wrap_psn && r_.chance(0.5);
	c->state = health::down;
	make_side(*c, 0, a, pa);
	make_side(*c, 1, b, pb);
	c->s[0].peer = &c->s[1];
	c->s[1].peer = &c->s[0];
	for (side &s : c->s) {
		place &far = places_[s.peer->n->index()];

		s.copt.local = s.n->addr(c->v6);
		s.copt.remote = s.peer->n->addr(c->v6);
		s.copt.rmt_jetty = s.peer->id;
		for (unsigned k = 0; k < 2; k++) {
			s.words[k] = { far.words_used, k ? 4u : 8u, 0, 0 };
			far.words_used += 8;
		}
		/* 16 bytes are aligned, and so is what comes behind them */
		far.words_used += far.counters_mem->va(far.words_used) & 8;
		s.words[2] = { far.words_used, 16, 0, 0 };
		far.words_used += 16;
	}
	conns_.push_back(std::move(c));
}

/* Tables that are soon full, or never; pieces of all sizes */
void traffic::draw_sizes(side &s)
{
	if (!w_.prof.tables)
		return;
	s.reader = true;
	s.jopt.rct_mark = std::uint32_t(sizes_.scaled(1, 64));
	if (sizes_.chance(0.1)) {
		s.jopt.rct_shift = unsigned(sizes_.range(7, 15));
		s.jopt.rct_mark = 0;
	}
	if (sizes_.chance(0.5))
		s.jopt.slice = std::uint8_t(sizes_.range(10, 16));
}

void traffic::make_side(connection &c, unsigned which, unsigned n, pool *p)
{
	place &at = places_[n];
	side &s = c.s[which];
	std::uint64_t size = r_.chance(0.1) ? 400 << 10 : 48 << 10;

	if (w_.prof.big && c.index == 0)
		size = 9 << 20;
	s.reader = r_.chance(0.1);
	draw_sizes(s);
	if (s.reader)
		size = std::max<std::uint64_t>(size, 256 << 10);
	s.conn = &c;
	s.n = w_.nodes[n].get();
	s.which = which;
	/* some numbers beyond 16 bits would need a larger table: 12 bits have to do */
	s.id = 32 + c.index * 2 + which + std::uint32_t(r_.below(2)) * 2000;
	at.sides[s.id] = &s;
	s.tx = at.jfcs[r_.below(at.jfcs.size())].get();
	s.rx = at.jfcs[r_.below(at.jfcs.size())].get();
	if (!p) {
		make_pool(n, false);
		p = at.pools.back().get();
		p->owner = &s;
	}
	s.recv = p;
	s.jopt.sq_shift = unsigned(r_.range(4, 7));
	if (s.reader)
		s.jopt.sq_shift = 8;
	s.jopt.pd = pd;
	s.jopt.flags = std::uint8_t((p->shared ? UBOE_JETTY_SHARED_JFR : 0) |
				    (r_.chance(0.1) ? UBOE_JETTY_SIG_ALL : 0));
	s.jopt.rnr_timer = std::uint8_t(r_.below(9));
	s.jopt.rnr_retry = 7;
	if (w_.prof.chaos && w_.prof.late_receives && r_.chance(0.3))
		s.jopt.rnr_retry = std::uint8_t(r_.below(7));
	s.jopt.max_rd = std::uint16_t(s.reader ? 128 : r_.scaled(1, 128));
	s.copt.mtu = std::uint16_t(1024u << r_.below(4));
	s.copt.window = r_.chance(0.3) ? 0 : std::uint16_t(64u << r_.below(6));
	if (r_.chance(0.2))
		s.copt.retrans = std::uint8_t(r_.below(2) * UB_TPCM_RETRANS_SR +
					      r_.below(2) * UB_TPCM_RETRANS_FAST);
	s.copt.cc = draw_controller(s.n->dev()->cfg);
	s.copt.timeout_ns = w_.prof.chaos ? 1 : 0; /* raised to the device's least */
	s.local = std::make_unique<region>(*s.n, at.next_token++, UBOE_ACC_LOCAL_WRITE, size, r_);
	s.target = std::make_unique<region>(*s.n, at.next_token++, all_access, size, r_);
	s.local_ring = std::make_unique<ring_space>(size);
	s.target_ring = std::make_unique<ring_space>(size / 2);
	/* the upper half is only ever read */
	for (std::uint64_t off = size / 2; off < size; off += pattern_len)
		s.target->store(off, pattern_table().data(), std::min(size - off, pattern_len));
}

void traffic::open(side &s)
{
	s.incarnation++;
	if (s.incarnation == 1)
		w_.watch(s.n->index(), UB_TPN_RC(s.id), s.peer->n->index(), UB_TPN_RC(s.peer->id));
	s.error_seen = false;
	s.may_flush = false;
	s.last_posted = false;
	s.jopt.user = std::uint64_t(s.id) << 32 | s.incarnation;
	if (shaped_)
		s.jopt.sl = std::uint8_t(shaping_.below(16));
	s.q = std::make_unique<rc>(*s.n, s.id, *s.tx, *s.rx, *s.recv->queue, s.jopt);
	shape(s);
	if (int err = s.q->connect(s.copt))
		fail("connection %u/%u cannot be opened: %d", s.conn->index, s.which, err);
}

void traffic::on_user(const action &a)
{
	if (a.what == messages::code) {
		messages_->turn(a);
		return;
	}
	connection *c = a.what == poll || a.what == feed ? nullptr : conns_[a.a].get();

	switch (user(a.what)) {
	case post:
		if (c->s[a.b & 1].incarnation == a.b >> 1)
			do_post(c->s[a.b & 1]);
		break;
	case ring:
		if (c->s[a.b & 1].incarnation == a.b >> 1)
			do_ring(c->s[a.b & 1]);
		break;
	case poll: do_poll(a.node, a.a); break;
	case feed: do_feed(a.node, a.a); break;
	case chaos: do_chaos(*c, unsigned(a.b)); break;
	case check: do_check(*c); break;
	case revive: do_revive(c->s[a.b & 1]); break;
	}
}

std::uint64_t traffic::completed() const
{
	return completed_ + (messages_ ? messages_->completed() : 0);
}

bool traffic::finished()
{
	if (messages_ && !messages_->finished())
		return false;
	if (chaos_left_ > chaos_at_.size())
		return false;
	for (auto &c : conns_) {
		if (c->state != health::alive)
			return false;
		for (side &s : c->s)
			if (s.left || !s.queued.empty() || !s.ops.empty() || !s.inbound.empty())
				return false;
	}
	return true;
}

/* The core's view of a connection, for the reader of a failure */
std::string traffic::inside(const side &s)
{
	const ubp_tp *tp = ubp_tp_find(s.n->dev(), UB_TPN_RC(s.id));
	char text[500];

	if (!tp)
		return "\n#   no channel";
	auto until = [this](std::uint64_t t) {
		return t == UBP_NEVER ? -1.0 : (double(t) - double(w_.clock)) / 1000;
	};
	const ubp_jetty *j = tp->jetty;

	std::snprintf(text, sizeof(text),
		      "\n#   tp state %u una %06x nxt %06x window %u lost %u rtx %06x probing %d "
		      "rto %u us backoff %u srtt %u base %.0f stall %.0f timer %.0f"
		      "\n#   msn %06x acked %06x open %u; rcv %06x max %06x held %u ack_at %.0f "
		      "exec %06x blocked %u in_msg %d discard %d rce %u %u %u"
		      "\n#   jetty state %u kick_armed %d posted %d",
		      tp->state, tp->snd_una, tp->snd_nxt, tp->window, tp->lost, tp->rtx_at,
		      tp->probing, ubp_tp_rto_us(tp), tp->backoff, tp->srtt_us, until(tp->rto_base),
		      until(tp->stall_since), until(tp->timer_at), tp->snd_msn, tp->acked_msn,
		      tp->open_kind, tp->rcv_nxt, tp->rcv_max, tp->held, until(tp->ack_at),
		      tp->rsp.exec_msn, tp->rsp.blocked, tp->rsp.in_msg, tp->rsp.discard,
		      tp->rsp.rce_head, tp->rsp.rce_next, tp->rsp.rce_tail, j->state, j->kick_armed,
		      int(ubp_jetty_pi(j) - j->fetched));
	std::string t = text;

	if (!j->ini)
		return t;
	const ubp_ini *ini = j->ini;

	std::snprintf(text, sizeof(text),
		      "\n#   ini %u %u %u rd %u %u stopped %d rnr %.0f ssn %04x expects %04x",
		      ini->head, ini->next, ini->tail, ini->rd_head, ini->rd_tail, ini->stopped,
		      until(ini->rnr_at), ini->next_ssn, tp->rsp.exp_ssn);
	return t + text;
}

std::string traffic::pending()
{
	static const char *const states[] = { "alive", "dying", "down" };
	std::string t;

	for (auto &c : conns_)
		for (side &s : c->s) {
			char line[200];

			if (c->state == health::alive && !s.left && s.ops.empty() &&
			    s.inbound.empty())
				continue;
			std::snprintf(line, sizeof(line),
				      "\n# connection %u/%u (%s%s%s): %u to make, %zu posted from "
				      "op %llu "
				      "code %02x, %zu to come",
				      c->index, s.which, states[int(c->state)],
				      *c->cause ? ", " : "", c->cause, s.left, s.ops.size(),
				      s.ops.empty() ? 0ull : (unsigned long long)s.ops.front().id,
				      s.ops.empty() ? 0 : s.ops.front().wr.op, s.inbound.size());
			t += line;
			if (t.size() < 4000)
				t += inside(s);
		}
	if (messages_)
		t += messages_->pending();
	return t;
}

void traffic::run()
{
	unsigned look = 0;

	while (look++ % 64 || !finished()) {
		if (!w_.step() && !finished())
			fail("nothing happens any more%s", pending().c_str());
		if (messages_)
			last_progress_ = std::max(last_progress_, messages_->last_progress());
		if (w_.clock > last_progress_ + 100 * sec)
			fail("no progress for 100 s%s", pending().c_str());
		if (w_.events > 40000000)
			fail("too many events%s", pending().c_str());
	}
	final_checks();
}

void traffic::final_checks()
{
	std::uint64_t end = w_.clock + 200 * ms;

	w_.calm();
	while (w_.clock < end && w_.step())
		;
	for (auto &n : w_.nodes)
		purge(*n);
	if (!finished())
		fail("not finished in the end%s", pending().c_str());
	if (w_.prof.perfect() && !w_.prof.per_byte &&
	    (stat(UBP_S_RETRANSMITS) || stat(UBP_S_TIMEOUTS)))
		fail("%llu retransmissions on a perfect network",
		     (unsigned long long)stat(UBP_S_RETRANSMITS));
	if (messages_)
		messages_->final_checks();
	for (auto &c : conns_) {
		for (side &s : c->s) {
			c->state = health::dying; /* from here on receives may be flushed */
			take_down(s);
			s.local->check("local memory");
			s.target->check("target memory");
		}
	}
	for (unsigned i = 0; i < places_.size(); i++) {
		place &p = places_[i];

		for (counter &c : p.counters) {
			std::uint64_t at = c.start, gap = 0;
			std::uint64_t v = p.counters_mem->load(c.off, c.size);

			std::sort(c.claims.begin(), c.claims.end());
			c.claims.emplace_back(v, 0);
			for (auto [old, add] : c.claims) {
				if (old < at)
					fail("node %u: two atomics found the same value", i);
				gap += old - at;
				at = old + add;
			}
			if (gap > c.unknown)
				fail("node %u: a counter was changed by nobody, by %llu of %llu", i,
				     (unsigned long long)gap, (unsigned long long)c.unknown);
			p.counters_mem->adopt(c.off, c.size);
		}
		for (auto &[id, s] : p.sides)
			for (word &x : s->words) {
				region &m = *places_[s->peer->n->index()].counters_mem;

				if (m.load_wide(x.off, x.size) != x.value)
					fail("connection %u/%u: wrong value of an atomic word",
					     s->conn->index, s->which);
				m.adopt(x.off, x.size);
			}
	}
	for (place &p : places_) {
		p.counters_mem->check("counters");
		for (auto &q : p.pools) {
			unsigned gone = q->queue->posted() - q->queue->waiting();

			if (gone > q->lost)
				fail("%u receives were lost", gone);
			if (gone)
				for (std::uint32_t slot = 0; slot < 64; slot++)
					for (const piece &x : q->pieces(slot))
						q->memory->adopt(x.off, x.len);
			q->memory->check("receive memory");
		}
	}
	for (auto &c : conns_)
		for (side &s : c->s) {
			s.local.reset();
			s.target.reset();
		}
	for (unsigned i = 0; i < places_.size(); i++) {
		node &n = *w_.nodes[i];

		places_[i].pools.clear();
		places_[i].jfcs.clear();
		places_[i].counters_mem.reset();
		n.shutdown();
		if (n.live_allocations() || n.live_packets() || n.live_buffers() ||
		    n.live_segments() || n.live_paths())
			fail("node %u leaks: %zu allocations, %zu packets, %zu buffers, %zu "
			     "segments, "
			     "%zu paths",
			     i, n.live_allocations(), n.live_packets(), n.live_buffers(),
			     n.live_segments(), n.live_paths());
	}
}

std::uint64_t traffic::stat(unsigned n) const
{
	std::uint64_t sum = 0;

	for (const auto &x : w_.nodes)
		sum += x->stat(n);
	return sum;
}

} /* namespace ubsim */
