// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// One end without connections: a context with queues for unreliable messages, or
// reliable ones.
#pragma once

#include "rig.hpp"

namespace urma_test
{

struct UmShape {
	urma_transport_mode_t mode = URMA_TM_UM;
	std::uint32_t access = URMA_ACCESS_LOCAL_ONLY; // to the memory
	std::size_t room = 1 << 17;
	std::uint8_t rnr_retry = 7;
	std::uint32_t depth = 64;
	std::uint32_t receives = 64;
	bool token = true;
	bool with_jetty = true;
	bool with_jfs = false;
	std::uint32_t id = 0; // of the jetty
	urma_order_type_t order = URMA_DEF_ORDER;
	std::uint32_t buffer = 0; // receives are buffers of so many bytes
};

class UmEnd : public Completions
{
      public:
	explicit UmEnd(unsigned end, const UmShape &shape = {});
	~UmEnd();
	UmEnd(const UmEnd &) = delete;
	UmEnd &operator=(const UmEnd &) = delete;

	urma_jetty_cfg_t jetty_cfg() const;
	urma_jfs_cfg_t jfs_cfg() const;
	urma_rjetty_t describe() const;
	urma_rjfr_t describe_jfr() const;
	/// Targets live as long as this end.
	urma_target_jetty_t *aim(const UmEnd &peer, std::uint32_t token = jetty_token);
	urma_target_jetty_t *aim_jfr(const UmEnd &peer, std::uint32_t token = jetty_token);
	urma_target_seg_t *reach(UmEnd &peer, std::uint32_t token = segment_token);
	urma_target_jetty_t *aim_group(const UmEnd &peer, const urma_jetty_grp_t *group,
				       std::uint32_t token = jetty_token);

	void receive(std::uint64_t user_ctx, std::size_t offset, std::size_t length);
	/// Posts to the jetty, or else to the JFS, and waits for the completion.
	void send(urma_target_jetty_t *to, std::size_t length, std::uint8_t hint = 0,
		  std::size_t offset = 0);

	urma_context_t *ctx = nullptr;
	urma_jfr_t *jfr = nullptr;
	urma_jetty_t *jetty = nullptr;
	urma_jfs_t *jfs = nullptr;
	std::unique_ptr<Memory> memory;

      private:
	UmShape shape_;
	std::vector<urma_target_jetty_t *> targets_;
	std::vector<urma_target_seg_t *> segments_;
};

/// A message, ready to be posted.
struct Message {
	Message(UmEnd &from, urma_target_jetty_t *to, std::size_t length,
		std::uint64_t user_ctx = 1, std::size_t offset = 0);

	urma_sge_t sge;
	urma_jfs_wr_t wr{};
};

} // namespace urma_test
