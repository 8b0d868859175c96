// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Token ids and segments: registered and imported.
#include <cstdlib>
#include <cstring>
#include <random>

#include <uboe/urma_ext.h>

#include "objects.hpp"

namespace uboe::urma {

TokenId::TokenId(Context &c, u32 id) : urma_token_id_t{}, context(c), number(id)
{
	urma_ctx = &c;
	token_id = id << token_id_shift;
}

Segment::Segment(Context &c) : urma_target_seg_t{}, context(c)
{
	urma_ctx = &c;
}

namespace {

constexpr u32 all_access = URMA_ACCESS_LOCAL_ONLY | URMA_ACCESS_READ | URMA_ACCESS_WRITE |
			   URMA_ACCESS_ATOMIC;

TokenId *make_token_id(Context &c)
{
	Child child(c);
	u32 id;

	if (int err = c.backend->reserve_token_id(id)) {
		URMA_FAILED(err, "%s", err == ENOSPC ? "no token id is left" : std::strerror(err));
		return nullptr;
	}
	TokenId *t = Handles<TokenId>::make(c, id);

	child.keep();
	return t;
}

void drop_token_id(TokenId *t)
{
	Context &c = t->context;

	c.backend->release_token_id(t->number);
	Handles<TokenId>::destroy(t);
	--c.children;
}

bool check(const Context &c, const urma_seg_cfg_t &cfg)
{
	const u32 access = cfg.flag.bs.access;
	const TokenId *t = Handles<TokenId>::check(cfg.token_id);

	if (!cfg.va || !cfg.len || cfg.va + cfg.len < cfg.va)
		URMA_FAILED(EINVAL, "va, len: no memory");
	else if (access & ~all_access)
		URMA_FAILED(EINVAL, "flag.access 0x%x: unknown rights", access);
	else if (access & URMA_ACCESS_LOCAL_ONLY && access != URMA_ACCESS_LOCAL_ONLY)
		URMA_FAILED(EINVAL, "flag.access 0x%x: LOCAL_ONLY stands alone", access);
	else if (access & URMA_ACCESS_WRITE && !(access & URMA_ACCESS_READ))
		URMA_FAILED(EINVAL, "flag.access 0x%x: WRITE requires READ", access);
	else if (access & URMA_ACCESS_ATOMIC && !(access & URMA_ACCESS_WRITE))
		URMA_FAILED(EINVAL, "flag.access 0x%x: ATOMIC requires READ and WRITE", access);
	else if (cfg.flag.bs.token_policy > URMA_TOKEN_PLAIN_TEXT)
		URMA_FAILED(EOPNOTSUPP, "flag.token_policy %u: none or plain text",
			    cfg.flag.bs.token_policy);
	else if (cfg.flag.bs.dsva || cfg.flag.bs.non_pin)
		URMA_FAILED(EOPNOTSUPP, "flag: dsva and non_pin are not supported");
	else if (cfg.flag.bs.token_id_valid && (!t || &t->context != &c))
		URMA_FAILED(EINVAL, "token_id: not of this context");
	else
		return true;
	return false;
}

u8 rights(u32 access)
{
	return static_cast<u8>(UBOE_ACC_LOCAL_WRITE |
			       (access & URMA_ACCESS_READ ? UBOE_ACC_REMOTE_READ : 0) |
			       (access & URMA_ACCESS_WRITE ? UBOE_ACC_REMOTE_WRITE : 0) |
			       (access & URMA_ACCESS_ATOMIC ? UBOE_ACC_REMOTE_ATOMIC : 0));
}

/// What peers are told of it.
void describe(Segment &s, const urma_seg_cfg_t &cfg, u32 id, u64 va)
{
	const auto &f = cfg.flag.bs;

	s.user_ctx = cfg.user_ctx;
	s.seg.ubva.eid = s.context.eid;
	s.seg.ubva.va = va;
	s.seg.len = cfg.len;
	s.seg.token_id = id << token_id_shift;
	s.seg.attr.bs.token_policy = f.token_policy;
	s.seg.attr.bs.cacheable = f.cacheable;
	s.seg.attr.bs.access = f.access;
	s.seg.attr.bs.user_iova = f.user_iova;
	s.seg.attr.bs.user_token_id = f.token_id_valid;
}

Segment *register_under(Context &c, const urma_seg_cfg_t &cfg, TokenId &t)
{
	SegmentSpec spec;
	Child child(c);

	spec.id = t.number;
	spec.va = cfg.flag.bs.user_iova ? cfg.iova : cfg.va;
	spec.memory = reinterpret_cast<void *>(cfg.va);
	spec.length = cfg.len;
	spec.access = rights(cfg.flag.bs.access);
	spec.needs_token = cfg.flag.bs.token_policy != URMA_TOKEN_NONE;
	// a local key still needs a value that nobody guesses by chance
	spec.token = spec.needs_token ? cfg.token_value.token : std::random_device()();
	Segment *s = Handles<Segment>::make(c);

	if (int err = c.backend->create_segment(spec)) {
		Handles<Segment>::destroy(s);
		URMA_FAILED(err, "va 0x%llx, len %llu: %s", static_cast<unsigned long long>(cfg.va),
			    static_cast<unsigned long long>(cfg.len),
			    err == EFAULT ? "not all of it is mapped" : std::strerror(err));
		return nullptr;
	}
	describe(*s, cfg, t.number, spec.va);
	s->is_local = true;
	s->token_id = &t;
	s->local_key = t.number << 12 | (spec.token & 0xfff);
	s->remote = {t.number, spec.token, spec.needs_token};
	s->va = spec.va;
	s->memory = static_cast<std::byte *>(spec.memory);
	s->length = spec.length;
	{
		const std::lock_guard hold(c.tables);

		c.segments.set(JettyId{t.number}, s); // without memory: not found, refused
	}
	child.keep();
	return s;
}

urma_target_seg_t *do_register(Context &c, const urma_seg_cfg_t &cfg)
{
	const bool implicit = !cfg.flag.bs.token_id_valid;
	TokenId *t = implicit ? make_token_id(c) : static_cast<TokenId *>(cfg.token_id);

	if (!t)
		return nullptr;
	if (t->in_use.exchange(true)) {
		URMA_FAILED(EEXIST, "token_id: it has a segment already");
		return nullptr;
	}
	t->implicit = implicit;
	Undo release([t, implicit] {
		const int err = errno;

		t->in_use = false;
		if (implicit)
			drop_token_id(t);
		errno = err;
	});
	Segment *s = register_under(c, cfg, *t);

	if (s)
		release.keep();
	return s;
}

} // namespace

} // namespace uboe::urma

using namespace uboe::urma;

urma_token_id_t *urma_alloc_token_id(urma_context_t *ctx)
{
	return urma_alloc_token_id_ex(ctx, {});
}

urma_token_id_t *urma_alloc_token_id_ex(urma_context_t *ctx, urma_token_id_flag_t flag)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || flag.bs.multi_seg) {
		URMA_FAILED(c ? EOPNOTSUPP : EINVAL, "%s",
			    c ? "flag.multi_seg: one segment a token id" : "ctx: not a context");
		return nullptr;
	}
	return guarded<urma_token_id_t *>(nullptr, [&] { return make_token_id(*c); });
}

urma_status_t urma_free_token_id(urma_token_id_t *token_id)
{
	TokenId *t = Handles<TokenId>::check(token_id);

	if (!t)
		return URMA_FAILED(URMA_EINVAL, "token_id: not a token id");
	if (t->in_use)
		return URMA_FAILED(URMA_EAGAIN, "token_id: a segment has it");
	drop_token_id(t);
	return URMA_SUCCESS;
}

urma_target_seg_t *urma_register_seg(urma_context_t *ctx, urma_seg_cfg_t *seg_cfg)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !seg_cfg) {
		URMA_FAILED(EINVAL, "%s", c ? "seg_cfg: null" : "ctx: not a context");
		return nullptr;
	}
	if (!check(*c, *seg_cfg))
		return nullptr;
	return guarded<urma_target_seg_t *>(nullptr, [&] { return do_register(*c, *seg_cfg); });
}

urma_status_t urma_unregister_seg(urma_target_seg_t *target_seg)
{
	Segment *s = Handles<Segment>::check(target_seg);

	if (!s || !s->is_local)
		return URMA_FAILED(URMA_EINVAL, "target_seg: not a registered segment");
	TokenId *t = static_cast<TokenId *>(s->token_id);
	Context &c = s->context;

	{
		const std::lock_guard hold(c.tables);

		c.segments.set(uboe::JettyId{t->number}, nullptr);
	}
	c.backend->destroy_segment(t->number);
	t->in_use = false;
	if (t->implicit)
		drop_token_id(t);
	Handles<Segment>::destroy(s);
	--c.children;
	return URMA_SUCCESS;
}

urma_status_t uboe_rotate_token(urma_target_seg_t *seg, urma_token_t token, bool keep_present)
{
	Segment *s = Handles<Segment>::check(seg);

	if (!s || !s->is_local)
		return URMA_FAILED(URMA_EINVAL, "seg: not a registered segment");
	if (!s->remote.has_value)
		return URMA_FAILED(URMA_EINVAL, "seg: it needs no token");
	if (int err = s->context.backend->rotate_token(
		    s->remote.id, token.token, keep_present ? s->remote.value : token.token))
		return URMA_FAILED(err, "%s", std::strerror(err));
	s->remote.value = token.token;
	return URMA_SUCCESS;
}

urma_target_seg_t *urma_import_seg(urma_context_t *ctx, urma_seg_t *seg, urma_token_t *token_value,
				   uint64_t, urma_import_seg_flag_t flag)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !seg) {
		URMA_FAILED(EINVAL, "%s", c ? "seg: null" : "ctx: not a context");
		return nullptr;
	}
	const bool has_token = seg->attr.bs.token_policy != URMA_TOKEN_NONE;

	if (flag.bs.mapping) {
		URMA_FAILED(EOPNOTSUPP, "flag.mapping: remote memory cannot be mapped");
		return nullptr;
	}
	if (has_token && !token_value) {
		URMA_FAILED(EINVAL, "token_value: the segment needs one");
		return nullptr;
	}
	return guarded<urma_target_seg_t *>(nullptr, [&] {
		Child child(*c);
		Segment *s = Handles<Segment>::make(*c);

		s->seg = *seg;
		s->remote = {seg->token_id >> token_id_shift, has_token ? token_value->token : 0,
			     has_token};
		child.keep();
		return s;
	});
}

urma_status_t urma_unimport_seg(urma_target_seg_t *tseg)
{
	Segment *s = Handles<Segment>::check(tseg);

	if (!s || s->is_local)
		return URMA_FAILED(URMA_EINVAL, "tseg: not an imported segment");
	Context &c = s->context;

	Handles<Segment>::destroy(s);
	--c.children;
	return URMA_SUCCESS;
}

urma_status_t urma_get_seg_ctx(urma_target_seg_t *target_seg, urma_seg_t **seg, uint32_t *size)
{
	const Segment *s = Handles<Segment>::check(target_seg);

	if (!s || !seg || !size)
		return URMA_FAILED(URMA_EINVAL, "%s",
				   s ? "seg or size: null" : "target_seg: not a segment");
	auto *copy = static_cast<urma_seg_t *>(std::malloc(sizeof(urma_seg_t)));

	if (!copy)
		return URMA_FAILED(URMA_ENOMEM, "no memory");
	*copy = s->seg;
	*seg = copy;
	*size = sizeof(*copy);
	return URMA_SUCCESS;
}

void urma_put_seg_ctx(urma_seg_t *seg)
{
	std::free(seg);
}
