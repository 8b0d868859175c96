// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "crc.hpp"

#include <array>
#include <cstring>
#include <vector>

#include "error.hpp"
#include "row.hpp"

namespace uboe::bench {

namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables()
{
	Tables tables = {};

	for (std::uint32_t i = 0; i < 256; ++i) {
		std::uint32_t crc = i;
		for (int bit = 0; bit < 8; ++bit)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
		tables[0][i] = crc;
	}
	for (std::size_t t = 1; t < 8; ++t)
		for (std::size_t i = 0; i < 256; ++i)
			tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
	return tables;
}

constexpr Tables tables = make_tables();

// Length a multiple of 8.
std::uint32_t crc32(std::uint32_t crc, const std::uint8_t *data, std::size_t length)
{
	for (const std::uint8_t *end = data + length; data != end; data += 8) {
		std::uint32_t a, b;
		std::memcpy(&a, data, 4);
		std::memcpy(&b, data + 4, 4);
		a ^= crc;
		crc = tables[7][a & 0xff] ^ tables[6][a >> 8 & 0xff] ^ tables[5][a >> 16 & 0xff] ^
		      tables[4][a >> 24] ^ tables[3][b & 0xff] ^ tables[2][b >> 8 & 0xff] ^
		      tables[1][b >> 16 & 0xff] ^ tables[0][b >> 24];
	}
	return crc;
}

} // namespace

std::uint64_t crc_rate()
{
	constexpr std::size_t block = 4096;
	constexpr std::uint64_t rounds = 4096;
	const std::vector<std::uint8_t> data(block, 0x5a);
	std::uint32_t crc = ~0u;

	if (~crc32(~0u, reinterpret_cast<const std::uint8_t *>("12345678"), 8) != 0x9ae0daafu)
		throw Failure("the CRC-32 of the benchmark is wrong");
	crc = crc32(crc, data.data(), block);
	const std::uint64_t start = now_ns();
	for (std::uint64_t i = 0; i < rounds; ++i)
		crc = crc32(crc, data.data(), block);
	const std::uint64_t time = now_ns() - start;
	if (crc == 0) // keeps the work from being optimised away
		throw Failure("an unlikely CRC");
	return block * rounds * 1000000000u / time;
}

} // namespace uboe::bench
