// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "verbs.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <sstream>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/mman.h>

#include "error.hpp"

namespace uboe
{

namespace
{

constexpr std::uint8_t port = 1;

ibv_gid gid_of_address(const std::string &address)
{
	ibv_gid gid = {};

	if (inet_pton(AF_INET6, address.c_str(), gid.raw) == 1)
		return gid;
	gid.raw[10] = gid.raw[11] = 0xff;
	if (inet_pton(AF_INET, address.c_str(), gid.raw + 12) != 1)
		throw Failure("'" + address + "' is no IPv4 or IPv6 address");
	return gid;
}

std::string gid_text(const ibv_gid &gid)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, gid.raw, text, sizeof(text));
	return text;
}

std::uint32_t random_psn()
{
	return std::random_device()() & 0xffffff;
}

} // namespace

Device::Device(const std::string &name, const std::string &address)
{
	int count = 0;
	ibv_device **list = ibv_get_device_list(&count);

	require(list != nullptr, "list of RDMA devices");
	const std::unique_ptr<ibv_device *, Destroyer<ibv_free_device_list>> holder(list);
	ibv_device **end = list + count;
	ibv_device **found = std::find_if(list, end, [&](ibv_device *device) {
		return name == ibv_get_device_name(device);
	});
	if (found == end)
		throw Failure("no RDMA device '" + name + "' (" + std::to_string(count) +
			      " others; is its provider loaded, see IBV_DRIVERS?)");
	context_.reset(ibv_open_device(*found));
	if (!context_)
		fail_errno("open device " + name);
	pd_.reset(ibv_alloc_pd(context_.get()));
	require(bool(pd_), "allocate a protection domain");
	require_zero(ibv_query_port(context_.get(), port, &port_), "query port 1");
	require_zero(ibv_query_device(context_.get(), &limits_), "query the device");
	if (port_.state != IBV_PORT_ACTIVE)
		throw Failure("port 1 of " + name + " is not active");
	find_gid(address);
}

void Device::find_gid(const std::string &address)
{
	gid_ = gid_of_address(address);
	for (int index = 0; index < port_.gid_tbl_len; ++index) {
		ibv_gid_entry entry = {};
		if (ibv_query_gid_ex(context_.get(), port, index, &entry, 0))
			continue;
		if (std::memcmp(entry.gid.raw, gid_.raw, sizeof(gid_.raw)) == 0 &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2) {
			gid_index_ = index;
			return;
		}
	}
	throw Failure("device " + std::string(ibv_get_device_name(context_->device)) +
		      " has no GID for " + address);
}

void Region::Unmap::operator()(std::uint8_t *memory) const
{
	munmap(memory, size);
}

Region::Region(const Device &device, std::size_t size, int access) : size_(size)
{
	void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		fail_errno("map " + std::to_string(size) + " bytes");
	memory_ = { static_cast<std::uint8_t *>(memory), Unmap{ size } };
	mr_.reset(ibv_reg_mr(device.pd(), memory, size, access));
	if (!mr_)
		fail_errno("register " + std::to_string(size) + " bytes of memory");
}

std::string Region::describe() const
{
	std::ostringstream text;

	text << address() << ' ' << rkey() << ' ' << size();
	return text.str();
}

RemoteRegion RemoteRegion::parse(const std::string &text)
{
	std::istringstream in(text);
	RemoteRegion region;

	if (!(in >> region.address >> region.rkey >> region.size))
		throw Failure("the other side's memory is garbled: " + text);
	return region;
}

CompletionQueue::CompletionQueue(const Device &device, int depth)
{
	channel_.reset(ibv_create_comp_channel(device.context()));
	require(bool(channel_), "create a completion channel");
	cq_.reset(ibv_create_cq(device.context(), depth, nullptr, channel_.get(), 0));
	require(bool(cq_), "create a completion queue");
}

CompletionQueue::~CompletionQueue()
{
	if (events_)
		ibv_ack_cq_events(cq_.get(), events_);
}

int CompletionQueue::poll(ibv_wc *completions, int count)
{
	const int got = ibv_poll_cq(cq_.get(), count, completions);

	if (got < 0)
		throw Failure("poll the completion queue: error " + std::to_string(got));
	for (const ibv_wc *wc = completions; wc != completions + got; ++wc)
		if (wc->status != IBV_WC_SUCCESS)
			throw Failure("work request " + std::to_string(wc->wr_id) +
				      " failed: " + ibv_wc_status_str(wc->status) + " (status " +
				      std::to_string(wc->status) + ", vendor " +
				      std::to_string(wc->vendor_err) + ")");
	return got;
}

void CompletionQueue::arm()
{
	require_zero(ibv_req_notify_cq(cq_.get(), 0), "ask for a notification");
}

void CompletionQueue::wait_event(int timeout_ms)
{
	pollfd ready = { channel_->fd, POLLIN, 0 };
	ibv_cq *cq;
	void *context;
	int count = 1;

	if (timeout_ms >= 0)
		while ((count = ::poll(&ready, 1, timeout_ms)) < 0)
			if (errno != EINTR)
				fail_errno("wait for a completion");
	if (count == 0)
		throw Failure("no completion in " + std::to_string(timeout_ms) + " ms");
	if (ibv_get_cq_event(channel_.get(), &cq, &context))
		fail_errno("take a completion event");
	if (++events_ == 1024) {
		ibv_ack_cq_events(cq_.get(), events_);
		events_ = 0;
	}
}

int CompletionQueue::wait(ibv_wc *completions, int count, int timeout_ms)
{
	int got = poll(completions, count);

	while (!got) {
		arm();
		// One that came before arm() gives no event.
		got = poll(completions, count);
		if (!got) {
			wait_event(timeout_ms);
			got = poll(completions, count);
		}
	}
	return got;
}

QueuePair::QueuePair(const Device &device, CompletionQueue &send, CompletionQueue &receive,
		     const QueueSizes &sizes)
	: device_(device)
{
	ibv_qp_init_attr init = {};

	init.send_cq = send.get();
	init.recv_cq = receive.get();
	init.cap.max_send_wr = sizes.send;
	init.cap.max_recv_wr = sizes.receive;
	init.cap.max_send_sge = 1;
	init.cap.max_recv_sge = 1;
	init.cap.max_inline_data = sizes.inline_bytes;
	init.qp_type = IBV_QPT_RC;
	qp_.reset(ibv_create_qp(device.pd(), &init));
	require(bool(qp_), "create a queue pair");

	ibv_qp_attr attr = {};
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = port;
	attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			       IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	require_zero(ibv_modify_qp(get(), &attr,
				   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					   IBV_QP_ACCESS_FLAGS),
		     "queue pair to INIT");
}

void QueuePair::connect(Stream &stream)
{
	const std::uint32_t psn = random_psn();
	std::ostringstream line;

	line << "qp " << get()->qp_num << ' ' << psn << ' ' << gid_text(device_.gid()) << ' '
	     << device_.mtu();
	stream.send_line(line.str());

	std::istringstream in(stream.expect("qp"));
	std::uint32_t peer_qpn, peer_psn;
	std::string peer_gid;
	int peer_mtu;
	if (!(in >> peer_qpn >> peer_psn >> peer_gid >> peer_mtu))
		throw Failure("the other side's queue pair is garbled");

	ibv_qp_attr attr = {};
	const int reads = std::clamp(device_.limits().max_qp_rd_atom, 1, 16);
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = static_cast<ibv_mtu>(std::min<int>(peer_mtu, device_.mtu()));
	attr.dest_qp_num = peer_qpn;
	attr.rq_psn = peer_psn;
	attr.max_dest_rd_atomic = static_cast<std::uint8_t>(reads);
	attr.min_rnr_timer = 1;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = port;
	attr.ah_attr.grh.dgid = gid_of_address(peer_gid);
	attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(device_.gid_index());
	attr.ah_attr.grh.hop_limit = 64;
	require_zero(ibv_modify_qp(get(), &attr,
				   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					   IBV_QP_MIN_RNR_TIMER),
		     "queue pair to RTR");

	attr = {};
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = psn;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = static_cast<std::uint8_t>(reads);
	require_zero(ibv_modify_qp(get(), &attr,
				   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					   IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					   IBV_QP_MAX_QP_RD_ATOMIC),
		     "queue pair to RTS");
	stream.send_line("rts");
	stream.expect("rts");
}

void QueuePair::post_send(ibv_send_wr &request)
{
	ibv_send_wr *bad;

	require_zero(ibv_post_send(get(), &request, &bad), "post to the send queue");
}

void QueuePair::post_receive(std::uint64_t id, void *data, std::uint32_t size, std::uint32_t lkey)
{
	ibv_sge piece = { reinterpret_cast<std::uintptr_t>(data), size, lkey };
	ibv_recv_wr request = { id, nullptr, size ? &piece : nullptr, size ? 1 : 0 };
	ibv_recv_wr *bad;

	require_zero(ibv_post_recv(get(), &request, &bad), "post to the receive queue");
}

} // namespace uboe
