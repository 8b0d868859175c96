// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A jetty with its way to one peer, for programs that measure both kinds.
#pragma once

#include <optional>
#include <system_error>

#include <uboe/urma.hpp>

namespace uboe
{

/// One end of a connection, or a queue for reliable messages with its target.
class Link
{
      public:
	Link(urma::Context &c, const urma::CompletionQueue &q, const urma::ReceiveQueue &r,
	     const urma::RcJettyOptions &o, bool rm)
	{
		if (rm)
			rm_.emplace(c, q, r, o);
		else
			rc_.emplace(c, q, r, o);
	}

	urma::RemoteJetty remote() const
	{
		return rm_ ? rm_->remote() : rc_->remote();
	}
	std::error_code join(const urma::Context &c, const urma::RemoteJetty &peer)
	{
		if (rc_)
			return rc_->bind(peer);
		target_.emplace(c, peer);
		return {};
	}
	urma_jetty_t *native() const
	{
		return rm_ ? rm_->native() : rc_->native();
	}
	/// Of a connection: null.
	urma_target_jetty_t *target() const
	{
		return target_ ? target_->native() : nullptr;
	}

      private:
	std::optional<urma::RcJetty> rc_;
	std::optional<urma::RmTarget> target_;
	std::optional<urma::RmJetty> rm_;
};

} // namespace uboe
