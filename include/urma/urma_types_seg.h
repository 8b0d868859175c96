/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * URMA types: segments, local and imported, and their token ids. Included by
 * urma_types.h.
 */
#ifndef URMA_TYPES_SEG_H
#define URMA_TYPES_SEG_H

#include "urma_types_dev.h"

#ifdef __cplusplus
extern "C" {
#endif

#define URMA_SEG_TOKEN_ID_INVALID 0xffffffff

/**
 * struct urma_ubva - where a segment is; without padding
 * @eid: whose
 * @uasid: 0
 * @va: in the owner's process
 */
typedef struct urma_ubva {
	urma_eid_t eid;
	uint32_t uasid;
	uint64_t va;
} __attribute__((packed)) urma_ubva_t;

/**
 * union urma_reg_seg_flag - for urma_seg_cfg
 *
 * token_policy: URMA_TOKEN_NONE and others. access: set of URMA_ACCESS_READ and
 * others. non_pin: pages may move. user_iova: urma_seg_cfg.iova counts.
 * token_id_valid: urma_seg_cfg.token_id counts.
 */
typedef union urma_reg_seg_flag {
	struct {
		uint32_t token_policy : 3;
		uint32_t cacheable : 1;
		uint32_t dsva : 1;
		uint32_t access : 6;
		uint32_t non_pin : 1;
		uint32_t user_iova : 1;
		uint32_t token_id_valid : 1;
		uint32_t reserved : 18;
	} bs;
	uint32_t value;
} urma_reg_seg_flag_t;

/**
 * union urma_seg_attr - what peers are told
 *
 * user_token_id: the token id was the user's. has_user_info: a user's structure
 * begins with this one.
 */
typedef union urma_seg_attr {
	struct {
		uint32_t token_policy : 3;
		uint32_t cacheable : 1;
		uint32_t dsva : 1;
		uint32_t access : 6;
		uint32_t non_pin : 1;
		uint32_t user_iova : 1;
		uint32_t user_token_id : 1;
		uint32_t has_user_info : 1;
		uint32_t reserved : 17;
	} bs;
	uint32_t value;
} urma_seg_attr_t;

/** union urma_import_seg_flag - mapping: URMA_SEG_MAPPED or URMA_SEG_NOMAP */
typedef union urma_import_seg_flag {
	struct {
		uint32_t cacheable : 1;
		uint32_t access : 6;
		uint32_t mapping : 1;
		uint32_t reserved : 24;
	} bs;
	uint32_t value;
} urma_import_seg_flag_t;

/** union urma_token_id_flag - multi_seg: several segments may have the token id */
typedef union urma_token_id_flag {
	struct {
		uint32_t multi_seg : 1;
		uint32_t reserved : 31;
	} bs;
	uint32_t value;
} urma_token_id_flag_t;

/**
 * struct urma_token_id - name of one or more segments in a device
 * @urma_ctx: owner
 * @token_id: 20 bits, shifted by 8
 * @handle: private
 * @ref: private: segments that use it
 * @flag: as given
 */
typedef struct urma_token_id {
	urma_context_t *urma_ctx;
	uint32_t token_id;
	uint64_t handle;
	urma_ref_t ref;
	urma_token_id_flag_t flag;
} urma_token_id_t;

/**
 * struct urma_seg_cfg - memory to be registered
 * @va: its address
 * @len: its bytes
 * @token_id: with token_id_valid; with multi_seg @va is on a page's boundary
 * @token_value: what peers must know, by token_policy
 * @flag: see above
 * @user_ctx: the caller's
 * @iova: the address that peers use, with user_iova
 */
typedef struct urma_seg_cfg {
	uint64_t va;
	uint64_t len;
	urma_token_id_t *token_id;
	urma_token_t token_value;
	urma_reg_seg_flag_t flag;
	uint64_t user_ctx;
	uint64_t iova;
} urma_seg_cfg_t;

/**
 * struct urma_seg - a segment as peers know it
 *
 * Programs copy it to the peer, who imports it. Host byte order, and the token's
 * value is not in it.
 */
typedef struct urma_seg {
	urma_ubva_t ubva;
	uint64_t len;
	urma_seg_attr_t attr;
	uint32_t token_id;
} urma_seg_t;

/**
 * struct urma_target_seg - a segment that requests can name
 * @seg: as peers know it
 * @user_ctx: the caller's; registered segments
 * @mva: where it is mapped; imported segments with URMA_SEG_MAPPED
 * @urma_ctx: owner
 * @token_id: of a registered segment
 * @handle: private
 */
typedef struct urma_target_seg {
	urma_seg_t seg;
	uint64_t user_ctx;
	uint64_t mva;
	urma_context_t *urma_ctx;
	urma_token_id_t *token_id;
	uint64_t handle;
} urma_target_seg_t;

/** struct urma_user_target_seg - a remote segment that was not imported */
typedef struct urma_user_target_seg {
	urma_seg_attr_t attr;
	uint32_t token_id;
	urma_token_t token_value;
} urma_user_tseg_t;

/*
 * Regions (UR): types without functions, which programs may mention.
 */
#define UR_NAME_MAX_LEN 256
#define JFR_NAME_MAX_LEN 256
#define URMA_MAX_SEGS_PER_UR_OPT 64

typedef union urma_ur_attr {
	struct {
		uint32_t reserved : 32;
	} bs;
	uint32_t value;
} urma_ur_attr_t;

typedef union urma_import_ur_flag {
	struct {
		uint32_t mapping : 2;
		uint32_t reserved : 30;
	} bs;
	uint32_t value;
} urma_import_ur_flag_t;

typedef struct urma_ur {
	char name[UR_NAME_MAX_LEN];
	uint64_t size;
	urma_ur_attr_t attr;
	uint64_t token;
	uint64_t user_ctx;
} urma_ur_t;

typedef struct urma_target_ur {
	char name[UR_NAME_MAX_LEN];
	uint64_t size;
	urma_import_ur_flag_t flag;
	urma_target_seg_t **tseg_list;
	uint32_t cnt;
} urma_target_ur_t;

typedef struct urma_seg_info {
	urma_seg_t seg;
	uint32_t idx_in_ur;
} urma_seg_info_t;

typedef struct urma_ur_info {
	char name[UR_NAME_MAX_LEN];
	uint64_t size;
	urma_ur_attr_t attr;
	uint32_t cnt;
	__extension__ urma_seg_info_t seg_list[0];
} urma_ur_info_t;

typedef struct urma_jfr_info {
	char name[JFR_NAME_MAX_LEN];
	urma_eid_t eid;
	uint32_t uasid;
	uint32_t id;
} urma_jfr_info_t;

#ifdef __cplusplus
}
#endif

#endif /* URMA_TYPES_SEG_H */
