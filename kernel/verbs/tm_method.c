// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Traffic management for a program that has a uverbs context (docs/decisions/0035): the
 * mailbox commands as they are. tm.c is the administrator's way, by the same commands.
 */
#include <linux/capability.h>
#include "verbs.h"

#define UVERBS_MODULE_NAME uboe_tm
#include <rdma/uverbs_named_ioctl.h>

/* What is wrong with the request itself; nodes and values are the core's to check */
static int uboe_tm_set_check(const struct uboe_tm_set_req *req, const struct uboe_tm_ctx *ctx)
{
	if (req->verb != UBOE_MBOX_CREATE && req->verb != UBOE_MBOX_MODIFY &&
	    req->verb != UBOE_MBOX_DESTROY)
		return -EOPNOTSUPP;
	if (req->rsvd || memchr_inv(ctx->rsvd, 0, sizeof(ctx->rsvd)))
		return -EINVAL;
	if (req->verb != UBOE_MBOX_MODIFY && req->mask)
		return -EINVAL;
	if (req->verb == UBOE_MBOX_DESTROY && memchr_inv(ctx, 0, sizeof(*ctx)))
		return -EINVAL;
	return 0;
}

static int uboe_tm_set(struct uboe_dev *ud, const struct uboe_tm_set_req *req,
		       const struct uboe_tm_ctx *ctx)
{
	switch (req->verb) {
	case UBOE_MBOX_CREATE:
		return uboe_cmd_create(ud, UBOE_MBOX_TM, req->tag, ctx, sizeof(*ctx));
	case UBOE_MBOX_MODIFY:
		return uboe_cmd_modify(ud, UBOE_MBOX_TM, req->tag, ctx, sizeof(*ctx), req->mask);
	default:
		return uboe_cmd_try_destroy(ud, UBOE_MBOX_TM, req->tag);
	}
}

/* The tree is the device's, whoever's jetties are in it: for its administrator */
static int UVERBS_HANDLER(UBOE_METHOD_TM_SET)(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *ibctx = ib_uverbs_get_ucontext(attrs);
	struct uboe_tm_set_req req;
	struct uboe_tm_ctx ctx;
	int ret;

	if (IS_ERR(ibctx))
		return PTR_ERR(ibctx);
	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	ret = uverbs_copy_from(&req, attrs, UBOE_ATTR_TM_SET_REQ);
	if (!ret)
		ret = uverbs_copy_from(&ctx, attrs, UBOE_ATTR_TM_SET_CTX);
	if (!ret)
		ret = uboe_tm_set_check(&req, &ctx);
	return ret ?: uboe_tm_set(to_uboe(ibctx->device), &req, &ctx);
}

static int UVERBS_HANDLER(UBOE_METHOD_TM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *ibctx = ib_uverbs_get_ucontext(attrs);
	struct uboe_tm_ctx ctx;
	u32 tag;
	int ret;

	if (IS_ERR(ibctx))
		return PTR_ERR(ibctx);
	ret = uverbs_copy_from(&tag, attrs, UBOE_ATTR_TM_QUERY_TAG) ?:
		      uboe_cmd_query(to_uboe(ibctx->device), UBOE_MBOX_TM, tag, &ctx, sizeof(ctx));
	return ret ?: uverbs_copy_to(attrs, UBOE_ATTR_TM_QUERY_RESP, &ctx, sizeof(ctx));
}

DECLARE_UVERBS_NAMED_METHOD(UBOE_METHOD_TM_SET,
			    UVERBS_ATTR_PTR_IN(UBOE_ATTR_TM_SET_REQ,
					       UVERBS_ATTR_TYPE(struct uboe_tm_set_req),
					       UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(UBOE_ATTR_TM_SET_CTX,
					       UVERBS_ATTR_TYPE(struct uboe_tm_ctx), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(UBOE_METHOD_TM_QUERY,
			    UVERBS_ATTR_PTR_IN(UBOE_ATTR_TM_QUERY_TAG, UVERBS_ATTR_TYPE(u32),
					       UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(UBOE_ATTR_TM_QUERY_RESP,
						UVERBS_ATTR_TYPE(struct uboe_tm_ctx),
						UA_MANDATORY));

ADD_UVERBS_METHODS(uboe_tm, UVERBS_OBJECT_DEVICE, &UVERBS_METHOD(UBOE_METHOD_TM_SET),
		   &UVERBS_METHOD(UBOE_METHOD_TM_QUERY));

const struct uapi_definition uboe_tm_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &uboe_tm),
	{},
};
