// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Figures of the in-process device that are no comparison: what objects cost in memory
// and time, one by one and 65,536 of them, and what the first message to a peer costs.
#include "figures.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>

#include <malloc.h>

#include "error.hpp"
#include "link.hpp"
#include "rig.hpp"

namespace {

std::atomic<std::uint64_t> ring_bytes; // asked for by aligned_alloc(), ever

} // namespace

/// The in-process device takes rings, records and pages of queues as whole pages of
/// aligned_alloc(): counted here on the way.
extern "C" void *aligned_alloc(std::size_t alignment, std::size_t size) noexcept
{
	if (alignment == 4096)
		ring_bytes += size;
	return memalign(alignment, size);
}

namespace uboe::bench {

namespace {

constexpr std::uint32_t many = 65536;
constexpr std::uint32_t some = 1024;
constexpr std::uint64_t room_for_many = 3ull << 29; // bytes; most of it are pages of rings
constexpr unsigned new_peers = 8;
constexpr std::uint32_t connections = 64;

void say(const std::string &name, double value, const std::string &unit)
{
	std::cout << "figure " << name << ' ' << value << ' ' << unit << std::endl;
}

std::uint64_t heap()
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/// From its making on: time, bytes of rings, and other bytes of the heap.
struct Cost {
	const std::uint64_t rings_before = ring_bytes, heap_before = heap(), start = now_ns();
	double microseconds = 0, rings = 0, others = 0;

	void end()
	{
		microseconds = static_cast<double>(now_ns() - start) / 1000;
		rings = static_cast<double>(ring_bytes - rings_before);
		others = static_cast<double>(heap() - heap_before) - rings;
	}
};

/// The C API's objects of one kind; what was made is destroyed.
struct Kind {
	std::string name;
	std::function<void *()> create;
	std::function<void(void *)> destroy;
};

/// The objects of a context that others need.
struct Base {
	explicit Base(const std::string &address) : context(open_inproc(address))
	{
		urma_jfc_cfg_t jfc_cfg{};

		jfc_cfg.depth = 64;
		jfc = urma_create_jfc(context.native(), &jfc_cfg);
		require(jfc, "urma_create_jfc");
		for (const urma_transport_mode_t mode : {URMA_TM_RC, URMA_TM_RM}) {
			urma_jfr_cfg_t cfg = jfr_cfg(mode);
			jfr[mode == URMA_TM_RM] = urma_create_jfr(context.native(), &cfg);
			require(jfr[mode == URMA_TM_RM], "urma_create_jfr");
		}
	}
	~Base()
	{
		for (urma_jfr_t *r : jfr)
			urma_delete_jfr(r);
		urma_delete_jfc(jfc);
	}

	urma_jfr_cfg_t jfr_cfg(urma_transport_mode_t mode) const
	{
		urma_jfr_cfg_t cfg{};

		cfg.depth = 64;
		cfg.trans_mode = mode;
		cfg.max_sge = 1;
		cfg.jfc = jfc;
		return cfg;
	}

	Kind jetties(urma_transport_mode_t mode, std::uint32_t depth)
	{
		const auto create = [this, mode, depth]() -> void * {
			urma_jetty_cfg_t cfg{};

			cfg.flag.bs.share_jfr = URMA_SHARE_JFR;
			cfg.shared.jfr = jfr[mode == URMA_TM_RM];
			cfg.jfs_cfg.depth = depth;
			cfg.jfs_cfg.trans_mode = mode;
			cfg.jfs_cfg.max_sge = 1;
			cfg.jfs_cfg.jfc = jfc;
			return urma_create_jetty(context.native(), &cfg);
		};
		const auto destroy = [](void *j) {
			urma_delete_jetty(static_cast<urma_jetty_t *>(j));
		};
		return {(mode == URMA_TM_RM ? "RM-jetty-q" : "RC-jetty-q") + std::to_string(depth),
			create, destroy};
	}

	Kind receive_queues()
	{
		const auto create = [this]() -> void * {
			urma_jfr_cfg_t cfg = jfr_cfg(URMA_TM_RM);
			return urma_create_jfr(context.native(), &cfg);
		};
		const auto destroy = [](void *r) { urma_delete_jfr(static_cast<urma_jfr_t *>(r)); };
		return {"JFR-q64", create, destroy};
	}

	Kind groups()
	{
		const auto create = [this]() -> void * {
			urma_jetty_grp_cfg_t cfg{};
			return urma_create_jetty_grp(context.native(), &cfg);
		};
		const auto destroy = [](void *g) {
			urma_delete_jetty_grp(static_cast<urma_jetty_grp_t *>(g));
		};
		return {"group", create, destroy};
	}

	urma::Context context;
	urma_jfc_t *jfc = nullptr;
	urma_jfr_t *jfr[2] = {}; // for RC, for RM
};

/// Makes @p count of a kind, and destroys them.
void measure_objects(const Kind &kind, std::uint32_t count, bool until_full)
{
	const std::string name = kind.name + (count == some ? "" : "-" + std::to_string(count));
	std::vector<void *> made(count);

	Cost cost;
	for (void *&object : made) {
		object = kind.create();
		require(object, ("create " + name).c_str());
	}
	cost.end();
	if (until_full) {
		if (kind.create())
			throw Failure(name + ": one more than the device has was created");
		say(name + "-one-more", errno, std::string("errno:") + strerrorname_np(errno));
		say(name + "-memory", (cost.rings + cost.others) / (1 << 20), "MiB");
		say(name + "-create", cost.microseconds / 1e6, "s");
	} else {
		say(name + "-memory", cost.others / count, "B");
		say(name + "-rings", cost.rings / count, "B");
		say(name + "-create", cost.microseconds / count, "us");
	}
	const std::uint64_t start = now_ns();
	for (auto object = made.rbegin(); object != made.rend(); ++object)
		kind.destroy(*object);
	const double time = static_cast<double>(now_ns() - start) / 1000;
	say(name + "-destroy", until_full ? time / 1e6 : time / count, until_full ? "s" : "us");
}

std::uint64_t available_memory()
{
	std::ifstream in("/proc/meminfo");
	std::string name, rest;
	std::uint64_t kib;

	while (in >> name >> kib && std::getline(in, rest))
		if (name == "MemAvailable:")
			return kib << 10;
	return 0;
}

void objects(const std::string &address)
{
	Base base(address);
	const auto rc = URMA_TM_RC, rm = URMA_TM_RM;

	for (const Kind &kind : {base.jetties(rc, 64), base.jetties(rc, 512), base.jetties(rm, 64),
				 base.receive_queues(), base.groups()})
		measure_objects(kind, some, false);
	if (available_memory() < room_for_many) {
		std::cerr << "bench: figures of 65,536 objects are left out: they take "
			  << (room_for_many >> 20) << " MiB\n";
		return;
	}
	measure_objects(base.jetties(rc, 1), many, true);
	measure_objects(base.jetties(rm, 1), many, true);
	measure_objects(base.groups(), many, true);
	// Two of them are the base's
	measure_objects(base.receive_queues(), many - 2, true);
}

/// An end that Writes 8 bytes: its memory and queues.
struct Writer {
	explicit Writer(const std::string &address, bool rm)
		: context(open_inproc(address)),
		  memory(urma::LocalSegment::allocate(context, 4096,
						      {.access = urma::Access::write})),
		  queue(context, {.depth = 16384}),
		  receives(context, queue,
			   {.depth = 64, .mode = rm ? urma::Mode::rm : urma::Mode::rc})
	{
	}

	Link link(bool rm) { return Link(context, queue, receives, {.depth = 16}, rm); }

	/// Posts one and waits for its completion.
	void write(const Link &link, const urma::RemoteSegment &to)
	{
		urma_user_tseg_t key{};
		urma_sge_t here{memory.native()->seg.ubva.va, 8, memory.native(), nullptr};
		urma_sge_t there{to.va, 8, nullptr, &key};
		urma_jfs_wr_t wr{}, *bad = nullptr;
		urma_cr_t record;

		key.attr.bs.token_policy = URMA_TOKEN_PLAIN_TEXT;
		key.token_id = static_cast<std::uint32_t>(to.id) << 8;
		key.token_value.token =
			static_cast<std::uint32_t>(to.token.value_or(urma::Token{}));
		wr.opcode = URMA_OPC_WRITE;
		wr.tjetty = link.target();
		wr.flag.bs.complete_enable = 1;
		wr.rw = {{&here, 1}, {&there, 1}, 0, 0};
		if (urma_post_jetty_send_wr(link.native(), &wr, &bad))
			throw Failure("posting a Write failed");
		Patience patience(64);
		while (urma_poll_jfc(queue.native(), 1, &record) == 0)
			patience.idle();
		if (record.status != URMA_CR_SUCCESS)
			throw Failure("a Write failed with completion status " +
				      std::to_string(record.status));
	}

	urma::Context context;
	urma::LocalSegment memory;
	urma::CompletionQueue queue;
	urma::ReceiveQueue receives;
};

double median(std::vector<double> &values)
{
	std::sort(values.begin(), values.end());
	return values[values.size() / 2];
}

/// The passive side: connections and, at addresses of their own, peers for RM.
void serve(const std::string &address, const std::vector<std::string> &peers, Stream &stream)
{
	std::vector<std::string> all = peers;

	all.push_back(address);
	offer_inproc(all);
	Writer rc(address, false);
	std::vector<Link> links;
	std::vector<std::unique_ptr<Writer>> targets;
	std::vector<Link> rm;

	for (std::uint32_t i = 0; i < connections; ++i)
		links.push_back(rc.link(false));
	stream.send_line("segment " + rc.memory.remote().text());
	for (Link &link : links) {
		stream.send_line("jetty " + link.remote().text());
		const std::string line = stream.expect("jetty");
		urma::check(link.join(rc.context, urma::RemoteJetty::parse(std::string_view(line))),
			    "bind to " + line);
	}
	for (const std::string &peer : peers) {
		targets.push_back(std::make_unique<Writer>(peer, true));
		rm.push_back(targets.back()->link(true));
		stream.send_line("segment " + targets.back()->memory.remote().text());
		stream.send_line("jetty " + rm.back().remote().text());
	}
	stream.expect("quit");
}

void measure_connections(Writer &writer, Stream &stream)
{
	const std::string text = stream.expect("segment");
	const auto segment = urma::RemoteSegment::parse(std::string_view(text));
	std::vector<Link> links;
	std::vector<std::string> peers;
	std::vector<double> binds, firsts, seconds;

	for (std::uint32_t i = 0; i < connections; ++i) {
		links.push_back(writer.link(false));
		peers.push_back(stream.expect("jetty"));
		stream.send_line("jetty " + links.back().remote().text());
	}
	const std::uint64_t before = heap();
	for (std::uint32_t i = 0; i < connections; ++i) {
		const std::uint64_t start = now_ns();
		urma::check(links[i].join(writer.context,
					  urma::RemoteJetty::parse(std::string_view(peers[i]))),
			    "bind");
		const std::uint64_t bound = now_ns();
		writer.write(links[i], segment);
		const std::uint64_t first = now_ns();
		writer.write(links[i], segment);
		binds.push_back(static_cast<double>(bound - start) / 1000);
		firsts.push_back(static_cast<double>(first - start) / 1000);
		seconds.push_back(static_cast<double>(now_ns() - first) / 1000);
	}
	say("RC-bind-memory", static_cast<double>(heap() - before) / connections, "B");
	say("RC-bind", median(binds), "us");
	say("RC-bind-and-first-write", median(firsts), "us");
	say("RC-second-write", median(seconds), "us");
}

void measure_new_peers(Writer &writer, Stream &stream)
{
	const Link own = writer.link(true);
	std::vector<double> firsts, seconds;
	std::uint64_t memory = 0;

	for (unsigned i = 0; i < new_peers; ++i) {
		const std::string segment_text = stream.expect("segment");
		const auto segment = urma::RemoteSegment::parse(std::string_view(segment_text));
		const std::string jetty_text = stream.expect("jetty");
		Link link = writer.link(true);
		const std::uint64_t before = heap(), start = now_ns();
		urma::check(link.join(writer.context,
				      urma::RemoteJetty::parse(std::string_view(jetty_text))),
			    "import");
		writer.write(link, segment);
		const std::uint64_t first = now_ns();
		memory += heap() - before;
		writer.write(link, segment);
		firsts.push_back(static_cast<double>(first - start) / 1000);
		seconds.push_back(static_cast<double>(now_ns() - first) / 1000);
	}
	say("RM-peer-memory", static_cast<double>(memory) / new_peers, "B");
	say("RM-first-write-to-a-peer", median(firsts), "us");
	say("RM-second-write", median(seconds), "us");
}

} // namespace

void offer_inproc(const std::vector<std::string> &addresses)
{
	std::string list;

	for (const std::string &address : addresses)
		list += (list.empty() ? "" : ",") + address;
	setenv("URMA_INPROC_EIDS", list.c_str(), 1);
}

urma::Context open_inproc(const std::string &address)
{
	return urma::Context(urma::Device::of("inproc0"), urma::Eid::of(address));
}

void print_figures(const std::vector<std::string> &addresses)
{
	if (addresses.size() != 2 + new_peers)
		throw Failure("figures: want an address here and " + std::to_string(1 + new_peers) +
			      " there");
	const std::vector<std::string> peers(addresses.begin() + 2, addresses.end());
	Child child([&](Stream &stream) { serve(addresses[1], peers, stream); });

	offer_inproc({addresses[0]});
	{
		Writer rc(addresses[0], false), rm(addresses[0], true);

		measure_connections(rc, child.stream());
		measure_new_peers(rm, child.stream());
	}
	objects(addresses[0]);
}

} // namespace uboe::bench
