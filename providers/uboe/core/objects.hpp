// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Context, CQ, QP and SRQ as the data path sees them: queues of the core with
// the verbs objects in front (see uboe_core.h).
#pragma once

#include <new>

#include "../uboe_core.h"
#include "rings/arena.hpp"
#include "rings/comp_queue.hpp"
#include "rings/id_table.hpp"
#include "rings/recv_queue.hpp"
#include "rings/send_queue.hpp"

namespace uboe {

struct Qp;

struct Context {
	Context(const uboe_core_sys &s, const uboe_alloc_ucontext_resp &c)
		: sys(s), caps(c),
		  arenas({s.cookie, s.map, s.unmap}, c.max_arenas, c.arena_max_size)
	{
	}

	const uboe_core_sys sys;
	const uboe_alloc_ucontext_resp caps;
	ArenaAllocator arenas;
	IdTable<Qp> qps;
	Mutex qp_lock; // changes of qps
	std::atomic<u64> skipped{0};
};

/// A decoded completion, whatever way it is read.
struct Completion {
	u64 wr_id;
	ibv_wc_status status;
	ibv_wc_opcode opcode;
	u32 vendor_err; // status << 8 | sub-status of the device
	u32 byte_len;
	u32 imm; // IBV_WC_WITH_IMM: network order; IBV_WC_WITH_INV: rkey
	u32 qp_num;
	u32 src_qp;
	u32 wc_flags;
};

struct Cq {
	Cq(Context &c, ArenaBlock &&ring_block, ArenaBlock &&rec_block, u32 depth, bool locked)
		: ctx(c), ring(std::move(ring_block)), rec(std::move(rec_block)),
		  queue(ring.data(), depth, rec.data(), locked)
	{
	}

	Context &ctx;
	ArenaBlock ring;
	ArenaBlock rec;
	CompQueue queue;
	ArenaBlock new_ring; // during a resize
	u32 new_depth = 0;
	Completion current{}; // extended polling
};

/// Memory of a JFR; as a member of its own it is released after the queue.
struct RecvMemory {
	ArenaBlock slots;
	ArenaBlock index;
	ArenaBlock rec;

	/// False, with errno set, when it cannot be had.
	bool take(ArenaAllocator &arenas, const RecvGeometry &g)
	{
		slots = arenas.take(g.ring_bytes());
		index = slots ? arenas.take(g.index_bytes()) : ArenaBlock();
		rec = index ? arenas.take(sizeof(uboe_jfr_rec)) : ArenaBlock();
		return bool(rec);
	}

	void describe(const RecvGeometry &g, uboe_rq_req &req) const
	{
		req = {};
		req.ring = static_cast<u64>(slots.bus());
		req.idx = static_cast<u64>(index.bus());
		req.rec = static_cast<u64>(rec.bus());
		req.shift = static_cast<u8>(log2_pow2(g.depth));
		req.sge_shift = static_cast<u8>(g.sge_shift);
	}
};

struct Srq {
	Srq(Context &c, RecvMemory &&mem, const RecvGeometry &g)
		: ctx(c), memory(std::move(mem)),
		  queue(g, memory.slots.data(), memory.index.data(), memory.rec.data(), true)
	{
	}

	Context &ctx;
	RecvMemory memory;
	RecvQueue queue;
};

struct Qp {
	Qp(Context &c, ArenaBlock &&sq_block, ArenaBlock &&page_block, const SendGeometry &g,
	   bool signal_all)
		: ctx(c), sq_mem(std::move(sq_block)), page(std::move(page_block)),
		  sq(g, sq_mem.data(), page.data(),
		     c.caps.flags & UBOE_CTX_DWQE ? Window::beside : Window::none, signal_all)
	{
	}

	~Qp()
	{
		if (own_rq)
			own_rq->~RecvQueue();
	}

	/// The queue that its receives are in.
	RecvQueue &rq() { return srq ? srq->queue : *own_rq; }
	void kick() { ctx.sys.kick(ctx.sys.cookie, handle); }

	Context &ctx;
	ArenaBlock sq_mem;
	ArenaBlock page;
	RecvMemory rq_mem;
	SendQueue sq;
	Cq *send_cq = nullptr;
	Cq *recv_cq = nullptr;
	Srq *srq = nullptr;
	RecvQueue *own_rq = nullptr; // in rq_storage
	ibv_qp_cap cap{};
	u32 qpn = 0;
	u32 handle = 0; // of uverbs
	std::atomic<ibv_qp_state> state{IBV_QPS_RESET};

	// ibv_wr_*: the request that waits for its data
	WorkRequest pending;
	bool has_pending = false;
	int batch_error = 0;

	alignas(RecvQueue) std::byte rq_storage[sizeof(RecvQueue)];
};

/// From a verbs object to its core part and back.
template <class Core> Core &core_of(void *verbs)
{
	return *reinterpret_cast<Core *>(static_cast<std::byte *>(verbs) + UBOE_VERBS_PART);
}

template <class Core> void *verbs_of(Core &core)
{
	return reinterpret_cast<std::byte *>(&core) - UBOE_VERBS_PART;
}

inline Qp &qp_of(ibv_qp *qp)
{
	return core_of<Qp>(qp);
}
inline Qp &qp_of(ibv_qp_ex *qp)
{
	return core_of<Qp>(qp);
}
inline Cq &cq_of(ibv_cq *cq)
{
	return core_of<Cq>(cq);
}
inline Cq &cq_of(ibv_cq_ex *cq)
{
	return core_of<Cq>(cq);
}
inline Srq &srq_of(ibv_srq *srq)
{
	return core_of<Srq>(srq);
}

/// Allocates and constructs; nullptr with errno ENOMEM. The verbs part is zeroed.
template <class Core, class... Args> Core *make(Args &&...args)
{
	static_assert(UBOE_VERBS_PART % alignof(Core) == 0);
	void *mem = nullptr;

	if (posix_memalign(&mem, 64, UBOE_VERBS_PART + sizeof(Core))) {
		errno = ENOMEM;
		return nullptr;
	}
	std::memset(mem, 0, UBOE_VERBS_PART);
	return new (static_cast<std::byte *>(mem) + UBOE_VERBS_PART)
		Core(std::forward<Args>(args)...);
}

template <class Core> void unmake(Core &core)
{
	void *mem = verbs_of(core);

	core.~Core();
	std::free(mem);
}

/// Removes all completions of a jetty from its CQs and gives their receive slots
/// back. Takes the CQs' locks.
void purge_completions(Qp &qp);

/// Reads a CQE. False when it is nothing to report; under the CQ's lock.
bool decode(Cq &cq, const Cqe &cqe, Completion &out);

} // namespace uboe
