// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "row.hpp"

#include <algorithm>
#include <sstream>

#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "error.hpp"

namespace uboe::bench {

namespace {

constexpr std::uint32_t bytes_in_flight = 8 << 20;

struct KindName {
	const char *name;
	Row::Kind kind;
};
const KindName kind_names[] = {
	{"write", Row::Kind::write},
	{"read", Row::Kind::read},
	{"send", Row::Kind::send},
	{"faa", Row::Kind::fetch_add},
};

// Fixed counts, so that every run does the same work: about 0.1 s of Soft-RoCE.
std::uint32_t standard_count(std::uint32_t size, bool latency)
{
	if (latency)
		return 4000;
	if (size <= 64)
		return 8000;
	if (size <= 1024)
		return 6000;
	if (size <= 4096)
		return 3000;
	if (size <= 65536)
		return 500;
	return 48;
}

std::vector<std::string> split(const std::string &text, char at)
{
	std::istringstream in(text);
	std::vector<std::string> parts;

	for (std::string part; std::getline(in, part, at);)
		parts.push_back(part);
	return parts;
}

} // namespace

Row Row::parse(const std::string &text, double scale)
{
	const std::vector<std::string> parts = split(text, ':');
	Row row;

	if (parts.size() != 2)
		throw Failure("'" + text + "' is no row; say KIND:SIZE");
	std::string kind = parts[0];
	if (kind.size() > 4 && kind.ends_with("-lat")) {
		row.latency = true;
		kind.resize(kind.size() - 4);
	}
	const auto *found = std::find_if(std::begin(kind_names), std::end(kind_names),
					 [&](const KindName &k) { return kind == k.name; });
	if (found == std::end(kind_names))
		throw Failure("there is no operation '" + kind + "'");
	row.kind = found->kind;
	row.size = static_cast<std::uint32_t>(std::stoul(parts[1]));
	if (row.size < 1 || row.size > bytes_in_flight)
		throw Failure("row '" + text + "': bad size");
	if (row.kind == Kind::fetch_add && row.size != 8)
		throw Failure("row '" + text + "': an atomic has 8 bytes");
	row.count = std::max<std::uint32_t>(
		4, static_cast<std::uint32_t>(standard_count(row.size, row.latency) * scale));
	row.depth = row.latency ? 1 : std::clamp<std::uint32_t>(bytes_in_flight / row.size, 4, 64);
	row.signal_every = row.latency ? 1 : row.depth / 4;
	// Rounded so that the last request of a batch is the last of all.
	row.count = (row.count + row.signal_every - 1) / row.signal_every * row.signal_every;
	row.warm_up = std::max(row.count / 8 / row.signal_every, 1u) * row.signal_every;
	return row;
}

std::string Row::name() const
{
	for (const KindName &k : kind_names)
		if (k.kind == kind)
			return std::string(k.name) + (latency ? "-lat" : "");
	return "?";
}

Subject Subject::parse(const std::string &text)
{
	const std::size_t equals = text.find('=');
	Subject subject;

	if (equals == std::string::npos)
		throw Failure("'" + text + "' is no subject; say LABEL=...");
	subject.label = text.substr(0, equals);
	const std::vector<std::string> parts = split(text.substr(equals + 1), ',');
	if (parts.size() == 4) {
		subject.device = {parts[0], parts[1]};
		subject.address = {parts[2], parts[3]};
	} else if (parts.size() == 2) {
		subject.address = {parts[0], parts[1]};
	} else {
		throw Failure("subject '" + text + "': want two devices and two addresses");
	}
	return subject;
}

std::uint64_t now_ns()
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u +
	       static_cast<std::uint64_t>(time.tv_nsec);
}

namespace {

std::uint64_t counter()
{
#ifdef __x86_64__
	return __rdtsc();
#else
	return now_ns();
#endif
}

} // namespace

Stopwatch::Stopwatch() : start_ns_(now_ns()), start_ticks_(counter()) {}

std::uint64_t Stopwatch::ticks() const
{
	return counter() - start_ticks_;
}

std::uint64_t Stopwatch::nanoseconds() const
{
	return now_ns() - start_ns_;
}

double Stopwatch::scale() const
{
	const std::uint64_t passed = ticks();

	return passed ? static_cast<double>(nanoseconds()) / static_cast<double>(passed) : 1;
}

} // namespace uboe::bench
