/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Objects that mailbox commands create: queues and their parts. Core-internal. */
#ifndef UBP_OBJ_H
#define UBP_OBJ_H

#include <ub/uboe_mbox.h>

#include "ubp.h"

struct ubp_ini;
struct ubp_rm;
struct ubp_um;
struct ubp_jgrp;
struct ubp_rce;
struct ubp_tm_flow;
struct ubp_lockbuf;
struct ubp_sqe;

/*
 * Ring, record or page that a context names; they begin at multiples of a basic block, which
 * every access to them relies on. NULL: not in one arena, or not there
 */
static inline void *ubp_ring_map(struct ubp_dev *dev, u64 bus, u64 len)
{
	return bus & (UBOE_BB - 1) ? NULL : dev->ops->bus_map(dev, bus, len);
}

/**
 * struct ubp_jfc - completion queue
 * @lock: guards all below it and the ring; inner lock
 * @held: completions since @held_arm was seen whose event is held back (moderation)
 * @due: when that event is due by time, UBP_JFC_NEVER: only by number
 * @timer_on: the home will call ubp_jfc_timer(); @want_timer: it has to be asked to
 * @users: queues that complete here; guarded by the command serialisation
 */
struct ubp_jfc {
	struct ubp_dev *dev;
	u32 id;
	u32 shift;
	u32 mask;
	u32 users;
	u8 flags; /* UBOE_JFC_* */
	struct uboe_cqe *ring;
	struct uboe_jfc_rec *rec;
	void *home;
	ubp_lock_t lock;
	u32 pi;
	u32 arm_seen;
	bool overflow;
	bool timer_on;
	bool want_timer;
	u16 moderate_count;
	u16 moderate_period;
	u32 held;
	u32 held_arm;
	u64 due;
};

#define UBP_JFC_NEVER (~0ull)

/* A completion, before it becomes a CQE */
struct ubp_comp {
	u8 status;
	u8 sub;
	u8 opcode; /* receive: enum uboe_cqe_rx_opcode */
	bool recv;
	bool solicited;
	bool flush_done; /* not a completion: the marker after a flush */
	const u8 *inl; /* @bytes that go into the CQE instead of a buffer, or NULL */
	const struct ubp_rqe *rqe; /* receive: more than one is a CQE for each; or NULL */
	u16 entry;
	u32 bytes;
	u64 imm;
	const struct ubp_jfr *jfr; /* of a message that named a JFR: who completes */
	const u8 *rmt_eid; /* who sent it, where the jetty has no peer; else NULL */
	u32 rmt_id;
	u32 tpn;
};

/* One SGE, in host order, not yet checked against its segment */
struct ubp_sge {
	u64 va;
	u32 len;
	u32 token;
};

/*
 * What a message has taken from a JFR, a private copy: one RQE, or up to
 * UBOE_MAX_RQES buffers of (1 << @buf_shift) bytes
 */
struct ubp_rqe {
	u32 n;
	u32 buf_shift;
	u32 slot[UBOE_MAX_RQES];
	u32 nsge;
	u64 total;
	struct ubp_sge sge[UBOE_MAX_RQES * UBOE_MAX_RQ_SGE];
};

/**
 * struct ubp_jfr - receive queue
 * @lock: guards @ci, @limit, @nback, @back and the index ring; inner lock
 * @dead: from before a reset: what arrives gets no receive any more. Set for good, under
 *	@target_lock
 * @users: jetties that receive from it
 * @jfc, @token, @user: of messages that name it as their target, see @flags
 * @target_lock: of such a message what a jetty's lock is of others: held from taking
 *	a receive to its completion, outside @lock; guards @gone
 * @gone: destroyed: nothing is received any more
 * @buf_shift: its RQEs are buffers of this size; 0: of any
 * @back: slots of messages that could not have as many as they needed, the next one
 *	last; none without @buf_shift
 */
struct ubp_jfr {
	struct ubp_dev *dev;
	u32 id;
	u32 shift;
	u32 mask;
	u32 sge_shift;
	u32 pd;
	u32 users;
	u8 flags; /* UBOE_JFR_* */
	struct ubp_jfc *jfc;
	u32 token;
	u64 user;
	ubp_lock_t target_lock;
	bool gone;
	const struct uboe_sge *ring;
	const __le32 *idx;
	struct uboe_jfr_rec *rec;
	void *home;
	ubp_lock_t lock;
	bool dead;
	u32 ci;
	u32 limit;
	u32 buf_shift;
	u32 nback;
	u16 back[];
};

/**
 * struct ubp_jetty - send queue with or without a receive side
 * @refs: one for the table, one for its channel
 * @lock: guards all below it, and the state of the channel @tp. Outermost lock
 *	of the core; two jetties are never locked together.
 * @grp: group that it is a member of; guarded by the command serialisation
 * @um: a UM jetty's ways to its targets
 * @dead: destroyed, only memory is left
 * @fetched: next BB of the ring to look at
 * @lockbuf: where its SQEs lie instead of a ring of its own, constant; NULL: they do not
 * @tm: its part in the traffic management; NULL: its packets are not shaped
 * @ini: initiator state, from RTR on
 * @slice: log2 of the bytes that Writes and Reads are cut into; constant
 * @target_order: RM in service mode ROT; constant
 * @rct: RC table, @rct_mask + 1 entries, or NULL
 * @rct_mark: entries in use from which peers are slowed down
 */
struct ubp_jetty {
	struct ubp_dev *dev;
	u32 id;
	u32 pd;
	u8 type;
	u8 flags;
	u8 sl;
	u8 raw; /* UBOE_RAW_* */
	u8 slice;
	bool target_order;
	const u8 *sq;
	u32 sq_mask;
	u8 *page;
	struct ubp_jfc *tx_jfc;
	struct ubp_jfc *rx_jfc;
	struct ubp_jfr *jfr;
	u32 token;
	u64 user;
	void *home;
	struct ubp_jgrp *grp;
	ubp_ref_t refs;

	ubp_lock_t lock;
	bool dead;
	bool kick_armed; /* what need_kick in the jetty page says */
	u8 state; /* enum uboe_jetty_state */
	u8 access;
	u8 rnr_timer;
	u8 rnr_retry;
	u16 max_rd;
	u32 fetched;
	u32 dwqe_seen; /* word 0 of the window that holds nothing new */
	u32 dwqe_pi; /* lock buffer: what a doorbell would say */
	u32 db_seen; /* lock buffer: the doorbell word, which means nothing */
	struct ubp_lockbuf *lockbuf;
	struct ubp_tp *tp;
	struct ubp_rm *rm; /* RM: send side, ubp_rm.h */
	struct ubp_tm_flow *tm;
	struct ubp_ini *ini;
	struct ubp_um *um;
	struct ubp_rce *rct;
	u32 rct_mask;
	u32 rct_mark;
};

/* ubp_dev.c: tables */
int ubp_table_init(struct ubp_dev *dev, struct ubp_table *t, u32 max);
void ubp_table_exit(struct ubp_dev *dev, struct ubp_table *t);
/* Return: 0, -EINVAL beyond the table, -EEXIST, -ENOMEM */
int ubp_table_add(struct ubp_dev *dev, struct ubp_table *t, u32 id, void *obj);
void ubp_table_del(struct ubp_table *t, u32 id);

static inline void *ubp_table_get(const struct ubp_table *t, u32 id)
{
	void **leaf;

	if (unlikely(id >= t->max))
		return NULL;
	leaf = (void **)smp_load_acquire(&t->top[id / UBP_TABLE_LEAF]);
	return leaf ? smp_load_acquire(&leaf[id % UBP_TABLE_LEAF]) : NULL;
}

static inline void ubp_stat(struct ubp_dev *dev, u32 stat)
{
	ubp_stat_add(dev->stats, stat, 1);
	if (stat >= UBP_S_DROP_FIRST)
		ubp_os_trace_drop(dev, stat);
}

/* ubp_jfc.c */
int ubp_jfc_create(struct ubp_dev *dev, u32 id, const struct uboe_jfc_ctx *ctx);
int ubp_jfc_modify(struct ubp_dev *dev, u32 id, const struct uboe_jfc_ctx *ctx, u32 mask);
int ubp_jfc_query(struct ubp_dev *dev, u32 id, struct uboe_jfc_ctx *ctx);
int ubp_jfc_destroy(struct ubp_dev *dev, u32 id);
/*
 * Of @jetty, or with NULL of c->jfr.
 * False when the queue is full; the overflow event has been raised then
 */
bool ubp_jfc_post(struct ubp_jfc *jfc, const struct ubp_jetty *jetty, const struct ubp_comp *c);

/* ubp_jfr.c */
int ubp_jfr_create(struct ubp_dev *dev, u32 id, const struct uboe_jfr_ctx *ctx);
int ubp_jfr_modify(struct ubp_dev *dev, u32 id, const struct uboe_jfr_ctx *ctx, u32 mask);
int ubp_jfr_query(struct ubp_dev *dev, u32 id, struct uboe_jfr_ctx *ctx);
int ubp_jfr_destroy(struct ubp_dev *dev, u32 id);

enum ubp_take { UBP_TAKE_NONE, UBP_TAKE_OK, UBP_TAKE_BAD, UBP_TAKE_SHORT };

/*
 * Take the next posted receive; BAD: its ring entry is nonsense, then @rqe is empty and
 * its slot 0; or it is no buffer of the JFR's size, then @rqe has it
 */
enum ubp_take ubp_jfr_take(struct ubp_jfr *jfr, struct ubp_rqe *rqe);
/* The same for a message of @bytes; SHORT: they do not fit; NONE, SHORT: all stay posted */
enum ubp_take ubp_jfr_take_for(struct ubp_jfr *jfr, u32 bytes, struct ubp_rqe *rqe);
/* As many beside those in @rqe, which the same message took, as it needs for @bytes so far */
enum ubp_take ubp_jfr_take_more(struct ubp_jfr *jfr, u64 bytes, struct ubp_rqe *rqe);
/* What was taken is posted again, as the next in the same order */
void ubp_jfr_give_back(struct ubp_jfr *jfr, struct ubp_rqe *rqe);

/* ubp_seg.c */
int ubp_seg_create(struct ubp_dev *dev, u32 id, const struct uboe_seg_ctx *ctx);
int ubp_seg_modify(struct ubp_dev *dev, u32 id, const struct uboe_seg_ctx *ctx, u32 mask);
int ubp_seg_query(struct ubp_dev *dev, u32 id, struct uboe_seg_ctx *ctx);
int ubp_seg_destroy(struct ubp_dev *dev, u32 id);

#define UBP_KEY_BITS 12
#define UBP_KEY_ID(key) ((key) >> UBP_KEY_BITS)
#define UBP_KEY_TOKEN(key) ((key) & ((1u << UBP_KEY_BITS) - 1))

/* Instead of a protection domain: any native segment, guarded by its token alone */
#define UBP_PD_ENTITY (~0u)

/**
 * ubp_seg_get - segment for one access
 * @token: the TokenValue that came with the request, compared with the primary and
 *	the backup one; NULL: none came
 * @pd: protection domain of the queue, which must be the segment's; UBP_PD_ENTITY
 * @need: UBOE_ACC_* that must all be granted
 *
 * Call between ubp_read_begin() and ubp_read_end(); each success is paired with
 * ubp_seg_put() soon after, without sleeping.
 *
 * Return: the segment when [@va, @va + @len) may be used, or NULL.
 */
struct ubp_seg *ubp_seg_get(struct ubp_dev *dev, u32 id, const u32 *token, u32 pd, u32 need, u64 va,
			    u64 len);
void ubp_seg_put(struct ubp_seg *seg);

/* Copy between a segment and the core; range already checked */
void ubp_seg_read(const struct ubp_seg *seg, u64 va, void *dst, u32 len);
void ubp_seg_write(const struct ubp_seg *seg, u64 va, const void *src, u32 len);
/* Address of @va and how many bytes follow it in the same chunk; range already checked */
u8 *ubp_seg_at(const struct ubp_seg *seg, u64 va, u64 *room);
/* Address of an aligned operand of at most 16 bytes, which lies in one chunk */
void *ubp_seg_ptr(const struct ubp_seg *seg, u64 va);

/**
 * ubp_sgl_read / ubp_sgl_write - gather from, scatter to a list of local SGEs
 * @off: first byte of the list to touch
 *
 * Return: false when a key, range or right is wrong or the list is too short;
 * bytes before the bad element may have been copied then.
 */
bool ubp_sgl_read(struct ubp_dev *dev, u32 pd, const struct ubp_sge *sge, u32 nsge, u64 off,
		  void *dst, u32 len);
bool ubp_sgl_write(struct ubp_dev *dev, u32 pd, const struct ubp_sge *sge, u32 nsge, u64 off,
		   const void *src, u32 len);

/* ubp_raw.c: BBs of the next element of a raw queue, 1..@avail */
u8 ubp_raw_blocks(const struct ubp_jetty *jetty, u32 avail);

/* ubp_jgrp.c */
int ubp_jgrp_create(struct ubp_dev *dev, u32 id, const struct uboe_jgrp_ctx *ctx);
int ubp_jgrp_modify(struct ubp_dev *dev, u32 id, const struct uboe_jgrp_ctx *ctx, u32 mask);
int ubp_jgrp_query(struct ubp_dev *dev, u32 id, struct uboe_jgrp_ctx *ctx);
int ubp_jgrp_destroy(struct ubp_dev *dev, u32 id);
/* Takes a jetty out of its group, if it is in one */
void ubp_jgrp_leave(struct ubp_jetty *jetty);

/* ubp_jetty.c */
int ubp_jetty_create(struct ubp_dev *dev, u32 id, const struct uboe_jetty_ctx *ctx);
int ubp_jetty_modify(struct ubp_dev *dev, u32 id, const struct uboe_jetty_ctx *ctx, u32 mask);
int ubp_jetty_query(struct ubp_dev *dev, u32 id, struct uboe_jetty_ctx *ctx);
int ubp_jetty_destroy(struct ubp_dev *dev, u32 id);

/* ubp_rct.c */
int ubp_rct_create(struct ubp_dev *dev, u32 id, const struct uboe_rct_ctx *ctx);
int ubp_rct_modify(struct ubp_dev *dev, u32 id, const struct uboe_rct_ctx *ctx, u32 mask);
int ubp_rct_query(struct ubp_dev *dev, u32 id, struct uboe_rct_ctx *ctx);
int ubp_rct_destroy(struct ubp_dev *dev, u32 id);
/* What is set for a VL; @shift: of tables for which nothing is */
struct ubp_rct_set ubp_rct_of_vl(const struct ubp_dev *dev, u32 vl, u8 shift);

/* ubp_jetty.c */
void ubp_jetty_put(struct ubp_jetty *jetty);
/* Fills in who is at the other end of a connection */
void ubp_jetty_peer(const struct ubp_jetty *jetty, struct uboe_cqe *e);
/* To ERROR: flush all work. Lock held. */
void ubp_jetty_error(struct ubp_jetty *jetty);
/* Receive completion; false: its JFC overflowed */
bool ubp_jetty_recv_done(struct ubp_jetty *jetty, const struct ubp_comp *c);
void ubp_jetty_send_done(struct ubp_jetty *jetty, const struct ubp_comp *c);

#endif /* UBP_OBJ_H */
