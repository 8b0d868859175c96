// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Jetties: creation, states, destruction.
#include <cstdlib>
#include <cstring>

#include "sender.hpp"

namespace uboe::urma {

Jetty::Jetty(Context &c, const urma_jetty_cfg_t &cfg, const JettySpec &js, const SendGeometry &g,
	     const SendRing &ring)
	: urma_jetty_t{}, Sender(c, cfg.jfs_cfg, js, g, ring, static_cast<urma_jetty_t *>(this))
{
	jfr = static_cast<Jfr *>(cfg.shared.jfr);
	receive_jfc = cfg.shared.jfc ? static_cast<Jfc *>(cfg.shared.jfc) : &jfr->jfc;
	urma_ctx = &c;
	jetty_cfg = cfg;
	jetty_cfg.id = ring.id;
	jetty_id.eid = c.eid;
	jetty_id.id = ring.id;
	pthread_mutex_init(&event_mutex, nullptr);
	pthread_cond_init(&event_cond, nullptr);
}

namespace {

/// A group has one token for all that receive for it.
bool check_group(const Context &c, const urma_jetty_cfg_t &cfg)
{
	const Group *g = Handles<Group>::check(cfg.jetty_grp);
	const urma_jfr_cfg_t &jfr = cfg.shared.jfr->jfr_cfg;

	if (!cfg.jetty_grp)
		return true;
	if (!g || &g->context != &c)
		URMA_FAILED(EINVAL, "jetty_grp: not a jetty group of this context");
	else if (cfg.jfs_cfg.trans_mode == URMA_TM_RC)
		URMA_FAILED(EINVAL, "jetty_grp: RC jetties are in none");
	else if (g->cfg.flag.bs.token_policy != jfr.flag.bs.token_policy ||
		 (jfr.flag.bs.token_policy != URMA_TOKEN_NONE &&
		  g->cfg.token_value.token != jfr.token_value.token))
		URMA_FAILED(EINVAL, "jetty_grp: its token is not the JFR's");
	else
		return true;
	return false;
}

bool check(const Context &c, const urma_jetty_cfg_t &cfg)
{
	const Jfr *jfr = cfg.flag.bs.share_jfr ? Handles<Jfr>::check(cfg.shared.jfr) : nullptr;
	const Jfc *jfc = cfg.flag.bs.share_jfr ? Handles<Jfc>::check(cfg.shared.jfc) : nullptr;

	if (!check_send_side(c, cfg.jfs_cfg))
		return false;
	if (!cfg.flag.bs.share_jfr)
		URMA_FAILED(EOPNOTSUPP, "flag.share_jfr: a jetty of UB shares a JFR");
	else if (!jfr || &jfr->context != &c)
		URMA_FAILED(EINVAL, "shared.jfr: not a JFR of this context");
	else if (cfg.shared.jfc && (!jfc || &jfc->context != &c))
		URMA_FAILED(EINVAL, "shared.jfc: not a JFC of this context");
	else if (jfr->jfr_cfg.trans_mode != cfg.jfs_cfg.trans_mode)
		URMA_FAILED(EINVAL, "shared.jfr: its trans_mode is another");
	else
		return check_group(c, cfg);
	return false;
}

JettySpec jetty_spec(const urma_jetty_cfg_t &cfg, const SendGeometry &g)
{
	const Jfr &jfr = static_cast<const Jfr &>(*cfg.shared.jfr);
	const auto *own = static_cast<const Jfc *>(cfg.shared.jfc);
	JettySpec s = spec_of(cfg.jfs_cfg, g);

	s.id = cfg.id;
	s.group = cfg.jetty_grp ? cfg.jetty_grp->jetty_grp_id.id : 0;
	s.receive_jfc = (own ? *own : jfr.jfc).memory.id;
	s.jfr = jfr.memory.id;
	s.has_token = jfr.jfr_cfg.flag.bs.token_policy != URMA_TOKEN_NONE;
	s.token = s.has_token ? jfr.jfr_cfg.token_value.token : 0;
	s.min_rnr_timer = jfr.jfr_cfg.min_rnr_timer;
	return s;
}

void refused(const JettySpec &spec, int err)
{
	if (err == EEXIST)
		URMA_FAILED(err, "id %u: out of range or in use", spec.id);
	else if (err == ENOSPC && spec.group)
		URMA_FAILED(err, "jetty_grp: it has %u members, or there is no number left",
			    UBOE_MAX_JGRP_MEMBERS);
	else
		URMA_FAILED(err, "%s", std::strerror(err));
}

urma_jetty_t *create(Context &c, urma_jetty_cfg_t cfg)
{
	SendGeometry g;
	SendRing ring;
	Child child(c);

	const u32 place = cfg.id ? c.backend->locked_depth(cfg.id) : 0;

	if (place ? !shape_locked_side(cfg.jfs_cfg, place, g) : !shape_send_side(cfg.jfs_cfg, g))
		return nullptr;
	const JettySpec spec = jetty_spec(cfg, g);

	if (int err = c.backend->create_jetty(spec, ring)) {
		refused(spec, err);
		return nullptr;
	}
	Undo unmake([&] { c.backend->destroy_jetty(ring); });
	Jetty *j = Handles<Jetty>::make(c, cfg, spec, g, ring);
	Undo forget([j] { Handles<Jetty>::destroy(j); });

	if (!j->queue.valid())
		throw std::bad_alloc();
	if (int err = publish(*j)) {
		refused(spec, err);
		return nullptr;
	}
	j->group = static_cast<Group *>(cfg.jetty_grp);
	if (j->group)
		j->group->add(*j);
	forget.keep();
	unmake.keep();
	child.keep();
	return j;
}

} // namespace

} // namespace uboe::urma

using namespace uboe::urma;

urma_jetty_t *urma_create_jetty(urma_context_t *ctx, urma_jetty_cfg_t *jetty_cfg)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !jetty_cfg) {
		URMA_FAILED(EINVAL, "%s", c ? "jetty_cfg: null" : "ctx: not a context");
		return nullptr;
	}
	if (!check(*c, *jetty_cfg))
		return nullptr;
	return guarded<urma_jetty_t *>(nullptr, [&] { return create(*c, *jetty_cfg); });
}

urma_status_t urma_modify_jetty(urma_jetty_t *jetty, urma_jetty_attr_t *attr)
{
	Jetty *j = Handles<Jetty>::check(jetty);

	if (!j || !attr)
		return URMA_FAILED(URMA_EINVAL, "%s", j ? "attr: null" : "jetty: not a jetty");
	if (attr->mask & JETTY_RX_THRESHOLD)
		return URMA_FAILED(EOPNOTSUPP, "rx_threshold: set it at the JFR");
	if (!(attr->mask & JETTY_STATE))
		return URMA_SUCCESS;
	current_state(*j);
	return guarded<urma_status_t>(URMA_ENOMEM, [&] { return change_state(*j, attr->state); });
}

urma_status_t urma_query_jetty(urma_jetty_t *jetty, urma_jetty_cfg_t *cfg, urma_jetty_attr_t *attr)
{
	Jetty *j = Handles<Jetty>::check(jetty);

	if (!j || !cfg || !attr)
		return URMA_FAILED(URMA_EINVAL, "%s",
				   j ? "cfg or attr: null" : "jetty: not a jetty");
	*cfg = j->jetty_cfg;
	*attr = {JETTY_STATE, 0, current_state(*j)};
	return URMA_SUCCESS;
}

int urma_flush_jetty(urma_jetty_t *jetty, int cr_cnt, urma_cr_t *cr)
{
	Jetty *j = Handles<Jetty>::check(jetty);

	if (!j || cr_cnt < 0 || (cr_cnt && !cr)) {
		URMA_FAILED(EINVAL, "%s", j ? "cr_cnt or cr" : "jetty: not a jetty");
		return -1;
	}
	return 0; // the device flushes everything by itself, before its marker
}

urma_status_t urma_delete_jetty(urma_jetty_t *jetty)
{
	Jetty *j = Handles<Jetty>::check(jetty);

	if (!j)
		return URMA_FAILED(URMA_EINVAL, "jetty: not a jetty");
	if (j->peer)
		return URMA_FAILED(URMA_EAGAIN, "jetty: it is bound; unbind it first");
	Context &c = j->context;
	Group *g = j->group;

	if (g) // first, so that it never has more than the device
		g->remove(*j);
	retire(*j);
	Handles<Jetty>::destroy(j);
	--c.children;
	return URMA_SUCCESS;
}

urma_status_t urma_delete_jetty_batch(urma_jetty_t **jetty_arr, int jetty_num,
				      urma_jetty_t **bad_jetty)
{
	if (!jetty_arr || !bad_jetty || jetty_num <= 0)
		return URMA_FAILED(URMA_EINVAL, "jetty_arr, jetty_num or bad_jetty");
	for (int i = 0; i < jetty_num; ++i) {
		if (urma_status_t status = urma_delete_jetty(jetty_arr[i])) {
			*bad_jetty = jetty_arr[i];
			return status;
		}
	}
	return URMA_SUCCESS;
}

urma_status_t urma_get_rjetty(urma_jetty_t *jetty, urma_rjetty_t **rjetty, uint32_t *len)
{
	const Jetty *j = Handles<Jetty>::check(jetty);

	if (!j || !rjetty || !len)
		return URMA_FAILED(URMA_EINVAL, "%s",
				   j ? "rjetty or len: null" : "jetty: not a jetty");
	auto *r = static_cast<urma_rjetty_t *>(std::calloc(1, sizeof(urma_rjetty_t)));

	if (!r)
		return URMA_FAILED(URMA_ENOMEM, "no memory");
	r->jetty_id = j->jetty_id;
	r->trans_mode = j->jetty_cfg.jfs_cfg.trans_mode;
	r->type = URMA_JETTY;
	r->flag.bs.token_policy = j->jfr->jfr_cfg.flag.bs.token_policy;
	r->flag.bs.order_type = j->jetty_cfg.jfs_cfg.flag.bs.order_type;
	r->tp_type = j->spec.mode == UBOE_JETTY_UM ? URMA_UTP : URMA_RTP;
	*rjetty = r;
	*len = sizeof(*r);
	return URMA_SUCCESS;
}

void urma_put_rjetty(urma_rjetty_t *rjetty)
{
	std::free(rjetty);
}
