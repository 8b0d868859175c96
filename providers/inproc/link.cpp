// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "link.hpp"

#include <sys/socket.h>

namespace uboe::inproc {

bool grow_buffers(int fd, std::uint32_t &receive)
{
	const int wanted = 4 << 20; // bytes
	socklen_t len = sizeof(receive);
	auto set = [&](int name) {
		return !setsockopt(fd, SOL_SOCKET, name, &wanted, sizeof(wanted));
	};

	// the privileged form first: it is not limited by net.core.rmem_max
	if (!set(SO_RCVBUFFORCE))
		set(SO_RCVBUF);
	if (!set(SO_SNDBUFFORCE))
		set(SO_SNDBUF);
	return !getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, &len);
}

} // namespace uboe::inproc
