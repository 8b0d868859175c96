// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// uboe-bench: measures subjects (uboe, Soft-RoCE, TCP) in turns, row by row.
// One line of text for each measurement, for the report:
//   sample ROW SIZE SUBJECT RUN COUNT NANOSECONDS MEDIAN P99 PACKETS
//   failed ROW SIZE SUBJECT REASON
#include <cstdlib>
#include <fstream>
#include <iostream>

#include <getopt.h>
#include <unistd.h>

#include "crc.hpp"
#include "error.hpp"
#include "rig.hpp"
#ifdef UBOE_BENCH_NATIVE
#include "figures.hpp"
#endif

namespace {

using namespace uboe::bench;

const char usage[] =
	"usage: uboe-bench [-n PAIRS] [-f FACTOR] -s SUBJECT... ROW...\n"
	"       uboe-bench --crc\n"
	"  -s LABEL=DEV,DEV,IP,IP  two RDMA devices with their addresses\n"
	"  -s LABEL=IP,IP          TCP between two addresses\n"
	"  -s LABEL=KIND,IP,IP     a library: rc or rm (liburma), libfabric, ucx\n"
	"  -n PAIRS                measurements of each subject, in turns (default 5)\n"
	"  -f FACTOR               multiplies the numbers of messages\n"
	"  ROW                     write, read, send or faa, with -lat for latency,\n"
	"                          and a size: write:4096, send-lat:8; conditions:\n"
	"                          -both (ends), -jJETTIES, -qDEPTH: send-both-j10:1024\n"
	"  --peer-net FILE         network namespace of the passive ends\n"
	"  --hold FILE             before the measured part make FILE.begin and wait\n"
	"                          until it has gone; FILE.end after it\n"
	"  --figures               memory and time of objects and connections, in place of\n"
	"                          rows; then come addresses: one here, the others there\n"
	"  --kinds                 what this program was built with\n"
	"  --crc                   bytes a second of table-driven CRC-32 here\n";

/// Kinds of libraries that were found when this was built.
const char kinds[] = ""
#ifdef UBOE_BENCH_NATIVE
		     "rc\nrm\n"
#ifdef UBOE_BENCH_LIBFABRIC
		     "libfabric\n"
#endif
#ifdef UBOE_BENCH_UCX
		     "ucx\n"
#endif
#endif
	;

struct Arguments {
	int pairs = 5;
	double factor = 1;
	bool crc = false;
	bool figures = false;
	std::string hold;
	std::vector<Subject> subjects;
	std::vector<std::string> rows;
};

bool parse(int argc, char **argv, Arguments &arguments)
{
	const option names[] = {{"crc", no_argument, nullptr, 'c'},
				{"hold", required_argument, nullptr, 'H'},
				{"figures", no_argument, nullptr, 'F'},
				{"kinds", no_argument, nullptr, 'K'},
				{"peer-net", required_argument, nullptr, 'P'},
				{}};
	int letter;

	while ((letter = getopt_long(argc, argv, "n:f:s:h", names, nullptr)) != -1) {
		switch (letter) {
		case 'n': arguments.pairs = std::atoi(optarg); break;
		case 'f': arguments.factor = std::atof(optarg); break;
		case 's': arguments.subjects.push_back(Subject::parse(optarg)); break;
		case 'H': arguments.hold = optarg; break;
		case 'c': arguments.crc = true; break;
		case 'F': arguments.figures = true; break;
		case 'K': std::cout << kinds; std::exit(0);
		case 'P': put_children_into(optarg); break;
		default: return false;
		}
	}
	arguments.rows.assign(argv + optind, argv + argc);
	return arguments.crc || arguments.figures ||
	       (!arguments.rows.empty() && !arguments.subjects.empty() && arguments.pairs > 0 &&
		arguments.factor > 0);
}

/// A subject in a row; without a rig once it has failed.
struct Runner {
	const Subject *subject;
	std::unique_ptr<Rig> rig;
};

/// Forks the passive end.
std::unique_ptr<Rig> make_rig(const Subject &subject, const Row &row)
{
	switch (subject.kind) {
	case Subject::Kind::tcp: return make_tcp_rig(subject, row);
	case Subject::Kind::verbs: return make_verbs_rig(subject, row);
#ifdef UBOE_BENCH_NATIVE
	default: return make_native_rig(subject, row);
#else
	default: throw uboe::Failure("'" + subject.label + "' is for uboe-bench-native");
#endif
	}
}

/// Runs one step of a runner; a failure ends its part in this row.
template <class Step> bool attempt(Runner &runner, const Row &row, Step step)
{
	if (!runner.rig)
		return true;
	try {
		step();
		return true;
	} catch (const std::exception &error) {
		std::cout << "failed " << row.name << ' ' << row.size << ' '
			  << runner.subject->label << ' ' << error.what() << std::endl;
		runner.rig.reset();
		return false;
	}
}

/// For a profiler that watches the measured part only.
void wait_for_leave(const std::string &path)
{
	if (!std::ofstream(path))
		uboe::fail_errno("make " + path);
	while (access(path.c_str(), F_OK) == 0)
		usleep(20000);
}

bool measure(const Row &row, const Arguments &arguments)
{
	std::vector<Runner> runners;
	bool good = true;

	for (const Subject &subject : arguments.subjects)
		if (subject.takes(row))
			runners.push_back({&subject, make_rig(subject, row)});
	for (Runner &r : runners)
		good &= attempt(r, row, [&] {
			r.rig->connect();
			r.rig->run(row.warm_up);
		});
	if (!arguments.hold.empty())
		wait_for_leave(arguments.hold + ".begin");
	for (int pair = 0; pair < arguments.pairs; ++pair) {
		// Who goes first changes from pair to pair.
		for (std::size_t i = 0; i < runners.size(); ++i) {
			Runner &r = runners[pair % 2 ? runners.size() - 1 - i : i];
			good &= attempt(r, row, [&] {
				const Sample s = r.rig->run(row.count);
				std::cout << "sample " << row.name << ' ' << row.size << ' '
					  << r.subject->label << ' ' << pair << ' '
					  << row.messages() << ' ' << s.nanoseconds << ' '
					  << s.median << ' ' << s.p99 << ' ' << s.packets
					  << std::endl;
			});
		}
	}
	if (!arguments.hold.empty())
		wait_for_leave(arguments.hold + ".end");
	for (Runner &r : runners)
		good &= attempt(r, row, [&] { r.rig->verify(); });
	return good;
}

} // namespace

int main(int argc, char **argv)
{
	Arguments arguments;
	bool good = true;

	try {
		if (!parse(argc, argv, arguments)) {
			std::cerr << usage;
			return 2;
		}
		if (arguments.crc)
			std::cout << "crc user " << crc_rate() << std::endl;
#ifdef UBOE_BENCH_NATIVE
		if (arguments.figures) {
			uboe::bench::print_figures(arguments.rows);
			return 0;
		}
#endif
		for (const std::string &text : arguments.rows)
			good &= measure(Row::parse(text, arguments.factor), arguments);
	} catch (const std::exception &error) {
		std::cerr << "uboe-bench: " << error.what() << std::endl;
		return 2;
	}
	return good ? 0 : 1;
}
