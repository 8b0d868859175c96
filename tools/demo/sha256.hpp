// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <openssl/evp.h>

#include "error.hpp"

namespace uboe {

/// SHA-256 of memory in hexadecimal digits.
inline std::string sha256(const void *data, std::size_t size)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int length = 0;
	std::string text;

	if (EVP_Digest(data, size, digest, &length, EVP_sha256(), nullptr) != 1)
		throw Failure("libcrypto cannot compute SHA-256");
	for (unsigned int i = 0; i < length; ++i) {
		text += digits[digest[i] >> 4];
		text += digits[digest[i] & 15];
	}
	return text;
}

} // namespace uboe
