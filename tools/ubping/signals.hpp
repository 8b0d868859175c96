// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#pragma once

#include "stream.hpp"

namespace ubping
{

/// From now on SIGINT and SIGTERM end nothing in this thread and those that it starts:
/// they make this descriptor readable, for as long as nobody reads it.
uboe::Fd take_signals();

} // namespace ubping
