// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// ubdump: what is on the wire. See docs/man/ubdump.1.
#include <cstdio>
#include <exception>
#include <optional>

#include <nlohmann/json.hpp>

#include "filter.hpp"
#include "options.hpp"
#include "source.hpp"
#include "statistics.hpp"

namespace
{

using namespace ubdump;

void put(const std::string &text)
{
	std::fwrite(text.data(), 1, text.size(), stdout);
}

std::unique_ptr<Source> open_source(const Options &o)
{
	if (!o.interface.empty())
		return open_interface(o.interface, o.bpf, o.promiscuous);
	if (!o.file.empty())
		return open_capture(o.file, o.bpf);
	return open_text(o.text, o.from);
}

/// Packets of @p source until it ends, or as many as are wanted.
void dump(const Options &o, const Filter &filter, Source &source, Statistics &statistics)
{
	std::optional<Writer> writer;
	Printer printer(o.style);
	std::uint64_t number = 0, shown = 0;
	const bool text = o.interface.empty() && o.file.empty();
	Frame frame;

	if (!o.write.empty())
		writer.emplace(o.write, source);
	while ((!o.count || shown < o.count) && source.next(frame)) {
		Packet packet = decode(frame.bytes, frame.wire_size, frame.link, o.settings);

		packet.number = ++number;
		packet.time_ns = frame.time_ns;
		// who types a packet wants to know what it is
		if (!(packet.uboe || o.all || text) || !filter.holds(packet)) {
			statistics.skip();
			continue;
		}
		++shown;
		statistics.add(packet);
		if (writer)
			writer->write(frame);
		if (!o.quiet)
			put(printer.text(packet));
		if (!o.interface.empty())
			std::fflush(stdout);
	}
	if (writer)
		writer->close();
}

void finish(const Options &o, Source &source, const Statistics &statistics)
{
	const std::uint64_t lost = source.lost();

	if (o.stats)
		put(o.style.json ? statistics.json().dump() + '\n' : statistics.text());
	if (lost)
		std::fprintf(stderr, "ubdump: the kernel dropped %llu packets\n",
			     static_cast<unsigned long long>(lost));
}

} // namespace

int main(int argc, char **argv)
try {
	const Options o = read_options(argc, argv);
	std::optional<Filter> filter;

	try {
		filter.emplace(o.filter);
	} catch (const BadFilter &e) {
		std::fprintf(stderr, "ubdump: filter, %s\n", e.what());
		return 2;
	}
	const auto source = open_source(o);
	Statistics statistics;

	try {
		dump(o, *filter, *source, statistics);
	} catch (...) {
		finish(o, *source, statistics); // of what could be read
		std::fflush(stdout);
		throw;
	}
	finish(o, *source, statistics);
	return std::fflush(stdout) ? 1 : 0;
} catch (const BadBpf &e) {
	std::fprintf(stderr, "ubdump: %s\n", e.what());
	return 2;
} catch (const std::exception &e) {
	std::fprintf(stderr, "ubdump: %s\n", e.what());
	return 1;
}
