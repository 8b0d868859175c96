// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Objects of kernel devices by restrack: jetties are its QPs, JFCs its CQs, JFRs its
// SRQs, segments its MRs.
#include "commands.hpp"

#include <fstream>

#include <ub/uboe_mbox.h>

#include "names.hpp"

namespace ubctl
{

namespace
{

constexpr unsigned token_shift = 12; // rkey = TokenID << 12 | key (decision 0003)

const std::vector<Column> jetty_columns{
	{ "DEVICE", "/device" },    { "JETTY", "/jetty" },     { "TYPE", "/type" },
	{ "STATE", "/state" },	    { "PEER", "/peer_jetty" }, { "TP", "/tp" },
	{ "RQ", "/receive_queue" }, { "SQ-PSN", "/send_psn" }, { "RQ-PSN", "/receive_psn" },
	{ "PID", "/pid" },	    { "PROGRAM", "/program" },
};
const std::vector<Column> tp_columns{
	{ "DEVICE", "/device" },   { "TP", "/tp" },	  { "JETTY", "/jetty" },
	{ "PEER", "/peer_jetty" }, { "STATE", "/state" }, { "PID", "/pid" },
	{ "PROGRAM", "/program" },
};
const std::vector<Column> jfc_columns{
	{ "DEVICE", "/device" },   { "JFC", "/jfc" },	      { "DEPTH", "/depth" },
	{ "USERS", "/users" },	   { "CONTEXT", "/context" }, { "PID", "/pid" },
	{ "PROGRAM", "/program" },
};
const std::vector<Column> jfr_columns{
	{ "DEVICE", "/device" },   { "JFR", "/jfr" }, { "TYPE", "/type" },
	{ "JETTIES", "/jetties" }, { "PD", "/pd" },   { "PID", "/pid" },
	{ "PROGRAM", "/program" },
};
const std::vector<Column> segment_columns{
	{ "DEVICE", "/device" },     { "SEGMENT", "/segment" }, { "LENGTH", "/length" },
	{ "TOKEN-ID", "/token_id" }, { "RKEY", "/rkey" },	{ "PD", "/pd" },
	{ "PID", "/pid" },	     { "PROGRAM", "/program" },
};

/// Fields that are copied as they are.
struct Field {
	const char *name;
	int type;
};

void copy_numbers(Json &row, const Attributes &a, std::initializer_list<Field> fields)
{
	for (const Field &f : fields) {
		if (const auto four = a.u32(f.type))
			row[f.name] = *four;
		else if (const auto eight = a.u64(f.type))
			row[f.name] = *eight;
	}
}

/// Which process has it. That of another PID namespace has no number here.
void add_owner(Json &row, const Attributes &a)
{
	if (const auto kernel = a.text(RDMA_NLDEV_ATTR_RES_KERN_NAME)) {
		row["program"] = "[" + *kernel + "]";
		return;
	}
	const auto pid = a.u32(RDMA_NLDEV_ATTR_RES_PID);
	std::string name;

	if (!pid)
		return;
	row["pid"] = *pid;
	std::ifstream comm("/proc/" + std::to_string(*pid) + "/comm");

	if (std::getline(comm, name))
		row["program"] = name;
}

/// What the driver adds: names, each followed by its value, a way to print it between.
void add_driver_fields(Json &row, const Attributes &a)
{
	std::string name;
	bool as_hex = false;

	for (const nlattr *child : a.children(RDMA_NLDEV_ATTR_DRIVER)) {
		const int type = child->nla_type & NLA_TYPE_MASK;
		const auto value = number_of(child);

		if (type == RDMA_NLDEV_ATTR_DRIVER_STRING) {
			name = text_of(child).value_or("");
			as_hex = false;
		} else if (type == RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE) {
			as_hex = value == RDMA_NLDEV_PRINT_TYPE_HEX;
		} else if (value && !name.empty()) {
			if (as_hex)
				row[name] = hex(*value);
			else
				row[name] = *value;
			name.clear();
		}
	}
}

/// What the driver calls @p from; @p none: there is none.
void rename(Json &row, const char *from, const char *to, const Json &none)
{
	if (!row.contains(from))
		return;
	row[to] = row[from] == none ? Json() : row[from];
	row.erase(from);
}

Json jetty_row(const KernelDevice &d, const Attributes &a)
{
	Json row{ { "device", d.name } };

	copy_numbers(row, a, { { "jetty", RDMA_NLDEV_ATTR_RES_LQPN } });
	if (const auto type = a.u8(RDMA_NLDEV_ATTR_RES_TYPE))
		row["type"] = jetty_type_name(*type);
	if (const auto state = a.u8(RDMA_NLDEV_ATTR_RES_STATE))
		row["state"] = jetty_state_name(*state);
	copy_numbers(row, a,
		     { { "peer_jetty", RDMA_NLDEV_ATTR_RES_RQPN },
		       { "send_psn", RDMA_NLDEV_ATTR_RES_SQ_PSN },
		       { "receive_psn", RDMA_NLDEV_ATTR_RES_RQ_PSN },
		       { "pd", RDMA_NLDEV_ATTR_RES_PDN } });
	add_driver_fields(row, a);
	if (row.contains("kind")) { // of those that verbs calls DRIVER
		row["type"] = row["kind"] == UBOE_JETTY_UM ? "UM" : "RM";
		row.erase("kind");
	}
	rename(row, "tpn", "tp", "0x0");
	// the device's number of a queue of its own, which no list has
	rename(row, "jfr", "receive_queue", 0);
	add_owner(row, a);
	return row;
}

Json jfc_row(const KernelDevice &d, const Attributes &a)
{
	Json row{ { "device", d.name } };

	copy_numbers(row, a,
		     { { "jfc", RDMA_NLDEV_ATTR_RES_CQN },
		       { "depth", RDMA_NLDEV_ATTR_RES_CQE },
		       { "users", RDMA_NLDEV_ATTR_RES_USECNT },
		       { "context", RDMA_NLDEV_ATTR_RES_CTXN } });
	add_driver_fields(row, a);
	add_owner(row, a);
	return row;
}

/// "7", or "7-9": jetties that take receives from it.
Json jetties_of_jfr(const Attributes &a)
{
	Json all = Json::array();

	for (const nlattr *child : a.children(RDMA_NLDEV_ATTR_RES_QP)) {
		const Attributes entry(child);
		const auto one = entry.u32(RDMA_NLDEV_ATTR_RES_LQPN);
		const auto first = entry.u32(RDMA_NLDEV_ATTR_MIN_RANGE);
		const auto last = entry.u32(RDMA_NLDEV_ATTR_MAX_RANGE);

		if (one)
			all.push_back(std::to_string(*one));
		else if (first && last)
			all.push_back(std::to_string(*first) + "-" + std::to_string(*last));
	}
	return all;
}

Json jfr_row(const KernelDevice &d, const Attributes &a)
{
	Json row{ { "device", d.name } };

	copy_numbers(row, a, { { "jfr", RDMA_NLDEV_ATTR_RES_SRQN } });
	if (const auto type = a.u8(RDMA_NLDEV_ATTR_RES_TYPE))
		row["type"] = jfr_type_name(*type);
	row["jetties"] = jetties_of_jfr(a);
	copy_numbers(row, a,
		     { { "pd", RDMA_NLDEV_ATTR_RES_PDN }, { "jfc", RDMA_NLDEV_ATTR_RES_CQN } });
	add_driver_fields(row, a);
	add_owner(row, a);
	return row;
}

Json segment_row(const KernelDevice &d, const Attributes &a)
{
	Json row{ { "device", d.name } };

	copy_numbers(row, a,
		     { { "segment", RDMA_NLDEV_ATTR_RES_MRN },
		       { "length", RDMA_NLDEV_ATTR_RES_MRLEN },
		       { "pd", RDMA_NLDEV_ATTR_RES_PDN } });
	// keys are told to the administrator only
	if (const auto rkey = a.u32(RDMA_NLDEV_ATTR_RES_RKEY)) {
		row["rkey"] = hex(*rkey);
		if (!d.is_foreign())
			row["token_id"] = hex(*rkey >> token_shift);
	}
	add_driver_fields(row, a);
	add_owner(row, a);
	return row;
}

struct Kind {
	rdma_nldev_command command;
	int table;
	Json (*row)(const KernelDevice &, const Attributes &);
};

constexpr Kind jetties{ RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, jetty_row };
constexpr Kind jfcs{ RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, jfc_row };
constexpr Kind jfrs{ RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, jfr_row };
constexpr Kind segments{ RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, segment_row };

Rows rows_of(const Kind &kind, const std::string &device)
{
	Nldev nldev = connect_for(device);
	Rows rows;

	for (const KernelDevice &d : kernel_devices(nldev, device))
		nldev.objects(d, kind.command, kind.table,
			      [&](const Attributes &a) { rows.push_back(kind.row(d, a)); });
	return rows;
}

} // namespace

void show_jetties(const Output &output, const std::string &device)
{
	print(output, rows_of(jetties, device), jetty_columns);
}

/// The kernel has no list of them; each jetty names its own once it is made.
void show_tps(const Output &output, const std::string &device)
{
	Rows rows = rows_of(jetties, device);

	std::erase_if(rows, [](const Json &row) {
		return !row.contains("tp") || row.at("tp").is_null();
	});
	print(output, rows, tp_columns);
}

void show_jfcs(const Output &output, const std::string &device)
{
	print(output, rows_of(jfcs, device), jfc_columns);
}

void show_jfrs(const Output &output, const std::string &device)
{
	Rows rows = rows_of(jfrs, device);

	if (!output.json) {
		for (Json &row : rows) {
			std::string all;

			for (const Json &j : row["jetties"])
				all += (all.empty() ? "" : ",") + j.get<std::string>();
			row["jetties"] = all;
		}
	}
	print(output, rows, jfr_columns);
}

void show_segments(const Output &output, const std::string &device)
{
	print(output, rows_of(segments, device), segment_columns);
}

} // namespace ubctl
