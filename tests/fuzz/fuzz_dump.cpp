// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The decoder of ubdump: any bytes, as frames and as text. It never reads outside of them, can
 * print what it has made of them, and has the values that the core has.
 *
 * Input: a byte of options, then a frame, or with OUTER what follows a UDP header.
 */
#include <sstream>

#include <nlohmann/json.hpp>

#include "fuzz.hpp"

#include "error.hpp"
#include "filter.hpp"
#include "hextext.hpp"
#include "print.hpp"
#include "statistics.hpp"

extern "C" {
#include "ubp_icrc.h"
#include "ubp_native.h"
}

using namespace fuzz;

namespace
{
enum option : std::uint8_t {
	LINK = 0x07, /* ubdump::Link */
	OUTER = 0x08, /* the bytes begin with the TPH: put the rest around them */
	V6 = 0x10, /* with OUTER */
	BE = 0x20, /* byte order of the ICRC */
	CUT = 0x40, /* the frame was longer on the wire */
	TEXT = 0x80, /* the bytes are a filter, and a text of packets, too */
};

rig::bytes enclose(rig::bytes body, std::uint8_t what)
{
	ubp_path path{};
	rig::bytes p;

	body.resize(std::max<std::size_t>((body.size() + 3) & ~3ull, UB_TPH_LEN));
	path.v4 = !(what & V6);
	path.dport = UB_UDP_PORT;
	path.sport = 49152;
	path.hop = 64;
	std::memset(path.laddr, path.v4 ? 0 : 0xfd, 16);
	std::memset(path.raddr, path.v4 ? 0 : 0xfd, 16);
	if (path.v4)
		for (u8 *a : { path.laddr, path.raddr })
			std::memset(a + 10, 0xff, 2);
	std::size_t h = ubp_encap_len(&path);

	p.resize(h + body.size() + UB_ICRC_LEN);
	ubp_encap_fill(&path, body[0] & 3, p.data(), static_cast<u32>(p.size()));
	std::copy(body.begin(), body.end(), p.begin() + static_cast<std::ptrdiff_t>(h));
	u32 covered = static_cast<u32>(p.size()) - UB_ICRC_LEN;
	ubp_icrc_store(&p[covered], ubp_icrc(p.data(), covered), what & BE);
	return p;
}

rig::bytes native(const rig::bytes &ip)
{
	ubp_native n{};
	rig::bytes p(UB_NATIVE_LEN + ip.size());

	n.len = static_cast<u32>(ip.size()) + UB_NATIVE_LEN;
	n.cfg = ip[0] >> 4 == 4 ? UB_CFG_IPV4 : UB_CFG_IPV6;
	n.npi = UB_NPI_DEFAULT;
	std::copy(ip.begin(), ip.end(), ubp_native_build(p.data(), &n));
	return p;
}

/* The same value, when the packet has the field */
void same(const ubdump::Packet &p, const char *name, std::uint64_t value)
{
	const ubdump::Field *f = p.find(name);

	must(!f || f->number == value, name);
}

void compare_ta(const ubdump::Packet &p, const ubp_ta &t)
{
	must(p.find("tah.opcode"), "the core has a transaction");
	same(p, "tah.opcode", t.op);
	same(p, "tah.tassn", t.ssn);
	same(p, "tah.rcid", t.rcid & UB_BTAH_RC_ID);
	same(p, "tah.ud", t.ud);
	same(p, "tah.taid", t.taid);
	same(p, "tah.ofst", t.ofst);
	same(p, "tah.mt.tcid", t.mt & UB_MT_ID);
	same(p, "tah.addr", t.addr);
	same(p, "tah.tokenid", t.token_id);
	same(p, "tah.length", t.length);
	same(p, "tah.tokenvalue", t.token);
	same(p, "tah.imm", t.imm);
	same(p, "tah.inv.tokenid", t.imm >> 32);
	same(p, "tah.ntf.addr", t.ntf_addr);
	same(p, "tah.ntf.data", t.ntf_data);
	same(p, "payload.length", t.pld_len);
}

/* @ip: a packet that begins there, in a frame that was not cut */
void compare(const ubdump::Packet &p, const rig::bytes &ip)
{
	ubp_config cfg;
	ubp_encap e;
	ubp_tph t;
	ubp_ta ta;

	ubp_config_defaults(&cfg);
	if (ubp_encap_check(&cfg, ip.data(), static_cast<u32>(ip.size()), &e)) {
		must(!p.reason.empty(), "the core drops it, and there is no reason");
		return;
	}
	must(p.find("icrc.ok"), "no ICRC is shown");
	const u8 *h = &ip[e.hlen];
	u32 len = e.total - e.hlen - UB_ICRC_LEN;

	ubp_tph_parse(h, &t);
	same(p, "tph.psn", t.psn);
	same(p, "tph.srctpn", t.src);
	if (ubp_tph_check(&t, h, len)) {
		must(!p.reason.empty() || p.verdict != "taken", "a bad TPH is taken");
		return;
	}
	if (!ubp_tph_is_data(&t) || (t.op == UB_TP_RTP_DATA && t.fake))
		return;
	if (!ubp_ta_parse(h + t.hlen, len - t.hlen - t.pad, &ta))
		compare_ta(p, ta);
}

void as_text(const rig::bytes &b)
{
	std::string text(b.begin(), b.end());
	std::istringstream in(text);
	ubdump::HexReader reader(in, "input");

	try {
		while (auto packet = reader.next())
			must(!packet->empty(), "a packet of no bytes");
	} catch (const uboe::Failure &) {
	}
	try {
		ubdump::Filter f(text);
		ubdump::Packet p = ubdump::decode(b, b.size(), ubdump::Link::ip, {});

		f.holds(p);
	} catch (const ubdump::BadFilter &) {
	}
}

void print(const ubdump::Packet &p)
{
	const ubdump::Style styles[] = {
		{ ubdump::Clock::none, true, false, true },
		{ ubdump::Clock::epoch, false, true, true },
	};

	for (const ubdump::Style &s : styles) {
		std::string text = ubdump::Printer(s).text(p);

		for (unsigned char c : text)
			must(c == '\n' || (c >= ' ' && c < 127), "output has control characters");
		must(!s.json || nlohmann::json::accept(text), "output is no JSON");
	}
}
} /* namespace */

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	input in(data, size);
	std::uint8_t what = in.u8();
	rig::bytes b = in.bytes(size);
	auto link = static_cast<ubdump::Link>(std::min(what & LINK, 4));
	ubdump::Settings settings;
	ubdump::Statistics statistics;

	settings.icrc_be = what & BE;
	if (what & TEXT)
		as_text(b);
	rig::bytes ip = b;

	if (what & OUTER) {
		ip = enclose(std::move(b), what);
		b = link == ubdump::Link::native ? native(ip) : ip;
		link = link == ubdump::Link::native ? link : ubdump::Link::ip;
	}
	/* at the end of a page of its own, as the sanitizer sees it */
	std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[b.size()]);

	std::copy(b.begin(), b.end(), exact.get());
	ubdump::Bytes frame(exact.get(), b.size());
	ubdump::Packet p =
		ubdump::decode(frame, frame.size() + (what & CUT ? 9 : 0), link, settings);

	ubdump::guess_link(frame);
	print(p);
	statistics.add(p);
	statistics.text();
	if (!p.cut() && p.uboe && (what & OUTER || link == ubdump::Link::ip))
		compare(p, ip);
	return 0;
}
