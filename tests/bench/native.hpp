// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What a library without a device gives the rig: one end of a row. The loops around
// it are the same for all of them (native_rig.cpp).
#pragma once

#include <memory>
#include <vector>

#include "rig.hpp"

namespace uboe::bench {

class NativeEnd {
public:
	virtual ~NativeEnd() = default;
	/// Exchanges with the other end what both need, over @p stream.
	virtual void connect(Stream &stream) = 0;
	/// A list of Row::signal_every requests of jetty @p jetty.
	virtual void post(std::uint32_t jetty) = 0;
	/// Lets the library work; adds to @p done, for each jetty, what has completed.
	/// The number of messages that were received; their buffers are posted again.
	virtual std::uint32_t poll(std::vector<std::uint32_t> &done) = 0;
	/// Returns when all Writes are at the target.
	virtual void flush() {}
	/// Slots of row.size bytes: row.depth for each jetty.
	virtual std::uint8_t *memory() = 0;
};

/// For the sides 0 and 1 of a subject; throw Failure.
std::unique_ptr<NativeEnd> make_urma_end(const Subject &subject, int side, const Row &row);
std::unique_ptr<NativeEnd> make_libfabric_end(const Subject &subject, int side, const Row &row);
std::unique_ptr<NativeEnd> make_ucx_end(const Subject &subject, int side, const Row &row);

/// Receives that an end has posted: senders stay inside.
inline std::uint32_t receives_of(const Row &row)
{
	return row.kind == Row::Kind::send ? std::max(4 * row.depth * row.jetties, 16u) : 0;
}

/// The slots of an end, in bytes; a little more for who wants some.
inline std::size_t memory_of(const Row &row)
{
	return std::size_t{row.depth} * row.jetties * row.size + 4096;
}

/// Where message @p number of @p jetty is.
inline std::size_t slot_of(const Row &row, std::uint32_t jetty, std::uint64_t number)
{
	return (std::size_t{jetty} * row.depth + number % row.depth) * row.size;
}

} // namespace uboe::bench
