/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Traffic management: who may send when (docs/decisions/0022).
 *
 * A tree of five levels: queue and queue set (one to one), function, function
 * group, port. Each node limits what passes through it by a token bucket, and
 * chooses among its children by strict priority, and by deficit round robin
 * among those of one priority. A flow, which is a jetty, may have a bucket of
 * its own, a queue of the tree, or both.
 *
 * A flow asks for each packet and is told to send, or to wait until a time or
 * until it is woken. Time is always an argument; nothing here sleeps or
 * allocates. Flows without a queue take no lock of this file.
 */
#ifndef UBP_TM_H
#define UBP_TM_H

#include "ubp_obj.h"

#define UBP_TM_NEVER (~0ull)

#define UBP_TM_PORTS 1u
#define UBP_TM_NODES (UBP_TM_PORTS + UBOE_TM_GROUPS + UBOE_TM_FUNCTIONS + UBOE_TM_QSETS)
#define UBP_TM_FAN 32u /* children of a node at most; fewer at most levels */
#define UBP_TM_VLS UBP_VLS

/**
 * struct ubp_tm_bucket - token bucket, kept as time
 * @cost: of a byte, in units of 2^-20 ns; 0: no limit
 * @burst: how long its content lasts at its own rate, ns
 * @full, @frac: when it will be full again, ns and units of 2^-20 ns
 *
 * A packet passes while anything is left, and may take the bucket below zero: no
 * packet is too long for a bucket, and the rate in the long run is exact. Costs
 * are multiplied and not divided, so that the data path needs no division.
 */
struct ubp_tm_bucket {
	u64 cost;
	u64 burst;
	u64 full;
	u32 frac;
};

#define UBP_TM_FRAC 20

struct ubp_tm_flow;

/**
 * struct ubp_tm_node - port, group, function or queue set with its queue
 * @at: from when something below it may be sent, UBP_TM_NEVER: nobody waits there
 * @deficit: bytes that it may send in this round
 * @kids, @waiting: slots of children that exist, and that have somebody waiting
 * @slot: its own slot in its parent
 * @head: queue set: ring of the flows that wait, in the order of their turns
 */
struct ubp_tm_node {
	struct ubp_tm_node *parent;
	struct ubp_tm_node *kid[UBP_TM_FAN];
	u64 at;
	struct ubp_tm_bucket peak;
	struct ubp_tm_bucket committed;
	s64 deficit;
	u64 sent;
	u32 kids;
	u32 waiting;
	u32 users; /* flows of the queue set, waiting or not */
	u16 weight;
	u8 prio;
	u8 level; /* enum uboe_tm_level; 0: does not exist */
	u8 slot;
	u8 cursor; /* slot whose turn it is */
	u8 vl;
	bool shares; /* its last grant counts in the round robin */
	u8 sl_vl[UBP_TM_VLS];
	u32 peak_kbps;
	u32 peak_burst;
	u32 committed_kbps;
	u32 committed_burst;
	struct ubp_tm_flow *head;
};

/**
 * struct ubp_tm - the tree of a device's port
 * @lock: guards all nodes and the parts of flows that say so; inner lock below
 *	that of a jetty. Taken by flows that have a queue, by no other traffic.
 * @clock: the sleeping flow whose timer is set to the next time at which anybody
 *	may send; NULL: a flow that is awake sees to it
 * @wake: flow @f may have been allowed to send: it is to ask again, soon
 */
struct ubp_tm {
	struct ubp_dev *dev;
	ubp_lock_t lock;
	struct ubp_tm_flow *clock;
	u64 clock_at;
	void (*wake)(struct ubp_tm_flow *f);
	struct ubp_tm_node node[UBP_TM_NODES];
};

/**
 * struct ubp_tm_flow - a jetty whose packets are managed
 * @own: its own bucket
 * @when: when to ask again, UBP_TM_NEVER: not waiting
 * @purse: bytes that it was allowed to send and has not sent
 * @asked: it has been told to wait since ubp_tm_begin()
 * @present: the tree knows something of it
 * @armed: when the home will kick it, for jetties without a channel
 * @force: the next packet is sent whatever the buckets hold
 * The above: guarded by whoever serialises the flow, the jetty's lock.
 *
 * @queue: queue set, NULL: none; constant
 * @credit: bytes granted, not fetched yet
 * @need: length of the packet that it wants to send
 * The rest: guarded by the tree's lock.
 */
struct ubp_tm_flow {
	struct ubp_tm *tm;
	void *home;
	struct ubp_tm_bucket own;
	u32 own_kbps;
	u32 own_burst;
	u64 sent;
	u64 when;
	u64 armed;
	u32 purse;
	bool asked;
	bool present;
	bool force;

	struct ubp_tm_node *queue;
	struct ubp_tm_flow *next;
	struct ubp_tm_flow *prev;
	u32 credit;
	u32 need;
	bool queued;
	bool asleep;
};

/* Bucket of @kbps, 0: no limit; @burst bytes, 0: what it gets in a millisecond. Full. */
void ubp_tm_bucket_set(struct ubp_tm_bucket *b, u32 kbps, u32 burst);

static inline struct ubp_tm_node *ubp_tm_port(struct ubp_tm *tm)
{
	return &tm->node[0];
}

/* ubp_tm.c: the data path */

/**
 * ubp_tm_ask - may a packet of @bytes be sent now?
 *
 * Return: true: it has been paid for, send it. False: @f->when says when to ask
 * again; ubp_tm.wake may come earlier.
 */
bool ubp_tm_ask(struct ubp_tm_flow *f, u32 bytes, u64 now);
/* A packet that was paid for could not be sent */
void ubp_tm_back(struct ubp_tm_flow *f, u32 bytes);
/*
 * Around one turn of a sender: who has not been told to wait since, leaves the tree.
 * @more: only its time was over, it has more to send
 */
void ubp_tm_begin(struct ubp_tm_flow *f);
void ubp_tm_end(struct ubp_tm_flow *f, bool more);
/* The same for a jetty without a channel, whose home kicks it when its time has come */
void ubp_tm_turn_end(struct ubp_jetty *j, bool more, u64 now);
/* It wants nothing any more, and gives back what it was allowed to send */
void ubp_tm_leave(struct ubp_tm_flow *f);
/* The times of a subtree have changed. Lock held */
void ubp_tm_update(struct ubp_tm_node *n);
/* Somebody who waits looks at the clock anew. Lock held */
void ubp_tm_pass(struct ubp_tm *tm);

/* ubp_tm_conf.c: the control path */
int ubp_tm_create(struct ubp_dev *dev, u32 tag, const struct uboe_tm_ctx *ctx);
int ubp_tm_modify(struct ubp_dev *dev, u32 tag, const struct uboe_tm_ctx *ctx, u32 mask);
int ubp_tm_query(struct ubp_dev *dev, u32 tag, struct uboe_tm_ctx *ctx);
int ubp_tm_destroy(struct ubp_dev *dev, u32 tag);
/* A jetty ends: its flow does, too. Jetty's lock held */
void ubp_tm_unbind(struct ubp_jetty *j);
void ubp_tm_exit(struct ubp_dev *dev);

#endif /* UBP_TM_H */
