// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Jetty groups: methods of the device, as verbs has nothing like them. A group belongs
 * to the context that made it: uboe_ucontext.groups has its number. Jetties join when
 * they are created, and leave by themselves when they are destroyed.
 */
#include "verbs.h"

#define UVERBS_MODULE_NAME uboe_group
#include <rdma/uverbs_named_ioctl.h>

#define UBOE_GROUP_LIVE xa_mk_value(0)
#define UBOE_GROUP_DYING xa_mk_value(1) /* somebody tries to destroy it */

int uboe_group_join(struct uboe_dev *ud, struct uboe_ucontext *uctx, u32 group, u32 qpn)
{
	struct uboe_jgrp_ctx ctx = { .member = cpu_to_le32(qpn) };

	/* another context's is none; where it dies meanwhile the device has no such group */
	if (xa_load(&uctx->groups, group) != UBOE_GROUP_LIVE)
		return -ENOENT;
	return uboe_cmd_modify(ud, UBOE_MBOX_JGRP, group, &ctx, sizeof(ctx), UBOE_GM_JOIN);
}

/* The context ends, its jetties are gone */
void uboe_groups_exit(struct uboe_ucontext *uctx)
{
	struct uboe_dev *ud = to_uboe(uctx->ib.device);
	unsigned long id;
	void *entry;

	xa_for_each(&uctx->groups, id, entry)
		if (!uboe_cmd_destroy(ud, UBOE_MBOX_JGRP, id))
			uboe_id_free(&ud->groups, id);
	xa_destroy(&uctx->groups);
}

static int uboe_group_number(struct uboe_dev *ud, u32 wanted, u32 *id)
{
	if (wanted)
		return uboe_id_take(&ud->groups, id, wanted, 1, UBOE_MAX_JGRP);
	return uboe_id_alloc(&ud->groups, id, 1, UBOE_MAX_JGRP, &ud->next_group);
}

static int uboe_group_make(struct uboe_ucontext *uctx, u32 pd, const struct uboe_group_req *req,
			   u32 id)
{
	struct uboe_dev *ud = to_uboe(uctx->ib.device);
	struct uboe_jgrp_ctx ctx = {
		.policy = req->policy,
		.flags = req->flags,
		.pd = cpu_to_le32(pd),
		.token = cpu_to_le32(req->token),
	};
	int ret;

	ret = uboe_cmd_create(ud, UBOE_MBOX_JGRP, id, &ctx, sizeof(ctx));
	if (ret)
		return ret;
	ret = xa_insert(&uctx->groups, id, UBOE_GROUP_LIVE, GFP_KERNEL_ACCOUNT);
	if (ret)
		uboe_cmd_destroy(ud, UBOE_MBOX_JGRP, id);
	return ret;
}

static int uboe_group_check(const struct uboe_group_req *req)
{
	if (req->policy > UBOE_JGRP_HINT || req->flags & ~UBOE_JGRP_TOKEN)
		return -EOPNOTSUPP;
	if (memchr_inv(req->rsvd, 0, sizeof(req->rsvd)) ||
	    (req->token && !(req->flags & UBOE_JGRP_TOKEN)))
		return -EINVAL;
	return 0;
}

static int UVERBS_HANDLER(UBOE_METHOD_GROUP_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_pd *pd = uverbs_attr_get_obj(attrs, UBOE_ATTR_GROUP_ALLOC_PD);
	struct uboe_group_req req;
	struct uboe_ucontext *uctx;
	struct uboe_dev *ud;
	u32 id;
	int ret;

	if (IS_ERR(pd))
		return PTR_ERR(pd);
	ret = uverbs_copy_from(&req, attrs, UBOE_ATTR_GROUP_ALLOC_REQ) ?: uboe_group_check(&req);
	if (ret)
		return ret;
	uctx = to_uctx(pd->uobject->context);
	ud = to_uboe(pd->device);
	ret = uboe_group_number(ud, req.id, &id);
	if (ret)
		return ret;
	/* told before there is anything to take back */
	ret = uverbs_copy_to(attrs, UBOE_ATTR_GROUP_ALLOC_RESP, &id, sizeof(id)) ?:
		      uboe_group_make(uctx, to_upd(pd)->id, &req, id);
	if (ret)
		uboe_id_free(&ud->groups, id);
	return ret;
}

static int UVERBS_HANDLER(UBOE_METHOD_GROUP_FREE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *ibctx = ib_uverbs_get_ucontext(attrs);
	struct uboe_ucontext *uctx;
	struct uboe_dev *ud;
	u32 id;
	int ret;

	if (IS_ERR(ibctx))
		return PTR_ERR(ibctx);
	uctx = to_uctx(ibctx);
	ud = to_uboe(ibctx->device);
	ret = uverbs_copy_from(&id, attrs, UBOE_ATTR_GROUP_FREE_ID);
	if (ret)
		return ret;
	if (xa_cmpxchg(&uctx->groups, id, UBOE_GROUP_LIVE, UBOE_GROUP_DYING, GFP_KERNEL) !=
	    UBOE_GROUP_LIVE)
		return -ENOENT;
	ret = uboe_cmd_try_destroy(ud, UBOE_MBOX_JGRP, id);
	if (ret) {
		xa_store(&uctx->groups, id, UBOE_GROUP_LIVE, GFP_KERNEL); /* the entry is there */
		return ret;
	}
	xa_erase(&uctx->groups, id);
	uboe_id_free(&ud->groups, id);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(UBOE_METHOD_GROUP_ALLOC,
			    UVERBS_ATTR_IDR(UBOE_ATTR_GROUP_ALLOC_PD, UVERBS_OBJECT_PD,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(UBOE_ATTR_GROUP_ALLOC_REQ,
					       UVERBS_ATTR_TYPE(struct uboe_group_req),
					       UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(UBOE_ATTR_GROUP_ALLOC_RESP, UVERBS_ATTR_TYPE(u32),
						UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(UBOE_METHOD_GROUP_FREE,
			    UVERBS_ATTR_PTR_IN(UBOE_ATTR_GROUP_FREE_ID, UVERBS_ATTR_TYPE(u32),
					       UA_MANDATORY));

ADD_UVERBS_METHODS(uboe_groups, UVERBS_OBJECT_DEVICE, &UVERBS_METHOD(UBOE_METHOD_GROUP_ALLOC),
		   &UVERBS_METHOD(UBOE_METHOD_GROUP_FREE));

const struct uapi_definition uboe_group_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &uboe_groups),
	{},
};
