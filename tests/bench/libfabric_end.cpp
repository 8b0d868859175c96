// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// libfabric's TCP provider: a connected endpoint (FI_EP_MSG) and one completion queue.
#include "native.hpp"

#include <sstream>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "error.hpp"

namespace uboe::bench {

namespace {

constexpr std::size_t batch = 32; // completions taken at once
constexpr const char *port = "4794";
constexpr int patience_ms = 20000;
constexpr std::uint32_t version = FI_VERSION(1, 15);

void need(ssize_t result, const char *what)
{
	if (result < 0)
		throw Failure(std::string(what) + ": " + fi_strerror(static_cast<int>(-result)));
}

struct FreeInfo {
	void operator()(fi_info *info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

struct CloseFid {
	template <class T> void operator()(T *object) const { fi_close(&object->fid); }
};
template <class T> using Owned = std::unique_ptr<T, CloseFid>;

class LibfabricEnd : public NativeEnd {
public:
	LibfabricEnd(const Subject &subject, int side, const Row &row)
		: row_(row), subject_(subject), active_(side == 0), buffer_(memory_of(row))
	{
	}

	void connect(Stream &stream) override
	{
		if (active_)
			stream.expect("listening");
		info_ = find();
		fid_fabric *fabric;
		need(fi_fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric");
		fabric_.reset(fabric);
		fi_eq_attr eq_attr = {};
		eq_attr.wait_obj = FI_WAIT_UNSPEC;
		fid_eq *events;
		need(fi_eq_open(fabric, &eq_attr, &events, nullptr), "fi_eq_open");
		events_.reset(events);
		if (active_) {
			open(info_.get());
			need(fi_connect(endpoint_.get(), info_->dest_addr, nullptr, 0),
			     "fi_connect");
		} else {
			accept(stream);
		}
		next_event(FI_CONNECTED);
		exchange(stream);
	}

	void post(std::uint32_t) override
	{
		for (std::uint32_t i = 1; i <= row_.signal_every; ++i, ++posted_) {
			const std::uint64_t flags = (i == row_.signal_every ? FI_COMPLETION : 0) |
						    (row_.latency && row_.kind == Row::Kind::write ?
							     FI_DELIVERY_COMPLETE :
							     0);
			submit(slot_of(row_, 0, posted_), flags);
		}
	}

	std::uint32_t poll(std::vector<std::uint32_t> &done) override
	{
		take();
		done[0] += std::exchange(done_, 0);
		return std::exchange(received_, 0);
	}

	/// The last slot once more; it is there when all before it are.
	void flush() override
	{
		const std::uint32_t before = done_;

		submit(slot_of(row_, 0, posted_ - 1), FI_COMPLETION | FI_DELIVERY_COMPLETE);
		for (Patience patience; done_ == before; patience.idle())
			take();
		done_ = before;
	}

	std::uint8_t *memory() override { return buffer_.data(); }

private:
	Info find() const
	{
		const Info hints(fi_allocinfo());
		fi_info *found = nullptr;

		hints->ep_attr->type = FI_EP_MSG;
		hints->caps = FI_MSG | FI_RMA;
		hints->mode = FI_CONTEXT;
		hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
					      FI_MR_PROV_KEY;
		hints->domain_attr->threading = FI_THREAD_DOMAIN;
		hints->tx_attr->size = row_.depth;
		hints->rx_attr->size = receives_of(row_);
		hints->fabric_attr->prov_name = strdup("tcp");
		hints->addr_format = FI_SOCKADDR_IN;
		need(fi_getinfo(version, subject_.address[1].c_str(), port, active_ ? 0 : FI_SOURCE,
				hints.get(), &found),
		     "fi_getinfo");
		return Info(found);
	}

	void accept(Stream &stream)
	{
		fid_pep *listener;
		need(fi_passive_ep(fabric_.get(), info_.get(), &listener, nullptr),
		     "fi_passive_ep");
		listener_.reset(listener);
		need(fi_pep_bind(listener, &events_->fid, 0), "fi_pep_bind");
		need(fi_listen(listener), "fi_listen");
		stream.send_line("listening");
		const Info request(next_event(FI_CONNREQ));
		open(request.get());
		need(fi_accept(endpoint_.get(), nullptr, 0), "fi_accept");
	}

	void open(fi_info *info)
	{
		fid_domain *domain;
		need(fi_domain(fabric_.get(), info, &domain, nullptr), "fi_domain");
		domain_.reset(domain);
		fi_cq_attr attr = {};
		attr.format = FI_CQ_FORMAT_MSG;
		attr.wait_obj = FI_WAIT_NONE;
		attr.size = row_.depth + receives_of(row_) + 64;
		fid_cq *queue;
		need(fi_cq_open(domain, &attr, &queue, nullptr), "fi_cq_open");
		queue_.reset(queue);
		fid_ep *endpoint;
		need(fi_endpoint(domain, info, &endpoint, nullptr), "fi_endpoint");
		endpoint_.reset(endpoint);
		need(fi_ep_bind(endpoint, &events_->fid, 0), "fi_ep_bind");
		need(fi_ep_bind(endpoint, &queue->fid, FI_RECV), "fi_ep_bind");
		need(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION),
		     "fi_ep_bind");
		need(fi_enable(endpoint), "fi_enable");
		fid_mr *region;
		need(fi_mr_reg(domain, buffer_.data(), buffer_.size(),
			       FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
				       FI_REMOTE_WRITE,
			       0, 0, 0, &region, nullptr),
		     "fi_mr_reg");
		region_.reset(region);
		contexts_.resize(receives_of(row_) + 1);
		for (std::uint32_t i = 0; i < receives_of(row_); ++i)
			receive(i);
	}

	void exchange(Stream &stream)
	{
		const bool by_address = info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
		const auto base = reinterpret_cast<std::uint64_t>(buffer_.data());

		stream.send_line("region " + std::to_string(by_address ? base : 0) + ' ' +
				 std::to_string(fi_mr_key(region_.get())));
		std::istringstream in(stream.expect("region"));
		if (!(in >> remote_ >> remote_key_))
			throw Failure("the other end says nothing of its memory");
	}

	fi_info *next_event(std::uint32_t wanted)
	{
		fi_eq_cm_entry entry = {};
		std::uint32_t event = 0;

		const ssize_t n =
			fi_eq_sread(events_.get(), &event, &entry, sizeof(entry), patience_ms, 0);
		need(n, "fi_eq_sread");
		if (event != wanted)
			throw Failure("connecting: event " + std::to_string(event));
		return event == FI_CONNREQ ? entry.info : nullptr;
	}

	/// One request; while there is no room the library works.
	void submit(std::size_t at, std::uint64_t flags)
	{
		for (Patience patience;; patience.idle()) {
			const ssize_t result = try_submit(at, flags);
			if (result != -FI_EAGAIN) {
				need(result, "posting");
				return;
			}
			take();
		}
	}

	ssize_t try_submit(std::size_t at, std::uint64_t flags)
	{
		iovec piece = {buffer_.data() + at, row_.size};
		void *descriptor = fi_mr_desc(region_.get());

		if (row_.kind == Row::Kind::send) {
			const fi_msg message = {&piece, &descriptor, 1, 0, &contexts_.back(), 0};
			return fi_sendmsg(endpoint_.get(), &message, flags);
		}
		const fi_rma_iov target = {remote_ + at, row_.size, remote_key_};
		const fi_msg_rma message = {&piece, &descriptor,       1, 0, &target,
					    1,	    &contexts_.back(), 0};
		return row_.kind == Row::Kind::read ? fi_readmsg(endpoint_.get(), &message, flags) :
						      fi_writemsg(endpoint_.get(), &message, flags);
	}

	void receive(std::size_t number)
	{
		const std::size_t at = number % row_.depth * row_.size;

		for (Patience patience;; patience.idle()) {
			const ssize_t result = fi_recv(endpoint_.get(), buffer_.data() + at,
						       row_.size, fi_mr_desc(region_.get()), 0,
						       &contexts_[number]);
			if (result != -FI_EAGAIN) {
				need(result, "fi_recv");
				return;
			}
		}
	}

	void take()
	{
		fi_cq_msg_entry entries[batch];

		const ssize_t n = fi_cq_read(queue_.get(), entries, batch);
		if (n == -FI_EAGAIN)
			return;
		if (n == -FI_EAVAIL) {
			fi_cq_err_entry error = {};
			fi_cq_readerr(queue_.get(), &error, 0);
			need(-error.err, "a request");
		}
		need(n, "fi_cq_read");
		for (ssize_t i = 0; i < n; ++i) {
			if (entries[i].flags & FI_RECV) {
				const auto *context =
					static_cast<fi_context *>(entries[i].op_context);
				receive(static_cast<std::size_t>(context - contexts_.data()));
				++received_;
			} else {
				done_ += row_.signal_every;
			}
		}
	}

	const Row row_;
	const Subject subject_;
	const bool active_;
	std::vector<std::uint8_t> buffer_;
	Info info_;
	Owned<fid_fabric> fabric_;
	Owned<fid_eq> events_;
	Owned<fid_pep> listener_;
	Owned<fid_domain> domain_;
	Owned<fid_cq> queue_;
	Owned<fid_mr> region_;
	Owned<fid_ep> endpoint_;
	std::vector<fi_context> contexts_; // of receives, and one for all others
	std::uint64_t remote_ = 0, remote_key_ = 0;
	std::uint64_t posted_ = 0;
	std::uint32_t done_ = 0, received_ = 0;
};

} // namespace

std::unique_ptr<NativeEnd> make_libfabric_end(const Subject &subject, int side, const Row &row)
{
	return std::make_unique<LibfabricEnd>(subject, side, row);
}

} // namespace uboe::bench
