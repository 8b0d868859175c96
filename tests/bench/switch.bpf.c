// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Ends of the switch benchmark: a sink that counts, and what any XDP switch costs at least. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} counted SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} out_port SEC(".maps");

SEC("xdp")
int sink(struct xdp_md *ctx)
{
	__u32 key = 0;
	__u64 *n = bpf_map_lookup_elem(&counted, &key);
	__u8 *p = (__u8 *)(long)ctx->data;

	/* frames of the benchmark: IPv4 or the lab link's type; nobody's chatter */
	if (n && p + 14 <= (__u8 *)(long)ctx->data_end &&
	    ((p[12] == 0x08 && p[13] == 0x00) || (p[12] == 0x88 && p[13] == 0xb5)))
		(*n)++;
	return XDP_DROP;
}

SEC("xdp")
int redirect(struct xdp_md *ctx)
{
	(void)ctx;
	return bpf_redirect_map(&out_port, 0, 0);
}
