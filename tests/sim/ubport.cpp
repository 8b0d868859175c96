// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ubport.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

extern "C" {
#include "ubp_map.h"
#include "ubp_native.h"
}

namespace ubsim
{

namespace
{

[[noreturn]] void die(const char *what)
{
	std::fprintf(stderr, "port of a UB domain: %s\n", what);
	std::abort();
}

ubp_map defaults()
{
	const ubp_map_knobs knobs = ubp_map_defaults();
	ubp_map map;

	ubp_map_make(&knobs, &map);
	return map;
}

const ubp_map map = defaults();

} // namespace

bytes through_switch(const ubp_dev &dev, const bytes &ip)
{
	bytes frame(UB_NATIVE_LEN + ip.size());
	ubp_native n;

	std::copy(ip.begin(), ip.end(), frame.begin() + UB_NATIVE_LEN);
	ubp_tx_native(&dev, &frame[UB_NATIVE_LEN], static_cast<u32>(ip.size()));
	/* raw datagrams to other ports are UDP, too */
	if (ubp_native_check(frame.data(), static_cast<u32>(frame.size()), &n) != UBP_NATIVE_OK)
		die("a native packet is malformed");
	bytes out(frame.begin() + UB_NATIVE_LEN, frame.end());
	const bool v4 = n.cfg == UB_CFG_IPV4;

	ubp_ip_set_ecn(out.data(), v4, ubp_map_to_ecn(&map, n.cci));
	ubp_ip_hop(out.data(), v4);
	return out;
}

bytes into_domain(const ubp_dev &dev, const bytes &ip)
{
	bytes frame(UB_NATIVE_LEN + ip.size());
	ubp_native n{};

	if (ip.size() < UB_IPV4_LEN)
		return ip; /* cut on the way: too short for anybody */
	const bool v4 = ip[0] >> 4 == 4;

	/* as the IP header says: a link may have padded it */
	n.len = UB_NATIVE_LEN +
		std::min<u32>(ubp_ip_total(ip.data()), UBP_NATIVE_MAX - UB_NATIVE_LEN);
	n.npi = dev.npi & UB_NPI_ID; /* the VLAN is that of its partition */
	n.cci = ubp_map_to_cci(&map, ubp_ip_ecn(ip.data(), v4));
	n.cfg = v4 ? UB_CFG_IPV4 : UB_CFG_IPV6;
	n.rt = map.rt;
	ubp_native_build(frame.data(), &n);
	std::copy(ip.begin(), ip.end(), frame.begin() + UB_NATIVE_LEN);
	return frame;
}

} // namespace ubsim
