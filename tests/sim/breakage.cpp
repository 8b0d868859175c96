// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Connections that are broken on purpose, and what may be left of their work. */
#include "traffic.hpp"

#include <algorithm>

extern "C" {
#include "ubp_ta.h"
}

namespace ubsim
{

void traffic::break_down(connection &c, const char *cause)
{
	c.state = health::dying;
	c.cause = cause;
	w_.first_lives = false;
	c.patience = 100 * us;
	w_.note("%u - %u: connection %u breaks: %s", c.s[0].n->index(), c.s[1].n->index(), c.index,
		cause);
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
			w_.at(r_.scaled(1, 20 * ms), act::user, s.n->index(), c.index, s.which,
			      revive);
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
			wide v = m.load_wide(x.off, x.size);
			bool known = v == x.known;

			for (const op &o : s.failed)
				known |= o.excl == &x && o.after == v;
			if (!known)
				fail("connection %u/%u: impossible value of an atomic word",
				     c.index, s.which);
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
	w_.note("%u: connection %u opens jetty %u (%06x)", s.n->index(), c.index, s.id,
		UB_TPN_RC(s.id));
	if (c.state != health::down || !s.peer->fresh)
		return;
	c.state = health::alive;
	for (side &x : c.s) {
		x.fresh = false;
		want_post(x, r_.scaled(1, 2 * ms));
	}
}

} /* namespace ubsim */
