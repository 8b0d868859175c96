// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * C++20 for URMA: a header-only library over the C API of urma/urma_api.h. Programs
 * link with liburma only.
 *
 * @code
 * using namespace uboe::urma;
 *
 * Context context(Eid::of("127.0.0.1"));
 * CompletionQueue completions(context);
 * ReceiveQueue receives(context, completions);
 * RcJetty jetty(context, completions, receives);
 * LocalSegment memory = LocalSegment::allocate(context, 4096);
 *
 * check(jetty.bind(RemoteJetty::parse(text)), "bind");
 * check(jetty.send(memory.slice(0, 5), { .user = 1 }), "send");
 * Completion done = completions.wait();
 * @endcode
 *
 * **Units.** Lengths, offsets and sizes are bytes; depths are requests. Numbers are
 * in host byte order, whatever the wire has; an Eid is 16 bytes in network order.
 * Data in memory are moved as they are. Atomics work on numbers of the target's
 * byte order.
 *
 * **Errors.** Constructors throw Error. Everything else that may fail for reasons
 * outside the program returns a std::error_code of category(), and check() makes an
 * Error of one. Destructors do not throw. What only a bug can cause, such as
 * a slice beyond the end of its segment, is std::out_of_range.
 *
 * **Lifetimes.** Objects are moved, not copied. They may be destroyed in any order:
 * each keeps alive what it was made from. Memory of a LocalSegment has to exist
 * until the segment is destroyed, and buffers of requests until these complete.
 *
 * **Threads.** Functions of one object may be called from all threads at once, but
 * for moving and destroying it, unless its description says otherwise. After fork()
 * the child must not use any object (URMA API guide 1.1).
 *
 * The C API below is described in include/urma, and rules quoted as "URMA API" are
 * found there.
 */
#pragma once

#include "urma/completion.hpp"
#include "urma/completion_queue.hpp"
#include "urma/coroutine.hpp"
#include "urma/descriptor.hpp"
#include "urma/device.hpp"
#include "urma/error.hpp"
#include "urma/events.hpp"
#include "urma/jetty.hpp"
#include "urma/request.hpp"
#include "urma/segment.hpp"
#include "urma/traffic.hpp"
#include "urma/types.hpp"
#include "urma/rm.hpp"
#include "urma/um.hpp"
