// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The UDP socket of an endpoint: unconnected, bound to one address and the UBoE
// port. The kernel builds the IP and UDP headers; the core has computed the ICRC
// over the same ones, since an unconnected socket with path MTU discovery sends
// IPv4 packets with DF and identification 0 (docs/decisions/0017).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <sys/socket.h>

#include "address.hpp"
#include "pool.hpp"

namespace uboe::inproc {

class Socket {
public:
	static constexpr unsigned batch = 64;

	explicit Socket(Pool &pool) : pool_(pool) {}
	~Socket();
	Socket(const Socket &) = delete;
	Socket &operator=(const Socket &) = delete;

	/// 0 or an errno: EADDRINUSE, EADDRNOTAVAIL, EACCES, ...
	int open(const Address &local, std::uint16_t port, int ttl);
	int fd() const { return fd_; }
	/// Bytes that may wait in the socket, the kernel's own share included.
	std::uint32_t receive_buffer() const { return receive_buffer_; }

	/// Takes the block over. A full batch is sent at once, and so is what goes to a
	/// port that is not ours: who listens there wants a checksum.
	void send(Block *b, const Address &to, std::uint16_t port);
	/// Sends what waits. A packet that the kernel does not take is lost, as on
	/// any link.
	void flush();
	std::uint64_t send_errors() const { return send_errors_; }

	/// Up to @ref batch packets that have arrived, each with the headers that
	/// the core expects. The caller owns the blocks. Empty when there are none.
	std::span<Block *> receive();

	/// MTU of the route to @p to, from the IP header on; 0 when there is none.
	std::uint32_t route_mtu(const Address &to) const;

private:
	// Room for one message of control data each: traffic class and TTL
	struct alignas(cmsghdr) Control {
		std::uint8_t bytes[2 * CMSG_SPACE(sizeof(int))];
	};

	bool set_options(int ttl);
	bool omit_checksums(bool on) const;
	void put_control(unsigned i, int tc, int ttl);
	void prepare_receive();
	void fill_headers(Block *b, const mmsghdr &m, const sockaddr_in6 &from) const;

	Pool &pool_;
	Address local_;
	std::uint16_t port_ = 0;
	int fd_ = -1;
	int ttl_ = 0;
	std::uint32_t receive_buffer_ = 0;
	bool v4_ = false;
	std::uint64_t send_errors_ = 0;

	unsigned waiting_ = 0;
	std::array<Block *, batch> out_{};
	std::array<mmsghdr, batch> out_msg_{};
	std::array<iovec, batch> out_iov_{};
	std::array<sockaddr_in6, batch> out_addr_{};
	std::array<Control, batch> out_control_{};

	std::array<Block *, batch> in_{};
	std::array<Block *, batch> ready_{};
	std::array<mmsghdr, batch> in_msg_{};
	std::array<iovec, batch> in_iov_{};
	std::array<sockaddr_in6, batch> in_addr_{};
	std::array<Control, batch> in_control_{};
};

} // namespace uboe::inproc
