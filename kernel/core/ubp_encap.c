// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ubp_encap.h"

#define UBP_IPPROTO_UDP 17

/*
 * Room for headers beside a payload of a full MTU: IPv6, UDP, ICRC and identity
 * headers, and the longest chain that comes with one, a Write with notify. By UTP it
 * is a Send with immediate.
 */
#define UBP_OVERHEAD (UB_IPV6_LEN + UB_UDP_LEN + UB_ICRC_LEN + UB_MAX_HDR)
#define UBP_UTP_OVERHEAD                                                                           \
	(UB_IPV6_LEN + UB_UDP_LEN + UB_ICRC_LEN + UB_TPH_LEN + UB_UPIH_LEN + UB_EIDH_LEN +         \
	 UB_BTAH_LEN + UB_UDETAH_LEN + UB_MTETAH_LEN + UB_OFSTETAH_LEN + UB_IMMETAH_LEN +          \
	 UB_TVETAH_LEN)

static_assert(UBP_OVERHEAD >= UBP_UTP_OVERHEAD, "the longest chain");
static_assert(UBP_OVERHEAD + 1024 <= 1500, "Ethernet carries 1024");
static_assert(UBP_OVERHEAD + 4096 <= 4500, "a small jumbo frame carries 4096");
static_assert(UBP_OVERHEAD + 8192 <= 9000, "a jumbo frame carries 8192");

u32 ubp_mtu_for_link(u32 link_mtu)
{
	u32 mtu;

	for (mtu = UB_MTU_MAX; mtu >= UB_MTU_MIN; mtu /= 2)
		if (link_mtu >= mtu + UBP_OVERHEAD)
			return mtu;
	return 0;
}

static u32 ubp_sum(u32 sum, const u8 *p, u32 len)
{
	for (; len > 1; len -= 2, p += 2)
		sum += get_unaligned_be16(p);
	if (len)
		sum += (u32)p[0] << 8;
	return sum;
}

static u16 ubp_fold(u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (u16)~sum;
}

static void ubp_fill_ipv4(const struct ubp_path *path, u8 tc, u8 *p, u32 total)
{
	p[0] = 0x45; /* IHL 5 */
	p[1] = tc;
	put_unaligned_be16((u16)total, p + 2);
	put_unaligned_be16(0, p + 4); /* ID 0: it is covered by the ICRC */
	put_unaligned_be16(0x4000, p + 6); /* DF, offset 0 */
	p[8] = path->hop;
	p[9] = UBP_IPPROTO_UDP;
	put_unaligned_be16(0, p + 10);
	memcpy(p + 12, path->laddr + 12, 4);
	memcpy(p + 16, path->raddr + 12, 4);
	put_unaligned_be16(ubp_fold(ubp_sum(0, p, UB_IPV4_LEN)), p + 10);
}

static void ubp_fill_ipv6(const struct ubp_path *path, u8 tc, u8 *p, u32 total)
{
	put_unaligned_be32(6u << 28 | (u32)tc << 20 | (path->flow & 0xfffff), p);
	put_unaligned_be16((u16)(total - UB_IPV6_LEN), p + 4);
	p[6] = UBP_IPPROTO_UDP;
	p[7] = path->hop;
	memcpy(p + 8, path->laddr, 16);
	memcpy(p + 24, path->raddr, 16);
}

void ubp_encap_fill(const struct ubp_path *path, u8 ecn, u8 *p, u32 total)
{
	u8 tc = (u8)((path->tc & ~UBP_ECN_MASK) | ecn);
	u32 ip = path->v4 ? UB_IPV4_LEN : UB_IPV6_LEN;

	if (path->v4)
		ubp_fill_ipv4(path, tc, p, total);
	else
		ubp_fill_ipv6(path, tc, p, total);
	put_unaligned_be16(path->sport, p + ip);
	put_unaligned_be16(path->dport, p + ip + 2);
	put_unaligned_be16((u16)(total - ip), p + ip + 4);
	put_unaligned_be16(0, p + ip + 6); /* "SHOULD be transmitted as zero" */
}

static u32 ubp_check_ipv4(const u8 *p, u32 len, struct ubp_encap *e)
{
	if (len < UB_IPV4_LEN + UB_UDP_LEN)
		return UBP_D_SHORT;
	/* no options, never a fragment; DF itself is the sender's duty */
	if (p[0] != 0x45 || (get_unaligned_be16(p + 6) & 0xbfff) || p[9] != UBP_IPPROTO_UDP)
		return UBP_D_IP_HEADER;
	e->v4 = true;
	e->hlen = UB_IPV4_LEN + UB_UDP_LEN;
	e->total = get_unaligned_be16(p + 2);
	e->ecn = p[1] & UBP_ECN_MASK;
	e->saddr = p + 12;
	e->daddr = p + 16;
	return 0;
}

static u32 ubp_check_ipv6(const u8 *p, u32 len, struct ubp_encap *e)
{
	if (len < UB_IPV6_LEN + UB_UDP_LEN)
		return UBP_D_SHORT;
	if (p[6] != UBP_IPPROTO_UDP)
		return UBP_D_IP_HEADER;
	e->v4 = false;
	e->hlen = UB_IPV6_LEN + UB_UDP_LEN;
	e->total = UB_IPV6_LEN + get_unaligned_be16(p + 4);
	e->ecn = (p[1] >> 4) & UBP_ECN_MASK;
	e->saddr = p + 8;
	e->daddr = p + 24;
	return 0;
}

bool ubp_encap_csum_ok(const u8 *p, const struct ubp_encap *e)
{
	u32 alen = e->v4 ? 4 : 16;
	u32 ulen = e->total - (e->hlen - UB_UDP_LEN);
	u32 sum = UBP_IPPROTO_UDP + ulen;

	if (!get_unaligned_be16(p + e->hlen - 2))
		return true;
	sum = ubp_sum(sum, e->saddr, alen);
	sum = ubp_sum(sum, e->daddr, alen);
	sum = ubp_sum(sum, p + e->hlen - UB_UDP_LEN, ulen);
	return !ubp_fold(sum);
}

u32 ubp_encap_check(const struct ubp_config *cfg, const u8 *p, u32 len, struct ubp_encap *e)
{
	const u8 *udp;
	u32 err;

	if (len < UB_IPV4_LEN + UB_UDP_LEN)
		return UBP_D_SHORT;
	if (p[0] >> 4 == 4)
		err = ubp_check_ipv4(p, len, e);
	else if (p[0] >> 4 == 6)
		err = ubp_check_ipv6(p, len, e);
	else
		err = UBP_D_IP_HEADER;
	if (err)
		return err;
	udp = p + e->hlen - UB_UDP_LEN;
	if (e->total > len || get_unaligned_be16(udp + 4) != e->total - (e->hlen - UB_UDP_LEN))
		return UBP_D_LENGTH;
	if (get_unaligned_be16(udp + 2) != cfg->udp_port)
		return UBP_D_UDP_PORT;
	if (e->total < e->hlen + UB_TPH_LEN + UB_ICRC_LEN)
		return UBP_D_SHORT;
	/* every header is a multiple of four, and the pad makes the payload one */
	if ((e->total - e->hlen) & 3)
		return UBP_D_LENGTH;
	e->sport = get_unaligned_be16(udp);
	return 0;
}

bool ubp_encap_match(const struct ubp_encap *e, const struct ubp_path *path)
{
	if (e->v4 != path->v4)
		return false;
	if (e->v4)
		return !memcmp(e->saddr, path->raddr + 12, 4) &&
		       !memcmp(e->daddr, path->laddr + 12, 4);
	return !memcmp(e->saddr, path->raddr, 16) && !memcmp(e->daddr, path->laddr, 16);
}

void ubp_encap_addr(const struct ubp_encap *e, u8 saddr[16], u8 daddr[16])
{
	if (!e->v4) {
		memcpy(saddr, e->saddr, 16);
		memcpy(daddr, e->daddr, 16);
		return;
	}
	memset(saddr, 0, 10);
	memset(daddr, 0, 10);
	memset(saddr + 10, 0xff, 2);
	memset(daddr + 10, 0xff, 2);
	memcpy(saddr + 12, e->saddr, 4);
	memcpy(daddr + 12, e->daddr, 4);
}
