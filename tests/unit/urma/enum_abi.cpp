// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Enumerations: names, values and typedefs. */
#include "abi.hpp"

// urma_opcode.h
SAME(enum urma_place_order, urma_place_order_t);
ENUMERATOR(urma_place_order_t, URMA_NO_ORDER, 0);
ENUMERATOR(urma_place_order_t, URMA_RELAX_ORDER, 1);
ENUMERATOR(urma_place_order_t, URMA_STRONG_ORDER, 2);

SAME(enum urma_opcode, urma_opcode_t);
ENUMERATOR(urma_opcode_t, URMA_OPC_WRITE, 0);
ENUMERATOR(urma_opcode_t, URMA_OPC_WRITE_IMM, 1);
ENUMERATOR(urma_opcode_t, URMA_OPC_WRITE_NOTIFY, 2);
ENUMERATOR(urma_opcode_t, URMA_OPC_READ, 16);
ENUMERATOR(urma_opcode_t, URMA_OPC_CAS, 32);
ENUMERATOR(urma_opcode_t, URMA_OPC_SWAP, 33);
ENUMERATOR(urma_opcode_t, URMA_OPC_FADD, 34);
ENUMERATOR(urma_opcode_t, URMA_OPC_FSUB, 35);
ENUMERATOR(urma_opcode_t, URMA_OPC_FAND, 36);
ENUMERATOR(urma_opcode_t, URMA_OPC_FOR, 37);
ENUMERATOR(urma_opcode_t, URMA_OPC_FXOR, 38);
ENUMERATOR(urma_opcode_t, URMA_OPC_SEND, 64);
ENUMERATOR(urma_opcode_t, URMA_OPC_SEND_IMM, 65);
ENUMERATOR(urma_opcode_t, URMA_OPC_SEND_INVALIDATE, 66);
ENUMERATOR(urma_opcode_t, URMA_OPC_NOP, 81);
ENUMERATOR(urma_opcode_t, URMA_OPC_WRITE_ATOMIC, 96);
ENUMERATOR(urma_opcode_t, URMA_OPC_FLUSH_DMA, 128);
ENUMERATOR(urma_opcode_t, URMA_OPC_LAST, 129);

SAME(enum urma_cr_status, urma_cr_status_t);
ENUMERATOR(urma_cr_status_t, URMA_CR_SUCCESS, 0);
ENUMERATOR(urma_cr_status_t, URMA_CR_UNSUPPORTED_OPCODE_ERR, 1);
ENUMERATOR(urma_cr_status_t, URMA_CR_LOC_LEN_ERR, 2);
ENUMERATOR(urma_cr_status_t, URMA_CR_LOC_OPERATION_ERR, 3);
ENUMERATOR(urma_cr_status_t, URMA_CR_LOC_ACCESS_ERR, 4);
ENUMERATOR(urma_cr_status_t, URMA_CR_REM_RESP_LEN_ERR, 5);
ENUMERATOR(urma_cr_status_t, URMA_CR_REM_UNSUPPORTED_REQ_ERR, 6);
ENUMERATOR(urma_cr_status_t, URMA_CR_REM_OPERATION_ERR, 7);
ENUMERATOR(urma_cr_status_t, URMA_CR_REM_ACCESS_ABORT_ERR, 8);
ENUMERATOR(urma_cr_status_t, URMA_CR_ACK_TIMEOUT_ERR, 9);
ENUMERATOR(urma_cr_status_t, URMA_CR_RNR_RETRY_CNT_EXC_ERR, 10);
ENUMERATOR(urma_cr_status_t, URMA_CR_WR_FLUSH_ERR, 11);
ENUMERATOR(urma_cr_status_t, URMA_CR_WR_SUSPEND_DONE, 12);
ENUMERATOR(urma_cr_status_t, URMA_CR_WR_FLUSH_ERR_DONE, 13);
ENUMERATOR(urma_cr_status_t, URMA_CR_WR_UNHANDLED, 14);
ENUMERATOR(urma_cr_status_t, URMA_CR_LOC_DATA_POISON, 15);
ENUMERATOR(urma_cr_status_t, URMA_CR_REM_DATA_POISON, 16);

SAME(enum urma_cr_opcode, urma_cr_opcode_t);
ENUMERATOR(urma_cr_opcode_t, URMA_CR_OPC_SEND, 0);
ENUMERATOR(urma_cr_opcode_t, URMA_CR_OPC_SEND_WITH_IMM, 1);
ENUMERATOR(urma_cr_opcode_t, URMA_CR_OPC_SEND_WITH_INV, 2);
ENUMERATOR(urma_cr_opcode_t, URMA_CR_OPC_WRITE_WITH_IMM, 3);
ENUMERATOR(urma_cr_opcode_t, URMA_CR_OPC_FLUSH_WRITE, 4);

SAME(enum urma_async_event_type, urma_async_event_type_t);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_JFC_ERR, 0);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_JFS_ERR, 1);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_JFR_ERR, 2);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_JFR_LIMIT, 3);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_JETTY_ERR, 4);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_JETTY_LIMIT, 5);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_JETTY_GRP_ERR, 6);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_PORT_ACTIVE, 7);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_PORT_DOWN, 8);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_DEV_FATAL, 9);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_EID_CHANGE, 10);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_ELR_ERR, 11);
ENUMERATOR(urma_async_event_type_t, URMA_EVENT_ELR_DONE, 12);

SAME(enum urma_jfc_state, urma_jfc_state_t);
ENUMERATOR(urma_jfc_state_t, URMA_JFC_STATE_INVALID, 0);
ENUMERATOR(urma_jfc_state_t, URMA_JFC_STATE_VALID, 1);
ENUMERATOR(urma_jfc_state_t, URMA_JFC_STATE_ERROR, 2);

SAME(enum urma_jetty_state, urma_jetty_state_t);
ENUMERATOR(urma_jetty_state_t, URMA_JETTY_STATE_RESET, 0);
ENUMERATOR(urma_jetty_state_t, URMA_JETTY_STATE_READY, 1);
ENUMERATOR(urma_jetty_state_t, URMA_JETTY_STATE_SUSPENDED, 2);
ENUMERATOR(urma_jetty_state_t, URMA_JETTY_STATE_ERROR, 3);

SAME(enum urma_jfr_state, urma_jfr_state_t);
ENUMERATOR(urma_jfr_state_t, URMA_JFR_STATE_RESET, 0);
ENUMERATOR(urma_jfr_state_t, URMA_JFR_STATE_READY, 1);
ENUMERATOR(urma_jfr_state_t, URMA_JFR_STATE_ERROR, 2);

// urma_types_dev.h
SAME(enum urma_mtu, urma_mtu_t);
ENUMERATOR(urma_mtu_t, URMA_MTU_256, 1);
ENUMERATOR(urma_mtu_t, URMA_MTU_512, 2);
ENUMERATOR(urma_mtu_t, URMA_MTU_1024, 3);
ENUMERATOR(urma_mtu_t, URMA_MTU_2048, 4);
ENUMERATOR(urma_mtu_t, URMA_MTU_4096, 5);
ENUMERATOR(urma_mtu_t, URMA_MTU_8192, 6);

SAME(enum urma_port_state, urma_port_state_t);
ENUMERATOR(urma_port_state_t, URMA_PORT_NOP, 0);
ENUMERATOR(urma_port_state_t, URMA_PORT_DOWN, 1);
ENUMERATOR(urma_port_state_t, URMA_PORT_INIT, 2);
ENUMERATOR(urma_port_state_t, URMA_PORT_ARMED, 3);
ENUMERATOR(urma_port_state_t, URMA_PORT_ACTIVE, 4);
ENUMERATOR(urma_port_state_t, URMA_PORT_ACTIVE_DEFER, 5);

SAME(enum urma_speed, urma_speed_t);
ENUMERATOR(urma_speed_t, URMA_SP_10M, 0);
ENUMERATOR(urma_speed_t, URMA_SP_100M, 1);
ENUMERATOR(urma_speed_t, URMA_SP_1G, 2);
ENUMERATOR(urma_speed_t, URMA_SP_2_5G, 3);
ENUMERATOR(urma_speed_t, URMA_SP_5G, 4);
ENUMERATOR(urma_speed_t, URMA_SP_10G, 5);
ENUMERATOR(urma_speed_t, URMA_SP_14G, 6);
ENUMERATOR(urma_speed_t, URMA_SP_25G, 7);
ENUMERATOR(urma_speed_t, URMA_SP_40G, 8);
ENUMERATOR(urma_speed_t, URMA_SP_50G, 9);
ENUMERATOR(urma_speed_t, URMA_SP_100G, 10);
ENUMERATOR(urma_speed_t, URMA_SP_200G, 11);
ENUMERATOR(urma_speed_t, URMA_SP_400G, 12);
ENUMERATOR(urma_speed_t, URMA_SP_800G, 13);

SAME(enum urma_link_width, urma_link_width_t);
ENUMERATOR(urma_link_width_t, URMA_LINK_X1, 1);
ENUMERATOR(urma_link_width_t, URMA_LINK_X2, 2);
ENUMERATOR(urma_link_width_t, URMA_LINK_X4, 4);
ENUMERATOR(urma_link_width_t, URMA_LINK_X8, 8);
ENUMERATOR(urma_link_width_t, URMA_LINK_X16, 16);
ENUMERATOR(urma_link_width_t, URMA_LINK_X32, 32);

SAME(enum urma_transport_type, urma_transport_type_t);
ENUMERATOR(urma_transport_type_t, URMA_TRANSPORT_INVALID, -1);
ENUMERATOR(urma_transport_type_t, URMA_TRANSPORT_UB, 0);
ENUMERATOR(urma_transport_type_t, URMA_TRANSPORT_IB, 1);
ENUMERATOR(urma_transport_type_t, URMA_TRANSPORT_IP, 2);
ENUMERATOR(urma_transport_type_t, URMA_TRANSPORT_SOFTUB, 3);
ENUMERATOR(urma_transport_type_t, URMA_TRANSPORT_HNS_UB, 5);
ENUMERATOR(urma_transport_type_t, URMA_TRANSPORT_MAX, 6);

SAME(enum urma_transport_mode, urma_transport_mode_t);
ENUMERATOR(urma_transport_mode_t, URMA_TM_RM, 1);
ENUMERATOR(urma_transport_mode_t, URMA_TM_RC, 2);
ENUMERATOR(urma_transport_mode_t, URMA_TM_UM, 4);

SAME(enum urma_tp_cc_alg, urma_tp_cc_alg_t);
ENUMERATOR(urma_tp_cc_alg_t, URMA_TP_CC_NONE, 0);
ENUMERATOR(urma_tp_cc_alg_t, URMA_TP_CC_DCQCN, 1);
ENUMERATOR(urma_tp_cc_alg_t, URMA_TP_CC_CAQM, 2);
ENUMERATOR(urma_tp_cc_alg_t, URMA_TP_CC_LDCP, 3);
ENUMERATOR(urma_tp_cc_alg_t, URMA_TP_CC_LDCP_L2_HEADER, 4);
ENUMERATOR(urma_tp_cc_alg_t, URMA_TP_CC_LDCP_TP_HEADER, 5);
ENUMERATOR(urma_tp_cc_alg_t, URMA_TP_CC_DIP, 6);
ENUMERATOR(urma_tp_cc_alg_t, URMA_TP_CC_ACC, 7);
ENUMERATOR(urma_tp_cc_alg_t, URMA_TP_CC_CUSTOM_1, 8);
ENUMERATOR(urma_tp_cc_alg_t, URMA_TP_CC_CUSTOM_2, 9);
ENUMERATOR(urma_tp_cc_alg_t, URMA_TP_CC_NUM, 10);

SAME(enum urma_congestion_ctrl_alg, urma_congestion_ctrl_alg_t);
ENUMERATOR(urma_congestion_ctrl_alg_t, URMA_CC_NONE, 1);
ENUMERATOR(urma_congestion_ctrl_alg_t, URMA_CC_DCQCN, 2);
ENUMERATOR(urma_congestion_ctrl_alg_t, URMA_CC_CAQM, 4);
ENUMERATOR(urma_congestion_ctrl_alg_t, URMA_CC_LDCP, 8);
ENUMERATOR(urma_congestion_ctrl_alg_t, URMA_CC_LDCP_L2_HEADER, 16);
ENUMERATOR(urma_congestion_ctrl_alg_t, URMA_CC_LDCP_TP_HEADER, 32);
ENUMERATOR(urma_congestion_ctrl_alg_t, URMA_CC_DIP, 64);
ENUMERATOR(urma_congestion_ctrl_alg_t, URMA_CC_ACC, 128);
ENUMERATOR(urma_congestion_ctrl_alg_t, URMA_CC_CUSTOM_1, 256);
ENUMERATOR(urma_congestion_ctrl_alg_t, URMA_CC_CUSTOM_2, 512);

SAME(enum urma_context_opt_name, urma_opt_name_t);
ENUMERATOR(urma_opt_name_t, URMA_OPT_AGGR_MODE, 0);

SAME(enum urma_context_aggr_mode, urma_context_aggr_mode_t);
ENUMERATOR(urma_context_aggr_mode_t, URMA_AGGR_MODE_STANDALONE, 0);
ENUMERATOR(urma_context_aggr_mode_t, URMA_AGGR_MODE_ACTIVE_BACKUP, 1);
ENUMERATOR(urma_context_aggr_mode_t, URMA_AGGR_MODE_BALANCE, 2);

SAME(enum urma_tp_type, urma_tp_type_t);
ENUMERATOR(urma_tp_type_t, URMA_RTP, 0);
ENUMERATOR(urma_tp_type_t, URMA_CTP, 1);
ENUMERATOR(urma_tp_type_t, URMA_UTP, 2);

// urma_types_jetty.h
SAME(enum urma_jfc_attr_mask, urma_jfc_attr_mask_t);
ENUMERATOR(urma_jfc_attr_mask_t, JFC_MODERATE_COUNT, 1);
ENUMERATOR(urma_jfc_attr_mask_t, JFC_MODERATE_PERIOD, 2);

SAME(enum urma_order_type, urma_order_type_t);
ENUMERATOR(urma_order_type_t, URMA_DEF_ORDER, 0);
ENUMERATOR(urma_order_type_t, URMA_OT, 1);
ENUMERATOR(urma_order_type_t, URMA_OI, 2);
ENUMERATOR(urma_order_type_t, URMA_OL, 3);
ENUMERATOR(urma_order_type_t, URMA_NO, 4);

SAME(enum urma_jfs_attr_mask, urma_jfs_attr_mask_t);
ENUMERATOR(urma_jfs_attr_mask_t, JFS_STATE, 1);

SAME(enum urma_jfr_attr_mask, urma_jfr_attr_mask_t);
ENUMERATOR(urma_jfr_attr_mask_t, JFR_RX_THRESHOLD, 1);
ENUMERATOR(urma_jfr_attr_mask_t, JFR_STATE, 2);

SAME(enum urma_jetty_grp_policy, urma_jetty_grp_policy_t);
ENUMERATOR(urma_jetty_grp_policy_t, URMA_JETTY_GRP_POLICY_RR, 0);
ENUMERATOR(urma_jetty_grp_policy_t, URMA_JETTY_GRP_POLICY_HASH_HINT, 1);

SAME(enum urma_target_type, urma_target_type_t);
ENUMERATOR(urma_target_type_t, URMA_JFR, 0);
ENUMERATOR(urma_target_type_t, URMA_JETTY, 1);
ENUMERATOR(urma_target_type_t, URMA_JETTY_GROUP, 2);

SAME(enum urma_jetty_attr_mask, urma_jetty_attr_mask_t);
ENUMERATOR(urma_jetty_attr_mask_t, JETTY_RX_THRESHOLD, 1);
ENUMERATOR(urma_jetty_attr_mask_t, JETTY_STATE, 2);

SAME(enum urma_notify_type, urma_notify_type_t);
ENUMERATOR(urma_notify_type_t, URMA_IMPORT_JETTY_NOTIFY, 0);
ENUMERATOR(urma_notify_type_t, URMA_BIND_JETTY_NOTIFY, 1);

// urma_types_tp.h
SAME(enum urma_tp_state, urma_tp_state_t);
ENUMERATOR(urma_tp_state_t, URMA_TP_STATE_RESET, 0);
ENUMERATOR(urma_tp_state_t, URMA_TP_STATE_PASSIVE, 1);
ENUMERATOR(urma_tp_state_t, URMA_TP_STATE_ACTIVE, 2);
ENUMERATOR(urma_tp_state_t, URMA_TP_STATE_BRAKE, 3);
ENUMERATOR(urma_tp_state_t, URMA_TP_STATE_ERROR, 4);

// urma_types.h
SAME(enum urma_vlog_level, urma_vlog_level_t);
ENUMERATOR(urma_vlog_level_t, URMA_VLOG_LEVEL_EMERG, 0);
ENUMERATOR(urma_vlog_level_t, URMA_VLOG_LEVEL_ALERT, 1);
ENUMERATOR(urma_vlog_level_t, URMA_VLOG_LEVEL_CRIT, 2);
ENUMERATOR(urma_vlog_level_t, URMA_VLOG_LEVEL_ERR, 3);
ENUMERATOR(urma_vlog_level_t, URMA_VLOG_LEVEL_WARNING, 4);
ENUMERATOR(urma_vlog_level_t, URMA_VLOG_LEVEL_NOTICE, 5);
ENUMERATOR(urma_vlog_level_t, URMA_VLOG_LEVEL_INFO, 6);
ENUMERATOR(urma_vlog_level_t, URMA_VLOG_LEVEL_DEBUG, 7);
ENUMERATOR(urma_vlog_level_t, URMA_VLOG_LEVEL_MAX, 8);

// urma_ubagg.h
SAME(enum bondp_user_ctl_opcode, bondp_user_ctl_opcode_t);
ENUMERATOR(bondp_user_ctl_opcode_t, BONDP_USER_CTL_SET_BONDING_MODE_LEGACY, 4);
ENUMERATOR(bondp_user_ctl_opcode_t, BONDP_USER_CTL_ENABLE_SEG_CACHE, 5);
ENUMERATOR(bondp_user_ctl_opcode_t, BONDP_USER_CTL_QUERY_PORT, 6);
ENUMERATOR(bondp_user_ctl_opcode_t, BONDP_USER_CTL_SET_BONDING_MODE, 7);
ENUMERATOR(bondp_user_ctl_opcode_t, BONDP_USER_CTL_GET_JFCE_FD_LIST, 8);
ENUMERATOR(bondp_user_ctl_opcode_t, BONDP_USER_CTL_OPCODE_GET_RJETTY, 9);
ENUMERATOR(bondp_user_ctl_opcode_t, BONDP_USER_CTL_OPCODE_GET_SEG_CTX, 10);
ENUMERATOR(bondp_user_ctl_opcode_t, BONDP_USER_CTL_DISABLE_MSN, 11);

SAME(enum bondp_bonding_mode, bondp_bonding_mode_t);
ENUMERATOR(bondp_bonding_mode_t, BONDP_BONDING_MODE_STANDALONE, 0);
ENUMERATOR(bondp_bonding_mode_t, BONDP_BONDING_MODE_ACTIVE_BACKUP, 1);
ENUMERATOR(bondp_bonding_mode_t, BONDP_BONDING_MODE_BALANCE, 2);
ENUMERATOR(bondp_bonding_mode_t, BONDP_BONDING_MODE_MAX, 3);

SAME(enum bondp_bonding_level, bondp_bonding_level_t);
ENUMERATOR(bondp_bonding_level_t, BONDP_BONDING_LEVEL_IODIE, 0);
ENUMERATOR(bondp_bonding_level_t, BONDP_BONDING_LEVEL_PORT, 1);
ENUMERATOR(bondp_bonding_level_t, BONDP_BONDING_LEVEL_MAX, 2);

SAME(enum bondp_rjetty_ext_version, bondp_rjetty_ext_version_t);
ENUMERATOR(bondp_rjetty_ext_version_t, BONDP_RJETTY_EXT_VERSION_V0, 0);

SAME(enum bondp_rjetty_ext_mask, bondp_rjetty_ext_mask_t);
ENUMERATOR(bondp_rjetty_ext_mask_t, BONDP_RJETTY_EXT_MASK_MULTI_PATH, 1);
ENUMERATOR(bondp_rjetty_ext_mask_t, BONDP_RJETTY_EXT_MASK_HEALTH_CHECK, 2);
ENUMERATOR(bondp_rjetty_ext_mask_t, BONDP_RJETTY_EXT_MASK_LOCAL_CTX, 4);
ENUMERATOR(bondp_rjetty_ext_mask_t, BONDP_RJETTY_EXT_MASK_TARGET_CTX, 8);
