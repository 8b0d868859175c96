// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Backend on a uboe device of the kernel: queues are verbs objects with native
// attributes (uboe-abi.h), in arenas that the kernel maps.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend.hpp"
#include "rings/arena.hpp"
#include "rings/id_table.hpp"
#include "uverbs/channel.hpp"
#include "uverbs/events.hpp"

namespace uboe::urma {

namespace {

constexpr u8 reads_in_progress = 32; // Reads and atomics of one jetty, each way
constexpr u8 tries = 7; // err_timeout is the time of one try; a channel gets eight

// Of the kernel's verbs, in no public header: enum ib_qp_state, ib_qp_attr_mask,
// ib_srq_attr_mask, ib_qp_type
constexpr u8 qps_reset = 0, qps_init = 1, qps_rtr = 2, qps_rts = 3, qps_err = 6;
constexpr u32 qp_state = 1 << 0, qp_access_flags = 1 << 3, qp_pkey_index = 1 << 4, qp_port = 1 << 5,
	      qp_av = 1 << 7, qp_path_mtu = 1 << 8, qp_timeout = 1 << 9, qp_retry_cnt = 1 << 10,
	      qp_rnr_retry = 1 << 11, qp_rq_psn = 1 << 12, qp_max_rd_atomic = 1 << 13,
	      qp_min_rnr_timer = 1 << 15, qp_sq_psn = 1 << 16, qp_max_dest_rd_atomic = 1 << 17,
	      qp_dest_qpn = 1 << 20;
constexpr u32 srq_limit = 1 << 1;
constexpr u8 qpt_rc = 2, qpt_driver = 0xff;
constexpr u32 cq_moderate = 1 << 0;
constexpr u32 modify_cq = u32{IB_USER_VERBS_EX_CMD_MODIFY_CQ} | IB_USER_VERBS_CMD_FLAG_EXTENDED;

// enum ib_access_flags has the device's values
constexpr u32 all_remote = UBOE_ACC_REMOTE_READ | UBOE_ACC_REMOTE_WRITE | UBOE_ACC_REMOTE_ATOMIC;

/// What the kernel knows, and the memory that it shares with it.
struct Object {
	u32 number = 0;
	u32 handle = 0;
	u64 key = 0;
	ArenaBlock blocks[3];
	u16 moderate_count = 0; // of a JFC
	u16 moderate_period = 0;
	TransMode mode = UBOE_JETTY_RC; // of a jetty
	u8 rnr_timer = 0; // of one without a connection, from its creation on
	u8 rnr_retry = 0;
};

using Table = IdTable<Object>;
using Owned = std::unique_ptr<Object>;

class KernelBackend final : public Backend, private uverbs::EventSink {
public:
	KernelBackend(const Address &address, Listener &listener)
		: address_(address), listener_(listener), events_(*this)
	{
	}

	int open(const std::string &path)
	{
		ib_uverbs_create_comp_channel comp{};
		ib_uverbs_create_comp_channel_resp comp_resp{};
		ib_uverbs_alloc_pd pd{};
		ib_uverbs_alloc_pd_resp pd_resp{};
		uboe_alloc_ucontext_resp caps{};
		uverbs::Fd async;
		u32 index;

		if (int err = device_.open(path))
			return err;
		if (int err = device_.get_context(caps, async))
			return err;
		if (int err = gid_index(index))
			return err;
		if (int err =
			    device_.command(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, comp, comp_resp))
			return err;
		uverbs::Fd completions(static_cast<int>(comp_resp.fd));
		if (int err = device_.command(IB_USER_VERBS_CMD_ALLOC_PD, pd, pd_resp))
			return err;
		domain_ = pd_resp.pd_handle;
		stride_ = caps.jpage_stride;
		std::copy(std::begin(caps.lockbuf), std::end(caps.lockbuf), lock_buffers_);
		direct_ = caps.flags & UBOE_CTX_DWQE;
		arenas_ = std::make_unique<ArenaAllocator>(ArenaMapper{this, map, unmap},
							   caps.max_arenas, caps.arena_max_size);
		return events_.start(std::move(async), std::move(completions));
	}

	int create_jfc(u32 depth, CompletionRing &out) override { return make_jfc(depth, 0, out); }

	int create_inline_jfc(u32 depth, CompletionRing &out) override
	{
		return make_jfc(depth, UBOE_CQ_INLINE, out);
	}

	/// The kernel takes both values at once.
	int moderate_jfc(u32 id, u16 count, u16 period_us, u32 mask) override
	{
		const std::lock_guard hold(tables_);
		ib_uverbs_ex_modify_cq cmd{};
		Object *q = jfcs_.find(JettyId{id});

		if (!q)
			return ENOENT;
		cmd.cq_handle = q->handle;
		cmd.attr_mask = cq_moderate;
		cmd.attr.cq_count = mask & UBOE_CM_COUNT ? count : q->moderate_count;
		cmd.attr.cq_period = mask & UBOE_CM_PERIOD ? period_us : q->moderate_period;
		const int err = device_.command(modify_cq, cmd);

		if (!err) {
			q->moderate_count = cmd.attr.cq_count;
			q->moderate_period = cmd.attr.cq_period;
		}
		return err;
	}

	void destroy_jfc(const CompletionRing &r) override
	{
		drop(jfcs_, r.id, &KernelBackend::unmake_cq);
	}

	int create_jfr(const ReceiveSpec &spec, ReceiveRing &out) override
	{
		ib_uverbs_create_srq cmd{};
		ib_uverbs_create_srq_resp resp{};
		uboe_create_srq_req req{};
		uboe_create_srq_resp driver{};
		Owned q = new_object({(std::size_t{UBOE_SGE_SIZE} << spec.sge_shift) * spec.depth,
				      sizeof(u32) * std::size_t{spec.depth}, sizeof(uboe_jfr_rec)});

		if (!q)
			return ENOMEM;
		cmd.user_handle = q->key;
		cmd.pd_handle = domain_;
		cmd.max_wr = spec.depth;
		cmd.max_sge = 1u << spec.sge_shift;
		req.rq.ring = bus(q->blocks[0]);
		req.rq.idx = bus(q->blocks[1]);
		req.rq.rec = bus(q->blocks[2]);
		req.rq.shift = static_cast<u8>(log2_pow2(spec.depth));
		req.rq.sge_shift = static_cast<u8>(spec.sge_shift);
		req.rq.buf_shift = spec.buf_shift;
		req.id = spec.id;
		if (spec.mode != UBOE_JETTY_RC) { // a target by itself
			req.flags = (spec.mode == UBOE_JETTY_UM ? UBOE_SRQ_UM : UBOE_SRQ_RM) |
				    (spec.has_token ? UBOE_SRQ_TOKEN : 0);
			req.token = spec.has_token ? spec.token : 0;
			req.cqn = spec.jfc;
		}
		if (int err = device_.command(IB_USER_VERBS_CMD_CREATE_SRQ, cmd, resp, req, driver))
			return err;
		out = {driver.srqn, q->blocks[0].data(), q->blocks[1].data(), q->blocks[2].data()};
		q->handle = resp.srq_handle;
		return keep(jfrs_, driver.srqn, std::move(q), &KernelBackend::unmake_srq);
	}

	int limit_jfr(u32 id, u32 limit) override
	{
		ib_uverbs_modify_srq cmd{};
		const Object *q = jfrs_.find(JettyId{id});

		if (!q)
			return ENOENT;
		cmd.srq_handle = q->handle;
		cmd.attr_mask = srq_limit;
		cmd.srq_limit = limit;
		return device_.command(IB_USER_VERBS_CMD_MODIFY_SRQ, cmd);
	}

	void destroy_jfr(const ReceiveRing &r) override
	{
		drop(jfrs_, r.id, &KernelBackend::unmake_srq);
	}

	int create_jetty(const JettySpec &spec, SendRing &out) override
	{
		ib_uverbs_create_qp cmd{};
		ib_uverbs_create_qp_resp resp{};
		uboe_create_qp_req req{};
		uboe_create_qp_resp driver{};
		Owned q = new_object({std::size_t{UBOE_BB} * spec.depth, stride_});

		if (!q)
			return ENOMEM;
		if (!fill(spec, *q, cmd, req))
			return EINVAL;
		q->mode = spec.mode;
		q->rnr_timer = spec.min_rnr_timer;
		q->rnr_retry = spec.rnr_retry;
		if (int err = device_.command(IB_USER_VERBS_CMD_CREATE_QP, cmd, resp, req, driver))
			return err;
		out = {driver.qpn, q->blocks[0].data(), q->blocks[1].data(), window(req, spec)};
		q->handle = resp.qp_handle;
		if (int err = to_init(*q)) {
			unmake(std::move(q), &KernelBackend::unmake_qp);
			return err;
		}
		return keep(jetties_, driver.qpn, std::move(q), &KernelBackend::unmake_qp);
	}

	u32 locked_depth(u32 id) override
	{
		for (const uboe_lockbuf_range &r : lock_buffers_)
			if (r.last && id >= r.first && id <= r.last)
				return r.blocks;
		return 0;
	}

	int connect(u32 id, const JettySpec &spec, const Address &peer, u32 peer_jetty) override
	{
		const Object *q = jetties_.find(JettyId{id});
		ib_uverbs_modify_qp cmd{};

		if (!q)
			return ENOENT;
		if (int err = path_to(peer, cmd))
			return err;
		cmd.dest_qp_num = peer_jetty;
		cmd.max_dest_rd_atomic = reads_in_progress;
		cmd.min_rnr_timer = spec.min_rnr_timer;
		if (int err = modify(*q, cmd, qps_rtr,
				     qp_av | qp_path_mtu | qp_dest_qpn | qp_rq_psn |
					     qp_max_dest_rd_atomic | qp_min_rnr_timer))
			return err;
		cmd = {};
		cmd.timeout = spec.err_timeout;
		cmd.retry_cnt = tries;
		cmd.rnr_retry = spec.rnr_retry;
		cmd.max_rd_atomic = reads_in_progress;
		const int err = modify(*q, cmd, qps_rts,
				       qp_timeout | qp_retry_cnt | qp_rnr_retry | qp_sq_psn |
					       qp_max_rd_atomic);
		if (err)
			renew(*q);
		return err;
	}

	int start(u32 id) override
	{
		const Object *q = jetties_.find(JettyId{id});
		ib_uverbs_modify_qp cmd{};

		if (!q)
			return ENOENT;
		if (int err = modify(*q, cmd, qps_rts, 0))
			return err;
		return device_.kick(q->handle); // what was posted before
	}

	int reset(const JettySpec &spec, const SendRing &) override
	{
		const Object *q = jetties_.find(JettyId{spec.id});

		return q ? renew(*q) : ENOENT;
	}

	int fail(u32 id) override
	{
		const Object *q = jetties_.find(JettyId{id});
		ib_uverbs_modify_qp cmd{};
		const int err = q ? modify(*q, cmd, qps_err, 0) : ENOENT;

		return err == uverbs::gone ? 0 : err; // it failed indeed
	}

	int has_failed(u32 id, bool &failed) override
	{
		const Object *q = jetties_.find(JettyId{id});
		ib_uverbs_query_qp cmd{};
		ib_uverbs_query_qp_resp resp{};

		if (!q)
			return ENOENT;
		cmd.qp_handle = q->handle;
		cmd.attr_mask = qp_state;
		const int err = device_.command(IB_USER_VERBS_CMD_QUERY_QP, cmd, resp);
		const bool gone = err == uverbs::gone;

		failed = gone || (!err && resp.qp_state == qps_err);
		return gone ? 0 : err;
	}

	void destroy_jetty(const SendRing &r) override
	{
		drop(jetties_, r.id, &KernelBackend::unmake_qp);
	}

	/// A channel stays as long as the context.
	int open_target(const Address &peer, TransMode mode, u32 &channel) override
	{
		uboe_target_req req{};

		std::memcpy(req.laddr, address_.bytes.data(), sizeof(req.laddr));
		std::memcpy(req.raddr, peer.bytes.data(), sizeof(req.raddr));
		req.type = mode;
		return device_.open_target(req, channel);
	}

	void close_target(u32) override {}

	int create_group(const GroupSpec &spec, u32 &id) override
	{
		uboe_group_req req{};

		req.id = spec.id;
		req.policy = spec.policy;
		req.flags = spec.has_token ? UBOE_JGRP_TOKEN : 0;
		req.token = spec.has_token ? spec.token : 0;
		const int err = device_.alloc_group(domain_, req, id);

		return err == ENOMEM ? ENOSPC : err;
	}

	void destroy_group(u32 id) override { device_.free_group(id); }

	int create_tm(u32 tag, const uboe_tm_ctx &ctx) override
	{
		return device_.set_tm({UBOE_MBOX_CREATE, tag, 0, 0}, ctx);
	}

	int modify_tm(u32 tag, const uboe_tm_ctx &ctx, u32 mask) override
	{
		return device_.set_tm({UBOE_MBOX_MODIFY, tag, mask, 0}, ctx);
	}

	int query_tm(u32 tag, uboe_tm_ctx &ctx) override { return device_.query_tm(tag, ctx); }

	int destroy_tm(u32 tag) override
	{
		return device_.set_tm({UBOE_MBOX_DESTROY, tag, 0, 0}, {});
	}

	int reserve_token_id(u32 &id) override
	{
		const int err = device_.alloc_token_id(id);

		return err == ENOMEM ? ENOSPC : err;
	}

	void release_token_id(u32 id) override { device_.free_token_id(id); }

	int create_segment(const SegmentSpec &spec) override
	{
		ib_uverbs_reg_mr cmd{};
		ib_uverbs_reg_mr_resp resp{};
		uboe_reg_mr_req req{};
		Owned s = new_object({});

		if (!s)
			return ENOMEM;
		cmd.start = reinterpret_cast<u64>(spec.memory);
		cmd.length = spec.length;
		cmd.hca_va = cmd.start;
		cmd.pd_handle = domain_;
		cmd.access_flags = spec.access;
		req.flags = UBOE_MR_NATIVE | (spec.needs_token ? 0 : UBOE_MR_NO_TOKEN);
		req.token_id = spec.id;
		req.token = spec.token;
		req.va = spec.va;
		if (int err = device_.command(IB_USER_VERBS_CMD_REG_MR, cmd, resp, req))
			return err;
		s->handle = resp.mr_handle;
		return keep(segments_, spec.id, std::move(s), &KernelBackend::unmake_mr);
	}

	void destroy_segment(u32 id) override { drop(segments_, id, &KernelBackend::unmake_mr); }

	int rotate_token(u32 id, u32 token, u32 backup) override
	{
		const Object *s = segments_.find(JettyId{id});

		return s ? device_.rotate_token(s->handle, token, backup) : ENOENT;
	}

	int kick(u32 jetty) override
	{
		const Object *q = jetties_.find(JettyId{jetty});

		return q ? device_.kick(q->handle) : ENOENT;
	}

	// Softirqs do the work, whether the program polls or sleeps
	void progress() override {}
	void park() override {}

private:
	using Unmake = int (KernelBackend::*)(const Object &);

	void completed(u32 jfc) override { listener_.completed(jfc); }

	void happened(uverbs::Event event, u32 number) override
	{
		using uverbs::Event;

		switch (event) {
		case Event::cq_error:
			return listener_.happened(UBOE_EV_JETTY, UBOE_EV_SUB_JFC, number);
		case Event::qp_fatal:
			return listener_.happened(UBOE_EV_JETTY, UBOE_EV_SUB_JFS, number);
		case Event::qp_request:
			return listener_.happened(UBOE_EV_JETTY, UBOE_EV_SUB_REQUEST, number);
		case Event::qp_access:
			return listener_.happened(UBOE_EV_JETTY, UBOE_EV_SUB_ACCESS, number);
		case Event::srq_limit:
			return listener_.happened(UBOE_EV_JFR_LIMIT, 0, number);
		case Event::device_fatal:
			return listener_.changed(DeviceEvent::lost);
		case Event::port_active:
			return listener_.changed(DeviceEvent::port_up);
		case Event::port_error:
			return listener_.changed(DeviceEvent::port_down);
		case Event::client_reregister:
			return listener_.changed(DeviceEvent::reset_done);
		case Event::gid_change:
			return listener_.changed(DeviceEvent::addresses);
		}
	}

	static void *map(void *self, u32 id, std::size_t len)
	{
		const auto &b = *static_cast<const KernelBackend *>(self);
		const u64 offset = UBOE_MMAP_OFFSET(id) * static_cast<u64>(sysconf(_SC_PAGESIZE));
		void *base = mmap(nullptr, len, PROT_READ | PROT_WRITE, MAP_SHARED, b.device_.fd(),
				  static_cast<off_t>(offset));

		return base == MAP_FAILED ? nullptr : base;
	}

	static void unmap(void *, void *base, std::size_t len) { munmap(base, len); }

	static u64 bus(const ArenaBlock &b) { return static_cast<u64>(b.bus()); }

	/// With memory of these sizes; nothing when it is short.
	Owned new_object(std::initializer_list<std::size_t> sizes)
	{
		auto q = std::make_unique<Object>();
		std::size_t i = 0;

		for (std::size_t size : sizes) {
			q->blocks[i] = arenas_->take(size);
			if (!q->blocks[i++])
				return nullptr;
		}
		q->key = events_.new_key();
		return q;
	}

	/// Enters what the kernel has made under its number.
	int keep(Table &table, u32 number, Owned q, Unmake how)
	{
		bool known = false;

		q->number = number;
		try {
			const std::lock_guard hold(tables_);

			events_.know(q->key, number);
			known = table.set(JettyId{number}, q.get());
		} catch (const std::bad_alloc &) {
		}
		if (!known) {
			unmake(std::move(q), how);
			return ENOMEM;
		}
		q.release(); // the table has it
		return 0;
	}

	void drop(Table &table, u32 number, Unmake how)
	{
		Owned q;
		{
			const std::lock_guard hold(tables_);

			q.reset(table.find(JettyId{number}));
			table.set(JettyId{number}, nullptr);
		}
		if (q)
			unmake(std::move(q), how);
	}

	/// A queue is busy while another thread's command about it runs. What cannot be
	/// destroyed keeps its memory, where the device may go on writing.
	void unmake(Owned q, Unmake how)
	{
		int err;

		events_.forget(q->key);
		for (unsigned n = 0; (err = (this->*how)(*q)) == EBUSY && n < 100000; ++n)
			sched_yield();
		if (err && err != uverbs::gone)
			q.release();
	}

	int make_jfc(u32 depth, u32 flags, CompletionRing &out)
	{
		ib_uverbs_create_cq cmd{};
		ib_uverbs_create_cq_resp resp{};
		uboe_create_cq_req req{};
		uboe_create_cq_resp driver{};
		Owned q = new_object({sizeof(uboe_cqe) * std::size_t{depth}, sizeof(uboe_jfc_rec)});

		if (!q)
			return ENOMEM;
		cmd.user_handle = q->key;
		cmd.cqe = depth;
		cmd.comp_channel = events_.completion_fd();
		req.ring = bus(q->blocks[0]);
		req.rec = bus(q->blocks[1]);
		req.shift = log2_pow2(depth);
		req.flags = flags;
		if (int err = device_.command(IB_USER_VERBS_CMD_CREATE_CQ, cmd, resp, req, driver))
			return err;
		out = {driver.cqn, q->blocks[0].data(), q->blocks[1].data()};
		q->handle = resp.cq_handle;
		return keep(jfcs_, driver.cqn, std::move(q), &KernelBackend::unmake_cq);
	}

	int unmake_cq(const Object &q)
	{
		ib_uverbs_destroy_cq cmd{};
		ib_uverbs_destroy_cq_resp resp;

		cmd.cq_handle = q.handle;
		return device_.command(IB_USER_VERBS_CMD_DESTROY_CQ, cmd, resp);
	}

	int unmake_srq(const Object &q)
	{
		ib_uverbs_destroy_srq cmd{};
		ib_uverbs_destroy_srq_resp resp;

		cmd.srq_handle = q.handle;
		return device_.command(IB_USER_VERBS_CMD_DESTROY_SRQ, cmd, resp);
	}

	int unmake_qp(const Object &q)
	{
		ib_uverbs_destroy_qp cmd{};
		ib_uverbs_destroy_qp_resp resp;

		cmd.qp_handle = q.handle;
		return device_.command(IB_USER_VERBS_CMD_DESTROY_QP, cmd, resp);
	}

	int unmake_mr(const Object &q)
	{
		ib_uverbs_dereg_mr cmd{};

		cmd.mr_handle = q.handle;
		return device_.command(IB_USER_VERBS_CMD_DEREG_MR, cmd);
	}

	/// False when a queue that it names is not there.
	bool fill(const JettySpec &spec, const Object &q, ib_uverbs_create_qp &cmd,
		  uboe_create_qp_req &req)
	{
		const Object *send = jfcs_.find(JettyId{spec.send_jfc});

		if (!send || (!spec.send_only && !fill_receive_side(spec, cmd)))
			return false;
		if (spec.send_only)
			cmd.recv_cq_handle = send->handle;
		cmd.user_handle = q.key;
		cmd.pd_handle = domain_;
		cmd.send_cq_handle = send->handle;
		cmd.max_send_wr = spec.depth;
		cmd.qp_type = spec.mode == UBOE_JETTY_RC ? qpt_rc : qpt_driver;
		req.sq = bus(q.blocks[0]);
		req.jpage = bus(q.blocks[1]);
		req.sq_shift = static_cast<u8>(log2_pow2(spec.depth));
		req.flags = UBOE_QP_NATIVE | (spec.has_token ? UBOE_QP_TOKEN : 0) |
			    (spec.send_only ? UBOE_QP_SEND_ONLY : 0) |
			    (spec.target_order ? UBOE_QP_TARGET_ORDER : 0);
		req.id = spec.id;
		req.token = spec.has_token ? spec.token : 0;
		if (spec.mode == UBOE_JETTY_RC) {
			if (locked_depth(spec.id)) { // the ring is only the library's copy
				req.flags |= UBOE_QP_LOCKBUF;
				req.sq = 0;
			}
			return true;
		}
		req.type = spec.mode;
		req.group = spec.group;
		std::memcpy(req.eid, address_.bytes.data(), sizeof(req.eid));
		return true;
	}

	/// What the device looks at.
	Window window(const uboe_create_qp_req &req, const JettySpec &spec) const
	{
		if (req.flags & UBOE_QP_LOCKBUF)
			return Window::only;
		return direct_ && spec.mode == UBOE_JETTY_RC ? Window::beside : Window::none;
	}

	bool fill_receive_side(const JettySpec &spec, ib_uverbs_create_qp &cmd)
	{
		const Object *receive = jfcs_.find(JettyId{spec.receive_jfc});
		const Object *jfr = jfrs_.find(JettyId{spec.jfr});

		if (!receive || !jfr)
			return false;
		cmd.recv_cq_handle = receive->handle;
		cmd.srq_handle = jfr->handle;
		cmd.is_srq = 1;
		return true;
	}

	int modify(const Object &q, ib_uverbs_modify_qp &cmd, u8 state, u32 mask)
	{
		cmd.qp_handle = q.handle;
		cmd.qp_state = state;
		cmd.attr_mask = mask | qp_state;
		return device_.command(IB_USER_VERBS_CMD_MODIFY_QP, cmd);
	}

	int to_init(const Object &q)
	{
		ib_uverbs_modify_qp cmd{};

		if (q.mode != UBOE_JETTY_RC) {
			cmd.min_rnr_timer = q.rnr_timer;
			cmd.rnr_retry = q.rnr_retry;
			return modify(q, cmd, qps_init, qp_min_rnr_timer | qp_rnr_retry);
		}
		cmd.port_num = 1;
		cmd.qp_access_flags = all_remote; // segments say what is allowed
		return modify(q, cmd, qps_init, qp_pkey_index | qp_port | qp_access_flags);
	}

	/// Starts anew: the device looks at the producer index and the window when it leaves
	/// RESET. An element that was there must not look like the first of the new ones.
	int renew(const Object &q)
	{
		auto *page = static_cast<std::byte *>(q.blocks[1].data());
		ib_uverbs_modify_qp cmd{};

		if (int err = modify(q, cmd, qps_reset, 0))
			return err;
		store_release(reinterpret_cast<u32 *>(page + UBOE_JPAGE_DB), u32{0});
		store_release(reinterpret_cast<u32 *>(page + UBOE_JPAGE_CI), u32{0});
		store_release(reinterpret_cast<u32 *>(page + UBOE_JPAGE_DWQE), u32{0});
		return to_init(q);
	}

	/// The place of our address in the GID table, which may change any time.
	int gid_index(u32 &index)
	{
		std::vector<uverbs::Gid> gids;

		if (int err = device_.query_gids(gids))
			return err;
		for (const uverbs::Gid &g : gids) {
			if (g.address == address_) {
				index = g.index;
				return 0;
			}
		}
		return EADDRNOTAVAIL;
	}

	int path_to(const Address &peer, ib_uverbs_modify_qp &cmd)
	{
		ib_uverbs_query_port_resp port{};
		u32 index;

		if (int err = gid_index(index))
			return err;
		if (int err = device_.query_port(port))
			return err;
		std::memcpy(cmd.dest.dgid, peer.bytes.data(), sizeof(cmd.dest.dgid));
		cmd.dest.sgid_index = static_cast<u8>(index);
		cmd.dest.is_global = 1;
		cmd.dest.hop_limit = 64;
		cmd.dest.port_num = 1;
		cmd.path_mtu = port.active_mtu;
		return 0;
	}

	const Address address_;
	Listener &listener_;
	uverbs::Channel device_;
	u32 domain_ = 0;
	u32 stride_ = 0;
	uboe_lockbuf_range lock_buffers_[2] = {}; // by UBOE_LOCKBUF_*; constant
	bool direct_ = false; // RC: the device looks at windows
	std::unique_ptr<ArenaAllocator> arenas_;
	std::mutex tables_; // serialises changes of the next
	Table jfcs_;
	Table jfrs_;
	Table jetties_;
	Table segments_;
	uverbs::EventReader events_; // its thread ends first
};

} // namespace

int open_kernel(const std::string &path, const Address &address, Listener &listener,
		std::unique_ptr<Backend> &out)
{
	auto backend = std::make_unique<KernelBackend>(address, listener);

	if (int err = backend->open(path))
		return err;
	out = std::move(backend);
	return 0;
}

} // namespace uboe::urma
