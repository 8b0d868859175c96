/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Linux 6.12 moved asm/unaligned.h here */
#include <asm/unaligned.h>
