/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Wire constants of UnifiedBus over Ethernet: UB Base Specification 2.0.1
 * sections 6.2 and 7.2, and the UBoE draft for what lies below. All header
 * fields are big-endian; payload and atomic operands are little-endian.
 * docs/wire.md has the tables and says which values are a profile choice.
 */
#ifndef UB_WIRE_H
#define UB_WIRE_H

/*
 * Network partition identifier (draft, "Adaptation of NPI"): partition, and who has low
 * privilege. In UPIH the bit is the profile's, the specification reserves it.
 */
#define UB_NPI_ID 0x00ffffffu /* 0: invalid */
#define UB_NPI_LOW 0x01000000u
#define UB_NPI_DEFAULT 1u

#define UB_UDP_PORT 4792 /* IANA, draft "UDP Header" */

/*
 * Native UB packets with an IP-compliant network header (Base Spec 4.3.2, 5.2; docs/wire.md,
 * "Native packets"): link packet header, network header of CCI and NPI, then IP as in UBoE.
 */
#define UB_LPH_LEN 4
#define UB_NTH_LEN 6
#define UB_NATIVE_LEN (UB_LPH_LEN + UB_NTH_LEN)

/* The lab link's Ethernet frames: a type for local experiments (IEEE 802, 9.2.3) */
#define UB_LAB_ETHERTYPE 0x88b5

/* LPH, as a 32-bit word */
#define UB_LPH_CRD 0x80000000u
#define UB_LPH_ACK 0x40000000u
#define UB_LPH_CRD_VL 0x3c000000u
#define UB_LPH_VL 0x01e00000u
#define UB_LPH_CFG 0x000f0000u
#define UB_LPH_RT 0x0000c000u
#define UB_LPH_BLOCKS 0x00003c00u /* less one */
#define UB_LPH_FLITS 0x000003e0u /* of the last block, less one */
#define UB_LPH_TAIL 0x0000001fu /* profile: bytes of the last flit, less one */

#define UB_FLIT_LEN 20 /* bytes */
#define UB_BLOCK_FLITS 32
#define UB_PACKET_BLOCKS 16

/* Link configurations that carry an IP header; the draft lets no other pass a switch */
#define UB_CFG_CONTROL 0
#define UB_CFG_IPV4 3
#define UB_CFG_IPV6 4

/* Routing type (draft, "Adaptation of RT") */
#define UB_RT_PER_PACKET 1u
#define UB_RT_SHORTEST 2u
#define UB_RT_DEFAULT UB_RT_SHORTEST

/* CCI (Base Spec 5.3.5) */
#define UB_CCI_MODE 0xe000u
#define UB_CCI_LOC 0x1000u
#define UB_CCI_FECN 0x0003u
#define UB_CCI_FECN_RSVD 0x0ffcu /* in FECN mode */
#define UB_CCI_CAQM_EN 0x0400u
#define UB_CCI_CAQM_C 0x0200u
#define UB_CCI_CAQM_I 0x0100u
#define UB_CCI_CAQM_HINT 0x00ffu
#define UB_CAQM_UNIT 32 /* bytes of a hint's unit */

enum ub_cci_mode {
	UB_CCI_MODE_CAQM = 0,
	UB_CCI_MODE_FECN_RTT = 2,
	UB_CCI_MODE_FECN = 4,
};

enum ub_fecn {
	UB_FECN_UNMARKABLE = 0,
	UB_FECN_LIGHT = 1,
	UB_FECN_MARKABLE = 2,
	UB_FECN_SEVERE = 3,
};

/* IP ECN (RFC 3168) */
enum ub_ecn { UB_ECN_NOT_ECT = 0, UB_ECN_ECT1 = 1, UB_ECN_ECT0 = 2, UB_ECN_CE = 3 };

#define UB_VLAN_ID 0x0fffu
#define UB_VLAN_MAX 4094u /* 0: a priority tag, 4095: reserved (IEEE 802.1Q) */

/* Sizes of headers, bytes */
#define UB_IPV4_LEN 20
#define UB_IPV6_LEN 40
#define UB_UDP_LEN 8
#define UB_TPH_LEN 16
#define UB_UPIH_LEN 4
#define UB_EIDH_LEN 32
#define UB_CETPH_LEN 8
#define UB_CNP_CETPH_LEN 16
#define UB_SAETPH_LEN 4
#define UB_BTAH_LEN 8
#define UB_ATAH_LEN 8
#define UB_UDETAH_LEN 4
#define UB_TAIDETAH_LEN 4
#define UB_OFSTETAH_LEN 4
#define UB_MAETAH_LEN 16
#define UB_MTETAH_LEN 4
#define UB_IMMETAH_LEN 16
#define UB_NTFETAH_LEN 24
#define UB_TVETAH_LEN 4
#define UB_ICRC_LEN 4

/* Longest header chain from TPH to the last TA header (Write_with_notify, all options) */
#define UB_MAX_HDR                                                                                 \
	(UB_TPH_LEN + UB_UPIH_LEN + UB_EIDH_LEN + UB_BTAH_LEN + UB_UDETAH_LEN + UB_MAETAH_LEN +    \
	 UB_NTFETAH_LEN + UB_TVETAH_LEN)

/* TPH byte 0 (Base Spec 6.2.1) */
#define UB_TPH_LAST 0x80
#define UB_TPH_OPCODE 0x7f
/* TPH byte 1 */
#define UB_TPH_VER 0xc0
#define UB_TPH_PAD 0x30
#define UB_TPH_NLP 0x0f
/* RTPH byte 8 */
#define UB_TPH_A 0x80
#define UB_TPH_F 0x40
/* RTPH byte 12 */
#define UB_TPH_RSPST 0xe0
#define UB_TPH_RSPINFO 0x1f

enum ub_tp_opcode {
	UB_TP_UTP_DATA = 0x0,
	UB_TP_RTP_DATA = 0x1,
	UB_TP_ACK = 0x2, /* TPACK or TPNAK, told apart by RSPST */
	UB_TP_ACK_CC = 0x3,
	UB_TP_SACK = 0x5,
	UB_TP_SACK_CC = 0x6,
	UB_TP_CNP = 0x8,
	UB_TP_OPCODE_MAX = 0x8,
};

enum ub_nlp {
	UB_NLP_TAH = 0,
	UB_NLP_IDENT = 1, /* UPIH and EIDH first */
	UB_NLP_CIPH = 3, /* security header, not supported */
};

/* RSPST, in TPACK and (where marked) in ATAH */
enum ub_rspst {
	UB_RSPST_OK = 0,
	UB_RSPST_RNR = 1,
	UB_RSPST_FAULT = 2,
	UB_RSPST_ERROR = 3,
	UB_RSPST_TA = 5, /* TPACK that carries a TA response */
};

enum ub_rspinfo {
	UB_RSPINFO_PSN = 0, /* with ERROR in a TPNAK: go back to PSN */
	UB_RSPINFO_UNSUPPORTED = 1,
	UB_RSPINFO_ABORT = 2,
	UB_RSPINFO_TAACK = 2, /* with UB_RSPST_TA: a correct TAACK */
};

#define UB_RNR_TIMER_MAX 19 /* timeout is 2 us << timer */

/* Congestion control of a channel, TPCM and uboe_tp_ctx. CAQM is for UB domains alone */
enum ub_cc {
	UB_CC_NONE = 0,
	UB_CC_DCQCN = 1,
	UB_CC_CAQM = 2,
	UB_CC_LDCP = 3,
};

/* CETPH of CAQM: byte 4; byte 5 counts marks, bytes 6 and 7 sum up hints (Base Spec 6.6.1) */
#define UB_CETPH_CAQM_LOC 0x02
#define UB_CETPH_CAQM_I 0x01

/* CNP byte 0 */
#define UB_CNP_ECN 0xc0
#define UB_CNP_LOC 0x20
#define UB_CNP_ECN_LIGHT 1
#define UB_CNP_ECN_RSVD 2
#define UB_CNP_ECN_SEVERE 3

/* BTAH byte 1 */
#define UB_BTAH_VER 0xc0
#define UB_BTAH_EE 0x30
#define UB_BTAH_EE_PLAIN 0x10 /* not a trusted execution environment */
#define UB_BTAH_TV_EN 0x08
#define UB_BTAH_POISON 0x04
#define UB_BTAH_HINT 0x02
#define UB_BTAH_UD 0x01
/* BTAH byte 4 */
#define UB_BTAH_NO_TAACK 0x80
#define UB_BTAH_ODR 0x70
#define UB_BTAH_ODR_TCO 0x40
#define UB_BTAH_ODR_SHIFT 4
#define UB_ODR_TEO 3u /* of the field: enum ub_order */
#define UB_BTAH_MT_EN 0x08
#define UB_BTAH_FCE 0x04
#define UB_BTAH_RETRY 0x02
#define UB_BTAH_ALLOC 0x01
/* BTAH bytes 5..7 as a 24-bit word */
#define UB_BTAH_EXCL 0x400000
#define UB_BTAH_RC_TYPE 0x300000
#define UB_BTAH_RC_ID 0x0fffff
#define UB_RC_TYPE_SC 2u /* INI_RC_Type: INI_RC_ID is a sequence context, else a queue */
/* ATAH byte 1 */
#define UB_ATAH_SV 0x08
#define UB_ATAH_POISON 0x04
/* MAETAH / NTFETAH bytes 8..11 */
#define UB_TOKEN_ID_SHIFT 8
#define UB_TOKEN_ID_MAX 0xfffff
/* MTETAH as a 32-bit word */
#define UB_MT_TYPE 0x00300000
#define UB_MT_ID 0x000fffff
#define UB_MT_TYPE_GROUP 2

#define UB_TAACK_MORE_MAX 31 /* segments that a TAACK stands for beside its own */

/* Transaction execution order, BTAH.ODR[1:0] */
enum ub_order { UB_ORDER_NO = 0, UB_ORDER_RELAXED = 1, UB_ORDER_STRONG = 2 };

enum ub_ta_opcode {
	UB_TA_SEND = 0x00,
	UB_TA_SEND_IMM = 0x01,
	UB_TA_SEND_INV = 0x02, /* profile: chain of Send_with_immediate */
	UB_TA_WRITE = 0x03,
	UB_TA_WRITE_IMM = 0x04,
	UB_TA_WRITE_NOTIFY = 0x05,
	UB_TA_READ = 0x06,
	UB_TA_CAS = 0x07,
	UB_TA_SWAP = 0x08,
	UB_TA_STORE = 0x09,
	UB_TA_LOAD = 0x0a,
	UB_TA_FETCH_ADD = 0x0b,
	UB_TA_FETCH_SUB = 0x0c,
	UB_TA_FETCH_AND = 0x0d,
	UB_TA_FETCH_OR = 0x0e,
	UB_TA_FETCH_XOR = 0x0f,
	UB_TA_MGMT = 0x10,
	UB_TA_TAACK = 0x11,
	UB_TA_READ_RSP = 0x12,
	UB_TA_ATOMIC_RSP = 0x13,
	UB_TA_WRITE_BE = 0x14,
	UB_TA_PREFETCH = 0x15,
	UB_TA_WRITEBACK = 0x17,
	UB_TA_WRITEBACK_BE = 0x18,
	UB_TA_WRITE_STOREADD = 0x1a, /* profile */
	UB_TA_OPCODE_MAX = 0x1a,
};

/* UDETAH of reduce (profile) and of atomic store and load (Base Spec 7.2) */
#define UB_UD_CLASS 0xf0000000u
#define UB_UD_OP 0x00f00000u
#define UB_UD_TYPE 0x000f0000u
#define UB_UD_CLASS_ATOMIC 0u
#define UB_UD_CLASS_REDUCE 1u

/* SAETPH BitMapSize code n means 64 << n bits */
#define UB_SACK_SIZE_MAX 4

#define UB_PSN_MASK 0xffffffu
#define UB_MTU_MIN 1024
#define UB_MTU_MAX 8192

/* TPCM v1, the profile's channel set-up: UTP Send to public jetty 0, docs/wire.md */
#define UB_TPCM_MAGIC 0x55425450u /* "UBTP" */
#define UB_TPCM_VERSION 1
#define UB_TPCM_LEN 100

enum ub_tpcm_type {
	UB_TPCM_REQ = 1,
	UB_TPCM_REP = 2,
	UB_TPCM_READY = 3,
	UB_TPCM_CLOSE = 4,
	UB_TPCM_REJ = 5,
};

/* Byte offsets in the TPCM body */
enum ub_tpcm_off {
	UB_TPCM_O_MAGIC = 0,
	UB_TPCM_O_VER = 4,
	UB_TPCM_O_TYPE = 5,
	UB_TPCM_O_FLAGS = 6,
	UB_TPCM_O_XID = 8,
	UB_TPCM_O_PEER_XID = 12,
	UB_TPCM_O_LTPN = 16,
	UB_TPCM_O_RTPN = 20,
	UB_TPCM_O_PSN = 24,
	UB_TPCM_O_LJETTY = 28,
	UB_TPCM_O_RJETTY = 32,
	UB_TPCM_O_UPI = 36,
	UB_TPCM_O_SEID = 40,
	UB_TPCM_O_DEID = 56,
	UB_TPCM_O_MTU = 72,
	UB_TPCM_O_RETRANS = 73,
	UB_TPCM_O_OOO = 74,
	UB_TPCM_O_BITMAP = 75,
	UB_TPCM_O_CC = 76,
	UB_TPCM_O_RTO_MODE = 77,
	UB_TPCM_O_RTO_N = 78,
	UB_TPCM_O_RTO_RETRY = 79,
	UB_TPCM_O_RTO_BASE = 80,
	UB_TPCM_O_CAPS = 84,
	UB_TPCM_O_SVC = 88,
	UB_TPCM_O_MAX_RD = 92,
	UB_TPCM_O_REASON = 94,
	UB_TPCM_O_RSVD = 96,
};

#define UB_TPCM_RETRANS_SR 0x01
#define UB_TPCM_RETRANS_FAST 0x80
#define UB_TPCM_RETRANS_MARK 0x40

enum ub_cap {
	UB_CAP_WASA = 1u << 0,
	UB_CAP_REDUCE = 1u << 1,
	UB_CAP_ICRC_BE = 1u << 2,
	UB_CAP_CNP2 = 1u << 3,
	UB_CAP_CLR_EOR_ARM = 1u << 4, /* sub-operations 1 and 2 the other way round */
	UB_CAP_LONG_SEND = 1u << 5, /* one Send longer than 64 KiB */
	UB_CAP_SEND_INV = 1u << 6,
	UB_CAP_ANY_ID = 1u << 7, /* IPv4 ID may be non-zero towards this end */
};

#define UB_SVC_ROI 1u
#define UB_SVC_ROT 2u
#define UB_SVC_ROL 4u
#define UB_SVC_UNO 8u

/* TPN of a reliable connection, a function of the jetty number */
#define UB_TPN_RC(jetty) (0x800000u | (jetty))
#define UB_TPN_RC_JETTY(tpn) ((tpn) & 0xfffffu)
#define UB_TPN_IS_RC(tpn) (((tpn) & 0xf00000u) == 0x800000u)

#endif /* UB_WIRE_H */
