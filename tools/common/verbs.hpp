// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// libibverbs with owners: every object is freed by its destructor, in the order
// that verbs wants as long as members are declared in the order of creation.
// Failing calls throw Failure. Nothing here is special to one driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <infiniband/verbs.h>

#include "stream.hpp"

namespace uboe
{

template <auto destroy> struct Destroyer {
	template <class T> void operator()(T *object) const
	{
		destroy(object);
	}
};
template <class T, auto destroy> using Owned = std::unique_ptr<T, Destroyer<destroy>>;

/// An open device with a protection domain; port 1.
class Device
{
      public:
	/// @p address: IPv4 or IPv6 address whose GID is used.
	Device(const std::string &name, const std::string &address);

	ibv_context *context() const
	{
		return context_.get();
	}
	ibv_pd *pd() const
	{
		return pd_.get();
	}
	const ibv_gid &gid() const
	{
		return gid_;
	}
	int gid_index() const
	{
		return gid_index_;
	}
	ibv_mtu mtu() const
	{
		return port_.active_mtu;
	}
	std::uint32_t mtu_bytes() const
	{
		return 128u << port_.active_mtu;
	}
	const ibv_device_attr &limits() const
	{
		return limits_;
	}

      private:
	void find_gid(const std::string &address);

	Owned<ibv_context, ibv_close_device> context_;
	Owned<ibv_pd, ibv_dealloc_pd> pd_;
	ibv_port_attr port_ = {};
	ibv_device_attr limits_ = {};
	ibv_gid gid_ = {};
	int gid_index_ = -1;
};

/// Page-aligned zeroed memory that a device may use.
class Region
{
      public:
	Region() = default;
	Region(const Device &device, std::size_t size, int access);

	std::uint8_t *data() const
	{
		return memory_.get();
	}
	std::size_t size() const
	{
		return size_;
	}
	std::uint32_t lkey() const
	{
		return mr_->lkey;
	}
	std::uint32_t rkey() const
	{
		return mr_->rkey;
	}
	std::uint64_t address() const
	{
		return reinterpret_cast<std::uintptr_t>(data());
	}
	/// "ADDRESS RKEY SIZE", for the other side.
	std::string describe() const;

      private:
	struct Unmap {
		std::size_t size;
		void operator()(std::uint8_t *memory) const;
	};
	std::unique_ptr<std::uint8_t, Unmap> memory_;
	std::size_t size_ = 0;
	Owned<ibv_mr, ibv_dereg_mr> mr_;
};

/// A Region of the other side.
struct RemoteRegion {
	std::uint64_t address = 0;
	std::uint32_t rkey = 0;
	std::size_t size = 0;

	static RemoteRegion parse(const std::string &text);
};

/// Completion queue with an event channel.
class CompletionQueue
{
      public:
	CompletionQueue(const Device &device, int depth);
	~CompletionQueue();

	ibv_cq *get() const
	{
		return cq_.get();
	}
	/// Completions that are there now, at most @p count; throws for a failed one.
	int poll(ibv_wc *completions, int count);
	/// Sleeps until there are some. Throws after @p timeout_ms.
	int wait(ibv_wc *completions, int count, int timeout_ms);
	/// One notification will come for the next completion.
	void arm();
	/// Sleeps until a notification comes and takes it.
	void wait_event(int timeout_ms);

      private:
	Owned<ibv_comp_channel, ibv_destroy_comp_channel> channel_;
	Owned<ibv_cq, ibv_destroy_cq> cq_;
	unsigned events_ = 0;
};

struct QueueSizes {
	std::uint32_t send = 64;
	std::uint32_t receive = 64;
	std::uint32_t inline_bytes = 0;
};

/// A reliable connected queue pair.
class QueuePair
{
      public:
	QueuePair(const Device &device, CompletionQueue &send, CompletionQueue &receive,
		  const QueueSizes &sizes);

	ibv_qp *get() const
	{
		return qp_.get();
	}
	/// Exchanges numbers with the other side, goes to RTS, waits until it has too.
	void connect(Stream &stream);

	void post_send(ibv_send_wr &request);
	void post_receive(std::uint64_t id, void *data, std::uint32_t size, std::uint32_t lkey);

      private:
	const Device &device_;
	Owned<ibv_qp, ibv_destroy_qp> qp_;
};

} // namespace uboe
