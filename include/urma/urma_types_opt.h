/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * URMA types: options of queues made in steps. Included by urma_types.h.
 *
 * An object has two lives: create and delete; or alloc, set_opt as often as is
 * wanted, active, and then get_opt, deactive, free. In the second the caller may
 * say where the ring and the doorbell are and where the indices start.
 *
 * The value of an option is passed as address and length; the comment behind an
 * option is its type, in host byte order. *_BASE_ADDR and DB_ADDR are addresses
 * in the process. PI_TYPE: 0, a producer index is absolute; 1, it is added.
 */
#ifndef URMA_TYPES_OPT_H
#define URMA_TYPES_OPT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define URMA_OPT_REVERSED_NUM 4 /* reserved words */

/* JFS: urma_set_jfs_opt(), urma_get_jfs_opt() */
#define URMA_JFS_DEPTH 0x0001 /* uint32_t */
#define URMA_JFS_FLAG 0x0002 /* urma_jfs_flag_t */
#define URMA_JFS_TRANS_MODE 0x0003 /* urma_transport_mode_t */
#define URMA_JFS_PRIORITY 0x0004 /* uint8_t */
#define URMA_JFS_MAX_SGE 0x0005 /* uint8_t */
#define URMA_JFS_MAX_RSGE 0x0006 /* uint8_t */
#define URMA_JFS_MAX_INLINE_DATA 0x0007 /* uint32_t */
#define URMA_JFS_RNR_RETRY 0x0008 /* uint8_t */
#define URMA_JFS_ERR_TIMEOUT 0x0009 /* uint8_t */
#define URMA_JFS_BIND_JFC 0x000a /* urma_jfc_t * */
#define URMA_JFS_USER_CTX 0x000b /* uint64_t */
#define URMA_JFS_SQE_BASE_ADDR 0x000c /* uint64_t */
#define URMA_JFS_ID 0x000d /* uint32_t */
#define URMA_JFS_DB_ADDR 0x000e /* uint64_t */
#define URMA_JFS_DB_STATUS 0x000f /* uint8_t */
#define URMA_JFS_PI 0x0010 /* uint16_t */
#define URMA_JFS_PI_TYPE 0x0011 /* uint16_t */
#define URMA_JFS_CI 0x0012 /* uint16_t */
#define URMA_JFS_FULL_CTX 0x0013 /* the device's own */

/* Which of them were set: urma_jfs_opt_mask */
#define URMA_JFS_SQE_BASE_ADDR_MASK (1ULL << 0)
#define URMA_JFS_ID_MASK (1ULL << 1)
#define URMA_JFS_DB_ADDR_MASK (1ULL << 2)
#define URMA_JFS_DB_STATUS_MASK (1ULL << 3)
#define URMA_JFS_PI_MASK (1ULL << 4)
#define URMA_JFS_PI_TYPE_MASK (1ULL << 5)
#define URMA_JFS_CI_MASK (1ULL << 6)

/* JFR: urma_set_jfr_opt(), urma_get_jfr_opt() */
#define URMA_JFR_DEPTH 0x1001 /* uint32_t */
#define URMA_JFR_FLAG 0x1002 /* urma_jfr_flag_t */
#define URMA_JFR_TRANS_MODE 0x1003 /* urma_transport_mode_t */
#define URMA_JFR_MAX_SGE 0x1004 /* uint8_t */
#define URMA_JFR_MIN_RNR_TIMER 0x1005 /* uint8_t */
#define URMA_JFR_BIND_JFC 0x1006 /* urma_jfc_t * */
#define URMA_JFR_TOKEN_VALUE 0x1007 /* urma_token_t */
#define URMA_JFR_USER_CTX 0x1008 /* uint64_t */
#define URMA_JFR_RQE_BASE_ADDR 0x1009 /* uint64_t */
#define URMA_JFR_ID 0x100a /* uint32_t */
#define URMA_JFR_DB_ADDR 0x100b /* uint64_t */
#define URMA_JFR_DB_STATUS 0x100c /* uint8_t */
#define URMA_JFR_PI 0x100d /* uint16_t */
#define URMA_JFR_PI_TYPE 0x100e /* uint16_t */
#define URMA_JFR_CI 0x100f /* uint16_t */
#define URMA_JFR_FULL_CTX 0x1010 /* the device's own */

/* Which of them were set: urma_jfr_opt_mask */
#define URMA_JFR_RQE_BASE_ADDR_MASK (1ULL << 0)
#define URMA_JFR_ID_MASK (1ULL << 1)
#define URMA_JFR_DB_ADDR_MASK (1ULL << 2)
#define URMA_JFR_DB_STATUS_MASK (1ULL << 3)
#define URMA_JFR_PI_MASK (1ULL << 4)
#define URMA_JFR_PI_TYPE_MASK (1ULL << 5)
#define URMA_JFR_CI_MASK (1ULL << 6)

/* JFC: urma_set_jfc_opt(), urma_get_jfc_opt() */
#define URMA_JFC_DEPTH 0x2001 /* uint32_t */
#define URMA_JFC_CEQN 0x2002 /* uint32_t */
#define URMA_JFC_FLAG 0x2003 /* urma_jfc_flag_t */
#define URMA_JFC_BIND_JFCE 0x2004 /* urma_jfce_t * */
#define URMA_JFC_USER_CTX 0x2005 /* uint64_t */
#define URMA_JFC_CQE_BASE_ADDR 0x2006 /* uint64_t */
#define URMA_JFC_ID 0x2007 /* uint32_t */
#define URMA_JFC_DB_ADDR 0x2008 /* uint64_t */
#define URMA_JFC_DB_STATUS 0x2009 /* uint8_t */
#define URMA_JFC_PI 0x200a /* uint16_t */
#define URMA_JFC_PI_TYPE 0x200b /* uint16_t */
#define URMA_JFC_CI 0x200c /* uint16_t */
#define URMA_JFC_FULL_CTX 0x200d /* the device's own */

/* Which of them were set: urma_jfc_opt_mask */
#define URMA_JFC_CQE_BASE_ADDR_MASK (1ULL << 0)
#define URMA_JFC_ID_MASK (1ULL << 1)
#define URMA_JFC_DB_ADDR_MASK (1ULL << 2)
#define URMA_JFC_DB_STATUS_MASK (1ULL << 3)
#define URMA_JFC_PI_MASK (1ULL << 4)
#define URMA_JFC_PI_TYPE_MASK (1ULL << 5)
#define URMA_JFC_CI_MASK (1ULL << 6)

/* Jetty: urma_set_jetty_opt(), urma_get_jetty_opt(), which also take the JFS's */
#define URMA_JETTY_ID 0x3001 /* uint32_t */
#define URMA_JETTY_FLAG 0x3002 /* urma_jetty_flag_t */
#define URMA_JETTY_BIND_JFR 0x3003 /* urma_jfr_t * */
#define URMA_JETTY_BIND_RX_JFC 0x3004 /* urma_jfc_t * */
#define URMA_JETTY_BIND_JTG 0x3005 /* urma_jetty_grp_t * */
#define URMA_JETTY_USER_CTX 0x3006 /* uint64_t */
#define URMA_JETTY_FULL_CTX 0x3007 /* the device's own */

/** union urma_jfc_opt_mask - what was set; not in the order of the masks above */
union urma_jfc_opt_mask {
	__extension__ struct {
		uint64_t urma_jfc_cqe_base_addr : 1;
		uint64_t urma_jfc_db_addr : 1;
		uint64_t urma_jfc_id : 1;
		uint64_t urma_jfc_pi : 1;
		uint64_t urma_jfc_pi_type : 1;
		uint64_t urma_jfc_ci : 1;
		uint64_t urma_jfc_db_status : 1;
		uint64_t reserved : 57;
	} bs;
	uint64_t value;
};

typedef struct urma_jfc_opt {
	union urma_jfc_opt_mask jfc_opt_mask;
	bool is_actived;
	uint64_t urma_jfc_cqe_base_addr;
	uint32_t urma_jfc_id;
	uint64_t urma_jfc_db_addr;
	uint8_t urma_jfc_db_status;
	uint16_t urma_jfc_pi;
	uint16_t urma_jfc_pi_type;
	uint16_t urma_jfc_ci;
	uint64_t reserved[URMA_OPT_REVERSED_NUM];
} urma_jfc_opt_t;

/** union urma_jfs_opt_mask - what was set; not in the order of the masks above */
union urma_jfs_opt_mask {
	__extension__ struct {
		uint64_t urma_jfs_cqe_base_addr : 1;
		uint64_t urma_jfs_db_addr : 1;
		uint64_t urma_jfs_id : 1;
		uint64_t urma_jfs_pi : 1;
		uint64_t urma_jfs_pi_type : 1;
		uint64_t urma_jfs_ci : 1;
		uint64_t urma_jfs_db_status : 1;
		uint64_t reserved : 57;
	} bs;
	uint64_t value;
};

typedef struct urma_jfs_opt {
	union urma_jfs_opt_mask jfs_opt_mask;
	bool is_actived;
	uint64_t urma_jfs_sqe_base_addr;
	uint32_t urma_jfs_id;
	uint64_t urma_jfs_db_addr;
	uint8_t urma_jfs_db_status;
	uint16_t urma_jfs_pi;
	uint16_t urma_jfs_pi_type;
	uint16_t urma_jfs_ci;
	uint64_t reserved[URMA_OPT_REVERSED_NUM];
} urma_jfs_opt_t;

/** union urma_jfr_opt_mask - what was set; not in the order of the masks above */
union urma_jfr_opt_mask {
	__extension__ struct {
		uint64_t urma_jfr_cqe_base_addr : 1;
		uint64_t urma_jfr_db_addr : 1;
		uint64_t urma_jfr_id : 1;
		uint64_t urma_jfr_pi : 1;
		uint64_t urma_jfr_pi_type : 1;
		uint64_t urma_jfr_ci : 1;
		uint64_t urma_jfr_db_status : 1;
		uint64_t reserved : 57;
	} bs;
	uint64_t value;
};

typedef struct urma_jfr_opt {
	union urma_jfr_opt_mask jfr_opt_mask;
	bool is_actived;
	uint64_t urma_jfr_rqe_base_addr;
	uint32_t urma_jfr_id;
	uint64_t urma_jfr_db_addr;
	uint8_t urma_jfr_db_status;
	uint16_t urma_jfr_pi;
	uint16_t urma_jfr_pi_type;
	uint16_t urma_jfr_ci;
	uint64_t reserved[URMA_OPT_REVERSED_NUM];
} urma_jfr_opt_t;

/** struct urma_jetty_opt - @jfs_opt: of the send side */
typedef struct urma_jetty_opt {
	bool is_actived;
	urma_jfs_opt_t jfs_opt;
	uint64_t reserved[URMA_OPT_REVERSED_NUM];
} urma_jetty_opt_t;

#ifdef __cplusplus
}
#endif

#endif /* URMA_TYPES_OPT_H */
