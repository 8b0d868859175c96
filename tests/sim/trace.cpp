// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <cstdio>

#include "net.hpp"

extern "C" {
#include "ubp_encap.h"
#include "ubp_pkt.h"
}

namespace ubsim
{

namespace
{
const char *ta_name(std::uint8_t op)
{
	static const char *const names[] = {
		"Send", "Send_imm", "Send_inv", "Write", "Write_imm", "Write_notify", "Read",
		"CAS",	"Swap",	    "Store",	"Load",	 "FAA",	      "FSub",	      "FAnd",
		"FOr",	"FXor",	    "Mgmt",	"TAACK", "Read_rsp",  "Atomic_rsp",
	};

	return op < sizeof(names) / sizeof(names[0]) ? names[op] : "reserved";
}

std::string data_text(const std::uint8_t *p, std::uint32_t len, const ubp_tph &t)
{
	char text[300];
	ubp_ta ta;

	if (ubp_ta_parse(p, len, &ta))
		return "malformed TA header";
	if (t.op == UB_TP_UTP_DATA) {
		static const char *const types[] = { "?", "REQ", "REP", "READY", "CLOSE", "REJ" };
		std::uint8_t type = ta.pld_len == UB_TPCM_LEN ? ta.pld[UB_TPCM_O_TYPE] : 0;

		if (ta.pld_len != UB_TPCM_LEN)
			return "UTP";
		std::snprintf(text, sizeof(text),
			      "TPCM %s xid %08x peer %08x psn %06x jetty %u -> %u exec %06x",
			      types[type <= 5 ? type : 0],
			      get_unaligned_be32(ta.pld + UB_TPCM_O_XID),
			      get_unaligned_be32(ta.pld + UB_TPCM_O_PEER_XID),
			      get_unaligned_be32(ta.pld + UB_TPCM_O_PSN),
			      get_unaligned_be32(ta.pld + UB_TPCM_O_LJETTY),
			      get_unaligned_be32(ta.pld + UB_TPCM_O_RJETTY),
			      get_unaligned_be32(ta.pld + UB_TPCM_O_RTO_BASE));
		return text;
	}
	std::snprintf(text, sizeof(text),
		      "data %06x%s%s psn %06x msn %06x %s ssn %04x len %u addr %llx length %u "
		      "ofst %u rspst %u%s",
		      t.dst, t.ack ? " A" : "", t.last ? " last" : "", t.psn, t.msn, ta_name(ta.op),
		      ta.ssn, ta.pld_len, (unsigned long long)ta.addr, ta.length, ta.ofst, ta.rspst,
		      ta.retry ? " retry" : "");
	return text;
}

std::string ack_text(const std::uint8_t *p, std::uint32_t len, const ubp_tph &t)
{
	bool sack = t.op == UB_TP_SACK || t.op == UB_TP_SACK_CC;
	char text[200];
	std::string s;

	std::snprintf(text, sizeof(text), "%s %06x psn %06x msn %06x rspst %u/%u",
		      sack ? "TPSACK" : "TPACK", t.dst, t.psn, t.msn, t.rspst, t.rspinfo);
	s = text;
	if (!sack || len < UB_SAETPH_LEN)
		return s;
	std::snprintf(text, sizeof(text), " max %06x have", ubp_get_be24(p + 1));
	s += text;
	for (std::uint32_t i = 0; i < (len - UB_SAETPH_LEN) * 8; i++)
		if (p[UB_SAETPH_LEN + i / 8] >> i % 8 & 1)
			s += " +" + std::to_string(i);
	return s;
}
} /* namespace */

std::string decode(const bytes &packet)
{
	ubp_config cfg = host::small_config();
	std::uint32_t len;
	ubp_encap e;
	ubp_tph t;

	if (ubp_encap_check(&cfg, packet.data(), std::uint32_t(packet.size()), &e))
		return "not UBoE";
	const std::uint8_t *p = packet.data() + e.hlen;

	ubp_tph_parse(p, &t);
	len = e.total - e.hlen - UB_TPH_LEN - UB_ICRC_LEN;
	if (t.op == UB_TP_RTP_DATA || t.op == UB_TP_UTP_DATA)
		return len < t.pad ? "malformed pad" : data_text(p + UB_TPH_LEN, len - t.pad, t);
	return ack_text(p + UB_TPH_LEN, len, t);
}

} /* namespace ubsim */
