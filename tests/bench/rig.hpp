// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A rig: two processes that hold the two ends of one subject for one row.
//
// The parent is the active end. The child, the passive end, sleeps in read() of a
// socket during Writes, Reads and atomics: nothing of it runs, all work is the
// devices'. During Sends it is woken by completion events and posts receives
// again; how many it has consumed stands in memory shared by both processes, so
// that the parent never outruns it and no receiver-not-ready retry is measured.
//
// A process that has nothing to do polls a few times and then gives its CPU away
// by sched_yield(): on one CPU without preemption a spinning process would keep
// the other from running until the next tick. It is the same code for everyone.
#pragma once

#include <atomic>
#include <memory>

#include <sys/types.h>

#include "row.hpp"
#include "stream.hpp"

namespace uboe::bench {

/// In memory shared by both processes.
struct Shared {
	std::atomic<std::uint64_t> consumed; // Sends taken by the child, ever
	// Of native rigs, by side:
	alignas(64) std::atomic<std::uint64_t> received[2]; // Sends taken, ever
	alignas(64) std::atomic<std::uint64_t> ended[2]; // runs
};

class Rig {
public:
	virtual ~Rig() = default;
	/// Opens the ends and connects them. All rigs of a row are made before the
	/// first one connects, so that no fork copies an open device.
	virtual void connect() = 0;
	/// Runs @p count messages; only what the clock says between first and last.
	virtual Sample run(std::uint32_t count) = 0;
	/// Looks at the bytes that moved; throws when they are wrong.
	virtual void verify() = 0;
};

/// The forked passive end: runs @p body in a child and ends it with the object.
class Child {
public:
	template <class Body> explicit Child(Body body) : Child(Stream::pair())
	{
		if (pid_ == 0)
			finish([&] { body(child_end_); });
		child_end_ = Stream();
	}
	Child(const Child &) = delete;
	~Child();

	Stream &stream() { return parent_end_; }

private:
	explicit Child(std::pair<Stream, Stream> ends);
	template <class Work> [[noreturn]] void finish(Work work)
	{
		int status = 0;
		try {
			parent_end_ = Stream();
			enter();
			work();
		} catch (const std::exception &error) {
			status = report(error);
		}
		leave(status);
	}
	static void enter();
	int report(const std::exception &error);
	[[noreturn]] static void leave(int status);

	Stream parent_end_;
	Stream child_end_;
	pid_t pid_;
};

/// One object in memory that a fork shares.
class SharedPage {
public:
	SharedPage();
	SharedPage(const SharedPage &) = delete;
	~SharedPage();
	Shared *operator->() const { return shared_; }

private:
	Shared *shared_;
};

/// While it lives, a system call that sleeps longer than @p seconds fails.
class Alarm {
public:
	explicit Alarm(unsigned seconds);
	Alarm(const Alarm &) = delete;
	~Alarm();
};

/// Gives the CPU away while there is nothing to do, at every @p stride th turn; throws
/// after 20 s of that.
class Patience {
public:
	explicit Patience(unsigned stride = 1) : stride_(stride) {}
	void idle();
	void progress() { turns_ = 0; }

private:
	const unsigned stride_;
	unsigned turns_ = 0;
	std::uint64_t since_ = 0;
};

/// Fork the passive end.
std::unique_ptr<Rig> make_verbs_rig(const Subject &subject, const Row &row);
std::unique_ptr<Rig> make_tcp_rig(const Subject &subject, const Row &row);
std::unique_ptr<Rig> make_native_rig(const Subject &subject, const Row &row);

/// From now on passive ends are made in the network namespace @p path.
void put_children_into(const std::string &path);

/// Packets that the network devices have sent, and received when the other end has
/// devices of its own. Both ends are in this machine.
std::uint64_t sent_packets();

/// Median and 99th percentile of single times, of @p scale nanoseconds each.
void summarise(std::vector<std::uint64_t> &times, double scale, Sample &sample);

} // namespace uboe::bench
