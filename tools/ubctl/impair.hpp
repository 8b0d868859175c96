// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Values of the knobs of debugfs, as users write them.
#pragma once

#include <string>

namespace ubctl
{

/// "loss=1%" or "delay=5ms" as the kernel wants it: "loss=10000", "delay_us=5000".
/// Throws Usage.
std::string knob_for_kernel(const std::string &word);

} // namespace ubctl
