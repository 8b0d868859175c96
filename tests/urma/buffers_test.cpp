// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Receives that are buffers of one size: a message fills up to four of them.
#include "um_rig.hpp"

using namespace urma_test;

namespace
{

constexpr std::size_t far = 0x40000; // where a receiver's buffers are, each with a gap
constexpr std::size_t gap = 64;

UmShape shape(urma_transport_mode_t mode, std::uint32_t buffer)
{
	return { .mode = mode, .room = 1 << 19, .token = false, .buffer = buffer };
}

std::size_t place(std::uint32_t buffer, unsigned n)
{
	return far + n * (buffer + gap);
}

/// Takes the receives @p first, first + 1 ... that a message of @p length filled.
void expect_parts(UmEnd &at, const UmEnd &from, std::uint32_t buffer, std::size_t length,
		  unsigned first)
{
	std::size_t done = 0;
	unsigned n = first;

	do {
		const urma_cr_t cr = at.expect(n);
		const std::size_t part = std::min<std::size_t>(length - done, buffer);

		ASSERT_EQ(cr.completion_len, part);
		EXPECT_EQ(cr.remote_id.id, from.jetty->jetty_id.id);
		ASSERT_EQ(std::memcmp(at.memory->data() + place(buffer, n),
				      from.memory->data() + done, part),
			  0);
		done += part;
		EXPECT_EQ(!!(cr.flag.value & UBOE_CR_MORE), done < length);
		n++;
	} while (done < length);
}

TEST(Extension, AMessageFillsUpToFourBuffers)
{
	for (auto mode : { URMA_TM_UM, URMA_TM_RM }) {
		for (std::uint32_t buffer : { 2048u, 4096u }) {
			UmEnd a(0, shape(mode, 0)), b(1, shape(mode, buffer));
			urma_target_jetty_t *to = a.aim(b);
			const std::size_t most = mode == URMA_TM_UM ? 4096 : 4 * buffer;

			for (std::size_t length : { std::size_t{ 0 }, std::size_t{ 1 },
						    std::size_t{ buffer }, most - 1, most }) {
				const unsigned n = length ? (length + buffer - 1) / buffer : 1;

				a.memory->fill(static_cast<std::uint8_t>(length + n));
				for (unsigned i = 0; i < n; ++i)
					b.receive(i, place(buffer, i), buffer);
				a.send(to, length);
				expect_parts(b, a, buffer, length, 0);
			}
			EXPECT_TRUE(b.nothing_comes(1));
		}
	}
}

TEST(Extension, TooFewBuffersAreLeftAlone)
{
	constexpr std::uint32_t buffer = 4096;
	UmEnd a(0, shape(URMA_TM_RM, 0)), b(1, shape(URMA_TM_RM, buffer));
	UmEnd c(2, shape(URMA_TM_RM, 0));
	urma_target_jetty_t *ab = a.aim(b), *cb = c.aim(b);
	Message m(a, ab, 4 * buffer, 7);
	urma_jfs_wr_t *bad;

	a.memory->fill(1);
	c.memory->fill(2);
	for (unsigned i = 0; i < 3; ++i)
		b.receive(i, place(buffer, i), buffer);
	ASSERT_EQ(urma_post_jetty_send_wr(a.jetty, &m.wr, &bad), URMA_SUCCESS);
	EXPECT_TRUE(a.nothing_comes(30));
	EXPECT_TRUE(b.nothing_comes(1));
	// somebody else needs no more than there are
	c.send(cb, 3 * buffer);
	expect_parts(b, c, buffer, 3 * buffer, 0);
	for (unsigned i = 3; i < 7; ++i)
		b.receive(i, place(buffer, i), buffer);
	expect_parts(b, a, buffer, 4 * buffer, 3);
	a.expect(7);
}

TEST(Extension, LongerThanFourBuffers)
{
	constexpr std::uint32_t buffer = 2048;
	UmEnd a(0, shape(URMA_TM_RM, 0)), b(1, shape(URMA_TM_RM, buffer));
	urma_target_jetty_t *to = a.aim(b);
	Message m(a, to, 4 * buffer + 1, 7);
	urma_jfs_wr_t *bad;

	for (unsigned i = 0; i < 6; ++i)
		b.receive(i, place(buffer, i), buffer);
	ASSERT_EQ(urma_post_jetty_send_wr(a.jetty, &m.wr, &bad), URMA_SUCCESS);
	const auto failed = a.next();

	ASSERT_TRUE(failed);
	EXPECT_EQ(failed->status, URMA_CR_REM_UNSUPPORTED_REQ_ERR);
	for (unsigned i = 0; i < 4; ++i) {
		const auto cr = b.next();

		ASSERT_TRUE(cr);
		EXPECT_EQ(cr->status, URMA_CR_LOC_LEN_ERR);
		EXPECT_EQ(cr->user_ctx, i);
		EXPECT_EQ(!!(cr->flag.value & UBOE_CR_MORE), i < 3);
	}
	// what the message had not taken is there for the next one
	a.memory->fill(5);
	a.send(to, 2 * buffer);
	expect_parts(b, a, buffer, 2 * buffer, 4);
}

TEST(Extension, BuffersOfAConnection)
{
	const Shape with{ .buffer = 4096 };
	Pair p(with);

	p.a.memory->fill(3);
	for (std::size_t length : { 1, 4097, 16383, 16384 }) {
		const unsigned n = (length + 4095) / 4096;

		for (unsigned i = 0; i < n; ++i)
			p.b.receive(i, p.b.memory->at(i * 8192, 4096));
		ASSERT_EQ(Wr(URMA_OPC_SEND, 9).local({ p.a.memory->at(0, length) }).post(p.a.jetty),
			  URMA_SUCCESS);
		p.a.expect(9);
		for (unsigned i = 0; i < n; ++i) {
			const urma_cr_t cr = p.b.expect(i);
			const std::size_t part = std::min<std::size_t>(length - i * 4096, 4096);

			EXPECT_EQ(cr.completion_len, part);
			EXPECT_EQ(!!(cr.flag.value & UBOE_CR_MORE), i + 1 < n);
			EXPECT_EQ(std::memcmp(p.b.memory->data() + i * 8192,
					      p.a.memory->data() + i * 4096, part),
				  0);
		}
	}
}

TEST(Extension, SizesOfBuffers)
{
	UmEnd b(1, shape(URMA_TM_UM, 2048));
	urma_jfr_cfg_t cfg = b.jfr->jfr_cfg;

	cfg.id = 0;
	for (std::uint32_t size : { 0u, 1u, 1024u, 2047u, 2049u, 3072u, 8192u, 0x80000800u }) {
		errno = 0;
		EXPECT_EQ(uboe_create_jfr(b.ctx, &cfg, size), nullptr) << size;
		EXPECT_EQ(errno, EINVAL);
	}
	EXPECT_EQ(uboe_create_jfr(nullptr, &cfg, 2048), nullptr);
	EXPECT_EQ(uboe_create_jfr(b.ctx, nullptr, 2048), nullptr);
	// a receive is one buffer, in up to four elements
	for (std::uint32_t last : { 511u, 512u, 513u }) {
		urma_sge_t s[4] = { b.memory->at(0, 512), b.memory->at(1000, 512),
				    b.memory->at(2000, 512), b.memory->at(3000, last) };
		urma_jfr_wr_t wr{ { s, 4 }, 1, nullptr }, *bad = nullptr;

		EXPECT_EQ(urma_post_jfr_wr(b.jfr, &wr, &bad),
			  last == 512 ? URMA_SUCCESS : URMA_EINVAL);
	}
}

} // namespace
