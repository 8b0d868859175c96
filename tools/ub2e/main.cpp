// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// ub2e: a switch between UB domains and Ethernet. See docs/man/ub2e.1 and docs/ub2e.md.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>

#include <CLI/CLI.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "config.hpp"
#include "datapath.hpp"
#include "error.hpp"
#include "interface.hpp"
#include "metrics.hpp"
#include "report.hpp"

namespace
{

using namespace uboe::ub2e;
using Clock = std::chrono::steady_clock;

constexpr int turn_ms = 100; // how often signals and the status page are looked at

volatile std::sig_atomic_t end_asked, reload_asked, report_asked;

struct Options {
	std::string config;
	std::string datapath = "auto";
	std::string capture;
	std::string metrics;
	bool generic = false;
	bool check = false;
	bool json = false;
	bool status = false;
};

std::optional<Options> read_options(int argc, char **argv, int &status)
{
	Options o;
	CLI::App app("Switch between UB domains and Ethernet (UB2E)", "ub2e");

	app.add_option("CONFIG", o.config, "configuration file (TOML)")->required();
	app.add_flag("--check", o.check, "read the configuration, say whether it is good, and end");
	app.add_option("--datapath", o.datapath, "xdp, packet (AF_PACKET) or auto")
		->check(CLI::IsMember({ "auto", "xdp", "packet" }));
	app.add_flag("--generic", o.generic, "XDP in the stack, whatever the driver can");
	app.add_option("--pcap", o.capture, "write all frames to this file (packet datapath)");
	app.add_option("--metrics", o.metrics, "serve Prometheus metrics at ADDRESS:PORT");
	app.add_flag("--status", o.status, "show rates and drops, once a second");
	app.add_flag("-j,--json", o.json, "counters as JSON, at the end and on SIGUSR1");
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &e) {
		status = app.exit(e) ? 2 : 0;
		return std::nullopt;
	}
	return o;
}

std::vector<std::string> texts(const Config &c, std::string PortConfig::*field)
{
	std::vector<std::string> all;

	for (const PortConfig &p : c.ports)
		all.push_back(p.*field);
	return all;
}

std::shared_ptr<const Tables> make_tables(const Config &config)
{
	std::vector<Interface> interfaces;

	for (const PortConfig &p : config.ports)
		interfaces.push_back(look_up(p.interface));
	return std::make_shared<const Tables>(config, interfaces);
}

bool same_ports(const Config &a, const Config &b)
{
	return std::equal(a.ports.begin(), a.ports.end(), b.ports.begin(), b.ports.end(),
			  [](const PortConfig &p, const PortConfig &q) {
				  return p.name == q.name && p.interface == q.interface &&
					 p.kind == q.kind;
			  });
}

class Switch
{
      public:
	explicit Switch(const Options &o) : options_(o), config_(Config::load(o.config))
	{
		names_ = texts(config_, &PortConfig::name);
		if (o.check)
			return;
		open_datapath();
		if (!o.metrics.empty())
			metrics_.emplace(o.metrics, counters_, names_);
	}

	void run()
	{
		auto shown = Clock::now();

		std::fprintf(stderr, "ub2e: %zu ports, %s\n", names_.size(), way_);
		while (!end_asked) {
			datapath_->run(turn_ms);
			if (std::exchange(reload_asked, 0))
				reload();
			if (metrics_ || options_.status || report_asked)
				datapath_->count(counters_);
			if (std::exchange(report_asked, 0))
				report();
			if (options_.status)
				show(shown);
		}
		datapath_->count(counters_);
		report();
	}

      private:
	void open_datapath()
	{
		const auto tables = make_tables(config_);

		for (const ub2e_port &port : tables->ports())
			interfaces_.push_back(port.ifindex);
		if (options_.datapath != "packet") {
			try {
				if (!options_.capture.empty())
					throw uboe::Failure("--pcap needs --datapath packet");
				datapath_ = xdp_path(tables, options_.generic);
				way_ = "XDP";
				return;
			} catch (const std::exception &e) {
				if (options_.datapath == "xdp")
					throw;
				std::fprintf(stderr, "ub2e: no XDP: %s\n", e.what());
			}
		}
		datapath_ = packet_path(texts(config_, &PortConfig::interface), tables, counters_,
					options_.capture);
		way_ = "AF_PACKET";
	}

	/// Sockets and programs are at the interfaces that there were in the beginning.
	void same_interfaces(const Config &config, const Tables &tables) const
	{
		for (std::size_t i = 0; i < interfaces_.size(); ++i)
			if (tables.ports()[i].ifindex != interfaces_[i])
				throw uboe::Failure("interface " + config.ports[i].interface +
						    ": is not the one that was there in the "
						    "beginning; start ub2e again");
	}

	/// All of the new configuration holds, or nothing of it.
	void reload()
	try {
		Config fresh = Config::load(options_.config);

		if (!same_ports(config_, fresh))
			throw uboe::Failure(options_.config + ": names, interfaces and types of "
							      "ports stay while the switch runs");
		const auto tables = make_tables(fresh);
		same_interfaces(fresh, *tables);
		datapath_->set_tables(tables);
		config_ = std::move(fresh);
		std::fprintf(stderr, "ub2e: %s holds\n", options_.config.c_str());
		if (metrics_)
			metrics_->reloaded(true);
	} catch (const std::exception &e) {
		std::fprintf(stderr, "ub2e: %s; what was before holds on\n", e.what());
		if (metrics_)
			metrics_->reloaded(false);
	}

	void report() const
	{
		std::fputs((options_.json ? as_json : as_text)(counters_, names_).c_str(), stdout);
		std::fflush(stdout);
	}

	void show(Clock::time_point &shown)
	{
		const std::chrono::duration<double> passed = Clock::now() - shown;

		if (passed.count() < 1)
			return;
		shown = Clock::now();
		std::fputs(page_.next(counters_, names_, passed.count()).c_str(), stdout);
		std::fflush(stdout);
	}

	Options options_;
	Config config_;
	std::vector<std::string> names_;
	std::vector<std::uint32_t> interfaces_; // their numbers
	Counters counters_;
	std::unique_ptr<Datapath> datapath_;
	const char *way_ = "";
	std::optional<Metrics> metrics_;
	StatusPage page_;
};

void on_signal(int number, volatile std::sig_atomic_t *flag)
{
	static volatile std::sig_atomic_t *flags[NSIG];
	struct sigaction action = {};

	flags[number] = flag;
	action.sa_handler = [](int n) { *flags[n] = 1; };
	sigaction(number, &action, nullptr);
}

} // namespace

int main(int argc, char **argv)
try {
	int status = 0;
	const auto options = read_options(argc, argv, status);

	if (!options)
		return status;
	on_signal(SIGINT, &end_asked);
	on_signal(SIGTERM, &end_asked);
	on_signal(SIGHUP, &reload_asked);
	on_signal(SIGUSR1, &report_asked);

	Switch s(*options);
	if (options->check)
		std::puts("good");
	else
		s.run();
	return 0;
} catch (const std::exception &e) {
	std::fprintf(stderr, "ub2e: %s\n", e.what());
	return 2;
}
