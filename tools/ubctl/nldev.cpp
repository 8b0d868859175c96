// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "nldev.hpp"

#include <algorithm>
#include <cerrno>

#include <rdma/uboe-abi.h>

namespace ubctl
{

namespace
{

Netlink connect()
try {
	return Netlink();
} catch (const NetlinkError &e) {
	if (e.code() == EPROTONOSUPPORT || e.code() == EAFNOSUPPORT)
		throw NoDevice("no kernel device: this kernel has no RDMA (ib_core is not loaded)");
	throw;
}

Request request_for(const KernelDevice &device)
{
	return Request().u32(RDMA_NLDEV_ATTR_DEV_INDEX, device.index);
}

/// The same for objects: without details the kernel leaves out jetties that are not RC.
Request objects_of(const KernelDevice &device)
{
	return request_for(device).bytes(RDMA_NLDEV_ATTR_DRIVER_DETAILS, { 1 });
}

/// The entries of @p table that have both @p name and @p value, all of them attributes.
Nldev::Counters named_numbers(const Attributes &a, int table, int name, int value)
{
	Nldev::Counters all;

	for (const nlattr *child : a.children(table)) {
		const Attributes entry(child);
		const auto text = entry.text(name);
		const auto n = entry.u64(value);

		if (text && n)
			all.emplace_back(*text, *n);
	}
	return all;
}

} // namespace

bool KernelDevice::is_foreign() const
{
	return driver && *driver != UBOE_DRIVER_ID;
}

Nldev::Nldev() : netlink_(connect())
{
}

std::vector<KernelDevice> Nldev::devices()
{
	std::vector<KernelDevice> all;

	netlink_.dump(RDMA_NLDEV_CMD_GET, {}, [&all](const Attributes &a) {
		const auto index = a.u32(RDMA_NLDEV_ATTR_DEV_INDEX);
		const auto name = a.text(RDMA_NLDEV_ATTR_DEV_NAME);

		if (!index || !name)
			return;
		KernelDevice d;

		d.index = *index;
		d.name = *name;
		d.ports = a.u32(RDMA_NLDEV_ATTR_PORT_INDEX).value_or(0);
		d.firmware = a.text(RDMA_NLDEV_ATTR_FW_VERSION).value_or("");
		d.protocol = a.text(RDMA_NLDEV_ATTR_DEV_PROTOCOL).value_or("");
		d.guid = a.u64(RDMA_NLDEV_ATTR_NODE_GUID);
		all.push_back(d);
	});
	for (KernelDevice &d : all)
		d.driver = driver_of(d.index);
	return all;
}

std::optional<std::uint32_t> Nldev::driver_of(std::uint32_t index)
try {
	std::optional<std::uint32_t> driver;

	netlink_.get(RDMA_NLDEV_CMD_GET_CHARDEV,
		     Request()
			     .u32(RDMA_NLDEV_ATTR_DEV_INDEX, index)
			     .text(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs"),
		     [&driver](const Attributes &a) {
			     driver = a.u32(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID);
		     });
	return driver;
} catch (const NetlinkError &) {
	return std::nullopt; // ib_uverbs is not loaded, or the device has gone
}

std::vector<KernelDevice> Nldev::select(const std::string &name)
{
	std::vector<KernelDevice> all = devices();

	std::erase_if(all, [&name](const KernelDevice &d) {
		return name.empty() ? d.is_foreign() : d.name != name;
	});
	if (!all.empty())
		return all;
	if (!name.empty())
		throw NoDevice("no device " + name + " ('ubctl dev' lists those that there are)");
	throw NoDevice("no kernel device: 'ubctl link add NAME netdev INTERFACE' makes one");
}

template <class F> void Nldev::while_there(const KernelDevice &device, F f)
try {
	f();
} catch (const NetlinkError &) {
	const auto all = devices();

	if (std::any_of(all.begin(), all.end(),
			[&device](const KernelDevice &d) { return d.index == device.index; }))
		throw;
}

std::vector<KernelPort> Nldev::ports(const KernelDevice &device)
{
	std::vector<KernelPort> all;

	while_there(device, [&] {
		netlink_.dump(RDMA_NLDEV_CMD_PORT_GET, request_for(device),
			      [&all](const Attributes &a) {
				      KernelPort p;

				      p.index = a.u32(RDMA_NLDEV_ATTR_PORT_INDEX).value_or(0);
				      p.state = a.u8(RDMA_NLDEV_ATTR_PORT_STATE);
				      p.physical_state = a.u8(RDMA_NLDEV_ATTR_PORT_PHYS_STATE);
				      p.netdev = a.text(RDMA_NLDEV_ATTR_NDEV_NAME).value_or("");
				      all.push_back(p);
			      });
	});
	return all;
}

std::map<std::string, std::uint64_t> Nldev::object_counts(const KernelDevice &device)
{
	std::map<std::string, std::uint64_t> counts;

	while_there(device, [&] {
		netlink_.get(RDMA_NLDEV_CMD_RES_GET, objects_of(device),
			     [&counts](const Attributes &a) {
				     for (const auto &[name, n] :
					  named_numbers(a, RDMA_NLDEV_ATTR_RES_SUMMARY,
							RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME,
							RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR))
					     counts[name] = n;
			     });
	});
	return counts;
}

void Nldev::objects(const KernelDevice &device, rdma_nldev_command command, int table,
		    const Netlink::Handler &handler)
{
	while_there(device, [&] {
		netlink_.dump(command, objects_of(device), [&](const Attributes &a) {
			for (const nlattr *child : a.children(table))
				handler(Attributes(child));
		});
	});
}

Nldev::Counters Nldev::counters(const KernelDevice &device, std::uint32_t port)
{
	Counters all;

	while_there(device, [&] {
		netlink_.get(RDMA_NLDEV_CMD_STAT_GET,
			     request_for(device).u32(RDMA_NLDEV_ATTR_PORT_INDEX, port),
			     [&all](const Attributes &a) {
				     all = named_numbers(
					     a, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS,
					     RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
					     RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
			     });
	});
	return all;
}

} // namespace ubctl
