// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "program.hpp"

#include <cerrno>
#include <cstdarg>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include "error.hpp"

extern "C" {
#include "maps.h"

// object.S
extern const unsigned char ub2e_bpf_object[], ub2e_bpf_object_end[];
}

namespace uboe::ub2e
{

namespace
{

// What libbpf says goes into our own message, or nowhere
int quiet(libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN && std::getenv("UB2E_DEBUG") ?
		       std::vfprintf(stderr, format, args) :
		       0;
}

// A packet that began with the former tables has ended with them
constexpr auto grace = std::chrono::milliseconds(20);

} // namespace

void Program::Close::operator()(bpf_object *o) const
{
	bpf_object__close(o);
}

Program::Program()
{
	libbpf_set_print(quiet);
	object_.reset(bpf_object__open_mem(
		ub2e_bpf_object, static_cast<std::size_t>(ub2e_bpf_object_end - ub2e_bpf_object),
		nullptr));
	if (!object_)
		fail_errno("the XDP program cannot be read");
	if (bpf_object__load(object_.get()))
		fail_errno("the kernel does not take the XDP program (it takes CAP_BPF, "
			   "CAP_NET_ADMIN and CAP_PERFMON; UB2E_DEBUG=1 says more)");
	program_ = bpf_object__find_program_by_name(object_.get(), "ub2e");
}

Program::~Program()
{
	for (int fd : link_fds_)
		close(fd);
}

int Program::fd() const
{
	return bpf_program__fd(program_);
}

int Program::map(const char *name) const
{
	return bpf_object__find_map_fd_by_name(object_.get(), name);
}

template <class Key, class Value>
void Program::put(const char *map_name, const Key &key, const Value &value)
{
	if (bpf_map_update_elem(map(map_name), &key, &value, BPF_ANY))
		fail_errno(std::string("table ") + map_name + " of the XDP program");
}

// Arrays are written over as a whole; of the others all keys of the set go
void Program::clear(std::uint32_t set)
{
	std::vector<ub2e_id_key> old_ids;
	std::vector<ub2e_route_key> old_routes;
	auto collect = [&](const char *name, auto &keys) {
		typename std::remove_reference_t<decltype(keys)>::value_type key, *before = nullptr;

		while (!bpf_map_get_next_key(map(name), before, &key)) {
			if (key.set == set)
				keys.push_back(key);
			before = &key;
		}
	};

	collect("ids", old_ids);
	collect("routes", old_routes);
	for (const ub2e_id_key &key : old_ids)
		bpf_map_delete_elem(map("ids"), &key);
	for (ub2e_route_key &key : old_routes)
		bpf_map_delete_elem(map("routes"), &key);
}

void Program::fill(std::uint32_t set, const Tables &tables)
{
	put("settings", set, tables.settings());
	for (std::uint32_t i = 0; i < UB2E_MAX_PORTS; ++i) {
		const auto *port = tables.port(i);

		put("ports", set * UB2E_MAX_PORTS + i, port ? *port : ub2e_port{});
	}
	for (std::uint32_t vlan = 0; vlan < UB2E_VLANS; ++vlan) {
		const ub2e_partition *p = tables.by_vlan(vlan);

		put("vlans", set * UB2E_VLANS + vlan, p ? *p : ub2e_partition{});
	}
	for (const ub2e_partition &p : tables.partitions())
		put("ids", ub2e_id_key{ set, p.vlan.id }, p);
	for (const Tables::Routes &r : tables.routes())
		for (const auto &[prefix, route] : r.by_prefix) {
			ub2e_route_key key{ 32 + r.length, set, {} };

			std::copy(prefix.begin(), prefix.end(), key.addr);
			put("routes", key, route);
		}
}

void Program::set_tables(const Tables &tables)
{
	const std::uint32_t next = (set_ + 1) % UB2E_SETS, zero = 0;

	clear(next);
	fill(next, tables);
	put("current_set", zero, next);
	set_ = next;
	std::this_thread::sleep_for(grace);
}

void Program::attach(const Tables &tables, bool generic)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = generic ? XDP_FLAGS_SKB_MODE : 0U);
	std::uint32_t i = 0;

	seen_.resize(tables.ports().size() * UB2E_FATES);
	for (const ub2e_port &port : tables.ports()) {
		put("port_of", port.ifindex, i);
		put("out_ports", i, port.ifindex);
		++i;
	}
	for (const ub2e_port &port : tables.ports()) {
		const int link =
			bpf_link_create(fd(), static_cast<int>(port.ifindex), BPF_XDP, &options);

		if (link < 0)
			fail_errno("XDP on interface number " + std::to_string(port.ifindex),
				   -link);
		link_fds_.push_back(link);
	}
}

void Program::count(Counters &counters)
{
	const auto cpus = static_cast<std::size_t>(libbpf_num_possible_cpus());
	std::vector<std::uint64_t> values(cpus);

	for (std::uint32_t i = 0; i < seen_.size(); ++i) {
		std::uint64_t sum = 0;

		if (bpf_map_lookup_elem(map("counters"), &i, values.data()))
			continue;
		for (std::uint64_t v : values)
			sum += v;
		counters.add(i / UB2E_FATES, i % UB2E_FATES, sum - seen_[i]);
		seen_[i] = sum;
	}
}

} // namespace uboe::ub2e
