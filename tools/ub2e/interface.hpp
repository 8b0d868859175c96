// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What the kernel knows of a network interface.
#pragma once

#include <string>

#include "tables.hpp"

namespace uboe::ub2e
{

/// Throws Failure, naming the interface: there is none of the name, it is down or no Ethernet.
Interface look_up(const std::string &name);

} // namespace uboe::ub2e
