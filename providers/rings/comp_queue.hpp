// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Completion queue (JFC): the ring and its record. Everything but arm()
// and fired() is called under lock().
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rings/base.hpp"
#include "rings/lock.hpp"

namespace uboe {

/// Depth for @p cqe completions; EINVAL for 0 or above the device's limit.
inline int comp_depth(u32 cqe, u32 &depth)
{
	if (!cqe || cqe > UBOE_MAX_JFC_DEPTH)
		return EINVAL;
	depth = roundup_pow2(std::max(cqe, UBOE_MIN_JFC_DEPTH));
	return 0;
}

/// Fields of a CQE in host order.
struct Cqe {
	u32 w0;
	u32 w1;
	u32 w2;
	const uboe_cqe *raw;

	bool is_recv() const { return w0 & UBOE_CQE_RECV; }
	bool is_jetty() const { return w0 & UBOE_CQE_JETTY; } // or a JFS's, a JFR's
	bool is_marker() const { return w0 & UBOE_CQE_FLUSH_DONE; }
	bool more() const { return w0 & UBOE_CQE_MORE; } // next: of the same message
	u32 opcode() const { return (w0 & UBOE_CQE_OPCODE) >> 4; }
	u32 status() const { return w0 >> 24; }
	u32 substatus() const { return (w0 & UBOE_CQE_SUBSTATUS) >> 16; }
	u32 entry() const { return w1 & UBOE_CQE_ENTRY; }
	JettyId local() const { return JettyId{w1 >> 16 | (w2 & UBOE_CQE_ID_HI) << 16}; }
	u32 remote() const { return (w2 & UBOE_CQE_RMT_ID) >> 4; }
	u32 bytes() const { return le(raw->byte_cnt); }
	/// Data of a short Send that are here and not in the buffer: bytes() of them,
	/// as far as a CQE has room; nothing otherwise.
	std::span<const std::byte> inline_data() const
	{
		const bool imm = opcode() != UBOE_CQE_RX_SEND;
		const void *at = imm ? static_cast<const void *>(raw->inline_data) :
				       static_cast<const void *>(&raw->imm_lo);

		if (!is_recv() || !(w0 & UBOE_CQE_INLINE))
			return {};
		return {static_cast<const std::byte *>(at),
			std::min(bytes(), imm ? UBOE_MAX_CQE_INLINE_IMM : UBOE_MAX_CQE_INLINE)};
	}
	u32 imm_lo() const { return le(raw->imm_lo); }
	u32 imm_hi() const { return le(raw->imm_hi); }
};

class CompQueue {
public:
	/// @p ring: zeroed, @p depth elements; @p rec: zeroed struct uboe_jfc_rec.
	CompQueue(void *ring, u32 depth, void *rec, bool locked = true)
		: ring_(ring, depth), rec_(static_cast<uboe_jfc_rec *>(rec)), lock_(locked)
	{
	}

	SpinLock &lock() { return lock_; }
	u32 depth() const { return ring_.depth(); }

	/// The oldest completion, nothing when there is none. It stays until next().
	std::optional<Cqe> peek() const { return at(ci_); }

	/// Drops the oldest completion; the device learns of it by commit().
	void next() { ++ci_; }

	/// Tells the device how far we are.
	void commit()
	{
		if (ci_ == committed_)
			return;
		committed_ = ci_;
		store_release(&rec_->ci, ci_);
	}

	/// Asks for one event. No system call and no lock; the caller then polls
	/// once more, as verbs demands, and therefore the barrier is here. A request
	/// for any completion is not weakened by a later one for solicited ones.
	void arm(uboe_arm mode)
	{
		if (mode == UBOE_ARM_NEXT)
			any_.store(true, std::memory_order_relaxed);
		else if (any_.load(std::memory_order_relaxed))
			mode = UBOE_ARM_NEXT;
		const u32 sequence = sequence_.fetch_add(1, std::memory_order_relaxed) + 1;
		store_release(&rec_->arm, sequence << 2 | u32(mode));
		full_fence();
	}

	/// An event was delivered: no request is outstanding.
	void fired() { any_.store(false, std::memory_order_relaxed); }

	/// Removes each completion that @p matches, and hands it to @p removed.
	/// The others keep their order and move towards the younger end.
	template <class Match, class Removed> u32 purge(Match matches, Removed removed)
	{
		u32 end = ci_;

		while (end - ci_ < depth() && at(end))
			++end;
		// In two passes, so that slots are given back oldest first.
		for (u32 i = ci_; i != end; ++i) {
			const Cqe cqe = *at(i);
			if (matches(cqe))
				removed(cqe);
		}
		u32 gone = 0;
		for (u32 i = end; i != ci_;) {
			--i;
			const Cqe cqe = *at(i);
			if (matches(cqe))
				++gone;
			else if (gone)
				move(i, i + gone);
		}
		ci_ += gone;
		commit();
		return gone;
	}

	/// Goes on in another ring, into which the device has copied everything
	/// that was not consumed, at the same indices.
	void switch_ring(void *ring, u32 depth) { ring_ = Ring<uboe_cqe>(ring, depth); }

	/// Test aid: value of the consumer index; the device starts at 0.
	void start_at(u32 ci)
	{
		ci_ = ci;
		commit();
	}

	u64 skipped = 0; // completions that belong to no known request

private:
	// On the first lap valid elements have the owner bit set, on the second
	// clear, and so on.
	u32 owner(u32 index) const { return index & depth() ? 0 : UBOE_CQE_OWNER; }

	std::optional<Cqe> at(u32 index) const
	{
		const uboe_cqe &raw = ring_[index];
		const u32 w0 = load_acquire(&raw.w0);

		if ((w0 & UBOE_CQE_OWNER) != owner(index))
			return std::nullopt;
		return Cqe{w0, le(raw.w1), le(raw.w2), &raw};
	}

	void move(u32 from, u32 to)
	{
		uboe_cqe &dst = ring_[to];
		const u32 w0 = le(ring_[from].w0);

		std::memcpy(&dst, &ring_[from], sizeof(dst));
		dst.w0 = le((w0 & ~UBOE_CQE_OWNER) | owner(to));
	}

	Ring<uboe_cqe> ring_;
	uboe_jfc_rec *rec_;
	SpinLock lock_;
	u32 ci_ = 0;
	u32 committed_ = 0;
	std::atomic<u32> sequence_{0};
	std::atomic<bool> any_{false}; // armed for any completion
};

} // namespace uboe
