// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "client.hpp"

#include <algorithm>
#include <thread>

#include <poll.h>

#include "error.hpp"
#include "report.hpp"
#include "signals.hpp"
#include "target.hpp"

namespace ubping
{

namespace
{

constexpr int answered = 0, unanswered = 1, trouble = 2;
constexpr unsigned polls_between_looks = 1024; // at descriptors, when flooding

class Client
{
      public:
	explicit Client(const Options &options) : options_(options), report_(options)
	{
	}

	int run()
	{
		connect();
		// until here a signal ends the program: there is nothing to tell
		signals_ = take_signals();
		start_ = next_send_ = last_sent_ = Clock::now();
		while (any_alive() && !is_over()) {
			send();
			if (!receive())
				sleep();
		}
		const std::chrono::duration<double, std::milli> ms = Clock::now() - start_;

		report_.end(targets_, ms.count());
		return status();
	}

      private:
	void connect()
	{
		for (std::size_t i = 0; i < options_.targets.size(); ++i) {
			targets_.push_back(nullptr);
			alive_.push_back(false);
			try {
				targets_[i] = std::make_unique<Target>(
					options_, options_.targets[i], contexts_);
				alive_[i] = true;
				report_.connected(i, *targets_[i]);
			} catch (const NobodyThere &e) {
				fail(i, unanswered, e.what());
			} catch (const std::exception &e) {
				fail(i, trouble, e.what());
			}
		}
	}

	void fail(std::size_t i, int status, const char *why)
	{
		alive_[i] = false;
		worst_ = std::max(worst_, status);
		report_.failed(i, why);
	}

	/// Calls @p f for each target that is connected; one that throws has failed.
	template <class F> void for_alive(F f)
	{
		for (std::size_t i = 0; i < targets_.size(); ++i) {
			if (!alive_[i])
				continue;
			try {
				f(i, *targets_[i]);
			} catch (const std::exception &e) {
				fail(i, unanswered, e.what());
			}
		}
	}

	bool any_alive() const
	{
		return std::find(alive_.begin(), alive_.end(), true) != alive_.end();
	}

	bool has_sent_all(const Target &t) const
	{
		return options_.count && t.statistics().sent() == options_.count;
	}

	bool is_over()
	{
		const auto now = Clock::now();
		bool all_sent = true, all_back = true;

		if (stopped_ || (options_.deadline && now - start_ >= *options_.deadline))
			return true;
		for_alive([&](std::size_t, Target &t) {
			all_sent &= has_sent_all(t);
			all_back &= !t.is_waiting();
		});
		return all_sent && (all_back || now - last_sent_ >= options_.timeout);
	}

	void send()
	{
		const auto now = Clock::now();

		if (!options_.flood && now < next_send_)
			return;
		for_alive([&](std::size_t, Target &t) {
			if (has_sent_all(t) || !t.can_send() || (options_.flood && t.is_waiting()))
				return;
			t.send();
			last_sent_ = Clock::now();
		});
		// one that is late does not catch up
		next_send_ = std::max(next_send_ + options_.interval, now);
	}

	bool receive()
	{
		bool any = false;

		for_alive([&](std::size_t i, Target &t) {
			while (const auto reply = t.receive()) {
				any = true;
				report_.reply(i, t, *reply);
			}
		});
		return any;
	}

	/// Until there is something to do.
	void sleep()
	{
		if (!options_.flood)
			look(until_next());
		else if (++idle_ % polls_between_looks == 0)
			look(Nanoseconds(0));
		else
			std::this_thread::yield();
	}

	Nanoseconds until_next()
	{
		const auto now = Clock::now();
		Clock::time_point next = Clock::time_point::max();
		bool all_sent = true;

		for_alive([&](std::size_t, Target &t) { all_sent &= has_sent_all(t); });
		next = all_sent ? last_sent_ + options_.timeout : next_send_;
		if (options_.deadline)
			next = std::min(next, start_ + *options_.deadline);
		return std::max(Nanoseconds(next - now), Nanoseconds(0));
	}

	void look(Nanoseconds longest)
	{
		const auto s = std::chrono::duration_cast<std::chrono::seconds>(longest);
		const timespec timeout{ s.count(), (longest - s).count() };
		std::vector<pollfd> fds{ { signals_.get(), POLLIN, 0 } };
		std::size_t at = 1;

		for_alive([&](std::size_t, Target &t) {
			fds.push_back({ t.stream_fd(), POLLIN, 0 });
			fds.push_back({ t.channel_fd(), POLLIN, 0 });
		});
		if (ppoll(fds.data(), fds.size(), &timeout, nullptr) < 0 && errno != EINTR)
			uboe::fail_errno("poll");
		stopped_ = fds[0].revents;
		for_alive([&](std::size_t, Target &t) {
			if (fds[at].revents && !fds[at + 1].revents)
				t.check_stream();
			at += 2;
		});
	}

	int status() const
	{
		int worst = worst_;

		for (const auto &t : targets_) {
			if (!t)
				continue;
			const Statistics &s = t->statistics();
			const bool enough = options_.count && options_.deadline ?
						    s.received() >= options_.count :
						    s.received() > 0;

			worst = std::max(worst, enough && !s.corrupted() ? answered : unanswered);
		}
		return worst;
	}

	const Options &options_;
	Report report_;
	uboe::Fd signals_;
	Contexts contexts_;
	std::vector<std::unique_ptr<Target>> targets_; // null: not connected
	std::vector<bool> alive_;
	int worst_ = answered;
	bool stopped_ = false;
	unsigned idle_ = 0;
	Clock::time_point start_, next_send_, last_sent_;
};

} // namespace

int run_client(const Options &options)
{
	return Client(options).run();
}

} // namespace ubping
