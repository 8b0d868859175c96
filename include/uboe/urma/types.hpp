// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Values of uboe/urma.hpp: names, secrets, and places in memory here and elsewhere.
 */
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include <arpa/inet.h>

#include "error.hpp"

namespace uboe::urma
{
inline namespace v0
{

/// Number of a jetty in its device, 20 bits.
enum class JettyId : std::uint32_t {};

/// Number of a segment in its device, 20 bits, as on the wire. The C API shifts it
/// by 8 (URMA API, struct urma_token_id); that shift is made in this library.
enum class TokenId : std::uint32_t {};

/// Secret that a peer has to name: of a jetty for Sends, of a segment for access.
enum class Token : std::uint32_t {};

/// A token that nobody guesses by chance. 32 bits do not stand up to somebody who
/// can try many times.
inline Token random_token()
{
	return Token{ std::random_device()() };
}

/// Address of a device: an IPv6 address, or an IPv4 address as ::ffff:a.b.c.d.
struct Eid {
	std::array<std::uint8_t, URMA_EID_SIZE> bytes{}; ///< network byte order

	/// Nothing unless @p text is an IPv4 or IPv6 address.
	static std::optional<Eid> parse(std::string_view text)
	{
		const std::string copy(text); // inet_pton() wants the 0 at the end
		Eid e;

		if (copy.size() != text.size() || copy.find('\0') != copy.npos)
			return std::nullopt;
		if (inet_pton(AF_INET6, copy.c_str(), e.bytes.data()) == 1)
			return e;
		if (inet_pton(AF_INET, copy.c_str(), e.bytes.data() + 12) != 1)
			return std::nullopt;
		e.bytes[10] = e.bytes[11] = 0xff;
		return e;
	}

	/// As parse(); throws Error.
	static Eid of(std::string_view text)
	{
		if (const auto e = parse(text))
			return *e;
		throw Error(errc::invalid,
			    "'" + std::string(text) + "' is no IPv4 or IPv6 address");
	}

	/// The shortest form that parse() understands.
	std::string text() const
	{
		char room[INET6_ADDRSTRLEN];
		const bool v4 = is_v4();

		inet_ntop(v4 ? AF_INET : AF_INET6, bytes.data() + (v4 ? 12 : 0), room,
			  sizeof(room));
		return room;
	}

	bool is_v4() const
	{
		for (unsigned i = 0; i < 10; ++i)
			if (bytes[i])
				return false;
		return bytes[10] == 0xff && bytes[11] == 0xff;
	}

	static Eid from(const urma_eid_t &raw)
	{
		Eid e;

		std::memcpy(e.bytes.data(), raw.raw, sizeof(raw.raw));
		return e;
	}
	urma_eid_t native() const
	{
		urma_eid_t raw;

		std::memcpy(raw.raw, bytes.data(), sizeof(raw.raw));
		return raw;
	}

	friend auto operator<=>(const Eid &, const Eid &) = default;
};

/// A piece of local memory that requests name. From LocalSegment::slice(), or, for
/// requests with inline_data only, any memory.
class LocalSlice
{
      public:
	/// Memory that need not be registered. The request has to be inline.
	explicit LocalSlice(std::span<const std::byte> bytes)
		: LocalSlice(nullptr, reinterpret_cast<std::uint64_t>(bytes.data()), bytes.size())
	{
	}
	/// Characters, to be sent inline.
	explicit LocalSlice(std::string_view text) : LocalSlice(std::as_bytes(std::span(text)))
	{
	}
	/// For wrappers: @p seg is registered, and contains the piece.
	LocalSlice(urma_target_seg_t *seg, std::uint64_t address, std::size_t length)
		: seg_(seg), address_(address), length_(static_cast<std::uint32_t>(length))
	{
		if (length > UINT32_MAX)
			throw std::out_of_range("a slice has less than 4 GiB");
	}

	std::uint64_t address() const
	{
		return address_;
	}
	std::uint32_t length() const
	{
		return length_;
	}
	urma_sge_t native() const
	{
		return { address_, length_, seg_, nullptr };
	}

      private:
	urma_target_seg_t *seg_;
	std::uint64_t address_;
	std::uint32_t length_;
};

/// A place in a remote segment that requests name; from RemoteSegment::at().
struct RemoteSlice {
	std::uint64_t address = 0; ///< in the owner's process
	std::uint64_t length = 0; ///< bytes that a request may touch
	TokenId id{};
	std::optional<Token> token;
};

/**
 * Memory of a peer, as a value: nothing has to be imported. It comes from
 * LocalSegment::remote() at its owner, as bytes or text.
 */
struct RemoteSegment {
	Eid eid; ///< owner
	std::uint64_t va = 0; ///< where it begins, in the owner's process
	std::uint64_t length = 0; ///< bytes
	TokenId id{};
	std::optional<Token> token; ///< nothing: the segment asks for none

	/// Bytes of the binary form.
	static constexpr std::size_t serialized_size = 48;

	/// The place @p offset bytes after the beginning, to the segment's end.
	/// Throws std::out_of_range.
	RemoteSlice at(std::uint64_t offset) const
	{
		if (offset > length)
			throw std::out_of_range("RemoteSegment::at: beyond the end");
		return { va + offset, length - offset, id, token };
	}
	/// The same, but not more than @p size bytes.
	RemoteSlice at(std::uint64_t offset, std::uint64_t size) const
	{
		RemoteSlice s = at(offset);

		if (size > s.length)
			throw std::out_of_range("RemoteSegment::at: beyond the end");
		s.length = size;
		return s;
	}

	/// `uboe://[EID]/segment/0xID?va=0xVA&len=BYTES&token=HEX`. Contains the token.
	std::string text() const;
	/// Binary form; see descriptor.hpp. Contains the token.
	std::array<std::byte, serialized_size> serialize() const;

	/// From either form. Throws Error that says what is wrong and where.
	static RemoteSegment parse(std::string_view text);
	static RemoteSegment parse(std::span<const std::byte> bytes);
	/// The same without exceptions: nothing, and @p error tells why.
	static std::optional<RemoteSegment> parse(std::string_view text, std::error_code &error);
	static std::optional<RemoteSegment> parse(std::span<const std::byte> bytes,
						  std::error_code &error);

	friend bool operator==(const RemoteSegment &, const RemoteSegment &) = default;
};

/// A jetty of a peer, as a value. It comes from RcJetty::remote() at its owner.
struct RemoteJetty {
	Eid eid;
	JettyId id{};
	std::optional<Token> token; ///< nothing: the jetty asks for none

	/// Bytes of the binary form.
	static constexpr std::size_t serialized_size = 48;

	/// `uboe://[EID]/jetty/0xID?token=HEX`. Contains the token.
	std::string text() const;
	/// Binary form; see descriptor.hpp. Contains the token.
	std::array<std::byte, serialized_size> serialize() const;

	/// From either form. Throws Error that says what is wrong and where.
	static RemoteJetty parse(std::string_view text);
	static RemoteJetty parse(std::span<const std::byte> bytes);
	/// The same without exceptions: nothing, and @p error tells why.
	static std::optional<RemoteJetty> parse(std::string_view text, std::error_code &error);
	static std::optional<RemoteJetty> parse(std::span<const std::byte> bytes,
						std::error_code &error);

	friend bool operator==(const RemoteJetty &, const RemoteJetty &) = default;
};

namespace detail
{

/// The C API's token id is the number shifted by this.
constexpr unsigned token_id_shift = 8;
constexpr std::uint32_t max_id = 0xfffff; // of jetties and segments

} // namespace detail

} // namespace v0
} // namespace uboe::urma
