// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Raw queues: each element is the body of one UDP datagram from the device's address,
 * as a NIC would send it for the program (docs/decisions/0030). A body for the UBoE port
 * is a packet of the program's own making, for which it needs the right: nothing else
 * tells it from a packet of a channel that belongs to somebody else.
 */
#include "ubp_icrc.h"
#include "ubp_sqe.h"
#include "ubp_target.h"

bool ubp_raw_ok(const struct uboe_jetty_ctx *ctx)
{
	if (ctx->type != UBOE_JETTY_RAW)
		return !ctx->raw;
	return ctx->flags & UBOE_JETTY_SEND_ONLY && 1u << ctx->sq_shift >= UBOE_MIN_RAW_DEPTH &&
	       !(ctx->raw & ~UBOE_RAW_UB);
}

u8 ubp_raw_blocks(const struct ubp_jetty *j, u32 avail)
{
	struct ubp_raw_sqe s;

	ubp_sqe_fetch_raw(j->sq, j->sq_mask, j->fetched, avail, &s);
	return s.nbb;
}

static enum ubp_um_sent ubp_raw_bad(struct ubp_raw_sqe *s, u8 status, u8 sub)
{
	s->status = status;
	s->sub = sub;
	return UBP_UM_BAD;
}

/* Addressed, with its length; the bytes are not there yet */
static enum ubp_um_sent ubp_raw_send(struct ubp_jetty *j, struct ubp_raw_sqe *s)
{
	struct ubp_dev *dev = j->dev;
	bool ub = s->port == dev->cfg.udp_port;
	u32 room, crc, tail = ub ? UB_ICRC_LEN : 0;
	struct ubp_txbuf buf;
	struct ubp_path *p;
	u8 *body;

	if (s->status)
		return UBP_UM_BAD;
	if (ub && !(j->raw & UBOE_RAW_UB)) {
		ubp_stat(dev, UBP_S_RAW_REFUSED);
		return ubp_raw_bad(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_ACCESS);
	}
	if (ub && (s->len < UB_TPH_LEN || s->len & 3))
		return ubp_raw_bad(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
	p = ubp_um_path(j, s->eid, &room);
	if (!p)
		return ubp_raw_bad(s, UBOE_CQE_LOCAL, UBOE_CQE_SUB_NONE);
	if (s->len + tail > room)
		return ubp_raw_bad(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_LEN);
	p->dport = s->port;
	buf.len = ubp_encap_len(p) + s->len + tail;
	if (!ubp_tx_alloc(dev, p, buf.len, &buf))
		return UBP_UM_NO_ROOM;
	ubp_encap_fill(p, UB_ECN_NOT_ECT, buf.data, buf.len);
	body = buf.data + ubp_encap_len(p);
	if (!ubp_sgl_read(dev, j->pd, s->sge, s->nsge, 0, body, s->len)) {
		dev->ops->tx_free(dev, &buf);
		return ubp_raw_bad(s, UBOE_CQE_LOCAL, UBOE_CQE_LOCAL_ACCESS);
	}
	if (ub) {
		crc = ubp_icrc(buf.data, buf.len - tail);
		ubp_icrc_store(body + s->len, crc, dev->cfg.icrc_be);
	}
	ubp_stat(dev, UBP_S_RAW_SENT);
	ubp_stat(dev, UBP_S_TX_PACKETS);
	ubp_stat_add(dev->stats, UBP_S_TX_BYTES, buf.len);
	dev->ops->tx_send(dev, p, &buf);
	return UBP_UM_SENT;
}

enum ubp_um_sent ubp_raw_one(struct ubp_jetty *j, u32 avail, struct ubp_um_turn *t)
{
	enum ubp_um_sent r;
	struct ubp_raw_sqe s;

	ubp_sqe_fetch_raw(j->sq, j->sq_mask, j->fetched, avail, &s);
	r = ubp_raw_send(j, &s);
	t->nbb = s.nbb;
	t->status = s.status;
	t->sub = s.sub;
	t->len = s.len;
	t->cqe = s.cqe;
	return r;
}
