// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Errors of the programs: one exception whose text names what failed.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace uboe
{

class Failure : public std::runtime_error
{
      public:
	using std::runtime_error::runtime_error;
};

/// "WHAT: Connection refused (errno 111)".
[[noreturn]] inline void fail_errno(const std::string &what, int error = errno)
{
	throw Failure(what + ": " + std::strerror(error) + " (errno " + std::to_string(error) +
		      ")");
}

/// Throws unless @p ok; errno says why.
inline void require(bool ok, const char *what)
{
	if (!ok)
		fail_errno(what);
}

/// For calls that return an errno value.
inline void require_zero(int error, const char *what)
{
	if (error)
		fail_errno(what, error);
}

} // namespace uboe
