// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "options.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace ubperf
{

namespace
{

const std::map<std::string, Operation> operations{
	{ "write", Operation::write },
	{ "write_imm", Operation::write_imm },
	{ "write_notify", Operation::write_notify },
	{ "read", Operation::read },
	{ "send", Operation::send },
	{ "faa", Operation::faa },
	{ "cas", Operation::cas },
};

constexpr std::uint32_t largest = 1u << 28; // bytes of a Write or Read
constexpr std::uint32_t largest_send = 65536;
constexpr std::uint32_t largest_sweep = 1u << 20;
constexpr std::uint64_t bytes_of_a_run = 256u << 20;

bool is_atomic(Operation o)
{
	return o == Operation::faa || o == Operation::cas;
}

std::uint32_t limit(Operation o)
{
	return o == Operation::send ? largest_send : largest;
}

/// What no option can say alone.
void settle(Options &o, bool all, std::uint32_t size)
{
	if (is_atomic(o.operation)) {
		if (all || (size != 65536 && size != 8 && size != 4))
			throw CLI::ValidationError("--size", "an atomic has 4 or 8 bytes");
		o.sizes = { size == 4 ? 4u : 8u };
	} else if (all) {
		o.sizes.clear();
		for (std::uint32_t s = 1; s <= std::min(largest_sweep, limit(o.operation)); s *= 2)
			o.sizes.push_back(s);
	} else {
		o.sizes = { size };
	}
	if (o.sizes.back() > limit(o.operation))
		throw CLI::ValidationError("--size", std::string(name_of(o.operation)) +
							     " takes at most " +
							     std::to_string(limit(o.operation)));
	o.list = std::min(o.list, o.depth);
	if (o.measure == Measure::latency && (o.bidirectional || o.jetties > 1))
		throw CLI::ValidationError("--latency", "one jetty, one direction");
}

} // namespace

const char *name_of(Operation operation)
{
	for (const auto &[name, value] : operations)
		if (value == operation)
			return name.c_str();
	return "?";
}

std::uint32_t Options::iterations_for(std::uint32_t size) const
{
	if (iterations)
		return iterations;
	if (measure == Measure::latency)
		return 2000;
	return static_cast<std::uint32_t>(
		std::clamp<std::uint64_t>(bytes_of_a_run / std::max(size, 1u), 200, 100000));
}

std::string Options::serialise() const
{
	return nlohmann::json{
		{ "version", 2 },
		{ "operation", name_of(operation) },
		{ "latency", measure == Measure::latency },
		{ "sizes", sizes },
		{ "iterations", iterations },
		{ "depth", depth },
		{ "list", list },
		{ "inline", inline_bytes },
		{ "jetties", jetties },
		{ "bidirectional", bidirectional },
		{ "rm", rm },
		{ "events", events }
	}.dump();
}

void Options::parse(const std::string &line)
try {
	const auto j = nlohmann::json::parse(line);

	if (j.at("version") != 2)
		throw std::runtime_error("the other side is another version of ubperf");
	operation = operations.at(j.at("operation"));
	measure = j.at("latency") ? Measure::latency : Measure::bandwidth;
	sizes = j.at("sizes").get<std::vector<std::uint32_t>>();
	iterations = j.at("iterations");
	depth = j.at("depth");
	list = j.at("list");
	inline_bytes = j.at("inline");
	jetties = j.at("jetties");
	bidirectional = j.at("bidirectional");
	rm = j.at("rm");
	events = j.at("events");
	if (sizes.empty() || *std::max_element(sizes.begin(), sizes.end()) > largest ||
	    jetties < 1 || jetties > 1024 || depth < 1 || depth > 4096 || list < 1 || list > depth)
		throw std::runtime_error("its settings are out of range");
} catch (const std::exception &e) {
	throw std::runtime_error("the client's settings: " + std::string(e.what()));
}

Options read_options(int argc, char **argv)
{
	Options o;
	CLI::App app{ "Measures what URMA moves: bandwidth and rate, or latency. Start it without "
		      "SERVER on one side, with SERVER on the other." };
	bool latency = false, all = false;
	std::uint32_t size = 65536;

	app.add_option("SERVER", o.server, "host where the server runs; without: be the server");
	app.add_option("-o,--operation", o.operation, "what to do")
		->transform(CLI::CheckedTransformer(operations, CLI::ignore_case));
	app.add_flag("-l,--latency", latency, "latency, not bandwidth");
	app.add_option("-s,--size", size, "bytes of a message")->check(CLI::Range(0u, largest));
	app.add_flag("-a,--all", all, "sizes from 1 byte to 1 MiB");
	app.add_option("-n,--iterations", o.iterations, "messages of each size")
		->check(CLI::Range(1u, 1u << 30));
	app.add_option("-q,--depth", o.depth, "requests in flight of each jetty")
		->check(CLI::Range(1u, 4096u));
	app.add_option("-t,--list", o.list, "requests a doorbell")->check(CLI::Range(1u, 4096u));
	app.add_option("-I,--inline", o.inline_bytes, "send inline up to so many bytes")
		->check(CLI::Range(0u, 208u));
	app.add_option("-j,--jetties", o.jetties, "connections")->check(CLI::Range(1u, 1024u));
	app.add_flag("-b,--bidirectional", o.bidirectional, "both sides send");
	app.add_flag("--rm", o.rm, "reliable messages, which share a channel, not connections");
	app.add_flag("-e,--events", o.events, "sleep until completions come");
	app.add_option("-d,--device", o.device, "own device, as urma_get_device_list() has it");
	app.add_option("--eid", o.eid, "own address");
	app.add_option("-p,--port", o.port, "TCP port where the sides meet");
	app.add_option("-w,--wait", o.wait_s, "seconds to look for the server")
		->check(CLI::Range(0u, 3600u));
	app.add_flag("--json", o.json, "results as JSON");
	try {
		app.parse(argc, argv);
		o.measure = latency ? Measure::latency : Measure::bandwidth;
		settle(o, all, size);
	} catch (const CLI::Error &e) {
		std::exit(app.exit(e));
	}
	return o;
}

} // namespace ubperf
