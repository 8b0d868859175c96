// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// uboe-vectors: writes and checks the golden vectors, turns them into captures, and judges what
// another decoder made of those captures.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "capture.hpp"
#include "catalogue.hpp"
#include "ref_icrc.hpp"
#include "wire.hpp"

namespace {

using vectors = std::vector<golden::vector>;

const char *const usage =
    "usage: uboe-vectors check DIR            compare DIR's files with a fresh generation\n"
    "       uboe-vectors write DIR            write golden.txt and bad/malformed.txt\n"
    "       uboe-vectors list SET             names of the vectors, each with ok or its drop "
    "reason\n"
    "       uboe-vectors fields               names of all decoded fields\n"
    "       uboe-vectors pcap SET FILE [LINK] capture of SET; LINK is eth, vlan, qinq,\n"
    "                                         raw or native; a FILE ending in .pcapng gets\n"
    "                                         that format\n"
    "       uboe-vectors judge SET            read tshark's tab separated fields (with a header\n"
    "                                         line), say ok or not ok for each packet\n"
    "SET is good, bad, flips:NAME (vector NAME with one bit of each byte in turn inverted), or\n"
    "noise:SEED (2000 good vectors, spoilt at random behind the UDP header, with a right ICRC).\n";

// --- the files ---------------------------------------------------------------------------------

const char *const file_head =
    "# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause\n"
    "#\n"
    "# Made by uboe-vectors (tests/vectors/gen.cpp): do not edit. The format is described in\n"
    "# golden.hpp, the headers in docs/wire.md.\n";

void print_vector(std::ostream &out, const golden::vector &v) {
    out << "\nvector " << v.name << "\ntitle " << v.title << "\nsource " << v.source << '\n';
    if (!v.needs.empty())
        out << "needs " << v.needs << '\n';
    if (!v.drop.empty())
        out << "drop " << v.drop << "\nlayer " << v.layer << '\n';
    size_t column = 0;
    for (const auto &[name, value] : v.fields) {
        const std::string word = name + '=' + value;
        if (column && column + word.size() > 92) {
            out << '\n';
            column = 0;
        }
        out << (column ? " " : "fields ") << word;
        column += word.size() + (column ? 1 : 7);
    }
    if (column)
        out << '\n';
    for (size_t at = 0; at < v.packet.size(); at += 32)
        out << "hex " << wire::hex(&v.packet[at], std::min<size_t>(32, v.packet.size() - at))
            << '\n';
    out << "end\n";
}

std::string file_text(const char *about, const vectors &all) {
    std::ostringstream out;
    out << file_head << "# " << about << '\n';
    for (const auto &v : all)
        print_vector(out, v);
    return out.str();
}

std::map<std::string, std::string> files() {
    return {{"golden.txt", file_text("Packets that every receiver must decode.", good_vectors())},
            {"bad/malformed.txt",
             file_text("Packets that every receiver must drop, with the reason.", bad_vectors())}};
}

int write_files(const std::string &dir) {
    for (const auto &[name, text] : files()) {
        std::ofstream out(dir + '/' + name, std::ios::binary);
        out << text;
        if (!out.flush()) {
            std::cerr << "cannot write " << dir << '/' << name << '\n';
            return 1;
        }
    }
    return 0;
}

/// True when reading @text back gives the vectors that went in.
bool survives_reading(const std::string &text, const vectors &expected) {
    std::istringstream in(text);
    std::string error;
    const auto read = golden::parse(in, &error);
    if (!read || read->size() != expected.size()) {
        std::cerr << "golden.hpp does not read it back: " << error << '\n';
        return false;
    }
    for (size_t i = 0; i < expected.size(); ++i) {
        const auto &a = (*read)[i], &b = expected[i];
        if (a.name != b.name || a.packet != b.packet || a.fields != b.fields || a.drop != b.drop ||
            a.needs != b.needs) {
            std::cerr << b.name << ": golden.hpp reads something else\n";
            return false;
        }
    }
    return true;
}

int check_files(const std::string &dir) {
    int bad = 0;
    const auto fresh = files();
    for (const auto &[name, text] : fresh) {
        std::ifstream in(dir + '/' + name, std::ios::binary);
        const std::string stored((std::istreambuf_iterator<char>(in)), {});
        const bool same = stored == text;
        std::cout << (same ? "ok - " : "not ok - ") << name << " is what the generator makes\n";
        bad += !same;
    }
    const bool good = survives_reading(fresh.at("golden.txt"), good_vectors()) &&
                      survives_reading(fresh.at("bad/malformed.txt"), bad_vectors());
    std::cout << (good ? "ok - " : "not ok - ") << "golden.hpp reads both files back\n";

    ref::icrc_register published;
    for (const char c : std::string("123456789"))
        published.feed(static_cast<uint8_t>(c));
    const bool crc = published.value() == 0xCBF43926;
    std::cout << (crc ? "ok - " : "not ok - ")
              << "the reference CRC has the published check value\n";
    return bad || !good || !crc;
}

// --- sets --------------------------------------------------------------------------------------

/// One packet of a set, and what a decoder must say about its ICRC ("" when it may say nothing).
struct probe {
    golden::vector vector;
    std::string flip; // what was flipped
    bool masked = false, in_udp_payload = false;
};

std::vector<probe> flips_of(const golden::vector &v) {
    std::vector<probe> out;
    const size_t headers = ref::ip_header_size(v.packet) + 8;
    for (size_t i = 0; i < v.packet.size(); ++i) {
        const uint8_t bit = static_cast<uint8_t>(1u << i % 8);
        probe p{v, "byte " + std::to_string(i), (ref::icrc_mask(v.ipv6(), i) & bit) != 0,
                i >= headers};
        p.vector.packet[i] ^= bit;
        p.vector.name +=
            " with bit " + std::to_string(i % 8) + " of byte " + std::to_string(i) + " inverted";
        out.push_back(std::move(p));
    }
    return out;
}

/// Packets that pass the ICRC check and say anything. Two decoders must agree on them.
std::vector<probe> noise(unsigned long seed) {
    std::mt19937 random(static_cast<uint32_t>(seed)); // the same numbers everywhere
    const auto below = [&](size_t n) { return random() % n; };
    const auto good = good_vectors();
    std::vector<probe> out;
    for (int i = 0; i < 2000; ++i) {
        golden::vector v = good[below(good.size())];
        auto &p = v.packet;
        const size_t body = ref::ip_header_size(p) + 8;
        if (below(4) == 0) // cut or grow, mostly by whole words
            p.resize(std::max(body + 4, p.size() + 40 - below(20) * 4 - (below(8) ? 0 : below(4))));
        for (size_t n = 1 + below(3); n > 0; --n)
            p[body + below(std::min<size_t>(p.size() - body, 64))] = static_cast<uint8_t>(random());
        p[body + 1] &= below(4) ? 0x3F : 0xFF; // or TPVer ends most of them
        p[body - 2] = p[body - 1] = 0;         // no UDP checksum
        wire::fix_lengths(p);
        wire::seal(p);
        v.name += " with noise " + std::to_string(i);
        out.push_back({std::move(v), "noise", false, false});
    }
    return out;
}

std::optional<std::vector<probe>> set_of(const std::string &name) {
    std::vector<probe> out;
    if (name == "good" || name == "bad") {
        for (auto &v : name == "good" ? good_vectors() : bad_vectors())
            out.push_back({std::move(v), "", false, false});
        return out;
    }
    if (name.rfind("noise:", 0) == 0)
        return noise(std::strtoul(name.c_str() + 6, nullptr, 10));
    if (name.rfind("flips:", 0) == 0)
        for (const auto &v : good_vectors())
            if (v.name == name.substr(6))
                return flips_of(v);
    std::cerr << "no set " << name << '\n';
    return std::nullopt;
}

int write_capture(const std::string &set, const std::string &file, const std::string &link) {
    const auto probes = set_of(set);
    const auto kind = capture::link_by_name(link);
    if (!probes || !kind) {
        std::cerr << usage;
        return 2;
    }
    capture::writer out(file, *kind);
    for (const auto &p : *probes)
        out.add(p.vector.packet);
    if (!out.close()) {
        std::cerr << "cannot write " << file << '\n';
        return 1;
    }
    return 0;
}

int list_fields() {
    std::set<std::string> seen{"uboe.drop", "uboe.internal_error"};
    for (const auto &v : good_vectors())
        for (const auto &f : v.fields)
            seen.insert(f.first);
    for (const auto &name : seen)
        std::cout << name << '\n';
    return 0;
}

// --- the judge ---------------------------------------------------------------------------------

std::vector<std::string> split(const std::string &line) {
    std::vector<std::string> out(1);
    for (char c : line)
        if (c == '\t')
            out.emplace_back();
        else
            out.back().push_back(c);
    return out;
}

std::optional<unsigned long long> number(const std::string &s) {
    if (s.empty() || (s.size() > 1 && s[0] == '0' && s[1] != 'x') ||
        s.find_first_not_of("0123456789abcdefx") != std::string::npos)
        return std::nullopt;
    const bool hex = s.size() > 2 && s[1] == 'x';
    if (!hex && s.find_first_not_of("0123456789") != std::string::npos)
        return std::nullopt;
    errno = 0;
    const auto value = std::strtoull(s.c_str(), nullptr, hex ? 16 : 10);
    return errno ? std::nullopt : std::optional(value);
}

bool same_value(const std::string &a, const std::string &b) {
    if (a == b)
        return true;
    const auto x = number(a), y = number(b);
    return x && y && *x == *y;
}

using row = std::map<std::string, std::string>;

/// What is wrong with the decoder's @got; empty when nothing is.
std::vector<std::string> complaints(const probe &p, const row &got) {
    std::vector<std::string> out;
    const auto value = [&](const char *name) {
        const auto it = got.find(name);
        return it == got.end() ? std::string() : it->second;
    };
    const auto expect = [&](const char *name, const std::string &want) {
        if (!same_value(want, value(name)))
            out.push_back(std::string(name) + ": expected '" + want + "', got '" + value(name) +
                          "'");
    };
    expect("uboe.internal_error", "");

    if (p.flip == "noise")
        return out;
    if (!p.flip.empty()) {
        if (p.masked)
            expect("uboe.icrc.status", "Good");
        else if (p.in_udp_payload)
            expect("uboe.icrc.status", "Bad");
        else if (value("uboe.icrc.status") == "Good")
            out.push_back("uboe.icrc.status is Good");
        return out;
    }
    if (!p.vector.drop.empty()) {
        // what a native packet must not have either is named there first
        const std::string native = "native_ip;";
        std::string drop = value("uboe.drop");
        if (drop.rfind(native, 0) == 0)
            drop.erase(0, native.size());
        if (drop + ';' == native && p.vector.drop.rfind("ip_", 0) == 0)
            drop = p.vector.drop;
        const bool empty = p.vector.packet.size() <= ref::ip_header_size(p.vector.packet) + 8;
        if (p.vector.layer == "uboe" && !empty && // nothing dissects a datagram without data
            drop != p.vector.drop)
            out.push_back("uboe.drop: expected '" + p.vector.drop + "', got '" + drop + "'");
        return out;
    }
    expect("uboe.drop", "");
    std::set<std::string> known{"uboe.payload"}; // the files leave long ones out
    for (const auto &[name, want] : p.vector.fields) {
        known.insert(name);
        expect(name.c_str(), want);
    }
    for (const auto &[name, text] : got)
        if (!text.empty() && !known.count(name))
            out.push_back(name + ": not expected, got '" + text + "'");
    return out;
}

int judge(const std::string &set) {
    const auto probes = set_of(set);
    if (!probes)
        return 2;
    std::string line;
    std::getline(std::cin, line);
    const auto names = split(line);
    int bad = 0;
    for (const auto &p : *probes) {
        std::vector<std::string> wrong;
        if (!std::getline(std::cin, line)) {
            wrong.push_back("no line for this packet");
        } else {
            const auto values = split(line);
            row got;
            for (size_t i = 0; i < names.size() && i < values.size(); ++i)
                got[names[i]] = values[i];
            wrong = complaints(p, got);
        }
        for (const auto &w : wrong)
            std::cout << "# " << w << '\n';
        std::cout << (wrong.empty() ? "ok - " : "not ok - ") << p.vector.name << '\n';
        bad += !wrong.empty();
    }
    if (std::getline(std::cin, line)) {
        std::cout << "not ok - no packets beyond the set\n";
        ++bad;
    }
    return bad != 0;
}

} // namespace

int main(int argc, char **argv) {
    const std::vector<std::string> args(argv + 1, argv + argc);
    const auto is = [&](const char *verb, size_t least, size_t most) {
        return !args.empty() && args[0] == verb && args.size() - 1 >= least &&
               args.size() - 1 <= most;
    };
    if (is("check", 1, 1))
        return check_files(args[1]);
    if (is("write", 1, 1))
        return write_files(args[1]);
    if (is("fields", 0, 0))
        return list_fields();
    if (is("pcap", 2, 3))
        return write_capture(args[1], args[2], args.size() > 3 ? args[3] : "eth");
    if (is("judge", 1, 1))
        return judge(args[1]);
    if (is("list", 1, 1)) {
        const auto probes = set_of(args[1]);
        for (const auto &p : probes.value_or(std::vector<probe>{}))
            std::cout << p.vector.name << ' ' << (p.vector.drop.empty() ? "ok" : p.vector.drop)
                      << '\n';
        return probes ? 0 : 2;
    }
    std::cerr << usage;
    return 2;
}
