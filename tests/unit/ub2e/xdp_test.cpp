// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The XDP program does byte for byte what the switch in user space does, and counts alike.
// Run as root with four Ethernet interfaces p0 to p3 (tests/t0/ub2e makes them).
#include <random>

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <sched.h>

#include "bpf/program.hpp"
#include "switch_rig.hpp"

using namespace frames;

namespace
{

const std::string config = R"(
[[port]]
interface = "p0"
type = "ub"
[[port]]
interface = "p1"
type = "ub"
rate = 8000
kmin = 1
kmax = 2
caqm = { target = 1, mark = 1.0, cut = 1 } # whatever the time
[[port]]
interface = "p2"
type = "eth"
untagged = 1
[[port]]
interface = "p3"
type = "eth"
rate = 8000
kmin = 1
kmax = 2
[[partition]]
id = 1
[[partition]]
id = 0x1005
[[partition]]
id = 0x2006
vlan = 300
vlan_low = 301
ports = ["p0", "p2", "p3"]
[[route]]
prefix = "10.0.0.0/16"
port = "p0"
[[route]]
prefix = "fd00::/16"
port = "p0"
[[route]]
prefix = "10.1.0.0/16"
port = "p1"
[[route]]
prefix = "10.1.7.0/24"
port = "p2"
mac = "02:00:00:00:00:72"
[[route]]
prefix = "10.2.0.0/16"
via = [ { port = "p2", mac = "02:00:00:00:00:02" }, { port = "p3", mac = "02:00:00:00:00:03" },
	{ port = "p0", shortest = false } ]
[[route]]
prefix = "fd02::/16"
port = "p2"
mac = "02:00:00:00:00:02"
[[route]]
prefix = "10.3.0.0/16"
port = "p3"
mac = "02:00:00:00:00:03"
)";

struct Both {
	Counters user, kernel;
	std::shared_ptr<const Tables> tables;
	std::unique_ptr<Engine> engine;
	Program program;
	std::uint64_t now = 1000000000;

	explicit Both(const std::string &map)
	{
		load(map);
		program.attach(*tables, true);
	}

	void load(const std::string &map)
	{
		const Config c = Config::parse(map + config, "test");
		std::vector<Interface> interfaces;

		for (unsigned i = 0; i < c.ports.size(); ++i)
			interfaces.push_back({ if_nametoindex(c.ports[i].interface.c_str()), 1500,
					       port_mac(i) });
		tables = std::make_shared<const Tables>(c, interfaces);
		if (engine)
			engine->set_tables(tables);
		else
			engine = std::make_unique<Engine>(tables, user, 7);
		program.set_tables(*tables);
	}

	/// Verdict of the program for a frame at @p port, and the frame as it leaves.
	std::uint32_t in_kernel(unsigned port, const bytes &frame, bytes &out)
	{
		LIBBPF_OPTS(bpf_test_run_opts, o);
		xdp_md context{};

		context.data_end = static_cast<std::uint32_t>(frame.size());
		context.ingress_ifindex = tables->port(port)->ifindex;
		out.assign(4096, 0);
		o.data_in = frame.data();
		o.data_size_in = static_cast<std::uint32_t>(frame.size());
		o.data_out = out.data();
		o.data_size_out = static_cast<std::uint32_t>(out.size());
		o.ctx_in = &context;
		o.ctx_size_in = sizeof(context);
		EXPECT_EQ(bpf_prog_test_run_opts(program.fd(), &o), 0);
		out.resize(o.data_size_out);
		return o.retval;
	}

	void same(unsigned port, const bytes &frame)
	{
		bytes memory(Frame::room + frame.size()), out;

		std::copy(frame.begin(), frame.end(), memory.begin() + Frame::room);
		Frame f{ memory.data() + Frame::room, memory.data() + memory.size() };
		const auto other = user.get(port, UB2E_OTHER);
		const unsigned to = engine->forward(port, f, now += 1000);
		const std::uint32_t verdict = in_kernel(port, frame, out);

		if (to == Engine::none) {
			EXPECT_EQ(verdict,
				  user.get(port, UB2E_OTHER) > other ? XDP_PASS : XDP_DROP);
			return;
		}
		user.add(to, UB2E_TX); // what a datapath counts when the frame has left
		user.add(to, UB2E_TX_BYTES, static_cast<std::uint64_t>(f.end - f.begin));
		EXPECT_EQ(verdict, std::uint32_t{ XDP_REDIRECT });
		EXPECT_EQ(out, bytes(f.begin, f.end));
	}

	void same_counters()
	{
		program.count(kernel);
		for (unsigned port = 0; port < 4; ++port)
			for (unsigned fate = 0; fate < UB2E_FATES; ++fate)
				EXPECT_EQ(kernel.get(port, fate), user.get(port, fate))
					<< port << ' ' << fate_name(fate);
	}
};

class Frames
{
      public:
	explicit Frames(std::uint32_t seed) : random_(seed) {}

	unsigned port() { return pick(4); }

	bytes next(unsigned port)
	{
		static const std::string four[] = { "10.0.0.1", "10.1.0.1", "10.1.7.1",
						    "10.2.0.1", "10.3.0.1", "10.9.0.1" };
		static const std::string six[] = { "fd00::1", "fd02::1", "fd03::1" };
		static const u32 ids[] = { 0, 1, 0x1005, 0x2006, 5 };
		Packet p;
		bytes b;

		if (pick(2)) {
			p.from = four[pick(6)];
			p.to = four[pick(6)];
		} else {
			p.from = six[pick(3)];
			p.to = six[pick(3)];
		}
		p.sport = static_cast<u16>(pick(65536));
		p.dscp = static_cast<u8>(pick(64));
		p.ecn = static_cast<u8>(pick(4));
		p.ttl = static_cast<u8>(pick(20) ? 64 : pick(3));
		p.payload = pick(30) ? 16 + pick(200) : 1400 + pick(100);
		if (port < 2) {
			Native n;

			n.npi = ids[pick(5)] | (pick(2) ? UB_NPI_LOW : 0);
			static const unsigned modes[] = { 0x8000, 0x8000, 0x8000, 0, 0, 0x4000 };
			n.cci = static_cast<u16>(modes[pick(6)] | pick(0x2000));
			if (!pick(10))
				n.cci = static_cast<u16>(pick(65536));
			n.vl = static_cast<u8>(pick(16));
			n.rt = static_cast<u8>(pick(4));
			b = on_ub(ip(p), n);
		} else {
			static const int vlans[] = { -1, 0, 1, 5, 300, 301, 4095, 77 };
			const int vlan = vlans[pick(8)];

			b = on_eth(ip(p), port_mac(port),
				   vlan < 0 ? vlan : vlan | static_cast<int>(pick(16)) << 12);
			if (!pick(8)) // one tag more
				b.insert(b.begin() + 12,
					 { static_cast<u8>(pick(2) ? 0x81 : 0x88),
					   static_cast<u8>(pick(2) ? 0 : 0xa8), 0, 5 });
		}
		spoil(b);
		return b;
	}

      private:
	unsigned pick(unsigned n) { return static_cast<unsigned>(random_() % n); }

	void spoil(bytes &b)
	{
		if (!pick(4))
			for (unsigned i = 1 + pick(3); i; --i)
				b[pick(static_cast<unsigned>(std::min<std::size_t>(b.size(), 80)))] =
					static_cast<u8>(pick(256));
		if (!pick(10))
			b.resize(14 + pick(static_cast<unsigned>(b.size())));
		else if (!pick(4))
			b.resize(b.size() + pick(30), 0xcc);
	}

	std::mt19937 random_;
};

void on_one_cpu()
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

} // namespace

class XdpAgrees : public testing::TestWithParam<const char *>
{
};

TEST_P(XdpAgrees, OnRandomFrames)
{
	on_one_cpu(); // per-packet spreading counts on each
	Both both(GetParam());
	Frames frames(11);

	for (unsigned i = 0; i < 20000 && !HasFailure(); ++i) {
		const unsigned port = frames.port();

		both.same(port, frames.next(port));
	}
	both.same_counters();
}

INSTANTIATE_TEST_SUITE_P(Maps, XdpAgrees,
			 testing::Values("", "[map]\nlight = \"ect\"\nmarkable = \"ect1\"\nrt = 3",
					 "[map]\nce = \"light\"\nloc = 1\nrt = 1",
					 "[map]\none_to_one = true\nother_cci = \"unmarkable\""));

TEST(Xdp, NewTablesHoldAsAWhole)
{
	on_one_cpu();
	Both both("");
	Frames frames(5);

	for (unsigned round = 0; round < 6; ++round) {
		for (unsigned i = 0; i < 500; ++i) {
			const unsigned port = frames.port();

			both.same(port, frames.next(port));
		}
		both.load(round % 2 ? "" : "[map]\none_to_one = true\nrt = 0");
	}
	both.same_counters();
}
