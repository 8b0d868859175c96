// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Traffic management, data path: buckets, arbitration, and who waits for what. */
#include "ubp_tm.h"

#define UBP_TM_QUANTUM 512 /* bytes a round for each unit of weight */
#define UBP_TM_AHEAD 65536u /* bytes that a flow may be granted before it comes for them */
#define UBP_TM_PATIENCE 1000000000ull /* ns; a flow that is woken by others looks itself then */
#define UBP_TM_BURST_NS 1000000u
#define UBP_TM_BATCH 256u /* grants at once */
#define UBP_TM_PROMISED 0x100u /* rank above all priorities */

void ubp_tm_bucket_set(struct ubp_tm_bucket *b, u32 kbps, u32 burst)
{
	memset(b, 0, sizeof(*b));
	if (!kbps)
		return;
	/* a byte at one kilobit a second takes 8,000,000 ns */
	b->cost = ubp_div64(8000000ull << UBP_TM_FRAC, kbps);
	b->burst = burst ? (burst * b->cost) >> UBP_TM_FRAC : UBP_TM_BURST_NS;
}

/* From when on it lets a packet pass */
static u64 ubp_tm_bucket_at(const struct ubp_tm_bucket *b)
{
	return b->cost && b->full > b->burst ? b->full - b->burst : 0;
}

static void ubp_tm_charge(struct ubp_tm_bucket *b, u32 bytes, u64 now)
{
	u64 cost;

	if (!b->cost)
		return;
	if (b->full < now) {
		b->full = now;
		b->frac = 0;
	}
	cost = bytes * b->cost + b->frac;
	b->full += cost >> UBP_TM_FRAC;
	b->frac = (u32)(cost & ((1u << UBP_TM_FRAC) - 1));
}

static void ubp_tm_refund(struct ubp_tm_bucket *b, u32 bytes)
{
	u64 ns = (bytes * b->cost) >> UBP_TM_FRAC;

	b->full -= min_t(u64, ns, b->full);
}

/* Is what it sends now within what it was promised? */
static bool ubp_tm_committed(const struct ubp_tm_node *n, u64 now)
{
	return n->committed.cost && ubp_tm_bucket_at(&n->committed) <= now;
}

static u64 ubp_tm_earliest(const struct ubp_tm_node *n)
{
	u64 at = UBP_TM_NEVER;
	u32 left;

	if (n->level == UBOE_TML_QSET)
		return n->head ? 0 : UBP_TM_NEVER;
	for (left = n->waiting; left; left &= left - 1)
		at = min_t(u64, at, n->kid[ubp_ctz32(left)]->at);
	return at;
}

void ubp_tm_update(struct ubp_tm_node *n)
{
	struct ubp_tm_node *up;

	for (; n; n = up) {
		up = n->parent;
		n->at = max_t(u64, ubp_tm_earliest(n), ubp_tm_bucket_at(&n->peak));
		if (!up)
			continue;
		/* a node whose bucket is empty waits only if somebody waits below it */
		if (n->level == UBOE_TML_QSET ? !!n->head : n->waiting != 0)
			up->waiting |= 1u << n->slot;
		else
			up->waiting &= ~(1u << n->slot);
	}
}

static bool ubp_tm_empty(struct ubp_tm *tm)
{
	return !ubp_tm_port(tm)->waiting;
}

static void ubp_tm_enqueue(struct ubp_tm_flow *f)
{
	struct ubp_tm_node *q = f->queue;

	f->queued = true;
	if (!q->head) {
		f->next = f;
		f->prev = f;
		q->head = f;
	} else {
		f->next = q->head;
		f->prev = q->head->prev;
		f->prev->next = f;
		f->next->prev = f;
	}
	ubp_tm_update(q);
}

static void ubp_tm_dequeue(struct ubp_tm_flow *f)
{
	struct ubp_tm_node *q = f->queue;

	f->queued = false;
	if (f->next == f) {
		q->head = NULL;
	} else {
		f->prev->next = f->next;
		f->next->prev = f->prev;
		if (q->head == f)
			q->head = f->next;
	}
	ubp_tm_update(q);
}

/*
 * Deficit round robin among the children in @set: the one whose turn it is goes on
 * until its deficit is used up. When all are, the next round begins.
 */
static struct ubp_tm_node *ubp_tm_turn(struct ubp_tm_node *n, u32 set)
{
	u32 left, able, after;

	for (;;) {
		able = 0;
		for (left = set; left; left &= left - 1)
			if (n->kid[ubp_ctz32(left)]->deficit > 0)
				able |= left & -left;
		if (able)
			break;
		for (left = set; left; left &= left - 1) {
			struct ubp_tm_node *kid = n->kid[ubp_ctz32(left)];

			kid->deficit += (s64)kid->weight * UBP_TM_QUANTUM;
		}
	}
	after = able & (~0u << n->cursor);
	n->cursor = (u8)ubp_ctz32(after ? after : able);
	return n->kid[n->cursor];
}

/* Those that have not had what they were promised take turns, each within its promise */
static struct ubp_tm_node *ubp_tm_promised(struct ubp_tm_node *n, u32 set)
{
	u32 after = set & (~0u << n->cursor << 1);

	n->cursor = (u8)ubp_ctz32(after ? after : set);
	return n->kid[n->cursor];
}

/*
 * The child that sends next: first those that have not had what they were
 * promised, then by priority, then by weight. There is one that may.
 */
static struct ubp_tm_node *ubp_tm_choose(struct ubp_tm_node *n, u64 now)
{
	struct ubp_tm_node *next;
	u32 left, best = 0, set = 0;

	for (left = n->waiting; left; left &= left - 1) {
		u32 slot = ubp_ctz32(left), rank;
		const struct ubp_tm_node *kid = n->kid[slot];

		if (kid->at > now)
			continue;
		rank = ubp_tm_committed(kid, now) ? UBP_TM_PROMISED : 0;
		rank += kid->prio + 1u;
		if (rank < best)
			continue;
		if (rank > best)
			set = 0;
		best = rank;
		set |= 1u << slot;
	}
	next = best > UBP_TM_PROMISED ? ubp_tm_promised(n, set) : ubp_tm_turn(n, set);
	next->shares = best < UBP_TM_PROMISED;
	return next;
}

static void ubp_tm_pay(struct ubp_tm_node *n, u32 bytes, u64 now, bool turn)
{
	for (; n; n = n->parent) {
		if (ubp_tm_committed(n, now))
			ubp_tm_charge(&n->committed, bytes, now);
		ubp_tm_charge(&n->peak, bytes, now);
		if (turn && n->shares)
			n->deficit -= bytes;
		n->sent += bytes;
	}
}

static void ubp_tm_wake(struct ubp_tm_flow *f)
{
	struct ubp_tm *tm = f->tm;

	f->asleep = false;
	if (tm->clock == f)
		tm->clock = NULL;
	tm->wake(f);
}

static void ubp_tm_grant(struct ubp_tm_node *q, u64 now)
{
	struct ubp_tm_flow *f = q->head;

	q->head = f->next;
	f->credit += f->need;
	ubp_tm_pay(q, f->need, now, true);
	if (f->credit >= UBP_TM_AHEAD)
		ubp_tm_dequeue(f);
	else
		ubp_tm_update(q);
	if (f->asleep)
		ubp_tm_wake(f);
}

/*
 * Give what the buckets hold to those who wait. What is left after a while is for the
 * next who asks: the lock is not held for long, however many wait.
 */
static void ubp_tm_run(struct ubp_tm *tm, u64 now)
{
	struct ubp_tm_node *n;
	u32 left = UBP_TM_BATCH;

	while (left-- && !ubp_tm_empty(tm) && ubp_tm_port(tm)->at <= now) {
		n = ubp_tm_port(tm);
		while (n->level != UBOE_TML_QSET)
			n = ubp_tm_choose(n, now);
		ubp_tm_grant(n, now);
	}
}

/*
 * One of those who sleep has its timer set for all. When the one who had leaves or
 * is awake, the flow that may send first looks at the time. A flow that is awake
 * needs nobody: it will be told to wait, or leave.
 */
void ubp_tm_pass(struct ubp_tm *tm)
{
	struct ubp_tm_node *n = ubp_tm_port(tm);

	if (ubp_tm_empty(tm))
		return;
	while (n->level != UBOE_TML_QSET) {
		struct ubp_tm_node *first = NULL;
		u32 left;

		for (left = n->waiting; left; left &= left - 1) {
			struct ubp_tm_node *kid = n->kid[ubp_ctz32(left)];

			if (!first || kid->at < first->at)
				first = kid;
		}
		n = first;
	}
	if (n->head->asleep)
		ubp_tm_wake(n->head);
}

static void ubp_tm_sleep(struct ubp_tm_flow *f, u64 now)
{
	struct ubp_tm *tm = f->tm;
	u64 at = ubp_tm_port(tm)->at;

	f->asleep = true;
	f->asked = true;
	f->when = now + UBP_TM_PATIENCE;
	if (tm->clock && tm->clock_at <= at)
		return;
	tm->clock = f;
	tm->clock_at = at;
	f->when = at;
}

/* Ask the tree; true when the purse has enough */
static bool ubp_tm_ask_tree(struct ubp_tm_flow *f, u32 bytes, u64 now)
{
	struct ubp_tm *tm = f->tm;

	ubp_lock_inner(&tm->lock);
	f->present = true;
	f->asleep = false;
	if (tm->clock == f)
		tm->clock = NULL;
	f->need = bytes;
	if (f->purse + f->credit < bytes) {
		if (!f->queued)
			ubp_tm_enqueue(f);
		ubp_tm_run(tm, now);
	}
	f->purse += f->credit;
	f->credit = 0;
	if (f->purse < bytes)
		ubp_tm_sleep(f, now);
	ubp_unlock_inner(&tm->lock);
	return f->purse >= bytes;
}

static void ubp_tm_forced(struct ubp_tm_flow *f, u32 bytes, u64 now)
{
	f->force = false;
	if (!f->queue)
		return;
	ubp_lock_inner(&f->tm->lock);
	ubp_tm_pay(f->queue, bytes, now, false);
	ubp_tm_update(f->queue);
	ubp_unlock_inner(&f->tm->lock);
	f->present = true;
	f->purse += bytes;
}

bool ubp_tm_ask(struct ubp_tm_flow *f, u32 bytes, u64 now)
{
	u64 at = ubp_tm_bucket_at(&f->own);

	if (unlikely(f->force)) {
		ubp_tm_forced(f, bytes, now);
	} else if (at > now) {
		/* not in the queue meanwhile, where it would stand in others' way */
		ubp_tm_leave(f);
		f->when = at;
		f->asked = true;
		return false;
	}
	if (f->queue) {
		if (f->purse < bytes && !ubp_tm_ask_tree(f, bytes, now))
			return false;
		f->purse -= bytes;
	}
	ubp_tm_charge(&f->own, bytes, now);
	f->sent += bytes;
	return true;
}

void ubp_tm_back(struct ubp_tm_flow *f, u32 bytes)
{
	ubp_tm_refund(&f->own, bytes);
	f->sent -= bytes;
	if (f->queue)
		f->purse += bytes;
}

/* @done: it has nothing to send; else it comes again at once */
static void ubp_tm_aside(struct ubp_tm_flow *f, bool done)
{
	struct ubp_tm *tm = f->tm;
	struct ubp_tm_node *n;
	u32 left;

	f->when = UBP_TM_NEVER;
	if (!f->present)
		return;
	f->present = false;
	ubp_lock_inner(&tm->lock);
	left = f->purse + f->credit;
	f->purse = 0;
	f->credit = 0;
	f->asleep = false;
	if (tm->clock == f)
		tm->clock = NULL;
	for (n = left ? f->queue : NULL; n; n = n->parent) {
		ubp_tm_refund(&n->peak, left);
		ubp_tm_refund(&n->committed, left);
		n->deficit += n->shares ? left : 0;
		n->sent -= left;
	}
	if (f->queued)
		ubp_tm_dequeue(f);
	else if (left)
		ubp_tm_update(f->queue);
	/* who has nothing to send saves nothing up */
	for (n = f->queue; done && n && n->at == UBP_TM_NEVER; n = n->parent)
		n->deficit = min_t(s64, n->deficit, 0);
	if (!tm->clock || ubp_tm_port(tm)->at < tm->clock_at)
		ubp_tm_pass(tm);
	ubp_unlock_inner(&tm->lock);
}

void ubp_tm_leave(struct ubp_tm_flow *f)
{
	ubp_tm_aside(f, true);
}

void ubp_tm_begin(struct ubp_tm_flow *f)
{
	f->asked = false;
	f->when = UBP_TM_NEVER;
}

void ubp_tm_end(struct ubp_tm_flow *f, bool more)
{
	if (!f->asked)
		ubp_tm_aside(f, !more);
}

void ubp_tm_turn_end(struct ubp_jetty *j, bool more, u64 now)
{
	struct ubp_tm_flow *f = j->tm;

	ubp_tm_end(f, more);
	if (f->when == UBP_TM_NEVER || (f->armed > now && f->armed <= f->when))
		return;
	f->armed = f->when;
	j->dev->ops->jetty_timer(j, f->when);
}
