// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "options.hpp"

#include <map>

#include <CLI/CLI.hpp>

namespace ubdump
{

namespace
{

const std::map<std::string, Link> links{ { "eth", Link::ethernet },
					 { "ip", Link::ip },
					 { "native", Link::native } };
const std::map<std::string, Clock> clocks{ { "none", Clock::none },
					   { "relative", Clock::relative },
					   { "local", Clock::local },
					   { "epoch", Clock::epoch } };

template <class T> T named(const std::map<std::string, T> &names, const std::string &name)
{
	return names.at(name);
}

/// Names of a map, as CLI11 checks them.
template <class T> CLI::IsMember one_of(const std::map<std::string, T> &names)
{
	std::vector<std::string> all;

	for (const auto &[name, value] : names)
		all.push_back(name);
	return CLI::IsMember(all);
}

/// What no option can say alone.
void settle(const CLI::App &app)
{
	if (app.count("--read") + app.count("--interface") + app.count("--hex") > 1)
		throw CLI::ValidationError("--read", "one of --read, --interface and --hex");
	const bool text = !app.count("--read") && !app.count("--interface");

	if (!text && app.count("--from"))
		throw CLI::ValidationError("--from", "is for text; captures say what they have");
	if (text && app.count("--bpf"))
		throw CLI::ValidationError("--bpf", "is for captures and interfaces");
	if (!app.count("--interface") && app.count("--near"))
		throw CLI::ValidationError("--near", "is for an interface");
}

} // namespace

Options read_options(int argc, char **argv)
{
	Options o;
	CLI::App app{ "Shows UBoE and native UB packets, of a capture, an interface or "
		      "hexadecimal text.",
		      "ubdump" };
	std::string from, clock = "local", order = "fcs", cetph = "ldcp";
	bool bytes = false, near = false;

	app.add_option("FILTER", o.filter, "show only packets for which it holds; see ubdump(1)");
	app.add_option("-r,--read", o.file, "capture, pcap or pcapng; -: standard input");
	app.add_option("-i,--interface", o.interface, "capture from it");
	app.add_option("-x,--hex", o.text,
		       "hexadecimal text; -: standard input, which is so "
		       "without any of these three");
	app.add_option("--from", from, "what packets of the text begin with")->check(one_of(links));
	app.add_option("--bpf", o.bpf, "filter of libpcap, before decoding");
	app.add_flag("--near", near, "only frames for this machine");
	app.add_option("-c,--count", o.count, "end after so many packets")
		->check(CLI::Range(std::uint64_t{ 1 }, std::uint64_t{ 1 } << 40));
	app.add_flag("-a,--all", o.all, "show also what is not UBoE");
	app.add_flag("-v,--verbose", o.style.tree, "a line for each field");
	app.add_flag("-j,--json", o.style.json, "a JSON object for each packet");
	app.add_flag("-X,--payload", bytes, "bytes of the payload, too");
	app.add_flag("-q,--quiet", o.quiet, "print no packets");
	app.add_option("-t,--time", clock, "how times are printed")->check(one_of(clocks));
	app.add_option("-w,--write", o.write, "write these packets to a capture");
	app.add_flag("-s,--stats", o.stats, "a summary at the end");
	app.add_option("--icrc", order, "byte order of the ICRC")
		->check(CLI::IsMember({ "fcs", "be" }));
	app.add_option("--cetph", cetph, "congestion control of the channels")
		->check(CLI::IsMember({ "ldcp", "caqm" }));
	app.add_option("-p,--port", o.settings.port, "UDP port of UBoE")
		->check(CLI::Range(1, 65535));
	try {
		app.parse(argc, argv);
		settle(app);
		if (!from.empty())
			o.from = named(links, from);
		o.style.clock = named(clocks, clock);
		o.style.payload = bytes;
		o.settings.icrc_be = order == "be";
		o.settings.caqm = cetph == "caqm";
		o.promiscuous = !near;
	} catch (const CLI::Error &e) {
		std::exit(app.exit(e) ? 2 : 0);
	}
	return o;
}

} // namespace ubdump
