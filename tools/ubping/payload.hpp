// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ubping
{

/// What messages contain: the number of the message in the first 8 bytes if it has as
/// many, then a pattern, by default one that is another for the next message.
class Payload
{
      public:
	explicit Payload(std::vector<std::byte> pattern) : pattern_(std::move(pattern))
	{
	}

	void fill(std::span<std::byte> message, std::uint64_t number) const;
	/// Where it differs from what fill() makes; nothing: nowhere.
	std::optional<std::size_t> differs(std::span<const std::byte> message,
					   std::uint64_t number) const;

      private:
	std::byte at(std::size_t offset, std::size_t size, std::uint64_t number) const;

	std::vector<std::byte> pattern_;
};

} // namespace ubping
