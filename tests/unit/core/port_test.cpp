// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A port of a UB domain: what goes before an IP packet, and what is refused before it is read. */
#include <gtest/gtest.h>

#include "rmnet.hpp"

extern "C" {
#include "ubp_native.h"
}

using namespace rig;

namespace
{

ubp_config in(std::uint32_t npi)
{
	ubp_config c = ubsim::host::small_config();

	c.npi = npi;
	return c;
}

/* IP and UDP headers of a packet that is no more than that */
bytes packet(bool v4)
{
	const std::size_t hlen = ubp_ip_hlen(v4) + UB_UDP_LEN;
	bytes p(hlen + UB_TPH_LEN + UB_ICRC_LEN);

	p[0] = v4 ? 0x45 : 0x60;
	if (v4)
		put_unaligned_be16(static_cast<u16>(p.size()), &p[2]);
	else
		put_unaligned_be16(static_cast<u16>(p.size() - UB_IPV6_LEN), &p[4]);
	p[v4 ? 9 : 6] = 17;
	put_unaligned_be16(UB_UDP_PORT, &p[hlen - 6]);
	put_unaligned_be16(static_cast<u16>(p.size() - hlen + UB_UDP_LEN), &p[hlen - 4]);
	return p;
}

bytes framed(ubsim::host &h, const bytes &ip)
{
	bytes f(UB_NATIVE_LEN);

	f.insert(f.end(), ip.begin(), ip.end());
	ubp_tx_native(h.dev(), &f[UB_NATIVE_LEN], static_cast<u32>(ip.size()), 0);
	return f;
}

/* Counters that go up when the packet comes */
std::string refused(ubsim::host &h, const bytes &frame)
{
	std::vector<std::uint64_t> before;
	std::string names;

	for (unsigned i = 0; i < UBP_S_MAX; i++)
		before.push_back(h.stat(i));
	ubp_rxpkt pkt{};
	pkt.data = frame.data();
	pkt.len = static_cast<u32>(frame.size());
	EXPECT_FALSE(ubp_rx_native(h.dev(), &pkt));
	for (unsigned i = 0; i < UBP_S_MAX; i++)
		if (h.stat(i) != before[i] && i != UBP_S_RX_INVALID)
			names += ubp_stat_name(i);
	return names;
}

TEST(UbPort, HeadersOfWhatLeaves)
{
	ubsim::host h(in(0xabcdef | UB_NPI_LOW));

	for (bool v4 : { true, false })
		for (u8 ecn = 0; ecn < 4; ecn++) {
			bytes ip = packet(v4);
			ubp_native n{};

			ip[1] = v4 ? ecn : static_cast<u8>(ecn << 4);
			const bytes f = framed(h, ip);
			ASSERT_EQ(ubp_native_check(f.data(), static_cast<u32>(f.size()), &n),
				  UBP_NATIVE_OK);
			EXPECT_EQ(n.len, f.size());
			EXPECT_EQ(n.npi, 0xabcdefu | UB_NPI_LOW);
			EXPECT_EQ(n.cci, ecn ? 0x8002 : 0x8000); /* FECN mode, LoC 0 */
			EXPECT_EQ(n.cfg, v4 ? UB_CFG_IPV4 : UB_CFG_IPV6);
			EXPECT_EQ(n.rt, UB_RT_DEFAULT);
			EXPECT_EQ(n.vl, 0);
			EXPECT_TRUE(std::equal(ip.begin(), ip.end(), f.begin() + UB_NATIVE_LEN));
		}
}

TEST(UbPort, EachReasonHasItsCounter)
{
	ubsim::host h(in(7));
	const bytes good = framed(h, packet(true));
	const auto with = [&](std::size_t at, u8 value) {
		bytes f = good;

		f[at] = value;
		return f;
	};

	/* what is right so far goes on: its ICRC is wrong */
	EXPECT_EQ(refused(h, good), "drop_icrc");
	EXPECT_EQ(refused(h, {}), "drop_short");
	EXPECT_EQ(refused(h, bytes(good.begin(), good.begin() + 37)), "drop_short");
	EXPECT_EQ(refused(h, bytes(good.begin(), good.begin() + 40)), "drop_length");
	EXPECT_EQ(refused(h, with(1, UB_CFG_CONTROL)), "drop_link_cfg");
	EXPECT_EQ(refused(h, with(1, 9)), "drop_link_cfg");
	EXPECT_EQ(refused(h, with(1, UB_CFG_IPV6)), "drop_ip_header");
	EXPECT_EQ(refused(h, with(3, 0x1f)), "drop_length");
	EXPECT_EQ(refused(h, with(9, 8)), "drop_partition");
	EXPECT_EQ(refused(h, with(9, 0)), "drop_partition");
	EXPECT_EQ(refused(h, with(6, 1)), "drop_icrc"); /* low to high */
}

TEST(UbPort, LowDoesNotHearLow)
{
	ubsim::host h(in(7 | UB_NPI_LOW));
	bytes f = framed(h, packet(false));

	EXPECT_EQ(refused(h, f), "drop_privilege");
	f[6] = 0;
	EXPECT_EQ(refused(h, f), "drop_icrc");
}
} // namespace
