// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include <nlohmann/json.hpp>

namespace ubperf
{

namespace
{

double percentile(const Result &r, double p)
{
	const std::size_t n = r.latencies.size();
	const auto at = static_cast<std::size_t>(std::ceil(p / 100 * static_cast<double>(n)));

	return r.latencies[std::clamp<std::size_t>(at, 1, n) - 1];
}

double rate(const Result &r)
{
	return static_cast<double>(r.messages) / r.seconds;
}

double mib(const Result &r)
{
	return rate(r) * r.size / (1 << 20);
}

} // namespace

Report::Report(const Options &options) : options_(options)
{
	if (options_.json)
		return;
	if (options_.measure == Measure::latency)
		std::printf("%10s %10s %10s %10s %10s %10s %10s   microseconds, %s\n", "bytes",
			    "messages", "least", "median", "99 %", "99.9 %", "most",
			    name_of(options_.operation));
	else
		std::printf("%10s %10s %12s %14s   %s, %u jetties, %u in flight, lists of %u%s\n",
			    "bytes", "messages", "MiB/s", "messages/s", name_of(options_.operation),
			    options_.jetties, options_.depth, options_.list,
			    options_.bidirectional ? ", both directions" : "");
}

void Report::add(const Result &r)
{
	results_.push_back(r);
	if (options_.json)
		return;
	if (options_.measure == Measure::latency)
		std::printf("%10u %10llu %10.2f %10.2f %10.2f %10.2f %10.2f\n", r.size,
			    static_cast<unsigned long long>(r.messages), r.latencies.front(),
			    percentile(r, 50), percentile(r, 99), percentile(r, 99.9),
			    r.latencies.back());
	else
		std::printf("%10u %10llu %12.1f %14.0f\n", r.size,
			    static_cast<unsigned long long>(r.messages), mib(r), rate(r));
	std::fflush(stdout);
}

void Report::end()
{
	if (!options_.json)
		return;
	nlohmann::json all = nlohmann::json::array();

	for (const Result &r : results_) {
		nlohmann::json row{ { "operation", name_of(options_.operation) },
				    { "size", r.size },
				    { "messages", r.messages },
				    { "seconds", r.seconds },
				    { "messages_per_second", rate(r) },
				    { "mib_per_second", mib(r) } };

		if (!r.latencies.empty())
			row["latency_us"] = { { "least", r.latencies.front() },
					      { "median", percentile(r, 50) },
					      { "p99", percentile(r, 99) },
					      { "p99.9", percentile(r, 99.9) },
					      { "most", r.latencies.back() } };
		all.push_back(row);
	}
	std::cout << all.dump(2) << '\n';
}

} // namespace ubperf
