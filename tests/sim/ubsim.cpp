// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ubsim - endpoints of the protocol core on a simulated network
 *
 *	ubsim --seed N [--trace]		one run
 *	ubsim --seeds A-B [--jobs N]		many
 *	--ops N		work requests of a run (1000)
 *	--messages	jetties without connections in each seed, not in one of eight
 *	--tables	small RC tables in each seed, not in one of sixteen
 *	--congestion	congestion control and marks in each seed, not in one of eight
 *	--stats		print the sums of all counters
 *	--stop		end at the first failure
 *	--seconds N	start no seed after this time
 */
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "traffic.hpp"

using namespace ubsim;

namespace
{

struct options {
	std::uint64_t first = 1;
	std::uint64_t last = 1;
	unsigned jobs = 1;
	unsigned ops = 1000;
	bool trace = false;
	bool stats = false;
	bool stop = false;
	bool messages = false;
	bool tables = false;
	bool congestion = false;
	double seconds = 0;
};

/* Shared by the workers */
struct totals {
	std::atomic<std::uint64_t> next;
	std::atomic<std::uint64_t> seeds;
	std::atomic<bool> late;
	std::atomic<std::uint64_t> failures;
	std::atomic<std::uint64_t> first_failure;
	std::atomic<std::uint64_t> ops;
	std::atomic<std::uint64_t> packets;
	std::atomic<std::uint64_t> events;
	std::atomic<std::uint64_t> stats[UBP_S_MAX];
};

double elapsed()
{
	static const auto start = std::chrono::steady_clock::now();

	return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool run_seed(const options &opt, std::uint64_t seed, totals &sum)
{
	rng r(seed * 0x2545f4914f6cdd1d + 1);
	profile p = profile::draw(r, opt.ops);
	rng more(seed * 0x9e3779b97f4a7c15 + 7); /* drawn apart: the rest stays as it is */

	p.messages = more.chance(1.0 / 8) || opt.messages;
	p.tables = more.chance(1.0 / 16) || opt.tables;
	p.congestion = more.chance(1.0 / 8) || opt.congestion;
	if (p.congestion)
		p.mark = double(more.range(1, 30)) / 100;
	world w(r.next(), p, opt.trace);
	bool good = true;

	try {
		traffic t(w, r.next());

		try {
			t.run();
		} catch (const failure &f) {
			std::printf(
				"# seed %llu failed at %.3f us: %s\n# replay: ubsim --seed %llu "
				"--ops %u --trace\n",
				(unsigned long long)seed, double(w.clock) / 1000, f.what(),
				(unsigned long long)seed, opt.ops);
			std::fflush(stdout);
			/* what is left standing may be in any state: do not take it down */
			std::_Exit(3);
		}
		sum.ops += t.completed();
		for (unsigned i = 0; i < UBP_S_MAX; i++)
			sum.stats[i] += t.stat(i);
	} catch (const failure &f) {
		std::printf("# seed %llu: %s\n", (unsigned long long)seed, f.what());
		good = false;
	}
	sum.seeds++;
	sum.packets += w.packets;
	sum.events += w.events;
	return good;
}

bool enough(const options &opt, const totals &sum)
{
	return sum.next > opt.last || sum.late || (opt.stop && sum.failures);
}

/* Seeds one after another; ends early when one fails, for the parent to go on */
void work(const options &opt, totals &sum)
{
	for (;;) {
		if (enough(opt, sum))
			std::_Exit(0);
		std::uint64_t seed = sum.next++;

		if (seed > opt.last)
			std::_Exit(0);
		if (opt.seconds && elapsed() > opt.seconds)
			sum.late = true;
		if (!run_seed(opt, seed, sum)) {
			std::fflush(stdout);
			std::_Exit(3);
		}
	}
}

int many(const options &opt, totals &sum)
{
	unsigned running = 0;

	for (;;) {
		int status;

		while (running < opt.jobs && !enough(opt, sum)) {
			pid_t pid = fork();

			if (pid < 0)
				return 1;
			if (!pid)
				work(opt, sum);
			running++;
		}
		if (!running || wait(&status) < 0)
			break;
		running--;
		if (status)
			sum.failures++;
		if (WIFSIGNALED(status))
			std::printf("# a worker died of signal %d\n", WTERMSIG(status));
	}
	return sum.failures ? 1 : 0;
}

void report(const options &opt, totals &sum)
{
	std::uint64_t n = sum.seeds + sum.failures;
	double seconds = elapsed();

	std::printf(
		"# %llu seeds, %llu failed; %llu operations, %llu packets, %llu events; %.1f s, "
		"%.0f seeds/s\n",
		(unsigned long long)n, (unsigned long long)sum.failures.load(),
		(unsigned long long)sum.ops.load(), (unsigned long long)sum.packets.load(),
		(unsigned long long)sum.events.load(), seconds, double(n) / seconds);
	if (!opt.stats)
		return;
	for (unsigned i = 0; i < UBP_S_MAX; i++)
		std::printf("# %-22s %llu\n", ubp_stat_name(i),
			    (unsigned long long)sum.stats[i].load());
}

[[noreturn]] void usage()
{
	std::fprintf(stderr, "usage: ubsim [--seed N | --seeds A-B] [--jobs N] [--ops N] [--trace] "
			     "[--messages] [--tables] [--congestion] [--stats] [--stop] "
			     "[--seconds N]\n");
	std::exit(2);
}

options parse(int argc, char **argv)
{
	options o;

	for (int i = 1; i < argc; i++) {
		std::string a = argv[i];
		const char *v = i + 1 < argc ? argv[i + 1] : nullptr;
		char *end = nullptr;

		if (a == "--trace") {
			o.trace = true;
		} else if (a == "--messages") {
			o.messages = true;
		} else if (a == "--tables") {
			o.tables = true;
		} else if (a == "--congestion") {
			o.congestion = true;
		} else if (a == "--stats") {
			o.stats = true;
		} else if (a == "--stop") {
			o.stop = true;
		} else if (!v) {
			usage();
		} else if (a == "--seed") {
			o.first = o.last = std::strtoull(v, &end, 0);
			i++;
		} else if (a == "--seeds") {
			o.first = std::strtoull(v, &end, 0);
			if (*end != '-')
				usage();
			o.last = std::strtoull(end + 1, &end, 0);
			i++;
		} else if (a == "--jobs") {
			o.jobs = unsigned(std::strtoul(v, &end, 0));
			i++;
		} else if (a == "--seconds") {
			o.seconds = std::strtod(v, &end);
			i++;
		} else if (a == "--ops") {
			o.ops = unsigned(std::strtoul(v, &end, 0));
			i++;
		} else {
			usage();
		}
		if (end && *end)
			usage();
	}
	if (!o.jobs || o.last < o.first)
		usage();
	return o;
}

} /* namespace */

int ubsim_main(int argc, char **argv);

int ubsim_main(int argc, char **argv)
{
	options opt = parse(argc, argv);

	elapsed(); /* starts now */
	void *shared = mmap(nullptr, sizeof(totals), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return 1;
	totals &sum = *new (shared) totals{};
	int rc;

	/* keep the memory of one seed for the next */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	sum.next = opt.first;
	if (opt.first == opt.last) {
		rc = run_seed(opt, opt.first, sum) ? 0 : 1;
		sum.failures = std::uint64_t(rc);
	} else {
		rc = many(opt, sum);
	}
	report(opt, sum);
	return rc;
}
