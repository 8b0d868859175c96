// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The counters for Prometheus, by HTTP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine.hpp"

namespace uboe::ub2e
{

class Metrics
{
      public:
	/// Serves http://ADDRESS:PORT/metrics. @p names: of the ports. Throws Failure when it cannot.
	Metrics(const std::string &address, const Counters &counters,
		std::vector<std::string> names);
	~Metrics();
	Metrics(const Metrics &) = delete;
	Metrics &operator=(const Metrics &) = delete;

	void reloaded(bool good);

      private:
	struct Server;
	std::shared_ptr<Server> server_; // of which the web server keeps a weak reference
};

} // namespace uboe::ub2e
