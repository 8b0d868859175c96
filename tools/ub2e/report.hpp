// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The counters as text: a table, JSON, or a page of the terminal that renews itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine.hpp"

namespace uboe::ub2e
{

/// Counters that are not zero, by port.
std::string as_text(const Counters &counters, const std::vector<std::string> &names);
/// {"ports": {"NAME": {"forwarded": 1, ...}}}, all counters.
std::string as_json(const Counters &counters, const std::vector<std::string> &names);

class StatusPage
{
      public:
	/// Text that replaces the page before it: rates since then, and drops.
	std::string next(const Counters &counters, const std::vector<std::string> &names,
			 double seconds);

      private:
	std::vector<std::uint64_t> before_;
};

} // namespace uboe::ub2e
