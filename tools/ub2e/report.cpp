// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <nlohmann/json.hpp> // before the core's macros

#include "report.hpp"

#include <cstdio>

namespace uboe::ub2e
{

std::string as_text(const Counters &counters, const std::vector<std::string> &names)
{
	std::string out;
	char line[160];

	for (std::uint32_t port = 0; port < names.size(); ++port)
		for (unsigned fate = 0; fate < UB2E_FATES; ++fate)
			if (const auto n = counters.get(port, fate)) {
				std::snprintf(line, sizeof(line), "%-15s %-16s %llu\n",
					      names[port].c_str(), fate_name(fate),
					      static_cast<unsigned long long>(n));
				out += line;
			}
	return out;
}

std::string as_json(const Counters &counters, const std::vector<std::string> &names)
{
	nlohmann::ordered_json ports;

	for (std::uint32_t port = 0; port < names.size(); ++port)
		for (unsigned fate = 0; fate < UB2E_FATES; ++fate)
			ports[names[port]][fate_name(fate)] = counters.get(port, fate);
	return nlohmann::ordered_json{ { "ports", ports } }.dump() + '\n';
}

std::string StatusPage::next(const Counters &counters, const std::vector<std::string> &names,
			     double seconds)
{
	std::string out = "\033[H\033[J"; // the top of an empty screen
	char line[200];

	before_.resize(names.size() * UB2E_FATES);
	auto rate = [&](std::uint32_t port, unsigned fate) {
		std::uint64_t &before = before_[port * UB2E_FATES + fate];
		const std::uint64_t now = counters.get(port, fate);
		const double r = static_cast<double>(now - before) / seconds;

		before = now;
		return r;
	};
	std::snprintf(line, sizeof(line), "%-15s %12s %10s %12s %10s %10s %10s  %s\n", "port",
		      "in pkt/s", "in Mb/s", "out pkt/s", "out Mb/s", "marks/s", "drops/s",
		      "drops so far");
	out += line;
	for (std::uint32_t port = 0; port < names.size(); ++port) {
		std::string reasons;
		double drops = 0;

		for (unsigned fate = UB2E_DROP_FIRST; fate < UB2E_FATES; ++fate) {
			drops += rate(port, fate);
			if (const auto n = counters.get(port, fate))
				reasons += std::string(fate_name(fate) + sizeof("drop_") - 1) +
					   ' ' + std::to_string(n) + "  ";
		}
		const double in = rate(port, UB2E_FORWARDED), in_bytes = rate(port, UB2E_RX_BYTES);
		const double tx = rate(port, UB2E_TX), tx_bytes = rate(port, UB2E_TX_BYTES);
		const double marks = rate(port, UB2E_MARKED_LIGHT) +
				     rate(port, UB2E_MARKED_SEVERE) + rate(port, UB2E_CAQM_MARKED);

		std::snprintf(line, sizeof(line),
			      "%-15s %12.0f %10.1f %12.0f %10.1f %10.0f %10.0f  ",
			      names[port].c_str(), in, in_bytes * 8e-6, tx, tx_bytes * 8e-6, marks,
			      drops);
		out += line + reasons + '\n';
	}
	return out;
}

} // namespace uboe::ub2e
