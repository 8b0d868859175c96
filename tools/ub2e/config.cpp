// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "config.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include <arpa/inet.h>

#include "section.hpp"

namespace uboe::ub2e
{

namespace
{

constexpr std::uint8_t v4_prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

bool only_prefix(const Prefix &p)
{
	for (unsigned bit = p.length; bit < 128; ++bit)
		if (p.bytes[bit / 8] >> (7 - bit % 8) & 1)
			return false;
	return true;
}

/// The port that a text names.
unsigned port_named(const Config &c, const Section &s, std::string_view key,
		    const std::string &name)
{
	const auto at = std::find_if(c.ports.begin(), c.ports.end(),
				     [&](const PortConfig &p) { return p.name == name; });

	if (at == c.ports.end())
		s.fail(key, "there is no port " + name);
	return static_cast<unsigned>(at - c.ports.begin());
}

void read_map(Section s, Config &c)
{
	c.map.rt = static_cast<std::uint8_t>(s.number("rt", 0, 3).value_or(UB_RT_DEFAULT));
	c.map.light_as_ect = s.one_of("light", { "ce", "ect" }, 0);
	c.map.markable_as_ect1 = s.one_of("markable", { "ect0", "ect1" }, 0);
	c.map.ce_as_light = s.one_of("ce", { "severe", "light" }, 0);
	c.map.one_to_one = s.flag("one_to_one", false);
	c.map.loc = s.number("loc", 0, 1).value_or(0);
	c.other_cci_passes = s.one_of("other_cci", { "drop", "unmarkable" }, 0);

	ubp_map tables;
	if (!ubp_map_make(&c.map, &tables))
		s.fail("one_to_one", "one_to_one cannot be with light, markable or ce: "
				     "it maps each codepoint to itself");
	s.done();
}

std::uint32_t part_of_2_32(double p)
{
	return static_cast<std::uint32_t>(std::min(p * 4294967296.0, 4294967295.0));
}

/// Of a UB port with a rate, where CAQM works unless its period is 0.
ubp_caqm_knobs read_caqm(std::optional<Section> s, std::uint64_t rate)
{
	ubp_caqm_knobs k{ rate, UBP_CAQM_PERIOD_NS, UBP_CAQM_TARGET, UBP_CAQM_MARK, UBP_CAQM_CUT };

	if (!s)
		return k;
	k.period_ns = static_cast<std::uint32_t>(
		s->number("period_ns", 0, 1000000000).value_or(k.period_ns));
	k.target = static_cast<std::uint32_t>(s->size("target").value_or(k.target));
	k.cut = static_cast<std::uint32_t>(s->size("cut").value_or(k.cut));
	if (const auto mark = s->fraction("mark"))
		k.mark = part_of_2_32(*mark);
	s->done();
	return k;
}

ub2e_queue read_queue(Section &s, bool ub)
{
	ub2e_queue q{};
	auto caqm = s.table("caqm");
	const auto rate = s.rate("rate");
	const auto kmin = s.size("kmin"), kmax = s.size("kmax"), limit = s.size("limit");
	const auto pmax = s.fraction("pmax");

	if (caqm && (!ub || !rate))
		caqm->fail("", ub ? "CAQM needs a rate" : "CAQM is for UB ports");
	if (!rate) {
		for (const char *key : { "kmin", "kmax", "limit", "pmax" })
			if (kmin || kmax || limit || pmax)
				s.fail(key, "marks need a rate at which the queue drains");
		return q;
	}
	if (*rate < 8000)
		s.fail("rate", "rate has to be 8000 bits a second or more");
	q.rate = *rate / 8;
	q.kmin = static_cast<std::uint32_t>(kmin.value_or(5 << 10));
	q.kmax = static_cast<std::uint32_t>(kmax.value_or(200 << 10));
	q.pmax = part_of_2_32(pmax.value_or(0.01));
	q.limit = static_cast<std::uint32_t>(limit.value_or(0));
	if (ub)
		q.caqm = read_caqm(std::move(caqm), q.rate);
	if (q.kmin >= q.kmax)
		s.fail("kmax", "kmax has to be above kmin");
	if (q.limit && q.limit <= q.kmax)
		s.fail("limit", "limit has to be above kmax");
	return q;
}

void read_port(Section s, Config &c)
{
	PortConfig p;

	p.line = s.line();
	p.interface = s.needed_text("interface");
	p.name = s.text("name").value_or(p.interface);
	if (!s.text("type"))
		s.fail("type", "type is missing: \"ub\" or \"eth\"");
	p.kind = s.one_of("type", { "eth", "ub" }, 0) ? UB2E_UB : UB2E_ETH;
	p.mtu = static_cast<std::uint32_t>(s.number("mtu", 576, 65535).value_or(0));
	if (p.kind == UB2E_UB && p.mtu > UBP_NATIVE_MAX)
		s.fail("mtu",
		       "a native packet has at most " + std::to_string(UBP_NATIVE_MAX) + " bytes");
	p.untagged = static_cast<std::uint32_t>(s.number("untagged", 1, UB_NPI_ID).value_or(0));
	if (p.untagged && p.kind == UB2E_UB)
		s.fail("untagged", "untagged is for Ethernet ports: a UB packet names its "
				   "partition");
	p.queue = read_queue(s, p.kind == UB2E_UB);
	for (const PortConfig &other : c.ports) {
		if (other.name == p.name)
			s.fail("name", "another port is called " + p.name);
		if (other.interface == p.interface)
			s.fail("interface", "port " + other.name + " has this interface");
	}
	s.done();
	c.ports.push_back(std::move(p));
}

std::string vlan_text(std::uint16_t vlan)
{
	return std::to_string(vlan);
}

void check_partition(const Section &s, const PartitionConfig &p, bool vlan_given)
{
	switch (ubp_map_entry_check(&p.vlan)) {
	case UBP_MAP_VLAN:
		if (!vlan_given)
			s.fail("id", "the low 12 bits of the partition are no VLAN that there is: "
				     "it needs a vlan of its own");
		s.fail("vlan", "VLANs are 1 to 4094");
	case UBP_MAP_SAME_VLAN:
		s.fail("vlan_low", "low privilege needs another VLAN than high");
	default:
		break;
	}
}

void read_partition(Section s, Config &c)
{
	PartitionConfig p;

	p.line = s.line();
	const auto id = s.number("id", 1, UB_NPI_ID);
	if (!id)
		s.fail("id", "id is missing");
	const auto vlan = s.number("vlan", 1, UB_VLAN_MAX);
	p.vlan.id = static_cast<std::uint32_t>(*id);
	p.vlan.vlan = vlan ? static_cast<std::uint16_t>(*vlan) : ubp_map_low12(p.vlan.id);
	p.vlan.vlan_low =
		static_cast<std::uint16_t>(s.number("vlan_low", 1, UB_VLAN_MAX).value_or(0));
	check_partition(s, p, vlan.has_value());
	for (const std::string &name : s.texts("ports"))
		p.ports.push_back(port_named(c, s, "ports", name));
	for (const PartitionConfig &other : c.partitions) {
		const ubp_map_error e = ubp_map_pair_check(&other.vlan, &p.vlan);

		if (e == UBP_MAP_SAME_ID)
			s.fail("id", "partition " + std::to_string(p.vlan.id) + " stands in line " +
					     std::to_string(other.line) + " already");
		if (e != UBP_MAP_OK)
			s.fail(vlan ? "vlan" : "id",
			       "VLAN " + vlan_text(p.vlan.vlan) +
				       (p.vlan.vlan_low ? " or " + vlan_text(p.vlan.vlan_low) :
							  std::string()) +
				       " is that of partition " + std::to_string(other.vlan.id) +
				       " in line " + std::to_string(other.line) +
				       ": the two would become one");
	}
	s.done();
	c.partitions.push_back(std::move(p));
}

PathConfig read_path(Section &s, const Config &c)
{
	PathConfig path;

	path.port = port_named(c, s, "port", s.needed_text("port"));
	path.shortest = s.flag("shortest", true);
	const bool eth = c.ports[path.port].kind == UB2E_ETH;
	if (const auto text = s.text("mac")) {
		path.mac = parse_mac(*text);
		if (!path.mac)
			s.fail("mac", "mac has to be an address such as 02:00:00:00:00:01, of one "
				      "station");
		if (!eth)
			s.fail("mac", "mac is for Ethernet ports: a UB link has one other end");
	} else if (eth) {
		s.fail("mac", "mac is missing: the next hop on an Ethernet port");
	}
	return path;
}

void read_route(Section s, Config &c)
{
	RouteConfig r;

	r.line = s.line();
	const auto prefix = Prefix::parse(s.needed_text("prefix"));
	if (!prefix)
		s.fail("prefix", "prefix has to be an address and a length, such as 10.1.0.0/24, "
				 "with no bit set beyond it");
	r.prefix = *prefix;
	for (Section &via : s.tables("via")) {
		r.paths.push_back(read_path(via, c));
		via.done();
	}
	if (r.paths.empty())
		r.paths.push_back(read_path(s, c));
	if (r.paths.size() > UB2E_MAX_PATHS)
		s.fail("via", "a route has at most " + std::to_string(UB2E_MAX_PATHS) + " paths");
	if (std::none_of(r.paths.begin(), r.paths.end(), [](auto &p) { return p.shortest; }))
		s.fail("via", "one of the paths has to be a shortest one");
	for (const RouteConfig &other : c.routes)
		if (other.prefix == r.prefix)
			s.fail("prefix", "this prefix stands in line " +
						 std::to_string(other.line) + " already");
	s.done();
	c.routes.push_back(std::move(r));
}

// After the partitions are known
void check_untagged(const Config &c, const std::string &file)
{
	for (const PortConfig &p : c.ports)
		if (p.untagged && std::none_of(c.partitions.begin(), c.partitions.end(),
					       [&](auto &q) { return q.vlan.id == p.untagged; }))
			throw ConfigError(file + ":" + std::to_string(p.line) +
					  ": port: untagged names partition " +
					  std::to_string(p.untagged) + ", which is not there");
}

} // namespace

std::optional<Mac> parse_mac(std::string_view text)
{
	const std::string copy(text);
	unsigned b[6];
	int used = 0;

	if (std::sscanf(copy.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%n", b, b + 1, b + 2, b + 3, b + 4,
			b + 5, &used) != 6 ||
	    copy.size() != 17 || used != 17 || b[0] & 1)
		return std::nullopt;
	Mac mac{};
	for (unsigned i = 0; i < 6; ++i)
		mac[i] = static_cast<std::uint8_t>(b[i]);
	return mac == Mac{} ? std::nullopt : std::optional(mac);
}

std::optional<Prefix> Prefix::parse(std::string_view text)
{
	const auto slash = text.find('/');
	const std::string address(text.substr(0, slash));
	Prefix p{};
	char *end = nullptr;

	if (slash == std::string_view::npos || slash + 1 >= text.size() || text[slash + 1] < '0' ||
	    text[slash + 1] > '9')
		return std::nullopt;
	const std::string length(text.substr(slash + 1));
	const unsigned long n = std::strtoul(length.c_str(), &end, 10);
	const bool v4 = inet_pton(AF_INET, address.c_str(), p.bytes + 12) == 1;
	if (*end || n > (v4 ? 32 : 128))
		return std::nullopt;
	if (v4)
		std::memcpy(p.bytes, v4_prefix, sizeof(v4_prefix));
	else if (inet_pton(AF_INET6, address.c_str(), p.bytes) != 1)
		return std::nullopt;
	p.length = static_cast<unsigned>(n) + (v4 ? 96 : 0);
	return only_prefix(p) ? std::optional(p) : std::nullopt;
}

std::string Prefix::text() const
{
	char out[INET6_ADDRSTRLEN];
	const bool v4 = length >= 96 && !std::memcmp(bytes, v4_prefix, sizeof(v4_prefix));

	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? bytes + 12 : bytes, out, sizeof(out));
	return std::string(out) + '/' + std::to_string(length - (v4 ? 96 : 0));
}

Config Config::parse(std::string_view text, const std::string &name)
{
	Config c;
	toml::table top;

	try {
		top = toml::parse(text, name);
	} catch (const toml::parse_error &e) {
		throw ConfigError(name + ":" + std::to_string(e.source().begin.line) + ": " +
				  std::string(e.description()));
	}
	Section s(top, name, "");
	if (auto map = s.table("map"))
		read_map(*map, c);
	for (const Section &port : s.tables("port"))
		read_port(port, c);
	if (c.ports.size() > UB2E_MAX_PORTS)
		s.fail("port", "a switch has at most " + std::to_string(UB2E_MAX_PORTS) + " ports");
	if (c.ports.empty())
		s.fail("port", "there is no [[port]]");
	for (const Section &partition : s.tables("partition"))
		read_partition(partition, c);
	if (c.partitions.empty())
		c.partitions.push_back({ { UB_NPI_DEFAULT, UB_NPI_DEFAULT, 0 }, {}, 0 });
	for (const Section &route : s.tables("route"))
		read_route(route, c);
	check_untagged(c, name);
	s.done();
	return c;
}

Config Config::load(const std::string &path)
{
	std::ifstream in(path, std::ios::binary);
	std::string text;

	if (!in)
		throw ConfigError(path + ": " + std::strerror(errno));
	try {
		text.assign(std::istreambuf_iterator<char>(in), {});
	} catch (const std::ios_base::failure &e) { // a directory, say
		throw ConfigError(path + ": " + e.what());
	}
	return parse(text, path);
}

} // namespace uboe::ub2e
