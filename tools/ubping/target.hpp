// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The client's end of the way to one target.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "end.hpp"
#include "options.hpp"
#include "payload.hpp"
#include "statistics.hpp"
#include "stream.hpp"

namespace ubping
{

using Clock = std::chrono::steady_clock;

/// Nobody answers there: exit status 1, as of ping, and not 2.
class NobodyThere : public std::runtime_error
{
      public:
	using std::runtime_error::runtime_error;
};

/// Opened devices, which the targets share.
using Contexts = std::map<urma::Eid, std::shared_ptr<urma::Context>>;

struct Reply {
	std::uint64_t number = 0;
	double rtt_ms = 0;
	bool corrupted = false;
};

class Target
{
      public:
	/// Connects. Throws NobodyThere, or another std::exception.
	Target(const Options &options, const std::string &name, Contexts &contexts);

	/// Is there room for one more message in flight?
	bool can_send() const
	{
		return waiting_.size() < slots && sending_ < slots;
	}
	void send();
	/// The next reply that has come. Throws when the connection has failed.
	std::optional<Reply> receive();
	/// What receive() returns nothing after is noticed by poll() on these.
	int channel_fd()
	{
		return end_->channel().fd();
	}
	int stream_fd() const
	{
		return stream_.fd();
	}
	/// Throws when the server has ended.
	void check_stream();

	const std::string &name() const
	{
		return name_;
	}
	urma::Eid eid() const
	{
		return eid_;
	}
	urma::Eid local_eid() const
	{
		return end_->eid();
	}
	const Statistics &statistics() const
	{
		return statistics_;
	}
	bool is_waiting() const
	{
		return !waiting_.empty();
	}

      private:
	static constexpr std::uint32_t slots = 32; // messages in flight

	struct Sent {
		std::uint64_t number;
		Clock::time_point when;
	};

	void try_connect(const urma::Eid &address, Contexts &contexts);
	std::optional<urma::Completion> next_completion();
	Reply accept(const urma::RecvDone &done);

	const Options &options_;
	std::string name_;
	Payload payload_;
	urma::Eid eid_; // of the server
	uboe::Stream stream_;
	std::unique_ptr<End> end_;
	std::deque<Sent> waiting_; // for their replies, which come in this order
	std::uint32_t sending_ = 0; // Sends that have not completed
	Statistics statistics_;
};

} // namespace ubping
