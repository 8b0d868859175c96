// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Two processes of one machine, no privileges: a message, and a Write into the memory
// of the other. Start the server, and the client with the line that it prints:
//
//   hello server
//   hello client 'uboe://[127.0.0.1]/segment/...'
#include <cstdio>
#include <cstring>
#include <string>

#include <uboe/urma.hpp>

using namespace uboe::urma;

namespace
{

// Each side has to know the other's jetty. Programs exchange RemoteJetty::text(); here
// both have the same number and token, so the server's segment tells everything.
constexpr JettyId meeting_point{ 500 };

constexpr std::size_t memory_size = 4096;
constexpr std::size_t message_at = 1024; // before it is what the client writes

/// What each side needs.
struct End {
	End(const Eid &eid, Token token)
		: context(eid), completions(context),
		  receives(context, completions, { .token = token }),
		  jetty(context, completions, receives, { .id = meeting_point }),
		  memory(LocalSegment::allocate(context, memory_size,
						{ .access = Access::write, .token = token }))
	{
	}

	Context context;
	CompletionQueue completions;
	ReceiveQueue receives;
	RcJetty jetty;
	LocalSegment memory;
};

/// The next completion; an error ends the program.
Completion next(End &end, const char *what)
{
	Completion done = end.completions.wait();

	check(done.error(), what);
	return done;
}

int server(const Eid &eid, const Eid &client)
{
	const Token token = random_token();
	End end(eid, token);

	check(end.jetty.receive(end.memory.slice(message_at, 1024)), "receive");
	check(end.jetty.bind({ client, meeting_point, token }), "bind");
	std::printf("%s\n", end.memory.remote().text().c_str());
	std::fflush(stdout);

	const Completion done = next(end, "receive");
	const auto *text = reinterpret_cast<const char *>(end.memory.bytes().data());
	const RecvDone *got = done.recv();

	std::printf("message from %s: %.*s\n", got->sender.text().c_str(),
		    static_cast<int>(got->length), text + message_at);
	std::printf("memory: %s\n", text); // it came before the message
	return 0;
}

int client(const RemoteSegment &server, const Eid &eid)
{
	const Token token = server.token.value_or(Token{});
	End end(eid, token);
	const std::string text = "written by " + eid.text();

	check(end.jetty.bind({ server.eid, meeting_point, token }), "bind");
	std::memcpy(end.memory.bytes().data(), text.c_str(), text.size() + 1);

	// One doorbell for both; the second one's completion tells of both.
	const BatchResult posted =
		end.jetty.batch()
			.write(end.memory.slice(0, text.size() + 1), server.at(0),
			       { .signal = false })
			.send(LocalSlice("hello, UnifiedBus"), { .inline_data = true })
			.ring();

	check(posted.error, "post");
	next(end, server.eid.text().c_str());
	std::printf("sent\n");
	return 0;
}

int usage(const char *name)
{
	std::fprintf(stderr,
		     "usage: %s server [EID [CLIENT]]\n"
		     "       %s client DESCRIPTOR [EID]\n"
		     "EID is an address of this machine: 127.0.0.1 for the server and 127.0.0.2\n"
		     "for the client unless given. DESCRIPTOR is what the server prints.\n",
		     name, name);
	return 2;
}

} // namespace

int main(int argc, char **argv)
try {
	const std::string role = argc > 1 ? argv[1] : "";

	if (role == "server" && argc <= 4)
		return server(Eid::of(argc > 2 ? argv[2] : "127.0.0.1"),
			      Eid::of(argc > 3 ? argv[3] : "127.0.0.2"));
	if (role == "client" && (argc == 3 || argc == 4))
		return client(RemoteSegment::parse(std::string_view(argv[2])),
			      Eid::of(argc > 3 ? argv[3] : "127.0.0.2"));
	return usage(argv[0]);
} catch (const std::exception &e) {
	std::fprintf(stderr, "hello: %s\n", e.what());
	return 1;
}
