// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Decoding a packet: its fields by the tables of headers.hpp, what a receiver would do with it
// by the protocol core's own functions.
#pragma once

#include <deque>
#include <string>

#include "headers.hpp"

namespace ubdump
{

/// What a frame begins with.
enum class Link : std::uint8_t { ethernet, ip, native, cooked, cooked2 };

struct Settings {
	std::uint16_t port = 4792;
	bool icrc_be = false; ///< the byte order that is right
	bool caqm = false; ///< CETPHs are of CAQM: nothing in a packet tells
};

/// Points into the frame: it has to live as long.
struct Packet {
	Bytes frame;
	Link link = Link::ethernet;
	std::uint64_t number = 0;
	std::int64_t time_ns = -1; ///< since 1970; less than 0: unknown
	std::size_t wire_size = 0; ///< more than the frame has when the capture was cut

	bool uboe = false; ///< is, or means to be, UBoE or native UB
	bool native = false;
	std::deque<Layer> layers;
	std::string operation; ///< of the last header that has one: "Write", "TPACK"
	std::string note; ///< about it: what a TPNAK means
	std::string_view reason; ///< first broken rule, docs/wire.md 8
	std::string verdict; ///< "taken", "answered", a counter; empty: not judged

	bool cut() const
	{
		return frame.size() < wire_size;
	}
	/// The first field of this name in full, or null.
	const Field *find(std::string_view name) const;
	std::uint64_t number_at(std::string_view name, std::uint64_t otherwise = 0) const;
};

Packet decode(Bytes frame, std::size_t wire_size, Link link, const Settings &settings);

/// What bytes of unknown origin begin with.
Link guess_link(Bytes bytes);

} // namespace ubdump
