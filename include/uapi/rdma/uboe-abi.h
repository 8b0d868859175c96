/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Kernel ABI of uboe.ko, on top of the standard uverbs objects. Host byte order
 * like all of uverbs; sizes are multiples of 8; unknown bits in a request are
 * refused with EOPNOTSUPP, non-zero reserved bytes with EINVAL.
 *
 * Memory shared with the device lives in arenas of the context: an arena comes
 * into being when user space maps it,
 *
 *	mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, cmd_fd,
 *	     UBOE_MMAP_OFFSET(id) * page_size)
 *
 * with an id below the context's max_arenas that is not in use. It lasts until
 * the context and every queue in it are gone; unmapping does not end it. Rings,
 * records and jetty pages are named by UBOE_ARENA_ADDR(id, offset) and must lie
 * wholly in one arena, aligned to 64 bytes (jetty pages: to the stride).
 *
 * Work is announced by the rules in ub/uboe_io.h. KICK is the standard
 * POST_SEND command with wr_count 0 on the QP.
 *
 * What URMA has and verbs has not travels in the same commands, in fields at the
 * end of a request that may be left out, and in methods of the device. Jetties
 * without a connection (RM, UM), JFSs and raw queues are queue pairs of type DRIVER, whose
 * states are RESET, INIT (with the RNR timer and retries, if wanted), RTS and ERR.
 */
#ifndef UBOE_ABI_H
#define UBOE_ABI_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

#define UBOE_ABI_VERSION 1

/* Driver id in netlink, in uverbs ioctls and in the provider's match table */
#define UBOE_DRIVER_ID 0x5542

#define UBOE_MMAP_ARENA_BASE 0x10000ull
#define UBOE_MMAP_OFFSET(id) (UBOE_MMAP_ARENA_BASE + (id))
#define UBOE_ARENA_ADDR(id, off) ((__u64)(id) << 32 | (__u32)(off))
#define UBOE_MAX_ARENAS 4096
#define UBOE_ARENA_MAX_SIZE (64u << 20)

enum uboe_ctx_flags {
	UBOE_CTX_SOFT = 1 << 0, /* records and doorbells are polled; see need_kick */
	UBOE_CTX_DWQE = 1 << 1, /* DirectWQE windows are looked at */
};

struct uboe_alloc_ucontext_req {
	__u32 abi_version;
	__u32 flags; /* none defined */
};

/* Jetties that have a place in a lock buffer (UBOE_QP_LOCKBUF), and the depth of each */
struct uboe_lockbuf_range {
	__u32 first;
	__u32 last; /* 0: there is no such buffer */
	__u32 blocks; /* power of two */
	__u32 rsvd;
};

struct uboe_alloc_ucontext_resp {
	__u32 abi_version;
	__u32 flags; /* enum uboe_ctx_flags */
	__u32 jpage_stride;
	__u32 max_arenas;
	__u32 arena_max_size;
	__u32 max_inline;
	__u64 caps; /* enum ub_cap */
	/* kernels of before leave it out: by UBOE_LOCKBUF_* of ub/uboe_mbox.h */
	struct uboe_lockbuf_range lockbuf[2];
};

enum uboe_cq_flags {
	UBOE_CQ_INLINE = 1 << 0, /* short Sends arrive in the CQE (UBOE_JFC_INLINE) */
};

struct uboe_create_cq_req {
	__aligned_u64 ring; /* 64 bytes << shift */
	__aligned_u64 rec; /* struct uboe_jfc_rec */
	__u32 shift; /* at least 6, at most 20; not below the cqe asked for */
	__u32 flags; /* enum uboe_cq_flags */
};

struct uboe_create_cq_resp {
	__u32 cqn;
	__u32 depth;
};

/*
 * RESIZE_CQ: the device copies every CQE from the record's ci on to the new ring,
 * at the same free-running indices and with the owner bits that the new depth
 * asks for, and goes on there; EINVAL when they do not fit. The old ring is user
 * space's again when the command has returned. No response.
 */
struct uboe_resize_cq_req {
	__aligned_u64 ring; /* 64 bytes << shift */
	__u32 shift; /* 6..20, not below the cqe asked for */
	__u32 flags;
};

struct uboe_rq_req {
	__aligned_u64 ring; /* slots */
	__aligned_u64 idx;
	__aligned_u64 rec; /* struct uboe_jfr_rec */
	__u8 shift; /* 6..15 */
	__u8 sge_shift; /* 0..2 */
	/* 0; of an SRQ 11 or 12: buffers of this size, up to four a message (uboe_jfr_ctx) */
	__u8 buf_shift;
	__u8 rsvd[5];
};

enum uboe_qp_flags {
	/* An URMA jetty (UBOE_JETTY_NATIVE in ub/uboe_mbox.h); it has an SRQ */
	UBOE_QP_NATIVE = 1 << 0,
	/* What a peer sends must carry @token; native ones only */
	UBOE_QP_TOKEN = 1 << 1,
	/* A JFS: no SRQ, no receive queue, one CQ; type DRIVER only */
	UBOE_QP_SEND_ONLY = 1 << 2,
	/* Service mode ROT (UBOE_ORDER_TARGET in ub/uboe_mbox.h); @type UBOE_JETTY_RM only */
	UBOE_QP_TARGET_ORDER = 1 << 3,
	/*
	 * Its SQEs come by DirectWQE only and lie in a lock buffer (UBOE_JETTY_LOCKBUF in
	 * ub/uboe_mbox.h): type RC, native, @id in the range of a buffer, which none but such
	 * a jetty can have, its depth, and @sq 0
	 */
	UBOE_QP_LOCKBUF = 1 << 4,
};

struct uboe_create_qp_req {
	__aligned_u64 sq; /* BBs */
	__aligned_u64 jpage;
	struct uboe_rq_req rq; /* all zero with an SRQ */
	__u8 sq_shift; /* log2 of BBs, 0..15 */
	__u8 rsvd[3];
	__u32 flags; /* enum uboe_qp_flags */
	/* may be left out; zero unless native */
	__u32 id; /* wanted number, 2 to 2^16 + 1023; 0: any. EEXIST when in use */
	__u32 token; /* TokenValue */
	/* may be left out; zero unless the type is DRIVER */
	/*
	 * UBOE_JETTY_UM or UBOE_JETTY_RM of ub/uboe_mbox.h, or UBOE_JETTY_RAW, send only: with
	 * CAP_NET_RAW in the device's network namespace it has UBOE_RAW_UB
	 */
	__u32 type;
	__u32 group; /* one of this context that it joins, 0: none. ENOSPC when full */
	__u8 eid[16]; /* own address, one of the port's GIDs */
};

struct uboe_create_qp_resp {
	__u32 qpn;
	__u32 rsvd;
};

/* A JFR that is a target by itself; what names it completes at @cqn */
enum uboe_srq_flags {
	UBOE_SRQ_UM = 1 << 0,
	UBOE_SRQ_RM = 1 << 1,
	UBOE_SRQ_TOKEN = 1 << 2, /* what names it must carry @token */
};

struct uboe_create_srq_req {
	struct uboe_rq_req rq;
	__u64 flags; /* enum uboe_srq_flags */
	/* may be left out */
	__u32 id; /* wanted number, from 1 to 2^18 - 1; 0: any. EEXIST when in use */
	__u32 token; /* zero without UBOE_SRQ_TOKEN */
	/* may be left out; zero unless it is a target */
	__u32 cqn; /* number of a CQ of this context, which it keeps busy */
	__u32 rsvd;
};

struct uboe_create_srq_resp {
	__u32 srqn;
	__u32 rsvd;
};

enum uboe_mr_flags {
	UBOE_MR_NATIVE = 1 << 0, /* an URMA segment: @token_id, @token and @va hold */
	UBOE_MR_NO_TOKEN = 1 << 1, /* peers need no TokenValue; native ones only */
};

/*
 * REG_MR, may be left out as a whole. lkey and rkey of an URMA segment are its
 * TokenID << 12 | the low 12 bits of its TokenValue: the local key.
 */
struct uboe_reg_mr_req {
	__u32 flags; /* enum uboe_mr_flags */
	__u32 token_id; /* one that this context reserved, or 0: any */
	__u32 token; /* TokenValue; peers need all 32 bits of it */
	__u32 rsvd;
	__aligned_u64 va; /* address of the first byte for SGEs and peers, whatever hca_va says */
};

/* A jetty group */
struct uboe_group_req {
	__u32 id; /* wanted number, from 1 to 2^16; 0: any. EEXIST when in use */
	__u32 token; /* zero without UBOE_JGRP_TOKEN */
	__u8 policy; /* enum uboe_jgrp_policy of ub/uboe_mbox.h */
	__u8 flags; /* UBOE_JGRP_TOKEN */
	__u8 rsvd[6];
};

/* The way from one of the port's addresses to a peer, IPv6 or v4-mapped */
struct uboe_target_req {
	__u8 laddr[16];
	__u8 raddr[16];
	__u32 type; /* UBOE_JETTY_UM or UBOE_JETTY_RM */
	__u32 rsvd;
};

/*
 * Methods of UVERBS_OBJECT_DEVICE. A TokenID belongs to the context that reserved it
 * and serves one segment at a time: EEXIST while it has one, EBUSY when such a one is
 * freed, ENOENT for a number that the context has not. A group ends with its context,
 * too; EBUSY while it has members. TARGET_OPEN tells whether there is a way, and for
 * RM which channel the SQEs have to name (UBOE_SQE_TP_ID); it lasts as long as the
 * context at least. EADDRNOTAVAIL: an address is not ours, or none of a peer;
 * ENETUNREACH: no route; ENOSPC: no more channels.
 *
 * TM_SET and TM_QUERY are the commands UBOE_MBOX_TM of ub/uboe_mbox.h, with its tags,
 * context (little-endian, as there) and errors (docs/decisions/0035). TM_SET wants
 * CAP_NET_ADMIN of the machine, as rdma/uboe-netlink.h does: EPERM.
 */
enum uboe_device_methods {
	UBOE_METHOD_TOKEN_ID_ALLOC = 1U << UVERBS_ID_NS_SHIFT,
	UBOE_METHOD_TOKEN_ID_FREE,
	UBOE_METHOD_GROUP_ALLOC,
	UBOE_METHOD_GROUP_FREE,
	UBOE_METHOD_TARGET_OPEN,
	UBOE_METHOD_TM_SET,
	UBOE_METHOD_TM_QUERY,
};

struct uboe_tm_set_req {
	__u32 verb; /* UBOE_MBOX_CREATE, _MODIFY or _DESTROY; others: EOPNOTSUPP */
	__u32 tag; /* UBOE_TM_TAG() */
	__u32 mask; /* UBOE_TMM_*; 0 unless _MODIFY */
	__u32 rsvd;
};

enum uboe_tm_set_attrs {
	UBOE_ATTR_TM_SET_REQ = 1U << UVERBS_ID_NS_SHIFT, /* in: struct uboe_tm_set_req */
	UBOE_ATTR_TM_SET_CTX, /* in: struct uboe_tm_ctx; zero with _DESTROY */
};

enum uboe_tm_query_attrs {
	UBOE_ATTR_TM_QUERY_TAG = 1U << UVERBS_ID_NS_SHIFT, /* in: __u32 */
	UBOE_ATTR_TM_QUERY_RESP, /* out: struct uboe_tm_ctx */
};

enum uboe_group_alloc_attrs {
	UBOE_ATTR_GROUP_ALLOC_PD = 1U << UVERBS_ID_NS_SHIFT, /* handle: of all members */
	UBOE_ATTR_GROUP_ALLOC_REQ, /* in: struct uboe_group_req */
	UBOE_ATTR_GROUP_ALLOC_RESP, /* out: __u32, its number */
};

enum uboe_group_free_attrs {
	UBOE_ATTR_GROUP_FREE_ID = 1U << UVERBS_ID_NS_SHIFT, /* in: __u32 */
};

enum uboe_target_open_attrs {
	UBOE_ATTR_TARGET_OPEN_REQ = 1U << UVERBS_ID_NS_SHIFT, /* in: struct uboe_target_req */
	UBOE_ATTR_TARGET_OPEN_RESP, /* out: __u32, the channel; UM: 0 */
};

enum uboe_token_id_alloc_attrs {
	UBOE_ATTR_TOKEN_ID_ALLOC_RESP = 1U << UVERBS_ID_NS_SHIFT, /* out: __u32 */
};

enum uboe_token_id_free_attrs {
	UBOE_ATTR_TOKEN_ID_FREE_ID = 1U << UVERBS_ID_NS_SHIFT, /* in: __u32 */
};

/*
 * Methods of UVERBS_OBJECT_MR. TOKEN_ROTATE: peers need one of two TokenValues from now
 * on, which may be the same; lkey and rkey stay. EINVAL unless it is an URMA segment
 * with a TokenValue.
 */
enum uboe_mr_methods {
	UBOE_METHOD_TOKEN_ROTATE = 1U << UVERBS_ID_NS_SHIFT,
};

enum uboe_token_rotate_attrs {
	UBOE_ATTR_TOKEN_ROTATE_MR = 1U << UVERBS_ID_NS_SHIFT, /* in: handle */
	UBOE_ATTR_TOKEN_ROTATE_TOKEN, /* in: __u32 */
	UBOE_ATTR_TOKEN_ROTATE_BACKUP, /* in: __u32 */
};

#endif /* UBOE_ABI_H */
