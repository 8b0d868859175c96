// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Litmus of the doorbell protocol (docs/decisions/0006): a producer posts just when
// the engine may be going idle on another CPU. If a store is missed, nobody looks at
// the queue again and the completion never comes.
//
//   doorbell DEV0 ADDRESS0 DEV1 ADDRESS1 ROUNDS
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#include "loop_pair.hpp"

using namespace uboe;
using Clock = std::chrono::steady_clock;

namespace
{

constexpr auto patience = std::chrono::seconds(60);
constexpr std::uint32_t depth = 4;

/// Posts ROUNDS small writes with pauses of every length, some in flight at a time.
void run(LoopEnd &end, const Region &from, const RemoteRegion &to, long rounds, unsigned seed)
{
	std::mt19937 random(seed);
	long posted = 0, done = 0;
	auto last = Clock::now();

	while (done < rounds) {
		const long in_flight = posted - done;

		if (posted < rounds && in_flight < static_cast<long>(1 + random() % depth)) {
			ibv_sge piece = { from.address(), 8, from.lkey() };
			ibv_send_wr request = {};

			request.wr_id = static_cast<std::uint64_t>(posted);
			request.sg_list = &piece;
			request.num_sge = 1;
			request.opcode = IBV_WR_RDMA_WRITE;
			request.send_flags = IBV_SEND_SIGNALED;
			request.wr.rdma.remote_addr = to.address;
			request.wr.rdma.rkey = to.rkey;
			end.queue.post_send(request);
			++posted;
			for (unsigned spin = random() % 300; spin; --spin)
				__asm__ volatile("" ::: "memory");
		}
		ibv_wc completions[depth];
		const int n = end.completions.poll(completions, depth);

		for (int i = 0; i < n; ++i, ++done)
			if (completions[i].wr_id != static_cast<std::uint64_t>(done))
				throw Failure("completion out of order");
		if (n)
			last = Clock::now();
		else if (Clock::now() - last > patience)
			throw Failure("lost wake-up after " + std::to_string(done) + " of " +
				      std::to_string(posted) + " posted");
	}
}

} // namespace

int main(int argc, char **argv)
try {
	if (argc != 6) {
		std::cerr << "usage: doorbell DEV0 ADDRESS0 DEV1 ADDRESS1 ROUNDS\n";
		return 2;
	}
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	Device one(argv[1], argv[2]), two(argv[3], argv[4]);
	Region here(one, 4096, access), there(two, 4096, access);
	LoopEnd a(one, { 16, 16, 0 }), b(two, { 16, 16, 0 });
	const long rounds = std::atol(argv[5]);

	join(a, b);
	std::exception_ptr failed;
	std::thread back([&] {
		try {
			run(b, there, RemoteRegion::parse(here.describe()), rounds, 2);
		} catch (...) {
			failed = std::current_exception();
		}
	});
	run(a, here, RemoteRegion::parse(there.describe()), rounds, 1);
	back.join();
	if (failed)
		std::rethrow_exception(failed);
	std::cout << "doorbell: " << 2 * rounds << " rounds, no wake-up lost\n";
	return 0;
} catch (const std::exception &error) {
	std::cerr << "doorbell: " << error.what() << '\n';
	return 1;
}
