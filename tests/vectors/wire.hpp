// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Header builders of the golden vectors. Each header is written bit field by bit field, most
// significant bit first, in the order of the tables in docs/wire.md, and every field remembers its
// value under the dissector's name. Nothing here is shared with the protocol core.
#ifndef UBOE_TESTS_VECTORS_WIRE_HPP
#define UBOE_TESTS_VECTORS_WIRE_HPP

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wire {

using bytes = std::vector<uint8_t>;
using field_list = std::vector<std::pair<std::string, std::string>>;

std::string hex(const uint8_t *data, size_t size);

/// A string of bits under construction, with the names and values of what went in.
class bits {
  public:
    /// Append @width bits. A name starting with '.' hangs below "uboe"; no name, no record.
    bits &put(unsigned width, uint64_t value, std::string_view name = {});
    /// Append whole bytes, as they are.
    bits &raw(const bytes &data, std::string_view name = {});
    bits &append(const bits &other);

    /// Record a value that has no bits of its own.
    bits &note(std::string_view name, std::string value);

    const bytes &data() const { return data_; }
    const field_list &fields() const { return fields_; }

  private:
    bytes data_;
    field_list fields_;
    unsigned used_ = 0; // bits of the last byte
};

using address = std::array<uint8_t, 16>;

address v4_mapped(uint8_t a, uint8_t b, uint8_t c, uint8_t d);
address v6_doc(uint16_t host); ///< 2001:db8::host
std::string text(const address &a);

// --- transport headers -------------------------------------------------------------------------

struct rtph {
    uint8_t op = 1;
    bool last = false;
    uint8_t ver = 0, pad = 0, nlp = 0;
    uint32_t src = 0x101, dst = 0x202;
    bool ack = false, fake = false;
    uint32_t psn = 0;
    uint8_t rspst = 0, rspinfo = 0;
    uint32_t msn = 0;
    bits build() const;
};

struct utph {
    uint8_t ver = 0, pad = 0, nlp = 0;
    bits build() const;
};

/// Bit 24 of @upi is low privilege.
bits upih_eidh(uint32_t upi, const address &seid, const address &deid);
bits cetph_ldcp(uint32_t ack_seq, uint32_t ce_seq);
bits cetph_cnp(uint8_t ecn, bool loc);
/// @size_code 0..4 gives 64 << code bits; @received lists bit numbers (PSN minus base).
bits saetph(uint8_t size_code, uint32_t max_rcv_psn, const std::vector<unsigned> &received);

// --- transaction headers -----------------------------------------------------------------------

struct btah {
    uint8_t op = 0, ver = 0, ee = 1;
    bool tv = false, poison = false, hint = false, ud = false;
    uint16_t tassn = 0;
    bool no_taack = false;
    uint8_t odr = 0;
    bool mt = false, fce = false, retry = false, alloc = false, e = false;
    uint8_t rctype = 0;
    uint32_t rcid = 0x12;
    bits build() const;
};

struct atah {
    uint8_t op = 0x11, ver = 0;
    bool sv = false, poison = false;
    uint16_t tassn = 0;
    uint8_t rspst = 0, rspinfo = 0, rctype = 0;
    uint32_t rcid = 0x12;
    bits build() const;
};

bits udetah(uint32_t ud);
bits taidetah(uint16_t taid);
bits ofstetah(uint32_t kib);
bits maetah(uint64_t addr, uint32_t tokenid, uint32_t length);
bits mtetah(uint8_t hint, uint8_t type, uint32_t tcid);
bits immetah(uint64_t imm, uint32_t imm_token = 0, uint32_t msg_length = 0);
/// IMMETAH of Send_with_invalidate: the immediate is TokenID and TokenValue.
bits immetah_invalidate(uint32_t tokenid, uint32_t tokenvalue);
bits ntfetah(uint64_t addr, uint32_t tokenid, uint32_t tokenvalue, uint64_t data);
bits tvetah(uint32_t tokenvalue);
bits beetah(const bytes &enables);

// --- channel set-up ----------------------------------------------------------------------------

struct tpcm {
    uint32_t magic = 0x55425450; // 'UBTP'
    uint8_t ver = 1, type = 1;
    uint16_t flags = 0;
    uint32_t xid = 0, peer_xid = 0, tpn = 0, peer_tpn = 0, psn = 0, jetty = 0, peer_jetty = 0;
    uint32_t upi = 0;
    address seid{}, deid{};
    uint8_t mtu = 3, retrans = 0xC1, ooo_log2 = 9, bitmap = 3, cc = 3;
    uint8_t rto_mode = 1, rto_n = 1, rto_retry = 7;
    uint32_t rto_base_us = 20000, caps = 0, svc_modes = 0;
    uint16_t max_rd = 16, reason = 0;
    bits build() const;
};

inline constexpr size_t tpcm_size = 100;

// --- whole packets -----------------------------------------------------------------------------

/// The outer headers. Lengths and checksums are computed.
struct outer {
    bool v6 = false;
    bool reverse = false; ///< from the second host to the first
    uint16_t sport = 49152, dport = 4792;
    uint8_t tos = 0x02, ttl = 64;
    uint32_t flow = 0x12345;
    bool udp_checksum = false;
};

struct packet {
    bytes data; ///< from the IP header to the ICRC
    field_list fields;
};

/// IPv4 header checksum of the 20 bytes at @ip.
void fix_ip_checksum(bytes &ip);
/// Make the IP and UDP lengths, and the IP checksum, agree with the bytes that there are.
void fix_lengths(bytes &packet);
/// Store the ICRC of everything before the last four bytes, in FCS order.
void seal(bytes &packet);
/// Outer headers around @body, with room for the ICRC; not sealed.
bytes enclose(const outer &o, const bytes &body);
packet finish(const outer &o, const bits &body);

/// TPH | TAH | payload | pad, where the pad bits of @h are filled in. For UTP pass a utph.
template <class tph> bits with_payload(tph h, const bits &tah, const bytes &payload) {
    h.pad = static_cast<uint8_t>(-payload.size() & 3);
    bits out = h.build();
    out.append(tah).note(".payload.length", std::to_string(payload.size()));
    if (payload.size() <= 128)
        out.raw(payload, payload.empty() ? "" : ".payload");
    else
        out.raw(payload);
    return out.raw(bytes(h.pad));
}

} // namespace wire

#endif
