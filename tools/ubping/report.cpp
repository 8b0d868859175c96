// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "report.hpp"

#include <cstdio>
#include <iostream>

#include <nlohmann/json.hpp>

namespace ubping
{

namespace
{

using ull = unsigned long long;

void print_statistics(const Target &t, double ms)
{
	const Statistics &s = t.statistics();

	std::printf("\n--- %s ubping statistics ---\n", t.name().c_str());
	std::printf("%llu sent, %llu received, ", static_cast<ull>(s.sent()),
		    static_cast<ull>(s.received()));
	if (s.corrupted())
		std::printf("%llu corrupted, ", static_cast<ull>(s.corrupted()));
	std::printf("%.4g%% loss, time %.0f ms\n", s.loss_percent(), ms);
	if (s.received())
		std::printf("rtt min/avg/max/mdev = %.3f/%.3f/%.3f/%.3f ms\n", s.min(), s.average(),
			    s.max(), s.deviation());
}

} // namespace

Report::Record &Report::record(std::size_t index)
{
	if (records_.size() <= index)
		records_.resize(index + 1);
	return records_[index];
}

void Report::connected(std::size_t index, const Target &t)
{
	record(index);
	if (options_.json)
		return;
	std::printf("UBPING %s (%s) from %s: %u bytes\n", t.name().c_str(), t.eid().text().c_str(),
		    t.local_eid().text().c_str(), options_.size);
	std::fflush(stdout);
}

void Report::reply(std::size_t index, const Target &t, const Reply &r)
{
	if (options_.quiet || options_.flood)
		return;
	if (options_.json) {
		record(index).replies.push_back(r);
		return;
	}
	std::printf("%u bytes from %s: seq=%llu time=%.3f ms%s\n", options_.size,
		    t.eid().text().c_str(), static_cast<ull>(r.number), r.rtt_ms,
		    r.corrupted ? " (corrupted)" : "");
	std::fflush(stdout);
}

void Report::failed(std::size_t index, const std::string &why)
{
	record(index).error = why;
	std::fprintf(stderr, "ubping: %s: %s\n", options_.targets[index].c_str(), why.c_str());
}

nlohmann::ordered_json Report::to_json(std::size_t index, const Target *t, double ms)
{
	const Record &r = record(index);
	nlohmann::ordered_json j{ { "target", options_.targets[index] } };

	if (!r.error.empty())
		j["error"] = r.error;
	if (!t)
		return j;
	const Statistics &s = t->statistics();

	j["eid"] = t->eid().text();
	j["local_eid"] = t->local_eid().text();
	j["size"] = options_.size;
	j["sent"] = s.sent();
	j["received"] = s.received();
	j["corrupted"] = s.corrupted();
	j["loss_percent"] = s.loss_percent();
	j["time_ms"] = ms;
	if (s.received())
		j["rtt_ms"] = { { "min", s.min() },
				{ "avg", s.average() },
				{ "max", s.max() },
				{ "mdev", s.deviation() } };
	for (const Reply &reply : r.replies)
		j["replies"].push_back({ { "seq", reply.number },
					 { "rtt_ms", reply.rtt_ms },
					 { "corrupted", reply.corrupted } });
	return j;
}

void Report::end(const std::vector<std::unique_ptr<Target>> &targets, double ms)
{
	nlohmann::ordered_json all = nlohmann::ordered_json::array();

	for (std::size_t i = 0; i < targets.size(); ++i) {
		if (options_.json)
			all.push_back(to_json(i, targets[i].get(), ms));
		else if (targets[i])
			print_statistics(*targets[i], ms);
	}
	if (options_.json)
		std::cout << all.dump(2) << '\n';
}

} // namespace ubping
