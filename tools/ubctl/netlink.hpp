// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// RDMA netlink and generic netlink by libnl: requests, and the attributes of what is
// answered.
// Nothing that arrives is trusted: lengths are checked before values are read.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>

namespace ubctl
{

/// The kernel says no. code() is an errno value.
class NetlinkError : public std::runtime_error
{
      public:
	NetlinkError(int error, const std::string &what);

	int code() const
	{
		return error_;
	}

      private:
	int error_;
};

/// Attributes by their type (enum rdma_nldev_attr). Those that are missing, or too
/// short, are nothing.
class Attributes
{
      public:
	/// @p header: bytes of the family's own header before them.
	explicit Attributes(const nlmsghdr *message, int header = 0);
	/// Of a nested attribute.
	explicit Attributes(const nlattr *nest);

	bool has(int type) const
	{
		return find(type);
	}
	std::optional<std::uint8_t> u8(int type) const;
	std::optional<std::uint32_t> u32(int type) const;
	std::optional<std::uint64_t> u64(int type) const;
	std::optional<std::string> text(int type) const;
	std::optional<std::uint16_t> u16(int type) const;
	/// As long as it is.
	std::optional<std::vector<std::uint8_t>> bytes(int type) const;
	/// The attributes in a nested one, in their order; none when it is missing.
	std::vector<const nlattr *> children(int type) const;

      private:
	static constexpr int known = RDMA_NLDEV_ATTR_MAX;

	const nlattr *find(int type) const;
	void add(const nlattr *first, int length);

	std::array<const nlattr *, known> all_{}; // the first of each type
};

/// A number that is 1, 4 or 8 bytes long, as its length says.
std::optional<std::uint64_t> number_of(const nlattr *attribute);
std::optional<std::string> text_of(const nlattr *attribute);

/// What a request carries.
class Request
{
      public:
	Request &u32(int type, std::uint32_t value);
	Request &text(int type, const std::string &value);
	Request &bytes(int type, const std::vector<std::uint8_t> &value);

      private:
	friend class Netlink;

	struct Item {
		int type;
		std::vector<std::uint8_t> value;
	};
	std::vector<Item> items_;
};

class Netlink
{
      public:
	using Handler = std::function<void(const Attributes &)>;

	/// Throws NetlinkError: EPROTONOSUPPORT: the kernel has no RDMA.
	Netlink();

	/// One object; throws NetlinkError.
	void get(rdma_nldev_command command, const Request &request, const Handler &handler);
	/// All of a kind; throws NetlinkError.
	void dump(rdma_nldev_command command, const Request &request, const Handler &handler);
	/// Does something; throws NetlinkError.
	void execute(rdma_nldev_command command, const Request &request);

      protected:
	Netlink(int protocol, const char *name);

	/// @p header: the family's own, before the attributes.
	void exchange(int type, int flags, const std::vector<std::uint8_t> &header,
		      const Request &request, const Handler &handler);

      private:
	struct Free {
		void operator()(nl_sock *s) const;
	};

	std::unique_ptr<nl_sock, Free> socket_;
};

/// A family of generic netlink.
class Generic : public Netlink
{
      public:
	/// Throws NetlinkError: ENOENT: the kernel has no such family.
	explicit Generic(const std::string &family);

	void dump(std::uint8_t command, const Request &request, const Handler &handler);
	void execute(std::uint8_t command, const Request &request);

      private:
	std::vector<std::uint8_t> header(std::uint8_t command) const;

	std::uint16_t family_ = 0;
};

} // namespace ubctl
