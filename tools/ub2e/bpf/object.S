/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The compiled BPF program, as data of this one. UB2E_BPF_OBJECT is its file. */
	.section .rodata
	.balign 8
	.global ub2e_bpf_object
ub2e_bpf_object:
	.incbin UB2E_BPF_OBJECT
	.global ub2e_bpf_object_end
ub2e_bpf_object_end:
	.section .note.GNU-stack, "", @progbits
