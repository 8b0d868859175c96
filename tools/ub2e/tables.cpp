// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "tables.hpp"

#include <algorithm>
#include <cstring>

namespace uboe::ub2e
{

namespace
{

Key masked(Key key, unsigned length)
{
	for (unsigned i = 0; i < key.size(); ++i) {
		const unsigned bits =
			std::clamp(static_cast<int>(length) - static_cast<int>(8 * i), 0, 8);

		key[i] &= static_cast<std::uint8_t>(0xff00 >> bits);
	}
	return key;
}

std::uint64_t port_bits(const PartitionConfig &p)
{
	std::uint64_t bits = p.ports.empty() ? ~std::uint64_t{ 0 } : 0;

	for (unsigned port : p.ports)
		bits |= std::uint64_t{ 1 } << port;
	return bits;
}

ub2e_port make_port(const PortConfig &p, const Interface &interface)
{
	ub2e_port port{};

	if (p.mtu > interface.mtu)
		throw ConfigError("port " + p.name + ": mtu " + std::to_string(p.mtu) +
				  " is more than the " + std::to_string(interface.mtu) + " of " +
				  p.interface);
	port.queue = p.queue;
	port.ifindex = interface.ifindex;
	port.mtu = p.mtu ? p.mtu : interface.mtu;
	if (p.kind == UB2E_UB)
		port.mtu = std::min<std::uint32_t>(port.mtu, UBP_NATIVE_MAX);
	port.untagged = p.untagged;
	port.kind = static_cast<std::uint8_t>(p.kind);
	std::copy(interface.mac.begin(), interface.mac.end(), port.mac);
	return port;
}

} // namespace

std::size_t KeyHash::operator()(const Key &k) const
{
	std::uint64_t a, b;

	std::memcpy(&a, k.data(), sizeof(a));
	std::memcpy(&b, k.data() + sizeof(a), sizeof(b));
	a = (a ^ b * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
	return a ^ a >> 29;
}

Tables::Tables(const Config &config, std::span<const Interface> interfaces)
{
	ubp_map_make(&config.map, &settings_.map);
	settings_.other_cci_passes = config.other_cci_passes;
	for (std::size_t i = 0; i < config.ports.size(); ++i)
		ports_.push_back(make_port(config.ports[i], interfaces[i]));
	for (const PartitionConfig &p : config.partitions)
		partitions_.push_back({ port_bits(p), p.vlan });
	for (const ub2e_partition &p : partitions_) {
		ids_[p.vlan.id] = &p;
		vlans_[p.vlan.vlan] = &p;
		if (p.vlan.vlan_low)
			vlans_[p.vlan.vlan_low] = &p;
	}
	for (const RouteConfig &r : config.routes)
		add_route(r);
	std::sort(routes_.begin(), routes_.end(),
		  [](auto &a, auto &b) { return a.length > b.length; });
}

void Tables::add_route(const RouteConfig &r)
{
	std::vector<PathConfig> paths = r.paths;
	ub2e_route route{};
	Key key;

	std::stable_partition(paths.begin(), paths.end(), [](auto &p) { return p.shortest; });
	for (const PathConfig &p : paths) {
		ub2e_path &path = route.path[route.paths++];

		path.port = static_cast<std::uint8_t>(p.port);
		if (p.mac)
			std::copy(p.mac->begin(), p.mac->end(), path.mac);
		route.shortest = static_cast<std::uint8_t>(route.shortest + p.shortest);
	}
	auto at = std::find_if(routes_.begin(), routes_.end(),
			       [&](auto &x) { return x.length == r.prefix.length; });
	if (at == routes_.end())
		at = routes_.insert(at, { r.prefix.length, {} });
	std::copy_n(r.prefix.bytes, key.size(), key.begin());
	at->by_prefix[key] = route;
}

const ub2e_partition *Tables::by_id(std::uint32_t id) const
{
	const auto at = ids_.find(id);

	return at == ids_.end() ? nullptr : at->second;
}

const ub2e_route *Tables::route(const Key &address) const
{
	for (const Routes &r : routes_) {
		const auto at = r.by_prefix.find(masked(address, r.length));

		if (at != r.by_prefix.end())
			return &at->second;
	}
	return nullptr;
}

} // namespace uboe::ub2e
