// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "extension.hpp"

#include <uboe/urma_ext.h>

#include "ub_wire.h"

namespace uboe::urma {

namespace {

static_assert(UBOE_WR_ADD == int(UBOE_UDF_ADD) && UBOE_WR_UMIN == int(UBOE_UDF_UMIN));
static_assert(UBOE_WR_XOR == int(UBOE_UDF_XOR) && UBOE_WR_CLEAR == int(UBOE_UDF_CLEAR));
static_assert(UBOE_WR_FP16 == int(UBOE_UDF_FP16) && UBOE_WR_U64 == int(UBOE_UDF_U64));

constexpr u32 udf(u32 cls, u32 type, u32 op)
{
	return cls | type << 8 | op << 12;
}

/// Bytes of an element, 0 for a type that there is not.
u32 element_bytes(u32 type)
{
	constexpr u8 bytes[] = {1, 2, 4, 8, 2, 2, 4, 0, 1, 2, 4, 8};

	return type < sizeof(bytes) ? bytes[type] : 0;
}

u64 data_bytes(const Request &r)
{
	u64 total = 0;

	if (r.inline_data)
		for (u32 i = 0; i < r.inline_data->num_sge; ++i)
			total += r.inline_data->sge[i].len;
	return total + r.local.bytes();
}

/// Which operator suits which type is for the device to say: one place decides.
int reduce(const uboe_jfs_wr_t &x, Request &r)
{
	const u32 size = element_bytes(x.type);
	const u64 total = data_bytes(r);

	if ((r.wr.op != Op::write && r.wr.op != Op::read) || !size || total % size ||
	    total > UB_MTU_MAX || r.wr.remote_addr % size)
		return EINVAL;
	r.wr.has_udf = true;
	r.wr.udf = udf(UBOE_UDF_REDUCE, x.type, x.op);
	return 0;
}

/// The short form has room for one segment and for short tokens.
int store_add(Request &r)
{
	const RemoteKey &k = r.wr.key, &n = r.wr.notify_key;

	if (r.wr.op != Op::write_notify || r.wr.notify_addr % 8)
		return EINVAL;
	const bool is_short = k.id == n.id && k.value == n.value && k.has_value == n.has_value &&
			      k.value <= UBOE_SQE_TOKEN24 &&
			      (!r.inline_data || data_bytes(r) <= UBOE_MAX_INLINE_STOREADD1);

	r.wr.op = is_short ? Op::store_add1 : Op::store_add2;
	return 0;
}

int atomic(const uboe_jfs_wr_t &x, Op op, Request &r)
{
	if (r.wr.op != Op::faa)
		return EINVAL;
	r.wr.op = op;
	r.wr.has_udf = true;
	r.wr.udf = udf(UBOE_UDF_ATOMIC, 0, x.op);
	return 0;
}

} // namespace

bool is_store(const urma_jfs_wr_t &from)
{
	const auto &x = reinterpret_cast<const uboe_jfs_wr_t &>(from);

	return from.flag.bs.has_drv_ext && x.size == sizeof(x) && x.kind == UBOE_WR_ATOMIC_STORE;
}

int extend(const urma_jfs_wr_t &from, Request &r)
{
	const auto &x = reinterpret_cast<const uboe_jfs_wr_t &>(from);

	if (x.size != sizeof(x) || x.reserved || x.op > UBOE_WR_UMIN ||
	    (x.type && x.kind != UBOE_WR_REDUCE) || (x.op && x.kind == UBOE_WR_STORE_ADD))
		return EINVAL;
	switch (x.kind) {
	case UBOE_WR_REDUCE:
		return reduce(x, r);
	case UBOE_WR_STORE_ADD:
		return store_add(r);
	case UBOE_WR_ATOMIC_STORE:
		return atomic(x, Op::store, r);
	case UBOE_WR_ATOMIC_LOAD:
		return atomic(x, Op::load, r);
	default:
		return EINVAL;
	}
}

} // namespace uboe::urma
