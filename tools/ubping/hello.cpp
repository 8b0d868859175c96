// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "hello.hpp"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "options.hpp"

namespace ubping
{

namespace
{

constexpr int version = 1;

} // namespace

void send_hello(uboe::Stream &stream, const Hello &hello)
{
	const nlohmann::json j{ { "version", version },
				{ "jetty", hello.jetty.text() },
				{ "size", hello.size } };

	stream.send_line("ubping " + j.dump());
}

Hello receive_hello(uboe::Stream &stream)
try {
	const auto j = nlohmann::json::parse(stream.expect("ubping"));

	if (j.at("version") != version)
		throw std::runtime_error("it is another version of ubping");
	const auto jetty = j.at("jetty").get<std::string>();
	const auto size = j.at("size").get<std::int64_t>();

	if (size < 0 || size > largest_size)
		throw std::runtime_error("its messages of " + std::to_string(size) +
					 " bytes are too long");
	return { urma::RemoteJetty::parse(std::string_view(jetty)),
		 static_cast<std::uint32_t>(size) };
} catch (const std::exception &e) {
	throw std::runtime_error("the client's greeting: " + std::string(e.what()));
}

void send_welcome(uboe::Stream &stream, const urma::RemoteJetty &jetty)
{
	stream.send_line("jetty " + jetty.text());
}

void send_refusal(uboe::Stream &stream, const std::string &why)
{
	std::string line = "refused " + why;

	std::replace(line.begin(), line.end(), '\n', ' ');
	stream.send_line(line);
}

urma::RemoteJetty receive_welcome(uboe::Stream &stream)
{
	const std::string line = stream.receive_line();

	if (line.starts_with("refused "))
		throw std::runtime_error("the server refuses: " + line.substr(8));
	if (!line.starts_with("jetty "))
		throw std::runtime_error("what answers there is no ubping server");
	return urma::RemoteJetty::parse(std::string_view(line).substr(6));
}

} // namespace ubping
