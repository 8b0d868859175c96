/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Send queue elements: the one place where the user's ring is validated. */
#ifndef UBP_SQE_H
#define UBP_SQE_H

#include "ubp_obj.h"

/* What kind of transfer an SQE opcode is */
enum ubp_sqe_kind {
	UBP_K_BAD,
	UBP_K_SEND,
	UBP_K_WRITE,
	UBP_K_READ,
	UBP_K_ATOMIC,
	UBP_K_NOP,
};

#define UBP_SQE_MAX_DATA UBOE_MAX_INLINE

/**
 * struct ubp_sqe - a decoded SQE
 * @status, @sub: not zero when it cannot be executed (enum uboe_cqe_status)
 * @data: inline bytes, or @nsge elements
 * @operand: atomics: as in the SQE, memory order
 */
struct ubp_sqe {
	u8 op; /* enum uboe_sqe_opcode */
	u8 kind; /* enum ubp_sqe_kind */
	u8 nbb;
	u8 nsge;
	u8 order;
	u8 status;
	u8 sub;
	u8 hint;
	bool comp_order;
	bool fence;
	bool solicited;
	bool cqe;
	bool inl;
	bool token_en;
	u8 rmt_type; /* enum uboe_rmt_type */
	u8 rmt_eid[16];
	u32 tp_id;
	bool ud; /* it has user data: @ud_op and, of a reduce, @ud_type */
	u8 ud_type;
	u8 ud_op;
	bool store_add; /* a Write whose @imm is to be added once it is done */
	u32 needs; /* enum ub_cap: what the peer must know */
	u32 len;
	u32 rmt_id; /* remote TokenID, or jetty */
	u32 token;
	u64 addr; /* remote address, or invalidate pair */
	u64 imm;
	u32 imm_jetty;
	u32 imm_token;
	u32 ntf_token_id; /* Write with notify, with store add; @imm is the value */
	u32 ntf_token;
	u64 ntf_addr;
	u8 operand[32];
	union {
		struct ubp_sge sge[UBOE_MAX_SGE];
		u8 bytes[UBP_SQE_MAX_DATA];
	} data;
};

/**
 * ubp_sqe_fetch - copy and decode the SQE at index @pi of a ring
 * @avail: BBs that have been produced from @pi on, at least 1
 *
 * Each word of the ring is read once. A malformed SQE is decoded as far as
 * possible with @status set; @nbb is always 1..avail, so that the caller can
 * step over it.
 */
void ubp_sqe_fetch(const u8 *ring, u32 mask, u32 pi, u32 avail, struct ubp_sqe *s);

/**
 * struct ubp_raw_sqe - a decoded Raw SQE
 * @status, @sub: not zero when it cannot be executed (enum uboe_cqe_status)
 */
struct ubp_raw_sqe {
	u8 nbb;
	u8 nsge;
	u8 status;
	u8 sub;
	bool cqe;
	u16 port;
	u8 eid[16];
	u32 len;
	struct ubp_sge sge[UBOE_MAX_SGE_RAW];
};

/* The same for a raw queue, whose elements are Raw SQEs and nothing else */
void ubp_sqe_fetch_raw(const u8 *ring, u32 mask, u32 pi, u32 avail, struct ubp_raw_sqe *s);

#endif /* UBP_SQE_H */
