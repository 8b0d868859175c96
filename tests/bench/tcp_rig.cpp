// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What TCP sockets do over the same devices: a stream of write() calls, and a
// message back and forth. Both sides sleep in read() and write().
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error.hpp"
#include "rig.hpp"

namespace uboe::bench {

namespace {

constexpr std::uint16_t tcp_port = 4793;

void write_all(int fd, const std::uint8_t *data, std::size_t size)
{
	while (size) {
		const ssize_t n = write(fd, data, size);
		if (n < 0 && errno != EINTR)
			fail_errno("TCP write");
		if (n > 0) {
			data += n;
			size -= static_cast<std::size_t>(n);
		}
	}
}

void read_all(int fd, std::uint8_t *data, std::size_t size)
{
	while (size) {
		const ssize_t n = read(fd, data, size);
		if (n <= 0)
			fail_errno("TCP read", n ? errno : ECONNRESET);
		data += n;
		size -= static_cast<std::size_t>(n);
	}
}

void serve(const Subject &subject, const Row &row, Stream &stream)
{
	const Fd listener = tcp_listen(subject.address[1], tcp_port);
	std::vector<std::uint8_t> buffer(std::max<std::size_t>(row.size, 256 << 10));

	stream.send_line("listening");
	const Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
	require(bool(fd), "TCP accept");
	const int one = 1;
	setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (;;) {
		const std::string line = stream.receive_line();
		if (line == "quit")
			return;
		const std::uint64_t count = std::stoull(line.substr(line.find(' ') + 1));
		stream.send_line("ready");
		if (line.starts_with("echo ")) {
			for (std::uint64_t i = 0; i < count; ++i) {
				read_all(fd.get(), buffer.data(), row.size);
				write_all(fd.get(), buffer.data(), row.size);
			}
			continue;
		}
		for (std::uint64_t left = count * row.size; left;) {
			const ssize_t n = read(fd.get(), buffer.data(),
					       std::min<std::uint64_t>(left, buffer.size()));
			if (n <= 0)
				fail_errno("TCP read", n ? errno : ECONNRESET);
			left -= static_cast<std::uint64_t>(n);
		}
		write_all(fd.get(), buffer.data(), 1); // all is here
	}
}

class TcpRig : public Rig {
public:
	TcpRig(const Subject &subject, const Row &row)
		: subject_(subject), row_(row), buffer_(row.size, 0x5a),
		  child_([&](Stream &stream) { serve(subject, row, stream); })
	{
		const bool stream = row.kind == Row::Kind::write && !row.latency;
		const bool echo = row.kind == Row::Kind::send && row.latency;
		if (!stream && !echo)
			throw Failure("TCP has nothing like " + row.name);
	}

	void connect() override
	{
		child_.stream().expect("listening");
		connection_ =
			Stream::connect_to(subject_.address[1], tcp_port, subject_.address[0], 10);
	}

	Sample run(std::uint32_t count) override
	{
		const int fd = connection_.fd();
		std::vector<std::uint64_t> times;
		Sample sample;
		std::uint8_t answer;

		child_.stream().send_line((row_.latency ? "echo " : "receive ") +
					  std::to_string(count));
		child_.stream().expect("ready");
		const std::uint64_t packets = sent_packets();
		const Stopwatch watch;
		std::uint64_t last = 0;
		for (std::uint32_t i = 0; i < count; ++i) {
			write_all(fd, buffer_.data(), row_.size);
			if (row_.latency) {
				read_all(fd, buffer_.data(), row_.size);
				const std::uint64_t now = watch.ticks();
				times.push_back((now - last) / 2);
				last = now;
			}
		}
		if (!row_.latency)
			read_all(fd, &answer, 1);
		sample.nanoseconds = watch.nanoseconds() / (row_.latency ? 2 : 1);
		sample.packets = sent_packets() - packets;
		if (row_.latency)
			summarise(times, watch.scale(), sample);
		return sample;
	}

	void verify() override {}

private:
	const Subject subject_;
	const Row row_;
	std::vector<std::uint8_t> buffer_;
	Child child_;
	Stream connection_;
};

} // namespace

std::unique_ptr<Rig> make_tcp_rig(const Subject &subject, const Row &row)
{
	return std::make_unique<TcpRig>(subject, row);
}

} // namespace uboe::bench
