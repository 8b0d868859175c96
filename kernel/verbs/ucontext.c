// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Contexts of processes, and protection domains. */
#include <linux/module.h>
#include "verbs.h"

bool uboe_dwqe;
module_param_named(dwqe, uboe_dwqe, bool, 0444);
MODULE_PARM_DESC(dwqe, "look at the DirectWQE windows of queue pairs (0)");

int uboe_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct uboe_ucontext *uctx = to_uctx(ibctx);
	struct uboe_dev *ud = to_uboe(ibctx->device);
	struct uboe_alloc_ucontext_req req;
	struct uboe_alloc_ucontext_resp resp = {
		.abi_version = UBOE_ABI_VERSION,
		.flags = UBOE_CTX_SOFT | (uboe_dwqe ? UBOE_CTX_DWQE : 0),
		.jpage_stride = UBOE_JPAGE_SOFT_STRIDE,
		.max_arenas = UBOE_MAX_ARENAS,
		.arena_max_size = UBOE_ARENA_MAX_SIZE,
		.max_inline = UBOE_MAX_INLINE,
		.caps = ud->core.cfg.caps,
	};
	int ret;

	uboe_lockbufs_tell(&resp);
	ret = uboe_udata_in(udata, &req, sizeof(req), sizeof(req));
	if (ret)
		return ret;
	if (req.abi_version != UBOE_ABI_VERSION || req.flags)
		return -EOPNOTSUPP;

	xa_init(&uctx->arenas);
	xa_init(&uctx->tokens);
	xa_init(&uctx->groups);
	xa_init(&uctx->shares);
	return uboe_udata_out(udata, &resp, sizeof(resp));
}

/* Every object of the context is gone, and nobody can call mmap any more */
void uboe_dealloc_ucontext(struct ib_ucontext *ibctx)
{
	struct uboe_ucontext *uctx = to_uctx(ibctx);
	struct uboe_arena *arena;
	unsigned long id;

	xa_for_each(&uctx->arenas, id, arena)
		uboe_arena_put(arena);
	xa_destroy(&uctx->arenas);
	uboe_tokens_exit(uctx);
	uboe_groups_exit(uctx);
	uboe_shares_release(uctx);
}

/*
 * Nothing to revoke: a mapping holds its own references on pages that the
 * device does not look at once the queues are destroyed.
 */
void uboe_disassociate_ucontext(struct ib_ucontext *ibctx)
{
}

int uboe_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct uboe_dev *ud = to_uboe(ibpd->device);
	int id, ret;

	ret = uboe_udata_none(udata);
	if (ret)
		return ret;
	id = ida_alloc_range(&ud->pds, 1, ud->ib.attrs.max_pd, GFP_KERNEL);
	if (id < 0)
		return id == -ENOSPC ? -ENOMEM : id;
	to_upd(ibpd)->id = id;
	return 0;
}

int uboe_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	ida_free(&to_uboe(ibpd->device)->pds, to_upd(ibpd)->id);
	return 0;
}
