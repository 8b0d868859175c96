// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The catalogue of malformed packets. Each breaks exactly one rule: unless the ICRC is the subject,
// it is right for the bytes as they stand, so that only the named reason applies. docs/wire.md,
// "Drop reasons", lists the names.
#include <cstdio>
#include <utility>

#include "catalogue.hpp"
#include "wire.hpp"

using namespace wire;

namespace {

constexpr uint64_t addr = 0x700000001000;
constexpr uint32_t tokenid = 0xABC, token = 0x00C0FFEE;

/// Where the offsets of a packet lie.
struct layout {
    bool v6;
    size_t udp() const { return v6 ? 40 : 20; }
    size_t tph() const { return udp() + 8; }
    size_t tah() const { return tph() + 16; }
};

class catalogue {
  public:
    /// @spoil edits the packet; the ICRC is computed afterwards over what it left.
    template <class edit>
    void add(const char *name, const char *drop, const char *layer, const char *title,
             const bits &body, const edit &spoil) {
        for (const bool v6 : {false, true})
            one(name, drop, layer, title, v6, body, [&](bytes &p) {
                spoil(p, layout{v6});
                seal(p);
            });
    }
    void add(const char *name, const char *drop, const char *title, const bits &body) {
        add(name, drop, "uboe", title, body, [](bytes &, layout) {});
    }
    /// Edits for one IP version only, made after the ICRC was stored.
    template <class edit>
    void one(const char *name, const char *drop, const char *layer, const char *title, bool v6,
             const bits &body, const edit &spoil) {
        bytes p = enclose(outer{.v6 = v6}, body.data());
        seal(p);
        spoil(p);
        all.push_back({std::string(name) + (v6 ? ".6" : ".4"),
                       title,
                       "negative test",
                       "",
                       drop,
                       layer,
                       {},
                       std::move(p)});
    }
    template <class edit>
    void both(const char *name, const char *drop, const char *layer, const char *title,
              const bits &body, const edit &spoil) {
        for (const bool v6 : {false, true})
            one(name, drop, layer, title, v6, body, [&](bytes &p) { spoil(p, layout{v6}); });
    }

    std::vector<golden::vector> all;
};

rtph request() {
    return {.op = 1, .last = true, .ack = true, .psn = 10};
}
rtph reply(uint8_t op) {
    return {.op = op, .src = 0x202, .dst = 0x101, .psn = 10, .msn = 1};
}

bits join(bits a, const bits &b) {
    return a.append(b);
}
template <class... part> bits chain(const part &...parts) {
    bits out;
    (out.append(parts), ...);
    return out;
}

bits write_tah(uint8_t op = 3) {
    return chain(btah{.op = op, .tv = true, .tassn = 7}.build(), maetah(addr, tokenid, 5),
                 tvetah(token));
}

bits good_write() {
    return with_payload(request(), write_tah(), {'U', 'B', 'o', 'E', '!'});
}

bits atomic(uint32_t length, size_t operands, uint64_t where = addr) {
    return with_payload(request(),
                        chain(btah{.op = 7, .tv = true, .tassn = 7}.build(), taidetah(1),
                              maetah(where, tokenid, length), tvetah(token)),
                        bytes(operands, 1));
}

bits tpcm_send(const bytes &body) {
    return with_payload(
        utph{}, chain(btah{.op = 0, .mt = true, .rcid = 0}.build(), mtetah(0, 0, 0), ofstetah(0)),
        body);
}

void shorten(bytes &p, size_t to) {
    p.resize(to);
}

void add_outer(catalogue &c) {
    const bits w = good_write();
    c.both("truncated_ip", "ip_len", "ip", "the last 8 bytes are missing", w,
           [](bytes &p, layout) { shorten(p, p.size() - 8); });
    c.both("truncated_half", "ip_len", "ip", "cut in the middle of the TAH", w,
           [](bytes &p, layout l) { shorten(p, l.tah() + 3); });
    c.one("truncated_header", "ip_len", "ip", "cut inside the IP header", false, w,
          [](bytes &p) { shorten(p, 19); });
    c.one("truncated_header", "ip_len", "ip", "cut inside the IP header", true, w,
          [](bytes &p) { shorten(p, 39); });
    c.one("ihl6", "ip_ihl", "uboe", "IPv4 with one word of options", false, w, [](bytes &p) {
        p.insert(p.begin() + 20, {1, 1, 1, 0});
        p[0] = 0x46;
        p[3] = static_cast<uint8_t>(p[3] + 4);
        uint32_t sum = 0; // the checksum covers 24 bytes here
        p[10] = p[11] = 0;
        for (size_t i = 0; i < 24; i += 2)
            sum += static_cast<uint32_t>(p[i] << 8 | p[i + 1]);
        sum = (sum & 0xFFFF) + (sum >> 16);
        sum = ~((sum & 0xFFFF) + (sum >> 16));
        p[10] = static_cast<uint8_t>(sum >> 8);
        p[11] = static_cast<uint8_t>(sum);
    });
    c.one("ihl4", "ip_ihl", "ip", "IPv4 header length below the minimum", false, w, [](bytes &p) {
        p[0] = 0x44;
        fix_ip_checksum(p);
    });
    c.one("fragment_first", "ip_frag", "ip", "more fragments follow", false, w, [](bytes &p) {
        p[6] = 0x20;
        fix_ip_checksum(p);
        seal(p);
    });
    c.one("fragment_later", "ip_frag", "ip", "fragment offset 8", false, w, [](bytes &p) {
        p[6] = 0;
        p[7] = 1;
        fix_ip_checksum(p);
        seal(p);
    });
    c.one("fragment_first", "ip_frag", "ip", "IPv6 fragment header, more follow", true, w,
          [](bytes &p) {
              p.insert(p.begin() + 40, {17, 0, 0, 1, 0, 0, 0, 9});
              p[6] = 44;
              p[5] = static_cast<uint8_t>(p[5] + 8);
          });
    c.one("ip_checksum", "ip_csum", "ip", "IPv4 header checksum is wrong", false, w,
          [](bytes &p) { p[11] ^= 1; });
    c.one("ip_version5", "ip_version", "ip", "IP version 5", false, w, [](bytes &p) {
        p[0] = 0x55;
        fix_ip_checksum(p);
    });
    c.both("udp_len_short", "udp_len", "udp", "the UDP length leaves out four bytes of the packet",
           w, [](bytes &p, layout l) {
               p[l.udp() + 5] = static_cast<uint8_t>(p[l.udp() + 5] - 4);
               seal(p);
           });
    c.both("udp_len_long", "udp_len", "udp", "the UDP length says four bytes more than there are",
           w, [](bytes &p, layout l) {
               p[l.udp() + 5] = static_cast<uint8_t>(p[l.udp() + 5] + 4);
               seal(p);
           });
    c.both("udp_len_7", "udp_len", "udp", "a UDP length below its own header", w,
           [](bytes &p, layout l) { p[l.udp() + 5] = 7; });
    c.both("udp_csum_bad", "udp_csum", "udp", "a wrong non-zero UDP checksum", w,
           [](bytes &p, layout l) { p[l.udp() + 6] = p[l.udp() + 7] = 0x5A; });
    for (const size_t size : {0, 3, 8, 15, 16, 19}) {
        static char name[16]; // copied at once
        snprintf(name, sizeof name, "short_%zu", size);
        c.both(name, "short", "uboe", "too few bytes for a TPH and an ICRC", w,
               [&](bytes &p, layout l) {
                   shorten(p, l.tph() + size);
                   fix_lengths(p);
                   if (size >= 4)
                       seal(p);
               });
    }
}

void add_icrc(catalogue &c) {
    const bits w = good_write();
    c.both("icrc_flipped", "icrc", "uboe", "one bit of the ICRC is wrong", w,
           [](bytes &p, layout) { p.back() ^= 0x80; });
    c.both("icrc_zero", "icrc", "uboe", "the ICRC is zero", w, [](bytes &p, layout) {
        for (size_t i = 1; i <= 4; ++i)
            p[p.size() - i] = 0;
    });
    c.both("icrc_order", "icrc", "uboe", "the ICRC is stored in big-endian order", w,
           [](bytes &p, layout) {
               std::swap(p[p.size() - 1], p[p.size() - 4]);
               std::swap(p[p.size() - 2], p[p.size() - 3]);
           });
    c.both("icrc_payload", "icrc", "uboe", "one bit of the payload is wrong", w,
           [](bytes &p, layout) { p[p.size() - 10] ^= 1; });
    c.both("icrc_tpn", "icrc", "uboe", "one bit of the destination TPN is wrong", w,
           [](bytes &p, layout l) { p[l.tph() + 7] ^= 1; });
    c.both("icrc_sport", "icrc", "uboe", "the source port was translated", w,
           [](bytes &p, layout l) { p[l.udp()] ^= 0x10; });
}

void add_transport(catalogue &c) {
    rtph h = request();
    h.ver = 1;
    c.add("tpver1", "tp_ver", "TPVer 1", with_payload(h, write_tah(), {1, 2, 3, 4}));
    h.ver = 3;
    c.add("tpver3", "tp_ver", "TPVer 3", with_payload(h, write_tah(), {1, 2, 3, 4}));
    for (const uint8_t op : {0x4, 0x7, 0x9, 0x10, 0x7F}) {
        static char name[16];
        snprintf(name, sizeof name, "tpop_%02x", op);
        c.add(name, "tp_opcode", "reserved TPOpcode", reply(op).build());
    }
    for (const uint8_t nlp : {2, 3, 4, 15}) {
        static char name[16];
        snprintf(name, sizeof name, "nlp_%u", nlp);
        h = request();
        h.nlp = nlp;
        c.add(name, "nlp", "NLP that is reserved or asks for security headers",
              with_payload(h, write_tah(), {1, 2, 3, 4}));
    }
    c.add("tpack_tail", "length", "TPACK with four bytes behind it",
          join(reply(2).build(), bits().raw(bytes(4))));
    c.add("tpack_cc_none", "truncated", "TPACK-CC without its CETPH", reply(3).build());
    c.add("tpack_cc_half", "truncated", "TPACK-CC with half a CETPH",
          join(reply(3).build(), bits().raw(bytes(4))));
    c.add("tpack_cc_tail", "length", "TPACK-CC with four bytes behind the CETPH",
          chain(reply(3).build(), cetph_ldcp(1, 0), bits().raw(bytes(4))));
    c.add("cnp_short", "truncated", "CNP with 8 bytes instead of 16",
          join(reply(8).build(), bits().raw(bytes(8))));
    c.add("cnp_tail", "length", "CNP with four bytes too many",
          chain(reply(8).build(), cetph_cnp(3, false), bits().raw(bytes(4))));
    c.add("sack_none", "truncated", "TPSACK without its SAETPH", reply(5).build());
    c.add("sack_short", "truncated", "TPSACK says 128 bits and brings 64",
          chain(reply(5).build(), bits().put(8, 1).put(24, 12).raw(bytes(8))));
    c.add("sack_tail", "length", "TPSACK says 64 bits and brings 128",
          chain(reply(5).build(), bits().put(8, 0).put(24, 12).raw(bytes(16))));
    for (const uint8_t code : {5, 7}) {
        static char name[16];
        snprintf(name, sizeof name, "sack_size_%u", code);
        c.add(name, "sack_size", "reserved BitMapSize",
              chain(reply(5).build(), bits().put(8, code).put(24, 12).raw(bytes(256))));
    }
    for (const uint8_t st : {4, 6, 7}) {
        static char name[16];
        snprintf(name, sizeof name, "tpack_rspst_%u", st);
        h = reply(2);
        h.rspst = st;
        c.add(name, "tp_rspst", "reserved RSPST in a TPACK", h.build());
    }
    h = reply(2);
    h.rspst = 1;
    h.rspinfo = 20;
    c.add("tpack_rnr_20", "tp_rspst", "reserved RNR timer", h.build());
    h.rspst = 3;
    h.rspinfo = 3;
    c.add("tpnak_info_3", "tp_rspst", "reserved TPNAK code", h.build());
    h.rspst = 5;
    c.add("tpack_ta_info_3", "tp_rspst", "reserved code in a TPACK with a TA answer", h.build());
}

void add_padding(catalogue &c) {
    rtph h = request();
    h.pad = 3;
    c.add("pad_no_payload", "pad", "three pad bytes and no payload",
          join(h.build(),
               chain(btah{.op = 3, .tv = true}.build(), maetah(addr, tokenid, 0), tvetah(token))));
    c.add("pad_too_long", "pad", "three pad bytes in a TAACK",
          join(h.build(), atah{.tassn = 7}.build()));
    h = reply(2);
    h.pad = 1;
    c.add("pad_tpack", "pad", "a pad byte in a TPACK", h.build());
    for (const size_t extra : {1, 2, 3}) {
        static char name[16];
        snprintf(name, sizeof name, "odd_%zu", extra);
        c.add(name, "length", "the packet is no multiple of four bytes",
              join(request().build(), join(write_tah(), bits().raw(bytes(4 + extra)))));
    }
}

void add_transaction(catalogue &c) {
    c.add("no_tah", "truncated", "RTP data without a TAH", request().build());
    c.add("half_tah", "truncated", "RTP data with half a BTAH",
          join(request().build(), bits().raw({3, 0x10, 0, 7})));
    c.add("utp_no_tah", "truncated", "UTP data without a TAH", utph{}.build());
    rtph h = request();
    h.nlp = 1;
    c.add("no_eidh", "truncated", "NLP says identity headers, none follow", h.build());
    c.add("half_eidh", "truncated", "the EIDH is cut", join(h.build(), bits().raw(bytes(4 + 20))));
    c.add("no_tah_after_eidh", "truncated", "identity headers and nothing else",
          join(h.build(), upih_eidh(1, v6_doc(1), v6_doc(2))));
    c.add("no_maetah", "truncated", "Write without its MAETAH",
          join(request().build(), btah{.op = 3}.build()));
    c.add("half_maetah", "truncated", "Write with half a MAETAH",
          chain(request().build(), btah{.op = 3}.build(), bits().raw(bytes(8))));
    c.add("no_tvetah", "truncated", "TV_EN is set and the packet ends before the TVETAH",
          chain(request().build(), btah{.op = 3, .tv = true}.build(), maetah(addr, tokenid, 0)));
    c.add("no_ofst", "truncated", "Send that ends after its MTETAH",
          chain(request().build(), btah{.op = 0, .mt = true}.build(), mtetah(0, 0, 1)));
    c.add("half_imm", "truncated", "Send_with_immediate with half an IMMETAH",
          chain(request().build(), btah{.op = 1, .mt = true}.build(), mtetah(0, 0, 1), ofstetah(0),
                bits().raw(bytes(8))));
    c.add("half_ntf", "truncated", "Write_with_notify with half an NTFETAH",
          chain(request().build(), btah{.op = 5}.build(), maetah(addr, tokenid, 0),
                bits().raw(bytes(12))));
    c.add("read_resp_no_ofst", "truncated", "Read_response without its OFSTETAH",
          chain(request().build(), atah{.op = 0x12}.build(), taidetah(1)));
    c.add("read_payload", "length", "Read with a payload",
          with_payload(
              request(),
              chain(btah{.op = 6}.build(), taidetah(1), ofstetah(0), maetah(addr, tokenid, 64)),
              bytes(4)));
    c.add("taack_payload", "length", "TAACK with a payload",
          with_payload(request(), atah{.tassn = 7}.build(), bytes(8)));
    for (const uint8_t op : {0x16, 0x19, 0x1B, 0x40, 0xFF}) {
        static char name[16];
        snprintf(name, sizeof name, "taop_%02x", op);
        c.add(name, "ta_opcode", "reserved TAOpcode",
              with_payload(request(), write_tah(op), {1, 2, 3, 4}));
    }
    c.add("taver1", "ta_ver", "TAver 1 in a request",
          with_payload(request(), chain(btah{.op = 3, .ver = 1}.build(), maetah(addr, tokenid, 4)),
                       bytes(4)));
    c.add("taver2_response", "ta_ver", "TAver 2 in a response",
          with_payload(request(), atah{.ver = 2, .tassn = 7}.build(), {}));
    for (const uint8_t ee : {0, 2, 3}) {
        static char name[16];
        snprintf(name, sizeof name, "ee_%u", ee);
        c.add(name, "ta_ee", "EE_bits that are reserved or ask for a trusted environment",
              with_payload(request(),
                           chain(btah{.op = 3, .ee = ee}.build(), maetah(addr, tokenid, 4)),
                           bytes(4)));
    }
    c.add("send_no_mt", "ta_flags", "Send with MT_EN clear: no target context",
          with_payload(request(), chain(btah{.op = 0}.build(), mtetah(0, 0, 1), ofstetah(0)),
                       bytes(4)));
    c.add("rctype_3", "ta_flags", "reserved INI_RC_Type",
          with_payload(request(),
                       chain(btah{.op = 3, .rctype = 3}.build(), maetah(addr, tokenid, 4)),
                       bytes(4)));
    c.add("mt_type_3", "ta_flags", "reserved TGT_TC_Type",
          with_payload(request(),
                       chain(btah{.op = 0, .mt = true}.build(), mtetah(0, 3, 1), ofstetah(0)),
                       bytes(4)));
    c.add("utp_write", "ta_mode", "Write over UTP",
          with_payload(utph{}, write_tah(), {1, 2, 3, 4}));
    c.add("utp_taack", "ta_mode", "TAACK over UTP",
          with_payload(utph{}, atah{.tassn = 7}.build(), {}));
    c.add("taack_rspst_4", "ta_rspst", "reserved RSPST in a TAACK",
          with_payload(request(), atah{.tassn = 7, .rspst = 4}.build(), {}));
    c.add("taack_rnr_25", "ta_rspst", "reserved RNR timer in a TAACK",
          with_payload(request(), atah{.tassn = 7, .rspst = 1, .rspinfo = 25}.build(), {}));
    c.add("atomic_len_3", "atomic", "atomic of 3 bytes", atomic(3, 6));
    c.add("atomic_len_128", "atomic", "atomic of 128 bytes", atomic(128, 256));
    c.add("atomic_len_0", "atomic", "atomic of no bytes", atomic(0, 0));
    c.add("atomic_one_operand", "atomic", "only one operand", atomic(8, 8));
    c.add("atomic_three_operands", "atomic", "three operands", atomic(8, 24));
    c.add("atomic_unaligned", "atomic", "address not aligned to the operand",
          atomic(8, 16, addr + 4));
}

void add_tpcm(catalogue &c) {
    tpcm m;
    bytes body = m.build().data();
    m.ver = 2;
    c.add("tpcm_ver", "tpcm", "unknown version", tpcm_send(m.build().data()));
    for (const uint8_t type : {0, 6}) {
        static char name[16];
        snprintf(name, sizeof name, "tpcm_type_%u", type);
        m = {};
        m.type = type;
        c.add(name, "tpcm", "unknown type", tpcm_send(m.build().data()));
    }
    c.add("tpcm_short", "tpcm", "one word short", tpcm_send(bytes(body.begin(), body.end() - 4)));
    c.add("tpcm_4", "tpcm", "only the magic", tpcm_send(bytes(body.begin(), body.begin() + 4)));
    for (const uint8_t mtu : {0, 7}) {
        static char name[16];
        snprintf(name, sizeof name, "tpcm_mtu_%u", mtu);
        m = {};
        m.mtu = mtu;
        c.add(name, "tpcm", "MTU code out of range", tpcm_send(m.build().data()));
    }
}

} // namespace

std::vector<golden::vector> bad_vectors() {
    catalogue c;
    add_outer(c);
    add_icrc(c);
    add_transport(c);
    add_padding(c);
    add_transaction(c);
    add_tpcm(c);
    return std::move(c.all);
}
