/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A tree of the traffic management in virtual time, with senders that always want more. */
#ifndef UBOE_TESTS_UNIT_CORE_TM_RIG_HPP
#define UBOE_TESTS_UNIT_CORE_TM_RIG_HPP

#include <algorithm>
#include <list>

#include "host.hpp"
#include "rng.hpp"

extern "C" {
#include "ubp_tm.h"
}

namespace shaping
{

constexpr std::uint64_t us = 1000, ms = 1000 * us, sec = 1000 * ms;
constexpr std::uint64_t never = UBP_TM_NEVER;

/* Times at which a byte at a rate is through, ns */
inline double ns_of(double bytes, double kbps)
{
	return bytes * 8e6 / kbps;
}

struct node_options {
	std::uint8_t prio = 0;
	std::uint16_t weight = 1;
	std::uint32_t peak = 0; /* kb/s */
	std::uint32_t committed = 0;
	std::uint32_t peak_burst = 0;
	std::uint32_t committed_burst = 0;
	std::uint8_t vl = 0;
};

/* A sender: wants to send packets of @size from @from until @until */
struct sender {
	ubp_tm_flow f{};
	std::uint32_t size = 1500;
	std::uint64_t from = 0;
	std::uint64_t until = never;
	std::uint64_t left = never; /* packets that it wants to send */
	std::uint64_t sent = 0; /* bytes */
	std::uint64_t last = 0; /* when the last packet left */
	std::uint64_t next = 0; /* when it looks again */
	bool waits = false;
};

class tree
{
      public:
	explicit tree(std::uint32_t port_kbps = 0, std::uint32_t burst = 0)
	{
		node(UBOE_TML_PORT, 0, 0, { .peak = port_kbps, .peak_burst = burst });
		h.dev()->tm->wake = [](ubp_tm_flow *f) {
			tree *t = static_cast<tree *>(f->home);

			t->of(f).next = t->now + t->late();
			t->wakes++;
		};
	}

	~tree()
	{
		for (sender &s : senders)
			ubp_tm_leave(&s.f);
	}

	static uboe_tm_ctx context(std::uint32_t level, std::uint32_t parent, const node_options &o)
	{
		uboe_tm_ctx c{};

		c.prio = o.prio;
		c.weight = level == UBOE_TML_PORT || level == UBOE_TML_JETTY ? 0 : o.weight;
		c.vl = o.vl;
		c.parent = parent;
		c.peak_kbps = o.peak;
		c.peak_burst = o.peak_burst;
		c.committed_kbps = o.committed;
		c.committed_burst = o.committed_burst;
		return c;
	}

	int node(std::uint32_t level, std::uint32_t number, std::uint32_t parent,
		 const node_options &o = {})
	{
		return h.create(UBOE_MBOX_TM, UBOE_TM_TAG(level, number),
				context(level, parent, o));
	}

	ubp_tm_node *port() { return ubp_tm_port(h.dev()->tm); }
	ubp_tm_node *qset(unsigned n)
	{
		return h.dev()->tm->node + (UBP_TM_PORTS + UBOE_TM_GROUPS + UBOE_TM_FUNCTIONS + n);
	}

	/* @number: of its queue set, or -1 */
	sender &add(int number, std::uint32_t own_kbps = 0)
	{
		sender &s = senders.emplace_back();

		s.f.tm = h.dev()->tm;
		s.f.home = this;
		s.f.queue = number < 0 ? nullptr : qset(unsigned(number));
		s.f.when = never;
		ubp_tm_bucket_set(&s.f.own, own_kbps, 0);
		return s;
	}

	/* Everything that happens until @end */
	void run(std::uint64_t end)
	{
		for (;;) {
			sender *s = nullptr;

			for (sender &c : senders) {
				c.next = c.next < c.from ? c.from : c.next;
				if (!s || c.next < s->next)
					s = &c;
			}
			/* who waits in the tree is looked after */
			if (port()->waiting &&
			    (!s || s->next > std::max(port()->at, now) + lateness))
				stalls++;
			if (!s || s->next > end)
				break;
			now = std::max(now, s->next);
			turn(*s);
		}
		now = end;
	}

	sender &of(const ubp_tm_flow *f)
	{
		for (sender &s : senders)
			if (&s.f == f)
				return s;
		std::abort();
	}

	ubsim::host h;
	std::list<sender> senders;
	std::uint64_t now = 0;
	std::uint64_t lateness = 0; /* of timers and of those that are woken */
	std::uint64_t wakes = 0;
	std::uint64_t asks = 0;
	std::uint64_t stalls = 0;
	ubsim::rng random{ 1 };

      private:
	std::uint64_t late() { return lateness ? random.below(lateness + 1) : 0; }

	/* As a channel does it: a budget of packets, then others have their turns */
	void turn(sender &s)
	{
		s.next = never;
		s.waits = false;
		ubp_tm_begin(&s.f);
		for (unsigned budget = 64; s.left && now < s.until; budget--) {
			if (!budget) {
				s.next = now;
				break;
			}
			asks++;
			if (!ubp_tm_ask(&s.f, s.size, now)) {
				s.waits = true;
				s.next = s.f.when + late();
				break;
			}
			s.sent += s.size;
			s.left -= s.left != never;
			s.last = now;
		}
		ubp_tm_end(&s.f, s.next == now);
	}
};

} /* namespace shaping */

#endif
