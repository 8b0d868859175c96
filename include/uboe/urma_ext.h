/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the URMA API has no names for: operations, rotation of tokens. A request that says
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

#include <stdbool.h>

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

/**
 * uboe_rotate_token - another TokenValue for a registered segment
 * @seg: of urma_register_seg(), with a token policy
 * @token: that peers need from now on
 * @keep_present: the present one stays valid beside it, until the next call
 *
 * Peers that imported the segment import it again with the new value. Accesses in
 * progress are not disturbed. Thread safe against everything but calls for the same
 * segment and requests that name @seg itself as their target.
 *
 * Return: URMA_SUCCESS; URMA_EINVAL: not a registered segment, or it needs no token;
 * URMA_ENODEV: the device is gone.
 */
urma_status_t uboe_rotate_token(urma_target_seg_t *seg, urma_token_t token, bool keep_present);

#ifdef __cplusplus
}
#endif

#endif /* UBOE_URMA_EXT_H */
