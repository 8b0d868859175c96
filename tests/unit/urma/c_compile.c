// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The headers of URMA are C, as programs include them; compiled as C11 and as C17. */
#include <urma_api.h>
#include <urma_opcode.h>
#include <urma_types.h>
#include <urma_types_str.h>
#include <urma_ubagg.h>

_Static_assert(sizeof(urma_eid_t) == 16, "urma_eid_t");
_Static_assert(sizeof(urma_ref_t) == sizeof(unsigned long), "urma_ref_t");
_Static_assert(sizeof(urma_device_attr_t) == 496, "urma_device_attr_t");
_Static_assert(sizeof(urma_cc_entry_t) == 6, "urma_cc_entry_t");
_Static_assert(sizeof(urma_jfs_opt_t) == 80, "urma_jfs_opt_t");
_Static_assert(sizeof(urma_jetty_cfg_t) == 80, "urma_jetty_cfg_t");
_Static_assert(sizeof(urma_ext_t) == 8, "urma_ext_t");
_Static_assert(sizeof(urma_ubva_t) == 28, "urma_ubva_t");
_Static_assert(sizeof(urma_seg_t) == 48, "urma_seg_t");
_Static_assert(sizeof(urma_jfs_wr_t) == 80, "urma_jfs_wr_t");
_Static_assert(sizeof(urma_cr_t) == 80, "urma_cr_t");
_Static_assert(sizeof(urma_tp_attr_value_t) == 128, "urma_tp_attr_value_t");
_Static_assert(sizeof(urma_bond_jetty_ext_t) == 1488, "urma_bond_jetty_ext_t");
_Static_assert(offsetof(urma_cr_t, remote_id) == 32, "urma_cr_t.remote_id");
_Static_assert(offsetof(urma_tp_attr_value_t, sl_bitmap) == 55, "urma_tp_attr_value_t.sl_bitmap");

/* Members as programs name them */
static inline urma_status_t used(urma_jetty_t *jetty, urma_target_jetty_t *target,
				 urma_target_seg_t *local, urma_target_seg_t *remote)
{
	urma_sge_t src = { .addr = local->seg.ubva.va, .len = 64, .tseg = local };
	urma_sge_t dst = { .addr = remote->seg.ubva.va, .len = 64, .tseg = remote };
	urma_jfs_wr_t *bad;
	urma_jfs_wr_t wr = {
		.opcode = URMA_OPC_WRITE,
		.flag.bs.complete_enable = URMA_COMPLETE_ENABLE,
		.tjetty = target,
		.rw = { .src = { &src, 1 }, .dst = { &dst, 1 } },
	};

	return urma_post_jetty_send_wr(jetty, &wr, &bad);
}

extern urma_status_t (*const urma_c_compile)(urma_jetty_t *, urma_target_jetty_t *,
					     urma_target_seg_t *, urma_target_seg_t *);
urma_status_t (*const urma_c_compile)(urma_jetty_t *, urma_target_jetty_t *, urma_target_seg_t *,
				      urma_target_seg_t *) = used;
