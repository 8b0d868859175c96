/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * URMA for C programs: send queues, receive queues, jetties, their groups, and
 * targets somewhere else. Part of urma_api.h, where errors and threads are
 * explained.
 *
 * To stop a queue without loss of records: modify to ERROR; poll until
 * URMA_CR_WR_FLUSH_ERR_DONE; flush until it returns 0; delete it, or modify to
 * RESET and to READY.
 */
#ifndef URMA_API_JETTY_H
#define URMA_API_JETTY_H

#include "urma_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * urma_create_jfs() - send queue, READY
 * @ctx: context
 * @jfs_cfg: trans_mode RM or UM
 *
 * Return: queue; NULL: EINVAL: mode, order or more than urma_query_device()
 * says; ENOMEM.
 */
urma_jfs_t *urma_create_jfs(urma_context_t *ctx, urma_jfs_cfg_t *jfs_cfg);

/**
 * urma_modify_jfs() - change the state
 * @jfs: queue
 * @attr: mask, and the state: see enum urma_jetty_state
 */
urma_status_t urma_modify_jfs(urma_jfs_t *jfs, urma_jfs_attr_t *attr);

/**
 * urma_query_jfs() - what it is
 * @jfs: queue
 * @cfg: as the device made it
 * @attr: its state
 */
urma_status_t urma_query_jfs(urma_jfs_t *jfs, urma_jfs_cfg_t *cfg, urma_jfs_attr_t *attr);

/**
 * urma_flush_jfs() - records of the requests that the device never looked at
 * @jfs: queue in ERROR, after URMA_CR_WR_FLUSH_ERR_DONE; or suspended
 * @cr_cnt: at most so many, at least 1
 * @cr: room for them; URMA_CR_WR_UNHANDLED
 *
 * Return: how many, 0: no more; -1: error.
 */
int urma_flush_jfs(urma_jfs_t *jfs, int cr_cnt, urma_cr_t *cr);

/** urma_delete_jfs() - and its records in the JFC. @jfs: queue */
urma_status_t urma_delete_jfs(urma_jfs_t *jfs);

/**
 * urma_delete_jfs_batch() - several
 * @jfs_arr: queues
 * @jfs_num: how many
 * @bad_jfs: after an error the first that is left
 */
urma_status_t urma_delete_jfs_batch(urma_jfs_t **jfs_arr, int jfs_num, urma_jfs_t **bad_jfs);

/**
 * urma_alloc_jfs() - send queue in steps: see urma_types_opt.h
 * @ctx: context
 * @cfg: as in urma_create_jfs()
 * @jfs: the queue, without ring
 */
urma_status_t urma_alloc_jfs(urma_context_t *ctx, urma_jfs_cfg_t *cfg, urma_jfs_t **jfs);

/**
 * urma_set_jfs_opt() - before urma_active_jfs()
 * @jfs: queue
 * @opt: URMA_JFS_DEPTH and others
 * @buf: address of the value
 * @len: its bytes, as the option's type
 */
urma_status_t urma_set_jfs_opt(urma_jfs_t *jfs, uint64_t opt, void *buf, uint32_t len);

/** urma_active_jfs() - make the ring; READY. @jfs: queue */
urma_status_t urma_active_jfs(urma_jfs_t *jfs);

/**
 * urma_get_jfs_opt() - after urma_active_jfs()
 * @jfs: queue
 * @opt: URMA_JFS_DEPTH and others
 * @buf: room for the value
 * @len: its bytes
 */
urma_status_t urma_get_jfs_opt(urma_jfs_t *jfs, uint64_t opt, void *buf, uint32_t len);

/** urma_deactive_jfs() - undo urma_active_jfs(). @jfs: queue */
urma_status_t urma_deactive_jfs(urma_jfs_t *jfs);

/** urma_free_jfs() - undo urma_alloc_jfs(). @jfs: queue that is not active */
urma_status_t urma_free_jfs(urma_jfs_t *jfs);

/**
 * urma_create_jfr() - receive queue, READY; jetties share it, and it has an id
 * @ctx: context
 * @jfr_cfg: id 0: any
 *
 * Return: queue; NULL: EEXIST: the id is taken, EINVAL, ENOMEM.
 */
urma_jfr_t *urma_create_jfr(urma_context_t *ctx, urma_jfr_cfg_t *jfr_cfg);

/**
 * urma_modify_jfr() - change the threshold or the state
 * @jfr: queue
 * @attr: mask, and what it says
 */
urma_status_t urma_modify_jfr(urma_jfr_t *jfr, urma_jfr_attr_t *attr);

/**
 * urma_query_jfr() - what it is
 * @jfr: queue
 * @cfg: as the device made it
 * @attr: its threshold and state
 */
urma_status_t urma_query_jfr(urma_jfr_t *jfr, urma_jfr_cfg_t *cfg, urma_jfr_attr_t *attr);

/**
 * urma_delete_jfr() - receive queue; buffers in it get no record
 * @jfr: queue
 *
 * Return: 0; URMA_EAGAIN: jetties use it.
 */
urma_status_t urma_delete_jfr(urma_jfr_t *jfr);

/**
 * urma_delete_jfr_batch() - several
 * @jfr_arr: queues
 * @jfr_num: how many
 * @bad_jfr: after an error the first that is left
 */
urma_status_t urma_delete_jfr_batch(urma_jfr_t **jfr_arr, int jfr_num, urma_jfr_t **bad_jfr);

/**
 * urma_alloc_jfr() - receive queue in steps: see urma_types_opt.h
 * @ctx: context
 * @cfg: as in urma_create_jfr()
 * @jfr: the queue, without ring
 */
urma_status_t urma_alloc_jfr(urma_context_t *ctx, urma_jfr_cfg_t *cfg, urma_jfr_t **jfr);

/**
 * urma_set_jfr_opt() - before urma_active_jfr()
 * @jfr: queue
 * @opt: URMA_JFR_DEPTH and others
 * @buf: address of the value
 * @len: its bytes, as the option's type
 */
urma_status_t urma_set_jfr_opt(urma_jfr_t *jfr, uint64_t opt, void *buf, uint32_t len);

/** urma_active_jfr() - make the ring; READY. @jfr: queue */
urma_status_t urma_active_jfr(urma_jfr_t *jfr);

/**
 * urma_get_jfr_opt() - after urma_active_jfr()
 * @jfr: queue
 * @opt: URMA_JFR_DEPTH and others
 * @buf: room for the value
 * @len: its bytes
 */
urma_status_t urma_get_jfr_opt(urma_jfr_t *jfr, uint64_t opt, void *buf, uint32_t len);

/** urma_deactive_jfr() - undo urma_active_jfr(). @jfr: queue */
urma_status_t urma_deactive_jfr(urma_jfr_t *jfr);

/** urma_free_jfr() - undo urma_alloc_jfr(). @jfr: queue that is not active */
urma_status_t urma_free_jfr(urma_jfr_t *jfr);

/**
 * urma_import_jfr() - target for sends to a JFR
 * @ctx: context
 * @rjfr: as the peer says
 * @token_value: what it wants to see, or NULL
 *
 * Return: target; NULL: EINVAL: mode and TP type do not fit, ETIMEDOUT: the peer
 * did not answer.
 */
urma_target_jetty_t *urma_import_jfr(urma_context_t *ctx, urma_rjfr_t *rjfr,
				     urma_token_t *token_value);

/**
 * urma_import_jfr_ex() - the same by a TP that the caller chose
 * @ctx: context
 * @rjfr: as the peer says
 * @token_value: what it wants to see, or NULL
 * @cfg: TP
 *
 * Return: as urma_import_jfr().
 */
urma_target_jetty_t *urma_import_jfr_ex(urma_context_t *ctx, urma_rjfr_t *rjfr,
					urma_token_t *token_value, urma_import_jfr_ex_cfg_t *cfg);

/** urma_unimport_jfr() - undo it; no request uses it any more. @target_jfr: target */
urma_status_t urma_unimport_jfr(urma_target_jetty_t *target_jfr);

/**
 * urma_advise_jfr() - hint that there will be traffic; not needed with UB
 * @jfs: RM queue
 * @tjfr: target
 */
urma_status_t urma_advise_jfr(urma_jfs_t *jfs, urma_target_jetty_t *tjfr);

/**
 * urma_advise_jfr_async() - the same without waiting
 * @jfs: RM queue
 * @tjfr: target
 * @cb_fun: gets the result, in a thread of the library
 * @cb_arg: for @cb_fun
 */
urma_status_t urma_advise_jfr_async(urma_jfs_t *jfs, urma_target_jetty_t *tjfr,
				    urma_advise_async_cb_func cb_fun, void *cb_arg);

/** urma_unadvise_jfr() - undo either. @jfs: queue. @tjfr: target */
urma_status_t urma_unadvise_jfr(urma_jfs_t *jfs, urma_target_jetty_t *tjfr);

/**
 * urma_create_jetty() - send side and receive side under one id, READY
 * @ctx: context
 * @jetty_cfg: id 0: any
 *
 * Return: jetty; NULL: EINVAL: JFS and JFR do not fit, mode and order neither, or
 * more than urma_query_device() says; EEXIST: the id is taken; ENOMEM.
 */
urma_jetty_t *urma_create_jetty(urma_context_t *ctx, urma_jetty_cfg_t *jetty_cfg);

/**
 * urma_modify_jetty() - change the state
 * @jetty: jetty
 * @attr: mask and the state: see enum urma_jetty_state; the threshold is the JFR's
 */
urma_status_t urma_modify_jetty(urma_jetty_t *jetty, urma_jetty_attr_t *attr);

/**
 * urma_query_jetty() - what it is
 * @jetty: jetty
 * @cfg: as the device made it
 * @attr: its state
 */
urma_status_t urma_query_jetty(urma_jetty_t *jetty, urma_jetty_cfg_t *cfg, urma_jetty_attr_t *attr);

/**
 * urma_flush_jetty() - records of the requests that the device never looked at
 * @jetty: jetty in ERROR, after URMA_CR_WR_FLUSH_ERR_DONE; or suspended
 * @cr_cnt: at most so many, at least 1
 * @cr: room for them; URMA_CR_WR_UNHANDLED
 *
 * Return: how many, 0: no more; -1: error.
 */
int urma_flush_jetty(urma_jetty_t *jetty, int cr_cnt, urma_cr_t *cr);

/**
 * urma_delete_jetty() - and its records in the JFCs
 * @jetty: jetty that is not bound
 */
urma_status_t urma_delete_jetty(urma_jetty_t *jetty);

/**
 * urma_delete_jetty_batch() - several
 * @jetty_arr: jetties
 * @jetty_num: how many
 * @bad_jetty: after an error the first that is left
 */
urma_status_t urma_delete_jetty_batch(urma_jetty_t **jetty_arr, int jetty_num,
				      urma_jetty_t **bad_jetty);

/**
 * urma_alloc_jetty() - jetty in steps: see urma_types_opt.h
 * @urma_ctx: context
 * @cfg: as in urma_create_jetty()
 * @jetty: the jetty, without ring
 */
urma_status_t urma_alloc_jetty(urma_context_t *urma_ctx, urma_jetty_cfg_t *cfg,
			       urma_jetty_t **jetty);

/**
 * urma_set_jetty_opt() - before urma_active_jetty()
 * @jetty: jetty
 * @opt: URMA_JETTY_ID and others, URMA_JFS_DEPTH and others
 * @buf: address of the value
 * @len: its bytes, as the option's type
 */
urma_status_t urma_set_jetty_opt(urma_jetty_t *jetty, uint64_t opt, void *buf, uint32_t len);

/** urma_active_jetty() - make the ring; READY. @jetty: jetty */
urma_status_t urma_active_jetty(urma_jetty_t *jetty);

/**
 * urma_get_jetty_opt() - after urma_active_jetty()
 * @jetty: jetty
 * @opt: URMA_JETTY_ID and others, URMA_JFS_DEPTH and others
 * @buf: room for the value
 * @len: its bytes
 */
urma_status_t urma_get_jetty_opt(urma_jetty_t *jetty, uint64_t opt, void *buf, uint32_t len);

/** urma_deactive_jetty() - undo urma_active_jetty(). @jetty: jetty */
urma_status_t urma_deactive_jetty(urma_jetty_t *jetty);

/** urma_free_jetty() - undo urma_alloc_jetty(). @jetty: jetty that is not active */
urma_status_t urma_free_jetty(urma_jetty_t *jetty);

/**
 * urma_import_jetty() - target for traffic to a jetty or a group
 * @ctx: context
 * @rjetty: as the peer says
 * @token_value: what it wants to see, or NULL
 *
 * Return: target; NULL: EINVAL: mode, type and TP type do not fit, ETIMEDOUT: the
 * peer did not answer.
 */
urma_target_jetty_t *urma_import_jetty(urma_context_t *ctx, urma_rjetty_t *rjetty,
				       urma_token_t *token_value);

/**
 * urma_import_jetty_ex() - the same by a TP that the caller chose
 * @ctx: context
 * @rjetty: as the peer says
 * @token_value: what it wants to see, or NULL
 * @cfg: TP
 *
 * Return: as urma_import_jetty().
 */
urma_target_jetty_t *urma_import_jetty_ex(urma_context_t *ctx, urma_rjetty_t *rjetty,
					  urma_token_t *token_value,
					  urma_import_jetty_ex_cfg_t *cfg);

/** urma_unimport_jetty() - undo it; neither bound nor in a request. @tjetty: target */
urma_status_t urma_unimport_jetty(urma_target_jetty_t *tjetty);

/**
 * urma_bind_jetty() - connect two RC jetties; both sides do it
 * @jetty: ours
 * @tjetty: target
 *
 * Return: 0; URMA_EEXIST: is bound already; URMA_ETIMEOUT: the peer did not
 * answer.
 */
urma_status_t urma_bind_jetty(urma_jetty_t *jetty, urma_target_jetty_t *tjetty);

/**
 * urma_bind_jetty_ex() - the same by a TP that the caller chose
 * @jetty: ours
 * @tjetty: target
 * @cfg: TP
 *
 * Return: as urma_bind_jetty().
 */
urma_status_t urma_bind_jetty_ex(urma_jetty_t *jetty, urma_target_jetty_t *tjetty,
				 urma_bind_jetty_ex_cfg_t *cfg);

/** urma_unbind_jetty() - undo either. @jetty: ours */
urma_status_t urma_unbind_jetty(urma_jetty_t *jetty);

/**
 * urma_advise_jetty() - hint that there will be traffic; not needed with UB
 * @jetty: RM jetty
 * @tjetty: target
 */
urma_status_t urma_advise_jetty(urma_jetty_t *jetty, urma_target_jetty_t *tjetty);

/** urma_unadvise_jetty() - undo it. @jetty: jetty. @tjetty: target */
urma_status_t urma_unadvise_jetty(urma_jetty_t *jetty, urma_target_jetty_t *tjetty);

/*
 * Imports and binds whose results come later. Devices may refuse all of it.
 */

/** urma_create_notifier() - where results arrive. @ctx: context. Return: it, or NULL */
urma_notifier_t *urma_create_notifier(urma_context_t *ctx);

/** urma_delete_notifier() - Return: 0; URMA_EAGAIN: something is pending. @notifier: it */
urma_status_t urma_delete_notifier(urma_notifier_t *notifier);

/**
 * urma_import_jetty_async() - begin urma_import_jetty()
 * @notifier: where the result arrives
 * @rjetty: as the peer says
 * @token_value: what it wants to see, or NULL
 * @user_ctx: for urma_notify
 * @timeout: milliseconds
 *
 * Return: target that is not usable yet, or NULL.
 */
urma_target_jetty_t *urma_import_jetty_async(urma_notifier_t *notifier, const urma_rjetty_t *rjetty,
					     const urma_token_t *token_value, uint64_t user_ctx,
					     int timeout);

/** urma_unimport_jetty_async() - undo it at any time. @tjetty: target */
urma_status_t urma_unimport_jetty_async(urma_target_jetty_t *tjetty);

/**
 * urma_bind_jetty_async() - begin urma_bind_jetty()
 * @notifier: where the result arrives
 * @jetty: ours
 * @tjetty: target
 * @user_ctx: for urma_notify
 * @timeout: milliseconds
 */
urma_status_t urma_bind_jetty_async(urma_notifier_t *notifier, urma_jetty_t *jetty,
				    urma_target_jetty_t *tjetty, uint64_t user_ctx, int timeout);

/** urma_unbind_jetty_async() - undo it at any time. @jetty: ours */
urma_status_t urma_unbind_jetty_async(urma_jetty_t *jetty);

/**
 * urma_wait_notify() - take results, or wait
 * @notifier: where they arrive
 * @cnt: at most so many, at least 1
 * @notify: room for them
 * @timeout: milliseconds; 0: do not wait, -1: for ever
 *
 * Return: how many; 0: in vain; -1: error.
 */
int urma_wait_notify(urma_notifier_t *notifier, uint32_t cnt, urma_notify_t *notify, int timeout);

/**
 * urma_ack_notify() - nothing any more
 * @ctx: context
 * @cnt: number of results
 * @notify: results
 */
urma_status_t urma_ack_notify(urma_context_t *ctx, uint32_t cnt, urma_notify_t *notify);

/**
 * urma_get_rjetty() - what a peer needs to import a jetty, with its length
 * @jetty: ours
 * @rjetty: begins with urma_rjetty; for urma_put_rjetty()
 * @length: its bytes
 */
urma_status_t urma_get_rjetty(urma_jetty_t *jetty, urma_rjetty_t **rjetty, uint32_t *length);

/** urma_put_rjetty() - free it. @rjetty: from urma_get_rjetty() */
void urma_put_rjetty(urma_rjetty_t *rjetty);

/**
 * urma_create_jetty_grp() - one id for several RM or UM jetties
 * @ctx: context
 * @cfg: policy and token; jetties join with jetty_grp when they are created
 *
 * Return: group, or NULL.
 */
urma_jetty_grp_t *urma_create_jetty_grp(urma_context_t *ctx, urma_jetty_grp_cfg_t *cfg);

/** urma_delete_jetty_grp() - Return: 0; URMA_EAGAIN: has members. @jetty_grp: group */
urma_status_t urma_delete_jetty_grp(urma_jetty_grp_t *jetty_grp);

/** urma_get_tpn() - TP of a bound jetty; obsolete. @jetty: ours. Return: number or -1 */
int urma_get_tpn(urma_jetty_t *jetty);

#ifdef __cplusplus
}
#endif

#endif /* URMA_API_JETTY_H */
