// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A port of a UB domain with a switch behind it (docs/decisions/0038): what a UBoE network
 * sees of a host is what the switch makes of its native packets. By the core's own mapping,
 * with the draft's defaults.
 */
#ifndef UBSIM_UBPORT_HPP
#define UBSIM_UBPORT_HPP

#include "host.hpp"
#include "rng.hpp"

extern "C" {
#include "ubp_caqm.h"
}

namespace ubsim
{

/*
 * What leaves by the port. CCI that IP does not carry stands behind the IP packet, where
 * stations beyond a border find but padding of the link.
 */
class ub_switch
{
      public:
	explicit ub_switch(bool busy) : busy_(busy) {}
	/* A packet of @dev, as it is on the other side */
	bytes forward(const ubp_dev &dev, const bytes &ip, u16 cci, u64 now);

      private:
	/* CAQM of its port, under load that comes and goes */
	u16 judge(u16 cci, std::size_t len, u64 now);

	bool busy_;
	ubp_caqm caqm_{};
	rng random_{ 4 };
	u64 queue_ = 0;
};

/* Where that CCI stands, null: there is none */
std::uint8_t *cci_behind(bytes &ip);

/* An IP packet comes in by the switch; the native packet that the port gets */
bytes into_domain(const ubp_dev &dev, bytes ip);

} // namespace ubsim

#endif /* UBSIM_UBPORT_HPP */
