// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A second opinion on UBoE packets: written from docs/wire.md, sharing nothing with the protocol
// core, with the bit-by-bit ICRC of the vectors.
#ifndef UBOE_TESTS_INTEROP_DECODE_HPP
#define UBOE_TESTS_INTEROP_DECODE_HPP

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace interop {

inline constexpr uint16_t uboe_port = 4792;

struct verdict {
    bool uboe = false;       ///< the packet is for the UBoE port
    std::string_view reason; ///< why a receiver must drop it; empty when it need not
    bool v6 = false, vlan = false;
    uint8_t ecn = 0;
    uint32_t psn = 0, src_tpn = 0, dst_tpn = 0;
    std::string_view tp, ta, tpcm; ///< names of what was found, empty when there is none

    bool valid() const { return uboe && reason.empty(); }
};

/// Judge a record of a capture. @cut says that the capture holds only its beginning.
verdict judge(uint32_t link_type, std::span<const uint8_t> frame, bool cut);

/// Judge a packet that starts at its IP header.
verdict judge_ip(std::span<const uint8_t> ip, bool cut);

} // namespace interop

#endif
