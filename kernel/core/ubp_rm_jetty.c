// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RM jetties: from the ring to the channels, completions, flush. */
#include "ubp_part.h"
#include "ubp_rm.h"
#include "ubp_tm.h"

#define UBP_RM_INSTALMENT 8192u /* bytes; what others of the tree wait for at most */
#define UBP_RM_PARTS 256u /* instalments of one turn: softirqs are off meanwhile */

int ubp_rm_create(struct ubp_jetty *j)
{
	u32 i, n = j->sq_mask + 1;
	struct ubp_rmsg *msg;
	struct ubp_rm *rm;

	/* as many as the ring has blocks: a peer that is silent holds back no other */
	rm = (struct ubp_rm *)j->dev->ops->zalloc(j->dev, sizeof(*rm) + (size_t)n * sizeof(*msg));
	if (!rm)
		return -ENOMEM;
	msg = (struct ubp_rmsg *)(rm + 1);
	for (i = n; i--;) {
		msg[i].j = j;
		msg[i].next = rm->free;
		rm->free = &msg[i];
	}
	j->rm = rm;
	return 0;
}

static bool ubp_rm_is_ordered(const struct ubp_rmsg *m)
{
	return m->w.s.order != UB_ORDER_NO && m->w.s.kind != UBP_K_NOP;
}

/* Execution order across all targets is the initiator's business (Base Spec 7.3) */
static bool ubp_rm_may_go(const struct ubp_rm *rm, const struct ubp_rmsg *m)
{
	if (m->w.s.fence && rm->rd)
		return false;
	if (m->w.s.order != UB_ORDER_STRONG || !rm->ordered)
		return true;
	/* ROT: the target keeps it, but for Reads, which would be refused meanwhile */
	return rm->led && rm->led == m->w.s.tp_id && rm->led == rm->ordered_tpn && !rm->rd;
}

void ubp_rm_led(struct ubp_jetty *j, u32 tpn)
{
	struct ubp_rm *rm = j->rm;

	rm->led = tpn;
	if (tpn && rm->pending && ubp_rm_may_go(rm, rm->pending))
		j->dev->ops->engine_later(j);
}

static void ubp_rm_count(struct ubp_rm *rm, const struct ubp_rmsg *m)
{
	rm->rd += ubp_msg_is_rd(&m->w);
	if (!ubp_rm_is_ordered(m))
		return;
	if (!rm->ordered++)
		rm->ordered_tpn = m->w.s.tp_id;
	else if (rm->ordered_tpn != m->w.s.tp_id)
		rm->ordered_tpn = 0;
}

static void ubp_rm_uncount(struct ubp_rm *rm, const struct ubp_rmsg *m)
{
	rm->rd -= ubp_msg_is_rd(&m->w);
	rm->ordered -= ubp_rm_is_ordered(m);
}

static void ubp_rm_link(struct ubp_rm *rm, struct ubp_rmsg *m)
{
	m->older = rm->newest;
	m->newer = NULL;
	if (rm->newest)
		rm->newest->newer = m;
	else
		rm->oldest = m;
	rm->newest = m;
}

static void ubp_rm_unlink(struct ubp_rm *rm, struct ubp_rmsg *m)
{
	if (m->older)
		m->older->newer = m->newer;
	else
		rm->oldest = m->newer;
	if (m->newer)
		m->newer->older = m->older;
	else
		rm->newest = m->older;
}

/* Tells the producer which blocks it may write again */
static void ubp_rm_consumed(struct ubp_jetty *j)
{
	/* release: they have been copied */
	smp_store_release((__le32 *)(j->page + UBOE_JPAGE_CI), cpu_to_le32(j->fetched));
}

static struct ubp_rmsg *ubp_rm_take(struct ubp_jetty *j)
{
	struct ubp_rm *rm = j->rm;
	struct ubp_rmsg *m = rm->free;
	u32 avail = ubp_ini_posted(j);

	if (!avail)
		return NULL;
	if (!m) {
		rm->starved = true;
		return NULL;
	}
	rm->free = m->next;
	ubp_sqe_fetch(j->sq, j->sq_mask, j->fetched, avail, &m->w.s);
	j->fetched += m->w.s.nbb;
	ubp_rm_consumed(j);
	ubp_msg_init(&m->w, j->fetched, j->slice);
	m->seq = rm->seq++;
	m->segs = ubp_msg_segs(&m->w);
	m->reqs = 0;
	m->listed = false;
	rm->owed = UBP_RM_UNASKED;
	WRITE_ONCE(m->dead, false);
	ubp_rm_link(rm, m);
	return m;
}

/* Bytes of all packets of a message. The peer's answers are not among them */
static u64 ubp_rm_bytes(const struct ubp_tp *tp, const struct ubp_msg *w)
{
	u32 each = ubp_encap_len(&tp->path) + UB_TPH_LEN + ubp_part_len(READ_ONCE(tp->dev->npi)) +
		   UB_ICRC_LEN;
	u32 mtu = READ_ONCE(tp->mtu);
	bool carries = w->s.kind == UBP_K_WRITE || w->s.kind == UBP_K_SEND;
	struct ubp_txd d = { 0 };
	struct ubp_ta h;
	u32 n;

	if (!carries) {
		d.flags = UBP_TXF_LAST;
		ubp_msg_headers(tp, w, &d, 0, &h);
		return (u64)ubp_msg_segs(w) * (each + ubp_ta_len(&h) + h.pld_len);
	}
	if (w->s.kind == UBP_K_WRITE && mtu)
		mtu = min_t(u32, mtu, 1u << w->slice); /* a packet ends where its slice ends */
	n = mtu && w->s.len ? (w->s.len + mtu - 1) / mtu : 1;
	ubp_msg_headers(tp, w, &d, 0, &h);
	each += ubp_ta_len(&h);
	d.flags = UBP_TXF_LAST;
	d.off = (n - 1) * mtu;
	/* those of the last packet may be longer */
	n *= each;
	n -= ubp_ta_len(&h);
	ubp_msg_headers(tp, w, &d, 0, &h);
	return (u64)n + ubp_ta_len(&h) + w->s.len + (-w->s.len & 3);
}

/*
 * May it go to its channel? A channel is not held up for one jetty's sake, so a message
 * goes there when all of it has been paid for, which is done bit by bit.
 */
static bool ubp_rm_pay(struct ubp_jetty *j, const struct ubp_rmsg *m)
{
	struct ubp_rm *rm = j->rm;
	const struct ubp_tp *tp;
	u32 left = UBP_RM_PARTS;
	u64 now;

	if (likely(!j->tm) || m->w.s.kind == UBP_K_NOP)
		return true;
	if (rm->owed == UBP_RM_UNASKED) {
		ubp_read_begin();
		tp = ubp_tp_find(j->dev, m->w.s.tp_id);
		rm->owed = tp && tp->sh ? ubp_rm_bytes(tp, &m->w) : 0;
		ubp_read_end();
	}
	now = j->dev->ops->now(j->dev);
	while (rm->owed) {
		u32 part = (u32)min_t(u64, rm->owed, UBP_RM_INSTALMENT);

		if (!left--) {
			j->dev->ops->engine_later(j); /* others have their turn between */
			return false;
		}
		if (!ubp_tm_ask(j->tm, part, now))
			return false;
		rm->owed -= part;
	}
	return true;
}

/* Has a message been paid for in part? */
static bool ubp_rm_pays(const struct ubp_rm *rm)
{
	return rm->pending && rm->owed && rm->owed != UBP_RM_UNASKED;
}

/* The next message that may go to its channel */
static struct ubp_rmsg *ubp_rm_fetch(struct ubp_jetty *j)
{
	struct ubp_rm *rm = j->rm;
	struct ubp_rmsg *m = rm->pending;

	rm->pending = NULL;
	if (!m)
		m = ubp_rm_take(j);
	if (!m)
		return NULL;
	if (!m->w.s.status && (!ubp_rm_may_go(rm, m) || !ubp_rm_pay(j, m))) {
		rm->pending = m;
		return NULL;
	}
	ubp_rm_count(rm, m);
	return m;
}

void ubp_rm_free(struct ubp_rmsg *m)
{
	struct ubp_rm *rm = m->j->rm;

	m->next = rm->free;
	rm->free = m;
	if (rm->starved) {
		rm->starved = false;
		m->j->dev->ops->engine_later(m->j);
	}
}

void ubp_rm_done(struct ubp_rmsg *m, u8 status, u8 sub)
{
	struct ubp_jetty *j = m->j;
	struct ubp_rm *rm = j->rm;
	struct ubp_comp c = {
		.status = status,
		.sub = sub,
		.entry = (u16)(m->w.end - 1),
		.bytes = m->w.s.len,
	};

	if (m->dead)
		return;
	WRITE_ONCE(m->dead, true);
	ubp_rm_unlink(rm, m);
	if (m != rm->pending)
		ubp_rm_uncount(rm, m);
	if (rm->pending && ubp_rm_may_go(rm, rm->pending))
		j->dev->ops->engine_later(j);
	if (status || m->w.s.cqe || j->flags & UBOE_JETTY_SIG_ALL)
		ubp_jetty_send_done(j, &c);
}

/* What needs no channel; true when that was all */
static bool ubp_rm_local(struct ubp_rmsg *m)
{
	if (likely(!m->w.s.status && m->w.s.kind != UBP_K_NOP))
		return false;
	ubp_rm_done(m, m->w.s.status, m->w.s.sub);
	ubp_rm_free(m);
	return true;
}

/* Messages for one channel, up to the next that is for another */
static u32 ubp_rm_collect(struct ubp_jetty *j, struct ubp_rm_list *list, u32 *budget)
{
	struct ubp_rmsg *m;
	u32 tpn = 0;

	while (*budget && j->state == UBOE_JS_READY) {
		m = ubp_rm_fetch(j);
		if (!m)
			break;
		(*budget)--;
		if (ubp_rm_local(m))
			continue;
		if (list->first && m->w.s.tp_id != tpn) {
			/* its turn comes in the next list */
			ubp_rm_uncount(j->rm, m);
			j->rm->pending = m;
			break;
		}
		tpn = m->w.s.tp_id;
		if (unlikely(!ubp_ref_tryget(&j->refs)))
			break;
		ubp_rm_append(list, m);
	}
	return tpn;
}

/* Nothing can go to a channel: true when the producer was quicker */
static bool ubp_rm_idle(struct ubp_jetty *j)
{
	/* with these a completion goes on */
	return !j->rm->pending && !j->rm->starved && ubp_ini_sleep(j);
}

/*
 * Takes what was posted to its channels. One at a time, which keeps the order; the
 * jetty's lock is inside those of channels and therefore given up in between.
 */
void ubp_rm_pump(struct ubp_jetty *j)
{
	u32 budget = j->dev->cfg.budget, tpn;
	struct ubp_rm *rm = j->rm;

	ubp_assert_held(&j->lock);
	if (rm->pumping) {
		rm->again = true;
		return;
	}
	rm->pumping = true;
	ubp_jetty_need_kick(j, false);
	if (unlikely(j->tm))
		ubp_tm_begin(j->tm);
	for (;;) {
		struct ubp_rm_list list = { NULL, NULL };

		rm->again = false;
		tpn = ubp_rm_collect(j, &list, &budget);
		if (list.first) {
			ubp_unlock_some(&j->lock);
			ubp_rm_submit(j->dev, tpn, &list);
			ubp_lock_some(&j->lock);
		}
		if (j->dead || j->state != UBOE_JS_READY)
			break;
		if (!budget) {
			j->dev->ops->engine_later(j);
			break;
		}
		if (!list.first && !rm->again && !ubp_rm_idle(j))
			break;
	}
	rm->pumping = false;
	/* the lock was given up: it may have come or gone meanwhile */
	if (unlikely(j->tm))
		ubp_tm_turn_end(j, !budget || ubp_rm_pays(rm), j->dev->ops->now(j->dev));
	if (!j->dead && j->state == UBOE_JS_ERROR)
		ubp_rm_flush(j); /* what was fetched while it failed */
}

void ubp_rm_discard(struct ubp_jetty *j)
{
	struct ubp_rm *rm = j->rm;
	struct ubp_rmsg *m;

	while ((m = rm->oldest)) {
		ubp_rm_unlink(rm, m);
		WRITE_ONCE(m->dead, true);
	}
	rm->pending = NULL;
}

void ubp_rm_flush(struct ubp_jetty *j)
{
	struct ubp_rm *rm = j->rm;
	struct ubp_rmsg *m, *pending = rm->pending;

	while ((m = rm->oldest)) {
		m->w.s.len = 0;
		ubp_rm_done(m, UBOE_CQE_FLUSH, 0);
	}
	rm->pending = NULL;
	if (pending)
		ubp_rm_free(pending);
	ubp_ini_flush(j); /* the ring */
	ubp_rm_consumed(j);
}
