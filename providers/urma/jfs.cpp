// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// JFS: a send queue without a receive side.
#include <cstring>

#include <uboe/urma_ext.h>

#include "sender.hpp"

namespace uboe::urma {

Jfs::Jfs(Context &c, const urma_jfs_cfg_t &cfg, const JettySpec &js, const SendGeometry &g,
	 const SendRing &ring)
	: urma_jfs_t{}, Sender(c, cfg, js, g, ring, static_cast<urma_jfs_t *>(this))
{
	urma_ctx = &c;
	jfs_cfg = cfg;
	jfs_id.eid = c.eid;
	jfs_id.id = ring.id;
	pthread_mutex_init(&event_mutex, nullptr);
	pthread_cond_init(&event_cond, nullptr);
}

namespace {

urma_jfs_t *create(Context &c, urma_jfs_cfg_t cfg)
{
	SendGeometry g;
	SendRing ring;
	Child child(c);

	if (!shape_send_side(cfg, g))
		return nullptr;
	JettySpec spec = spec_of(cfg, g);

	spec.send_only = true;
	if (int err = c.backend->create_jetty(spec, ring)) {
		URMA_FAILED(err, "%s", std::strerror(err));
		return nullptr;
	}
	Undo unmake([&] { c.backend->destroy_jetty(ring); });
	Jfs *s = Handles<Jfs>::make(c, cfg, spec, g, ring);
	Undo forget([s] { Handles<Jfs>::destroy(s); });

	if (!s->queue.valid())
		throw std::bad_alloc();
	if (int err = publish(*s)) {
		URMA_FAILED(err, "%s", std::strerror(err));
		return nullptr;
	}
	forget.keep();
	unmake.keep();
	child.keep();
	return s;
}

} // namespace

} // namespace uboe::urma

using namespace uboe::urma;

static urma_jfs_t *create_jfs(urma_context_t *ctx, urma_jfs_cfg_t *jfs_cfg, bool raw)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !jfs_cfg) {
		URMA_FAILED(EINVAL, "%s", c ? "jfs_cfg: null" : "ctx: not a context");
		return nullptr;
	}
	if (raw && jfs_cfg->trans_mode != raw_mode) {
		URMA_FAILED(EINVAL, "jfs_cfg.trans_mode %d: 0", jfs_cfg->trans_mode);
		return nullptr;
	}
	if (!check_send_side(*c, *jfs_cfg, raw))
		return nullptr;
	if (jfs_cfg->trans_mode == URMA_TM_RC) {
		URMA_FAILED(EINVAL, "jfs_cfg.trans_mode: RC needs a jetty");
		return nullptr;
	}
	return guarded<urma_jfs_t *>(nullptr, [&] { return create(*c, *jfs_cfg); });
}

urma_jfs_t *urma_create_jfs(urma_context_t *ctx, urma_jfs_cfg_t *jfs_cfg)
{
	return create_jfs(ctx, jfs_cfg, false);
}

urma_jfs_t *uboe_create_raw_jfs(urma_context_t *ctx, urma_jfs_cfg_t *jfs_cfg)
{
	return create_jfs(ctx, jfs_cfg, true);
}

urma_status_t urma_modify_jfs(urma_jfs_t *jfs, urma_jfs_attr_t *attr)
{
	Jfs *s = Handles<Jfs>::check(jfs);

	if (!s || !attr)
		return URMA_FAILED(URMA_EINVAL, "%s", s ? "attr: null" : "jfs: not a JFS");
	if (!(attr->mask & JFS_STATE))
		return URMA_SUCCESS;
	current_state(*s);
	return guarded<urma_status_t>(URMA_ENOMEM, [&] { return change_state(*s, attr->state); });
}

urma_status_t urma_query_jfs(urma_jfs_t *jfs, urma_jfs_cfg_t *cfg, urma_jfs_attr_t *attr)
{
	Jfs *s = Handles<Jfs>::check(jfs);

	if (!s || !cfg || !attr)
		return URMA_FAILED(URMA_EINVAL, "%s", s ? "cfg or attr: null" : "jfs: not a JFS");
	*cfg = s->jfs_cfg;
	*attr = {JFS_STATE, current_state(*s)};
	return URMA_SUCCESS;
}

int urma_flush_jfs(urma_jfs_t *jfs, int cr_cnt, urma_cr_t *cr)
{
	Jfs *s = Handles<Jfs>::check(jfs);

	if (!s || cr_cnt < 0 || (cr_cnt && !cr)) {
		URMA_FAILED(EINVAL, "%s", s ? "cr_cnt or cr" : "jfs: not a JFS");
		return -1;
	}
	return 0; // as with jetties, the device flushes everything before its marker
}

urma_status_t urma_delete_jfs(urma_jfs_t *jfs)
{
	Jfs *s = Handles<Jfs>::check(jfs);

	if (!s)
		return URMA_FAILED(URMA_EINVAL, "jfs: not a JFS");
	Context &c = s->context;

	retire(*s);
	Handles<Jfs>::destroy(s);
	--c.children;
	return URMA_SUCCESS;
}

urma_status_t urma_delete_jfs_batch(urma_jfs_t **jfs_arr, int jfs_num, urma_jfs_t **bad_jfs)
{
	if (!jfs_arr || !bad_jfs || jfs_num <= 0)
		return URMA_FAILED(URMA_EINVAL, "jfs_arr, jfs_num or bad_jfs");
	for (int i = 0; i < jfs_num; ++i) {
		if (urma_status_t status = urma_delete_jfs(jfs_arr[i])) {
			*bad_jfs = jfs_arr[i];
			return status;
		}
	}
	return URMA_SUCCESS;
}
