// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <netinet/udp.h>
#include <poll.h>
#include <unistd.h>

namespace uboe::inproc {

namespace {

constexpr int send_patience_ms = 10; // for a full send buffer
constexpr std::size_t run_max = 65535 - UB_UDP_LEN; // bytes that one message may carry

void put16(std::uint8_t *p, std::size_t v)
{
	p[0] = static_cast<std::uint8_t>(v >> 8);
	p[1] = static_cast<std::uint8_t>(v);
}

/// What came with a message beside its bytes.
struct Extras {
	std::uint8_t tc = 0; // 0 when the kernel did not say
	std::size_t segment = 0; // length of the packets that it consists of; 0: it is one
};

int value_of(const cmsghdr *c)
{
	int v;

	std::memcpy(&v, CMSG_DATA(c), sizeof(v));
	return v;
}

Extras extras(const msghdr &m)
{
	Extras e;

	for (cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(const_cast<msghdr *>(&m), c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
			e.tc = *CMSG_DATA(c);
		else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS)
			e.tc = static_cast<std::uint8_t>(value_of(c));
		else if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO)
			e.segment = static_cast<std::size_t>(value_of(c));
	}
	return e;
}

template <class T> std::uint8_t *add_control(std::uint8_t *p, int level, int type, T value)
{
	cmsghdr c{};

	c.cmsg_len = CMSG_LEN(sizeof(value));
	c.cmsg_level = level;
	c.cmsg_type = type;
	std::memcpy(p, &c, sizeof(c));
	std::memcpy(p + CMSG_LEN(0), &value, sizeof(value));
	return p + CMSG_SPACE(sizeof(value));
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

	if (!grow_buffers(fd_, receive_buffer_))
		return false;
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

bool Socket::omit_checksums(bool on)
{
	const int value = on;

	if (checksums_ == !on)
		return true;
	if (setsockopt(fd_, v4_ ? SOL_SOCKET : SOL_UDP, v4_ ? SO_NO_CHECK : UDP_NO_CHECK6_TX,
		       &value, sizeof(value)))
		return false;
	checksums_ = !on;
	return true;
}

// Linux 5.0 and newer. Without it aggregates come as single packets, as from any peer
void Socket::set_receive_aggregates()
{
	const int on = 1;

	if (v4_ || setsockopt(fd_, SOL_UDP, UDP_GRO, &on, sizeof(on)))
		return;
	// not touched by the kernel or by us before an aggregate comes
	overflow_ = std::make_unique_for_overwrite<std::uint8_t[]>(batch * overflow);
}

int Socket::open(const Address &local, std::uint16_t port, int ttl)
{
	const int none = 0; // a length is said with each message
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
	set_receive_aggregates();
	can_segment_ = !v4_ && !setsockopt(fd_, SOL_UDP, UDP_SEGMENT, &none, sizeof(none));
	set_segmentation(true);
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

bool Socket::extends(const Run &r, std::size_t len, const sockaddr_in6 &to, int tc, int ttl) const
{
	const std::size_t segment = out_iov_[r.first].iov_len;

	return segmentation_ && out_iov_[waiting_ - 1].iov_len == segment && len <= segment &&
	       r.bytes + len <= run_max && r.tc == tc && r.ttl == ttl &&
	       !std::memcmp(&out_addr_[r.first], &to, sizeof(to));
}

void Socket::send(Block *b, const Address &to, std::uint16_t port)
{
	if (port != port_)
		flush();
	const std::size_t len = b->len - Block::headers(v4_);
	const std::uint8_t *ip = b->packet(v4_);
	const int tc = v4_ ? ip[1] : (ip[0] << 4 & 0xf0) | ip[1] >> 4;
	const int ttl = v4_ ? ip[8] : ip[7];
	sockaddr_in6 sa;

	to_sockaddr(to, port, sa);
	if (runs_ && extends(run_[runs_ - 1], len, sa, tc, ttl)) {
		++run_[runs_ - 1].count;
		run_[runs_ - 1].bytes += len;
	} else {
		out_addr_[waiting_] = sa;
		run_[runs_++] = {waiting_, 1, len, tc, ttl};
	}
	out_[waiting_] = b;
	out_iov_[waiting_++] = {b->payload(), len};
	if (port != port_ || waiting_ == batch)
		flush();
}

void Socket::fill_message(unsigned run)
{
	const Run &r = run_[run];
	msghdr &m = out_msg_[run].msg_hdr;
	std::uint8_t *const control = out_control_[run].bytes, *p = control;

	m = {};
	m.msg_name = &out_addr_[r.first];
	m.msg_namelen = v4_ ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
	m.msg_iov = &out_iov_[r.first];
	m.msg_iovlen = r.count;
	if (r.tc)
		p = add_control(p, v4_ ? IPPROTO_IP : IPPROTO_IPV6, v4_ ? IP_TOS : IPV6_TCLASS,
				r.tc);
	if (r.ttl != ttl_)
		p = add_control(p, v4_ ? IPPROTO_IP : IPPROTO_IPV6, v4_ ? IP_TTL : IPV6_HOPLIMIT,
				r.ttl);
	if (r.count > 1)
		p = add_control(p, SOL_UDP, UDP_SEGMENT,
				static_cast<std::uint16_t>(out_iov_[r.first].iov_len));
	m.msg_control = p == control ? nullptr : control;
	m.msg_controllen = static_cast<std::size_t>(p - control);
}

/// The send buffer is full: is it worth another try?
bool Socket::patient(int &tries) const
{
	pollfd p{fd_, POLLOUT, 0};

	return errno == EINTR || ((errno == EAGAIN || errno == ENOBUFS) && tries++ < 2 &&
				  poll(&p, 1, send_patience_ms) >= 0);
}

void Socket::send_singly(unsigned run)
{
	const Run &r = run_[run];
	msghdr m = out_msg_[run].msg_hdr;
	int tries = 0;

	m.msg_iovlen = 1;
	m.msg_controllen -= CMSG_SPACE(sizeof(std::uint16_t)); // the segment stands last
	if (!m.msg_controllen)
		m.msg_control = nullptr;
	omit_checksums(true);
	for (unsigned i = 0; i < r.count;) {
		m.msg_iov = &out_iov_[r.first + i];
		if (sendmsg(fd_, &m, 0) < 0) {
			if (patient(tries))
				continue;
			++send_errors_;
		}
		++i;
	}
}

// A route may have no use for segments (IPsec), or its MTU has just shrunk
void Socket::refused(unsigned run)
{
	if (run_[run].count > 1 && (errno == EIO || errno == EINVAL)) {
		segmentation_ &= errno != EIO;
		send_singly(run);
		return;
	}
	send_errors_ += run_[run].count;
}

/// Messages from number @p from on, as many as have a checksum like the first of them.
unsigned Socket::alike(unsigned from) const
{
	unsigned n = from;

	while (n < runs_ && (run_[n].count > 1) == (run_[from].count > 1))
		++n;
	return n - from;
}

void Socket::flush()
{
	unsigned done = 0;
	int tries = 0;

	for (unsigned i = 0; i < runs_; ++i)
		fill_message(i);
	while (done < runs_) {
		const bool foreign = ntohs(out_addr_[run_[done].first].sin6_port) != port_;

		omit_checksums(run_[done].count == 1 && !foreign);
		const int n = sendmmsg(fd_, &out_msg_[done], alike(done), 0);

		if (n > 0)
			done += static_cast<unsigned>(n);
		else if (!patient(tries))
			refused(done++); // the next may be taken
	}
	for (unsigned i = 0; i < waiting_; ++i)
		pool_.give(out_[i]);
	waiting_ = runs_ = 0;
}

void Socket::prepare_receive()
{
	for (unsigned i = 0; i < batch; ++i) {
		msghdr &m = in_msg_[i].msg_hdr;

		in_iov_[2 * i] = {in_[i]->payload(), Block::payload_max};
		if (overflow_)
			in_iov_[2 * i + 1] = {&overflow_[i * overflow], overflow};
		m = {};
		m.msg_name = &in_addr_[i];
		m.msg_namelen = sizeof(in_addr_[i]);
		m.msg_iov = &in_iov_[2 * i];
		m.msg_iovlen = overflow_ ? 2 : 1;
		m.msg_control = in_control_[i].bytes;
		m.msg_controllen = sizeof(in_control_[i].bytes);
	}
}

// What the sender's IP and UDP headers said, as far as the ICRC covers it. The
// length of a datagram that did not fit stays the datagram's: the core drops it.
void Socket::fill_headers(Block *b, std::size_t len, bool cut, std::uint8_t tc, unsigned slot) const
{
	const sockaddr_in6 &from = in_addr_[slot];
	const std::size_t ip_len = v4_ ? UB_IPV4_LEN : UB_IPV6_LEN;
	const std::size_t udp_len = len + UB_UDP_LEN;
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

// Part of an aggregate, at most what a block holds
void Socket::copy_part(Block *b, unsigned slot, std::size_t offset, std::size_t len) const
{
	const std::size_t before =
		offset < Block::payload_max ? std::min(len, Block::payload_max - offset) : 0;

	if (before)
		std::memcpy(b->payload(), in_[slot]->payload() + offset, before);
	if (len > before)
		std::memcpy(b->payload() + before,
			    &overflow_[slot * overflow + offset + before - Block::payload_max],
			    len - before);
}

unsigned Socket::fetch()
{
	prepare_receive();
	fetched_ = static_cast<unsigned>(
		std::max(recvmmsg(fd_, in_msg_.data(), batch, MSG_DONTWAIT, nullptr), 0));
	slot_ = 0;
	offset_ = 0;
	return fetched_;
}

Block *Socket::next()
{
	while (slot_ < fetched_) {
		const unsigned slot = slot_;
		const mmsghdr &m = in_msg_[slot];
		const Extras e = extras(m.msg_hdr);
		const std::size_t whole = e.segment ? e.segment : m.msg_len;
		const std::size_t left = m.msg_len - std::min<std::size_t>(offset_, m.msg_len);
		const std::size_t len = std::min({whole, left, Block::payload_max});
		Block *b = pool_.take();

		const std::size_t offset = std::exchange(offset_, offset_ + whole);

		if (offset_ >= m.msg_len) {
			++slot_;
			offset_ = 0;
		}
		if (!b) // lost, as on any link
			continue;
		if (whole >= m.msg_len)
			std::swap(b, in_[slot]);
		else
			copy_part(b, slot, offset, len);
		fill_headers(b, len, len < std::min(whole, left) || m.msg_hdr.msg_flags & MSG_TRUNC,
			     e.tc, slot);
		return b;
	}
	return nullptr;
}

} // namespace uboe::inproc
