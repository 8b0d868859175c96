// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Frames for tests of the switch: UBoE in Ethernet, and native packets on the lab link.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <arpa/inet.h>

#include "engine.hpp"

extern "C" {
#include "ubp_icrc.h"
}

namespace frames
{

using bytes = std::vector<u8>;
using uboe::ub2e::Mac;

struct Packet {
	std::string from = "10.1.0.1", to = "10.2.0.1";
	u16 sport = 40000;
	u8 dscp = 10, ecn = UB_ECN_ECT0, ttl = 64;
	std::size_t payload = 40; // TPH and what follows, without ICRC
	u8 fill = 0x5a;
};

/// From the IP header on, with checksum and ICRC.
inline bytes ip(const Packet &p)
{
	const bool v4 = p.from.find(':') == std::string::npos;
	const std::size_t hlen = v4 ? UB_IPV4_LEN : UB_IPV6_LEN;
	bytes b(hlen + UB_UDP_LEN + p.payload + UB_ICRC_LEN, p.fill);
	const u8 tc = static_cast<u8>(p.dscp << 2 | p.ecn);

	std::fill_n(b.begin(), hlen + UB_UDP_LEN, 0);
	if (v4) {
		b[0] = 0x45;
		b[1] = tc;
		put_unaligned_be16(static_cast<u16>(b.size()), &b[2]);
		b[6] = 0x40;
		b[8] = p.ttl;
		b[9] = 17;
		inet_pton(AF_INET, p.from.c_str(), &b[12]);
		inet_pton(AF_INET, p.to.c_str(), &b[16]);
		u32 sum = 0;
		for (unsigned i = 0; i < 20; i += 2)
			sum += get_unaligned_be16(&b[i]);
		while (sum >> 16)
			sum = (sum & 0xffff) + (sum >> 16);
		put_unaligned_be16(static_cast<u16>(~sum), &b[10]);
	} else {
		b[0] = static_cast<u8>(0x60 | tc >> 4);
		b[1] = static_cast<u8>(tc << 4);
		put_unaligned_be16(static_cast<u16>(b.size() - hlen), &b[4]);
		b[6] = 17;
		b[7] = p.ttl;
		inet_pton(AF_INET6, p.from.c_str(), &b[8]);
		inet_pton(AF_INET6, p.to.c_str(), &b[24]);
	}
	put_unaligned_be16(p.sport, &b[hlen]);
	put_unaligned_be16(UB_UDP_PORT, &b[hlen + 2]);
	put_unaligned_be16(static_cast<u16>(b.size() - hlen), &b[hlen + 4]);
	const u32 crc = ubp_icrc(b.data(), static_cast<u32>(b.size() - UB_ICRC_LEN));
	for (unsigned i = 0; i < 4; ++i)
		b[b.size() - 4 + i] = static_cast<u8>(crc >> 8 * i);
	return b;
}

struct Native {
	u32 npi = UB_NPI_DEFAULT;
	u16 cci = UB_CCI_MODE_FECN << 13 | UB_FECN_MARKABLE;
	u8 vl = 0, rt = UB_RT_DEFAULT;
};

inline bytes on_ub(const bytes &packet, const Native &n = {})
{
	bytes b(UB2E_ETH_LEN + UB_NATIVE_LEN, 0xff);
	const ubp_native h = { static_cast<u32>(UB_NATIVE_LEN + packet.size()),
			       n.npi,
			       n.cci,
			       static_cast<u8>(packet[0] >> 4 == 4 ? UB_CFG_IPV4 : UB_CFG_IPV6),
			       n.vl,
			       n.rt };

	std::memcpy(&b[6], "\x02\0\0\0\0\x77", 6);
	put_unaligned_be16(UB_LAB_ETHERTYPE, &b[12]);
	ubp_native_build(&b[14], &h);
	b.insert(b.end(), packet.begin(), packet.end());
	return b;
}

/// @p tci below 0: untagged.
inline bytes on_eth(const bytes &packet, const Mac &to, int tci = -1)
{
	bytes b(UB2E_ETH_LEN + (tci < 0 ? 0 : UB2E_TAG_LEN));

	std::memcpy(&b[0], to.data(), 6);
	std::memcpy(&b[6], "\x02\0\0\0\0\x66", 6);
	if (tci >= 0) {
		put_unaligned_be16(0x8100, &b[12]);
		put_unaligned_be16(static_cast<u16>(tci), &b[14]);
	}
	put_unaligned_be16(packet[0] >> 4 == 4 ? 0x0800 : 0x86dd, &b[b.size() - 2]);
	b.insert(b.end(), packet.begin(), packet.end());
	return b;
}

} // namespace frames
