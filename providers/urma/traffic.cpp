// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Traffic management of uboe/urma_ext.h. The values are for the device to check; here is
// only what its context has no room for.
#include <algorithm>
#include <cstring>
#include <iterator>

#include <uboe/urma_ext.h>

#include "objects.hpp"

namespace uboe::urma {

namespace {

static_assert(UBOE_TM_PORT == int(UBOE_TML_PORT) && UBOE_TM_JETTY == int(UBOE_TML_JETTY) &&
	      UBOE_TM_PARENT_NONE == UBOE_TM_NO_PARENT);
static_assert(UBOE_TM_SET_PRIO == UBOE_TMM_PRIO && UBOE_TM_SET_WEIGHT == UBOE_TMM_WEIGHT &&
	      UBOE_TM_SET_PEAK == UBOE_TMM_PEAK && UBOE_TM_SET_COMMITTED == UBOE_TMM_COMMITTED &&
	      UBOE_TM_SET_SL_VL == UBOE_TMM_SL_VL);

static_assert(sizeof(uboe_tm_node_t) == 112);

constexpr u32 no_tag = 0;

/// no_tag: there is no such level, or no level has so many nodes.
u32 tag_of(u32 level, u32 number)
{
	if (level < UBOE_TML_PORT || level > UBOE_TML_JETTY || number > UBOE_TM_TAG_NUMBER(~0u))
		return no_tag;
	return UBOE_TM_TAG(level, number);
}

const char *reason(int err)
{
	switch (err) {
	case EINVAL:
		return "a value out of its range or that the level does not have, or a promised "
		       "rate above the limit";
	case ENOENT:
		return "no such node, parent, jetty, or queue set for its SL";
	case EEXIST:
		return "it exists, or the function has a queue set for this VL";
	case ENOSPC:
		return "parent: no room for another child";
	case EBUSY:
		return "it has children or jetties";
	case EOPNOTSUPP:
		return "this level, or this device, does not have it";
	case EPERM:
		return "CAP_NET_ADMIN of the machine is needed, as for ubctl tm";
	default:
		return std::strerror(err);
	}
}

/// Reserved fields are 0, and there is such a level.
bool is_node(const uboe_tm_node_t &n)
{
	return tag_of(n.level, n.number) != no_tag &&
	       std::all_of(std::begin(n.reserved), std::end(n.reserved),
			   [](u32 word) { return !word; });
}

uboe_tm_ctx to_ctx(const uboe_tm_node_t &n)
{
	uboe_tm_ctx ctx{};

	ctx.prio = n.prio;
	ctx.vl = n.vl;
	ctx.weight = n.weight;
	ctx.parent = n.parent;
	ctx.peak_kbps = n.peak_kbps;
	ctx.peak_burst = n.peak_burst;
	ctx.committed_kbps = n.committed_kbps;
	ctx.committed_burst = n.committed_burst;
	std::copy(std::begin(n.sl_vl), std::end(n.sl_vl), ctx.sl_vl);
	return ctx;
}

uboe_tm_node_t to_node(u32 level, u32 number, const uboe_tm_ctx &ctx)
{
	uboe_tm_node_t n{};

	n.level = level;
	n.number = number;
	n.parent = ctx.parent;
	n.peak_kbps = ctx.peak_kbps;
	n.peak_burst = ctx.peak_burst;
	n.committed_kbps = ctx.committed_kbps;
	n.committed_burst = ctx.committed_burst;
	n.weight = ctx.weight;
	n.prio = ctx.prio;
	n.vl = ctx.vl;
	std::copy(std::begin(ctx.sl_vl), std::end(ctx.sl_vl), n.sl_vl);
	n.sent = ctx.sent;
	n.waiting = ctx.waiting;
	return n;
}

bool has_weight(u32 level)
{
	return level >= UBOE_TML_GROUP && level <= UBOE_TML_QSET;
}

/// The limit of a queue that is managed by nobody, or has a place, or neither.
int set_rate(Sender &s, u32 kbps, u32 burst)
{
	const std::lock_guard hold(s.control);
	const u32 tag = UBOE_TM_TAG(UBOE_TML_JETTY, s.memory.id);
	Backend &device = *s.context.backend;
	uboe_tm_ctx now{}, wanted{};
	const int err = device.query_tm(tag, now);

	wanted.parent = UBOE_TM_NO_PARENT;
	wanted.peak_kbps = kbps;
	wanted.peak_burst = burst;
	if (err == ENOENT)
		return kbps ? device.create_tm(tag, wanted) : 0;
	if (err)
		return err;
	if (!kbps && now.parent == UBOE_TM_NO_PARENT)
		return device.destroy_tm(tag);
	return device.modify_tm(tag, wanted, UBOE_TMM_PEAK);
}

/// @p none: what to say when @p s is null.
urma_status_t check_and_set_rate(const char *call, Sender *s, const char *none, u32 kbps, u32 burst)
{
	if (!s)
		return fail(URMA_EINVAL, call, "%s", none);
	const int err = s->spec.mode == UBOE_JETTY_RAW ? EOPNOTSUPP :
			!kbps && burst		       ? EINVAL :
							 set_rate(*s, kbps, burst);

	return err ? fail(err, call, "%u kb/s, burst %u: %s", kbps, burst, reason(err)) :
		     URMA_SUCCESS;
}

/// What a device said to a command for a node.
urma_status_t answer(const char *call, int err, u32 level, u32 number)
{
	return err ? fail(err, call, "level %u, number %u: %s", level, number, reason(err)) :
		     URMA_SUCCESS;
}

} // namespace

} // namespace uboe::urma

using namespace uboe::urma;

urma_status_t uboe_create_tm(urma_context_t *ctx, const uboe_tm_node_t *node)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !node || !is_node(*node))
		return URMA_FAILED(URMA_EINVAL, "%s",
				   !c	 ? "ctx: not a context" :
				   !node ? "node: null" :
					   "node: level, number or reserved");
	uboe_tm_ctx wanted = to_ctx(*node);

	if (has_weight(node->level) && !wanted.weight)
		wanted.weight = 1;
	const int err = c->backend->create_tm(tag_of(node->level, node->number), wanted);

	return answer(__func__, err, node->level, node->number);
}

urma_status_t uboe_modify_tm(urma_context_t *ctx, const uboe_tm_node_t *node, uint32_t mask)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !node || !mask || !is_node(*node))
		return URMA_FAILED(URMA_EINVAL, "%s",
				   !c	 ? "ctx: not a context" :
				   !node ? "node: null" :
				   !mask ? "mask: 0" :
					   "node: level, number or reserved");
	int err = EOPNOTSUPP;

	if (node->level != UBOE_TML_QUEUE)
		err = c->backend->modify_tm(tag_of(node->level, node->number), to_ctx(*node), mask);
	return answer(__func__, err, node->level, node->number);
}

urma_status_t uboe_query_tm(urma_context_t *ctx, uboe_tm_node_t *node)
{
	Context *c = Handles<Context>::check(ctx);
	uboe_tm_ctx now{};

	if (!c || !node || tag_of(node->level, node->number) == no_tag)
		return URMA_FAILED(URMA_EINVAL, "%s",
				   !c	 ? "ctx: not a context" :
				   !node ? "node: null" :
					   "node: level or number");
	const int err = c->backend->query_tm(tag_of(node->level, node->number), now);

	if (!err)
		*node = to_node(node->level, node->number, now);
	return answer(__func__, err, node->level, node->number);
}

urma_status_t uboe_delete_tm(urma_context_t *ctx, uint32_t level, uint32_t number)
{
	Context *c = Handles<Context>::check(ctx);
	int err = EOPNOTSUPP;

	if (!c || tag_of(level, number) == no_tag)
		return URMA_FAILED(URMA_EINVAL, "%s", c ? "level or number" : "ctx: not a context");
	if (level != UBOE_TML_QUEUE)
		err = c->backend->destroy_tm(tag_of(level, number));
	return answer(__func__, err, level, number);
}

urma_status_t uboe_set_jetty_rate(urma_jetty_t *jetty, uint32_t kbps, uint32_t burst)
{
	return check_and_set_rate(__func__, Handles<Jetty>::check(jetty), "jetty: not a jetty",
				  kbps, burst);
}

urma_status_t uboe_set_jfs_rate(urma_jfs_t *jfs, uint32_t kbps, uint32_t burst)
{
	return check_and_set_rate(__func__, Handles<Jfs>::check(jfs), "jfs: not a JFS", kbps,
				  burst);
}
