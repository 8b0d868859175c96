// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Backend on the in-process device: queues are plain memory, commands are calls.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend.hpp"
#include "inproc/endpoint.hpp"
#include "inproc_settings.hpp"

namespace uboe::urma {

namespace {

constexpr u32 reads_in_progress = 32; // Reads and atomics of one jetty
constexpr u8 rc_table_shift = 6; // 64 entries: twice as many as a peer may have

/// err_timeout is the time of one try; a channel gets eight, with backoff.
u64 timeout_ns(u8 err_timeout)
{
	return err_timeout ? (u64{4096} << err_timeout) * 8 * 4 : 0;
}

u64 bus(const void *p)
{
	return reinterpret_cast<u64>(p);
}

/// Zeroed, page-aligned; rings of some size become huge only when touched.
void *ring_alloc(std::size_t bytes)
{
	void *p = std::aligned_alloc(4096, (bytes + 4095) & ~std::size_t{4095});

	if (p)
		std::memset(p, 0, bytes);
	return p;
}

bool is_mapped(const void *p, u64 length)
{
	const u64 page = static_cast<u64>(sysconf(_SC_PAGESIZE));
	u64 at = bus(p) & ~(page - 1);
	const u64 end = bus(p) + length;
	unsigned char present[1024];

	while (at < end) {
		const u64 n = std::min<u64>(end - at, page * sizeof(present));

		if (mincore(reinterpret_cast<void *>(at), n, present))
			return false;
		at += page * sizeof(present);
	}
	return true;
}

class InprocBackend final : public Backend, private inproc::Sink {
public:
	InprocBackend(std::shared_ptr<inproc::Endpoint> device, Listener &listener,
		      const InprocSettings &settings)
		: device_(std::move(device)), listener_(listener), domain_(device_->new_domain()),
		  settings_(settings)
	{
		device_->watch(this);
	}
	~InprocBackend() override { device_->unwatch(this); }

	int create_jfc(u32 depth, CompletionRing &out) override { return make_jfc(depth, 0, out); }

	int create_inline_jfc(u32 depth, CompletionRing &out) override
	{
		return make_jfc(depth, UBOE_JFC_INLINE, out);
	}

	int moderate_jfc(u32 id, u16 count, u16 period_us, u32 mask) override
	{
		uboe_jfc_ctx ctx{};

		ctx.moderate_count = count;
		ctx.moderate_period = period_us;
		return device_->modify(UBOE_MBOX_JFC, id, ctx, mask);
	}

	void destroy_jfc(const CompletionRing &r) override
	{
		device_->destroy(UBOE_MBOX_JFC, r.id);
		free_jfc(r);
	}

	int create_jfr(const ReceiveSpec &spec, ReceiveRing &out) override
	{
		uboe_jfr_ctx ctx{};

		if (int err = number(device_->receive_queues, spec.id, out.id))
			return err;
		out.slots = ring_alloc((std::size_t{UBOE_SGE_SIZE} << spec.sge_shift) * spec.depth);
		out.index = ring_alloc(sizeof(u32) * spec.depth);
		out.record = ring_alloc(sizeof(uboe_jfr_rec));
		ctx.shift = static_cast<u8>(log2_pow2(spec.depth));
		ctx.sge_shift = static_cast<u8>(spec.sge_shift);
		ctx.pd = domain_;
		ctx.base = bus(out.slots);
		ctx.idx = bus(out.index);
		ctx.rec = bus(out.record);
		ctx.jfcn = spec.jfc;
		ctx.flags = jfr_flags(spec);
		ctx.token = spec.token;
		ctx.user_data = out.id;
		ctx.buf_shift = spec.buf_shift;
		int err = out.slots && out.index && out.record ? 0 : ENOMEM;
		if (!err)
			err = device_->create(UBOE_MBOX_JFR, out.id, ctx, this);
		if (err)
			free_jfr(out);
		return err;
	}

	int limit_jfr(u32 id, u32 limit) override
	{
		uboe_jfr_ctx ctx{};

		ctx.limit = limit;
		return device_->modify(UBOE_MBOX_JFR, id, ctx, UBOE_RM_LIMIT);
	}

	void destroy_jfr(const ReceiveRing &r) override
	{
		device_->destroy(UBOE_MBOX_JFR, r.id);
		free_jfr(r);
	}

	int create_jetty(const JettySpec &spec, SendRing &out) override
	{
		if (int err = number(device_->jetties, spec.id, out.id))
			return err;
		out.ring = ring_alloc(std::size_t{UBOE_BB} * spec.depth);
		out.page = ring_alloc(UBOE_JPAGE_SOFT_STRIDE);
		if (Place place; find_place(out.id, place))
			out.window = Window::only;
		else if (settings_.dwqe && spec.mode == UBOE_JETTY_RC)
			out.window = Window::beside;
		int err = out.ring && out.page ? 0 : ENOMEM;
		if (!err)
			err = make(spec, out);
		if (err)
			free_jetty(out);
		return err;
	}

	u32 locked_depth(u32 id) override
	{
		Place place;

		return find_place(id, place) ? place.depth : 0;
	}

	int connect(u32 id, const JettySpec &spec, const Address &peer, u32 peer_jetty) override
	{
		uboe_rct_ctx rct{};
		uboe_jetty_ctx jetty{};
		int err = make_channel(id, spec, peer, peer_jetty);

		if (err)
			return err;
		rct.shift = settings_.rct_depth ? static_cast<u8>(log2_pow2(settings_.rct_depth)) :
						  rc_table_shift;
		rct.jetty = id;
		rct.watermark = settings_.rct_watermark;
		err = device_->create(UBOE_MBOX_RCT, id, rct);
		if (err == EEXIST)
			err = 0;
		jetty.state = UBOE_JS_RTR;
		jetty.tpn = UB_TPN_RC(id);
		jetty.rnr_timer = ubp_rnr_code(spec.min_rnr_timer);
		jetty.rnr_retry = spec.rnr_retry;
		jetty.max_rd = reads_in_progress;
		jetty.access = UBOE_ACC_REMOTE_READ | UBOE_ACC_REMOTE_WRITE |
			       UBOE_ACC_REMOTE_ATOMIC; // segments say what is allowed
		if (!err)
			err = device_->modify(UBOE_MBOX_JETTY, id, jetty,
					      UBOE_JM_STATE | UBOE_JM_TPN | UBOE_JM_RNR_TIMER |
						      UBOE_JM_RNR_RETRY | UBOE_JM_MAX_RD |
						      UBOE_JM_ACCESS);
		jetty.state = UBOE_JS_READY;
		if (!err)
			err = device_->modify(UBOE_MBOX_JETTY, id, jetty, UBOE_JM_STATE);
		if (err)
			device_->destroy(UBOE_MBOX_TP, UB_TPN_RC(id));
		return err;
	}

	int start(u32 id) override
	{
		uboe_jetty_ctx ctx{};

		ctx.state = UBOE_JS_READY;
		const int err = device_->modify(UBOE_MBOX_JETTY, id, ctx, UBOE_JM_STATE);

		if (!err)
			device_->kick(id); // what was posted before
		return err;
	}

	int reset(const JettySpec &spec, const SendRing &r) override
	{
		unmake(r.id);
		std::memset(r.page, 0, UBOE_JPAGE_SOFT_STRIDE);
		return make(spec, r);
	}

	int fail(u32 id) override
	{
		uboe_jetty_ctx ctx{};

		ctx.state = UBOE_JS_ERROR;
		return device_->modify(UBOE_MBOX_JETTY, id, ctx, UBOE_JM_STATE);
	}

	int has_failed(u32 id, bool &failed) override
	{
		uboe_jetty_ctx ctx{};
		const int err = device_->query(UBOE_MBOX_JETTY, id, ctx);

		failed = !err && ctx.state == UBOE_JS_ERROR;
		return err;
	}

	void destroy_jetty(const SendRing &r) override
	{
		unmake(r.id);
		free_jetty(r);
	}

	// UM messages name the address: there is nothing to set up. A channel stays, for
	// other targets and for what the peer sends
	int open_target(const Address &peer, TransMode mode, u32 &channel) override
	{
		channel = 0;
		if (!ubp_addr_is_unicast(peer.bytes.data()))
			return EADDRNOTAVAIL;
		if (mode == UBOE_JETTY_RM)
			return device_->channel_to(peer, channel);
		return device_->mtu_to(peer) ? 0 : ENETUNREACH;
	}

	void close_target(u32) override {}

	int create_group(const GroupSpec &spec, u32 &id) override
	{
		uboe_jgrp_ctx ctx{};

		if (int err = number(device_->groups, spec.id, id))
			return err;
		ctx.policy = spec.policy;
		ctx.flags = spec.has_token ? UBOE_JGRP_TOKEN : 0;
		ctx.token = spec.token;
		ctx.pd = domain_;
		const int err = device_->create(UBOE_MBOX_JGRP, id, ctx);

		if (err)
			device_->groups.give(id);
		return err;
	}

	void destroy_group(u32 id) override
	{
		device_->destroy(UBOE_MBOX_JGRP, id);
		device_->groups.give(id);
	}

	int set_partition(u32 npi) override
	{
		uboe_entity_ctx ctx{};

		ctx.npi = npi;
		return device_->modify(UBOE_MBOX_ENTITY, 0, ctx, UBOE_EM_NPI);
	}

	int partition(u32 &npi) override
	{
		uboe_entity_ctx ctx{};
		const int err = device_->query(UBOE_MBOX_ENTITY, 0, ctx);

		npi = ctx.npi;
		return err;
	}

	int reset_function() override
	{
		return device_->modify(UBOE_MBOX_ENTITY, 0, uboe_entity_ctx{}, UBOE_EM_RESET);
	}

	int create_tm(u32 tag, const uboe_tm_ctx &ctx) override
	{
		return device_->create(UBOE_MBOX_TM, tag, ctx);
	}

	int modify_tm(u32 tag, const uboe_tm_ctx &ctx, u32 mask) override
	{
		return device_->modify(UBOE_MBOX_TM, tag, ctx, mask);
	}

	int query_tm(u32 tag, uboe_tm_ctx &ctx) override
	{
		return device_->query(UBOE_MBOX_TM, tag, ctx);
	}

	int destroy_tm(u32 tag) override { return device_->destroy(UBOE_MBOX_TM, tag); }

	int reserve_token_id(u32 &id) override
	{
		const auto n = device_->segments.take();

		id = n.value_or(0);
		return n ? 0 : ENOSPC;
	}

	void release_token_id(u32 id) override { device_->segments.give(id); }

	int create_segment(const SegmentSpec &spec) override
	{
		uboe_seg_ctx ctx{};

		if (!is_mapped(spec.memory, spec.length))
			return EFAULT;
		ctx.va = spec.va;
		ctx.len = spec.length;
		ctx.pbl = bus(spec.memory);
		ctx.chunk_shift = 62; // one chunk
		ctx.token = spec.token;
		ctx.pd = domain_;
		ctx.access = spec.access;
		ctx.flags = static_cast<u8>(UBOE_SEG_NATIVE |
					    (spec.needs_token ? 0 : UBOE_SEG_NO_TOKEN));
		return device_->create(UBOE_MBOX_SEG, spec.id, ctx);
	}

	void destroy_segment(u32 id) override { device_->destroy(UBOE_MBOX_SEG, id); }

	int rotate_token(u32 id, u32 token, u32 backup) override
	{
		uboe_seg_ctx ctx{};

		ctx.token = token;
		ctx.token2 = backup;
		ctx.flags = UBOE_SEG_TOKEN2;
		return device_->modify(UBOE_MBOX_SEG, id, ctx, UBOE_SM_TOKENS);
	}

	int kick(u32 jetty) override
	{
		device_->kick(jetty);
		return 0;
	}
	void progress() override { device_->progress(); }
	void park() override { device_->park(); }

private:
	void completion(u32 jfc) override { listener_.completed(jfc); }

	void event(u32 type, u32 sub, u32 number) override
	{
		listener_.happened(type, sub, number);
	}

	struct Place {
		u32 block = 0;
		u32 depth = 0;
	};

	/// The formula of struct uboe_lockbuf_ctx
	bool find_place(u32 id, Place &place)
	{
		for (u32 tag : {UBOE_LOCKBUF_WQE, UBOE_LOCKBUF_STARS}) {
			uboe_lockbuf_ctx b{};

			if (device_->query(UBOE_MBOX_LOCKBUF, tag, b) || !(b.fe_enable & 1) ||
			    id < b.start_jetty || id > b.end_jetty)
				continue;
			place.depth = 1u << b.bb_shift;
			place.block = b.fe_start[0] + (id - b.start_jetty) * place.depth;
			return true;
		}
		return false;
	}

	static int number(inproc::Ids &ids, u32 wanted, u32 &out)
	{
		if (wanted) {
			out = wanted;
			return ids.take(wanted) ? 0 : EEXIST;
		}
		const auto any = ids.take();

		out = any.value_or(0);
		return any ? 0 : ENOSPC;
	}

	/// What makes a JFR a target by itself
	static u8 jfr_flags(const ReceiveSpec &spec)
	{
		if (spec.mode == UBOE_JETTY_RC)
			return 0;
		return static_cast<u8>((spec.mode == UBOE_JETTY_UM ? UBOE_JFR_UM : UBOE_JFR_RM) |
				       (spec.has_token ? UBOE_JFR_TOKEN : 0));
	}

	int join(u32 group, u32 jetty)
	{
		uboe_jgrp_ctx ctx{};

		ctx.member = jetty;
		return group ? device_->modify(UBOE_MBOX_JGRP, group, ctx, UBOE_GM_JOIN) : 0;
	}

	int make_jfc(u32 depth, u8 flags, CompletionRing &out)
	{
		uboe_jfc_ctx ctx{};
		const auto id = device_->completion_queues.take();

		if (!id)
			return ENOSPC;
		out = {*id, ring_alloc(sizeof(uboe_cqe) * depth), ring_alloc(sizeof(uboe_jfc_rec))};
		ctx.shift = static_cast<u8>(log2_pow2(depth));
		ctx.flags = flags;
		ctx.base = bus(out.ring);
		ctx.rec = bus(out.record);
		int err = out.ring && out.record ? 0 : ENOMEM;
		if (!err)
			err = device_->create(UBOE_MBOX_JFC, *id, ctx, this);
		if (err)
			free_jfc(out);
		return err;
	}

	int make(const JettySpec &spec, const SendRing &r)
	{
		uboe_jetty_ctx ctx{};

		ctx.state = UBOE_JS_INIT;
		ctx.type = static_cast<u8>(spec.mode);
		ctx.sq_shift = static_cast<u8>(log2_pow2(spec.depth));
		ctx.flags = static_cast<u8>(
			(spec.send_only ? UBOE_JETTY_SEND_ONLY : UBOE_JETTY_SHARED_JFR) |
			UBOE_JETTY_NATIVE | (spec.has_token ? UBOE_JETTY_TOKEN : 0) |
			window_flag(r.window));
		ctx.pd = domain_;
		ctx.sq_base = bus(r.ring);
		if (Place place; r.window == Window::only && find_place(r.id, place))
			ctx.sq_base = place.block;
		ctx.page = bus(r.page);
		ctx.tx_jfcn = spec.send_jfc;
		ctx.rx_jfcn = spec.receive_jfc;
		ctx.jfrn = spec.jfr;
		ctx.order = spec.target_order ? UBOE_ORDER_TARGET : UBOE_ORDER_INITIATOR;
		ctx.sl = spec.priority;
		if (spec.mode == UBOE_JETTY_RC || spec.mode == UBOE_JETTY_RM)
			ctx.slice = static_cast<u8>(10 + log2_pow2(settings_.slice_kb));
		ctx.token = spec.token;
		ctx.user_data = r.id;
		std::memcpy(ctx.eid, device_->address().bytes.data(), sizeof(ctx.eid));
		ctx.mtu = UB_MTU_MAX; // the way to each target lowers it
		ctx.sport = UB_UDP_PORT; // the socket's only one
		ctx.raw = spec.mode == UBOE_JETTY_RAW && may_use_raw_sockets() ? UBOE_RAW_UB : 0;
		if (int err = device_->create(UBOE_MBOX_JETTY, r.id, ctx, this))
			return err;
		ctx.rnr_timer = ubp_rnr_code(spec.min_rnr_timer);
		ctx.rnr_retry = spec.rnr_retry;
		int err = device_->modify(UBOE_MBOX_JETTY, r.id, ctx,
					  UBOE_JM_RNR_TIMER | UBOE_JM_RNR_RETRY);
		if (!err)
			err = join(spec.group, r.id);
		if (!err && settings_.jetty_mbps && spec.mode != UBOE_JETTY_RAW)
			err = limit(r.id);
		if (err)
			unmake(r.id);
		return err;
	}

	/// Who may, may send packets in anybody's name without us.
	bool may_use_raw_sockets() const
	{
		const int family = device_->address().is_v4() ? AF_INET : AF_INET6;
		const int fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_UDP);

		if (fd >= 0)
			close(fd);
		return fd >= 0;
	}

	static u32 window_flag(Window w)
	{
		return w == Window::only   ? UBOE_JETTY_LOCKBUF :
		       w == Window::beside ? UBOE_JETTY_DWQE :
					     0;
	}

	/// Traffic management: what the jetty sends.
	int limit(u32 id)
	{
		uboe_tm_ctx ctx{};

		ctx.parent = UBOE_TM_NO_PARENT;
		ctx.peak_kbps = settings_.jetty_mbps * 1000;
		return create_tm(UBOE_TM_TAG(UBOE_TML_JETTY, id), ctx);
	}

	int make_channel(u32 id, const JettySpec &spec, const Address &peer, u32 peer_jetty)
	{
		const u32 mtu = device_->mtu_to(peer);
		uboe_tp_ctx tp{};

		if (!mtu)
			return ENETUNREACH;
		std::memcpy(tp.laddr, device_->address().bytes.data(), sizeof(tp.laddr));
		std::memcpy(tp.raddr, peer.bytes.data(), sizeof(tp.raddr));
		tp.jetty = id;
		tp.rmt_jetty = peer_jetty;
		tp.sport = UB_UDP_PORT; // the socket's only one
		tp.retrans = 0xff;
		tp.cc = device_->congestion_control();
		tp.mtu = static_cast<u16>(mtu);
		tp.timeout_ns = timeout_ns(spec.err_timeout);
		return device_->create(UBOE_MBOX_TP, UB_TPN_RC(id), tp);
	}

	void unmake(u32 id)
	{
		device_->destroy(UBOE_MBOX_JETTY, id);
		device_->destroy(UBOE_MBOX_TP, UB_TPN_RC(id));
	}

	void free_jfc(const CompletionRing &r)
	{
		std::free(r.ring);
		std::free(r.record);
		device_->completion_queues.give(r.id);
	}

	void free_jfr(const ReceiveRing &r)
	{
		std::free(r.slots);
		std::free(r.index);
		std::free(r.record);
		device_->receive_queues.give(r.id);
	}

	void free_jetty(const SendRing &r)
	{
		std::free(r.ring);
		std::free(r.page);
		device_->jetties.give(r.id);
	}

	const std::shared_ptr<inproc::Endpoint> device_;
	Listener &listener_;
	const u32 domain_;
	const InprocSettings settings_;
};

} // namespace

u32 max_cas()
{
	return ubp_os_has_cas128() ? 16 : 8;
}

int open_inproc(const Address &address, Listener &listener, std::unique_ptr<Backend> &out)
{
	std::shared_ptr<inproc::Endpoint> device;
	InprocSettings settings;

	if (!settings.read())
		return EINVAL;
	if (int err = inproc::Endpoint::get(address, device))
		return err;
	if (int err = settings.apply(*device))
		return err;
	out = std::make_unique<InprocBackend>(std::move(device), listener, settings);
	return 0;
}

} // namespace uboe::urma
