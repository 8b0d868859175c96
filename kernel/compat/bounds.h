/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Included before every file of the module: which kernels it is written for. */
#ifndef UBOE_COMPAT_BOUNDS_H
#define UBOE_COMPAT_BOUNDS_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "uboe needs Linux 6.1 or newer"
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#error "this version of uboe knows Linux up to 6.12"
#endif

#if !defined(CONFIG_64BIT) || defined(CONFIG_HIGHMEM)
#error "uboe reaches registered memory by the kernel's linear map: 64-bit without HIGHMEM only"
#endif
#if !IS_ENABLED(CONFIG_INFINIBAND_USER_ACCESS) || !IS_ENABLED(CONFIG_INFINIBAND_VIRT_DMA)
#error "uboe needs CONFIG_INFINIBAND_USER_ACCESS and CONFIG_INFINIBAND_VIRT_DMA"
#endif

#endif /* UBOE_COMPAT_BOUNDS_H */
