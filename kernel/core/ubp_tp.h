/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reliable transport channel (RTP): windows, acknowledgement, retransmission
 * (Base Spec 6.4). A channel carries packets of the transaction layer, which
 * it sees only through the functions at the end of this file.
 *
 * Everything in struct ubp_tp is guarded by *@lock: the lock of its jetty, or that of
 * a shared channel (ubp_rm.h).
 */
#ifndef UBP_TP_H
#define UBP_TP_H

#include "ubp_cc.h"
#include "ubp_encap.h"
#include "ubp_icrc.h"
#include "ubp_obj.h"
#include "ubp_pkt.h"
#include "ubp_psn.h"

#define UBP_NEVER (~0ull)

enum ubp_tp_state {
	UBP_TP_IDLE, /* created, the jetty is not in RTR yet */
	UBP_TP_OPENING, /* set-up messages are being exchanged */
	UBP_TP_OPEN, /* the peer knows us: data may be sent */
	UBP_TP_FAILED, /* answers what arrives, sends nothing new */
	UBP_TP_DEAD, /* being destroyed */
};

/* VOID: its message is gone, an empty packet takes its place in the sequence */
enum ubp_txd_kind { UBP_TX_REQUEST = 1, UBP_TX_RESPONSE = 2, UBP_TX_VOID = 3 };

/* Flags of a packet in flight */
#define UBP_TXF_LAST 0x01 /* last of its TP message */
#define UBP_TXF_SACKED 0x02
#define UBP_TXF_LOST 0x04 /* to be sent again */
#define UBP_TXF_AGAIN 0x08 /* has been sent more than once */
#define UBP_TXF_ASKED 0x10 /* carried A: its answer measures the round trip */

/**
 * struct ubp_txd - a packet in flight, enough to build it again
 * @off: offset of its payload in the message or response
 * @msn: TPMSN
 * @sent_us: when it was last sent, microseconds modulo 2^32
 * @mark: it counts as lost when a PSN from here on is known to have arrived
 *	(MarkPSN, Base Spec 6.4, kept for each packet)
 * @idx: slot of its message or of its RC table entry
 * @ssn: TASSN
 * @size: bytes from the TPH to the ICRC
 */
struct ubp_txd {
	u32 off;
	u32 msn;
	u32 sent_us;
	u32 mark;
	u16 idx;
	u16 ssn;
	u16 size;
	u8 kind;
	u8 flags;
};

/* Responder side of the transaction layer on this channel; see ubp_rsp.c */
struct ubp_rsp {
	struct ubp_jetty *j; /* whose requests are executed; shared channel: while one is, */
	struct ubp_jfr *jfr; /* and NULL when a JFR receives by itself */
	u32 exec_msn; /* TPMSN of the first message not yet executed */
	u32 msn; /* message being received */
	u16 exp_ssn; /* TASSN to execute next */
	u8 op;
	u8 blocked; /* enum ub_rspst that answers until a retry succeeds, or 0 */
	u8 info;
	bool in_msg;
	bool discard;
	bool have_rqe;
	bool ta_done; /* a Write or Send has been executed: answer with RSPST TA */
	u64 off; /* bytes of the Send placed so far */
	struct ubp_rqe rqe;
	/* RC table: oldest, being sent, next free */
	u32 rce_head;
	u32 rce_next;
	u32 rce_tail;
};

struct ubp_share;

struct ubp_tp {
	struct ubp_dev *dev;
	struct ubp_jetty *jetty; /* NULL: a shared channel */
	struct ubp_share *sh; /* NULL: the channel of one jetty */
	ubp_lock_t *lock;
	void *home;
	u32 tpn;
	u32 peer_tpn;
	u8 state; /* enum ubp_tp_state */
	u8 retrans; /* negotiated UB_TPCM_RETRANS_* */
	struct ubp_path path;
	u64 now; /* time of the entry into the core */

	/* set-up, ubp_tpcm.c */
	u32 rmt_jetty;
	u32 xid; /* this incarnation */
	u32 peer_xid;
	bool peer_known;
	bool closed; /* the peer went away: given up at cm_at */
	u32 cm_wait_us;
	u64 cm_at;
	struct ubp_cc *cc_mem; /* for congestion control, NULL: this end wants none */

	/* negotiated */
	u32 mtu;
	u32 offer_mtu;
	u8 offer_retrans;
	u8 offer_cc; /* enum ub_cc */
	u32 window; /* packets we may have in flight */
	u32 rx_window; /* packets we hold out of order */
	u32 caps;
	u32 svc; /* UB_SVC_* of the peer */
	struct ubp_cc *cc; /* congestion control, NULL: none */

	/* sender */
	u32 snd_isn;
	u32 snd_una;
	u32 snd_nxt;
	u32 snd_msn;
	u32 acked_msn; /* newest TPMSN the peer reported */
	u32 lost; /* packets with UBP_TXF_LOST */
	u32 rtx_at; /* no LOST packet before this PSN */
	u32 since_ask; /* packets since one carried A */
	u32 txd_mask;
	struct ubp_txd *txd;
	u8 open_kind; /* kind of message whose packets are being sent, or 0 */
	bool driven; /* new requests are left to the caller of ubp_drive_id() */
	bool probing; /* after a timeout: one packet until an answer comes */
	u32 probe_psn; /* that packet */
	u32 srtt_us;
	u32 rttvar_us;
	u32 backoff;
	u64 rto_base; /* time from which the timeout counts */
	u64 stall_since; /* last progress, UBP_NEVER when nothing is in flight */
	u64 lost_after; /* ns without progress after which the channel is given up, 0 never */

	/* receiver */
	u32 rcv_nxt;
	u32 rcv_max; /* highest PSN seen */
	u32 held;
	u32 ooo_mask;
	struct ubp_rxpkt *ooo;
	u32 unacked; /* packets received since the last acknowledgement */
	bool ack_now;
	bool nak_now;
	bool nak_sent; /* go-back-N: no second TPNAK before the gap closes */
	u64 ack_at;

	u64 timer_at; /* when the home's timer will fire, UBP_NEVER when unarmed */
	struct ubp_rsp rsp;
};

/* Who shapes its packets, NULL: nobody; messages on shared channels were paid for before */
static inline struct ubp_tm_flow *ubp_tp_tm(const struct ubp_tp *tp)
{
	return tp->jetty ? tp->jetty->tm : NULL;
}

static inline struct ubp_txd *ubp_tp_txd(struct ubp_tp *tp, u32 psn)
{
	return &tp->txd[psn & tp->txd_mask];
}

static inline u32 ubp_tp_in_flight(const struct ubp_tp *tp)
{
	return (tp->snd_nxt - tp->snd_una) & UB_PSN_MASK;
}

static inline bool ubp_tp_selective(const struct ubp_tp *tp)
{
	return tp->retrans & UB_TPCM_RETRANS_SR;
}

/* ubp_tp.c */
bool ubp_tp_ctx_ok(const struct ubp_dev *dev, const struct uboe_tp_ctx *ctx);
/* Without lock, owner and route; @window 0: the context's or the device's */
struct ubp_tp *ubp_tp_new(struct ubp_dev *dev, u32 tpn, const struct uboe_tp_ctx *ctx, u32 window);
void ubp_tp_free(struct ubp_tp *tp);
/* A new incarnation, with numbers that nobody can know */
void ubp_tp_start(struct ubp_tp *tp);
int ubp_tp_create(struct ubp_dev *dev, u32 tpn, const struct uboe_tp_ctx *ctx);
int ubp_tp_modify(struct ubp_dev *dev, u32 tpn, const struct uboe_tp_ctx *ctx, u32 mask);
int ubp_tp_query(struct ubp_dev *dev, u32 tpn, struct uboe_tp_ctx *ctx);
int ubp_tp_destroy(struct ubp_dev *dev, u32 tpn);
struct ubp_tp *ubp_tp_find(struct ubp_dev *dev, u32 tpn);
/* Stop sending; the receiver goes on answering. Lock held. */
void ubp_tp_fail(struct ubp_tp *tp);
/* Nothing of what was sent, and of what was to be sent, is wanted any more */
void ubp_tp_forget(struct ubp_tp *tp);
/* Nobody waits for the acknowledgement of requests that ubp_tp_fail() gave up */
void ubp_tp_skip_gone(struct ubp_tp *tp);
/* Nothing got through for too long, or the peer went away. Lock held. */
void ubp_tp_lost(struct ubp_tp *tp);
void ubp_tp_arm(struct ubp_tp *tp);

/* ubp_tp_tx.c */
void ubp_tp_output(struct ubp_tp *tp);
bool ubp_tp_drive(struct ubp_tp *tp);
void ubp_tp_send_ack(struct ubp_tp *tp);
/* @ecn: UB_CNP_ECN_*; false: no room */
bool ubp_tp_send_cnp(struct ubp_tp *tp, u8 ecn);
void ubp_tp_ack_settled(struct ubp_tp *tp);
void ubp_tp_timeout(struct ubp_tp *tp);
/* The traffic management lets it go on */
void ubp_tp_unshaped(struct ubp_tp *tp);
/* When the traffic management lets it send again; UBP_NEVER: it does not wait */
u64 ubp_tp_shaped_until(const struct ubp_tp *tp);
u32 ubp_tp_rto_us(const struct ubp_tp *tp);

/* ubp_tp_rx.c */
bool ubp_tp_rx_data(struct ubp_tp *tp, const struct ubp_rxpkt *pkt, const struct ubp_encap *e,
		    const struct ubp_tph *t);
/* @p: what follows the TPH, checked by ubp_tph_check() */
void ubp_tp_rx_ack(struct ubp_tp *tp, const u8 *p, const struct ubp_tph *t);
/* Everything up to @psn has arrived and executed up to TPMSN @msn */
void ubp_tp_implied_ack(struct ubp_tp *tp, u32 psn, u32 msn);
void ubp_tp_drop_held(struct ubp_tp *tp);

/* ubp_tpcm.c */
void ubp_tpcm_open(struct ubp_tp *tp);
/* The peer seems to be open already: ask again soon */
void ubp_tpcm_hurry(struct ubp_tp *tp);
void ubp_tpcm_close(struct ubp_tp *tp);
/* A packet on a channel that another incarnation of the peer asks for */
void ubp_tpcm_challenge(struct ubp_tp *tp);
void ubp_tpcm_timer(struct ubp_tp *tp);
void ubp_tpcm_rx(struct ubp_dev *dev, const struct ubp_encap *e, const u8 *body, u32 len);
void ubp_tp_opened(struct ubp_tp *tp);

/* ubp_utp.c */
/* @p: first transaction header; @len without the pad */
void ubp_utp_rx(struct ubp_dev *dev, const struct ubp_encap *e, const u8 *p, u32 len);
/* Send @len bytes to public jetty 0 of the path's peer */
void ubp_utp_send(struct ubp_dev *dev, struct ubp_path *path, const u8 *body, u32 len);

/*
 * What the transaction layer provides (ubp_ta.c, ubp_ini.c, ubp_rsp.c). All
 * with the lock held.
 */

/* The next new packet of requests or responses, not yet committed; false: none */
bool ubp_ta_next(struct ubp_tp *tp, struct ubp_txd *d);
/* It was sent with PSN @psn; returns true when more could follow at once */
bool ubp_ta_commit(struct ubp_tp *tp, const struct ubp_txd *d, u32 psn);
/* Packets that @d makes, itself included */
u32 ubp_ta_cost(struct ubp_tp *tp, const struct ubp_txd *d);
/* Could another packet follow @d, before it is committed? */
bool ubp_ta_more(struct ubp_tp *tp, const struct ubp_txd *d);
/* Headers and payload length of a packet; false: its message is gone, send an empty one */
bool ubp_ta_headers(struct ubp_tp *tp, struct ubp_txd *d, struct ubp_ta *h);
/* Its payload; false: the local memory is gone and the message has failed */
bool ubp_ta_payload(struct ubp_tp *tp, const struct ubp_txd *d, u8 *dst, u32 len);
/* The peer has it for good */
void ubp_ta_acked(struct ubp_tp *tp, const struct ubp_txd *d);
/* Answer of the peer's transaction layer: first TPMSN not executed, and why not */
void ubp_ta_answer(struct ubp_tp *tp, u32 exec_msn, u8 rspst, u8 info);
/* A packet in order: headers parsed, or the error that parsing gave */
void ubp_ta_deliver(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta,
		    enum ubp_ta_err err);
/* The channel opened, or is gone */
void ubp_ta_opened(struct ubp_tp *tp);
void ubp_ta_lost(struct ubp_tp *tp);
/* The channel is destroyed, perhaps under a jetty that lives on */
void ubp_ta_gone(struct ubp_tp *tp);
/* RNR waits and missing answers; UBP_NEVER when there is none */
u64 ubp_ta_deadline(const struct ubp_tp *tp);
void ubp_ta_timer(struct ubp_tp *tp);
/* The engine found nothing more to do: ask for kicks. True: work arrived meanwhile */
bool ubp_ta_idle(struct ubp_tp *tp);
void ubp_ta_later(struct ubp_tp *tp);

#endif /* UBP_TP_H */
