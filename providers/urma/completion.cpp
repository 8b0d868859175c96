// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// JFCE and JFC: creation, polling, events.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "objects.hpp"

namespace uboe::urma {

namespace {
// ERESTARTSYS of the kernel: what urma_wait_jfc() leaves in errno after a signal
constexpr int interrupted = 512;
} // namespace

Jfce::Jfce(Context &c) : urma_jfce_t{}, context(c)
{
	urma_ctx = &c;
	fd = bell.fd();
}

void Jfce::fire(Jfc &jfc)
{
	const std::lock_guard hold(lock);

	try {
		fired.push_back(&jfc);
	} catch (...) {
		return; // no memory: who polls finds the completion all the same
	}
	bell.ring();
}

void Jfce::forget(const Jfc &jfc)
{
	const std::lock_guard hold(lock);

	std::erase(fired, &jfc);
	if (fired.empty())
		bell.clear();
}

Jfc::Jfc(Context &c, const urma_jfc_cfg_t &cfg, const CompletionRing &ring)
	: urma_jfc_t{}, context(c), channel(static_cast<Jfce *>(cfg.jfce)), memory(ring),
	  queue(ring.ring, cfg.depth, ring.record, !cfg.flag.bs.lock_free)
{
	urma_ctx = &c;
	jfc_cfg = cfg;
	jfc_id.eid = c.eid;
	jfc_id.id = ring.id;
	pthread_mutex_init(&event_mutex, nullptr);
	pthread_cond_init(&event_cond, nullptr);
}

namespace {

urma_jfc_t *create(Context &c, const urma_jfc_cfg_t &cfg)
{
	CompletionRing ring;
	Child child(c);

	if (int err = cfg.flag.bs.jfc_inline ? c.backend->create_inline_jfc(cfg.depth, ring) :
					       c.backend->create_jfc(cfg.depth, ring)) {
		URMA_FAILED(err, "%s", std::strerror(err));
		return nullptr;
	}
	Undo unmake([&] { c.backend->destroy_jfc(ring); });
	Jfc *jfc = Handles<Jfc>::make(c, cfg, ring);
	Undo forget([jfc] { Handles<Jfc>::destroy(jfc); });
	{
		const std::lock_guard hold(c.events);

		c.jfcs[ring.id] = jfc;
	}
	if (jfc->channel)
		++jfc->channel->users;
	forget.keep();
	unmake.keep();
	child.keep();
	return jfc;
}

bool check(const Context &c, const urma_jfc_cfg_t &cfg)
{
	if (cfg.depth < UBOE_MIN_JFC_DEPTH || cfg.depth > UBOE_MAX_JFC_DEPTH ||
	    !std::has_single_bit(cfg.depth)) {
		URMA_FAILED(EINVAL, "depth %u: a power of two from %u to %u", cfg.depth,
			    UBOE_MIN_JFC_DEPTH, UBOE_MAX_JFC_DEPTH);
		return false;
	}
	if (cfg.ceqn >= 1) {
		URMA_FAILED(EINVAL, "ceqn %u: there is one completion vector", cfg.ceqn);
		return false;
	}
	const Jfce *jfce = Handles<Jfce>::check(cfg.jfce);

	if (cfg.jfce && (!jfce || &jfce->context != &c)) {
		URMA_FAILED(EINVAL, "jfce: not a JFCE of this context");
		return false;
	}
	return true;
}

constexpr bool is_period(u32 us)
{
	return !us ||
	       (us >= 4 && us <= 16384 && std::has_single_bit(us) && std::countr_zero(us) % 2 == 0);
}

/// Waits; milliseconds that are left, 0 when the time is over, -1: for ever.
int time_left(int timeout_ms, std::chrono::steady_clock::time_point start)
{
	using namespace std::chrono;

	if (timeout_ms < 0)
		return -1;
	const auto gone = duration_cast<milliseconds>(steady_clock::now() - start).count();

	return gone >= timeout_ms ? 0 : timeout_ms - static_cast<int>(gone);
}

u32 take_fired(Jfce &channel, u32 max, urma_jfc_t *jfc[])
{
	const std::lock_guard hold(channel.lock);
	u32 n = 0;

	while (n < max && !channel.fired.empty()) {
		Jfc *one = channel.fired.front();

		channel.fired.pop_front();
		one->queue.fired();
		one->completions.taken();
		jfc[n++] = one;
	}
	if (channel.fired.empty())
		channel.bell.clear();
	return n;
}

} // namespace

} // namespace uboe::urma

using namespace uboe::urma;

urma_jfce_t *urma_create_jfce(urma_context_t *ctx)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c) {
		URMA_FAILED(EINVAL, "ctx: not a context");
		return nullptr;
	}
	return guarded<urma_jfce_t *>(nullptr, [&] {
		Child child(*c);
		Jfce *e = Handles<Jfce>::make(*c);

		child.keep();
		return e;
	});
}

urma_status_t urma_delete_jfce(urma_jfce_t *jfce)
{
	Jfce *e = Handles<Jfce>::check(jfce);

	if (!e)
		return URMA_FAILED(URMA_EINVAL, "jfce: not a JFCE");
	if (const uboe::u32 n = e->users)
		return URMA_FAILED(URMA_EAGAIN, "jfce: %u JFCs use it", n);
	Context &c = e->context;

	Handles<Jfce>::destroy(e);
	--c.children;
	return URMA_SUCCESS;
}

urma_jfc_t *urma_create_jfc(urma_context_t *ctx, urma_jfc_cfg_t *jfc_cfg)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !jfc_cfg) {
		URMA_FAILED(EINVAL, "%s", c ? "jfc_cfg: null" : "ctx: not a context");
		return nullptr;
	}
	if (!check(*c, *jfc_cfg))
		return nullptr;
	return guarded<urma_jfc_t *>(nullptr, [&] { return create(*c, *jfc_cfg); });
}

urma_status_t urma_modify_jfc(urma_jfc_t *jfc, urma_jfc_attr_t *attr)
{
	Jfc *q = Handles<Jfc>::check(jfc);

	if (!q || !attr)
		return URMA_FAILED(URMA_EINVAL, "%s", q ? "attr: null" : "jfc: not a JFC");
	if (attr->mask & ~(JFC_MODERATE_COUNT | JFC_MODERATE_PERIOD))
		return URMA_FAILED(URMA_EINVAL, "mask 0x%x: unknown attributes", attr->mask);
	if (attr->mask & JFC_MODERATE_COUNT && attr->moderate_count > UBOE_MAX_MODERATE)
		return URMA_FAILED(URMA_EINVAL, "moderate_count %u: at most %u",
				   attr->moderate_count, UBOE_MAX_MODERATE);
	if (attr->mask & JFC_MODERATE_PERIOD && !is_period(attr->moderate_period))
		return URMA_FAILED(URMA_EINVAL,
				   "moderate_period %u: 0 or a power of 4 from 4 to 16384",
				   attr->moderate_period);
	const uboe::u32 mask = (attr->mask & JFC_MODERATE_COUNT ? UBOE_CM_COUNT : 0) |
			       (attr->mask & JFC_MODERATE_PERIOD ? UBOE_CM_PERIOD : 0);

	if (int err = q->context.backend->moderate_jfc(q->memory.id, attr->moderate_count,
						       attr->moderate_period, mask))
		return URMA_FAILED(err, "events are not moderated by this device");
	return URMA_SUCCESS;
}

urma_status_t urma_delete_jfc(urma_jfc_t *jfc)
{
	Jfc *q = Handles<Jfc>::check(jfc);

	if (!q)
		return URMA_FAILED(URMA_EINVAL, "jfc: not a JFC");
	if (const uboe::u32 n = q->users)
		return URMA_FAILED(URMA_EAGAIN, "jfc: %u queues complete there", n);
	Context &c = q->context;

	c.backend->destroy_jfc(q->memory);
	{
		const std::lock_guard hold(c.events);

		// the number may have a new owner already
		if (const auto it = c.jfcs.find(q->memory.id);
		    it != c.jfcs.end() && it->second == q)
			c.jfcs.erase(it);
	}
	if (q->channel) {
		q->channel->forget(*q);
		--q->channel->users;
	}
	c.forget(q);
	q->completions.wait();
	q->asyncs.wait();
	Handles<Jfc>::destroy(q);
	--c.children;
	return URMA_SUCCESS;
}

urma_status_t urma_delete_jfc_batch(urma_jfc_t **jfc_arr, int jfc_num, urma_jfc_t **bad_jfc)
{
	if (!jfc_arr || !bad_jfc || jfc_num <= 0)
		return URMA_FAILED(URMA_EINVAL, "jfc_arr, jfc_num or bad_jfc");
	for (int i = 0; i < jfc_num; ++i) {
		if (urma_status_t status = urma_delete_jfc(jfc_arr[i])) {
			*bad_jfc = jfc_arr[i];
			return status;
		}
	}
	return URMA_SUCCESS;
}

urma_status_t urma_rearm_jfc(urma_jfc_t *jfc, bool solicited_only)
{
	Jfc *q = Handles<Jfc>::check(jfc);

	if (!q)
		return URMA_FAILED(URMA_EINVAL, "jfc: not a JFC");
	if (!q->channel)
		return URMA_FAILED(URMA_EINVAL, "jfc: it has no JFCE");
	q->queue.arm(solicited_only ? UBOE_ARM_SOLICITED : UBOE_ARM_NEXT);
	q->context.backend->park();
	return URMA_SUCCESS;
}

int urma_wait_jfc(urma_jfce_t *jfce, uint32_t jfc_cnt, int time_out, urma_jfc_t *jfc[])
{
	Jfce *e = Handles<Jfce>::check(jfce);

	if (!e || !jfc_cnt || !jfc) {
		URMA_FAILED(EINVAL, "%s", e ? "jfc_cnt or jfc" : "jfce: not a JFCE");
		return -1;
	}
	const auto start = std::chrono::steady_clock::now();

	for (;;) {
		if (const uboe::u32 n = take_fired(*e, jfc_cnt, jfc))
			return static_cast<int>(n);
		const int left = time_left(time_out, start);

		if (!left)
			return 0;
		e->context.backend->park();
		if (e->bell.wait(left) == EINTR) {
			errno = interrupted;
			return 0;
		}
	}
}

void urma_ack_jfc(urma_jfc_t *jfc[], uint32_t nevents[], uint32_t jfc_cnt)
{
	if (!jfc || !nevents)
		return;
	for (uint32_t i = 0; i < jfc_cnt; ++i)
		if (Jfc *q = Handles<Jfc>::check(jfc[i]))
			q->completions.acked(nevents[i]);
}
