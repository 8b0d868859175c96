// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// uboe-demo: moves a file between two machines by Write, Read and Send of an RDMA
// device, and says whether the bytes that arrived are those that left.
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>

#include <getopt.h>

#include "error.hpp"
#include "transfer.hpp"

namespace {

using uboe::demo::Options;
using uboe::demo::Outcome;

constexpr int wait_for_peer_s = 120;

const char usage[] =
	"usage: uboe-demo -d DEVICE [-a ADDRESS] [-p PORT] [-k DIR] FILE           server\n"
	"       uboe-demo -d DEVICE [-a ADDRESS] [-p PORT] [-o LIST] FILE -c HOST  client\n"
	"  -d DEVICE   RDMA device, such as uboe0\n"
	"  -a ADDRESS  own IP address on it (default: that of the TCP connection)\n"
	"  -p PORT     TCP port where the two agree (default 4700)\n"
	"  -c HOST     server to connect to\n"
	"  -o LIST     of write,read,send,add (default: all four)\n"
	"  -b BYTES    of one Write or Read (default 262144)\n"
	"  -s BYTES    of one Send (default 16384)\n"
	"  -k DIR      keep the files that the server receives\n"
	"FILE is what the client writes and sends, and what the server lets it read.\n";

std::size_t number(const char *text)
{
	char *end;
	const unsigned long long value = std::strtoull(text, &end, 0);

	if (*end || end == text || value == 0 || value > (1u << 30))
		throw uboe::Failure(std::string("'") + text + "' is no sensible number");
	return value;
}

bool parse(int argc, char **argv, Options &options)
{
	int letter;

	while ((letter = getopt(argc, argv, "d:a:p:c:o:b:s:k:h")) != -1) {
		switch (letter) {
		case 'd':
			options.device = optarg;
			break;
		case 'a':
			options.address = optarg;
			break;
		case 'p':
			options.port = static_cast<std::uint16_t>(number(optarg));
			break;
		case 'c':
			options.host = optarg;
			break;
		case 'b':
			options.chunk = number(optarg);
			break;
		case 's':
			options.send_chunk = number(optarg);
			break;
		case 'k':
			options.keep = optarg;
			break;
		case 'o': {
			std::istringstream list(optarg);
			options.operations.clear();
			for (std::string word; std::getline(list, word, ',');)
				options.operations.push_back(word);
			break;
		}
		default:
			return false;
		}
	}
	if (optind + 1 != argc || options.device.empty())
		return false;
	options.file = argv[optind];
	return true;
}

void print_table(const std::vector<Outcome> &results)
{
	std::cout << "\n  operation       bytes  messages    of bytes   seconds     MiB/s  "
		     "arrived\n"
		  << std::fixed;
	for (const Outcome &r : results) {
		const bool file = r.operation != "add";
		std::cout << "  " << std::left << std::setw(9) << r.operation << std::right
			  << std::setw(12) << r.bytes << std::setw(10) << r.messages
			  << std::setw(12) << r.chunk << std::setw(10) << std::setprecision(3)
			  << r.seconds << std::setw(10) << std::setprecision(2)
			  << static_cast<double>(r.bytes) / r.seconds / (1 << 20) << "  "
			  << (file ? "sha256 " + r.digest.substr(0, 12) + "… " :
				     "sum " + r.digest + " ")
			  << (r.equal ? "equal" : "DIFFERENT") << '\n';
	}
	std::cout << '\n';
	// For programs.
	for (const Outcome &r : results)
		std::cout << "result " << r.operation << ' ' << r.bytes << ' '
			  << (r.equal ? "equal" : "different") << ' ' << r.digest << '\n';
	std::cout << std::flush;
}

int run(const Options &options)
{
	using uboe::Stream;
	const bool server = options.host.empty();
	uboe::demo::End end(options, server ? Stream::accept_one(options.port, wait_for_peer_s) :
					      Stream::connect_to(options.host, options.port,
								 options.address, wait_for_peer_s));

	std::cout << (server ? "server: " : "client: ") << options.device
		  << " connected, packets carry up to " << end.device().mtu_bytes() << " bytes"
		  << std::endl;
	if (server) {
		end.serve();
		return 0;
	}
	const std::vector<Outcome> results = end.run();
	print_table(results);
	for (const Outcome &r : results)
		if (!r.equal)
			return 1;
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;

	try {
		if (!parse(argc, argv, options)) {
			std::cerr << usage;
			return 2;
		}
		return run(options);
	} catch (const std::exception &error) {
		std::cerr << "uboe-demo: " << error.what() << std::endl;
		return 1;
	}
}
