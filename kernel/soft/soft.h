/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The home of the protocol core on a netdev: private to kernel/soft.
 *
 * Locks (docs/locking.md). Control path, none inside another: uboe_soft_mutex,
 * uboe_sock_mutex, uboe_impair.mutex. Data path, below the core's jetty lock,
 * none inside another: uboe_chan.lock, uboe_soft.wait_lock and chan_lock,
 * uboe_impair.lock, uboe_route.lock; a packet that finds room and a fresh route
 * takes none of them.
 */
#ifndef UBOE_SOFT_H
#define UBOE_SOFT_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/jump_label.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/dst.h>
#include "uboe.h"

/* Packets that this layer itself loses */
enum uboe_soft_drop {
	UBOE_SD_NO_ROUTE, /* transmit: no route, or none that leaves by our netdev */
	UBOE_SD_NO_MEMORY, /* transmit: put off; receive: not linear and no room */
	UBOE_SD_GSO, /* receive: an aggregate that the stack did not split */
	UBOE_SD_FOREIGN, /* native packet to an address that is not the netdev's */
	UBOE_SD_MAX,
};

/**
 * struct uboe_soft_cpu - per-CPU part of a device
 * @out: packets given to the stack less packets back, not yet in uboe_soft.out
 * @cursor: jetty number after the one that @engine served last
 * @put_off: a message without a channel found no room; the engine is asked for next
 * @engine: serves uboe_soft.kick
 */
struct uboe_soft_cpu {
	int out;
	u32 cursor;
	bool put_off;
	struct tasklet_struct engine;
	struct uboe_soft *sf;
	u64 drops[UBOE_SD_MAX];
};

/**
 * struct uboe_soft - one device's transport host
 * @ud: the device; not to be used after uboe_soft_stop()
 * @ndev: its netdev
 * @cpu: per-CPU parts
 * @headroom: link layer headers before the IP header
 * @tailroom: what @ndev wants behind it
 * @out_limit: packets in the local stack beyond which tx_alloc says no
 * @out_low: fewer than this and waiters go on
 * @out_batch: a CPU moves its part into @out when it has reached this
 * @kick: one bit per jetty whose engine is to run
 * @kick_sum: one bit per word of @kick that may have a bit set
 * @kick_words: words of @kick
 * @again: runs the engine after a while, for whom nobody wakes
 * @impair: impairment, never NULL
 * @socks: sockets of the namespace that the netdev was in
 * @hash: in uboe_soft_hash; written under uboe_soft_mutex, read under RCU
 * @native: a port of a UB domain; written under uboe_soft_mutex
 * @native_type: takes frames of the lab link while @native is set
 * @ready: registered with ib_core; under RTNL
 * @gone: the netdev was unregistered; under RTNL
 * @port_up: last state reported; under RTNL
 * @dir: debugfs folder
 * @drain: in uboe_soft_draining once stopped, under uboe_soft_mutex
 * @out: packets in the local stack, exact to @out_batch per CPU
 * @wait_lock: guards @waiters and uboe_chan.wait
 * @waiters: channels that found no room
 * @resume: serves @waiters
 * @retry: starts @resume after a failed allocation
 * @chan_lock: guards @chans
 * @chans: all attached channels
 */
struct uboe_soft {
	struct uboe_dev *ud;
	struct net_device *ndev;
	struct net *net; /* where @socks are; only compared, the sockets hold it */
	struct uboe_soft_cpu __percpu *cpu;
	unsigned int headroom;
	unsigned int tailroom;
	int out_limit;
	int out_low;
	int out_batch;
	bool native; /* here: every packet asks */
	unsigned long *kick;
	unsigned long *kick_sum;
	u32 kick_words;
	struct hrtimer again;
	struct uboe_impair *impair;
	struct uboe_socks *socks;
	struct hlist_node hash;
	struct packet_type native_type;
	bool ready;
	bool gone;
	bool port_up;
	struct dentry *dir;
	struct list_head drain;

	atomic_t out ____cacheline_aligned_in_smp;

	spinlock_t wait_lock ____cacheline_aligned_in_smp; /* guards @waiters */
	struct list_head waiters;
	bool starved; /* no memory for packets: nobody is woken before @retry fires */
	struct tasklet_struct resume;
	struct hrtimer retry;
};

/**
 * struct uboe_chan - a channel's home part
 * @tp: the channel; stable from ops->path_init to the end of ops->timer_cancel
 * @at: when @timer was last programmed for; guarded by the core's jetty lock
 * @armed: @timer is programmed; cleared by its callback without a lock
 * @lock: guards @dead against programming @timer
 * @dead: the channel is being destroyed
 * @wait: in uboe_soft.waiters, empty when not waiting; under wait_lock
 */
struct uboe_chan {
	struct uboe_soft *sf;
	struct ubp_tp *tp;
	u64 at;
	bool armed;
	bool dead;
	spinlock_t lock; /* guards @dead */
	struct hrtimer timer;
	struct list_head wait;
	struct rcu_head rcu;
};

static inline struct uboe_soft *uboe_soft_of(const struct ubp_dev *dev)
{
	return dev->home;
}

static inline void uboe_soft_count(struct uboe_soft *sf, enum uboe_soft_drop why)
{
	this_cpu_inc(sf->cpu->drops[why]);
}

/* netdev.c */
void uboe_soft_hash_add(struct uboe_soft *sf);
struct uboe_soft *uboe_soft_find(const struct net_device *ndev); /* RCU */
void uboe_soft_geometry(struct uboe_soft *sf);
int uboe_notify_init(void);
void uboe_notify_exit(void);

/* soft.c */
/* Guards writes to the table of netdevs and the list of draining devices */
extern struct mutex uboe_soft_mutex;

/* sock.c */
extern u16 uboe_udp_port;
int uboe_sock_init(void);
void uboe_sock_exit(void);
struct uboe_socks *uboe_sock_get(struct net *net, struct netlink_ext_ack *extack);
void uboe_sock_put(struct uboe_socks *socks);

/* native.c */
bool uboe_native_wrap(struct uboe_soft *sf, struct sk_buff *skb, u16 cci);
void uboe_native_out(struct uboe_soft *sf, struct sk_buff *skb);
u32 uboe_native_link(const struct uboe_soft *sf);

/* rcv.c */
int uboe_encap_rcv(struct sock *sk, struct sk_buff *skb);
void uboe_rx_free(struct ubp_dev *dev, void *cookie);
u64 uboe_rx_strays(void);

/* route.c */
int uboe_path_init(struct ubp_dev *dev, struct ubp_path *path);
void uboe_path_exit(struct ubp_dev *dev, struct ubp_path *path);
u32 uboe_path_mtu(struct ubp_dev *dev, struct ubp_path *path);
u32 uboe_path_link(struct ubp_dev *dev, struct ubp_path *path);
bool uboe_route_set(struct uboe_soft *sf, const struct ubp_path *path, struct sk_buff *skb);

/* xmit.c */
int uboe_xmit_init(struct uboe_soft *sf);
void uboe_xmit_stop(struct uboe_soft *sf);
bool uboe_tx_alloc(struct ubp_dev *dev, struct ubp_path *path, u32 len, struct ubp_txbuf *buf);
void uboe_tx_send(struct ubp_dev *dev, struct ubp_path *path, struct ubp_txbuf *buf);
void uboe_tx_free(struct ubp_dev *dev, struct ubp_txbuf *buf);
void uboe_tx_out(struct uboe_soft *sf, struct sk_buff *skb);
int uboe_tx_outstanding(const struct uboe_soft *sf);
void uboe_tx_unwait(struct uboe_chan *chan);

/* timer.c */
void uboe_timer(struct ubp_tp *tp, u64 when);
void uboe_timer_cancel(struct ubp_tp *tp);
int uboe_chan_attach(struct uboe_soft *sf, struct ubp_tp *tp);
void uboe_chan_detach(struct ubp_tp *tp);

/* engine.c */
int uboe_engine_init(struct uboe_soft *sf, u32 jetties);
void uboe_engine_stop(struct uboe_soft *sf);
void uboe_engine_free(struct uboe_soft *sf);
void uboe_engine_later(struct ubp_jetty *jetty);

/* impair.c */
DECLARE_STATIC_KEY_FALSE(uboe_impair_key);
int uboe_impair_init(struct uboe_soft *sf);
void uboe_impair_stop(struct uboe_soft *sf);
void uboe_impair_free(struct uboe_soft *sf);
bool uboe_impair(struct uboe_soft *sf, struct sk_buff *skb); /* true: the packet was taken */

/* crc.c */
void uboe_crc_init(void);
void uboe_crc_exit(void);

/* debugfs.c */
void uboe_debugfs_init(void);
void uboe_debugfs_exit(void);
void uboe_debugfs_add(struct uboe_soft *sf, const char *name);

#endif /* UBOE_SOFT_H */
