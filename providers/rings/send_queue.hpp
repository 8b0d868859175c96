// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Send queue of a jetty: the ring of base blocks, the doorbell page and our
// private record of what is in the ring.
//
// Posting: begin(), append() for each request, then publish() or rollback(), all
// under lock(). Completion: complete(), under the lock of the completion queue.
// The two sides share only the indices: the poster writes pi, the poller ci.
//
// With AnyOrder (RM) requests complete in any order across targets. The device says
// in the page which blocks it has taken, each request has a completion, and records
// are found by the number of its last block.
#pragma once

#include <vector>

#include "rings/array.hpp"
#include "rings/lock.hpp"
#include "rings/sqe.hpp"

namespace uboe {

/// What we must remember of a request until it completes.
struct SentWr {
	u64 wr_id;
	u32 bytes; // payload
	u8 blocks;
	Op op;
	u8 flags; // wr_*
};

/// How a send queue is laid out; from the capabilities asked for.
struct SendGeometry {
	u32 depth = 0; // base blocks, power of two
	u32 wr = 0; // requests of any shape that always fit
	u32 sge = 0;
	u32 inline_bytes = 0;
};

/// Rounds what was asked for up to what the ring gives.
/// @p ops: bit n set when Op n may be posted; raw_ops: a raw queue.
/// Returns 0, or EINVAL above a limit of the device.
inline int send_geometry(u32 wr, u32 sge, u32 inline_bytes, u32 ops, u32 device_max_inline,
			 SendGeometry &g)
{
	const bool raw = ops == raw_ops;
	const u32 most = raw ? UBOE_MAX_SGE_RAW : UBOE_MAX_SGE;
	u32 blocks = 1, ctrl = 0;

	sge = std::max(sge, 1u);
	if (sge > most || inline_bytes > device_max_inline || inline_bytes > UBOE_MAX_INLINE ||
	    wr > UBOE_MAX_JFS_BB)
		return EINVAL;
	for (u32 i = 0; i < op_count; ++i) {
		if (!(ops >> i & 1) || (Op(i) == Op::raw && !raw))
			continue;
		blocks = std::max(blocks, max_blocks(Op(i), sge, inline_bytes));
		ctrl = std::max<u32>(ctrl, op_traits[i].ctrl);
	}
	const u32 needed = std::max(wr * blocks, raw ? UBOE_MIN_RAW_DEPTH : UBOE_SQE_MAX_BB);
	if (needed > UBOE_MAX_JFS_BB)
		return EINVAL;
	const u32 room = blocks * UBOE_BB - ctrl;

	g.depth = roundup_pow2(needed);
	g.wr = g.depth / blocks;
	g.sge = std::max(sge, std::min(room / UBOE_SGE_SIZE, most));
	g.inline_bytes = std::max(inline_bytes, std::min(room, device_max_inline));
	return 0;
}

enum class Order { posting, any };

/// What the page's DirectWQE window is: nothing, a short cut beside the ring, or the only
/// way in. Then the jetty has a place in a lock buffer (docs/decisions/0023): the ring is
/// only ours, requests are published one by one, each with a KICK.
enum class Window { none, beside, only };

class SendQueue {
public:
	/// @p ring: g.depth zeroed blocks; @p page: the jetty page, zeroed.
	/// valid() is false when memory was short.
	SendQueue(const SendGeometry &g, void *ring, void *page, Window window, bool signal_all,
		  bool locked = true, Order order = Order::posting)
		: ring_(ring, g.depth), page_(static_cast<std::byte *>(page)), max_sge_(g.sge),
		  max_inline_(g.inline_bytes), window_(window), signal_all_(signal_all),
		  any_order_(order == Order::any),
		  sent_(any_order_ ? std::min(4 * g.depth, entry_numbers) : g.depth), lock_(locked)
	{
		if (any_order_)
			batch_ends_.reserve(g.depth);
	}

	bool valid() const { return bool(sent_); }
	SpinLock &lock() { return lock_; }
	u32 depth() const { return ring_.depth(); }
	u32 max_inline() const { return max_inline_; }
	u32 max_sge() const { return max_sge_; }
	/// Each request is published, and the device kicked, before the next is appended.
	bool one_by_one() const { return window_ == Window::only; }
	void set_remote(u32 jetty) { params_.remote_jetty = jetty & 0xfffffu; }
	/// What the peer's jetty wants to see with each message.
	void set_remote_token(u32 token)
	{
		params_.remote_token = token;
		params_.has_token = true;
	}

	/// Starts a batch.
	void begin()
	{
		cur_ = pi_.load(std::memory_order_relaxed);
		batch_ = 0;
		batch_ends_.clear();
	}

	/// Appends a request with SGEs. 0, EINVAL, or ENOMEM when the ring is full, or the
	/// window is the only way in and not free; nothing changes on error.
	template <class S> int append(const WorkRequest &wr, std::span<const S> sges)
	{
		SqeShape shape;

		if (int err = shape_sges(wr, sges, max_sge_, shape))
			return err;
		return place(wr, shape, false, [&](std::byte *to) { put_sges(to, wr, sges); });
	}

	/// Appends a request with inline data, gathered from @p bufs: addr(b) and
	/// len(b) give the address and the bytes of one. Errors as for append().
	template <class B, class Addr, class Len>
	int append_inline(const WorkRequest &wr, std::span<const B> bufs, Addr addr, Len len)
	{
		SqeShape shape;
		u64 total = 0;

		for (const B &b : bufs) {
			const u64 n = len(b);
			if (n > UBOE_MAX_INLINE)
				return EINVAL;
			total += n;
			if (total > UBOE_MAX_INLINE)
				return EINVAL;
		}
		if (int err = shape_inline(wr, total, max_inline_, shape))
			return err;
		return place(wr, shape, true, [&](std::byte *to) {
			std::byte *p = to + traits(wr.op).ctrl;
			for (const B &b : bufs) {
				const std::size_t n = static_cast<std::size_t>(len(b));
				if (n)
					std::memcpy(p, addr(b), n);
				p += n;
			}
		});
	}

	/// Drops the batch.
	void rollback()
	{
		for (u32 end : batch_ends_)
			set_free(record(end - 1));
		begin();
	}

	/// Makes the batch visible to the device. Returns true when the device
	/// sleeps: the caller then issues a KICK.
	bool publish()
	{
		const u32 old = pi_.load(std::memory_order_relaxed);

		if (cur_ == old)
			return false;
		pi_.store(cur_, std::memory_order_release);
		if (window_ == Window::only) {
			direct(old, cur_ - old);
			batch_ = 0;
			return true;
		}
		if (window_ == Window::beside && batch_ == 1 && cur_ - old <= UBOE_DWQE_MAX_BB &&
		    old == ci_.load(std::memory_order_relaxed))
			direct(old, cur_ - old);
		store_release(word(UBOE_JPAGE_DB), cur_);
		batch_ = 0;
		batch_ends_.clear();
		full_fence();
		return need_kick(UBOE_JPAGE_NEED_KICK);
	}

	/// Reads UBOE_JPAGE_NEED_KICK or UBOE_JPAGE_RQ_KICK.
	bool need_kick(u32 offset) const { return load_acquire(word(offset)) != 0; }

	/// Retires the request whose last block is at ring index @p entry together
	/// with all before it. Nothing when no such request is outstanding: the
	/// caller then ignores the completion. Under the CQ's lock.
	std::optional<SentWr> complete(u32 entry)
	{
		if (any_order_)
			return complete_one(entry);
		const u32 ci = ci_.load(std::memory_order_relaxed);
		const u32 blocks = ((entry - ci) & ring_.mask()) + 1;

		if (blocks > pi_.load(std::memory_order_acquire) - ci)
			return std::nullopt;
		const SentWr done = sent_[entry & ring_.mask()];
		if (!done.blocks) // not the last block of a request
			return std::nullopt;
		ci_.store(ci + blocks, std::memory_order_release);
		return done;
	}

	/// Base blocks that the device has not given back yet.
	u32 used() const
	{
		if (any_order_)
			return pi_.load(std::memory_order_acquire) -
			       load_acquire(word(UBOE_JPAGE_CI));
		return pi_.load(std::memory_order_acquire) - ci_.load(std::memory_order_acquire);
	}

	/// Forgets everything. Nothing may be in progress; both locks are held.
	/// @p start: value of both indices; the device starts at 0.
	void reset(u32 start = 0)
	{
		pi_.store(start, std::memory_order_relaxed);
		ci_.store(start, std::memory_order_relaxed);
		if (window_ != Window::only)
			store_release(word(UBOE_JPAGE_DB), start);
		for (SentWr &r : sent_.span())
			r = {};
		in_progress_.store(0, std::memory_order_relaxed);
		begin();
	}

private:
	static constexpr u32 entry_numbers = 0x10000; // those of UBOE_CQE_ENTRY

	SentWr &record(u32 entry) { return sent_[entry & (sent_.size() - 1)]; }

	bool is_free(SentWr &r) { return !__atomic_load_n(&r.blocks, __ATOMIC_ACQUIRE); }
	void set_free(SentWr &r)
	{
		__atomic_store_n(&r.blocks, u8{0}, __ATOMIC_RELEASE);
		in_progress_.fetch_sub(1, std::memory_order_relaxed);
	}

	std::optional<SentWr> complete_one(u32 entry)
	{
		SentWr &r = record(entry);

		if (is_free(r))
			return std::nullopt;
		const SentWr done = r;
		set_free(r);
		return done;
	}

	// Blocks that do nothing, until @p blocks more end at a number whose record is
	// free: it may be one of a request to a peer that has been silent for long.
	bool skip_taken(u32 blocks)
	{
		if (in_progress_.load(std::memory_order_relaxed) >= ring_.depth())
			return false;
		WorkRequest nothing{};

		nothing.op = Op::nop;
		while (!is_free(record(cur_ + blocks - 1))) {
			if (cur_ + 1 + blocks - load_acquire(word(UBOE_JPAGE_CI)) > ring_.depth())
				return false;
			std::memset(ring_[cur_].bytes, 0, UBOE_BB);
			put_control(ring_[cur_].bytes, nothing, params_, cur_, ring_.depth(), 0, 0,
				    false);
			++cur_;
		}
		return true;
	}

	u32 *word(u32 offset) const { return reinterpret_cast<u32 *>(page_ + offset); }

	// Composes an element at cur_. One that would run over the end of the ring
	// is composed aside.
	template <class Fill>
	int place(const WorkRequest &wr, const SqeShape &shape, bool is_inline, Fill fill)
	{
		const u32 blocks = blocks_of(shape.bytes);
		const u32 free_from = any_order_ ? load_acquire(word(UBOE_JPAGE_CI)) :
						   ci_.load(std::memory_order_acquire);

		if (window_ == Window::only && blocks > UBOE_DWQE_MAX_BB)
			return EINVAL;
		if (blocks > ring_.depth() - (cur_ - free_from))
			return ENOMEM;
		if (window_ == Window::only && cur_ != load_acquire(word(UBOE_JPAGE_DWQE_TAKEN)))
			return ENOMEM;
		if (any_order_ && !skip_taken(blocks))
			return ENOMEM;
		const bool straight = blocks <= ring_.contiguous(cur_);
		alignas(UBOE_BB) std::byte aside[UBOE_SQE_RAW_MAX_BB * UBOE_BB];
		std::byte *to = straight ? ring_[cur_].bytes : aside;
		WorkRequest full = wr;

		if (!straight)
			std::memset(aside, 0, sizeof(aside));
		if (signal_all_ || any_order_)
			full.flags |= wr_signaled;
		put_control(to, full, wr.target ? *wr.target : params_, cur_, ring_.depth(),
			    shape.sges, is_inline ? static_cast<u32>(shape.payload) : 0, is_inline);
		fill(to);
		for (u32 i = 0; i < blocks; ++i) {
			if (!straight)
				std::memcpy(ring_[cur_ + i].bytes, aside + i * UBOE_BB, UBOE_BB);
			if (!any_order_)
				record(cur_ + i).blocks = 0;
		}
		cur_ += blocks;
		++batch_;
		record(cur_ - 1) = {wr.wr_id, static_cast<u32>(shape.payload),
				    static_cast<u8>(blocks), wr.op,
				    any_order_ ? wr.flags : full.flags};
		if (any_order_) {
			in_progress_.fetch_add(1, std::memory_order_relaxed);
			batch_ends_.push_back(cur_);
		}
		return 0;
	}

	// DirectWQE: the element once more, in the page's window; word 0, with the
	// index behind the element, last.
	void direct(u32 at, u32 blocks)
	{
		u32 *window = word(UBOE_JPAGE_DWQE);
		u32 first = 0;

		for (u32 b = 0; b < blocks; ++b) {
			u32 words[UBOE_BB / 4];
			std::memcpy(words, ring_[at + b].bytes, UBOE_BB);
			for (u32 i = 0; i < UBOE_BB / 4; ++i) {
				if (b == 0 && i == 0)
					first = le((le(words[0]) & ~UBOE_SQE_IDX) |
						   ((at + blocks) & UBOE_SQE_IDX));
				else
					__atomic_store_n(&window[b * (UBOE_BB / 4) + i], words[i],
							 __ATOMIC_RELAXED);
			}
		}
		__atomic_store_n(window, first, __ATOMIC_RELEASE);
	}

	Ring<Bb> ring_;
	std::byte *page_;
	SqeParams params_;
	const u32 max_sge_;
	const u32 max_inline_;
	const Window window_;
	const bool signal_all_;
	const bool any_order_;
	Array<SentWr> sent_; // by ring index, valid at a request's last block; blocks 0: free
	std::vector<u32> batch_ends_; // any order: ends of the requests in the batch
	std::atomic<u32> in_progress_{0}; // any order
	SpinLock lock_;
	u32 cur_ = 0; // end of the batch
	u32 batch_ = 0; // requests in it
	alignas(64) std::atomic<u32> pi_{0};
	alignas(64) std::atomic<u32> ci_{0};
};

} // namespace uboe
