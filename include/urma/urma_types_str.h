/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * URMA for C programs: values as text for people. Every function is thread-safe
 * and returns a constant string, never NULL; "Invalid Value" for what has no name.
 */
#ifndef URMA_TYPES_STR_H
#define URMA_TYPES_STR_H

#include "urma_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** urma_mtu_to_string() - name of an MTU */
static inline const char *urma_mtu_to_string(urma_mtu_t mtu)
{
	switch (mtu) {
	case URMA_MTU_256:
		return "MTU_256";
	case URMA_MTU_512:
		return "MTU_512";
	case URMA_MTU_1024:
		return "MTU_1024";
	case URMA_MTU_2048:
		return "MTU_2048";
	case URMA_MTU_4096:
		return "MTU_4096";
	case URMA_MTU_8192:
		return "MTU_8192";
	default:
		return "Invalid Value";
	}
}

/** urma_port_state_to_string() - name of the state of a port */
static inline const char *urma_port_state_to_string(urma_port_state_t state)
{
	switch (state) {
	case URMA_PORT_NOP:
		return "NOP";
	case URMA_PORT_DOWN:
		return "DOWN";
	case URMA_PORT_INIT:
		return "INIT";
	case URMA_PORT_ARMED:
		return "ARMED";
	case URMA_PORT_ACTIVE:
		return "ACTIVE";
	case URMA_PORT_ACTIVE_DEFER:
		return "ACTIVE_DEFER";
	default:
		return "Invalid Value";
	}
}

/** urma_speed_to_string() - name of a speed */
static inline const char *urma_speed_to_string(urma_speed_t speed)
{
	switch (speed) {
	case URMA_SP_10M:
		return "SP_10M";
	case URMA_SP_100M:
		return "SP_100M";
	case URMA_SP_1G:
		return "SP_1G";
	case URMA_SP_2_5G:
		return "SP_2.5G";
	case URMA_SP_5G:
		return "SP_5G";
	case URMA_SP_10G:
		return "SP_10G";
	case URMA_SP_14G:
		return "SP_14G";
	case URMA_SP_25G:
		return "SP_25G";
	case URMA_SP_40G:
		return "SP_40G";
	case URMA_SP_50G:
		return "SP_50G";
	case URMA_SP_100G:
		return "SP_100G";
	case URMA_SP_200G:
		return "SP_200G";
	case URMA_SP_400G:
		return "SP_400G";
	case URMA_SP_800G:
		return "SP_800G";
	default:
		return "Invalid Value";
	}
}

/** urma_link_width_to_string() - name of a number of lanes */
static inline const char *urma_link_width_to_string(urma_link_width_t width)
{
	switch (width) {
	case URMA_LINK_X1:
		return "LINK_X1";
	case URMA_LINK_X2:
		return "LINK_X2";
	case URMA_LINK_X4:
		return "LINK_X4";
	case URMA_LINK_X8:
		return "LINK_X8";
	case URMA_LINK_X16:
		return "LINK_X16";
	case URMA_LINK_X32:
		return "LINK_X32";
	default:
		return "Invalid Value";
	}
}

/** urma_tp_type_en_to_string() - names of the TP types in a set */
static inline const char *urma_tp_type_en_to_string(union urma_tp_type_en tp_type)
{
	switch (tp_type.value & 7) {
	case 1:
		return "RTP";
	case 2:
		return "CTP";
	case 3:
		return "RTP+CTP";
	case 4:
		return "UTP";
	case 5:
		return "RTP+UTP";
	case 6:
		return "CTP+UTP";
	case 7:
		return "RTP+CTP+UTP";
	default:
		return "NONE";
	}
}

#define URMA_DEVICE_FEAT_NUM 20

/** urma_device_feat_to_string() - name of a bit in urma_device_feature */
static inline const char *urma_device_feat_to_string(uint8_t bit)
{
	switch (bit) {
	case 0:
		return "OUT_OF_ORDER";
	case 1:
		return "JFC_PER_WR";
	case 2:
		return "STRIDE_OP";
	case 3:
		return "LOAD_STORE_OP";
	case 4:
		return "NON_PIN";
	case 5:
		return "PERSISTENCE_MEM";
	case 6:
		return "JFC_INLINE";
	case 7:
		return "SPRAY_ENABLE";
	case 8:
		return "SELECTIVE_RETRANS";
	case 9:
		return "LIVE_MIGRATE";
	case 10:
		return "DCA";
	case 11:
		return "JETTY_GRP";
	case 12:
		return "ERROR_SUSPEND";
	case 13:
		return "OUTORDER_COMP";
	case 14:
		return "MN";
	case 15:
		return "CLAN";
	case 16:
		return "MUTI_SEG_PER_TOKEN_ID";
	case 17:
		return "IPOURMA_EN";
	case 18:
		return "CTP_EN";
	case 19:
		return "UBOE";
	default:
		return "Invalid Value";
	}
}

#define URMA_ATOMIC_FEAT_NUM 7

/** urma_atomic_feat_to_string() - name of a bit in urma_atomic_feature */
static inline const char *urma_atomic_feat_to_string(uint8_t bit)
{
	switch (bit) {
	case 0:
		return "compare_and_swap";
	case 1:
		return "swap";
	case 2:
		return "fetch_and_add";
	case 3:
		return "fetch_and_sub";
	case 4:
		return "fetch_and_and";
	case 5:
		return "fetch_and_or";
	case 6:
		return "fetch_and_xor";
	default:
		return "Invalid Value";
	}
}

/** urma_trans_mode_to_string() - name of one mode */
static inline const char *urma_trans_mode_to_string(urma_transport_mode_t mode)
{
	switch (mode) {
	case URMA_TM_RM:
		return "RM(Reliable message)";
	case URMA_TM_RC:
		return "RC(Reliable connection)";
	case URMA_TM_UM:
		return "UM(Unreliable message)";
	default:
		return "Invalid Value";
	}
}

/** urma_tp_type_to_string() - name of the kind of a device */
static inline const char *urma_tp_type_to_string(urma_transport_type_t type)
{
	switch (type) {
	case URMA_TRANSPORT_UB:
		return "UB";
	case URMA_TRANSPORT_IB:
		return "IB";
	case URMA_TRANSPORT_IP:
		return "IP";
	case URMA_TRANSPORT_SOFTUB:
		return "SOFTUB";
	case URMA_TRANSPORT_HNS_UB:
		return "HNS_UB";
	default:
		return "Invalid Value";
	}
}

/** urma_congestion_ctrl_alg_to_string() - name of a bit in urma_device_cap.congestion_ctrl_alg */
static inline const char *urma_congestion_ctrl_alg_to_string(uint8_t bit)
{
	switch (bit) {
	case URMA_TP_CC_NONE:
		return "NONE";
	case URMA_TP_CC_DCQCN:
		return "DCQCN";
	case URMA_TP_CC_CAQM:
		return "CAQM";
	case URMA_TP_CC_LDCP:
		return "LDCP";
	case URMA_TP_CC_LDCP_L2_HEADER:
		return "LDCP_L2_HEADER";
	case URMA_TP_CC_LDCP_TP_HEADER:
		return "LDCP_TP_HEADER";
	case URMA_TP_CC_DIP:
		return "DIP";
	case URMA_TP_CC_ACC:
		return "ACC";
	case URMA_TP_CC_CUSTOM_1:
		return "CUSTOM_1";
	case URMA_TP_CC_CUSTOM_2:
		return "CUSTOM_2";
	default:
		return "Invalid Value";
	}
}

/** urma_jfc_state_to_string() - name of an urma_jfc_state */
static inline const char *urma_jfc_state_to_string(uint8_t bit)
{
	switch (bit) {
	case URMA_JFC_STATE_INVALID:
		return "INVALID";
	case URMA_JFC_STATE_VALID:
		return "VALID";
	case URMA_JFC_STATE_ERROR:
		return "ERROR";
	default:
		return "Invalid Value";
	}
}

/** urma_jetty_state_to_string() - name of an urma_jetty_state */
static inline const char *urma_jetty_state_to_string(uint8_t bit)
{
	switch (bit) {
	case URMA_JETTY_STATE_RESET:
		return "RESET";
	case URMA_JETTY_STATE_READY:
		return "READY";
	case URMA_JETTY_STATE_SUSPENDED:
		return "SUSPENDED";
	case URMA_JETTY_STATE_ERROR:
		return "ERROR";
	default:
		return "Invalid Value";
	}
}

/** urma_jfr_state_to_string() - name of an urma_jfr_state */
static inline const char *urma_jfr_state_to_string(uint8_t bit)
{
	switch (bit) {
	case URMA_JFR_STATE_RESET:
		return "RESET";
	case URMA_JFR_STATE_READY:
		return "READY";
	case URMA_JFR_STATE_ERROR:
		return "ERROR";
	default:
		return "Invalid Value";
	}
}

#ifdef __cplusplus
}
#endif

#endif /* URMA_TYPES_STR_H */
