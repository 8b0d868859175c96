// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Transport channels as far as the API shows them, and address services. On UBoE
// an EID is an IP address, and the device makes a channel for each binding: a
// "TP handle" only says between whom it is.
#include <cstring>

#include <sys/socket.h>

#include "sender.hpp"

using namespace uboe::urma;

namespace {

Context *context_of(const urma_context_t *ctx)
{
	return Handles<Context>::check(ctx);
}

/// A handle that stays the same for a pair of addresses and is never 0.
uint64_t handle_of(const urma_eid_t &local, const urma_eid_t &peer)
{
	uint64_t h = 1469598103934665603ull; // FNV-1a

	for (uint8_t b : local.raw)
		h = (h ^ b) * 1099511628211ull;
	for (uint8_t b : peer.raw)
		h = (h ^ b) * 1099511628211ull;
	return h | 1;
}

} // namespace

urma_status_t urma_get_tp_list(urma_context_t *ctx, urma_get_tp_cfg_t *cfg, uint32_t *tp_cnt,
			       urma_tp_info_t *tp_list)
{
	if (!context_of(ctx) || !cfg || !tp_cnt || !*tp_cnt || !tp_list)
		return URMA_FAILED(URMA_EINVAL, "ctx, cfg, tp_cnt or tp_list");
	if (cfg->flag.bs.ctp)
		return URMA_FAILED(EOPNOTSUPP, "flag.ctp: UBoE carries RTP and UTP");
	if (!check_mode(cfg->trans_mode))
		return errno;
	tp_list[0].tp_handle = handle_of(cfg->local_eid, cfg->peer_eid);
	*tp_cnt = 1;
	return URMA_SUCCESS;
}

urma_status_t urma_set_tp_attr(const urma_context_t *ctx, const uint64_t, const uint8_t,
			       const uint32_t, const urma_tp_attr_value_t *tp_attr)
{
	if (!context_of(ctx) || !tp_attr)
		return URMA_FAILED(URMA_EINVAL, "ctx or tp_attr");
	return URMA_FAILED(EOPNOTSUPP, "attributes of channels cannot be changed so far");
}

urma_status_t urma_get_tp_attr(const urma_context_t *ctx, const uint64_t, uint8_t *tp_attr_cnt,
			       uint32_t *tp_attr_bitmap, urma_tp_attr_value_t *tp_attr)
{
	if (!context_of(ctx) || !tp_attr_cnt || !tp_attr_bitmap || !tp_attr)
		return URMA_FAILED(URMA_EINVAL, "ctx, tp_attr_cnt, tp_attr_bitmap or tp_attr");
	return URMA_FAILED(EOPNOTSUPP, "attributes of channels cannot be read so far");
}

urma_target_jetty_t *urma_import_jetty_ex(urma_context_t *ctx, urma_rjetty_t *rjetty,
					  urma_token_t *token_value, urma_import_jetty_ex_cfg_t *)
{
	return urma_import_jetty(ctx, rjetty, token_value);
}

urma_target_jetty_t *urma_import_jfr_ex(urma_context_t *ctx, urma_rjfr_t *rjfr,
					urma_token_t *token_value, urma_import_jfr_ex_cfg_t *)
{
	return urma_import_jfr(ctx, rjfr, token_value);
}

urma_status_t urma_bind_jetty_ex(urma_jetty_t *jetty, urma_target_jetty_t *tjetty,
				 urma_bind_jetty_ex_cfg_t *)
{
	return urma_bind_jetty(jetty, tjetty);
}

urma_status_t urma_get_eid_by_ip(const urma_context_t *ctx, const urma_net_addr_t *net_addr,
				 urma_eid_t *eid)
{
	if (!context_of(ctx) || !net_addr || !eid)
		return URMA_FAILED(URMA_EINVAL, "ctx, net_addr or eid");
	if (net_addr->sin_family == AF_INET)
		*eid = to_eid(Address::v4(net_addr->in4));
	else if (net_addr->sin_family == AF_INET6)
		*eid = to_eid(Address::v6(net_addr->in6));
	else
		return URMA_FAILED(URMA_EINVAL, "net_addr.sin_family %d", net_addr->sin_family);
	return URMA_SUCCESS;
}

urma_status_t urma_get_ip_by_eid(const urma_context_t *ctx, const urma_eid_t *eid,
				 urma_net_addr_t *net_addr)
{
	if (!context_of(ctx) || !net_addr || !eid)
		return URMA_FAILED(URMA_EINVAL, "ctx, net_addr or eid");
	*net_addr = {};
	if (to_address(*eid).is_v4()) {
		net_addr->sin_family = AF_INET;
		std::memcpy(&net_addr->in4, eid->raw + 12, sizeof(net_addr->in4));
	} else {
		net_addr->sin_family = AF_INET6;
		std::memcpy(&net_addr->in6, eid->raw, sizeof(net_addr->in6));
	}
	return URMA_SUCCESS;
}

urma_status_t urma_get_smac(const urma_context_t *ctx, uint8_t *mac)
{
	if (!context_of(ctx) || !mac)
		return URMA_FAILED(URMA_EINVAL, "ctx or mac");
	return URMA_FAILED(EOPNOTSUPP, "the host's stack finds MAC addresses by itself");
}

urma_status_t urma_get_dmac(const urma_context_t *ctx, const urma_net_addr_t *net_addr,
			    uint8_t *mac)
{
	if (!context_of(ctx) || !net_addr || !mac)
		return URMA_FAILED(URMA_EINVAL, "ctx, net_addr or mac");
	return URMA_FAILED(EOPNOTSUPP, "the host's stack finds MAC addresses by itself");
}
