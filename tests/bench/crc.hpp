// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#pragma once

#include <cstdint>

namespace uboe::bench {

/// Bytes a second of CRC-32 by tables, eight bytes a step ("slice by 8"), over
/// 4 KiB blocks: what the kernel's crc32_le() does on machines without better.
std::uint64_t crc_rate();

} // namespace uboe::bench
