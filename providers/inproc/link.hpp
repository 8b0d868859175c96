// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What an endpoint sends and receives by: a UDP socket (UBoE), or a port of a UB domain.
// Used with the endpoint's lock held.
#pragma once

#include <cstdint>

#include "address.hpp"
#include "pool.hpp"

namespace uboe::inproc {

class Link {
public:
	virtual ~Link() = default;

	/// 0 or an errno: EADDRINUSE, EADDRNOTAVAIL, EACCES, EPERM, ENODEV, ...
	virtual int open(const Address &local, std::uint16_t port, int ttl) = 0;
	virtual int fd() const = 0;
	/// Bytes that may wait to be received, the kernel's own share included.
	virtual std::uint32_t receive_buffer() const = 0;
	/// Longest packet to @p to, from the IP header on; 0 when there is no way.
	virtual std::uint32_t route_mtu(const Address &to) const = 0;

	/// Takes the block over: headers and ICRC are complete.
	virtual void send(Block *b, const Address &to, std::uint16_t port) = 0;
	/// Sends what waits. A packet that the kernel does not take is lost, as on any link.
	virtual void flush() = 0;

	/// Fetches what has arrived, a batch at most; returns how many messages it was in. All
	/// packets of the last fetch must have been taken.
	virtual unsigned fetch() = 0;
	/// The next packet of what was fetched, with the headers that the core expects; the caller
	/// owns the block. Null when there are no more.
	virtual Block *next() = 0;

	/// Do packets come with LPH and NTH before the IP header? @ref Block::len counts from the
	/// IP header on in either case.
	virtual bool native() const { return false; }

	/// May packets to one peer leave as one message? Where that can be, from the beginning.
	virtual void set_segmentation(bool) {}
};

/// Large buffers for a socket, as far as the kernel gives them, which is in @p receive then:
/// bytes with the kernel's own share. False: errno.
bool grow_buffers(int fd, std::uint32_t &receive);

} // namespace uboe::inproc
