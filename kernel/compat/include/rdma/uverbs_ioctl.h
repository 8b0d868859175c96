/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef UBOE_COMPAT_RDMA_UVERBS_IOCTL_H
#define UBOE_COMPAT_RDMA_UVERBS_IOCTL_H

#include_next <rdma/uverbs_ioctl.h>

/*
 * create_cq takes the attribute bundle since Linux 6.11, and its driver_udata
 * before. UBOE_CREATE_CQ_SHIM(fn) defines fn_udata, UBOE_CREATE_CQ_OP(fn) is
 * the one of the two that the kernel asks for: its type says which.
 */
#define UBOE_CREATE_CQ_SHIM(fn)							\
	static int fn##_udata(struct ib_cq *cq, const struct ib_cq_init_attr *attr, \
			      struct ib_udata *udata)				\
	{									\
		return fn(cq, attr, udata ?					\
			  rdma_udata_to_uverbs_attr_bundle(udata) : NULL);	\
	}

#define UBOE_CREATE_CQ_OP(fn)							\
	__builtin_choose_expr(							\
		__builtin_types_compatible_p(					\
			typeof(((struct ib_device_ops *)0)->create_cq),		\
			typeof(&(fn))),						\
		fn, fn##_udata)

#endif /* UBOE_COMPAT_RDMA_UVERBS_IOCTL_H */
