// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Parts of the switch benchmark (tests/bench/switch), each a process in a namespace:
//
//   uboe-bench-switch blast INTERFACE ub|eth MAC SECONDS   sends frames as fast as it can
//   uboe-bench-switch sink INTERFACE        counts and drops; prints the count at SIGTERM
//   uboe-bench-switch redirect IN OUT       an XDP program that only redirects, until SIGTERM
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error.hpp"

extern "C" {
#include "ub_wire.h"
#include "ubp_icrc.h"
#include "ubp_native.h"

// switch_object.S
extern const unsigned char bench_bpf_object[], bench_bpf_object_end[];
}

namespace {

using Clock = std::chrono::steady_clock;
using bytes = std::vector<unsigned char>;

constexpr unsigned batch = 64;
constexpr std::size_t payload = 64; // of TPH and what follows

volatile std::sig_atomic_t ended;

/// From 10.1.0.1 to 10.2.0.1, complete but for the source port, which no switch looks at.
bytes packet()
{
	bytes p(UB_IPV4_LEN + UB_UDP_LEN + payload + UB_ICRC_LEN);

	p[0] = 0x45;
	p[1] = 2;
	put_unaligned_be16(static_cast<u16>(p.size()), &p[2]);
	p[6] = 0x40;
	p[8] = 64;
	p[9] = 17;
	inet_pton(AF_INET, "10.1.0.1", &p[12]);
	inet_pton(AF_INET, "10.2.0.1", &p[16]);
	u32 sum = 0;
	for (unsigned i = 0; i < 20; i += 2)
		sum += get_unaligned_be16(&p[i]);
	sum = (sum & 0xffff) + (sum >> 16);
	put_unaligned_be16(static_cast<u16>(~sum), &p[10]);
	put_unaligned_be16(50000, &p[20]);
	put_unaligned_be16(UB_UDP_PORT, &p[22]);
	put_unaligned_be16(static_cast<u16>(p.size() - 20), &p[24]);
	ubp_icrc_store(&p[p.size() - 4], ubp_icrc(p.data(), static_cast<u32>(p.size() - 4)), false);
	return p;
}

bytes frame(const std::string &kind, const char *mac)
{
	const bytes ip = packet();
	bytes f(14);

	if (std::sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &f[0], &f[1], &f[2], &f[3], &f[4],
			&f[5]) != 6)
		throw uboe::Failure(std::string(mac) + ": no MAC address");
	f[6] = 2;
	if (kind == "ub") {
		const ubp_native n = {static_cast<u32>(UB_NATIVE_LEN + ip.size()),
				      UB_NPI_DEFAULT,
				      UB_CCI_MODE_FECN << 13 | UB_FECN_MARKABLE,
				      UB_CFG_IPV4,
				      0,
				      UB_RT_DEFAULT};

		put_unaligned_be16(UB_LAB_ETHERTYPE, &f[12]);
		f.resize(14 + UB_NATIVE_LEN);
		ubp_native_build(&f[14], &n);
	} else {
		put_unaligned_be16(0x0800, &f[12]);
	}
	f.insert(f.end(), ip.begin(), ip.end());
	return f;
}

void blast(const char *interface, const bytes &f, double seconds)
{
	const int fd = socket(AF_PACKET, SOCK_RAW, 0), size = 1 << 20, on = 1;
	std::vector<mmsghdr> messages(batch);
	iovec iov{const_cast<unsigned char *>(f.data()), f.size()};
	unsigned long long sent = 0;
	sockaddr_ll at{};

	uboe::require(fd >= 0, "packet socket");
	at.sll_family = AF_PACKET;
	at.sll_ifindex = static_cast<int>(if_nametoindex(interface));
	uboe::require(!bind(fd, reinterpret_cast<sockaddr *>(&at), sizeof(at)), interface);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on));
	for (mmsghdr &m : messages) {
		m.msg_hdr.msg_iov = &iov;
		m.msg_hdr.msg_iovlen = 1;
	}
	const auto end = Clock::now() + std::chrono::duration<double>(seconds);
	while (Clock::now() < end) {
		const int n = sendmmsg(fd, messages.data(), batch, 0);

		sent += n > 0 ? static_cast<unsigned>(n) : 0;
	}
	close(fd);
	std::printf("%llu\n", sent);
}

struct Object {
	bpf_object *object;

	Object()
		: object(bpf_object__open_mem(
			  bench_bpf_object,
			  static_cast<std::size_t>(bench_bpf_object_end - bench_bpf_object),
			  nullptr))
	{
		uboe::require(object && !bpf_object__load(object), "XDP programs");
	}
	int map(const char *name) const { return bpf_object__find_map_fd_by_name(object, name); }
	void attach(const char *program, unsigned ifindex) const
	{
		const bpf_program *p = bpf_object__find_program_by_name(object, program);

		uboe::require(bpf_link_create(bpf_program__fd(p), static_cast<int>(ifindex),
					      BPF_XDP, nullptr) >= 0,
			      program);
	}
};

void wait_for_end()
{
	std::puts("ready");
	std::fflush(stdout);
	while (!ended)
		pause();
}

void sink(const char *interface)
{
	const Object o;
	const unsigned zero = 0;
	std::vector<unsigned long long> counts(
		static_cast<std::size_t>(libbpf_num_possible_cpus()));
	unsigned long long sum = 0;

	o.attach("sink", if_nametoindex(interface));
	wait_for_end();
	bpf_map_lookup_elem(o.map("counted"), &zero, counts.data());
	for (auto n : counts)
		sum += n;
	std::printf("%llu\n", sum);
}

void redirect(const char *in, const char *out)
{
	const Object o;
	const unsigned zero = 0, to = if_nametoindex(out);

	uboe::require(!bpf_map_update_elem(o.map("out_port"), &zero, &to, 0), out);
	o.attach("redirect", if_nametoindex(in));
	wait_for_end();
}

} // namespace

int main(int argc, char **argv)
try {
	const std::string what = argc > 1 ? argv[1] : "";
	struct sigaction action = {};

	action.sa_handler = [](int) { ended = 1; };
	sigaction(SIGTERM, &action, nullptr);
	libbpf_set_print(nullptr);
	if (what == "blast" && argc == 6)
		blast(argv[2], frame(argv[3], argv[4]), std::strtod(argv[5], nullptr));
	else if (what == "sink" && argc == 3)
		sink(argv[2]);
	else if (what == "redirect" && argc == 4)
		redirect(argv[2], argv[3]);
	else
		throw uboe::Failure("usage: blast INTERFACE ub|eth MAC SECONDS | sink INTERFACE | "
				    "redirect IN OUT");
	return 0;
} catch (const std::exception &e) {
	std::fprintf(stderr, "uboe-bench-switch: %s\n", e.what());
	return 1;
}
