// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "capture.hpp"

namespace capture {

namespace {

constexpr uint32_t linktype_ethernet = 1, linktype_raw = 101;
constexpr uint32_t start_seconds = 1700000000;

bool ends_with(const std::string &s, const std::string &tail) {
    return s.size() >= tail.size() && s.compare(s.size() - tail.size(), tail.size(), tail) == 0;
}

std::vector<uint8_t> frame_of(link kind, const std::vector<uint8_t> &ip) {
    std::vector<uint8_t> out;
    if (kind == link::raw)
        return ip;
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
