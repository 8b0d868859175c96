// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RC tables: depths and watermarks of jetties and of VLs, and what they do to the source. */
#include <gtest/gtest.h>

#include "rmnet.hpp"

using namespace rig;

namespace
{

int set_vl(ubsim::host &h, unsigned vl, unsigned shift, std::uint32_t mark,
	   std::uint32_t mask = UBOE_RCTM_SHIFT | UBOE_RCTM_WATERMARK)
{
	uboe_rct_ctx c{};

	c.shift = std::uint8_t(shift);
	c.watermark = mark;
	return h.modify(UBOE_MBOX_RCT, UBOE_RCT_TAG_VL(vl), c, mask);
}

uboe_rct_ctx look(ubsim::host &h, std::uint32_t tag)
{
	uboe_rct_ctx c{};

	EXPECT_EQ(h.query(UBOE_MBOX_RCT, tag, c), 0);
	return c;
}

std::uint32_t used(const ubp_tp *tp)
{
	return tp->rsp.rce_tail - tp->rsp.rce_head;
}

TEST(RcTable, SettingsOfAVl)
{
	ubsim::host h;
	const std::uint32_t tag = UBOE_RCT_TAG_VL(3);

	EXPECT_EQ(look(h, tag).shift, 0) << "nothing is set";
	EXPECT_EQ(set_vl(h, 3, 5, 0), -EINVAL) << "32";
	EXPECT_EQ(set_vl(h, 3, 16, 0), -EINVAL) << "65536";
	EXPECT_EQ(set_vl(h, 16, 6, 0), -ENOENT) << "no such VL";
	EXPECT_EQ(set_vl(h, 3, 6, 65), -EINVAL);
	EXPECT_EQ(set_vl(h, 3, 0, 1), -EINVAL) << "a watermark of no depth";
	EXPECT_EQ(set_vl(h, 3, 6, 0, 4), -EOPNOTSUPP);
	EXPECT_EQ(look(h, tag).shift, 0) << "what is refused changes nothing";
	ASSERT_EQ(set_vl(h, 3, 6, 64), 0);
	ASSERT_EQ(set_vl(h, 3, 15, 32768), 0);
	EXPECT_EQ(set_vl(h, 3, 6, 0, UBOE_RCTM_SHIFT), -EINVAL) << "below its watermark";
	ASSERT_EQ(set_vl(h, 3, 0, 48, UBOE_RCTM_WATERMARK), 0);
	ASSERT_EQ(set_vl(h, 3, 6, 0, UBOE_RCTM_SHIFT), 0);
	EXPECT_EQ(look(h, tag).shift, 6);
	EXPECT_EQ(look(h, tag).watermark, 48u);
	EXPECT_EQ(look(h, UBOE_RCT_TAG_VL(2)).shift, 0) << "the others are as they were";
	ASSERT_EQ(set_vl(h, 3, 0, 0), 0) << "back to the default";
}

TEST(RcTable, OfAJettyAsItsVlHasIt)
{
	ubsim::jetty_options o;

	o.sl = 5;
	end e(addr(false, 1), 0x101, ubsim::host::small_config(), o);
	uboe_rct_ctx c{};

	EXPECT_EQ(look(e.h, e.id).watermark, 64u);
	ASSERT_EQ(e.h.destroy(UBOE_MBOX_RCT, e.id), 0);
	ASSERT_EQ(set_vl(e.h, 5, 15, 1000), 0);
	c.jetty = e.id;
	ASSERT_EQ(e.h.create(UBOE_MBOX_RCT, e.id, c), 0);
	EXPECT_EQ(look(e.h, e.id).shift, 15);
	EXPECT_EQ(look(e.h, e.id).watermark, 1000u);
	/* its watermark may change, its depth not */
	c.watermark = 32769;
	EXPECT_EQ(e.h.modify(UBOE_MBOX_RCT, e.id, c, UBOE_RCTM_WATERMARK), -EINVAL);
	EXPECT_EQ(look(e.h, e.id).watermark, 1000u);
	c.watermark = 32768;
	EXPECT_EQ(e.h.modify(UBOE_MBOX_RCT, e.id, c, UBOE_RCTM_WATERMARK), 0);
	EXPECT_EQ(look(e.h, e.id).watermark, 32768u);
	EXPECT_EQ(e.h.modify(UBOE_MBOX_RCT, e.id, c, UBOE_RCTM_SHIFT), -EOPNOTSUPP);
	EXPECT_EQ(e.h.modify(UBOE_MBOX_RCT, 0x777, c, UBOE_RCTM_WATERMARK), -ENOENT);
	e.h.no_memory = true;
	ASSERT_EQ(e.h.destroy(UBOE_MBOX_RCT, e.id), 0);
	EXPECT_EQ(e.h.create(UBOE_MBOX_RCT, e.id, c), -EINVAL);
	c.watermark = 0;
	EXPECT_EQ(e.h.create(UBOE_MBOX_RCT, e.id, c), -ENOMEM);
	e.h.no_memory = false;
	EXPECT_EQ(e.h.modify(UBOE_MBOX_RCT, e.id, c, UBOE_RCTM_WATERMARK), -ENOENT);
}

/* Depth, watermark of the target */
class Watermark : public testing::TestWithParam<std::pair<unsigned, std::uint32_t>>
{
};

/* More Reads than it takes, and few retries: none is lost, and the table stays below the mark */
TEST_P(Watermark, SlowsTheSourceDown)
{
	auto [shift, mark] = GetParam();
	ubsim::jetty_options o;

	o.sq_shift = 9;
	o.max_rd = 128;
	o.rct_shift = shift;
	o.rct_mark = mark;
	o.rnr_retry = 1;
	pair p(false, ubsim::host::small_config(), o);
	std::uint32_t most = 0;
	unsigned done = 0, posted = 0;

	ASSERT_TRUE(p.connect());
	for (unsigned i = 0; i < 128; i++) {
		std::uint64_t v = i * 3;

		p.b.m.write(i * 8, &v, 8);
	}
	for (unsigned i = 0; i < 20000 && done < 1280; i++) {
		for (; posted < 1280 && posted - done < 128; posted++)
			p.a.q->post({ .op = UBOE_SQE_READ,
				      .sges = { p.a.local(0x10000 + posted % 128 * 8, 8) },
				      .remote = p.b.m.va() + posted % 128 * 8,
				      .rkey = key });
		pair::carry(p.a, p.b);
		most = std::max(most, used(p.b.tp()));
		pair::carry(p.b, p.a);
		for (end *e : { &p.a, &p.b }) {
			e->h.time += 20000;
			e->h.run_timers();
			e->h.run_turns();
			e->h.reap();
		}
		while (auto c = p.a.tx.poll()) {
			ASSERT_EQ(status(*c), UBOE_CQE_OK);
			done++;
			p.a.q->retire((c->w1 & 0xffff) + 1);
		}
	}
	EXPECT_EQ(done, 1280u);
	EXPECT_LE(most, mark);
	if (mark <= 64) {
		EXPECT_EQ(most, mark) << "it is used up to there";
		EXPECT_GT(p.b.h.stat(UBP_S_RNR_SENT), 0u);
		/* with room for one, each has to wait for the acknowledgement of the one before */
		EXPECT_LT(p.b.h.stat(UBP_S_RNR_SENT), mark > 1 ? 200u : 1280u)
			<< "the source asks for less";
	} else {
		EXPECT_EQ(p.b.h.stat(UBP_S_RNR_SENT), 0u);
	}
	for (unsigned i = 0; i < 128; i++)
		EXPECT_EQ(p.a.m.load(0x10000 + i * 8, 8), i * 3);
}

INSTANTIATE_TEST_SUITE_P(RcTable, Watermark,
			 testing::Values(std::pair{ 6u, 1u }, std::pair{ 6u, 7u },
					 std::pair{ 6u, 63u }, std::pair{ 6u, 64u },
					 std::pair{ 15u, 16u }, std::pair{ 15u, 32768u }));

TEST(RcTable, WithoutATableReadsAreRefused)
{
	pair p;

	ASSERT_EQ(p.b.h.destroy(UBOE_MBOX_RCT, p.b.id), 0);
	ASSERT_TRUE(p.connect());
	p.a.q->post({ .op = UBOE_SQE_READ,
		      .sges = { p.a.local(0, 8) },
		      .remote = p.b.m.va(),
		      .rkey = key });
	p.run();
	auto c = p.a.tx.poll();
	ASSERT_TRUE(c);
	EXPECT_EQ(status(*c), UBOE_CQE_REMOTE);
	EXPECT_EQ(sub(*c), UBOE_CQE_REMOTE_UNSUPPORTED);
}

/* On a shared channel the watermark is what may be in progress: requests and answers */
class SharedTable : public testing::TestWithParam<std::pair<unsigned, std::uint32_t>>
{
};

TEST_P(SharedTable, StaysBelowTheWatermark)
{
	auto [shift, mark] = GetParam();
	network net(2, shift + mark);
	std::uint32_t most = 0;
	unsigned done[2] = {}, posted[2] = {}, n = 800;

	net.wire = { 0.02, 0.01, 0.02, 0.001 };
	for (unsigned i = 0; i < 2; i++) {
		net[i].vl = 9;
		ASSERT_EQ(set_vl(net[i].h, 9, shift, mark), 0);
		ubsim::jetty_options o;

		o.sq_shift = 9;
		net[i].add(100 + i, o);
	}
	auto work = [&](unsigned i) {
		ubsim::rc &q = *net[i].jetties[100 + i];

		for (; posted[i] < n && q.room() >= 4; posted[i]++) {
			std::uint64_t v = posted[i], off = posted[i] % 512 * 8;
			bool read = posted[i] & 1;

			net[i].m.write(off, &v, 8);
			q.post({ .op = read ? UBOE_SQE_READ : UBOE_SQE_WRITE,
				 .sges = { net[i].local(read ? 0x8000 + off : off, 8) },
				 .remote = net[!i].m.va() + (read ? 0 : 0x4000 + off),
				 .rkey = key,
				 .tpn = net[i].channel(net[!i].self) });
		}
		while (auto c = net[i].tx.poll()) {
			ASSERT_EQ(status(*c), UBOE_CQE_OK);
			done[i]++;
		}
		q.retire(q.copied());
		most = std::max(most, used(net[i].share(net[!i].self)->tp));
	};
	EXPECT_TRUE(net.until([&] {
		work(0);
		work(1);
		return testing::Test::HasFatalFailure() || (done[0] == n && done[1] == n);
	})) << done[0]
	    << " " << done[1];
	EXPECT_LE(most, std::max(mark, 2u));
	EXPECT_EQ(net[0].h.stat(UBP_D_RC_TABLE) + net[1].h.stat(UBP_D_RC_TABLE), 0u);
	EXPECT_EQ(net[0].share(net[1].self)->max_req, std::min(std::max(mark / 2, 1u), UBP_RM_REQ))
		<< "the peer said how much it takes";
}

INSTANTIATE_TEST_SUITE_P(RcTable, SharedTable,
			 testing::Values(std::pair{ 6u, 1u }, std::pair{ 6u, 2u },
					 std::pair{ 6u, 8u }, std::pair{ 6u, 64u },
					 std::pair{ 15u, 20u }, std::pair{ 15u, 32768u }));

TEST(RcTable, OfASharedChannelAsItsVlHasIt)
{
	network net(1);
	node &n = net[0];
	uboe_tp_ctx tp{};

	EXPECT_EQ(n.share(addr(false, 9))->rct_mask, 511u) << "the default";
	EXPECT_EQ(n.share(addr(false, 9))->take_req, 256u);
	ASSERT_EQ(set_vl(n.h, 15, 6, 10), 0);
	n.vl = 15;
	EXPECT_EQ(n.share(addr(false, 8))->rct_mask, 63u);
	EXPECT_EQ(n.share(addr(false, 8))->take_req, 5u);
	std::memcpy(tp.laddr, n.self.b.data(), 16);
	std::memcpy(tp.raddr, addr(false, 7).b.data(), 16);
	tp.mtu = 1024;
	tp.vl = 16;
	EXPECT_EQ(n.h.create(UBOE_MBOX_TP, n.next_tpn, tp), -EINVAL);
	n.h.out().clear();
}

} /* namespace */
