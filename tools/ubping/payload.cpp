// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "payload.hpp"

namespace ubping
{

std::byte Payload::at(std::size_t offset, std::size_t size, std::uint64_t number) const
{
	constexpr std::size_t head = sizeof(number);

	if (size >= head && offset < head)
		return static_cast<std::byte>(number >> (8 * offset));
	if (!pattern_.empty())
		return pattern_[offset % pattern_.size()];
	return static_cast<std::byte>(offset + number);
}

void Payload::fill(std::span<std::byte> message, std::uint64_t number) const
{
	for (std::size_t i = 0; i < message.size(); ++i)
		message[i] = at(i, message.size(), number);
}

std::optional<std::size_t> Payload::differs(std::span<const std::byte> message,
					    std::uint64_t number) const
{
	for (std::size_t i = 0; i < message.size(); ++i)
		if (message[i] != at(i, message.size(), number))
			return i;
	return std::nullopt;
}

} // namespace ubping
