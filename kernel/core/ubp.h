/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The protocol core as its home sees it.
 *
 * The core is the device: it executes mailbox commands, reads send and receive
 * rings, turns work into packets and packets into memory accesses and
 * completions. It owns no socket, clock, thread or timer; a home gives it these
 * by struct ubp_ops and calls in when something happened:
 *
 *	ubp_mbox_exec()   a control command           may sleep, home serialises
 *	ubp_kick()        a doorbell or KICK          any context but hard IRQ
 *	ubp_rx()          a packet arrived            softirq or equal
 *	ubp_timer()       a channel's timer fired     softirq or equal
 *	ubp_resume()      output space is back        softirq or equal
 *
 * The four data-path entries may run concurrently with one another and with a
 * command. A home that frees memory later (ops->free_later) must let every
 * section between ubp_read_begin() and ubp_read_end() pass first.
 */
#ifndef UBP_H
#define UBP_H

#include "ubp_os.h"
#include "ub_wire.h"
#include "ubp_cc_par.h"

struct ubp_dev;
struct ubp_tp;
struct ubp_jetty;
struct ubp_jfc;
struct ubp_jfr;
struct ubp_seg;
struct ubp_share;
struct ubp_tm;
struct ubp_lockbuf;
struct uboe_lockbuf_ctx;

/**
 * struct ubp_path - where the packets of a channel go
 * @laddr: local address, IPv6 or v4-mapped, network order
 * @raddr: peer's address
 * @sport: UDP source port, the flow's entropy, host order
 * @dport: UDP destination port, host order
 * @tc: DSCP in the upper six bits; the core adds ECN
 * @hop: TTL or hop limit
 * @flow: IPv6 flow label
 * @tp: channel that it belongs to, for ubp_resume(); NULL: messages without one
 * @home: the home's route cache, opaque
 */
struct ubp_path {
	u8 laddr[16];
	u8 raddr[16];
	u16 sport;
	u16 dport;
	u8 tc;
	u8 hop;
	bool v4;
	u32 flow;
	struct ubp_tp *tp;
	void *home;
};

/*
 * A packet being built: @data points at the IP header, @len bytes follow
 * @cci: for ubp_tx_native(), 0: as the IP header says
 */
struct ubp_txbuf {
	u8 *data;
	u32 len;
	u16 cci;
	void *cookie;
};

/*
 * A received packet: @data points at the IP header, @len bytes are readable.
 * @csum_ok: somebody vouches for the UDP checksum, whatever the field holds: the
 * sender's and the receiver's stack or device
 * @mark: how congested the way was, for homes that know more than the IP header says
 * @cci: what a native packet's header says of it, 0: nothing
 */
struct ubp_rxpkt {
	const u8 *data;
	u32 len;
	bool csum_ok;
	u8 mark; /* enum ubp_mark */
	u16 cci;
	void *cookie;
};

/* FECN of a native UB network; an IP header knows CE, which is severe */
enum ubp_mark { UBP_MARK_AS_IP, UBP_MARK_NONE, UBP_MARK_LIGHT, UBP_MARK_SEVERE };

/**
 * struct ubp_ops - what a home does for the core
 * @now: monotonic time, nanoseconds
 * @random: 32 random bits, not predictable by a peer
 * @zalloc: zeroed memory for a control command, NULL when there is none
 * @free_later: give it back once no reader can hold it (see top of file)
 * @bus_map: pointer to @len bytes of ring memory at bus address @bus, NULL when
 *	they do not lie wholly in one arena; valid until the object that names
 *	them is destroyed
 * @seg_map: resolve the page list of a segment: fills seg->chunk and seg->home
 * @seg_unmap: undo it; nothing refers to the pages any more
 * @path_init: route to path->raddr (may be deferred to the first packet)
 * @path_exit: drop it
 * @path_mtu: largest payload whose packets fit the way to path->raddr, 0: there is no
 *	way. Asked once, after path_init. May be NULL: all that the owner allows
 * @path_link: largest packet that fits the way to path->raddr, bytes from the IP header
 *	on, 0: there is no way. Asked once, after path_init. A home that has it sends
 *	packets to ports of others, too, and sees to their UDP checksum. NULL: it has no
 *	raw queues
 * @tx_alloc: room for a packet of @len bytes from the IP header on; false when
 *	there is none now, ubp_resume() follows later unless path->tp is NULL
 * @tx_send: send it; consumes the buffer whatever happens
 * @tx_free: give back a buffer that was not sent
 * @rx_free: give back a received packet that the core had kept
 * @timer: call ubp_timer(tp) at @when or a little later; replaces any earlier
 *	request of this channel; called with the channel's lock held
 * @timer_cancel: no ubp_timer(tp) runs or starts after it returns; may sleep
 * @engine_later: call ubp_kick() for this jetty soon, from softirq
 * @jetty_timer: call ubp_kick() for this jetty at @when or a little later, unless it is
 *	gone; earlier requests stay. NULL: jetties without a channel cannot be shaped
 * @jfc_event: the armed JFC has a completion; softirq context
 * @jfc_timer: call ubp_jfc_timer(dev, @id) at @when or a little later; not asked for
 *	again before that. The queue may be gone then. NULL: there is no moderation by time
 * @share_wanted: a peer asks for a shared channel between these addresses and there is
 *	none: create one soon, the peer asks again; softirq context. NULL: the home has none
 * @event: asynchronous event, enum uboe_event and sub type; softirq context
 */
struct ubp_ops {
	u64 (*now)(struct ubp_dev *dev);
	u32 (*random)(struct ubp_dev *dev);
	void *(*zalloc)(struct ubp_dev *dev, size_t len);
	void (*free_later)(struct ubp_dev *dev, void *p);
	void *(*bus_map)(struct ubp_dev *dev, u64 bus, u64 len);
	int (*seg_map)(struct ubp_dev *dev, struct ubp_seg *seg, u64 pbl);
	void (*seg_unmap)(struct ubp_dev *dev, struct ubp_seg *seg);
	int (*path_init)(struct ubp_dev *dev, struct ubp_path *path);
	void (*path_exit)(struct ubp_dev *dev, struct ubp_path *path);
	u32 (*path_mtu)(struct ubp_dev *dev, struct ubp_path *path);
	u32 (*path_link)(struct ubp_dev *dev, struct ubp_path *path);
	bool (*tx_alloc)(struct ubp_dev *dev, struct ubp_path *path, u32 len,
			 struct ubp_txbuf *buf);
	void (*tx_send)(struct ubp_dev *dev, struct ubp_path *path, struct ubp_txbuf *buf);
	void (*tx_free)(struct ubp_dev *dev, struct ubp_txbuf *buf);
	void (*rx_free)(struct ubp_dev *dev, void *cookie);
	void (*timer)(struct ubp_tp *tp, u64 when);
	void (*timer_cancel)(struct ubp_tp *tp);
	void (*engine_later)(struct ubp_jetty *jetty);
	void (*jfc_event)(struct ubp_jfc *jfc);
	void (*jfc_timer)(struct ubp_dev *dev, u32 id, u64 when);
	void (*event)(struct ubp_dev *dev, u32 type, u32 sub, u32 num);
	void (*share_wanted)(struct ubp_dev *dev, const u8 *laddr, const u8 *raddr);
	void (*jetty_timer)(struct ubp_jetty *jetty, u64 when);
};

/* Counters. Names in ubp_stat_name(); drops have a reason each. */
enum ubp_stat {
	UBP_S_TX_PACKETS,
	UBP_S_TX_BYTES,
	UBP_S_RX_PACKETS,
	UBP_S_RX_BYTES,
	UBP_S_RX_INVALID, /* not among RX_PACKETS; each has its reason counted too */
	UBP_S_RETRANSMITS,
	UBP_S_TIMEOUTS,
	UBP_S_ACKS_SENT,
	UBP_S_SACKS_SENT,
	UBP_S_NAKS_SENT,
	UBP_S_DUPLICATES,
	UBP_S_OUT_OF_ORDER,
	UBP_S_RNR_SENT,
	UBP_S_RNR_RECEIVED,
	UBP_S_REMOTE_ERRORS, /* requests of peers refused for good */
	UBP_S_CHANNELS_LOST,
	UBP_S_CE_MARKS,
	UBP_S_CE_RECEIVED, /* marks of data on channels with congestion control, FECN too */
	UBP_S_CNP_SENT,
	UBP_S_CNP_RECEIVED,
	UBP_S_CC_REDUCTIONS, /* a channel became slower */
	UBP_S_CC_NOT_MAPPABLE, /* peers that want an algorithm that Ethernet has no fields for */
	UBP_S_KICKS,
	UBP_S_CQ_OVERFLOWS,
	UBP_S_DWQES, /* SQEs taken from the window of a jetty page */
	UBP_S_DOORBELLS_REFUSED, /* of jetties that have none */
	UBP_S_RAW_SENT, /* datagrams of raw queues */
	UBP_S_RAW_REFUSED, /* UBoE packets of raw queues that may not send them */
	UBP_S_ROT_GRANTED, /* sequence contexts that peers granted our jetties */
	UBP_S_ROT_DENIED, /* asked for, and not granted */
	/* named drop reasons */
	UBP_S_DROP_FIRST,
	UBP_D_SHORT = UBP_S_DROP_FIRST, /* too short for its headers */
	UBP_D_IP_HEADER, /* version, IHL, fragment or protocol */
	UBP_D_LENGTH, /* IP, UDP and buffer lengths disagree */
	UBP_D_UDP_PORT,
	UBP_D_UDP_CSUM,
	UBP_D_ICRC,
	UBP_D_TP_VERSION,
	UBP_D_TP_OPCODE,
	UBP_D_TP_NLP, /* reserved, or identity that is not the channel's */
	UBP_D_TP_STATUS, /* reserved RSPST or RSPINFO in an acknowledgement */
	UBP_D_PAD,
	UBP_D_NO_CHANNEL,
	UBP_D_WRONG_PEER, /* address or SrcTPN is not the channel's */
	UBP_D_WRONG_STATE,
	UBP_D_PSN_WINDOW,
	UBP_D_ACK_INVALID, /* acknowledges what was never sent */
	UBP_D_SACK_INVALID,
	UBP_D_CNP, /* reserved level */
	UBP_D_CC_COUNTERS, /* more marked than arrived, or arrived than was sent */
	UBP_D_DUPLICATE,
	UBP_D_TA_HEADER, /* header chain cut or malformed */
	UBP_D_TA_OPCODE,
	UBP_D_TA_RESPONSE, /* response that nobody asked for */
	UBP_D_RC_TABLE, /* more requests than this end takes at a time */
	UBP_D_TPCM, /* malformed channel set-up message */
	UBP_D_TPCM_NO_JETTY,
	UBP_D_TPCM_STALE, /* another incarnation of the peer */
	UBP_D_UTP_NO_JETTY,
	/* messages without a connection: why their target did not take them */
	UBP_D_NO_TARGET, /* there is none, or it serves another mode; an empty group */
	UBP_D_TARGET_STATE, /* not READY */
	UBP_D_TARGET_TOKEN, /* TokenValue missing or wrong */
	UBP_D_TARGET_NO_RECEIVE,
	UBP_D_TARGET_TOO_LONG, /* for the receive that is next */
	UBP_D_TARGET_ACCESS, /* the receive's memory cannot be written */
	UBP_D_TARGET_REQUEST, /* well-formed, not served: user data, poison, an offset */
	UBP_D_TARGET_OVERFLOW, /* its JFC is full */
	UBP_D_PARTITION, /* another one than ours, or 0 */
	UBP_D_PRIVILEGE, /* low to low */
	UBP_D_LINK_CFG, /* a native packet without an IP header */
	UBP_S_MAX,
};

const char *ubp_stat_name(u32 stat);

/* Settings of a device; the home fills it before ubp_dev_init() */
struct ubp_config {
	u32 max_jetty; /* object id limits, at most 2^20 each */
	u32 max_jfr;
	u32 max_jfc;
	u32 max_seg;
	u32 max_share; /* shared channels, peers that is */
	u32 max_jgrp;
	u16 udp_port;
	u8 hop_limit;
	u8 dscp;
	bool verify_csum; /* check non-zero UDP checksums */
	bool icrc_be; /* big-endian ICRC, against foreign ends only */
	u16 window; /* packets in flight per channel, power of two 128..2048 */
	u16 ack_every; /* packets between forced acknowledgements */
	u32 ack_delay_us;
	u32 rto_min_us;
	u32 rto_max_us;
	u32 lost_min_ms; /* a channel is never given up earlier than this */
	u16 budget; /* packets per engine turn */
	u16 slice; /* packets per call of ubp_drive_id(), those that a Read brings included */
	u8 retrans; /* UB_TPCM_RETRANS_* */
	u32 caps; /* enum ub_cap */
	u32 npi; /* UB_NPI_*: partition and privilege to begin with */
	struct ubp_cc_conf cc; /* @alg: for whoever makes channels; each says its own */
};

void ubp_config_defaults(struct ubp_config *cfg);

/* An IPv6 or v4-mapped address that one node can have: no other is a peer's */
bool ubp_addr_is_unicast(const u8 *a);

/**
 * ubp_mtu_for_link - largest payload whose packets fit a link
 * @link_mtu: bytes from the IP header on
 *
 * Return: a power of two from UB_MTU_MIN to UB_MTU_MAX, 0 when not even the
 * smallest fits. Ethernet's own 1500 give 1024, the usual jumbo ones 4096 and 8192.
 */
u32 ubp_mtu_for_link(u32 link_mtu);

/**
 * ubp_rnr_code - the device's code for a minimum RNR NAK timer
 * @timer: code of verbs, which URMA took over, 0..31 (IBTA 1.3 9.7.5.2.8)
 *
 * Return: the smallest code, a time of 2 us << code, that is not shorter; or
 * UB_RNR_TIMER_MAX.
 */
u8 ubp_rnr_code(u8 timer);

/* id -> object, read without locks */
struct ubp_table {
	void **top;
	u32 max;
	u32 leaves;
	u32 count; /* objects; guarded by the command serialisation */
};

#define UBP_TABLE_LEAF 512u
#define UBP_SHARE_HASH_BITS 8
#define UBP_SHARE_HASH 256u /* two to the power of UBP_SHARE_HASH_BITS */

#define UBP_VLS 16u

/* What RC tables of a VL are made like; 0: the default, the depth */
struct ubp_rct_set {
	u8 shift;
	u32 watermark;
};

struct ubp_dev {
	const struct ubp_ops *ops;
	struct ubp_config cfg;
	struct ubp_table jetty;
	struct ubp_table jfr;
	struct ubp_table jfc;
	struct ubp_table seg;
	struct ubp_table jgrp;
	struct ubp_table tp; /* by the low 20 bits of the TPN */
	struct ubp_table share; /* shared channels by their TPN */
	ubp_lock_t share_lock; /* guards share_hash and the chains in it; inner to none */
	struct ubp_share *share_hash[UBP_SHARE_HASH];
	struct ubp_tm *tm; /* traffic management, NULL while there is none */
	struct ubp_lockbuf *lockbuf[2]; /* by UBOE_LOCKBUF_*; NULL: not set up */
	struct ubp_rct_set rct[UBP_VLS]; /* of RC tables to come; commands are serialised */
	ubp_stats_t stats; /* UBP_S_MAX counters */
	u32 npi; /* partition and privilege of the entity, UB_NPI_*; set by command */
	bool native; /* the port is one of a UB domain; set while there are no channels */
	u32 resets; /* guarded by the command serialisation */
	u16 utp_ssn; /* TASSN of our UTP messages; a lost update is harmless */
	void *home;
};

/* Room for a packet of @len bytes, whose CCI goes by its IP header unless somebody sets it */
static inline bool ubp_tx_alloc(struct ubp_dev *dev, struct ubp_path *path, u32 len,
				struct ubp_txbuf *buf)
{
	if (!dev->ops->tx_alloc(dev, path, len, buf))
		return false;
	buf->cci = 0;
	return true;
}

/* May channels of the device have this congestion control? */
static inline bool ubp_cc_can(const struct ubp_dev *dev, u32 alg)
{
	return ubp_cc_known(alg) && (alg != UB_CC_CAQM || READ_ONCE(dev->native));
}

/* What channels get whose makers have no wish of their own */
static inline u8 ubp_cc_wanted(const struct ubp_dev *dev)
{
	return ubp_cc_can(dev, dev->cfg.cc.alg) ? (u8)dev->cfg.cc.alg : (u8)UB_CC_NONE;
}

/**
 * ubp_dev_init - bring a device to life
 * @dev: zeroed but for @dev->ops, @dev->cfg, @dev->stats and @dev->home
 *
 * Return: 0, -EINVAL for a setting out of range, -ENOMEM.
 */
int ubp_dev_init(struct ubp_dev *dev);

/* All objects must be gone. */
void ubp_dev_exit(struct ubp_dev *dev);

/**
 * ubp_mbox_exec - execute a mailbox command
 * @cmd: UBOE_MBOX_CMD(object, verb)
 * @tag: object id, chosen by the driver
 * @in: context; for modify the context followed by a 32-bit mask
 * @in_len: its length, exact
 * @out: answer of a query, @out_len bytes at most; untouched otherwise
 *
 * The caller serialises commands on the same object.
 *
 * Return: 0, -EINVAL for a bad field, id or length, -EEXIST, -ENOENT, -EBUSY
 * while another object refers to it, -ENOSPC for a group that is full or a parent
 * without room for another child, -ENOMEM, -EOPNOTSUPP.
 */
int ubp_mbox_exec(struct ubp_dev *dev, u32 cmd, u32 tag, const void *in, u32 in_len, void *out,
		  u32 out_len);

/*
 * What is wrong with two lock buffers, by UBOE_LOCKBUF_*, of which one without a last
 * jetty is not wanted; NULL: nothing, each device can have them
 */
const char *ubp_lockbufs_wrong(const struct uboe_lockbuf_ctx *ctx);

/* Attach the home's own pointer to an object just created; 0 or -ENOENT */
int ubp_set_home(struct ubp_dev *dev, u32 obj, u32 tag, void *home);

void ubp_kick(struct ubp_jetty *jetty);
/* The same by id, for a doorbell that arrives as a number; 0 or -ENOENT */
int ubp_kick_id(struct ubp_dev *dev, u32 id);

/**
 * ubp_drive_id - a KICK whose caller does the work, a slice at a time
 * @dev: device
 * @id: jetty
 *
 * What the peer says meanwhile starts no new request of this jetty: the caller
 * does, while packets that it has just sent and received are still in the cache.
 *
 * Return: 1 when there is more to send at once: call again, or ubp_leave_id();
 * 0 when there is not; -ENOENT
 */
int ubp_drive_id(struct ubp_dev *dev, u32 id);
/* The caller cannot go on driving: the engine does from now on */
void ubp_leave_id(struct ubp_dev *dev, u32 id);
struct ubp_jetty *ubp_jetty_find(struct ubp_dev *dev, u32 id);

/**
 * ubp_rx - a packet to our UDP port
 *
 * Every check that the packet's content needs is made here and below.
 *
 * Return: true when the core kept the packet, and will hand pkt->cookie to
 * ops->rx_free; false when the caller still owns it.
 */
bool ubp_rx(struct ubp_dev *dev, const struct ubp_rxpkt *pkt);

/*
 * The same at a port of a UB domain: @pkt->data points at the LPH, with IP header and ICRC
 * behind LPH and NTH (docs/wire.md, 11)
 */
bool ubp_rx_native(struct ubp_dev *dev, const struct ubp_rxpkt *pkt);

/*
 * A packet that tx_send() was given leaves by a port of a UB domain: write LPH and NTH into
 * the UB_NATIVE_LEN bytes before @ip. @len: from the IP header on; @cci: of its ubp_txbuf
 */
void ubp_tx_native(const struct ubp_dev *dev, u8 *ip, u32 len, u16 cci);

void ubp_timer(struct ubp_tp *tp);
void ubp_jfc_timer(struct ubp_dev *dev, u32 id);
void ubp_resume(struct ubp_tp *tp);

/**
 * struct ubp_seg - registered memory
 * @chunk: address of each chunk; chunk n holds bytes from (n << chunk_shift) - off
 * @token, @token2: TokenValues of peers, written by ubp_seg_modify() at any time
 * @key: token that it was created with, whose low bits are in keys of local SGEs
 * @users: accesses in progress, plus one while it is registered
 * @home: the home's part
 */
struct ubp_seg {
	u64 va;
	u64 len;
	u64 off;
	void **chunk;
	u32 chunk_shift;
	u32 id;
	u32 token;
	u32 token2;
	u32 key;
	u32 pd;
	u8 access;
	u8 flags;
	bool dead; /* from before a reset: no access any more */
	ubp_ref_t users;
	void *home;
};

/* Home pointers of objects, for the callbacks above */
void *ubp_tp_home(const struct ubp_tp *tp);
void ubp_tp_set_home(struct ubp_tp *tp, void *home);
void *ubp_jetty_home(const struct ubp_jetty *jetty);
u32 ubp_jetty_id(const struct ubp_jetty *jetty);
struct ubp_dev *ubp_jetty_dev(const struct ubp_jetty *jetty);
void *ubp_jfc_home(const struct ubp_jfc *jfc);
u32 ubp_jfc_id(const struct ubp_jfc *jfc);
struct ubp_dev *ubp_tp_dev(const struct ubp_tp *tp);
u32 ubp_tp_number(const struct ubp_tp *tp);
/* Number of the shared channel between two addresses, 0: there is none */
u32 ubp_share_find(struct ubp_dev *dev, const u8 *laddr, const u8 *raddr);
/*
 * After ops->share_wanted: the channel has been made, answer the peer that asked for it,
 * instead of waiting until it asks again. Nothing happens to one that is in use
 */
void ubp_share_open(struct ubp_dev *dev, u32 tpn);
/* By number; stable until the driver destroys it */
struct ubp_tp *ubp_tp_find(struct ubp_dev *dev, u32 tpn);

#endif /* UBP_H */
