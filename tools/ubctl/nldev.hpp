// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// RDMA devices of the kernel, as NLDEV tells of them, and which of them are UB devices.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netlink.hpp"

namespace ubctl
{

/// There is nothing to work on; the text says why.
class NoDevice : public std::runtime_error
{
      public:
	using std::runtime_error::runtime_error;
};

struct KernelDevice {
	std::uint32_t index = 0;
	std::string name;
	std::uint32_t ports = 0;
	std::optional<std::uint32_t> driver; // nothing: without uverbs nobody tells
	std::string firmware;
	std::string protocol;
	std::optional<std::uint64_t> guid;

	/// Known to be another driver's?
	bool is_foreign() const;
};

struct KernelPort {
	std::uint32_t index = 0;
	std::optional<std::uint8_t> state;
	std::optional<std::uint8_t> physical_state;
	std::string netdev; // empty: none, or in another network namespace
};

class Nldev
{
      public:
	/// Throws NoDevice when the kernel has no RDMA.
	Nldev();

	/// All RDMA devices that this network namespace sees.
	std::vector<KernelDevice> devices();
	/// UB devices, or the one device of that name, whatever it is. Throws NoDevice.
	std::vector<KernelDevice> select(const std::string &name);
	std::vector<KernelPort> ports(const KernelDevice &device);
	/// Of restrack, by its names: "qp", "cq", ...
	std::map<std::string, std::uint64_t> object_counts(const KernelDevice &device);
	/// Calls @p handler for each object: @p command is RDMA_NLDEV_CMD_RES_*_GET.
	void objects(const KernelDevice &device, rdma_nldev_command command, int table,
		     const Netlink::Handler &handler);
	using Counters = std::vector<std::pair<std::string, std::uint64_t>>;
	/// Hardware counters of a port; none when there are none.
	Counters counters(const KernelDevice &device, std::uint32_t port);

	Netlink &netlink()
	{
		return netlink_;
	}

      private:
	std::optional<std::uint32_t> driver_of(std::uint32_t index);
	/// Calls @p f; what fails as the device has just gone is not an error.
	template <class F> void while_there(const KernelDevice &device, F f);

	Netlink netlink_;
};

} // namespace ubctl
