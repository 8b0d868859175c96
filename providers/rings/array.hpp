// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Heap array of fixed size for trivial types. Unlike the standard containers it
// reports exhaustion by being empty instead of throwing.
#pragma once

#include <cstdlib>
#include <span>
#include <type_traits>
#include <utility>

namespace uboe {

template <class T> class Array {
	static_assert(std::is_trivially_destructible_v<T>);

public:
	Array() = default;
	/// @p count zeroed elements; empty when memory is short.
	explicit Array(std::size_t count)
		: data_(static_cast<T *>(std::calloc(count, sizeof(T)))), size_(data_ ? count : 0)
	{
	}
	~Array() { std::free(data_); }
	Array(Array &&other) noexcept
		: data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0))
	{
	}
	Array &operator=(Array &&other) noexcept
	{
		std::swap(data_, other.data_);
		std::swap(size_, other.size_);
		return *this;
	}

	explicit operator bool() const { return data_ != nullptr; }
	std::size_t size() const { return size_; }
	T &operator[](std::size_t i) { return data_[i]; }
	const T &operator[](std::size_t i) const { return data_[i]; }
	std::span<T> span() { return {data_, size_}; }

private:
	T *data_ = nullptr;
	std::size_t size_ = 0;
};

} // namespace uboe
