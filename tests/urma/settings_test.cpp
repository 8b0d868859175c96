// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Settings of the in-process device that come from the environment. With a device of the
// kernel the module has been loaded with what LockBuffer* and DirectWqe ask for
// (tests/guest/lockbuf).
#include <chrono>
#include <cstdlib>

#include "um_rig.hpp"

using namespace urma_test;

namespace
{

class Setting
{
      public:
	Setting(const char *name, const char *value) : name_(name) { setenv(name, value, 1); }
	~Setting() { unsetenv(name_); }
	Setting(const Setting &) = delete;
	Setting &operator=(const Setting &) = delete;

      private:
	const char *name_;
};

/* Elements of every size, alone and in company: by the window or by the ring */
TEST(Settings, DirectWqe)
{
	const Setting on("URMA_INPROC_DWQE", "1");
	Pair p;

	for (unsigned i = 0; i < 300; ++i) {
		const std::size_t n = std::size_t{ 1 } + i * 7 % 200;
		const unsigned together = i % 4 == 3 ? 3 : 1;

		p.a.memory->fill(static_cast<std::uint8_t>(i));
		for (unsigned k = 0; k < together; ++k)
			ASSERT_EQ(Wr(URMA_OPC_WRITE, i)
					  .local({ p.a.memory->at(k * 256, n) })
					  .remote(p.b.memory->va() + k * 256, p.a.remote)
					  .inlined()
					  .post(p.a.jetty),
				  URMA_SUCCESS);
		for (unsigned k = 0; k < together; ++k)
			p.a.expect(i);
		for (unsigned k = 0; k < together; ++k)
			ASSERT_EQ(std::memcmp(p.a.memory->data() + k * 256,
					      p.b.memory->data() + k * 256, n),
				  0)
				<< i;
	}
}

/* A jetty is as fast as it may be, and no faster: 512 KiB at 100 Mb/s take 42 ms */
TEST(Settings, JettyRate)
{
	const Setting rate("URMA_INPROC_JETTY_MBPS", "100");
	Pair p;

	p.a.memory->fill(9);
	const auto start = std::chrono::steady_clock::now();
	ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
			  .local({ p.a.memory->at(0, 512 << 10) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(1);
	EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(40));
	EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), 512 << 10), 0);
}

/* The same of messages: 8 times 64 KiB; unreliable ones have no answers to wait for */
TEST(Settings, JettyRateOfMessages)
{
	const Setting rate("URMA_INPROC_JETTY_MBPS", "100");

	for (const urma_transport_mode_t mode : { URMA_TM_RM, URMA_TM_UM }) {
		const std::size_t size = mode == URMA_TM_RM ? 64 << 10 : 1024;
		const unsigned n = (512 << 10) / size;
		UmEnd a(0, { .mode = mode, .room = 1 << 20, .depth = 512 });
		UmEnd b(1, { .mode = mode, .room = 1 << 20, .receives = 512 });
		urma_target_jetty_t *to = a.aim(b);

		a.memory->fill(9);
		for (unsigned i = 0; i < n; ++i)
			b.receive(i, 0, size);
		const auto start = std::chrono::steady_clock::now();
		for (unsigned i = 0; i < n; ++i)
			a.send(to, size);
		for (unsigned i = 0; i < n; ++i)
			b.expect(i);
		EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(40));
		EXPECT_EQ(std::memcmp(a.memory->data(), b.memory->data(), size), 0);
	}
}

/* Both ends have it: 512 KiB in the pace of a link of 100 Mb/s, in a window, and without */
TEST(Settings, CongestionControl)
{
	for (const char *text : { "dcqcn:paper40g,max_kbps=100000", "ldcp,cwd0=2000", "none" }) {
		const Setting cc("URMA_INPROC_CC", text);
		Pair p;

		p.a.memory->fill(9);
		const auto start = std::chrono::steady_clock::now();
		ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
				  .local({ p.a.memory->at(0, 512 << 10) })
				  .remote(p.b.memory->va(), p.a.remote)
				  .post(p.a.jetty),
			  URMA_SUCCESS);
		p.a.expect(1);
		if (*text == 'd') {
			EXPECT_GE(std::chrono::steady_clock::now() - start,
				  std::chrono::milliseconds(40));
		}
		EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), 512 << 10), 0);
		/* the device's contexts agree on it */
		const Setting other("URMA_INPROC_CC", "dcqcn:mlx5");
		errno = 0;
		EXPECT_EQ(urma_create_context(device(), 0), nullptr);
		EXPECT_EQ(errno, EBUSY);
	}
}

// ---- lock buffers: 2 to 1023 are numbers that programs ask for ----

Shape in_place(std::uint32_t id, std::uint32_t depth = 8)
{
	Shape s;

	s.id = id;
	s.depth = depth;
	s.inline_bytes = 80;
	return s;
}

/// Lists and inline data of all lengths, alone and as a list of requests
void use_lock_buffer(std::uint32_t id)
{
	Pair p(in_place(id));

	ASSERT_EQ(p.a.jetty->jetty_id.id, id);
	for (unsigned i = 0; i < 80; ++i) {
		const std::size_t n = std::size_t{ 1 } + i * 7 % 80;
		std::vector<urma_sge_t> pieces;
		Wr second(URMA_OPC_WRITE, 2), third(URMA_OPC_READ, 3);

		p.a.memory->fill(static_cast<std::uint8_t>(i));
		for (std::size_t at = 0; at < 5; ++at)
			pieces.push_back(p.a.memory->at(at * 100, at < i % 6 ? 100 : 0));
		if (i % 6 == 0)
			pieces = { p.a.memory->at(0, 0) };
		while (pieces.size() > 1 && !pieces.back().len)
			pieces.pop_back();
		Wr first(URMA_OPC_WRITE, 1);
		first.local({ p.a.memory->at(1000, n) })
			.remote(p.b.memory->va() + 1000, p.a.remote)
			.inlined();
		second.local(pieces).remote(p.b.memory->va(), p.a.remote);
		third.local({ p.a.memory->at(2000, n) })
			.remote(p.b.memory->va() + 1000, p.a.remote)
			.fenced();
		second.get()->next = third.get();
		first.get()->next = second.get();
		urma_jfs_wr_t *bad = nullptr;
		ASSERT_EQ(urma_post_jetty_send_wr(p.a.jetty, first.get(), &bad), URMA_SUCCESS) << i;
		for (unsigned k = 1; k <= 3; ++k)
			p.a.expect(k);
		ASSERT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), i % 6 * 100), 0);
		ASSERT_EQ(std::memcmp(p.a.memory->data() + 1000, p.b.memory->data() + 1000, n), 0);
		ASSERT_EQ(std::memcmp(p.a.memory->data() + 1000, p.a.memory->data() + 2000, n), 0);
	}
}

TEST(Settings, LockBuffer)
{
	const Setting wqe("URMA_INPROC_LOCKBUF", "100-107:16");
	const Setting stars("URMA_INPROC_STARS", "200-207:16");

	use_lock_buffer(100); // the first and the last of both
	use_lock_buffer(107);
	use_lock_buffer(200);
	use_lock_buffer(207);
}

/// 16 blocks: so many requests of one block are in progress, and not one more
TEST(Settings, LockBufferIsFull)
{
	const Setting wqe("URMA_INPROC_LOCKBUF", "100-107:16");
	Pair p(in_place(103));
	const auto send = [&](std::uint64_t id) {
		return Wr(URMA_OPC_SEND, id).local({ p.a.memory->at(id * 8, 8) }).post(p.a.jetty);
	};

	p.a.memory->fill(1);
	p.b.receive(0, p.b.memory->at(0, 8));
	ASSERT_EQ(send(0), URMA_SUCCESS);
	p.a.expect(0);
	p.b.expect(0);
	for (unsigned i = 0; i < 16; ++i)
		ASSERT_EQ(send(i), URMA_SUCCESS) << i;
	EXPECT_EQ(send(16), URMA_ENOMEM);
	for (unsigned i = 0; i < 16; ++i)
		p.b.receive(i, p.b.memory->at(i * 8, 8));
	for (unsigned i = 0; i < 16; ++i) {
		p.a.expect(i);
		p.b.expect(i);
	}
	EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), 16 * 8), 0);
	p.b.receive(16, p.b.memory->at(0, 8));
	EXPECT_EQ(send(16), URMA_SUCCESS) << "there is room again";
	p.a.expect(16);
	p.b.expect(16);
}

/// The whole buffer for one jetty: the device takes as many at a time as it can
TEST(Settings, LockBufferOfOneJetty)
{
	const Setting wqe("URMA_INPROC_LOCKBUF", "2-2:4096");
	Pair p(in_place(2, 2048));
	unsigned posted = 0;

	while (posted < 2000 &&
	       Wr(URMA_OPC_SEND, posted).local({ p.a.memory->at(posted * 8, 8) }).post(p.a.jetty) ==
		       URMA_SUCCESS)
		++posted;
	EXPECT_GE(posted, 64u);
	for (unsigned i = 0; i < posted; ++i)
		p.b.receive(i, p.b.memory->at(i * 8, 8));
	for (unsigned i = 0; i < posted; ++i) {
		p.a.expect(i);
		p.b.expect(i);
	}
}

TEST(Settings, LockBufferRefusals)
{
	const Setting wqe("URMA_INPROC_LOCKBUF", "100-107:16");
	Shape wide;

	{
		Pair p(in_place(103));
		const auto pieces = [&](unsigned n) {
			std::vector<urma_sge_t> list;

			for (unsigned i = 0; i < n; ++i)
				list.push_back(p.a.memory->at(i * 8, 8));
			return list;
		};
		const auto write = [&](unsigned n) {
			return Wr(URMA_OPC_WRITE, n)
				.local(pieces(n))
				.remote(p.b.memory->va(), p.a.remote)
				.post(p.a.jetty);
		};
		EXPECT_EQ(write(5), URMA_SUCCESS);
		p.a.expect(5);
		EXPECT_EQ(write(6), URMA_EINVAL);
		// three elements behind the 80 bytes of a Write with notify, and not four
		const auto notify = [&](unsigned n) {
			return Wr(URMA_OPC_WRITE_NOTIFY, n)
				.local(pieces(n))
				.remote(p.b.memory->va(), p.a.remote)
				.notify(p.b.memory->va() + 1000, p.a.remote, 5)
				.post(p.a.jetty);
		};
		EXPECT_EQ(notify(3), URMA_SUCCESS);
		p.a.expect(3);
		EXPECT_EQ(notify(4), URMA_EINVAL);
		EXPECT_EQ(write(1), URMA_SUCCESS) << "nothing was lost";
		p.a.expect(1);
	}
	wide.sges = 13;
	for (std::uint32_t id : { 99u, 108u }) { // outside the range: rings
		wide.id = id;
		Pair p(wide);
		EXPECT_EQ(p.a.jetty->jetty_cfg.jfs_cfg.max_sge, 13);
	}
	urma_context_t *ctx = open_end(0);
	urma_jfc_cfg_t jc{};
	jc.depth = 64;
	urma_jfc_t *jfc = urma_create_jfc(ctx, &jc);
	urma_jfr_cfg_t rc{};
	rc.depth = 64;
	rc.max_sge = 1;
	rc.trans_mode = URMA_TM_RC;
	rc.jfc = jfc;
	urma_jfr_t *jfr = urma_create_jfr(ctx, &rc);
	ASSERT_NE(jfr, nullptr);
	const auto create = [&](std::uint32_t depth, std::uint8_t sges, std::uint32_t bytes) {
		urma_jetty_cfg_t cfg{};

		cfg.id = 100;
		cfg.flag.bs.share_jfr = 1;
		cfg.jfs_cfg.depth = depth;
		cfg.jfs_cfg.trans_mode = URMA_TM_RC;
		cfg.jfs_cfg.max_sge = sges;
		cfg.jfs_cfg.max_inline_data = bytes;
		cfg.jfs_cfg.jfc = jfc;
		cfg.shared.jfr = jfr;
		urma_jetty_t *j = urma_create_jetty(ctx, &cfg);
		if (j) {
			EXPECT_EQ(urma_delete_jetty(j), URMA_SUCCESS);
		}
		return j ? 0 : errno;
	};
	EXPECT_EQ(create(8, 5, 80), 0);
	EXPECT_EQ(create(16, 5, 80), EINVAL);
	EXPECT_EQ(create(8, 6, 80), EINVAL);
	EXPECT_EQ(create(8, 5, 81), EINVAL);
	EXPECT_EQ(urma_delete_jfr(jfr), URMA_SUCCESS);
	EXPECT_EQ(urma_delete_jfc(jfc), URMA_SUCCESS);
	EXPECT_EQ(urma_delete_context(ctx), URMA_SUCCESS);
}

/// Elements that look like those of before RESET
TEST(Settings, LockBufferStartsAnew)
{
	const Setting wqe("URMA_INPROC_LOCKBUF", "100-107:16");
	Pair p(in_place(104));

	for (unsigned round = 0; round < 3; ++round) {
		p.a.memory->fill(static_cast<std::uint8_t>(round));
		ASSERT_EQ(Wr(URMA_OPC_WRITE, round)
				  .local({ p.a.memory->at(0, 64) })
				  .remote(p.b.memory->va(), p.a.remote)
				  .post(p.a.jetty),
			  URMA_SUCCESS);
		p.a.expect(round);
		EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), 64), 0) << round;
		for (End *e : { &p.a, &p.b })
			EXPECT_EQ(urma_unbind_jetty(e->jetty), URMA_SUCCESS);
		for (End *e : { &p.a, &p.b }) {
			urma_jetty_attr_t attr{};

			const auto marker = e->next();
			ASSERT_TRUE(marker);
			EXPECT_EQ(marker->flag.bs.flush_err_done, 1);
			attr.mask = JETTY_STATE;
			for (auto to : { URMA_JETTY_STATE_RESET, URMA_JETTY_STATE_READY }) {
				attr.state = to;
				ASSERT_EQ(urma_modify_jetty(e->jetty, &attr), URMA_SUCCESS);
			}
		}
		p.a.bind();
		p.b.bind();
	}
}

TEST(Settings, OneLockBufferForAll)
{
	if (!is_inproc())
		GTEST_SKIP() << "devices of the kernel have what the module was loaded with";
	const Setting wqe("URMA_INPROC_LOCKBUF", "100-107:16");
	urma_context_t *ctx = open_end(0);

	ASSERT_NE(ctx, nullptr);
	{ // another buffer at the same device, while it is there
		const Setting other("URMA_INPROC_LOCKBUF", "100-107:32");
		EXPECT_EQ(open_end(0), nullptr);
		EXPECT_EQ(errno, EBUSY);
	}
	{
		const Setting other("URMA_INPROC_STARS", "107-107:16");
		EXPECT_EQ(open_end(0), nullptr) << "its jetties are of the other one";
		EXPECT_EQ(errno, EINVAL);
	}
	EXPECT_EQ(urma_delete_context(ctx), URMA_SUCCESS);
	{
		const Setting big("URMA_INPROC_LOCKBUF", "100-107:1024");
		EXPECT_EQ(open_end(0), nullptr);
		EXPECT_EQ(errno, ENOSPC) << "8,192 blocks";
	}
}

TEST(Settings, Partition)
{
	const Setting all("URMA_INPROC_NPI", "0xfedcba");
	Pair p;
	std::uint32_t partition = 0;

	ASSERT_EQ(uboe_get_partition(p.b.ctx, &partition), URMA_SUCCESS);
	EXPECT_EQ(partition, 0xfedcbau);
	p.a.memory->fill(2);
	ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
			  .local({ p.a.memory->at(0, 64 << 10) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(1);
	EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), 64 << 10), 0);
}

/* Data of all lengths around the pieces, more Reads at a time than the table may hold */
TEST(Settings, SlicesAndRcTables)
{
	for (const char *kb : { "1", "64" }) {
		const Setting slice("URMA_INPROC_SLICE_KB", kb);
		const Setting depth("URMA_INPROC_RCT_DEPTH", kb[0] == '1' ? "64" : "32768");
		const Setting mark("URMA_INPROC_RCT_WATERMARK", "4");
		Pair p;

		for (const std::size_t n :
		     { 1u, 1023u, 1024u, 1025u, 65535u, 65536u, 65537u, 300000u }) {
			p.a.memory->fill(static_cast<std::uint8_t>(n));
			ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
					  .local({ p.a.memory->at(0, n) })
					  .remote(p.b.memory->va() + 1, p.a.remote)
					  .post(p.a.jetty),
				  URMA_SUCCESS);
			p.a.expect(1);
			ASSERT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data() + 1, n), 0)
				<< n;
			for (unsigned i = 0; i < 16; ++i)
				ASSERT_EQ(Wr(URMA_OPC_READ, i)
						  .local({ p.a.memory->at(512 << 10, n) })
						  .remote(p.b.memory->va() + 1, p.a.remote)
						  .post(p.a.jetty),
					  URMA_SUCCESS);
			for (unsigned i = 0; i < 16; ++i)
				p.a.expect(i);
			ASSERT_EQ(std::memcmp(p.a.memory->data() + (512 << 10),
					      p.b.memory->data() + 1, n),
				  0)
				<< n;
		}
	}
}

TEST(Settings, NonsenseIsRefused)
{
	const std::pair<const char *, const char *> bad[] = {
		{ "URMA_INPROC_DWQE", "2" },
		{ "URMA_INPROC_DWQE", "yes" },
		{ "URMA_INPROC_GSO", "2" },
		{ "URMA_INPROC_GSO", "off" },
		{ "URMA_INPROC_JETTY_MBPS", "0" },
		{ "URMA_INPROC_JETTY_MBPS", "200001" },
		{ "URMA_INPROC_LOCKBUF", "1-5:4" },
		{ "URMA_INPROC_LOCKBUF", "5-4:4" },
		{ "URMA_INPROC_LOCKBUF", "2-1024:4" },
		{ "URMA_INPROC_LOCKBUF", "2-3:5" },
		{ "URMA_INPROC_LOCKBUF", "2-3:2" },
		{ "URMA_INPROC_LOCKBUF", "2-3:4x" },
		{ "URMA_INPROC_LOCKBUF", "2-3" },
		{ "URMA_INPROC_STARS", "2" },
		{ "URMA_INPROC_NPI", "0" },
		{ "URMA_INPROC_NPI", "0x2000000" },
		{ "URMA_INPROC_NPI", "0x1000000" },
		{ "URMA_INPROC_NPI", "1x" },
		{ "URMA_INPROC_JETTY_MBPS", "-1" },
		{ "URMA_INPROC_JETTY_MBPS", "10M" },
		{ "URMA_INPROC_SLICE_KB", "0" },
		{ "URMA_INPROC_SLICE_KB", "3" },
		{ "URMA_INPROC_SLICE_KB", "128" },
		{ "URMA_INPROC_RCT_DEPTH", "63" },
		{ "URMA_INPROC_RCT_DEPTH", "32" },
		{ "URMA_INPROC_RCT_DEPTH", "96" },
		{ "URMA_INPROC_RCT_DEPTH", "65536" },
		{ "URMA_INPROC_RCT_WATERMARK", "4" },
		{ "URMA_INPROC_CC", "caqm" },
		{ "URMA_INPROC_CC", "dcqcn:" },
		{ "URMA_INPROC_CC", "dcqcn,g" },
		{ "URMA_INPROC_CC", "ldcp,beta=8" },
	};

	for (auto [name, value] : bad) {
		const Setting s(name, value);

		errno = 0;
		EXPECT_EQ(urma_create_context(device(), 0), nullptr) << name << "=" << value;
		EXPECT_EQ(errno, EINVAL);
	}
}

} // namespace
