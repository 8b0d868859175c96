// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Contexts, and the asynchronous events that arrive by them.
#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "devices.hpp"
#include "objects.hpp"

namespace uboe::urma {

Bell::Bell() : fd_(eventfd(0, EFD_CLOEXEC))
{
	if (fd_ < 0)
		throw std::bad_alloc(); // there are too many open files
}

Bell::~Bell()
{
	close(fd_);
}

void Bell::ring()
{
	const u64 one = 1;

	if (!rung_ && write(fd_, &one, sizeof(one)) == sizeof(one))
		rung_ = true;
}

void Bell::clear()
{
	u64 n;

	if (rung_ && read(fd_, &n, sizeof(n)) == sizeof(n))
		rung_ = false;
}

int Bell::wait(int timeout_ms) const
{
	pollfd p{fd_, POLLIN, 0};
	const int n = poll(&p, 1, timeout_ms);

	if (n < 0)
		return errno;
	return n ? 0 : ETIMEDOUT;
}

Context::Context(urma_device_t &device) : urma_context_t{}
{
	dev = &device;
	dev_fd = -1;
	async_fd = bell.fd();
	pthread_mutex_init(&mutex, nullptr);
}

Context::~Context()
{
	backend.reset(); // it may call back until then
	pthread_mutex_destroy(&mutex);
}

void Context::completed(u32 number)
{
	const std::lock_guard hold(events);
	const auto it = jfcs.find(number);

	if (it != jfcs.end() && it->second->channel)
		it->second->channel->fire(*it->second);
}

void Context::happened(u32 type, u32 sub, u32 number)
{
	urma_async_event_t e{};

	if (type == UBOE_EV_ENTITY) {
		changed(sub == UBOE_EV_SUB_RESET ? DeviceEvent::reset_began :
						   DeviceEvent::reset_done);
		return;
	}
	const std::lock_guard hold(events);

	e.urma_ctx = this;
	if (type == UBOE_EV_JFR_LIMIT) {
		const auto it = jfrs.find(number);

		if (it == jfrs.end())
			return;
		e.event_type = URMA_EVENT_JFR_LIMIT;
		e.element.jfr = it->second;
	} else if (type == UBOE_EV_JETTY && sub == UBOE_EV_SUB_JFC) {
		const auto it = jfcs.find(number);

		if (it == jfcs.end())
			return;
		e.event_type = URMA_EVENT_JFC_ERR;
		e.element.jfc = it->second;
	} else if (type == UBOE_EV_JETTY &&
		   (sub == UBOE_EV_SUB_ACCESS || sub == UBOE_EV_SUB_REQUEST ||
		    sub == UBOE_EV_SUB_JFS)) {
		Sender *s = senders.find(JettyId{number});

		if (!s)
			return;
		e.event_type = s->jfr ? URMA_EVENT_JETTY_ERR : URMA_EVENT_JFS_ERR;
		e.element.jetty = static_cast<urma_jetty_t *>(s->handle);
	} else {
		return; // of interest to verbs only
	}
	report(e);
}

/// Context::events is held.
void Context::report(const urma_async_event_t &e)
{
	try {
		pending.push_back(e);
	} catch (...) {
		return; // no memory: the queue's state still tells
	}
	bell.ring();
}

/// When the device is gone, who waits for completions is told as if there were some:
/// polling then says that it failed.
void Context::changed(DeviceEvent event)
{
	constexpr urma_async_event_type_t types[] = {URMA_EVENT_DEV_FATAL, URMA_EVENT_PORT_ACTIVE,
						     URMA_EVENT_PORT_DOWN, URMA_EVENT_EID_CHANGE,
						     URMA_EVENT_ELR_ERR,   URMA_EVENT_ELR_DONE};
	urma_async_event_t e{};
	const std::lock_guard hold(events);

	e.urma_ctx = this;
	e.event_type = types[static_cast<unsigned>(event)];
	report(e);
	if (event != DeviceEvent::lost)
		return;
	lost = true;
	for (const auto &[number, jfc] : jfcs)
		if (jfc->channel)
			jfc->channel->fire(*jfc);
}

void Context::forget(const void *element)
{
	const std::lock_guard hold(events);

	std::erase_if(pending,
		      [element](const urma_async_event_t &e) { return e.element.jfc == element; });
	if (pending.empty())
		bell.clear();
}

namespace {

/// Counts events of the object that @p e is about.
EventCount *count_of(const urma_async_event_t &e)
{
	switch (e.event_type) {
	case URMA_EVENT_JFC_ERR:
		return &static_cast<Jfc *>(e.element.jfc)->asyncs;
	case URMA_EVENT_JFR_ERR:
	case URMA_EVENT_JFR_LIMIT:
		return &static_cast<Jfr *>(e.element.jfr)->asyncs;
	case URMA_EVENT_JFS_ERR:
		return &static_cast<Jfs *>(e.element.jfs)->asyncs;
	case URMA_EVENT_JETTY_ERR:
	case URMA_EVENT_JETTY_LIMIT:
		return &static_cast<Jetty *>(e.element.jetty)->asyncs;
	default:
		return nullptr;
	}
}

bool take_event(Context &c, urma_async_event_t &out)
{
	const std::lock_guard hold(c.events);

	if (c.pending.empty())
		return false;
	out = c.pending.front();
	c.pending.pop_front();
	if (c.pending.empty())
		c.bell.clear();
	if (EventCount *n = count_of(out))
		n->taken();
	return true;
}

urma_context_t *create(urma_device_t &dev, u32 eid_index)
{
	const auto eids = device_eids(dev);

	if (eid_index >= eids.size()) {
		URMA_FAILED(EINVAL, "eid_index %u: %s has %zu EIDs", eid_index, dev.name,
			    eids.size());
		return nullptr;
	}
	const Address &address = eids[eid_index];
	Context *c = Handles<Context>::make(dev);

	if (int err = open_device(dev, address, *c, c->backend)) {
		URMA_FAILED(err, "EID %s: %s%s", address.text().c_str(), std::strerror(err),
			    err == EADDRINUSE ? who_has(address).c_str() : "");
		Handles<Context>::destroy(c);
		errno = err;
		return nullptr;
	}
	c->eid = to_eid(address);
	c->eid_index = eid_index;
	return c;
}

} // namespace

} // namespace uboe::urma

using namespace uboe::urma;

urma_context_t *urma_create_context(urma_device_t *dev, uint32_t eid_index)
{
	if (!is_device(dev)) {
		URMA_FAILED(EINVAL, "dev: not a device of this library");
		return nullptr;
	}
	return guarded<urma_context_t *>(nullptr, [&] { return create(*dev, eid_index); });
}

urma_status_t urma_delete_context(urma_context_t *ctx)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c)
		return URMA_FAILED(URMA_EINVAL, "ctx: not a context");
	if (const uboe::u32 n = c->children)
		return URMA_FAILED(URMA_EAGAIN, "ctx: %u objects still belong to it", n);
	Handles<Context>::destroy(c);
	return URMA_SUCCESS;
}

urma_status_t urma_get_async_event(urma_context_t *ctx, urma_async_event_t *event)
{
	Context *c = Handles<Context>::check(ctx);

	if (!c || !event)
		return URMA_FAILED(URMA_EINVAL, "%s", c ? "event: null" : "ctx: not a context");
	while (!take_event(*c, *event)) {
		if (fcntl(c->async_fd, F_GETFL) & O_NONBLOCK)
			return URMA_EAGAIN;
		if (c->bell.wait(-1) == EINTR)
			return URMA_EAGAIN;
	}
	return URMA_SUCCESS;
}

void urma_ack_async_event(urma_async_event_t *event)
{
	if (!event)
		return;
	if (EventCount *n = count_of(*event))
		n->acked(1);
}
