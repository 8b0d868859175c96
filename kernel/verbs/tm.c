// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Traffic management by generic netlink (docs/decisions/0031). nldev has no room for
 * commands of a driver, and this is not for the programs that have a uverbs context.
 *
 * A request becomes one mailbox command, so it is done as a whole or not at all.
 */
#include <net/genetlink.h>
#include <rdma/uboe-netlink.h>
#include "verbs.h"

static struct genl_family uboe_genl;

/* Fields, by attribute */
#define UBOE_TMF(attr) (1u << UBOE_GENL_A_##attr)
#define UBOE_TMF_PLACE (UBOE_TMF(PARENT) | UBOE_TMF(VL))
#define UBOE_TMF_SHARE (UBOE_TMF(PRIO) | UBOE_TMF(WEIGHT))
#define UBOE_TMF_PEAK (UBOE_TMF(PEAK_KBPS) | UBOE_TMF(PEAK_BURST))
#define UBOE_TMF_COMMITTED (UBOE_TMF(COMMITTED_KBPS) | UBOE_TMF(COMMITTED_BURST))

/* One row per level: how many there are, and what each has */
static const struct uboe_tm_level_row {
	u32 count;
	u32 fields;
} uboe_tm_levels[] = {
	[UBOE_TML_PORT] = { 1, UBOE_TMF_PEAK },
	[UBOE_TML_GROUP] = { UBOE_TM_GROUPS, UBOE_TMF_PEAK | UBOE_TMF_COMMITTED | UBOE_TMF_SHARE },
	[UBOE_TML_FUNCTION] = { UBOE_TM_FUNCTIONS, UBOE_TMF_PEAK | UBOE_TMF_COMMITTED |
							   UBOE_TMF_SHARE | UBOE_TMF(PARENT) |
							   UBOE_TMF(SL_VL) },
	[UBOE_TML_QSET] = { UBOE_TM_QSETS, UBOE_TMF_PEAK | UBOE_TMF_SHARE | UBOE_TMF_PLACE },
	[UBOE_TML_QUEUE] = { UBOE_TM_QSETS, 0 },
	[UBOE_TML_JETTY] = { UBOE_LAST_QPN + 1, UBOE_TMF_PEAK | UBOE_TMF(PARENT) },
};

static int uboe_tm_check_kbps(const struct nlattr *a, struct netlink_ext_ack *extack)
{
	u32 kbps = nla_get_u32(a);

	if (!kbps || (kbps >= UBOE_TM_MIN_KBPS && kbps <= UBOE_TM_MAX_KBPS))
		return 0;
	NL_SET_ERR_MSG(extack, "rate: 0, or 1000 to 200000000 kb/s");
	return -ERANGE;
}

static int uboe_tm_check_map(const struct nlattr *a, struct netlink_ext_ack *extack)
{
	const u8 *vl = nla_data(a);
	int i;

	/* the policy's length is the largest */
	if (nla_len(a) != 16) {
		NL_SET_ERR_MSG(extack, "map of SL to VL: 16 bytes");
		return -EINVAL;
	}
	for (i = 0; i < 16; i++) {
		if (vl[i] < 16)
			continue;
		NL_SET_ERR_MSG(extack, "map of SL to VL: a VL is 0 to 15");
		return -ERANGE;
	}
	return 0;
}

/* Not const before Linux 6.7, whose policies point at it as such */
static struct netlink_range_validation uboe_tm_burst = { .max = UBOE_TM_MAX_BURST };

static const struct nla_policy uboe_tm_policy[UBOE_GENL_A_MAX + 1] = {
	[UBOE_GENL_A_DEVICE] = { .type = NLA_NUL_STRING, .len = IB_DEVICE_NAME_MAX - 1 },
	[UBOE_GENL_A_LEVEL] = NLA_POLICY_RANGE(NLA_U32, UBOE_TML_PORT, UBOE_TML_JETTY),
	[UBOE_GENL_A_NUMBER] = { .type = NLA_U32 },
	[UBOE_GENL_A_PARENT] = { .type = NLA_U32 },
	[UBOE_GENL_A_VL] = NLA_POLICY_MAX(NLA_U32, 15),
	[UBOE_GENL_A_PRIO] = NLA_POLICY_MAX(NLA_U32, UBOE_TM_MAX_PRIO),
	[UBOE_GENL_A_WEIGHT] = NLA_POLICY_RANGE(NLA_U32, 1, UBOE_TM_MAX_WEIGHT),
	[UBOE_GENL_A_PEAK_KBPS] = NLA_POLICY_VALIDATE_FN(NLA_U32, uboe_tm_check_kbps),
	[UBOE_GENL_A_PEAK_BURST] = NLA_POLICY_FULL_RANGE(NLA_U32, &uboe_tm_burst),
	[UBOE_GENL_A_COMMITTED_KBPS] = NLA_POLICY_VALIDATE_FN(NLA_U32, uboe_tm_check_kbps),
	[UBOE_GENL_A_COMMITTED_BURST] = NLA_POLICY_FULL_RANGE(NLA_U32, &uboe_tm_burst),
	[UBOE_GENL_A_SL_VL] = NLA_POLICY_VALIDATE_FN(NLA_BINARY, uboe_tm_check_map, 16),
	[UBOE_GENL_A_SENT] = { .type = NLA_REJECT },
	[UBOE_GENL_A_WAITING] = { .type = NLA_REJECT },
};

/* With a reference; NULL: there is none of that name here */
static struct uboe_dev *uboe_tm_dev(struct net *net, struct nlattr **attrs,
				    struct netlink_ext_ack *extack)
{
	struct nlattr *a = attrs[UBOE_GENL_A_DEVICE];
	struct ib_device *ib;

	if (!a) {
		NL_SET_ERR_MSG(extack, "device: which one?");
		return NULL;
	}
	ib = ib_device_get_by_name(nla_data(a), (enum rdma_driver_id)UBOE_DRIVER_ID);
	if (ib && !rdma_dev_access_netns(ib, net)) {
		ib_device_put(ib);
		ib = NULL;
	}
	if (!ib)
		NL_SET_ERR_MSG_ATTR(extack, a, "device: no uboe device of that name");
	return ib ? to_uboe(ib) : NULL;
}

/* The node that a request is for; @fields: that it may have besides */
static int uboe_tm_tag(struct genl_info *info, u32 fields, u32 *tag)
{
	struct nlattr *level = info->attrs[UBOE_GENL_A_LEVEL];
	struct nlattr *number = info->attrs[UBOE_GENL_A_NUMBER];
	const struct uboe_tm_level_row *row;
	int i;

	if (!level || !number) {
		NL_SET_ERR_MSG(info->extack, "level and number: which node?");
		return -EINVAL;
	}
	row = &uboe_tm_levels[nla_get_u32(level)];
	if (nla_get_u32(number) >= row->count) {
		NL_SET_ERR_MSG_ATTR(info->extack, number, "number: beyond those of this level");
		return -ERANGE;
	}
	for (i = UBOE_GENL_A_PARENT; i <= UBOE_GENL_A_SL_VL; i++) {
		if (!info->attrs[i] || row->fields & fields & BIT(i))
			continue;
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[i],
				    "this level does not have it, or it is not to be changed");
		return -EOPNOTSUPP;
	}
	*tag = UBOE_TM_TAG(nla_get_u32(level), nla_get_u32(number));
	return 0;
}

static u32 uboe_tm_u32(struct genl_info *info, int attr, u32 otherwise)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : otherwise;
}

/* The context of a request, and the mask of what it sets. All values are in their ranges */
static int uboe_tm_ctx(struct genl_info *info, struct uboe_tm_ctx *ctx, u32 *mask)
{
	struct nlattr **a = info->attrs;

	memset(ctx, 0, sizeof(*ctx));
	*mask = 0;
	if ((a[UBOE_GENL_A_PEAK_BURST] && !a[UBOE_GENL_A_PEAK_KBPS]) ||
	    (a[UBOE_GENL_A_COMMITTED_BURST] && !a[UBOE_GENL_A_COMMITTED_KBPS])) {
		NL_SET_ERR_MSG(info->extack, "burst: it comes with its rate");
		return -EINVAL;
	}
	*mask |= a[UBOE_GENL_A_PRIO] ? UBOE_TMM_PRIO : 0;
	*mask |= a[UBOE_GENL_A_WEIGHT] ? UBOE_TMM_WEIGHT : 0;
	*mask |= a[UBOE_GENL_A_PEAK_KBPS] ? UBOE_TMM_PEAK : 0;
	*mask |= a[UBOE_GENL_A_COMMITTED_KBPS] ? UBOE_TMM_COMMITTED : 0;
	*mask |= a[UBOE_GENL_A_SL_VL] ? UBOE_TMM_SL_VL : 0;
	ctx->prio = uboe_tm_u32(info, UBOE_GENL_A_PRIO, 0);
	ctx->vl = uboe_tm_u32(info, UBOE_GENL_A_VL, 0);
	ctx->weight = cpu_to_le16(uboe_tm_u32(info, UBOE_GENL_A_WEIGHT, 0));
	ctx->parent = cpu_to_le32(uboe_tm_u32(info, UBOE_GENL_A_PARENT, 0));
	ctx->peak_kbps = cpu_to_le32(uboe_tm_u32(info, UBOE_GENL_A_PEAK_KBPS, 0));
	ctx->peak_burst = cpu_to_le32(uboe_tm_u32(info, UBOE_GENL_A_PEAK_BURST, 0));
	ctx->committed_kbps = cpu_to_le32(uboe_tm_u32(info, UBOE_GENL_A_COMMITTED_KBPS, 0));
	ctx->committed_burst = cpu_to_le32(uboe_tm_u32(info, UBOE_GENL_A_COMMITTED_BURST, 0));
	if (a[UBOE_GENL_A_SL_VL])
		memcpy(ctx->sl_vl, nla_data(a[UBOE_GENL_A_SL_VL]), sizeof(ctx->sl_vl));
	return 0;
}

/* What the core refuses: relations between nodes, for each value alone is in its range */
static int uboe_tm_explain(int err, struct netlink_ext_ack *extack)
{
	switch (err) {
	case -ENOENT:
		NL_SET_ERR_MSG(extack, "no such node, parent, jetty, or queue set for its SL");
		break;
	case -EEXIST:
		NL_SET_ERR_MSG(extack, "it exists, or the function has a queue set for this VL");
		break;
	case -ENOSPC:
		NL_SET_ERR_MSG(extack, "parent: no room for another child");
		break;
	case -EBUSY:
		NL_SET_ERR_MSG(extack, "it has children or jetties");
		break;
	case -EOPNOTSUPP:
		NL_SET_ERR_MSG(extack, "a queue comes and goes with its queue set");
		break;
	case -EINVAL:
		NL_SET_ERR_MSG(extack, "promised rate: more than the peak rate");
		break;
	}
	return err;
}

static int uboe_tm_create(struct uboe_dev *ud, struct genl_info *info)
{
	struct uboe_tm_ctx ctx;
	u32 tag, mask;
	int ret;

	ret = uboe_tm_tag(info, U32_MAX, &tag);
	if (!ret)
		ret = uboe_tm_ctx(info, &ctx, &mask);
	if (ret)
		return ret;
	if (uboe_tm_levels[UBOE_TM_TAG_LEVEL(tag)].fields & UBOE_TMF(WEIGHT) && !ctx.weight)
		ctx.weight = cpu_to_le16(1);
	if (UBOE_TM_TAG_LEVEL(tag) == UBOE_TML_JETTY && !info->attrs[UBOE_GENL_A_PARENT])
		ctx.parent = cpu_to_le32(UBOE_TM_NO_PARENT);
	return uboe_tm_explain(uboe_cmd_create(ud, UBOE_MBOX_TM, tag, &ctx, sizeof(ctx)),
			       info->extack);
}

static int uboe_tm_change(struct uboe_dev *ud, struct genl_info *info)
{
	struct uboe_tm_ctx ctx;
	u32 tag, mask;
	int ret;

	ret = uboe_tm_tag(info, ~UBOE_TMF_PLACE, &tag);
	if (!ret)
		ret = uboe_tm_ctx(info, &ctx, &mask);
	if (ret)
		return ret;
	return uboe_tm_explain(uboe_cmd_modify(ud, UBOE_MBOX_TM, tag, &ctx, sizeof(ctx), mask),
			       info->extack);
}

static int uboe_tm_remove(struct uboe_dev *ud, struct genl_info *info)
{
	u32 tag;
	int ret;

	ret = uboe_tm_tag(info, 0, &tag);
	if (ret)
		return ret;
	return uboe_tm_explain(uboe_cmd_try_destroy(ud, UBOE_MBOX_TM, tag), info->extack);
}

static int uboe_tm_put(struct sk_buff *skb, u32 tag, const struct uboe_tm_ctx *ctx)
{
	u32 level = UBOE_TM_TAG_LEVEL(tag), parent = le32_to_cpu(ctx->parent);
	u32 fields = uboe_tm_levels[level].fields;
	bool has_parent = level != UBOE_TML_PORT && parent != UBOE_TM_NO_PARENT;

	/* the VL of a jetty is that of its queue set */
	if (level == UBOE_TML_JETTY && has_parent)
		fields |= UBOE_TMF(VL);
	if (nla_put_u32(skb, UBOE_GENL_A_LEVEL, level) ||
	    nla_put_u32(skb, UBOE_GENL_A_NUMBER, UBOE_TM_TAG_NUMBER(tag)) ||
	    (has_parent && nla_put_u32(skb, UBOE_GENL_A_PARENT, parent)) ||
	    (fields & UBOE_TMF(VL) && nla_put_u32(skb, UBOE_GENL_A_VL, ctx->vl)) ||
	    nla_put_u64_64bit(skb, UBOE_GENL_A_SENT, le64_to_cpu(ctx->sent), UBOE_GENL_A_PAD) ||
	    nla_put_u32(skb, UBOE_GENL_A_WAITING, le32_to_cpu(ctx->waiting)))
		return -EMSGSIZE;
	if (fields & UBOE_TMF(PRIO) &&
	    (nla_put_u32(skb, UBOE_GENL_A_PRIO, ctx->prio) ||
	     nla_put_u32(skb, UBOE_GENL_A_WEIGHT, le16_to_cpu(ctx->weight))))
		return -EMSGSIZE;
	if (fields & UBOE_TMF(PEAK_KBPS) &&
	    (nla_put_u32(skb, UBOE_GENL_A_PEAK_KBPS, le32_to_cpu(ctx->peak_kbps)) ||
	     nla_put_u32(skb, UBOE_GENL_A_PEAK_BURST, le32_to_cpu(ctx->peak_burst))))
		return -EMSGSIZE;
	if (fields & UBOE_TMF(COMMITTED_KBPS) &&
	    (nla_put_u32(skb, UBOE_GENL_A_COMMITTED_KBPS, le32_to_cpu(ctx->committed_kbps)) ||
	     nla_put_u32(skb, UBOE_GENL_A_COMMITTED_BURST, le32_to_cpu(ctx->committed_burst))))
		return -EMSGSIZE;
	if (fields & UBOE_TMF(SL_VL) &&
	    nla_put(skb, UBOE_GENL_A_SL_VL, sizeof(ctx->sl_vl), ctx->sl_vl))
		return -EMSGSIZE;
	return 0;
}

/* -ENOENT: there is no such node */
static int uboe_tm_fill(struct uboe_dev *ud, struct sk_buff *skb, u32 portid, u32 seq, int flags,
			u32 tag)
{
	struct uboe_tm_ctx ctx;
	void *head;
	int ret;

	ret = uboe_cmd_query(ud, UBOE_MBOX_TM, tag, &ctx, sizeof(ctx));
	if (ret)
		return ret;
	head = genlmsg_put(skb, portid, seq, &uboe_genl, flags, UBOE_GENL_CMD_TM_GET);
	if (!head)
		return -EMSGSIZE;
	if (nla_put_string(skb, UBOE_GENL_A_DEVICE, dev_name(&ud->ib.dev)) ||
	    uboe_tm_put(skb, tag, &ctx)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return 0;
}

static int uboe_tm_show(struct uboe_dev *ud, struct genl_info *info)
{
	struct sk_buff *skb;
	u32 tag;
	int ret;

	ret = uboe_tm_tag(info, 0, &tag);
	if (ret)
		return ret;
	skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	ret = uboe_tm_fill(ud, skb, info->snd_portid, info->snd_seq, 0, tag);
	if (!ret)
		return genlmsg_reply(skb, info);
	nlmsg_free(skb);
	return uboe_tm_explain(ret, info->extack);
}

/* The node after @tag: 0 at first; 0: it was the last one */
static u32 uboe_tm_next(struct uboe_dev *ud, u32 tag)
{
	u32 level = UBOE_TM_TAG_LEVEL(tag), number = UBOE_TM_TAG_NUMBER(tag) + 1;
	unsigned long qpn = 0;

	if (!tag)
		return UBOE_TM_TAG(UBOE_TML_PORT, 0);
	if (level < UBOE_TML_JETTY && number < uboe_tm_levels[level].count)
		return UBOE_TM_TAG(level, number);
	if (level < UBOE_TML_QSET)
		return UBOE_TM_TAG(level + 1, 0);
	qpn = level == UBOE_TML_JETTY ? number : 0;
	if (!xa_find(&ud->qps, &qpn, UBOE_LAST_QPN, XA_PRESENT))
		return 0;
	return UBOE_TM_TAG(UBOE_TML_JETTY, (u32)qpn);
}

static int uboe_tm_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attrs[UBOE_GENL_A_MAX + 1];
	struct uboe_dev *ud;
	u32 tag = cb->args[0];
	int ret;

	ret = genlmsg_parse(cb->nlh, &uboe_genl, attrs, UBOE_GENL_A_MAX, uboe_tm_policy,
			    cb->extack);
	if (ret || cb->args[1])
		return ret;
	ud = uboe_tm_dev(sock_net(skb->sk), attrs, cb->extack);
	if (!ud)
		return -ENODEV;
	/* @tag is the one that has been told of last */
	while ((tag = uboe_tm_next(ud, tag))) {
		ret = uboe_tm_fill(ud, skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   NLM_F_MULTI, tag);
		if (ret == -EMSGSIZE)
			break;
		cb->args[0] = tag;
	}
	cb->args[1] = !tag;
	ib_device_put(&ud->ib);
	return skb->len ? skb->len : tag ? ret : 0;
}

static int uboe_tm_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct uboe_dev *ud = uboe_tm_dev(genl_info_net(info), info->attrs, info->extack);
	int ret;

	if (!ud)
		return info->attrs[UBOE_GENL_A_DEVICE] ? -ENODEV : -EINVAL;
	switch (info->genlhdr->cmd) {
	case UBOE_GENL_CMD_TM_NEW:
		ret = uboe_tm_create(ud, info);
		break;
	case UBOE_GENL_CMD_TM_SET:
		ret = uboe_tm_change(ud, info);
		break;
	case UBOE_GENL_CMD_TM_DEL:
		ret = uboe_tm_remove(ud, info);
		break;
	default:
		ret = uboe_tm_show(ud, info);
		break;
	}
	ib_device_put(&ud->ib);
	return ret;
}

static const struct genl_ops uboe_genl_ops[] = {
	{
		.cmd = UBOE_GENL_CMD_TM_GET,
		.doit = uboe_tm_doit,
		.dumpit = uboe_tm_dump,
	},
	{
		.cmd = UBOE_GENL_CMD_TM_NEW,
		.flags = GENL_ADMIN_PERM,
		.doit = uboe_tm_doit,
	},
	{
		.cmd = UBOE_GENL_CMD_TM_SET,
		.flags = GENL_ADMIN_PERM,
		.doit = uboe_tm_doit,
	},
	{
		.cmd = UBOE_GENL_CMD_TM_DEL,
		.flags = GENL_ADMIN_PERM,
		.doit = uboe_tm_doit,
	},
};

static struct genl_family uboe_genl __ro_after_init = {
	.name = UBOE_GENL_NAME,
	.version = UBOE_GENL_VERSION,
	.maxattr = UBOE_GENL_A_MAX,
	.policy = uboe_tm_policy,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = uboe_genl_ops,
	.n_ops = ARRAY_SIZE(uboe_genl_ops),
	.resv_start_op = UBOE_GENL_CMD_MAX + 1,
};

int uboe_tm_init(void)
{
	return genl_register_family(&uboe_genl);
}

void uboe_tm_exit(void)
{
	genl_unregister_family(&uboe_genl);
}
