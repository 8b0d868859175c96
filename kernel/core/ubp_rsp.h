/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Parts of the responder: ubp_rsp.c keeps the order, ubp_atomic.c changes memory in place. */
#ifndef UBP_RSP_H
#define UBP_RSP_H

#include "ubp_ta.h"

typedef bool (*ubp_rsp_fn)(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta);

/* What executes one packet of such a request; NULL: there is none */
ubp_rsp_fn ubp_rsp_find(const struct ubp_ta *ta);

/* Refuse the message for good, or the peer's access to memory; false, for the caller to return */
bool ubp_rsp_unsupported(struct ubp_tp *tp);
bool ubp_rsp_abort(struct ubp_tp *tp);

/* The memory that a request names by its key; NULL refuses. Under ubp_read_begin() */
struct ubp_seg *ubp_rsp_seg(struct ubp_tp *tp, const struct ubp_ta *ta, u32 need, u32 len);

/* A connection has rights and a protection domain; elsewhere the segment's token decides */
bool ubp_rsp_may(const struct ubp_tp *tp, u32 need);
u32 ubp_rsp_pd(const struct ubp_tp *tp);

/* The payload of a Write into memory; false: refused, and nothing was written */
bool ubp_rsp_place(struct ubp_tp *tp, const struct ubp_ta *ta);

/* An RC table entry for the answer @op, not yet counted; NULL: the table is full, RNR was said */
struct ubp_rce *ubp_rsp_rce(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta,
			    u8 op);

/* Handlers of a packet; false: refused, and memory is as before */
bool ubp_rsp_read(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta);
bool ubp_rsp_atomic(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta);
bool ubp_rsp_store_add(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta);
bool ubp_rsp_write_reduce(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta);
bool ubp_rsp_read_reduce(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta);

#endif /* UBP_RSP_H */
