// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Engine turns that the core asks for: one bit per jetty, one tasklet per CPU.
 *
 * A jetty is named by its number and looked up when its turn comes, so it may be
 * destroyed at any time. Any CPU's tasklet takes any jetty, one at a time: a busy
 * device spreads over the CPUs that work on it. The tasklet of the CPU that set a
 * bit is scheduled after it, which means no bit is left behind.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>
#include "soft.h"

#define UBOE_AGAIN_NS (200 * NSEC_PER_USEC)

/* A word's summary bit goes off when the word is empty; a late setter puts it on again */
static void uboe_kick_word_empty(struct uboe_soft *sf, u32 w)
{
	clear_bit(w, sf->kick_sum);
	smp_mb__after_atomic(); /* pairs with the one in uboe_engine_later() */
	if (!READ_ONCE(sf->kick[w]))
		return;
	/* its setter's tasklet may have run while the summary bit was off */
	set_bit(w, sf->kick_sum);
	tasklet_schedule(this_cpu_ptr(&sf->cpu->engine));
}

/* Serve the jetties of numbers [from, to) that are due now */
static void uboe_engine_span(struct uboe_soft_cpu *cpu, u32 from, u32 to)
{
	struct uboe_soft *sf = cpu->sf;
	unsigned long bits;
	u32 id, w;

	for (w = from / BITS_PER_LONG; w * BITS_PER_LONG < to; w++, from = w * BITS_PER_LONG) {
		w = find_next_bit(sf->kick_sum, sf->kick_words, w);
		if (w >= sf->kick_words || w * BITS_PER_LONG >= to)
			return;
		from = max_t(u32, from, w * BITS_PER_LONG);
		bits = READ_ONCE(sf->kick[w]);
		if (!bits)
			uboe_kick_word_empty(sf, w);
		bits &= ~0UL << (from % BITS_PER_LONG);
		for_each_set_bit(id, &bits, BITS_PER_LONG) {
			u32 nr = w * BITS_PER_LONG + id;

			if (nr >= to)
				return;
			if (!test_and_clear_bit(nr, sf->kick))
				continue;
			cpu->cursor = nr + 1;
			ubp_kick_id(&sf->ud->core, nr);
		}
	}
}

static void uboe_engine_run(struct tasklet_struct *t)
{
	struct uboe_soft_cpu *cpu = from_tasklet(cpu, t, engine);
	u32 start = cpu->cursor;

	rcu_read_lock();
	uboe_engine_span(cpu, start, U32_MAX);
	uboe_engine_span(cpu, 0, start);
	rcu_read_unlock();
}

static enum hrtimer_restart uboe_engine_again(struct hrtimer *t)
{
	struct uboe_soft *sf = container_of(t, struct uboe_soft, again);

	tasklet_schedule(this_cpu_ptr(&sf->cpu->engine));
	return HRTIMER_NORESTART;
}

/* Nobody says when there is room for a message without a channel: not at once */
static void uboe_engine_put_off(struct uboe_soft *sf)
{
	__this_cpu_write(sf->cpu->put_off, false);
	if (!hrtimer_active(&sf->again))
		hrtimer_start(&sf->again, ns_to_ktime(UBOE_AGAIN_NS), HRTIMER_MODE_REL_SOFT);
}

/* ops->engine_later; softirqs are off */
void uboe_engine_later(struct ubp_jetty *jetty)
{
	struct uboe_soft *sf = uboe_soft_of(ubp_jetty_dev(jetty));
	u32 id = ubp_jetty_id(jetty);
	u32 w = id / BITS_PER_LONG;

	if (WARN_ON_ONCE(w >= sf->kick_words))
		return;
	set_bit(id, sf->kick);
	smp_mb__after_atomic(); /* pairs with the one in uboe_kick_word_empty() */
	if (!test_bit(w, sf->kick_sum))
		set_bit(w, sf->kick_sum);
	if (unlikely(__this_cpu_read(sf->cpu->put_off)))
		uboe_engine_put_off(sf);
	else
		tasklet_schedule(this_cpu_ptr(&sf->cpu->engine));
}

int uboe_engine_init(struct uboe_soft *sf, u32 jetties)
{
	int cpu;

	sf->kick_words = BITS_TO_LONGS(jetties);
	sf->kick = kvcalloc(sf->kick_words, sizeof(long), GFP_KERNEL);
	sf->kick_sum = bitmap_zalloc(sf->kick_words, GFP_KERNEL);
	if (!sf->kick || !sf->kick_sum) {
		uboe_engine_free(sf);
		return -ENOMEM;
	}
	hrtimer_init(&sf->again, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	sf->again.function = uboe_engine_again;
	for_each_possible_cpu(cpu) {
		struct uboe_soft_cpu *c = per_cpu_ptr(sf->cpu, cpu);

		c->sf = sf;
		tasklet_setup(&c->engine, uboe_engine_run);
	}
	return 0;
}

/* No engine turn after it; all jetties are gone */
void uboe_engine_stop(struct uboe_soft *sf)
{
	int cpu;

	hrtimer_cancel(&sf->again);
	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu_ptr(sf->cpu, cpu)->engine);
}

void uboe_engine_free(struct uboe_soft *sf)
{
	kvfree(sf->kick);
	bitmap_free(sf->kick_sum);
	sf->kick = NULL;
	sf->kick_sum = NULL;
}
