/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* IPv4/IPv6 and UDP headers of UBoE packets (draft, "IP and UDP Header fields"). */
#ifndef UBP_ENCAP_H
#define UBP_ENCAP_H

#include "ubp.h"

#define UBP_ECN_MASK 0x03

/* What a receiver learns from the headers below the TPH */
struct ubp_encap {
	u32 hlen; /* IP and UDP headers */
	u32 total; /* bytes from the IP header up to the end of the ICRC */
	u16 sport;
	u8 ecn;
	bool v4;
	const u8 *saddr; /* 4 or 16 bytes */
	const u8 *daddr;
};

static inline u32 ubp_encap_len(const struct ubp_path *p)
{
	return (p->v4 ? UB_IPV4_LEN : UB_IPV6_LEN) + UB_UDP_LEN;
}

static inline bool ubp_addr_is_v4(const u8 *a)
{
	static const u8 pfx[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

	return !memcmp(a, pfx, sizeof(pfx));
}

/* Congestion of the way that a packet took (enum ubp_cc_level) */
static inline u8 ubp_rx_level(const struct ubp_rxpkt *pkt, const struct ubp_encap *e)
{
	if (unlikely(pkt->mark != UBP_MARK_AS_IP))
		return (u8)(pkt->mark - UBP_MARK_NONE);
	return e->ecn == UB_ECN_CE ? UBP_CC_SEVERE : UBP_CC_CLEAR;
}

/* Write IP and UDP headers of a packet of @total bytes, ICRC included */
void ubp_encap_fill(const struct ubp_path *path, u8 ecn, u8 *p, u32 total);

/**
 * ubp_encap_check - validate the headers below the TPH
 * @len: readable bytes from the IP header on; trailing padding of the link is allowed
 *
 * Return: 0, or the drop reason (enum ubp_stat).
 */
u32 ubp_encap_check(const struct ubp_config *cfg, const u8 *p, u32 len, struct ubp_encap *e);

/* Is the UDP checksum of a packet that passed ubp_encap_check() right, or absent? */
bool ubp_encap_csum_ok(const u8 *p, const struct ubp_encap *e);

/* Does the packet come from the channel's peer and go to its own address? */
bool ubp_encap_match(const struct ubp_encap *e, const struct ubp_path *path);

/* Addresses as 16 bytes, v4-mapped for IPv4 */
void ubp_encap_addr(const struct ubp_encap *e, u8 saddr[16], u8 daddr[16]);

#endif /* UBP_ENCAP_H */
