// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The socket of the in-process device by itself (docs/decisions/0036): what it hands to
// the kernel as one message, and that each packet arrives as it was. One socket talks to
// itself over the loopback device.
#include <cstring>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "inproc/socket.hpp"

using namespace uboe::inproc;

namespace
{

constexpr int ttl = 64;

struct Packet {
	std::vector<std::uint8_t> payload;
	unsigned tc;
	unsigned claimed; // length of payload by the IP header

	bool operator==(const Packet &) const = default;
};

Packet pattern(std::size_t len, unsigned seed, unsigned tc = 0)
{
	Packet p{ std::vector<std::uint8_t>(len), tc, static_cast<unsigned>(len) };

	std::iota(p.payload.begin(), p.payload.end(), static_cast<std::uint8_t>(seed * 7));
	return p;
}

struct Loop {
	Pool pool;
	Socket socket{ pool };
	Address address;
	std::uint16_t port = 20000;

	explicit Loop(const char *text) : address(*Address::parse(text))
	{
		int err = EADDRINUSE;

		while (err == EADDRINUSE) {
			std::destroy_at(&socket);
			std::construct_at(&socket, pool);
			err = socket.open(address, ++port, ttl);
		}
		EXPECT_EQ(err, 0) << std::strerror(err);
	}

	bool v4() const { return address.is_v4(); }

	void send(const Packet &p)
	{
		Block *b = pool.take();
		std::uint8_t *ip = b->packet(v4());

		std::memset(ip, 0, Block::headers(v4()));
		ip[0] = static_cast<std::uint8_t>(v4() ? 0x45 : 0x60 | p.tc >> 4);
		ip[1] = static_cast<std::uint8_t>(v4() ? p.tc : p.tc << 4);
		ip[v4() ? 8 : 7] = ttl;
		std::memcpy(b->payload(), p.payload.data(), p.payload.size());
		b->len = static_cast<std::uint32_t>(Block::headers(v4()) + p.payload.size());
		socket.send(b, address, port);
	}

	Packet take(Block *b)
	{
		const std::uint8_t *ip = b->packet(v4());
		const std::size_t headers = Block::headers(v4());
		const unsigned ip_len = v4() ? ip[2] << 8 | ip[3] : ip[4] << 8 | ip[5];
		const std::uint8_t *udp = ip + headers - UB_UDP_LEN;
		const std::uint8_t *payload = b->payload(), *end = ip + b->len;
		Packet p{ std::vector<std::uint8_t>(payload, end),
			  v4() ? ip[1] : (ip[0] << 4 & 0xf0u) | ip[1] >> 4,
			  ip_len - static_cast<unsigned>(v4() ? headers : UB_UDP_LEN) };
		const std::size_t at = v4() ? 12 : 8, each = v4() ? 4 : 16;

		for (std::size_t i = 0; i < 2; ++i) { // it comes from here and goes here
			EXPECT_EQ(std::memcmp(ip + at + i * each, address.bytes.data() + 16 - each,
					      each),
				  0);
			EXPECT_EQ(udp[2 * i] << 8 | udp[2 * i + 1], port);
		}
		EXPECT_EQ(udp[4] << 8 | udp[5], b->len - headers + UB_UDP_LEN);
		pool.give(b);
		return p;
	}

	/// All that has come. @p messages: what the kernel made of it.
	std::vector<Packet> all(unsigned &messages)
	{
		std::vector<Packet> got;

		messages = 0;
		while (unsigned n = socket.fetch()) {
			messages += n;
			while (Block *b = socket.next())
				got.push_back(take(b));
		}
		return got;
	}

	/// Sends, and expects the same packets in so many messages.
	void expect(const std::vector<Packet> &packets, unsigned messages)
	{
		unsigned n;

		for (const Packet &p : packets)
			send(p);
		socket.flush();
		EXPECT_TRUE(all(n) == packets);
		EXPECT_EQ(n, messages);
		EXPECT_EQ(socket.send_errors(), 0u);
		EXPECT_EQ(pool.in_use(), Socket::batch); // those that wait for messages
	}
};

std::vector<Packet> packets(std::initializer_list<std::size_t> lengths)
{
	std::vector<Packet> v;

	for (std::size_t len : lengths)
		v.push_back(pattern(len, static_cast<unsigned>(v.size())));
	return v;
}

} // namespace

TEST(Socket, ARunIsOneMessage)
{
	Loop l("::1");

	l.expect(packets({ 1000, 1000, 1000 }), 1);
	l.expect(packets({ 1000, 1000, 300 }), 1);
	l.expect(packets({ 60 }), 1);
	l.expect(packets(std::initializer_list<std::size_t>{ 4160, 4160, 4160, 4160, 1 }), 1);
}

TEST(Socket, ARunEndsWithAShorterPacketAndBeforeALongerOne)
{
	Loop l("::1");

	l.expect(packets({ 1000, 300, 1000 }), 2);
	l.expect(packets({ 1000, 300, 300 }), 2);
	l.expect(packets({ 300, 1000, 1000 }), 2);
}

TEST(Socket, ARunHasOneTrafficClass)
{
	Loop l("::1");

	l.expect({ pattern(500, 1, 0x28), pattern(500, 2, 0x28), pattern(500, 3),
		   pattern(500, 4, 2) },
		 3);
}

TEST(Socket, ARunIsNoLongerThanAMessageMayBe)
{
	Loop l("::1");
	std::vector<Packet> small, large;

	for (unsigned i = 0; i < Socket::batch; ++i) {
		small.push_back(pattern(1000, i));
		large.push_back(pattern(4352, i));
	}
	l.expect(small, 1);
	l.expect(large, 5); // 15 at a time
}

TEST(Socket, WithoutSegmentationEachIsAMessage)
{
	Loop l("::1");

	l.socket.set_segmentation(false);
	l.expect(packets({ 1000, 1000, 300 }), 3);
	l.socket.set_segmentation(true);
	l.expect(packets({ 1000, 1000, 300 }), 1);
}

TEST(Socket, OverIpv4EachIsAMessage)
{
	Loop l("127.0.0.1");

	EXPECT_FALSE(l.socket.segmentation());
	l.expect(packets({ 1000, 1000, 300 }), 3);
	l.expect({ pattern(500, 1, 0x28), pattern(500, 2, 0x28) }, 2);
}

// The core shall see that something is missing
TEST(Socket, TooLongIsMarked)
{
	for (const char *text : { "::1", "127.0.0.1" }) {
		Loop l(text);
		sockaddr_in6 sa;
		const socklen_t len = to_sockaddr(l.address, l.port, sa);
		const int fd = socket(sa.sin6_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

		for (std::size_t n : { std::size_t{ 0 }, Block::payload_max, Block::payload_max + 1,
				       std::size_t{ 20000 } }) {
			const std::vector<std::uint8_t> bytes(n, 0x5a);
			const std::size_t kept = std::min(n, Block::payload_max);

			ASSERT_EQ(sendto(fd, bytes.data(), n, 0, reinterpret_cast<sockaddr *>(&sa),
					 len),
				  static_cast<ssize_t>(n));
			ASSERT_EQ(l.socket.fetch(), 1u);
			Block *b = l.socket.next();
			ASSERT_TRUE(b);
			EXPECT_EQ(b->len, Block::headers(l.v4()) + kept);
			const std::uint8_t *ip = b->packet(l.v4());
			EXPECT_EQ(l.v4() ? ip[2] << 8 | ip[3] : (ip[4] << 8 | ip[5]) + 40,
				  static_cast<int>(b->len + (kept < n)));
			l.pool.give(b);
			EXPECT_FALSE(l.socket.next());
		}
		close(fd);
	}
}

TEST(Socket, GoesWithPacketsThatWait)
{
	Loop l("::1");

	l.send(pattern(100, 1));
	l.send(pattern(100, 2));
}
