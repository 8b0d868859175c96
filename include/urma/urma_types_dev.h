/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * URMA types: devices, their capabilities and ports, EIDs and contexts. Included
 * by urma_types.h. Numbers are in host byte order unless it says otherwise.
 */
#ifndef URMA_TYPES_DEV_H
#define URMA_TYPES_DEV_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#include <atomic>
#else
#include <stdatomic.h>
#endif

#include "urma_opcode.h"

#ifdef __cplusplus
extern "C" {
#endif

#define URMA_GET_VERSION(a, b) (((a) << 16) + ((b) > 65535 ? 65535 : (b)))
#define URMA_API_VERSION ((0 << 16) + 9)

#define MAX_PORT_CNT 8
#define URMA_MAX_NAME 64
#define URMA_MAX_DEV_NAME 64
#define URMA_MAX_PATH 4096
#define URMA_GUID_SIZE (16)
#define URMA_MAX_EID_CNT 1024
#define URMA_MAX_PRIORITY 15
#define URMA_MAX_PRIORITY_CNT 16
#define URMA_CC_IDX_TABLE_SIZE 80

/* EIDs: bytes, characters as text without the terminating 0, printf() */
#define URMA_EID_SIZE (16)
#define URMA_EID_STR_LEN (39)
#define URMA_IPV4_MAP_IPV6_PREFIX (0x0000ffff)
#define EID_FMT                                                                                    \
	"%2.2x%2.2x:%2.2x%2.2x:%2.2x%2.2x:%2.2x%2.2x:%2.2x%2.2x:%2.2x%2.2x:%2.2x%2.2x:%2.2x%2.2x"
#define EID_RAW_ARGS(eid)                                                                          \
	eid[0], eid[1], eid[2], eid[3], eid[4], eid[5], eid[6], eid[7], eid[8], eid[9], eid[10],   \
		eid[11], eid[12], eid[13], eid[14], eid[15]
#define EID_ARGS(eid) EID_RAW_ARGS((eid).raw)

/* Private to the library and its providers */
struct urma_provider_ops;
struct urma_sysfs_dev;
struct urma_ops;

/**
 * struct urma_init_attr - for urma_init()
 * @token: not used
 * @uasid: wanted address space id, 0: any. Not used
 */
typedef struct urma_init_attr {
	uint64_t token;
	uint32_t uasid;
} urma_init_attr_t;

typedef enum urma_mtu {
	URMA_MTU_256 = 1,
	URMA_MTU_512 = 2,
	URMA_MTU_1024 = 3,
	URMA_MTU_2048 = 4,
	URMA_MTU_4096 = 5,
	URMA_MTU_8192 = 6,
} urma_mtu_t;

typedef enum urma_port_state {
	URMA_PORT_NOP = 0,
	URMA_PORT_DOWN = 1,
	URMA_PORT_INIT = 2,
	URMA_PORT_ARMED = 3,
	URMA_PORT_ACTIVE = 4,
	URMA_PORT_ACTIVE_DEFER = 5,
} urma_port_state_t;

/** enum urma_speed - bit/s of one port */
typedef enum urma_speed {
	URMA_SP_10M = 0,
	URMA_SP_100M = 1,
	URMA_SP_1G = 2,
	URMA_SP_2_5G = 3,
	URMA_SP_5G = 4,
	URMA_SP_10G = 5,
	URMA_SP_14G = 6,
	URMA_SP_25G = 7,
	URMA_SP_40G = 8,
	URMA_SP_50G = 9,
	URMA_SP_100G = 10,
	URMA_SP_200G = 11,
	URMA_SP_400G = 12,
	URMA_SP_800G = 13,
} urma_speed_t;

/** enum urma_link_width - lanes */
typedef enum urma_link_width {
	URMA_LINK_X1 = 0x1 << 0,
	URMA_LINK_X2 = 0x1 << 1,
	URMA_LINK_X4 = 0x1 << 2,
	URMA_LINK_X8 = 0x1 << 3,
	URMA_LINK_X16 = 0x1 << 4,
	URMA_LINK_X32 = 0x1 << 5,
} urma_link_width_t;

/**
 * enum urma_transport_type - what a device is
 *
 * uboe's devices are SOFTUB. There is no 4.
 */
typedef enum urma_transport_type {
	URMA_TRANSPORT_INVALID = -1,
	URMA_TRANSPORT_UB = 0,
	URMA_TRANSPORT_IB = 1,
	URMA_TRANSPORT_IP = 2,
	URMA_TRANSPORT_SOFTUB = 3,
	URMA_TRANSPORT_HNS_UB = 5,
	URMA_TRANSPORT_MAX = 6,
} urma_transport_type_t;

/**
 * enum urma_transport_mode - one of them, or a set in urma_device_cap.trans_mode
 * @URMA_TM_RM: reliable message: one queue, many peers
 * @URMA_TM_RC: reliable connection: one peer, bound
 * @URMA_TM_UM: unreliable message: Sends of one MTU
 */
typedef enum urma_transport_mode {
	URMA_TM_RM = 0x1 << 0,
	URMA_TM_RC = 0x1 << 1,
	URMA_TM_UM = 0x1 << 2,
} urma_transport_mode_t;

/** enum urma_tp_type - reliable, compact and unreliable TP; UBoE has no CTP */
typedef enum urma_tp_type {
	URMA_RTP = 0,
	URMA_CTP = 1,
	URMA_UTP = 2,
} urma_tp_type_t;

/** enum urma_tp_cc_alg - congestion control of a TP */
typedef enum urma_tp_cc_alg {
	URMA_TP_CC_NONE = 0,
	URMA_TP_CC_DCQCN = 1,
	URMA_TP_CC_CAQM = 2,
	URMA_TP_CC_LDCP = 3,
	URMA_TP_CC_LDCP_L2_HEADER = 4,
	URMA_TP_CC_LDCP_TP_HEADER = 5,
	URMA_TP_CC_DIP = 6,
	URMA_TP_CC_ACC = 7,
	URMA_TP_CC_CUSTOM_1 = 8,
	URMA_TP_CC_CUSTOM_2 = 9,
	URMA_TP_CC_NUM = 10,
} urma_tp_cc_alg_t;

/** enum urma_congestion_ctrl_alg - the same as a set */
typedef enum urma_congestion_ctrl_alg {
	URMA_CC_NONE = 0x1 << URMA_TP_CC_NONE,
	URMA_CC_DCQCN = 0x1 << URMA_TP_CC_DCQCN,
	URMA_CC_CAQM = 0x1 << URMA_TP_CC_CAQM,
	URMA_CC_LDCP = 0x1 << URMA_TP_CC_LDCP,
	URMA_CC_LDCP_L2_HEADER = 0x1 << URMA_TP_CC_LDCP_L2_HEADER,
	URMA_CC_LDCP_TP_HEADER = 0x1 << URMA_TP_CC_LDCP_TP_HEADER,
	URMA_CC_DIP = 0x1 << URMA_TP_CC_DIP,
	URMA_CC_ACC = 0x1 << URMA_TP_CC_ACC,
	URMA_CC_CUSTOM_1 = 0x1 << URMA_TP_CC_CUSTOM_1,
	URMA_CC_CUSTOM_2 = 0x1 << URMA_TP_CC_CUSTOM_2,
} urma_congestion_ctrl_alg_t;

/** enum urma_context_opt_name - for urma_set_context_opt() */
typedef enum urma_context_opt_name {
	URMA_OPT_AGGR_MODE = 0, /* value: urma_context_aggr_mode_t */
} urma_opt_name_t;

/** enum urma_context_aggr_mode - how a bonding device uses its members */
typedef enum urma_context_aggr_mode {
	URMA_AGGR_MODE_STANDALONE = 0,
	URMA_AGGR_MODE_ACTIVE_BACKUP = 1,
	URMA_AGGR_MODE_BALANCE = 2,
} urma_context_aggr_mode_t;

/**
 * union urma_eid - endpoint id, all of it in network byte order
 * @raw: the bytes
 * @in4: an IPv4 address: reserved 0, prefix htonl(URMA_IPV4_MAP_IPV6_PREFIX)
 * @in6: an IPv6 address
 */
typedef union urma_eid {
	uint8_t raw[URMA_EID_SIZE];
	struct {
		uint64_t reserved;
		uint32_t prefix;
		uint32_t addr;
	} in4;
	struct {
		uint64_t subnet_prefix;
		uint64_t interface_id;
	} in6;
} urma_eid_t;

/** struct urma_ref - reference count; the library's */
typedef struct urma_ref {
#ifdef __cplusplus
	std::atomic_ulong atomic_cnt;
#else
	atomic_ulong atomic_cnt;
#endif
} urma_ref_t;

/**
 * struct urma_port_attr - a port
 * @max_mtu: what the port can do
 * @state: URMA_PORT_ACTIVE or URMA_PORT_ACTIVE_DEFER when the link is up
 * @active_width: lanes in use
 * @active_speed: speed in use
 * @active_mtu: what the link lets through
 */
typedef struct urma_port_attr {
	urma_mtu_t max_mtu;
	urma_port_state_t state;
	urma_link_width_t active_width;
	urma_speed_t active_speed;
	urma_mtu_t active_mtu;
} urma_port_attr_t;

/** union urma_tp_type_en - set of TP types; the bit of type t is 1 << t */
union urma_tp_type_en {
	struct {
		uint32_t rtp : 1;
		uint32_t ctp : 1;
		uint32_t utp : 1;
		uint32_t reserved : 29;
	} bs;
	uint32_t value;
};

/**
 * struct urma_sl_info - what a priority means
 * @SL: service level
 * @tp_type: TP types that may use it
 */
struct urma_sl_info {
	uint32_t SL;
	union urma_tp_type_en tp_type;
};

/**
 * union urma_device_feature - what a device can do; reserved is 0
 *
 * uboe: the port is Ethernet, TPs are made of IP and MAC addresses.
 */
typedef union urma_device_feature {
	struct {
		uint32_t oor : 1; /* receives out of order */
		uint32_t jfc_per_wr : 1;
		uint32_t stride_op : 1;
		uint32_t load_store_op : 1;
		uint32_t non_pin : 1;
		uint32_t pmem : 1;
		uint32_t jfc_inline : 1;
		uint32_t spray_en : 1;
		uint32_t selective_retrans : 1;
		uint32_t live_migrate : 1;
		uint32_t dca : 1;
		uint32_t jetty_grp : 1;
		uint32_t error_suspend : 1;
		uint32_t outorder_comp : 1;
		uint32_t mn : 1;
		uint32_t clan : 1;
		uint32_t muti_seg_per_token_id : 1; /* spelt like this */
		uint32_t ipourma_en : 1;
		uint32_t ctp_en : 1;
		uint32_t uboe : 1;
		uint32_t reserved : 12;
	} bs;
	uint32_t value;
} urma_device_feature_t;

/** union urma_atomic_feature - atomic operations a device knows */
typedef union urma_atomic_feature {
	struct {
		uint32_t cas : 1;
		uint32_t swap : 1;
		uint32_t fetch_and_add : 1;
		uint32_t fetch_and_sub : 1;
		uint32_t fetch_and_and : 1;
		uint32_t fetch_and_or : 1;
		uint32_t fetch_and_xor : 1;
		uint32_t reserved : 25;
	} bs;
	uint32_t value;
} urma_atomic_feature_t;

/** union urma_order_type_cap - order types that a transport mode may have */
typedef union urma_order_type_cap {
	struct {
		uint32_t ot : 1;
		uint32_t oi : 1;
		uint32_t ol : 1;
		uint32_t no : 1;
		uint32_t reserved : 28;
	} bs;
	uint32_t value;
} urma_order_type_cap_t;

/** union urma_tp_type_cap - TP types that a transport mode may use */
typedef union urma_tp_type_cap {
	struct {
		uint32_t rtp : 1;
		uint32_t ctp : 1;
		uint32_t utp : 1;
		uint32_t reserved : 29;
	} bs;
	uint32_t value;
} urma_tp_type_cap_t;

typedef union urma_tp_feature {
	struct {
		uint32_t rm_multi_path : 1;
		uint32_t rc_multi_path : 1;
		uint32_t reserved : 30;
	} bs;
	uint32_t value;
} urma_tp_feature_t;

/**
 * struct urma_device_cap - limits of a device
 *
 * Counts are of objects, depths of elements in a queue, sizes of bytes in one
 * request. sge: elements on the local side; rsge: on the remote side.
 * @trans_mode: set of enum urma_transport_mode
 * @congestion_ctrl_alg: set of enum urma_congestion_ctrl_alg
 * @ceq_cnt: completion vectors; urma_jfc_cfg.ceqn is below
 * @page_size_cap: set of page sizes, bit n for 1 << n bytes
 * @priority_info: by priority
 */
typedef struct urma_device_cap {
	urma_device_feature_t feature;
	uint32_t max_jfc;
	uint32_t max_jfs;
	uint32_t max_jfr;
	uint32_t max_jetty;
	uint32_t max_jetty_grp;
	uint32_t max_jetty_in_jetty_grp;
	uint32_t max_jfc_depth;
	uint32_t max_jfs_depth;
	uint32_t max_jfr_depth;
	uint32_t max_jfs_inline_len;
	uint32_t max_jfs_sge;
	uint32_t max_jfs_rsge;
	uint32_t max_jfr_sge;
	uint64_t max_msg_size;
	uint32_t max_read_size;
	uint32_t max_write_size;
	uint32_t max_cas_size;
	uint32_t max_swap_size;
	uint32_t max_fetch_and_add_size;
	uint32_t max_fetch_and_sub_size;
	uint32_t max_fetch_and_and_size;
	uint32_t max_fetch_and_or_size;
	uint32_t max_fetch_and_xor_size;
	urma_atomic_feature_t atomic_feat;
	uint16_t trans_mode;
	uint16_t reserved;
	uint16_t congestion_ctrl_alg;
	uint32_t ceq_cnt;
	uint32_t max_tp_in_tpg;
	uint32_t max_eid_cnt;
	uint64_t page_size_cap;
	uint32_t max_oor_cnt;
	uint32_t mn;
	uint32_t max_netaddr_cnt;
	urma_order_type_cap_t rm_order_cap;
	urma_order_type_cap_t rc_order_cap;
	urma_tp_type_cap_t rm_tp_cap;
	urma_tp_type_cap_t rc_tp_cap;
	urma_tp_type_cap_t um_tp_cap;
	urma_tp_feature_t tp_feature;
	struct urma_sl_info priority_info[URMA_MAX_PRIORITY_CNT];
} urma_device_cap_t;

typedef struct urma_guid {
	uint8_t raw[URMA_GUID_SIZE];
} urma_guid_t;

/**
 * struct urma_device_attr - from urma_query_device()
 * @guid: of the device
 * @dev_cap: its limits
 * @port_cnt: how many of @port_attr are valid
 * @port_attr: state of the ports when asked
 * @reserved_jetty_id_min: well-known ids, which only privileged users get
 * @reserved_jetty_id_max: inclusive
 */
typedef struct urma_device_attr {
	urma_guid_t guid;
	urma_device_cap_t dev_cap;
	uint8_t port_cnt;
	struct urma_port_attr port_attr[MAX_PORT_CNT];
	uint32_t reserved_jetty_id_min;
	uint32_t reserved_jetty_id_max;
} urma_device_attr_t;

/** struct urma_token - value that a peer must name; a secret */
typedef struct urma_token {
	uint32_t token;
} urma_token_t;

/** struct urma_cc_entry - a row in a device's table of congestion control */
typedef struct urma_cc_entry {
	urma_tp_cc_alg_t alg;
	uint8_t cc_pattern_idx;
	uint8_t cc_priority;
} __attribute__((packed)) urma_cc_entry_t;

/**
 * struct urma_device - a device; belongs to the library
 * @name: as in urma_get_device_by_name()
 * @path: in sysfs, or empty
 * @type: what kind
 * @ops: private
 * @sysfs_dev: private
 */
typedef struct urma_device {
	char name[URMA_MAX_NAME];
	char path[URMA_MAX_PATH];
	urma_transport_type_t type;
	struct urma_provider_ops *ops;
	struct urma_sysfs_dev *sysfs_dev;
} urma_device_t;

/**
 * struct urma_context - a device opened with one of its EIDs
 * @dev: the device
 * @ops: private
 * @dev_fd: private; -1 without one
 * @async_fd: readable when urma_get_async_event() has something; for poll() only
 * @mutex: private
 * @eid: source of all traffic
 * @eid_index: its place in the device's list
 * @uasid: 0
 * @ref: private: objects made from the context
 * @aggr_mode: of a bonding device
 */
typedef struct urma_context {
	struct urma_device *dev;
	struct urma_ops *ops;
	int dev_fd;
	int async_fd;
	pthread_mutex_t mutex;
	urma_eid_t eid;
	uint32_t eid_index;
	uint32_t uasid;
	struct urma_ref ref;
	urma_context_aggr_mode_t aggr_mode;
} urma_context_t;

typedef struct urma_eid_info {
	urma_eid_t eid;
	uint32_t eid_index;
} urma_eid_info_t;

#ifdef __cplusplus
}
#endif

#endif /* URMA_TYPES_DEV_H */
