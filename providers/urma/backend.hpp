// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What liburma needs of a device, at one address. The library owns the objects
// that programs see and the queues' private parts; a backend makes the queues
// themselves and moves the data. Errors are positive errno values.
#pragma once

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <ub/uboe_mbox.h>

#include "rings/base.hpp"
#include "rings/send_queue.hpp"
#include "inproc/address.hpp"

namespace uboe::urma {

using inproc::Address;
using TransMode = uboe_jetty_type;

/// What happens to a device as a whole.
enum class DeviceEvent {
	lost, // it is gone, nothing completes any more
	port_up,
	port_down,
	addresses, // it has got or lost one
	reset_began, // all that there is on it fails
	reset_done, // and has failed: it can be made anew
};

/// What happens, at any time and in any thread. The callee must not call the
/// backend.
class Listener {
public:
	/// An armed JFC has a completion.
	virtual void completed(u32 jfc) = 0;
	/// enum uboe_event and enum uboe_event_sub of ub/uboe_io.h
	virtual void happened(u32 type, u32 sub, u32 number) = 0;
	virtual void changed(DeviceEvent event) = 0;

protected:
	~Listener() = default;
};

/// Memory shared with the device; zeroed.
struct CompletionRing {
	u32 id = 0;
	void *ring = nullptr; // depth CQEs
	void *record = nullptr; // struct uboe_jfc_rec
};

struct ReceiveSpec {
	u32 id = 0; // wanted number, 0: any
	u32 depth = 0; // a power of two
	u32 sge_shift = 0;
	u8 buf_shift = 0; // of receives that are buffers of one size; 0: of any
	u32 jfc = 0;
	TransMode mode = UBOE_JETTY_RC; // but for RC it is a target by itself
	u32 token = 0; // that peers must know, when has_token
	bool has_token = false;
};

struct ReceiveRing {
	u32 id = 0;
	void *slots = nullptr;
	void *index = nullptr;
	void *record = nullptr; // struct uboe_jfr_rec
};

struct JettySpec {
	TransMode mode = UBOE_JETTY_RC;
	bool send_only = false; // a JFS
	u32 group = 0; // that it joins, 0: none
	u32 id = 0; // wanted number, 0: any
	u32 depth = 0; // base blocks, a power of two
	u32 send_jfc = 0;
	u32 receive_jfc = 0;
	u32 jfr = 0;
	u32 token = 0; // that peers must know, when has_token
	bool has_token = false;
	u8 min_rnr_timer = 0; // the code of urma_jfr_cfg
	u8 rnr_retry = 0; // 0..6, 7: for ever
	u8 err_timeout = 0; // 0..31
	u8 priority = 0; // service level
	bool target_order = false; // ROT; RM only
};

struct SendRing {
	u32 id = 0;
	void *ring = nullptr;
	void *page = nullptr; // jetty page of ub/uboe_io.h
	Window window = Window::none; // the page's DirectWQE window
};

struct SegmentSpec {
	u32 id = 0; // TokenID that was reserved before
	u64 va = 0; // address that peers use
	void *memory = nullptr;
	u64 length = 0;
	u8 access = 0; // UBOE_ACC_*
	u32 token = 0;
	bool needs_token = true;
};

struct GroupSpec {
	u32 id = 0; // wanted number, 0: any
	u8 policy = 0; // enum uboe_jgrp_policy
	u32 token = 0; // that peers must know, when has_token
	bool has_token = false;
};

class Backend {
public:
	virtual ~Backend() = default;

	virtual int create_jfc(u32 depth, CompletionRing &out) = 0;
	/// Short Sends arrive in the CQE.
	virtual int create_inline_jfc(u32 depth, CompletionRing &out) = 0;
	/// Moderation of events; mask of UBOE_CM_*.
	virtual int moderate_jfc(u32 id, u16 count, u16 period_us, u32 mask) = 0;
	virtual void destroy_jfc(const CompletionRing &r) = 0;
	virtual int create_jfr(const ReceiveSpec &spec, ReceiveRing &out) = 0;
	/// Event when fewer receives than @p limit are posted; 0: none.
	virtual int limit_jfr(u32 id, u32 limit) = 0;
	virtual void destroy_jfr(const ReceiveRing &r) = 0;

	/// Base blocks of this jetty's place in a lock buffer; 0: it has a ring. A jetty with
	/// a place is RC, of that depth, and its elements have UBOE_DWQE_MAX_BB at most.
	virtual u32 locked_depth(u32 /*id*/) { return 0; }
	/// RC: a jetty that takes receives and is bound to nobody. Others do nothing until
	/// start(). ENOSPC also when the group is full.
	virtual int create_jetty(const JettySpec &spec, SendRing &out) = 0;
	/// Binds it: from now on it receives, and sends once the peer answers.
	virtual int connect(u32 id, const JettySpec &spec, const Address &peer, u32 peer_jetty) = 0;
	/// RM and UM: from now on it receives and sends.
	virtual int start(u32 id) = 0;
	/// As after create_jetty(); the ring starts anew.
	virtual int reset(const JettySpec &spec, const SendRing &r) = 0;
	/// Everything posted completes with an error.
	virtual int fail(u32 id) = 0;
	virtual int has_failed(u32 id, bool &failed) = 0;
	virtual void destroy_jetty(const SendRing &r) = 0;

	/// RM and UM: makes @p peer a target of requests, which name @p channel.
	virtual int open_target(const Address &peer, TransMode mode, u32 &channel) = 0;
	virtual void close_target(u32 channel) = 0;

	virtual int create_group(const GroupSpec &spec, u32 &id) = 0;
	/// Without members.
	virtual void destroy_group(u32 id) = 0;

	/// Partition and privilege of the entity, UBOE_NPI_*; EBUSY while it has jetties.
	virtual int set_partition(u32 /*npi*/) { return EOPNOTSUPP; }
	virtual int partition(u32 & /*npi*/) { return EOPNOTSUPP; }
	/// Reset of the function, for all its users.
	virtual int reset_function() { return EOPNOTSUPP; }

	/// Nodes of the traffic management; @p tag is UBOE_TM_TAG(level, number), the mask of
	/// UBOE_TMM_*.
	virtual int create_tm(u32 /*tag*/, const uboe_tm_ctx &) { return EOPNOTSUPP; }
	virtual int modify_tm(u32 /*tag*/, const uboe_tm_ctx &, u32 /*mask*/) { return EOPNOTSUPP; }
	virtual int query_tm(u32 /*tag*/, uboe_tm_ctx &) { return EOPNOTSUPP; }
	virtual int destroy_tm(u32 /*tag*/) { return EOPNOTSUPP; }

	virtual int reserve_token_id(u32 &id) = 0;
	virtual void release_token_id(u32 id) = 0;
	virtual int create_segment(const SegmentSpec &spec) = 0;
	virtual void destroy_segment(u32 id) = 0;
	/// From now on peers need @p token or @p backup.
	virtual int rotate_token(u32 id, u32 token, u32 backup) = 0;

	/// An error means that the device is gone.
	virtual int kick(u32 jetty) = 0;
	/// A program polls and found nothing.
	virtual void progress() = 0;
	/// A program is about to sleep until a completion event.
	virtual void park() = 0;
};

/// Largest operand of a compare and swap at a device on this machine.
u32 max_cas();

/// The in-process device at @p address.
int open_inproc(const Address &address, Listener &listener, std::unique_ptr<Backend> &out);
/// A device of the kernel, whose uverbs node is @p path.
int open_kernel(const std::string &path, const Address &address, Listener &listener,
		std::unique_ptr<Backend> &out);

} // namespace uboe::urma
