/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lock buffers: device memory that holds the SQEs of some jetties instead of a ring
 * in host memory (docs/decisions/0023). They come by DirectWQE only.
 */
#ifndef UBP_LOCKBUF_H
#define UBP_LOCKBUF_H

#include "ubp_obj.h"

#define UBP_LOCKBUF_WQE_BBS 4096u
#define UBP_LOCKBUF_STARS_BBS 128u
#define UBP_LOCKBUF_FES 64u
#define UBP_LOCKBUF_MAX_SHIFT 12u

/**
 * struct ubp_lockbuf - one of the two buffers
 * @mem: its base blocks
 * @users: jetties that have a place in it
 */
struct ubp_lockbuf {
	u32 start_jetty;
	u32 end_jetty; /* the last one */
	u32 bbs;
	u32 bb_shift;
	u64 fe_enable;
	u16 fe_start[UBP_LOCKBUF_FES];
	u32 users;
	u8 *mem;
};

enum ubp_lockbuf_err {
	UBP_LB_OK,
	UBP_LB_RANGE, /* last jetty before the first, or no jetty numbers */
	UBP_LB_SHIFT, /* a jetty would have more blocks than any can */
	UBP_LB_NO_FE, /* enabled for nobody */
	UBP_LB_FE, /* a function that the buffer does not know has a start */
	UBP_LB_CAPACITY, /* a function's jetties reach over the end */
	UBP_LB_OVERLAP, /* two functions would share blocks */
	UBP_LB_OTHER, /* jetties of the other buffer */
	UBP_LB_RESERVED, /* a reserved field is not zero */
	UBP_LB_MAX,
};

const char *ubp_lockbuf_err_name(u32 err);

/**
 * ubp_lockbuf_check - may a buffer be set up like this?
 * @other: the buffer that exists already, or NULL
 */
enum ubp_lockbuf_err ubp_lockbuf_check(const struct ubp_lockbuf *b,
				       const struct ubp_lockbuf *other);

/* Is the jetty one of the buffer's? */
bool ubp_lockbuf_has(const struct ubp_lockbuf *b, u32 fe, u32 jetty);

/* Block of a jetty's SQE block @sqebb; the jetty is one of the buffer's (seed 003, 7.2) */
static inline u32 ubp_lockbuf_index(const struct ubp_lockbuf *b, u32 fe, u32 jetty, u32 sqebb)
{
	u32 depth = 1u << b->bb_shift;

	return b->fe_start[fe] + (jetty - b->start_jetty) * depth + sqebb % depth;
}

/*
 * Index of block @i of a DirectWQE of @bbs blocks, whose word 0 says @idx, the index
 * behind its last one
 */
static inline u32 ubp_dwqe_sqebb(u32 idx, u32 bbs, u32 i)
{
	return idx - bbs + i;
}

/* Mailbox */
int ubp_lockbuf_create(struct ubp_dev *dev, u32 tag, const struct uboe_lockbuf_ctx *ctx);
int ubp_lockbuf_query(struct ubp_dev *dev, u32 tag, struct uboe_lockbuf_ctx *ctx);
int ubp_lockbuf_destroy(struct ubp_dev *dev, u32 tag);
void ubp_lockbuf_exit(struct ubp_dev *dev);

/**
 * ubp_lockbuf_join - give a new jetty its place
 * @ctx: its context; in a buffer's range: with UBOE_JETTY_LOCKBUF, the depth that all
 *	have there, and the formula's block as its @sq_base
 *
 * Return: 0, also for a jetty that belongs to no buffer and does not ask for one;
 * -EINVAL
 */
int ubp_lockbuf_join(struct ubp_jetty *j, const struct uboe_jetty_ctx *ctx);
void ubp_lockbuf_part(struct ubp_jetty *j);

/* ubp_dwqe.c */
/* Before the first look at a jetty's page */
void ubp_dwqe_init(struct ubp_jetty *j);
/**
 * ubp_dwqe_next - the SQE in the window, when it is the next one of its jetty
 *
 * Return: true: @j->fetched stands behind it
 */
bool ubp_dwqe_next(struct ubp_jetty *j, struct ubp_sqe *s);
/* Take what is in the window of a jetty with a lock buffer; BBs not fetched yet */
u32 ubp_dwqe_posted(struct ubp_jetty *j);

#endif /* UBP_LOCKBUF_H */
