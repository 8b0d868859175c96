// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The golden vectors, in both directions, over IPv4 and IPv6. */
#include <cinttypes>
#include <cstdio>

#include <gtest/gtest.h>

#include "golden.hpp"
#include "ref_icrc.hpp"
#include "rig.hpp"

using namespace rig;

namespace
{
std::vector<golden::vector> load()
{
	std::string error;
	auto v = golden::load(UBOE_VECTORS "/golden.txt", &error);

	if (!v)
		std::fprintf(stderr, "golden.txt: %s\n", error.c_str());
	return v ? *v : std::vector<golden::vector>{};
}

const std::vector<golden::vector> good = load();

class Golden : public testing::TestWithParam<golden::vector>
{
      protected:
	const golden::vector &v() { return GetParam(); }
	const bytes &p() { return v().packet; }

	ubp_encap encap()
	{
		ubp_config cfg;
		ubp_encap e{};

		ubp_config_defaults(&cfg);
		EXPECT_EQ(ubp_encap_check(&cfg, p().data(), static_cast<u32>(p().size()), &e), 0u);
		return e;
	}

	/* The field as the vector file writes it */
	void want(const char *name, std::uint64_t value)
	{
		const std::string *f = v().field(std::string("uboe.") + name);

		ASSERT_NE(f, nullptr) << name;
		EXPECT_EQ(*f, std::to_string(value)) << name;
		seen_++;
	}
	/* The same when the vector has it */
	void maybe(const char *name, std::uint64_t value)
	{
		if (v().field(std::string("uboe.") + name))
			want(name, value);
	}
	/* Opcodes that the core does not implement are refused by name and not decoded */
	bool decoded()
	{
		return v().needs != "be" && v().needs != "writeback" && v().needs != "prefetch";
	}

	void tph(const ubp_tph &t)
	{
		want("tph.opcode", t.op);
		want("tph.last", t.last);
		want("tph.padding", t.pad);
		want("tph.nlp", t.nlp);
		if (t.op == UB_TP_UTP_DATA)
			return;
		want("tph.srctpn", t.src);
		want("tph.dsttpn", t.dst);
		want("tph.ack", t.ack);
		want("tph.fake", t.fake);
		want("tph.psn", t.psn);
		want("tph.rspst", t.rspst);
		want("tph.rspinfo", t.rspinfo);
		want("tph.tpmsn", t.msn);
	}

	void ta(const ubp_ta &t)
	{
		want("tah.opcode", t.op);
		want("tah.tassn", t.ssn);
		want("tah.poison", t.poison);
		want("tah.rctype", t.rcid >> 20);
		want("tah.rcid", t.rcid & UB_BTAH_RC_ID);
		if (ubp_ta_is_response(t.op)) {
			want("tah.sv", t.sv);
			want("tah.rspst", t.rspst);
			want("tah.rspinfo", t.rspinfo);
		} else {
			want("tah.tv_en", t.tv_en);
			want("tah.ud_flag", t.ud_en);
			want("tah.target_hint", t.hint);
			want("tah.odr", t.odr);
			want("tah.fce", t.fce);
			want("tah.retry", t.retry);
			want("tah.alloc", t.alloc);
			want("tah.exclusive", t.excl);
			want("tah.mt_en", (ubp_ta_chain(t.op) & UBP_H_MT) != 0);
		}
		maybe("tah.ud", t.ud);
		maybe("tah.taid", t.taid);
		maybe("tah.ofst", t.ofst);
		maybe("tah.mt.hint", t.mt >> 24);
		maybe("tah.mt.type", t.mt >> 20 & 3);
		maybe("tah.mt.tcid", t.mt & UB_MT_ID);
		maybe("tah.addr", t.addr);
		maybe("tah.tokenid", t.token_id);
		maybe("tah.length", t.length);
		maybe("tah.tokenvalue", t.token);
		maybe("tah.imm", t.imm);
		maybe("tah.imm_token", t.imm_token);
		maybe("tah.msg_length", t.imm_len);
		maybe("tah.inv.tokenid", t.imm >> 32);
		maybe("tah.inv.tokenvalue", t.imm & 0xffffffff);
		maybe("tah.ntf.addr", t.ntf_addr);
		maybe("tah.ntf.tokenid", t.ntf_token_id);
		maybe("tah.ntf.tokenvalue", t.ntf_token);
		maybe("tah.ntf.data", t.ntf_data);
		want("payload.length", t.pld_len);
		std::string hex;
		for (u32 i = 0; i < t.pld_len; i++) {
			char b[3];

			std::snprintf(b, sizeof(b), "%02x", t.pld[i]);
			hex += b;
		}
		if (const std::string *f = v().field("uboe.payload"))
			EXPECT_EQ(*f, hex);
	}

	unsigned seen_ = 0;
};

TEST_P(Golden, IcrcIsRight)
{
	u32 n = static_cast<u32>(p().size()) - UB_ICRC_LEN;
	u32 crc = ubp_icrc(p().data(), n);

	EXPECT_EQ(crc, ref::icrc({ p().data(), n }));
	EXPECT_EQ(ubp_icrc_load(p().data() + n, false), crc);
	u8 b[4];
	ubp_icrc_store(b, crc, false);
	EXPECT_EQ(std::memcmp(b, p().data() + n, 4), 0);
	ubp_icrc_store(b, crc, true);
	EXPECT_EQ(ubp_icrc_load(b, true), crc);
}

TEST_P(Golden, ParsesIntoItsFields)
{
	ubp_encap e = encap();
	const u8 *h = p().data() + e.hlen;
	u32 len = e.total - e.hlen - UB_ICRC_LEN;
	ubp_tph t;
	ubp_ta a;

	EXPECT_EQ(e.v4, !v().ipv6());
	EXPECT_EQ(e.total, p().size());
	ubp_tph_parse(h, &t);
	tph(t);
	ASSERT_EQ(ubp_tph_check(&t, h, len), 0u);
	if (!ubp_tph_is_data(&t) || t.fake)
		return;
	ubp_ta_err err = ubp_ta_parse(h + t.hlen, len - t.hlen - t.pad, &a);
	if (!decoded()) {
		EXPECT_EQ(err, UBP_TA_OPCODE);
		want("tah.opcode", a.op);
		want("tah.tassn", a.ssn);
		return;
	}
	ASSERT_EQ(err, UBP_TA_OK);
	ta(a);
	EXPECT_GE(seen_, 10u);
}

TEST_P(Golden, BuildsTheSameBytes)
{
	ubp_encap e = encap();
	const u8 *h = p().data() + e.hlen;
	u32 len = e.total - e.hlen - UB_ICRC_LEN;
	bytes out(p().size());
	ubp_path path{};
	ubp_tph t;
	ubp_ta a;

	ubp_encap_addr(&e, path.laddr, path.raddr);
	path.v4 = e.v4;
	path.sport = e.sport;
	path.dport = UB_UDP_PORT;
	path.tc = e.v4 ? p()[1] : static_cast<u8>(p()[0] << 4 | p()[1] >> 4);
	path.hop = p()[e.v4 ? 8 : 7];
	path.flow = e.v4 ? 0 : get_unaligned_be32(p().data()) & 0xfffff;
	ubp_encap_fill(&path, e.ecn, out.data(), e.total);
	/* the one vector with a checksum: the core never sends any */
	if (v().name.starts_with("outer_udp_csum"))
		std::memcpy(&out[e.hlen - 2], &p()[e.hlen - 2], 2);
	ubp_tph_parse(h, &t);
	u8 *o = out.data() + e.hlen;
	ubp_tph_build(o, &t);
	/* identity headers are read and not sent; what follows a TPACK is the channel's business */
	u32 from = ubp_tph_is_data(&t) ? t.hlen : UB_TPH_LEN;
	std::memcpy(o + UB_TPH_LEN, h + UB_TPH_LEN, from - UB_TPH_LEN);
	if (ubp_tph_is_data(&t) && !t.fake && decoded()) {
		ASSERT_EQ(ubp_ta_parse(h + from, len - from - t.pad, &a), UBP_TA_OK);
		u32 n = ubp_ta_build(o + from, &a);
		EXPECT_EQ(n, ubp_ta_len(&a));
		ASSERT_LE(from + n + a.pld_len, len);
		std::memcpy(o + from + n, a.pld, a.pld_len);
	} else {
		std::memcpy(o + from, h + from, len - from);
	}
	seal(out);
	EXPECT_EQ(out, p());
}

/* Without channels a device drops it for a reason that is not the packet's fault */
TEST_P(Golden, NoDeviceCallsItMalformed)
{
	ubsim::host h;
	moved m(h);
	static const char *const fine[] = { "drop_no_channel", "drop_tpcm_no_jetty",
					    "drop_utp_no_jetty" };
	std::string nlp = *v().field("uboe.tph.nlp");

	h.receive(p());
	std::string got = m.drops();
	if (nlp == "1") {
		/* the default partition, or another one */
		EXPECT_EQ(got,
			  *v().field("uboe.upi") == "1" ?
				  m.by(UBP_D_NO_CHANNEL) ? "drop_no_channel" : "drop_no_target" :
				  "drop_partition");
		return;
	}
	if (v().needs == "prefetch") {
		EXPECT_EQ(got, "drop_ta_header"); /* UTP: nobody to answer */
		return;
	}
	EXPECT_TRUE(got == fine[0] || got == fine[1] || got == fine[2]) << got;
	EXPECT_EQ(m.by(UBP_S_RX_PACKETS), 1u);
	EXPECT_EQ(h.live_packets(), 0u);
}

std::string name_of(const testing::TestParamInfo<golden::vector> &i)
{
	std::string n = i.param.name;

	for (char &c : n)
		if (c == '.' || c == '-')
			c = '_';
	return n;
}

INSTANTIATE_TEST_SUITE_P(Vectors, Golden, testing::ValuesIn(good), name_of);

TEST(Golden, ThereAreMany)
{
	EXPECT_GE(good.size(), 150u);
}

/* ---- malformed ones, through a device with an open channel ---- */

std::string stem(const golden::vector &v)
{
	return v.name.substr(0, v.name.size() - 2);
}

/* The counter that docs/wire.md section 8 names, "answered", or "" for a packet that is taken */
std::string expected(const golden::vector &v)
{
	static const std::map<std::string, std::string> special = {
		{ "truncated_header", "drop_short" },
		{ "sack_tail", "drop_sack_invalid" },
		{ "sack_none", "drop_sack_invalid" },
		{ "sack_short", "drop_sack_invalid" },
		{ "tpack_cc_none", "drop_length" },
		{ "tpack_cc_half", "drop_length" },
		{ "cnp_short", "drop_length" },
		{ "read_payload", "answered" },
		{ "taack_payload", "drop_ta_header" },
		{ "utp_no_tah", "drop_ta_header" },
		{ "no_eidh", "drop_ta_header" },
		{ "half_eidh", "drop_ta_header" },
		{ "read_resp_no_ofst", "drop_ta_header" },
		{ "pad_tpack", "drop_pad" },
		{ "taver2_response", "drop_ta_header" },
	};
	if (v.name == "no_tah_after_eidh.4")
		return "drop_tp_nlp"; /* an EID that is no IPv4 address */
	static const std::map<std::string, std::string> reasons = {
		{ "ip_version", "drop_ip_header" },
		{ "ip_ihl", "drop_ip_header" },
		{ "ip_frag", "drop_ip_header" },
		{ "ip_csum", "" },
		{ "ip_len", "drop_length" },
		{ "udp_len", "drop_length" },
		{ "udp_csum", "drop_udp_csum" },
		{ "short", "drop_short" },
		{ "icrc", "drop_icrc" },
		{ "length", "drop_length" },
		{ "tp_ver", "drop_tp_version" },
		{ "tp_opcode", "drop_tp_opcode" },
		{ "nlp", "drop_tp_nlp" },
		{ "tp_rspst", "drop_tp_status" },
		{ "sack_size", "drop_sack_invalid" },
		{ "truncated", "answered" },
		{ "ta_opcode", "answered" },
		{ "ta_ver", "answered" },
		{ "ta_ee", "answered" },
		{ "ta_mode", "drop_ta_opcode" },
		{ "ta_flags", "answered" },
		{ "ta_rspst", "drop_ta_header" },
		{ "pad", "answered" },
		{ "atomic", "answered" },
		{ "tpcm", "drop_tpcm" },
	};

	if (auto i = special.find(stem(v)); i != special.end())
		return i->second;
	auto i = reasons.find(v.drop);
	return i == reasons.end() ? "unknown reason " + v.drop : i->second;
}

/* Make it a packet of the channel, where its fault leaves that possible */
bytes aim(const golden::vector &v, pair &w)
{
	bytes p = v.packet;
	std::size_t h = tph_at(p);

	if (v.layer != "uboe" || v.drop == "icrc" || v.drop == "short" || v.drop == "ip_ihl" ||
	    v.drop == "ip_frag")
		return p;
	u8 op = p[h] & UB_TPH_OPCODE;
	if (op == UB_TP_UTP_DATA)
		return p;
	ubp_put_be24(w.a.tp()->tpn, &p[h + 2]);
	ubp_put_be24(w.b.tp()->tpn, &p[h + 5]);
	ubp_put_be24(op == UB_TP_RTP_DATA ? w.b.tp()->rcv_nxt : w.b.tp()->snd_una - 1, &p[h + 9]);
	std::size_t tah = h + UB_TPH_LEN;
	if ((p[h + 1] & UB_TPH_NLP) == UB_NLP_IDENT)
		tah += UB_UPIH_LEN + UB_EIDH_LEN;
	if (op == UB_TP_RTP_DATA && p.size() >= tah + UB_BTAH_LEN + UB_ICRC_LEN) {
		ubp_put_be24(w.b.tp()->rsp.exec_msn, &p[h + 13]);
		put_unaligned_be16(w.b.tp()->rsp.exp_ssn, &p[tah + 2]);
	}
	seal(p);
	return p;
}

const std::vector<golden::vector> bad =
	golden::load(UBOE_VECTORS "/bad/malformed.txt").value_or(std::vector<golden::vector>{});

class Malformed : public testing::TestWithParam<golden::vector>
{
};

TEST_P(Malformed, IsDroppedForItsReasonAlone)
{
	const golden::vector &v = GetParam();
	pair w(v.packet[0] >> 4 == 6 || v.ipv6());

	ASSERT_TRUE(w.connect());
	moved m(w.b.h);
	std::string want = expected(v);
	u32 psn = w.b.tp()->rcv_nxt;

	w.b.h.receive(aim(v, w));
	if (want.empty()) {
		/* the IP stack's duty; here it is vector W for another channel */
		EXPECT_EQ(m.drops(), "drop_no_channel");
		return;
	}
	if (want != "answered") {
		EXPECT_EQ(m.drops(), want) << v.title;
		EXPECT_EQ(m.by(UBP_S_REMOTE_ERRORS), 0u);
		EXPECT_EQ(w.b.state(), UBOE_JS_READY);
		return;
	}
	EXPECT_EQ(m.drops(), "") << v.title;
	EXPECT_EQ(m.by(UBP_S_REMOTE_ERRORS), 1u);
	EXPECT_EQ(w.b.tp()->rcv_nxt, ubp_psn_add(psn, 1));
	EXPECT_EQ(w.b.state(), UBOE_JS_ERROR);
	ASSERT_FALSE(w.b.h.out().empty());
	const bytes &o = w.b.h.out().back().data;
	ubp_tph t;
	ubp_tph_parse(&o[tph_at(o)], &t);
	EXPECT_EQ(t.op, UB_TP_ACK);
	EXPECT_EQ(t.psn, psn);
	EXPECT_EQ(t.rspst, UB_RSPST_ERROR);
	EXPECT_EQ(t.rspinfo, UB_RSPINFO_UNSUPPORTED);
}

INSTANTIATE_TEST_SUITE_P(Vectors, Malformed, testing::ValuesIn(bad), name_of);

TEST(Malformed, ThereAreMany)
{
	EXPECT_GE(bad.size(), 200u);
}
} /* namespace */
