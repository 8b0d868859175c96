// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// CRC-32 of the core in user space: libdeflate's, which is vectorised.
#include <libdeflate.h>

extern "C" {
#include "ubp_os.h"
}

extern "C" u32 ubp_os_crc32(u32 crc, const void *p, size_t len)
{
	// libdeflate works on inverted values, the core on the raw register
	return ~libdeflate_crc32(~crc, p, len);
}
