// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Work that changes memory by what was there: executed twice, or not at all, it shows. */
#include "traffic.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

extern "C" {
#include "ubp_os.h"
}

namespace ubsim
{

namespace
{
wide cut(wide v, unsigned size)
{
	return size == 16 ? v : v & ((wide(1) << 8 * size) - 1);
}

/* The operators by the compiler's own types */
template <class T> T combined(unsigned code, T m, T a)
{
	switch (code) {
	case UBOE_UDF_ADD: return T(std::make_unsigned_t<T>(m) + std::make_unsigned_t<T>(a));
	case UBOE_UDF_XOR: return T(m ^ a);
	case UBOE_UDF_CLEAR: return T(m & ~a);
	case UBOE_UDF_SET: return T(m | a);
	case UBOE_UDF_SMAX:
	case UBOE_UDF_UMAX: return std::max(m, a);
	default: return std::min(m, a);
	}
}

template <> float combined(unsigned code, float m, float a)
{
	if (std::isnan(m) || std::isnan(a))
		return NAN;
	if (code == UBOE_UDF_ADD)
		return m + a;
	if (m == a) /* zeros of either sign */
		return (code == UBOE_UDF_SMAX) == std::signbit(m) ? a : m;
	return code == UBOE_UDF_SMAX ? std::max(m, a) : std::min(m, a);
}

template <class T> void combine(unsigned code, const bytes &mem, const bytes &arg, bytes &out)
{
	for (std::size_t i = 0; i < mem.size(); i += sizeof(T)) {
		T m, a;

		std::memcpy(&m, &mem[i], sizeof(T));
		std::memcpy(&a, &arg[i], sizeof(T));
		m = combined<T>(code, m, a);
		if constexpr (std::is_floating_point_v<T>)
			if (std::isnan(m)) /* the one that there is */
				m = std::copysign(NAN, 1.0f);
		std::memcpy(&out[i], &m, sizeof(T));
	}
}

struct element {
	std::uint8_t type;
	unsigned size;
	std::uint8_t last; /* of its operators that this test uses */
	void (*combine)(unsigned, const bytes &, const bytes &, bytes &);
};

/* Of signed types operators up to SMIN; of unsigned ones also up to SET, UMAX and UMIN instead */
constexpr element elements[] = {
	{ UBOE_UDF_S8, 1, UBOE_UDF_SMIN, combine<std::int8_t> },
	{ UBOE_UDF_S16, 2, UBOE_UDF_SMIN, combine<std::int16_t> },
	{ UBOE_UDF_S32, 4, UBOE_UDF_SMIN, combine<std::int32_t> },
	{ UBOE_UDF_S64, 8, UBOE_UDF_SMIN, combine<std::int64_t> },
	{ UBOE_UDF_U8, 1, UBOE_UDF_UMIN, combine<std::uint8_t> },
	{ UBOE_UDF_U16, 2, UBOE_UDF_UMIN, combine<std::uint16_t> },
	{ UBOE_UDF_U32, 4, UBOE_UDF_UMIN, combine<std::uint32_t> },
	{ UBOE_UDF_U64, 8, UBOE_UDF_UMIN, combine<std::uint64_t> },
	{ UBOE_UDF_FP32, 4, UBOE_UDF_SMIN, combine<float> },
};

/* Mostly ADD: doing it twice always shows */
unsigned draw_code(rng &r, const element &e)
{
	unsigned code = r.chance(0.6) ? 0u : unsigned(r.below(6));

	if (e.type == UBOE_UDF_FP32 && code < UBOE_UDF_SMAX)
		return UBOE_UDF_ADD;
	return code >= UBOE_UDF_SMAX && e.last == UBOE_UDF_UMIN ? code + 2 : code;
}

std::uint64_t sub_operation(unsigned code, unsigned size, std::uint64_t m, std::uint64_t a)
{
	const bool is_signed = code == UBOE_UDF_SMAX || code == UBOE_UDF_SMIN;

	if (size == 8)
		return is_signed ? std::uint64_t(combined(code, std::int64_t(m), std::int64_t(a))) :
				   combined(code, m, a);
	return is_signed ? std::uint32_t(combined(code, std::int32_t(m), std::int32_t(a))) :
			   combined(code, std::uint32_t(m), std::uint32_t(a));
}

wide result_of(const op &o, const word &x)
{
	const wide v = o.wr.swap;

	switch (o.wr.op) {
	case UBOE_SQE_CAS: return o.wr.compare == x.value ? v : x.value;
	case UBOE_SQE_SWAP: return v;
	case UBOE_SQE_FAA: return x.value + v;
	case UBOE_SQE_FSUB: return x.value - v;
	case UBOE_SQE_FAND: return x.value & v;
	case UBOE_SQE_FOR: return x.value | v;
	case UBOE_SQE_FXOR: return x.value ^ v;
	default:
		return sub_operation(o.wr.ud >> 12, x.size, std::uint64_t(x.value),
				     std::uint64_t(v));
	}
}
} /* namespace */

/* Have both ends announced it? */
bool traffic::agree(const side &s, std::uint32_t cap) const
{
	return s.n->dev()->cfg.caps & s.peer->n->dev()->cfg.caps & cap;
}

bool traffic::make_counter(side &s)
{
	place &far = places_[s.peer->n->index()];
	counter &c = far.counters[r_.below(far.counters.size())];
	op o = start(UBOE_SQE_FAA, c.size);

	if (!local_pieces(s, o, c.size, 1))
		return false;
	o.count = &c;
	o.wr.swap = r_.range(1, 15);
	o.wr.remote = far.counters_mem->va(c.off);
	o.wr.rkey = far.counters_mem->key();
	s.queued.push_back(std::move(o));
	return true;
}

bool traffic::make_word(side &s)
{
	static constexpr std::uint8_t codes[] = { UBOE_SQE_CAS,	  UBOE_SQE_CAS,	 UBOE_SQE_SWAP,
						  UBOE_SQE_FAA,	  UBOE_SQE_FSUB, UBOE_SQE_FAND,
						  UBOE_SQE_FOR,	  UBOE_SQE_FXOR, UBOE_SQE_STORE,
						  UBOE_SQE_STORE, UBOE_SQE_LOAD, UBOE_SQE_LOAD };
	place &far = places_[s.peer->n->index()];
	word &x = s.words[r_.below(ubp_os_has_cas128() ? 3 : 2)];
	op o = start(x.size == 16 ? std::uint8_t(UBOE_SQE_CAS) : codes[r_.below(std::size(codes))],
		     x.size);

	if (!local_pieces(s, o, x.size, 1))
		return false;
	o.wr.swap = cut(wide(r_.next()) << 64 | r_.next(), x.size);
	o.wr.compare = r_.chance(0.7) ? x.value : cut(wide(r_.next()) << 64 | r_.next(), x.size);
	o.wr.udf = o.wr.op == UBOE_SQE_STORE || o.wr.op == UBOE_SQE_LOAD;
	if (o.wr.udf)
		o.wr.ud = sub_op(unsigned(r_.below(8)));
	o.excl = &x;
	o.before = x.value;
	o.after = cut(result_of(o, x), x.size);
	x.value = o.after;
	o.wr.remote = far.counters_mem->va(x.off);
	o.wr.rkey = far.counters_mem->key();
	s.queued.push_back(std::move(o));
	return true;
}

bool traffic::make_write_reduce(side &s)
{
	const element &e = elements[r_.below(std::size(elements))];
	const unsigned code = draw_code(r_, e);
	std::uint32_t len = draw_len(s, std::min(s.copt.mtu, s.peer->copt.mtu));
	op o = start(UBOE_SQE_WRITE, len -= len % e.size);

	if (!agree(s, UB_CAP_REDUCE))
		return make_write(s);
	o.remote_space = s.peer->target_ring->take(len + 16);
	if (!o.remote_space || !source(s, o, len, UBOE_MAX_SGE, UBOE_MAX_INLINE))
		return false;
	o.remote_off = (o.remote_space->off + 7) & ~7ull; /* regions start aligned */
	auto result = std::make_shared<bytes>(len);

	e.combine(code, *found_at(*s.peer->target, o.remote_off, len), *o.data, *result);
	o.data = result;
	o.wr.remote = s.peer->target->va(o.remote_off);
	o.wr.rkey = s.peer->target->key();
	o.wr.udf = true;
	o.wr.ud = reduce(e.type, code);
	s.queued.push_back(std::move(o));
	return true;
}

bool traffic::make_read_reduce(side &s)
{
	const element &e = elements[r_.below(std::size(elements))];
	const unsigned code = draw_code(r_, e);
	std::uint64_t half = (s.peer->target->len() / 2 + 7) & ~7ull;
	std::uint32_t len = draw_len(s, std::min(s.copt.mtu, s.peer->copt.mtu));
	op o = start(UBOE_SQE_READ, len -= len % e.size);
	std::size_t done = 0;

	if (!agree(s, UB_CAP_REDUCE))
		return make_read(s);
	if (!local_pieces(s, o, len, UBOE_MAX_SGE_READ))
		return false;
	auto mine = pattern(len);
	auto result = std::make_shared<bytes>(len);

	for (const piece &p : o.local) {
		s.local->store(p.off, mine->data() + done, p.len);
		done += p.len;
	}
	o.remote_off = half + r_.below((s.peer->target->len() - half - len) / 8 + 1) * 8;
	e.combine(code, *mine, *found_at(*s.peer->target, o.remote_off, len), *result);
	o.data = result;
	o.wr.remote = s.peer->target->va(o.remote_off);
	o.wr.rkey = s.peer->target->key();
	o.wr.udf = true;
	o.wr.ud = reduce(e.type, code);
	s.queued.push_back(std::move(o));
	return true;
}

bool traffic::make_store_add(side &s)
{
	const bool two = r_.chance(0.5);
	std::uint32_t len = draw_len(s, std::min<std::uint32_t>(std::uint32_t(s.target->len() / 6),
								s.jopt.slice ? 1u << s.jopt.slice :
									       UBOE_MAX_SLICE));
	op o = start(two ? UBOE_SQE_WRITE_STOREADD2 : UBOE_SQE_WRITE_STOREADD1, len);
	std::uint64_t old;

	o.remote_space = s.peer->target_ring->take(len + 24);
	if (!o.remote_space || !source(s, o, len, UBOE_MAX_SGE_STOREADD,
				       two ? UBOE_MAX_INLINE_STOREADD2 : UBOE_MAX_INLINE_STOREADD1))
		return false;
	o.remote_off = o.remote_space->off;
	o.wr.remote = s.peer->target->va(o.remote_off);
	o.wr.rkey = s.peer->target->key();
	o.wr.imm = r_.next();
	o.behind_off = (o.remote_off + len + 7) & ~7ull;
	std::memcpy(&old, s.peer->target->model(o.behind_off), sizeof(old));
	o.behind = old + o.wr.imm;
	o.wr.notify = s.peer->target->va(o.behind_off);
	o.wr.notify_key = o.wr.rkey;
	s.queued.push_back(std::move(o));
	return true;
}

} /* namespace ubsim */
