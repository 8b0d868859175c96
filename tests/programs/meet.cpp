// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// meet DEVICE ADDRESS NETNS FAR-ADDRESS: a queue pair of a kernel device, by verbs, and
// a jetty of the in-process device in another network namespace, by URMA, bound to one
// another; every operation that both have, in both directions.
#include <functional>
#include <iostream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <urma/urma_api.h>

#include "error.hpp"
#include "stream.hpp"
#include "verbs.hpp"

namespace
{

using namespace uboe;

constexpr std::size_t memory_size = 1 << 20;
constexpr std::uint32_t far_token = 0x345; /* twelve bits: what fits a verbs rkey */
constexpr int patience_ms = 10000;

int results, failures;

void check(const std::string &name, bool ok)
{
	std::cout << (ok ? "ok " : "not ok ") << ++results << ' ' << name << std::endl;
	failures += !ok;
}

template <class T> T *made(T *object, const char *what)
{
	if (!object)
		fail_errno(what);
	return object;
}

void done(urma_status_t status, const char *what)
{
	require_zero(status, what);
}

void enter(const std::string &name)
{
	const int fd = open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);

	require(fd >= 0, "open the network namespace");
	require(!setns(fd, CLONE_NEWNET), "enter the network namespace");
	close(fd);
}

/* The URMA side */
class Far
{
      public:
	Far() : bytes_(memory_size)
	{
		urma_jfc_cfg_t jfc{};
		urma_jfr_cfg_t jfr{};
		urma_jetty_cfg_t cfg{};
		urma_seg_cfg_t seg{};

		char name[] = "inproc0";
		ctx_ = made(urma_create_context(
				    made(urma_get_device_by_name(name), "in-process device"), 0),
			    "URMA context");
		jfc.depth = 256;
		jfc_ = made(urma_create_jfc(ctx_, &jfc), "JFC");
		jfr.depth = 64;
		jfr.trans_mode = URMA_TM_RC;
		jfr.max_sge = 1;
		jfr.min_rnr_timer = 1;
		jfr.jfc = jfc_;
		jfr_ = made(urma_create_jfr(ctx_, &jfr), "JFR");
		cfg.flag.bs.share_jfr = URMA_SHARE_JFR;
		cfg.jfs_cfg.depth = 64;
		cfg.jfs_cfg.trans_mode = URMA_TM_RC;
		cfg.jfs_cfg.max_sge = 1;
		cfg.jfs_cfg.rnr_retry = 7;
		cfg.jfs_cfg.jfc = jfc_;
		cfg.shared.jfr = jfr_;
		jetty_ = made(urma_create_jetty(ctx_, &cfg), "jetty");
		seg.va = address();
		seg.len = bytes_.size();
		seg.token_value.token = far_token;
		seg.flag.bs.token_policy = URMA_TOKEN_PLAIN_TEXT;
		seg.flag.bs.access = URMA_ACCESS_READ | URMA_ACCESS_WRITE | URMA_ACCESS_ATOMIC;
		seg_ = made(urma_register_seg(ctx_, &seg), "segment");
	}

	~Far()
	{
		urma_unbind_jetty(jetty_);
		urma_unimport_jetty(peer_);
		urma_unimport_seg(near_);
		urma_delete_jetty(jetty_);
		urma_unregister_seg(seg_);
		urma_delete_jfr(jfr_);
		urma_delete_jfc(jfc_);
		urma_delete_context(ctx_);
	}

	/* Speaks what QueuePair::connect() speaks */
	void bind(Stream &stream, const Region &near)
	{
		urma_rjetty_t r{};
		urma_seg_t seg{};
		urma_token_t token{ near.rkey() & 0xfff };
		std::ostringstream mine;
		std::string gid;

		mine << "qp " << jetty_->jetty_id.id << " 0 " << text(ctx_->eid) << " 5";
		stream.send_line(mine.str());
		std::istringstream in(stream.expect("qp"));
		std::uint32_t psn;

		in >> r.jetty_id.id >> psn >> gid;
		if (urma_str_to_eid(gid.c_str(), &r.jetty_id.eid))
			throw Failure("the verbs side's GID is garbled: " + gid);
		r.trans_mode = URMA_TM_RC;
		r.type = URMA_JETTY;
		peer_ = made(urma_import_jetty(ctx_, &r, nullptr), "import the queue pair");
		done(urma_bind_jetty(jetty_, peer_), "bind");
		stream.send_line("rts");
		stream.expect("rts");

		/* an rkey is TokenID << 12 | TokenValue */
		seg.ubva.eid = r.jetty_id.eid;
		seg.ubva.va = near.address();
		seg.len = near.size();
		seg.token_id = near.rkey() >> 12 << 8;
		seg.attr.bs.token_policy = URMA_TOKEN_PLAIN_TEXT;
		near_ = made(urma_import_seg(ctx_, &seg, &token, 0, {}), "import the region");
	}

	std::uint8_t *data() { return bytes_.data(); }
	std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(bytes_.data()); }
	std::uint32_t rkey() const { return seg_->seg.token_id >> 8 << 12 | far_token; }

	void receive(std::uint64_t id, std::size_t offset, std::uint32_t size)
	{
		urma_sge_t sge{ address() + offset, size, seg_, nullptr };
		urma_jfr_wr_t wr{ { &sge, 1 }, id, nullptr }, *bad;

		done(urma_post_jetty_recv_wr(jetty_, &wr, &bad), "post a receive");
	}

	urma_cr_t next()
	{
		urma_cr_t cr;

		for (int ms = 0; ms < patience_ms; ++ms) {
			for (int i = 0; i < 100; ++i)
				if (urma_poll_jfc(jfc_, 1, &cr) == 1)
					return cr;
			usleep(1000);
		}
		throw Failure("no URMA completion");
	}

	/* A request about @size bytes at @offset of both memories */
	void post(urma_opcode_t opcode, std::size_t offset, std::uint32_t size,
		  std::uint64_t remote, std::uint64_t value = 0, std::uint64_t compare = 0)
	{
		urma_sge_t mine{ address() + offset, size, seg_, nullptr };
		urma_sge_t theirs{ remote, size, near_, nullptr };
		urma_jfs_wr_t wr{}, *bad;

		wr.opcode = opcode;
		wr.flag.bs.complete_enable = URMA_COMPLETE_ENABLE;
		if (opcode == URMA_OPC_SEND || opcode == URMA_OPC_SEND_IMM) {
			wr.send.src = { &mine, 1 };
			wr.send.imm_data = value;
		} else if (opcode == URMA_OPC_READ) {
			wr.rw.src = { &theirs, 1 };
			wr.rw.dst = { &mine, 1 };
		} else if (opcode == URMA_OPC_CAS) {
			wr.cas = { &theirs, &mine, { compare }, { value } };
		} else if (opcode == URMA_OPC_FADD) {
			wr.faa = { &theirs, &mine, { value } };
		} else {
			wr.rw.src = { &mine, 1 };
			wr.rw.dst = { &theirs, 1 };
			wr.rw.notify_data = value;
		}
		done(urma_post_jetty_send_wr(jetty_, &wr, &bad), "post a request");
	}

      private:
	static std::string text(const urma_eid_t &eid)
	{
		char s[64];

		std::snprintf(s, sizeof(s), EID_FMT, EID_ARGS(eid));
		return s;
	}

	std::vector<std::uint8_t> bytes_;
	urma_context_t *ctx_;
	urma_jfc_t *jfc_;
	urma_jfr_t *jfr_;
	urma_jetty_t *jetty_;
	urma_target_seg_t *seg_;
	urma_target_jetty_t *peer_ = nullptr;
	urma_target_seg_t *near_ = nullptr;
};

/* The verbs side */
struct Near {
	explicit Near(const Device &device)
		: completions(device, 256), queue(device, completions, completions, {}),
		  memory(device, memory_size,
			 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
				 IBV_ACCESS_REMOTE_ATOMIC)
	{
	}

	ibv_wc next()
	{
		ibv_wc wc;

		if (completions.wait(&wc, 1, patience_ms) != 1)
			throw Failure("no verbs completion");
		return wc;
	}

	void post(ibv_wr_opcode opcode, std::size_t offset, std::uint32_t size, const Far &far,
		  std::size_t at, std::uint64_t value = 0, std::uint64_t compare = 0)
	{
		ibv_sge sge{ memory.address() + offset, size, memory.lkey() };
		ibv_send_wr wr{};

		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.opcode = opcode;
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.imm_data = htonl(static_cast<std::uint32_t>(value));
		if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			wr.wr.atomic.remote_addr = far.address() + at;
			wr.wr.atomic.rkey = far.rkey();
			wr.wr.atomic.compare_add = opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? compare :
											 value;
			wr.wr.atomic.swap = value;
		} else {
			wr.wr.rdma.remote_addr = far.address() + at;
			wr.wr.rdma.rkey = far.rkey();
		}
		queue.post_send(wr);
	}

	CompletionQueue completions;
	QueuePair queue;
	Region memory;
};

void fill(std::uint8_t *p, std::size_t n, unsigned seed)
{
	for (std::size_t i = 0; i < n; ++i)
		p[i] = static_cast<std::uint8_t>(seed + i * 13 + i / 509);
}

bool same(const std::uint8_t *a, const std::uint8_t *b, std::size_t n)
{
	return !std::memcmp(a, b, n);
}

std::uint64_t load(const std::uint8_t *p)
{
	std::uint64_t v;

	std::memcpy(&v, p, sizeof(v));
	return v;
}

void verbs_to_urma(Near &near, Far &far)
{
	for (std::uint32_t size : { 0u, 1u, 4096u, 1u << 20 }) {
		const std::string n = std::to_string(size) + " bytes";

		fill(near.memory.data(), size, 1);
		std::memset(far.data(), 0, size);
		near.post(IBV_WR_RDMA_WRITE, 0, size, far, 0);
		near.next();
		check("verbs Write to URMA, " + n, same(near.memory.data(), far.data(), size));
		fill(far.data(), size, 7);
		near.post(IBV_WR_RDMA_READ, 0, size, far, 0);
		near.next();
		check("verbs Read from URMA, " + n, same(near.memory.data(), far.data(), size));
	}
	far.receive(5, 0, 65536);
	fill(near.memory.data(), 65536, 3);
	near.post(IBV_WR_SEND, 0, 65536, far, 0);
	near.next();
	urma_cr_t cr = far.next();
	check("verbs Send to URMA", cr.status == URMA_CR_SUCCESS && cr.user_ctx == 5 &&
					    cr.completion_len == 65536 &&
					    cr.remote_id.id == near.queue.get()->qp_num &&
					    same(near.memory.data(), far.data(), 65536));
	far.receive(6, 0, 64);
	near.post(IBV_WR_SEND_WITH_IMM, 0, 8, far, 0, 0x01020304);
	near.next();
	cr = far.next();
	check("verbs immediate is a number to URMA",
	      cr.opcode == URMA_CR_OPC_SEND_WITH_IMM && cr.imm_data == 0x01020304);
	far.receive(7, 0, 64);
	near.post(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 100, far, 4096, 9);
	near.next();
	cr = far.next();
	check("verbs Write with immediate to URMA", cr.opcode == URMA_CR_OPC_WRITE_WITH_IMM &&
							    cr.imm_data == 9 &&
							    cr.completion_len == 100);
	std::memset(far.data(), 0, 64);
	near.post(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, far, 8, 41);
	near.next();
	near.post(IBV_WR_ATOMIC_CMP_AND_SWP, 0, 8, far, 8, 99, 41);
	near.next();
	check("verbs atomics on URMA memory",
	      load(near.memory.data()) == 41 && load(far.data() + 8) == 99);
}

void urma_to_verbs(Near &near, Far &far)
{
	const std::uint64_t there = near.memory.address();

	for (std::uint32_t size : { 0u, 1u, 4096u, 1u << 20 }) {
		const std::string n = std::to_string(size) + " bytes";

		fill(far.data(), size, 2);
		far.post(URMA_OPC_WRITE, 0, size, there);
		bool ok = far.next().status == URMA_CR_SUCCESS;
		check("URMA Write to verbs, " + n,
		      ok && same(near.memory.data(), far.data(), size));
		fill(near.memory.data(), size, 9);
		far.post(URMA_OPC_READ, 0, size, there);
		ok = far.next().status == URMA_CR_SUCCESS;
		check("URMA Read from verbs, " + n,
		      ok && same(near.memory.data(), far.data(), size));
	}
	near.queue.post_receive(5, near.memory.data(), 65536, near.memory.lkey());
	fill(far.data(), 65536, 4);
	far.post(URMA_OPC_SEND, 0, 65536, 0);
	bool ok = far.next().status == URMA_CR_SUCCESS;
	ibv_wc wc = near.next();
	check("URMA Send to verbs", ok && wc.wr_id == 5 && wc.byte_len == 65536 &&
					    same(near.memory.data(), far.data(), 65536));
	near.queue.post_receive(6, near.memory.data(), 64, near.memory.lkey());
	far.post(URMA_OPC_SEND_IMM, 0, 8, 0, 0xaaaaaaaa01020304);
	ok = far.next().status == URMA_CR_SUCCESS;
	wc = near.next();
	check("of 64 bits verbs sees the lower half",
	      ok && wc.wc_flags & IBV_WC_WITH_IMM && ntohl(wc.imm_data) == 0x01020304);
	near.queue.post_receive(7, near.memory.data(), 64, near.memory.lkey());
	far.post(URMA_OPC_WRITE_IMM, 0, 100, there + 4096, 9);
	ok = far.next().status == URMA_CR_SUCCESS;
	wc = near.next();
	check("URMA Write with immediate to verbs",
	      ok && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && ntohl(wc.imm_data) == 9);
	std::memset(near.memory.data(), 0, 64);
	far.post(URMA_OPC_FADD, 0, 8, there + 8, 41);
	ok = far.next().status == URMA_CR_SUCCESS;
	far.post(URMA_OPC_CAS, 0, 8, there + 8, 99, 41);
	ok = ok && far.next().status == URMA_CR_SUCCESS;
	check("URMA atomics on verbs memory",
	      ok && load(far.data()) == 41 && load(near.memory.data() + 8) == 99);
}

int run(char **argv)
{
	Device device(argv[1], argv[2]);
	Near near(device);
	auto ends = Stream::pair();

	setenv("URMA_INPROC_EIDS", argv[4], 1);
	enter(argv[3]); /* the kernel device stays where it is */
	Far far;
	std::thread other([&] { near.queue.connect(ends.first); });

	far.bind(ends.second, near.memory);
	other.join();
	verbs_to_urma(near, far);
	urma_to_verbs(near, far);
	std::cout << "1.." << results << std::endl;
	return failures != 0;
}

} /* namespace */

int main(int argc, char **argv)
{
	if (argc != 5) {
		std::cerr << "usage: meet DEVICE ADDRESS NETNS FAR-ADDRESS\n";
		return 2;
	}
	try {
		return run(argv);
	} catch (const std::exception &e) {
		std::cerr << "meet: " << e.what() << '\n';
		return 1;
	}
}
