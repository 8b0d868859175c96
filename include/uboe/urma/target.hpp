// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * Targets of uboe/urma.hpp: jetties of peers that requests name one by one.
 */
#pragma once

#include "jetty.hpp"

namespace uboe::urma
{
inline namespace v0
{
namespace detail
{

class Target
{
      public:
	urma_target_jetty_t *native() const
	{
		return raw_.get();
	}

      protected:
	Target(const Context &context, const RemoteJetty &peer, urma_transport_mode_t mode,
	       urma_tp_type_t tp)
		: context_(context.handle())
	{
		raw_.reset(import_jetty(*context_, peer, mode, tp));
		if (!raw_)
			throw_errno("target of messages");
	}

      private:
	struct Unimport {
		void operator()(urma_target_jetty_t *t) const
		{
			urma_unimport_jetty(t);
		}
	};

	std::shared_ptr<ContextHandle> context_;
	std::unique_ptr<urma_target_jetty_t, Unimport> raw_;
};

} // namespace detail
} // namespace v0
} // namespace uboe::urma
