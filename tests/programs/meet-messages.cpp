// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// meet-messages ADDRESS NETNS FAR-ADDRESS: jetties without connections of the kernel
// device at ADDRESS, and of the in-process device in another network namespace, talk to
// each other: messages reliable and not, and all that reliable ones do with memory.
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <uboe/urma.hpp>

namespace
{

using namespace uboe::urma;
using namespace std::chrono_literals;

constexpr std::size_t memory_size = 1 << 20;
constexpr std::size_t half = memory_size / 2;

int results, failures;

void report(const std::string &name, bool ok)
{
	std::cout << (ok ? "ok " : "not ok ") << ++results << ' ' << name << std::endl;
	failures += !ok;
}

void enter(const std::string &name)
{
	const int fd = open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		throw std::runtime_error("enter the network namespace");
	close(fd);
}

/* One side with a jetty of each kind */
struct End {
	explicit End(const std::string &eid)
		: context(Eid::of(eid.c_str())), completions(context),
		  um_receives(context, completions, { .mode = Mode::um }),
		  rm_receives(context, completions, { .min_rnr_timer = 12, .mode = Mode::rm }),
		  um(context, completions, um_receives), rm(context, completions, rm_receives),
		  memory(LocalSegment::allocate(context, memory_size, { .access = Access::atomic }))
	{
	}

	bool done(std::uint64_t user)
	{
		const auto c = completions.wait_for(10s);

		return c && *c && c->user() == user;
	}

	std::uint8_t *at(std::size_t offset)
	{
		return reinterpret_cast<std::uint8_t *>(memory.bytes().data()) + offset;
	}

	Context context;
	CompletionQueue completions;
	ReceiveQueue um_receives, rm_receives;
	UmJetty um;
	RmJetty rm;
	LocalSegment memory;
};

void fill(End &end, std::size_t n, unsigned seed)
{
	for (std::size_t i = 0; i < n; ++i)
		end.at(0)[i] = static_cast<std::uint8_t>(seed + i * 13 + i / 509);
}

bool same(End &a, End &b, std::size_t n)
{
	return !std::memcmp(a.at(0), b.at(half), n);
}

/* A receive of @p b has what @p jetty of @p a sent */
bool arrived(End &a, JettyId jetty, End &b, std::uint32_t n)
{
	const auto c = b.completions.wait_for(10s);

	return c && *c && c->recv() && c->recv()->imm == 42u && c->recv()->length == n &&
	       c->recv()->sender == a.context.eid() && c->recv()->sender_jetty == jetty &&
	       same(a, b, n);
}

void unreliable(End &a, End &b, const std::string &way)
{
	const UmTarget target(a.context, b.um.remote());

	for (std::uint32_t n : { 0u, 1u, 1024u }) {
		fill(a, n, n);
		check(b.um.receive(b.memory.slice(half, 4096), 1), "receive");
		check(a.um.send_imm(target, a.memory.slice(0, n), 42, { .user = 2 }), "send");
		report("UM, " + way + ", " + std::to_string(n) + " bytes",
		       a.done(2) && arrived(a, a.um.id(), b, n));
	}
}

void reliable(End &a, End &b, const std::string &way)
{
	const RmTarget target(a.context, b.rm.remote());
	const RemoteSegment there = b.memory.remote();
	RmPath path = a.rm.to(target);
	std::uint64_t counter = 7;

	for (std::uint32_t n : { 0u, 1u, 65536u }) {
		fill(a, n, n + 1);
		check(path.send_imm(a.memory.slice(0, n), 42, { .user = 3 }), "send");
		usleep(2000); /* it waits for its receive */
		check(b.rm.receive(b.memory.slice(half, 65536), 1), "receive");
		report("RM, " + way + ", Send of " + std::to_string(n) + " bytes",
		       arrived(a, a.rm.id(), b, n) && a.done(3));
	}
	fill(a, half, 9);
	check(path.write(a.memory.slice(0, half), there.at(half), { .user = 4 }), "write");
	report("RM, " + way + ", Write", a.done(4) && same(a, b, half));
	std::memset(a.at(half), 0, half);
	check(path.read(a.memory.slice(half, half), there.at(half), { .user = 5 }), "read");
	report("RM, " + way + ", Read", a.done(5) && !std::memcmp(a.at(half), b.at(half), half));
	std::memcpy(b.at(8), &counter, sizeof(counter));
	check(path.fetch_add(a.memory.slice(0, 8), there.at(8), 5, { .user = 6 }), "add");
	const bool added = a.done(6) && !std::memcmp(a.at(0), &counter, sizeof(counter));

	counter += 5;
	report("RM, " + way + ", add", added && !std::memcmp(b.at(8), &counter, sizeof(counter)));
}

int run(char **argv)
{
	End near(argv[1]);

	setenv("URMA_INPROC_EIDS", argv[3], 1);
	enter(argv[2]); /* the kernel device stays where it is */
	End far(argv[3]);

	unreliable(near, far, "to the in-process device");
	unreliable(far, near, "to the kernel device");
	reliable(near, far, "to the in-process device");
	reliable(far, near, "to the kernel device");
	std::cout << "1.." << results << std::endl;
	return failures != 0;
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc != 4) {
		std::cerr << "usage: meet-messages ADDRESS NETNS FAR-ADDRESS\n";
		return 2;
	}
	try {
		return run(argv);
	} catch (const std::exception &e) {
		std::cerr << "meet-messages: " << e.what() << '\n';
		return 1;
	}
}
