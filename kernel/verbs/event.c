// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Numbers of objects, references that callbacks take, asynchronous events.
 *
 * An object's number stays reserved (xarray zero entry) while the device still
 * knows the object but no callback may find it any more.
 */
#include <linux/slab.h>
#include "verbs.h"

struct uboe_ref *uboe_ref_new(void *obj)
{
	struct uboe_ref *ref = kzalloc(sizeof(*ref), GFP_KERNEL);

	if (!ref)
		return NULL;
	refcount_set(&ref->users, 1);
	init_completion(&ref->idle);
	ref->obj = obj;
	return ref;
}

/* Finds an object that is not being destroyed; any context */
struct uboe_ref *uboe_ref_get(struct xarray *xa, u32 id)
{
	struct uboe_ref *ref;

	rcu_read_lock();
	ref = xa_load(xa, id);
	if (ref && !refcount_inc_not_zero(&ref->users))
		ref = NULL;
	rcu_read_unlock();
	return ref;
}

void uboe_ref_put(struct uboe_ref *ref)
{
	if (refcount_dec_and_test(&ref->users))
		complete(&ref->idle);
}

/* Reserves a number; numbers are not reused before the others had their turn */
int uboe_id_alloc(struct xarray *xa, u32 *id, u32 min, u32 max, u32 *next)
{
	int ret = xa_alloc_cyclic(xa, id, NULL, XA_LIMIT(min, max), next, GFP_KERNEL);

	if (ret >= 0)
		return 0;
	*id = 0; /* -ENOMEM leaves a number there that is not ours */
	return ret == -EBUSY ? -ENOMEM : ret; /* busy: none is free */
}

/* Reserves this number, when it lies in the range and is free */
int uboe_id_take(struct xarray *xa, u32 *id, u32 wanted, u32 min, u32 max)
{
	int ret;

	if (wanted < min || wanted > max)
		return -EEXIST;
	ret = xa_insert(xa, wanted, NULL, GFP_KERNEL);
	if (!ret)
		*id = wanted;
	return ret == -EBUSY ? -EEXIST : ret;
}

void uboe_ref_publish(struct xarray *xa, u32 id, struct uboe_ref *ref)
{
	/* The slot is reserved: this neither allocates nor fails. */
	xa_store(xa, id, ref, GFP_KERNEL);
}

/* No callback uses the object after this; its number stays taken */
void uboe_ref_withdraw(struct xarray *xa, u32 id, struct uboe_ref *ref)
{
	xa_store(xa, id, XA_ZERO_ENTRY, GFP_KERNEL);
	uboe_ref_put(ref);
	wait_for_completion(&ref->idle);
	kfree_rcu(ref, rcu);
}

void uboe_id_free(struct xarray *xa, u32 id)
{
	xa_erase(xa, id);
}

static void uboe_qp_event(struct uboe_dev *ud, u32 qpn, enum ib_event_type type)
{
	struct uboe_ref *ref = uboe_ref_get(&ud->qps, qpn);
	struct ib_event ev = { .device = &ud->ib, .event = type };
	struct uboe_qp *qp;

	if (!ref)
		return;
	qp = ref->obj;
	if (qp->ib.event_handler && (type != IB_EVENT_QP_LAST_WQE_REACHED || qp->ib.srq)) {
		ev.element.qp = &qp->ib;
		qp->ib.event_handler(&ev, qp->ib.qp_context);
	}
	uboe_ref_put(ref);
}

static void uboe_cq_error(struct uboe_dev *ud, u32 cqn)
{
	struct uboe_ref *ref = uboe_ref_get(&ud->cqs, cqn);
	struct ib_event ev = { .device = &ud->ib, .event = IB_EVENT_CQ_ERR };
	struct uboe_cq *cq;

	if (!ref)
		return;
	cq = ref->obj;
	if (cq->ib.event_handler) {
		ev.element.cq = &cq->ib;
		cq->ib.event_handler(&ev, cq->ib.cq_context);
	}
	uboe_ref_put(ref);
}

static void uboe_srq_limit(struct uboe_dev *ud, u32 srqn)
{
	struct uboe_ref *ref = uboe_ref_get(&ud->srqs, srqn);
	struct ib_event ev = { .device = &ud->ib, .event = IB_EVENT_SRQ_LIMIT_REACHED };
	struct uboe_srq *srq;

	if (!ref)
		return;
	srq = ref->obj;
	if (srq->ib.event_handler) {
		ev.element.srq = &srq->ib;
		srq->ib.event_handler(&ev, srq->ib.srq_context);
	}
	uboe_ref_put(ref);
}

static const u8 uboe_jetty_events[] = {
	[UBOE_EV_SUB_JFS] = IB_EVENT_QP_FATAL,
	[UBOE_EV_SUB_JFR] = IB_EVENT_QP_FATAL,
	[UBOE_EV_SUB_ACCESS] = IB_EVENT_QP_ACCESS_ERR,
	[UBOE_EV_SUB_REQUEST] = IB_EVENT_QP_REQ_ERR,
	[UBOE_EV_SUB_ESTABLISHED] = IB_EVENT_COMM_EST,
	[UBOE_EV_SUB_LAST_WQE] = IB_EVENT_QP_LAST_WQE_REACHED,
};

/* The core's asynchronous events. Softirq context, perhaps under its locks. */
void uboe_event(struct ubp_dev *dev, u32 type, u32 sub, u32 num)
{
	struct uboe_dev *ud = container_of(dev, struct uboe_dev, core);

	switch (type) {
	case UBOE_EV_JETTY:
		if (sub == UBOE_EV_SUB_JFC)
			uboe_cq_error(ud, num);
		else if (sub < ARRAY_SIZE(uboe_jetty_events) && uboe_jetty_events[sub])
			uboe_qp_event(ud, num, uboe_jetty_events[sub]);
		break;
	case UBOE_EV_JFR_LIMIT:
		uboe_srq_limit(ud, num);
		break;
	case UBOE_EV_ENTITY:
		/* Each QP hears of it by QP_FATAL; a program without any, by this */
		if (sub == UBOE_EV_SUB_RESET_DONE)
			uboe_dev_event(ud, IB_EVENT_CLIENT_REREGISTER);
		break;
	default: /* a lost channel is told by completions, as verbs has it */
		break;
	}
}

/* Port events; process context */
void uboe_dev_event(struct uboe_dev *ud, enum ib_event_type type)
{
	struct ib_event ev = { .device = &ud->ib, .event = type, .element.port_num = 1 };

	ib_dispatch_event(&ev);
}
