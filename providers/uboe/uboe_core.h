/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Seam between the C shim, which alone knows libibverbs' private headers, and
 * the C++ core, which owns rings and the data path.
 *
 * An object of libibverbs and its core part are one allocation: the first
 * UBOE_VERBS_PART bytes belong to the shim (struct verbs_qp and its like), the
 * core part follows. The core gets from one to the other by that constant.
 *
 * Functions that return an int return 0 or an errno value; functions that return
 * a pointer return NULL with errno set.
 */
#ifndef UBOE_CORE_H
#define UBOE_CORE_H

#include <infiniband/verbs.h>
#include <rdma/uboe-abi.h>

#define UBOE_VERBS_PART 512

#ifdef __cplusplus
extern "C" {
#endif

struct uboe_core_ctx;

/* How the core reaches the kernel; the unit tests put their own here */
struct uboe_core_sys {
	void *cookie;
	void *(*map)(void *cookie, uint32_t id, size_t len);
	void (*unmap)(void *cookie, void *base, size_t len);
	void (*kick)(void *cookie, uint32_t qp_handle);
};

struct uboe_core_ctx *uboe_core_ctx_create(const struct uboe_core_sys *sys,
					   const struct uboe_alloc_ucontext_resp *caps);
/* All queues are gone; unmaps the arenas. */
void uboe_core_ctx_destroy(struct uboe_core_ctx *ctx);
/* Completions that belonged to no request, for debugging */
uint64_t uboe_core_ctx_skipped(struct uboe_core_ctx *ctx);

/*
 * Completion queue: alloc, then the kernel command with @req, then free when
 * that failed or after the kernel has destroyed it.
 */
struct ibv_cq *uboe_core_cq_alloc(struct uboe_core_ctx *ctx, uint32_t cqe, int single_threaded,
				  struct uboe_create_cq_req *req);
void uboe_core_cq_free(struct ibv_cq *cq);
/*
 * Resize: begin returns with the CQ locked and 1 when the kernel must be asked,
 * 0 when the CQ is as it should be (not locked), or a negative errno value. end
 * unlocks and, when @ok, goes on in the new ring.
 */
int uboe_core_cq_resize_begin(struct ibv_cq *cq, uint32_t cqe, struct uboe_resize_cq_req *req);
void uboe_core_cq_resize_end(struct ibv_cq *cq, int ok);
uint32_t uboe_core_cq_depth(struct ibv_cq *cq);
void uboe_core_cq_event(struct ibv_cq *cq);
/* Sets the polling functions of an extended CQ. */
void uboe_core_cq_set_ex(struct ibv_cq_ex *cq);

/* Queue pair. @attr->cap is updated to what the queue really has. */
struct uboe_core_qp_attr {
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp_cap cap;
	int sq_sig_all;
	uint64_t send_ops; /* IBV_QP_EX_WITH_*, 0 for all */
};

struct ibv_qp *uboe_core_qp_alloc(struct uboe_core_ctx *ctx, struct uboe_core_qp_attr *attr,
				  struct uboe_create_qp_req *req);
/* The kernel has created it: completions of @qpn are found from now on. */
int uboe_core_qp_created(struct ibv_qp *qp, uint32_t qpn, uint32_t handle);
void uboe_core_qp_modified(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask);
void uboe_core_qp_error(struct ibv_qp *qp);
void uboe_core_qp_cap(struct ibv_qp *qp, struct ibv_qp_cap *cap);
/* The kernel has destroyed it, or never created it. */
void uboe_core_qp_free(struct ibv_qp *qp);
/* Sets the ibv_wr_* functions. @send_ops: those that the caller asked for. */
void uboe_core_qp_set_ex(struct ibv_qp_ex *qp, uint64_t send_ops);
#define UBOE_SEND_OPS                                                                              \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |    \
	 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |                                 \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |                 \
	 IBV_QP_EX_WITH_SEND_WITH_INV)

/* Shared receive queue. @attr is updated to what the queue really has. */
struct ibv_srq *uboe_core_srq_alloc(struct uboe_core_ctx *ctx, struct ibv_srq_attr *attr,
				    struct uboe_create_srq_req *req);
void uboe_core_srq_free(struct ibv_srq *srq);
void uboe_core_srq_cap(struct ibv_srq *srq, struct ibv_srq_attr *attr);

/* Data path, installed as they are */
int uboe_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int uboe_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int uboe_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int uboe_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int uboe_req_notify_cq(struct ibv_cq *cq, int solicited_only);

#ifdef __cplusplus
}
#endif

#endif /* UBOE_CORE_H */
