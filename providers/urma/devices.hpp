// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include <urma/urma_types.h>

#include "backend.hpp"

namespace uboe::urma {

bool is_device(const urma_device_t *dev);

/// The device's EIDs now; their places are the eid_index of the API.
std::vector<Address> device_eids(const urma_device_t &dev);

/// Opens the device at one of them; a positive errno value.
int open_device(const urma_device_t &dev, const Address &address, Listener &listener,
		std::unique_ptr<Backend> &out);

/// " (in use by process 123, name)", or nothing when that cannot be found out.
std::string who_has(const Address &address);

} // namespace uboe::urma
