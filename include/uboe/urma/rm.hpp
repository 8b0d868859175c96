// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Reliable messages of uboe/urma.hpp: one queue, a target with each request.
 */
#pragma once

#include "target.hpp"

namespace uboe::urma
{
inline namespace v0
{

class RmJetty;

/// An RmJetty of a peer, or just its address: for Writes, Reads and atomics any number
/// serves. It must not outlive its context.
class RmTarget : public detail::Target
{
      public:
	/// Nobody asks the peer. Throws Error: there is no way to its address.
	RmTarget(const Context &context, const RemoteJetty &peer)
		: Target(context, peer, URMA_TM_RM, URMA_RTP)
	{
	}
};

/// Requests of an RmJetty to one target; made by RmJetty::to(). It must not outlive
/// either. Thread-safe as the jetty is.
class RmPath : public Operations<RmPath>
{
      private:
	friend class Operations<RmPath>;
	friend class RmJetty;

	RmPath(detail::JettyState &state, const RmTarget &target) : state_(&state), target_(&target)
	{
	}

	std::error_code submit(detail::Request &request)
	{
		return state_->post(request.target(target_->native()));
	}

	detail::JettyState *state_;
	const RmTarget *target_;
};

/**
 * Sends to whomever, reliably, and receives. What goes to one address completes in the
 * order of posting; a request that fails, because its peer is silent for example, is
 * the only one that does. Its receive queue has Mode::rm.
 */
class RmJetty : public detail::Jetty
{
      public:
	/// As RcJetty; RcJettyOptions::err_timeout is not looked at: a peer that is silent
	/// for five seconds is given up.
	RmJetty(const Context &context, const CompletionQueue &completions,
		const ReceiveQueue &receives, const RcJettyOptions &options = {})
		: Jetty(context, completions, receives.state(), options, URMA_TM_RM)
	{
	}

	/// The operations of Operations, to @p target.
	RmPath to(const RmTarget &target)
	{
		return RmPath(*state_, target);
	}
};

} // namespace v0
} // namespace uboe::urma
