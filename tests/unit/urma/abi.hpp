// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Words for the tables of URMA's C interface. The numbers were read off UMDK's
// headers, API version 0.9, x86-64. Most rows are checked by the compiler.
#pragma once

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "urma/urma_api.h"
#include "urma/urma_types_str.h"
#include "urma/urma_ubagg.h"

#define SAME(a, b) static_assert(std::is_same_v<a, b>)

#define ENUMERATOR(type, name, value)                                                              \
	static_assert(std::is_same_v<decltype(name), type> && static_cast<int>(name) == (value))

#define CONSTANT(name, value)                                                                      \
	static_assert((name) == (value) && std::is_same_v<decltype(+(name)), decltype(+(value))>)

#define FUNCTION(name, result, ...)                                                                \
	static_assert(std::is_same_v<decltype(&(name)), result (*)(__VA_ARGS__)>)

/* A struct or union with its typedef, bytes */
#define TYPE(tag, type, size)                                                                      \
	SAME(tag, type);                                                                           \
	static_assert(std::is_standard_layout_v<type> && sizeof(type) == (size))

/* Offset in bytes, member, type */
#define FIELD(type, offset, member, member_type)                                                   \
	static_assert(offsetof(type, member) == (offset) &&                                        \
		      std::is_same_v<decltype(std::declval<type &>().member), member_type>)

/* A member of a type without name: offset, member, bytes */
#define PART(type, offset, member, size)                                                           \
	static_assert(offsetof(type, member) == (offset) &&                                        \
		      sizeof(std::declval<type &>().member) == (size))

/* An array without elements at the end: offset, member, type of an element */
#define TAIL(type, offset, member, element)                                                        \
	static_assert(offsetof(type, member) == (offset) &&                                        \
		      sizeof(std::declval<type &>().member) == 0 &&                                \
		      std::is_same_v<decltype(&std::declval<type &>().member[0]), element *>)

/* Offset in bits from the least significant one of byte 0, member, type, bits */
#define BITS(type, offset, member, member_type, width)                                             \
	static_assert(std::is_same_v<decltype(std::declval<type &>().member), member_type>);       \
	EXPECT_EQ(urma_abi::bits_of<type>([](type &t) { t.member = 0; }),                          \
		  urma_abi::bits(offset, width))

namespace urma_abi
{

/// What is expected of one member, and what the compiler made of it.
inline std::string bits(std::size_t offset, std::size_t width)
{
	return std::to_string(width) + " bits from " + std::to_string(offset);
}

/// Where the zeros are after @clear of a member of a @T full of ones.
template <class T> std::string bits_of(void (*clear)(T &))
{
	unsigned char image[sizeof(T)];
	T value;
	std::size_t first = 0;
	std::size_t count = 0;
	std::size_t last = 0;

	std::memset(&value, 0xff, sizeof(value));
	clear(value);
	std::memcpy(image, &value, sizeof(value));
	for (std::size_t i = 0; i < sizeof(T) * CHAR_BIT; i++) {
		if (image[i / CHAR_BIT] >> i % CHAR_BIT & 1)
			continue;
		if (!count++)
			first = i;
		last = i;
	}
	if (!count || last - first + 1 != count)
		return "scattered";
	return bits(first, count);
}

} // namespace urma_abi
