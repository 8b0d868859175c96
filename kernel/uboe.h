/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the parts of uboe.ko know of each other. verbs/ is the ib_device front
 * and speaks to the device only by mailbox contexts (ub/uboe_mbox.h), rings and
 * ubp_kick(); soft/ hosts the protocol core on a netdev.
 */
#ifndef UBOE_H
#define UBOE_H

#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/uboe-abi.h>
#include <ub/uboe_mbox.h>
#include "ubp.h"

struct uboe_soft;

/* A peer that asks for a channel which is not there */
struct uboe_wanted {
	u8 laddr[16];
	u8 raddr[16];
};

#define UBOE_MAX_WANTED 32 /* who finds no room repeats */

/**
 * struct uboe_shares - channels that RM jetties share, one for each pair of addresses
 * @lock: guards @open, @channels, @unheld and @reclaimed; outside uboe_dev.ctl_lock
 * @open: channels may be made
 * @channels: number -> struct uboe_share
 * @unheld: those that no context has asked for
 * @reclaimed: when room was last made for peers, jiffies
 * @wanted_lock: guards @nwanted and @wanted; softirq
 * @work: makes the channels of @wanted
 */
struct uboe_shares {
	struct mutex lock; /* see above */
	bool open;
	struct xarray channels;
	u32 next;
	u32 unheld;
	unsigned long reclaimed;
	spinlock_t wanted_lock; /* see above */
	u32 nwanted;
	struct uboe_wanted wanted[UBOE_MAX_WANTED];
	struct work_struct work;
};

/**
 * struct uboe_dev - one UBoE device
 * @ib: the verbs front; first member
 * @core: the device itself
 * @ndev: its netdev, held with a tracker; stable until soft_stop
 * @soft: transport host
 * @arenas: global arena handle -> struct uboe_arena, for bus addresses
 * @qps, @cqs, @srqs: number -> struct uboe_ref, for events; allocate the numbers
 * @mrs: TokenID -> struct uboe_mr
 * @groups: numbers of jetty groups
 * @pds: numbers of protection domains
 * @next_qp, @next_cq, @next_srq, @next_mr, @next_group: where the search for a number
 *	goes on; guarded by the lock of the xarray
 * @share: channels that RM jetties share, verbs/share.c
 */
struct uboe_dev {
	struct ib_device ib;
	struct ubp_dev core;
	struct net_device *ndev;
	netdevice_tracker ndev_tracker;
	struct uboe_soft *soft;
	struct xarray arenas;
	struct xarray qps;
	struct xarray cqs;
	struct xarray srqs;
	struct xarray mrs;
	struct xarray groups;
	struct ida pds;
	u32 next_qp;
	u32 next_cq;
	u32 next_srq;
	u32 next_mr;
	u32 next_group;
	struct uboe_shares share;
	struct mutex ctl_lock; /* serialises mailbox commands */
};

static inline struct uboe_dev *to_uboe(struct ib_device *ib)
{
	return container_of(ib, struct uboe_dev, ib);
}

/* main.c / verbs: device life */
int uboe_dev_add(struct net_device *ndev, const char *name, struct netlink_ext_ack *extack);
void uboe_dev_event(struct uboe_dev *ud, enum ib_event_type type); /* port events */

/* soft/: hosts the core. Called by verbs/dev.c */
extern const struct ubp_ops uboe_soft_ops;
int uboe_soft_init(void); /* module: sockets, notifiers */
void uboe_soft_exit(void); /* all devices are gone */

/*
 * A device's life in soft/:
 *	fill ud->core.cfg (ubp_config_defaults() and limits), init the xarrays
 *	uboe_soft_start()	holds @ndev and sets ud->ndev, ud->soft and
 *				ud->core.{ops,stats,home,cfg.udp_port}; runs ubp_dev_init()
 *				itself. Packets may arrive from here on.
 *	ib_register_device()
 *	uboe_soft_ready()	from enable_driver, in its last step: debugfs, first port
 *				state, and the netdev events missed meanwhile. -ENODEV:
 *				the netdev is going, or went to another namespace.
 *	uboe_soft_stop()	from dealloc_driver or an error path, all objects gone:
 *				no packet, timer or engine turn after it. Runs
 *				ubp_dev_exit(), drops ud->ndev. A no-op when ud->soft
 *				is NULL.
 */
int uboe_soft_start(struct uboe_dev *ud, struct net_device *ndev, struct netlink_ext_ack *extack);
int uboe_soft_ready(struct uboe_dev *ud);
void uboe_soft_stop(struct uboe_dev *ud);

u32 uboe_soft_mtu(const struct uboe_dev *ud); /* UB MTU the netdev can carry, 0 when too small */
bool uboe_soft_port_up(const struct uboe_dev *ud); /* running and carrier */
u64 uboe_soft_stat(struct uboe_dev *ud, u32 stat); /* sum over CPUs */

/*
 * Is the port one of a UB domain, and let it be one (docs/decisions/0038). Process context,
 * with ud->ctl_lock held where it changes. -EOPNOTSUPP: no Ethernet
 */
bool uboe_soft_native(const struct uboe_dev *ud);
int uboe_soft_set_native(struct uboe_dev *ud, bool on);

/* The same for the way between two addresses; 0: there is none. Process context */
u32 uboe_soft_mtu_to(struct uboe_dev *ud, const u8 *laddr, const u8 *raddr);

/* verbs/: what the core's ops need from the front */
void *uboe_bus_map(struct ubp_dev *dev, u64 bus, u64 len); /* verbs/mmap.c */
int uboe_seg_map(struct ubp_dev *dev, struct ubp_seg *seg, u64 pbl); /* verbs/mr.c */
void uboe_seg_unmap(struct ubp_dev *dev, struct ubp_seg *seg);
void uboe_jfc_event(struct ubp_jfc *jfc); /* verbs/cq.c */
void uboe_jfc_timer(struct ubp_dev *dev, u32 id, u64 when);
void uboe_jetty_timer(struct ubp_jetty *jetty, u64 when); /* verbs/qp.c */
void uboe_share_wanted(struct ubp_dev *dev, const u8 *laddr, const u8 *raddr); /* verbs/share.c */
void uboe_event(struct ubp_dev *dev, u32 type, u32 sub, u32 num); /* verbs/event.c */

#endif /* UBOE_H */
