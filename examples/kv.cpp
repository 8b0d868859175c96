// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A key-value store whose server's CPU has no part in it: clients find, read and change
// entries of its table by Reads and atomics.
//
//   kv server                     # at 127.0.0.1; prints DESCRIPTOR
//   kv DESCRIPTOR put 7 42        # clients are at 127.0.0.2
//   kv DESCRIPTOR cas 7 42 43     # only if it is 42
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>

#include <uboe/urma.hpp>

using namespace uboe::urma;
using namespace std::chrono_literals;
using u64 = std::uint64_t;

namespace
{

constexpr JettyId meeting_point{ 501 }; // of both sides, with the segment's token

struct Slot {
	u64 key; // 0: free. Never changes once it is taken; keys are not 0
	u64 value;
};

/// What both sides have: a jetty, and memory with @p access.
struct End {
	End(const Eid &eid, Token token, std::size_t size, Access access)
		: context(eid), completions(context),
		  receives(context, completions, { .token = token }),
		  jetty(context, completions, receives, { .id = meeting_point }),
		  memory(LocalSegment::allocate(context, size,
						{ .access = access, .token = token }))
	{
	}

	Context context;
	CompletionQueue completions;
	ReceiveQueue receives;
	RcJetty jetty;
	LocalSegment memory;
};

/// One client after the other. Each says that it is there; that it has gone shows when
/// something is asked of the connection.
int server()
{
	const Token token = random_token();
	End end(Eid::of("127.0.0.1"), token, 4096 * sizeof(Slot), Access::atomic);

	std::printf("%s\n", end.memory.remote().text().c_str());
	std::fflush(stdout);
	for (;;) {
		check(end.jetty.receive(LocalSlice("")), "receive");
		check(end.jetty.bind({ Eid::of("127.0.0.2"), meeting_point, token }), "bind");
		while (!end.completions.poll())
			std::this_thread::sleep_for(5ms);
		while (!end.jetty.nop() && end.completions.wait())
			std::this_thread::sleep_for(5ms);
		check(end.jetty.reset(), "reset");
	}
}

u64 number(const char *text)
{
	u64 n = 0;
	const char *end = text + std::strlen(text);

	if (const auto r = std::from_chars(text, end, n); r.ec != std::errc() || r.ptr != end)
		throw std::invalid_argument("'" + std::string(text) + "' is no number");
	return n;
}

int client(const RemoteSegment &table, const std::string &command, u64 key, u64 first, u64 second)
{
	if (!key)
		throw std::invalid_argument("key 0 means that a slot is free");
	End end(Eid::of("127.0.0.2"), table.token.value_or(Token{}), 4096, Access::local);
	const LocalSlice word = end.memory.slice(0, sizeof(u64));
	const auto result = [&](std::error_code posted) {
		check(posted, "post");
		check(end.completions.wait().error(), table.eid.text());
		return end.memory.as<u64>()[0];
	};

	check(end.jetty.bind({ table.eid, meeting_point, table.token }), "bind");
	result(end.jetty.send(LocalSlice(""), { .inline_data = true }));
	for (u64 i = 0, slots = table.length / sizeof(Slot); i < slots; ++i) { // open addressing
		const u64 slot = (key * 0x9e3779b97f4a7c15 + i) % slots * sizeof(Slot);
		const RemoteSlice its_key = table.at(slot + offsetof(Slot, key));
		const RemoteSlice its_value = table.at(slot + offsetof(Slot, value));
		u64 there = result(end.jetty.read(word, its_key));

		if (!there && command == "put") // 0 again: nobody was faster, it is ours
			there = result(end.jetty.cas(word, its_key, 0, key));
		if (!there && command != "put")
			throw std::runtime_error("no such key");
		if (there && there != key)
			continue;
		const u64 old =
			result(command == "get" ? end.jetty.read(word, its_value) :
			       command == "put" ? end.jetty.swap(word, its_value, first) :
						  end.jetty.cas(word, its_value, first, second));

		std::printf("%ju\n", std::uintmax_t{ old });
		return command == "cas" && old != first ? 3 : 0;
	}
	throw std::runtime_error("the table is full");
}

} // namespace

int main(int argc, char **argv)
try {
	const std::string command = argc > 2 ? argv[2] : "";

	if (argc == 2 && !std::strcmp(argv[1], "server"))
		return server();
	if ((argc == 4 && command == "get") || (argc == 5 && command == "put") ||
	    (argc == 6 && command == "cas"))
		return client(RemoteSegment::parse(std::string_view(argv[1])), command,
			      number(argv[3]), argc > 4 ? number(argv[4]) : 0,
			      argc > 5 ? number(argv[5]) : 0);
	std::fprintf(stderr,
		     "usage: %1$s server                       prints DESCRIPTOR\n"
		     "       %1$s DESCRIPTOR get KEY           prints the value\n"
		     "       %1$s DESCRIPTOR put KEY VALUE     prints the value before\n"
		     "       %1$s DESCRIPTOR cas KEY OLD NEW   the same; status 3: not OLD\n",
		     argv[0]);
	return 2;
} catch (const std::exception &e) {
	std::fprintf(stderr, "kv: %s\n", e.what());
	return 1;
}
