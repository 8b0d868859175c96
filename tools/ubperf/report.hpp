// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#pragma once

#include <vector>

#include "measure.hpp"

namespace ubperf
{

/// Prints a table as results come, or JSON at the end.
class Report
{
      public:
	explicit Report(const Options &options);
	void add(const Result &r);
	void end();

      private:
	const Options &options_;
	std::vector<Result> results_;
};

} // namespace ubperf
