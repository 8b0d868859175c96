// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Devices, EIDs and contexts: layout. */
#include "abi.hpp"

// urma_types_dev.h
TYPE(struct urma_init_attr, urma_init_attr_t, 16);
FIELD(urma_init_attr_t, 0, token, uint64_t);
FIELD(urma_init_attr_t, 8, uasid, uint32_t);

TYPE(union urma_eid, urma_eid_t, 16);
FIELD(urma_eid_t, 0, raw, uint8_t[16]);
PART(urma_eid_t, 0, in4, 16);
FIELD(urma_eid_t, 0, in4.reserved, uint64_t);
FIELD(urma_eid_t, 8, in4.prefix, uint32_t);
FIELD(urma_eid_t, 12, in4.addr, uint32_t);
PART(urma_eid_t, 0, in6, 16);
FIELD(urma_eid_t, 0, in6.subnet_prefix, uint64_t);
FIELD(urma_eid_t, 8, in6.interface_id, uint64_t);

TYPE(struct urma_ref, urma_ref_t, 8);
FIELD(urma_ref_t, 0, atomic_cnt, std::atomic_ulong);

TYPE(struct urma_port_attr, urma_port_attr_t, 20);
FIELD(urma_port_attr_t, 0, max_mtu, urma_mtu_t);
FIELD(urma_port_attr_t, 4, state, urma_port_state_t);
FIELD(urma_port_attr_t, 8, active_width, urma_link_width_t);
FIELD(urma_port_attr_t, 12, active_speed, urma_speed_t);
FIELD(urma_port_attr_t, 16, active_mtu, urma_mtu_t);

TYPE(union urma_tp_type_en, union urma_tp_type_en, 4);
PART(union urma_tp_type_en, 0, bs, 4);
FIELD(union urma_tp_type_en, 0, value, uint32_t);

TYPE(struct urma_sl_info, struct urma_sl_info, 8);
FIELD(struct urma_sl_info, 0, SL, uint32_t);
FIELD(struct urma_sl_info, 4, tp_type, union urma_tp_type_en);

TYPE(union urma_device_feature, urma_device_feature_t, 4);
PART(urma_device_feature_t, 0, bs, 4);
FIELD(urma_device_feature_t, 0, value, uint32_t);

TYPE(union urma_atomic_feature, urma_atomic_feature_t, 4);
PART(urma_atomic_feature_t, 0, bs, 4);
FIELD(urma_atomic_feature_t, 0, value, uint32_t);

TYPE(union urma_order_type_cap, urma_order_type_cap_t, 4);
PART(urma_order_type_cap_t, 0, bs, 4);
FIELD(urma_order_type_cap_t, 0, value, uint32_t);

TYPE(union urma_tp_type_cap, urma_tp_type_cap_t, 4);
PART(urma_tp_type_cap_t, 0, bs, 4);
FIELD(urma_tp_type_cap_t, 0, value, uint32_t);

TYPE(union urma_tp_feature, urma_tp_feature_t, 4);
PART(urma_tp_feature_t, 0, bs, 4);
FIELD(urma_tp_feature_t, 0, value, uint32_t);

TYPE(struct urma_device_cap, urma_device_cap_t, 304);
FIELD(urma_device_cap_t, 0, feature, urma_device_feature_t);
FIELD(urma_device_cap_t, 4, max_jfc, uint32_t);
FIELD(urma_device_cap_t, 8, max_jfs, uint32_t);
FIELD(urma_device_cap_t, 12, max_jfr, uint32_t);
FIELD(urma_device_cap_t, 16, max_jetty, uint32_t);
FIELD(urma_device_cap_t, 20, max_jetty_grp, uint32_t);
FIELD(urma_device_cap_t, 24, max_jetty_in_jetty_grp, uint32_t);
FIELD(urma_device_cap_t, 28, max_jfc_depth, uint32_t);
FIELD(urma_device_cap_t, 32, max_jfs_depth, uint32_t);
FIELD(urma_device_cap_t, 36, max_jfr_depth, uint32_t);
FIELD(urma_device_cap_t, 40, max_jfs_inline_len, uint32_t);
FIELD(urma_device_cap_t, 44, max_jfs_sge, uint32_t);
FIELD(urma_device_cap_t, 48, max_jfs_rsge, uint32_t);
FIELD(urma_device_cap_t, 52, max_jfr_sge, uint32_t);
FIELD(urma_device_cap_t, 56, max_msg_size, uint64_t);
FIELD(urma_device_cap_t, 64, max_read_size, uint32_t);
FIELD(urma_device_cap_t, 68, max_write_size, uint32_t);
FIELD(urma_device_cap_t, 72, max_cas_size, uint32_t);
FIELD(urma_device_cap_t, 76, max_swap_size, uint32_t);
FIELD(urma_device_cap_t, 80, max_fetch_and_add_size, uint32_t);
FIELD(urma_device_cap_t, 84, max_fetch_and_sub_size, uint32_t);
FIELD(urma_device_cap_t, 88, max_fetch_and_and_size, uint32_t);
FIELD(urma_device_cap_t, 92, max_fetch_and_or_size, uint32_t);
FIELD(urma_device_cap_t, 96, max_fetch_and_xor_size, uint32_t);
FIELD(urma_device_cap_t, 100, atomic_feat, urma_atomic_feature_t);
FIELD(urma_device_cap_t, 104, trans_mode, uint16_t);
FIELD(urma_device_cap_t, 106, reserved, uint16_t);
FIELD(urma_device_cap_t, 108, congestion_ctrl_alg, uint16_t);
FIELD(urma_device_cap_t, 112, ceq_cnt, uint32_t);
FIELD(urma_device_cap_t, 116, max_tp_in_tpg, uint32_t);
FIELD(urma_device_cap_t, 120, max_eid_cnt, uint32_t);
FIELD(urma_device_cap_t, 128, page_size_cap, uint64_t);
FIELD(urma_device_cap_t, 136, max_oor_cnt, uint32_t);
FIELD(urma_device_cap_t, 140, mn, uint32_t);
FIELD(urma_device_cap_t, 144, max_netaddr_cnt, uint32_t);
FIELD(urma_device_cap_t, 148, rm_order_cap, urma_order_type_cap_t);
FIELD(urma_device_cap_t, 152, rc_order_cap, urma_order_type_cap_t);
FIELD(urma_device_cap_t, 156, rm_tp_cap, urma_tp_type_cap_t);
FIELD(urma_device_cap_t, 160, rc_tp_cap, urma_tp_type_cap_t);
FIELD(urma_device_cap_t, 164, um_tp_cap, urma_tp_type_cap_t);
FIELD(urma_device_cap_t, 168, tp_feature, urma_tp_feature_t);
FIELD(urma_device_cap_t, 172, priority_info, struct urma_sl_info[16]);

TYPE(struct urma_guid, urma_guid_t, 16);
FIELD(urma_guid_t, 0, raw, uint8_t[16]);

TYPE(struct urma_device_attr, urma_device_attr_t, 496);
FIELD(urma_device_attr_t, 0, guid, urma_guid_t);
FIELD(urma_device_attr_t, 16, dev_cap, urma_device_cap_t);
FIELD(urma_device_attr_t, 320, port_cnt, uint8_t);
FIELD(urma_device_attr_t, 324, port_attr, struct urma_port_attr[8]);
FIELD(urma_device_attr_t, 484, reserved_jetty_id_min, uint32_t);
FIELD(urma_device_attr_t, 488, reserved_jetty_id_max, uint32_t);

TYPE(struct urma_token, urma_token_t, 4);
FIELD(urma_token_t, 0, token, uint32_t);

TYPE(struct urma_cc_entry, urma_cc_entry_t, 6);
FIELD(urma_cc_entry_t, 0, alg, urma_tp_cc_alg_t);
FIELD(urma_cc_entry_t, 4, cc_pattern_idx, uint8_t);
FIELD(urma_cc_entry_t, 5, cc_priority, uint8_t);

TYPE(struct urma_device, urma_device_t, 4184);
FIELD(urma_device_t, 0, name, char[64]);
FIELD(urma_device_t, 64, path, char[4096]);
FIELD(urma_device_t, 4160, type, urma_transport_type_t);
FIELD(urma_device_t, 4168, ops, struct urma_provider_ops *);
FIELD(urma_device_t, 4176, sysfs_dev, struct urma_sysfs_dev *);

TYPE(struct urma_eid_info, urma_eid_info_t, 24);
FIELD(urma_eid_info_t, 0, eid, urma_eid_t);
FIELD(urma_eid_info_t, 16, eid_index, uint32_t);

#ifdef __x86_64__ // pthread_mutex_t has another size elsewhere
TYPE(struct urma_context, urma_context_t, 104);
FIELD(urma_context_t, 0, dev, struct urma_device *);
FIELD(urma_context_t, 8, ops, struct urma_ops *);
FIELD(urma_context_t, 16, dev_fd, int);
FIELD(urma_context_t, 20, async_fd, int);
FIELD(urma_context_t, 24, mutex, pthread_mutex_t);
FIELD(urma_context_t, 64, eid, urma_eid_t);
FIELD(urma_context_t, 80, eid_index, uint32_t);
FIELD(urma_context_t, 84, uasid, uint32_t);
FIELD(urma_context_t, 88, ref, struct urma_ref);
FIELD(urma_context_t, 96, aggr_mode, urma_context_aggr_mode_t);
#endif

namespace
{

TEST(UrmaAbiBits, TpTypeEn)
{
	BITS(union urma_tp_type_en, 0, bs.rtp, uint32_t, 1);
	BITS(union urma_tp_type_en, 1, bs.ctp, uint32_t, 1);
	BITS(union urma_tp_type_en, 2, bs.utp, uint32_t, 1);
	BITS(union urma_tp_type_en, 3, bs.reserved, uint32_t, 29);
}

TEST(UrmaAbiBits, DeviceFeature)
{
	BITS(urma_device_feature_t, 0, bs.oor, uint32_t, 1);
	BITS(urma_device_feature_t, 1, bs.jfc_per_wr, uint32_t, 1);
	BITS(urma_device_feature_t, 2, bs.stride_op, uint32_t, 1);
	BITS(urma_device_feature_t, 3, bs.load_store_op, uint32_t, 1);
	BITS(urma_device_feature_t, 4, bs.non_pin, uint32_t, 1);
	BITS(urma_device_feature_t, 5, bs.pmem, uint32_t, 1);
	BITS(urma_device_feature_t, 6, bs.jfc_inline, uint32_t, 1);
	BITS(urma_device_feature_t, 7, bs.spray_en, uint32_t, 1);
	BITS(urma_device_feature_t, 8, bs.selective_retrans, uint32_t, 1);
	BITS(urma_device_feature_t, 9, bs.live_migrate, uint32_t, 1);
	BITS(urma_device_feature_t, 10, bs.dca, uint32_t, 1);
	BITS(urma_device_feature_t, 11, bs.jetty_grp, uint32_t, 1);
	BITS(urma_device_feature_t, 12, bs.error_suspend, uint32_t, 1);
	BITS(urma_device_feature_t, 13, bs.outorder_comp, uint32_t, 1);
	BITS(urma_device_feature_t, 14, bs.mn, uint32_t, 1);
	BITS(urma_device_feature_t, 15, bs.clan, uint32_t, 1);
	BITS(urma_device_feature_t, 16, bs.muti_seg_per_token_id, uint32_t, 1);
	BITS(urma_device_feature_t, 17, bs.ipourma_en, uint32_t, 1);
	BITS(urma_device_feature_t, 18, bs.ctp_en, uint32_t, 1);
	BITS(urma_device_feature_t, 19, bs.uboe, uint32_t, 1);
	BITS(urma_device_feature_t, 20, bs.reserved, uint32_t, 12);
}

TEST(UrmaAbiBits, AtomicFeature)
{
	BITS(urma_atomic_feature_t, 0, bs.cas, uint32_t, 1);
	BITS(urma_atomic_feature_t, 1, bs.swap, uint32_t, 1);
	BITS(urma_atomic_feature_t, 2, bs.fetch_and_add, uint32_t, 1);
	BITS(urma_atomic_feature_t, 3, bs.fetch_and_sub, uint32_t, 1);
	BITS(urma_atomic_feature_t, 4, bs.fetch_and_and, uint32_t, 1);
	BITS(urma_atomic_feature_t, 5, bs.fetch_and_or, uint32_t, 1);
	BITS(urma_atomic_feature_t, 6, bs.fetch_and_xor, uint32_t, 1);
	BITS(urma_atomic_feature_t, 7, bs.reserved, uint32_t, 25);
}

TEST(UrmaAbiBits, OrderTypeCap)
{
	BITS(urma_order_type_cap_t, 0, bs.ot, uint32_t, 1);
	BITS(urma_order_type_cap_t, 1, bs.oi, uint32_t, 1);
	BITS(urma_order_type_cap_t, 2, bs.ol, uint32_t, 1);
	BITS(urma_order_type_cap_t, 3, bs.no, uint32_t, 1);
	BITS(urma_order_type_cap_t, 4, bs.reserved, uint32_t, 28);
}

TEST(UrmaAbiBits, TpTypeCap)
{
	BITS(urma_tp_type_cap_t, 0, bs.rtp, uint32_t, 1);
	BITS(urma_tp_type_cap_t, 1, bs.ctp, uint32_t, 1);
	BITS(urma_tp_type_cap_t, 2, bs.utp, uint32_t, 1);
	BITS(urma_tp_type_cap_t, 3, bs.reserved, uint32_t, 29);
}

TEST(UrmaAbiBits, TpFeature)
{
	BITS(urma_tp_feature_t, 0, bs.rm_multi_path, uint32_t, 1);
	BITS(urma_tp_feature_t, 1, bs.rc_multi_path, uint32_t, 1);
	BITS(urma_tp_feature_t, 2, bs.reserved, uint32_t, 30);
}

} // namespace
