// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// liburma: the in-process device at one address, connections (RC) or reliable messages
// over a shared channel (RM). One completion queue and one receive queue for all.
#include "native.hpp"

#include <bit>

#include "error.hpp"
#include "figures.hpp"
#include "link.hpp"

namespace uboe::bench {

namespace {

constexpr int batch = 32; // completions taken at once

/// Requests of one jetty, linked, the last of which asks for a completion.
struct List {
	std::vector<urma_jfs_wr_t> requests;
	std::vector<urma_sge_t> here, there;
	std::uint64_t posted = 0;
};

urma::Context open_at(const std::string &address)
{
	offer_inproc({address});
	return open_inproc(address);
}

std::uint32_t completions_of(const Row &row)
{
	return row.jetties * (urma::RcJetty::records_per_request * std::bit_ceil(row.depth) + 2) +
	       std::bit_ceil(std::max(receives_of(row), 64u));
}

class UrmaEnd : public NativeEnd {
public:
	UrmaEnd(const Subject &subject, int side, const Row &row)
		: row_(row), rm_(subject.kind == Subject::Kind::urma_rm),
		  context_(open_at(subject.address[side])),
		  memory_(urma::LocalSegment::allocate(context_, memory_of(row),
						       {.access = urma::Access::atomic})),
		  queue_(context_, {.depth = completions_of(row)}),
		  receives_(context_, queue_,
			    {.depth = std::max(receives_of(row), 64u),
			     .min_rnr_timer = 1,
			     .mode = rm_ ? urma::Mode::rm : urma::Mode::rc}),
		  lists_(row.jetties)
	{
		for (std::uint32_t j = 0; j < row.jetties; ++j)
			links_.emplace_back(context_, queue_, receives_,
					    urma::RcJettyOptions{.depth = row.depth,
								 .max_slices = 1,
								 .inline_bytes = 0},
					    rm_);
		for (std::uint32_t i = 0; i < receives_of(row); ++i)
			receive(i);
	}

	void connect(Stream &stream) override
	{
		stream.send_line("segment " + memory_.remote().text());
		remote_ = urma::RemoteSegment::parse(std::string_view(stream.expect("segment")));
		key_.attr.bs.token_policy = URMA_TOKEN_PLAIN_TEXT;
		key_.token_id = static_cast<std::uint32_t>(remote_.id) << 8;
		key_.token_value.token =
			static_cast<std::uint32_t>(remote_.token.value_or(urma::Token{}));
		for (Link &link : links_) {
			stream.send_line("jetty " + link.remote().text());
			const std::string line = stream.expect("jetty");
			urma::check(link.join(context_,
					      urma::RemoteJetty::parse(std::string_view(line))),
				    "bind to " + line);
		}
		for (std::uint32_t j = 0; j < row_.jetties; ++j)
			compose(j);
		stream.send_line("here");
		stream.expect("here");
	}

	void post(std::uint32_t jetty) override
	{
		List &list = lists_[jetty];
		urma_jfs_wr_t *bad = nullptr;

		for (std::size_t i = 0; i < list.requests.size(); ++i) {
			const std::size_t at = row_.kind == Row::Kind::fetch_add ?
						       0 :
						       slot_of(row_, jetty, list.posted);
			list.here[i].addr = memory_.native()->seg.ubva.va + at;
			list.there[i].addr = remote_.va + at;
			++list.posted;
		}
		const urma_status_t status =
			urma_post_jetty_send_wr(links_[jetty].native(), list.requests.data(), &bad);
		if (status)
			throw Failure("posting failed with status " + std::to_string(status));
	}

	std::uint32_t poll(std::vector<std::uint32_t> &done) override
	{
		urma_cr_t records[batch];
		std::uint32_t received = 0;

		const int n = urma_poll_jfc(queue_.native(), batch, records);
		if (n < 0)
			throw Failure("polling the completion queue failed");
		for (int i = 0; i < n; ++i) {
			if (records[i].status != URMA_CR_SUCCESS)
				throw Failure("a request failed with completion status " +
					      std::to_string(records[i].status));
			if (records[i].flag.bs.s_r) {
				receive(records[i].user_ctx);
				++received;
			} else {
				done[records[i].user_ctx] += row_.signal_every;
			}
		}
		return received;
	}

	std::uint8_t *memory() override
	{
		return reinterpret_cast<std::uint8_t *>(memory_.bytes().data());
	}

private:
	void receive(std::uint64_t number)
	{
		const std::size_t slot = number % (row_.depth * row_.jetties) * row_.size;

		urma::check(receives_.receive(memory_.slice(slot, row_.size), number),
			    "post a receive");
	}

	/// All but the addresses.
	void compose(std::uint32_t jetty)
	{
		List &list = lists_[jetty];

		list.requests.resize(row_.signal_every);
		list.here.assign(row_.signal_every, {0, row_.size, memory_.native(), nullptr});
		list.there.assign(row_.signal_every, {0, row_.size, nullptr, &key_});
		for (std::uint32_t i = 0; i < row_.signal_every; ++i) {
			urma_jfs_wr_t &w = list.requests[i];
			const bool last = i + 1 == row_.signal_every;
			w.user_ctx = jetty;
			w.tjetty = links_[jetty].target();
			w.flag.bs.place_order = URMA_RELAX_ORDER;
			w.flag.bs.complete_enable = last;
			w.next = last ? nullptr : &list.requests[i + 1];
			fill(w, &list.here[i], &list.there[i]);
		}
	}

	void fill(urma_jfs_wr_t &w, urma_sge_t *here, urma_sge_t *there) const
	{
		switch (row_.kind) {
		case Row::Kind::send:
			w.opcode = URMA_OPC_SEND;
			w.send.src = {here, 1};
			break;
		case Row::Kind::read:
			w.opcode = URMA_OPC_READ;
			w.rw = {{there, 1}, {here, 1}, 0, 0};
			break;
		case Row::Kind::fetch_add:
			w.opcode = URMA_OPC_FADD;
			w.faa = {there, here, {1}};
			break;
		case Row::Kind::write:
			w.opcode = URMA_OPC_WRITE;
			w.rw = {{here, 1}, {there, 1}, 0, 0};
			break;
		}
	}

	const Row row_;
	const bool rm_;
	urma::Context context_;
	urma::LocalSegment memory_;
	urma::CompletionQueue queue_;
	urma::ReceiveQueue receives_;
	std::vector<Link> links_;
	std::vector<List> lists_;
	urma::RemoteSegment remote_;
	urma_user_tseg_t key_{};
};

} // namespace

std::unique_ptr<NativeEnd> make_urma_end(const Subject &subject, int side, const Row &row)
{
	return std::make_unique<UrmaEnd>(subject, side, row);
}

} // namespace uboe::bench
