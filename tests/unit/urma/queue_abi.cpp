// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Queues, jetties and their options: layout. */
#include "abi.hpp"

// urma_types_opt.h
TYPE(union urma_jfc_opt_mask, union urma_jfc_opt_mask, 8);
PART(union urma_jfc_opt_mask, 0, bs, 8);
FIELD(union urma_jfc_opt_mask, 0, value, uint64_t);

TYPE(struct urma_jfc_opt, urma_jfc_opt_t, 80);
FIELD(urma_jfc_opt_t, 0, jfc_opt_mask, union urma_jfc_opt_mask);
FIELD(urma_jfc_opt_t, 8, is_actived, bool);
FIELD(urma_jfc_opt_t, 16, urma_jfc_cqe_base_addr, uint64_t);
FIELD(urma_jfc_opt_t, 24, urma_jfc_id, uint32_t);
FIELD(urma_jfc_opt_t, 32, urma_jfc_db_addr, uint64_t);
FIELD(urma_jfc_opt_t, 40, urma_jfc_db_status, uint8_t);
FIELD(urma_jfc_opt_t, 42, urma_jfc_pi, uint16_t);
FIELD(urma_jfc_opt_t, 44, urma_jfc_pi_type, uint16_t);
FIELD(urma_jfc_opt_t, 46, urma_jfc_ci, uint16_t);
FIELD(urma_jfc_opt_t, 48, reserved, uint64_t[4]);

TYPE(union urma_jfs_opt_mask, union urma_jfs_opt_mask, 8);
PART(union urma_jfs_opt_mask, 0, bs, 8);
FIELD(union urma_jfs_opt_mask, 0, value, uint64_t);

TYPE(struct urma_jfs_opt, urma_jfs_opt_t, 80);
FIELD(urma_jfs_opt_t, 0, jfs_opt_mask, union urma_jfs_opt_mask);
FIELD(urma_jfs_opt_t, 8, is_actived, bool);
FIELD(urma_jfs_opt_t, 16, urma_jfs_sqe_base_addr, uint64_t);
FIELD(urma_jfs_opt_t, 24, urma_jfs_id, uint32_t);
FIELD(urma_jfs_opt_t, 32, urma_jfs_db_addr, uint64_t);
FIELD(urma_jfs_opt_t, 40, urma_jfs_db_status, uint8_t);
FIELD(urma_jfs_opt_t, 42, urma_jfs_pi, uint16_t);
FIELD(urma_jfs_opt_t, 44, urma_jfs_pi_type, uint16_t);
FIELD(urma_jfs_opt_t, 46, urma_jfs_ci, uint16_t);
FIELD(urma_jfs_opt_t, 48, reserved, uint64_t[4]);

TYPE(union urma_jfr_opt_mask, union urma_jfr_opt_mask, 8);
PART(union urma_jfr_opt_mask, 0, bs, 8);
FIELD(union urma_jfr_opt_mask, 0, value, uint64_t);

TYPE(struct urma_jfr_opt, urma_jfr_opt_t, 80);
FIELD(urma_jfr_opt_t, 0, jfr_opt_mask, union urma_jfr_opt_mask);
FIELD(urma_jfr_opt_t, 8, is_actived, bool);
FIELD(urma_jfr_opt_t, 16, urma_jfr_rqe_base_addr, uint64_t);
FIELD(urma_jfr_opt_t, 24, urma_jfr_id, uint32_t);
FIELD(urma_jfr_opt_t, 32, urma_jfr_db_addr, uint64_t);
FIELD(urma_jfr_opt_t, 40, urma_jfr_db_status, uint8_t);
FIELD(urma_jfr_opt_t, 42, urma_jfr_pi, uint16_t);
FIELD(urma_jfr_opt_t, 44, urma_jfr_pi_type, uint16_t);
FIELD(urma_jfr_opt_t, 46, urma_jfr_ci, uint16_t);
FIELD(urma_jfr_opt_t, 48, reserved, uint64_t[4]);

TYPE(struct urma_jetty_opt, urma_jetty_opt_t, 120);
FIELD(urma_jetty_opt_t, 0, is_actived, bool);
FIELD(urma_jetty_opt_t, 8, jfs_opt, urma_jfs_opt_t);
FIELD(urma_jetty_opt_t, 88, reserved, uint64_t[4]);

// urma_types_jetty.h
TYPE(struct urma_jfce_cfg, urma_jfce_cfg_t, 16);
FIELD(urma_jfce_cfg_t, 0, depth, uint32_t);
FIELD(urma_jfce_cfg_t, 8, user_ctx, uint64_t);

TYPE(struct urma_jfce, urma_jfce_t, 24);
FIELD(urma_jfce_t, 0, urma_ctx, urma_context_t *);
FIELD(urma_jfce_t, 8, fd, int);
FIELD(urma_jfce_t, 16, ref, struct urma_ref);

TYPE(union urma_jfc_flag, urma_jfc_flag_t, 4);
PART(urma_jfc_flag_t, 0, bs, 4);
FIELD(urma_jfc_flag_t, 0, value, uint32_t);

TYPE(struct urma_jfc_cfg, urma_jfc_cfg_t, 32);
FIELD(urma_jfc_cfg_t, 0, depth, uint32_t);
FIELD(urma_jfc_cfg_t, 4, flag, urma_jfc_flag_t);
FIELD(urma_jfc_cfg_t, 8, ceqn, uint32_t);
FIELD(urma_jfc_cfg_t, 16, jfce, urma_jfce_t *);
FIELD(urma_jfc_cfg_t, 24, user_ctx, uint64_t);

TYPE(struct urma_jfc_attr, urma_jfc_attr_t, 8);
FIELD(urma_jfc_attr_t, 0, mask, uint32_t);
FIELD(urma_jfc_attr_t, 4, moderate_count, uint16_t);
FIELD(urma_jfc_attr_t, 6, moderate_period, uint16_t);

TYPE(struct urma_jetty_id, urma_jetty_id_t, 24);
FIELD(urma_jetty_id_t, 0, eid, urma_eid_t);
FIELD(urma_jetty_id_t, 16, uasid, uint32_t);
FIELD(urma_jetty_id_t, 20, id, uint32_t);

TYPE(union urma_jfs_flag, urma_jfs_flag_t, 4);
PART(urma_jfs_flag_t, 0, bs, 4);
FIELD(urma_jfs_flag_t, 0, value, uint32_t);

TYPE(struct urma_jfs_cfg, urma_jfs_cfg_t, 40);
FIELD(urma_jfs_cfg_t, 0, depth, uint32_t);
FIELD(urma_jfs_cfg_t, 4, flag, urma_jfs_flag_t);
FIELD(urma_jfs_cfg_t, 8, trans_mode, urma_transport_mode_t);
FIELD(urma_jfs_cfg_t, 12, priority, uint8_t);
FIELD(urma_jfs_cfg_t, 13, max_sge, uint8_t);
FIELD(urma_jfs_cfg_t, 14, max_rsge, uint8_t);
FIELD(urma_jfs_cfg_t, 16, max_inline_data, uint32_t);
FIELD(urma_jfs_cfg_t, 20, rnr_retry, uint8_t);
FIELD(urma_jfs_cfg_t, 21, err_timeout, uint8_t);
FIELD(urma_jfs_cfg_t, 24, jfc, urma_jfc_t *);
FIELD(urma_jfs_cfg_t, 32, user_ctx, uint64_t);

TYPE(struct urma_jfs_attr, urma_jfs_attr_t, 8);
FIELD(urma_jfs_attr_t, 0, mask, uint32_t);
FIELD(urma_jfs_attr_t, 4, state, urma_jfs_state_t);

TYPE(union urma_jfr_flag, urma_jfr_flag_t, 4);
PART(urma_jfr_flag_t, 0, bs, 4);
FIELD(urma_jfr_flag_t, 0, value, uint32_t);

TYPE(struct urma_jfr_cfg, urma_jfr_cfg_t, 48);
FIELD(urma_jfr_cfg_t, 0, id, uint32_t);
FIELD(urma_jfr_cfg_t, 4, depth, uint32_t);
FIELD(urma_jfr_cfg_t, 8, flag, urma_jfr_flag_t);
FIELD(urma_jfr_cfg_t, 12, trans_mode, urma_transport_mode_t);
FIELD(urma_jfr_cfg_t, 16, max_sge, uint8_t);
FIELD(urma_jfr_cfg_t, 17, min_rnr_timer, uint8_t);
FIELD(urma_jfr_cfg_t, 24, jfc, urma_jfc_t *);
FIELD(urma_jfr_cfg_t, 32, token_value, urma_token_t);
FIELD(urma_jfr_cfg_t, 40, user_ctx, uint64_t);

TYPE(struct urma_jfr_attr, urma_jfr_attr_t, 12);
FIELD(urma_jfr_attr_t, 0, mask, uint32_t);
FIELD(urma_jfr_attr_t, 4, rx_threshold, uint32_t);
FIELD(urma_jfr_attr_t, 8, state, urma_jfr_state_t);

TYPE(union urma_import_jetty_flag, urma_import_jetty_flag_t, 4);
PART(urma_import_jetty_flag_t, 0, bs, 4);
FIELD(urma_import_jetty_flag_t, 0, value, uint32_t);

TYPE(struct urma_rjfr, urma_rjfr_t, 40);
FIELD(urma_rjfr_t, 0, jfr_id, urma_jfr_id_t);
FIELD(urma_rjfr_t, 24, trans_mode, urma_transport_mode_t);
FIELD(urma_rjfr_t, 28, flag, urma_import_jetty_flag_t);
FIELD(urma_rjfr_t, 32, tp_type, urma_tp_type_t);

TYPE(struct urma_tp, urma_tp_t, 4);
FIELD(urma_tp_t, 0, tpn, uint32_t);

TYPE(union urma_jetty_flag, urma_jetty_flag_t, 4);
PART(urma_jetty_flag_t, 0, bs, 4);
FIELD(urma_jetty_flag_t, 0, value, uint32_t);

TYPE(struct urma_jetty_cfg, urma_jetty_cfg_t, 80);
FIELD(urma_jetty_cfg_t, 0, id, uint32_t);
FIELD(urma_jetty_cfg_t, 4, flag, urma_jetty_flag_t);
FIELD(urma_jetty_cfg_t, 8, jfs_cfg, urma_jfs_cfg_t);
PART(urma_jetty_cfg_t, 48, shared, 16);
FIELD(urma_jetty_cfg_t, 48, shared.jfr, urma_jfr_t *);
FIELD(urma_jetty_cfg_t, 56, shared.jfc, urma_jfc_t *);
FIELD(urma_jetty_cfg_t, 48, jfr_cfg, urma_jfr_cfg_t *);
FIELD(urma_jetty_cfg_t, 64, jetty_grp, urma_jetty_grp_t *);
FIELD(urma_jetty_cfg_t, 72, user_ctx, uint64_t);

TYPE(union urma_ext_flag, urma_ext_flag_t, 4);
PART(urma_ext_flag_t, 0, bs, 4);
FIELD(urma_ext_flag_t, 0, value, uint32_t);

TYPE(struct urma_ext, urma_ext_t, 8);
FIELD(urma_ext_t, 0, flag, urma_ext_flag_t);
FIELD(urma_ext_t, 4, length, uint32_t);
TAIL(urma_ext_t, 8, buf, char);

TYPE(struct urma_rjetty, urma_rjetty_t, 48);
FIELD(urma_rjetty_t, 0, jetty_id, urma_jetty_id_t);
FIELD(urma_rjetty_t, 24, trans_mode, urma_transport_mode_t);
FIELD(urma_rjetty_t, 28, policy, urma_jetty_grp_policy_t);
FIELD(urma_rjetty_t, 32, type, urma_target_type_t);
FIELD(urma_rjetty_t, 36, flag, urma_import_jetty_flag_t);
FIELD(urma_rjetty_t, 40, tp_type, urma_tp_type_t);

TYPE(struct urma_target_jetty, urma_target_jetty_t, 64);
FIELD(urma_target_jetty_t, 0, urma_ctx, urma_context_t *);
FIELD(urma_target_jetty_t, 8, id, urma_jetty_id_t);
FIELD(urma_target_jetty_t, 32, handle, uint64_t);
FIELD(urma_target_jetty_t, 40, trans_mode, urma_transport_mode_t);
FIELD(urma_target_jetty_t, 44, tp, urma_tp_t);
FIELD(urma_target_jetty_t, 48, type, urma_target_type_t);
FIELD(urma_target_jetty_t, 52, flag, urma_import_jetty_flag_t);
FIELD(urma_target_jetty_t, 56, policy, urma_jetty_grp_policy_t);
FIELD(urma_target_jetty_t, 60, tp_type, urma_tp_type_t);

TYPE(struct urma_jetty_attr, urma_jetty_attr_t, 12);
FIELD(urma_jetty_attr_t, 0, mask, uint32_t);
FIELD(urma_jetty_attr_t, 4, rx_threshold, uint32_t);
FIELD(urma_jetty_attr_t, 8, state, urma_jetty_state_t);

TYPE(struct urma_notifier, urma_notifier_t, 24);
FIELD(urma_notifier_t, 0, urma_ctx, urma_context_t *);
FIELD(urma_notifier_t, 8, fd, int);
FIELD(urma_notifier_t, 16, incomplete_tjetty_list, void *);

TYPE(struct urma_notify, urma_notify_t, 24);
FIELD(urma_notify_t, 0, type, urma_notify_type_t);
FIELD(urma_notify_t, 4, status, urma_status_t);
FIELD(urma_notify_t, 8, user_ctx, uint64_t);
FIELD(urma_notify_t, 16, tjetty, urma_target_jetty_t *);
FIELD(urma_notify_t, 16, jetty, urma_jetty_t *);

TYPE(union urma_jetty_grp_flag, urma_jetty_grp_flag_t, 4);
PART(urma_jetty_grp_flag_t, 0, bs, 4);
FIELD(urma_jetty_grp_flag_t, 0, value, uint32_t);

TYPE(struct urma_jetty_grp_cfg, urma_jetty_grp_cfg_t, 88);
FIELD(urma_jetty_grp_cfg_t, 0, name, char[64]);
FIELD(urma_jetty_grp_cfg_t, 64, flag, urma_jetty_grp_flag_t);
FIELD(urma_jetty_grp_cfg_t, 68, token_value, urma_token_t);
FIELD(urma_jetty_grp_cfg_t, 72, id, uint32_t);
FIELD(urma_jetty_grp_cfg_t, 76, policy, urma_jetty_grp_policy_t);
FIELD(urma_jetty_grp_cfg_t, 80, user_ctx, uint64_t);

#ifdef __x86_64__ // pthread_mutex_t has another size elsewhere
TYPE(struct urma_jfc, urma_jfc_t, 248);
FIELD(urma_jfc_t, 0, urma_ctx, urma_context_t *);
FIELD(urma_jfc_t, 8, jfc_id, urma_jfc_id_t);
FIELD(urma_jfc_t, 32, jfc_cfg, urma_jfc_cfg_t);
FIELD(urma_jfc_t, 64, handle, uint64_t);
FIELD(urma_jfc_t, 72, event_mutex, pthread_mutex_t);
FIELD(urma_jfc_t, 112, event_cond, pthread_cond_t);
FIELD(urma_jfc_t, 160, comp_events_acked, uint32_t);
FIELD(urma_jfc_t, 164, async_events_acked, uint32_t);
FIELD(urma_jfc_t, 168, urma_jfc_opt, urma_jfc_opt_t);

TYPE(struct urma_jfs, urma_jfs_t, 256);
FIELD(urma_jfs_t, 0, urma_ctx, urma_context_t *);
FIELD(urma_jfs_t, 8, jfs_id, urma_jfs_id_t);
FIELD(urma_jfs_t, 32, jfs_cfg, urma_jfs_cfg_t);
FIELD(urma_jfs_t, 72, handle, uint64_t);
FIELD(urma_jfs_t, 80, event_mutex, pthread_mutex_t);
FIELD(urma_jfs_t, 120, event_cond, pthread_cond_t);
FIELD(urma_jfs_t, 168, async_events_acked, uint32_t);
FIELD(urma_jfs_t, 176, urma_jfs_opt, urma_jfs_opt_t);

TYPE(struct urma_jfr, urma_jfr_t, 264);
FIELD(urma_jfr_t, 0, urma_ctx, urma_context_t *);
FIELD(urma_jfr_t, 8, jfr_id, urma_jfr_id_t);
FIELD(urma_jfr_t, 32, jfr_cfg, urma_jfr_cfg_t);
FIELD(urma_jfr_t, 80, handle, uint64_t);
FIELD(urma_jfr_t, 88, event_mutex, pthread_mutex_t);
FIELD(urma_jfr_t, 128, event_cond, pthread_cond_t);
FIELD(urma_jfr_t, 176, async_events_acked, uint32_t);
FIELD(urma_jfr_t, 184, urma_jfr_opt, urma_jfr_opt_t);

TYPE(struct urma_jetty_grp, urma_jetty_grp_t, 280);
FIELD(urma_jetty_grp_t, 0, urma_ctx, urma_context_t *);
FIELD(urma_jetty_grp_t, 8, jetty_grp_id, urma_jetty_id_t);
FIELD(urma_jetty_grp_t, 32, cfg, urma_jetty_grp_cfg_t);
FIELD(urma_jetty_grp_t, 120, jetty_cnt, uint32_t);
FIELD(urma_jetty_grp_t, 128, jetty_list, urma_jetty_t **);
FIELD(urma_jetty_grp_t, 136, list_mutex, pthread_mutex_t);
FIELD(urma_jetty_grp_t, 176, handle, uint64_t);
FIELD(urma_jetty_grp_t, 184, event_mutex, pthread_mutex_t);
FIELD(urma_jetty_grp_t, 224, event_cond, pthread_cond_t);
FIELD(urma_jetty_grp_t, 272, async_events_acked, uint32_t);

TYPE(struct urma_jetty, urma_jetty_t, 344);
FIELD(urma_jetty_t, 0, urma_ctx, urma_context_t *);
FIELD(urma_jetty_t, 8, jetty_id, urma_jetty_id_t);
FIELD(urma_jetty_t, 32, remote_jetty, urma_target_jetty_t *);
FIELD(urma_jetty_t, 40, jetty_cfg, urma_jetty_cfg_t);
FIELD(urma_jetty_t, 120, handle, uint64_t);
FIELD(urma_jetty_t, 128, event_mutex, pthread_mutex_t);
FIELD(urma_jetty_t, 168, event_cond, pthread_cond_t);
FIELD(urma_jetty_t, 216, async_events_acked, uint32_t);
FIELD(urma_jetty_t, 224, urma_jetty_opt, urma_jetty_opt_t);
#endif

namespace
{

TEST(UrmaAbiBits, JfcOptMask)
{
	BITS(union urma_jfc_opt_mask, 0, bs.urma_jfc_cqe_base_addr, uint64_t, 1);
	BITS(union urma_jfc_opt_mask, 1, bs.urma_jfc_db_addr, uint64_t, 1);
	BITS(union urma_jfc_opt_mask, 2, bs.urma_jfc_id, uint64_t, 1);
	BITS(union urma_jfc_opt_mask, 3, bs.urma_jfc_pi, uint64_t, 1);
	BITS(union urma_jfc_opt_mask, 4, bs.urma_jfc_pi_type, uint64_t, 1);
	BITS(union urma_jfc_opt_mask, 5, bs.urma_jfc_ci, uint64_t, 1);
	BITS(union urma_jfc_opt_mask, 6, bs.urma_jfc_db_status, uint64_t, 1);
	BITS(union urma_jfc_opt_mask, 7, bs.reserved, uint64_t, 57);
}

TEST(UrmaAbiBits, JfsOptMask)
{
	BITS(union urma_jfs_opt_mask, 0, bs.urma_jfs_cqe_base_addr, uint64_t, 1);
	BITS(union urma_jfs_opt_mask, 1, bs.urma_jfs_db_addr, uint64_t, 1);
	BITS(union urma_jfs_opt_mask, 2, bs.urma_jfs_id, uint64_t, 1);
	BITS(union urma_jfs_opt_mask, 3, bs.urma_jfs_pi, uint64_t, 1);
	BITS(union urma_jfs_opt_mask, 4, bs.urma_jfs_pi_type, uint64_t, 1);
	BITS(union urma_jfs_opt_mask, 5, bs.urma_jfs_ci, uint64_t, 1);
	BITS(union urma_jfs_opt_mask, 6, bs.urma_jfs_db_status, uint64_t, 1);
	BITS(union urma_jfs_opt_mask, 7, bs.reserved, uint64_t, 57);
}

TEST(UrmaAbiBits, JfrOptMask)
{
	BITS(union urma_jfr_opt_mask, 0, bs.urma_jfr_cqe_base_addr, uint64_t, 1);
	BITS(union urma_jfr_opt_mask, 1, bs.urma_jfr_db_addr, uint64_t, 1);
	BITS(union urma_jfr_opt_mask, 2, bs.urma_jfr_id, uint64_t, 1);
	BITS(union urma_jfr_opt_mask, 3, bs.urma_jfr_pi, uint64_t, 1);
	BITS(union urma_jfr_opt_mask, 4, bs.urma_jfr_pi_type, uint64_t, 1);
	BITS(union urma_jfr_opt_mask, 5, bs.urma_jfr_ci, uint64_t, 1);
	BITS(union urma_jfr_opt_mask, 6, bs.urma_jfr_db_status, uint64_t, 1);
	BITS(union urma_jfr_opt_mask, 7, bs.reserved, uint64_t, 57);
}

TEST(UrmaAbiBits, JfcFlag)
{
	BITS(urma_jfc_flag_t, 0, bs.lock_free, uint32_t, 1);
	BITS(urma_jfc_flag_t, 1, bs.jfc_inline, uint32_t, 1);
	BITS(urma_jfc_flag_t, 2, bs.non_blocking, uint32_t, 1);
	BITS(urma_jfc_flag_t, 3, bs.has_drv_ext, uint32_t, 1);
	BITS(urma_jfc_flag_t, 4, bs.reserved, uint32_t, 28);
}

TEST(UrmaAbiBits, JfsFlag)
{
	BITS(urma_jfs_flag_t, 0, bs.lock_free, uint32_t, 1);
	BITS(urma_jfs_flag_t, 1, bs.error_suspend, uint32_t, 1);
	BITS(urma_jfs_flag_t, 2, bs.outorder_comp, uint32_t, 1);
	BITS(urma_jfs_flag_t, 3, bs.order_type, uint32_t, 8);
	BITS(urma_jfs_flag_t, 11, bs.multi_path, uint32_t, 1);
	BITS(urma_jfs_flag_t, 12, bs.ctp_rc_mul_path_mode, uint32_t, 1);
	BITS(urma_jfs_flag_t, 13, bs.non_blocking, uint32_t, 1);
	BITS(urma_jfs_flag_t, 14, bs.has_drv_ext, uint32_t, 1);
	BITS(urma_jfs_flag_t, 15, bs.reserved, uint32_t, 17);
}

TEST(UrmaAbiBits, JfrFlag)
{
	BITS(urma_jfr_flag_t, 0, bs.token_policy, uint32_t, 3);
	BITS(urma_jfr_flag_t, 3, bs.tag_matching, uint32_t, 1);
	BITS(urma_jfr_flag_t, 4, bs.lock_free, uint32_t, 1);
	BITS(urma_jfr_flag_t, 5, bs.order_type, uint32_t, 8);
	BITS(urma_jfr_flag_t, 13, bs.has_drv_ext, uint32_t, 1);
	BITS(urma_jfr_flag_t, 14, bs.non_blocking, uint32_t, 1);
	BITS(urma_jfr_flag_t, 15, bs.reserved, uint32_t, 17);
}

TEST(UrmaAbiBits, ImportJettyFlag)
{
	BITS(urma_import_jetty_flag_t, 0, bs.token_policy, uint32_t, 3);
	BITS(urma_import_jetty_flag_t, 3, bs.order_type, uint32_t, 8);
	BITS(urma_import_jetty_flag_t, 11, bs.share_tp, uint32_t, 1);
	BITS(urma_import_jetty_flag_t, 12, bs.has_drv_ext, uint32_t, 1);
	BITS(urma_import_jetty_flag_t, 13, bs.has_user_info, uint32_t, 1);
	BITS(urma_import_jetty_flag_t, 14, bs.reserved, uint32_t, 18);
}

TEST(UrmaAbiBits, JettyFlag)
{
	BITS(urma_jetty_flag_t, 0, bs.share_jfr, uint32_t, 1);
	BITS(urma_jetty_flag_t, 1, bs.non_blocking, uint32_t, 1);
	BITS(urma_jetty_flag_t, 2, bs.has_drv_ext, uint32_t, 1);
	BITS(urma_jetty_flag_t, 3, bs.has_user_info, uint32_t, 1);
	BITS(urma_jetty_flag_t, 4, bs.reserved, uint32_t, 28);
}

TEST(UrmaAbiBits, ExtFlag)
{
	BITS(urma_ext_flag_t, 0, bs.enable, uint32_t, 1);
	BITS(urma_ext_flag_t, 1, bs.reserved, uint32_t, 31);
}

TEST(UrmaAbiBits, JettyGrpFlag)
{
	BITS(urma_jetty_grp_flag_t, 0, bs.token_policy, uint32_t, 3);
	BITS(urma_jetty_grp_flag_t, 3, bs.reserved, uint32_t, 29);
}

} // namespace
