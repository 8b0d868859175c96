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

struct SubjectName {
	const char *name;
	Subject::Kind kind;
};
const SubjectName subject_names[] = {
	{"rc", Subject::Kind::urma_rc},
	{"rm", Subject::Kind::urma_rm},
	{"libfabric", Subject::Kind::libfabric},
	{"ucx", Subject::Kind::ucx},
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

/// The words behind the operation: conditions of the row.
void read_condition(Row &row, const std::string &word, const std::string &text)
{
	const bool number = word.size() > 1 &&
			    word.find_first_not_of("0123456789", 1) == std::string::npos;

	if (word == "lat")
		row.latency = true;
	else if (word == "both")
		row.both = true;
	else if (number && word[0] == 'j')
		row.jetties = static_cast<std::uint32_t>(std::stoul(word.substr(1)));
	else if (number && word[0] == 'q')
		row.depth = static_cast<std::uint32_t>(std::stoul(word.substr(1)));
	else
		throw Failure("row '" + text + "': there is no condition '" + word + "'");
}

/// Rounded so that the last request of a list is the last of all.
void settle_counts(Row &row, double scale)
{
	// More of single messages would tell no more
	const auto count = static_cast<std::uint32_t>(standard_count(row.size, row.latency) *
						      (row.latency ? std::min(scale, 1.0) : scale));

	row.signal_every = row.latency ? 1 : std::min(row.depth / 4, 16u);
	row.count = std::max(std::max<std::uint32_t>(4, count) / row.jetties, 1u);
	row.count = (row.count + row.signal_every - 1) / row.signal_every * row.signal_every;
	row.warm_up = std::max(row.count / 8 / row.signal_every, 1u) * row.signal_every;
}

} // namespace

Row Row::parse(const std::string &text, double scale)
{
	const std::vector<std::string> parts = split(text, ':');
	Row row;

	if (parts.size() != 2)
		throw Failure("'" + text + "' is no row; say KIND:SIZE");
	row.name = parts[0];
	const std::vector<std::string> words = split(row.name, '-');
	const auto *found = std::find_if(std::begin(kind_names), std::end(kind_names),
					 [&](const KindName &k) { return words.at(0) == k.name; });
	if (found == std::end(kind_names))
		throw Failure("there is no operation '" + row.name + "'");
	row.kind = found->kind;
	row.size = static_cast<std::uint32_t>(std::stoul(parts[1]));
	if (row.size < 1 || row.size > bytes_in_flight)
		throw Failure("row '" + text + "': bad size");
	if (row.kind == Kind::fetch_add && row.size != 8)
		throw Failure("row '" + text + "': an atomic has 8 bytes");
	row.depth = std::clamp<std::uint32_t>(bytes_in_flight / row.size, 4, 64);
	for (std::size_t i = 1; i < words.size(); ++i)
		read_condition(row, words[i], text);
	if (row.latency)
		row.depth = 1;
	if (row.jetties < 1 || row.jetties > 1024 || row.depth < (row.latency ? 1 : 4) ||
	    row.depth > 4096 || (row.latency && (row.both || row.jetties > 1)))
		throw Failure("row '" + text + "': conditions out of range");
	settle_counts(row, scale);
	return row;
}

bool Subject::takes(const Row &row) const
{
	const bool plain = !row.both && row.jetties == 1;

	switch (kind) {
	case Kind::urma_rc:
	case Kind::urma_rm: return row.kind != Row::Kind::send || row.size <= 65536;
	case Kind::libfabric:
	case Kind::ucx: return row.jetties == 1 && row.kind != Row::Kind::fetch_add;
	case Kind::verbs: return plain;
	case Kind::tcp:
		return plain && row.kind == (row.latency ? Row::Kind::send : Row::Kind::write);
	}
	return false;
}

Subject Subject::parse(const std::string &text)
{
	const std::size_t equals = text.find('=');
	Subject subject;

	if (equals == std::string::npos)
		throw Failure("'" + text + "' is no subject; say LABEL=...");
	subject.label = text.substr(0, equals);
	std::vector<std::string> parts = split(text.substr(equals + 1), ',');
	if (parts.size() == 4) {
		subject.kind = Kind::verbs;
		subject.device = {parts[0], parts[1]};
		parts.erase(parts.begin(), parts.begin() + 2);
	} else if (parts.size() == 3) {
		const auto *found =
			std::find_if(std::begin(subject_names), std::end(subject_names),
				     [&](const SubjectName &s) { return parts[0] == s.name; });
		if (found == std::end(subject_names))
			throw Failure("subject '" + text + "': there is no kind '" + parts[0] +
				      "'");
		subject.kind = found->kind;
		parts.erase(parts.begin());
	}
	if (parts.size() != 2)
		throw Failure("subject '" + text + "': want two devices and two addresses");
	subject.address = {parts[0], parts[1]};
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
