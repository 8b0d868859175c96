// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A port of a UB domain: packets with LPH and NTH (draft, "Adaptation of NPI" and "of CCI"). */
#include "ubp_map.h"
#include "ubp_native.h"
#include "ubp_obj.h"
#include "ubp_part.h"

static u32 ubp_native_reason(enum ubp_native_error e)
{
	static const u32 reasons[] = {
		[UBP_NATIVE_SHORT] = UBP_D_SHORT,
		[UBP_NATIVE_CFG] = UBP_D_LINK_CFG,
		[UBP_NATIVE_LENGTH] = UBP_D_LENGTH,
		[UBP_NATIVE_IP] = UBP_D_IP_HEADER,
	};

	return reasons[e];
}

/* What the modes of FECN tell; CAQM's own is for the channels that have it (ubp_cc.c) */
static u8 ubp_native_mark(u16 cci)
{
	if (ubp_cci_mode(cci) != UB_CCI_MODE_FECN)
		return UBP_MARK_AS_IP;
	switch (cci & UB_CCI_FECN) {
	case UB_FECN_SEVERE:
		return UBP_MARK_SEVERE;
	case UB_FECN_LIGHT:
		return UBP_MARK_LIGHT;
	default:
		return UBP_MARK_NONE;
	}
}

bool ubp_rx_native(struct ubp_dev *dev, const struct ubp_rxpkt *pkt)
{
	struct ubp_rxpkt ip = *pkt;
	enum ubp_native_error e;
	struct ubp_native n;
	u32 err;

	e = ubp_native_check(pkt->data, pkt->len, &n);
	/* partitions end here, and privileges, which switches do not look at */
	err = e ? ubp_native_reason(e) : ubp_part_may(READ_ONCE(dev->npi), n.npi);
	if (err) {
		ubp_stat(dev, UBP_S_RX_INVALID);
		ubp_stat(dev, err);
		return false;
	}
	ip.data += UB_NATIVE_LEN;
	ip.len = n.len - UB_NATIVE_LEN;
	ip.mark = ubp_native_mark(n.cci);
	ip.cci = n.cci;
	return ubp_rx(dev, &ip);
}

void ubp_tx_native(const struct ubp_dev *dev, u8 *ip, u32 len, u16 cci)
{
	bool v4 = ip[0] >> 4 == 4;
	u8 fecn = ubp_ip_ecn(ip, v4) == UB_ECN_NOT_ECT ? UB_FECN_UNMARKABLE : UB_FECN_MARKABLE;
	struct ubp_native n = {
		.len = UB_NATIVE_LEN + len,
		.npi = READ_ONCE(dev->npi),
		.cci = cci ? cci : ubp_cci_fecn(fecn),
		.cfg = v4 ? UB_CFG_IPV4 : UB_CFG_IPV6,
		.rt = UB_RT_DEFAULT,
	};

	ubp_native_build(ip - UB_NATIVE_LEN, &n);
}
