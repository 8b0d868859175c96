/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * URMA for C programs: all types. Source and layout compatible with UMDK's
 * urma_types.h, API version 0.9: members, their order and types, values of
 * constants. Structures of the library carry private members, because programs
 * are compiled with their offsets; programs do not touch these.
 *
 * Objects belong to the library and live until they are deleted. Configurations
 * belong to the caller and are needed only during the call.
 */
#ifndef URMA_TYPES_H
#define URMA_TYPES_H

#include <arpa/inet.h>

#include "urma_opcode.h"
#include "urma_types_dev.h"
#include "urma_types_jetty.h"
#include "urma_types_opt.h"
#include "urma_types_seg.h"
#include "urma_types_tp.h"
#include "urma_types_wr.h"

#ifdef __cplusplus
extern "C" {
#endif

/** typedef urma_async_event_cb - a program's function for events */
typedef void (*urma_async_event_cb)(urma_async_event_t *event, void *cb_arg);

/** typedef urma_advise_async_cb_func - result of urma_advise_jfr_async() */
typedef void (*urma_advise_async_cb_func)(urma_status_t advise_result, void *cb_arg);

/** enum urma_vlog_level - as syslog's */
typedef enum urma_vlog_level {
	URMA_VLOG_LEVEL_EMERG = 0,
	URMA_VLOG_LEVEL_ALERT = 1,
	URMA_VLOG_LEVEL_CRIT = 2,
	URMA_VLOG_LEVEL_ERR = 3,
	URMA_VLOG_LEVEL_WARNING = 4,
	URMA_VLOG_LEVEL_NOTICE = 5,
	URMA_VLOG_LEVEL_INFO = 6,
	URMA_VLOG_LEVEL_DEBUG = 7,
	URMA_VLOG_LEVEL_MAX = 8,
} urma_vlog_level_t;

/**
 * typedef urma_log_cb_t - a program's function for messages
 *
 * @level: enum urma_vlog_level. @message: complete, ends with 0, gone after the
 * call. Any thread of the library may call it.
 */
typedef void (*urma_log_cb_t)(int level, char *message);

/** typedef urma_loc_log_cb - the same, with the place in the library's source */
typedef void (*urma_loc_log_cb)(int level, const char *file, const char *function, int line,
				char *message);

/**
 * urma_u32_to_eid() - EID of an IPv4 address
 * @ipv4: host byte order
 * @eid: becomes ::ffff:a.b.c.d
 *
 * Thread-safe.
 */
void urma_u32_to_eid(uint32_t ipv4, urma_eid_t *eid);

/**
 * urma_str_to_eid() - EID from text
 * @buf: an IPv6 address; an IPv4 address with dots; or one as a number, decimal,
 *	octal with 0 or hexadecimal with 0x. At least three characters
 * @eid: the result; as it was after an error
 *
 * Thread-safe. Return: 0, or -EINVAL.
 */
int urma_str_to_eid(const char *buf, urma_eid_t *eid);

#ifdef __cplusplus
}
#endif

#endif /* URMA_TYPES_H */
