// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "capture.hpp"

#include <algorithm>

namespace capture {

namespace {

constexpr uint32_t linktype_ethernet = 1, linktype_raw = 101;
constexpr uint32_t start_seconds = 1700000000;

bool ends_with(const std::string &s, const std::string &tail) {
    return s.size() >= tail.size() && s.compare(s.size() - tail.size(), tail.size(), tail) == 0;
}

/// A native packet on the lab link (docs/wire.md 11): VL 5, per flow on shortest paths, the
/// congestion mark that the packet's ECN becomes, partition 1 with low privilege.
std::vector<uint8_t> native_frame(const std::vector<uint8_t> &ip) {
    std::vector<uint8_t> out = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2, 0, 0, 0, 0, 1, 0x88, 0xB5};
    const bool v6 = !ip.empty() && ip[0] >> 4 == 6;
    const uint32_t last = static_cast<uint32_t>(ip.size()) + 10 - 1; // of the packet
    const uint32_t lph = 5u << 21 | (v6 ? 4u : 3u) << 16 | 2u << 14 | last / 640 << 10 |
                         last % 640 / 20 << 5 | last % 20;
    const uint8_t ecn = ip.size() < 2 ? 0 : v6 ? ip[1] >> 4 & 3 : ip[1] & 3;
    const uint8_t fecn[] = {0, 2, 2, 3};
    for (int shift = 24; shift >= 0; shift -= 8)
        out.push_back(static_cast<uint8_t>(lph >> shift));
    out.insert(out.end(), {0x80, fecn[ecn], 1, 0, 0, 1});
    out.insert(out.end(), ip.begin(), ip.end());
    out.resize(std::max<size_t>(out.size(), 60)); // the shortest frame
    return out;
}

std::vector<uint8_t> frame_of(link kind, const std::vector<uint8_t> &ip) {
    std::vector<uint8_t> out;
    if (kind == link::raw)
        return ip;
    if (kind == link::native)
        return native_frame(ip);
    out = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
    if (kind == link::qinq)
        out.insert(out.end(), {0x88, 0xA8, 0x00, 0x07});
    if (kind != link::ethernet)
        out.insert(out.end(), {0x81, 0x00, 0x60, 0x2A});
    if (!ip.empty() && ip[0] >> 4 == 6)
        out.insert(out.end(), {0x86, 0xDD});
    else
        out.insert(out.end(), {0x08, 0x00});
    out.insert(out.end(), ip.begin(), ip.end());
    return out;
}

} // namespace

std::optional<link> link_by_name(const std::string &name) {
    if (name == "eth")
        return link::ethernet;
    if (name == "vlan")
        return link::vlan;
    if (name == "qinq")
        return link::qinq;
    if (name == "raw")
        return link::raw;
    if (name == "native")
        return link::native;
    return std::nullopt;
}

writer::writer(const std::string &file, link kind)
    : out_(file, std::ios::binary), kind_(kind), ng_(ends_with(file, ".pcapng")) {
    const uint32_t type = kind == link::raw ? linktype_raw : linktype_ethernet;
    if (ng_) {
        put(4, 0x0A0D0D0A), put(4, 28), put(4, 0x1A2B3C4D), put(2, 1), put(2, 0);
        put(8, ~0ull), put(4, 28);
        put(4, 1), put(4, 20), put(2, type), put(2, 0), put(4, 0), put(4, 20);
    } else {
        put(4, 0xA1B2C3D4), put(2, 2), put(2, 4), put(4, 0), put(4, 0), put(4, 262144);
        put(4, type);
    }
}

void writer::add(const std::vector<uint8_t> &ip_packet) {
    const auto frame = frame_of(kind_, ip_packet);
    const uint32_t size = static_cast<uint32_t>(frame.size());
    const uint32_t seconds = start_seconds + count_ / 1000, micros = count_ % 1000 * 1000;
    ++count_;
    if (!ng_) {
        put(4, seconds), put(4, micros), put(4, size), put(4, size), put(frame);
        return;
    }
    const uint64_t stamp = seconds * 1000000ull + micros;
    const uint32_t padded = (size + 3) & ~3u, total = 32 + padded;
    put(4, 6), put(4, total), put(4, 0), put(4, stamp >> 32), put(4, stamp & 0xFFFFFFFF);
    put(4, size), put(4, size), put(frame), put(std::vector<uint8_t>(padded - size));
    put(4, total);
}

bool writer::close() {
    out_.close();
    return !out_.fail();
}

void writer::put(unsigned size, uint64_t value) {
    for (unsigned i = 0; i < size; ++i)
        out_.put(static_cast<char>(value >> 8 * i));
}

void writer::put(const std::vector<uint8_t> &data) {
    out_.write(reinterpret_cast<const char *>(data.data()),
               static_cast<std::streamsize>(data.size()));
}

} // namespace capture
