// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Devices of uboe/urma.hpp, and a device opened at one of its EIDs.
 */
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "types.hpp"

namespace uboe::urma
{
inline namespace v0
{

namespace detail
{

/// urma_init() is not counted, and somebody else in the process may call it too:
/// done once, and never undone.
inline void use_library()
{
	static const urma_status_t status = urma_init(nullptr);

	if (status != URMA_SUCCESS && status != URMA_EEXIST)
		throw Error(from_status(status), "urma_init");
}

/// An opened device; the objects made from it share it.
struct ContextHandle {
	explicit ContextHandle(urma_context_t *c) : raw(c)
	{
	}
	~ContextHandle()
	{
		urma_delete_context(raw);
	}
	ContextHandle(const ContextHandle &) = delete;
	ContextHandle &operator=(const ContextHandle &) = delete;

	urma_context_t *const raw;
};

} // namespace detail

/// A device. The library owns it and it lasts as long as the process; this is a
/// reference.
class Device
{
      public:
	/// For wrappers: @p raw is from the C API.
	explicit Device(urma_device_t *raw) : raw_(raw)
	{
	}

	/// By its name; throws Error, errc::no_device.
	static Device of(std::string name)
	{
		detail::use_library();
		urma_device_t *d = urma_get_device_by_name(name.data());

		if (!d)
			detail::throw_errno("device '" + name + "'");
		return Device(d);
	}

	std::string_view name() const
	{
		return raw_->name;
	}

	/// Its EIDs and their indices in the C API; none when no interface is up.
	std::vector<std::pair<Eid, std::uint32_t>> eids() const
	{
		std::uint32_t n = 0;
		const std::unique_ptr<urma_eid_info_t, void (*)(urma_eid_info_t *)> list(
			urma_get_eid_list(raw_, &n), urma_free_eid_list);
		std::vector<std::pair<Eid, std::uint32_t>> all;

		for (std::uint32_t i = 0; list && i < n; ++i)
			all.emplace_back(Eid::from(list.get()[i].eid), list.get()[i].eid_index);
		return all;
	}

	/// Limits and the state of the ports now (URMA API, urma_device_attr_t).
	/// Throws Error.
	urma_device_attr_t attributes() const
	{
		urma_device_attr_t a;

		check(detail::from_status(urma_query_device(raw_, &a)), "urma_query_device");
		return a;
	}

	urma_device_t *native() const
	{
		return raw_;
	}

      private:
	urma_device_t *raw_;
};

/// The devices there are when it is made; a range of Device.
class DeviceList
{
      public:
	DeviceList()
	{
		detail::use_library();
		int n = 0;
		urma_device_t **const raw = urma_get_device_list(&n);

		for (int i = 0; raw && i < n; ++i)
			devices_.emplace_back(raw[i]);
		urma_free_device_list(raw);
	}

	auto begin() const
	{
		return devices_.begin();
	}
	auto end() const
	{
		return devices_.end();
	}
	std::size_t size() const
	{
		return devices_.size();
	}
	bool empty() const
	{
		return devices_.empty();
	}

      private:
	std::vector<Device> devices_;
};

/// A device opened at one of its EIDs: source of all traffic, owner of all objects.
class Context
{
      public:
	/// Opens @p device at @p eid. Throws Error: errc::invalid: it has no such EID;
	/// errc::address_in_use.
	Context(Device device, const Eid &eid) : handle_(open(device, eid))
	{
	}
	/// Opens the device that has @p eid. Throws Error: errc::no_device: none has.
	explicit Context(const Eid &eid) : Context(device_of(eid), eid)
	{
	}

	Eid eid() const
	{
		return Eid::from(handle_->raw->eid);
	}
	Device device() const
	{
		return Device(handle_->raw->dev);
	}
	urma_context_t *native() const
	{
		return handle_->raw;
	}
	const std::shared_ptr<detail::ContextHandle> &handle() const
	{
		return handle_;
	}

	Context(Context &&) noexcept = default;
	Context &operator=(Context &&) noexcept = default;

      private:
	static std::optional<std::uint32_t> index_of(Device device, const Eid &eid)
	{
		const auto all = device.eids();
		const auto it = std::find_if(all.begin(), all.end(),
					     [&eid](const auto &e) { return e.first == eid; });

		return it == all.end() ? std::nullopt : std::optional(it->second);
	}

	static Device device_of(const Eid &eid)
	{
		for (const Device &d : DeviceList())
			if (index_of(d, eid))
				return d;
		throw Error(errc::no_device, "no device has " + eid.text());
	}

	static std::shared_ptr<detail::ContextHandle> open(Device device, const Eid &eid)
	{
		const auto index = index_of(device, eid);
		const std::string what = std::string(device.name()) + " at " + eid.text();

		if (!index)
			throw Error(errc::invalid, what + ": no such EID");
		urma_context_t *const raw = urma_create_context(device.native(), *index);

		if (!raw)
			detail::throw_errno(what);
		return std::make_shared<detail::ContextHandle>(raw);
	}

	std::shared_ptr<detail::ContextHandle> handle_;
};

} // namespace v0
} // namespace uboe::urma
