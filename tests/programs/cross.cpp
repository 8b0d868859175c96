// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Moves data to another process and looks at each byte, over whatever lies between: for
// tests of switches, whose two sides share no other network.
//
//   cross server EID PEER          prints a descriptor, ends when the client has done
//   cross client DESCRIPTOR EID [ROUNDS]
#include <charconv>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include <uboe/urma.hpp>

using namespace uboe::urma;

namespace
{

constexpr JettyId meeting_point{ 503 }; // of both sides, with the segment's token
constexpr std::size_t half = 1 << 20;
constexpr std::size_t memory_size = 2 * half + 4096;
constexpr std::size_t sizes[] = { 1, 1000, 1024, 1025, 4096, 65536, 65537, half - 7, half };

struct End {
	End(const Eid &eid, Token token)
		: context(eid), completions(context),
		  receives(context, completions, { .token = token }),
		  jetty(context, completions, receives, { .id = meeting_point }),
		  memory(LocalSegment::allocate(context, memory_size,
						{ .access = Access::atomic, .token = token }))
	{
	}

	/// Waits for what @p posted began.
	void finish(std::error_code posted, const char *what)
	{
		check(posted, what);
		check(completions.wait().error(), what);
	}

	Context context;
	CompletionQueue completions;
	ReceiveQueue receives;
	RcJetty jetty;
	LocalSegment memory;
};

int server(const Eid &eid, const Eid &peer)
{
	const Token token = random_token();
	End end(eid, token);

	check(end.jetty.receive(end.memory.slice(2 * half, 1024)), "receive");
	check(end.jetty.bind({ peer, meeting_point, token }), "bind");
	std::printf("%s\n", end.memory.remote().text().c_str());
	std::fflush(stdout);
	check(end.completions.wait().error(), "receive");
	std::printf("done\n");
	return 0;
}

void round_trip(End &end, const RemoteSegment &there, std::size_t size, unsigned seed)
{
	auto *bytes = reinterpret_cast<unsigned char *>(end.memory.bytes().data());

	for (std::size_t i = 0; i < size; ++i)
		bytes[i] = static_cast<unsigned char>(i * 131 + (i >> 8) + seed);
	std::memset(bytes + half, 0, size);
	end.finish(end.jetty.write(end.memory.slice(0, size), there.at(seed % 64)), "write");
	end.finish(end.jetty.read(end.memory.slice(half, size), there.at(seed % 64)), "read");
	if (std::memcmp(bytes, bytes + half, size))
		throw std::runtime_error(std::to_string(size) + " bytes came back otherwise");
}

int client(const RemoteSegment &there, const Eid &eid, unsigned rounds)
{
	const Token token = there.token.value_or(Token{});
	End end(eid, token);
	const auto old = end.memory.slice(2 * half, 8);

	check(end.jetty.bind({ there.eid, meeting_point, token }), "bind");
	for (unsigned i = 0; i < rounds; ++i) {
		for (std::size_t size : sizes)
			round_trip(end, there, size, i);
		end.finish(end.jetty.fetch_add(old, there.at(2 * half + 2048), 3), "fetch and add");
		if (end.memory.as<std::uint64_t>()[2 * half / 8] != 3u * i)
			throw std::runtime_error("the sum is wrong");
	}
	end.finish(end.jetty.send(LocalSlice("bye"), { .inline_data = true }), "send");
	std::printf("%u rounds\n", rounds);
	return 0;
}

} // namespace

int main(int argc, char **argv)
try {
	const std::string role = argc > 1 ? argv[1] : "";
	unsigned rounds = 3;

	if (argc > 4)
		std::from_chars(argv[4], argv[4] + std::strlen(argv[4]), rounds);
	if (role == "server" && argc == 4)
		return server(Eid::of(argv[2]), Eid::of(argv[3]));
	if (role == "client" && argc > 3)
		return client(RemoteSegment::parse(std::string_view(argv[2])), Eid::of(argv[3]),
			      rounds);
	std::fprintf(stderr,
		     "usage: cross server EID PEER | cross client DESCRIPTOR EID [ROUNDS]\n");
	return 2;
} catch (const std::exception &e) {
	std::fprintf(stderr, "cross: %s\n", e.what());
	return 1;
}
