// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Results are rows of JSON. As text they are a table of some of their fields.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace ubctl
{

using Json = nlohmann::ordered_json;
using Rows = std::vector<Json>;

struct Column {
	const char *title;
	const char *field; // a JSON pointer: "/objects/jetties"
};

struct Output {
	bool json = false;
};

/// To standard output: a table, or all of it as a JSON array.
void print(const Output &output, const Rows &rows, const std::vector<Column> &columns);
/// The table alone.
std::string table_text(const Rows &rows, const std::vector<Column> &columns);
std::string hex(std::uint64_t value);

} // namespace ubctl
