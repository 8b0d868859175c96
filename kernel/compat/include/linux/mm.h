/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef UBOE_COMPAT_LINUX_MM_H
#define UBOE_COMPAT_LINUX_MM_H

#include_next <linux/mm.h>
#include <linux/version.h>

/* Linux 6.3 made vm_flags private to these */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define vm_flags_set(vma, flags) ((vma)->vm_flags |= (flags))
#define vm_flags_clear(vma, flags) ((vma)->vm_flags &= ~(flags))
#endif

#endif /* UBOE_COMPAT_LINUX_MM_H */
