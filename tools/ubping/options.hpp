// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What ubping was asked to do.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ubping
{

using Nanoseconds = std::chrono::nanoseconds;

constexpr std::uint32_t largest_size = 65536; // bytes of a Send

struct Options {
	std::vector<std::string> targets; ///< none: be the server
	std::string eid; ///< own address; empty: by the way to the target
	std::string device; ///< empty: whichever has the address
	std::uint16_t port = 21116;
	std::uint64_t count = 0; ///< 0: until a signal comes
	Nanoseconds interval = std::chrono::seconds(1);
	std::uint32_t size = 56; ///< bytes
	std::vector<std::byte> pattern; ///< empty: counts up
	std::optional<Nanoseconds> deadline; ///< of the whole run
	Nanoseconds timeout = std::chrono::seconds(5); ///< for the last replies
	unsigned wait_s = 0; ///< how long to look for the server
	bool flood = false;
	bool quiet = false;
	bool json = false;
	bool once = false; ///< server: end with the first client

	bool is_server() const
	{
		return targets.empty();
	}
};

/// Exits when the arguments are wrong (2) or help is asked for (0).
Options read_options(int argc, char **argv);

} // namespace ubping
