/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Operations that the URMA API has no names for. A request that says
 * flag.bs.has_drv_ext is the first member of a struct uboe_jfs_wr.
 *
 *	Write with reduce	opcode URMA_OPC_WRITE: remote memory becomes (remote op local)
 *	Read with reduce	URMA_OPC_READ: local memory becomes (local op remote)
 *	Write with store add	URMA_OPC_WRITE_NOTIFY: notify_data is added to the 8 bytes
 *				at the second destination once all data are there
 *	Atomic store, load	URMA_OPC_FADD: remote memory becomes (remote op operand); a
 *				load brings the old value, a store nothing and needs no src
 *
 * Reduce: one packet at most, whole elements, the remote address a multiple of
 * their size; each element changes in one step. Store add: 64 KiB at most, one local
 * element, the counter aligned, its segment with URMA_ACCESS_ATOMIC. Atomics: 4 or
 * 8 bytes, the length of dst.
 */
#ifndef UBOE_URMA_EXT_H
#define UBOE_URMA_EXT_H

#include <urma/urma_types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum uboe_wr_kind {
	UBOE_WR_REDUCE = 1,
	UBOE_WR_STORE_ADD = 2,
	UBOE_WR_ATOMIC_STORE = 3,
	UBOE_WR_ATOMIC_LOAD = 4,
};

/** enum uboe_wr_op - of reduce, atomic store and load */
enum uboe_wr_op {
	UBOE_WR_ADD = 0,
	UBOE_WR_XOR = 1, /* these three: not for floating point */
	UBOE_WR_CLEAR = 2, /* bits that the operand has are cleared */
	UBOE_WR_SET = 3,
	UBOE_WR_SMAX = 4, /* these two: signed and floating point types */
	UBOE_WR_SMIN = 5,
	UBOE_WR_UMAX = 6, /* these two: unsigned types */
	UBOE_WR_UMIN = 7,
};

/** enum uboe_wr_type - elements of a reduce */
enum uboe_wr_type {
	UBOE_WR_S8 = 0,
	UBOE_WR_S16 = 1,
	UBOE_WR_S32 = 2,
	UBOE_WR_S64 = 3,
	UBOE_WR_FP16 = 4,
	UBOE_WR_BF16 = 5,
	UBOE_WR_FP32 = 6,
	UBOE_WR_U8 = 8,
	UBOE_WR_U16 = 9,
	UBOE_WR_U32 = 10,
	UBOE_WR_U64 = 11,
};

/**
 * struct uboe_jfs_wr - a request with an extension
 * @wr: flag.bs.has_drv_ext is 1
 * @size: of this structure
 * @kind: enum uboe_wr_kind
 * @op: enum uboe_wr_op, 0 with UBOE_WR_STORE_ADD
 * @type: enum uboe_wr_type, 0 but with UBOE_WR_REDUCE
 * @reserved: 0
 */
typedef struct uboe_jfs_wr {
	urma_jfs_wr_t wr;
	uint32_t size;
	uint8_t kind;
	uint8_t op;
	uint8_t type;
	uint8_t reserved;
} uboe_jfs_wr_t;

/*
 * The device of a context, which all contexts at its EID share. A device of the kernel is
 * its administrator's: URMA_EOPNOTSUPP.
 *
 * Partition: 1 to 0xffffff, 1 by default, and privilege. Devices talk to each other when
 * they are in the same partition and not both of low privilege. Set while the device has no
 * jetty and no JFS (EBUSY).
 */
#define UBOE_PARTITION_ID 0x00ffffffu
#define UBOE_PARTITION_LOW 0x01000000u

urma_status_t uboe_set_partition(urma_context_t *ctx, uint32_t partition);
urma_status_t uboe_get_partition(urma_context_t *ctx, uint32_t *partition);

/*
 * Reset: jetties and JFSs of all contexts go to ERROR and flush their work, JFRs and
 * segments cannot be used any more, peers are told. All can be deleted and made anew; JFCs go
 * on. URMA_EVENT_ELR_ERR tells that it begins, URMA_EVENT_ELR_DONE that all work has
 * completed.
 */
urma_status_t uboe_reset_device(urma_context_t *ctx);

#ifdef __cplusplus
}
#endif

#endif /* UBOE_URMA_EXT_H */
