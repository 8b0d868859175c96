// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Output of a client: lines as messages come back and statistics, or JSON at the end.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "target.hpp"

namespace ubping
{

class Report
{
      public:
	explicit Report(const Options &options) : options_(options)
	{
	}

	/// @p index: of the target in Options::targets
	void connected(std::size_t index, const Target &target);
	void reply(std::size_t index, const Target &target, const Reply &reply);
	void failed(std::size_t index, const std::string &why);
	/// All targets; null for those that could not be connected.
	void end(const std::vector<std::unique_ptr<Target>> &targets, double ms);

      private:
	struct Record {
		std::vector<Reply> replies; // for JSON
		std::string error;
	};

	Record &record(std::size_t index);
	nlohmann::ordered_json to_json(std::size_t index, const Target *target, double ms);

	const Options &options_;
	std::vector<Record> records_;
};

} // namespace ubping
