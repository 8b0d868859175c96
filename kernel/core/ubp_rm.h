/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reliable messages (RM): jetties without a channel of their own. Their requests
 * share one channel for each pair of addresses, in service mode ROI: each request
 * has an answer of its own, a TAACK, a Read_response or an Atomic_response
 * (Base Spec 7.3; docs/decisions/0018).
 *
 * Locks: a shared channel has a lock of its own, outside those of jetties. What
 * belongs to a message in progress is guarded by the one or the other, see
 * struct ubp_rmsg.
 */
#ifndef UBP_RM_H
#define UBP_RM_H

#include "ubp_rot.h"
#include "ubp_ta.h"
#include "ubp_target.h"

#define UBP_RM_REQ 256u /* requests in progress on a channel; a power of two */
#define UBP_RM_WINDOW 256u /* packets in flight */
#define UBP_RM_RCT_SHIFT 9u /* depth of an RC table of which nothing else is said */
/*
 * Jetties of one side whose requests wait for a receive. Each was a request in
 * progress, and no more of these are begun than there are places for: ubp_rm_room().
 */
#define UBP_RM_REFUSED UBP_RM_REQ

/**
 * struct ubp_rmsg - an SQE of an RM jetty in progress
 * @j: its jetty, referenced from the submission to a channel on
 * @seq: order of posting
 * @dead: completed. Set under the jetty's lock for good, read under either
 * @older, @newer: those not completed, in the order of posting; jetty's lock
 * @next: in a list of its channel; channel's lock, like all below. In the list of
 *	free ones: the jetty's
 * @segs: segments that lack a good answer
 * @reqs: requests in progress
 * @listed: in a list of its channel
 * @w: the work; its parts that change are @w.sent and @w.rnr_tries
 */
struct ubp_rmsg {
	struct ubp_jetty *j;
	u32 seq;
	bool dead;
	bool listed;
	u32 segs;
	u32 reqs;
	struct ubp_rmsg *older;
	struct ubp_rmsg *newer;
	struct ubp_rmsg *next;
	struct ubp_msg w;
};

struct ubp_rm_list {
	struct ubp_rmsg *first;
	struct ubp_rmsg *last;
};

/**
 * struct ubp_rm - send side of an RM jetty; guarded by the jetty's lock
 * @rd: Reads and atomics not completed
 * @ordered: messages of relaxed and strong order not completed
 * @ordered_tpn: their channel, 0: several
 * @led: ROT: channel whose peer keeps the order, 0: none
 * @pending: fetched, has to wait for others (Fence, strong order)
 * @owed: of the message fetched last: bytes that the traffic management has not let pass
 *	yet; UBP_RM_UNASKED: not counted yet
 * @pumping: somebody fetches; @again: look once more before you stop
 * @starved: work waits for a free slot
 */
struct ubp_rm {
	u32 seq;
	u32 rd;
	u32 ordered;
	u32 ordered_tpn;
	u32 led;
	bool pumping;
	bool again;
	bool starved;
	u64 owed;
	struct ubp_rmsg *pending;
	struct ubp_rmsg *oldest;
	struct ubp_rmsg *newest;
	struct ubp_rmsg *free;
};

/**
 * struct ubp_rreq - a request in progress: one segment of a message
 * @m: NULL: nobody waits for it any more
 * @psn: of its last packet
 * @jetty: who asked
 * @rcid: INI_RC_Type and _ID of the request and its answer
 * @alloc: it asks for a sequence context
 * @sent: all of it; only then may an answer come
 * @broken: ended before its end: there will be no answer
 */
struct ubp_rreq {
	struct ubp_rmsg *m;
	u32 off;
	u32 len;
	u32 got;
	u32 psn;
	u32 jetty;
	u32 rcid;
	u16 ssn;
	u8 op; /* of the answer */
	bool retry;
	bool alloc;
	bool sent;
	bool broken;
};

/**
 * struct ubp_refused - a jetty whose request found no receive
 * @jetty: number; the entry is free when @used is not set
 * @upto: requests before this index may have been refused for the sake of order
 * @waiting: nothing of this jetty is sent until @again_at
 * @must_retry: its next request says that it is the refused one
 * @list: what is to be sent again, and behind it, in the order of posting
 */
struct ubp_refused {
	u32 jetty;
	u32 upto;
	u64 again_at;
	bool used;
	bool waiting;
	bool must_retry;
	struct ubp_rm_list list;
};

/**
 * struct ubp_share - what a shared channel has beside struct ubp_tp
 * @lock: guards the channel and all of this. Outside the jetties' locks
 * @chain: others with the same hash; guarded by the device's share lock
 * @queue: messages to be sent
 * @max_req: requests that the peer takes at a time
 * @take_req, @max_answers: requests that we take at a time, answers that may be without
 *	acknowledgement. An entry of @rct is one or the other, so that so many never are
 *	too few for a peer that keeps to what was announced
 * @req_head, @req_tail: requests in progress; run freely
 * @later: output goes on from the timer
 * @nrefused: used entries of @refused
 * @answer_at: when a request began to wait, or an answer arrived last
 * @rx_*: the message being received. @rx_rcid: as it says, @rx_from: the jetty meant
 * @rx_target: who gave the receive of a half-received Send; a jetty is referenced
 * @rx_held: initiators that were refused for want of a receive, UBP_RM_NOBODY free
 * @cand_*: another incarnation of the peer that asks for this channel
 */
struct ubp_share {
	ubp_lock_t lock;
	struct ubp_tp *tp;
	struct ubp_share *chain;
	struct ubp_rm_list queue;
	u32 max_req;
	u32 take_req;
	u32 max_answers;
	u32 req_head;
	u32 req_tail;
	u16 next_ssn;
	bool later;
	u64 answer_at;
	u32 nrefused;
	struct ubp_rreq req[UBP_RM_REQ];
	struct ubp_refused refused[UBP_RM_REFUSED];

	struct ubp_target rx_target;
	u32 rx_rcid;
	u32 rx_from;
	u16 rx_ssn;
	u8 rx_rspst;
	u8 rx_info;
	bool rx_retry;
	bool rx_alloc;
	u32 nheld;
	u32 rx_held[UBP_RM_REFUSED];

	u32 cand_xid;
	u32 cand_tpn;
	u32 next_xid;
	u32 next_isn;
	u32 cand_left; /* answers that it may still get */

	struct ubp_rce *rct;
	u32 rct_mask;
	struct ubp_rot rot;
};

#define UBP_RM_NOBODY (~0u)
#define UBP_RM_UNASKED (~0ull)

/* ubp_share.c */
int ubp_share_create(struct ubp_dev *dev, u32 tpn, const struct uboe_tp_ctx *ctx);
int ubp_share_destroy(struct ubp_tp *tp);
struct ubp_tp *ubp_share_by_addr(struct ubp_dev *dev, const u8 *laddr, const u8 *raddr);
/* Somebody asks for a channel that is not there: let the home make one */
bool ubp_share_want(struct ubp_dev *dev, const struct ubp_encap *e);
/* A target, jetty or JFR, goes: a Send that was half received will not be completed */
void ubp_share_forget(struct ubp_dev *dev, const void *target);
/* All in progress failed: ready to be opened anew */
void ubp_share_reset(struct ubp_tp *tp);
/* Every shared channel; the peers are told */
void ubp_share_close_all(struct ubp_dev *dev);

/* ubp_rm_ini.c, as in ubp_tp.h; channel's lock held */
void ubp_rm_submit(struct ubp_dev *dev, u32 tpn, struct ubp_rm_list *list);
bool ubp_rm_next(struct ubp_tp *tp, struct ubp_txd *d);
void ubp_rm_commit(struct ubp_tp *tp, const struct ubp_txd *d, u32 psn);
u32 ubp_rm_cost(struct ubp_tp *tp, const struct ubp_txd *d);
bool ubp_rm_headers(struct ubp_tp *tp, struct ubp_txd *d, struct ubp_ta *h);
bool ubp_rm_payload(struct ubp_tp *tp, const struct ubp_txd *d, u8 *dst, u32 len);
void ubp_rm_response(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta);
/* Complete all in progress with this status */
void ubp_rm_lost(struct ubp_tp *tp, u8 status);
u64 ubp_rm_deadline(const struct ubp_tp *tp);
void ubp_rm_timer(struct ubp_tp *tp);

/* ubp_rm_rsp.c; channel's lock held */
void ubp_rm_request(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta,
		    enum ubp_ta_err err);
bool ubp_rm_refuse(struct ubp_tp *tp, u8 rspst, u8 info);
/* Give back the receive of a message that will not be completed */
void ubp_rm_abandon(struct ubp_tp *tp);

/* ubp_rm_jetty.c */
int ubp_rm_create(struct ubp_jetty *j);
void ubp_rm_pump(struct ubp_jetty *j);
/* Jetty's lock held: completes everything with flush */
void ubp_rm_flush(struct ubp_jetty *j);
/* The jetty is being destroyed: nothing completes any more; jetty's lock held */
void ubp_rm_discard(struct ubp_jetty *j);
/* Complete one message; jetty's lock held */
void ubp_rm_done(struct ubp_rmsg *m, u8 status, u8 sub);
/* ROT: the peer of this channel keeps the order now, 0: none does; jetty's lock held */
void ubp_rm_led(struct ubp_jetty *j, u32 tpn);
/* Nothing refers to it any more; jetty's lock held */
void ubp_rm_free(struct ubp_rmsg *m);

static inline void ubp_rm_append(struct ubp_rm_list *l, struct ubp_rmsg *m)
{
	m->next = NULL;
	if (l->last)
		l->last->next = m;
	else
		l->first = m;
	l->last = m;
}

static inline struct ubp_rmsg *ubp_rm_pop(struct ubp_rm_list *l)
{
	struct ubp_rmsg *m = l->first;

	if (m) {
		l->first = m->next;
		if (!l->first)
			l->last = NULL;
	}
	return m;
}

static inline struct ubp_rreq *ubp_rm_req(struct ubp_share *sh, u32 i)
{
	return &sh->req[i & (UBP_RM_REQ - 1)];
}

#endif /* UBP_RM_H */
