// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The UDP socket of an endpoint: unconnected, bound to one address and the UBoE
// port. The kernel builds the IP and UDP headers; the core has computed the ICRC
// over the same ones, since an unconnected socket with path MTU discovery sends
// IPv4 packets with DF and identification 0 (docs/decisions/0017).
//
// Over IPv6 packets of one length to one peer are handed to the kernel as one message,
// which it cuts as late as it can, and received likewise (UDP_SEGMENT, UDP_GRO; decision
// 0036). Such packets have a UDP checksum, others zero. Not over IPv4: the kernel would
// number the pieces, and the ICRC covers the identification.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include <sys/socket.h>

#include "link.hpp"

namespace uboe::inproc {

class Socket final : public Link {
public:
	static constexpr unsigned batch = 64;

	explicit Socket(Pool &pool) : pool_(pool) {}
	~Socket() override;
	Socket(const Socket &) = delete;
	Socket &operator=(const Socket &) = delete;

	int open(const Address &local, std::uint16_t port, int ttl) override;
	int fd() const override { return fd_; }
	std::uint32_t receive_buffer() const override { return receive_buffer_; }
	std::uint32_t route_mtu(const Address &to) const override;

	/// A full batch is sent at once, and so is what goes to a port that is not ours: who
	/// listens there wants a checksum.
	void send(Block *b, const Address &to, std::uint16_t port) override;
	void flush() override;
	std::uint64_t send_errors() const { return send_errors_; }

	unsigned fetch() override;
	Block *next() override;

	/// Where the kernel can, and over IPv6.
	void set_segmentation(bool on) override { segmentation_ = on && can_segment_; }
	bool segmentation() const { return segmentation_; }

private:
	static constexpr std::size_t message_max = 65535; // bytes of an aggregate
	static constexpr std::size_t overflow = message_max - Block::payload_max;

	// Room for one message of control data each: traffic class, TTL, segment
	struct alignas(cmsghdr) Control {
		std::uint8_t bytes[3 * CMSG_SPACE(sizeof(int))];
	};

	// What waits to be sent as one message: packets of one length to one address, of
	// which only the last may be shorter
	struct Run {
		unsigned first; // in out_
		unsigned count;
		std::size_t bytes;
		int tc;
		int ttl;
	};

	bool set_options(int ttl);
	void set_receive_aggregates();
	bool omit_checksums(bool on);
	bool extends(const Run &r, std::size_t len, const sockaddr_in6 &to, int tc, int ttl) const;
	void fill_message(unsigned run);
	unsigned alike(unsigned from) const;
	void refused(unsigned run);
	void send_singly(unsigned run);
	bool patient(int &tries) const;
	void prepare_receive();
	void fill_headers(Block *b, std::size_t len, bool cut, std::uint8_t tc,
			  unsigned slot) const;
	void copy_part(Block *b, unsigned slot, std::size_t offset, std::size_t len) const;

	Pool &pool_;
	Address local_;
	std::uint16_t port_ = 0;
	int fd_ = -1;
	int ttl_ = 0;
	std::uint32_t receive_buffer_ = 0;
	bool v4_ = false;
	bool can_segment_ = false;
	bool segmentation_ = false;
	bool checksums_ = true; // what the socket does now
	std::uint64_t send_errors_ = 0;

	unsigned waiting_ = 0; // packets
	unsigned runs_ = 0;
	std::array<Block *, batch> out_{};
	std::array<Run, batch> run_{};
	std::array<mmsghdr, batch> out_msg_{};
	std::array<iovec, batch> out_iov_{};
	std::array<sockaddr_in6, batch> out_addr_{};
	std::array<Control, batch> out_control_{};

	// A message fills its block, then its part of the overflow, which only exists where
	// aggregates may come
	unsigned fetched_ = 0, slot_ = 0;
	std::size_t offset_ = 0; // in slot_
	std::array<Block *, batch> in_{};
	std::unique_ptr<std::uint8_t[]> overflow_;
	std::array<mmsghdr, batch> in_msg_{};
	std::array<iovec, 2 * batch> in_iov_{};
	std::array<sockaddr_in6, batch> in_addr_{};
	std::array<Control, batch> in_control_{};
};

} // namespace uboe::inproc
