// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "rig.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace urma_test
{

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace
{
constexpr auto patience = milliseconds(10000);
}

urma_device_t *device()
{
	const char *env = std::getenv("URMA_TEST_DEVICE");
	std::string name = env ? env : "inproc0";

	return urma_get_device_by_name(name.data());
}

urma_context_t *open_end(unsigned end)
{
	const char *peer = std::getenv("URMA_TEST_PEER");
	std::string name = peer ? peer : "";

	if (!peer)
		return urma_create_context(device(), end);
	return urma_create_context(end % 2 ? urma_get_device_by_name(name.data()) : device(),
				   end / 2);
}

bool is_inproc()
{
	return !std::strcmp(device()->name, "inproc0");
}

Memory::Memory(urma_context_t *ctx, std::size_t size, std::uint32_t access, bool with_token)
	: bytes_(size + 2 * margin, canary), size_(size)
{
	urma_seg_cfg_t cfg{};

	std::memset(data(), 0, size);
	cfg.va = va();
	cfg.len = size;
	cfg.token_value.token = segment_token;
	cfg.flag.bs.access = access;
	cfg.flag.bs.token_policy = with_token ? URMA_TOKEN_PLAIN_TEXT : URMA_TOKEN_NONE;
	seg_ = urma_register_seg(ctx, &cfg);
	EXPECT_NE(seg_, nullptr) << std::strerror(errno);
}

Memory::~Memory()
{
	if (seg_)
		unregister();
	EXPECT_TRUE(canaries_ok());
}

urma_status_t Memory::unregister()
{
	const urma_status_t status = urma_unregister_seg(seg_);

	EXPECT_EQ(status, URMA_SUCCESS);
	seg_ = nullptr;
	return status;
}

void Memory::fill(std::uint8_t seed)
{
	for (std::size_t i = 0; i < size_; ++i)
		data()[i] = static_cast<std::uint8_t>(seed + i * 7 + i / 251);
}

bool Memory::canaries_ok() const
{
	const auto clean = [](std::uint8_t b) { return b == canary; };

	return std::all_of(bytes_.begin(), bytes_.begin() + margin, clean) &&
	       std::all_of(bytes_.end() - margin, bytes_.end(), clean);
}

End::End(unsigned end, const Shape &shape)
{
	urma_jfc_cfg_t jfc_cfg{};
	urma_jfr_cfg_t jfr_cfg{};
	urma_jetty_cfg_t cfg{};

	ctx = open_end(end);
	EXPECT_NE(ctx, nullptr) << std::strerror(errno);
	if (shape.events)
		jfce = urma_create_jfce(ctx);
	jfc_cfg.depth = 4 * std::max(shape.depth, 64u);
	jfc_cfg.jfce = jfce;
	jfc_cfg.flag.bs.jfc_inline = shape.jfc_inline;
	jfc = urma_create_jfc(ctx, &jfc_cfg);
	EXPECT_NE(jfc, nullptr) << std::strerror(errno);
	jfr_cfg.depth = std::max(shape.depth, 64u);
	jfr_cfg.trans_mode = URMA_TM_RC;
	jfr_cfg.max_sge = 4;
	jfr_cfg.min_rnr_timer = shape.min_rnr_timer;
	jfr_cfg.jfc = jfc;
	jfr_cfg.flag.bs.token_policy = shape.jetty_token ? URMA_TOKEN_PLAIN_TEXT : URMA_TOKEN_NONE;
	jfr_cfg.token_value.token = jetty_token;
	jfr = shape.buffer ? uboe_create_jfr(ctx, &jfr_cfg, shape.buffer) :
			     urma_create_jfr(ctx, &jfr_cfg);
	EXPECT_NE(jfr, nullptr) << std::strerror(errno);
	cfg.flag.bs.share_jfr = URMA_SHARE_JFR;
	cfg.jfs_cfg.depth = shape.depth;
	cfg.jfs_cfg.trans_mode = URMA_TM_RC;
	cfg.jfs_cfg.max_sge = shape.sges;
	cfg.jfs_cfg.max_inline_data = shape.inline_bytes;
	cfg.jfs_cfg.rnr_retry = shape.rnr_retry;
	cfg.jfs_cfg.err_timeout = shape.err_timeout;
	cfg.jfs_cfg.jfc = jfc;
	cfg.shared.jfr = jfr;
	cfg.id = shape.id;
	jetty = urma_create_jetty(ctx, &cfg);
	EXPECT_NE(jetty, nullptr) << std::strerror(errno);
	memory = std::make_unique<Memory>(
		ctx, shape.memory, URMA_ACCESS_READ | URMA_ACCESS_WRITE | URMA_ACCESS_ATOMIC);
}

End::~End()
{
	const auto done = [](urma_status_t status) { EXPECT_EQ(status, URMA_SUCCESS); };

	if (jetty && jetty->remote_jetty)
		done(urma_unbind_jetty(jetty));
	if (target)
		done(urma_unimport_jetty(target));
	if (remote)
		done(urma_unimport_seg(remote));
	if (jetty)
		done(urma_delete_jetty(jetty));
	memory.reset();
	done(urma_delete_jfr(jfr));
	done(urma_delete_jfc(jfc));
	if (jfce)
		done(urma_delete_jfce(jfce));
	done(urma_delete_context(ctx));
}

urma_rjetty_t End::describe() const
{
	urma_rjetty_t r{};

	r.jetty_id = jetty->jetty_id;
	r.trans_mode = URMA_TM_RC;
	r.type = URMA_JETTY;
	r.tp_type = URMA_RTP;
	return r;
}

void End::import(End &peer, const Shape &shape)
{
	urma_token_t token{ jetty_token }, seg_token{ segment_token };
	urma_rjetty_t r = peer.describe();
	urma_seg_t seg = peer.memory->seg()->seg;

	r.flag.bs.token_policy = shape.jetty_token ? URMA_TOKEN_PLAIN_TEXT : URMA_TOKEN_NONE;
	target = urma_import_jetty(ctx, &r, &token);
	EXPECT_NE(target, nullptr);
	remote = urma_import_seg(ctx, &seg, &seg_token, 0, {});
	EXPECT_NE(remote, nullptr);
}

void End::bind()
{
	EXPECT_EQ(urma_bind_jetty(jetty, target), URMA_SUCCESS);
}

std::optional<urma_cr_t> Completions::next()
{
	const auto end = steady_clock::now() + patience;
	urma_cr_t cr;

	do {
		const int n = urma_poll_jfc(jfc, 1, &cr);

		EXPECT_GE(n, 0);
		if (n)
			return cr;
		std::this_thread::yield();
	} while (steady_clock::now() < end);
	ADD_FAILURE() << "no completion came";
	return std::nullopt;
}

urma_cr_t Completions::expect(std::uint64_t user_ctx)
{
	const auto cr = next();

	if (!cr)
		return {};
	EXPECT_EQ(cr->status, URMA_CR_SUCCESS);
	EXPECT_EQ(cr->user_ctx, user_ctx);
	return *cr;
}

urma_cr_t End::expect(std::uint64_t user_ctx)
{
	const urma_cr_t cr = Completions::expect(user_ctx);

	EXPECT_EQ(cr.local_id, jetty->jetty_id.id);
	return cr;
}

bool Completions::nothing_comes(unsigned ms)
{
	const auto end = steady_clock::now() + milliseconds(ms);
	urma_cr_t cr;

	do
		if (urma_poll_jfc(jfc, 1, &cr))
			return false;
	while (steady_clock::now() < end);
	return true;
}

void End::receive(std::uint64_t user_ctx, urma_sge_t sge)
{
	urma_jfr_wr_t wr{ { &sge, 1 }, user_ctx, nullptr }, *bad = nullptr;

	EXPECT_EQ(urma_post_jetty_recv_wr(jetty, &wr, &bad), URMA_SUCCESS);
}

Pair::Pair(const Shape &shape) : a(0, shape), b(1, shape)
{
	a.import(b, shape);
	b.import(a, shape);
	a.bind();
	b.bind();
}

Pair::~Pair()
{
	// imported segments of the other end say nothing to it: any order works
}

Wr::Wr(urma_opcode_t opcode, std::uint64_t user_ctx)
{
	wr_.opcode = opcode;
	wr_.user_ctx = user_ctx;
	wr_.flag.bs.complete_enable = URMA_COMPLETE_ENABLE;
}

Wr &Wr::local(std::vector<urma_sge_t> sges)
{
	local_ = std::move(sges);
	return *this;
}

Wr &Wr::remote(std::uint64_t addr, urma_target_seg_t *seg, std::size_t length)
{
	remote_.insert(remote_.begin(),
		       urma_sge_t{ addr, static_cast<std::uint32_t>(length), seg, nullptr });
	return *this;
}

Wr &Wr::notify(std::uint64_t addr, urma_target_seg_t *seg, std::uint64_t value)
{
	remote_.push_back({ addr, 8, seg, nullptr });
	wr_.rw.notify_data = value;
	return *this;
}

Wr &Wr::imm(std::uint64_t value)
{
	if (wr_.opcode == URMA_OPC_WRITE_IMM)
		wr_.rw.notify_data = value;
	else
		wr_.send.imm_data = value;
	return *this;
}

Wr &Wr::invalidate(urma_target_seg_t *seg)
{
	wr_.send.tseg = seg;
	return *this;
}

Wr &Wr::operands(std::uint64_t first, std::uint64_t second)
{
	operand_[0] = first;
	operand_[1] = second;
	return *this;
}

Wr &Wr::inlined()
{
	wr_.flag.bs.inline_flag = URMA_INLINE_ENABLE;
	return *this;
}

Wr &Wr::fenced()
{
	wr_.flag.bs.fence = URMA_FENCE_ENABLE;
	return *this;
}

Wr &Wr::solicited()
{
	wr_.flag.bs.solicited_enable = URMA_SOLICITED_ENABLE;
	return *this;
}

Wr &Wr::quiet()
{
	wr_.flag.bs.complete_enable = URMA_COMPLETE_DISABLE;
	return *this;
}

Wr &Wr::extended(uboe_wr_kind kind, unsigned op, unsigned type)
{
	wr_.flag.bs.has_drv_ext = 1;
	extended_.size = sizeof(extended_);
	extended_.kind = static_cast<std::uint8_t>(kind);
	extended_.op = static_cast<std::uint8_t>(op);
	extended_.type = static_cast<std::uint8_t>(type);
	return *this;
}

urma_jfs_wr_t *Wr::get()
{
	const urma_sg_t local{ local_.data(), static_cast<std::uint32_t>(local_.size()) };
	const urma_sg_t far{ remote_.data(), static_cast<std::uint32_t>(remote_.size()) };

	switch (wr_.opcode) {
	case URMA_OPC_SEND:
	case URMA_OPC_SEND_IMM:
	case URMA_OPC_SEND_INVALIDATE: wr_.send.src = local; break;
	case URMA_OPC_READ:
		wr_.rw.src = far;
		wr_.rw.dst = local;
		break;
	case URMA_OPC_CAS:
		wr_.cas = { remote_.data(), local_.data(), { operand_[0] }, { operand_[1] } };
		break;
	case URMA_OPC_SWAP:
	case URMA_OPC_FADD:
	case URMA_OPC_FSUB:
	case URMA_OPC_FAND:
	case URMA_OPC_FOR:
	case URMA_OPC_FXOR: wr_.faa = { remote_.data(), local_.data(), { operand_[0] } }; break;
	default: wr_.rw.src = local; wr_.rw.dst = far;
	}
	return &wr_;
}

urma_status_t Wr::post(urma_jetty_t *jetty)
{
	urma_jfs_wr_t *bad = nullptr;

	return urma_post_jetty_send_wr(jetty, get(), &bad);
}

} // namespace urma_test
