// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Scatter-gather lists of work requests as the queues want them.
#pragma once

#include <array>
#include <span>

#include "objects.hpp"

namespace uboe::urma {

struct LocalSge {
	u64 addr;
	u32 length;
	u32 lkey;
};

/// Local elements of one request; their segments are of the context that posts.
class LocalSges {
public:
	/// 0 or EINVAL: too many, or one without a registered segment.
	int gather(const urma_sg_t &list, const Context &context)
	{
		if (list.num_sge > sges_.size() || (list.num_sge && !list.sge))
			return EINVAL;
		for (u32 i = 0; i < list.num_sge; ++i)
			if (int err = add(list.sge[i], context))
				return err;
		return 0;
	}

	int add(const urma_sge_t &e, const Context &context)
	{
		const Segment *s = Handles<Segment>::check(e.tseg);

		if (e.len && (!s || !s->is_local || &s->context != &context))
			return EINVAL;
		sges_[count_++] = {e.addr, e.len, s ? s->local_key : 0};
		return 0;
	}

	/// An element of which only the length counts.
	void add_length(u32 length) { sges_[count_++] = {0, length, 0}; }

	u64 bytes() const
	{
		u64 total = 0;

		for (const LocalSge &s : span())
			total += s.length;
		return total;
	}

	std::span<const LocalSge> span() const { return {sges_.data(), count_}; }

private:
	std::array<LocalSge, UBOE_MAX_SGE_RAW> sges_; // the queue says how many it takes
	std::size_t count_ = 0;
};

/// Remote side of an element: an imported segment, or one described in place.
/// 0 or EINVAL.
inline int remote_key(const urma_sge_t &e, RemoteKey &key)
{
	if (e.tseg) {
		const Segment *s = Handles<Segment>::check(e.tseg);

		if (!s)
			return EINVAL;
		key = s->remote;
		return 0;
	}
	if (!e.user_tseg)
		return EINVAL;
	key = {e.user_tseg->token_id >> token_id_shift, e.user_tseg->token_value.token,
	       e.user_tseg->attr.bs.token_policy != URMA_TOKEN_NONE};
	return 0;
}

/// Posts to @p jfr; the caller checked what it was given.
urma_status_t post_receives(Jfr &jfr, urma_jfr_wr_t *wr, urma_jfr_wr_t **bad);

} // namespace uboe::urma
