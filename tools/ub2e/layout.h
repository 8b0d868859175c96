/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tables of the UB2E switch, as both datapaths read them: user space from memory, BPF from
 * maps. Plain C, no pointers; host byte order but for addresses.
 */
#ifndef UB2E_LAYOUT_H
#define UB2E_LAYOUT_H

#include "ubp_caqm.h"
#include "ubp_map.h"
#include "ubp_native.h"

#define UB2E_MAX_PORTS 64
#define UB2E_MAX_PATHS 8
#define UB2E_MAX_PARTITIONS 4094 /* each has a VLAN of its own */
#define UB2E_NO_PORT 0xffu

#define UB2E_ETH_LEN 14
#define UB2E_TAG_LEN 4

enum ub2e_kind { UB2E_ETH, UB2E_UB };

/**
 * struct ub2e_queue - when packets that leave through a port are marked
 * @rate: bytes a second at which the virtual queue drains; 0: no marking
 * @kmin: bytes up to which nothing is marked
 * @kmax: bytes from which everything is marked
 * @pmax: probability of a mark just below @kmax, of 2^32
 * @limit: bytes from which packets are dropped; 0: none is
 * @caqm: what packets of CAQM get instead of marks; @period_ns 0: their CCI passes as it is
 */
struct ub2e_queue {
	u64 rate;
	u32 kmin;
	u32 kmax;
	u32 pmax;
	u32 limit;
	struct ubp_caqm_knobs caqm;
};

/**
 * struct ub2e_port
 * @mtu: bytes of the longest IP packet; on a UB port of the longest native one
 * @untagged: partition of frames without VLAN, with privilege bit; 0: there is none
 * @kind: enum ub2e_kind
 */
struct ub2e_port {
	struct ub2e_queue queue;
	u32 ifindex;
	u32 mtu;
	u32 untagged;
	u8 kind;
	u8 mac[6];
	u8 rsvd;
};

/* A partition, its VLANs, and the ports that it may use, one bit each */
struct ub2e_partition {
	u64 ports;
	struct ubp_map_vlan vlan;
};

/* One way to a destination. @mac: next hop, of an Ethernet port */
struct ub2e_path {
	u8 port;
	u8 rsvd;
	u8 mac[6];
};

/* Ways to a prefix: first the @shortest ones, @paths in all, at least one of each */
struct ub2e_route {
	struct ub2e_path path[UB2E_MAX_PATHS];
	u8 paths;
	u8 shortest;
	u8 rsvd[6];
};

/* What holds for the whole switch */
struct ub2e_settings {
	struct ubp_map map;
	u8 other_cci_passes; /* as unmarkable; else such packets are dropped */
};

/* State of a port's virtual queue */
struct ub2e_level {
	u64 when; /* nanoseconds */
	u64 bytes;
	struct ubp_caqm caqm;
};

/* Fate of a frame, and the counters of a port: of the one it came in by but for TX and MARK */
enum ub2e_fate {
	UB2E_FORWARDED, /* 0: nothing speaks against it */
	UB2E_OTHER, /* no UB packet: the host's, or nobody's */
	UB2E_RX_BYTES,
	UB2E_TX, /* packets, and bytes as on the link */
	UB2E_TX_BYTES,
	UB2E_MARKED_LIGHT,
	UB2E_MARKED_SEVERE,
	UB2E_CAQM_GRANTED,
	UB2E_CAQM_REFUSED,
	UB2E_CAQM_MARKED,
	UB2E_CCI_LOST, /* another mode than FECN, passed on as unmarkable */
	UB2E_DROP_FIRST,
	UB2E_DROP_SHORT = UB2E_DROP_FIRST,
	UB2E_DROP_CFG,
	UB2E_DROP_LENGTH,
	UB2E_DROP_IP_HEADER,
	UB2E_DROP_IP_CHECKSUM,
	UB2E_DROP_UDP_PORT,
	UB2E_DROP_CCI_MODE,
	UB2E_DROP_TAG, /* more than one VLAN tag, or VLAN 4095 */
	UB2E_DROP_UNTAGGED, /* the port has no partition for it */
	UB2E_DROP_PARTITION, /* unknown, or 0 */
	UB2E_DROP_MEMBER, /* the partition does not use the port */
	UB2E_DROP_NO_ROUTE,
	UB2E_DROP_BACK, /* to the UB port that it came from */
	UB2E_DROP_TTL,
	UB2E_DROP_MTU,
	UB2E_DROP_QUEUE,
	UB2E_DROP_UNCUT, /* longer than the link: segments that the sender left to a device */
	UB2E_DROP_ROOM, /* the link or the kernel did not take it */
	UB2E_FATES,
};

#endif /* UB2E_LAYOUT_H */
