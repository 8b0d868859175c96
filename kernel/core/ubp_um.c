// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Unreliable messages (UM: service mode UNO over UTP, docs/wire.md 5): one packet
 * each, to the target that the request names. Nothing answers; a message that does
 * not arrive is lost, and its sender's completion says only that it left.
 */
#include "ubp_ta.h"
#include "ubp_target.h"
#include "ubp_tm.h"

/*
 * Ways to peers that a jetty keeps. They cost memory and, in a home, the search for
 * a route; a jetty that talks to more peers in turn pays that with each message.
 */
#define UBP_UM_WAYS 16u

/* The way to one peer; mtu 0: free */
struct ubp_um_way {
	struct ubp_path path;
	u32 mtu;
};

/*
 * struct ubp_um - what a UM jetty has beside the others; guarded by the jetty's lock
 * @last: way that was used last
 * @next: way that is given up next
 */
struct ubp_um {
	u8 eid[16];
	u16 sport;
	u32 mtu;
	u32 last;
	u32 next;
	struct ubp_um_way way[UBP_UM_WAYS];
};

int ubp_um_create(struct ubp_jetty *j, const struct uboe_jetty_ctx *ctx)
{
	u32 mtu = le16_to_cpu(ctx->mtu);
	struct ubp_um *um;

	if (mtu < UB_MTU_MIN || mtu > UB_MTU_MAX || (mtu & (mtu - 1)) ||
	    !ubp_addr_is_unicast(ctx->eid))
		return -EINVAL;
	um = (struct ubp_um *)j->dev->ops->zalloc(j->dev, sizeof(*um));
	if (!um)
		return -ENOMEM;
	memcpy(um->eid, ctx->eid, sizeof(um->eid));
	um->mtu = mtu;
	um->sport = le16_to_cpu(ctx->sport);
	if (!um->sport)
		um->sport = (u16)(49152 + (j->id * 2654435761u >> 18));
	j->um = um;
	return 0;
}

void ubp_um_query(const struct ubp_jetty *j, struct uboe_jetty_ctx *ctx)
{
	memcpy(ctx->eid, j->um->eid, sizeof(ctx->eid));
	ctx->mtu = cpu_to_le16((u16)j->um->mtu);
	ctx->sport = cpu_to_le16(j->um->sport);
}

static void ubp_um_drop_way(struct ubp_dev *dev, struct ubp_um_way *w)
{
	if (w->mtu)
		dev->ops->path_exit(dev, &w->path);
	w->mtu = 0;
}

void ubp_um_destroy(struct ubp_jetty *j)
{
	struct ubp_um *um = j->um;
	u32 i;

	if (!um)
		return;
	for (i = 0; i < UBP_UM_WAYS; i++)
		ubp_um_drop_way(j->dev, &um->way[i]);
	j->um = NULL;
	j->dev->ops->free_later(j->dev, um);
}

/* Fill a free way; it stays free when there is none */
static void ubp_um_new_way(struct ubp_jetty *j, struct ubp_um_way *w, const u8 *eid)
{
	struct ubp_dev *dev = j->dev;
	struct ubp_um *um = j->um;
	struct ubp_path *p = &w->path;
	u32 mtu = um->mtu, ip;

	memset(p, 0, sizeof(*p));
	memcpy(p->laddr, um->eid, sizeof(p->laddr));
	memcpy(p->raddr, eid, sizeof(p->raddr));
	p->v4 = ubp_addr_is_v4(um->eid);
	p->sport = um->sport;
	p->dport = dev->cfg.udp_port;
	p->tc = (u8)(dev->cfg.dscp << 2);
	p->hop = dev->cfg.hop_limit;
	p->flow = j->id * 2654435761u >> 12;
	if (dev->ops->path_init(dev, p))
		return;
	if (j->type == UBOE_JETTY_RAW) {
		ip = dev->ops->path_link(dev, p);
		mtu = ip > ubp_encap_len(p) ? ip - ubp_encap_len(p) : 0;
	} else if (dev->ops->path_mtu) {
		mtu = min_t(u32, mtu, dev->ops->path_mtu(dev, p));
	}
	if (mtu)
		w->mtu = mtu;
	else
		dev->ops->path_exit(dev, p);
}

/* The way to @eid, NULL: there is none */
static struct ubp_um_way *ubp_um_way(struct ubp_jetty *j, const u8 *eid)
{
	struct ubp_um *um = j->um;
	struct ubp_um_way *w;
	u32 i;

	for (i = 0; i < UBP_UM_WAYS; i++) {
		u32 n = (um->last + i) % UBP_UM_WAYS;

		w = &um->way[n];
		if (w->mtu && !memcmp(w->path.raddr, eid, sizeof(w->path.raddr))) {
			um->last = n;
			return w;
		}
	}
	if (!ubp_addr_is_unicast(eid) || ubp_addr_is_v4(eid) != ubp_addr_is_v4(um->eid))
		return NULL;
	um->last = um->next++ % UBP_UM_WAYS;
	w = &um->way[um->last];
	ubp_um_drop_way(j->dev, w);
	ubp_um_new_way(j, w, eid);
	return w->mtu ? w : NULL;
}

struct ubp_path *ubp_um_path(struct ubp_jetty *j, const u8 *eid, u32 *room)
{
	struct ubp_um_way *w = ubp_um_way(j, eid);

	*room = w ? w->mtu : 0;
	return w ? &w->path : NULL;
}

static enum ubp_um_sent ubp_um_bad(struct ubp_sqe *s, u8 status, u8 sub)
{
	s->status = status;
	s->sub = sub;
	return UBP_UM_BAD;
}

static bool ubp_um_payload(struct ubp_jetty *j, const struct ubp_sqe *s, u8 *dst)
{
	if (!s->inl)
		return ubp_sgl_read(j->dev, j->pd, s->data.sge, s->nsge, 0, dst, s->len);
	memcpy(dst, s->data.bytes, s->len);
	return true;
}

/* Room for a packet, if the jetty may send one now */
static bool ubp_um_room(struct ubp_jetty *j, struct ubp_um_way *w, struct ubp_ta *h,
			struct ubp_utp *u)
{
	u32 len;

	if (likely(!j->tm))
		return ubp_utp_begin(j->dev, &w->path, h, u);
	len = ubp_utp_len(&w->path, READ_ONCE(j->dev->npi), h);
	if (!ubp_tm_ask(j->tm, len, j->dev->ops->now(j->dev)))
		return false;
	if (ubp_utp_begin(j->dev, &w->path, h, u))
		return true;
	ubp_tm_back(j->tm, len);
	return false;
}

/* Send one message, or say in @s why not */
static enum ubp_um_sent ubp_um_send(struct ubp_jetty *j, struct ubp_sqe *s)
{
	struct ubp_dev *dev = j->dev;
	struct ubp_um_way *w;
	struct ubp_utp u;
	struct ubp_ta h = {
		.op = s->op,
		.tv_en = s->token_en,
		.token = s->token,
		.fce = s->solicited,
		.rcid = j->id & UB_BTAH_RC_ID,
		.mt = (u32)s->hint << 24 | UBP_PUT(UB_MT_TYPE, (u32)s->rmt_type) | s->rmt_id,
		.imm = s->imm,
		.pld_len = s->len,
	};

	if (s->status)
		return UBP_UM_BAD;
	/* UTP carries nothing that is answered (docs/wire.md 5) */
	if ((s->op != UBOE_SQE_SEND && s->op != UBOE_SQE_SEND_IMM) || s->rmt_type > UBOE_RMT_GROUP)
		return ubp_um_bad(s, UBOE_CQE_UNSUPPORTED, UBOE_CQE_SUB_NONE);
	w = ubp_um_way(j, s->rmt_eid);
	if (!w)
		return ubp_um_bad(s, UBOE_CQE_LOCAL, UBOE_CQE_SUB_NONE);
	if (s->len > w->mtu)
		return ubp_um_bad(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
	if (!ubp_um_room(j, w, &h, &u))
		return UBP_UM_NO_ROOM;
	if (!ubp_um_payload(j, s, u.pld)) {
		if (j->tm)
			ubp_tm_back(j->tm, u.buf.len);
		dev->ops->tx_free(dev, &u.buf);
		return ubp_um_bad(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_ACCESS);
	}
	ubp_utp_end(dev, &w->path, &u);
	return UBP_UM_SENT;
}

static enum ubp_um_sent ubp_um_message(struct ubp_jetty *j, u32 avail, struct ubp_um_turn *t)
{
	enum ubp_um_sent r;
	struct ubp_sqe s;

	ubp_sqe_fetch(j->sq, j->sq_mask, j->fetched, avail, &s);
	r = ubp_um_send(j, &s);
	t->nbb = s.nbb;
	t->status = s.status;
	t->sub = s.sub;
	t->len = s.len;
	t->cqe = s.cqe;
	return r;
}

/* False: it did not leave, and stays in the ring, or the jetty has failed */
static bool ubp_um_one(struct ubp_jetty *j, u32 avail)
{
	struct ubp_comp c = { 0 };
	struct ubp_um_turn t;
	enum ubp_um_sent r;

	r = j->type == UBOE_JETTY_RAW ? ubp_raw_one(j, avail, &t) : ubp_um_message(j, avail, &t);
	if (r == UBP_UM_NO_ROOM)
		return false;
	j->fetched += t.nbb;
	c.status = t.status;
	c.sub = t.sub;
	c.entry = (u16)(j->fetched - 1);
	c.bytes = t.len;
	if (c.status || t.cqe || j->flags & UBOE_JETTY_SIG_ALL)
		ubp_jetty_send_done(j, &c);
	if (r == UBP_UM_BAD)
		ubp_jetty_error(j);
	return j->state == UBOE_JS_READY;
}

static bool ubp_um_turn(struct ubp_jetty *j, bool drive)
{
	u32 budget = drive ? j->dev->cfg.slice : j->dev->cfg.budget;
	u32 avail;

	ubp_jetty_need_kick(j, false);
	for (; budget; budget--) {
		avail = ubp_ini_posted(j);
		if (!avail)
			avail = ubp_ini_sleep(j);
		if (!avail)
			return false;
		if (!ubp_um_one(j, avail)) {
			/* room comes back by itself, and nobody says when */
			if (j->state == UBOE_JS_READY && !(j->tm && j->tm->asked))
				j->dev->ops->engine_later(j);
			return false;
		}
	}
	if (!drive)
		j->dev->ops->engine_later(j);
	return true;
}

bool ubp_um_kick(struct ubp_jetty *j, bool drive)
{
	bool more;

	if (likely(!j->tm))
		return ubp_um_turn(j, drive);
	ubp_tm_begin(j->tm);
	more = ubp_um_turn(j, drive);
	ubp_tm_turn_end(j, more, j->dev->ops->now(j->dev));
	return more;
}

/* The target is entered: 0, or the drop reason */
static u32 ubp_um_place(const struct ubp_target *t, const struct ubp_ta *ta, const u8 *from)
{
	struct ubp_comp c = {
		.recv = true,
		.opcode = ta->op == UB_TA_SEND_IMM ? UBOE_CQE_RX_SEND_IMM : UBOE_CQE_RX_SEND,
		.solicited = ta->fce,
		.bytes = ta->pld_len,
		.imm = ta->imm,
		.rmt_eid = from,
		.rmt_id = ta->rcid & UB_BTAH_RC_ID,
	};
	struct ubp_rqe rqe;
	bool ok = true;

	switch (ubp_jfr_take_for(t->jfr, ta->pld_len, &rqe)) {
	case UBP_TAKE_OK:
		break;
	case UBP_TAKE_NONE:
		return UBP_D_TARGET_NO_RECEIVE;
	case UBP_TAKE_SHORT:
		return UBP_D_TARGET_TOO_LONG;
	default:
		ok = false;
		break;
	}
	if (!rqe.n)
		return UBP_D_TARGET_ACCESS; /* a slot that does not exist: none to give back */
	c.entry = (u16)rqe.slot[0];
	c.rqe = &rqe;
	if (ok && ta->pld_len)
		ok = ubp_sgl_write(t->jfr->dev, t->jfr->pd, rqe.sge, rqe.nsge, 0, ta->pld,
				   ta->pld_len);
	if (!ok) {
		c.status = UBOE_CQE_LOCAL;
		c.sub = UBOE_CQE_LOCAL_ACCESS;
		c.bytes = 0;
	}
	if (!ubp_target_done(t, &c))
		return UBP_D_TARGET_OVERFLOW;
	return ok ? 0 : UBP_D_TARGET_ACCESS;
}

void ubp_um_rx(struct ubp_dev *dev, const struct ubp_encap *e, const struct ubp_ta *ta)
{
	u8 from[16], to[16];
	struct ubp_target t;
	u32 drop;

	ubp_encap_addr(e, from, to);
	drop = ubp_target_find(dev, UBOE_JETTY_UM, ta->mt, &t);
	if (!drop)
		drop = ubp_target_enter(&t, ta->tv_en, ta->token);
	if (!drop) {
		if (ta->ud_en || ta->poison || ta->ofst)
			drop = UBP_D_TARGET_REQUEST;
		else
			drop = ubp_um_place(&t, ta, from);
		ubp_target_leave(&t);
	}
	if (drop)
		ubp_stat(dev, drop);
}
