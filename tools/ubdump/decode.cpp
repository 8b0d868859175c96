// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// From the link to UDP (docs/wire.md 1 and 11).
#include "decode.hpp"

#include <algorithm>

#include "walk.hpp"

extern "C" {
#include "ubp_encap.h"
#include "ubp_native.h"
}

namespace ubdump
{

namespace
{

constexpr std::uint16_t type_ipv4 = 0x0800, type_ipv6 = 0x86dd;
constexpr std::uint8_t proto_udp = 17, proto_fragment = 44;

bool is_tag(std::uint64_t type)
{
	return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

/// Header checksum; a right header adds up to ones.
bool sums_up(Bytes header)
{
	std::uint32_t sum = 0;

	for (std::size_t i = 0; i + 1 < header.size(); i += 2)
		sum += header[i] << 8 | header[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

const Header &network_by_mode(std::uint8_t first)
{
	switch (first >> 5) {
	case UB_CCI_MODE_CAQM:
		return network_caqm;
	case UB_CCI_MODE_FECN_RTT:
		return network_rtt;
	case UB_CCI_MODE_FECN:
		return network_fecn;
	default:
		return network;
	}
}

std::string_view native_reason(ubp_native_error error)
{
	switch (error) {
	case UBP_NATIVE_OK:
		return "";
	case UBP_NATIVE_SHORT:
		return "native_short";
	case UBP_NATIVE_CFG:
		return "native_cfg";
	case UBP_NATIVE_LENGTH:
		return "native_length";
	case UBP_NATIVE_IP:
		return "native_ip";
	}
	return "native_ip";
}

/// Does this look like an IP packet with a length of its own?
bool like_ip(Bytes b)
{
	if (b.size() < UB_IPV4_LEN)
		return false;
	if (b[0] >> 4 == 4)
		return (b[0] & 15) >= 5 && number_of(b.subspan(2, 2)) <= b.size() &&
		       sums_up(b.first(UB_IPV4_LEN));
	return b[0] >> 4 == 6 && b.size() >= UB_IPV6_LEN &&
	       UB_IPV6_LEN + number_of(b.subspan(4, 2)) <= b.size() && b[6] == proto_udp;
}

} // namespace

const Field *Packet::find(std::string_view name) const
{
	for (const Layer &l : layers)
		for (const Field &f : l.fields)
			if (name == f.spec->name)
				return &f;
	return nullptr;
}

std::uint64_t Packet::number_at(std::string_view name, std::uint64_t otherwise) const
{
	const Field *f = find(name);

	return f ? f->number : otherwise;
}

void Walk::fail(std::string_view reason)
{
	if (packet_.reason.empty())
		packet_.reason = reason;
}

Layer *Walk::open(const Header &header, std::size_t at, std::size_t size)
{
	packet_.layers.push_back({ &header, at, size, {} });
	return &packet_.layers.back();
}

Layer *Walk::take(const Header &header)
{
	if (left() < header.size) {
		if (!packet_.cut())
			fail("truncated");
		at_ = end_;
		return nullptr;
	}
	Layer *layer = open(header, at_, header.size);

	for (const Spec &s : header.fields)
		if (s.size)
			layer->fields.push_back(
				field_of(s, packet_.frame.subspan(at_, header.size)));
	at_ += header.size;
	return layer;
}

std::uint64_t Walk::value(const Layer &layer, std::string_view name) const
{
	for (const Field &f : layer.fields)
		if (name == f.spec->name)
			return f.number;
	return 0;
}

void Walk::add(Layer &layer, std::string_view name, std::uint64_t number)
{
	layer.fields.push_back({ &spec_of(*layer.header, name), number });
}

void Walk::add(Layer &layer, std::string_view name, std::string text)
{
	layer.fields.push_back({ &spec_of(*layer.header, name), 0, {}, std::move(text) });
}

void Walk::add(Layer &layer, std::string_view name, Bytes raw)
{
	layer.fields.push_back({ &spec_of(*layer.header, name), 0, raw });
}

void Walk::run()
{
	open(summary, 0, 0);
	switch (packet_.link) {
	case Link::ip:
		ip();
		break;
	case Link::native:
		native();
		break;
	default:
		frame();
		break;
	}
	summarise();
}

/// Link headers up to the IP or native packet. What is cut here is not ours to name.
void Walk::frame()
{
	const Header &link = packet_.link == Link::ethernet ? ethernet :
			     packet_.link == Link::cooked   ? cooked :
							      cooked2;

	if (left() < link.size)
		return;
	const Layer *layer = take(link);
	std::uint64_t type =
		value(*layer, packet_.link == Link::ethernet ? "eth.type" : "sll.type");

	while (is_tag(type) && left() >= vlan_tag.size)
		type = value(*take(vlan_tag), "vlan.type");
	by_type(static_cast<std::uint16_t>(type));
}

void Walk::by_type(std::uint16_t type)
{
	if (type == UB_LAB_ETHERTYPE)
		native();
	else if (type == type_ipv4 || type == type_ipv6)
		ip();
}

void Walk::native()
{
	ubp_native n;
	const Bytes all = packet_.frame.subspan(at_, left());
	const auto error = ubp_native_check(all.data(), static_cast<u32>(all.size()), &n);

	packet_.native = packet_.uboe = true;
	if (!packet_.cut())
		fail(native_reason(error));
	if (left() < UB_NATIVE_LEN) {
		at_ = end_;
		return;
	}
	Layer *lph = take(link_packet);

	ubp_native_fields(all.data(), &n);
	add(*lph, "lph.length", n.len);
	take(network_by_mode(all[UB_LPH_LEN]));
	if (error == UBP_NATIVE_OK)
		end_ = at_ + n.len - UB_NATIVE_LEN; // what follows is padding of the frame
	if (n.cfg == UB_CFG_IPV4 || n.cfg == UB_CFG_IPV6)
		ip();
	if (!(n.npi & UB_NPI_ID) && packet_.reason.empty()) {
		packet_.reason = "partition";
		packet_.verdict = ubp_stat_name(UBP_D_PARTITION);
	}
}

void Walk::ip()
{
	const std::size_t from = at_;
	const Bytes ip = packet_.frame.subspan(at_, left());

	if (ip.empty())
		return;
	if (ip[0] >> 4 == 4)
		ip4_header(ip);
	else if (ip[0] >> 4 == 6)
		ip6_header(ip);
	else
		fail("ip_version");
	if ((packet_.uboe || !packet_.reason.empty()) && !packet_.cut())
		settle(from);
}

/// A header that is itself cut has no fields, and a length beyond the packet.
void Walk::ip4_header(Bytes ip)
{
	const std::size_t from = at_;

	if (ip.size() < ipv4.size) {
		if (!packet_.cut())
			fail("ip_len");
		return;
	}
	const Layer *h = take(ipv4);
	const std::size_t size = (ip[0] & 15) * 4u;

	if (ip[9] != proto_udp)
		return;
	if (size != ipv4.size)
		fail("ip_ihl");
	else if (value(*h, "ip.mf") || value(*h, "ip.offset"))
		fail("ip_frag");
	else if (!sums_up(ip.first(ipv4.size)))
		fail("ip_csum");
	at_ = from + std::max<std::size_t>(size, ipv4.size);
	if (at_ > end_)
		at_ = end_;
	udp_header(from, value(*h, "ip.len"));
}

void Walk::ip6_header(Bytes ip)
{
	const std::size_t from = at_;

	if (ip.size() < ipv6.size) {
		if (!packet_.cut())
			fail("ip_len");
		return;
	}
	const Layer *h = take(ipv6);
	const std::size_t size = ipv6.size + value(*h, "ip.len");

	if (ip[6] == proto_fragment) {
		if (left() < 8 || packet_.frame[at_] != proto_udp)
			return;
		fail("ip_frag");
		at_ += 8;
	} else if (ip[6] != proto_udp) {
		return;
	}
	udp_header(from, size);
}

void Walk::udp_header(std::size_t ip_at, std::size_t ip_size)
{
	const Bytes rest = packet_.frame.subspan(at_, left());

	if (rest.size() < 4 || number_of(rest.subspan(2, 2)) != settings_.port)
		return;
	packet_.uboe = true;
	if (rest.size() < udp.size) {
		if (!packet_.cut())
			fail(ip_at + ip_size > end_ ? "ip_len" : "udp_len");
		return;
	}
	Layer *u = take(udp);

	if (packet_.cut())
		add(*u, "udp.csum", std::string("unverified"));
	else if (outer_lengths(ip_at, ip_size, *u))
		end_of(ip_at, *u);
	if (packet_.reason != "ip_frag" && packet_.reason != "short")
		transport();
}

/// Do the lengths of IP and UDP agree with what there is? Then the packet ends with them.
bool Walk::outer_lengths(std::size_t ip_at, std::size_t ip_size, const Layer &u)
{
	const std::size_t udp_at = at_ - udp.size;

	if (ip_at + ip_size > end_ || ip_at + ip_size < udp_at) {
		fail("ip_len");
		return false;
	}
	if (value(u, "udp.length") != ip_at + ip_size - udp_at || ip_at + ip_size < at_) {
		fail("udp_len");
		return false;
	}
	end_ = ip_at + ip_size;
	return packet_.reason.empty() || packet_.reason == "ip_csum";
}

/// Checks of the whole that come before what is in it.
void Walk::end_of(std::size_t ip_at, Layer &u)
{
	const Bytes ip = packet_.frame.subspan(ip_at, end_ - ip_at);
	ubp_encap e{};

	e.v4 = ip[0] >> 4 == 4;
	e.hlen = static_cast<u32>(at_ - ip_at);
	e.total = static_cast<u32>(ip.size());
	e.saddr = &ip[e.v4 ? 12 : 8];
	e.daddr = &ip[e.v4 ? 16 : 24];
	const bool right = ubp_encap_csum_ok(ip.data(), &e);

	add(u, "udp.csum",
	    std::string(!right			 ? "bad" :
			value(u, "udp.checksum") ? "good" :
						   "absent"));
	if (!right)
		fail("udp_csum");
	if (left() < UB_TPH_LEN + UB_ICRC_LEN) {
		fail("short");
		return;
	}
	show_icrc(ip_at);
	whole_ = true;
}

void Walk::summarise()
{
	// was read first, and stands last
	const auto found = std::find_if(packet_.layers.begin(), packet_.layers.end(),
					[](const Layer &l) { return l.header == &icrc; });

	if (found != packet_.layers.end())
		std::rotate(found, found + 1, packet_.layers.end());
	Layer &top = packet_.layers.front();

	add(top, "frame.len", packet_.wire_size);
	if (packet_.cut())
		add(top, "cut", packet_.wire_size - packet_.frame.size());
	add(top, "native", std::uint64_t(packet_.native));
	if (!packet_.operation.empty())
		add(top, "opcode", packet_.operation);
	if (!packet_.reason.empty())
		add(top, "drop", std::string(packet_.reason));
	if (!packet_.verdict.empty())
		add(top, "verdict", packet_.verdict);
}

Packet decode(Bytes frame, std::size_t wire_size, Link link, const Settings &settings)
{
	Packet p;

	p.frame = frame;
	p.link = link;
	p.wire_size = std::max(wire_size, frame.size());
	Walk(p, settings).run();
	return p;
}

Link guess_link(Bytes b)
{
	ubp_native n;

	if (like_ip(b))
		return Link::ip;
	if (ubp_native_check(b.data(), static_cast<u32>(b.size()), &n) == UBP_NATIVE_OK)
		return Link::native;
	if (b.size() >= ethernet.size) {
		const std::uint64_t type = number_of(b.subspan(12, 2));

		if (type == type_ipv4 || type == type_ipv6 || type == UB_LAB_ETHERTYPE ||
		    is_tag(type))
			return Link::ethernet;
	}
	return !b.empty() && (b[0] >> 4 == 4 || b[0] >> 4 == 6) ? Link::ip : Link::ethernet;
}

} // namespace ubdump
