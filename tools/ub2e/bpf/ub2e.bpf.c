// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The XDP datapath: forward.h with its tables in maps. There are two sets of tables; which
 * one holds is a number, so that a new configuration holds for the next packet as a whole.
 */
#define inline inline __attribute__((always_inline))
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "../forward.h"
#include "maps.h"

char _license[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} current_set SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UB2E_SETS);
	__type(key, u32);
	__type(value, struct ub2e_settings);
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UB2E_SETS *UB2E_MAX_PORTS);
	__type(key, u32);
	__type(value, struct ub2e_port);
} ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UB2E_SETS *UB2E_VLANS);
	__type(key, u32);
	__type(value, struct ub2e_partition);
} vlans SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UB2E_SETS *UB2E_MAX_PARTITIONS);
	__type(key, struct ub2e_id_key);
	__type(value, struct ub2e_partition);
} ids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, UB2E_SETS *UB2E_MAX_ROUTES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct ub2e_route_key);
	__type(value, struct ub2e_route);
} routes SEC(".maps");

/* Number of the port that an interface is */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UB2E_MAX_PORTS);
	__type(key, u32);
	__type(value, u32);
} port_of SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UB2E_MAX_PORTS *UB2E_FATES);
	__type(key, u32);
	__type(value, u64);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} turns SEC(".maps");

struct locked_level {
	struct bpf_spin_lock lock; /* guards level */
	struct ub2e_level level;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UB2E_MAX_PORTS);
	__type(key, u32);
	__type(value, struct locked_level);
} levels SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, UB2E_MAX_PORTS);
	__type(key, u32);
	__type(value, u32);
} out_ports SEC(".maps");

/* What the lookups know: the set of tables that holds for this packet */
struct run {
	u32 set;
};

static inline u32 set_of(void *sw)
{
	return ((struct run *)sw)->set & (UB2E_SETS - 1);
}

static inline const struct ub2e_settings *find_settings(void *sw)
{
	u32 key = set_of(sw);

	return bpf_map_lookup_elem(&settings, &key);
}

static inline const struct ub2e_port *ub2e_find_port(void *sw, u32 port)
{
	u32 key = set_of(sw) * UB2E_MAX_PORTS + port;
	const struct ub2e_port *p = bpf_map_lookup_elem(&ports, &key);

	return p && p->ifindex ? p : NULL;
}

static inline const struct ub2e_partition *ub2e_find_vlan(void *sw, u32 vlan)
{
	u32 key = set_of(sw) * UB2E_VLANS + vlan;
	const struct ub2e_partition *p = bpf_map_lookup_elem(&vlans, &key);

	return p && p->vlan.id ? p : NULL;
}

static inline const struct ub2e_partition *ub2e_find_id(void *sw, u32 id)
{
	struct ub2e_id_key key = { set_of(sw), id };

	return bpf_map_lookup_elem(&ids, &key);
}

static inline const struct ub2e_route *ub2e_find_route(void *sw, const u8 daddr[16])
{
	struct ub2e_route_key key = { 32 + 128, set_of(sw), {} };

	__builtin_memcpy(key.addr, daddr, sizeof(key.addr));
	return bpf_map_lookup_elem(&routes, &key);
}

static inline u32 ub2e_next_turn(void *sw)
{
	u32 key = 0;
	u32 *turn = bpf_map_lookup_elem(&turns, &key);

	(void)sw;
	return turn ? (*turn)++ : 0;
}

static inline u32 ub2e_mark_of(void *sw, u32 port, const struct ub2e_port *to, u32 len, u16 *cci)
{
	struct locked_level *l = bpf_map_lookup_elem(&levels, &port);
	u32 random = bpf_get_prandom_u32();
	u64 now = bpf_ktime_get_ns();
	u32 mark;

	(void)sw;
	if (!l)
		return 0;
	bpf_spin_lock(&l->lock);
	mark = ub2e_level_mark(&l->level, &to->queue, now, len, random, cci);
	bpf_spin_unlock(&l->lock);
	return mark;
}

static inline void count(u32 port, u32 fate, u64 n)
{
	u32 key = port * UB2E_FATES + fate;
	u64 *c = bpf_map_lookup_elem(&counters, &key);

	if (c)
		*c += n;
}

/* Puts the new headers where they belong; false when the frame has no room for them */
static inline bool convert(struct xdp_md *ctx, void *sw, const struct ub2e_settings *s,
			   const struct ub2e_in *in, const struct ub2e_out *out)
{
	const struct ub2e_port *to = ub2e_find_port(sw, out->port);
	u32 have = (u32)bpf_xdp_get_buff_len(ctx);

	if (!to)
		return false;
	/* what a link had padded */
	if (have > in->l3 + in->len &&
	    bpf_xdp_adjust_tail(ctx, (int)(in->l3 + in->len) - (int)have))
		return false;
	if (in->l3 != out->l3 && bpf_xdp_adjust_head(ctx, in->l3 - out->l3))
		return false;
	return ub2e_write((u8 *)(long)ctx->data, (u8 *)(long)ctx->data_end, s, to, in, out);
}

/* Frames may have fragments: those of a veth whose MTU is above 3.5 KB have */
SEC("xdp.frags")
int ub2e(struct xdp_md *ctx)
{
	u8 *p = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;
	u32 ifindex = ctx->ingress_ifindex, key = 0;
	const struct ub2e_settings *s;
	const struct ub2e_port *port;
	struct ub2e_out out = {};
	struct ub2e_in in = {};
	struct run run = {};
	u32 *set, *from;
	u32 fate;

	set = bpf_map_lookup_elem(&current_set, &key);
	from = bpf_map_lookup_elem(&port_of, &ifindex);
	if (!set || !from)
		return XDP_PASS;
	run.set = *set;
	s = find_settings(&run);
	port = ub2e_find_port(&run, *from);
	if (!s || !port)
		return XDP_PASS;
	fate = ub2e_read(port, p, end, (u32)bpf_xdp_get_buff_len(ctx), &in);
	if (fate == UB2E_OTHER) {
		count(*from, fate, 1);
		return XDP_PASS;
	}
	if (!fate)
		fate = ub2e_decide(&run, s, *from, port, &in, &out);
	if (!fate)
		fate = convert(ctx, &run, s, &in, &out) ? UB2E_FORWARDED : UB2E_DROP_ROOM;
	count(*from, fate, 1);
	if (fate != UB2E_FORWARDED)
		return XDP_DROP;
	count(*from, UB2E_RX_BYTES, in.l3 + in.len);
	count(out.port, UB2E_TX, 1);
	count(out.port, UB2E_TX_BYTES, out.l3 + in.len);
	if (out.cci_lost)
		count(*from, UB2E_CCI_LOST, 1);
	if (out.mark)
		count(out.port, out.mark, 1);
	return bpf_redirect_map(&out_ports, out.port, 0);
}
