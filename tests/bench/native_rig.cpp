// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Rows of libraries: liburma on the in-process device, libfabric, UCX. Both ends poll,
// for the libraries of the peers move nothing at an end that does not call them.
#include "native.hpp"

#include <optional>

#include "error.hpp"

namespace uboe::bench {

namespace {

// Both ends have a CPU as a rule: an answer comes while one polls. On a busy machine a
// yield costs a turn of everybody else.
constexpr unsigned polls_a_yield = 64;

std::uint8_t pattern(std::size_t at)
{
	return static_cast<std::uint8_t>(at * 37 + (at >> 8) + 1);
}

std::unique_ptr<NativeEnd> make_end(const Subject &subject, int side, const Row &row)
{
	switch (subject.kind) {
#ifdef UBOE_BENCH_LIBFABRIC
	case Subject::Kind::libfabric: return make_libfabric_end(subject, side, row);
#endif
#ifdef UBOE_BENCH_UCX
	case Subject::Kind::ucx: return make_ucx_end(subject, side, row);
#endif
	case Subject::Kind::urma_rc:
	case Subject::Kind::urma_rm: return make_urma_end(subject, side, row);
	default: throw Failure("'" + subject.label + "' is of a kind that was not built");
	}
}

/// One side: what it has posted, and the loops.
class Side {
public:
	Side(const Subject &subject, int side, const Row &row, SharedPage &shared)
		: row_(row), shared_(shared), side_(side), end_(make_end(subject, side, row)),
		  done_(row.jetties)
	{
	}

	void connect(Stream &stream) { end_->connect(stream); }

	void fill()
	{
		for (std::size_t i = 0; i < slots(); ++i)
			for (std::size_t at = 0; at < row_.size; ++at)
				end_->memory()[i * row_.size + at] = pattern(at);
	}

	/// Of @p messages of each jetty.
	void check(std::uint64_t messages)
	{
		if (row_.kind == Row::Kind::fetch_add) {
			check_sum(messages * row_.jetties);
			return;
		}
		for (std::size_t i = 0; i < slots(); ++i) {
			if (i % row_.depth >= messages)
				continue;
			for (std::size_t at = 0; at < row_.size; ++at)
				if (end_->memory()[i * row_.size + at] != pattern(at))
					throw Failure("byte " + std::to_string(at) +
						      " of message slot " + std::to_string(i) +
						      " is wrong");
		}
	}

	/// @p count requests of each jetty; when it returns, they are at the other side.
	void stream(std::uint32_t count)
	{
		std::vector<std::uint32_t> left(row_.jetties, count), flying(row_.jetties);
		std::uint64_t open = std::uint64_t{count} * row_.jetties;
		Patience patience(polls_a_yield);

		while (open) {
			bool moved = false;
			for (std::uint32_t j = 0; j < row_.jetties; ++j) {
				while (left[j] && flying[j] + row_.signal_every <= row_.depth &&
				       may_post()) {
					post(j);
					left[j] -= row_.signal_every;
					flying[j] += row_.signal_every;
					moved = true;
				}
			}
			moved |= progress();
			for (std::uint32_t j = 0; j < row_.jetties; ++j) {
				flying[j] -= done_[j];
				open -= done_[j];
				done_[j] = 0;
			}
			turn(patience, moved);
		}
		if (row_.kind == Row::Kind::write)
			end_->flush();
		if (row_.kind == Row::Kind::send)
			wait([&] { return shared_->received[!side_].load() == sent_; });
	}

	/// One request, until it has completed; of a Send, until its answer is here.
	void one()
	{
		const std::uint64_t answer = taken_ + 1;

		post(0);
		if (row_.kind == Row::Kind::send)
			wait([&] { return taken_ == answer; });
		else
			wait([&] { return done_[0] != 0; });
		done_[0] = 0;
	}

	/// Answers @p count Sends.
	void echo(std::uint64_t count)
	{
		Patience patience(polls_a_yield);

		for (const std::uint64_t end = taken_ + count; taken_ < end;) {
			const std::uint64_t before = taken_;
			const bool moved = progress();

			for (std::uint64_t n = before; n < taken_; ++n)
				post(0);
			turn(patience, moved);
		}
		done_[0] = 0;
	}

	/// Lets the library work until @p done().
	template <class Done> void wait(Done done)
	{
		Patience patience(polls_a_yield);

		while (!done())
			turn(patience, progress());
	}

private:
	std::size_t slots() const { return std::size_t{row_.depth} * row_.jetties; }

	static void turn(Patience &patience, bool moved)
	{
		if (moved)
			patience.progress();
		else
			patience.idle();
	}

	void post(std::uint32_t jetty)
	{
		end_->post(jetty);
		sent_ += row_.signal_every;
	}

	bool may_post() const
	{
		return row_.kind != Row::Kind::send ||
		       sent_ + row_.signal_every <=
			       receives_of(row_) +
				       shared_->received[!side_].load(std::memory_order_acquire);
	}

	bool progress()
	{
		const std::uint32_t got = end_->poll(done_);
		bool moved = got != 0;

		if (got) {
			taken_ += got;
			shared_->received[side_].store(taken_, std::memory_order_release);
		}
		for (const std::uint32_t d : done_)
			moved |= d != 0;
		return moved;
	}

	void check_sum(std::uint64_t additions)
	{
		std::uint64_t value;

		std::memcpy(&value, end_->memory(), sizeof(value));
		if (value != additions)
			throw Failure("the counter is " + std::to_string(value) + " after " +
				      std::to_string(additions) + " additions");
	}

	const Row &row_;
	SharedPage &shared_;
	const int side_;
	std::unique_ptr<NativeEnd> end_;
	std::vector<std::uint32_t> done_; // of each jetty, not yet accounted for
	std::uint64_t sent_ = 0; // messages posted, ever
	std::uint64_t taken_ = 0; // messages received, ever
};

/// The child: its side, told what to do by lines.
void serve(const Subject &subject, const Row &row, Stream &stream, SharedPage &shared)
{
	Side side(subject, 1, row, shared);
	std::uint64_t runs = 0;

	if (row.both || row.kind == Row::Kind::read)
		side.fill();
	side.connect(stream);
	for (;;) {
		const std::string line = stream.receive_line();
		if (line == "quit")
			return;
		const auto count = static_cast<std::uint32_t>(std::stoul(line.substr(4)));
		if (line.starts_with("chk ")) {
			side.check(count);
			stream.send_line("good");
			continue;
		}
		stream.send_line("ready");
		++runs;
		if (row.both)
			side.stream(count);
		else if (row.latency && row.kind == Row::Kind::send)
			side.echo(count);
		shared->ended[1].store(runs);
		side.wait([&] { return shared->ended[0].load() == runs; });
	}
}

/// The parent.
class NativeRig : public Rig {
public:
	NativeRig(const Subject &subject, const Row &row)
		: subject_(subject), row_(row),
		  child_([&](Stream &stream) { serve(subject, row, stream, shared_); })
	{
	}

	void connect() override
	{
		side_.emplace(subject_, 0, row_, shared_);
		if (row_.kind == Row::Kind::write || row_.kind == Row::Kind::send)
			side_->fill();
		side_->connect(child_.stream());
	}

	Sample run(std::uint32_t count) override
	{
		Sample sample;

		child_.stream().send_line("run " + std::to_string(count));
		child_.stream().expect("ready");
		++runs_;
		total_ += count;
		const std::uint64_t packets = sent_packets();
		if (row_.latency)
			one_by_one(count, sample);
		else
			stream(count, sample);
		shared_->ended[0].store(runs_);
		sample.packets = sent_packets() - packets;
		return sample;
	}

	void verify() override
	{
		if (row_.kind == Row::Kind::read) {
			side_->check(total_);
			return;
		}
		if (row_.both)
			side_->check(total_);
		child_.stream().send_line("chk " + std::to_string(total_));
		child_.stream().expect("good");
	}

private:
	void stream(std::uint32_t count, Sample &sample)
	{
		const Stopwatch watch;

		side_->stream(count);
		if (row_.both)
			side_->wait([&] { return shared_->ended[1].load() == runs_; });
		sample.nanoseconds = watch.nanoseconds();
	}

	void one_by_one(std::uint32_t count, Sample &sample)
	{
		const unsigned ways = row_.kind == Row::Kind::send ? 2 : 1;
		std::vector<std::uint64_t> times(count);

		const Stopwatch watch;
		std::uint64_t last = 0;
		for (std::uint64_t &time : times) {
			side_->one();
			const std::uint64_t now = watch.ticks();
			time = (now - last) / ways;
			last = now;
		}
		sample.nanoseconds = watch.nanoseconds() / ways;
		summarise(times, watch.scale(), sample);
	}

	const Subject subject_;
	const Row row_;
	SharedPage shared_;
	Child child_;
	std::optional<Side> side_;
	std::uint64_t runs_ = 0;
	std::uint32_t total_ = 0; // of each jetty, ever
};

} // namespace

std::unique_ptr<Rig> make_native_rig(const Subject &subject, const Row &row)
{
	return std::make_unique<NativeRig>(subject, row);
}

} // namespace uboe::bench
