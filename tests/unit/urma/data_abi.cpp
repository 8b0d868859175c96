// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Segments, requests and records: layout. */
#include "abi.hpp"

// urma_types_seg.h
TYPE(struct urma_ubva, urma_ubva_t, 28);
FIELD(urma_ubva_t, 0, eid, urma_eid_t);
FIELD(urma_ubva_t, 16, uasid, uint32_t);
FIELD(urma_ubva_t, 20, va, uint64_t);

TYPE(union urma_reg_seg_flag, urma_reg_seg_flag_t, 4);
PART(urma_reg_seg_flag_t, 0, bs, 4);
FIELD(urma_reg_seg_flag_t, 0, value, uint32_t);

TYPE(union urma_seg_attr, urma_seg_attr_t, 4);
PART(urma_seg_attr_t, 0, bs, 4);
FIELD(urma_seg_attr_t, 0, value, uint32_t);

TYPE(union urma_import_seg_flag, urma_import_seg_flag_t, 4);
PART(urma_import_seg_flag_t, 0, bs, 4);
FIELD(urma_import_seg_flag_t, 0, value, uint32_t);

TYPE(union urma_token_id_flag, urma_token_id_flag_t, 4);
PART(urma_token_id_flag_t, 0, bs, 4);
FIELD(urma_token_id_flag_t, 0, value, uint32_t);

TYPE(struct urma_token_id, urma_token_id_t, 40);
FIELD(urma_token_id_t, 0, urma_ctx, urma_context_t *);
FIELD(urma_token_id_t, 8, token_id, uint32_t);
FIELD(urma_token_id_t, 16, handle, uint64_t);
FIELD(urma_token_id_t, 24, ref, urma_ref_t);
FIELD(urma_token_id_t, 32, flag, urma_token_id_flag_t);

TYPE(struct urma_seg_cfg, urma_seg_cfg_t, 48);
FIELD(urma_seg_cfg_t, 0, va, uint64_t);
FIELD(urma_seg_cfg_t, 8, len, uint64_t);
FIELD(urma_seg_cfg_t, 16, token_id, urma_token_id_t *);
FIELD(urma_seg_cfg_t, 24, token_value, urma_token_t);
FIELD(urma_seg_cfg_t, 28, flag, urma_reg_seg_flag_t);
FIELD(urma_seg_cfg_t, 32, user_ctx, uint64_t);
FIELD(urma_seg_cfg_t, 40, iova, uint64_t);

TYPE(struct urma_seg, urma_seg_t, 48);
FIELD(urma_seg_t, 0, ubva, urma_ubva_t);
FIELD(urma_seg_t, 32, len, uint64_t);
FIELD(urma_seg_t, 40, attr, urma_seg_attr_t);
FIELD(urma_seg_t, 44, token_id, uint32_t);

TYPE(struct urma_target_seg, urma_target_seg_t, 88);
FIELD(urma_target_seg_t, 0, seg, urma_seg_t);
FIELD(urma_target_seg_t, 48, user_ctx, uint64_t);
FIELD(urma_target_seg_t, 56, mva, uint64_t);
FIELD(urma_target_seg_t, 64, urma_ctx, urma_context_t *);
FIELD(urma_target_seg_t, 72, token_id, urma_token_id_t *);
FIELD(urma_target_seg_t, 80, handle, uint64_t);

TYPE(struct urma_user_target_seg, urma_user_tseg_t, 12);
FIELD(urma_user_tseg_t, 0, attr, urma_seg_attr_t);
FIELD(urma_user_tseg_t, 4, token_id, uint32_t);
FIELD(urma_user_tseg_t, 8, token_value, urma_token_t);

TYPE(union urma_ur_attr, urma_ur_attr_t, 4);
PART(urma_ur_attr_t, 0, bs, 4);
FIELD(urma_ur_attr_t, 0, value, uint32_t);

TYPE(union urma_import_ur_flag, urma_import_ur_flag_t, 4);
PART(urma_import_ur_flag_t, 0, bs, 4);
FIELD(urma_import_ur_flag_t, 0, value, uint32_t);

TYPE(struct urma_ur, urma_ur_t, 288);
FIELD(urma_ur_t, 0, name, char[256]);
FIELD(urma_ur_t, 256, size, uint64_t);
FIELD(urma_ur_t, 264, attr, urma_ur_attr_t);
FIELD(urma_ur_t, 272, token, uint64_t);
FIELD(urma_ur_t, 280, user_ctx, uint64_t);

TYPE(struct urma_target_ur, urma_target_ur_t, 288);
FIELD(urma_target_ur_t, 0, name, char[256]);
FIELD(urma_target_ur_t, 256, size, uint64_t);
FIELD(urma_target_ur_t, 264, flag, urma_import_ur_flag_t);
FIELD(urma_target_ur_t, 272, tseg_list, urma_target_seg_t **);
FIELD(urma_target_ur_t, 280, cnt, uint32_t);

TYPE(struct urma_seg_info, urma_seg_info_t, 56);
FIELD(urma_seg_info_t, 0, seg, urma_seg_t);
FIELD(urma_seg_info_t, 48, idx_in_ur, uint32_t);

TYPE(struct urma_ur_info, urma_ur_info_t, 272);
FIELD(urma_ur_info_t, 0, name, char[256]);
FIELD(urma_ur_info_t, 256, size, uint64_t);
FIELD(urma_ur_info_t, 264, attr, urma_ur_attr_t);
FIELD(urma_ur_info_t, 268, cnt, uint32_t);
TAIL(urma_ur_info_t, 272, seg_list, urma_seg_info_t);

TYPE(struct urma_jfr_info, urma_jfr_info_t, 280);
FIELD(urma_jfr_info_t, 0, name, char[256]);
FIELD(urma_jfr_info_t, 256, eid, urma_eid_t);
FIELD(urma_jfr_info_t, 272, uasid, uint32_t);
FIELD(urma_jfr_info_t, 276, id, uint32_t);

// urma_types_wr.h
TYPE(struct urma_user_ctl_in, urma_user_ctl_in_t, 16);
FIELD(urma_user_ctl_in_t, 0, addr, uint64_t);
FIELD(urma_user_ctl_in_t, 8, len, uint32_t);
FIELD(urma_user_ctl_in_t, 12, opcode, uint32_t);

TYPE(struct urma_user_ctl_out, urma_user_ctl_out_t, 16);
FIELD(urma_user_ctl_out_t, 0, addr, uint64_t);
FIELD(urma_user_ctl_out_t, 8, len, uint32_t);
FIELD(urma_user_ctl_out_t, 12, reserved, uint32_t);

TYPE(struct urma_sge, urma_sge_t, 32);
FIELD(urma_sge_t, 0, addr, uint64_t);
FIELD(urma_sge_t, 8, len, uint32_t);
FIELD(urma_sge_t, 16, tseg, urma_target_seg_t *);
FIELD(urma_sge_t, 24, user_tseg, urma_user_tseg_t *);

TYPE(struct urma_sg, urma_sg_t, 16);
FIELD(urma_sg_t, 0, sge, urma_sge_t *);
FIELD(urma_sg_t, 8, num_sge, uint32_t);

TYPE(union urma_jfs_wr_flag, urma_jfs_wr_flag_t, 4);
PART(urma_jfs_wr_flag_t, 0, bs, 4);
FIELD(urma_jfs_wr_flag_t, 0, value, uint32_t);

TYPE(union urma_jfr_wr_flag, urma_jfr_wr_flag_t, 4);
PART(urma_jfr_wr_flag_t, 0, bs, 4);
FIELD(urma_jfr_wr_flag_t, 0, value, uint32_t);

TYPE(struct urma_rw_wr, urma_rw_wr_t, 48);
FIELD(urma_rw_wr_t, 0, src, urma_sg_t);
FIELD(urma_rw_wr_t, 16, dst, urma_sg_t);
FIELD(urma_rw_wr_t, 32, target_hint, uint8_t);
FIELD(urma_rw_wr_t, 40, notify_data, uint64_t);

TYPE(struct urma_send_wr, urma_send_wr_t, 40);
FIELD(urma_send_wr_t, 0, src, urma_sg_t);
FIELD(urma_send_wr_t, 16, target_hint, uint8_t);
FIELD(urma_send_wr_t, 24, imm_data, uint64_t);
FIELD(urma_send_wr_t, 32, tseg, urma_target_seg_t *);

TYPE(struct urma_cas_wr, urma_cas_wr_t, 32);
FIELD(urma_cas_wr_t, 0, dst, urma_sge_t *);
FIELD(urma_cas_wr_t, 8, src, urma_sge_t *);
FIELD(urma_cas_wr_t, 16, cmp_data, uint64_t);
FIELD(urma_cas_wr_t, 16, cmp_addr, uint64_t);
FIELD(urma_cas_wr_t, 24, swap_data, uint64_t);
FIELD(urma_cas_wr_t, 24, swap_addr, uint64_t);

TYPE(struct urma_faa_wr, urma_faa_wr_t, 24);
FIELD(urma_faa_wr_t, 0, dst, urma_sge_t *);
FIELD(urma_faa_wr_t, 8, src, urma_sge_t *);
FIELD(urma_faa_wr_t, 16, operand, uint64_t);
FIELD(urma_faa_wr_t, 16, operand_addr, uint64_t);

TYPE(struct urma_jfs_wr, urma_jfs_wr_t, 80);
FIELD(urma_jfs_wr_t, 0, opcode, urma_opcode_t);
FIELD(urma_jfs_wr_t, 4, flag, urma_jfs_wr_flag_t);
FIELD(urma_jfs_wr_t, 8, tjetty, urma_target_jetty_t *);
FIELD(urma_jfs_wr_t, 16, user_ctx, uint64_t);
FIELD(urma_jfs_wr_t, 24, rw, urma_rw_wr_t);
FIELD(urma_jfs_wr_t, 24, send, urma_send_wr_t);
FIELD(urma_jfs_wr_t, 24, cas, urma_cas_wr_t);
FIELD(urma_jfs_wr_t, 24, faa, urma_faa_wr_t);
FIELD(urma_jfs_wr_t, 72, next, struct urma_jfs_wr *);

TYPE(struct urma_jfr_wr, urma_jfr_wr_t, 32);
FIELD(urma_jfr_wr_t, 0, src, urma_sg_t);
FIELD(urma_jfr_wr_t, 16, user_ctx, uint64_t);
FIELD(urma_jfr_wr_t, 24, next, struct urma_jfr_wr *);

TYPE(union urma_cr_flag, urma_cr_flag_t, 1);
PART(urma_cr_flag_t, 0, bs, 1);
FIELD(urma_cr_flag_t, 0, value, uint8_t);

TYPE(struct urma_cr_token, urma_cr_token_t, 8);
FIELD(urma_cr_token_t, 0, token_id, uint32_t);
FIELD(urma_cr_token_t, 4, token_value, urma_token_t);

TYPE(struct urma_cr, urma_cr_t, 80);
FIELD(urma_cr_t, 0, status, urma_cr_status_t);
FIELD(urma_cr_t, 8, user_ctx, uint64_t);
FIELD(urma_cr_t, 16, opcode, urma_cr_opcode_t);
FIELD(urma_cr_t, 20, flag, urma_cr_flag_t);
FIELD(urma_cr_t, 24, completion_len, uint32_t);
FIELD(urma_cr_t, 28, local_id, uint32_t);
FIELD(urma_cr_t, 32, remote_id, urma_jetty_id_t);
FIELD(urma_cr_t, 56, imm_data, uint64_t);
FIELD(urma_cr_t, 56, invalid_token, urma_cr_token_t);
FIELD(urma_cr_t, 64, tpn, uint32_t);
FIELD(urma_cr_t, 72, user_data, uintptr_t);

TYPE(struct urma_async_event, urma_async_event_t, 32);
FIELD(urma_async_event_t, 0, urma_ctx, const urma_context_t *);
PART(urma_async_event_t, 8, element, 8);
FIELD(urma_async_event_t, 8, element.jfc, urma_jfc_t *);
FIELD(urma_async_event_t, 8, element.jfs, urma_jfs_t *);
FIELD(urma_async_event_t, 8, element.jfr, urma_jfr_t *);
FIELD(urma_async_event_t, 8, element.jetty, urma_jetty_t *);
FIELD(urma_async_event_t, 8, element.jetty_grp, urma_jetty_grp_t *);
FIELD(urma_async_event_t, 8, element.port_id, uint32_t);
FIELD(urma_async_event_t, 8, element.eid_idx, uint32_t);
FIELD(urma_async_event_t, 16, event_type, urma_async_event_type_t);
FIELD(urma_async_event_t, 24, priv, void *);

namespace
{

TEST(UrmaAbiBits, RegSegFlag)
{
	BITS(urma_reg_seg_flag_t, 0, bs.token_policy, uint32_t, 3);
	BITS(urma_reg_seg_flag_t, 3, bs.cacheable, uint32_t, 1);
	BITS(urma_reg_seg_flag_t, 4, bs.dsva, uint32_t, 1);
	BITS(urma_reg_seg_flag_t, 5, bs.access, uint32_t, 6);
	BITS(urma_reg_seg_flag_t, 11, bs.non_pin, uint32_t, 1);
	BITS(urma_reg_seg_flag_t, 12, bs.user_iova, uint32_t, 1);
	BITS(urma_reg_seg_flag_t, 13, bs.token_id_valid, uint32_t, 1);
	BITS(urma_reg_seg_flag_t, 14, bs.reserved, uint32_t, 18);
}

TEST(UrmaAbiBits, SegAttr)
{
	BITS(urma_seg_attr_t, 0, bs.token_policy, uint32_t, 3);
	BITS(urma_seg_attr_t, 3, bs.cacheable, uint32_t, 1);
	BITS(urma_seg_attr_t, 4, bs.dsva, uint32_t, 1);
	BITS(urma_seg_attr_t, 5, bs.access, uint32_t, 6);
	BITS(urma_seg_attr_t, 11, bs.non_pin, uint32_t, 1);
	BITS(urma_seg_attr_t, 12, bs.user_iova, uint32_t, 1);
	BITS(urma_seg_attr_t, 13, bs.user_token_id, uint32_t, 1);
	BITS(urma_seg_attr_t, 14, bs.has_user_info, uint32_t, 1);
	BITS(urma_seg_attr_t, 15, bs.reserved, uint32_t, 17);
}

TEST(UrmaAbiBits, ImportSegFlag)
{
	BITS(urma_import_seg_flag_t, 0, bs.cacheable, uint32_t, 1);
	BITS(urma_import_seg_flag_t, 1, bs.access, uint32_t, 6);
	BITS(urma_import_seg_flag_t, 7, bs.mapping, uint32_t, 1);
	BITS(urma_import_seg_flag_t, 8, bs.reserved, uint32_t, 24);
}

TEST(UrmaAbiBits, TokenIdFlag)
{
	BITS(urma_token_id_flag_t, 0, bs.multi_seg, uint32_t, 1);
	BITS(urma_token_id_flag_t, 1, bs.reserved, uint32_t, 31);
}

TEST(UrmaAbiBits, UrAttr)
{
	BITS(urma_ur_attr_t, 0, bs.reserved, uint32_t, 32);
}

TEST(UrmaAbiBits, ImportUrFlag)
{
	BITS(urma_import_ur_flag_t, 0, bs.mapping, uint32_t, 2);
	BITS(urma_import_ur_flag_t, 2, bs.reserved, uint32_t, 30);
}

TEST(UrmaAbiBits, JfsWrFlag)
{
	BITS(urma_jfs_wr_flag_t, 0, bs.place_order, uint32_t, 2);
	BITS(urma_jfs_wr_flag_t, 2, bs.comp_order, uint32_t, 1);
	BITS(urma_jfs_wr_flag_t, 3, bs.fence, uint32_t, 1);
	BITS(urma_jfs_wr_flag_t, 4, bs.solicited_enable, uint32_t, 1);
	BITS(urma_jfs_wr_flag_t, 5, bs.complete_enable, uint32_t, 1);
	BITS(urma_jfs_wr_flag_t, 6, bs.inline_flag, uint32_t, 1);
	BITS(urma_jfs_wr_flag_t, 7, bs.db_bypass, uint32_t, 1);
	BITS(urma_jfs_wr_flag_t, 8, bs.udf, uint32_t, 1);
	BITS(urma_jfs_wr_flag_t, 9, bs.has_drv_ext, uint32_t, 1);
	BITS(urma_jfs_wr_flag_t, 10, bs.reserved, uint32_t, 22);
}

TEST(UrmaAbiBits, JfrWrFlag)
{
	BITS(urma_jfr_wr_flag_t, 0, bs.complete_type, uint32_t, 1);
	BITS(urma_jfr_wr_flag_t, 1, bs.reserved, uint32_t, 31);
}

TEST(UrmaAbiBits, CrFlag)
{
	BITS(urma_cr_flag_t, 0, bs.s_r, uint8_t, 1);
	BITS(urma_cr_flag_t, 1, bs.jetty, uint8_t, 1);
	BITS(urma_cr_flag_t, 2, bs.suspend_done, uint8_t, 1);
	BITS(urma_cr_flag_t, 3, bs.flush_err_done, uint8_t, 1);
	BITS(urma_cr_flag_t, 4, bs.reserved, uint8_t, 4);
}

} // namespace
