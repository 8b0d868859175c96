// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Registered memory of uboe/urma.hpp.
 */
#pragma once

#include <new>

#include "../urma_ext.h"
#include "device.hpp"

namespace uboe::urma
{
inline namespace v0
{

/// What peers may do with a segment. Each level contains the ones before, as the
/// URMA API demands: WRITE needs READ, ATOMIC needs both.
enum class Access : std::uint32_t {
	local = URMA_ACCESS_LOCAL_ONLY,
	read = URMA_ACCESS_READ,
	write = URMA_ACCESS_READ | URMA_ACCESS_WRITE,
	atomic = URMA_ACCESS_READ | URMA_ACCESS_WRITE | URMA_ACCESS_ATOMIC,
};

struct SegmentOptions {
	Access access = Access::local;
	/// What peers have to name; std::nullopt: nothing.
	std::optional<Token> token = random_token();
};

/**
 * Memory that requests may use, and peers as far as access says. Destroying it takes
 * the peers' access away at once; requests of ours that still use it fail.
 */
class LocalSegment
{
      public:
	/// Registers @p memory, which has to exist as long as this. Throws Error.
	LocalSegment(const Context &context, std::span<std::byte> memory,
		     const SegmentOptions &options = {})
		: impl_(std::make_unique<Impl>(context.handle(), memory, options))
	{
	}

	/// Registers @p size bytes of its own: zeroed, and aligned to a page.
	static LocalSegment allocate(const Context &context, std::size_t size,
				     const SegmentOptions &options = {})
	{
		Memory own(static_cast<std::byte *>(
			::operator new (size, std::align_val_t{ alignment })));

		std::memset(own.get(), 0, size);
		LocalSegment s(context, { own.get(), size }, options);

		s.impl_->own = std::move(own);
		return s;
	}

	std::span<std::byte> bytes() const
	{
		return impl_->memory;
	}
	std::size_t size() const
	{
		return impl_->memory.size();
	}
	/// The memory as an array of T, from its beginning.
	template <class T> std::span<T> as() const
	{
		return { reinterpret_cast<T *>(impl_->memory.data()), size() / sizeof(T) };
	}

	/// All of it. Throws std::out_of_range from 4 GiB on.
	LocalSlice slice() const
	{
		return slice(0, size());
	}
	/// @p length bytes from @p offset on. Throws std::out_of_range.
	LocalSlice slice(std::size_t offset, std::size_t length) const
	{
		if (offset > size() || length > size() - offset)
			throw std::out_of_range("LocalSegment::slice: beyond the end");
		return { impl_->raw, impl_->raw->seg.ubva.va + offset, length };
	}

	/// What a peer needs, the token included.
	RemoteSegment remote() const
	{
		const urma_seg_t &s = impl_->raw->seg;

		return { Eid::from(s.ubva.eid), s.ubva.va, s.len,
			 TokenId{ s.token_id >> detail::token_id_shift }, impl_->token };
	}

	/**
	 * Peers need @p token from now on, which remote() then has; with @p keep_present the
	 * present one stays valid until the next call. Not beside other calls for this
	 * segment. Throws Error, also when it needs no token.
	 */
	void rotate(Token token, bool keep_present)
	{
		const urma_token_t value{ static_cast<std::uint32_t>(token) };

		check(detail::from_status(uboe_rotate_token(impl_->raw, value, keep_present)),
		      "rotate of a token");
		impl_->token = token;
	}

	urma_target_seg_t *native() const
	{
		return impl_->raw;
	}

      private:
	static constexpr std::size_t alignment = 4096;

	struct Free {
		void operator()(std::byte *p) const
		{
			::operator delete (p, std::align_val_t{ alignment });
		}
	};
	using Memory = std::unique_ptr<std::byte, Free>;

	struct Impl {
		Impl(std::shared_ptr<detail::ContextHandle> c, std::span<std::byte> m,
		     const SegmentOptions &options)
			: context(std::move(c)), memory(m), token(options.token)
		{
			urma_seg_cfg_t cfg{};

			cfg.va = reinterpret_cast<std::uint64_t>(m.data());
			cfg.len = m.size();
			cfg.flag.bs.access = static_cast<std::uint32_t>(options.access) & 0x3f;
			cfg.flag.bs.token_policy = token ? URMA_TOKEN_PLAIN_TEXT : URMA_TOKEN_NONE;
			cfg.token_value.token = static_cast<std::uint32_t>(token.value_or(Token{}));
			raw = urma_register_seg(context->raw, &cfg);
			if (!raw)
				detail::throw_errno("segment of " + std::to_string(m.size()) +
						    " bytes");
		}
		~Impl()
		{
			urma_unregister_seg(raw);
		}
		Impl(const Impl &) = delete;
		Impl &operator=(const Impl &) = delete;

		const std::shared_ptr<detail::ContextHandle> context;
		const std::span<std::byte> memory;
		std::optional<Token> token;
		Memory own; // freed after it was unregistered
		urma_target_seg_t *raw = nullptr;
	};

	std::unique_ptr<Impl> impl_;
};

} // namespace v0
} // namespace uboe::urma
