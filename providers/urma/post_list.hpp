// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Posting a list of requests to a send queue, whatever they are.
#pragma once

#include "objects.hpp"

namespace uboe::urma {

/// With a lock buffer: what was appended has to leave before the next is. When the device
/// is gone, its state tells.
inline void push(Sender &j)
{
	if (j.queue.one_by_one() && j.queue.publish())
		j.context.backend->kick(j.memory.id);
}

/// @p append: takes one request; 0, or the status after a message. @p queue: what
/// messages call it.
template <class Wr, class Append>
urma_status_t post_list(Sender &j, const char *queue, Wr *wr, Wr **bad, const Append &append)
{
	urma_status_t status = URMA_SUCCESS;
	Wr *const first = wr;
	bool kick;
	{
		Hold hold(j.queue.lock());

		j.queue.begin();
		for (; wr; wr = wr->next) {
			if ((status = append(*wr))) {
				*bad = wr;
				break;
			}
			push(j);
		}
		kick = j.queue.publish();
	}
	const int err = kick ? j.context.backend->kick(j.memory.id) : 0;

	if (err || j.context.lost) {
		*bad = first;
		status = fail(err ? err : ENODEV, "post", "%s: the device is gone", queue);
	}
	return status;
}

/// Why the ring took no request: it is full, or what @p why says.
inline const char *reason(int err, const char *why)
{
	return err == ENOMEM ? "the queue is full" : why;
}

} // namespace uboe::urma
