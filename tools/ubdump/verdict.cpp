// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What a receiver does with a packet: the core's functions in the order in which a device
// calls them (ubp_rx()). What needs a channel or a target is not asked.
#include "walk.hpp"

extern "C" {
#include "ubp_encap.h"
#include "ubp_icrc.h"
#include "ubp_part.h"
#include "ubp_obj.h"
#include "ubp_pkt.h"
}

namespace ubdump
{

namespace
{

const char *const taken = "taken";
const char *const answered = "answered";

/// Partition 0, or EIDs that are not the addresses'? The receiver is of the packet's partition.
u32 identity_check(const ubp_encap &e, const ubp_tph &t, const u8 *ident)
{
	static ubp_dev dev;

	dev.npi = t.nlp == UB_NLP_IDENT ? get_unaligned_be32(ident) & UB_NPI_ID : UB_NPI_DEFAULT;
	return ubp_part_check(&dev, &e, &t, ident);
}

} // namespace

std::string Walk::judge(Bytes ip) const
{
	ubp_config cfg;
	ubp_encap e{};
	ubp_tph t;

	ubp_config_defaults(&cfg);
	cfg.udp_port = settings_.port;
	u32 err = ubp_encap_check(&cfg, ip.data(), static_cast<u32>(ip.size()), &e);

	if (err)
		return ubp_stat_name(err);
	if (!ubp_encap_csum_ok(ip.data(), &e))
		return ubp_stat_name(UBP_D_UDP_CSUM);
	const u32 covered = e.total - UB_ICRC_LEN;

	if (ubp_icrc_load(&ip[covered], settings_.icrc_be) != ubp_icrc(ip.data(), covered))
		return ubp_stat_name(UBP_D_ICRC);
	ubp_tph_parse(&ip[e.hlen], &t);
	err = ubp_tph_check(&t, &ip[e.hlen], covered - e.hlen);
	if (!err && ubp_tph_is_data(&t))
		err = identity_check(e, t, &ip[e.hlen + UB_TPH_LEN]);
	if (err)
		return ubp_stat_name(err);
	if (!ubp_tph_is_data(&t) || (t.op == UB_TP_RTP_DATA && t.fake))
		return taken;
	return judge_data(ip, e.hlen + t.hlen, covered - e.hlen - t.hlen - t.pad,
			  t.op == UB_TP_UTP_DATA);
}

std::string Walk::judge_data(Bytes ip, std::size_t from, std::size_t size, bool utp) const
{
	ubp_ta ta;
	const ubp_ta_err err = ubp_ta_parse(ip.data() + from, static_cast<u32>(size), &ta);

	if (err && (utp || ubp_ta_is_response(ta.op)))
		return ubp_stat_name(UBP_D_TA_HEADER);
	if (err)
		return answered;
	if (utp && ta.op != UB_TA_SEND && ta.op != UB_TA_SEND_IMM)
		return ubp_stat_name(UBP_D_TA_OPCODE);
	if (packet_.reason == "tpcm")
		return ubp_stat_name(UBP_D_TPCM);
	return packet_.reason == "atomic" ? answered : taken;
}

/// @p ip_at: where the IP packet begins; it may be followed by padding of the link.
void Walk::settle(std::size_t ip_at)
{
	if (packet_.native && packet_.reason.starts_with("native_"))
		return; // a device never sees it
	if (packet_.reason == "ip_csum") {
		packet_.verdict = "ip_stack"; // drops it before the device sees it
		return;
	}
	packet_.verdict = judge(packet_.frame.subspan(ip_at));
	// what no rule of the packet alone says
	if (packet_.verdict == ubp_stat_name(UBP_D_TP_NLP))
		fail("tp_nlp");
	else if (packet_.verdict == ubp_stat_name(UBP_D_PARTITION))
		fail("partition");
}

} // namespace ubdump
