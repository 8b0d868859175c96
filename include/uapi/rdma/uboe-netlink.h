/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Traffic management of a device, by generic netlink (docs/decisions/0031).
 *
 * Family "uboe", version 1. Each request names a device, and but for a dump one node
 * of its tree by level and number (enum uboe_tm_level of ub/uboe_mbox.h). A request is
 * done as a whole or not at all. NEW, SET and DEL want CAP_NET_ADMIN.
 */
#ifndef _UAPI_RDMA_UBOE_NETLINK_H
#define _UAPI_RDMA_UBOE_NETLINK_H

#define UBOE_GENL_NAME "uboe"
#define UBOE_GENL_VERSION 1

enum uboe_genl_cmd {
	UBOE_GENL_CMD_UNSPEC,
	UBOE_GENL_CMD_TM_GET, /* a node; dump: all nodes, then jetties with a limit or a place */
	UBOE_GENL_CMD_TM_NEW,
	UBOE_GENL_CMD_TM_SET, /* the attributes that are there, the others stay */
	UBOE_GENL_CMD_TM_DEL,
	__UBOE_GENL_CMD_MAX,
	UBOE_GENL_CMD_MAX = __UBOE_GENL_CMD_MAX - 1,
};

/* Names and ranges are those of struct uboe_tm_ctx */
enum uboe_genl_attr {
	UBOE_GENL_A_UNSPEC,
	UBOE_GENL_A_PAD,
	UBOE_GENL_A_DEVICE, /* string: name of the RDMA device */
	UBOE_GENL_A_LEVEL, /* u32 */
	UBOE_GENL_A_NUMBER, /* u32 */
	UBOE_GENL_A_PARENT, /* u32, NEW only; a jetty without one has its own limit only */
	UBOE_GENL_A_VL, /* u32, NEW only */
	UBOE_GENL_A_PRIO, /* u32, 0 unless given */
	UBOE_GENL_A_WEIGHT, /* u32, 1 unless given */
	UBOE_GENL_A_PEAK_KBPS, /* u32; 0: no limit */
	UBOE_GENL_A_PEAK_BURST, /* u32, goes with PEAK_KBPS: 0 unless given */
	UBOE_GENL_A_COMMITTED_KBPS, /* u32 */
	UBOE_GENL_A_COMMITTED_BURST, /* u32, goes with COMMITTED_KBPS */
	UBOE_GENL_A_SL_VL, /* 16 bytes */
	UBOE_GENL_A_SENT, /* u64, answers only */
	UBOE_GENL_A_WAITING, /* u32, answers only */
	__UBOE_GENL_A_MAX,
	UBOE_GENL_A_MAX = __UBOE_GENL_A_MAX - 1,
};

#endif /* _UAPI_RDMA_UBOE_NETLINK_H */
