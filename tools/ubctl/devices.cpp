// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "commands.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include <uboe/urma.hpp>

#include "inproc.hpp"
#include "names.hpp"

namespace ubctl
{

namespace
{

namespace fs = std::filesystem;

const std::vector<Column> device_columns{
	{ "DEVICE", "/device" },
	{ "KIND", "/kind" },
	{ "STATE", "/state" },
	{ "NETDEV", "/netdev" },
	{ "EIDS", "/eids" },
	{ "JETTIES", "/objects/jetties" },
	{ "JFCS", "/objects/jfcs" },
	{ "JFRS", "/objects/jfrs" },
	{ "SEGMENTS", "/objects/segments" },
};
const std::vector<Column> eid_columns{
	{ "DEVICE", "/device" },
	{ "INDEX", "/index" },
	{ "EID", "/eid" },
	{ "NETDEV", "/netdev" },
};

/// The first line of a file in sysfs. Nothing for an entry that is not in use: it cannot
/// be read. There are hundreds of them, so no stream is made for each.
std::string first_line(const fs::path &file)
{
	char room[128];
	const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return {};
	const ssize_t n = read(fd, room, sizeof(room));

	close(fd);
	const std::string_view text(room, n > 0 ? static_cast<std::size_t>(n) : 0);

	return std::string(text.substr(0, text.find('\n')));
}

/// "0000:...:ffff:0a01:0001" of sysfs. Nothing: not in use.
std::optional<uboe::urma::Eid> parse_gid(const std::string &text)
{
	const auto eid = uboe::urma::Eid::parse(text);

	return eid && *eid != uboe::urma::Eid{} ? eid : std::nullopt;
}

Rows eids_of_port(const KernelDevice &d, std::uint32_t port)
{
	const fs::path folder =
		fs::path("/sys/class/infiniband") / d.name / "ports" / std::to_string(port);
	std::vector<unsigned> indices;
	std::error_code none;
	Rows rows;

	for (const auto &entry : fs::directory_iterator(folder / "gids", none)) {
		const std::string name = entry.path().filename();
		unsigned index = 0;

		if (std::from_chars(name.data(), name.data() + name.size(), index).ec ==
		    std::errc())
			indices.push_back(index);
	}
	std::sort(indices.begin(), indices.end());
	for (unsigned index : indices) {
		const std::string number = std::to_string(index);
		const auto eid = parse_gid(first_line(folder / "gids" / number));

		if (!eid)
			continue;
		Json row{ { "device", d.name }, { "index", index }, { "eid", eid->text() } };
		const std::string netdev = first_line(folder / "gid_attrs" / "ndevs" / number);

		if (!netdev.empty())
			row["netdev"] = netdev;
		row["port"] = port;
		rows.push_back(row);
	}
	return rows;
}

Rows eids_of(const KernelDevice &d)
{
	Rows all;

	for (std::uint32_t port = 1; port <= d.ports; ++port)
		for (Json &row : eids_of_port(d, port))
			all.push_back(std::move(row));
	return all;
}

Json device_row(Nldev &nldev, const KernelDevice &d)
{
	const std::vector<KernelPort> ports = nldev.ports(d);
	Json row{ { "device", d.name }, { "kind", "kernel" } };

	if (!ports.empty())
		describe_port(row, ports.front());
	row["eids"] = eids_of(d).size();
	for (const auto &[name, count] : nldev.object_counts(d))
		row["objects"][object_name(name)] = count;
	row["index"] = d.index;
	row["ports"] = d.ports;
	if (d.driver)
		row["driver_id"] = *d.driver;
	row["firmware"] = d.firmware;
	row["protocol"] = d.protocol;
	if (d.guid)
		row["guid"] = hex(*d.guid);
	return row;
}

/// The kernel's UB devices, or the one of that name; none is no error here.
std::vector<KernelDevice> kernel_devices_or_none(std::optional<Nldev> &nldev,
						 const std::string &name)
try {
	nldev.emplace();
	return nldev->select(name);
} catch (const NoDevice &) {
	return {};
}

/// All names, so that none is told of twice.
std::vector<std::string> kernel_names(std::optional<Nldev> &nldev)
{
	std::vector<std::string> names;

	if (nldev)
		for (const KernelDevice &d : nldev->devices())
			names.push_back(d.name);
	return names;
}

void explain_in_process(const std::string &name)
{
	if (!name.empty() && is_in_process(name))
		throw NoDevice(name + " is in the process of each program that uses it: there is "
				      "nothing to see from outside");
}

void check_found(const Rows &rows, const std::string &name)
{
	if (!rows.empty())
		return;
	if (!name.empty())
		throw NoDevice("no device " + name + " ('ubctl dev' lists those that there are)");
	throw NoDevice("no device: neither liburma nor the kernel has one");
}

} // namespace

std::string shown_device(const Words &words)
{
	const std::size_t from = !words.empty() && words.front() == "show";

	if (words.size() > from + 1)
		throw Usage("'" + words[from + 1] + "': one device, or none for all of them");
	return words.size() > from ? words[from] : "";
}

Nldev connect_for(const std::string &device)
try {
	return Nldev();
} catch (const NoDevice &) {
	explain_in_process(device);
	throw;
}

std::vector<KernelDevice> kernel_devices(Nldev &nldev, const std::string &name)
try {
	return nldev.select(name);
} catch (const NoDevice &) {
	explain_in_process(name);
	throw;
}

void describe_port(Json &row, const KernelPort &port)
{
	if (port.state)
		row["state"] = port_state_name(*port.state);
	if (port.physical_state)
		row["physical_state"] = physical_state_name(*port.physical_state);
	if (!port.netdev.empty())
		row["netdev"] = port.netdev;
}

void show_devices(const Output &output, const std::string &device)
{
	std::optional<Nldev> nldev;
	Rows rows;

	for (const KernelDevice &d : kernel_devices_or_none(nldev, device))
		rows.push_back(device_row(*nldev, d));
	for (Json &row : urma_device_rows(device, kernel_names(nldev)))
		rows.push_back(std::move(row));
	check_found(rows, device);
	print(output, rows, device_columns);
}

void show_eids(const Output &output, const std::string &device)
{
	std::optional<Nldev> nldev;
	Rows rows;
	bool found = false;

	for (const KernelDevice &d : kernel_devices_or_none(nldev, device)) {
		found = true;
		for (Json &row : eids_of(d))
			rows.push_back(std::move(row));
	}
	const auto names = kernel_names(nldev);

	if (!found)
		check_found(urma_device_rows(device, names), device);
	for (Json &row : urma_eid_rows(device, names))
		rows.push_back(std::move(row));
	print(output, rows, eid_columns);
}

} // namespace ubctl
