// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include <uboe/urma.hpp>

namespace uboe::bench {

/// The in-process device has these addresses; before the process first uses liburma.
void offer_inproc(const std::vector<std::string> &addresses);
/// A context of it at one of them.
urma::Context open_inproc(const std::string &address);

/// Lines "figure NAME VALUE UNIT". The first address is this side's, the second the
/// other side's, the rest are there for peers that nobody has spoken to.
void print_figures(const std::vector<std::string> &addresses);

} // namespace uboe::bench
