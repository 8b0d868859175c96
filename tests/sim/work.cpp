// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the programs ask for: every kind of work request, in every shape. */
#include "traffic.hpp"

#include <algorithm>

extern "C" {
#include "ubp_ta.h"
}

namespace ubsim
{

namespace
{
/* @o goes where @w goes */
void same_place(op &o, const op &w)
{
	o.remote_space = w.remote_space;
	o.remote_off = w.remote_off;
	o.wr.remote = w.wr.remote;
	o.wr.rkey = w.wr.rkey;
}
} /* namespace */

payload traffic::pattern(std::uint32_t len)
{
	auto b = std::make_shared<bytes>(len);
	std::size_t from = r_.below(pattern_len), done = 0;

	while (done < len) {
		std::size_t n = std::min<std::size_t>(len - done, pattern_len - from);

		std::memcpy(b->data() + done, pattern_table().data() + from, n);
		done += n;
		from = 0;
	}
	return b;
}

std::uint32_t traffic::draw_len(side &s, std::uint32_t most)
{
	std::uint32_t mtu = std::min(s.copt.mtu, s.peer->copt.mtu), len;

	switch (r_.below(20)) {
	case 0: return 0;
	case 1:
	case 2: len = mtu * std::uint32_t(r_.range(1, 4)) + std::uint32_t(r_.below(3)) - 1; break;
	case 3:
		/* the edges of a slice, where there is room for them */
		len = s.local->len() < 1 << 18 || !r_.chance(0.3) ?
			      std::uint32_t(r_.scaled(1, 16384)) :
			      65536 * std::uint32_t(r_.range(1, 2)) + std::uint32_t(r_.below(3)) -
				      1;
		break;
	case 4:
		len = w_.prof.big && !s.conn->index && r_.chance(0.2) ?
			      std::uint32_t(r_.range(1, 3 << 20)) :
			      std::uint32_t(r_.scaled(1, 20000));
		break;
	default: len = std::uint32_t(r_.scaled(1, r_.chance(0.7) ? 1500 : 12000));
	}
	return std::min(len, most);
}

op traffic::start(std::uint8_t code, std::uint32_t len)
{
	op o{};

	o.id = next_op_++;
	o.wr.op = code;
	o.wr.fence = r_.chance(0.05);
	o.wr.solicited = r_.chance(0.3);
	o.wr.order = std::uint8_t(r_.below(3));
	o.len = len;
	return o;
}

/* Local memory for @len bytes in some pieces, in any order, with gaps */
bool traffic::local_pieces(side &s, op &o, std::uint32_t len, unsigned max_sge)
{
	unsigned n = r_.chance(0.6) ? 1 : unsigned(r_.range(1, max_sge));
	std::vector<std::uint32_t> cuts{ 0, len };
	std::vector<unsigned> place_of(n);
	std::uint64_t off;

	if (!len && r_.chance(0.3))
		return true;
	o.local_space = s.local_ring->take(len + 16 * n);
	if (!o.local_space)
		return false;
	for (unsigned i = 1; i < n; i++)
		cuts.push_back(std::uint32_t(r_.below(len + 1)));
	std::sort(cuts.begin(), cuts.end());
	for (unsigned i = 0; i < n; i++)
		place_of[i] = i;
	for (unsigned i = n; i > 1; i--)
		std::swap(place_of[i - 1], place_of[r_.below(i)]);
	o.local.resize(n);
	off = o.local_space->off + r_.below(8);
	for (unsigned i : place_of) {
		o.local[i] = { off, cuts[i + 1] - cuts[i] };
		off += o.local[i].len + r_.below(8);
	}
	for (const piece &p : o.local)
		o.wr.sges.push_back({ s.local->va(p.off), p.len, s.local->key() });
	return true;
}

/* Something to send, inline or in local memory */
bool traffic::source(side &s, op &o, std::uint32_t len, unsigned max_sge, std::uint32_t max_inline)
{
	std::size_t done = 0;

	o.data = pattern(len);
	if (len <= max_inline && r_.chance(0.3)) {
		o.wr.inl = true;
		o.wr.data = *o.data;
		return true;
	}
	if (!local_pieces(s, o, len, max_sge))
		return false;
	for (const piece &p : o.local) {
		s.local->store(p.off, o.data->data() + done, p.len);
		done += p.len;
	}
	return true;
}

bool traffic::make_write(side &s)
{
	struct kind {
		std::uint8_t code;
		unsigned sges;
		std::uint32_t inl;
		std::uint32_t behind; /* bytes that are stored behind the data */
	};
	static constexpr kind plain{ UBOE_SQE_WRITE, UBOE_MAX_SGE, UBOE_MAX_INLINE, 0 };
	static constexpr kind imm{ UBOE_SQE_WRITE_IMM, UBOE_MAX_SGE_WRITE_IMM,
				   UBOE_MAX_INLINE_WRITE_IMM, 0 };
	static constexpr kind notify{ UBOE_SQE_WRITE_NOTIFY, UBOE_MAX_SGE_NOTIFY,
				      UBOE_MAX_INLINE_NOTIFY, notify_len };
	const kind &k = r_.chance(0.6) ? plain : r_.chance(0.7) ? imm : notify;
	std::uint32_t len = draw_len(s, std::uint32_t(s.target->len() / 6));
	op o = start(k.code, len);

	o.remote_space = s.peer->target_ring->take(len + k.behind + 1);
	if (!o.remote_space || !source(s, o, len, k.sges, k.inl))
		return false;
	o.remote_off = o.remote_space->off;
	o.wr.remote = s.peer->target->va(o.remote_off);
	o.wr.rkey = s.peer->target->key();
	o.wr.imm = r_.next();
	o.wr.notify = o.wr.remote + len;
	o.wr.notify_key = o.wr.rkey;
	o.behind_off = o.remote_off + len;
	o.behind = o.wr.imm;
	s.queued.push_back(std::move(o));
	return true;
}

bool traffic::make_send(side &s)
{
	static constexpr std::uint8_t codes[] = { UBOE_SQE_SEND, UBOE_SQE_SEND_IMM,
						  UBOE_SQE_SEND_INV };
	std::uint32_t len = draw_len(s, std::min<std::uint32_t>(s.peer->recv->slot_bytes,
								std::uint32_t(s.local->len() / 6)));
	op o = start(codes[r_.below(3)], len);

	if (!source(s, o, len, UBOE_MAX_SGE, UBOE_MAX_INLINE))
		return false;
	o.wr.imm = r_.next();
	s.queued.push_back(std::move(o));
	return true;
}

bool traffic::make_read(side &s)
{
	std::uint64_t half = s.peer->target->len() / 2;
	std::uint32_t len = draw_len(s, s.reader ? 1500 : std::uint32_t(half / 3));
	op o = start(UBOE_SQE_READ, len);

	if (!local_pieces(s, o, len, UBOE_MAX_SGE_READ))
		return false;
	o.remote_off = half + r_.below(half - len + 1);
	o.data = found_at(*s.peer->target, o.remote_off, len);
	o.wr.remote = s.peer->target->va(o.remote_off);
	o.wr.rkey = s.peer->target->key();
	s.queued.push_back(std::move(o));
	return true;
}

/* A Read behind a Write finds what that wrote, without a fence */
bool traffic::make_read_after_write(side &s)
{
	if (!make_write(s))
		return false;
	const op &w = s.queued.back();
	op o = start(UBOE_SQE_READ, w.len);

	same_place(o, w);
	o.data = w.data;
	if (local_pieces(s, o, w.len, UBOE_MAX_SGE_READ))
		s.queued.push_back(std::move(o));
	return true;
}

/* A fenced Write behind a Read does not change what that finds */
bool traffic::make_write_after_read(side &s)
{
	if (!make_write(s))
		return false;
	op w = std::move(s.queued.back());
	op o = start(UBOE_SQE_READ, w.len);

	s.queued.pop_back();
	if (!local_pieces(s, o, w.len, UBOE_MAX_SGE_READ)) {
		s.queued.push_back(std::move(w));
		return true;
	}
	same_place(o, w);
	o.data = found_at(*s.peer->target, o.remote_off, w.len);
	if (r_.chance(0.5))
		w.wr.fence = true;
	else
		w.wr.order = UB_ORDER_STRONG;
	s.queued.push_back(std::move(o));
	s.queued.push_back(std::move(w));
	return true;
}

/* A fenced Send or Write carries what the Read before it has brought */
bool traffic::make_dependent(side &s)
{
	if (!make_read(s))
		return false;
	const op &rd = s.queued.back();
	bool write = r_.chance(0.5) || rd.len > s.peer->recv->slot_bytes;
	op o = start(write ? UBOE_SQE_WRITE : UBOE_SQE_SEND, rd.len);

	if (write) {
		o.remote_space = s.peer->target_ring->take(rd.len + 1);
		if (!o.remote_space)
			return true;
		o.remote_off = o.remote_space->off;
		o.wr.remote = s.peer->target->va(o.remote_off);
		o.wr.rkey = s.peer->target->key();
	}
	o.local_space = rd.local_space;
	o.wr.sges = rd.wr.sges;
	o.data = rd.data;
	o.wr.imm = 0;
	if (r_.chance(0.5))
		o.wr.fence = true;
	else
		o.wr.order = UB_ORDER_STRONG;
	s.queued.push_back(std::move(o));
	return true;
}

bool traffic::refill(side &s)
{
	if (s.reader && r_.chance(0.9))
		return make_read(s);
	switch (r_.below(18)) {
	case 0:
	case 1:
	case 2:
	case 3: return make_write(s);
	case 4:
	case 5:
	case 6: return make_send(s);
	case 7:
	case 8: return make_read(s);
	case 9: return make_read_after_write(s);
	case 10: return make_write_after_read(s);
	case 11:
	case 12: return make_dependent(s);
	case 13: return make_counter(s);
	case 14: return make_word(s);
	case 15: return r_.chance(0.5) ? make_write_reduce(s) : make_read_reduce(s);
	case 16: return make_store_add(s);
	default: s.queued.push_back(start(UBOE_SQE_NOP, 0)); return true;
	}
}

/* A request that must be refused, here or there */
void traffic::make_bad(side &s)
{
	op o = start(UBOE_SQE_WRITE, 100);

	o.data = nullptr;
	o.must_fail = UBOE_CQE_REMOTE;
	o.wr.sges = { { s.local->va(0), 100, s.local->key() } };
	o.wr.remote = s.peer->target->va(0);
	o.wr.rkey = s.peer->target->key();
	switch (r_.below(10)) {
	case 0:
		o.wr.rkey ^= 1; /* TokenValue */
		break;
	case 8:
		o.wr.udf = true;
		o.wr.ud = reduce(UBOE_UDF_FP32, UBOE_UDF_XOR);
		o.must_fail = UBOE_CQE_UNSUPPORTED;
		break;
	case 9:
		if (!agree(s, UB_CAP_WASA)) { /* the data would be there */
			o.wr.rkey ^= 1;
			break;
		}
		o.wr.op = UBOE_SQE_WRITE_STOREADD2;
		o.wr.notify = (s.peer->target->va(s.peer->target->len()) + 7) & ~7ull;
		o.wr.notify_key = o.wr.rkey;
		break;
	case 1: o.wr.remote = s.peer->target->va(s.peer->target->len() - 99); break;
	case 2:
		o.wr.op = UBOE_SQE_READ;
		o.wr.rkey += 900 << 12; /* TokenID */
		break;
	case 3:
		o.wr.remote = s.peer->local->va(0);
		o.wr.rkey = s.peer->local->key(); /* no right */
		break;
	case 4:
		o.wr.sges[0].key ^= 1;
		o.must_fail = UBOE_CQE_LOCAL;
		break;
	case 5:
		o.wr.op = 0x3f;
		o.must_fail = UBOE_CQE_UNSUPPORTED;
		break;
	case 6:
		o.wr.op = UBOE_SQE_FAA;
		o.wr.sges[0].len = 8;
		o.wr.remote += 8 - o.wr.remote % 8 + 4;
		o.must_fail = UBOE_CQE_UNSUPPORTED;
		break;
	default:
		o.wr.op = UBOE_SQE_SEND;
		if (s.peer->recv->slot_bytes < 100)
			break;
		o.wr.sges.resize(13, o.wr.sges[0]);
		if (s.peer->recv->slot_bytes >= 1300) {
			o.wr.sges[12].key ^= 1;
			o.must_fail = UBOE_CQE_LOCAL;
		}
	}
	put(s, std::move(o));
}

void traffic::put(side &s, op &&o)
{
	std::uint8_t code = o.wr.op;
	bool last = !s.left && s.queued.empty();

	o.wr.signaled = last || r_.chance(0.4) || o.must_fail || s.conn->state != health::alive ||
			s.q->room() < rc::blocks(o.wr) + 8;
	if (s.jopt.flags & UBOE_JETTY_SIG_ALL)
		o.wr.signaled = true;
	o.end = s.q->put(o.wr);
	if (!o.must_fail && (code <= UBOE_SQE_SEND_INV || code == UBOE_SQE_WRITE_IMM))
		s.peer->inbound.push_back({ o.id, code, o.len, o.wr.imm, o.data, o.remote_space });
	if (w_.tracing())
		w_.note("%u: connection %u posts op %llu code %02x len %u end %x%s%s", s.n->index(),
			s.conn->index, (unsigned long long)o.id, code, o.len, o.end,
			o.wr.signaled ? " signaled" : "", o.wr.fence ? " fence" : "");
	/* what the program's memory holds is copied out of the SQE by the device */
	o.wr.data.clear();
	s.ops.push_back(std::move(o));
}

void traffic::want_post(side &s, std::uint64_t delay)
{
	w_.at(delay, act::user, s.n->index(), s.conn->index,
	      std::uint64_t(s.incarnation) << 1 | s.which, post);
}

void traffic::poke_msn(connection &c)
{
	ubp_tp *tp[2];

	for (unsigned i = 0; i < 2; i++) {
		tp[i] = ubp_tp_find(c.s[i].n->dev(), UB_TPN_RC(c.s[i].id));
		if (!tp[i] || tp[i]->state != UBP_TP_OPEN)
			return;
	}
	for (unsigned i = 0; i < 2; i++) {
		std::uint32_t v = UB_PSN_MASK - std::uint32_t(r_.below(60));

		tp[i]->snd_msn = v;
		tp[i]->acked_msn = v;
		tp[!i]->rsp.exec_msn = v;
	}
	c.poke = false;
}

void traffic::do_post(side &s)
{
	std::uint64_t n = s.reader ? 200 : r_.range(1, 8);
	bool any = false;

	if (s.conn->state != health::alive || !s.q)
		return;
	if (s.conn->poke) {
		poke_msn(*s.conn);
		if (s.conn->poke) {
			want_post(s, 50 * us);
			return;
		}
	}
	while (n--) {
		if (s.queued.empty()) {
			if (!s.left)
				break;
			s.left--;
			if (!refill(s) || s.queued.empty()) {
				s.left++;
				break;
			}
		}
		if (s.q->room() < rc::blocks(s.queued.front().wr))
			break;
		op o = std::move(s.queued.front());

		s.queued.pop_front();
		put(s, std::move(o));
		any = true;
	}
	s.wait = any ? 5 * us : std::min(s.wait * 2, 5 * ms);
	if (any) {
		if (r_.chance(0.2))
			w_.at(r_.below(3 * us), act::user, s.n->index(), s.conn->index,
			      std::uint64_t(s.incarnation) << 1 | s.which, ring);
		else
			do_ring(s);
	}
	if (s.left || !s.queued.empty())
		want_post(s, any ? r_.scaled(100, 50 * us) : s.wait + r_.below(s.wait));
}

void traffic::do_ring(side &s)
{
	if (!s.q || !s.q->ring())
		return;
	/* the system call takes a moment, too */
	if (r_.chance(0.7))
		s.n->kick(s.id);
	else
		w_.at(r_.below(4 * us), act::turn, s.n->index(), s.id);
}

} /* namespace ubsim */
