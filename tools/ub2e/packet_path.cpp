// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The AF_PACKET datapath: a raw socket for each port, one thread, 64 frames at a time.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "capture.hpp"
#include "datapath.hpp"
#include "error.hpp"

namespace uboe::ub2e
{

namespace
{

constexpr unsigned batch = 64;
constexpr int socket_buffer = 8 << 20; // bytes
constexpr std::size_t tag_at = 12; // of a VLAN tag in a frame
constexpr std::size_t slot_size = Frame::room + UBP_NATIVE_MAX + 256;

std::uint64_t monotonic_ns()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return static_cast<std::uint64_t>(t.tv_sec) * 1000000000 +
	       static_cast<std::uint64_t>(t.tv_nsec);
}

// Frames that wait to leave by a port: their buffers belong to the port they came by, whose
// next turn comes after flush()
struct Outgoing {
	unsigned n = 0;
	std::array<mmsghdr, batch> message{};
	std::array<iovec, batch> iov{};
};

class Port
{
      public:
	Port(const std::string &name, std::uint32_t ifindex);
	~Port()
	{
		if (fd_ >= 0)
			close(fd_);
	}
	Port(const Port &) = delete;
	Port &operator=(const Port &) = delete;

	int fd() const
	{
		return fd_;
	}
	unsigned receive();
	/// Frame @p i of those received, with the tag that the kernel has taken out.
	Frame frame(unsigned i);
	bool cut(unsigned i) const
	{
		return in_[i].msg_hdr.msg_flags & MSG_TRUNC;
	}

	void send(const Frame &f);
	bool full() const
	{
		return out_.n == batch;
	}
	/// Frames and bytes that the kernel took; the rest is lost.
	std::pair<unsigned, std::uint64_t> flush();
	unsigned waiting() const
	{
		return out_.n;
	}

      private:
	struct alignas(cmsghdr) Control {
		std::uint8_t bytes[CMSG_SPACE(sizeof(tpacket_auxdata))];
	};

	int fd_;
	std::vector<std::uint8_t> memory_;
	std::array<mmsghdr, batch> in_{};
	std::array<iovec, batch> iov_{};
	std::array<Control, batch> control_{};
	Outgoing out_;
};

Port::Port(const std::string &name, std::uint32_t ifindex)
	: fd_(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
	  memory_(batch * slot_size)
{
	const int on = 1, size = socket_buffer;
	sockaddr_ll at{};

	if (fd_ < 0)
		fail_errno("socket of port " + name + " (it takes CAP_NET_RAW)");
	setsockopt(fd_, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(fd_, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	require(!setsockopt(fd_, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)), "PACKET_AUXDATA");
	require(!setsockopt(fd_, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)),
		"PACKET_IGNORE_OUTGOING");
	at.sll_family = AF_PACKET;
	at.sll_protocol = htons(ETH_P_ALL);
	at.sll_ifindex = static_cast<int>(ifindex);
	if (bind(fd_, reinterpret_cast<sockaddr *>(&at), sizeof(at)))
		fail_errno("bind to the interface of port " + name);
}

unsigned Port::receive()
{
	for (unsigned i = 0; i < batch; ++i) {
		msghdr &m = in_[i].msg_hdr;

		iov_[i] = { &memory_[i * slot_size + Frame::room], slot_size - Frame::room };
		m = {};
		m.msg_iov = &iov_[i];
		m.msg_iovlen = 1;
		m.msg_control = control_[i].bytes;
		m.msg_controllen = sizeof(control_[i].bytes);
	}
	const int n = recvmmsg(fd_, in_.data(), batch, MSG_DONTWAIT, nullptr);

	return static_cast<unsigned>(std::max(n, 0));
}

std::optional<tpacket_auxdata> auxiliary(const msghdr &m)
{
	const cmsghdr *c = CMSG_FIRSTHDR(&m);
	tpacket_auxdata aux;

	if (!c || c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
		return std::nullopt;
	std::memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	return aux;
}

Frame Port::frame(unsigned i)
{
	std::uint8_t *p = &memory_[i * slot_size + Frame::room];
	const Frame f{ p, p + in_[i].msg_len };
	const auto aux = auxiliary(in_[i].msg_hdr);

	if (!aux || !(aux->tp_status & TP_STATUS_VLAN_VALID) || in_[i].msg_len < tag_at)
		return f;
	const std::uint16_t tpid = aux->tp_status & TP_STATUS_VLAN_TPID_VALID ?
					   aux->tp_vlan_tpid :
					   std::uint16_t{ ETH_P_8021Q };
	std::memmove(p - UB2E_TAG_LEN, p, tag_at);
	put_unaligned_be16(tpid, p + tag_at - UB2E_TAG_LEN);
	put_unaligned_be16(aux->tp_vlan_tci, p + tag_at - UB2E_TAG_LEN + 2);
	return { p - UB2E_TAG_LEN, f.end };
}

void Port::send(const Frame &f)
{
	const unsigned i = out_.n++;

	out_.iov[i] = { f.begin, static_cast<std::size_t>(f.end - f.begin) };
	out_.message[i] = {};
	out_.message[i].msg_hdr.msg_iov = &out_.iov[i];
	out_.message[i].msg_hdr.msg_iovlen = 1;
}

std::pair<unsigned, std::uint64_t> Port::flush()
{
	unsigned done = 0, taken = 0;
	std::uint64_t bytes = 0;

	while (done < out_.n) {
		const int n = sendmmsg(fd_, &out_.message[done], out_.n - done, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		for (int i = 0; i < n; ++i)
			bytes += out_.iov[done + static_cast<unsigned>(i)].iov_len;
		taken += static_cast<unsigned>(std::max(n, 0));
		done += n > 0 ? static_cast<unsigned>(n) : 1; // the next may be taken
	}
	out_.n = 0;
	return { taken, bytes };
}

class PacketPath final : public Datapath
{
      public:
	PacketPath(const std::vector<std::string> &names, std::shared_ptr<const Tables> tables,
		   Counters &counters, const std::string &capture)
		: counters_(counters), engine_(tables, counters, 1)
	{
		for (std::size_t i = 0; i < names.size(); ++i) {
			const auto *port = tables->port(static_cast<std::uint32_t>(i));

			ports_.push_back(std::make_unique<Port>(names[i], port->ifindex));
			poll_.push_back({ ports_.back()->fd(), POLLIN, 0 });
		}
		if (!capture.empty())
			capture_.emplace(capture);
	}

	void set_tables(std::shared_ptr<const Tables> tables) override
	{
		engine_.set_tables(std::move(tables));
	}

	void run(int ms) override
	{
		if (poll(poll_.data(), poll_.size(), ms) <= 0)
			return;
		for (unsigned i = 0; i < ports_.size(); ++i)
			if (poll_[i].revents)
				take(i);
		if (capture_)
			capture_->flush();
	}

      private:
	void take(unsigned from);
	void forward(unsigned from, Frame f, std::uint64_t now);
	void flush(unsigned port);
	std::ptrdiff_t longest(unsigned port) const
	{
		return engine_.tables().port(port)->mtu + UB2E_ETH_LEN + UB2E_TAG_LEN;
	}
	void record(const Frame &f)
	{
		if (capture_)
			capture_->write({ f.begin, f.end });
	}

	Counters &counters_;
	Engine engine_;
	std::vector<std::unique_ptr<Port>> ports_;
	std::vector<pollfd> poll_;
	std::optional<Capture> capture_;
};

void PacketPath::flush(unsigned i)
{
	const unsigned waiting = ports_[i]->waiting();

	if (!waiting)
		return;
	const auto [taken, bytes] = ports_[i]->flush();
	counters_.add(i, UB2E_TX, taken);
	counters_.add(i, UB2E_TX_BYTES, bytes);
	counters_.add(i, UB2E_DROP_ROOM, waiting - taken);
}

void PacketPath::forward(unsigned from, Frame f, std::uint64_t now)
{
	record(f);
	const unsigned to = engine_.forward(from, f, now);
	if (to == Engine::none)
		return;
	record(f);
	ports_[to]->send(f);
	if (ports_[to]->full())
		flush(to);
}

void PacketPath::take(unsigned from)
{
	const unsigned n = ports_[from]->receive();
	const std::uint64_t now = monotonic_ns();

	for (unsigned i = 0; i < n; ++i) {
		const Frame f = ports_[from]->frame(i);

		// segments that a local sender left to a device come here as one frame
		if (ports_[from]->cut(i) || f.end - f.begin > longest(from))
			counters_.add(from, engine_.is_ub(from, f) ? UB2E_DROP_UNCUT : UB2E_OTHER);
		else
			forward(from, f, now);
	}
	// the frames' memory is the port's, for its next turn
	for (unsigned i = 0; i < ports_.size(); ++i)
		flush(i);
}

} // namespace

std::unique_ptr<Datapath> packet_path(const std::vector<std::string> &interfaces,
				      std::shared_ptr<const Tables> tables, Counters &counters,
				      const std::string &capture)
{
	return std::make_unique<PacketPath>(interfaces, std::move(tables), counters, capture);
}

} // namespace uboe::ub2e
