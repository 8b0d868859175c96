// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "target.hpp"

#include <algorithm>

#include <netdb.h>
#include <sys/socket.h>

#include "error.hpp"
#include "hello.hpp"

namespace ubping
{

namespace
{

const char *family_of(const urma::Eid &e)
{
	return e.is_v4() ? "IPv4" : "IPv6";
}

bool is_loopback(const urma::Eid &e)
{
	static const urma::Eid v6 = urma::Eid::of("::1");

	return e.is_v4() ? e.bytes[12] == 127 : e == v6;
}

/// Addresses of a host, of both families.
std::vector<urma::Eid> resolve(const std::string &host)
{
	addrinfo hints = {};
	addrinfo *raw = nullptr;
	std::vector<urma::Eid> all;

	hints.ai_family = AF_UNSPEC;
	hints.ai_socktype = SOCK_STREAM;
	if (const int error = getaddrinfo(host.c_str(), nullptr, &hints, &raw))
		throw std::runtime_error(gai_strerror(error));
	const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(raw, freeaddrinfo);

	for (const addrinfo *a = list.get(); a; a = a->ai_next) {
		sockaddr_storage storage = {};

		std::memcpy(&storage, a->ai_addr, a->ai_addrlen);
		if (const auto eid = urma::Eid::parse(uboe::address_text(storage)))
			all.push_back(*eid);
	}
	return all;
}

/// Where to try; with an own address those of its family only.
std::vector<urma::Eid> addresses_of(const Options &o, const std::string &host)
{
	std::vector<urma::Eid> all = resolve(host);

	if (o.eid.empty())
		return all;
	const urma::Eid own = urma::Eid::of(o.eid);

	std::erase_if(all, [&own](const urma::Eid &e) { return e.is_v4() != own.is_v4(); });
	if (all.empty())
		throw std::runtime_error(std::string("no ") + family_of(own) +
					 " address, and --eid " + o.eid +
					 " is one: both ends are of "
					 "one family");
	return all;
}

/// Addresses of this machine from which one of its own can be reached.
std::vector<urma::Eid> neighbours_of(const urma::Eid &peer, const std::string &device)
{
	std::vector<urma::Eid> all;

	for (const urma::Device &d : urma::DeviceList()) {
		if (!device.empty() && d.name() != device)
			continue;
		for (const auto &[eid, index] : d.eids())
			if (eid != peer && eid.is_v4() == peer.is_v4() &&
			    is_loopback(eid) == is_loopback(peer))
				all.push_back(eid);
	}
	return all;
}

std::shared_ptr<urma::Context> open_at(const std::string &device, const urma::Eid &eid,
				       Contexts &contexts)
{
	auto &slot = contexts[eid];

	if (!slot)
		slot = open_context(device, eid);
	return slot;
}

/// A device at an address that the other end can answer to: as asked for, or the one
/// that TCP took, or, when the target is in this machine, one that is free.
std::shared_ptr<urma::Context> open_towards(const Options &o, const urma::Eid &peer,
					    const urma::Eid &by_tcp, Contexts &contexts)
{
	if (!o.eid.empty())
		return open_at(o.device, urma::Eid::of(o.eid), contexts);
	if (by_tcp != peer)
		return open_at(o.device, by_tcp, contexts);
	for (const urma::Eid &eid : neighbours_of(peer, o.device)) {
		try {
			return open_at(o.device, eid, contexts);
		} catch (const AddressInUse &) {
		}
	}
	throw std::runtime_error(std::string("it is in this machine, which has no other free ") +
				 family_of(peer) + " address (--eid)");
}

} // namespace

Target::Target(const Options &options, const std::string &name, Contexts &contexts)
	: options_(options), name_(name), payload_(options.pattern)
{
	const std::vector<urma::Eid> addresses = addresses_of(options, name);

	// what is wrong here is said before anybody there is asked
	if (!options.eid.empty())
		open_at(options.device, urma::Eid::of(options.eid), contexts);
	else if (!options.device.empty())
		urma::Device::of(options.device);

	for (std::size_t i = 0; i < addresses.size(); ++i) {
		try {
			try_connect(addresses[i], contexts);
			return;
		} catch (const std::exception &) {
			end_.reset();
			if (i + 1 == addresses.size())
				throw;
		}
	}
	throw std::runtime_error("no IPv4 or IPv6 address");
}

void Target::try_connect(const urma::Eid &address, Contexts &contexts)
{
	try {
		stream_ = uboe::Stream::connect_to(address.text(), options_.port, options_.eid,
						   static_cast<int>(options_.wait_s));
	} catch (const uboe::Failure &e) {
		// connect() has no other way to say that nobody listens
		if (errno == ECONNREFUSED)
			throw NobodyThere("nobody listens at " + address.text() + " TCP port " +
					  std::to_string(options_.port) +
					  " ('ubping --listen' there)");
		if (errno == EHOSTUNREACH || errno == ENETUNREACH || errno == ETIMEDOUT)
			throw NobodyThere(e.what());
		throw;
	}
	const auto local = urma::Eid::of(stream_.local_address());

	end_ = std::make_unique<End>(open_towards(options_, address, local, contexts), slots, slots,
				     options_.size);
	send_hello(stream_, { end_->jetty().remote(), options_.size });
	const urma::RemoteJetty peer = receive_welcome(stream_);

	if (peer.eid.is_v4() != end_->eid().is_v4())
		throw std::runtime_error("the server is at " + peer.eid.text() + ", " +
					 family_of(peer.eid) + ", and this end at " +
					 end_->eid().text() + ": both ends are of one family");
	urma::check(end_->jetty().bind(peer), "bind to " + peer.text());
	eid_ = peer.eid;
}

void Target::send()
{
	const std::uint64_t number = statistics_.sent() + 1;
	const auto slot = static_cast<std::uint32_t>(slots + number % slots);

	payload_.fill(end_->memory(slot).first(options_.size), number);
	waiting_.push_back({ number, Clock::now() });
	end_->send(slot, options_.size);
	++sending_;
	statistics_.add_sent();
}

std::optional<urma::Completion> Target::next_completion()
{
	using namespace std::chrono_literals;

	if (options_.flood)
		return end_->completions().poll();
	if (const auto event = end_->channel().next(0ms))
		return event->poll();
	return std::nullopt;
}

std::optional<Reply> Target::receive()
{
	while (const auto c = next_completion()) {
		if (c->error())
			throw std::runtime_error(c->error().message());
		if (const urma::RecvDone *done = c->recv())
			return accept(*done);
		--sending_;
	}
	return std::nullopt;
}

Reply Target::accept(const urma::RecvDone &done)
{
	if (waiting_.empty())
		throw std::runtime_error("it sent what nobody asked for");
	const Sent sent = waiting_.front();
	const auto slot = static_cast<std::uint32_t>(done.user);
	const std::chrono::duration<double, std::milli> rtt = Clock::now() - sent.when;
	const bool corrupted =
		done.length != options_.size ||
		payload_.differs(end_->memory(slot).first(options_.size), sent.number);

	waiting_.pop_front();
	end_->post_receive(slot);
	statistics_.add_reply(rtt.count());
	if (corrupted)
		statistics_.add_corrupted();
	return { sent.number, rtt.count(), corrupted };
}

void Target::check_stream()
{
	char byte;
	const ssize_t n = recv(stream_.fd(), &byte, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	throw std::runtime_error("the server has ended");
}

} // namespace ubping
