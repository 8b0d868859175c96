// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "traffic.hpp"

#include <algorithm>
#include <array>

extern "C" {
#include "ubp_ta.h"
}

namespace ubsim
{

namespace
{
constexpr std::uint32_t pd = 7;
constexpr std::size_t pattern_len = 1048573; /* prime: no offset of a packet hits the same bytes */

const bytes &pattern_table()
{
	static const bytes table = [] {
		bytes b(pattern_len);
		rng r(0x7563);

		for (auto &v : b)
			v = std::uint8_t(r.next() >> 32);
		return b;
	}();

	return table;
}

constexpr std::uint8_t all_access = UBOE_ACC_LOCAL_WRITE | UBOE_ACC_REMOTE_WRITE |
				    UBOE_ACC_REMOTE_READ | UBOE_ACC_REMOTE_ATOMIC;

std::uint64_t cut(std::uint64_t v, unsigned size)
{
	return size == 8 ? v : v & 0xffffffff;
}
} /* namespace */

region::region(node &n, std::uint32_t token_id, std::uint8_t access, std::uint64_t len, rng &r)
	: n_(n), id_(token_id), model_(len)
{
	std::uint32_t token = std::uint32_t(r.below(4096));
	/* an unaligned start, but aligned for atomics */
	std::uint64_t va = (r.next() & 0x7fffffff0000) + r.below(512) * 8;

	key_ = make_key(id_, token);
	memory_ = std::make_unique<memory>(va, len, unsigned(r.range(12, len > 1 << 18 ? 18 : 15)));
	if (n_.register_memory(id_, token, pd, access, *memory_))
		fail("a segment was refused");
}

region::~region()
{
	n_.destroy(UBOE_MBOX_SEG, id_);
}

void region::store(std::uint64_t off, const void *p, std::size_t n)
{
	if (!n)
		return;
	memory_->write(off, p, n);
	std::memcpy(model_.data() + off, p, n);
}

void region::expect(std::uint64_t off, const void *p, std::size_t n, const char *what)
{
	std::size_t bad = n ? memory_->compare(off, p, n) : 0;

	if (!n)
		return;
	if (bad != n)
		fail("%s: wrong byte %zu of %zu at %llx", what, bad, n,
		     (unsigned long long)va(off + bad));
	std::memcpy(model_.data() + off, p, n);
}

void region::either(std::uint64_t off, const void *p, std::size_t n, const char *what)
{
	const std::uint8_t *w = static_cast<const std::uint8_t *>(p);
	bytes have(n);

	memory_->read(off, have.data(), n);
	for (std::size_t i = 0; i < n; i++)
		if (have[i] != w[i] && have[i] != model_[off + i])
			fail("%s: byte %zu of %zu is neither old nor new", what, i, n);
	std::copy(have.begin(), have.end(), model_.begin() + std::ptrdiff_t(off));
}

void region::adopt(std::uint64_t off, std::size_t n)
{
	memory_->read(off, model_.data() + off, n);
}

void region::check(const char *what) const
{
	std::size_t bad = memory_->compare(0, model_.data(), model_.size());

	if (bad != model_.size())
		fail("%s: byte at %llx was changed", what, (unsigned long long)va(bad));
	if (!memory_->canaries_ok())
		fail("%s: bytes outside of the segment were changed", what);
}

extent_ref ring_space::take(std::uint64_t len)
{
	while (!used_.empty() && used_.front().use_count() == 1)
		used_.pop_front();
	if (used_.empty())
		head_ = 0;
	std::uint64_t tail = used_.empty() ? 0 : used_.front()->off;
	std::uint64_t at = head_;

	if (!used_.empty() && head_ <= tail) { /* wrapped: free is [head, tail) */
		if (head_ + len >= tail)
			return nullptr;
	} else if (head_ + len > size_) {
		if (used_.empty() || len >= tail)
			return nullptr;
		at = 0;
	}
	head_ = at + len;
	used_.push_back(std::make_shared<extent>(extent{ at, len }));
	return used_.back();
}

std::vector<piece> pool::pieces(std::uint32_t slot) const
{
	std::vector<piece> v;
	std::uint64_t off = std::uint64_t(slot) * (slot_bytes + 64);
	std::uint32_t left = slot_bytes;

	for (unsigned i = 0; i < nsge; i++) {
		std::uint32_t n = i + 1 == nsge ? left : left / 3 + 1;

		v.push_back({ off, n });
		off += n + 8;
		left -= n;
	}
	return v;
}

/* ---- set-up ---- */

traffic::traffic(world &w, std::uint64_t seed) : w_(w), r_(seed ^ 0x5851f42d4c957f2d)
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
			s.left = (w_.prof.ops / sides + 1) * (s.reader ? 4 : 1);
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
			w_.at(r_.scaled(1, 3 * ms), act::user, s.n->index(), c->index, s.which, revive);
}

traffic::~traffic()
{
	for (auto &c : conns_)
		for (side &s : c->s)
			s.q.reset();
}

void traffic::make_node(unsigned i)
{
	static constexpr std::uint8_t modes[] = {
		0, UB_TPCM_RETRANS_FAST, UB_TPCM_RETRANS_SR,
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
	cfg.retrans = r_.chance(0.6) ? modes[3] : modes[r_.below(4)];
	w_.nodes.push_back(std::make_unique<node>(w_, i, cfg));
	node &n = *w_.nodes.back();
	place &p = places_.emplace_back();

	for (std::uint64_t k = r_.range(1, 2); k; k--)
		p.jfcs.push_back(std::make_unique<jfc>(n, std::uint32_t(p.jfcs.size() + 3), 10));
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
	p.counters_mem = std::make_unique<region>(n, p.next_token++, all_access, 4096, r_);
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
	q->queue = std::make_unique<jfr>(*w_.nodes[i], std::uint32_t(p.pools.size() + 2), 6, shift, pd);
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
	}
	conns_.push_back(std::move(c));
}

void traffic::make_side(connection &c, unsigned which, unsigned n, pool *p)
{
	place &at = places_[n];
	side &s = c.s[which];
	std::uint64_t size = r_.chance(0.1) ? 400 << 10 : 48 << 10;

	if (w_.prof.big && c.index == 0)
		size = 9 << 20;
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
	s.reader = r_.chance(0.1);
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
	s.q = std::make_unique<rc>(*s.n, s.id, *s.tx, *s.rx, *s.recv->queue, s.jopt);
	if (int err = s.q->connect(s.copt))
		fail("connection %u/%u cannot be opened: %d", s.conn->index, s.which, err);
}

void traffic::on_user(const action &a)
{
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
	case poll:
		do_poll(a.node, a.a);
		break;
	case feed:
		do_feed(a.node, a.a);
		break;
	case chaos:
		do_chaos(*c, unsigned(a.b));
		break;
	case check:
		do_check(*c);
		break;
	case revive:
		do_revive(c->s[a.b & 1]);
		break;
	}
}

/* ---- making work ---- */

payload traffic::pattern(std::uint32_t len)
{
	auto b = std::make_shared<bytes>(len);
	std::size_t from = r_.below(pattern_len), done = 0;

	while (done < len) {
		std::size_t n = std::min<std::size_t>(len - done, pattern_len - from);

		std::memcpy(b->data() + done, pattern_table().data() + from, n);
		done += n;
		from = 0;
	}
	return b;
}

std::uint32_t traffic::draw_len(side &s, std::uint32_t most)
{
	std::uint32_t mtu = std::min(s.copt.mtu, s.peer->copt.mtu), len;

	switch (r_.below(20)) {
	case 0:
		return 0;
	case 1:
	case 2:
		len = mtu * std::uint32_t(r_.range(1, 4)) + std::uint32_t(r_.below(3)) - 1;
		break;
	case 3:
		/* the edges of a slice, where there is room for them */
		len = s.local->len() < 1 << 18 || !r_.chance(0.3) ?
			      std::uint32_t(r_.scaled(1, 16384)) :
			      65536 * std::uint32_t(r_.range(1, 2)) + std::uint32_t(r_.below(3)) - 1;
		break;
	case 4:
		len = w_.prof.big && !s.conn->index && r_.chance(0.2) ?
			      std::uint32_t(r_.range(1, 3 << 20)) : std::uint32_t(r_.scaled(1, 20000));
		break;
	default:
		len = std::uint32_t(r_.scaled(1, r_.chance(0.7) ? 1500 : 12000));
	}
	return std::min(len, most);
}

op traffic::start(std::uint8_t code, std::uint32_t len)
{
	op o{};

	o.id = next_op_++;
	o.wr.op = code;
	o.wr.fence = r_.chance(0.05);
	o.wr.solicited = r_.chance(0.3);
	o.wr.order = std::uint8_t(r_.below(3));
	o.len = len;
	return o;
}

/* Local memory for @len bytes in some pieces, in any order, with gaps */
bool traffic::local_pieces(side &s, op &o, std::uint32_t len, unsigned max_sge)
{
	unsigned n = r_.chance(0.6) ? 1 : unsigned(r_.range(1, max_sge));
	std::vector<std::uint32_t> cuts{ 0, len };
	std::vector<unsigned> place_of(n);
	std::uint64_t off;

	if (!len && r_.chance(0.3))
		return true;
	o.local_space = s.local_ring->take(len + 16 * n);
	if (!o.local_space)
		return false;
	for (unsigned i = 1; i < n; i++)
		cuts.push_back(std::uint32_t(r_.below(len + 1)));
	std::sort(cuts.begin(), cuts.end());
	for (unsigned i = 0; i < n; i++)
		place_of[i] = i;
	for (unsigned i = n; i > 1; i--)
		std::swap(place_of[i - 1], place_of[r_.below(i)]);
	o.local.resize(n);
	off = o.local_space->off + r_.below(8);
	for (unsigned i : place_of) {
		o.local[i] = { off, cuts[i + 1] - cuts[i] };
		off += o.local[i].len + r_.below(8);
	}
	for (const piece &p : o.local)
		o.wr.sges.push_back({ s.local->va(p.off), p.len, s.local->key() });
	return true;
}

/* Something to send, inline or in local memory */
bool traffic::source(side &s, op &o, std::uint32_t len, unsigned max_sge, std::uint32_t max_inline)
{
	std::size_t done = 0;

	o.data = pattern(len);
	if (len <= max_inline && r_.chance(0.3)) {
		o.wr.inl = true;
		o.wr.data = *o.data;
		return true;
	}
	if (!local_pieces(s, o, len, max_sge))
		return false;
	for (const piece &p : o.local) {
		s.local->store(p.off, o.data->data() + done, p.len);
		done += p.len;
	}
	return true;
}

bool traffic::make_write(side &s)
{
	bool imm = r_.chance(0.3);
	std::uint32_t len = draw_len(s, std::uint32_t(s.target->len() / 6));
	op o = start(imm ? UBOE_SQE_WRITE_IMM : UBOE_SQE_WRITE, len);

	o.remote_space = s.peer->target_ring->take(len + 1);
	if (!o.remote_space || !source(s, o, len, imm ? UBOE_MAX_SGE_WRITE_IMM : UBOE_MAX_SGE,
				       imm ? UBOE_MAX_INLINE_WRITE_IMM : UBOE_MAX_INLINE))
		return false;
	o.remote_off = o.remote_space->off;
	o.wr.remote = s.peer->target->va(o.remote_off);
	o.wr.rkey = s.peer->target->key();
	o.wr.imm = r_.next();
	s.queued.push_back(std::move(o));
	return true;
}

bool traffic::make_send(side &s)
{
	static constexpr std::uint8_t codes[] = { UBOE_SQE_SEND, UBOE_SQE_SEND_IMM, UBOE_SQE_SEND_INV };
	std::uint32_t len = draw_len(s, std::min<std::uint32_t>(s.peer->recv->slot_bytes,
								std::uint32_t(s.local->len() / 6)));
	op o = start(codes[r_.below(3)], len);

	if (!source(s, o, len, UBOE_MAX_SGE, UBOE_MAX_INLINE))
		return false;
	o.wr.imm = r_.next();
	s.queued.push_back(std::move(o));
	return true;
}

bool traffic::make_read(side &s)
{
	std::uint64_t half = s.peer->target->len() / 2;
	std::uint32_t len = draw_len(s, s.reader ? 3000 : std::uint32_t(half / 3));
	op o = start(UBOE_SQE_READ, len);

	if (!local_pieces(s, o, len, UBOE_MAX_SGE_READ))
		return false;
	o.remote_off = half + r_.below(half - len + 1);
	o.data = std::make_shared<bytes>(s.peer->target->model(o.remote_off),
					 s.peer->target->model(o.remote_off) + len);
	o.wr.remote = s.peer->target->va(o.remote_off);
	o.wr.rkey = s.peer->target->key();
	s.queued.push_back(std::move(o));
	return true;
}

/* A Read behind a Write finds what that wrote, without a fence */
bool traffic::make_read_after_write(side &s)
{
	if (!make_write(s))
		return false;
	const op &w = s.queued.back();
	op o = start(UBOE_SQE_READ, w.len);

	o.remote_space = w.remote_space;
	o.remote_off = w.remote_off;
	o.data = w.data;
	o.wr.remote = w.wr.remote;
	o.wr.rkey = w.wr.rkey;
	if (local_pieces(s, o, w.len, UBOE_MAX_SGE_READ))
		s.queued.push_back(std::move(o));
	return true;
}

/* A fenced Write behind a Read does not change what that finds */
bool traffic::make_write_after_read(side &s)
{
	if (!make_write(s))
		return false;
	op w = std::move(s.queued.back());
	op o = start(UBOE_SQE_READ, w.len);

	s.queued.pop_back();
	if (!local_pieces(s, o, w.len, UBOE_MAX_SGE_READ)) {
		s.queued.push_back(std::move(w));
		return true;
	}
	o.remote_space = w.remote_space;
	o.remote_off = w.remote_off;
	o.data = std::make_shared<bytes>(s.peer->target->model(o.remote_off),
					 s.peer->target->model(o.remote_off) + w.len);
	o.wr.remote = w.wr.remote;
	o.wr.rkey = w.wr.rkey;
	if (r_.chance(0.5))
		w.wr.fence = true;
	else
		w.wr.order = UB_ORDER_STRONG;
	s.queued.push_back(std::move(o));
	s.queued.push_back(std::move(w));
	return true;
}

/* A fenced Send or Write carries what the Read before it has brought */
bool traffic::make_dependent(side &s)
{
	if (!make_read(s))
		return false;
	const op &rd = s.queued.back();
	bool write = r_.chance(0.5) || rd.len > s.peer->recv->slot_bytes;
	op o = start(write ? UBOE_SQE_WRITE : UBOE_SQE_SEND, rd.len);

	if (write) {
		o.remote_space = s.peer->target_ring->take(rd.len + 1);
		if (!o.remote_space)
			return true;
		o.remote_off = o.remote_space->off;
		o.wr.remote = s.peer->target->va(o.remote_off);
		o.wr.rkey = s.peer->target->key();
	}
	o.local_space = rd.local_space;
	o.wr.sges = rd.wr.sges;
	o.data = rd.data;
	o.wr.imm = 0;
	if (r_.chance(0.5))
		o.wr.fence = true;
	else
		o.wr.order = UB_ORDER_STRONG;
	s.queued.push_back(std::move(o));
	return true;
}

bool traffic::make_counter(side &s)
{
	place &far = places_[s.peer->n->index()];
	counter &c = far.counters[r_.below(far.counters.size())];
	op o = start(UBOE_SQE_FAA, c.size);

	if (!local_pieces(s, o, c.size, 1))
		return false;
	o.count = &c;
	o.wr.swap = r_.range(1, 15);
	o.wr.remote = far.counters_mem->va(c.off);
	o.wr.rkey = far.counters_mem->key();
	s.queued.push_back(std::move(o));
	return true;
}

bool traffic::make_word(side &s)
{
	static constexpr std::uint8_t codes[] = { UBOE_SQE_CAS, UBOE_SQE_CAS, UBOE_SQE_SWAP,
						  UBOE_SQE_FAA, UBOE_SQE_FSUB, UBOE_SQE_FAND,
						  UBOE_SQE_FOR, UBOE_SQE_FXOR };
	place &far = places_[s.peer->n->index()];
	word &x = s.words[r_.below(2)];
	op o = start(codes[r_.below(8)], x.size);
	std::uint64_t v = r_.next(), n;

	if (!local_pieces(s, o, x.size, 1))
		return false;
	o.wr.swap = cut(v, x.size);
	o.wr.compare = r_.chance(0.7) ? x.value : cut(r_.next(), x.size);
	switch (o.wr.op) {
	case UBOE_SQE_CAS:
		n = o.wr.compare == x.value ? v : x.value;
		break;
	case UBOE_SQE_SWAP:
		n = v;
		break;
	case UBOE_SQE_FAA:
		n = x.value + v;
		break;
	case UBOE_SQE_FSUB:
		n = x.value - v;
		break;
	case UBOE_SQE_FAND:
		n = x.value & v;
		break;
	case UBOE_SQE_FOR:
		n = x.value | v;
		break;
	default:
		n = x.value ^ v;
	}
	o.excl = &x;
	o.before = x.value;
	o.after = cut(n, x.size);
	x.value = o.after;
	o.wr.remote = far.counters_mem->va(x.off);
	o.wr.rkey = far.counters_mem->key();
	s.queued.push_back(std::move(o));
	return true;
}

bool traffic::refill(side &s)
{
	if (s.reader && r_.chance(0.9))
		return make_read(s);
	switch (r_.below(16)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return make_write(s);
	case 4:
	case 5:
	case 6:
		return make_send(s);
	case 7:
	case 8:
		return make_read(s);
	case 9:
		return make_read_after_write(s);
	case 10:
		return make_write_after_read(s);
	case 11:
	case 12:
		return make_dependent(s);
	case 13:
		return make_counter(s);
	case 14:
		return make_word(s);
	default:
		s.queued.push_back(start(UBOE_SQE_NOP, 0));
		return true;
	}
}

/* A request that must be refused, here or there */
void traffic::make_bad(side &s)
{
	op o = start(UBOE_SQE_WRITE, 100);

	o.data = nullptr;
	o.must_fail = UBOE_CQE_REMOTE;
	o.wr.sges = { { s.local->va(0), 100, s.local->key() } };
	o.wr.remote = s.peer->target->va(0);
	o.wr.rkey = s.peer->target->key();
	switch (r_.below(8)) {
	case 0:
		o.wr.rkey ^= 1; /* TokenValue */
		break;
	case 1:
		o.wr.remote = s.peer->target->va(s.peer->target->len() - 99);
		break;
	case 2:
		o.wr.op = UBOE_SQE_READ;
		o.wr.rkey += 900 << 12; /* TokenID */
		break;
	case 3:
		o.wr.remote = s.peer->local->va(0);
		o.wr.rkey = s.peer->local->key(); /* no right */
		break;
	case 4:
		o.wr.sges[0].key ^= 1;
		o.must_fail = UBOE_CQE_LOCAL;
		break;
	case 5:
		o.wr.op = 0x3f;
		o.must_fail = UBOE_CQE_UNSUPPORTED;
		break;
	case 6:
		o.wr.op = UBOE_SQE_FAA;
		o.wr.sges[0].len = 8;
		o.wr.remote += 8 - o.wr.remote % 8 + 4;
		o.must_fail = UBOE_CQE_UNSUPPORTED;
		break;
	default:
		o.wr.op = UBOE_SQE_SEND;
		if (s.peer->recv->slot_bytes < 100)
			break;
		o.wr.sges.resize(13, o.wr.sges[0]);
		if (s.peer->recv->slot_bytes >= 1300) {
			o.wr.sges[12].key ^= 1;
			o.must_fail = UBOE_CQE_LOCAL;
		}
	}
	put(s, std::move(o));
}

void traffic::put(side &s, op &&o)
{
	std::uint8_t code = o.wr.op;
	bool last = !s.left && s.queued.empty();

	o.wr.signaled = last || r_.chance(0.4) || o.must_fail || s.conn->state != health::alive ||
			s.q->room() < rc::blocks(o.wr) + 8;
	if (s.jopt.flags & UBOE_JETTY_SIG_ALL)
		o.wr.signaled = true;
	o.end = s.q->put(o.wr);
	if (!o.must_fail && (code <= UBOE_SQE_SEND_INV || code == UBOE_SQE_WRITE_IMM))
		s.peer->inbound.push_back({ o.id, code, o.len, o.wr.imm, o.data, o.remote_space });
	if (w_.tracing())
		w_.note("%u: connection %u posts op %llu code %02x len %u end %x%s%s", s.n->index(),
			s.conn->index, (unsigned long long)o.id, code, o.len, o.end,
			o.wr.signaled ? " signaled" : "", o.wr.fence ? " fence" : "");
	/* what the program's memory holds is copied out of the SQE by the device */
	o.wr.data.clear();
	s.ops.push_back(std::move(o));
}

void traffic::want_post(side &s, std::uint64_t delay)
{
	w_.at(delay, act::user, s.n->index(), s.conn->index, std::uint64_t(s.incarnation) << 1 | s.which,
	      post);
}

void traffic::poke_msn(connection &c)
{
	ubp_tp *tp[2];

	for (unsigned i = 0; i < 2; i++) {
		tp[i] = ubp_tp_find(c.s[i].n->dev(), UB_TPN_RC(c.s[i].id));
		if (!tp[i] || tp[i]->state != UBP_TP_OPEN)
			return;
	}
	for (unsigned i = 0; i < 2; i++) {
		std::uint32_t v = UB_PSN_MASK - std::uint32_t(r_.below(60));

		tp[i]->snd_msn = v;
		tp[i]->acked_msn = v;
		tp[!i]->rsp.exec_msn = v;
	}
	c.poke = false;
}

void traffic::do_post(side &s)
{
	std::uint64_t n = s.reader ? 200 : r_.range(1, 8);
	bool any = false;

	if (s.conn->state != health::alive || !s.q)
		return;
	if (s.conn->poke) {
		poke_msn(*s.conn);
		if (s.conn->poke) {
			want_post(s, 50 * us);
			return;
		}
	}
	while (n--) {
		if (s.queued.empty()) {
			if (!s.left)
				break;
			s.left--;
			if (!refill(s) || s.queued.empty()) {
				s.left++;
				break;
			}
		}
		if (s.q->room() < rc::blocks(s.queued.front().wr))
			break;
		op o = std::move(s.queued.front());

		s.queued.pop_front();
		put(s, std::move(o));
		any = true;
	}
	s.wait = any ? 5 * us : std::min(s.wait * 2, 5 * ms);
	if (any) {
		if (r_.chance(0.2))
			w_.at(r_.below(3 * us), act::user, s.n->index(), s.conn->index,
			      std::uint64_t(s.incarnation) << 1 | s.which, ring);
		else
			do_ring(s);
	}
	if (s.left || !s.queued.empty())
		want_post(s, any ? r_.scaled(100, 50 * us) : s.wait + r_.below(s.wait));
}

void traffic::do_ring(side &s)
{
	if (!s.q || !s.q->ring())
		return;
	/* the system call takes a moment, too */
	if (r_.chance(0.7))
		s.n->kick(s.id);
	else
		w_.at(r_.below(4 * us), act::turn, s.n->index(), s.id);
}

/* ---- the oracle ---- */

bool traffic::drain(unsigned n, unsigned i, unsigned most)
{
	bool any = false;

	for (unsigned k = 0; k < most; k++) {
		auto c = places_[n].jfcs[i]->poll();

		if (!c)
			break;
		any = true;
		on_cqe(n, *c);
	}
	return any;
}

void traffic::do_poll(unsigned n, unsigned i)
{
	place &p = places_[n];
	bool any = drain(n, i, unsigned(r_.range(1, 40)));

	if (any || !w_.prof.events) {
		p.pace[i] = any ? r_.scaled(200, 20 * us) : std::min(p.pace[i] * 2, 10 * ms);
		w_.at(p.pace[i], act::user, n, i, 0, poll);
		return;
	}
	/* arm, look once more, then trust the event */
	p.waiting[i] = true;
	p.jfcs[i]->arm(UBOE_ARM_NEXT);
	if (drain(n, i, 1) && p.waiting[i]) {
		p.waiting[i] = false;
		w_.at(us, act::user, n, i, 0, poll);
	}
}

void traffic::on_cqe(unsigned n, const uboe_cqe &c)
{
	std::uint32_t id = c.w1 >> 16 | (c.w2 & UBOE_CQE_ID_HI) << 16;
	auto it = places_[n].sides.find(id);

	if (it == places_[n].sides.end() || !it->second->q)
		fail("completion of jetty %u, which does not exist", id);
	side &s = *it->second;

	if (w_.tracing())
		w_.note("%u: connection %u completion %s status %u/%u entry %x bytes %u", n,
			s.conn->index, c.w0 & UBOE_CQE_RECV ? "receive" : "send",
			UBP_GET(UBOE_CQE_STATUS, c.w0), UBP_GET(UBOE_CQE_SUBSTATUS, c.w0),
			c.w1 & 0xffff, c.byte_cnt);
	if ((std::uint64_t(c.user_hi) << 32 | c.user_lo) != s.jopt.user)
		fail("completion with the user data of another incarnation");
	last_progress_ = w_.clock;
	if (c.w0 & UBOE_CQE_RECV)
		on_recv(s, c);
	else
		on_send(s, c);
}

void traffic::op_done(side &s, op &o)
{
	char what[100];
	std::size_t done = 0;

	std::snprintf(what, sizeof(what), "connection %u/%u op %llu code %02x", s.conn->index, s.which,
		      (unsigned long long)o.id, o.wr.op);
	if (o.must_fail)
		fail("%s: success, but it had to fail", what);
	completed_++;
	if (o.count) {
		o.count->claims.emplace_back(s.local->load(o.local[0].off, o.len), o.wr.swap);
		s.local->adopt(o.local[0].off, o.len);
	} else if (o.excl) {
		s.local->expect(o.local[0].off, &o.before, o.len, what);
		o.excl->known = o.after;
	} else if (o.wr.op == UBOE_SQE_WRITE || o.wr.op == UBOE_SQE_WRITE_IMM) {
		s.peer->target->expect(o.remote_off, o.data->data(), o.len, what);
	} else if (o.wr.op == UBOE_SQE_READ) {
		for (const piece &p : o.local) {
			s.local->expect(p.off, o.data->data() + done, p.len, what);
			done += p.len;
		}
	}
	while (!chaos_at_.empty() && completed_ > chaos_at_.back()) {
		chaos_at_.pop_back();
		w_.at(r_.below(20 * us), act::user, 0, std::uint32_t(r_.below(conns_.size())),
		      r_.below(5), chaos);
	}
}

/* Its connection broke: it may have happened, in part or as a whole */
void traffic::op_unknown(side &s, op &o)
{
	std::size_t done = 0;

	if (o.must_fail)
		return;
	if (o.count) {
		o.count->unknown += o.wr.swap;
		s.local->adopt(o.local[0].off, o.len);
	} else if (o.excl) {
		s.local->either(o.local[0].off, &o.before, o.len, "result of a broken atomic");
	} else if (o.wr.op == UBOE_SQE_WRITE || o.wr.op == UBOE_SQE_WRITE_IMM) {
		s.peer->target->either(o.remote_off, o.data->data(), o.len, "broken Write");
	} else if (o.wr.op == UBOE_SQE_READ) {
		for (const piece &p : o.local) {
			s.local->either(p.off, o.data->data() + done, p.len, "broken Read");
			done += p.len;
		}
	}
}

void traffic::on_send(side &s, const uboe_cqe &c)
{
	std::uint8_t status = std::uint8_t(UBP_GET(UBOE_CQE_STATUS, c.w0));
	std::uint32_t entry = c.w1 & UBOE_CQE_ENTRY;
	connection &k = *s.conn;

	if (status && k.state == health::alive) {
		if (s.jopt.rnr_retry == 7 && s.peer->jopt.rnr_retry == 7)
			fail("connection %u/%u: status %u/%u for no reason%s%s", k.index, s.which, status,
			     UBP_GET(UBOE_CQE_SUBSTATUS, c.w0), inside(s).c_str(),
			     inside(*s.peer).c_str());
		break_down(k, "RNR");
	}
	for (;;) {
		if (s.ops.empty())
			fail("connection %u/%u: completion of nothing, entry %x", k.index, s.which, entry);
		op o = std::move(s.ops.front());
		bool it = std::uint16_t(o.end - 1) == entry;

		s.ops.pop_front();
		s.q->retire(o.end);
		if (!it) {
			if (o.wr.signaled || s.error_seen)
				fail("connection %u/%u: op %llu has no completion", k.index, s.which,
				     (unsigned long long)o.id);
			op_done(s, o);
			continue;
		}
		if (!status) {
			if (s.error_seen)
				fail("connection %u/%u: success after an error", k.index, s.which);
			if (!o.wr.signaled)
				fail("connection %u/%u: op %llu wanted no completion", k.index, s.which,
				     (unsigned long long)o.id);
			op_done(s, o);
			return;
		}
		if (s.error_seen != (status == UBOE_CQE_FLUSH) && (s.error_seen || !s.may_flush))
			fail("connection %u/%u: status %u, %s", k.index, s.which, status,
			     s.error_seen ? "not the first error" : "but nothing failed before");
		if (o.must_fail && status != o.must_fail && !s.error_seen && k.cause[0] == 'b')
			fail("connection %u/%u: status %u instead of %u", k.index, s.which, status,
			     o.must_fail);
		s.error_seen = true;
		s.failed.push_back(std::move(o));
		return;
	}
}

void traffic::on_recv(side &s, const uboe_cqe &c)
{
	std::uint8_t status = std::uint8_t(UBP_GET(UBOE_CQE_STATUS, c.w0));
	std::uint32_t slot = c.w1 & UBOE_CQE_ENTRY;
	connection &k = *s.conn;
	std::size_t done = 0;
	char what[100];

	if (!s.recv->queue->done(slot))
		fail("connection %u/%u: receive %u was not posted", k.index, s.which, slot);
	want_feed(s.n->index(), *s.recv);
	if (status) {
		if (k.state == health::alive) {
			if (s.jopt.rnr_retry == 7 && s.peer->jopt.rnr_retry == 7)
				fail("connection %u/%u: receive with status %u for no reason%s%s",
				     k.index, s.which, status, inside(s).c_str(),
				     inside(*s.peer).c_str());
			break_down(k, "RNR");
		}
		for (const piece &p : s.recv->pieces(slot))
			s.recv->memory->adopt(p.off, p.len);
		return;
	}
	if (s.inbound.empty())
		fail("connection %u/%u: a message that nobody sent", k.index, s.which);
	arrival a = std::move(s.inbound.front());

	s.inbound.pop_front();
	std::snprintf(what, sizeof(what), "connection %u/%u received op %llu", k.index, s.which,
		      (unsigned long long)a.id);
	std::uint32_t code = UBP_GET(UBOE_CQE_OPCODE, c.w0);
	std::uint32_t want = a.op == UBOE_SQE_WRITE_IMM ? std::uint32_t(UBOE_CQE_RX_WRITE_IMM) : a.op;

	if (code != want || c.byte_cnt != a.len)
		fail("%s: code %u, %u bytes instead of %u, %u", what, code, c.byte_cnt, want, a.len);
	if (a.op != UBOE_SQE_SEND && (c.imm_lo | std::uint64_t(c.imm_hi) << 32) != a.imm)
		fail("%s: wrong immediate", what);
	if (a.op == UBOE_SQE_WRITE_IMM) {
		s.target->expect(a.remote_space->off, a.data->data(), a.len, what);
		return;
	}
	for (const piece &p : s.recv->pieces(slot)) {
		std::size_t n = std::min<std::size_t>(p.len, a.len - done);

		s.recv->memory->expect(p.off, a.data->data() + done, n, what);
		done += n;
	}
}

void traffic::want_feed(unsigned n, pool &p)
{
	std::uint64_t delay = w_.prof.late_receives ? r_.scaled(10 * us, 5 * ms) : r_.scaled(100, 20 * us);
	unsigned i = 0;

	if (p.feeding)
		return;
	p.feeding = true;
	while (places_[n].pools[i].get() != &p)
		i++;
	w_.at(delay, act::user, n, i, 0, feed);
}

void traffic::do_feed(unsigned n, unsigned i)
{
	pool &p = *places_[n].pools[i];
	std::uint64_t most = w_.prof.late_receives ? r_.range(1, 8) : 64;

	p.feeding = false;
	while (p.queue->free_slots() && most--) {
		std::uint32_t slot = p.queue->next_slot();
		std::vector<sge> sges;

		for (const piece &x : p.pieces(slot))
			sges.push_back({ p.memory->va(x.off), x.len, p.memory->key() });
		p.queue->post(sges);
	}
	if (p.owner && p.owner->q && p.owner->q->wants_rq_kick())
		p.owner->n->kick(p.owner->id);
	if (p.queue->free_slots())
		want_feed(n, p);
}

/* ---- breaking connections ---- */

void traffic::break_down(connection &c, const char *cause)
{
	c.state = health::dying;
	c.cause = cause;
	w_.first_lives = false;
	c.patience = 100 * us;
	w_.note("%u - %u: connection %u breaks: %s", c.s[0].n->index(), c.s[1].n->index(), c.index, cause);
	for (side &s : c.s) {
		w_.unwatch(s.n->index(), UB_TPN_RC(s.id));
		/* work that was not posted is made anew later */
		s.left += unsigned(s.queued.size());
		s.queued.clear();
	}
	w_.at(c.patience, act::user, 0, c.index, 0, check);
}

void traffic::to_error(side &s)
{
	s.may_flush = true;
	s.q->to_state(UBOE_JS_ERROR);
}

bool traffic::opened(const side &s) const
{
	const ubp_tp *tp = ubp_tp_find(s.n->dev(), UB_TPN_RC(s.id));

	return tp && tp->state == UBP_TP_OPEN;
}

void traffic::do_chaos(connection &c, unsigned kind)
{
	side &s = c.s[r_.below(2)];

	if (c.state != health::alive || !s.q || !s.peer->q) {
		chaos_left_--; /* it has troubles already */
		return;
	}
	chaos_left_--;
	switch (kind) {
	case 0:
		break_down(c, "error");
		to_error(s);
		break;
	case 1:
		break_down(c, "error of both");
		to_error(s);
		to_error(*s.peer);
		break;
	case 2:
		break_down(c, "gone");
		take_down(s);
		break;
	case 3:
		/* an end that is still opening would talk with the next life of the other */
		if (!opened(s) || !opened(*s.peer)) {
			break_down(c, "gone");
			take_down(s);
			break;
		}
		break_down(c, "gone and back");
		take_down(s);
		s.reviving = true;
		w_.at(r_.scaled(1, 10 * ms), act::user, s.n->index(), c.index, s.which, revive);
		break;
	default:
		if (s.q->room() < 8) {
			break_down(c, "error");
			to_error(s);
			break;
		}
		break_down(c, "bad request");
		s.peer->may_flush = true;
		make_bad(s);
		do_ring(s);
	}
}

/* A last request tells when all before it are through, one way or another */
void traffic::post_last(side &s)
{
	op o = start(UBOE_SQE_WRITE, 0);

	if (s.q->room() < 1)
		return;
	o.data = std::make_shared<bytes>();
	o.wr.remote = s.peer->target->va(0);
	o.wr.rkey = s.peer->target->key();
	put(s, std::move(o));
	do_ring(s);
	s.last_posted = true;
}

bool traffic::drained(side &s)
{
	return !s.q || s.fresh || (s.last_posted && s.ops.empty());
}

void traffic::do_check(connection &c)
{
	if (c.state != health::dying)
		return;
	for (side &s : c.s)
		if (s.q && !s.fresh && !s.last_posted)
			post_last(s);
	if (!drained(c.s[0]) || !drained(c.s[1])) {
		c.patience = std::min(c.patience * 3 / 2, 50 * ms);
		w_.at(c.patience, act::user, 0, c.index, 0, check);
		return;
	}
	c.state = health::down;
	for (side &s : c.s)
		take_down(s);
	resolve(c);
	for (side &s : c.s)
		if (!s.fresh && !s.reviving)
			w_.at(r_.scaled(1, 20 * ms), act::user, s.n->index(), c.index, s.which, revive);
}

void traffic::purge(node &n)
{
	for (unsigned i = 0; i < places_[n.index()].jfcs.size(); i++)
		while (drain(n.index(), i, 1000))
			;
}

void traffic::take_down(side &s)
{
	if (!s.q || s.fresh)
		return;
	if (r_.chance(0.5))
		to_error(s);
	purge(*s.n);
	w_.note("%u: connection %u is destroyed", s.n->index(), s.conn->index);
	if (r_.chance(0.5)) {
		s.q->destroy_channel();
		s.q->destroy_jetty();
	} else {
		/* a receive queue of its own dies with a jetty, with all it held */
		if (s.recv->owner)
			s.recv->lost++;
		s.q->destroy_jetty();
		s.q->destroy_channel();
	}
	/* the receive of a message that is half there comes back now */
	purge(*s.n);
	s.q.reset();
	s.incarnation++;
	while (!s.ops.empty()) {
		s.failed.push_back(std::move(s.ops.front()));
		s.ops.pop_front();
	}
}

/* Both ends are gone: find out what became of the rest */
void traffic::resolve(connection &c)
{
	for (side &s : c.s) {
		region &m = *places_[s.peer->n->index()].counters_mem;

		for (op &o : s.failed)
			op_unknown(s, o);
		for (word &x : s.words) {
			std::uint64_t v = m.load(x.off, x.size);
			bool known = v == x.known;

			for (const op &o : s.failed)
				known |= o.excl == &x && o.after == v;
			if (!known)
				fail("connection %u/%u: impossible value of an atomic word", c.index,
				     s.which);
			x.known = v;
			x.value = v;
		}
		s.failed.clear();
		s.inbound.clear();
	}
	for (side &s : c.s)
		s.target->check("target of a broken connection");
}

void traffic::do_revive(side &s)
{
	connection &c = *s.conn;

	open(s);
	s.reviving = false;
	s.fresh = true;
	w_.note("%u: connection %u opens jetty %u (%06x)", s.n->index(), c.index, s.id, UB_TPN_RC(s.id));
	if (c.state != health::down || !s.peer->fresh)
		return;
	c.state = health::alive;
	for (side &x : c.s) {
		x.fresh = false;
		want_post(x, r_.scaled(1, 2 * ms));
	}
}

/* ---- running ---- */

bool traffic::finished()
{
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

			if (c->state == health::alive && !s.left && s.ops.empty() && s.inbound.empty())
				continue;
			std::snprintf(line, sizeof(line),
				      "\n# connection %u/%u (%s%s%s): %u to make, %zu posted from op %llu "
				      "code %02x, %zu to come",
				      c->index, s.which, states[int(c->state)], *c->cause ? ", " : "",
				      c->cause, s.left, s.ops.size(),
				      s.ops.empty() ? 0ull : (unsigned long long)s.ops.front().id,
				      s.ops.empty() ? 0 : s.ops.front().wr.op, s.inbound.size());
			t += line;
			if (t.size() < 4000)
				t += inside(s);
		}
	return t;
}

void traffic::run()
{
	unsigned look = 0;

	while (look++ % 64 || !finished()) {
		if (!w_.step() && !finished())
			fail("nothing happens any more%s", pending().c_str());
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

				if (m.load(x.off, x.size) != x.value)
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
		if (n.live_allocations() || n.live_packets() || n.live_buffers() || n.live_segments() ||
		    n.live_paths())
			fail("node %u leaks: %zu allocations, %zu packets, %zu buffers, %zu segments, "
			     "%zu paths", i, n.live_allocations(), n.live_packets(), n.live_buffers(),
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
