/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The verbs front's own objects.
 *
 * Locks, outer to inner: uboe_qp.lock or uboe_shares.lock, uboe_dev.ctl_lock. The
 * xarrays' own locks are leaves. docs/locking.md has the whole order.
 */
#ifndef UBOE_VERBS_H
#define UBOE_VERBS_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "uboe.h"

/* Numbers below are the device's own and the well-known jetties */
#define UBOE_FIRST_QPN 1024u
#define UBOE_LAST_QPN (UBOE_FIRST_QPN + UBOE_MAX_JETTY - 1)
/* The first of them that who asks for it may have */
#define UBOE_FIRST_KNOWN_QPN 2u
#define UBOE_MAX_RD_ATOMIC 128u
#define UBOE_KEY_BITS 12
#define UBOE_KEY_MASK 0xfffu

/**
 * struct uboe_arena - memory shared with user space
 * @refs: the context's, and one of each object that lies in it
 * @handle: index in uboe_dev.arenas, upper half of its bus addresses
 * @base: kernel mapping of @pages
 * @rwork: frees it after readers of the core's data path have passed
 */
struct uboe_arena {
	refcount_t refs;
	u32 handle;
	u32 npages;
	void *base;
	struct page **pages;
	struct uboe_dev *ud;
	struct rcu_work rwork;
};

/* A range of an arena; holds a reference when @arena is set */
struct uboe_ring {
	struct uboe_arena *arena;
	u64 bus;
};

/**
 * struct uboe_ref - what callbacks hold instead of the object itself
 * @users: the object's own reference, and callbacks that run
 * @idle: completed when the last of @users is gone
 * @obj: the uboe_qp, uboe_cq or uboe_srq; may be used while holding a reference
 *
 * Verbs objects are freed by ib_core without waiting for RCU readers; this part
 * is freed after a grace period, so that a callback may find it without a lock.
 */
struct uboe_ref {
	refcount_t users;
	struct completion idle;
	struct rcu_head rcu;
	void *obj;
};

struct uboe_ucontext {
	struct ib_ucontext ib;
	struct xarray arenas; /* id chosen by the process -> struct uboe_arena */
	struct xarray tokens; /* reserved TokenID -> a value, see token.c */
	struct xarray groups; /* jetty group -> a value, see group.c */
	struct xarray shares; /* channel -> a value: it keeps it; under uboe_shares.lock */
	u32 nshares; /* of them; likewise */
};

struct uboe_pd {
	struct ib_pd ib;
	u32 id;
};

struct uboe_ah {
	struct ib_ah ib;
	struct rdma_ah_attr attr; /* without its GID reference */
};

/**
 * struct uboe_cq - a JFC
 * @moderate: when an event that is held back is due
 * @uctx: the context that it belongs to
 */
struct uboe_cq {
	struct ib_cq ib;
	struct hrtimer moderate;
	struct uboe_ucontext *uctx;
	struct uboe_ref *ref;
	struct uboe_ring ring;
	struct uboe_ring rec;
	u32 id;
	bool made;
};

/**
 * struct uboe_rq - a JFR: a shared receive queue or the receive side of one QP
 * @id: number from uboe_dev.srqs, 0 when there is none
 * @made: the device knows it
 * @ctx: what it was created with
 */
struct uboe_rq {
	u32 id;
	bool made;
	struct uboe_ring ring;
	struct uboe_ring idx;
	struct uboe_ring rec;
	struct uboe_jfr_ctx ctx;
};

/**
 * struct uboe_srq - a JFR
 * @cq: where what names it as its target completes, or NULL
 */
struct uboe_srq {
	struct ib_srq ib;
	struct uboe_ref *ref;
	struct uboe_cq *cq;
	struct uboe_rq rq;
};

/**
 * struct uboe_qp - a jetty; of RC with its channel and its RC table
 * @lock: serialises modify, query and the fields below
 * @state: as of the last modify or query; the device may be in ERROR already
 * @attr: attributes set so far, for query
 * @jctx: what the jetty is created with
 * @uctx: the context that it belongs to
 * @group: that it joins, 0: none
 * @shaper: its next turn, when traffic management makes it wait and it has no channel
 * @made, @tp_made, @rct_made: the device knows these
 */
struct uboe_qp {
	struct ib_qp ib;
	struct uboe_ref *ref;
	struct mutex lock; /* see above */
	enum ib_qp_state state;
	struct ib_qp_attr attr;
	struct ib_qp_cap cap;
	enum ib_sig_type sig_type;
	struct uboe_jetty_ctx jctx;
	struct uboe_ring sq;
	struct uboe_ring page;
	struct uboe_rq rq;
	struct uboe_ucontext *uctx;
	u32 group;
	struct hrtimer shaper;
	bool made;
	bool tp_made;
	bool rct_made;
};

/**
 * struct uboe_mr - user memory region
 * @chunk: kernel address of each chunk of 1 << @shift bytes
 * @off: offset of the first byte in the first chunk
 * @mapped: a segment uses @chunk; @released completes when it does no more
 * @owner: context that reserved @id and goes on having it, or NULL
 */
struct uboe_mr {
	struct ib_mr ib;
	struct ib_umem *umem;
	void **chunk;
	u64 off;
	u32 nchunk;
	u32 shift;
	u32 id;
	bool mapped;
	bool native;
	struct completion released;
	struct uboe_ucontext *owner;
};

#define UBOE_TO(name, type, member)                                                                \
	static inline struct type *to_##name(struct member *ib)                                    \
	{                                                                                          \
		return container_of(ib, struct type, ib);                                          \
	}
UBOE_TO(uctx, uboe_ucontext, ib_ucontext)
UBOE_TO(upd, uboe_pd, ib_pd)
UBOE_TO(uah, uboe_ah, ib_ah)
UBOE_TO(ucq, uboe_cq, ib_cq)
UBOE_TO(usrq, uboe_srq, ib_srq)
UBOE_TO(uqp, uboe_qp, ib_qp)
UBOE_TO(umr, uboe_mr, ib_mr)
#undef UBOE_TO

/* query.c */
int uboe_query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata);
int uboe_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr);
int uboe_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey);
int uboe_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *imm);
enum rdma_link_layer uboe_link_layer(struct ib_device *ib, u32 port);
void uboe_fw_str(struct ib_device *ib, char *str);
enum ib_mtu uboe_mtu_to_ib(u32 mtu);

/* ucontext.c */
extern bool uboe_dwqe; /* queue pairs have DirectWQE windows */
int uboe_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata);
void uboe_dealloc_ucontext(struct ib_ucontext *ibctx);
void uboe_disassociate_ucontext(struct ib_ucontext *ibctx);
int uboe_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int uboe_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);

/* lockbuf.c */
int uboe_lockbufs_init(void); /* module */
int uboe_lockbufs_make(struct uboe_dev *ud);
void uboe_lockbufs_tell(struct uboe_alloc_ucontext_resp *resp);
int uboe_lockbuf_check(const struct uboe_create_qp_req *req);
void uboe_lockbuf_fill_ctx(struct uboe_jetty_ctx *ctx, const struct uboe_create_qp_req *req);

/* mmap.c */
int uboe_mmap_init(void);
void uboe_mmap_exit(void);
int uboe_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma);
void uboe_arena_put(struct uboe_arena *arena);
int uboe_ring_get(struct uboe_ucontext *uctx, struct uboe_ring *ring, u64 addr, u64 len, u32 align);
void uboe_ring_put(struct uboe_ring *ring);

/* cmd.c */
int uboe_cmd_create(struct uboe_dev *ud, u32 obj, u32 tag, const void *ctx, u32 len);
int uboe_cmd_modify(struct uboe_dev *ud, u32 obj, u32 tag, const void *ctx, u32 len, u32 mask);
int uboe_cmd_query(struct uboe_dev *ud, u32 obj, u32 tag, void *ctx, u32 len);
int uboe_cmd_destroy(struct uboe_dev *ud, u32 obj, u32 tag);
/* The same when it is no surprise that others use it */
int uboe_cmd_set_native(struct uboe_dev *ud, bool on);
int uboe_cmd_try_destroy(struct uboe_dev *ud, u32 obj, u32 tag);
int uboe_udata_in(struct ib_udata *udata, void *req, size_t min_len, size_t len);
int uboe_udata_none(struct ib_udata *udata);
int uboe_udata_out(struct ib_udata *udata, void *resp, size_t len);

/* entity.c */
extern const struct attribute_group uboe_entity_group;

/* event.c */
struct uboe_ref *uboe_ref_new(void *obj);
struct uboe_ref *uboe_ref_get(struct xarray *xa, u32 id);
void uboe_ref_put(struct uboe_ref *ref);
int uboe_id_alloc(struct xarray *xa, u32 *id, u32 min, u32 max, u32 *next);
int uboe_id_take(struct xarray *xa, u32 *id, u32 wanted, u32 min, u32 max);
void uboe_ref_publish(struct xarray *xa, u32 id, struct uboe_ref *ref);
void uboe_ref_withdraw(struct xarray *xa, u32 id, struct uboe_ref *ref);
void uboe_id_free(struct xarray *xa, u32 id);

/* cq.c */
int uboe_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs);
int uboe_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int uboe_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);

/* srq.c */
int uboe_rq_init(struct uboe_dev *ud, struct uboe_ucontext *uctx, struct uboe_rq *rq,
		 const struct uboe_rq_req *req, u32 id, u32 depth, u32 sges, u32 pd);
int uboe_rq_make(struct uboe_dev *ud, struct uboe_rq *rq);
void uboe_rq_unmake(struct uboe_dev *ud, struct uboe_rq *rq);
void uboe_rq_exit(struct uboe_dev *ud, struct uboe_rq *rq);
int uboe_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata);
int uboe_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata);
int uboe_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int uboe_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);

/* qp.c */
int uboe_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int uboe_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int uboe_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init);
int uboe_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int uboe_qp_make(struct uboe_dev *ud, struct uboe_qp *qp);
void uboe_qp_unmake(struct uboe_dev *ud, struct uboe_qp *qp);
int uboe_qp_sync(struct uboe_dev *ud, struct uboe_qp *qp);

/* qp_modify.c */
int uboe_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);

/* native.c: what verbs has not */
bool uboe_qp_is_native(const struct ib_qp *ibqp);
int uboe_native_check(const struct uboe_create_qp_req *req, const struct ib_qp_init_attr *init);
int uboe_native_fill_ctx(struct uboe_dev *ud, struct uboe_jetty_ctx *ctx,
			 const struct uboe_create_qp_req *req);
int uboe_native_modify_ok(enum ib_qp_state from, enum ib_qp_state to, int mask);

/* channel.c */
int uboe_channel_make(struct uboe_dev *ud, struct uboe_qp *qp, const struct ib_qp_attr *attr);
void uboe_channel_unmake(struct uboe_dev *ud, struct uboe_qp *qp);
int uboe_channel_timeout(struct uboe_dev *ud, struct uboe_qp *qp, u8 timeout, u8 retry_cnt);

/* tm.c */
int uboe_tm_init(void);
void uboe_tm_exit(void);

/* tm_method.c */
extern const struct uapi_definition uboe_tm_defs[];

/* token.c */
extern const struct uapi_definition uboe_uapi_defs[];
int uboe_token_use(struct uboe_ucontext *uctx, u32 id);
void uboe_token_unuse(struct uboe_ucontext *uctx, u32 id);
void uboe_tokens_exit(struct uboe_ucontext *uctx);

/* group.c */
extern const struct uapi_definition uboe_group_defs[];
int uboe_group_join(struct uboe_dev *ud, struct uboe_ucontext *uctx, u32 group, u32 qpn);
void uboe_groups_exit(struct uboe_ucontext *uctx);

/* share.c */
extern const struct uapi_definition uboe_share_defs[];
bool uboe_gid_is_ours(struct uboe_dev *ud, const u8 *addr);
void uboe_shares_init(struct uboe_dev *ud);
void uboe_shares_open(struct uboe_dev *ud);
void uboe_shares_close(struct uboe_dev *ud);
void uboe_shares_exit(struct uboe_dev *ud);
void uboe_shares_release(struct uboe_ucontext *uctx);

/* mr.c */
struct ib_mr *uboe_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 len, u64 iova, int access,
			       struct ib_udata *udata);
int uboe_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
int uboe_ib_access(int access, u8 *out);

/* ah.c */
int uboe_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int uboe_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int uboe_destroy_ah(struct ib_ah *ibah, u32 flags);

/* counters.c */
int uboe_counters_init(void);
void uboe_counters_exit(void);
struct rdma_hw_stats *uboe_alloc_port_stats(struct ib_device *ib, u32 port);
int uboe_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port, int index);
int uboe_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp);

#endif /* UBOE_VERBS_H */
