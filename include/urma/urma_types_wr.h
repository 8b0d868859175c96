/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * URMA types: work requests, completion records and events. Included by
 * urma_types.h.
 */
#ifndef URMA_TYPES_WR_H
#define URMA_TYPES_WR_H

#include "urma_types_jetty.h"
#include "urma_types_seg.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct urma_sge - a piece of a segment
 * @addr: where
 * @len: bytes
 * @tseg: registered on the local side, imported on the remote one
 * @user_tseg: remote side, when @tseg is NULL
 */
typedef struct urma_sge {
	uint64_t addr;
	uint32_t len;
	urma_target_seg_t *tseg;
	urma_user_tseg_t *user_tseg;
} urma_sge_t;

typedef struct urma_sg {
	urma_sge_t *sge;
	uint32_t num_sge;
} urma_sg_t;

/**
 * union urma_jfs_wr_flag - for urma_jfs_wr
 *
 * place_order: enum urma_place_order. comp_order: complete in the order of
 * posting. fence, solicited_enable, complete_enable, inline_flag:
 * URMA_FENCE_ENABLE and others. db_bypass: do not ring. udf: a vendor's.
 * The first three mean nothing in UM, and with outorder_comp.
 */
typedef union urma_jfs_wr_flag {
	struct {
		uint32_t place_order : 2;
		uint32_t comp_order : 1;
		uint32_t fence : 1;
		uint32_t solicited_enable : 1;
		uint32_t complete_enable : 1;
		uint32_t inline_flag : 1;
		uint32_t db_bypass : 1;
		uint32_t udf : 1;
		uint32_t has_drv_ext : 1;
		uint32_t reserved : 22;
	} bs;
	uint32_t value;
} urma_jfs_wr_flag_t;

/** union urma_jfr_wr_flag - complete_type: URMA_COMPLETE_TYPE_JFC; not in use */
typedef union urma_jfr_wr_flag {
	struct {
		uint32_t complete_type : 1;
		uint32_t reserved : 31;
	} bs;
	uint32_t value;
} urma_jfr_wr_flag_t;

/**
 * struct urma_rw_wr - Write and Read
 * @src: from where: remote, one element, in a Read
 * @dst: to where: remote, one element, in a Write; WRITE_NOTIFY: and a second
 *	element, where @notify_data goes
 * @target_hint: chooses a member of a group
 * @notify_data: WRITE_NOTIFY: 8 bytes; WRITE_IMM: the immediate. Host byte order
 */
typedef struct urma_rw_wr {
	urma_sg_t src;
	urma_sg_t dst;
	uint8_t target_hint;
	uint64_t notify_data;
} urma_rw_wr_t;

/**
 * struct urma_send_wr - Send
 * @src: the message
 * @target_hint: chooses a member of a group
 * @imm_data: SEND_IMM: all 64 bits arrive, host byte order
 * @tseg: SEND_INVALIDATE: the target's segment
 */
typedef struct urma_send_wr {
	urma_sg_t src;
	uint8_t target_hint;
	uint64_t imm_data;
	urma_target_seg_t *tseg;
} urma_send_wr_t;

/**
 * struct urma_cas_wr - compare and swap
 * @dst: remote, one element; its length is that of the operands
 * @src: local, receives the old value
 * @cmp_data: up to 8 bytes: the value to compare with
 * @cmp_addr: more than 8 bytes: its address
 * @swap_data: up to 8 bytes: the new value
 * @swap_addr: more than 8 bytes: its address
 */
typedef struct urma_cas_wr {
	urma_sge_t *dst;
	urma_sge_t *src;
	union {
		uint64_t cmp_data;
		uint64_t cmp_addr;
	};
	union {
		uint64_t swap_data;
		uint64_t swap_addr;
	};
} urma_cas_wr_t;

/** struct urma_faa_wr - the other atomics; as urma_cas_wr, with one operand */
typedef struct urma_faa_wr {
	urma_sge_t *dst;
	urma_sge_t *src;
	union {
		uint64_t operand;
		uint64_t operand_addr;
	};
} urma_faa_wr_t;

/**
 * struct urma_jfs_wr - a request for a JFS or a jetty
 * @opcode: says which member of the union counts
 * @flag: see above
 * @tjetty: target; a bound jetty has its own and does not look
 * @user_ctx: for the completion record
 * @next: NULL: the last one
 */
typedef struct urma_jfs_wr {
	urma_opcode_t opcode;
	urma_jfs_wr_flag_t flag;
	urma_target_jetty_t *tjetty;
	uint64_t user_ctx;
	union {
		urma_rw_wr_t rw;
		urma_send_wr_t send;
		urma_cas_wr_t cas;
		urma_faa_wr_t faa;
	};
	struct urma_jfs_wr *next;
} urma_jfs_wr_t;

/** struct urma_jfr_wr - a receive buffer; @src is local */
typedef struct urma_jfr_wr {
	urma_sg_t src;
	uint64_t user_ctx;
	struct urma_jfr_wr *next;
} urma_jfr_wr_t;

/**
 * union urma_cr_flag - for urma_cr
 *
 * s_r: 0 send, 1 receive. jetty: local_id is a jetty's, otherwise a JFS's or
 * JFR's. suspend_done, flush_err_done: no request, but the end of them.
 */
typedef union urma_cr_flag {
	__extension__ struct {
		uint8_t s_r : 1;
		uint8_t jetty : 1;
		uint8_t suspend_done : 1;
		uint8_t flush_err_done : 1;
		uint8_t reserved : 4;
	} bs;
	uint8_t value;
} urma_cr_flag_t;

typedef struct urma_cr_token {
	uint32_t token_id;
	urma_token_t token_value;
} urma_cr_token_t;

/**
 * struct urma_cr - a completion record
 * @status: anything but URMA_CR_SUCCESS is an error
 * @user_ctx: of the request; void in the two that are no requests
 * @opcode: of a receive
 * @flag: see above
 * @completion_len: bytes received
 * @local_id: of the queue or jetty
 * @remote_id: of the sender; of a receive
 * @imm_data: with immediate, host byte order
 * @invalid_token: with invalidate: the segment
 * @tpn: TP it came by
 * @user_data: pointer to the jetty, JFS or JFR
 */
typedef struct urma_cr {
	urma_cr_status_t status;
	uint64_t user_ctx;
	urma_cr_opcode_t opcode;
	urma_cr_flag_t flag;
	uint32_t completion_len;
	uint32_t local_id;
	urma_jetty_id_t remote_id;
	union {
		uint64_t imm_data;
		urma_cr_token_t invalid_token;
	};
	uint32_t tpn;
	uintptr_t user_data;
} urma_cr_t;

/**
 * struct urma_async_event - something happened to @element
 * @urma_ctx: whose
 * @element: by @event_type
 * @event_type: what
 * @priv: private
 */
typedef struct urma_async_event {
	const urma_context_t *urma_ctx;
	union {
		urma_jfc_t *jfc;
		urma_jfs_t *jfs;
		urma_jfr_t *jfr;
		urma_jetty_t *jetty;
		urma_jetty_grp_t *jetty_grp;
		uint32_t port_id;
		uint32_t eid_idx;
	} element;
	urma_async_event_type_t event_type;
	void *priv;
} urma_async_event_t;

/** struct urma_user_ctl_in - for urma_user_ctl(): @opcode and @len bytes at @addr */
typedef struct urma_user_ctl_in {
	uint64_t addr;
	uint32_t len;
	uint32_t opcode;
} urma_user_ctl_in_t;

/** struct urma_user_ctl_out - room for @len bytes at @addr */
typedef struct urma_user_ctl_out {
	uint64_t addr;
	uint32_t len;
	uint32_t reserved;
} urma_user_ctl_out_t;

#ifdef __cplusplus
}
#endif

#endif /* URMA_TYPES_WR_H */
