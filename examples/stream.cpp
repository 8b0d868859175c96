// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Many Writes in flight, by coroutines: one for each place of the window. Each Write also
// stores its number at the receiver (notify), who needs no receive buffers.
//
//   stream server
//   stream DESCRIPTOR [SIZE [COUNT [WINDOW]]]
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include <uboe/urma.hpp>

using namespace uboe::urma;
using u64 = std::uintmax_t; // of printf's j

namespace
{

constexpr JettyId meeting_point{ 502 }; // of both sides, with the segment's token
constexpr u64 max_window = 64;
constexpr u64 max_size = 1 << 20;
constexpr u64 words = max_window * sizeof(u64); // at the beginning

struct End {
	End(const Eid &eid, Token token, std::size_t size)
		: context(eid), channel(context), completions(channel),
		  receives(context, completions, { .token = token }),
		  jetty(context, completions, receives,
			{ .depth = max_window, .id = meeting_point }),
		  memory(LocalSegment::allocate(context, size,
						{ .access = Access::write, .token = token }))
	{
	}

	Context context;
	EventChannel channel; // who waits sleeps
	CompletionQueue completions;
	ReceiveQueue receives;
	RcJetty jetty;
	LocalSegment memory;
};

Task<u64> receive_total(End &end)
{
	const Completion done =
		co_await end.receives.async().receive(end.memory.slice(end.memory.size() - 8, 8));

	check(done.error(), "receive");
	co_return done.recv()->imm;
}

int server()
{
	const Token token = random_token();
	End end(Eid::of("127.0.0.1"), token, words + max_window * max_size + 8);
	Poller poller(end.completions, end.channel);

	check(end.jetty.bind({ Eid::of("127.0.0.2"), meeting_point, token }), "bind");
	std::printf("%s\n", end.memory.remote().text().c_str());
	std::fflush(stdout);

	const u64 total = poller.run(receive_total(end));
	u64 arrived = 0;

	for (u64 i = 0; i < max_window; ++i)
		arrived += end.memory.as<u64>()[i];
	std::printf("%ju of %ju messages arrived\n", arrived, total);
	return arrived == total ? 0 : 1;
}

/// One place of the window: a Write after the other, until all are taken.
Task<> worker(End &end, RemoteSegment to, u64 place, u64 size, u64 &left)
{
	for (u64 n = 1; left; ++n) {
		--left;
		const Completion done = co_await end.jetty.async().write_notify(
			end.memory.slice(0, size), to.at(words + place * size),
			to.at(place * sizeof(n)), n);

		check(done.error(), to.eid.text());
	}
}

Task<> tell_total(End &end, u64 total)
{
	const Completion done =
		co_await end.jetty.async().send_imm(LocalSlice(""), total, { .inline_data = true });

	check(done.error(), "send");
}

int client(const RemoteSegment &to, u64 size, u64 count, u64 window)
{
	End end(Eid::of("127.0.0.2"), to.token.value_or(Token{}), max_size);
	Poller poller(end.completions, end.channel);
	u64 left = count;

	check(end.jetty.bind({ to.eid, meeting_point, to.token }), "bind");
	const auto start = std::chrono::steady_clock::now();

	for (u64 i = 0; i < window; ++i)
		poller.spawn(worker(end, to, i, size, left));
	poller.run();
	const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;

	poller.run(tell_total(end, count));
	std::printf("%ju messages of %ju bytes, %ju in flight: %.1f MB/s, %.0f messages/s\n", count,
		    size, window, static_cast<double>(count * size) / took.count() / 1e6,
		    static_cast<double>(count) / took.count());
	return 0;
}

u64 number(const char *text, u64 max)
{
	u64 n = 0;
	const char *end = text + std::strlen(text);
	const auto r = std::from_chars(text, end, n);

	if (r.ec != std::errc() || r.ptr != end || !n || n > max)
		throw std::invalid_argument("'" + std::string(text) + "' is no number from 1 to " +
					    std::to_string(max));
	return n;
}

} // namespace

int main(int argc, char **argv)
try {
	if (argc == 2 && !std::strcmp(argv[1], "server"))
		return server();
	if (argc >= 2 && argc <= 5)
		return client(RemoteSegment::parse(std::string_view(argv[1])),
			      number(argc > 2 ? argv[2] : "65536", max_size),
			      number(argc > 3 ? argv[3] : "2000", UINT32_MAX),
			      number(argc > 4 ? argv[4] : "16", max_window));
	std::fprintf(stderr,
		     "usage: %s server\n"
		     "       %s DESCRIPTOR [SIZE [COUNT [WINDOW]]]\n"
		     "The server is at 127.0.0.1 and prints DESCRIPTOR, the client at 127.0.0.2.\n"
		     "SIZE: bytes of a message, 65536; COUNT: 2000; WINDOW: in flight, 16.\n",
		     argv[0], argv[0]);
	return 2;
} catch (const std::exception &e) {
	std::fprintf(stderr, "stream: %s\n", e.what());
	return 1;
}
