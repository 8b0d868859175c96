// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "address.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

namespace uboe::inproc {

namespace {

constexpr std::array<std::uint8_t, 12> v4_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::uint8_t loopback_count = 8;

void add(std::vector<Address> &list, const Address &a)
{
	if (std::find(list.begin(), list.end(), a) == list.end())
		list.push_back(a);
}

void add_interface(std::vector<Address> &list, const ifaddrs &i)
{
	if (!i.ifa_addr || !(i.ifa_flags & IFF_UP))
		return;
	if (i.ifa_addr->sa_family == AF_INET) {
		in_addr a = reinterpret_cast<const sockaddr_in *>(i.ifa_addr)->sin_addr;

		add(list, Address::v4(a));
		if (!(i.ifa_flags & IFF_LOOPBACK) || a.s_addr != htonl(INADDR_LOOPBACK))
			return;
		for (std::uint8_t n = 2; n <= loopback_count; ++n) {
			a.s_addr = htonl(INADDR_LOOPBACK - 1 + n);
			add(list, Address::v4(a));
		}
	} else if (i.ifa_addr->sa_family == AF_INET6) {
		const in6_addr &a = reinterpret_cast<const sockaddr_in6 *>(i.ifa_addr)->sin6_addr;

		if (!IN6_IS_ADDR_LINKLOCAL(&a))
			add(list, Address::v6(a));
	}
}

std::vector<Address> parse_list(std::string_view text)
{
	std::vector<Address> list;

	while (!text.empty()) {
		const std::size_t end = std::min(text.find(','), text.size());

		if (auto a = Address::parse(text.substr(0, end)))
			add(list, *a);
		text.remove_prefix(std::min(end + 1, text.size()));
	}
	return list;
}

} // namespace

bool Address::is_v4() const
{
	return std::equal(v4_prefix.begin(), v4_prefix.end(), bytes.begin());
}

std::string Address::text() const
{
	char s[INET6_ADDRSTRLEN] = "";

	if (is_v4())
		inet_ntop(AF_INET, bytes.data() + 12, s, sizeof(s));
	else
		inet_ntop(AF_INET6, bytes.data(), s, sizeof(s));
	return s;
}

std::optional<Address> Address::parse(std::string_view text)
{
	const std::string s(text);
	in6_addr six;
	in_addr four;

	if (inet_pton(AF_INET, s.c_str(), &four) == 1)
		return v4(four);
	if (inet_pton(AF_INET6, s.c_str(), &six) == 1)
		return v6(six);
	return std::nullopt;
}

Address Address::v4(in_addr a)
{
	Address r;

	std::copy(v4_prefix.begin(), v4_prefix.end(), r.bytes.begin());
	std::memcpy(r.bytes.data() + v4_prefix.size(), &a, sizeof(a));
	return r;
}

Address Address::v6(const in6_addr &a)
{
	Address r;

	std::memcpy(r.bytes.data(), &a, sizeof(a));
	return r;
}

socklen_t to_sockaddr(const Address &a, std::uint16_t port, sockaddr_in6 &out)
{
	out = {};
	if (!a.is_v4()) {
		out.sin6_family = AF_INET6;
		out.sin6_port = htons(port);
		std::memcpy(&out.sin6_addr, a.bytes.data(), sizeof(out.sin6_addr));
		return sizeof(out);
	}
	sockaddr_in four{};

	four.sin_family = AF_INET;
	four.sin_port = htons(port);
	std::memcpy(&four.sin_addr, a.bytes.data() + v4_prefix.size(), sizeof(four.sin_addr));
	std::memcpy(&out, &four, sizeof(four));
	return sizeof(four);
}

std::vector<Address> local_addresses()
{
	std::vector<Address> list;
	ifaddrs *all = nullptr;

	if (const char *env = std::getenv("URMA_INPROC_EIDS"))
		return parse_list(env);
	if (getifaddrs(&all))
		return list;
	const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);

	for (const ifaddrs *i = all; i; i = i->ifa_next)
		add_interface(list, *i);
	return list;
}

} // namespace uboe::inproc
