// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Bonding devices: layout. */
#include "abi.hpp"

// urma_ubagg.h
TYPE(struct urma_seg_base, urma_seg_base_t, 48);
FIELD(urma_seg_base_t, 0, ubva, urma_ubva_t);
FIELD(urma_seg_base_t, 32, len, uint64_t);
FIELD(urma_seg_base_t, 40, attr, urma_seg_attr_t);
FIELD(urma_seg_base_t, 44, token_id, uint32_t);

TYPE(struct bondp_set_bonding_mode_in, bondp_set_bonding_mode_in_t, 8);
FIELD(bondp_set_bonding_mode_in_t, 0, bonding_mode, bondp_bonding_mode_t);
FIELD(bondp_set_bonding_mode_in_t, 4, bonding_level, bondp_bonding_level_t);

TYPE(struct bondp_query_port_in, bondp_query_port_in_t, 8);
FIELD(bondp_query_port_in_t, 0, jfr, urma_jfr_t *);
FIELD(bondp_query_port_in_t, 0, jetty, urma_jetty_t *);

TYPE(struct bondp_query_port_out, bondp_query_port_out_t, 168);
FIELD(bondp_query_port_out_t, 0, enabled_indices, uint32_t[20]);
FIELD(bondp_query_port_out_t, 80, enabled_count, uint32_t);
FIELD(bondp_query_port_out_t, 84, active_indices, uint32_t[20]);
FIELD(bondp_query_port_out_t, 164, active_count, uint32_t);

TYPE(struct bondp_get_jfce_fd_list_in, bondp_get_jfce_fd_list_in_t, 8);
FIELD(bondp_get_jfce_fd_list_in_t, 0, jfce, urma_jfce_t *);

TYPE(struct bondp_get_jfce_fd_list_out, bondp_get_jfce_fd_list_out_t, 84);
FIELD(bondp_get_jfce_fd_list_out_t, 0, fd_list, int[20]);
FIELD(bondp_get_jfce_fd_list_out_t, 80, count, uint32_t);

TYPE(union bondp_port_id, bondp_port_id_t, 8);
FIELD(bondp_port_id_t, 0, chip_id, uint8_t);
FIELD(bondp_port_id_t, 1, die_id, uint8_t);
FIELD(bondp_port_id_t, 2, port_idx, uint8_t);
FIELD(bondp_port_id_t, 3, reserved, uint8_t);
FIELD(bondp_port_id_t, 0, value, uint64_t);

TYPE(struct bondp_jfs_cfg, bondp_jfs_cfg_t, 56);
FIELD(bondp_jfs_cfg_t, 0, base, urma_jfs_cfg_t);
FIELD(bondp_jfs_cfg_t, 40, port_ids, const bondp_port_id_t *);
FIELD(bondp_jfs_cfg_t, 48, port_count, uint32_t);

TYPE(struct bondp_jfc_cfg, bondp_jfc_cfg_t, 48);
FIELD(bondp_jfc_cfg_t, 0, base, urma_jfc_cfg_t);
FIELD(bondp_jfc_cfg_t, 32, port_ids, const bondp_port_id_t *);
FIELD(bondp_jfc_cfg_t, 40, port_count, uint32_t);

TYPE(struct bondp_jfr_cfg, bondp_jfr_cfg_t, 64);
FIELD(bondp_jfr_cfg_t, 0, base, urma_jfr_cfg_t);
FIELD(bondp_jfr_cfg_t, 48, port_ids, const bondp_port_id_t *);
FIELD(bondp_jfr_cfg_t, 56, port_count, uint32_t);

TYPE(struct bondp_jetty_cfg, bondp_jetty_cfg_t, 96);
FIELD(bondp_jetty_cfg_t, 0, base, urma_jetty_cfg_t);
FIELD(bondp_jetty_cfg_t, 80, port_ids, const bondp_port_id_t *);
FIELD(bondp_jetty_cfg_t, 88, port_count, uint32_t);

TYPE(struct urma_bond_jetty_ext, urma_bond_jetty_ext_t, 1488);
FIELD(urma_bond_jetty_ext_t, 0, version, uint8_t);
FIELD(urma_bond_jetty_ext_t, 8, mask, uint64_t);
FIELD(urma_bond_jetty_ext_t, 16, slave_id, urma_jetty_id_t[20]);
FIELD(urma_bond_jetty_ext_t, 496, is_multipath, bool);
FIELD(urma_bond_jetty_ext_t, 497, enable_indices, uint8_t[20]);
FIELD(urma_bond_jetty_ext_t, 520, enable_count, uint32_t);
FIELD(urma_bond_jetty_ext_t, 524, is_health_check_enable, bool);
PART(urma_bond_jetty_ext_t, 528, health_check_seg, 960);
FIELD(urma_bond_jetty_ext_t, 528, health_check_seg.slaves, urma_seg_base_t[20]);

TYPE(struct bondp_rjetty_target_ctx, bondp_rjetty_target_ctx_t, 80);
FIELD(bondp_rjetty_target_ctx_t, 0, target_idx, uint8_t);
FIELD(bondp_rjetty_target_ctx_t, 8, slave_id, urma_jetty_id_t);
FIELD(bondp_rjetty_target_ctx_t, 32, health_check_seg, urma_seg_base_t);

TYPE(struct urma_bond_jetty_ext_v0, urma_bond_jetty_ext_v0_t, 32);
FIELD(urma_bond_jetty_ext_v0_t, 0, version, uint8_t);
FIELD(urma_bond_jetty_ext_v0_t, 8, mask, uint64_t);
FIELD(urma_bond_jetty_ext_v0_t, 16, is_multipath, bool);
FIELD(urma_bond_jetty_ext_v0_t, 17, is_health_check_enable, bool);
FIELD(urma_bond_jetty_ext_v0_t, 20, local_ctx_cnt, uint32_t);
FIELD(urma_bond_jetty_ext_v0_t, 24, target_ctx_cnt, uint32_t);
TAIL(urma_bond_jetty_ext_v0_t, 28, data, char);

TYPE(struct urma_bond_seg_ext, urma_bond_seg_ext_t, 976);
FIELD(urma_bond_seg_ext_t, 0, version, uint8_t);
FIELD(urma_bond_seg_ext_t, 8, mask, uint64_t);
FIELD(urma_bond_seg_ext_t, 16, peer_p_seg, urma_seg_base_t[20]);

TYPE(struct bondp_rjetty, bondp_rjetty_t, 1544);
FIELD(bondp_rjetty_t, 0, base, urma_rjetty_t);
FIELD(bondp_rjetty_t, 48, ext, urma_bond_jetty_ext_t);
FIELD(bondp_rjetty_t, 1536, jfs, urma_jfs_t *);
FIELD(bondp_rjetty_t, 1536, jetty, urma_jetty_t *);

TYPE(struct bondp_rjfr, bondp_rjfr_t, 48);
FIELD(bondp_rjfr_t, 0, base, urma_rjfr_t);
FIELD(bondp_rjfr_t, 40, jfs, urma_jfs_t *);
FIELD(bondp_rjfr_t, 40, jetty, urma_jetty_t *);

TYPE(struct bondp_jfs_wr, bondp_jfs_wr_t, 88);
FIELD(bondp_jfs_wr_t, 0, base, urma_jfs_wr_t);
FIELD(bondp_jfs_wr_t, 80, src_chip_id, uint32_t);
FIELD(bondp_jfs_wr_t, 84, dst_chip_id, uint32_t);

TYPE(struct bondp_path, bondp_path_t, 12);
FIELD(bondp_path_t, 0, local_idx, uint32_t);
FIELD(bondp_path_t, 4, target_idx, uint32_t);
FIELD(bondp_path_t, 8, least_load, uint32_t);
