/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Block iterators moved here from ib_verbs.h and ib_umem.h, in stable series too */
#ifndef UBOE_COMPAT_RDMA_ITER_H
#define UBOE_COMPAT_RDMA_ITER_H

#if __has_include_next(<rdma/iter.h>)
#include_next <rdma/iter.h>
#else
#include <rdma/ib_umem.h>
#endif

#endif /* UBOE_COMPAT_RDMA_ITER_H */
