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
	std::uint32_t size = 8;
	std::uint32_t depth = 64;
	std::uint32_t signal_every = 16; // requests in one list, with one completion
	std::uint32_t count = 1000; // measured messages
	std::uint32_t warm_up = 100;

	/// KIND[-lat]:SIZE such as write:4096, read-lat:8. @p scale multiplies counts.
	static Row parse(const std::string &text, double scale);
	/// Name without the size, as in the results.
	std::string name() const;
};

/// Two ends in this machine: RDMA devices, or plain TCP when there are none.
struct Subject {
	std::string label;
	std::array<std::string, 2> device;
	std::array<std::string, 2> address;

	bool tcp() const { return device[0].empty(); }
	/// LABEL=DEVICE,DEVICE,ADDRESS,ADDRESS or LABEL=ADDRESS,ADDRESS.
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
