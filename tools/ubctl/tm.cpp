// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "tm.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <limits>

#include <rdma/uboe-netlink.h>
#include <ub/uboe_mbox.h>

namespace ubctl
{

namespace
{

enum Levels : unsigned {
	port = 1u << UBOE_TML_PORT,
	group = 1u << UBOE_TML_GROUP,
	function = 1u << UBOE_TML_FUNCTION,
	queue = 1u << UBOE_TML_QSET,
	jetty = 1u << UBOE_TML_JETTY,
	tree = port | group | function | queue,
};

struct Level {
	std::uint32_t level;
	const char *name;
	std::uint32_t last; // number
	const char *parent; // key that names it, nullptr: there is no choice
};
constexpr Level levels[] = {
	{ UBOE_TML_PORT, "port", 0, nullptr },
	{ UBOE_TML_GROUP, "group", UBOE_TM_GROUPS - 1, nullptr },
	{ UBOE_TML_FUNCTION, "function", UBOE_TM_FUNCTIONS - 1, "group" },
	{ UBOE_TML_QSET, "queue", UBOE_TM_QSETS - 1, "function" },
	{ UBOE_TML_JETTY, "jetty", 0xfffff, "function" },
};

enum class Unit { number, rate, bytes };

struct Key {
	const char *name;
	int attribute;
	unsigned levels;
	bool may_change;
	Unit unit;
	std::uint32_t least;
	std::uint32_t most;
	const char *range;
};
constexpr Key keys[] = {
	{ "group", UBOE_GENL_A_PARENT, function, false, Unit::number, 0, 31, "0 to 31" },
	{ "function", UBOE_GENL_A_PARENT, queue | jetty, false, Unit::number, 0, 63, "0 to 63" },
	{ "vl", UBOE_GENL_A_VL, queue, false, Unit::number, 0, 15, "0 to 15" },
	{ "priority", UBOE_GENL_A_PRIO, tree & ~port, true, Unit::number, 0, UBOE_TM_MAX_PRIO,
	  "0 to 7" },
	{ "weight", UBOE_GENL_A_WEIGHT, tree & ~port, true, Unit::number, 1, UBOE_TM_MAX_WEIGHT,
	  "1 to 255" },
	{ "rate", UBOE_GENL_A_PEAK_KBPS, tree | jetty, true, Unit::rate, UBOE_TM_MIN_KBPS,
	  UBOE_TM_MAX_KBPS, "1mbit to 200gbit, or 0 for none" },
	{ "burst", UBOE_GENL_A_PEAK_BURST, tree | jetty, true, Unit::bytes, 0, UBOE_TM_MAX_BURST,
	  "0 to 64m bytes, with rate" },
	{ "promise", UBOE_GENL_A_COMMITTED_KBPS, group | function, true, Unit::rate,
	  UBOE_TM_MIN_KBPS, UBOE_TM_MAX_KBPS, "1mbit to 200gbit, or 0 for none" },
	{ "promise-burst", UBOE_GENL_A_COMMITTED_BURST, group | function, true, Unit::bytes, 0,
	  UBOE_TM_MAX_BURST, "0 to 64m bytes, with promise" },
};
constexpr char map_range[] = "SL:VL,..., each 0 to 15 and each SL once; the others have VL 0";

struct Suffix {
	const char *text;
	double factor;
};
constexpr Suffix rates[] = { { "", 1 }, { "kbit", 1 }, { "mbit", 1e3 }, { "gbit", 1e6 } };
constexpr Suffix sizes[] = { { "", 1 }, { "k", 1024 }, { "m", 1024 * 1024 } };

const std::vector<Column> columns{
	{ "DEVICE", "/device" },    { "NODE", "/node" },      { "NUMBER", "/number" },
	{ "PARENT", "/parent" },    { "VL", "/vl" },	      { "PRIORITY", "/priority" },
	{ "WEIGHT", "/weight" },    { "RATE", "/rate_text" }, { "PROMISE", "/promise_text" },
	{ "SL:VL", "/sl_vl_text" }, { "SENT", "/sent" },      { "WAITING", "/waiting" },
};

const Level *level_of(std::uint32_t number)
{
	const auto *l = std::find_if(std::begin(levels), std::end(levels),
				     [number](const Level &x) { return x.level == number; });

	return l == std::end(levels) ? nullptr : l;
}

[[noreturn]] void refuse(const std::string &word, const std::string &wanted)
{
	throw Usage("'" + word + "': " + wanted);
}

/// All of @p text, as a number and one of the suffixes; nothing: it is none.
template <std::size_t n>
std::optional<double> scaled(const std::string &text, const Suffix (&suffixes)[n])
{
	double number = 0;
	const char *const last = text.data() + text.size();
	const auto [end, error] =
		std::from_chars(text.data(), last, number, std::chars_format::fixed);

	if (error == std::errc())
		for (const Suffix &s : suffixes)
			if (std::string(end, last) == s.text && number >= 0)
				return std::round(number * s.factor);
	return std::nullopt;
}

std::optional<std::uint32_t> whole(const std::string &text)
{
	std::uint32_t number = 0;
	const char *const last = text.data() + text.size();
	const auto [end, error] = std::from_chars(text.data(), last, number);

	if (error != std::errc() || end != last)
		return std::nullopt;
	return number;
}

std::uint32_t value_of(const Key &key, const std::string &word, const std::string &text)
{
	std::optional<double> v;

	if (key.unit == Unit::rate)
		v = scaled(text, rates);
	else if (key.unit == Unit::bytes)
		v = scaled(text, sizes);
	else
		v = whole(text);
	const bool none = v && *v == 0 && key.unit == Unit::rate;

	if (!v || (!none && (*v < key.least || *v > key.most)))
		refuse(word, std::string(key.name) + " is " + key.range);
	return static_cast<std::uint32_t>(*v);
}

std::vector<std::uint8_t> map_of(const std::string &word, const std::string &text)
{
	std::vector<std::uint8_t> map(16, 0);
	std::uint32_t seen = 0;
	std::size_t at = 0;

	while (at <= text.size()) {
		const std::size_t end = std::min(text.find(',', at), text.size());
		const std::string pair = text.substr(at, end - at);
		const std::size_t colon = pair.find(':');
		const auto sl = whole(pair.substr(0, colon));
		const auto vl = colon == pair.npos ? std::nullopt : whole(pair.substr(colon + 1));

		if (!sl || !vl || *sl > 15 || *vl > 15 || seen & 1u << *sl)
			refuse(word, std::string("sl-vl is ") + map_range);
		seen |= 1u << *sl;
		map[*sl] = static_cast<std::uint8_t>(*vl);
		at = end + 1;
	}
	return map;
}

void add_value(TmWish &w, TmVerb verb, const std::string &word)
{
	const std::size_t eq = word.find('=');
	const std::string name = word.substr(0, eq);
	const std::string text = eq == word.npos ? "" : word.substr(eq + 1);
	const Level &l = *level_of(w.level);

	if (verb == TmVerb::remove)
		refuse(word, "delete has no values");
	if (name == "sl-vl" && eq != word.npos) {
		if (w.level != UBOE_TML_FUNCTION)
			refuse(word, std::string("sl-vl is for a function, not a ") + l.name);
		if (w.sl_vl)
			refuse(word, "it is there twice");
		w.sl_vl = map_of(word, text);
		return;
	}
	const auto *key = std::find_if(std::begin(keys), std::end(keys),
				       [&name](const Key &k) { return name == k.name; });

	if (eq == word.npos || key == std::end(keys))
		refuse(word,
		       "KEY=VALUE with rate, burst, promise, promise-burst, priority, weight, "
		       "sl-vl, group, function or vl");
	if (!(key->levels & 1u << w.level))
		refuse(word, "a " + std::string(l.name) + " has no " + name);
	if (verb == TmVerb::set && !key->may_change)
		refuse(word, name + " is given by add, and stays");
	if (!w.values.emplace(key->attribute, value_of(*key, word, text)).second)
		refuse(word, "it is there twice");
}

void check(const TmWish &w, TmVerb verb)
{
	const Level &l = *level_of(w.level);
	const auto get = [&w](int a) { return w.values.count(a) ? w.values.at(a) : 0; };

	if (verb == TmVerb::add && l.parent && w.level != UBOE_TML_JETTY &&
	    !w.values.count(UBOE_GENL_A_PARENT))
		throw Usage(std::string(l.parent) + ": a " + l.name + " needs it, as " + l.parent +
			    "=0");
	if (w.values.count(UBOE_GENL_A_PEAK_BURST) && !w.values.count(UBOE_GENL_A_PEAK_KBPS))
		throw Usage("burst: it comes with rate");
	if (w.values.count(UBOE_GENL_A_COMMITTED_BURST) &&
	    !w.values.count(UBOE_GENL_A_COMMITTED_KBPS))
		throw Usage("promise-burst: it comes with promise");
	if (get(UBOE_GENL_A_PEAK_KBPS) &&
	    get(UBOE_GENL_A_COMMITTED_KBPS) > get(UBOE_GENL_A_PEAK_KBPS))
		throw Usage("promise: more than rate");
	if (verb == TmVerb::set && w.values.empty() && !w.sl_vl)
		throw Usage("set: what? KEY=VALUE, as rate=1gbit");
}

} // namespace

TmWish parse_tm(TmVerb verb, const Words &words)
{
	TmWish w;
	std::size_t next = 1;

	if (words.empty())
		throw Usage("a node: port, or group, function, queue or jetty and its number");
	const auto *l = std::find_if(std::begin(levels), std::end(levels),
				     [&words](const Level &x) { return words[0] == x.name; });

	if (l == std::end(levels))
		refuse(words[0],
		       "a node is port, or group, function, queue or jetty and its number");
	w.level = l->level;
	if (w.level != UBOE_TML_PORT) {
		const auto number = words.size() > 1 ? whole(words[1]) : std::nullopt;

		if (!number || *number > l->last)
			refuse(words.size() > 1 ? words[1] : words[0],
			       "the number of a " + words[0] + " is 0 to " +
				       std::to_string(l->last));
		w.number = *number;
		next = 2;
	}
	for (; next < words.size(); ++next)
		add_value(w, verb, words[next]);
	check(w, verb);
	return w;
}

namespace
{

std::string rate_text(std::uint32_t kbps)
{
	char room[32];
	const char *unit = "kbit";
	double value = kbps;

	if (kbps >= 1000000)
		value /= 1e6, unit = "gbit";
	else if (kbps >= 1000)
		value /= 1e3, unit = "mbit";
	const auto end = std::to_chars(room, room + sizeof(room), value).ptr;

	return std::string(room, end) + unit;
}

/// A rate in bits a second; none when there is no limit.
void add_rate(Json &row, const Attributes &a, const std::string &name, int rate, int burst)
{
	const auto kbps = a.u32(rate);

	if (!kbps)
		return;
	row[name + "_bps"] = std::uint64_t{ *kbps } * 1000;
	row[name + "_burst"] = a.u32(burst).value_or(0);
	if (*kbps)
		row[name + "_text"] = rate_text(*kbps);
}

void add_map(Json &row, const Attributes &a)
{
	const auto map = a.bytes(UBOE_GENL_A_SL_VL);
	std::string text;

	if (!map)
		return;
	row["sl_vl"] = *map;
	for (std::size_t sl = 0; sl < map->size(); ++sl)
		if ((*map)[sl])
			text += (text.empty() ? "" : ",") + std::to_string(sl) + ":" +
				std::to_string((*map)[sl]);
	if (!text.empty())
		row["sl_vl_text"] = text;
}

Json row_of(const std::string &device, const Attributes &a)
{
	const Level *l = level_of(a.u32(UBOE_GENL_A_LEVEL).value_or(0));
	Json row{ { "device", device } };

	row["node"] = l ? l->name : "?";
	row["number"] = a.u32(UBOE_GENL_A_NUMBER).value_or(0);
	for (const auto &[name, attribute] : { std::pair{ "parent", UBOE_GENL_A_PARENT },
					       { "vl", UBOE_GENL_A_VL },
					       { "priority", UBOE_GENL_A_PRIO },
					       { "weight", UBOE_GENL_A_WEIGHT } })
		if (const auto v = a.u32(attribute))
			row[name] = *v;
	add_rate(row, a, "rate", UBOE_GENL_A_PEAK_KBPS, UBOE_GENL_A_PEAK_BURST);
	add_rate(row, a, "promise", UBOE_GENL_A_COMMITTED_KBPS, UBOE_GENL_A_COMMITTED_BURST);
	add_map(row, a);
	row["sent"] = a.u64(UBOE_GENL_A_SENT).value_or(0);
	row["waiting"] = a.u32(UBOE_GENL_A_WAITING).value_or(0);
	return row;
}

Generic connect()
{
	try {
		return Generic(UBOE_GENL_NAME);
	} catch (const NetlinkError &e) {
		if (e.code() == ENOENT)
			throw std::runtime_error(
				"the kernel's uboe has no traffic management: it is "
				"older than this ubctl, or not loaded");
		throw;
	}
}

void show(const Output &output, const std::string &device)
{
	Nldev nldev = connect_for(device);
	Rows rows;

	for (const KernelDevice &d : kernel_devices(nldev, device)) {
		if (d.is_foreign())
			continue;
		connect().dump(UBOE_GENL_CMD_TM_GET, Request().text(UBOE_GENL_A_DEVICE, d.name),
			       [&](const Attributes &a) { rows.push_back(row_of(d.name, a)); });
	}
	if (output.json)
		for (Json &row : rows)
			for (const char *text : { "rate_text", "promise_text", "sl_vl_text" })
				row.erase(text);
	print(output, rows, columns);
}

void execute(TmVerb verb, std::uint8_t command, const Words &words)
{
	if (words.size() < 2)
		throw Usage("tm add, set or delete: DEVICE NODE, as uboe0 port");
	const TmWish w = parse_tm(verb, Words(words.begin() + 1, words.end()));
	Nldev nldev = connect_for(words[0]);
	const KernelDevice d = kernel_devices(nldev, words[0]).front();
	Request request;

	if (d.is_foreign())
		throw std::runtime_error(d.name + ": it is no uboe device");
	request.text(UBOE_GENL_A_DEVICE, d.name)
		.u32(UBOE_GENL_A_LEVEL, w.level)
		.u32(UBOE_GENL_A_NUMBER, w.number);
	for (const auto &[attribute, value] : w.values)
		request.u32(attribute, value);
	if (w.sl_vl)
		request.bytes(UBOE_GENL_A_SL_VL, *w.sl_vl);
	try {
		connect().execute(command, request);
	} catch (const NetlinkError &e) {
		if (e.code() == EPERM || e.code() == EACCES)
			throw std::runtime_error("no permission: CAP_NET_ADMIN of the machine, as "
						 "root has, is needed");
		throw std::runtime_error(d.name + " " + level_of(w.level)->name + " " +
					 std::to_string(w.number) + ": " + e.what());
	}
}

} // namespace

void traffic(const Output &output, const Words &words)
{
	const std::string what = words.empty() ? "show" : words[0];
	const Words rest(words.begin() + !words.empty(), words.end());

	if (what == "add")
		execute(TmVerb::add, UBOE_GENL_CMD_TM_NEW, rest);
	else if (what == "set")
		execute(TmVerb::set, UBOE_GENL_CMD_TM_SET, rest);
	else if (what == "delete" || what == "del")
		execute(TmVerb::remove, UBOE_GENL_CMD_TM_DEL, rest);
	else
		show(output, shown_device(words));
}

} // namespace ubctl
