// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// pcapcheck: counts the good and the bad UBoE packets of captures. Exit status: 0 all good, 1 some
// bad or fewer than asked for, 2 a file could not be read.
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "capture_file.hpp"
#include "decode.hpp"

namespace {

const char *const usage = "usage: pcapcheck [--max N] [--min N] [--each] [--list N] FILE...\n"
                          "  --max N    look at the first N packets of each file only\n"
                          "  --min N    fail when there are fewer than N valid UBoE packets\n"
                          "  --each     a line per packet (ok, other, or the reason to drop) in "
                          "place of the JSON report\n"
                          "  --list N   name the first N bad packets in the report (default 20)\n";

struct options {
    uint64_t max = UINT64_MAX, min = 0, list = 20;
    bool each = false;
    std::vector<std::string> files;
};

bool parse_arguments(int argc, char **argv, options &o) {
    for (int i = 1; i < argc; ++i) {
        const std::string a = argv[i];
        uint64_t *number = a == "--max"    ? &o.max
                           : a == "--min"  ? &o.min
                           : a == "--list" ? &o.list
                                           : nullptr;
        if (number) {
            char *end = nullptr;
            if (++i == argc)
                return false;
            *number = std::strtoull(argv[i], &end, 10);
            if (end == argv[i] || *end)
                return false;
        } else if (a == "--each") {
            o.each = true;
        } else if (a.starts_with("-")) {
            return false;
        } else {
            o.files.push_back(a);
        }
    }
    return !o.files.empty();
}

class report {
  public:
    explicit report(const options &o) : o_(o) {}

    void add(const std::string &file, uint64_t frame, const interop::verdict &v, size_t size) {
        ++packets_;
        if (o_.each)
            std::cout << (!v.uboe ? "other" : v.reason.empty() ? "ok" : v.reason) << '\n';
        if (!v.uboe)
            return;
        ++uboe_;
        bytes_ += size;
        ++ip_[v.v6 ? "6" : "4"];
        ++ecn_[std::to_string(v.ecn)];
        vlan_ += v.vlan;
        if (!v.tp.empty())
            ++tp_[std::string(v.tp)];
        if (!v.ta.empty())
            ++ta_[std::string(v.ta)];
        if (!v.tpcm.empty())
            ++tpcm_[std::string(v.tpcm)];
        if (v.reason.empty())
            return;
        ++invalid_;
        ++reasons_[std::string(v.reason)];
        if (first_.size() < o_.list)
            first_.push_back({{"file", file},
                              {"frame", frame},
                              {"reason", v.reason},
                              {"tp", v.tp},
                              {"ta", v.ta},
                              {"src_tpn", v.src_tpn},
                              {"dst_tpn", v.dst_tpn},
                              {"psn", v.psn}});
    }

    void incomplete() { ++incomplete_; }
    bool good() const { return invalid_ == 0 && uboe_ >= o_.min; }

    nlohmann::ordered_json json() const {
        return {{"files", o_.files},
                {"packets", packets_},
                {"uboe", uboe_},
                {"valid", uboe_ - invalid_},
                {"invalid", invalid_},
                {"other", packets_ - uboe_},
                {"bytes", bytes_},
                {"vlan", vlan_},
                {"incomplete_files", incomplete_},
                {"ip", ip_},
                {"ecn", ecn_},
                {"tp", tp_},
                {"ta", ta_},
                {"tpcm", tpcm_},
                {"reasons", reasons_},
                {"first_invalid", first_}};
    }

  private:
    using counters = std::map<std::string, uint64_t>;
    const options &o_;
    uint64_t packets_ = 0, uboe_ = 0, invalid_ = 0, bytes_ = 0, vlan_ = 0, incomplete_ = 0;
    counters ip_, ecn_, tp_, ta_, tpcm_, reasons_;
    nlohmann::ordered_json first_ = nlohmann::ordered_json::array();
};

} // namespace

int main(int argc, char **argv) {
    options o;
    if (!parse_arguments(argc, argv, o)) {
        std::cerr << usage;
        return 2;
    }
    report r(o);
    for (const auto &file : o.files) {
        try {
            uint64_t frame = 0;
            const bool whole = interop::capture_file(file).each([&](const interop::record &rec) {
                if (frame == o.max)
                    return false;
                ++frame;
                const bool cut = rec.data.size() < rec.original_size;
                r.add(file, frame, interop::judge(rec.link_type, rec.data, cut), rec.data.size());
                return true;
            });
            if (!whole)
                r.incomplete();
        } catch (const interop::bad_capture &e) {
            std::cerr << "pcapcheck: " << file << ": " << e.what() << '\n';
            return 2;
        }
    }
    if (!o.each)
        std::cout << r.json().dump(2) << '\n';
    return r.good() ? 0 : 1;
}
