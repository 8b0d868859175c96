// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// How frames come in and leave. There are two ways, which convert alike: AF_PACKET sockets
// (packet_path) and XDP programs (xdp_path).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine.hpp"

namespace uboe::ub2e
{

class Datapath
{
      public:
	virtual ~Datapath() = default;

	/// The next frame meets the new tables, all at once. Throws Failure, and then the old
	/// ones hold.
	virtual void set_tables(std::shared_ptr<const Tables> tables) = 0;
	/// Moves frames for up to @p ms milliseconds, or waits while the kernel does.
	virtual void run(int ms) = 0;
	/// Brings @p counters up to date.
	virtual void count(Counters &)
	{
	}
};

/// @p interfaces: names, by port. Throws Failure. @p capture: file for all frames, or empty.
std::unique_ptr<Datapath> packet_path(const std::vector<std::string> &interfaces,
				      std::shared_ptr<const Tables> tables, Counters &counters,
				      const std::string &capture);

/// The same in the kernel. @p generic: in the stack where a driver has no XDP.
std::unique_ptr<Datapath> xdp_path(std::shared_ptr<const Tables> tables, bool generic);

} // namespace uboe::ub2e
