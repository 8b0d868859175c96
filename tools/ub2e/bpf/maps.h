/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Keys of the XDP datapath's maps, which the program and its loader share. */
#ifndef UB2E_MAPS_H
#define UB2E_MAPS_H

#include "../layout.h"

#define UB2E_SETS 2 /* of tables: one holds, the other is being filled */
#define UB2E_VLANS 4096
#define UB2E_MAX_ROUTES 4096

struct ub2e_id_key {
	u32 set;
	u32 id;
};

/* LPM: @set belongs to the prefix, which is 32 bits longer for it */
struct ub2e_route_key {
	u32 length;
	u32 set;
	u8 addr[16];
};

#endif /* UB2E_MAPS_H */
