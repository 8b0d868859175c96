/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The compiled BPF programs of the switch benchmark, as data. BENCH_BPF_OBJECT is their file. */
	.section .rodata
	.balign 8
	.global bench_bpf_object
bench_bpf_object:
	.incbin BENCH_BPF_OBJECT
	.global bench_bpf_object_end
bench_bpf_object_end:
	.section .note.GNU-stack, "", @progbits
