// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "sysfs.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "channel.hpp"

namespace uboe::uverbs {

namespace {

namespace fs = std::filesystem;

constexpr char verbs_class[] = "/sys/class/infiniband_verbs";
constexpr char device_nodes[] = "/dev/infiniband";

std::string first_word(const fs::path &file)
{
	std::string word;

	std::ifstream(file) >> word;
	return word;
}

/// Nothing unless it is a uboe device that speaks our ABI.
std::optional<DeviceName> identify(const fs::path &entry)
{
	DeviceName d{first_word(entry / "ibdev"),
		     (fs::path(device_nodes) / entry.filename()).string()};
	Channel channel;

	if (d.name.empty() || first_word(entry / "abi_version") != std::to_string(UBOE_ABI_VERSION))
		return std::nullopt;
	if (channel.open(d.path))
		return std::nullopt;
	return d;
}

} // namespace

std::vector<DeviceName> devices()
{
	std::vector<DeviceName> found;
	std::error_code none;

	for (const auto &entry : fs::directory_iterator(verbs_class, none))
		if (auto d = identify(entry.path()))
			found.push_back(std::move(*d));
	std::sort(found.begin(), found.end(),
		  [](const auto &a, const auto &b) { return a.name < b.name; });
	return found;
}

std::optional<DeviceName> find_device(const std::string &name)
{
	for (DeviceName &d : devices())
		if (d.name == name)
			return std::move(d);
	return std::nullopt;
}

} // namespace uboe::uverbs
