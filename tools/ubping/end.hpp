// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// One end of a session: a jetty, its queues, and memory in slots of one message each.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <uboe/urma.hpp>

namespace ubping
{

namespace urma = uboe::urma;

/// What the library said last in this thread: it tells more than an errno value.
class LibraryLog
{
      public:
	/// From now on the library's messages come here, unless URMA_LOG_LEVEL is set.
	static void capture();
	/// "" or the last message; and forgets it.
	static std::string take();
};

/// Another program has the address.
class AddressInUse : public std::runtime_error
{
      public:
	using std::runtime_error::runtime_error;
};

/// Opens a device at @p eid. @p device may be empty. Throws AddressInUse, or another
/// std::exception; the text says what to do about it.
std::shared_ptr<urma::Context> open_context(const std::string &device, const urma::Eid &eid);

class End
{
      public:
	/// Slots 0 to @p depth - 1 are for receives, and @p sends after them for what is not
	/// sent from where it was received. As many as @p depth may be on their way.
	End(std::shared_ptr<urma::Context> context, std::uint32_t depth, std::uint32_t sends,
	    std::uint32_t size);

	/// Memory of a slot; at least one byte long.
	std::span<std::byte> memory(std::uint32_t slot) const;
	void post_receive(std::uint32_t slot);
	/// Sends @p length bytes of a slot; the completion's user value is the slot.
	void send(std::uint32_t slot, std::uint32_t length);

	urma::EventChannel &channel()
	{
		return channel_;
	}
	urma::CompletionQueue &completions()
	{
		return completions_;
	}
	urma::RcJetty &jetty()
	{
		return jetty_;
	}
	urma::Eid eid() const
	{
		return context_->eid();
	}

      private:
	std::shared_ptr<urma::Context> context_;
	std::uint32_t stride_;
	std::uint32_t size_;
	urma::LocalSegment segment_;
	urma::EventChannel channel_;
	urma::CompletionQueue completions_;
	urma::ReceiveQueue receives_;
	urma::RcJetty jetty_;
};

} // namespace ubping
