// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "stream.hpp"

#include <chrono>
#include <memory>
#include <thread>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error.hpp"

namespace uboe
{

namespace
{

using Clock = std::chrono::steady_clock;
using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList resolve(const std::string &host, std::uint16_t port, int flags)
{
	addrinfo hints = {};
	addrinfo *list = nullptr;

	hints.ai_family = AF_UNSPEC;
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = flags | AI_NUMERICSERV;
	const std::string service = std::to_string(port);
	const int error =
		getaddrinfo(host.empty() ? nullptr : host.c_str(), service.c_str(), &hints, &list);
	if (error)
		throw Failure("address '" + host + "': " + gai_strerror(error));
	return { list, freeaddrinfo };
}

void no_delay(int fd)
{
	const int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

} // namespace

Fd::~Fd()
{
	if (fd_ >= 0)
		close(fd_);
}

Fd tcp_listen(const std::string &address, std::uint16_t port)
{
	const AddressList list =
		resolve(address.empty() ? "::" : address, port, AI_PASSIVE | AI_NUMERICHOST);
	Fd fd(socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
	const int one = 1, zero = 0;

	require(bool(fd), "socket");
	setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (list->ai_family == AF_INET6)
		setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (bind(fd.get(), list->ai_addr, list->ai_addrlen) || listen(fd.get(), 4))
		fail_errno("listen on TCP port " + std::to_string(port));
	return fd;
}

Stream Stream::accept_one(std::uint16_t port, int timeout_s)
{
	const Fd listener = tcp_listen("", port);
	pollfd ready = { listener.get(), POLLIN, 0 };

	const int count = poll(&ready, 1, timeout_s * 1000);
	require(count >= 0, "poll");
	if (count == 0)
		throw Failure("nobody connected to TCP port " + std::to_string(port) + " in " +
			      std::to_string(timeout_s) + " s");
	Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
	require(bool(fd), "accept");
	no_delay(fd.get());
	return Stream(std::move(fd));
}

Stream Stream::connect_to(const std::string &host, std::uint16_t port, const std::string &local,
			  int timeout_s)
{
	const AddressList list = resolve(host, port, 0);
	const auto deadline = Clock::now() + std::chrono::seconds(timeout_s);

	for (;;) {
		Fd fd(socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
		require(bool(fd), "socket");
		if (!local.empty()) {
			const AddressList from = resolve(local, 0, AI_NUMERICHOST);
			if (bind(fd.get(), from->ai_addr, from->ai_addrlen))
				fail_errno("bind to " + local);
		}
		if (connect(fd.get(), list->ai_addr, list->ai_addrlen) == 0) {
			no_delay(fd.get());
			return Stream(std::move(fd));
		}
		if (Clock::now() > deadline)
			fail_errno("connect to " + host + " TCP port " + std::to_string(port));
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
	}
}

std::pair<Stream, Stream> Stream::pair()
{
	int fds[2];

	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0, "socketpair");
	return { Stream(Fd(fds[0])), Stream(Fd(fds[1])) };
}

void Stream::send_line(const std::string &line)
{
	const std::string data = line + "\n";
	std::size_t done = 0;

	while (done < data.size()) {
		const ssize_t n =
			send(fd_.get(), data.data() + done, data.size() - done, MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR)
			fail_errno("send to the other side");
		if (n > 0)
			done += static_cast<std::size_t>(n);
	}
}

std::string Stream::receive_line()
{
	std::size_t end;

	while ((end = buffer_.find('\n')) == std::string::npos) {
		char chunk[512];
		const ssize_t n = read(fd_.get(), chunk, sizeof(chunk));
		if (n == 0)
			throw Failure("the other side closed the connection");
		if (n < 0 && errno != EINTR)
			fail_errno("receive from the other side");
		if (n > 0)
			buffer_.append(chunk, static_cast<std::size_t>(n));
		if (buffer_.size() > 65536)
			throw Failure("the other side sends no lines");
	}
	std::string line = buffer_.substr(0, end);
	buffer_.erase(0, end + 1);
	return line;
}

std::string Stream::expect(const std::string &word)
{
	const std::string line = receive_line();

	if (line == word)
		return {};
	if (line.compare(0, word.size() + 1, word + " ") != 0)
		throw Failure("the other side said '" + line + "', expected '" + word + "'");
	return line.substr(word.size() + 1);
}

std::string Stream::local_address() const
{
	sockaddr_storage address = {};
	socklen_t size = sizeof(address);

	require(getsockname(fd_.get(), reinterpret_cast<sockaddr *>(&address), &size) == 0,
		"getsockname");
	return address_text(address);
}

std::string address_text(const sockaddr_storage &address)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (address.ss_family == AF_INET) {
		const auto &v4 = reinterpret_cast<const sockaddr_in &>(address);
		inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
	} else if (address.ss_family == AF_INET6) {
		const auto &v6 = reinterpret_cast<const sockaddr_in6 &>(address);
		if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
			inet_ntop(AF_INET, v6.sin6_addr.s6_addr + 12, text, sizeof(text));
		else
			inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
	}
	return text;
}

} // namespace uboe
