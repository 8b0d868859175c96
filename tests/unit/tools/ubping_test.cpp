// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <gtest/gtest.h>

#include "hello.hpp"
#include "payload.hpp"
#include "statistics.hpp"

namespace
{

using namespace ubping;

TEST(Statistics, AreThoseOfPing)
{
	Statistics s;

	EXPECT_EQ(s.loss_percent(), 0);
	EXPECT_EQ(s.deviation(), 0);
	for (int i = 0; i < 8; ++i)
		s.add_sent();
	for (double rtt : { 2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0 })
		s.add_reply(rtt);
	EXPECT_EQ(s.sent(), 8u);
	EXPECT_EQ(s.received(), 7u);
	EXPECT_DOUBLE_EQ(s.loss_percent(), 12.5);
	EXPECT_DOUBLE_EQ(s.min(), 2);
	EXPECT_DOUBLE_EQ(s.max(), 7);
	EXPECT_DOUBLE_EQ(s.average(), 31.0 / 7);
	s.add_reply(9);
	EXPECT_DOUBLE_EQ(s.average(), 5);
	EXPECT_DOUBLE_EQ(s.deviation(), 2);
	EXPECT_EQ(s.loss_percent(), 0);
}

TEST(Payload, BeginsWithTheNumberAndCountsUp)
{
	const Payload p({});
	std::vector<std::byte> m(10);

	p.fill(m, 0x0102);
	EXPECT_EQ(m[0], std::byte{ 2 });
	EXPECT_EQ(m[1], std::byte{ 1 });
	EXPECT_EQ(m[7], std::byte{ 0 });
	EXPECT_EQ(m[8], std::byte{ 8 + 2 });
	EXPECT_EQ(m[9], std::byte{ 9 + 2 });
	EXPECT_EQ(p.differs(m, 0x0102), std::nullopt);
	EXPECT_EQ(p.differs(m, 0x0103), 0u);
	m[9] ^= std::byte{ 0x80 };
	EXPECT_EQ(p.differs(m, 0x0102), 9u);
}

TEST(Payload, RepeatsItsPattern)
{
	const Payload p({ std::byte{ 0xab }, std::byte{ 0xcd } });
	std::vector<std::byte> m(5);

	p.fill(m, 7); // too short for the number
	EXPECT_EQ(m[0], std::byte{ 0xab });
	EXPECT_EQ(m[1], std::byte{ 0xcd });
	EXPECT_EQ(m[4], std::byte{ 0xab });
	EXPECT_EQ(p.differs(m, 8), std::nullopt);
	EXPECT_EQ(p.differs({}, 1), std::nullopt);
}

std::string error_of(const std::string &line, bool welcome)
try {
	auto [a, b] = uboe::Stream::pair();

	a.send_line(line);
	if (welcome)
		receive_welcome(b);
	else
		receive_hello(b);
	return "";
} catch (const std::exception &e) {
	return e.what();
}

TEST(Hello, ComesAcross)
{
	auto [a, b] = uboe::Stream::pair();
	const Hello sent{ { urma::Eid::of("fd00::1"), urma::JettyId{ 1030 }, urma::Token{ 7 } },
			  4096 };

	send_hello(a, sent);
	const Hello got = receive_hello(b);

	EXPECT_EQ(got.jetty, sent.jetty);
	EXPECT_EQ(got.size, 4096u);
	send_welcome(b, sent.jetty);
	EXPECT_EQ(receive_welcome(a), sent.jetty);
}

TEST(Hello, OfStrangersIsRefused)
{
	const auto has = [](const std::string &text, const char *word) {
		return text.find(word) != text.npos;
	};
	const std::string jetty = R"("jetty":"uboe://[127.0.0.2]/jetty/0x400")";

	EXPECT_EQ(error_of("ubping {\"version\":1,\"size\":0," + jetty + "}", false), "");
	EXPECT_TRUE(has(error_of("GET / HTTP/1.0", false), "greeting"));
	EXPECT_TRUE(has(error_of("ubping {", false), "greeting"));
	EXPECT_TRUE(has(error_of("ubping {\"version\":2}", false), "version"));
	EXPECT_TRUE(has(error_of("ubping {\"version\":1,\"size\":65537," + jetty + "}", false),
			"too long"));
	EXPECT_TRUE(has(error_of("ubping {\"version\":1,\"size\":-1," + jetty + "}", false),
			"too long"));
	EXPECT_TRUE(
		has(error_of(R"(ubping {"version":1,"size":1,"jetty":"x"})", false), "uboe://"));
	EXPECT_TRUE(has(error_of("refused it is busy", true), "refuses: it is busy"));
	EXPECT_TRUE(has(error_of("SSH-2.0", true), "no ubping"));
}

} // namespace
