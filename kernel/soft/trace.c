// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define CREATE_TRACE_POINTS
#include "soft.h"
#include "trace.h"

/* The core drops a packet, and the tracepoint is on; a tail of ubp_stat() */
void uboe_trace_drop(struct ubp_dev *dev, u32 stat)
{
	const char *name = ubp_stat_name(stat);

	if (str_has_prefix(name, "drop_"))
		name += strlen("drop_");
	trace_uboe_drop(uboe_soft_of(dev)->ndev, name);
}
