// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "decode.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "../vectors/ref_icrc.hpp"

namespace interop {

namespace {

using view = std::span<const uint8_t>;

uint32_t be(view b, size_t at, size_t size) {
    uint32_t v = 0;
    for (size_t i = 0; i < size; ++i)
        v = v << 8 | b[at + i];
    return v;
}

// --- link layer --------------------------------------------------------------------------------

/// The IP packet inside an Ethernet-like frame whose type field is at @at.
view after_ethertype(view frame, size_t at, bool &vlan) {
    while (frame.size() >= at + 2) {
        const uint32_t type = be(frame, at, 2);
        at += 2;
        if (type == 0x8100 || type == 0x88A8 || type == 0x9100) {
            vlan = true;
            at += 2; // the tag; the next type follows
            continue;
        }
        if (type == 0x0800 || type == 0x86DD)
            return frame.subspan(at);
        break;
    }
    return {};
}

view ip_of(uint32_t link_type, view frame, bool &vlan) {
    const auto skip = [&](size_t n) { return frame.size() > n ? frame.subspan(n) : view{}; };
    switch (link_type) {
    case 1: // Ethernet
        return after_ethertype(frame, 12, vlan);
    case 0:   // BSD loopback
    case 108: // the same, network order
        return skip(4);
    case 12:
    case 14:
    case 101: // raw IP
    case 228:
    case 229:
        return frame;
    case 113: // Linux cooked
        return after_ethertype(frame, 14, vlan);
    case 276: // Linux cooked, version 2
        return frame.size() >= 20 && (be(frame, 0, 2) == 0x0800 || be(frame, 0, 2) == 0x86DD)
                   ? skip(20)
                   : view{};
    default:
        return {};
    }
}

// --- IP and UDP --------------------------------------------------------------------------------

uint16_t fold(uint64_t sum) {
    while (sum >> 16)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<uint16_t>(sum);
}

uint64_t words(view b) {
    uint64_t sum = 0;
    for (size_t i = 0; i < b.size(); ++i)
        sum += i % 2 ? b[i] : static_cast<uint64_t>(b[i]) << 8;
    return sum;
}

/// A UDP checksum that is right, absent, or left to the hardware of the capturing machine (then the
/// field holds the sum of the pseudo header only).
bool udp_checksum_ok(view ip, size_t header) {
    const view udp = ip.subspan(header);
    const uint16_t stored = static_cast<uint16_t>(be(udp, 6, 2));
    if (stored == 0)
        return true;
    const view addresses = header == 40 ? ip.subspan(8, 32) : ip.subspan(12, 8);
    const uint64_t pseudo = words(addresses) + 17 + udp.size();
    return fold(pseudo + words(udp)) == 0xFFFF || fold(pseudo) == stored;
}

// --- transactions ------------------------------------------------------------------------------

/// Extended headers, by letter: M MTETAH, O OFSTETAH, I IMMETAH, A MAETAH, N NTFETAH, D TAIDETAH,
/// B BEETAH, T TVETAH (only where TV_EN is set).
struct operation {
    std::string_view name, headers;
    enum { request, response } kind = request;
    enum { none, data, atomic } payload = data;
    bool utp = false;
};

constexpr std::array<operation, 0x1B> operations = {{
    {"Send", "MOT", operation::request, operation::data, true},
    {"Send_with_immediate", "MOIT", operation::request, operation::data, true},
    {"Send_with_invalidate", "MOIT"},
    {"Write", "AT"},
    {"Write_with_immediate", "MAIT"},
    {"Write_with_notify", "ANT"},
    {"Read", "DOAT", operation::request, operation::none},
    {"Atomic_compare_swap", "DAT", operation::request, operation::atomic},
    {"Atomic_swap", "DAT", operation::request, operation::atomic},
    {"Atomic_store", "DAT", operation::request, operation::atomic},
    {"Atomic_load", "DAT", operation::request, operation::atomic},
    {"Atomic_fetch_add", "DAT", operation::request, operation::atomic},
    {"Atomic_fetch_sub", "DAT", operation::request, operation::atomic},
    {"Atomic_fetch_and", "DAT", operation::request, operation::atomic},
    {"Atomic_fetch_or", "DAT", operation::request, operation::atomic},
    {"Atomic_fetch_xor", "DAT", operation::request, operation::atomic},
    {"Management", "", operation::request, operation::data, true},
    {"TAACK", "", operation::response, operation::none},
    {"Read_response", "DO", operation::response},
    {"Atomic_response", "D", operation::response},
    {"Write_with_be", "ATB"},
    {"Prefetch_tgt", "A", operation::request, operation::none, true},
    {},
    {"Writeback", "AT"},
    {"Writeback_with_be", "ATB"},
    {},
    {"Write_with_store_add", "ANT"},
}};

constexpr uint32_t tpcm_magic = 0x55425450;
constexpr size_t tpcm_size = 100;
constexpr std::array<std::string_view, 6> tpcm_types = {"", "REQ", "REP", "READY", "CLOSE", "REJ"};

/// Walks one packet between the UDP header and the ICRC. Each step returns the reason to drop, or
/// nothing.
class walker {
  public:
    walker(view body, verdict &out) : body_(body), out_(out) {}

    std::string_view run() {
        if (body_.size() % 4)
            return "length";
        const view h = take(16);
        op_ = h[0] & 0x7F;
        pad_ = h[1] >> 4 & 3;
        if (op_ != 0) {
            out_.src_tpn = be(h, 2, 3);
            out_.dst_tpn = be(h, 5, 3);
            out_.psn = be(h, 9, 3);
        }
        if (h[1] >> 6)
            return "tp_ver";
        switch (op_) {
        case 0x0:
            out_.tp = "UTP";
            return data(h);
        case 0x1:
            out_.tp = "RTP";
            return data(h);
        case 0x2:
        case 0x3:
            return acknowledgement(h);
        case 0x5:
            out_.tp = "TPSACK";
            return selective(0);
        case 0x6:
            out_.tp = "TPSACK-CC";
            return selective(8);
        case 0x8:
            out_.tp = "CNP";
            return tail(16);
        default:
            return "tp_opcode";
        }
    }

  private:
    size_t left() const { return body_.size() - at_; }

    view take(size_t size) {
        const view v = body_.subspan(at_, size);
        at_ += size;
        return v;
    }

    /// Exactly @size more bytes and no padding.
    std::string_view tail(size_t size) const {
        if (left() < size)
            return "truncated";
        if (pad_)
            return "pad";
        return left() == size ? "" : "length";
    }

    std::string_view acknowledgement(view h) {
        const bool cc = op_ == 3;
        const unsigned status = h[12] >> 5, info = h[12] & 31;
        out_.tp = status == 3 ? (cc ? "TPNAK-CC" : "TPNAK") : (cc ? "TPACK-CC" : "TPACK");
        const bool known = status == 0 || ((status == 1 || status == 2) && info <= 19) ||
                           ((status == 3 || status == 5) && info <= 2);
        return known ? tail(cc ? 8 : 0) : "tp_rspst";
    }

    std::string_view selective(size_t before) {
        if (left() < before + 4)
            return "truncated";
        const unsigned code = body_[at_ + before] & 7;
        return code > 4 ? "sack_size" : tail(before + 4 + (size_t{8} << code));
    }

    std::string_view data(view h) {
        if (op_ == 1 && h[8] & 0x40) {
            out_.ta = "keep-alive";
            return "";
        }
        const unsigned nlp = h[1] & 15;
        if (nlp > 1)
            return "nlp";
        if (nlp == 1) {
            if (left() < 36)
                return "truncated";
            take(36);
        }
        return transaction();
    }

    std::string_view transaction() {
        if (left() < 8)
            return "truncated";
        const view h = take(8);
        if (h[0] >= operations.size() || operations[h[0]].name.empty())
            return "ta_opcode";
        const operation &o = operations[h[0]];
        out_.ta = o.name;
        if (h[1] >> 6)
            return "ta_ver";
        if (op_ == 0 && !o.utp)
            return "ta_mode";
        const auto wrong = o.kind == operation::request ? request(o, h) : response(h);
        if (!wrong.empty())
            return wrong;
        for (char letter : o.headers) {
            const auto reason = extended(letter, h);
            if (!reason.empty())
                return reason;
        }
        return payload(o, h);
    }

    std::string_view request(const operation &o, view h) {
        if ((h[1] >> 4 & 3) != 1)
            return "ta_ee";
        if ((h[5] >> 4 & 3) == 3)
            return "ta_flags";
        if (o.headers.starts_with('M') && !(h[4] & 0x08))
            return "ta_flags";
        if (!(h[1] & 0x01))
            return "";
        if (left() < 4)
            return "truncated";
        take(4); // UDETAH
        return "";
    }

    std::string_view response(view h) {
        status_ = h[4] >> 5;
        const unsigned info = h[4] & 31;
        const bool ok = status_ == 0 || status_ == 5 ||
                        ((status_ == 1 || status_ == 2) && info <= 19) ||
                        (status_ == 3 && (info == 1 || info == 2));
        if (!ok)
            return "ta_rspst";
        return (h[5] >> 4 & 3) == 3 ? "ta_flags" : "";
    }

    std::string_view extended(char letter, view btah) {
        size_t size = 0;
        switch (letter) {
        case 'M':
        case 'O':
        case 'D':
            size = 4;
            break;
        case 'T':
            size = btah[1] & 0x08 ? 4 : 0;
            break;
        case 'I':
        case 'A':
            size = 16;
            break;
        case 'N':
            size = 24;
            break;
        case 'B':
            if (length_ > 1024)
                return "length";
            size = std::bit_ceil(std::max<size_t>(64, length_)) / 8;
            break;
        }
        if (left() < size)
            return "truncated";
        const view h = take(size);
        if (letter == 'M') {
            target_ = be(h, 0, 4) & 0xFFFFF;
            if ((h[1] >> 4 & 3) == 3)
                return "ta_flags";
        } else if (letter == 'A') {
            low_address_ = h[7];
            length_ = be(h, 12, 4);
        }
        return "";
    }

    std::string_view payload(const operation &o, view tah) {
        if (pad_ > left() || (pad_ && pad_ == left()))
            return "pad";
        const view p = take(left() - pad_);
        const bool refused = o.kind == operation::response && status_ != 0 && status_ != 5;
        if (!p.empty() && (o.payload == operation::none || refused))
            return "length";
        if (o.payload == operation::atomic &&
            (length_ > 64 || !std::has_single_bit(length_) || p.size() != 2 * size_t{length_} ||
             low_address_ % length_))
            return "atomic";
        if (op_ == 0 && tah[0] == 0 && target_ == 0 && p.size() >= 4 && be(p, 0, 4) == tpcm_magic)
            return set_up(p);
        return "";
    }

    std::string_view set_up(view p) {
        if (p.size() != tpcm_size || p[4] != 1 || p[5] < 1 || p[5] >= tpcm_types.size() ||
            p[72] < 1 || p[72] > 6)
            return "tpcm";
        out_.tpcm = tpcm_types[p[5]];
        return "";
    }

    view body_;
    verdict &out_;
    size_t at_ = 0;
    unsigned op_ = 0, pad_ = 0, status_ = 0;
    uint32_t length_ = 0, target_ = 0xFFFFFFFF;
    uint8_t low_address_ = 0;
};

/// Reason to drop for what lies below UDP; sets @udp_at and trims @ip to its own length.
std::string_view check_ip(view &ip, size_t &udp_at, bool cut, verdict &out) {
    out.v6 = ip[0] >> 4 == 6;
    udp_at = out.v6 ? 40 : 20;
    if (ip.size() < udp_at + 4)
        return "";
    const size_t protocol = out.v6 ? ip[6] : ip[9];
    size_t ports = udp_at;
    std::string_view reason;
    if (out.v6) {
        out.ecn = ip[1] >> 4 & 3;
        if (protocol == 44) {
            ports += 8;
            if (ip.size() < ports + 4 || ip[udp_at] != 17)
                return "";
            reason = "ip_frag";
        } else if (protocol != 17) {
            return "";
        }
    } else {
        out.ecn = ip[1] & 3;
        if (protocol != 17)
            return "";
        const size_t ihl = (ip[0] & 15) * 4u;
        if (ihl != 20) {
            ports = std::max<size_t>(ihl, 20);
            reason = "ip_ihl";
        } else if (be(ip, 6, 2) & 0x3FFF) {
            reason = "ip_frag";
        } else if (fold(words(ip.first(20))) != 0xFFFF) {
            reason = "ip_csum";
        }
    }
    if (ip.size() < ports + 4 || be(ip, ports + 2, 2) != uboe_port)
        return "";
    out.uboe = true;
    if (!reason.empty())
        return reason;
    if (cut)
        return "snapped";
    const size_t size = out.v6 ? 40 + be(ip, 4, 2) : be(ip, 2, 2);
    if (size > ip.size() || size < udp_at)
        return "ip_len";
    ip = ip.first(size);
    if (ip.size() < udp_at + 8 || be(ip, udp_at + 4, 2) != ip.size() - udp_at)
        return "udp_len";
    return "";
}

} // namespace

verdict judge_ip(view ip, bool cut) {
    verdict out;
    if (ip.empty() || (ip[0] >> 4 != 4 && ip[0] >> 4 != 6))
        return out;
    size_t udp_at = 0;
    out.reason = check_ip(ip, udp_at, cut, out);
    if (!out.uboe || !out.reason.empty())
        return out;
    if (!udp_checksum_ok(ip, udp_at)) {
        out.reason = "udp_csum";
        return out;
    }
    if (ip.size() < udp_at + 8 + 16 + 4) {
        out.reason = "short";
        return out;
    }
    const view covered = ip.first(ip.size() - 4);
    const uint32_t stored = __builtin_bswap32(be(ip, covered.size(), 4));
    if (ref::icrc(covered) != stored) {
        out.reason = "icrc";
        return out;
    }
    out.reason = walker(covered.subspan(udp_at + 8), out).run();
    return out;
}

verdict judge(uint32_t link_type, view frame, bool cut) {
    bool vlan = false;
    verdict out = judge_ip(ip_of(link_type, frame, vlan), cut);
    out.vlan = vlan;
    return out;
}

} // namespace interop
