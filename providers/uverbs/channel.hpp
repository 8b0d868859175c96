// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Commands to a uboe device of the kernel: uverbs ioctls, by the kernel's public
// headers alone. Errors are positive errno values.
#pragma once

#include <cerrno>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rdma/ib_user_verbs.h>
#include <rdma/uboe-abi.h>
#include <ub/uboe_mbox.h>

#include "inproc/address.hpp"
#include "rings/base.hpp"

namespace uboe::uverbs {

/// A file descriptor that is closed with its owner.
class Fd {
public:
	Fd() = default;
	explicit Fd(int fd) : fd_(fd) {}
	~Fd();
	Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
	Fd &operator=(Fd &&other) noexcept
	{
		std::swap(fd_, other.fd_);
		return *this;
	}

	int get() const { return fd_; }

private:
	int fd_ = -1;
};

using inproc::Address;

/// Entry of a GID table: an address, and its place there.
struct Gid {
	Address address;
	u32 index;
};

/// What a device answers that is gone for good; the kernel says EIO.
inline constexpr int gone = ENODEV;

/// /dev/infiniband/uverbsN, opened.
class Channel {
public:
	/// Opens @p path; EPROTONOSUPPORT unless it is a uboe device.
	int open(const std::string &path);
	int fd() const { return fd_.get(); }

	/// Before everything below. @p events: where asynchronous events are read.
	int get_context(uboe_alloc_ucontext_resp &caps, Fd &events) const;
	int query_port(ib_uverbs_query_port_resp &port) const;
	/// The port's addresses, without link-local ones.
	int query_gids(std::vector<Gid> &gids) const;

	/// A command of ib_user_verbs.h: its request and its answer without headers. The
	/// answers' memory is written as far as the kernel says something.
	template <class In, class Out> int command(u32 number, const In &in, Out &out) const
	{
		return invoke(number, bytes(in), writable(out), {}, {});
	}
	/// The same for those that answer nothing.
	template <class In> int command(u32 number, const In &in) const
	{
		return invoke(number, bytes(in), {}, {}, {});
	}
	/// The same with the driver's part, uboe-abi.h.
	template <class In, class Out, class DriverIn, class DriverOut>
	int command(u32 number, const In &in, Out &out, const DriverIn &driver_in,
		    DriverOut &driver_out) const
	{
		return invoke(number, bytes(in), writable(out), bytes(driver_in),
			      writable(driver_out));
	}
	template <class In, class Out, class DriverIn>
	int command(u32 number, const In &in, Out &out, const DriverIn &driver_in) const
	{
		return invoke(number, bytes(in), writable(out), bytes(driver_in), {});
	}

	/// The device's own methods
	int alloc_token_id(u32 &id) const;
	int free_token_id(u32 id) const;
	int rotate_token(u32 mr_handle, u32 token, u32 backup) const;
	int alloc_group(u32 pd_handle, const uboe_group_req &req, u32 &id) const;
	int free_group(u32 id) const;
	int open_target(const uboe_target_req &req, u32 &channel) const;
	/// EOPNOTSUPP of a kernel that has no such method.
	int set_tm(const uboe_tm_set_req &req, const uboe_tm_ctx &ctx) const;
	int query_tm(u32 tag, uboe_tm_ctx &ctx) const;

	/// KICK, uboe-abi.h
	int kick(u32 qp_handle) const;

private:
	using In = std::span<const std::byte>;
	using Out = std::span<std::byte>;

	template <class T> static In bytes(const T &t) { return std::as_bytes(std::span(&t, 1)); }
	template <class T> static Out writable(T &t)
	{
		return std::as_writable_bytes(std::span(&t, 1));
	}
	int invoke(u32 number, In in, Out out, In driver_in, Out driver_out) const;

	Fd fd_;
};

} // namespace uboe::uverbs
