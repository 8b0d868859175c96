// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What --stats sums up.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "decode.hpp"

namespace ubdump
{

/// PSNs of one direction of a channel. They are 24 bits wide and begin anywhere.
class Sequence
{
      public:
	/// Has this one been there before?
	bool repeats(std::uint32_t psn);

      private:
	static constexpr std::uint32_t window = 16384; ///< larger than any window of a channel

	std::bitset<window> seen_;
	std::uint32_t highest_ = 0;
	bool begun_ = false;
};

class Statistics
{
      public:
	void add(const Packet &packet);
	/// Packets that were not printed, as they are not UBoE or the filter left them out.
	void skip()
	{
		++skipped_;
	}
	std::string text() const;
	nlohmann::ordered_json json() const;

      private:
	struct Channel {
		std::string source, target;
		std::uint64_t from, to; // channel numbers
		std::uint64_t packets = 0, data = 0, retransmitted = 0;
		Sequence sequence = {};
	};
	static constexpr std::size_t most_channels = 65536;

	void add_channel(const Packet &packet);

	std::uint64_t packets_ = 0, skipped_ = 0, bytes_ = 0, bad_icrc_ = 0, unlisted_ = 0;
	std::map<std::string, std::uint64_t> operations_, drops_;
	std::map<std::string, Channel> channels_;
};

} // namespace ubdump
