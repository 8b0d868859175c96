// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Settings of the in-process device that come from the environment.
#include <chrono>
#include <cstdlib>

#include "rig.hpp"

using namespace urma_test;

namespace
{

class Setting
{
      public:
	Setting(const char *name, const char *value) : name_(name) { setenv(name, value, 1); }
	~Setting() { unsetenv(name_); }
	Setting(const Setting &) = delete;
	Setting &operator=(const Setting &) = delete;

      private:
	const char *name_;
};

/* Elements of every size, alone and in company: by the window or by the ring */
TEST(Settings, DirectWqe)
{
	const Setting on("URMA_INPROC_DWQE", "1");
	Pair p;

	for (unsigned i = 0; i < 300; ++i) {
		const std::size_t n = std::size_t{ 1 } + i * 7 % 200;
		const unsigned together = i % 4 == 3 ? 3 : 1;

		p.a.memory->fill(static_cast<std::uint8_t>(i));
		for (unsigned k = 0; k < together; ++k)
			ASSERT_EQ(Wr(URMA_OPC_WRITE, i)
					  .local({ p.a.memory->at(k * 256, n) })
					  .remote(p.b.memory->va() + k * 256, p.a.remote)
					  .inlined()
					  .post(p.a.jetty),
				  URMA_SUCCESS);
		for (unsigned k = 0; k < together; ++k)
			p.a.expect(i);
		for (unsigned k = 0; k < together; ++k)
			ASSERT_EQ(std::memcmp(p.a.memory->data() + k * 256,
					      p.b.memory->data() + k * 256, n),
				  0)
				<< i;
	}
}

/* A jetty is as fast as it may be, and no faster: 512 KiB at 100 Mb/s take 42 ms */
TEST(Settings, JettyRate)
{
	const Setting rate("URMA_INPROC_JETTY_MBPS", "100");
	Pair p;

	p.a.memory->fill(9);
	const auto start = std::chrono::steady_clock::now();
	ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
			  .local({ p.a.memory->at(0, 512 << 10) })
			  .remote(p.b.memory->va(), p.a.remote)
			  .post(p.a.jetty),
		  URMA_SUCCESS);
	p.a.expect(1);
	EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(40));
	EXPECT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data(), 512 << 10), 0);
}

/* Data of all lengths around the pieces, more Reads at a time than the table may hold */
TEST(Settings, SlicesAndRcTables)
{
	for (const char *kb : { "1", "64" }) {
		const Setting slice("URMA_INPROC_SLICE_KB", kb);
		const Setting depth("URMA_INPROC_RCT_DEPTH", kb[0] == '1' ? "64" : "32768");
		const Setting mark("URMA_INPROC_RCT_WATERMARK", "4");
		Pair p;

		for (const std::size_t n :
		     { 1u, 1023u, 1024u, 1025u, 65535u, 65536u, 65537u, 300000u }) {
			p.a.memory->fill(static_cast<std::uint8_t>(n));
			ASSERT_EQ(Wr(URMA_OPC_WRITE, 1)
					  .local({ p.a.memory->at(0, n) })
					  .remote(p.b.memory->va() + 1, p.a.remote)
					  .post(p.a.jetty),
				  URMA_SUCCESS);
			p.a.expect(1);
			ASSERT_EQ(std::memcmp(p.a.memory->data(), p.b.memory->data() + 1, n), 0)
				<< n;
			for (unsigned i = 0; i < 16; ++i)
				ASSERT_EQ(Wr(URMA_OPC_READ, i)
						  .local({ p.a.memory->at(512 << 10, n) })
						  .remote(p.b.memory->va() + 1, p.a.remote)
						  .post(p.a.jetty),
					  URMA_SUCCESS);
			for (unsigned i = 0; i < 16; ++i)
				p.a.expect(i);
			ASSERT_EQ(std::memcmp(p.a.memory->data() + (512 << 10),
					      p.b.memory->data() + 1, n),
				  0)
				<< n;
		}
	}
}

TEST(Settings, NonsenseIsRefused)
{
	const std::pair<const char *, const char *> bad[] = {
		{ "URMA_INPROC_DWQE", "2" },	      { "URMA_INPROC_DWQE", "yes" },
		{ "URMA_INPROC_JETTY_MBPS", "0" },    { "URMA_INPROC_JETTY_MBPS", "200001" },
		{ "URMA_INPROC_JETTY_MBPS", "-1" },   { "URMA_INPROC_JETTY_MBPS", "10M" },
		{ "URMA_INPROC_SLICE_KB", "0" },      { "URMA_INPROC_SLICE_KB", "3" },
		{ "URMA_INPROC_SLICE_KB", "128" },    { "URMA_INPROC_RCT_DEPTH", "63" },
		{ "URMA_INPROC_RCT_DEPTH", "32" },    { "URMA_INPROC_RCT_DEPTH", "96" },
		{ "URMA_INPROC_RCT_DEPTH", "65536" }, { "URMA_INPROC_RCT_WATERMARK", "4" },
	};

	for (auto [name, value] : bad) {
		const Setting s(name, value);

		errno = 0;
		EXPECT_EQ(urma_create_context(device(), 0), nullptr) << name << "=" << value;
		EXPECT_EQ(errno, EINVAL);
	}
}

} // namespace
