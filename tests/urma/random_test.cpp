// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// Random sequences of calls against a model: each status is one that the model
// allows, each completion belongs to one request and comes once, and in the end
// everything can be deleted. URMA_RANDOM_SEEDS=A-B runs other seeds, URMA_RANDOM_STEPS
// more steps.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "rig.hpp"

using namespace urma_test;

namespace
{

struct Queue {
	urma_jfc_t *jfc;
	unsigned users = 0;
};

struct Receiver {
	urma_jfr_t *jfr;
	Queue *queue;
	unsigned users = 0;
};

struct Side;

struct Connection {
	urma_jetty_t *jetty;
	Receiver *receiver;
	urma_target_jetty_t *target = nullptr;
	urma_jetty_state_t state = URMA_JETTY_STATE_READY;
	std::set<std::uint64_t> outstanding; // user_ctx of requests
};

struct Side {
	urma_context_t *ctx = nullptr;
	std::unique_ptr<Memory> memory;
	urma_target_seg_t *remote = nullptr;
	std::vector<std::unique_ptr<Queue>> queues;
	std::vector<std::unique_ptr<Receiver>> receivers;
	std::vector<std::unique_ptr<Connection>> connections;
	std::set<std::uint64_t> receives; // posted, not completed
};

class World
{
      public:
	explicit World(std::uint64_t seed) : random_(seed)
	{
		for (unsigned i = 0; i < 2; ++i) {
			sides_[i].ctx = open_end(i);
			EXPECT_NE(sides_[i].ctx, nullptr);
			sides_[i].memory = std::make_unique<Memory>(
				sides_[i].ctx, 1 << 16, URMA_ACCESS_READ | URMA_ACCESS_WRITE);
		}
		for (unsigned i = 0; i < 2; ++i) {
			urma_token_t token{ segment_token };
			urma_seg_t seg = sides_[1 - i].memory->seg()->seg;

			sides_[i].remote = urma_import_seg(sides_[i].ctx, &seg, &token, 0, {});
			EXPECT_NE(sides_[i].remote, nullptr);
		}
	}

	void step()
	{
		Side &s = sides_[below(2)];

		// data more often than objects, and more objects made than unmade
		const struct {
			unsigned weight;
			void (World::*call)(Side &);
		} calls[] = {
			{ 1, &World::create_queue },
			{ 1, &World::delete_queue },
			{ 2, &World::create_receiver },
			{ 1, &World::delete_receiver },
			{ 4, &World::create_connection },
			{ 1, &World::delete_connection },
			{ 6, &World::bind },
			{ 1, &World::unbind },
			{ 1, &World::change_state },
			{ 14, &World::post_receive },
			{ 16, &World::poll },
			{ 16, &World::post },
		};
		unsigned at = below(64);

		for (const auto &c : calls) {
			if (at < c.weight)
				return (this->*c.call)(s);
			at -= c.weight;
		}
	}

	std::uint64_t moved() const { return moved_; }

	void end()
	{
		for (Side &s : sides_) {
			for (auto &c : s.connections) {
				if (c->target) {
					EXPECT_EQ(urma_unbind_jetty(c->jetty), URMA_SUCCESS);
					EXPECT_EQ(urma_unimport_jetty(c->target), URMA_SUCCESS);
				}
				EXPECT_EQ(urma_delete_jetty(c->jetty), URMA_SUCCESS);
			}
			for (auto &r : s.receivers)
				EXPECT_EQ(urma_delete_jfr(r->jfr), URMA_SUCCESS);
			for (auto &q : s.queues)
				EXPECT_EQ(urma_delete_jfc(q->jfc), URMA_SUCCESS);
			EXPECT_EQ(urma_unimport_seg(s.remote), URMA_SUCCESS);
			s.memory.reset();
			EXPECT_EQ(urma_delete_context(s.ctx), URMA_SUCCESS) << "nothing is left";
		}
	}

      private:
	static constexpr std::size_t most = 6; // of each kind

	unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }

	template <class T> T *pick(std::vector<std::unique_ptr<T>> &from)
	{
		return from.empty() ? nullptr : from[below(from.size())].get();
	}

	template <class T> void drop(std::vector<std::unique_ptr<T>> &from, T *what)
	{
		std::erase_if(from, [what](const auto &p) { return p.get() == what; });
	}

	Side &other(Side &s) { return &s == &sides_[0] ? sides_[1] : sides_[0]; }

	void create_queue(Side &s)
	{
		urma_jfc_cfg_t cfg{};

		if (s.queues.size() == most)
			return;
		cfg.depth = 1024; // more than all requests and receives together
		urma_jfc_t *jfc = urma_create_jfc(s.ctx, &cfg);

		ASSERT_NE(jfc, nullptr);
		s.queues.push_back(std::make_unique<Queue>(Queue{ jfc }));
	}

	void delete_queue(Side &s)
	{
		Queue *q = pick(s.queues);

		if (!q)
			return;
		urma_jfc_t *jfc = q->jfc;

		if (q->users) {
			EXPECT_EQ(urma_delete_jfc(jfc), URMA_EAGAIN);
			return;
		}
		EXPECT_EQ(urma_delete_jfc(jfc), URMA_SUCCESS);
		EXPECT_EQ(urma_delete_jfc(jfc), URMA_EINVAL);
		drop(s.queues, q);
	}

	void create_receiver(Side &s)
	{
		Queue *q = pick(s.queues);
		urma_jfr_cfg_t cfg{};

		if (!q || s.receivers.size() == most)
			return;
		cfg.depth = 64;
		cfg.trans_mode = URMA_TM_RC;
		cfg.max_sge = 1;
		cfg.jfc = q->jfc;
		urma_jfr_t *jfr = urma_create_jfr(s.ctx, &cfg);

		ASSERT_NE(jfr, nullptr);
		++q->users;
		s.receivers.push_back(std::make_unique<Receiver>(Receiver{ jfr, q }));
	}

	void delete_receiver(Side &s)
	{
		Receiver *r = pick(s.receivers);

		if (!r)
			return;
		if (r->users) {
			EXPECT_EQ(urma_delete_jfr(r->jfr), URMA_EAGAIN);
			return;
		}
		EXPECT_EQ(urma_delete_jfr(r->jfr), URMA_SUCCESS);
		--r->queue->users;
		drop(s.receivers, r);
	}

	void create_connection(Side &s)
	{
		Receiver *r = pick(s.receivers);
		urma_jetty_cfg_t cfg{};

		if (!r || s.connections.size() == most)
			return;
		cfg.flag.bs.share_jfr = URMA_SHARE_JFR;
		cfg.jfs_cfg.depth = 32;
		cfg.jfs_cfg.trans_mode = URMA_TM_RC;
		cfg.jfs_cfg.max_sge = 1;
		cfg.jfs_cfg.rnr_retry = 7;
		cfg.jfs_cfg.jfc = r->queue->jfc;
		cfg.shared.jfr = r->jfr;
		urma_jetty_t *jetty = urma_create_jetty(s.ctx, &cfg);

		ASSERT_NE(jetty, nullptr);
		++r->users;
		r->queue->users += 2;
		s.connections.push_back(
			std::make_unique<Connection>(Connection{ jetty, r, nullptr, {}, {} }));
		s.connections.back()->state = URMA_JETTY_STATE_READY;
	}

	void delete_connection(Side &s)
	{
		Connection *c = pick(s.connections);

		if (!c)
			return;
		if (c->target) {
			EXPECT_EQ(urma_delete_jetty(c->jetty), URMA_EAGAIN);
			return;
		}
		EXPECT_EQ(urma_delete_jetty(c->jetty), URMA_SUCCESS);
		EXPECT_EQ(urma_delete_jetty(c->jetty), URMA_EINVAL);
		--c->receiver->users;
		c->receiver->queue->users -= 2;
		drop(s.connections, c);
	}

	/// Mostly both ends, as programs do
	void bind(Side &s)
	{
		Connection *c = pick(s.connections), *peer = pick(other(s).connections);

		if (!c || !peer)
			return;
		bind_to(s, *c, *peer);
		if (below(4))
			bind_to(other(s), *peer, *c);
	}

	void bind_to(Side &s, Connection &c, Connection &peer)
	{
		urma_rjetty_t r{};

		r.jetty_id = peer.jetty->jetty_id;
		r.trans_mode = URMA_TM_RC;
		r.type = URMA_JETTY;
		r.tp_type = URMA_RTP;
		urma_target_jetty_t *target = urma_import_jetty(s.ctx, &r, nullptr);

		ASSERT_NE(target, nullptr);
		const urma_status_t status = urma_bind_jetty(c.jetty, target);

		if (c.target)
			EXPECT_EQ(status, URMA_EEXIST);
		else if (c.state != URMA_JETTY_STATE_READY)
			EXPECT_EQ(status, URMA_EINVAL);
		else
			EXPECT_EQ(status, URMA_SUCCESS);
		if (status)
			EXPECT_EQ(urma_unimport_jetty(target), URMA_SUCCESS);
		else
			c.target = target;
	}

	void unbind(Side &s)
	{
		Connection *c = pick(s.connections);

		if (!c)
			return;
		if (!c->target) {
			EXPECT_EQ(urma_unbind_jetty(c->jetty), URMA_EINVAL);
			return;
		}
		EXPECT_EQ(urma_unimport_jetty(c->target), URMA_EAGAIN);
		EXPECT_EQ(urma_unbind_jetty(c->jetty), URMA_SUCCESS);
		EXPECT_EQ(urma_unimport_jetty(c->target), URMA_SUCCESS);
		c->target = nullptr;
		c->state = URMA_JETTY_STATE_ERROR;
	}

	void change_state(Side &s)
	{
		Connection *c = pick(s.connections);
		urma_jetty_cfg_t cfg;
		urma_jetty_attr_t attr;

		if (!c)
			return;
		// the peer may have driven it into ERROR meanwhile
		EXPECT_EQ(urma_query_jetty(c->jetty, &cfg, &attr), URMA_SUCCESS);
		if (attr.state != c->state) {
			EXPECT_EQ(c->state, URMA_JETTY_STATE_READY);
			EXPECT_EQ(attr.state, URMA_JETTY_STATE_ERROR);
			c->state = attr.state;
		}
		attr.mask = JETTY_STATE;
		attr.state = static_cast<urma_jetty_state_t>(below(4));
		const urma_status_t status = urma_modify_jetty(c->jetty, &attr);

		if (attr.state == c->state) {
			EXPECT_EQ(status, URMA_SUCCESS);
		} else if (attr.state == URMA_JETTY_STATE_ERROR &&
			   c->state == URMA_JETTY_STATE_READY) {
			EXPECT_EQ(status, URMA_SUCCESS);
		} else if (attr.state == URMA_JETTY_STATE_RESET &&
			   c->state == URMA_JETTY_STATE_ERROR) {
			EXPECT_EQ(status, c->target ? URMA_EAGAIN : URMA_SUCCESS);
			if (!status)
				c->outstanding.clear();
		} else if (attr.state == URMA_JETTY_STATE_READY &&
			   c->state == URMA_JETTY_STATE_RESET) {
			EXPECT_EQ(status, URMA_SUCCESS);
		} else if (status) {
			EXPECT_EQ(status, URMA_EINVAL);
		} else {
			// READY to something, but it went to ERROR in between
			ADD_FAILURE() << "from " << c->state << " to " << attr.state;
		}
		if (!status)
			c->state = attr.state;
	}

	void post_receive(Side &s)
	{
		Receiver *r = pick(s.receivers);

		if (!r)
			return;
		urma_sge_t sge = s.memory->at(32768 + below(16384), 64);
		urma_jfr_wr_t wr{ { &sge, 1 }, ++next_, nullptr }, *bad;
		const urma_status_t status = urma_post_jfr_wr(r->jfr, &wr, &bad);

		EXPECT_TRUE(status == URMA_SUCCESS || status == URMA_ENOMEM) << status;
		if (!status)
			s.receives.insert(next_);
	}

	void post(Side &s)
	{
		static constexpr urma_opcode_t codes[] = { URMA_OPC_SEND, URMA_OPC_WRITE,
							   URMA_OPC_READ, URMA_OPC_NOP,
							   URMA_OPC_WRITE_IMM };
		Connection *c = pick(s.connections);

		if (!c)
			return;
		const urma_opcode_t code = codes[below(5)];
		Wr wr(code, ++next_);

		if (code != URMA_OPC_NOP)
			wr.local({ s.memory->at(below(16384), below(64)) });
		// sometimes beyond the end, which breaks the connection
		if (code != URMA_OPC_SEND && code != URMA_OPC_NOP)
			wr.remote(other(s).memory->va() + (below(50) ? 40000 : 65530), s.remote);
		const urma_status_t status = wr.post(c->jetty);

		EXPECT_TRUE(status == URMA_SUCCESS || status == URMA_ENOMEM) << status;
		if (!status)
			c->outstanding.insert(next_);
	}

	void poll(Side &s)
	{
		Queue *q = pick(s.queues);
		urma_cr_t cr[8];

		if (!q)
			return;
		const int n = urma_poll_jfc(q->jfc, 8, cr);

		ASSERT_GE(n, 0);
		for (int i = 0; i < n; ++i)
			account(s, cr[i]);
	}

	void account(Side &s, const urma_cr_t &cr)
	{
		const auto it = std::find_if(s.connections.begin(), s.connections.end(),
					     [&](const auto &c) {
						     return c->jetty->jetty_id.id == cr.local_id;
					     });

		ASSERT_NE(it, s.connections.end()) << "of a jetty that was deleted";
		moved_ += cr.status == URMA_CR_SUCCESS;
		if (cr.flag.bs.flush_err_done)
			return;
		if (cr.flag.bs.s_r)
			EXPECT_EQ(s.receives.erase(cr.user_ctx), 1u) << "a receive completes once";
		else
			EXPECT_EQ((*it)->outstanding.erase(cr.user_ctx), 1u)
				<< "a request completes once";
	}

	std::mt19937_64 random_;
	Side sides_[2];
	std::uint64_t next_ = 0;
	std::uint64_t moved_ = 0; // successes
};

unsigned number(const char *name, unsigned otherwise)
{
	const char *env = std::getenv(name);

	return env ? static_cast<unsigned>(std::strtoul(env, nullptr, 10)) : otherwise;
}

TEST(Random, SequencesOfCalls)
{
	const char *seeds = std::getenv("URMA_RANDOM_SEEDS");
	const unsigned first = number("URMA_RANDOM_SEEDS", 1);
	const char *dash = seeds ? std::strchr(seeds, '-') : nullptr;
	const unsigned last = dash ? static_cast<unsigned>(std::strtoul(dash + 1, nullptr, 10)) :
				     first + 9;
	const unsigned steps = number("URMA_RANDOM_STEPS", 4000);
	std::uint64_t moved = 0;

	for (unsigned seed = first; seed <= last; ++seed) {
		SCOPED_TRACE("seed " + std::to_string(seed));
		World world(seed);

		for (unsigned i = 0; i < steps && !testing::Test::HasFailure(); ++i)
			world.step();
		if (testing::Test::HasFailure())
			return; // what is left is of no interest
		moved += world.moved();
		world.end();
	}
	EXPECT_GT(moved, 100u) << "the sequences do nothing";
	RecordProperty("moved", static_cast<int>(moved));
}

} // namespace
