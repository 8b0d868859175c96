// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Traffic management of uboe/urma.hpp: the tree of a device, and limits of jetties. What
 * the fields mean, their ranges and the errors: uboe/urma_ext.h.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <uboe/urma_ext.h>

#include "device.hpp"
#include "jetty.hpp"

namespace uboe::urma
{
inline namespace v0
{

enum class TrafficLevel : std::uint32_t {
	port = UBOE_TM_PORT,
	group = UBOE_TM_GROUP,
	function = UBOE_TM_FUNCTION,
	queue_set = UBOE_TM_QSET,
	queue = UBOE_TM_QUEUE, ///< query only
	jetty = UBOE_TM_JETTY,
};

/// Which node: its number among those of its level.
struct TrafficId {
	TrafficLevel level = TrafficLevel::port;
	std::uint32_t number = 0;

	static TrafficId of(const detail::Jetty &jetty)
	{
		return { TrafficLevel::jetty, static_cast<std::uint32_t>(jetty.id()) };
	}
};

struct TrafficRate {
	std::uint32_t kbps = 0; ///< 1000 to 200000000, 0: none
	std::uint32_t burst = 0; ///< bytes, to 64 MiB; 0: a millisecond of the rate
};

/// VL of each SL.
using ServiceLevels = std::array<std::uint8_t, 16>;

/// A node as it is made, or as it is. What its level does not have is left alone.
struct TrafficNode {
	/// One level up; a jetty names its function, or nothing: it has a limit only.
	std::optional<std::uint32_t> parent{};
	TrafficRate peak{}; ///< limit
	TrafficRate committed{}; ///< promise: group and function
	std::uint8_t priority = 0; ///< 0 to 7, the highest goes first
	std::uint16_t weight = 0; ///< 1 to 255; 0 when it is made: 1
	std::uint8_t vl = 0; ///< of a queue set
	ServiceLevels sl_vl{}; ///< of a function
	std::uint64_t sent = 0; ///< query: bytes
	std::uint32_t waiting = 0; ///< query: children or jetties that wait
};

/// What changes, all at once; the rest stays.
struct TrafficChange {
	std::optional<TrafficRate> peak{};
	std::optional<TrafficRate> committed{};
	std::optional<std::uint8_t> priority{};
	std::optional<std::uint16_t> weight{};
	std::optional<ServiceLevels> sl_vl{};
};

/**
 * The tree of a context's device, which all contexts at its EID share. On a device of the
 * kernel changes want CAP_NET_ADMIN: errc::not_permitted. Thread-safe.
 */
class TrafficManagement
{
      public:
	explicit TrafficManagement(const Context &context) : handle_(context.handle())
	{
	}

	/// A node, from the port down; a jetty's place and limit.
	std::error_code add(TrafficId id, const TrafficNode &node = {})
	{
		uboe_tm_node_t raw = named(id);

		raw.parent = node.parent.value_or(
			id.level == TrafficLevel::jetty ? UBOE_TM_PARENT_NONE : 0);
		put(raw, node.peak, node.committed);
		raw.prio = node.priority;
		raw.weight = node.weight;
		raw.vl = node.vl;
		std::copy(node.sl_vl.begin(), node.sl_vl.end(), raw.sl_vl);
		return detail::from_status(uboe_create_tm(handle_->raw, &raw));
	}

	std::error_code change(TrafficId id, const TrafficChange &change)
	{
		uboe_tm_node_t raw = named(id);
		const ServiceLevels map = change.sl_vl.value_or(ServiceLevels());

		put(raw, change.peak.value_or(TrafficRate()),
		    change.committed.value_or(TrafficRate()));
		raw.prio = change.priority.value_or(0);
		raw.weight = change.weight.value_or(0);
		std::copy(map.begin(), map.end(), raw.sl_vl);
		return detail::from_status(
			uboe_modify_tm(handle_->raw, &raw,
				       (change.peak ? UBOE_TM_SET_PEAK : 0) |
					       (change.committed ? UBOE_TM_SET_COMMITTED : 0) |
					       (change.priority ? UBOE_TM_SET_PRIO : 0) |
					       (change.weight ? UBOE_TM_SET_WEIGHT : 0) |
					       (change.sl_vl ? UBOE_TM_SET_SL_VL : 0)));
	}

	/// From the leaves up; a jetty is not managed any more.
	std::error_code remove(TrafficId id)
	{
		return detail::from_status(uboe_delete_tm(
			handle_->raw, static_cast<std::uint32_t>(id.level), id.number));
	}

	/// Throws Error: there is no such node, for example.
	TrafficNode query(TrafficId id) const
	{
		uboe_tm_node_t raw = named(id);
		TrafficNode node;

		check(detail::from_status(uboe_query_tm(handle_->raw, &raw)), "uboe_query_tm");
		if (id.level != TrafficLevel::port && raw.parent != UBOE_TM_PARENT_NONE)
			node.parent = raw.parent;
		node.peak = { raw.peak_kbps, raw.peak_burst };
		node.committed = { raw.committed_kbps, raw.committed_burst };
		node.priority = raw.prio;
		node.weight = raw.weight;
		node.vl = raw.vl;
		std::copy(std::begin(raw.sl_vl), std::end(raw.sl_vl), node.sl_vl.begin());
		node.sent = raw.sent;
		node.waiting = raw.waiting;
		return node;
	}

      private:
	static uboe_tm_node_t named(TrafficId id)
	{
		uboe_tm_node_t raw{};

		raw.level = static_cast<std::uint32_t>(id.level);
		raw.number = id.number;
		return raw;
	}

	static void put(uboe_tm_node_t &raw, TrafficRate peak, TrafficRate committed)
	{
		raw.peak_kbps = peak.kbps;
		raw.peak_burst = peak.burst;
		raw.committed_kbps = committed.kbps;
		raw.committed_burst = committed.burst;
	}

	std::shared_ptr<detail::ContextHandle> handle_;
};

/// A jetty's own limit, from now on; none: TrafficRate(). It keeps its place in the tree.
inline std::error_code limit(detail::Jetty &jetty, TrafficRate rate)
{
	return detail::from_status(uboe_set_jetty_rate(jetty.native(), rate.kbps, rate.burst));
}

} // namespace v0
} // namespace uboe::urma
