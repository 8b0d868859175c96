// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Both ends of a measurement: objects, connections, and a TCP stream by which the
// sides agree.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <uboe/urma.hpp>

#include "link.hpp"
#include "options.hpp"
#include "stream.hpp"

namespace ubperf
{

namespace urma = uboe::urma;
using uboe::Link;

struct Session {
	/// Connects all jetties with those of the other side.
	Session(const Options &options, uboe::Stream &stream);

	/// The other side has come as far as this one.
	void meet()
	{
		stream.send_line("here"), stream.expect("here");
	}
	/// Sleeps or polls until completions come; throws for one that is an error.
	unsigned completions(urma_cr_t *cr, unsigned room);
	/// A buffer for a message on jetty @p j.
	void post_receive(std::size_t j, std::uint32_t size);
	/// Where jetty @p j reads and writes, here and there.
	std::size_t offset(std::size_t j) const
	{
		return j * stride;
	}

	const Options &options;
	uboe::Stream &stream;
	urma::Context context;
	std::optional<urma::EventChannel> channel;
	std::size_t stride; // memory of a jetty
	urma::LocalSegment memory;
	std::unique_ptr<urma::CompletionQueue> queue;
	std::unique_ptr<urma::ReceiveQueue> receives;
	std::vector<Link> jetties;
	urma::RemoteSegment remote;

      private:
	unsigned take(urma_cr_t *cr, unsigned room);
	void sleep();
};

} // namespace ubperf
