// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "print.hpp"

#include <cctype>
#include <cstdio>
#include <ctime>

#include <nlohmann/json.hpp>

namespace ubdump
{

namespace
{

using Json = nlohmann::ordered_json;

constexpr std::int64_t second = 1'000'000'000;

/// Fields of the line, in its order: only those that are there.
struct Shown {
	const char *label, *name;
	bool nonzero = false; ///< not when it is 0
};
constexpr Shown shown_of_line[] = {
	{ "psn", "tph.psn" },
	{ "msn", "tph.tpmsn" },
	{ "ack_seq", "cetph.ack_seq" },
	{ "ce_seq", "cetph.ce_seq" },
	{ "i", "cetph.i" },
	{ "c", "cetph.c" },
	{ "hint", "cetph.hint" },
	{ "upi", "upi" },
	{ "tassn", "tah.tassn" },
	{ "target", "tah.mt.tcid" },
	{ "offset", "tah.ofst", true },
	{ "len", "payload.length" },
	{ "addr", "tah.addr" },
	{ "of", "tah.length" },
	{ "token", "tah.tokenid" },
	{ "imm", "tah.imm" },
	{ "inv", "tah.inv.tokenid" },
};
constexpr Shown shown_of_tpcm[] = {
	{ "tpn", "tpcm.tpn" },
	{ "peer_tpn", "tpcm.peer_tpn" },
	{ "psn", "tpcm.psn" },
	{ "jetty", "tpcm.jetty" },
	{ "peer_jetty", "tpcm.peer_jetty" },
	{ "xid", "tpcm.xid" },
	{ "reason", "tpcm.reason", true },
};

void append(std::string &line, const std::string &word)
{
	if (!line.empty() && !word.empty())
		line += ' ';
	line += word;
}

void append_fields(std::string &line, const Packet &p, std::span<const Shown> shown)
{
	for (const Shown &s : shown) {
		const Field *f = p.find(s.name);

		if (f && (f->number || !s.nonzero))
			append(line, std::string(s.label) + ' ' + text_of(*f));
	}
}

std::string addresses(const Packet &p)
{
	const Field *src = p.find("ip.src"), *dst = p.find("ip.dst");

	return src && dst ? text_of(*src) + " > " + text_of(*dst) : "";
}

/// Below IP, as far as it is not plain.
std::string below(const Packet &p)
{
	std::string s;

	for (const Layer &l : p.layers)
		for (const Field &f : l.fields)
			if (f.spec->name == std::string_view("vlan.id"))
				append(s, "vlan " + text_of(f));
	if (!p.native)
		return s;
	append(s, "native");
	if (const Field *f = p.find("lph.vl"))
		append(s, "vl " + text_of(*f));
	if (const Field *f = p.find("cci.fecn"))
		append(s, std::string("fecn ") + name_of(f->spec->names, f->number));
	if (const Field *f = p.find("npi.partition"))
		append(s, "partition " + text_of(*f));
	if (p.number_at("npi.low"))
		append(s, "low");
	return s;
}

std::string kind_of(const Packet &p)
{
	const Field *op = p.find("tph.opcode"), *ta = p.find("tah.opcode");
	std::string s;

	if (op && op->number <= 1)
		s = op->number ? "RTP" : "UTP";
	if (!p.operation.empty())
		append(s, p.operation);
	else if (ta || (op && op->number > 1))
		append(s, "opcode " + std::to_string((ta ? ta : op)->number));
	if (!p.note.empty())
		append(s, p.operation == "TPCM" ? p.note : "(" + p.note + ")");
	return s;
}

std::string icrc_of(const Packet &p)
{
	const Field *ok = p.find("icrc.ok"), *order = p.find("icrc.order");

	if (!ok)
		return "";
	if (ok->number)
		return "icrc ok";
	return order ? "icrc bad (right as " + order->text + ")" : "icrc bad";
}

std::string verdict_of(const Packet &p)
{
	std::string s;

	if (p.cut())
		s = "[captured " + std::to_string(p.frame.size()) + " of " +
		    std::to_string(p.wire_size) + "]";
	if (p.reason.empty() && (p.verdict.empty() || p.verdict == "taken"))
		return s;
	std::string why;

	if (!p.reason.empty())
		why = "malformed: " + std::string(p.reason) + ", " + reason_text(p.reason);
	if (p.verdict == "answered")
		why += (why.empty() ? "" : "; ") + std::string("answered: unsupported request");
	else if (p.verdict == "ip_stack")
		why += "; dropped by the IP stack";
	else if (!p.verdict.empty() && p.verdict != "taken")
		why += (why.empty() ? "" : "; ") + p.verdict;
	append(s, "[" + why + "]");
	return s;
}

Json value_of(const Field &f)
{
	if (f.spec->kind == Kind::truth)
		return f.number != 0;
	if (is_number(f.spec->kind))
		return f.number;
	return text_of(f);
}

bool is_payload(const Field &f)
{
	const std::string_view name = f.spec->name;

	return name == "payload" || name == "pad";
}

Bytes payload_of(const Packet &p)
{
	const Field *f = p.find("payload");

	return f ? f->raw : Bytes{};
}

} // namespace

std::string line_of(const Packet &p)
{
	std::string line = below(p);
	const Field *src = p.find("tph.srctpn"), *dst = p.find("tph.dsttpn");

	append(line, addresses(p));
	if (!p.uboe) {
		const Field *type = p.find("eth.type");

		append(line, "not UBoE");
		if (type && !p.find("ip.version"))
			append(line, "type " + text_of(*type));
		append(line, verdict_of(p));
		return line;
	}
	append(line, kind_of(p));
	if (src && dst)
		append(line, "tpn " + text_of(*src) + ">" + text_of(*dst));
	if (p.operation == "TPCM")
		append_fields(line, p, shown_of_tpcm);
	else
		append_fields(line, p, shown_of_line);
	if (p.number_at("tph.last"))
		append(line, "last");
	if (p.number_at("tph.ack"))
		append(line, "A");
	if (p.number_at("tah.retry"))
		append(line, "retry");
	if (p.number_at("ip.ecn") == 3)
		append(line, "CE");
	if (const Field *csum = p.find("udp.csum"); csum && csum->text == "bad")
		append(line, "udp bad");
	append(line, icrc_of(p));
	append(line, verdict_of(p));
	return line;
}

std::string tree_of(const Packet &p, bool payload)
{
	std::string s;

	for (const Layer &l : p.layers) {
		s += "  " + std::string(l.header->title);
		if (l.size)
			s += ", " + std::to_string(l.size) + " bytes at " + std::to_string(l.at);
		s += '\n';
		for (const Field &f : l.fields)
			if (!is_payload(f) || payload)
				s += "    " + std::string(f.spec->name) + " = " + text_of(f) +
				     "  " + f.spec->title + '\n';
	}
	return s;
}

Json json_of(const Packet &p, bool payload)
{
	Json j;

	if (p.time_ns >= 0)
		j["time"] = static_cast<double>(p.time_ns) / static_cast<double>(second);
	j["number"] = p.number;
	for (const Layer &l : p.layers) {
		for (const Field &f : l.fields) {
			if (is_payload(f) && !payload)
				continue;
			if (!j.contains(f.spec->name)) {
				j[f.spec->name] = value_of(f);
				continue;
			}
			// tags of VLANs may be there twice
			Json &have = j[f.spec->name];

			if (!have.is_array())
				have = Json::array({ have });
			have.push_back(value_of(f));
		}
	}
	if (!p.note.empty())
		j["note"] = p.note;
	return j;
}

std::string dump_of(Bytes bytes)
{
	std::string s;
	char room[32];

	for (std::size_t at = 0; at < bytes.size(); at += 16) {
		const Bytes row = bytes.subspan(at, std::min<std::size_t>(16, bytes.size() - at));
		std::string text;

		std::snprintf(room, sizeof(room), "    %04zx: ", at);
		s += room;
		for (std::size_t i = 0; i < 16; ++i) {
			s += i < row.size() ? hex_text(row.subspan(i, 1)) : "  ";
			if (i % 2)
				s += ' ';
			if (i < row.size())
				text += std::isprint(row[i]) ? static_cast<char>(row[i]) : '.';
		}
		s += ' ' + text + '\n';
	}
	return s;
}

std::string Printer::time_text(const Packet &p)
{
	std::int64_t ns = p.time_ns;
	char room[64] = "";

	if (ns < 0 || style_.clock == Clock::none)
		return "";
	if (first_ns_ < 0)
		first_ns_ = ns;
	if (style_.clock == Clock::relative) {
		ns -= first_ns_;
		std::snprintf(room, sizeof(room), "%s%lld.%06lld ", ns < 0 ? "-" : "",
			      static_cast<long long>(std::abs(ns) / second),
			      static_cast<long long>(std::abs(ns) % second / 1000));
		return room;
	}
	const std::time_t seconds = ns / second;

	if (style_.clock == Clock::epoch) {
		std::snprintf(room, sizeof(room), "%lld", static_cast<long long>(seconds));
	} else {
		std::tm t{};

		localtime_r(&seconds, &t);
		std::strftime(room, sizeof(room), "%H:%M:%S", &t);
	}
	std::string s = room;

	std::snprintf(room, sizeof(room), ".%06lld ", static_cast<long long>(ns % second / 1000));
	return s + room;
}

std::string Printer::text(const Packet &p)
{
	if (style_.json)
		return json_of(p, style_.payload).dump() + '\n';
	std::string s = time_text(p) + line_of(p) + '\n';

	if (style_.tree)
		s += tree_of(p, false);
	if (style_.payload)
		s += dump_of(payload_of(p));
	return s;
}

} // namespace ubdump
