// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#pragma once

#include <cstdint>

namespace ubping
{

/// Of one target.
class Statistics
{
      public:
	void add_sent()
	{
		++sent_;
	}
	void add_reply(double rtt_ms);
	void add_corrupted()
	{
		++corrupted_;
	}

	std::uint64_t sent() const
	{
		return sent_;
	}
	std::uint64_t received() const
	{
		return received_;
	}
	/// Replies whose content was wrong; they count as received.
	std::uint64_t corrupted() const
	{
		return corrupted_;
	}
	double loss_percent() const;

	/// Round trips in milliseconds; 0 without any.
	double min() const
	{
		return min_;
	}
	double average() const;
	double max() const
	{
		return max_;
	}
	/// Standard deviation, as ping has it.
	double deviation() const;

      private:
	std::uint64_t sent_ = 0;
	std::uint64_t received_ = 0;
	std::uint64_t corrupted_ = 0;
	double min_ = 0;
	double max_ = 0;
	double mean_ = 0;
	double squares_ = 0; // sum of squared distances from the mean
};

} // namespace ubping
