// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// The C++ binding: what it adds to the C API, which has tests of its own.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>

#include <uboe/urma.hpp>

using namespace uboe::urma;
using namespace std::chrono_literals;

namespace
{

constexpr auto patience = 10s;

struct Shape {
	bool events = false;
	std::uint32_t depth = 64;
	std::uint8_t rnr_retry = 7;
};

/// One end of a connection.
struct End {
	explicit End(const char *eid, const Shape &shape = {})
		: context(Eid::of(eid)), channel(context),
		  completions(shape.events ? CompletionQueue(channel) : CompletionQueue(context)),
		  receives(context, completions),
		  jetty(context, completions, receives,
			{ .depth = shape.depth, .rnr_retry = shape.rnr_retry }),
		  memory(LocalSegment::allocate(context, 1 << 20, { .access = Access::atomic }))
	{
	}

	Completion next()
	{
		const auto c = completions.wait_for(patience);

		EXPECT_TRUE(c) << "no completion came";
		return c.value_or(Completion());
	}

	Context context;
	EventChannel channel;
	CompletionQueue completions;
	ReceiveQueue receives;
	RcJetty jetty;
	LocalSegment memory;
};

struct Pair {
	explicit Pair(const Shape &shape = {}) : a("127.0.0.1", shape), b("127.0.0.2", shape)
	{
		EXPECT_FALSE(a.jetty.bind(b.jetty.remote()));
		EXPECT_FALSE(b.jetty.bind(a.jetty.remote()));
	}

	End a, b;
};

/// A segment that claims more than there is: to be refused by its owner.
RemoteSegment overstated(const LocalSegment &s)
{
	RemoteSegment r = s.remote();

	r.length += 4096;
	return r;
}

TEST(Category, CodesCompareAsTheyShould)
{
	const std::error_code full = errc::queue_full;

	EXPECT_EQ(&full.category(), &category());
	EXPECT_STREQ(category().name(), "urma");
	EXPECT_EQ(full, errc::no_memory);
	EXPECT_EQ(full, std::errc::not_enough_memory);
	EXPECT_EQ(std::error_code(errc::busy), std::errc::resource_unavailable_try_again);
	EXPECT_EQ(std::error_code(errc::address_in_use), std::errc::address_in_use);
	EXPECT_EQ(std::error_code(errc::ack_timeout), std::errc::timed_out);
	EXPECT_EQ(std::error_code(errc::flushed), std::errc::operation_canceled);
	EXPECT_EQ(std::error_code(errc::remote_access), std::errc::permission_denied);
	EXPECT_EQ(std::error_code(errc::descriptor_eid), std::errc::invalid_argument);
	EXPECT_NE(std::error_code(errc::failed), std::errc::invalid_argument);
	EXPECT_FALSE(detail::from_completion(URMA_CR_SUCCESS));
	EXPECT_EQ(detail::from_completion(URMA_CR_LOC_LEN_ERR), errc::local_length);
}

TEST(Category, EachValueHasItsOwnText)
{
	std::vector<std::string> texts;

	for (int base : { 0x2001, 0x3000 })
		for (int i = 0; detail::text_of(errc{ base + i }); ++i)
			texts.push_back(category().message(base + i));
	// the list breaks at the two synthetic statuses
	for (errc e : { errc::unhandled, errc::local_poison, errc::remote_poison, errc::failed })
		texts.push_back(category().message(static_cast<int>(e)));
	EXPECT_EQ(texts.size(), 11u + 9u + 4u);
	texts.push_back(category().message(EINVAL));
	EXPECT_EQ(texts.back(), std::generic_category().message(EINVAL));
	std::sort(texts.begin(), texts.end());
	EXPECT_EQ(std::adjacent_find(texts.begin(), texts.end()), texts.end());
}

TEST(Category, ConstructorsThrow)
{
	const auto code_of = [](auto f) {
		try {
			f();
		} catch (const Error &e) {
			EXPECT_NE(std::string(e.what()), "");
			return e.code();
		}
		return std::error_code();
	};
	Context context(Eid::of("127.0.0.1"));
	CompletionQueue small(context, { .depth = 64 });

	EXPECT_EQ(code_of([] { Eid::of("localhost"); }), errc::invalid);
	EXPECT_EQ(code_of([] { Context(Eid::of("192.0.2.1")); }), errc::no_device);
	EXPECT_EQ(code_of([] { Device::of("nothing"); }), errc::no_device);
	EXPECT_EQ(code_of([&] { LocalSegment(context, std::span<std::byte>()); }), errc::invalid);
	EXPECT_EQ(code_of([&] { CompletionQueue(context, { .depth = 1u << 21 }); }), errc::invalid);
	EXPECT_EQ(code_of([&] { ReceiveQueue(context, small, { .depth = 65 }); }), errc::invalid)
		<< "more records than the completion queue holds";
	ReceiveQueue receives(context, small);

	EXPECT_EQ(code_of([&] { RcJetty(context, small, receives); }), errc::invalid);
	CompletionQueue large(context);

	EXPECT_EQ(code_of([&] { RcJetty(context, large, receives, { .max_slices = 14 }); }),
		  errc::invalid);
	RcJetty first(context, large, receives, { .id = JettyId{ 77 } });

	EXPECT_EQ(first.id(), JettyId{ 77 });
	EXPECT_EQ(code_of([&] { RcJetty(context, large, receives, { .id = JettyId{ 77 } }); }),
		  errc::exists);
}

const RemoteJetty some_jetty{ Eid::of("127.0.0.1"), JettyId{ 0x403 }, Token{ 0xfeedf00d } };
const RemoteSegment some_segment{ Eid::of("fe80::1"), 0x7f0000001000, 4096, TokenId{ 0x12 },
				  Token{ 0xa } };

TEST(Descriptors, Text)
{
	EXPECT_EQ(some_jetty.text(), "uboe://[127.0.0.1]/jetty/0x403?token=feedf00d");
	EXPECT_EQ(some_segment.text(),
		  "uboe://[fe80::1]/segment/0x12?va=0x7f0000001000&len=4096&token=0000000a");
	EXPECT_EQ(RemoteJetty::parse(some_jetty.text()), some_jetty);
	EXPECT_EQ(RemoteSegment::parse(some_segment.text()), some_segment);
	// what people write
	EXPECT_EQ(RemoteJetty::parse("uboe://[127.0.0.1]/jetty/1027?token=0xFEEDF00D"), some_jetty);
	EXPECT_EQ(RemoteSegment::parse("uboe://[FE80:0::1]/segment/18?token=a&len=0x1000"
				       "&va=139637976731648"),
		  some_segment);
	RemoteJetty open = some_jetty;

	open.token.reset();
	EXPECT_EQ(open.text(), "uboe://[127.0.0.1]/jetty/0x403");
	EXPECT_EQ(RemoteJetty::parse(open.text()), open);
}

TEST(Descriptors, Bytes)
{
	const auto j = some_jetty.serialize();
	const auto s = some_segment.serialize();
	const std::string_view expected( // version, kind, length, flags; EID; numbers
		"\1\2\0\60\1\0\0\0"
		"\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1"
		"\0\0\0\x12\0\0\0\xa"
		"\0\0\x7f\0\0\0\x10\0\0\0\0\0\0\0\x10\0",
		48);

	ASSERT_EQ(s.size(), expected.size());
	EXPECT_EQ(std::memcmp(s.data(), expected.data(), s.size()), 0);
	EXPECT_EQ(RemoteJetty::parse(std::span<const std::byte>(j)), some_jetty);
	EXPECT_EQ(RemoteSegment::parse(std::span<const std::byte>(s)), some_segment);
}

TEST(Descriptors, MalformedText)
{
	constexpr errc fine{}, scheme = errc::descriptor_scheme, eid = errc::descriptor_eid;
	constexpr errc kind = errc::descriptor_kind, number = errc::descriptor_number;
	constexpr errc parameter = errc::descriptor_parameter, missing = errc::descriptor_missing;
	const struct {
		const char *text;
		errc jetty, segment;
	} table[] = {
		{ "", scheme, scheme },
		{ "http://[::1]/jetty/1", scheme, scheme },
		{ "uboe://127.0.0.1/jetty/1", scheme, scheme },
		{ "uboe://[", eid, eid },
		{ "uboe://[::1", eid, eid },
		{ "uboe://[127.0.0.256]/jetty/1", eid, eid },
		{ "uboe://[localhost]/jetty/1", eid, eid },
		{ "uboe://[::1]", kind, kind },
		{ "uboe://[::1]/jetty/1", fine, kind },
		{ "uboe://[::1]/jetty/", number, kind },
		{ "uboe://[::1]/jetty/0", number, kind },
		{ "uboe://[::1]/jetty/0x", number, kind },
		{ "uboe://[::1]/jetty/-1", number, kind },
		{ "uboe://[::1]/jetty/1 ", number, kind },
		{ "uboe://[::1]/jetty/0x100000", number, kind },
		{ "uboe://[::1]/jetty/99999999999999999999", number, kind },
		{ "uboe://[::1]/jetty/1/2", number, kind },
		{ "uboe://[::1]/jetty/1?", parameter, kind },
		{ "uboe://[::1]/jetty/1?token", parameter, kind },
		{ "uboe://[::1]/jetty/1?token=xyz", number, kind },
		{ "uboe://[::1]/jetty/1?token=123456789", number, kind },
		{ "uboe://[::1]/jetty/1?token=1&token=1", parameter, kind },
		{ "uboe://[::1]/jetty/1?token=1&", parameter, kind },
		{ "uboe://[::1]/jetty/1?va=1", parameter, kind },
		{ "uboe://[::1]/segment/1", kind, missing },
		{ "uboe://[::1]/segment/1?len=1&token=1", kind, missing },
		{ "uboe://[::1]/segment/1?va=1&len=0", kind, number },
		{ "uboe://[::1]/segment/1?va=0xffffffffffffffff&len=2", kind, number },
		{ "uboe://[::1]/segment/1?va=1&len=1&len=1", kind, parameter },
		{ "uboe://[::1]/segment/1?va=1&len=1&access=7", kind, parameter },
		{ "uboe://[::1]/segment/1?va=1&len=1", kind, fine },
	};

	for (const auto &row : table) {
		std::error_code j, s;

		const bool is_jetty = RemoteJetty::parse(row.text, j).has_value();
		const bool is_segment = RemoteSegment::parse(row.text, s).has_value();

		EXPECT_EQ(is_jetty, !j) << row.text;
		EXPECT_EQ(is_segment, !s) << row.text;
		EXPECT_EQ(j.value(), static_cast<int>(row.jetty)) << row.text << j.message();
		EXPECT_EQ(s.value(), static_cast<int>(row.segment)) << row.text << s.message();
	}
	try {
		RemoteJetty::parse("uboe://[::1]/jetty/1?token=xyz");
		ADD_FAILURE();
	} catch (const Error &e) {
		EXPECT_EQ(e.code(), errc::descriptor_number);
		EXPECT_NE(std::string(e.what()).find("'token=xyz'"), std::string::npos) << e.what();
	}
}

TEST(Descriptors, MalformedBytes)
{
	const auto code_of = [](std::size_t at, std::uint8_t value) {
		auto b = some_segment.serialize();
		std::error_code error;

		b[at] = std::byte{ value };
		RemoteSegment::parse(std::span<const std::byte>(b), error);
		return error;
	};

	EXPECT_EQ(code_of(0, 2), errc::descriptor_version);
	EXPECT_EQ(code_of(0, 0), errc::descriptor_version);
	EXPECT_EQ(code_of(1, 1), errc::descriptor_kind);
	EXPECT_EQ(code_of(1, 3), errc::descriptor_kind);
	EXPECT_EQ(code_of(2, 1), errc::descriptor_length);
	EXPECT_EQ(code_of(3, 47), errc::descriptor_length);
	EXPECT_EQ(code_of(4, 3), errc::descriptor_reserved);
	EXPECT_EQ(code_of(4, 0), errc::descriptor_reserved) << "a token that is not valid";
	EXPECT_EQ(code_of(6, 1), errc::descriptor_reserved);
	EXPECT_EQ(code_of(25, 0x10), errc::descriptor_number) << "21 bits";
	EXPECT_EQ(code_of(27, 0), errc::descriptor_number);
	EXPECT_EQ(code_of(46, 0), errc::descriptor_number) << "no length";
	const auto whole = some_jetty.serialize();

	for (std::size_t n = 0; n < whole.size(); ++n) {
		std::error_code error;

		EXPECT_FALSE(RemoteJetty::parse(std::span(whole).first(n), error));
		EXPECT_EQ(error, errc::descriptor_length) << n;
	}
	EXPECT_THROW(RemoteJetty::parse(std::span(whole).first(3)), Error);
}

TEST(Values, SlicesAreChecked)
{
	Context context(Eid::of("127.0.0.1"));
	const LocalSegment s = LocalSegment::allocate(context, 100);

	EXPECT_EQ(s.slice(60, 40).length(), 40u);
	EXPECT_EQ(s.slice(100, 0).length(), 0u);
	EXPECT_THROW(s.slice(60, 41), std::out_of_range);
	EXPECT_THROW(s.slice(101, 0), std::out_of_range);
	EXPECT_THROW(s.slice(1, ~std::size_t{ 0 }), std::out_of_range);
	EXPECT_EQ(some_segment.at(96).length, 4000u);
	EXPECT_EQ(some_segment.at(96).address, some_segment.va + 96);
	EXPECT_EQ(some_segment.at(96, 4).length, 4u);
	EXPECT_THROW(some_segment.at(4097), std::out_of_range);
	EXPECT_THROW(some_segment.at(4096, 1), std::out_of_range);
	EXPECT_EQ(s.remote().length, 100u);
	EXPECT_EQ(RemoteSegment::parse(s.remote().text()), s.remote());
}

TEST(Values, DevicesHaveEids)
{
	const DeviceList devices;

	ASSERT_FALSE(devices.empty());
	const Device d = *devices.begin();

	EXPECT_EQ(Device::of(std::string(d.name())).native(), d.native());
	EXPECT_FALSE(d.eids().empty());
	EXPECT_TRUE(d.attributes().dev_cap.trans_mode & URMA_TM_RC);
}

TEST(Operations, AllOfThem)
{
	Pair p;
	const RemoteSegment far = p.b.memory.remote();
	auto mine = p.a.memory.as<std::uint64_t>();
	auto theirs = p.b.memory.as<std::uint64_t>();
	const LocalSlice word = p.a.memory.slice(0, 8);
	const auto run = [&p](std::error_code posted) {
		EXPECT_FALSE(posted) << posted.message();
		const Completion c = p.a.next();

		EXPECT_TRUE(c) << c.error().message();
		EXPECT_EQ(c.jetty(), p.a.jetty.id());
		EXPECT_NE(c.send(), nullptr);
		return c.user();
	};
	const auto received = [&p](std::uint64_t user) {
		const Completion c = p.b.next();

		EXPECT_TRUE(c && c.recv()) << c.error().message();
		EXPECT_EQ(c.user(), user);
		EXPECT_EQ(c.recv()->sender, p.a.context.eid());
		EXPECT_EQ(c.recv()->sender_jetty, p.a.jetty.id());
		return c.recv() ? *c.recv() : RecvDone();
	};

	mine[0] = 5;
	EXPECT_EQ(run(p.a.jetty.write(word, far.at(0), { .user = 9 })), 9u);
	EXPECT_EQ(theirs[0], 5u);
	run(p.a.jetty.write({ word, word }, far.at(16)));
	EXPECT_EQ(theirs[3], 5u);
	theirs[1] = 6;
	run(p.a.jetty.read(word, far.at(8), { .fence = true }));
	EXPECT_EQ(mine[0], 6u);
	run(p.a.jetty.write_notify(word, far.at(24), far.at(32), 77));
	EXPECT_EQ(theirs[3], 6u);
	EXPECT_EQ(theirs[4], 77u);
	run(p.a.jetty.cas(word, far.at(0), 5, 100));
	EXPECT_EQ(mine[0], 5u);
	run(p.a.jetty.swap(word, far.at(0), 0xf0));
	EXPECT_EQ(mine[0], 100u);
	run(p.a.jetty.fetch_add(word, far.at(0), 0x0f));
	run(p.a.jetty.fetch_sub(word, far.at(0), 1));
	run(p.a.jetty.fetch_and(word, far.at(0), 0x3e));
	run(p.a.jetty.fetch_or(word, far.at(0), 0x100));
	run(p.a.jetty.fetch_xor(word, far.at(0), 0x2));
	EXPECT_EQ(theirs[0], ((((0xffu - 1) & 0x3e) | 0x100) ^ 2));
	run(p.a.jetty.fetch_add(p.a.memory.slice(0, 4), far.at(8, 4), 1));
	EXPECT_EQ(theirs[1], 7u);
	run(p.a.jetty.nop());

	for (std::uint64_t i = 1; i <= 4; ++i)
		EXPECT_FALSE(p.b.jetty.receive(p.b.memory.slice(4096 * i, 64), i));
	run(p.a.jetty.send(LocalSlice("hello"), { .inline_data = true }));
	EXPECT_EQ(received(1).length, 5u);
	EXPECT_EQ(std::memcmp(p.b.memory.bytes().data() + 4096, "hello", 5), 0);
	run(p.a.jetty.send_imm(word, ~0ull));
	EXPECT_EQ(received(2).imm, ~0ull);
	run(p.a.jetty.send_invalidate(word, far));
	const RecvDone invalidated = received(3);

	EXPECT_EQ(invalidated.kind, RecvKind::send_invalidate);
	EXPECT_EQ(invalidated.invalidated, far.id);
	EXPECT_EQ(invalidated.invalidated_token, far.token);
	run(p.a.jetty.write_imm(p.a.memory.slice(0, 100), far.at(0), 3));
	const RecvDone imm = received(4);

	EXPECT_EQ(imm.kind, RecvKind::write_imm);
	EXPECT_EQ(imm.imm, 3u);
	EXPECT_EQ(imm.length, 100u);
}

TEST(Operations, WhatIsRefusedIsNotPosted)
{
	Pair p;
	const RemoteSegment far = p.b.memory.remote();

	EXPECT_EQ(p.a.jetty.write(p.a.memory.slice(), far.at(1)), errc::out_of_range);
	EXPECT_EQ(p.a.jetty.write(LocalSlice("x"), far.at(0)), errc::invalid) << "not inline";
	EXPECT_EQ(p.a.jetty.cas(p.a.memory.slice(0, 3), far.at(0), 1, 2), errc::invalid);
	const std::vector<LocalSlice> many(14, p.a.memory.slice(0, 1));

	EXPECT_EQ(p.a.jetty.write(std::span(many), far.at(0)), errc::invalid);
	EXPECT_FALSE(p.a.completions.wait_for(20ms));
	EXPECT_FALSE(p.a.jetty.is_failed());
}

TEST(Operations, AnErrorFlushesTheRest)
{
	Pair p;

	ASSERT_FALSE(p.a.jetty.write(p.a.memory.slice(0, 64),
				     overstated(p.b.memory).at(p.b.memory.size()), { .user = 1 }));
	p.a.jetty.nop({ .user = 2 });
	const Completion bad = p.a.next(), rest = p.a.next();

	ASSERT_TRUE(bad.send());
	EXPECT_EQ(bad.error(), errc::remote_access);
	EXPECT_EQ(bad.user(), 1u);
	ASSERT_TRUE(rest.flushed());
	EXPECT_EQ(rest.error(), errc::flushed);
	EXPECT_EQ(rest.user(), 2u);
	EXPECT_FALSE(p.a.completions.wait_for(20ms)) << "markers do not show";
	EXPECT_TRUE(p.a.jetty.is_failed());
	EXPECT_FALSE(p.a.jetty.drain(1s)) << "the marker came before";
}

TEST(Batches, AllAreAccepted)
{
	Pair p;
	Batch batch = p.a.jetty.batch();
	const RemoteSegment far = p.b.memory.remote();

	EXPECT_TRUE(batch.ring()) << "nothing is fine";
	for (std::uint64_t i = 0; i < 10; ++i)
		batch.write(LocalSlice("abcdefgh"), far.at(8 * i),
			    { .signal = i == 9, .inline_data = true, .user = i });
	const BatchResult r = batch.ring();

	EXPECT_TRUE(r);
	EXPECT_EQ(r.accepted, 10u);
	EXPECT_EQ(batch.size(), 0u);
	EXPECT_EQ(p.a.next().user(), 9u);
	EXPECT_EQ(std::memcmp(p.b.memory.bytes().data() + 72, "abcdefgh", 8), 0);
}

TEST(Batches, TheFirstRefusedOneStays)
{
	Pair p;
	Batch batch = p.a.jetty.batch();
	const RemoteSegment far = p.b.memory.remote();
	const LocalSlice word = p.a.memory.slice(0, 8);

	batch.nop({ .user = 1 }).nop({ .user = 2 }).cas(p.a.memory.slice(0, 3), far.at(0), 1, 2);
	batch.nop({ .user = 4 });
	BatchResult r = batch.ring(); // the library says no

	EXPECT_EQ(r.accepted, 2u);
	EXPECT_EQ(r.error, errc::invalid);
	EXPECT_EQ(batch.size(), 2u);
	r = batch.ring();
	EXPECT_EQ(r.accepted, 0u);
	batch.clear();
	batch.nop({ .user = 3 }).write(word, far.at(far.length - 7)).nop();
	r = batch.ring(); // the binding says no
	EXPECT_EQ(r.accepted, 1u);
	EXPECT_EQ(r.error, errc::out_of_range);
	for (std::uint64_t user : { 1, 2, 3 })
		EXPECT_EQ(p.a.next().user(), user);
	EXPECT_FALSE(p.a.completions.wait_for(20ms));
}

TEST(Batches, AFullQueueTakesTheRestLater)
{
	Pair p;
	Batch batch = p.a.jetty.batch();
	std::size_t posted = 0;

	for (unsigned i = 0; i < 1000; ++i)
		batch.nop({ .user = i });
	for (std::uint64_t seen = 0; seen < 1000;) {
		const BatchResult r = batch.ring();

		posted += r.accepted;
		EXPECT_TRUE(r || r.error == errc::queue_full) << r.error.message();
		ASSERT_EQ(p.a.next().user(), seen++);
	}
	EXPECT_FALSE(p.a.completions.poll());
	EXPECT_EQ(posted, 1000u);
}

TEST(Lifetime, AnyOrderOfDestruction)
{
	auto p = std::make_unique<Pair>();
	std::optional<RcJetty> jetty(std::move(p->a.jetty));
	std::optional<LocalSegment> memory(std::move(p->a.memory));
	std::optional<CompletionQueue> completions(std::move(p->a.completions));
	const RemoteSegment far = p->b.memory.remote();

	p->a.jetty = std::move(p->b.jetty); // the moved-from ones may be assigned to
	{
		const End keep = std::move(p->b); // b's context, memory and queues
		const JettyId number = p->a.jetty.id();

		EXPECT_EQ(p->a.jetty.remote().id, number);
		EXPECT_FALSE(jetty->write(memory->slice(0, 8), far.at(0)));
		EXPECT_TRUE(completions->wait_for(patience).value());
	}
	p.reset(); // a's context, receive queue, channel; b's jetty last of all it had
	EXPECT_FALSE(jetty->nop());
	jetty.reset();
	completions.reset();
	memory.reset();
	// everything has gone: the addresses can be opened by somebody else
	Pair again;
}

TEST(Lifetime, AContextLastsAsLongAsItsObjects)
{
	std::optional<Context> context(Eid::of("127.0.0.1"));
	std::optional<CompletionQueue> completions(*context);
	std::optional<ReceiveQueue> receives(std::in_place, *context, *completions);
	RcJetty jetty(*context, *completions, *receives);

	context.reset();
	completions.reset();
	receives.reset();
	EXPECT_EQ(jetty.remote().eid, Eid::of("127.0.0.1"));
	EXPECT_FALSE(jetty.close());
	EXPECT_FALSE(jetty.close()) << "twice is fine";
}

TEST(Lifetime, ADestroyedJettyLeavesNoRecords)
{
	Pair p;

	{
		RcJetty gone = std::move(p.a.jetty);

		for (unsigned i = 0; i < 8; ++i)
			EXPECT_FALSE(gone.nop());
	}
	EXPECT_FALSE(p.a.completions.wait_for(20ms));
}

TEST(Lifetime, ReservationsAreGivenBack)
{
	Context context(Eid::of("127.0.0.1"));
	CompletionQueue completions(context, { .depth = 512 });
	ReceiveQueue receives(context, completions);

	for (unsigned i = 0; i < 10; ++i) {
		RcJetty jetty(context, completions, receives); // 258 of 512 records
		EXPECT_THROW(RcJetty(context, completions, receives), Error);
	}
}

TEST(Drain, NothingIsLost)
{
	Shape shape;

	shape.rnr_retry = 7; // no receive buffer: the Send waits for ever
	Pair p(shape);

	for (std::uint64_t i = 0; i < 10; ++i)
		ASSERT_FALSE(p.a.jetty.send(p.a.memory.slice(0, 8), { .user = i }));
	ASSERT_FALSE(p.a.jetty.drain());
	for (std::uint64_t i = 0; i < 10; ++i) {
		const auto c = p.a.completions.poll();

		ASSERT_TRUE(c && c->flushed()) << i;
		EXPECT_EQ(c->user(), i);
		EXPECT_FALSE(c->flushed()->receive);
	}
	EXPECT_FALSE(p.a.completions.poll());
	EXPECT_FALSE(p.a.jetty.drain()) << "once more";
}

TEST(Drain, OthersKeepTheirCompletions)
{
	Pair p;
	RcJetty other(p.a.context, p.a.completions, p.a.receives);

	ASSERT_FALSE(p.a.jetty.nop({ .user = 1 }));
	ASSERT_FALSE(other.drain()); // not even bound
	EXPECT_TRUE(p.a.next());
	EXPECT_FALSE(p.a.jetty.is_failed());
}

TEST(Drain, ResetMakesItAsNew)
{
	Pair p;

	for (unsigned i = 0; i < 3; ++i) {
		ASSERT_FALSE(p.a.jetty.nop());
		for (End *e : { &p.a, &p.b })
			ASSERT_FALSE(e->jetty.reset());
		EXPECT_FALSE(p.a.completions.poll());
		EXPECT_FALSE(p.a.jetty.is_failed());
		ASSERT_FALSE(p.a.jetty.bind(p.b.jetty.remote()));
		ASSERT_FALSE(p.b.jetty.bind(p.a.jetty.remote()));
		EXPECT_EQ(p.a.jetty.bind(p.b.jetty.remote()), errc::exists);
		ASSERT_FALSE(p.a.jetty.write(p.a.memory.slice(0, 8), p.b.memory.remote().at(0)));
		EXPECT_TRUE(p.a.next());
	}
}

TEST(Channel, TheDescriptorTellsWhenToGoOn)
{
	Pair p({ .events = true });
	pollfd fd{ p.a.channel.fd(), POLLIN, 0 };

	EXPECT_FALSE(p.a.channel.next(0ms)) << "armed now";
	EXPECT_EQ(poll(&fd, 1, 0), 0);
	ASSERT_FALSE(p.a.jetty.nop());
	ASSERT_EQ(poll(&fd, 1, 10000), 1);
	{
		const auto e = p.a.channel.next(0ms);

		ASSERT_TRUE(e);
		EXPECT_TRUE(e->is(p.a.completions));
		EXPECT_FALSE(e->is(p.b.completions));
		EXPECT_TRUE(e->poll());
		EXPECT_FALSE(e->poll());
	}
	EXPECT_FALSE(p.a.channel.next(0ms));
	EXPECT_EQ(poll(&fd, 1, 0), 0);
	const auto start = std::chrono::steady_clock::now();

	EXPECT_FALSE(p.a.channel.next(30ms));
	EXPECT_GE(std::chrono::steady_clock::now() - start, 30ms);
}

TEST(Channel, NoWakeUpIsLost)
{
	constexpr unsigned total = 2000;
	Pair p({ .events = true });
	std::atomic<bool> failed{ false };
	unsigned got = 0;

	for (unsigned i = 0; i < 64; ++i)
		ASSERT_FALSE(p.b.jetty.receive(p.b.memory.slice(64 * i, 8), i));
	std::thread sender([&] {
		for (unsigned i = 0; i < total && !failed; ++i)
			if (p.a.jetty.send(p.a.memory.slice(0, 8)) || !p.a.next())
				failed = true;
	});

	while (got < total && !failed) {
		const auto e = p.b.channel.next(patience);

		if (!e) {
			ADD_FAILURE() << "after " << got;
			failed = true;
			break;
		}
		while (const auto c = e->poll()) {
			EXPECT_TRUE(*c);
			++got;
			EXPECT_FALSE(
				p.b.jetty.receive(p.b.memory.slice(64 * c->user(), 8), c->user()));
		}
	}
	sender.join();
	EXPECT_EQ(got, total);
}

TEST(Channel, SolicitedOnly)
{
	Context context(Eid::of("127.0.0.1"));
	EventChannel channel(context);
	CompletionQueue completions(channel, { .solicited_only = true });
	ReceiveQueue receives(context, completions);
	RcJetty jetty(context, completions, receives);
	const LocalSegment memory = LocalSegment::allocate(context, 4096);
	End peer("127.0.0.2");
	pollfd fd{ channel.fd(), POLLIN, 0 };

	ASSERT_FALSE(jetty.bind(peer.jetty.remote()));
	ASSERT_FALSE(peer.jetty.bind(jetty.remote()));
	for (unsigned i = 0; i < 2; ++i)
		ASSERT_FALSE(receives.receive(memory.slice(0, 8)));
	EXPECT_FALSE(channel.next(0ms));
	ASSERT_FALSE(peer.jetty.send(peer.memory.slice(0, 8)));
	EXPECT_TRUE(peer.next());
	EXPECT_EQ(poll(&fd, 1, 20), 0);
	ASSERT_FALSE(peer.jetty.send(peer.memory.slice(0, 8), { .solicited = true }));
	EXPECT_TRUE(peer.next());
	EXPECT_EQ(poll(&fd, 1, 10000), 1);
}

TEST(Channel, ManyQueuesShareIt)
{
	Context context(Eid::of("127.0.0.1"));
	EventChannel channel(context);
	std::vector<CompletionQueue> queues;

	for (unsigned i = 0; i < 5; ++i)
		queues.emplace_back(channel);
	ReceiveQueue receives(context, queues[0]);
	RcJetty jetty(context, queues[3], receives);

	EXPECT_FALSE(channel.next(0ms));
	ASSERT_FALSE(jetty.nop());
	ASSERT_FALSE(jetty.stop()); // flushes it
	{
		const auto e = channel.next(patience);

		ASSERT_TRUE(e);
		EXPECT_TRUE(e->is(queues[3]));
		queues.pop_back();
		queues.pop_back(); // while its event is not acknowledged
		EXPECT_TRUE(e->poll()->flushed());
	}
	EXPECT_FALSE(channel.next(0ms));
}

Task<std::uint64_t> add_up(End &from, RemoteSegment to, unsigned n)
{
	std::uint64_t sum = 0;

	for (unsigned i = 0; i < n; ++i) {
		const Completion c = co_await from.jetty.async().fetch_add(
			from.memory.slice(0, 8), to.at(0), i, { .user = i });

		check(c.error(), "fetch_add");
		EXPECT_EQ(c.user(), i);
		sum += from.memory.as<std::uint64_t>()[0];
	}
	co_return sum;
}

Task<> put(End &from, RemoteSlice to, std::uint64_t value, unsigned &done)
{
	from.memory.as<std::uint64_t>()[value] = value;
	const Completion c = co_await from.jetty.async().write(from.memory.slice(8 * value, 8), to,
							       { .signal = false });

	check(c.error(), "write");
	++done;
}

TEST(Coroutines, ATaskGivesItsResult)
{
	Pair p;
	Poller poller(p.a.completions);

	EXPECT_EQ(poller.run(add_up(p.a, p.b.memory.remote(), 5)), 0u + 0 + 1 + 3 + 6);
	EXPECT_EQ(p.b.memory.as<std::uint64_t>()[0], 10u);
}

Task<> nested(Pair &p, unsigned &done)
{
	for (unsigned i = 0; i < 20; ++i)
		co_await put(p.a, p.b.memory.remote().at(8 * i), i, done);
}

TEST(Coroutines, ManyAtOnceAndOneInAnother)
{
	Pair p({ .events = true });
	Poller poller(p.a.completions, p.a.channel);
	unsigned done = 0;

	for (std::uint64_t i = 0; i < 50; ++i)
		poller.spawn(put(p.a, p.b.memory.remote().at(8 * i), i, done));
	poller.run();
	EXPECT_EQ(done, 50u);
	for (std::uint64_t i = 0; i < 50; ++i)
		EXPECT_EQ(p.b.memory.as<std::uint64_t>()[i], i);
	poller.run(nested(p, done));
	EXPECT_EQ(done, 70u);
	poller.run();
}

Task<RecvDone> echo(End &e)
{
	const Completion c = co_await e.receives.async().receive(e.memory.slice(512, 64), 3);

	check(c.error(), "receive");
	EXPECT_EQ(c.user(), 3u);
	check((co_await e.jetty.async().send(e.memory.slice(512, c.recv()->length))).error(),
	      "send");
	co_return *c.recv();
}

Task<std::string> ask(End &e)
{
	auto answer = e.receives.async().receive(e.memory.slice(512, 64));

	check(e.jetty.send(LocalSlice("what"), { .inline_data = true, .user = 5 }), "send");
	const Completion c = co_await answer;

	co_return std::string(reinterpret_cast<const char *>(e.memory.bytes().data() + 512),
			      c.recv()->length);
}

TEST(Coroutines, MessagesAndPlainCompletions)
{
	Pair p;
	Poller poller(p.a.completions);
	std::vector<std::uint64_t> plain;

	poller.watch(p.b.completions);
	poller.on_completion([&plain](const Completion &c) { plain.push_back(c.user()); });
	std::optional<RecvDone> served;

	poller.spawn([](Pair &both, std::optional<RecvDone> &out) -> Task<> {
		out = co_await echo(both.b);
	}(p, served));
	EXPECT_EQ(poller.run(ask(p.a)), "what");
	poller.run();
	ASSERT_TRUE(served);
	EXPECT_EQ(served->sender, p.a.context.eid());
	EXPECT_EQ(plain, std::vector<std::uint64_t>{ 5 });
}

TEST(Coroutines, ErrorsAreThrownWhereTheyAreAwaited)
{
	Pair p;
	Poller poller(p.a.completions);

	EXPECT_THROW(
		poller.run(add_up(p.a, { p.b.context.eid(), 4096, 4096, TokenId{ 99 }, {} }, 1)),
		Error);
	unsigned done = 0;

	// the jetty is in error now
	poller.spawn(put(p.a, p.b.memory.remote().at(0), 0, done));
	try {
		poller.run();
		ADD_FAILURE();
	} catch (const Error &e) {
		EXPECT_EQ(e.code(), errc::flushed);
	}
	EXPECT_EQ(done, 0u);
	// never posted
	poller.spawn(put(p.a, p.b.memory.remote().at(0, 7), 0, done));
	EXPECT_THROW(poller.run(), Error);
}

Task<> wait_for_message(End &e, std::error_code &result)
{
	result = (co_await e.receives.async().receive(e.memory.slice(0, 8))).error();
}

Task<> send_into_nothing(End &e, std::error_code &result)
{
	result = (co_await e.jetty.async().send(e.memory.slice(0, 8))).error();
}

Task<> drain(End &e, bool &drained)
{
	drained = bool(co_await e.jetty.async().drain());
}

TEST(Coroutines, DrainIsAwaited)
{
	Pair p;
	Poller poller(p.a.completions);
	std::error_code sent;
	bool drained = false;

	poller.spawn(send_into_nothing(p.a, sent));
	poller.spawn(drain(p.a, drained));
	poller.run();
	EXPECT_EQ(sent, errc::flushed);
	EXPECT_TRUE(drained);
	drained = false;
	poller.run(drain(p.a, drained)); // the marker came before
	EXPECT_TRUE(drained);
}

TEST(Coroutines, WhoWaitsForADestroyedQueueIsTold)
{
	Pair p;
	Poller poller(p.a.completions);
	std::error_code sent, received;

	poller.spawn(wait_for_message(p.a, received));
	poller.spawn(send_into_nothing(p.a, sent));
	EXPECT_TRUE(poller.step());
	EXPECT_FALSE(sent || received);
	{
		const RcJetty jetty = std::move(p.a.jetty);
		const ReceiveQueue receives = std::move(p.a.receives);
	}
	poller.run();
	EXPECT_EQ(sent, errc::flushed);
	EXPECT_EQ(received, errc::canceled);
}

TEST(Coroutines, ATaskMayBeDroppedWhileItWaits)
{
	Pair p;
	std::error_code sent;

	{
		Poller poller(p.a.completions);

		poller.spawn(send_into_nothing(p.a, sent));
		poller.step();
	}
	ASSERT_FALSE(p.b.jetty.receive(p.b.memory.slice(0, 8)));
	EXPECT_TRUE(p.b.next());
	ASSERT_FALSE(p.a.jetty.nop({ .user = 4 }));
	EXPECT_EQ(p.a.next().user(), 4u) << "nothing of the dropped one shows";
	EXPECT_FALSE(p.a.completions.poll());
}

} // namespace
