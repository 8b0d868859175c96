// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "inproc_settings.hpp"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "log.hpp"

namespace uboe::urma {

namespace {

/// False when the variable is there and is no number from @p least to @p most.
bool from_environment(const char *name, u32 least, u32 most, u32 &value, int base = 10)
{
	const char *text = std::getenv(name);
	char *end = nullptr;

	if (!text || !*text)
		return true;
	const unsigned long n = std::strtoul(text, &end, base);
	if (*text < '0' || *text > '9' || *end || n < least || n > most) {
		URMA_FAILED(EINVAL, "%s=%s: a number from %u to %u", name, text, least, most);
		return false;
	}
	value = static_cast<u32>(n);
	return true;
}

/// The same of a power of two.
bool power_from_environment(const char *name, u32 least, u32 most, u32 &value)
{
	if (!from_environment(name, least, most, value))
		return false;
	if (!(value & (value - 1)))
		return true;
	URMA_FAILED(EINVAL, "%s=%u: no power of two", name, value);
	return false;
}

/// ALGORITHM[:SET][,NAME=VALUE]... of congestion control.
bool congestion_control(const char *name, ubp_cc_conf &cc, bool &is_set)
{
	const char *text = std::getenv(name);

	if (!text || !*text)
		return true;
	is_set = true;
	switch (ubp_cc_parse(&cc, text)) {
	case 0:
		if (cc.alg != UB_CC_CAQM || inproc::ub_port())
			return true;
		URMA_FAILED(EINVAL, "%s=%s: CAQM is for ports of UB domains (URMA_INPROC_UB_PORT)",
			    name, text);
		return false;
	case -ENOENT:
		URMA_FAILED(EINVAL, "%s=%s: no such algorithm, set or parameter", name, text);
		return false;
	case -ERANGE:
		URMA_FAILED(EINVAL, "%s=%s: a value out of range", name, text);
		return false;
	default:
		URMA_FAILED(EINVAL, "%s=%s: none, dcqcn, ldcp or caqm, then :SET, then ,NAME=VALUE",
			    name, text);
		return false;
	}
}

/// FIRST-LAST:BLOCKS, jetties and the depth of each. Only well-known numbers: nobody gets
/// one that has not asked for it.
bool lock_buffer(const char *name, uboe_lockbuf_ctx &b)
{
	const char *text = std::getenv(name);
	u32 first, last, depth;
	int used = 0;

	if (!text || !*text)
		return true;
	if (std::sscanf(text, "%4u-%4u:%4u%n", &first, &last, &depth, &used) != 3 || text[used] ||
	    first < 2 || last < first || last > 1023 || !std::has_single_bit(depth) || depth < 4 ||
	    depth > 4096) {
		URMA_FAILED(EINVAL,
			    "%s=%s: FIRST-LAST:BLOCKS, jetties 2 to 1023, a power of two 4 to 4096",
			    name, text);
		return false;
	}
	b.start_jetty = first;
	b.end_jetty = last;
	b.bb_shift = static_cast<u8>(std::countr_zero(depth));
	b.fe_enable = 1;
	return true;
}

/// A lock buffer of the device, which all its contexts share: EBUSY when it is another.
int set_up(inproc::Endpoint &device, u32 tag, const uboe_lockbuf_ctx &wanted)
{
	uboe_lockbuf_ctx b{};
	int err;

	if (!wanted.end_jetty)
		return 0;
	err = device.create(UBOE_MBOX_LOCKBUF, tag, wanted);
	if (err != EEXIST)
		return err;
	if (device.query(UBOE_MBOX_LOCKBUF, tag, b))
		return EINVAL; // it is the other one that has these jetties
	return b.start_jetty == wanted.start_jetty && b.end_jetty == wanted.end_jetty &&
			       b.bb_shift == wanted.bb_shift ?
		       0 :
		       EBUSY;
}

/// RC tables of shared channels, all of which have VL 0.
int set_tables(inproc::Endpoint &device, const InprocSettings &s)
{
	uboe_rct_ctx ctx{};

	if (!s.rct_depth)
		return 0;
	ctx.shift = static_cast<u8>(std::countr_zero(s.rct_depth));
	ctx.watermark = s.rct_watermark;
	return device.modify(UBOE_MBOX_RCT, UBOE_RCT_TAG_VL(0), ctx,
			     UBOE_RCTM_SHIFT | UBOE_RCTM_WATERMARK);
}

} // namespace

bool InprocSettings::read()
{
	return from_environment("URMA_INPROC_DWQE", 0, 1, dwqe) &&
	       from_environment("URMA_INPROC_GSO", 0, 1, gso) &&
	       from_environment("URMA_INPROC_JETTY_MBPS", 1, UBOE_TM_MAX_KBPS / 1000, jetty_mbps) &&
	       from_environment("URMA_INPROC_NPI", 1, UBOE_NPI_LOW | UBOE_NPI_ID, npi, 0) &&
	       power_from_environment("URMA_INPROC_SLICE_KB", 1, UBOE_MAX_SLICE / 1024, slice_kb) &&
	       power_from_environment("URMA_INPROC_RCT_DEPTH", 64, 32768, rct_depth) &&
	       from_environment("URMA_INPROC_RCT_WATERMARK", 1, rct_depth, rct_watermark) &&
	       congestion_control("URMA_INPROC_CC", cc, cc_is_set) &&
	       lock_buffer("URMA_INPROC_LOCKBUF", lockbuf[UBOE_LOCKBUF_WQE]) &&
	       lock_buffer("URMA_INPROC_STARS", lockbuf[UBOE_LOCKBUF_STARS]);
}

int InprocSettings::apply(inproc::Endpoint &device) const
{
	uboe_entity_ctx entity{};

	device.set_segmentation(gso);
	for (u32 tag : {UBOE_LOCKBUF_WQE, UBOE_LOCKBUF_STARS})
		if (int err = set_up(device, tag, lockbuf[tag]))
			return err;
	if (int err = set_tables(device, *this))
		return err;
	if (int err = cc_is_set ? device.set_congestion_control(cc) : 0)
		return err;
	entity.npi = npi;
	return npi ? device.modify(UBOE_MBOX_ENTITY, 0, entity, UBOE_EM_NPI) : 0;
}

} // namespace uboe::urma
