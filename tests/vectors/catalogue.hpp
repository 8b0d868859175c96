// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#ifndef UBOE_TESTS_VECTORS_CATALOGUE_HPP
#define UBOE_TESTS_VECTORS_CATALOGUE_HPP

#include <vector>

#include "golden.hpp"

/// Packets that every receiver must decode, each over IPv4 and IPv6.
std::vector<golden::vector> good_vectors();

/// Packets that every receiver must drop, each with the reason that it counts.
std::vector<golden::vector> bad_vectors();

#endif
