// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "commands.hpp"

#include <chrono>
#include <iostream>
#include <map>
#include <thread>

namespace ubctl
{

namespace
{

using Clock = std::chrono::steady_clock;

const std::vector<Column> once_columns{
	{ "DEVICE", "/device" },
	{ "COUNTER", "/counter" },
	{ "VALUE", "/value" },
};
const std::vector<Column> watch_columns{
	{ "DEVICE", "/device" },
	{ "COUNTER", "/counter" },
	{ "VALUE", "/value" },
	{ "CHANGE", "/change" },
};

/// Of one port.
struct Sample {
	KernelDevice device;
	std::uint32_t port;
	Nldev::Counters counters;
};

std::vector<Sample> take(Nldev &nldev, const std::string &name)
{
	std::vector<Sample> all;

	for (const KernelDevice &d : kernel_devices(nldev, name))
		for (std::uint32_t port = 1; port <= d.ports; ++port)
			all.push_back({ d, port, nldev.counters(d, port) });
	return all;
}

class Counters
{
      public:
	Counters(const Output &output, const CounterOptions &options)
		: output_(output), options_(options)
	{
	}

	void show(const std::vector<Sample> &samples)
	{
		if (output_.json)
			show_json(samples);
		else
			show_text(samples);
		for (const Sample &s : samples)
			for (const auto &[name, value] : s.counters)
				before_[key(s, name)] = value;
		is_first_ = false;
		std::cout.flush();
	}

      private:
	/// Of a device that was deleted and made again nothing is remembered.
	static std::string key(const Sample &s, const std::string &counter)
	{
		return std::to_string(s.device.index) + "/" + std::to_string(s.port) + "/" +
		       counter;
	}

	std::int64_t change(const Sample &s, const std::string &name, std::uint64_t value) const
	{
		const auto it = before_.find(key(s, name));

		return it == before_.end() ? 0 : static_cast<std::int64_t>(value - it->second);
	}

	bool is_wanted(const Sample &s, const std::string &name, std::uint64_t value) const
	{
		if (options_.drops && !name.starts_with("drop_"))
			return false;
		if (!options_.nonzero)
			return true;
		return is_first_ ? value : change(s, name, value);
	}

	void show_text(const std::vector<Sample> &samples) const
	{
		Rows rows;

		for (const Sample &s : samples)
			for (const auto &[name, value] : s.counters)
				if (is_wanted(s, name, value))
					rows.push_back({ { "device", s.device.name },
							 { "counter", name },
							 { "value", value },
							 { "change", change(s, name, value) } });
		if (!is_first_)
			std::cout << '\n';
		std::cout << table_text(rows, options_.watch_s ? watch_columns : once_columns);
	}

	void show_json(const std::vector<Sample> &samples) const
	{
		Rows rows;

		for (const Sample &s : samples) {
			Json row{ { "device", s.device.name },
				  { "port", s.port },
				  { "counters", Json::object() } };

			for (const auto &[name, value] : s.counters) {
				if (!is_wanted(s, name, value))
					continue;
				row["counters"][name] = value;
				if (options_.watch_s && !is_first_)
					row["changes"][name] = change(s, name, value);
			}
			rows.push_back(row);
		}
		// a line for each sample, that a program can read as they come
		std::cout << Json(rows).dump(options_.watch_s ? -1 : 2) << '\n';
	}

	const Output &output_;
	const CounterOptions &options_;
	std::map<std::string, std::uint64_t> before_;
	bool is_first_ = true;
};

} // namespace

void show_counters(const Output &output, const std::string &device, const CounterOptions &options)
{
	const std::chrono::duration<double> interval(options.watch_s);
	Nldev nldev = connect_for(device);
	Counters counters(output, options);
	auto next = Clock::now();

	for (std::uint64_t n = 1;; ++n) {
		counters.show(take(nldev, device));
		if (!options.watch_s || n == options.samples)
			return;
		next += std::chrono::duration_cast<Clock::duration>(interval);
		std::this_thread::sleep_until(next);
	}
}

} // namespace ubctl
