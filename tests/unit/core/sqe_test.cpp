// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Decoding of send queue elements: every opcode at and beyond its limits. */
#include <gtest/gtest.h>

#include "rig.hpp"

using namespace rig;

namespace
{
constexpr u32 bbs = 16;

struct row {
	u8 op;
	u8 kind;
	u32 ctrl;
	unsigned max_sge;
	unsigned max_inline;
};

const row rows[] = {
	{ UBOE_SQE_SEND, UBP_K_SEND, 48, 13, 208 },
	{ UBOE_SQE_SEND_IMM, UBP_K_SEND, 48, 13, 208 },
	{ UBOE_SQE_SEND_INV, UBP_K_SEND, 48, 13, 208 },
	{ UBOE_SQE_WRITE, UBP_K_WRITE, 48, 13, 208 },
	{ UBOE_SQE_WRITE_IMM, UBP_K_WRITE, 64, 12, 192 },
	{ UBOE_SQE_WRITE_NOTIFY, UBP_K_WRITE, 80, 11, 176 },
	{ UBOE_SQE_READ, UBP_K_READ, 48, 6, 0 },
	{ UBOE_SQE_CAS, UBP_K_ATOMIC, 48, 1, 0 },
	{ UBOE_SQE_SWAP, UBP_K_ATOMIC, 48, 1, 0 },
	{ UBOE_SQE_STORE, UBP_K_ATOMIC, 48, 1, 0 },
	{ UBOE_SQE_LOAD, UBP_K_ATOMIC, 48, 1, 0 },
	{ UBOE_SQE_FAA, UBP_K_ATOMIC, 48, 1, 0 },
	{ UBOE_SQE_FSUB, UBP_K_ATOMIC, 48, 1, 0 },
	{ UBOE_SQE_FAND, UBP_K_ATOMIC, 48, 1, 0 },
	{ UBOE_SQE_FOR, UBP_K_ATOMIC, 48, 1, 0 },
	{ UBOE_SQE_FXOR, UBP_K_ATOMIC, 48, 1, 0 },
	{ UBOE_SQE_NOP, UBP_K_NOP, 48, 0, 0 },
	{ UBOE_SQE_WRITE_STOREADD1, UBP_K_WRITE, 48, 1, 8 },
	{ UBOE_SQE_WRITE_STOREADD2, UBP_K_WRITE, 80, 1, 16 },
};

/* Atomic store and load say what they do */
bool has_udf(unsigned op)
{
	return op == UBOE_SQE_STORE || op == UBOE_SQE_LOAD;
}

const row *find(unsigned op)
{
	for (const row &r : rows)
		if (r.op == op)
			return &r;
	return nullptr;
}

class Sqe : public testing::Test
{
      protected:
	/* Exactly the ring, so that a sanitizer sees a step over its end */
	std::unique_ptr<u8[]> ring{ new u8[bbs * UBOE_BB]() };

	uboe_sqe *at(u32 pi)
	{
		return reinterpret_cast<uboe_sqe *>(&ring[(pi & (bbs - 1)) * UBOE_BB]);
	}
	void bytes_at(u32 pi, u32 off, const void *p, std::size_t n)
	{
		for (std::size_t i = 0; i < n; i++)
			ring[(pi * UBOE_BB + off + i) % (bbs * UBOE_BB)] =
				static_cast<const u8 *>(p)[i];
	}
	void control(u32 pi, unsigned op, unsigned nsge, bool inl = false, unsigned inl_len = 0)
	{
		std::memset(ring.get(), 0, bbs * UBOE_BB);
		at(pi)->w0 = (inl ? UBOE_SQE_INLINE : 0) | (has_udf(op) ? UBOE_SQE_UDF : 0);
		at(pi)->w1 = op << 8 | inl_len << 22;
		at(pi)->w2 = nsge << 24;
	}
	void sge(u32 pi, u32 ctrl, unsigned n, u32 len)
	{
		uboe_sge s{ len, make(n), 0x1000ull * (n + 1) };

		bytes_at(pi, ctrl + n * UBOE_SGE_SIZE, &s, sizeof(s));
	}
	static u32 make(unsigned n) { return ubsim::make_key(n + 1, n); }
	ubp_sqe fetch(u32 pi, u32 avail)
	{
		ubp_sqe s;

		std::memset(&s, 0xee, sizeof(s));
		ubp_sqe_fetch(ring.get(), bbs - 1, pi, avail, &s);
		EXPECT_GE(s.nbb, 1u);
		EXPECT_LE(s.nbb, avail);
		return s;
	}
};

TEST_F(Sqe, ControlFieldsOfEveryOpcode)
{
	for (unsigned op = 0; op < 256; op++) {
		const row *r = find(op);
		u32 len = r && r->kind == UBP_K_ATOMIC ? 8 : 77;

		if (op == UBOE_SQE_WRITE_STOREADD1)
			continue; /* has another control part, see ops_test.cpp */
		control(14, op, r && r->max_sge ? 1 : 0);
		at(14)->w0 = 0x1f270000 | (has_udf(op) ? UBOE_SQE_UDF : 0);
		at(14)->w0 = at(14)->w0 | 0xe;
		at(14)->w1 = at(14)->w1 | 0x5a;
		at(14)->w3 = 0xfff12345;
		at(14)->rmt_token = 0xcafe;
		at(14)->addr = 0x1122334455667788;
		sge(14, r ? r->ctrl : 48, 0, len);
		ubp_sqe s = fetch(14, 4);
		EXPECT_EQ(s.op, op);
		EXPECT_EQ(s.hint, 0x5a);
		EXPECT_EQ(s.order, 3);
		EXPECT_TRUE(s.comp_order);
		EXPECT_FALSE(s.fence);
		EXPECT_FALSE(s.solicited);
		EXPECT_TRUE(s.cqe);
		EXPECT_TRUE(s.token_en);
		EXPECT_EQ(s.rmt_id, 0x12345u);
		EXPECT_EQ(s.token, 0xcafeu);
		EXPECT_EQ(s.addr, 0x1122334455667788u);
		if (!r) {
			EXPECT_EQ(s.kind, UBP_K_BAD) << op;
			EXPECT_EQ(s.status, UBOE_CQE_UNSUPPORTED);
			EXPECT_EQ(s.nbb, 1);
			EXPECT_EQ(s.nsge, 0);
			continue;
		}
		EXPECT_EQ(s.kind, r->kind);
		EXPECT_EQ(s.status, UBOE_CQE_OK) << op;
		if (r->max_sge) {
			EXPECT_EQ(s.len, len) << op;
			EXPECT_EQ(s.data.sge[0].token, make(0));
			EXPECT_EQ(s.data.sge[0].va, 0x1000u);
		}
	}
}

TEST_F(Sqe, SgesUpToTheLimitAndNotBeyond)
{
	for (const row &r : rows) {
		for (unsigned n = 0; n <= r.max_sge + 2; n++) {
			u32 pi = 13; /* across the end of the ring */

			control(pi, r.op, n);
			for (unsigned i = 0; i < n && i < 13; i++)
				sge(pi, r.ctrl, i, r.kind == UBP_K_ATOMIC ? 8 : 100 + i);
			ubp_sqe s = fetch(pi, 4);
			if (n > r.max_sge) {
				EXPECT_EQ(s.status, UBOE_CQE_LOCAL) << unsigned(r.op) << " " << n;
				EXPECT_EQ(s.sub, UBOE_CQE_LOCAL_LEN);
				EXPECT_EQ(s.nsge, 0);
				continue;
			}
			if (r.kind == UBP_K_ATOMIC) {
				EXPECT_EQ(s.status, n == 1 ? UBOE_CQE_OK : UBOE_CQE_LOCAL);
				EXPECT_EQ(s.nbb, 2);
				continue;
			}
			EXPECT_EQ(s.status, UBOE_CQE_OK);
			EXPECT_EQ(s.nbb, (r.ctrl + 16 * n + 63) / 64);
			ASSERT_EQ(s.nsge, n);
			u32 sum = 0;
			for (unsigned i = 0; i < n; i++) {
				EXPECT_EQ(s.data.sge[i].len, 100 + i);
				EXPECT_EQ(s.data.sge[i].token, make(i));
				EXPECT_EQ(s.data.sge[i].va, 0x1000u * (i + 1));
				sum += 100 + i;
			}
			EXPECT_EQ(s.len, sum);
		}
	}
}

TEST_F(Sqe, InlineUpToTheLimitAndNotBeyond)
{
	u8 pattern[256];

	for (unsigned i = 0; i < sizeof(pattern); i++)
		pattern[i] = static_cast<u8>(i * 5 + 1);
	for (const row &r : rows) {
		for (unsigned n : { 0u, 1u, 15u, 16u, 17u, r.max_inline ? r.max_inline - 1 : 0,
				    r.max_inline, r.max_inline + 1, 1023u }) {
			control(14, r.op, 0, true, n);
			bytes_at(14, r.ctrl, pattern, n < 208 ? n : 208);
			ubp_sqe s = fetch(14, 4);
			if (n > r.max_inline) {
				EXPECT_EQ(s.status, UBOE_CQE_LOCAL) << unsigned(r.op) << " " << n;
				EXPECT_EQ(s.sub, UBOE_CQE_LOCAL_LEN);
				continue;
			}
			/* no data to return to: a Read or atomic cannot be inline */
			if (r.kind == UBP_K_ATOMIC || r.kind == UBP_K_READ) {
				EXPECT_NE(s.status, UBOE_CQE_OK) << unsigned(r.op);
				continue;
			}
			EXPECT_EQ(s.status, UBOE_CQE_OK) << unsigned(r.op) << " " << n;
			EXPECT_EQ(s.len, n);
			EXPECT_EQ(s.nsge, 0);
			EXPECT_EQ(std::memcmp(s.data.bytes, pattern, n), 0);
			EXPECT_EQ(s.nbb, (r.ctrl + n + 63) / 64);
		}
	}
}

TEST_F(Sqe, CutByTheProducerIndex)
{
	for (const row &r : rows) {
		for (unsigned n = 0; n <= r.max_sge; n++) {
			u32 need = r.kind == UBP_K_ATOMIC ? 2 : (r.ctrl + 16 * n + 63) / 64;

			for (u32 avail = 1; avail < need; avail++) {
				control(15, r.op, n);
				ubp_sqe s = fetch(15, avail);
				EXPECT_EQ(s.status, UBOE_CQE_UNSUPPORTED);
				EXPECT_EQ(s.nbb, avail);
				EXPECT_EQ(s.nsge, 0);
			}
		}
	}
}

TEST_F(Sqe, LengthBeyondTheLargestMessage)
{
	control(0, UBOE_SQE_WRITE, 2);
	sge(0, 48, 0, UBOE_MAX_MSG - 1);
	sge(0, 48, 1, 1);
	EXPECT_EQ(fetch(0, 4).status, UBOE_CQE_OK);
	EXPECT_EQ(fetch(0, 4).len, UBOE_MAX_MSG);
	sge(0, 48, 1, 2);
	EXPECT_EQ(fetch(0, 4).status, UBOE_CQE_LOCAL);
	EXPECT_EQ(fetch(0, 4).sub, UBOE_CQE_LOCAL_LEN);
	/* the sum of thirteen does not fit in 32 bits */
	control(0, UBOE_SQE_WRITE, 13);
	for (unsigned i = 0; i < 13; i++)
		sge(0, 48, i, 0xffffffff);
	EXPECT_EQ(fetch(0, 4).status, UBOE_CQE_LOCAL);
	control(0, UBOE_SQE_WRITE, 2);
	sge(0, 48, 0, 0x80000000);
	sge(0, 48, 1, 0x80000000);
	EXPECT_EQ(fetch(0, 4).status, UBOE_CQE_LOCAL);
}

TEST_F(Sqe, AtomicOperandAndAlignment)
{
	for (u32 len : { 0u, 1u, 2u, 4u, 8u, 12u, 16u, 64u }) {
		control(15, UBOE_SQE_CAS, 1);
		sge(15, 48, 0, len);
		u64 op[2] = { 0x1111, 0x2222 };
		bytes_at(15, UBOE_SQE_ATOMIC_DATA, op, sizeof(op));
		at(15)->addr = 0x1000;
		ubp_sqe s = fetch(15, 2);
		EXPECT_EQ(s.status, len == 4 || len == 8 || len == 16 ? UBOE_CQE_OK : UBOE_CQE_LOCAL)
			<< len;
		if (s.status)
			continue;
		EXPECT_EQ(std::memcmp(s.operand, op, sizeof(op)), 0);
		at(15)->addr = 0x1000 + len / 2;
		EXPECT_EQ(fetch(15, 2).status, UBOE_CQE_UNSUPPORTED);
	}
}

TEST_F(Sqe, Immediates)
{
	control(0, UBOE_SQE_SEND_IMM, 0);
	at(0)->addr = 0xa1a2a3a4a5a6a7a8;
	EXPECT_EQ(fetch(0, 1).imm, 0xa1a2a3a4a5a6a7a8u);
	control(0, UBOE_SQE_SEND, 0);
	at(0)->addr = 0xa1a2a3a4a5a6a7a8;
	EXPECT_EQ(fetch(0, 1).imm, 0u);
	control(0, UBOE_SQE_WRITE_IMM, 0);
	uboe_sqe_imm im{ 0xb1b2b3b4b5b6b7b8, 0xfff00042, 0x77 };
	bytes_at(0, UBOE_SQE_CTRL, &im, sizeof(im));
	ubp_sqe s = fetch(0, 1);
	EXPECT_EQ(s.imm, 0xb1b2b3b4b5b6b7b8u);
	EXPECT_EQ(s.imm_jetty, 0x42u);
	EXPECT_EQ(s.imm_token, 0x77u);
}

TEST_F(Sqe, Notify)
{
	uboe_sqe_notify n{ 0xfff00042, 0x77, 0xa1a2a3a4a5a6a7a8, 0xb1b2b3b4b5b6b7b8, 0 };

	control(15, UBOE_SQE_WRITE_NOTIFY, 0);
	bytes_at(15, UBOE_SQE_CTRL, &n, sizeof(n)); /* over the end of the ring */
	ubp_sqe s = fetch(15, 2);
	EXPECT_EQ(s.status, UBOE_CQE_OK);
	EXPECT_EQ(s.nbb, 2);
	EXPECT_EQ(s.ntf_token_id, 0x42u);
	EXPECT_EQ(s.ntf_token, 0x77u);
	EXPECT_EQ(s.ntf_addr, 0xa1a2a3a4a5a6a7a8u);
	EXPECT_EQ(s.imm, 0xb1b2b3b4b5b6b7b8u);
	EXPECT_EQ(fetch(15, 1).status, UBOE_CQE_UNSUPPORTED) << "its second block is not there";
}

/* Random control words: never beyond the ring, never out of 1..avail */
TEST_F(Sqe, RandomBytes)
{
	u64 x = 88172645463325252ull;

	for (unsigned i = 0; i < 20000; i++) {
		for (u32 k = 0; k < bbs * UBOE_BB; k += 8) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			std::memcpy(&ring[k], &x, 8);
		}
		u32 pi = static_cast<u32>(x), avail = 1 + static_cast<u32>(x >> 32) % bbs;
		at(pi)->w1 = (at(pi)->w1 & ~UBOE_SQE_OPCODE) | (x % 32) << 8;
		ubp_sqe s = fetch(pi, avail);
		if (!s.status)
			EXPECT_LE(s.len, UBOE_MAX_MSG);
		if (!s.inl)
			EXPECT_LE(s.nsge, UBOE_MAX_SGE);
	}
}
} /* namespace */
