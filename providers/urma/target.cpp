// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Jetties of others: import, bind and their reverse.
#include <cstring>

#include "sender.hpp"

namespace uboe::urma {

Target::Target(Context &c, const urma_rjetty_t &r, const urma_token_t *t, u32 channel)
	: urma_target_jetty_t{}, context(c), mode(to_mode(r.trans_mode))
{
	params.remote_jetty = r.jetty_id.id;
	params.remote_token = t ? t->token : 0;
	params.has_token = t != nullptr;
	params.remote_type = static_cast<u8>(r.type);
	params.channel = channel;
	std::memcpy(params.remote_eid, r.jetty_id.eid.raw, sizeof(params.remote_eid));
	urma_ctx = &c;
	id = r.jetty_id;
	trans_mode = r.trans_mode;
	type = r.type;
	flag = r.flag;
	policy = r.policy;
	tp_type = r.tp_type;
}

namespace {

bool check(const urma_rjetty_t &r, const urma_token_t *token)
{
	if (!check_mode(r.trans_mode))
		return false;
	if (r.type != URMA_JFR && r.type != URMA_JETTY && r.type != URMA_JETTY_GROUP)
		URMA_FAILED(EINVAL, "type %d: a JFR, a jetty or a group", r.type);
	else if (r.trans_mode == URMA_TM_RC && r.type != URMA_JETTY)
		URMA_FAILED(EOPNOTSUPP, "type %d: RC binds jetties only", r.type);
	else if (r.trans_mode == URMA_TM_UM && r.tp_type != URMA_UTP)
		URMA_FAILED(EINVAL, "tp_type %d: UM goes by UTP", r.tp_type);
	else if (r.trans_mode != URMA_TM_UM && r.tp_type != URMA_RTP)
		URMA_FAILED(EOPNOTSUPP, "tp_type %d: UBoE carries RC and RM by RTP", r.tp_type);
	else if (!r.jetty_id.id || r.jetty_id.id > UBOE_SQE_RMT_ID)
		URMA_FAILED(EINVAL, "jetty_id.id %u: 1 to %u", r.jetty_id.id, UBOE_SQE_RMT_ID);
	else if (r.flag.bs.token_policy > URMA_TOKEN_PLAIN_TEXT)
		URMA_FAILED(EOPNOTSUPP, "flag.token_policy %u: none or plain text",
			    r.flag.bs.token_policy);
	else if (r.flag.bs.token_policy != URMA_TOKEN_NONE && !token)
		URMA_FAILED(EINVAL, "token_value: the target needs one");
	else
		return true;
	return false;
}

urma_target_jetty_t *import(Context &c, const urma_rjetty_t &r, const urma_token_t *token_value)
{
	const bool connected = r.trans_mode == URMA_TM_RC;
	const Address peer = to_address(r.jetty_id.eid);
	Child child(c);
	u32 channel = 0;

	if (int err = connected ? 0 :
				  c.backend->open_target(peer, to_mode(r.trans_mode), channel)) {
		URMA_FAILED(err, "%s: %s", peer.text().c_str(), std::strerror(err));
		return nullptr;
	}
	Undo close([&] {
		if (!connected)
			c.backend->close_target(channel);
	});
	Target *t = Handles<Target>::make(
		c, r, r.flag.bs.token_policy == URMA_TOKEN_NONE ? nullptr : token_value, channel);

	close.keep();
	child.keep();
	return t;
}

urma_status_t unimport(Target &t)
{
	if (const u32 n = t.users)
		return URMA_FAILED(URMA_EAGAIN, "tjetty: %u jetties are bound to it", n);
	Context &c = t.context;

	if (t.mode != UBOE_JETTY_RC)
		c.backend->close_target(t.params.channel);
	Handles<Target>::destroy(&t);
	--c.children;
	return URMA_SUCCESS;
}

urma_status_t bind(Jetty &j, Target &t)
{
	const std::lock_guard hold(j.control);

	if (j.spec.mode != UBOE_JETTY_RC || t.mode != UBOE_JETTY_RC)
		return URMA_FAILED(URMA_EINVAL, "%s: only RC binds",
				   j.spec.mode != UBOE_JETTY_RC ? "jetty" : "tjetty");
	if (j.peer)
		return URMA_FAILED(URMA_EEXIST, "jetty: it is bound already");
	if (j.state != URMA_JETTY_STATE_READY)
		return URMA_FAILED(URMA_EINVAL, "jetty: its state is %d", j.state);
	{
		Hold send(j.queue.lock());

		j.queue.set_remote(t.id.id);
		if (t.params.has_token)
			j.queue.set_remote_token(t.params.remote_token);
	}
	if (int err =
		    j.context.backend->connect(j.memory.id, j.spec, to_address(t.id.eid), t.id.id))
		return URMA_FAILED(err, "%s: %s", to_address(t.id.eid).text().c_str(),
				   std::strerror(err));
	j.peer = &t;
	j.remote_jetty = &t;
	++t.users;
	return URMA_SUCCESS;
}

/// What was posted and did not complete is flushed. A jetty that was bound serves
/// another peer after ERROR, RESET and READY.
urma_status_t unbind(Jetty &j)
{
	const std::lock_guard hold(j.control);

	if (!j.peer)
		return URMA_FAILED(URMA_EINVAL, "jetty: it is not bound");
	if (int err = j.context.backend->fail(j.memory.id))
		return URMA_FAILED(err, "%s", std::strerror(err));
	--j.peer->users;
	j.peer = nullptr;
	j.remote_jetty = nullptr;
	j.state = URMA_JETTY_STATE_ERROR;
	return URMA_SUCCESS;
}

} // namespace

} // namespace uboe::urma

using namespace uboe::urma;

urma_target_jetty_t *urma_import_jetty(urma_context_t *ctx, urma_rjetty_t *rjetty,
				       urma_token_t *token_value)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !rjetty) {
		URMA_FAILED(EINVAL, "%s", c ? "rjetty: null" : "ctx: not a context");
		return nullptr;
	}
	if (rjetty->type == URMA_JFR) {
		URMA_FAILED(EINVAL, "type: a JFR is imported by urma_import_jfr");
		return nullptr;
	}
	if (!check(*rjetty, token_value))
		return nullptr;
	return guarded<urma_target_jetty_t *>(nullptr,
					      [&] { return import(*c, *rjetty, token_value); });
}

urma_target_jetty_t *urma_import_jfr(urma_context_t *ctx, urma_rjfr_t *rjfr,
				     urma_token_t *token_value)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !rjfr) {
		URMA_FAILED(EINVAL, "%s", c ? "rjfr: null" : "ctx: not a context");
		return nullptr;
	}
	const urma_rjetty_t r{rjfr->jfr_id, rjfr->trans_mode, {},
			      URMA_JFR,	    rjfr->flag,	      rjfr->tp_type};

	if (!check(r, token_value))
		return nullptr;
	return guarded<urma_target_jetty_t *>(nullptr, [&] { return import(*c, r, token_value); });
}

urma_status_t urma_unimport_jfr(urma_target_jetty_t *target_jfr)
{
	Target *t = Handles<Target>::check(target_jfr);

	if (!t || t->params.remote_type != URMA_JFR)
		return URMA_FAILED(URMA_EINVAL, "target_jfr: not an imported JFR");
	return unimport(*t);
}

urma_status_t urma_unimport_jetty(urma_target_jetty_t *tjetty)
{
	Target *t = Handles<Target>::check(tjetty);

	if (!t || t->params.remote_type == URMA_JFR)
		return URMA_FAILED(URMA_EINVAL, "tjetty: not an imported jetty or group");
	return unimport(*t);
}

urma_status_t urma_bind_jetty(urma_jetty_t *jetty, urma_target_jetty_t *tjetty)
{
	Jetty *j = Handles<Jetty>::check(jetty);
	Target *t = Handles<Target>::check(tjetty);

	if (!j || !t || &j->context != &t->context)
		return URMA_FAILED(URMA_EINVAL, "%s",
				   j ? "tjetty: not imported in this context" :
				       "jetty: not a jetty");
	return guarded<urma_status_t>(URMA_ENOMEM, [&] { return bind(*j, *t); });
}

urma_status_t urma_unbind_jetty(urma_jetty_t *jetty)
{
	Jetty *j = Handles<Jetty>::check(jetty);

	if (!j)
		return URMA_FAILED(URMA_EINVAL, "jetty: not a jetty");
	return unbind(*j);
}
