// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Traffic management by uboe/urma_ext.h: the tree of a device, and limits of jetties.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "um_rig.hpp"

namespace urma_test
{

namespace
{

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::uint32_t most_kbps = 200000000;
constexpr std::uint32_t most_burst = 64 << 20;

using Change = std::function<void(uboe_tm_node_t &)>;

uboe_tm_node_t node(std::uint32_t level, std::uint32_t number, std::uint32_t parent = 0)
{
	uboe_tm_node_t n{};

	n.level = level;
	n.number = number;
	n.parent = parent;
	return n;
}

uboe_tm_node_t query(urma_context_t *ctx, std::uint32_t level, std::uint32_t number)
{
	uboe_tm_node_t n = node(level, number);

	EXPECT_EQ(uboe_query_tm(ctx, &n), URMA_SUCCESS) << "level " << level;
	return n;
}

bool exists(urma_context_t *ctx, std::uint32_t level, std::uint32_t number)
{
	uboe_tm_node_t n = node(level, number);
	const urma_status_t status = uboe_query_tm(ctx, &n);

	EXPECT_TRUE(status == URMA_SUCCESS || status == ENOENT) << status;
	return status == URMA_SUCCESS;
}

/// What a program has set, not what has happened since.
void expect_same(const uboe_tm_node_t &is, uboe_tm_node_t wanted)
{
	wanted.sent = is.sent;
	wanted.waiting = is.waiting;
	EXPECT_EQ(std::memcmp(&is, &wanted, sizeof(is)), 0)
		<< "level " << wanted.level << " number " << wanted.number;
}

/// Port, group 31, function 63 and queue set 127 of VL 3, which all SLs have.
class Tree
{
      public:
	explicit Tree(unsigned end = 0) : ctx(open_end(end))
	{
		EXPECT_NE(ctx, nullptr);
		port.peak_kbps = most_kbps;
		port.peak_burst = most_burst;
		group.peak_kbps = 1000000;
		group.peak_burst = 70000;
		group.committed_kbps = 1000;
		group.committed_burst = 1;
		group.prio = 7;
		group.weight = 255;
		function.peak_kbps = 500000;
		function.committed_kbps = 500000;
		function.committed_burst = 9000;
		function.prio = 1;
		function.weight = 2;
		std::fill(std::begin(function.sl_vl), std::end(function.sl_vl), 3);
		qset.peak_kbps = 400000;
		qset.peak_burst = 5000;
		qset.prio = 2;
		qset.weight = 3;
		qset.vl = 3;
		for (const uboe_tm_node_t *n : all())
			EXPECT_EQ(uboe_create_tm(ctx, n), URMA_SUCCESS) << n->level;
	}
	~Tree()
	{
		remove(UBOE_TM_QSET, 127);
		remove(UBOE_TM_FUNCTION, 63);
		remove(UBOE_TM_GROUP, 31);
		remove(UBOE_TM_PORT, 0);
		EXPECT_EQ(urma_delete_context(ctx), URMA_SUCCESS);
	}
	Tree(const Tree &) = delete;
	Tree &operator=(const Tree &) = delete;

	std::vector<uboe_tm_node_t *> all() { return { &port, &group, &function, &qset }; }
	void remove(std::uint32_t level, std::uint32_t number)
	{
		EXPECT_EQ(uboe_delete_tm(ctx, level, number), URMA_SUCCESS) << level;
	}
	void expect_unchanged()
	{
		for (const uboe_tm_node_t *n : all())
			expect_same(query(ctx, n->level, n->number), *n);
	}

	urma_context_t *ctx;
	uboe_tm_node_t port = node(UBOE_TM_PORT, 0);
	uboe_tm_node_t group = node(UBOE_TM_GROUP, 31);
	uboe_tm_node_t function = node(UBOE_TM_FUNCTION, 63, 31);
	uboe_tm_node_t qset = node(UBOE_TM_QSET, 127, 63);
};

TEST(Tm, EveryFieldOfEveryLevelIsSetAndReadBack)
{
	Tree t;
	urma_context_t *const other = open_end(0);

	t.expect_unchanged();
	for (uboe_tm_node_t *n : t.all())
		expect_same(query(other, n->level, n->number), *n);
	EXPECT_EQ(query(t.ctx, UBOE_TM_QUEUE, 127).parent, 127u);
	EXPECT_EQ(urma_delete_context(other), URMA_SUCCESS);

	struct Row {
		uboe_tm_node_t *n;
		std::uint32_t mask;
		Change change;
	};
	const Change peak = [](auto &n) { n.peak_kbps = 600000, n.peak_burst = 4000; };
	const Change none = [](auto &n) { n.peak_kbps = n.peak_burst = 0; };
	const Change promise = [](auto &n) { n.committed_kbps = 2000, n.committed_burst = 77; };
	const Change prio = [](auto &n) { n.prio = 5; };
	const Change weight = [](auto &n) { n.weight = 99; };
	const Change map = [](auto &n) {
		for (std::uint8_t i = 0; i < 16; ++i)
			n.sl_vl[i] = 15 - i;
	};
	const Change both = [](auto &n) { n.prio = 0, n.weight = 1; };
	const std::vector<Row> rows{
		{ &t.port, UBOE_TM_SET_PEAK, peak },
		{ &t.group, UBOE_TM_SET_PEAK, peak },
		{ &t.function, UBOE_TM_SET_PEAK, peak },
		{ &t.qset, UBOE_TM_SET_PEAK, peak },
		{ &t.port, UBOE_TM_SET_PEAK, none },
		{ &t.group, UBOE_TM_SET_COMMITTED, promise },
		{ &t.function, UBOE_TM_SET_COMMITTED, promise },
		{ &t.group, UBOE_TM_SET_PRIO, prio },
		{ &t.function, UBOE_TM_SET_PRIO, prio },
		{ &t.qset, UBOE_TM_SET_PRIO, prio },
		{ &t.group, UBOE_TM_SET_WEIGHT, weight },
		{ &t.function, UBOE_TM_SET_WEIGHT, weight },
		{ &t.qset, UBOE_TM_SET_WEIGHT, weight },
		{ &t.function, UBOE_TM_SET_SL_VL, map },
		{ &t.qset, UBOE_TM_SET_PRIO | UBOE_TM_SET_WEIGHT, both },
	};

	for (const Row &r : rows) {
		uboe_tm_node_t wish = node(r.n->level, r.n->number);

		wish.sent = 1; // neither is looked at
		wish.vl = 9;
		r.change(wish);
		r.change(*r.n);
		EXPECT_EQ(uboe_modify_tm(t.ctx, &wish, r.mask), URMA_SUCCESS) << r.n->level;
		t.expect_unchanged();
	}
}

TEST(Tm, ValuesUpToTheirLimits)
{
	Tree t;
	struct Row {
		const char *what;
		std::uint32_t mask;
		Change fine;
		Change beyond;
	};
	const std::vector<Row> rows{
		{ "least rate", UBOE_TM_SET_PEAK | UBOE_TM_SET_COMMITTED,
		  [](auto &n) { n.peak_kbps = 1000, n.committed_kbps = 1000; },
		  [](auto &n) { n.peak_kbps = 999, n.committed_kbps = 0; } },
		{ "least promise", UBOE_TM_SET_COMMITTED, [](auto &n) { n.committed_kbps = 1000; },
		  [](auto &n) { n.committed_kbps = 999; } },
		{ "highest rate", UBOE_TM_SET_PEAK, [](auto &n) { n.peak_kbps = most_kbps; },
		  [](auto &n) { n.peak_kbps = most_kbps + 1; } },
		{ "promise and limit", UBOE_TM_SET_COMMITTED,
		  [](auto &n) { n.committed_kbps = most_kbps; },
		  [](auto &n) { n.committed_kbps = most_kbps + 1; } },
		{ "promise beyond the limit", UBOE_TM_SET_PEAK,
		  [](auto &n) { n.peak_kbps = most_kbps; },
		  [](auto &n) { n.peak_kbps = most_kbps - 1; } },
		{ "burst", UBOE_TM_SET_PEAK,
		  [](auto &n) { n.peak_kbps = 0, n.peak_burst = most_burst; },
		  [](auto &n) { n.peak_burst = most_burst + 1; } },
		{ "promised burst", UBOE_TM_SET_COMMITTED,
		  [](auto &n) { n.committed_burst = most_burst; },
		  [](auto &n) { n.committed_burst = most_burst + 1; } },
		{ "priority", UBOE_TM_SET_PRIO, [](auto &n) { n.prio = 7; },
		  [](auto &n) { n.prio = 8; } },
		{ "weight", UBOE_TM_SET_WEIGHT, [](auto &n) { n.weight = 255; },
		  [](auto &n) { n.weight = 256; } },
		{ "least weight", UBOE_TM_SET_WEIGHT, [](auto &n) { n.weight = 1; },
		  [](auto &n) { n.weight = 0; } },
		{ "VL", UBOE_TM_SET_SL_VL, [](auto &n) { n.sl_vl[15] = 15; },
		  [](auto &n) { n.sl_vl[15] = 16; } },
	};

	for (const Row &r : rows) {
		uboe_tm_node_t wish = t.function;

		r.fine(t.function);
		r.beyond(wish);
		EXPECT_EQ(uboe_modify_tm(t.ctx, &t.function, r.mask), URMA_SUCCESS) << r.what;
		EXPECT_EQ(uboe_modify_tm(t.ctx, &wish, r.mask), URMA_EINVAL) << r.what;
		t.expect_unchanged();
	}
}

TEST(Tm, CreationIsRefused)
{
	Tree t;
	struct Row {
		const char *what;
		uboe_tm_node_t n;
		urma_status_t status;
	};
	const auto with = [](uboe_tm_node_t n, const Change &change) {
		change(n);
		return n;
	};
	const uboe_tm_node_t fresh = node(UBOE_TM_QSET, 0, 63);
	const std::vector<Row> rows{
		{ "no level", node(0, 0), URMA_EINVAL },
		{ "level 7", node(7, 0), URMA_EINVAL },
		{ "number of 25 bits", node(UBOE_TM_QSET, 1 << 24, 63), URMA_EINVAL },
		{ "port 1", node(UBOE_TM_PORT, 1), URMA_EINVAL },
		{ "group 32", node(UBOE_TM_GROUP, 32), URMA_EINVAL },
		{ "function 64", node(UBOE_TM_FUNCTION, 64, 31), URMA_EINVAL },
		{ "queue set 128", with(node(UBOE_TM_QSET, 128, 63), [](auto &n) { n.vl = 1; }),
		  URMA_EINVAL },
		{ "another port", node(UBOE_TM_PORT, 0), URMA_EEXIST },
		{ "the same group", node(UBOE_TM_GROUP, 31), URMA_EEXIST },
		{ "no such group", node(UBOE_TM_FUNCTION, 0, 30), ENOENT },
		{ "no such function", node(UBOE_TM_QSET, 0, 0), ENOENT },
		{ "the VL has one", with(fresh, [](auto &n) { n.vl = 3; }), URMA_EEXIST },
		{ "VL 16", with(fresh, [](auto &n) { n.vl = 16; }), URMA_EINVAL },
		{ "a queue", node(UBOE_TM_QUEUE, 0, 0), EOPNOTSUPP },
		{ "rate", with(fresh, [](auto &n) { n.peak_kbps = 999; }), URMA_EINVAL },
		{ "a promise", with(fresh, [](auto &n) { n.committed_kbps = 1000; }), URMA_EINVAL },
		{ "a map", with(fresh, [](auto &n) { n.sl_vl[4] = 1; }), URMA_EINVAL },
		{ "reserved", with(fresh, [](auto &n) { n.reserved[12] = 1; }), URMA_EINVAL },
		{ "a group's VL", with(node(UBOE_TM_GROUP, 0), [](auto &n) { n.vl = 1; }),
		  URMA_EINVAL },
		{ "no such jetty", node(UBOE_TM_JETTY, 0xfffff, 63), ENOENT },
	};

	for (const Row &r : rows)
		EXPECT_EQ(uboe_create_tm(t.ctx, &r.n), r.status) << r.what;
	EXPECT_EQ(uboe_create_tm(nullptr, &fresh), URMA_EINVAL);
	EXPECT_EQ(uboe_create_tm(t.ctx, nullptr), URMA_EINVAL);
	for (std::uint32_t i = 0; i < 128; ++i)
		EXPECT_EQ(exists(t.ctx, UBOE_TM_QSET, i), i == 127) << i;
	t.expect_unchanged();
}

TEST(Tm, AGroupHasRoomForEight)
{
	Tree t;

	for (std::uint32_t i = 0; i < 7; ++i) {
		const uboe_tm_node_t f = node(UBOE_TM_FUNCTION, i, 31);

		EXPECT_EQ(uboe_create_tm(t.ctx, &f), URMA_SUCCESS) << i;
	}
	EXPECT_EQ(query(t.ctx, UBOE_TM_FUNCTION, 6).weight, 1) << "when nothing is said";
	const uboe_tm_node_t ninth = node(UBOE_TM_FUNCTION, 7, 31);

	EXPECT_EQ(uboe_create_tm(t.ctx, &ninth), ENOSPC);
	EXPECT_FALSE(exists(t.ctx, UBOE_TM_FUNCTION, 7));
	for (std::uint32_t i = 0; i < 7; ++i)
		t.remove(UBOE_TM_FUNCTION, i);
}

TEST(Tm, ChangesAreRefused)
{
	Tree t;
	struct Row {
		const char *what;
		std::uint32_t level;
		std::uint32_t number;
		std::uint32_t mask;
		urma_status_t status;
	};
	const std::vector<Row> rows{
		{ "nothing", UBOE_TM_PORT, 0, 0, URMA_EINVAL },
		{ "a port has no siblings", UBOE_TM_PORT, 0, UBOE_TM_SET_PRIO, EOPNOTSUPP },
		{ "and no promise", UBOE_TM_PORT, 0, UBOE_TM_SET_COMMITTED, EOPNOTSUPP },
		{ "a group has no map", UBOE_TM_GROUP, 31, UBOE_TM_SET_SL_VL, EOPNOTSUPP },
		{ "a queue set no promise", UBOE_TM_QSET, 127, UBOE_TM_SET_COMMITTED, EOPNOTSUPP },
		{ "no such field", UBOE_TM_FUNCTION, 63, 0x20, EOPNOTSUPP },
		{ "one of two", UBOE_TM_PORT, 0, UBOE_TM_SET_PEAK | UBOE_TM_SET_WEIGHT,
		  EOPNOTSUPP },
		{ "a queue", UBOE_TM_QUEUE, 127, UBOE_TM_SET_PEAK, EOPNOTSUPP },
		{ "no such group", UBOE_TM_GROUP, 30, UBOE_TM_SET_PEAK, ENOENT },
		{ "group 32", UBOE_TM_GROUP, 32, UBOE_TM_SET_PEAK, ENOENT },
		{ "no such jetty", UBOE_TM_JETTY, 0xfffff, UBOE_TM_SET_PEAK, ENOENT },
		{ "level 0", 0, 0, UBOE_TM_SET_PEAK, URMA_EINVAL },
		{ "level 7", 7, 0, UBOE_TM_SET_PEAK, URMA_EINVAL },
		{ "number of 25 bits", UBOE_TM_PORT, 1 << 24, UBOE_TM_SET_PEAK, URMA_EINVAL },
	};

	for (const Row &r : rows) {
		uboe_tm_node_t wish = node(r.level, r.number);

		wish.peak_kbps = 2000;
		EXPECT_EQ(uboe_modify_tm(t.ctx, &wish, r.mask), r.status) << r.what;
	}
	uboe_tm_node_t wish = t.port;

	wish.reserved[0] = 1;
	EXPECT_EQ(uboe_modify_tm(t.ctx, &wish, UBOE_TM_SET_PEAK), URMA_EINVAL);
	EXPECT_EQ(uboe_modify_tm(nullptr, &t.port, UBOE_TM_SET_PEAK), URMA_EINVAL);
	EXPECT_EQ(uboe_modify_tm(t.ctx, nullptr, UBOE_TM_SET_PEAK), URMA_EINVAL);
	EXPECT_EQ(uboe_query_tm(nullptr, &wish), URMA_EINVAL);
	EXPECT_EQ(uboe_query_tm(t.ctx, nullptr), URMA_EINVAL);
	wish.level = 7;
	EXPECT_EQ(uboe_query_tm(t.ctx, &wish), URMA_EINVAL);
	EXPECT_EQ(uboe_delete_tm(nullptr, UBOE_TM_PORT, 0), URMA_EINVAL);
	EXPECT_EQ(uboe_delete_tm(t.ctx, 0, 0), URMA_EINVAL);
	EXPECT_EQ(uboe_delete_tm(t.ctx, UBOE_TM_QUEUE, 127), EOPNOTSUPP);
	EXPECT_EQ(uboe_delete_tm(t.ctx, UBOE_TM_GROUP, 30), ENOENT);
	for (const auto &[level, number] :
	     { std::pair{ UBOE_TM_PORT, 0u }, { UBOE_TM_GROUP, 31u }, { UBOE_TM_FUNCTION, 63u } })
		EXPECT_EQ(uboe_delete_tm(t.ctx, level, number), EBUSY) << level;
	t.expect_unchanged();
}

// ---- jetties ----

void write(Pair &p, std::size_t n, std::uint8_t seed)
{
	p.a.memory->fill(seed);
	ASSERT_EQ(Wr(URMA_OPC_WRITE, seed)
			  .local({ p.a.memory->at(0, n) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
}

void look(Pair &p, std::size_t n, std::uint8_t seed)
{
	p.a.expect(seed);
	EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), n), 0);
}

void write_and_look(Pair &p, std::size_t n, std::uint8_t seed)
{
	ASSERT_NO_FATAL_FAILURE(write(p, n, seed));
	look(p, n, seed);
}

TEST(TmJetty, HasAQueueOfTheTree)
{
	constexpr std::size_t n = 100000;
	Tree t;
	Pair p;
	const std::uint32_t id = p.a.jetty->jetty_id.id;
	uboe_tm_node_t place = node(UBOE_TM_JETTY, id, 62);

	EXPECT_FALSE(exists(t.ctx, UBOE_TM_JETTY, id));
	EXPECT_EQ(uboe_create_tm(t.ctx, &place), ENOENT) << "no such function";
	t.function.sl_vl[0] = 4;
	ASSERT_EQ(uboe_modify_tm(t.ctx, &t.function, UBOE_TM_SET_SL_VL), URMA_SUCCESS);
	place.parent = 63;
	EXPECT_EQ(uboe_create_tm(t.ctx, &place), ENOENT) << "no queue set for its SL";
	t.function.sl_vl[0] = 3;
	ASSERT_EQ(uboe_modify_tm(t.ctx, &t.function, UBOE_TM_SET_SL_VL), URMA_SUCCESS);
	place.prio = 1;
	EXPECT_EQ(uboe_create_tm(t.ctx, &place), URMA_EINVAL) << "it has no priority";
	place.prio = 0;
	ASSERT_EQ(uboe_create_tm(t.ctx, &place), URMA_SUCCESS);
	EXPECT_EQ(uboe_create_tm(t.ctx, &place), URMA_EEXIST);
	place.vl = 3;
	expect_same(query(t.ctx, UBOE_TM_JETTY, id), place);
	EXPECT_EQ(uboe_delete_tm(t.ctx, UBOE_TM_QSET, 127), EBUSY);

	write_and_look(p, n, 1);
	for (const auto &[level, number] : { std::pair{ UBOE_TM_PORT, 0u },
					     { UBOE_TM_GROUP, 31u },
					     { UBOE_TM_FUNCTION, 63u },
					     { UBOE_TM_QSET, 127u },
					     { UBOE_TM_QUEUE, 127u },
					     { UBOE_TM_JETTY, id } })
		EXPECT_GT(query(t.ctx, level, number).sent, n) << level;

	EXPECT_EQ(uboe_modify_tm(t.ctx, &place, UBOE_TM_SET_WEIGHT), EOPNOTSUPP);
	ASSERT_EQ(uboe_set_jetty_rate(p.a.jetty, 300000, 10000), URMA_SUCCESS);
	place.peak_kbps = 300000;
	place.peak_burst = 10000;
	expect_same(query(t.ctx, UBOE_TM_JETTY, id), place);
	ASSERT_EQ(uboe_set_jetty_rate(p.a.jetty, 0, 0), URMA_SUCCESS);
	place.peak_kbps = place.peak_burst = 0;
	expect_same(query(t.ctx, UBOE_TM_JETTY, id), place);
	EXPECT_EQ(uboe_delete_tm(t.ctx, UBOE_TM_JETTY, id), URMA_SUCCESS);
	EXPECT_EQ(uboe_delete_tm(t.ctx, UBOE_TM_JETTY, id), ENOENT);
	write_and_look(p, n, 2);
}

TEST(TmJetty, RatesThatThereAreNot)
{
	Pair p;
	const std::uint32_t id = p.a.jetty->jetty_id.id;

	EXPECT_EQ(uboe_set_jetty_rate(nullptr, 1000, 0), URMA_EINVAL);
	EXPECT_EQ(uboe_set_jfs_rate(nullptr, 1000, 0), URMA_EINVAL);
	for (const auto &[kbps, burst] : { std::pair{ 999u, 0u },
					   { most_kbps + 1, 0u },
					   { 1000u, most_burst + 1 },
					   { 0u, 1u } }) {
		EXPECT_EQ(uboe_set_jetty_rate(p.a.jetty, kbps, burst), URMA_EINVAL) << kbps;
		EXPECT_FALSE(exists(p.a.ctx, UBOE_TM_JETTY, id));
	}
	EXPECT_EQ(uboe_set_jetty_rate(p.a.jetty, 0, 0), URMA_SUCCESS);
	EXPECT_FALSE(exists(p.a.ctx, UBOE_TM_JETTY, id));
	for (const auto &[kbps, burst] : { std::pair{ 1000u, most_burst }, { most_kbps, 0u } }) {
		EXPECT_EQ(uboe_set_jetty_rate(p.a.jetty, kbps, burst), URMA_SUCCESS) << kbps;
		EXPECT_EQ(uboe_set_jetty_rate(p.a.jetty, 999, 0), URMA_EINVAL);
		EXPECT_EQ(query(p.a.ctx, UBOE_TM_JETTY, id).peak_kbps, kbps);
		EXPECT_EQ(query(p.a.ctx, UBOE_TM_JETTY, id).peak_burst, burst);
		EXPECT_EQ(query(p.a.ctx, UBOE_TM_JETTY, id).parent, UBOE_TM_PARENT_NONE);
		EXPECT_EQ(query(p.a.ctx, UBOE_TM_JETTY, id).vl, 0);
	}
	EXPECT_EQ(uboe_set_jetty_rate(p.a.jetty, 0, 0), URMA_SUCCESS);
	EXPECT_FALSE(exists(p.a.ctx, UBOE_TM_JETTY, id));
}

TEST(TmJetty, RawQueuesHaveNone)
{
	if (!is_inproc())
		return; // the kernel device has no such queues
	Pair p;
	urma_jfs_cfg_t cfg{};

	cfg.depth = 64;
	cfg.max_sge = 1;
	cfg.jfc = p.a.jfc;
	urma_jfs_t *const jfs = uboe_create_raw_jfs(p.a.ctx, &cfg);

	ASSERT_NE(jfs, nullptr);
	EXPECT_EQ(uboe_set_jfs_rate(jfs, 1000, 0), EOPNOTSUPP);
	EXPECT_FALSE(exists(p.a.ctx, UBOE_TM_JETTY, jfs->jfs_id.id));
	EXPECT_EQ(urma_delete_jfs(jfs), URMA_SUCCESS);
}

/* 256 KiB at 20 Mb/s take 105 ms */
constexpr std::uint32_t slow = 20000;
constexpr std::size_t much = 256 << 10;
constexpr milliseconds least(95);

TEST(TmJetty, MovesNoFasterThanItsRate)
{
	Pair p;

	ASSERT_EQ(uboe_set_jetty_rate(p.a.jetty, slow, 0), URMA_SUCCESS);
	const auto start = steady_clock::now();
	write_and_look(p, much, 1);
	EXPECT_GE(steady_clock::now() - start, least);
	EXPECT_GT(query(p.a.ctx, UBOE_TM_JETTY, p.a.jetty->jetty_id.id).sent, much);
	ASSERT_EQ(uboe_set_jetty_rate(p.a.jetty, 0, 0), URMA_SUCCESS);
	write_and_look(p, much, 2);
}

/* At 1 Mb/s it would take half a minute */
TEST(TmJetty, WhoWaitsGoesOnWhenTheLimitGoes)
{
	constexpr std::size_t n = 4 << 20;
	Shape shape;

	shape.memory = n;
	Pair p(shape);
	ASSERT_EQ(uboe_set_jetty_rate(p.a.jetty, 1000, 0), URMA_SUCCESS);
	for (std::uint8_t seed : { 1, 2 }) {
		ASSERT_NO_FATAL_FAILURE(write(p, n, seed));
		EXPECT_TRUE(p.a.nothing_comes(50));
		ASSERT_EQ(uboe_set_jetty_rate(p.a.jetty, seed == 1 ? most_kbps : 0, 0),
			  URMA_SUCCESS);
		look(p, n, seed);
		ASSERT_EQ(uboe_set_jetty_rate(p.a.jetty, 1000, 0), URMA_SUCCESS);
	}
}

TEST(TmJetty, TwoThreadsChangeItsRateWhileDataMove)
{
	Pair p;
	std::atomic<bool> stop{ false };
	const auto change = [&](std::uint32_t kbps) {
		do {
			EXPECT_EQ(uboe_set_jetty_rate(p.a.jetty, kbps, 0), URMA_SUCCESS);
			exists(p.a.ctx, UBOE_TM_JETTY, p.a.jetty->jetty_id.id);
			EXPECT_EQ(uboe_set_jetty_rate(p.a.jetty, 0, 0), URMA_SUCCESS);
		} while (!stop);
	};
	std::thread one(change, 100000), two(change, most_kbps);

	for (std::uint8_t seed = 1; seed <= 5; ++seed)
		write_and_look(p, much, seed);
	stop = true;
	one.join();
	two.join();
	EXPECT_FALSE(exists(p.a.ctx, UBOE_TM_JETTY, p.a.jetty->jetty_id.id));
	write_and_look(p, much, 6);
}

urma_status_t set_rate(UmEnd &e, std::uint32_t kbps)
{
	return e.jetty ? uboe_set_jetty_rate(e.jetty, kbps, 0) : uboe_set_jfs_rate(e.jfs, kbps, 0);
}

/// Messages of a jetty or a JFS, with the limit and then without it.
void send_slowly(urma_transport_mode_t mode, bool with_jfs)
{
	const std::size_t size = mode == URMA_TM_RM ? 16 << 10 : 1024;
	const unsigned n = much / size;
	UmEnd a(0, { .mode = mode,
		     .room = 1 << 20,
		     .depth = 256,
		     .with_jetty = !with_jfs,
		     .with_jfs = with_jfs });
	UmEnd b(1, { .mode = mode, .room = 1 << 20, .receives = 256 });
	urma_target_jetty_t *to = a.aim(b);

	for (const std::uint32_t kbps : { slow, 0u }) {
		ASSERT_EQ(set_rate(a, kbps), URMA_SUCCESS);
		a.memory->fill(static_cast<std::uint8_t>(kbps + 1));
		for (unsigned i = 0; i < n; ++i)
			b.receive(i, 0, size);
		const auto start = steady_clock::now();
		for (unsigned i = 0; i < n; ++i)
			a.send(to, size);
		for (unsigned i = 0; i < n; ++i)
			b.expect(i);
		EXPECT_GE(steady_clock::now() - start, kbps ? least : milliseconds(0));
		EXPECT_EQ(std::memcmp(a.memory->data(), b.memory->data(), size), 0);
	}
}

TEST(TmJetty, ReliableMessages)
{
	send_slowly(URMA_TM_RM, false);
}

TEST(TmJetty, ReliableMessagesOfAJfs)
{
	send_slowly(URMA_TM_RM, true);
}

TEST(TmJetty, UnreliableMessages)
{
	send_slowly(URMA_TM_UM, false);
}

TEST(TmJetty, UnreliableMessagesOfAJfs)
{
	send_slowly(URMA_TM_UM, true);
}

} // namespace

} // namespace urma_test
