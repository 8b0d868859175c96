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

u16 ub_switch::judge(u16 cci, std::size_t len, u64 now)
{
	static constexpr ubp_caqm_knobs knobs{ 1250000000, UBP_CAQM_PERIOD_NS, UBP_CAQM_TARGET,
					       UBP_CAQM_MARK, UBP_CAQM_CUT };

	queue_ = (queue_ * 3 + random_.below(3 * UBP_CAQM_TARGET)) / 4;
	ubp_caqm_pass(&caqm_, &knobs, now, queue_, u32(len));
	ubp_caqm_judge(&caqm_, &knobs, u32(random_.next()), &cci);
	return cci;
}

bytes ub_switch::forward(const ubp_dev &dev, const bytes &ip, u16 cci, u64 now)
{
	bytes frame(UB_NATIVE_LEN + ip.size());
	ubp_native n;

	std::copy(ip.begin(), ip.end(), frame.begin() + UB_NATIVE_LEN);
	ubp_tx_native(&dev, &frame[UB_NATIVE_LEN], static_cast<u32>(ip.size()), cci);
	/* raw datagrams to other ports are UDP, too */
	if (ubp_native_check(frame.data(), static_cast<u32>(frame.size()), &n) != UBP_NATIVE_OK)
		die("a native packet is malformed");
	bytes out(frame.begin() + UB_NATIVE_LEN, frame.end());
	const bool v4 = n.cfg == UB_CFG_IPV4;

	ubp_ip_hop(out.data(), v4);
	if (ubp_caqm_is(n.cci)) {
		if (busy_)
			cci = judge(cci, out.size(), now);
		out.push_back(u8(cci >> 8));
		out.push_back(u8(cci));
	} else {
		ubp_ip_set_ecn(out.data(), v4, ubp_map_to_ecn(&map, n.cci));
	}
	return out;
}

std::uint8_t *cci_behind(bytes &ip)
{
	std::uint8_t *at = &ip[ip.size() - 2];

	return ubp_ip_total(ip.data()) + 2 == ip.size() && ubp_caqm_is(get_unaligned_be16(at)) ?
		       at :
		       nullptr;
}

bytes into_domain(const ubp_dev &dev, bytes ip)
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
	if (const std::uint8_t *at = cci_behind(ip))
		n.cci = get_unaligned_be16(at);
	n.cfg = v4 ? UB_CFG_IPV4 : UB_CFG_IPV6;
	n.rt = map.rt;
	ubp_native_build(frame.data(), &n);
	std::copy(ip.begin(), ip.end(), frame.begin() + UB_NATIVE_LEN);
	return frame;
}

} // namespace ubsim
