// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The switch's configuration: what it means, and that what is wrong is named with its line.
#include <string>

#include <gtest/gtest.h>

#include "config.hpp"

using namespace uboe::ub2e;

namespace
{

Config read(const std::string &text)
{
	return Config::parse(text, "f");
}

std::string error(const std::string &text)
{
	try {
		read(text);
	} catch (const ConfigError &e) {
		return e.what();
	}
	return "good";
}

const std::string ports = R"([[port]]
interface = "u"
type = "ub"
[[port]]
interface = "e"
type = "eth"
name = "out"
)"; // 7 lines

} // namespace

TEST(SwitchConfig, Defaults)
{
	const Config c = read(ports);

	EXPECT_EQ(c.map.rt, UB_RT_DEFAULT);
	EXPECT_FALSE(c.map.light_as_ect || c.map.markable_as_ect1 || c.map.ce_as_light ||
		     c.map.one_to_one || c.map.loc || c.other_cci_passes);
	ASSERT_EQ(c.ports.size(), 2u);
	EXPECT_EQ(c.ports[0].name, "u");
	EXPECT_EQ(c.ports[0].kind, UB2E_UB);
	EXPECT_EQ(c.ports[1].name, "out");
	EXPECT_EQ(c.ports[1].kind, UB2E_ETH);
	EXPECT_EQ(c.ports[1].untagged, 0u);
	EXPECT_EQ(c.ports[1].queue.rate, 0u);
	ASSERT_EQ(c.partitions.size(), 1u);
	EXPECT_EQ(c.partitions[0].vlan.id, 1u);
	EXPECT_EQ(c.partitions[0].vlan.vlan, 1u);
	EXPECT_TRUE(c.routes.empty());
}

TEST(SwitchConfig, EverythingThatCanBeSaid)
{
	const Config c = read(R"(
[map]
rt = 3
light = "ect"
markable = "ect1"
ce = "light"
loc = 1
other_cci = "unmarkable"
[[port]]
interface = "u"
type = "ub"
mtu = 4500
rate = "2.5G"
kmin = "5K"
kmax = 102400
pmax = 0.5
limit = "1M"
caqm = { period_ns = 2000, target = "80K", mark = 0.25, cut = "4K" }
[[port]]
interface = "e"
type = "eth"
untagged = 0x1002
[[partition]]
id = 0x1002
[[partition]]
id = 16777215
vlan = 4094
vlan_low = 1
ports = ["u"]
[[route]]
prefix = "0.0.0.0/0"
port = "u"
[[route]]
prefix = "fd00:1::/32"
[[route.via]]
port = "u"
[[route.via]]
port = "e"
mac = "02:00:00:00:00:fe"
shortest = false
)");

	EXPECT_EQ(c.map.rt, 3);
	EXPECT_TRUE(c.map.light_as_ect && c.map.markable_as_ect1 && c.map.ce_as_light &&
		    c.map.loc && c.other_cci_passes);
	EXPECT_EQ(c.ports[0].mtu, 4500u);
	EXPECT_EQ(c.ports[0].queue.rate, 312500000u);
	EXPECT_EQ(c.ports[0].queue.kmin, 5120u);
	EXPECT_EQ(c.ports[0].queue.kmax, 102400u);
	EXPECT_EQ(c.ports[0].queue.pmax, 1u << 31);
	EXPECT_EQ(c.ports[0].queue.limit, 1u << 20);
	EXPECT_EQ(c.ports[0].queue.caqm.rate, 312500000u);
	EXPECT_EQ(c.ports[0].queue.caqm.period_ns, 2000u);
	EXPECT_EQ(c.ports[0].queue.caqm.target, 81920u);
	EXPECT_EQ(c.ports[0].queue.caqm.mark, 1u << 30);
	EXPECT_EQ(c.ports[0].queue.caqm.cut, 4096u);
	EXPECT_EQ(c.ports[1].untagged, 0x1002u);
	EXPECT_EQ(c.partitions[0].vlan.vlan, 2u);
	EXPECT_EQ(c.partitions[1].vlan.id, 0xffffffu);
	EXPECT_EQ(c.partitions[1].vlan.vlan_low, 1u);
	EXPECT_EQ(c.partitions[1].ports, std::vector<unsigned>{ 0 });
	EXPECT_EQ(c.routes[0].prefix.text(), "0.0.0.0/0");
	EXPECT_EQ(c.routes[1].prefix.text(), "fd00:1::/32");
	ASSERT_EQ(c.routes[1].paths.size(), 2u);
	EXPECT_EQ(c.routes[1].paths[1].mac, (Mac{ 2, 0, 0, 0, 0, 0xfe }));
	EXPECT_FALSE(c.routes[1].paths[1].shortest);
}

TEST(SwitchConfig, MessagesNameTheLine)
{
	const std::pair<std::string, const char *> cases[] = {
		{ "", "f:1: there is no [[port]]" },
		{ "x = 1\n" + ports, "f:1: there is no setting x" },
		{ "a = \n", "f:1: " },
		{ "[[port]]\ntype = \"ub\"", "f:1: port: interface is missing" },
		{ "[[port]]\ninterface = \"u\"", "f:1: port: type is missing" },
		{ "[[port]]\ninterface = \"u\"\ntype = \"ib\"",
		  "f:3: port: type has to be one of \"eth\", \"ub\"" },
		{ ports + "mtu = 10", "f:8: port: mtu has to be a number from 576 to 65535" },
		{ ports + "mtu = \"big\"", "f:8: port: mtu has to be a number" },
		{ ports + "speed = 1", "f:8: port: there is no setting speed" },
		{ ports + "untagged = 5", "f:4: port: untagged names partition 5" },
		{ ports + "rate = \"fast\"", "f:8: port: rate has to be a rate" },
		{ ports + "rate = \"10X\"", "f:8: port: rate has to be a rate" },
		{ ports + "rate = 100", "f:8: port: rate has to be 8000" },
		{ ports + "kmin = 100", "f:8: port: marks need a rate" },
		{ ports + "rate = 80000\nkmax = 100", "f:9: port: kmax has to be above kmin" },
		{ ports + "rate = 80000\nlimit = 100", "f:9: port: limit has to be above kmax" },
		{ ports + "rate = 80000\npmax = 1.5", "f:9: port: pmax has to be a number from 0" },
		{ ports + "caqm = { target = 1 }", "f:8: caqm: CAQM is for UB ports" },
		{ ports + "[[port]]\ninterface = \"v\"\ntype = \"ub\"\ncaqm = { target = 1 }",
		  "f:11: caqm: CAQM needs a rate" },
		{ ports + "[[port]]\ninterface = \"v\"\ntype = \"ub\"\nrate = 8000\n"
			  "[port.caqm]\nperiod_ns = 1000000001",
		  "f:13: caqm: period_ns has to be a number from 0" },
		{ ports + "[[port]]\ninterface = \"v\"\ntype = \"ub\"\nrate = 8000\n"
			  "caqm = { lambda = 1 }",
		  "f:12: caqm: there is no setting lambda" },
		{ ports + "[[port]]\ninterface = \"u\"\ntype = \"ub\"\nname = \"v\"",
		  "f:9: port: port u has this interface" },
		{ ports + "[[port]]\ninterface = \"v\"\ntype = \"ub\"\nname = \"u\"",
		  "f:11: port: another port is called u" },
		{ "[[port]]\ninterface = \"u\"\ntype = \"ub\"\nuntagged = 1",
		  "f:4: port: untagged is for Ethernet" },
		{ ports + "[[partition]]", "f:8: partition: id is missing" },
		{ ports + "[[partition]]\nid = 0", "f:9: partition: id has to be a number from 1" },
		{ ports + "[[partition]]\nid = 0x1000", "f:9: partition: the low 12 bits" },
		{ ports + "[[partition]]\nid = 0x1fff", "f:9: partition: the low 12 bits" },
		{ ports + "[[partition]]\nid = 1\nvlan = 4095", "f:10: partition: vlan has to be" },
		{ ports + "[[partition]]\nid = 1\nvlan_low = 1",
		  "f:10: partition: low privilege needs another VLAN" },
		{ ports + "[[partition]]\nid = 0x1005\n[[partition]]\nid = 0x2005",
		  "f:11: partition: VLAN 5 is that of partition 4101 in line 8: the two would" },
		{ ports + "[[partition]]\nid = 5\n[[partition]]\nid = 5\nvlan = 6",
		  "f:11: partition: partition 5 stands in line 8 already" },
		{ ports + "[[partition]]\nid = 5\n[[partition]]\nid = 7\nvlan = 5",
		  "f:12: partition: VLAN 5 is that of partition 5" },
		{ ports + "[[partition]]\nid = 5\nports = [\"w\"]",
		  "f:10: partition: there is no port w" },
		{ ports + "[[partition]]\nid = 5\nports = []", // not: all
		  "f:10: partition: ports has to be a list of at least one text" },
		{ ports + "[[route]]\nprefix = \"10.0.0.1/8\"\nport = \"u\"",
		  "f:9: route: prefix has to be" },
		{ ports + "[[route]]\nprefix = \"10.0.0.0/33\"\nport = \"u\"",
		  "f:9: route: prefix has to be" },
		{ ports + "[[route]]\nprefix = \"10.0.0.0\"\nport = \"u\"",
		  "f:9: route: prefix has to be" },
		{ ports + "[[route]]\nprefix = \"10.0.0.0/8\"", "f:8: route: port is missing" },
		{ ports + "[[route]]\nprefix = \"10.0.0.0/8\"\nport = \"x\"",
		  "f:10: route: there is no port x" },
		{ ports + "[[route]]\nprefix = \"10.0.0.0/8\"\nport = \"out\"",
		  "f:8: route: mac is missing" },
		{ ports + "[[route]]\nprefix = \"10.0.0.0/8\"\nport = \"out\"\nmac = "
			  "\"ff:ff:ff:ff:ff:ff\"",
		  "f:11: route: mac has to be" },
		{ ports + "[[route]]\nprefix = \"10.0.0.0/8\"\nport = \"u\"\nmac = "
			  "\"02:00:00:00:00:01\"",
		  "f:11: route: mac is for Ethernet" },
		{ ports + "[[route]]\nprefix = \"10.0.0.0/8\"\nport = \"u\"\nshortest = false",
		  "f:8: route: one of the paths has to be" },
		{ ports + "[[route]]\nprefix = \"10.0.0.0/8\"\nport = \"u\"\n"
			  "[[route]]\nprefix = \"10.0.0.0/8\"\nport = \"u\"",
		  "f:12: route: this prefix stands in line 8" },
		{ "[map]\nrt = 4\n" + ports, "f:2: map: rt has to be a number from 0 to 3" },
		{ "[map]\none_to_one = true\nce = \"light\"\n" + ports,
		  "f:2: map: one_to_one cannot be" },
		{ "[map]\none_to_one = 1\n" + ports, "f:2: map: one_to_one has to be true" },
		{ "[map]\nlight = \"dark\"\n" + ports, "f:2: map: light has to be one of" },
		{ "map = 1\n" + ports, "f:1: map has to be a table" },
		{ "port = 1\n", "f:1: port has to be tables" },
	};

	for (const auto &[text, message] : cases)
		EXPECT_EQ(error(text).substr(0, std::string(message).size()), message) << text;
}

TEST(SwitchConfig, AFileThatIsNotThere)
{
	try {
		Config::load("/nowhere/at/all");
		FAIL();
	} catch (const ConfigError &e) {
		EXPECT_STREQ(e.what(), "/nowhere/at/all: No such file or directory");
	}
	try {
		Config::load("/");
		FAIL();
	} catch (const ConfigError &e) {
		EXPECT_EQ(std::string(e.what()).find("/: "), 0u) << e.what();
	}
}
