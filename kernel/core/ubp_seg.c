// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ubp_obj.h"

int ubp_seg_create(struct ubp_dev *dev, u32 id, const struct uboe_seg_ctx *ctx)
{
	struct ubp_seg *seg;
	int err;

	if (ctx->access & ~(UBOE_ACC_LOCAL_WRITE | UBOE_ACC_REMOTE_WRITE | UBOE_ACC_REMOTE_READ |
			    UBOE_ACC_REMOTE_ATOMIC))
		return -EINVAL;
	if (ctx->flags &
		    ~(UBOE_SEG_IDENTITY | UBOE_SEG_TOKEN2 | UBOE_SEG_NO_TOKEN | UBOE_SEG_NATIVE) ||
	    ctx->chunk_shift > 63)
		return -EINVAL;
	if (le64_to_cpu(ctx->va) + le64_to_cpu(ctx->len) < le64_to_cpu(ctx->va))
		return -EINVAL;
	seg = (struct ubp_seg *)dev->ops->zalloc(dev, sizeof(*seg));
	if (!seg)
		return -ENOMEM;
	seg->va = le64_to_cpu(ctx->va);
	seg->len = le64_to_cpu(ctx->len);
	seg->off = le64_to_cpu(ctx->off);
	seg->chunk_shift = ctx->chunk_shift;
	seg->id = id;
	seg->token = le32_to_cpu(ctx->token);
	seg->token2 = ctx->flags & UBOE_SEG_TOKEN2 ? le32_to_cpu(ctx->token2) : seg->token;
	seg->key = seg->token;
	seg->pd = le32_to_cpu(ctx->pd);
	seg->access = ctx->access;
	seg->flags = ctx->flags;
	ubp_ref_init(&seg->users);
	if (!(seg->flags & UBOE_SEG_IDENTITY)) {
		err = dev->ops->seg_map(dev, seg, le64_to_cpu(ctx->pbl));
		if (err)
			goto free;
	}
	err = ubp_table_add(dev, &dev->seg, id, seg);
	if (!err)
		return 0;
	if (!(seg->flags & UBOE_SEG_IDENTITY))
		dev->ops->seg_unmap(dev, seg);
free:
	dev->ops->free_later(dev, seg);
	return err;
}

/*
 * Another TokenValue, with or without a backup. Who reads the pair meanwhile finds what
 * both have in common: the backup is there before the primary changes, see
 * ubp_seg_token_ok().
 */
int ubp_seg_modify(struct ubp_dev *dev, u32 id, const struct uboe_seg_ctx *ctx, u32 mask)
{
	struct ubp_seg *seg = (struct ubp_seg *)ubp_table_get(&dev->seg, id);
	u32 token = le32_to_cpu(ctx->token);

	if (!seg)
		return -ENOENT;
	if (mask != UBOE_SM_TOKENS || ctx->flags & ~UBOE_SEG_TOKEN2 ||
	    seg->flags & (UBOE_SEG_IDENTITY | UBOE_SEG_NO_TOKEN))
		return -EINVAL;
	WRITE_ONCE(seg->token2, ctx->flags & UBOE_SEG_TOKEN2 ? le32_to_cpu(ctx->token2) : token);
	smp_wmb(); /* pairs with the barrier in ubp_seg_token_ok() */
	WRITE_ONCE(seg->token, token);
	return 0;
}

int ubp_seg_query(struct ubp_dev *dev, u32 id, struct uboe_seg_ctx *ctx)
{
	struct ubp_seg *seg = (struct ubp_seg *)ubp_table_get(&dev->seg, id);

	if (!seg)
		return -ENOENT;
	memset(ctx, 0, sizeof(*ctx));
	ctx->va = cpu_to_le64(seg->va);
	ctx->len = cpu_to_le64(seg->len);
	ctx->pd = cpu_to_le32(seg->pd);
	ctx->access = seg->access;
	ctx->flags = seg->flags;
	return 0;
}

int ubp_seg_destroy(struct ubp_dev *dev, u32 id)
{
	struct ubp_seg *seg = (struct ubp_seg *)ubp_table_get(&dev->seg, id);

	if (!seg)
		return -ENOENT;
	ubp_table_del(&dev->seg, id);
	/* an access lasts one copy with softirqs off: nothing to sleep for */
	if (!ubp_ref_put(&seg->users))
		while (ubp_ref_read(&seg->users))
			ubp_relax();
	if (!(seg->flags & UBOE_SEG_IDENTITY))
		dev->ops->seg_unmap(dev, seg);
	dev->ops->free_later(dev, seg);
	return 0;
}

static bool ubp_seg_allows(const struct ubp_seg *seg, u32 pd, u32 need, u64 va, u64 len)
{
	u64 off = va - seg->va;

	bool ours = seg->pd == pd || (pd == UBP_PD_ENTITY && seg->flags & UBOE_SEG_NATIVE);

	if (!ours || READ_ONCE(seg->dead) || (seg->access & need) != need)
		return false;
	return seg->flags & UBOE_SEG_IDENTITY || (off <= seg->len && len <= seg->len - off);
}

static bool ubp_seg_token_ok(const struct ubp_seg *seg, const u32 *token)
{
	if (seg->flags & UBOE_SEG_NO_TOKEN)
		return true;
	if (!token)
		return false;
	if (*token == READ_ONCE(seg->token))
		return true;
	smp_rmb(); /* the primary before the backup: ubp_seg_modify() */
	return *token == READ_ONCE(seg->token2);
}

struct ubp_seg *ubp_seg_get(struct ubp_dev *dev, u32 id, const u32 *token, u32 pd, u32 need, u64 va,
			    u64 len)
{
	struct ubp_seg *seg = (struct ubp_seg *)ubp_table_get(&dev->seg, id);

	if (!seg || !ubp_seg_token_ok(seg, token) || !ubp_seg_allows(seg, pd, need, va, len))
		return NULL;
	return ubp_ref_tryget(&seg->users) ? seg : NULL;
}

/* The same for the key of a local SGE: low bits of the token that it was created with */
static struct ubp_seg *ubp_seg_local(struct ubp_dev *dev, u32 key, u32 pd, u32 need, u64 va,
				     u64 len)
{
	struct ubp_seg *seg = (struct ubp_seg *)ubp_table_get(&dev->seg, UBP_KEY_ID(key));

	if (!seg || UBP_KEY_TOKEN(key) != UBP_KEY_TOKEN(seg->key))
		return NULL;
	if (!ubp_seg_allows(seg, pd, need, va, len))
		return NULL;
	return ubp_ref_tryget(&seg->users) ? seg : NULL;
}

void ubp_seg_put(struct ubp_seg *seg)
{
	/* the last reference belongs to ubp_seg_destroy(), which looks at the count */
	(void)!ubp_ref_put(&seg->users);
}

u8 *ubp_seg_at(const struct ubp_seg *seg, u64 va, u64 *room)
{
	u64 off, in;

	if (seg->flags & UBOE_SEG_IDENTITY) {
		*room = ~0ull;
		return (u8 *)(uintptr_t)va;
	}
	off = va - seg->va + seg->off;
	in = off & ((1ull << seg->chunk_shift) - 1);
	*room = (1ull << seg->chunk_shift) - in;
	return (u8 *)seg->chunk[off >> seg->chunk_shift] + in;
}

void *ubp_seg_ptr(const struct ubp_seg *seg, u64 va)
{
	u64 room;

	return ubp_seg_at(seg, va, &room);
}

void ubp_seg_read(const struct ubp_seg *seg, u64 va, void *dst, u32 len)
{
	while (len) {
		u64 room;
		const u8 *p = ubp_seg_at(seg, va, &room);
		u32 n = room < len ? (u32)room : len;

		memcpy(dst, p, n);
		dst = (u8 *)dst + n;
		va += n;
		len -= n;
	}
}

void ubp_seg_write(const struct ubp_seg *seg, u64 va, const void *src, u32 len)
{
	while (len) {
		u64 room;
		u8 *p = ubp_seg_at(seg, va, &room);
		u32 n = room < len ? (u32)room : len;

		memcpy(p, src, n);
		src = (const u8 *)src + n;
		va += n;
		len -= n;
	}
}

/* One walk for both directions; @dst or @src is NULL */
static bool ubp_sgl_copy(struct ubp_dev *dev, u32 pd, const struct ubp_sge *sge, u32 nsge, u64 off,
			 u8 *dst, const u8 *src, u32 len)
{
	u32 need = src ? UBOE_ACC_LOCAL_WRITE : 0;
	bool ok = true;
	u32 i;

	ubp_read_begin();
	for (i = 0; len && i < nsge; i++) {
		struct ubp_seg *seg;
		u32 n;

		if (off >= sge[i].len) {
			off -= sge[i].len;
			continue;
		}
		n = min_t(u32, len, sge[i].len - (u32)off);
		seg = ubp_seg_local(dev, sge[i].token, pd, need, sge[i].va + off, n);
		if (!seg) {
			ok = false;
			break;
		}
		if (src) {
			ubp_seg_write(seg, sge[i].va + off, src, n);
			src += n;
		} else {
			ubp_seg_read(seg, sge[i].va + off, dst, n);
			dst += n;
		}
		ubp_seg_put(seg);
		len -= n;
		off = 0;
	}
	ubp_read_end();
	return ok && !len;
}

bool ubp_sgl_read(struct ubp_dev *dev, u32 pd, const struct ubp_sge *sge, u32 nsge, u64 off,
		  void *dst, u32 len)
{
	return ubp_sgl_copy(dev, pd, sge, nsge, off, (u8 *)dst, NULL, len);
}

bool ubp_sgl_write(struct ubp_dev *dev, u32 pd, const struct ubp_sge *sge, u32 nsge, u64 off,
		   const void *src, u32 len)
{
	return ubp_sgl_copy(dev, pd, sge, nsge, off, NULL, (const u8 *)src, len);
}
