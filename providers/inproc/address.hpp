// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Address of an endpoint: an IPv6 address or a v4-mapped one, in network order.
// These are the bytes of a UB EID.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <netinet/in.h>

namespace uboe::inproc {

struct Address {
	std::array<std::uint8_t, 16> bytes{};

	auto operator<=>(const Address &) const = default;

	bool is_v4() const;
	/// As people write it: 127.0.0.1, 2001:db8::1
	std::string text() const;
	static std::optional<Address> parse(std::string_view text);
	static Address v4(in_addr a);
	static Address v6(const in6_addr &a);
};

/// Socket address of @p a and @p port (host order); returns its length.
socklen_t to_sockaddr(const Address &a, std::uint16_t port, sockaddr_in6 &out);

/// Addresses that an endpoint of this machine can have: those of interfaces that
/// are up, without link-local ones. Of the loopback interface 127.0.0.1 to
/// 127.0.0.8, so that several programs find one each. URMA_INPROC_EIDS, a list
/// separated by commas, replaces all that.
std::vector<Address> local_addresses();

} // namespace uboe::inproc
