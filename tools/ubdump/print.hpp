// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A packet as a line, a tree or JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "decode.hpp"

namespace ubdump
{

enum class Clock : std::uint8_t { none, relative, local, epoch };

struct Style {
	Clock clock = Clock::local;
	bool tree = false;
	bool json = false;
	bool payload = false; ///< its bytes, too
};

class Printer
{
      public:
	explicit Printer(const Style &style) : style_(style)
	{
	}

	/// All that is printed of a packet, with the end of its last line.
	std::string text(const Packet &packet);

      private:
	std::string time_text(const Packet &packet);

	const Style &style_;
	std::int64_t first_ns_ = -1;
};

/// What a packet is, on one line, without its time.
std::string line_of(const Packet &packet);
std::string tree_of(const Packet &packet, bool payload);
nlohmann::ordered_json json_of(const Packet &packet, bool payload);
/// Sixteen bytes a line: offset, hexadecimal, ASCII.
std::string dump_of(Bytes bytes);

} // namespace ubdump
