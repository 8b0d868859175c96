// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A request that is being taken apart, and what uboe/urma_ext.h adds to it.
#pragma once

#include "sges.hpp"

namespace uboe::urma {

/// What goes into the element, and its data.
struct Request {
	WorkRequest wr;
	LocalSges local;
	const urma_sg_t *inline_data = nullptr;
};

/// An Atomic store, to be: it has no local memory.
bool is_store(const urma_jfs_wr_t &from);

/// Makes of a translated request with flag.bs.has_drv_ext what its extension says.
/// 0 or EINVAL.
int extend(const urma_jfs_wr_t &from, Request &r);

} // namespace uboe::urma
