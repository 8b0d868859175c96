// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "options.hpp"

#include <charconv>

#include <CLI/CLI.hpp>

namespace ubping
{

namespace
{

constexpr double longest_s = 365 * 86400.0;
constexpr std::size_t longest_pattern = 16; // bytes

Nanoseconds from_seconds(double s)
{
	return std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(s));
}

std::vector<std::byte> parse_pattern(const std::string &hex)
{
	std::vector<std::byte> bytes;

	if (hex.size() % 2 || hex.size() > 2 * longest_pattern)
		throw CLI::ValidationError("--pattern",
					   "1 to 16 bytes, two hexadecimal digits each");
	for (std::size_t i = 0; i < hex.size(); i += 2) {
		unsigned value = 0;
		const char *const end = hex.data() + i + 2;

		if (std::from_chars(hex.data() + i, end, value, 16).ptr != end)
			throw CLI::ValidationError("--pattern", "'" + hex + "' is not hexadecimal");
		bytes.push_back(std::byte(value));
	}
	return bytes;
}

/// What no option can say alone.
void settle(const CLI::App &app, const Options &o, bool listen)
{
	if (listen && !o.is_server())
		throw CLI::ValidationError("--listen", "a server has no TARGET");
	for (const char *name : { "--count", "--interval", "--size", "--pattern", "--deadline",
				  "--timeout", "--flood", "--wait" })
		if (o.is_server() && app.count(name))
			throw CLI::ValidationError(name, "is for a client: name a TARGET");
	if (!o.is_server() && o.once)
		throw CLI::ValidationError("--once", "is for a server: name no TARGET");
	if (o.flood && app.count("--interval"))
		throw CLI::ValidationError("--flood", "has no interval");
}

} // namespace

Options read_options(int argc, char **argv)
{
	Options o;
	CLI::App app{ "Round trips over URMA: the client sends messages, the server sends them "
		      "back. Start it without TARGET on one side, with TARGET on the other.",
		      "ubping" };
	double interval = 1, deadline = 0, timeout = 5;
	std::string pattern;
	bool listen = false;

	app.add_option("TARGET", o.targets, "hosts where servers run; without: be the server");
	app.add_flag("-l,--listen", listen, "be the server");
	app.add_option("-c,--count", o.count, "messages to each target; without: until a signal")
		->check(CLI::Range(std::uint64_t{ 1 }, std::uint64_t{ 1 } << 40));
	app.add_option("-i,--interval", interval, "seconds between messages")
		->check(CLI::Range(0.0, longest_s));
	app.add_option("-s,--size", o.size, "bytes of a message")
		->check(CLI::Range(0u, largest_size));
	app.add_option("--pattern", pattern, "bytes to fill messages with, hexadecimal");
	app.add_option("-w,--deadline", deadline, "seconds after which all ends")
		->check(CLI::Range(0.001, longest_s));
	app.add_option("-W,--timeout", timeout, "seconds to wait for the last replies")
		->check(CLI::Range(0.0, longest_s));
	app.add_flag("-f,--flood", o.flood, "send as soon as the reply has come");
	app.add_flag("-q,--quiet", o.quiet, "only the statistics");
	app.add_flag("-j,--json", o.json, "results as JSON");
	app.add_option("--eid", o.eid, "own address");
	app.add_option("-d,--device", o.device,
		       "URMA device; without: the one that has the address");
	app.add_option("-p,--port", o.port, "TCP port where the sides meet")
		->check(CLI::Range(1, 65535));
	app.add_option("--wait", o.wait_s, "seconds to look for the server")
		->check(CLI::Range(0u, 3600u));
	app.add_flag("--once", o.once, "server: end with the first client");
	try {
		app.parse(argc, argv);
		settle(app, o, listen);
		o.pattern = parse_pattern(pattern);
		o.interval = from_seconds(interval);
		o.timeout = from_seconds(timeout);
		if (app.count("--deadline"))
			o.deadline = from_seconds(deadline);
	} catch (const CLI::Error &e) {
		std::exit(app.exit(e) ? 2 : 0);
	}
	return o;
}

} // namespace ubping
