// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Mailbox commands, and the driver's part of uverbs requests. */
#include "verbs.h"

static int uboe_cmd(struct uboe_dev *ud, u32 cmd, u32 tag, const void *in, u32 in_len, void *out,
		    u32 out_len)
{
	int ret;

	mutex_lock(&ud->ctl_lock);
	ret = ubp_mbox_exec(&ud->core, cmd, tag, in, in_len, out, out_len);
	mutex_unlock(&ud->ctl_lock);
	return ret;
}

int uboe_cmd_create(struct uboe_dev *ud, u32 obj, u32 tag, const void *ctx, u32 len)
{
	return uboe_cmd(ud, UBOE_MBOX_CMD(obj, UBOE_MBOX_CREATE), tag, ctx, len, NULL, 0);
}

int uboe_cmd_modify(struct uboe_dev *ud, u32 obj, u32 tag, const void *ctx, u32 len, u32 mask)
{
	u8 in[UBOE_MBOX_MAX_CTX + sizeof(__le32)] __aligned(8);
	__le32 le_mask = cpu_to_le32(mask);

	if (WARN_ON_ONCE(len > UBOE_MBOX_MAX_CTX))
		return -EINVAL;
	memcpy(in, ctx, len);
	memcpy(in + len, &le_mask, sizeof(le_mask));
	return uboe_cmd(ud, UBOE_MBOX_CMD(obj, UBOE_MBOX_MODIFY), tag, in, len + sizeof(le_mask),
			NULL, 0);
}

int uboe_cmd_query(struct uboe_dev *ud, u32 obj, u32 tag, void *ctx, u32 len)
{
	memset(ctx, 0, len);
	return uboe_cmd(ud, UBOE_MBOX_CMD(obj, UBOE_MBOX_QUERY), tag, NULL, 0, ctx, len);
}

/* Who has queues has peers at the other kind of network: -EBUSY */
int uboe_cmd_set_native(struct uboe_dev *ud, bool on)
{
	struct uboe_entity_ctx ctx = {};
	int ret;

	mutex_lock(&ud->ctl_lock);
	ret = ubp_mbox_exec(&ud->core, UBOE_MBOX_CMD(UBOE_MBOX_ENTITY, UBOE_MBOX_QUERY), 0, NULL, 0,
			    &ctx, sizeof(ctx));
	if (!ret && ctx.jetties && on != uboe_soft_native(ud))
		ret = -EBUSY;
	if (!ret)
		ret = uboe_soft_set_native(ud, on);
	mutex_unlock(&ud->ctl_lock);
	return ret;
}

/* A destroy that may be refused */
int uboe_cmd_try_destroy(struct uboe_dev *ud, u32 obj, u32 tag)
{
	return uboe_cmd(ud, UBOE_MBOX_CMD(obj, UBOE_MBOX_DESTROY), tag, NULL, 0, NULL, 0);
}

int uboe_cmd_destroy(struct uboe_dev *ud, u32 obj, u32 tag)
{
	int ret = uboe_cmd_try_destroy(ud, obj, tag);

	if (ret)
		ibdev_err_ratelimited(&ud->ib, "destroy of object %#x number %u: %d\n", obj, tag,
				      ret);
	return ret;
}

/**
 * uboe_udata_in - the driver's part of a request
 * @udata: NULL for a kernel caller, which is not served
 * @req: gets it; what is left out is zero
 * @min_len: what it had at first
 * @len: its length
 *
 * A shorter request is refused, a longer one when its tail says something.
 */
int uboe_udata_in(struct ib_udata *udata, void *req, size_t min_len, size_t len)
{
	if (!udata)
		return -EOPNOTSUPP;
	if (udata->inlen < min_len)
		return -EINVAL;
	if (udata->inlen > len && !ib_is_udata_cleared(udata, len, udata->inlen - len))
		return -EOPNOTSUPP;
	memset(req, 0, len);
	return ib_copy_from_udata(req, udata, min(len, udata->inlen));
}

/* For requests that have no driver part */
int uboe_udata_none(struct ib_udata *udata)
{
	if (udata && udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EOPNOTSUPP;
	return 0;
}

int uboe_udata_out(struct ib_udata *udata, void *resp, size_t len)
{
	return ib_copy_to_udata(udata, resp, min(len, udata->outlen));
}
