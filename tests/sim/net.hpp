/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Virtual clock, event queue, endpoints and the bad network between them. */
#ifndef UBSIM_NET_HPP
#define UBSIM_NET_HPP

#include <functional>
#include <stdexcept>
#include <string>

#include "host.hpp"
#include "rng.hpp"

namespace ubsim
{

constexpr std::uint64_t us = 1000;
constexpr std::uint64_t ms = 1000 * us;
constexpr std::uint64_t sec = 1000 * ms;

/* What a seed makes of the network and of the load on it */
struct profile {
	unsigned nodes;
	unsigned pairs; /* connections between each two nodes */
	unsigned ops; /* work requests of the whole run */
	double loss;
	double dup;
	double reorder;
	double corrupt;
	double mark; /* ECN CE */
	double no_room; /* tx_alloc fails */
	std::uint64_t latency;
	std::uint64_t jitter;
	std::uint64_t extra; /* delay of a reordered packet */
	std::uint64_t per_byte; /* picoseconds */
	bool fifo;
	bool blackouts;
	unsigned chaos; /* connections that get broken */
	bool wrap_psn; /* PSNs, TASSNs and TPMSNs start close to their end */
	bool big; /* multi-megabyte messages */
	bool late_receives;
	bool events; /* wait for JFC events instead of polling */
	bool messages; /* jetties without connections, too */
	bool congestion; /* controllers, and switches that mark */
	bool tables; /* small RC tables, and much that fills them; slices of all sizes */

	static profile draw(rng &r, unsigned ops);
	bool perfect() const
	{
		return fifo && !loss && !dup && !reorder && !corrupt && !no_room && !blackouts;
	}
};

/* The oracle found something wrong. */
struct failure : std::runtime_error {
	using std::runtime_error::runtime_error;
};

[[gnu::format(printf, 1, 2)]] [[noreturn]] void fail(const char *format, ...);

enum class act : std::uint8_t {
	packet, /* a: slot of the packet */
	timer, /* a: channel, b: generation */
	resume, /* a: channel */
	turn, /* a: jetty */
	drive, /* a: jetty; a program inside its KICK goes on */
	moderation, /* a: JFC */
	user, /* for the traffic: a, b */
};

struct action {
	std::uint64_t at;
	std::uint64_t seq;
	std::uint64_t b;
	std::uint32_t a;
	std::uint16_t node;
	act kind;
	std::uint8_t what;
};

class world;

/* An endpoint: a host whose packets and deadlines go through the world */
class node final : public host
{
      public:
	node(world &w, unsigned index, const ubp_config &cfg);

	unsigned index() const { return index_; }
	address addr(bool v6) const;

	std::uint64_t now() override;
	/* a program rings: it sends in slices, while other things happen */
	int kick(std::uint32_t jetty) override;
	std::uint32_t random() override;
	bool tx_room(ubp_path &path) override;
	void sent(ubp_path &path, bytes &&data) override;
	void set_timer(ubp_tp *tp, std::uint64_t when) override;
	void cancel_timer(ubp_tp *tp) override;
	void set_jfc_timer(std::uint32_t id, std::uint64_t when) override;
	void set_jetty_timer(ubp_jetty *j, std::uint64_t when) override;
	void later(ubp_jetty *jetty) override;
	void jfc_fired(ubp_jfc *jfc) override;
	void happened(const event &) override {}

	std::function<void(std::uint32_t)> on_jfc;

      private:
	friend class world;

	void drive(std::uint32_t jetty);

	world &w_;
	unsigned index_;
	unsigned randoms_ = 0;
	std::map<std::uint32_t, std::uint64_t> timer_gen_;
	std::map<std::uint32_t, bool> blocked_;
};

/*
 * Listens to the packets towards one end of a channel: it may acknowledge
 * selectively only what has reached it, and nothing is sent to it again that
 * is known to have arrived, but for the first packet in flight, which asks.
 */
struct audit {
	static constexpr std::uint32_t ring = 8192; /* more than any window */

	unsigned far; /* the sender */
	std::uint32_t far_tpn;
	std::vector<std::uint32_t> reached = std::vector<std::uint32_t>(ring, ~0u);
	std::vector<std::uint32_t> known = std::vector<std::uint32_t>(ring, ~0u);

	static void set(std::vector<std::uint32_t> &v, std::uint32_t psn) { v[psn % ring] = psn; }
	static bool has(const std::vector<std::uint32_t> &v, std::uint32_t psn)
	{
		return v[psn % ring] == psn;
	}
};

class world
{
      public:
	world(std::uint64_t seed, const profile &p, bool trace);

	std::uint64_t clock = 0;
	rng random;
	const profile prof;
	std::vector<std::unique_ptr<node>> nodes;
	std::function<void(const action &)> on_user;

	void at(std::uint64_t delay, act kind, unsigned node, std::uint32_t a, std::uint64_t b = 0,
		std::uint8_t what = 0);
	/* One event; false when there is none */
	bool step();
	void transmit(unsigned from, unsigned to, bytes &&data);
	/* Audit packets to this end, until its numbers get a second life */
	void watch(unsigned node, std::uint32_t tpn, unsigned far, std::uint32_t far_tpn);
	void unwatch(unsigned node, std::uint32_t tpn);
	/* From now on the network is perfect, to let everything come to rest */
	void calm() { calm_ = true; }
	bool is_calm() const { return calm_; }

	bool tracing() const { return trace_; }
	[[gnu::format(printf, 2, 3)]] void note(const char *format, ...);

	bool first_lives = true; /* no connection has been broken yet */
	std::uint64_t events = 0;
	std::uint64_t packets = 0;

      private:
	struct link {
		std::uint64_t busy = 0;
		std::uint64_t last = 0;
		std::uint64_t dark_from = 0;
		std::uint64_t dark_until = 0;
	};

	void deliver(unsigned from, unsigned to, bytes data, std::uint64_t delay, const char *fate);
	void spoil(bytes &data);
	audit *audit_of(unsigned node, std::uint32_t tpn);
	void audit_sent(unsigned from, unsigned to, const bytes &data);
	void audit_arrival(unsigned at, const bytes &data);
	bool dark(link &l);

	bool trace_;
	bool calm_ = false;
	std::uint64_t seq_ = 0;
	std::vector<action> heap_;
	std::vector<bytes> slots_;
	std::vector<std::uint32_t> free_slots_;
	std::vector<link> links_;
	std::map<std::uint64_t, audit> audits_;
};

/* One line that says what is in a packet */
std::string decode(const bytes &packet);

} /* namespace ubsim */

#endif /* UBSIM_NET_HPP */
