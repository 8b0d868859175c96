// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The sub-commands. They throw NoDevice, NetlinkError, Usage or std::runtime_error.
#pragma once

#include <string>
#include <vector>

#include "nldev.hpp"
#include "table.hpp"

namespace ubctl
{

/// Wrong arguments.
class Usage : public std::runtime_error
{
      public:
	using std::runtime_error::runtime_error;
};

using Words = std::vector<std::string>;

/// What comes after "show", which may be left out: the name of a device, or nothing.
std::string shown_device(const Words &words);
/// For work on a device of the kernel. Throws NoDevice.
Nldev connect_for(const std::string &device);
/// Kernel devices to work on; for one in a process says why it cannot be.
std::vector<KernelDevice> kernel_devices(Nldev &nldev, const std::string &name);

/// State and interface of a port, as far as they are known, into a row.
void describe_port(Json &row, const KernelPort &port);

void show_devices(const Output &output, const std::string &device);
void show_eids(const Output &output, const std::string &device);

void show_jetties(const Output &output, const std::string &device);
void show_tps(const Output &output, const std::string &device);
void show_jfcs(const Output &output, const std::string &device);
void show_jfrs(const Output &output, const std::string &device);
void show_segments(const Output &output, const std::string &device);

struct CounterOptions {
	bool nonzero = false;
	bool drops = false;
	double watch_s = 0; ///< 0: once
	std::uint64_t samples = 0; ///< of watching; 0: until a signal
};
void show_counters(const Output &output, const std::string &device, const CounterOptions &options);

/// [DEV] shows, DEV KNOB=VALUE... sets, DEV off
void impair(const Output &output, const Words &words);
/// [show] [DEV], add NAME netdev INTERFACE, delete NAME
void link(const Output &output, const Words &words);
/// [show] [DEV], add and set and delete DEV NODE
void traffic(const Output &output, const Words &words);

} // namespace ubctl
