/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Transaction layer of a reliable connection: service mode ROL, one channel,
 * execution in order at the target. Guarded by the jetty's lock.
 */
#ifndef UBP_TA_H
#define UBP_TA_H

#include "ubp_sqe.h"
#include "ubp_tp.h"

#define UBP_MSG_WIN 64u /* SQEs in progress per jetty; a power of two */
#define UBP_SLICE_MIN 10u /* log2 of the bytes that a Write or Read is cut into */
#define UBP_SLICE_MAX 16u
#define UBP_RCT_RNR_TIMER 5u /* 64 us at least: an RC table empties with acknowledgements */
#define UBP_JFR_RNR_TIMER 9 /* 1 ms: a JFR that receives by itself has no setting */
#define UBP_MAX_RD 128u /* Reads and atomics in progress; a power of two */

/**
 * struct ubp_msg - an SQE in progress
 * @end: ring index after its last BB
 * @sent: payload bytes handed to the channel (Read: bytes asked for)
 * @done: bytes of a Read that have been placed
 * @first_msn, @last_msn: TPMSNs of the first segment since @remap and of the one
 *	sent last; answers to the peer may have taken numbers in between
 * @ssn: TASSN of segment 0
 * @started: @ssn is valid
 * @remap: sent anew after RNR: the next packet fixes @first_msn again
 * @issued: all of it is with the channel
 * @answered: a Read or atomic has its answer
 */
struct ubp_msg {
	struct ubp_sqe s;
	u32 end;
	u32 sent;
	u32 done;
	u32 first_msn;
	u32 last_msn;
	u16 ssn;
	u8 rnr_tries;
	u8 slice; /* log2 */
	bool started;
	bool remap;
	bool retry;
	bool issued;
	bool answered;
	bool in_two; /* the first half of what will be two requests, see ubp_ini_adapt() */
};

/* A request that will be answered with data */
struct ubp_rd {
	u32 msg; /* index of its message */
	u32 off; /* of the answer in the message */
	u32 len;
	u32 got;
	u32 psn;
	u32 msn;
	u16 ssn;
	u8 op; /* of the answer */
};

/**
 * struct ubp_ini - initiator
 * @head, @next, @tail: oldest, next to send, next free message; run freely
 * @rd_limit: Reads and atomics in progress that the peer's RC table seems to have room
 *	for: halved when it refuses one, one more for each so many answers (@rd_grow)
 * @stopped: a message failed; nothing new is sent, those before it complete
 * @answer_at: when a Read or atomic began to wait, or an answer arrived last
 */
struct ubp_ini {
	u32 head;
	u32 next;
	u32 tail;
	u32 rd_head;
	u32 rd_tail;
	u32 rd_limit;
	u32 rd_grow;
	u16 next_ssn;
	bool stopped;
	u64 rnr_at;
	u64 answer_at;
	struct ubp_rd rd[UBP_MAX_RD];
	struct ubp_msg msg[UBP_MSG_WIN];
};

/* RC table entry: a remote Read or atomic whose answer is not acknowledged yet */
struct ubp_rce {
	u64 va;
	u32 len;
	u32 sent;
	u32 token_id;
	u32 token;
	u32 ofst; /* KiB, from the request */
	u32 rcid;
	u32 psn; /* of the request */
	u16 ssn;
	u16 taid;
	u8 op; /* of the answer */
	bool tv_en; /* @token is valid */
	bool error;
	bool sv; /* TAACK: @ssn is a granted sequence context */
	u8 rspst; /* TAACK: what it says, and how many more it stands for */
	u8 rspinfo;
	u8 size; /* atomics: operand bytes */
	u8 result[16];
};

static inline struct ubp_msg *ubp_ini_msg(struct ubp_ini *ini, u32 i)
{
	return &ini->msg[i & (UBP_MSG_WIN - 1)];
}

static inline bool ubp_msg_is_rd(const struct ubp_msg *m)
{
	return m->s.kind == UBP_K_READ || m->s.kind == UBP_K_ATOMIC;
}

/* ubp_ini.c: messages, whatever channel they use. @off: offset of a packet's payload */
/* @slice: log2 of the bytes that it is cut into */
void ubp_msg_init(struct ubp_msg *m, u32 end, u8 slice);
u32 ubp_msg_segs(const struct ubp_msg *m);
u32 ubp_msg_seg_len(const struct ubp_msg *m, u32 off);
u32 ubp_msg_plen(const struct ubp_msg *m, u32 off, u32 mtu);
bool ubp_msg_is_last(const struct ubp_msg *m, u32 off, u32 mtu);
/* All but who asks and whether it is again; @to: MTETAH without its hint */
void ubp_msg_headers(const struct ubp_tp *tp, const struct ubp_msg *m, const struct ubp_txd *d,
		     u32 to, struct ubp_ta *h);
/* Return: 0 or enum uboe_cqe_substatus of a local error */
u8 ubp_msg_payload(struct ubp_dev *dev, u32 pd, const struct ubp_msg *m, u32 off, u8 *dst, u32 len);

/* ubp_ini.c */
void ubp_ini_init(struct ubp_ini *ini, u16 ssn);
bool ubp_ini_next(struct ubp_tp *tp, struct ubp_txd *d);
u32 ubp_ini_cost(struct ubp_tp *tp, const struct ubp_txd *d);
void ubp_ini_commit(struct ubp_tp *tp, const struct ubp_txd *d, u32 psn);
bool ubp_ini_more(struct ubp_tp *tp, const struct ubp_txd *d);
void ubp_ini_headers(struct ubp_tp *tp, const struct ubp_txd *d, struct ubp_ta *h);
bool ubp_ini_payload(struct ubp_tp *tp, const struct ubp_txd *d, u8 *dst, u32 len);
void ubp_ini_response(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta);
/* ubp_ini_op.c */

/*
 * Fits a message to what the peer has announced: it fails when that knows no
 * reduce; a Write with store add is made a Write, and by ubp_ini_second_half()
 * an Atomic store once that is acknowledged.
 */
void ubp_ini_adapt(struct ubp_jetty *j, struct ubp_msg *m);
void ubp_ini_second_half(struct ubp_msg *m);
/* UDETAH of a message that has one */
u32 ubp_ini_user_data(const struct ubp_tp *tp, const struct ubp_msg *m);
/* What an answer brought: into local memory, or in a Read with reduce together with it */
bool ubp_ini_store(struct ubp_jetty *j, const struct ubp_msg *m, u32 off, const u8 *src, u32 len);

/* Give up everything with flush completions; the caller set the state */
void ubp_ini_flush(struct ubp_jetty *j);
/* The oldest work fails with this status, the rest is flushed */
void ubp_ini_fail_head(struct ubp_jetty *j, u8 status, u8 sub);
void ubp_ini_retire(struct ubp_jetty *j);
bool ubp_ini_has_work(struct ubp_jetty *j);
u32 ubp_ini_posted(struct ubp_jetty *j);
/* Before the engine stops: from now on the producer rings. Not 0: it posted, go on */
u32 ubp_ini_sleep(struct ubp_jetty *j);
void ubp_ini_fetch(struct ubp_jetty *j);

/* ubp_rsp.c */
bool ubp_rsp_next(struct ubp_tp *tp, struct ubp_txd *d);
void ubp_rsp_commit(struct ubp_tp *tp, const struct ubp_txd *d);
void ubp_rsp_headers(struct ubp_tp *tp, struct ubp_txd *d, struct ubp_ta *h);
bool ubp_rsp_payload(struct ubp_tp *tp, const struct ubp_txd *d, u8 *dst, u32 len);
void ubp_rsp_request(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta,
		     enum ubp_ta_err err);
/* Entry of the RC table, and its index mask */
struct ubp_rce *ubp_rsp_entry(const struct ubp_tp *tp, u32 i);
u32 ubp_rsp_mask(const struct ubp_tp *tp);
/* May a message go on with this opcode? */
bool ubp_rsp_continues(const struct ubp_rsp *r, u8 op);
/* Flush a half-received Send */
void ubp_rsp_flush(struct ubp_jetty *j);

/*
 * ubp_ta.c: when a peer is lost that acknowledged a Read and went away before it
 * answered; nothing is in flight then, so no retransmission finds out.
 * @since: when the wait began, or its last answer. Return: UBP_NEVER: no such wait
 */
u64 ubp_ta_answer_limit(const struct ubp_tp *tp, u64 since);

/* ubp_atomic.c: a UDETAH as this channel's ends understand it */
u32 ubp_ud_wire(const struct ubp_tp *tp, u32 cls, u32 type, u32 op);

/* Doorbell word and kick flags of a jetty page */
static inline u32 ubp_jetty_pi(const struct ubp_jetty *j)
{
	return le32_to_cpu(smp_load_acquire((__le32 *)(j->page + UBOE_JPAGE_DB)));
}

static inline void ubp_jetty_need_kick(struct ubp_jetty *j, bool on)
{
	j->kick_armed = on;
	WRITE_ONCE(*(__le32 *)(j->page + UBOE_JPAGE_NEED_KICK), cpu_to_le32(on));
}

static inline void ubp_jetty_rq_kick(struct ubp_jetty *j, bool on)
{
	WRITE_ONCE(*(__le32 *)(j->page + UBOE_JPAGE_RQ_KICK), cpu_to_le32(on));
}

#endif /* UBP_TA_H */
