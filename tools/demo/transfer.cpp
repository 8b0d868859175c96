// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "transfer.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "error.hpp"
#include "sha256.hpp"

namespace uboe::demo {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t window = 16; // requests in flight
constexpr std::uint32_t receives = 128; // Sends that may arrive unattended
constexpr int patience_ms = 60000;
constexpr std::uint64_t additions = 200;

double seconds_since(Clock::time_point start)
{
	return std::chrono::duration<double>(Clock::now() - start).count();
}

std::size_t chunks(std::size_t size, std::size_t chunk)
{
	return (size + chunk - 1) / chunk;
}

std::string own_address(const Options &options, const Stream &stream)
{
	return options.address.empty() ? stream.local_address() : options.address;
}

} // namespace

End::End(const Options &options, Stream stream)
	: options_(options), stream_(std::move(stream)),
	  device_(options.device, own_address(options, stream_)), send_queue_(device_, 2 * window),
	  receive_queue_(device_, receives),
	  pair_(device_, send_queue_, receive_queue_, {2 * window, receives, 0})
{
	stream_.send_line("uboe-demo 1");
	stream_.expect("uboe-demo 1");
	pair_.connect(stream_);
}

Region End::load_file(int access) const
{
	std::ifstream in(options_.file, std::ios::binary);
	std::error_code error;

	const std::uintmax_t size = std::filesystem::file_size(options_.file, error);
	if (!in || error || size == 0)
		throw Failure("cannot read " + options_.file + ", or it is empty");
	Region region(device_, size, access);
	if (!in.read(reinterpret_cast<char *>(region.data()), static_cast<std::streamsize>(size)))
		throw Failure("cannot read all of " + options_.file);
	return region;
}

void End::keep(const char *operation, const Region &region) const
{
	if (options_.keep.empty())
		return;
	const std::string path = options_.keep + "/received-by-" + operation;
	std::ofstream out(path, std::ios::binary);
	out.write(reinterpret_cast<const char *>(region.data()),
		  static_cast<std::streamsize>(region.size()));
	if (!out.flush())
		throw Failure("cannot write " + path);
}

std::size_t End::stream_out(ibv_wr_opcode opcode, const Region &region, std::size_t size,
			    std::size_t chunk, const RemoteRegion &remote)
{
	const std::size_t count = chunks(size, chunk);
	std::size_t posted = 0, done = 0;
	ibv_wc completions[window];

	while (done < count) {
		for (; posted < count && posted - done < window; ++posted) {
			const std::size_t at = posted * chunk;
			ibv_sge piece = {region.address() + at,
					 static_cast<std::uint32_t>(std::min(chunk, size - at)),
					 region.lkey()};
			ibv_send_wr request = {};
			request.wr_id = posted;
			request.sg_list = &piece;
			request.num_sge = 1;
			request.opcode = opcode;
			request.send_flags = IBV_SEND_SIGNALED;
			request.wr.rdma.remote_addr = remote.address + at;
			request.wr.rdma.rkey = remote.rkey;
			pair_.post_send(request);
		}
		done += static_cast<std::size_t>(
			send_queue_.wait(completions, window, patience_ms));
	}
	return count;
}

// client: write SIZE SHA256      server: region ADDRESS RKEY SIZE
// client: Writes, at last a Write with immediate data, the number of Writes
// server: sha256 DIGEST equal|different
Outcome End::write_file()
{
	const Region source = load_file(IBV_ACCESS_LOCAL_WRITE);
	const std::string digest = sha256(source.data(), source.size());
	Outcome result{"write", source.size(), 0, options_.chunk, 0, {}, false};

	stream_.send_line("write " + std::to_string(source.size()) + " " + digest);
	const RemoteRegion target = RemoteRegion::parse(stream_.expect("region"));

	const auto start = Clock::now();
	result.messages =
		stream_out(IBV_WR_RDMA_WRITE, source, source.size(), options_.chunk, target);
	ibv_send_wr notice = {};
	notice.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	notice.send_flags = IBV_SEND_SIGNALED;
	notice.imm_data = htobe32(static_cast<std::uint32_t>(result.messages));
	notice.wr.rdma.remote_addr = target.address;
	notice.wr.rdma.rkey = target.rkey;
	pair_.post_send(notice);
	ibv_wc completion;
	send_queue_.wait(&completion, 1, patience_ms);
	result.seconds = seconds_since(start);
	++result.messages;

	std::istringstream answer(stream_.expect("sha256"));
	std::string verdict;
	answer >> result.digest >> verdict;
	result.equal = result.digest == digest && verdict == "equal";
	return result;
}

void End::serve_write(const std::string &arguments)
{
	std::istringstream in(arguments);
	std::size_t size = 0;
	std::string digest;

	if (!(in >> size >> digest) || size == 0 || size > (std::size_t{1} << 30))
		throw Failure("the client asks for a Write of a strange size");
	const Region target(device_, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	pair_.post_receive(0, nullptr, 0, 0);
	stream_.send_line("region " + target.describe());

	ibv_wc completion;
	receive_queue_.wait(&completion, 1, patience_ms);
	if (!(completion.wc_flags & IBV_WC_WITH_IMM))
		throw Failure("the notice of the Writes carries no immediate data");
	const std::string found = sha256(target.data(), target.size());
	std::cout << "server: a notice says that " << be32toh(completion.imm_data)
		  << " Writes are in memory: " << size << " bytes, SHA-256 "
		  << (found == digest ? "equal" : "DIFFERENT") << std::endl;
	keep("write", target);
	stream_.send_line("sha256 " + found + (found == digest ? " equal" : " different"));
}

// client: read                   server: region ADDRESS RKEY SIZE
// client: Reads, then sha256 DIGEST      server: sha256 DIGEST
Outcome End::read_file()
{
	Outcome result{"read", 0, 0, options_.chunk, 0, {}, false};

	stream_.send_line("read");
	const RemoteRegion source = RemoteRegion::parse(stream_.expect("region"));
	const Region target(device_, source.size, IBV_ACCESS_LOCAL_WRITE);

	const auto start = Clock::now();
	result.bytes = source.size;
	result.messages = stream_out(IBV_WR_RDMA_READ, target, source.size, options_.chunk, source);
	result.seconds = seconds_since(start);
	result.digest = sha256(target.data(), target.size());
	stream_.send_line("sha256 " + result.digest);
	result.equal = stream_.expect("sha256") == result.digest;
	return result;
}

void End::serve_read()
{
	const Region source = load_file(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	const std::string digest = sha256(source.data(), source.size());

	stream_.send_line("region " + source.describe());
	const std::string found = stream_.expect("sha256");
	std::cout << "server: the client has read " << source.size() << " bytes by itself, SHA-256 "
		  << (found == digest ? "equal" : "DIFFERENT") << std::endl;
	stream_.send_line("sha256 " + digest);
}

// client: send SIZE CHUNK SHA256         server: ready
// client: Sends                          server: sha256 DIGEST equal|different
Outcome End::send_file()
{
	const Region source = load_file(IBV_ACCESS_LOCAL_WRITE);
	const std::string digest = sha256(source.data(), source.size());
	Outcome result{"send", source.size(), 0, options_.send_chunk, 0, {}, false};

	stream_.send_line("send " + std::to_string(source.size()) + " " +
			  std::to_string(options_.send_chunk) + " " + digest);
	stream_.expect("ready");

	const auto start = Clock::now();
	result.messages = stream_out(IBV_WR_SEND, source, source.size(), options_.send_chunk, {});
	result.seconds = seconds_since(start);
	std::istringstream answer(stream_.expect("sha256"));
	std::string verdict;
	answer >> result.digest >> verdict;
	result.equal = result.digest == digest && verdict == "equal";
	return result;
}

void End::serve_send(const std::string &arguments)
{
	std::istringstream in(arguments);
	std::size_t size = 0, chunk = 0, posted = 0, done = 0, bytes = 0;
	std::string digest;

	if (!(in >> size >> chunk >> digest) || size == 0 || size > (std::size_t{1} << 30) ||
	    chunk == 0 || chunk > size)
		throw Failure("the client asks for Sends of a strange size");
	// Each Send lands where its part of the file belongs.
	const Region target(device_, size, IBV_ACCESS_LOCAL_WRITE);
	const std::size_t count = chunks(size, chunk);
	const auto post = [&] {
		const std::size_t at = posted * chunk;
		pair_.post_receive(posted++, target.data() + at,
				   static_cast<std::uint32_t>(std::min(chunk, size - at)),
				   target.lkey());
	};
	while (posted < std::min<std::size_t>(count, receives))
		post();
	stream_.send_line("ready");
	while (done < count) {
		ibv_wc completions[window];
		const int got = receive_queue_.wait(completions, window, patience_ms);
		for (int i = 0; i < got; ++i, ++done) {
			if (completions[i].wr_id != done)
				throw Failure("a Send came out of order");
			bytes += completions[i].byte_len;
			if (posted < count)
				post();
		}
	}
	const std::string found = sha256(target.data(), target.size());
	const bool equal = found == digest && bytes == size;
	std::cout << "server: received " << count << " Sends, " << bytes << " bytes, SHA-256 "
		  << (equal ? "equal" : "DIFFERENT") << std::endl;
	keep("send", target);
	stream_.send_line("sha256 " + found + (equal ? " equal" : " different"));
}

// client: add                    server: region ADDRESS RKEY SIZE
// client: atomic additions of 3, then added N      server: sum VALUE
Outcome End::add()
{
	Outcome result{"add", 8 * additions, additions, 8, 0, {}, true};
	const Region before(device_, 8, IBV_ACCESS_LOCAL_WRITE);
	ibv_wc completion;

	stream_.send_line("add");
	const RemoteRegion counter = RemoteRegion::parse(stream_.expect("region"));
	const auto start = Clock::now();
	for (std::uint64_t i = 0; i < additions; ++i) {
		ibv_sge piece = {before.address(), 8, before.lkey()};
		ibv_send_wr request = {};
		std::uint64_t old;
		request.wr_id = i;
		request.sg_list = &piece;
		request.num_sge = 1;
		request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		request.send_flags = IBV_SEND_SIGNALED;
		request.wr.atomic.remote_addr = counter.address;
		request.wr.atomic.rkey = counter.rkey;
		request.wr.atomic.compare_add = 3;
		pair_.post_send(request);
		send_queue_.wait(&completion, 1, patience_ms);
		std::memcpy(&old, before.data(), sizeof(old));
		result.equal = result.equal && old == 3 * i;
	}
	result.seconds = seconds_since(start);
	stream_.send_line("added " + std::to_string(additions));
	result.digest = stream_.expect("sum");
	result.equal = result.equal && result.digest == std::to_string(3 * additions);
	return result;
}

void End::serve_add()
{
	const Region counter(device_, 8,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC |
				     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	std::uint64_t value;

	stream_.send_line("region " + counter.describe());
	const std::string count = stream_.expect("added");
	std::memcpy(&value, counter.data(), sizeof(value));
	std::cout << "server: " << count << " atomic additions of 3 made " << value << std::endl;
	stream_.send_line("sum " + std::to_string(value));
}

std::vector<Outcome> End::run()
{
	std::vector<Outcome> results;

	for (const std::string &operation : options_.operations) {
		if (operation == "write")
			results.push_back(write_file());
		else if (operation == "read")
			results.push_back(read_file());
		else if (operation == "send")
			results.push_back(send_file());
		else if (operation == "add")
			results.push_back(add());
		else
			throw Failure("there is no operation '" + operation + "'");
	}
	stream_.send_line("bye");
	stream_.expect("bye");
	return results;
}

void End::serve()
{
	for (;;) {
		const std::string line = stream_.receive_line();
		const std::size_t space = std::min(line.find(' '), line.size());
		const std::string word = line.substr(0, space);
		const std::string rest = space < line.size() ? line.substr(space + 1) : "";
		if (word == "bye")
			break;
		if (word == "write")
			serve_write(rest);
		else if (word == "read")
			serve_read();
		else if (word == "send")
			serve_send(rest);
		else if (word == "add")
			serve_add();
		else
			throw Failure("the client asks for '" + line + "'");
	}
	stream_.send_line("bye");
}

} // namespace uboe::demo
