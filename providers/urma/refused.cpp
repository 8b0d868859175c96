// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Functions of the API that this library does not offer. Each says so by its
// documented status, or by a null result, with EOPNOTSUPP and a message.
#include "objects.hpp"

using uboe::urma::fail;

#define REFUSED(why) fail(EOPNOTSUPP, __func__, "%s", why)
#define REFUSED_NULL(why) (REFUSED(why), nullptr)

namespace {
constexpr char builder[] = "queues in memory of the caller are not supported";
constexpr char no_async[] = "there is nothing to wait for: use the function without _async";
constexpr char no_advice[] = "channels are set up when they are needed";
constexpr char no_user_tp[] = "transport channels belong to the device";
} // namespace

// The second life cycle: queues that the caller places

#define UBOE_NO_BUILDER(kind, ...)                                                                 \
	urma_status_t urma_alloc_##kind(urma_context_t *, urma_##kind##_cfg_t *,                   \
					urma_##kind##_t **)                                        \
	{                                                                                          \
		return REFUSED(builder);                                                           \
	}                                                                                          \
	urma_status_t urma_set_##kind##_opt(urma_##kind##_t *, uint64_t, void *, uint32_t)         \
	{                                                                                          \
		return REFUSED(builder);                                                           \
	}                                                                                          \
	urma_status_t urma_active_##kind(urma_##kind##_t *)                                        \
	{                                                                                          \
		return REFUSED(builder);                                                           \
	}                                                                                          \
	urma_status_t urma_get_##kind##_opt(urma_##kind##_t *, uint64_t, void *, uint32_t)         \
	{                                                                                          \
		return REFUSED(builder);                                                           \
	}                                                                                          \
	urma_status_t urma_deactive_##kind(urma_##kind##_t *)                                      \
	{                                                                                          \
		return REFUSED(builder);                                                           \
	}                                                                                          \
	urma_status_t urma_free_##kind(urma_##kind##_t *)                                          \
	{                                                                                          \
		return REFUSED(builder);                                                           \
	}

UBOE_NO_BUILDER(jfc)
UBOE_NO_BUILDER(jfs)
UBOE_NO_BUILDER(jfr)
UBOE_NO_BUILDER(jetty)

// Advice, and results by a notifier

urma_status_t urma_advise_jfr(urma_jfs_t *, urma_target_jetty_t *)
{
	return REFUSED(no_advice);
}

urma_status_t urma_advise_jfr_async(urma_jfs_t *, urma_target_jetty_t *, urma_advise_async_cb_func,
				    void *)
{
	return REFUSED(no_advice);
}

urma_status_t urma_unadvise_jfr(urma_jfs_t *, urma_target_jetty_t *)
{
	return REFUSED(no_advice);
}

urma_status_t urma_advise_jetty(urma_jetty_t *, urma_target_jetty_t *)
{
	return REFUSED(no_advice);
}

urma_status_t urma_unadvise_jetty(urma_jetty_t *, urma_target_jetty_t *)
{
	return REFUSED(no_advice);
}

urma_notifier_t *urma_create_notifier(urma_context_t *)
{
	return REFUSED_NULL(no_async);
}

urma_status_t urma_delete_notifier(urma_notifier_t *)
{
	return REFUSED(no_async);
}

urma_target_jetty_t *urma_import_jetty_async(urma_notifier_t *, const urma_rjetty_t *,
					     const urma_token_t *, uint64_t, int)
{
	return REFUSED_NULL(no_async);
}

urma_status_t urma_unimport_jetty_async(urma_target_jetty_t *)
{
	return REFUSED(no_async);
}

urma_status_t urma_bind_jetty_async(urma_notifier_t *, urma_jetty_t *, urma_target_jetty_t *,
				    uint64_t, int)
{
	return REFUSED(no_async);
}

urma_status_t urma_unbind_jetty_async(urma_jetty_t *)
{
	return REFUSED(no_async);
}

int urma_wait_notify(urma_notifier_t *, uint32_t, urma_notify_t *, int)
{
	REFUSED(no_async);
	return -1;
}

urma_status_t urma_ack_notify(urma_context_t *, uint32_t, urma_notify_t *)
{
	return REFUSED(no_async);
}

// Legacy: transport channels of the program's own, bonding, private doors

int urma_get_tpn(urma_jetty_t *)
{
	REFUSED(no_user_tp);
	return -1;
}

int urma_modify_tp(urma_context_t *, uint32_t, urma_tp_cfg_t *, urma_tp_attr_t *,
		   urma_tp_attr_mask_t)
{
	return REFUSED(no_user_tp);
}

urma_net_addr_info_t *urma_get_net_addr_list(urma_context_t *, uint32_t *cnt)
{
	if (cnt)
		*cnt = 0;
	return REFUSED_NULL(no_user_tp);
}

void urma_free_net_addr_list(urma_net_addr_info_t *) {}

urma_status_t urma_set_context_opt(urma_context_t *, urma_opt_name_t, const void *, size_t)
{
	return REFUSED("there are no bonding devices");
}

urma_status_t urma_user_ctl(urma_context_t *, urma_user_ctl_in_t *, urma_user_ctl_out_t *)
{
	return REFUSED("the device has no private operations");
}
