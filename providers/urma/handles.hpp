// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Memory of the objects whose addresses programs hold. It is never given back to
// the system, only to the next object of the same type: so a handle that was
// destroyed, or is of another type, is told from a live one on every call, for
// the price of one load.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace uboe::urma {

template <class T> class Handles {
public:
	/// Throws std::bad_alloc.
	template <class... Args> static T *make(Args &&...args)
	{
		Slot *s = take();

		try {
			T *t = new (s->storage) T(std::forward<Args>(args)...);
			s->magic.store(T::magic, std::memory_order_release);
			return t;
		} catch (...) {
			give(s);
			throw;
		}
	}

	static void destroy(T *t)
	{
		Slot *s = slot_of(t);

		s->magic.store(0, std::memory_order_release);
		t->~T();
		give(s);
	}

	/// Null unless @p p is a live object of this type.
	static T *check(const typename T::Base *p)
	{
		if (!p)
			return nullptr;
		T *t = static_cast<T *>(const_cast<typename T::Base *>(p));

		return slot_of(t)->magic.load(std::memory_order_acquire) == T::magic ? t : nullptr;
	}

private:
	struct Slot {
		alignas(alignof(T) > 16 ? alignof(T) : 16) std::atomic<std::uint64_t> magic{0};
		Slot *next = nullptr;
		alignas(alignof(T) > 16 ? alignof(T) : 16) std::byte storage[sizeof(T)];
	};

	struct Pool {
		std::mutex lock; // guards the rest
		Slot *free = nullptr;
		std::vector<std::unique_ptr<Slot[]>> slabs;
	};

	static Pool &pool()
	{
		static auto *p = new Pool; // outlives every static object of the program

		return *p;
	}

	static Slot *slot_of(T *t)
	{
		return reinterpret_cast<Slot *>(reinterpret_cast<std::byte *>(t) -
						offsetof(Slot, storage));
	}

	static Slot *take()
	{
		constexpr std::size_t slab = 32;
		Pool &p = pool();
		const std::lock_guard hold(p.lock);

		if (!p.free) {
			p.slabs.push_back(std::make_unique<Slot[]>(slab));
			for (std::size_t i = 0; i < slab; ++i) {
				p.slabs.back()[i].next = p.free;
				p.free = &p.slabs.back()[i];
			}
		}
		return std::exchange(p.free, p.free->next);
	}

	static void give(Slot *s)
	{
		Pool &p = pool();
		const std::lock_guard hold(p.lock);

		s->next = p.free;
		p.free = s;
	}
};

} // namespace uboe::urma
