// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Rows over RDMA devices. Rates are measured with lists of signal_every requests,
// the last of which asks for a completion, as programs do that want a rate: what
// one system call costs would hide the devices. Latencies have lists of one.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "error.hpp"
#include "rig.hpp"
#include "verbs.hpp"

namespace uboe::bench {

namespace {

constexpr int batch = 16; // completions taken at once
constexpr unsigned sleep_limit_s = 20;

std::uint8_t pattern(std::size_t at)
{
	return static_cast<std::uint8_t>(at * 37 + (at >> 8) + 1);
}

/// What each of the two processes has.
struct End {
	End(const Subject &subject, int side, const Row &row, Stream &stream);

	void fill();
	void check(std::uint64_t messages) const;
	void post_receive(std::uint64_t number);

	const Row &row;
	std::uint32_t slots; // messages that have memory of their own
	std::uint32_t receives;
	Device device;
	CompletionQueue send_queue, receive_queue;
	Region memory;
	QueuePair pair;
};

int access_for_all()
{
	return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
	       IBV_ACCESS_REMOTE_ATOMIC;
}

End::End(const Subject &subject, int side, const Row &row_, Stream &stream)
	: row(row_), slots(row.depth), receives(std::max(4 * row.depth, 16u)),
	  device(subject.device[side], subject.address[side]),
	  send_queue(device, static_cast<int>(2 * row.depth + batch)),
	  receive_queue(device, static_cast<int>(receives + batch)),
	  memory(device, std::size_t{slots} * std::max(row.size, 64u), access_for_all()),
	  pair(device, send_queue, receive_queue, {row.depth + batch, receives, 0})
{
	if (row.kind == Row::Kind::send)
		for (std::uint32_t i = 0; i < receives; ++i)
			post_receive(i);
	pair.connect(stream);
}

void End::fill()
{
	for (std::size_t slot = 0; slot < slots; ++slot)
		for (std::size_t at = 0; at < row.size; ++at)
			memory.data()[slot * row.size + at] = pattern(at);
}

void End::check(std::uint64_t messages) const
{
	const std::size_t used = std::min<std::uint64_t>(messages, slots);

	for (std::size_t slot = 0; slot < used; ++slot)
		for (std::size_t at = 0; at < row.size; ++at)
			if (memory.data()[slot * row.size + at] != pattern(at))
				throw Failure("byte " + std::to_string(at) + " of message slot " +
					      std::to_string(slot) + " is wrong");
}

void End::post_receive(std::uint64_t number)
{
	pair.post_receive(number, memory.data() + number % slots * row.size, row.size,
			  memory.lkey());
}

/// The child: does what the lines say.
class Passive {
public:
	Passive(const Subject &subject, const Row &row, Stream &stream, SharedPage &shared)
		: stream_(stream), shared_(shared), end_(subject, 1, row, stream)
	{
		if (row.kind == Row::Kind::read)
			end_.fill();
		stream_.send_line("region " + end_.memory.describe());
	}

	void serve()
	{
		for (;;) {
			const std::string line = stream_.receive_line();
			if (line == "quit")
				return;
			if (line.starts_with("receive "))
				receive(std::stoull(line.substr(8)));
			else if (line.starts_with("echo "))
				echo(std::stoull(line.substr(5)));
			else if (line.starts_with("check "))
				check(std::stoull(line.substr(6)));
		}
	}

private:
	void receive(std::uint64_t count)
	{
		ibv_wc completions[batch];

		stream_.send_line("ready");
		while (count) {
			const int got = end_.receive_queue.wait(completions, batch, -1);
			for (int i = 0; i < got; ++i)
				end_.post_receive(completions[i].wr_id);
			shared_->consumed.fetch_add(static_cast<std::uint64_t>(got),
						    std::memory_order_release);
			count -= static_cast<std::uint64_t>(got);
		}
	}

	void echo(std::uint64_t count)
	{
		ibv_wc completion;

		stream_.send_line("ready");
		for (std::uint64_t i = 0; i < count; ++i) {
			end_.receive_queue.wait(&completion, 1, -1);
			end_.post_receive(completion.wr_id);
			ibv_sge piece = {end_.memory.address(), end_.row.size, end_.memory.lkey()};
			ibv_send_wr request = {};
			request.sg_list = &piece;
			request.num_sge = 1;
			request.opcode = IBV_WR_SEND;
			request.send_flags = IBV_SEND_SIGNALED;
			end_.pair.post_send(request);
			while (end_.send_queue.poll(&completion, 1))
				;
		}
	}

	void check(std::uint64_t messages)
	{
		if (end_.row.kind == Row::Kind::fetch_add) {
			std::uint64_t value;
			std::memcpy(&value, end_.memory.data(), sizeof(value));
			if (value != messages)
				throw Failure("the counter is " + std::to_string(value) +
					      " after " + std::to_string(messages) + " additions");
		} else {
			end_.check(messages);
		}
		stream_.send_line("good");
	}

	Stream &stream_;
	SharedPage &shared_;
	End end_;
};

/// The parent.
class VerbsRig : public Rig {
public:
	VerbsRig(const Subject &subject, const Row &row)
		: subject_(subject), row_(row),
		  child_([&](Stream &stream) { Passive(subject, row, stream, shared_).serve(); })
	{
	}

	void connect() override
	{
		end_.emplace(subject_, 0, row_, child_.stream());
		remote_ = RemoteRegion::parse(child_.stream().expect("region"));
		if (row_.kind == Row::Kind::write || row_.kind == Row::Kind::send)
			end_->fill();
	}

	Sample run(std::uint32_t count) override
	{
		const bool echo = row_.latency && row_.kind == Row::Kind::send;
		Sample sample;

		if (row_.kind == Row::Kind::send) {
			child_.stream().send_line((echo ? "echo " : "receive ") +
						  std::to_string(count));
			child_.stream().expect("ready");
		}
		const std::uint64_t packets = sent_packets();
		if (echo)
			ping_pong(count, sample);
		else if (row_.latency)
			one_by_one(count, sample);
		else
			stream(count, sample);
		sample.packets = sent_packets() - packets;
		return sample;
	}

	void verify() override
	{
		if (row_.kind == Row::Kind::read) {
			end_->check(total_);
			return;
		}
		child_.stream().send_line("check " + std::to_string(total_));
		child_.stream().expect("good");
	}

private:
	/// One request into @p request and @p piece.
	void prepare(ibv_send_wr &request, ibv_sge &piece)
	{
		const std::size_t slot = row_.kind == Row::Kind::fetch_add ? 0 :
									     total_ % end_->slots;
		const std::size_t at = slot * row_.size;

		piece = {end_->memory.address() + at, row_.size, end_->memory.lkey()};
		request = {};
		request.wr_id = total_++;
		request.sg_list = &piece;
		request.num_sge = 1;
		switch (row_.kind) {
		case Row::Kind::write:
		case Row::Kind::read:
			request.opcode = row_.kind == Row::Kind::write ? IBV_WR_RDMA_WRITE :
									 IBV_WR_RDMA_READ;
			request.wr.rdma.remote_addr = remote_.address + at;
			request.wr.rdma.rkey = remote_.rkey;
			break;
		case Row::Kind::send: request.opcode = IBV_WR_SEND; break;
		case Row::Kind::fetch_add:
			request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
			request.wr.atomic.remote_addr = remote_.address;
			request.wr.atomic.rkey = remote_.rkey;
			request.wr.atomic.compare_add = 1;
			break;
		}
	}

	/// A list of signal_every requests, the last of which is signaled.
	void post()
	{
		const std::size_t last = row_.signal_every - 1;

		for (std::size_t i = 0; i <= last; ++i) {
			prepare(requests_[i], pieces_[i]);
			requests_[i].next = i < last ? &requests_[i + 1] : nullptr;
		}
		requests_[last].send_flags = IBV_SEND_SIGNALED;
		end_->pair.post_send(requests_[0]);
	}

	bool may_post() const
	{
		return row_.kind != Row::Kind::send ||
		       total_ + row_.signal_every <=
			       end_->receives + shared_->consumed.load(std::memory_order_acquire);
	}

	/// Depth requests in flight.
	void stream(std::uint32_t count, Sample &sample)
	{
		std::uint32_t posted = 0, done = 0;
		ibv_wc completions[batch];
		Patience patience;

		const Stopwatch watch;
		while (done < count) {
			bool moved = false;
			while (posted < count && posted - done + row_.signal_every <= row_.depth &&
			       may_post()) {
				posted += row_.signal_every;
				post();
				moved = true;
			}
			const int got = end_->send_queue.poll(completions, batch);
			done += static_cast<std::uint32_t>(got) * row_.signal_every;
			if (moved || got)
				patience.progress();
			else
				patience.idle();
		}
		// The last Sends have arrived; the child has yet to take them.
		while (row_.kind == Row::Kind::send && shared_->consumed.load() < total_)
			patience.idle();
		sample.nanoseconds = watch.nanoseconds();
	}

	/// One request in flight; its end is seen by polling.
	void one_by_one(std::uint32_t count, Sample &sample)
	{
		std::vector<std::uint64_t> times(count);
		ibv_wc completion;

		const Stopwatch watch;
		std::uint64_t last = 0;
		for (std::uint64_t &time : times) {
			Patience patience;
			post();
			while (!end_->send_queue.poll(&completion, 1))
				patience.idle();
			const std::uint64_t now = watch.ticks();
			time = now - last;
			last = now;
		}
		sample.nanoseconds = watch.nanoseconds();
		summarise(times, watch.scale(), sample);
	}

	/// A Send there and a Send back, both ends asleep until their event.
	void ping_pong(std::uint32_t count, Sample &sample)
	{
		std::vector<std::uint64_t> times(count);
		ibv_wc completion;
		const Alarm alarm(sleep_limit_s);

		const Stopwatch watch;
		std::uint64_t last = 0;
		for (std::uint64_t &time : times) {
			post();
			end_->receive_queue.wait(&completion, 1, -1);
			end_->post_receive(completion.wr_id);
			while (end_->send_queue.poll(&completion, 1))
				;
			const std::uint64_t now = watch.ticks();
			time = (now - last) / 2; // one way, as is usual
			last = now;
		}
		sample.nanoseconds = watch.nanoseconds() / 2;
		summarise(times, watch.scale(), sample);
	}

	const Subject subject_;
	const Row row_;
	SharedPage shared_;
	Child child_;
	std::optional<End> end_;
	RemoteRegion remote_;
	std::uint64_t total_ = 0; // messages posted, ever
	std::vector<ibv_send_wr> requests_ = std::vector<ibv_send_wr>(row_.signal_every);
	std::vector<ibv_sge> pieces_ = std::vector<ibv_sge>(row_.signal_every);
};

} // namespace

std::unique_ptr<Rig> make_verbs_rig(const Subject &subject, const Row &row)
{
	return std::make_unique<VerbsRig>(subject, row);
}

} // namespace uboe::bench
