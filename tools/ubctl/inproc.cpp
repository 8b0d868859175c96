// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "inproc.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <urma/urma_types_str.h>

#include <uboe/urma.hpp>

namespace ubctl
{

namespace
{

namespace urma = uboe::urma;

void drop(int, char *)
{
}

/// Devices that are not among the kernel's. The library reports what is missing to us,
/// not to the user, who did not ask it.
std::vector<urma::Device> devices(const std::string &name,
				  const std::vector<std::string> &kernel_devices)
{
	std::vector<urma::Device> all;

	if (!std::getenv("URMA_LOG_LEVEL"))
		urma_register_log_func(drop);
	for (const urma::Device &d : urma::DeviceList()) {
		const std::string own(d.name());
		// one that the kernel has as well is told of by its place in sysfs, or its name
		const auto path = std::filesystem::path(d.native()->path).filename().string();
		const auto is_it = [&](const std::string &k) { return k == own || k == path; };

		if ((name.empty() || own == name) &&
		    std::none_of(kernel_devices.begin(), kernel_devices.end(), is_it))
			all.push_back(d);
	}
	return all;
}

std::string state_name(urma_port_state_t state)
{
	if (state > URMA_PORT_ACTIVE_DEFER)
		return std::to_string(state);
	std::string name = urma_port_state_to_string(state);
	const std::string prefix = "URMA_PORT_";

	return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

} // namespace

Rows urma_device_rows(const std::string &name, const std::vector<std::string> &kernel_devices)
{
	Rows rows;

	for (const urma::Device &d : devices(name, kernel_devices)) {
		const std::size_t eids = d.eids().size();
		const urma_device_attr_t a = d.attributes();
		const urma_device_cap_t &cap = a.dev_cap;
		Json row{ { "device", std::string(d.name()) }, { "kind", "in-process" } };

		// without an address its port leads nowhere
		row["state"] = eids && a.port_cnt ? state_name(a.port_attr[0].state) : "DOWN";
		row["eids"] = eids;
		row["limits"] = { { "jetties", cap.max_jetty },
				  { "jfcs", cap.max_jfc },
				  { "jfrs", cap.max_jfr },
				  { "jfs_depth", cap.max_jfs_depth },
				  { "jfc_depth", cap.max_jfc_depth },
				  { "jfr_depth", cap.max_jfr_depth },
				  { "message_bytes", cap.max_msg_size },
				  { "write_bytes", cap.max_write_size } };
		rows.push_back(row);
	}
	return rows;
}

Rows urma_eid_rows(const std::string &name, const std::vector<std::string> &kernel_devices)
{
	Rows rows;

	for (const urma::Device &d : devices(name, kernel_devices))
		for (const auto &[eid, index] : d.eids())
			rows.push_back({ { "device", std::string(d.name()) },
					 { "index", index },
					 { "eid", eid.text() } });
	return rows;
}

bool is_in_process(const std::string &name)
{
	return !devices(name, {}).empty();
}

} // namespace ubctl
