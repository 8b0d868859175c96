// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Reader of golden.txt and bad/malformed.txt. Header only, C++17, no dependency on the generator.
//
// The format is line based: '#' starts a comment line, an empty line means nothing, any other line
// is a key, one space, and the rest of the line.
//     vector NAME     starts a vector; the name ends in .4 or .6, the IP version
//     title TEXT      one line for people
//     source TEXT     where the layout comes from
//     needs WORD      a receiver without this ability answers Unsupported Request
//     drop REASON     malformed vectors only: the reason a receiver must count
//     layer ip|udp|uboe   malformed vectors only: who notices it first
//     fields K=V ...  decoded values under the dissector's names, may repeat
//     hex HEXDIGITS   the packet from the IP header to the ICRC, may repeat (concatenate)
//     end             ends the vector
// A reader ignores keys that it does not know.
#ifndef UBOE_TESTS_VECTORS_GOLDEN_HPP
#define UBOE_TESTS_VECTORS_GOLDEN_HPP

#include <cstdint>
#include <fstream>
#include <istream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace golden {

struct vector {
    std::string name, title, source, needs, drop, layer;
    std::vector<std::pair<std::string, std::string>> fields;
    std::vector<uint8_t> packet; ///< from the IP header to the ICRC

    bool ipv6() const { return name.size() > 2 && name.compare(name.size() - 2, 2, ".6") == 0; }

    const std::string *field(const std::string &key) const {
        for (const auto &f : fields)
            if (f.first == key)
                return &f.second;
        return nullptr;
    }
};

inline bool append_hex(std::vector<uint8_t> &out, const std::string &hex) {
    const auto digit = [](char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    if (hex.size() % 2)
        return false;
    for (size_t i = 0; i < hex.size(); i += 2) {
        const int hi = digit(hex[i]), lo = digit(hex[i + 1]);
        if (hi < 0 || lo < 0)
            return false;
        out.push_back(static_cast<uint8_t>(hi << 4 | lo));
    }
    return true;
}

/// All vectors of @in, or nothing and *@error ("line 12: ...") when the text breaks the format.
inline std::optional<std::vector<vector>> parse(std::istream &in, std::string *error = nullptr) {
    std::vector<vector> all;
    std::string line;
    bool open = false;
    size_t number = 0;
    const auto fail = [&](const char *why) {
        if (error)
            *error = "line " + std::to_string(number) + ": " + why;
        return std::nullopt;
    };

    while (std::getline(in, line)) {
        ++number;
        if (line.empty() || line[0] == '#')
            continue;
        const size_t space = line.find(' ');
        const std::string key = line.substr(0, space);
        const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
        if (key == "vector") {
            if (open)
                return fail("vector inside a vector");
            all.emplace_back();
            all.back().name = rest;
            open = true;
            continue;
        }
        if (!open)
            return fail("text outside a vector");
        vector &v = all.back();
        if (key == "end") {
            open = false;
        } else if (key == "title") {
            v.title = rest;
        } else if (key == "source") {
            v.source = rest;
        } else if (key == "needs") {
            v.needs = rest;
        } else if (key == "drop") {
            v.drop = rest;
        } else if (key == "layer") {
            v.layer = rest;
        } else if (key == "hex") {
            if (!append_hex(v.packet, rest))
                return fail("bad hex");
        } else if (key == "fields") {
            std::istringstream words(rest);
            for (std::string word; words >> word;) {
                const size_t eq = word.find('=');
                if (eq == std::string::npos)
                    return fail("field without a value");
                v.fields.emplace_back(word.substr(0, eq), word.substr(eq + 1));
            }
        }
    }
    if (open)
        return fail("missing end");
    return all;
}

inline std::optional<std::vector<vector>> load(const std::string &path,
                                               std::string *error = nullptr) {
    std::ifstream in(path);
    if (!in) {
        if (error)
            *error = "cannot open " + path;
        return std::nullopt;
    }
    return parse(in, error);
}

} // namespace golden

#endif
