// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <cstring>

#include <gtest/gtest.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "commands.hpp"
#include "impair.hpp"
#include "names.hpp"
#include "netlink.hpp"

namespace
{

using namespace ubctl;

TEST(Knobs, AreWhatTheKernelTakes)
{
	EXPECT_EQ(knob_for_kernel("loss=1%"), "loss=10000");
	EXPECT_EQ(knob_for_kernel("loss=0.5%"), "loss=5000");
	EXPECT_EQ(knob_for_kernel("dup=17"), "dup=17");
	EXPECT_EQ(knob_for_kernel("reorder=17ppm"), "reorder=17");
	EXPECT_EQ(knob_for_kernel("corrupt=100%"), "corrupt=1000000");
	EXPECT_EQ(knob_for_kernel("delay=250"), "delay_us=250");
	EXPECT_EQ(knob_for_kernel("delay=250us"), "delay_us=250");
	EXPECT_EQ(knob_for_kernel("delay=1.5ms"), "delay_us=1500");
	EXPECT_EQ(knob_for_kernel("delay=10s"), "delay_us=10000000");
	EXPECT_EQ(knob_for_kernel("seed=18446744073709551615"), "seed=18446744073709551615");
	EXPECT_EQ(knob_for_kernel("off"), "off");
}

TEST(Knobs, ThatMakeNoSenseAreRefused)
{
	for (const char *word : { "loss",
				  "loss=",
				  "loss=x",
				  "loss=1 %",
				  "loss=101%",
				  "loss=-1",
				  "loss=1000001",
				  "loss=nan",
				  "loss=inf",
				  "loss=1e9%",
				  "delay=11s",
				  "delay=1m",
				  "delay=1%",
				  "seed=1.5",
				  "seed=-1",
				  "seed=18446744073709551616",
				  "lose=1",
				  "=1",
				  "",
				  "offf",
				  "delay_us=1" })
		EXPECT_THROW(knob_for_kernel(word), Usage) << word;
}

TEST(Names, OfUnknownValuesAreNumbers)
{
	EXPECT_EQ(jetty_state_name(3), "READY");
	EXPECT_EQ(jetty_state_name(7), "7");
	EXPECT_EQ(jetty_type_name(2), "RC");
	EXPECT_EQ(jetty_type_name(5), "5");
	EXPECT_EQ(port_state_name(4), "ACTIVE");
	EXPECT_EQ(port_state_name(99), "99");
	EXPECT_EQ(physical_state_name(0), "0");
	EXPECT_EQ(object_name("qp"), "jetties");
	EXPECT_EQ(object_name("counter"), "counter");
}

TEST(Table, HasAColumnForEachField)
{
	const Rows rows{ { { "a", "long name" }, { "b", { { "c", 7 } } } },
			 { { "a", "x\ny" } },
			 { { "a", nullptr }, { "b", { { "c", 123456 } } } } };

	EXPECT_EQ(table_text(rows, { { "A", "/a" }, { "C", "/b/c" } }), "A          C\n"
									"long name  7\n"
									"x?y        -\n"
									"-          123456\n");
	EXPECT_EQ(table_text({}, { { "A", "/a" } }), "A\n");
}

TEST(Words, NameOneDevice)
{
	EXPECT_EQ(shown_device({}), "");
	EXPECT_EQ(shown_device({ "show" }), "");
	EXPECT_EQ(shown_device({ "uboe0" }), "uboe0");
	EXPECT_EQ(shown_device({ "show", "uboe0" }), "uboe0");
	EXPECT_THROW(shown_device({ "uboe0", "uboe1" }), Usage);
	EXPECT_THROW(shown_device({ "show", "uboe0", "uboe1" }), Usage);
}

class Message
{
      public:
	Message() : raw_(nlmsg_alloc_simple(0, 0)) {}
	~Message() { nlmsg_free(raw_); }
	Message(const Message &) = delete;
	Message &operator=(const Message &) = delete;

	nl_msg *get() const { return raw_; }
	Attributes attributes() const { return Attributes(nlmsg_hdr(raw_)); }

      private:
	nl_msg *raw_;
};

TEST(Attributes, AreReadWhereTheyFit)
{
	const Message m;

	nla_put_u8(m.get(), RDMA_NLDEV_ATTR_PORT_STATE, 4);
	nla_put_u32(m.get(), RDMA_NLDEV_ATTR_DEV_INDEX, 7);
	nla_put_u32(m.get(), RDMA_NLDEV_ATTR_DEV_INDEX, 8); // the first counts
	nla_put_u64(m.get(), RDMA_NLDEV_ATTR_NODE_GUID, 1ull << 40);
	nla_put_string(m.get(), RDMA_NLDEV_ATTR_DEV_NAME, "uboe0");
	nla_put(m.get(), RDMA_NLDEV_ATTR_FW_VERSION, 3, "0.1"); // without its 0
	nla_put_u32(m.get(), RDMA_NLDEV_ATTR_MAX + 100, 1); // of a later kernel
	const Attributes a = m.attributes();

	EXPECT_EQ(a.u8(RDMA_NLDEV_ATTR_PORT_STATE), 4);
	EXPECT_EQ(a.u32(RDMA_NLDEV_ATTR_DEV_INDEX), 7u);
	EXPECT_EQ(a.u64(RDMA_NLDEV_ATTR_NODE_GUID), 1ull << 40);
	EXPECT_EQ(a.text(RDMA_NLDEV_ATTR_DEV_NAME), "uboe0");
	EXPECT_EQ(a.text(RDMA_NLDEV_ATTR_FW_VERSION), "0.1");
	// another length than it should have, or not there
	EXPECT_EQ(a.u32(RDMA_NLDEV_ATTR_PORT_STATE), std::nullopt);
	EXPECT_EQ(a.u64(RDMA_NLDEV_ATTR_DEV_INDEX), std::nullopt);
	EXPECT_EQ(a.u8(RDMA_NLDEV_ATTR_RES_STATE), std::nullopt);
	EXPECT_FALSE(a.has(RDMA_NLDEV_ATTR_RES_STATE));
	EXPECT_TRUE(a.children(RDMA_NLDEV_ATTR_RES_QP).empty());
}

TEST(Attributes, ThatAreNestedKeepTheirOrder)
{
	const Message m;
	nlattr *table = nla_nest_start(m.get(), RDMA_NLDEV_ATTR_RES_QP);

	for (std::uint32_t n : { 5u, 6u }) {
		nlattr *entry = nla_nest_start(m.get(), RDMA_NLDEV_ATTR_RES_QP_ENTRY);

		nla_put_u32(m.get(), RDMA_NLDEV_ATTR_RES_LQPN, n);
		nla_nest_end(m.get(), entry);
	}
	nla_nest_end(m.get(), table);
	const auto children = m.attributes().children(RDMA_NLDEV_ATTR_RES_QP);

	ASSERT_EQ(children.size(), 2u);
	EXPECT_EQ(Attributes(children[0]).u32(RDMA_NLDEV_ATTR_RES_LQPN), 5u);
	EXPECT_EQ(Attributes(children[1]).u32(RDMA_NLDEV_ATTR_RES_LQPN), 6u);
}

TEST(Attributes, OfAMessageCutShortAreNotRead)
{
	const Message m;

	nla_put_u32(m.get(), RDMA_NLDEV_ATTR_DEV_INDEX, 7);
	nla_put_u64(m.get(), RDMA_NLDEV_ATTR_NODE_GUID, 9);
	for (std::uint32_t cut = 1; cut <= 12; ++cut) {
		nlmsghdr *h = nlmsg_hdr(m.get());
		const std::uint32_t whole = h->nlmsg_len;

		h->nlmsg_len -= cut;
		EXPECT_EQ(m.attributes().u64(RDMA_NLDEV_ATTR_NODE_GUID), std::nullopt);
		EXPECT_EQ(m.attributes().u32(RDMA_NLDEV_ATTR_DEV_INDEX), 7u);
		h->nlmsg_len = whole;
	}
}

} // namespace
