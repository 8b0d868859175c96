// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What a packet is decoded into: layers of fields. A field's name is the same in filters,
// in JSON and, behind "uboe.", in Wireshark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ubdump
{

using Bytes = std::span<const std::uint8_t>;

enum class Kind : std::uint8_t {
	decimal,
	hex,
	named, ///< a number whose values have names
	address, ///< 4 or 16 bytes
	mac,
	bytes,
	text,
	truth,
};

struct Name {
	std::uint64_t value;
	const char *text;
};
using Names = std::span<const Name>;

/// A field as docs/wire.md has it: where it is in its header, and how it is shown.
struct Spec {
	const char *name;
	const char *title;
	Kind kind = Kind::decimal;
	std::uint16_t offset = 0; ///< in its header
	std::uint8_t size = 0; ///< bytes; 0: follows from others, or is as long as it is
	std::uint64_t mask = 0; ///< of the big-endian number in these bytes; 0: all of it
	Names names = {};
};

struct Field {
	const Spec *spec;
	std::uint64_t number = 0; ///< of numbers and truths
	Bytes raw = {}; ///< of addresses and bytes: a part of the packet
	std::string text = {};
};

/// A header: what it is called, its size, its fields.
struct Header {
	const char *title;
	std::size_t size;
	std::span<const Spec> fields;
};

struct Layer {
	const Header *header;
	std::size_t at; ///< in the frame
	std::size_t size;
	std::vector<Field> fields;
};

bool is_number(Kind kind);

/// Big-endian number in at most 8 bytes.
std::uint64_t number_of(Bytes bytes);
/// The field of @p spec in a header that begins where @p header does.
Field field_of(const Spec &spec, Bytes header);

/// The name of a value, or none.
const char *name_of(Names names, std::uint64_t value);

std::string hex_text(Bytes bytes);
std::string address_text(Bytes address);
/// The value as people read it.
std::string text_of(const Field &field);

/// Same letters, whatever their case, with _ and - alike.
bool same_word(std::string_view a, std::string_view b);

} // namespace ubdump
