// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A stream socket that carries lines of text: how two programs agree on queue
// pairs and memory before RDMA begins, and on results afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

struct sockaddr_storage;

namespace uboe
{

/// Owns a file descriptor.
class Fd
{
      public:
	Fd() = default;
	explicit Fd(int fd) : fd_(fd)
	{
	}
	Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1))
	{
	}
	Fd &operator=(Fd &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}
	~Fd();

	int get() const
	{
		return fd_;
	}
	explicit operator bool() const
	{
		return fd_ >= 0;
	}
	void reset()
	{
		*this = Fd();
	}

      private:
	int fd_ = -1;
};

class Stream
{
      public:
	Stream() = default;
	explicit Stream(Fd fd) : fd_(std::move(fd))
	{
	}

	/// Waits for one TCP connection to @p port of any local address.
	static Stream accept_one(std::uint16_t port, int timeout_s);
	/// Connects, retrying while nobody listens yet. @p local may be empty.
	static Stream connect_to(const std::string &host, std::uint16_t port,
				 const std::string &local, int timeout_s);
	/// Two connected ends in this machine.
	static std::pair<Stream, Stream> pair();

	void send_line(const std::string &line);
	/// The next line without its end; throws at the end of the stream.
	std::string receive_line();
	/// The rest of a line that has to begin with @p word.
	std::string expect(const std::string &word);

	/// Own address of the connection as text, without a port.
	std::string local_address() const;
	int fd() const
	{
		return fd_.get();
	}

      private:
	Fd fd_;
	std::string buffer_;
};

/// A listening TCP socket on @p address (empty: any).
Fd tcp_listen(const std::string &address, std::uint16_t port);
/// Text of an IPv4 or IPv6 address; an IPv4-mapped one is given as IPv4.
std::string address_text(const sockaddr_storage &address);

} // namespace uboe
