// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Sequence numbers, IP and UDP headers, ICRC. */
#include <algorithm>

#include <gtest/gtest.h>

#include "ref_icrc.hpp"
#include "rig.hpp"

using namespace rig;

namespace
{
TEST(Psn, WrapsAtTwentyFourBits)
{
	EXPECT_EQ(ubp_psn_add(0xffffff, 1), 0u);
	EXPECT_EQ(ubp_psn_add(0, UB_PSN_MASK), 0xffffffu);
	EXPECT_EQ(ubp_psn_add(0x800000, 0x800000), 0u);
	EXPECT_EQ(ubp_psn_diff(0, 0xffffff), 1);
	EXPECT_EQ(ubp_psn_diff(0xffffff, 0), -1);
	EXPECT_EQ(ubp_psn_diff(5, 5), 0);
	EXPECT_EQ(ubp_psn_diff(0x7fffff, 0), 0x7fffff);
	EXPECT_EQ(ubp_psn_diff(0x800000, 0), -0x800000);
	/* bits above the field do not count */
	EXPECT_EQ(ubp_psn_diff(0x1000005, 5), 0);
	EXPECT_TRUE(ubp_psn_before(0xfffffe, 1));
	EXPECT_FALSE(ubp_psn_before(1, 0xfffffe));
	EXPECT_FALSE(ubp_psn_before(7, 7));
}

TEST(Psn, DifferenceUndoesAddition)
{
	for (u32 a : { 0u, 1u, 0x7fffffu, 0x800000u, 0xfffffeu, 0xffffffu })
		for (s32 n : { 0, 1, 2, 64, 2048, 0x7fffff, -1, -2048, -0x800000 })
			EXPECT_EQ(ubp_psn_diff(ubp_psn_add(a, static_cast<u32>(n)), a), n) << a;
}

TEST(Psn, TassnIsSixteenBits)
{
	EXPECT_EQ(ubp_ssn_diff(0, 0xffff), 1);
	EXPECT_EQ(ubp_ssn_diff(0xffff, 0), -1);
	EXPECT_EQ(ubp_ssn_diff(0x8000, 0), -0x8000);
	EXPECT_EQ(ubp_ssn_diff(3, 3), 0);
}

class Encap : public testing::TestWithParam<bool>
{
      protected:
	bytes make(u32 body = 32)
	{
		ubp_path path{};

		path.v4 = !GetParam();
		std::memcpy(path.laddr, addr(GetParam(), 1).b.data(), 16);
		std::memcpy(path.raddr, addr(GetParam(), 2).b.data(), 16);
		path.sport = 50000;
		path.dport = UB_UDP_PORT;
		path.tc = 0x2c;
		path.hop = 17;
		path.flow = 0x12345;
		bytes p(ubp_encap_len(&path) + body);
		for (u32 i = 0; i < body; i++)
			p[p.size() - body + i] = static_cast<u8>(i * 3 + 1);
		ubp_encap_fill(&path, UB_ECN_ECT0, p.data(), static_cast<u32>(p.size()));
		return p;
	}

	u32 check(const bytes &p, bool csum = true, u16 port = UB_UDP_PORT)
	{
		ubp_config cfg;

		ubp_config_defaults(&cfg);
		cfg.udp_port = port;
		/* a buffer of its own, so that a sanitizer sees what lies behind it */
		std::unique_ptr<u8[]> copy(new u8[p.empty() ? 1 : p.size()]);
		std::copy(p.begin(), p.end(), copy.get());
		u32 err = ubp_encap_check(&cfg, copy.get(), static_cast<u32>(p.size()), &e);
		return !err && csum && !ubp_encap_csum_ok(copy.get(), &e) ? UBP_D_UDP_CSUM : err;
	}

	std::size_t udp() { return GetParam() ? 40 : 20; }
	std::size_t len_at() { return GetParam() ? 4 : 2; }
	void add16(bytes &p, std::size_t at, int n)
	{
		put_unaligned_be16(static_cast<u16>(get_unaligned_be16(&p[at]) + n), &p[at]);
	}

	ubp_encap e{};
};

TEST_P(Encap, WhatIsFilledIsAccepted)
{
	bytes p = make();

	ASSERT_EQ(check(p), 0u);
	EXPECT_EQ(e.total, p.size());
	EXPECT_EQ(e.hlen, udp() + 8);
	EXPECT_EQ(e.sport, 50000);
	EXPECT_EQ(e.ecn, UB_ECN_ECT0);
	EXPECT_EQ(e.v4, !GetParam());
}

/* The draft's tables, row by row */

TEST_P(Encap, EveryFieldOfIpv4)
{
	const bytes p = make();

	if (GetParam())
		return;
	EXPECT_EQ(p[0], 0x45); /* version, IHL */
	EXPECT_EQ(p[1] >> 2, 0x2c >> 2); /* DSCP */
	EXPECT_EQ(p[1] & 3, UB_ECN_ECT0);
	EXPECT_EQ(get_unaligned_be16(&p[2]), p.size());
	EXPECT_EQ(get_unaligned_be16(&p[4]), 0);
	EXPECT_EQ(p[6] >> 5, 2); /* flags 010 */
	EXPECT_EQ(get_unaligned_be16(&p[6]) & 0x1fff, 0);
	EXPECT_EQ(p[8], 17); /* TTL of the path */
	EXPECT_EQ(p[9], 0x11);
	EXPECT_EQ(std::memcmp(&p[12], addr(false, 1).b.data() + 12, 4), 0);
	EXPECT_EQ(std::memcmp(&p[16], addr(false, 2).b.data() + 12, 4), 0);
}

TEST_P(Encap, EveryFieldOfIpv6)
{
	const bytes p = make();

	if (!GetParam())
		return;
	const u32 first = get_unaligned_be32(p.data());

	EXPECT_EQ(first >> 28, 6u);
	EXPECT_EQ(first >> 22 & 0x3f, 0x2cu >> 2); /* DSCP */
	EXPECT_EQ(first >> 20 & 3, u32{ UB_ECN_ECT0 });
	EXPECT_EQ(first & 0xfffff, 0x12345u); /* flow label of the path */
	EXPECT_EQ(get_unaligned_be16(&p[4]), p.size() - 40);
	EXPECT_EQ(p[6], 0x11);
	EXPECT_EQ(p[7], 17);
	EXPECT_EQ(std::memcmp(&p[8], addr(true, 1).b.data(), 16), 0);
	EXPECT_EQ(std::memcmp(&p[24], addr(true, 2).b.data(), 16), 0);
}

TEST_P(Encap, EveryFieldOfUdp)
{
	const bytes p = make();
	const u8 *u = &p[udp()];

	EXPECT_EQ(get_unaligned_be16(u), 50000); /* of the path: one for each channel */
	EXPECT_EQ(get_unaligned_be16(u + 2), 4792);
	EXPECT_EQ(get_unaligned_be16(u + 4), p.size() - udp());
	EXPECT_EQ(get_unaligned_be16(u + 6), 0);
}

TEST_P(Encap, AddressesMatchTheChannel)
{
	bytes p = make();
	ubp_path path{};
	u8 s[16], d[16];

	ubp_config cfg;
	ubp_config_defaults(&cfg);
	ASSERT_EQ(ubp_encap_check(&cfg, p.data(), static_cast<u32>(p.size()), &e), 0u);
	ubp_encap_addr(&e, s, d);
	EXPECT_EQ(std::memcmp(s, addr(GetParam(), 1).b.data(), 16), 0);
	EXPECT_EQ(std::memcmp(d, addr(GetParam(), 2).b.data(), 16), 0);
	/* the receiver's channel has the peer as remote end */
	path.v4 = !GetParam();
	std::memcpy(path.laddr, d, 16);
	std::memcpy(path.raddr, s, 16);
	EXPECT_TRUE(ubp_encap_match(&e, &path));
	path.laddr[15] ^= 1;
	EXPECT_FALSE(ubp_encap_match(&e, &path));
	path.laddr[15] ^= 1;
	path.raddr[15] ^= 1;
	EXPECT_FALSE(ubp_encap_match(&e, &path));
	path.raddr[15] ^= 1;
	path.v4 = !path.v4;
	EXPECT_FALSE(ubp_encap_match(&e, &path));
}

TEST_P(Encap, EveryCutIsNoticed)
{
	bytes p = make();

	for (std::size_t n = 0; n < p.size(); n++) {
		bytes cut(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(n));
		EXPECT_EQ(check(cut), n < udp() + 8 ? UBP_D_SHORT : UBP_D_LENGTH) << n;
	}
	p.insert(p.end(), 46, 0); /* Ethernet pads short frames */
	EXPECT_EQ(check(p), 0u);
	EXPECT_EQ(e.total, udp() + 8 + 32);
}

TEST_P(Encap, LengthsMustAgree)
{
	for (int d : { -4, -1, 1, 4 }) {
		bytes p = make();
		add16(p, udp() + 4, d);
		EXPECT_EQ(check(p), UBP_D_LENGTH) << d;
		p = make();
		add16(p, len_at(), d);
		EXPECT_EQ(check(p), UBP_D_LENGTH) << d;
	}
	for (u16 n : { 0, 1, 7, 8, 27 }) {
		bytes p = make();
		put_unaligned_be16(static_cast<u16>(n + (GetParam() ? 0 : 20)), &p[len_at()]);
		put_unaligned_be16(n, &p[udp() + 4]);
		EXPECT_EQ(check(p), UBP_D_SHORT) << n;
	}
	for (u32 odd : { 1u, 2u, 3u })
		EXPECT_EQ(check(make(32 + odd)), UBP_D_LENGTH);
	EXPECT_EQ(check(make(UB_TPH_LEN + UB_ICRC_LEN)), 0u);
}

TEST_P(Encap, OtherPortsAreNotOurs)
{
	bytes p = make();

	put_unaligned_be16(4791, &p[udp() + 2]);
	EXPECT_EQ(check(p), UBP_D_UDP_PORT);
	EXPECT_EQ(check(p, true, 4791), 0u);
	EXPECT_EQ(check(make(), true, 4791), UBP_D_UDP_PORT);
}

TEST_P(Encap, ChecksumIsVerifiedWhenSetAndWanted)
{
	bytes p = make();
	u32 sum = 17 + static_cast<u32>(p.size() - udp());
	std::size_t from = GetParam() ? 8 : 12;

	for (std::size_t i = from; i < p.size(); i += 2)
		sum += get_unaligned_be16(&p[i]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	put_unaligned_be16(static_cast<u16>(~sum), &p[udp() + 6]);
	EXPECT_EQ(check(p), 0u);
	p[udp() + 6] ^= 0x80;
	EXPECT_EQ(check(p), UBP_D_UDP_CSUM);
	EXPECT_EQ(check(p, false), 0u);
	p[udp() + 6] = p[udp() + 7] = 0;
	EXPECT_EQ(check(p), 0u);
}

TEST_P(Encap, HeaderRules)
{
	for (unsigned version = 0; version < 16; version++) {
		bytes p = make();
		p[0] = static_cast<u8>(version << 4 | (p[0] & 15));
		if (version != 4 && version != 6)
			EXPECT_EQ(check(p), UBP_D_IP_HEADER) << version;
	}
	bytes p = make();
	p[GetParam() ? 6 : 9] = 6;
	EXPECT_EQ(check(p), UBP_D_IP_HEADER);
	if (GetParam()) {
		p[6] = 44;
		EXPECT_EQ(check(p), UBP_D_IP_HEADER);
		return;
	}
	for (unsigned ihl = 0; ihl < 16; ihl++) {
		p = make();
		p[0] = static_cast<u8>(0x40 | ihl);
		EXPECT_EQ(check(p), ihl == 5 ? 0u : UBP_D_IP_HEADER);
	}
	for (unsigned bit = 0; bit < 16; bit++) {
		p = make();
		put_unaligned_be16(static_cast<u16>(1u << bit), &p[6]);
		EXPECT_EQ(check(p), bit == 14 ? 0u : UBP_D_IP_HEADER) << bit; /* DF alone */
	}
}

TEST_P(Encap, Ipv4HeaderChecksumIsRight)
{
	bytes p = make();
	u32 sum = 0;

	if (GetParam())
		return;
	for (std::size_t i = 0; i < 20; i += 2)
		sum += get_unaligned_be16(&p[i]);
	EXPECT_EQ((sum & 0xffff) + (sum >> 16), 0xffffu);
}

/* Every bit that the ICRC covers changes it, and no other bit does */
TEST_P(Encap, IcrcCoversWhatItShould)
{
	bytes p = make(12);
	u32 n = static_cast<u32>(p.size()), crc = ubp_icrc(p.data(), n);

	EXPECT_EQ(crc, ref::icrc({ p.data(), n }));
	for (std::size_t i = 0; i < n * 8; i++) {
		bytes f = p;
		u8 bit = static_cast<u8>(1u << (i % 8));

		if (i / 8 == 0 && bit & 0xf0)
			continue; /* another IP version is another packet */
		f[i / 8] ^= bit;
		bool masked = ref::icrc_mask(GetParam(), i / 8) & bit;
		EXPECT_EQ(ubp_icrc(f.data(), n) == crc, masked) << i;
	}
}

INSTANTIATE_TEST_SUITE_P(Ip, Encap, testing::Bool(),
			 [](const auto &i) { return std::string(i.param ? "v6" : "v4"); });

TEST(Tph, ReservedStatusesAreRefused)
{
	for (unsigned op = 0; op < 128; op++) {
		for (unsigned st = 0; st < 256; st++) {
			u8 p[UB_TPH_LEN + UB_CNP_CETPH_LEN] = { static_cast<u8>(op) };
			ubp_tph t;

			p[12] = static_cast<u8>(st);
			ubp_tph_parse(p, &t);
			u32 len = UB_TPH_LEN;
			if (op == UB_TP_ACK_CC)
				len += UB_CETPH_LEN;
			else if (op == UB_TP_CNP)
				len += UB_CNP_CETPH_LEN;
			u32 err = ubp_tph_check(&t, p, len);
			if (op == UB_TP_ACK || op == UB_TP_ACK_CC) {
				unsigned a = st >> 5, i = st & 31;
				bool good = a == 0 || ((a == 1 || a == 2) && i <= 19) ||
					    ((a == 3 || a == 5) && i <= 2);
				EXPECT_EQ(err, good ? 0u : UBP_D_TP_STATUS) << st;
			} else if (op == UB_TP_SACK || op == UB_TP_SACK_CC) {
				EXPECT_EQ(err, UBP_D_SACK_INVALID);
			} else if (op <= 1 || op == UB_TP_CNP) {
				EXPECT_EQ(err, 0u) << op;
			} else {
				EXPECT_EQ(err, UBP_D_TP_OPCODE) << op;
			}
		}
	}
}

/* Parsing never looks behind the end, whatever the opcode and the flags say */
TEST(Ta, EveryOpcodeAtEveryLength)
{
	for (unsigned op = 0; op < 256; op++) {
		for (unsigned flags = 0; flags < 256; flags++) {
			for (u32 len = 0; len < 80; len += 4) {
				std::unique_ptr<u8[]> p(new u8[len ? len : 1]);
				ubp_ta t;

				std::memset(p.get(), 0x10, len ? len : 1);
				p[0] = static_cast<u8>(op);
				if (len > 4) {
					p[1] = static_cast<u8>(flags);
					p[4] = static_cast<u8>(flags * 7);
				}
				if (ubp_ta_parse(p.get(), len, &t) != UBP_TA_OK)
					continue;
				ASSERT_LE(ubp_ta_len(&t) + t.pld_len, len);
				ASSERT_EQ(t.pld + t.pld_len, p.get() + len);
				/* and it survives the way back */
				u8 out[128];
				ASSERT_EQ(ubp_ta_build(out, &t), len - t.pld_len);
				ubp_ta u;
				ASSERT_EQ(ubp_ta_parse(out, len - t.pld_len, &u), UBP_TA_OK);
				EXPECT_EQ(u.rcid, t.rcid);
				EXPECT_EQ(u.addr, t.addr);
				EXPECT_EQ(u.token, t.token);
			}
		}
	}
}

TEST(Mtu, LargestPayloadThatALinkCarries)
{
	EXPECT_EQ(ubp_mtu_for_link(0), 0u);
	EXPECT_EQ(ubp_mtu_for_link(1100), 0u);
	EXPECT_EQ(ubp_mtu_for_link(1500), 1024u);
	EXPECT_EQ(ubp_mtu_for_link(4500), 4096u);
	EXPECT_EQ(ubp_mtu_for_link(9000), 8192u);
	EXPECT_EQ(ubp_mtu_for_link(65536), 8192u);
}

TEST(RnrTimer, NotShorterThanThatOfVerbs)
{
	EXPECT_EQ(ubp_rnr_code(1), 3u); /* 10 us: 16 us */
	EXPECT_EQ(ubp_rnr_code(12), 9u); /* 640 us: 1024 us */
	EXPECT_EQ(ubp_rnr_code(31), 18u); /* 491.52 ms: 524.288 ms */
	EXPECT_EQ(ubp_rnr_code(0), 19u); /* 655.36 ms: 1048.576 ms */
}
} /* namespace */
