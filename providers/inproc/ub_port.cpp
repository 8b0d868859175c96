// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ub_port.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/un.h>
#include <unistd.h>

namespace uboe::inproc {

namespace {

constexpr int send_patience_ms = 10; // for a full send buffer

// Frames to this station or to all; not of a VLAN, which is another link
bool take_own_frames(int fd)
{
	static sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, static_cast<__u32>(SKF_AD_OFF + SKF_AD_PKTTYPE)),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, PACKET_BROADCAST, 3, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS,
			 static_cast<__u32>(SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const sock_fprog program = {static_cast<unsigned short>(std::size(code)), code};

	return !setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

} // namespace

UbPort::~UbPort()
{
	for (Block *b : in_)
		if (b)
			pool_.give(b);
	for (unsigned i = 0; i < waiting_; ++i)
		pool_.give(out_[i]);
	if (claim_ >= 0)
		close(claim_);
	if (fd_ >= 0)
		close(fd_);
}

// A packet socket does not mind another one for the same address; an abstract name in this
// network namespace does.
int UbPort::claim()
{
	const std::string name = "uboe/" + interface_ + '/' + local_.text();
	sockaddr_un at{};

	claim_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (claim_ < 0)
		return errno;
	at.sun_family = AF_UNIX;
	name.copy(at.sun_path + 1, sizeof(at.sun_path) - 1);
	return bind(claim_, reinterpret_cast<sockaddr *>(&at),
		    static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) ?
		       errno :
		       0;
}

bool UbPort::take_parameters()
{
	ifreq r{};

	interface_.copy(r.ifr_name, sizeof(r.ifr_name) - 1);
	if (ioctl(fd_, SIOCGIFMTU, &r))
		return false;
	mtu_ = static_cast<std::uint32_t>(r.ifr_mtu);
	if (ioctl(fd_, SIOCGIFHWADDR, &r))
		return false;
	std::memcpy(mac_.data(), r.ifr_hwaddr.sa_data, mac_.size());
	if (r.ifr_hwaddr.sa_family != ARPHRD_ETHER) {
		errno = ENODEV;
		return false;
	}
	return grow_buffers(fd_, receive_buffer_);
}

int UbPort::open(const Address &local, std::uint16_t, int)
{
	sockaddr_ll at{};

	local_ = local;
	v4_ = local.is_v4();
	fd_ = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd_ < 0)
		return errno;
	if (interface_.size() >= IFNAMSIZ)
		return ENODEV;
	at.sll_family = AF_PACKET;
	at.sll_protocol = htons(UB_LAB_ETHERTYPE);
	at.sll_ifindex = static_cast<int>(if_nametoindex(interface_.c_str()));
	if (!at.sll_ifindex || !take_parameters())
		return errno;
	if (int err = claim())
		return err;
	if (!take_own_frames(fd_) || bind(fd_, reinterpret_cast<sockaddr *>(&at), sizeof(at)))
		return errno;
	for (Block *&b : in_) {
		b = pool_.take();
		if (!b)
			return ENOMEM;
	}
	return 0;
}

std::uint32_t UbPort::route_mtu(const Address &) const
{
	return std::min<std::uint32_t>(mtu_, UBP_NATIVE_MAX) - UB_NATIVE_LEN;
}

void UbPort::send(Block *b, const Address &, std::uint16_t)
{
	const unsigned i = waiting_++;
	std::uint8_t *p = frame(b);

	ubp_tx_native(&dev_, b->packet(v4_), b->len, b->cci);
	std::memset(p, 0xff, 6);
	std::copy(mac_.begin(), mac_.end(), p + 6);
	put_unaligned_be16(UB_LAB_ETHERTYPE, p + 12);
	out_[i] = b;
	out_iov_[i] = {p, head + b->len};
	out_msg_[i] = {};
	out_msg_[i].msg_hdr.msg_iov = &out_iov_[i];
	out_msg_[i].msg_hdr.msg_iovlen = 1;
	if (waiting_ == batch)
		flush();
}

void UbPort::flush()
{
	unsigned done = 0;
	int tries = 0;

	while (done < waiting_) {
		const int n = sendmmsg(fd_, &out_msg_[done], waiting_ - done, MSG_DONTWAIT);
		pollfd p{fd_, POLLOUT, 0};

		if (n > 0)
			done += static_cast<unsigned>(n);
		else if (errno != EINTR && ((errno != EAGAIN && errno != ENOBUFS) || tries++ > 1 ||
					    poll(&p, 1, send_patience_ms) < 0))
			++done; // lost; the next may be taken
	}
	for (unsigned i = 0; i < waiting_; ++i)
		pool_.give(out_[i]);
	waiting_ = 0;
}

unsigned UbPort::fetch()
{
	for (unsigned i = 0; i < batch; ++i) {
		in_iov_[i] = {frame(in_[i]), frame_max()};
		in_msg_[i] = {};
		in_msg_[i].msg_hdr.msg_iov = &in_iov_[i];
		in_msg_[i].msg_hdr.msg_iovlen = 1;
	}
	slot_ = 0;
	fetched_ = static_cast<unsigned>(
		std::max(recvmmsg(fd_, in_msg_.data(), batch, MSG_DONTWAIT, nullptr), 0));
	return fetched_;
}

// Packets to others on the same link are theirs; what is malformed is for the core to count
bool UbPort::is_ours(Block *b, std::size_t len) const
{
	const std::uint8_t *ip = b->packet(v4_);

	if (len < head + Block::headers(v4_))
		return true;
	if ((ip[0] >> 4 == 4) != v4_)
		return false;
	return v4_ ? !std::memcmp(ip + 16, local_.bytes.data() + 12, 4) :
		     !std::memcmp(ip + 24, local_.bytes.data(), 16);
}

Block *UbPort::next()
{
	while (slot_ < fetched_) {
		const unsigned i = slot_++;
		const std::size_t len = in_msg_[i].msg_len;

		if (!is_ours(in_[i], len))
			continue;
		Block *fresh = pool_.take();
		if (!fresh) // lost, as on any link
			continue;
		// what did not fit is missed by its length fields
		in_[i]->len = static_cast<std::uint32_t>(len - std::min(len, head));
		return std::exchange(in_[i], fresh);
	}
	return nullptr;
}

} // namespace uboe::inproc
