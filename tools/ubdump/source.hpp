// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Where packets come from and where they are written: captures, interfaces, text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "decode.hpp"

namespace ubdump
{

struct Frame {
	Bytes bytes; ///< good until the next one
	std::size_t wire_size = 0;
	std::int64_t time_ns = -1;
	Link link = Link::ethernet;
};

/// Of libpcap's filter.
class BadBpf : public std::runtime_error
{
      public:
	using std::runtime_error::runtime_error;
};

class Source
{
      public:
	virtual ~Source() = default;
	/// False at the end. Throws uboe::Failure for what cannot be read.
	virtual bool next(Frame &frame) = 0;
	/// Type of a capture of these frames.
	virtual int link_type() const = 0;
	/// Packets that the kernel could not keep.
	virtual std::uint64_t lost()
	{
		return 0;
	}
};

/// @p bpf: a filter of libpcap, or empty.
std::unique_ptr<Source> open_capture(const std::string &file, const std::string &bpf);
/// Ends with SIGINT or SIGTERM.
std::unique_ptr<Source> open_interface(const std::string &name, const std::string &bpf,
				       bool promiscuous);
/// "-" is the standard input. Without @p link it is guessed for each packet.
std::unique_ptr<Source> open_text(const std::string &file, std::optional<Link> link);

/// Writes frames as they came; those of a text as Ethernet.
class Writer
{
      public:
	Writer(const std::string &file, const Source &source);
	~Writer();
	void write(const Frame &frame);
	/// Throws when not all could be written.
	void close();

      private:
	struct Handles;
	std::unique_ptr<Handles> handles_;
	std::string file_;
};

} // namespace ubdump
