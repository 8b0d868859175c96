// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The catalogue of well-formed packets. One flow throughout: host 1 (TPN 0x101) is the initiator,
// host 2 (TPN 0x202) the target, jetty 0x12 asks, TokenID 0xABC with TokenValue 0x00C0FFEE answers.
#include "catalogue.hpp"
#include "wire.hpp"

using namespace wire;

namespace {

constexpr uint64_t base_addr = 0x700000000000;
constexpr uint32_t tokenid = 0xABC, token = 0x00C0FFEE;
constexpr uint32_t jetty = 0x34; // the target's jetty or JFR
constexpr uint16_t mtu = 1024;

const char *const spec_tp = "UB Base Specification 2.0.1, 6.2";
const char *const spec_ta = "UB Base Specification 2.0.1, 7.2";
const char *const spec_id = "UB Base Specification 2.0.1, appendix B.3 and B.4";
const char *const draft = "UBoE draft, IP and UDP header fields";
const char *const profile = "UBoE-soft profile 1";

bytes ascii(const char *s) {
    const std::string text(s);
    return bytes(text.begin(), text.end());
}

/// @size bytes that differ from place to place, so that a misplaced packet shows.
bytes pattern(size_t size, size_t from = 0) {
    bytes out(size);
    for (size_t i = 0; i < size; ++i)
        out[i] = static_cast<uint8_t>((i + from) * 7 + ((i + from) >> 8));
    return out;
}

bytes le(uint64_t value, size_t size) {
    bytes out(size);
    for (size_t i = 0; i < size && i < 8; ++i)
        out[i] = static_cast<uint8_t>(value >> 8 * i);
    return out;
}

bytes join(bytes a, const bytes &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

template <class... part> bits chain(const part &...parts) {
    bits out;
    (out.append(parts), ...);
    return out;
}

/// A response header: from host 2 to host 1.
rtph reply(uint8_t op, uint32_t psn, uint32_t msn) {
    return {.op = op, .src = 0x202, .dst = 0x101, .psn = psn, .msn = msn};
}

rtph status(uint32_t psn, uint8_t rspst, uint8_t rspinfo) {
    rtph h = reply(2, psn, 1);
    h.rspst = rspst;
    h.rspinfo = rspinfo;
    return h;
}

rtph request(uint32_t psn, uint32_t msn = 0) {
    return {.op = 1, .last = true, .ack = true, .psn = psn, .msn = msn};
}

rtph response(uint32_t psn, uint32_t msn = 0) {
    rtph h = reply(1, psn, msn);
    h.last = h.ack = true;
    return h;
}

class catalogue {
  public:
    /// @make is called with the IP version's own addresses.
    template <class body>
    void add(const char *name, const char *title, const char *source, outer o, const body &make) {
        for (const bool v6 : {false, true}) {
            o.v6 = v6;
            packet p = finish(o, make(v6));
            all.push_back({std::string(name) + (v6 ? ".6" : ".4"), title, source, "", "", "",
                           std::move(p.fields), std::move(p.data)});
        }
    }
    void add(const char *name, const char *title, const char *source, const outer &o,
             const bits &body) {
        add(name, title, source, o, [&](bool) { return body; });
    }
    /// The vector that was added last asks for an ability that not every receiver has.
    void needs(const char *ability) {
        all[all.size() - 1].needs = all[all.size() - 2].needs = ability;
    }

    std::vector<golden::vector> all;
};

const outer there{}, back{.reverse = true};

address eid1(bool v6) {
    return v6 ? v6_doc(1) : v4_mapped(192, 0, 2, 1);
}
address eid2(bool v6) {
    return v6 ? v6_doc(2) : v4_mapped(192, 0, 2, 2);
}

bits vector_w() {
    return with_payload(request(10),
                        chain(btah{.op = 3, .tv = true, .tassn = 7, .odr = 1}.build(),
                              maetah(base_addr + 0x1000, tokenid, 5), tvetah(token)),
                        ascii("UBoE!"));
}

void add_basic(catalogue &c) {
    c.add("W", "RTP Write of 5 bytes", spec_ta, there, vector_w());
    c.add("A", "TPACK of PSN 10", spec_tp, back, reply(2, 10, 1).build());
    c.add("T", "TAACK as an RTP data packet", spec_ta, back,
          with_payload(response(0), atah{.tassn = 7}.build(), {}));
    c.add("N", "TPNAK, PSN error, 11 expected", spec_tp, back, status(11, 3, 0).build());
    c.add("S", "TPSACK base 10, 10 and 12 received", spec_tp, back,
          chain(reply(5, 10, 1).build(), saetph(0, 12, {0, 2})));
    c.add("C", "CNP, severe congestion", spec_tp, back,
          chain(reply(8, 0, 0).build(), cetph_cnp(3, false)));
    c.add("L", "TPACK-CC with LDCP counters, 56 bytes seen", spec_tp, back,
          chain(reply(3, 10, 1).build(), cetph_ldcp(28, 0)));
    c.add("R", "RTP Read of 8 KiB", spec_ta, outer{.sport = 49153},
          with_payload(request(11, 1),
                       chain(btah{.op = 6, .tv = true, .tassn = 8}.build(), taidetah(0x42),
                             ofstetah(0), maetah(base_addr + 0x2000, tokenid, 8192), tvetah(token)),
                       {}));
    c.add("U", "UTP Send to public jetty 0", spec_ta, there,
          with_payload(
              utph{},
              chain(btah{.op = 0, .tassn = 1, .mt = true}.build(), mtetah(0, 0, 0), ofstetah(0)),
              ascii("ping")));
    c.add("F", "Atomic_fetch_add of 8 bytes with UPI and EIDs", spec_id, there, [](bool v6) {
        rtph h = request(12, 2);
        h.nlp = 1;
        return with_payload(h,
                            chain(upih_eidh(1, eid1(v6), eid2(v6)),
                                  btah{.op = 11, .tv = true, .tassn = 9}.build(), taidetah(0x43),
                                  maetah(base_addr + 0x3000, tokenid, 8), tvetah(token)),
                            join(le(1, 8), le(0, 8)));
    });
}

/// The outer headers may vary within the draft's rules; the ICRC must not care.
void add_outer(catalogue &c) {
    c.add("outer_udp_csum", "vector W with a valid non-zero UDP checksum", draft,
          outer{.udp_checksum = true}, vector_w());
    c.add("outer_ce", "vector W marked CE on its way, TTL 3", draft,
          outer{.tos = 0x03, .ttl = 3, .flow = 0}, vector_w());
    c.add("outer_dscp", "vector W with a DSCP, not ECN capable, TTL 255", draft,
          outer{.tos = 0x68, .ttl = 255, .flow = 0xFFFFF}, vector_w());
    c.add("outer_sport", "vector W from another source port", draft, outer{.sport = 65535},
          vector_w());
}

void add_transport(catalogue &c) {
    c.add("tpack_rnr", "TPACK: target not ready, wait 64 us", spec_tp, back,
          status(10, 1, 5).build());
    c.add("tpack_page_fault", "TPACK: page fault at the target, wait 16 us", spec_tp, back,
          status(10, 2, 3).build());
    c.add("tpnak_rnr_max", "TPACK: target not ready, longest wait", spec_tp, back,
          status(10, 1, 19).build());
    c.add("tpnak_unsupported", "TPNAK: unsupported request", spec_tp, back,
          status(10, 3, 1).build());
    c.add("tpnak_abort", "TPNAK: remote abort", spec_tp, back, status(10, 3, 2).build());
    c.add("tpack_ta_retry", "TPACK with a TA answer: abnormal, retry helps", spec_tp, back,
          status(10, 5, 0).build());
    c.add("tpack_ta_error", "TPACK with a TA answer: abnormal, final", spec_tp, back,
          status(10, 5, 1).build());
    c.add("tpack_ta_ok", "TPACK with a TA answer: the message is done", spec_tp, back,
          status(10, 5, 2).build());
    c.add("tpack_wrap", "TPACK of the last PSN before the wrap", spec_tp, back,
          reply(2, 0xFFFFFF, 0xFFFFFF).build());
    rtph nak_cc = status(11, 3, 0);
    nak_cc.op = 3;
    c.add("tpnak_cc", "TPNAK-CC, PSN error", spec_tp, back,
          chain(nak_cc.build(), cetph_ldcp(0x01020304, 0x00010002)));
    rtph ok_cc = status(10, 5, 2);
    ok_cc.op = 3;
    c.add("tpack_cc_ta_ok", "TPACK-CC with a TA answer, counters near their wrap", spec_tp, back,
          chain(ok_cc.build(), cetph_ldcp(0xFFFFFFFE, 0x80000000)));
    c.add("tpsack_128", "TPSACK, 128 bits, bits at both ends", spec_tp, back,
          chain(reply(5, 1000, 3).build(), saetph(1, 1127, {0, 127})));
    c.add("tpsack_256", "TPSACK, 256 bits", spec_tp, back,
          chain(reply(5, 1000, 3).build(), saetph(2, 1200, {0, 2, 3, 7, 8, 31, 32, 63, 64, 200})));
    c.add("tpsack_512", "TPSACK, 512 bits, more seen than the map holds", spec_tp, back,
          chain(reply(5, 1000, 3).build(), saetph(3, 1600, {0, 9, 511})));
    c.add("tpsack_1024", "TPSACK, 1024 bits across the PSN wrap", spec_tp, back,
          chain(reply(5, 0xFFFFF0, 3).build(), saetph(4, 0x0003EF, {0, 15, 16, 17, 1023})));
    c.add("tpsack_cc", "TPSACK-CC: counters, then the bitmap", spec_tp, back,
          chain(reply(6, 10, 1).build(), cetph_ldcp(300, 28), saetph(0, 13, {0, 3})));
    c.add("cnp_light", "CNP, light congestion at the last hop", spec_tp, back,
          chain(reply(8, 0, 0).build(), cetph_cnp(1, true)));
    c.add("cnp_none", "CNP without congestion", spec_tp, back,
          chain(reply(8, 0, 0).build(), cetph_cnp(0, false)));
    rtph fake = request(20, 4);
    fake.fake = true;
    c.add("fake", "keep-alive packet, nothing after the RTPH", profile, there, fake.build());
}

bits send_tah(uint8_t op, uint16_t tassn, uint32_t offset, bool tv = true) {
    bits out = chain(btah{.op = op, .tv = tv, .tassn = tassn, .mt = true}.build(),
                     mtetah(0, 0, jetty), ofstetah(offset));
    return out;
}

void add_send(catalogue &c) {
    c.add("send", "Send of 16 bytes with a token", spec_ta, there,
          with_payload(request(30), chain(send_tah(0, 1, 0), tvetah(token)), pattern(16)));
    c.add("send_no_token", "Send of 1 byte without a token", spec_ta, there,
          with_payload(request(31), send_tah(0, 2, 0, false), pattern(1)));
    c.add("send_empty", "Send of nothing", spec_ta, there,
          with_payload(request(32), chain(send_tah(0, 3, 0), tvetah(token)), {}));
    btah every{.op = 0,
               .tv = true,
               .poison = true,
               .ud = true,
               .tassn = 0xFFFF,
               .odr = 6,
               .mt = true,
               .fce = true,
               .retry = true,
               .rctype = 2,
               .rcid = 0xFFFFF};
    const auto with_user_data = [](const btah &h) {
        return with_payload(request(33),
                            chain(h.build(), udetah(0x80706050), mtetah(0xA5, 2, 0xFFFFE),
                                  ofstetah(0), tvetah(0xFFFFFFFF)),
                            pattern(3));
    };
    c.add("send_ud", "Send with user data and largest values", spec_ta, there,
          with_user_data(every));
    every.hint = every.alloc = every.e = true;
    c.add("send_bits", "the same with Target_Hint, Alloc and E_bit, which may be ignored", spec_ta,
          there, with_user_data(every));
    for (unsigned i = 0; i < 3; ++i) {
        static const char *const names[] = {"send_first", "send_middle", "send_last"};
        rtph h = request(40 + i, 5);
        h.last = i == 2;
        h.ack = i == 2;
        c.add(names[i], "Send of 2058 bytes in three packets", spec_ta, there,
              with_payload(h, chain(send_tah(0, 5, i), tvetah(token)),
                           pattern(i < 2 ? mtu : 10, i * mtu)));
    }
    c.add("send_imm", "Send_with_immediate of 6 bytes", spec_ta, there,
          with_payload(request(50, 6),
                       chain(send_tah(1, 6, 0), immetah(0x0123456789ABCDEF), tvetah(token)),
                       pattern(6)));
    c.add("send_imm_last", "Send_with_immediate, second packet of a message", spec_ta, there,
          with_payload(request(51, 7),
                       chain(send_tah(1, 7, 1), immetah(0xFEDCBA9876543210), tvetah(token)),
                       pattern(2, mtu)));
    c.add("send_inv", "Send_with_invalidate of TokenID 0xABC", profile, there,
          with_payload(request(52, 8),
                       chain(send_tah(2, 8, 0), immetah_invalidate(tokenid, token), tvetah(0x77)),
                       pattern(8)));
    c.needs("send_inv");
    c.add("send_inv_no_token", "Send_with_invalidate, no token of its own", profile, there,
          with_payload(request(53, 9),
                       chain(send_tah(2, 9, 0, false), immetah_invalidate(0xFFFFF, 0xFFFFFFFF)),
                       {}));
    c.needs("send_inv");
}

void add_write(catalogue &c) {
    c.add("write_no_token", "Write of 4 bytes without a token", spec_ta, there,
          with_payload(
              request(60),
              chain(btah{.op = 3, .tassn = 10}.build(), maetah(0xFFFFFFFFFFFFFFF8, 0xFFFFF, 4)),
              pattern(4)));
    c.add("write_empty", "Write of nothing", spec_ta, there,
          with_payload(request(61),
                       chain(btah{.op = 3, .tv = true, .tassn = 11}.build(),
                             maetah(base_addr, tokenid, 0), tvetah(token)),
                       {}));
    for (unsigned i = 0; i < 2; ++i) {
        rtph h = request(62 + i, 12);
        h.last = h.ack = i == 1;
        c.add(i ? "write_last" : "write_first",
              "Write of 1031 bytes in two packets; each names the whole length", profile, there,
              with_payload(h,
                           chain(btah{.op = 3, .tv = true, .tassn = 12}.build(),
                                 maetah(base_addr + i * mtu, tokenid, 1031), tvetah(token)),
                           pattern(i ? 7 : mtu, i * mtu)));
    }
    c.add("write_imm", "Write_with_immediate of 12 bytes, two tokens", spec_ta, there,
          with_payload(request(70),
                       chain(btah{.op = 4, .tv = true, .tassn = 13, .odr = 4, .mt = true}.build(),
                             mtetah(0, 0, jetty), maetah(base_addr + 0x4000, tokenid, 12),
                             immetah(0x1122334455667788, 0x0BADF00D, 12), tvetah(token)),
                       pattern(12)));
    c.add("write_imm_last", "Write_with_immediate, last packet of 1030 bytes", spec_ta, there,
          with_payload(request(72, 1),
                       chain(btah{.op = 4, .tv = true, .tassn = 14, .mt = true}.build(),
                             mtetah(0, 0, jetty), maetah(base_addr + mtu, tokenid, 1030),
                             immetah(5, 0x0BADF00D, 1030), tvetah(token)),
                       pattern(6, mtu)));
    c.add("write_notify", "Write_with_notify of 20 bytes, two tokens", spec_ta, there,
          with_payload(request(73),
                       chain(btah{.op = 5, .tv = true, .tassn = 15, .odr = 2}.build(),
                             maetah(base_addr + 0x5000, tokenid, 20),
                             ntfetah(base_addr + 0x6000, 0xABD, 0x0BADF00D, 0xCAFEF00DDEADBEEF),
                             tvetah(token)),
                       pattern(20)));
    bytes every_other(8, 0x55);
    c.add("write_be", "Write_with_be of 64 bytes, every other byte", spec_ta, there,
          with_payload(request(74),
                       chain(btah{.op = 0x14, .tv = true, .tassn = 16}.build(),
                             maetah(base_addr, tokenid, 64), tvetah(token), beetah(every_other)),
                       pattern(64)));
    c.needs("be");
    c.add("writeback", "Writeback of 64 bytes", spec_ta, there,
          with_payload(request(75),
                       chain(btah{.op = 0x17, .tv = true, .tassn = 17}.build(),
                             maetah(base_addr, tokenid, 64), tvetah(token)),
                       pattern(64)));
    c.needs("writeback");
    c.add(
        "writeback_be", "Writeback_with_be of 128 bytes", spec_ta, there,
        with_payload(request(76),
                     chain(btah{.op = 0x18, .tv = true, .tassn = 18}.build(),
                           maetah(base_addr, tokenid, 128), tvetah(token), beetah(bytes(16, 0xF0))),
                     pattern(128)));
    c.needs("writeback");
    c.add("write_reduce", "Write with reduce: user data of class 1, ADD, s32", profile, there,
          with_payload(request(77),
                       chain(btah{.op = 3, .tv = true, .ud = true, .tassn = 19}.build(),
                             udetah(0x10020000), maetah(base_addr, tokenid, 16), tvetah(token)),
                       pattern(16)));
    c.needs("reduce");
    c.add("read_reduce", "Read with reduce: user data of class 1, UMAX, u64", profile, there,
          with_payload(request(79),
                       chain(btah{.op = 6, .tv = true, .ud = true, .tassn = 22}.build(),
                             udetah(0x106B0000), taidetah(0x16), ofstetah(0),
                             maetah(base_addr, tokenid, 64), tvetah(token)),
                       {}));
    c.needs("reduce");
    c.add("write_add", "Write with atomic store add, addend 1", profile, there,
          with_payload(request(78),
                       chain(btah{.op = 0x1A, .tv = true, .tassn = 20}.build(),
                             maetah(base_addr, tokenid, 9),
                             ntfetah(base_addr + 0x6000, 0xABD, 0x0BADF00D, 1), tvetah(token)),
                       pattern(9)));
    c.needs("wasa");
    c.add("prefetch", "Prefetch_tgt over UTP", spec_ta, there,
          with_payload(
              utph{},
              chain(btah{.op = 0x15, .tassn = 21}.build(), maetah(base_addr, tokenid, 4096)), {}));
    c.needs("prefetch");
}

void add_response(catalogue &c) {
    c.add("read_no_token", "Read of 64 bytes without a token, offset 3 KiB", spec_ta, there,
          with_payload(request(80),
                       chain(btah{.op = 6, .tassn = 30}.build(), taidetah(0xFFFF), ofstetah(3),
                             maetah(base_addr, tokenid, 64)),
                       {}));
    c.add("read_resp", "Read_response of 64 bytes", spec_ta, back,
          with_payload(response(1),
                       chain(atah{.op = 0x12, .tassn = 30}.build(), taidetah(0xFFFF), ofstetah(3)),
                       pattern(64)));
    for (unsigned i = 0; i < 3; ++i) {
        static const char *const names[] = {"read_resp_first", "read_resp_middle",
                                            "read_resp_last"};
        rtph h = response(2 + i, 1);
        h.last = h.ack = i == 2;
        c.add(names[i], "Read_response of 2052 bytes in three packets", profile, back,
              with_payload(
                  h, chain(atah{.op = 0x12, .tassn = 31}.build(), taidetah(0x42), ofstetah(i)),
                  pattern(i < 2 ? mtu : 4, i * mtu)));
    }
    c.add("read_resp_error", "Read_response: remote abort, no data", spec_ta, back,
          with_payload(response(5, 2),
                       chain(atah{.op = 0x12, .tassn = 32, .rspst = 3, .rspinfo = 2}.build(),
                             taidetah(0x42), ofstetah(0)),
                       {}));
    c.add("taack_many", "TAACK that stands for four", spec_ta, back,
          with_payload(response(6, 3), atah{.tassn = 33, .rspinfo = 3}.build(), {}));
    c.add("taack_rnr", "TAACK: target not ready", spec_ta, back,
          with_payload(response(7, 4), atah{.tassn = 34, .rspst = 1, .rspinfo = 12}.build(), {}));
    c.add("taack_page_fault", "TAACK: page fault, already resolved", spec_ta, back,
          with_payload(response(8, 5), atah{.tassn = 35, .rspst = 2}.build(), {}));
    c.add("taack_unsupported", "TAACK: unsupported request", spec_ta, back,
          with_payload(response(9, 6), atah{.tassn = 36, .rspst = 3, .rspinfo = 1}.build(), {}));
    c.add("taack_abort", "TAACK: remote abort", spec_ta, back,
          with_payload(response(10, 7), atah{.tassn = 37, .rspst = 3, .rspinfo = 2}.build(), {}));
    c.add("taack_mem", "TAACK: handed to the memory controller", spec_ta, back,
          with_payload(response(11, 8), atah{.tassn = 38, .rspst = 5}.build(), {}));
    c.add("taack_scid", "TAACK that grants sequence context 0x99", spec_ta, back,
          with_payload(response(12, 9),
                       atah{.sv = true, .tassn = 0x99, .rctype = 1, .rcid = 0xABCDE}.build(), {}));
}

void add_atomic(catalogue &c) {
    const auto atomic = [](uint8_t op, uint32_t size, const bytes &operands) {
        return with_payload(request(90 + op),
                            chain(btah{.op = op, .tv = true, .tassn = op, .odr = 2}.build(),
                                  taidetah(0x50), maetah(base_addr + 64, tokenid, size),
                                  tvetah(token)),
                            operands);
    };
    const auto sub = [](uint8_t op, uint32_t subop, uint32_t size, const bytes &operands) {
        return with_payload(request(90 + op),
                            chain(btah{.op = op, .tv = true, .ud = true, .tassn = op}.build(),
                                  udetah(subop << 20), taidetah(0x51),
                                  maetah(base_addr + 64, tokenid, size), tvetah(token)),
                            operands);
    };
    c.add("cas4", "Atomic_compare_swap of 4 bytes: swap 2 if 1", spec_ta, there,
          atomic(7, 4, join(le(2, 4), le(1, 4))));
    c.add("cas16", "Atomic_compare_swap of 16 bytes", spec_ta, there,
          atomic(7, 16, join(pattern(16), pattern(16, 100))));
    c.add("cas1", "Atomic_compare_swap of 1 byte, two pad bytes", spec_ta, there,
          atomic(7, 1, {0xAA, 0x55}));
    c.add("swap", "Atomic_swap of 8 bytes", spec_ta, there,
          atomic(8, 8, join(le(0x1122334455667788, 8), le(0, 8))));
    c.add("store_add", "Atomic_store, sub-operation ADD", spec_ta, there,
          sub(9, 0, 8, join(le(5, 8), le(0, 8))));
    c.add("store_umin", "Atomic_store, sub-operation UMIN, 2 bytes", spec_ta, there,
          sub(9, 7, 2, join(le(5, 2), le(0, 2))));
    c.add("load_set", "Atomic_load, sub-operation SET", spec_ta, there,
          sub(10, 3, 4, join(le(0xF0, 4), le(0, 4))));
    static const char *const fetch[] = {"fetch_add4", "fetch_sub", "fetch_and", "fetch_or",
                                        "fetch_xor"};
    for (uint8_t i = 0; i < 5; ++i)
        c.add(fetch[i], "Atomic fetch operation of 4 bytes", spec_ta, there,
              atomic(static_cast<uint8_t>(11 + i), 4, join(le(0x10u + i, 4), le(0, 4))));
    c.add("atomic_resp", "Atomic_response with the old 8 bytes", spec_ta, back,
          with_payload(response(13, 10),
                       chain(atah{.op = 0x13, .tassn = 9}.build(), taidetah(0x43)), le(41, 8)));
    c.add("atomic_resp_store", "Atomic_response without data", spec_ta, back,
          with_payload(response(14, 11),
                       chain(atah{.op = 0x13, .tassn = 9}.build(), taidetah(0x51)), {}));
    c.add("atomic_resp_error", "Atomic_response: unsupported request", spec_ta, back,
          with_payload(
              response(15, 12),
              chain(atah{.op = 0x13, .tassn = 9, .rspst = 3, .rspinfo = 1}.build(), taidetah(0x43)),
              {}));
}

void add_identity(catalogue &c) {
    c.add("id_utp_send", "UTP Send with UPI and EIDs to jetty 1", spec_id, there, [](bool v6) {
        return with_payload(utph{.nlp = 1},
                            chain(upih_eidh(0xABCDEF, eid1(v6), eid2(v6)),
                                  btah{.op = 0, .tv = true, .tassn = 2, .mt = true}.build(),
                                  mtetah(0, 0, 1), ofstetah(0), tvetah(token)),
                            ascii("hello"));
    });
    c.add("id_utp_send_imm", "UTP Send_with_immediate with UPI and EIDs", spec_id, there,
          [](bool v6) {
              return with_payload(utph{.nlp = 1},
                                  chain(upih_eidh(1, eid1(v6), eid2(v6)),
                                        btah{.op = 1, .tassn = 3, .mt = true}.build(),
                                        mtetah(0, 0, 1), ofstetah(0), immetah(42)),
                                  ascii("hello"));
          });
    c.add("id_low", "RTP Write of low privilege", profile, there, [](bool v6) {
        rtph h = request(17, 14);
        h.nlp = 1;
        return with_payload(h,
                            chain(upih_eidh(0x1ABCDEF, eid1(v6), eid2(v6)),
                                  btah{.op = 3, .tassn = 10}.build(),
                                  maetah(base_addr, tokenid, 4)),
                            ascii("word"));
    });
    c.add("id_taack", "TAACK with UPI and EIDs", spec_id, back, [](bool v6) {
        rtph h = response(16, 13);
        h.nlp = 1;
        return with_payload(h, chain(upih_eidh(1, eid2(v6), eid1(v6)), atah{.tassn = 9}.build()),
                            {});
    });
}

void add_tpcm(catalogue &c) {
    const auto message = [](const tpcm &m) {
        const bits body = m.build();
        bits out = with_payload(utph{},
                                chain(btah{.op = 0, .tassn = 0, .mt = true, .rcid = 0}.build(),
                                      mtetah(0, 0, 0), ofstetah(0)),
                                body.data());
        for (const auto &f : body.fields())
            out.note(std::string_view(f.first).substr(4), f.second);
        return out;
    };
    const auto initiator = [](bool v6, uint8_t type) {
        return tpcm{.type = type,
                    .xid = 0x11112222,
                    .tpn = 0x101,
                    .psn = 0x00000A,
                    .jetty = 0x12,
                    .peer_jetty = 0x34,
                    .upi = 1,
                    .seid = eid1(v6),
                    .deid = eid2(v6),
                    .caps = 0x05,
                    .svc_modes = 0x0F};
    };
    const auto target = [](bool v6, uint8_t type) {
        return tpcm{.type = type,
                    .xid = 0x33334444,
                    .peer_xid = 0x11112222,
                    .tpn = 0x202,
                    .peer_tpn = 0x101,
                    .psn = 0xFFFFFE,
                    .jetty = 0x34,
                    .peer_jetty = 0x12,
                    .upi = 1,
                    .seid = eid2(v6),
                    .deid = eid1(v6),
                    .caps = 0x01,
                    .svc_modes = 0x05};
    };
    c.add("tpcm_req", "TPCM REQ", profile, there,
          [&](bool v6) { return message(initiator(v6, 1)); });
    c.add("tpcm_rep", "TPCM REP", profile, back, [&](bool v6) { return message(target(v6, 2)); });
    c.add("tpcm_ready", "TPCM READY", profile, there, [&](bool v6) {
        tpcm m = initiator(v6, 3);
        m.peer_xid = 0x33334444;
        m.peer_tpn = 0x202;
        return message(m);
    });
    c.add("tpcm_close", "TPCM CLOSE", profile, there, [&](bool v6) {
        tpcm m = initiator(v6, 4);
        m.peer_xid = 0x33334444;
        m.peer_tpn = 0x202;
        m.reason = 1;
        return message(m);
    });
    c.add("tpcm_rej", "TPCM REJ", profile, back, [&](bool v6) {
        tpcm m = target(v6, 5);
        m.xid = m.tpn = m.psn = 0;
        m.reason = 3;
        return message(m);
    });
    c.add("tpcm_req_gbn", "TPCM REQ: go-back-N, MTU 4096, DCQCN, static RTO", profile, there,
          [&](bool v6) {
              tpcm m = initiator(v6, 1);
              m.mtu = 5;
              m.retrans = 0x80;
              m.ooo_log2 = 0;
              m.bitmap = 0;
              m.cc = 1;
              m.rto_mode = 0;
              m.rto_base_us = 16000;
              return message(m);
          });
}

} // namespace

std::vector<golden::vector> good_vectors() {
    catalogue c;
    add_basic(c);
    add_outer(c);
    add_transport(c);
    add_send(c);
    add_write(c);
    add_response(c);
    add_atomic(c);
    add_identity(c);
    add_tpcm(c);
    return std::move(c.all);
}
