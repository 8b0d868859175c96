// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "sender.hpp"

#include <bit>
#include <cstring>

namespace uboe::urma {

Sender::Sender(Context &c, const urma_jfs_cfg_t &cfg, const JettySpec &js, const SendGeometry &g,
	       const SendRing &ring, void *h)
	: context(c), handle(h), send_jfc(static_cast<Jfc &>(*cfg.jfc)), spec(js), memory(ring),
	  queue(g, ring.ring, ring.page, ring.window, false, !cfg.flag.bs.lock_free,
		js.mode == UBOE_JETTY_RM ? Order::any : Order::posting)
{
	spec.id = ring.id;
}

bool check_mode(urma_transport_mode_t mode)
{
	if (mode != URMA_TM_RM && mode != URMA_TM_RC && mode != URMA_TM_UM)
		URMA_FAILED(EINVAL, "trans_mode %d: RM, RC or UM", mode);
	else
		return true;
	return false;
}

namespace {

struct ModeRow {
	urma_transport_mode_t mode;
	urma_order_type_t order; // what the default means
	urma_order_type_t choice; // the other one that there is, if any
	int other; // errno of any other order
	u32 ops; // that may be posted: bits of Op
};

constexpr u32 all_ops = (1u << op_count) - 1;
constexpr u32 um_ops = 1u << static_cast<u32>(Op::send) | 1u << static_cast<u32>(Op::send_imm);

constexpr ModeRow mode_rows[] = {
	{URMA_TM_RC, URMA_OL, URMA_OL, EOPNOTSUPP, all_ops},
	{URMA_TM_RM, URMA_OI, URMA_OT, EOPNOTSUPP, all_ops},
	{URMA_TM_UM, URMA_NO, URMA_NO, EINVAL, um_ops}, // nobody keeps an order
	{raw_mode, URMA_NO, URMA_NO, EINVAL, raw_ops},
};

const ModeRow &row_of(urma_transport_mode_t mode)
{
	for (const ModeRow &r : mode_rows)
		if (r.mode == mode)
			return r;
	return mode_rows[0]; // check_mode() let nothing else pass
}

bool check_order(const urma_jfs_cfg_t &s)
{
	const ModeRow &row = row_of(s.trans_mode);
	const u32 order = s.flag.bs.order_type;

	if (order == URMA_DEF_ORDER || order == static_cast<u32>(row.order) ||
	    order == static_cast<u32>(row.choice))
		return true;
	if (row.choice == row.order)
		URMA_FAILED(row.other, "jfs_cfg.flag.order_type %u: only %d with trans_mode %d",
			    order, row.order, s.trans_mode);
	else
		URMA_FAILED(row.other, "jfs_cfg.flag.order_type %u: %d or %d with trans_mode %d",
			    order, row.order, row.choice, s.trans_mode);
	return false;
}

} // namespace

bool check_send_side(const Context &c, const urma_jfs_cfg_t &s, bool raw)
{
	const Jfc *jfc = Handles<Jfc>::check(s.jfc);
	const u32 most_sge = raw ? UBOE_MAX_SGE_RAW : UBOE_MAX_SGE;
	const u32 most_inline = raw ? 0 : UBOE_MAX_INLINE;

	if (!s.depth || s.depth > UBOE_MAX_JFS_BB || !std::has_single_bit(s.depth))
		URMA_FAILED(EINVAL, "jfs_cfg.depth %u: a power of two from 1 to %u", s.depth,
			    UBOE_MAX_JFS_BB);
	else if (s.max_sge > most_sge)
		URMA_FAILED(EINVAL, "jfs_cfg.max_sge %u: at most %u", s.max_sge, most_sge);
	else if (s.max_rsge > 1)
		URMA_FAILED(EINVAL, "jfs_cfg.max_rsge %u: at most 1", s.max_rsge);
	else if (s.max_inline_data > most_inline)
		URMA_FAILED(EINVAL, "jfs_cfg.max_inline_data %u: at most %u", s.max_inline_data,
			    most_inline);
	else if (s.rnr_retry > 7)
		URMA_FAILED(EINVAL, "jfs_cfg.rnr_retry %u: 0 to 7", s.rnr_retry);
	else if (s.err_timeout > 31)
		URMA_FAILED(EINVAL, "jfs_cfg.err_timeout %u: 0 to 31", s.err_timeout);
	else if (s.priority > URMA_MAX_PRIORITY)
		URMA_FAILED(EINVAL, "jfs_cfg.priority %u: 0 to %u", s.priority, URMA_MAX_PRIORITY);
	else if (!jfc || &jfc->context != &c)
		URMA_FAILED(EINVAL, "jfs_cfg.jfc: not a JFC of this context");
	else if (s.flag.bs.error_suspend || s.flag.bs.outorder_comp || s.flag.bs.multi_path)
		URMA_FAILED(EOPNOTSUPP, "jfs_cfg.flag: error_suspend, outorder_comp and "
					"multi_path are not supported");
	else
		return (raw || check_mode(s.trans_mode)) && check_order(s);
	return false;
}

bool shape_locked_side(urma_jfs_cfg_t &cfg, u32 blocks, SendGeometry &g)
{
	constexpr u32 room = UBOE_DWQE_MAX_BB * UBOE_BB - UBOE_SQE_CTRL;

	if (cfg.trans_mode != URMA_TM_RC)
		URMA_FAILED(EINVAL, "id: a place in the lock buffer, which is for RC");
	else if (cfg.depth > blocks / UBOE_DWQE_MAX_BB)
		URMA_FAILED(EINVAL, "jfs_cfg.depth %u: its place in the lock buffer has %u",
			    cfg.depth, blocks / UBOE_DWQE_MAX_BB);
	else if (cfg.max_sge > room / UBOE_SGE_SIZE || cfg.max_inline_data > room)
		URMA_FAILED(EINVAL, "jfs_cfg: max_sge %u, max_inline_data %u with a lock buffer",
			    room / UBOE_SGE_SIZE, room);
	else {
		g = {blocks, blocks / UBOE_DWQE_MAX_BB, room / UBOE_SGE_SIZE, room};
		cfg.flag.bs.order_type = row_of(cfg.trans_mode).order;
		cfg.max_sge = static_cast<u8>(g.sge);
		cfg.max_inline_data = g.inline_bytes;
		return true;
	}
	return false;
}

bool shape_send_side(urma_jfs_cfg_t &cfg, SendGeometry &g)
{
	const ModeRow &row = row_of(cfg.trans_mode);
	const u32 most_inline = cfg.trans_mode == raw_mode ? 0 : UBOE_MAX_INLINE;

	if (cfg.flag.bs.order_type == URMA_DEF_ORDER)
		cfg.flag.bs.order_type = row.order;
	if (send_geometry(cfg.depth, cfg.max_sge, cfg.max_inline_data, row.ops, most_inline, g)) {
		URMA_FAILED(EINVAL, "jfs_cfg.depth %u: too many for requests of this size",
			    cfg.depth);
		return false;
	}
	cfg.max_sge = static_cast<u8>(g.sge);
	cfg.max_inline_data = g.inline_bytes;
	return true;
}

JettySpec spec_of(const urma_jfs_cfg_t &cfg, const SendGeometry &g)
{
	JettySpec s;

	s.mode = to_mode(cfg.trans_mode);
	s.depth = g.depth;
	s.send_jfc = static_cast<const Jfc &>(*cfg.jfc).memory.id;
	s.rnr_retry = cfg.rnr_retry;
	s.err_timeout = cfg.err_timeout;
	s.target_order = cfg.flag.bs.order_type == URMA_OT;
	s.priority = cfg.priority; // SL of the same number, see priority_info
	return s;
}

namespace {

void withdraw(Sender &s)
{
	const std::lock_guard hold(s.context.tables);

	s.context.senders.set(JettyId{s.memory.id}, nullptr);
}

/// Completions of a queue that is no more; receive slots go back to the JFR.
void purge(Sender &s)
{
	const auto ours = [&s](const Cqe &c) {
		return c.local() == JettyId{s.memory.id} &&
		       (s.jfr ? c.is_jetty() : !c.is_jetty() && !c.is_recv());
	};
	const auto removed = [&s](const Cqe &c) {
		if (c.is_recv())
			s.jfr->queue.complete(Slot{c.entry()});
	};
	const auto one = [&](Jfc &jfc) {
		Hold hold(jfc.queue.lock());

		jfc.queue.purge(ours, removed);
	};

	one(s.send_jfc);
	if (s.receive_jfc && s.receive_jfc != &s.send_jfc)
		one(*s.receive_jfc);
}

urma_status_t restart(Sender &s)
{
	Hold send(s.queue.lock());
	Hold complete(s.send_jfc.queue.lock());

	if (int err = s.context.backend->reset(s.spec, s.memory))
		return URMA_FAILED(err, "%s", std::strerror(err));
	s.queue.reset();
	return URMA_SUCCESS;
}

int start(Sender &s)
{
	return s.spec.mode == UBOE_JETTY_RC ? 0 : s.context.backend->start(s.memory.id);
}

} // namespace

int publish(Sender &s)
{
	{
		const std::lock_guard hold(s.context.tables);

		if (!s.context.senders.set(JettyId{s.memory.id}, &s))
			throw std::bad_alloc();
	}
	if (int err = start(s)) {
		withdraw(s);
		return err;
	}
	++s.send_jfc.users;
	if (s.jfr) {
		++s.receive_jfc->users;
		++s.jfr->users;
	}
	return 0;
}

void retire(Sender &s)
{
	s.context.backend->destroy_jetty(s.memory);
	withdraw(s);
	purge(s);
	s.context.forget(s.handle);
	s.asyncs.wait();
	--s.send_jfc.users;
	if (s.jfr) {
		--s.receive_jfc->users;
		--s.jfr->users;
	}
}

/// In the order of the API guide: READY to ERROR, ERROR to RESET, RESET to READY.
urma_status_t change_state(Sender &s, urma_jetty_state_t to)
{
	const std::lock_guard hold(s.control);

	if (to == s.state)
		return URMA_SUCCESS;
	if (to == URMA_JETTY_STATE_ERROR && s.state == URMA_JETTY_STATE_READY) {
		if (int err = s.context.backend->fail(s.memory.id))
			return URMA_FAILED(err, "%s", std::strerror(err));
	} else if (to == URMA_JETTY_STATE_RESET && s.state == URMA_JETTY_STATE_ERROR) {
		if (s.peer)
			return URMA_FAILED(URMA_EAGAIN, "jetty: it is bound; unbind it first");
		purge(s);
		if (urma_status_t status = restart(s))
			return status;
	} else if (to == URMA_JETTY_STATE_READY && s.state == URMA_JETTY_STATE_RESET) {
		if (int err = start(s))
			return URMA_FAILED(err, "%s", std::strerror(err));
	} else {
		return URMA_FAILED(URMA_EINVAL, "state: there is no way from %d to %d", s.state,
				   to);
	}
	s.state = to;
	return URMA_SUCCESS;
}

urma_jetty_state_t current_state(Sender &s)
{
	const std::lock_guard hold(s.control);
	bool failed = false;

	if (s.state == URMA_JETTY_STATE_READY &&
	    !s.context.backend->has_failed(s.memory.id, failed) && failed)
		s.state = URMA_JETTY_STATE_ERROR;
	return s.state;
}

} // namespace uboe::urma
