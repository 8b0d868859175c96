// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "wire.hpp"

#include <arpa/inet.h>

#include <cassert>

#include "ref_icrc.hpp"

namespace wire {

std::string hex(const uint8_t *data, size_t size) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    out.reserve(size * 2);
    for (size_t i = 0; i < size; ++i) {
        out.push_back(digits[data[i] >> 4]);
        out.push_back(digits[data[i] & 15]);
    }
    return out;
}

bits &bits::put(unsigned width, uint64_t value, std::string_view name) {
    assert(width <= 64 && (width == 64 || value >> width == 0));
    for (unsigned left = width; left > 0; --left) {
        if (used_ % 8 == 0)
            data_.push_back(0);
        if (value >> (left - 1) & 1)
            data_.back() |= static_cast<uint8_t>(0x80 >> used_ % 8);
        used_ = (used_ + 1) % 8;
    }
    return note(name, std::to_string(value));
}

bits &bits::raw(const bytes &data, std::string_view name) {
    assert(used_ == 0);
    data_.insert(data_.end(), data.begin(), data.end());
    return note(name, hex(data.data(), data.size()));
}

bits &bits::append(const bits &other) {
    raw(other.data_);
    fields_.insert(fields_.end(), other.fields_.begin(), other.fields_.end());
    return *this;
}

bits &bits::note(std::string_view name, std::string value) {
    if (!name.empty())
        fields_.emplace_back("uboe" + std::string(name), std::move(value));
    return *this;
}

address v4_mapped(uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
    return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, a, b, c, d};
}

address v6_doc(uint16_t host) {
    return {0x20,
            0x01,
            0x0D,
            0xB8,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            static_cast<uint8_t>(host >> 8),
            static_cast<uint8_t>(host)};
}

std::string text(const address &a) {
    char out[INET6_ADDRSTRLEN];
    return inet_ntop(AF_INET6, a.data(), out, sizeof out);
}

namespace {

bytes of(const address &a) {
    return bytes(a.begin(), a.end());
}

bits &eid(bits &b, const address &a, std::string_view name) {
    return b.raw(of(a)).note(name, text(a));
}

} // namespace

bits rtph::build() const {
    bits b;
    b.put(1, last, ".tph.last").put(7, op, ".tph.opcode");
    b.put(2, ver, ".tph.ver").put(2, pad, ".tph.padding").put(4, nlp, ".tph.nlp");
    b.put(24, src, ".tph.srctpn").put(24, dst, ".tph.dsttpn");
    b.put(1, ack, ".tph.ack").put(1, fake, ".tph.fake").put(6, 0).put(24, psn, ".tph.psn");
    b.put(3, rspst, ".tph.rspst").put(5, rspinfo, ".tph.rspinfo").put(24, msn, ".tph.tpmsn");
    return b;
}

bits utph::build() const {
    bits b;
    b.put(1, 1, ".tph.last").put(7, 0, ".tph.opcode");
    b.put(2, ver, ".tph.ver").put(2, pad, ".tph.padding").put(4, nlp, ".tph.nlp");
    return b.raw(bytes(14));
}

bits upih_eidh(uint32_t upi, const address &seid, const address &deid) {
    bits b;
    b.put(7, 0).put(1, upi >> 24 & 1, ".upi.low").put(24, upi & 0xFFFFFF, ".upi");
    eid(b, seid, ".seid");
    return eid(b, deid, ".deid");
}

bits cetph_ldcp(uint32_t ack_seq, uint32_t ce_seq) {
    bits b;
    return b.put(32, ack_seq, ".cetph.ack_seq").put(32, ce_seq, ".cetph.ce_seq");
}

bits cetph_cnp(uint8_t ecn, bool loc) {
    bits b;
    return b.put(2, ecn, ".cnp.ecn").put(1, loc, ".cnp.loc").put(5, 0).raw(bytes(15));
}

bits saetph(uint8_t size_code, uint32_t max_rcv_psn, const std::vector<unsigned> &received) {
    bytes map(static_cast<size_t>(8) << size_code);
    for (unsigned bit : received)
        map[bit / 8] |= static_cast<uint8_t>(1u << bit % 8);
    bits b;
    b.put(5, 0).put(3, size_code, ".sack.bitmapsize").put(24, max_rcv_psn, ".sack.maxrcvpsn");
    return b.raw(map, ".sack.bitmap");
}

bits btah::build() const {
    bits b;
    b.put(8, op, ".tah.opcode");
    b.put(2, ver, ".tah.ver").put(2, ee, ".tah.ee").put(1, tv, ".tah.tv_en");
    b.put(1, poison, ".tah.poison").put(1, hint, ".tah.target_hint").put(1, ud, ".tah.ud_flag");
    b.put(16, tassn, ".tah.tassn");
    b.put(1, no_taack, ".tah.no_taack").put(3, odr, ".tah.odr").put(1, mt, ".tah.mt_en");
    b.put(1, fce, ".tah.fce").put(1, retry, ".tah.retry").put(1, alloc, ".tah.alloc");
    b.put(1, 0).put(1, e, ".tah.exclusive").put(2, rctype, ".tah.rctype");
    return b.put(20, rcid, ".tah.rcid");
}

bits atah::build() const {
    bits b;
    b.put(8, op, ".tah.opcode");
    b.put(2, ver, ".tah.ver").put(2, 0).put(1, sv, ".tah.sv").put(1, poison, ".tah.poison");
    b.put(2, 0).put(16, tassn, ".tah.tassn");
    b.put(3, rspst, ".tah.rspst").put(5, rspinfo, ".tah.rspinfo");
    return b.put(2, 0).put(2, rctype, ".tah.rctype").put(20, rcid, ".tah.rcid");
}

bits udetah(uint32_t ud) {
    bits b;
    return b.put(32, ud, ".tah.ud");
}

bits taidetah(uint16_t taid) {
    bits b;
    return b.put(16, 0).put(16, taid, ".tah.taid");
}

bits ofstetah(uint32_t kib) {
    bits b;
    return b.put(8, 0).put(24, kib, ".tah.ofst");
}

bits maetah(uint64_t addr, uint32_t tokenid, uint32_t length) {
    bits b;
    b.put(64, addr, ".tah.addr").put(4, 0).put(20, tokenid, ".tah.tokenid").put(8, 0);
    return b.put(32, length, ".tah.length");
}

bits mtetah(uint8_t hint, uint8_t type, uint32_t tcid) {
    bits b;
    b.put(8, hint, ".tah.mt.hint").put(2, 0).put(2, type, ".tah.mt.type");
    return b.put(20, tcid, ".tah.mt.tcid");
}

bits immetah(uint64_t imm, uint32_t imm_token, uint32_t msg_length) {
    bits b;
    b.put(64, imm, ".tah.imm").put(32, imm_token, ".tah.imm_token");
    return b.put(32, msg_length, ".tah.msg_length");
}

bits immetah_invalidate(uint32_t tokenid, uint32_t tokenvalue) {
    bits b;
    b.put(32, tokenid, ".tah.inv.tokenid").put(32, tokenvalue, ".tah.inv.tokenvalue");
    return b.put(64, 0);
}

bits ntfetah(uint64_t addr, uint32_t tokenid, uint32_t tokenvalue, uint64_t data) {
    bits b;
    b.put(64, addr, ".tah.ntf.addr").put(4, 0).put(20, tokenid, ".tah.ntf.tokenid").put(8, 0);
    return b.put(32, tokenvalue, ".tah.ntf.tokenvalue").put(64, data, ".tah.ntf.data");
}

bits tvetah(uint32_t tokenvalue) {
    bits b;
    return b.put(32, tokenvalue, ".tah.tokenvalue");
}

bits beetah(const bytes &enables) {
    bits b;
    return b.raw(enables, ".tah.be");
}

bits tpcm::build() const {
    bits b;
    b.put(32, magic, ".tpcm.magic").put(8, ver, ".tpcm.ver").put(8, type, ".tpcm.type");
    b.put(16, flags, ".tpcm.flags").put(32, xid, ".tpcm.xid").put(32, peer_xid, ".tpcm.peer_xid");
    b.put(32, tpn, ".tpcm.tpn").put(32, peer_tpn, ".tpcm.peer_tpn").put(32, psn, ".tpcm.psn");
    b.put(32, jetty, ".tpcm.jetty").put(32, peer_jetty, ".tpcm.peer_jetty");
    b.put(32, upi, ".tpcm.upi");
    eid(b, seid, ".tpcm.seid");
    eid(b, deid, ".tpcm.deid");
    b.put(8, mtu, ".tpcm.mtu");
    b.put(1, retrans >> 7, ".tpcm.retrans.fast").put(1, retrans >> 6 & 1, ".tpcm.retrans.markpsn");
    b.put(6, retrans & 0x3F, ".tpcm.retrans.mode");
    b.put(8, ooo_log2, ".tpcm.ooo_log2").put(8, bitmap, ".tpcm.bitmap").put(8, cc, ".tpcm.cc_alg");
    b.put(8, rto_mode, ".tpcm.rto_mode").put(8, rto_n, ".tpcm.rto_n");
    b.put(8, rto_retry, ".tpcm.rto_retry").put(32, rto_base_us, ".tpcm.rto_base_us");
    b.put(32, caps, ".tpcm.caps").put(32, svc_modes, ".tpcm.svc_modes");
    b.put(16, max_rd, ".tpcm.max_rd").put(16, reason, ".tpcm.reason").put(32, 0);
    assert(b.data().size() == tpcm_size);
    return b;
}

namespace {

class ones_sum {
  public:
    void add(const uint8_t *data, size_t size) {
        for (size_t i = 0; i < size; ++i)
            sum_ += i % 2 ? data[i] : data[i] << 8;
    }
    void add(uint32_t value) { sum_ += value; }
    uint16_t value() const {
        uint64_t s = sum_;
        while (s >> 16)
            s = (s & 0xFFFF) + (s >> 16);
        return static_cast<uint16_t>(~s);
    }

  private:
    uint64_t sum_ = 0;
};

constexpr std::array<uint8_t, 4> v4_host(bool second) {
    return {192, 0, 2, static_cast<uint8_t>(second ? 2 : 1)};
}

bits ip_header(const outer &o, size_t payload) {
    bits b;
    if (!o.v6) {
        const auto from = v4_host(o.reverse), to = v4_host(!o.reverse);
        b.put(4, 4).put(4, 5).put(8, o.tos).put(16, 20 + payload);
        b.put(16, 0).put(3, 2).put(13, 0); // id 0, don't fragment
        b.put(8, o.ttl).put(8, 17).put(16, 0);
        b.raw(bytes(from.begin(), from.end())).raw(bytes(to.begin(), to.end()));
        bytes fixed = b.data();
        fix_ip_checksum(fixed);
        return bits().raw(fixed);
    }
    b.put(4, 6).put(8, o.tos).put(20, o.flow).put(16, payload).put(8, 17).put(8, o.ttl);
    return b.raw(of(v6_doc(o.reverse ? 2 : 1))).raw(of(v6_doc(o.reverse ? 1 : 2)));
}

void fix_udp_checksum(bytes &packet) {
    const bool v6 = packet[0] >> 4 == 6;
    const size_t ip = v6 ? 40 : 20, from = v6 ? 8 : 12;
    packet[ip + 6] = packet[ip + 7] = 0;
    ones_sum sum;
    sum.add(&packet[from], ip - from); // both addresses
    sum.add(17);
    sum.add(static_cast<uint32_t>(packet.size() - ip));
    sum.add(&packet[ip], packet.size() - ip);
    const uint16_t value = sum.value() ? sum.value() : 0xFFFF;
    packet[ip + 6] = static_cast<uint8_t>(value >> 8);
    packet[ip + 7] = static_cast<uint8_t>(value);
}

} // namespace

void fix_ip_checksum(bytes &ip) {
    ip[10] = ip[11] = 0;
    ones_sum sum;
    sum.add(ip.data(), 20);
    ip[10] = static_cast<uint8_t>(sum.value() >> 8);
    ip[11] = static_cast<uint8_t>(sum.value());
}

void fix_lengths(bytes &p) {
    const bool v6 = p[0] >> 4 == 6;
    const size_t udp_at = v6 ? 40 : 20, udp = p.size() - udp_at;
    p[udp_at + 4] = static_cast<uint8_t>(udp >> 8);
    p[udp_at + 5] = static_cast<uint8_t>(udp);
    const size_t ip = v6 ? udp : p.size(), ip_at = v6 ? 4 : 2;
    p[ip_at] = static_cast<uint8_t>(ip >> 8);
    p[ip_at + 1] = static_cast<uint8_t>(ip);
    if (!v6)
        fix_ip_checksum(p);
}

void seal(bytes &packet) {
    const size_t covered = packet.size() - 4;
    const uint32_t crc = ref::icrc(std::span(packet).first(covered));
    for (size_t i = 0; i < 4; ++i)
        packet[covered + i] = static_cast<uint8_t>(crc >> 8 * i);
}

bytes enclose(const outer &o, const bytes &body) {
    const size_t udp_length = 8 + body.size() + 4;
    bits b = ip_header(o, udp_length);
    b.put(16, o.sport).put(16, o.dport).put(16, udp_length).put(16, 0);
    return b.raw(body).raw(bytes(4)).data();
}

packet finish(const outer &o, const bits &body) {
    packet p{enclose(o, body.data()), body.fields()};
    seal(p.data);
    if (o.udp_checksum)
        fix_udp_checksum(p.data); // covers the ICRC, which masks it
    const uint8_t *crc = &p.data[p.data.size() - 4];
    const uint32_t value = static_cast<uint32_t>(crc[0]) | static_cast<uint32_t>(crc[1]) << 8 |
                           static_cast<uint32_t>(crc[2]) << 16 |
                           static_cast<uint32_t>(crc[3]) << 24;
    p.fields.emplace_back("uboe.icrc", std::to_string(value));
    p.fields.emplace_back("uboe.icrc.status", "Good");
    return p;
}

} // namespace wire
