// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The operations of the demo. Both ends agree on each by lines of text (the
// comments show them), then the bytes move by RDMA.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verbs.hpp"

namespace uboe::demo {

struct Options {
	std::string device;
	std::string address; // own address; empty: that of the TCP connection
	std::string host; // server to connect to; empty: be the server
	std::uint16_t port = 4700;
	std::string file;
	std::string keep; // folder for what the server receives
	std::vector<std::string> operations = {"write", "read", "send", "add"};
	std::size_t chunk = 256 << 10; // bytes of a Write or Read
	std::size_t send_chunk = 16 << 10; // bytes of a Send
};

/// What the client found about one operation.
struct Outcome {
	std::string operation;
	std::size_t bytes = 0;
	std::size_t messages = 0;
	std::size_t chunk = 0;
	double seconds = 0;
	std::string digest; // of the bytes that arrived, computed where they arrived
	bool equal = false; // to the digest of the source, computed at the source
};

/// One end: a device with a connected queue pair.
class End {
public:
	End(const Options &options, Stream stream);

	/// Client: runs the operations that were asked for.
	std::vector<Outcome> run();
	/// Server: does what the client asks until it says goodbye.
	void serve();

	const Device &device() const { return device_; }

private:
	Outcome write_file();
	Outcome read_file();
	Outcome send_file();
	Outcome add();
	void serve_write(const std::string &arguments);
	void serve_read();
	void serve_send(const std::string &arguments);
	void serve_add();
	void keep(const char *operation, const Region &region) const;

	/// Posts one request for each chunk of @p region, some at a time, and waits
	/// for all. The remote side is unused by a Send.
	std::size_t stream_out(ibv_wr_opcode opcode, const Region &region, std::size_t size,
			       std::size_t chunk, const RemoteRegion &remote);
	Region load_file(int access) const;

	const Options &options_;
	Stream stream_;
	Device device_;
	CompletionQueue send_queue_;
	CompletionQueue receive_queue_;
	QueuePair pair_;
};

} // namespace uboe::demo
