// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Creates many queue pairs in one process and says what each costs.
//
//   many-qps DEV ADDRESS COUNT
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "error.hpp"
#include "verbs.hpp"

using namespace uboe;

namespace
{

long kilobytes_available()
{
	std::ifstream info("/proc/meminfo");
	std::string key, unit;
	long value = 0;

	while (info >> key >> value >> unit)
		if (key == "MemAvailable:")
			return value;
	return 0;
}

long mappings()
{
	std::ifstream maps("/proc/self/maps");
	long lines = 0;

	for (std::string line; std::getline(maps, line);)
		++lines;
	return lines;
}

} // namespace

int main(int argc, char **argv)
try {
	if (argc != 4) {
		std::cerr << "usage: many-qps DEV ADDRESS COUNT\n";
		return 2;
	}
	Device device(argv[1], argv[2]);
	CompletionQueue completions(device, 64);
	const long count = std::atol(argv[3]);
	const long memory = kilobytes_available(), maps = mappings();
	std::vector<ibv_qp *> queues;

	for (long i = 0; i < count; ++i) {
		ibv_qp_init_attr wish = {};

		wish.send_cq = wish.recv_cq = completions.get();
		wish.qp_type = IBV_QPT_RC;
		wish.cap = { 4, 4, 1, 1, 0 };
		ibv_qp *queue = ibv_create_qp(device.pd(), &wish);

		if (!queue)
			fail_errno("ibv_create_qp number " + std::to_string(i));
		queues.push_back(queue);
	}
	std::cout << "many-qps: " << count << " queue pairs, "
		  << (memory - kilobytes_available()) * 1024 / count << " bytes each, "
		  << mappings() - maps << " mappings more\n";
	for (ibv_qp *queue : queues)
		require_zero(ibv_destroy_qp(queue), "ibv_destroy_qp");
	return 0;
} catch (const std::exception &error) {
	std::cerr << "many-qps: " << error.what() << '\n';
	return 1;
}
