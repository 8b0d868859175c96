// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What a program may ask of the device as a whole: its partition, and a reset.
#include <cstring>

#include <uboe/urma_ext.h>

#include "objects.hpp"

using namespace uboe::urma;

static_assert(UBOE_PARTITION_ID == UBOE_NPI_ID && UBOE_PARTITION_LOW == UBOE_NPI_LOW);

urma_status_t uboe_set_partition(urma_context_t *ctx, uint32_t partition)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c)
		return URMA_FAILED(URMA_EINVAL, "ctx: not a context");
	if (int err = c->backend->set_partition(partition))
		return URMA_FAILED(err, "partition 0x%x: %s", partition,
				   err == EBUSY ? "the device has jetties" : std::strerror(err));
	return URMA_SUCCESS;
}

urma_status_t uboe_get_partition(urma_context_t *ctx, uint32_t *partition)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !partition)
		return URMA_FAILED(URMA_EINVAL, "%s", c ? "partition: null" : "ctx: not a context");
	if (int err = c->backend->partition(*partition))
		return URMA_FAILED(err, "%s", std::strerror(err));
	return URMA_SUCCESS;
}

urma_status_t uboe_reset_device(urma_context_t *ctx)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c)
		return URMA_FAILED(URMA_EINVAL, "ctx: not a context");
	if (int err = c->backend->reset_function())
		return URMA_FAILED(err, "%s", std::strerror(err));
	return URMA_SUCCESS;
}
