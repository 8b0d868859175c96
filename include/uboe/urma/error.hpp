// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Errors of uboe/urma.hpp: one category for what functions return, what completions
 * say and what is wrong with a descriptor.
 */
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <urma/urma_api.h>

namespace uboe::urma
{
inline namespace v0
{

/**
 * Values of category(). Those below 0x1000 are errno's, and each errno may occur;
 * 0x1000 is URMA_FAIL; from 0x2000 on the statuses of completions (URMA API, enum
 * urma_cr_status), from 0x3000 on what is wrong with a descriptor.
 */
enum class errc : int {
	not_permitted = URMA_ENOPERM,
	busy = URMA_EAGAIN, ///< others still depend on the object
	no_memory = URMA_ENOMEM,
	queue_full = URMA_ENOMEM, ///< posting: poll completions and post again
	exists = URMA_EEXIST, ///< bound already; the id is taken
	no_device = ENODEV,
	invalid = URMA_EINVAL,
	out_of_range = ERANGE, ///< posting: the request leaves its remote segment
	not_supported = EOPNOTSUPP,
	address_in_use = EADDRINUSE, ///< another process has the EID
	timed_out = URMA_ETIMEOUT,
	in_progress = URMA_EINPROGRESS,
	canceled = ECANCELED, ///< the queue was destroyed before the request completed
	failed = URMA_FAIL, ///< no reason given

	unsupported_opcode = 0x2000 + URMA_CR_UNSUPPORTED_OPCODE_ERR,
	local_length = 0x2000 + URMA_CR_LOC_LEN_ERR,
	local_operation = 0x2000 + URMA_CR_LOC_OPERATION_ERR,
	local_access = 0x2000 + URMA_CR_LOC_ACCESS_ERR,
	remote_response_length = 0x2000 + URMA_CR_REM_RESP_LEN_ERR,
	remote_unsupported = 0x2000 + URMA_CR_REM_UNSUPPORTED_REQ_ERR,
	remote_operation = 0x2000 + URMA_CR_REM_OPERATION_ERR,
	remote_access = 0x2000 + URMA_CR_REM_ACCESS_ABORT_ERR,
	ack_timeout = 0x2000 + URMA_CR_ACK_TIMEOUT_ERR,
	no_receive_buffer = 0x2000 + URMA_CR_RNR_RETRY_CNT_EXC_ERR,
	flushed = 0x2000 + URMA_CR_WR_FLUSH_ERR,
	unhandled = 0x2000 + URMA_CR_WR_UNHANDLED,
	local_poison = 0x2000 + URMA_CR_LOC_DATA_POISON,
	remote_poison = 0x2000 + URMA_CR_REM_DATA_POISON,

	descriptor_scheme = 0x3000, ///< text: it does not begin with uboe://[
	descriptor_eid, ///< text: no IPv4 or IPv6 address between [ and ]
	descriptor_kind, ///< it describes something else than what was asked for
	descriptor_number, ///< a number is malformed or out of range
	descriptor_parameter, ///< text: unknown, given twice, or without =
	descriptor_missing, ///< text: va or len is not there
	descriptor_length, ///< binary: another length than it says, or than it must have
	descriptor_version, ///< binary: made by another version
	descriptor_reserved, ///< binary: bits are set that mean nothing
};

namespace detail
{

constexpr int completion_base = 0x2000;

inline const char *text_of(errc e)
{
	switch (e) {
	case errc::failed:
		return "URMA failed and gives no reason";
	case errc::unsupported_opcode:
		return "the queue does not know the operation";
	case errc::local_length:
		return "more data than the local buffers or the device take";
	case errc::local_operation:
		return "the request makes no sense to the device";
	case errc::local_access:
		return "the local segment forbids it";
	case errc::remote_response_length:
		return "the answer has another length than was asked for";
	case errc::remote_unsupported:
		return "the target does not know or accept the request";
	case errc::remote_operation:
		return "the target could not complete the request";
	case errc::remote_access:
		return "wrong token, address or access at the target";
	case errc::ack_timeout:
		return "the target does not answer";
	case errc::no_receive_buffer:
		return "the target had no receive buffer";
	case errc::flushed:
		return "not executed: the jetty is in error";
	case errc::unhandled:
		return "not executed: the device never looked at it";
	case errc::local_poison:
		return "local memory is corrupt";
	case errc::remote_poison:
		return "remote memory is corrupt";
	case errc::descriptor_scheme:
		return "descriptor does not begin with uboe://[";
	case errc::descriptor_eid:
		return "descriptor has no IPv4 or IPv6 address between [ and ]";
	case errc::descriptor_kind:
		return "descriptor is not of the expected kind";
	case errc::descriptor_number:
		return "descriptor has a number that is malformed or out of range";
	case errc::descriptor_parameter:
		return "descriptor has a parameter that is unknown, repeated or without value";
	case errc::descriptor_missing:
		return "descriptor of a segment lacks va or len";
	case errc::descriptor_length:
		return "descriptor has the wrong length";
	case errc::descriptor_version:
		return "descriptor is of another version";
	case errc::descriptor_reserved:
		return "descriptor has reserved bits set";
	default:
		return nullptr;
	}
}

class Category final : public std::error_category
{
      public:
	const char *name() const noexcept override
	{
		return "urma";
	}

	std::string message(int value) const override
	{
		if (const char *text = text_of(errc{ value }))
			return text;
		return std::generic_category().message(value);
	}

	/// So that error codes compare with std::errc.
	std::error_condition default_error_condition(int value) const noexcept override
	{
		switch (errc{ value }) {
		case errc::remote_access:
		case errc::local_access:
			return std::errc::permission_denied;
		case errc::ack_timeout:
			return std::errc::timed_out;
		case errc::no_receive_buffer:
			return std::errc::no_buffer_space;
		case errc::flushed:
		case errc::unhandled:
			return std::errc::operation_canceled;
		case errc::local_length:
			return std::errc::message_size;
		case errc::unsupported_opcode:
		case errc::remote_unsupported:
			return std::errc::operation_not_supported;
		default:
			break;
		}
		if (value >= static_cast<int>(errc::descriptor_scheme))
			return std::errc::invalid_argument;
		if (value < URMA_FAIL)
			return { value, std::generic_category() };
		return { value, *this };
	}
};

} // namespace detail

/// The category of all error codes of this library.
inline const std::error_category &category() noexcept
{
	static const detail::Category instance;

	return instance;
}

inline std::error_code make_error_code(errc e) noexcept
{
	return { static_cast<int>(e), category() };
}

/// What constructors throw. code() is of category(), what() says what was tried.
class Error : public std::system_error
{
      public:
	Error(std::error_code code, const std::string &what) : std::system_error(code, what)
	{
	}
};

/// Throws Error unless @p code says success. @p what names what was tried.
inline void check(std::error_code code, const std::string &what)
{
	if (code)
		throw Error(code, what);
}

namespace detail
{

/// From what a function of the C API returned.
inline std::error_code from_status(urma_status_t status) noexcept
{
	return { status, category() };
}

/// From the status of a completion record.
inline std::error_code from_completion(urma_cr_status_t status) noexcept
{
	if (status == URMA_CR_SUCCESS)
		return {};
	return { completion_base + static_cast<int>(status), category() };
}

/// A creator of the C API returned NULL.
[[noreturn]] inline void throw_errno(const std::string &what)
{
	throw Error({ errno ? errno : URMA_FAIL, category() }, what);
}

} // namespace detail

} // namespace v0
} // namespace uboe::urma

template <> struct std::is_error_code_enum<uboe::urma::errc> : std::true_type {
};
