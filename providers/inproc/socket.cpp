// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <netinet/udp.h>
#include <poll.h>
#include <unistd.h>

namespace uboe::inproc {

namespace {

constexpr int socket_buffer = 4 << 20; // bytes; the kernel may give less
constexpr int send_patience_ms = 10; // for a full send buffer

void put16(std::uint8_t *p, std::size_t v)
{
	p[0] = static_cast<std::uint8_t>(v >> 8);
	p[1] = static_cast<std::uint8_t>(v);
}

/// Traffic class that came with a message; 0 when the kernel did not say.
std::uint8_t traffic_class(const msghdr &m)
{
	for (cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(const_cast<msghdr *>(&m), c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
			return *CMSG_DATA(c);
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
			int v;
			std::memcpy(&v, CMSG_DATA(c), sizeof(v));
			return static_cast<std::uint8_t>(v);
		}
	}
	return 0;
}

std::uint8_t *add_control(std::uint8_t *p, int level, int type, int value)
{
	cmsghdr c{};

	c.cmsg_len = CMSG_LEN(sizeof(int));
	c.cmsg_level = level;
	c.cmsg_type = type;
	std::memcpy(p, &c, sizeof(c));
	std::memcpy(p + CMSG_LEN(0), &value, sizeof(value));
	return p + CMSG_SPACE(sizeof(int));
}

} // namespace

Socket::~Socket()
{
	for (Block *b : in_)
		if (b)
			pool_.give(b);
	for (unsigned i = 0; i < waiting_; ++i)
		pool_.give(out_[i]);
	if (fd_ >= 0)
		close(fd_);
}

bool Socket::set_options(int ttl)
{
	const int on = 1, probe = v4_ ? IP_PMTUDISC_DO : IPV6_PMTUDISC_DO;
	auto set = [this](int level, int name, const int &value) {
		return !setsockopt(fd_, level, name, &value, sizeof(value));
	};

	int size = 0;
	socklen_t len = sizeof(size);

	// the privileged form first: it is not limited by net.core.rmem_max
	if (!set(SOL_SOCKET, SO_RCVBUFFORCE, socket_buffer))
		set(SOL_SOCKET, SO_RCVBUF, socket_buffer);
	if (!set(SOL_SOCKET, SO_SNDBUFFORCE, socket_buffer))
		set(SOL_SOCKET, SO_SNDBUF, socket_buffer);
	if (getsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &size, &len))
		return false;
	receive_buffer_ = static_cast<std::uint32_t>(size);
	// checksums are sent as zero, as the draft wants, and zero is accepted: the ICRC
	// guards the packet
	if (!omit_checksums(true))
		return false;
	if (v4_)
		return set(IPPROTO_IP, IP_MTU_DISCOVER, probe) && set(IPPROTO_IP, IP_RECVTOS, on) &&
		       set(IPPROTO_IP, IP_TTL, ttl);
	return set(IPPROTO_IPV6, IPV6_V6ONLY, on) && set(IPPROTO_IPV6, IPV6_MTU_DISCOVER, probe) &&
	       set(IPPROTO_IPV6, IPV6_RECVTCLASS, on) &&
	       set(IPPROTO_IPV6, IPV6_UNICAST_HOPS, ttl) && set(SOL_UDP, UDP_NO_CHECK6_RX, on);
}

bool Socket::omit_checksums(bool on) const
{
	const int value = on;

	return !setsockopt(fd_, v4_ ? SOL_SOCKET : SOL_UDP, v4_ ? SO_NO_CHECK : UDP_NO_CHECK6_TX,
			   &value, sizeof(value));
}

int Socket::open(const Address &local, std::uint16_t port, int ttl)
{
	sockaddr_in6 sa;
	const socklen_t len = to_sockaddr(local, port, sa);

	local_ = local;
	port_ = port;
	ttl_ = ttl;
	v4_ = local.is_v4();
	fd_ = socket(v4_ ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd_ < 0)
		return errno;
	if (!set_options(ttl))
		return errno;
	if (bind(fd_, reinterpret_cast<sockaddr *>(&sa), len))
		return errno;
	for (Block *&b : in_) {
		b = pool_.take();
		if (!b)
			return ENOMEM;
	}
	return 0;
}

std::uint32_t Socket::route_mtu(const Address &to) const
{
	const int fd = socket(v4_ ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	sockaddr_in6 sa;
	socklen_t len = to_sockaddr(to, port_, sa);
	int mtu = 0;

	if (fd < 0)
		return 0;
	if (!connect(fd, reinterpret_cast<sockaddr *>(&sa), len)) {
		len = sizeof(mtu);
		if (getsockopt(fd, v4_ ? IPPROTO_IP : IPPROTO_IPV6, v4_ ? IP_MTU : IPV6_MTU, &mtu,
			       &len))
			mtu = 0;
	}
	close(fd);
	return static_cast<std::uint32_t>(std::max(mtu, 0));
}

void Socket::put_control(unsigned i, int tc, int ttl)
{
	std::uint8_t *p = out_control_[i].bytes;

	out_msg_[i].msg_hdr.msg_control = p;
	p = add_control(p, v4_ ? IPPROTO_IP : IPPROTO_IPV6, v4_ ? IP_TOS : IPV6_TCLASS, tc);
	p = add_control(p, v4_ ? IPPROTO_IP : IPPROTO_IPV6, v4_ ? IP_TTL : IPV6_HOPLIMIT, ttl);
	out_msg_[i].msg_hdr.msg_controllen = static_cast<std::size_t>(p - out_control_[i].bytes);
}

void Socket::send(Block *b, const Address &to, std::uint16_t port)
{
	if (port != port_)
		flush();
	const unsigned i = waiting_++;
	const std::uint8_t *ip = b->packet(v4_);
	const int tc = v4_ ? ip[1] : (ip[0] << 4 & 0xf0) | ip[1] >> 4;
	const int ttl = v4_ ? ip[8] : ip[7];
	msghdr &m = out_msg_[i].msg_hdr;

	m = {};
	out_[i] = b;
	out_iov_[i] = {b->payload(), b->len - Block::headers(v4_)};
	m.msg_name = &out_addr_[i];
	m.msg_namelen = to_sockaddr(to, port, out_addr_[i]);
	m.msg_iov = &out_iov_[i];
	m.msg_iovlen = 1;
	if (tc || ttl != ttl_)
		put_control(i, tc, ttl);
	if (port != port_) {
		omit_checksums(false);
		flush();
		omit_checksums(true);
	} else if (waiting_ == batch) {
		flush();
	}
}

void Socket::flush()
{
	unsigned done = 0;
	int tries = 0;

	while (done < waiting_) {
		const int n = sendmmsg(fd_, &out_msg_[done], waiting_ - done, 0);

		if (n > 0) {
			done += static_cast<unsigned>(n);
			continue;
		}
		pollfd p{fd_, POLLOUT, 0};
		if (errno == EINTR)
			continue;
		if ((errno == EAGAIN || errno == ENOBUFS) && tries++ < 2 &&
		    poll(&p, 1, send_patience_ms) >= 0)
			continue;
		++send_errors_; // the first one was not taken: the next may be
		++done;
	}
	for (unsigned i = 0; i < waiting_; ++i)
		pool_.give(out_[i]);
	waiting_ = 0;
}

void Socket::prepare_receive()
{
	for (unsigned i = 0; i < batch; ++i) {
		msghdr &m = in_msg_[i].msg_hdr;

		in_iov_[i] = {in_[i]->payload(), Block::payload_max};
		m = {};
		m.msg_name = &in_addr_[i];
		m.msg_namelen = sizeof(in_addr_[i]);
		m.msg_iov = &in_iov_[i];
		m.msg_iovlen = 1;
		m.msg_control = in_control_[i].bytes;
		m.msg_controllen = sizeof(in_control_[i].bytes);
	}
}

// What the sender's IP and UDP headers said, as far as the ICRC covers it. The
// length of a datagram that did not fit stays the datagram's: the core drops it.
void Socket::fill_headers(Block *b, const mmsghdr &m, const sockaddr_in6 &from) const
{
	const std::size_t ip_len = v4_ ? UB_IPV4_LEN : UB_IPV6_LEN;
	const std::size_t udp_len = m.msg_len + UB_UDP_LEN;
	const bool cut = m.msg_hdr.msg_flags & MSG_TRUNC;
	const std::uint8_t tc = traffic_class(m.msg_hdr);
	std::uint8_t *p = b->packet(v4_);

	std::memset(p, 0, ip_len + UB_UDP_LEN);
	if (v4_) {
		const auto &four = reinterpret_cast<const sockaddr_in &>(from);

		p[0] = 0x45;
		p[1] = tc;
		put16(p + 2, ip_len + udp_len + cut);
		p[6] = 0x40; // DF
		p[8] = 64;
		p[9] = IPPROTO_UDP;
		std::memcpy(p + 12, &four.sin_addr, 4);
		std::memcpy(p + 16, local_.bytes.data() + 12, 4);
	} else {
		p[0] = static_cast<std::uint8_t>(0x60 | tc >> 4);
		p[1] = static_cast<std::uint8_t>(tc << 4);
		put16(p + 4, udp_len + cut);
		p[6] = IPPROTO_UDP;
		p[7] = 64;
		std::memcpy(p + 8, &from.sin6_addr, 16);
		std::memcpy(p + 24, local_.bytes.data(), 16);
	}
	p += ip_len;
	std::memcpy(p, &from.sin6_port, 2); // the same place in both families
	put16(p + 2, port_);
	put16(p + 4, udp_len);
	b->len = static_cast<std::uint32_t>(ip_len + udp_len);
}

std::span<Block *> Socket::receive()
{
	unsigned got = 0;

	prepare_receive();
	int n = recvmmsg(fd_, in_msg_.data(), batch, MSG_DONTWAIT, nullptr);

	for (int i = 0; i < n; ++i) {
		Block *fresh = pool_.take();

		if (!fresh) // lost, as on any link; its block serves again
			continue;
		fill_headers(in_[i], in_msg_[i], in_addr_[i]);
		ready_[got++] = in_[i];
		in_[i] = fresh;
	}
	return {ready_.data(), got};
}

} // namespace uboe::inproc
