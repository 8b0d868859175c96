// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The UB2E switch: any bytes as a frame at any port. It never reads or writes outside of the
 * frame and its room, forwards whole packets only, inside their partition, and counts each
 * frame once.
 *
 * Input: a byte of port and of what is put around the rest, then the frame, the IP packet,
 * or what follows a UDP header.
 */
#include "fuzz.hpp"

#include "engine.hpp"

extern "C" {
#include "ubp_native.h"
}

using namespace fuzz;
using namespace uboe::ub2e;

namespace
{
enum option : std::uint8_t {
	PORT = 0x03,
	AROUND = 0x04, /* put a link header before the bytes, which are an IP packet */
	OUTER = 0x08, /* and IP and UDP headers before them, too */
	V6 = 0x10,
	TAG = 0x20,
	OTHER = 0x40, /* another partition or VLAN than 1 */
	LOST = 0x80, /* the last byte is missing */
};

constexpr unsigned ports = 4; /* two of each kind */
constexpr Mac station{ 2, 0, 0, 0, 0, 9 };

Mac mac_of(unsigned port)
{
	return { 2, 0, 0, 0, 1, static_cast<u8>(port) };
}

RouteConfig route(u8 net, unsigned port, bool v4)
{
	RouteConfig r;

	r.prefix.bytes[v4 ? 12 : 0] = v4 ? 10 : 0xfd;
	r.prefix.bytes[v4 ? 13 : 1] = net;
	if (v4)
		r.prefix.bytes[10] = r.prefix.bytes[11] = 0xff;
	r.prefix.length = v4 ? 112 : 16;
	r.paths.push_back({ port, station, true });
	return r;
}

std::shared_ptr<const Tables> tables()
{
	std::vector<Interface> interfaces;
	Config c;

	for (unsigned i = 0; i < ports; i++) {
		PortConfig p;

		p.kind = i < 2 ? UB2E_UB : UB2E_ETH;
		p.untagged = i == 2;
		c.ports.push_back(p);
		interfaces.push_back({ i + 1, 1500, mac_of(i) });
		c.routes.push_back(route(static_cast<u8>(i), i, true));
		c.routes.push_back(route(static_cast<u8>(i), i, false));
	}
	c.partitions.push_back({ { 1, 1, 0 }, {}, 0 });
	c.partitions.push_back({ { 0x1005, 5, 6 }, { 0, 2, 3 }, 0 });
	return std::make_shared<const Tables>(c, interfaces);
}

/* IP and UDP headers before @body; addresses by its first bytes */
rig::bytes enclose(const rig::bytes &body, std::uint8_t what)
{
	ubp_path path{};
	rig::bytes p;

	path.v4 = !(what & V6);
	path.dport = UB_UDP_PORT;
	path.sport = 49152;
	path.hop = 64;
	if (path.v4) {
		for (u8 *a : { path.laddr, path.raddr }) {
			std::memset(a + 10, 0xff, 2);
			a[12] = 10;
		}
		path.raddr[13] = body.empty() ? 0 : body[0] & 7;
	} else {
		path.laddr[0] = path.raddr[0] = 0xfd;
		path.raddr[1] = body.empty() ? 0 : body[0] & 7;
	}
	p.resize(ubp_encap_len(&path) + body.size());
	ubp_encap_fill(&path, body.size() > 1 ? body[1] & 3 : 0, p.data(),
		       static_cast<u32>(p.size()));
	std::copy(body.begin(), body.end(), p.end() - static_cast<std::ptrdiff_t>(body.size()));
	return p;
}

rig::bytes link(const rig::bytes &ip, unsigned port, std::uint8_t what)
{
	const bool v4 = !ip.empty() && ip[0] >> 4 == 4;
	const std::size_t head = port < 2 ? UB2E_ETH_LEN + UB_NATIVE_LEN :
					    UB2E_ETH_LEN + (what & TAG ? UB2E_TAG_LEN : 0);
	rig::bytes f(head);

	if (port < 2) {
		const ubp_native n = { static_cast<u32>(UB_NATIVE_LEN + ip.size()),
				       what & OTHER ? 0x1005u : 1u,
				       UB_CCI_MODE_FECN << 13 | UB_FECN_MARKABLE,
				       static_cast<u8>(v4 ? UB_CFG_IPV4 : UB_CFG_IPV6),
				       0,
				       2 };

		put_unaligned_be16(UB_LAB_ETHERTYPE, &f[12]);
		ubp_native_build(&f[UB2E_ETH_LEN], &n);
	} else {
		std::copy_n(mac_of(port).begin(), 6, f.begin());
		if (what & TAG) {
			put_unaligned_be16(0x8100, &f[12]);
			put_unaligned_be16(what & OTHER ? 6 : 1, &f[14]);
		}
		put_unaligned_be16(v4 ? 0x0800 : 0x86dd, &f[head - 2]);
	}
	f.insert(f.end(), ip.begin(), ip.end());
	return f;
}

/* Where the IP header of a frame that left is, and its partition */
std::size_t look(unsigned port, const rig::bytes &f, u32 &partition)
{
	if (port < 2) {
		ubp_native n{};

		must(get_unaligned_be16(&f[12]) == UB_LAB_ETHERTYPE, "not on the lab link");
		must(ubp_native_check(&f[14], static_cast<u32>(f.size() - 14), &n) == UBP_NATIVE_OK,
		     "a native packet is malformed");
		must(n.len == f.size() - 14, "a native packet is padded");
		partition = n.npi & UB_NPI_ID;
		return 24;
	}
	must(std::equal(station.begin(), station.end(), f.begin()), "not to the next hop");
	const bool tagged = get_unaligned_be16(&f[12]) == 0x8100;
	const unsigned vlan = tagged ? get_unaligned_be16(&f[14]) & 0xfff : 1;

	must(tagged || port == 2, "untagged where there is no partition for it");
	must(vlan == 1 || vlan == 5 || vlan == 6, "a VLAN that nobody has");
	partition = vlan == 1 ? 1 : 0x1005;
	return tagged ? 18 : 14;
}

/* From the IP header on the packet is what it was, but for what a hop changes */
void same_packet(const rig::bytes &in, rig::bytes out)
{
	const bool v4 = out[0] >> 4 == 4;
	const std::size_t hlen = ubp_ip_hlen(v4);

	must(ubp_ip_total(out.data()) == out.size(), "an IP packet has another length");
	must(out.size() <= in.size(), "an IP packet has grown");
	if (v4) {
		u32 sum = 0;

		for (unsigned i = 0; i < 20; i += 2)
			sum += get_unaligned_be16(&out[i]);
		sum = (sum & 0xffff) + (sum >> 16);
		must(((sum & 0xffff) + (sum >> 16)) == 0xffff, "an IP checksum is wrong");
		put_unaligned_be16(get_unaligned_be16(&in[10]), &out[10]);
	}
	must(out[v4 ? 8 : 7] + 1 == in[v4 ? 8 : 7], "not one hop");
	out[v4 ? 8 : 7]++;
	out[1] = static_cast<u8>((out[1] & ~(v4 ? 3 : 0x30)) | (in[1] & (v4 ? 3 : 0x30)));
	must(!get_unaligned_be16(&out[hlen + 6]), "a UDP checksum is not zero");
	put_unaligned_be16(get_unaligned_be16(&in[hlen + 6]), &out[hlen + 6]);
	must(std::equal(out.begin(), out.end(), in.begin()), "a packet has changed");
}

void run(unsigned port, const rig::bytes &frame)
{
	static const auto config = tables();
	auto counters = std::make_unique<Counters>();
	Engine engine(config, *counters, 1);
	rig::bytes memory(Frame::room + frame.size());

	std::copy(frame.begin(), frame.end(), memory.begin() + Frame::room);
	Frame f{ memory.data() + Frame::room, memory.data() + memory.size() };
	const unsigned to = engine.forward(port, f, 1);
	u64 fates = 0;
	u32 partition;

	for (unsigned fate : { unsigned{ UB2E_FORWARDED }, unsigned{ UB2E_OTHER } })
		fates += counters->get(port, fate);
	for (unsigned fate = UB2E_DROP_FIRST; fate < UB2E_FATES; fate++)
		fates += counters->get(port, fate);
	must(fates == 1, "not one fate");
	must((to != Engine::none) == (counters->get(port, UB2E_FORWARDED) == 1),
	     "counted otherwise");
	if (to == Engine::none)
		return;
	must(to < ports, "a port that is not there");
	must(f.begin >= memory.data() && f.end <= memory.data() + memory.size(),
	     "outside its room");
	const rig::bytes out(f.begin, f.end);
	const std::size_t l3 = look(to, out, partition);
	const std::size_t before = port < 2				    ? 24 :
				   get_unaligned_be16(&frame[12]) == 0x8100 ? 18 :
									      14;

	must(partition == 1 || to != 1, "a port that is no member");
	same_packet({ frame.begin() + static_cast<std::ptrdiff_t>(before), frame.end() },
		    { out.begin() + static_cast<std::ptrdiff_t>(l3), out.end() });
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	input in(data, size);
	const std::uint8_t what = in.u8();
	rig::bytes frame = in.bytes(size);

	if (what & OUTER)
		frame = enclose(frame, what);
	if (what & (AROUND | OUTER))
		frame = link(frame, what & PORT, what);
	if (what & LOST && !frame.empty())
		frame.pop_back();
	run(what & PORT, frame);
	return 0;
}
