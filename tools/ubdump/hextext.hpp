// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Packets as hexadecimal text: what xxd, hexdump -C, tcpdump -x and od -t x1 -A x print, or
// digits alone. An empty line ends a packet; so does an offset of 0.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace ubdump
{

class HexReader
{
      public:
	/// @p name: of the input, for messages.
	HexReader(std::istream &in, std::string name) : in_(in), name_(std::move(name))
	{
	}

	/// The next packet, or none at the end. Throws uboe::Failure with the number of the line.
	std::optional<std::vector<std::uint8_t>> next();

      private:
	bool line(std::string &text);
	/// Bytes of a line go to @p packet; false when the line belongs to the next packet.
	bool take(const std::string &text, std::vector<std::uint8_t> &packet);
	void digits(std::string_view text, std::size_t column, std::vector<std::uint8_t> &packet);
	[[noreturn]] void fail(const std::string &what) const;

	std::istream &in_;
	std::string name_;
	std::size_t number_ = 0; // of the line
	std::optional<std::string> kept_; // a line that was read too early
};

} // namespace ubdump
