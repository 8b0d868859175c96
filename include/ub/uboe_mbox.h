/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Control contract of a UB device: mailbox commands and the contexts they
 * carry. A soft device executes a command by a function call, a PCI device
 * reads the same bytes from its mailbox. Little-endian throughout; reserved
 * bytes must be zero in a command and are zero in an answer.
 *
 * Addresses of rings and records are bus addresses: what they mean is the
 * home's business (arena and offset, DMA address, pointer of the process). All are
 * multiples of UBOE_BB, else EINVAL.
 * Command numbers follow the UDMA hardware: base + 4 create, 5 modify, 6 query,
 * 7 destroy.
 */
#ifndef UB_UBOE_MBOX_H
#define UB_UBOE_MBOX_H

#include <linux/types.h>
#include <ub/uboe_io.h>

enum uboe_mbox_verb {
	UBOE_MBOX_CREATE = 4,
	UBOE_MBOX_MODIFY = 5,
	UBOE_MBOX_QUERY = 6,
	UBOE_MBOX_DESTROY = 7,
};

enum uboe_mbox_obj {
	UBOE_MBOX_JETTY = 0x00, /* JFS or jetty, 256 bytes */
	UBOE_MBOX_RCT = 0x10, /* RC table, 64 */
	UBOE_MBOX_JFC = 0x20, /* 128 */
	UBOE_MBOX_AEQ = 0x30, /* 64 */
	UBOE_MBOX_CEQ = 0x40, /* 64 */
	UBOE_MBOX_JFR = 0x50, /* 128 */
	UBOE_MBOX_JGRP = 0x60, /* jetty group, 128 */
	UBOE_MBOX_TP = 0x80, /* 128 */
	UBOE_MBOX_SEG = 0x90, /* 128 */
	UBOE_MBOX_TM = 0xa0, /* node of the traffic management, 128 */
	UBOE_MBOX_LOCKBUF = 0xb0, /* 256 */
	UBOE_MBOX_ENTITY = 0xc0, /* the function itself, 64; modify and query only */
};

#define UBOE_MBOX_CMD(obj, verb) ((obj) | (verb))
#define UBOE_MBOX_MAX_CTX 256u

enum uboe_jetty_type {
	UBOE_JETTY_RAW = 0, /* a send queue of Raw SQEs */
	UBOE_JETTY_UM = 1,
	UBOE_JETTY_RC = 2,
	UBOE_JETTY_RM = 3,
};

enum uboe_jetty_state {
	UBOE_JS_RESET = 0,
	UBOE_JS_INIT = 1, /* receives may be posted */
	UBOE_JS_RTR = 2, /* answers the channel set-up, receives */
	UBOE_JS_READY = 3, /* sends too (verbs: RTS) */
	UBOE_JS_SUSPEND = 4,
	UBOE_JS_ERROR = 5,
};

/* uboe_jetty_ctx.flags */
#define UBOE_JETTY_SIG_ALL 0x1u /* every SQE completes with a CQE */
#define UBOE_JETTY_KERNEL 0x2u /* owned by the kernel: unchecked keys allowed */
#define UBOE_JETTY_SHARED_JFR 0x4u /* its JFR serves others too: an error leaves it alone */
/* URMA: a CQE with FLUSH_DONE follows the last flushed SQE, receive CQEs name the peer */
#define UBOE_JETTY_NATIVE 0x8u
#define UBOE_JETTY_TOKEN 0x10u /* what a peer sends must carry @token */
#define UBOE_JETTY_SEND_ONLY 0x20u /* a JFS: @jfrn and @rx_jfcn are 0; not for RC */
/* RC: its DirectWQE window is looked at; the ring has each SQE too */
#define UBOE_JETTY_DWQE 0x40u
#define UBOE_JETTY_LOCKBUF 0x80u /* RC: DirectWQE only; its SQEs lie in a lock buffer */

/* Who keeps the order of what an RM jetty sends */
enum uboe_order {
	UBOE_ORDER_INITIATOR = 0, /* ROI; what the other types have instead has no choice */
	UBOE_ORDER_TARGET = 1, /* ROT; ROI towards a peer that does not grant it */
};

/* uboe_jetty_ctx.raw: the driver says what the program may do */
#define UBOE_RAW_UB 0x1u /* UBoE packets of its own making, in anybody's name */

/* Access rights of segments and of a jetty's responder */
#define UBOE_ACC_LOCAL_WRITE 0x1u
#define UBOE_ACC_REMOTE_WRITE 0x2u
#define UBOE_ACC_REMOTE_READ 0x4u
#define UBOE_ACC_REMOTE_ATOMIC 0x8u

/**
 * struct uboe_jetty_ctx - JFS or jetty
 * @sq_base: bus address of the JFS ring, (64 << @sq_shift) bytes; UBOE_JETTY_LOCKBUF:
 *	block of the lock buffer where its SQEs begin
 * @page: bus address of the jetty page
 * @tpn: RC: channel that serves it (modify to RTR), else 0
 * @msg_win: SQEs in progress at most, 1..128, 0: device's choice
 * @rnr_timer: code that the responder answers with, 0..19 (2 us << n)
 * @rnr_retry: 0..6 retries, 7 without limit
 * @sl: service level, 0..15: which queue of the traffic management is its own
 * @max_rd: Reads and atomics in progress as initiator
 * @access: UBOE_ACC_REMOTE_* that the responder grants
 * @raw: RAW: UBOE_RAW_*, else 0
 * @slice: log2 of the bytes that a Write or Read is cut into, 10..16; 0: 16. RC and RM
 * @eid: UM and RAW: our address, IPv6 or v4-mapped, network byte order
 * @mtu: UM: largest message, bytes, power of two 1024..8192; a way that carries
 *	less lowers it
 * @sport: UM and RAW: UDP source port, 0: chosen from the number
 * @order: enum uboe_order. UBOE_ORDER_TARGET: RM
 *
 * A UM jetty has no channel: it goes from INIT to READY. Each of its SQEs names a
 * target: rmt_eid, UBOE_SQE_RMT_TYPE, UBOE_SQE_RMT_ID and rmt_token. Destroying a
 * jetty takes it out of its group. A RAW one likewise; it has UBOE_JETTY_SEND_ONLY and
 * at least UBOE_MIN_RAW_DEPTH blocks, and not every device has such.
 */
struct uboe_jetty_ctx {
	__u8 state;
	__u8 type;
	__u8 sq_shift;
	__u8 flags;
	__le32 pd;
	__le64 sq_base;
	__le64 page;
	__le32 tx_jfcn;
	__le32 rx_jfcn;
	__le32 jfrn;
	__le32 token;
	__le64 user_data;
	__le32 tpn;
	__le32 rmt_jetty;
	__u8 rnr_timer;
	__u8 rnr_retry;
	__u8 access;
	__u8 sl;
	__le16 max_rd;
	__le16 max_dest_rd;
	__le16 msg_win;
	__u8 raw;
	__u8 slice;
	__le32 sq_pi; /* query: consumed by the engine */
	__u8 eid[16];
	__le16 mtu;
	__le16 sport;
	__u8 order;
	__u8 rsvd1[3];
	__le32 rsvd[40];
};

/* Which fields a modify command sets: word 0 of the mask that follows the context */
#define UBOE_JM_STATE 0x01u
#define UBOE_JM_TPN 0x02u
#define UBOE_JM_RNR_TIMER 0x04u
#define UBOE_JM_RNR_RETRY 0x08u
#define UBOE_JM_ACCESS 0x10u
#define UBOE_JM_MAX_RD 0x20u
#define UBOE_JM_MAX_DEST_RD 0x40u

/* uboe_jfc_ctx.flags */
#define UBOE_JFC_INLINE 0x1u /* short Sends arrive in the CQE, see struct uboe_cqe */

#define UBOE_MAX_MODERATE 1023u
#define UBOE_MAX_MODERATE_US 16384u

/**
 * struct uboe_jfc_ctx - completion queue
 * @base: bus address of the ring, (64 << @shift) bytes
 * @rec: bus address of struct uboe_jfc_rec
 * @moderate_count: an armed JFC fires with so many completions that would each fire
 *	it, counted from the arming on; at most UBOE_MAX_MODERATE; 0 and 1: with each
 * @moderate_period: or so many microseconds after the first of them: 0 (never), 4,
 *	16, 64, 256, 1024, 4096 or 16384. A home without such timers refuses all but 0
 */
struct uboe_jfc_ctx {
	__u8 shift;
	__u8 flags;
	__u8 state; /* query: 0 fine, 1 overflowed */
	__u8 rsvd0;
	__le32 ceqn;
	__le64 base;
	__le64 rec;
	__le16 moderate_count;
	__le16 moderate_period;
	__le32 rsvd1;
	__le32 pi; /* query */
	__le32 rsvd[23];
};

/* Modify mask of a JFC */
#define UBOE_CM_COUNT 0x1u
#define UBOE_CM_PERIOD 0x2u

/**
 * struct uboe_jfr_ctx - receive queue
 * @base: bus address of the slots, (16 << @sge_shift) << @shift bytes
 * @idx: bus address of the index ring, 4 << @shift bytes
 * @rec: bus address of struct uboe_jfr_rec
 * @limit: event when fewer receives than this are posted, 0 none
 * @jfcn, @token, @user_data: for messages that name the JFR itself, with
 *	UBOE_JFR_UM or UBOE_JFR_RM
 * @buf_shift: 0: a message takes one RQE, of any size; 11, 12: each RQE is a buffer
 *	of 2 or 4 KB, and a message takes up to UBOE_MAX_RQES of them (decision 0029)
 */
struct uboe_jfr_ctx {
	__u8 shift;
	__u8 sge_shift;
	__u8 flags;
	__u8 state;
	__le32 pd;
	__le64 base;
	__le64 idx;
	__le64 rec;
	__le32 jfcn;
	__le32 token;
	__le64 user_data;
	__le32 limit;
	__le32 ci; /* query */
	__u8 buf_shift;
	__u8 rsvd0[3];
	__le32 rsvd[17];
};

/* uboe_jfr_ctx.flags */
#define UBOE_JFR_UM 0x1u /* UM messages may name it as their target */
#define UBOE_JFR_RM 0x2u
#define UBOE_JFR_TOKEN 0x4u /* what names it must carry @token */

#define UBOE_JFR_BUF_2K 11u
#define UBOE_JFR_BUF_4K 12u

/* Modify mask of a JFR */
#define UBOE_RM_LIMIT 0x1u

/**
 * struct uboe_seg_ctx - segment (memory region)
 * @pbl: bus address of the home's page list, whose chunks are (1 << @chunk_shift) bytes
 * @off: offset of @va in the first chunk
 * @token, @token2: primary and backup TokenValue; verbs regions use 12 bits
 */
struct uboe_seg_ctx {
	__le64 va;
	__le64 len;
	__le64 pbl;
	__le64 off;
	__le32 token;
	__le32 token2;
	__le32 pd;
	__u8 access;
	__u8 chunk_shift;
	__u8 flags;
	__u8 rsvd0;
	__le32 rsvd[20];
};

#define UBOE_SEG_IDENTITY 0x1u /* kernel only: any address, va is a pointer */
#define UBOE_SEG_TOKEN2 0x2u
#define UBOE_SEG_NO_TOKEN 0x4u /* peers need no TokenValue */
#define UBOE_SEG_NATIVE 0x8u /* URMA: its token alone guards it; messages of any jetty reach it */

/*
 * Modify mask of a segment: @token, and @token2 with UBOE_SEG_TOKEN2, else none. Not of
 * those with UBOE_SEG_IDENTITY or UBOE_SEG_NO_TOKEN. Keys of local SGEs stay as they are.
 */
#define UBOE_SM_TOKENS 0x1u

#define UBOE_TPS_IDLE 0u

/**
 * struct uboe_tp_ctx - one end of a transport channel
 * @jetty: that it belongs to, whose number makes its own (UB_TPN_RC); 0: shared by RM
 *	jetties, one for each pair of addresses, with a number below 0x800000
 * @laddr, @raddr: IPv6 or v4-mapped addresses, network byte order
 * @cc: congestion control that this end wants, UB_CC_* (docs/decisions/0037; CAQM where the
 *	port is one of a UB domain, else EINVAL); query: what is used, before the peer has
 *	answered what is wanted
 * @timeout_ns: how long unanswered retransmission may last, 0 for ever
 * @mtu: largest payload offered, bytes, power of two 1024..8192
 * @vl: of a shared channel, 0..15: whose RC table it has; 0 for others
 * @state: query: UBOE_TPS_IDLE: neither open nor being opened
 */
struct uboe_tp_ctx {
	__u8 laddr[16];
	__u8 raddr[16];
	__le32 jetty;
	__le32 rmt_jetty;
	__le16 sport; /* 0: chosen from the numbers */
	__le16 dport; /* 0: 4792 */
	__u8 traffic_class;
	__u8 hop_limit; /* 0: 64 */
	__u8 retrans; /* UB_TPCM_RETRANS_*, 0xff: device's choice */
	__u8 cc;
	__le32 flow_label;
	__le16 mtu;
	__le16 window; /* packets, power of two 128..2048, 0: device's choice */
	__le64 timeout_ns;
	__le32 rto_min_us; /* 0: device's choice */
	__u8 state; /* query */
	__u8 vl;
	__u8 rsvd0[2];
	__le32 srtt_us; /* query */
	__le32 rsvd[13];
};

/* Modify mask of a TP */
#define UBOE_TM_TIMEOUT 0x1u

/*
 * RC tables: the tag is a jetty, or names the setting of a VL, which always exists: depth
 * and watermark of tables made later. A jetty's VL is that of its queue, else its SL.
 */
#define UBOE_RCT_TAG_VL(vl) (0x80000000u | (vl))

/* Modify mask of an RC table; the depth only of a VL's setting */
#define UBOE_RCTM_SHIFT 0x1u
#define UBOE_RCTM_WATERMARK 0x2u

/**
 * struct uboe_rct_ctx - RC table, remote commands in progress
 * @shift: log2 of its depth in 64-byte blocks, 6..15; create: 0: as the VL has it,
 *	the watermark too
 * @jetty: as the tag says; 0 of a VL's setting
 * @watermark: blocks in use from which sources are slowed down (docs/decisions/0028):
 *	1..depth, 0: the depth
 */
struct uboe_rct_ctx {
	__u8 shift;
	__u8 rsvd0[3];
	__le32 jetty;
	__le32 watermark;
	__le32 used; /* query */
	__le32 rsvd[12];
};

/**
 * struct uboe_eq_ctx - event queue
 * @base: bus address of 64-byte elements, (64 << @shift) bytes
 */
struct uboe_eq_ctx {
	__u8 shift;
	__u8 flags;
	__le16 vector;
	__le32 ci;
	__le64 base;
	__le32 pi; /* query */
	__le32 rsvd[11];
};

/* Who of a group receives: its members in turn, or the one that the hint chooses */
enum uboe_jgrp_policy { UBOE_JGRP_RR = 0, UBOE_JGRP_HINT = 1 };

/* uboe_jgrp_ctx.flags */
#define UBOE_JGRP_TOKEN 0x1u /* what names it must carry @token */

/* Modify mask of a jetty group */
#define UBOE_GM_JOIN 0x1u
#define UBOE_GM_LEAVE 0x2u

/**
 * struct uboe_jgrp_ctx - jetty group: up to 32 jetties behind one id
 * @policy: enum uboe_jgrp_policy. HINT: member number hint modulo @count, counted
 *	in the order of joining. A member that is not READY is passed over: the
 *	next one that is takes the message
 * @type: enum uboe_jetty_type of its members, UM or RM; 0: that of the first one
 * @count: query: members
 * @pd: of all members
 * @member: modify: the jetty that joins or leaves; one group at a time
 *
 * A group with members cannot be destroyed (-EBUSY).
 */
struct uboe_jgrp_ctx {
	__u8 policy;
	__u8 flags;
	__u8 type;
	__u8 count;
	__le32 pd;
	__le32 token;
	__le32 member;
	__le32 rsvd[28];
};

/*
 * Traffic management (docs/decisions/0022): a tree of nodes, created from the port
 * down and destroyed from the leaves up. The tag names level and number.
 */
enum uboe_tm_level {
	UBOE_TML_PORT = 1, /* number 0 */
	UBOE_TML_GROUP = 2, /* function group, 0..31, of the port */
	UBOE_TML_FUNCTION = 3, /* 0..63, at most 8 of a group */
	UBOE_TML_QSET = 4, /* queue set, 0..127, one for each VL of a function */
	UBOE_TML_QUEUE = 5, /* the queue of the set of the same number; query only */
	UBOE_TML_JETTY = 6, /* a jetty's own limit, and its place in the tree */
};

#define UBOE_TM_GROUPS 32u
#define UBOE_TM_FUNCTIONS 64u
#define UBOE_TM_QSETS 128u

#define UBOE_TM_TAG(level, number) ((__u32)(level) << 24 | (number))
#define UBOE_TM_TAG_LEVEL(tag) ((tag) >> 24)
#define UBOE_TM_TAG_NUMBER(tag) ((tag)&0xffffffu)
#define UBOE_TM_NO_PARENT 0xffffffffu

#define UBOE_TM_MIN_KBPS 1000u /* 1 Mb/s */
#define UBOE_TM_MAX_KBPS 200000000u /* 200 Gb/s */
#define UBOE_TM_MAX_BURST (64u << 20)
#define UBOE_TM_MAX_PRIO 7u
#define UBOE_TM_MAX_WEIGHT 255u

/**
 * struct uboe_tm_ctx - node of the traffic management
 * @prio: among its siblings, 0..7; a higher one goes first, always
 * @vl: queue set: which VL of its function it serves, 0..15
 * @weight: among siblings of the same @prio, 1..255
 * @parent: number of the node one level up; a jetty names a function, whose queue
 *	set follows from the jetty's SL, or UBOE_TM_NO_PARENT: own limit only
 * @peak_kbps: limit, kb/s of bytes from the IP header on; 0: none
 * @committed_kbps: function and group only: what it gets before @prio and @weight of
 *	its siblings count; 0: nothing, else at most @peak_kbps where that is not 0
 * @peak_burst, @committed_burst: bytes; 0: what the rate gives in a millisecond
 * @sl_vl: function: VL of each SL
 * @sent: query: bytes
 * @waiting: query: children (queue set, queue: jetties) that wait now
 */
struct uboe_tm_ctx {
	__u8 prio;
	__u8 vl;
	__le16 weight;
	__le32 parent;
	__le32 peak_kbps;
	__le32 peak_burst;
	__le32 committed_kbps;
	__le32 committed_burst;
	__u8 sl_vl[16];
	__le64 sent;
	__le32 waiting;
	__le32 rsvd[19];
};

/* Modify mask of a node; a jetty has only PEAK */
#define UBOE_TMM_PRIO 0x1u
#define UBOE_TMM_WEIGHT 0x2u
#define UBOE_TMM_PEAK 0x4u
#define UBOE_TMM_COMMITTED 0x8u
#define UBOE_TMM_SL_VL 0x10u /* jetties bound from now on */

/* The two lock buffers (docs/decisions/0023): the tag of their commands */
#define UBOE_LOCKBUF_WQE 0u /* 4096 blocks of 64 bytes */
#define UBOE_LOCKBUF_STARS 1u /* 128 */

/**
 * struct uboe_lockbuf_ctx - a lock buffer
 * @start_jetty, @end_jetty: first and last jetty that have a place in it; the same for
 *	all functions, and disjoint from those of the other buffer
 * @bb_shift: log2 of the blocks that each has, 0..12
 * @fe_enable: bit n: function n uses it; a soft device has function 0
 * @fe_start: of each enabled function: block of its first jetty
 * @jetties: query: that have a place in it now
 *
 * Block of a jetty's SQE block i: fe_start + (jetty - start_jetty) * 2^bb_shift +
 * i % 2^bb_shift
 */
struct uboe_lockbuf_ctx {
	__le32 start_jetty;
	__le32 end_jetty;
	__u8 bb_shift;
	__u8 rsvd0[3];
	__le32 jetties;
	__le64 fe_enable;
	__le16 fe_start[64];
	__le32 rsvd[26];
};

/* Modify mask of an entity: one at a time */
#define UBOE_EM_NPI 0x1u
#define UBOE_EM_RESET 0x2u

#define UBOE_NPI_ID 0x00ffffffu /* 1: the default partition; 0 is invalid */
#define UBOE_NPI_LOW 0x01000000u /* low privilege */

/**
 * struct uboe_entity_ctx - the function itself; the tag is its number, 0 on a soft device
 * @npi: network partition: UBOE_NPI_ID and UBOE_NPI_LOW (docs/decisions/0032). Set while
 *	there is no jetty (-EBUSY); channels that RM jetties shared are closed
 * @jetties: query: that exist
 * @resets: query: since the device began
 *
 * UBOE_EM_RESET (docs/decisions/0033): jetties go to ERROR and flush their work, peers are
 * told, JFRs and segments are reached by nobody any more. All of them can be destroyed,
 * and new ones work at once. JFCs, groups, partition, lock buffers and traffic management
 * stay. Asynchronous events: UBOE_EV_SUB_RESET, then one of each jetty, then
 * UBOE_EV_SUB_RESET_DONE.
 */
struct uboe_entity_ctx {
	__le32 npi;
	__le32 jetties;
	__le32 resets;
	__le32 rsvd[13];
};

UBOE_ASSERT(sizeof(struct uboe_entity_ctx) == 64);
UBOE_ASSERT(sizeof(struct uboe_tm_ctx) == 128);
UBOE_ASSERT(sizeof(struct uboe_lockbuf_ctx) == 256);
UBOE_ASSERT(sizeof(struct uboe_jetty_ctx) == 256);
UBOE_ASSERT(sizeof(struct uboe_jgrp_ctx) == 128);
UBOE_ASSERT(sizeof(struct uboe_jfc_ctx) == 128);
UBOE_ASSERT(sizeof(struct uboe_jfr_ctx) == 128);
UBOE_ASSERT(sizeof(struct uboe_seg_ctx) == 128);
UBOE_ASSERT(sizeof(struct uboe_tp_ctx) == 128);
UBOE_ASSERT(sizeof(struct uboe_rct_ctx) == 64);
UBOE_ASSERT(sizeof(struct uboe_eq_ctx) == 64);

#endif /* UB_UBOE_MBOX_H */
