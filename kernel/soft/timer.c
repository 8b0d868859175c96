// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A channel's home part, and its timer.
 *
 * The core asks for a new time with almost every packet, mostly a later one.
 * The hrtimer is programmed only when it is idle or would fire too late; when it
 * fires early the core looks at its clock and asks again.
 */
#include <linux/slab.h>
#include "soft.h"
#include "trace.h"

/* Slack for the clock event hardware: far below any protocol delay */
#define UBOE_TIMER_SLACK_NS 2000

static enum hrtimer_restart uboe_timer_fire(struct hrtimer *t)
{
	struct uboe_chan *chan = container_of(t, struct uboe_chan, timer);

	/* Before the core takes its lock: who holds it after us programs the timer again */
	WRITE_ONCE(chan->armed, false);
	trace_uboe_timer(chan->sf->ndev, chan->tp, chan->at);
	ubp_timer(chan->tp);
	return HRTIMER_NORESTART;
}

/* ops->timer: the core's jetty lock is held */
void uboe_timer(struct ubp_tp *tp, u64 when)
{
	struct uboe_chan *chan = ubp_tp_home(tp);

	if (unlikely(!chan))
		return;
	if (READ_ONCE(chan->armed) && chan->at <= when)
		return;
	chan->at = when;
	WRITE_ONCE(chan->armed, true);
	spin_lock(&chan->lock);
	if (!chan->dead)
		hrtimer_start_range_ns(&chan->timer, ns_to_ktime(when), UBOE_TIMER_SLACK_NS,
				       HRTIMER_MODE_ABS_SOFT);
	spin_unlock(&chan->lock);
}

static void uboe_chan_kill(struct uboe_chan *chan)
{
	spin_lock_bh(&chan->lock);
	WRITE_ONCE(chan->dead, true);
	spin_unlock_bh(&chan->lock);
	uboe_tx_unwait(chan);
	hrtimer_cancel(&chan->timer);
}

/* ops->timer_cancel: the channel is being destroyed */
void uboe_timer_cancel(struct ubp_tp *tp)
{
	struct uboe_chan *chan = ubp_tp_home(tp);

	if (chan)
		uboe_chan_kill(chan);
}

int uboe_chan_attach(struct uboe_soft *sf, struct ubp_tp *tp)
{
	struct uboe_chan *chan;

	chan = kzalloc(sizeof(*chan), GFP_KERNEL);
	if (!chan)
		return -ENOMEM;
	chan->sf = sf;
	chan->tp = tp;
	spin_lock_init(&chan->lock);
	INIT_LIST_HEAD(&chan->wait);
	hrtimer_init(&chan->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	chan->timer.function = uboe_timer_fire;
	ubp_tp_set_home(tp, chan);
	return 0;
}

/* The core knows the channel no more; readers that found it before still run */
void uboe_chan_detach(struct ubp_tp *tp)
{
	struct uboe_chan *chan = ubp_tp_home(tp);

	uboe_chan_kill(chan);
	kfree_rcu(chan, rcu);
}
