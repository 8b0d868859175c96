// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What the switch does with one frame: draft, "UB and UBoE Conversion and Adaptation".
#include <map>
#include <set>

#include "switch_rig.hpp"

extern "C" {
#include "queue.h"
}

using namespace frames;

namespace
{

// A UB domain at port 0, Ethernet at ports 1 and 2; 10.1/16 and fd01::/16 are UB
const std::string two_sides = R"(
[[port]]
interface = "ub0"
type = "ub"
[[port]]
interface = "eth0"
type = "eth"
untagged = 1
[[port]]
interface = "eth1"
type = "eth"
[[partition]]
id = 1
[[partition]]
id = 0x1005
[[partition]]
id = 0x2006
vlan = 300
vlan_low = 301
ports = ["ub0", "eth0"]
[[route]]
prefix = "10.1.0.0/16"
port = "ub0"
[[route]]
prefix = "fd01::/16"
port = "ub0"
[[route]]
prefix = "10.2.0.0/16"
port = "eth0"
mac = "02:00:00:00:00:aa"
[[route]]
prefix = "fd02::/16"
port = "eth0"
mac = "02:00:00:00:00:aa"
[[route]]
prefix = "10.3.0.0/16"
port = "eth1"
mac = "02:00:00:00:00:bb"
)";

const Packet ub_to_eth4{ "10.1.0.1", "10.2.0.1" }, ub_to_eth6{ "fd01::1", "fd02::1" };
const Packet eth_to_ub4{ "10.2.0.1", "10.1.0.1" }, eth_to_ub6{ "fd02::1", "fd01::1" };

u16 fecn(u8 code, bool loc = false)
{
	return static_cast<u16>(UB_CCI_MODE_FECN << 13 | (loc ? UB_CCI_LOC : 0) | code);
}

} // namespace

TEST(SwitchUbToEth, HeadersAreReplacedAndThePacketStays)
{
	Rig r(two_sides);

	for (const Packet &p : { ub_to_eth4, ub_to_eth6 }) {
		ASSERT_EQ(r.forward(0, on_ub(ip(p))), 1u);
		bytes want = on_eth(hop(p, UB_ECN_ECT0), { 0x02, 0, 0, 0, 0, 0xaa });
		std::copy_n(port_mac(1).begin(), 6, want.begin() + 6);
		EXPECT_EQ(r.out, want);
	}
	EXPECT_EQ(r.counters.get(0, UB2E_FORWARDED), 2u);
}

TEST(SwitchUbToEth, PaddingOfTheLinkGoes)
{
	Rig r(two_sides);
	bytes frame = on_ub(ip(ub_to_eth4));

	frame.resize(frame.size() + 17, 0xee);
	ASSERT_EQ(r.forward(0, frame), 1u);
	EXPECT_EQ(ip_of(r.out, 14), hop(ub_to_eth4, UB_ECN_ECT0));
}

TEST(SwitchUbToEth, TheUdpChecksumBecomesZero)
{
	Rig r(two_sides);
	bytes packet = ip(ub_to_eth6);

	put_unaligned_be16(0xbeef, &packet[UB_IPV6_LEN + 6]);
	ASSERT_EQ(r.forward(0, on_ub(packet)), 1u);
	EXPECT_EQ(ip_of(r.out, 14), hop(ub_to_eth6, UB_ECN_ECT0));
}

TEST(SwitchUbToEth, FecnBecomesEcn)
{
	const std::map<u8, u8> by_default{ { 0, 0 }, { 1, 3 }, { 2, 2 }, { 3, 3 } };
	const std::map<u8, u8> severe_only{ { 0, 0 }, { 1, 2 }, { 2, 2 }, { 3, 3 } };
	const std::map<u8, u8> ect1{ { 0, 0 }, { 1, 3 }, { 2, 1 }, { 3, 3 } };
	const std::map<u8, u8> one{ { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 3 } };
	const std::pair<const char *, const std::map<u8, u8> &> cases[] = {
		{ "", by_default },
		{ "light = \"ect\"", severe_only },
		{ "markable = \"ect1\"", ect1 },
		{ "one_to_one = true", one },
	};

	for (const auto &[map, table] : cases) {
		Rig r("[map]\n" + std::string(map) + two_sides);

		for (const auto &[f, ecn] : table)
			for (const Packet &p : { ub_to_eth4, ub_to_eth6 }) {
				Native n;
				n.cci = fecn(f, true); // the location is lost
				ASSERT_EQ(r.forward(0, on_ub(ip(p), n)), 1u) << map;
				EXPECT_EQ(ip_of(r.out, 14), hop(p, ecn)) << map << int{ f };
			}
	}
}

TEST(SwitchUbToEth, PartitionsBecomeVlans)
{
	Rig r(two_sides);
	// NPI, VLAN at eth0, which has partition 1 untagged
	const std::pair<u32, int> cases[] = {
		{ 1, -1 },	 { 1 | UB_NPI_LOW, -1 }, // the bit is lost
		{ 0x1005, 5 },	 { 0x1005 | UB_NPI_LOW, 5 },
		{ 0x2006, 300 }, { 0x2006 | UB_NPI_LOW, 301 },
	};

	for (const auto &[npi, vlan] : cases) {
		Native n;
		n.npi = npi;
		ASSERT_EQ(r.forward(0, on_ub(ip(ub_to_eth4), n)), 1u);
		bytes want = on_eth(hop(ub_to_eth4, UB_ECN_ECT0), { 0x02, 0, 0, 0, 0, 0xaa }, vlan);
		std::copy_n(port_mac(1).begin(), 6, want.begin() + 6);
		EXPECT_EQ(r.out, want) << npi;
	}
}

TEST(SwitchUbToEth, OtherModesOfCci)
{
	for (u16 cci : { u16{ 0x0700 }, u16{ 0x4003 }, u16{ 0xe002 } }) {
		Rig strict(two_sides), lax("[map]\nother_cci = \"unmarkable\"" + two_sides);
		Native n;

		n.cci = cci;
		EXPECT_EQ(strict.refused(0, on_ub(ip(ub_to_eth4), n)), "drop_cci_mode");
		ASSERT_EQ(lax.forward(0, on_ub(ip(ub_to_eth4), n)), 1u);
		EXPECT_EQ(ip_of(lax.out, 14), hop(ub_to_eth4, UB_ECN_NOT_ECT));
		EXPECT_EQ(lax.counters.get(0, UB2E_CCI_LOST), 1u);
	}
}

TEST(SwitchEthToUb, HeadersAreBuiltFromTheDefaults)
{
	Rig r(two_sides);

	for (const Packet &p : { eth_to_ub4, eth_to_ub6 }) {
		ASSERT_EQ(r.forward(1, on_eth(ip(p), port_mac(1))), 0u);
		bytes want = on_ub(hop(p, UB_ECN_ECT0)); // RT 2, markable, partition 1, location 0
		std::copy_n(port_mac(0).begin(), 6, want.begin() + 6);
		EXPECT_EQ(r.out, want);
	}
}

TEST(SwitchEthToUb, EveryRoutingTypeCanBeSet)
{
	for (u8 rt = 0; rt < 4; ++rt) {
		Rig r("[map]\nrt = " + std::to_string(rt) + two_sides);
		Native n;

		n.rt = rt;
		ASSERT_EQ(r.forward(1, on_eth(ip(eth_to_ub4), port_mac(1))), 0u);
		EXPECT_EQ(ip_of(r.out, 14), ip_of(on_ub(hop(eth_to_ub4, UB_ECN_ECT0), n), 14));
	}
}

TEST(SwitchEthToUb, EcnBecomesFecnAndTheIpHeaderKeepsIt)
{
	const std::pair<const char *, std::array<u8, 4>> cases[] = {
		{ "", { 0, 2, 2, 3 } },
		{ "ce = \"light\"", { 0, 2, 2, 1 } },
		{ "one_to_one = true", { 0, 1, 2, 3 } },
	};

	for (const auto &[map, table] : cases)
		for (const Packet &base : { eth_to_ub4, eth_to_ub6 })
			for (u8 ecn = 0; ecn < 4; ++ecn) {
				Rig r("[map]\n" + std::string(map) + two_sides);
				Packet p = base;
				Native n;

				p.ecn = ecn;
				n.cci = fecn(table[ecn]);
				ASSERT_EQ(r.forward(1, on_eth(ip(p), port_mac(1))), 0u);
				EXPECT_EQ(ip_of(r.out, 14), ip_of(on_ub(hop(p, ecn), n), 14));
			}
}

TEST(SwitchEthToUb, LocationCanBeSet)
{
	Rig r("[map]\nloc = 1" + two_sides);
	Native n;

	n.cci = fecn(UB_FECN_MARKABLE, true);
	ASSERT_EQ(r.forward(1, on_eth(ip(eth_to_ub4), port_mac(1))), 0u);
	EXPECT_EQ(ip_of(r.out, 14), ip_of(on_ub(hop(eth_to_ub4, UB_ECN_ECT0), n), 14));
}

TEST(SwitchEthToUb, VlansBecomePartitions)
{
	Rig r(two_sides);
	const std::pair<int, u32> cases[] = {
		{ -1, 1 },	    { 0, 1 }, // a priority tag is no VLAN
		{ 0xe000, 1 },	    { 1, 1 },	     { 5, 0x1005 },
		{ 0x6005, 0x1005 }, { 300, 0x2006 }, { 301, 0x2006 | UB_NPI_LOW },
	};

	for (const auto &[tci, npi] : cases) {
		Native n;
		n.npi = npi;
		ASSERT_EQ(r.forward(1, on_eth(ip(eth_to_ub4), port_mac(1), tci)), 0u) << tci;
		EXPECT_EQ(ip_of(r.out, 14), ip_of(on_ub(hop(eth_to_ub4, UB_ECN_ECT0), n), 14));
	}
}

TEST(SwitchPartition, WhatDoesNotBelongDoesNotCross)
{
	Rig r(two_sides);
	const auto at_eth = [&](int tci, unsigned port = 1) {
		return on_eth(ip(eth_to_ub4), port_mac(port), tci);
	};
	const auto at_ub = [&](u32 npi, const char *to = "10.2.0.1") {
		Packet p = ub_to_eth4;
		Native n;
		p.to = to;
		n.npi = npi;
		return on_ub(ip(p), n);
	};

	EXPECT_EQ(r.refused(1, at_eth(7)), "drop_partition");
	EXPECT_EQ(r.refused(1, at_eth(4095)), "drop_tag");
	EXPECT_EQ(r.refused(2, at_eth(-1, 2)), "drop_untagged");
	EXPECT_EQ(r.refused(2, at_eth(0, 2)), "drop_untagged");
	EXPECT_EQ(r.refused(2, at_eth(300, 2)), "drop_member");
	EXPECT_EQ(r.refused(0, at_ub(0)), "drop_partition");
	EXPECT_EQ(r.refused(0, at_ub(UB_NPI_LOW)), "drop_partition");
	EXPECT_EQ(r.refused(0, at_ub(5)), "drop_partition"); // 0x1005 after truncation only
	EXPECT_EQ(r.refused(0, at_ub(0x2005)), "drop_partition");
	EXPECT_EQ(r.refused(0, at_ub(0x2006, "10.3.0.1")), "drop_member");
	EXPECT_EQ(r.forward(0, at_ub(0x1005, "10.3.0.1")), 2u);
}

TEST(SwitchIp, WhatCannotGoOn)
{
	Rig r(two_sides, 1500);
	Packet last = ub_to_eth4, lost = ub_to_eth4, back = ub_to_eth4, big = ub_to_eth4;

	last.ttl = 1;
	EXPECT_EQ(r.refused(0, on_ub(ip(last))), "drop_ttl");
	last.ttl = 0;
	EXPECT_EQ(r.refused(0, on_ub(ip(last))), "drop_ttl");
	lost.to = "10.9.0.1";
	EXPECT_EQ(r.refused(0, on_ub(ip(lost))), "drop_no_route");
	back.to = "10.1.0.9";
	EXPECT_EQ(r.refused(0, on_ub(ip(back))), "drop_back");
	big.payload = 1500 - 20 - 8 - 4;
	EXPECT_EQ(r.forward(0, on_ub(ip(big))), 1u);
	++big.payload;
	EXPECT_EQ(r.refused(0, on_ub(ip(big))), "drop_mtu");
	// LPH and NTH belong to what a UB link carries
	big = eth_to_ub4;
	big.payload = 1500 - 10 - 20 - 8 - 4;
	EXPECT_EQ(r.forward(1, on_eth(ip(big), port_mac(1))), 0u);
	++big.payload;
	EXPECT_EQ(r.refused(1, on_eth(ip(big), port_mac(1))), "drop_mtu");
}

TEST(SwitchIp, BetweenEthernetPorts)
{
	Rig r(two_sides);
	Packet p{ "10.2.0.1", "10.3.0.1" };

	ASSERT_EQ(r.forward(1, on_eth(ip(p), port_mac(1), 5)), 2u);
	bytes want = on_eth(hop(p, UB_ECN_ECT0), { 0x02, 0, 0, 0, 0, 0xbb }, 5);
	std::copy_n(port_mac(2).begin(), 6, want.begin() + 6);
	EXPECT_EQ(r.out, want);
	// untagged here is VLAN 1 there
	ASSERT_EQ(r.forward(1, on_eth(ip(p), port_mac(1))), 2u);
	EXPECT_EQ(get_unaligned_be16(&r.out[14]), 1);
	// the priority stays
	ASSERT_EQ(r.forward(1, on_eth(ip(p), port_mac(1), 0xa005)), 2u);
	EXPECT_EQ(get_unaligned_be16(&r.out[14]), 0xa005);
}

TEST(SwitchHostile, NativeFrames)
{
	Rig r(two_sides);
	const bytes good = on_ub(ip(ub_to_eth4));
	const auto with = [&](std::size_t at, u8 value) {
		bytes b = good;
		b[at] = value;
		return b;
	};

	for (std::size_t len = 0; len < good.size(); ++len)
		EXPECT_EQ(r.refused(0, { good.begin(), good.begin() + static_cast<long>(len) }),
			  len < 14	? "other" :
			  len < 14 + 58 ? "drop_short" :
					  "drop_length")
			<< len;
	for (u8 cfg : { 0, 5, 6, 7, 9, 15 })
		EXPECT_EQ(r.refused(0, with(15, cfg)), "drop_cfg");
	EXPECT_EQ(r.refused(0, with(15, UB_CFG_IPV6)), "drop_ip_header");
	EXPECT_EQ(r.refused(0, with(17, 0x1f)), "drop_length");
	EXPECT_EQ(r.refused(0, with(24, 0x46)), "drop_ip_header");
	EXPECT_EQ(r.refused(0, with(24 + 6, 0x20)), "drop_ip_header");
	EXPECT_EQ(r.refused(0, with(24 + 9, 6)), "drop_ip_header");
	EXPECT_EQ(r.refused(0, with(24 + 13, 9)), "drop_ip_checksum");
	EXPECT_EQ(r.refused(0, with(24 + 20 + 5, 9)), "drop_length");
	EXPECT_EQ(r.refused(0, with(24 + 20 + 3, 9)), "drop_udp_port");
	EXPECT_EQ(r.refused(0, with(12, 0x08)), "other");
}

TEST(SwitchHostile, EthernetFrames)
{
	Rig r(two_sides);
	const bytes good = on_eth(ip(eth_to_ub4), port_mac(1), 5);
	const auto with = [&](std::size_t at, u8 value) {
		bytes b = good;
		b[at] = value;
		return b;
	};

	for (std::size_t len = 0; len < good.size(); ++len)
		EXPECT_EQ(r.refused(1, { good.begin(), good.begin() + static_cast<long>(len) }),
			  len < 18 + 48 ? "other" : "drop_length")
			<< len;
	EXPECT_EQ(r.refused(1, with(5, 0x99)), "other"); // to another station
	EXPECT_EQ(r.refused(1, with(12, 0x88)), "other");
	EXPECT_EQ(r.refused(1, on_eth(ip(eth_to_ub4), port_mac(1), 5)), "forwarded");
	bytes two = good;
	two.insert(two.begin() + 12, { 0x81, 0, 0, 5 });
	EXPECT_EQ(r.refused(1, two), "drop_tag");
	two[12] = 0x88, two[13] = 0xa8;
	EXPECT_EQ(r.refused(1, two), "drop_tag");
	two[22 + 9] = 6; // with two tags, too
	EXPECT_EQ(r.refused(1, two), "other");
	bytes outer = good;
	outer[12] = 0x88, outer[13] = 0xa8;
	EXPECT_EQ(r.refused(1, outer), "drop_tag");
	outer[16] = 0x86;
	EXPECT_EQ(r.refused(1, outer), "other");
	EXPECT_EQ(r.refused(1, with(18 + 9, 6)), "other"); // TCP is the host's
	EXPECT_EQ(r.refused(1, with(18 + 20 + 3, 9)), "other");
	EXPECT_EQ(r.refused(1, with(18 + 6, 0x20)), "drop_ip_header");
	EXPECT_EQ(r.refused(1, with(18 + 12, 9)), "drop_ip_checksum");
	EXPECT_EQ(r.refused(1, with(18 + 20 + 5, 9)), "drop_length");
}

TEST(SwitchHostile, WhoseACutFrameIs)
{
	Rig r(two_sides);
	const auto is_ub = [&](unsigned port, bytes b) {
		b.resize(80);
		return r.engine->is_ub(port, { b.data(), b.data() + b.size() });
	};
	bytes tcp = ip(eth_to_ub4);

	tcp[9] = 6;
	EXPECT_TRUE(is_ub(0, on_ub(ip(ub_to_eth4))));
	EXPECT_TRUE(is_ub(1, on_eth(ip(eth_to_ub4), port_mac(1))));
	EXPECT_FALSE(is_ub(1, on_eth(tcp, port_mac(1))));
	EXPECT_FALSE(is_ub(0, on_eth(ip(eth_to_ub4), port_mac(0))));
}

namespace
{

/// UB ports ub0 and on, with such lines more, and a route out of the first one.
std::string ub_ports(std::initializer_list<const char *> more, const std::string &route)
{
	std::string text;
	unsigned n = 0;

	for (const char *lines : more)
		text += "[[port]]\ninterface = \"ub" + std::to_string(n++) + "\"\ntype = \"ub\"\n" +
			lines + '\n';
	return text + "[[route]]\nprefix = \"10.2.0.0/16\"\n" + route + '\n';
}

const std::string spread = ub_ports({ "", "", "", "" }, R"(
via = [ { port = "ub3", shortest = false }, { port = "ub1" }, { port = "ub2" } ])");

} // namespace

TEST(SwitchSpread, ByRoutingType)
{
	for (u8 rt = 0; rt < 4; ++rt) {
		Rig r(spread);
		std::map<unsigned, unsigned> packets;
		Native n;

		n.rt = rt;
		for (unsigned i = 0; i < 600; ++i)
			++packets[r.forward(0, on_ub(ip(ub_to_eth4), n))];
		const std::size_t ways = rt & UB_RT_SHORTEST ? 2 : 3;

		if (rt & UB_RT_PER_PACKET) {
			EXPECT_EQ(packets.size(), ways);
			for (const auto &[port, count] : packets)
				EXPECT_EQ(count, 600 / ways) << port;
		} else {
			EXPECT_EQ(packets.size(), 1u); // one flow, one way
		}
		if (rt & UB_RT_SHORTEST) {
			EXPECT_EQ(packets.count(3), 0u);
		}
	}
}

TEST(SwitchSpread, FlowsTakeAllWays)
{
	Rig r(spread);
	std::map<unsigned, unsigned> flows;
	Native n;

	n.rt = 0;
	for (u16 sport = 0; sport < 3000; ++sport) {
		Packet p = ub_to_eth4;
		p.sport = sport;
		const unsigned way = r.forward(0, on_ub(ip(p), n));
		++flows[way];
		EXPECT_EQ(r.forward(0, on_ub(ip(p), n)), way);
	}
	ASSERT_EQ(flows.size(), 3u);
	for (const auto &[way, count] : flows)
		EXPECT_NEAR(count, 1000, 150) << way;
}

TEST(SwitchMark, LevelsOfTheVirtualQueue)
{
	ub2e_level l{};
	const ub2e_queue q{ 1000000, 1000, 3000, 1u << 31, 5000, {} }; // 1 MB/s, half at kmax
	u16 cci = 0;

	EXPECT_EQ(ub2e_level_mark(&l, &q, 0, 1000, 0, &cci), 0u); // up to kmin never
	EXPECT_EQ(ub2e_level_mark(&l, &q, 0, 1000, 0, &cci), UB2E_MARKED_LIGHT);
	EXPECT_EQ(l.bytes, 2000u);
	// half the way: a quarter of 2^32
	EXPECT_EQ(ub2e_level_mark(&l, &q, 0, 0, (1u << 30) - 1, &cci), UB2E_MARKED_LIGHT);
	EXPECT_EQ(ub2e_level_mark(&l, &q, 0, 0, 1u << 30, &cci), 0u);
	EXPECT_EQ(ub2e_level_mark(&l, &q, 0, 1000, ~0u, &cci),
		  UB2E_MARKED_SEVERE); // from kmax always
	EXPECT_EQ(ub2e_level_mark(&l, &q, 0, 2001, 0, &cci), UB2E_DROP_QUEUE);
	EXPECT_EQ(l.bytes, 3000u);
	EXPECT_EQ(ub2e_level_mark(&l, &q, 1000000, 0, ~0u, &cci), 0u); // 1 ms drains 1000
	EXPECT_EQ(l.bytes, 2000u);
	// another processor's clock was read earlier
	EXPECT_EQ(ub2e_level_mark(&l, &q, 999999, 0, ~0u, &cci), 0u);
	EXPECT_EQ(l.bytes, 2000u);
	EXPECT_EQ(ub2e_level_mark(&l, &q, 5000000000, 10, 0, &cci), 0u);
	EXPECT_EQ(l.bytes, 10u);
}

TEST(SwitchMark, OnEachKindOfWay)
{
	// drains nothing to speak of: from the second packet on all are marked
	const std::string queue = "rate = 8000\nkmin = 1\nkmax = 2\n";
	std::string both = two_sides;

	for (const char *at : { "interface = \"ub0\"\n", "interface = \"eth0\"\n" })
		both.insert(both.find(at), queue);
	Rig r(both);

	for (u8 f = 0; f < 4; ++f) {
		Native n;
		n.cci = fecn(f);
		ASSERT_EQ(r.forward(0, on_ub(ip(ub_to_eth4), n)), 1u);
		EXPECT_EQ(r.out[15] & 3, f ? 3 : 0);
	}
	for (u8 ecn = 0; ecn < 4; ++ecn) {
		Packet p = eth_to_ub4;
		p.ecn = ecn;
		ASSERT_EQ(r.forward(1, on_eth(ip(p), port_mac(1))), 0u);
		EXPECT_EQ(r.out[19] & 3, ecn ? UB_FECN_SEVERE : UB_FECN_UNMARKABLE);
		p.to = "10.2.0.9";
		ASSERT_EQ(r.forward(1, on_eth(ip(p), port_mac(1))), 1u);
		EXPECT_EQ(r.out[15] & 3, ecn ? 3 : 0);
	}
	// 2 + 3 at eth0: what was marked already is not counted
	EXPECT_EQ(r.counters.get(1, UB2E_MARKED_SEVERE), 4u);
	EXPECT_EQ(r.counters.get(0, UB2E_MARKED_SEVERE), 2u);
}

// What is dropped at the border is no load of the port behind it
TEST(SwitchMark, NotByWhatDoesNotLeave)
{
	std::string queue = two_sides;
	Native caqm;

	queue.insert(queue.find("interface = \"eth0\"\n"), "rate = 8000\nkmin = 100\nkmax = 200\n");
	Rig r(queue);
	caqm.cci = UB_CCI_CAQM_EN;
	for (unsigned i = 0; i < 100; ++i)
		EXPECT_EQ(r.refused(0, on_ub(ip(ub_to_eth4), caqm)), "drop_cci_mode");
	ASSERT_EQ(r.forward(0, on_ub(ip(ub_to_eth4))), 1u); // 86 bytes
	EXPECT_EQ(r.counters.get(1, UB2E_MARKED_SEVERE), 0u);
	EXPECT_EQ(r.out[15] & 3, UB_ECN_ECT0);
}

// Between UB ports. 8 Gb/s, 40 KiB wanted: a credit of 20480 bytes in the beginning
TEST(SwitchCaqm, BetweenUbPorts)
{
	constexpr u16 ask = UB_CCI_CAQM_EN | UB_CCI_CAQM_I;
	Rig r(ub_ports({ "", "rate = \"8G\"\ncaqm = { mark = 0 }" }, "port = \"ub1\""));
	Native n;

	const auto cci = [&](u16 in, std::uint64_t now = 1) {
		n.cci = in;
		EXPECT_EQ(r.forward(0, on_ub(ip(ub_to_eth4), n), now), 1u);
		return get_unaligned_be16(&r.out[UB2E_ETH_LEN + UB_LPH_LEN]);
	};
	EXPECT_EQ(cci(0), 0); // it does not take part
	for (unsigned i = 0; i < 5; ++i)
		EXPECT_EQ(cci(ask | UB_CCI_LOC | 128), ask | UB_CCI_LOC | 128);
	EXPECT_EQ(cci(ask | 128), UB_CCI_CAQM_EN | 128);
	EXPECT_EQ(cci(0x4003), 0x4003); // FECN_RTT is nothing of ours
	EXPECT_EQ(r.counters.get(1, UB2E_CAQM_GRANTED), 5u);
	EXPECT_EQ(r.counters.get(1, UB2E_CAQM_REFUSED), 1u);
	// of 80 KiB in the same moment the queue keeps half; what comes then has to give up
	for (unsigned i = 0; i < 800; ++i)
		cci(0);
	EXPECT_EQ(cci(ask | 128, 501), UB_CCI_CAQM_EN | UB_CCI_CAQM_C | 128);
	EXPECT_EQ(r.counters.get(1, UB2E_CAQM_MARKED), 1u);
	// a second later there is credit again
	EXPECT_EQ(cci(ask | 128, 1000000000), ask | 128);
}

// Its packets are not for the other kind of mark, nor for a port without CAQM
TEST(SwitchCaqm, OtherPortsLetItPass)
{
	for (const char *how :
	     { "", "rate = 8000\nkmin = 1\nkmax = 2\ncaqm = { period_ns = 0 }" }) {
		Rig r(ub_ports({ "", how }, "port = \"ub1\""));
		Native n;

		n.cci = UB_CCI_CAQM_EN | UB_CCI_CAQM_I | 200;
		for (unsigned i = 0; i < 300; ++i) {
			ASSERT_EQ(r.forward(0, on_ub(ip(ub_to_eth4), n)), 1u);
			ASSERT_EQ(get_unaligned_be16(&r.out[UB2E_ETH_LEN + UB_LPH_LEN]), n.cci);
		}
		EXPECT_EQ(r.counters.get(1, UB2E_MARKED_SEVERE), 0u);
	}
}

TEST(SwitchReload, NewTablesHoldFromTheNextFrameOn)
{
	Rig r(two_sides);
	std::string other = two_sides;

	EXPECT_EQ(r.forward(0, on_ub(ip(ub_to_eth4))), 1u);
	other.replace(other.find("10.2.0.0/16"), 11, "10.8.0.0/16");
	r.load(other);
	EXPECT_EQ(r.refused(0, on_ub(ip(ub_to_eth4))), "drop_no_route");
}

// Random partitions, VLANs and members: nothing of one partition is seen in another
TEST(SwitchPartition, IsolationOverRandomConfigurations)
{
	std::mt19937 random(3);

	for (unsigned round = 0; round < 200; ++round) {
		std::string text = R"(
[[port]]
interface = "ub0"
type = "ub"
[[port]]
interface = "ub1"
type = "ub"
[[port]]
interface = "eth0"
type = "eth"
[[port]]
interface = "eth1"
type = "eth"
[[route]]
prefix = "10.0.0.0/16"
port = "ub0"
[[route]]
prefix = "10.1.0.0/16"
port = "ub1"
[[route]]
prefix = "10.2.0.0/16"
port = "eth0"
mac = "02:00:00:00:00:02"
[[route]]
prefix = "10.3.0.0/16"
port = "eth1"
mac = "02:00:00:00:00:03"
)";
		const char *const names[] = { "ub0", "ub1", "eth0", "eth1" };
		struct Entry {
			u32 id;
			u16 vlan, low;
			unsigned ports;
		};
		std::vector<Entry> entries;
		std::set<u16> vlans;

		for (unsigned i = 0; i < 6; ++i) {
			Entry e{ static_cast<u32>(1 + random() % 0xffffff), 0, 0,
				 static_cast<unsigned>(random() % 15) + 1 };
			const auto fresh = [&] {
				u16 v;
				do
					v = static_cast<u16>(1 + random() % 40);
				while (!vlans.insert(v).second);
				return v;
			};
			e.vlan = fresh();
			if (random() % 2)
				e.low = fresh();
			text += "[[partition]]\nid = " + std::to_string(e.id) +
				"\nvlan = " + std::to_string(e.vlan) + '\n';
			if (e.low)
				text += "vlan_low = " + std::to_string(e.low) + '\n';
			text += "ports = [";
			for (unsigned p = 0; p < 4; ++p)
				if (e.ports >> p & 1)
					text += '"' + std::string(names[p]) + "\", ";
			text += "]\n";
			entries.push_back(e);
		}
		Rig r(text);
		const auto owner = [&](unsigned port, const bytes &frame) -> const Entry * {
			const u32 id = get_unaligned_be32(&frame[20]) & UB_NPI_ID;
			const u16 vlan = get_unaligned_be16(&frame[14]) & 0xfff;

			for (const Entry &e : entries)
				if (port < 2 ? e.id == id : e.vlan == vlan || e.low == vlan)
					return &e;
			return nullptr;
		};

		for (unsigned i = 0; i < 400; ++i) {
			const Entry &e = entries[random() % entries.size()];
			const unsigned from = random() % 4;
			Packet p;
			Native n;

			p.to = "10." + std::to_string(random() % 4) + ".0.1";
			n.npi = (random() % 4 ? e.id : random() & UB_NPI_ID) |
				(random() % 2 ? UB_NPI_LOW : 0);
			const int vlan = random() % 4 ? (random() % 2 && e.low ? e.low : e.vlan) :
							static_cast<int>(random() % 4096);
			const bytes frame = from < 2 ? on_ub(ip(p), n) :
						       on_eth(ip(p), port_mac(from), vlan);
			const Entry *in = owner(from, frame);
			const unsigned to = r.forward(from, frame);

			if (to == Engine::none)
				continue;
			ASSERT_TRUE(in);
			ASSERT_EQ(owner(to, r.out), in);
			ASSERT_TRUE(in->ports >> from & 1);
			ASSERT_TRUE(in->ports >> to & 1);
		}
		EXPECT_GT(r.counters.get(0, UB2E_FORWARDED) + r.counters.get(1, UB2E_FORWARDED) +
				  r.counters.get(2, UB2E_FORWARDED) +
				  r.counters.get(3, UB2E_FORWARDED),
			  0u);
	}
}
