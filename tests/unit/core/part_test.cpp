// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Network partitions: who hears whom, what packets say of it, and what is refused. */
#include <gtest/gtest.h>

#include "rmnet.hpp"

using namespace rig;

namespace
{

constexpr std::uint32_t low = UBOE_NPI_LOW;

int set_npi(ubsim::host &h, std::uint32_t npi, std::uint32_t tag = 0)
{
	uboe_entity_ctx c{};

	c.npi = npi;
	return h.modify(UBOE_MBOX_ENTITY, tag, c, UBOE_EM_NPI);
}

std::uint32_t npi_of(ubsim::host &h)
{
	uboe_entity_ctx c{};

	return h.query(UBOE_MBOX_ENTITY, 0, c) ? 0 : c.npi;
}

ubp_config in(std::uint32_t npi)
{
	ubp_config c = ubsim::host::small_config();

	c.npi = npi;
	return c;
}

TEST(Partition, TheFirstAndTheLastAreTaken)
{
	ubsim::host h;

	EXPECT_EQ(npi_of(h), UB_NPI_DEFAULT);
	EXPECT_EQ(set_npi(h, 0xffffff), 0);
	EXPECT_EQ(npi_of(h), 0xffffffu);
	EXPECT_EQ(set_npi(h, 0x1ffffff), 0);
	EXPECT_EQ(npi_of(h), 0x1ffffffu);
	EXPECT_EQ(set_npi(h, 0x2000000), -EINVAL);
	EXPECT_EQ(set_npi(h, 0), -EINVAL) << "partition 0 is invalid";
	EXPECT_EQ(set_npi(h, low), -EINVAL) << "with low privilege, too";
	EXPECT_EQ(npi_of(h), 0x1ffffffu);
	EXPECT_EQ(set_npi(h, 1), 0);
	EXPECT_EQ(npi_of(h), 1u);
}

TEST(Partition, DevicesDoNotStartInNone)
{
	for (std::uint32_t npi : { 0u, low, 0x2000001u }) {
		ubp_config c = in(npi);
		ubp_dev dev{};

		dev.cfg = c;
		EXPECT_EQ(ubp_dev_init(&dev), -EINVAL) << npi;
	}
}

TEST(Partition, CommandsThatAreRefused)
{
	ubsim::host h;
	uboe_entity_ctx c{};

	c.npi = 5;
	EXPECT_EQ(set_npi(h, 5, 1), -EINVAL) << "a soft device has function 0";
	EXPECT_EQ(h.query(UBOE_MBOX_ENTITY, 1, c), -EINVAL);
	EXPECT_EQ(h.create(UBOE_MBOX_ENTITY, 0, c), -EOPNOTSUPP);
	EXPECT_EQ(h.destroy(UBOE_MBOX_ENTITY, 0), -EOPNOTSUPP);
	c = {};
	c.npi = 5;
	EXPECT_EQ(h.modify(UBOE_MBOX_ENTITY, 0, c, 0), -EOPNOTSUPP);
	EXPECT_EQ(h.modify(UBOE_MBOX_ENTITY, 0, c, 0x80), -EOPNOTSUPP);
	c.jetties = 1;
	EXPECT_EQ(h.modify(UBOE_MBOX_ENTITY, 0, c, UBOE_EM_NPI), -EINVAL);
	for (auto &r : c.rsvd) {
		c.jetties = 0;
		r = 1;
		EXPECT_EQ(h.modify(UBOE_MBOX_ENTITY, 0, c, UBOE_EM_NPI), -EINVAL);
		r = 0;
	}
	EXPECT_EQ(npi_of(h), UB_NPI_DEFAULT);
}

TEST(Partition, StaysWhileThereAreJetties)
{
	end e(addr(false, 1), 0x101);
	uboe_entity_ctx c{};

	EXPECT_EQ(set_npi(e.h, 7), -EBUSY);
	EXPECT_EQ(set_npi(e.h, UB_NPI_DEFAULT), 0) << "the one that it is in";
	ASSERT_EQ(e.h.query(UBOE_MBOX_ENTITY, 0, c), 0);
	EXPECT_EQ(c.jetties, 1u);
	e.q.reset();
	EXPECT_EQ(set_npi(e.h, 7), 0);
}

/* ---- two entities ---- */

struct who {
	std::uint32_t a, b;
	const char *drop; /* "": they hear one another */
};

class Two : public testing::TestWithParam<std::tuple<bool, who>>
{
      protected:
	bool v6() const { return std::get<0>(GetParam()); }
	const who &w() const { return std::get<1>(GetParam()); }
	bool fine() const { return !*w().drop; }
	void check_drops(const moved &a, const moved &b)
	{
		for (const moved *m : { &a, &b }) {
			if (fine())
				EXPECT_EQ(m->drops(), "");
			else
				EXPECT_EQ(m->drops().substr(0, std::strlen(w().drop)), w().drop);
		}
	}
};

TEST_P(Two, Connections)
{
	end a(addr(v6(), 1), 0x101, in(w().a)), b(addr(v6(), 2), 0x202, in(w().b));
	moved da(a.h), db(b.h);
	std::uint32_t end;

	ASSERT_EQ(a.connect(b.self, b.id), 0);
	ASSERT_EQ(b.connect(a.self, a.id), 0);
	for (unsigned i = 0; i < 20; i++) {
		pair::carry(a, b);
		pair::carry(b, a);
		for (auto *e : { &a, &b }) {
			e->h.time += 1000000;
			e->h.run_timers();
		}
	}
	EXPECT_EQ(a.tp()->state == UBP_TP_OPEN, fine());
	EXPECT_EQ(b.tp()->state == UBP_TP_OPEN, fine());
	check_drops(da, db);
	if (!fine())
		return;
	/* several packets, and an answer of several packets */
	std::vector<std::uint8_t> data(3000);
	for (std::size_t i = 0; i < data.size(); i++)
		data[i] = std::uint8_t(i * 7 + 1);
	a.m.write(0, data.data(), data.size());
	a.q->post({ .op = UBOE_SQE_WRITE,
		    .sges = { a.local(0, 3000) },
		    .remote = b.m.va() + 8192,
		    .rkey = key });
	end = a.q->post({ .op = UBOE_SQE_READ,
			  .sges = { a.local(16384, 3000) },
			  .remote = b.m.va() + 8192,
			  .rkey = key });
	for (unsigned i = 0; i < 20; i++) {
		pair::carry(a, b);
		pair::carry(b, a);
		a.h.run_turns();
		b.h.run_turns();
	}
	for (unsigned i = 0; i < 2; i++) {
		auto c = a.tx.poll();
		ASSERT_TRUE(c);
		EXPECT_EQ(status(*c), 0u);
	}
	a.q->retire(end);
	EXPECT_EQ(b.m.compare(8192, data.data(), 3000), 3000u);
	EXPECT_EQ(a.m.compare(16384, data.data(), 3000), 3000u);
	check_drops(da, db);
}

TEST_P(Two, SharedChannels)
{
	network net(2);

	net.v6 = v6();
	net.nodes.clear();
	net.add(0);
	net.add(1);
	ASSERT_EQ(set_npi(net[0].h, w().a), 0);
	ASSERT_EQ(set_npi(net[1].h, w().b), 0);
	moved da(net[0].h), db(net[1].h);
	ubsim::send_wr s{ .op = UBOE_SQE_SEND, .sges = { net[0].local(0, 100) } };
	ubsim::rc &q = net[0].add(1);
	std::optional<uboe_cqe> c;

	net[1].add(2);
	net[1].receive(4096, 100);
	s.rmt = net[1].self;
	s.rmt_id = 2;
	s.rmt_type = UBOE_RMT_JETTY;
	s.tpn = net[0].channel(net[1].self);
	const std::uint32_t at = q.post(s);
	EXPECT_TRUE(net.until([&] { return bool(c = net[0].tx.poll()); }, 10000 * ms));
	q.retire(at);
	ASSERT_TRUE(c);
	EXPECT_EQ(status(*c), fine() ? 0u : unsigned(UBOE_CQE_ACK_TIMEOUT));
	EXPECT_EQ(bool(net[1].rx.poll()), fine());
	/* the peer, which was not asked for anything, sends nothing that could be dropped */
	EXPECT_EQ(da.drops(), "");
	EXPECT_EQ(db.drops().substr(0, std::strlen(w().drop)), w().drop);
}

const who pairs[] = {
	{ 1, 1, "" },
	{ 1, 1 | low, "" }, /* one says who it is, the other need not */
	{ 1 | low, 1, "" },
	{ 0xffffff, 0xffffff, "" },
	{ 0xffffff | low, 0xffffff, "" },
	{ 1, 2, "drop_partition" },
	{ 2, 1, "drop_partition" },
	{ 0x001000, 0x000000 | 0x1001, "drop_partition" },
	{ 0xffffff, 0x7fffff, "drop_partition" },
	{ 2 | low, 3 | low, "drop_partition" }, /* before the privilege */
	{ 1 | low, 1 | low, "drop_privilege" },
	{ 0xabcdef | low, 0xabcdef | low, "drop_privilege" },
};

INSTANTIATE_TEST_SUITE_P(Pairs, Two, testing::Combine(testing::Bool(), testing::ValuesIn(pairs)));

/* ---- what a packet says ---- */

struct Headers : testing::Test {
	pair p;
	moved m{ p.b.h };

	/* A Write of 4 bytes from a to b, as it left */
	bytes write()
	{
		EXPECT_TRUE(p.connect());
		p.a.q->post({ .op = UBOE_SQE_WRITE,
			      .sges = { p.a.local(0, 4) },
			      .remote = p.b.m.va(),
			      .rkey = key });
		EXPECT_EQ(p.a.h.out().size(), 1u);
		bytes out = p.a.h.out()[0].data;

		p.a.h.out().clear();
		return out;
	}
	/* The same with identity headers */
	bytes with_identity(bytes out, std::uint32_t upi, unsigned src = 1, unsigned dst = 2)
	{
		const std::size_t at = tph_at(out);
		bytes id(UB_UPIH_LEN + UB_EIDH_LEN);

		put_unaligned_be32(upi, id.data());
		std::memcpy(&id[UB_UPIH_LEN], addr(false, std::uint8_t(src)).b.data(), 16);
		std::memcpy(&id[UB_UPIH_LEN + 16], addr(false, std::uint8_t(dst)).b.data(), 16);
		out[at + 1] = std::uint8_t(out[at + 1] | UB_NLP_IDENT);
		out.insert(out.begin() + std::ptrdiff_t(at + UB_TPH_LEN), id.begin(), id.end());
		put_unaligned_be16(u16(out.size()), &out[2]);
		put_unaligned_be16(u16(out.size() - UB_IPV4_LEN), &out[UB_IPV4_LEN + 4]);
		seal(out);
		return out;
	}
	std::string refused(const bytes &out)
	{
		moved d(p.b.h);

		p.b.h.receive(out);
		EXPECT_EQ(d.by(UBP_S_RX_INVALID), d.drops().empty() ? 0u : 1u);
		return d.drops();
	}
};

TEST_F(Headers, TheDefaultNeedsNone)
{
	bytes out = write();

	EXPECT_EQ(out[tph_at(out) + 1] & UB_TPH_NLP, UB_NLP_TAH);
	EXPECT_EQ(refused(out), "");
}

TEST_F(Headers, AndMayNameIt)
{
	const bytes out = write();

	EXPECT_EQ(refused(with_identity(out, 0)), "drop_partition") << "0 is invalid";
	EXPECT_EQ(refused(with_identity(out, UB_NPI_LOW)), "drop_partition");
	EXPECT_EQ(refused(with_identity(out, 2)), "drop_partition");
	EXPECT_EQ(refused(with_identity(out, 0x800001)), "drop_partition");
	EXPECT_EQ(refused(with_identity(out, 1, 3)), "drop_tp_nlp");
	EXPECT_EQ(refused(with_identity(out, 1, 1, 3)), "drop_tp_nlp");
	EXPECT_EQ(p.b.tp()->rsp.exec_msn, 0u) << "nothing of it was executed";
	EXPECT_EQ(refused(with_identity(out, 0xfe000001)), "") << "reserved bits are ignored";
	EXPECT_EQ(p.b.tp()->rsp.exec_msn, 1u);
}

TEST_F(Headers, OfALowOneToALowOne)
{
	const bytes out = write();

	p.b.h.dev()->npi = 1 | UB_NPI_LOW; /* what no command does while it has a jetty */
	EXPECT_EQ(refused(with_identity(out, 1 | UB_NPI_LOW)), "drop_privilege");
	EXPECT_EQ(refused(with_identity(out, 1)), "");
}

TEST_F(Headers, CutIdentity)
{
	bytes out = with_identity(write(), 1);

	for (std::size_t keep = 0; keep < UB_UPIH_LEN + UB_EIDH_LEN; keep += 4) {
		bytes cut(out.begin(),
			  out.begin() + std::ptrdiff_t(tph_at(out) + UB_TPH_LEN + keep));

		cut.resize(cut.size() + UB_ICRC_LEN);
		put_unaligned_be16(u16(cut.size()), &cut[2]);
		put_unaligned_be16(u16(cut.size() - UB_IPV4_LEN), &cut[UB_IPV4_LEN + 4]);
		seal(cut);
		EXPECT_EQ(refused(cut), "drop_ta_header") << keep;
	}
}

/* The set-up message says it, too; one that contradicts is not believed */
TEST(PartitionSetUp, TheMessageAgrees)
{
	static const struct {
		std::uint32_t npi;
		const char *drop;
	} said[] = {
		{ 0, "" }, /* nothing */
		{ 1, "" },
		{ 1 | low, "" },
		{ 2, "drop_partition" },
		{ low, "drop_partition" },
		{ 0x02000001, "drop_partition" },
	};

	for (const auto &s : said) {
		pair p;

		ASSERT_EQ(p.a.connect(p.b.self, p.b.id), 0);
		ASSERT_EQ(p.b.connect(p.a.self, p.a.id), 0);
		p.b.h.out().clear();
		ASSERT_EQ(p.a.h.out().size(), 1u);
		bytes req = p.a.h.out()[0].data;
		const std::size_t body = req.size() - UB_ICRC_LEN - UB_TPCM_LEN;

		EXPECT_EQ(get_unaligned_be32(&req[body + UB_TPCM_O_UPI]), UB_NPI_DEFAULT);
		put_unaligned_be32(s.npi, &req[body + UB_TPCM_O_UPI]);
		seal(req);
		moved m(p.b.h);
		p.b.h.receive(req);
		EXPECT_EQ(m.drops(), s.drop) << s.npi;
		EXPECT_EQ(p.b.h.out().empty(), *s.drop != 0) << s.npi;
	}
}

/* Channels that nobody's jetties use are closed when the partition changes */
TEST(PartitionChange, PeersAreTold)
{
	network net(2);
	std::uint32_t at;

	ubsim::rc &q = net[0].add(1);
	net[1].add(2);
	net[1].receive(4096, 100);
	ubsim::send_wr s{ .op = UBOE_SQE_SEND, .sges = { net[0].local(0, 100) } };
	s.rmt = net[1].self;
	s.rmt_id = 2;
	s.rmt_type = UBOE_RMT_JETTY;
	s.tpn = net[0].channel(net[1].self);
	at = q.post(s);
	ASSERT_TRUE(net.until([&] { return bool(net[0].tx.poll()); }));
	q.retire(at);
	EXPECT_EQ(net[1].share(net[0].self)->tp->state, UBP_TP_OPEN);
	EXPECT_EQ(set_npi(net[0].h, 9), -EBUSY);
	net[0].jetties.clear();
	EXPECT_EQ(set_npi(net[0].h, 9), 0);
	net.run(10 * ms);
	EXPECT_EQ(net[0].share(net[1].self)->tp->state, UBP_TP_IDLE);
	EXPECT_EQ(net[1].share(net[0].self)->tp->state, UBP_TP_IDLE);
	/* and back: they talk again */
	EXPECT_EQ(set_npi(net[0].h, 1), 0);
	ubsim::rc &again = net[0].add(1);
	net[1].receive(4096, 100);
	at = again.post(s);
	std::optional<uboe_cqe> c;
	ASSERT_TRUE(net.until([&] { return bool(c = net[0].tx.poll()); }));
	again.retire(at);
	EXPECT_EQ(status(*c), 0u);
}

} /* namespace */
