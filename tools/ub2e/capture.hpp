// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// A capture of the frames that pass, in the format of pcap.
#pragma once

#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include <cstdint>

namespace uboe::ub2e
{

class Capture
{
      public:
	/// Throws Failure when the file cannot be made.
	explicit Capture(const std::string &path);

	/// With the time of now. What does not fit on the disk is left out.
	void write(std::span<const std::uint8_t> frame);
	void flush()
	{
		std::fflush(file_.get());
	}

      private:
	struct Close {
		void operator()(std::FILE *f) const
		{
			std::fclose(f);
		}
	};
	std::unique_ptr<std::FILE, Close> file_;
};

} // namespace uboe::ub2e
