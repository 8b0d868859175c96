/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Congestion control of a channel (docs/decisions/0037): algorithms as tables of
 * functions, and what the transport tells them. Guarded by the channel's lock.
 *
 * An algorithm knows lengths and times; channels, packets and numbers belong to
 * ubp_cc.c. A channel without one has a NULL pointer, which is tested once a packet.
 */
#ifndef UBP_CC_H
#define UBP_CC_H

#include "ubp_cc_par.h"

#define UBP_CC_NEVER (~0ull)

#define UBP_CC_ALPHA_ONE 0x100000u /* 2^20 */

/**
 * struct ubp_dcqcn - rate machine of a sender, CNPs of a receiver
 * @rate, @target: Rc and Rt, kb/s
 * @cost: of a byte at @rate, 2^-20 ns
 * @send_at: from when on the next packet may be sent
 * @alpha_at, @rise_at: when the timers of alpha and of the stages run out
 * @cut_at: no cut before that
 * @t_stage, @b_stage: times that the timer and the byte counter have run out
 * @bytes: sent since the byte counter ran out
 * @starting: no cut yet
 */
struct ubp_dcqcn {
	u32 rate;
	u32 target;
	u64 cost;
	u64 send_at;
	u64 alpha_at;
	u64 rise_at;
	u64 cut_at;
	u32 alpha; /* 2^-20 */
	u32 t_stage;
	u32 b_stage;
	u32 bytes;
	bool starting;
};

/* struct ubp_ldcp - congestion window, 2^-8 bytes */
struct ubp_ldcp {
	u32 cw;
};

/**
 * struct ubp_caqm_end - window of a sender, and what a receiver has to tell
 * @cw: congestion window, bytes
 * @owed: asked for with one of the next packets, 2^-8 bytes
 * @calm_at: slow start comes back then
 * @slow: slow start
 * @asks: the window is what holds it up
 * @heard: the peer has acknowledged
 * @silent: times that nobody answered before that
 * @rx_hint, @rx_marks, @rx_grant: since the last acknowledgement; a hint is in 32 bytes
 */
struct ubp_caqm_end {
	u32 cw;
	u32 owed;
	u64 calm_at;
	bool slow;
	bool asks;
	bool heard;
	u8 silent;
	u16 rx_hint;
	u8 rx_marks;
	bool rx_grant;
};

struct ubp_cc_ops;

/**
 * struct ubp_cc - congestion control of a channel
 * @rtt_us: measured round trip, 0: not yet; see ubp_cc_rtt()
 * @mtu: payload of a full packet
 * @below: bytes of IP and UDP headers, which windows do not count
 * @when: the transport waits for this time to send, UBP_CC_NEVER: it does not
 * @answered: a round trip has been measured since the algorithm looked
 * @force: the next packet is sent whatever the algorithm says
 * @plain: the way does not carry what the algorithm needs: it rests
 * @inflight: bytes of packets sent, neither acknowledged nor to be sent again
 * @total: bytes sent for the first time, in units of 2, modulo 2^32
 * @seen_ack, @seen_ce: counters of the newest CETPH that came
 * @rx_ack, @rx_ce: counters of this end's receiver
 * @cnp_due, @cnp_level: a CNP is owed at that time, UBP_CC_NEVER: none
 * @cnp_next: none before that
 */
struct ubp_cc {
	const struct ubp_cc_ops *ops;
	const struct ubp_cc_par *par;
	u32 rtt_us;
	u32 mtu;
	u32 below;
	bool force;
	bool plain;
	bool answered;
	u8 cnp_level;
	u32 inflight;
	u32 total;
	u32 seen_ack;
	u32 seen_ce;
	u32 rx_ack;
	u32 rx_ce;
	u64 when;
	u64 cnp_due;
	u64 cnp_next;
	union {
		struct ubp_dcqcn dcqcn;
		struct ubp_ldcp ldcp;
		struct ubp_caqm_end caqm;
	};
};

/* What an acknowledgement's CETPH was */
enum ubp_cc_news { UBP_CC_SAME, UBP_CC_SLOWER, UBP_CC_NONSENSE };

/**
 * struct ubp_cc_ops - an algorithm
 * @start: set up; @cc is zero but for what all algorithms share
 * @wait: may a packet of @len bytes from the IP header on be sent? 0: yes; else when to
 *	ask again, UBP_CC_NEVER: after an acknowledgement
 * @sent: it was
 * @cci: CCI of a packet of @size bytes from the TPH on that is about to be sent, 0: as its
 *	IP header says. NULL: always that
 * @ask: should the next packet ask for an acknowledgement? @packets that did not came
 *	before it. NULL: the transport knows
 * @seen: a data packet came, @level as its marks say: sets cnp_due and cnp_level
 * @heed: one came for the first time, with this CCI
 * @tell: write the last four bytes of an acknowledgement's CETPH. NULL: there is none
 * @told: read them; @acked units of 2 bytes have newly arrived
 * @cnp: a CNP came
 * @timeout: no answer came
 *
 * The last two return true when the channel is slower now. NULL: nothing to do.
 */
struct ubp_cc_ops {
	u8 alg;
	void (*start)(struct ubp_cc *cc, u64 now);
	u64 (*wait)(struct ubp_cc *cc, u32 len, u64 now);
	void (*sent)(struct ubp_cc *cc, u32 len, u64 now);
	u16 (*cci)(struct ubp_cc *cc, u32 size, u64 now);
	bool (*ask)(const struct ubp_cc *cc, u32 packets);
	void (*seen)(struct ubp_cc *cc, u8 level, u64 now);
	void (*heed)(struct ubp_cc *cc, u16 cci);
	void (*tell)(struct ubp_cc *cc, u8 *p);
	enum ubp_cc_news (*told)(struct ubp_cc *cc, u32 acked, const u8 *p, u64 now);
	bool (*cnp)(struct ubp_cc *cc, u8 level, u64 now);
	bool (*timeout)(struct ubp_cc *cc, u64 now);
};

extern const struct ubp_cc_ops ubp_cc_dcqcn;
extern const struct ubp_cc_ops ubp_cc_ldcp;
extern const struct ubp_cc_ops ubp_cc_caqm;

/* NULL: UB_CC_NONE, or not known */
const struct ubp_cc_ops *ubp_cc_ops(u32 alg);

/* The longer of @us and of @part sixteenths of a round trip, ns */
static inline u64 ubp_cc_time(const struct ubp_cc *cc, u32 us, u32 part)
{
	u64 rtt = ((u64)cc->rtt_us * part) >> 4;

	return max_t(u64, us, rtt) * 1000;
}

/* May @len bytes from the IP header on be sent within a window of @cw bytes? As ops.wait */
static inline u64 ubp_cc_window_wait(const struct ubp_cc *cc, u32 len, u32 cw)
{
	/* nobody would answer when nothing is under way */
	return !cc->inflight || cc->inflight + len - cc->below <= cw ? 0 : UBP_CC_NEVER;
}

/* As ops.ask: before the window closes, and four times while it passes */
static inline bool ubp_cc_window_ask(const struct ubp_cc *cc, u32 packets, u32 cw)
{
	u32 full = cc->mtu + UB_MAX_HDR;

	return cc->inflight + 2 * full > cw || (packets + 1) * cc->mtu >= cw / 4;
}

struct ubp_tp;
struct ubp_txd;

/* ubp_cc.c: what the transport tells; only of channels whose tp->cc is set, but for these two */

/* The peer wants @peer_alg: use it if this end does, too */
void ubp_cc_agree(struct ubp_tp *tp, u8 peer_alg);
/* A CNP: @p is its CETPH */
void ubp_cc_rx_cnp(struct ubp_tp *tp, const u8 *p);

/* May a packet of @len bytes from the IP header on be sent? False: tp->cc->when is set */
bool ubp_cc_may(struct ubp_tp *tp, u32 len);
/* It is about to be, with the CCI that is returned; d->size: when it was sent before */
u16 ubp_cc_sent(struct ubp_tp *tp, const struct ubp_txd *d, u32 len);
/* It counts as under way no more, or does again */
void ubp_cc_out(struct ubp_tp *tp, const struct ubp_txd *d);
void ubp_cc_back(struct ubp_tp *tp, const struct ubp_txd *d);
/* Should the next packet ask for an acknowledgement? */
bool ubp_cc_ask(struct ubp_tp *tp);
/* A data packet of @size bytes from the TPH on; @taken: it was not there before */
void ubp_cc_seen(struct ubp_tp *tp, u8 level, u16 cci, u32 size, bool taken);
/* The CETPH of an acknowledgement; false: nonsense, drop it */
bool ubp_cc_rx_counters(struct ubp_tp *tp, const u8 *p);
void ubp_cc_put_counters(struct ubp_tp *tp, u8 *p);
/* A round trip was measured */
void ubp_cc_rtt(struct ubp_tp *tp, u32 rtt_us);
/* Nothing is answered: the probe that follows is sent in any case */
void ubp_cc_timeout(struct ubp_tp *tp);
/* When the timer is to look, UBP_CC_NEVER; and what it does then. True: try to send */
u64 ubp_cc_deadline(const struct ubp_tp *tp);
bool ubp_cc_timer(struct ubp_tp *tp);

#endif /* UBP_CC_H */
