// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Reliable messages: one queue, a target with each request.
#include "um_rig.hpp"

#include <set>

namespace urma_test
{

namespace
{

constexpr std::uint32_t open_memory = URMA_ACCESS_READ | URMA_ACCESS_WRITE | URMA_ACCESS_ATOMIC;

UmShape reliable()
{
	return { .mode = URMA_TM_RM, .access = open_memory, .room = 1 << 20 };
}

urma_status_t post(UmEnd &from, urma_jfs_wr_t *wr)
{
	urma_jfs_wr_t *bad;

	return from.jetty ? urma_post_jetty_send_wr(from.jetty, wr, &bad) :
			    urma_post_jfs_wr(from.jfs, wr, &bad);
}

/// A request to @p to; the rest is up to the caller.
Wr &aimed(Wr &wr, urma_target_jetty_t *to)
{
	wr.get()->tjetty = to;
	return wr;
}

TEST(Rm, OneJettySendsToSeveral)
{
	UmEnd a(0, reliable()), b(1, reliable()), c(2, reliable());
	std::uint64_t n = 0;

	for (UmEnd *peer : { &b, &c }) {
		urma_target_jetty_t *to = a.aim(*peer);

		for (std::size_t size : { 0, 1, 4096, 4097, 65536 }) {
			a.memory->fill(static_cast<std::uint8_t>(++n));
			peer->receive(n, 0x40000, 65536);
			a.send(to, size);
			const urma_cr_t cr = peer->expect(n);

			EXPECT_EQ(cr.completion_len, size);
			EXPECT_EQ(cr.remote_id.id, a.jetty->jetty_id.id);
			EXPECT_EQ(std::memcmp(cr.remote_id.eid.raw, a.jetty->jetty_id.eid.raw, 16),
				  0);
			EXPECT_EQ(std::memcmp(peer->memory->data() + 0x40000, a.memory->data(),
					      size),
				  0);
		}
	}
}

UmShape ordered_by_target()
{
	UmShape s = reliable();

	s.order = URMA_OT;
	return s;
}

/// Strong requests behind each other, none of which is waited for by the sender.
TEST(RmOrder, TheTargetKeepsIt)
{
	constexpr std::uint64_t rounds = 12;
	UmEnd a(0, ordered_by_target()), b(1, ordered_by_target());
	urma_target_jetty_t *to = a.aim(b);
	urma_target_seg_t *seg = a.reach(b);
	urma_jetty_cfg_t cfg{};
	urma_jetty_attr_t attr{};

	ASSERT_EQ(urma_query_jetty(a.jetty, &cfg, &attr), URMA_SUCCESS);
	EXPECT_EQ(cfg.jfs_cfg.flag.bs.order_type, unsigned(URMA_OT));
	for (std::uint64_t i = 0; i < rounds; i++) {
		Wr data(URMA_OPC_WRITE, 3 * i), flag(URMA_OPC_WRITE, 3 * i + 1),
			add(URMA_OPC_FADD, 3 * i + 2);

		a.memory->fill(static_cast<std::uint8_t>(i));
		b.receive(1000 + i, 0x40000 + i * 64, 64);
		data.local({ a.memory->at(0, 30000) }).remote(b.memory->va() + 4096, seg, 30000);
		flag.local({ a.memory->at(64, 8) }).remote(b.memory->va() + 4096, seg, 8);
		add.local({ a.memory->at(0x80000, 8) }).remote(b.memory->va(), seg, 8).operands(1);
		for (Wr *wr : { &data, &flag, &add }) {
			aimed(*wr, to).get()->flag.bs.place_order = URMA_STRONG_ORDER;
			ASSERT_EQ(wr->post(a.jetty), URMA_SUCCESS);
		}
		for (std::uint64_t n = 0; n < 3; n++)
			a.expect(3 * i + n);
		EXPECT_EQ(std::memcmp(b.memory->data() + 4096, a.memory->data() + 64, 8), 0)
			<< "the short one came last";
		EXPECT_EQ(std::memcmp(b.memory->data() + 4104, a.memory->data() + 8, 29992), 0);
		a.send(to, 64);
		EXPECT_EQ(b.expect(1000 + i).remote_id.id, a.jetty->jetty_id.id);
	}
	std::uint64_t count;

	std::memcpy(&count, b.memory->data(), 8);
	EXPECT_EQ(count, rounds);
	EXPECT_TRUE(b.memory->canaries_ok());
}

TEST(RmOrder, OtherModesHaveNoChoice)
{
	UmEnd a(0, reliable()), um(1);
	urma_device_attr_t dev{};

	ASSERT_EQ(urma_query_device(a.ctx->dev, &dev), URMA_SUCCESS);
	EXPECT_TRUE(dev.dev_cap.rm_order_cap.bs.ot);
	EXPECT_TRUE(dev.dev_cap.rm_order_cap.bs.oi);
	EXPECT_FALSE(dev.dev_cap.rc_order_cap.bs.ot);
	for (urma_order_type_t order : { URMA_OL, URMA_NO }) {
		urma_jetty_cfg_t cfg = a.jetty_cfg();

		cfg.jfs_cfg.flag.bs.order_type = static_cast<unsigned>(order) & 0xff;
		EXPECT_EQ(urma_create_jetty(a.ctx, &cfg), nullptr);
		EXPECT_EQ(errno, EOPNOTSUPP);
	}
	urma_jetty_cfg_t cfg = um.jetty_cfg();

	cfg.jfs_cfg.flag.bs.order_type = URMA_OT;
	EXPECT_EQ(urma_create_jetty(um.ctx, &cfg), nullptr);
	EXPECT_EQ(errno, EINVAL);
}

TEST(Rm, BothDirectionsAndItself)
{
	UmEnd a(0, reliable()), b(1, reliable());
	urma_target_jetty_t *ab = a.aim(b), *ba = b.aim(a), *aa = a.aim(a);

	for (std::uint64_t i = 0; i < 20; i++) {
		b.receive(i, 4096, 64);
		a.send(ab, 64);
		b.expect(i);
		a.receive(i, 4096, 64);
		b.send(ba, 64);
		a.expect(i);
	}
	a.receive(99, 4096, 64);
	Message m(a, aa, 64, 5);
	ASSERT_EQ(post(a, &m.wr), URMA_SUCCESS);
	std::set<std::uint64_t> seen{ a.next()->user_ctx, a.next()->user_ctx };
	EXPECT_EQ(seen, (std::set<std::uint64_t>{ 5, 99 }));
}

TEST(Rm, WriteReadAndAtomics)
{
	UmEnd a(0, reliable()), b(1, reliable());
	urma_target_jetty_t *to = a.aim(b);
	urma_target_seg_t *seg = a.reach(b);
	Wr write(URMA_OPC_WRITE, 1), read(URMA_OPC_READ, 2), add(URMA_OPC_FADD, 3);

	a.memory->fill(7);
	aimed(write.local({ a.memory->at(0, 200000) }).remote(b.memory->va() + 4096, seg, 200000),
	      to);
	ASSERT_EQ(write.post(a.jetty), URMA_SUCCESS);
	a.expect(1);
	EXPECT_EQ(std::memcmp(b.memory->data() + 4096, a.memory->data(), 200000), 0);
	aimed(read.local({ a.memory->at(500000, 200000) })
		      .remote(b.memory->va() + 4096, seg, 200000),
	      to);
	ASSERT_EQ(read.post(a.jetty), URMA_SUCCESS);
	EXPECT_EQ(a.expect(2).completion_len, 200000u);
	EXPECT_EQ(std::memcmp(a.memory->data() + 500000, a.memory->data(), 200000), 0);
	std::uint64_t value = 40, old;
	std::memcpy(b.memory->data(), &value, 8);
	aimed(add.local({ a.memory->at(8, 8) }).remote(b.memory->va(), seg, 8).operands(2), to);
	ASSERT_EQ(add.post(a.jetty), URMA_SUCCESS);
	a.expect(3);
	std::memcpy(&old, a.memory->data() + 8, 8);
	std::memcpy(&value, b.memory->data(), 8);
	EXPECT_EQ(old, 40u);
	EXPECT_EQ(value, 42u);
	EXPECT_TRUE(b.memory->canaries_ok());
}

TEST(Rm, WriteWithImmediate)
{
	UmEnd a(0, reliable()), b(1, reliable());
	Wr wr(URMA_OPC_WRITE_IMM, 1);

	b.receive(9, 0, 0);
	aimed(wr.local({ a.memory->at(0, 100) })
		      .remote(b.memory->va() + 4096, a.reach(b), 100)
		      .imm(0x1122334455667788),
	      a.aim(b));
	ASSERT_EQ(wr.post(a.jetty), URMA_SUCCESS);
	a.expect(1);
	const urma_cr_t cr = b.expect(9);
	EXPECT_EQ(cr.opcode, URMA_CR_OPC_WRITE_WITH_IMM);
	EXPECT_EQ(cr.imm_data, 0x1122334455667788u);
	EXPECT_EQ(cr.completion_len, 100u);
}

TEST(Rm, FromAJfsToAJfr)
{
	UmShape s = reliable();

	s.with_jetty = false;
	s.with_jfs = true;
	UmEnd a(0, s), b(1, s);
	urma_target_jetty_t *to = a.aim_jfr(b);

	for (std::uint64_t i = 0; i < 5; i++) {
		b.receive(i, 4096, 20000);
		a.send(to, 20000);
		EXPECT_EQ(b.expect(i).completion_len, 20000u);
	}
}

TEST(Rm, AMessageWaitsForItsReceive)
{
	UmEnd a(0, reliable()), b(1, reliable());
	urma_target_jetty_t *to = a.aim(b);

	for (std::uint64_t i = 0; i < 10; i++) {
		std::memcpy(a.memory->data() + i * 8, &i, 8);
		Message m(a, to, 8, i, i * 8);
		ASSERT_EQ(post(a, &m.wr), URMA_SUCCESS);
	}
	EXPECT_TRUE(a.nothing_comes(20));
	for (std::uint64_t i = 0; i < 10; i++) {
		std::uint64_t got;

		b.receive(i, 4096, 8);
		b.expect(i);
		std::memcpy(&got, b.memory->data() + 4096, 8);
		EXPECT_EQ(got, i) << "in the order of posting";
	}
	for (std::uint64_t i = 0; i < 10; i++)
		a.expect(i);
}

TEST(Rm, ASilentPeerHoldsBackNoOther)
{
	UmShape s = reliable();

	s.depth = 256;
	UmEnd a(0, s), b(1, s);
	urma_target_jetty_t *to = a.aim(b);
	urma_target_seg_t *seg = a.reach(b);
	urma_rjetty_t nobody = b.describe();

	nobody.jetty_id.eid = a.ctx->eid;
	nobody.jetty_id.eid.raw[15] = 250; // no end is there
	urma_token_t token{ jetty_token };
	urma_target_jetty_t *dead = urma_import_jetty(a.ctx, &nobody, &token);
	ASSERT_NE(dead, nullptr) << "an import asks nobody";
	constexpr std::uint64_t lost = 1000000;
	std::uint64_t given_up = 0;
	/* on a slow machine the silent peer is given up before the others are through */
	const auto next = [&] {
		const auto cr = a.next();

		if (!cr || cr->user_ctx < lost)
			return cr;
		EXPECT_EQ(cr->status, URMA_CR_ACK_TIMEOUT_ERR);
		EXPECT_EQ(cr->user_ctx, lost + given_up);
		++given_up;
		return std::optional<urma_cr_t>();
	};

	for (std::uint64_t i = 0; i < 16; i++) {
		Message m(a, dead, 64, lost + i);
		ASSERT_EQ(post(a, &m.wr), URMA_SUCCESS);
	}
	/* many times around the ring, and every second one quietly */
	for (std::uint64_t i = 0; i < 3000; i++) {
		Wr wr(URMA_OPC_WRITE, i), quiet(URMA_OPC_WRITE, 77);

		aimed(quiet.quiet().local({ a.memory->at(0, 64) }).remote(b.memory->va(), seg, 64),
		      to);
		ASSERT_EQ(quiet.post(a.jetty), URMA_SUCCESS);
		aimed(wr.local({ a.memory->at(0, 64) }).remote(b.memory->va(), seg, 64), to);
		ASSERT_EQ(wr.post(a.jetty), URMA_SUCCESS);
		std::optional<urma_cr_t> cr;
		for (unsigned others = 0; others <= 16 && !cr; others++)
			cr = next();
		ASSERT_TRUE(cr);
		ASSERT_EQ(cr->status, URMA_CR_SUCCESS);
		ASSERT_EQ(cr->user_ctx, i);
	}
	while (given_up < 16)
		ASSERT_FALSE(next());
	Wr last(URMA_OPC_WRITE, 1);
	aimed(last.local({ a.memory->at(0, 64) }).remote(b.memory->va(), seg, 64), to);
	ASSERT_EQ(last.post(a.jetty), URMA_SUCCESS);
	a.expect(1);
	EXPECT_EQ(urma_unimport_jetty(dead), URMA_SUCCESS);
}

TEST(Rm, AnErrorIsThatOfOneRequest)
{
	UmEnd a(0, reliable()), b(1, reliable());
	urma_target_jetty_t *to = a.aim(b), *stranger = a.aim(b, jetty_token ^ 1);
	Message bad(a, stranger, 64, 1);
	Wr beyond(URMA_OPC_WRITE, 2), wrong(URMA_OPC_WRITE, 3);

	b.receive(1, 4096, 64);
	ASSERT_EQ(post(a, &bad.wr), URMA_SUCCESS);
	EXPECT_EQ(a.next()->status, URMA_CR_REM_ACCESS_ABORT_ERR);
	aimed(wrong.local({ a.memory->at(0, 64) })
		      .remote(b.memory->va(), a.reach(b, segment_token ^ 1), 64),
	      to);
	ASSERT_EQ(wrong.post(a.jetty), URMA_SUCCESS);
	EXPECT_EQ(a.next()->status, URMA_CR_REM_ACCESS_ABORT_ERR);
	EXPECT_TRUE(b.memory->canaries_ok());
	a.send(to, 64);
	b.expect(1);
}

TEST(Rm, RetriesEnd)
{
	UmShape s = reliable();

	s.rnr_retry = 2;
	UmEnd a(0, s), b(1, s);
	urma_target_jetty_t *to = a.aim(b);
	Message m(a, to, 64, 1);

	ASSERT_EQ(post(a, &m.wr), URMA_SUCCESS);
	EXPECT_EQ(a.next()->status, URMA_CR_RNR_RETRY_CNT_EXC_ERR);
	b.receive(1, 4096, 64);
	a.send(to, 64);
	b.expect(1);
}

TEST(Rm, ErrorResetReady)
{
	UmEnd a(0, reliable()), b(1, reliable());
	urma_target_jetty_t *to = a.aim(b);
	const auto state = [&](urma_jetty_state_t s) {
		urma_jetty_attr_t attr{ JETTY_STATE, 0, s };

		EXPECT_EQ(urma_modify_jetty(a.jetty, &attr), URMA_SUCCESS);
	};

	for (unsigned round = 0; round < 3; round++) {
		for (std::uint64_t i = 0; i < 8; i++) {
			Message m(a, to, 64, i);
			ASSERT_EQ(post(a, &m.wr), URMA_SUCCESS);
		}
		state(URMA_JETTY_STATE_ERROR);
		for (std::uint64_t i = 0; i < 8; i++) {
			const auto cr = a.next();

			ASSERT_TRUE(cr) << "round " << round << ", " << i;
			EXPECT_EQ(cr->status, URMA_CR_WR_FLUSH_ERR);
			EXPECT_EQ(cr->user_ctx, i);
		}
		EXPECT_EQ(a.next()->status, URMA_CR_WR_FLUSH_ERR_DONE);
		state(URMA_JETTY_STATE_RESET);
		state(URMA_JETTY_STATE_READY);
		/* one that is still on its way would take the receive */
		EXPECT_TRUE(b.nothing_comes(50));
		b.receive(5, 4096, 64);
		a.send(to, 64);
		b.expect(5);
	}
}

TEST(Rm, AGroupTakesTurnsByHint)
{
	UmEnd a(0, reliable()), b(1, reliable());
	urma_jetty_grp_cfg_t cfg{};
	std::vector<urma_jetty_t *> members;
	std::set<std::uint32_t> served;

	cfg.policy = URMA_JETTY_GRP_POLICY_HASH_HINT;
	cfg.flag.bs.token_policy = URMA_TOKEN_PLAIN_TEXT;
	cfg.token_value.token = jetty_token;
	urma_jetty_grp_t *group = urma_create_jetty_grp(b.ctx, &cfg);
	ASSERT_NE(group, nullptr) << std::strerror(errno);
	for (unsigned i = 0; i < 4; i++) {
		urma_jetty_cfg_t jc = b.jetty_cfg();

		jc.jetty_grp = group;
		members.push_back(urma_create_jetty(b.ctx, &jc));
		ASSERT_NE(members.back(), nullptr) << std::strerror(errno);
	}
	urma_target_jetty_t *to = a.aim_group(b, group);

	for (unsigned hint = 0; hint < 64; hint++) {
		b.receive(hint, 4096, 20000);
		a.send(to, 20000, static_cast<std::uint8_t>(hint));
		served.insert(b.expect(hint).local_id);
	}
	EXPECT_EQ(served.size(), 4u);
	for (urma_jetty_t *j : members)
		EXPECT_EQ(urma_delete_jetty(j), URMA_SUCCESS);
	EXPECT_EQ(urma_delete_jetty_grp(group), URMA_SUCCESS);
}

TEST(Rm, ManyJettiesOneChannel)
{
	UmShape s = reliable();

	s.receives = 1024;
	UmEnd a(0, s), b(1, s);
	std::vector<urma_jetty_t *> from;
	urma_target_jetty_t *to = a.aim(b);
	urma_jfs_wr_t *bad;

	for (unsigned i = 0; i < 100; i++) {
		urma_jetty_cfg_t cfg = a.jetty_cfg();

		from.push_back(urma_create_jetty(a.ctx, &cfg));
		ASSERT_NE(from.back(), nullptr);
		Message m(a, to, 16, i);
		ASSERT_EQ(urma_post_jetty_send_wr(from.back(), &m.wr, &bad), URMA_SUCCESS);
	}
	EXPECT_TRUE(a.nothing_comes(10));
	std::set<std::uint32_t> senders;
	for (unsigned i = 0; i < 100; i++)
		b.receive(i, 4096, 64);
	for (unsigned i = 0; i < 100; i++)
		senders.insert(b.next()->remote_id.id);
	EXPECT_EQ(senders.size(), 100u);
	for (unsigned i = 0; i < 100; i++)
		EXPECT_EQ(a.next()->status, URMA_CR_SUCCESS);
	for (urma_jetty_t *j : from)
		EXPECT_EQ(urma_delete_jetty(j), URMA_SUCCESS);
}

TEST(Rm, WhatItIsNotFor)
{
	UmEnd a(0, reliable()), b(1, reliable());
	urma_target_jetty_t *to = a.aim(b);
	urma_rjetty_t r = b.describe();
	urma_token_t token{ jetty_token };
	Message nowhere(a, nullptr, 8);

	EXPECT_EQ(urma_bind_jetty(a.jetty, to), URMA_EINVAL);
	EXPECT_EQ(post(a, &nowhere.wr), URMA_EINVAL) << "each request names its target";
	r.tp_type = URMA_UTP;
	EXPECT_EQ(urma_import_jetty(a.ctx, &r, &token), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
}

} // namespace

} // namespace urma_test
