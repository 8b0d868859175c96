// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#pragma once

#include "options.hpp"

namespace ubping
{

/// Until @p signal_fd becomes readable, which nobody reads. Throws when it cannot listen.
void run_server(const Options &options, int signal_fd);

} // namespace ubping
