// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How fast this kernel computes CRC-32, by its library and by its crypto
 * interface: the ceiling of any protocol that protects every byte with one.
 * Loading the module measures; the parameters then hold the results.
 */
#include <linux/crc32.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <crypto/hash.h>

#define CRC_BLOCK 4096
#define CRC_ROUNDS 1024

static unsigned long library;
module_param(library, ulong, 0444);
MODULE_PARM_DESC(library, "nanoseconds for 4 MiB with crc32_le()");

static unsigned long crypto;
module_param(crypto, ulong, 0444);
MODULE_PARM_DESC(crypto, "nanoseconds for 4 MiB with the crypto hash crc32");

static char driver[64];
module_param_string(driver, driver, sizeof(driver), 0444);
MODULE_PARM_DESC(driver, "name of the crypto driver");

static u32 crc_sink;
module_param(crc_sink, uint, 0444);
MODULE_PARM_DESC(crc_sink, "keeps the work from being optimised away");

static void crc_measure_library(const u8 *block)
{
	u64 start;
	int i;

	crc_sink = crc32_le(~0, block, CRC_BLOCK);
	start = ktime_get_ns();
	for (i = 0; i < CRC_ROUNDS; i++)
		crc_sink = crc32_le(crc_sink, block, CRC_BLOCK);
	library = ktime_get_ns() - start;
}

static int crc_measure_crypto(const u8 *block)
{
	struct crypto_shash *hash = crypto_alloc_shash("crc32", 0, 0);
	u8 digest[4];
	u64 start;
	int err = 0;
	int i;

	if (IS_ERR(hash))
		return PTR_ERR(hash);
	strscpy(driver, crypto_shash_driver_name(hash), sizeof(driver));
	{
		SHASH_DESC_ON_STACK(desc, hash);

		desc->tfm = hash;
		err = crypto_shash_digest(desc, block, CRC_BLOCK, digest);
		start = ktime_get_ns();
		for (i = 0; !err && i < CRC_ROUNDS; i++)
			err = crypto_shash_digest(desc, block, CRC_BLOCK, digest);
		crypto = ktime_get_ns() - start;
		crc_sink ^= digest[0];
	}
	crypto_free_shash(hash);
	return err;
}

static int __init crc_init(void)
{
	u8 *block = kmalloc(CRC_BLOCK, GFP_KERNEL);

	if (!block)
		return -ENOMEM;
	memset(block, 0x5a, CRC_BLOCK);
	crc_measure_library(block);
	if (crc_measure_crypto(block))
		strscpy(driver, "none", sizeof(driver));
	kfree(block);
	return 0;
}

static void __exit crc_exit(void) {}

module_init(crc_init);
module_exit(crc_exit);
MODULE_DESCRIPTION("CRC-32 speed of the kernel");
MODULE_LICENSE("Dual BSD/GPL");
