// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Packet buffers. The UDP payload lies at a fixed place, the IP and UDP headers
// that the core sees just before it, so that the socket takes and fills the
// payload without moving it; before them there is room for what a link adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

extern "C" {
#include "ub_wire.h"
}

namespace uboe::inproc {

struct Block {
	static constexpr std::size_t lead = 128; // of which headers take the end
	static constexpr std::size_t payload_max = UB_MTU_MAX + 256;

	Block *next;
	std::uint32_t len; // from the IP header on
	std::uint16_t cci; // of one to be sent (ubp_txbuf)
	alignas(64) std::uint8_t bytes[lead + payload_max];

	static constexpr std::size_t headers(bool v4)
	{
		return (v4 ? UB_IPV4_LEN : UB_IPV6_LEN) + UB_UDP_LEN;
	}
	std::uint8_t *packet(bool v4) { return bytes + lead - headers(v4); }
	std::uint8_t *payload() { return bytes + lead; }
};

/// Grows as needed and never shrinks: what is in use is bounded by the channels'
/// windows. Not thread-safe.
class Pool {
public:
	Pool() = default;
	Pool(const Pool &) = delete;
	Pool &operator=(const Pool &) = delete;

	/// Null when memory is short.
	Block *take()
	{
		if (!free_ && !grow())
			return nullptr;
		Block *b = free_;

		free_ = b->next;
		++in_use_;
		return b;
	}

	void give(Block *b)
	{
		b->next = free_;
		free_ = b;
		--in_use_;
	}

	std::size_t in_use() const { return in_use_; }

private:
	static constexpr std::size_t slab = 32;

	bool grow()
	{
		std::unique_ptr<Block[]> s(new (std::nothrow) Block[slab]);

		if (!s)
			return false;
		for (std::size_t i = 0; i < slab; ++i) {
			s[i].next = free_;
			free_ = &s[i];
		}
		slabs_.push_back(std::move(s));
		return true;
	}

	std::vector<std::unique_ptr<Block[]>> slabs_;
	Block *free_ = nullptr;
	std::size_t in_use_ = 0;
};

} // namespace uboe::inproc
