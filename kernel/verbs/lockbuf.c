// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lock buffers (docs/decisions/0023): every device has those that the module was loaded
 * with. Their jetties are well-known ones, which only who asks for the number gets.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/module.h>
#include "verbs.h"

#define UBOE_LOCKBUFS (UBOE_LOCKBUF_STARS + 1)
#define UBOE_LAST_KNOWN_QPN (UBOE_FIRST_QPN - 1)
#define UBOE_LOCKBUF_MIN_BB 4u /* two SQEs of the largest kind */
#define UBOE_LOCKBUF_MAX_BB 4096u

static char *uboe_lockbuf_arg[UBOE_LOCKBUFS];
module_param_named(lockbuf, uboe_lockbuf_arg[UBOE_LOCKBUF_WQE], charp, 0444);
MODULE_PARM_DESC(lockbuf, "FIRST-LAST:BLOCKS, jetties in the WQE lock buffer and their depth");
module_param_named(stars, uboe_lockbuf_arg[UBOE_LOCKBUF_STARS], charp, 0444);
MODULE_PARM_DESC(stars, "FIRST-LAST:BLOCKS, jetties in the Stars lock buffer and their depth");

static const char *const uboe_lockbuf_names[UBOE_LOCKBUFS] = { "lockbuf", "stars" };

/* What the devices are set up with; end_jetty 0: there is no such buffer */
static struct uboe_lockbuf_ctx uboe_lockbufs[UBOE_LOCKBUFS] __ro_after_init;

static int __init uboe_lockbuf_parse(u32 tag)
{
	const char *arg = uboe_lockbuf_arg[tag];
	struct uboe_lockbuf_ctx *ctx = &uboe_lockbufs[tag];
	u32 first, last, blocks;
	int used = 0;

	if (!arg || !*arg)
		return 0;
	if (sscanf(arg, "%4u-%4u:%4u%n", &first, &last, &blocks, &used) != 3 || arg[used] ||
	    first < UBOE_FIRST_KNOWN_QPN || last < first || last > UBOE_LAST_KNOWN_QPN ||
	    !is_power_of_2(blocks) || blocks < UBOE_LOCKBUF_MIN_BB ||
	    blocks > UBOE_LOCKBUF_MAX_BB) {
		pr_err("uboe: %s=%s: FIRST-LAST:BLOCKS, jetties %u to %u, power of two %u to %u\n",
		       uboe_lockbuf_names[tag], arg, UBOE_FIRST_KNOWN_QPN, UBOE_LAST_KNOWN_QPN,
		       UBOE_LOCKBUF_MIN_BB, UBOE_LOCKBUF_MAX_BB);
		return -EINVAL;
	}
	ctx->start_jetty = cpu_to_le32(first);
	ctx->end_jetty = cpu_to_le32(last);
	ctx->bb_shift = ilog2(blocks);
	ctx->fe_enable = cpu_to_le64(1);
	return 0;
}

int __init uboe_lockbufs_init(void)
{
	const char *why;
	u32 tag;
	int ret;

	for (tag = 0; tag < UBOE_LOCKBUFS; tag++) {
		ret = uboe_lockbuf_parse(tag);
		if (ret)
			return ret;
	}
	why = ubp_lockbufs_wrong(uboe_lockbufs);
	if (!why)
		return 0;
	pr_err("uboe: lockbuf=%s stars=%s: %s\n", uboe_lockbuf_arg[UBOE_LOCKBUF_WQE] ?: "",
	       uboe_lockbuf_arg[UBOE_LOCKBUF_STARS] ?: "", why);
	return -EINVAL;
}

/* Of a new device, which has no jetty yet. They go with it */
int uboe_lockbufs_make(struct uboe_dev *ud)
{
	u32 tag;
	int ret;

	for (tag = 0; tag < UBOE_LOCKBUFS; tag++) {
		if (!uboe_lockbufs[tag].end_jetty)
			continue;
		ret = uboe_cmd_create(ud, UBOE_MBOX_LOCKBUF, tag, &uboe_lockbufs[tag],
				      sizeof(uboe_lockbufs[tag]));
		if (ret)
			return ret;
	}
	return 0;
}

void uboe_lockbufs_tell(struct uboe_alloc_ucontext_resp *resp)
{
	u32 tag;

	for (tag = 0; tag < UBOE_LOCKBUFS; tag++) {
		const struct uboe_lockbuf_ctx *ctx = &uboe_lockbufs[tag];

		if (!ctx->end_jetty)
			continue;
		resp->lockbuf[tag].first = le32_to_cpu(ctx->start_jetty);
		resp->lockbuf[tag].last = le32_to_cpu(ctx->end_jetty);
		resp->lockbuf[tag].blocks = 1u << ctx->bb_shift;
	}
}

/* The buffer where a jetty has its place, or NULL */
static const struct uboe_lockbuf_ctx *uboe_lockbuf_of(u32 jetty)
{
	u32 tag;

	for (tag = 0; tag < UBOE_LOCKBUFS; tag++)
		if (jetty && jetty >= le32_to_cpu(uboe_lockbufs[tag].start_jetty) &&
		    jetty <= le32_to_cpu(uboe_lockbufs[tag].end_jetty))
			return &uboe_lockbufs[tag];
	return NULL;
}

/* A request with UBOE_QP_LOCKBUF */
int uboe_lockbuf_check(const struct uboe_create_qp_req *req)
{
	const struct uboe_lockbuf_ctx *ctx = uboe_lockbuf_of(req->id);

	return !ctx || req->sq || req->sq_shift != ctx->bb_shift ? -EINVAL : 0;
}

/* Its place, by the formula of struct uboe_lockbuf_ctx; uboe_lockbuf_check() let it pass */
void uboe_lockbuf_fill_ctx(struct uboe_jetty_ctx *jctx, const struct uboe_create_qp_req *req)
{
	const struct uboe_lockbuf_ctx *ctx = uboe_lockbuf_of(req->id);
	u32 nth = req->id - le32_to_cpu(ctx->start_jetty);

	jctx->flags |= UBOE_JETTY_LOCKBUF;
	jctx->sq_base = cpu_to_le64(le16_to_cpu(ctx->fe_start[0]) + (nth << ctx->bb_shift));
}
