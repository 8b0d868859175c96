// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// ubctl: UB devices of this machine and what is on them. See docs/man/ubctl.1.
#include <cstdio>
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include "commands.hpp"

namespace
{

using namespace ubctl;

struct Arguments {
	Output output;
	Words words; // of the sub-command
	CounterOptions counters;
};

/// Those that only show something of one device, or of all.
struct Show {
	const char *name;
	void (*run)(const Output &, const std::string &device);
	const char *help;
};
constexpr Show shows[] = {
	{ "dev", show_devices, "devices, of the kernel and in-process" },
	{ "eid", show_eids, "addresses of devices" },
	{ "jetty", show_jetties, "jetties, queue pairs of verbs among them" },
	{ "tp", show_tps, "transport channels of jetties" },
	{ "jfc", show_jfcs, "completion queues" },
	{ "jfr", show_jfrs, "shared receive queues" },
	{ "seg", show_segments, "segments, which are memory regions" },
};

void add_shows(CLI::App &app, Arguments &a)
{
	for (const Show &s : shows) {
		CLI::App *sub = app.add_subcommand(s.name, s.help);

		sub->add_option("DEVICE", a.words, "[show] [DEVICE]; without: all");
		sub->callback([&a, s] { s.run(a.output, shown_device(a.words)); });
	}
}

void add_counters(CLI::App &app, Arguments &a)
{
	CLI::App *sub = app.add_subcommand("counters", "counters, reasons of drops among them");
	CounterOptions &c = a.counters;

	sub->add_option("DEVICE", a.words, "[show] [DEVICE]; without: all");
	sub->add_flag("-n,--nonzero", c.nonzero,
		      "only those that are not zero; when watching, that have changed");
	sub->add_flag("-d,--drops", c.drops, "only reasons of drops");
	CLI::Option *watch = sub->add_option("-w,--watch", c.watch_s, "again each so many seconds")
				     ->check(CLI::Range(0.01, 86400.0));

	sub->add_option("-c,--count", c.samples, "end after so many times")
		->check(CLI::Range(std::uint64_t{ 1 }, std::uint64_t{ 1 } << 40))
		->needs(watch);
	sub->callback([&a] { show_counters(a.output, shown_device(a.words), a.counters); });
}

void add_actions(CLI::App &app, Arguments &a)
{
	CLI::App *sub = app.add_subcommand("impair", "lose, double, reorder, corrupt and delay "
						     "what a device sends");

	sub->add_option(
		"ARGUMENT", a.words,
		"[DEVICE]; or DEVICE KNOB=VALUE... with loss, dup, reorder, corrupt (1%, or "
		"of a million), delay (5ms), seed; or DEVICE off");
	sub->callback([&a] { impair(a.output, a.words); });

	sub = app.add_subcommand("link", "make and remove devices of the kernel");
	sub->add_option("ARGUMENT", a.words,
			"[show] [DEVICE]; add NAME netdev INTERFACE; delete NAME");
	sub->callback([&a] { link(a.output, a.words); });

	sub = app.add_subcommand("tm", "traffic management of kernel devices: rates, priorities, "
				       "weights");
	sub->add_option("ARGUMENT", a.words,
			"[show] [DEVICE]; add or set DEVICE NODE KEY=VALUE...; delete DEVICE "
			"NODE. NODE is port, or group, function, queue or jetty and its number; "
			"KEY is rate, burst, promise, promise-burst (1mbit to 200gbit, 0: none), "
			"priority (0 to 7), weight (1 to 255), sl-vl (SL:VL,...), and with add "
			"group or function (the parent) and vl");
	sub->callback([&a] { traffic(a.output, a.words); });
}

} // namespace

int main(int argc, char **argv)
{
	CLI::App app{ "UB devices of this machine and what is on them.", "ubctl" };
	Arguments a;

	app.add_flag("-j,--json", a.output.json, "results as JSON");
	app.require_subcommand(1);
	app.fallthrough();
	add_shows(app, a);
	add_counters(app, a);
	add_actions(app, a);
	try {
		app.parse(argc, argv);
		return 0;
	} catch (const CLI::Error &e) {
		return app.exit(e) ? 2 : 0;
	} catch (const Usage &e) {
		std::fprintf(stderr, "ubctl: %s\n", e.what());
		return 2;
	} catch (const std::exception &e) {
		std::fprintf(stderr, "ubctl: %s\n", e.what());
		return 1;
	}
}
