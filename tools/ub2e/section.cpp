// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "section.hpp"

#include <cmath>
#include <cstdlib>

namespace uboe::ub2e
{

void Section::fail(std::string_view key, const std::string &what) const
{
	const toml::node *node = table_.get(key);
	const auto line = node ? node->source().begin.line : table_.source().begin.line;

	throw ConfigError(file_ + ":" + std::to_string(line) + ": " + name_ + what);
}

void Section::wrong(std::string_view key, const std::string &wanted) const
{
	fail(key, std::string(key) + " has to be " + wanted);
}

const toml::node *Section::find(std::string_view key)
{
	asked_.emplace(key);
	return table_.get(key);
}

std::optional<std::string> Section::text(std::string_view key)
{
	const toml::node *node = find(key);

	if (!node)
		return std::nullopt;
	if (!node->is_string() || node->as_string()->get().empty())
		wrong(key, "a text in quotes");
	return node->as_string()->get();
}

std::string Section::needed_text(std::string_view key)
{
	auto value = text(key);

	if (!value)
		fail(key, std::string(key) + " is missing");
	return *value;
}

std::optional<std::uint64_t> Section::number(std::string_view key, std::uint64_t least,
					     std::uint64_t most)
{
	const toml::node *node = find(key);

	if (!node)
		return std::nullopt;
	const auto *value = node->as_integer();
	if (!value || value->get() < 0 || static_cast<std::uint64_t>(value->get()) < least ||
	    static_cast<std::uint64_t>(value->get()) > most)
		wrong(key,
		      "a number from " + std::to_string(least) + " to " + std::to_string(most));
	return static_cast<std::uint64_t>(value->get());
}

std::optional<double> Section::fraction(std::string_view key)
{
	const toml::node *node = find(key);

	if (!node)
		return std::nullopt;
	const auto value = node->is_number() ? node->value<double>() : std::nullopt;
	if (!value || !(*value >= 0 && *value <= 1))
		wrong(key, "a number from 0 to 1");
	return *value;
}

bool Section::flag(std::string_view key, bool otherwise)
{
	const toml::node *node = find(key);

	if (!node)
		return otherwise;
	if (!node->is_boolean())
		wrong(key, "true or false");
	return node->as_boolean()->get();
}

std::size_t Section::one_of(std::string_view key, std::initializer_list<std::string_view> names,
			    std::size_t otherwise)
{
	const auto value = text(key);
	std::string list;
	std::size_t i = 0;

	if (!value)
		return otherwise;
	for (std::string_view name : names) {
		if (*value == name)
			return i;
		list += (i++ ? ", \"" : "\"") + std::string(name) + '"';
	}
	wrong(key, "one of " + list);
}

// A number, or a text of a number and a unit: each of @p units is @p base times the one before
std::optional<double> Section::scaled(std::string_view key, std::string_view units, double base,
				      const std::string &wanted)
{
	const toml::node *node = find(key);
	double value = 0;

	if (!node)
		return std::nullopt;
	if (node->is_integer()) {
		value = static_cast<double>(node->as_integer()->get());
	} else if (node->is_string()) {
		const std::string &text = node->as_string()->get();
		char *end = nullptr;
		std::size_t power = 0;

		value = std::strtod(text.c_str(), &end);
		if (end != text.c_str() && *end)
			power = units.find(*end++) + 1; // npos: 0, and *end is no end
		if (end == text.c_str() || *end || (end[-1] > '9' && !power))
			wrong(key, wanted);
		value *= std::pow(base, static_cast<double>(power));
	} else {
		wrong(key, wanted);
	}
	if (!std::isfinite(value) || value < 1 || value > 1e12)
		wrong(key, wanted);
	return value;
}

std::optional<std::uint64_t> Section::rate(std::string_view key)
{
	const auto value = scaled(key, "KMG", 1000, "a rate in bits a second, such as \"10G\"");

	return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

std::optional<std::uint64_t> Section::size(std::string_view key)
{
	const std::string wanted = "a size in bytes below 4 GiB, such as \"100K\"";
	const auto value = scaled(key, "KMG", 1024, wanted);

	if (value && *value > 4294967295.0)
		wrong(key, wanted);
	return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

std::vector<std::string> Section::texts(std::string_view key)
{
	const toml::node *node = find(key);
	std::vector<std::string> all;

	if (!node)
		return all;
	if (!node->is_array() || node->as_array()->empty())
		wrong(key, "a list of at least one text");
	for (const toml::node &one : *node->as_array()) {
		if (!one.is_string())
			wrong(key, "a list of texts");
		all.push_back(one.as_string()->get());
	}
	return all;
}

std::vector<Section> Section::tables(std::string_view key)
{
	const toml::node *node = find(key);
	std::vector<Section> all;

	if (!node)
		return all;
	if (!node->is_array_of_tables())
		wrong(key, "tables: [[" + std::string(key) + "]]");
	for (const toml::node &one : *node->as_array())
		all.emplace_back(*one.as_table(), file_, std::string(key) + ": ");
	return all;
}

std::optional<Section> Section::table(std::string_view key)
{
	const toml::node *node = find(key);

	if (!node)
		return std::nullopt;
	if (!node->is_table())
		wrong(key, "a table: [" + std::string(key) + "]");
	return Section(*node->as_table(), file_, std::string(key) + ": ");
}

void Section::done() const
{
	for (const auto &[key, node] : table_)
		if (!asked_.contains(key.str()))
			fail(key.str(), "there is no setting " + std::string(key.str()));
}

} // namespace uboe::ub2e
