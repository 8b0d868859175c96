/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Linux 6.12 moved asm/unaligned.h here */
#ifndef UBOE_COMPAT_LINUX_UNALIGNED_H
#define UBOE_COMPAT_LINUX_UNALIGNED_H

#if __has_include_next(<linux/unaligned.h>)
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* UBOE_COMPAT_LINUX_UNALIGNED_H */
