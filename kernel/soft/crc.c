// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CRC-32 for the ICRC. Up to Linux 6.13 crc32_le() is table code everywhere and
 * the vectorised one is only reachable as the hash "crc32": that is used where it
 * exists, for pieces long enough to pay for saving the vector registers.
 */
#include <crypto/hash.h>
#include <linux/crc32.h>
#include "soft.h"

static struct crypto_shash *uboe_crc_tfm;
static DEFINE_STATIC_KEY_FALSE(uboe_crc_hash);

/* The state of every driver of this hash is the bare register */
struct uboe_crc_desc {
	union {
		struct shash_desc desc;
		u8 room[sizeof(struct shash_desc) + sizeof(u64)];
	};
};

/* Called by the core for long pieces: raw register in and out */
u32 uboe_crc32(u32 crc, const void *p, size_t len)
{
	struct uboe_crc_desc d;
	u32 *state;

	if (!static_branch_likely(&uboe_crc_hash))
		return crc32_le(crc, p, len);
	d.desc.tfm = uboe_crc_tfm;
	state = shash_desc_ctx(&d.desc);
	*state = crc;
	if (unlikely(crypto_shash_update(&d.desc, p, len)))
		return crc32_le(crc, p, len);
	return *state;
}

/* A driver that does not count as the table code does is not used */
static bool uboe_crc_good(void)
{
	static const u8 text[] = "123456789";
	struct uboe_crc_desc d;
	u32 *state;

	if (crypto_shash_descsize(uboe_crc_tfm) != sizeof(*state))
		return false;
	d.desc.tfm = uboe_crc_tfm;
	state = shash_desc_ctx(&d.desc);
	*state = ~0u;
	return !crypto_shash_update(&d.desc, text, sizeof(text) - 1) && *state == ~0xcbf43926u;
}

void uboe_crc_init(void)
{
	uboe_crc_tfm = crypto_alloc_shash("crc32", 0, 0);
	if (IS_ERR(uboe_crc_tfm)) {
		uboe_crc_tfm = NULL;
		return;
	}
	if (strcmp(crypto_shash_driver_name(uboe_crc_tfm), "crc32-generic") && uboe_crc_good())
		static_branch_enable(&uboe_crc_hash);
}

void uboe_crc_exit(void)
{
	static_branch_disable(&uboe_crc_hash);
	crypto_free_shash(uboe_crc_tfm);
	uboe_crc_tfm = NULL;
}
