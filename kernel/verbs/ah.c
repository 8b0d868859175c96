// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Address handles: a stored path. The core resolves it when a message uses it. */
#include "verbs.h"

int uboe_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct uboe_ah *ah = to_uah(ibah);
	int ret;

	ret = uboe_udata_none(udata);
	if (ret)
		return ret;
	if (!(rdma_ah_get_ah_flags(init->ah_attr) & IB_AH_GRH))
		return -EINVAL;
	ah->attr = *init->ah_attr;
	ah->attr.grh.sgid_attr = NULL; /* ib_core keeps the reference, in ib_ah */
	return 0;
}

int uboe_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_uah(ibah)->attr;
	return 0;
}

int uboe_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}
