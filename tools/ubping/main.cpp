// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// ubping: round trips over URMA between two processes. See docs/man/ubping.1.
#include <cstdio>
#include <exception>

#include "client.hpp"
#include "end.hpp"
#include "server.hpp"

int main(int argc, char **argv)
try {
	const ubping::Options options = ubping::read_options(argc, argv);

	ubping::LibraryLog::capture();
	if (!options.is_server())
		return ubping::run_client(options);
	ubping::run_server(options);
	return 0;
} catch (const std::exception &e) {
	std::fprintf(stderr, "ubping: %s\n", e.what());
	return 2;
}
