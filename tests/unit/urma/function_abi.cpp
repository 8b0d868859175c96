// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Functions: types of results and arguments. Nothing is called or linked. */
#include "abi.hpp"

// urma_types.h
FUNCTION(urma_str_to_eid, int, const char *, urma_eid_t *);
FUNCTION(urma_u32_to_eid, void, uint32_t, urma_eid_t *);

// urma_types_str.h
FUNCTION(urma_atomic_feat_to_string, const char *, uint8_t);
FUNCTION(urma_congestion_ctrl_alg_to_string, const char *, uint8_t);
FUNCTION(urma_device_feat_to_string, const char *, uint8_t);
FUNCTION(urma_jetty_state_to_string, const char *, uint8_t);
FUNCTION(urma_jfc_state_to_string, const char *, uint8_t);
FUNCTION(urma_jfr_state_to_string, const char *, uint8_t);
FUNCTION(urma_link_width_to_string, const char *, urma_link_width_t);
FUNCTION(urma_mtu_to_string, const char *, urma_mtu_t);
FUNCTION(urma_port_state_to_string, const char *, urma_port_state_t);
FUNCTION(urma_speed_to_string, const char *, urma_speed_t);
FUNCTION(urma_tp_type_en_to_string, const char *, union urma_tp_type_en);
FUNCTION(urma_tp_type_to_string, const char *, urma_transport_type_t);
FUNCTION(urma_trans_mode_to_string, const char *, urma_transport_mode_t);

// urma_api.h
FUNCTION(urma_ack_async_event, void, urma_async_event_t *);
FUNCTION(urma_ack_jfc, void, urma_jfc_t **, uint32_t *, uint32_t);
FUNCTION(urma_ack_notify, urma_status_t, urma_context_t *, uint32_t, urma_notify_t *);
FUNCTION(urma_active_jetty, urma_status_t, urma_jetty_t *);
FUNCTION(urma_active_jfc, urma_status_t, urma_jfc_t *);
FUNCTION(urma_active_jfr, urma_status_t, urma_jfr_t *);
FUNCTION(urma_active_jfs, urma_status_t, urma_jfs_t *);
FUNCTION(urma_advise_jetty, urma_status_t, urma_jetty_t *, urma_target_jetty_t *);
FUNCTION(urma_advise_jfr, urma_status_t, urma_jfs_t *, urma_target_jetty_t *);
FUNCTION(urma_advise_jfr_async, urma_status_t, urma_jfs_t *, urma_target_jetty_t *,
	 urma_advise_async_cb_func, void *);
FUNCTION(urma_alloc_jetty, urma_status_t, urma_context_t *, urma_jetty_cfg_t *, urma_jetty_t **);
FUNCTION(urma_alloc_jfc, urma_status_t, urma_context_t *, urma_jfc_cfg_t *, urma_jfc_t **);
FUNCTION(urma_alloc_jfr, urma_status_t, urma_context_t *, urma_jfr_cfg_t *, urma_jfr_t **);
FUNCTION(urma_alloc_jfs, urma_status_t, urma_context_t *, urma_jfs_cfg_t *, urma_jfs_t **);
FUNCTION(urma_alloc_token_id, urma_token_id_t *, urma_context_t *);
FUNCTION(urma_alloc_token_id_ex, urma_token_id_t *, urma_context_t *, urma_token_id_flag_t);
FUNCTION(urma_bind_jetty, urma_status_t, urma_jetty_t *, urma_target_jetty_t *);
FUNCTION(urma_bind_jetty_async, urma_status_t, urma_notifier_t *, urma_jetty_t *,
	 urma_target_jetty_t *, uint64_t, int);
FUNCTION(urma_bind_jetty_ex, urma_status_t, urma_jetty_t *, urma_target_jetty_t *,
	 urma_bind_jetty_ex_cfg_t *);
FUNCTION(urma_create_context, urma_context_t *, urma_device_t *, uint32_t);
FUNCTION(urma_create_jetty, urma_jetty_t *, urma_context_t *, urma_jetty_cfg_t *);
FUNCTION(urma_create_jetty_grp, urma_jetty_grp_t *, urma_context_t *, urma_jetty_grp_cfg_t *);
FUNCTION(urma_create_jfc, urma_jfc_t *, urma_context_t *, urma_jfc_cfg_t *);
FUNCTION(urma_create_jfce, urma_jfce_t *, urma_context_t *);
FUNCTION(urma_create_jfr, urma_jfr_t *, urma_context_t *, urma_jfr_cfg_t *);
FUNCTION(urma_create_jfs, urma_jfs_t *, urma_context_t *, urma_jfs_cfg_t *);
FUNCTION(urma_create_notifier, urma_notifier_t *, urma_context_t *);
FUNCTION(urma_deactive_jetty, urma_status_t, urma_jetty_t *);
FUNCTION(urma_deactive_jfc, urma_status_t, urma_jfc_t *);
FUNCTION(urma_deactive_jfr, urma_status_t, urma_jfr_t *);
FUNCTION(urma_deactive_jfs, urma_status_t, urma_jfs_t *);
FUNCTION(urma_delete_context, urma_status_t, urma_context_t *);
FUNCTION(urma_delete_jetty, urma_status_t, urma_jetty_t *);
FUNCTION(urma_delete_jetty_batch, urma_status_t, urma_jetty_t **, int, urma_jetty_t **);
FUNCTION(urma_delete_jetty_grp, urma_status_t, urma_jetty_grp_t *);
FUNCTION(urma_delete_jfc, urma_status_t, urma_jfc_t *);
FUNCTION(urma_delete_jfc_batch, urma_status_t, urma_jfc_t **, int, urma_jfc_t **);
FUNCTION(urma_delete_jfce, urma_status_t, urma_jfce_t *);
FUNCTION(urma_delete_jfr, urma_status_t, urma_jfr_t *);
FUNCTION(urma_delete_jfr_batch, urma_status_t, urma_jfr_t **, int, urma_jfr_t **);
FUNCTION(urma_delete_jfs, urma_status_t, urma_jfs_t *);
FUNCTION(urma_delete_jfs_batch, urma_status_t, urma_jfs_t **, int, urma_jfs_t **);
FUNCTION(urma_delete_notifier, urma_status_t, urma_notifier_t *);
FUNCTION(urma_flush_jetty, int, urma_jetty_t *, int, urma_cr_t *);
FUNCTION(urma_flush_jfs, int, urma_jfs_t *, int, urma_cr_t *);
FUNCTION(urma_free_device_list, void, urma_device_t **);
FUNCTION(urma_free_eid_list, void, urma_eid_info_t *);
FUNCTION(urma_free_jetty, urma_status_t, urma_jetty_t *);
FUNCTION(urma_free_jfc, urma_status_t, urma_jfc_t *);
FUNCTION(urma_free_jfr, urma_status_t, urma_jfr_t *);
FUNCTION(urma_free_jfs, urma_status_t, urma_jfs_t *);
FUNCTION(urma_free_net_addr_list, void, urma_net_addr_info_t *);
FUNCTION(urma_free_token_id, urma_status_t, urma_token_id_t *);
FUNCTION(urma_get_async_event, urma_status_t, urma_context_t *, urma_async_event_t *);
FUNCTION(urma_get_device_by_eid, urma_device_t *, urma_eid_t, urma_transport_type_t);
FUNCTION(urma_get_device_by_name, urma_device_t *, char *);
FUNCTION(urma_get_device_list, urma_device_t **, int *);
FUNCTION(urma_get_dmac, urma_status_t, const urma_context_t *, const urma_net_addr_t *, uint8_t *);
FUNCTION(urma_get_eid_by_ip, urma_status_t, const urma_context_t *, const urma_net_addr_t *,
	 urma_eid_t *);
FUNCTION(urma_get_eid_list, urma_eid_info_t *, urma_device_t *, uint32_t *);
FUNCTION(urma_get_ip_by_eid, urma_status_t, const urma_context_t *, const urma_eid_t *,
	 urma_net_addr_t *);
FUNCTION(urma_get_jetty_opt, urma_status_t, urma_jetty_t *, uint64_t, void *, uint32_t);
FUNCTION(urma_get_jfc_opt, urma_status_t, urma_jfc_t *, uint64_t, void *, uint32_t);
FUNCTION(urma_get_jfr_opt, urma_status_t, urma_jfr_t *, uint64_t, void *, uint32_t);
FUNCTION(urma_get_jfs_opt, urma_status_t, urma_jfs_t *, uint64_t, void *, uint32_t);
FUNCTION(urma_get_net_addr_list, urma_net_addr_info_t *, urma_context_t *, uint32_t *);
FUNCTION(urma_get_rjetty, urma_status_t, urma_jetty_t *, urma_rjetty_t **, uint32_t *);
FUNCTION(urma_get_seg_ctx, urma_status_t, urma_target_seg_t *, urma_seg_t **, uint32_t *);
FUNCTION(urma_get_smac, urma_status_t, const urma_context_t *, uint8_t *);
FUNCTION(urma_get_tp_attr, urma_status_t, const urma_context_t *, const uint64_t, uint8_t *,
	 uint32_t *, urma_tp_attr_value_t *);
FUNCTION(urma_get_tp_list, urma_status_t, urma_context_t *, urma_get_tp_cfg_t *, uint32_t *,
	 urma_tp_info_t *);
FUNCTION(urma_get_tpn, int, urma_jetty_t *);
FUNCTION(urma_get_uasid, urma_status_t, uint32_t *);
FUNCTION(urma_import_jetty, urma_target_jetty_t *, urma_context_t *, urma_rjetty_t *,
	 urma_token_t *);
FUNCTION(urma_import_jetty_async, urma_target_jetty_t *, urma_notifier_t *, const urma_rjetty_t *,
	 const urma_token_t *, uint64_t, int);
FUNCTION(urma_import_jetty_ex, urma_target_jetty_t *, urma_context_t *, urma_rjetty_t *,
	 urma_token_t *, urma_import_jetty_ex_cfg_t *);
FUNCTION(urma_import_jfr, urma_target_jetty_t *, urma_context_t *, urma_rjfr_t *, urma_token_t *);
FUNCTION(urma_import_jfr_ex, urma_target_jetty_t *, urma_context_t *, urma_rjfr_t *, urma_token_t *,
	 urma_import_jfr_ex_cfg_t *);
FUNCTION(urma_import_seg, urma_target_seg_t *, urma_context_t *, urma_seg_t *, urma_token_t *,
	 uint64_t, urma_import_seg_flag_t);
FUNCTION(urma_init, urma_status_t, urma_init_attr_t *);
FUNCTION(urma_log_get_level, urma_vlog_level_t, void);
FUNCTION(urma_log_get_thread_tag, const char *, void);
FUNCTION(urma_log_set_level, void, urma_vlog_level_t);
FUNCTION(urma_log_set_thread_tag, void, const char *);
FUNCTION(urma_modify_jetty, urma_status_t, urma_jetty_t *, urma_jetty_attr_t *);
FUNCTION(urma_modify_jfc, urma_status_t, urma_jfc_t *, urma_jfc_attr_t *);
FUNCTION(urma_modify_jfr, urma_status_t, urma_jfr_t *, urma_jfr_attr_t *);
FUNCTION(urma_modify_jfs, urma_status_t, urma_jfs_t *, urma_jfs_attr_t *);
FUNCTION(urma_modify_tp, int, urma_context_t *, uint32_t, urma_tp_cfg_t *, urma_tp_attr_t *,
	 urma_tp_attr_mask_t);
FUNCTION(urma_poll_jfc, int, urma_jfc_t *, int, urma_cr_t *);
FUNCTION(urma_post_jetty_recv_wr, urma_status_t, urma_jetty_t *, urma_jfr_wr_t *, urma_jfr_wr_t **);
FUNCTION(urma_post_jetty_send_wr, urma_status_t, urma_jetty_t *, urma_jfs_wr_t *, urma_jfs_wr_t **);
FUNCTION(urma_post_jfr_wr, urma_status_t, urma_jfr_t *, urma_jfr_wr_t *, urma_jfr_wr_t **);
FUNCTION(urma_post_jfs_wr, urma_status_t, urma_jfs_t *, urma_jfs_wr_t *, urma_jfs_wr_t **);
FUNCTION(urma_put_rjetty, void, urma_rjetty_t *);
FUNCTION(urma_put_seg_ctx, void, urma_seg_t *);
FUNCTION(urma_query_device, urma_status_t, urma_device_t *, urma_device_attr_t *);
FUNCTION(urma_query_jetty, urma_status_t, urma_jetty_t *, urma_jetty_cfg_t *, urma_jetty_attr_t *);
FUNCTION(urma_query_jfr, urma_status_t, urma_jfr_t *, urma_jfr_cfg_t *, urma_jfr_attr_t *);
FUNCTION(urma_query_jfs, urma_status_t, urma_jfs_t *, urma_jfs_cfg_t *, urma_jfs_attr_t *);
FUNCTION(urma_read, urma_status_t, urma_jfs_t *, urma_target_jetty_t *, urma_target_seg_t *,
	 urma_target_seg_t *, uint64_t, uint64_t, uint32_t, urma_jfs_wr_flag_t, uint64_t);
FUNCTION(urma_rearm_jfc, urma_status_t, urma_jfc_t *, bool);
FUNCTION(urma_recv, urma_status_t, urma_jfr_t *, urma_target_seg_t *, uint64_t, uint32_t, uint64_t);
FUNCTION(urma_register_loc_log_func, urma_status_t, urma_loc_log_cb);
FUNCTION(urma_register_log_func, urma_status_t, urma_log_cb_t);
FUNCTION(urma_register_seg, urma_target_seg_t *, urma_context_t *, urma_seg_cfg_t *);
FUNCTION(urma_send, urma_status_t, urma_jfs_t *, urma_target_jetty_t *, urma_target_seg_t *,
	 uint64_t, uint32_t, urma_jfs_wr_flag_t, uint64_t);
FUNCTION(urma_set_context_opt, urma_status_t, urma_context_t *, urma_opt_name_t, const void *,
	 size_t);
FUNCTION(urma_set_jetty_opt, urma_status_t, urma_jetty_t *, uint64_t, void *, uint32_t);
FUNCTION(urma_set_jfc_opt, urma_status_t, urma_jfc_t *, uint64_t, void *, uint32_t);
FUNCTION(urma_set_jfr_opt, urma_status_t, urma_jfr_t *, uint64_t, void *, uint32_t);
FUNCTION(urma_set_jfs_opt, urma_status_t, urma_jfs_t *, uint64_t, void *, uint32_t);
FUNCTION(urma_set_tp_attr, urma_status_t, const urma_context_t *, const uint64_t, const uint8_t,
	 const uint32_t, const urma_tp_attr_value_t *);
FUNCTION(urma_unadvise_jetty, urma_status_t, urma_jetty_t *, urma_target_jetty_t *);
FUNCTION(urma_unadvise_jfr, urma_status_t, urma_jfs_t *, urma_target_jetty_t *);
FUNCTION(urma_unbind_jetty, urma_status_t, urma_jetty_t *);
FUNCTION(urma_unbind_jetty_async, urma_status_t, urma_jetty_t *);
FUNCTION(urma_unimport_jetty, urma_status_t, urma_target_jetty_t *);
FUNCTION(urma_unimport_jetty_async, urma_status_t, urma_target_jetty_t *);
FUNCTION(urma_unimport_jfr, urma_status_t, urma_target_jetty_t *);
FUNCTION(urma_unimport_seg, urma_status_t, urma_target_seg_t *);
FUNCTION(urma_uninit, urma_status_t, void);
FUNCTION(urma_unregister_log_func, urma_status_t, void);
FUNCTION(urma_unregister_seg, urma_status_t, urma_target_seg_t *);
FUNCTION(urma_user_ctl, urma_status_t, urma_context_t *, urma_user_ctl_in_t *,
	 urma_user_ctl_out_t *);
FUNCTION(urma_wait_jfc, int, urma_jfce_t *, uint32_t, int, urma_jfc_t **);
FUNCTION(urma_wait_notify, int, urma_notifier_t *, uint32_t, urma_notify_t *, int);
FUNCTION(urma_write, urma_status_t, urma_jfs_t *, urma_target_jetty_t *, urma_target_seg_t *,
	 urma_target_seg_t *, uint64_t, uint64_t, uint32_t, urma_jfs_wr_flag_t, uint64_t);

// urma_ubagg.h
FUNCTION(urma_write_affinity, urma_status_t, urma_jfs_t *, urma_target_jetty_t *,
	 urma_target_seg_t *, urma_target_seg_t *, uint64_t, uint64_t, uint32_t, urma_jfs_wr_flag_t,
	 uint64_t, uint32_t, uint32_t);

// Types of functions that programs give
SAME(urma_async_event_cb, void (*)(urma_async_event_t *, void *));
SAME(urma_advise_async_cb_func, void (*)(urma_status_t, void *));
SAME(urma_log_cb_t, void (*)(int, char *));
SAME(urma_loc_log_cb, void (*)(int, const char *, const char *, int, char *));
