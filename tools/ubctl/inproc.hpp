// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Devices of liburma, of which those in the process are not the kernel's.
#pragma once

#include <string>

#include "table.hpp"

namespace ubctl
{

/// Rows like those of kernel devices, for what only liburma knows.
Rows urma_device_rows(const std::string &name, const std::vector<std::string> &kernel_devices);
/// Their EIDs.
Rows urma_eid_rows(const std::string &name, const std::vector<std::string> &kernel_devices);
/// Is it a device of liburma, and none of the kernel's?
bool is_in_process(const std::string &name);

} // namespace ubctl
