// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#pragma once

#include "options.hpp"

namespace ubping
{

/// Exit status of ping: 0 all targets answered, 1 one did not, or not always right, 2
/// anything else. SIGINT and SIGTERM end it, with what it has measured.
int run_client(const Options &options);

} // namespace ubping
