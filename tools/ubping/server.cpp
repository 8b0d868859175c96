// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Sends everything back. Each client has a thread and a jetty; clients that arrive at
// the same address share the opened device.
#include "server.hpp"

#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>

#include "end.hpp"
#include "error.hpp"
#include "hello.hpp"
#include "signals.hpp"

namespace ubping
{

namespace
{

constexpr std::size_t most_clients = 64;
constexpr std::uint32_t slots = 64; // twice as many as a client has in flight
constexpr timeval patience = { 10, 0 }; // for a client's greeting
constexpr timeval none = {};

void set_patience(const uboe::Stream &s, const timeval &t)
{
	setsockopt(s.fd(), SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(s.fd(), SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

/// A machine that vanishes closes no connection.
void notice_absence(const uboe::Stream &s)
{
	const int on = 1, idle_s = 30, interval_s = 10, probes = 3;

	setsockopt(s.fd(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(s.fd(), IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(s.fd(), IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(s.fd(), IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

class Server
{
      public:
	explicit Server(const Options &options) : options_(options), signals_(take_signals())
	{
	}

	void run()
	{
		// an address that is in use is told now
		if (!options_.eid.empty())
			context_at(urma::Eid::of(options_.eid));
		const uboe::Fd listener = uboe::tcp_listen(options_.eid, options_.port);

		if (!options_.json) {
			std::fprintf(stderr, "ubping: waiting at %s port %u\n",
				     options_.eid.empty() ? "any address," : options_.eid.c_str(),
				     options_.port);
		}
		while (auto stream = accept(listener)) {
			if (options_.once) {
				serve(*stream);
				return;
			}
			start(std::move(*stream));
		}
	}

      private:
	struct Worker {
		std::atomic<bool> done = false;
		std::jthread thread;
	};

	std::optional<uboe::Stream> accept(const uboe::Fd &listener)
	{
		for (;;) {
			pollfd fds[] = { { signals_.get(), POLLIN, 0 },
					 { listener.get(), POLLIN, 0 } };

			if (poll(fds, 2, -1) < 0 && errno != EINTR)
				uboe::fail_errno("poll");
			if (fds[0].revents)
				return std::nullopt;
			uboe::Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));

			if (fd)
				return uboe::Stream(std::move(fd));
			if (errno == EMFILE || errno == ENFILE)
				std::this_thread::sleep_for(std::chrono::milliseconds(100));
		}
	}

	void start(uboe::Stream stream)
	{
		workers_.remove_if([](const Worker &w) { return w.done.load(); });
		if (workers_.size() >= most_clients) {
			send_refusal(stream, "it serves " + std::to_string(most_clients) +
						     " clients already");
			return;
		}
		Worker &w = workers_.emplace_back();

		w.thread = std::jthread([this, &w, s = std::move(stream)]() mutable {
			serve(s);
			w.done = true;
		});
	}

	std::shared_ptr<urma::Context> context_at(const urma::Eid &eid)
	{
		const std::lock_guard hold(lock_);
		auto &context = contexts_[eid];

		if (!context)
			context = open_context(options_.device, eid);
		return context;
	}

	void serve(uboe::Stream &stream) noexcept
	try {
		set_patience(stream, patience);
		const Hello hello = receive_hello(stream);
		const std::string name = hello.jetty.eid.text();

		try {
			serve(stream, hello, name);
		} catch (const std::exception &e) {
			std::fprintf(stderr, "ubping: client %s: %s\n", name.c_str(), e.what());
		}
	} catch (const std::exception &e) {
		std::fprintf(stderr, "ubping: %s\n", e.what());
	}

	void serve(uboe::Stream &stream, const Hello &hello, const std::string &name)
	{
		const auto end = prepare(stream, hello);

		set_patience(stream, none);
		notice_absence(stream);
		const std::uint64_t messages = echo(*end, stream);

		if (options_.json)
			say(nlohmann::json{ { "client", name },
					    { "size", hello.size },
					    { "messages", messages } }
				    .dump());
		else if (!options_.quiet)
			say(name + ": " + std::to_string(messages) + " messages of " +
			    std::to_string(hello.size) + " bytes");
	}

	void say(const std::string &line)
	{
		std::printf("%s\n", line.c_str());
		std::fflush(stdout);
	}

	/// An end that is bound to the client; what is wrong is told to it.
	std::unique_ptr<End> prepare(uboe::Stream &stream, const Hello &hello)
	try {
		const auto eid =
			urma::Eid::of(options_.eid.empty() ? stream.local_address() : options_.eid);
		auto end = std::make_unique<End>(context_at(eid), slots, 0, hello.size);

		if (hello.jetty.eid.is_v4() != eid.is_v4())
			throw std::runtime_error("it is at " + eid.text() + " and the client at " +
						 hello.jetty.eid.text() +
						 ": both ends are of one family");
		urma::check(end->jetty().bind(hello.jetty), "bind to " + hello.jetty.eid.text());
		send_welcome(stream, end->jetty().remote());
		return end;
	} catch (const std::exception &e) {
		send_refusal(stream, e.what());
		throw;
	}

	/// Until the client closes the stream, or a signal comes; how many.
	std::uint64_t echo(End &end, const uboe::Stream &stream)
	{
		std::uint64_t messages = 0;

		for (;;) {
			serve_completions(end, messages);
			pollfd fds[] = { { signals_.get(), POLLIN, 0 },
					 { stream.fd(), POLLIN, 0 },
					 { end.channel().fd(), POLLIN, 0 } };

			if (poll(fds, 3, -1) < 0 && errno != EINTR)
				uboe::fail_errno("poll");
			if (fds[0].revents || fds[1].revents)
				return messages;
		}
	}

	void serve_completions(End &end, std::uint64_t &messages)
	{
		using namespace std::chrono_literals;

		while (const auto event = end.channel().next(0ms)) {
			while (const auto c = event->poll()) {
				const auto slot = static_cast<std::uint32_t>(c->user());

				urma::check(c->error(),
					    "after " + std::to_string(messages) + " messages");
				// the buffer goes back, then it is free again
				if (const urma::RecvDone *done = c->recv()) {
					end.send(slot, done->length);
					++messages;
				} else {
					end.post_receive(slot);
				}
			}
		}
	}

	const Options &options_;
	const uboe::Fd signals_; // before there are threads
	std::mutex lock_; // guards the next
	std::map<urma::Eid, std::shared_ptr<urma::Context>> contexts_;
	std::list<Worker> workers_; // goes first: its threads use the above
};

} // namespace

void run_server(const Options &options)
{
	Server(options).run();
}

} // namespace ubping
