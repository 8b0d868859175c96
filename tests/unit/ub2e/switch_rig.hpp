// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A switch for tests: ports with addresses that tell them apart, and one frame at a time.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "frames.hpp"

namespace frames
{

using namespace uboe::ub2e;

inline Mac port_mac(unsigned port)
{
	return { 0x02, 0, 0, 0, 1, static_cast<std::uint8_t>(port) };
}

struct Rig {
	Counters counters;
	std::shared_ptr<const Tables> tables;
	std::unique_ptr<Engine> engine;
	bytes out; // the frame that left

	explicit Rig(const std::string &config, std::uint32_t mtu = 1500) { load(config, mtu); }

	void load(const std::string &text, std::uint32_t mtu = 1500)
	{
		const Config c = Config::parse(text, "test");
		std::vector<Interface> interfaces;

		for (unsigned i = 0; i < c.ports.size(); ++i)
			interfaces.push_back({ 100 + i, mtu, port_mac(i) });
		tables = std::make_shared<const Tables>(c, interfaces);
		if (engine)
			engine->set_tables(tables);
		else
			engine = std::make_unique<Engine>(tables, counters, 7);
	}

	/// The port by which @p frame leaves, in @ref out; Engine::none when it does not.
	unsigned forward(unsigned port, const bytes &frame, std::uint64_t now = 1)
	{
		bytes memory(Frame::room + frame.size());

		std::copy(frame.begin(), frame.end(), memory.begin() + Frame::room);
		Frame f{ memory.data() + Frame::room, memory.data() + memory.size() };
		const unsigned to = engine->forward(port, f, now);
		out.assign(f.begin, f.end);
		return to;
	}

	/// Why @p frame did not get through.
	std::string refused(unsigned port, const bytes &frame)
	{
		std::uint64_t before[UB2E_FATES];

		for (unsigned i = 0; i < UB2E_FATES; ++i)
			before[i] = counters.get(port, i);
		if (forward(port, frame) != Engine::none)
			return "forwarded";
		for (unsigned i = 0; i < UB2E_FATES; ++i)
			if (counters.get(port, i) != before[i])
				return fate_name(i);
		return "nothing counted";
	}
};

/// IP packet as it arrives one hop later: TTL, checksums, and @p ecn.
inline bytes hop(Packet p, u8 ecn)
{
	p.ttl--;
	p.ecn = ecn;
	return ip(p); // the ICRC masks what has changed
}

inline bytes ip_of(const bytes &frame, std::size_t l3)
{
	return { frame.begin() + static_cast<long>(l3), frame.end() };
}

} // namespace frames
