// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Words, bytes and memory order: the few primitives that everything else in the
// core is written with. Memory shared with the device is little-endian; each
// index word has one writer, which publishes it with release semantics.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <ub/uboe_io.h>

namespace uboe {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Number of a jetty (verbs: QP), 20 bits. Not interchangeable with an index.
enum class JettyId : u32 {};
/// Number of a receive slot inside its JFR.
enum class Slot : u32 {};
/// Address of a block as the device knows it: arena id << 32 | offset.
enum class BusAddr : u64 {};

inline constexpr u32 jetty_id_bits = 20;

constexpr u16 swap_bytes(u16 v)
{
	return __builtin_bswap16(v);
}
constexpr u32 swap_bytes(u32 v)
{
	return __builtin_bswap32(v);
}
constexpr u64 swap_bytes(u64 v)
{
	return __builtin_bswap64(v);
}

/// Host to little-endian and back; no instruction on a little-endian machine.
template <class T> constexpr T le(T v)
{
	if constexpr (std::endian::native == std::endian::little)
		return v;
	else
		return swap_bytes(v);
}

/// Host to network byte order and back.
constexpr u32 be32(u32 v)
{
	return std::endian::native == std::endian::big ? v : swap_bytes(v);
}

/// Loads a little-endian word that the other side publishes.
template <class T> T load_acquire(const T *p)
{
	return le(__atomic_load_n(p, __ATOMIC_ACQUIRE));
}

/// Publishes a little-endian word: everything stored before is seen first.
template <class T> void store_release(T *p, T v)
{
	__atomic_store_n(p, le(v), __ATOMIC_RELEASE);
}

/// Orders our earlier stores before our later loads, as the doorbell and arming
/// protocols of ub/uboe_io.h ask.
inline void full_fence()
{
#if defined(__SANITIZE_THREAD__)
	// The thread sanitizer knows no fences; a read-modify-write does as well.
	static std::atomic<u32> dummy;
	dummy.fetch_add(1, std::memory_order_seq_cst);
#else
	std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

/// Smallest power of two that is not below @p v; 1 for 0. Valid up to 2^31.
constexpr u32 roundup_pow2(u32 v)
{
	return std::bit_ceil(v);
}
constexpr u32 log2_pow2(u32 v)
{
	return static_cast<u32>(std::countr_zero(v));
}

/// View of a power-of-two ring of T; indices run freely over 32 bits.
template <class T> class Ring {
public:
	constexpr Ring() = default;
	Ring(void *base, u32 depth) : base_(static_cast<T *>(base)), mask_(depth - 1) {}

	T &operator[](u32 index) const { return base_[index & mask_]; }
	u32 depth() const { return mask_ + 1; }
	u32 mask() const { return mask_; }
	u32 shift() const { return log2_pow2(depth()); }
	std::span<T> span() const { return {base_, depth()}; }
	/// Elements from @p index up to the end of the storage.
	u32 contiguous(u32 index) const { return depth() - (index & mask_); }

private:
	T *base_ = nullptr;
	u32 mask_ = 0;
};

/// One base block of a send queue.
struct alignas(UBOE_BB) Bb {
	std::byte bytes[UBOE_BB];
};

} // namespace uboe
