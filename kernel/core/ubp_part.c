// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The entity: its partition and privilege, and what they let in. */
#include "ubp_part.h"
#include "ubp_rm.h"

u8 *ubp_part_build(u8 *p, u32 npi, const struct ubp_path *path)
{
	if (likely(npi == UB_NPI_DEFAULT))
		return p;
	put_unaligned_be32(npi, p);
	memcpy(p + UB_UPIH_LEN, path->laddr, 16);
	memcpy(p + UB_UPIH_LEN + 16, path->raddr, 16);
	return p + UBP_IDENT_LEN;
}

u32 ubp_part_may(u32 own, u32 npi)
{
	if (!(npi & UB_NPI_ID) || (npi & UB_NPI_ID) != (own & UB_NPI_ID))
		return UBP_D_PARTITION;
	return npi & own & UB_NPI_LOW ? UBP_D_PRIVILEGE : 0;
}

/* A channel joins one pair of entities, named by the addresses (docs/wire.md, 3) */
static bool ubp_part_eids_ok(const struct ubp_encap *e, const u8 *p)
{
	u8 saddr[16], daddr[16];

	ubp_encap_addr(e, saddr, daddr);
	return !memcmp(p, saddr, 16) && !memcmp(p + 16, daddr, 16);
}

u32 ubp_part_check(const struct ubp_dev *dev, const struct ubp_encap *e, const struct ubp_tph *t,
		   const u8 *p)
{
	u32 own = READ_ONCE(dev->npi);

	if (likely(t->nlp != UB_NLP_IDENT))
		return likely(own == UB_NPI_DEFAULT) ? 0 : ubp_part_may(own, UB_NPI_DEFAULT);
	if (!ubp_part_eids_ok(e, p + UB_UPIH_LEN))
		return UBP_D_TP_NLP;
	return ubp_part_may(own, get_unaligned_be32(p) & (UB_NPI_ID | UB_NPI_LOW));
}

/*
 * Who belongs to a partition belongs to it for as long as it has queues: what they have
 * sent and what they are sent would mean others afterwards.
 */
static int ubp_entity_set_npi(struct ubp_dev *dev, u32 npi)
{
	if (!ubp_npi_ok(npi))
		return -EINVAL;
	if (npi == dev->npi)
		return 0;
	if (dev->jetty.count)
		return -EBUSY;
	ubp_share_close_all(dev); /* while peers take it */
	WRITE_ONCE(dev->npi, npi);
	ubp_share_close_all(dev); /* what was opened meanwhile */
	return 0;
}

static bool ubp_entity_reserved_ok(const struct uboe_entity_ctx *ctx)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ctx->rsvd); i++)
		if (ctx->rsvd[i])
			return false;
	return !ctx->jetties && !ctx->resets;
}

int ubp_entity_modify(struct ubp_dev *dev, u32 tag, const struct uboe_entity_ctx *ctx, u32 mask)
{
	if (tag || !ubp_entity_reserved_ok(ctx))
		return -EINVAL;
	switch (mask) {
	case UBOE_EM_NPI:
		return ubp_entity_set_npi(dev, le32_to_cpu(ctx->npi));
	case UBOE_EM_RESET:
		return ctx->npi ? -EINVAL : ubp_entity_reset(dev);
	default:
		return -EOPNOTSUPP;
	}
}

int ubp_entity_query(struct ubp_dev *dev, u32 tag, struct uboe_entity_ctx *ctx)
{
	if (tag)
		return -EINVAL;
	memset(ctx, 0, sizeof(*ctx));
	ctx->npi = cpu_to_le32(dev->npi);
	ctx->jetties = cpu_to_le32(dev->jetty.count);
	ctx->resets = cpu_to_le32(dev->resets);
	return 0;
}
