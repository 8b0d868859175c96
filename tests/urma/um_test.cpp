// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Unreliable messages: from jetties and JFSs, to jetties and JFRs.
#include "um_rig.hpp"

#include <chrono>
#include <thread>

namespace urma_test
{

using std::chrono::milliseconds;

UmEnd::UmEnd(unsigned end, const UmShape &shape) : shape_(shape)
{
	urma_jfc_cfg_t jfc_cfg{};
	urma_jfr_cfg_t jfr_cfg{};

	ctx = open_end(end);
	EXPECT_NE(ctx, nullptr) << std::strerror(errno);
	jfc_cfg.depth = 4096;
	jfc = urma_create_jfc(ctx, &jfc_cfg);
	EXPECT_NE(jfc, nullptr) << std::strerror(errno);
	jfr_cfg.depth = shape.receives;
	jfr_cfg.trans_mode = shape.mode;
	jfr_cfg.max_sge = 4;
	jfr_cfg.min_rnr_timer = 12; // 0.64 ms: shorter ones leave User-Mode Linux no time
	jfr_cfg.jfc = jfc;
	jfr_cfg.flag.bs.token_policy = shape.token ? URMA_TOKEN_PLAIN_TEXT : URMA_TOKEN_NONE;
	jfr_cfg.token_value.token = jetty_token;
	jfr = shape.buffer ? uboe_create_jfr(ctx, &jfr_cfg, shape.buffer) :
			     urma_create_jfr(ctx, &jfr_cfg);
	EXPECT_NE(jfr, nullptr) << std::strerror(errno);
	if (shape.with_jetty) {
		urma_jetty_cfg_t cfg = jetty_cfg();

		cfg.id = shape.id;
		jetty = urma_create_jetty(ctx, &cfg);
		EXPECT_NE(jetty, nullptr) << std::strerror(errno);
	}
	if (shape.with_jfs) {
		urma_jfs_cfg_t cfg = jfs_cfg();

		jfs = urma_create_jfs(ctx, &cfg);
		EXPECT_NE(jfs, nullptr) << std::strerror(errno);
	}
	memory = std::make_unique<Memory>(ctx, shape.room, shape.access);
}

UmEnd::~UmEnd()
{
	const auto done = [](urma_status_t status) { EXPECT_EQ(status, URMA_SUCCESS); };

	for (urma_target_seg_t *t : segments_)
		done(urma_unimport_seg(t));
	for (urma_target_jetty_t *t : targets_)
		done(t->type == URMA_JFR ? urma_unimport_jfr(t) : urma_unimport_jetty(t));
	if (jetty)
		done(urma_delete_jetty(jetty));
	if (jfs)
		done(urma_delete_jfs(jfs));
	memory.reset();
	done(urma_delete_jfr(jfr));
	done(urma_delete_jfc(jfc));
	done(urma_delete_context(ctx));
}

urma_jfs_cfg_t UmEnd::jfs_cfg() const
{
	urma_jfs_cfg_t c{};

	c.depth = shape_.depth;
	c.trans_mode = shape_.mode;
	c.flag.bs.order_type = shape_.order;
	c.rnr_retry = shape_.rnr_retry;
	c.max_sge = 4;
	c.max_inline_data = 64;
	c.jfc = jfc;
	return c;
}

urma_jetty_cfg_t UmEnd::jetty_cfg() const
{
	urma_jetty_cfg_t c{};

	c.flag.bs.share_jfr = URMA_SHARE_JFR;
	c.jfs_cfg = jfs_cfg();
	c.shared.jfr = jfr;
	return c;
}

urma_rjetty_t UmEnd::describe() const
{
	urma_rjetty_t r{};

	r.jetty_id = jetty ? jetty->jetty_id : jfr->jfr_id;
	r.trans_mode = shape_.mode;
	r.type = URMA_JETTY;
	r.tp_type = shape_.mode == URMA_TM_UM ? URMA_UTP : URMA_RTP;
	r.flag.bs.token_policy = shape_.token ? URMA_TOKEN_PLAIN_TEXT : URMA_TOKEN_NONE;
	return r;
}

urma_rjfr_t UmEnd::describe_jfr() const
{
	return { jfr->jfr_id, shape_.mode, describe().flag, describe().tp_type };
}

urma_target_jetty_t *UmEnd::aim(const UmEnd &peer, std::uint32_t token)
{
	urma_rjetty_t r = peer.describe();
	urma_token_t t{ token };

	targets_.push_back(urma_import_jetty(ctx, &r, &t));
	EXPECT_NE(targets_.back(), nullptr) << std::strerror(errno);
	return targets_.back();
}

urma_target_jetty_t *UmEnd::aim_jfr(const UmEnd &peer, std::uint32_t token)
{
	urma_rjfr_t r = peer.describe_jfr();
	urma_token_t t{ token };

	targets_.push_back(urma_import_jfr(ctx, &r, &t));
	EXPECT_NE(targets_.back(), nullptr) << std::strerror(errno);
	return targets_.back();
}

urma_target_seg_t *UmEnd::reach(UmEnd &peer, std::uint32_t token)
{
	urma_token_t t{ token };

	segments_.push_back(urma_import_seg(ctx, &peer.memory->seg()->seg, &t, 0, {}));
	EXPECT_NE(segments_.back(), nullptr) << std::strerror(errno);
	return segments_.back();
}

urma_target_jetty_t *UmEnd::aim_group(const UmEnd &peer, const urma_jetty_grp_t *group,
				      std::uint32_t token)
{
	urma_rjetty_t r = peer.describe();
	urma_token_t t{ token };

	r.jetty_id = group->jetty_grp_id;
	r.type = URMA_JETTY_GROUP;
	r.policy = group->cfg.policy;
	targets_.push_back(urma_import_jetty(ctx, &r, &t));
	EXPECT_NE(targets_.back(), nullptr) << std::strerror(errno);
	return targets_.back();
}

void UmEnd::receive(std::uint64_t user_ctx, std::size_t offset, std::size_t length)
{
	EXPECT_EQ(urma_recv(jfr, memory->seg(), memory->va() + offset,
			    static_cast<std::uint32_t>(length), user_ctx),
		  URMA_SUCCESS);
}

void UmEnd::send(urma_target_jetty_t *to, std::size_t length, std::uint8_t hint, std::size_t offset)
{
	Message m(*this, to, length, 0x5e4d, offset);
	urma_jfs_wr_t *bad;

	m.wr.send.target_hint = hint;
	EXPECT_EQ(jetty ? urma_post_jetty_send_wr(jetty, &m.wr, &bad) :
			  urma_post_jfs_wr(jfs, &m.wr, &bad),
		  URMA_SUCCESS);
	expect(0x5e4d);
}

Message::Message(UmEnd &from, urma_target_jetty_t *to, std::size_t length, std::uint64_t user_ctx,
		 std::size_t offset)
	: sge(from.memory->at(offset, length))
{
	wr.opcode = URMA_OPC_SEND;
	wr.flag.bs.complete_enable = URMA_COMPLETE_ENABLE;
	wr.tjetty = to;
	wr.user_ctx = user_ctx;
	wr.send.src = { &sge, 1 };
}

namespace
{

constexpr std::size_t far = 65536; // where a receiver's buffers are

bool same_eid(const urma_eid_t &a, const urma_eid_t &b)
{
	return !std::memcmp(a.raw, b.raw, sizeof(a.raw));
}

/// Nobody says how much is on its way: what was sent before must have been dropped
/// when this one arrives.
void still_works(UmEnd &from, urma_target_jetty_t *to, UmEnd &at, std::uint64_t receive)
{
	from.send(to, 32);
	EXPECT_EQ(at.expect(receive).completion_len, 32u);
}

urma_status_t set_state(urma_jetty_t *jetty, urma_jetty_state_t to)
{
	urma_jetty_attr_t attr{ JETTY_STATE, 0, to };

	return urma_modify_jetty(jetty, &attr);
}

urma_jetty_state_t state_of(urma_jetty_t *jetty)
{
	urma_jetty_cfg_t cfg;
	urma_jetty_attr_t attr{};

	EXPECT_EQ(urma_query_jetty(jetty, &cfg, &attr), URMA_SUCCESS);
	EXPECT_EQ(cfg.jfs_cfg.trans_mode, URMA_TM_UM);
	EXPECT_EQ(cfg.jfs_cfg.flag.bs.order_type, unsigned(URMA_NO)) << "the mode's default";
	return attr.state;
}

class UmSizes : public testing::TestWithParam<std::size_t>
{
};

TEST_P(UmSizes, AMessageSaysWhoSentIt)
{
	const std::size_t n = GetParam();
	UmEnd a(0), b(1);
	urma_target_jetty_t *to = a.aim(b);

	a.memory->fill(static_cast<std::uint8_t>(n));
	b.receive(7, far, 4096);
	a.send(to, n);
	const urma_cr_t cr = b.expect(7);

	EXPECT_EQ(cr.opcode, URMA_CR_OPC_SEND);
	EXPECT_EQ(cr.flag.bs.s_r, 1);
	EXPECT_EQ(cr.flag.bs.jetty, 1);
	EXPECT_EQ(cr.local_id, b.jetty->jetty_id.id);
	EXPECT_EQ(cr.user_data, reinterpret_cast<std::uintptr_t>(b.jetty));
	EXPECT_EQ(cr.completion_len, n);
	EXPECT_EQ(cr.remote_id.id, a.jetty->jetty_id.id);
	EXPECT_TRUE(same_eid(cr.remote_id.eid, a.ctx->eid));
	EXPECT_EQ(std::memcmp(a.memory->data(), b.memory->data() + far, n), 0);
	for (std::size_t i = n; i < n + 64; ++i)
		ASSERT_EQ(b.memory->data()[far + i], 0) << "a byte beyond the message";
}

INSTANTIATE_TEST_SUITE_P(Some, UmSizes, testing::Values(0, 1, 3, 64, 1024, 4095, 4096),
			 [](const auto &i) { return std::to_string(i.param); });

TEST(Um, ImmediateInlineAndSeveralPieces)
{
	UmEnd a(0), b(1);
	urma_target_jetty_t *to = a.aim(b);
	Message m(a, to, 0);
	urma_jfs_wr_t *bad;
	urma_sge_t pieces[3] = { a.memory->at(0, 5), a.memory->at(100, 7), a.memory->at(50, 20) };

	a.memory->fill(9);
	m.wr.opcode = URMA_OPC_SEND_IMM;
	m.wr.send.imm_data = 0x0123456789abcdef;
	m.wr.send.src = { pieces, 3 };
	for (int with_inline : { 0, 1 }) {
		b.receive(1, far, 64);
		m.wr.flag.bs.inline_flag = with_inline;
		ASSERT_EQ(urma_post_jetty_send_wr(a.jetty, &m.wr, &bad), URMA_SUCCESS);
		a.expect(1);
		const urma_cr_t cr = b.expect(1);

		EXPECT_EQ(cr.opcode, URMA_CR_OPC_SEND_WITH_IMM);
		EXPECT_EQ(cr.imm_data, 0x0123456789abcdefu);
		EXPECT_EQ(cr.completion_len, 32u);
		EXPECT_EQ(std::memcmp(b.memory->data() + far, a.memory->data(), 5), 0);
		EXPECT_EQ(std::memcmp(b.memory->data() + far + 5, a.memory->data() + 100, 7), 0);
		EXPECT_EQ(std::memcmp(b.memory->data() + far + 12, a.memory->data() + 50, 20), 0);
	}
}

TEST(Um, OneJettyTalksToMany)
{
	// more peers than a jetty keeps ways to, in turn; some are itself
	UmEnd a(0), b(1), c(1);
	std::vector<urma_target_jetty_t *> to = { a.aim(a), a.aim(b), a.aim(c) };

	for (unsigned round = 0; round < 20; ++round) {
		UmEnd *const at[] = { &a, &b, &c };
		const unsigned n = round % 3;

		at[n]->receive(40 + n, far, 64);
		Message m(a, to[n], 16, 5);
		urma_jfs_wr_t *bad;

		ASSERT_EQ(urma_post_jetty_send_wr(a.jetty, &m.wr, &bad), URMA_SUCCESS);
		if (n) {
			a.expect(5);
			at[n]->expect(40 + n);
		} else { // both completions are here
			EXPECT_EQ(a.next()->user_ctx + a.next()->user_ctx, 45u);
		}
	}
}

TEST(Um, WhatIsNotWantedIsDropped)
{
	UmEnd a(0), b(1);
	urma_target_jetty_t *good = a.aim(b), *wrong = a.aim(b, jetty_token ^ 1);
	urma_rjetty_t r = b.describe();
	urma_token_t token{ jetty_token };

	// without a receive; then into one that waits until the right message comes
	a.send(good, 32);
	EXPECT_TRUE(b.nothing_comes(20));
	b.receive(1, far, 32);
	a.send(wrong, 32);
	a.send(good, 33);
	r.flag.bs.token_policy = URMA_TOKEN_NONE;
	urma_target_jetty_t *none = urma_import_jetty(a.ctx, &r, nullptr);
	r.jetty_id.id ^= 0x40000;
	urma_target_jetty_t *nobody = urma_import_jetty(a.ctx, &r, &token);

	ASSERT_NE(none, nullptr);
	ASSERT_NE(nobody, nullptr);
	a.send(none, 32);
	a.send(nobody, 32);
	still_works(a, good, b, 1);
	EXPECT_EQ(state_of(b.jetty), URMA_JETTY_STATE_READY);
	EXPECT_TRUE(b.nothing_comes(1));
	EXPECT_EQ(urma_unimport_jetty(none), URMA_SUCCESS);
	EXPECT_EQ(urma_unimport_jetty(nobody), URMA_SUCCESS);
}

TEST(Um, AReceiveWithoutMemoryIsAnErrorOfItsOwn)
{
	UmEnd a(0), b(1);
	urma_target_jetty_t *to = a.aim(b);
	auto gone = std::make_unique<Memory>(b.ctx, 64, URMA_ACCESS_LOCAL_ONLY);

	ASSERT_EQ(urma_recv(b.jfr, gone->seg(), gone->va(), 64, 1), URMA_SUCCESS);
	gone.reset();
	a.send(to, 8);
	const auto cr = b.next();

	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_LOC_ACCESS_ERR);
	EXPECT_EQ(cr->user_ctx, 1u);
	b.receive(2, far, 64);
	still_works(a, to, b, 2);
}

TEST(Um, LongerThanAPacketIsAnErrorAtHome)
{
	UmEnd a(0), b(1);
	urma_target_jetty_t *to = a.aim(b);
	Message long_one(a, to, 8193, 1), next(a, to, 32, 2);
	urma_jfs_wr_t *bad;

	b.receive(7, far, 16384);
	long_one.wr.next = &next.wr;
	ASSERT_EQ(urma_post_jetty_send_wr(a.jetty, &long_one.wr, &bad), URMA_SUCCESS);
	auto cr = a.next();
	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_LOC_LEN_ERR);
	EXPECT_EQ(cr->user_ctx, 1u);
	cr = a.next();
	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_WR_FLUSH_ERR);
	EXPECT_EQ(cr->user_ctx, 2u);
	cr = a.next();
	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_WR_FLUSH_ERR_DONE);
	EXPECT_EQ(state_of(a.jetty), URMA_JETTY_STATE_ERROR);

	// what is posted in error is flushed
	next.wr.next = nullptr;
	ASSERT_EQ(urma_post_jetty_send_wr(a.jetty, &next.wr, &bad), URMA_SUCCESS);
	cr = a.next();
	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_WR_FLUSH_ERR);
	EXPECT_EQ(set_state(a.jetty, URMA_JETTY_STATE_READY), URMA_EINVAL);
	ASSERT_EQ(set_state(a.jetty, URMA_JETTY_STATE_RESET), URMA_SUCCESS);
	// what is posted in RESET leaves when it is READY
	ASSERT_EQ(urma_post_jetty_send_wr(a.jetty, &next.wr, &bad), URMA_SUCCESS);
	EXPECT_TRUE(b.nothing_comes(5));
	ASSERT_EQ(set_state(a.jetty, URMA_JETTY_STATE_READY), URMA_SUCCESS);
	a.expect(2);
	b.expect(7);
}

TEST(Um, AJettyInErrorOrResetReceivesNothing)
{
	UmEnd a(0), b(1);
	urma_target_jetty_t *to = a.aim(b);
	urma_cr_t cr;

	b.receive(1, far, 64);
	ASSERT_EQ(set_state(b.jetty, URMA_JETTY_STATE_ERROR), URMA_SUCCESS);
	EXPECT_EQ(b.next()->status, URMA_CR_WR_FLUSH_ERR_DONE);
	EXPECT_EQ(urma_flush_jetty(b.jetty, 1, &cr), 0);
	a.send(to, 8);
	EXPECT_TRUE(b.nothing_comes(20)) << "the JFR keeps its receives";
	ASSERT_EQ(set_state(b.jetty, URMA_JETTY_STATE_RESET), URMA_SUCCESS);
	a.send(to, 8);
	EXPECT_TRUE(b.nothing_comes(20));
	ASSERT_EQ(set_state(b.jetty, URMA_JETTY_STATE_READY), URMA_SUCCESS);
	still_works(a, to, b, 1);
}

class UmDepths : public testing::TestWithParam<std::uint32_t>
{
};

TEST_P(UmDepths, ABatchCompletesInOrder)
{
	UmShape shape;

	shape.depth = GetParam();
	UmEnd a(0, shape), b(1);
	urma_target_jetty_t *to = a.aim(b);

	for (unsigned round = 0; round < 5; ++round) {
		std::vector<std::unique_ptr<Message>> batch;
		urma_jfs_wr_t *bad;

		for (std::uint32_t i = 0; i < shape.depth; ++i) {
			b.receive(i, far, 64);
			batch.push_back(std::make_unique<Message>(a, to, 16, 100 + i));
			if (i)
				batch[i - 1]->wr.next = &batch[i]->wr;
		}
		ASSERT_EQ(urma_post_jetty_send_wr(a.jetty, &batch[0]->wr, &bad), URMA_SUCCESS);
		for (std::uint32_t i = 0; i < shape.depth; ++i)
			a.expect(100 + i);
		for (std::uint32_t i = 0; i < shape.depth; ++i)
			b.expect(i);
	}
}

INSTANTIATE_TEST_SUITE_P(Some, UmDepths, testing::Values(1, 2, 4, 32),
			 [](const auto &i) { return std::to_string(i.param); });

TEST(Um, ABadRequestStopsTheBatch)
{
	UmEnd a(0), b(1), other(0);
	urma_target_jetty_t *to = a.aim(b), *foreign = other.aim(b);
	Message first(a, to, 8, 1), second(a, to, 8, 2), third(a, to, 8, 3);
	urma_jfs_wr_t *bad = nullptr;

	first.wr.next = &second.wr;
	second.wr.next = &third.wr;
	b.receive(1, far, 64);
	for (auto spoil : std::initializer_list<void (*)(Message &, urma_target_jetty_t *)>{
		     [](Message &m, urma_target_jetty_t *) { m.wr.tjetty = nullptr; },
		     [](Message &m, urma_target_jetty_t *f) { m.wr.tjetty = f; },
		     [](Message &m, urma_target_jetty_t *) { m.wr.flag.bs.place_order = 3; },
		     [](Message &m, urma_target_jetty_t *) { m.sge.tseg = nullptr; },
	     }) {
		const urma_jfs_wr_t was = second.wr;
		const urma_sge_t piece = second.sge;

		spoil(second, foreign);
		EXPECT_EQ(urma_post_jetty_send_wr(a.jetty, &first.wr, &bad), URMA_EINVAL);
		EXPECT_EQ(bad, &second.wr);
		a.expect(1);
		second.wr = was;
		second.sge = piece;
	}
	b.expect(1);
	EXPECT_TRUE(a.nothing_comes(1));
}

TEST(Um, OnlyMessagesAreCarried)
{
	UmEnd a(0), b(1);
	urma_target_jetty_t *to = a.aim(b);

	for (urma_opcode_t op :
	     { URMA_OPC_WRITE, URMA_OPC_WRITE_IMM, URMA_OPC_WRITE_NOTIFY, URMA_OPC_READ,
	       URMA_OPC_CAS, URMA_OPC_FADD, URMA_OPC_SEND_INVALIDATE, URMA_OPC_NOP }) {
		Message m(a, to, 8);
		urma_jfs_wr_t *bad = nullptr;

		m.wr.opcode = op;
		EXPECT_EQ(urma_post_jetty_send_wr(a.jetty, &m.wr, &bad), EOPNOTSUPP);
		EXPECT_EQ(bad, &m.wr);
	}
}

TEST(Um, AWellKnownIdIsFound)
{
	UmShape shape;

	shape.id = 32;
	UmEnd a(0), b(1, shape);

	EXPECT_EQ(b.jetty->jetty_id.id, 32u);
	b.receive(1, far, 64);
	still_works(a, a.aim(b), b, 1);
}

TEST(Um, WithoutATokenWhoeverKnowsTheNumber)
{
	UmShape open;

	open.token = false;
	UmEnd a(0), b(1, open);

	b.receive(1, far, 64);
	still_works(a, a.aim(b), b, 1);
}

TEST(Um, WhatDoesNotFitIsRefused)
{
	UmEnd a(0), b(1);
	urma_target_jetty_t *to = a.aim(b);
	urma_rjetty_t r = b.describe();
	urma_token_t token{ jetty_token };
	const auto import = [&](auto change) {
		urma_rjetty_t bad = r;

		change(bad);
		errno = 0;
		EXPECT_EQ(urma_import_jetty(a.ctx, &bad, &token), nullptr);
		return errno;
	};

	EXPECT_EQ(import([](auto &x) { x.tp_type = URMA_RTP; }), EINVAL);
	EXPECT_EQ(import([](auto &x) { x.tp_type = URMA_CTP; }), EINVAL);
	EXPECT_EQ(import([](auto &x) { x.type = URMA_JFR; }), EINVAL);
	EXPECT_EQ(import([](auto &x) { x.type = static_cast<urma_target_type_t>(3); }), EINVAL);
	EXPECT_EQ(import([](auto &x) { x.jetty_id.id = 0; }), EINVAL);
	EXPECT_EQ(import([](auto &x) { x.jetty_id.id = 1u << 20; }), EINVAL);
	EXPECT_EQ(import([](auto &x) { x.trans_mode = static_cast<urma_transport_mode_t>(5); }),
		  EINVAL);
	EXPECT_EQ(import([](auto &x) { std::memset(x.jetty_id.eid.raw, 0xff, 16); }),
		  EADDRNOTAVAIL);
	EXPECT_EQ(urma_bind_jetty(a.jetty, to), URMA_EINVAL);
	EXPECT_EQ(urma_unimport_jfr(to), URMA_EINVAL);

	urma_jetty_cfg_t cfg = a.jetty_cfg();
	cfg.jfs_cfg.flag.bs.order_type = URMA_OL;
	EXPECT_EQ(urma_create_jetty(a.ctx, &cfg), nullptr);
	EXPECT_EQ(errno, EINVAL);
	cfg = a.jetty_cfg();
	cfg.jfs_cfg.trans_mode = URMA_TM_RC;
	EXPECT_EQ(urma_create_jetty(a.ctx, &cfg), nullptr) << "its JFR is for UM";
	EXPECT_EQ(errno, EINVAL);
}

TEST(Jfs, SimplexToAJfr)
{
	UmShape sender, receiver;

	sender.with_jetty = false;
	sender.with_jfs = true;
	receiver.with_jetty = false;
	UmEnd a(0, sender), b(1, receiver);
	urma_target_jetty_t *to = a.aim_jfr(b), *wrong = a.aim_jfr(b, jetty_token + 1);
	urma_jfs_wr_flag_t flag{};

	a.memory->fill(77);
	b.receive(5, far, 256);
	flag.bs.complete_enable = URMA_COMPLETE_ENABLE;
	a.send(wrong, 256);
	ASSERT_EQ(urma_send(a.jfs, to, a.memory->seg(), a.memory->va(), 200, flag, 4),
		  URMA_SUCCESS);
	urma_cr_t cr = a.expect(4);

	EXPECT_EQ(cr.flag.bs.s_r, 0);
	EXPECT_EQ(cr.flag.bs.jetty, 0);
	EXPECT_EQ(cr.local_id, a.jfs->jfs_id.id);
	EXPECT_EQ(cr.user_data, reinterpret_cast<std::uintptr_t>(a.jfs));
	cr = b.expect(5);
	EXPECT_EQ(cr.flag.bs.s_r, 1);
	EXPECT_EQ(cr.flag.bs.jetty, 0);
	EXPECT_EQ(cr.local_id, b.jfr->jfr_id.id);
	EXPECT_EQ(cr.user_data, reinterpret_cast<std::uintptr_t>(b.jfr));
	EXPECT_EQ(cr.remote_id.id, a.jfs->jfs_id.id);
	EXPECT_TRUE(same_eid(cr.remote_id.eid, a.ctx->eid));
	EXPECT_EQ(cr.completion_len, 200u);
	EXPECT_EQ(std::memcmp(a.memory->data(), b.memory->data() + far, 200), 0);

	EXPECT_EQ(urma_write(a.jfs, to, a.memory->seg(), a.memory->seg(), a.memory->va(),
			     a.memory->va(), 8, flag, 1),
		  EOPNOTSUPP);
	EXPECT_EQ(urma_read(a.jfs, to, a.memory->seg(), a.memory->seg(), a.memory->va(),
			    a.memory->va(), 8, flag, 1),
		  EOPNOTSUPP);
	EXPECT_EQ(urma_unimport_jetty(to), URMA_EINVAL);
}

TEST(Jfs, StatesAndFlush)
{
	UmShape sender;

	sender.with_jetty = false;
	sender.with_jfs = true;
	UmEnd a(0, sender), b(1);
	urma_target_jetty_t *to = a.aim(b);
	urma_jfs_cfg_t cfg;
	urma_jfs_attr_t attr{};
	Message m(a, to, 32, 9);
	urma_jfs_wr_t *bad;
	urma_cr_t cr;
	const auto state = [&](urma_jfs_state_t s) {
		attr = { JFS_STATE, s };
		return urma_modify_jfs(a.jfs, &attr);
	};

	ASSERT_EQ(urma_query_jfs(a.jfs, &cfg, &attr), URMA_SUCCESS);
	EXPECT_EQ(attr.state, URMA_JETTY_STATE_READY);
	EXPECT_EQ(cfg.depth, 64u);
	EXPECT_EQ(cfg.flag.bs.order_type, unsigned(URMA_NO));
	ASSERT_EQ(state(URMA_JETTY_STATE_ERROR), URMA_SUCCESS);
	EXPECT_EQ(a.next()->status, URMA_CR_WR_FLUSH_ERR_DONE);
	EXPECT_EQ(urma_flush_jfs(a.jfs, 1, &cr), 0);
	EXPECT_EQ(urma_flush_jfs(a.jfs, 1, nullptr), -1);
	ASSERT_EQ(urma_post_jfs_wr(a.jfs, &m.wr, &bad), URMA_SUCCESS);
	const auto flushed = a.next();
	ASSERT_TRUE(flushed);
	EXPECT_EQ(flushed->status, URMA_CR_WR_FLUSH_ERR);
	EXPECT_EQ(flushed->user_ctx, 9u);
	ASSERT_EQ(state(URMA_JETTY_STATE_RESET), URMA_SUCCESS);
	ASSERT_EQ(state(URMA_JETTY_STATE_READY), URMA_SUCCESS);
	b.receive(1, far, 64);
	still_works(a, to, b, 1);
}

TEST(Jfs, DeletedTogetherAndWithTheirRecords)
{
	UmShape none;

	none.with_jetty = false;
	UmEnd a(0, none), b(1);
	urma_target_jetty_t *to = a.aim(b);
	urma_jfs_cfg_t cfg = a.jfs_cfg();
	urma_jfs_t *jfs[3], *bad_jfs = nullptr;
	urma_jfs_wr_t *bad;

	for (urma_jfs_t *&s : jfs) {
		s = urma_create_jfs(a.ctx, &cfg);
		ASSERT_NE(s, nullptr);
		Message m(a, to, 8);
		ASSERT_EQ(urma_post_jfs_wr(s, &m.wr, &bad), URMA_SUCCESS);
	}
	EXPECT_EQ(urma_delete_jfs_batch(jfs, 3, &bad_jfs), URMA_SUCCESS);
	EXPECT_EQ(urma_delete_jfs_batch(jfs, 3, &bad_jfs), URMA_EINVAL) << "they are gone";
	EXPECT_EQ(bad_jfs, jfs[0]);
	EXPECT_TRUE(a.nothing_comes(5));
}

TEST(Jfs, OutOfRange)
{
	UmShape none;

	none.with_jetty = false;
	UmEnd a(0, none);
	const std::pair<void (*)(urma_jfs_cfg_t &), int> bad[] = {
		{ [](auto &c) { c.trans_mode = URMA_TM_RC; }, EINVAL },
		{ [](auto &c) { c.trans_mode = static_cast<urma_transport_mode_t>(0); }, EINVAL },
		{ [](auto &c) { c.depth = 0; }, EINVAL },
		{ [](auto &c) { c.depth = 3; }, EINVAL },
		{ [](auto &c) { c.depth = 65536; }, EINVAL },
		{ [](auto &c) { c.max_sge = 14; }, EINVAL },
		{ [](auto &c) { c.max_inline_data = 209; }, EINVAL },
		{ [](auto &c) { c.jfc = nullptr; }, EINVAL },
		{ [](auto &c) { c.flag.bs.order_type = URMA_OI; }, EINVAL },
		{ [](auto &c) { c.flag.bs.outorder_comp = 1; }, EOPNOTSUPP },
	};

	for (const auto &[change, err] : bad) {
		urma_jfs_cfg_t c = a.jfs_cfg();

		change(c);
		errno = 0;
		EXPECT_EQ(urma_create_jfs(a.ctx, &c), nullptr);
		EXPECT_EQ(errno, err);
	}
	EXPECT_EQ(urma_create_jfs(a.ctx, nullptr), nullptr);
	EXPECT_EQ(urma_delete_jfs(nullptr), URMA_EINVAL);
}

TEST(Jfr, DeletedWithItsRecords)
{
	UmShape sender;

	sender.with_jetty = false;
	sender.with_jfs = true;
	UmEnd a(0, sender), b(1);
	urma_jfr_cfg_t cfg = b.jfr->jfr_cfg;

	cfg.id = 0;
	urma_jfr_t *jfr = urma_create_jfr(b.ctx, &cfg);
	ASSERT_NE(jfr, nullptr);
	urma_rjfr_t r = b.describe_jfr();
	urma_token_t token{ jetty_token };

	r.jfr_id = jfr->jfr_id;
	urma_target_jetty_t *to = urma_import_jfr(a.ctx, &r, &token);
	ASSERT_NE(to, nullptr);
	ASSERT_EQ(urma_recv(jfr, b.memory->seg(), b.memory->va(), 64, 1), URMA_SUCCESS);
	a.send(to, 8);
	std::this_thread::sleep_for(milliseconds(20)); // let it arrive, and nobody polls
	EXPECT_EQ(urma_delete_jfr(jfr), URMA_SUCCESS);
	EXPECT_TRUE(b.nothing_comes(5));
	a.send(to, 8); // to nobody
	EXPECT_EQ(urma_unimport_jfr(to), URMA_SUCCESS);
}

} // namespace

} // namespace urma_test
