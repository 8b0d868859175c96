// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Arenas: memory that a process and the device share.
 *
 * Pages are charged to the memory cgroup of the process. User space names a
 * byte by UBOE_ARENA_ADDR(id, offset) in its own context; the device's bus
 * address has the arena's device-wide handle in place of the id. Translation
 * happens once, when a queue is created, and the queue holds a reference.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "verbs.h"

static struct workqueue_struct *uboe_arena_wq;

int uboe_mmap_init(void)
{
	uboe_arena_wq = alloc_workqueue("uboe_arena", WQ_UNBOUND, 0);
	return uboe_arena_wq ? 0 : -ENOMEM;
}

void uboe_mmap_exit(void)
{
	rcu_barrier(); /* work that waits for its grace period */
	destroy_workqueue(uboe_arena_wq);
}

static void uboe_arena_free(struct uboe_arena *arena)
{
	u32 i;

	if (arena->base)
		vunmap(arena->base);
	for (i = 0; i < arena->npages; i++)
		__free_page(arena->pages[i]);
	kvfree(arena->pages);
	kfree(arena);
}

static void uboe_arena_work(struct work_struct *work)
{
	uboe_arena_free(container_of(to_rcu_work(work), struct uboe_arena, rwork));
}

void uboe_arena_put(struct uboe_arena *arena)
{
	if (!refcount_dec_and_test(&arena->refs))
		return;
	xa_erase(&arena->ud->arenas, arena->handle);
	INIT_RCU_WORK(&arena->rwork, uboe_arena_work);
	queue_rcu_work(uboe_arena_wq, &arena->rwork);
}

static int uboe_arena_pages(struct uboe_arena *arena, u32 npages)
{
	arena->pages = kvcalloc(npages, sizeof(*arena->pages), GFP_KERNEL_ACCOUNT);
	if (!arena->pages)
		return -ENOMEM;
	while (arena->npages < npages) {
		struct page *page;

		if (fatal_signal_pending(current))
			return -EINTR;
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
		if (!page)
			return -ENOMEM;
		arena->pages[arena->npages++] = page;
		cond_resched();
	}
	arena->base = vmap(arena->pages, npages, VM_MAP, PAGE_KERNEL);
	return arena->base ? 0 : -ENOMEM;
}

/* A new arena that nobody can find yet */
static struct uboe_arena *uboe_arena_new(struct uboe_dev *ud, u32 npages)
{
	struct uboe_arena *arena = kzalloc(sizeof(*arena), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!arena)
		return ERR_PTR(-ENOMEM);
	refcount_set(&arena->refs, 1);
	arena->ud = ud;
	ret = uboe_arena_pages(arena, npages);
	if (!ret)
		ret = xa_alloc(&ud->arenas, &arena->handle, arena, XA_LIMIT(1, U32_MAX),
			       GFP_KERNEL);
	if (ret) {
		uboe_arena_free(arena);
		return ERR_PTR(ret);
	}
	return arena;
}

static int uboe_mmap_check(struct vm_area_struct *vma)
{
	unsigned long len = vma->vm_end - vma->vm_start;

	if (vma->vm_pgoff < UBOE_MMAP_ARENA_BASE ||
	    vma->vm_pgoff - UBOE_MMAP_ARENA_BASE >= UBOE_MAX_ARENAS)
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED) || len > UBOE_ARENA_MAX_SIZE)
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	return 0;
}

/* Called with mmap_lock held for writing */
int uboe_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma)
{
	struct uboe_ucontext *uctx = to_uctx(ibctx);
	struct uboe_dev *ud = to_uboe(ibctx->device);
	struct uboe_arena *arena;
	u32 id;
	int ret;

	ret = uboe_mmap_check(vma);
	if (ret)
		return ret;
	id = vma->vm_pgoff - UBOE_MMAP_ARENA_BASE;
	if (xa_load(&uctx->arenas, id))
		return -EBUSY;

	arena = uboe_arena_new(ud, vma_pages(vma));
	if (IS_ERR(arena))
		return PTR_ERR(arena);
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND);
	vm_flags_clear(vma, VM_MAYEXEC);
	ret = vm_map_pages_zero(vma, arena->pages, arena->npages);
	if (!ret)
		ret = xa_insert(&uctx->arenas, id, arena, GFP_KERNEL);
	if (ret)
		uboe_arena_put(arena);
	return ret;
}

/**
 * uboe_ring_get - translate a user's arena address
 * @uctx: whose address it is
 * @ring: gets the bus address and a reference on the arena
 * @addr: UBOE_ARENA_ADDR(id, offset)
 * @len: bytes that must lie in the arena
 * @align: power of two
 */
int uboe_ring_get(struct uboe_ucontext *uctx, struct uboe_ring *ring, u64 addr, u64 len, u32 align)
{
	u32 off = lower_32_bits(addr);
	struct uboe_arena *arena;
	int ret = -EINVAL;
	u64 size;

	xa_lock(&uctx->arenas);
	arena = xa_load(&uctx->arenas, upper_32_bits(addr));
	if (arena) {
		size = (u64)arena->npages << PAGE_SHIFT;
		if (len && len <= size && off <= size - len && IS_ALIGNED(off, align)) {
			refcount_inc(&arena->refs);
			ring->arena = arena;
			ring->bus = (u64)arena->handle << 32 | off;
			ret = 0;
		}
	}
	xa_unlock(&uctx->arenas);
	return ret;
}

void uboe_ring_put(struct uboe_ring *ring)
{
	if (ring->arena)
		uboe_arena_put(ring->arena);
	ring->arena = NULL;
}

/* The core's view of a bus address, while the creating command holds the arena */
void *uboe_bus_map(struct ubp_dev *dev, u64 bus, u64 len)
{
	struct uboe_dev *ud = container_of(dev, struct uboe_dev, core);
	struct uboe_arena *arena = xa_load(&ud->arenas, upper_32_bits(bus));
	u32 off = lower_32_bits(bus);
	u64 size;

	if (!arena)
		return NULL;
	size = (u64)arena->npages << PAGE_SHIFT;
	if (len > size || off > size - len)
		return NULL;
	return arena->base + off;
}
