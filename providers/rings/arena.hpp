// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Memory shared with the device. A context maps a few large arenas and carves
// rings, records and jetty pages out of them, so that the number of mappings
// stays in the tens whatever the number of queues.
//
// Everything placed in an arena has a power-of-two size, and so an arena is a
// buddy system: blocks are aligned to their size, the lowest free one is taken,
// hence consecutive jetty pages share pages. The books are kept outside the
// shared memory, as bitmaps: 4 bits for each 64 bytes.
#pragma once

#include "rings/array.hpp"
#include "rings/base.hpp"
#include "rings/lock.hpp"

namespace uboe {

/// How arenas come and go; replaced by the unit tests.
struct ArenaMapper {
	void *cookie = nullptr;
	/// Maps arena @p id of @p len bytes, zeroed. nullptr and errno on failure.
	void *(*map)(void *cookie, u32 id, std::size_t len) = nullptr;
	void (*unmap)(void *cookie, void *base, std::size_t len) = nullptr;
};

/// One buddy system over [0, size). Not thread-safe.
class Buddy {
public:
	static constexpr u32 unit_shift = 6; // 64 bytes, a base block
	static constexpr u32 max_orders = 27; // up to 2^32 bytes

	Buddy() = default;
	Buddy(Buddy &&) = default;
	Buddy &operator=(Buddy &&) = default;

	/// @p size: power of two, at least 4096. False when memory is short.
	bool init(u32 size);

	/// Takes a block of 64 << @p order bytes; its offset, nothing when full.
	std::optional<u32> take(u32 order);
	/// Gives back what take() returned, with the same order.
	void give(u32 offset, u32 order);

	bool has(u32 order) const { return (nonempty_ >> order) != 0; }
	bool all_free() const { return count_[top_] != 0; }

	static u32 order_of(u32 size)
	{
		return log2_pow2(roundup_pow2(size < 64 ? 64 : size)) - unit_shift;
	}

private:
	bool test(u32 order, u32 block) const;
	void set_free(u32 order, u32 block);
	void set_used(u32 order, u32 block);
	u32 first_free(u32 order);

	Array<u64> bits_;
	u32 first_word_[max_orders] = {}; // where the bitmap of an order starts
	u32 words_[max_orders] = {};
	u32 hint_[max_orders] = {}; // no free block in a lower word
	u32 count_[max_orders] = {};
	u32 nonempty_ = 0; // orders with a free block
	u32 top_ = 0; // order of the whole
};

class ArenaAllocator;

/// A block of shared memory; gives itself back. Movable, not copyable.
class ArenaBlock {
public:
	ArenaBlock() = default;
	~ArenaBlock() { reset(); }
	ArenaBlock(ArenaBlock &&other) noexcept { swap(other); }
	ArenaBlock &operator=(ArenaBlock &&other) noexcept
	{
		swap(other);
		return *this;
	}

	explicit operator bool() const { return ptr_ != nullptr; }
	void *data() const { return ptr_; }
	std::size_t size() const { return std::size_t{64} << order_; }
	BusAddr bus() const { return BusAddr{u64{arena_} << 32 | offset_}; }
	void reset();

private:
	friend class ArenaAllocator;

	void swap(ArenaBlock &other) noexcept
	{
		std::swap(owner_, other.owner_);
		std::swap(ptr_, other.ptr_);
		std::swap(arena_, other.arena_);
		std::swap(offset_, other.offset_);
		std::swap(order_, other.order_);
	}

	ArenaAllocator *owner_ = nullptr;
	void *ptr_ = nullptr;
	u32 arena_ = 0;
	u32 offset_ = 0;
	u32 order_ = 0;
};

/// All arenas of a context. Thread-safe. Blocks must not outlive it.
class ArenaAllocator {
public:
	/// @p max_size: largest arena, bytes; @p max_arenas: ids 0 .. max_arenas - 1.
	ArenaAllocator(const ArenaMapper &mapper, u32 max_arenas, u32 max_size);
	~ArenaAllocator();
	ArenaAllocator(const ArenaAllocator &) = delete;
	ArenaAllocator &operator=(const ArenaAllocator &) = delete;

	/// Zeroed block of at least @p size bytes, aligned to its rounded size.
	/// Empty, with errno set (ENOMEM, or what mapping answered), on failure.
	ArenaBlock take(std::size_t size);

	u32 arenas() const { return used_; }

private:
	friend class ArenaBlock;

	static constexpr u32 first_size = 1u << 20;

	struct Arena {
		std::byte *base;
		u32 size;
		u32 touched; // bytes from here on were never handed out: still zero
	};

	bool grow(u32 at_least);
	void give(const ArenaBlock &block);

	const ArenaMapper mapper_;
	const u32 max_size_;
	Mutex lock_;
	Array<Arena> arena_;
	Buddy *buddy_ = nullptr; // parallel to arena_
	u32 capacity_ = 0;
	u32 used_ = 0;
	u32 next_size_ = first_size;
};

inline void ArenaBlock::reset()
{
	if (ptr_)
		owner_->give(*this);
	ptr_ = nullptr;
}

} // namespace uboe
