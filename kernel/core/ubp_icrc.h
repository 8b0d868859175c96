/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef UBP_ICRC_H
#define UBP_ICRC_H

#include "ubp_os.h"
#include "ub_wire.h"

/**
 * ubp_icrc - invariant CRC of a UBoE packet (draft, "ICRC for UBoE Packets")
 * @ip: the packet from its IPv4 (IHL 5) or IPv6 header on
 * @len: bytes up to and including the last pad byte, at least IP and UDP headers
 *
 * Return: the CRC value; the wire carries it little-endian by default.
 */
u32 ubp_icrc(const u8 *ip, u32 len);

static inline void ubp_icrc_store(u8 *p, u32 crc, bool be)
{
	if (unlikely(be))
		put_unaligned_be32(crc, p);
	else
		put_unaligned_le32(crc, p);
}

static inline u32 ubp_icrc_load(const u8 *p, bool be)
{
	return unlikely(be) ? get_unaligned_be32(p) : get_unaligned_le32(p);
}

#endif /* UBP_ICRC_H */
