// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Posting to raw queues: datagrams of the program's own making.
#include <cstring>

#include <uboe/urma_ext.h>

#include "post_list.hpp"
#include "sges.hpp"

namespace uboe::urma {

namespace {

/// 0 or an error with its reason in @p why.
int append(Jfs &s, const uboe_raw_wr_t &from, const char *&why)
{
	WorkRequest wr;
	SqeParams to;
	LocalSges local;

	why = "flag: complete_enable is all there is";
	urma_jfs_wr_flag_t rest = from.flag;
	rest.bs.complete_enable = 0;
	if (rest.value)
		return EINVAL;
	why = "port: 0";
	if (!from.port)
		return EINVAL;
	why = "reserved: not 0";
	if (from.reserved)
		return EINVAL;
	why = "src: an element is wrong";
	if (int err = local.gather(from.src, s.context))
		return err;
	why = "src: more elements than the queue takes, or more than 4096 bytes";
	to.remote_jetty = from.port;
	std::memcpy(to.remote_eid, from.dst.raw, sizeof(to.remote_eid));
	wr.op = Op::raw;
	wr.flags = from.flag.bs.complete_enable ? wr_signaled : 0;
	wr.wr_id = from.user_ctx;
	wr.target = &to;
	return s.queue.append(wr, local.span());
}

urma_status_t post(Jfs &s, uboe_raw_wr_t *wr, uboe_raw_wr_t **bad)
{
	return post_list(s, "jfs", wr, bad, [&s](const uboe_raw_wr_t &w) -> urma_status_t {
		const char *why = "";
		const int err = append(s, w, why);

		return err ? fail(err, "post", "%s", reason(err, why)) : 0;
	});
}

} // namespace

} // namespace uboe::urma

using namespace uboe::urma;

urma_status_t uboe_post_raw(urma_jfs_t *jfs, uboe_raw_wr_t *wr, uboe_raw_wr_t **bad_wr)
{
	Jfs *s = Handles<Jfs>::check(jfs);

	if (!s || !wr || !bad_wr)
		return URMA_FAILED(URMA_EINVAL, "%s", s ? "wr or bad_wr: null" : "jfs: not a JFS");
	if (s->spec.mode != UBOE_JETTY_RAW)
		return URMA_FAILED(URMA_EINVAL, "jfs: not made by uboe_create_raw_jfs()");
	return post(*s, wr, bad_wr);
}
