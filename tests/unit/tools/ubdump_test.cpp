// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* ubdump: vectors under each link, frames that are not as they should be, statistics. */
#include <gtest/gtest.h>

#include <set>

#include "golden.hpp"
#include "print.hpp"
#include "statistics.hpp"
#include "ubdump_rig.hpp"

extern "C" {
#include "ubp_encap.h"
#include "ubp_pkt.h"
}

using namespace dump_test;

namespace
{

std::vector<golden::vector> load(const char *file)
{
	return golden::load(std::string(UBOE_VECTORS) + file)
		.value_or(std::vector<golden::vector>{});
}

const std::vector<golden::vector> good = load("/golden.txt"), bad = load("/bad/malformed.txt");

/// The value as vector files write it.
std::string plain(const ubdump::Field &f)
{
	return ubdump::is_number(f.spec->kind) ? std::to_string(f.number) : ubdump::text_of(f);
}

void expect_fields(const golden::vector &v, const Bytes &frame, Link link)
{
	const Packet p = decode(frame, link);

	EXPECT_EQ(p.reason, "") << v.name;
	EXPECT_TRUE(p.uboe) << v.name;
	for (const auto &[name, want] : v.fields) {
		const ubdump::Field *f = p.find(name.substr(5)); // behind "uboe."

		ASSERT_NE(f, nullptr) << v.name << ' ' << name;
		EXPECT_EQ(plain(*f), want) << v.name << ' ' << name;
	}
}

TEST(Vectors, AreDecodedUnderEachLink)
{
	ASSERT_GE(good.size(), 190u);
	for (const golden::vector &v : good) {
		expect_fields(v, v.packet, Link::ip);
		expect_fields(v, ethernet(v.packet), Link::ethernet);
		expect_fields(v, ethernet(v.packet, { 0x88a8, 7, 0x8100, 42 }), Link::ethernet);
		expect_fields(v, cooked(v.packet), Link::cooked);
		expect_fields(v, cooked2(v.packet), Link::cooked2);
		expect_fields(v, native(v.packet), Link::native);
		expect_fields(v, lab_frame(native(v.packet)), Link::ethernet);
	}
}

TEST(Vectors, MalformedOnesHaveTheirReasonAndAVerdict)
{
	ASSERT_GE(bad.size(), 200u);
	for (const golden::vector &v : bad) {
		const Packet p = decode(v.packet, Link::ip);

		EXPECT_EQ(p.reason, v.drop) << v.name;
		EXPECT_NE(p.verdict, "") << v.name;
		EXPECT_NE(p.verdict, "taken") << v.name;
		EXPECT_STRNE(ubdump::reason_text(p.reason), "") << v.name;
	}
}

TEST(Vectors, CutCapturesAreNotMalformed)
{
	for (const golden::vector &v : good) {
		for (std::size_t n = 0; n < v.packet.size(); n += 7) {
			const Bytes part(v.packet.begin(),
					 v.packet.begin() + static_cast<std::ptrdiff_t>(n));
			const Packet p =
				ubdump::decode(part, v.packet.size(), Link::ip, Settings{});

			EXPECT_EQ(p.reason, "") << v.name << ' ' << n;
			EXPECT_EQ(p.find("icrc.ok"), nullptr);
			EXPECT_EQ(p.number_at("cut"), v.packet.size() - n);
		}
	}
}

TEST(Vectors, AreRecognised)
{
	for (const golden::vector &v : good) {
		EXPECT_EQ(ubdump::guess_link(v.packet), Link::ip) << v.name;
		EXPECT_EQ(ubdump::guess_link(native(v.packet)), Link::native) << v.name;
		EXPECT_EQ(ubdump::guess_link(ethernet(v.packet)), Link::ethernet) << v.name;
		EXPECT_EQ(ubdump::guess_link(lab_frame(native(v.packet))), Link::ethernet);
	}
	EXPECT_EQ(ubdump::guess_link({}), Link::ethernet);
}

TEST(Icrc, HasTwoOrders)
{
	const Bytes p = packet("W.4");
	Bytes swapped = p;
	Settings be;

	std::reverse(swapped.end() - 4, swapped.end());
	be.icrc_be = true;
	Packet d = decode(swapped, Link::ip);

	EXPECT_EQ(d.reason, "icrc");
	EXPECT_EQ(d.verdict, "drop_icrc");
	EXPECT_EQ(d.find("icrc.order")->text, "be");
	EXPECT_NE(ubdump::line_of(d).find("icrc bad (right as be)"), std::string::npos);
	d = decode(swapped, Link::ip, be);
	EXPECT_EQ(d.reason, "");
	EXPECT_EQ(d.number_at("icrc"), d.find("icrc")->number);
	d = decode(p, Link::ip, be);
	EXPECT_EQ(d.verdict, "drop_icrc");
	EXPECT_EQ(d.find("icrc.order")->text, "fcs");
	EXPECT_EQ(d.number_at("icrc.calc"), 0x731406bu);
}

TEST(Line, SaysWhatMatters)
{
	EXPECT_EQ(ubdump::line_of(decode(packet("W.4"), Link::ip)),
		  "192.0.2.1 > 192.0.2.2 RTP Write tpn 0x101>0x202 psn 10 msn 0 tassn 7 len 5 "
		  "addr 0x700000001000 of 5 token 0xabc last A icrc ok");
	EXPECT_EQ(ubdump::line_of(decode(native(packet("N.6")), Link::native)),
		  "native vl 5 fecn markable partition 0xabcdef low 2001:db8::2 > 2001:db8::1 "
		  "TPNAK (PSN error) tpn 0x202>0x101 psn 11 msn 1 icrc ok");
	EXPECT_EQ(ubdump::line_of(decode(Bytes(60), Link::ethernet)), "not UBoE type 0x0");
}

TEST(Native, RulesAreNamed)
{
	const Bytes p = native(packet("W.4"));
	const auto changed = [&p](std::size_t at, std::uint8_t value) {
		Bytes q = p;

		q[at] = value;
		return q;
	};
	const auto reason = [](const Bytes &b) { return decode(b, Link::native).reason; };

	EXPECT_EQ(reason(p), "");
	EXPECT_EQ(reason(changed(1, 0xa5)), "native_cfg");
	EXPECT_EQ(reason(changed(1, 0xa4)), "native_ip"); // says IPv6
	EXPECT_EQ(reason(changed(3, p[3] ^ 1)), "native_length");
	EXPECT_EQ(reason(changed(3, 31)), "native_length"); // no length at all
	EXPECT_EQ(reason(changed(10, 0x46)), "native_ip");
	EXPECT_EQ(reason(Bytes(p.begin(), p.begin() + 9)), "native_short");
	EXPECT_EQ(reason({}), "native_short");
	Bytes none = p;

	none[7] = none[8] = none[9] = 0;
	EXPECT_EQ(reason(none), "partition");
	EXPECT_EQ(decode(none, Link::native).verdict, "drop_partition");
}

TEST(Native, PaddingOfTheFrameIsNotThePackets)
{
	Bytes p = native(packet("A.4"));

	p.resize(p.size() + 50, 0xee);
	EXPECT_EQ(decode(p, Link::native).reason, "");
	EXPECT_EQ(decode(lab_frame(p), Link::ethernet).reason, "");
}

TEST(Native, CongestionHeaderGoesByItsMode)
{
	Bytes p = native(packet("W.4"));

	p[4] = 0x16;
	p[5] = 0x5a;
	Packet d = decode(p, Link::native);

	EXPECT_EQ(d.number_at("cci.caqm"), 1u);
	EXPECT_EQ(d.number_at("cci.hint"), 0x5au);
	EXPECT_EQ(d.find("cci.fecn"), nullptr);
	p[4] = 0x4f;
	p[5] = 0xff;
	d = decode(p, Link::native);
	EXPECT_EQ(d.number_at("cci.timestamp"), 1023u);
	EXPECT_EQ(d.number_at("cci.fecn"), 3u);
	p[4] = 0xe0;
	EXPECT_EQ(decode(p, Link::native).find("cci.fecn"), nullptr);
}

// Vector L: Ack_Seq 28, Ce_Seq 0
TEST(Acknowledgement, CongestionHeaderIsWhatTheChannelsHave)
{
	Bytes p = packet("L.4");

	p[48] = 0x03;
	p[49] = 7;
	p[50] = 0x01;
	p[51] = 0x02;
	Packet d = decode(p, Link::ip);
	EXPECT_EQ(d.number_at("cetph.ack_seq"), 28u);
	EXPECT_EQ(d.number_at("cetph.ce_seq"), 0x03070102u);
	EXPECT_EQ(d.find("cetph.hint"), nullptr);
	Settings caqm;
	caqm.caqm = true;
	d = decode(p, Link::ip, caqm);
	EXPECT_EQ(d.number_at("cetph.ack_seq"), 28u);
	EXPECT_EQ(d.number_at("cetph.loc"), 1u);
	EXPECT_EQ(d.number_at("cetph.i"), 1u);
	EXPECT_EQ(d.number_at("cetph.c"), 7u);
	EXPECT_EQ(d.number_at("cetph.hint"), 0x102u);
	EXPECT_EQ(d.find("cetph.ce_seq"), nullptr);
}

TEST(Links, ManyTagsAreNoTrouble)
{
	Bytes tags{ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };

	for (int i = 0; i < 1000; ++i)
		tags.insert(tags.end(), { 0x81, 0, 0, 1 });
	EXPECT_FALSE(decode(tags, Link::ethernet).uboe);
	tags.insert(tags.end(), { 0x08, 0x00 });
	const Bytes p = packet("W.4");

	tags.insert(tags.end(), p.begin(), p.end());
	EXPECT_EQ(decode(tags, Link::ethernet).verdict, "taken");
}

TEST(Links, OtherPortsAreOtherProtocols)
{
	Settings s;

	s.port = 4793;
	EXPECT_FALSE(decode(packet("W.4"), Link::ip, s).uboe);
	EXPECT_EQ(decode(packet("W.4"), Link::ip, s).verdict, "");
}

TEST(Operations, HaveTheChainsOfTheCore)
{
	for (unsigned code = 0; code < 256; ++code) {
		const auto *op = ubdump::operation_of(static_cast<std::uint8_t>(code));

		if (const u32 chain = ubp_ta_chain(static_cast<u8>(code))) {
			ASSERT_NE(op, nullptr) << code;
			EXPECT_EQ(op->chain, chain) << op->name;
			EXPECT_EQ(op->payload != ubdump::Payload::none, !!(chain & UBP_H_PLD));
		}
	}
	EXPECT_EQ(ubdump::operation_of(0x16), nullptr);
}

TEST(Headers, FieldsLieInThemAndNamesMeanOneThing)
{
	for (const ubdump::Header *h : ubdump::all_headers()) {
		for (const ubdump::Spec &s : h->fields) {
			EXPECT_LE(std::size_t(s.offset) + s.size, h->size) << s.name;
			EXPECT_LE(s.size, 16u) << s.name;
			for (const ubdump::Spec *other : ubdump::specs_named(s.name))
				EXPECT_EQ(other->kind, s.kind) << s.name;
		}
	}
}

TEST(Json, HasEachFieldOfTheTree)
{
	const Bytes frame = ethernet(packet("F.4"), { 0x88a8, 7, 0x8100, 42 });
	const Packet p = decode(frame, Link::ethernet);
	const auto j = ubdump::json_of(p, true);

	for (const ubdump::Layer &l : p.layers)
		for (const ubdump::Field &f : l.fields)
			EXPECT_TRUE(j.contains(f.spec->name)) << f.spec->name;
	EXPECT_EQ(j["vlan.id"], nlohmann::json::array({ 7, 42 }));
	EXPECT_EQ(j["seid"], "::ffff:192.0.2.1");
	EXPECT_EQ(j["icrc.ok"], true);
	EXPECT_FALSE(ubdump::json_of(p, false).contains("payload"));
}

TEST(Sequence, KnowsWhatCameAgain)
{
	ubdump::Sequence s;

	EXPECT_FALSE(s.repeats(0xfffffe));
	EXPECT_FALSE(s.repeats(0xffffff));
	EXPECT_FALSE(s.repeats(1)); // 0 is late, or lost
	EXPECT_TRUE(s.repeats(0xffffff));
	EXPECT_FALSE(s.repeats(0));
	EXPECT_TRUE(s.repeats(0));
	EXPECT_TRUE(s.repeats(1));
	EXPECT_FALSE(s.repeats(10001));
	EXPECT_FALSE(s.repeats(10000));
	EXPECT_TRUE(s.repeats(1));
	EXPECT_FALSE(s.repeats(0x700000)); // another incarnation begins elsewhere
	EXPECT_FALSE(s.repeats(1));
}

TEST(Sequence, ForgetsWhatIsFarBehind)
{
	ubdump::Sequence s;

	for (std::uint32_t i = 0; i < 100000; ++i)
		ASSERT_FALSE(s.repeats(i & 0xffffff));
	EXPECT_TRUE(s.repeats(99999 - 16383));
}

TEST(Statistics, CountsByOperationAndChannel)
{
	ubdump::Statistics s;
	const Bytes w = packet("W.4"), a = packet("A.4");
	Bytes wrong = w;

	wrong[50] ^= 1;
	for (const Bytes &b : { w, w, a, wrong })
		s.add(decode(b, Link::ip));
	s.skip();
	const auto j = s.json()["statistics"];

	EXPECT_EQ(j["packets"], 4);
	EXPECT_EQ(j["not_shown"], 1);
	EXPECT_EQ(j["bad_icrc"], 1);
	EXPECT_EQ(j["operations"]["Write"], 3);
	EXPECT_EQ(j["malformed"]["icrc"], 1);
	ASSERT_EQ(j["channels"].size(), 2u);
	EXPECT_EQ(j["channels"][0]["src"], "192.0.2.1");
	EXPECT_EQ(j["channels"][0]["data"], 2);
	EXPECT_EQ(j["channels"][0]["retransmitted"], 1);
	EXPECT_EQ(j["channels"][1]["data"], 0);
	EXPECT_NE(s.text().find("192.0.2.1 0x101 > 192.0.2.2 0x202: 2 packets, 2 data, 1 "
				"retransmitted"),
		  std::string::npos);
}

} // namespace
