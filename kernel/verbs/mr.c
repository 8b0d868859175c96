// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions: segments over pinned user pages.
 *
 * lkey and rkey are one number: the segment's TokenID and a key of 12 bits,
 * which is its TokenValue on the wire. URMA chooses all 32 bits of the value,
 * and the TokenID from those that the context has reserved.
 */
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/iter.h>
#include "verbs.h"

#define UBOE_ACCESS_REMOTE                                                                         \
	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)
#define UBOE_ACCESS_KNOWN                                                                          \
	(IB_ACCESS_LOCAL_WRITE | UBOE_ACCESS_REMOTE | IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

/* Largest chunk that pages are merged into, 1 GiB */
#define UBOE_MAX_CHUNK_SHIFT 30

int uboe_ib_access(int access, u8 *out)
{
	if (access & ~UBOE_ACCESS_KNOWN)
		return -EOPNOTSUPP;
	*out = 0;
	if (access & IB_ACCESS_LOCAL_WRITE)
		*out |= UBOE_ACC_LOCAL_WRITE;
	if (access & IB_ACCESS_REMOTE_WRITE)
		*out |= UBOE_ACC_REMOTE_WRITE;
	if (access & IB_ACCESS_REMOTE_READ)
		*out |= UBOE_ACC_REMOTE_READ;
	if (access & IB_ACCESS_REMOTE_ATOMIC)
		*out |= UBOE_ACC_REMOTE_ATOMIC;
	return 0;
}

/* Called back by the core while it executes the create command of uboe_mr_make() */
int uboe_seg_map(struct ubp_dev *dev, struct ubp_seg *seg, u64 pbl)
{
	struct uboe_dev *ud = container_of(dev, struct uboe_dev, core);
	struct uboe_mr *mr = xa_load(&ud->mrs, pbl);

	if (!mr || mr->mapped)
		return -EINVAL;
	seg->chunk = mr->chunk;
	seg->chunk_shift = mr->shift;
	seg->home = mr;
	mr->mapped = true;
	return 0;
}

/* The last access is over; softirq context */
void uboe_seg_unmap(struct ubp_dev *dev, struct ubp_seg *seg)
{
	struct uboe_mr *mr = seg->home;

	complete(&mr->released);
}

/*
 * The kernel's linear map is the device's: without a DMA device ib_core hands
 * out kernel addresses as DMA addresses.
 */
static int uboe_mr_chunks(struct uboe_mr *mr, u64 start)
{
	struct ib_block_iter biter;
	unsigned long size;
	size_t n, i = 0;

	size = ib_umem_find_best_pgsz(mr->umem, GENMASK(UBOE_MAX_CHUNK_SHIFT, PAGE_SHIFT), start);
	if (!size)
		return -EINVAL;
	n = ib_umem_num_dma_blocks(mr->umem, size);
	if (n > INT_MAX / sizeof(*mr->chunk))
		return -ENOMEM;
	mr->chunk = kvmalloc_array(n, sizeof(*mr->chunk), GFP_KERNEL_ACCOUNT);
	if (!mr->chunk)
		return -ENOMEM;
	rdma_umem_for_each_dma_block(mr->umem, &biter, size) {
		if (WARN_ON_ONCE(i == n))
			return -EINVAL;
		mr->chunk[i++] = (void *)(uintptr_t)rdma_block_iter_dma_address(&biter);
	}
	if (WARN_ON_ONCE(i != n))
		return -EINVAL;
	mr->nchunk = n;
	mr->shift = ilog2(size);
	mr->off = start & (size - 1);
	return 0;
}

static int uboe_mr_make(struct uboe_dev *ud, struct uboe_mr *mr, u64 len, u64 iova, u8 access,
			u32 pd, const struct uboe_reg_mr_req *req)
{
	u32 key = req->flags & UBOE_MR_NATIVE ? req->token : get_random_u32() & UBOE_KEY_MASK;
	struct uboe_seg_ctx ctx = {
		.va = cpu_to_le64(iova),
		.len = cpu_to_le64(len),
		.pbl = cpu_to_le64(mr->id),
		.off = cpu_to_le64(mr->off),
		.token = cpu_to_le32(key),
		.pd = cpu_to_le32(pd),
		.access = access,
		.chunk_shift = mr->shift,
		.flags = (req->flags & UBOE_MR_NATIVE ? UBOE_SEG_NATIVE : 0) |
			 (req->flags & UBOE_MR_NO_TOKEN ? UBOE_SEG_NO_TOKEN : 0),
	};

	mr->ib.lkey = mr->id << UBOE_KEY_BITS | (key & UBOE_KEY_MASK);
	mr->ib.rkey = mr->ib.lkey;
	return uboe_cmd_create(ud, UBOE_MBOX_SEG, mr->id, &ctx, sizeof(ctx));
}

/* The device no longer knows the region; accesses may still be in progress */
static void uboe_mr_teardown(struct uboe_dev *ud, struct uboe_mr *mr)
{
	if (mr->mapped)
		wait_for_completion(&mr->released);
	if (mr->owner)
		uboe_token_unuse(mr->owner, mr->id);
	else if (mr->id)
		uboe_id_free(&ud->mrs, mr->id);
	kvfree(mr->chunk);
	ib_umem_release(mr->umem);
	kfree(mr);
}

static int uboe_mr_number(struct uboe_dev *ud, struct uboe_mr *mr, struct uboe_ucontext *uctx,
			  u32 token_id)
{
	int ret;

	if (!token_id)
		return uboe_id_alloc(&ud->mrs, &mr->id, 1, ud->core.cfg.max_seg - 1, &ud->next_mr);
	ret = uboe_token_use(uctx, token_id);
	if (ret)
		return ret;
	mr->id = token_id;
	mr->owner = uctx;
	return 0;
}

static int uboe_mr_setup(struct uboe_dev *ud, struct uboe_mr *mr, struct uboe_ucontext *uctx,
			 u64 start, u32 token_id)
{
	int ret;

	ret = uboe_mr_chunks(mr, start);
	if (ret)
		return ret;
	ret = uboe_mr_number(ud, mr, uctx, token_id);
	if (ret)
		return ret;
	xa_store(&ud->mrs, mr->id, mr, GFP_KERNEL); /* reserved: does not fail */
	return 0;
}

/* Verbs says nothing more */
static int uboe_mr_request(struct ib_udata *udata, struct uboe_reg_mr_req *req)
{
	int ret;

	if (!udata)
		return -EOPNOTSUPP;
	ret = uboe_udata_in(udata, req, 0, sizeof(*req));
	if (ret)
		return ret;
	if (req->flags & ~(UBOE_MR_NATIVE | UBOE_MR_NO_TOKEN))
		return -EOPNOTSUPP;
	if (req->rsvd)
		return -EINVAL;
	if (!(req->flags & UBOE_MR_NATIVE) &&
	    (req->flags || req->token_id || req->token || req->va))
		return -EINVAL;
	return 0;
}

struct ib_mr *uboe_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 len, u64 iova, int access,
			       struct ib_udata *udata)
{
	struct uboe_dev *ud = to_uboe(ibpd->device);
	struct uboe_reg_mr_req req;
	struct uboe_mr *mr;
	u64 end;
	u8 acc;
	int ret;

	ret = uboe_mr_request(udata, &req) ?: uboe_ib_access(access, &acc);
	if (ret)
		return ERR_PTR(ret);
	/* ib_core wants the same offset in a page for @iova as for @start, URMA does not */
	if (req.flags & UBOE_MR_NATIVE)
		iova = req.va;
	if (!len || check_add_overflow(start, len - 1, &end) ||
	    check_add_overflow(iova, len - 1, &end))
		return ERR_PTR(-EINVAL);

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	init_completion(&mr->released);
	mr->native = req.flags & UBOE_MR_NATIVE;
	mr->umem = ib_umem_get(ibpd->device, start, len, access & ~IB_ACCESS_OPTIONAL);
	if (IS_ERR(mr->umem)) {
		ret = PTR_ERR(mr->umem);
		kfree(mr);
		return ERR_PTR(ret);
	}

	ret = uboe_mr_setup(ud, mr, rdma_udata_to_drv_context(udata, struct uboe_ucontext, ib),
			    start, req.token_id);
	if (!ret)
		ret = uboe_mr_make(ud, mr, len, iova, acc, to_upd(ibpd)->id, &req);
	if (ret) {
		uboe_mr_teardown(ud, mr);
		return ERR_PTR(ret);
	}
	return &mr->ib;
}

int uboe_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct uboe_dev *ud = to_uboe(ibmr->device);
	struct uboe_mr *mr = to_umr(ibmr);
	int ret;

	ret = uboe_cmd_destroy(ud, UBOE_MBOX_SEG, mr->id);
	if (ret)
		return ret;
	uboe_mr_teardown(ud, mr);
	return 0;
}
