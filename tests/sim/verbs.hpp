/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The driver's and provider's part for a host: queues with their rings, work
 * requests into SQEs, CQEs out of the ring. Follows ub/uboe_io.h to the letter,
 * kicks included.
 */
#ifndef UBSIM_VERBS_HPP
#define UBSIM_VERBS_HPP

#include <optional>

#include "host.hpp"

namespace ubsim
{

struct sge {
	std::uint64_t va;
	std::uint32_t len;
	std::uint32_t key; /* TokenID << 12 | 12-bit token */
};

constexpr std::uint32_t make_key(std::uint32_t id, std::uint32_t token)
{
	return id << 12 | token;
}

/* An operand of an atomic, up to 16 bytes */
__extension__ using wide = unsigned __int128;

/* The user data of a Write or Read with reduce, and of an atomic store or load */
constexpr std::uint32_t reduce(std::uint32_t type, std::uint32_t code)
{
	return UBOE_UDF_REDUCE | type << 8 | code << 12;
}

constexpr std::uint32_t sub_op(std::uint32_t code)
{
	return UBOE_UDF_ATOMIC | code << 12;
}

/* A work request for the send queue */
struct send_wr {
	std::uint8_t op = UBOE_SQE_NOP;
	bool signaled = true;
	bool fence = false;
	bool solicited = false;
	bool inl = false;
	std::uint8_t order = UB_ORDER_NO;
	std::vector<sge> sges = {};
	bytes data = {}; /* inline */
	std::uint64_t remote = 0;
	std::uint32_t rkey = 0;
	std::uint64_t imm = 0; /* with notify: what is stored; with store add: added */
	std::uint64_t notify = 0; /* with notify, store add: where, */
	std::uint32_t notify_key = 0; /* by this key */
	bool token_en = true;
	std::uint32_t token = 0; /* Sends: of the peer's jetty */
	wide swap = 0; /* CAS: new value; others: the operand */
	wide compare = 0;
	bool udf = false;
	std::uint32_t ud = 0;
	/* where it goes, when the jetty has no connection */
	address rmt = {};
	std::uint8_t rmt_type = 0;
	std::uint32_t rmt_id = 0;
	std::uint8_t hint = 0;
	std::uint32_t imm_jetty = 0; /* Write with immediate: the jetty */
	std::uint32_t tpn = 0; /* RM: over this channel */
};

struct jfc_options {
	std::uint8_t flags = 0;
	std::uint16_t moderate_count = 0;
	std::uint16_t moderate_period = 0;
};

class jfc
{
      public:
	jfc(host &h, std::uint32_t id, unsigned shift, const jfc_options &opt = {});
	~jfc();
	jfc(const jfc &) = delete;
	jfc &operator=(const jfc &) = delete;

	std::uint32_t id() const { return id_; }
	std::uint8_t flags() const { return flags_; }
	std::optional<uboe_cqe> poll();
	void arm(uboe_arm mode);

      private:
	host &h_;
	std::uint32_t id_;
	unsigned shift_;
	std::uint8_t flags_;
	dma ring_;
	dma rec_;
	std::uint32_t ci_ = 0;
	std::uint32_t arm_ = 0;
};

class jfr
{
      public:
	/* @flags, @jfcn, @token: of a JFR that is a target by itself */
	jfr(host &h, std::uint32_t id, unsigned shift, unsigned sge_shift, std::uint32_t pd,
	    std::uint8_t flags = 0, std::uint32_t jfcn = 0, std::uint32_t token = 0,
	    std::uint8_t buf_shift = 0);
	~jfr();
	jfr(const jfr &) = delete;
	jfr &operator=(const jfr &) = delete;

	std::uint32_t id() const { return id_; }
	unsigned depth() const { return 1u << shift_; }
	unsigned free_slots() const { return unsigned(free_.size()); }
	unsigned posted() const { return depth() - free_slots(); }
	/* The slot that post() will use */
	std::uint32_t next_slot() const { return free_.back(); }
	/* Receives in the ring that the device has not taken */
	unsigned waiting();
	/* Post a receive; its slot number */
	std::uint32_t post(std::span<const sge> sges);
	/* A completion named @slot; false when that is not posted */
	bool done(std::uint32_t slot);

      private:
	host &h_;
	std::uint32_t id_;
	unsigned shift_;
	unsigned sge_shift_;
	dma ring_;
	dma idx_;
	dma rec_;
	std::uint32_t pi_ = 0;
	std::vector<std::uint32_t> free_;
	std::vector<bool> posted_;
};

struct jetty_options {
	std::uint8_t type = UBOE_JETTY_RC;
	unsigned sq_shift = 6;
	std::uint32_t pd = 1;
	std::uint8_t flags = 0;
	std::uint8_t access = UBOE_ACC_REMOTE_WRITE | UBOE_ACC_REMOTE_READ | UBOE_ACC_REMOTE_ATOMIC;
	std::uint8_t rnr_timer = 0;
	std::uint8_t rnr_retry = 7;
	std::uint16_t max_rd = 16;
	unsigned rct_shift = 6; /* 0: as its VL has it */
	std::uint32_t rct_mark = 0;
	std::uint8_t slice = 0;
	std::uint64_t user = 0;
	std::uint32_t token = 0;
	address eid = {}; /* UM */
	std::uint16_t mtu = 0; /* UM */
	std::uint8_t sl = 0;
	std::uint8_t order = UBOE_ORDER_INITIATOR; /* RM */
	std::uint32_t lockbuf = 0; /* with UBOE_JETTY_LOCKBUF: its block */
};

struct channel_options {
	address local;
	address remote;
	std::uint32_t rmt_jetty = 0;
	std::uint16_t mtu = 1024;
	std::uint16_t window = 0;
	std::uint64_t timeout_ns = 0;
	std::uint8_t retrans = 0xff;
	std::uint8_t cc = UB_CC_NONE;
};

/* A reliable connection: jetty, RC table and channel; or a jetty without one */
class rc
{
      public:
	rc(host &h, std::uint32_t id, jfc &tx, jfc &rx, jfr &r, const jetty_options &opt);
	~rc();
	rc(const rc &) = delete;
	rc &operator=(const rc &) = delete;

	std::uint32_t id() const { return id_; }
	/* RESET to READY; 0 or the first error */
	int connect(const channel_options &opt);
	int to_state(std::uint8_t state);
	/* Both may be called in either order, and once */
	int destroy_channel();
	int destroy_jetty();

	unsigned room() const { return (1u << opt_.sq_shift) - (pi_ - ci_); }
	static unsigned blocks(const send_wr &wr);
	/* Write the SQE, without telling the device; ring index after its last BB */
	std::uint32_t put(const send_wr &wr);
	/* Store PI; true when the device wants a kick */
	bool ring();
	/* What the DirectWQE window is to hold for @wr as the next SQE */
	bytes window(const send_wr &wr) const;
	/* Store it there, word 0 last */
	void show(const bytes &sqe);
	/* Both, and a kick: for a jetty with a lock buffer */
	std::uint32_t direct(const send_wr &wr);
	std::uint32_t taken() const;
	std::uint8_t *page() { return page_.p; }
	/* put(), ring(), kick() */
	std::uint32_t post(const send_wr &wr);
	/* The completion of the SQE that ends before @end has been polled */
	void retire(std::uint32_t end) { ci_ = end; }
	std::uint32_t consumed() const { return ci_; }
	bool wants_rq_kick() const;
	/* RM: BBs that the device has taken; room() counts from retire() */
	std::uint32_t copied() const;

	host &home() { return h_; }

      private:
	void compose(const send_wr &wr, std::uint8_t *raw) const;

	host &h_;
	std::uint32_t id_;
	jetty_options opt_;
	dma sq_;
	dma page_;
	std::uint32_t pi_ = 0;
	std::uint32_t ci_ = 0;
	bool has_channel_ = false;
	bool has_jetty_ = false;
};

} /* namespace ubsim */

#endif /* UBSIM_VERBS_HPP */
