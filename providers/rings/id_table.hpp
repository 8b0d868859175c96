// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Number -> object for 20-bit numbers, in two levels. Look-ups take no lock and
// may run beside changes of other entries.
#pragma once

#include <cstdlib>

#include "rings/base.hpp"

namespace uboe {

template <class T> class IdTable {
public:
	IdTable() = default;
	~IdTable()
	{
		for (auto &top : top_)
			std::free(top.load(std::memory_order_relaxed));
	}
	IdTable(const IdTable &) = delete;
	IdTable &operator=(const IdTable &) = delete;

	/// The object, nullptr for an unknown number. Any thread.
	T *find(JettyId id) const
	{
		const u32 n = static_cast<u32>(id);

		if (n >> jetty_id_bits)
			return nullptr;
		const Leaf *leaf = top_[n >> leaf_bits].load(std::memory_order_acquire);
		return leaf ? leaf->entry[n & leaf_mask].load(std::memory_order_acquire) : nullptr;
	}

	/// Sets or, with nullptr, clears an entry. The caller serialises changes.
	/// Returns false for a number out of range or when memory is short.
	bool set(JettyId id, T *object)
	{
		const u32 n = static_cast<u32>(id);

		if (n >> jetty_id_bits)
			return false;
		Leaf *leaf = top_[n >> leaf_bits].load(std::memory_order_relaxed);
		if (!leaf) {
			if (!object)
				return true;
			leaf = static_cast<Leaf *>(std::calloc(1, sizeof(Leaf)));
			if (!leaf)
				return false;
			top_[n >> leaf_bits].store(leaf, std::memory_order_release);
		}
		leaf->entry[n & leaf_mask].store(object, std::memory_order_release);
		return true;
	}

private:
	static constexpr u32 leaf_bits = 10;
	static constexpr u32 leaf_mask = (1u << leaf_bits) - 1;

	struct Leaf {
		std::atomic<T *> entry[1u << leaf_bits];
	};

	std::atomic<Leaf *> top_[1u << (jetty_id_bits - leaf_bits)] = {};
};

} // namespace uboe
