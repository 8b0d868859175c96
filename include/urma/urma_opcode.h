/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * URMA for C programs: status values, operations, completions, events, states
 * and the values of the flag fields in urma_types.h. Names and values are those
 * of UMDK's API version 0.9; a test compares each.
 */
#ifndef URMA_OPCODE_H
#define URMA_OPCODE_H

#include <errno.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * typedef urma_status_t - what most functions return
 *
 * 0 or a positive number: one of errno's below, or URMA_FAIL. Functions that
 * return a pointer give NULL and set errno instead; functions that return a
 * count give -1.
 */
typedef int urma_status_t;

#define URMA_SUCCESS 0
#define URMA_EAGAIN EAGAIN /* busy: others still depend on the object */
#define URMA_ENOMEM ENOMEM
#define URMA_ENOPERM EPERM
#define URMA_ETIMEOUT ETIMEDOUT
#define URMA_EINVAL EINVAL
#define URMA_EEXIST EEXIST /* initialised or bound already */
#define URMA_EINPROGRESS EINPROGRESS
#define URMA_FAIL 0x1000 /* everything else */

/**
 * enum urma_place_order - urma_jfs_wr_flag.bs.place_order
 * @URMA_NO_ORDER: may be executed in any order
 * @URMA_RELAX_ORDER: not after a later request with strong order
 * @URMA_STRONG_ORDER: after the earlier requests with relaxed or strong order
 */
typedef enum urma_place_order {
	URMA_NO_ORDER = 0,
	URMA_RELAX_ORDER = 1,
	URMA_STRONG_ORDER = 2,
} urma_place_order_t;

/**
 * enum urma_opcode - urma_jfs_wr.opcode
 * @URMA_OPC_WRITE: local data to remote memory
 * @URMA_OPC_WRITE_IMM: and 64 bits of immediate to a receive buffer's completion
 * @URMA_OPC_WRITE_NOTIFY: and then 8 bytes to a second remote address
 * @URMA_OPC_READ: remote memory to local memory
 * @URMA_OPC_CAS: compare and swap; this and the atomics below return the old value
 * @URMA_OPC_SWAP: exchange
 * @URMA_OPC_FADD: add
 * @URMA_OPC_FSUB: subtract
 * @URMA_OPC_FAND: and
 * @URMA_OPC_FOR: or
 * @URMA_OPC_FXOR: exclusive or
 * @URMA_OPC_SEND: a message to a receive buffer of the target
 * @URMA_OPC_SEND_IMM: with 64 bits of immediate
 * @URMA_OPC_SEND_INVALIDATE: and the target's segment becomes invalid
 * @URMA_OPC_NOP: nothing, but a completion
 * @URMA_OPC_WRITE_ATOMIC: a vendor's addition
 * @URMA_OPC_FLUSH_DMA: what was written before is in memory
 * @URMA_OPC_LAST: one beyond the last
 */
typedef enum urma_opcode {
	URMA_OPC_WRITE = 0x00,
	URMA_OPC_WRITE_IMM = 0x01,
	URMA_OPC_WRITE_NOTIFY = 0x02,
	URMA_OPC_READ = 0x10,
	URMA_OPC_CAS = 0x20,
	URMA_OPC_SWAP = 0x21,
	URMA_OPC_FADD = 0x22,
	URMA_OPC_FSUB = 0x23,
	URMA_OPC_FAND = 0x24,
	URMA_OPC_FOR = 0x25,
	URMA_OPC_FXOR = 0x26,
	URMA_OPC_SEND = 0x40,
	URMA_OPC_SEND_IMM = 0x41,
	URMA_OPC_SEND_INVALIDATE = 0x42,
	URMA_OPC_NOP = 0x51,
	URMA_OPC_WRITE_ATOMIC = 0x60,
	URMA_OPC_FLUSH_DMA = 0x80,
	URMA_OPC_LAST = 0x81,
} urma_opcode_t;

/**
 * enum urma_cr_status - urma_cr.status
 * @URMA_CR_SUCCESS: done
 * @URMA_CR_UNSUPPORTED_OPCODE_ERR: the queue does not know the operation
 * @URMA_CR_LOC_LEN_ERR: more data than the local buffers or the device take
 * @URMA_CR_LOC_OPERATION_ERR: the request makes no sense to the device
 * @URMA_CR_LOC_ACCESS_ERR: the local segment forbids it
 * @URMA_CR_REM_RESP_LEN_ERR: the answer has not the length asked for
 * @URMA_CR_REM_UNSUPPORTED_REQ_ERR: the target does not know the request
 * @URMA_CR_REM_OPERATION_ERR: the target could not complete it
 * @URMA_CR_REM_ACCESS_ABORT_ERR: wrong token, address or access at the target
 * @URMA_CR_ACK_TIMEOUT_ERR: no answer, however often it was sent
 * @URMA_CR_RNR_RETRY_CNT_EXC_ERR: the target had no receive buffer
 * @URMA_CR_WR_FLUSH_ERR: the queue is in error, the request was not executed
 * @URMA_CR_WR_SUSPEND_DONE: no request: the queue is suspended. user_ctx is void
 * @URMA_CR_WR_FLUSH_ERR_DONE: no request: all are flushed. user_ctx is void
 * @URMA_CR_WR_UNHANDLED: from urma_flush_jetty() and urma_flush_jfs() only
 * @URMA_CR_LOC_DATA_POISON: local memory is corrupt
 * @URMA_CR_REM_DATA_POISON: remote memory is corrupt
 */
typedef enum urma_cr_status {
	URMA_CR_SUCCESS = 0,
	URMA_CR_UNSUPPORTED_OPCODE_ERR = 1,
	URMA_CR_LOC_LEN_ERR = 2,
	URMA_CR_LOC_OPERATION_ERR = 3,
	URMA_CR_LOC_ACCESS_ERR = 4,
	URMA_CR_REM_RESP_LEN_ERR = 5,
	URMA_CR_REM_UNSUPPORTED_REQ_ERR = 6,
	URMA_CR_REM_OPERATION_ERR = 7,
	URMA_CR_REM_ACCESS_ABORT_ERR = 8,
	URMA_CR_ACK_TIMEOUT_ERR = 9,
	URMA_CR_RNR_RETRY_CNT_EXC_ERR = 10,
	URMA_CR_WR_FLUSH_ERR = 11,
	URMA_CR_WR_SUSPEND_DONE = 12,
	URMA_CR_WR_FLUSH_ERR_DONE = 13,
	URMA_CR_WR_UNHANDLED = 14,
	URMA_CR_LOC_DATA_POISON = 15,
	URMA_CR_REM_DATA_POISON = 16,
} urma_cr_status_t;

/** enum urma_cr_opcode - urma_cr.opcode: what filled a receive buffer */
typedef enum urma_cr_opcode {
	URMA_CR_OPC_SEND = 0,
	URMA_CR_OPC_SEND_WITH_IMM = 1,
	URMA_CR_OPC_SEND_WITH_INV = 2,
	URMA_CR_OPC_WRITE_WITH_IMM = 3,
	URMA_CR_OPC_FLUSH_WRITE = 4,
} urma_cr_opcode_t;

/**
 * enum urma_async_event_type - urma_async_event.event_type
 * @URMA_EVENT_JFC_ERR: completions were lost; element.jfc
 * @URMA_EVENT_JFS_ERR: element.jfs
 * @URMA_EVENT_JFR_ERR: element.jfr
 * @URMA_EVENT_JFR_LIMIT: fewer receive buffers than rx_threshold; element.jfr
 * @URMA_EVENT_JETTY_ERR: element.jetty
 * @URMA_EVENT_JETTY_LIMIT: the same for a jetty; element.jetty
 * @URMA_EVENT_JETTY_GRP_ERR: element.jetty_grp
 * @URMA_EVENT_PORT_ACTIVE: element.port_id
 * @URMA_EVENT_PORT_DOWN: element.port_id
 * @URMA_EVENT_DEV_FATAL: the device is lost
 * @URMA_EVENT_EID_CHANGE: element.eid_idx
 * @URMA_EVENT_ELR_ERR: the entity is in error
 * @URMA_EVENT_ELR_DONE: the entity is flushed
 */
typedef enum urma_async_event_type {
	URMA_EVENT_JFC_ERR = 0,
	URMA_EVENT_JFS_ERR = 1,
	URMA_EVENT_JFR_ERR = 2,
	URMA_EVENT_JFR_LIMIT = 3,
	URMA_EVENT_JETTY_ERR = 4,
	URMA_EVENT_JETTY_LIMIT = 5,
	URMA_EVENT_JETTY_GRP_ERR = 6,
	URMA_EVENT_PORT_ACTIVE = 7,
	URMA_EVENT_PORT_DOWN = 8,
	URMA_EVENT_DEV_FATAL = 9,
	URMA_EVENT_EID_CHANGE = 10,
	URMA_EVENT_ELR_ERR = 11,
	URMA_EVENT_ELR_DONE = 12,
} urma_async_event_type_t;

typedef enum urma_jfc_state {
	URMA_JFC_STATE_INVALID = 0,
	URMA_JFC_STATE_VALID = 1,
	URMA_JFC_STATE_ERROR = 2,
} urma_jfc_state_t;

/**
 * enum urma_jetty_state - of a jetty and of a JFS
 *
 * Creation goes to READY. READY to SUSPENDED or ERROR, SUSPENDED to ERROR,
 * ERROR to RESET and RESET to READY are the other moves.
 */
typedef enum urma_jetty_state {
	URMA_JETTY_STATE_RESET = 0,
	URMA_JETTY_STATE_READY = 1,
	URMA_JETTY_STATE_SUSPENDED = 2,
	URMA_JETTY_STATE_ERROR = 3,
} urma_jetty_state_t;

typedef urma_jetty_state_t urma_jfs_state_t;

typedef enum urma_jfr_state {
	URMA_JFR_STATE_RESET = 0,
	URMA_JFR_STATE_READY = 1,
	URMA_JFR_STATE_ERROR = 2,
} urma_jfr_state_t;

/*
 * Segments: access of others, a set. WRITE needs READ; ATOMIC needs READ and
 * WRITE; LOCAL_ONLY stands alone.
 */
#define URMA_ACCESS_LOCAL_ONLY (0x1 << 0)
#define URMA_ACCESS_READ (0x1 << 1)
#define URMA_ACCESS_WRITE (0x1 << 2)
#define URMA_ACCESS_ATOMIC (0x1 << 3)

#define URMA_NON_CACHEABLE 0
#define URMA_CACHEABLE 1

#define URMA_DSVA_DISABLE 0
#define URMA_DSVA_ENABLE 1

#define URMA_SEG_NOMAP 0
#define URMA_SEG_MAPPED 1 /* loads and stores reach it at urma_target_seg.mva */

#define URMA_TOKEN_ID_INVALID 0 /* register: choose a token id */
#define URMA_TOKEN_ID_VALID 1 /* register: urma_seg_cfg.token_id is to be used */

/* token_policy of segments, JFRs and jetty groups */
#define URMA_TOKEN_NONE 0
#define URMA_TOKEN_PLAIN_TEXT 1 /* the value is in the request and is compared */
#define URMA_TOKEN_SIGNED 2
#define URMA_TOKEN_ALL_ENCRYPTED 3
#define URMA_TOKEN_RESERVED 4

#define URMA_ADDR_TYPE_MVA 0
#define URMA_ADDR_TYPE_UBVA 1

#define URMA_REGULAR 1
#define URMA_IRREGULAR 0

#define URMA_LOCAL_MEMORY 0
#define URMA_REMOTE_MEMORY 1

/* Jetty and JFR */
#define URMA_NO_SHARE_JFR 0
#define URMA_SHARE_JFR 1

#define URMA_NO_TAG_MATCHING 0
#define URMA_WITH_TAG_MATCHING 1

/* Work requests: urma_jfs_wr_flag and urma_jfr_wr_flag */
#define URMA_COMPLETE_DISABLE 0
#define URMA_COMPLETE_ENABLE 1 /* a completion of its own; errors always have one */

#define URMA_COMPLETE_TYPE_JFC 0
#define URMA_COMPLETE_TYPE_CF 1

#define URMA_FENCE_DISABLE 0
#define URMA_FENCE_ENABLE 1 /* wait for earlier reads and atomics */

#define URMA_SOLICITED_DISABLE 0
#define URMA_SOLICITED_ENABLE 1 /* wakes a JFC armed with solicited_only */

#define URMA_INLINE_DISABLE 0
#define URMA_INLINE_ENABLE 1 /* data are taken while posting, not later */

#define URMA_NOTIFY_DISABLE 0
#define URMA_NOTIFY_ENABLE 1

#define URMA_NOTIFY_TYPE_JFC 0
#define URMA_NOTIFY_TYPE_RVA 1

#define URMA_NONPOST_LS 0
#define URMA_POST_LS 1

#define URMA_DEPENDENCY_NONE 0
#define URMA_DEPENDENCY_FIRST 1
#define URMA_DEPENDENCY_DELAY 2

#ifdef __cplusplus
}
#endif

#endif /* URMA_OPCODE_H */
