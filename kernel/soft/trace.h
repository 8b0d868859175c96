/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM uboe

#if !defined(UBOE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define UBOE_TRACE_H

#include <linux/netdevice.h>
#include <linux/tracepoint.h>
#include "ubp.h"

/* Transport header of the packet at @data, from the IP header on; zeros when it is cut short */
DECLARE_EVENT_CLASS(uboe_packet,
	TP_PROTO(const struct net_device *ndev, const u8 *data, u32 len),
	TP_ARGS(ndev, data, len),
	TP_STRUCT__entry(
		__array(char, ndev, IFNAMSIZ)
		__field(u32, len)
		__field(u32, src)
		__field(u32, dst)
		__field(u32, psn)
		__field(u32, msn)
		__field(u8, op)
		__field(u8, flags)
	),
	TP_fast_assign(
		u32 off = (data[0] >> 4 == 4 ? UB_IPV4_LEN : UB_IPV6_LEN) + UB_UDP_LEN;
		bool fit = len >= off + UB_TPH_LEN;

		strscpy(__entry->ndev, ndev->name, IFNAMSIZ);
		__entry->len = len;
		__entry->op = fit ? data[off] : 0;
		__entry->src = fit ? ubp_get_be24(data + off + 2) : 0;
		__entry->dst = fit ? ubp_get_be24(data + off + 5) : 0;
		__entry->flags = fit ? data[off + 8] : 0;
		__entry->psn = fit ? ubp_get_be24(data + off + 9) : 0;
		__entry->msn = fit ? ubp_get_be24(data + off + 13) : 0;
	),
	TP_printk("%s len=%u op=%u%s tpn=%06x->%06x psn=%u msn=%u%s", __entry->ndev,
		  __entry->len, __entry->op & UB_TPH_OPCODE,
		  __entry->op & UB_TPH_LAST ? " last" : "", __entry->src, __entry->dst,
		  __entry->psn, __entry->msn, __entry->flags & UB_TPH_A ? " ackreq" : "")
);

DEFINE_EVENT(uboe_packet, uboe_tx,
	TP_PROTO(const struct net_device *ndev, const u8 *data, u32 len),
	TP_ARGS(ndev, data, len));

DEFINE_EVENT(uboe_packet, uboe_rx,
	TP_PROTO(const struct net_device *ndev, const u8 *data, u32 len),
	TP_ARGS(ndev, data, len));

TRACE_EVENT(uboe_drop,
	TP_PROTO(const struct net_device *ndev, const char *reason),
	TP_ARGS(ndev, reason),
	TP_STRUCT__entry(
		__array(char, ndev, IFNAMSIZ)
		__array(char, reason, 24)
	),
	TP_fast_assign(
		strscpy(__entry->ndev, ndev->name, IFNAMSIZ);
		strscpy(__entry->reason, reason, sizeof(__entry->reason));
	),
	TP_printk("%s reason=%s", __entry->ndev, __entry->reason)
);

TRACE_EVENT(uboe_timer,
	TP_PROTO(const struct net_device *ndev, const struct ubp_tp *tp, u64 at),
	TP_ARGS(ndev, tp, at),
	TP_STRUCT__entry(
		__array(char, ndev, IFNAMSIZ)
		__field(const void *, tp)
		__field(u64, at)
	),
	TP_fast_assign(
		strscpy(__entry->ndev, ndev->name, IFNAMSIZ);
		__entry->tp = tp;
		__entry->at = at;
	),
	TP_printk("%s tp=%p programmed=%llu", __entry->ndev, __entry->tp, __entry->at)
);

#endif /* UBOE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH soft
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
