// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Two ends that talk to each other, by the public API alone: what a test needs
// of a device, whichever it is. URMA_TEST_DEVICE names it, inproc0 by default; ends
// are at its EIDs in turn, or every other one at those of the device URMA_TEST_PEER.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <uboe/urma_ext.h>
#include <urma/urma_api.h>

namespace urma_test
{

constexpr std::uint32_t jetty_token = 0xfeedf00d;
constexpr std::uint32_t segment_token = 0xdeadbeef;
constexpr std::uint8_t canary = 0xc5;

urma_device_t *device();
/// A new context of end 0, 1 or 2; null as from urma_create_context().
urma_context_t *open_end(unsigned end);
/// Is it the device of the library's own process?
bool is_inproc();

/// Memory with canaries on both sides, registered.
class Memory
{
      public:
	Memory(urma_context_t *ctx, std::size_t size, std::uint32_t access, bool with_token = true);
	~Memory();
	Memory(const Memory &) = delete;
	Memory &operator=(const Memory &) = delete;

	std::uint8_t *data() { return bytes_.data() + margin; }
	std::uint64_t va() { return reinterpret_cast<std::uint64_t>(data()); }
	std::size_t size() const { return size_; }
	urma_target_seg_t *seg() { return seg_; }
	/// Gives it up before its time.
	urma_status_t unregister();
	void fill(std::uint8_t seed);
	bool canaries_ok() const;
	urma_sge_t at(std::size_t offset, std::size_t length)
	{
		return { va() + offset, static_cast<std::uint32_t>(length), seg_, nullptr };
	}

      private:
	static constexpr std::size_t margin = 64;

	std::vector<std::uint8_t> bytes_;
	std::size_t size_;
	urma_target_seg_t *seg_ = nullptr;
};

struct Shape {
	std::uint32_t depth = 64; // of all queues; a power of two
	std::uint8_t sges = 4;
	std::uint32_t inline_bytes = 208;
	std::uint8_t rnr_retry = 7;
	std::uint8_t err_timeout = 0;
	std::uint8_t min_rnr_timer = 12; // 0.64 ms: shorter ones leave User-Mode Linux no time
	bool events = false;
	bool jfc_inline = false;
	bool jetty_token = true;
	std::uint32_t buffer = 0; // receives are buffers of so many bytes
	std::size_t memory = 1 << 20;
	std::uint32_t id = 0; // of both jetties, 0: any
};

/// Takes completions out of a JFC, by polling.
struct Completions {
	/// The next one; nothing after ten seconds, which fails the test.
	std::optional<urma_cr_t> next();
	/// Fails the test unless it is a success with this user_ctx.
	urma_cr_t expect(std::uint64_t user_ctx);
	bool nothing_comes(unsigned ms);

	urma_jfc_t *jfc = nullptr;
};

/// One end: a context with a jetty and all it needs.
class End : public Completions
{
      public:
	/// @p end: 0 or 1
	End(unsigned end, const Shape &shape);
	~End();
	End(const End &) = delete;
	End &operator=(const End &) = delete;

	void import(End &peer, const Shape &shape);
	void bind();
	urma_rjetty_t describe() const;

	/// And of this end's jetty.
	urma_cr_t expect(std::uint64_t user_ctx);
	void receive(std::uint64_t user_ctx, urma_sge_t sge);

	urma_context_t *ctx = nullptr;
	urma_jfce_t *jfce = nullptr;
	urma_jfr_t *jfr = nullptr;
	urma_jetty_t *jetty = nullptr;
	std::unique_ptr<Memory> memory;
	urma_target_jetty_t *target = nullptr;
	urma_target_seg_t *remote = nullptr; // the peer's memory
};

/// Two bound ends.
struct Pair {
	explicit Pair(const Shape &shape = {});
	~Pair();

	End a;
	End b;
};

/// A request with its lists, as the API wants it.
class Wr
{
      public:
	Wr(urma_opcode_t opcode, std::uint64_t user_ctx);
	Wr(const Wr &) = delete;
	Wr &operator=(const Wr &) = delete;

	Wr &local(std::vector<urma_sge_t> sges);
	Wr &remote(std::uint64_t addr, urma_target_seg_t *seg, std::size_t length = 0);
	Wr &notify(std::uint64_t addr, urma_target_seg_t *seg, std::uint64_t value);
	Wr &imm(std::uint64_t value);
	Wr &invalidate(urma_target_seg_t *seg);
	Wr &operands(std::uint64_t first, std::uint64_t second = 0);
	Wr &inlined();
	Wr &fenced();
	Wr &solicited();
	Wr &quiet();
	/// What uboe/urma_ext.h has beyond the API.
	Wr &extended(uboe_wr_kind kind, unsigned op = 0, unsigned type = 0);
	uboe_jfs_wr_t &extension() { return extended_; }

	/// Posts it; the status of the call.
	urma_status_t post(urma_jetty_t *jetty);
	urma_jfs_wr_t *get();

      private:
	uboe_jfs_wr_t extended_{};
	urma_jfs_wr_t &wr_ = extended_.wr;
	std::vector<urma_sge_t> local_;
	std::vector<urma_sge_t> remote_;
	std::uint64_t operand_[2] = {};
};

} // namespace urma_test
