// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#pragma once

#include "options.hpp"

namespace ubping
{

/// Until SIGINT or SIGTERM comes. Throws when it cannot listen.
void run_server(const Options &options);

} // namespace ubping
