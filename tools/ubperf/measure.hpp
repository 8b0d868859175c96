// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "session.hpp"

namespace ubperf
{

/// Of one size.
struct Result {
	std::uint32_t size = 0; // bytes
	std::uint64_t messages = 0; // of both directions
	double seconds = 0;
	std::vector<double> latencies; // microseconds, sorted; of a latency measurement
};

/// The side that asks, or both sides of a bidirectional run.
Result measure_client(Session &session, std::uint32_t size);
/// The side that answers: posts receives, echoes, or waits.
void measure_server(Session &session, std::uint32_t size);

} // namespace ubperf
