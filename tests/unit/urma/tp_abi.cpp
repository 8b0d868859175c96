// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* TPs and addresses: layout. */
#include "abi.hpp"

// urma_types_tp.h
TYPE(union urma_tp_cfg_flag, urma_tp_cfg_flag_t, 4);
PART(urma_tp_cfg_flag_t, 0, bs, 4);
FIELD(urma_tp_cfg_flag_t, 0, value, uint32_t);

TYPE(struct urma_tp_cfg, urma_tp_cfg_t, 16);
FIELD(urma_tp_cfg_t, 0, flag, urma_tp_cfg_flag_t);
FIELD(urma_tp_cfg_t, 4, trans_mode, urma_transport_mode_t);
FIELD(urma_tp_cfg_t, 8, retry_num, uint8_t);
FIELD(urma_tp_cfg_t, 9, retry_factor, uint8_t);
FIELD(urma_tp_cfg_t, 10, ack_timeout, uint8_t);
FIELD(urma_tp_cfg_t, 11, dscp, uint8_t);
FIELD(urma_tp_cfg_t, 12, oor_cnt, uint32_t);

TYPE(union urma_tp_attr_mask, urma_tp_attr_mask_t, 4);
PART(urma_tp_attr_mask_t, 0, bs, 4);
FIELD(urma_tp_attr_mask_t, 0, value, uint32_t);

TYPE(union urma_tp_mod_flag, urma_tp_mod_flag_t, 4);
PART(urma_tp_mod_flag_t, 0, bs, 4);
FIELD(urma_tp_mod_flag_t, 0, value, uint32_t);

TYPE(struct urma_net_addr, urma_net_addr_t, 48);
FIELD(urma_net_addr_t, 0, sin_family, sa_family_t);
FIELD(urma_net_addr_t, 4, in4, struct in_addr);
FIELD(urma_net_addr_t, 4, in6, struct in6_addr);
FIELD(urma_net_addr_t, 24, vlan, uint64_t);
FIELD(urma_net_addr_t, 32, mac, uint8_t[6]);
FIELD(urma_net_addr_t, 40, prefix_len, uint32_t);

TYPE(struct urma_net_addr_info, urma_net_addr_info_t, 56);
FIELD(urma_net_addr_info_t, 0, netaddr, urma_net_addr_t);
FIELD(urma_net_addr_info_t, 48, index, uint32_t);

TYPE(struct urma_tp_attr, urma_tp_attr_t, 112);
FIELD(urma_tp_attr_t, 0, flag, urma_tp_mod_flag_t);
FIELD(urma_tp_attr_t, 4, peer_tpn, uint32_t);
FIELD(urma_tp_attr_t, 8, state, urma_tp_state_t);
FIELD(urma_tp_attr_t, 12, tx_psn, uint32_t);
FIELD(urma_tp_attr_t, 16, rx_psn, uint32_t);
FIELD(urma_tp_attr_t, 20, mtu, urma_mtu_t);
FIELD(urma_tp_attr_t, 24, cc_pattern_idx, uint8_t);
FIELD(urma_tp_attr_t, 28, oos_cnt, uint32_t);
FIELD(urma_tp_attr_t, 32, local_net_addr_idx, uint32_t);
FIELD(urma_tp_attr_t, 40, peer_net_addr, urma_net_addr_t);
FIELD(urma_tp_attr_t, 88, data_udp_start, uint16_t);
FIELD(urma_tp_attr_t, 90, ack_udp_start, uint16_t);
FIELD(urma_tp_attr_t, 92, udp_range, uint8_t);
FIELD(urma_tp_attr_t, 93, hop_limit, uint8_t);
FIELD(urma_tp_attr_t, 96, flow_label, uint32_t);
FIELD(urma_tp_attr_t, 100, port_id, uint8_t);
FIELD(urma_tp_attr_t, 101, mn, uint8_t);
FIELD(urma_tp_attr_t, 104, peer_trans_type, urma_transport_type_t);

TYPE(union urma_get_tp_cfg_flag, urma_get_tp_cfg_flag_t, 4);
PART(urma_get_tp_cfg_flag_t, 0, bs, 4);
FIELD(urma_get_tp_cfg_flag_t, 0, value, uint32_t);

TYPE(struct urma_get_tp_cfg, urma_get_tp_cfg_t, 40);
FIELD(urma_get_tp_cfg_t, 0, flag, urma_get_tp_cfg_flag_t);
FIELD(urma_get_tp_cfg_t, 4, trans_mode, urma_transport_mode_t);
FIELD(urma_get_tp_cfg_t, 8, local_eid, urma_eid_t);
FIELD(urma_get_tp_cfg_t, 24, peer_eid, urma_eid_t);

TYPE(struct urma_tp_info, urma_tp_info_t, 8);
FIELD(urma_tp_info_t, 0, tp_handle, uint64_t);

TYPE(struct urma_active_tp_attr, urma_active_tp_attr_t, 16);
FIELD(urma_active_tp_attr_t, 0, tx_psn, uint32_t);
FIELD(urma_active_tp_attr_t, 4, rx_psn, uint32_t);
FIELD(urma_active_tp_attr_t, 8, reserved, uint64_t);

TYPE(struct urma_active_tp_cfg, urma_active_tp_cfg_t, 40);
FIELD(urma_active_tp_cfg_t, 0, tp_handle, uint64_t);
FIELD(urma_active_tp_cfg_t, 8, peer_tp_handle, uint64_t);
FIELD(urma_active_tp_cfg_t, 16, tag, uint64_t);
FIELD(urma_active_tp_cfg_t, 24, tp_attr, urma_active_tp_attr_t);

TYPE(struct urma_tp_attr_value, urma_tp_attr_value_t, 128);
FIELD(urma_tp_attr_value_t, 1, sip, uint8_t[16]);
FIELD(urma_tp_attr_value_t, 17, dip, uint8_t[16]);
FIELD(urma_tp_attr_value_t, 33, sma, uint8_t[6]);
FIELD(urma_tp_attr_value_t, 39, dma, uint8_t[6]);
FIELD(urma_tp_attr_value_t, 49, ttl, uint8_t);
FIELD(urma_tp_attr_value_t, 50, ack_udp_srcport, uint16_t);
FIELD(urma_tp_attr_value_t, 52, data_udp_srcport, uint16_t);
FIELD(urma_tp_attr_value_t, 55, sl_bitmap, uint16_t);
FIELD(urma_tp_attr_value_t, 58, reserved, uint8_t[70]);

namespace
{

TEST(UrmaAbiBits, TpCfgFlag)
{
	BITS(urma_tp_cfg_flag_t, 0, bs.target, uint32_t, 1);
	BITS(urma_tp_cfg_flag_t, 1, bs.loopback, uint32_t, 1);
	BITS(urma_tp_cfg_flag_t, 2, bs.dca_enable, uint32_t, 1);
	BITS(urma_tp_cfg_flag_t, 3, bs.bonding, uint32_t, 1);
	BITS(urma_tp_cfg_flag_t, 4, bs.reserved, uint32_t, 28);
}

TEST(UrmaAbiBits, TpAttrMask)
{
	BITS(urma_tp_attr_mask_t, 0, bs.flag, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 1, bs.peer_tpn, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 2, bs.state, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 3, bs.tx_psn, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 4, bs.rx_psn, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 5, bs.mtu, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 6, bs.cc_pattern_idx, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 7, bs.oos_cnt, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 8, bs.local_net_addr_idx, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 9, bs.peer_net_addr, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 10, bs.data_udp_start, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 11, bs.ack_udp_start, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 12, bs.udp_range, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 13, bs.hop_limit, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 14, bs.flow_label, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 15, bs.port_id, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 16, bs.mn, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 17, bs.peer_trans_type, uint32_t, 1);
	BITS(urma_tp_attr_mask_t, 18, bs.reserved, uint32_t, 14);
}

TEST(UrmaAbiBits, TpModFlag)
{
	BITS(urma_tp_mod_flag_t, 0, bs.oor_en, uint32_t, 1);
	BITS(urma_tp_mod_flag_t, 1, bs.sr_en, uint32_t, 1);
	BITS(urma_tp_mod_flag_t, 2, bs.cc_en, uint32_t, 1);
	BITS(urma_tp_mod_flag_t, 3, bs.cc_alg, uint32_t, 4);
	BITS(urma_tp_mod_flag_t, 7, bs.spray_en, uint32_t, 1);
	BITS(urma_tp_mod_flag_t, 8, bs.clan, uint32_t, 1);
	BITS(urma_tp_mod_flag_t, 9, bs.reserved, uint32_t, 23);
}

TEST(UrmaAbiBits, GetTpCfgFlag)
{
	BITS(urma_get_tp_cfg_flag_t, 0, bs.ctp, uint32_t, 1);
	BITS(urma_get_tp_cfg_flag_t, 1, bs.rtp, uint32_t, 1);
	BITS(urma_get_tp_cfg_flag_t, 2, bs.utp, uint32_t, 1);
	BITS(urma_get_tp_cfg_flag_t, 3, bs.uboe, uint32_t, 1);
	BITS(urma_get_tp_cfg_flag_t, 4, bs.pre_defined, uint32_t, 1);
	BITS(urma_get_tp_cfg_flag_t, 5, bs.dynamic_defined, uint32_t, 1);
	BITS(urma_get_tp_cfg_flag_t, 6, bs.udp, uint32_t, 5);
	BITS(urma_get_tp_cfg_flag_t, 11, bs.group_id, uint32_t, 15);
	BITS(urma_get_tp_cfg_flag_t, 26, bs.reserved, uint32_t, 6);
}

TEST(UrmaAbiBits, TpAttrValue)
{
	BITS(urma_tp_attr_value_t, 0, retry_times_init, uint8_t, 3);
	BITS(urma_tp_attr_value_t, 3, at, uint8_t, 5);
	BITS(urma_tp_attr_value_t, 360, vlan_id, uint16_t, 12);
	BITS(urma_tp_attr_value_t, 372, vlan_en, uint8_t, 1);
	BITS(urma_tp_attr_value_t, 373, dscp, uint8_t, 6);
	BITS(urma_tp_attr_value_t, 379, at_times, uint8_t, 5);
	BITS(urma_tp_attr_value_t, 384, sl, uint8_t, 4);
	BITS(urma_tp_attr_value_t, 432, udp_srcport_range, uint8_t, 4);
	BITS(urma_tp_attr_value_t, 436, spray_en, uint8_t, 1);
	BITS(urma_tp_attr_value_t, 437, udp_global_en, uint8_t, 1);
	BITS(urma_tp_attr_value_t, 438, reserve_0, uint8_t, 2);
	BITS(urma_tp_attr_value_t, 456, dscp_config_mode, uint8_t, 1);
	BITS(urma_tp_attr_value_t, 457, reserve_1, uint8_t, 7);
}

} // namespace
