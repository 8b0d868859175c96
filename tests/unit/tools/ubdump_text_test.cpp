// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What people give to ubdump: filters, and packets as text. */
#include <gtest/gtest.h>

#include <sstream>

#include "error.hpp"
#include "filter.hpp"
#include "hextext.hpp"
#include "ubdump_rig.hpp"

using namespace dump_test;

namespace
{

bool holds(const std::string &filter, const Bytes &frame, Link link = Link::ip)
{
	Packet p = decode(frame, link);

	p.number = 12;
	return ubdump::Filter(filter).holds(p);
}

TEST(Filter, ComparesFields)
{
	const Bytes w = packet("W.4");

	for (const char *f : { "",
			       "opcode == write",
			       "opcode == WRITE",
			       "opcode == \"Write\"",
			       "tah.opcode == write",
			       "tah.opcode == 3",
			       "tah.opcode == 0x3",
			       "psn == 10",
			       "psn > 9",
			       "psn >= 10",
			       "psn < 11",
			       "psn <= 10",
			       "psn != 11",
			       "psn & 2",
			       "src == 192.0.2.1",
			       "src == 192.0.2.0/24",
			       "src == 0.0.0.0/0",
			       "dst != 10.0.0.1",
			       "icrc.ok",
			       "icrc.ok == true",
			       "!(icrc.ok == false)",
			       "last",
			       "!tph.fake",
			       "len == 5",
			       "addr == 0x700000001000",
			       "token == 0xabc",
			       "payload == 55426f4521",
			       "payload == 55:42:6f:45:21",
			       "payload != 00",
			       "verdict == taken",
			       "!drop",
			       "udp.csum == absent",
			       "number == 12",
			       "number < 13",
			       "tph.opcode == rtp" }) {
		EXPECT_TRUE(holds(f, w)) << f;
	}
	for (const char *f :
	     { "opcode == read", "opcode != write", "psn > 10", "psn & 4", "src == 192.0.2.2",
	       "src == 192.0.2.0/32", "src == 2001:db8::1", "!icrc.ok", "drop", "tph.fake",
	       "payload == 55", "number == 13", "sack.missing != 1", "tah.mt.type == group" }) {
		EXPECT_FALSE(holds(f, w)) << f;
	}
}

TEST(Filter, JoinsAndNegates)
{
	const Bytes w = packet("W.6");

	EXPECT_TRUE(holds("opcode == write && psn > 1 && src == 2001:db8::/64 && icrc.ok", w));
	EXPECT_TRUE(holds("opcode == read || psn == 10 && last", w));
	EXPECT_FALSE(holds("(opcode == read || psn == 10) && !last", w));
	EXPECT_TRUE(holds("not opcode == read and (psn == 1 or psn == 10)", w));
	EXPECT_TRUE(holds("!!icrc.ok", w));
	EXPECT_TRUE(holds("! ! (((icrc.ok)))", w));
}

TEST(Filter, LooksAtEachTag)
{
	const Bytes f = ethernet(packet("W.4"), { 0x88a8, 7, 0x8100, 42 });

	EXPECT_TRUE(holds("vlan == 7", f, Link::ethernet));
	EXPECT_TRUE(holds("vlan == 42", f, Link::ethernet));
	EXPECT_FALSE(holds("vlan == 8", f, Link::ethernet));
	EXPECT_TRUE(holds("eth.src == 02:00:00:00:00:01", f, Link::ethernet));
	EXPECT_TRUE(holds("native && vl == 5 && partition == 0xabcdef && npi.low",
			  native(packet("W.4")), Link::native));
}

TEST(Filter, NamesTheColumn)
{
	static const struct {
		const char *filter, *message;
	} wrong[] = {
		{ "opcod == write", "column 1: no field 'opcod'" },
		{ "opcode == wirte", "column 11: 'wirte' is no operation" },
		{ "psn > 1 && src == 10.0.0", "column 19: '10.0.0' is no address" },
		{ "src == 10.0.0.1/33", "column 8: '10.0.0.1/33' is no address" },
		{ "psn == ten", "column 8: 'ten' is no number" },
		{ "psn == 18446744073709551616", "column 8: '18446744073709551616' is no number" },
		{ "psn ==", "column 7: a value is missing" },
		{ "psn == 1 &&", "column 12: a field is missing" },
		{ "psn == 1 psn", "column 10: 'psn' where && or || should be" },
		{ "(psn == 1", "column 1: no bracket closes this one" },
		{ "psn == 1)", "column 9: ')' where && or || should be" },
		{ "psn = 1", "column 5: '=' is no operator" },
		{ "== 1", "column 1: '==' where a field should be" },
		{ "src > 10.0.0.1", "column 5: ip.src has only == and !=" },
		{ "icrc.ok == maybe", "column 12: 'maybe' is neither true nor false" },
		{ "payload == 5g", "column 12: '5g' is not hexadecimal" },
		{ "payload == 123", "column 12: '123' is not hexadecimal" },
		{ "drop == \"icrc", "column 9: no second quotation mark" },
		{ "tph.opcode == rtq",
		  "column 15: 'rtq' is neither a number nor a name of tph.opcode" },
	};

	for (const auto &w : wrong) {
		try {
			ubdump::Filter f(w.filter);
			ADD_FAILURE() << w.filter;
		} catch (const ubdump::BadFilter &e) {
			EXPECT_STREQ(e.what(), w.message) << w.filter;
		}
	}
	EXPECT_THROW(ubdump::Filter(std::string(100000, '(')), ubdump::BadFilter);
	EXPECT_THROW(ubdump::Filter(std::string(100000, '!')), ubdump::BadFilter);
}

std::vector<Bytes> read(const std::string &text)
{
	std::istringstream in(text);
	ubdump::HexReader reader(in, "text");
	std::vector<Bytes> all;

	while (auto p = reader.next())
		all.push_back(std::move(*p));
	return all;
}

TEST(HexText, IsReadAsToolsPrintIt)
{
	const std::vector<Bytes> want{ { 0x45, 0, 0, 0x11 }, { 0x60, 0xab } };

	for (const char *text : {
		     "45000011\n\n60ab\n", "45 00\n00 11\n\n\n60:ab", "4500 0011\r\n\r\n60AB\r\n",
		     "# a comment\n4500\n# another\n0011\n\n60ab\n",
		     "00000000: 4500 0011                 E...\n\n00000000: 60ab    `.\n", // xxd
		     "00000000: 4500  E.\n00000002: 0011  ..\n00000000: 60ab  `.\n",
		     "\t0x0000:  4500 0011\n\t0x0000:  60ab\n", // tcpdump
		     "12:00:00.000001 IP a > b\n\t0x0000:  4500 0011  E...\n"
		     "12:00:00.000002 IP a > b\n\t0x0000:  60ab  `.\n",
		     "00000000  45 00 00 11     |E...|\n00000004\n00000000  60 ab  "
		     "|`.|\n00000002\n",
		     "000000 45 00\n000002 00 11\n000004\n\n000000 60 ab\n000002\n", // od
	     })
		EXPECT_EQ(read(text), want) << text;
	EXPECT_TRUE(read("").empty());
	EXPECT_TRUE(read("\n \n# nothing\n").empty());
}

TEST(HexText, ErrorsNameTheLine)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{ "4500\n45x0\n", "text: line 2: column 3: 'x' is not hexadecimal" },
		{ "450\n", "text: line 1: column 3: half a byte: two digits each are needed" },
		{ "hello", "text: line 1: column 1: 'h' is not hexadecimal" },
		{ "0x0000:  4500\n0x0010:  0011\n", "text: line 2: offset 16 behind 2 bytes" },
		{ "0x0010:  4500\n", "text: line 1: offset 16 behind 0 bytes" },
	};

	for (const auto &w : wrong) {
		try {
			read(w.text);
			ADD_FAILURE() << w.text;
		} catch (const uboe::Failure &e) {
			EXPECT_STREQ(e.what(), w.message) << w.text;
		}
	}
	EXPECT_THROW(read(std::string(600000, '0')), uboe::Failure);
}

} // namespace
