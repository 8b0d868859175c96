// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "interface.hpp"

#include <algorithm>
#include <cstring>

#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error.hpp"

namespace uboe::ub2e
{

namespace
{

class Ask
{
      public:
	explicit Ask(const std::string &name) : name_(name), fd_(socket(AF_INET, SOCK_DGRAM, 0))
	{
		if (fd_ < 0)
			fail_errno("socket");
		if (name.size() >= sizeof(request_.ifr_name))
			fail_errno("interface " + name, ENAMETOOLONG);
		std::copy(name.begin(), name.end(), request_.ifr_name);
	}
	~Ask()
	{
		close(fd_);
	}
	Ask(const Ask &) = delete;
	Ask &operator=(const Ask &) = delete;

	const ifreq &operator()(unsigned long what)
	{
		if (ioctl(fd_, what, &request_))
			fail_errno("interface " + name_);
		return request_;
	}

      private:
	std::string name_;
	int fd_;
	ifreq request_{};
};

} // namespace

Interface look_up(const std::string &name)
{
	Ask ask(name);
	Interface i{};

	i.ifindex = static_cast<std::uint32_t>(ask(SIOCGIFINDEX).ifr_ifindex);
	i.mtu = static_cast<std::uint32_t>(ask(SIOCGIFMTU).ifr_mtu);
	const ifreq &hw = ask(SIOCGIFHWADDR);
	if (hw.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		throw Failure("interface " + name + ": no Ethernet interface");
	std::memcpy(i.mac.data(), hw.ifr_hwaddr.sa_data, i.mac.size());
	if (!(ask(SIOCGIFFLAGS).ifr_flags & IFF_UP))
		throw Failure("interface " + name + ": is down");
	return i;
}

} // namespace uboe::ub2e
