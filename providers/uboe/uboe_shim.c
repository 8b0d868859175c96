// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The provider as libibverbs sees it: registration, contexts and the commands to
 * the kernel. Rings and the data path are in the core (uboe_core.h).
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/driver.h>
#include <ub/uboe_io.h>

#include "uboe_core.h"

struct uboe_device {
	struct verbs_device v;
};

struct uboe_context {
	struct verbs_context v;
	struct uboe_core_ctx *core;
	size_t page_size;
};

_Static_assert(sizeof(struct verbs_qp) <= UBOE_VERBS_PART, "QP");
_Static_assert(sizeof(struct verbs_cq) <= UBOE_VERBS_PART, "CQ");
_Static_assert(sizeof(struct verbs_srq) <= UBOE_VERBS_PART, "SRQ");

/* A command or an answer: the standard part, then ours without a gap */
#define UBOE_CMD(name, std, ours)                                                           \
	struct name {                                                                       \
		struct std std_part;                                                        \
		struct ours drv;                                                            \
	};                                                                                  \
	_Static_assert(offsetof(struct name, drv) == sizeof(struct std), #name " has a gap"); \
	_Static_assert(sizeof(struct name) == sizeof(struct std) + sizeof(struct ours),     \
		       #name " is padded")

UBOE_CMD(get_context_cmd, ibv_get_context, uboe_alloc_ucontext_req);
UBOE_CMD(get_context_resp, ib_uverbs_get_context_resp, uboe_alloc_ucontext_resp);
UBOE_CMD(create_cq_cmd, ibv_create_cq, uboe_create_cq_req);
UBOE_CMD(create_cq_resp, ib_uverbs_create_cq_resp, uboe_create_cq_resp);
UBOE_CMD(create_cq_ex_cmd, ibv_create_cq_ex, uboe_create_cq_req);
UBOE_CMD(create_cq_ex_resp, ib_uverbs_ex_create_cq_resp, uboe_create_cq_resp);
UBOE_CMD(resize_cq_cmd, ibv_resize_cq, uboe_resize_cq_req);
UBOE_CMD(create_qp_cmd, ibv_create_qp, uboe_create_qp_req);
UBOE_CMD(create_qp_resp, ib_uverbs_create_qp_resp, uboe_create_qp_resp);
UBOE_CMD(create_srq_cmd, ibv_create_srq, uboe_create_srq_req);
UBOE_CMD(create_srq_resp, ib_uverbs_create_srq_resp, uboe_create_srq_resp);

static struct uboe_context *to_context(struct ibv_context *ctx)
{
	return container_of(ctx, struct uboe_context, v.context);
}

/* ---- how the core reaches the kernel ---- */

static void *sys_map(void *cookie, uint32_t id, size_t len)
{
	struct uboe_context *ctx = cookie;
	off_t offset = (off_t)(UBOE_MMAP_OFFSET(id) * ctx->page_size);
	void *base = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED,
			  ctx->v.context.cmd_fd, offset);

	if (base == MAP_FAILED)
		return NULL;
	/*
	 * A child must not have the rings. The kernel keeps them out by itself;
	 * this also serves kernels that do not. The range is a mapping of its own
	 * and goes with it, so it is in nobody's count of fork-protected ranges.
	 */
	(void)madvise(base, len, MADV_DONTFORK);
	return base;
}

static void sys_unmap(void *cookie, void *base, size_t len)
{
	(void)cookie;
	munmap(base, len);
}

/* KICK: the POST_SEND command without a work request */
static void sys_kick(void *cookie, uint32_t qp_handle)
{
	struct uboe_context *ctx = cookie;
	struct ib_uverbs_post_send_resp resp;
	struct ibv_post_send cmd = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_POST_SEND,
			.in_words = sizeof(cmd) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.response = (uintptr_t)&resp,
		.qp_handle = qp_handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	int saved = errno, tries = 1000;

	/* The device is gone when it fails for good; the async event says so. */
	while (write(ctx->v.context.cmd_fd, &cmd, sizeof(cmd)) < 0 &&
	       (errno == EINTR || errno == EAGAIN || errno == ENOMEM) && --tries)
		;
	errno = saved;
}

/* ---- device, port, PD, MR, AH ---- */

static int uboe_query_device_ex(struct ibv_context *context,
				const struct ibv_query_device_ex_input *input,
				struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	uint64_t fw;
	int err;

	err = ibv_cmd_query_device_any(context, input, attr, attr_size, &resp, &resp_size);
	if (err)
		return err;
	fw = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%u",
		 (unsigned)(fw >> 32 & 0xffff), (unsigned)(fw >> 16 & 0xffff),
		 (unsigned)(fw & 0xffff));
	/* With the SGEs that verbs announces a request takes two base blocks. */
	if (attr->orig_attr.max_qp_wr > (int)UBOE_MAX_JFS_BB / 2)
		attr->orig_attr.max_qp_wr = UBOE_MAX_JFS_BB / 2;
	return 0;
}

static int uboe_query_port(struct ibv_context *context, uint8_t port,
			   struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(context, port, attr, &cmd, sizeof(cmd));
}

static struct ibv_pd *uboe_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd;
	struct ibv_pd *pd = calloc(1, sizeof(*pd));
	int err;

	if (!pd)
		return NULL;
	err = ibv_cmd_alloc_pd(context, pd, &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(pd);
		errno = err;
		return NULL;
	}
	return pd;
}

static int uboe_dealloc_pd(struct ibv_pd *pd)
{
	int err = ibv_cmd_dealloc_pd(pd);

	if (!err)
		free(pd);
	return err;
}

static struct ibv_mr *uboe_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
				  uint64_t hca_va, int access)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct ibv_reg_mr cmd;
	struct verbs_mr *mr = calloc(1, sizeof(*mr));
	int err;

	if (!mr)
		return NULL;
	err = ibv_cmd_reg_mr(pd, addr, length, hca_va, access, mr, &cmd, sizeof(cmd), &resp,
			     sizeof(resp));
	if (err) {
		free(mr);
		errno = err;
		return NULL;
	}
	return &mr->ibv_mr;
}

static int uboe_rereg_mr(struct verbs_mr *mr, int flags, struct ibv_pd *pd, void *addr,
			 size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ibv_rereg_mr cmd;

	return ibv_cmd_rereg_mr(mr, flags, addr, length, (uintptr_t)addr, access, pd, &cmd,
				sizeof(cmd), &resp, sizeof(resp));
}

static int uboe_dereg_mr(struct verbs_mr *mr)
{
	int err = ibv_cmd_dereg_mr(mr);

	if (!err)
		free(mr);
	return err;
}

static struct ibv_ah *uboe_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ib_uverbs_create_ah_resp resp;
	struct ibv_ah *ah = calloc(1, sizeof(*ah));
	int err;

	if (!ah)
		return NULL;
	err = ibv_cmd_create_ah(pd, ah, attr, &resp, sizeof(resp));
	if (err) {
		free(ah);
		errno = err;
		return NULL;
	}
	return ah;
}

static int uboe_destroy_ah(struct ibv_ah *ah)
{
	int err = ibv_cmd_destroy_ah(ah);

	if (!err)
		free(ah);
	return err;
}

/* ---- completion queues ---- */

static struct ibv_cq *uboe_create_cq(struct ibv_context *context, int cqe,
				     struct ibv_comp_channel *channel, int comp_vector)
{
	struct create_cq_resp resp = {};
	struct create_cq_cmd cmd = {};
	struct ibv_cq *cq;
	int err;

	if (cqe <= 0) {
		errno = EINVAL;
		return NULL;
	}
	cq = uboe_core_cq_alloc(to_context(context)->core, cqe, 0, &cmd.drv);
	if (!cq)
		return NULL;
	err = ibv_cmd_create_cq(context, cqe, channel, comp_vector, cq, &cmd.std_part,
				sizeof(cmd), &resp.std_part, sizeof(resp));
	if (err) {
		uboe_core_cq_free(cq);
		errno = err;
		return NULL;
	}
	cq->cqe = uboe_core_cq_depth(cq);
	return cq;
}

static struct ibv_cq_ex *uboe_create_cq_ex(struct ibv_context *context,
					   struct ibv_cq_init_attr_ex *attr)
{
	const uint32_t known_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
	struct create_cq_ex_resp resp = {};
	struct create_cq_ex_cmd cmd = {};
	uint32_t flags = 0;
	struct verbs_cq *vcq;
	struct ibv_cq *cq;
	int err;

	if (attr->comp_mask & ~known_mask || !attr->cqe) {
		errno = EINVAL;
		return NULL;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		flags = attr->flags;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ||
	    attr->wc_flags & ~(uint64_t)IBV_WC_STANDARD_FLAGS ||
	    flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cq = uboe_core_cq_alloc(to_context(context)->core, attr->cqe,
				!!(flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED), &cmd.drv);
	if (!cq)
		return NULL;
	vcq = container_of(cq, struct verbs_cq, cq);
	err = ibv_cmd_create_cq_ex(context, attr, vcq, &cmd.std_part, sizeof(cmd),
				   &resp.std_part, sizeof(resp), 0);
	if (err) {
		uboe_core_cq_free(cq);
		errno = err;
		return NULL;
	}
	cq->cqe = uboe_core_cq_depth(cq);
	uboe_core_cq_set_ex(&vcq->cq_ex);
	return &vcq->cq_ex;
}

static int uboe_resize_cq(struct ibv_cq *cq, int cqe)
{
	struct ib_uverbs_resize_cq_resp resp = {};
	struct resize_cq_cmd cmd = {};
	int ret;

	if (cqe <= 0)
		return EINVAL;
	ret = uboe_core_cq_resize_begin(cq, cqe, &cmd.drv);
	if (ret <= 0)
		return -ret;
	ret = ibv_cmd_resize_cq(cq, cqe, &cmd.std_part, sizeof(cmd), &resp, sizeof(resp));
	uboe_core_cq_resize_end(cq, !ret);
	cq->cqe = uboe_core_cq_depth(cq);
	return ret;
}

static int uboe_destroy_cq(struct ibv_cq *cq)
{
	int err = ibv_cmd_destroy_cq(cq);

	if (!err)
		uboe_core_cq_free(cq);
	return err;
}

/* ---- queue pairs ---- */

static struct ibv_qp *create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct uboe_core_qp_attr core = {
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.sq_sig_all = attr->sq_sig_all,
	};
	struct create_qp_resp resp = {};
	struct create_qp_cmd cmd = {};
	struct verbs_qp *vqp;
	struct ibv_qp *qp;
	int err;

	if (attr->qp_type != IBV_QPT_RC) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		core.send_ops = attr->send_ops_flags;
	qp = uboe_core_qp_alloc(to_context(context)->core, &core, &cmd.drv);
	if (!qp)
		return NULL;
	vqp = container_of(qp, struct verbs_qp, qp);
	err = ibv_cmd_create_qp_ex(context, vqp, attr, &cmd.std_part, sizeof(cmd),
				   &resp.std_part, sizeof(resp));
	if (err)
		goto free_qp;
	err = uboe_core_qp_created(qp, resp.drv.qpn ? resp.drv.qpn : qp->qp_num, qp->handle);
	if (err) {
		ibv_cmd_destroy_qp(qp);
		goto free_qp;
	}
	attr->cap = core.cap;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		uboe_core_qp_set_ex(&vqp->qp_ex, attr->send_ops_flags);
		vqp->comp_mask |= VERBS_QP_EX;
	}
	return qp;

free_qp:
	uboe_core_qp_free(qp);
	errno = err;
	return NULL;
}

static struct ibv_qp *uboe_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *qp = create_qp(pd->context, &ex);

	if (qp)
		attr->cap = ex.cap;
	return qp;
}

static struct ibv_qp *uboe_create_qp_ex(struct ibv_context *context,
					struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if (attr->comp_mask & ~known ||
	    (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	     attr->send_ops_flags & ~(uint64_t)UBOE_SEND_OPS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD)) {
		errno = EINVAL;
		return NULL;
	}
	return create_qp(context, attr);
}

static int uboe_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_modify_qp cmd = {};
	int err = ibv_cmd_modify_qp(qp, attr, mask, &cmd, sizeof(cmd));

	if (!err)
		uboe_core_qp_modified(qp, attr, mask);
	return err;
}

static int uboe_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			 struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd;
	int err = ibv_cmd_query_qp(qp, attr, mask, init_attr, &cmd, sizeof(cmd));

	if (err)
		return err;
	/* The kernel counts base blocks, the caller requests. */
	uboe_core_qp_cap(qp, &attr->cap);
	init_attr->cap = attr->cap;
	if (attr->qp_state == IBV_QPS_ERR)
		uboe_core_qp_error(qp);
	return 0;
}

static int uboe_destroy_qp(struct ibv_qp *qp)
{
	int err = ibv_cmd_destroy_qp(qp);

	if (!err)
		uboe_core_qp_free(qp);
	return err;
}

/* ---- shared receive queues ---- */

static struct ibv_srq *uboe_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr wanted = *attr;
	struct create_srq_resp resp = {};
	struct create_srq_cmd cmd = {};
	struct ibv_srq *srq;
	int err;

	srq = uboe_core_srq_alloc(to_context(pd->context)->core, &wanted.attr, &cmd.drv);
	if (!srq)
		return NULL;
	err = ibv_cmd_create_srq(pd, srq, attr, &cmd.std_part, sizeof(cmd), &resp.std_part,
				 sizeof(resp));
	if (err) {
		uboe_core_srq_free(srq);
		errno = err;
		return NULL;
	}
	uboe_core_srq_cap(srq, &attr->attr);
	return srq;
}

static struct ibv_srq *uboe_create_srq_ex(struct ibv_context *context,
					  struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	struct ibv_srq_init_attr basic = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
	};
	struct ibv_srq *srq;

	(void)context;
	if (attr->comp_mask & ~known || (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE &&
					 attr->srq_type != IBV_SRQT_BASIC)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD)) {
		errno = EINVAL;
		return NULL;
	}
	srq = uboe_create_srq(attr->pd, &basic);
	if (srq)
		attr->attr = basic.attr;
	return srq;
}

static int uboe_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	struct ibv_modify_srq cmd = {};

	if (mask & IBV_SRQ_MAX_WR)
		return EOPNOTSUPP;
	return ibv_cmd_modify_srq(srq, attr, mask, &cmd, sizeof(cmd));
}

static int uboe_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd;
	int err = ibv_cmd_query_srq(srq, attr, &cmd, sizeof(cmd));

	if (!err)
		uboe_core_srq_cap(srq, attr);
	return err;
}

static int uboe_destroy_srq(struct ibv_srq *srq)
{
	int err = ibv_cmd_destroy_srq(srq);

	if (!err)
		uboe_core_srq_free(srq);
	return err;
}

/* ---- events ---- */

static void uboe_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	(void)context;
	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		uboe_core_qp_error(event->element.qp);
		break;
	default:
		break;
	}
}

/* ---- context and device ---- */

static void uboe_free_context(struct ibv_context *context)
{
	struct uboe_context *ctx = to_context(context);
	uint64_t skipped = uboe_core_ctx_skipped(ctx->core);

	if (skipped)
		verbs_warn(&ctx->v, "%llu completions belonged to no request\n",
			   (unsigned long long)skipped);
	uboe_core_ctx_destroy(ctx->core);
	verbs_uninit_context(&ctx->v);
	free(ctx);
}

static const struct verbs_context_ops uboe_ops = {
	.alloc_pd = uboe_alloc_pd,
	.async_event = uboe_async_event,
	.cq_event = uboe_core_cq_event,
	.create_ah = uboe_create_ah,
	.create_cq = uboe_create_cq,
	.create_cq_ex = uboe_create_cq_ex,
	.create_qp = uboe_create_qp,
	.create_qp_ex = uboe_create_qp_ex,
	.create_srq = uboe_create_srq,
	.create_srq_ex = uboe_create_srq_ex,
	.dealloc_pd = uboe_dealloc_pd,
	.dereg_mr = uboe_dereg_mr,
	.destroy_ah = uboe_destroy_ah,
	.destroy_cq = uboe_destroy_cq,
	.destroy_qp = uboe_destroy_qp,
	.destroy_srq = uboe_destroy_srq,
	.free_context = uboe_free_context,
	.modify_qp = uboe_modify_qp,
	.modify_srq = uboe_modify_srq,
	.poll_cq = uboe_poll_cq,
	.post_recv = uboe_post_recv,
	.post_send = uboe_post_send,
	.post_srq_recv = uboe_post_srq_recv,
	.query_device_ex = uboe_query_device_ex,
	.query_port = uboe_query_port,
	.query_qp = uboe_query_qp,
	.query_srq = uboe_query_srq,
	.reg_mr = uboe_reg_mr,
	.req_notify_cq = uboe_req_notify_cq,
	.rereg_mr = uboe_rereg_mr,
	.resize_cq = uboe_resize_cq,
};

static struct verbs_context *uboe_alloc_context(struct ibv_device *device, int cmd_fd,
						void *private_data)
{
	struct get_context_cmd cmd = { .drv.abi_version = UBOE_ABI_VERSION };
	struct get_context_resp resp = {};
	struct uboe_core_sys sys = { .map = sys_map, .unmap = sys_unmap, .kick = sys_kick };
	struct uboe_context *ctx;
	int err;

	(void)private_data;
	ctx = verbs_init_and_alloc_context(device, cmd_fd, ctx, v, UBOE_DRIVER_ID);
	if (!ctx)
		return NULL;
	ctx->page_size = sysconf(_SC_PAGESIZE);
	err = ibv_cmd_get_context(&ctx->v, &cmd.std_part, sizeof(cmd), &resp.std_part,
				  sizeof(resp));
	if (err)
		goto uninit;
	err = EPROTONOSUPPORT;
	if (resp.drv.abi_version != UBOE_ABI_VERSION) {
		verbs_err(&ctx->v, "kernel ABI %u, the provider speaks %u\n",
			  resp.drv.abi_version, UBOE_ABI_VERSION);
		goto uninit;
	}
	if (!(resp.drv.flags & UBOE_CTX_SOFT)) {
		verbs_err(&ctx->v, "only soft devices have a user-space data path\n");
		goto uninit;
	}
	sys.cookie = ctx;
	ctx->core = uboe_core_ctx_create(&sys, &resp.drv);
	if (!ctx->core) {
		err = errno;
		goto uninit;
	}
	verbs_set_ops(&ctx->v, &uboe_ops);
	return &ctx->v;

uninit:
	verbs_uninit_context(&ctx->v);
	free(ctx);
	errno = err;
	return NULL;
}

static struct verbs_device *uboe_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	struct uboe_device *dev = calloc(1, sizeof(*dev));

	(void)sysfs_dev;
	return dev ? &dev->v : NULL;
}

static void uboe_uninit_device(struct verbs_device *vdev)
{
	free(container_of(vdev, struct uboe_device, v));
}

static const struct verbs_match_ent uboe_match[] = {
	VERBS_DRIVER_ID(UBOE_DRIVER_ID),
	VERBS_NAME_MATCH("uboe", NULL),
	{},
};

static const struct verbs_device_ops uboe_dev_ops = {
	.name = "uboe",
	.match_min_abi_version = UBOE_ABI_VERSION,
	.match_max_abi_version = UBOE_ABI_VERSION,
	.match_table = uboe_match,
	.alloc_device = uboe_alloc_device,
	.uninit_device = uboe_uninit_device,
	.alloc_context = uboe_alloc_context,
};
PROVIDER_DRIVER(uboe, uboe_dev_ops);
