// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Unreliable messages of uboe/urma.hpp: jetties without a connection.
 */
#pragma once

#include "target.hpp"

namespace uboe::urma
{
inline namespace v0
{

/// A UmJetty of a peer that messages can be sent to. It must not outlive its context.
class UmTarget : public detail::Target
{
      public:
	/// Nobody asks the peer. Throws Error: there is no way to its address.
	UmTarget(const Context &context, const RemoteJetty &peer)
		: Target(context, peer, URMA_TM_UM, URMA_UTP)
	{
	}
};

/**
 * Sends messages of one packet to whomever, and receives them. A completion says that
 * a message left; it may be lost, and arrives at most as often as the network says.
 * RecvDone::sender and sender_jetty tell who sent it. Its receive queue has Mode::um.
 */
class UmJetty : public detail::Jetty
{
      public:
	/// As RcJetty; what concerns connections in @p options is not looked at.
	UmJetty(const Context &context, const CompletionQueue &completions,
		const ReceiveQueue &receives, const RcJettyOptions &options = {})
		: Jetty(context, completions, receives.state(), options, URMA_TM_UM)
	{
	}

	/// At most one packet: 4096 bytes on loopback, 1024 on plain Ethernet. A longer one
	/// is an error of the jetty.
	std::error_code send(const UmTarget &to, Slices from, const SendOptions &options = {})
	{
		detail::Request r(URMA_OPC_SEND, options);

		return state_->post(r.local(from).target(to.native()));
	}
	/// With 64 bits that arrive in RecvDone::imm.
	std::error_code send_imm(const UmTarget &to, Slices from, std::uint64_t imm,
				 const SendOptions &options = {})
	{
		detail::Request r(URMA_OPC_SEND_IMM, options);

		return state_->post(r.local(from).operands(imm).target(to.native()));
	}
};

} // namespace v0
} // namespace uboe::urma
