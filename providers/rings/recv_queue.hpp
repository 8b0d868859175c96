// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Receive queue (JFR) of one jetty, or shared by several: fixed slots of SGEs
// and an index ring that says in which order they are filled.
//
// A slot belongs to us from its completion to the next post, and to the device
// in between. Free slots wait in a private ring: the poster takes from its head
// under lock(), pollers give to its tail. Pollers of one queue that work on
// different CQs (an SRQ has such) need the give lock; a jetty's own JFR is
// polled from one CQ only.
#pragma once

#include <algorithm>
#include <cerrno>

#include "rings/array.hpp"
#include "rings/base.hpp"
#include "rings/lock.hpp"

namespace uboe {

struct RecvGeometry {
	u32 depth = 0; // slots, power of two
	u32 sge_shift = 0; // log2 of SGEs of a slot

	u32 sges() const { return 1u << sge_shift; }
	std::size_t slot_bytes() const { return std::size_t{UBOE_SGE_SIZE} << sge_shift; }
	std::size_t ring_bytes() const { return slot_bytes() * depth; }
	std::size_t index_bytes() const { return std::size_t{4} * depth; }
};

/// Rounds up to what the device takes; EINVAL above a limit.
inline int recv_geometry(u32 wr, u32 sge, RecvGeometry &g)
{
	if (wr > UBOE_MAX_JFR_DEPTH || sge > UBOE_MAX_RQ_SGE)
		return EINVAL;
	g.depth = roundup_pow2(std::max(wr, UBOE_MIN_JFR_DEPTH));
	g.sge_shift = log2_pow2(roundup_pow2(std::max(sge, 1u)));
	return 0;
}

class RecvQueue {
public:
	/// @p slots, @p index, @p rec: zeroed shared memory of the sizes above.
	/// @p shared: completions come from more than one CQ.
	/// valid() is false when memory was short.
	RecvQueue(const RecvGeometry &g, void *slots, void *index, void *rec, bool shared,
		  bool locked = true)
		: geometry_(g), slots_(static_cast<std::byte *>(slots)), index_(index, g.depth),
		  rec_(static_cast<uboe_jfr_rec *>(rec)), wr_id_(g.depth), posted_(g.depth),
		  free_(g.depth), lock_(locked), give_lock_(shared)
	{
		if (valid())
			reset();
	}

	bool valid() const { return wr_id_ && posted_ && free_; }
	SpinLock &lock() { return lock_; }
	const RecvGeometry &geometry() const { return geometry_; }

	/// Adds a receive to the batch; publish() makes it visible. Under lock().
	/// 0, EINVAL for too many SGEs or bytes, ENOMEM when all slots are in use.
	template <class S> int append(u64 wr_id, std::span<const S> sges)
	{
		if (sges.size() > geometry_.sges())
			return EINVAL;
		u64 total = 0;
		for (const S &s : sges)
			total += s.length;
		if (total > UBOE_MAX_MSG)
			return EINVAL;
		if (head_ == tail_.load(std::memory_order_acquire))
			return ENOMEM;
		const u32 slot = free_[head_ & mask()];
		++head_;

		auto *to = reinterpret_cast<uboe_sge *>(slots_ + slot * geometry_.slot_bytes());
		uboe_sge *const end = to + geometry_.sges();
		for (const S &s : sges) {
			if (!s.length)
				continue;
			*to++ = {le(u32{s.length}), le(u32{s.lkey}), le(u64{s.addr})};
		}
		for (; to != end; ++to)
			*to = {};
		wr_id_[slot] = wr_id;
		posted_[slot].store(1, std::memory_order_relaxed);
		index_[pi_] = le(slot);
		++pi_;
		return 0;
	}

	/// Shows all appended receives to the device. Under lock().
	void publish() { store_release(&rec_->pi, pi_); }

	/// Elements of a posted receive. Before complete(), by who calls that.
	std::span<const uboe_sge> elements(Slot slot) const
	{
		const u32 n = static_cast<u32>(slot);

		if (n >= geometry_.depth)
			return {};
		return {reinterpret_cast<const uboe_sge *>(slots_ + n * geometry_.slot_bytes()),
			geometry_.sges()};
	}

	/// The receive in @p slot has completed: its id, and the slot is free again.
	/// Nothing for a slot that was not posted: the caller ignores the completion.
	std::optional<u64> complete(Slot slot)
	{
		const u32 n = static_cast<u32>(slot);

		if (n >= geometry_.depth || !posted_[n].exchange(0, std::memory_order_acquire))
			return std::nullopt;
		const u64 wr_id = wr_id_[n];
		Hold hold(give_lock_);
		const u32 tail = tail_.load(std::memory_order_relaxed);

		free_[tail & mask()] = static_cast<u16>(n);
		tail_.store(tail + 1, std::memory_order_release);
		return wr_id;
	}

	/// Receives posted and not completed. Under lock().
	u32 used() const { return geometry_.depth - (tail_.load() - head_); }

	/// Forgets everything. Nothing may be in progress; all locks are held.
	/// @p start: value of the indices; the device starts at 0.
	void reset(u32 start = 0)
	{
		for (u32 i = 0; i < geometry_.depth; ++i) {
			free_[(start + i) & mask()] = static_cast<u16>(i);
			posted_[i].store(0, std::memory_order_relaxed);
		}
		pi_ = start;
		head_ = start;
		tail_.store(start + geometry_.depth, std::memory_order_release);
		publish();
	}

private:
	u32 mask() const { return geometry_.depth - 1; }

	const RecvGeometry geometry_;
	std::byte *slots_;
	Ring<u32> index_;
	uboe_jfr_rec *rec_;
	Array<u64> wr_id_; // by slot
	Array<std::atomic<u8>> posted_; // by slot
	Array<u16> free_; // ring of free slots
	SpinLock lock_;
	SpinLock give_lock_;
	u32 pi_ = 0;
	u32 head_ = 0;
	alignas(64) std::atomic<u32> tail_{0};
};

} // namespace uboe
