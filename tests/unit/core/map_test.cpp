// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Mapping between native UB and Ethernet/IP, over all that there is to map; native packets. */
#include <array>
#include <random>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "ubp_map.h"
#include "ubp_native.h"
}

namespace
{
ubp_map made(const ubp_map_knobs &k)
{
	ubp_map m{};

	EXPECT_TRUE(ubp_map_make(&k, &m));
	return m;
}

ubp_map defaults()
{
	return made(ubp_map_defaults());
}

constexpr u16 fecn_cci(u16 fecn, bool loc = false)
{
	return static_cast<u16>(UB_CCI_MODE_FECN << 13 | (loc ? UB_CCI_LOC : 0) | fecn);
}

using Codes = std::array<u8, 4>;

Codes to_ecn(const ubp_map &m)
{
	Codes c{};

	for (u16 f = 0; f < 4; f++)
		c[f] = ubp_map_to_ecn(&m, fecn_cci(f));
	return c;
}

Codes to_fecn(const ubp_map &m)
{
	Codes c{};

	for (u8 e = 0; e < 4; e++)
		c[e] = ubp_map_to_cci(&m, e) & UB_CCI_FECN;
	return c;
}

/* Rows of the draft's tables, by codepoint 00, 01, 10, 11 */

TEST(MapRt, DefaultIsPerFlowOnTheShortestPaths)
{
	EXPECT_EQ(defaults().rt, 2);
	EXPECT_EQ(UB_RT_PER_PACKET, 1u);
	EXPECT_EQ(UB_RT_SHORTEST, 2u);
}

TEST(MapRt, EveryValueCanBeChosen)
{
	ubp_map_knobs k = ubp_map_defaults();
	ubp_map m{};

	for (k.rt = 0; k.rt < 4; k.rt++)
		EXPECT_EQ(made(k).rt, k.rt);
	EXPECT_FALSE(ubp_map_make(&k, &m)); /* 4 */
}

TEST(MapEcn, Defaults)
{
	/* unmarkable, light as CE, markable as ECT(0), severe as CE */
	EXPECT_EQ(to_ecn(defaults()), (Codes{ 0, 3, 2, 3 }));
	/* Not-ECT, both ECT as markable, CE as severe */
	EXPECT_EQ(to_fecn(defaults()), (Codes{ 0, 2, 2, 3 }));
}

TEST(MapEcn, OnlySevereAsCe)
{
	ubp_map_knobs k = ubp_map_defaults();

	k.light_as_ect = true;
	EXPECT_EQ(to_ecn(made(k)), (Codes{ 0, 2, 2, 3 }));
	k.markable_as_ect1 = true;
	EXPECT_EQ(to_ecn(made(k)), (Codes{ 0, 1, 1, 3 }));
}

TEST(MapEcn, MarkableAsEct1)
{
	ubp_map_knobs k = ubp_map_defaults();

	k.markable_as_ect1 = true;
	EXPECT_EQ(to_ecn(made(k)), (Codes{ 0, 3, 1, 3 }));
	EXPECT_EQ(to_fecn(made(k)), (Codes{ 0, 2, 2, 3 }));
}

TEST(MapEcn, CeAsLight)
{
	ubp_map_knobs k = ubp_map_defaults();

	k.ce_as_light = true;
	EXPECT_EQ(to_fecn(made(k)), (Codes{ 0, 2, 2, 1 }));
	EXPECT_EQ(to_ecn(made(k)), (Codes{ 0, 3, 2, 3 }));
}

TEST(MapEcn, OneToOne)
{
	ubp_map_knobs k = ubp_map_defaults();

	k.one_to_one = true;
	EXPECT_EQ(to_ecn(made(k)), (Codes{ 0, 1, 2, 3 }));
	EXPECT_EQ(to_fecn(made(k)), (Codes{ 0, 1, 2, 3 }));
}

TEST(MapEcn, OneToOneGoesWithNothingElse)
{
	for (unsigned bits = 1; bits < 8; bits++) {
		const ubp_map_knobs k = {
			2, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, true, false
		};
		ubp_map m{};

		EXPECT_FALSE(ubp_map_make(&k, &m)) << bits;
	}
}

/* Whatever is chosen: nothing becomes markable or unmarkable on the way, and no mark is lost */
TEST(MapEcn, EveryChoiceKeepsWhatItMust)
{
	for (unsigned bits = 0; bits < 32; bits++) {
		const ubp_map_knobs k = {
			static_cast<u8>(bits & 3), (bits & 4) != 0, (bits & 8) != 0,
			(bits & 16) != 0,	   false,	    false
		};
		const ubp_map m = made(k);

		for (unsigned cci = UB_CCI_MODE_FECN << 13; cci < 0xa000; cci++) {
			const u8 ecn = ubp_map_to_ecn(&m, static_cast<u16>(cci));
			const unsigned fecn = cci & 3;

			EXPECT_EQ(ecn == UB_ECN_NOT_ECT, fecn == UB_FECN_UNMARKABLE);
			if (fecn == UB_FECN_SEVERE) {
				EXPECT_EQ(ecn, UB_ECN_CE);
			}
			if (fecn == UB_FECN_MARKABLE) {
				EXPECT_NE(ecn, UB_ECN_CE);
			}
			EXPECT_EQ(ubp_map_to_cci(&m, ecn) & UB_CCI_FECN ? 1 : 0, fecn ? 1 : 0);
		}
	}
}

TEST(MapCci, EntersInFecnModeWithALocationOfZero)
{
	ubp_map_knobs k = ubp_map_defaults();
	ubp_map m = defaults();

	EXPECT_EQ(ubp_map_to_cci(&m, 3), 0x8003);
	k.loc = true;
	m = made(k);
	EXPECT_EQ(ubp_map_to_cci(&m, 2), 0x9002);
	EXPECT_EQ(ubp_cci_mode(0x9002), u32{ UB_CCI_MODE_FECN });
	EXPECT_EQ(ubp_cci_mode(0x4abc), u32{ UB_CCI_MODE_FECN_RTT });
	EXPECT_EQ(ubp_cci_mode(0x1fff), u32{ UB_CCI_MODE_CAQM });
}

TEST(MapCci, LocationIsLost)
{
	const ubp_map m = defaults();

	for (u16 f = 0; f < 4; f++)
		EXPECT_EQ(ubp_map_to_ecn(&m, fecn_cci(f, true)), ubp_map_to_ecn(&m, fecn_cci(f)));
}

TEST(MapCci, AMarkOnlyGetsWorse)
{
	const bool worse[4][4] = {
		/* 00 */ { false, false, false, false },
		/* 01 */ { false, false, true, false },
		/* 10 */ { false, false, false, false },
		/* 11 */ { false, true, true, false },
	};

	for (u8 a = 0; a < 4; a++)
		for (u8 b = 0; b < 4; b++)
			EXPECT_EQ(ubp_fecn_worse(a, b), worse[a][b]) << int{ a } << int{ b };
}

TEST(MapVlan, BaselineTakesTheLowTwelveBits)
{
	u32 id;

	for (id = 1; id <= UB_NPI_ID; id++) {
		const u16 vlan = ubp_map_low12(id);

		if (vlan != ((id & 0xfff) == 0xfff ? 0 : id & 0xfff)) /* quiet: 16 million */
			break;
	}
	EXPECT_EQ(id, UB_NPI_ID + 1);
	EXPECT_EQ(ubp_map_low12(0x123456), 0x456);
	EXPECT_EQ(ubp_map_low12(0x001000), 0); /* a priority tag is no VLAN */
	EXPECT_EQ(ubp_map_low12(0x001fff), 0); /* reserved */
}

TEST(MapVlan, BackWithUpperBitsZeroAndHighPrivilege)
{
	for (u16 vlan = 1; vlan <= UB_VLAN_MAX; vlan++) {
		const ubp_map_vlan e = { vlan, vlan, 0 };

		ASSERT_EQ(ubp_map_entry_check(&e), UBP_MAP_OK);
		ASSERT_EQ(ubp_map_to_npi(&e, vlan), vlan);
		/* the privilege bit does not cross */
		ASSERT_EQ(ubp_map_to_vlan(&e, vlan), vlan);
		ASSERT_EQ(ubp_map_to_vlan(&e, vlan | UB_NPI_LOW), vlan);
	}
}

TEST(MapVlan, TwoVlansRestoreThePrivilege)
{
	for (u32 id : { 1u, 4095u, 0x1000u, 0xffffffu }) {
		const ubp_map_vlan e = { id, 100, 101 };

		EXPECT_EQ(ubp_map_entry_check(&e), UBP_MAP_OK);
		for (u32 npi : { id, id | UB_NPI_LOW })
			EXPECT_EQ(ubp_map_to_npi(&e, ubp_map_to_vlan(&e, npi)), npi);
		EXPECT_EQ(ubp_map_to_vlan(&e, id), 100);
		EXPECT_EQ(ubp_map_to_vlan(&e, id | UB_NPI_LOW), 101);
	}
}

TEST(MapVlan, EntriesThatCannotBe)
{
	const std::pair<ubp_map_vlan, ubp_map_error> cases[] = {
		{ { 0, 1, 0 }, UBP_MAP_ID },	    { { 0x1000000, 1, 0 }, UBP_MAP_ID },
		{ { 1, 0, 0 }, UBP_MAP_VLAN },	    { { 1, 4095, 0 }, UBP_MAP_VLAN },
		{ { 1, 4096, 0 }, UBP_MAP_VLAN },   { { 1, 1, 4095 }, UBP_MAP_VLAN },
		{ { 1, 7, 7 }, UBP_MAP_SAME_VLAN }, { { 0xffffff, 4094, 1 }, UBP_MAP_OK },
	};

	for (const auto &[e, error] : cases)
		EXPECT_EQ(ubp_map_entry_check(&e), error) << e.id << ' ' << e.vlan;
}

TEST(MapVlan, PairsThatCollide)
{
	const ubp_map_vlan a = { 0x1005, 5, 6 };
	const std::pair<ubp_map_vlan, ubp_map_error> cases[] = {
		{ { 0x1005, 7, 0 }, UBP_MAP_SAME_ID },	 { { 0x2005, 5, 0 }, UBP_MAP_SAME_VLAN },
		{ { 0x2005, 6, 0 }, UBP_MAP_SAME_VLAN }, { { 0x2005, 8, 5 }, UBP_MAP_SAME_VLAN },
		{ { 0x2005, 8, 6 }, UBP_MAP_SAME_VLAN }, { { 0x2005, 8, 9 }, UBP_MAP_OK },
		{ { 0x2005, 8, 0 }, UBP_MAP_OK },
	};

	for (const auto &[b, error] : cases) {
		EXPECT_EQ(ubp_map_pair_check(&a, &b), error) << b.id << ' ' << b.vlan;
		EXPECT_EQ(ubp_map_pair_check(&b, &a), error) << b.id << ' ' << b.vlan;
	}
}

TEST(NativePacket, EveryLength)
{
	for (u32 len = 1; len <= UBP_NATIVE_MAX; len++) {
		const u32 field = ubp_native_plength(len);

		ASSERT_LT(field, 1u << 14);
		ASSERT_EQ(ubp_native_length(field), len);
	}
	/* one flit; a block and a flit; all blocks */
	EXPECT_EQ(ubp_native_plength(20), 19u);
	EXPECT_EQ(ubp_native_plength(641), 1u << 10);
	EXPECT_EQ(ubp_native_plength(10240), 15u << 10 | 31u << 5 | 19u);
}

TEST(NativePacket, EveryLengthField)
{
	for (u32 field = 0; field < 1u << 14; field++) {
		const u32 len = ubp_native_length(field);

		ASSERT_LE(len, UBP_NATIVE_MAX);
		if ((field & UB_LPH_TAIL) >= UB_FLIT_LEN)
			ASSERT_EQ(len, 0u);
		else
			ASSERT_EQ(ubp_native_plength(len), field);
	}
}

/* A native packet around an IP header and a UDP header, @body bytes behind them */
std::vector<u8> packet(bool v4, u32 body = 20)
{
	const u32 ip = ubp_ip_hlen(v4), total = ip + UB_UDP_LEN + body;
	std::vector<u8> p(UB_NATIVE_LEN + total);
	const ubp_native n = { static_cast<u32>(p.size()),
			       UB_NPI_LOW | 0x123456,
			       fecn_cci(UB_FECN_MARKABLE),
			       static_cast<u8>(v4 ? UB_CFG_IPV4 : UB_CFG_IPV6),
			       9,
			       3 };
	u8 *q = ubp_native_build(p.data(), &n);

	q[0] = v4 ? 0x45 : 0x60;
	if (v4) {
		put_unaligned_be16(static_cast<u16>(total), q + 2);
		q[6] = 0x40;
		q[8] = 64;
		q[9] = 17;
	} else {
		put_unaligned_be16(static_cast<u16>(total - ip), q + 4);
		q[6] = 17;
		q[7] = 64;
	}
	return p;
}

ubp_native_error check(const std::vector<u8> &p)
{
	ubp_native n{};

	return ubp_native_check(p.data(), static_cast<u32>(p.size()), &n);
}

TEST(NativePacket, LayoutOfTheHeaders)
{
	const std::vector<u8> p = packet(true); /* 58 bytes: 3 flits, 18 in the last */

	/* VL 9 is split over two bytes; CFG 3; RT 3, blocks 0, flits 2, tail 17 */
	EXPECT_EQ((std::vector<u8>{ p.begin(), p.begin() + 10 }),
		  (std::vector<u8>{ 0x01, 0x23, 0xc0, 0x51, 0x80, 0x02, 0x01, 0x12, 0x34, 0x56 }));
}

TEST(NativePacket, WhatWasBuiltIsRead)
{
	for (bool v4 : { true, false }) {
		std::vector<u8> p = packet(v4);
		const u32 len = static_cast<u32>(p.size());
		ubp_native n{};

		p.resize(len + 30); /* padding of the link */
		EXPECT_EQ(ubp_native_check(p.data(), len + 30, &n), UBP_NATIVE_OK);
		EXPECT_EQ(n.len, len);
		EXPECT_EQ(n.npi, UB_NPI_LOW | 0x123456u);
		EXPECT_EQ(n.cci, 0x8002);
		EXPECT_EQ(n.cfg, v4 ? 3 : 4);
		EXPECT_EQ(n.vl, 9);
		EXPECT_EQ(n.rt, 3);
	}
}

TEST(NativePacket, Cut)
{
	for (bool v4 : { true, false }) {
		const std::vector<u8> p = packet(v4);
		const u32 headers = UB_NATIVE_LEN + ubp_ip_hlen(v4) + UB_UDP_LEN;

		for (u32 len = 0; len < p.size(); len++) {
			/* of that size on the heap, for the sanitizer */
			const std::vector<u8> cut(p.begin(), p.begin() + len);

			EXPECT_EQ(check(cut), len < headers ? UBP_NATIVE_SHORT : UBP_NATIVE_LENGTH)
				<< len;
		}
	}
}

TEST(NativePacket, OnlyLinkConfigurationsThreeAndFour)
{
	for (u8 cfg = 0; cfg < 16; cfg++) {
		std::vector<u8> p = packet(true);

		p[1] = static_cast<u8>((p[1] & 0xf0) | cfg);
		EXPECT_EQ(check(p), cfg == 3 ? UBP_NATIVE_OK :
				    cfg == 4 ? UBP_NATIVE_IP :
					       UBP_NATIVE_CFG)
			<< int{ cfg };
	}
}

TEST(NativePacket, LengthsThatDisagree)
{
	for (bool v4 : { true, false }) {
		for (int by : { -1, 1 }) {
			std::vector<u8> p = packet(v4);
			u8 *field = p.data() + UB_NATIVE_LEN + (v4 ? 3 : 5);

			*field = static_cast<u8>(*field + by);
			EXPECT_EQ(check(p), UBP_NATIVE_LENGTH);
			p = packet(v4);
			p[3] = static_cast<u8>(p[3] + by);
			EXPECT_EQ(check(p), UBP_NATIVE_LENGTH);
		}
		std::vector<u8> p = packet(v4);

		p[3] |= 0x1f; /* no flit has so many bytes */
		EXPECT_EQ(check(p), UBP_NATIVE_LENGTH);
	}
}

TEST(NativePacket, IpHeadersThatAreNot)
{
	struct Change {
		bool v4;
		unsigned at;
		u8 value;
	};

	for (const Change &c : std::initializer_list<Change>{ { true, 0, 0x46 },
							      { true, 0, 0x65 },
							      { true, 6, 0x20 },
							      { true, 7, 0x01 },
							      { true, 9, 6 },
							      { false, 0, 0x45 },
							      { false, 6, 44 } }) {
		std::vector<u8> p = packet(c.v4);

		p[UB_NATIVE_LEN + c.at] = c.value;
		EXPECT_EQ(check(p), UBP_NATIVE_IP) << c.at;
	}
}

u16 ip4_sum(const u8 *ip)
{
	u32 sum = 0;

	for (unsigned i = 0; i < 20; i += 2)
		sum += get_unaligned_be16(ip + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return static_cast<u16>(sum);
}

TEST(SwitchIp, ChecksumStaysRight)
{
	std::mt19937 random(1);
	std::vector<u8> p = packet(true);
	u8 *ip = p.data() + UB_NATIVE_LEN;

	for (unsigned n = 0; n < 20000; n++) {
		ip[1] = static_cast<u8>(random());
		ip[8] = static_cast<u8>(random());
		put_unaligned_be32(random(), ip + 12);
		put_unaligned_be32(random(), ip + 16);
		put_unaligned_be16(0, ip + 10);
		put_unaligned_be16(static_cast<u16>(~ip4_sum(ip)), ip + 10);
		const u8 dscp = ip[1] & 0xfc, ttl = ip[8], ecn = n & 3;

		ubp_ip_set_ecn(ip, true, ecn);
		ASSERT_EQ(ip[1], dscp | ecn);
		ASSERT_EQ(ubp_ip_ecn(ip, true), ecn);
		ASSERT_EQ(ip4_sum(ip), 0xffff);
		ASSERT_EQ(ubp_ip_hop(ip, true), ttl > 1);
		ASSERT_EQ(ip[8], ttl > 1 ? ttl - 1 : ttl);
		ASSERT_EQ(ip4_sum(ip), 0xffff);
	}
}

TEST(SwitchIp, SixHasNoChecksum)
{
	std::vector<u8> p = packet(false);
	u8 *ip = p.data() + UB_NATIVE_LEN;

	for (unsigned tc = 0; tc < 256; tc++)
		for (u8 ecn = 0; ecn < 4; ecn++) {
			ip[0] = static_cast<u8>(0x60 | tc >> 4);
			ip[1] = static_cast<u8>(tc << 4 | 0x0d);
			ubp_ip_set_ecn(ip, false, ecn);
			ASSERT_EQ(ip[0], 0x60 | tc >> 4);
			ASSERT_EQ(ip[1], ((tc & 0xc) << 4 | ecn << 4 | 0x0d));
			ASSERT_EQ(ubp_ip_ecn(ip, false), ecn);
		}
	ip[7] = 2;
	EXPECT_TRUE(ubp_ip_hop(ip, false));
	EXPECT_EQ(ip[7], 1);
	EXPECT_FALSE(ubp_ip_hop(ip, false));
	EXPECT_EQ(ip[7], 1);
}
} // namespace
