// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Expressions on decoded fields: opcode == write && psn > 100 && !icrc.ok
//
//     any     = all { ("||" | "or") all }
//     all     = not { ("&&" | "and") not }
//     not     = ("!" | "not") not | "(" any ")" | field [ operator value ]
//     operator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "&"
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "decode.hpp"

namespace ubdump
{

/// Says the column, from 1, and what is wrong there.
class BadFilter : public std::runtime_error
{
      public:
	BadFilter(std::size_t column, const std::string &what)
		: std::runtime_error("column " + std::to_string(column) + ": " + what)
	{
	}
};

class Filter
{
      public:
	class Node
	{
	      public:
		virtual ~Node() = default;
		virtual bool holds(const Packet &packet) const = 0;
	};

	/// An empty text lets everything through.
	explicit Filter(std::string_view text);

	bool holds(const Packet &packet) const
	{
		return !root_ || root_->holds(packet);
	}

      private:
	std::unique_ptr<Node> root_;
};

} // namespace ubdump
