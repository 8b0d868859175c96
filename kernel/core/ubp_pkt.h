/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Transport and transaction headers: parse and build. One table says which
 * headers an opcode has; both directions follow it (Base Spec 6.2, 7.2).
 */
#ifndef UBP_PKT_H
#define UBP_PKT_H

#include "ubp_os.h"
#include "ub_wire.h"

/* Transport header in host order */
struct ubp_tph {
	u8 op; /* enum ub_tp_opcode */
	u8 pad;
	u8 nlp;
	u8 rspst;
	u8 rspinfo;
	u8 hlen; /* bytes up to the first transaction header */
	bool last;
	bool ack; /* A */
	bool fake; /* F */
	u32 src;
	u32 dst;
	u32 psn;
	u32 msn;
};

/* Headers that an opcode's chain may hold, in wire order */
enum ubp_chain {
	UBP_H_BTAH = 1 << 0,
	UBP_H_ATAH = 1 << 1,
	UBP_H_TAID = 1 << 2,
	UBP_H_MT = 1 << 3,
	UBP_H_OFST = 1 << 4,
	UBP_H_MA = 1 << 5,
	UBP_H_IMM = 1 << 6,
	UBP_H_NTF = 1 << 7,
	UBP_H_PLD = 1 << 8, /* may carry a payload */
};

/* Transaction headers in host order; fields without a header are 0 */
struct ubp_ta {
	u8 op; /* enum ub_ta_opcode */
	u8 odr; /* ODR bits */
	bool tv_en;
	bool ud_en;
	bool fce; /* solicited */
	bool retry;
	bool poison;
	bool hint; /* these four are carried, not acted upon */
	bool alloc;
	bool excl;
	bool sv;
	u8 rspst; /* ATAH */
	u8 rspinfo;
	u16 ssn; /* INI_TASSN */
	u16 taid;
	u32 rcid; /* INI_RC_ID with type */
	u32 ud;
	u32 mt; /* MTETAH word: hint, type, id */
	u32 ofst; /* KiB */
	u64 addr;
	u32 token_id;
	u32 length;
	u32 token;
	u64 imm;
	u32 imm_token;
	u32 imm_len;
	u64 ntf_addr;
	u32 ntf_token_id;
	u32 ntf_token;
	u64 ntf_data;
	const u8 *pld;
	u32 pld_len;
};

void ubp_tph_parse(const u8 *p, struct ubp_tph *t);

/**
 * ubp_tph_check - rules that a packet must meet whatever channel it is for
 * @p: the TPH that @t was parsed from
 * @len: bytes from there to the ICRC, a multiple of four, at least a TPH
 *
 * Acknowledgements and CNPs are checked completely, data up to the transaction headers.
 *
 * Return: 0, or the drop reason (enum ubp_stat).
 */
u32 ubp_tph_check(const struct ubp_tph *t, const u8 *p, u32 len);

void ubp_tph_build(u8 *p, const struct ubp_tph *t);

/* Header chain of a TA opcode (enum ubp_chain), 0 for reserved ones */
u32 ubp_ta_chain(u8 op);

/* Bytes of the headers that ubp_ta_build() will write */
u32 ubp_ta_len(const struct ubp_ta *t);
u32 ubp_ta_build(u8 *p, const struct ubp_ta *t);

enum ubp_ta_err {
	UBP_TA_OK,
	UBP_TA_NONE, /* not even the first header: no opcode, no sequence number */
	UBP_TA_SHORT, /* headers cut, or bytes where none belong */
	UBP_TA_OPCODE,
	UBP_TA_VERSION,
	UBP_TA_FIELD, /* reserved value */
};

/**
 * ubp_ta_parse - decode the transaction part of a packet
 * @p: first TA header
 * @len: bytes up to the end of the payload, pad excluded
 *
 * On every error but UBP_TA_NONE op and ssn are valid, so that the request can be
 * refused by name.
 */
enum ubp_ta_err ubp_ta_parse(const u8 *p, u32 len, struct ubp_ta *t);

static inline bool ubp_tph_is_data(const struct ubp_tph *t)
{
	return t->op == UB_TP_RTP_DATA || t->op == UB_TP_UTP_DATA;
}

static inline bool ubp_ta_is_response(u8 op)
{
	return op >= UB_TA_TAACK && op <= UB_TA_ATOMIC_RSP;
}

static inline bool ubp_ta_is_atomic(u8 op)
{
	return op >= UB_TA_CAS && op <= UB_TA_FETCH_XOR;
}

#endif /* UBP_PKT_H */
