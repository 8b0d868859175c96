// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Two processes, one on each device, that keep Writes, Reads, Sends and atomics posted
// to one another.
//
//   load DEV ADDRESS PEER_DEV PEER_ADDRESS            says "ready"; until a process fails
//   load --kill ROUNDS DEV ADDRESS PEER_DEV PEER_ADDRESS
//
// With --kill both are killed by SIGKILL once they have work posted, at a random moment
// and in a random order, ROUNDS times.
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.hpp"
#include "stream.hpp"
#include "verbs.hpp"

using namespace uboe;

namespace
{

constexpr std::uint32_t depth = 16, receives = 64, slot = 8192;
constexpr unsigned patience_s = 60;

struct Place {
	std::string device;
	std::string address;
};

/// One end, in a process of its own.
class End
{
      public:
	End(const Place &place, Stream stream, unsigned kind)
		: kind_(kind), device_(place.device, place.address), completions_(device_, 256),
		  memory_(device_, std::size_t{ depth } * slot,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC),
		  queue_(device_, completions_, completions_, { depth, receives, 0 })
	{
		for (std::uint32_t i = 0; i < receives; ++i)
			post_receive();
		queue_.connect(stream);
		stream.send_line("region " + memory_.describe());
		remote_ = RemoteRegion::parse(stream.expect("region"));
		for (std::uint32_t i = 0; i < depth; ++i)
			post();
	}

	/// Until something fails, which is what happens when the other end is killed.
	[[noreturn]] void run()
	{
		std::array<ibv_wc, 16> done;

		for (;;) {
			const int got = sleeps() ? completions_.wait(done.data(), done.size(), -1) :
						   completions_.poll(done.data(), done.size());

			for (int i = 0; i < got; ++i) {
				if (done[static_cast<std::size_t>(i)].opcode & IBV_WC_RECV)
					post_receive();
				else
					post();
			}
			usleep(5000); // the CPU is wanted by what happens to the device
		}
	}

      private:
	bool sleeps() const { return kind_ % 2; }

	void post_receive() { queue_.post_receive(0, memory_.data(), slot, memory_.lkey()); }

	void post()
	{
		const std::uint64_t at = posted_++ % depth * slot;
		ibv_sge piece = { memory_.address() + at, slot, memory_.lkey() };
		ibv_send_wr request = {};

		request.sg_list = &piece;
		request.num_sge = 1;
		request.send_flags = IBV_SEND_SIGNALED;
		request.wr.rdma = { remote_.address + at, remote_.rkey };
		switch ((kind_ / 2 + posted_) % 4) {
		case 0: request.opcode = IBV_WR_RDMA_WRITE; break;
		case 1:
			request.opcode = IBV_WR_RDMA_READ;
			piece.length = 4096;
			break;
		case 2:
			request.opcode = IBV_WR_SEND;
			piece.length = 1500;
			break;
		default:
			request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
			request.wr.atomic = { remote_.address + at, 1, 0, remote_.rkey };
			piece.length = 8;
			break;
		}
		queue_.post_send(request);
	}

	const unsigned kind_;
	Device device_;
	CompletionQueue completions_;
	Region memory_;
	QueuePair queue_;
	RemoteRegion remote_;
	std::uint64_t posted_ = 0;
};

/// The two processes of one round.
class Couple
{
      public:
	Couple(const std::array<Place, 2> &places, unsigned kind)
	{
		auto link = Stream::pair();
		auto news = Stream::pair();

		std::cout.flush();
		for (std::size_t i = 0; i < 2; ++i) {
			pids_[i] = fork();
			require(pids_[i] >= 0, "fork");
			if (!pids_[i])
				child(places[i], i ? std::move(link.second) : std::move(link.first),
				      news.second, kind);
		}
		news.second = Stream();
		alarm(patience_s);
		for (int i = 0; i < 2; ++i)
			news.first.expect("posted");
		alarm(0);
	}
	~Couple()
	{
		for (pid_t pid : pids_) {
			kill(pid, SIGKILL);
			waitpid(pid, nullptr, 0);
		}
	}
	Couple(const Couple &) = delete;
	Couple &operator=(const Couple &) = delete;

	void kill_one(std::size_t which) const { kill(pids_[which], SIGKILL); }
	void wait_for_one() const
	{
		siginfo_t info;

		waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
	}

      private:
	[[noreturn]] static void child(const Place &place, Stream link, Stream &news, unsigned kind)
	{
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		try {
			End end(place, std::move(link), kind);

			news.send_line("posted");
			end.run();
		} catch (const std::exception &error) {
			std::cerr << "load: " << place.device << ": " << error.what() << '\n';
		}
		_exit(1);
	}

	std::array<pid_t, 2> pids_ = {};
};

void kill_rounds(const std::array<Place, 2> &places, unsigned rounds)
{
	std::mt19937 random(1);

	for (unsigned i = 0; i < rounds; ++i) {
		Couple couple(places, i);
		const std::size_t first = random() % 2;

		usleep(random() % 20000);
		couple.kill_one(first);
		if (random() % 2)
			usleep(random() % 10000);
		couple.kill_one(1 - first);
	}
	std::cout << "load: " << rounds << " couples killed\n";
}

} // namespace

int main(int argc, char **argv)
try {
	unsigned rounds = 0;

	if (argc > 2 && !std::strcmp(argv[1], "--kill")) {
		rounds = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
		argv += 2;
		argc -= 2;
	}
	if (argc != 5) {
		std::cerr << "usage: load [--kill ROUNDS] DEV ADDRESS PEER_DEV PEER_ADDRESS\n";
		return 2;
	}
	const std::array<Place, 2> places = { Place{ argv[1], argv[2] },
					      Place{ argv[3], argv[4] } };

	if (rounds) {
		kill_rounds(places, rounds);
		return 0;
	}
	Couple poll(places, 0), sleep(places, 1);

	std::cout << "ready" << std::endl;
	poll.wait_for_one();
	return 0;
} catch (const std::exception &error) {
	std::cerr << "load: " << error.what() << '\n';
	return 1;
}
