// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sequences of mailbox commands, kicks and time. A context is a good one with the
 * input's changes. At the end everything that was created must go away.
 */
#include <map>
#include <set>

#include "fuzz.hpp"

using namespace fuzz;

namespace
{
constexpr std::uint32_t objects[] = { UBOE_MBOX_JETTY, UBOE_MBOX_RCT, UBOE_MBOX_JFC, UBOE_MBOX_JFR,
				      UBOE_MBOX_TP,    UBOE_MBOX_SEG, UBOE_MBOX_AEQ, UBOE_MBOX_TM };

struct bench {
	rig::host h{ config() };
	ubsim::dma ring = h.alloc_dma(1 << 16);
	ubsim::dma page = h.alloc_dma(4096);
	ubsim::memory m{ 0x1000, 8192, 12 };
	std::map<std::uint32_t, std::set<std::uint32_t>> live;

	template <class T> static void set(rig::bytes &b, const T &ctx)
	{
		b.resize(sizeof(T));
		std::memcpy(b.data(), &ctx, sizeof(T));
	}

	rig::bytes context(std::uint32_t obj, std::uint32_t tag)
	{
		rig::bytes b;

		switch (obj) {
		case UBOE_MBOX_JETTY: {
			uboe_jetty_ctx c{};

			c.type = tag & 4 ? UBOE_JETTY_UM : UBOE_JETTY_RC;
			c.mtu = 1024;
			std::memcpy(c.eid, rig::addr(false, 1).b.data(), 16);
			c.sq_shift = 4;
			c.pd = 1;
			c.sq_base = ring.bus + 32768;
			c.page = page.bus + 256 * (tag & 7);
			c.tx_jfcn = 1;
			c.rx_jfcn = 2;
			c.jfrn = 1;
			c.tpn = UB_TPN_RC(tag);
			c.state = UBOE_JS_INIT;
			set(b, c);
			break;
		}
		case UBOE_MBOX_RCT: {
			uboe_rct_ctx c{};

			c.shift = 6;
			c.jetty = tag;
			set(b, c);
			break;
		}
		case UBOE_MBOX_JFC: {
			uboe_jfc_ctx c{};

			c.shift = 6;
			c.base = ring.bus;
			c.rec = page.bus + 2048;
			set(b, c);
			break;
		}
		case UBOE_MBOX_JFR: {
			uboe_jfr_ctx c{};

			c.shift = 6;
			c.pd = 1;
			c.base = ring.bus + 8192;
			c.idx = ring.bus + 16384;
			c.rec = page.bus + 2112;
			set(b, c);
			break;
		}
		case UBOE_MBOX_TP: {
			uboe_tp_ctx c{};

			std::memcpy(c.laddr, rig::addr(false, 1).b.data(), 16);
			std::memcpy(c.raddr, rig::addr(false, 1).b.data(), 16);
			c.jetty = UB_TPN_RC_JETTY(tag);
			c.rmt_jetty = c.jetty ^ 1;
			c.mtu = 1024;
			c.retrans = 0xff;
			set(b, c);
			break;
		}
		case UBOE_MBOX_SEG: {
			uboe_seg_ctx c{};

			c.va = m.va();
			c.len = m.len();
			c.pbl = 1;
			c.off = m.off();
			c.pd = 1;
			c.chunk_shift = 12;
			set(b, c);
			break;
		}
		case UBOE_MBOX_JGRP: {
			uboe_jgrp_ctx c{};

			c.type = UBOE_JETTY_UM;
			c.pd = 1;
			set(b, c);
			break;
		}
		case UBOE_MBOX_ENTITY: {
			uboe_entity_ctx c{};

			c.npi = tag;
			set(b, c);
			break;
		}
		case UBOE_MBOX_TM: {
			uboe_tm_ctx c{};

			c.weight = UBOE_TM_TAG_LEVEL(tag) > UBOE_TML_PORT &&
				   UBOE_TM_TAG_LEVEL(tag) < UBOE_TML_JETTY;
			c.peak_kbps = 1000;
			set(b, c);
			break;
		}
		default: b.resize(128);
		}
		return b;
	}

	void command(input &in)
	{
		std::uint8_t what = in.u8(), how = in.u8();
		std::uint32_t obj = objects[what & 7], verb = UBOE_MBOX_CREATE + (what >> 3 & 3);
		std::uint32_t tag = how & 15, cmd = obj | verb;
		rig::bytes ctx, out(256);

		if (obj == UBOE_MBOX_TP)
			tag |= 0x800000;
		if (obj == UBOE_MBOX_TM)
			tag = UBOE_TM_TAG(how & 7, how >> 3 & 1);
		if (what & 0x20)
			tag = in.u32();
		if (what & 0x40)
			cmd = in.u16();
		if ((cmd & 0xf0) == UBOE_MBOX_ENTITY) { /* the rest keep the wrong context */
			obj = UBOE_MBOX_ENTITY;
			verb = cmd & 15;
			ctx = context(obj, tag & 7);
			tag = what & 0x20 ? tag : 0;
		} else {
			ctx = context(obj, tag);
		}
		for (unsigned n = how >> 5; n; n--) {
			std::uint8_t at = in.u8();

			ctx[at % ctx.size()] ^= in.u8();
		}
		if (obj == UBOE_MBOX_SEG) /* a right of the kernel's, which means no checks */
			ctx[offsetof(uboe_seg_ctx, flags)] &=
				static_cast<std::uint8_t>(~UBOE_SEG_IDENTITY);
		if (verb == UBOE_MBOX_MODIFY) {
			std::uint32_t mask = in.u8();

			if (obj == UBOE_MBOX_JGRP)
				ctx[offsetof(uboe_jgrp_ctx, member)] = in.u8() & 15;
			if (obj == UBOE_MBOX_JETTY && ctx[0] == UBOE_JS_INIT)
				ctx[0] = in.u8() & 7;
			ctx.insert(ctx.end(), { std::uint8_t(mask), 0, 0, 0 });
		}
		if (how & 0x10)
			ctx.resize(in.u8());
		/* a copy of its very size, so that a sanitizer sees a byte too many */
		std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[ctx.size() + 1]);
		std::memcpy(exact.get(), ctx.data(), ctx.size());
		h.no_memory = what & 0x80 && how & 0x80;
		int err = ubp_mbox_exec(h.dev(), cmd, tag, exact.get(),
					static_cast<u32>(ctx.size()), out.data(), 256);
		h.no_memory = false;
		must(err <= 0, "a command's result is neither 0 nor an error");
		note(cmd, tag, err);
	}

	/* The model: what exists */
	void note(std::uint32_t cmd, std::uint32_t tag, int err)
	{
		std::uint32_t obj = cmd & ~15u, verb = cmd & 15;

		if (verb == UBOE_MBOX_CREATE && !err)
			must(live[obj].insert(tag).second, "an object was created twice");
		if (verb == UBOE_MBOX_CREATE && err == -EEXIST)
			must(live[obj].count(tag) || obj == UBOE_MBOX_TP || obj == UBOE_MBOX_RCT ||
				     obj == UBOE_MBOX_TM || obj == UBOE_MBOX_LOCKBUF,
			     "-EEXIST for an object that does not exist");
		if (verb == UBOE_MBOX_DESTROY && !err)
			must(live[obj].erase(tag), "an object was destroyed that does not exist");
		if (verb == UBOE_MBOX_DESTROY && err == -ENOENT)
			must(!live[obj].count(tag), "an object is lost");
		if (verb == UBOE_MBOX_DESTROY && !err && obj == UBOE_MBOX_JETTY) {
			live[UBOE_MBOX_RCT].erase(tag); /* go with their jetty */
			live[UBOE_MBOX_TM].erase(UBOE_TM_TAG(UBOE_TML_JETTY, tag));
		}
	}

	void end()
	{
		for (std::uint32_t obj : { UBOE_MBOX_TP, UBOE_MBOX_JETTY, UBOE_MBOX_JGRP,
					   UBOE_MBOX_JFR, UBOE_MBOX_JFC, UBOE_MBOX_SEG })
			for (std::uint32_t tag : live[obj])
				must(!h.destroy(obj, tag), "an object cannot be destroyed");
		/* the leaves first; jetties have taken their own along */
		for (auto tag = live[UBOE_MBOX_TM].rbegin(); tag != live[UBOE_MBOX_TM].rend();
		     ++tag)
			must(UBOE_TM_TAG_LEVEL(*tag) == UBOE_TML_JETTY ||
				     !h.destroy(UBOE_MBOX_TM, *tag),
			     "a node cannot be destroyed");
		h.reap();
		must(!h.live_paths() && !h.live_segments() && !h.live_packets(),
		     "something outlives its object");
	}
};
} /* namespace */

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	input in(data, size);
	bench b;

	must(!b.h.register_memory(9, 0, 1, 0, b.m), "memory cannot be registered");
	b.live[UBOE_MBOX_SEG].insert(9);
	for (unsigned n = 0; in.more() && n < 64; n++) {
		switch (in.u8() & 7) {
		case 0: {
			/* loopback: what one channel sends arrives at the other */
			std::vector<ubsim::host::packet> out;

			out.swap(b.h.out());
			for (auto &p : out)
				b.h.receive(std::move(p.data));
			break;
		}
		case 1: {
			std::uint8_t what = in.u8();

			if (what & 16)
				ubp_drive_id(b.h.dev(), what & 15);
			else if (what & 32)
				ubp_leave_id(b.h.dev(), what & 15);
			else
				b.h.kick(what & 15);
			break;
		}
		case 2:
			b.h.time += in.u8() * 1000000ull;
			b.h.run_timers();
			b.h.reap();
			break;
		default: b.command(in);
		}
	}
	b.end();
	return 0;
}
