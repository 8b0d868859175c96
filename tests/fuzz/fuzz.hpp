/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the fuzzers share: reading the input, and checks that hold at any time. */
#ifndef UBOE_TESTS_FUZZ_FUZZ_HPP
#define UBOE_TESTS_FUZZ_FUZZ_HPP

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "rig.hpp"

/* Many short lives of a device: what makes each of them expensive is not needed */
extern "C" const char *__asan_default_options()
{
	return "quarantine_size_mb=4:max_malloc_fill_size=0:malloc_context_size=6";
}

namespace fuzz
{

/* A wrong result is a crash, so that libFuzzer keeps the input. */
[[noreturn]] inline void wrong(const char *what)
{
	std::fprintf(stderr, "fuzz: %s\n", what);
	std::abort();
}

inline void must(bool good, const char *what)
{
	if (!good)
		wrong(what);
}

/* The input, read from the front; zeros behind its end */
class input
{
      public:
	input(const std::uint8_t *p, std::size_t n) : p_(p), n_(n) {}

	bool more() const { return n_ > 0; }
	std::uint8_t u8()
	{
		if (!n_)
			return 0;
		n_--;
		return *p_++;
	}
	std::uint16_t u16() { return static_cast<std::uint16_t>(u8() | u8() << 8); }
	std::uint32_t u32() { return u16() | std::uint32_t(u16()) << 16; }
	rig::bytes bytes(std::size_t n)
	{
		n = std::min(n, n_);
		rig::bytes b(p_, p_ + n);
		p_ += n;
		n_ -= n;
		return b;
	}

      private:
	const std::uint8_t *p_;
	std::size_t n_;
};

/* The small device of the fuzzers: making one has to be cheap */
inline ubp_config config()
{
	ubp_config c;

	ubp_config_defaults(&c);
	c.max_jetty = 1024;
	c.max_jfr = 16;
	c.max_jfc = 16;
	c.max_seg = 16;
	c.max_jgrp = 16;
	c.window = 64;
	return c;
}

inline void check(rig::end &e)
{
	must(e.m.canaries_ok(), "bytes around registered memory have changed");
	must(e.h.live_buffers() == 0, "a packet buffer was neither sent nor freed");
	must(e.h.live_packets() <= 64, "more packets are held than the window has");
}

/* Everything goes, and nothing is left behind */
inline void check_gone(rig::end &e)
{
	e.q.reset();
	e.h.reap();
	must(e.h.live_packets() == 0, "a received packet was never freed");
	must(e.h.live_buffers() == 0, "a packet buffer was never freed");
	must(e.h.live_paths() == 0, "a path was never released");
	must(e.m.canaries_ok(), "bytes around registered memory have changed");
}

} /* namespace fuzz */

#endif
