// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// ubperf: what URMA moves between two processes. See docs/urma.md.
#include <cstdio>
#include <exception>

#include "measure.hpp"
#include "report.hpp"

namespace
{

using namespace ubperf;

void serve(Options &o)
{
	std::fprintf(stderr, "ubperf: waiting at port %u\n", o.port);
	uboe::Stream stream = uboe::Stream::accept_one(o.port, 3600);

	o.parse(stream.expect("ubperf"));
	Session session(o, stream);
	for (std::uint32_t size : o.sizes)
		measure_server(session, size);
}

void ask(const Options &o)
{
	uboe::Stream stream =
		uboe::Stream::connect_to(o.server, o.port, "", static_cast<int>(o.wait_s));

	stream.send_line("ubperf " + o.serialise());
	Session session(o, stream);
	Report report(o);
	for (std::uint32_t size : o.sizes)
		report.add(measure_client(session, size));
	report.end();
}

} // namespace

int main(int argc, char **argv)
try {
	Options options = read_options(argc, argv);

	if (options.is_server())
		serve(options);
	else
		ask(options);
	return 0;
} catch (const std::exception &e) {
	std::fprintf(stderr, "ubperf: %s\n", e.what());
	return 1;
}
