// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Reference ICRC, written from the text of the UBoE draft and nothing else: one bit at a time, no
// table, no library. It is slow on purpose; every fast implementation is measured against it.
//
// Rules that it follows:
//  - coverage runs from the first byte of the IP header to the last byte before the ICRC;
//  - the fields that a router may change count as all ones: IPv4 TOS, TTL and header checksum, IPv6
//    traffic class, flow label and hop limit, and the UDP checksum;
//  - generator 0x04C11DB7, register preset to ones, every byte enters least significant bit first,
//    the register is mirrored and complemented at the end.
#ifndef UBOE_TESTS_VECTORS_REF_ICRC_HPP
#define UBOE_TESTS_VECTORS_REF_ICRC_HPP

#include <cstddef>
#include <cstdint>
#include <span>

namespace ref {

inline constexpr uint32_t icrc_generator = 0x04C11DB7;

class icrc_register {
  public:
    void feed(uint8_t byte) {
        for (int bit = 0; bit < 8; ++bit) {
            const uint32_t in = (byte >> bit) & 1u;
            const uint32_t out = state_ >> 31;
            state_ <<= 1;
            if (in != out)
                state_ ^= icrc_generator;
        }
    }

    uint32_t value() const {
        uint32_t mirrored = 0;
        for (int bit = 0; bit < 32; ++bit)
            if (state_ & (1u << bit))
                mirrored |= 1u << (31 - bit);
        return ~mirrored;
    }

  private:
    uint32_t state_ = 0xFFFFFFFF;
};

/// Length of the IP header that the mask rules know: 20 or 40 bytes. UBoE has no options and no
/// extension headers.
inline size_t ip_header_size(std::span<const uint8_t> ip) {
    return (ip[0] >> 4) == 6 ? 40 : 20;
}

/// The bits of byte @pos (counted from the IP header) that count as ones.
inline uint8_t icrc_mask(bool v6, size_t pos) {
    const size_t udp = v6 ? 40 : 20;
    if (pos == udp + 6 || pos == udp + 7)
        return 0xFF; // UDP checksum
    if (!v6)
        return pos == 1 || pos == 8 || pos == 10 || pos == 11 ? 0xFF : 0;
    if (pos == 0)
        return 0x0F; // high half of the traffic class
    return (pos >= 1 && pos <= 3) || pos == 7 ? 0xFF : 0;
}

/// ICRC of @covered, which starts at the IP header and ends just before the ICRC field.
inline uint32_t icrc(std::span<const uint8_t> covered) {
    const bool v6 = (covered[0] >> 4) == 6;
    const size_t headers = ip_header_size(covered) + 8;
    icrc_register reg;
    size_t pos = 0;
    for (; pos < covered.size() && pos < headers; ++pos)
        reg.feed(covered[pos] | icrc_mask(v6, pos));
    for (; pos < covered.size(); ++pos)
        reg.feed(covered[pos]);
    return reg.value();
}

} // namespace ref

#endif
