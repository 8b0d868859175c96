/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * URMA for C programs: all functions. Compatible with UMDK's urma_api.h, API
 * version 0.9; the meaning is that of its API guide. This file has the library,
 * devices, contexts, completions and events; urma_api_jetty.h queues, jetties and
 * targets; urma_api_data.h memory, requests, TPs and addresses.
 *
 * Errors. A pointer: NULL, and errno says why. urma_status_t: URMA_SUCCESS or one
 * of the other URMA_ values. A count: -1. Invalid arguments, NULL among them, are
 * EINVAL, and what a device cannot do is EOPNOTSUPP or URMA_FAIL, so they are not
 * listed with every function. Out-parameters are valid after success only.
 *
 * Order. An object is deleted after those that were made from it; until then
 * deleting it is EAGAIN, and nothing happened.
 *
 * Threads. Functions may be called from all threads at once, except as noted
 * and except that nobody may use an object that is being deleted. Queues whose
 * flag says lock_free are the business of one thread at a time.
 *
 * fork() does not give the child a usable copy of anything.
 *
 * Numbers are in host byte order. cfg arguments are read, and in some functions
 * written: order_type URMA_DEF_ORDER and zeros become what they stand for.
 */
#ifndef URMA_API_H
#define URMA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "urma_types.h"
#include "urma_api_data.h"
#include "urma_api_jetty.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * urma_init() - prepare the library
 * @conf: may be NULL
 *
 * Not thread-safe. Return: 0; URMA_EEXIST: is prepared already, which is not
 * counted; URMA_FAIL: no device can ever be found.
 */
urma_status_t urma_init(urma_init_attr_t *conf);

/**
 * urma_uninit() - undo urma_init()
 *
 * All contexts have been deleted. Not thread-safe. Return: 0 or URMA_FAIL.
 */
urma_status_t urma_uninit(void);

/**
 * urma_get_device_list() - the devices there are
 * @num_devices: how many
 *
 * Devices belong to the library and last until urma_uninit().
 * Return: array, for urma_free_device_list(); NULL: none, or an error.
 */
urma_device_t **urma_get_device_list(int *num_devices);

/**
 * urma_free_device_list() - give the array back, not the devices
 * @device_list: from urma_get_device_list(), or NULL
 */
void urma_free_device_list(urma_device_t **device_list);

/**
 * urma_get_device_by_name() - find a device
 * @dev_name: urma_device.name
 *
 * Return: device, NULL: ENODEV.
 */
urma_device_t *urma_get_device_by_name(char *dev_name);

/**
 * urma_get_device_by_eid() - find the device that has an EID
 * @eid: network byte order
 * @type: kind of device
 *
 * Return: device, NULL: ENODEV.
 */
urma_device_t *urma_get_device_by_eid(urma_eid_t eid, urma_transport_type_t type);

/**
 * urma_get_eid_list() - the EIDs of a device
 * @dev: device
 * @cnt: how many
 *
 * Return: array, for urma_free_eid_list(); NULL: EIO: has none.
 */
urma_eid_info_t *urma_get_eid_list(urma_device_t *dev, uint32_t *cnt);

/**
 * urma_free_eid_list() - give the array back
 * @eid_list: from urma_get_eid_list(), or NULL
 */
void urma_free_eid_list(urma_eid_info_t *eid_list);

/**
 * urma_query_device() - limits, and the state of the ports now
 * @dev: device
 * @dev_attr: the answer
 */
urma_status_t urma_query_device(urma_device_t *dev, urma_device_attr_t *dev_attr);

/**
 * urma_create_context() - open a device
 * @dev: device
 * @eid_index: urma_eid_info.eid_index of the EID to use
 *
 * Return: context; NULL: EINVAL: no such EID, ENODEV, EACCES, ENOMEM, EADDRINUSE:
 * another process has the EID of an in-process device.
 */
urma_context_t *urma_create_context(urma_device_t *dev, uint32_t eid_index);

/**
 * urma_delete_context() - close it
 * @ctx: context
 *
 * Return: 0; URMA_EAGAIN: objects made from it are left.
 */
urma_status_t urma_delete_context(urma_context_t *ctx);

/**
 * urma_set_context_opt() - set an option of a bonding device
 * @ctx: context without objects
 * @opt_name: URMA_OPT_AGGR_MODE
 * @opt_value: address of the value
 * @opt_len: its bytes
 */
urma_status_t urma_set_context_opt(urma_context_t *ctx, urma_opt_name_t opt_name,
				   const void *opt_value, size_t opt_len);

/**
 * urma_get_uasid() - id of this process's address space; obsolete
 * @uasid: 0
 */
urma_status_t urma_get_uasid(uint32_t *uasid);

/**
 * urma_user_ctl() - command that only one kind of device knows
 * @ctx: context
 * @in: opcode and arguments
 * @out: room for the result
 *
 * Safe with any opcode. Return: 0; an error with an unknown opcode.
 */
urma_status_t urma_user_ctl(urma_context_t *ctx, urma_user_ctl_in_t *in, urma_user_ctl_out_t *out);

/*
 * Messages. One function of the program for the whole process; without it they go
 * to standard error. It is called while locks are held and must not call the library.
 */

/**
 * urma_register_log_func() - take the messages
 * @func: instead of an earlier one of either kind
 */
urma_status_t urma_register_log_func(urma_log_cb_t func);

/**
 * urma_register_loc_log_func() - take the messages, with their place in the source
 * @func: preferred to that of urma_register_log_func()
 */
urma_status_t urma_register_loc_log_func(urma_loc_log_cb func);

/** urma_unregister_log_func() - to syslog again. Return: 0 */
urma_status_t urma_unregister_log_func(void);

/** urma_log_get_level() - Return: the least important level that is reported */
urma_vlog_level_t urma_log_get_level(void);

/**
 * urma_log_set_level() - report this level and what is more important
 * @level: below URMA_VLOG_LEVEL_MAX, otherwise nothing changes
 */
void urma_log_set_level(urma_vlog_level_t level);

/** urma_log_get_thread_tag() - Return: what urma_log_set_thread_tag() was given, or "" */
const char *urma_log_get_thread_tag(void);

/**
 * urma_log_set_thread_tag() - text for messages of this thread
 * @tag: shorter than URMA_MAX_NAME, copied; otherwise nothing changes
 */
void urma_log_set_thread_tag(const char *tag);

/**
 * urma_create_jfce() - channel of completion events, one file descriptor
 * @ctx: context
 *
 * Any number of JFCs can share it. Return: channel; NULL: EMFILE and others.
 */
urma_jfce_t *urma_create_jfce(urma_context_t *ctx);

/** urma_delete_jfce() - Return: 0; URMA_EAGAIN: JFCs use it. @jfce: channel */
urma_status_t urma_delete_jfce(urma_jfce_t *jfce);

/**
 * urma_create_jfc() - completion queue
 * @ctx: context
 * @jfc_cfg: depth counts sends, receives and two records for each jetty and JFS,
 *	the ends of suspending and flushing: records beyond it are lost
 *
 * Return: queue, jfc_cfg.depth in it is what the device made of it; NULL: ENOMEM
 * and others.
 */
urma_jfc_t *urma_create_jfc(urma_context_t *ctx, urma_jfc_cfg_t *jfc_cfg);

/**
 * urma_modify_jfc() - moderation of events
 * @jfc: queue
 * @attr: mask says what changes
 */
urma_status_t urma_modify_jfc(urma_jfc_t *jfc, urma_jfc_attr_t *attr);

/**
 * urma_delete_jfc() - completion queue and the records in it
 * @jfc: queue
 *
 * Waits until its events are acknowledged. Return: 0; URMA_EAGAIN: queues use it.
 */
urma_status_t urma_delete_jfc(urma_jfc_t *jfc);

/**
 * urma_delete_jfc_batch() - several
 * @jfc_arr: queues
 * @jfc_num: how many
 * @bad_jfc: after an error the first that is left
 */
urma_status_t urma_delete_jfc_batch(urma_jfc_t **jfc_arr, int jfc_num, urma_jfc_t **bad_jfc);

/**
 * urma_alloc_jfc() - completion queue in steps: see urma_types_opt.h
 * @ctx: context
 * @cfg: as in urma_create_jfc()
 * @jfc: the queue, without ring
 */
urma_status_t urma_alloc_jfc(urma_context_t *ctx, urma_jfc_cfg_t *cfg, urma_jfc_t **jfc);

/**
 * urma_set_jfc_opt() - before urma_active_jfc()
 * @jfc: queue
 * @opt: URMA_JFC_DEPTH and others
 * @buf: address of the value
 * @len: its bytes, as the option's type
 */
urma_status_t urma_set_jfc_opt(urma_jfc_t *jfc, uint64_t opt, void *buf, uint32_t len);

/** urma_active_jfc() - make the ring; from now on it works. @jfc: queue */
urma_status_t urma_active_jfc(urma_jfc_t *jfc);

/**
 * urma_get_jfc_opt() - after urma_active_jfc()
 * @jfc: queue
 * @opt: URMA_JFC_DEPTH and others
 * @buf: room for the value
 * @len: its bytes
 */
urma_status_t urma_get_jfc_opt(urma_jfc_t *jfc, uint64_t opt, void *buf, uint32_t len);

/** urma_deactive_jfc() - undo urma_active_jfc(). @jfc: queue */
urma_status_t urma_deactive_jfc(urma_jfc_t *jfc);

/** urma_free_jfc() - undo urma_alloc_jfc(). @jfc: queue that is not active */
urma_status_t urma_free_jfc(urma_jfc_t *jfc);

/**
 * urma_poll_jfc() - take completion records
 * @jfc: queue
 * @cr_cnt: at most so many, at least 1
 * @cr: room for them
 *
 * Does not wait. Return: how many; -1: error.
 */
int urma_poll_jfc(urma_jfc_t *jfc, int cr_cnt, urma_cr_t *cr);

/**
 * urma_rearm_jfc() - one event for the next record
 * @jfc: queue with a JFCE
 * @solicited_only: only for solicited messages and errors
 *
 * Records that came before are not announced: poll once more after this.
 */
urma_status_t urma_rearm_jfc(urma_jfc_t *jfc, bool solicited_only);

/**
 * urma_wait_jfc() - wait for events
 * @jfce: channel
 * @jfc_cnt: at most so many, at least 1
 * @time_out: milliseconds; 0: do not wait, -1: for ever
 * @jfc: room for the queues that have records; each is to be acknowledged
 *
 * Return: how many; 0: in vain, or interrupted by a signal, then errno is 512;
 * -1: error.
 */
int urma_wait_jfc(urma_jfce_t *jfce, uint32_t jfc_cnt, int time_out, urma_jfc_t *jfc[]);

/**
 * urma_ack_jfc() - acknowledge events
 * @jfc: queues from urma_wait_jfc()
 * @nevents: how many of each; they can be collected
 * @jfc_cnt: number of queues
 */
void urma_ack_jfc(urma_jfc_t *jfc[], uint32_t nevents[], uint32_t jfc_cnt);

/**
 * urma_get_async_event() - take an event, or wait for one
 * @ctx: context; O_NONBLOCK on async_fd: do not wait
 * @event: what happened
 *
 * Return: 0, or an error; with O_NONBLOCK also when there is none.
 */
urma_status_t urma_get_async_event(urma_context_t *ctx, urma_async_event_t *event);

/**
 * urma_ack_async_event() - acknowledge it; deleting its element waits for that
 * @event: from urma_get_async_event()
 */
void urma_ack_async_event(urma_async_event_t *event);

#ifdef __cplusplus
}
#endif

#endif /* URMA_API_H */
