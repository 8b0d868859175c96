// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Unreliable transport: single packets, no PSN. Carries the channel set-up. */
#include "ubp_tp.h"

/* Send, without options, to a jetty: what precedes the payload of vector U */
#define UBP_UTP_HDR (UB_TPH_LEN + UB_BTAH_LEN + UB_MTETAH_LEN + UB_OFSTETAH_LEN)

void ubp_utp_send(struct ubp_dev *dev, struct ubp_path *path, const u8 *body, u32 len)
{
	u32 elen = ubp_encap_len(path), pad = -len & 3;
	struct ubp_ta h = { .op = UB_TA_SEND };
	struct ubp_tph t = { .op = UB_TP_UTP_DATA, .last = true, .pad = (u8)pad };
	struct ubp_txbuf buf;
	u32 crc;
	u8 *p;

	h.ssn = ++dev->utp_ssn;
	buf.len = elen + UBP_UTP_HDR + len + pad + UB_ICRC_LEN;
	if (!dev->ops->tx_alloc(dev, path, buf.len, &buf))
		return; /* as good as lost: its sender repeats it */
	p = buf.data;
	ubp_encap_fill(path, UBP_ECN_NOT_ECT, p, buf.len);
	p += elen;
	ubp_tph_build(p, &t);
	p += UB_TPH_LEN;
	p += ubp_ta_build(p, &h);
	memcpy(p, body, len);
	memset(p + len, 0, pad);
	crc = ubp_icrc(buf.data, buf.len - UB_ICRC_LEN);
	ubp_icrc_store(buf.data + buf.len - UB_ICRC_LEN, crc, dev->cfg.icrc_be);
	ubp_stat(dev, UBP_S_TX_PACKETS);
	ubp_stat_add(dev->stats, UBP_S_TX_BYTES, buf.len);
	dev->ops->tx_send(dev, path, &buf);
}

void ubp_utp_rx(struct ubp_dev *dev, const struct ubp_encap *e, const u8 *p, u32 len)
{
	struct ubp_ta ta;

	if (ubp_ta_parse(p, len, &ta)) {
		ubp_stat(dev, UBP_D_TA_HEADER);
		return;
	}
	if (ta.op != UB_TA_SEND) {
		ubp_stat(dev, UBP_D_TA_OPCODE);
		return;
	}
	/* public jetty 0 is the transport's own (Base Spec 10.3) */
	if (ta.mt & UB_MT_ID || ta.pld_len < 4 || get_unaligned_be32(ta.pld) != UB_TPCM_MAGIC) {
		ubp_stat(dev, UBP_D_UTP_NO_JETTY);
		return;
	}
	ubp_tpcm_rx(dev, e, ta.pld, ta.pld_len);
}
