// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What Writes and Reads are cut into: 1 KB to 64 KB, a power of two. */
#include <gtest/gtest.h>

#include "rmnet.hpp"

using namespace rig;

namespace
{

constexpr unsigned lengths[] = { 0, 1, 1023, 1024, 1025, 4096, 65535, 65536, 65537, 150000 };

class Slice : public testing::TestWithParam<unsigned>
{
      protected:
	static ubsim::jetty_options options()
	{
		ubsim::jetty_options o;

		o.slice = std::uint8_t(GetParam());
		o.sq_shift = 6;
		return o;
	}

	static unsigned expected(unsigned len)
	{
		const unsigned slice = 1u << (GetParam() ? GetParam() : 16);

		return std::max((len + slice - 1) / slice, 1u);
	}
};

/* Transport messages that a Write and a Read of this length make, and the data */
TEST_P(Slice, OfAConnection)
{
	pair p(false, ubsim::host::small_config(), options(), 1 << 19);

	ASSERT_TRUE(p.connect(4096));
	for (unsigned len : lengths) {
		bytes data = pattern(len, len);
		std::uint32_t msn = p.a.tp()->snd_msn;

		p.a.m.write(0, data.data(), len);
		p.a.q->post({ .op = UBOE_SQE_WRITE,
			      .sges = { p.a.local(0, len) },
			      .remote = p.b.m.va() + 3,
			      .rkey = key });
		p.run();
		auto c = p.a.tx.poll();
		ASSERT_TRUE(c);
		EXPECT_EQ(status(*c), UBOE_CQE_OK);
		EXPECT_EQ(p.a.tp()->snd_msn - msn, expected(len)) << len;
		EXPECT_EQ(p.b.m.compare(3, data.data(), len), len);
		msn = p.a.tp()->snd_msn;
		p.a.q->post({ .op = UBOE_SQE_READ,
			      .sges = { p.a.local(0x40000, len) },
			      .remote = p.b.m.va() + 3,
			      .rkey = key });
		p.run(100);
		c = p.a.tx.poll();
		ASSERT_TRUE(c);
		EXPECT_EQ(status(*c), UBOE_CQE_OK);
		EXPECT_EQ(p.a.tp()->snd_msn - msn, expected(len)) << len;
		EXPECT_EQ(p.a.m.compare(0x40000, data.data(), len), len);
		p.a.q->retire((c->w1 & 0xffff) + 1);
	}
}

TEST_P(Slice, OfASharedChannel)
{
	network net(2);
	ubsim::rc &q = net[0].add(100, options());

	for (unsigned len : lengths) {
		bytes data = pattern(len, len);
		const ubp_tp *tp = net[0].share(net[1].self)->tp;
		std::uint32_t msn = tp->snd_msn;

		net[0].m.write(0, data.data(), len);
		for (std::uint8_t op : { UBOE_SQE_WRITE, UBOE_SQE_READ }) {
			std::optional<uboe_cqe> c;

			q.retire(q.copied());
			q.post({ .op = op,
				 .sges = { net[0].local(op == UBOE_SQE_READ ? 0x40000 : 0, len) },
				 .remote = net[1].m.va() + 3,
				 .rkey = key,
				 .tpn = net[0].channel(net[1].self) });
			net.until([&] { return (c = net[0].tx.poll()).has_value(); });
			ASSERT_TRUE(c);
			EXPECT_EQ(status(*c), UBOE_CQE_OK);
		}
		EXPECT_EQ(tp->snd_msn - msn, 2 * expected(len)) << len;
		EXPECT_EQ(net[1].m.compare(3, data.data(), len), len);
		EXPECT_EQ(net[0].m.compare(0x40000, data.data(), len), len);
	}
}

/* A Write with store add is one message: not longer than a slice */
TEST_P(Slice, HoldsAWriteWithStoreAdd)
{
	const unsigned slice = 1u << (GetParam() ? GetParam() : 16);
	pair p(false, ubsim::host::small_config(), options(), 1 << 19);

	ASSERT_TRUE(p.connect(4096));
	for (unsigned len : { slice, slice + 1 }) {
		p.a.q->post({ .op = UBOE_SQE_WRITE_STOREADD2,
			      .sges = { p.a.local(0, len) },
			      .remote = p.b.m.va(),
			      .rkey = key,
			      .imm = 5,
			      .notify = p.b.m.va() + 0x50000,
			      .notify_key = key });
		p.run();
		auto c = p.a.tx.poll();
		ASSERT_TRUE(c);
		EXPECT_EQ(status(*c), len == slice ? UBOE_CQE_OK : UBOE_CQE_LOCAL);
		EXPECT_EQ(sub(*c), len == slice ? 0 : UBOE_CQE_LOCAL_LEN);
	}
	EXPECT_EQ(p.b.m.load(0x50000, 8), 5u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Slice, testing::Values(0u, 10u, 12u, 16u));

TEST(Slices, OtherSizesAreRefused)
{
	end e(addr(false, 1), 0x101);
	ubsim::dma ring = e.h.alloc_dma(4096), page = e.h.alloc_dma(UBOE_JPAGE_SOFT_STRIDE);
	uboe_jetty_ctx c{}, q{};

	c.type = UBOE_JETTY_RC;
	c.pd = pd;
	c.sq_shift = 6;
	c.sq_base = ring.bus;
	c.page = page.bus;
	c.tx_jfcn = 1;
	c.rx_jfcn = 2;
	c.jfrn = 1;
	for (unsigned s : { 1, 9, 17, 255 }) {
		c.slice = std::uint8_t(s);
		EXPECT_EQ(e.h.create(UBOE_MBOX_JETTY, 0x102, c), -EINVAL) << s;
	}
	for (unsigned s : { 0, 10, 16 }) {
		c.slice = std::uint8_t(s);
		EXPECT_EQ(e.h.create(UBOE_MBOX_JETTY, 0x102, c), 0) << s;
		ASSERT_EQ(e.h.query(UBOE_MBOX_JETTY, 0x102, q), 0);
		EXPECT_EQ(q.slice, s ? s : 16);
		EXPECT_EQ(e.h.destroy(UBOE_MBOX_JETTY, 0x102), 0);
	}
	c.type = UBOE_JETTY_UM;
	c.mtu = 1024;
	std::memcpy(c.eid, e.self.b.data(), 16);
	EXPECT_EQ(e.h.create(UBOE_MBOX_JETTY, 0x102, c), -EINVAL) << "it sends none";
	e.h.reap();
	e.h.free_dma(ring);
	e.h.free_dma(page);
}

} /* namespace */
