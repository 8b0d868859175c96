// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Jetties without connections: what they ask for, and what must come of it. */
#include "messages.hpp"

#include <algorithm>
#include <utility>

namespace ubsim
{

namespace
{
constexpr std::uint8_t all_access = UBOE_ACC_LOCAL_WRITE | UBOE_ACC_REMOTE_WRITE |
				    UBOE_ACC_REMOTE_READ | UBOE_ACC_REMOTE_ATOMIC;
constexpr std::uint32_t jfc_id = 50;
constexpr std::uint32_t jfr_id = 300;
constexpr std::uint32_t first_jetty = 3000;
constexpr std::uint32_t first_token = 3000;
constexpr std::uint64_t target_bytes = 128 << 10;
constexpr std::uint64_t local_bytes = 96 << 10;
constexpr std::uint32_t um_slot_bytes = 4096;
} /* namespace */

messages::messages(world &w, std::uint64_t seed) : w_(w), r_(seed ^ 0x3c6ef372fe94f82b)
{
	std::uint32_t id = first_jetty;

	for (unsigned n = 0; n < w_.prof.nodes; n++)
		make_place(n);
	for (unsigned n = 0; n < w_.prof.nodes; n++) {
		for (unsigned k = 0; k < 3; k++)
			make_sender(n, id++, k == 2);
		w_.at(r_.below(ms), act::user, n, 0, 0, code);
	}
}

messages::~messages()
{
	for (sender &s : senders_)
		s.q.reset();
}

void messages::make_place(unsigned n)
{
	node &h = *w_.nodes[n];
	place &p = places_.emplace_back();

	if (r_.chance(0.6)) { /* tables that the peers could fill */
		uboe_rct_ctx c{};

		c.shift = 6;
		c.watermark = std::uint32_t(r_.scaled(1, 64));
		if (h.modify(UBOE_MBOX_RCT, UBOE_RCT_TAG_VL(1), c,
			     UBOE_RCTM_SHIFT | UBOE_RCTM_WATERMARK))
			fail("the RC tables of a VL cannot be set");
	}
	p.completions = std::make_unique<jfc>(h, jfc_id, 11, jfc_options{});
	for (unsigned k = 0; k < 2; k++) {
		auto q = std::make_unique<pool>();

		q->nsge = 1 + unsigned(r_.below(2));
		q->slot_bytes = k ? um_slot_bytes : std::uint32_t(r_.range(64, 9000));
		q->shared = true;
		q->queue = std::make_unique<jfr>(h, jfr_id + k, 6, 1, pd);
		q->memory = std::make_unique<region>(h, first_token + 100 + k, UBOE_ACC_LOCAL_WRITE,
						     64ull * (q->slot_bytes + 64), r_);
		p.receives[k] = std::move(q);
	}
	p.target = std::make_unique<region>(h, first_token + 102, all_access, target_bytes, r_,
					    UBOE_SEG_NATIVE);
	p.target_ring = std::make_unique<ring_space>(target_bytes / 2);
	p.target->store(target_bytes / 2, pattern_table().data(), target_bytes / 2);
	p.counters_mem =
		std::make_unique<region>(h, first_token + 103, all_access, 64, r_, UBOE_SEG_NATIVE);
	for (unsigned k = 0; k < 2; k++) {
		counter &c = p.counters.emplace_back();

		c.off = 8 * k;
		c.size = 8;
		c.start = r_.below(1u << 30);
		p.counters_mem->store(c.off, &c.start, c.size);
	}
}

void messages::make_sender(unsigned n, std::uint32_t id, bool um)
{
	sender &s = senders_.emplace_back();
	node &h = *w_.nodes[n];
	jetty_options o;

	s.node = n;
	s.id = id;
	s.um = um;
	s.v6 = r_.chance(0.5);
	s.mtu = std::uint16_t(1024u << r_.below(3));
	s.left = w_.prof.ops / (um ? 20 : 8);
	s.local = std::make_unique<region>(h, first_token + id - first_jetty, UBOE_ACC_LOCAL_WRITE,
					   local_bytes, r_);
	s.ring = std::make_unique<ring_space>(local_bytes);
	o.type = um ? UBOE_JETTY_UM : UBOE_JETTY_RM;
	o.sq_shift = unsigned(r_.range(4, 7));
	o.pd = pd;
	o.flags = UBOE_JETTY_NATIVE | UBOE_JETTY_SHARED_JFR;
	o.user = id;
	if (um) {
		o.eid = h.addr(s.v6);
		o.mtu = s.mtu;
	} else {
		if (r_.chance(0.5))
			o.slice = std::uint8_t(r_.range(10, 16));
		o.order = r_.chance(0.5) ? UBOE_ORDER_TARGET : UBOE_ORDER_INITIATOR;
	}
	s.q = std::make_unique<rc>(h, id, *places_[n].completions, *places_[n].completions,
				   *places_[n].receives[um]->queue, o);
	if (s.q->to_state(UBOE_JS_INIT) || s.q->to_state(UBOE_JS_READY))
		fail("jetty %u cannot be made ready", id);
}

/* The channel to @peer, made when there is none yet */
std::uint32_t messages::channel(unsigned n, const address &peer)
{
	place &p = places_[n];
	node &h = *w_.nodes[n];
	const address self = h.addr(!std::equal(peer.b.begin(), peer.b.begin() + 10,
						std::array<std::uint8_t, 10>{}.begin()));
	std::uint32_t &tpn = p.channels[peer.b];
	uboe_tp_ctx tp{};

	if (tpn)
		return tpn;
	tpn = p.next_tpn++;
	std::memcpy(tp.laddr, self.b.data(), 16);
	std::memcpy(tp.raddr, peer.b.data(), 16);
	tp.mtu = std::uint16_t(1024u << r_.below(4));
	tp.window = r_.chance(0.5) ? 0 : std::uint16_t(64u << r_.below(3));
	tp.retrans = 0xff;
	tp.cc = ubp_cc_wanted(h.dev());
	tp.vl = 1;
	if (int err = h.create(UBOE_MBOX_TP, tpn, tp))
		fail("a shared channel cannot be made: %d", err);
	return tpn;
}

payload messages::pattern(std::uint32_t len)
{
	std::size_t from = r_.below(pattern_len - len);

	return std::make_shared<bytes>(pattern_table().data() + from,
				       pattern_table().data() + from + len);
}

bool messages::local(sender &s, request &q, std::uint32_t len)
{
	q.local_space = s.ring->take(len + 16);
	if (!q.local_space)
		return false;
	q.local_off = q.local_space->off + r_.below(8);
	q.wr.sges = { { s.local->va(q.local_off), len, s.local->key() } };
	return true;
}

bool messages::source(sender &s, request &q, std::uint32_t len)
{
	q.len = len;
	if (!q.data)
		q.data = pattern(len);
	if (q.wr.op != UBOE_SQE_WRITE_IMM && len <= UBOE_MAX_INLINE && r_.chance(0.3)) {
		q.wr.inl = true;
		q.wr.data = *q.data;
		return true;
	}
	if (!local(s, q, len))
		return false;
	s.local->store(q.local_off, q.data->data(), len);
	return true;
}

bool messages::make_um(sender &s, request &q)
{
	std::uint32_t most = std::min<std::uint32_t>(s.mtu, um_slot_bytes);
	std::uint32_t len = std::uint32_t(r_.scaled(8, most)), jetty = first_jetty + 3 * q.to + 2;
	auto b = std::make_shared<bytes>(*pattern(len));

	std::memcpy(b->data(), &q.id, 8);
	q.data = b;
	q.wr.op = r_.chance(0.5) ? UBOE_SQE_SEND : UBOE_SQE_SEND_IMM;
	q.wr.imm = r_.next();
	q.wr.rmt = w_.nodes[q.to]->addr(s.v6);
	q.wr.rmt_type = UBOE_RMT_JETTY;
	q.wr.rmt_id = jetty;
	if (!source(s, q, len))
		return false;
	datagrams_[q.id] = { q.to, jetty, s.id, q.wr.op, q.wr.imm, q.data };
	return true;
}

bool messages::make_rm(sender &s, request &q)
{
	place &far = places_[q.to];
	std::uint32_t jetty = first_jetty + 3 * q.to + std::uint32_t(r_.below(2));
	std::uint32_t len = std::uint32_t(r_.scaled(1, r_.chance(0.1) ? 16000 : 3000)) - 1;

	q.wr.tpn = channel(s.node, w_.nodes[q.to]->addr(s.v6));
	q.wr.fence = r_.chance(0.05);
	q.wr.order = std::uint8_t(r_.below(3));
	q.wr.imm = r_.next();
	q.wr.rkey = far.target->key();
	switch (r_.below(8)) {
	case 0:
	case 1:
	case 2: /* Send */
		q.wr.op = r_.chance(0.5) ? UBOE_SQE_SEND : UBOE_SQE_SEND_IMM;
		q.wr.token_en = false;
		q.wr.rmt_type = UBOE_RMT_JETTY;
		q.wr.rmt_id = jetty;
		return source(s, q, std::min(len, far.receives[0]->slot_bytes));
	case 3:
	case 4: /* Write */
		q.remote_space = far.target_ring->take(len + 1);
		if (!q.remote_space)
			return false;
		q.wr.op = r_.chance(0.7) ? UBOE_SQE_WRITE : UBOE_SQE_WRITE_IMM;
		q.wr.rmt_type = UBOE_RMT_JETTY;
		q.wr.imm_jetty = jetty;
		q.remote_off = q.remote_space->off;
		q.wr.remote = far.target->va(q.remote_off);
		return source(s, q, len);
	case 5:
	case 6: /* Read */
		q.wr.op = UBOE_SQE_READ;
		q.len = len;
		q.remote_off = target_bytes / 2 + r_.below(target_bytes / 2 - len + 1);
		q.wr.remote = far.target->va(q.remote_off);
		q.data = found_at(*far.target, q.remote_off, len);
		return local(s, q, len);
	default:
		q.wr.op = UBOE_SQE_FAA;
		q.len = 8;
		q.count = &far.counters[r_.below(far.counters.size())];
		q.wr.remote = far.counters_mem->va(q.count->off);
		q.wr.rkey = far.counters_mem->key();
		q.wr.swap = r_.range(1, 1000);
		return local(s, q, 8);
	}
}

/* One more request; false: there is no room for it now */
bool messages::make(sender &s)
{
	request q{};

	q.id = next_id_++;
	q.to = unsigned(r_.below(w_.prof.nodes)); /* ourselves, too */
	/* the last ones tell of all that went to their targets before */
	if (s.left <= w_.prof.nodes)
		q.to = s.left - 1;
	if (!(s.um ? make_um(s, q) : make_rm(s, q)))
		return false;
	q.wr.signaled = r_.chance(0.4) || s.q->room() < 16 || s.left <= w_.prof.nodes;
	q.end = s.q->put(q.wr);
	if (!s.um && (q.wr.op <= UBOE_SQE_SEND_INV || q.wr.op == UBOE_SQE_WRITE_IMM)) {
		std::uint32_t jetty = q.wr.op == UBOE_SQE_WRITE_IMM ? q.wr.imm_jetty : q.wr.rmt_id;

		inbound_[{ jetty, s.id }].push_back(
			{ q.id, q.wr.op, q.len, q.wr.imm, q.data, q.remote_space });
	}
	if (w_.tracing())
		w_.note("%u: jetty %u posts request %llu code %02x len %u end %x to %u%s", s.node,
			s.id, (unsigned long long)q.id, q.wr.op, q.len, q.end, q.to,
			q.wr.signaled ? " signaled" : "");
	q.wr.data.clear();
	s.requests.push_back(std::move(q));
	return true;
}

bool messages::work(sender &s)
{
	bool any = false;

	if (!s.um)
		s.q->retire(s.q->copied());
	for (std::uint64_t n = r_.range(1, 12); n && s.left && s.q->room() >= 4; n--) {
		if (!make(s))
			break;
		s.left--;
		any = true;
	}
	if (any && s.q->ring())
		w_.nodes[s.node]->kick(s.id);
	return any;
}

bool messages::feed(place &p)
{
	bool any = false;

	for (auto &q : p.receives) {
		std::uint64_t most = w_.prof.late_receives ? r_.below(4) : 64;

		for (; q->queue->free_slots() && most; most--) {
			std::uint32_t slot = q->queue->next_slot();
			std::vector<sge> sges;

			for (const piece &x : q->pieces(slot))
				sges.push_back({ q->memory->va(x.off), x.len, q->memory->key() });
			q->queue->post(sges);
			any = true;
		}
	}
	return any;
}

void messages::turn(const action &a)
{
	place &p = places_[a.node];
	bool any = false;

	for (auto &want : std::exchange(w_.nodes[a.node]->wanted(), {}))
		ubp_share_open(w_.nodes[a.node]->dev(), channel(a.node, want.second));
	any |= drain(a.node);
	any |= feed(p);
	for (sender &s : senders_)
		if (s.node == a.node)
			any |= work(s);
	p.pace = any ? r_.scaled(500, 50 * us) : std::min(p.pace * 2, 2 * ms);
	w_.at(p.pace, act::user, a.node, 0, 0, code);
}

bool messages::drain(unsigned n)
{
	bool any = false;

	while (auto c = places_[n].completions->poll()) {
		std::uint32_t id = c->user_lo - first_jetty;

		if (id >= senders_.size() || senders_[id].node != n)
			fail("completion of jetty %u, which is not there", c->user_lo);
		if (c->w0 & UBOE_CQE_RECV)
			received(n, senders_[id], *c);
		else
			sent(senders_[id], *c);
		last_progress_ = w_.clock;
		any = true;
	}
	return any;
}

/* A request has done what it was for */
void messages::finish(sender &s, request &q)
{
	char what[100];

	std::snprintf(what, sizeof(what), "jetty %u request %llu code %02x", s.id,
		      (unsigned long long)q.id, q.wr.op);
	q.done = true;
	completed_++;
	if (q.count) {
		q.count->claims.emplace_back(s.local->load(q.local_off, 8),
					     std::uint64_t(q.wr.swap));
		s.local->adopt(q.local_off, 8);
	} else if (q.wr.op == UBOE_SQE_READ) {
		s.local->expect(q.local_off, q.data->data(), q.len, what);
	} else if (q.wr.op == UBOE_SQE_WRITE || q.wr.op == UBOE_SQE_WRITE_IMM) {
		places_[q.to].target->expect(q.remote_off, q.data->data(), q.len, what);
	}
	q.local_space.reset();
	q.remote_space.reset();
}

void messages::sent(sender &s, const uboe_cqe &c)
{
	std::uint32_t entry = c.w1 & UBOE_CQE_ENTRY;
	auto it = std::find_if(s.requests.begin(), s.requests.end(), [entry](const request &q) {
		return !q.done && std::uint16_t(q.end - 1) == entry;
	});

	if (it == s.requests.end())
		fail("jetty %u: completion of nothing, entry %x", s.id, entry);
	if (UBP_GET(UBOE_CQE_STATUS, c.w0))
		fail("jetty %u request %llu: status %u/%u for no reason", s.id,
		     (unsigned long long)it->id, UBP_GET(UBOE_CQE_STATUS, c.w0),
		     UBP_GET(UBOE_CQE_SUBSTATUS, c.w0));
	if (!it->wr.signaled)
		fail("jetty %u request %llu wanted no completion", s.id,
		     (unsigned long long)it->id);
	/* what one jetty sends to one address completes in order; UM: all of it */
	for (auto q = s.requests.begin(); q != it; ++q) {
		if (q->done || (!s.um && q->to != it->to))
			continue;
		if (q->wr.signaled)
			fail("jetty %u: request %llu completes before %llu", s.id,
			     (unsigned long long)it->id, (unsigned long long)q->id);
		finish(s, *q);
	}
	if (s.um)
		s.q->retire(it->end);
	finish(s, *it);
	while (!s.requests.empty() && s.requests.front().done)
		s.requests.pop_front();
}

void messages::received(unsigned n, sender &s, const uboe_cqe &c)
{
	pool &p = *places_[n].receives[s.um];
	std::uint32_t slot = c.w1 & UBOE_CQE_ENTRY, from = UBP_GET(UBOE_CQE_RMT_ID, c.w2);
	std::size_t done = 0;
	char what[100];

	if (!p.queue->done(slot))
		fail("jetty %u: receive %u was not posted", s.id, slot);
	if (UBP_GET(UBOE_CQE_STATUS, c.w0))
		fail("jetty %u: receive with status %u for no reason", s.id,
		     UBP_GET(UBOE_CQE_STATUS, c.w0));
	if (s.um) {
		received_um(n, s, c, slot);
		return;
	}
	auto &in = inbound_[{ s.id, from }];

	if (in.empty() || from - first_jetty >= senders_.size() ||
	    c.rmt_eid[15] != senders_[from - first_jetty].node + 1)
		fail("jetty %u: a message from %u that nobody sent", s.id, from);
	arrival a = std::move(in.front());

	in.pop_front();
	std::snprintf(what, sizeof(what), "jetty %u received request %llu", s.id,
		      (unsigned long long)a.id);
	std::uint32_t want = a.op == UBOE_SQE_WRITE_IMM ? std::uint32_t(UBOE_CQE_RX_WRITE_IMM) :
							  a.op;

	if (UBP_GET(UBOE_CQE_OPCODE, c.w0) != want || c.byte_cnt != a.len)
		fail("%s: code %u, %u bytes instead of %u, %u", what,
		     UBP_GET(UBOE_CQE_OPCODE, c.w0), c.byte_cnt, want, a.len);
	if (a.op != UBOE_SQE_SEND && (c.imm_lo | std::uint64_t(c.imm_hi) << 32) != a.imm)
		fail("%s: wrong immediate", what);
	if (a.op == UBOE_SQE_WRITE_IMM) {
		places_[n].target->expect(a.remote_space->off, a.data->data(), a.len, what);
		return;
	}
	for (const piece &x : p.pieces(slot)) {
		std::size_t k = std::min<std::size_t>(x.len, a.len - done);

		p.memory->expect(x.off, a.data->data() + done, k, what);
		done += k;
	}
}

void messages::received_um(unsigned n, sender &s, const uboe_cqe &c, std::uint32_t slot)
{
	pool &p = *places_[n].receives[1];
	std::uint64_t id = p.memory->load(p.pieces(slot)[0].off, 8);
	auto it = datagrams_.find(id);
	std::size_t done = 0;

	if (it == datagrams_.end())
		fail("jetty %u: an unreliable message that nobody sent", s.id);
	datagram &d = it->second;

	if (d.jetty != s.id || d.to != n || UBP_GET(UBOE_CQE_RMT_ID, c.w2) != d.from ||
	    UBP_GET(UBOE_CQE_OPCODE, c.w0) != d.op || c.byte_cnt != d.data->size() ||
	    (d.op == UBOE_SQE_SEND_IMM && (c.imm_lo | std::uint64_t(c.imm_hi) << 32) != d.imm))
		fail("jetty %u: message %llu is not as it was sent", s.id, (unsigned long long)id);
	if (d.seen && !w_.prof.dup)
		fail("jetty %u: message %llu comes twice", s.id, (unsigned long long)id);
	d.seen = true;
	for (const piece &x : p.pieces(slot)) {
		std::size_t k = std::min<std::size_t>(x.len, d.data->size() - done);

		p.memory->expect(x.off, d.data->data() + done, k, "unreliable message");
		done += k;
	}
}

bool messages::finished() const
{
	for (const sender &s : senders_)
		if (s.left || !s.requests.empty())
			return false;
	for (auto &[who, in] : inbound_)
		if (!in.empty())
			return false;
	return true;
}

std::string messages::pending() const
{
	std::string t;
	char line[200];

	for (const sender &s : senders_) {
		if (!s.left && s.requests.empty())
			continue;
		std::snprintf(line, sizeof(line),
			      "\n# jetty %u of node %u: %u to make, %zu posted from request %llu "
			      "code %02x",
			      s.id, s.node, s.left, s.requests.size(),
			      s.requests.empty() ? 0ull : (unsigned long long)s.requests.front().id,
			      s.requests.empty() ? 0 : s.requests.front().wr.op);
		t += line;
	}
	for (auto &[who, in] : inbound_) {
		if (in.empty())
			continue;
		std::snprintf(line, sizeof(line), "\n# %zu from jetty %u to %u", in.size(),
			      who.second, who.first);
		t += line;
	}
	return t;
}

void messages::final_checks()
{
	for (unsigned n = 0; n < places_.size(); n++)
		drain(n);
	if (!finished())
		fail("not finished in the end%s", pending().c_str());
	for (sender &s : senders_) {
		s.q.reset();
		s.local->check("local memory of a jetty");
		s.local.reset();
	}
	for (unsigned n = 0; n < places_.size(); n++) {
		place &p = places_[n];
		node &h = *w_.nodes[n];

		for (std::uint32_t tpn = 1; tpn < p.next_tpn; tpn++)
			h.destroy(UBOE_MBOX_TP, tpn);
		drain(n);
		for (counter &c : p.counters) {
			std::uint64_t at = c.start;

			std::sort(c.claims.begin(), c.claims.end());
			c.claims.emplace_back(p.counters_mem->load(c.off, c.size), 0);
			for (auto [old, add] : c.claims) {
				if (old != at)
					fail("node %u: an atomic happened twice, or not at all", n);
				at = old + add;
			}
			p.counters_mem->adopt(c.off, c.size);
		}
		for (auto &q : p.receives) {
			if (q->queue->posted() != q->queue->waiting())
				fail("node %u: %u receives were lost", n,
				     q->queue->posted() - q->queue->waiting());
			q->memory->check("receive memory of messages");
			q.reset();
		}
		p.target->check("target of messages");
		p.counters_mem->check("counters of messages");
		p.target.reset();
		p.counters_mem.reset();
		p.completions.reset();
	}
}

} /* namespace ubsim */
