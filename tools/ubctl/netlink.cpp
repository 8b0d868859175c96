// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "netlink.hpp"

#include <cerrno>
#include <cstring>
#include <exception>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>

namespace ubctl
{

namespace
{

struct FreeMessage {
	void operator()(nl_msg *m) const
	{
		nlmsg_free(m);
	}
};
struct FreeCallbacks {
	void operator()(nl_cb *cb) const
	{
		nl_cb_put(cb);
	}
};

/// What became of a request. Exceptions do not cross libnl, which is C.
struct Exchange {
	const Netlink::Handler *handler = nullptr;
	int header = 0;
	std::exception_ptr thrown;
	int error = 0;
	std::string explanation; // the kernel's own words
	bool is_over = false;
};

/// The text behind an error, when the kernel has sent one (NETLINK_EXT_ACK).
std::string explanation_of(const nlmsgerr &e, const nlmsghdr &h)
{
	const auto *bytes = reinterpret_cast<const char *>(&e);
	const std::size_t total = h.nlmsg_len - NLMSG_HDRLEN;
	std::size_t at = sizeof(e);

	if (!(h.nlmsg_flags & NLM_F_ACK_TLVS))
		return {};
	if (!(h.nlmsg_flags & NLM_F_CAPPED))
		at += NLMSG_ALIGN(e.msg.nlmsg_len) - NLMSG_HDRLEN;
	if (at >= total)
		return {};
	const auto *first = reinterpret_cast<const nlattr *>(bytes + at);
	const nlattr *a = nla_find(first, static_cast<int>(total - at), NLMSGERR_ATTR_MSG);

	return a ? text_of(a).value_or("") : "";
}

int on_message(nl_msg *message, void *arg)
{
	auto &x = *static_cast<Exchange *>(arg);

	try {
		if (!x.thrown && x.handler && *x.handler)
			(*x.handler)(Attributes(nlmsg_hdr(message), x.header));
	} catch (...) {
		x.thrown = std::current_exception();
	}
	return NL_OK;
}

int on_error(sockaddr_nl *, nlmsgerr *e, void *arg)
{
	auto &x = *static_cast<Exchange *>(arg);
	const auto *h = reinterpret_cast<const nlmsghdr *>(reinterpret_cast<const char *>(e) -
							   NLMSG_HDRLEN);

	x.error = -e->error;
	x.explanation = explanation_of(*e, *h);
	x.is_over = true;
	return NL_STOP;
}

int on_end(nl_msg *, void *arg)
{
	static_cast<Exchange *>(arg)->is_over = true;
	return NL_STOP;
}

/// A dump that fails ends with the error.
int on_done(nl_msg *message, void *arg)
{
	auto &x = *static_cast<Exchange *>(arg);
	const nlmsghdr *h = nlmsg_hdr(message);
	int error = 0;

	if (nlmsg_datalen(h) >= static_cast<int>(sizeof(error)))
		std::memcpy(&error, nlmsg_data(h), sizeof(error));
	x.error = error < 0 ? -error : 0;
	x.is_over = true;
	return NL_STOP;
}

[[noreturn]] void fail_nl(int error, const char *what)
{
	throw NetlinkError(errno ? errno : EIO, std::string(what) + ": " + nl_geterror(error));
}

} // namespace

NetlinkError::NetlinkError(int error, const std::string &what)
	: std::runtime_error(what.empty() ? std::strerror(error) : what), error_(error)
{
}

Attributes::Attributes(const nlmsghdr *message, int header)
{
	if (nlmsg_datalen(message) >= header)
		add(nlmsg_attrdata(message, header), nlmsg_attrlen(message, header));
}

Attributes::Attributes(const nlattr *nest)
{
	add(static_cast<const nlattr *>(nla_data(nest)), nla_len(nest));
}

void Attributes::add(const nlattr *first, int length)
{
	const nlattr *a;
	int left;

	nla_for_each_attr(a, const_cast<nlattr *>(first), length, left)
	{
		const int type = nla_type(a);

		if (type > 0 && type < known && !all_[static_cast<std::size_t>(type)])
			all_[static_cast<std::size_t>(type)] = a;
	}
}

const nlattr *Attributes::find(int type) const
{
	return all_.at(static_cast<std::size_t>(type));
}

std::optional<std::uint64_t> number_of(const nlattr *a)
{
	std::uint8_t one;
	std::uint32_t four;
	std::uint64_t eight;

	if (!a)
		return std::nullopt;
	switch (nla_len(a)) {
	case sizeof(one):
		std::memcpy(&one, nla_data(a), sizeof(one));
		return one;
	case sizeof(four):
		std::memcpy(&four, nla_data(a), sizeof(four));
		return four;
	case sizeof(eight):
		std::memcpy(&eight, nla_data(a), sizeof(eight));
		return eight;
	default:
		return std::nullopt;
	}
}

std::optional<std::string> text_of(const nlattr *a)
{
	if (!a)
		return std::nullopt;
	const auto *s = static_cast<const char *>(nla_data(a));

	return std::string(s, strnlen(s, static_cast<std::size_t>(nla_len(a))));
}

std::optional<std::uint8_t> Attributes::u8(int type) const
{
	const nlattr *a = find(type);

	if (!a || nla_len(a) != 1)
		return std::nullopt;
	return static_cast<std::uint8_t>(*number_of(a));
}

std::optional<std::uint32_t> Attributes::u32(int type) const
{
	const nlattr *a = find(type);

	if (!a || nla_len(a) != 4)
		return std::nullopt;
	return static_cast<std::uint32_t>(*number_of(a));
}

std::optional<std::uint64_t> Attributes::u64(int type) const
{
	const nlattr *a = find(type);

	return a && nla_len(a) == 8 ? number_of(a) : std::nullopt;
}

std::optional<std::string> Attributes::text(int type) const
{
	return text_of(find(type));
}

std::optional<std::uint16_t> Attributes::u16(int type) const
{
	const nlattr *a = find(type);
	std::uint16_t two;

	if (!a || nla_len(a) != sizeof(two))
		return std::nullopt;
	std::memcpy(&two, nla_data(a), sizeof(two));
	return two;
}

std::optional<std::vector<std::uint8_t>> Attributes::bytes(int type) const
{
	const nlattr *a = find(type);

	if (!a)
		return std::nullopt;
	const auto *first = static_cast<const std::uint8_t *>(nla_data(a));

	return std::vector<std::uint8_t>(first, first + nla_len(a));
}

std::vector<const nlattr *> Attributes::children(int type) const
{
	std::vector<const nlattr *> all;
	const nlattr *nest = find(type);
	const nlattr *a;
	int left;

	if (!nest)
		return all;
	nla_for_each_attr(a, static_cast<nlattr *>(nla_data(nest)), nla_len(nest), left)
		all.push_back(a);
	return all;
}

Request &Request::u32(int type, std::uint32_t value)
{
	const auto *first = reinterpret_cast<const std::uint8_t *>(&value);

	return bytes(type, { first, first + sizeof(value) });
}

Request &Request::text(int type, const std::string &value)
{
	std::vector<std::uint8_t> all(value.begin(), value.end());

	all.push_back(0);
	return bytes(type, all);
}

Request &Request::bytes(int type, const std::vector<std::uint8_t> &value)
{
	items_.push_back({ type, value });
	return *this;
}

void Netlink::Free::operator()(nl_sock *s) const
{
	nl_socket_free(s);
}

Netlink::Netlink() : Netlink(NETLINK_RDMA, "RDMA netlink")
{
}

Netlink::Netlink(int protocol, const char *name) : socket_(nl_socket_alloc())
{
	const int on = 1;

	if (!socket_)
		throw std::bad_alloc();
	errno = 0;
	if (int err = nl_connect(socket_.get(), protocol); err < 0)
		fail_nl(err, name);
	nl_socket_enable_msg_peek(socket_.get()); // messages may be longer than a page
	// the kernel's words with an error; without, there is the number
	setsockopt(nl_socket_get_fd(socket_.get()), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
}

void Netlink::get(rdma_nldev_command command, const Request &request, const Handler &handler)
{
	exchange(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), NLM_F_ACK, {}, request, handler);
}

void Netlink::dump(rdma_nldev_command command, const Request &request, const Handler &handler)
{
	exchange(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), NLM_F_DUMP, {}, request, handler);
}

void Netlink::execute(rdma_nldev_command command, const Request &request)
{
	exchange(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), NLM_F_ACK, {}, request, {});
}

void Netlink::exchange(int type, int flags, const std::vector<std::uint8_t> &header,
		       const Request &request, const Handler &handler)
{
	const std::unique_ptr<nl_msg, FreeMessage> message(
		nlmsg_alloc_simple(type, NLM_F_REQUEST | flags));
	const std::unique_ptr<nl_cb, FreeCallbacks> callbacks(nl_cb_alloc(NL_CB_DEFAULT));
	Exchange x;

	if (!message || !callbacks)
		throw std::bad_alloc();
	if (!header.empty() &&
	    nlmsg_append(message.get(), const_cast<std::uint8_t *>(header.data()), header.size(),
			 NLMSG_ALIGNTO) < 0)
		throw std::bad_alloc();
	for (const Request::Item &i : request.items_)
		if (nla_put(message.get(), i.type, static_cast<int>(i.value.size()),
			    i.value.data()))
			throw std::bad_alloc();
	x.handler = &handler;
	x.header = static_cast<int>(header.size());
	nl_cb_set(callbacks.get(), NL_CB_VALID, NL_CB_CUSTOM, on_message, &x);
	nl_cb_set(callbacks.get(), NL_CB_ACK, NL_CB_CUSTOM, on_end, &x);
	nl_cb_set(callbacks.get(), NL_CB_FINISH, NL_CB_CUSTOM, on_done, &x);
	nl_cb_err(callbacks.get(), NL_CB_CUSTOM, on_error, &x);
	errno = 0;
	if (int err = nl_send_auto(socket_.get(), message.get()); err < 0)
		fail_nl(err, "send to the kernel");
	while (!x.is_over)
		if (int err = nl_recvmsgs(socket_.get(), callbacks.get()); err < 0 && !x.is_over)
			fail_nl(err, "receive from the kernel");
	if (x.thrown)
		std::rethrow_exception(x.thrown);
	if (x.error)
		throw NetlinkError(x.error, x.explanation);
}

Generic::Generic(const std::string &family) : Netlink(NETLINK_GENERIC, "generic netlink")
{
	exchange(GENL_ID_CTRL, NLM_F_ACK, header(CTRL_CMD_GETFAMILY),
		 Request().text(CTRL_ATTR_FAMILY_NAME, family),
		 [this](const Attributes &a) { family_ = a.u16(CTRL_ATTR_FAMILY_ID).value_or(0); });
	if (!family_)
		throw NetlinkError(ENOENT, "no family " + family);
}

std::vector<std::uint8_t> Generic::header(std::uint8_t command) const
{
	const genlmsghdr h{ command, 1, 0 };
	const auto *first = reinterpret_cast<const std::uint8_t *>(&h);

	return { first, first + sizeof(h) };
}

void Generic::dump(std::uint8_t command, const Request &request, const Handler &handler)
{
	exchange(family_, NLM_F_DUMP, header(command), request, handler);
}

void Generic::execute(std::uint8_t command, const Request &request)
{
	exchange(family_, NLM_F_ACK, header(command), request, {});
}

} // namespace ubctl
