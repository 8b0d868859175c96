// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Impairment in the device, for tests: what it sends is lost, doubled, delayed,
 * overtaken or damaged with given probabilities. The same seed and the same
 * sequence of packets give the same decisions.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/parser.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include "soft.h"
#include "impair.h"

/* A packet is overtaken by 1..4 others, or goes on after this time */
#define UBOE_REORDER_MAX 4
#define UBOE_REORDER_NS (2 * NSEC_PER_MSEC)
#define UBOE_REORDER_HELD 16
#define UBOE_DELAY_HELD 16384

DEFINE_STATIC_KEY_FALSE(uboe_impair_key);

static char *uboe_impair_text = "";
module_param_named(impair, uboe_impair_text, charp, 0444);
MODULE_PARM_DESC(impair, "impairment of every new device: loss= dup= reorder= corrupt= (1/1000000) delay_us= seed=");

/* What a held packet carries in its control block */
struct uboe_held {
	u64 due;
	u32 after; /* packets that still have to pass */
};

static struct uboe_held *uboe_held(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct uboe_held) > sizeof(skb->cb));
	return (struct uboe_held *)skb->cb;
}

/* xorshift64*: repeatable, which is all that is asked */
static u32 uboe_impair_random(struct uboe_impair *im)
{
	im->rng ^= im->rng >> 12;
	im->rng ^= im->rng << 25;
	im->rng ^= im->rng >> 27;
	return (im->rng * 0x2545f4914f6cdd1dULL) >> 32;
}

/* One draw per kind that is on, whatever came of the others */
static bool uboe_impair_hit(struct uboe_impair *im, u32 chance)
{
	return chance && reciprocal_scale(uboe_impair_random(im), UBOE_IMPAIR_ONE) < chance;
}

static bool uboe_impair_active(const struct uboe_impair_cfg *c)
{
	return c->loss || c->dup || c->reorder || c->corrupt || c->delay_us;
}

/* Flip one bit behind the UDP header, long after the ICRC was computed */
static void uboe_impair_corrupt(struct uboe_impair *im, struct sk_buff *skb)
{
	u32 off = skb_transport_offset(skb) + sizeof(struct udphdr);
	u32 bit;

	if (skb->len <= off)
		return;
	bit = reciprocal_scale(uboe_impair_random(im), (skb->len - off) * 8);
	skb->data[off + bit / 8] ^= 1 << (bit % 8);
	im->stat[UBOE_IS_CORRUPTED]++;
}

static void uboe_impair_arm(struct uboe_impair *im)
{
	struct sk_buff *skb;
	u64 due = U64_MAX;

	skb_queue_walk(&im->reorder, skb)
		due = min(due, uboe_held(skb)->due);
	skb = skb_peek(&im->delay);
	if (skb)
		due = min(due, uboe_held(skb)->due);
	if (due != U64_MAX)
		hrtimer_start(&im->timer, ns_to_ktime(due), HRTIMER_MODE_ABS_SOFT);
}

/* Put the packet into @q for @ns; false: no room, the packet is freed */
static bool uboe_impair_hold(struct uboe_impair *im, struct sk_buff_head *q, u32 max,
			     struct sk_buff *skb, u64 ns, u32 after)
{
	bool fits = skb_queue_len(q) < max;

	/* the route of a packet in flight is only borrowed */
	rcu_read_lock();
	fits = fits && skb_dst_force(skb);
	rcu_read_unlock();
	if (!fits) {
		im->stat[UBOE_IS_OVERFLOW]++;
		kfree_skb(skb);
		return false;
	}
	uboe_held(skb)->due = ktime_get_ns() + ns;
	uboe_held(skb)->after = after;
	__skb_queue_tail(q, skb);
	uboe_impair_arm(im);
	return true;
}

/* Move what is due to @out; @passed: a packet overtakes those in @reorder */
static void uboe_impair_due(struct uboe_impair *im, u64 now, bool passed,
			    struct sk_buff_head *out)
{
	struct sk_buff *skb, *next;

	skb_queue_walk_safe(&im->reorder, skb, next) {
		struct uboe_held *h = uboe_held(skb);

		if (passed && h->after)
			h->after--;
		if (h->after && h->due > now)
			continue;
		__skb_unlink(skb, &im->reorder);
		__skb_queue_tail(out, skb);
	}
	while ((skb = skb_peek(&im->delay)) && uboe_held(skb)->due <= now) {
		__skb_unlink(skb, &im->delay);
		__skb_queue_tail(out, skb);
	}
}

static void uboe_impair_send(struct uboe_impair *im, struct sk_buff_head *out)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(out))) {
		memset(skb->cb, 0, sizeof(skb->cb));
		uboe_tx_out(im->sf, skb);
	}
}

static enum hrtimer_restart uboe_impair_fire(struct hrtimer *t)
{
	struct uboe_impair *im = container_of(t, struct uboe_impair, timer);
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	spin_lock(&im->lock);
	uboe_impair_due(im, ktime_get_ns(), false, &out);
	uboe_impair_arm(im);
	spin_unlock(&im->lock);
	uboe_impair_send(im, &out);
	return HRTIMER_NORESTART;
}

/* Decide on one packet: put what is to be sent now on @out. Lock held. */
static void uboe_impair_one(struct uboe_impair *im, struct sk_buff *skb, struct sk_buff_head *out)
{
	const struct uboe_impair_cfg *c = &im->cfg;
	bool loss = uboe_impair_hit(im, c->loss);
	bool dup = uboe_impair_hit(im, c->dup);
	bool late = uboe_impair_hit(im, c->reorder);
	bool bad = uboe_impair_hit(im, c->corrupt);
	struct sk_buff *copy;

	im->stat[UBOE_IS_PACKETS]++;
	if (loss) {
		im->stat[UBOE_IS_LOST]++;
		kfree_skb(skb);
		return;
	}
	if (dup) {
		copy = skb_copy(skb, GFP_ATOMIC);
		if (copy) {
			im->stat[UBOE_IS_DUPLICATED]++;
			__skb_queue_tail(out, copy);
		}
	}
	if (bad)
		uboe_impair_corrupt(im, skb);
	if (late) {
		if (uboe_impair_hold(im, &im->reorder, UBOE_REORDER_HELD, skb,
				     c->delay_us * NSEC_PER_USEC + UBOE_REORDER_NS,
				     1 + reciprocal_scale(uboe_impair_random(im),
							  UBOE_REORDER_MAX)))
			im->stat[UBOE_IS_REORDERED]++;
		return;
	}
	if (c->delay_us) {
		if (uboe_impair_hold(im, &im->delay, UBOE_DELAY_HELD, skb,
				     c->delay_us * NSEC_PER_USEC, 0))
			im->stat[UBOE_IS_DELAYED]++;
		return;
	}
	__skb_queue_tail(out, skb);
}

/* BHs are off, the core's jetty lock is held. Return: the packet was taken. */
bool uboe_impair(struct uboe_soft *sf, struct sk_buff *skb)
{
	struct uboe_impair *im = sf->impair;
	struct sk_buff_head out;

	if (!READ_ONCE(im->on))
		return false;
	__skb_queue_head_init(&out);
	spin_lock(&im->lock);
	uboe_impair_one(im, skb, &out);
	uboe_impair_due(im, ktime_get_ns(), true, &out);
	spin_unlock(&im->lock);
	uboe_impair_send(im, &out);
	return true;
}

enum uboe_impair_token {
	UBOE_IO_LOSS,
	UBOE_IO_DUP,
	UBOE_IO_REORDER,
	UBOE_IO_CORRUPT,
	UBOE_IO_DELAY,
	UBOE_IO_SEED,
	UBOE_IO_OFF,
	UBOE_IO_ERR,
};

static const match_table_t uboe_impair_options = {
	{ UBOE_IO_LOSS, "loss=%u" },
	{ UBOE_IO_DUP, "dup=%u" },
	{ UBOE_IO_REORDER, "reorder=%u" },
	{ UBOE_IO_CORRUPT, "corrupt=%u" },
	{ UBOE_IO_DELAY, "delay_us=%u" },
	{ UBOE_IO_SEED, "seed=%s" },
	{ UBOE_IO_OFF, "off" },
	{ UBOE_IO_ERR, NULL },
};

static int uboe_impair_option(int token, substring_t *args, struct uboe_impair_cfg *cfg)
{
	u32 *const field[] = { &cfg->loss, &cfg->dup, &cfg->reorder, &cfg->corrupt,
			       &cfg->delay_us };
	u64 v;

	if (token == UBOE_IO_OFF) {
		memset(cfg, 0, offsetof(struct uboe_impair_cfg, seed));
		return 0;
	}
	if (token == UBOE_IO_ERR || match_u64(args, &v))
		return -EINVAL;
	if (token == UBOE_IO_SEED) {
		cfg->seed = v;
		return 0;
	}
	if (v > (token == UBOE_IO_DELAY ? UBOE_IMPAIR_MAX_DELAY_US : UBOE_IMPAIR_ONE))
		return -EINVAL;
	*field[token] = v;
	return 0;
}

int uboe_impair_parse(const char *text, struct uboe_impair_cfg *cfg)
{
	substring_t args[MAX_OPT_ARGS];
	char *copy, *rest, *word;
	int err = 0;

	copy = kstrdup(text, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	rest = copy;
	while (!err && (word = strsep(&rest, " ,\n\t"))) {
		if (*word)
			err = uboe_impair_option(match_token(word, uboe_impair_options, args),
						 args, cfg);
	}
	kfree(copy);
	return err;
}

/* A new configuration starts the generator and the counters afresh */
void uboe_impair_set(struct uboe_impair *im, const struct uboe_impair_cfg *cfg)
{
	bool on = uboe_impair_active(cfg);

	mutex_lock(&im->mutex);
	spin_lock_bh(&im->lock);
	im->cfg = *cfg;
	im->rng = (cfg->seed + 1) * 0x9e3779b97f4a7c15ULL;
	if (!im->rng)
		im->rng = 1; /* 0 is the generator's dead state */
	memset(im->stat, 0, sizeof(im->stat));
	spin_unlock_bh(&im->lock);
	if (on && !im->on)
		static_branch_inc(&uboe_impair_key);
	if (!on && im->on)
		static_branch_dec(&uboe_impair_key);
	WRITE_ONCE(im->on, on);
	mutex_unlock(&im->mutex);
}

int uboe_impair_init(struct uboe_soft *sf)
{
	struct uboe_impair_cfg cfg = { .seed = 1 };
	struct uboe_impair *im;
	int err;

	err = uboe_impair_parse(uboe_impair_text, &cfg);
	if (err) {
		pr_err("uboe: module parameter impair is not understood\n");
		return err;
	}
	im = kzalloc(sizeof(*im), GFP_KERNEL);
	if (!im)
		return -ENOMEM;
	im->sf = sf;
	mutex_init(&im->mutex);
	spin_lock_init(&im->lock);
	__skb_queue_head_init(&im->reorder);
	__skb_queue_head_init(&im->delay);
	hrtimer_init(&im->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	im->timer.function = uboe_impair_fire;
	sf->impair = im;
	uboe_impair_set(im, &cfg);
	return 0;
}

/* No packet is sent any more: drop what is held */
void uboe_impair_stop(struct uboe_soft *sf)
{
	struct uboe_impair_cfg none = {};
	struct uboe_impair *im = sf->impair;

	uboe_impair_set(im, &none);
	hrtimer_cancel(&im->timer);
	__skb_queue_purge(&im->reorder);
	__skb_queue_purge(&im->delay);
}

void uboe_impair_free(struct uboe_soft *sf)
{
	if (!sf->impair)
		return;
	mutex_destroy(&sf->impair->mutex);
	kfree(sf->impair);
	sf->impair = NULL;
}
