// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Jetties and segments as bytes and as text, for the way to the peer, which URMA
 * leaves to programs. The structures of the C API are no exchange format: their
 * layout depends on compiler and version.
 *
 * Binary form, version 1, 48 bytes, numbers in network byte order:
 *
 *     0   version, 1
 *     1   kind: 1 jetty, 2 segment
 *     2   length of the whole, 16 bits: 48
 *     4   flags: bit 0: the token is valid
 *     5   0, three bytes
 *     8   EID, 16 bytes
 *     24  number of the jetty or segment, 32 bits
 *     28  token, 32 bits, or 0
 *     32  segment: address, 64 bits; jetty: 0
 *     40  segment: length, 64 bits; jetty: 0
 *
 * Text form:
 *
 *     uboe://[127.0.0.1]/jetty/0x403?token=feedf00d
 *     uboe://[fe80::1]/segment/0x12?va=0x7f0000001000&len=4096&token=feedf00d
 *
 * Numbers with 0x are hexadecimal, others decimal; a token is hexadecimal, with or
 * without 0x. Parameters come in any order. Both forms contain the secret token:
 * send them where you would send a password.
 */
#pragma once

#include <charconv>
#include <cstdio>

#include "types.hpp"

namespace uboe::urma
{
inline namespace v0
{

namespace detail
{

enum class Kind : std::uint8_t { jetty = 1, segment = 2 };

/// What both kinds of descriptors consist of.
struct Descriptor {
	Kind kind{};
	Eid eid;
	std::uint32_t id = 0;
	std::optional<Token> token;
	std::uint64_t va = 0;
	std::uint64_t length = 0;
};

constexpr std::size_t descriptor_size = 48;
constexpr std::uint8_t descriptor_version = 1;
constexpr std::uint8_t descriptor_has_token = 1;

using DescriptorBytes = std::array<std::byte, descriptor_size>;

inline void store_be(std::byte *to, std::uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; ++i)
		to[i] = static_cast<std::byte>(value >> 8 * (bytes - 1 - i));
}

inline std::uint64_t load_be(const std::byte *from, unsigned bytes)
{
	std::uint64_t v = 0;

	for (unsigned i = 0; i < bytes; ++i)
		v = v << 8 | static_cast<std::uint8_t>(from[i]);
	return v;
}

/// Numbers that no device can mean.
inline bool is_plausible(const Descriptor &d)
{
	if (d.id == 0 || d.id > max_id)
		return false;
	return d.kind == Kind::jetty || (d.length && d.va + d.length > d.va);
}

inline DescriptorBytes to_bytes(const Descriptor &d)
{
	DescriptorBytes b{};

	b[0] = std::byte{ descriptor_version };
	b[1] = static_cast<std::byte>(d.kind);
	store_be(&b[2], descriptor_size, 2);
	b[4] = std::byte{ d.token ? descriptor_has_token : std::uint8_t{ 0 } };
	std::memcpy(&b[8], d.eid.bytes.data(), d.eid.bytes.size());
	store_be(&b[24], d.id, 4);
	store_be(&b[28], static_cast<std::uint32_t>(d.token.value_or(Token{})), 4);
	store_be(&b[32], d.va, 8);
	store_be(&b[40], d.length, 8);
	return b;
}

inline std::error_code from_bytes(std::span<const std::byte> b, Kind wanted, Descriptor &d)
{
	if (b.empty())
		return errc::descriptor_length;
	if (b[0] != std::byte{ descriptor_version })
		return errc::descriptor_version;
	if (b.size() != descriptor_size || load_be(&b[2], 2) != descriptor_size)
		return errc::descriptor_length;
	if (b[1] != static_cast<std::byte>(wanted))
		return errc::descriptor_kind;
	const auto flags = static_cast<std::uint8_t>(b[4]);
	const auto token = static_cast<std::uint32_t>(load_be(&b[28], 4));

	d.kind = wanted;
	std::memcpy(d.eid.bytes.data(), &b[8], d.eid.bytes.size());
	d.id = static_cast<std::uint32_t>(load_be(&b[24], 4));
	d.va = load_be(&b[32], 8);
	d.length = load_be(&b[40], 8);
	if (flags & descriptor_has_token)
		d.token = Token{ token };
	if (flags & ~descriptor_has_token || load_be(&b[5], 3) || (!d.token && token) ||
	    (wanted == Kind::jetty && (d.va || d.length)))
		return errc::descriptor_reserved;
	return is_plausible(d) ? std::error_code() : errc::descriptor_number;
}

inline std::string to_text(const Descriptor &d)
{
	char room[160];
	std::string s = "uboe://[" + d.eid.text() + "]/";

	if (d.kind == Kind::jetty)
		std::snprintf(room, sizeof(room), "jetty/0x%x", d.id);
	else
		std::snprintf(room, sizeof(room), "segment/0x%x?va=0x%llx&len=%llu", d.id,
			      static_cast<unsigned long long>(d.va),
			      static_cast<unsigned long long>(d.length));
	s += room;
	if (d.token) {
		std::snprintf(room, sizeof(room), "%ctoken=%08x", d.kind == Kind::jetty ? '?' : '&',
			      static_cast<std::uint32_t>(*d.token));
		s += room;
	}
	return s;
}

/// Takes a text descriptor apart, from left to right.
class TextParser
{
      public:
	explicit TextParser(std::string_view text) : rest_(text)
	{
	}

	std::error_code parse(Kind wanted, Descriptor &d)
	{
		d.kind = wanted;
		if (!skip("uboe://["))
			return fail(rest_, errc::descriptor_scheme);
		if (auto e = eid(d))
			return e;
		if (!skip(wanted == Kind::jetty ? "/jetty/" : "/segment/"))
			return fail(rest_, errc::descriptor_kind);
		const std::string_view id = until('?');
		const auto n = number(id, 10);

		if (!n || !*n || *n > max_id)
			return fail(id, errc::descriptor_number);
		d.id = static_cast<std::uint32_t>(*n);
		if (skip("?"))
			if (auto e = parameters(d))
				return e;
		if (wanted == Kind::segment && (!has_va_ || !has_length_))
			return fail(rest_, errc::descriptor_missing);
		if (!is_plausible(d))
			return fail("va, len", errc::descriptor_number);
		return {};
	}

	/// After an error: what it is about.
	std::string_view culprit() const
	{
		return culprit_;
	}

      private:
	std::error_code fail(std::string_view where, errc why)
	{
		culprit_ = where;
		return why;
	}

	bool skip(std::string_view word)
	{
		if (!rest_.starts_with(word))
			return false;
		rest_.remove_prefix(word.size());
		return true;
	}

	/// What comes before @p c, or all that is left; @p c stays.
	std::string_view until(char c)
	{
		const std::string_view s = rest_.substr(0, rest_.find(c));

		rest_.remove_prefix(s.size());
		return s;
	}

	std::error_code eid(Descriptor &d)
	{
		const std::string_view s = until(']');
		const auto parsed = Eid::parse(s);

		if (!parsed || !skip("]"))
			return fail(s, errc::descriptor_eid);
		d.eid = *parsed;
		return {};
	}

	std::error_code parameters(Descriptor &d)
	{
		do {
			const std::string_view s = until('&');

			if (auto e = parameter(s, d))
				return e;
		} while (skip("&"));
		return {};
	}

	std::error_code parameter(std::string_view s, Descriptor &d)
	{
		const std::size_t eq = s.find('=');
		const std::string_view key = s.substr(0, eq);
		const bool of_segment = d.kind == Kind::segment;
		const bool is_va = of_segment && key == "va" && !has_va_;
		const bool is_length = of_segment && key == "len" && !has_length_;
		const bool is_token = key == "token" && !d.token;

		if (eq == s.npos || !(is_va || is_length || is_token))
			return fail(s, errc::descriptor_parameter);
		const auto n = number(s.substr(eq + 1), is_token ? 16 : 10);

		if (!n || (is_token && *n > UINT32_MAX))
			return fail(s, errc::descriptor_number);
		if (is_token) {
			d.token = Token{ static_cast<std::uint32_t>(*n) };
		} else if (is_va) {
			d.va = *n;
			has_va_ = true;
		} else {
			d.length = *n;
			has_length_ = true;
		}
		return {};
	}

	/// All of @p s, in base 16 after 0x.
	static std::optional<std::uint64_t> number(std::string_view s, int base)
	{
		std::uint64_t n = 0;

		if (s.starts_with("0x")) {
			s.remove_prefix(2);
			base = 16;
		}
		const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n, base);

		if (error != std::errc() || end != s.data() + s.size())
			return std::nullopt;
		return n;
	}

	std::string_view rest_;
	std::string_view culprit_;
	bool has_va_ = false;
	bool has_length_ = false;
};

inline Descriptor describe(const RemoteJetty &j)
{
	return { Kind::jetty, j.eid, static_cast<std::uint32_t>(j.id), j.token, 0, 0 };
}

inline Descriptor describe(const RemoteSegment &s)
{
	return { Kind::segment, s.eid, static_cast<std::uint32_t>(s.id), s.token, s.va, s.length };
}

template <class T> struct KindOf;
template <> struct KindOf<RemoteJetty> {
	static constexpr Kind value = Kind::jetty;
	static RemoteJetty make(const Descriptor &d)
	{
		return { d.eid, JettyId{ d.id }, d.token };
	}
};
template <> struct KindOf<RemoteSegment> {
	static constexpr Kind value = Kind::segment;
	static RemoteSegment make(const Descriptor &d)
	{
		return { d.eid, d.va, d.length, TokenId{ d.id }, d.token };
	}
};

template <class T>
std::optional<T> parse_as(std::string_view text, std::error_code &error,
			  std::string *culprit = nullptr)
{
	TextParser parser(text);
	Descriptor d;

	error = parser.parse(KindOf<T>::value, d);
	if (error && culprit)
		*culprit = parser.culprit();
	return error ? std::nullopt : std::optional(KindOf<T>::make(d));
}

template <class T>
std::optional<T> parse_as(std::span<const std::byte> bytes, std::error_code &error)
{
	Descriptor d;

	error = from_bytes(bytes, KindOf<T>::value, d);
	return error ? std::nullopt : std::optional(KindOf<T>::make(d));
}

template <class T> T parse_or_throw(std::string_view text)
{
	std::error_code error;
	std::string culprit;

	if (auto t = parse_as<T>(text, error, &culprit))
		return *t;
	throw Error(error, "at '" + culprit + "' of '" + std::string(text) + "'");
}

template <class T> T parse_or_throw(std::span<const std::byte> bytes)
{
	std::error_code error;

	if (auto t = parse_as<T>(bytes, error))
		return *t;
	throw Error(error, std::to_string(bytes.size()) + " bytes");
}

} // namespace detail

inline std::string RemoteJetty::text() const
{
	return detail::to_text(detail::describe(*this));
}
inline auto RemoteJetty::serialize() const -> std::array<std::byte, serialized_size>
{
	return detail::to_bytes(detail::describe(*this));
}
inline RemoteJetty RemoteJetty::parse(std::string_view text)
{
	return detail::parse_or_throw<RemoteJetty>(text);
}
inline RemoteJetty RemoteJetty::parse(std::span<const std::byte> bytes)
{
	return detail::parse_or_throw<RemoteJetty>(bytes);
}
inline std::optional<RemoteJetty> RemoteJetty::parse(std::string_view text, std::error_code &error)
{
	return detail::parse_as<RemoteJetty>(text, error);
}
inline std::optional<RemoteJetty> RemoteJetty::parse(std::span<const std::byte> bytes,
						     std::error_code &error)
{
	return detail::parse_as<RemoteJetty>(bytes, error);
}

inline std::string RemoteSegment::text() const
{
	return detail::to_text(detail::describe(*this));
}
inline auto RemoteSegment::serialize() const -> std::array<std::byte, serialized_size>
{
	return detail::to_bytes(detail::describe(*this));
}
inline RemoteSegment RemoteSegment::parse(std::string_view text)
{
	return detail::parse_or_throw<RemoteSegment>(text);
}
inline RemoteSegment RemoteSegment::parse(std::span<const std::byte> bytes)
{
	return detail::parse_or_throw<RemoteSegment>(bytes);
}
inline std::optional<RemoteSegment> RemoteSegment::parse(std::string_view text,
							 std::error_code &error)
{
	return detail::parse_as<RemoteSegment>(text, error);
}
inline std::optional<RemoteSegment> RemoteSegment::parse(std::span<const std::byte> bytes,
							 std::error_code &error)
{
	return detail::parse_as<RemoteSegment>(bytes, error);
}

} // namespace v0
} // namespace uboe::urma
