// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Reader of capture files: pcap (micro- and nanosecond) and pcapng, either byte order. The file is
// mapped, records point into it; nothing in a file is trusted.
#ifndef UBOE_TESTS_INTEROP_CAPTURE_FILE_HPP
#define UBOE_TESTS_INTEROP_CAPTURE_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace interop {

struct record {
    uint32_t link_type;
    std::span<const uint8_t> data; ///< as captured
    uint32_t original_size;        ///< as it was on the wire
};

struct bad_capture : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class capture_file {
  public:
    explicit capture_file(const std::string &path);
    ~capture_file();
    capture_file(const capture_file &) = delete;
    capture_file &operator=(const capture_file &) = delete;

    /// Call @visit for each record until it returns false. Returns false when the file ends inside
    /// a record, as it does when the capturing program was killed.
    bool each(const std::function<bool(const record &)> &visit) const;

  private:
    bool each_pcap(bool swapped, const std::function<bool(const record &)> &visit) const;
    bool each_pcapng(const std::function<bool(const record &)> &visit) const;

    std::span<const uint8_t> file_;
};

} // namespace interop

#endif
