// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Two connected queue pairs in one process.
#pragma once

#include <thread>

#include "error.hpp"
#include "stream.hpp"
#include "verbs.hpp"

namespace uboe
{

struct LoopEnd {
	LoopEnd(const Device &device, const QueueSizes &sizes)
		: completions(device, static_cast<int>(2 * (sizes.send + sizes.receive))),
		  queue(device, completions, completions, sizes)
	{
	}

	CompletionQueue completions;
	QueuePair queue;
};

/// Brings both to RTS.
inline void join(LoopEnd &a, LoopEnd &b)
{
	auto ends = Stream::pair();
	std::thread other([&] { b.queue.connect(ends.second); });

	a.queue.connect(ends.first);
	other.join();
}

} // namespace uboe
