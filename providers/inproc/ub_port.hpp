// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A port of a UB domain: native packets on the lab link of a network interface
// (docs/wire.md, 11). Needs CAP_NET_RAW. Several endpoints may share an interface; each
// takes the packets to its own address.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <sys/socket.h>

extern "C" {
#include "ubp.h"
#include "ubp_native.h"
}

#include "link.hpp"

namespace uboe::inproc {

class UbPort final : public Link {
public:
	static constexpr unsigned batch = 64;

	/// @p dev: whose partition packets bear.
	UbPort(Pool &pool, const ubp_dev &dev, std::string interface)
		: pool_(pool), dev_(dev), interface_(std::move(interface))
	{
	}
	~UbPort() override;
	UbPort(const UbPort &) = delete;
	UbPort &operator=(const UbPort &) = delete;

	int open(const Address &local, std::uint16_t port, int ttl) override;
	int fd() const override { return fd_; }
	std::uint32_t receive_buffer() const override { return receive_buffer_; }
	/// What the link carries: of the way behind it nothing is known.
	std::uint32_t route_mtu(const Address &to) const override;
	void send(Block *b, const Address &to, std::uint16_t port) override;
	void flush() override;
	unsigned fetch() override;
	Block *next() override;
	bool native() const override { return true; }

private:
	static constexpr std::size_t head = 14 + UB_NATIVE_LEN; // before the IP header

	std::uint8_t *frame(Block *b) const { return b->packet(v4_) - head; }
	std::size_t frame_max() const { return head + Block::headers(v4_) + Block::payload_max; }
	bool take_parameters();
	int claim();
	bool is_ours(Block *b, std::size_t len) const;

	Pool &pool_;
	const ubp_dev &dev_;
	const std::string interface_;
	Address local_;
	bool v4_ = false;
	int fd_ = -1;
	int claim_ = -1; // a name that nobody else has while we do
	std::uint32_t receive_buffer_ = 0;
	std::uint32_t mtu_ = 0; // of the interface
	std::array<std::uint8_t, 6> mac_{};

	unsigned waiting_ = 0;
	std::array<Block *, batch> out_{};
	std::array<mmsghdr, batch> out_msg_{};
	std::array<iovec, batch> out_iov_{};

	unsigned fetched_ = 0, slot_ = 0;
	std::array<Block *, batch> in_{};
	std::array<mmsghdr, batch> in_msg_{};
	std::array<iovec, batch> in_iov_{};
};

} // namespace uboe::inproc
