// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "table.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace ubctl
{

namespace
{

std::string cell(const Json &row, const Column &column)
{
	const Json::json_pointer field(column.field);

	if (!row.contains(field) || row.at(field).is_null())
		return "-";
	const Json &value = row.at(field);

	if (value.is_string())
		return value.get<std::string>();
	return value.dump();
}

/// Names that programs chose may contain anything.
std::string printable(std::string s)
{
	std::replace_if(
		s.begin(), s.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
	return s.empty() ? "-" : s;
}

} // namespace

std::string table_text(const Rows &rows, const std::vector<Column> &columns)
{
	std::vector<std::vector<std::string>> lines(rows.size() + 1);
	std::string text;

	for (const Column &c : columns)
		lines[0].push_back(c.title);
	for (std::size_t i = 0; i < rows.size(); ++i)
		for (const Column &c : columns)
			lines[i + 1].push_back(printable(cell(rows[i], c)));
	std::vector<std::size_t> widths(columns.size());

	for (const auto &line : lines)
		for (std::size_t c = 0; c < line.size(); ++c)
			widths[c] = std::max(widths[c], line[c].size());
	for (auto &line : lines) {
		for (std::size_t c = 0; c < line.size(); ++c) {
			if (c + 1 < line.size())
				line[c].resize(widths[c] + 2, ' ');
			text += line[c];
		}
		text += '\n';
	}
	return text;
}

void print(const Output &output, const Rows &rows, const std::vector<Column> &columns)
{
	if (output.json)
		std::cout << Json(rows).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
	else
		std::cout << table_text(rows, columns);
	std::cout.flush();
}

std::string hex(std::uint64_t value)
{
	char room[24];

	std::snprintf(room, sizeof(room), "0x%llx", static_cast<unsigned long long>(value));
	return room;
}

} // namespace ubctl
