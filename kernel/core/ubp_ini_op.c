// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Requests that not every peer knows, and Read with reduce, which happens here. */
#include "ubp_reduce.h"
#include "ubp_ta.h"

/* Its data are combined piecewise; a multiple of every element */
#define UBP_REDUCE_PART 256u

static void ubp_ini_unfit(struct ubp_msg *m, u8 status, u8 sub)
{
	m->s.status = status;
	m->s.sub = sub;
}

void ubp_ini_adapt(struct ubp_jetty *j, struct ubp_msg *m)
{
	const struct ubp_tp *tp = j->tp;
	u32 lacks;

	if (m->s.status) {
		/* an asynchronous event, too, for what is longer than a slice */
		if (m->s.store_add && m->s.sub == UBOE_CQE_LOCAL_LEN)
			j->dev->ops->event(j->dev, UBOE_EV_JETTY, UBOE_EV_SUB_JFS, j->id);
		return;
	}
	if (!tp || tp->state != UBP_TP_OPEN)
		return; /* it will not be sent */
	lacks = m->s.needs & ~tp->caps;
	if (lacks & UB_CAP_REDUCE) {
		if (j->dev->cfg.caps & UB_CAP_REDUCE)
			ubp_ini_unfit(m, UBOE_CQE_REMOTE, UBOE_CQE_REMOTE_UNSUPPORTED);
		else
			ubp_ini_unfit(m, UBOE_CQE_UNSUPPORTED, UBOE_CQE_SUB_NONE);
	} else if (m->s.needs & UB_CAP_REDUCE && m->s.len > tp->mtu) {
		ubp_ini_unfit(m, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
	} else if (lacks & UB_CAP_WASA) {
		m->s.op = UBOE_SQE_WRITE;
		m->in_two = true;
	}
}

void ubp_ini_second_half(struct ubp_msg *m)
{
	u32 i;

	m->in_two = false;
	m->s.kind = UBP_K_ATOMIC;
	m->s.op = UBOE_SQE_STORE;
	m->s.ud = true;
	m->s.ud_type = 0;
	m->s.ud_op = UBOE_UDF_ADD;
	m->s.order = UB_ORDER_STRONG; /* behind its data, docs/wire.md section 9 */
	m->s.addr = m->s.ntf_addr;
	m->s.rmt_id = m->s.ntf_token_id;
	m->s.token = m->s.ntf_token;
	m->s.len = 8;
	m->s.nsge = 0;
	m->s.inl = false;
	for (i = 0; i < 8; i++)
		m->s.operand[i] = (u8)(m->s.imm >> 8 * i);
	m->sent = 0;
	m->done = 0;
	m->started = false;
	m->remap = true;
	m->issued = false;
}

u32 ubp_ini_user_data(const struct ubp_tp *tp, const struct ubp_msg *m)
{
	if (m->s.kind == UBP_K_ATOMIC)
		return ubp_ud_wire(tp, UB_UD_CLASS_ATOMIC, 0, m->s.ud_op);
	return ubp_ud_wire(tp, UB_UD_CLASS_REDUCE, m->s.ud_type, m->s.ud_op);
}

/* Local memory becomes (local op remote) */
static bool ubp_ini_reduce(struct ubp_jetty *j, const struct ubp_msg *m, const u8 *src, u32 len)
{
	u8 part[UBP_REDUCE_PART];
	u32 off, n;

	for (off = 0; off < len; off += n) {
		n = min_t(u32, len - off, UBP_REDUCE_PART);
		if (!ubp_sgl_read(j->dev, j->pd, m->s.data.sge, m->s.nsge, off, part, n))
			return false;
		ubp_reduce_private(m->s.ud_type, m->s.ud_op, part, src + off, n);
		if (!ubp_sgl_write(j->dev, j->pd, m->s.data.sge, m->s.nsge, off, part, n))
			return false;
	}
	return true;
}

bool ubp_ini_store(struct ubp_jetty *j, const struct ubp_msg *m, u32 off, const u8 *src, u32 len)
{
	if (unlikely(m->s.ud && m->s.kind == UBP_K_READ))
		return ubp_ini_reduce(j, m, src, len);
	return ubp_sgl_write(j->dev, j->pd, m->s.data.sge, m->s.nsge, off, src, len);
}
