// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "session.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <thread>

namespace ubperf
{

namespace
{

constexpr std::size_t notify_room = 64; // behind the data of each jetty
constexpr auto patience = std::chrono::seconds(60);

/// A device for the address that was asked for, or one of its own choice.
urma::Context open(const Options &o)
{
	const auto eid = urma::Eid::of(!o.eid.empty() ? o.eid :
				       o.is_server()  ? "127.0.0.1" :
							"127.0.0.2");
	std::vector<urma::Device> devices;

	if (!o.device.empty())
		devices.push_back(urma::Device::of(o.device));
	else
		for (const urma::Device &d : urma::DeviceList())
			devices.push_back(d);
	for (const urma::Device &d : devices)
		for (const auto &[address, index] : d.eids())
			if (address == eid)
				return urma::Context(d, eid);
	if (devices.empty())
		throw std::runtime_error("there is no device");
	const auto own = devices.front().eids();

	return urma::Context(devices.front(),
			     o.eid.empty() && !own.empty() ? own.front().first : eid);
}

std::size_t stride_of(const Options &o)
{
	const std::size_t largest = *std::max_element(o.sizes.begin(), o.sizes.end());

	return (largest + 2 * notify_room + 4095) / 4096 * 4096;
}

std::unique_ptr<urma::CompletionQueue> make_queue(Session &s)
{
	// a jetty's depth is rounded up
	const std::uint32_t each =
		urma::RcJetty::records_per_request * std::bit_ceil(s.options.depth) + 2;
	const urma::CompletionQueueOptions wanted{
		.depth = s.options.jetties * each +
			 std::bit_ceil(s.options.depth * s.options.jetties) + 64
	};

	if (s.channel)
		return std::make_unique<urma::CompletionQueue>(*s.channel, wanted);
	return std::make_unique<urma::CompletionQueue>(s.context, wanted);
}

} // namespace

Session::Session(const Options &o, uboe::Stream &peer)
	: options(o), stream(peer), context(open(o)), stride(stride_of(o)),
	  memory(urma::LocalSegment::allocate(context, stride * o.jetties,
					      { .access = urma::Access::atomic }))
{
	if (o.events)
		channel.emplace(context);
	queue = make_queue(*this);
	receives = std::make_unique<urma::ReceiveQueue>(
		context, *queue,
		urma::ReceiveQueueOptions{ .depth = std::max(o.depth * o.jetties, 64u),
					   .min_rnr_timer = 1,
					   .mode = o.rm ? urma::Mode::rm : urma::Mode::rc });
	for (std::uint32_t i = 0; i < o.jetties; ++i)
		jetties.emplace_back(context, *queue, *receives,
				     urma::RcJettyOptions{ .depth = o.depth,
							   .max_slices = 1,
							   .inline_bytes = o.inline_bytes },
				     o.rm);
	stream.send_line(memory.remote().text());
	remote = urma::RemoteSegment::parse(std::string_view(stream.receive_line()));
	for (Link &j : jetties) {
		stream.send_line(j.remote().text());
		const std::string line = stream.receive_line();

		urma::check(j.join(context, urma::RemoteJetty::parse(std::string_view(line))),
			    "bind to " + line);
	}
	meet();
}

unsigned Session::take(urma_cr_t *cr, unsigned room)
{
	const int n = urma_poll_jfc(queue->native(), static_cast<int>(room), cr);

	if (n < 0)
		throw std::runtime_error("polling the completion queue failed");
	for (int i = 0; i < n; ++i)
		if (cr[i].status != URMA_CR_SUCCESS)
			throw std::runtime_error("a request failed with completion status " +
						 std::to_string(cr[i].status) +
						 " (enum urma_cr_status)");
	return static_cast<unsigned>(n);
}

void Session::sleep()
{
	urma_jfc_t *fired = nullptr;
	std::uint32_t one = 1;

	if (urma_wait_jfc(queue->native()->jfc_cfg.jfce, 1, 1000, &fired) == 1)
		urma_ack_jfc(&fired, &one, 1);
}

unsigned Session::completions(urma_cr_t *cr, unsigned room)
{
	const auto deadline = std::chrono::steady_clock::now() + patience;

	for (unsigned idle = 0;; ++idle) {
		if (const unsigned n = take(cr, room))
			return n;
		if (channel) {
			urma_rearm_jfc(queue->native(), false);
			// one that came before it was armed gives no event
			if (const unsigned n = take(cr, room))
				return n;
			sleep();
		} else if (idle % 64 == 63) {
			std::this_thread::yield(); // the other side may share our CPU
		}
		if (std::chrono::steady_clock::now() > deadline)
			throw std::runtime_error("no completion for a minute");
	}
}

void Session::post_receive(std::size_t j, std::uint32_t size)
{
	urma::check(receives->receive(memory.slice(offset(j), size), j), "post a receive");
}

} // namespace ubperf
