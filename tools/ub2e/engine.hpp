// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What the switch does with one frame (forward.h), in user space. The AF_PACKET datapath
// runs it, and tests do.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <random>

#include "tables.hpp"

namespace uboe::ub2e
{

/// By port and fate; written by datapaths, read by anybody.
class Counters
{
      public:
	void add(std::uint32_t port, unsigned fate, std::uint64_t n = 1)
	{
		at_[port % UB2E_MAX_PORTS][fate].fetch_add(n, std::memory_order_relaxed);
	}
	std::uint64_t get(std::uint32_t port, unsigned fate) const
	{
		return at_[port][fate].load(std::memory_order_relaxed);
	}

      private:
	std::array<std::array<std::atomic<std::uint64_t>, UB2E_FATES>, UB2E_MAX_PORTS> at_{};
};

/// "drop_no_route" and so on.
const char *fate_name(unsigned fate);

/// A frame with room before it.
struct Frame {
	static constexpr std::size_t room = 32;
	static constexpr std::size_t max = 65535;

	std::uint8_t *begin;
	std::uint8_t *end;
};

class Engine
{
      public:
	static constexpr unsigned none = ~0u;

	Engine(std::shared_ptr<const Tables> tables, Counters &counters, std::uint32_t seed)
		: tables_(std::move(tables)), counters_(counters), random_(seed)
	{
	}

	/// New tables from the next frame on; queues and turns stay.
	void set_tables(std::shared_ptr<const Tables> tables)
	{
		tables_ = std::move(tables);
	}
	const Tables &tables() const
	{
		return *tables_;
	}

	/// Converts @p frame in place; at least Frame::room bytes before it may be written.
	/// Returns the port by which it leaves, or none. @p now: nanoseconds, monotonic.
	unsigned forward(unsigned port, Frame &frame, std::uint64_t now);

	/// Is it for the switch, and not for the host? Of a cut frame the beginning says it.
	bool is_ub(unsigned port, const Frame &frame) const;

	// For forward.h
	std::uint32_t turn()
	{
		return turn_++;
	}
	std::uint32_t queue_mark(std::uint32_t port, const ub2e_port &to, std::uint32_t len,
				 std::uint16_t &cci);

      private:
	std::shared_ptr<const Tables> tables_;
	Counters &counters_;
	std::minstd_rand random_;
	std::array<ub2e_level, UB2E_MAX_PORTS> levels_{};
	std::uint64_t now_ = 0;
	std::uint32_t turn_ = 0;
};

} // namespace uboe::ub2e
