// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What jetties and JFSs have in common: their send side, states, destruction.
#pragma once

#include "objects.hpp"

namespace uboe::urma {

/// What the device carries: the one place that knows.
constexpr u32 offered_modes = URMA_TM_RM | URMA_TM_RC | URMA_TM_UM;

/// What urma_jfs_cfg says of a raw queue: none of the API's modes.
constexpr urma_transport_mode_t raw_mode{};

constexpr TransMode to_mode(urma_transport_mode_t mode)
{
	return mode == URMA_TM_RM ? UBOE_JETTY_RM :
	       mode == URMA_TM_UM ? UBOE_JETTY_UM :
	       mode == raw_mode	  ? UBOE_JETTY_RAW :
				    UBOE_JETTY_RC;
}

/// False after a message, with errno set.
bool check_mode(urma_transport_mode_t mode);
/// @p raw: of a raw queue, which has raw_mode.
bool check_send_side(const Context &c, const urma_jfs_cfg_t &s, bool raw = false);

/// Fills in what zero and the default stand for; room for @p cfg. False after a
/// message.
bool shape_send_side(urma_jfs_cfg_t &cfg, SendGeometry &g);
/// The same for a jetty with a place of @p blocks in a lock buffer.
bool shape_locked_side(urma_jfs_cfg_t &cfg, u32 blocks, SendGeometry &g);

/// What the device needs to know of the send side.
JettySpec spec_of(const urma_jfs_cfg_t &cfg, const SendGeometry &g);

/// The object is complete: completions may find it, and traffic begins. Throws
/// std::bad_alloc; 0 or an errno of the backend.
int publish(Sender &s);
/// Nobody finds it any more, and its completions are gone. Its handle is all that is
/// left; the caller destroys it.
void retire(Sender &s);

/// The states that a program may ask for.
urma_status_t change_state(Sender &s, urma_jetty_state_t to);
/// An error may have happened that nobody asked for.
urma_jetty_state_t current_state(Sender &s);

} // namespace uboe::urma
