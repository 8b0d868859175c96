// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Segments of the C++ binding, without a peer.
#include <gtest/gtest.h>

#include <uboe/urma.hpp>

using namespace uboe::urma;

namespace
{

TEST(Segments, TokensRotate)
{
	Context context(Eid::of("127.0.0.1"));
	LocalSegment s = LocalSegment::allocate(context, 100);
	LocalSegment open = LocalSegment::allocate(context, 100, { .token = std::nullopt });

	s.rotate(Token{ 0x80000001 }, true);
	EXPECT_EQ(s.remote().token, Token{ 0x80000001 });
	s.rotate(Token{ 2 }, false);
	EXPECT_EQ(s.remote().token, Token{ 2 });
	EXPECT_THROW(open.rotate(Token{ 1 }, false), Error);
}

} // namespace
