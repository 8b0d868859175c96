// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* EIDs from text and numbers, and values as text. */
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>

#include <gtest/gtest.h>

#include "urma/urma_types_str.h"

namespace
{

using eid_bytes = std::array<std::uint8_t, URMA_EID_SIZE>;

eid_bytes bytes_of(const urma_eid_t &eid)
{
	return std::to_array(eid.raw);
}

eid_bytes v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d)
{
	return { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d };
}

/// The EID of a text that is one
eid_bytes parsed(const char *text)
{
	urma_eid_t eid = {};

	EXPECT_EQ(urma_str_to_eid(text, &eid), 0) << text;
	return bytes_of(eid);
}

TEST(UrmaEid, FromANumber)
{
	urma_eid_t eid;

	urma_u32_to_eid(0xc0a80102, &eid);
	EXPECT_EQ(bytes_of(eid), v4(192, 168, 1, 2));
	EXPECT_EQ(eid.in4.reserved, 0u);
}

TEST(UrmaEid, FromText)
{
	const eid_bytes v6 = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 };

	EXPECT_EQ(parsed("fe80::102:304:506:708"), v6);
	EXPECT_EQ(parsed("fe80:0000:0000:0000:0102:0304:0506:0708"), v6);
	EXPECT_EQ(parsed("::ffff:10.0.0.1"), v4(10, 0, 0, 1));
	EXPECT_EQ(parsed("10.0.0.1"), v4(10, 0, 0, 1));
	EXPECT_EQ(parsed("0x0a000001"), v4(10, 0, 0, 1));
	EXPECT_EQ(parsed("0XFFFFFFFF"), v4(255, 255, 255, 255));
	EXPECT_EQ(parsed("167772161"), v4(10, 0, 0, 1));
	EXPECT_EQ(parsed("0400"), v4(0, 0, 1, 0));
}

TEST(UrmaEid, TextThatIsNone)
{
	const eid_bytes before = v4(1, 2, 3, 4);
	urma_eid_t eid;

	for (const char *text : { "", "::", "12", "0x", "0x100000000", "4294967296", "-17", "089",
				  "10.0.0", "10.0.0.256", "fe80::1::2", "17 ", "0x1g", "eid" }) {
		std::copy(before.begin(), before.end(), eid.raw);
		EXPECT_EQ(urma_str_to_eid(text, &eid), -EINVAL) << text;
		EXPECT_EQ(bytes_of(eid), before) << text;
	}
	EXPECT_EQ(urma_str_to_eid(nullptr, &eid), -EINVAL);
	EXPECT_EQ(urma_str_to_eid("10.0.0.1", nullptr), -EINVAL);
}

TEST(UrmaEid, PrintsAsItsLength)
{
	urma_eid_t eid;
	char text[URMA_EID_STR_LEN + 1];

	urma_u32_to_eid(0x7f000001, &eid);
	EXPECT_EQ(std::snprintf(text, sizeof(text), EID_FMT, EID_ARGS(eid)), URMA_EID_STR_LEN);
	EXPECT_STREQ(text, "0000:0000:0000:0000:0000:ffff:7f00:0001");
	EXPECT_EQ(parsed(text), v4(127, 0, 0, 1));
}

TEST(UrmaText, Names)
{
	const union urma_tp_type_en types = {
		.bs = { .rtp = 1, .ctp = 0, .utp = 1, .reserved = 0 }
	};

	EXPECT_STREQ(urma_mtu_to_string(URMA_MTU_4096), "MTU_4096");
	EXPECT_STREQ(urma_port_state_to_string(URMA_PORT_ACTIVE_DEFER), "ACTIVE_DEFER");
	EXPECT_STREQ(urma_speed_to_string(URMA_SP_2_5G), "SP_2.5G");
	EXPECT_STREQ(urma_link_width_to_string(URMA_LINK_X32), "LINK_X32");
	EXPECT_STREQ(urma_tp_type_en_to_string(types), "RTP+UTP");
	EXPECT_STREQ(urma_trans_mode_to_string(URMA_TM_RM), "RM(Reliable message)");
	EXPECT_STREQ(urma_tp_type_to_string(URMA_TRANSPORT_SOFTUB), "SOFTUB");
	EXPECT_STREQ(urma_congestion_ctrl_alg_to_string(URMA_TP_CC_CAQM), "CAQM");
	EXPECT_STREQ(urma_jfc_state_to_string(URMA_JFC_STATE_VALID), "VALID");
	EXPECT_STREQ(urma_jetty_state_to_string(URMA_JETTY_STATE_SUSPENDED), "SUSPENDED");
	EXPECT_STREQ(urma_jfr_state_to_string(URMA_JFR_STATE_ERROR), "ERROR");
}

TEST(UrmaText, EveryFeatureHasOne)
{
	for (std::uint8_t bit = 0; bit < URMA_DEVICE_FEAT_NUM; bit++)
		EXPECT_STRNE(urma_device_feat_to_string(bit), "Invalid Value") << unsigned(bit);
	for (std::uint8_t bit = 0; bit < URMA_ATOMIC_FEAT_NUM; bit++)
		EXPECT_STRNE(urma_atomic_feat_to_string(bit), "Invalid Value") << unsigned(bit);
	EXPECT_STREQ(urma_device_feat_to_string(19), "UBOE");
	EXPECT_STREQ(urma_device_feat_to_string(URMA_DEVICE_FEAT_NUM), "Invalid Value");
	EXPECT_STREQ(urma_atomic_feat_to_string(URMA_ATOMIC_FEAT_NUM), "Invalid Value");
	EXPECT_STREQ(urma_link_width_to_string(static_cast<urma_link_width_t>(3)), "Invalid Value");
}

} // namespace
