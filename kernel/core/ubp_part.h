/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Network partitions (docs/decisions/0032): who may talk to whom, and the identity
 * headers that say so (Base Spec appendix B.3, B.4).
 */
#ifndef UBP_PART_H
#define UBP_PART_H

#include "ubp_encap.h"
#include "ubp_pkt.h"

#define UBP_IDENT_LEN (UB_UPIH_LEN + UB_EIDH_LEN)

static inline bool ubp_npi_ok(u32 npi)
{
	return npi & UB_NPI_ID && !(npi & ~(UB_NPI_ID | UB_NPI_LOW));
}

/* Bytes of the identity headers that an entity's packets carry; the default needs none */
static inline u32 ubp_part_len(u32 npi)
{
	return likely(npi == UB_NPI_DEFAULT) ? 0 : UBP_IDENT_LEN;
}

static inline u8 ubp_part_nlp(u32 npi)
{
	return likely(npi == UB_NPI_DEFAULT) ? UB_NLP_TAH : UB_NLP_IDENT;
}

/* Write them; returns where the next header goes */
u8 *ubp_part_build(u8 *p, u32 npi, const struct ubp_path *path);

/* May an entity of @own hear one of @npi? 0, or the drop reason */
u32 ubp_part_may(u32 own, u32 npi);

/**
 * ubp_part_check - is a data packet from somebody whom this entity may hear?
 * @t: its TPH, checked
 * @p: what follows the TPH
 *
 * Return: 0, or the drop reason (enum ubp_stat).
 */
u32 ubp_part_check(const struct ubp_dev *dev, const struct ubp_encap *e, const struct ubp_tph *t,
		   const u8 *p);

struct uboe_entity_ctx;

/* ubp_reset.c */
int ubp_entity_reset(struct ubp_dev *dev);

/* Mailbox */
int ubp_entity_modify(struct ubp_dev *dev, u32 tag, const struct uboe_entity_ctx *ctx, u32 mask);
int ubp_entity_query(struct ubp_dev *dev, u32 tag, struct uboe_entity_ctx *ctx);

#endif /* UBP_PART_H */
