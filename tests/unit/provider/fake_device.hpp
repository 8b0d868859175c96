// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A context of the core over anonymous memory, and the device's half of the
// rings, played by the test.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <vector>

#include "core/objects.hpp"

namespace uboe::test {

/// One end of the contract of ub/uboe_io.h, seen from the device.
class FakeDevice {
public:
	explicit FakeDevice(u32 flags = UBOE_CTX_SOFT, u32 arena_max = UBOE_ARENA_MAX_SIZE)
	{
		uboe_core_sys sys = {this, map, unmap, kick};
		uboe_alloc_ucontext_resp caps = {};

		caps.abi_version = UBOE_ABI_VERSION;
		caps.flags = flags;
		caps.jpage_stride = UBOE_JPAGE_SOFT_STRIDE;
		caps.max_arenas = UBOE_MAX_ARENAS;
		caps.arena_max_size = arena_max;
		caps.max_inline = UBOE_MAX_INLINE;
		ctx_ = uboe_core_ctx_create(&sys, &caps);
		EXPECT_NE(ctx_, nullptr);
	}
	~FakeDevice()
	{
		uboe_core_ctx_destroy(ctx_);
		EXPECT_EQ(mapped_, 0u);
	}

	uboe_core_ctx *ctx() { return ctx_; }
	u64 skipped() { return uboe_core_ctx_skipped(ctx_); }

	/// Pointer behind a bus address.
	template <class T> T *at(u64 bus)
	{
		return reinterpret_cast<T *>(arenas_.at(bus >> 32) + (bus & 0xffffffffu));
	}

	std::vector<u32> kicks; // uverbs handles
	int fail_maps = 0; // so many times more
	u32 arenas() const { return static_cast<u32>(arenas_.size()); }

private:
	static void *map(void *cookie, uint32_t id, size_t len)
	{
		auto &d = *static_cast<FakeDevice *>(cookie);

		if (d.fail_maps && d.fail_maps--) {
			errno = ENOMEM;
			return nullptr;
		}
		// Shared: the kernel does not merge such mappings.
		void *p = mmap(nullptr, len, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		EXPECT_NE(p, MAP_FAILED);
		EXPECT_EQ(id, d.arenas_.size());
		d.arenas_.push_back(static_cast<std::byte *>(p));
		++d.mapped_;
		return p;
	}
	static void unmap(void *cookie, void *base, size_t len)
	{
		munmap(base, len);
		--static_cast<FakeDevice *>(cookie)->mapped_;
	}
	static void kick(void *cookie, uint32_t handle)
	{
		static_cast<FakeDevice *>(cookie)->kicks.push_back(handle);
	}

	uboe_core_ctx *ctx_;
	std::vector<std::byte *> arenas_;
	u32 mapped_ = 0;
};

/// A CQ and the device's producer side of it.
class TestCq {
public:
	explicit TestCq(FakeDevice &dev, u32 cqe = 64, u32 start = 0)
		: ibcq(uboe_core_cq_alloc(dev.ctx(), cqe, 0, &req)), pi(start)
	{
		EXPECT_NE(ibcq, nullptr);
		ring = dev.at<uboe_cqe>(req.ring);
		rec = dev.at<uboe_jfc_rec>(req.rec);
		if (start) {
			cq_of(ibcq).queue.start_at(start);
			// What the lap before left behind
			for (u32 i = start; i != start + depth(); ++i)
				ring[i & (depth() - 1)].w0 = i & depth() ? UBOE_CQE_OWNER : 0;
		}
	}
	~TestCq() { uboe_core_cq_free(ibcq); }

	u32 depth() const { return 1u << req.shift; }

	uboe_cqe &push(u32 w0, u32 entry, u32 qpn, u32 bytes = 0, u64 imm = 0)
	{
		uboe_cqe &e = ring[pi & (depth() - 1)];

		EXPECT_LT(pi - rec->ci, depth()) << "test overflows the CQ";
		e.w1 = entry | qpn << 16;
		e.w2 = (qpn >> 16 & UBOE_CQE_ID_HI) | 0x77u << 4;
		e.byte_cnt = bytes;
		e.imm_lo = static_cast<u32>(imm);
		e.imm_hi = static_cast<u32>(imm >> 32);
		w0 |= UBOE_CQE_JETTY | (pi & depth() ? 0 : UBOE_CQE_OWNER);
		__atomic_store_n(&e.w0, w0, __ATOMIC_RELEASE);
		++pi;
		return e;
	}
	void sent(u32 entry, u32 qpn, u32 status = 0, u32 sub = 0)
	{
		push(status << 24 | sub << 16, entry, qpn);
	}
	void received(u32 slot, u32 qpn, u32 bytes, u32 opcode = 0, u64 imm = 0, u32 status = 0)
	{
		push(UBOE_CQE_RECV | opcode << 4 | status << 24, slot, qpn, bytes, imm);
	}

	std::vector<ibv_wc> poll(int n = 64)
	{
		std::vector<ibv_wc> wc(static_cast<size_t>(n));
		const int got = uboe_poll_cq(ibcq, n, wc.data());

		EXPECT_GE(got, 0);
		wc.resize(static_cast<size_t>(got));
		return wc;
	}

	uboe_create_cq_req req = {};
	ibv_cq *ibcq;
	uboe_cqe *ring;
	uboe_jfc_rec *rec;
	u32 pi;
};

struct QpOptions {
	u32 wr = 16;
	u32 sge = 1;
	u32 inline_bytes = 0;
	u32 recv_wr = 64;
	u32 recv_sge = 1;
	ibv_srq *srq = nullptr;
	bool sig_all = false;
	uint64_t send_ops = 0;
	u32 qpn = 0x12345;
	ibv_qp_state state = IBV_QPS_RTS;
};

/// A QP, in RTS and connected to jetty 0x54321 unless told otherwise.
class TestQp {
public:
	TestQp(FakeDevice &dev, TestCq &send_cq, TestCq &recv_cq, const QpOptions &o = {})
		: device(dev), qpn(o.qpn)
	{
		attr.send_cq = send_cq.ibcq;
		attr.recv_cq = recv_cq.ibcq;
		attr.srq = o.srq;
		attr.cap = {o.wr, o.recv_wr, o.sge, o.recv_sge, o.inline_bytes};
		attr.sq_sig_all = o.sig_all;
		attr.send_ops = o.send_ops;
		ibqp = uboe_core_qp_alloc(dev.ctx(), &attr, &req);
		EXPECT_NE(ibqp, nullptr);
		EXPECT_EQ(uboe_core_qp_created(ibqp, qpn, 7000 + qpn), 0);
		sq = dev.at<std::byte>(req.sq);
		page = dev.at<std::byte>(req.jpage);
		ibv_qp_attr qa = {};
		qa.qp_state = o.state;
		qa.dest_qp_num = 0x54321;
		uboe_core_qp_modified(ibqp, &qa, IBV_QP_STATE | IBV_QP_DEST_QPN);
	}
	~TestQp()
	{
		if (ibqp)
			uboe_core_qp_free(ibqp);
	}

	Qp &core() { return qp_of(ibqp); }
	ibv_qp_ex *ex() { return reinterpret_cast<ibv_qp_ex *>(ibqp); }
	u32 depth() const { return 1u << req.sq_shift; }
	u32 &word(u32 offset) { return *reinterpret_cast<u32 *>(page + offset); }
	u32 pi() { return word(UBOE_JPAGE_DB); }
	std::byte *bb(u32 index) { return sq + (index & (depth() - 1)) * UBOE_BB; }
	u32 sqe_word(u32 index, u32 w)
	{
		u32 v;
		std::memcpy(&v, bb(index) + 4 * w, 4);
		return v;
	}

	int post(ibv_send_wr &wr, ibv_send_wr **bad = nullptr)
	{
		ibv_send_wr *b = nullptr;
		const int err = uboe_post_send(ibqp, &wr, bad ? bad : &b);

		if (err && !bad) {
			EXPECT_EQ(b, &wr);
		}
		return err;
	}
	int post_recv(u64 id, std::vector<ibv_sge> sges)
	{
		ibv_recv_wr wr = {id, nullptr, sges.data(), static_cast<int>(sges.size())};
		ibv_recv_wr *bad = nullptr;

		return uboe_post_recv(ibqp, &wr, &bad);
	}

	FakeDevice &device;
	u32 qpn;
	uboe_core_qp_attr attr = {};
	uboe_create_qp_req req = {};
	ibv_qp *ibqp;
	std::byte *sq;
	std::byte *page;
};

/// A work request with up to one SGE.
inline ibv_send_wr make_wr(ibv_wr_opcode opcode, ibv_sge *sge, u64 id = 1,
			   unsigned flags = IBV_SEND_SIGNALED)
{
	ibv_send_wr wr = {};

	wr.wr_id = id;
	wr.opcode = opcode;
	wr.send_flags = flags;
	wr.sg_list = sge;
	wr.num_sge = sge ? 1 : 0;
	return wr;
}

} // namespace uboe::test
