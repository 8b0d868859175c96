// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What a command of the traffic management asks for, before it goes to the kernel.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"

namespace ubctl
{

struct TmWish {
	std::uint32_t level = 0; // enum uboe_tm_level
	std::uint32_t number = 0;
	std::map<int, std::uint32_t> values; // by enum uboe_genl_attr
	std::optional<std::vector<std::uint8_t>> sl_vl;
};

enum class TmVerb { add, set, remove };

/// NODE KEY=VALUE..., from @p words[0] on. Throws Usage, which names the key and its range.
TmWish parse_tm(TmVerb verb, const Words &words);

} // namespace ubctl
