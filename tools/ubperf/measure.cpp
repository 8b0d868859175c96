// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The measurements. Requests are composed once and posted again and again, in lists
// whose last one asks for a completion.
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace ubperf
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr unsigned poll_batch = 32;
constexpr unsigned warm_up = 50; // round trips before those that count

struct Form {
	urma_opcode_t opcode;
	bool two_sided; // takes a receive of the other side
};

Form form_of(Operation o)
{
	switch (o) {
	case Operation::write_imm:
		return { URMA_OPC_WRITE_IMM, true };
	case Operation::write_notify:
		return { URMA_OPC_WRITE_NOTIFY, false };
	case Operation::read:
		return { URMA_OPC_READ, false };
	case Operation::send:
		return { URMA_OPC_SEND, true };
	case Operation::faa:
		return { URMA_OPC_FADD, false };
	case Operation::cas:
		return { URMA_OPC_CAS, false };
	default:
		return { URMA_OPC_WRITE, false };
	}
}

/// Requests of one jetty, linked, all alike.
class List
{
      public:
	List(Session &s, std::size_t jetty, std::uint32_t size, std::uint32_t count)
		: wr_(count), jetty_(s.jetties[jetty].native())
	{
		const Form form = form_of(s.options.operation);
		const std::size_t at = s.offset(jetty);

		key_.attr.bs.token_policy = URMA_TOKEN_PLAIN_TEXT;
		key_.token_id = static_cast<std::uint32_t>(s.remote.id) << 8;
		key_.token_value.token =
			static_cast<std::uint32_t>(s.remote.token.value_or(urma::Token{}));
		local_ = { s.memory.native()->seg.ubva.va + at, size, s.memory.native(), nullptr };
		remote_[0] = { s.remote.va + at, size, nullptr, &key_ };
		remote_[1] = { s.remote.va + at + (size + 7) / 8 * 8, 8, nullptr, &key_ };
		for (urma_jfs_wr_t &w : wr_) {
			fill(w, form.opcode);
			w.user_ctx = jetty;
			w.tjetty = s.jetties[jetty].target();
			w.flag.bs.place_order = URMA_RELAX_ORDER;
			w.flag.bs.inline_flag = size <= s.options.inline_bytes &&
						form.opcode != URMA_OPC_READ &&
						form.opcode < URMA_OPC_CAS;
			w.next = &w + 1;
		}
		if (form.opcode == URMA_OPC_SEND && size <= s.options.inline_bytes)
			for (urma_jfs_wr_t &w : wr_)
				w.flag.bs.inline_flag = 1;
		wr_.back().next = nullptr;
		wr_.back().flag.bs.complete_enable = URMA_COMPLETE_ENABLE;
	}
	List(const List &) = delete;
	List &operator=(const List &) = delete;

	void post()
	{
		urma_jfs_wr_t *bad = nullptr;

		if (const urma_status_t status = urma_post_jetty_send_wr(jetty_, wr_.data(), &bad))
			throw std::runtime_error("posting failed with status " +
						 std::to_string(status));
	}

      private:
	void fill(urma_jfs_wr_t &w, urma_opcode_t opcode)
	{
		w.opcode = opcode;
		switch (opcode) {
		case URMA_OPC_SEND:
			w.send.src = { &local_, 1 };
			break;
		case URMA_OPC_READ:
			w.rw = { { remote_, 1 }, { &local_, 1 }, 0, 0 };
			break;
		case URMA_OPC_CAS:
			w.cas = { remote_, &local_, { 0 }, { 1 } };
			break;
		case URMA_OPC_FADD:
			w.faa = { remote_, &local_, { 1 } };
			break;
		default:
			w.rw = { { &local_, 1 },
				 { remote_, opcode == URMA_OPC_WRITE_NOTIFY ? 2u : 1u },
				 0,
				 1 };
		}
	}

	std::vector<urma_jfs_wr_t> wr_;
	urma_jetty_t *jetty_;
	urma_sge_t local_{};
	urma_sge_t remote_[2]{};
	urma_user_tseg_t key_{};
};

/// What one jetty still has to do.
struct Lane {
	std::unique_ptr<List> list;
	std::uint32_t lists_left;
	std::uint32_t in_flight = 0;
};

double since(Clock::time_point start)
{
	return std::chrono::duration<double>(Clock::now() - start).count();
}

std::uint32_t lists_of(const Options &o, std::uint32_t size)
{
	return (o.iterations_for(size) + o.list - 1) / o.list;
}

/// Sends, receives or both until all has completed.
double stream(Session &s, std::uint32_t size, bool sends, bool receives)
{
	const Options &o = s.options;
	const std::uint32_t window = std::max(o.depth / o.list, 1u);
	std::uint64_t to_complete = sends ? std::uint64_t{ lists_of(o, size) } * o.jetties : 0;
	std::uint64_t to_receive =
		receives ? std::uint64_t{ lists_of(o, size) } * o.list * o.jetties : 0;
	std::vector<Lane> lanes;
	urma_cr_t cr[poll_batch];

	for (std::uint32_t j = 0; receives && j < o.jetties; ++j)
		for (std::uint32_t i = 0; i < o.depth; ++i)
			s.post_receive(j, size);
	for (std::uint32_t j = 0; sends && j < o.jetties; ++j)
		lanes.push_back(
			{ std::make_unique<List>(s, j, size, o.list), lists_of(o, size), 0 });
	s.meet();
	const auto start = Clock::now();

	while (to_complete || to_receive) {
		for (Lane &l : lanes) {
			while (l.lists_left && l.in_flight < window) {
				l.list->post();
				--l.lists_left;
				++l.in_flight;
			}
		}
		const unsigned n = s.completions(cr, poll_batch);

		for (unsigned i = 0; i < n; ++i) {
			if (cr[i].flag.bs.s_r) {
				--to_receive;
				s.post_receive(cr[i].user_ctx, size);
			} else {
				--to_complete;
				--lanes[cr[i].user_ctx].in_flight;
			}
		}
	}
	return since(start);
}

/// One message, and what it takes to know that it arrived.
void round_trip(Session &s, List &list, std::uint32_t size, bool two_sided)
{
	bool sent = false, received = !two_sided;
	urma_cr_t cr;

	list.post();
	while (!sent || !received) {
		s.completions(&cr, 1);
		(cr.flag.bs.s_r ? received : sent) = true;
		if (cr.flag.bs.s_r)
			s.post_receive(0, size);
	}
}

Result ping(Session &s, std::uint32_t size)
{
	const bool two_sided = form_of(s.options.operation).two_sided;
	const std::uint32_t count = s.options.iterations_for(size);
	List list(s, 0, size, 1);
	Result r{ size, count, 0, {} };

	r.latencies.reserve(count);
	for (std::uint32_t i = 0; two_sided && i < 4; ++i)
		s.post_receive(0, size);
	s.meet();
	for (unsigned i = 0; i < warm_up; ++i)
		round_trip(s, list, size, two_sided);
	const auto start = Clock::now();
	for (std::uint32_t i = 0; i < count; ++i) {
		const auto begin = Clock::now();

		round_trip(s, list, size, two_sided);
		r.latencies.push_back(since(begin) * 1e6 / (two_sided ? 2 : 1));
	}
	r.seconds = since(start);
	std::sort(r.latencies.begin(), r.latencies.end());
	return r;
}

/// Answers each message with one of its own.
void pong(Session &s, std::uint32_t size)
{
	const std::uint32_t count = warm_up + s.options.iterations_for(size);
	List list(s, 0, size, 1);
	urma_cr_t cr;

	for (std::uint32_t i = 0; i < 4; ++i)
		s.post_receive(0, size);
	s.meet();
	for (std::uint32_t got = 0, sent = 0; got < count || sent < count;) {
		s.completions(&cr, 1);
		if (!cr.flag.bs.s_r) {
			++sent;
			continue;
		}
		++got;
		s.post_receive(0, size);
		list.post();
	}
}

} // namespace

Result measure_client(Session &s, std::uint32_t size)
{
	const Options &o = s.options;
	const bool two_sided = form_of(o.operation).two_sided;
	Result r;

	if (o.measure == Measure::latency) {
		r = ping(s, size);
	} else {
		r.size = size;
		r.seconds = stream(s, size, true, two_sided && o.bidirectional);
		r.messages = std::uint64_t{ lists_of(o, size) } * o.list * o.jetties *
			     (o.bidirectional ? 2 : 1);
	}
	s.meet();
	return r;
}

void measure_server(Session &s, std::uint32_t size)
{
	const Options &o = s.options;
	const bool two_sided = form_of(o.operation).two_sided;

	if (o.measure == Measure::latency && two_sided)
		pong(s, size);
	else if (o.measure == Measure::bandwidth)
		stream(s, size, o.bidirectional, two_sided);
	else
		s.meet(); // the device answers
	s.meet();
}

} // namespace ubperf
