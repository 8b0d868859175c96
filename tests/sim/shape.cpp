// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Some seeds run under traffic management: what is sent late must arrive all the same,
 * and whoever waits when a connection breaks must not hold up the others. Drawn apart,
 * so that the other seeds stay what they are.
 */
#include "traffic.hpp"

namespace ubsim
{

namespace
{
constexpr unsigned vls = 4;

void make(host &h, std::uint32_t level, std::uint32_t number, const uboe_tm_ctx &c)
{
	if (int err = h.create(UBOE_MBOX_TM, UBOE_TM_TAG(level, number), c))
		fail("level %u, node %u cannot be made: %d", level, number, err);
}
} /* namespace */

std::uint32_t traffic::draw_rate(double limited)
{
	return shaping_.chance(limited) ? std::uint32_t(shaping_.scaled(200000, 20000000)) : 0;
}

void traffic::plant(host &h)
{
	uboe_tm_ctx c{};

	if (!shaped_)
		return;
	c.peak_kbps = draw_rate(0.7);
	make(h, UBOE_TML_PORT, 0, c);
	c.peak_kbps = 0;
	c.weight = 1;
	make(h, UBOE_TML_GROUP, 0, c);
	c.committed_kbps = draw_rate(0.5);
	for (unsigned i = 0; i < 16; i++)
		c.sl_vl[i] = i % vls;
	make(h, UBOE_TML_FUNCTION, 0, c);
	for (unsigned i = 0; i < vls; i++) {
		uboe_tm_ctx q{};

		q.vl = std::uint8_t(i);
		q.prio = std::uint8_t(shaping_.below(3));
		q.weight = std::uint16_t(shaping_.scaled(1, 255));
		q.peak_kbps = draw_rate(0.3);
		make(h, UBOE_TML_QSET, i, q);
	}
}

void traffic::shape(side &s)
{
	uboe_tm_ctx c{};

	if (!shaped_ || shaping_.chance(0.3))
		return;
	c.parent = shaping_.chance(0.3) ? UBOE_TM_NO_PARENT : 0;
	c.peak_kbps = draw_rate(0.4);
	make(*s.n, UBOE_TML_JETTY, s.id, c);
}

} /* namespace ubsim */
