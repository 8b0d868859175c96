// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A port of a UB domain with a switch behind it (docs/decisions/0038): what a UBoE network
 * sees of a host is what the switch makes of its native packets. By the core's own mapping,
 * with the draft's defaults.
 */
#ifndef UBSIM_UBPORT_HPP
#define UBSIM_UBPORT_HPP

#include "host.hpp"

namespace ubsim
{

/* A packet of @dev leaves, as IP on the other side of the switch */
bytes through_switch(const ubp_dev &dev, const bytes &ip);

/* An IP packet comes in by the switch; the native packet that the port gets */
bytes into_domain(const ubp_dev &dev, const bytes &ip);

} // namespace ubsim

#endif /* UBSIM_UBPORT_HPP */
