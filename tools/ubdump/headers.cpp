// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Headers below the transactions, and looking up fields by name. docs/wire.md 1 to 3 and 11.
#include "headers.hpp"

#include <stdexcept>

namespace ubdump
{

namespace
{

constexpr Name tp_opcodes[] = { { 0, "UTP" },	   { 1, "RTP" },    { 2, "TPACK" },
				{ 3, "TPACK-CC" }, { 5, "TPSACK" }, { 6, "TPSACK-CC" },
				{ 8, "CNP" } };
constexpr Name nlps[] = { { 0, "TAH" }, { 1, "UPIH, EIDH, TAH" }, { 3, "security header" } };
constexpr Name answers[] = { { 0, "success" },
			     { 1, "target not ready" },
			     { 2, "page fault" },
			     { 3, "error" },
			     { 5, "answer of the target" } };
constexpr Name faults[] = { { 0, "PSN error" },
			    { 1, "unsupported request" },
			    { 2, "remote abort" } };
constexpr Name ecns[] = { { 0, "not capable" }, { 1, "ECT(1)" }, { 2, "ECT(0)" }, { 3, "CE" } };
constexpr Name levels[] = { { 0, "none" }, { 1, "light" }, { 3, "severe" } };
constexpr Name bitmap_sizes[] = { { 0, "64 bits" },
				  { 1, "128 bits" },
				  { 2, "256 bits" },
				  { 3, "512 bits" },
				  { 4, "1024 bits" } };
constexpr Name cfgs[] = { { 0, "control" }, { 3, "IPv4" }, { 4, "IPv6" } };
constexpr Name routings[] = { { 0, "per flow" },
			      { 1, "per packet" },
			      { 2, "per flow, shortest paths" },
			      { 3, "per packet, shortest paths" } };
constexpr Name cci_modes[] = { { 0, "CAQM" }, { 2, "FECN and RTT" }, { 4, "FECN" } };
constexpr Name fecns[] = { { 0, "unmarkable" }, { 1, "light" }, { 2, "markable" }, { 3, "severe" } };

constexpr Spec ethernet_fields[] = {
	{ "eth.dst", "Destination", Kind::mac, 0, 6 },
	{ "eth.src", "Source", Kind::mac, 6, 6 },
	{ "eth.type", "Type", Kind::hex, 12, 2 },
};
constexpr Spec vlan_fields[] = {
	{ "vlan.pcp", "Priority", Kind::decimal, 0, 2, 0xe000 },
	{ "vlan.dei", "Drop eligible", Kind::decimal, 0, 2, 0x1000 },
	{ "vlan.id", "VLAN", Kind::decimal, 0, 2, 0x0fff },
	{ "vlan.type", "Type behind the tag", Kind::hex, 2, 2 },
};
constexpr Spec cooked_fields[] = {
	{ "sll.pkttype", "Packet type", Kind::decimal, 0, 2 },
	{ "sll.type", "Protocol", Kind::hex, 14, 2 },
};
constexpr Spec cooked2_fields[] = {
	{ "sll.type", "Protocol", Kind::hex, 0, 2 },
	{ "sll.ifindex", "Interface", Kind::decimal, 4, 4 },
	{ "sll.pkttype", "Packet type", Kind::decimal, 10, 1 },
};
constexpr Spec link_packet_fields[] = {
	{ "lph.crd", "Credits", Kind::decimal, 0, 4, 0x80000000 },
	{ "lph.ack", "Link acknowledgement", Kind::decimal, 0, 4, 0x40000000 },
	{ "lph.crd_vl", "VL of the credits", Kind::decimal, 0, 4, 0x3c000000 },
	{ "lph.vl", "Virtual lane", Kind::decimal, 0, 4, 0x01e00000 },
	{ "lph.cfg", "Configuration", Kind::named, 0, 4, 0x000f0000, cfgs },
	{ "lph.rt", "Routing type", Kind::named, 0, 4, 0x0000c000, routings },
	{ "lph.blocks", "Blocks less one", Kind::decimal, 0, 4, 0x00003c00 },
	{ "lph.flits", "Flits of the last block less one", Kind::decimal, 0, 4, 0x000003e0 },
	{ "lph.tail", "Bytes of the last flit less one", Kind::decimal, 0, 4, 0x0000001f },
	{ "lph.length", "Length of the packet", Kind::decimal },
};
#define CCI_MODE                                                                                   \
	{                                                                                          \
		"cci.mode", "Congestion mode", Kind::named, 0, 2, 0xe000, cci_modes                \
	}
#define CCI_LOC                                                                                    \
	{                                                                                          \
		"cci.loc", "Location of congestion", Kind::decimal, 0, 2, 0x1000                   \
	}
#define CCI_FECN                                                                                   \
	{                                                                                          \
		"cci.fecn", "FECN", Kind::named, 0, 2, 0x0003, fecns                               \
	}
#define NPI                                                                                        \
	{ "npi.low", "Low privilege", Kind::decimal, 2, 4, 0x01000000 },                           \
	{                                                                                          \
		"npi.partition", "Partition", Kind::hex, 2, 4, 0x00ffffff                          \
	}
constexpr Spec network_fields[] = { CCI_MODE, CCI_LOC, NPI };
constexpr Spec network_caqm_fields[] = {
	CCI_MODE,
	CCI_LOC,
	{ "cci.caqm", "CAQM enabled", Kind::decimal, 0, 2, 0x0400 },
	{ "cci.c", "C", Kind::decimal, 0, 2, 0x0200 },
	{ "cci.i", "I", Kind::decimal, 0, 2, 0x0100 },
	{ "cci.hint", "Hint", Kind::decimal, 0, 2, 0x00ff },
	NPI,
};
constexpr Spec network_rtt_fields[] = {
	CCI_MODE, CCI_LOC, { "cci.timestamp", "Time stamp", Kind::decimal, 0, 2, 0x0ffc },
	CCI_FECN, NPI,
};
constexpr Spec network_fecn_fields[] = { CCI_MODE, CCI_LOC, CCI_FECN, NPI };

constexpr Spec ipv4_fields[] = {
	{ "ip.version", "Version", Kind::decimal, 0, 1, 0xf0 },
	{ "ip.ihl", "Header length (words)", Kind::decimal, 0, 1, 0x0f },
	{ "ip.dscp", "DSCP", Kind::decimal, 1, 1, 0xfc },
	{ "ip.ecn", "ECN", Kind::named, 1, 1, 0x03, ecns },
	{ "ip.len", "Total length", Kind::decimal, 2, 2 },
	{ "ip.id", "Identification", Kind::hex, 4, 2 },
	{ "ip.df", "Don't fragment", Kind::decimal, 6, 2, 0x4000 },
	{ "ip.mf", "More fragments", Kind::decimal, 6, 2, 0x2000 },
	{ "ip.offset", "Fragment offset (8 bytes)", Kind::decimal, 6, 2, 0x1fff },
	{ "ip.ttl", "TTL", Kind::decimal, 8, 1 },
	{ "ip.proto", "Protocol", Kind::decimal, 9, 1 },
	{ "ip.checksum", "Header checksum", Kind::hex, 10, 2 },
	{ "ip.src", "Source", Kind::address, 12, 4 },
	{ "ip.dst", "Destination", Kind::address, 16, 4 },
};
constexpr Spec ipv6_fields[] = {
	{ "ip.version", "Version", Kind::decimal, 0, 1, 0xf0 },
	{ "ip.dscp", "DSCP", Kind::decimal, 0, 2, 0x0fc0 },
	{ "ip.ecn", "ECN", Kind::named, 1, 1, 0x30, ecns },
	{ "ip.flow", "Flow label", Kind::hex, 0, 4, 0x000fffff },
	{ "ip.len", "Payload length", Kind::decimal, 4, 2 },
	{ "ip.proto", "Next header", Kind::decimal, 6, 1 },
	{ "ip.ttl", "Hop limit", Kind::decimal, 7, 1 },
	{ "ip.src", "Source", Kind::address, 8, 16 },
	{ "ip.dst", "Destination", Kind::address, 24, 16 },
};
constexpr Spec udp_fields[] = {
	{ "udp.srcport", "Source port", Kind::decimal, 0, 2 },
	{ "udp.dstport", "Destination port", Kind::decimal, 2, 2 },
	{ "udp.length", "Length", Kind::decimal, 4, 2 },
	{ "udp.checksum", "Checksum", Kind::hex, 6, 2 },
	{ "udp.csum", "Checksum is", Kind::text },
};

#define TPH_COMMON                                                                                 \
	{ "tph.last", "Last", Kind::decimal, 0, 1, 0x80 },                                         \
		{ "tph.opcode", "TPOpcode", Kind::named, 0, 1, 0x7f, tp_opcodes },                 \
		{ "tph.ver", "TPVer", Kind::decimal, 1, 1, 0xc0 },                                 \
		{ "tph.padding", "Padding", Kind::decimal, 1, 1, 0x30 },                           \
	{                                                                                          \
		"tph.nlp", "NLP", Kind::named, 1, 1, 0x0f, nlps                                    \
	}
constexpr Spec utph_fields[] = { TPH_COMMON };
constexpr Spec rtph_fields[] = {
	TPH_COMMON,
	{ "tph.srctpn", "SrcTPN", Kind::hex, 2, 3 },
	{ "tph.dsttpn", "DstTPN", Kind::hex, 5, 3 },
	{ "tph.ack", "A, acknowledgement wanted", Kind::decimal, 8, 1, 0x80 },
	{ "tph.fake", "F, keep-alive", Kind::decimal, 8, 1, 0x40 },
	{ "tph.psn", "PSN", Kind::decimal, 9, 3 },
	{ "tph.rspst", "RSPST", Kind::named, 12, 1, 0xe0, answers },
	{ "tph.rspinfo", "RSPINFO", Kind::decimal, 12, 1, 0x1f },
	{ "tph.tpmsn", "TPMSN", Kind::decimal, 13, 3 },
	{ "tph.rnr_us", "Time to wait (us)", Kind::decimal },
};
constexpr Spec cetph_fields[] = {
	{ "cetph.ack_seq", "Ack_Seq (2 bytes)", Kind::decimal, 0, 4 },
	{ "cetph.ce_seq", "Ce_Seq (2 bytes)", Kind::decimal, 4, 4 },
};
constexpr Spec cetph_caqm_fields[] = {
	{ "cetph.ack_seq", "Ack_Seq (2 bytes)", Kind::decimal, 0, 4 },
	{ "cetph.loc", "Location of congestion", Kind::decimal, 4, 1, 0x02 },
	{ "cetph.i", "I, windows may grow", Kind::decimal, 4, 1, 0x01 },
	{ "cetph.c", "Congestion marks", Kind::decimal, 5, 1 },
	{ "cetph.hint", "Hint (32 bytes)", Kind::decimal, 6, 2 },
};
constexpr Spec cnp_fields[] = {
	{ "cnp.ecn", "Congestion", Kind::named, 0, 1, 0xc0, levels },
	{ "cnp.loc", "Location of congestion", Kind::decimal, 0, 1, 0x20 },
};
constexpr Spec saetph_fields[] = {
	{ "sack.bitmapsize", "BitMapSize", Kind::named, 0, 1, 0x07, bitmap_sizes },
	{ "sack.maxrcvpsn", "MaxRcvPSN", Kind::decimal, 1, 3 },
	{ "sack.bitmap", "Bitmap", Kind::bytes },
	{ "sack.received", "Packets received", Kind::decimal },
	{ "sack.missing", "Missing PSNs", Kind::text },
};
constexpr Spec identity_fields[] = {
	{ "upi.low", "Low privilege", Kind::decimal, 0, 1, 0x01 },
	{ "upi", "UPI, partition", Kind::hex, 1, 3 },
	{ "seid", "SEID", Kind::address, 4, 16 },
	{ "deid", "DEID", Kind::address, 20, 16 },
};
constexpr Spec icrc_fields[] = {
	{ "icrc", "ICRC", Kind::hex },
	{ "icrc.status", "Status", Kind::text },
	{ "icrc.ok", "Right", Kind::truth },
	{ "icrc.calc", "Calculated", Kind::hex },
	{ "icrc.order", "Byte order in which it is right", Kind::text },
};
constexpr Spec summary_fields[] = {
	{ "number", "Number", Kind::decimal },
	{ "frame.len", "Length on the wire", Kind::decimal },
	{ "native", "Native UB packet", Kind::truth },
	{ "opcode", "Operation", Kind::text },
	{ "drop", "Drop reason", Kind::text },
	{ "verdict", "What a receiver does", Kind::text },
	{ "cut", "Bytes that were not captured", Kind::decimal },
};

/// Short forms for filters
constexpr struct {
	const char *shorter, *name;
} aliases[] = {
	{ "src", "ip.src" },
	{ "dst", "ip.dst" },
	{ "sport", "udp.srcport" },
	{ "dport", "udp.dstport" },
	{ "vlan", "vlan.id" },
	{ "vl", "lph.vl" },
	{ "partition", "npi.partition" },
	{ "psn", "tph.psn" },
	{ "msn", "tph.tpmsn" },
	{ "srctpn", "tph.srctpn" },
	{ "dsttpn", "tph.dsttpn" },
	{ "last", "tph.last" },
	{ "ack", "tph.ack" },
	{ "tassn", "tah.tassn" },
	{ "addr", "tah.addr" },
	{ "length", "tah.length" },
	{ "token", "tah.tokenid" },
	{ "len", "payload.length" },
};

} // namespace

const Names tp_names = tp_opcodes, answer_names = answers, fault_names = faults;

const Header ethernet{ "Ethernet", 14, ethernet_fields };
const Header vlan_tag{ "VLAN tag", 4, vlan_fields };
const Header cooked{ "Linux cooked capture", 16, cooked_fields };
const Header cooked2{ "Linux cooked capture, version 2", 20, cooked2_fields };
const Header link_packet{ "Link packet header (LPH)", 4, link_packet_fields };
const Header network{ "Network header (CCI, NPI)", 6, network_fields };
const Header network_caqm{ "Network header (CCI, NPI)", 6, network_caqm_fields };
const Header network_rtt{ "Network header (CCI, NPI)", 6, network_rtt_fields };
const Header network_fecn{ "Network header (CCI, NPI)", 6, network_fecn_fields };
const Header ipv4{ "IPv4", 20, ipv4_fields };
const Header ipv6{ "IPv6", 40, ipv6_fields };
const Header udp{ "UDP", 8, udp_fields };
const Header utph{ "Transport header (UTPH)", 16, utph_fields };
const Header rtph{ "Transport header (RTPH)", 16, rtph_fields };
const Header cetph{ "Congestion header (CETPH)", 8, cetph_fields };
const Header cetph_caqm{ "Congestion header (CETPH)", 8, cetph_caqm_fields };
const Header cnp{ "Congestion notification (CNP)", 16, cnp_fields };
const Header saetph{ "Selective acknowledgement (SAETPH)", 4, saetph_fields };
const Header identity{ "Identity (UPIH, EIDH)", 36, identity_fields };
const Header icrc{ "ICRC", 4, icrc_fields };
const Header summary{ "Packet", 0, summary_fields };

std::span<const Header *const> all_headers()
{
	static const Header *const all[] = {
		&summary,  &ethernet,	  &vlan_tag,	&cooked,       &cooked2,    &link_packet,
		&network,  &network_caqm, &network_rtt, &network_fecn, &ipv4,	    &ipv6,
		&udp,	   &utph,	  &rtph,	&cetph,	       &cetph_caqm, &cnp,
		&saetph,   &identity,	  &btah,	&atah,	       &udetah,	    &taidetah,
		&ofstetah, &maetah,	  &mtetah,	&immetah,      &invetah,    &ntfetah,
		&tvetah,   &beetah,	  &operands,	&payload,      &pad,	    &tpcm,
		&icrc,
	};

	return all;
}

std::vector<const Spec *> specs_named(std::string_view name)
{
	std::vector<const Spec *> found;

	for (const auto &a : aliases)
		if (name == a.shorter)
			name = a.name;
	for (const Header *h : all_headers())
		for (const Spec &s : h->fields)
			if (name == s.name)
				found.push_back(&s);
	return found;
}

const Spec &spec_of(const Header &header, std::string_view name)
{
	for (const Spec &s : header.fields)
		if (name == s.name)
			return s;
	throw std::logic_error("no field " + std::string(name));
}

const char *reason_text(std::string_view reason)
{
	static constexpr struct {
		std::string_view name;
		const char *text;
	} reasons[] = {
		{ "native_short", "too short for LPH, CCI, NPI, IP and UDP headers" },
		{ "native_cfg", "link configuration without an IP header" },
		{ "native_length", "lengths of LPH, IP header and frame disagree" },
		{ "native_ip", "IP header that no UB packet has" },
		{ "ip_version", "neither IPv4 nor IPv6" },
		{ "ip_ihl", "IPv4 header with options" },
		{ "ip_frag", "fragment or extension header" },
		{ "ip_csum", "IPv4 header checksum" },
		{ "ip_len", "IP length beyond the packet" },
		{ "udp_len", "UDP length is not that of IP" },
		{ "udp_csum", "UDP checksum" },
		{ "short", "too short for TPH and ICRC" },
		{ "icrc", "ICRC mismatch" },
		{ "length", "length does not fit the headers" },
		{ "truncated", "ends inside a header" },
		{ "pad", "padding does not fit the payload" },
		{ "tp_ver", "unknown TPVer" },
		{ "tp_opcode", "reserved TPOpcode" },
		{ "tp_rspst", "reserved RSPST or RSPINFO of TPH" },
		{ "nlp", "NLP is not supported" },
		{ "sack_size", "reserved BitMapSize" },
		{ "ta_opcode", "reserved TAOpcode" },
		{ "ta_ver", "unknown TAver" },
		{ "ta_ee", "EE_bits are not supported" },
		{ "ta_mode", "not allowed over UTP" },
		{ "ta_flags", "reserved or contradictory TAH flags" },
		{ "ta_rspst", "reserved RSPST or RSPINFO of ATAH" },
		{ "atomic", "size, operands or alignment of an atomic" },
		{ "tpcm", "malformed set-up message" },
		{ "tp_nlp", "identity is not that of the addresses" },
		{ "partition", "partition 0" },
	};

	for (const auto &r : reasons)
		if (r.name == reason)
			return r.text;
	return "";
}

} // namespace ubdump
