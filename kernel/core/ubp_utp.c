// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Unreliable transport: single packets, no PSN. Carries the channel set-up and UM. */
#include "ubp_part.h"
#include "ubp_target.h"
#include "ubp_tp.h"

u32 ubp_utp_len(const struct ubp_path *path, u32 npi, const struct ubp_ta *h)
{
	u32 pad = -h->pld_len & 3;

	return ubp_encap_len(path) + UB_TPH_LEN + ubp_part_len(npi) + ubp_ta_len(h) + h->pld_len +
	       pad + UB_ICRC_LEN;
}

bool ubp_utp_begin(struct ubp_dev *dev, struct ubp_path *path, struct ubp_ta *h, struct ubp_utp *u)
{
	u32 elen = ubp_encap_len(path), pad = -h->pld_len & 3, npi = READ_ONCE(dev->npi);
	struct ubp_tph t = {
		.op = UB_TP_UTP_DATA,
		.last = true,
		.pad = (u8)pad,
		.nlp = ubp_part_nlp(npi),
	};
	u8 *p;

	u->len = h->pld_len;
	u->buf.len = ubp_utp_len(path, npi, h);
	if (!ubp_tx_alloc(dev, path, u->buf.len, &u->buf))
		return false;
	h->ssn = ++dev->utp_ssn;
	p = u->buf.data;
	ubp_encap_fill(path, UB_ECN_NOT_ECT, p, u->buf.len);
	p += elen;
	ubp_tph_build(p, &t);
	p = ubp_part_build(p + UB_TPH_LEN, npi, path);
	u->pld = p + ubp_ta_build(p, h);
	return true;
}

void ubp_utp_end(struct ubp_dev *dev, struct ubp_path *path, struct ubp_utp *u)
{
	struct ubp_txbuf *buf = &u->buf;
	u32 crc;

	memset(u->pld + u->len, 0, -u->len & 3);
	crc = ubp_icrc(buf->data, buf->len - UB_ICRC_LEN);
	ubp_icrc_store(buf->data + buf->len - UB_ICRC_LEN, crc, dev->cfg.icrc_be);
	ubp_stat(dev, UBP_S_TX_PACKETS);
	ubp_stat_add(dev->stats, UBP_S_TX_BYTES, buf->len);
	dev->ops->tx_send(dev, path, buf);
}

void ubp_utp_send(struct ubp_dev *dev, struct ubp_path *path, const u8 *body, u32 len)
{
	struct ubp_ta h = { .op = UB_TA_SEND, .pld_len = len };
	struct ubp_utp u;

	if (!ubp_utp_begin(dev, path, &h, &u))
		return; /* as good as lost: its sender repeats it */
	memcpy(u.pld, body, len);
	ubp_utp_end(dev, path, &u);
}

void ubp_utp_rx(struct ubp_dev *dev, const struct ubp_encap *e, const u8 *p, u32 len)
{
	struct ubp_ta ta;

	if (ubp_ta_parse(p, len, &ta)) {
		ubp_stat(dev, UBP_D_TA_HEADER);
		return;
	}
	if (ta.op != UB_TA_SEND && ta.op != UB_TA_SEND_IMM) {
		ubp_stat(dev, UBP_D_TA_OPCODE);
		return;
	}
	if (ta.mt & UB_MT_ID) {
		ubp_um_rx(dev, e, &ta);
		return;
	}
	/* public jetty 0 is the transport's own (Base Spec 10.3) */
	if (ta.op != UB_TA_SEND || ta.pld_len < 4 || get_unaligned_be32(ta.pld) != UB_TPCM_MAGIC) {
		ubp_stat(dev, UBP_D_UTP_NO_JETTY);
		return;
	}
	ubp_tpcm_rx(dev, e, ta.pld, ta.pld_len);
}
