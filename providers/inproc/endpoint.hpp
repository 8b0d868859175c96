// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// In-process home of the protocol core: a UB device at one address of this
// machine, without privileges and without a module. All contexts of the process
// that use an address share its endpoint.
//
// Who runs the core: the caller of kick() sends, the caller of progress() (who
// polls a completion queue) receives; the endpoint's thread does both while
// nobody polls. One lock makes them take turns.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

extern "C" {
#include "ubp.h"

#include <ub/uboe_mbox.h>
}

#include "address.hpp"
#include "ids.hpp"
#include "pool.hpp"
#include "link.hpp"

namespace uboe::inproc {

/// Receives what happens to an object. Called with the endpoint's lock held: it
/// must not call the endpoint.
class Sink {
public:
	/// The armed JFC @p jfc has a completion.
	virtual void completion(u32 jfc) = 0;
	/// enum uboe_event, enum uboe_event_sub, and the object's number; events of the
	/// entity go to all who watch() it.
	virtual void event(u32 type, u32 sub, u32 number) = 0;

protected:
	~Sink() = default;
};

/// The interface that URMA_INPROC_UB_PORT names, or null.
const char *ub_port();

class Endpoint {
public:
	/// The endpoint at @p address, opened when it is not open yet.
	/// 0 or an errno; EADDRINUSE when another process has the address. With
	/// URMA_INPROC_UB_PORT at a port of a UB domain: EPERM, ENODEV.
	static int get(const Address &address, std::shared_ptr<Endpoint> &out);
	~Endpoint();
	Endpoint(const Endpoint &) = delete;
	Endpoint &operator=(const Endpoint &) = delete;

	const Address &address() const { return address_; }
	/// Protection domain for one context.
	u32 new_domain() { return next_domain_.fetch_add(1) + 1; }
	/// Payload of packets to @p peer, bytes; 0: there is no route, or it is too narrow.
	u32 mtu_to(const Address &peer) const;

	/// Of channels that are made from now on; EBUSY when somebody has set another one.
	int set_congestion_control(const ubp_cc_conf &wanted);
	u8 congestion_control() const { return static_cast<u8>(dev_.cfg.cc.alg); }

	/// Mailbox commands of ub/uboe_mbox.h; 0 or a positive errno. Bus addresses
	/// are pointers of this process. @p sink hears of a created object until it
	/// is destroyed.
	template <class T> int create(u32 object, u32 id, const T &ctx, Sink *sink = nullptr)
	{
		return command(object, UBOE_MBOX_CREATE, id, &ctx, sizeof(ctx), nullptr, 0, sink);
	}
	template <class T> int modify(u32 object, u32 id, const T &ctx, u32 mask)
	{
		struct [[gnu::packed]] {
			T ctx;
			u32 mask;
		} in = {ctx, mask};
		static_assert(sizeof(in) == sizeof(T) + sizeof(mask));

		return command(object, UBOE_MBOX_MODIFY, id, &in, sizeof(in), nullptr, 0, nullptr);
	}
	template <class T> int query(u32 object, u32 id, T &ctx)
	{
		return command(object, UBOE_MBOX_QUERY, id, nullptr, 0, &ctx, sizeof(ctx), nullptr);
	}
	int destroy(u32 object, u32 id)
	{
		return command(object, UBOE_MBOX_DESTROY, id, nullptr, 0, nullptr, 0, nullptr);
	}

	/// The channel that RM messages to @p peer take, made when there is none yet; it
	/// lives as long as the endpoint. 0 or an errno.
	int channel_to(const Address &peer, u32 &channel);

	/// May the kernel cut runs of packets to one peer (socket.hpp)? From the beginning yes.
	void set_segmentation(bool on);

	void watch(Sink *sink);
	void unwatch(Sink *sink);

	/// A send queue's doorbell rang and the device asked for a kick.
	void kick(u32 jetty);
	/// Does what there is to do, unless another thread is at it. For pollers.
	void progress();
	/// The caller stops polling and will wait: the thread takes over at once.
	void park();

	Ids jetties;
	Ids receive_queues;
	Ids completion_queues;
	Ids segments;
	Ids groups;

private:
	struct Ops;
	using Lock = std::unique_lock<std::mutex>;

	explicit Endpoint(const Address &address);
	int start();
	void start_thread();
	void run();
	void wait(u64 deadline);
	void turn();
	bool hand_over(Block *b);
	void receive();
	bool run_timers();
	bool run_engine();
	int make_channel(const Address &peer, u32 &channel);
	void make_wanted();
	void end_section();
	u64 next_due() const;
	void wake();
	bool polled_lately();
	int command(u32 object, u32 verb, u32 id, const void *in, u32 in_len, void *out,
		    u32 out_len, Sink *sink);
	Sink *sink_of(u32 object, u32 id) const;

	const Address address_;
	std::atomic<u32> next_domain_{0};
	Pool pool_;
	std::unique_ptr<Link> link_;
	int wake_fd_ = -1;

	// All below is guarded by lock_, but for the atomics
	std::mutex lock_;
	ubp_dev dev_{};
	bool dev_up_ = false;
	std::vector<u64> stats_;
	std::unordered_map<u64, Sink *> sinks_; // by object << 32 | id
	std::set<Sink *> watchers_; // one of each context
	std::set<std::pair<u64, ubp_tp *>> timers_;
	std::set<std::pair<u64, u32>> jfc_timers_; // moderated events, by JFC
	std::set<std::pair<u64, u32>> jetty_timers_; // shaped jetties without a channel
	std::vector<u32> later_; // jetties whose engines go on
	std::vector<u32> starved_; // channels that found no packet buffer
	std::vector<void *> garbage_; // freed when the section ends
	std::vector<Address> wanted_; // peers that ask for a channel
	bool cc_is_set_ = false;
	u32 next_channel_ = 1;
	u32 asked_ = 0; // channels that were made because peers asked

	u64 planned_ = 0; // when the thread wakes up by itself; 0: it is awake

	std::atomic<u64> polls_{0};
	u64 polls_seen_ = 0; // the thread's
	std::atomic<bool> parked_{false};
	std::atomic<bool> stop_{false};
	std::thread thread_;
};

} // namespace uboe::inproc
