// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A table of the configuration while it is read: values of the right type and range, and in
// the end no key that nobody asked for. Errors name the line.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <toml++/toml.h>

#include "config.hpp"

namespace uboe::ub2e
{

class Section
{
      public:
	Section(const toml::table &table, std::string file, std::string name)
		: table_(table), file_(std::move(file)), name_(std::move(name))
	{
	}

	int line() const
	{
		return static_cast<int>(table_.source().begin.line);
	}

	/// Throws; of @p key when the table has it, else of the table itself.
	[[noreturn]] void fail(std::string_view key, const std::string &what) const;

	std::optional<std::string> text(std::string_view key);
	std::string needed_text(std::string_view key);
	std::optional<std::uint64_t> number(std::string_view key, std::uint64_t least,
					    std::uint64_t most);
	std::optional<double> fraction(std::string_view key); // 0 to 1
	bool flag(std::string_view key, bool otherwise);
	/// Index of the value in @p names.
	std::size_t one_of(std::string_view key, std::initializer_list<std::string_view> names,
			   std::size_t otherwise);
	/// 1500, "10G", "2.5G" bits a second.
	std::optional<std::uint64_t> rate(std::string_view key);
	/// 4096, "100K", "4M" bytes, K being 1024.
	std::optional<std::uint64_t> size(std::string_view key);
	std::vector<std::string> texts(std::string_view key);
	/// Tables of an array; empty when there is none.
	std::vector<Section> tables(std::string_view key);
	std::optional<Section> table(std::string_view key);

	/// Throws when there is a key that was not asked for.
	void done() const;

      private:
	const toml::node *find(std::string_view key);
	[[noreturn]] void wrong(std::string_view key, const std::string &wanted) const;
	std::optional<double> scaled(std::string_view key, std::string_view units, double base,
				     const std::string &wanted);

	const toml::table &table_;
	std::string file_;
	std::string name_;
	std::set<std::string, std::less<>> asked_;
};

} // namespace uboe::ub2e
