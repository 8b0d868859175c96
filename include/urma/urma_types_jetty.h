/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * URMA types: completion channels and queues (JFCE, JFC), send and receive
 * queues (JFS, JFR), jetties, their groups, and imported targets. Included by
 * urma_types.h.
 *
 * The same notion lies at other bits in each flag union. Reserved bits are 0;
 * has_drv_ext says that a structure of the device's own begins with this one.
 */
#ifndef URMA_TYPES_JETTY_H
#define URMA_TYPES_JETTY_H

#include "urma_types_dev.h"
#include "urma_types_opt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define URMA_MAX_JETTY_IN_JETTY_GRP 32U

/* Usual values: for ever; 4.096 us << 17, 0.5 s; IB's timer code 12, 0.64 ms */
#define URMA_TYPICAL_RNR_RETRY 7
#define URMA_TYPICAL_ERR_TIMEOUT 17
#define URMA_TYPICAL_MIN_RNR_TIMER 12

/**
 * enum urma_order_type - order of execution and completion of a queue
 * @URMA_DEF_ORDER: OI for RM, OL for RC, NO for UM
 * @URMA_OT: the target keeps it
 * @URMA_OI: the initiator keeps it
 * @URMA_OL: the layer below keeps it
 * @URMA_NO: none
 */
typedef enum urma_order_type {
	URMA_DEF_ORDER = 0,
	URMA_OT = 1,
	URMA_OI = 2,
	URMA_OL = 3,
	URMA_NO = 4,
} urma_order_type_t;

/** enum urma_jfc_attr_mask - what of urma_jfc_attr is valid */
typedef enum urma_jfc_attr_mask {
	JFC_MODERATE_COUNT = 0x1 << 0,
	JFC_MODERATE_PERIOD = 0x1 << 1,
} urma_jfc_attr_mask_t;

/** enum urma_jfs_attr_mask - what of urma_jfs_attr is valid */
typedef enum urma_jfs_attr_mask {
	JFS_STATE = 0x1 << 0,
} urma_jfs_attr_mask_t;

/** enum urma_jfr_attr_mask - what of urma_jfr_attr is valid */
typedef enum urma_jfr_attr_mask {
	JFR_RX_THRESHOLD = 0x1 << 0,
	JFR_STATE = 0x1 << 1,
} urma_jfr_attr_mask_t;

/** enum urma_jetty_attr_mask - what of urma_jetty_attr is valid */
typedef enum urma_jetty_attr_mask {
	JETTY_RX_THRESHOLD = 0x1 << 0,
	JETTY_STATE = 0x1 << 1,
} urma_jetty_attr_mask_t;

/** enum urma_jetty_grp_policy - who of a group receives: in turn, or by target_hint */
typedef enum urma_jetty_grp_policy {
	URMA_JETTY_GRP_POLICY_RR = 0,
	URMA_JETTY_GRP_POLICY_HASH_HINT = 1,
} urma_jetty_grp_policy_t;

typedef enum urma_target_type {
	URMA_JFR = 0,
	URMA_JETTY = 1,
	URMA_JETTY_GROUP = 2,
} urma_target_type_t;

/** enum urma_notify_type - what a notification is the result of */
typedef enum urma_notify_type {
	URMA_IMPORT_JETTY_NOTIFY = 0,
	URMA_BIND_JETTY_NOTIFY = 1,
} urma_notify_type_t;

typedef struct urma_jfce_cfg {
	uint32_t depth;
	uint64_t user_ctx;
} urma_jfce_cfg_t;

/**
 * struct urma_jfce - channel of completion events
 * @urma_ctx: owner
 * @fd: readable when urma_wait_jfc() would return a JFC; for poll() only
 * @ref: private: JFCs that use it
 */
typedef struct urma_jfce {
	urma_context_t *urma_ctx;
	int fd;
	struct urma_ref ref;
} urma_jfce_t;

/**
 * union urma_jfc_flag - for urma_jfc_cfg
 *
 * lock_free: one thread at a time polls and arms, the library takes no lock.
 * jfc_inline: small messages arrive in the completion. non_blocking: creation
 * does not wait for the device.
 */
typedef union urma_jfc_flag {
	struct {
		uint32_t lock_free : 1;
		uint32_t jfc_inline : 1;
		uint32_t non_blocking : 1;
		uint32_t has_drv_ext : 1;
		uint32_t reserved : 28;
	} bs;
	uint32_t value;
} urma_jfc_flag_t;

/**
 * struct urma_jfc_cfg - a completion queue to be
 * @depth: completions it must hold; the device may round up
 * @flag: see above
 * @ceqn: completion vector, below urma_device_cap.ceq_cnt
 * @jfce: channel of its events, or NULL: the JFC is only polled
 * @user_ctx: the caller's
 */
typedef struct urma_jfc_cfg {
	uint32_t depth;
	urma_jfc_flag_t flag;
	uint32_t ceqn;
	urma_jfce_t *jfce;
	uint64_t user_ctx;
} urma_jfc_cfg_t;

/**
 * struct urma_jfc_attr - moderation of events
 * @mask: set of enum urma_jfc_attr_mask
 * @moderate_count: event after so many completions, below 1024
 * @moderate_period: or so many microseconds: 0 or a power of 4 from 4 to 16384
 */
typedef struct urma_jfc_attr {
	uint32_t mask;
	uint16_t moderate_count;
	uint16_t moderate_period;
} urma_jfc_attr_t;

/**
 * struct urma_jetty_id - name of a jetty, group, JFS, JFR or JFC
 * @eid: of its device
 * @uasid: 0
 * @id: 20 bits
 */
typedef struct urma_jetty_id {
	urma_eid_t eid;
	uint32_t uasid;
	uint32_t id;
} urma_jetty_id_t;

typedef urma_jetty_id_t urma_jfc_id_t;
typedef urma_jetty_id_t urma_jfs_id_t;
typedef urma_jetty_id_t urma_jfr_id_t;

/**
 * struct urma_jfc - a completion queue
 * @urma_ctx: owner
 * @jfc_id: its name
 * @jfc_cfg: what it was made with, depth as it is
 *
 * The rest is private.
 */
typedef struct urma_jfc {
	urma_context_t *urma_ctx;
	urma_jfc_id_t jfc_id;
	urma_jfc_cfg_t jfc_cfg;
	uint64_t handle;
	pthread_mutex_t event_mutex;
	pthread_cond_t event_cond;
	uint32_t comp_events_acked;
	uint32_t async_events_acked;
	urma_jfc_opt_t urma_jfc_opt;
} urma_jfc_t;

/**
 * union urma_jfs_flag - for urma_jfs_cfg
 *
 * lock_free: one thread at a time posts. error_suspend: an error suspends the
 * queue before it goes to error. outorder_comp: completions in any order.
 * order_type: enum urma_order_type. multi_path: over several TPs;
 * ctp_rc_mul_path_mode: how RC on CTP does that.
 */
typedef union urma_jfs_flag {
	struct {
		uint32_t lock_free : 1;
		uint32_t error_suspend : 1;
		uint32_t outorder_comp : 1;
		uint32_t order_type : 8;
		uint32_t multi_path : 1;
		uint32_t ctp_rc_mul_path_mode : 1;
		uint32_t non_blocking : 1;
		uint32_t has_drv_ext : 1;
		uint32_t reserved : 17;
	} bs;
	uint32_t value;
} urma_jfs_flag_t;

/**
 * struct urma_jfs_cfg - a send queue to be
 * @depth: requests it must hold
 * @flag: see above
 * @trans_mode: one of enum urma_transport_mode; RC as part of a jetty only
 * @priority: 0 to URMA_MAX_PRIORITY
 * @max_sge: local elements in a request; 0: what the device likes
 * @max_rsge: remote elements in a request
 * @max_inline_data: bytes
 * @rnr_retry: how often the target may lack a receive buffer, 0 to 7, 7: for ever
 * @err_timeout: 0 to 31: no answer for 4.096 us << err_timeout is an error
 * @jfc: where completions go
 * @user_ctx: the caller's
 */
typedef struct urma_jfs_cfg {
	uint32_t depth;
	urma_jfs_flag_t flag;
	urma_transport_mode_t trans_mode;
	uint8_t priority;
	uint8_t max_sge;
	uint8_t max_rsge;
	uint32_t max_inline_data;
	uint8_t rnr_retry;
	uint8_t err_timeout;
	urma_jfc_t *jfc;
	uint64_t user_ctx;
} urma_jfs_cfg_t;

/** struct urma_jfs - a send queue; private from @handle on */
typedef struct urma_jfs {
	urma_context_t *urma_ctx;
	urma_jfs_id_t jfs_id;
	urma_jfs_cfg_t jfs_cfg;
	uint64_t handle;
	pthread_mutex_t event_mutex;
	pthread_cond_t event_cond;
	uint32_t async_events_acked;
	urma_jfs_opt_t urma_jfs_opt;
} urma_jfs_t;

/** struct urma_jfs_attr - @mask: set of enum urma_jfs_attr_mask */
typedef struct urma_jfs_attr {
	uint32_t mask;
	urma_jfs_state_t state;
} urma_jfs_attr_t;

/**
 * union urma_jfr_flag - for urma_jfr_cfg
 *
 * token_policy: URMA_TOKEN_NONE or what senders do with token_value.
 * tag_matching: URMA_WITH_TAG_MATCHING or not. order_type: that of the senders.
 */
typedef union urma_jfr_flag {
	struct {
		uint32_t token_policy : 3;
		uint32_t tag_matching : 1;
		uint32_t lock_free : 1;
		uint32_t order_type : 8;
		uint32_t has_drv_ext : 1;
		uint32_t non_blocking : 1;
		uint32_t reserved : 17;
	} bs;
	uint32_t value;
} urma_jfr_flag_t;

/**
 * struct urma_jfr_cfg - a receive queue to be
 * @id: wanted id, 0: any
 * @depth: buffers it must hold
 * @flag: see above
 * @trans_mode: one of enum urma_transport_mode
 * @max_sge: elements in a receive request
 * @min_rnr_timer: what a sender without buffer waits, code of IB, 0 to 31
 * @jfc: where completions go
 * @token_value: what senders must know, by token_policy
 * @user_ctx: the caller's
 */
typedef struct urma_jfr_cfg {
	uint32_t id;
	uint32_t depth;
	urma_jfr_flag_t flag;
	urma_transport_mode_t trans_mode;
	uint8_t max_sge;
	uint8_t min_rnr_timer;
	urma_jfc_t *jfc;
	urma_token_t token_value;
	uint64_t user_ctx;
} urma_jfr_cfg_t;

/**
 * struct urma_jfr_attr - of a receive queue
 * @mask: set of enum urma_jfr_attr_mask
 * @rx_threshold: URMA_EVENT_JFR_LIMIT once, when fewer buffers are left. 0: never
 * @state: new state
 */
typedef struct urma_jfr_attr {
	uint32_t mask;
	uint32_t rx_threshold;
	urma_jfr_state_t state;
} urma_jfr_attr_t;

/** struct urma_jfr - a receive queue; private from @handle on */
typedef struct urma_jfr {
	urma_context_t *urma_ctx;
	urma_jfr_id_t jfr_id;
	urma_jfr_cfg_t jfr_cfg;
	uint64_t handle;
	pthread_mutex_t event_mutex;
	pthread_cond_t event_cond;
	uint32_t async_events_acked;
	urma_jfr_opt_t urma_jfr_opt;
} urma_jfr_t;

/**
 * union urma_import_jetty_flag - for what is imported
 *
 * token_policy: of the target. order_type: enum urma_order_type. share_tp: the TP
 * may serve others too. has_user_info: a user's structure begins with this one.
 */
typedef union urma_import_jetty_flag {
	struct {
		uint32_t token_policy : 3;
		uint32_t order_type : 8;
		uint32_t share_tp : 1;
		uint32_t has_drv_ext : 1;
		uint32_t has_user_info : 1;
		uint32_t reserved : 18;
	} bs;
	uint32_t value;
} urma_import_jetty_flag_t;

/** struct urma_rjfr - a JFR somewhere else, as told by its owner */
typedef struct urma_rjfr {
	urma_jfr_id_t jfr_id;
	urma_transport_mode_t trans_mode;
	urma_import_jetty_flag_t flag;
	urma_tp_type_t tp_type;
} urma_rjfr_t;

typedef struct urma_tp {
	uint32_t tpn; /* 24 bits */
} urma_tp_t;

/**
 * union urma_jetty_flag - for urma_jetty_cfg
 *
 * share_jfr: shared of urma_jetty_cfg counts, and not jfr_cfg. Always
 * URMA_SHARE_JFR with UB.
 */
typedef union urma_jetty_flag {
	struct {
		uint32_t share_jfr : 1;
		uint32_t non_blocking : 1;
		uint32_t has_drv_ext : 1;
		uint32_t has_user_info : 1;
		uint32_t reserved : 28;
	} bs;
	uint32_t value;
} urma_jetty_flag_t;

typedef struct urma_jetty urma_jetty_t;
typedef struct urma_jetty_grp urma_jetty_grp_t;

/**
 * struct urma_jetty_cfg - a jetty to be
 * @id: wanted id, 0: any
 * @flag: see above
 * @jfs_cfg: its send side; trans_mode and order_type as those of the JFR
 * @shared: jfr: the receive side; jfc: instead of the JFR's, or NULL
 * @jfr_cfg: a receive side of its own
 * @jetty_grp: a group to join, or NULL
 * @user_ctx: the caller's
 */
typedef struct urma_jetty_cfg {
	uint32_t id;
	urma_jetty_flag_t flag;
	urma_jfs_cfg_t jfs_cfg;
	union {
		struct {
			urma_jfr_t *jfr;
			urma_jfc_t *jfc;
		} shared;
		urma_jfr_cfg_t *jfr_cfg;
	};
	urma_jetty_grp_t *jetty_grp;
	uint64_t user_ctx;
} urma_jetty_cfg_t;

typedef union urma_ext_flag {
	struct {
		uint32_t enable : 1;
		uint32_t reserved : 31;
	} bs;
	uint32_t value;
} urma_ext_flag_t;

/** struct urma_ext - @length bytes appended to another structure */
typedef struct urma_ext {
	urma_ext_flag_t flag;
	uint32_t length;
	__extension__ char buf[0];
} urma_ext_t;

/**
 * struct urma_rjetty - a jetty or group somewhere else, as told by its owner
 * @jetty_id: its name
 * @trans_mode: its mode
 * @policy: of a group
 * @type: what it is
 * @flag: see above
 * @tp_type: what to reach it by
 */
typedef struct urma_rjetty {
	urma_jetty_id_t jetty_id;
	urma_transport_mode_t trans_mode;
	urma_jetty_grp_policy_t policy;
	urma_target_type_t type;
	urma_import_jetty_flag_t flag;
	urma_tp_type_t tp_type;
} urma_rjetty_t;

/** struct urma_target_jetty - what was imported; handle and tp are private */
typedef struct urma_target_jetty {
	urma_context_t *urma_ctx;
	urma_jetty_id_t id;
	uint64_t handle;
	urma_transport_mode_t trans_mode;
	urma_tp_t tp;
	urma_target_type_t type;
	urma_import_jetty_flag_t flag;
	urma_jetty_grp_policy_t policy;
	urma_tp_type_t tp_type;
} urma_target_jetty_t;

/** struct urma_jetty_attr - @mask: set of enum urma_jetty_attr_mask */
typedef struct urma_jetty_attr {
	uint32_t mask;
	uint32_t rx_threshold;
	urma_jetty_state_t state;
} urma_jetty_attr_t;

/**
 * struct urma_jetty - a send queue and a receive queue under one id
 * @remote_jetty: what it is bound to, or NULL
 *
 * Private from @handle on.
 */
struct urma_jetty {
	urma_context_t *urma_ctx;
	urma_jetty_id_t jetty_id;
	urma_target_jetty_t *remote_jetty;
	urma_jetty_cfg_t jetty_cfg;
	uint64_t handle;
	pthread_mutex_t event_mutex;
	pthread_cond_t event_cond;
	uint32_t async_events_acked;
	urma_jetty_opt_t urma_jetty_opt;
};

/** struct urma_notifier - results of asynchronous imports; @fd is for poll() only */
typedef struct urma_notifier {
	urma_context_t *urma_ctx;
	int fd;
	void *incomplete_tjetty_list;
} urma_notifier_t;

/**
 * struct urma_notify - a result
 * @type: of what
 * @status: how it ended
 * @user_ctx: as given
 * @tjetty: imported
 * @jetty: bound
 */
typedef struct urma_notify {
	urma_notify_type_t type;
	urma_status_t status;
	uint64_t user_ctx;
	union {
		urma_target_jetty_t *tjetty;
		urma_jetty_t *jetty;
	};
} urma_notify_t;

typedef union urma_jetty_grp_flag {
	struct {
		uint32_t token_policy : 3;
		uint32_t reserved : 29;
	} bs;
	uint32_t value;
} urma_jetty_grp_flag_t;

/**
 * struct urma_jetty_grp_cfg - a group to be
 * @name: text for people
 * @flag: policy of the token
 * @token_value: equals that of the members' JFR
 * @id: wanted id, 0: any
 * @policy: who receives
 * @user_ctx: the caller's
 */
typedef struct urma_jetty_grp_cfg {
	char name[URMA_MAX_NAME];
	urma_jetty_grp_flag_t flag;
	urma_token_t token_value;
	uint32_t id;
	urma_jetty_grp_policy_t policy;
	uint64_t user_ctx;
} urma_jetty_grp_cfg_t;

/** struct urma_jetty_grp - RM or UM jetties behind one id; private from jetty_cnt on */
struct urma_jetty_grp {
	urma_context_t *urma_ctx;
	urma_jetty_id_t jetty_grp_id;
	urma_jetty_grp_cfg_t cfg;
	uint32_t jetty_cnt;
	urma_jetty_t **jetty_list;
	pthread_mutex_t list_mutex;
	uint64_t handle;
	pthread_mutex_t event_mutex;
	pthread_cond_t event_cond;
	uint32_t async_events_acked;
};

#ifdef __cplusplus
}
#endif

#endif /* URMA_TYPES_JETTY_H */
