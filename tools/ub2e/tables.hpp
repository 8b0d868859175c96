// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Tables of the switch, made from a configuration and from what its interfaces are.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "config.hpp"

namespace uboe::ub2e
{

/// What the kernel knows of a port's interface.
struct Interface {
	std::uint32_t ifindex;
	std::uint32_t mtu;
	Mac mac;
};

using Key = std::array<std::uint8_t, 16>;

struct KeyHash {
	std::size_t operator()(const Key &k) const;
};

/// Immutable; a new configuration makes new ones.
class Tables
{
      public:
	/// @p interfaces: one for each port of @p config, in its order. Throws ConfigError when
	/// a port's MTU is more than its interface has.
	Tables(const Config &config, std::span<const Interface> interfaces);

	const ub2e_settings &settings() const
	{
		return settings_;
	}
	const ub2e_port *port(std::uint32_t i) const
	{
		return i < ports_.size() ? &ports_[i] : nullptr;
	}
	std::span<const ub2e_port> ports() const
	{
		return ports_;
	}
	std::span<const ub2e_partition> partitions() const
	{
		return partitions_;
	}
	const ub2e_partition *by_vlan(std::uint32_t vlan) const
	{
		return vlans_[vlan & 0xfff];
	}
	const ub2e_partition *by_id(std::uint32_t id) const;
	/// Of the longest prefix that @p address has.
	const ub2e_route *route(const Key &address) const;

	struct Routes {
		unsigned length;
		std::unordered_map<Key, ub2e_route, KeyHash> by_prefix;
	};
	/// Longest first.
	const std::vector<Routes> &routes() const
	{
		return routes_;
	}

      private:
	void add_route(const RouteConfig &route);

	ub2e_settings settings_{};
	std::vector<ub2e_port> ports_;
	std::vector<ub2e_partition> partitions_;
	std::array<const ub2e_partition *, 4096> vlans_{};
	std::unordered_map<std::uint32_t, const ub2e_partition *> ids_;
	std::vector<Routes> routes_;
};

} // namespace uboe::ub2e
