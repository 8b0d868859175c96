// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The library's side of the objects of urma/*.h. Each derives from the structure
// that the program sees; that part is ours to write and the program's to read.
//
// Locks, outermost first; none is held while a backend is called:
//   Context::children   counts and tables of the context
//   Context::events     asynchronous events, JFCs and JFRs by number
//   Group::lock         the members that the program sees
//   Jfce::lock          which JFCs have fired
// and, below all of them, the locks of the queues (rings/).
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <urma/urma_api.h>

#include "backend.hpp"
#include "handles.hpp"
#include "log.hpp"
#include "rings/comp_queue.hpp"
#include "rings/id_table.hpp"
#include "rings/recv_queue.hpp"
#include "rings/send_queue.hpp"

namespace uboe::urma {

struct Group;
struct Segment;
struct Jfc;
struct Jfr;
struct Sender;

/// Counts events that were handed to the program and that it has acknowledged.
class EventCount {
public:
	void taken()
	{
		const std::lock_guard hold(lock_);
		++taken_;
	}
	void acked(u32 n)
	{
		const std::lock_guard hold(lock_);
		acked_ += n;
		changed_.notify_all();
	}
	/// Until all that were handed out are acknowledged.
	void wait()
	{
		std::unique_lock hold(lock_);
		changed_.wait(hold, [this] { return static_cast<int>(taken_ - acked_) <= 0; });
	}

private:
	std::mutex lock_;
	std::condition_variable changed_;
	u32 taken_ = 0;
	u32 acked_ = 0;
};

/// A file descriptor that is readable while the bell rings. ring() and clear() are
/// called under the lock of what it announces. Whether the descriptor blocks is
/// the program's to say.
class Bell {
public:
	Bell();
	~Bell();
	Bell(const Bell &) = delete;
	Bell &operator=(const Bell &) = delete;

	int fd() const { return fd_; }
	void ring();
	void clear();
	/// Waits until it rings; milliseconds, negative: for ever. 0, ETIMEDOUT or EINTR.
	int wait(int timeout_ms) const;

private:
	int fd_;
	bool rung_ = false;
};

struct Context : urma_context_t, Listener {
	using Base = urma_context_t;
	static constexpr u64 magic = 0x55524d4163747831;

	explicit Context(urma_device_t &device);
	~Context();

	std::unique_ptr<Backend> backend;
	std::atomic<bool> lost{false}; // the device is gone for good

	std::atomic<u32> children{0}; // objects that belong to it
	std::mutex tables; // serialises changes of the next three
	IdTable<Sender> senders; // jetties and JFSs, which share their numbers
	IdTable<Jfr> targets; // JFRs that are targets by themselves
	IdTable<Segment> segments; // local ones, by TokenID

	std::mutex events; // guards the next four
	std::deque<urma_async_event_t> pending;
	std::unordered_map<u32, Jfc *> jfcs;
	std::unordered_map<u32, Jfr *> jfrs;
	Bell bell;

	void completed(u32 jfc) override;
	void happened(u32 type, u32 sub, u32 number) override;
	void changed(DeviceEvent event) override;
	/// Forgets events that the program has not fetched yet.
	void forget(const void *element);

private:
	void report(const urma_async_event_t &e);
};

struct Jfce : urma_jfce_t {
	using Base = urma_jfce_t;
	static constexpr u64 magic = 0x55524d4163656531;

	explicit Jfce(Context &c);

	Context &context;
	Bell bell;
	std::atomic<u32> users{0};
	std::mutex lock; // guards the next
	std::deque<Jfc *> fired;

	void fire(Jfc &jfc);
	void forget(const Jfc &jfc);
};

struct Jfc : urma_jfc_t {
	using Base = urma_jfc_t;
	static constexpr u64 magic = 0x55524d416a666331;

	Jfc(Context &c, const urma_jfc_cfg_t &cfg, const CompletionRing &ring);

	Context &context;
	Jfce *channel;
	CompletionRing memory;
	CompQueue queue;
	std::atomic<u32> users{0};
	EventCount completions;
	EventCount asyncs;
};

struct Jfr : urma_jfr_t {
	using Base = urma_jfr_t;
	static constexpr u64 magic = 0x55524d416a667231;

	Jfr(Context &c, const urma_jfr_cfg_t &cfg, const RecvGeometry &g, const ReceiveRing &ring,
	    u8 buf_shift);

	Context &context;
	Jfc &jfc;
	ReceiveRing memory;
	RecvQueue queue;
	std::atomic<u32> users{0};
	const TransMode mode;
	const u8 buf_shift; // its receives are buffers of this size; 0: of any
	u32 threshold = 0;
	EventCount asyncs;
};

struct Target : urma_target_jetty_t {
	using Base = urma_target_jetty_t;
	static constexpr u64 magic = 0x55524d4174677431;

	Target(Context &c, const urma_rjetty_t &r, const urma_token_t *token, u32 channel);

	Context &context;
	const TransMode mode;
	SqeParams params; // what requests say of it
	std::atomic<u32> users{0};
};

/// A send queue: all of a JFS, and one side of a jetty.
struct Sender {
	Sender(Context &c, const urma_jfs_cfg_t &cfg, const JettySpec &spec, const SendGeometry &g,
	       const SendRing &ring, void *handle);

	Context &context;
	void *const handle; // what the program knows it by
	Jfc &send_jfc;
	Jfr *jfr = nullptr; // null: a JFS
	Jfc *receive_jfc = nullptr;
	JettySpec spec;
	SendRing memory;
	SendQueue queue;
	Target *peer = nullptr; // RC
	urma_jetty_state_t state = URMA_JETTY_STATE_READY;
	std::mutex control; // serialises bind, unbind and state changes
	EventCount asyncs;
};

struct Jetty : urma_jetty_t, Sender {
	using Base = urma_jetty_t;
	static constexpr u64 magic = 0x55524d416a747931;

	Jetty(Context &c, const urma_jetty_cfg_t &cfg, const JettySpec &spec, const SendGeometry &g,
	      const SendRing &ring);

	Group *group = nullptr;
};

struct Jfs : urma_jfs_t, Sender {
	using Base = urma_jfs_t;
	static constexpr u64 magic = 0x55524d416a667331;

	Jfs(Context &c, const urma_jfs_cfg_t &cfg, const JettySpec &spec, const SendGeometry &g,
	    const SendRing &ring);
};

struct Group : urma_jetty_grp_t {
	using Base = urma_jetty_grp_t;
	static constexpr u64 magic = 0x55524d4167727031;

	Group(Context &c, const urma_jetty_grp_cfg_t &cfg, u32 id);

	Context &context;
	std::mutex lock; // guards the next, and jetty_cnt
	urma_jetty_t *members[UBOE_MAX_JGRP_MEMBERS] = {};

	void add(Jetty &j);
	void remove(Jetty &j);
};

struct TokenId : urma_token_id_t {
	using Base = urma_token_id_t;
	static constexpr u64 magic = 0x55524d4174696431;

	TokenId(Context &c, u32 id);

	Context &context;
	u32 number;
	bool implicit = false; // made by and gone with its segment
	std::atomic<bool> in_use{false};
};

/// A registered segment, or an imported one.
struct Segment : urma_target_seg_t {
	using Base = urma_target_seg_t;
	static constexpr u64 magic = 0x55524d4173656731;

	explicit Segment(Context &c);

	Context &context;
	bool is_local = false;
	u32 local_key = 0; // of SGEs
	u64 va = 0; // of a local one: address that peers and SGEs use,
	std::byte *memory = nullptr; // where that is, and how long
	u64 length = 0;
	RemoteKey remote; // of requests
};

/// The API's token id is a TokenID shifted by 8.
constexpr u32 token_id_shift = 8;

/// Address of an EID and back: the same bytes.
Address to_address(const urma_eid_t &eid);
urma_eid_t to_eid(const Address &a);

/// The capabilities of every device of this library.
urma_device_cap_t capabilities(const urma_device_t &dev);

/// What a created object holds of its context, until the object is complete.
class Child {
public:
	explicit Child(Context &c) : context_(c) { ++context_.children; }
	~Child()
	{
		if (!kept_)
			--context_.children;
	}
	Child(const Child &) = delete;
	Child &operator=(const Child &) = delete;

	void keep() { kept_ = true; }

private:
	Context &context_;
	bool kept_ = false;
};

/// Takes a step back when a creator fails, by a status or by an exception.
template <class F> class [[nodiscard]] Undo {
public:
	explicit Undo(F f) : f_(std::move(f)) {}
	~Undo()
	{
		if (!kept_)
			f_();
	}
	Undo(const Undo &) = delete;
	Undo &operator=(const Undo &) = delete;

	void keep() { kept_ = true; }

private:
	F f_;
	bool kept_ = false;
};

/// Runs @p f for a C caller: no exception leaves it. A null result of a creator
/// or a status tells of the failure, errno says why.
template <class R, class F> R guarded(R on_no_memory, F f) noexcept
{
	try {
		return f();
	} catch (...) {
		errno = ENOMEM;
		return on_no_memory;
	}
}

} // namespace uboe::urma
