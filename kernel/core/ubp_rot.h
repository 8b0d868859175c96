/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Service mode ROT: the target keeps the order of what one jetty sends to it, by
 * a sequence context that it grants for the jetty's first request
 * (Base Spec 7.3; docs/decisions/0034).
 *
 * Everything here belongs to a shared channel and is guarded by its lock.
 */
#ifndef UBP_ROT_H
#define UBP_ROT_H

#include "ub_wire.h"
#include "ubp_os.h"

struct ubp_jetty;
struct ubp_rreq;
struct ubp_share;
struct ubp_ta;
struct ubp_tp;

#define UBP_ROT_MAX 64u /* sequence contexts of each direction; a power of two */
#define UBP_ROT_IDLE 10000000000ull /* ns: an initiator lets go of one that rests so long */
#define UBP_ROT_KEEP 60000000000ull /* a target keeps one at least so long */
#define UBP_ROT_AGAIN 1000000000ull /* an initiator that got none asks again */

enum ubp_rot_state {
	UBP_ROT_NONE, /* to be asked for */
	UBP_ROT_ASKED, /* a request with Alloc is in progress */
	UBP_ROT_HELD, /* granted */
	UBP_ROT_DENIED, /* answered without: order is the initiator's until @at */
};

/**
 * struct ubp_rot_ini - sequence context of one of our jetties at the peer
 * @jetty: whose, UBP_RM_NOBODY: free
 * @state: enum ubp_rot_state
 * @scid: HELD: its number
 * @ssn: HELD: TASSN of its next request
 * @at: HELD: when its last request was sent. DENIED: when to ask again
 */
struct ubp_rot_ini {
	u32 jetty;
	u8 state;
	u16 scid;
	u16 ssn;
	u64 at;
};

/**
 * struct ubp_rot_tgt - sequence context that the peer has here
 * @jetty: INI_RC_ID of whom, UBP_RM_NOBODY: free
 * @turn: how often the entry was given away: part of the number
 * @at: when its last request arrived
 */
struct ubp_rot_tgt {
	u32 jetty;
	u16 turn;
	u64 at;
};

struct ubp_rot {
	struct ubp_rot_ini ini[UBP_ROT_MAX];
	struct ubp_rot_tgt tgt[UBP_ROT_MAX];
};

/* INI_RC_Type and _ID: is it a context, and no queue? */
static inline bool ubp_rot_is_context(u32 rcid)
{
	return UBP_GET(UB_BTAH_RC_TYPE, rcid) == UB_RC_TYPE_SC;
}

/* Initiator. A request of such a jetty begins: in the context, or asks for one, or neither */
void ubp_rot_start(struct ubp_tp *tp, struct ubp_rreq *rq, struct ubp_jetty *j);
/* Its first packet goes to the channel */
void ubp_rot_sent(struct ubp_tp *tp, const struct ubp_rreq *rq);
/* A request that asked was answered, well or badly */
void ubp_rot_answer(struct ubp_tp *tp, struct ubp_rreq *rq, const struct ubp_ta *ta);
/* A request is forgotten: if it asked, nobody will say anything to that any more */
void ubp_rot_forget(struct ubp_share *sh, const struct ubp_rreq *rq);
/* Work of this jetty comes to the channel: tell it who keeps its order */
void ubp_rot_tell(struct ubp_tp *tp, struct ubp_jetty *j);

/* Target. Whose request this is: INI_RC_ID of the jetty, UBP_RM_NOBODY: no such context */
u32 ubp_rot_from(struct ubp_tp *tp, u32 rcid);
/* A context for this initiator. Return: its number, 0: none is to be had */
u16 ubp_rot_grant(struct ubp_tp *tp, u32 rcid);
/* Must it wait? Strong order, and a Read before it may still be answered from memory */
bool ubp_rot_must_wait(const struct ubp_tp *tp, const struct ubp_ta *ta);

/* Both: the channel begins anew */
void ubp_rot_reset(struct ubp_share *sh);

#endif /* UBP_ROT_H */
