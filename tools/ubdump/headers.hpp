// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The headers of docs/wire.md as tables, and the operations with their chains.
#pragma once

#include "field.hpp"

namespace ubdump
{

// Below IP
extern const Header ethernet, vlan_tag, cooked, cooked2, link_packet, network, network_caqm,
	network_rtt, network_fecn;
extern const Header ipv4, ipv6, udp;
// Transport
extern const Header utph, rtph, cetph, cetph_caqm, cnp, saetph, identity;
// Transactions
extern const Header btah, atah, udetah, taidetah, ofstetah, maetah, mtetah, immetah, invetah,
	ntfetah, tvetah, beetah, operands, payload, pad, tpcm, icrc;
/// What is known of a packet as a whole, and has no bytes.
extern const Header summary;

std::span<const Header *const> all_headers();
/// Fields of this name, or of which it is the short form; they are of one kind.
std::vector<const Spec *> specs_named(std::string_view name);
/// A field of @p header; it has to be there.
const Spec &spec_of(const Header &header, std::string_view name);

enum class Payload : std::uint8_t { none, data, operands };

/// A transaction's opcode.
struct Operation {
	std::uint8_t code;
	const char *name;
	std::uint32_t chain; ///< enum ubp_chain
	Payload payload;
	bool utp; ///< allowed over UTP
	bool be = false; ///< BEETAH behind the chain
};
const Operation *operation_of(std::uint8_t code);
std::span<const Operation> all_operations();

/// Text of a drop reason of docs/wire.md, section 8.
const char *reason_text(std::string_view reason);

extern const Names tp_names, answer_names, fault_names;

} // namespace ubdump
