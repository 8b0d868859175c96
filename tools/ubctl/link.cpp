// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "commands.hpp"

#include <cerrno>

#include <net/if.h>

namespace ubctl
{

namespace
{

const std::vector<Column> columns{
	{ "DEVICE", "/device" },	   { "PORT", "/port" },	    { "STATE", "/state" },
	{ "PHYSICAL", "/physical_state" }, { "NETDEV", "/netdev" },
};

void show(const Output &output, const std::string &device)
{
	Nldev nldev = connect_for(device);
	Rows rows;

	for (const KernelDevice &d : kernel_devices(nldev, device)) {
		for (const KernelPort &p : nldev.ports(d)) {
			Json row{ { "device", d.name }, { "port", p.index } };

			describe_port(row, p);
			rows.push_back(row);
		}
	}
	print(output, rows, columns);
}

void check_permission(const NetlinkError &e)
{
	if (e.code() == EPERM || e.code() == EACCES)
		throw std::runtime_error(
			"no permission: CAP_NET_ADMIN of the machine, as root has, is "
			"needed");
}

struct Wish {
	std::string name;
	std::string netdev;
	std::string type = "uboe";
};

/// NAME netdev INTERFACE [type TYPE], the latter two in any order.
Wish parse_add(const Words &words)
{
	const char usage[] = "link add NAME netdev INTERFACE [type TYPE]";
	Wish w;

	if (words.size() % 2 == 0)
		throw Usage(usage);
	w.name = words[0];
	for (std::size_t i = 1; i < words.size(); i += 2) {
		if (words[i] == "netdev")
			w.netdev = words[i + 1];
		else if (words[i] == "type")
			w.type = words[i + 1];
		else
			throw Usage("'" + words[i] + "': " + usage);
	}
	if (w.netdev.empty() || w.name.empty())
		throw Usage(usage);
	if (w.name.size() >= 64 || w.name.find_first_of("/%") != std::string::npos)
		throw Usage("'" + w.name + "': a name has less than 64 characters, no / and no %");
	if (w.netdev.size() >= IF_NAMESIZE)
		throw Usage("'" + w.netdev + "': longer than the name of an interface");
	return w;
}

/// What the kernel says by one number may have several reasons.
std::string reason(const Wish &w, const NetlinkError &e)
{
	switch (e.code()) {
	case ENODEV:
		return "no interface " + w.netdev;
	case EEXIST:
		return w.netdev + " has a device, or the name " + w.name + " is taken";
	case EINVAL:
		return "the kernel knows no devices of type " + w.type +
		       " (is its module loaded?), or " + w.netdev +
		       " cannot have one (its MTU is below 1100, say; dmesg tells)";
	case EOPNOTSUPP:
		return w.netdev + " is neither Ethernet nor loopback";
	default:
		return e.what();
	}
}

void add(const Words &words)
{
	const Wish w = parse_add(words);
	Nldev nldev;

	try {
		nldev.netlink().execute(RDMA_NLDEV_CMD_NEWLINK,
					Request()
						.text(RDMA_NLDEV_ATTR_DEV_NAME, w.name)
						.text(RDMA_NLDEV_ATTR_LINK_TYPE, w.type)
						.text(RDMA_NLDEV_ATTR_NDEV_NAME, w.netdev));
	} catch (const NetlinkError &e) {
		check_permission(e);
		throw std::runtime_error("add " + w.name + ": " + reason(w, e));
	}
}

void remove(const Words &words)
{
	if (words.size() != 1)
		throw Usage("link delete NAME");
	Nldev nldev = connect_for(words[0]);
	const KernelDevice d = kernel_devices(nldev, words[0]).front();

	if (d.is_foreign())
		throw std::runtime_error("delete " + d.name + ": it is no uboe device");
	try {
		nldev.netlink().execute(RDMA_NLDEV_CMD_DELLINK,
					Request().u32(RDMA_NLDEV_ATTR_DEV_INDEX, d.index));
	} catch (const NetlinkError &e) {
		check_permission(e);
		throw std::runtime_error("delete " + d.name + ": " + e.what());
	}
}

} // namespace

void link(const Output &output, const Words &words)
{
	const std::string what = words.empty() ? "show" : words[0];
	const Words rest(words.begin() + !words.empty(), words.end());

	if (what == "add")
		add(rest);
	else if (what == "delete" || what == "del")
		remove(rest);
	else
		show(output, shown_device(words));
}

} // namespace ubctl
