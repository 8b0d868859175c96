// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "statistics.hpp"

#include <nlohmann/json.hpp>

extern "C" {
#include "ubp_psn.h"
}

namespace ubdump
{

namespace
{

using Json = nlohmann::ordered_json;

std::string row(const std::string &name, std::uint64_t n)
{
	return "  " + std::to_string(n) + " " + name + '\n';
}

std::string hex(std::uint64_t n)
{
	char room[24];

	std::snprintf(room, sizeof(room), "0x%llx", static_cast<unsigned long long>(n));
	return room;
}

} // namespace

bool Sequence::repeats(std::uint32_t psn)
{
	const s32 ahead = begun_ ? ubp_psn_diff(psn, highest_) : 0;

	if (!begun_ || ahead >= s32(window) || ahead <= -s32(window)) {
		// another incarnation, or a gap in the capture
		seen_.reset();
		begun_ = true;
		highest_ = psn;
		seen_.set(psn % window);
		return false;
	}
	for (s32 i = 1; i <= ahead; ++i)
		seen_.reset(ubp_psn_add(highest_, static_cast<u32>(i)) % window);
	if (ahead > 0)
		highest_ = psn;
	const bool repeated = seen_.test(psn % window);

	seen_.set(psn % window);
	return repeated;
}

void Statistics::add_channel(const Packet &p)
{
	const Field *from = p.find("tph.srctpn"), *to = p.find("tph.dsttpn");
	const Field *source = p.find("ip.src"), *target = p.find("ip.dst");

	if (!from || !to || !source || !target)
		return;
	const std::string key = text_of(*source) + ' ' + text_of(*target) + ' ' +
				std::to_string(from->number) + ' ' + std::to_string(to->number);
	auto found = channels_.find(key);

	if (found == channels_.end()) {
		if (channels_.size() == most_channels) {
			++unlisted_;
			return;
		}
		found = channels_
				.emplace(key, Channel{ text_of(*source), text_of(*target),
						       from->number, to->number })
				.first;
	}
	Channel &c = found->second;

	++c.packets;
	if (p.number_at("tph.opcode") != 1)
		return;
	++c.data;
	c.retransmitted += c.sequence.repeats(static_cast<std::uint32_t>(p.number_at("tph.psn")));
}

void Statistics::add(const Packet &p)
{
	const Field *ok = p.find("icrc.ok");

	++packets_;
	bytes_ += p.wire_size;
	++operations_[p.operation.empty() ? "unknown" : p.operation];
	if (!p.reason.empty())
		++drops_[std::string(p.reason)];
	if (ok && !ok->number) {
		++bad_icrc_; // whose numbers these are nobody knows
		return;
	}
	add_channel(p);
}

std::string Statistics::text() const
{
	std::string s = std::to_string(packets_) + " packets, " + std::to_string(bytes_) +
			" bytes, " + std::to_string(bad_icrc_) + " with a bad ICRC, " +
			std::to_string(skipped_) + " not shown\n";

	if (!operations_.empty())
		s += "operations:\n";
	for (const auto &[name, n] : operations_)
		s += row(name, n);
	if (!drops_.empty())
		s += "malformed:\n";
	for (const auto &[name, n] : drops_)
		s += row(name, n);
	if (!channels_.empty())
		s += "channels:\n";
	for (const auto &[key, c] : channels_)
		s += "  " + c.source + " " + hex(c.from) + " > " + c.target + " " + hex(c.to) +
		     ": " + std::to_string(c.packets) + " packets, " + std::to_string(c.data) +
		     " data, " + std::to_string(c.retransmitted) + " retransmitted\n";
	if (unlisted_)
		s += row("packets of further channels", unlisted_);
	return s;
}

Json Statistics::json() const
{
	Json channels = Json::array();

	for (const auto &[key, c] : channels_)
		channels.push_back({ { "src", c.source },
				     { "dst", c.target },
				     { "srctpn", c.from },
				     { "dsttpn", c.to },
				     { "packets", c.packets },
				     { "data", c.data },
				     { "retransmitted", c.retransmitted } });
	return { { "statistics",
		   { { "packets", packets_ },
		     { "bytes", bytes_ },
		     { "not_shown", skipped_ },
		     { "bad_icrc", bad_icrc_ },
		     { "operations", operations_ },
		     { "malformed", drops_ },
		     { "channels", channels },
		     { "packets_of_further_channels", unlisted_ } } } };
}

} // namespace ubdump
