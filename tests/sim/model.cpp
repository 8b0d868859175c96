// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The model of memory that the oracle compares with. */
#include "traffic.hpp"

#include <algorithm>

namespace ubsim
{

const bytes &pattern_table()
{
	static const bytes table = [] {
		bytes b(pattern_len);
		rng r(0x7563);

		for (auto &v : b)
			v = std::uint8_t(r.next() >> 32);
		return b;
	}();

	return table;
}

region::region(node &n, std::uint32_t token_id, std::uint8_t access, std::uint64_t len, rng &r,
	       std::uint8_t flags)
	: n_(n), id_(token_id), model_(len)
{
	std::uint32_t token = std::uint32_t(r.below(4096));
	/* an unaligned start, but aligned for atomics */
	std::uint64_t va = (r.next() & 0x7fffffff0000) + r.below(512) * 8;

	key_ = make_key(id_, token);
	memory_ = std::make_unique<memory>(va, len, unsigned(r.range(12, len > 1 << 18 ? 18 : 15)));
	if (n_.register_memory(id_, token, pd, access, *memory_, flags))
		fail("a segment was refused");
}

region::~region()
{
	n_.destroy(UBOE_MBOX_SEG, id_);
}

void region::store(std::uint64_t off, const void *p, std::size_t n)
{
	if (!n)
		return;
	memory_->write(off, p, n);
	std::memcpy(model_.data() + off, p, n);
}

void region::expect(std::uint64_t off, const void *p, std::size_t n, const char *what)
{
	std::size_t bad = n ? memory_->compare(off, p, n) : 0;

	if (!n)
		return;
	if (bad != n)
		fail("%s: wrong byte %zu of %zu at %llx", what, bad, n,
		     (unsigned long long)va(off + bad));
	std::memcpy(model_.data() + off, p, n);
}

void region::either(std::uint64_t off, const void *p, std::size_t n, const char *what)
{
	const std::uint8_t *w = static_cast<const std::uint8_t *>(p);
	bytes have(n);

	memory_->read(off, have.data(), n);
	for (std::size_t i = 0; i < n; i++)
		if (have[i] != w[i] && have[i] != model_[off + i])
			fail("%s: byte %zu of %zu is neither old nor new", what, i, n);
	std::copy(have.begin(), have.end(), model_.begin() + std::ptrdiff_t(off));
}

void region::adopt(std::uint64_t off, std::size_t n)
{
	memory_->read(off, model_.data() + off, n);
}

void region::check(const char *what) const
{
	std::size_t bad = memory_->compare(0, model_.data(), model_.size());

	if (bad != model_.size())
		fail("%s: byte at %llx was changed", what, (unsigned long long)va(bad));
	if (!memory_->canaries_ok())
		fail("%s: bytes outside of the segment were changed", what);
}

extent_ref ring_space::take(std::uint64_t len)
{
	while (!used_.empty() && used_.front().use_count() == 1)
		used_.pop_front();
	if (used_.empty())
		head_ = 0;
	std::uint64_t tail = used_.empty() ? 0 : used_.front()->off;
	std::uint64_t at = head_;

	if (!used_.empty() && head_ <= tail) { /* wrapped: free is [head, tail) */
		if (head_ + len >= tail)
			return nullptr;
	} else if (head_ + len > size_) {
		if (used_.empty() || len >= tail)
			return nullptr;
		at = 0;
	}
	head_ = at + len;
	used_.push_back(std::make_shared<extent>(extent{ at, len }));
	return used_.back();
}

std::vector<piece> pool::pieces(std::uint32_t slot) const
{
	std::vector<piece> v;
	std::uint64_t off = std::uint64_t(slot) * (slot_bytes + 64);
	std::uint32_t left = slot_bytes;

	for (unsigned i = 0; i < nsge; i++) {
		std::uint32_t n = i + 1 == nsge ? left : left / 3 + 1;

		v.push_back({ off, n });
		off += n + 8;
		left -= n;
	}
	return v;
}

} /* namespace ubsim */
