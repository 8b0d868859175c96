// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Numbers of one kind of object. A number that was given back is handed out
// again as late as possible, so that a late packet seldom finds a new owner.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace uboe::inproc {

class Ids {
public:
	/// Numbers from @p first to @p end - 1; those below @p ordinary are given
	/// only to who asks for them.
	Ids(std::uint32_t first, std::uint32_t ordinary, std::uint32_t end)
		: first_(first), ordinary_(ordinary), next_(ordinary), used_(end)
	{
	}

	/// Any free number; nothing when all are in use.
	std::optional<std::uint32_t> take()
	{
		const std::lock_guard hold(lock_);
		const std::uint32_t end = static_cast<std::uint32_t>(used_.size());

		for (std::uint32_t n = end - ordinary_; n; --n) {
			const std::uint32_t id = next_;

			next_ = next_ + 1 == end ? ordinary_ : next_ + 1;
			if (!used_[id]) {
				used_[id] = true;
				return id;
			}
		}
		return std::nullopt;
	}

	/// This number; false when it is out of range or in use.
	bool take(std::uint32_t id)
	{
		const std::lock_guard hold(lock_);

		if (id < first_ || id >= used_.size() || used_[id])
			return false;
		used_[id] = true;
		return true;
	}

	void give(std::uint32_t id)
	{
		const std::lock_guard hold(lock_);

		used_[id] = false;
	}

private:
	const std::uint32_t first_;
	const std::uint32_t ordinary_;
	std::mutex lock_;
	std::uint32_t next_;
	std::vector<bool> used_;
};

} // namespace uboe::inproc
