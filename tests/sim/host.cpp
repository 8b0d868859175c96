// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "host.hpp"
#include "ubport.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

extern "C" {
#include "ubp_tp.h" /* numbers of the objects that callbacks name */
}

namespace ubsim
{

namespace
{
constexpr std::uint8_t canary = 0xc5;
constexpr std::size_t canary_len = 16; /* on each side of a chunk */

/* Programming errors of the core against its home end the process. */
[[noreturn]] void die(const char *what)
{
	std::fprintf(stderr, "ubsim: the core broke its contract: %s\n", what);
	std::abort();
}
} /* namespace */

address address::v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d)
{
	return { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d } };
}

address address::v6(std::uint16_t net, std::uint16_t n)
{
	address r{ { 0x20, 0x01, 0x0d, 0xb8 } };

	r.b[4] = static_cast<std::uint8_t>(net >> 8);
	r.b[5] = static_cast<std::uint8_t>(net);
	r.b[14] = static_cast<std::uint8_t>(n >> 8);
	r.b[15] = static_cast<std::uint8_t>(n);
	return r;
}

memory::memory(std::uint64_t va, std::uint64_t len, unsigned chunk_shift)
	: va_(va), len_(len), off_(va & ((1ull << chunk_shift) - 1)), shift_(chunk_shift)
{
	std::uint64_t n = (off_ + len + (1ull << shift_) - 1) >> shift_;
	std::size_t size = (std::size_t(1) << shift_) + 2 * canary_len;

	for (std::uint64_t i = 0; i < n; i++) {
		store_.push_back(std::make_unique_for_overwrite<std::uint8_t[]>(size));
		std::uint8_t *p = store_.back().get();
		/* all of a chunk that is not in the range is canary */
		std::size_t from = canary_len + (i ? 0 : std::size_t(off_));
		std::size_t to = i + 1 < n ? size - canary_len :
					     canary_len + std::size_t(off_ + len - (i << shift_));

		std::memset(p, canary, from);
		std::memset(p + from, 0, to - from);
		std::memset(p + to, canary, size - to);
		chunks_.push_back(p + canary_len);
	}
}

template <class F> void memory::walk(std::uint64_t off, std::size_t n, F &&f) const
{
	std::uint64_t at = off_ + off;
	std::size_t done = 0;

	while (done < n) {
		std::uint64_t in = at & ((1ull << shift_) - 1);
		std::size_t m = std::min<std::uint64_t>(n - done, (1ull << shift_) - in);

		f(static_cast<std::uint8_t *>(chunks_[at >> shift_]) + in, done, m);
		done += m;
		at += m;
	}
}

void memory::write(std::uint64_t off, const void *src, std::size_t n)
{
	walk(off, n, [=](std::uint8_t *p, std::size_t at, std::size_t m) {
		std::memcpy(p, static_cast<const std::uint8_t *>(src) + at, m);
	});
}

void memory::read(std::uint64_t off, void *dst, std::size_t n) const
{
	walk(off, n, [=](std::uint8_t *p, std::size_t at, std::size_t m) {
		std::memcpy(static_cast<std::uint8_t *>(dst) + at, p, m);
	});
}

std::size_t memory::compare(std::uint64_t off, const void *want, std::size_t n) const
{
	const std::uint8_t *w = static_cast<const std::uint8_t *>(want);
	std::size_t bad = n;

	walk(off, n, [&](std::uint8_t *p, std::size_t at, std::size_t m) {
		if (bad != n || !std::memcmp(p, w + at, m))
			return;
		bad = at + std::size_t(std::mismatch(p, p + m, w + at).first - p);
	});
	return bad;
}

std::uint64_t memory::load(std::uint64_t off, unsigned size) const
{
	std::uint64_t v = 0;

	read(off, &v, size);
	return v;
}

bool memory::canaries_ok() const
{
	std::size_t chunk = std::size_t(1) << shift_;
	auto clean = [](const std::uint8_t *b, std::size_t n) {
		return std::all_of(b, b + n, [](std::uint8_t v) { return v == canary; });
	};

	for (std::size_t i = 0; i < store_.size(); i++) {
		const std::uint8_t *p = store_[i].get();

		if (!clean(p, canary_len) || !clean(p + canary_len + chunk, canary_len))
			return false;
	}
	if (store_.empty())
		return true;
	std::size_t end = std::size_t((off_ + len_ - 1) & (chunk - 1)) + 1;

	return clean(store_[0].get() + canary_len, std::size_t(off_)) &&
	       clean(store_.back().get() + canary_len + end, chunk - end);
}

namespace
{
struct rx_cookie {
	bytes data;
};

host *home(ubp_dev *dev)
{
	return static_cast<host *>(dev->home);
}
} /* namespace */

struct host::ops {
	static u64 now(ubp_dev *d) { return home(d)->now(); }
	static u32 random(ubp_dev *d) { return home(d)->random(); }

	static void *zalloc(ubp_dev *d, size_t len)
	{
		host *h = home(d);

		if (h->no_memory)
			return nullptr;
		h->live_alloc_++;
		return std::calloc(1, len);
	}

	static void free_later(ubp_dev *d, void *p) { home(d)->garbage_.push_back(p); }

	static void *bus_map(ubp_dev *d, u64 bus, u64 len)
	{
		host *h = home(d);
		auto it = h->arenas_.upper_bound(bus);

		if (it == h->arenas_.begin())
			return nullptr;
		const dma &a = std::prev(it)->second;
		u64 off = bus - a.bus;

		return off <= a.len && len <= a.len - off ? a.p + off : nullptr;
	}

	static int seg_map(ubp_dev *d, ubp_seg *seg, u64 pbl)
	{
		host *h = home(d);
		auto it = h->pbl_.find(pbl);

		if (it == h->pbl_.end())
			return -EINVAL;
		memory *m = it->second;

		if (seg->off + seg->len > m->off() + m->len() ||
		    seg->chunk_shift != m->chunk_shift())
			return -EINVAL;
		seg->chunk = m->chunks();
		seg->home = m;
		h->live_seg_++;
		return 0;
	}

	static void seg_unmap(ubp_dev *d, ubp_seg *seg)
	{
		seg->chunk = nullptr;
		home(d)->live_seg_--;
	}

	static int path_init(ubp_dev *d, ubp_path *)
	{
		home(d)->live_path_++;
		return 0;
	}

	static void path_exit(ubp_dev *d, ubp_path *) { home(d)->live_path_--; }
	static u32 path_mtu(ubp_dev *d, ubp_path *path) { return home(d)->way_mtu(*path); }

	static u32 path_link(ubp_dev *d, ubp_path *path) { return home(d)->way_link(*path); }

	static bool tx_alloc(ubp_dev *d, ubp_path *path, u32 len, ubp_txbuf *buf)
	{
		host *h = home(d);

		if (!h->tx_room(*path))
			return false;
		auto *b = new bytes(len);

		h->live_tx_++;
		buf->data = b->data();
		buf->len = len;
		buf->cookie = b;
		return true;
	}

	static void tx_send(ubp_dev *d, ubp_path *path, ubp_txbuf *buf)
	{
		std::unique_ptr<bytes> b(static_cast<bytes *>(buf->cookie));

		if (buf->len != b->size())
			die("a packet has another length than its buffer");
		home(d)->live_tx_--;
		if (d->native && home(d)->border && buf->cci)
			return;
		if (d->native)
			*b = home(d)->switch_->forward(*d, *b, buf->cci, home(d)->now());
		home(d)->sent(*path, std::move(*b));
	}

	static void tx_free(ubp_dev *d, ubp_txbuf *buf)
	{
		home(d)->live_tx_--;
		delete static_cast<bytes *>(buf->cookie);
	}

	static void rx_free(ubp_dev *d, void *cookie)
	{
		home(d)->live_rx_--;
		delete static_cast<rx_cookie *>(cookie);
	}

	static void timer(ubp_tp *tp, u64 when) { home(ubp_tp_dev(tp))->set_timer(tp, when); }
	static void timer_cancel(ubp_tp *tp) { home(ubp_tp_dev(tp))->cancel_timer(tp); }
	static void engine_later(ubp_jetty *j) { home(ubp_jetty_dev(j))->later(j); }
	static void jfc_event(ubp_jfc *jfc) { home(jfc->dev)->jfc_fired(jfc); }

	static void jetty_timer(ubp_jetty *j, u64 when)
	{
		home(ubp_jetty_dev(j))->set_jetty_timer(j, when);
	}
	static void jfc_timer(ubp_dev *d, u32 id, u64 when) { home(d)->set_jfc_timer(id, when); }

	static void event(ubp_dev *d, u32 type, u32 sub, u32 num)
	{
		home(d)->happened({ type, sub, num });
	}

	static void share_wanted(ubp_dev *d, const u8 *laddr, const u8 *raddr)
	{
		std::pair<address, address> w;

		std::memcpy(w.first.b.data(), laddr, 16);
		std::memcpy(w.second.b.data(), raddr, 16);
		home(d)->wanted_.push_back(w);
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

ubp_config host::small_config()
{
	ubp_config cfg;

	ubp_config_defaults(&cfg);
	cfg.max_jetty = 4096;
	cfg.max_jfr = 4096;
	cfg.max_jfc = 4096;
	cfg.max_seg = 4096;
	cfg.max_jgrp = 4096;
	return cfg;
}

host::host(const ubp_config &cfg) : stats_(UBP_S_MAX)
{
	dev_.ops = &ops::table;
	dev_.cfg = cfg;
	dev_.stats = stats_.data();
	dev_.home = this;
	if (ubp_dev_init(&dev_))
		die("ubp_dev_init() refuses the settings");
}

void host::shutdown()
{
	ubp_dev_exit(&dev_);
	reap();
}

host::~host()
{
	shutdown();
	for (const auto &[bus, d] : arenas_)
		std::free(d.p);
}

dma host::alloc_dma(std::uint64_t len)
{
	std::uint64_t size = (len + 63) & ~63ull;
	dma d{ static_cast<std::uint8_t *>(std::aligned_alloc(64, size)), next_bus_, len };

	std::memset(d.p, 0, size);
	next_bus_ += (size + 0x1fff) & ~0xfffull; /* at least a page apart */
	arenas_[d.bus] = d;
	return d;
}

void host::free_dma(const dma &d)
{
	arenas_.erase(d.bus);
	std::free(d.p);
}

int host::destroy(std::uint32_t obj, std::uint32_t tag)
{
	return ubp_mbox_exec(&dev_, UBOE_MBOX_CMD(obj, UBOE_MBOX_DESTROY), tag, nullptr, 0, nullptr,
			     0);
}

int host::register_memory(std::uint32_t id, std::uint32_t token, std::uint32_t pd,
			  std::uint8_t access, memory &m, std::uint8_t flags)
{
	uboe_seg_ctx ctx{};

	ctx.va = m.va();
	ctx.len = m.len();
	ctx.off = m.off();
	ctx.pbl = next_pbl_;
	ctx.token = token;
	ctx.pd = pd;
	ctx.access = access;
	ctx.flags = flags;
	ctx.chunk_shift = static_cast<std::uint8_t>(m.chunk_shift());
	pbl_[next_pbl_++] = &m;
	return create(UBOE_MBOX_SEG, id, ctx);
}

void host::set_native(bool busy)
{
	dev_.native = true;
	switch_ = std::make_unique<ub_switch>(busy);
}

void host::receive(bytes data)
{
	auto *c = new rx_cookie{ native() ? into_domain(dev_, std::move(data)) : std::move(data) };
	ubp_rxpkt pkt{ c->data.data(), static_cast<u32>(c->data.size()), false, mark, 0, c };

	live_rx_++;
	if (!(native() ? ubp_rx_native : ubp_rx)(&dev_, &pkt)) {
		live_rx_--;
		delete c;
	}
}

void host::reap()
{
	for (void *p : garbage_) {
		std::free(p);
		live_alloc_--;
	}
	garbage_.clear();
}

std::uint32_t host::random()
{
	random_ ^= random_ << 13;
	random_ ^= random_ >> 7;
	random_ ^= random_ << 17;
	return static_cast<std::uint32_t>(random_ >> 16);
}

void host::set_timer(ubp_tp *tp, std::uint64_t when)
{
	timers_[tp->tpn] = when;
}

void host::cancel_timer(ubp_tp *tp)
{
	timers_.erase(tp->tpn);
}

unsigned host::run_timers()
{
	std::vector<std::uint32_t> due;

	for (const auto &[tpn, when] : timers_)
		if (when <= now())
			due.push_back(tpn);
	for (std::uint32_t tpn : due) {
		timers_.erase(tpn);
		if (ubp_tp *tp = ubp_tp_find(&dev_, tpn))
			ubp_timer(tp);
	}
	for (auto it = jfc_timers_.begin(); it != jfc_timers_.end();) {
		const std::uint32_t id = it->first;

		if (it->second > now()) {
			++it;
			continue;
		}
		it = jfc_timers_.erase(it);
		ubp_jfc_timer(&dev_, id);
	}
	while (!jetty_timers_.empty() && jetty_timers_.begin()->first <= now()) {
		const std::uint32_t id = jetty_timers_.begin()->second;

		jetty_timers_.erase(jetty_timers_.begin());
		ubp_kick_id(&dev_, id);
	}
	return static_cast<unsigned>(due.size());
}

unsigned host::run_turns()
{
	std::vector<std::uint32_t> ids;

	ids.swap(turns_);
	for (std::uint32_t id : ids)
		kick(id);
	return static_cast<unsigned>(ids.size());
}

} /* namespace ubsim */
