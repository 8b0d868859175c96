// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ubp_pkt.h"
#include "ubp.h"

#define SEND_CHAIN (UBP_H_BTAH | UBP_H_MT | UBP_H_OFST | UBP_H_PLD)
#define ATOMIC_CHAIN (UBP_H_BTAH | UBP_H_TAID | UBP_H_MA | UBP_H_PLD)

/* Base Spec 7.2 and docs/wire.md; opcodes left out are refused */
static const u16 ubp_chains[UB_TA_OPCODE_MAX + 1] = {
	[UB_TA_SEND] = SEND_CHAIN,
	[UB_TA_SEND_IMM] = SEND_CHAIN | UBP_H_IMM,
	[UB_TA_SEND_INV] = SEND_CHAIN | UBP_H_IMM,
	[UB_TA_WRITE] = UBP_H_BTAH | UBP_H_MA | UBP_H_PLD,
	[UB_TA_WRITE_IMM] = UBP_H_BTAH | UBP_H_MT | UBP_H_MA | UBP_H_IMM | UBP_H_PLD,
	[UB_TA_WRITE_NOTIFY] = UBP_H_BTAH | UBP_H_MA | UBP_H_NTF | UBP_H_PLD,
	[UB_TA_WRITE_STOREADD] = UBP_H_BTAH | UBP_H_MA | UBP_H_NTF | UBP_H_PLD,
	[UB_TA_READ] = UBP_H_BTAH | UBP_H_TAID | UBP_H_OFST | UBP_H_MA,
	[UB_TA_CAS] = ATOMIC_CHAIN,
	[UB_TA_SWAP] = ATOMIC_CHAIN,
	[UB_TA_STORE] = ATOMIC_CHAIN,
	[UB_TA_LOAD] = ATOMIC_CHAIN,
	[UB_TA_FETCH_ADD] = ATOMIC_CHAIN,
	[UB_TA_FETCH_SUB] = ATOMIC_CHAIN,
	[UB_TA_FETCH_AND] = ATOMIC_CHAIN,
	[UB_TA_FETCH_OR] = ATOMIC_CHAIN,
	[UB_TA_FETCH_XOR] = ATOMIC_CHAIN,
	[UB_TA_TAACK] = UBP_H_ATAH,
	[UB_TA_READ_RSP] = UBP_H_ATAH | UBP_H_TAID | UBP_H_OFST | UBP_H_PLD,
	[UB_TA_ATOMIC_RSP] = UBP_H_ATAH | UBP_H_TAID | UBP_H_PLD,
};

void ubp_tph_parse(const u8 *p, struct ubp_tph *t)
{
	t->op = p[0] & UB_TPH_OPCODE;
	t->last = p[0] & UB_TPH_LAST;
	t->pad = (p[1] & UB_TPH_PAD) >> 4;
	t->nlp = p[1] & UB_TPH_NLP;
	t->hlen = UB_TPH_LEN + (t->nlp == UB_NLP_IDENT ? UB_UPIH_LEN + UB_EIDH_LEN : 0);
	t->src = ubp_get_be24(p + 2);
	t->dst = ubp_get_be24(p + 5);
	t->ack = p[8] & UB_TPH_A;
	t->fake = p[8] & UB_TPH_F;
	t->psn = ubp_get_be24(p + 9);
	t->rspst = p[12] >> 5;
	t->rspinfo = p[12] & UB_TPH_RSPINFO;
	t->msn = ubp_get_be24(p + 13);
}

/* RSPST and RSPINFO of a TPACK; reserved ones mean nothing that could be acted upon */
static bool ubp_tp_status_ok(const struct ubp_tph *t)
{
	switch (t->rspst) {
	case UB_RSPST_OK:
		return true;
	case UB_RSPST_RNR:
	case UB_RSPST_FAULT:
		return t->rspinfo <= UB_RNR_TIMER_MAX;
	case UB_RSPST_ERROR:
	case UB_RSPST_TA:
		return t->rspinfo <= 2;
	default:
		return false;
	}
}

static u32 ubp_sack_check(const u8 *p, u32 len)
{
	u32 code;

	if (len < UB_SAETPH_LEN)
		return UBP_D_SACK_INVALID;
	code = p[0] & 7;
	if (code > UB_SACK_SIZE_MAX || len != UB_SAETPH_LEN + (8u << code))
		return UBP_D_SACK_INVALID;
	return 0;
}

/* @p and @len: what follows the TPH of a packet without a PSN of its own */
static u32 ubp_answer_check(const struct ubp_tph *t, const u8 *p, u32 len)
{
	u32 cc = t->op == UB_TP_ACK_CC || t->op == UB_TP_SACK_CC ? UB_CETPH_LEN : 0;

	if (t->pad)
		return UBP_D_PAD;
	switch (t->op) {
	case UB_TP_SACK:
	case UB_TP_SACK_CC:
		return len < cc ? UBP_D_SACK_INVALID : ubp_sack_check(p + cc, len - cc);
	case UB_TP_ACK:
	case UB_TP_ACK_CC:
		if (!ubp_tp_status_ok(t))
			return UBP_D_TP_STATUS;
		return len == cc ? 0 : UBP_D_LENGTH;
	default:
		if (len != UB_CNP_CETPH_LEN)
			return UBP_D_LENGTH;
		return (p[0] & UB_CNP_ECN) >> 6 == UB_CNP_ECN_RSVD ? UBP_D_CNP : 0;
	}
}

u32 ubp_tph_check(const struct ubp_tph *t, const u8 *p, u32 len)
{
	if (p[1] & UB_TPH_VER)
		return UBP_D_TP_VERSION;
	switch (t->op) {
	case UB_TP_RTP_DATA:
	case UB_TP_UTP_DATA:
		if (t->nlp != UB_NLP_TAH && t->nlp != UB_NLP_IDENT)
			return UBP_D_TP_NLP;
		if (len < t->hlen)
			return UBP_D_TA_HEADER;
		return len < (u32)t->hlen + t->pad ? UBP_D_PAD : 0;
	case UB_TP_ACK:
	case UB_TP_ACK_CC:
	case UB_TP_SACK:
	case UB_TP_SACK_CC:
	case UB_TP_CNP:
		return ubp_answer_check(t, p + UB_TPH_LEN, len - UB_TPH_LEN);
	default:
		return UBP_D_TP_OPCODE;
	}
}

void ubp_tph_build(u8 *p, const struct ubp_tph *t)
{
	p[0] = (u8)(t->op | (t->last ? UB_TPH_LAST : 0));
	p[1] = (u8)(t->pad << 4 | t->nlp);
	ubp_put_be24(t->src, p + 2);
	ubp_put_be24(t->dst, p + 5);
	p[8] = (u8)((t->ack ? UB_TPH_A : 0) | (t->fake ? UB_TPH_F : 0));
	ubp_put_be24(t->psn, p + 9);
	p[12] = (u8)(t->rspst << 5 | t->rspinfo);
	ubp_put_be24(t->msn, p + 13);
}

u32 ubp_ta_chain(u8 op)
{
	return op <= UB_TA_OPCODE_MAX ? ubp_chains[op] : 0;
}

u32 ubp_ta_len(const struct ubp_ta *t)
{
	u32 c = ubp_ta_chain(t->op);

	return UB_BTAH_LEN + (t->ud_en ? UB_UDETAH_LEN : 0) +
	       (c & UBP_H_TAID ? UB_TAIDETAH_LEN : 0) + (c & UBP_H_MT ? UB_MTETAH_LEN : 0) +
	       (c & UBP_H_OFST ? UB_OFSTETAH_LEN : 0) + (c & UBP_H_MA ? UB_MAETAH_LEN : 0) +
	       (c & UBP_H_IMM ? UB_IMMETAH_LEN : 0) + (c & UBP_H_NTF ? UB_NTFETAH_LEN : 0) +
	       (t->tv_en ? UB_TVETAH_LEN : 0);
}

static void ubp_btah_build(u8 *p, const struct ubp_ta *t, u32 chain)
{
	p[0] = t->op;
	put_unaligned_be16(t->ssn, p + 2);
	if (chain & UBP_H_ATAH) {
		p[1] = (u8)((t->sv ? UB_ATAH_SV : 0) | (t->poison ? UB_ATAH_POISON : 0));
		p[4] = (u8)(t->rspst << 5 | t->rspinfo);
	} else {
		p[1] = (u8)(UB_BTAH_EE_PLAIN | (t->tv_en ? UB_BTAH_TV_EN : 0) |
			    (t->hint ? UB_BTAH_HINT : 0) | (t->poison ? UB_BTAH_POISON : 0) |
			    (t->ud_en ? UB_BTAH_UD : 0));
		p[4] = (u8)(t->odr << UB_BTAH_ODR_SHIFT | (chain & UBP_H_MT ? UB_BTAH_MT_EN : 0) |
			    (t->fce ? UB_BTAH_FCE : 0) | (t->retry ? UB_BTAH_RETRY : 0) |
			    (t->alloc ? UB_BTAH_ALLOC : 0));
	}
	ubp_put_be24(t->rcid | (t->excl ? UB_BTAH_EXCL : 0), p + 5);
}

static void ubp_ma_build(u8 *p, u64 addr, u32 token_id, u32 last)
{
	put_unaligned_be64(addr, p);
	put_unaligned_be32(token_id << UB_TOKEN_ID_SHIFT, p + 8);
	put_unaligned_be32(last, p + 12);
}

u32 ubp_ta_build(u8 *p, const struct ubp_ta *t)
{
	u32 c = ubp_ta_chain(t->op);
	u8 *start = p;

	ubp_btah_build(p, t, c);
	p += UB_BTAH_LEN;
	if (t->ud_en) {
		put_unaligned_be32(t->ud, p);
		p += UB_UDETAH_LEN;
	}
	if (c & UBP_H_TAID) {
		put_unaligned_be32(t->taid, p);
		p += UB_TAIDETAH_LEN;
	}
	if (c & UBP_H_MT) {
		put_unaligned_be32(t->mt, p);
		p += UB_MTETAH_LEN;
	}
	if (c & UBP_H_OFST) {
		put_unaligned_be32(t->ofst & 0xffffff, p);
		p += UB_OFSTETAH_LEN;
	}
	if (c & UBP_H_MA) {
		ubp_ma_build(p, t->addr, t->token_id, t->length);
		p += UB_MAETAH_LEN;
	}
	if (c & UBP_H_IMM) {
		put_unaligned_be64(t->imm, p);
		put_unaligned_be32(t->imm_token, p + 8);
		put_unaligned_be32(t->imm_len, p + 12);
		p += UB_IMMETAH_LEN;
	}
	if (c & UBP_H_NTF) {
		ubp_ma_build(p, t->ntf_addr, t->ntf_token_id, t->ntf_token);
		put_unaligned_be64(t->ntf_data, p + 16);
		p += UB_NTFETAH_LEN;
	}
	if (t->tv_en) {
		put_unaligned_be32(t->token, p);
		p += UB_TVETAH_LEN;
	}
	return (u32)(p - start);
}

/* RSPST and RSPINFO of an answer */
static bool ubp_ta_status_ok(const struct ubp_ta *t)
{
	switch (t->rspst) {
	case UB_RSPST_OK:
	case UB_RSPST_TA:
		return true;
	case UB_RSPST_RNR:
	case UB_RSPST_FAULT:
		return t->rspinfo <= UB_RNR_TIMER_MAX;
	case UB_RSPST_ERROR:
		return t->rspinfo == UB_RSPINFO_UNSUPPORTED || t->rspinfo == UB_RSPINFO_ABORT;
	default:
		return false;
	}
}

static enum ubp_ta_err ubp_atah_parse(const u8 *p, struct ubp_ta *t)
{
	t->poison = p[1] & UB_ATAH_POISON;
	t->sv = p[1] & UB_ATAH_SV;
	t->rspst = p[4] >> 5;
	t->rspinfo = p[4] & UB_TPH_RSPINFO;
	if (p[1] & UB_BTAH_VER)
		return UBP_TA_VERSION;
	return ubp_ta_status_ok(t) ? UBP_TA_OK : UBP_TA_FIELD;
}

static enum ubp_ta_err ubp_btah_parse(const u8 *p, struct ubp_ta *t, u32 chain)
{
	t->tv_en = p[1] & UB_BTAH_TV_EN;
	t->ud_en = p[1] & UB_BTAH_UD;
	t->poison = p[1] & UB_BTAH_POISON;
	t->odr = (p[4] & UB_BTAH_ODR) >> UB_BTAH_ODR_SHIFT;
	t->fce = p[4] & UB_BTAH_FCE;
	t->retry = p[4] & UB_BTAH_RETRY;
	t->hint = p[1] & UB_BTAH_HINT;
	t->alloc = p[4] & UB_BTAH_ALLOC;
	if ((p[1] & UB_BTAH_VER) || (p[1] & UB_BTAH_EE) != UB_BTAH_EE_PLAIN)
		return UBP_TA_VERSION;
	/* the header is there exactly when the bit says so */
	if (!(chain & UBP_H_MT) != !(p[4] & UB_BTAH_MT_EN))
		return UBP_TA_FIELD;
	return UBP_TA_OK;
}

enum ubp_ta_err ubp_ta_parse(const u8 *p, u32 len, struct ubp_ta *t)
{
	enum ubp_ta_err err;
	u32 c, hlen, w;

	memset(t, 0, sizeof(*t));
	if (len < UB_BTAH_LEN)
		return UBP_TA_NONE;
	t->op = p[0];
	t->ssn = get_unaligned_be16(p + 2);
	c = ubp_ta_chain(t->op);
	if (!c)
		return UBP_TA_OPCODE;
	w = ubp_get_be24(p + 5);
	t->rcid = w & (UB_BTAH_RC_TYPE | UB_BTAH_RC_ID);
	t->excl = w & UB_BTAH_EXCL;
	err = c & UBP_H_ATAH ? ubp_atah_parse(p, t) : ubp_btah_parse(p, t, c);
	if (err)
		return err;
	if ((w & UB_BTAH_RC_TYPE) == UB_BTAH_RC_TYPE)
		return UBP_TA_FIELD;
	hlen = ubp_ta_len(t);
	if (len < hlen || (!(c & UBP_H_PLD) && len > hlen))
		return UBP_TA_SHORT;
	t->pld = p + hlen;
	t->pld_len = len - hlen;
	if (t->pld_len && t->rspst && t->rspst != UB_RSPST_TA)
		return UBP_TA_SHORT; /* a refusal brings no data */
	p += UB_BTAH_LEN;
	if (t->ud_en) {
		t->ud = get_unaligned_be32(p);
		p += UB_UDETAH_LEN;
	}
	if (c & UBP_H_TAID) {
		t->taid = get_unaligned_be16(p + 2);
		p += UB_TAIDETAH_LEN;
	}
	if (c & UBP_H_MT) {
		t->mt = get_unaligned_be32(p);
		if ((t->mt & UB_MT_TYPE) == UB_MT_TYPE)
			return UBP_TA_FIELD;
		p += UB_MTETAH_LEN;
	}
	if (c & UBP_H_OFST) {
		t->ofst = get_unaligned_be32(p) & 0xffffff;
		p += UB_OFSTETAH_LEN;
	}
	if (c & UBP_H_MA) {
		t->addr = get_unaligned_be64(p);
		t->token_id = (get_unaligned_be32(p + 8) >> UB_TOKEN_ID_SHIFT) & UB_TOKEN_ID_MAX;
		t->length = get_unaligned_be32(p + 12);
		p += UB_MAETAH_LEN;
	}
	if (c & UBP_H_IMM) {
		t->imm = get_unaligned_be64(p);
		t->imm_token = get_unaligned_be32(p + 8);
		t->imm_len = get_unaligned_be32(p + 12);
		p += UB_IMMETAH_LEN;
	}
	if (c & UBP_H_NTF) {
		t->ntf_addr = get_unaligned_be64(p);
		t->ntf_token_id = (get_unaligned_be32(p + 8) >> UB_TOKEN_ID_SHIFT) &
				  UB_TOKEN_ID_MAX;
		t->ntf_token = get_unaligned_be32(p + 12);
		t->ntf_data = get_unaligned_be64(p + 16);
		p += UB_NTFETAH_LEN;
	}
	if (t->tv_en)
		t->token = get_unaligned_be32(p);
	return UBP_TA_OK;
}
