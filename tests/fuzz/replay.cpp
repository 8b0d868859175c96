// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Runs a fuzzer over files, without libFuzzer: for coverage and debuggers. */
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

int main(int argc, char **argv)
{
	unsigned n = 0;

	auto run = [&n](const std::filesystem::path &p) {
		std::ifstream f(p, std::ios::binary);
		std::vector<char> b{ std::istreambuf_iterator<char>(f), {} };

		LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(b.data()), b.size());
		n++;
	};

	for (int i = 1; i < argc; i++) {
		if (!std::filesystem::is_directory(argv[i])) {
			run(argv[i]);
			continue;
		}
		for (const auto &e : std::filesystem::directory_iterator(argv[i]))
			run(e.path());
	}
	std::printf("%u inputs\n", n);
	return n ? 0 : 1;
}
