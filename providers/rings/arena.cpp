// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

#include "rings/arena.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace uboe {

bool Buddy::init(u32 size)
{
	top_ = order_of(size);
	u32 words = 0;
	for (u32 order = 0; order <= top_; ++order) {
		first_word_[order] = words;
		words_[order] = ((1u << (top_ - order)) + 63) / 64;
		words += words_[order];
	}
	bits_ = Array<u64>(words);
	if (!bits_)
		return false;
	set_free(top_, 0);
	return true;
}

bool Buddy::test(u32 order, u32 block) const
{
	return bits_[first_word_[order] + block / 64] >> (block % 64) & 1;
}

void Buddy::set_free(u32 order, u32 block)
{
	bits_[first_word_[order] + block / 64] |= u64{1} << (block % 64);
	hint_[order] = count_[order] ? std::min(hint_[order], block / 64) : block / 64;
	++count_[order];
	nonempty_ |= 1u << order;
}

void Buddy::set_used(u32 order, u32 block)
{
	bits_[first_word_[order] + block / 64] &= ~(u64{1} << (block % 64));
	if (--count_[order] == 0)
		nonempty_ &= ~(1u << order);
}

u32 Buddy::first_free(u32 order)
{
	u32 word = hint_[order];

	while (!bits_[first_word_[order] + word])
		++word; // count_ says that there is one
	hint_[order] = word;
	return word * 64 + static_cast<u32>(std::countr_zero(bits_[first_word_[order] + word]));
}

std::optional<u32> Buddy::take(u32 order)
{
	if (order > top_ || !has(order))
		return std::nullopt;
	u32 from = order + static_cast<u32>(std::countr_zero(nonempty_ >> order));
	u32 block = first_free(from);

	set_used(from, block);
	while (from > order) {
		--from;
		block *= 2;
		set_free(from, block + 1);
	}
	return block << (order + unit_shift);
}

void Buddy::give(u32 offset, u32 order)
{
	u32 block = offset >> (order + unit_shift);

	while (order < top_ && test(order, block ^ 1)) {
		set_used(order, block ^ 1);
		block /= 2;
		++order;
	}
	set_free(order, block);
}

ArenaAllocator::ArenaAllocator(const ArenaMapper &mapper, u32 max_arenas, u32 max_size)
	: mapper_(mapper), max_size_(std::bit_floor(max_size)), arena_(max_arenas)
{
	void *mem = std::calloc(max_arenas, sizeof(Buddy));

	if (!mem || !arena_)
		std::free(mem);
	else
		buddy_ = static_cast<Buddy *>(mem), capacity_ = max_arenas;
}

ArenaAllocator::~ArenaAllocator()
{
	for (u32 i = 0; i < used_; ++i) {
		buddy_[i].~Buddy();
		mapper_.unmap(mapper_.cookie, arena_[i].base, arena_[i].size);
	}
	std::free(buddy_);
}

// Arenas double, so that a small program stays small and a large one has few
// mappings. When that much cannot be had, what is needed now is tried.
bool ArenaAllocator::grow(u32 at_least)
{
	if (used_ == capacity_) {
		errno = ENOMEM;
		return false;
	}
	u32 size = std::min(std::max(next_size_, at_least), max_size_);
	Buddy *buddy = new (&buddy_[used_]) Buddy;
	void *base = nullptr;

	if (!buddy->init(size)) {
		errno = ENOMEM;
		return false;
	}
	base = mapper_.map(mapper_.cookie, used_, size);
	if (!base && errno == ENOMEM && size > std::max(at_least, 65536u)) {
		size = std::max(at_least, 65536u);
		*buddy = Buddy();
		if (buddy->init(size))
			base = mapper_.map(mapper_.cookie, used_, size);
		else
			errno = ENOMEM;
	}
	if (!base) {
		buddy->~Buddy();
		return false;
	}
	arena_[used_++] = {static_cast<std::byte *>(base), size, 0};
	if (size == next_size_ && next_size_ <= max_size_ / 2)
		next_size_ *= 2;
	return true;
}

ArenaBlock ArenaAllocator::take(std::size_t size)
{
	ArenaBlock block;

	if (!size || size > max_size_) {
		errno = ENOMEM;
		return block;
	}
	const u32 order = Buddy::order_of(static_cast<u32>(size));
	const u32 bytes = 64u << order;
	{
		Hold hold(lock_);
		u32 i = 0;

		while (i < used_ && !buddy_[i].has(order))
			++i;
		if (i == used_ && !grow(bytes))
			return block;
		const u32 offset = *buddy_[i].take(order);
		Arena &arena = arena_[i];

		block.owner_ = this;
		block.arena_ = i;
		block.offset_ = offset;
		block.order_ = order;
		block.ptr_ = arena.base + offset;
		size = offset < arena.touched ? std::min(bytes, arena.touched - offset) : 0;
		arena.touched = std::max(arena.touched, offset + bytes);
	}
	if (size)
		std::memset(block.ptr_, 0, size);
	return block;
}

void ArenaAllocator::give(const ArenaBlock &block)
{
	Hold hold(lock_);

	buddy_[block.arena_].give(block.offset_, block.order_);
}

} // namespace uboe
