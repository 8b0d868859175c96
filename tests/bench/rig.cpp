// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "rig.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <new>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.hpp"

namespace uboe::bench {

namespace {

int children_net = -1; // network namespace of passive ends; -1: that of the parent

} // namespace

void put_children_into(const std::string &path)
{
	children_net = open(path.c_str(), O_RDONLY | O_CLOEXEC);
	require(children_net >= 0, ("open " + path).c_str());
}

void Child::enter()
{
	if (children_net >= 0)
		require(setns(children_net, CLONE_NEWNET) == 0, "enter the peer's namespace");
}

Child::Child(std::pair<Stream, Stream> ends)
	: parent_end_(std::move(ends.first)), child_end_(std::move(ends.second)), pid_(fork())
{
	require(pid_ >= 0, "fork");
	if (pid_ == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
}

Child::~Child()
{
	try {
		parent_end_.send_line("quit");
	} catch (const std::exception &) {
		// It has gone already.
	}
	for (int turn = 0; turn < 200; ++turn) {
		if (waitpid(pid_, nullptr, WNOHANG) != 0)
			return;
		usleep(10000);
	}
	kill(pid_, SIGKILL);
	waitpid(pid_, nullptr, 0);
}

int Child::report(const std::exception &error)
{
	try {
		child_end_.send_line(std::string("failed ") + error.what());
	} catch (const std::exception &) {
		return 0; // the parent has gone: that is how it says enough
	}
	return 1;
}

void Child::leave(int status)
{
	_exit(status);
}

SharedPage::SharedPage()
{
	void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	require(memory != MAP_FAILED, "map shared memory");
	shared_ = new (memory) Shared{};
}

SharedPage::~SharedPage()
{
	munmap(shared_, sizeof(Shared));
}

Alarm::Alarm(unsigned seconds)
{
	struct sigaction action = {};

	action.sa_handler = [](int) {}; // and no SA_RESTART
	sigaction(SIGALRM, &action, nullptr);
	alarm(seconds);
}

Alarm::~Alarm()
{
	alarm(0);
}

void Patience::idle()
{
	constexpr unsigned spins = 16;
	constexpr std::uint64_t limit_ns = 20000000000u;

	if (++turns_ <= spins)
		return;
	if (turns_ == spins + 1)
		since_ = now_ns();
	if (turns_ % stride_ == 0)
		sched_yield();
	if (turns_ % 64 == 0 && now_ns() - since_ > limit_ns)
		throw Failure("no progress for 20 s");
}

std::uint64_t sent_packets()
{
	std::uint64_t packets = 0;

	for (const auto &entry : std::filesystem::directory_iterator("/sys/class/net")) {
		for (const char *way : {"tx", "rx"}) {
			std::ifstream in(entry.path() / "statistics" /
					 (std::string(way) + "_packets"));
			std::uint64_t value = 0;
			if (in >> value)
				packets += value;
			if (children_net < 0)
				break; // their devices are among ours
		}
	}
	return packets;
}

void summarise(std::vector<std::uint64_t> &times, double scale, Sample &sample)
{
	const auto at = [&](std::size_t i) {
		return static_cast<std::uint64_t>(static_cast<double>(times[i]) * scale);
	};

	std::sort(times.begin(), times.end());
	sample.median = at(times.size() / 2);
	sample.p99 = at(times.size() * 99 / 100);
}

} // namespace uboe::bench
