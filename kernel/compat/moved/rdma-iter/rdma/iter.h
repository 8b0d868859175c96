/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Block iterators moved here from ib_verbs.h and ib_umem.h, in stable series too */
#include <rdma/ib_umem.h>
