/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Native UB packets with an IP-compliant network header: link packet header, CCI and NPI,
 * then the IP packet that UBoE carries, ICRC included (docs/wire.md, "Native packets"). And
 * what a switch does to that IP packet. Pure functions for every home and for BPF.
 */
#ifndef UBP_NATIVE_H
#define UBP_NATIVE_H

#include "ubp_os.h"
#include "ub_wire.h"

/* Longest native packet: LPH, NTH and the IP packet, bytes */
#define UBP_NATIVE_MAX (UB_PACKET_BLOCKS * UB_BLOCK_FLITS * UB_FLIT_LEN)

struct ubp_native {
	u32 len; /* from the LPH to the end of the ICRC, bytes */
	u32 npi;
	u16 cci;
	u8 cfg;
	u8 vl;
	u8 rt;
};

enum ubp_native_error {
	UBP_NATIVE_OK,
	UBP_NATIVE_SHORT, /* does not hold its headers */
	UBP_NATIVE_CFG, /* link configuration without IP header */
	UBP_NATIVE_LENGTH, /* lengths of link, IP header and frame disagree */
	UBP_NATIVE_IP, /* IP header that no UB packet has */
};

/* Length field of LPH for a packet of @len bytes, 1 to UBP_NATIVE_MAX */
static inline u32 ubp_native_plength(u32 len)
{
	u32 flits = (len - 1) / UB_FLIT_LEN; /* less one */

	return flits / UB_BLOCK_FLITS << 10 | flits % UB_BLOCK_FLITS << 5 | (len - 1) % UB_FLIT_LEN;
}

/* The other way round; 0 when the field is no length */
static inline u32 ubp_native_length(u32 plength)
{
	u32 tail = plength & UB_LPH_TAIL;
	u32 flits = (plength & UB_LPH_BLOCKS) >> 10;

	if (tail >= UB_FLIT_LEN)
		return 0;
	flits = flits * UB_BLOCK_FLITS + ((plength & UB_LPH_FLITS) >> 5);
	return flits * UB_FLIT_LEN + tail + 1;
}

/* Write LPH and NTH; returns where the IP header goes */
static inline u8 *ubp_native_build(u8 *p, const struct ubp_native *n)
{
	u32 lph = UBP_PUT(UB_LPH_VL, (u32)n->vl) | UBP_PUT(UB_LPH_CFG, (u32)n->cfg) |
		  UBP_PUT(UB_LPH_RT, (u32)n->rt) | ubp_native_plength(n->len);

	put_unaligned_be32(lph, p);
	put_unaligned_be16(n->cci, p + UB_LPH_LEN);
	put_unaligned_be32(n->npi, p + UB_LPH_LEN + 2);
	return p + UB_NATIVE_LEN;
}

/* Lengths of an IP packet by its own header, @ip bytes of which are @avail */
static inline u32 ubp_ip_total(const u8 *ip)
{
	return ip[0] >> 4 == 4 ? get_unaligned_be16(ip + 2) :
				 UB_IPV6_LEN + get_unaligned_be16(ip + 4);
}

/* No options, extension headers or fragments, and UDP, as the draft's tables have it */
static inline bool ubp_ip_ok(const u8 *ip, bool v4)
{
	if (v4)
		return ip[0] == 0x45 && !(get_unaligned_be16(ip + 6) & 0xbfff) && ip[9] == 17;
	return ip[0] >> 4 == 6 && ip[6] == 17;
}

static inline u32 ubp_ip_hlen(bool v4)
{
	return v4 ? UB_IPV4_LEN : UB_IPV6_LEN;
}

/* Fields of LPH and NTH; UB_NATIVE_LEN bytes are there */
static inline void ubp_native_fields(const u8 *p, struct ubp_native *n)
{
	u32 lph = get_unaligned_be32(p);

	n->cfg = (u8)UBP_GET(UB_LPH_CFG, lph);
	n->vl = (u8)UBP_GET(UB_LPH_VL, lph);
	n->rt = (u8)UBP_GET(UB_LPH_RT, lph);
	n->len = ubp_native_length(lph & (UB_LPH_BLOCKS | UB_LPH_FLITS | UB_LPH_TAIL));
	n->cci = get_unaligned_be16(p + UB_LPH_LEN);
	n->npi = get_unaligned_be32(p + UB_LPH_LEN + 2) & (UB_NPI_LOW | UB_NPI_ID);
}

/**
 * ubp_native_check - read and validate what lies around the IP packet
 * @avail: readable bytes from the LPH on; a link may have padded the packet
 *
 * The IP packet starts at @p + UB_NATIVE_LEN and has @n->len - UB_NATIVE_LEN bytes.
 */
static inline enum ubp_native_error ubp_native_check(const u8 *p, u32 avail, struct ubp_native *n)
{
	const u8 *ip = p + UB_NATIVE_LEN;
	bool v4;

	if (avail < UB_NATIVE_LEN + UB_IPV4_LEN + UB_UDP_LEN)
		return UBP_NATIVE_SHORT;
	ubp_native_fields(p, n);
	if (n->cfg != UB_CFG_IPV4 && n->cfg != UB_CFG_IPV6)
		return UBP_NATIVE_CFG;
	v4 = n->cfg == UB_CFG_IPV4;
	if (avail < UB_NATIVE_LEN + ubp_ip_hlen(v4) + UB_UDP_LEN)
		return UBP_NATIVE_SHORT;
	if (!ubp_ip_ok(ip, v4))
		return UBP_NATIVE_IP;
	if (n->len > avail || n->len < UB_NATIVE_LEN + ubp_ip_hlen(v4) + UB_UDP_LEN ||
	    n->len != UB_NATIVE_LEN + ubp_ip_total(ip))
		return UBP_NATIVE_LENGTH;
	return UBP_NATIVE_OK;
}

/* ---- the IP header, on its way through a switch ---- */

/* The 16-bit word at @p of an IPv4 header becomes @v (RFC 1624) */
static inline void ubp_ip4_set16(u8 *ip, u8 *p, u16 v)
{
	u32 sum = (u16)~get_unaligned_be16(ip + 10);

	sum += (u16)~get_unaligned_be16(p);
	sum += v;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	put_unaligned_be16(v, p);
	put_unaligned_be16((u16)~sum, ip + 10);
}

static inline u8 ubp_ip_ecn(const u8 *ip, bool v4)
{
	return v4 ? ip[1] & 3 : ip[1] >> 4 & 3;
}

static inline void ubp_ip_set_ecn(u8 *ip, bool v4, u8 ecn)
{
	if (v4)
		ubp_ip4_set16(ip, ip, (u16)((get_unaligned_be16(ip) & ~3u) | ecn));
	else
		ip[1] = (u8)((ip[1] & ~0x30) | ecn << 4);
}

/* One hop; false when the packet has no further one */
static inline bool ubp_ip_hop(u8 *ip, bool v4)
{
	u8 ttl = v4 ? ip[8] : ip[7];

	if (ttl <= 1)
		return false;
	if (v4)
		ubp_ip4_set16(ip, ip + 8, (u16)(get_unaligned_be16(ip + 8) - 0x100));
	else
		ip[7]--;
	return true;
}

#endif /* UBP_NATIVE_H */
