// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Frames for the tests of ubdump: golden vectors behind headers of links. */
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "decode.hpp"
#include "golden.hpp"

extern "C" {
#include "ubp_native.h"
}

namespace dump_test
{

using Bytes = std::vector<std::uint8_t>;
using ubdump::Link;
using ubdump::Packet;
using ubdump::Settings;

inline Packet decode(const Bytes &frame, Link link, const Settings &settings = {})
{
	return ubdump::decode(frame, frame.size(), link, settings);
}

/// The golden vector of this name.
inline Bytes packet(const std::string &name)
{
	static const auto all = golden::load(UBOE_VECTORS "/golden.txt");

	for (const golden::vector &v : *all)
		if (v.name == name)
			return v.packet;
	throw std::logic_error("no vector " + name);
}

inline void put16(Bytes &out, unsigned value)
{
	out.push_back(static_cast<std::uint8_t>(value >> 8));
	out.push_back(static_cast<std::uint8_t>(value));
}

inline unsigned type_of(const Bytes &ip)
{
	return !ip.empty() && ip[0] >> 4 == 6 ? 0x86dd : 0x0800;
}

inline Bytes operator+(Bytes a, const Bytes &b)
{
	a.insert(a.end(), b.begin(), b.end());
	return a;
}

/// @p tags: types and numbers of VLAN tags
inline Bytes ethernet(const Bytes &ip, const std::vector<unsigned> &tags = {})
{
	Bytes out{ 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1 };

	for (unsigned t : tags)
		put16(out, t);
	put16(out, type_of(ip));
	return out + ip;
}

inline Bytes cooked(const Bytes &ip)
{
	Bytes out{ 0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0 };

	put16(out, type_of(ip));
	return out + ip;
}

inline Bytes cooked2(const Bytes &ip)
{
	Bytes out;

	put16(out, type_of(ip));
	out.resize(20);
	return out + ip;
}

/// On VL 5, of partition 0xabcdef and low privilege
inline Bytes native(const Bytes &ip)
{
	const bool v4 = type_of(ip) == 0x0800;
	Bytes out(UB_NATIVE_LEN);
	ubp_native n{};

	n.len = static_cast<u32>(ip.size()) + UB_NATIVE_LEN;
	n.npi = UB_NPI_LOW | 0xabcdef;
	n.cci = UB_CCI_MODE_FECN << 13 | UB_FECN_MARKABLE;
	n.cfg = v4 ? UB_CFG_IPV4 : UB_CFG_IPV6;
	n.vl = 5;
	n.rt = UB_RT_DEFAULT;
	ubp_native_build(out.data(), &n);
	return out + ip;
}

inline Bytes lab_frame(const Bytes &native)
{
	return Bytes{ 255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 1, 0x88, 0xb5 } + native;
}

} // namespace dump_test
