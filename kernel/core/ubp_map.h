/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Mapping between native UB and Ethernet/IP (draft, "UB and UBoE Conversion and
 * Adaptation"): routing type, congestion marks, partitions. Pure functions for every home
 * and for BPF; what can be chosen is turned into tables once, by ubp_map_make().
 */
#ifndef UBP_MAP_H
#define UBP_MAP_H

#include "ubp_os.h"
#include "ub_wire.h"

/**
 * struct ubp_map_knobs - what the draft lets the administrator choose
 * @rt: routing type of packets that enter the UB domain, 0 to 3; UB_RT_DEFAULT is
 *	recommended
 * @light_as_ect: light congestion leaves as ECN-capable; by default as CE, as severe does
 * @markable_as_ect1: markable packets leave with ECT(1); by default with ECT(0)
 * @ce_as_light: CE enters as light congestion; by default as severe
 * @one_to_one: the Ethernet domain means light congestion by ECT(1): codepoints pass as they
 *	are. The three above have to be false then
 * @loc: location of congestion of packets that enter the UB domain; by default false, an
 *	intermediate switch
 */
struct ubp_map_knobs {
	u8 rt;
	bool light_as_ect;
	bool markable_as_ect1;
	bool ce_as_light;
	bool one_to_one;
	bool loc;
};

/* The same as tables: @ecn by FECN, @fecn by ECN; @cci of a packet that enters, without FECN */
struct ubp_map {
	u8 ecn[4];
	u8 fecn[4];
	u16 cci;
	u8 rt;
};

static inline u32 ubp_cci_mode(u16 cci)
{
	return UBP_GET(UB_CCI_MODE, (u32)cci);
}

/* CCI of mode FECN */
static inline u16 ubp_cci_fecn(u8 fecn)
{
	return (u16)(UBP_PUT(UB_CCI_MODE, (u32)UB_CCI_MODE_FECN) | fecn);
}

static inline struct ubp_map_knobs ubp_map_defaults(void)
{
	struct ubp_map_knobs k = { UB_RT_DEFAULT, false, false, false, false, false };

	return k;
}

/* False when @k contradicts itself; then @m is left alone */
static inline bool ubp_map_make(const struct ubp_map_knobs *k, struct ubp_map *m)
{
	u8 ect = k->markable_as_ect1 || k->one_to_one ? UB_ECN_ECT1 : UB_ECN_ECT0;

	if (k->rt > 3)
		return false;
	if (k->one_to_one && (k->light_as_ect || k->markable_as_ect1 || k->ce_as_light))
		return false;
	m->ecn[UB_FECN_UNMARKABLE] = UB_ECN_NOT_ECT;
	m->ecn[UB_FECN_LIGHT] = k->light_as_ect || k->one_to_one ? ect : (u8)UB_ECN_CE;
	m->ecn[UB_FECN_MARKABLE] = k->one_to_one ? (u8)UB_ECN_ECT0 : ect;
	m->ecn[UB_FECN_SEVERE] = UB_ECN_CE;
	m->fecn[UB_ECN_NOT_ECT] = UB_FECN_UNMARKABLE;
	m->fecn[UB_ECN_ECT1] = k->one_to_one ? UB_FECN_LIGHT : UB_FECN_MARKABLE;
	m->fecn[UB_ECN_ECT0] = UB_FECN_MARKABLE;
	m->fecn[UB_ECN_CE] = k->ce_as_light ? UB_FECN_LIGHT : UB_FECN_SEVERE;
	m->cci = (u16)(ubp_cci_fecn(0) | (k->loc ? UB_CCI_LOC : 0));
	m->rt = k->rt;
	return true;
}

/* UB to Ethernet: LoC has no place in an IP header and is lost. @cci is of mode FECN */
static inline u8 ubp_map_to_ecn(const struct ubp_map *m, u16 cci)
{
	return m->ecn[cci & UB_CCI_FECN];
}

/* Ethernet to UB */
static inline u16 ubp_map_to_cci(const struct ubp_map *m, u8 ecn)
{
	return (u16)(m->cci | m->fecn[ecn & 3]);
}

/* Is mark @a worse news than @b? A mark is only ever made worse (Base Spec 5.3.5) */
static inline bool ubp_fecn_worse(u8 a, u8 b)
{
	/* by severity: unmarkable stands outside */
	return b == UB_FECN_MARKABLE ? a == UB_FECN_LIGHT || a == UB_FECN_SEVERE :
				       b == UB_FECN_LIGHT && a == UB_FECN_SEVERE;
}

/* ---- partitions and VLANs ---- */

/**
 * struct ubp_map_vlan - a partition and its VLAN
 * @id: partition, 1 to 0xffffff
 * @vlan: 1 to 4094, of members with high privilege; without @vlan_low of all
 * @vlan_low: of members with low privilege, 1 to 4094; 0: the privilege bit is lost
 */
struct ubp_map_vlan {
	u32 id;
	u16 vlan;
	u16 vlan_low;
};

enum ubp_map_error {
	UBP_MAP_OK,
	UBP_MAP_ID, /* partition 0, or more than 24 bits */
	UBP_MAP_VLAN, /* 0 or 4095, as low bits of the partition or as given */
	UBP_MAP_SAME_ID, /* another entry has the partition */
	UBP_MAP_SAME_VLAN, /* another entry has the VLAN: they would become one */
};

/* The draft's baseline: the low 12 bits, the privilege bit removed; 0 when there is none */
static inline u16 ubp_map_low12(u32 id)
{
	u16 vlan = (u16)(id & UB_VLAN_ID);

	return vlan > UB_VLAN_MAX ? 0 : vlan;
}

static inline bool ubp_map_vlan_ok(u32 vlan)
{
	return vlan && vlan <= UB_VLAN_MAX;
}

static inline enum ubp_map_error ubp_map_entry_check(const struct ubp_map_vlan *e)
{
	if (!e->id || e->id > UB_NPI_ID)
		return UBP_MAP_ID;
	if (!ubp_map_vlan_ok(e->vlan) || (e->vlan_low && !ubp_map_vlan_ok(e->vlan_low)))
		return UBP_MAP_VLAN;
	return e->vlan == e->vlan_low ? UBP_MAP_SAME_VLAN : UBP_MAP_OK;
}

/* Can @a and @b be in one table? */
static inline enum ubp_map_error ubp_map_pair_check(const struct ubp_map_vlan *a,
						    const struct ubp_map_vlan *b)
{
	if (a->id == b->id)
		return UBP_MAP_SAME_ID;
	if (a->vlan == b->vlan || a->vlan == b->vlan_low)
		return UBP_MAP_SAME_VLAN;
	return a->vlan_low && (a->vlan_low == b->vlan || a->vlan_low == b->vlan_low) ?
		       UBP_MAP_SAME_VLAN :
		       UBP_MAP_OK;
}

/* UB to Ethernet: @e is the entry of the packet's partition */
static inline u16 ubp_map_to_vlan(const struct ubp_map_vlan *e, u32 npi)
{
	return npi & UB_NPI_LOW && e->vlan_low ? e->vlan_low : e->vlan;
}

/* Ethernet to UB: @e is the entry that has VLAN @vlan */
static inline u32 ubp_map_to_npi(const struct ubp_map_vlan *e, u16 vlan)
{
	return e->id | (vlan == e->vlan_low ? UB_NPI_LOW : 0);
}

#endif /* UBP_MAP_H */
