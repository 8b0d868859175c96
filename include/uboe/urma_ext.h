/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the URMA API has no names for: operations, rotation of tokens, receive buffers of
 * one size, raw queues, the device as a whole, traffic management. A request that says
 * flag.bs.has_drv_ext is the first member of a struct uboe_jfs_wr.
 *
 *	Write with reduce	opcode URMA_OPC_WRITE: remote memory becomes (remote op local)
 *	Read with reduce	URMA_OPC_READ: local memory becomes (local op remote)
 *	Write with store add	URMA_OPC_WRITE_NOTIFY: notify_data is added to the 8 bytes
 *				at the second destination once all data are there
 *	Atomic store, load	URMA_OPC_FADD: remote memory becomes (remote op operand); a
 *				load brings the old value, a store nothing and needs no src
 *
 * Reduce: one packet at most, whole elements, the remote address a multiple of
 * their size; each element changes in one step. Store add: 64 KiB at most, one local
 * element, the counter aligned, its segment with URMA_ACCESS_ATOMIC. Atomics: 4 or
 * 8 bytes, the length of dst.
 */
#ifndef UBOE_URMA_EXT_H
#define UBOE_URMA_EXT_H

#include <stdbool.h>

#include <urma/urma_types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum uboe_wr_kind {
	UBOE_WR_REDUCE = 1,
	UBOE_WR_STORE_ADD = 2,
	UBOE_WR_ATOMIC_STORE = 3,
	UBOE_WR_ATOMIC_LOAD = 4,
};

/** enum uboe_wr_op - of reduce, atomic store and load */
enum uboe_wr_op {
	UBOE_WR_ADD = 0,
	UBOE_WR_XOR = 1, /* these three: not for floating point */
	UBOE_WR_CLEAR = 2, /* bits that the operand has are cleared */
	UBOE_WR_SET = 3,
	UBOE_WR_SMAX = 4, /* these two: signed and floating point types */
	UBOE_WR_SMIN = 5,
	UBOE_WR_UMAX = 6, /* these two: unsigned types */
	UBOE_WR_UMIN = 7,
};

/** enum uboe_wr_type - elements of a reduce */
enum uboe_wr_type {
	UBOE_WR_S8 = 0,
	UBOE_WR_S16 = 1,
	UBOE_WR_S32 = 2,
	UBOE_WR_S64 = 3,
	UBOE_WR_FP16 = 4,
	UBOE_WR_BF16 = 5,
	UBOE_WR_FP32 = 6,
	UBOE_WR_U8 = 8,
	UBOE_WR_U16 = 9,
	UBOE_WR_U32 = 10,
	UBOE_WR_U64 = 11,
};

/**
 * struct uboe_jfs_wr - a request with an extension
 * @wr: flag.bs.has_drv_ext is 1
 * @size: of this structure
 * @kind: enum uboe_wr_kind
 * @op: enum uboe_wr_op, 0 with UBOE_WR_STORE_ADD
 * @type: enum uboe_wr_type, 0 but with UBOE_WR_REDUCE
 * @reserved: 0
 */
typedef struct uboe_jfs_wr {
	urma_jfs_wr_t wr;
	uint32_t size;
	uint8_t kind;
	uint8_t op;
	uint8_t type;
	uint8_t reserved;
} uboe_jfs_wr_t;

/**
 * uboe_rotate_token - another TokenValue for a registered segment
 * @seg: of urma_register_seg(), with a token policy
 * @token: that peers need from now on
 * @keep_present: the present one stays valid beside it, until the next call
 *
 * Peers that imported the segment import it again with the new value. Accesses in
 * progress are not disturbed. Thread safe against everything but calls for the same
 * segment and requests that name @seg itself as their target.
 *
 * Return: URMA_SUCCESS; URMA_EINVAL: not a registered segment, or it needs no token;
 * URMA_ENODEV: the device is gone.
 */
urma_status_t uboe_rotate_token(urma_target_seg_t *seg, urma_token_t token, bool keep_present);

/**
 * uboe_create_jfr - a JFR whose receives are buffers of one size
 * @jfr_cfg: as for urma_create_jfr()
 * @buffer: 2048 or 4096: bytes of each receive, exactly, in up to four elements
 *
 * A Send fills as many receives as it needs, four at most: it may be four times as long
 * as one. It takes all of them or none: with too few posted the sender of a reliable
 * message is told to wait, an unreliable one is dropped. Each receive completes, in the
 * order of posting, with its part of the bytes as completion_len; all but the last of a
 * message have UBOE_CR_MORE in flag.value, and nothing comes between them. A message that
 * fails on its way completes all receives that it had taken with the error.
 *
 * Return: the JFR, or NULL with errno: EINVAL, or those of urma_create_jfr().
 */
urma_jfr_t *uboe_create_jfr(urma_context_t *ctx, urma_jfr_cfg_t *jfr_cfg, uint32_t buffer);

/* In urma_cr_t.flag.value: the next completion of this JFC is of the same message */
#define UBOE_CR_MORE 0x10u

/**
 * uboe_create_raw_jfs - a send queue of Raw requests, as of a NIC
 * @jfs_cfg: trans_mode and max_inline_data are 0; max_sge is at most 18
 *
 * All other functions of a JFS work on it, but for posting: uboe_post_raw(). To the
 * UBoE port (4792) it sends if whoever creates it may use raw sockets (CAP_NET_RAW);
 * otherwise such a request ends with URMA_CR_LOC_ACCESS_ERR. An error stops the queue,
 * as with UM.
 *
 * Return: the JFS, or NULL with errno: EINVAL, EOPNOTSUPP where the device has none.
 */
urma_jfs_t *uboe_create_raw_jfs(urma_context_t *ctx, urma_jfs_cfg_t *jfs_cfg);

/**
 * struct uboe_raw_wr - one UDP datagram from the context's address
 * @src: its body, 0 to 4096 bytes in up to 18 elements; more than the way to @dst
 *	carries in one packet ends with URMA_CR_LOC_LEN_ERR. To port 4792: a UBoE packet
 *	from the TPH to the pad, at least 16 bytes and a multiple of four; the device
 *	appends the ICRC
 * @dst: where it goes: an address, IPv6 or v4-mapped, unicast
 * @port: UDP port there, host order, not 0; the source port is 4792
 * @reserved: 0
 * @flag: complete_enable, or 0
 */
typedef struct uboe_raw_wr {
	urma_sg_t src;
	urma_eid_t dst;
	uint16_t port;
	uint16_t reserved;
	urma_jfs_wr_flag_t flag;
	uint64_t user_ctx;
	struct uboe_raw_wr *next;
} uboe_raw_wr_t;

/**
 * uboe_post_raw - post to a raw queue
 * @bad_wr: the first that was not posted, on failure
 *
 * A completion says that the datagram has left. Return: 0 or EINVAL, ENOMEM (the queue
 * is full), ENODEV.
 */
urma_status_t uboe_post_raw(urma_jfs_t *jfs, uboe_raw_wr_t *wr, uboe_raw_wr_t **bad_wr);

/*
 * The device of a context, which all contexts at its EID share. A device of the kernel is
 * its administrator's: URMA_EOPNOTSUPP.
 *
 * Partition: 1 to 0xffffff, 1 by default, and privilege. Devices talk to each other when
 * they are in the same partition and not both of low privilege. Set while the device has no
 * jetty and no JFS (EBUSY).
 */
#define UBOE_PARTITION_ID 0x00ffffffu
#define UBOE_PARTITION_LOW 0x01000000u

urma_status_t uboe_set_partition(urma_context_t *ctx, uint32_t partition);
urma_status_t uboe_get_partition(urma_context_t *ctx, uint32_t *partition);

/*
 * Reset: jetties and JFSs of all contexts go to ERROR and flush their work, JFRs and
 * segments cannot be used any more, peers are told. All can be deleted and made anew; JFCs go
 * on. URMA_EVENT_ELR_ERR tells that it begins, URMA_EVENT_ELR_DONE that all work has
 * completed.
 */
urma_status_t uboe_reset_device(urma_context_t *ctx);

/*
 * Traffic management: who may send when (docs/decisions/0022, 0035). A tree of port,
 * function groups, functions and queue sets, each with one queue; each node limits what
 * passes through it and shares that among its children. A jetty or JFS may have a limit
 * of its own, a queue, or both; one that has neither is not managed.
 *
 * The tree belongs to the device of a context: all contexts at its EID see the same. In the
 * process it lasts as long as one of them, and everybody may change it. A device of the
 * kernel is its administrator's, who also has `ubctl tm`: querying is for all, and all
 * that changes something wants CAP_NET_ADMIN of the machine.
 *
 * All functions are thread safe, but for a jetty or JFS that is deleted meanwhile. One that
 * fails has changed nothing. They return URMA_SUCCESS, or
 *	URMA_EINVAL	not a context, jetty or JFS; a value out of its range; a field that
 *			the level does not have, or reserved, is not 0; a promise beyond the limit
 *	ENOENT		no such node, parent, jetty, or queue set for the jetty's SL
 *	URMA_EEXIST	it exists, or the function has a queue set for this VL
 *	ENOSPC		the parent has no room for another child
 *	EBUSY		it has children or jetties
 *	EOPNOTSUPP	a mask names what the level does not have; a raw queue; what is not for
 *			a queue; the kernel's uboe is older than this
 *	URMA_ENOPERM	no CAP_NET_ADMIN
 *	URMA_ENOMEM, ENODEV
 */
enum uboe_tm_node_level {
	UBOE_TM_PORT = 1, /* number 0 */
	UBOE_TM_GROUP = 2, /* function group, 0 to 31, of the port */
	UBOE_TM_FUNCTION = 3, /* 0 to 63, at most 8 of a group */
	UBOE_TM_QSET = 4, /* queue set, 0 to 127, one for each VL of a function */
	UBOE_TM_QUEUE = 5, /* the queue of the set of the same number; query only */
	UBOE_TM_JETTY = 6, /* by jetty_id.id or jfs_id.id: its limit, and its place */
};

#define UBOE_TM_PARENT_NONE 0xffffffffu

/**
 * struct uboe_tm_node - a node of the traffic management
 * @level: enum uboe_tm_node_level; with @number it says which node
 * @parent: number of the node one level up. A jetty names a function, whose queue set
 *	follows from jfs_cfg.priority, or UBOE_TM_PARENT_NONE: it has a limit only
 * @peak_kbps: limit, kb/s of bytes from the IP header on: 1000 (1 Mb/s) to 200000000
 *	(200 Gb/s), 0: none
 * @peak_burst: bytes that may pass at once, to 64 MiB; 0: what the rate gives in a
 *	millisecond
 * @committed_kbps, @committed_burst: group and function: what it gets before @prio and
 *	@weight of its siblings count; ranges as of the limit, which it must not exceed
 * @weight: group, function, queue set: share among siblings of the same @prio, 1 to 255;
 *	0 when it is created: 1
 * @prio: those: 0 to 7; a higher one goes first, always
 * @vl: queue set: which VL of its function it serves, 0 to 15; query of a jetty: its VL
 * @sl_vl: function: VL of each SL, 0 to 15, for jetties that get a place from now on
 * @reserved: 0
 * @sent: query: bytes that have passed; not looked at otherwise
 * @waiting: query: children, or jetties of a queue, that wait now, of a jetty 1 when it
 *	does; not looked at otherwise
 */
typedef struct uboe_tm_node {
	uint32_t level;
	uint32_t number;
	uint32_t parent;
	uint32_t peak_kbps;
	uint32_t peak_burst;
	uint32_t committed_kbps;
	uint32_t committed_burst;
	uint16_t weight;
	uint8_t prio;
	uint8_t vl;
	uint8_t sl_vl[16];
	uint64_t sent;
	uint32_t waiting;
	uint32_t reserved[13];
} uboe_tm_node_t;

/* What uboe_modify_tm() sets. A port and a jetty have a limit only */
#define UBOE_TM_SET_PRIO 0x1u
#define UBOE_TM_SET_WEIGHT 0x2u
#define UBOE_TM_SET_PEAK 0x4u /* rate and burst */
#define UBOE_TM_SET_COMMITTED 0x8u /* rate and burst; group and function */
#define UBOE_TM_SET_SL_VL 0x10u /* function */

/*
 * A new node, from the port down; a jetty's place and limit. Traffic flows on. A jetty
 * loses both when it goes to RESET.
 */
urma_status_t uboe_create_tm(urma_context_t *ctx, const uboe_tm_node_t *node);
/* Fields of @mask, not 0, at once; the others of @node are not looked at */
urma_status_t uboe_modify_tm(urma_context_t *ctx, const uboe_tm_node_t *node, uint32_t mask);
/* Fills @node, of which it reads level and number */
urma_status_t uboe_query_tm(urma_context_t *ctx, uboe_tm_node_t *node);
/* From the leaves up; a jetty is not managed any more */
urma_status_t uboe_delete_tm(urma_context_t *ctx, uint32_t level, uint32_t number);

/*
 * A jetty's own limit: @kbps and @burst as peak_kbps and peak_burst above; @kbps 0: none,
 * and then @burst is 0, too. It need not be managed before, and keeps its place.
 */
urma_status_t uboe_set_jetty_rate(urma_jetty_t *jetty, uint32_t kbps, uint32_t burst);
urma_status_t uboe_set_jfs_rate(urma_jfs_t *jfs, uint32_t kbps, uint32_t burst);

#ifdef __cplusplus
}
#endif

#endif /* UBOE_URMA_EXT_H */
