// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The XDP program, loaded: its maps by name, its tables filled and switched over.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../engine.hpp"

struct bpf_object;
struct bpf_program;

namespace uboe::ub2e
{

class Program
{
      public:
	/// Throws Failure: not permitted, refused by the kernel, or not built.
	Program();
	~Program();
	Program(const Program &) = delete;
	Program &operator=(const Program &) = delete;

	/// File descriptor of the program, for test runs.
	int fd() const;
	/// Fills the set of tables that does not hold, then lets it hold.
	void set_tables(const Tables &tables);
	/// Frames of the tables' interfaces meet the program until it goes. @p generic: in the
	/// stack, whatever the driver can.
	void attach(const Tables &tables, bool generic);
	/// Sums over all CPUs.
	void count(Counters &counters);

      private:
	struct Close {
		void operator()(bpf_object *o) const;
	};

	int map(const char *name) const;
	template <class Key, class Value>
	void put(const char *map_name, const Key &key, const Value &value);
	void clear(std::uint32_t set);
	void fill(std::uint32_t set, const Tables &tables);

	std::unique_ptr<bpf_object, Close> object_;
	bpf_program *program_ = nullptr;
	std::vector<int> link_fds_; // the program leaves its interface when one is closed
	std::vector<std::uint64_t> seen_; // of each counter
	std::uint32_t set_ = 0;
};

} // namespace uboe::ub2e
