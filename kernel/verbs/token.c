// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * TokenIDs that a context reserves before it has a segment for them, and TokenValues
 * that change: methods of device and MR, as verbs has nothing like it. The number is
 * taken in uboe_dev.mrs, and uboe_ucontext.tokens says whether a segment uses it.
 */
#include "verbs.h"

#define UVERBS_MODULE_NAME uboe
#include <rdma/uverbs_named_ioctl.h>

#define UBOE_TOKEN_FREE xa_mk_value(0)
#define UBOE_TOKEN_USED xa_mk_value(1)

static int uboe_token_change(struct uboe_ucontext *uctx, u32 id, void *to, int in_use)
{
	void *was = xa_cmpxchg(&uctx->tokens, id, UBOE_TOKEN_FREE, to, GFP_KERNEL);

	if (was == UBOE_TOKEN_FREE)
		return 0;
	return was ? in_use : -ENOENT;
}

/* A segment gets the number */
int uboe_token_use(struct uboe_ucontext *uctx, u32 id)
{
	return uboe_token_change(uctx, id, UBOE_TOKEN_USED, -EEXIST);
}

/* The segment is gone; both entries are there: nothing is allocated */
void uboe_token_unuse(struct uboe_ucontext *uctx, u32 id)
{
	xa_store(&to_uboe(uctx->ib.device)->mrs, id, XA_ZERO_ENTRY, GFP_KERNEL);
	xa_store(&uctx->tokens, id, UBOE_TOKEN_FREE, GFP_KERNEL);
}

/* The context ends, its segments are gone */
void uboe_tokens_exit(struct uboe_ucontext *uctx)
{
	struct uboe_dev *ud = to_uboe(uctx->ib.device);
	unsigned long id;
	void *entry;

	xa_for_each(&uctx->tokens, id, entry)
		uboe_id_free(&ud->mrs, id);
	xa_destroy(&uctx->tokens);
}

static int UVERBS_HANDLER(UBOE_METHOD_TOKEN_ID_ALLOC)(struct uverbs_attr_bundle *attrs)
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
	ret = uboe_id_alloc(&ud->mrs, &id, 1, ud->core.cfg.max_seg - 1, &ud->next_mr);
	if (ret)
		return ret;
	/* told before others can name it: nothing is to be taken back then */
	ret = uverbs_copy_to(attrs, UBOE_ATTR_TOKEN_ID_ALLOC_RESP, &id, sizeof(id));
	if (!ret)
		ret = xa_insert(&uctx->tokens, id, UBOE_TOKEN_FREE, GFP_KERNEL_ACCOUNT);
	if (ret)
		uboe_id_free(&ud->mrs, id);
	return ret;
}

static int UVERBS_HANDLER(UBOE_METHOD_TOKEN_ID_FREE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *ibctx = ib_uverbs_get_ucontext(attrs);
	u32 id;
	int ret;

	if (IS_ERR(ibctx))
		return PTR_ERR(ibctx);
	ret = uverbs_copy_from(&id, attrs, UBOE_ATTR_TOKEN_ID_FREE_ID);
	if (!ret)
		ret = uboe_token_change(to_uctx(ibctx), id, NULL, -EBUSY);
	if (!ret)
		uboe_id_free(&to_uboe(ibctx->device)->mrs, id);
	return ret;
}

DECLARE_UVERBS_NAMED_METHOD(UBOE_METHOD_TOKEN_ID_ALLOC,
			    UVERBS_ATTR_PTR_OUT(UBOE_ATTR_TOKEN_ID_ALLOC_RESP,
						UVERBS_ATTR_TYPE(u32), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(UBOE_METHOD_TOKEN_ID_FREE,
			    UVERBS_ATTR_PTR_IN(UBOE_ATTR_TOKEN_ID_FREE_ID, UVERBS_ATTR_TYPE(u32),
					       UA_MANDATORY));

/* The handle is held for writing: calls for one segment come one after the other */
static int UVERBS_HANDLER(UBOE_METHOD_TOKEN_ROTATE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_mr *ibmr = uverbs_attr_get_obj(attrs, UBOE_ATTR_TOKEN_ROTATE_MR);
	struct uboe_seg_ctx ctx = { .flags = UBOE_SEG_TOKEN2 };
	u32 token, backup;
	int ret;

	ret = uverbs_copy_from(&token, attrs, UBOE_ATTR_TOKEN_ROTATE_TOKEN) ?:
		      uverbs_copy_from(&backup, attrs, UBOE_ATTR_TOKEN_ROTATE_BACKUP);
	if (ret)
		return ret;
	if (!to_umr(ibmr)->native)
		return -EINVAL;
	ctx.token = cpu_to_le32(token);
	ctx.token2 = cpu_to_le32(backup);
	return uboe_cmd_modify(to_uboe(ibmr->device), UBOE_MBOX_SEG, to_umr(ibmr)->id, &ctx,
			       sizeof(ctx), UBOE_SM_TOKENS);
}

DECLARE_UVERBS_NAMED_METHOD(UBOE_METHOD_TOKEN_ROTATE,
			    UVERBS_ATTR_IDR(UBOE_ATTR_TOKEN_ROTATE_MR, UVERBS_OBJECT_MR,
					    UVERBS_ACCESS_WRITE, UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(UBOE_ATTR_TOKEN_ROTATE_TOKEN, UVERBS_ATTR_TYPE(u32),
					       UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(UBOE_ATTR_TOKEN_ROTATE_BACKUP, UVERBS_ATTR_TYPE(u32),
					       UA_MANDATORY));

ADD_UVERBS_METHODS(uboe_mr, UVERBS_OBJECT_MR, &UVERBS_METHOD(UBOE_METHOD_TOKEN_ROTATE));

ADD_UVERBS_METHODS(uboe_device, UVERBS_OBJECT_DEVICE, &UVERBS_METHOD(UBOE_METHOD_TOKEN_ID_ALLOC),
		   &UVERBS_METHOD(UBOE_METHOD_TOKEN_ID_FREE));

const struct uapi_definition uboe_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &uboe_device),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_MR, &uboe_mr),
	UAPI_DEF_CHAIN(uboe_group_defs),
	UAPI_DEF_CHAIN(uboe_share_defs),
	UAPI_DEF_CHAIN(uboe_tm_defs),
	{},
};
