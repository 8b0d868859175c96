// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "impair.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include "commands.hpp"

namespace ubctl
{

namespace
{

constexpr double millionths = 1e6; // unit of the kernel's probabilities
constexpr double longest_us = 1e7;

enum class Unit { probability, time, number };

struct Knob {
	const char *name; // of the user
	const char *kernel;
	Unit unit;
};
constexpr Knob knobs[] = {
	{ "loss", "loss", Unit::probability },	     { "dup", "dup", Unit::probability },
	{ "reorder", "reorder", Unit::probability }, { "corrupt", "corrupt", Unit::probability },
	{ "delay", "delay_us", Unit::time },	     { "seed", "seed", Unit::number },
};

struct Suffix {
	const char *text;
	double factor;
};
constexpr Suffix time_suffixes[] = { { "", 1 }, { "us", 1 }, { "ms", 1e3 }, { "s", 1e6 } };
constexpr Suffix probability_suffixes[] = { { "", 1 }, { "ppm", 1 }, { "%", millionths / 100 } };

const std::vector<Column> columns{
	{ "DEVICE", "/device" },
	{ "LOSS", "/loss" },
	{ "DUP", "/dup" },
	{ "REORDER", "/reorder" },
	{ "CORRUPT", "/corrupt" },
	{ "DELAY-US", "/delay_us" },
	{ "SEED", "/seed" },
	{ "PACKETS", "/packets" },
	{ "LOST", "/lost" },
	{ "DUPLICATED", "/duplicated" },
	{ "REORDERED", "/reordered" },
	{ "CORRUPTED", "/corrupted" },
	{ "DELAYED", "/delayed" },
	{ "OVERFLOW", "/overflow" },
};

std::string names_of_knobs()
{
	std::string all;

	for (const Knob &k : knobs)
		all += (all.empty() ? "" : ", ") + std::string(k.name);
	return all;
}

template <std::size_t n>
double scaled(const std::string &word, const std::string &value, const Suffix (&suffixes)[n],
	      double most, const char *wanted)
{
	double number = 0;
	const auto [end, error] =
		std::from_chars(value.data(), value.data() + value.size(), number);
	const std::string rest(end, value.data() + value.size());

	if (error == std::errc())
		for (const Suffix &s : suffixes)
			if (rest == s.text && number >= 0 && number * s.factor <= most)
				return std::round(number * s.factor);
	throw Usage("'" + word + "': " + wanted);
}

std::uint64_t whole(const std::string &word, const std::string &value)
{
	std::uint64_t number = 0;
	const char *const last = value.data() + value.size();
	const auto [end, error] = std::from_chars(value.data(), last, number);

	if (error != std::errc() || end != last)
		throw Usage("'" + word + "': a whole number of at most 64 bits");
	return number;
}

std::string path_of(const std::string &device)
{
	return "/sys/kernel/debug/uboe/" + device + "/impair";
}

[[noreturn]] void fail(const std::string &device, int error)
{
	if (error == EACCES || error == EPERM)
		throw std::runtime_error(device + ": no permission: debugfs is for root only");
	if (error == ENOENT && access("/sys/kernel/debug/uboe", F_OK))
		throw std::runtime_error(device +
					 ": no /sys/kernel/debug/uboe: uboe is not loaded, or "
					 "'mount -t debugfs none /sys/kernel/debug'");
	if (error == ENOENT)
		throw std::runtime_error(device + ": nothing at " + path_of(device) +
					 ": the device was made by another name, or is not uboe's");
	if (error == EINVAL)
		throw std::runtime_error(device + ": the kernel does not understand these values");
	throw std::runtime_error(device + ": " + std::strerror(error));
}

/// Opened, read or written with one system call; a closed one is never kept.
class File
{
      public:
	File(const std::string &device, int flags)
		: device_(device), fd_(open(path_of(device).c_str(), flags | O_CLOEXEC))
	{
		if (fd_ < 0)
			fail(device, errno);
	}
	~File()
	{
		close(fd_);
	}
	File(const File &) = delete;
	File &operator=(const File &) = delete;

	std::string read_all()
	{
		std::string all;
		char room[1024];
		ssize_t n;

		while ((n = read(fd_, room, sizeof(room))) > 0)
			all.append(room, static_cast<std::size_t>(n));
		if (n < 0)
			fail(device_, errno);
		return all;
	}
	void write_all(const std::string &text)
	{
		if (write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
			fail(device_, errno);
	}

      private:
	const std::string &device_;
	int fd_;
};

/// "loss=1 dup=2" in the first line, "packets 7" in the others; whatever else may come.
Json row_of(const std::string &device)
{
	Json row{ { "device", device } };
	std::istringstream words(File(device, O_RDONLY).read_all());
	std::string word, name;

	while (words >> word) {
		const std::size_t eq = word.find('=');
		const std::string value = eq == word.npos ? word : word.substr(eq + 1);
		std::uint64_t number = 0;
		const char *const last = value.data() + value.size();

		if (eq != word.npos)
			name = word.substr(0, eq);
		if (std::from_chars(value.data(), last, number).ptr == last && !name.empty())
			row[name] = number, name.clear();
		else
			name = word;
	}
	return row;
}

} // namespace

std::string knob_for_kernel(const std::string &word)
{
	const std::size_t eq = word.find('=');
	const std::string name = word.substr(0, eq);
	const auto *knob = std::find_if(std::begin(knobs), std::end(knobs),
					[&name](const Knob &k) { return name == k.name; });

	if (word == "off")
		return word;
	if (eq == word.npos || knob == std::end(knobs))
		throw Usage("'" + word + "': KNOB=VALUE with one of " + names_of_knobs() +
			    ", or off");
	const std::string value = word.substr(eq + 1);
	std::uint64_t number = 0;

	switch (knob->unit) {
	case Unit::probability:
		number = static_cast<std::uint64_t>(
			scaled(word, value, probability_suffixes, millionths,
			       "0% to 100%, or 0 to 1000000 packets of a million"));
		break;
	case Unit::time:
		number = static_cast<std::uint64_t>(
			scaled(word, value, time_suffixes, longest_us, "0 to 10s, in us, ms or s"));
		break;
	case Unit::number:
		number = whole(word, value);
		break;
	}
	return std::string(knob->kernel) + "=" + std::to_string(number);
}

void impair(const Output &output, const Words &words)
{
	std::string text;
	Rows rows;
	const bool named = !words.empty() && words[0] != "off" &&
			   words[0].find('=') == std::string::npos;
	const Words rest(words.begin() + (named ? 1 : 0), words.end());
	const bool shows = named && words[0] == "show";

	if (shows)
		return impair(output, rest);
	for (const std::string &word : rest)
		text += knob_for_kernel(word) + " ";
	if (!text.empty() && !named)
		throw Usage("'" + words[0] + "': first the device whose packets it is for");
	const std::string device = named ? words[0] : "";
	Nldev nldev = connect_for(device);

	for (const KernelDevice &d : kernel_devices(nldev, device)) {
		if (!text.empty())
			File(d.name, O_RDWR).write_all(text);
		rows.push_back(row_of(d.name));
	}
	print(output, rows, columns);
}

} // namespace ubctl
