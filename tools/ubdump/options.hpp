// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What ubdump was asked to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "print.hpp"

namespace ubdump
{

struct Options {
	std::string file; ///< capture
	std::string interface;
	std::string text = "-"; ///< when it is neither of them
	std::optional<Link> from;
	std::string filter, bpf, write;
	std::uint64_t count = 0; ///< 0: all
	Settings settings;
	Style style;
	bool all = false; ///< also what is not UBoE
	bool stats = false;
	bool quiet = false;
	bool promiscuous = true;
};

/// Exits when the arguments are wrong (2) or help is asked for (0).
Options read_options(int argc, char **argv);

} // namespace ubdump
