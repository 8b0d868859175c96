/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Data-path contract between a UB device and its driver or provider: send and
 * receive queue elements, completions, doorbells and DirectWQE windows. One
 * file for the kernel module, the provider, the in-process device and the
 * device model. Everything is little-endian; offsets are in bytes.
 *
 * Queues: JFS (send), JFR (receive), JFC (completion). A base block (BB) is 64
 * bytes. Indices of the JFS and the JFC run freely over 32 bits and are masked
 * on access; queue sizes are powers of two.
 *
 * Ownership of words in shared memory: each 64-byte line has one writer. The
 * reader of an index uses an acquire load, its writer a release store.
 */
#ifndef UB_UBOE_IO_H
#define UB_UBOE_IO_H

#include <linux/types.h>

#define UBOE_BB 64u
#define UBOE_SQE_MAX_BB 4u
#define UBOE_SGE_SIZE 16u

/* Limits of a Normal SQE by operation (control part, then SGEs or inline data) */
#define UBOE_MAX_SGE 13u
#define UBOE_MAX_SGE_READ 6u
#define UBOE_MAX_SGE_WRITE_IMM 12u
#define UBOE_MAX_SGE_NOTIFY 11u
#define UBOE_MAX_INLINE 208u
#define UBOE_MAX_INLINE_WRITE_IMM 192u
#define UBOE_MAX_INLINE_NOTIFY 176u
#define UBOE_MAX_SGE_STOREADD 1u
#define UBOE_MAX_INLINE_STOREADD1 8u
#define UBOE_MAX_INLINE_STOREADD2 16u
/* Limits of a Raw SQE */
#define UBOE_SQE_RAW_MAX_BB 5u
#define UBOE_MAX_SGE_RAW 18u
#define UBOE_MAX_RAW 4096u /* payload, bytes */
#define UBOE_MIN_RAW_DEPTH 8u /* BBs of a ring; shallower ones take Normal SQEs only */
#define UBOE_MAX_RQ_SGE 4u
#define UBOE_MAX_RQES 4u /* of one message, where RQEs hold buffers of one size */
#define UBOE_MIN_JFR_DEPTH 64u
#define UBOE_MAX_JFR_DEPTH 32768u
#define UBOE_MIN_JFC_DEPTH 64u
#define UBOE_MAX_JFC_DEPTH 1048576u
#define UBOE_MAX_JFS_BB 32768u
#define UBOE_MAX_JETTY 65536u
#define UBOE_MAX_JGRP 65536u
#define UBOE_MAX_JGRP_MEMBERS 32u
#define UBOE_MAX_MSG (256u << 20) /* Write and Read; verbs Send too, by capability */
#define UBOE_MAX_SLICE 65536u
#define UBOE_MAX_CQE_INLINE 20u /* of a Send in its receive completion */
#define UBOE_MAX_CQE_INLINE_IMM 12u /* the same beside an immediate */

enum uboe_sqe_opcode {
	UBOE_SQE_SEND = 0x00,
	UBOE_SQE_SEND_IMM = 0x01,
	UBOE_SQE_SEND_INV = 0x02,
	UBOE_SQE_WRITE = 0x03,
	UBOE_SQE_WRITE_IMM = 0x04,
	UBOE_SQE_WRITE_NOTIFY = 0x05,
	UBOE_SQE_READ = 0x06,
	UBOE_SQE_CAS = 0x07,
	UBOE_SQE_SWAP = 0x08,
	UBOE_SQE_STORE = 0x09,
	UBOE_SQE_LOAD = 0x0a,
	UBOE_SQE_FAA = 0x0b,
	UBOE_SQE_FSUB = 0x0c,
	UBOE_SQE_FAND = 0x0d,
	UBOE_SQE_FOR = 0x0e,
	UBOE_SQE_FXOR = 0x0f,
	UBOE_SQE_NOP = 0x11,
	UBOE_SQE_WRITE_STOREADD1 = 0x19,
	UBOE_SQE_WRITE_STOREADD2 = 0x1a,
	UBOE_SQE_RAW = 0x1f, /* in raw queues, and nothing else there */
};

/* SQE word 0 */
#define UBOE_SQE_IDX 0x0000ffffu /* low half of the producer index of this SQE */
#define UBOE_SQE_ORDER 0x00030000u /* place order: enum ub_order */
#define UBOE_SQE_COMP_ORDER 0x00040000u
#define UBOE_SQE_FENCE 0x00080000u
#define UBOE_SQE_SOLICITED 0x00100000u
#define UBOE_SQE_CQE 0x00200000u /* completion wanted */
#define UBOE_SQE_INLINE 0x00400000u
#define UBOE_SQE_UDF 0x00800000u
#define UBOE_SQE_RSVD0 0x0f000000u
#define UBOE_SQE_TOKEN_EN 0x10000000u /* remote token value is valid */
#define UBOE_SQE_RMT_TYPE 0x60000000u /* 0 JFR, 1 jetty, 2 group */
#define UBOE_SQE_OWNER 0x80000000u
/* SQE word 1 */
#define UBOE_SQE_HINT 0x000000ffu
#define UBOE_SQE_OPCODE 0x0000ff00u
#define UBOE_SQE_RSVD1 0x003f0000u
#define UBOE_SQE_INLINE_LEN 0xffc00000u
/* SQE word 2 */
#define UBOE_SQE_TP_ID 0x00ffffffu
#define UBOE_SQE_SGE_NUM 0xff000000u
/* SQE word 3 */
#define UBOE_SQE_RMT_ID 0x000fffffu /* remote jetty id, or remote TokenID */

/* Values of UBOE_SQE_RMT_TYPE: what the id of a target is; as TGT_TC_Type on the wire */
enum uboe_rmt_type {
	UBOE_RMT_JFR = 0,
	UBOE_RMT_JETTY = 1,
	UBOE_RMT_GROUP = 2,
};

/*
 * User data of an SQE, uboe_sqe.udf, valid with UBOE_SQE_UDF: in an Atomic store
 * or load (which must have it) what to do with the operand, in a Write or Read
 * that it makes one with reduce. All other operations with it are refused.
 */
#define UBOE_UDF_CLASS 0x000000ffu /* enum uboe_udf_class */
#define UBOE_UDF_TYPE 0x00000f00u /* reduce: enum uboe_udf_type */
#define UBOE_UDF_OP 0x0000f000u /* enum uboe_udf_op */

enum uboe_udf_class { UBOE_UDF_ATOMIC = 0, UBOE_UDF_REDUCE = 1 };

/* Memory becomes (memory op operand). S and U: signed and unsigned comparison */
enum uboe_udf_op {
	UBOE_UDF_ADD = 0,
	UBOE_UDF_XOR = 1,
	UBOE_UDF_CLEAR = 2, /* the operand's bits are cleared */
	UBOE_UDF_SET = 3, /* or */
	UBOE_UDF_SMAX = 4, /* floating point has these two for maximum, minimum */
	UBOE_UDF_SMIN = 5,
	UBOE_UDF_UMAX = 6,
	UBOE_UDF_UMIN = 7,
};

enum uboe_udf_type {
	UBOE_UDF_S8 = 0,
	UBOE_UDF_S16 = 1,
	UBOE_UDF_S32 = 2,
	UBOE_UDF_S64 = 3,
	UBOE_UDF_FP16 = 4,
	UBOE_UDF_BF16 = 5,
	UBOE_UDF_FP32 = 6,
	UBOE_UDF_U8 = 8,
	UBOE_UDF_U16 = 9,
	UBOE_UDF_U32 = 10,
	UBOE_UDF_U64 = 11,
};

/**
 * struct uboe_sqe - control part of a Normal SQE
 *
 * SGEs or inline data follow at byte 48 (Send, Write, Read), 64 (Write with
 * immediate) or 80 (Write with notify, Write with store add of two blocks).
 * Atomics: one SGE at 48 and the operands at 64 (CAS: swap value, then compare
 * value; others: one operand), each @len of the SGE bytes long. Of an Atomic
 * store's SGE only the length counts.
 */
struct uboe_sqe {
	__le32 w0;
	__le32 w1;
	__le32 w2;
	__le32 w3;
	__u8 rmt_eid[16]; /* RM and UM only; RC takes it from the queue */
	__le32 rmt_token; /* remote TokenValue */
	__le32 udf;
	__le64 addr; /* remote address; SEND_IMM: immediate; SEND_INV: TokenID | TokenValue << 32 */
};

/* Write with immediate: bytes 48..63 */
struct uboe_sqe_imm {
	__le64 imm;
	__le32 jetty; /* 20 bits */
	__le32 token;
};

/*
 * Write with notify: bytes 48..79; @data is stored at @addr after the payload.
 * Write with store add of two blocks: it is added to the 8 bytes there.
 */
struct uboe_sqe_notify {
	__le32 token_id; /* 20 bits */
	__le32 token;
	__le64 addr;
	__le64 data;
	__le64 rsvd;
};

/**
 * struct uboe_sqe_storeadd1 - Write with store add in one block
 * @eid: low 32 bits of the target's EID; RM and UM only
 * @token: TokenValue, 24 bits
 * @addr: where the data go
 * @counter: where @data is added, in the same segment
 *
 * Words 0 to 3 are those of struct uboe_sqe. One SGE or inline data follow.
 */
struct uboe_sqe_storeadd1 {
	__le32 w0;
	__le32 w1;
	__le32 w2;
	__le32 w3;
	__le32 eid;
	__le32 token;
	__le64 addr;
	__le64 counter;
	__le64 data;
};

#define UBOE_SQE_TOKEN24 0x00ffffffu

/**
 * struct uboe_sqe_raw - control part of a Raw SQE (decision 0030)
 * @w0: UBOE_SQE_IDX, UBOE_SQE_CQE and UBOE_SQE_OWNER as ever, all else 0
 * @w1: UBOE_SQE_OPCODE, all else 0
 * @w2: UBOE_SQE_SGE_NUM, 0 to UBOE_MAX_SGE_RAW, all else 0
 * @w3: UDP port in UBOE_SQE_RAW_PORT, not 0; all else 0
 * @rmt_eid: where the datagram goes, IPv6 or v4-mapped, unicast
 *
 * SGEs follow at byte 32. Their bytes are the body of one UDP datagram. To the device's
 * own port (4792) they are a UBoE packet from the TPH to the pad, a multiple of four
 * bytes: the device appends the ICRC. That takes UBOE_RAW_UB.
 */
struct uboe_sqe_raw {
	__le32 w0;
	__le32 w1;
	__le32 w2;
	__le32 w3;
	__u8 rmt_eid[16];
};

#define UBOE_SQE_RAW_PORT 0x0000ffffu

struct uboe_sge {
	__le32 len;
	__le32 token; /* local key: TokenID << 12 | low bits of the TokenValue */
	__le64 va;
};

#define UBOE_SQE_CTRL 48u
#define UBOE_SQE_CTRL_RAW 32u
#define UBOE_SQE_CTRL_IMM 64u
#define UBOE_SQE_CTRL_NOTIFY 80u
#define UBOE_SQE_ATOMIC_DATA 64u

/*
 * JFR: fixed slots of (1 << sge_shift) SGEs and an index ring of 32-bit slot
 * numbers. To post: fill a free slot (unused SGEs have length 0 and key 0),
 * write its number at index[pi & mask], store pi to the record with release.
 * A completion returns the slot number, so slots come back in any order.
 *
 * With uboe_jfr_ctx.buf_shift the SGEs of a slot are together one buffer of that
 * size, and a message takes as many as it fills, UBOE_MAX_RQES at most, or none.
 * Each has a CQE with its part of the bytes; all but the last say UBOE_CQE_MORE and
 * nothing comes between them. A slot of another size completes with an error.
 */
struct uboe_jfr_rec {
	__le32 pi; /* free running, low 16 bits are enough */
	__le32 rsvd[15];
};

/* CQE word 0 */
#define UBOE_CQE_RECV 0x00000001u
#define UBOE_CQE_JETTY 0x00000002u /* the local id is a jetty's; else a JFS's, with RECV a JFR's */
#define UBOE_CQE_OWNER 0x00000004u
#define UBOE_CQE_INLINE 0x00000008u
#define UBOE_CQE_OPCODE 0x00000070u
#define UBOE_CQE_FLUSH_DONE 0x00000080u
#define UBOE_CQE_MORE 0x00000100u /* the next CQE is another RQE of the same message */
#define UBOE_CQE_SUBSTATUS 0x00ff0000u
#define UBOE_CQE_STATUS 0xff000000u
/* CQE word 1 */
#define UBOE_CQE_ENTRY 0x0000ffffu
#define UBOE_CQE_ID_LO 0xffff0000u
/* CQE word 2 */
#define UBOE_CQE_ID_HI 0x0000000fu
#define UBOE_CQE_RMT_ID 0x00fffff0u

/* Values of UBOE_CQE_OPCODE in a receive completion */
enum uboe_cqe_rx_opcode {
	UBOE_CQE_RX_SEND = 0,
	UBOE_CQE_RX_SEND_IMM = 1,
	UBOE_CQE_RX_SEND_INV = 2,
	UBOE_CQE_RX_WRITE_IMM = 3,
};

/* Status, sub-status (Base Spec table 10-12); values above 5 are this device's */
enum uboe_cqe_status {
	UBOE_CQE_OK = 0,
	UBOE_CQE_UNSUPPORTED = 1,
	UBOE_CQE_LOCAL = 2,
	UBOE_CQE_REMOTE = 3,
	UBOE_CQE_RNR_EXC = 4,
	UBOE_CQE_ACK_TIMEOUT = 5,
	UBOE_CQE_FLUSH = 6,
};

enum uboe_cqe_substatus {
	UBOE_CQE_SUB_NONE = 0,
	UBOE_CQE_LOCAL_LEN = 1,
	UBOE_CQE_LOCAL_ACCESS = 2,
	UBOE_CQE_LOCAL_RSP_LEN = 3,
	UBOE_CQE_LOCAL_POISON = 4,
	UBOE_CQE_REMOTE_UNSUPPORTED = 1,
	UBOE_CQE_REMOTE_ABORT = 2,
	UBOE_CQE_REMOTE_POISON = 4,
};

/**
 * struct uboe_cqe - completion queue element, 64 bytes
 * @w1: send: ring index of the last BB of the completed SQE (low 16 bits);
 *	receive: slot number; local id in the high half
 * @tpn, @rmt_eid: channel and peer, with the peer's jetty in @w2: receive
 *	completions of native jetties (UBOE_JETTY_NATIVE), and whatever came
 *	without a connection, where @tpn is 0 for UM
 * @user: opaque value of the queue's owner, from its context
 * @imm: immediate, or invalidated TokenID | TokenValue << 32
 *
 * With UBOE_CQE_INLINE a receive's @byte_cnt bytes are not in its buffer but here:
 * from @imm_lo on (UBOE_CQE_RX_SEND, UBOE_MAX_CQE_INLINE bytes at most), or in
 * @inline_data when there is an immediate (UBOE_MAX_CQE_INLINE_IMM).
 *
 * Valid when UBOE_CQE_OWNER equals the complement of bit log2(depth) of the
 * consumer index: the first lap has it set. The device stores @w0 last, with
 * release semantics.
 */
struct uboe_cqe {
	__le32 w0;
	__le32 w1;
	__le32 w2;
	__le32 tpn;
	__le32 byte_cnt;
	__le32 user_lo;
	__le32 user_hi;
	__u8 rmt_eid[16];
	__le32 imm_lo;
	__le32 imm_hi;
	__le32 inline_data[3];
};

/**
 * struct uboe_jfc_rec - JFC record, written by the consumer only
 * @ci: consumer index, free running
 * @arm: enum uboe_arm in bits 1:0, sequence number above. The device fires one
 *	event for each new value of the whole word whose mode is not NONE.
 *
 * Arming: store @arm, full barrier, look at the ring again.
 */
struct uboe_jfc_rec {
	__le32 ci;
	__le32 arm;
	__le32 rsvd[14];
};

enum uboe_arm { UBOE_ARM_NONE = 0, UBOE_ARM_SOLICITED = 1, UBOE_ARM_NEXT = 2 };

/*
 * Jetty page. A soft device packs several at the stride that it announces; a
 * PCI device has one 4 KiB page each.
 *
 * Doorbell protocol of a soft device (docs/decisions/0006): producer writes
 * SQEs, stores PI with release, full barrier, reads need_kick, and issues KICK
 * when it is not zero. Before the engine idles it sets need_kick, full barrier,
 * and reads PI once more.
 */
/*
 * DirectWQE: an SQE of one or two BBs. Word 0 is stored last, with release; its index
 * is the one behind the SQE's last BB, its owner bit is the complement of bit
 * log2(depth) of the index of the first. The device takes an SQE whose first index is
 * the next one, and whose word 0 is not that of the one it took before.
 */
#define UBOE_JPAGE_DWQE 0x00u
#define UBOE_DWQE_MAX_BB 2u
#define UBOE_JPAGE_DB 0x80u /* __le32 producer index of the JFS, in BBs */
#define UBOE_JPAGE_NEED_KICK 0xc0u /* __le32, written by the device */
#define UBOE_JPAGE_RQ_KICK 0xc4u /* __le32, likewise: set in ERROR, a receive posted then needs a KICK */
#define UBOE_JPAGE_CI 0xc8u /* __le32, RM: BBs before this index may be written again */
#define UBOE_JPAGE_DWQE_TAKEN 0xccu /* __le32, with a lock buffer: index behind the last DirectWQE taken */
#define UBOE_JPAGE_SOFT_STRIDE 0x100u

/* Event queue element, 64 bytes; word 0: type 0-7, sub type 8-15, owner 31 */
struct uboe_eqe {
	__le32 w0;
	__le32 num; /* jetty, JFR, JFC or TP number */
	__le32 data[14];
};

enum uboe_event {
	UBOE_EV_JETTY = 0x01, /* sub: enum uboe_event_sub */
	UBOE_EV_TP = 0x02, /* sub: 1 retry exceeded, 2 opcode, 3 PSN, 4 port down */
	UBOE_EV_ENTITY = 0x03,
	UBOE_EV_JFR_LIMIT = 0x12,
};

enum uboe_event_sub {
	UBOE_EV_SUB_JFS = 1,
	UBOE_EV_SUB_JFR = 2,
	UBOE_EV_SUB_JFC = 3,
	UBOE_EV_SUB_ACCESS = 5, /* the peer broke an access rule */
	UBOE_EV_SUB_REQUEST = 6, /* the peer sent a request that cannot be served */
	UBOE_EV_SUB_ESTABLISHED = 7,
	UBOE_EV_SUB_LAST_WQE = 8, /* no receive will complete any more */
	/* of UBOE_EV_ENTITY */
	UBOE_EV_SUB_RESET = 1, /* it begins */
	UBOE_EV_SUB_RESET_DONE = 2, /* all work is flushed */
};

#ifdef __cplusplus
#define UBOE_ASSERT(e) static_assert(e, #e)
#else
#define UBOE_ASSERT(e) _Static_assert(e, #e)
#endif
UBOE_ASSERT(sizeof(struct uboe_sqe) == UBOE_SQE_CTRL);
UBOE_ASSERT(sizeof(struct uboe_sqe_storeadd1) == UBOE_SQE_CTRL);
UBOE_ASSERT(sizeof(struct uboe_sqe_raw) == UBOE_SQE_CTRL_RAW);
UBOE_ASSERT(UBOE_SQE_CTRL_RAW + UBOE_MAX_SGE_RAW * UBOE_SGE_SIZE == UBOE_SQE_RAW_MAX_BB * UBOE_BB);
UBOE_ASSERT(sizeof(struct uboe_sqe_imm) == 16);
UBOE_ASSERT(sizeof(struct uboe_sqe_notify) == 32);
UBOE_ASSERT(sizeof(struct uboe_sge) == UBOE_SGE_SIZE);
UBOE_ASSERT(sizeof(struct uboe_cqe) == 64);
UBOE_ASSERT(sizeof(struct uboe_jfc_rec) == 64);
UBOE_ASSERT(sizeof(struct uboe_jfr_rec) == 64);
UBOE_ASSERT(sizeof(struct uboe_eqe) == 64);

#endif /* UB_UBOE_IO_H */
