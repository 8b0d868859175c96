// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "endpoint.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "socket.hpp"
#include "ub_port.hpp"

namespace uboe::inproc {

namespace {

constexpr u64 ns_per_ms = 1000000;
constexpr u64 never = ~u64{0};
constexpr u64 poller_grace_ns = ns_per_ms; // who polled within it will poll again
constexpr unsigned rounds_per_turn = 16; // then others get the lock
constexpr unsigned slices_per_kick = 64; // then the engine goes on without the caller

constexpr u32 max_asked = 1024; // channels for who only asks: each costs 70 KiB
constexpr u32 first_well_known_jetty = 2; // 0 is the transport's, 1 for management
constexpr u32 first_jetty = 1024;

u64 monotonic_ns()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return static_cast<u64>(t.tv_sec) * 1000000000 + static_cast<u64>(t.tv_nsec);
}

constexpr u64 key(u32 object, u32 id)
{
	return u64{object} << 32 | id;
}

Endpoint *home(ubp_dev *dev)
{
	return static_cast<Endpoint *>(dev->home);
}

std::mutex registry_lock; // guards what registry() returns

std::map<Address, std::weak_ptr<Endpoint>> &registry()
{
	// never destroyed: contexts may outlive static objects
	static auto *map = new std::map<Address, std::weak_ptr<Endpoint>>;

	return *map;
}

} // namespace

// What the core asks of its home; all of it with lock_ held.
struct Endpoint::Ops {
	static u64 now(ubp_dev *) { return monotonic_ns(); }

	// A machine that has just booted, a guest for a test, may have no entropy for a
	// minute; nobody should wait for it, and the kernel device does not either.
	static u32 random(ubp_dev *)
	{
		u32 v = 0;

		if (getrandom(&v, sizeof(v), GRND_INSECURE) == sizeof(v))
			return v;
		while (getrandom(&v, sizeof(v), 0) != sizeof(v)) // Linux before 5.6
			;
		return v;
	}

	static void *zalloc(ubp_dev *, size_t len) { return std::calloc(1, len); }
	static void free_later(ubp_dev *d, void *p) { home(d)->garbage_.push_back(p); }
	static void *bus_map(ubp_dev *, u64 bus, u64) { return reinterpret_cast<void *>(bus); }

	// A segment is one chunk of this process
	static int seg_map(ubp_dev *, ubp_seg *seg, u64 pbl)
	{
		seg->chunk = static_cast<void **>(std::malloc(sizeof(void *)));
		if (!seg->chunk)
			return -ENOMEM;
		seg->chunk[0] = reinterpret_cast<void *>(pbl);
		return 0;
	}

	static void seg_unmap(ubp_dev *, ubp_seg *seg) { std::free(seg->chunk); }
	static int path_init(ubp_dev *, ubp_path *) { return 0; }
	static void path_exit(ubp_dev *, ubp_path *) {}

	static u32 path_mtu(ubp_dev *d, ubp_path *path)
	{
		Address to;

		std::memcpy(to.bytes.data(), path->raddr, to.bytes.size());
		return home(d)->mtu_to(to);
	}

	static u32 path_link(ubp_dev *d, ubp_path *path)
	{
		Address to;

		std::memcpy(to.bytes.data(), path->raddr, to.bytes.size());
		return std::min<u32>(home(d)->link_->route_mtu(to),
				     Block::headers(path->v4) + Block::payload_max);
	}

	static bool tx_alloc(ubp_dev *d, ubp_path *path, u32 len, ubp_txbuf *buf)
	{
		Block *b = home(d)->pool_.take();

		if (!b) {
			if (path->tp)
				home(d)->starved_.push_back(ubp_tp_number(path->tp));
			return false;
		}
		b->len = len;
		*buf = {b->packet(path->v4), len, 0, b};
		return true;
	}

	static void tx_send(ubp_dev *d, ubp_path *path, ubp_txbuf *buf)
	{
		Address to;

		std::memcpy(to.bytes.data(), path->raddr, to.bytes.size());
		auto *b = static_cast<Block *>(buf->cookie);
		b->cci = buf->cci;
		home(d)->link_->send(b, to, path->dport);
	}

	static void tx_free(ubp_dev *d, ubp_txbuf *buf)
	{
		home(d)->pool_.give(static_cast<Block *>(buf->cookie));
	}

	static void rx_free(ubp_dev *d, void *cookie)
	{
		home(d)->pool_.give(static_cast<Block *>(cookie));
	}

	// A channel's home pointer holds the deadline under which it is in timers_
	static void timer(ubp_tp *tp, u64 when)
	{
		Endpoint *e = home(ubp_tp_dev(tp));

		timer_cancel(tp);
		e->timers_.emplace(when, tp);
		ubp_tp_set_home(tp, reinterpret_cast<void *>(when));
	}

	static void timer_cancel(ubp_tp *tp)
	{
		Endpoint *e = home(ubp_tp_dev(tp));

		e->timers_.erase({reinterpret_cast<u64>(ubp_tp_home(tp)), tp});
	}

	static void engine_later(ubp_jetty *j)
	{
		home(ubp_jetty_dev(j))->later_.push_back(ubp_jetty_id(j));
	}

	static void jetty_timer(ubp_jetty *j, u64 when)
	{
		home(ubp_jetty_dev(j))->jetty_timers_.emplace(when, ubp_jetty_id(j));
	}

	static void jfc_event(ubp_jfc *jfc)
	{
		static_cast<Sink *>(ubp_jfc_home(jfc))->completion(ubp_jfc_id(jfc));
	}

	static void jfc_timer(ubp_dev *d, u32 id, u64 when)
	{
		home(d)->jfc_timers_.emplace(when, id);
	}

	static void event(ubp_dev *d, u32 type, u32 sub, u32 num)
	{
		u32 object = UBOE_MBOX_JETTY;

		if (type == UBOE_EV_ENTITY) {
			for (Sink *s : home(d)->watchers_)
				s->event(type, sub, num);
			return;
		}
		if (type == UBOE_EV_JFR_LIMIT || (type == UBOE_EV_JETTY && sub == UBOE_EV_SUB_JFR))
			object = UBOE_MBOX_JFR;
		else if (type == UBOE_EV_JETTY && sub == UBOE_EV_SUB_JFC)
			object = UBOE_MBOX_JFC;
		if (Sink *s = home(d)->sink_of(object, num))
			s->event(type, sub, num);
	}

	static void share_wanted(ubp_dev *d, const u8 *, const u8 *raddr)
	{
		Address peer;

		std::memcpy(peer.bytes.data(), raddr, peer.bytes.size());
		home(d)->wanted_.push_back(peer);
	}

	static constexpr ubp_ops table{
		.now = now,
		.random = random,
		.zalloc = zalloc,
		.free_later = free_later,
		.bus_map = bus_map,
		.seg_map = seg_map,
		.seg_unmap = seg_unmap,
		.path_init = path_init,
		.path_exit = path_exit,
		.path_mtu = path_mtu,
		.path_link = path_link,
		.tx_alloc = tx_alloc,
		.tx_send = tx_send,
		.tx_free = tx_free,
		.rx_free = rx_free,
		.timer = timer,
		.timer_cancel = timer_cancel,
		.engine_later = engine_later,
		.jfc_event = jfc_event,
		.jfc_timer = jfc_timer,
		.event = event,
		.share_wanted = share_wanted,
		.jetty_timer = jetty_timer,
	};
};

int Endpoint::get(const Address &address, std::shared_ptr<Endpoint> &out)
{
	const std::lock_guard hold(registry_lock);
	std::weak_ptr<Endpoint> &known = registry()[address];

	out = known.lock();
	if (out)
		return 0;
	std::shared_ptr<Endpoint> fresh(new Endpoint(address));
	if (int err = fresh->start())
		return err;
	known = fresh;
	out = std::move(fresh);
	return 0;
}

Endpoint::Endpoint(const Address &address)
	: jetties(first_well_known_jetty, first_jetty, first_jetty + UBOE_MAX_JETTY),
	  receive_queues(1, 1, 1 + UBOE_MAX_JETTY), completion_queues(1, 1, 1 + UBOE_MAX_JETTY),
	  segments(1, 1, 1u << 20), groups(1, 1, 1 + UBOE_MAX_JGRP), address_(address),
	  stats_(UBP_S_MAX)
{
}

const char *ub_port()
{
	const char *name = std::getenv("URMA_INPROC_UB_PORT");

	return name && *name ? name : nullptr;
}

int Endpoint::start()
{
	const char *ub = ub_port();

	ubp_config_defaults(&dev_.cfg);
	if (ub)
		link_ = std::make_unique<UbPort>(pool_, dev_, ub);
	else
		link_ = std::make_unique<Socket>(pool_);
	if (int err = link_->open(address_, dev_.cfg.udp_port, dev_.cfg.hop_limit))
		return err;
	// a window of packets has to fit the socket's buffer, where each takes
	// about half as much again as it is long
	dev_.cfg.window = static_cast<u16>(
		std::clamp(std::bit_floor(link_->receive_buffer() / 8192), 64u, 512u));
	wake_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (wake_fd_ < 0)
		return errno;
	dev_.ops = &Ops::table;
	dev_.stats = stats_.data();
	dev_.home = this;
	if (int err = ubp_dev_init(&dev_))
		return -err;
	dev_up_ = true;
	dev_.native = link_->native();
	start_thread();
	return 0;
}

/// Signals are for the program's own threads.
void Endpoint::start_thread()
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	thread_ = std::thread(&Endpoint::run, this);
	pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Endpoint::~Endpoint()
{
	if (thread_.joinable()) {
		stop_ = true;
		wake();
		thread_.join();
	}
	if (dev_up_) {
		for (u32 n = 1; n < next_channel_; ++n)
			command(UBOE_MBOX_TP, UBOE_MBOX_DESTROY, n, nullptr, 0, nullptr, 0,
				nullptr);
		ubp_dev_exit(&dev_);
		end_section();
	}
	if (wake_fd_ >= 0)
		close(wake_fd_);
}

u32 Endpoint::mtu_to(const Address &peer) const
{
	if (peer.is_v4() != address_.is_v4())
		return 0;
	const u32 fits = link_->receive_buffer() / dev_.cfg.window / 3 * 2;
	const u32 mtu = ubp_mtu_for_link(link_->route_mtu(peer));

	return std::min(mtu, std::max<u32>(std::bit_floor(fits), UB_MTU_MIN));
}

int Endpoint::set_congestion_control(const ubp_cc_conf &wanted)
{
	const Lock hold(lock_);

	if (cc_is_set_ && std::memcmp(&dev_.cfg.cc, &wanted, sizeof(wanted)))
		return EBUSY;
	if (!ubp_cc_can(&dev_, wanted.alg))
		return ENODEV;
	dev_.cfg.cc = wanted;
	cc_is_set_ = true;
	return 0;
}

// With lock_ held. Both ends may ask at once, and one peer several times
int Endpoint::make_channel(const Address &peer, u32 &channel)
{
	uboe_tp_ctx tp{};

	channel = ubp_share_find(&dev_, address_.bytes.data(), peer.bytes.data());
	if (channel)
		return 0;
	const u32 mtu = mtu_to(peer);

	if (!mtu)
		return ENETUNREACH;
	std::memcpy(tp.laddr, address_.bytes.data(), sizeof(tp.laddr));
	std::memcpy(tp.raddr, peer.bytes.data(), sizeof(tp.raddr));
	tp.sport = UB_UDP_PORT; // the socket's only one
	tp.retrans = 0xff;
	tp.cc = congestion_control();
	tp.mtu = static_cast<u16>(mtu);
	tp.window = static_cast<u16>(std::min<u32>(dev_.cfg.window, 256));
	tp.timeout_ns = 1; // as soon as the device gives anybody up
	const u32 create = u32{UBOE_MBOX_TP} | u32{UBOE_MBOX_CREATE};
	const int err = -ubp_mbox_exec(&dev_, create, next_channel_, &tp, sizeof(tp), nullptr, 0);

	if (!err)
		channel = next_channel_++;
	return err == EINVAL ? ENOSPC : err; // no more numbers
}

int Endpoint::channel_to(const Address &peer, u32 &channel)
{
	const Lock hold(lock_);
	const int err = make_channel(peer, channel);

	end_section();
	return err;
}

void Endpoint::make_wanted()
{
	for (const Address &peer : std::exchange(wanted_, {})) {
		const u32 before = next_channel_;
		u32 channel;

		// in vain: the peer asks again
		if (asked_ < max_asked && !make_channel(peer, channel))
			ubp_share_open(&dev_, channel);
		asked_ += next_channel_ - before;
	}
}

int Endpoint::command(u32 object, u32 verb, u32 id, const void *in, u32 in_len, void *out,
		      u32 out_len, Sink *sink)
{
	const Lock hold(lock_);
	const int err =
		-ubp_mbox_exec(&dev_, UBOE_MBOX_CMD(object, verb), id, in, in_len, out, out_len);

	if (!err && verb == UBOE_MBOX_CREATE && sink) {
		ubp_set_home(&dev_, object, id, sink);
		sinks_[key(object, id)] = sink;
	} else if (!err && verb == UBOE_MBOX_DESTROY) {
		sinks_.erase(key(object, id));
	}
	end_section();
	return err;
}

void Endpoint::set_segmentation(bool on)
{
	const Lock hold(lock_);

	link_->set_segmentation(on);
}

void Endpoint::watch(Sink *sink)
{
	const Lock hold(lock_);

	watchers_.insert(sink);
}

void Endpoint::unwatch(Sink *sink)
{
	const Lock hold(lock_);

	watchers_.erase(sink);
}

Sink *Endpoint::sink_of(u32 object, u32 id) const
{
	const auto it = sinks_.find(key(object, id));

	return it == sinks_.end() ? nullptr : it->second;
}

void Endpoint::kick(u32 jetty)
{
	const Lock hold(lock_);
	unsigned slices = 0;

	while (ubp_drive_id(&dev_, jetty) > 0) {
		if (++slices == slices_per_kick) {
			ubp_leave_id(&dev_, jetty);
			break;
		}
		receive();
	}
	end_section();
}

void Endpoint::progress()
{
	polls_.fetch_add(1, std::memory_order_relaxed);
	const Lock hold(lock_, std::try_to_lock);

	if (hold)
		turn();
}

void Endpoint::park()
{
	parked_ = true;
	wake();
}

void Endpoint::wake()
{
	const u64 one = 1;

	(void)!write(wake_fd_, &one, sizeof(one));
}

/// Does the core keep the packet?
bool Endpoint::hand_over(Block *b)
{
	// the kernel has checked what it does not show us
	ubp_rxpkt pkt{b->packet(address_.is_v4()), b->len, true, UBP_MARK_AS_IP, 0, b};

	if (!link_->native())
		return ubp_rx(&dev_, &pkt);
	pkt.data -= UB_NATIVE_LEN;
	pkt.len += UB_NATIVE_LEN;
	pkt.csum_ok = false;
	return ubp_rx_native(&dev_, &pkt);
}

void Endpoint::receive()
{
	link_->flush();
	link_->fetch();
	while (Block *b = link_->next()) {
		if (!hand_over(b))
			pool_.give(b);
	}
}

bool Endpoint::run_timers()
{
	if (timers_.empty() && jfc_timers_.empty() && jetty_timers_.empty())
		return false;
	const u64 now = monotonic_ns();
	bool any = false;

	while (!timers_.empty() && timers_.begin()->first <= now) {
		ubp_tp *tp = timers_.begin()->second;

		timers_.erase(timers_.begin());
		ubp_timer(tp);
		any = true;
	}
	while (!jfc_timers_.empty() && jfc_timers_.begin()->first <= now) {
		const u32 id = jfc_timers_.begin()->second;

		jfc_timers_.erase(jfc_timers_.begin());
		ubp_jfc_timer(&dev_, id);
		any = true;
	}
	while (!jetty_timers_.empty() && jetty_timers_.begin()->first <= now) {
		const u32 id = jetty_timers_.begin()->second;

		jetty_timers_.erase(jetty_timers_.begin());
		ubp_kick_id(&dev_, id);
		any = true;
	}
	return any;
}

bool Endpoint::run_engine()
{
	std::vector<u32> work, starved;

	work.swap(later_);
	starved.swap(starved_);
	for (u32 id : work)
		ubp_kick_id(&dev_, id);
	for (u32 tpn : starved)
		if (ubp_tp *tp = ubp_tp_find(&dev_, tpn))
			ubp_resume(tp);
	return !work.empty();
}

void Endpoint::turn()
{
	for (unsigned n = 0; n < rounds_per_turn; ++n) {
		receive();
		const bool timers = run_timers();
		const bool engine = run_engine();

		make_wanted();

		if (!timers && !engine)
			break;
	}
	end_section();
}

// Before the lock is given up: packets leave, memory is freed, and the thread is
// woken when it would sleep too long for what there is to do now.
void Endpoint::end_section()
{
	link_->flush();
	for (void *p : garbage_)
		std::free(p);
	garbage_.clear();

	if (next_due() < planned_) {
		planned_ = 0;
		wake();
	}
}

// When the core has to be entered next if nothing happens; 0: at once
u64 Endpoint::next_due() const
{
	if (!later_.empty() || !wanted_.empty())
		return 0;
	const u64 due = std::min({timers_.empty() ? never : timers_.begin()->first,
				  jfc_timers_.empty() ? never : jfc_timers_.begin()->first,
				  jetty_timers_.empty() ? never : jetty_timers_.begin()->first});

	return starved_.empty() ? due : std::min(due, monotonic_ns() + ns_per_ms);
}

bool Endpoint::polled_lately()
{
	const u64 now = polls_.load(std::memory_order_relaxed);
	const bool polled = now != polls_seen_;

	polls_seen_ = now;
	return !parked_.exchange(false) && polled;
}

void Endpoint::wait(u64 deadline)
{
	const u64 now = monotonic_ns();
	const bool polled = polled_lately();
	pollfd fds[2] = {{wake_fd_, POLLIN, 0}, {link_->fd(), POLLIN, 0}};
	timespec t;

	if (polled)
		deadline = std::min(deadline, now + poller_grace_ns);
	const u64 ns = deadline > now ? std::min(deadline - now, 1000 * ns_per_ms) : 0;
	t.tv_sec = static_cast<time_t>(ns / 1000000000);
	t.tv_nsec = static_cast<long>(ns % 1000000000);
	ppoll(fds, polled ? 1 : 2, &t, nullptr);
	if (fds[0].revents) {
		u64 n;
		(void)!read(wake_fd_, &n, sizeof(n));
	}
}

void Endpoint::run()
{
	while (!stop_) {
		u64 due;
		{
			const Lock hold(lock_);

			planned_ = 0;
			turn();
			due = next_due();
			planned_ = due;
		}
		if (due)
			wait(due);
		else
			std::this_thread::yield();
	}
}

} // namespace uboe::inproc
