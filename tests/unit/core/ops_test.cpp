// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Operations that change memory by what was there: each at its limit and one beyond. */
#include <gtest/gtest.h>

#include "rig.hpp"

extern "C" {
#include "ubp_reduce.h"
}

using namespace rig;
using ubsim::reduce;
using ubsim::sub_op;
using ubsim::wide;

namespace
{

constexpr std::uint64_t canary = 0xc5c5c5c5c5c5c5c5;

/* Two ends; what each announces can be chosen */
struct ops : testing::Test {
	std::unique_ptr<pair> p;

	void start(std::uint32_t caps = UB_CAP_WASA | UB_CAP_REDUCE, std::uint16_t mtu = 1024)
	{
		ubp_config cfg = ubsim::host::small_config();

		cfg.caps = caps;
		p = std::make_unique<pair>(false, cfg);
		ASSERT_TRUE(p->connect(mtu));
		std::vector<std::uint64_t> v(4096, canary);
		p->b.m.write(0, v.data(), 8 * v.size());
		p->a.m.write(0x8000, v.data(), 8 * v.size());
	}

	uboe_cqe done(const ubsim::send_wr &wr)
	{
		p->a.q->post(wr);
		p->run();
		auto c = p->a.tx.poll();

		EXPECT_TRUE(c);
		return c.value_or(uboe_cqe{});
	}

	ubsim::send_wr atomic(std::uint8_t op, std::uint32_t size, wide first, wide second = 0)
	{
		ubsim::send_wr wr;

		wr.op = op;
		wr.sges = { p->a.local(0x8010, size) };
		wr.remote = p->b.m.va() + 16;
		wr.rkey = key;
		wr.swap = first;
		wr.compare = second;
		return wr;
	}

	wide at(end &e, std::uint64_t off)
	{
		return wide(e.m.load(off + 8, 8)) << 64 | e.m.load(off, 8);
	}

	/* Nothing but [16, 16 + n) of the target may have changed */
	void only(std::size_t n)
	{
		bytes b(32768);

		p->b.m.read(0, b.data(), b.size());
		for (std::size_t i = 0; i < b.size(); i++)
			if (i < 16 || i >= 16 + n)
				ASSERT_EQ(b[i], 0xc5) << "byte " << i;
	}
};

constexpr wide both = wide(0x1122334455667788) << 64 | 0x99aabbccddeeff00;
constexpr wide full = wide(canary) << 64 | canary;

TEST_F(ops, Cas16SwapsAllOrNothing)
{
	if (!ubp_os_has_cas128())
		GTEST_SKIP() << "this CPU has no such instruction";
	start();
	EXPECT_EQ(status(done(atomic(UBOE_SQE_CAS, 16, both, full ^ (wide(1) << 127)))), 0u);
	EXPECT_EQ(at(p->b, 16), full) << "compared unequal in the last bit";
	EXPECT_EQ(at(p->a, 0x8010), full) << "the old value comes back";
	EXPECT_EQ(status(done(atomic(UBOE_SQE_CAS, 16, both, full))), 0u);
	EXPECT_EQ(at(p->b, 16), both);
	EXPECT_EQ(at(p->a, 0x8010), full);
	EXPECT_EQ(at(p->a, 0x8000), full) << "nothing before it";
	EXPECT_EQ(at(p->a, 0x8020), full) << "nor behind it";
	only(16);
}

TEST_F(ops, OtherSizesOfAtomicsAreRefusedHere)
{
	struct {
		std::uint8_t op;
		std::uint32_t size;
	} bad[] = { { UBOE_SQE_CAS, 1 },  { UBOE_SQE_CAS, 2 },	 { UBOE_SQE_CAS, 32 },
		    { UBOE_SQE_FAA, 16 }, { UBOE_SQE_SWAP, 16 }, { UBOE_SQE_LOAD, 16 } };

	for (auto [op, size] : bad) {
		start();
		ubsim::send_wr wr = atomic(op, 8, 1);

		wr.sges[0].len = size;
		wr.udf = op == UBOE_SQE_LOAD;
		wr.swap = 0;
		uboe_cqe c = done(wr);

		EXPECT_EQ(status(c), UBOE_CQE_LOCAL) << int(op) << ", " << size;
		EXPECT_EQ(sub(c), UBOE_CQE_LOCAL_LEN);
		only(0);
	}
}

TEST_F(ops, Cas16NeedsSixteenByteAlignment)
{
	start();
	ubsim::send_wr wr = atomic(UBOE_SQE_CAS, 16, both, full);

	wr.remote += 8;
	EXPECT_EQ(status(done(wr)), UBOE_CQE_UNSUPPORTED);
	only(0);
}

TEST_F(ops, StoreChangesAndReturnsNothing)
{
	for (std::uint32_t size : { 4u, 8u }) {
		start();
		ubsim::send_wr wr = atomic(UBOE_SQE_STORE, size, 0x0102030405060708);

		wr.udf = true;
		wr.ud = sub_op(UBOE_UDF_XOR);
		wr.sges[0].key = 0; /* only the length counts */
		EXPECT_EQ(status(done(wr)), 0u);
		EXPECT_EQ(p->b.m.load(16, size),
			  (canary ^ 0x0102030405060708) & (size == 8 ? ~0ull : 0xffffffff));
		EXPECT_EQ(at(p->a, 0x8010), full) << "no value comes back";
		only(size);
	}
}

TEST_F(ops, LoadDoesEachSubOperation)
{
	const std::uint64_t x = 0x0f0f0f0f12345678, m = canary;
	const std::uint64_t want[8] = { m + x, m ^ x, m & ~x, m | x, x, m, m, x };

	for (std::uint32_t size : { 4u, 8u }) {
		start();
		const std::uint64_t mask = size == 8 ? ~0ull : 0xffffffff;

		for (std::uint32_t op = 0; op < 8; op++) {
			ubsim::send_wr wr = atomic(UBOE_SQE_LOAD, size, x & mask);

			p->b.m.write(16, &m, 8);
			wr.udf = true;
			wr.ud = sub_op(op);
			EXPECT_EQ(status(done(wr)), 0u);
			EXPECT_EQ(p->a.m.load(0x8010, size), m & mask) << op;
			EXPECT_EQ(p->b.m.load(16, size), want[op] & mask) << op;
			EXPECT_EQ(p->b.m.load(16 + size, 4), 0xc5c5c5c5u);
		}
	}
}

TEST_F(ops, SubOperationsAreChecked)
{
	for (std::uint32_t ud : { sub_op(8), sub_op(15), reduce(UBOE_UDF_S32, 0), 1u << 8, 2u }) {
		start();
		ubsim::send_wr wr = atomic(UBOE_SQE_LOAD, 8, 1);

		wr.udf = true;
		wr.ud = ud;
		EXPECT_EQ(status(done(wr)), UBOE_CQE_UNSUPPORTED) << ud;
		only(0);
	}
	start();
	EXPECT_EQ(status(done(atomic(UBOE_SQE_STORE, 8, 1))), UBOE_CQE_UNSUPPORTED)
		<< "an atomic store says which";
	start();
	ubsim::send_wr wr = atomic(UBOE_SQE_FAA, 8, 1);
	wr.udf = true;
	EXPECT_EQ(status(done(wr)), UBOE_CQE_UNSUPPORTED) << "a fetch and add has none";
	only(0);
}

TEST_F(ops, EndsThatAgreeUseArmsNamesOnTheWire)
{
	/* between two such ends nothing changes, since both turn the numbers round */
	start(UB_CAP_REDUCE | UB_CAP_CLR_EOR_ARM);
	ubsim::send_wr wr = atomic(UBOE_SQE_LOAD, 8, 0xff);

	wr.udf = true;
	wr.ud = sub_op(UBOE_UDF_XOR);
	EXPECT_EQ(ubp_ud_wire(p->a.tp(), 0, 0, UBOE_UDF_XOR), 0x00200000u);
	EXPECT_EQ(ubp_ud_wire(p->a.tp(), 1, 3, UBOE_UDF_ADD), 0x10030000u);
	EXPECT_EQ(status(done(wr)), 0u);
	EXPECT_EQ(p->b.m.load(16, 8), canary ^ 0xff);
}

/* ---- reduce ---- */

ubsim::send_wr reducing(pair &p, std::uint8_t op, std::uint32_t len, std::uint32_t ud)
{
	ubsim::send_wr wr;

	wr.op = op;
	wr.sges = { p.a.local(0x8010, len) };
	wr.remote = p.b.m.va() + 16;
	wr.rkey = key;
	wr.udf = true;
	wr.ud = ud;
	return wr;
}

TEST_F(ops, WriteWithReduceUpToTheMtu)
{
	for (std::uint16_t mtu : { 1024, 4096 }) {
		start(UB_CAP_REDUCE, mtu);
		std::vector<std::uint32_t> v(mtu / 4), want;

		for (unsigned i = 0; i < v.size(); i++) {
			v[i] = i * 0x01010101u;
			want.push_back(0xc5c5c5c5u + v[i]);
		}
		p->a.m.write(0x8010, v.data(), mtu);
		EXPECT_EQ(status(done(reducing(*p, UBOE_SQE_WRITE, mtu,
					       reduce(UBOE_UDF_S32, UBOE_UDF_ADD)))),
			  0u);
		EXPECT_EQ(p->b.m.compare(16, want.data(), mtu), mtu);
		only(mtu);
		uboe_cqe c = done(
			reducing(*p, UBOE_SQE_WRITE, mtu + 4u, reduce(UBOE_UDF_S32, UBOE_UDF_ADD)));

		EXPECT_EQ(status(c), UBOE_CQE_LOCAL) << "one element beyond";
		EXPECT_EQ(sub(c), UBOE_CQE_LOCAL_LEN);
		EXPECT_EQ(p->b.m.compare(16, want.data(), mtu), mtu);
		only(mtu);
	}
}

TEST_F(ops, ReadWithReduceUpToTheMtu)
{
	start();
	std::vector<std::uint16_t> v(512), want;

	for (unsigned i = 0; i < v.size(); i++) {
		v[i] = std::uint16_t(i * 131);
		want.push_back(std::max<std::uint16_t>(v[i], 0xc5c5));
	}
	p->a.m.write(0x8010, v.data(), 1024);
	ubsim::send_wr wr = reducing(*p, UBOE_SQE_READ, 1024, reduce(UBOE_UDF_U16, UBOE_UDF_UMAX));
	/* pieces that cut elements apart */
	wr.sges = { p->a.local(0x8010, 333), p->a.local(0x8010 + 333, 1024 - 333) };
	EXPECT_EQ(status(done(wr)), 0u);
	EXPECT_EQ(p->a.m.compare(0x8010, want.data(), 1024), 1024u);
	EXPECT_EQ(p->a.m.load(0x8008, 8), canary);
	EXPECT_EQ(p->a.m.load(0x8410, 8), canary);
	only(0);
	wr.sges = { p->a.local(0x8010, 1026) };
	EXPECT_EQ(sub(done(wr)), UBOE_CQE_LOCAL_LEN);
	EXPECT_EQ(p->a.m.compare(0x8010, want.data(), 1024), 1024u);
}

TEST_F(ops, ReduceOfNothingAndInline)
{
	start();
	ubsim::send_wr wr = reducing(*p, UBOE_SQE_WRITE, 0, reduce(UBOE_UDF_U8, UBOE_UDF_ADD));

	EXPECT_EQ(status(done(wr)), 0u);
	only(0);
	wr.inl = true;
	wr.sges.clear();
	wr.data = bytes(208, 1);
	EXPECT_EQ(status(done(wr)), 0u);
	for (unsigned i = 0; i < 208; i += 8)
		EXPECT_EQ(p->b.m.load(16 + i, 8), 0xc6c6c6c6c6c6c6c6u);
	only(208);
}

TEST_F(ops, ReduceIsRefusedHere)
{
	struct {
		std::uint32_t ud;
		std::uint32_t off;
		std::uint32_t len;
		unsigned status;
	} bad[] = {
		{ reduce(UBOE_UDF_S32, UBOE_UDF_UMAX), 0, 8, UBOE_CQE_UNSUPPORTED },
		{ reduce(UBOE_UDF_U32, UBOE_UDF_SMIN), 0, 8, UBOE_CQE_UNSUPPORTED },
		{ reduce(UBOE_UDF_FP32, UBOE_UDF_XOR), 0, 8, UBOE_CQE_UNSUPPORTED },
		{ reduce(UBOE_UDF_FP16, UBOE_UDF_UMAX), 0, 8, UBOE_CQE_UNSUPPORTED },
		{ reduce(7, UBOE_UDF_ADD), 0, 8, UBOE_CQE_UNSUPPORTED },
		{ reduce(12, UBOE_UDF_ADD), 0, 8, UBOE_CQE_UNSUPPORTED },
		{ reduce(UBOE_UDF_U32, 8), 0, 8, UBOE_CQE_UNSUPPORTED },
		{ sub_op(UBOE_UDF_ADD), 0, 8, UBOE_CQE_UNSUPPORTED },
		{ 2, 0, 8, UBOE_CQE_UNSUPPORTED },
		{ reduce(UBOE_UDF_U32, UBOE_UDF_ADD), 2, 8, UBOE_CQE_UNSUPPORTED },
		{ reduce(UBOE_UDF_U64, UBOE_UDF_ADD), 4, 8, UBOE_CQE_UNSUPPORTED },
		{ reduce(UBOE_UDF_U32, UBOE_UDF_ADD), 0, 7, UBOE_CQE_LOCAL },
		{ reduce(UBOE_UDF_U64, UBOE_UDF_ADD), 0, 12, UBOE_CQE_LOCAL },
	};

	for (const auto &b : bad)
		for (std::uint8_t op : { UBOE_SQE_WRITE, UBOE_SQE_READ }) {
			start();
			ubsim::send_wr wr = reducing(*p, op, b.len, b.ud);

			wr.remote += b.off;
			EXPECT_EQ(status(done(wr)), b.status) << std::hex << b.ud;
			only(0);
		}
}

TEST_F(ops, ReduceWithoutTheCapability)
{
	for (std::uint8_t op : { UBOE_SQE_WRITE, UBOE_SQE_READ }) {
		start(UB_CAP_WASA);
		uboe_cqe c = done(reducing(*p, op, 8, reduce(UBOE_UDF_U32, UBOE_UDF_ADD)));

		EXPECT_EQ(status(c), UBOE_CQE_UNSUPPORTED) << "this device does not know it";
		only(0);
		ubp_config with = ubsim::host::small_config(), without = with;

		without.caps &= ~UB_CAP_REDUCE;
		end a(addr(false, 1), 0x101, with), b(addr(false, 2), 0x202, without);
		ASSERT_FALSE(a.connect(b.self, b.id) || b.connect(a.self, a.id));
		for (int i = 0; i < 20; i++) {
			pair::carry(a, b);
			pair::carry(b, a);
		}
		ubsim::send_wr wr{ .op = op, .sges = { a.local(0, 8) } };
		wr.remote = b.m.va();
		wr.rkey = key;
		wr.udf = true;
		wr.ud = reduce(UBOE_UDF_U32, UBOE_UDF_ADD);
		a.q->post(wr);
		auto got = a.tx.poll();
		ASSERT_TRUE(got);
		EXPECT_EQ(status(*got), UBOE_CQE_REMOTE) << "the peer does not";
		EXPECT_EQ(sub(*got), UBOE_CQE_REMOTE_UNSUPPORTED);
	}
}

TEST_F(ops, ReduceNeedsTheRightAndTheRange)
{
	for (unsigned i = 0; i < 3; i++) {
		start();
		ubsim::send_wr wr =
			reducing(*p, UBOE_SQE_WRITE, 64, reduce(UBOE_UDF_U32, UBOE_UDF_ADD));

		if (i == 0)
			wr.rkey ^= 1;
		else if (i == 1)
			wr.remote = p->b.m.va() + p->b.m.len() - 60;
		else
			wr.remote = p->b.m.va() - 4;
		uboe_cqe c = done(wr);

		EXPECT_EQ(status(c), UBOE_CQE_REMOTE);
		EXPECT_EQ(sub(c), UBOE_CQE_REMOTE_ABORT);
		EXPECT_TRUE(p->b.m.canaries_ok());
		only(0);
	}
}

/* ---- Write with store add ---- */

ubsim::send_wr adding(pair &p, std::uint8_t form, std::uint32_t len)
{
	ubsim::send_wr wr;

	wr.op = form;
	wr.sges = { p.a.local(0x10, len) };
	wr.remote = p.b.m.va() + 0x10000;
	wr.rkey = key;
	wr.imm = 5;
	wr.notify = p.b.m.va() + 16;
	wr.notify_key = key;
	return wr;
}

class store_add : public ops, public testing::WithParamInterface<std::tuple<int, bool>>
{
      public:
	std::uint8_t form() const { return std::uint8_t(std::get<0>(GetParam())); }
	std::uint32_t caps() const
	{
		return std::get<1>(GetParam()) ? std::uint32_t(UB_CAP_WASA) : 0u;
	}
};

using StoreAdd = store_add;

TEST_P(StoreAdd, AddsBehindTheData)
{
	start(caps());
	std::uint64_t want = canary;

	for (std::uint32_t len : { 0u, 8u, 1024u, 1025u, 65535u, 65536u }) {
		bytes data(len, std::uint8_t(len + 3));

		p->a.m.write(0x10, data.data(), len);
		EXPECT_EQ(status(done(adding(*p, form(), len))), 0u) << len;
		EXPECT_EQ(p->b.m.compare(0x10000, data.data(), len), len);
		want += 5;
		EXPECT_EQ(p->b.m.load(16, 8), want) << len;
		EXPECT_EQ(p->b.m.load(0x10000 + len, 8), 0u);
		only(8);
		EXPECT_FALSE(p->a.tx.poll()) << "one completion";
	}
	/* no SGE: no payload */
	ubsim::send_wr wr = adding(*p, form(), 0);

	wr.sges.clear();
	EXPECT_EQ(status(done(wr)), 0u);
	EXPECT_EQ(p->b.m.load(16, 8), want + 5);
}

TEST_P(StoreAdd, LongerThanASliceIsRefusedWithAnEvent)
{
	start(caps());
	p->a.h.events().clear();
	uboe_cqe c = done(adding(*p, form(), 65537));

	EXPECT_EQ(status(c), UBOE_CQE_LOCAL);
	EXPECT_EQ(sub(c), UBOE_CQE_LOCAL_LEN);
	ASSERT_FALSE(p->a.h.events().empty());
	EXPECT_EQ(p->a.h.events()[0].type, UBOE_EV_JETTY);
	EXPECT_EQ(p->a.h.events()[0].sub, UBOE_EV_SUB_JFS);
	only(0);
	EXPECT_EQ(p->b.m.load(0x10000, 8), 0u);
}

TEST_P(StoreAdd, InlineUpToItsLimit)
{
	const unsigned most = form() == UBOE_SQE_WRITE_STOREADD1 ? 8 : 16;

	start(caps());
	ubsim::send_wr wr = adding(*p, form(), 0);

	wr.sges.clear();
	wr.inl = true;
	wr.data = bytes(most, 0x77);
	EXPECT_EQ(ubsim::rc::blocks(wr), form() == UBOE_SQE_WRITE_STOREADD1 ? 1u : 2u);
	EXPECT_EQ(status(done(wr)), 0u);
	EXPECT_EQ(p->b.m.compare(0x10000, wr.data.data(), most), most);
	EXPECT_EQ(p->b.m.load(16, 8), canary + 5);
	wr.data = bytes(most + 1, 0x78);
	EXPECT_EQ(sub(done(wr)), UBOE_CQE_LOCAL_LEN);
	EXPECT_EQ(p->b.m.load(0x10000, 1), 0x77u);
	EXPECT_EQ(p->b.m.load(16, 8), canary + 5);
}

TEST_P(StoreAdd, OneElementAtMost)
{
	start(caps());
	ubsim::send_wr wr = adding(*p, form(), 8);

	wr.sges.push_back(wr.sges[0]);
	EXPECT_EQ(sub(done(wr)), UBOE_CQE_LOCAL_LEN);
	only(0);
}

TEST_P(StoreAdd, TheCounterIsAligned)
{
	start(caps());
	ubsim::send_wr wr = adding(*p, form(), 8);

	wr.notify += 4;
	EXPECT_EQ(status(done(wr)), UBOE_CQE_UNSUPPORTED);
	only(0);
	EXPECT_EQ(p->b.m.load(0x10000, 8), 0u);
}

TEST_P(StoreAdd, AForeignCounterIsRefused)
{
	start(caps());
	std::uint64_t one = 1;

	p->a.m.write(0x10, &one, 8);
	ubsim::send_wr wr = adding(*p, form(), 8);

	wr.notify = p->b.m.va() + p->b.m.len();
	uboe_cqe c = done(wr);

	EXPECT_EQ(status(c), UBOE_CQE_REMOTE);
	EXPECT_EQ(sub(c), UBOE_CQE_REMOTE_ABORT);
	only(0);
	EXPECT_TRUE(p->b.m.canaries_ok());
	if (caps()) /* as two requests it has been written when the second is refused */
		EXPECT_EQ(p->b.m.load(0x10000, 8), 0u);
}

TEST_P(StoreAdd, OrderIsKept)
{
	/* what follows is executed behind both halves, and completes behind them */
	start(caps());
	ubsim::send_wr after = atomic(UBOE_SQE_FAA, 8, 100);

	for (int i = 0; i < 40; i++) {
		p->a.q->post(adding(*p, form(), 2000));
		std::uint32_t end = p->a.q->post(after);

		p->run(1);
		p->a.q->retire(end);
		ASSERT_EQ(p->a.m.load(0x8010, 8), canary + std::uint64_t(i) * 105 + 5);
		ASSERT_TRUE(p->a.tx.poll());
		ASSERT_TRUE(p->a.tx.poll());
		ASSERT_FALSE(p->a.tx.poll());
	}
}

TEST_P(StoreAdd, AFullWindowOfThem)
{
	start(caps());
	unsigned n = 0, got = 0;

	for (int i = 0; i < 200; i++) {
		ubsim::send_wr wr = adding(*p, form(), 600);

		if (p->a.q->room() >= ubsim::rc::blocks(wr)) {
			p->a.q->post(wr);
			n++;
		}
		if (i % 8 == 7) {
			p->run(1);
			while (auto c = p->a.tx.poll()) {
				EXPECT_EQ(status(*c), 0u);
				p->a.q->retire((c->w1 & 0xffff) + 1u);
				got++;
			}
		}
	}
	EXPECT_EQ(got, n);
	EXPECT_EQ(p->b.m.load(16, 8), canary + 5 * n);
}

INSTANTIATE_TEST_SUITE_P(Forms, StoreAdd,
			 testing::Combine(testing::Values(UBOE_SQE_WRITE_STOREADD1,
							  UBOE_SQE_WRITE_STOREADD2),
					  testing::Bool()));

TEST_F(ops, StoreAddHasNoUserData)
{
	for (std::uint8_t form : { UBOE_SQE_WRITE_STOREADD1, UBOE_SQE_WRITE_STOREADD2 }) {
		start();
		ubsim::send_wr wr = adding(*p, form, 8);

		wr.udf = true;
		EXPECT_EQ(status(done(wr)), UBOE_CQE_UNSUPPORTED);
		only(0);
	}
}

TEST_F(ops, TheShortFormTakesTwentyFourBitsOfTheToken)
{
	ubp_sqe s;
	alignas(64) u8 ring[64] = {};
	auto *q = reinterpret_cast<uboe_sqe_storeadd1 *>(ring);

	q->w1 = UBOE_SQE_WRITE_STOREADD1 << 8;
	q->w3 = 0xfffabcde;
	q->eid = ~0u;
	q->token = 0xfedcba98;
	q->addr = 0x1000;
	q->counter = 0x2000;
	q->data = 7;
	ubp_sqe_fetch(ring, 0, 0, 1, &s);
	EXPECT_EQ(s.status, 0);
	EXPECT_EQ(s.nbb, 1);
	EXPECT_EQ(s.op, UB_TA_WRITE_STOREADD);
	EXPECT_EQ(s.rmt_id, 0xabcdeu);
	EXPECT_EQ(s.ntf_token_id, 0xabcdeu);
	EXPECT_EQ(s.token, 0xdcba98u);
	EXPECT_EQ(s.ntf_token, 0xdcba98u);
	EXPECT_EQ(s.addr, 0x1000u);
	EXPECT_EQ(s.ntf_addr, 0x2000u);
	EXPECT_EQ(s.imm, 7u);
}

} /* namespace */
