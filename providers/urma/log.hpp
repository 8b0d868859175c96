// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What the library says: to the program's function if it registered one, else to
// standard error. Errors name the function and the field that is wrong.
#pragma once

#include <cerrno>

#include <urma/urma_types.h>

namespace uboe::urma {

/// printf() to the log; kept when the level is at or below the set one.
[[gnu::format(printf, 3, 4)]] void log(urma_vlog_level_t level, const char *function,
				       const char *format, ...);

/// Logs an error and returns @p status, which is also left in errno.
[[gnu::format(printf, 3, 4)]] int fail(int status, const char *function, const char *format, ...);

} // namespace uboe::urma

#define URMA_FAILED(status, ...) ::uboe::urma::fail(status, __func__, __VA_ARGS__)
