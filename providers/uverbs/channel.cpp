// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "channel.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace uboe::uverbs {

namespace {

/// struct ib_uverbs_ioctl_hdr, which ends in an array of unknown length, with room
/// for the attributes of every request here.
struct Request {
	static constexpr u16 max_attrs = 5;

	u16 length = 0;
	u16 object;
	u16 method;
	u16 num_attrs = 0;
	u64 reserved1 = 0;
	u32 driver_id = UBOE_DRIVER_ID;
	u32 reserved2 = 0;
	ib_uverbs_attr attrs[max_attrs] = {};

	Request(u16 object_id, u16 method_id) : object(object_id), method(method_id) {}

	/// Up to eight bytes travel in the attribute itself.
	void in(u16 id, std::span<const std::byte> data)
	{
		ib_uverbs_attr &a = add(id, data.size());

		if (data.size() <= sizeof(a.data))
			std::memcpy(&a.data, data.data(), data.size());
		else
			a.data = reinterpret_cast<u64>(data.data());
	}

	/// Of an object
	void handle(u16 id, u32 value) { add(id, 0).data = value; }

	void out(u16 id, std::span<std::byte> data)
	{
		add(id, data.size()).data = reinterpret_cast<u64>(data.data());
	}

	int send(int fd)
	{
		length = static_cast<u16>(offsetof(Request, attrs) +
					  num_attrs * sizeof(ib_uverbs_attr));
		while (ioctl(fd, RDMA_VERBS_IOCTL, this) < 0)
			if (errno != EINTR)
				return errno == EIO ? gone : errno;
		return 0;
	}

private:
	ib_uverbs_attr &add(u16 id, std::size_t len)
	{
		ib_uverbs_attr &a = attrs[num_attrs++];

		a.attr_id = id;
		a.len = static_cast<u16>(len);
		a.flags = UVERBS_ATTR_F_MANDATORY;
		return a;
	}
};

template <class T> std::span<const std::byte> bytes_of(const T &t)
{
	return std::as_bytes(std::span(&t, 1));
}

template <class T> std::span<std::byte> room_of(T &t)
{
	return std::as_writable_bytes(std::span(&t, 1));
}

bool is_usable(const Address &a)
{
	const bool link_local = a.bytes[0] == 0xfe && (a.bytes[1] & 0xc0) == 0x80;

	return a != Address() && !link_local;
}

static_assert(offsetof(Request, attrs) == sizeof(ib_uverbs_ioctl_hdr));
static_assert(offsetof(Request, driver_id) == offsetof(ib_uverbs_ioctl_hdr, driver_id));

} // namespace

Fd::~Fd()
{
	if (fd_ >= 0)
		close(fd_);
}

/// The kernel compares driver ids before it looks for a method, and no driver has
/// this one: the answer says whose device it is, and nothing happens.
int Channel::open(const std::string &path)
{
	constexpr u16 no_method = 0xffff;
	Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));

	if (fd.get() < 0)
		return errno;
	if (Request(UVERBS_OBJECT_DEVICE, no_method).send(fd.get()) != EPROTONOSUPPORT)
		return EPROTONOSUPPORT;
	fd_ = std::move(fd);
	return 0;
}

int Channel::invoke(u32 number, In in, Out out, In driver_in, Out driver_out) const
{
	const u64 command = number;
	Request r(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);

	r.in(UVERBS_ATTR_CORE_IN, in);
	if (!out.empty())
		r.out(UVERBS_ATTR_CORE_OUT, out);
	r.in(UVERBS_ATTR_WRITE_CMD, bytes_of(command));
	if (!driver_in.empty())
		r.in(UVERBS_ATTR_UHW_IN, driver_in);
	if (!driver_out.empty())
		r.out(UVERBS_ATTR_UHW_OUT, driver_out);
	return r.send(fd());
}

int Channel::get_context(uboe_alloc_ucontext_resp &caps, Fd &events) const
{
	ib_uverbs_get_context cmd{};
	ib_uverbs_get_context_resp resp{};
	const uboe_alloc_ucontext_req req{UBOE_ABI_VERSION, 0};

	if (int err = command(IB_USER_VERBS_CMD_GET_CONTEXT, cmd, resp, req, caps))
		return err;
	events = Fd(static_cast<int>(resp.async_fd));
	// the kernel is trusted, but it may be of another version
	if (caps.abi_version != UBOE_ABI_VERSION || !(caps.flags & UBOE_CTX_SOFT) ||
	    caps.jpage_stride < UBOE_JPAGE_SOFT_STRIDE || !caps.max_arenas ||
	    caps.max_arenas > UBOE_MAX_ARENAS || caps.arena_max_size < 65536)
		return EPROTO;
	return 0;
}

int Channel::query_port(ib_uverbs_query_port_resp &port) const
{
	ib_uverbs_query_port cmd{};

	cmd.port_num = 1;
	return command(IB_USER_VERBS_CMD_QUERY_PORT, cmd, port);
}

int Channel::query_gids(std::vector<Gid> &gids) const
{
	constexpr std::size_t most = 256; // as many as the driver has
	const u64 entry_size = sizeof(ib_uverbs_gid_entry);
	std::vector<ib_uverbs_gid_entry> entries(most);
	u64 n = 0;
	Request r(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE);

	r.in(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, bytes_of(entry_size));
	r.out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, std::as_writable_bytes(std::span(entries)));
	r.out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, room_of(n));
	if (int err = r.send(fd()))
		return err;
	gids.clear();
	for (const ib_uverbs_gid_entry &e : std::span(entries).first(std::min<u64>(n, most))) {
		Gid g{{}, e.gid_index};

		std::memcpy(g.address.bytes.data(), e.gid, sizeof(e.gid));
		if (is_usable(g.address))
			gids.push_back(g);
	}
	return 0;
}

int Channel::alloc_token_id(u32 &id) const
{
	Request r(UVERBS_OBJECT_DEVICE, UBOE_METHOD_TOKEN_ID_ALLOC);

	r.out(UBOE_ATTR_TOKEN_ID_ALLOC_RESP, room_of(id));
	return r.send(fd());
}

int Channel::free_token_id(u32 id) const
{
	Request r(UVERBS_OBJECT_DEVICE, UBOE_METHOD_TOKEN_ID_FREE);

	r.in(UBOE_ATTR_TOKEN_ID_FREE_ID, bytes_of(id));
	return r.send(fd());
}

int Channel::rotate_token(u32 mr_handle, u32 token, u32 backup) const
{
	Request r(UVERBS_OBJECT_MR, UBOE_METHOD_TOKEN_ROTATE);

	r.handle(UBOE_ATTR_TOKEN_ROTATE_MR, mr_handle);
	r.in(UBOE_ATTR_TOKEN_ROTATE_TOKEN, bytes_of(token));
	r.in(UBOE_ATTR_TOKEN_ROTATE_BACKUP, bytes_of(backup));
	return r.send(fd());
}

int Channel::alloc_group(u32 pd_handle, const uboe_group_req &req, u32 &id) const
{
	Request r(UVERBS_OBJECT_DEVICE, UBOE_METHOD_GROUP_ALLOC);

	r.handle(UBOE_ATTR_GROUP_ALLOC_PD, pd_handle);
	r.in(UBOE_ATTR_GROUP_ALLOC_REQ, bytes_of(req));
	r.out(UBOE_ATTR_GROUP_ALLOC_RESP, room_of(id));
	return r.send(fd());
}

int Channel::free_group(u32 id) const
{
	Request r(UVERBS_OBJECT_DEVICE, UBOE_METHOD_GROUP_FREE);

	r.in(UBOE_ATTR_GROUP_FREE_ID, bytes_of(id));
	return r.send(fd());
}

int Channel::open_target(const uboe_target_req &req, u32 &channel) const
{
	Request r(UVERBS_OBJECT_DEVICE, UBOE_METHOD_TARGET_OPEN);

	r.in(UBOE_ATTR_TARGET_OPEN_REQ, bytes_of(req));
	r.out(UBOE_ATTR_TARGET_OPEN_RESP, room_of(channel));
	return r.send(fd());
}

/// Methods that came after the first ones.
static int known(int err)
{
	return err == EPROTONOSUPPORT ? EOPNOTSUPP : err;
}

int Channel::set_tm(const uboe_tm_set_req &req, const uboe_tm_ctx &ctx) const
{
	Request r(UVERBS_OBJECT_DEVICE, UBOE_METHOD_TM_SET);

	r.in(UBOE_ATTR_TM_SET_REQ, bytes_of(req));
	r.in(UBOE_ATTR_TM_SET_CTX, bytes_of(ctx));
	return known(r.send(fd()));
}

int Channel::query_tm(u32 tag, uboe_tm_ctx &ctx) const
{
	Request r(UVERBS_OBJECT_DEVICE, UBOE_METHOD_TM_QUERY);

	r.in(UBOE_ATTR_TM_QUERY_TAG, bytes_of(tag));
	r.out(UBOE_ATTR_TM_QUERY_RESP, room_of(ctx));
	return known(r.send(fd()));
}

/// By write(): half the work of an ioctl, and on the path of every doorbell.
int Channel::kick(u32 qp_handle) const
{
	struct {
		ib_uverbs_cmd_hdr hdr;
		ib_uverbs_post_send body;
	} cmd{};
	ib_uverbs_post_send_resp resp;
	int tries = 1000;

	static_assert(sizeof(cmd) == sizeof(ib_uverbs_cmd_hdr) + sizeof(ib_uverbs_post_send));
	cmd.hdr.command = IB_USER_VERBS_CMD_POST_SEND;
	cmd.hdr.in_words = sizeof(cmd) / 4;
	cmd.hdr.out_words = sizeof(resp) / 4;
	cmd.body.response = reinterpret_cast<u64>(&resp);
	cmd.body.qp_handle = qp_handle;
	cmd.body.wqe_size = sizeof(ib_uverbs_send_wr);
	while (write(fd(), &cmd, sizeof(cmd)) < 0)
		if ((errno != EINTR && errno != EAGAIN && errno != ENOMEM) || !--tries)
			return errno == EIO ? gone : errno;
	return 0;
}

} // namespace uboe::uverbs
