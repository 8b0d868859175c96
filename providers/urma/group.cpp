// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Jetty groups: one id for several jetties, which join when they are created.
#include <algorithm>
#include <cstring>

#include "objects.hpp"

namespace uboe::urma {

static_assert(URMA_MAX_JETTY_IN_JETTY_GRP == UBOE_MAX_JGRP_MEMBERS);

Group::Group(Context &c, const urma_jetty_grp_cfg_t &given, u32 id) : urma_jetty_grp_t{}, context(c)
{
	urma_ctx = &c;
	cfg = given;
	cfg.id = id;
	jetty_grp_id.eid = c.eid;
	jetty_grp_id.id = id;
	jetty_list = members;
	pthread_mutex_init(&list_mutex, nullptr);
	pthread_mutex_init(&event_mutex, nullptr);
	pthread_cond_init(&event_cond, nullptr);
}

void Group::add(Jetty &j)
{
	const std::lock_guard hold(lock);

	members[jetty_cnt++] = &j; // the device counts them, too
}

void Group::remove(Jetty &j)
{
	const std::lock_guard hold(lock);
	urma_jetty_t **end = std::remove(members, members + jetty_cnt, &j);

	jetty_cnt = static_cast<u32>(end - members);
	std::fill(end, std::end(members), nullptr);
}

namespace {

bool check(const urma_jetty_grp_cfg_t &cfg)
{
	int policy; // as a number: the program may have put anything there

	std::memcpy(&policy, &cfg.policy, sizeof(policy));
	static_assert(sizeof(policy) == sizeof(cfg.policy));
	if (!std::memchr(cfg.name, 0, sizeof(cfg.name)))
		URMA_FAILED(EINVAL, "name: its end is missing");
	else if (policy != URMA_JETTY_GRP_POLICY_RR && policy != URMA_JETTY_GRP_POLICY_HASH_HINT)
		URMA_FAILED(EINVAL, "policy %d: RR or HASH_HINT", policy);
	else if (cfg.flag.bs.token_policy > URMA_TOKEN_PLAIN_TEXT)
		URMA_FAILED(EOPNOTSUPP, "flag.token_policy %u: none or plain text",
			    cfg.flag.bs.token_policy);
	else
		return true;
	return false;
}

urma_jetty_grp_t *create(Context &c, const urma_jetty_grp_cfg_t &cfg)
{
	Child child(c);
	GroupSpec spec;
	u32 id;

	spec.id = cfg.id;
	spec.policy = cfg.policy == URMA_JETTY_GRP_POLICY_RR ? UBOE_JGRP_RR : UBOE_JGRP_HINT;
	spec.has_token = cfg.flag.bs.token_policy != URMA_TOKEN_NONE;
	spec.token = spec.has_token ? cfg.token_value.token : 0;
	if (int err = c.backend->create_group(spec, id)) {
		if (err == EEXIST)
			URMA_FAILED(err, "id %u: out of range or in use", cfg.id);
		else
			URMA_FAILED(err, "%s", std::strerror(err));
		return nullptr;
	}
	Undo unmake([&] { c.backend->destroy_group(id); });
	Group *g = Handles<Group>::make(c, cfg, id);

	unmake.keep();
	child.keep();
	return g;
}

} // namespace

} // namespace uboe::urma

using namespace uboe::urma;

urma_jetty_grp_t *urma_create_jetty_grp(urma_context_t *ctx, urma_jetty_grp_cfg_t *cfg)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !cfg) {
		URMA_FAILED(EINVAL, "%s", c ? "cfg: null" : "ctx: not a context");
		return nullptr;
	}
	if (!check(*cfg))
		return nullptr;
	return guarded<urma_jetty_grp_t *>(nullptr, [&] { return create(*c, *cfg); });
}

urma_status_t urma_delete_jetty_grp(urma_jetty_grp_t *jetty_grp)
{
	Group *g = Handles<Group>::check(jetty_grp);

	if (!g)
		return URMA_FAILED(URMA_EINVAL, "jetty_grp: not a jetty group");
	{
		const std::lock_guard hold(g->lock);

		if (g->jetty_cnt)
			return URMA_FAILED(URMA_EAGAIN, "jetty_grp: it has %u members",
					   g->jetty_cnt);
	}
	Context &c = g->context;

	c.backend->destroy_group(g->jetty_grp_id.id);
	Handles<Group>::destroy(g);
	--c.children;
	return URMA_SUCCESS;
}
