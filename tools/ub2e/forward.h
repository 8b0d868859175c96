/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a UB2E switch does with a frame, once for both datapaths, in three steps: read what
 * the frame says, decide from that and the tables, write the new headers in front of the
 * same IP packet. Between deciding and writing the owner of the frame moves its beginning.
 *
 * Who includes this file defines the lookups that are declared below for its own @sw.
 *
 * Pointers into the frame are compared with its end before each step: the verifier of BPF
 * wants to see that, and it is the one check of hostile input.
 */
#ifndef UB2E_FORWARD_H
#define UB2E_FORWARD_H

#include "queue.h"

/* Of the tables; NULL when there is none */
static inline const struct ub2e_port *ub2e_find_port(void *sw, u32 port);
static inline const struct ub2e_partition *ub2e_find_vlan(void *sw, u32 vlan);
static inline const struct ub2e_partition *ub2e_find_id(void *sw, u32 id);
static inline const struct ub2e_route *ub2e_find_route(void *sw, const u8 daddr[16]);
/* Up by one with each call, for per-packet spreading */
static inline u32 ub2e_next_turn(void *sw);
/* What ub2e_level_mark() says of a port's virtual queue, and makes of @cci */
static inline u32 ub2e_mark_of(void *sw, u32 port, const struct ub2e_port *to, u32 len, u16 *cci);

#define UB2E_ETHERTYPE_IP4 0x0800
#define UB2E_ETHERTYPE_IP6 0x86dd
#define UB2E_ETHERTYPE_TAG 0x8100
#define UB2E_ETHERTYPE_TAG_OUTER 0x88a8

/* What a frame says */
struct ub2e_in {
	u32 len; /* IP packet, bytes */
	u32 npi; /* of a native packet */
	u32 flow; /* hash of addresses and source port */
	u16 cci; /* of a native packet */
	u16 tci; /* VLAN tag, when there is one */
	u8 l3; /* offset of the IP header */
	u8 vl;
	u8 rt;
	u8 ecn;
	u8 ttl;
	bool ub;
	bool v4;
	bool tagged;
	u8 daddr[16]; /* v4-mapped */
};

/* What becomes of it */
struct ub2e_out {
	u32 npi;
	u16 cci;
	u16 vlan; /* 0: untagged */
	u8 port;
	u8 l3;
	u8 ecn;
	u8 mark; /* enum ub2e_fate, or 0 */
	bool ub;
	bool cci_lost;
	struct ub2e_path path;
};

static inline u32 ub2e_mix(u32 h)
{
	h ^= h >> 16;
	h *= 0x85ebca6b;
	h ^= h >> 13;
	h *= 0xc2b2ae35;
	return h ^ h >> 16;
}

static inline u32 ub2e_flow(const u8 *ip, bool v4)
{
	u32 h = get_unaligned_be16(ip + ubp_ip_hlen(v4));
	u32 i;

	if (v4) {
		h = ub2e_mix(h ^ get_unaligned_be32(ip + 12));
		return ub2e_mix(h ^ get_unaligned_be32(ip + 16));
	}
	for (i = 8; i < UB_IPV6_LEN; i += 4)
		h = ub2e_mix(h ^ get_unaligned_be32(ip + i));
	return h;
}

static inline bool ub2e_ip4_sum_ok(const u8 *ip)
{
	u32 sum = 0;
	u32 i;

	for (i = 0; i < UB_IPV4_LEN; i += 2)
		sum += get_unaligned_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* IP and UDP headers at @ip, which are there; @avail bytes from @ip on */
static inline u32 ub2e_read_ip(const u8 *ip, u32 avail, struct ub2e_in *in)
{
	u32 hlen = ubp_ip_hlen(in->v4);

	if (!ubp_ip_ok(ip, in->v4))
		return UB2E_DROP_IP_HEADER;
	if (in->v4 && !ub2e_ip4_sum_ok(ip))
		return UB2E_DROP_IP_CHECKSUM;
	in->len = ubp_ip_total(ip);
	if (in->len > avail || in->len < hlen + UB_UDP_LEN + UB_TPH_LEN + UB_ICRC_LEN ||
	    in->len - hlen != get_unaligned_be16(ip + hlen + 4))
		return UB2E_DROP_LENGTH;
	if (get_unaligned_be16(ip + hlen + 2) != UB_UDP_PORT)
		return UB2E_DROP_UDP_PORT;
	in->ecn = ubp_ip_ecn(ip, in->v4);
	in->ttl = in->v4 ? ip[8] : ip[7];
	in->flow = ub2e_flow(ip, in->v4);
	if (in->v4) {
		__builtin_memset(in->daddr, 0, 10);
		in->daddr[10] = 0xff;
		in->daddr[11] = 0xff;
		__builtin_memcpy(in->daddr + 12, ip + 16, 4);
	} else {
		__builtin_memcpy(in->daddr, ip + 24, 16);
	}
	return 0;
}

/*
 * Shortest packet of UBoE, from the IP header on. No IP and UDP header is longer, so one
 * comparison with the end of the frame makes all of them readable.
 */
#define UB2E_LEAST (UB_IPV4_LEN + UB_UDP_LEN + UB_TPH_LEN + UB_ICRC_LEN)
UBP_STATIC_ASSERT(UB2E_LEAST >= UB_IPV6_LEN + UB_UDP_LEN, "headers lie in the shortest packet");

/* A frame of a UB port. Return: 0, UB2E_OTHER, or the reason to drop it */
static inline u32 ub2e_read_ub(const u8 *p, const u8 *end, u32 len, struct ub2e_in *in)
{
	const u8 *native = p + UB2E_ETH_LEN;
	const u8 *ip = native + UB_NATIVE_LEN;
	struct ubp_native n;

	if (p + UB2E_ETH_LEN > end || get_unaligned_be16(p + 12) != UB_LAB_ETHERTYPE)
		return UB2E_OTHER;
	if (ip + UB2E_LEAST > end)
		return UB2E_DROP_SHORT;
	ubp_native_fields(native, &n);
	if (n.cfg != UB_CFG_IPV4 && n.cfg != UB_CFG_IPV6)
		return UB2E_DROP_CFG;
	in->v4 = n.cfg == UB_CFG_IPV4;
	in->ub = true;
	in->tagged = false;
	in->l3 = UB2E_ETH_LEN + UB_NATIVE_LEN;
	in->npi = n.npi;
	in->cci = n.cci;
	in->vl = n.vl;
	in->rt = n.rt;
	if (ubp_ip_ok(ip, in->v4) && n.len != UB_NATIVE_LEN + ubp_ip_total(ip))
		return UB2E_DROP_LENGTH;
	return ub2e_read_ip(ip, len - in->l3, in);
}

/* Is it UDP to the port of UB? Behind options or extension headers UBoE never is */
static inline bool ub2e_is_uboe(const u8 *ip, bool v4)
{
	return (v4 ? ip[9] : ip[6]) == 17 &&
	       get_unaligned_be16(ip + ubp_ip_hlen(v4) + 2) == UB_UDP_PORT;
}

/* Compared word by word: BPF has no memcmp() */
static inline bool ub2e_is_to(const u8 *p, const u8 mac[6])
{
	return get_unaligned_be32(p) == get_unaligned_be32(mac) &&
	       get_unaligned_be16(p + 4) == get_unaligned_be16(mac + 4);
}

static inline bool ub2e_is_tag(u16 type)
{
	return type == UB2E_ETHERTYPE_TAG || type == UB2E_ETHERTYPE_TAG_OUTER;
}

/*
 * A frame of an Ethernet port. What is no UBoE packet to this station is the host's,
 * whatever its tags, also what is too short for one. Return: as above.
 */
static inline u32 ub2e_read_eth(const struct ub2e_port *port, const u8 *p, const u8 *end, u32 len,
				struct ub2e_in *in)
{
	const u8 *ip = p + UB2E_ETH_LEN;
	bool outer; /* the tag of a VLAN is not the only one */
	u16 type;

	if (ip + UB2E_LEAST > end || !ub2e_is_to(p, port->mac))
		return UB2E_OTHER;
	in->ub = false;
	in->l3 = UB2E_ETH_LEN;
	type = get_unaligned_be16(p + 12);
	in->tagged = ub2e_is_tag(type);
	outer = type == UB2E_ETHERTYPE_TAG_OUTER;
	if (in->tagged) {
		in->l3 = UB2E_ETH_LEN + UB2E_TAG_LEN;
		in->tci = get_unaligned_be16(p + 14);
		type = get_unaligned_be16(p + 16);
		ip += UB2E_TAG_LEN;
		if (ub2e_is_tag(type)) {
			outer = true;
			type = get_unaligned_be16(p + 20);
			ip += UB2E_TAG_LEN;
		}
	}
	if (type != UB2E_ETHERTYPE_IP4 && type != UB2E_ETHERTYPE_IP6)
		return UB2E_OTHER;
	in->v4 = type == UB2E_ETHERTYPE_IP4;
	if (ip + UB2E_LEAST > end || !ub2e_is_uboe(ip, in->v4))
		return UB2E_OTHER;
	return outer ? (u32)UB2E_DROP_TAG : ub2e_read_ip(ip, len - in->l3, in);
}

/**
 * ub2e_read - what a frame says
 * @p, @end: its beginning, at least all headers when they are there
 * @len: bytes of the frame, which may go on elsewhere
 */
static inline u32 ub2e_read(const struct ub2e_port *port, const u8 *p, const u8 *end, u32 len,
			    struct ub2e_in *in)
{
	return port->kind == UB2E_UB ? ub2e_read_ub(p, end, len, in) :
				       ub2e_read_eth(port, p, end, len, in);
}

/* ---- deciding ---- */

/* The partition of a frame, and *@npi; NULL and *@why when it may not come in */
static inline const struct ub2e_partition *ub2e_partition_of(void *sw, const struct ub2e_port *port,
							     const struct ub2e_in *in, u32 *npi,
							     u32 *why)
{
	const struct ub2e_partition *part;
	u32 vlan = in->tagged ? in->tci & UB_VLAN_ID : 0;

	*why = UB2E_DROP_PARTITION;
	if (in->ub || !vlan) {
		*npi = in->ub ? in->npi : port->untagged;
		if (!in->ub && !*npi)
			*why = UB2E_DROP_UNTAGGED;
		return *npi & UB_NPI_ID ? ub2e_find_id(sw, *npi & UB_NPI_ID) : NULL;
	}
	if (vlan > UB_VLAN_MAX) {
		*why = UB2E_DROP_TAG;
		return NULL;
	}
	part = ub2e_find_vlan(sw, vlan);
	if (part)
		*npi = ubp_map_to_npi(&part->vlan, (u16)vlan);
	return part;
}

/* Routing type: by flow or packet, shortest or all ways (draft, "Adaptation of RT") */
static inline u32 ub2e_choose(void *sw, const struct ub2e_route *r, u32 rt, u32 flow)
{
	u32 n = rt & UB_RT_SHORTEST ? r->shortest : r->paths;
	u32 by = rt & UB_RT_PER_PACKET ? ub2e_next_turn(sw) : flow;

	return n > 1 ? by % n : 0;
}

/* Marks that have no counterpart in IP */
static inline bool ub2e_other_cci(const struct ub2e_in *in)
{
	return in->ub && ubp_cci_mode(in->cci) != UB_CCI_MODE_FECN;
}

/* Congestion marks as they leave. @mark: of the virtual queue; @out->cci is set */
static inline void ub2e_congestion(const struct ub2e_settings *s, const struct ub2e_in *in,
				   struct ub2e_out *out, u32 mark)
{
	u8 fecn;

	if (ub2e_other_cci(in)) {
		/* CAQM's own work on CCI is done; other marks are not for it */
		out->mark = mark >= UB2E_CAQM_GRANTED ? (u8)mark : 0;
		out->ecn = out->ub ? in->ecn : (u8)UB_ECN_NOT_ECT;
		out->cci_lost = !out->ub;
		return;
	}
	if (!in->ub)
		out->cci = ubp_map_to_cci(&s->map, in->ecn);
	fecn = mark == UB2E_MARKED_SEVERE ? UB_FECN_SEVERE : UB_FECN_LIGHT;
	/* a packet between Ethernet ports is marked as there is only one way to */
	if (!in->ub && !out->ub) {
		out->ecn = mark && in->ecn != UB_ECN_NOT_ECT ? (u8)UB_ECN_CE : in->ecn;
		out->mark = out->ecn != in->ecn ? (u8)mark : 0;
		return;
	}
	if (mark && ubp_fecn_worse(fecn, out->cci & UB_CCI_FECN)) {
		out->cci = (u16)((out->cci & ~UB_CCI_FECN) | fecn);
		out->mark = (u8)mark;
	}
	/* inside the UB domain CCI counts, and the IP header stays as it came */
	out->ecn = out->ub ? in->ecn : ubp_map_to_ecn(&s->map, out->cci);
}

static inline u16 ub2e_vlan_out(const struct ub2e_port *port, const struct ub2e_partition *part,
				u32 npi)
{
	u16 vlan = ubp_map_to_vlan(&part->vlan, npi);

	return port->untagged && (port->untagged & UB_NPI_ID) == part->vlan.id &&
			       vlan == ubp_map_to_vlan(&part->vlan, port->untagged) ?
		       0 :
		       vlan;
}

static inline u8 ub2e_l3_out(const struct ub2e_out *out)
{
	if (out->ub)
		return UB2E_ETH_LEN + UB_NATIVE_LEN;
	return UB2E_ETH_LEN + (out->vlan ? UB2E_TAG_LEN : 0);
}

/**
 * ub2e_decide - what becomes of a frame that ub2e_read() has read
 * @from: number of the port by which it came
 *
 * Return: 0 and @out, or the reason to drop it.
 */
static inline u32 ub2e_decide(void *sw, const struct ub2e_settings *s, u32 from,
			      const struct ub2e_port *port, const struct ub2e_in *in,
			      struct ub2e_out *out)
{
	const struct ub2e_partition *part;
	const struct ub2e_route *route;
	const struct ub2e_port *to;
	u32 rt = in->ub ? in->rt : s->map.rt;
	u32 why, mark = 0;
	bool inside;
	u16 cci;

	part = ub2e_partition_of(sw, port, in, &out->npi, &why);
	if (!part)
		return why;
	if (!(part->ports >> (from & 63) & 1))
		return UB2E_DROP_MEMBER;
	route = ub2e_find_route(sw, in->daddr);
	if (!route)
		return UB2E_DROP_NO_ROUTE;
	out->path = route->path[ub2e_choose(sw, route, rt, in->flow) % UB2E_MAX_PATHS];
	out->port = out->path.port;
	to = ub2e_find_port(sw, out->port);
	if (!to)
		return UB2E_DROP_NO_ROUTE;
	if (!(part->ports >> (out->port & 63) & 1))
		return UB2E_DROP_MEMBER;
	if (out->port == from && in->ub)
		return UB2E_DROP_BACK;
	if (in->ttl <= 1)
		return UB2E_DROP_TTL;
	out->ub = to->kind == UB2E_UB;
	if (in->len + (out->ub ? UB_NATIVE_LEN : 0) > to->mtu)
		return UB2E_DROP_MTU;
	/* before the queue, in which nothing counts that does not leave */
	if (!out->ub && ub2e_other_cci(in) && !s->other_cci_passes)
		return UB2E_DROP_CCI_MODE;
	out->vlan = out->ub ? 0 : ub2e_vlan_out(to, part, out->npi);
	out->l3 = ub2e_l3_out(out);
	/* at a border CAQM ends, and its packets are not for its credit */
	inside = in->ub && out->ub;
	cci = inside ? in->cci : 0;
	if (to->queue.rate)
		mark = ub2e_mark_of(sw, out->port, to, in->len + out->l3, &cci);
	out->cci = inside ? cci : in->cci;
	if (mark >= UB2E_DROP_FIRST)
		return mark;
	ub2e_congestion(s, in, out, mark);
	return 0;
}

/* ---- writing ---- */

static inline void ub2e_write_native(u8 *p, const struct ub2e_settings *s, const struct ub2e_in *in,
				     const struct ub2e_out *out)
{
	struct ubp_native n;

	n.len = UB_NATIVE_LEN + in->len;
	n.npi = out->npi;
	n.cci = out->cci;
	n.cfg = in->v4 ? UB_CFG_IPV4 : UB_CFG_IPV6;
	n.vl = in->ub ? in->vl : 0;
	n.rt = in->ub ? in->rt : s->map.rt;
	ubp_native_build(p, &n);
}

/**
 * ub2e_write - the headers before an IP packet that leaves, and what changes in its own
 * @p: where the frame begins now, @out->l3 bytes before the IP header
 *
 * The UDP checksum becomes zero, as the draft wants ("SHOULD be transmitted as zero"): what
 * came from a device that computes it may not have been computed yet. The ICRC masks it.
 *
 * Return: false when the frame is shorter than it was, which cannot be.
 */
static inline bool ub2e_write(u8 *p, const u8 *end, const struct ub2e_settings *s,
			      const struct ub2e_port *to, const struct ub2e_in *in,
			      const struct ub2e_out *out)
{
	u16 type = in->v4 ? UB2E_ETHERTYPE_IP4 : UB2E_ETHERTYPE_IP6;
	u8 *ip = p + out->l3;

	if (p + UB2E_ETH_LEN + UB_NATIVE_LEN > end || ip + UB2E_LEAST > end)
		return false;
	__builtin_memcpy(p + 6, to->mac, sizeof(to->mac));
	if (out->ub) {
		__builtin_memset(p, 0xff, 6);
		put_unaligned_be16(UB_LAB_ETHERTYPE, p + 12);
		ub2e_write_native(p + UB2E_ETH_LEN, s, in, out);
	} else {
		__builtin_memcpy(p, out->path.mac, sizeof(out->path.mac));
		put_unaligned_be16(out->vlan ? UB2E_ETHERTYPE_TAG : type, p + 12);
		if (out->vlan) {
			/* the priority bits stay those of a tag that there was */
			put_unaligned_be16((u16)((in->tagged ? in->tci & 0xf000 : 0) | out->vlan),
					   p + 14);
			put_unaligned_be16(type, p + 16);
		}
	}
	if (out->ecn != in->ecn)
		ubp_ip_set_ecn(ip, in->v4, out->ecn);
	ubp_ip_hop(ip, in->v4);
	put_unaligned_be16(0, ip + ubp_ip_hlen(in->v4) + 6);
	return true;
}

#endif /* UB2E_FORWARD_H */
