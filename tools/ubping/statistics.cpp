// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace ubping
{

/// Welford's way: sums of squares would lose all digits in a long run.
void Statistics::add_reply(double rtt_ms)
{
	const double before = mean_;

	min_ = received_ ? std::min(min_, rtt_ms) : rtt_ms;
	max_ = std::max(max_, rtt_ms);
	++received_;
	mean_ += (rtt_ms - before) / static_cast<double>(received_);
	squares_ += (rtt_ms - before) * (rtt_ms - mean_);
}

double Statistics::loss_percent() const
{
	if (!sent_)
		return 0;
	return 100 * static_cast<double>(sent_ - std::min(sent_, received_)) /
	       static_cast<double>(sent_);
}

double Statistics::average() const
{
	return mean_;
}

double Statistics::deviation() const
{
	return received_ ? std::sqrt(squares_ / static_cast<double>(received_)) : 0;
}

} // namespace ubping
