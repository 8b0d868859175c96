// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The oracle: what each completion must say, and what must be in memory then. */
#include "traffic.hpp"

#include <algorithm>

namespace ubsim
{

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

	std::snprintf(what, sizeof(what), "connection %u/%u op %llu code %02x", s.conn->index,
		      s.which, (unsigned long long)o.id, o.wr.op);
	if (o.must_fail)
		fail("%s: success, but it had to fail", what);
	completed_++;
	if (o.count) {
		o.count->claims.emplace_back(s.local->load(o.local[0].off, o.len),
					     std::uint64_t(o.wr.swap));
		s.local->adopt(o.local[0].off, o.len);
	} else if (o.excl) {
		if (o.wr.op != UBOE_SQE_STORE) /* it brings nothing */
			s.local->expect(o.local[0].off, &o.before, o.len, what);
		o.excl->known = o.after;
	} else if (is_write(o)) {
		s.peer->target->expect(o.remote_off, o.data->data(), o.len, what);
		if (stores_behind(o))
			s.peer->target->expect(o.behind_off,
					       reinterpret_cast<const std::uint8_t *>(&o.behind),
					       notify_len, what);
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
		o.count->unknown += std::uint64_t(o.wr.swap);
		s.local->adopt(o.local[0].off, o.len);
	} else if (o.excl) {
		s.local->either(o.local[0].off, &o.before, o.len, "result of a broken atomic");
	} else if (is_write(o)) {
		s.peer->target->either(o.remote_off, o.data->data(), o.len, "broken Write");
		if (stores_behind(o))
			s.peer->target->either(o.behind_off,
					       reinterpret_cast<const std::uint8_t *>(&o.behind),
					       notify_len, "broken notification");
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
			fail("connection %u/%u: status %u/%u for no reason%s%s", k.index, s.which,
			     status, UBP_GET(UBOE_CQE_SUBSTATUS, c.w0), inside(s).c_str(),
			     inside(*s.peer).c_str());
		break_down(k, "RNR");
	}
	for (;;) {
		if (s.ops.empty())
			fail("connection %u/%u: completion of nothing, entry %x", k.index, s.which,
			     entry);
		op o = std::move(s.ops.front());
		bool it = std::uint16_t(o.end - 1) == entry;

		s.ops.pop_front();
		s.q->retire(o.end);
		if (!it) {
			if (o.wr.signaled || s.error_seen)
				fail("connection %u/%u: op %llu has no completion", k.index,
				     s.which, (unsigned long long)o.id);
			op_done(s, o);
			continue;
		}
		if (!status) {
			if (s.error_seen)
				fail("connection %u/%u: success after an error", k.index, s.which);
			if (!o.wr.signaled)
				fail("connection %u/%u: op %llu wanted no completion", k.index,
				     s.which, (unsigned long long)o.id);
			op_done(s, o);
			return;
		}
		if (s.error_seen != (status == UBOE_CQE_FLUSH) && (s.error_seen || !s.may_flush))
			fail("connection %u/%u: status %u, %s", k.index, s.which, status,
			     s.error_seen ? "not the first error" : "but nothing failed before");
		/* with limited RNR retries it may have broken before, and nobody looked yet */
		bool rnr = s.jopt.rnr_retry != 7 || s.peer->jopt.rnr_retry != 7;

		if (o.must_fail && status != o.must_fail && !s.error_seen && k.cause[0] == 'b' &&
		    !(rnr && (status == UBOE_CQE_RNR_EXC || status == UBOE_CQE_ACK_TIMEOUT)))
			fail("connection %u/%u: status %u instead of %u", k.index, s.which, status,
			     o.must_fail);
		s.error_seen = true;
		s.failed.push_back(std::move(o));
		return;
	}
}

/* Does this message belong into its completion? */
static bool in_completion(const side &s, const arrival &a)
{
	return s.rx->flags() & UBOE_JFC_INLINE && a.op != UBOE_SQE_WRITE_IMM && a.len &&
	       a.len <= (a.op == UBOE_SQE_SEND ? UBOE_MAX_CQE_INLINE : UBOE_MAX_CQE_INLINE_IMM);
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
	std::uint32_t want = a.op == UBOE_SQE_WRITE_IMM ? std::uint32_t(UBOE_CQE_RX_WRITE_IMM) :
							  a.op;

	if (code != want || c.byte_cnt != a.len)
		fail("%s: code %u, %u bytes instead of %u, %u", what, code, c.byte_cnt, want,
		     a.len);
	if (in_completion(s, a) != bool(c.w0 & UBOE_CQE_INLINE))
		fail("%s: the data are in the wrong place", what);
	if (c.w0 & UBOE_CQE_INLINE) { /* and not in the buffer, whose model says so */
		const void *at = a.op == UBOE_SQE_SEND ? static_cast<const void *>(&c.imm_lo) :
							 static_cast<const void *>(c.inline_data);

		if (std::memcmp(at, a.data->data(), a.len))
			fail("%s: wrong data in the completion", what);
	}
	if (a.op != UBOE_SQE_SEND && (c.imm_lo | std::uint64_t(c.imm_hi) << 32) != a.imm)
		fail("%s: wrong immediate", what);
	if (a.op == UBOE_SQE_WRITE_IMM) {
		s.target->expect(a.remote_space->off, a.data->data(), a.len, what);
		return;
	}
	if (c.w0 & UBOE_CQE_INLINE)
		return;
	for (const piece &p : s.recv->pieces(slot)) {
		std::size_t n = std::min<std::size_t>(p.len, a.len - done);

		s.recv->memory->expect(p.off, a.data->data() + done, n, what);
		done += n;
	}
}

void traffic::want_feed(unsigned n, pool &p)
{
	std::uint64_t delay = w_.prof.late_receives ? r_.scaled(10 * us, 5 * ms) :
						      r_.scaled(100, 20 * us);
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

} /* namespace ubsim */
