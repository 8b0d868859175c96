// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests that change memory by what was there: atomics, store add and reduce
 * (Base Spec 7.4.2.3, docs/wire.md section 5). Each is executed once: the channel
 * drops duplicates, and a refused one is sent anew under the same TASSN. All
 * checks come before the first byte is changed.
 */
#include "ubp_reduce.h"
#include "ubp_rsp.h"

static u64 ubp_atomic_new(u8 op, u64 old, const u64 *arg)
{
	switch (op) {
	case UB_TA_CAS:
		return old == arg[1] ? arg[0] : old;
	case UB_TA_SWAP:
		return arg[0];
	case UB_TA_FETCH_ADD:
		return old + arg[0];
	case UB_TA_FETCH_SUB:
		return old - arg[0];
	case UB_TA_FETCH_AND:
		return old & arg[0];
	case UB_TA_FETCH_OR:
		return old | arg[0];
	default:
		return old ^ arg[0];
	}
}

/* @sub: what an atomic store or load does */
static u64 ubp_atomic_next(u8 op, u32 sub, u32 size, u64 old, const u64 *arg)
{
	if (op == UB_TA_STORE || op == UB_TA_LOAD)
		return ubp_reduce_int(size, sub, old, arg[0]);
	return ubp_atomic_new(op, old, arg);
}

/* Little-endian operands on a little-endian or swapped basis: memory order is the wire's */
static u64 ubp_atomic_run(void *p, u32 size, u8 op, u32 sub, const u8 *pld)
{
	u64 arg[2] = { 0, 0 }, old, seen;

	memcpy(&arg[0], pld, size);
	memcpy(&arg[1], pld + size, size);
	arg[0] = le64_to_cpu((__force __le64)arg[0]);
	arg[1] = le64_to_cpu((__force __le64)arg[1]);
	seen = size == 8 ? READ_ONCE(*(u64 *)p) : READ_ONCE(*(u32 *)p);
	do {
		u64 next;

		old = seen;
		next = ubp_atomic_next(op, sub, size, old, arg);
		if (size == 8)
			seen = ubp_os_cas64(p, old, next);
		else
			seen = ubp_os_cas32(p, (u32)old, (u32)next);
	} while (seen != old);
	return old;
}

/* Compare and swap of 16 bytes: one try decides, for it says what was there */
static void ubp_atomic_cas16(void *p, const u8 *pld, u8 *result)
{
	u64 val[2], old[2];

	memcpy(val, pld, 16);
	memcpy(old, pld + 16, 16);
	ubp_os_cas128(p, old, val);
	memcpy(result, old, 16);
}

static void ubp_atomic_execute(void *p, u32 sub, const struct ubp_ta *ta, u8 *result)
{
	u64 old;

	if (ta->length == 16) {
		ubp_atomic_cas16(p, ta->pld, result);
		return;
	}
	old = ubp_atomic_run(p, ta->length, ta->op, sub, ta->pld);
	put_unaligned_le32((u32)old, result);
	put_unaligned_le32((u32)(old >> 32), result + 4);
}

/* Sub-operation of a UDETAH; both ends may agree that 1 and 2 mean what Arm's names say */
static u32 ubp_ud_op(const struct ubp_tp *tp, u32 ud)
{
	u32 op = UBP_GET(UB_UD_OP, ud);

	if (tp->caps & UB_CAP_CLR_EOR_ARM && (op == UBOE_UDF_XOR || op == UBOE_UDF_CLEAR))
		op ^= UBOE_UDF_XOR ^ UBOE_UDF_CLEAR;
	return op;
}

u32 ubp_ud_wire(const struct ubp_tp *tp, u32 cls, u32 type, u32 op)
{
	u32 ud = UBP_PUT(UB_UD_OP, op);

	return UBP_PUT(UB_UD_CLASS, cls) | UBP_PUT(UB_UD_TYPE, type) |
	       UBP_PUT(UB_UD_OP, ubp_ud_op(tp, ud));
}

static bool ubp_atomic_ok(const struct ubp_ta *ta)
{
	if (ta->pld_len != 2 * ta->length || ta->addr & (ta->length - 1))
		return false;
	if (ta->ud_en && (ta->ud & (UB_UD_CLASS | UB_UD_TYPE) || UBP_GET(UB_UD_OP, ta->ud) > 7))
		return false;
	if (ta->length == 16)
		return ta->op == UB_TA_CAS && ubp_os_has_cas128();
	return ta->length == 4 || ta->length == 8;
}

bool ubp_rsp_atomic(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	struct ubp_seg *seg;
	struct ubp_rce *e;
	void *p;

	if (!t->last || !ubp_atomic_ok(ta))
		return ubp_rsp_unsupported(tp);
	if (!ubp_rsp_may(tp, UBOE_ACC_REMOTE_ATOMIC))
		return ubp_rsp_abort(tp);
	e = ubp_rsp_rce(tp, t, ta, UB_TA_ATOMIC_RSP);
	if (!e)
		return false;
	seg = ubp_rsp_seg(tp, ta, UBOE_ACC_REMOTE_ATOMIC, ta->length);
	if (!seg)
		return ubp_rsp_abort(tp);
	p = ubp_seg_ptr(seg, ta->addr);
	/* an unaligned mapping of an aligned address cannot be operated on at once */
	if ((uintptr_t)p & (ta->length - 1)) {
		ubp_seg_put(seg);
		return ubp_rsp_unsupported(tp);
	}
	ubp_atomic_execute(p, ubp_ud_op(tp, ta->ud), ta, e->result);
	ubp_seg_put(seg);
	e->size = ta->op == UB_TA_STORE ? 0 : (u8)ta->length;
	e->len = e->size;
	tp->rsp.rce_tail++;
	return true;
}

/* Adds to the counter once all of the payload is in memory */
bool ubp_rsp_store_add(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	__le64 addend = cpu_to_le64(ta->ntf_data);
	struct ubp_seg *seg;
	void *p;

	if (!(tp->caps & UB_CAP_WASA) || !t->last || ta->ntf_addr & 7)
		return ubp_rsp_unsupported(tp);
	if (!ubp_rsp_may(tp, UBOE_ACC_REMOTE_ATOMIC))
		return ubp_rsp_abort(tp);
	seg = ubp_seg_get(tp->dev, ta->ntf_token_id, ta->tv_en ? &ta->ntf_token : NULL,
			  ubp_rsp_pd(tp), UBOE_ACC_REMOTE_ATOMIC, ta->ntf_addr, sizeof(addend));
	if (!seg)
		return ubp_rsp_abort(tp);
	p = ubp_seg_ptr(seg, ta->ntf_addr);
	if ((uintptr_t)p & 7) {
		ubp_seg_put(seg);
		return ubp_rsp_unsupported(tp);
	}
	if (!ubp_rsp_place(tp, ta)) {
		ubp_seg_put(seg);
		return false;
	}
	/* full barriers of the swap: who sees the sum sees the data */
	ubp_reduce_shared(UBOE_UDF_U64, UBOE_UDF_ADD, p, &addend, sizeof(addend));
	ubp_seg_put(seg);
	tp->rsp.ta_done = true;
	return true;
}

/* Size of the elements of a reduce of @len bytes at @ta's address; 0: not a proper one */
static u32 ubp_rsp_elements(const struct ubp_tp *tp, const struct ubp_tph *t,
			    const struct ubp_ta *ta, u32 len)
{
	u32 size;

	if (!(tp->caps & UB_CAP_REDUCE) || !t->last || len > tp->mtu ||
	    UBP_GET(UB_UD_CLASS, ta->ud) != UB_UD_CLASS_REDUCE)
		return 0;
	size = ubp_reduce_size(UBP_GET(UB_UD_TYPE, ta->ud), ubp_ud_op(tp, ta->ud));
	return size && !((len | ta->addr) & (size - 1)) ? size : 0;
}

bool ubp_rsp_write_reduce(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	u32 size = ubp_rsp_elements(tp, t, ta, ta->pld_len), n, done;
	u32 type = UBP_GET(UB_UD_TYPE, ta->ud), op = ubp_ud_op(tp, ta->ud);
	struct ubp_seg *seg;

	if (!size)
		return ubp_rsp_unsupported(tp);
	if (!ubp_rsp_may(tp, UBOE_ACC_REMOTE_WRITE))
		return ubp_rsp_abort(tp);
	seg = ta->pld_len ? ubp_rsp_seg(tp, ta, UBOE_ACC_REMOTE_WRITE, ta->pld_len) : NULL;
	if (ta->pld_len && !seg)
		return ubp_rsp_abort(tp);
	if (seg && (uintptr_t)ubp_seg_ptr(seg, ta->addr) & (size - 1)) {
		ubp_seg_put(seg);
		return ubp_rsp_unsupported(tp);
	}
	for (done = 0; done < ta->pld_len; done += n) {
		u64 room;
		u8 *p = ubp_seg_at(seg, ta->addr + done, &room);

		n = (u32)min_t(u64, ta->pld_len - done, room);
		ubp_reduce_shared(type, op, p, ta->pld + done, n);
	}
	if (seg)
		ubp_seg_put(seg);
	tp->rsp.ta_done = true;
	return true;
}

/* The answer is that of any Read: what it becomes is the initiator's business */
bool ubp_rsp_read_reduce(struct ubp_tp *tp, const struct ubp_tph *t, const struct ubp_ta *ta)
{
	if (!ubp_rsp_elements(tp, t, ta, ta->length))
		return ubp_rsp_unsupported(tp);
	return ubp_rsp_read(tp, t, ta);
}
