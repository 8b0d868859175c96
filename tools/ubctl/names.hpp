// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Names of what the kernel tells as numbers. Those without a name are printed as such.
#pragma once

#include <cstdint>
#include <string>

namespace ubctl
{

std::string port_state_name(std::uint32_t value);
std::string physical_state_name(std::uint32_t value);
/// State of a queue pair as that of the jetty it is.
std::string jetty_state_name(std::uint32_t value);
std::string jetty_type_name(std::uint32_t value);
std::string jfr_type_name(std::uint32_t value);
/// What URMA calls the objects that restrack counts: "qp" is "jetties".
std::string object_name(const std::string &restrack);

} // namespace ubctl
