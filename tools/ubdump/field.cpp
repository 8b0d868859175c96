// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "field.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

#include <arpa/inet.h>

namespace ubdump
{

namespace
{

std::string numbered(const char *format, unsigned long long value)
{
	char room[32];

	std::snprintf(room, sizeof(room), format, value);
	return room;
}

char folded(char c)
{
	if (c == '-')
		return '_';
	return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

} // namespace

bool is_number(Kind kind)
{
	return kind == Kind::decimal || kind == Kind::hex || kind == Kind::named;
}

std::uint64_t number_of(Bytes bytes)
{
	std::uint64_t n = 0;

	for (std::uint8_t b : bytes)
		n = n << 8 | b;
	return n;
}

Field field_of(const Spec &spec, Bytes header)
{
	const Bytes raw = header.subspan(spec.offset, spec.size);
	Field f{ &spec };

	if (!is_number(spec.kind)) {
		f.raw = raw;
		return f;
	}
	f.number = number_of(raw);
	if (spec.mask)
		f.number = (f.number & spec.mask) >> std::countr_zero(spec.mask);
	return f;
}

const char *name_of(Names names, std::uint64_t value)
{
	for (const Name &n : names)
		if (n.value == value)
			return n.text;
	return nullptr;
}

std::string hex_text(Bytes bytes)
{
	static const char digits[] = "0123456789abcdef";
	std::string s;

	s.reserve(bytes.size() * 2);
	for (std::uint8_t b : bytes) {
		s += digits[b >> 4];
		s += digits[b & 15];
	}
	return s;
}

std::string address_text(Bytes address)
{
	char room[INET6_ADDRSTRLEN] = "";

	inet_ntop(address.size() == 4 ? AF_INET : AF_INET6, address.data(), room, sizeof(room));
	return room;
}

std::string text_of(const Field &f)
{
	std::string s;

	switch (f.spec->kind) {
	case Kind::decimal:
		return std::to_string(f.number);
	case Kind::hex:
		return numbered("0x%llx", f.number);
	case Kind::named: {
		const char *name = name_of(f.spec->names, f.number);

		return std::to_string(f.number) + " (" + (name ? name : "reserved") + ")";
	}
	case Kind::address:
		return address_text(f.raw);
	case Kind::mac:
		for (std::uint8_t b : f.raw)
			s += (s.empty() ? "" : ":") + hex_text({ &b, 1 });
		return s;
	case Kind::bytes:
		return hex_text(f.raw);
	case Kind::text:
		return f.text;
	case Kind::truth:
		return f.number ? "yes" : "no";
	}
	return s;
}

bool same_word(std::string_view a, std::string_view b)
{
	return std::equal(a.begin(), a.end(), b.begin(), b.end(),
			  [](char x, char y) { return folded(x) == folded(y); });
}

} // namespace ubdump
