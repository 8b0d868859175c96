// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "signals.hpp"

#include <csignal>

#include <sys/signalfd.h>

#include "error.hpp"

namespace ubping
{

uboe::Fd take_signals()
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	uboe::require_zero(pthread_sigmask(SIG_BLOCK, &set, nullptr), "pthread_sigmask");
	uboe::Fd fd(signalfd(-1, &set, SFD_CLOEXEC));

	uboe::require(bool(fd), "signalfd");
	return fd;
}

} // namespace ubping
