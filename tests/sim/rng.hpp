/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The one source of chance in the simulator: the same seed gives the same run. */
#ifndef UBSIM_RNG_HPP
#define UBSIM_RNG_HPP

#include <cstdint>

namespace ubsim
{

/* splitmix64: small, fast, and any seed will do */
class rng
{
      public:
	explicit rng(std::uint64_t seed) : s_(seed) {}

	std::uint64_t next()
	{
		std::uint64_t z = s_ += 0x9e3779b97f4a7c15;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
		z = (z ^ z >> 27) * 0x94d049bb133111eb;
		return z ^ z >> 31;
	}

	/* 0 .. n - 1; n > 0 */
	std::uint64_t below(std::uint64_t n)
	{
		return std::uint64_t((unsigned __int128)next() * n >> 64);
	}
	std::uint64_t range(std::uint64_t lo, std::uint64_t hi) { return lo + below(hi - lo + 1); }
	bool chance(double p) { return p > 0 && double(next() >> 11) * 0x1p-53 < p; }
	/* Small values are as likely as large ones: uniform in the logarithm */
	std::uint64_t scaled(std::uint64_t lo, std::uint64_t hi)
	{
		std::uint64_t top = hi / (lo ? lo : 1);
		unsigned bits = 0;

		while (top >> bits > 1)
			bits++;
		std::uint64_t v = (lo ? lo : 1) << below(bits + 1);

		v += below(v);
		return v > hi ? hi : v < lo ? lo : v;
	}

      private:
	std::uint64_t s_;
};

} /* namespace ubsim */

#endif /* UBSIM_RNG_HPP */
