// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// ICRC, transport header, answers of the transport (docs/wire.md 2, 3 and 7).
#include <algorithm>

#include "walk.hpp"

extern "C" {
#include "ubp_icrc.h"
#include "ubp_psn.h"
}

namespace ubdump
{

namespace
{

constexpr std::uint32_t psn_mask = UB_PSN_MASK, psn_half = (UB_PSN_MASK + 1) / 2;

std::uint32_t rnr_us(std::uint64_t timer)
{
	return 2u << timer;
}

/// "11,13-15": those after @p base, up to @p highest, that the map does not have.
std::string missing_psns(std::uint32_t base, std::uint32_t highest, Bytes map)
{
	const std::uint32_t span = (highest - base) & psn_mask;
	const std::size_t bits = std::min<std::size_t>(map.size() * 8, std::size_t(span) + 1);
	std::string s;

	if (span >= psn_half)
		return s;
	for (std::size_t i = 0, from; i < bits; ++i) {
		for (from = i; i < bits && !(map[i / 8] >> i % 8 & 1);)
			++i;
		if (from == i)
			continue;
		s += (s.empty() ? "" : ",") + std::to_string((base + from) & psn_mask);
		if (i - from > 1)
			s += "-" + std::to_string((base + i - 1) & psn_mask);
	}
	return s;
}

bool status_known(std::uint64_t status, std::uint64_t info)
{
	switch (status) {
	case UB_RSPST_OK:
		return true;
	case UB_RSPST_RNR:
	case UB_RSPST_FAULT:
		return info <= UB_RNR_TIMER_MAX;
	case UB_RSPST_ERROR:
	case UB_RSPST_TA:
		return info <= 2;
	default:
		return false;
	}
}

} // namespace

/// The last four bytes, and whether they are the ICRC of those before.
void Walk::show_icrc(std::size_t ip_at)
{
	end_ -= UB_ICRC_LEN;
	const std::uint8_t *stored = &packet_.frame[end_];
	const std::uint32_t crc = ubp_icrc(&packet_.frame[ip_at], static_cast<u32>(end_ - ip_at));
	const bool fcs = ubp_icrc_load(stored, false) == crc;
	const bool be = ubp_icrc_load(stored, true) == crc;
	const bool right = settings_.icrc_be ? be : fcs;
	Layer &layer = *open(icrc, end_, UB_ICRC_LEN);

	add(layer, "icrc", ubp_icrc_load(stored, settings_.icrc_be));
	add(layer, "icrc.status", std::string(right ? "Good" : "Bad"));
	add(layer, "icrc.ok", std::uint64_t(right));
	if (fcs || be)
		add(layer, "icrc.order", std::string(fcs && be ? "both" : fcs ? "fcs" : "be"));
	if (right)
		return;
	add(layer, "icrc.calc", crc);
	fail("icrc");
}

void Walk::transport()
{
	if (whole_ && left() % 4)
		fail("length");
	const bool utp = left() && !(packet_.frame[at_] & UB_TPH_OPCODE);
	Layer *tph = take(utp ? utph : rtph);

	if (!tph)
		return;
	const std::uint64_t op = value(*tph, "tph.opcode");
	const char *name = name_of(tp_names, op);

	pad_ = value(*tph, "tph.padding");
	rtp_ = op == UB_TP_RTP_DATA;
	packet_.operation = name && op > UB_TP_RTP_DATA ? name : "";
	if (value(*tph, "tph.ver"))
		fail("tp_ver");
	else if (!name)
		fail("tp_opcode");
	else if (op <= UB_TP_RTP_DATA)
		data(*tph);
	else
		control(*tph);
}

void Walk::data(const Layer &tph)
{
	if (rtp_ && value(tph, "tph.fake")) {
		packet_.operation = "Keep-alive";
		at_ = end_; // nobody looks at what follows
		return;
	}
	const std::uint64_t nlp = value(tph, "tph.nlp");

	if (nlp > UB_NLP_IDENT) {
		fail("nlp");
		return;
	}
	if (nlp == UB_NLP_IDENT && !take(identity))
		return;
	transaction();
}

void Walk::answer(Layer &tph)
{
	const std::uint64_t status = value(tph, "tph.rspst"), info = value(tph, "tph.rspinfo");
	static const char *const of_target[] = { "abnormal, again", "abnormal", "done" };

	if (!status_known(status, info)) {
		fail("tp_rspst");
		return;
	}
	if (status == UB_RSPST_RNR || status == UB_RSPST_FAULT) {
		add(tph, "tph.rnr_us", std::uint64_t(rnr_us(info)));
		packet_.note = std::string(name_of(answer_names, status)) + ", wait " +
			       std::to_string(rnr_us(info)) + " us";
	} else if (status == UB_RSPST_ERROR) {
		packet_.operation.replace(0, 5, "TPNAK");
		packet_.note = name_of(fault_names, info);
	} else if (status == UB_RSPST_TA) {
		packet_.note = std::string("target: ") + of_target[info];
	}
}

void Walk::congestion()
{
	take(settings_.caqm ? cetph_caqm : cetph);
}

void Walk::selective(std::uint32_t psn)
{
	if (left() && (packet_.frame[at_] & 7) > UB_SACK_SIZE_MAX && left() >= UB_SAETPH_LEN) {
		take(saetph);
		fail("sack_size");
		at_ = end_;
		return;
	}
	Layer *layer = take(saetph);

	if (!layer)
		return;
	const std::size_t size = std::size_t(8) << value(*layer, "sack.bitmapsize");

	if (left() < size) {
		if (!packet_.cut())
			fail("truncated");
		at_ = end_;
		return;
	}
	const Bytes map = packet_.frame.subspan(at_, size);
	const auto highest = static_cast<std::uint32_t>(value(*layer, "sack.maxrcvpsn"));
	const std::string missing = missing_psns(psn, highest, map);
	std::uint64_t received = 0;

	for (std::uint8_t b : map)
		received += static_cast<unsigned>(__builtin_popcount(b));
	at_ += size;
	layer->size += size;
	add(*layer, "sack.bitmap", map);
	add(*layer, "sack.received", received);
	if (!missing.empty())
		add(*layer, "sack.missing", missing);
	packet_.note =
		"max " + std::to_string(highest) + (missing.empty() ? "" : " missing " + missing);
}

void Walk::control(const Layer &tph)
{
	const std::uint64_t op = value(tph, "tph.opcode");
	const bool ack = op == UB_TP_ACK || op == UB_TP_ACK_CC;
	const bool sack = op == UB_TP_SACK || op == UB_TP_SACK_CC;

	if (ack)
		answer(packet_.layers.back());
	if (op == UB_TP_ACK_CC || op == UB_TP_SACK_CC)
		congestion();
	if (sack)
		selective(static_cast<std::uint32_t>(value(tph, "tph.psn")));
	if (op == UB_TP_CNP) {
		if (const Layer *layer = take(cnp)) {
			const Field &level = layer->fields.front();
			const char *text = name_of(level.spec->names, level.number);

			packet_.note = text ? text : "reserved level";
		}
	}
	if (!whole_)
		return;
	if (pad_)
		fail("pad");
	if (left())
		fail("length");
}

} // namespace ubdump
