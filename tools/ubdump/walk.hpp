// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A decoder in the middle of a packet. Its parts are in decode.cpp (below IP), transport.cpp
// and transaction.cpp; verdict.cpp asks the core.
#pragma once

#include "decode.hpp"

namespace ubdump
{

class Walk
{
      public:
	Walk(Packet &packet, const Settings &settings)
		: packet_(packet), settings_(settings), end_(packet.frame.size())
	{
	}

	void run();

      private:
	// decode.cpp
	void frame();
	void by_type(std::uint16_t type);
	void native();
	void ip();
	void ip4_header(Bytes ip);
	void ip6_header(Bytes ip);
	void udp_header(std::size_t ip_at, std::size_t ip_size);
	bool outer_lengths(std::size_t ip_at, std::size_t ip_size, const Layer &udp);
	void end_of(std::size_t ip_at, Layer &udp);
	void summarise();

	// transport.cpp
	void show_icrc(std::size_t ip_at);
	void transport();
	void control(const Layer &tph);
	void answer(Layer &tph);
	void congestion();
	void selective(std::uint32_t psn);
	void data(const Layer &tph);

	// transaction.cpp
	void transaction();
	bool request(const Operation &op);
	void response(const Layer &atah);
	void extensions(const Operation &op);
	bool extension(const Header &header);
	void show_sub_operation(const Layer &udetah);
	void byte_enables();
	void rest(const Operation &op);
	void check_operands(std::size_t at, std::size_t size);
	void set_up(std::size_t at, std::size_t size);

	// verdict.cpp
	std::string judge(Bytes ip) const;
	std::string judge_data(Bytes ip, std::size_t from, std::size_t size, bool utp) const;
	void settle(std::size_t ip_at);

	std::size_t left() const
	{
		return end_ - at_;
	}
	/// The first reason counts.
	void fail(std::string_view reason);
	/// The next header with its fields; null, and the walk ends, when it is not all there.
	Layer *take(const Header &header);
	Layer *open(const Header &header, std::size_t at, std::size_t size);
	std::uint64_t value(const Layer &layer, std::string_view name) const;
	static void add(Layer &layer, std::string_view name, std::uint64_t number);
	static void add(Layer &layer, std::string_view name, std::string text);
	static void add(Layer &layer, std::string_view name, Bytes raw);

	Packet &packet_;
	const Settings &settings_;
	std::size_t at_ = 0;
	std::size_t end_; ///< of what may be read
	bool whole_ = false; ///< end_ is where the ICRC begins
	bool rtp_ = false;
	std::size_t pad_ = 0;
	// of the transaction
	bool has_token_ = false, refused_ = false;
	std::uint64_t addr_ = 0, length_ = 0, target_ = ~0ull;
};

} // namespace ubdump
