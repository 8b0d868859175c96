// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The XDP datapath: the kernel forwards, this process keeps tables and counters.
#include <chrono>
#include <thread>

#include "bpf/program.hpp"
#include "datapath.hpp"

namespace uboe::ub2e
{

namespace
{

class XdpPath final : public Datapath
{
      public:
	XdpPath(std::shared_ptr<const Tables> tables, bool generic)
	{
		program_.set_tables(*tables);
		program_.attach(*tables, generic);
	}

	void set_tables(std::shared_ptr<const Tables> tables) override
	{
		program_.set_tables(*tables);
	}

	void run(int ms) override
	{
		std::this_thread::sleep_for(std::chrono::milliseconds(ms));
	}

	void count(Counters &counters) override
	{
		program_.count(counters);
	}

      private:
	Program program_;
};

} // namespace

std::unique_ptr<Datapath> xdp_path(std::shared_ptr<const Tables> tables, bool generic)
{
	return std::make_unique<XdpPath>(std::move(tables), generic);
}

} // namespace uboe::ub2e
