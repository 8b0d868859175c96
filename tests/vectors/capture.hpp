// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Writes captures: classic pcap, or pcapng when the file name says so.
#ifndef UBOE_TESTS_VECTORS_CAPTURE_HPP
#define UBOE_TESTS_VECTORS_CAPTURE_HPP

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace capture {

enum class link { ethernet, vlan, qinq, raw, native };

std::optional<link> link_by_name(const std::string &name);

class writer {
  public:
    writer(const std::string &file, link kind);
    /// Add one packet that starts at the IP header; time advances by a millisecond.
    void add(const std::vector<uint8_t> &ip_packet);
    bool close();

  private:
    void put(unsigned size, uint64_t value);
    void put(const std::vector<uint8_t> &data);

    std::ofstream out_;
    link kind_;
    bool ng_;
    uint32_t count_ = 0;
};

} // namespace capture

#endif
