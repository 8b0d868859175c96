/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Impairment of what a device sends: configuration and state. */
#ifndef UBOE_IMPAIR_H
#define UBOE_IMPAIR_H

#include <linux/hrtimer.h>
#include <linux/skbuff.h>

#define UBOE_IMPAIR_ONE 1000000u /* unit of the probabilities */
#define UBOE_IMPAIR_MAX_DELAY_US 10000000u

/* Probabilities in 1/1,000,000 per packet */
struct uboe_impair_cfg {
	u32 loss;
	u32 dup;
	u32 reorder;
	u32 corrupt;
	u32 delay_us;
	u64 seed;
};

enum uboe_impair_stat {
	UBOE_IS_PACKETS,
	UBOE_IS_LOST,
	UBOE_IS_DUPLICATED,
	UBOE_IS_REORDERED,
	UBOE_IS_CORRUPTED,
	UBOE_IS_DELAYED,
	UBOE_IS_OVERFLOW, /* lost for want of room or memory while held */
	UBOE_IS_MAX,
};

/**
 * struct uboe_impair - a device's impairment
 * @mutex: serialises configuration; guards @on
 * @on: holds a count of uboe_impair_key
 * @lock: guards all below it
 * @rng: state of the generator
 * @reorder: packets held until others have passed; few
 * @delay: packets held for cfg.delay_us, in order of their time
 * @timer: releases from both
 */
struct uboe_impair {
	struct uboe_soft *sf;
	struct mutex mutex; /* guards @on */
	bool on;

	spinlock_t lock; /* guards what follows */
	struct uboe_impair_cfg cfg;
	u64 rng;
	struct sk_buff_head reorder;
	struct sk_buff_head delay;
	struct hrtimer timer;
	u64 stat[UBOE_IS_MAX];
};

/* Parse "loss=N dup=N reorder=N corrupt=N delay_us=N seed=N", any subset, or "off" */
int uboe_impair_parse(const char *text, struct uboe_impair_cfg *cfg);
void uboe_impair_set(struct uboe_impair *im, const struct uboe_impair_cfg *cfg);

#endif /* UBOE_IMPAIR_H */
