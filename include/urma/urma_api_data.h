/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * URMA for C programs: memory, requests, TPs and addresses. Part of urma_api.h,
 * where errors and threads are explained.
 */
#ifndef URMA_API_DATA_H
#define URMA_API_DATA_H

#include "urma_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** urma_alloc_token_id() - token id for one segment. @ctx: context. Return: it, or NULL */
urma_token_id_t *urma_alloc_token_id(urma_context_t *ctx);

/**
 * urma_alloc_token_id_ex() - token id
 * @ctx: context
 * @flag: multi_seg: for several segments, whose addresses are those of pages
 *
 * Return: it, or NULL.
 */
urma_token_id_t *urma_alloc_token_id_ex(urma_context_t *ctx, urma_token_id_flag_t flag);

/** urma_free_token_id() - Return: 0; URMA_EAGAIN: segments use it. @token_id: it */
urma_status_t urma_free_token_id(urma_token_id_t *token_id);

/**
 * urma_register_seg() - make memory usable for requests, and by access for peers
 * @ctx: context
 * @seg_cfg: without token_id_valid the library chooses a token id
 *
 * Return: segment; its seg and the token's value are what a peer needs. NULL:
 * EINVAL: WRITE without READ, ATOMIC without both, length 0, an address without
 * memory; ENOMEM: more than may be pinned.
 */
urma_target_seg_t *urma_register_seg(urma_context_t *ctx, urma_seg_cfg_t *seg_cfg);

/** urma_unregister_seg() - peers lose access at once. @target_seg: segment */
urma_status_t urma_unregister_seg(urma_target_seg_t *target_seg);

/**
 * urma_import_seg() - make a peer's segment usable in requests
 * @ctx: context
 * @seg: from the peer
 * @token_value: what it wants to see, or NULL
 * @addr: with URMA_SEG_MAPPED: where, 0: anywhere
 * @flag: mapping and others
 *
 * Nobody asks the peer; what is wrong shows in completions. Return: segment, or
 * NULL.
 */
urma_target_seg_t *urma_import_seg(urma_context_t *ctx, urma_seg_t *seg, urma_token_t *token_value,
				   uint64_t addr, urma_import_seg_flag_t flag);

/** urma_unimport_seg() - undo it; no request uses it any more. @tseg: segment */
urma_status_t urma_unimport_seg(urma_target_seg_t *tseg);

/**
 * urma_get_seg_ctx() - what a peer needs to import a segment, with its length
 * @target_seg: registered segment
 * @seg: begins with urma_seg; for urma_put_seg_ctx()
 * @size: its bytes
 */
urma_status_t urma_get_seg_ctx(urma_target_seg_t *target_seg, urma_seg_t **seg, uint32_t *size);

/** urma_put_seg_ctx() - free it. @seg: from urma_get_seg_ctx() */
void urma_put_seg_ctx(urma_seg_t *seg);

/*
 * Requests. Lists are posted in their order up to the first that is refused;
 * *bad_wr is that one, and those before it are posted. The list itself is the
 * caller's again on return, and with inline_flag the data too; otherwise data
 * belong to the device until the completion. A queue without room: ENOMEM; one
 * that is in error: requests are taken and flushed.
 */

/**
 * urma_post_jfs_wr() - to a send queue
 * @jfs: queue, READY
 * @wr: list; tjetty of each is an imported JFR, jetty or group
 * @bad_wr: first that was refused
 */
urma_status_t urma_post_jfs_wr(urma_jfs_t *jfs, urma_jfs_wr_t *wr, urma_jfs_wr_t **bad_wr);

/**
 * urma_post_jfr_wr() - buffers to a receive queue
 * @jfr: queue
 * @wr: list
 * @bad_wr: first that was refused
 */
urma_status_t urma_post_jfr_wr(urma_jfr_t *jfr, urma_jfr_wr_t *wr, urma_jfr_wr_t **bad_wr);

/**
 * urma_post_jetty_send_wr() - to the send side of a jetty
 * @jetty: jetty, READY; in RC it is bound
 * @wr: list; tjetty counts in RM and UM only
 * @bad_wr: first that was refused
 */
urma_status_t urma_post_jetty_send_wr(urma_jetty_t *jetty, urma_jfs_wr_t *wr,
				      urma_jfs_wr_t **bad_wr);

/**
 * urma_post_jetty_recv_wr() - buffers to the JFR of a jetty, for all that share it
 * @jetty: jetty
 * @wr: list
 * @bad_wr: first that was refused
 */
urma_status_t urma_post_jetty_recv_wr(urma_jetty_t *jetty, urma_jfr_wr_t *wr,
				      urma_jfr_wr_t **bad_wr);

/**
 * urma_write() - one Write, of one local piece
 * @jfs: queue
 * @target_jfr: whose memory
 * @dst_tseg: remote segment
 * @src_tseg: local segment
 * @dst: remote address
 * @src: local address
 * @len: bytes
 * @flag: as in urma_jfs_wr
 * @user_ctx: for the completion
 *
 * Return: as urma_post_jfs_wr().
 */
urma_status_t urma_write(urma_jfs_t *jfs, urma_target_jetty_t *target_jfr,
			 urma_target_seg_t *dst_tseg, urma_target_seg_t *src_tseg, uint64_t dst,
			 uint64_t src, uint32_t len, urma_jfs_wr_flag_t flag, uint64_t user_ctx);

/**
 * urma_read() - one Read, to one local piece
 * @jfs: queue
 * @target_jfr: whose memory
 * @dst_tseg: local segment
 * @src_tseg: remote segment
 * @dst: local address
 * @src: remote address
 * @len: bytes
 * @flag: as in urma_jfs_wr
 * @user_ctx: for the completion
 *
 * Return: as urma_post_jfs_wr().
 */
urma_status_t urma_read(urma_jfs_t *jfs, urma_target_jetty_t *target_jfr,
			urma_target_seg_t *dst_tseg, urma_target_seg_t *src_tseg, uint64_t dst,
			uint64_t src, uint32_t len, urma_jfs_wr_flag_t flag, uint64_t user_ctx);

/**
 * urma_send() - one Send, of one piece
 * @jfs: queue
 * @target_jfr: who receives
 * @src_tseg: local segment
 * @src: local address
 * @len: bytes
 * @flag: as in urma_jfs_wr
 * @user_ctx: for the completion
 *
 * Return: as urma_post_jfs_wr().
 */
urma_status_t urma_send(urma_jfs_t *jfs, urma_target_jetty_t *target_jfr,
			urma_target_seg_t *src_tseg, uint64_t src, uint32_t len,
			urma_jfs_wr_flag_t flag, uint64_t user_ctx);

/**
 * urma_recv() - one receive buffer, of one piece
 * @jfr: queue
 * @recv_tseg: local segment
 * @buf: local address
 * @len: bytes
 * @user_ctx: for the completion
 *
 * Return: as urma_post_jfr_wr().
 */
urma_status_t urma_recv(urma_jfr_t *jfr, urma_target_seg_t *recv_tseg, uint64_t buf, uint32_t len,
			uint64_t user_ctx);

/*
 * TPs by handle. Without these, urma_import_jetty() and urma_bind_jetty() find a
 * TP themselves.
 */

/**
 * urma_get_tp_list() - TPs between two EIDs
 * @ctx: context
 * @cfg: which
 * @tp_cnt: in: room in @tp_list, at most 128; out: how many there are in it
 * @tp_list: handles, for urma_active_tp_cfg
 */
urma_status_t urma_get_tp_list(urma_context_t *ctx, urma_get_tp_cfg_t *cfg, uint32_t *tp_cnt,
			       urma_tp_info_t *tp_list);

/**
 * urma_set_tp_attr() - before the TP is used
 * @ctx: context
 * @tp_handle: from urma_get_tp_list()
 * @tp_attr_cnt: number of attributes
 * @tp_attr_bitmap: which: see urma_tp_attr_value
 * @tp_attr: values
 */
urma_status_t urma_set_tp_attr(const urma_context_t *ctx, const uint64_t tp_handle,
			       const uint8_t tp_attr_cnt, const uint32_t tp_attr_bitmap,
			       const urma_tp_attr_value_t *tp_attr);

/**
 * urma_get_tp_attr() - what it is
 * @ctx: context
 * @tp_handle: from urma_get_tp_list()
 * @tp_attr_cnt: number of attributes
 * @tp_attr_bitmap: which are valid
 * @tp_attr: values
 */
urma_status_t urma_get_tp_attr(const urma_context_t *ctx, const uint64_t tp_handle,
			       uint8_t *tp_attr_cnt, uint32_t *tp_attr_bitmap,
			       urma_tp_attr_value_t *tp_attr);

/**
 * urma_modify_tp() - TP of the user's own; obsolete
 * @ctx: context
 * @tpn: which
 * @cfg: configuration
 * @attr: attributes
 * @mask: which of them
 *
 * Return: 0, or an error.
 */
int urma_modify_tp(urma_context_t *ctx, uint32_t tpn, urma_tp_cfg_t *cfg, urma_tp_attr_t *attr,
		   urma_tp_attr_mask_t mask);

/**
 * urma_get_net_addr_list() - addresses for urma_modify_tp(); obsolete
 * @ctx: context
 * @cnt: how many
 *
 * Return: array, for urma_free_net_addr_list(), or NULL.
 */
urma_net_addr_info_t *urma_get_net_addr_list(urma_context_t *ctx, uint32_t *cnt);

/**
 * urma_free_net_addr_list() - give the array back
 * @net_addr_list: from urma_get_net_addr_list(), or NULL
 */
void urma_free_net_addr_list(urma_net_addr_info_t *net_addr_list);

/*
 * Addresses of UBoE: EID, IP and MAC
 */

/**
 * urma_get_eid_by_ip() - EID that an IP address stands for
 * @ctx: context
 * @net_addr: sin_family, and in4 or in6, network byte order
 * @eid: network byte order
 */
urma_status_t urma_get_eid_by_ip(const urma_context_t *ctx, const urma_net_addr_t *net_addr,
				 urma_eid_t *eid);

/**
 * urma_get_ip_by_eid() - IP address that an EID stands for
 * @ctx: context
 * @eid: network byte order
 * @net_addr: sin_family, and in4 or in6, network byte order
 */
urma_status_t urma_get_ip_by_eid(const urma_context_t *ctx, const urma_eid_t *eid,
				 urma_net_addr_t *net_addr);

/**
 * urma_get_smac() - MAC address of our own
 * @ctx: context
 * @mac: room for URMA_MAC_BYTES
 */
urma_status_t urma_get_smac(const urma_context_t *ctx, uint8_t *mac);

/**
 * urma_get_dmac() - MAC address on the way to an IP address
 * @ctx: context
 * @net_addr: of the peer
 * @mac: room for URMA_MAC_BYTES
 *
 * May take as long as the network's search for a neighbour.
 */
urma_status_t urma_get_dmac(const urma_context_t *ctx, const urma_net_addr_t *net_addr,
			    uint8_t *mac);

#ifdef __cplusplus
}
#endif

#endif /* URMA_API_DATA_H */
