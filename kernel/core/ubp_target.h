/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages that name their target with each request instead of by a connection:
 * who receives, and unreliable messages (UM, service mode UNO).
 */
#ifndef UBP_TARGET_H
#define UBP_TARGET_H

#include "ubp_encap.h"
#include "ubp_obj.h"
#include "ubp_pkt.h"

/**
 * struct ubp_target - who receives a message
 * @jetty: the jetty, or the member that a group chose; NULL: the JFR by itself
 * @jfr: where receives come from
 * @has_token, @token: what the message must carry
 */
struct ubp_target {
	struct ubp_jetty *jetty;
	struct ubp_jfr *jfr;
	bool has_token;
	u32 token;
};

/**
 * ubp_target_find - resolve what a message names
 * @mode: UBOE_JETTY_UM or UBOE_JETTY_RM; a target of another mode is none
 * @mt: MTETAH as a 32-bit word: hint, type (enum uboe_rmt_type) and id
 *
 * Call between ubp_read_begin() and ubp_read_end(), which keep the target's memory;
 * no lock is held afterwards. The state of a jetty is looked at by
 * ubp_target_enter().
 *
 * Return: 0, or the drop reason (enum ubp_stat).
 */
u32 ubp_target_find(struct ubp_dev *dev, u8 mode, u32 mt, struct ubp_target *t);

/*
 * May a message with this token be received now? 0: yes, and the target is locked
 * until ubp_target_leave(). Else the drop reason.
 */
u32 ubp_target_enter(const struct ubp_target *t, bool tv_en, u32 token);
/* Locked whatever its state is: for who has a receive of it */
void ubp_target_hold(const struct ubp_target *t);
void ubp_target_leave(const struct ubp_target *t);

/* Completion of a receive of the target, which is entered; false: its JFC is full */
bool ubp_target_done(const struct ubp_target *t, struct ubp_comp *c);

/* ubp_jgrp.c: the member whose turn it is; NULL: there is no group or nobody in it */
struct ubp_jetty *ubp_jgrp_choose(struct ubp_dev *dev, u8 mode, u32 id, u8 hint,
				  struct ubp_target *t);

/* ubp_um.c */
int ubp_um_create(struct ubp_jetty *jetty, const struct uboe_jetty_ctx *ctx);
void ubp_um_query(const struct ubp_jetty *jetty, struct uboe_jetty_ctx *ctx);
/* It is dead: give back what it has */
void ubp_um_destroy(struct ubp_jetty *jetty);
/* Send what is posted. Lock held, READY. True: a driver is to call again */
bool ubp_um_kick(struct ubp_jetty *jetty, bool drive);
/*
 * The way to @eid, kept for later; NULL: there is none.
 * @room: largest payload, of a raw queue the largest body of a datagram
 */
struct ubp_path *ubp_um_path(struct ubp_jetty *jetty, const u8 *eid, u32 *room);

enum ubp_um_sent { UBP_UM_SENT, UBP_UM_BAD, UBP_UM_NO_ROOM };

/* What became of one SQE; @status, @sub: with UBP_UM_BAD */
struct ubp_um_turn {
	u32 len;
	u8 nbb;
	u8 status;
	u8 sub;
	bool cqe;
};

/* ubp_raw.c: the next SQE of a raw queue */
enum ubp_um_sent ubp_raw_one(struct ubp_jetty *jetty, u32 avail, struct ubp_um_turn *t);
bool ubp_raw_ok(const struct uboe_jetty_ctx *ctx);

/* A parsed Send, with or without immediate */
void ubp_um_rx(struct ubp_dev *dev, const struct ubp_encap *e, const struct ubp_ta *ta);

/* ubp_utp.c: a packet of its own: headers, then @h->pld_len bytes, then off it goes */
struct ubp_utp {
	struct ubp_txbuf buf;
	u8 *pld;
	u32 len;
};

/* Of a packet with these headers, from the IP header on */
u32 ubp_utp_len(const struct ubp_path *path, u32 npi, const struct ubp_ta *h);
/* False: no room now. @h: all but the sequence number */
bool ubp_utp_begin(struct ubp_dev *dev, struct ubp_path *path, struct ubp_ta *h, struct ubp_utp *u);
void ubp_utp_end(struct ubp_dev *dev, struct ubp_path *path, struct ubp_utp *u);

#endif /* UBP_TARGET_H */
