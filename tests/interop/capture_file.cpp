// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "capture_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace interop {

namespace {

constexpr uint32_t magic_micro = 0xA1B2C3D4, magic_nano = 0xA1B23C4D, magic_ng = 0x0A0D0D0A;
constexpr uint32_t ng_byte_order = 0x1A2B3C4D;
constexpr uint32_t largest_record = 16 << 20;

/// Integers of a file whose byte order is known.
class reader {
  public:
    reader(std::span<const uint8_t> bytes, bool swapped) : bytes_(bytes), swapped_(swapped) {}

    uint32_t u32(size_t at) const {
        uint32_t v;
        std::memcpy(&v, &bytes_[at], sizeof v);
        return swapped_ ? __builtin_bswap32(v) : v;
    }
    uint16_t u16(size_t at) const {
        uint16_t v;
        std::memcpy(&v, &bytes_[at], sizeof v);
        return swapped_ ? __builtin_bswap16(v) : v;
    }

  private:
    std::span<const uint8_t> bytes_;
    bool swapped_;
};

} // namespace

capture_file::capture_file(const std::string &path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        const std::string why = std::strerror(errno);
        if (fd >= 0)
            close(fd);
        throw bad_capture(path + ": " + why);
    }
    void *at = st.st_size > 0
                   ? mmap(nullptr, static_cast<size_t>(st.st_size), PROT_READ, MAP_PRIVATE, fd, 0)
                   : MAP_FAILED;
    close(fd);
    if (at == MAP_FAILED)
        throw bad_capture(path + ": empty or not a regular file");
    file_ = {static_cast<const uint8_t *>(at), static_cast<size_t>(st.st_size)};
}

capture_file::~capture_file() {
    munmap(const_cast<uint8_t *>(file_.data()), file_.size());
}

bool capture_file::each(const std::function<bool(const record &)> &visit) const {
    if (file_.size() >= 24) {
        const uint32_t magic = reader(file_, false).u32(0);
        if (magic == magic_ng)
            return each_pcapng(visit);
        if (magic == magic_micro || magic == magic_nano)
            return each_pcap(false, visit);
        const uint32_t other = __builtin_bswap32(magic);
        if (other == magic_micro || other == magic_nano)
            return each_pcap(true, visit);
    }
    throw bad_capture("neither pcap nor pcapng");
}

bool capture_file::each_pcap(bool swapped, const std::function<bool(const record &)> &visit) const {
    const reader r(file_, swapped);
    const uint32_t link_type = r.u32(20) & 0xFFFF;
    size_t at = 24;
    while (at < file_.size()) {
        if (file_.size() - at < 16)
            return false;
        const uint32_t size = r.u32(at + 8), original = r.u32(at + 12);
        if (size > largest_record)
            throw bad_capture("absurd record size");
        if (file_.size() - at - 16 < size)
            return false;
        if (!visit({link_type, file_.subspan(at + 16, size), original}))
            return true;
        at += 16 + size;
    }
    return true;
}

bool capture_file::each_pcapng(const std::function<bool(const record &)> &visit) const {
    struct interface {
        uint32_t link_type, snap;
    };
    std::vector<interface> interfaces;
    bool swapped = false;
    size_t at = 0;

    while (at < file_.size()) {
        if (file_.size() - at < 12)
            return false;
        // A section header reads the same in both orders and says which one holds.
        if (reader(file_, false).u32(at) == magic_ng) {
            const uint32_t order = reader(file_, false).u32(at + 8);
            if (order != ng_byte_order && __builtin_bswap32(order) != ng_byte_order)
                throw bad_capture("section without a byte order");
            swapped = order != ng_byte_order;
            interfaces.clear();
        }
        const reader r(file_, swapped);
        const uint32_t type = r.u32(at), total = r.u32(at + 4);
        if (total < 12 || total % 4 || total > largest_record)
            throw bad_capture("absurd block size");
        if (file_.size() - at < total)
            return false;
        const size_t body = at + 8, room = total - 12;
        std::optional<record> found;
        // Records: interface, then the captured and the original size, then the data.
        const auto packet = [&](uint32_t nr, size_t sizes_at, size_t data_at) {
            if (room < data_at)
                throw bad_capture("packet block without a header");
            const uint32_t size = r.u32(body + sizes_at);
            if (nr >= interfaces.size() || size > room - data_at)
                throw bad_capture("packet block contradicts itself");
            found = record{interfaces[nr].link_type, file_.subspan(body + data_at, size),
                           r.u32(body + sizes_at + 4)};
        };
        switch (type) {
        case 1: // interface description
            if (room < 8)
                throw bad_capture("interface block without a header");
            interfaces.push_back({r.u16(body), r.u32(body + 4)});
            break;
        case 2: // the old packet block
            packet(room >= 2 ? r.u16(body) : 0, 12, 20);
            break;
        case 3: { // simple packet
            if (room < 4 || interfaces.empty())
                throw bad_capture("simple packet block without an interface");
            const uint32_t original = r.u32(body);
            uint32_t size = std::min<uint32_t>(original, static_cast<uint32_t>(room - 4));
            if (interfaces[0].snap)
                size = std::min(size, interfaces[0].snap);
            found = record{interfaces[0].link_type, file_.subspan(body + 4, size), original};
            break;
        }
        case 6: // enhanced packet
            packet(room >= 4 ? r.u32(body) : 0, 12, 20);
            break;
        default:
            break;
        }
        if (found && !visit(*found))
            return true;
        at += total;
    }
    return true;
}

} // namespace interop
