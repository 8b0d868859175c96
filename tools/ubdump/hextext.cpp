// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "hextext.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "error.hpp"

namespace ubdump
{

namespace
{

constexpr std::size_t longest = 256 * 1024; // bytes of a packet

bool is_hex(char c)
{
	return std::isxdigit(static_cast<unsigned char>(c));
}

bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool blank(std::string_view s)
{
	return std::all_of(s.begin(), s.end(), is_space);
}

/// What tcpdump writes in front of each packet: a time of day.
bool is_heading(std::string_view s)
{
	return s.size() > 8 && std::isdigit(static_cast<unsigned char>(s[0])) && s[2] == ':' &&
	       s[5] == ':' && s[8] == '.';
}

struct Offset {
	std::size_t value;
	std::size_t end; ///< of its text
	bool colon; ///< what follows ends with two spaces, else with a bar
};

/// "0x0010:", "00000010:", or "00000010" before bytes of two digits each or nothing.
std::optional<Offset> offset_of(std::string_view s)
{
	std::size_t at = 0;

	while (at < s.size() && is_space(s[at]))
		++at;
	if (s.substr(at, 2) == "0x")
		at += 2;
	const std::size_t from = at;
	std::size_t value = 0;

	while (at < s.size() && is_hex(s[at]))
		++at;
	const std::size_t n = at - from;

	if (n < 4 || n > 8)
		return std::nullopt;
	std::from_chars(&s[from], &s[from] + n, value, 16);
	if (at < s.size() && s[at] == ':') {
		// "4500:0054" is no offset
		const bool end = at + 1 == s.size() || is_space(s[at + 1]);

		return end ? std::optional(Offset{ value, at + 1, true }) : std::nullopt;
	}
	const std::string_view rest = s.substr(at);
	const std::size_t byte = std::min(rest.find_first_not_of(" \t\r"), rest.size());
	const bool two = rest.size() >= byte + 2 && is_hex(rest[byte]) && is_hex(rest[byte + 1]) &&
			 (rest.size() == byte + 2 || is_space(rest[byte + 2]));

	// od writes 6 or 7 digits, hexdump 8
	if (n < 6 || !two)
		return std::nullopt;
	return Offset{ value, at, false };
}

} // namespace

void HexReader::fail(const std::string &what) const
{
	throw uboe::Failure(name_ + ": line " + std::to_string(number_) + ": " + what);
}

bool HexReader::line(std::string &text)
{
	if (kept_) {
		text = std::move(*kept_);
		kept_.reset();
		return true;
	}
	++number_;
	return static_cast<bool>(std::getline(in_, text));
}

void HexReader::digits(std::string_view text, std::size_t column, std::vector<std::uint8_t> &packet)
{
	for (std::size_t i = 0; i < text.size();) {
		if (is_space(text[i]) || text[i] == ':') {
			++i;
			continue;
		}
		std::uint8_t byte = 0;

		if (!is_hex(text[i]))
			fail("column " + std::to_string(column + i + 1) + ": '" + text[i] +
			     "' is not hexadecimal");
		if (i + 1 == text.size() || !is_hex(text[i + 1]))
			fail("column " + std::to_string(column + i + 1) +
			     ": half a byte: two digits each are needed");
		std::from_chars(&text[i], &text[i] + 2, byte, 16);
		packet.push_back(byte);
		i += 2;
	}
	if (packet.size() > longest)
		fail("a packet of more than " + std::to_string(longest) + " bytes");
}

bool HexReader::take(const std::string &text, std::vector<std::uint8_t> &packet)
{
	const auto offset = offset_of(text);
	std::string_view s = text;

	if (!offset) {
		// hexdump ends with the size alone
		std::size_t size = 0;
		const std::size_t n = s.find_last_not_of(" \t\r") + 1;
		const auto r = std::from_chars(s.data(), s.data() + n, size, 16);

		if (n >= 6 && n <= 8 && r.ptr == s.data() + n && size == packet.size() && size)
			return true;
		digits(s, 0, packet);
		return true;
	}
	if (!offset->value && !packet.empty())
		return false;
	if (offset->value != packet.size())
		fail("offset " + std::to_string(offset->value) + " behind " +
		     std::to_string(packet.size()) + " bytes");
	std::size_t from = s.find_first_not_of(" \t", offset->end);

	from = std::min(from, s.size());
	s = s.substr(0, offset->colon ? s.find("  ", from) : s.find('|', from));
	digits(s.substr(std::min(from, s.size())), from, packet);
	return true;
}

std::optional<std::vector<std::uint8_t>> HexReader::next()
{
	std::vector<std::uint8_t> packet;
	std::string text;

	while (line(text)) {
		if (blank(text) || is_heading(text)) {
			if (!packet.empty())
				return packet;
			continue;
		}
		if (text[0] == '#')
			continue;
		if (!take(text, packet)) {
			kept_ = std::move(text);
			return packet;
		}
	}
	if (in_.bad())
		fail("cannot be read");
	return packet.empty() ? std::nullopt : std::optional(std::move(packet));
}

} // namespace ubdump
