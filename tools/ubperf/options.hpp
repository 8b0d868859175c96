// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What ubperf was asked to do. The client's settings travel to the server.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ubperf
{

enum class Operation { write, write_imm, write_notify, read, send, faa, cas };
enum class Measure { bandwidth, latency };

struct Options {
	std::string server; ///< host to connect to; empty: be the server
	std::uint16_t port = 21115;
	unsigned wait_s = 30; ///< how long a client looks for its server, seconds
	std::string device; ///< empty: the one that has the address
	std::string eid; ///< empty: 127.0.0.1 for a server, 127.0.0.2 for a client, if
		///< a device has it, else the device's first
	Operation operation = Operation::write;
	Measure measure = Measure::bandwidth;
	std::vector<std::uint32_t> sizes{ 65536 }; ///< bytes
	std::uint32_t iterations = 0; ///< of each size and jetty; 0: by the size
	std::uint32_t depth = 128; ///< requests in flight of a jetty
	std::uint32_t list = 16; ///< requests a doorbell
	std::uint32_t inline_bytes = 0; ///< messages up to it go inline
	std::uint32_t jetties = 1;
	bool bidirectional = false;
	bool rm = false; ///< reliable messages over a shared channel, not connections
	bool events = false; ///< sleep for completions instead of polling
	bool json = false;

	bool is_server() const
	{
		return server.empty();
	}
	std::uint32_t iterations_for(std::uint32_t size) const;
	/// One line of text, and back; parse() throws std::runtime_error.
	std::string serialise() const;
	void parse(const std::string &line);
};

const char *name_of(Operation operation);

/// Exits with usage and message when the arguments are wrong or help is asked for.
Options read_options(int argc, char **argv);

} // namespace ubperf
