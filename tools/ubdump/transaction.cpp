// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Transactions, payload, set-up messages (docs/wire.md 4 to 6).
#include <bit>

#include "walk.hpp"

extern "C" {
#include "ubp_pkt.h"
}

namespace ubdump
{

namespace
{

constexpr std::size_t largest_be = 128;

bool is_done(std::uint64_t status)
{
	return status == UB_RSPST_OK || status == UB_RSPST_TA;
}

bool answer_known(std::uint64_t status, std::uint64_t info)
{
	if (status == UB_RSPST_ERROR)
		return info == UB_RSPINFO_UNSUPPORTED || info == UB_RSPINFO_ABORT;
	if (status == UB_RSPST_RNR || status == UB_RSPST_FAULT)
		return info <= UB_RNR_TIMER_MAX;
	return is_done(status);
}

} // namespace

void Walk::transaction()
{
	const Operation *op = left() ? operation_of(packet_.frame[at_]) : nullptr;
	const bool is_answer = op && op->chain & UBP_H_ATAH;
	Layer *tah = take(is_answer ? atah : btah);

	if (!tah)
		return;
	if (!op) {
		fail("ta_opcode");
		return;
	}
	packet_.operation = op->name;
	if (value(*tah, "tah.ver"))
		fail("ta_ver");
	if (!rtp_ && !op->utp)
		fail("ta_mode");
	if (is_answer)
		response(*tah);
	else if (!request(*op))
		return;
	extensions(*op);
}

/// Flags of a BTAH; false when the chain ends here.
bool Walk::request(const Operation &op)
{
	const Layer &tah = packet_.layers.back();
	const bool target = op.chain & UBP_H_MT;

	has_token_ = value(tah, "tah.tv_en");
	if (value(tah, "tah.ee") != UB_BTAH_EE_PLAIN >> 4)
		fail("ta_ee");
	if (value(tah, "tah.rctype") == 3 || (target && !value(tah, "tah.mt_en")))
		fail("ta_flags");
	return !value(tah, "tah.ud_flag") || extension(udetah);
}

void Walk::response(const Layer &tah)
{
	const std::uint64_t status = value(tah, "tah.rspst"), info = value(tah, "tah.rspinfo");

	refused_ = !is_done(status);
	if (!answer_known(status, info))
		fail("ta_rspst");
	if (value(tah, "tah.rctype") == 3)
		fail("ta_flags");
	if (!answer_known(status, info))
		return;
	if (status == UB_RSPST_RNR || status == UB_RSPST_FAULT) {
		add(packet_.layers.back(), "tah.rnr_us", std::uint64_t(2u << info));
		packet_.note = std::string(name_of(answer_names, status)) + ", wait " +
			       std::to_string(2u << info) + " us";
	} else if (status == UB_RSPST_ERROR) {
		packet_.note = name_of(fault_names, info);
	} else if (info) {
		packet_.note = "and " + std::to_string(info) + " more";
	}
}

/// "ADD" of an Atomic_store, "reduce SMAX fp32".
void Walk::show_sub_operation(const Layer &layer)
{
	const bool reduces = value(layer, "tah.ud.class") == UB_UD_CLASS_REDUCE;
	const auto name = [&](const char *field) {
		const char *text = name_of(spec_of(udetah, field).names, value(layer, field));

		return std::string(text ? text : "?");
	};

	if (reduces)
		packet_.note = "reduce " + name("tah.ud.subop") + ' ' + name("tah.ud.dtype");
	else if (packet_.operation == "Atomic_store" || packet_.operation == "Atomic_load")
		packet_.note = name("tah.ud.subop");
}

bool Walk::extension(const Header &header)
{
	const Layer *layer = take(header);

	if (!layer)
		return false;
	if (&header == &mtetah) {
		target_ = value(*layer, "tah.mt.tcid");
		if (value(*layer, "tah.mt.type") == 3)
			fail("ta_flags");
	} else if (&header == &udetah) {
		show_sub_operation(*layer);
	} else if (&header == &maetah) {
		addr_ = value(*layer, "tah.addr");
		length_ = value(*layer, "tah.length");
	}
	return true;
}

void Walk::extensions(const Operation &op)
{
	const bool invalidates = op.code == UB_TA_SEND_INV;
	const struct {
		std::uint32_t bit;
		const Header &header;
	} chain[] = {
		{ UBP_H_TAID, taidetah },
		{ UBP_H_MT, mtetah },
		{ UBP_H_OFST, ofstetah },
		{ UBP_H_MA, maetah },
		{ UBP_H_IMM, invalidates ? invetah : immetah },
		{ UBP_H_NTF, ntfetah },
	};

	for (const auto &c : chain)
		if (op.chain & c.bit && !extension(c.header))
			return;
	// Prefetch_tgt names nobody's token
	if (has_token_ && op.code != UB_TA_PREFETCH && op.code != UB_TA_MGMT && !extension(tvetah))
		return;
	if (op.be)
		byte_enables();
	if (whole_)
		rest(op);
}

/// The smallest size that has a bit for each byte.
void Walk::byte_enables()
{
	std::size_t size = 8;

	while (size * 8 < length_ && size <= largest_be)
		size *= 2;
	if (size > largest_be) {
		fail("length");
		return;
	}
	if (left() < size) {
		if (!packet_.cut())
			fail("truncated");
		at_ = end_;
		return;
	}
	add(*open(beetah, at_, size), "tah.be", packet_.frame.subspan(at_, size));
	at_ += size;
}

/// Payload and pad.
void Walk::rest(const Operation &op)
{
	if (pad_ > left() || (pad_ && pad_ == left())) {
		fail("pad");
		return;
	}
	const std::size_t from = at_, size = left() - pad_;

	if (size && (op.payload == Payload::none || refused_))
		fail("length");
	Layer *layer = open(payload, from, size);

	add(*layer, "payload.length", std::uint64_t(size));
	if (size)
		add(*layer, "payload", packet_.frame.subspan(from, size));
	if (pad_)
		add(*open(pad, from + size, pad_), "pad", packet_.frame.subspan(from + size, pad_));
	at_ = end_;
	if (op.payload == Payload::operands)
		check_operands(from, size);
	if (!rtp_ && op.code == UB_TA_SEND && !target_ && size >= 4 &&
	    number_of(packet_.frame.subspan(from, 4)) == UB_TPCM_MAGIC)
		set_up(from, size);
}

void Walk::check_operands(std::size_t at, std::size_t size)
{
	if (length_ > 64 || !std::has_single_bit(length_) || size != 2 * length_ ||
	    addr_ % length_) {
		fail("atomic");
		return;
	}
	Layer *layer = open(operands, at, size);

	add(*layer, "atomic.op1", packet_.frame.subspan(at, size / 2));
	add(*layer, "atomic.op2", packet_.frame.subspan(at + size / 2, size / 2));
}

void Walk::set_up(std::size_t at, std::size_t size)
{
	packet_.operation = "TPCM";
	if (size != tpcm.size) {
		fail("tpcm");
		return;
	}
	at_ = at;
	const Layer *layer = take(tpcm);
	const std::uint64_t type = value(*layer, "tpcm.type"), mtu = value(*layer, "tpcm.mtu");
	const char *name = name_of(spec_of(tpcm, "tpcm.type").names, type);

	at_ = end_;
	if (name)
		packet_.note = name;
	if (value(*layer, "tpcm.ver") != UB_TPCM_VERSION || !name || mtu < 1 || mtu > 6)
		fail("tpcm");
}

} // namespace ubdump
