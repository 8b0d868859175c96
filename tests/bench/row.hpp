// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What is measured (a row), of whom (a subject), and what came out (a sample).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace uboe::bench {

/// An operation, its size and how many are in flight.
struct Row {
	enum class Kind { write, read, send, fetch_add };

	Kind kind = Kind::write;
	bool latency = false; // one at a time; a Send is answered by a Send
	bool both = false; // both ends do it at the same time
	std::uint32_t jetties = 1; // each with its depth
	std::uint32_t size = 8;
	std::uint32_t depth = 64;
	std::uint32_t signal_every = 16; // requests in one list, with one completion
	std::uint32_t count = 1000; // measured messages of each jetty and direction
	std::uint32_t warm_up = 100;

	std::string name; // what stands before the size, as in the results

	/// KIND[-lat][-both][-jJETTIES][-qDEPTH]:SIZE such as write:4096, read-lat:8,
	/// send-both-j10-q32:1024. @p scale multiplies counts.
	static Row parse(const std::string &text, double scale);
	/// Measured messages of all jetties in both directions.
	std::uint64_t messages() const { return std::uint64_t{count} * jetties * (both ? 2 : 1); }
};

/// Two ends in this machine: RDMA devices, a library without a device, or plain TCP.
struct Subject {
	enum class Kind { verbs, tcp, urma_rc, urma_rm, libfabric, ucx };

	std::string label;
	Kind kind = Kind::tcp;
	std::array<std::string, 2> device;
	std::array<std::string, 2> address;

	/// May it be asked for @p row?
	bool takes(const Row &row) const;
	/// LABEL=DEVICE,DEVICE,ADDRESS,ADDRESS; LABEL=ADDRESS,ADDRESS for TCP; or
	/// LABEL=KIND,ADDRESS,ADDRESS with rc, rm, libfabric or ucx.
	static Subject parse(const std::string &text);
};

struct Sample {
	std::uint64_t nanoseconds = 0; // for all messages
	std::uint64_t median = 0; // of one message, latency rows
	std::uint64_t p99 = 0;
	std::uint64_t packets = 0; // that the network devices sent meanwhile
};

/// Monotonic time in nanoseconds.
std::uint64_t now_ns();

/// Stamps that cost no system call where the processor has a time stamp counter:
/// a guest without a vDSO would measure its clock otherwise.
class Stopwatch {
public:
	Stopwatch();
	/// Since the object was made, in ticks of its own.
	std::uint64_t ticks() const;
	/// Since the object was made.
	std::uint64_t nanoseconds() const;
	/// Nanoseconds of one tick, over all the time since the object was made.
	double scale() const;

private:
	std::uint64_t start_ns_;
	std::uint64_t start_ticks_;
};

} // namespace uboe::bench
