// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Channels that RM jetties share, one for each pair of addresses (decision 0018). A
 * program asks for one before it names a target there, and keeps it as long as its
 * context lasts; a peer asks by a set-up message, and repeats that until there is one.
 * All end with the device. When there is no room, those go that nobody here has asked
 * for and that are not open: never used, closed by the peer, or given up as it is silent.
 */
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "verbs.h"

#define UVERBS_MODULE_NAME uboe_share
#include <rdma/uverbs_named_ioctl.h>

/* That peers alone have asked for: forged addresses cost no more than 70 MiB */
#define UBOE_MAX_UNHELD 1024u
/* Of one context; the device has four times as many */
#define UBOE_MAX_HELD 1024u
#define UBOE_RECLAIM_EVERY (HZ / 10)
#define UBOE_SHARE_WINDOW 256u

/* One channel: @holders: contexts that have asked for it */
struct uboe_share {
	u32 holders;
};

bool uboe_gid_is_ours(struct uboe_dev *ud, const u8 *addr)
{
	const struct ib_gid_attr *attr;
	union ib_gid gid;

	memcpy(gid.raw, addr, sizeof(gid.raw));
	attr = rdma_find_gid_by_port(&ud->ib, &gid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

static void uboe_share_drop(struct uboe_dev *ud, u32 tpn, struct uboe_share *share)
{
	struct uboe_shares *s = &ud->share;

	if (uboe_cmd_destroy(ud, UBOE_MBOX_TP, tpn))
		return;
	s->unheld -= !share->holders;
	xa_erase(&s->channels, tpn);
	kfree(share);
}

/* Those that nobody would miss */
static void uboe_shares_reclaim(struct uboe_dev *ud)
{
	struct uboe_share *share;
	struct uboe_tp_ctx ctx;
	unsigned long tpn;

	xa_for_each(&ud->share.channels, tpn, share) {
		if (share->holders || uboe_cmd_query(ud, UBOE_MBOX_TP, tpn, &ctx, sizeof(ctx)))
			continue;
		if (ctx.state == UBOE_TPS_IDLE)
			uboe_share_drop(ud, tpn, share);
	}
}

static int uboe_share_cmd(struct uboe_dev *ud, const u8 *laddr, const u8 *raddr, u32 tpn)
{
	u32 mtu = uboe_soft_mtu_to(ud, laddr, raddr);
	struct uboe_tp_ctx ctx = {
		.retrans = 0xff,
		.cc = ubp_cc_wanted(&ud->core),
		.mtu = cpu_to_le16(mtu),
		.window = cpu_to_le16(min_t(u32, ud->core.cfg.window, UBOE_SHARE_WINDOW)),
		.timeout_ns = cpu_to_le64(1), /* as soon as the device gives anybody up */
	};

	if (!mtu)
		return -ENETUNREACH;
	memcpy(ctx.laddr, laddr, sizeof(ctx.laddr));
	memcpy(ctx.raddr, raddr, sizeof(ctx.raddr));
	return uboe_cmd_create(ud, UBOE_MBOX_TP, tpn, &ctx, sizeof(ctx));
}

static int uboe_share_number(struct uboe_dev *ud, u32 *tpn)
{
	struct uboe_shares *s = &ud->share;

	return uboe_id_alloc(&s->channels, tpn, 1, ud->core.cfg.max_share - 1, &s->next);
}

/* A channel that nobody holds; uboe_shares.lock held */
static int uboe_share_make(struct uboe_dev *ud, const u8 *laddr, const u8 *raddr, u32 *tpn)
{
	struct uboe_shares *s = &ud->share;
	struct uboe_share *share;
	int ret;

	ret = uboe_share_number(ud, tpn);
	if (ret) {
		uboe_shares_reclaim(ud);
		ret = uboe_share_number(ud, tpn);
	}
	if (ret)
		return -ENOSPC;
	share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);
	ret = share ? uboe_share_cmd(ud, laddr, raddr, *tpn) : -ENOMEM;
	if (ret) {
		kfree(share);
		uboe_id_free(&s->channels, *tpn);
		return ret;
	}
	xa_store(&s->channels, *tpn, share, GFP_KERNEL); /* reserved: does not fail */
	s->unheld++;
	return 0;
}

static int uboe_share_hold(struct uboe_ucontext *uctx, u32 tpn)
{
	struct uboe_shares *s = &to_uboe(uctx->ib.device)->share;
	struct uboe_share *share = xa_load(&s->channels, tpn);
	int ret;

	if (WARN_ON_ONCE(!share))
		return -ENOENT;
	ret = xa_insert(&uctx->shares, tpn, xa_mk_value(0), GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret == -EBUSY ? 0 : ret; /* busy: it has it */
	uctx->nshares++;
	s->unheld -= !share->holders++;
	return 0;
}

/* May one more be made that only a peer asks for? */
static bool uboe_share_for_peer(struct uboe_dev *ud)
{
	struct uboe_shares *s = &ud->share;

	if (s->unheld >= UBOE_MAX_UNHELD &&
	    time_after(jiffies, s->reclaimed + UBOE_RECLAIM_EVERY)) {
		s->reclaimed = jiffies; /* a look at each channel: not for each packet */
		uboe_shares_reclaim(ud);
	}
	return s->unheld < UBOE_MAX_UNHELD;
}

/* May this context keep one more, or does it keep that one? */
static bool uboe_share_for_context(struct uboe_ucontext *uctx, u32 tpn)
{
	return uctx->nshares < UBOE_MAX_HELD || (tpn && xa_load(&uctx->shares, tpn));
}

/* The channel between two addresses; @uctx: who will use it, NULL: a peer asks */
static int uboe_share_get(struct uboe_dev *ud, struct uboe_ucontext *uctx, const u8 *laddr,
			  const u8 *raddr, u32 *tpn)
{
	int ret = 0;

	if (!uboe_gid_is_ours(ud, laddr) || !ubp_addr_is_unicast(raddr))
		return -EADDRNOTAVAIL;
	*tpn = ubp_share_find(&ud->core, laddr, raddr);
	if (uctx && !uboe_share_for_context(uctx, *tpn))
		return -ENOSPC;
	if (!*tpn) {
		if (!uctx && !uboe_share_for_peer(ud))
			return -ENOSPC;
		ret = uboe_share_make(ud, laddr, raddr, tpn);
	}
	return ret || !uctx ? ret : uboe_share_hold(uctx, *tpn);
}

/* ops->share_wanted: softirq context */
void uboe_share_wanted(struct ubp_dev *dev, const u8 *laddr, const u8 *raddr)
{
	struct uboe_shares *s = &container_of(dev, struct uboe_dev, core)->share;
	struct uboe_wanted *w;
	u32 i;

	spin_lock_bh(&s->wanted_lock);
	for (i = 0; i < s->nwanted; i++)
		if (!memcmp(s->wanted[i].laddr, laddr, 16) &&
		    !memcmp(s->wanted[i].raddr, raddr, 16))
			break;
	if (i == s->nwanted && i < UBOE_MAX_WANTED) {
		w = &s->wanted[s->nwanted++];
		memcpy(w->laddr, laddr, sizeof(w->laddr));
		memcpy(w->raddr, raddr, sizeof(w->raddr));
	}
	spin_unlock_bh(&s->wanted_lock);
	schedule_work(&s->work);
}

static bool uboe_wanted_pop(struct uboe_shares *s, struct uboe_wanted *w)
{
	bool any;

	spin_lock_bh(&s->wanted_lock);
	any = s->nwanted;
	if (any)
		*w = s->wanted[--s->nwanted];
	spin_unlock_bh(&s->wanted_lock);
	return any;
}

static void uboe_shares_work(struct work_struct *work)
{
	struct uboe_shares *s = container_of(work, struct uboe_shares, work);
	struct uboe_dev *ud = container_of(s, struct uboe_dev, share);
	struct uboe_wanted w;
	u32 tpn;

	while (uboe_wanted_pop(s, &w)) {
		mutex_lock(&s->lock);
		if (s->open && !uboe_share_get(ud, NULL, w.laddr, w.raddr, &tpn))
			ubp_share_open(&ud->core, tpn); /* else it asks again */
		mutex_unlock(&s->lock);
	}
}

void uboe_shares_init(struct uboe_dev *ud)
{
	struct uboe_shares *s = &ud->share;

	mutex_init(&s->lock);
	s->reclaimed = jiffies - UBOE_RECLAIM_EVERY - 1;
	xa_init_flags(&s->channels, XA_FLAGS_ALLOC1);
	spin_lock_init(&s->wanted_lock);
	INIT_WORK(&s->work, uboe_shares_work);
}

/* ib_core knows the device: there are GIDs to be asked for */
void uboe_shares_open(struct uboe_dev *ud)
{
	mutex_lock(&ud->share.lock);
	ud->share.open = true;
	mutex_unlock(&ud->share.lock);
}

/* The device ends, no context is left; peers may still ask, in vain */
void uboe_shares_close(struct uboe_dev *ud)
{
	struct uboe_share *share;
	unsigned long tpn;

	mutex_lock(&ud->share.lock);
	ud->share.open = false;
	xa_for_each(&ud->share.channels, tpn, share)
		uboe_share_drop(ud, tpn, share);
	mutex_unlock(&ud->share.lock);
}

void uboe_shares_exit(struct uboe_dev *ud)
{
	struct uboe_shares *s = &ud->share;

	cancel_work_sync(&s->work);
	WARN_ON_ONCE(!xa_empty(&s->channels));
	xa_destroy(&s->channels);
	mutex_destroy(&s->lock);
}

/* The context ends */
void uboe_shares_release(struct uboe_ucontext *uctx)
{
	struct uboe_shares *s = &to_uboe(uctx->ib.device)->share;
	struct uboe_share *share;
	unsigned long tpn;
	void *entry;

	mutex_lock(&s->lock);
	xa_for_each(&uctx->shares, tpn, entry) {
		share = xa_load(&s->channels, tpn);
		if (!WARN_ON_ONCE(!share))
			s->unheld += !--share->holders;
	}
	mutex_unlock(&s->lock);
	xa_destroy(&uctx->shares);
}

/* A UM message needs no channel, but a way */
static int uboe_target_um(struct uboe_dev *ud, const struct uboe_target_req *req)
{
	if (!uboe_gid_is_ours(ud, req->laddr) || !ubp_addr_is_unicast(req->raddr))
		return -EADDRNOTAVAIL;
	return uboe_soft_mtu_to(ud, req->laddr, req->raddr) ? 0 : -ENETUNREACH;
}

static int uboe_target_open(struct uboe_ucontext *uctx, const struct uboe_target_req *req, u32 *tpn)
{
	struct uboe_dev *ud = to_uboe(uctx->ib.device);
	int ret;

	*tpn = 0;
	if (req->rsvd)
		return -EINVAL;
	if (req->type == UBOE_JETTY_UM)
		return uboe_target_um(ud, req);
	if (req->type != UBOE_JETTY_RM)
		return -EOPNOTSUPP;
	mutex_lock(&ud->share.lock);
	ret = ud->share.open ? uboe_share_get(ud, uctx, req->laddr, req->raddr, tpn) : -ENODEV;
	mutex_unlock(&ud->share.lock);
	return ret;
}

static int UVERBS_HANDLER(UBOE_METHOD_TARGET_OPEN)(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *ibctx = ib_uverbs_get_ucontext(attrs);
	struct uboe_target_req req;
	u32 tpn;
	int ret;

	if (IS_ERR(ibctx))
		return PTR_ERR(ibctx);
	/* the channel stays with the context, whether it learns of it or not */
	ret = uverbs_copy_from(&req, attrs, UBOE_ATTR_TARGET_OPEN_REQ) ?:
		      uboe_target_open(to_uctx(ibctx), &req, &tpn);
	return ret ?: uverbs_copy_to(attrs, UBOE_ATTR_TARGET_OPEN_RESP, &tpn, sizeof(tpn));
}

DECLARE_UVERBS_NAMED_METHOD(UBOE_METHOD_TARGET_OPEN,
			    UVERBS_ATTR_PTR_IN(UBOE_ATTR_TARGET_OPEN_REQ,
					       UVERBS_ATTR_TYPE(struct uboe_target_req),
					       UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(UBOE_ATTR_TARGET_OPEN_RESP, UVERBS_ATTR_TYPE(u32),
						UA_MANDATORY));

ADD_UVERBS_METHODS(uboe_shared, UVERBS_OBJECT_DEVICE, &UVERBS_METHOD(UBOE_METHOD_TARGET_OPEN));

const struct uapi_definition uboe_share_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &uboe_shared),
	{},
};
