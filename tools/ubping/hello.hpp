// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// What the sides say over TCP before messages flow: the client a Hello, the server the
// descriptor of its jetty or why not. The connection then stays open; its end is the
// end of the session.
#pragma once

#include <cstdint>
#include <string>

#include <uboe/urma.hpp>

#include "stream.hpp"

namespace ubping
{

namespace urma = uboe::urma;

struct Hello {
	urma::RemoteJetty jetty; // of the client
	std::uint32_t size = 0; // bytes of its messages
};

void send_hello(uboe::Stream &stream, const Hello &hello);
/// Throws std::runtime_error that says what is wrong with it.
Hello receive_hello(uboe::Stream &stream);

void send_welcome(uboe::Stream &stream, const urma::RemoteJetty &jetty);
void send_refusal(uboe::Stream &stream, const std::string &why);
/// Throws std::runtime_error when it is a refusal.
urma::RemoteJetty receive_welcome(uboe::Stream &stream);

} // namespace ubping
