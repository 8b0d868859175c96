// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// EIDs from numbers and text: the functions of urma_types.h that are not inline.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <arpa/inet.h>

#include "urma/urma_types.h"

namespace {

constexpr std::size_t shortest = 3; // "::1"; numbers below 100 are a slip

/// Base as in C, the whole of @p text, 32 bits.
std::optional<std::uint32_t> number(std::string_view text)
{
	int base = 10;

	if (text.starts_with("0x") || text.starts_with("0X")) {
		base = 16;
		text.remove_prefix(2);
	} else if (text.starts_with('0')) {
		base = 8;
	}
	std::uint32_t value = 0;
	const char *end = text.data() + text.size();
	const auto [rest, error] = std::from_chars(text.data(), end, value, base);

	if (error != std::errc() || rest != end)
		return std::nullopt;
	return value;
}

} // namespace

extern "C" void urma_u32_to_eid(uint32_t ipv4, urma_eid_t *eid)
{
	eid->in4.reserved = 0;
	eid->in4.prefix = htonl(URMA_IPV4_MAP_IPV6_PREFIX);
	eid->in4.addr = htonl(ipv4);
}

extern "C" int urma_str_to_eid(const char *buf, urma_eid_t *eid)
{
	in6_addr v6;
	in_addr v4;

	if (!buf || !eid || std::string_view(buf).size() < shortest)
		return -EINVAL;
	if (inet_pton(AF_INET6, buf, &v6) == 1) {
		std::copy_n(v6.s6_addr, URMA_EID_SIZE, eid->raw);
		return 0;
	}
	if (inet_pton(AF_INET, buf, &v4) == 1) {
		urma_u32_to_eid(ntohl(v4.s_addr), eid);
		return 0;
	}
	if (const auto value = number(buf)) {
		urma_u32_to_eid(*value, eid);
		return 0;
	}
	return -EINVAL;
}
