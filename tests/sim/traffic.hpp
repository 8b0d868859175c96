/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Programs that use the connections, and the oracle that knows what must come
 * of it: a model of every byte of memory, of every completion and of every
 * atomic operation.
 */
#ifndef UBSIM_TRAFFIC_HPP
#define UBSIM_TRAFFIC_HPP

#include <deque>

#include "net.hpp"
#include "verbs.hpp"

namespace ubsim
{

constexpr std::uint32_t pd = 7;

/* Random bytes that payloads are cut from; a prime, so no packet's offset hits the same ones */
constexpr std::size_t pattern_len = 1048573;
const bytes &pattern_table();

/* Registered memory with its model. What the model says is compared with what is there. */
class region
{
      public:
	/* @flags: UBOE_SEG_* */
	region(node &n, std::uint32_t token_id, std::uint8_t access, std::uint64_t len, rng &r,
	       std::uint8_t flags = 0);
	~region();
	region(const region &) = delete;
	region &operator=(const region &) = delete;

	std::uint64_t len() const { return model_.size(); }
	std::uint64_t va(std::uint64_t off) const { return memory_->va() + off; }
	std::uint32_t key() const { return key_; }
	const std::uint8_t *model(std::uint64_t off) const { return model_.data() + off; }

	/* The model takes what it finds */
	void adopt(std::uint64_t off, std::size_t n);
	/* The program writes: memory and model */
	void store(std::uint64_t off, const void *p, std::size_t n);
	/* The device must have written this; now the model says so too */
	void expect(std::uint64_t off, const void *p, std::size_t n, const char *what);
	/* Nothing but the model's bytes or these may be there; the model takes what it finds */
	void either(std::uint64_t off, const void *p, std::size_t n, const char *what);
	std::uint64_t load(std::uint64_t off, unsigned size) const
	{
		return memory_->load(off, size);
	}
	wide load_wide(std::uint64_t off, unsigned size) const
	{
		return size == 16 ? load(off, 8) | wide(load(off + 8, 8)) << 64 : load(off, size);
	}
	void check(const char *what) const;

      private:
	node &n_;
	std::uint32_t id_;
	std::uint32_t key_;
	std::unique_ptr<memory> memory_;
	bytes model_;
};

/* Part of a region that nothing else may use as long as somebody holds it */
struct extent {
	std::uint64_t off;
	std::uint64_t len;
};
using extent_ref = std::shared_ptr<extent>;

/* Gives out extents of [0, size) in ring order */
class ring_space
{
      public:
	explicit ring_space(std::uint64_t size) : size_(size) {}
	extent_ref take(std::uint64_t len);

      private:
	std::uint64_t size_;
	std::uint64_t head_ = 0;
	std::deque<extent_ref> used_;
};

using payload = std::shared_ptr<const bytes>;

/* A counter that many connections add to: each old value tells when it was its turn */
struct counter {
	std::uint64_t off;
	unsigned size;
	std::uint64_t start;
	std::uint64_t unknown = 0; /* what operations of broken connections may have added */
	std::vector<std::pair<std::uint64_t, std::uint64_t>> claims; /* old value, addend */
};

/* A word that one queue operates on, so that each result is known beforehand */
struct word {
	std::uint64_t off;
	unsigned size;
	wide value; /* after everything that was made so far */
	wide known; /* after everything that has completed */
};

struct piece {
	std::uint64_t off;
	std::uint32_t len;
};

/* What a Read of that place has to find */
inline payload found_at(const region &r, std::uint64_t off, std::uint32_t len)
{
	return std::make_shared<bytes>(r.model(off), r.model(off) + len);
}

struct op {
	std::uint64_t id;
	send_wr wr;
	std::uint32_t len = 0;
	std::uint32_t end = 0; /* ring index after its last BB */
	std::vector<piece> local;
	extent_ref local_space;
	extent_ref remote_space;
	std::uint64_t remote_off = 0;
	payload data; /* what Write and Send carry, what Read must bring; reduce: the results */
	counter *count = nullptr;
	word *excl = nullptr;
	wide before = 0; /* of the word */
	wide after = 0;
	std::uint64_t behind_off = 0; /* Write with notify, with store add: what must be where */
	std::uint64_t behind = 0;
	std::uint8_t must_fail = 0; /* enum uboe_cqe_status */
};

/* What a Write with notify stores behind its data */
constexpr std::uint32_t notify_len = 8;

inline bool stores_behind(const op &o)
{
	return o.wr.op == UBOE_SQE_WRITE_NOTIFY || o.wr.op == UBOE_SQE_WRITE_STOREADD1 ||
	       o.wr.op == UBOE_SQE_WRITE_STOREADD2;
}

inline bool is_write(const op &o)
{
	return o.wr.op == UBOE_SQE_WRITE || o.wr.op == UBOE_SQE_WRITE_IMM || stores_behind(o);
}

/* A message that must arrive at a receive queue */
struct arrival {
	std::uint64_t id;
	std::uint8_t op;
	std::uint32_t len;
	std::uint64_t imm;
	payload data;
	extent_ref remote_space; /* Write with immediate */
};

struct connection;
struct side;
class messages;

/* A receive queue with its buffers, of one connection or of several */
struct pool {
	std::unique_ptr<jfr> queue;
	std::unique_ptr<region> memory;
	std::uint32_t slot_bytes;
	unsigned nsge;
	bool shared;
	side *owner = nullptr; /* of a queue that is not shared */
	bool feeding = false;
	unsigned lost = 0; /* slots that the jetty may have taken with it */

	std::vector<piece> pieces(std::uint32_t slot) const;
};

struct side {
	connection *conn;
	side *peer;
	node *n;
	unsigned which;
	std::uint32_t id;
	jetty_options jopt;
	channel_options copt;
	jfc *tx;
	jfc *rx;
	pool *recv;
	std::unique_ptr<rc> q;
	std::unique_ptr<region> local;
	std::unique_ptr<region> target;
	std::unique_ptr<ring_space> local_ring;
	std::unique_ptr<ring_space> target_ring;
	word words[3];

	std::deque<op> ops; /* posted, not completed */
	std::deque<op> queued; /* made, not posted */
	std::deque<arrival> inbound;
	std::vector<op> failed; /* may have happened or not */
	bool reader; /* keeps the other end's RC table full */
	unsigned left; /* still to make */
	std::uint64_t wait = us; /* before the next try when there is no room */
	unsigned incarnation = 0;
	bool error_seen = false;
	bool may_flush = false; /* the first failure need not have a reason */
	bool last_posted = false;
	bool reviving = false;
	bool fresh = false; /* of the next life of its connection */
};

enum class health { alive, dying, down };

struct connection {
	unsigned index;
	side s[2];
	bool v6;
	health state = health::alive;
	const char *cause = "";
	std::uint64_t patience;
	bool poke; /* let TPMSNs start close to their end */
};

class traffic
{
      public:
	traffic(world &w, std::uint64_t seed);
	~traffic();

	/* Run to the end; throws failure */
	void run();
	std::uint64_t completed() const;
	std::uint64_t stat(unsigned n) const;

      private:
	enum user : std::uint8_t { post, ring, poll, feed, chaos, check, revive };

	struct place { /* what belongs to a node */
		std::vector<std::unique_ptr<jfc>> jfcs;
		std::vector<bool> waiting; /* for an event of the JFC */
		std::vector<std::uint64_t> pace;
		std::vector<std::unique_ptr<pool>> pools;
		std::unique_ptr<region> counters_mem;
		std::deque<counter> counters;
		std::map<std::uint32_t, side *> sides;
		std::uint32_t next_token = 1;
		std::uint64_t words_used = 0;
	};

	jfc_options queue_options();
	void make_node(unsigned i);
	void make_pool(unsigned i, bool shared);
	void make_connection(unsigned a, unsigned b, pool *pa, pool *pb);
	void draw_sizes(side &s);
	void draw_congestion(ubp_config &cfg);
	void draw_caqm(ubp_config &cfg);
	std::uint8_t draw_controller(const ubp_config &cfg);
	void make_side(connection &c, unsigned which, unsigned n, pool *p);
	void open(side &s);

	/* traffic management */
	std::uint32_t draw_rate(double limited);
	void plant(host &h);
	void shape(side &s);

	void on_user(const action &a);

	/* making work */
	bool refill(side &s);
	bool local_pieces(side &s, op &o, std::uint32_t len, unsigned max_sge);
	std::uint32_t draw_len(side &s, std::uint32_t most);
	payload pattern(std::uint32_t len);
	bool make_write(side &s);
	bool make_write_after_read(side &s);
	bool make_send(side &s);
	bool make_read(side &s);
	bool make_read_after_write(side &s);
	bool make_dependent(side &s);
	bool make_counter(side &s);
	bool make_word(side &s);
	bool make_write_reduce(side &s);
	bool make_read_reduce(side &s);
	bool make_store_add(side &s);
	bool agree(const side &s, std::uint32_t cap) const;
	void make_bad(side &s);
	op start(std::uint8_t code, std::uint32_t len);
	bool source(side &s, op &o, std::uint32_t len, unsigned max_sge, std::uint32_t max_inline);
	void do_post(side &s);
	void do_ring(side &s);

	/* the oracle */
	void do_poll(unsigned n, unsigned i);
	bool drain(unsigned n, unsigned i, unsigned most);
	void on_cqe(unsigned n, const uboe_cqe &c);
	void on_send(side &s, const uboe_cqe &c);
	void on_recv(side &s, const uboe_cqe &c);
	void op_done(side &s, op &o);
	void op_unknown(side &s, op &o);
	void break_down(connection &c, const char *cause);
	void put(side &s, op &&o);
	void want_feed(unsigned n, pool &p);
	void want_post(side &s, std::uint64_t delay);
	void do_feed(unsigned n, unsigned i);

	/* breaking connections */
	void do_chaos(connection &c, unsigned kind);
	void do_check(connection &c);
	bool drained(side &s);
	bool opened(const side &s) const;
	void to_error(side &s);
	void post_last(side &s);
	void take_down(side &s);
	void purge(node &n);
	void resolve(connection &c);
	void do_revive(side &s);

	bool finished();
	void poke_msn(connection &c);
	void final_checks();
	std::string pending();
	std::string inside(const side &s);

	world &w_;
	rng r_;
	rng shaping_;
	const bool shaped_;
	rng sizes_; /* of RC tables and slices */
	rng congestion_;
	rng domains_; /* which nodes are in UB domains */
	rng caqm_;
	bool ub_only_; /* all nodes are in UB domains */
	bool border_; /* each in one of its own */
	std::unique_ptr<messages> messages_;
	std::deque<place> places_;
	std::vector<std::unique_ptr<connection>> conns_;
	std::uint64_t next_op_ = 1;
	std::uint64_t completed_ = 0;
	std::uint64_t last_progress_ = 0;
	unsigned chaos_left_ = 0;
	std::vector<std::uint64_t> chaos_at_; /* counts of completions, falling */
};

} /* namespace ubsim */

#endif /* UBSIM_TRAFFIC_HPP */
