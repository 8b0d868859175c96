// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// ubping: round trips over URMA between two processes. See docs/man/ubping.1.
#include <csignal>
#include <cstdio>
#include <exception>

#include <sys/signalfd.h>

#include "client.hpp"
#include "end.hpp"
#include "error.hpp"
#include "server.hpp"
#include "stream.hpp"

namespace
{

/// Readable after SIGINT or SIGTERM. Made before there are other threads.
uboe::Fd signal_descriptor()
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, nullptr);
	uboe::Fd fd(signalfd(-1, &set, SFD_CLOEXEC));

	uboe::require(bool(fd), "signalfd");
	return fd;
}

} // namespace

int main(int argc, char **argv)
try {
	const ubping::Options options = ubping::read_options(argc, argv);
	const uboe::Fd signals = signal_descriptor();

	ubping::LibraryLog::capture();
	if (!options.is_server())
		return ubping::run_client(options, signals.get());
	ubping::run_server(options, signals.get());
	return 0;
} catch (const std::exception &e) {
	std::fprintf(stderr, "ubping: %s\n", e.what());
	return 2;
}
