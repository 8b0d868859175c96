/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A home of the protocol core inside one process: memory, time and packets are
 * plain objects that a test looks at and changes. Nothing happens behind the
 * test's back: packets collect in out(), deadlines in timers(), engine turns in
 * turns(), until the test (or a class derived from host) acts on them.
 *
 * Used by the simulator, by unit tests and by fuzzers. One thread per host.
 */
#ifndef UBSIM_HOST_HPP
#define UBSIM_HOST_HPP

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <vector>

extern "C" {
#include "ubp.h"

#include <ub/uboe_io.h>
#include <ub/uboe_mbox.h>
}

namespace ubsim
{

using bytes = std::vector<std::uint8_t>;

class ub_switch;

/* IPv6 or v4-mapped address, network order */
struct address {
	std::array<std::uint8_t, 16> b{};

	static address v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d);
	static address v6(std::uint16_t net, std::uint16_t n);
};

/* Ring memory: what a driver would map, with the bus address that names it */
struct dma {
	std::uint8_t *p = nullptr;
	std::uint64_t bus = 0;
	std::uint64_t len = 0;
};

/*
 * Registered memory. Its chunks are separate allocations, so that an access
 * over the end of one is an access to nowhere (or to a canary).
 */
class memory
{
      public:
	memory(std::uint64_t va, std::uint64_t len, unsigned chunk_shift);
	memory(const memory &) = delete;
	memory &operator=(const memory &) = delete;

	std::uint64_t va() const { return va_; }
	std::uint64_t len() const { return len_; }
	unsigned chunk_shift() const { return shift_; }
	std::uint64_t off() const { return off_; }
	void **chunks() { return chunks_.data(); }

	/* @off counts from va() */
	void write(std::uint64_t off, const void *src, std::size_t n);
	void read(std::uint64_t off, void *dst, std::size_t n) const;
	/* First byte that differs from @want, or n */
	std::size_t compare(std::uint64_t off, const void *want, std::size_t n) const;
	std::uint64_t load(std::uint64_t off, unsigned size) const;
	/* Are the bytes around the registered range untouched? */
	bool canaries_ok() const;

      private:
	template <class F> void walk(std::uint64_t off, std::size_t n, F &&f) const;

	std::uint64_t va_;
	std::uint64_t len_;
	std::uint64_t off_;
	unsigned shift_;
	std::vector<std::unique_ptr<std::uint8_t[]>> store_;
	std::vector<void *> chunks_;
};

class host
{
      public:
	struct packet {
		bytes data;
		ubp_path *path;
	};
	struct event {
		std::uint32_t type;
		std::uint32_t sub;
		std::uint32_t num;
	};

	/* A small device: 4096 objects of each kind, else the core's defaults */
	static ubp_config small_config();

	explicit host(const ubp_config &cfg = small_config());
	virtual ~host();
	host(const host &) = delete;
	host &operator=(const host &) = delete;

	ubp_dev *dev() { return &dev_; }
	std::uint64_t stat(unsigned n) const { return stats_[n]; }

	/* Zeroed memory for a ring, record or page */
	dma alloc_dma(std::uint64_t len);
	void free_dma(const dma &d);

	/* Mailbox commands; the result is the core's */
	template <class T> int create(std::uint32_t obj, std::uint32_t tag, const T &ctx)
	{
		return ubp_mbox_exec(&dev_, UBOE_MBOX_CMD(obj, UBOE_MBOX_CREATE), tag, &ctx,
				     sizeof(ctx), nullptr, 0);
	}
	template <class T>
	int modify(std::uint32_t obj, std::uint32_t tag, const T &ctx, std::uint32_t mask)
	{
		std::array<std::uint8_t, sizeof(T) + 4> in;

		std::memcpy(in.data(), &ctx, sizeof(T));
		std::memcpy(in.data() + sizeof(T), &mask, 4);
		return ubp_mbox_exec(&dev_, UBOE_MBOX_CMD(obj, UBOE_MBOX_MODIFY), tag, in.data(),
				     in.size(), nullptr, 0);
	}
	template <class T> int query(std::uint32_t obj, std::uint32_t tag, T &ctx)
	{
		return ubp_mbox_exec(&dev_, UBOE_MBOX_CMD(obj, UBOE_MBOX_QUERY), tag, nullptr, 0,
				     &ctx, sizeof(ctx));
	}
	int destroy(std::uint32_t obj, std::uint32_t tag);

	/* Register @m under TokenID @id; @m stays the caller's */
	int register_memory(std::uint32_t id, std::uint32_t token, std::uint32_t pd,
			    std::uint8_t access, memory &m, std::uint8_t flags = 0);

	/* A packet arrives; it is freed when the core is done with it */
	void receive(bytes data);
	virtual int kick(std::uint32_t jetty) { return ubp_kick_id(&dev_, jetty); }

	std::vector<packet> &out() { return out_; }
	const std::map<std::uint32_t, std::uint64_t> &timers() const { return timers_; }
	std::vector<std::uint32_t> &turns() { return turns_; }
	std::vector<event> &events() { return events_; }
	std::vector<std::pair<address, address>> &wanted() { return wanted_; }
	std::vector<std::uint32_t> &jfc_events() { return jfc_events_; }

	/* Give back memory that no reader can hold any more; call it between entries */
	void reap();

	/* End the device; all objects must be gone. Done by the destructor if not before. */
	void shutdown();

	/* Everything the core took and has not given back */
	std::size_t live_allocations() const { return live_alloc_; }
	std::size_t live_packets() const { return live_rx_; }
	std::size_t live_buffers() const { return live_tx_; }
	std::size_t live_segments() const { return live_seg_; }
	std::size_t live_paths() const { return live_path_; }

	std::uint64_t time = 0; /* what now() says, nanoseconds */
	bool no_memory = false; /* zalloc fails */
	std::uint8_t mark = UBP_MARK_AS_IP; /* of packets that arrive */
	/* In a UB domain behind a switch: native packets between the core and the switch, UBoE
	 * beyond it */
	bool native() const { return dev_.native; }
	/* @busy: its switch heeds CAQM, as one does where others send, too */
	void set_native(bool busy = true);
	/* The others in UB domains are behind borders: what Ethernet cannot carry ends there */
	bool border = false;

	/* What a derived class may do differently */
	virtual std::uint64_t now() { return time; }
	virtual std::uint32_t random();
	virtual bool tx_room(ubp_path &) { return true; }
	/* largest payload on the way of a UM message, 0: there is no way */
	virtual std::uint32_t way_mtu(const ubp_path &) { return UB_MTU_MAX; }
	/* largest packet on the way of a raw queue's */
	virtual std::uint32_t way_link(const ubp_path &) { return 65535; }
	virtual void sent(ubp_path &path, bytes &&data)
	{
		out_.push_back({ std::move(data), &path });
	}
	virtual void set_timer(ubp_tp *tp, std::uint64_t when);
	virtual void cancel_timer(ubp_tp *tp);
	virtual void later(ubp_jetty *jetty) { turns_.push_back(ubp_jetty_id(jetty)); }
	virtual void set_jfc_timer(std::uint32_t id, std::uint64_t when) { jfc_timers_[id] = when; }
	virtual void jfc_fired(ubp_jfc *jfc) { jfc_events_.push_back(ubp_jfc_id(jfc)); }
	virtual void happened(const event &e) { events_.push_back(e); }

	virtual void set_jetty_timer(ubp_jetty *j, std::uint64_t when)
	{
		jetty_timers_.emplace(when, ubp_jetty_id(j));
	}
	/* Fire the timers that are due at @time; number of them */
	unsigned run_timers();
	/* Run the engine turns that were asked for */
	unsigned run_turns();

      private:
	struct ops;

	ubp_dev dev_{};
	std::unique_ptr<ub_switch> switch_; /* of a native port */
	std::vector<std::uint64_t> stats_;
	std::map<std::uint64_t, dma> arenas_;
	std::uint64_t next_bus_ = 0x100000;
	std::map<std::uint64_t, memory *> pbl_;
	std::uint64_t next_pbl_ = 1;
	std::vector<void *> garbage_;
	std::vector<packet> out_;
	std::map<std::uint32_t, std::uint64_t> timers_; /* by TPN */
	std::map<std::uint32_t, std::uint64_t> jfc_timers_;
	std::multimap<std::uint64_t, std::uint32_t> jetty_timers_;
	std::vector<std::uint32_t> turns_;
	std::vector<event> events_;
	std::vector<std::pair<address, address>> wanted_; /* shared channels: ours, the peer's */
	std::vector<std::uint32_t> jfc_events_;
	std::uint64_t random_ = 0x243f6a8885a308d3;
	std::size_t live_alloc_ = 0;
	std::size_t live_rx_ = 0;
	std::size_t live_tx_ = 0;
	std::size_t live_seg_ = 0;
	std::size_t live_path_ = 0;
};

} /* namespace ubsim */

#endif /* UBSIM_HOST_HPP */
