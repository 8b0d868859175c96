// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// JFR: creation, threshold, posting of receives.
#include <bit>
#include <cstring>

#include <uboe/urma_ext.h>

#include "objects.hpp"
#include "sender.hpp"
#include "sges.hpp"

namespace uboe::urma {

Jfr::Jfr(Context &c, const urma_jfr_cfg_t &cfg, const RecvGeometry &g, const ReceiveRing &ring,
	 u8 shift)
	: urma_jfr_t{}, context(c), jfc(static_cast<Jfc &>(*cfg.jfc)), memory(ring),
	  queue(g, ring.slots, ring.index, ring.record, true, !cfg.flag.bs.lock_free),
	  mode(to_mode(cfg.trans_mode)), buf_shift(shift)
{
	urma_ctx = &c;
	jfr_cfg = cfg;
	jfr_cfg.id = ring.id;
	jfr_id.eid = c.eid;
	jfr_id.id = ring.id;
	pthread_mutex_init(&event_mutex, nullptr);
	pthread_cond_init(&event_cond, nullptr);
}

namespace {

bool check(const Context &c, const urma_jfr_cfg_t &cfg)
{
	const Jfc *jfc = Handles<Jfc>::check(cfg.jfc);

	if (cfg.depth < UBOE_MIN_JFR_DEPTH || cfg.depth > UBOE_MAX_JFR_DEPTH ||
	    !std::has_single_bit(cfg.depth))
		URMA_FAILED(EINVAL, "depth %u: a power of two from %u to %u", cfg.depth,
			    UBOE_MIN_JFR_DEPTH, UBOE_MAX_JFR_DEPTH);
	else if (cfg.max_sge > UBOE_MAX_RQ_SGE)
		URMA_FAILED(EINVAL, "max_sge %u: at most %u", cfg.max_sge, UBOE_MAX_RQ_SGE);
	else if (cfg.min_rnr_timer > 31)
		URMA_FAILED(EINVAL, "min_rnr_timer %u: 0 to 31", cfg.min_rnr_timer);
	else if (!jfc || &jfc->context != &c)
		URMA_FAILED(EINVAL, "jfc: not a JFC of this context");
	else if (cfg.flag.bs.tag_matching)
		URMA_FAILED(EOPNOTSUPP, "flag.tag_matching: not supported");
	else if (cfg.flag.bs.token_policy > URMA_TOKEN_PLAIN_TEXT)
		URMA_FAILED(EOPNOTSUPP, "flag.token_policy %u: none or plain text",
			    cfg.flag.bs.token_policy);
	else
		return check_mode(cfg.trans_mode);
	return false;
}

urma_jfr_t *create(Context &c, const urma_jfr_cfg_t &cfg, u8 buf_shift)
{
	Jfc &jfc = static_cast<Jfc &>(*cfg.jfc);
	RecvGeometry g;
	ReceiveRing ring;
	Child child(c);

	recv_geometry(cfg.depth, cfg.max_sge, g); // checked before
	const ReceiveSpec spec{
		.id = cfg.id,
		.depth = g.depth,
		.sge_shift = g.sge_shift,
		.buf_shift = buf_shift,
		.jfc = jfc.memory.id,
		.mode = to_mode(cfg.trans_mode),
		.token = cfg.token_value.token,
		.has_token = cfg.flag.bs.token_policy != URMA_TOKEN_NONE,
	};
	if (int err = c.backend->create_jfr(spec, ring)) {
		if (err == EEXIST)
			URMA_FAILED(err, "id %u: out of range or in use", cfg.id);
		else
			URMA_FAILED(err, "%s", std::strerror(err));
		return nullptr;
	}
	Undo unmake([&] { c.backend->destroy_jfr(ring); });
	Jfr *jfr = Handles<Jfr>::make(c, cfg, g, ring, buf_shift);
	Undo forget([&] {
		const std::lock_guard hold(c.events);

		c.jfrs.erase(ring.id);
		Handles<Jfr>::destroy(jfr);
	});

	if (!jfr->queue.valid())
		throw std::bad_alloc();
	{
		const std::lock_guard hold(c.events);

		c.jfrs[ring.id] = jfr;
	}
	if (spec.mode != UBOE_JETTY_RC) {
		const std::lock_guard hold(c.tables);

		if (!c.targets.set(JettyId{ring.id}, jfr))
			throw std::bad_alloc();
	}
	++jfc.users;
	forget.keep();
	unmake.keep();
	child.keep();
	return jfr;
}

/// It is no target any more, and what completed there is gone.
void withdraw(Jfr &q)
{
	Context &c = q.context;

	if (q.mode == UBOE_JETTY_RC)
		return;
	{
		const std::lock_guard hold(c.tables);

		c.targets.set(JettyId{q.memory.id}, nullptr);
	}
	Hold hold(q.jfc.queue.lock());

	q.jfc.queue.purge(
		[&q](const Cqe &e) {
			return e.is_recv() && !e.is_jetty() && e.local() == JettyId{q.memory.id};
		},
		[](const Cqe &) {});
}

} // namespace

urma_status_t post_receives(Jfr &jfr, urma_jfr_wr_t *wr, urma_jfr_wr_t **bad)
{
	urma_status_t status = URMA_SUCCESS;
	Hold hold(jfr.queue.lock());

	for (; wr; wr = wr->next) {
		LocalSges sges;
		int err = sges.gather(wr->src, jfr.context);

		if (!err && jfr.buf_shift && sges.bytes() != u64{1} << jfr.buf_shift)
			err = EINVAL;
		if (!err)
			err = jfr.queue.append(wr->user_ctx, sges.span());
		if (err) {
			*bad = wr;
			status = URMA_FAILED(err, "%s",
					     err == ENOMEM ? "the JFR is full" :
							     "src: an element is wrong");
			break;
		}
	}
	jfr.queue.publish();
	return status;
}

} // namespace uboe::urma

using namespace uboe::urma;

static urma_jfr_t *create_jfr(urma_context_t *ctx, urma_jfr_cfg_t *jfr_cfg, uboe::u8 buf_shift)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !jfr_cfg) {
		URMA_FAILED(EINVAL, "%s", c ? "jfr_cfg: null" : "ctx: not a context");
		return nullptr;
	}
	if (!check(*c, *jfr_cfg))
		return nullptr;
	return guarded<urma_jfr_t *>(nullptr, [&] { return create(*c, *jfr_cfg, buf_shift); });
}

urma_jfr_t *urma_create_jfr(urma_context_t *ctx, urma_jfr_cfg_t *jfr_cfg)
{
	return create_jfr(ctx, jfr_cfg, 0);
}

urma_jfr_t *uboe_create_jfr(urma_context_t *ctx, urma_jfr_cfg_t *jfr_cfg, uint32_t buffer)
{
	if (buffer != 1u << UBOE_JFR_BUF_2K && buffer != 1u << UBOE_JFR_BUF_4K) {
		URMA_FAILED(EINVAL, "buffer %u: 2048 or 4096", buffer);
		return nullptr;
	}
	return create_jfr(ctx, jfr_cfg, static_cast<uboe::u8>(std::countr_zero(buffer)));
}

urma_status_t urma_modify_jfr(urma_jfr_t *jfr, urma_jfr_attr_t *attr)
{
	Jfr *q = Handles<Jfr>::check(jfr);

	if (!q || !attr)
		return URMA_FAILED(URMA_EINVAL, "%s", q ? "attr: null" : "jfr: not a JFR");
	if (attr->mask & JFR_STATE && attr->state != URMA_JFR_STATE_READY)
		return URMA_FAILED(EOPNOTSUPP, "state %d: a JFR is always ready", attr->state);
	if (!(attr->mask & JFR_RX_THRESHOLD))
		return URMA_SUCCESS;
	if (attr->rx_threshold >= q->jfr_cfg.depth)
		return URMA_FAILED(URMA_EINVAL, "rx_threshold %u: less than the depth, %u",
				   attr->rx_threshold, q->jfr_cfg.depth);
	if (int err = q->context.backend->limit_jfr(q->memory.id, attr->rx_threshold))
		return URMA_FAILED(err, "%s", std::strerror(err));
	q->threshold = attr->rx_threshold;
	return URMA_SUCCESS;
}

urma_status_t urma_query_jfr(urma_jfr_t *jfr, urma_jfr_cfg_t *cfg, urma_jfr_attr_t *attr)
{
	const Jfr *q = Handles<Jfr>::check(jfr);

	if (!q || !cfg || !attr)
		return URMA_FAILED(URMA_EINVAL, "%s", q ? "cfg or attr: null" : "jfr: not a JFR");
	*cfg = q->jfr_cfg;
	*attr = {JFR_RX_THRESHOLD | JFR_STATE, q->threshold, URMA_JFR_STATE_READY};
	return URMA_SUCCESS;
}

urma_status_t urma_delete_jfr(urma_jfr_t *jfr)
{
	Jfr *q = Handles<Jfr>::check(jfr);

	if (!q)
		return URMA_FAILED(URMA_EINVAL, "jfr: not a JFR");
	if (const uboe::u32 n = q->users)
		return URMA_FAILED(URMA_EAGAIN, "jfr: %u jetties receive from it", n);
	Context &c = q->context;

	c.backend->destroy_jfr(q->memory);
	withdraw(*q);
	{
		const std::lock_guard hold(c.events);

		// the number may have a new owner already
		if (const auto it = c.jfrs.find(q->memory.id);
		    it != c.jfrs.end() && it->second == q)
			c.jfrs.erase(it);
	}
	c.forget(q);
	q->asyncs.wait();
	--q->jfc.users;
	Handles<Jfr>::destroy(q);
	--c.children;
	return URMA_SUCCESS;
}

urma_status_t urma_delete_jfr_batch(urma_jfr_t **jfr_arr, int jfr_num, urma_jfr_t **bad_jfr)
{
	if (!jfr_arr || !bad_jfr || jfr_num <= 0)
		return URMA_FAILED(URMA_EINVAL, "jfr_arr, jfr_num or bad_jfr");
	for (int i = 0; i < jfr_num; ++i) {
		if (urma_status_t status = urma_delete_jfr(jfr_arr[i])) {
			*bad_jfr = jfr_arr[i];
			return status;
		}
	}
	return URMA_SUCCESS;
}

urma_status_t urma_post_jfr_wr(urma_jfr_t *jfr, urma_jfr_wr_t *wr, urma_jfr_wr_t **bad_wr)
{
	Jfr *q = Handles<Jfr>::check(jfr);

	if (!q || !wr || !bad_wr)
		return URMA_FAILED(URMA_EINVAL, "%s", q ? "wr or bad_wr: null" : "jfr: not a JFR");
	return post_receives(*q, wr, bad_wr);
}

urma_status_t urma_recv(urma_jfr_t *jfr, urma_target_seg_t *recv_tseg, uint64_t buf, uint32_t len,
			uint64_t user_ctx)
{
	urma_sge_t sge{buf, len, recv_tseg, nullptr};
	urma_jfr_wr_t wr{{&sge, 1}, user_ctx, nullptr}, *bad;

	return urma_post_jfr_wr(jfr, &wr, &bad);
}
