// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ubp_reduce.h"
#include "ubp_sqe.h"

/* One row per opcode: kind, bytes of the control part, most SGEs, most inline bytes, user data */
struct ubp_sqe_rule {
	u8 kind;
	u8 ctrl;
	u8 max_sge;
	u8 max_inline;
	u8 udf; /* enum ubp_sqe_udf */
};

enum ubp_sqe_udf {
	UBP_UDF_NONE,
	UBP_UDF_REDUCE, /* may be there */
	UBP_UDF_ATOMIC, /* must be there */
};

#define UBP_ATOMIC_RULE(udf)                                                                       \
	{                                                                                          \
		UBP_K_ATOMIC, UBOE_SQE_CTRL, 1, 0, udf                                             \
	}

static const struct ubp_sqe_rule ubp_sqe_rules[] = {
	[UBOE_SQE_SEND] = { UBP_K_SEND, UBOE_SQE_CTRL, UBOE_MAX_SGE, UBOE_MAX_INLINE, 0 },
	[UBOE_SQE_SEND_IMM] = { UBP_K_SEND, UBOE_SQE_CTRL, UBOE_MAX_SGE, UBOE_MAX_INLINE, 0 },
	[UBOE_SQE_SEND_INV] = { UBP_K_SEND, UBOE_SQE_CTRL, UBOE_MAX_SGE, UBOE_MAX_INLINE, 0 },
	[UBOE_SQE_WRITE] = { UBP_K_WRITE, UBOE_SQE_CTRL, UBOE_MAX_SGE, UBOE_MAX_INLINE,
			     UBP_UDF_REDUCE },
	[UBOE_SQE_WRITE_IMM] = { UBP_K_WRITE, UBOE_SQE_CTRL_IMM, UBOE_MAX_SGE_WRITE_IMM,
				 UBOE_MAX_INLINE_WRITE_IMM, 0 },
	[UBOE_SQE_WRITE_NOTIFY] = { UBP_K_WRITE, UBOE_SQE_CTRL_NOTIFY, UBOE_MAX_SGE_NOTIFY,
				    UBOE_MAX_INLINE_NOTIFY, 0 },
	[UBOE_SQE_READ] = { UBP_K_READ, UBOE_SQE_CTRL, UBOE_MAX_SGE_READ, 0, UBP_UDF_REDUCE },
	[UBOE_SQE_CAS] = UBP_ATOMIC_RULE(0),
	[UBOE_SQE_SWAP] = UBP_ATOMIC_RULE(0),
	[UBOE_SQE_STORE] = UBP_ATOMIC_RULE(UBP_UDF_ATOMIC),
	[UBOE_SQE_LOAD] = UBP_ATOMIC_RULE(UBP_UDF_ATOMIC),
	[UBOE_SQE_FAA] = UBP_ATOMIC_RULE(0),
	[UBOE_SQE_FSUB] = UBP_ATOMIC_RULE(0),
	[UBOE_SQE_FAND] = UBP_ATOMIC_RULE(0),
	[UBOE_SQE_FOR] = UBP_ATOMIC_RULE(0),
	[UBOE_SQE_FXOR] = UBP_ATOMIC_RULE(0),
	[UBOE_SQE_NOP] = { UBP_K_NOP, UBOE_SQE_CTRL, 0, 0, 0 },
	[UBOE_SQE_WRITE_STOREADD1] = { UBP_K_WRITE, UBOE_SQE_CTRL, UBOE_MAX_SGE_STOREADD,
				       UBOE_MAX_INLINE_STOREADD1, 0 },
	[UBOE_SQE_WRITE_STOREADD2] = { UBP_K_WRITE, UBOE_SQE_CTRL_NOTIFY, UBOE_MAX_SGE_STOREADD,
				       UBOE_MAX_INLINE_STOREADD2, 0 },
};

union ubp_raw {
	u8 b[UBOE_SQE_MAX_BB * UBOE_BB];
	__le32 w[UBOE_SQE_MAX_BB * UBOE_BB / 4];
	struct uboe_sqe sqe;
};

static void ubp_bb_copy(const u8 *ring, u32 mask, u32 pi, u8 *dst)
{
	memcpy(dst, ring + (size_t)(pi & mask) * UBOE_BB, UBOE_BB);
}

static void ubp_sqe_fail(struct ubp_sqe *s, u8 status, u8 sub)
{
	s->status = status;
	s->sub = sub;
}

static void ubp_sqe_control(const union ubp_raw *r, struct ubp_sqe *s)
{
	u32 w0 = le32_to_cpu(r->w[0]);
	u32 w1 = le32_to_cpu(r->w[1]);

	s->op = (u8)UBP_GET(UBOE_SQE_OPCODE, w1);
	s->hint = (u8)UBP_GET(UBOE_SQE_HINT, w1);
	s->order = (u8)UBP_GET(UBOE_SQE_ORDER, w0);
	s->comp_order = w0 & UBOE_SQE_COMP_ORDER;
	s->fence = w0 & UBOE_SQE_FENCE;
	s->solicited = w0 & UBOE_SQE_SOLICITED;
	s->cqe = w0 & UBOE_SQE_CQE;
	s->inl = w0 & UBOE_SQE_INLINE;
	s->token_en = w0 & UBOE_SQE_TOKEN_EN;
	s->rmt_type = (u8)UBP_GET(UBOE_SQE_RMT_TYPE, w0);
	s->tp_id = UBP_GET(UBOE_SQE_TP_ID, le32_to_cpu(r->w[2]));
	s->nsge = (u8)UBP_GET(UBOE_SQE_SGE_NUM, le32_to_cpu(r->w[2]));
	s->rmt_id = le32_to_cpu(r->w[3]) & UBOE_SQE_RMT_ID;
	memcpy(s->rmt_eid, r->sqe.rmt_eid, sizeof(s->rmt_eid));
	s->token = le32_to_cpu(r->sqe.rmt_token);
	s->addr = le64_to_cpu(r->sqe.addr);
}

static u32 ubp_sqe_bytes(const struct ubp_sqe *s, const struct ubp_sqe_rule *rule, u32 inl_len)
{
	if (rule->kind == UBP_K_ATOMIC)
		return 2 * UBOE_BB;
	return rule->ctrl + (s->inl ? inl_len : s->nsge * UBOE_SGE_SIZE);
}

/* Their bytes */
static u64 ubp_sge_list(const __le32 *w, u32 n, struct ubp_sge *d)
{
	u64 len = 0;

	for (; n; n--, d++, w += UBOE_SGE_SIZE / sizeof(*w)) {
		d->len = le32_to_cpu(w[0]);
		d->token = le32_to_cpu(w[1]);
		d->va = le32_to_cpu(w[2]) | (u64)le32_to_cpu(w[3]) << 32;
		len += d->len;
	}
	return len;
}

static void ubp_sqe_sges(const union ubp_raw *r, u32 ctrl, struct ubp_sqe *s)
{
	u64 len = ubp_sge_list(&r->w[ctrl / 4], s->nsge, s->data.sge);

	if (len > UBOE_MAX_MSG)
		ubp_sqe_fail(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
	s->len = (u32)len;
}

/* 16 bytes are for compare and swap, and for a target whose CPU has it: that one refuses */
static bool ubp_sqe_atomic_len(const struct ubp_sqe *s)
{
	return s->len == 4 || s->len == 8 || (s->len == 16 && s->op == UBOE_SQE_CAS);
}

static void ubp_sqe_payload(const union ubp_raw *r, const struct ubp_sqe_rule *rule, u32 inl_len,
			    struct ubp_sqe *s)
{
	if (s->inl) {
		if (rule->kind == UBP_K_READ || rule->kind == UBP_K_ATOMIC) {
			ubp_sqe_fail(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN); /* nowhere to put it */
			s->nsge = 0;
			return;
		}
		memcpy(s->data.bytes, r->b + rule->ctrl, inl_len);
		s->len = inl_len;
		s->nsge = 0;
		return;
	}
	ubp_sqe_sges(r, rule->ctrl, s);
	if (s->status || rule->kind != UBP_K_ATOMIC)
		return;
	memcpy(s->operand, r->b + UBOE_SQE_ATOMIC_DATA, sizeof(s->operand));
	if (s->nsge != 1 || !ubp_sqe_atomic_len(s))
		ubp_sqe_fail(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
	else if (s->addr & (s->len - 1))
		ubp_sqe_fail(s, UBOE_CQE_UNSUPPORTED, UBOE_CQE_SUB_NONE);
}

static u64 ubp_raw64(const union ubp_raw *r, u32 word)
{
	return le32_to_cpu(r->w[word]) | (u64)le32_to_cpu(r->w[word + 1]) << 32;
}

/* Both forms of Write with store add become the one that the wire has */
static void ubp_sqe_store_add(struct ubp_sqe *s)
{
	s->op = UBOE_SQE_WRITE_STOREADD2;
	s->store_add = true;
	s->needs = UB_CAP_WASA;
	if (s->ntf_addr & 7)
		ubp_sqe_fail(s, UBOE_CQE_UNSUPPORTED, UBOE_CQE_SUB_NONE);
}

/* What lies between the common control part and the data */
static void ubp_sqe_extra(const union ubp_raw *r, struct ubp_sqe *s)
{
	switch (s->op) {
	case UBOE_SQE_SEND_IMM:
	case UBOE_SQE_SEND_INV:
		s->imm = s->addr;
		break;
	case UBOE_SQE_WRITE_IMM:
		s->imm = ubp_raw64(r, 12);
		s->imm_jetty = le32_to_cpu(r->w[14]) & UBOE_SQE_RMT_ID;
		s->imm_token = le32_to_cpu(r->w[15]);
		break;
	case UBOE_SQE_WRITE_STOREADD1:
		s->token = le32_to_cpu(r->w[5]) & UBOE_SQE_TOKEN24;
		s->addr = ubp_raw64(r, 6);
		s->ntf_token_id = s->rmt_id;
		s->ntf_token = s->token;
		s->ntf_addr = ubp_raw64(r, 8);
		s->imm = ubp_raw64(r, 10);
		ubp_sqe_store_add(s);
		break;
	case UBOE_SQE_WRITE_STOREADD2:
	case UBOE_SQE_WRITE_NOTIFY:
		s->ntf_token_id = le32_to_cpu(r->w[12]) & UBOE_SQE_RMT_ID;
		s->ntf_token = le32_to_cpu(r->w[13]);
		s->ntf_addr = ubp_raw64(r, 14);
		s->imm = ubp_raw64(r, 16);
		if (s->op == UBOE_SQE_WRITE_STOREADD2)
			ubp_sqe_store_add(s);
		break;
	default:
		break;
	}
}

/* One transport message: it is not cut into slices */
static void ubp_sqe_one_slice(struct ubp_sqe *s)
{
	if (s->len > UBOE_MAX_SLICE)
		ubp_sqe_fail(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
}

static void ubp_sqe_reduce(struct ubp_sqe *s)
{
	u32 size = ubp_reduce_size(s->ud_type, s->ud_op);

	s->needs |= UB_CAP_REDUCE;
	if (!size || s->addr & (size - 1))
		ubp_sqe_fail(s, UBOE_CQE_UNSUPPORTED, UBOE_CQE_SUB_NONE);
	else if (s->len & (size - 1) || s->len > UB_MTU_MAX)
		ubp_sqe_fail(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
}

/* User data, once operation and length are known */
static void ubp_sqe_user_data(const union ubp_raw *r, u8 rule, struct ubp_sqe *s)
{
	u32 udf = le32_to_cpu(r->sqe.udf);
	u32 cls = UBP_GET(UBOE_UDF_CLASS, udf);

	s->ud = le32_to_cpu(r->w[0]) & UBOE_SQE_UDF;
	s->ud_type = (u8)UBP_GET(UBOE_UDF_TYPE, udf);
	s->ud_op = (u8)UBP_GET(UBOE_UDF_OP, udf);
	if (s->status || (!s->ud && rule != UBP_UDF_ATOMIC))
		return;
	if (s->ud && rule == UBP_UDF_REDUCE && cls == UBOE_UDF_REDUCE)
		ubp_sqe_reduce(s);
	else if (!s->ud || rule != UBP_UDF_ATOMIC || cls != UBOE_UDF_ATOMIC || s->ud_type ||
		 s->ud_op > UBOE_UDF_UMIN)
		ubp_sqe_fail(s, UBOE_CQE_UNSUPPORTED, UBOE_CQE_SUB_NONE);
}

void ubp_sqe_fetch(const u8 *ring, u32 mask, u32 pi, u32 avail, struct ubp_sqe *s)
{
	static const struct ubp_sqe_rule none = { UBP_K_BAD, UBOE_SQE_CTRL, 0, 0, 0 };
	const struct ubp_sqe_rule *rule;
	u32 i, need, inl_len;
	union ubp_raw raw;

	ubp_bb_copy(ring, mask, pi, raw.b);
	s->status = 0;
	s->sub = 0;
	s->len = 0;
	s->imm = 0;
	s->needs = 0;
	s->store_add = false;
	s->ud = false;
	ubp_sqe_control(&raw, s);
	rule = s->op < ARRAY_SIZE(ubp_sqe_rules) ? &ubp_sqe_rules[s->op] : &none;
	s->kind = rule->kind;
	s->nbb = 1;
	inl_len = UBP_GET(UBOE_SQE_INLINE_LEN, le32_to_cpu(raw.w[1]));
	if (rule->kind == UBP_K_BAD) {
		ubp_sqe_fail(s, UBOE_CQE_UNSUPPORTED, UBOE_CQE_SUB_NONE);
		s->nsge = 0;
		return;
	}
	if (s->inl ? inl_len > rule->max_inline : s->nsge > rule->max_sge) {
		ubp_sqe_fail(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
		s->nsge = 0;
		return;
	}
	need = (ubp_sqe_bytes(s, rule, inl_len) + UBOE_BB - 1) / UBOE_BB;
	if (need > avail) {
		ubp_sqe_fail(s, UBOE_CQE_UNSUPPORTED, UBOE_CQE_SUB_NONE);
		s->nbb = (u8)avail;
		s->nsge = 0;
		return;
	}
	for (i = 1; i < need; i++)
		ubp_bb_copy(ring, mask, pi + i, raw.b + i * UBOE_BB);
	s->nbb = (u8)need;
	ubp_sqe_extra(&raw, s);
	ubp_sqe_payload(&raw, rule, inl_len, s);
	if (s->store_add)
		ubp_sqe_one_slice(s);
	ubp_sqe_user_data(&raw, rule->udf, s);
}

/* Bits of a Raw SQE's control words that have a meaning */
static const u32 ubp_raw_words[4] = {
	UBOE_SQE_IDX | UBOE_SQE_CQE | UBOE_SQE_OWNER,
	UBOE_SQE_OPCODE,
	UBOE_SQE_SGE_NUM,
	UBOE_SQE_RAW_PORT,
};

static void ubp_raw_fail(struct ubp_raw_sqe *s, u8 status, u8 sub)
{
	s->status = status;
	s->sub = sub;
	s->nsge = 0;
}

/* False: the control part is not that of a Raw SQE */
static bool ubp_raw_control(const struct uboe_sqe_raw *r, struct ubp_raw_sqe *s)
{
	u32 w[4] = { le32_to_cpu(r->w0), le32_to_cpu(r->w1), le32_to_cpu(r->w2),
		     le32_to_cpu(r->w3) };
	u32 i;

	s->cqe = w[0] & UBOE_SQE_CQE;
	s->nsge = (u8)UBP_GET(UBOE_SQE_SGE_NUM, w[2]);
	s->port = (u16)(w[3] & UBOE_SQE_RAW_PORT);
	memcpy(s->eid, r->rmt_eid, sizeof(s->eid));
	for (i = 0; i < ARRAY_SIZE(w); i++)
		if (w[i] & ~ubp_raw_words[i])
			return false;
	return UBP_GET(UBOE_SQE_OPCODE, w[1]) == UBOE_SQE_RAW && s->port;
}

void ubp_sqe_fetch_raw(const u8 *ring, u32 mask, u32 pi, u32 avail, struct ubp_raw_sqe *s)
{
	union {
		u8 b[UBOE_SQE_RAW_MAX_BB * UBOE_BB];
		__le32 w[UBOE_SQE_RAW_MAX_BB * UBOE_BB / 4];
		struct uboe_sqe_raw sqe;
	} raw;
	u32 i, need;
	u64 len;

	ubp_bb_copy(ring, mask, pi, raw.b);
	memset(s, 0, sizeof(*s));
	s->nbb = 1;
	if (!ubp_raw_control(&raw.sqe, s)) {
		ubp_raw_fail(s, UBOE_CQE_UNSUPPORTED, UBOE_CQE_SUB_NONE);
		return;
	}
	if (s->nsge > UBOE_MAX_SGE_RAW) {
		ubp_raw_fail(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
		return;
	}
	need = (UBOE_SQE_CTRL_RAW + s->nsge * UBOE_SGE_SIZE + UBOE_BB - 1) / UBOE_BB;
	if (need > avail) {
		s->nbb = (u8)avail;
		ubp_raw_fail(s, UBOE_CQE_UNSUPPORTED, UBOE_CQE_SUB_NONE);
		return;
	}
	s->nbb = (u8)need;
	for (i = 1; i < need; i++)
		ubp_bb_copy(ring, mask, pi + i, raw.b + i * UBOE_BB);
	len = ubp_sge_list(&raw.w[UBOE_SQE_CTRL_RAW / 4], s->nsge, s->sge);
	if (len > UBOE_MAX_RAW)
		ubp_raw_fail(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
	else
		s->len = (u32)len;
}
