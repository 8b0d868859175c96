// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "engine.hpp"

#include <algorithm>

extern "C" {
#include "forward.h"
}

// The lookups of forward.h
static inline uboe::ub2e::Engine &engine(void *sw)
{
	return *static_cast<uboe::ub2e::Engine *>(sw);
}

static inline const struct ub2e_port *ub2e_find_port(void *sw, u32 port)
{
	return engine(sw).tables().port(port);
}

static inline const struct ub2e_partition *ub2e_find_vlan(void *sw, u32 vlan)
{
	return engine(sw).tables().by_vlan(vlan);
}

static inline const struct ub2e_partition *ub2e_find_id(void *sw, u32 id)
{
	return engine(sw).tables().by_id(id);
}

static inline const struct ub2e_route *ub2e_find_route(void *sw, const u8 daddr[16])
{
	uboe::ub2e::Key key;

	std::copy_n(daddr, key.size(), key.begin());
	return engine(sw).tables().route(key);
}

static inline u32 ub2e_next_turn(void *sw)
{
	return engine(sw).turn();
}

static inline u32 ub2e_mark_of(void *sw, u32 port, const struct ub2e_port *to, u32 len, u16 *cci)
{
	return engine(sw).queue_mark(port, *to, len, *cci);
}

namespace uboe::ub2e
{

namespace
{

constexpr const char *names[UB2E_FATES] = {
	[UB2E_FORWARDED] = "forwarded",
	[UB2E_OTHER] = "other",
	[UB2E_RX_BYTES] = "rx_bytes",
	[UB2E_TX] = "tx",
	[UB2E_TX_BYTES] = "tx_bytes",
	[UB2E_MARKED_LIGHT] = "marked_light",
	[UB2E_MARKED_SEVERE] = "marked_severe",
	[UB2E_CAQM_GRANTED] = "caqm_granted",
	[UB2E_CAQM_REFUSED] = "caqm_refused",
	[UB2E_CAQM_MARKED] = "caqm_marked",
	[UB2E_CCI_LOST] = "cci_lost",
	[UB2E_DROP_SHORT] = "drop_short",
	[UB2E_DROP_CFG] = "drop_cfg",
	[UB2E_DROP_LENGTH] = "drop_length",
	[UB2E_DROP_IP_HEADER] = "drop_ip_header",
	[UB2E_DROP_IP_CHECKSUM] = "drop_ip_checksum",
	[UB2E_DROP_UDP_PORT] = "drop_udp_port",
	[UB2E_DROP_CCI_MODE] = "drop_cci_mode",
	[UB2E_DROP_TAG] = "drop_tag",
	[UB2E_DROP_UNTAGGED] = "drop_untagged",
	[UB2E_DROP_PARTITION] = "drop_partition",
	[UB2E_DROP_MEMBER] = "drop_member",
	[UB2E_DROP_NO_ROUTE] = "drop_no_route",
	[UB2E_DROP_BACK] = "drop_back",
	[UB2E_DROP_TTL] = "drop_ttl",
	[UB2E_DROP_MTU] = "drop_mtu",
	[UB2E_DROP_QUEUE] = "drop_queue",
	[UB2E_DROP_UNCUT] = "drop_uncut",
	[UB2E_DROP_ROOM] = "drop_room",
};

} // namespace

const char *fate_name(unsigned fate)
{
	return fate < UB2E_FATES ? names[fate] : "?";
}

std::uint32_t Engine::queue_mark(std::uint32_t port, const ub2e_port &to, std::uint32_t len,
				 std::uint16_t &cci)
{
	// 31 bits of the generator: the lowest one of the 32 does not matter
	return ub2e_level_mark(&levels_[port % UB2E_MAX_PORTS], &to.queue, now_, len,
			       static_cast<u32>(random_() << 1), &cci);
}

bool Engine::is_ub(unsigned port, const Frame &f) const
{
	ub2e_in in{};

	return ub2e_read(tables_->port(port), f.begin, f.end, static_cast<u32>(f.end - f.begin),
			 &in) != UB2E_OTHER;
}

unsigned Engine::forward(unsigned from, Frame &f, std::uint64_t now)
{
	const auto *port = tables_->port(from);
	ub2e_in in{};
	ub2e_out out{};

	now_ = now;
	u32 fate = ub2e_read(port, f.begin, f.end, static_cast<u32>(f.end - f.begin), &in);
	if (!fate && !(fate = ub2e_decide(this, &tables_->settings(), from, port, &in, &out))) {
		f.begin += in.l3 - out.l3;
		f.end = f.begin + out.l3 + in.len; // without what a link had padded
		ub2e_write(f.begin, f.end, &tables_->settings(), tables_->port(out.port), &in,
			   &out);
		fate = UB2E_FORWARDED;
	} else if (fate == UB2E_OTHER) {
		counters_.add(from, fate);
		return none;
	}
	counters_.add(from, fate);
	if (fate != UB2E_FORWARDED)
		return none;
	counters_.add(from, UB2E_RX_BYTES, in.l3 + in.len);
	if (out.cci_lost)
		counters_.add(from, UB2E_CCI_LOST);
	if (out.mark)
		counters_.add(out.port, out.mark);
	return out.port;
}

} // namespace uboe::ub2e
