// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "names.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace ubctl
{

namespace
{

struct Name {
	std::uint32_t value;
	const char *text;
};

// <rdma/ib_verbs.h>: these numbers are the kernel's ABI by way of netlink
constexpr Name port_states[] = { { 0, "NOP" },	 { 1, "DOWN" },	  { 2, "INIT" },
				 { 3, "ARMED" }, { 4, "ACTIVE" }, { 5, "ACTIVE_DEFER" } };
constexpr Name physical_states[] = { { 1, "SLEEP" },	{ 2, "POLLING" }, { 3, "DISABLED" },
				     { 4, "TRAINING" }, { 5, "LINK_UP" }, { 6, "ERROR_RECOVERY" },
				     { 7, "PHY_TEST" } };
constexpr Name jetty_states[] = { { 0, "RESET" },   { 1, "INIT" }, { 2, "RTR" },  { 3, "READY" },
				  { 4, "SUSPEND" }, { 5, "SQE" },  { 6, "ERROR" } };
constexpr Name jetty_types[] = { { 0, "SMI" },	   { 1, "GSI" },      { 2, "RC" },
				 { 3, "UC" },	   { 4, "UD" },	      { 8, "RAW" },
				 { 9, "XRC_INI" }, { 10, "XRC_TGT" }, { 255, "DRIVER" } };
constexpr Name jfr_types[] = { { 0, "BASIC" }, { 1, "XRC" }, { 2, "TM" } };

struct ObjectName {
	const char *restrack;
	const char *text;
};
constexpr ObjectName objects[] = { { "qp", "jetties" },	 { "cq", "jfcs" },	{ "srq", "jfrs" },
				   { "mr", "segments" }, { "ctx", "contexts" }, { "pd", "pds" } };

std::string name_in(std::span<const Name> table, std::uint32_t value)
{
	const auto it = std::find_if(table.begin(), table.end(),
				     [value](const Name &n) { return n.value == value; });

	return it == table.end() ? std::to_string(value) : it->text;
}

} // namespace

std::string port_state_name(std::uint32_t value)
{
	return name_in(port_states, value);
}

std::string physical_state_name(std::uint32_t value)
{
	return name_in(physical_states, value);
}

std::string jetty_state_name(std::uint32_t value)
{
	return name_in(jetty_states, value);
}

std::string jetty_type_name(std::uint32_t value)
{
	return name_in(jetty_types, value);
}

std::string jfr_type_name(std::uint32_t value)
{
	return name_in(jfr_types, value);
}

std::string object_name(const std::string &restrack)
{
	for (const ObjectName &o : objects)
		if (restrack == o.restrack)
			return o.text;
	return restrack;
}

} // namespace ubctl
