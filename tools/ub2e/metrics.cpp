// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "metrics.hpp"

#include <array>
#include <atomic>

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include "error.hpp"

namespace uboe::ub2e
{

namespace
{

prometheus::ClientMetric sample(double value, std::vector<prometheus::ClientMetric::Label> labels)
{
	prometheus::ClientMetric m;

	m.label = std::move(labels);
	m.counter.value = value;
	return m;
}

} // namespace

struct Metrics::Server final : prometheus::Collectable {
	Server(const Counters &c, std::vector<std::string> n) : counters(c), names(std::move(n))
	{
	}

	/// One family: sums of @p fates under the label values of their names.
	prometheus::MetricFamily family(const char *name, const char *help, const char *label,
					unsigned first, unsigned last) const
	{
		prometheus::MetricFamily f{ name, help, prometheus::MetricType::Counter, {} };

		for (std::uint32_t port = 0; port < names.size(); ++port)
			for (unsigned fate = first; fate <= last; ++fate)
				f.metric.push_back(
					sample(static_cast<double>(counters.get(port, fate)),
					       label ?
						       std::vector<prometheus::ClientMetric::Label>{
							       { "port", names[port] },
							       { label, fate_name(fate) } } :
						       std::vector<prometheus::ClientMetric::Label>{
							       { "port", names[port] } }));
		return f;
	}

	std::vector<prometheus::MetricFamily> Collect() const override
	{
		prometheus::MetricFamily loads{ "ub2e_reloads_total",
						"Times that the configuration was read again",
						prometheus::MetricType::Counter,
						{} };

		loads.metric.push_back(
			sample(static_cast<double>(reloads[1].load()), { { "result", "good" } }));
		loads.metric.push_back(
			sample(static_cast<double>(reloads[0].load()), { { "result", "bad" } }));
		return {
			family("ub2e_forwarded_packets_total",
			       "UB packets passed on, by port of arrival", nullptr, UB2E_FORWARDED,
			       UB2E_FORWARDED),
			family("ub2e_received_bytes_total", "Bytes of these", nullptr,
			       UB2E_RX_BYTES, UB2E_RX_BYTES),
			family("ub2e_sent_packets_total", "UB packets sent", nullptr, UB2E_TX,
			       UB2E_TX),
			family("ub2e_sent_bytes_total", "Bytes of these", nullptr, UB2E_TX_BYTES,
			       UB2E_TX_BYTES),
			family("ub2e_other_packets_total", "Frames left to the host", nullptr,
			       UB2E_OTHER, UB2E_OTHER),
			family("ub2e_marked_packets_total",
			       "Congestion marks set, by port of departure", "level",
			       UB2E_MARKED_LIGHT, UB2E_MARKED_SEVERE),
			family("ub2e_caqm_packets_total",
			       "Packets of CAQM as they left, by port of departure", "fate",
			       UB2E_CAQM_GRANTED, UB2E_CAQM_MARKED),
			family("ub2e_cci_lost_total",
			       "Packets whose CCI mode has no counterpart in IP, passed on",
			       nullptr, UB2E_CCI_LOST, UB2E_CCI_LOST),
			family("ub2e_dropped_packets_total", "Packets dropped, by reason", "reason",
			       UB2E_DROP_FIRST, UB2E_FATES - 1),
			loads,
		};
	}

	const Counters &counters;
	std::vector<std::string> names;
	std::array<std::atomic<std::uint64_t>, 2> reloads{};
	std::unique_ptr<prometheus::Exposer> exposer;
};

Metrics::Metrics(const std::string &address, const Counters &counters,
		 std::vector<std::string> names)
	: server_(std::make_shared<Server>(counters, std::move(names)))
{
	try {
		server_->exposer = std::make_unique<prometheus::Exposer>(address, 1);
	} catch (const std::exception &e) {
		throw Failure("metrics at " + address + ": " + e.what());
	}
	server_->exposer->RegisterCollectable(server_);
}

Metrics::~Metrics()
{
	server_->exposer.reset(); // its threads read the rest
}

void Metrics::reloaded(bool good)
{
	++server_->reloads[good];
}

} // namespace uboe::ub2e
