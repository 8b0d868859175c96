// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "source.hpp"

#include <atomic>
#include <csignal>
#include <fstream>
#include <iostream>

#include <pcap/pcap.h>

#include "error.hpp"
#include "hextext.hpp"

namespace ubdump
{

namespace
{

constexpr int snap_length = 262144;
constexpr int wake_ms = 100;

struct Close {
	void operator()(pcap_t *p) const
	{
		pcap_close(p);
	}
};
using Handle = std::unique_ptr<pcap_t, Close>;

std::atomic<pcap_t *> running;

void on_signal(int)
{
	if (pcap_t *p = running.load())
		pcap_breakloop(p);
}

void catch_signals()
{
	struct sigaction action {
	};

	action.sa_handler = on_signal;
	sigaction(SIGINT, &action, nullptr);
	sigaction(SIGTERM, &action, nullptr);
}

Link link_of(pcap_t *p, const std::string &name)
{
	const int type = pcap_datalink(p);

	switch (type) {
	case DLT_EN10MB:
		return Link::ethernet;
	case DLT_RAW:
	case DLT_IPV4:
	case DLT_IPV6:
		return Link::ip;
	case DLT_LINUX_SLL:
		return Link::cooked;
	case DLT_LINUX_SLL2:
		return Link::cooked2;
	default:
		break;
	}
	const char *text = pcap_datalink_val_to_name(type);

	throw uboe::Failure(name + ": link type " + std::to_string(type) + " (" +
			    (text ? text : "unknown") +
			    ") is neither Ethernet, raw IP nor Linux cooked");
}

void set_bpf(pcap_t *p, const std::string &bpf)
{
	bpf_program program;

	if (bpf.empty())
		return;
	if (pcap_compile(p, &program, bpf.c_str(), 1, PCAP_NETMASK_UNKNOWN))
		throw BadBpf("--bpf: " + std::string(pcap_geterr(p)));
	const int error = pcap_setfilter(p, &program);

	pcap_freecode(&program);
	if (error)
		throw uboe::Failure("--bpf: " + std::string(pcap_geterr(p)));
}

class PcapSource : public Source
{
      public:
	PcapSource(Handle handle, std::string name, bool live)
		: handle_(std::move(handle)), name_(std::move(name)), live_(live),
		  link_(link_of(handle_.get(), name_)),
		  nano_(pcap_get_tstamp_precision(handle_.get()) == PCAP_TSTAMP_PRECISION_NANO)
	{
		if (live_)
			running = handle_.get();
	}
	~PcapSource() override
	{
		if (live_)
			running = nullptr;
	}

	bool next(Frame &frame) override
	{
		pcap_pkthdr *header;
		const u_char *data;
		int rc;

		do {
			rc = pcap_next_ex(handle_.get(), &header, &data);
		} while (!rc);
		if (rc == PCAP_ERROR_BREAK)
			return false;
		if (rc != 1)
			throw uboe::Failure(name_ + ": behind packet " + std::to_string(count_) +
					    ": " + pcap_geterr(handle_.get()));
		++count_;
		frame.bytes = { data, header->caplen };
		frame.wire_size = header->len;
		frame.time_ns = header->ts.tv_sec * 1'000'000'000ll +
				header->ts.tv_usec * (nano_ ? 1ll : 1000ll);
		frame.link = link_;
		return true;
	}
	int link_type() const override
	{
		return pcap_datalink(handle_.get());
	}
	std::uint64_t lost() override
	{
		pcap_stat s;

		return live_ && !pcap_stats(handle_.get(), &s) ? s.ps_drop : 0;
	}

      private:
	Handle handle_;
	std::string name_;
	bool live_;
	Link link_;
	bool nano_;
	std::uint64_t count_ = 0;
};

class TextSource : public Source
{
      public:
	TextSource(const std::string &file, std::optional<Link> link)
		: reader_(file == "-" ? std::cin : file_, file == "-" ? "standard input" : file),
		  link_(link)
	{
		if (file == "-")
			return;
		file_.open(file);
		uboe::require(file_.is_open(), file.c_str());
	}

	bool next(Frame &frame) override
	{
		auto packet = reader_.next();

		if (!packet)
			return false;
		packet_ = std::move(*packet);
		frame = { packet_, packet_.size(), -1, link_ ? *link_ : guess_link(packet_) };
		return true;
	}
	int link_type() const override
	{
		return DLT_EN10MB;
	}

      private:
	std::ifstream file_;
	HexReader reader_;
	std::optional<Link> link_;
	std::vector<std::uint8_t> packet_;
};

[[noreturn]] void fail_activate(pcap_t *p, const std::string &name, int error)
{
	switch (error) {
	case PCAP_ERROR_PERM_DENIED:
	case PCAP_ERROR_PROMISC_PERM_DENIED:
		throw uboe::Failure(name + ": capturing needs CAP_NET_RAW: be root, or give it "
					   "with setcap cap_net_raw+ep to a copy of ubdump");
	case PCAP_ERROR_NO_SUCH_DEVICE:
		throw uboe::Failure(name + ": no such interface");
	case PCAP_ERROR_IFACE_NOT_UP:
		throw uboe::Failure(name + ": the interface is down");
	case PCAP_ERROR:
		throw uboe::Failure(name + ": " + pcap_geterr(p));
	default:
		throw uboe::Failure(name + ": " + pcap_statustostr(error));
	}
}

/// Text has no link header where packets begin with IP or LPH.
std::vector<std::uint8_t> as_ethernet(const Frame &f)
{
	std::vector<std::uint8_t> out(ethernet.size);

	if (f.link == Link::native) {
		out[12] = 0x88;
		out[13] = 0xb5;
	} else {
		const bool v6 = !f.bytes.empty() && f.bytes[0] >> 4 == 6;

		out[12] = v6 ? 0x86 : 0x08;
		out[13] = v6 ? 0xdd : 0x00;
	}
	out.insert(out.end(), f.bytes.begin(), f.bytes.end());
	return out;
}

} // namespace

std::unique_ptr<Source> open_capture(const std::string &file, const std::string &bpf)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	Handle p(pcap_open_offline_with_tstamp_precision(file.c_str(), PCAP_TSTAMP_PRECISION_NANO,
							 why));

	if (!p) {
		const std::string text = why;
		// libpcap names the file in some messages
		throw uboe::Failure(text.starts_with(file) ? text : file + ": " + text);
	}
	set_bpf(p.get(), bpf);
	return std::make_unique<PcapSource>(std::move(p), file, false);
}

std::unique_ptr<Source> open_interface(const std::string &name, const std::string &bpf,
				       bool promiscuous)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	Handle p(pcap_create(name.c_str(), why));

	if (!p)
		throw uboe::Failure(name + ": " + why);
	pcap_set_snaplen(p.get(), snap_length);
	pcap_set_promisc(p.get(), promiscuous);
	pcap_set_timeout(p.get(), wake_ms);
	pcap_set_immediate_mode(p.get(), 1);
	pcap_set_tstamp_precision(p.get(), PCAP_TSTAMP_PRECISION_NANO);
	if (const int error = pcap_activate(p.get()); error < 0)
		fail_activate(p.get(), name, error);
	set_bpf(p.get(), bpf);
	auto source = std::make_unique<PcapSource>(std::move(p), name, true);

	catch_signals();
	return source;
}

std::unique_ptr<Source> open_text(const std::string &file, std::optional<Link> link)
{
	return std::make_unique<TextSource>(file, link);
}

struct Writer::Handles {
	Handle dead;
	pcap_dumper_t *dumper = nullptr;
};

Writer::Writer(const std::string &file, const Source &source)
	: handles_(std::make_unique<Handles>()), file_(file)
{
	handles_->dead.reset(pcap_open_dead_with_tstamp_precision(source.link_type(), snap_length,
								  PCAP_TSTAMP_PRECISION_NANO));
	handles_->dumper = pcap_dump_open(handles_->dead.get(), file.c_str());
	if (!handles_->dumper)
		throw uboe::Failure("--write: " + std::string(pcap_geterr(handles_->dead.get())));
}

Writer::~Writer()
{
	if (handles_->dumper)
		pcap_dump_close(handles_->dumper);
}

void Writer::write(const Frame &f)
{
	const bool as_is = f.link != Link::ip && f.link != Link::native;
	const bool text = f.time_ns < 0;
	const std::vector<std::uint8_t> whole = text && !as_is ? as_ethernet(f) :
								 std::vector<std::uint8_t>();
	const Bytes bytes = whole.empty() ? f.bytes : Bytes(whole);
	const std::int64_t ns = text ? 0 : f.time_ns;
	pcap_pkthdr h{};

	h.ts.tv_sec = ns / 1'000'000'000;
	h.ts.tv_usec = ns % 1'000'000'000; // nanoseconds, by the precision of the file
	h.caplen = static_cast<bpf_u_int32>(bytes.size());
	h.len = static_cast<bpf_u_int32>(whole.empty() ? f.wire_size : bytes.size());
	pcap_dump(reinterpret_cast<u_char *>(handles_->dumper), &h, bytes.data());
}

void Writer::close()
{
	const int error = pcap_dump_flush(handles_->dumper);

	pcap_dump_close(handles_->dumper);
	handles_->dumper = nullptr;
	if (error)
		uboe::fail_errno("--write: " + file_);
}

} // namespace ubdump
