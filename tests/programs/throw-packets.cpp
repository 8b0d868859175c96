// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Throws malformed packets at a device: golden vectors with bytes changed, cut or
// repeated, half of them with a correct ICRC, from the peer's interface. With --pair a
// connection exists that some of the packets claim to belong to.
//
//   throw-packets [--pair] DEV ADDRESS PEER_DEV PEER_ADDRESS PEER_NETDEV COUNT SEED
#include <arpa/inet.h>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <linux/if_packet.h>
#include <memory>
#include <net/ethernet.h>
#include <net/if.h>
#include <optional>
#include <random>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "golden.hpp"
#include "loop_pair.hpp"
#include "ref_icrc.hpp"

using namespace uboe;
using Bytes = std::vector<std::uint8_t>;

namespace
{

constexpr std::size_t ip_len = 20, headers = 28;

std::uint32_t address_of(const std::string &text)
{
	in_addr parsed = {};

	if (inet_pton(AF_INET, text.c_str(), &parsed) != 1)
		throw Failure("not an IPv4 address: " + text);
	return parsed.s_addr;
}

/// Vectors over IPv4 that reach the device's UDP port.
std::vector<Bytes> templates(const std::string &tree)
{
	std::vector<Bytes> all;

	for (const char *name :
	     { "/tests/vectors/golden.txt", "/tests/vectors/bad/malformed.txt" }) {
		std::ifstream file(tree + name);
		std::string error;
		const auto vectors = golden::parse(file, &error);

		if (!vectors)
			throw Failure(tree + name + ": " + error);
		for (const auto &v : *vectors)
			if (!v.ipv6() && v.layer != "ip" && v.layer != "udp" &&
			    v.packet.size() > headers)
				all.push_back(v.packet);
	}
	return all;
}

void put16(Bytes &p, std::size_t at, std::size_t value)
{
	p[at] = static_cast<std::uint8_t>(value >> 8);
	p[at + 1] = static_cast<std::uint8_t>(value);
}

/// What IP and UDP themselves check is made right; the rest is the device's business.
void seal(Bytes &p, std::uint32_t from, std::uint32_t to, bool icrc)
{
	std::uint32_t sum = 0;

	p[0] = 0x45;
	p[1] &= 0xfc;
	put16(p, 2, p.size());
	put16(p, 4, 0);
	put16(p, 6, 0x4000);
	p[8] = 64;
	p[9] = 17;
	std::memcpy(&p[12], &from, 4);
	std::memcpy(&p[16], &to, 4);
	put16(p, 10, 0);
	for (std::size_t i = 0; i < ip_len; i += 2)
		sum += static_cast<std::uint32_t>(p[i] << 8 | p[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	put16(p, 10, ~sum & 0xffff);
	put16(p, 22, 4792);
	put16(p, 24, p.size() - ip_len);
	put16(p, 26, 0);
	if (icrc && p.size() >= headers + 4) {
		const std::uint32_t value = ref::icrc({ p.data(), p.size() - 4 });

		for (int i = 0; i < 4; ++i)
			p[p.size() - 4 + static_cast<std::size_t>(i)] =
				static_cast<std::uint8_t>(value >> (8 * i));
	}
}

class Thrower
{
      public:
	Thrower(const std::string &netdev, unsigned seed) : random_(seed)
	{
		socket_ = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));
		require(socket_ >= 0, "packet socket");
		to_.sll_family = AF_PACKET;
		to_.sll_protocol = htons(ETH_P_IP);
		to_.sll_ifindex = static_cast<int>(if_nametoindex(netdev.c_str()));
		to_.sll_halen = 6;
		std::memset(to_.sll_addr, 0xff, 6); /* broadcast on a wire with one listener */
		require(to_.sll_ifindex != 0, netdev.c_str());
	}
	~Thrower() { close(socket_); }
	Thrower(const Thrower &) = delete;
	Thrower &operator=(const Thrower &) = delete;

	void set_mac(const std::uint8_t *mac) { std::memcpy(to_.sll_addr, mac, 6); }

	Bytes make(const std::vector<Bytes> &from,
		   std::optional<std::pair<unsigned, unsigned>> tpns)
	{
		Bytes p = from[random_() % from.size()];

		if (tpns && p.size() >= headers + 16 && random_() % 2) {
			put24(p, headers + 2, tpns->first);
			put24(p, headers + 5, tpns->second);
		}
		for (unsigned n = random_() % 4; n; --n)
			p[headers + random_() % (p.size() - headers)] =
				static_cast<std::uint8_t>(random_());
		if (random_() % 8 == 0)
			p.resize(headers + 4 + random_() % (p.size() - headers));
		if (random_() % 16 == 0)
			p.resize(p.size() + random_() % 64, static_cast<std::uint8_t>(random_()));
		return p;
	}
	bool coin() { return random_() % 2; }

	void send(const Bytes &p)
	{
		while (sendto(socket_, p.data(), p.size(), 0, reinterpret_cast<sockaddr *>(&to_),
			      sizeof(to_)) < 0)
			if (errno != ENOBUFS && errno != EAGAIN)
				fail_errno("sendto");
	}

      private:
	static void put24(Bytes &p, std::size_t at, unsigned value)
	{
		p[at] = static_cast<std::uint8_t>(value >> 16);
		put16(p, at + 1, value & 0xffff);
	}

	int socket_;
	sockaddr_ll to_ = {};
	std::mt19937 random_;
};

void mac_of(const std::string &netdev, std::uint8_t *mac)
{
	std::ifstream file("/sys/class/net/" + netdev + "/address");
	std::string text;

	file >> text;
	for (int i = 0; i < 6; ++i)
		mac[i] = static_cast<std::uint8_t>(
			std::stoi(text.substr(static_cast<std::size_t>(3 * i), 2), nullptr, 16));
}

} // namespace

int main(int argc, char **argv)
try {
	const bool paired = argc > 1 && std::string(argv[1]) == "--pair";

	argv += paired;
	argc -= paired;
	if (argc != 9) {
		std::cerr << "usage: throw-packets [--pair] NETDEV DEV ADDRESS PEER_DEV "
			     "PEER_ADDRESS PEER_NETDEV COUNT SEED\n";
		return 2;
	}
	const char *tree = std::getenv("UBOE_TREE");
	const auto vectors = templates(tree ? tree : ".");
	std::optional<std::pair<unsigned, unsigned>> tpns;
	std::unique_ptr<Device> one, two;
	std::unique_ptr<LoopEnd> a, b;
	Thrower thrower(argv[6], static_cast<unsigned>(std::atoi(argv[8])));
	std::uint8_t mac[6];

	if (paired) {
		one = std::make_unique<Device>(argv[2], argv[3]);
		two = std::make_unique<Device>(argv[4], argv[5]);
		a = std::make_unique<LoopEnd>(*one, QueueSizes{});
		b = std::make_unique<LoopEnd>(*two, QueueSizes{});
		join(*a, *b);
		tpns = { 0x800000u | b->queue.get()->qp_num, 0x800000u | a->queue.get()->qp_num };
	}
	mac_of(argv[1], mac);
	thrower.set_mac(mac);
	for (long n = std::atol(argv[7]); n; --n) {
		Bytes p = thrower.make(vectors, tpns);

		seal(p, address_of(argv[5]), address_of(argv[3]), thrower.coin());
		thrower.send(p);
		if (n % 128 == 0)
			usleep(1000); /* one CPU: let it empty its backlog */
	}
	std::cout << "throw-packets: " << argv[7] << " sent\n";
	return 0;
} catch (const std::exception &error) {
	std::cerr << "throw-packets: " << error.what() << '\n';
	return 1;
}
