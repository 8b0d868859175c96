// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ubp_icrc.h"

/* Fields that routers may change count as all ones (draft, ICRC section). */
static u32 ubp_icrc_mask(u8 *h, const u8 *ip)
{
	u32 len;

	if (ip[0] >> 4 == 4) {
		len = UB_IPV4_LEN + UB_UDP_LEN;
		memcpy(h, ip, len);
		h[1] = 0xff; /* type of service */
		h[8] = 0xff; /* TTL */
		h[10] = 0xff; /* header checksum */
		h[11] = 0xff;
	} else {
		len = UB_IPV6_LEN + UB_UDP_LEN;
		memcpy(h, ip, len);
		h[0] |= 0x0f; /* traffic class, flow label */
		h[1] = 0xff;
		h[2] = 0xff;
		h[3] = 0xff;
		h[7] = 0xff; /* hop limit */
	}
	h[len - 2] = 0xff; /* UDP checksum */
	h[len - 1] = 0xff;
	return len;
}

u32 ubp_icrc(const u8 *ip, u32 len)
{
	u8 h[UB_IPV6_LEN + UB_UDP_LEN];
	u32 hlen = ubp_icrc_mask(h, ip);
	u32 crc = ubp_os_crc32(~0u, h, hlen);

	return ~ubp_os_crc32(crc, ip + hlen, len - hlen);
}
