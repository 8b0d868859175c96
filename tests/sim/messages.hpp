/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Jetties without connections beside those that have one: reliable messages over shared
 * channels, unreliable messages, and what must come of them. Of reliable messages: each
 * arrives once, in the order of posting between two jetties, and completes in that order.
 * Of unreliable ones: what arrives is what was sent, and each completes.
 */
#ifndef UBSIM_MESSAGES_HPP
#define UBSIM_MESSAGES_HPP

#include "traffic.hpp"

namespace ubsim
{

class messages
{
      public:
	/* What world::on_user gets for this class */
	static constexpr std::uint8_t code = 100;

	messages(world &w, std::uint64_t seed);
	~messages();

	void turn(const action &a);
	bool finished() const;
	std::uint64_t last_progress() const { return last_progress_; }
	std::uint64_t completed() const { return completed_; }
	std::string pending() const;
	/* All has come to rest: takes everything down */
	void final_checks();

      private:
	struct request {
		std::uint64_t id;
		send_wr wr;
		unsigned to; /* node */
		std::uint32_t len = 0;
		std::uint32_t end = 0;
		extent_ref local_space;
		extent_ref remote_space;
		std::uint64_t local_off = 0;
		std::uint64_t remote_off = 0;
		payload data;
		counter *count = nullptr;
		bool done = false;
	};

	struct sender {
		unsigned node;
		std::uint32_t id;
		bool um;
		bool v6;
		std::uint16_t mtu; /* UM */
		unsigned left;
		std::unique_ptr<region> local;
		std::unique_ptr<ring_space> ring;
		std::unique_ptr<rc> q;
		std::deque<request> requests; /* from the oldest that is not done */
	};

	struct place {
		std::unique_ptr<jfc> completions;
		std::unique_ptr<pool> receives[2]; /* of RM, of UM */
		std::unique_ptr<region> target;
		std::unique_ptr<ring_space> target_ring; /* its first half; the other is read */
		std::unique_ptr<region> counters_mem;
		std::deque<counter> counters;
		std::map<std::array<std::uint8_t, 16>, std::uint32_t> channels; /* by peer */
		std::uint32_t next_tpn = 1;
		std::uint64_t pace = us;
	};

	struct datagram {
		unsigned to;
		std::uint32_t jetty;
		std::uint32_t from;
		std::uint8_t op;
		std::uint64_t imm;
		payload data;
		bool seen = false;
	};

	void make_place(unsigned n);
	void make_sender(unsigned n, std::uint32_t id, bool um);
	std::uint32_t channel(unsigned n, const address &peer);
	payload pattern(std::uint32_t len);
	bool local(sender &s, request &q, std::uint32_t len);
	bool source(sender &s, request &q, std::uint32_t len);
	bool make(sender &s);
	bool make_rm(sender &s, request &q);
	bool make_um(sender &s, request &q);
	bool work(sender &s);
	bool feed(place &p);
	bool drain(unsigned n);
	void sent(sender &s, const uboe_cqe &c);
	void received(unsigned n, sender &s, const uboe_cqe &c);
	void received_um(unsigned n, sender &s, const uboe_cqe &c, std::uint32_t slot);
	void finish(sender &s, request &q);

	world &w_;
	rng r_;
	std::deque<place> places_;
	std::deque<sender> senders_;
	/* on their way to a jetty from another one */
	std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<arrival>> inbound_;
	std::map<std::uint64_t, datagram> datagrams_;
	std::uint64_t next_id_ = 1;
	std::uint64_t completed_ = 0;
	std::uint64_t last_progress_ = 0;
};

} /* namespace ubsim */

#endif /* UBSIM_MESSAGES_HPP */
