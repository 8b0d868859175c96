-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
--
-- Wireshark dissector for UnifiedBus over Ethernet (UDP port 4792), and for native UB packets as
-- the lab link carries them (Ethernet type 0x88b5).
--
--     tshark -X lua_script:tools/wireshark/uboe.lua -r FILE -Y uboe
--
-- Runs with Lua 5.2 (Wireshark 4.0, 4.2) and Lua 5.4 (4.4). It decodes the transport header, the
-- identity headers, every transaction header chain and the channel set-up messages, and verifies
-- the ICRC. A packet that a receiver must drop carries uboe.drop with the reason's name; the names
-- are those of docs/wire.md.

local uboe = Proto("uboe", "UnifiedBus over Ethernet")
local ub = Proto("ub", "Native UnifiedBus packet")

local bitop = bit or bit32
if not bitop then
    -- Plain Lua 5.3 and later; the text must not reach an older parser.
    bitop = assert(load([[return {
        band = function(a, b) return a & b end, bxor = function(a, b) return a ~ b end,
        bor = function(a, b) return a | b end, rshift = function(a, n) return (a & 0xffffffff) >> n end,
    }]]))()
end
local band, bor, bxor, rshift = bitop.band, bitop.bor, bitop.bxor, bitop.rshift

-- ------------------------------------------------------------------------------------------------
-- Names of values

local TP = {
    [0x0] = "UTP", [0x1] = "RTP", [0x2] = "TPACK", [0x3] = "TPACK-CC", [0x5] = "TPSACK",
    [0x6] = "TPSACK-CC", [0x8] = "CNP",
}

local RSPST = {
    [0] = "Success", [1] = "Receiver not ready", [2] = "Page fault", [3] = "Error",
    [4] = "Reserved", [5] = "TA response", [6] = "Reserved", [7] = "Reserved",
}

local TA_RSPST = {
    [0] = "Success, in memory", [1] = "Receiver not ready", [2] = "Page fault",
    [3] = "Target error", [4] = "Reserved", [5] = "Success, at memory controller",
    [6] = "Reserved", [7] = "Reserved",
}

local NLP = { [0] = "TAH", [1] = "UPIH, EIDH, TAH", [2] = "Reserved", [3] = "CIPH" }
local EE = { [0] = "Reserved", [1] = "Non-TEE", [2] = "Reserved", [3] = "TEE" }
local RC_TYPE = { [0] = "Send queue", [1] = "Send queue", [2] = "Sequence context", [3] = "Reserved" }
local TC_TYPE = { [0] = "TC", [1] = "TC", [2] = "TC group", [3] = "Reserved" }
local ORDER = {
    [0] = "NO", [1] = "RO", [2] = "SO", [3] = "Reserved", [4] = "NO, completions in order",
    [5] = "RO, completions in order", [6] = "SO, completions in order", [7] = "Reserved",
}
local SUBOP = {
    [0] = "ADD", [1] = "CLR", [2] = "EOR", [3] = "SET", [4] = "SMAX", [5] = "SMIN", [6] = "UMAX",
    [7] = "UMIN",
}
local UD_CLASS = { [0] = "Atomic sub-operation", [1] = "Reduce", [15] = "Vendor" }
local UD_DTYPE = {
    [0] = "s8", [1] = "s16", [2] = "s32", [3] = "s64", [4] = "fp16", [5] = "bf16", [6] = "fp32",
    [8] = "u8", [9] = "u16", [10] = "u32", [11] = "u64",
}
local CNP_ECN = { [0] = "None", [1] = "Light", [2] = "Reserved", [3] = "Severe" }
local BITMAP = { [0] = "64", [1] = "128", [2] = "256", [3] = "512", [4] = "1024" }
local TPCM_TYPE = { [1] = "REQ", [2] = "REP", [3] = "READY", [4] = "CLOSE", [5] = "REJ" }
local MTU = { [1] = "256", [2] = "512", [3] = "1024", [4] = "2048", [5] = "4096", [6] = "8192" }
local RETRANS = { [0] = "Go-back-N", [1] = "Selective" }
local RTO_MODE = { [0] = "Static", [1] = "Dynamic" }
local CC_ALG = { [0] = "None", [1] = "DCQCN", [2] = "CAQM", [3] = "LDCP" }

local CFG = { [0] = "Control", [3] = "IPv4", [4] = "IPv6" }
local ROUTING = {
    [0] = "Per flow", [1] = "Per packet", [2] = "Per flow, shortest paths",
    [3] = "Per packet, shortest paths",
}
local CCI_MODE = { [0] = "CAQM", [2] = "FECN and RTT", [4] = "FECN" }
local FECN = { [0] = "Unmarkable", [1] = "Light", [2] = "Markable", [3] = "Severe" }

-- What follows a BTAH or ATAH, in order. "tv" is there when TV_EN says so; UDETAH (always first
-- after a BTAH) when UD_Flag says so.
local REQUEST, RESPONSE = "request", "response"
local TA = {
    [0x00] = { name = "Send", chain = { "mt", "ofst", "tv" }, data = true, utp = true },
    [0x01] = { name = "Send_with_immediate", chain = { "mt", "ofst", "imm", "tv" }, data = true, utp = true },
    [0x02] = { name = "Send_with_invalidate", chain = { "mt", "ofst", "inv", "tv" }, data = true },
    [0x03] = { name = "Write", chain = { "ma", "tv" }, data = true },
    [0x04] = { name = "Write_with_immediate", chain = { "mt", "ma", "imm", "tv" }, data = true },
    [0x05] = { name = "Write_with_notify", chain = { "ma", "ntf", "tv" }, data = true },
    [0x06] = { name = "Read", chain = { "taid", "ofst", "ma", "tv" } },
    [0x07] = { name = "Atomic_compare_swap", atomic = true },
    [0x08] = { name = "Atomic_swap", atomic = true },
    [0x09] = { name = "Atomic_store", atomic = true, subop = true },
    [0x0a] = { name = "Atomic_load", atomic = true, subop = true },
    [0x0b] = { name = "Atomic_fetch_add", atomic = true },
    [0x0c] = { name = "Atomic_fetch_sub", atomic = true },
    [0x0d] = { name = "Atomic_fetch_and", atomic = true },
    [0x0e] = { name = "Atomic_fetch_or", atomic = true },
    [0x0f] = { name = "Atomic_fetch_xor", atomic = true },
    [0x10] = { name = "Management", chain = {}, data = true, utp = true },
    [0x11] = { name = "TAACK", kind = RESPONSE, chain = {} },
    [0x12] = { name = "Read_response", kind = RESPONSE, chain = { "taid", "ofst" }, data = true },
    [0x13] = { name = "Atomic_response", kind = RESPONSE, chain = { "taid" }, data = true },
    [0x14] = { name = "Write_with_be", chain = { "ma", "tv", "be" }, data = true },
    [0x15] = { name = "Prefetch_tgt", chain = { "ma" }, utp = true },
    [0x17] = { name = "Writeback", chain = { "ma", "tv" }, data = true },
    [0x18] = { name = "Writeback_with_be", chain = { "ma", "tv", "be" }, data = true },
    [0x1a] = { name = "Write_with_store_add", chain = { "ma", "ntf", "tv" }, data = true },
}
local TA_NAME = {}
for code, op in pairs(TA) do
    op.kind = op.kind or REQUEST
    if op.atomic then
        op.chain, op.data = { "taid", "ma", "tv" }, true
    end
    TA_NAME[code] = op.name
end

local REASON = {
    short = "Too short for a TPH and an ICRC",
    ip_ihl = "IPv4 header with options",
    icrc = "ICRC mismatch",
    length = "Packet length does not fit the headers",
    truncated = "Packet ends inside a header",
    pad = "Padding does not fit the payload",
    tp_ver = "Unknown TPVer",
    tp_opcode = "Reserved TPOpcode",
    tp_rspst = "Reserved RSPST or RSPINFO in the TPH",
    nlp = "Unsupported NLP",
    sack_size = "Reserved BitMapSize",
    ta_ver = "Unknown TAver",
    ta_opcode = "Reserved TAOpcode",
    ta_ee = "Unsupported EE_bits",
    ta_flags = "Reserved or contradictory TAH flags",
    ta_mode = "Operation is not allowed over UTP",
    ta_rspst = "Reserved RSPST or RSPINFO in the ATAH",
    atomic = "Bad size, operands or alignment of an atomic",
    tpcm = "Bad TPCM message",
    native_short = "Too short for LPH, CCI, NPI, IP and UDP headers",
    native_cfg = "Link configuration without an IP header",
    native_length = "Lengths of LPH, IP header and frame disagree",
    native_ip = "IP header that no UB packet has",
    partition = "Partition 0",
}

-- ------------------------------------------------------------------------------------------------
-- Fields

local F = {}
local function field(name, make, ...)
    F[name] = make("uboe." .. name, ...)
end
local P = ProtoField

field("lph", P.none, "Link packet header (LPH)")
field("lph.crd", P.uint32, "Credits", base.DEC, nil, 0x80000000)
field("lph.ack", P.uint32, "Link acknowledgement", base.DEC, nil, 0x40000000)
field("lph.crd_vl", P.uint32, "VL of the credits", base.DEC, nil, 0x3c000000)
field("lph.vl", P.uint32, "Virtual lane", base.DEC, nil, 0x01e00000)
field("lph.cfg", P.uint32, "Configuration", base.DEC, CFG, 0x000f0000)
field("lph.rt", P.uint32, "Routing type", base.DEC, ROUTING, 0x0000c000)
field("lph.blocks", P.uint32, "Blocks less one", base.DEC, nil, 0x00003c00)
field("lph.flits", P.uint32, "Flits of the last block less one", base.DEC, nil, 0x000003e0)
field("lph.tail", P.uint32, "Bytes of the last flit less one", base.DEC, nil, 0x0000001f)
field("lph.length", P.uint32, "Length of the packet", base.DEC)
field("nth", P.none, "Network header (CCI, NPI)")
field("cci.mode", P.uint16, "Congestion mode", base.DEC, CCI_MODE, 0xe000)
field("cci.loc", P.uint16, "Location of congestion", base.DEC, nil, 0x1000)
field("cci.fecn", P.uint16, "FECN", base.DEC, FECN, 0x0003)
field("cci.timestamp", P.uint16, "Time stamp", base.DEC, nil, 0x0ffc)
field("cci.caqm", P.uint16, "CAQM enabled", base.DEC, nil, 0x0400)
field("cci.c", P.uint16, "C", base.DEC, nil, 0x0200)
field("cci.i", P.uint16, "I", base.DEC, nil, 0x0100)
field("cci.hint", P.uint16, "Hint", base.DEC, nil, 0x00ff)
field("npi.low", P.uint32, "Low privilege", base.DEC, nil, 0x01000000)
field("npi.partition", P.uint32, "Partition", base.HEX, nil, 0x00ffffff)

field("tph", P.none, "Transport header (TPH)")
field("tph.last", P.uint8, "Last", base.DEC, nil, 0x80)
field("tph.opcode", P.uint8, "TPOpcode", base.HEX, TP, 0x7f)
field("tph.ver", P.uint8, "TPVer", base.DEC, nil, 0xc0)
field("tph.padding", P.uint8, "Padding", base.DEC, nil, 0x30)
field("tph.nlp", P.uint8, "NLP", base.DEC, NLP, 0x0f)
field("tph.srctpn", P.uint24, "SrcTPN", base.HEX)
field("tph.dsttpn", P.uint24, "DstTPN", base.HEX)
field("tph.ack", P.uint8, "Acknowledge (A)", base.DEC, nil, 0x80)
field("tph.fake", P.uint8, "Fake (F)", base.DEC, nil, 0x40)
field("tph.psn", P.uint24, "PSN", base.DEC)
field("tph.rspst", P.uint8, "RSPST", base.DEC, RSPST, 0xe0)
field("tph.rspinfo", P.uint8, "RSPINFO", base.DEC, nil, 0x1f)
field("tph.rnr_us", P.uint32, "RNR timeout (us)", base.DEC)
field("tph.tpmsn", P.uint24, "TPMSN", base.DEC)

field("cetph", P.none, "Congestion header (CETPH)")
field("cetph.ack_seq", P.uint32, "Ack_Seq (2 bytes)", base.DEC)
field("cetph.ce_seq", P.uint32, "Ce_Seq (2 bytes)", base.DEC)
field("cetph.loc", P.uint8, "Location", base.DEC, nil, 0x02)
field("cetph.i", P.uint8, "Increase", base.DEC, nil, 0x01)
field("cetph.c", P.uint8, "Congestion marks", base.DEC)
field("cetph.hint", P.uint16, "Hint", base.DEC)
field("cnp", P.none, "Congestion notification (CNP)")
field("cnp.ecn", P.uint8, "ECN", base.DEC, CNP_ECN, 0xc0)
field("cnp.loc", P.uint8, "Location", base.DEC, nil, 0x20)
field("sack", P.none, "Selective acknowledgement (SAETPH)")
field("sack.bitmapsize", P.uint8, "BitMapSize", base.DEC, BITMAP, 0x07)
field("sack.maxrcvpsn", P.uint24, "MaxRcvPSN", base.DEC)
field("sack.bitmap", P.bytes, "BitMap")
field("sack.received", P.uint32, "Packets received in the map", base.DEC)
field("sack.missing", P.string, "Missing PSNs")

field("ident", P.none, "Identity (UPIH, EIDH)")
field("upi.low", P.uint8, "Low privilege", base.DEC, nil, 0x01)
field("upi", P.uint24, "UPI", base.HEX)
field("seid", P.ipv6, "SEID")
field("deid", P.ipv6, "DEID")

field("tah", P.none, "Transaction header (TAH)")
field("tah.opcode", P.uint8, "TAOpcode", base.HEX, TA_NAME)
field("tah.ver", P.uint8, "TAver", base.DEC, nil, 0xc0)
field("tah.ee", P.uint8, "EE_bits", base.DEC, EE, 0x30)
field("tah.tv_en", P.uint8, "TV_EN", base.DEC, nil, 0x08)
field("tah.sv", P.uint8, "SV", base.DEC, nil, 0x08)
field("tah.poison", P.uint8, "Poison", base.DEC, nil, 0x04)
field("tah.target_hint", P.uint8, "Target_Hint", base.DEC, nil, 0x02)
field("tah.ud_flag", P.uint8, "UD_Flag", base.DEC, nil, 0x01)
field("tah.tassn", P.uint16, "INI_TASSN", base.DEC)
field("tah.no_taack", P.uint8, "No_TAACK", base.DEC, nil, 0x80)
field("tah.odr", P.uint8, "ODR", base.DEC, ORDER, 0x70)
field("tah.mt_en", P.uint8, "MT_EN", base.DEC, nil, 0x08)
field("tah.fce", P.uint8, "FCE", base.DEC, nil, 0x04)
field("tah.retry", P.uint8, "Retry", base.DEC, nil, 0x02)
field("tah.alloc", P.uint8, "Alloc", base.DEC, nil, 0x01)
field("tah.exclusive", P.uint8, "E_bit", base.DEC, nil, 0x40)
field("tah.rctype", P.uint8, "INI_RC_Type", base.DEC, RC_TYPE, 0x30)
field("tah.rcid", P.uint24, "INI_RC_ID", base.HEX, nil, 0x0fffff)
field("tah.rspst", P.uint8, "RSPST", base.DEC, TA_RSPST, 0xe0)
field("tah.rspinfo", P.uint8, "RSPINFO", base.DEC, nil, 0x1f)
field("tah.rnr_us", P.uint32, "RNR timeout (us)", base.DEC)

field("tah.ud", P.uint32, "User data (UDETAH)", base.HEX)
field("tah.ud.class", P.uint32, "Class", base.DEC, UD_CLASS, 0xf0000000)
field("tah.ud.subop", P.uint32, "Sub-operation", base.DEC, SUBOP, 0x00f00000)
field("tah.ud.dtype", P.uint32, "Data type", base.DEC, UD_DTYPE, 0x000f0000)
field("tah.taid", P.uint16, "TAID", base.HEX)
field("tah.ofst", P.uint24, "Offset (KiB)", base.DEC)
field("tah.addr", P.uint64, "Address", base.HEX)
field("tah.tokenid", P.uint32, "TokenID", base.HEX, nil, 0x0fffff00)
field("tah.length", P.uint32, "Length", base.DEC)
field("tah.mt.hint", P.uint8, "Hint", base.HEX)
field("tah.mt.type", P.uint8, "TGT_TC_Type", base.DEC, TC_TYPE, 0x30)
field("tah.mt.tcid", P.uint24, "TGT_TC_ID", base.HEX, nil, 0x0fffff)
field("tah.imm", P.uint64, "Immediate_Data", base.HEX)
field("tah.imm_token", P.uint32, "Immediate_TokenValue", base.HEX)
field("tah.msg_length", P.uint32, "Msg_Length", base.DEC)
field("tah.inv.tokenid", P.uint32, "Invalidated TokenID", base.HEX)
field("tah.inv.tokenvalue", P.uint32, "Invalidated TokenValue", base.HEX)
field("tah.ntf.addr", P.uint64, "Notify address", base.HEX)
field("tah.ntf.tokenid", P.uint32, "Notify TokenID", base.HEX, nil, 0x0fffff00)
field("tah.ntf.tokenvalue", P.uint32, "Notify_TokenValue", base.HEX)
field("tah.ntf.data", P.uint64, "Notify_Data", base.HEX)
field("tah.tokenvalue", P.uint32, "TokenValue", base.HEX)
field("tah.be", P.bytes, "Byte enables")

field("atomic.op1", P.bytes, "Operand 1")
field("atomic.op2", P.bytes, "Operand 2")
field("payload", P.bytes, "Payload")
field("payload.length", P.uint32, "Payload length", base.DEC)
field("pad", P.bytes, "Pad")

field("tpcm", P.none, "Channel set-up (TPCM)")
field("tpcm.magic", P.uint32, "Magic", base.HEX)
field("tpcm.ver", P.uint8, "Version", base.DEC)
field("tpcm.type", P.uint8, "Type", base.DEC, TPCM_TYPE)
field("tpcm.flags", P.uint16, "Flags", base.HEX)
field("tpcm.xid", P.uint32, "Incarnation", base.HEX)
field("tpcm.peer_xid", P.uint32, "Peer's incarnation", base.HEX)
field("tpcm.tpn", P.uint32, "TPN", base.HEX)
field("tpcm.peer_tpn", P.uint32, "Peer's TPN", base.HEX)
field("tpcm.psn", P.uint32, "Initial PSN", base.DEC)
field("tpcm.jetty", P.uint32, "Jetty", base.HEX)
field("tpcm.peer_jetty", P.uint32, "Peer's jetty", base.HEX)
field("tpcm.upi", P.uint32, "UPI", base.HEX)
field("tpcm.seid", P.ipv6, "SEID")
field("tpcm.deid", P.ipv6, "DEID")
field("tpcm.mtu", P.uint8, "MTU", base.DEC, MTU)
field("tpcm.retrans.fast", P.uint8, "Fast retransmit", base.DEC, nil, 0x80)
field("tpcm.retrans.markpsn", P.uint8, "MarkPSN", base.DEC, nil, 0x40)
field("tpcm.retrans.mode", P.uint8, "Retransmission", base.DEC, RETRANS, 0x3f)
field("tpcm.ooo_log2", P.uint8, "Out-of-order window (log2)", base.DEC)
field("tpcm.bitmap", P.uint8, "BitMapSize", base.DEC, BITMAP)
field("tpcm.cc_alg", P.uint8, "Congestion control", base.DEC, CC_ALG)
field("tpcm.rto_mode", P.uint8, "RTO mode", base.DEC, RTO_MODE)
field("tpcm.rto_n", P.uint8, "RTO N", base.DEC)
field("tpcm.rto_retry", P.uint8, "RTO retries", base.DEC)
field("tpcm.rto_base_us", P.uint32, "RTO base (us)", base.DEC)
field("tpcm.caps", P.uint32, "Capabilities", base.HEX)
field("tpcm.svc_modes", P.uint32, "Service modes", base.HEX)
field("tpcm.max_rd", P.uint16, "Outstanding reads and atomics", base.DEC)
field("tpcm.reason", P.uint16, "Reason", base.DEC)

field("icrc", P.uint32, "ICRC", base.HEX)
field("icrc.calc", P.uint32, "Calculated ICRC", base.HEX)
field("icrc.status", P.string, "ICRC status")
field("drop", P.string, "Drop reason")
field("internal_error", P.string, "Dissector error")

local field_list = {}
for _, f in pairs(F) do
    field_list[#field_list + 1] = f
end
uboe.fields = field_list

local E = {
    drop = ProtoExpert.new("uboe.expert.drop", "Packet must be dropped", expert.group.MALFORMED,
                           expert.severity.ERROR),
    icrc = ProtoExpert.new("uboe.expert.icrc", "Bad ICRC", expert.group.CHECKSUM, expert.severity.ERROR),
    answer = ProtoExpert.new("uboe.expert.answer", "Negative response", expert.group.RESPONSE_CODE,
                             expert.severity.NOTE),
    pad = ProtoExpert.new("uboe.expert.pad", "Pad bytes are not zero", expert.group.PROTOCOL,
                          expert.severity.WARN),
    internal = ProtoExpert.new("uboe.expert.internal", "Error in the dissector", expert.group.MALFORMED,
                               expert.severity.ERROR),
}
uboe.experts = { E.drop, E.icrc, E.answer, E.pad, E.internal }

uboe.prefs.port = Pref.uint("UDP port", 4792, "UDP destination port of UBoE")
uboe.prefs.verify = Pref.bool("Verify the ICRC", true, "Compute the ICRC of every packet")
uboe.prefs.icrc_order = Pref.enum("ICRC byte order", 0, "How the ICRC is stored", {
    { 1, "As an Ethernet FCS", 0 }, { 2, "Big-endian", 1 },
}, false)
uboe.prefs.cc = Pref.enum("CETPH format", 0, "Congestion control that the channels negotiated", {
    { 1, "LDCP", 0 }, { 2, "CAQM", 1 },
}, false)

-- ------------------------------------------------------------------------------------------------
-- ICRC: the reflected CRC-32 over a copy whose variant fields count as ones

local crc_table = {}
for n = 0, 255 do
    local c = n
    for _ = 1, 8 do
        if band(c, 1) == 1 then
            c = bxor(rshift(c, 1), 0xedb88320)
        else
            c = rshift(c, 1)
        end
    end
    crc_table[n] = c
end

local function crc_feed(crc, text)
    local byte, tab = string.byte, crc_table
    for i = 1, #text do
        crc = bxor(tab[band(bxor(crc, byte(text, i)), 0xff)], rshift(crc, 8))
    end
    return crc
end

local function unsigned(x)
    return x < 0 and x + 4294967296 or x
end

-- Replace the byte at @pos (from 0) by the result of ORing @mask into it.
local function or_byte(text, pos, mask)
    local b = bor(string.byte(text, pos + 1), mask)
    return text:sub(1, pos) .. string.char(b) .. text:sub(pos + 2)
end

local V4_MASK = { { 1, 0xff }, { 8, 0xff }, { 10, 0xff }, { 11, 0xff } }
local V6_MASK = { { 0, 0x0f }, { 1, 0xff }, { 2, 0xff }, { 3, 0xff }, { 7, 0xff } }

local function masked(text, mask)
    for _, m in ipairs(mask) do
        text = or_byte(text, m[1], m[2])
    end
    return text
end

local ip4_field, ip6_field, udp_field = Field.new("ip"), Field.new("ipv6"), Field.new("udp")

-- The innermost of @fields that starts before @limit.
local function innermost(fields, limit)
    local best
    for _, fi in ipairs(fields) do
        if fi.offset < limit and (not best or fi.offset >= best.offset) then
            best = fi
        end
    end
    return best
end

-- Raw IP and UDP headers in front of this payload, or nil.
local function outer_headers()
    local udp = innermost({ udp_field() }, math.huge)
    if not udp then
        return nil
    end
    local v4, v6 = innermost({ ip4_field() }, udp.offset), innermost({ ip6_field() }, udp.offset)
    if v4 and (not v6 or v4.offset > v6.offset) then
        v6 = nil
    else
        v4 = nil
    end
    local ip = v4 or v6
    if not ip then
        return nil
    end
    local size = v4 and 20 or 40
    if ip.range:len() < size or udp.range:len() < 8 then
        return nil
    end
    return {
        v4 = v4 ~= nil,
        options = v4 ~= nil and ip.range:len() ~= 20,
        ip = ip.range(0, size):raw(),
        udp = udp.range(0, 8):raw(),
    }
end

local function icrc_of(outer, tvb)
    local crc = -1
    crc = crc_feed(crc, masked(outer.ip, outer.v4 and V4_MASK or V6_MASK))
    crc = crc_feed(crc, outer.udp:sub(1, 6) .. "\255\255")
    crc = crc_feed(crc, tvb(0, tvb:len() - 4):raw())
    return unsigned(band(bxor(crc, -1), 0xffffffff))
end

-- ------------------------------------------------------------------------------------------------
-- Reading. A parser takes header after header from a cursor; stop() leaves it with a reason.

local Stop = {}

local function stop(reason)
    error(setmetatable({ reason = reason }, Stop), 0)
end

-- Next @size bytes.
local function take(cur, size)
    if cur.pos + size > cur.limit then
        stop("truncated")
    end
    local range = cur.tvb(cur.pos, size)
    cur.pos = cur.pos + size
    return range
end

local function left(cur)
    return cur.limit - cur.pos
end

-- Add fields to @tree: a list of name, offset, size.
local function add(tree, range, list)
    for i = 1, #list, 3 do
        tree:add(F[list[i]], range(list[i + 1], list[i + 2]))
    end
end

local function rnr_us(timer)
    return 2 * 2 ^ timer
end

local function generated(tree, name, value)
    local item = tree:add(F[name], value)
    item:set_generated()
    return item
end

-- ------------------------------------------------------------------------------------------------
-- Transport

local RTPH = {
    "tph.srctpn", 2, 3, "tph.dsttpn", 5, 3, "tph.ack", 8, 1, "tph.fake", 8, 1, "tph.psn", 9, 3,
    "tph.rspst", 12, 1, "tph.rspinfo", 12, 1, "tph.tpmsn", 13, 3,
}

local function parse_tph(cur, p)
    local r = take(cur, 16)
    local tree = cur.tree:add(F["tph"], r)
    add(tree, r, { "tph.last", 0, 1, "tph.opcode", 0, 1, "tph.ver", 1, 1, "tph.padding", 1, 1,
                   "tph.nlp", 1, 1 })
    p.op = r(0, 1):bitfield(1, 7)
    p.last = r(0, 1):bitfield(0, 1)
    p.ver, p.pad, p.nlp = r(1, 1):bitfield(0, 2), r(1, 1):bitfield(2, 2), r(1, 1):bitfield(4, 4)
    p.name = TP[p.op] or string.format("TPOpcode 0x%02x", p.op)
    if p.op ~= 0 then
        add(tree, r, RTPH)
        p.src, p.dst, p.psn, p.msn = r(2, 3):uint(), r(5, 3):uint(), r(9, 3):uint(), r(13, 3):uint()
        p.ack, p.fake = r(8, 1):bitfield(0, 1), r(8, 1):bitfield(1, 1)
        p.st, p.info = r(12, 1):bitfield(0, 3), r(12, 1):bitfield(3, 5)
    end
    p.tph = tree
    tree:append_text(": " .. p.name)
    if p.ver ~= 0 then
        stop("tp_ver")
    end
    if not TP[p.op] then
        stop("tp_opcode")
    end
end

-- TPACK, TPNAK and their -CC forms.
local function parse_ack_status(p)
    local limit = ({ [0] = 31, [1] = 19, [2] = 19, [3] = 2, [5] = 2 })[p.st]
    if not limit or p.info > limit then
        stop("tp_rspst")
    end
    local cc = p.op == 3 and "-CC" or ""
    if p.st == 3 then
        p.name = "TPNAK" .. cc
        p.note = ({ [0] = "PSN error", [1] = "unsupported request", [2] = "remote abort" })[p.info]
    elseif p.st == 1 or p.st == 2 then
        p.note = string.format("%s, %d us", p.st == 1 and "RNR" or "page fault", rnr_us(p.info))
        generated(p.tph, "tph.rnr_us", rnr_us(p.info))
    elseif p.st == 5 then
        p.note = ({ [0] = "TA abnormal, retry", [1] = "TA abnormal", [2] = "TAACK" })[p.info]
    end
    if p.note and not (p.st == 5 and p.info == 2) then
        p.tph:add_proto_expert_info(E.answer, p.name .. ": " .. p.note)
    end
end

local function parse_cetph(cur, p)
    local r = take(cur, 8)
    local tree = cur.tree:add(F["cetph"], r)
    if uboe.prefs.cc == 1 then
        add(tree, r, { "cetph.ack_seq", 0, 4, "cetph.loc", 4, 1, "cetph.i", 4, 1, "cetph.c", 5, 1,
                       "cetph.hint", 6, 2 })
    else
        add(tree, r, { "cetph.ack_seq", 0, 4, "cetph.ce_seq", 4, 4 })
    end
    p.cc_text = string.format(" Ack_Seq=%d", r(0, 4):uint())
end

-- Runs of missing PSNs between the base and the highest PSN seen, as text.
local function missing_psns(base, highest, map)
    local bits = map:len() * 8
    local span = (highest - base) % 0x1000000
    if span >= 0x800000 then
        return "", 0
    end
    local raw, out, from, count = map:raw(), {}, nil, 0
    local function flush(last)
        if from then
            local a, b = (base + from) % 0x1000000, (base + last) % 0x1000000
            out[#out + 1] = a == b and tostring(a) or (a .. "-" .. b)
            from = nil
        end
    end
    for i = 0, bits - 1 do
        local got = band(rshift(string.byte(raw, math.floor(i / 8) + 1), i % 8), 1) == 1
        if got then
            count = count + 1
        end
        if i <= span then
            if got then
                flush(i - 1)
            else
                from = from or i
            end
        end
    end
    flush(math.min(span, bits - 1))
    return table.concat(out, ","), count
end

local function parse_sack(cur, p)
    local head = take(cur, 4)
    local code = head(0, 1):bitfield(5, 3)
    if code > 4 then
        cur.tree:add(F["sack.bitmapsize"], head(0, 1))
        stop("sack_size")
    end
    local map = take(cur, 8 * 2 ^ code)
    local tree = cur.tree:add(F["sack"], cur.tvb(cur.pos - map:len() - 4, map:len() + 4))
    add(tree, head, { "sack.bitmapsize", 0, 1, "sack.maxrcvpsn", 1, 3 })
    tree:add(F["sack.bitmap"], map)
    local missing, received = missing_psns(p.psn, head(1, 3):uint(), map)
    generated(tree, "sack.received", received)
    generated(tree, "sack.missing", missing)
    p.note = "max " .. head(1, 3):uint() .. (missing ~= "" and " missing " .. missing or "")
end

local function parse_cnp(cur, p)
    local r = take(cur, 16)
    local tree = cur.tree:add(F["cnp"], r)
    add(tree, r, { "cnp.ecn", 0, 1, "cnp.loc", 0, 1 })
    p.note = CNP_ECN[r(0, 1):bitfield(0, 2)]:lower()
end

local function parse_control(cur, p)
    if p.op == 2 or p.op == 3 then
        parse_ack_status(p)
    end
    if p.op == 3 or p.op == 6 then
        parse_cetph(cur, p)
    end
    if p.op == 5 or p.op == 6 then
        parse_sack(cur, p)
    elseif p.op == 8 then
        parse_cnp(cur, p)
    end
    if p.pad ~= 0 then
        stop("pad")
    end
    if left(cur) ~= 0 then
        stop("length")
    end
end

-- ------------------------------------------------------------------------------------------------
-- Transactions

local function parse_identity(cur, p)
    local r = take(cur, 36)
    local tree = cur.tree:add(F["ident"], r)
    add(tree, r, { "upi.low", 0, 1, "upi", 1, 3, "seid", 4, 16, "deid", 20, 16 })
    p.ident_text = string.format(" UPI=0x%x%s", r(1, 3):uint(), r(0, 1):bitfield(7, 1) == 1 and " low" or "")
end

local BTAH = {
    "tah.opcode", 0, 1, "tah.ver", 1, 1, "tah.ee", 1, 1, "tah.tv_en", 1, 1, "tah.poison", 1, 1,
    "tah.target_hint", 1, 1, "tah.ud_flag", 1, 1, "tah.tassn", 2, 2, "tah.no_taack", 4, 1,
    "tah.odr", 4, 1, "tah.mt_en", 4, 1, "tah.fce", 4, 1, "tah.retry", 4, 1, "tah.alloc", 4, 1,
    "tah.exclusive", 5, 1, "tah.rctype", 5, 1, "tah.rcid", 5, 3,
}
local ATAH = {
    "tah.opcode", 0, 1, "tah.ver", 1, 1, "tah.sv", 1, 1, "tah.poison", 1, 1, "tah.tassn", 2, 2,
    "tah.rspst", 4, 1, "tah.rspinfo", 4, 1, "tah.rctype", 5, 1, "tah.rcid", 5, 3,
}

local function parse_btah(r, t)
    t.tv, t.ud = r(1, 1):bitfield(4, 1) == 1, r(1, 1):bitfield(7, 1) == 1
    t.mt_en = r(4, 1):bitfield(4, 1) == 1
    t.text = string.format(" TASSN=%d RC=0x%x", t.tassn, r(5, 3):bitfield(4, 20))
    if r(1, 1):bitfield(2, 2) ~= 1 then
        stop("ta_ee")
    end
    if r(5, 1):bitfield(2, 2) == 3 then
        stop("ta_flags")
    end
    if t.op.chain[1] == "mt" and not t.mt_en then
        stop("ta_flags")
    end
end

local function parse_atah(r, t)
    t.st, t.info = r(4, 1):bitfield(0, 3), r(4, 1):bitfield(3, 5)
    t.text = string.format(" TASSN=%d RC=0x%x", t.tassn, r(5, 3):bitfield(4, 20))
    local limit = ({ [0] = 31, [1] = 19, [2] = 19, [3] = 2, [5] = 31 })[t.st]
    if not limit or t.info > limit or (t.st == 3 and t.info == 0) then
        stop("ta_rspst")
    end
    if r(5, 1):bitfield(2, 2) == 3 then
        stop("ta_flags")
    end
    if t.st == 1 or t.st == 2 then
        generated(t.tree, "tah.rnr_us", rnr_us(t.info))
        t.text = t.text .. string.format(" %s %d us", t.st == 1 and "RNR" or "page fault", rnr_us(t.info))
    elseif t.st == 3 then
        t.text = t.text .. (t.info == 1 and " unsupported request" or " remote abort")
    elseif t.info > 0 then
        t.text = t.text .. " and " .. t.info .. " more"
    end
    if t.st ~= 0 and t.st ~= 5 then
        t.tree:add_proto_expert_info(E.answer, t.op.name .. ":" .. t.text)
    end
end

-- Extended headers, one reader each.
local EXT = {}

function EXT.ud(cur, t)
    local r = take(cur, 4)
    local item = t.tree:add(F["tah.ud"], r)
    local class = r:bitfield(0, 4)
    item:add(F["tah.ud.class"], r)
    if class == 1 or t.op.subop then
        item:add(F["tah.ud.subop"], r)
        t.text = t.text .. " " .. (SUBOP[r:bitfield(8, 4)] or "?")
    end
    if class == 1 then
        item:add(F["tah.ud.dtype"], r)
    end
end

function EXT.mt(cur, t)
    local r = take(cur, 4)
    add(t.tree, r, { "tah.mt.hint", 0, 1, "tah.mt.type", 1, 1, "tah.mt.tcid", 1, 3 })
    t.tcid = r(1, 3):bitfield(4, 20)
    t.text = t.text .. string.format(" TC=0x%x", t.tcid)
    if r(1, 1):bitfield(2, 2) == 3 then
        stop("ta_flags")
    end
end

function EXT.ofst(cur, t)
    local r = take(cur, 4)
    add(t.tree, r, { "tah.ofst", 1, 3 })
    if r(1, 3):uint() ~= 0 then
        t.text = t.text .. " Ofst=" .. r(1, 3):uint()
    end
end

function EXT.taid(cur, t)
    local r = take(cur, 4)
    add(t.tree, r, { "tah.taid", 2, 2 })
end

function EXT.ma(cur, t)
    local r = take(cur, 16)
    add(t.tree, r, { "tah.addr", 0, 8, "tah.tokenid", 8, 4, "tah.length", 12, 4 })
    t.length, t.addr_low = r(12, 4):uint(), r(7, 1):uint()
    t.text = t.text .. string.format(" 0x%s[%d]", tostring(r(0, 8):bytes()):lower():gsub("^0+(%x)", "%1"),
                                     t.length)
end

function EXT.imm(cur, t)
    local r = take(cur, 16)
    add(t.tree, r, { "tah.imm", 0, 8, "tah.imm_token", 8, 4, "tah.msg_length", 12, 4 })
end

function EXT.inv(cur, t)
    local r = take(cur, 16)
    add(t.tree, r, { "tah.inv.tokenid", 0, 4, "tah.inv.tokenvalue", 4, 4 })
    t.text = t.text .. string.format(" Inv=0x%x", r(0, 4):uint())
end

function EXT.ntf(cur, t)
    local r = take(cur, 24)
    add(t.tree, r, { "tah.ntf.addr", 0, 8, "tah.ntf.tokenid", 8, 4, "tah.ntf.tokenvalue", 12, 4,
                     "tah.ntf.data", 16, 8 })
end

function EXT.tv(cur, t)
    if t.tv then
        t.tree:add(F["tah.tokenvalue"], take(cur, 4))
    end
end

-- The smallest of 8, 16 ... 128 bytes that has a bit for each byte of the operation.
function EXT.be(cur, t)
    local size = 8
    while size * 8 < t.length do
        size = size * 2
    end
    if size > 128 then
        stop("length")
    end
    t.tree:add(F["tah.be"], take(cur, size))
end

local function check_atomic(tree, t, payload, size)
    local n = t.length
    if n == 0 or n > 64 or band(n, n - 1) ~= 0 or size ~= 2 * n or t.addr_low % n ~= 0 then
        stop("atomic")
    end
    tree:add(F["atomic.op1"], payload(0, n))
    tree:add(F["atomic.op2"], payload(n, n))
end

local TPCM_LAYOUT = {
    "tpcm.magic", 0, 4, "tpcm.ver", 4, 1, "tpcm.type", 5, 1, "tpcm.flags", 6, 2, "tpcm.xid", 8, 4,
    "tpcm.peer_xid", 12, 4, "tpcm.tpn", 16, 4, "tpcm.peer_tpn", 20, 4, "tpcm.psn", 24, 4,
    "tpcm.jetty", 28, 4, "tpcm.peer_jetty", 32, 4, "tpcm.upi", 36, 4, "tpcm.seid", 40, 16,
    "tpcm.deid", 56, 16, "tpcm.mtu", 72, 1, "tpcm.retrans.fast", 73, 1, "tpcm.retrans.markpsn", 73, 1,
    "tpcm.retrans.mode", 73, 1, "tpcm.ooo_log2", 74, 1, "tpcm.bitmap", 75, 1, "tpcm.cc_alg", 76, 1,
    "tpcm.rto_mode", 77, 1, "tpcm.rto_n", 78, 1, "tpcm.rto_retry", 79, 1, "tpcm.rto_base_us", 80, 4,
    "tpcm.caps", 84, 4, "tpcm.svc_modes", 88, 4, "tpcm.max_rd", 92, 2, "tpcm.reason", 94, 2,
}
local TPCM_SIZE, TPCM_MAGIC = 100, 0x55425450

local function parse_tpcm(tree, payload, p)
    local item = tree:add(F["tpcm"], payload)
    if payload:len() ~= TPCM_SIZE then
        stop("tpcm")
    end
    add(item, payload, TPCM_LAYOUT)
    local kind = TPCM_TYPE[payload(5, 1):uint()]
    local mtu = payload(72, 1):uint()
    if payload(4, 1):uint() ~= 1 or not kind or mtu < 1 or mtu > 6 then
        stop("tpcm")
    end
    item:append_text(": " .. kind)
    p.tpcm_text = string.format("TPCM %s TPN=0x%x peer=0x%x PSN=%d Jetty=0x%x", kind,
                                payload(16, 4):uint(), payload(20, 4):uint(), payload(24, 4):uint(),
                                payload(28, 4):uint())
end

local function parse_payload(cur, p, t)
    local size = left(cur) - p.pad
    if size < 0 or (p.pad > 0 and size == 0) then
        stop("pad")
    end
    generated(cur.tree, "payload.length", size)
    if size > 0 and (not t.op.data or t.op.name == "TAACK" or (t.st and t.st ~= 0 and t.st ~= 5)) then
        stop("length")
    end
    local payload = size > 0 and take(cur, size) or nil
    if payload then
        cur.tree:add(F["payload"], payload)
        t.text = t.text .. " Len=" .. size
    end
    if p.pad > 0 then
        local r = take(cur, p.pad)
        local item = cur.tree:add(F["pad"], r)
        if r:uint() ~= 0 then
            item:add_proto_expert_info(E.pad)
        end
    end
    if t.op.atomic then
        check_atomic(cur.tree, t, payload, size)
    end
    if p.op == 0 and t.code == 0 and t.tcid == 0 and size >= 4 and payload(0, 4):uint() == TPCM_MAGIC then
        parse_tpcm(cur.tree, payload, p)
    end
end

local function parse_tah(cur, p)
    local r = take(cur, 8)
    local t = { code = r(0, 1):uint(), tassn = r(2, 2):uint(), text = "" }
    t.op = TA[t.code]
    t.tree = cur.tree:add(F["tah"], r)
    p.ta = t
    if not t.op then
        t.tree:add(F["tah.opcode"], r(0, 1))
        stop("ta_opcode")
    end
    t.tree:append_text(": " .. t.op.name)
    local request = t.op.kind == REQUEST
    add(t.tree, r, request and BTAH or ATAH)
    if r(1, 1):bitfield(0, 2) ~= 0 then
        stop("ta_ver")
    end
    if p.op == 0 and not t.op.utp then
        stop("ta_mode")
    end
    if request then
        parse_btah(r, t)
    else
        parse_atah(r, t)
    end
    local from = cur.pos - 8
    if t.ud then
        EXT.ud(cur, t)
    end
    for _, name in ipairs(t.op.chain) do
        EXT[name](cur, t)
    end
    t.tree:set_len(cur.pos - from)
    parse_payload(cur, p, t)
end

local function parse_data(cur, p)
    if p.fake == 1 then
        p.note = "keep-alive"
        return
    end
    if p.nlp > 1 then
        stop("nlp")
    end
    if p.nlp == 1 then
        parse_identity(cur, p)
    end
    parse_tah(cur, p)
end

-- ------------------------------------------------------------------------------------------------
-- The packet

-- Returns "icrc" when the ICRC is wrong.
local function show_icrc(tree, tvb, outer)
    local at = tvb(tvb:len() - 4, 4)
    local big = uboe.prefs.icrc_order == 1
    local stored = big and at:uint() or at:le_uint()
    local item = big and tree:add(F["icrc"], at) or tree:add_le(F["icrc"], at)
    local status = "Unverified"
    if uboe.prefs.verify and outer then
        local want = icrc_of(outer, tvb)
        status = want == stored and "Good" or "Bad"
        if status == "Bad" then
            generated(tree, "icrc.calc", want)
        end
    end
    generated(tree, "icrc.status", status)
    item:append_text(" [" .. status .. "]")
    if status == "Bad" then
        item:add_proto_expert_info(E.icrc)
        return "icrc"
    end
end

local function info_text(p, reason)
    local out = {}
    if p.name then
        local ta = p.ta
        out[#out + 1] = p.tpcm_text or (p.name .. (ta and ta.op and " " .. ta.op.name or ""))
        if p.note then
            out[#out + 1] = "(" .. p.note .. ")"
        end
        if p.src then
            out[#out + 1] = string.format("TPN 0x%x>0x%x PSN=%d MSN=%d", p.src, p.dst, p.psn, p.msn)
            if p.ack == 1 then
                out[#out + 1] = "A"
            end
        end
        if ta and not p.tpcm_text then
            out[#out + 1] = (ta.text:gsub("^ ", ""))
        end
        local more = (p.cc_text or "") .. (p.ident_text or "")
        if more ~= "" then
            out[#out + 1] = more:sub(2)
        end
    end
    if reason then
        out[#out + 1] = "[" .. (REASON[reason] or reason) .. "]"
    end
    return table.concat(out, " ")
end

local function check_size(cur)
    if (cur.limit + 4) % 4 ~= 0 then
        stop("length")
    end
end

-- Everything between the UDP header and the ICRC; stops where a receiver would.
local function parse(cur, p)
    check_size(cur)
    parse_tph(cur, p)
    if p.op <= 1 then
        parse_data(cur, p)
    else
        parse_control(cur, p)
    end
end

-- The reason to drop the packet, or nil.
local function dissect(tvb, tree, p)
    local whole = tvb:len() == tvb:reported_len()
    local outer = outer_headers()
    if whole and tvb:len() < 20 then
        return "short"
    end
    local reason = outer and outer.options and "ip_ihl" or nil
    if whole then
        local bad = show_icrc(tree, tvb, outer)
        reason = reason or bad
    else
        generated(tree, "icrc.status", "Unverified")
    end
    local cur = { tvb = tvb, pos = 0, limit = whole and tvb:len() - 4 or tvb:len(), tree = tree }
    local ok, err = pcall(whole and parse or function(c, q)
        parse_tph(c, q)
        return q.op <= 1 and parse_data(c, q)
    end, cur, p)
    if ok then
        return reason
    end
    if getmetatable(err) == Stop then
        -- A packet that the capture cut ends early without being at fault.
        return reason or (whole and err.reason or nil)
    end
    error(err, 0)
end

function uboe.dissector(tvb, pinfo, root)
    pinfo.cols.protocol = "UBoE"
    local tree = root:add(uboe, tvb())
    local p = {}
    local ok, result = pcall(dissect, tvb, tree, p)
    local reason
    if ok then
        reason = result
    else
        generated(tree, "internal_error", tostring(result))
        tree:add_proto_expert_info(E.internal, tostring(result))
    end
    if reason then
        generated(tree, "drop", reason)
        tree:add_proto_expert_info(E.drop, REASON[reason] or reason)
    end
    local text = info_text(p, reason)
    pinfo.cols.info = text
    if p.name then
        tree:append_text(", " .. text)
    end
    return tvb:len()
end

-- ------------------------------------------------------------------------------------------------
-- Native packets (docs/wire.md 11): LPH 4, CCI 2, NPI 4, then the IP packet

local FLIT, BLOCK_FLITS, NATIVE = 20, 32, 10

-- The packet's length in bytes, 0 when the field says none.
local function native_length(lph)
    local blocks, flits, tail = lph:bitfield(18, 4), lph:bitfield(22, 5), lph:bitfield(27, 5)
    return tail < FLIT and (blocks * BLOCK_FLITS + flits) * FLIT + tail + 1 or 0
end

local CCI_FIELDS = {
    [0] = { "cci.caqm", "cci.c", "cci.i", "cci.hint" }, [2] = { "cci.timestamp", "cci.fecn" },
    [4] = { "cci.fecn" },
}

local function show_native(tvb, tree)
    local lph, nth = tvb(0, 4), tvb(4, 6)
    local item = tree:add(F["lph"], lph)
    for _, name in ipairs({ "crd", "ack", "crd_vl", "vl", "cfg", "rt", "blocks", "flits", "tail" }) do
        item:add(F["lph." .. name], lph)
    end
    generated(item, "lph.length", native_length(lph))
    item = tree:add(F["nth"], nth)
    item:add(F["cci.mode"], nth(0, 2))
    item:add(F["cci.loc"], nth(0, 2))
    for _, name in ipairs(CCI_FIELDS[nth(0, 1):bitfield(0, 3)] or {}) do
        item:add(F[name], nth(0, 2))
    end
    item:add(F["npi.low"], nth(2, 4))
    item:add(F["npi.partition"], nth(2, 4))
end

-- The first of the rules of ubp_native_check() that is broken, or nil.
local function native_reason(tvb)
    local size = tvb:len()
    if size < NATIVE + 28 then
        return "native_short"
    end
    local cfg, ip = tvb(1, 1):bitfield(4, 4), tvb(NATIVE)
    if cfg ~= 3 and cfg ~= 4 then
        return "native_cfg"
    end
    local head = cfg == 3 and 20 or 40
    if size < NATIVE + head + 8 then
        return "native_short"
    end
    local total, good
    if cfg == 3 then
        good = ip(0, 1):uint() == 0x45 and band(ip(6, 2):uint(), 0xbfff) == 0 and ip(9, 1):uint() == 17
        total = ip(2, 2):uint()
    else
        good = ip(0, 1):bitfield(0, 4) == 6 and ip(6, 1):uint() == 17
        total = 40 + ip(4, 2):uint()
    end
    if not good then
        return "native_ip"
    end
    local length = native_length(tvb(0, 4))
    if length > size or length < NATIVE + head + 8 or length ~= NATIVE + total then
        return "native_length"
    end
    return tvb(7, 3):uint() == 0 and "partition" or nil
end

local function dissect_native(tvb, tree)
    if tvb:len() >= NATIVE then
        show_native(tvb, tree)
    end
    local reason = tvb:len() == tvb:reported_len() and native_reason(tvb) or nil
    if reason then
        generated(tree, "drop", reason)
        tree:add_proto_expert_info(E.drop, REASON[reason])
    end
end

-- The IP header says where the packet ends; what follows is padding of the frame. An IP header that
-- is cut raises an error, which has its reason above.
local function call_ip(tvb, pinfo, root)
    local version = tvb:len() > NATIVE and tvb(NATIVE, 1):bitfield(0, 4) or 0
    if version == 4 or version == 6 then
        pcall(Dissector.call, Dissector.get(version == 4 and "ip" or "ipv6"), tvb(NATIVE):tvb(), pinfo,
              root)
    end
end

function ub.dissector(tvb, pinfo, root)
    pinfo.cols.protocol = "UB"
    local tree = root:add(ub, tvb(0, math.min(tvb:len(), NATIVE)))
    local ok, err = pcall(dissect_native, tvb, tree)
    if not ok then
        generated(tree, "internal_error", tostring(err))
        tree:add_proto_expert_info(E.internal, tostring(err))
    end
    call_ip(tvb, pinfo, root)
    return tvb:len()
end

-- ------------------------------------------------------------------------------------------------
-- Registration

DissectorTable.get("ethertype"):add(0x88b5, ub)

local udp_ports = DissectorTable.get("udp.port")
local current_port = uboe.prefs.port

udp_ports:add(current_port, uboe)

function uboe.prefs_changed()
    if uboe.prefs.port ~= current_port then
        udp_ports:remove(current_port, uboe)
        current_port = uboe.prefs.port
        udp_ports:add(current_port, uboe)
    end
end
