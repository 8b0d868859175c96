// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Jetties: creation, states, destruction.
#include <bit>
#include <cstdlib>
#include <cstring>

#include "objects.hpp"

namespace uboe::urma {

Jetty::Jetty(Context &c, const urma_jetty_cfg_t &cfg, const JettySpec &js, const SendGeometry &g,
	     const SendRing &ring)
	: urma_jetty_t{}, context(c), send_jfc(static_cast<Jfc &>(*cfg.jfs_cfg.jfc)),
	  receive_jfc(cfg.shared.jfc ? static_cast<Jfc &>(*cfg.shared.jfc) :
				       static_cast<Jfr &>(*cfg.shared.jfr).jfc),
	  jfr(static_cast<Jfr &>(*cfg.shared.jfr)), spec(js), memory(ring),
	  queue(g, ring.ring, ring.page, false, false, !cfg.jfs_cfg.flag.bs.lock_free)
{
	spec.id = ring.id;
	urma_ctx = &c;
	jetty_cfg = cfg;
	jetty_cfg.id = ring.id;
	jetty_id.eid = c.eid;
	jetty_id.id = ring.id;
	pthread_mutex_init(&event_mutex, nullptr);
	pthread_cond_init(&event_cond, nullptr);
}

namespace {

// Every operation of the API may be posted
constexpr u32 all_ops = (1u << op_count) - 1;

bool check_send_side(const Context &c, const urma_jfs_cfg_t &s)
{
	const Jfc *jfc = Handles<Jfc>::check(s.jfc);

	if (!s.depth || s.depth > UBOE_MAX_JFS_BB || !std::has_single_bit(s.depth))
		URMA_FAILED(EINVAL, "jfs_cfg.depth %u: a power of two from 1 to %u", s.depth,
			    UBOE_MAX_JFS_BB);
	else if (s.max_sge > UBOE_MAX_SGE)
		URMA_FAILED(EINVAL, "jfs_cfg.max_sge %u: at most %u", s.max_sge, UBOE_MAX_SGE);
	else if (s.max_rsge > 1)
		URMA_FAILED(EINVAL, "jfs_cfg.max_rsge %u: at most 1", s.max_rsge);
	else if (s.max_inline_data > UBOE_MAX_INLINE)
		URMA_FAILED(EINVAL, "jfs_cfg.max_inline_data %u: at most %u", s.max_inline_data,
			    UBOE_MAX_INLINE);
	else if (s.rnr_retry > 7)
		URMA_FAILED(EINVAL, "jfs_cfg.rnr_retry %u: 0 to 7", s.rnr_retry);
	else if (s.err_timeout > 31)
		URMA_FAILED(EINVAL, "jfs_cfg.err_timeout %u: 0 to 31", s.err_timeout);
	else if (s.priority > URMA_MAX_PRIORITY)
		URMA_FAILED(EINVAL, "jfs_cfg.priority %u: 0 to %u", s.priority, URMA_MAX_PRIORITY);
	else if (!jfc || &jfc->context != &c)
		URMA_FAILED(EINVAL, "jfs_cfg.jfc: not a JFC of this context");
	else if (s.trans_mode != URMA_TM_RC)
		URMA_FAILED(EOPNOTSUPP, "jfs_cfg.trans_mode %d: only RC so far", s.trans_mode);
	else if (s.flag.bs.order_type != URMA_DEF_ORDER && s.flag.bs.order_type != URMA_OL)
		URMA_FAILED(EOPNOTSUPP, "jfs_cfg.flag.order_type %u: only OL with RC so far",
			    s.flag.bs.order_type);
	else if (s.flag.bs.error_suspend || s.flag.bs.outorder_comp || s.flag.bs.multi_path)
		URMA_FAILED(EOPNOTSUPP, "jfs_cfg.flag: error_suspend, outorder_comp and "
					"multi_path are not supported");
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
	else if (cfg.jetty_grp)
		URMA_FAILED(EOPNOTSUPP, "jetty_grp: groups are not supported so far");
	else
		return true;
	return false;
}

JettySpec spec_of(const urma_jetty_cfg_t &cfg, u32 depth)
{
	const Jfr &jfr = static_cast<const Jfr &>(*cfg.shared.jfr);
	const auto *own = static_cast<const Jfc *>(cfg.shared.jfc);
	JettySpec s;

	s.id = cfg.id;
	s.depth = depth;
	s.send_jfc = static_cast<const Jfc &>(*cfg.jfs_cfg.jfc).memory.id;
	s.receive_jfc = (own ? *own : jfr.jfc).memory.id;
	s.jfr = jfr.memory.id;
	s.has_token = jfr.jfr_cfg.flag.bs.token_policy != URMA_TOKEN_NONE;
	s.token = s.has_token ? jfr.jfr_cfg.token_value.token : 0;
	s.min_rnr_timer = jfr.jfr_cfg.min_rnr_timer;
	s.rnr_retry = cfg.jfs_cfg.rnr_retry;
	s.err_timeout = cfg.jfs_cfg.err_timeout;
	return s;
}

/// The jetty is complete: others may find it.
void publish(Context &c, Jetty &j)
{
	{
		const std::lock_guard hold(c.tables);

		if (!c.jetties.set(JettyId{j.memory.id}, &j))
			throw std::bad_alloc();
	}
	++j.send_jfc.users;
	++j.receive_jfc.users;
	++j.jfr.users;
}

urma_jetty_t *create(Context &c, const urma_jetty_cfg_t &given)
{
	urma_jetty_cfg_t cfg = given;
	SendGeometry g;
	SendRing ring;
	Child child(c);

	cfg.jfs_cfg.flag.bs.order_type = URMA_OL; // what the default means for RC
	if (send_geometry(cfg.jfs_cfg.depth, cfg.jfs_cfg.max_sge, cfg.jfs_cfg.max_inline_data,
			  all_ops, UBOE_MAX_INLINE, g)) {
		URMA_FAILED(EINVAL, "jfs_cfg.depth %u: too many for requests of this size",
			    cfg.jfs_cfg.depth);
		return nullptr;
	}
	const JettySpec spec = spec_of(cfg, g.depth);

	if (int err = c.backend->create_jetty(spec, ring)) {
		if (err == EEXIST)
			URMA_FAILED(err, "id %u: out of range or in use", cfg.id);
		else
			URMA_FAILED(err, "%s", std::strerror(err));
		return nullptr;
	}
	cfg.jfs_cfg.max_sge = static_cast<u8>(g.sge);
	cfg.jfs_cfg.max_inline_data = g.inline_bytes;
	Jetty *j = nullptr;
	try {
		j = Handles<Jetty>::make(c, cfg, spec, g, ring);
		if (!j->queue.valid())
			throw std::bad_alloc();
		publish(c, *j);
	} catch (...) {
		c.backend->destroy_jetty(ring);
		if (j)
			Handles<Jetty>::destroy(j);
		throw;
	}
	child.keep();
	return j;
}

/// Completions of a jetty that is no more; receive slots go back to the JFR.
void purge(Jetty &j)
{
	const auto ours = [&j](const Cqe &c) { return c.local() == JettyId{j.memory.id}; };
	const auto removed = [&j](const Cqe &c) {
		if (c.is_recv())
			j.jfr.queue.complete(Slot{c.entry()});
	};
	const auto one = [&](Jfc &jfc) {
		Hold hold(jfc.queue.lock());

		jfc.queue.purge(ours, removed);
	};

	one(j.send_jfc);
	if (&j.receive_jfc != &j.send_jfc)
		one(j.receive_jfc);
}

urma_status_t restart(Jetty &j)
{
	Hold send(j.queue.lock());
	Hold complete(j.send_jfc.queue.lock());

	if (int err = j.context.backend->reset(j.spec, j.memory))
		return URMA_FAILED(err, "%s", std::strerror(err));
	j.queue.reset();
	return URMA_SUCCESS;
}

/// The states that a program may ask for, in the order of the API guide:
/// READY to ERROR, ERROR to RESET, RESET to READY.
urma_status_t change_state(Jetty &j, urma_jetty_state_t to)
{
	const std::lock_guard hold(j.control);

	if (to == j.state)
		return URMA_SUCCESS;
	if (to == URMA_JETTY_STATE_ERROR && j.state == URMA_JETTY_STATE_READY) {
		if (int err = j.context.backend->fail(j.memory.id))
			return URMA_FAILED(err, "%s", std::strerror(err));
	} else if (to == URMA_JETTY_STATE_RESET && j.state == URMA_JETTY_STATE_ERROR) {
		if (j.peer)
			return URMA_FAILED(URMA_EAGAIN, "jetty: it is bound; unbind it first");
		purge(j);
		if (urma_status_t status = restart(j))
			return status;
	} else if (to != URMA_JETTY_STATE_READY || j.state != URMA_JETTY_STATE_RESET) {
		return URMA_FAILED(URMA_EINVAL, "state: there is no way from %d to %d", j.state,
				   to);
	}
	j.state = to;
	return URMA_SUCCESS;
}

} // namespace

/// An error may have happened that nobody asked for.
urma_jetty_state_t current_state(Jetty &j)
{
	const std::lock_guard hold(j.control);
	bool failed = false;

	if (j.state == URMA_JETTY_STATE_READY &&
	    !j.context.backend->has_failed(j.memory.id, failed) && failed)
		j.state = URMA_JETTY_STATE_ERROR;
	return j.state;
}

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

	c.backend->destroy_jetty(j->memory);
	{
		const std::lock_guard hold(c.tables);

		c.jetties.set(uboe::JettyId{j->memory.id}, nullptr);
	}
	purge(*j);
	c.forget(static_cast<urma_jetty_t *>(j));
	j->asyncs.wait();
	--j->send_jfc.users;
	--j->receive_jfc.users;
	--j->jfr.users;
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
	r->flag.bs.token_policy = j->jfr.jfr_cfg.flag.bs.token_policy;
	r->flag.bs.order_type = j->jetty_cfg.jfs_cfg.flag.bs.order_type;
	r->tp_type = URMA_RTP;
	*rjetty = r;
	*len = sizeof(*r);
	return URMA_SUCCESS;
}

void urma_put_rjetty(urma_rjetty_t *rjetty)
{
	std::free(rjetty);
}
