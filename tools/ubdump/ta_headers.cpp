// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Headers of transactions, operations, set-up messages. docs/wire.md 4 to 6.
#include <algorithm>

#include "headers.hpp"

extern "C" {
#include "ubp_pkt.h"
}

namespace ubdump
{

namespace
{

constexpr std::uint32_t send_chain = UBP_H_BTAH | UBP_H_MT | UBP_H_OFST | UBP_H_PLD;
constexpr std::uint32_t write_chain = UBP_H_BTAH | UBP_H_MA | UBP_H_PLD;
constexpr std::uint32_t notify_chain = write_chain | UBP_H_NTF;
constexpr std::uint32_t atomic_chain = UBP_H_BTAH | UBP_H_TAID | UBP_H_MA | UBP_H_PLD;
constexpr auto none = Payload::none, data = Payload::data, two = Payload::operands;

constexpr Operation operations[] = {
	{ UB_TA_SEND, "Send", send_chain, data, true },
	{ UB_TA_SEND_IMM, "Send_with_immediate", send_chain | UBP_H_IMM, data, true },
	{ UB_TA_SEND_INV, "Send_with_invalidate", send_chain | UBP_H_IMM, data, false },
	{ UB_TA_WRITE, "Write", write_chain, data, false },
	{ UB_TA_WRITE_IMM, "Write_with_immediate", write_chain | UBP_H_MT | UBP_H_IMM, data,
	  false },
	{ UB_TA_WRITE_NOTIFY, "Write_with_notify", notify_chain, data, false },
	{ UB_TA_READ, "Read", UBP_H_BTAH | UBP_H_TAID | UBP_H_OFST | UBP_H_MA, none, false },
	{ UB_TA_CAS, "Atomic_compare_swap", atomic_chain, two, false },
	{ UB_TA_SWAP, "Atomic_swap", atomic_chain, two, false },
	{ UB_TA_STORE, "Atomic_store", atomic_chain, two, false },
	{ UB_TA_LOAD, "Atomic_load", atomic_chain, two, false },
	{ UB_TA_FETCH_ADD, "Atomic_fetch_add", atomic_chain, two, false },
	{ UB_TA_FETCH_SUB, "Atomic_fetch_sub", atomic_chain, two, false },
	{ UB_TA_FETCH_AND, "Atomic_fetch_and", atomic_chain, two, false },
	{ UB_TA_FETCH_OR, "Atomic_fetch_or", atomic_chain, two, false },
	{ UB_TA_FETCH_XOR, "Atomic_fetch_xor", atomic_chain, two, false },
	{ UB_TA_MGMT, "Management", UBP_H_BTAH | UBP_H_PLD, data, true },
	{ UB_TA_TAACK, "TAACK", UBP_H_ATAH, none, false },
	{ UB_TA_READ_RSP, "Read_response", UBP_H_ATAH | UBP_H_TAID | UBP_H_OFST | UBP_H_PLD, data,
	  false },
	{ UB_TA_ATOMIC_RSP, "Atomic_response", UBP_H_ATAH | UBP_H_TAID | UBP_H_PLD, data, false },
	{ UB_TA_WRITE_BE, "Write_with_be", write_chain, data, false, true },
	{ UB_TA_PREFETCH, "Prefetch_tgt", UBP_H_BTAH | UBP_H_MA, none, true },
	{ UB_TA_WRITEBACK, "Writeback", write_chain, data, false },
	{ UB_TA_WRITEBACK_BE, "Writeback_with_be", write_chain, data, false, true },
	{ UB_TA_WRITE_STOREADD, "Write_with_store_add", notify_chain, data, false },
};

constexpr auto ta_names = [] {
	std::array<Name, std::size(operations)> names{};

	for (std::size_t i = 0; i < names.size(); ++i)
		names[i] = { operations[i].code, operations[i].name };
	return names;
}();
constexpr Name ees[] = { { 1, "not trusted" }, { 3, "trusted" } };
constexpr Name rc_types[] = { { 0, "send queue" }, { 1, "send queue" }, { 2, "sequence context" } };
constexpr Name tc_types[] = { { 0, "JFR" }, { 1, "jetty" }, { 2, "group" } };
constexpr Name orders[] = { { 0, "none" },
			    { 1, "relaxed" },
			    { 2, "strong" },
			    { 4, "none, completions in order" },
			    { 5, "relaxed, completions in order" },
			    { 6, "strong, completions in order" } };
constexpr Name ta_answers[] = { { 0, "done, in memory" },
				{ 1, "target not ready" },
				{ 2, "page fault" },
				{ 3, "error" },
				{ 5, "done, at the memory controller" } };
constexpr Name classes[] = { { 0, "atomic" }, { 1, "reduce" }, { 15, "vendor" } };
constexpr Name sub_operations[] = { { 0, "ADD" },  { 1, "CLR" },  { 2, "EOR" },	 { 3, "SET" },
				    { 4, "SMAX" }, { 5, "SMIN" }, { 6, "UMAX" }, { 7, "UMIN" } };
constexpr Name types[] = { { 0, "s8" },	  { 1, "s16" },	 { 2, "s32" },	{ 3, "s64" },
			   { 4, "fp16" }, { 5, "bf16" }, { 6, "fp32" }, { 8, "u8" },
			   { 9, "u16" },  { 10, "u32" }, { 11, "u64" } };
constexpr Name tpcm_types[] = {
	{ 1, "REQ" }, { 2, "REP" }, { 3, "READY" }, { 4, "CLOSE" }, { 5, "REJ" }
};
constexpr Name mtus[] = { { 1, "256" },	 { 2, "512" },	{ 3, "1024" },
			  { 4, "2048" }, { 5, "4096" }, { 6, "8192" } };
constexpr Name modes[] = { { 0, "go-back-N" }, { 1, "selective" } };
constexpr Name rto_modes[] = { { 0, "static" }, { 1, "dynamic" } };
constexpr Name algorithms[] = { { 0, "none" }, { 1, "DCQCN" }, { 2, "CAQM" }, { 3, "LDCP" } };
constexpr Name bitmaps[] = { { 0, "64" }, { 1, "128" }, { 2, "256" }, { 3, "512" }, { 4, "1024" } };

#define TAH_COMMON                                                                                 \
	{ "tah.opcode", "TAOpcode", Kind::named, 0, 1, 0, ta_names },                              \
		{ "tah.ver", "TAver", Kind::decimal, 1, 1, 0xc0 },                                 \
		{ "tah.poison", "Poison", Kind::decimal, 1, 1, 0x04 },                             \
		{ "tah.tassn", "INI_TASSN", Kind::decimal, 2, 2 },                                 \
		{ "tah.rctype", "INI_RC_Type", Kind::named, 5, 1, 0x30, rc_types },                \
	{                                                                                          \
		"tah.rcid", "INI_RC_ID", Kind::hex, 5, 3, 0x0fffff                                 \
	}
constexpr Spec btah_fields[] = {
	TAH_COMMON,
	{ "tah.ee", "EE_bits", Kind::named, 1, 1, 0x30, ees },
	{ "tah.tv_en", "TV_EN", Kind::decimal, 1, 1, 0x08 },
	{ "tah.target_hint", "Target_Hint", Kind::decimal, 1, 1, 0x02 },
	{ "tah.ud_flag", "UD_Flag", Kind::decimal, 1, 1, 0x01 },
	{ "tah.no_taack", "No_TAACK", Kind::decimal, 4, 1, 0x80 },
	{ "tah.odr", "ODR", Kind::named, 4, 1, 0x70, orders },
	{ "tah.mt_en", "MT_EN", Kind::decimal, 4, 1, 0x08 },
	{ "tah.fce", "FCE", Kind::decimal, 4, 1, 0x04 },
	{ "tah.retry", "Retry", Kind::decimal, 4, 1, 0x02 },
	{ "tah.alloc", "Alloc", Kind::decimal, 4, 1, 0x01 },
	{ "tah.exclusive", "E_bit", Kind::decimal, 5, 1, 0x40 },
};
constexpr Spec atah_fields[] = {
	TAH_COMMON,
	{ "tah.sv", "SV", Kind::decimal, 1, 1, 0x08 },
	{ "tah.rspst", "RSPST", Kind::named, 4, 1, 0xe0, ta_answers },
	{ "tah.rspinfo", "RSPINFO", Kind::decimal, 4, 1, 0x1f },
	{ "tah.rnr_us", "Time to wait (us)", Kind::decimal },
};
constexpr Spec udetah_fields[] = {
	{ "tah.ud", "User data", Kind::hex, 0, 4 },
	{ "tah.ud.class", "Class", Kind::named, 0, 4, UB_UD_CLASS, classes },
	{ "tah.ud.subop", "Sub-operation", Kind::named, 0, 4, UB_UD_OP, sub_operations },
	{ "tah.ud.dtype", "Data type", Kind::named, 0, 4, UB_UD_TYPE, types },
};
constexpr Spec taidetah_fields[] = { { "tah.taid", "TAID", Kind::hex, 2, 2 } };
constexpr Spec ofstetah_fields[] = { { "tah.ofst", "Offset (KiB)", Kind::decimal, 1, 3 } };
constexpr Spec maetah_fields[] = {
	{ "tah.addr", "Address", Kind::hex, 0, 8 },
	{ "tah.tokenid", "TokenID", Kind::hex, 8, 4, 0x0fffff00 },
	{ "tah.length", "Length", Kind::decimal, 12, 4 },
};
constexpr Spec mtetah_fields[] = {
	{ "tah.mt.hint", "Hint", Kind::hex, 0, 1 },
	{ "tah.mt.type", "TGT_TC_Type", Kind::named, 1, 1, 0x30, tc_types },
	{ "tah.mt.tcid", "TGT_TC_ID", Kind::hex, 1, 3, 0x0fffff },
};
constexpr Spec immetah_fields[] = {
	{ "tah.imm", "Immediate", Kind::hex, 0, 8 },
	{ "tah.imm_token", "Immediate_TokenValue", Kind::hex, 8, 4 },
	{ "tah.msg_length", "Msg_Length", Kind::decimal, 12, 4 },
};
constexpr Spec invetah_fields[] = {
	{ "tah.inv.tokenid", "Invalidated TokenID", Kind::hex, 0, 4 },
	{ "tah.inv.tokenvalue", "Invalidated TokenValue", Kind::hex, 4, 4 },
};
constexpr Spec ntfetah_fields[] = {
	{ "tah.ntf.addr", "Notify address", Kind::hex, 0, 8 },
	{ "tah.ntf.tokenid", "Notify TokenID", Kind::hex, 8, 4, 0x0fffff00 },
	{ "tah.ntf.tokenvalue", "Notify_TokenValue", Kind::hex, 12, 4 },
	{ "tah.ntf.data", "Notify_Data", Kind::hex, 16, 8 },
};
constexpr Spec tvetah_fields[] = { { "tah.tokenvalue", "TokenValue", Kind::hex, 0, 4 } };
constexpr Spec beetah_fields[] = { { "tah.be", "Byte enables", Kind::bytes } };
constexpr Spec operand_fields[] = {
	{ "atomic.op1", "Operand 1", Kind::bytes },
	{ "atomic.op2", "Operand 2", Kind::bytes },
};
constexpr Spec payload_fields[] = {
	{ "payload.length", "Length", Kind::decimal },
	{ "payload", "Bytes", Kind::bytes },
};
constexpr Spec pad_fields[] = { { "pad", "Bytes", Kind::bytes } };
constexpr Spec tpcm_fields[] = {
	{ "tpcm.magic", "Magic", Kind::hex, UB_TPCM_O_MAGIC, 4 },
	{ "tpcm.ver", "Version", Kind::decimal, UB_TPCM_O_VER, 1 },
	{ "tpcm.type", "Type", Kind::named, UB_TPCM_O_TYPE, 1, 0, tpcm_types },
	{ "tpcm.flags", "Flags", Kind::hex, UB_TPCM_O_FLAGS, 2 },
	{ "tpcm.xid", "Incarnation", Kind::hex, UB_TPCM_O_XID, 4 },
	{ "tpcm.peer_xid", "Peer's incarnation", Kind::hex, UB_TPCM_O_PEER_XID, 4 },
	{ "tpcm.tpn", "TPN", Kind::hex, UB_TPCM_O_LTPN, 4 },
	{ "tpcm.peer_tpn", "Peer's TPN", Kind::hex, UB_TPCM_O_RTPN, 4 },
	{ "tpcm.psn", "First PSN", Kind::decimal, UB_TPCM_O_PSN, 4 },
	{ "tpcm.jetty", "Jetty", Kind::hex, UB_TPCM_O_LJETTY, 4 },
	{ "tpcm.peer_jetty", "Peer's jetty", Kind::hex, UB_TPCM_O_RJETTY, 4 },
	{ "tpcm.upi", "UPI", Kind::hex, UB_TPCM_O_UPI, 4 },
	{ "tpcm.seid", "SEID", Kind::address, UB_TPCM_O_SEID, 16 },
	{ "tpcm.deid", "DEID", Kind::address, UB_TPCM_O_DEID, 16 },
	{ "tpcm.mtu", "MTU", Kind::named, UB_TPCM_O_MTU, 1, 0, mtus },
	{ "tpcm.retrans.fast", "Fast retransmit", Kind::decimal, UB_TPCM_O_RETRANS, 1, 0x80 },
	{ "tpcm.retrans.markpsn", "MarkPSN", Kind::decimal, UB_TPCM_O_RETRANS, 1, 0x40 },
	{ "tpcm.retrans.mode", "Retransmission", Kind::named, UB_TPCM_O_RETRANS, 1, 0x3f, modes },
	{ "tpcm.ooo_log2", "Out-of-order window (log2)", Kind::decimal, UB_TPCM_O_OOO, 1 },
	{ "tpcm.bitmap", "BitMapSize", Kind::named, UB_TPCM_O_BITMAP, 1, 0, bitmaps },
	{ "tpcm.cc_alg", "Congestion control", Kind::named, UB_TPCM_O_CC, 1, 0, algorithms },
	{ "tpcm.rto_mode", "RTO mode", Kind::named, UB_TPCM_O_RTO_MODE, 1, 0, rto_modes },
	{ "tpcm.rto_n", "RTO N", Kind::decimal, UB_TPCM_O_RTO_N, 1 },
	{ "tpcm.rto_retry", "RTO retries", Kind::decimal, UB_TPCM_O_RTO_RETRY, 1 },
	{ "tpcm.rto_base_us", "RTO base (us)", Kind::decimal, UB_TPCM_O_RTO_BASE, 4 },
	{ "tpcm.caps", "Capabilities", Kind::hex, UB_TPCM_O_CAPS, 4 },
	{ "tpcm.svc_modes", "Service modes", Kind::hex, UB_TPCM_O_SVC, 4 },
	{ "tpcm.max_rd", "Outstanding reads and atomics", Kind::decimal, UB_TPCM_O_MAX_RD, 2 },
	{ "tpcm.reason", "Reason", Kind::decimal, UB_TPCM_O_REASON, 2 },
};

} // namespace

const Header btah{ "Transaction header (BTAH)", UB_BTAH_LEN, btah_fields };
const Header atah{ "Transaction header (ATAH)", UB_ATAH_LEN, atah_fields };
const Header udetah{ "User data (UDETAH)", UB_UDETAH_LEN, udetah_fields };
const Header taidetah{ "Transaction (TAIDETAH)", UB_TAIDETAH_LEN, taidetah_fields };
const Header ofstetah{ "Offset (OFSTETAH)", UB_OFSTETAH_LEN, ofstetah_fields };
const Header maetah{ "Memory (MAETAH)", UB_MAETAH_LEN, maetah_fields };
const Header mtetah{ "Target (MTETAH)", UB_MTETAH_LEN, mtetah_fields };
const Header immetah{ "Immediate (IMMETAH)", UB_IMMETAH_LEN, immetah_fields };
const Header invetah{ "Invalidation (IMMETAH)", UB_IMMETAH_LEN, invetah_fields };
const Header ntfetah{ "Notification (NTFETAH)", UB_NTFETAH_LEN, ntfetah_fields };
const Header tvetah{ "Token (TVETAH)", UB_TVETAH_LEN, tvetah_fields };
const Header beetah{ "Byte enables (BEETAH)", 0, beetah_fields };
const Header operands{ "Operands", 0, operand_fields };
const Header payload{ "Payload", 0, payload_fields };
const Header pad{ "Pad", 0, pad_fields };
const Header tpcm{ "Channel set-up (TPCM)", UB_TPCM_LEN, tpcm_fields };

const Operation *operation_of(std::uint8_t code)
{
	const auto *found = std::find_if(std::begin(operations), std::end(operations),
					 [code](const Operation &o) { return o.code == code; });

	return found == std::end(operations) ? nullptr : found;
}

std::span<const Operation> all_operations()
{
	return operations;
}

} // namespace ubdump
