// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Raw queues: datagrams as of a NIC, and UBoE packets of the program's own making.
#include "um_rig.hpp"

#include <linux/capability.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace urma_test;

namespace
{

constexpr std::uint16_t ub_port = 4792;

/// Who else sits at the address of a context: an ordinary UDP socket.
class Listener
{
      public:
	explicit Listener(const urma_eid_t &eid)
	{
		sockaddr_in6 a{};
		socklen_t len = sizeof(a);

		fd_ = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		a.sin6_family = AF_INET6;
		std::memcpy(&a.sin6_addr, eid.raw, 16);
		EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr *>(&a), sizeof(a)), 0);
		EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr *>(&a), &len), 0);
		port = ntohs(a.sin6_port);
	}
	~Listener() { close(fd_); }
	Listener(const Listener &) = delete;
	Listener &operator=(const Listener &) = delete;

	/// The next datagram; empty with from.sin6_port 0 after ten seconds.
	std::vector<std::uint8_t> next()
	{
		std::vector<std::uint8_t> data(65536);
		socklen_t len = sizeof(from);
		pollfd p{ fd_, POLLIN, 0 };

		from = {};
		if (poll(&p, 1, 10000) != 1)
			return {};
		const ssize_t n = recvfrom(fd_, data.data(), data.size(), 0,
					   reinterpret_cast<sockaddr *>(&from), &len);

		data.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
		return data;
	}

	std::uint16_t port;
	sockaddr_in6 from{};

      private:
	int fd_;
};

struct RawQueue {
	explicit RawQueue(UmEnd &e, std::uint8_t sges = 18) : end(e)
	{
		urma_jfs_cfg_t cfg{};

		cfg.depth = 16;
		cfg.max_sge = sges;
		cfg.jfc = e.jfc;
		jfs = uboe_create_raw_jfs(e.ctx, &cfg);
		EXPECT_NE(jfs, nullptr) << std::strerror(errno);
	}
	~RawQueue() { EXPECT_EQ(urma_delete_jfs(jfs), URMA_SUCCESS); }
	RawQueue(const RawQueue &) = delete;
	RawQueue &operator=(const RawQueue &) = delete;

	urma_status_t post(std::vector<urma_sge_t> src, const urma_eid_t &to, std::uint16_t port,
			   std::uint64_t user_ctx = 1)
	{
		uboe_raw_wr_t wr{}, *bad = nullptr;

		wr.src = { src.data(), static_cast<std::uint32_t>(src.size()) };
		wr.dst = to;
		wr.port = port;
		wr.flag.bs.complete_enable = 1;
		wr.user_ctx = user_ctx;
		const urma_status_t status = uboe_post_raw(jfs, &wr, &bad);

		EXPECT_EQ(bad, status ? &wr : nullptr);
		return status;
	}

	UmEnd &end;
	urma_jfs_t *jfs;
};

/// @p n pieces, in disorder, that have @p length bytes together; what they say in turn.
std::vector<urma_sge_t> pieces(UmEnd &e, unsigned n, std::size_t length,
			       std::vector<std::uint8_t> *bytes = nullptr)
{
	std::vector<urma_sge_t> out;
	std::size_t left = length;

	for (unsigned i = 0; i < n; ++i) {
		const std::size_t part = i + 1 < n ? length / n : left;
		const std::size_t at = (n - i) * 4500 + i;

		out.push_back(e.memory->at(at, part));
		if (bytes)
			bytes->insert(bytes->end(), e.memory->data() + at,
				      e.memory->data() + at + part);
		left -= part;
	}
	return out;
}

/// Without CAP_NET_RAW, in this thread. Before the ends are opened: the kernel serves a
/// context for who opened it, with the credentials of then.
class Unprivileged
{
      public:
	Unprivileged()
	{
		__user_cap_data_struct less[2];

		EXPECT_EQ(syscall(SYS_capget, &head_, was_), 0);
		std::memcpy(less, was_, sizeof(less));
		less[0].effective &= ~(1u << CAP_NET_RAW);
		EXPECT_EQ(syscall(SYS_capset, &head_, less), 0);
	}
	~Unprivileged() { EXPECT_EQ(syscall(SYS_capset, &head_, was_), 0); }
	Unprivileged(const Unprivileged &) = delete;
	Unprivileged &operator=(const Unprivileged &) = delete;

	bool had_it() const { return was_[0].effective >> CAP_NET_RAW & 1; }

      private:
	__user_cap_header_struct head_{ _LINUX_CAPABILITY_VERSION_3, 0 };
	__user_cap_data_struct was_[2];
};

TEST(Extension, RawMovesFourKilobytesOfEighteenPieces)
{
	const Unprivileged without;
	UmEnd a(0), b(1);
	RawQueue q(a);
	Listener at(b.ctx->eid);

	a.memory->fill(11);
	for (unsigned n : { 1u, 2u, 3u, 17u, 18u }) {
		for (std::size_t length : { 0, 1, 1472, 4095, 4096 }) {
			std::vector<std::uint8_t> want;

			ASSERT_EQ(q.post(pieces(a, n, length, &want), b.ctx->eid, at.port, length),
				  URMA_SUCCESS);
			const urma_cr_t cr = a.expect(length);

			EXPECT_EQ(cr.completion_len, length);
			EXPECT_EQ(cr.flag.bs.s_r, 0);
			EXPECT_EQ(cr.local_id, q.jfs->jfs_id.id);
			ASSERT_EQ(at.next(), want) << n << " pieces";
			EXPECT_EQ(ntohs(at.from.sin6_port), ub_port);
			EXPECT_EQ(std::memcmp(&at.from.sin6_addr, a.ctx->eid.raw, 16), 0);
		}
	}
}

TEST(Extension, RawIsRefusedBeyondItsLimits)
{
	UmEnd a(0), b(1);
	RawQueue q(a), small(a, 2);
	urma_jfs_cfg_t cfg = q.jfs->jfs_cfg;

	EXPECT_EQ(q.post(pieces(a, 18, 4097), b.ctx->eid, 9), URMA_EINVAL);
	EXPECT_EQ(q.post(pieces(a, 1, 4097), b.ctx->eid, 9), URMA_EINVAL);
	EXPECT_EQ(q.post(pieces(a, 19, 4096), b.ctx->eid, 9), URMA_EINVAL) << "six blocks";
	EXPECT_EQ(q.post(pieces(a, 1, 64), b.ctx->eid, 0), URMA_EINVAL);
	EXPECT_EQ(small.post(pieces(a, 3, 64), b.ctx->eid, 9), URMA_EINVAL);
	EXPECT_TRUE(a.nothing_comes(1));
	for (auto change :
	     { +[](urma_jfs_cfg_t &c) { c.max_sge = 19; },
	       +[](urma_jfs_cfg_t &c) { c.max_inline_data = 1; },
	       +[](urma_jfs_cfg_t &c) { c.trans_mode = URMA_TM_UM; },
	       +[](urma_jfs_cfg_t &c) { c.depth = 3; }, +[](urma_jfs_cfg_t &c) { c.depth = 8192; },
	       +[](urma_jfs_cfg_t &c) { c.jfc = nullptr; } }) {
		urma_jfs_cfg_t wrong = cfg;

		change(wrong);
		errno = 0;
		EXPECT_EQ(uboe_create_raw_jfs(a.ctx, &wrong), nullptr);
		EXPECT_EQ(errno, EINVAL);
	}
	cfg.trans_mode = {};
	EXPECT_EQ(urma_create_jfs(a.ctx, &cfg), nullptr) << "a raw queue is asked for by name";
	EXPECT_EQ(uboe_create_raw_jfs(nullptr, &cfg), nullptr);
	EXPECT_EQ(uboe_create_raw_jfs(a.ctx, nullptr), nullptr);
}

TEST(Extension, RawQueuesAndOthersAreApart)
{
	UmShape with_jfs;

	with_jfs.with_jfs = true;
	UmEnd a(0, with_jfs), b(1);
	RawQueue q(a);
	Message m(a, a.aim(b), 64);
	urma_jfs_wr_t *bad;
	urma_sge_t s = a.memory->at(0, 64);
	uboe_raw_wr_t wr{}, *bad_raw;

	EXPECT_EQ(urma_post_jfs_wr(q.jfs, &m.wr, &bad), EOPNOTSUPP);
	wr.src = { &s, 1 };
	wr.dst = b.ctx->eid;
	wr.port = 9;
	EXPECT_EQ(uboe_post_raw(a.jfs, &wr, &bad_raw), URMA_EINVAL);
	wr.reserved = 1;
	EXPECT_EQ(uboe_post_raw(q.jfs, &wr, &bad_raw), URMA_EINVAL);
	wr.reserved = 0;
	wr.flag.bs.fence = 1;
	EXPECT_EQ(uboe_post_raw(q.jfs, &wr, &bad_raw), URMA_EINVAL);
	EXPECT_EQ(uboe_post_raw(q.jfs, nullptr, &bad_raw), URMA_EINVAL);
	EXPECT_EQ(uboe_post_raw(nullptr, &wr, &bad_raw), URMA_EINVAL);
}

TEST(Extension, RawToOurPortTakesThePrivilege)
{
	const Unprivileged without;
	UmEnd a(0), b(1);
	RawQueue q(a);
	Listener at(b.ctx->eid);

	ASSERT_EQ(q.post(pieces(a, 1, 64), b.ctx->eid, at.port), URMA_SUCCESS);
	a.expect(1);
	EXPECT_EQ(at.next().size(), 64u);
	ASSERT_EQ(q.post(pieces(a, 1, 64), b.ctx->eid, ub_port), URMA_SUCCESS);
	const auto cr = a.next();

	ASSERT_TRUE(cr);
	EXPECT_EQ(cr->status, URMA_CR_LOC_ACCESS_ERR);
	EXPECT_EQ(a.next()->status, URMA_CR_WR_FLUSH_ERR_DONE);
	// and the queue can be used again
	for (auto to : { URMA_JETTY_STATE_RESET, URMA_JETTY_STATE_READY }) {
		urma_jfs_attr_t attr{ JFS_STATE, to };

		ASSERT_EQ(urma_modify_jfs(q.jfs, &attr), URMA_SUCCESS);
	}
	ASSERT_EQ(q.post(pieces(a, 18, 4096), b.ctx->eid, at.port), URMA_SUCCESS);
	a.expect(1);
	EXPECT_EQ(at.next().size(), 4096u);
}

/// A UTP Send (docs/wire.md 2, 4) to JFR @p id, without a token, in the name of jetty 0x33
std::vector<std::uint8_t> message(std::uint32_t id, const std::string &text)
{
	std::vector<std::uint8_t> p(16 + 8 + 4 + 4);

	p[0] = 0x80; // last, UTP data
	p[17] = 0x10; // BTAH: no extensions of EE
	p[20] = 0x08; // MT_EN
	p[23] = 0x33;
	p[25] = static_cast<std::uint8_t>(id >> 16 & 0xf); // MTETAH: type 0, a JFR
	p[26] = static_cast<std::uint8_t>(id >> 8);
	p[27] = static_cast<std::uint8_t>(id);
	p.insert(p.end(), text.begin(), text.end());
	return p;
}

TEST(Extension, RawWithThePrivilegeSpeaksUboe)
{
	UmShape open;

	if (!Unprivileged().had_it())
		GTEST_SKIP() << "no CAP_NET_RAW";
	open.token = false;
	UmEnd a(0), b(1, open);
	RawQueue q(a);
	const auto p = message(b.jfr->jfr_id.id, "made by hand");

	b.receive(5, 0, 64);
	std::memcpy(a.memory->data(), p.data(), p.size());
	ASSERT_EQ(q.post({ a.memory->at(0, 16), a.memory->at(16, p.size() - 16) }, b.ctx->eid,
			 ub_port),
		  URMA_SUCCESS);
	a.expect(1);
	const urma_cr_t cr = b.expect(5);

	EXPECT_EQ(cr.completion_len, 12u);
	EXPECT_EQ(cr.remote_id.id, 0x33u);
	EXPECT_EQ(std::memcmp(b.memory->data(), "made by hand", 12), 0);
}

} // namespace
