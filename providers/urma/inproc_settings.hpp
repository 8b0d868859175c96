// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Settings of the in-process device, from the environment (docs/urma.md).
#pragma once

#include "inproc/endpoint.hpp"

namespace uboe::urma {

struct InprocSettings {
	u32 dwqe = 0; // 1: elements go through the DirectWQE window, too
	u32 gso = 1; // 0: each packet is a message of its own to the kernel
	u32 jetty_mbps = 0; // limit of each jetty, 0: none
	u32 npi = 0; // partition and privilege, 0: what it has
	u32 slice_kb = 64; // Writes and Reads are cut into
	u32 rct_depth = 0; // of RC tables, 0: the defaults
	u32 rct_watermark = 0; // 0: the depth
	ubp_cc_conf cc = {}; // congestion control of the device's channels
	bool cc_is_set = false;
	uboe_lockbuf_ctx lockbuf[2] = {}; // by UBOE_LOCKBUF_*; end_jetty 0: none

	/// False after a message when a variable makes no sense.
	bool read();
	/// Those of the device, which all its contexts share; 0 or an errno.
	int apply(inproc::Endpoint &device) const;
};

} // namespace uboe::urma
