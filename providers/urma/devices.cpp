// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The library, its devices and what they can do.
#include "devices.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "inproc/endpoint.hpp"
#include "sender.hpp"
#include "uverbs/channel.hpp"
#include "uverbs/sysfs.hpp"

namespace uboe::urma {

namespace {

constexpr char inproc_name[] = "inproc0";
constexpr unsigned udp_port = 4792; // of UBoE

/// The in-process device has no path, one of the kernel has that of its uverbs node.
using Device = urma_device_t;

std::mutex library_lock; // guards the next two
bool initialised;

/// All that programs have been told of: pointers stay valid, and mean the device of
/// that name, whether it is there or not. Outlives every static object of the program.
std::vector<std::unique_ptr<Device>> &known_devices()
{
	static auto *all = new std::vector<std::unique_ptr<Device>>;

	return *all;
}

/// SOFTUB, as it is one; programs that know only UB say so by URMA_TRANSPORT=ub.
urma_transport_type_t transport()
{
	const char *env = std::getenv("URMA_TRANSPORT");

	return env && !strcasecmp(env, "ub") ? URMA_TRANSPORT_UB : URMA_TRANSPORT_SOFTUB;
}

bool is_inproc(const urma_device_t &d)
{
	return !std::strcmp(d.name, inproc_name);
}

Device &known_device(const std::string &name, const std::string &path)
{
	const std::lock_guard hold(library_lock);
	auto &all = known_devices();

	for (const auto &d : all)
		if (d->name == name)
			return *d;
	auto d = std::make_unique<Device>();

	name.copy(d->name, sizeof(d->name) - 1);
	path.copy(d->path, sizeof(d->path) - 1);
	d->type = transport();
	all.push_back(std::move(d));
	return *all.back();
}

/// Is it shown? URMA_DEVICE names the only one that is.
bool is_visible(const urma_device_t &d)
{
	const char *env = std::getenv("URMA_DEVICE");

	return !env || !*env || !std::strcmp(env, d.name);
}

/// Those there are now, the kernel's first: where both have an EID, it is the one of
/// the kernel that can be opened.
std::vector<Device *> present_devices()
{
	std::vector<Device *> all;

	for (const uverbs::DeviceName &d : uverbs::devices())
		if (d.name != inproc_name && d.name.size() < URMA_MAX_NAME)
			all.push_back(&known_device(d.name, d.path));
	all.push_back(&known_device(inproc_name, ""));
	std::erase_if(all, [](const Device *d) { return !is_visible(*d); });
	return all;
}

/// A device of the kernel, with a context for its queries.
int open_channel(const urma_device_t &dev, uverbs::Channel &channel)
{
	const auto found = uverbs::find_device(dev.name);
	uboe_alloc_ucontext_resp caps{};
	uverbs::Fd events;

	if (!found)
		return ENODEV;
	if (int err = channel.open(found->path))
		return err;
	return channel.get_context(caps, events);
}

int fill_port(const urma_device_t &dev, urma_port_attr_t &p)
{
	p.max_mtu = URMA_MTU_8192;
	p.active_mtu = URMA_MTU_4096;
	p.state = URMA_PORT_ACTIVE;
	p.active_width = URMA_LINK_X1;
	p.active_speed = URMA_SP_10G;
	if (is_inproc(dev))
		return 0;

	uverbs::Channel channel;
	ib_uverbs_query_port_resp port{};

	if (int err = open_channel(dev, channel))
		return err;
	if (int err = channel.query_port(port))
		return err;
	// verbs counts MTUs and states as URMA does
	p.max_mtu = static_cast<urma_mtu_t>(port.max_mtu);
	p.active_mtu = static_cast<urma_mtu_t>(port.active_mtu);
	p.state = static_cast<urma_port_state_t>(port.state);
	return 0;
}

/// Inode of the socket bound to @p address at the UBoE port, as /proc has it.
std::string socket_inode(const Address &address)
{
	const bool v4 = address.is_v4();
	std::ifstream table(v4 ? "/proc/net/udp" : "/proc/net/udp6");
	std::string line, wanted;
	char word[9];

	for (unsigned i = v4 ? 3 : 0; i < 4; ++i) {
		u32 w;

		std::memcpy(&w, address.bytes.data() + 4 * i, sizeof(w));
		std::snprintf(word, sizeof(word), "%08X", w);
		wanted += word;
	}
	std::snprintf(word, sizeof(word), ":%04X", udp_port);
	wanted += word;
	while (std::getline(table, line)) {
		std::istringstream fields(line);
		std::string f[10];

		for (std::string &s : f)
			fields >> s;
		if (f[1] == wanted)
			return f[9];
	}
	return {};
}

} // namespace

bool is_device(const urma_device_t *dev)
{
	const std::lock_guard hold(library_lock);
	const auto &all = known_devices();

	return std::any_of(all.begin(), all.end(), [dev](const auto &d) { return d.get() == dev; });
}

int open_device(const urma_device_t &dev, const Address &address, Listener &listener,
		std::unique_ptr<Backend> &out)
{
	if (is_inproc(dev))
		return open_inproc(address, listener, out);
	const auto found = uverbs::find_device(dev.name);

	return found ? open_kernel(found->path, address, listener, out) : ENODEV;
}

std::vector<Address> device_eids(const urma_device_t &dev)
{
	uverbs::Channel channel;
	std::vector<uverbs::Gid> gids;
	std::vector<Address> all;

	if (is_inproc(dev))
		all = inproc::local_addresses();
	else if (!open_channel(dev, channel) && !channel.query_gids(gids))
		std::transform(gids.begin(), gids.end(), std::back_inserter(all),
			       [](const uverbs::Gid &g) { return g.address; });
	if (all.size() > URMA_MAX_EID_CNT)
		all.resize(URMA_MAX_EID_CNT);
	return all;
}

std::string who_has(const Address &address)
{
	namespace fs = std::filesystem;
	const std::string inode = socket_inode(address);
	const std::string link = "socket:[" + inode + "]";
	std::error_code none;

	if (inode.empty())
		return {};
	for (const auto &process : fs::directory_iterator("/proc", none)) {
		const fs::path fds = process.path() / "fd";

		for (const auto &fd : fs::directory_iterator(fds, none)) {
			if (fs::read_symlink(fd.path(), none) != link)
				continue;
			std::string name;
			std::ifstream(process.path() / "comm") >> name;
			return " by process " + process.path().filename().string() + " (" + name +
			       ")";
		}
	}
	return {};
}

Address to_address(const urma_eid_t &eid)
{
	Address a;

	std::memcpy(a.bytes.data(), eid.raw, sizeof(eid.raw));
	return a;
}

urma_eid_t to_eid(const Address &a)
{
	urma_eid_t eid;

	std::memcpy(eid.raw, a.bytes.data(), sizeof(eid.raw));
	return eid;
}

namespace {

/// Is its port one of a UB domain (docs/decisions/0038)?
bool in_ub_domain(const urma_device_t &dev)
{
	std::string domain;

	if (is_inproc(dev))
		return inproc::ub_port() != nullptr;
	std::ifstream(std::string("/sys/class/infiniband/") + dev.name + "/domain") >> domain;
	return domain == "ub";
}

} // namespace

urma_device_cap_t capabilities(const urma_device_t &dev)
{
	urma_device_cap_t c{};

	c.feature.bs.selective_retrans = 1;
	c.feature.bs.uboe = 1;
	c.feature.bs.jfc_inline = 1;
	c.max_jfc = UBOE_MAX_JETTY;
	c.max_jfs = UBOE_MAX_JETTY;
	c.max_jfr = UBOE_MAX_JETTY;
	c.max_jetty = UBOE_MAX_JETTY;
	c.max_jetty_grp = UBOE_MAX_JGRP;
	c.max_jetty_in_jetty_grp = UBOE_MAX_JGRP_MEMBERS;
	c.max_jfc_depth = UBOE_MAX_JFC_DEPTH;
	c.max_jfs_depth = UBOE_MAX_JFS_BB;
	c.max_jfr_depth = UBOE_MAX_JFR_DEPTH;
	c.max_jfs_inline_len = UBOE_MAX_INLINE;
	c.max_jfs_sge = UBOE_MAX_SGE;
	c.max_jfs_rsge = 1;
	c.max_jfr_sge = UBOE_MAX_RQ_SGE;
	c.max_msg_size = UBOE_MAX_SLICE;
	c.max_read_size = UBOE_MAX_MSG;
	c.max_write_size = UBOE_MAX_MSG;
	c.max_cas_size = max_cas();
	c.max_swap_size = 8;
	c.max_fetch_and_add_size = 8;
	c.max_fetch_and_sub_size = 8;
	c.max_fetch_and_and_size = 8;
	c.max_fetch_and_or_size = 8;
	c.max_fetch_and_xor_size = 8;
	c.atomic_feat.value = 0x7f;
	c.trans_mode = offered_modes;
	c.congestion_ctrl_alg = URMA_CC_NONE | URMA_CC_DCQCN | URMA_CC_LDCP; // decision 0037
	if (in_ub_domain(dev))
		c.congestion_ctrl_alg |= URMA_CC_CAQM; // decision 0040
	c.ceq_cnt = 1;
	c.max_eid_cnt = URMA_MAX_EID_CNT;
	c.page_size_cap = 4096;
	c.rm_order_cap.bs.oi = 1;
	c.rm_order_cap.bs.ot = 1;
	c.rc_order_cap.bs.ol = 1;
	c.rm_tp_cap.bs.rtp = 1;
	c.rc_tp_cap.bs.rtp = 1;
	c.um_tp_cap.bs.utp = 1;
	for (unsigned i = 0; i < URMA_MAX_PRIORITY_CNT; ++i) {
		c.priority_info[i].SL = i;
		c.priority_info[i].tp_type.bs.rtp = 1;
		c.priority_info[i].tp_type.bs.utp = 1;
	}
	return c;
}

} // namespace uboe::urma

using namespace uboe::urma;

urma_status_t urma_init(urma_init_attr_t *)
{
	const std::lock_guard hold(library_lock);

	if (initialised)
		return URMA_EEXIST;
	initialised = true;
	return URMA_SUCCESS;
}

urma_status_t urma_uninit(void)
{
	const std::lock_guard hold(library_lock);

	if (!initialised)
		return URMA_FAILED(URMA_FAIL, "urma_init() was not called");
	initialised = false;
	return URMA_SUCCESS;
}

urma_device_t **urma_get_device_list(int *num_devices)
{
	if (!num_devices) {
		URMA_FAILED(EINVAL, "num_devices: null");
		return nullptr;
	}
	*num_devices = 0;
	return guarded<urma_device_t **>(nullptr, [&]() -> urma_device_t ** {
		const auto all = present_devices();

		if (all.empty()) {
			URMA_FAILED(ENODEV, "URMA_DEVICE names no device that is there");
			return nullptr;
		}
		auto **list = static_cast<urma_device_t **>(
			std::calloc(all.size() + 1, sizeof(urma_device_t *)));
		if (!list)
			throw std::bad_alloc();
		std::copy(all.begin(), all.end(), list);
		*num_devices = static_cast<int>(all.size());
		return list;
	});
}

void urma_free_device_list(urma_device_t **device_list)
{
	std::free(device_list);
}

urma_device_t *urma_get_device_by_name(char *dev_name)
{
	return guarded<urma_device_t *>(nullptr, [&]() -> urma_device_t * {
		if (dev_name)
			for (Device *d : present_devices())
				if (!std::strcmp(dev_name, d->name))
					return d;
		URMA_FAILED(dev_name ? ENODEV : EINVAL, "dev_name: no device %s",
			    dev_name ? dev_name : "(null)");
		return nullptr;
	});
}

urma_device_t *urma_get_device_by_eid(urma_eid_t eid, urma_transport_type_t type)
{
	return guarded<urma_device_t *>(nullptr, [&]() -> urma_device_t * {
		for (Device *d : present_devices()) {
			const auto eids = device_eids(*d);

			if (type == d->type &&
			    std::find(eids.begin(), eids.end(), to_address(eid)) != eids.end())
				return d;
		}
		URMA_FAILED(ENODEV, "eid: no device of this type has %s",
			    to_address(eid).text().c_str());
		return nullptr;
	});
}

urma_eid_info_t *urma_get_eid_list(urma_device_t *dev, uint32_t *cnt)
{
	if (!is_device(dev) || !cnt) {
		URMA_FAILED(EINVAL, "%s", cnt ? "dev: not a device of this library" : "cnt: null");
		return nullptr;
	}
	return guarded<urma_eid_info_t *>(nullptr, [&]() -> urma_eid_info_t * {
		const auto eids = device_eids(*dev);

		*cnt = 0;
		if (eids.empty()) {
			URMA_FAILED(EIO, "%s has no EID: no interface is up, or it is gone",
				    dev->name);
			return nullptr;
		}
		auto *list = static_cast<urma_eid_info_t *>(
			std::calloc(eids.size(), sizeof(urma_eid_info_t)));
		if (!list)
			throw std::bad_alloc();
		for (const Address &a : eids) {
			list[*cnt] = {to_eid(a), *cnt};
			++*cnt;
		}
		return list;
	});
}

void urma_free_eid_list(urma_eid_info_t *eid_list)
{
	std::free(eid_list);
}

urma_status_t urma_query_device(urma_device_t *dev, urma_device_attr_t *dev_attr)
{
	if (!is_device(dev) || !dev_attr)
		return URMA_FAILED(URMA_EINVAL, "%s",
				   dev_attr ? "dev: not a device of this library" :
					      "dev_attr: null");
	*dev_attr = {};
	dev_attr->dev_cap = capabilities(*dev);
	dev_attr->port_cnt = 1;
	const int err =
		guarded<int>(ENOMEM, [&] { return fill_port(*dev, dev_attr->port_attr[0]); });

	if (err)
		return URMA_FAILED(err, "%s: %s", dev->name, std::strerror(err));
	dev_attr->reserved_jetty_id_min = 2;
	dev_attr->reserved_jetty_id_max = 1023;
	return URMA_SUCCESS;
}

urma_status_t urma_get_uasid(uint32_t *uasid)
{
	if (!uasid)
		return URMA_FAILED(URMA_EINVAL, "uasid: null");
	*uasid = 0;
	return URMA_SUCCESS;
}
