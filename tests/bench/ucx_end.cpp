// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// UCX over its TCP transport: one worker and one endpoint of UCP. Sends are tagged
// messages; every request tells when it is done, for UCX has no lists.
#include "native.hpp"

#include <deque>

#include <poll.h>
#include <ucp/api/ucp.h>

#include "error.hpp"

namespace uboe::bench {

namespace {

constexpr ucp_tag_t tag = 1;

void need(ucs_status_t status, const char *what)
{
	if (status != UCS_OK)
		throw Failure(std::string(what) + ": " + ucs_status_string(status));
}

std::string to_hex(const void *data, std::size_t size)
{
	static const char digits[] = "0123456789abcdef";
	std::string text;

	for (std::size_t i = 0; i < size; ++i) {
		const std::uint8_t byte = static_cast<const std::uint8_t *>(data)[i];
		text += {digits[byte >> 4], digits[byte & 15]};
	}
	return text;
}

std::vector<std::uint8_t> from_hex(const std::string &text)
{
	std::vector<std::uint8_t> bytes(text.size() / 2);

	for (std::size_t i = 0; i < bytes.size(); ++i)
		bytes[i] =
			static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
	return bytes;
}

class UcxEnd : public NativeEnd {
public:
	explicit UcxEnd(const Row &row) : row_(row), buffer_(memory_of(row))
	{
		start();
		for (std::uint32_t i = 0; i < receives_of(row); ++i)
			receive(i);
	}

	~UcxEnd() override
	{
		for (const auto &[number, request] : std::deque(receiving_))
			ucp_request_cancel(worker_, request);
		if (key_)
			ucp_rkey_destroy(key_);
		if (endpoint_)
			close();
		if (region_)
			ucp_mem_unmap(context_, region_);
		if (worker_)
			ucp_worker_destroy(worker_);
		if (context_)
			ucp_cleanup(context_);
	}

	void connect(Stream &stream) override
	{
		ucp_address_t *own;
		std::size_t length;

		need(ucp_worker_get_address(worker_, &own, &length), "ucp_worker_get_address");
		stream.send_line("worker " + to_hex(own, length));
		ucp_worker_release_address(worker_, own);
		const auto peer = from_hex(stream.expect("worker"));
		ucp_ep_params_t params = {};
		params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
		params.address = reinterpret_cast<const ucp_address_t *>(peer.data());
		need(ucp_ep_create(worker_, &params, &endpoint_), "ucp_ep_create");
		share(stream);
		// Connects, which takes both sides
		flush();
		stream.send_line("here");
		settle(stream);
	}

	void post(std::uint32_t) override
	{
		for (std::uint32_t i = 0; i < row_.signal_every; ++i, ++posted_)
			submit(slot_of(row_, 0, posted_));
	}

	std::uint32_t poll(std::vector<std::uint32_t> &done) override
	{
		std::uint32_t received = 0;

		ucp_worker_progress(worker_);
		done[0] += std::exchange(done_, 0);
		while (!arrived_.empty()) {
			const std::uint32_t number = arrived_.back();
			arrived_.pop_back();
			receive(number);
			++received;
		}
		return received;
	}

	void flush() override
	{
		ucp_request_param_t param = {};
		void *request = ucp_ep_flush_nbx(endpoint_, &param);

		finish(request, "ucp_ep_flush_nbx");
	}

	std::uint8_t *memory() override { return buffer_.data(); }

private:
	void start()
	{
		ucp_config_t *config;
		need(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
		const ucs_status_t tcp = ucp_config_modify(config, "TLS", "tcp");
		ucp_params_t params = {};
		params.field_mask = UCP_PARAM_FIELD_FEATURES;
		params.features = UCP_FEATURE_RMA | UCP_FEATURE_TAG;
		const ucs_status_t status = tcp == UCS_OK ? ucp_init(&params, config, &context_) :
							    tcp;
		ucp_config_release(config);
		need(status, "ucp_init");
		ucp_worker_params_t worker = {};
		worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
		worker.thread_mode = UCS_THREAD_MODE_SINGLE;
		need(ucp_worker_create(context_, &worker, &worker_), "ucp_worker_create");
		ucp_mem_map_params_t map = {};
		map.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
		map.address = buffer_.data();
		map.length = buffer_.size();
		need(ucp_mem_map(context_, &map, &region_), "ucp_mem_map");
	}

	void share(Stream &stream)
	{
		void *packed;
		std::size_t length;

		need(ucp_rkey_pack(context_, region_, &packed, &length), "ucp_rkey_pack");
		stream.send_line("region " +
				 std::to_string(reinterpret_cast<std::uint64_t>(buffer_.data())) +
				 ' ' + to_hex(packed, length));
		ucp_rkey_buffer_release(packed);
		const std::string line = stream.expect("region");
		const std::size_t space = line.find(' ');
		remote_ = std::stoull(line);
		const auto peer = from_hex(line.substr(space + 1));
		need(ucp_ep_rkey_unpack(endpoint_, peer.data(), &key_), "ucp_ep_rkey_unpack");
	}

	/// Works until the other end says that it has come as far.
	void settle(Stream &stream)
	{
		pollfd readable = {stream.fd(), POLLIN, 0};

		for (Patience patience; ::poll(&readable, 1, 0) == 0; patience.idle())
			ucp_worker_progress(worker_);
		stream.expect("here");
	}

	void submit(std::size_t at)
	{
		const bool sure = row_.latency && row_.kind == Row::Kind::write;
		std::uint8_t *data = buffer_.data() + at;
		ucp_request_param_t param = {};
		void *request = nullptr;

		param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
		param.cb.send = sure ? forget : completed;
		param.user_data = this;
		switch (row_.kind) {
		case Row::Kind::send:
			request = ucp_tag_send_nbx(endpoint_, data, row_.size, tag, &param);
			break;
		case Row::Kind::read:
			request =
				ucp_get_nbx(endpoint_, data, row_.size, remote_ + at, key_, &param);
			break;
		default:
			request =
				ucp_put_nbx(endpoint_, data, row_.size, remote_ + at, key_, &param);
		}
		started(request, !sure);
		if (sure) {
			param.cb.send = completed;
			started(ucp_ep_flush_nbx(endpoint_, &param), true);
		}
	}

	/// A request that is done at once calls nobody.
	void started(void *request, bool counts)
	{
		if (UCS_PTR_IS_ERR(request))
			need(UCS_PTR_STATUS(request), "posting");
		if (!request && counts)
			++done_;
	}

	void receive(std::uint32_t number)
	{
		ucp_request_param_t param = {};

		param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
				     UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
		param.cb.recv = arrived;
		param.user_data = this;
		void *request = ucp_tag_recv_nbx(worker_,
						 buffer_.data() + number % row_.depth * row_.size,
						 row_.size, tag, ~ucp_tag_t{0}, &param);
		if (UCS_PTR_IS_ERR(request))
			need(UCS_PTR_STATUS(request), "ucp_tag_recv_nbx");
		receiving_.emplace_back(number, request);
	}

	void finish(void *request, const char *what)
	{
		if (!UCS_PTR_IS_PTR(request)) {
			need(UCS_PTR_STATUS(request), what);
			return;
		}
		for (Patience patience; ucp_request_check_status(request) == UCS_INPROGRESS;
		     patience.idle())
			ucp_worker_progress(worker_);
		const ucs_status_t status = ucp_request_check_status(request);
		ucp_request_free(request);
		need(status, what);
	}

	void close()
	{
		ucp_request_param_t param = {};

		param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
		param.flags = UCP_EP_CLOSE_FLAG_FORCE;
		void *request = ucp_ep_close_nbx(endpoint_, &param);
		if (!UCS_PTR_IS_PTR(request))
			return;
		while (ucp_request_check_status(request) == UCS_INPROGRESS)
			ucp_worker_progress(worker_);
		ucp_request_free(request);
	}

	static void completed(void *request, ucs_status_t status, void *self)
	{
		if (status == UCS_OK)
			++static_cast<UcxEnd *>(self)->done_;
		ucp_request_free(request);
	}

	static void forget(void *request, ucs_status_t, void *) { ucp_request_free(request); }

	/// All receives are alike, and so the first that was posted is the one.
	static void arrived(void *request, ucs_status_t status, const ucp_tag_recv_info_t *,
			    void *self)
	{
		UcxEnd &end = *static_cast<UcxEnd *>(self);

		if (status == UCS_OK) {
			end.arrived_.push_back(end.receiving_.front().first);
			end.receiving_.pop_front();
		}
		ucp_request_free(request);
	}

	const Row row_;
	std::vector<std::uint8_t> buffer_;
	ucp_context_h context_ = nullptr;
	ucp_worker_h worker_ = nullptr;
	ucp_mem_h region_ = nullptr;
	ucp_ep_h endpoint_ = nullptr;
	ucp_rkey_h key_ = nullptr;
	std::uint64_t remote_ = 0;
	std::uint64_t posted_ = 0;
	std::uint32_t done_ = 0;
	std::deque<std::pair<std::uint32_t, void *>> receiving_; // in the order of posting
	std::vector<std::uint32_t> arrived_;
};

} // namespace

std::unique_ptr<NativeEnd> make_ucx_end(const Subject &, int, const Row &row)
{
	return std::make_unique<UcxEnd>(row);
}

} // namespace uboe::bench
