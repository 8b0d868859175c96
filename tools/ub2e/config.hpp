// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The switch's configuration: one TOML file (docs/ub2e.md). Everything is checked when it is
// read; a message names the file and the line.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
#include "layout.h"
}

namespace uboe::ub2e
{

/// "FILE:LINE: what is wrong"
class ConfigError : public std::runtime_error
{
      public:
	using std::runtime_error::runtime_error;
};

struct Prefix {
	std::uint8_t bytes[16]; // v4-mapped for IPv4, network order
	unsigned length; // of 128

	bool operator==(const Prefix &) const = default;
	/// "10.1.0.0/24", "fd00::/16"; nothing when it is none, or has bits beyond its length.
	static std::optional<Prefix> parse(std::string_view text);
	std::string text() const;
};

using Mac = std::array<std::uint8_t, 6>;

std::optional<Mac> parse_mac(std::string_view text);

struct PortConfig {
	std::string name;
	std::string interface;
	ub2e_kind kind = UB2E_ETH;
	std::uint32_t mtu = 0; // 0: the interface's
	std::uint32_t untagged = 0; // NPI, 0: untagged frames are dropped
	ub2e_queue queue{};
	int line = 0;
};

struct PartitionConfig {
	ubp_map_vlan vlan{};
	std::vector<unsigned> ports; // indices, empty: all
	int line = 0;
};

struct PathConfig {
	unsigned port = 0;
	std::optional<Mac> mac; // next hop; needed on Ethernet ports
	bool shortest = true;
};

struct RouteConfig {
	Prefix prefix{};
	std::vector<PathConfig> paths;
	int line = 0;
};

struct Config {
	ubp_map_knobs map = ubp_map_defaults();
	bool other_cci_passes = false;
	std::vector<PortConfig> ports;
	std::vector<PartitionConfig> partitions; // without any: partition 1 as VLAN 1
	std::vector<RouteConfig> routes;

	/// Throws ConfigError.
	static Config load(const std::string &path);
	static Config parse(std::string_view text, const std::string &name);
};

} // namespace uboe::ub2e
