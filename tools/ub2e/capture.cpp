// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "capture.hpp"

#include <ctime>

#include "error.hpp"

namespace uboe::ub2e
{

Capture::Capture(const std::string &path) : file_(std::fopen(path.c_str(), "wbe"))
{
	// nanoseconds, version 2.4, no time zone, frames of any length, Ethernet
	const std::uint32_t head[6] = { 0xa1b23c4d, 0x00040002, 0, 0, 262144, 1 };

	if (!file_ || std::fwrite(head, sizeof(head), 1, file_.get()) != 1)
		fail_errno(path);
}

void Capture::write(std::span<const std::uint8_t> frame)
{
	const auto len = static_cast<std::uint32_t>(frame.size());
	timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	const std::uint32_t head[4] = { static_cast<std::uint32_t>(t.tv_sec),
					static_cast<std::uint32_t>(t.tv_nsec), len, len };
	if (std::fwrite(head, sizeof(head), 1, file_.get()) == 1)
		(void)!std::fwrite(frame.data(), frame.size(), 1, file_.get());
}

} // namespace uboe::ub2e
