// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Which uboe devices the kernel has.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace uboe::uverbs {

struct DeviceName {
	std::string name; // uboe0
	std::string path; // /dev/infiniband/uverbs0
};

/// Devices whose kernel ABI is ours and that this process may open, by name.
std::vector<DeviceName> devices();
/// The one with this name.
std::optional<DeviceName> find_device(const std::string &name);

} // namespace uboe::uverbs
