// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "end.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ubping
{

namespace
{

thread_local std::string last_message;

void note(int, char *message)
{
	last_message = message;
}

std::uint32_t stride_of(std::uint32_t size)
{
	return std::max((size + 63) / 64 * 64, 64u);
}

} // namespace

void LibraryLog::capture()
{
	if (!std::getenv("URMA_LOG_LEVEL"))
		urma_register_log_func(note);
}

std::string LibraryLog::take()
{
	return std::exchange(last_message, {});
}

std::shared_ptr<urma::Context> open_context(const std::string &device, const urma::Eid &eid)
try {
	LibraryLog::take();
	if (device.empty())
		return std::make_shared<urma::Context>(eid);
	return std::make_shared<urma::Context>(urma::Device::of(device), eid);
} catch (const urma::Error &e) {
	const std::string said = LibraryLog::take();

	if (e.code() == urma::errc::address_in_use) {
		// the library knows by whom
		const std::size_t by = said.find(" by process ");

		throw AddressInUse("address " + eid.text() + " is in use" +
				   (by == said.npos ? "" : said.substr(by)) +
				   "; each end takes one of its own (--eid)");
	}
	if (e.code() == urma::errc::no_device && device.empty())
		throw std::runtime_error("no URMA device has the address " + eid.text() +
					 " ('ubctl eid' lists those that there are)");
	throw;
}

End::End(std::shared_ptr<urma::Context> context, std::uint32_t depth, std::uint32_t sends,
	 std::uint32_t size)
	: context_(std::move(context)), stride_(stride_of(size)), size_(size),
	  segment_(urma::LocalSegment::allocate(*context_, std::size_t{ depth + sends } * stride_)),
	  channel_(*context_),
	  completions_(channel_,
		       { .depth = urma::RcJetty::records_per_request * depth + depth + 66 }),
	  receives_(*context_, completions_, { .depth = depth }),
	  jetty_(*context_, completions_, receives_, { .depth = depth, .max_slices = 1 })
{
	for (std::uint32_t slot = 0; slot < depth; ++slot)
		post_receive(slot);
}

std::span<std::byte> End::memory(std::uint32_t slot) const
{
	return segment_.bytes().subspan(std::size_t{ slot } * stride_, stride_);
}

void End::post_receive(std::uint32_t slot)
{
	urma::check(receives_.receive(segment_.slice(std::size_t{ slot } * stride_,
						     std::max(size_, 1u)),
				      slot),
		    "post a receive");
}

void End::send(std::uint32_t slot, std::uint32_t length)
{
	urma::check(jetty_.send(segment_.slice(std::size_t{ slot } * stride_, length),
				{ .user = slot }),
		    "send");
}

} // namespace ubping
